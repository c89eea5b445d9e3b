"""Metrics of the MAC control frames that a port puts on the wire (table `control`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.lazy import np
from pyorch.metrics.base import SHARE, Metric, RunTables, metric
from pyorch.metrics.fields import (
    Need,
    OfClass,
    Port,
    Rate,
    Time,
    WindowStart,
    WindowStop,
)
from pyorch.metrics.series_kinds import only_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


class ControlMetric(Metric):
    """A metric of the control frames that a port sends and that address a class (default: any).

    Bytes are those on the wire: frame and overhead. `rate` is the link's; without it the
    topology's, when it has exactly one. Frames that a scheme sends as ideal are not on the wire.
    """

    UNIT: ClassVar[str] = "1"
    port: Port = Field(description="The port that sends them.")
    class_number: OfClass = None
    start: WindowStart = None
    stop: WindowStop = None
    rate: Rate | None = Field(
        default=None, description="Rate of the link; none: the topology's, if it has only one."
    )

    @model_validator(mode="after")
    def _check(self) -> ControlMetric:
        if self.start is not None and self.stop is not None and self.start >= self.stop:
            raise ValueError("'from' must be before 'to'")
        if self.rate == 0:
            raise ValueError("'rate' must be above 0")
        return self

    @override
    def needs(self) -> list[Need]:
        return [Need("control", self.port, self.class_number)]

    def frames(self, run: RunTables) -> tuple[Numbers, Numbers] | None:
        """(start [ps], wire bytes) of the frames in order; None when they were not traced."""
        table, ends = run.find_table("control"), run.resolve(self.port)
        if table is None or ends is None or not all(run.is_traced(need) for need in self.needs()):
            return None
        mask = (np.asarray(table["node"]) == ends[0]) & (np.asarray(table["peer"]) == ends[1])
        if self.class_number is not None:
            mask &= (np.asarray(table["classes"]) >> self.class_number & 1) == 1
        starts = np.asarray(table["time_ps"])[mask].astype(np.int64)
        return starts, np.asarray(table["bytes"])[mask].astype(np.int64)

    def line(self, run: RunTables) -> int | None:
        """Rate of the link [bit/s]; None when neither the entry nor the topology gives it."""
        return self.rate if self.rate is not None else only_rate(run)


@metric
class ControlShare(ControlMetric):
    """Share of the window in which the link carries control frames, 0 to 1."""

    LIMITS: ClassVar[tuple[float, float]] = SHARE
    kind: Literal["control_share"] = "control_share"

    @override
    def value(self, run: RunTables) -> float | None:

        frames, line = self.frames(run), self.line(run)
        begin, end = run.window(self.start, self.stop)
        if frames is None or not line or end <= begin:
            return None
        starts, sizes = frames
        lengths = sizes * (8e12 / line)
        inside = np.minimum(starts + lengths, end) - np.maximum(starts, begin)
        return float(np.maximum(inside, 0).sum() / (end - begin))


@metric
class ControlPeak(ControlMetric):
    """Largest share of the link that control frames take in any span of length `window`.

    Frames that start inside the half-open span [t, t + window) count in full, for every t with
    the span inside [from, to): one frame every `window` gives the same number as the mean.
    None when [from, to) is shorter than `window`.
    """

    kind: Literal["control_peak"] = "control_peak"
    window: Time = Field(gt=0, description="Length of the span.")

    @override
    def value(self, run: RunTables) -> float | None:
        frames, line = self.frames(run), self.line(run)
        begin, end = run.window(self.start, self.stop)
        if frames is None or not line or end - begin < self.window:
            return None
        starts, sizes = frames
        inside = (starts >= begin) & (starts < end)
        most = most_in_window(starts[inside], sizes[inside], self.window)
        return most * 8e12 / (line * self.window)


def most_in_window(starts: Numbers, sizes: Numbers, window: int) -> int:
    """Largest sum of sizes over the starts in any [t, t + window).

    starts: ascending, in the unit of window. A span with the largest sum can be moved until it
    begins at a start; extending beyond the last start then adds nothing.
    """
    if not len(starts):
        return 0
    total = np.concatenate(([0], np.cumsum(sizes)))
    after = np.searchsorted(starts, starts + window, side="left")
    return int((total[after] - total[:-1]).max())
