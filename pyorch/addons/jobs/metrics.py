"""Metrics of jobs of ranks: bandwidth of collectives, iterations, late hosts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs import spans
from pyorch.addons.jobs.collective_kind import Collective, JobParts
from pyorch.addons.jobs.collectives import bus_factor
from pyorch.base.lazy import np
from pyorch.metrics.base import Better, Metric, RunTables, metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.addons.jobs.spans import Spans


def spans_of(run: RunTables, label: str) -> Spans | None:
    """The parts of the hosts in the collectives of a [[traffic]] entry; None when it has none."""
    found = run.entry(label)
    if found is None:
        return None
    number, rows, table = found
    parts = run.setting.traffic[number].parts()
    return spans.spans_of(parts, rows, table) if isinstance(parts, JobParts) else None


class CollectiveMetric(Metric):
    """A metric of the collectives of an entry, whose label is `traffic`, or of one of them."""

    traffic: str = Field(description="Label of the [[traffic]] entry.")
    collective: str | None = Field(default=None, description="One of its collectives; none: all.")

    def spans(self, run: RunTables) -> Spans | None:
        """The parts of the hosts; None when there is none."""
        found = spans_of(run, self.traffic)
        if found is None or self.collective is None:
            return found
        return found.of(self.collective) if self.collective in found.names else None


@metric
class BusBandwidth(CollectiveMetric):
    """Size over time, times a factor of the operation that makes it comparable with a link's rate.

    The definition of nccl-tests (doc/PERFORMANCE.md): 2 (n-1)/n for all-reduce, (n-1)/n for
    reduce-scatter, all-gather and all-to-all, 1 for broadcast. The time is the mean over rounds and
    groups, from the first start to the last arrival; 0 when one did not finish.
    """

    BETTER: ClassVar[Better] = "higher"
    UNIT: ClassVar[str] = "bit/s"
    kind: Literal["bus_bandwidth"] = "bus_bandwidth"
    collective: str = Field(description="One of its collectives.")

    @override
    def value(self, run: RunTables) -> float | None:
        spans = self.spans(run)
        if spans is None or not len(spans):
            return None
        (phase,) = spans.phases
        begins, ends = spans.of_groups()
        if (ends < 0).any():
            return 0.0
        time = float((ends - begins).mean())
        return phase.size * 8e12 * bus_factor(phase.operation, spans.ranks[0]) / time


@metric
class IterationTime(Metric):
    """Time of a round of a repeated `collective` entry, from the end of the one before.

    The first round counts from the first start. `of`: "mean" or "max" over rounds. Infinite when a
    round did not finish.
    """

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "ps"
    kind: Literal["iteration_time"] = "iteration_time"
    traffic: str = Field(description="Label of the [[traffic]] entry.")
    of: Literal["mean", "max"] = Field(default="mean", description="Over rounds.")

    @override
    def value(self, run: RunTables) -> float | None:
        found, spans = run.entry(self.traffic), spans_of(run, self.traffic)
        if found is None or spans is None:
            return None
        if not isinstance(run.setting.traffic[found[0]], Collective):
            return None  # names that a trace repeats need not be iterations
        if (spans.ends < 0).any():
            return math.inf
        ends = np.zeros(int(spans.round.max()) + 1, dtype=np.int64)
        np.maximum.at(ends, spans.round, spans.ends)
        times = np.diff(ends, prepend=spans.begins.min())
        return float(getattr(times, self.of)())


@metric
class Lateness(CollectiveMetric):
    """How long the early ranks of a collective had to wait for a host that started late.

    For each collective, round and group the lateness of a host is the time from the first message
    of the group to its own first message; these are added up. `host`, or else `of`: the "max" or
    "mean" over hosts.
    """

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "ps"
    kind: Literal["lateness"] = "lateness"
    host: str | None = Field(default=None, description="One host, instead of `of`.")
    of: Literal["max", "mean"] = Field(default="max", description="Over hosts.")

    @override
    def value(self, run: RunTables) -> float | None:
        spans = self.spans(run)
        if spans is None or not len(spans):
            return None
        if (spans.begins < 0).any():
            return math.inf
        late = np.zeros(len(run.nodes))
        np.add.at(late, spans.host, spans.begins - spans.first_begins())
        if self.host is None:
            hosts: NDArray[np.int64] = np.unique(spans.host)
            return float(getattr(late[hosts], self.of)())
        numbers = {name: number for number, name in enumerate(run.nodes)}
        return float(late[numbers[self.host]]) if self.host in numbers else None
