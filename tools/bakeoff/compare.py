"""Schemes side by side: estimates over seeds, which are best, and what they cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pyorch.base.fields import Table
from pyorch.metrics.base import SHARE
from pyorch.metrics.fields import Where
from pyorch.report.quantities import AxisUnit
from pyorch.report.select import matching
from pyorch.report.statistics import (
    NEGLIGIBLE,
    Estimate,
    Nature,
    Standing,
    clopper_pearson,
    estimate,
    standing_of,
)

if TYPE_CHECKING:
    from pandas import DataFrame

REFERENCE = "PFC"
"""The scheme that the heat map divides by, where all of its runs finished."""

Verdict = Literal["better", "worse", "open"]
"""How a scheme compares to another: better or worse by certainly more than NEGLIGIBLE, or open."""
MANY = 20
"""From so many seeds on a number of the page is shown without its interval,"""
WIDE = 0.1
"""unless that is more than this share of it to either side;"""
LEAST = 0.005
"""never a half width below this, as numbers have two decimals."""
SETTING = "setting"
"""Column that the command adds to the tables of runs: what is swept besides the scheme."""
DRAWN = "drawn"
"""Column that the command adds to the tables of runs: whether the seed draws more than starts."""
Values = Mapping[int, float]


class Row(Table):
    """One question of the summary, answered by a metric of a study.

    scene: rows of a scene are answered by the same traffic and together count once. independent:
    seeds draw other traffic, networks or paths; otherwise they only shift its starts, every run is
    a draw by itself, and there is no interval. enough: what a flow is entitled to; more is no
    better, as it is another flow's. drawn: it is a column of the figure.
    """

    study: str
    scene: str
    label: str
    independent: bool = True
    metric: str
    where: Where = Field(default={})
    better: Literal["lower", "higher"]
    unit: AxisUnit = "1"
    enough: float = math.inf
    drawn: bool = False


class Rows(Table):
    """The file that says what is compared."""

    row: list[Row] = Field(min_length=1)


@dataclass(frozen=True)
class Answer:
    """What one scheme reached in one row.

    by_seed: for each seed the mean over its settings, over those (seed, setting) that all schemes
    have, or each of these if the row's are not independent; infinite where something did not
    finish. ratio: to the reference, seed by seed. stuck:
    number of runs that stayed deadlocked: what they reached depends on how long they ran, so that
    no ratio uses it. own: as by_seed, over the seeds of which this scheme has all settings.
    """

    scheme: str
    by_seed: Values
    mean: Estimate
    ratio: Estimate
    standing: Standing = "no value"
    stuck: int = 0
    own: Values = field(default_factory=dict)

    @property
    def best(self) -> bool:
        """Whether it is the best or equal to the best."""
        return self.standing in ("best", "equal")


@dataclass(frozen=True)
class Compared:
    """A row with the answers of all schemes.

    missing: number of (seed, setting) that some scheme lacks. reference: the scheme that ratios
    divide by, "" if none finished.
    """

    row: Row
    answers: tuple[Answer, ...]
    missing: int = 0
    reference: str = REFERENCE

    def standing(self, *wanted: Standing) -> list[Answer]:
        """Return the answers with one of these standings, best mean first."""
        found = [answer for answer in self.answers if answer.standing in wanted]
        return sorted(found, key=lambda answer: _worse(self.row, answer.mean.mean))

    @property
    def best(self) -> list[Answer]:
        """The answer with the best mean and those equal to it."""
        return sorted(self.standing("best", "equal"), key=lambda one: one.standing != "best")

    @property
    def sole(self) -> bool:
        """Whether one scheme is best, and all others are worse."""
        return bool(self.best) and len(self.standing("worse")) == len(self.answers) - 1

    @property
    def empty(self) -> bool:
        """Whether no scheme has a value."""
        return not any(answer.mean.n for answer in self.answers)


def compare(row: Row, runs: DataFrame, schemes: Sequence[str]) -> Compared:
    """Compare the schemes in one row. runs: all finished runs of its study.

    Schemes without any value are left out of the comparison; the others are compared over what
    they all have.
    """
    chosen = matching(runs, row.where)
    found = {scheme: _capped(_values(chosen, scheme, row.metric), row) for scheme in schemes}
    present = [values.keys() for values in found.values() if values]
    common = set.intersection(*map(set, present)) if present else set()
    missing = len(set().union(*present)) - len(common)
    by_seed = {
        scheme: _by_draw(
            {key: value for key, value in values.items() if key in common}, row.independent
        )
        for scheme, values in found.items()
    }
    nature = Nature(limits=SHARE) if row.unit == "%" else Nature()
    means = {scheme: estimate(values.values(), nature) for scheme, values in by_seed.items()}
    standings = _standings(row, by_seed, means)
    stuck = {scheme: _stuck(chosen, scheme) for scheme in by_seed}
    reference = _reference(by_seed, standings, stuck)
    divisor = by_seed.get(reference, {})
    answers = [
        Answer(
            scheme,
            values,
            means[scheme],
            _ratio({} if stuck[scheme] else values, divisor),
            standings[scheme],
            stuck[scheme],
            _by_draw(_whole(found[scheme]), row.independent),
        )
        for scheme, values in by_seed.items()
    ]
    return Compared(row, tuple(answers), missing, reference)


def _stuck(runs: DataFrame, scheme: str) -> int:
    """Return how many runs of a scheme were deadlocked at their end."""
    if "deadlocked_at_end" not in runs:
        return 0
    return int((runs[runs["variant"] == scheme]["deadlocked_at_end"] > 0).sum())


def _reference(
    by_seed: Mapping[str, Values], standings: Mapping[str, Standing], stuck: Mapping[str, int]
) -> str:
    """Return what ratios divide by: PFC, or the best scheme if some run of PFC did not finish."""

    def through(scheme: str) -> bool:
        values = by_seed.get(scheme, {}).values()
        whole = bool(values) and all(math.isfinite(value) and value != 0 for value in values)
        return whole and not stuck[scheme]

    best = [scheme for scheme, standing in standings.items() if standing == "best"]
    return next(filter(through, [REFERENCE, *best]), "")


def _values(runs: DataFrame, scheme: str, metric: str) -> dict[tuple[int, str], float]:
    """Return the value of each (seed, setting) of a scheme."""
    if metric not in runs.columns:
        return {}
    own = runs[runs["variant"] == scheme]
    settings = own[SETTING] if SETTING in own else [""] * len(own)
    return {
        (int(seed), str(setting)): float(value)
        for seed, setting, value in zip(own["seed"], settings, own[metric], strict=True)
        if value is not None and not math.isnan(value)
    }


def _capped(values: dict[tuple[int, str], float], row: Row) -> dict[tuple[int, str], float]:
    return {key: min(value, row.enough) for key, value in values.items()}


def _whole(values: dict[tuple[int, str], float]) -> dict[tuple[int, str], float]:
    """Return those of seeds that have all settings."""
    counts = Counter(seed for seed, _ in values)
    most = max(counts.values(), default=0)
    return {key: value for key, value in values.items() if counts[key[0]] == most}


def values_by_draw(runs: DataFrame, scheme: str, metric: str, independent: bool) -> Values:
    """Return a scheme's values: by seed, or of each (seed, setting) if seeds draw nothing."""
    return _by_draw(_values(runs, scheme, metric), independent)


