"""What `invoke bench` makes of its measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyorch.base.paths import default_paths
from pyorch.build import ensure_built
from pyorch.pipeline import make_plan
from tests.forms import form
from tests.inputs import RUNS
from tools.bench import programs, record
from tools.bench.cells import EXPERIMENTS, OTHER, Pairs, Run
from tools.bench.cells import text_of as cells_line
from tools.bench.command import WholeRun, summarise, text_of
from tools.bench.pauses import OFF, REFERENCE, WORKLOADS, Paused, plan_of
from tools.bench.programs import Simulated, Workload
from tools.bench.record import Line, Record

K4 = Workload("permutation-k4", 4, 10_000_000)


def runs() -> list[Simulated]:
    """Three runs of 960,000 hops in 0.4, 0.6 and 0.5 s."""
    return [
        Simulated(960_000, 3_840_000, cpu, cpu, 0.1, 15.0 + cpu, 2569.6) for cpu in (0.4, 0.6, 0.5)
    ]


def measured(instructions: float | None) -> Line:
    """A line with a number of instructions."""
    return summarise(K4, runs(), 8e6, instructions, WholeRun(1.8e6, 0.01, 0.5))


def whole(*instructions: float | None) -> Record:
    """A record of one workload."""
    return Record("gcc 12", "3.44", 8e6, 0.1, tuple(measured(count) for count in instructions))


def test_a_line_holds_medians_and_extremes() -> None:
    """Speeds are hops per CPU-second; the share is of the bare loop."""
    line = measured(2000.0)
    assert line.hops_per_s == pytest.approx(1.92e6)
    assert (line.slowest, line.fastest) == pytest.approx((1.6e6, 2.4e6))
    assert line.share == pytest.approx(0.24)
    assert line.events_per_hop == 4.0
    assert line.peak_rss_mib == pytest.approx(15.6)
    words = text_of(line).split()
    assert words[:7] == ["permutation-k4", "1920", "(1600-2400)", "0.240", "4.00", "2000", "15.6"]
    assert words[8:] == ["1800", "0.01", "0.50"]


def test_more_instructions_are_a_regression_beyond_three_per_cent() -> None:
    """3 % more is within the tolerance, 4 % is not; what was not counted is not compared."""
    assert record.regressions(whole(2059.0), whole(2000.0)) == []
    (slower,) = record.regressions(whole(2080.0), whole(2000.0))
    assert "permutation-k4" in slower
    assert "4.0%" in slower
    assert record.regressions(whole(None), whole(2000.0)) == []
    assert record.regressions(whole(2080.0), whole(None)) == []


def test_tables_that_add_more_instructions_are_a_regression() -> None:
    """3 points more are within the tolerance, 4 are not; what was not counted is not compared."""
    before = whole(2000.0)
    assert record.regressions(replace(before, traces=0.13), before) == []
    (slower,) = record.regressions(replace(before, traces=0.14), before)
    assert "+14.0%" in slower
    assert "+10.0%" in slower
    assert record.regressions(replace(before, traces=None), before) == []
    assert record.regressions(replace(before, traces=0.14), replace(before, traces=None)) == []


def test_measurements_of_other_compilers_are_not_compared() -> None:
    """Another compiler makes another number of instructions."""
    assert record.comparable(whole(1.0), whole(2.0)) is None
    other = replace(whole(1.0), compiler="gcc 13")
    assert "gcc 13" in (record.comparable(whole(1.0), other) or "")


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Saved and loaded it is the same; what is no record is none."""
    file = tmp_path / "results" / "last.json"
    record.save(whole(2000.0), file)
    assert record.load(file) == whole(2000.0)
    file.write_text("{}", encoding="utf-8")
    assert record.load(file) is None
    assert record.load(tmp_path / "none.json") is None


@pytest.mark.cpp
@pytest.mark.parametrize("file", sorted(default_paths().benchmarks.glob("*.toml")), ids=str)
def test_program_and_experiment_simulate_the_same(file: Path) -> None:
    """A workload has the hops it is known by: 6 links for every packet of 1000 B."""
    plan = make_plan(str(file))
    workload = programs.workload_of(file.stem, plan.specs[0].setting)
    hops = {
        "permutation-k4": 960_000,
        "permutation-k8": 1_536_000,
        "permutation-k16": 1_228_800,
        "permutation-k16-short": 1_228_800,
        "permutation-k32": 983_040,
    }
    assert workload.hosts * workload.size // 1000 * 6 == hops[file.stem]
    assert workload.delay == ("100000ps" if "short" in file.stem else "1000000ps")
    assert form(plan.specs[0])["traffic"][0]["shift"] == workload.hosts // 2
    assert workload.counted_size % 1000 == 0
    assert 6 * workload.hosts * workload.counted_size // 1000 <= 1.3 * programs.COUNTED_HOPS


@pytest.mark.slow
@pytest.mark.inputs(*RUNS, "benchmarks", "tools")
@pytest.mark.parametrize("workload", [REFERENCE, *WORKLOADS], ids=lambda w: w.name)
def test_a_workload_that_pauses_is_one_run_with_the_oracle_and_without(
    workload: Paused,
) -> None:
    """And they differ in the oracle alone."""
    (with_it,), (without,) = (
        plan_of(workload, default_paths(), *more).specs for more in ((), (OFF,))
    )
    assert form(without)["run"] == {**form(with_it)["run"], "oracle": False}


def test_pairs_are_compared_within_rounds() -> None:
    """The median of the ratios is not the ratio of the medians."""
    rounds = [(Run(3e6, 10.0), Run(1e6, 10.0)), (Run(1e6, 11.0), Run(1e6, 10.0))]
    rounds.append((Run(2e6, 12.0), Run(0.5e6, 10.0)))
    words = cells_line(Pairs("a", rounds)).split(" | ")
    assert words == ["| a", "3.00", "1.00 to 4.00", "3", "0.50", "1.00", "1.10 |"]
    assert cells_line(Pairs("a", [(Run(1e6), Run(1e6))])).endswith("|  |")


@pytest.mark.slow
@pytest.mark.inputs(*RUNS, "benchmarks", "tools")
@pytest.mark.parametrize("workload", EXPERIMENTS, ids=lambda w: w.name)
def test_a_pair_of_experiments_differs_in_its_event_loop_alone(workload: Paused) -> None:
    """And each is one run."""
    (cells,), (other,) = (
        plan_of(workload, default_paths(), *more).specs
        for more in ((), (f'run.simulator="{OTHER}"',))
    )
    assert form(other)["run"] == {**form(cells)["run"], "simulator": OTHER}


@pytest.mark.cpp
@pytest.mark.inputs(*RUNS, "benchmarks", "tools")
def test_the_example_programs_run() -> None:
    """They print what the bench reads; a small permutation finishes with every hop."""
    build = ensure_built(tests=True)
    found = programs.run_permutation(build, replace(K4, size=100_000))
    assert found.data_hops == 16 * 100 * 6
    assert 3.5 * found.data_hops < found.events < 4.5 * found.data_hops
