"""`search`: what drives a cycle, against brute force; what is found, against the oracle."""

from __future__ import annotations

import itertools
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import Study, pipeline
from pyorch.addons.lab.commands.search import map_run, search_run
from pyorch.addons.lab.drive import (
    Routes,
    demanded,
    draw_permutation,
    draw_routes,
    drive,
    with_hosts,
)
from pyorch.addons.lab.explicit import case_of
from pyorch.addons.lab.minimise import minimise
from pyorch.addons.lab.prevent import prevent
from pyorch.addons.lab.ranges import Axis, draw, read_axes
from pyorch.addons.lab.search import Search, search
from pyorch.addons.lab.tags import tags_of
from pyorch.addons.lab.varied import Varied
from pyorch.addons.lab.write import dump
from pyorch.addons.lab.write_search import write_search
from pyorch.base.errors import Problem, UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.cli.verb import Select
from pyorch.files.load import load_experiment
from pyorch.network import topology
from pyorch.network.cycles import Egress, ShortestPaths, has_cycle, route_dependencies
from pyorch.network.topology import SWITCH, Topology
from pyorch.plan import RunSpec, expand
from pyorch.setting.dependency import Ways, ways_at_start
from tests.inputs import ROOT, RUNS, called
from tests.kept import kept_runs
from tools import search as comparison

RING = """
title = "Ring"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "1ms"

[topology]
kind = "ring"
switches = 4
hosts_per_switch = 2
rate = "40Gbps"
delay = "1us"

[buffer]
threshold = "static"
xoff = "100KB"
xon = "97KB"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"

[[trace]]
table = "queue"
ports = ["s1:s2"]
classes = [3]

[[metric]]
name = "peak"
kind = "max"
table = "queue"
port = "s1:s2"
class = 3
"""


def _routes(network: Topology, diverted: dict[tuple[int, int], int] | None = None) -> Routes:
    switches = np.flatnonzero(network.kinds == SWITCH).tolist()
    return Routes.of(Ways(network, dict.fromkeys(switches, frozenset()), diverted or {}))


def _network(**table: Any) -> Topology:
    findings = Findings("x")
    resolved = topology.resolve({"rate": "40Gbps", "delay": "1us", **table}, findings)
    assert resolved is not None, findings.problems
    return resolved.network


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """A connected network of switches, some of which have one or two hosts."""
    count = draw(st.integers(3, 7))
    edges = {(draw(st.integers(0, node - 1)), node) for node in range(1, count)}
    pairs = list(itertools.combinations(range(count), 2))
    edges |= set(draw(st.lists(st.sampled_from(pairs), max_size=6)))
    hosts = [draw(st.integers(0, 2)) for _ in range(count)]
    hosts[0] = hosts[-1] = 1
    links = [{"between": [f"s{a}", f"s{b}"]} for a, b in sorted(edges)]
    own = [(f"h{node}x{one}", f"s{node}") for node in range(count) for one in range(hosts[node])]
    links += [{"between": list(ends)} for ends in own]
    switches = [f"s{node}" for node in range(count)]
    return _network(
        kind="explicit", hosts=[host for host, _ in own], switches=switches, links=links
    )