def _by_draw(values: Mapping[tuple[int, str], float], independent: bool) -> dict[int, float]:
    if not independent:
        return {number: values[key] for number, key in enumerate(sorted(values))}
    found: dict[int, list[float]] = {}
    for (seed, _), value in sorted(values.items()):
        found.setdefault(seed, []).append(value)
    return {seed: sum(several) / len(several) for seed, several in found.items()}


def _ratio(values: Values, reference: Values) -> Estimate:
    """Estimate the ratio to a reference that finished, with the same traffic each time."""
    return estimate(values[seed] / reference[seed] for seed in values if seed in reference)


def ratio_of(own: Values, other: Values) -> Estimate:
    """Estimate the ratio of two means over the seeds that both have.

    Its interval is that of the paired ratio estimator (Cochran, Sampling Techniques, 6.3): of
    own - ratio * other, over the mean of the other.
    """
    seeds = sorted(own.keys() & other.keys())
    if not seeds:
        return estimate(())
    total = sum(other[seed] for seed in seeds)
    ratio = sum(own[seed] for seed in seeds) / total
    if not math.isfinite(ratio):
        return estimate([ratio])
    errors = estimate((own[seed] - ratio * other[seed]) * len(seeds) / total for seed in seeds)
    half = errors.half_width
    return Estimate(ratio, ratio - half, ratio + half, len(seeds), errors.spread)


def few(found: Estimate) -> str:
    """Return an interval as text, "±0.2", where there are few seeds or it is wide."""
    half = float(f"{found.half_width:.1g}")
    if found.n < 2:
        return " (n=1)"
    wide = half > WIDE * abs(found.mean)
    return f"±{half:g}" if half >= LEAST and (found.n < MANY or wide) else ""


def _worse(row: Row, value: float) -> float:
    """Return a number that is larger the worse a value is."""
    return value if row.better == "lower" else -value


def _standings(
    row: Row, by_seed: Mapping[str, Values], means: Mapping[str, Estimate]
) -> dict[str, Standing]:
    """Return what the seeds say about each scheme.

    For each seed all schemes see the same traffic, so differences are taken seed by seed.
    """
    found: dict[str, Standing] = {
        name: "worse" if mean.n else "no value" for name, mean in means.items()
    }
    finite = {name: mean for name, mean in means.items() if mean.n and math.isfinite(mean.mean)}
    if not finite:
        return found
    first = min(finite, key=lambda name: _worse(row, finite[name].mean))
    bound = NEGLIGIBLE * abs(finite[first].mean)
    for name in finite:
        seeds = sorted(by_seed[name].keys() & by_seed[first].keys())
        differences = [by_seed[name][seed] - by_seed[first][seed] for seed in seeds]
        told = _told(row, differences, bound)
        found[name] = "best" if name == first else told
    return found


