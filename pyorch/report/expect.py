"""[[expect]]: what is expected, its origin, and whether it was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from pyorch.base.lazy import pd
from pyorch.metrics import parse_quantity
from pyorch.metrics.base import NON_NEGATIVE, UNLIMITED
from pyorch.metrics.fields import Entry, EntryName, QuantityText, Where
from pyorch.report.quantities import (
    Scale,
    automatic,
    draws_text,
    scale_of_text,
    show,
    show_beside,
    show_estimate,
    show_range,
    show_text,
    unit_of,
)
from pyorch.report.select import matching
from pyorch.report.statistics import Estimate, Nature, estimate

if TYPE_CHECKING:
    from pyorch.report.data import ReportData

_NEAR = 5e-4  # parts of a bound
_FAR = 10  # times a bound: above that the exact factor says nothing more
Spell = Callable[[str | float], str]
NatureOf = Callable[[str, "pd.DataFrame"], Nature]
AGREES, DIFFERS, NOT_MEASURED = "agrees", "differs", "not measured"
NOT_COMPARABLE = "not comparable"


class ExpectModel(Entry):
    """One expectation: a metric, the runs it holds for, what is expected, and how near.

    The mean over seeds must meet all criteria: `expected` with `tolerance` or `absolute`, `min`,
    `max`, `equals`. With `claim`, which names claims of docs/published.toml, every run must.
    """

    what: str = Field(min_length=1, description="What is expected, in a sentence.")
    metric: str = Field(description="The metric.")
    where: Where = Field(
        default={},
        description="The runs it applies to, by variant and swept parameters; each of "
        "several settings must agree.",
    )
    relative_to: Where | None = Field(
        default=None,
        description="Divide by the metric of the run that has these values and is otherwise "
        'the same: { variant = "PFC" }.',
    )
    expected: QuantityText | None = Field(
        default=None, description="The number, compared by `tolerance` or `absolute`."
    )
    tolerance: float | None = Field(default=None, gt=0, description="Relative.")
    absolute: QuantityText | None = Field(default=None, description="In the unit of the metric.")
    min: QuantityText | None = Field(default=None, description="Bound, inclusive.")
    max: QuantityText | None = Field(default=None, description="Bound, inclusive.")
    equals: QuantityText | None = Field(default=None, description="The exact number.")
    status: Literal["verified", "derived", "fluid model", "ours"] = Field(
        default="ours",
        description="Origin: read in the source, computed from its numbers, from a fluid "
        "model, or one's own criterion.",
    )
    source: str = Field(
        default="",
        description="Figure and page, or what the number follows from; needed unless "
        "`status` is 'ours'.",
    )
    fails: bool = Field(
        default=True, description="False: a difference is shown but does not fail the experiment."
    )
    decides: bool = Field(
        default=True, description="False: it is no evidence for or against a figure's `finding`."
    )
    comparable: bool = Field(
        default=True,
        description="False: the numbers are shown side by side without a verdict; needs `why`.",
    )
    why: str = Field(
        default="", description="Why the measurement differs, or cannot be compared, in a sentence."
    )
    says: str = Field(
        default="", description="The source's words, where the bound is our own criterion."
    )
    printed: bool = Field(
        default=False, description="The bound is printed in the source, not our interpretation."
    )
    claim: EntryName | list[EntryName] = Field(
        default=[],
        description="The claims of a document that it tests; then every run must meet the "
        "criteria.",
    )
    average: bool = Field(
        default=False, description="The claim is about a mean or a share, so the mean is judged."
    )

    @property
    def claims(self) -> list[str]:
        """The claims that it tests."""
        return [self.claim] if isinstance(self.claim, str) else self.claim

    @model_validator(mode="after")
    def _check(self) -> ExpectModel:
        if self.tolerance is not None and self.absolute is not None:
            raise ValueError("give 'tolerance' (relative) or 'absolute', not both")
        near = self.tolerance is not None or self.absolute is not None
        if near and self.expected is None:
            raise ValueError("'tolerance' and 'absolute' need 'expected'")
        if self.tolerance is not None and parse_quantity(self.expected or 0).value == 0:
            raise ValueError("a relative 'tolerance' of 0 means nothing; use 'absolute'")
        if not near and self.min is None and self.max is None and self.equals is None:
            raise ValueError(
                "no criterion: give 'expected' with 'tolerance' or 'absolute', "
                "or 'min', 'max' or 'equals'"
            )
        if self.status != "ours" and not self.source:
            raise ValueError(
                f"status = \"{self.status}\" needs 'source': where the number comes from; without "
                "both the criterion is yours"
            )
        bounds = any(bound is not None for bound in (self.min, self.max, self.equals))
        if self.printed and not (bounds and self.status == "verified"):
            raise ValueError(
                "'printed' needs a bound that was read in the source (status = \"verified\")"
            )
        if not self.comparable and not self.why:
            raise ValueError(
                "'comparable = false' needs 'why': the reason why they cannot be compared"
            )
        return self

    @model_validator(mode="after")
    def _check_numbers(self) -> ExpectModel:
        if self.absolute is not None and parse_quantity(self.absolute).value < 0:
            raise ValueError(
                f"'absolute' is a distance and cannot be below 0 (got {self.absolute})"
            )
        if self.relative_to is not None and not self.relative_to:
            raise ValueError("'relative_to' names no variant or parameter to compare with")
        units = {parse_quantity(v).unit for v in self.numbers() if isinstance(v, str)}
        if self.relative_to is not None and units - {"1"}:
            raise ValueError("with 'relative_to' the numbers have no unit: they are ratios")
        if len(units) > 1:
            raise ValueError(f"the numbers have different units: {', '.join(sorted(units))}")
        if self.min is not None and self.max is not None:
            low, high = parse_quantity(self.min), parse_quantity(self.max)
            if low.value > high.value:
                raise ValueError(f"'min' is above 'max': {self.min} and {self.max}")
        return self

    def numbers(self) -> list[str | float]:
        """Every number of the entry that is in the metric's unit, as written."""
        values = (self.expected, self.absolute, self.min, self.max, self.equals)
        return [value for value in values if value is not None]

    def unit(self) -> str | None:
        """Base unit in which the numbers are written; None when all are pure numbers."""
        texts = [value for value in self.numbers() if isinstance(value, str)]
        return parse_quantity(texts[0]).unit if texts else None

    def holds(self, value: float) -> bool:
        """Whether a measured value [base unit] meets every criterion."""
        checks = []
        if self.expected is not None and (self.tolerance or self.absolute is not None):
            expected = parse_quantity(self.expected).value
            near = self.tolerance and self.tolerance * abs(expected)
            near = parse_quantity(self.absolute).value if self.absolute is not None else near
            checks.append(abs(value - expected) <= (near or 0.0))
        if self.min is not None:
            checks.append(value >= parse_quantity(self.min).value)
        if self.max is not None:
            checks.append(value <= parse_quantity(self.max).value)
        if self.equals is not None:
            checks.append(value == parse_quantity(self.equals).value)
        return all(checks)

    def judged(self, values: Sequence[float], mean: float) -> tuple[float, ...]:
        """The values of a setting that must meet it: the mean and, for a claim, every run."""
        each = bool(self.claims) and not self.average
        return (mean, *values) if each else (mean,)

    def room(self, value: float) -> tuple[float, float, float] | None:
        """(how far a value lies within the nearest bound, that bound, the value) [unit].

        Beyond the bound the first is below 0.

        None without a bound that leaves room: what must be equal to a number has none.
        """
        found = []
        if self.min is not None:
            limit = parse_quantity(self.min).value
            found.append((value - limit, limit, value))
        if self.max is not None:
            limit = parse_quantity(self.max).value
            found.append((limit - value, limit, value))
        return min(found, default=None)

    def quoted(self) -> str:
        """What the source itself says: `says`, else its number; "" if all bounds are ours."""
        if self.says or self.expected is None or self.status != "verified":
            return self.says
        return show_text(self.expected)

    def origin(self) -> str:
        """The origin of the criterion: "published", "derived", "fluid model" or "ours".

        A bound that we set for words of a source is ours, however close to them.
        """
        if self.status != "verified":
            return self.status
        return "published" if self.expected is not None or self.printed else "ours"

    def judged_by(self) -> str:
        """What counts as agreement, with its origin: "75 KB (published) ± 2 % (ours)"."""
        return with_origin(self.criterion(), self.origin())

    def wanted(self, spell: Spell = show_text) -> str:
        """Return the number, or the bounds, with their origin: "published 75 KB"."""
        number = self.criterion(spell) if self.expected is None else spell(self.expected)
        return f"{self.origin()} {number}"

    def criterion(self, spell: Spell = show_text) -> str:
        """What counts as agreement, as text: "75 KB ± 2 %", "≤ 80 KB"."""
        parts = []
        if self.expected is not None:
            near = f" ± {self.tolerance * 100:g} %" if self.tolerance is not None else ""
            near = f" ± {spell(self.absolute)}" if self.absolute is not None else near
            parts.append(spell(self.expected) + near)
        if self.equals is not None:
            parts.append(f"= {spell(self.equals)}")
        if self.min is not None:
            parts.append(f"≥ {spell(self.min)}")
        if self.max is not None:
            parts.append(f"≤ {spell(self.max)}")
        return ", ".join(parts)


