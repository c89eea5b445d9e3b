"""docs/deadlock-hunt.md: its files and commands, and each answer against something independent."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest

from pyorch import Study, pipeline
from pyorch.addons.lab.commands.prevent import prevent_deadlocks
from pyorch.addons.lab.minimise import minimise
from pyorch.addons.lab.write import write
from pyorch.base.paths import Paths
from pyorch.explain.explanation import Explanation, explain
from pyorch.network import topology
from pyorch.network.topology import Topology, trunks
from pyorch.traffic import base as traffic
from tests.inputs import ROOT, RUNS
from tests.kept import kept_runs
from tests.tutorial import is_shown

PAGE = ROOT / "docs" / "deadlock-hunt.md"
CURE = 'topology.failed_links=[["p0l0","p0a1"],["p1l0","p1a0"],["p0a1","p0l1"]]'

__all__ = ["kept_runs"]

pytestmark = [
    pytest.mark.cpp,
    pytest.mark.inputs(*RUNS, "docs/deadlock-hunt.md", "tests/tutorial.py"),
    pytest.mark.xdist_group("hunt"),
]  # the runs are made once


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def _shown(said: str) -> bool:
    """Whether the page shows an output, letter by letter except for lines that it leaves out."""
    return any(is_shown(block, said) for block in _blocks("text"))


def _files(folder: Path, pods: int = 8) -> Path:
    """Write the files of the page; return the experiment."""
    (script,), (experiment, _) = _blocks("python"), _blocks("toml")
    assert "range(8)" in script
    (folder / "clos.py").write_text(script.replace("range(8)", f"range({pods})"))
    subprocess.run([sys.executable, "clos.py"], cwd=folder, check=True)
    file = folder / "clos.toml"
    file.write_text(experiment)
    return file


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiment of the page, with 40 switches."""
    return _files(tmp_path_factory.mktemp("hunt"))


def _network(file: Path, *overrides: str) -> Topology:
    paths = Paths(ROOT, file.parent / "results")
    (spec,) = pipeline.make_plan(str(file), overrides, paths=paths).specs
    return topology.build(spec.setting.topology)


def _turns(network: Topology, down: set[frozenset[str]]) -> nx.DiGraph[tuple[str, str]]:
    """Turns of all shortest paths between hosts, path by path."""
    graph = nx.Graph(
        (network.names[a], network.names[b])
        for a, b in zip(network.a.tolist(), network.b.tolist(), strict=True)
        if {network.names[a], network.names[b]} not in down
    )
    turns: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    leaves = {next(iter(graph[host])) for host in network.host_names}
    for one, other in itertools.permutations(sorted(leaves), 2):
        for path in nx.all_shortest_paths(graph, one, other):
            turns.add_edges_from(itertools.pairwise(itertools.pairwise(path)))
    return turns