def _told(row: Row, differences: Sequence[float], bound: float) -> Standing:
    """Return the standing by differences to the best. bound: what is negligible."""
    independent = row.independent
    return standing_of(estimate(differences), bound) if independent else _same(differences, bound)


def _same(differences: Sequence[float], bound: float) -> Standing:
    """Return the standing by differences to the best, where seeds only shift the same traffic."""
    within = [abs(difference) <= bound for difference in differences]
    return "equal" if all(within) else "not decided" if any(within) else "worse"


def against(row: Row, own: Values, other: Values) -> Verdict:
    """Judge a scheme against another by the seeds that both have, as the summary does."""
    seeds = sorted(own.keys() & other.keys())
    if not seeds:
        return "open"
    first, second = ([_worse(row, values[seed]) for seed in seeds] for values in (own, other))
    if math.inf in first or math.inf in second:
        return "open" if math.inf in first and math.inf in second else _sign(math.inf in first)
    differences = [a - b for a, b in zip(first, second, strict=True)]
    least = min(abs(sum(first)), abs(sum(second))) / len(seeds)
    bound = NEGLIGIBLE * least
    told = _told(row, differences, bound)
    one_way = row.independent or len({difference < 0 for difference in differences}) == 1
    return _sign(sum(differences) > 0) if told == "worse" and one_way else "open"


def _sign(worse: bool) -> Verdict:
    return "worse" if worse else "better"


@dataclass(frozen=True)
class Cost:
    """What a scheme costs over all runs of all studies.

    control: control frames, SFC messages and CNPs for every 1,000 frames that crossed a link.
    lost: packets lost for every million that crossed a link. paused: number of paused ports, mean
    over the simulated time. buffer: largest use of a node's buffer, as a share of it, mean over
    runs. cyclic: runs whose flows have a cyclic buffer dependency, without the `unjudged` ones,
    for which the oracle did not decide; deadlocks: those that deadlocked; stuck: those that were
    deadlocked at their end. settings: the settings of those runs; struck: those with a deadlock.
    draws: the independent draws among those runs, i.e. the seeds of studies in which a seed draws
    more than start times; hits: those with a deadlock in any setting; share: 95 % interval of
    their probability. unfinished: those of all `runs` in which a finite flow did not finish.
    """

    scheme: str
    control: float
    lost: float
    paused: float
    buffer: float
    cyclic: int
    unjudged: int
    deadlocks: int
    settings: int
    struck: int
    draws: int
    hits: int
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

    own = pd.concat(
        [table[table["variant"] == scheme].assign(study=n) for n, table in enumerate(tables)],
        ignore_index=True,
    )

    def total(name: str) -> float:
        return float(own[name].fillna(0).sum()) if name in own else 0.0

    hops = total("data_hops") or math.nan
    if "deadlocked" not in own:
        own = own.assign(deadlocked=math.nan, deadlocked_at_end=math.nan)
    unjudged = (own["flow_cycle_egresses"] > 0) & own["deadlocked"].isna()
    cyclic = own[(own["flow_cycle_egresses"] > 0) & ~unjudged]
    deadlocked = cyclic["deadlocked"] > 0
    settings = deadlocked.groupby([cyclic[k] for k in ("study", SETTING) if k in cyclic]).any()
    drawn = cyclic[cyclic[DRAWN]] if DRAWN in cyclic else cyclic
    draws = deadlocked[drawn.index].groupby([drawn["study"], drawn["seed"]]).any()
    return Cost(
        scheme,
        control=1e3 * sum(total(name) for name in CONTROL) / hops,
        lost=1e6 * total("dropped_frames") / hops,
        paused=total("pause_time_ps") / (total("end_ps") or math.nan),
        buffer=float((own["peak_buffer_bytes"] / own[BUFFER_SIZE]).mean()),
        cyclic=len(cyclic),
        unjudged=int(unjudged.sum()),
        deadlocks=int(deadlocked.sum()),
        settings=len(settings),
        struck=int(settings.sum()),
        draws=len(draws),
        hits=int(draws.sum()),
        share=clopper_pearson(int(draws.sum()), len(draws)),
        stuck=int((cyclic["deadlocked_at_end"] > 0).sum()),
        unfinished=int((own["flows_unfinished"] > 0).sum()),
        runs=len(own),
    )


def frame_of(compared: Sequence[Compared]) -> DataFrame:
    """Return everything compared as one table, one line per row and scheme."""
    import pandas as pd

    lines: list[dict[str, Any]] = [
        {
            "study": one.row.study,
            "scene": one.row.scene,
            "row": one.row.label,
            "scheme": answer.scheme,
            "mean": answer.mean.mean,
            "low": answer.mean.low,
            "high": answer.mean.high,
            "seeds": answer.mean.n,
            "reference": one.reference,
            "ratio": answer.ratio.mean,
            "ratio_low": answer.ratio.low,
            "ratio_high": answer.ratio.high,
            "standing": answer.standing,
            "stuck": answer.stuck,
        }
        for one in compared
        for answer in one.answers
    ]
    return pd.DataFrame(lines)