def with_origin(criterion: str, origin: str) -> str:
    """A criterion with the origin of its number; the tolerance is ours: no source states it."""
    number, near, tolerance = criterion.partition(" ± ")
    if near and origin != "ours":
        return f"{number} ({origin}) ± {tolerance} (ours)"
    return f"{criterion} ({origin})" if criterion else ""


@dataclass(frozen=True)
class Cell:
    """One setting that an expectation was judged in, identified by its columns.

    found: None if a run has no value, since a mean over the others would hide that. judged: what
    had to meet the criteria, each run or their mean.
    """

    setting: Mapping[str, Any]
    found: Estimate | None
    holds: bool
    judged: tuple[float, ...] = ()


@dataclass(frozen=True)
class Result:
    """An expectation and its result.

    cells: one per setting (parameters other than the seed). failed: the experiment fails because of
    it.
    """

    expect: ExpectModel
    cells: tuple[Cell, ...]
    verdict: str
    failed: bool
    unit: str

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """What was measured, one per setting in which every run has a value."""
        return tuple(cell.found for cell in self.cells if cell.found is not None)

    @property
    def missing(self) -> int:
        """Settings in which runs were made but the metric has no value."""
        return sum(cell.found is None for cell in self.cells)

    def _worst(self) -> Estimate | None:
        expected = self.expect.expected
        if not self.estimates:
            return None
        if expected is None:
            return self.estimates[0]
        target = parse_quantity(expected).value
        return max(self.estimates, key=lambda found: abs(found.mean - target))

    def _scale(self) -> Scale:
        written = [scale_of_text(number) for number in self.expect.numbers()]
        known = [found for found in written if found is not None]
        return known[0] if known else automatic(self.unit, [e.mean for e in self.estimates])

    def measured(self) -> str:
        """The mean with its interval, or the range of means over several settings, with counts.

        "75.0 ± 2.5 KB (n = 3)", "4.998 to 5.001 Gb/s (3 settings, 1 run each)".
        """
        if not self.estimates:
            return "–"
        if len(self.estimates) == 1:
            return show_estimate(self.estimates[0], self.unit, self._scale())
        ordered = sorted(self.estimates, key=lambda found: found.mean)
        both = show_range(ordered[0], ordered[-1], self.unit, self._scale())
        return f"{both} ({draws_text(self.estimates)})"

    def wanted(self) -> str:
        """What is expected, as `ExpectModel.wanted`, in the unit of what was measured."""
        if not self.estimates:
            return self.expect.wanted()
        means = [found.mean for found in self.estimates]
        shown = unit_of(self.estimates, self.unit, self._scale())
        return self.expect.wanted(lambda text: show_beside(text, means, shown))

    def margin(self) -> str:
        """How far from the bounds the worst run was: "14 % within"; "" for other criteria.

        A bound says little unless the runs are far from it, especially one of ours.
        """
        expect = self.expect
        rooms = [expect.room(value) for cell in self.cells for value in cell.judged]
        nowhere = (math.nan, 0.0, math.nan)
        room, limit, worst = min((room for room in rooms if room is not None), default=nowhere)
        nothing = expect.min is None and worst == 0  # none at all, and at most something
        if math.isnan(room) or nothing:
            return ""
        side = "within" if room >= 0 else "beyond"
        if not math.isfinite(room):
            return f"infinitely far {side}"
        share = abs(room / limit) if limit else math.nan
        if math.isnan(share):
            return f"{show(abs(room), self.unit, self._scale(), digits=2)} {side}"
        if share < _NEAR:
            return "at the bound"
        if share < 1 or worst < limit:  # 0 is 100 % below a lower bound, not two times it
            percent = show(100 * share, "1", digits=2)
            return f"{percent} % {side}"
        times = f"{1 + share:.2g}" if share < _FAR else f"more than {_FAR}"
        return f"{times} times the bound"

    def difference(self) -> str:
        """How far the worst setting is from the number, or from the bound that it breaks.

        Where all bounds hold, how much room is left: `margin`.
        """
        worst, wanted = self._worst(), self.expect.expected
        bound = wanted is None
        if bound:
            worst, wanted = self._broken()
        if worst is None or wanted is None:
            return self.margin() or "–"
        target = parse_quantity(wanted).value
        change = worst.mean - target
        if target and abs(change) < 1e-4 * abs(target):
            return "beyond the bound by less than 0.01 %" if bound else "< 0.01 %"
        sign = "+" if change > 0 else "−" if change < 0 else ""
        text = sign + show(abs(change), self.unit, self._scale(), digits=3)
        if not target or not math.isfinite(change):
            return text
        share = abs(change / target)
        if share >= 0.995 and change > 0:
            return f"{text} ({show(worst.mean / target, '1', digits=2)} times)"
        return f"{text} ({sign}{show(100 * share, '1', digits=2)} %)"

    def _broken(self) -> tuple[Estimate | None, str | float | None]:
        """The bound broken by most, and the estimate that does; (None, None) when all hold."""
        expect = self.expect
        found: list[tuple[float, Estimate, str | float]] = []
        for bound, sign in ((expect.min, -1), (expect.max, 1), (expect.equals, 0)):
            if bound is not None:
                limit = parse_quantity(bound).value
                for one in self.estimates:
                    beyond = abs(one.mean - limit) if sign == 0 else sign * (one.mean - limit)
                    found.append((beyond, one, bound))
        worst = max(found, key=lambda entry: entry[0], default=None)
        return (worst[1], worst[2]) if worst is not None and worst[0] > 0 else (None, None)

    def row(self) -> dict[str, Any]:
        """The result as one row of expectations.csv and .json; numbers in base units."""
        worst, expect = self._worst(), self.expect
        expected = None if expect.expected is None else parse_quantity(expect.expected).value
        return {
            "what": expect.what,
            "metric": expect.metric,
            "where": expect.where,
            "expected": expected,
            "criterion": expect.criterion(),
            "origin": expect.origin(),
            "measured": _finite(worst.mean) if worst else None,
            "low": _finite(worst.low) if worst else None,
            "high": _finite(worst.high) if worst else None,
            "of": draws_text(self.estimates) if self.estimates else "",
            "margin": self.margin(),
            "runs": sum(found.n for found in self.estimates),
            "settings": len(self.estimates),
            "unit": self.unit,
            "verdict": self.verdict,
            "fails_experiment": self.failed,
            "source": expect.source,
            "why": expect.why,
        }


