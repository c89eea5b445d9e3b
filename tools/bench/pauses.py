"""`invoke bench --pauses`: the cost of pauses and of the deadlock oracle per hop.

Workloads whose queues are paused again and again, each with and without the deadlock oracle,
compared with the permutation on a fat-tree with k = 4, which hardly pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths, default_paths
from pyorch.cli.base import OK, command, whole_number
from pyorch.pipeline import Plan, make_plan
from tools.bench import programs
from tools.bench.command import REPEATS, WholeRun, whole_run

OFF = "run.oracle=false"
"""The override that switches the oracle off."""


@dataclass(frozen=True)
class Paused:
    """A workload: a study or a file in benchmarks/, and its overrides."""

    name: str
    study: str
    overrides: tuple[str, ...] = ()


INCAST = "pauses/incast-k4.toml"
REFERENCE = Paused("permutation-k4", "permutation-k4.toml")
LEAF_SPINE = ("only=WebSearch", "traffic.load.load=0.8", "run.duration=15ms")
WORKLOADS = (
    Paused("incast-k4-125KB", INCAST, ("buffer.xoff=125KB", "buffer.xon=121KB")),
    Paused("incast-k4-1MB", INCAST),
    Paused("leafspine-80", "pfc/workloads", (*LEAF_SPINE, "run.drain=0us", "run.warmup=0us")),
    Paused("gfc-ring", "pauses/gfc-ring.toml"),
)


@dataclass(frozen=True)
class Cost:
    """Medians of the runs of a workload.

    hops_per_s: data packet-hops per CPU-second of the simulation, with the oracle; without: the
    same without it. instructions: per hop with its ACK's hop, with the oracle and without; None if
    not counted. The counts are from one run.
    """

    name: str
    hops_per_s: float
    without: float
    instructions: tuple[float, float] | None
    pauses: int
    dropped: int
    control_frames: int

    @property
    def oracle(self) -> float:
        """The share of the instructions, else of the CPU time, that the oracle takes."""
        if self.instructions is not None:
            with_it, without = self.instructions
            return 1 - without / with_it
        return 1 - self.hops_per_s / self.without


HEADER = (
    f"{'':<18}{'kHops/CPU-s':>12}{'of k4':>8}{'no oracle':>11}{'oracle':>8}{'instr./hop':>12}"
    f"{'pauses':>9}{'dropped':>9}{'control':>9}"
)


def text_of(cost: Cost, reference: float) -> str:
    """One line of the table. reference: hops per CPU-second of the permutation."""
    counted = f"{cost.instructions[0]:.0f}" if cost.instructions else "-"
    return (
        f"{cost.name:<18}{cost.hops_per_s / 1e3:>12.0f}{cost.hops_per_s / reference:>8.2f}"
        f"{cost.without / 1e3:>11.0f}{cost.oracle:>8.1%}{counted:>12}"
        f"{cost.pauses:>9}{cost.dropped:>9}{cost.control_frames:>9}"
    )


@command
def pauses(repeats: str = "") -> int:
    """Measure every workload, alternating with the permutation, and print. Raises UserError."""
    times = whole_number("--repeats", repeats) or REPEATS
    paths = default_paths()
    counts = programs.tell_whether_counted()
    print(HEADER, flush=True)
    reference = plan_of(REFERENCE, paths)
    for workload in WORKLOADS:
        with_it, without = (plan_of(workload, paths, *more) for more in ((), (OFF,)))
        runs = [[_run(one) for one in (reference, with_it, without)] for _ in range(times)]
        beside, on, off = ([run.hops_per_s for run in column] for column in zip(*runs, strict=True))
        counted = None
        if counts:
            counted = (programs.instructions_of(with_it), programs.instructions_of(without))
        said = runs[0][1].summary
        cost = Cost(
            name=workload.name,
            hops_per_s=median(on),
            without=median(off),
            instructions=counted,
            pauses=int(said["pauses_sent"]),
            dropped=int(said["dropped_frames"]),
            control_frames=int(said["control_frames_sent"]),
        )
        print(text_of(cost, median(beside)), flush=True)
    return OK


def plan_of(workload: Paused, paths: Paths, *more: str) -> Plan:
    """The one run of a workload, with more overrides. Raises UserError."""
    file = paths.benchmarks / workload.study
    study = str(file) if file.is_file() else workload.study
    overrides: Sequence[str] = (*workload.overrides, *more)
    return make_plan(study, overrides=overrides, seeds="1", paths=paths)


def _run(plan: Plan) -> WholeRun:
    """Run the one run of a plan. Raises UserError when it fails."""
    (spec,) = plan.specs
    found = whole_run(plan, spec)
    if found is None:
        raise UserError(
            [Problem(plan.experiment.label, "the run failed, as shown above", None, None)]
        )
    return found
