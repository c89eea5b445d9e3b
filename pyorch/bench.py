"""How fast a run is: an ordinary experiment file, simulated by itself in fresh processes.

The numbers are those that a run notes in its log. CPU time is that of the simulation alone
(Simulation::Run and Finish), without start-up, set-up and the writing of tables.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pyorch.cli import FAILED, OK, Plan, command, make_plan
from pyorch.paths import Paths, RunPaths, default_paths

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

REPETITIONS = 3


@dataclass(frozen=True)
class Sample:
    """One run: data packet-hops, events, CPU time of the simulation [s], start-up [s], peak RSS."""

    data_hops: int
    events: int
    run_cpu_s: float
    startup_s: float
    peak_rss_mib: float


@command
def bench() -> int:
    """Measure every workload in benchmarks/ a few times and print the medians."""
    paths = default_paths()
    print(
        f"{'workload':<20}{'kHops':>8}{'kHops/CPU-s':>12}{'Mevents/CPU-s':>15}{'events/hop':>12}"
        f"{'start-up s':>12}{'peak RSS MiB':>14}   (median of {REPETITIONS}; min-max of kHops)"
    )
    code = OK
    for file in sorted(paths.benchmarks.glob("*.toml")):
        plan = make_plan(str(file), paths=paths)
        for spec in plan.specs:
            samples = [_sample(plan, spec) for _ in range(REPETITIONS)]
            good = [sample for sample in samples if sample is not None]
            if len(good) < REPETITIONS:
                code = FAILED
            else:
                print(line(file.stem, good), flush=True)
    return code


def line(workload: str, samples: Sequence[Sample]) -> str:
    """One line of the table: medians, and the range of the speed."""
    speeds = [sample.data_hops / sample.run_cpu_s / 1e3 for sample in samples]
    events = median(sample.events / sample.run_cpu_s / 1e6 for sample in samples)
    per_hop = samples[0].events / samples[0].data_hops
    startup = median(sample.startup_s for sample in samples)
    peak = median(sample.peak_rss_mib for sample in samples)
    return (
        f"{workload:<20}{samples[0].data_hops / 1e3:>8.0f}{median(speeds):>12.0f}"
        f"{events:>15.2f}{per_hop:>12.2f}"
        f"{startup:>12.2f}{peak:>14.0f}   ({min(speeds):.0f}-{max(speeds):.0f})"
    )


def _sample(plan: Plan, spec: RunSpec) -> Sample | None:
    """Run once in a store that goes away, so that nothing is taken from an earlier run."""
    from pyorch.engine import LocalEngine
    from pyorch.engine.log import read_notes
    from pyorch.store import Store

    with tempfile.TemporaryDirectory(prefix="pyorch-bench-") as folder:
        store = Store(Paths(plan.store.paths.root, Path(folder)), plan.store.name)
        quiet = io.StringIO()
        result = LocalEngine(store, jobs=1, stream=quiet).run([spec], plan.build)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.done != 1:
            print(quiet.getvalue(), end="")
            return None
        run_hash = spec.hash(plan.build.fingerprint)
        notes = read_notes(RunPaths(store.folder(run_hash)).log)
        summary = store.read_summary(run_hash)["summary"]
    if summary["flows_unfinished"]:
        print(f"{plan.store.name}: {summary['flows_unfinished']} flows did not finish")
        return None
    return Sample(
        int(summary["data_hops"]),
        int(summary["events"]),
        float(notes["run_cpu_s"]),
        float(notes["startup_s"]),
        float(notes["peak_rss_mib"]),
    )