def _all_paths(network: Topology) -> list[list[int]]:
    """All shortest paths between different switches that have hosts, by networkx."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(
        (int(a), int(b))
        for a, b in zip(network.a, network.b, strict=True)
        if network.kinds[a] == SWITCH and network.kinds[b] == SWITCH
    )
    racks = sorted({int(network.racks[host]) for host in network.hosts})
    return [
        path
        for a, b in itertools.permutations(racks, 2)
        for path in nx.all_shortest_paths(graph, a, b)
    ]


def _hops(path: Sequence[int]) -> list[Egress]:
    return list(itertools.pairwise(path))


# ---------------------------------------------------------------------------------------------
# What drives a cycle


@given(networks())
@settings(max_examples=60, deadline=None)
def test_cycles_are_the_shortest_ones_through_each_egress(network: Topology) -> None:
    """By all cycles of all dependencies, those of the shortest paths."""
    routes = _routes(network)
    graph = route_dependencies(ShortestPaths.of(network))
    assert set(routes.dependencies.edges) == set(graph.edges)
    lengths: dict[Egress, int] = {}
    for cycle in itertools.islice(nx.simple_cycles(graph), 3000):
        for egress in cycle:
            lengths[egress] = min(lengths.get(egress, 99), len(cycle))
    found = routes.cycles(1000)
    assert [len(cycle) for cycle in found] == sorted(len(cycle) for cycle in found)
    for cycle in found:
        pairs = zip(cycle, [*cycle[1:], *cycle[:1]], strict=True)
        assert all(graph.has_edge(*pair) for pair in pairs)
    for egress, length in lengths.items():
        assert min(len(cycle) for cycle in found if egress in cycle) <= length
    assert set(lengths) <= {egress for cycle in found for egress in cycle}


@given(networks(), st.integers(1, 2), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_each_link_of_a_cycle_is_fed_and_demanded_from_elsewhere_where_it_can_be(
    network: Topology, each: int, loose: bool, seed: int
) -> None:
    """By all shortest paths: some take each turn, and some enter each link from elsewhere."""
    routes = _routes(network)
    every = _all_paths(network)
    for cycle in routes.cycles(3):
        chosen = drive(routes, cycle, each, np.random.default_rng(seed), loose)
        paths = [list(route.path) for route in chosen]
        assert all(path in every for path in paths)
        before = dict(zip([*cycle[1:], *cycle[:1]], cycle, strict=True))
        for egress in cycle:
            turn = (before[egress], egress)
            assert sum(set(turn) <= set(_hops(path)) for path in paths) >= each
        able = {
            egress
            for egress in cycle
            if any(egress in _hops(path) and before[egress] not in _hops(path) for path in every)
        }
        assert demanded(cycle, chosen) == able
        for path in with_hosts(routes, chosen, np.random.default_rng(seed)):
            assert network.racks[path[0]] == path[1]
            assert network.racks[path[-1]] == path[-2]


@given(networks(), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_random_flows_take_the_routes(network: Topology, seed: int) -> None:
    """As many as asked for between different switches; and one from and to every host."""
    routes = _routes(network)
    every = _all_paths(network)
    random = np.random.default_rng(seed)
    chosen = draw_routes(routes, 5, random)
    assert len(chosen) == 5
    assert all(list(route.path) in every for route in chosen)
    paths = draw_permutation(routes, random)
    for at in (0, -1):
        assert sorted(path[at] for path in paths) == network.hosts.tolist()
    assert all(len(path) == 3 or list(path[1:-1]) in every for path in paths)


def test_routes_of_a_file_count() -> None:
    """A ring of four whose hosts are all reached clockwise has the one cycle."""
    network = _network(kind="ring", switches=4)
    number = network.numbers
    onward = {
        (number[f"s{at}"], number[f"h{host}"]): number[f"s{(at + 1) % 4}"]
        for at, host in itertools.permutations(range(4), 2)
    }
    (cycle,) = _routes(network, onward).cycles(10)
    assert {network.names[a] + network.names[b] for a, b in cycle} == {
        "s0s1",
        "s1s2",
        "s2s3",
        "s3s0",
    }
    assert len(_routes(network).cycles(10)) == 2


def test_all_networks_of_the_comparison_have_a_cycle() -> None:
    """Ten of them, of as many kinds; else there would be nothing to compare."""
    specs = expand(load_experiment(comparison.STUDY), [1])
    assert len(specs) == 10
    for spec in specs:
        network = topology.build(spec.setting.topology)
        found = Routes.of(ways_at_start(spec.setting, network)).cycles(1)
        assert found, spec.params
        assert has_cycle(network)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((1, 3, 2), "2 (3)"),
        ((1, "", 3), "3 (> 16)"),
        (("", 2, ""), "> 16 (> 16)"),
        (("", "", ""), "none in 16"),
    ],
)
def test_the_comparison_tells_the_worst_seed(found: tuple[int | str, ...], told: str) -> None:
    """One that found nothing is worse than all that did."""
    assert comparison.cell([{"found_at": one} for one in found], 16) == told


# ---------------------------------------------------------------------------------------------
# Ranges


def test_ranges_are_read() -> None:
    """With units, by differences or ratios, whole where both ends are; or some values."""
    axes = read_axes(
        ["buffer.xoff=10KB..1MB:log", "run.duration=1us..2us", "a.b=1..9", "c=0..1.5", "d=x,y,z"]
    )
    assert [axis.text(0.5) for axis in axes] == ["100KB", "1.5us", "5", "0.75", "y"]
    assert [axis.text(1.0) for axis in axes] == ["1MB", "2us", "9", "1.5", "z"]
    assert axes[4].text(0.0) == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a", "not of the form"),
        ("a=1", "at least two values"),
        ("a=1..x", "'x' is not a number"),
        ("a=1KB..1us", "different units"),
        ("a=2..1", "does not begin below its end"),
        ("a=0..1:log", "must begin above 0"),
        ("a=1..2:sqrt", "is not a scale"),
        ("a..b=1..2", "is not a key"),
    ],
)
def test_what_is_no_range_is_told(text: str, said: str) -> None:
    """With what would be one."""
    with pytest.raises(UserError) as caught:
        read_axes([text])
    assert said in caught.value.render()


def test_draws_are_spread_evenly() -> None:
    """Of 16 draws each quarter of a range has 4, whatever the other key is."""
    axes = [Axis("a", 0, 1), Axis("b", choices=("x", "y", "z"))]
    values = [draw(axes, number) for number in range(1, 19)]
    quarters = [int(4 * float(one["a"])) for one in values[:16]]
    assert [quarters.count(quarter) for quarter in range(4)] in ([3, 5, 4, 4], [4, 4, 4, 4])
    assert {one["b"] for one in values} == {"x", "y", "z"}
    assert [one["b"] for one in values].count("x") == 6


# ---------------------------------------------------------------------------------------------
# Whole searches


__all__ = ["kept_runs"]

pytestmark = [
    pytest.mark.inputs(*RUNS, "tools"),
    pytest.mark.xdist_group("search"),
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Paths]:
    """The ring's file, and folders of its own."""
    folder = tmp_path_factory.mktemp("search")
    file = folder / "ring.toml"
    file.write_text(RING, encoding="utf-8")
    return file, Paths(ROOT, folder / "results")


