"""Numbers for people: axis units and short spellings of sizes, rates and times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator

from pyorch.base.units import RATES, SIZES, TIMES
from pyorch.metrics import Quantity, parse_quantity
from pyorch.report.statistics import Estimate


@dataclass(frozen=True)
class Scale:
    """A unit to show values in: value in base units / factor, with this label."""

    factor: float
    label: str


_LABELS = {"us": "µs", "bps": "b/s", "kbps": "kb/s", "Mbps": "Mb/s", "Gbps": "Gb/s", "Tbps": "Tb/s"}
_FAMILIES = {"B": SIZES, "bit/s": RATES, "ps": TIMES}
_AUTOMATIC = {
    "B": ("B", "KB", "MB", "GB", "TB"),
    "bit/s": ("bps", "kbps", "Mbps", "Gbps", "Tbps"),
    "ps": ("ps", "ns", "us", "ms", "s"),
}
UNITS = {name: base for base, family in _FAMILIES.items() for name in family} | {"%": "1", "1": "1"}
"""Every unit that an axis may have, and its base unit."""


def _check_unit(value: str) -> str:
    if value not in UNITS:
        raise ValueError(f"'{value}' is not a unit of an axis; allowed: {', '.join(UNITS)}")
    return value


AxisUnit = Annotated[str, AfterValidator(_check_unit)]
"""A unit as it is written in a file: "KB", "Gbps", "us", "%"."""


def scale(unit: str) -> Scale:
    """The scale of a unit by its name in a file."""
    if unit in ("1", "%"):
        return Scale(0.01, "%") if unit == "%" else Scale(1, "")
    return Scale(_FAMILIES[UNITS[unit]][unit], _LABELS.get(unit, unit))


def automatic(base: str, values: Iterable[float]) -> Scale:
    """The decimal unit in which the largest of the values is a number from 1 up."""
    if base not in _AUTOMATIC:
        return Scale(1, "")
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0)
    best = scale(_AUTOMATIC[base][0])
    for unit in _AUTOMATIC[base]:
        if largest >= scale(unit).factor:
            best = scale(unit)
    return best


def scale_of_text(text: str | float) -> Scale | None:
    """The scale in which a quantity was written ("75KB" -> KB); None for a pure number."""
    match = re.search(r"[A-Za-z/%]+$", text.strip()) if isinstance(text, str) else None
    return scale(match.group()) if match and match.group() in UNITS else None


def show(value: float, base: str, shown: Scale | None = None, digits: int = 4) -> str:
    """A value in base units with significant digits and its unit: "74.62 KB"."""
    shown = shown or automatic(base, [value])
    if math.isinf(value):
        return "∞"
    number = value / shown.factor
    text = f"{number:.{digits}g}"
    if not abs(float(text)) < 10**digits:  # rounding may have added a digit
        text = f"{number:,.0f}"
    return f"{text} {shown.label}".strip()


_TINY = 1e-7  # of the mean: further digits are meaningless


def place_of(half: float) -> int:
    """The power of ten of the second significant digit of a half width, once rounded to it.

    -1 of 2.484 (2.5), 0 of 18.14 (18) and of 9.96 (10), 2 of 1,310 (1,300).
    """
    place = math.floor(math.log10(half)) - 1
    return place + 1 if Decimal(half).scaleb(-place).quantize(Decimal(1)) == 100 else place


def rounded(value: float, place: int) -> str:
    """A value rounded to a power of ten, with all digits down to it and none below."""
    number = Decimal(value).quantize(Decimal(1).scaleb(place))
    text = f"{abs(number):,f}" if abs(number) >= 10_000 else f"{abs(number):f}"
    return f"-{text}" if number < 0 else text


def _fitting(found: Estimate, base: str, shown: Scale | None) -> Scale:
    """The requested unit, or another if the number would be far below 1 or far above 1,000."""
    largest = max(abs(found.mean), found.half_width if math.isfinite(found.half_width) else 0.0)
    if shown is None:
        return automatic(base, [largest])
    number = largest / shown.factor
    small_or_large = 0 < number < 0.1 or number >= 10_000
    return automatic(base, [largest]) if base in _AUTOMATIC and small_or_large else shown


def unit_of(means: Sequence[Estimate], base: str, shown: Scale) -> Scale:
    """The unit that a value, or the range of several, is shown in; shown: the one asked for."""
    highest = max(means, key=lambda found: found.mean)
    return _fitting(highest, base, shown) if math.isfinite(highest.mean) else shown


def show_beside(text: str | float, values: Iterable[float], shown: Scale) -> str:
    """A quantity of a file in the unit of values that it is compared with: 184444B as "184.4 KB".

    As it was written if the number would be hard to read in that unit. With all its digits if four
    might blur on which side of it a value lies.
    """
    quantity = parse_quantity(text)
    number = quantity.value / shown.factor
    if scale_of_text(text) in (shown, None) or (number and not 0.1 <= abs(number) < 10_000):
        return show_text(text)
    error = abs(float(f"{number:.4g}") * shown.factor - quantity.value)
    apart = min((abs(value - quantity.value) for value in values), default=math.inf)
    digits = 4 if 10 * error <= apart else 12
    return show(quantity.value, quantity.unit, shown, digits)


def show_value(found: Estimate, base: str, shown: Scale | None = None, digits: int = 4) -> str:
    """A mean with its interval, in digits that follow the interval: "28 ± 18 µs".

    The interval has two significant digits, the mean as many decimals. An interval cut by a limit,
    or of a share, is given by its ends: "0.02 (0 to 0.07)", "3 of 10 runs (7 to 65 %)". Without an
    interval, or with one of length 0, only the mean is given, with `digits`. shown: the unit, if
    the number is readable in it.
    """
    if found.n == 0:
        return "–"
    if found.spread == "share":
        low, high = (f"{100 * bound:.0f}" for bound in (found.low, found.high))
        return f"{found.hits} of {found.n} runs ({low} to {high} %)"
    half = found.half_width
    fit = _fitting(found, base, shown)
    if not math.isfinite(half) or half <= 0:
        return show(found.mean, base, fit, digits)
    if half < _TINY * abs(found.mean):
        return f"{show(found.mean, base, fit, digits=7)} ± less than {100 * _TINY:g} % of it"
    place = place_of(half / fit.factor)
    mean, low, high = (rounded(v / fit.factor, place) for v in (found.mean, found.low, found.high))
    width = rounded(half / fit.factor, place)
    text = f"{mean} ± {width} {fit.label}" if found.is_symmetric else ""
    return (text or f"{mean} ({low} to {high}) {fit.label}").strip()


def show_range(low: Estimate, high: Estimate, base: str, shown: Scale | None = None) -> str:
    """From the lowest mean of several settings to the highest: "4.998 to 5.001 Gb/s"."""
    if low.spread == high.spread == "share":
        ends = [f"{100 * one.mean:.3g}" for one in (low, high)]
        return f"{_either(*ends)} % of the runs"
    fit = _fitting(high, base, shown) if math.isfinite(high.mean) else shown
    fit = fit or automatic(base, [low.mean])
    ends = [show(one.mean, base, fit).removesuffix(fit.label).strip() for one in (low, high)]
    return f"{_either(*ends)} {fit.label}".strip()


def _either(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def show_estimate(found: Estimate, base: str, shown: Scale | None = None) -> str:
    """A mean with its interval and number of runs, or the reason why it has no interval.

    "28 ± 18 µs (n = 5)", "75 KB (deterministic)", "75 KB (all 3 runs equal)", "75 KB (1 run)".
    """
    text = show_value(found, base, shown)
    told = draws_text([found])
    return f"{text} ({told})" if told else text


def draws_text(found: Sequence[Estimate]) -> str:
    """The number of settings and runs behind estimates; n always counts independent draws.

    For one setting "n = 5", "deterministic", "all 3 runs equal", "1 run"; for several "3 settings,
    1 run each", "3 settings, n = 5 each". "" if the value already says so, or there is none. For
    shares also the range of the intervals: "2 settings, n = 10 each, intervals within 0 to 31 %".
    """
    if len(found) == 1:
        return _of_one(found[0])
    kinds, numbers = {one.spread for one in found}, sorted({one.n for one in found})
    n = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    if kinds == {"fixed"}:
        told = "deterministic"
    elif numbers == [1]:
        told = "1 run each"
    elif kinds <= {"fixed", "equal"}:
        told = f"in each all {n} runs equal"
    else:
        told = f"n\u00a0=\u00a0{n} each"
        if kinds == {"share"}:
            low, high = min(one.low for one in found), max(one.high for one in found)
            told += f", intervals within {100 * low:.0f} to {100 * high:.0f} %"
    return f"{len(found)} settings, {told}"


def _of_one(found: Estimate) -> str:
    if found.n == 0 or found.spread == "share":
        return ""
    if found.spread == "fixed":
        return "deterministic"
    if found.spread == "equal":
        return f"all {found.n} runs equal"
    return "1 run" if found.n == 1 else f"n\u00a0=\u00a0{found.n}"


def plain_name(name: str) -> str:
    """A column in words, for the label of an axis, without the unit that its name ends in."""
    text = re.sub(r"_(bytes|bps|ps)$", "", name.rsplit(".", maxsplit=1)[-1])
    text = text.replace("_", " ").replace("-", " ")
    return text[:1].upper() + text[1:]


def show_text(text: str | float) -> str:
    """A quantity as written in a file, in the spelling of figures and tables."""
    quantity: Quantity = parse_quantity(text)
    return show(quantity.value, quantity.unit, scale_of_text(text))
