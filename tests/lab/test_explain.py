"""`explain`: facts against tables, by another way; captures by tshark; cures by their runs."""

from __future__ import annotations

import html
import io
import itertools
import shlex
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomli_w

import pyorch
from pyorch import pipeline
from pyorch.addons.lab.cures import base_of
from pyorch.addons.lab.explicit import tables_of_run
from pyorch.addons.lab.trials import spec_of
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.cli.explain import explain_run
from pyorch.engine import LocalEngine
from pyorch.explain.base import Wires
from pyorch.explain.explanation import AROUND, Explanation, explain
from pyorch.explain.outcomes import AS_IT_WAS, tables_agree
from pyorch.explain.page import is_free, row_of, too_slow, write
from pyorch.explain.story import Blocked, Pause, Story, levels_of
from pyorch.report.quantities import show
from tests.inputs import ROOT, RUNS
from tests.kept import kept_runs
from tests.projects import RING_OF_THREE
from tests.wireshark import tshark

__all__ = ["kept_runs"]

pytestmark = [
    pytest.mark.cpp,
    pytest.mark.inputs(*RUNS),
    pytest.mark.xdist_group("explain"),
]  # the runs are made once

#: Three flows, of which each goes two switches on around a ring of three, a fourth beside them, and
#: one that is over before anything happens.
RING = (
    """
title = "Ring"
flow_control = ["pfc"]

[run]
simulator = "ns3::eventloop::EventLoop"
duration = "2ms"
stop_on_deadlock = true

"""
    + RING_OF_THREE
    + """
[queue_pair]
payload_size = "1000B"
retransmit = "none"

[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h4", size = "2MB", path = "h0 > s0 > s1 > s2 > h4" },
  { src = "h2", dst = "h0", size = "2MB", path = "h2 > s1 > s2 > s0 > h0", start = "3us" },
  { src = "h4", dst = "h2", size = "2MB", path = "h4 > s2 > s0 > s1 > h2" },
  { src = "h1", dst = "h3", size = "1MB", start = "5us" },
  { src = "h3", dst = "h1", size = "20KB" },
]
"""
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study."""
    file = tmp_path_factory.mktemp("explain") / "ring.toml"
    file.write_text(RING)
    return file


@pytest.fixture(scope="module")
def found(file: Path) -> Explanation:
    """The explanation of its run."""
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, file.parent / "results"), claim=True)
    return explain(plan, "1", jobs=2)


@pytest.fixture(scope="module")
def page(found: Explanation) -> tuple[Path, Wires]:
    """Its page."""
    return write(found, found.folder, "pyorch explain ring.toml 1")


def _table(found: Explanation, name: str) -> list[dict[str, Any]]:
    """A table of the told run, row by row."""
    run_hash = found.told.hash(found.plan.build.fingerprint)
    rows: list[dict[str, Any]] = found.store.read_table(run_hash, name).to_dict("records")
    return rows


def _held(found: Explanation) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """When egresses obeyed pauses, by what the ports themselves recorded."""
    names = found.network.names
    held: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row in _table(found, "pause"):
        if row["side"] == 1:
            port = (names[row["node"]], names[row["peer"]])
            held.setdefault(port, []).append((row["start_ps"], row["end_ps"]))
    return held


# ---------------------------------------------------------------------------------------------
# The story


def test_the_circle_is_one_of_ports_that_are_paused_for_good(found: Explanation) -> None:
    """And the pause that closed it is the last that one of them obeyed."""
    story, held = found.story, _held(found)
    heads = [node for node, _ in story.cycle]
    assert [peer for _, peer in story.cycle] == [*heads[1:], heads[0]]
    began = {}
    for port in story.cycle:
        start, end = held[port][-1]
        assert start <= story.formed
        assert end == story.end
        began[port] = start
    assert story.closing is not None
    last = max(began, key=lambda port: began[port])
    assert (story.closing.peer, story.closing.node) == last
    assert story.closing.time < began[last] == story.formed
    first = min(began, key=lambda port: began[port])
    assert story.oldest is not None
    assert (story.oldest.peer, story.oldest.node) == first
    assert story.oldest.time < began[first]


def test_each_pause_of_the_chain_led_to_the_next(found: Explanation) -> None:
    """Whom one holds back makes the next; the egress of the first was not held back itself."""
    chain, held = found.story.chain, _held(found)
    assert len(chain) > 1
    for before, after in itertools.pairwise(chain):
        assert after.node == before.peer
        assert after.egress == before.node
        assert any(start <= after.time < end for start, end in held[after.node, after.egress])
    first = chain[0]
    assert not first.is_of_host
    assert not any(
        start <= first.time < end for start, end in held.get((first.node, first.egress), [])
    )


def test_a_pause_is_laid_at_the_egress_that_holds_most(tmp_path: Path) -> None:
    """By the queues: what an ingress holds, and what other egresses hold at most of it.

    Routes lead around a ring of three clockwise, and each host sends two switches on, so that each
    ingress holds frames for a link that is held back and for hosts that take them at once.
    """
    forced = [("s0", ["h4", "h5"], "s1"), ("s1", ["h0", "h1"], "s2"), ("s2", ["h2", "h3"], "s0")]
    tables = ["deadlock", "queue", "egress", "pause_tree"]
    content = {
        "title": "Clockwise",
        "flow_control": ["pfc"],
        "run": {"duration": "5ms", "allow_loss": True, "stop_on_deadlock": True, "seeds": 3},
        "topology": tomllib.loads(RING_OF_THREE)["topology"],
        "buffer": {"size": "1MB", "lossy_pool": "0B"},
        "traffic": [{"kind": "permutation", "shift": 4, "size": "2MB", "start_jitter": "1ms"}],
        "route": [{"switch": at, "dst": dst, "next": to} for at, dst, to in forced],
        "trace": [{"table": table} for table in tables],
    }
    file = tmp_path / "clockwise.toml"
    file.write_text(tomli_w.dumps(content))
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path))
    assert not LocalEngine(plan.store, 1).run(plan.specs, plan.build).left
    decided = 0
    for spec in plan.specs:
        run = spec.hash(plan.build.fingerprint)
        switches = {6, 7, 8}  # after the six hosts
        queue, egress, parts, tree = (
            plan.store.read_table(run, name)
            for name in ("queue", "egress", "deadlock_part", "pause_tree")
        )

        def before(table: pd.DataFrame, node: int, time: int) -> dict[int, int]:
            """The bytes of each port of a node, in the last row before a time."""
            rows = table[(table["node"] == node) & (table["time_ps"] < time)]
            return dict(rows.groupby("peer")["bytes"].last())

        for pause in parts[parts["part"] == 2].itertuples():
            held = before(queue, pause.node, pause.time_ps)[pause.peer]
            left = before(egress, pause.node, pause.time_ps)
            sure = [
                peer
                for peer in left
                if held - sum(b for other, b in left.items() if other != peer) > held / 2
            ]
            if sure:
                decided += 1
                assert pause.egress_peer == sure[0]
        final = tree[tree["node"].isin(switches) & (tree["end_ps"] == tree["end_ps"].max())]
        assert set(final["cause_peer"]) <= switches  # not the hosts, which take all at once
    assert decided >= 3


def test_what_stands_behind_is_what_else_is_paused_at_the_end(found: Explanation) -> None:
    """By the ports' own record of pauses."""
    story = found.story
    stuck = {port for port, times in _held(found).items() if times[-1][1] == story.end}
    assert set(story.behind) == stuck - set(story.cycle)
    assert story.behind


def test_what_it_cost_is_what_flows_and_links_say(found: Explanation) -> None:
    """Counted flow by flow; what hosts received, interval by interval."""
    story = found.story
    missing = [
        row["size_bytes"] - row["delivered_bytes"]
        for row in _table(found, "flow")
        if row["finish_ps"] < 0
    ]
    assert (story.flows, story.unfinished, story.missing) == (5, len(missing), sum(missing))
    assert story.unfinished == 4
    sums: dict[int, int] = {}
    for row in _table(found, "rate"):
        assert not found.network.is_host(found.network.names[row["node"]])
        assert found.network.is_host(found.network.names[row["peer"]])
        sums[row["time_ps"]] = sums.get(row["time_ps"], 0) + row["tx_bytes"]
    times = sorted(sums)
    period = times[0]
    before = [sums[time] for time in times if time <= story.formed]
    after = [sums[time] for time in times if time - period >= story.formed]
    assert story.before == pytest.approx(8e12 * sum(before) / (period * len(before)))
    assert story.after == pytest.approx(8e12 * sum(after) / (period * len(after)))
    assert story.after < story.before / 10  # type: ignore[operator]


def test_five_sentences_name_the_facts(found: Explanation) -> None:
    """Every node of the chain and of the circle, every time, every number."""
    story = found.story
    trigger, chain, closing, behind, cost = story.sentences()
    first, last = story.chain[0], story.chain[-1]
    assert f"{first.time / 1e6:.6g} µs" in trigger
    assert story.oldest is not None
    told = f"{story.oldest.node} paused {story.oldest.peer} at {story.oldest.time / 1e6:.6g} µs"
    assert (told in trigger) == (story.oldest.time < first.time)
    assert f"{first.node} paused {first.peer}" in trigger
    assert f"its port to {first.egress}" in trigger
    for pause in story.chain[1:-1]:
        assert f"{pause.node} paused {pause.peer}" in chain
    assert f"{len(story.chain)} pauses in {(last.time - first.time) / 1e6:.6g} µs" in chain
    assert f"{last.node} paused {last.peer} at {last.time / 1e6:.6g} µs" in closing
    assert f"from {story.formed / 1e6:.6g} µs" in closing
    assert " → ".join([node for node, _ in story.cycle] + [story.cycle[0][0]]) in closing
    assert f"{len(story.behind)} more queues" in behind
    assert all(f"{node} → {peer}" in behind for node, peer in story.behind)
    assert f"4 of 5 finite flows have not finished, and {story.missing / 1e6:.4g} MB" in cost


def test_sentences_of_odd_stories_are_true() -> None:
    """A host that paused, a single pause, none, nothing behind, a deadlock that ended."""
    base: dict[str, Any] = {
        "formed": 5_000_000,
        "dissolved": -1,
        "end": 9_000_000,
        "episodes": 1,
        "has_pauses": True,
        "chain": (),
        "cycle": (("a", "b"), ("b", "a")),
        "behind": (),
        "flows": 0,
        "unfinished": 0,
        "missing": 0,
        "before": None,
        "after": None,
    }
    none = Story(**base).sentences()
    assert Story(**base).notes() == []
    assert len(Story(**base | {"episodes": 2, "has_pauses": False}).notes()) == 2
    assert none[0] == "How it began is unknown: no pause that led to it is recorded."
    assert none[1] == "No other pause led to it."
    assert none[2].startswith("From 5 µs on the 2 queues a → b → a wait")
    assert none[3] == "No other queue waited behind them."
    assert none[4] == "The run continued for 4 µs."
    host = Story(
        **base | {"chain": (Pause("h", "a", 1_000_000, "", True),), "dissolved": 7_000_000}
    )
    assert "1 µs, when the host h could accept no more and paused a." in host.sentences()[0]
    assert "until something else ended it at 7 µs" in host.sentences()[2]
    late = Story(
        **base | {"chain": (Pause("a", "b", 2_000_000),), "oldest": Pause("b", "a", 1_000_000)}
    )
    assert late.sentences()[0] == (
        "The oldest pause of the cycle is that by which b paused a at 1 µs; the one that closed it "
        "goes back to 2 µs, when a paused b."
    )
    one = Story(**base | {"flows": 1, "unfinished": 1, "missing": 10, "behind": (("h", "a"),)})
    assert one.sentences()[3] == "1 more queue waited behind them: h → a."
    assert "1 of 1 finite flow has not finished, and 10 B of its data" in one.sentences()[4]


# ---------------------------------------------------------------------------------------------
# The wires


def _frames(capture: Path, *words: str) -> list[list[str]]:
    text = subprocess.run(
        [tshark(), "-r", str(capture), "-T", "fields", *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [line.split("\t") for line in text.splitlines()]


def test_the_pause_that_closed_the_circle_is_in_the_capture(
    found: Explanation, page: tuple[Path, Wires]
) -> None:
    """From its node, of the class, not a RESUME; it ends where the oracle sees the circle close."""
    story, wires = found.story, page[1]
    assert wires.closing is not None
    assert story.closing is not None
    number = found.network.numbers[story.closing.node]
    source = "02:00:" + ":".join(f"{number:08x}"[at : at + 2] for at in (0, 2, 4, 6))
    fields = ["frame.time_epoch", "eth.src", "macc.cbfc.enbv", f"macc.cbfc.pause_time.c{3}"]
    rows = _frames(
        wires.closing.path,
        *("-Y", "macc.opcode == 0x0101"),
        *itertools.chain.from_iterable(("-e", field) for field in fields),
    )
    pauses = [
        round(float(time) * 1e9)
        for time, src, classes, quanta in rows
        if src == source and int(classes, 0) >> 3 & 1 and int(quanta, 0) > 0
    ]
    inside = [time for time in pauses if story.closing.time <= 1000 * time + 999]
    # a capture cuts times to nanoseconds; received is when the last bit is, at which it takes hold
    assert inside[0] == story.formed // 1000
    assert len([time for time in inside if time <= story.formed // 1000]) == 1


def test_the_command_on_the_page_finds_that_pause(
    found: Explanation, page: tuple[Path, Wires]
) -> None:
    """As written, in the folder of the page: one frame."""
    text = html.unescape(page[0].read_text())
    command = next(part for part in text.split("<pre>") if part.startswith("tshark"))
    words = shlex.split(command.partition("</pre>")[0].replace("\\\n", ""))
    words[0] = tshark()
    said = subprocess.run(
        words, cwd=page[0].parent, capture_output=True, text=True, check=True
    ).stdout
    assert len(said.splitlines()) == 1
    assert "PFC" in said or "Pause" in said
    assert found.story.closing is not None


def test_python_shows_it_in_a_few_lines(found: Explanation) -> None:
    """Each cure once, by what became of it: those that helped, by the runs' own numbers."""
    answer, *rest, last = str(found).splitlines()
    assert answer == found.answer
    assert ".story.sentences()" in last
    cures = dict(line.split(":", 1) for line in rest)
    names = {word: text.strip().split(", ") for word, text in cures.items()}
    listed = [name for some in names.values() for name in some]
    known = [one.cure.name for one in found.outcomes if one.cure.name != AS_IT_WAS]
    assert sorted(listed) == sorted(known)
    for one in found.outcomes:
        if one.run_hash and one.cure.name != AS_IT_WAS:
            numbers = found.store.read_summary(one.run_hash)["summary"]
            word = "deadlock" if numbers["deadlocked_at_end"] else "broken"
            assert one.cure.name in names[word if numbers["deadlocked"] else "no deadlock"]


def test_captures_are_of_the_moments_around_it(
    found: Explanation, page: tuple[Path, Wires]
) -> None:
    """And of the ports of the cycle, all of them."""
    story, wires = found.story, page[1]
    assert set(wires.pcaps) == set(story.cycle)
    assert all(one.path.name == f"{a}-{b}.pcap" for (a, b), one in wires.pcaps.items())
    assert story.closing is not None
    for one in wires.pcaps.values():
        times = [1e12 * float(row[0]) for row in _frames(one.path, "-e", "frame.time_epoch")]
        assert len(times) == one.frames > 0
        assert min(times) >= story.closing.time - AROUND - 1000
        assert max(times) <= story.formed + AROUND
    assert wires.animation.is_file()
    assert wires.animation.read_text().count("<p ") == wires.frames > 0


# ---------------------------------------------------------------------------------------------
# Cures


def test_the_run_as_it_was_is_the_studys(found: Explanation) -> None:
    """The same flows, byte for byte and picosecond for picosecond, up to where that one stops."""
    by_name = {one.cure.name: one for one in found.outcomes}
    same = by_name[AS_IT_WAS]
    plan = found.plan
    assert plan.store.missing(plan.specs, plan.build.fingerprint)  # explain does not need it
    told = found.store.read_table(found.told.hash(plan.build.fingerprint), "flow")
    pd.testing.assert_frame_equal(found.store.read_table(same.run_hash, "flow"), told)
    assert same.deadlocks == 1
    assert same.formed == found.story.formed
    assert same.is_stuck


def test_outcomes_are_what_the_oracle_and_the_flows_say(found: Explanation) -> None:
    """Of each cure, by its run; some break the deadlock, some have none."""
    tried = [one for one in found.outcomes if one.run_hash]
    assert len(tried) == len(found.outcomes)
    for one in tried:
        summary = found.store.read_summary(one.run_hash)["summary"]
        flows = found.store.read_table(one.run_hash, "flow").to_dict("records")
        assert one.deadlocks == summary["deadlock_episodes"]
        assert one.ended == sum(row["finish_ps"] >= 0 for row in flows)
        assert one.flows == len(flows)
        rates = []
        for row in flows:
            until = row["finish_ps"] if row["finish_ps"] >= 0 else summary["end_ps"]
            rates.append(8e12 * row["delivered_bytes"] / (until - row["start_ps"]))
        assert one.slowest == pytest.approx(min(rates))
        assert one.delivered == sum(row["delivered_bytes"] for row in flows)
        assert one.buffer == summary["peak_buffer_bytes"] > 0
    by_name = {one.cure.name: one for one in tried}
    for name in ("up-down routing", "shortest paths", "tagger"):
        assert by_name[name].deadlocks == 0
        assert by_name[name].ended == by_name[name].flows
        assert row_of(by_name[name]).deadlock == "cannot"
    lucky = [one for one in tried if one.cure.group == "schemes" and is_free(one)]
    assert lucky
    for one in lucky:  # the cycle is there, but where nothing is lossless
        told = "cannot" if one.is_lossy else "not in this run"
        assert row_of(one).deadlock == told, one.cure.name
    broken = by_name["PFC+DCFIT"]
    assert broken.deadlocks
    assert not broken.is_stuck
    assert broken.dropped > 0
    assert row_of(broken).deadlock.startswith("broken ")
    slow = replace(broken, deadlocks=0, ended=0, withheld=2_000_000, end=9_000_000)
    assert row_of(slow).deadlock == "none, but too slow"
    assert too_slow([slow, by_name["tagger"]]) == (
        "Too slow: no queue waits forever, but at the end, 9 µs, flows are left: PFC+DCFIT "
        f"({slow.flows} of {slow.flows} flows; its rates kept lines idle, 2 µs over all ports)."
    )
    assert too_slow([by_name["tagger"]]) == ""
    answer = replace(found, outcomes=(*found.outcomes, slow)).answer
    assert answer.endswith("and with 1 more it does not either, but flows do not finish.")


def test_a_cure_changes_what_it_says_and_nothing_else(found: Explanation) -> None:
    """The run's own thresholds stay under what is added; ways change no scheme."""
    types = found.plan.experiment.types
    assert types is not None
    base = base_of(found.spec, types)
    by_name = {one.cure.name: one.cure.content or {} for one in found.outcomes}

    def changed(name: str) -> set[str]:
        content = by_name[name]
        return {key for key in {*base, *content} if base.get(key) != content.get(key)}

    repeats = {"run", "queue_pair"}  # losses are allowed, and mended
    assert changed(AS_IT_WAS) == set()
    assert changed("pfc-watchdog") - repeats == {"agents", "pfc-watchdog"}
    assert changed("PFC+DCFIT") - repeats == {"agents", "dcfit"}
    assert changed("tagger") - repeats == {"agents", "buffer", "node", "port"}
    assert changed("up-down routing") - repeats == {"route", "traffic"}
    assert changed("shortest paths") - repeats == {"traffic"}
    assert "flow_control" in changed("PFFC")


@pytest.mark.parametrize(
    "name",
    ["deadlock/zoo", "gfc/fat-tree", "dcfit/on-loop", "rdma/hpcc-incast", "ai/spraying"],
)
def test_tables_of_a_run_say_the_run(name: str) -> None:
    """Read again, they are that run: network, flows, schemes, every attribute."""
    plan = pipeline.make_plan(name)
    types = plan.experiment.types
    assert types is not None
    for spec in plan.specs[:: max(1, len(plan.specs) // 12)]:
        again = spec_of(plan, plan.store, tables_of_run(spec, types))
        assert tables_agree(again, spec) == []


# ---------------------------------------------------------------------------------------------
# The command


def test_the_same_call_goes_on_and_gives_the_same_page(
    found: Explanation, page: tuple[Path, Wires], tmp_path: Path
) -> None:
    """Nothing is simulated again but the capture, and every byte is the same."""
    told: list[str] = []
    stream = io.StringIO()
    again = explain(found.plan, "1", tell=told.append, stream=stream)
    assert again.simulated == 0
    assert told == [f"the run: a deadlock of {len(found.story.cycle)} queues"]
    assert stream.getvalue() == ""
    assert again.story == found.story
    index, _ = write(again, tmp_path / "page", "pyorch explain ring.toml 1")
    names = sorted(one.name for one in page[0].parent.iterdir())
    assert names == sorted(one.name for one in index.parent.iterdir())
    for name in names:
        assert (index.parent / name).read_bytes() == (page[0].parent / name).read_bytes(), name


def test_the_page_has_it_all(found: Explanation, page: tuple[Path, Wires]) -> None:
    """The sentences, the movie, the captures, a row for each cure; and needs no other place."""
    text = page[0].read_text()
    for sentence in found.story.sentences():
        assert sentence in text
    assert text.count('class="live-data"') == 1
    for one in page[1].pcaps.values():
        assert f'href="{one.path.name}"' in text
    for outcome in found.outcomes:
        assert f'<th scope="row">{outcome.cure.name}</th>' in text
    assert "http://" not in text.split("<script", maxsplit=1)[0]
    assert "https://" not in text.split("<script", maxsplit=1)[0]


def test_runs_that_cannot_be_explained_are_told_of(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such run, and one that is too long to follow each frame: a sentence each."""
    paths = Paths(ROOT, file.parent / "results")

    def said(run: str, *overrides: str) -> str:
        plan = pipeline.make_plan(str(file), overrides, paths=paths, claim=True)
        with pytest.raises(UserError) as error:
            explain(plan, run)
        return error.value.render()

    monkeypatch.setattr("pyorch.explain.explanation.MOST_HOPS", 10)
    assert "too many to follow each" in said("1", "run.duration=20us")
    assert "there is no run with this number" in said("7")


LOSING = """
title = "Two to one"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "200us"
drain = "1ms"
[topology]
kind = "star"
hosts = 3
rate = "40Gbps"
delay = "1us"
[buffer]
size = "200KB"
lossy_pool = "0B"
[[traffic]]
kind = "incast"
src = ["h0", "h1"]
dst = "h2"
size = "500KB"
[variants.PFC]
[variants.None]
flow_control = []
"""


def test_a_run_that_fails_is_told_with_its_cause_and_one_that_is_done(tmp_path: Path) -> None:
    """What to do about a full buffer depends on whether a flow control counts on headroom."""
    file = tmp_path / "losing.toml"
    file.write_text(LOSING, encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"), claim=True)
    LocalEngine(plan.store, 1).run(plan.specs, plan.build)
    assert len(plan.done) == 1
    with pytest.raises(UserError) as caught:
        explain(plan, "2")
    (problem,) = caught.value.problems
    assert (
        "no flow control demands headroom, and none stopped senders below what the" in problem.what
    )
    assert problem.what.endswith("set allow_loss = true if loss is intended")
    assert problem.hint == "did you mean 1, 'variant=PFC seed=1', which is done?"


def test_queues_that_wait_for_a_host_are_explained(file: Path, tmp_path: Path) -> None:
    """The host and the start of its storm are those of the file; the queues are those of the path.

    One frame waits where the host pauses its switch, and from there back to the sender.
    """
    storm = '[{kind="pause_storm", host="h4", start="50us"}]'
    flow = 'traffic=[{kind="messages", messages=[{src="h0", dst="h4", size="2MB"}]}]'
    paths = Paths(ROOT, file.parent / "results")
    plan = pipeline.make_plan(str(file), (f"fault={storm}", flow), paths=paths, claim=True)
    found = explain(plan, "1", jobs=2)
    story = found.story
    assert isinstance(story, Blocked)
    (pause,) = story.pauses
    assert (pause.node, pause.peer) == ("h4", "s2")
    assert pause.time == 50_000_000
    assert story.levels == ((("s2", "h4"),), (("s0", "s2"),), (("h0", "s0"),))
    assert found.answer == (
        "The host h4 pauses s2 forever from 50 µs on. "
        f"From {show(story.formed, 'ps', digits=6)} on 3 queues wait for it."
    )
    assert found.outcomes == ()
    assert story.sentences()[1] == (
        "The queues that wait, at the host: s2 → h4; behind these: s0 → s2; behind these: h0 → s0."
    )
    index, wires = write(found, tmp_path / "page", "pyorch explain ring.toml 1")
    assert wires is None
    text = html.unescape(index.read_text(encoding="utf-8"))
    assert found.answer in text
    assert "On the wires" not in text
    assert "could not be drawn" not in text


def test_queues_are_in_the_order_in_which_they_wait() -> None:
    """A tree of two hosts; what waits for none of the others comes last."""
    stuck = [("b", "a"), ("a", "h0"), ("c", "b"), ("h5", "c"), ("b", "h1"), ("x", "y")]
    assert levels_of(stuck, {"h0", "h1", "h5"}) == (
        (("a", "h0"), ("b", "h1")),
        (("b", "a"), ("c", "b")),
        (("h5", "c"),),
        (("x", "y"),),
    )


def test_a_misspelt_name_is_told_of(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As everywhere; and a folder that cannot be made, before anything runs."""
    assert explain_run("deadlock/zo", "1") == 2
    assert "deadlock/zoo" in capsys.readouterr().err
    assert explain_run("deadlock/zoo", "1", out=str(tmp_path / "no" / "page")) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_study_explains_in_python(found: Explanation, file: Path) -> None:
    """The same, by the same runs."""
    study = pyorch.Study.load(str(file), paths=Paths(ROOT, file.parent / "results"))
    again = study.explain(1)
    assert again.simulated == 0
    assert again.story == found.story