@pytest.fixture
def typed(study: tuple[Path, Paths], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Paths]:
    """The same, for the command, which finds the folders by the environment."""
    monkeypatch.setenv("PYORCH_ROOT", str(ROOT))
    monkeypatch.setenv("PYORCH_RESULTS", str(study[1].results))
    return study


def _search(study: tuple[Path, Paths], *overrides: str, **asked: Any) -> Search:
    file, paths = study
    plan = pipeline.make_plan(str(file), overrides, paths=paths, claim=True)
    return search(Varied(plan, plan.specs[0], str(file), overrides), **asked)


@pytest.mark.cpp
def test_a_ring_deadlocks_at_the_first_trial_and_minimise_takes_what_was_found(
    study: tuple[Path, Paths],
) -> None:
    """By the oracle, in the run of the file; the least of it are the four links of the cycle."""
    found = _search(study)
    assert len(found.tried) == 1
    file, paths = study
    target = file.parent / "found.toml"
    written = write_search(found, target)
    assert written is not None
    assert len(written.cycle) == 4
    assert written.picture is not None
    trials = pd.read_csv(written.steps)
    assert trials["outcome"].tolist() == ["holds"]
    assert trials["demanded_links"].tolist() == [4]
    least = minimise(pipeline.make_plan(str(target), paths=paths, claim=True), "1", jobs=2)
    assert len(least.case.trunks) == 4
    assert len(least.case.flows) == 4


