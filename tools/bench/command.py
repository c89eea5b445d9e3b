"""`invoke bench`: measure the workloads in benchmarks/, print, keep, compare."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pyorch.base.files import telling
from pyorch.base.paths import Paths, RunPaths, default_paths
from pyorch.cli.base import FAILED, OK, command, whole_number
from pyorch.pipeline import Plan, make_plan
from tools.bench import programs, record
from tools.bench.programs import Simulated, Workload
from tools.bench.record import Line, Record

if TYPE_CHECKING:
    from pyorch.build import BuildInfo
    from pyorch.plan import RunSpec

REPEATS = 3

#: Tables that are recorded on every change when the cost of traces is measured.
TRACED = "--trace=queue,pause"


@dataclass(frozen=True)
class WholeRun:
    """One run by the local engine, in a separate process: seconds of CPU and wall time.

    summary: its numbers. notes: what it said.
    """

    hops_per_s: float
    startup_s: float
    around_s: float
    summary: Mapping[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()


@command
def bench(repeats: str = "", keep: bool = False) -> int:
    """Measure, print, write benchmarks/results/last.json, and compare with what is committed.

    With `keep` the result becomes benchmarks/baseline.json, to be committed. Returns 1 if a
    workload takes more instructions per hop than the committed measurement.
    """
    from pyorch.build import ensure_built

    times = whole_number("--repeats", repeats) or REPEATS
    paths = default_paths()
    build = ensure_built(tests=True, outside=False)
    counts = programs.tell_whether_counted()
    print(HEADER, flush=True)
    bare = [programs.bare_events_per_s(build)]
    lines = []
    for file in sorted(paths.benchmarks.glob("*.toml"), key=_by_size):
        plan = make_plan(str(file), paths=paths)
        measured = measure(build, plan, file.stem, times, bare)
        print(text_of(measured), flush=True)
        lines.append(measured)
    found = Record(
        compiler=_compiler(),
        ns3=build.ns3_version,
        bare_events_per_s=median(bare),
        traces=_cost_of_traces(build, lines) if counts else None,
        lines=tuple(lines),
    )
    print(f"bare event loop: {found.bare_events_per_s / 1e6:.2f} M events per CPU-second")
    if found.traces is not None:
        print(f"queues and pauses of every port recorded: {found.traces:+.1%} instructions")
    return _conclude(found, paths, keep)


def _conclude(found: Record, paths: Paths, keep: bool) -> int:
    baseline = paths.benchmarks / "baseline.json"
    before = record.load(baseline)
    target = paths.benchmarks / "results" / "last.json"
    with telling(target.parent):
        record.save(found, target)
        if keep:
            record.save(found, baseline)
    print(f"written: {target}" + (f", {baseline}" if keep else ""))
    if before is None:
        print("nothing to compare with: `invoke bench --keep` makes benchmarks/baseline.json")
        return OK
    reason = record.comparable(found, before)
    if reason is not None:
        print(f"not compared: {reason}")
        return OK
    slower = record.regressions(found, before)
    for line in slower:
        print(f"SLOWER {line}")
    if not slower:
        print("nothing takes more instructions than in the committed measurement (within 3 %)")
    return FAILED if slower and not keep else OK


def measure(build: BuildInfo, plan: Plan, name: str, times: int, bare: list[float]) -> Line:
    """Measure one workload; a measurement of the bare loop follows each run, into `bare`.

    Raises UserError if a program fails.
    """
    (spec,) = plan.specs
    workload = programs.workload_of(name, spec.setting)
    runs: list[Simulated] = []
    beside: list[float] = []
    for _ in range(times):
        runs.append(programs.run_permutation(build, workload))
        beside.append(programs.bare_events_per_s(build))
    bare.extend(beside)
    whole = whole_run(plan, spec)
    counts = programs.has_valgrind() and workload.hosts <= programs.COUNTED_HOSTS
    counted = programs.instructions_per_hop(build, workload) if counts else None
    return summarise(workload, runs, median(beside), counted, whole)


def summarise(
    workload: Workload,
    runs: list[Simulated],
    bare: float,
    counted: float | None,
    whole: WholeRun | None,
) -> Line:
    """Reduce the runs of one workload to its line."""
    speeds = [run.hops_per_s for run in runs]
    return Line(
        name=workload.name,
        hops_per_s=median(speeds),
        slowest=min(speeds),
        fastest=max(speeds),
        share=median(speeds) / bare,
        events_per_hop=runs[0].events / runs[0].data_hops,
        instructions=counted,
        peak_rss_mib=max(run.peak_rss_mib for run in runs),
        experiment_hops_per_s=whole.hops_per_s if whole else None,
        startup_s=whole.startup_s if whole else None,
        around_s=whole.around_s if whole else None,
    )


HEADER = (
    f"{'':<18}{'kHops/CPU-s (min-max)':>24}{'of bare loop':>14}{'events/hop':>12}"
    f"{'instr./hop':>12}{'peak MiB':>10} | {'by experiment: kHops':>20}{'start-up s':>12}"
    f"{'around s':>10}"
)


def text_of(line: Line) -> str:
    """One line of the table."""
    speed = f"{line.hops_per_s / 1e3:.0f} ({line.slowest / 1e3:.0f}-{line.fastest / 1e3:.0f})"
    counted = f"{line.instructions:.0f}" if line.instructions else "-"
    text = (
        f"{line.name:<18}{speed:>24}{line.share:>14.3f}{line.events_per_hop:>12.2f}"
        f"{counted:>12}{line.peak_rss_mib:>10.1f} | "
    )
    if line.experiment_hops_per_s is None:
        return text + "-"
    return text + (
        f"{line.experiment_hops_per_s / 1e3:>20.0f}{line.startup_s:>12.2f}{line.around_s:>10.2f}"
    )


def _by_size(file: Path) -> tuple[int, str]:
    """Order k4, k8, k16."""
    return len(file.stem), file.stem


def _compiler() -> str:
    from pyorch.build.toolchain import find_compiler

    return str(find_compiler())


def _cost_of_traces(build: BuildInfo, lines: list[Line]) -> float | None:
    """Return how many more instructions the smallest workload takes with traces on."""
    for line in lines:
        if line.instructions and line.name.endswith("-k4"):
            workload = Workload(line.name, 4, 10_000_000)
            return programs.instructions_per_hop(build, workload, TRACED) / line.instructions - 1
    return None


def whole_run(plan: Plan, spec: RunSpec) -> WholeRun | None:
    """Run once in a temporary store, so that nothing is reused from an earlier run."""
    from pyorch.engine import LocalEngine
    from pyorch.engine.log import read_notes
    from pyorch.store.store import Store

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
        written = store.read_summary(run_hash)
    summary = written["summary"]
    cpu = float(notes["run_cpu_s"])
    return WholeRun(
        hops_per_s=float(summary["data_hops"]) / cpu,
        startup_s=float(notes["startup_s"]),
        around_s=float(notes["startup_s"]) + float(notes["simulate_wall_s"]) - cpu,
        summary=summary,
        notes=written["notes"],
    )
