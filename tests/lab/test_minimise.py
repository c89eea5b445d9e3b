"""`minimise`: delta debugging against brute force, and what it leaves of runs that deadlock."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch import pipeline
from pyorch.addons.lab.case import Case, Flow, Link
from pyorch.addons.lab.condition import read_condition
from pyorch.addons.lab.ddmin import ddmin, split
from pyorch.addons.lab.explicit import tables_of
from pyorch.addons.lab.minimise import FOLDER, Minimal, limits_of, minimise
from pyorch.addons.lab.write import MADE_BY, check_target, dump, write
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.store.store import Store
from tests.inputs import ROOT, RUNS
from tests.kept import kept_runs
from tests.projects import RING_OF_THREE

#: Three flows of which each goes two switches on around a ring of three, and two that are in no
#: cycle. The first host of every switch sends around; nothing else is needed for a deadlock.
RING = (
    """
title = "Ring"
flow_control = ["pfc"]

[run]
duration = "2ms"
drain = "1ms"

"""
    + RING_OF_THREE
    + """
[queue_pair]
payload_size = "1000B"

[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h4", size = "2MB", path = "h0 > s0 > s1 > s2 > h4" },
  { src = "h2", dst = "h0", size = "2MB", path = "h2 > s1 > s2 > s0 > h0" },
  { src = "h4", dst = "h2", size = "2MB", path = "h4 > s2 > s0 > s1 > h2" },
  { src = "h1", dst = "h3", size = "20KB", start = "3us" },
  { src = "h3", dst = "h1", size = "20KB" },
]

[[trace]]
table = "queue"
ports = ["s1:s0"]
classes = [3]

