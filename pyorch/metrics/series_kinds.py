"""Metrics of one port's queue or rate over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.metrics.base import UNLIMITED, Metric, RunTables, metric, unit_of_name
from pyorch.metrics.fields import (
    Need,
    OfClass,
    Port,
    QuantityText,
    Rate,
    WindowStart,
    WindowStop,
    parse_quantity,
)
from pyorch.metrics.series import rate_need, rate_series, state_series

if TYPE_CHECKING:
    from pyorch.metrics.series import Floats, Series, Times

Direction = Literal["rx", "tx"]
ONLY_COLUMN = {"queue": "bytes", "egress": "bytes", "flow_rate": "rate_bps"}
"""The column of tables with a choice."""


class SeriesMetric(Metric):
    """A metric of a series: table, column, port, class and window.

    `table = "queue"` is the ingress queue [B], `"egress"` the frames waiting to be sent; `table =
    "rate"` a port's rate [bit/s], received or sent by `column = "rx"` or "tx"; `table =
    "flow_rate"` the sum of the rates [bit/s] allowed to a host's flows; another table needs the
    name of its column. Without `class` all classes are added up. The window is [from, to), by
    default from the end of the warm-up to the end of the duration.
    """

    table: str = Field(
        default="queue",
        description="Table of the series: 'queue' (ingress bytes), 'egress' (bytes waiting "
        "to be sent), 'rate', 'flow_rate' (sum over the flows of the host of "
        "`port`), or a module's.",
    )
    column: str | None = Field(
        default=None,
        description="Its column: 'rx' (none) or 'tx' of 'rate'; needed for a module's table.",
    )
    port: Port = Field(description="The port.")
    class_number: OfClass = None
    start: WindowStart = None
    stop: WindowStop = None

    @model_validator(mode="after")
    def _check(self) -> SeriesMetric:
        check_column(self.table, self.column)
        if self.start is not None and self.stop is not None and self.start >= self.stop:
            raise ValueError("'from' must be before 'to'")
        return self

    @override
    def unit(self) -> str:
        return series_unit(self.table, self.column)

    @override
    def limits(self) -> tuple[float, float]:
        # a pure number of a module's table may be anything, such as a gradient
        return UNLIMITED if self.unit() == "1" else super().limits()

    @override
    def needs(self) -> list[Need]:
        return [series_need(self.table, self.column, self.port, self.class_number)]

    def series(self, run: RunTables) -> Series | None:
        """The whole series, or None when it was not traced."""
        return read_series(run, self.table, self.column, self.port, self.class_number)

    def pieces(self, run: RunTables) -> tuple[Times, Floats, Times] | None:
        """(begin, value, length) inside the window, or None when there is nothing in it."""
        series = self.series(run)
        if series is None:
            return None
        pieces = series.clip(*run.window(self.start, self.stop))
        return pieces if len(pieces[0]) else None

    @override
    def value(self, run: RunTables) -> float | None:
        pieces = self.pieces(run)
        return None if pieces is None else self.of(*pieces)

    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        """The value, from the pieces inside the window; there is at least one."""
        raise NotImplementedError


NO_SERIES = frozenset(
    {"pause", "drop", "flow", "control", "control_value", "detection"}
    | {"frame", "deadlock", "pause_tree"}
)
"""Tables of events rather than of a state over time."""


def check_column(table: str, column: str | None) -> None:
    """Raise ValueError unless the column can be read from the table."""
    if table == "rate" and column not in (None, "rx", "tx"):
        raise ValueError(f"'column' of table 'rate' is 'rx' or 'tx' (got '{column}')")
    only = ONLY_COLUMN.get(table)
    if only and column not in (None, only):
        raise ValueError(f"'column' of table '{table}' is '{only}' (got '{column}')")
    if table in NO_SERIES:
        raise ValueError(
            f"table '{table}' is not a series over time; use 'queue', 'egress' or 'rate'"
        )
    if table != "rate" and not only and column is None:
        raise ValueError(f"'column' is missing: which column of table '{table}'")


def series_unit(table: str, column: str | None) -> str:
    """Base unit of a series."""
    if table == "rate":
        return "bit/s"
    return unit_of_name(column or ONLY_COLUMN.get(table, "bytes"))


def series_need(table: str, column: str | None, port: str, class_number: int | None) -> Need:
    """What must be traced for a series."""
    if table == "rate":
        return rate_need(column or "rx", port, class_number)
    return Need(table, port, class_number)


def read_series(
    run: RunTables, table: str, column: str | None, port: str, class_number: int | None
) -> Series | None:
    """The series of a table; None when it was not traced."""
    if table == "rate":
        return rate_series(run, column or "rx", port, class_number)
    return state_series(run, table, column or ONLY_COLUMN[table], port, class_number)


@metric
class TimeMean(SeriesMetric):
    """Time-weighted mean."""

    kind: Literal["time_mean"] = "time_mean"

    @override
    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        return float((values * lengths).sum() / lengths.sum())


@metric
class Max(SeriesMetric):
    """Largest value."""

    kind: Literal["max"] = "max"

    @override
    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        return float(values.max())


@metric
class Min(SeriesMetric):
    """Smallest value."""

    kind: Literal["min"] = "min"

    @override
    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        return float(values.min())


@metric
class Last(SeriesMetric):
    """Value at the end of the window."""

    kind: Literal["last"] = "last"

    @override
    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        return float(values[-1])


@metric
class Swing(SeriesMetric):
    """Smallest and largest value: gives NAME_min and NAME_max."""

    kind: Literal["swing"] = "swing"

    @override
    def outputs(self) -> list[str]:
        return [f"{self.name}_min", f"{self.name}_max"]

    @override
    def values(self, run: RunTables) -> dict[str, float | None]:
        pieces = self.pieces(run)
        if pieces is None:
            return dict.fromkeys(self.outputs())
        return {
            f"{self.name}_min": float(pieces[1].min()),
            f"{self.name}_max": float(pieces[1].max()),
        }


@metric
class FirstCrossing(SeriesMetric):
    """When the series first reaches the level [ps]: >= it going "up", <= it going "down"."""

    kind: Literal["first_crossing"] = "first_crossing"
    level: QuantityText = Field(description="The level, in the unit of the series.")
    direction: Literal["up", "down"] = Field(
        default="up", description="From below (>=) or from above (<=)."
    )

    @model_validator(mode="after")
    def _check_level(self) -> FirstCrossing:
        unit, mine = parse_quantity(self.level).unit, super().unit()
        if unit not in ("1", mine):
            raise ValueError(f"'level' is in {unit}, the series is in {mine}")
        return self

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def of(self, begins: Times, values: Floats, lengths: Times) -> float | None:
        level = parse_quantity(self.level).value
        hits = values >= level if self.direction == "up" else values <= level
        return float(begins[hits.argmax()]) if hits.any() else None


class PortRate(Metric):
    """A metric of the mean rate of a port over a window: bytes of table `rate` over time."""

    port: Port = Field(description="The port.")
    direction: Direction = Field(default="rx", description="Frames received or sent.")
    class_number: OfClass = None
    start: WindowStart = None
    stop: WindowStop = None

    @override
    def needs(self) -> list[Need]:
        return [series_need("rate", self.direction, self.port, self.class_number)]

    def mean(self, run: RunTables) -> float | None:
        """Mean rate [bit/s]; None when it was not traced in the window."""
        series = read_series(run, "rate", self.direction, self.port, self.class_number)
        if series is None:
            return None
        _, values, lengths = series.clip(*run.window(self.start, self.stop))
        return float((values * lengths).sum() / lengths.sum()) if len(values) else None


@metric
class RateMean(PortRate):
    """Mean rate of a port over a window [bit/s]."""

    UNIT: ClassVar[str] = "bit/s"
    kind: Literal["rate_mean"] = "rate_mean"

    @override
    def value(self, run: RunTables) -> float | None:
        return self.mean(run)


@metric
class Utilisation(PortRate):
    """Mean rate over the rate of the link, 0 to 1.

    `rate` is the link's; without it the topology's, when it has exactly one.
    """

    UNIT: ClassVar[str] = "1"
    kind: Literal["utilisation"] = "utilisation"
    rate: Rate | None = Field(
        default=None, description="Rate of the link; none: the topology's, if it has only one."
    )

    @override
    def value(self, run: RunTables) -> float | None:
        mean = self.mean(run)
        line = self.rate if self.rate is not None else only_rate(run)
        return None if mean is None or not line else mean / line


@metric
class RateSpread(Metric):
    """How unevenly ports are loaded: the highest of their mean rates over the average.

    1 when all carry the same, n when one of n carries everything; None when they carry nothing.
    """

    UNIT: ClassVar[str] = "1"
    kind: Literal["rate_spread"] = "rate_spread"
    ports: list[Port] = Field(min_length=2, description="The ports.")
    direction: Direction = Field(default="tx", description="Frames received or sent.")
    class_number: OfClass = None
    start: WindowStart = None
    stop: WindowStop = None

    def _rates(self) -> list[PortRate]:
        return [
            RateMean.model_construct(
                name=self.name,
                port=port,
                direction=self.direction,
                class_number=self.class_number,
                start=self.start,
                stop=self.stop,
            )
            for port in self.ports
        ]

    @override
    def needs(self) -> list[Need]:
        return [need for rate in self._rates() for need in rate.needs()]

    @override
    def value(self, run: RunTables) -> float | None:
        means = [rate.mean(run) for rate in self._rates()]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means) or not sum(known):
            return None
        return max(known) * len(known) / sum(known)


def only_rate(run: RunTables) -> int | None:
    """The rate of the network's links [bit/s]; None when they have several."""
    rates = set(run.network.rates.tolist())
    return rates.pop() if len(rates) == 1 else None
