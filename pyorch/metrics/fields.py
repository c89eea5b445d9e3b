"""Field types shared by metrics, figures and expectations: values with units, ports, windows.

Nothing here imports numpy, pandas or matplotlib: the models are loaded at every start.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from pyorch.base import fields, units
from pyorch.base.errors import quoted

if TYPE_CHECKING:
    from pyorch.setting.canonical import Trace


class Entry(fields.Strict):
    """Base of metrics, figures and expectations."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)


Time = fields.Time
Size = fields.Window
Rate = fields.Rate
TrafficClass = fields.TrafficClass
OfClass = Annotated[
    TrafficClass | None, Field(alias="class", description="Traffic class; none: all, added up.")
]
"""The key `class` of a selection."""
WindowStart = Annotated[
    Time | None, Field(alias="from", description="Begin of the window; none: end of the warm-up.")
]
"""The key `from` of a metric [ps]."""
WindowStop = Annotated[
    Time | None, Field(alias="to", description="End of the window; none: end of the duration.")
]
"""The key `to` of a metric [ps]."""


def _check_port(value: str) -> str:
    node, _, peer = value.partition(":")
    if not node or not peer or ":" in peer:
        raise ValueError(
            f"a port is written 'NODE:NEIGHBOUR', for instance 's0:h0' (got '{value}')"
        )
    return value


Port = Annotated[str, AfterValidator(_check_port)]
"""The port of a node that leads to a neighbour: "s0:h0"."""
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=100)]
"""A name that is safe as a column and as a file name."""
_T = TypeVar("_T")
Chosen = Annotated[list[_T], Field(min_length=1)]
"""A selection: a list with at least one entry, because leaving the key out means all."""
_Value = str | int | float | bool
Where = dict[str, _Value | Chosen[_Value]]
"""A filter on the variant and on swept parameters: { variant = "GFC", "topology.k" = [4, 8] }.

A list selects the runs that have any of its values.
"""


@dataclass(frozen=True)
class Quantity:
    """A number in base units (B, bit/s, ps, or 1 for a pure number) and that unit."""

    value: float
    unit: str


_PERCENT = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})? ?%")


def parse_quantity(value: str | float) -> Quantity:
    """Read "75KB", "5Gbps", "54.8us", "0.5%" or a pure number.

    Raises ValueError when the text is not a size, a rate, a time, a share or a number.
    """
    if isinstance(value, (int, float)):
        try:
            return Quantity(float(value), "1")
        except OverflowError as error:
            raise ValueError("the number is too large") from error
    if not isinstance(value, str):
        raise ValueError(f"{quoted(value)} is not text or a number")
    if _PERCENT.fullmatch(value):
        return Quantity(float(Decimal(value[:-1].strip()) / 100), "1")
    for unit, (parse, _) in units.QUANTITIES.items():
        try:
            return Quantity(float(parse(value)), unit)
        except ValueError:
            continue
    raise ValueError(
        f"{quoted(value)} is neither a size ('75KB'), a rate ('5Gbps'), a time ('54.8us'), "
        "a share ('0.5%') nor a number"
    )


def _check_quantity(value: object) -> object:
    if isinstance(value, str):
        parse_quantity(value)
    elif type(value) not in (int, float) or not _is_finite(value):
        raise ValueError(
            f"a finite number, or text with its unit, is expected (got {quoted(value)})"
        )
    return value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


QuantityText = Annotated[str | int | float, BeforeValidator(_check_quantity)]
"""A finite number, or text with a unit, kept as written; see parse_quantity."""


@dataclass(frozen=True)
class Need:
    """What an entry reads from a run: a table, and, unless None, one port and one class of it.

    sampled: at intervals, not on every change.
    """

    table: str
    port: str | None = None
    class_number: int | None = None
    sampled: bool = False

    def __str__(self) -> str:
        port = "" if self.port is None else f" of port {self.port}"
        number = "" if self.class_number is None else f" and class {self.class_number}"
        period = " with a sampling period" if self.sampled else ""
        return f"table '{self.table}'{port}{number}{period}"


ALWAYS_THERE = frozenset({"flow"})
"""Tables that every run writes without a [[trace]]."""


def is_traced(need: Need, traces: Iterable[Trace]) -> bool:
    """Whether one of the traces of a run covers the need."""
    return need.table in ALWAYS_THERE or any(_covers(trace, need) for trace in traces)


def _covers(trace: Trace, need: Need) -> bool:
    return (
        trace.table == need.table
        and (need.port is None or not trace.ports or need.port.split(":") in trace.ports)
        and (need.class_number is None or not trace.classes or need.class_number in trace.classes)
        and (not need.sampled or trace.period > 0)
    )


def trace_hint(need: Need) -> str:
    """The lines of an experiment file that make a run record what is needed."""
    lines = ["add to the experiment file:", "[[trace]]", f'table = "{need.table}"']
    if need.port is not None:
        lines.append(f'ports = ["{need.port}"]')
    if need.class_number is not None:
        lines.append(f"classes = [{need.class_number}]")
    if need.sampled:
        lines.append('period = "10us"')
    return "\n".join(lines)