[[metric]]
name = "peak"
kind = "max"
table = "queue"
port = "s1:s0"
class = 3
"""
)


# ---------------------------------------------------------------------------------------------
# The algorithm


Sets = list[frozenset[int]]


def _smallest(needed: Sets, parts: Sequence[int]) -> int:
    """By brute force: how few parts hold one of the needed sets."""
    return min(len(one) for one in needed if one <= set(parts))


@given(
    st.integers(1, 7).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(st.frozensets(st.integers(0, count - 1)), min_size=1, max_size=4),
        )
    )
)
def test_what_ddmin_leaves_is_1_minimal(case: tuple[int, Sets]) -> None:
    """For conditions that grow: what is left is one of the least sets that satisfy them."""
    count, needed = case
    parts = list(range(count))

    def holds(chosen: Sequence[int]) -> bool:
        return any(one <= set(chosen) for one in needed)

    def first(selections: Sequence[Sequence[int]]) -> int | None:
        return next((n for n, one in enumerate(selections) if holds(one)), None)

    left = ddmin(parts, first)
    minimal = [one for one in needed if not any(other < one for other in needed)]
    assert frozenset(left) in minimal
    assert left == sorted(left)
    assert len(left) >= _smallest(needed, parts)


@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_ddmin_leaves_a_1_minimal_set_of_any_condition(count: int, random: object) -> None:
    """Also of conditions that do not grow, drawn for each subset: no part can go by itself."""
    parts = list(range(count))
    subsets = [
        frozenset(chosen) for size in range(count) for chosen in itertools.combinations(parts, size)
    ]
    good = {one for one in subsets if random.random() < 0.3}  # type: ignore[attr-defined]
    good.add(frozenset(parts))

    def first(selections: Sequence[Sequence[int]]) -> int | None:
        return next((n for n, one in enumerate(selections) if frozenset(one) in good), None)

    left = frozenset(ddmin(parts, first))
    assert left in good
    assert not any(left - {part} in good for part in left)


@given(st.lists(st.integers(), min_size=1), st.integers(1, 9))
def test_pieces_are_all_of_it_in_order(parts: list[int], pieces: int) -> None:
    """And none is longer than another by more than one."""
    found = split(parts, pieces)
    assert [part for piece in found for part in piece] == parts
    lengths = [len(piece) for piece in found]
    assert max(lengths) - min(lengths) <= 1


# ---------------------------------------------------------------------------------------------
# Cases


def _line() -> Case:
    """h0 - a - b - c - h1, and a flow from end to end."""
    ends = [("h0", "a"), ("a", "b"), ("b", "c"), ("c", "h1")]
    path = ("h0", "a", "b", "c", "h1")
    return Case(
        hosts=("h0", "h1"),
        switches=("a", "b", "c"),
        links=tuple(Link(one, other, 10**10, 10**6) for one, other in ends),
        flows=(Flow(0, "h0", "h1", 1000, 0, -1, 3, path=path),),
        run={"duration": 10**9, "seeds": [1]},
        nodes=({"names": ["a", "b"], "switch": {"latency": "1us"}},),
        faults=({"kind": "pause_storm", "host": "h1"},),
    )


def test_a_part_takes_along_what_cannot_be_without_it() -> None:
    """Flows of a host and of a link, hosts of a switch, entries of nodes."""
    assert _line().without([("link", "a", "b")]) is None
    assert _line().without([("switch", "c")]) is None
    other = replace(_line().flows[0], number=1, src="h2", path=("h2", "b", "c", "h1"))
    two = replace(
        _line(),
        hosts=("h0", "h1", "h2"),
        links=(*_line().links, Link("h2", "b", 10**10, 10**6)),
        flows=(*_line().flows, other),
    )
    left = two.without([("switch", "a")])
    assert left is not None
    assert [flow.number for flow in left.flows] == [1]
    assert left.hosts == ("h1", "h2")
    assert left.nodes == ({"names": ["b"], "switch": {"latency": "1us"}},)
    assert left.without([("flow", "1")]) is None
    assert left.used().switches == ("b", "c")


def test_ways_get_shorter() -> None:
    """A host moves one switch on, or two switches become one; never a way without a switch."""
    moved = _line().moved("h0")
    assert moved is not None
    assert moved.flows[0].path == ("h0", "b", "c", "h1")
    assert moved.switches == ("b", "c")
    merged = _line().merged("b", "c")
    assert merged is not None
    assert merged.flows[0].path == ("h0", "a", "b", "h1")
    assert {link.ends for link in merged.links} == {
        frozenset(pair) for pair in (("h0", "a"), ("a", "b"), ("b", "h1"))
    }
    last = moved.moved("h1")
    assert last is not None
    assert last.flows[0].path == ("h0", "b", "h1")
    assert last.moved("h0") is None


def test_merging_makes_no_loop() -> None:
    """Two switches of a path with others between them stay two."""
    case = _line()
    around = replace(case, links=(*case.links, Link("a", "c", 10**10, 10**6)))
    assert around.merged("a", "c") is None


Table = dict[tuple[str, str, str], str]
NEIGHBOURS = ("a", "b", "c", "h0", "h1")


def _table(rules: str, known: Sequence[str]) -> Table:
    """What rules do: the new class by neighbours and old class. Other neighbours: an error."""
    table: Table = {}
    for rule in filter(str.strip, rules.split(";")):
        ends, classes = rule.split(":")
        sides = [side.split() for side in ends.split(">")]
        assert len(sides) == 2
        assert all(sides)
        assert set(itertools.chain(*sides)) <= set(known)
        for change in classes.split(","):
            old, new = change.strip().split("=")
            table |= {(*pair, old): new for pair in itertools.product(*sides)}
    return table


RULES = st.lists(
    st.builds(
        "{} > {} : {}".format,
        *[st.lists(st.sampled_from(NEIGHBOURS), min_size=1).map(" ".join)] * 2,
        st.lists(st.sampled_from(["3=4", "4=5", "5=0"]), min_size=1, unique=True).map(", ".join),
    ),
    max_size=4,
).map("; ".join)


def _star(*nodes: dict[str, Any], **settings: str) -> Case:
    """A switch m between switches a, b, c and two hosts, with a flow between these."""
    return Case(
        hosts=("h0", "h1"),
        switches=("m", "a", "b", "c"),
        links=tuple(Link("m", one, 10**10, 10**6) for one in NEIGHBOURS),
        flows=(Flow(0, "h0", "h1", 1000, 0, -1, 3, path=("h0", "m", "h1")),),
        run={"duration": 10**9, "seeds": [1]},
        settings={("attribute", "tagger", key): one for key, one in settings.items()},
        nodes=nodes,
    )


@given(RULES, st.sets(st.sampled_from(["a", "b", "c"])), st.booleans())
def test_rules_say_the_same_of_the_neighbours_that_are_left(
    rules: str, gone: set[str], of_all: bool
) -> None:
    """And name no others, whether they are those of the switch or of all switches."""
    case = _star(rules=rules) if of_all else _star({"names": ["m"], "tagger": {"rules": rules}})
    smaller = case.without([("switch", name) for name in gone])
    assert smaller is not None
    left = [one for one in NEIGHBOURS if one not in gone]
    entries = [one["tagger"]["rules"] for one in smaller.nodes]
    (kept,) = smaller.settings.values() if of_all else entries or [""]
    before = _table(rules, NEIGHBOURS)
    assert _table(kept, left) == {
        key: new for key, new in before.items() if key[0] in left and key[1] in left
    }
    assert gone or kept == rules


def test_rules_of_several_switches_part_where_their_neighbours_do() -> None:
    """The switch that lost a link gets an entry of its own; other settings stay."""
    rules = "a c > a c : 3=4"
    case = _star({"names": ["m", "b"], "tagger": {"rules": rules, "charge": "new"}})
    case = replace(case, links=(*case.links, *(Link("b", one, 10**10, 10**6) for one in "ac")))
    one = case.without([("link", "b", "a")])
    assert one is not None
    assert one.nodes == (
        {"names": ["m"], "tagger": {"rules": rules, "charge": "new"}},
        {"names": ["b"], "tagger": {"rules": "c > c : 3=4", "charge": "new"}},
    )
    none = case.without([("link", "b", "a"), ("link", "b", "c")])
    assert none is not None
    assert none.nodes[1] == {"names": ["b"], "tagger": {"charge": "new"}}
    plain = _star({"names": ["m"], "tagger": {"rules": "a > b : 3=4"}})
    left = plain.without([("switch", "a")])
    assert left is not None
    assert left.nodes == ()


def test_rules_name_merged_switches_by_the_one_that_is_kept() -> None:
    """And never a switch itself; a name that was no neighbour before is left to be refused."""
    other = {"names": ["a"], "tagger": {"rules": "c > m x : 3=4"}}
    case = _star(other, {"names": ["m"], "tagger": {"rules": "h0 b > c b : 3=4; c > a : 3=5"}})
    case = replace(case, links=(*case.links, Link("a", "c", 10**10, 10**6)))
    into_b, into_m = case.merged("b", "m"), case.merged("m", "c")
    assert into_b is not None
    assert into_m is not None
    assert [one["tagger"]["rules"] for one in into_b.nodes] == ["c > b x : 3=4"]
    assert [one["tagger"]["rules"] for one in into_m.nodes] == ["m > m x : 3=4", "h0 b > b : 3=4"]


# ---------------------------------------------------------------------------------------------
# Conditions


def test_conditions_are_read() -> None:
    """Names, comparisons with units, and several of them."""
    assert read_condition("deadlocked").is_deadlock
    both = read_condition("peak >= 100KB and flows_unfinished > 2")
    assert [(t.name, t.sign, t.bound, t.unit) for t in both.terms] == [
        ("peak", ">=", 100_000, "B"),
        ("flows_unfinished", ">", 2, ""),
    ]
    assert both.holds({"peak": 100_000, "flows_unfinished": 3})
    assert not both.holds({"peak": 99_999, "flows_unfinished": 3})
    assert not both.holds({"peak": None, "flows_unfinished": 3})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deadlock", "did you mean 'deadlocked'?"),
        ("", "is not a condition"),
        ("peak > 100 parsecs", "neither a size"),
        ("peak", "NAME OPERATOR VALUE"),
    ],
)
def test_what_is_no_condition_is_told(text: str, said: str) -> None:
    """With what would be one."""
    with pytest.raises(UserError) as caught:
        read_condition(text)
    assert said in caught.value.render()


# ---------------------------------------------------------------------------------------------
# Files


def test_a_file_with_comments_says_what_the_tables_say() -> None:
    """Whatever the keys and values are."""
    content = {
        "title": 'with "quotes" and \\',
        "flow_control": ["pfc"],
        "agents": ["dcfit", "tagger"],
        "host_agents": ["watchdog"],
        "run": {"duration": "1ms", "seeds": [3], "stop_when_done": True},
        "ns3::gfc::ConceptualGfc": {"bm": "1KB", "share": 0.5},
        "topology": {"links": [{"between": ["a", "b"]}, {"between": ["b", "c"], "rate": "1Gbps"}]},
        "traffic": [{"kind": "greedy", "src": "a"}, {"kind": "greedy", "src": "b"}],
    }
    comments = {
        ("flow_control",): "why",
        ("agents", 1): "one agent",
        ("host_agents", 0): "the only one",
        ("topology", "links", 1): "a link",
        ("traffic", 0): "a flow",
        ("run", "seeds", 0): "a seed",
    }
    text = dump(content, comments, "# head\n")
    assert tomllib.loads(text) == content
    for comment in comments.values():
        assert f"# {comment}\n" in text


def test_targets_that_cannot_be_written_are_told_first(tmp_path: Path) -> None:
    """No folder, no TOML, somebody else's file."""
    own = tmp_path / "own.toml"
    own.write_text('title = "mine"\n', encoding="utf-8")
    for file, said in (
        (tmp_path / "x" / "y.toml", "there is no folder"),
        (tmp_path / "y.json", "not a valid name of an experiment file"),
        (own, "not an earlier result"),
    ):
        with pytest.raises(UserError) as caught:
            check_target(file)
        assert said in caught.value.render()
    own.write_text(f"{MADE_BY}\n", encoding="utf-8")
    check_target(own)


