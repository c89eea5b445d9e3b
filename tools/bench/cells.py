"""`invoke bench --cells`: how much faster runs are in cells than with EventLoop, in pairs.

Each round runs a workload under both event loops, one right after the other, since the machine's
other load changes both. Medians of ratios within rounds are written to docs/results/performance.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import telling, write_atomically
from pyorch.base.paths import Paths, default_paths
from pyorch.build import BuildInfo, ensure_built
from pyorch.cli.base import OK, command, whole_number
from tools.bench import programs
from tools.bench.command import REPEATS, whole_run
from tools.bench.pauses import INCAST, WORKLOADS, Paused, plan_of
from tools.bench.programs import Workload

OTHER = "ns3::eventloop::EventLoop"
"""The event loop that is compared with."""

SIZES = {4: 6_000_000, 8: 500_000, 16: 80_000, 32: 12_000}
"""k of a permutation, and the payload of each message [B]: some 500,000 hops, a few seconds."""

DELAYS = ("100ns", "500ns", "1us", "5us")
WEBSEARCH = Paused("websearch-k16", "loads/websearch-k16.toml")
EXPERIMENTS = (WEBSEARCH, *(one for one in WORKLOADS if one.study == INCAST or "leaf" in one.name))


@dataclass(frozen=True)
class Run:
    """One run: data packet-hops per CPU-second, and the largest resident size [MiB], if known."""

    hops_per_s: float
    peak_rss_mib: float | None = None


@dataclass(frozen=True)
class Pairs:
    """The rounds of a workload: each a run in cells and one under the other event loop."""

    name: str
    rounds: Sequence[tuple[Run, Run]]

    @property
    def ratios(self) -> list[float]:
        """Speed in cells over the other one, of each round."""
        return [cells.hops_per_s / other.hops_per_s for cells, other in self.rounds]

    @property
    def memory(self) -> float | None:
        """Median of the ratios of largest resident size; None where it was not measured."""
        ratios = [
            cells.peak_rss_mib / other.peak_rss_mib
            for cells, other in self.rounds
            if cells.peak_rss_mib is not None and other.peak_rss_mib is not None
        ]
        return median(ratios) if ratios else None


HEADER = (
    "| workload | in cells / EventLoop | range | rounds | µs a hop in cells | EventLoop | memory |",
    "|---|---|---|---|---|---|---|",
)


def text_of(pairs: Pairs) -> str:
    """One line of the table."""
    ratios = pairs.ratios
    cells, other = (
        f"{1e6 / median(run.hops_per_s for run in column):.2f}"
        for column in zip(*pairs.rounds, strict=True)
    )
    memory = "" if pairs.memory is None else f"{pairs.memory:.2f}"
    return (
        f"| {pairs.name} | {median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} "
        f"| {len(ratios)} | {cells} | {other} | {memory} |"
    )


def page_of(lines: Sequence[str]) -> str:
    """The page with the table."""
    about = (
        "Written by `invoke bench --cells`; do not edit. Each round runs a workload in cells and "
        f"under `{OTHER}`, one after the other. All but the range are medians."
    )
    return "\n".join(("# Speed in cells", "", about, "", *HEADER, *lines, ""))


@command
def cells(repeats: str = "") -> int:
    """Measure every workload in pairs, print, and write docs/results/performance.md.

    Raises UserError when a run fails.
    """
    times = whole_number("--repeats", repeats) or REPEATS
    paths = default_paths()
    build = ensure_built(tests=True, outside=False)
    print("\n".join(HEADER), flush=True)
    lines = []
    for name, run in _workloads(build, paths):
        pairs = Pairs(name, [(run(False), run(True)) for _ in range(times)])
        lines.append(text_of(pairs))
        print(lines[-1], flush=True)
    file = paths.root / "docs" / "results" / "performance.md"
    with telling(file):
        write_atomically(file, page_of(lines))
    print(f"written: {file}")
    return OK


Runner = Callable[[bool], Run]
"""Runs a workload once: in cells, or, if true, under the other event loop."""


def _workloads(build: BuildInfo, paths: Paths) -> list[tuple[str, Runner]]:
    permutations = [
        Workload(f"k = {k}, links of {delay}", k, size, delay)
        for delay in DELAYS
        for k, size in SIZES.items()
    ]
    return [(one.name, _permutation(build, one)) for one in permutations] + [
        (one.name, _experiment(one, paths)) for one in EXPERIMENTS
    ]


def _permutation(build: BuildInfo, workload: Workload) -> Runner:
    def run(other: bool) -> Run:
        more = (f"--SimulatorImplementationType={OTHER}",) if other else ()
        # 64 MiB: headroom for links of 5 us in 32 ports of 8 classes
        found = programs.run_permutation(build, workload, "--buffer=67108864", *more)
        return Run(found.hops_per_s, found.peak_rss_mib)

    return run


def _experiment(workload: Paused, paths: Paths) -> Runner:
    plans = [plan_of(workload, paths), plan_of(workload, paths, f'run.simulator="{OTHER}"')]

    def run(other: bool) -> Run:
        plan = plans[other]
        found = whole_run(plan, plan.specs[0])
        if found is None:
            what = "the run failed, as shown above"
            raise UserError([Problem(plan.experiment.label, what, None, None)])
        return Run(found.hops_per_s)

    return run
