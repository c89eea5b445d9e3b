"""Numbers for people: axis units and short spellings of sizes, rates and times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from pyorch.metrics import Quantity, parse_quantity
from pyorch.units import RATES, SIZES, TIMES


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
    """The scale in which a person wrote a quantity ("75KB" -> KB); None for a pure number."""
    match = re.search(r"[A-Za-z/]+$", text.strip()) if isinstance(text, str) else None
    return scale(match.group()) if match and match.group() in UNITS else None


def show(value: float, base: str, shown: Scale | None = None, digits: int = 4) -> str:
    """A value in base units with significant digits and its unit: "74.62 KB"."""
    shown = shown or automatic(base, [value])
    if math.isinf(value):
        return "∞"
    number = value / shown.factor
    text = f"{number:.{digits}g}" if abs(number) < 10**digits else f"{number:,.0f}"
    return f"{text} {shown.label}".strip()


def show_text(text: str | float) -> str:
    """A quantity as a person wrote it, in the spelling of figures and tables."""
    quantity: Quantity = parse_quantity(text)
    return show(quantity.value, quantity.unit, scale_of_text(text))