def test_prevent_says_what_the_page_says(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letter by letter; and without the link that it names no cycle is left."""
    monkeypatch.chdir(file.parent)
    assert prevent_deadlocks(str(file)) == 0
    assert _shown(capsys.readouterr().out)
    assert prevent_deadlocks(str(file), overrides=[CURE]) == 0
    said = capsys.readouterr().out.strip().splitlines()
    assert said[1] == "cycles:   0 of dependencies, in 654 turns of the shortest paths"
    assert said[-1] == "cheapest: no change: the routes have no cycle"


def test_prevent_judges_the_routes_of_its_own_cures(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the turns nor up-down routing leave a cycle; fixed paths keep theirs.

    As the page says, letter by letter, and by networkx.
    """
    monkeypatch.chdir(file.parent)
    assert prevent_deadlocks(str(file), avoid="avoid.toml", out="routes.toml") == 0
    said = capsys.readouterr().out.strip().splitlines()
    assert any(said[-1] in block for block in _blocks("text"))
    (page,) = (text for text in _blocks("toml") if "avoid.toml" in text)
    cured = file.parent / "cured.toml"
    cured.write_text(page)
    assert prevent_deadlocks(str(cured)) == 0
    assert _shown(capsys.readouterr().out)
    permutation = ['traffic=[{kind="permutation", size="4MB", random=true}]']
    for name, entries in (("avoid.toml", 2), ("routes.toml", 624)):
        cured.write_text(page.replace("avoid.toml", name))
        paths = Paths(ROOT, file.parent / "results")
        found = Study.load(cured, paths=paths).prevent()
        assert (found.cycles, len(found.judged.entries)) == ((), entries)
        assert len(found.shortest.cycles) == 32
        assert found.fixed is not None
        _check_fixed(cured, found.fixed.cycles)
        freed = Study.load(cured, permutation, paths=paths).prevent()
        assert (freed.cycles, freed.fixed) == ((), None)
        assert str(freed).endswith("cheapest: no change: the routes have no cycle")


def _check_fixed(file: Path, cycles: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Each turn of a cycle is one of a flow's fixed path, or of the routes; each cycle has some."""
    paths = Paths(ROOT, file.parent / "results")
    (spec,) = pipeline.make_plan(str(file), paths=paths).specs
    network = topology.build(spec.setting.topology)
    flows = traffic.flows(spec.setting.traffic, network, spec.seed, spec.setting.run.duration)
    fixed: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for path in flows.paths.values():
        fixed.update(itertools.pairwise(itertools.pairwise(path.tolist()[1:-1])))
    assert cycles
    for cycle in cycles:
        assert fixed & set(itertools.pairwise([*cycle, cycle[0]]))


def test_cycles_and_the_cut_are_those_of_another_search(file: Path) -> None:
    """By networkx, along all shortest paths: 32 cycles, 720 turns; a link less leaves none."""
    network = _network(file)
    down = {frozenset(("p0l0", "p0a1")), frozenset(("p1l0", "p1a0"))}
    turns = _turns(network, down)
    assert turns.number_of_edges() == 720
    assert sum(1 for _ in nx.simple_cycles(turns)) == 32
    assert sum(not network.is_host(name) for name in network.names) == 40
    for ends, free in ((("p0a1", "p0l1"), True), (("s00", "p5a0"), False)):
        less = _turns(network, {*down, frozenset(ends)})
        assert nx.is_directed_acyclic_graph(less) == free
    assert len(trunks(network)) in (96, 94)  # with and without those that are down


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with three pods: 20 switches."""
    return _files(tmp_path_factory.mktemp("small"), pods=3)


@pytest.fixture(scope="module")
def found(small: Path) -> Explanation:
    """Its explanation."""
    paths = Paths(ROOT, small.parent / "results")
    return explain(pipeline.make_plan(str(small), paths=paths, claim=True), "1", jobs=2)


@pytest.mark.slow
def test_the_oracle_sees_a_deadlock_and_none_after_the_cheapest_change(found: Explanation) -> None:
    """Also with up-down routing; and with them all flows end."""
    assert found.story.unfinished == found.story.flows > 0
    by_name = {one.cure.name: one for one in found.outcomes}
    for name in ("fewer turns", "fewer links", "up-down routing"):
        summary = found.store.read_summary(by_name[name].run_hash)["summary"]
        assert summary["deadlocked"] == 0
        assert summary["flows_finished"] == summary["flows_finite"] == found.story.flows
    content = by_name["fewer links"].cure.content
    assert content is not None
    assert len(content["topology"]["failed_links"]) == 3


@pytest.mark.slow
def test_the_page_lists_cures_that_are_tried(found: Explanation) -> None:
    """Some, in the order of the command, each with one of its outcomes; none was left untried."""
    (table,) = (text for text in _blocks("text") if "\nCure  " in text)
    rows = re.findall(r"^(\S.*?)  +(?:cannot|from)\b", table.partition("\nCure  ")[2], re.MULTILINE)
    tried = iter([one.cure.name for one in found.outcomes])
    assert len(rows) == 7
    assert all(row in tried for row in rows), rows
    assert all(one.run_hash for one in found.outcomes)
    contents = {one.cure.name: one.cure.content or {} for one in found.outcomes}
    hops = {name: one.get("queue_pair", {}).get("telemetry_hops") for name, one in contents.items()}
    assert {name for name, count in hops.items() if count} == {"PFC+HPCC", "PFC+PowerTCP"}
    assert hops["PFC+HPCC"] == 7  # switches on the longest path


@pytest.mark.slow
def test_the_smallest_way_deadlocks_by_itself(small: Path) -> None:
    """By its file; and it has no more than the cycle takes."""
    paths = Paths(ROOT, small.parent / "results")
    least = minimise(pipeline.make_plan(str(small), paths=paths, claim=True), "1", jobs=2)
    target = small.parent / "least.toml"
    written = write(least, target)
    assert len(least.case.switches) <= 8
    assert len(written.cycle) >= 3
    from pyorch.engine import LocalEngine

    plan = pipeline.make_plan(str(target), paths=paths, claim=True)
    assert not LocalEngine(plan.store, 1).run(plan.missing, plan.build).left
    (spec,) = plan.specs
    summary = plan.store.read_summary(spec.hash(plan.build.fingerprint))["summary"]
    assert summary["deadlocked"] == 1
    assert summary["deadlock_cycle_queues"] == len(written.cycle)
