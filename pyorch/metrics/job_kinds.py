"""Metrics of jobs of ranks: bandwidth of collectives, iterations, late hosts, lost time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import model_validator
from typing_extensions import override

from pyorch.metrics.base import SHARE, Metric, RunTables, metric
from pyorch.metrics.fields import Chosen, Need, Port

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pyorch.metrics.losses import Lost
    from pyorch.traffic.jobs.spans import Spans


def spans_of(run: RunTables, label: str) -> Spans | None:
    """The parts of the hosts in the collectives of a [[traffic]] entry; None when it has none."""
    from pyorch.traffic.jobs import spans

    found = run.entry(label)
    if found is None:
        return None
    number, rows, table = found
    parts = spans.parts_of(run.setting.traffic[number])
    return None if parts is None else spans.spans_of(parts, rows, table)


class CollectiveMetric(Metric):
    """A metric of the collectives of an entry, whose label is `traffic`, or of one of them."""

    traffic: str
    collective: str | None = None

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

    kind: Literal["bus_bandwidth"] = "bus_bandwidth"
    collective: str

    @override
    def unit(self) -> str:
        return "bit/s"

    @override
    def value(self, run: RunTables) -> float | None:
        from pyorch.traffic.jobs.collectives import bus_factor

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
class JobTime(Metric):
    """From the `start` of a [[traffic]] entry to the end of its last message or computation.

    Computations before the first message and, of schedules, after the last one count. Infinite
    when a message did not arrive.
    """

    kind: Literal["job_time"] = "job_time"
    traffic: str

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def value(self, run: RunTables) -> float | None:
        import numpy as np

        from pyorch.traffic.jobs.goal_kind import Goal

        found = run.entry(self.traffic)
        if found is None:
            return None
        number, rows, table = found
        entry = run.setting.traffic[number]
        ends = np.asarray(table["finish_ps"])[rows].astype(np.int64)
        if (ends < 0).any():
            return math.inf
        last = [*ends.tolist()]
        if isinstance(entry, Goal):
            last += [end for *_, end in entry.computations(run.network, run.seed, number, ends)]
        return float(max(last) - entry.start) if last else None


@metric
class IterationTime(Metric):
    """Time of a round of a repeated `collective` entry, from the end of the one before.

    The first round counts from the first start. `of`: "mean" or "max" over rounds. Infinite when a
    round did not finish.
    """

    kind: Literal["iteration_time"] = "iteration_time"
    traffic: str
    of: Literal["mean", "max"] = "mean"

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def value(self, run: RunTables) -> float | None:
        import numpy as np

        from pyorch.traffic.jobs.collective_kind import Collective

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

    kind: Literal["lateness"] = "lateness"
    host: str | None = None
    of: Literal["max", "mean"] = "max"

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def value(self, run: RunTables) -> float | None:
        import numpy as np

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


@metric
class LostTime(CollectiveMetric):
    """The time that a [[traffic]] entry lost, on its critical chain, to one cause.

    `to`: "pauses", "collisions" (of flows on links between switches), "sharing" (of the links of
    hosts, also with ACKs) or "stragglers" (hosts that computed longer, or later, than the others).
    `host`: only messages that it sent, and its own computations. `port`: only pauses that began at
    this egress, or collisions at it.
    """

    kind: Literal["lost_time"] = "lost_time"
    to: Literal["pauses", "collisions", "sharing", "stragglers"]
    host: str | None = None
    port: Port | None = None

    @model_validator(mode="after")
    def _has_ports(self) -> LostTime:
        if self.port is not None and self.to in ("sharing", "stragglers"):
            raise ValueError(f"'port' does not apply to time lost to {self.to}; allowed: 'host'")
        return self

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def needs(self) -> list[Need]:
        return [] if self.to == "stragglers" else [Need("pause_tree"), Need("flow_link")]

    @override
    def value(self, run: RunTables) -> float | None:
        from pyorch.metrics.losses import lost_of

        lost = lost_of(run, self.traffic, network=self.to != "stragglers")
        if lost is None:
            return None
        if lost.unfinished:
            return math.inf
        return sum(self._of(one, run) for one in lost.steps if self._counts(one, run))

    def _counts(self, one: Lost, run: RunTables) -> bool:
        return (self.host is None or run.nodes[one.host] == self.host) and (
            self.collective is None or one.collective == self.collective
        )

    def _of(self, one: Lost, run: RunTables) -> float:
        if self.to == "stragglers":
            return float(one.late)
        if self.to == "sharing":
            return one.losses.sharing
        by_port = one.losses.pauses if self.to == "pauses" else one.losses.collisions
        place = None if self.port is None else run.resolve(self.port)
        return float(sum(t for at, t in by_port.items() if self.port is None or at == place))


@metric
class JobFairness(Metric):
    """Jain's index of the goodputs of jobs, from 1/n to 1: (sum x)^2 / (n sum x^2).

    A job is a [[traffic]] entry; its goodput x is its payload over the time from its first start
    to its last arrival, 0 when a message did not arrive. Jain, Chiu, Hawe: A quantitative measure
    of fairness, DEC TR-301, 1984.
    """

    kind: Literal["job_fairness"] = "job_fairness"
    traffic: Chosen[str]

    @override
    def unit(self) -> str:
        return "1"

    @override
    def limits(self) -> tuple[float, float]:
        return SHARE

    @override
    def value(self, run: RunTables) -> float | None:
        import numpy as np

        table = run.find_table("flow")
        labels = run.flows.labels
        if table is None or not set(self.traffic) <= set(labels):
            return None
        rates = []
        for label in self.traffic:
            rows = run.flows.of_entry(labels.index(label))
            size, begin, end = (
                np.asarray(table[name])[rows] for name in ("size_bytes", "start_ps", "finish_ps")
            )
            done = len(rows) > 0 and bool((end > begin.min()).all())
            rates.append(float(size.sum()) / float(end.max() - begin.min()) if done else 0.0)
        squares = sum(rate**2 for rate in rates)
        return sum(rates) ** 2 / (len(rates) * squares) if squares else None