def _finite(value: float) -> float | None:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def evaluate(
    expects: Sequence[ExpectModel],
    runs: pd.DataFrame,
    units: Mapping[str, str],
    settings: Sequence[str],
    nature: NatureOf = lambda _metric, _runs: Nature(),
) -> list[Result]:
    """Judge every expectation.

    runs: one row per finished run. units: base unit of every metric. settings: the columns that
    distinguish settings (variant and parameters). nature: what is known about a metric in some
    runs.
    """
    return [_evaluate(expect, runs, units, settings, nature) for expect in expects]


def judge(expects: Sequence[ExpectModel], data: ReportData) -> list[Result]:
    """Judge every expectation of an experiment by its finished runs."""
    return evaluate(expects, data.runs, data.units, data.settings, data.nature)


def agreed_metrics(results: Sequence[Result]) -> dict[str, bool]:
    """Return for every metric with an expectation that decides whether all these agree."""
    agreed: dict[str, bool] = {}
    for result in results:
        if not result.expect.decides:
            continue
        metric = result.expect.metric
        agreed[metric] = agreed.get(metric, True) and result.verdict == AGREES
    return agreed


def _relative(
    rows: pd.DataFrame,
    runs: pd.DataFrame,
    metric: str,
    other: Where,
    settings: Sequence[str],
    *,
    shares: bool,
) -> pd.DataFrame:
    """Return the rows with the metric divided by that of the runs to compare with.

    A run is compared with the one of the same seed and settings except those that `other` names;
    without exactly one such run the ratio has no value. Where there is one, but its metric has
    nothing to measure (no deadlock, whose detection could take time), the pair is left out. With
    `shares`, for a metric that is 0 or 1 in each run, it is compared with the share over all seeds,
    because 0 of 0 says nothing.
    """
    if metric not in rows:
        return rows
    names = settings if shares else (*settings, "seed")
    same = [name for name in names if name not in other and name in runs]
    others = matching(runs, other)
    values: dict[tuple[str, ...], list[float]] = {}
    for *key, value in zip(*_texts(others, same), others[metric].astype(float), strict=True):
        values.setdefault(tuple(key), []).append(value)
    bases = {
        key: sum(found) / len(found) for key, found in values.items() if shares or len(found) == 1
    }
    ratios, pairs = [], []
    for *key, value in zip(*_texts(rows, same), rows[metric].astype(float), strict=True):
        base = bases.get(tuple(key), 0.0)
        ratios.append(value / base if base and math.isfinite(base) else math.nan)
        pairs.append(not math.isnan(base))
    return rows.assign(**{metric: ratios})[pairs]