@pytest.mark.cpp
def test_again_it_is_the_same_and_nothing_is_simulated(study: tuple[Path, Paths]) -> None:
    """Whatever is found late, here by a threshold that few draws have, and with other jobs."""
    asked = {"axes": read_axes(["buffer.xoff=100KB..2MB"]), "condition": "peak > 700KB"}
    first = _search(study, "buffer.xon=50KB", **asked, jobs=2)
    assert first.case is not None
    assert len(first.tried) > 2
    rows = [one.row(0) for one in first.tried]
    assert [row["outcome"] for row in rows] == ["does not hold"] * (len(rows) - 1) + ["holds"]
    again = _search(study, "buffer.xon=50KB", **asked, jobs=1)
    assert again.trials.runs == 0
    assert [one.row(0) for one in again.tried] == rows
    assert again.case == first.case


@pytest.mark.cpp
def test_where_routes_have_no_cycle_nothing_is_tried(study: tuple[Path, Paths]) -> None:
    """A line has none; a ring has, and a threshold above all that comes keeps it from filling."""
    line = _search(study, "topology.kind=line", "trace=[]", "metric=[]")
    assert (line.case, line.cycles, line.tried) == (None, 0, ())
    wide = _search(study, "buffer.xoff=20MB", "buffer.size=400MB", most=3)
    assert (wide.case, len(wide.tried)) == (None, 3)


@pytest.mark.cpp
def test_a_study_of_scenarios_is_searched(tmp_path: Path) -> None:
    """Its expectations name scenarios that the run does not have; other variants do not matter."""
    paths = Paths(ROOT, tmp_path / "results")
    plan = pipeline.make_plan("deadlock/zoo", ["only=PFC,PFFC"], paths=paths)
    spec = next(one for one in plan.specs if one.params["scenario"] == "square-3")
    source = Varied(plan, spec, "deadlock/zoo", ["only=PFC,PFFC"])
    assert source.runs({"buffer.xoff": "99KB"}, [1])  # which PFFC rejects
    (same,) = source.runs({}, [1])
    assert (same.params, same.setting.traffic) == (spec.params, spec.setting.traffic)
    found = search(source)
    assert [one.outcome.word for one in found.tried] == ["holds"]


