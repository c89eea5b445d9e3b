"""`invoke bench --scaling`: how cost grows.

With hosts, messages, buffer and simulated time, by the C++ program of the permutation; with pauses
and queues at a port, by the two incasts of `--pauses`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import telling
from pyorch.base.paths import default_paths
from pyorch.cli.base import OK, command
from tools.bench import programs
from tools.bench.command import whole_run
from tools.bench.pauses import INCAST, Paused, plan_of
from tools.bench.programs import Workload

if TYPE_CHECKING:
    import pandas as pd

    from pyorch.build import BuildInfo


@dataclass(frozen=True)
class Case:
    """One run: what grows, how large it is, and the options of the program."""

    grows: str
    value: float
    k: int
    size: int
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Incast:
    """One run of the two 7-to-1 incasts: what grows, how large it is, and its overrides."""

    grows: str
    value: float
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Cost:
    """The cost of a case; NaN if it was not measured."""

    grows: str
    value: float
    data_hops: int
    run_cpu_s: float
    setup_cpu_s: float
    peak_rss_mib: float
    simulated_us: float


HOSTS, MESSAGES, BUFFER, TIME = "hosts", "messages", "buffer [MB]", "packets a message"
PAUSES, QUEUES = "pauses", "own queues a port"


def cases() -> list[Case]:
    """Return every run: one quantity grows, the others are constant."""
    return [
        *(Case(HOSTS, k**3 // 4, k, 20_000) for k in (4, 8, 12, 16, 24, 32)),
        *(Case(MESSAGES, 16 * n, 4, 1000, (f"--messages={n}",)) for n in _DECADES),
        *(Case(BUFFER, mb, 4, 1_000_000, (f"--buffer={mb}000000",)) for mb in (4, 16, 64, 256)),
        *(Case(TIME, packets, 4, 1000 * packets) for packets in (100, 1000, 10_000, 100_000)),
    ]


def incasts() -> list[Incast]:
    """Return the runs with increasing pauses (a lower XOFF), and those with more own queues."""
    return [
        *(
            Incast(PAUSES, kb, (f"buffer.xoff={kb}KB", f"buffer.xon={kb - 4}KB"))
            for kb in (1000, 250, 60, 16)
        ),
        *(
            Incast(QUEUES, queues, ('variants.PFC.flow_control=["bfc"]', f"bfc.queues={queues}"))
            for queues in (8, 32, 128, 512)
        ),
    ]


_MEMORY_TICKS = (10, 30, 100, 300, 1000)
_DECADES = (1, 10, 100, 1000, 10_000, 62_500)


@command
def scaling() -> int:
    """Run all cases, print, and write benchmarks/results/scaling.csv and .png."""
    from pyorch.build import ensure_built

    build = ensure_built(tests=True, outside=False)
    folder = default_paths().benchmarks / "results"
    print(
        f"{'':<20}{'value':>12}{'hops':>12}{'us CPU a hop':>14}{'set-up s':>10}{'peak MiB':>10}",
        flush=True,
    )
    costs = []
    wanted: list[Case | Incast] = [*cases(), *incasts()]
    for case in wanted:
        cost = cost_of(build, case)
        print(
            f"{cost.grows:<20}{cost.value:>12.0f}{cost.data_hops:>12}"
            f"{1e6 * cost.run_cpu_s / cost.data_hops:>14.2f}{cost.setup_cpu_s:>10.2f}"
            f"{cost.peak_rss_mib:>10.0f}",
            flush=True,
        )
        costs.append(cost)
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
        table = table_of(costs)
        table.to_csv(folder / "scaling.csv", index=False)
        draw(table, folder / "scaling.png")
    print(f"written: {folder / 'scaling.csv'}, {folder / 'scaling.png'}")
    return OK


def cost_of(build: BuildInfo, case: Case | Incast) -> Cost:
    """Run one case. Raises UserError when it fails."""
    if isinstance(case, Incast):
        return _cost_of_incast(case)
    workload = Workload(case.grows, case.k, case.size)
    found = programs.run_permutation(build, workload, *case.more)
    return Cost(
        grows=case.grows,
        value=case.value,
        data_hops=found.data_hops,
        run_cpu_s=found.run_cpu_s,
        setup_cpu_s=found.setup_cpu_s,
        peak_rss_mib=found.peak_rss_mib,
        simulated_us=found.simulated_us,
    )


def _cost_of_incast(case: Incast) -> Cost:
    plan = plan_of(Paused(case.grows, INCAST, case.overrides), default_paths())
    found = whole_run(plan, plan.specs[0])
    if found is None:
        raise UserError(
            [Problem(plan.experiment.label, "the run failed, as shown above", None, None)]
        )
    hops = int(found.summary["data_hops"])
    return Cost(
        grows=case.grows,
        value=found.summary["pauses_sent"] if case.grows == PAUSES else case.value,
        data_hops=hops,
        run_cpu_s=hops / found.hops_per_s,
        setup_cpu_s=math.nan,
        peak_rss_mib=math.nan,
        simulated_us=math.nan,
    )


def table_of(costs: Sequence[Cost]) -> pd.DataFrame:
    """Return one row per run, with microseconds of CPU time per data packet-hop."""
    import pandas as pd

    table = pd.DataFrame([asdict(cost) for cost in costs])
    return table.assign(us_per_hop=1e6 * table["run_cpu_s"] / table["data_hops"])


def draw(table: pd.DataFrame, file: Path) -> None:
    """Plot CPU time per hop and memory against each growing quantity. Raises OSError."""
    import matplotlib.pyplot as plt
    import seaborn as sns
    from matplotlib.ticker import NullLocator, ScalarFormatter

    sns.set_theme(style="whitegrid", context="paper")
    shown = list(dict.fromkeys(table["grows"]))
    figure, axes = plt.subplots(
        2, len(shown), figsize=(2.2 * len(shown), 3.6), sharex="col", sharey="row"
    )
    for column, grows in enumerate(shown):
        rows = table[table["grows"] == grows]
        for axis, name in zip(axes[:, column], ("us_per_hop", "peak_rss_mib"), strict=True):
            if rows[name].isna().all():
                axis.set_visible(False)
                continue
            sns.lineplot(rows, x="value", y=name, marker="o", ax=axis)
            axis.set(xscale="log", xlabel=grows, ylabel="")
        if not axes[1, column].get_visible():
            axes[0, column].tick_params(labelbottom=True)
            axes[0, column].set_xlabel(grows)
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set(yscale="log", yticks=_MEMORY_TICKS)
    axes[1, 0].yaxis.set_major_formatter(ScalarFormatter())
    axes[1, 0].yaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_ylabel("CPU time per\ndata packet-hop [us]")
    axes[1, 0].set_ylabel("peak memory [MiB]")
    figure.tight_layout()
    figure.savefig(file, dpi=200)
    plt.close(figure)