def test_limits_are_left_out_before_they_are_halved() -> None:
    """Of all flows, then entry by entry: messages of a group have theirs together."""
    flow = _line().flows[0]
    flows = (
        replace(flow, rate=9, on_off=(3, 5), group=1),
        replace(flow, number=1, rate=9, on_off=(3, 5), group=1),
        replace(flow, number=2, size=0, rate=7, start=4, stop=10),
    )
    case = replace(_line(), flows=flows)
    found = {name: [] if one is None else list(one.flows) for one, name in limits_of(case)}
    assert list(found) == [
        *("no rate cap", "no rate cap of messages 1", "no rate cap of flow 2"),
        *("half the rate cap", "half the rate cap of messages 1", "half the rate cap of flow 2"),
        *("no window", "half the window"),
        *("no on-off times", "no stop", "half the stop"),
    ]
    assert [one.rate for one in found["no rate cap"]] == [0, 0, 0]
    assert [one.rate for one in found["no rate cap of messages 1"]] == [0, 0, 7]
    assert [one.rate for one in found["half the rate cap of flow 2"]] == [9, 9, 4]
    assert [one.on_off for one in found["no on-off times"]] == [None, None, None]
    assert [one.stop for one in found["half the stop"]] == [-1, -1, 7]
    assert found["no window"] == list(flows)  # nothing to try


