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
