"""Metrics of pause intervals (table `pause`) and of drops (table `drop`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import np
from pyorch.metrics.base import Columns, Metric, RunTables, metric
from pyorch.metrics.fields import (
    Chosen,
    Need,
    OfClass,
    Port,
    WindowStart,
    WindowStop,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Intervals = list[tuple[NDArray[np.int64], NDArray[np.int64]]]

Side = Literal["pausing", "paused"]
SIDES: dict[str, int] = {"pausing": 0, "paused": 1}
"""Column `side` of table `pause`: 0 = this port was pausing its peer, 1 = it was being paused."""


class PortFilter(Metric):
    """A metric over the rows of some ports (default: all) and one class (default: all)."""

    ports: Chosen[Port] | None = Field(
        default=None, description="The ports; none: all that are traced."
    )
    class_number: OfClass = None
    start: WindowStart = None
    stop: WindowStop = None

    def _needs(self, table: str) -> list[Need]:
        return [Need(table, port, self.class_number) for port in self.ports or (None,)]

    def _rows(self, run: RunTables, name: str) -> tuple[Columns, NDArray[np.bool_]] | None:
        """(table, mask); None when it was not traced or a port does not exist."""
        table = run.find_table(name)
        if table is None or not all(run.is_traced(need) for need in self._needs(name)):
            return None
        mask = np.full(len(np.asarray(table["node"])), not self.ports)
        for port in self.ports or ():
            ends = run.resolve(port)
            if ends is None:
                return None
            node, peer = np.asarray(table["node"]), np.asarray(table["peer"])
            mask |= (node == ends[0]) & (peer == ends[1])
        if self.class_number is not None:
            mask &= np.asarray(table["class"]) == self.class_number
        return table, mask


class PauseMetric(PortFilter):
    """A metric of pause intervals, seen from the side that pauses or that is paused."""

    UNIT: ClassVar[str] = "ps"
    side: Side = Field(
        default="pausing", description="The port pauses its neighbour, or the neighbour pauses it."
    )

    @override
    def needs(self) -> list[Need]:
        return self._needs("pause")

    def intervals(self, run: RunTables) -> Intervals | None:
        """Sorted (starts, ends) [ps] of every (port, class); None when not traced."""
        rows = self._rows(run, "pause")
        if rows is None:
            return None
        table, mask = rows
        mask = mask & (np.asarray(table["side"]) == SIDES[self.side])
        names = ("node", "peer", "class", "start_ps", "end_ps")
        data = np.column_stack([np.asarray(table[name])[mask].astype(np.int64) for name in names])
        if not len(data):
            return []
        data = data[np.lexsort(data.T[::-1][1:])]
        cuts = np.flatnonzero((np.diff(data[:, :3], axis=0) != 0).any(axis=1)) + 1
        return [(part[:, 3], part[:, 4]) for part in np.split(data, cuts)]

    def window(self, run: RunTables) -> tuple[int, int]:
        """The window [ps]."""
        return run.window(self.start, self.stop)

    @override
    def value(self, run: RunTables) -> float | None:
        intervals = self.intervals(run)
        return None if intervals is None else self.of(intervals, *self.window(run))

    def of(self, intervals: Intervals, start: int, stop: int) -> float | None:
        """The value, from the intervals of every (port, class), for a window [start, stop)."""
        raise NotImplementedError


@metric
class PauseTime(PauseMetric):
    """Paused time inside the window, summed over ports and classes [ps].

    GFC does not pause but slows a port down, which is not counted.
    """

    kind: Literal["pause_time"] = "pause_time"

    @override
    def of(self, intervals: Intervals, start: int, stop: int) -> float | None:
        return float(
            sum(
                (ends.clip(start, stop) - starts.clip(start, stop)).clip(min=0).sum()
                for starts, ends in intervals
            )
        )


@metric
class PauseCount(PauseMetric):
    """Pause intervals that begin inside the window."""

    UNIT: ClassVar[str] = "1"
    kind: Literal["pause_count"] = "pause_count"

    @override
    def of(self, intervals: Intervals, start: int, stop: int) -> float | None:
        return float(sum(((begin >= start) & (begin < stop)).sum() for begin, _ in intervals))


def _mean(parts: list[NDArray[np.int64]]) -> float | None:

    lengths = np.concatenate(parts) if parts else np.empty(0)
    return float(lengths.mean()) if len(lengths) else None


@metric
class OnTime(PauseMetric):
    """Mean length of the pause intervals that lie wholly inside the window [ps]."""

    kind: Literal["on_time"] = "on_time"

    @override
    def window(self, run: RunTables) -> tuple[int, int]:
        start, stop = super().window(run)
        return start, min(
            stop, run.end_ps - 1
        )  # an interval closed by the end of the run is cut short

    @override
    def of(self, intervals: Intervals, start: int, stop: int) -> float | None:
        return _mean(
            [(ends - begins)[(begins >= start) & (ends <= stop)] for begins, ends in intervals]
        )


@metric
class OffTime(PauseMetric):
    """Mean length of the gaps between pause intervals of a port and class in the window [ps]."""

    kind: Literal["off_time"] = "off_time"

    @override
    def of(self, intervals: Intervals, start: int, stop: int) -> float | None:
        return _mean(
            [
                (begins[1:] - ends[:-1])[(ends[:-1] >= start) & (begins[1:] <= stop)]
                for begins, ends in intervals
            ]
        )


Cause = Literal["headroom", "lossy", "no_route", "ttl", "link_down", "scheme", "corrupted"]
CAUSES: tuple[str, ...] = get_args(Cause)
"""Column `cause` of table `drop` is a place in this list (lossless::DropCause)."""


@metric
class Drops(PortFilter):
    """Dropped frames inside the window; `cause` picks one cause (default: all)."""

    UNIT: ClassVar[str] = "1"
    kind: Literal["drops"] = "drops"
    cause: Cause | None = Field(default=None, description="Only this cause; none: all.")

    @override
    def needs(self) -> list[Need]:
        return self._needs("drop")

    @override
    def value(self, run: RunTables) -> float | None:

        rows = self._rows(run, "drop")
        if rows is None:
            return None
        table, mask = rows
        start, stop = run.window(self.start, self.stop)
        times = np.asarray(table["time_ps"])
        mask = mask & (times >= start) & (times < stop)
        if self.cause is not None:
            mask = mask & (np.asarray(table["cause"]) == CAUSES.index(self.cause))
        return float(mask.sum())
