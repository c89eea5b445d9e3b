"""Schemes side by side: estimates over seeds, which are best, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pyorch.config.fields import Table
from pyorch.report.quantities import AxisUnit
from pyorch.report.select import matching
from pyorch.report.statistics import Estimate, clopper_pearson, estimate

if TYPE_CHECKING:
    from pandas import DataFrame

REFERENCE = "PFC"
"""The scheme that the heat map divides by."""
NEGLIGIBLE = 0.01
"""Differences up to this share of the best mean decide nothing, however sure they are."""


class Row(Table):
    """One question of the summary, answered by a metric of a study."""

    study: str
    label: str
    metric: str
    where: dict[str, str | int | float] = Field(default={})
    better: Literal["lower", "higher"]
    unit: AxisUnit = "1"


class Rows(Table):
    """The file that says what is compared."""

    row: list[Row] = Field(min_length=1)


@dataclass(frozen=True)
class Answer:
    """What one scheme reached in one row.

    by_seed: the mean over settings of each seed; infinite where something did not finish, absent
    where a run has no value. ratio: to the reference, seed by seed. best: no other scheme is
    surely better by more than NEGLIGIBLE.
    """

    scheme: str
    by_seed: Mapping[int, float]
    mean: Estimate
    ratio: Estimate
    best: bool = False


@dataclass(frozen=True)
class Compared:
    """A row with the answers of all schemes."""

    row: Row
    answers: tuple[Answer, ...]

    @property
    def best(self) -> list[Answer]:
        """The answers between which and the best mean the seeds do not decide, best mean first."""
        found = [answer for answer in self.answers if answer.best]
        return sorted(found, key=lambda answer: _worse(self.row, answer.mean.mean))

    @property
    def sole(self) -> bool:
        """Whether one scheme is best, and surely."""
        return len(self.best) == 1


def compare(row: Row, runs: DataFrame, schemes: Sequence[str]) -> Compared:
    """Compare the schemes in one row. runs: all finished runs of its study."""
    chosen = matching(runs, row.where)
    by_seed = {scheme: _by_seed(chosen, scheme, row.metric) for scheme in schemes}
    reference = by_seed.get(REFERENCE, {})
    means = {scheme: estimate(values.values()) for scheme, values in by_seed.items()}
    leaders = _leaders(row, by_seed, means)
    answers = [
        Answer(scheme, values, means[scheme], _ratio(values, reference), scheme in leaders)
        for scheme, values in by_seed.items()
    ]
    return Compared(row, tuple(answers))


def _by_seed(runs: DataFrame, scheme: str, metric: str) -> dict[int, float]:
    if metric not in runs.columns:
        return {}
    own = runs[runs["variant"] == scheme]
    values: dict[int, list[float]] = {}
    for seed, value in zip(own["seed"], own[metric], strict=True):
        if value is not None and not math.isnan(value):
            values.setdefault(int(seed), []).append(float(value))
    return {seed: sum(found) / len(found) for seed, found in sorted(values.items())}


def _ratio(values: Mapping[int, float], reference: Mapping[int, float]) -> Estimate:
    """Estimate the ratio to the reference, of the same traffic each time."""
    seeds = [seed for seed in values if reference.get(seed)]
    if not seeds:
        return estimate([])
    pairs = [(values[seed], reference[seed]) for seed in seeds]
    return estimate([math.nan if math.isinf(b) else a / b for a, b in pairs])


def _worse(row: Row, value: float) -> float:
    """A number that is the larger the worse a value is."""
    return value if row.better == "lower" else -value


def _leaders(
    row: Row, by_seed: Mapping[str, Mapping[int, float]], means: Mapping[str, Estimate]
) -> set[str]:
    """Return the scheme of the best mean, and those that the seeds do not tell from it.

    Schemes see the same traffic by seed, so that their differences are taken seed by seed: one is
    told from the best when the 95 % interval of the mean difference leaves out everything up to
    NEGLIGIBLE. A single seed has no interval: there the values themselves decide.
    """
    finite = {name: mean for name, mean in means.items() if mean.n and math.isfinite(mean.mean)}
    if not finite:
        return set()
    first = min(finite, key=lambda name: _worse(row, finite[name].mean))
    leaders = {first}
    for name in finite:
        seeds = sorted(by_seed[name].keys() & by_seed[first].keys())
        differences = [by_seed[name][seed] - by_seed[first][seed] for seed in seeds]
        found = estimate(differences)
        half = 0.0 if math.isnan(found.half_width) else found.half_width
        if found.n and abs(found.mean) <= half + NEGLIGIBLE * abs(finite[first].mean):
            leaders.add(name)
    return leaders


@dataclass(frozen=True)
class Cost:
    """What a scheme costs over all runs of all studies.

    control: control frames, SFC messages and CNPs for every 1,000 frames that crossed a link.
    lost: packets lost for every million that crossed a link. paused: ports that were paused, mean
    over the simulated time. buffer: largest use of a node's buffer, as a share of it, mean over
    runs. cyclic: runs whose flows have a cyclic buffer dependency; deadlocks: those of them that
    deadlocked, share: 95 % interval of its probability; stuck: those deadlocked at their end.
    unfinished: of all `runs` those in which a finite flow did not finish.
    """

    scheme: str
    control: float
    lost: float
    paused: float
    buffer: float
    cyclic: int
    deadlocks: int
    share: tuple[float, float]
    stuck: int
    unfinished: int
    runs: int


CONTROL = ("control_frames_sent", "sfc_messages_sent", "cnps_sent")
BUFFER_SIZE = "buffer_size_bytes"
"""Column that the command adds to the tables of runs: the buffer of every node [B]."""


def cost(scheme: str, tables: Sequence[DataFrame]) -> Cost:
    """Add up what a scheme cost in all studies."""
    import pandas as pd

    own = pd.concat([table[table["variant"] == scheme] for table in tables], ignore_index=True)

    def total(name: str) -> float:
        return float(own[name].fillna(0).sum()) if name in own else 0.0

    hops = total("data_hops") or math.nan
    cyclic = own[own["flow_cycle_egresses"] > 0]
    deadlocks = int((cyclic["deadlocked"] > 0).sum())
    return Cost(
        scheme,
        control=1e3 * sum(total(name) for name in CONTROL) / hops,
        lost=1e6 * total("dropped_frames") / hops,
        paused=total("pause_time_ps") / (total("end_ps") or math.nan),
        buffer=float((own["peak_buffer_bytes"] / own[BUFFER_SIZE]).mean()),
        cyclic=len(cyclic),
        deadlocks=deadlocks,
        share=clopper_pearson(deadlocks, len(cyclic)) if len(cyclic) else (0.0, 1.0),
        stuck=int((cyclic["deadlocked_at_end"] > 0).sum()),
        unfinished=int((own["flows_unfinished"] > 0).sum()),
        runs=len(own),
    )


def frame_of(compared: Sequence[Compared]) -> DataFrame:
    """Return everything compared as one table, one line a row and scheme."""
    import pandas as pd

    lines: list[dict[str, Any]] = [
        {
            "study": one.row.study,
            "row": one.row.label,
            "scheme": answer.scheme,
            "mean": answer.mean.mean,
            "half_width": answer.mean.half_width,
            "seeds": answer.mean.n,
            "ratio": answer.ratio.mean,
            "ratio_half_width": answer.ratio.half_width,
            "best": answer.best,
        }
        for one in compared
        for answer in one.answers
    ]
    return pd.DataFrame(lines)
