"""Metrics of flows (table `flow`, written by every run) and of the run's summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.lazy import np
from pyorch.metrics.base import (
    BETTER_NUMBERS,
    SHARE,
    YES_NO_NUMBERS,
    Better,
    Metric,
    RunTables,
    metric,
    unit_of_name,
)
from pyorch.metrics.fields import Chosen, Entry, OfClass, Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.traffic.base import Flows

    Floats = NDArray[np.float64]


def samples_needed(percentile: float, least: int | None = None) -> int:
    """How many samples a percentile needs: `least`, or ten beyond it (p99: 1,000)."""
    return math.ceil(round(1000 / (100 - percentile), 6)) if least is None else least


def percentile_of(values: Floats, percentile: float, least: int | None = None) -> float | None:
    """The nearest-rank percentile: the smallest value that p % of the samples do not exceed.

    Nearest rank, not interpolation, because unfinished flows count as +inf. None when there are
    fewer than samples_needed.
    """
    if len(values) < max(samples_needed(percentile, least), 1):
        return None
    return float(np.percentile(values, percentile, method="inverted_cdf"))


class FlowFilter(Entry):
    """Which flows a metric or a figure counts: by default all.

    `class`, `src` and `dst` (hosts), sizes from `min_size` up to below `max_size`, `traffic`
    (labels of [[traffic]] entries).
    """

    class_number: OfClass = None
    src: Chosen[str] | None = Field(default=None, description="Hosts that send; none: all.")
    dst: Chosen[str] | None = Field(default=None, description="Hosts that receive; none: all.")
    min_size: Size | None = Field(default=None, description="Flows from this size on.")
    max_size: Size | None = Field(default=None, description="Flows below this size.")
    traffic: Chosen[str] | None = Field(
        default=None, description="Labels of [[traffic]] entries; none: all."
    )

    def _mask(self, run: RunTables) -> NDArray[np.bool_] | None:
        """Rows of table `flow` that pass the filters; None when a host does not exist."""
        table = run.find_table("flow")
        if table is None:
            return None
        size = np.asarray(table["size_bytes"])
        mask = np.ones(len(size), dtype=bool)
        numbers = {name: number for number, name in enumerate(run.nodes)}
        for column, hosts in (("src", self.src), ("dst", self.dst)):
            if hosts is None:
                continue
            if not set(hosts) <= set(numbers):
                return None
            mask &= np.isin(np.asarray(table[column]), [numbers[host] for host in hosts])
        if self.class_number is not None:
            mask &= np.asarray(table["class"]) == self.class_number
        if self.min_size is not None:
            mask &= size >= self.min_size
        if self.max_size is not None:
            mask &= size < self.max_size
        if self.traffic is not None:
            groups = self._groups(run.flows)
            if not groups:
                return None
            mask &= np.isin(run.flows.groups, groups)
        return mask

    def counted(self, flows: Flows) -> NDArray[np.bool_]:
        """Which flows of a plan it may count, regardless of their hosts."""
        mask = flows.sizes > 0
        if self.class_number is not None:
            mask &= flows.classes == self.class_number
        if self.min_size is not None:
            mask &= flows.sizes >= self.min_size
        if self.max_size is not None:
            mask &= flows.sizes < self.max_size
        if self.traffic is not None:
            mask &= np.isin(flows.groups, self._groups(flows))
        return mask

    def _groups(self, flows: Flows) -> list[int]:
        """Numbers of the [[traffic]] entries in `traffic`."""
        chosen = self.traffic or ()
        return [number for number, label in enumerate(flows.labels) if label in chosen]

    def finite(self, run: RunTables) -> NDArray[np.bool_] | None:
        """Rows of finite flows that start in the measured period, or never started."""
        mask = self._mask(run)
        table = run.find_table("flow")
        if mask is None or table is None:
            return None
        starts = np.asarray(table["start_ps"])
        settings = run.setting.run
        measured = (starts >= settings.warmup) & (starts < settings.duration)
        measured |= starts < 0  # what it waits for never finished, so it counts as unfinished
        return np.asarray(mask & measured & (np.asarray(table["size_bytes"]) > 0), dtype=bool)


Until = Literal["received", "acked"]
"""When a flow is complete: its last bit is at the receiver, or its last ACK at the sender."""
_ENDS: dict[Until, tuple[str, str]] = {
    "received": ("finish_ps", "ideal_ps"),
    "acked": ("acked_ps", "ideal_acked_ps"),
}


def flow_times(
    table: object, mask: NDArray[np.bool_], slowdown: bool, until: Until = "received"
) -> Floats:
    """Completion times [ps], or slowdowns, of the chosen flows; +inf where unfinished.

    The slowdown of a flow without an ideal time (there was no path when it began) is NaN.
    """
    start, end, ideal = (
        np.asarray(table[name])[mask]  # type: ignore[index]
        for name in ("start_ps", *_ENDS[until])
    )
    times = (end - start).astype(np.float64)
    if slowdown:
        shortest = ideal.astype(np.float64)
        times = times / np.where(shortest > 0, shortest, np.nan)
    return np.where(end < 0, math.inf, times)


class FlowTimes(FlowFilter, Metric):
    """Mean, or a percentile, over finite flows that start inside [warm-up, duration).

    Unfinished flows count as +inf, in the mean and where a percentile reaches them: otherwise a
    scheme would look better the fewer flows finish. A percentile needs `min_flows` flows, by
    default enough for ten beyond it, else it is None. With `until = "acked"` a flow is
    complete when its sender has its last ACK, else when its receiver has its last bit.
    """

    BETTER: ClassVar[Better] = "lower"
    percentile: float | None = Field(
        default=None, gt=0, lt=100, description="By nearest rank; none: the mean."
    )
    min_flows: int | None = Field(
        default=None,
        ge=1,
        description="Flows that a percentile needs; none: enough for ten beyond it.",
    )
    until: Until | None = Field(
        default=None,
        description="When a flow is complete: its last bit is received (none), or its last "
        "ACK is at the sender.",
    )

    @model_validator(mode="after")
    def _check(self) -> FlowTimes:
        if self.min_flows is not None and self.percentile is None:
            raise ValueError("'min_flows' needs 'percentile'")
        return self

    def _statistic(self, run: RunTables, slowdown: bool) -> float | None:
        mask, table = self.finite(run), run.find_table("flow")
        if mask is None or table is None:
            return None
        values = flow_times(table, mask, slowdown, self.until or "received")
        values = values[~np.isnan(values)]
        if self.percentile is not None:
            return percentile_of(values, self.percentile, self.min_flows)
        return float(values.mean()) if len(values) else None


@metric
class FctSlowdown(FlowTimes):
    """Flow completion time over the ideal one."""

    UNIT: ClassVar[str] = "1"
    kind: Literal["fct_slowdown"] = "fct_slowdown"

    @override
    def value(self, run: RunTables) -> float | None:
        return self._statistic(run, slowdown=True)


@metric
class Fct(FlowTimes):
    """Flow completion time [ps]."""

    UNIT: ClassVar[str] = "ps"
    kind: Literal["fct"] = "fct"

    @override
    def value(self, run: RunTables) -> float | None:
        return self._statistic(run, slowdown=False)


class GoodputFilter(FlowFilter, Metric):
    """Delivered payload over the time a flow was active, by flow [bit/s].

    A flow is active from its start to its finish, or to the run's end. `flows` picks flow
    numbers; greedy flows count as well.
    """

    BETTER: ClassVar[Better] = "higher"
    flows: Chosen[int] | None = Field(default=None, description="Numbers of flows; none: all.")

    def rows(self, run: RunTables) -> tuple[Floats, Floats, Floats] | None:
        """(delivered bits, start [ps], end [ps]) of every chosen flow; None when there is none."""
        mask, table = self._mask(run), run.find_table("flow")
        if mask is None or table is None:
            return None
        if self.flows is not None:
            mask = mask & np.isin(np.asarray(table["flow"]), self.flows)
        bits = np.asarray(table["delivered_bytes"])[mask].astype(np.float64) * 8
        start = np.maximum(np.asarray(table["start_ps"])[mask], 0).astype(np.float64)
        finish = np.asarray(table["finish_ps"])[mask].astype(np.float64)
        end = np.where(finish < 0, run.end_ps, finish)
        active = end > start
        return (bits[active], start[active], end[active]) if active.any() else None


@metric
class Goodput(GoodputFilter):
    """Goodput of the chosen flows [bit/s].

    `of = "total"`: all delivered payload from the first start to the last end; "mean", "min",
    "max": over the goodput of single flows.
    """

    UNIT: ClassVar[str] = "bit/s"
    kind: Literal["goodput"] = "goodput"
    of: Literal["total", "mean", "min", "max"] = Field(
        default="total", description="Of all flows together, or over those of single flows."
    )

    @override
    def value(self, run: RunTables) -> float | None:
        rows = self.rows(run)
        if rows is None:
            return None
        bits, start, end = rows
        if self.of == "total":
            return float(bits.sum() * 1e12 / (end.max() - start.min()))
        return float(getattr(bits * 1e12 / (end - start), self.of)())


@metric
class Fairness(GoodputFilter):
    """Jain's index of the goodputs of the chosen flows, from 1/n to 1.

    Jain, Chiu, Hawe: A quantitative measure of fairness, DEC TR-301, 1984.
    """

    LIMITS: ClassVar[tuple[float, float]] = SHARE
    UNIT: ClassVar[str] = "1"
    kind: Literal["fairness"] = "fairness"

    @override
    def value(self, run: RunTables) -> float | None:
        rows = self.rows(run)
        if rows is None:
            return None
        goodput = rows[0] / (rows[2] - rows[1])
        squares = float((goodput**2).sum())
        return float(goodput.sum()) ** 2 / (len(goodput) * squares) if squares else None


@metric
class CollectiveTime(Metric):
    """From the first start to the last arrival of a [[traffic]] entry, or of one collective of it.

    `traffic`: label of the entry. `collective`: name of one collective; all
    rounds of a repeated one count together. Infinite when a message did not arrive.
    """

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "ps"
    kind: Literal["collective_time"] = "collective_time"
    traffic: str = Field(description="Label of the [[traffic]] entry.")
    collective: str | None = Field(
        default=None,
        description="Name of one of its collectives, all rounds together; none: the whole entry.",
    )

    @override
    def value(self, run: RunTables) -> float | None:

        found = run.entry(self.traffic)
        if found is None:
            return None
        number, rows, table = found
        if self.collective is not None:
            parts = run.setting.traffic[number].parts()
            if parts is None or self.collective not in parts.names:
                return None
            rows = rows[parts.of(self.collective)]
        if not len(rows):
            return None
        starts, ends = (np.asarray(table[name])[rows] for name in ("start_ps", "finish_ps"))
        unfinished = bool((ends < 0).any())
        return math.inf if unfinished else float(ends.max() - starts.min())


@metric
class SummaryNumber(Metric):
    """One of the numbers that the simulator itself gives (summary.json), by its name."""

    kind: Literal["summary"] = "summary"
    number: str = Field(description="Its name in summary.json.")

    @override
    def unit(self) -> str:
        return unit_of_name(self.number)

    @override
    def better(self) -> Better:
        return BETTER_NUMBERS.get(self.number, "")

    @override
    def yes_no(self) -> bool:
        return self.number in YES_NO_NUMBERS

    @override
    def summary_numbers(self) -> list[str]:
        return [self.number]

    @override
    def value(self, run: RunTables) -> float | None:
        value = run.number(self.number)
        return None if value is None else float(value)