# ---------------------------------------------------------------------------------------------
# Whole minimisations


__all__ = ["kept_runs"]

pytestmark = [pytest.mark.inputs(*RUNS), pytest.mark.xdist_group("minimise")]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Paths]:
    """The ring's file, and folders of its own."""
    folder = tmp_path_factory.mktemp("minimise")
    file = folder / "ring.toml"
    file.write_text(RING, encoding="utf-8")
    return file, Paths(ROOT, folder / "results")


@pytest.fixture(scope="module")
def found(study: tuple[Path, Paths]) -> Minimal:
    """The least of the ring that deadlocks."""
    file, paths = study
    return minimise(pipeline.make_plan(str(file), paths=paths, claim=True), "1", jobs=2)


@pytest.mark.cpp
def test_the_ring_keeps_its_cycle_alone(found: Minimal) -> None:
    """Three switches, three links, three flows that go around, and their ends."""
    assert sorted(flow.number for flow in found.case.flows) == [0, 1, 2]
    assert len(found.case.switches) == len(found.case.trunks) == 3
    assert {host for flow in found.case.flows for host in (flow.src, flow.dst)} == set(
        found.case.hosts
    )
    shown = str(found).splitlines()
    assert "reduced while deadlocked, in" in shown[0]
    assert {"hosts:    6 -> 3", "trunks:   3 -> 3", "flows:    5 -> 3"} <= set(shown)
    assert found.case.run["drain"] == 0
    assert found.case.run["duration"] < 2 * 10**9


