"""Mean and Student-t interval over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95


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


@dataclass(frozen=True)
class Estimate:
    """Mean of n values and the half width of its 95 % Student-t interval (NaN when n < 2)."""

    mean: float
    half_width: float
    n: int


def estimate(values: Iterable[float | None]) -> Estimate:
    """Estimate over the values that are there; missing ones (None, NaN) are not counted in n."""
    kept = [float(v) for v in values if v is not None and not math.isnan(v)]
    n = len(kept)
    if n == 0:
        return Estimate(math.nan, math.nan, 0)
    mean = math.fsum(kept) / n if all(map(math.isfinite, kept)) else math.inf
    if n < 2 or not math.isfinite(mean):
        return Estimate(mean, math.nan, n)
    variance = math.fsum((v - mean) ** 2 for v in kept) / (n - 1)
    return Estimate(mean, t_quantile(n - 1) * math.sqrt(variance / n), n)


def wilson(hits: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the score interval of a share of `hits` in `n`, by default of 95 % (Wilson 1927)."""
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def clopper_pearson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact two-sided interval of a share of `hits` in `n` (Clopper, Pearson 1934).

    With no hits, or nothing but hits, all of the error is on the one side that is open, so that the
    upper bound of 0 in n is 1 - 0.05^(1/n), about 3/n.
    """
    error = 1 - confidence
    tail = error if hits in (0, n) else error / 2

    def at_most(share: float, k: int) -> float:
        """P(X <= k) of a binomial X."""
        if share in (0.0, 1.0):
            return float(share == 0.0 or k >= n)
        logs = (
            math.lgamma(n + 1)
            - math.lgamma(i + 1)
            - math.lgamma(n - i + 1)
            + i * math.log(share)
            + (n - i) * math.log1p(-share)
            for i in range(k + 1)
        )
        return math.fsum(math.exp(value) for value in logs)

    def share_at(k: int, level: float) -> float:
        """The share at which P(X <= k) is `level`."""
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if at_most(middle, k) > level else (low, middle)
        return (low + high) / 2

    lower = 0.0 if hits == 0 else share_at(hits - 1, 1 - tail)
    upper = 1.0 if hits == n else share_at(hits, tail)
    return lower, upper