@pytest.mark.cpp
def test_a_search_ends_if_its_values_give_no_trials(
    study: tuple[Path, Paths], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Because the routes have no cycle, or because all draws but the first are rejected."""
    axes = read_axes(["buffer.xoff=100KB..200KB"])
    line = _search(study, "topology.kind=line", "trace=[]", "metric=[]", axes=axes)
    assert (line.cycles, line.tried, line.stopped) == (0, (), "")
    runs = Varied.runs

    def rejecting(source: Varied, values: Mapping[str, str], seeds: Sequence[int]) -> list[RunSpec]:
        if values not in ({}, draw(axes, 1)):
            raise UserError([Problem("a.toml: buffer.xoff", "too round")])
        return runs(source, values, seeds)

    monkeypatch.setattr(Varied, "runs", rejecting)
    asked = {"axes": axes, "condition": "peak > 19MB"}
    found = _search(study, "buffer.size=400MB", **asked)
    assert {one.outcome.word for one in found.tried} == {"does not hold"}
    assert {one.row(0).get("buffer.xoff") for one in found.tried} == {None, "150KB"}
    assert found.stopped.endswith("the last because a.toml: buffer.xoff: too round")
    assert found.stopped in str(found)


FAT_TREE = RING[: RING.index("[[trace]]")].replace(
    """kind = "ring"
switches = 4
hosts_per_switch = 2
""",
    """kind = "fat_tree"
k = 4
failed_links = [["edge0", "agg1"], ["edge3", "agg2"]]
""",
)


@pytest.mark.cpp
def test_rules_of_the_tagger_are_kept_where_trials_leave_nodes_out(tmp_path: Path) -> None:
    """A trial has a part of the network: it runs, and frames change class in it."""
    paths = Paths(ROOT, tmp_path / "results")
    file = tmp_path / "tree.toml"
    file.write_text(FAT_TREE.replace('"1ms"', '"200us"'), encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=paths)
    assert plan.experiment.types is not None
    content = {**tomllib.loads(file.read_text()), "title": "Tags"}
    for key, one in tags_of(plan.specs[0], plan.experiment.types).content.items():
        content[key] = {**content[key], **one} if key in content else one
    file.write_text(dump(content, {}), encoding="utf-8")
    none = _search((file, paths), most=3)
    assert [one.outcome.word for one in none.tried] == ["does not hold"] * 3
    changed = "tagger_frames_changed > 10"
    found = _search((file, paths), condition=changed)
    assert [one.outcome.word for one in found.tried] == ["holds"]
    assert found.case is not None
    assert len(found.case.switches) < 20


@pytest.mark.cpp
def test_impossible_trials_are_no_finding(
    typed: tuple[Path, Paths], capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake in a rule, which each trial has: the command fails with its text."""
    file, paths = typed
    wrong = file.parent / "wrong.toml"
    rules = 'agents = ["tagger"]\n[[node]]\nnames = ["s0"]\ntagger.rules = "s7 > s1 : 3=4"\n'
    agents, node = rules.split("\n", 1)
    wrong.write_text(f"{agents}\n{RING}\n{node}", encoding="utf-8")
    found = _search((wrong, paths), most=2)
    assert found.is_void
    assert "2 of 2 trials are impossible" in str(found)
    assert search_run(Select(str(wrong)), trials=2, out=str(file.parent / "w.toml")) == 2
    told = capsys.readouterr()
    assert "no run in which" not in told.out
    assert "'deadlocked' can hold is unknown: 2 of 2 trials are impossible" in told.err
    assert "s0: Rules of the tagger: 's7' in 's7 > s1 : 3=4' is not a neighbour" in told.err
    assert (file.parent / "w.trials.csv").is_file()
    vary = ("buffer.xoff=80KB..120KB", "buffer.xon=10KB..70KB")
    assert map_run(Select(str(wrong)), "", vary, cells=4, out=str(file.parent / "w.csv")) == 2
    told = capsys.readouterr()
    assert "at 25 points the run is impossible" in told.out
    assert "the map: no point is possible: s0: Rules of the tagger" in told.err


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"condition": "deadlock"}, "--for: 'deadlock' is not a condition"),
        ({"condition": "peek > 1KB"}, "--for peek > 1KB: a run has no number 'peek'"),
        ({"axes": [Axis("traffic.0.src", choices=("h0", "h1"))]}, "cannot be varied here"),
        ({"axes": [Axis("buffer.xof", 1, 2)]}, "xof"),
    ],
)
def test_mistakes_are_told(study: tuple[Path, Paths], asked: dict[str, Any], said: str) -> None:
    """By the option that they are in."""
    with pytest.raises(UserError) as caught:
        _search(study, **asked)
    assert said in caught.value.render()