@pytest.mark.cpp
def test_the_file_is_an_experiment_of_which_the_condition_holds(
    found: Minimal, study: tuple[Path, Paths]
) -> None:
    """It runs by itself, deadlocks, and says why each part is there; a picture, and the steps."""
    file, paths = study
    target = file.parent / "minimal.toml"
    written = write(found, target)
    assert len(written.cycle) == 3
    assert written.picture is not None
    assert written.picture.stat().st_size > 10_000
    plan = pipeline.make_plan(str(target), paths=paths, claim=True)
    (spec,) = plan.specs
    from pyorch.engine import LocalEngine

    assert not LocalEngine(plan.store, 1).run(plan.missing, plan.build).left
    summary = plan.store.read_summary(spec.hash(plan.build.fingerprint))["summary"]
    assert summary["deadlocked"] == 1
    text = target.read_text(encoding="utf-8")
    assert text.count("not deadlocked") + text.count("every flow needs it") >= 9
    steps = pd.read_csv(written.steps)
    assert len(steps) == len(found.steps)
    assert steps["outcome"].iloc[0] == "holds"
    before = {path: path.read_bytes() for path in (target, written.picture, written.steps)}
    write(found, target)
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.cpp
def test_nothing_of_it_can_go_alone(found: Minimal, study: tuple[Path, Paths]) -> None:
    """By brute force: runs without each flow, switch, link and setting, made by Study's way."""
    file, paths = study
    from pyorch.engine import LocalEngine
    from pyorch.files.find import Document

    case = found.case
    parts = [
        part
        for kind in ("flow", "link", "switch", "scheme", "attribute", "host")
        for part in case.parts(kind)
    ]
    smaller = [left for part in parts if (left := case.without([part])) is not None]
    assert len(smaller) >= 3

    def planned(name: str, left: Case) -> pipeline.Plan:
        tables = tables_of(left).content
        document = Document(name, file.parent / f"{name}.toml", name, tables)
        return pipeline.make_plan(document, paths=paths)

    plans = [planned(f"brute{number}", left) for number, left in enumerate(smaller)]
    plan, specs = plans[0], [spec for plan in plans for spec in plan.specs]
    LocalEngine(plan.store, 2).run(specs, plan.build)
    for spec, left in zip(specs, smaller, strict=True):
        run_hash = spec.hash(plan.build.fingerprint)
        if plan.store.is_done(run_hash):  # else it is refused, or its result is wrong: no run
            assert plan.store.read_summary(run_hash)["summary"]["deadlocked"] == 0, left


@pytest.mark.cpp
def test_again_it_is_the_same_and_nothing_is_simulated(
    found: Minimal, study: tuple[Path, Paths]
) -> None:
    """With another number of jobs: the same case, the same steps, from the store."""
    file, paths = study
    again = minimise(pipeline.make_plan(str(file), paths=paths), "1", jobs=1)
    assert again.trials.runs == 0
    assert again.case == found.case
    assert [s.row(0) for s in again.steps] == [s.row(0) for s in found.steps]


@pytest.mark.cpp
def test_a_killed_one_goes_on(study: tuple[Path, Paths], found: Minimal, tmp_path: Path) -> None:
    """After kill -9 in the midst the same command does the rest, and gives the same."""
    file, _ = study
    paths = Paths(ROOT, tmp_path / "results")
    command = [sys.executable, "-m", "pyorch", "minimise", str(file), "1", "--jobs", "2"]
    command += ["--out", str(tmp_path / "least.toml")]
    environment = {**os.environ, "PYORCH_RESULTS": str(paths.results), "PYORCH_ROOT": str(ROOT)}
    child = subprocess.Popen(command, env=environment, cwd=tmp_path, start_new_session=True)
    runs = Store(paths, f"ring/{FOLDER}").runs

    def done() -> int:
        return sum(1 for path in runs.glob("[0-9a-f]*") if not path.name.startswith("."))

    while done() < 12 and child.poll() is None:
        time.sleep(0.05)
    assert child.poll() is None, "it ended before it could be killed"
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    kept = done()
    assert kept < found.trials.runs
    second = minimise(pipeline.make_plan(str(file), paths=paths, claim=True), "1", jobs=2)
    assert second.trials.runs <= found.trials.runs - kept
    assert second.case == found.case


@pytest.mark.cpp
def test_a_number_of_a_metric_can_be_the_condition(study: tuple[Path, Paths]) -> None:
    """A queue of 90 KB takes two flows into one link; the port of the metric stays."""
    file, paths = study
    plan = pipeline.make_plan(str(file), paths=paths, claim=True)
    least = minimise(plan, "1", "peak > 90KB", jobs=2)
    assert {"s1", "s0"} <= set(least.case.switches)
    assert 1 <= len(least.case.flows) <= 3


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("run", "condition", "said"),
    [
        ("7", "deadlocked", "there is no run with this number"),
        ("1", "lossy", "does not hold for this run: dropped_lossless_frames is 0"),
        ("1", "peek > 3", "did you mean 'peak'?"),
        ("1", "peak > 3us", "peak is in B, and the bound in ps"),
    ],
)
def test_wrong_words_are_told(
    study: tuple[Path, Paths], found: Minimal, run: str, condition: str, said: str
) -> None:
    """Which run, which condition, which number."""
    file, paths = study
    with pytest.raises(UserError) as caught:
        minimise(pipeline.make_plan(str(file), paths=paths), run, condition)
    assert said in caught.value.render()