def _texts(rows: pd.DataFrame, names: Sequence[str]) -> list[list[str]]:
    return [rows[name].astype(str).tolist() for name in names]


def _evaluate(
    expect: ExpectModel,
    runs: pd.DataFrame,
    units: Mapping[str, str],
    settings: Sequence[str],
    nature: NatureOf,
) -> Result:
    rows = matching(runs, expect.where)
    if expect.relative_to is not None:
        shares = nature(expect.metric, rows).yes_no
        other = expect.relative_to
        rows = _relative(rows, runs, expect.metric, other, settings, shares=shares)
    cells: list[Cell] = []
    if len(rows):
        keys = [rows[name].astype(str) for name in settings]
        parts = (
            [part for _, part in rows.groupby(keys, sort=False, dropna=False)] if keys else [rows]
        )
        cells = [_cell(expect, part, settings, nature) for part in parts]
    missing = sum(cell.found is None for cell in cells)
    estimates = len(cells) - missing
    agrees = all(cell.holds for cell in cells if cell.found is not None)
    verdict = AGREES if agrees else DIFFERS
    if agrees and (missing or not estimates):
        verdict = NOT_MEASURED
    if not expect.comparable and estimates:
        verdict = NOT_COMPARABLE
    failed = expect.fails and (verdict == DIFFERS or (verdict == NOT_MEASURED and missing > 0))
    unit = units.get(expect.metric) or expect.unit() or "1"
    unit = "1" if expect.relative_to is not None else unit
    return Result(expect, tuple(cells), verdict, failed, unit)


def _of_ratio(known: Nature) -> tuple[float, float]:
    """The limits of a ratio of two values of a quantity."""
    return NON_NEGATIVE if known.limits[0] >= 0 else UNLIMITED


def _cell(
    expect: ExpectModel, part: pd.DataFrame, settings: Sequence[str], nature: NatureOf
) -> Cell:
    """Judge one setting. A metric without a value in one of the runs was not measured there."""
    values = list(part.get(expect.metric, ()))
    known, shares = nature(expect.metric, part), False
    if expect.relative_to is not None:
        shares, known = known.yes_no, Nature(fixed=known.fixed, limits=_of_ratio(known))
    found = estimate(values, known)
    if shares and found.spread == "mean":  # the base is uncertain as well
        found = replace(found, low=math.nan, high=math.nan)
    setting = {name: part.iloc[0][name] for name in settings}
    if found.n < len(part):
        return Cell(setting, None, holds=False)
    judged = expect.judged([float(value) for value in values], found.mean)
    return Cell(setting, found, all(map(expect.holds, judged)), judged)
