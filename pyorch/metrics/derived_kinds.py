"""Metrics derived from others: ratios of summary numbers, leads, delays between a link's ends."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.fields import reverse_names
from pyorch.base.lazy import np
from pyorch.metrics.base import SHARE, UNLIMITED, Better, Metric, RunTables, metric
from pyorch.metrics.fields import (
    Entry,
    Need,
    OfClass,
    Port,
    QuantityText,
    Time,
    TrafficClass,
    WindowStart,
)
from pyorch.metrics.series_kinds import Direction, FirstCrossing, read_series, series_need

Statistic = Literal["min", "mean", "max"]
_PARTS = {
    ("flows_finished", "flows_finite"),
    ("flows_unfinished", "flows_finite"),
    ("delivered_bytes", "sent_bytes"),
}
"""Pairs of summary numbers; the first is a part of the second."""


@metric
class Ratio(Metric):
    """One number of the run's summary divided by another."""

    UNIT: ClassVar[str] = "1"
    kind: Literal["ratio"] = "ratio"
    number: str = Field(description="Numerator: a number of summary.json.")
    to: str = Field(description="Denominator: a number of summary.json.")

    @override
    def limits(self) -> tuple[float, float]:
        return SHARE if (self.number, self.to) in _PARTS else super().limits()

    @override
    def summary_numbers(self) -> list[str]:
        return [self.number, self.to]

    @override
    def value(self, run: RunTables) -> float | None:
        number, to = run.number(self.number), run.number(self.to)
        return None if number is None or not to else number / to


class Crossing(Entry):
    """A first crossing of a level; the keys are those of the metric `first_crossing`."""

    table: str = Field(default="queue", description="As of `first_crossing`.")
    column: str | None = Field(default=None, description="As of `first_crossing`.")
    port: Port = Field(description="The port.")
    class_number: OfClass = None
    start: WindowStart = None
    level: QuantityText = Field(description="The level, in the unit of the series.")
    direction: Literal["up", "down"] = Field(
        default="up", description="From below (>=) or from above (<=)."
    )

    @model_validator(mode="after")
    def _check(self) -> Crossing:
        self.metric()
        return self

    def metric(self) -> FirstCrossing:
        """The metric that finds it."""
        return FirstCrossing.model_validate({"name": "crossing", **self.model_dump()})


@metric
class Lead(Metric):
    """Time [ps] by which the crossing `first` comes before the crossing `then`.

    Negative when it comes after it, infinite when only `first` happens, None when `first` never
    does.
    """

    LIMITS: ClassVar[tuple[float, float]] = UNLIMITED
    UNIT: ClassVar[str] = "ps"
    kind: Literal["lead"] = "lead"
    first: Crossing = Field(description="The crossing that is to come first.")
    then: Crossing = Field(description="The other crossing.")

    @override
    def needs(self) -> list[Need]:
        ends = (self.first, self.then)
        return [series_need(e.table, e.column, e.port, e.class_number) for e in ends]

    @override
    def value(self, run: RunTables) -> float | None:
        first = self.first.metric().value(run)
        if first is None:
            return None
        then = self.then.metric().value(run)
        return math.inf if then is None else then - first


@metric
class BytesBetween(Metric):
    """Wire bytes of a port between the crossing `first` and the crossing `then`.

    Infinite when only `first` happens, None when `first` never does; 0 when `then` comes before.
    """

    UNIT: ClassVar[str] = "B"
    kind: Literal["bytes_between"] = "bytes_between"
    port: Port = Field(description="The port.")
    direction: Direction = Field(default="rx", description="Frames received or sent.")
    class_number: OfClass = None
    first: Crossing = Field(description="The crossing that begins it.")
    then: Crossing = Field(description="The crossing that ends it.")

    @override
    def needs(self) -> list[Need]:
        ends = (self.first, self.then)
        crossings = [series_need(e.table, e.column, e.port, e.class_number) for e in ends]
        return [*crossings, series_need("rate", self.direction, self.port, self.class_number)]

    @override
    def value(self, run: RunTables) -> float | None:
        first = self.first.metric().value(run)
        series = read_series(run, "rate", self.direction, self.port, self.class_number)
        if first is None or series is None:
            return None
        then = self.then.metric().value(run)
        if then is None:
            return math.inf
        _, rates, lengths = series.clip(int(first), int(then))
        return float((rates * lengths).sum() / 8e12)