#: A flow whose limits are needed to send little, and one whose limits nobody needs.
LIMITED = """
title = "Limited"
port.pause_response = "ideal"
[run]
duration = "1ms"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"
[queue_pair]
payload_size = "1000B"
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
window = "500KB"
rate_cap = "2Gbps"
on = "20us"
off = "20us"
[[traffic]]
kind = "messages"
window = "50KB"
rate_cap = "5Gbps"
on = "5us"
off = "1us"
messages = [{ src = "h2", dst = "h3", size = "10KB" }]
"""


@pytest.mark.cpp
def test_limits_that_nothing_needs_go_and_others_become_small(tmp_path: Path) -> None:
    """With no limit 1 ms at 10 Gb/s is above a megabyte: one must stay, and its half fails."""
    file = tmp_path / "limited.toml"
    file.write_text(LIMITED, encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"), claim=True)
    least = minimise(plan, "1", "delivered_bytes > 20KB and sent_bytes < 200KB and end_ps >= 1ms")
    (flow,) = least.case.flows
    limits = [flow.rate > 0, flow.window > 0, flow.on_off is not None]
    assert sum(limits) == 1
    assert least.case.run["duration"] == 10**9
    for smaller, name in limits_of(least.case):
        if smaller is not None and smaller != least.case:
            assert not least.trials.outcome(smaller).holds, name
    text = tables_of(least.case).content["traffic"][0]
    assert len({"rate_cap", "window", "on"} & text.keys()) == 1
    rate = flow.rate / 8 * 1e-3  # what a cap lets through in 1 ms: the least above 20 KB
    assert not flow.rate or 20_000 < rate < 60_000


@pytest.mark.cpp
def test_a_deadlock_loses_the_limits_of_its_flows(tmp_path: Path) -> None:
    """Caps and windows that do not matter go, on-off times too."""
    file = tmp_path / "ring.toml"
    limits = 'kind = "messages"\nrate_cap = "39Gbps"\nwindow = "1MB"\non = "1ms"\noff = "1us"'
    file.write_text(RING.replace('kind = "messages"', limits), encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"), claim=True)
    least = minimise(plan, "1", jobs=2)
    assert len(least.case.trunks) == 3
    assert all(not one.rate and not one.window and one.on_off is None for one in least.case.flows)


#: One of two flows changes class at the spine, by a rule that names a leaf without need.
TAGGED = """
title = "Tagged"
flow_control = ["pfc"]
agents = ["tagger"]
port.pause_response = "ideal"
[run]
duration = "100us"
[topology]
kind = "leaf_spine"
leaves = 3
spines = 1
hosts_per_leaf = 1
rate = "40Gbps"
delay = "1us"
[buffer]
lossless_classes = 0x38
threshold = "static"
xoff = "100KB"
xon = "97KB"
[[node]]
names = ["spine0"]
tagger = { rules = "leaf0 leaf2 > leaf0 leaf1 leaf2 : 3=4" }
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
[[traffic]]
kind = "greedy"
src = "h1"
dst = "h2"
"""


@pytest.mark.cpp
def test_a_rule_keeps_no_switch_that_only_it_names(tmp_path: Path) -> None:
    """What is left are the neighbours between which frames change class."""
    file = tmp_path / "tagged.toml"
    file.write_text(TAGGED, encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"), claim=True)
    least = minimise(plan, "1", "tagger_frames_changed > 10", jobs=2)
    assert [flow.number for flow in least.case.flows] == [0]
    assert sorted(least.case.switches) == ["leaf0", "leaf1", "spine0"]
    (entry,) = least.case.nodes
    assert entry == {"names": ["spine0"], "tagger": {"rules": "leaf0 > leaf0 leaf1 : 3=4"}}


@pytest.mark.cpp
@pytest.mark.slow
def test_a_deadlock_of_a_fat_tree_shrinks_to_its_cycle_and_a_handful_of_flows(
    tmp_path: Path,
) -> None:
    """16 hosts, 20 switches, 162 flows; the cycle is the oracle's, in the run that is left."""
    paths = Paths(ROOT, tmp_path / "results")
    plan = pipeline.make_plan("gfc/fat-tree", ["only=PFC"], "1", paths=paths, claim=True)
    least = minimise(plan, "1", jobs=2)
    assert least.before["flows"] > 100
    cycle = write(least, tmp_path / "least.toml").cycle
    assert len(cycle) >= 3
    assert {link.ends for link in least.case.trunks} <= {frozenset(one.split(":")) for one in cycle}
    assert len(least.case.flows) <= 6
