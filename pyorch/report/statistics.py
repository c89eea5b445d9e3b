"""Estimates from the runs of one setting: a mean or a share, and its interval or why it has none.

n always means independent draws: runs of one setting that differ in their seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pyorch.metrics.base import NON_NEGATIVE, UNLIMITED

CONFIDENCE = 0.95
NEGLIGIBLE = 0.01
"""Differences up to this share of the best mean decide nothing, however certain they are."""
Standing = Literal["best", "equal", "worse", "not decided", "no value"]
"""What the seeds say about a scheme, against the one with the best mean.

equal: the interval of the difference lies within NEGLIGIBLE of the best mean; worse: it lies
entirely outside; not decided: neither, or fewer than two seeds; no value: nothing to compare.
"""
_SAME = 1e-12  # closer values differ by no more than the rounding of a division


def _t_within(angle: float, degrees: int) -> float:
    """P(|T| <= sqrt(degrees) tan(angle)) for Student's t with whole degrees of freedom.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2 == 1
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(degrees // 2):
        total += term
        term *= cosine * cosine * ((2 * k + 2) / (2 * k + 3) if odd else (2 * k + 1) / (2 * k + 2))
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


@lru_cache(maxsize=256)
def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided critical value of Student's t: 12.706 for 1 degree of freedom at 95 %."""
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, degrees) < confidence else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def clopper_pearson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact two-sided interval of a share of `hits` in `n` independent draws.

    Clopper, Pearson: The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934. (0, 1) of no draw.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _root(lambda p: _at_least(hits, n, p) - tail)
    high = 1.0 if hits == n else _root(lambda p: tail - (1 - _at_least(hits + 1, n, p)))
    return low, high


def _at_least(hits: int, n: int, p: float) -> float:
    """P(X >= hits) of a binomial X with 0 < p < 1."""
    parts = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(hits, n + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, parts))


def _root(rising: Callable[[float], float]) -> float:
    """Where in (0, 1) an increasing function is 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


Spread = Literal["fixed", "equal", "single", "mean", "share"]
"""The role of chance in a setting.

fixed: its runs use no random numbers, so their seeds make no difference. equal: they may, but all
gave the same. single: one run, which says nothing about others. mean: Student-t interval; none if a
value is infinite. share: for a metric that is 0 or 1 in each run, Clopper-Pearson interval.
"""


@dataclass(frozen=True)
class Estimate:
    """Mean of n independent draws, and its 95 % interval: NaN if the interval is unknown.

    low and high lie within the limits of the quantity: no time is below 0, no share above 1. If all
    runs gave the same value they equal the mean; `spread` says why, and no output shows a "± 0".
    """

    mean: float
    low: float
    high: float
    n: int
    spread: Spread = "mean"

    @property
    def half_width(self) -> float:
        """Half of the interval's length (NaN where there is none)."""
        return (self.high - self.low) / 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the mean is the middle of its interval."""
        above, below = self.high - self.mean, self.mean - self.low
        return math.isclose(above, below, rel_tol=1e-9, abs_tol=1e-12 * abs(self.mean))

    @property
    def hits(self) -> int:
        """For a share: how many draws gave 1."""
        return round(self.mean * self.n)


@dataclass(frozen=True)
class Nature:
    """What is known about a metric before it is measured, which decides how to estimate it.

    fixed: the runs use no random numbers. yes_no: each run gives 0 or 1. limits: those of its
    values; without effect if one lies beyond them.
    """

    fixed: bool = False
    yes_no: bool = False
    limits: tuple[float, float] = UNLIMITED


NEVER_NEGATIVE = Nature(limits=NON_NEGATIVE)
"""Of a time, bytes, a rate or a count."""


def estimate(values: Iterable[float | None], nature: Nature = Nature()) -> Estimate:
    """Estimate from the values present; missing ones (None, NaN) do not count in n."""
    kept = [float(v) for v in values if v is not None and not math.isnan(v)]
    n = len(kept)
    none = (math.nan, math.nan)
    if n == 0:
        return Estimate(math.nan, *none, 0, "single")
    if all(math.isclose(value, kept[0], rel_tol=_SAME) for value in kept):
        if nature.yes_no and not nature.fixed and n > 1 and kept[0] in (0, 1):
            return Estimate(kept[0], *clopper_pearson(int(kept[0]) * n, n), n, "share")
        spread: Spread = "fixed" if nature.fixed else "equal" if n > 1 else "single"
        ends = none if spread == "single" else (kept[0], kept[0])
        return Estimate(kept[0], *ends, n, spread)
    mean = math.fsum(kept) / n if all(map(math.isfinite, kept)) else math.inf
    if not math.isfinite(mean):
        return Estimate(mean, *none, n)
    if nature.yes_no and set(kept) <= {0, 1}:
        return Estimate(mean, *clopper_pearson(round(sum(kept)), n), n, "share")
    variance = math.fsum((v - mean) ** 2 for v in kept) / (n - 1)
    half = t_quantile(n - 1) * math.sqrt(variance / n)
    low, high = nature.limits
    if min(kept) < low or max(kept) > high:
        low, high = UNLIMITED
    return Estimate(mean, max(mean - half, low), min(mean + half, high), n)


def standing_of(difference: Estimate, bound: float) -> Standing:
    """Return the standing by a difference to the best, whose interval counts. bound: negligible."""
    if difference.n < 2:
        return "not decided"
    if abs(difference.mean) + difference.half_width <= bound:
        return "equal"
    return "worse" if abs(difference.mean) - difference.half_width > bound else "not decided"