@metric
class Stalled(Metric):
    """1 when nothing was delivered from `after` on though something is stuck, else 0.

    Over seeds its mean is the share of runs whose throughput ended at 0.
    """

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "1"
    kind: Literal["stalled"] = "stalled"
    after: Time = Field(description="When the wait begins.")

    @override
    def yes_no(self) -> bool:
        return True

    @override
    def value(self, run: RunTables) -> float | None:
        numbers = [run.summary.get(name) for name in ("delivered_bytes", "sent_bytes")]
        last = run.summary.get("last_delivery_ps")
        delivered, sent = numbers
        if delivered is None or sent is None or last is None:
            return None
        return float(delivered < sent and last < self.after)


class PauseDelay(Metric):
    """A delay of the pauses that a port sends for a class."""

    UNIT: ClassVar[str] = "ps"
    port: Port = Field(description="The port that pauses its neighbour.")
    class_number: TrafficClass = Field(alias="class", description="Traffic class.")
    statistic: Statistic = Field(default="max", description="Over all its pauses.")

    @override
    def needs(self) -> list[Need]:
        return [
            Need("pause", self.port, self.class_number),
            Need("pause", ":".join(reverse_names(*self.port.split(":"))), self.class_number),
        ]

    def _starts(self, run: RunTables, side: int) -> list[int] | None:
        """Starts [ps] of the pauses as this port sent them (side 0) or its peer obeyed them (1)."""
        table, ends = run.find_table("pause"), run.resolve(self.port)
        if table is None or ends is None or not all(run.is_traced(need) for need in self.needs()):
            return None
        node, peer = ends if side == 0 else run.network.reverse(ends)
        mask = np.asarray(table["node"]) == node
        mask &= np.asarray(table["peer"]) == peer
        mask &= np.asarray(table["class"]) == self.class_number
        mask &= np.asarray(table["side"]) == side
        return sorted(int(start) for start in np.asarray(table["start_ps"])[mask])

    def _pairs(self, run: RunTables) -> list[tuple[int, int]] | None:
        """(sent, obeyed) [ps] of every pause; one cut off by the end of the run is left out."""
        sent, obeyed = self._starts(run, 0), self._starts(run, 1)
        if sent is None or obeyed is None:
            return None
        return list(zip(sent, obeyed, strict=False))

    def _reduce(self, delays: list[int]) -> float | None:
        if not delays:
            return None
        if self.statistic == "mean":
            return sum(delays) / len(delays)
        return float(max(delays) if self.statistic == "max" else min(delays))


@metric
class PauseLatency(PauseDelay):
    """Time from the decision to pause to the moment the peer obeys [ps].

    The PAUSE waits for the frame in transmission, is sent, travels and is processed (the first
    three of the five parts of DSH, Background, C, and the PAUSE's own serialisation).
    """

    kind: Literal["pause_latency"] = "pause_latency"

    @override
    def value(self, run: RunTables) -> float | None:
        pairs = self._pairs(run)
        return None if pairs is None else self._reduce([obeyed - sent for sent, obeyed in pairs])


@metric
class PauseTail(PauseDelay):
    """Time from the moment the peer obeys to the arrival of the last frame it had begun [ps].

    The frame in transmission completes and travels (the last two of the five parts). A pause
    during which nothing arrives any more has a tail of 0.
    """

    kind: Literal["pause_tail"] = "pause_tail"

    @override
    def needs(self) -> list[Need]:
        return [*super().needs(), Need("rate", self.port, self.class_number)]

    @override
    def value(self, run: RunTables) -> float | None:

        pairs, rate, ends = self._pairs(run), run.find_table("rate"), run.resolve(self.port)
        if pairs is None or rate is None or ends is None:
            return None
        mask = (np.asarray(rate["node"]) == ends[0]) & (np.asarray(rate["peer"]) == ends[1])
        mask &= np.asarray(rate["class"]) == self.class_number
        arrivals = np.asarray(rate["time_ps"])[mask]
        obeyed = [at for _, at in pairs]
        tails = []
        for at, following in pairwise([*obeyed, run.end_ps]):
            # The longest gap separates what was in flight from what the resume releases.
            window = arrivals[(arrivals > at) & (arrivals < following)]
            gaps = np.diff(np.concatenate(([at], window)))
            if len(gaps):
                last = int(np.argmax(gaps))
                tails.append(int(window[last - 1] - at) if last > 0 else 0)
        return self._reduce(tails)