# ---------------------------------------------------------------------------------------------
# The command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--cells 8", "--cells 8: it requires --map"),
        ("--map --by draws", "--by draws: --map takes the study's own traffic"),
        ("--trials 0", "--trials: '0' is not allowed"),
        ("--out found.json", "is not a valid name of an experiment file"),
        ("--map --out found.toml", "is not a valid name of a table"),
    ],
)
@pytest.mark.slow
def test_options_that_cannot_be_are_told(words: str, said: str, tmp_path: Path) -> None:
    """With exit code 2, before anything is built or run."""
    line = [sys.executable, "-m", "pyorch", "search", "none.toml", *words.split()]
    done = called(line, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.cpp
def test_the_command_writes_what_it_found_and_maps_a_region(
    typed: tuple[Path, Paths], capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each trial and point; what is found once is overwritten, others' files are not."""
    file, paths = typed
    found = file.parent / "again.toml"
    for _ in range(2):
        assert search_run(Select(str(file)), "1", out=str(found)) == 0
    told = capsys.readouterr().out
    assert told.count("trial 1: 4 flows along s0:s1 s1:s2 s2:s3 s3:s0: holds") == 2
    assert search_run(Select(str(file)), "1", out=str(file)) == 2
    assert search_run(Select(str(file), ["topology.kind=line"]), "1", out=str(found)) == 1
    assert "none of dependencies" in capsys.readouterr().out
    border = file.parent / "border.csv"
    vary = ("buffer.xoff=80KB..120KB", "buffer.xon=10KB..70KB")
    assert map_run(Select(str(file)), "1", vary, "peak > 100KB", 4, str(border)) == 0
    told = capsys.readouterr().out
    assert told.count("buffer.xoff=") == 25
    assert "25 of 25 of the grid" in told
    same = file.parent / "same.csv"
    region = Study.load(file, paths=paths).map_region(vary, 1, "peak > 100KB", 4, same)
    assert region.trials.runs == 0  # they are kept, and found
    assert len(region.map.points) == 25
    assert same.read_bytes() == border.read_bytes()
    held = sum(point.hits for point in region.map.points.values())
    assert f"'peak > 100KB' holds at {held}, 0 undecided" in str(region)


@pytest.mark.cpp
def test_a_study_searches_and_prevents_as_the_commands_do(
    study: tuple[Path, Paths], tmp_path: Path
) -> None:
    """The same trials, kept in the same place; bad input is reported in words."""
    file, paths = study
    ring = Study.load(file, paths=paths)
    found = ring.search(trials=4, out=tmp_path / "found.toml")
    again = _search(study, most=4)
    assert [one.row(1) for one in found.tried] == [one.row(1) for one in again.tried]
    assert (tmp_path / "found.toml").is_file() == (found.case is not None)
    assert f"{len(found.tried)} trials" in str(found)
    assert ("nothing" in str(found)) == (found.case is None)
    network = topology.build(ring.plan().specs[0].setting.topology)
    told, same = ring.prevent(), prevent(network)
    assert (told.cycles, told.turn_cut, told.classes) == (same.cycles, same.turn_cut, same.classes)
    for asked, said in (
        ({"by": "luck"}, "no search by 'luck'"),
        ({"run": 99}, "no run with this number"),
    ):
        with pytest.raises(UserError, match=said):
            ring.search(**asked)
    with pytest.raises(UserError, match="no switch 'nowhere'"):
        ring.prevent(root="nowhere")


@pytest.mark.cpp
def test_flows_of_servers_are_those_of_their_nics(tmp_path: Path) -> None:
    """As counted by hand: by the rail of the destination, and none within a server."""
    flow = {"kind": "messages", "nic": "rail"}
    messages = [
        {
            "src": "h0",
            "dst": "h1",
            "size": "1KB",
            "id": "inside",
            "after": ["first"],
            "delay": "3us",
        },
        {"src": "h0", "dst": "h5", "size": "1KB", "id": "first"},
        {"src": "h1", "dst": "h6", "size": "1KB", "after": ["inside"], "delay": "2us"},
    ]
    shape = {"kind": "ring", "switches": 3, "hosts_per_switch": 4, "hosts_per_server": 2}
    domain = {"rate": "400Gbps", "delay": "500ns"}
    study = Study(
        name="servers",
        topology={**shape, "rate": "40Gbps", "delay": "1us", "scale_up": domain},
        traffic=[{**flow, "messages": messages}],
        run={"duration": "1ms"},
        flow_control=["pfc"],
        paths=Paths(ROOT, tmp_path),
    )
    plan = study.plan()
    assert plan.experiment.types is not None
    case = case_of(plan.specs[0], plan.experiment.types, {})
    ends = {(one.src, one.dst): one.after for one in case.flows}
    assert set(ends) == {("h1", "h5"), ("h0", "h6")}  # h1 is rail 1, as h5 is
    (after,) = ends["h0", "h6"]
    assert after[1] == 5_000_000
