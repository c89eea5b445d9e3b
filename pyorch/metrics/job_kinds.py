"""Metrics of jobs, which are [[traffic]] entries: time, lost time, fairness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.lazy import np
from pyorch.metrics.base import SHARE, Better, Metric, RunTables, metric
from pyorch.metrics.fields import Chosen, Need, Port

if TYPE_CHECKING:
    from pyorch.metrics.losses import Lost


class _OfJob(Metric):
    """A time of a job, the less the better."""

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "ps"
    traffic: str = Field(description="Label of the [[traffic]] entry.")


@metric
class JobTime(_OfJob):
    """From the `start` of a [[traffic]] entry to the end of its last message or computation.

    Computations before the first message and, of schedules, after the last one count. Infinite
    when a message did not arrive.
    """

    kind: Literal["job_time"] = "job_time"

    @override
    def value(self, run: RunTables) -> float | None:
        return _time_and_computed(run, self.traffic)[0]


@metric
class ExposedCommunication(_OfJob):
    """Time of a job, a schedule of ranks, in which the host that computes longest does not compute.

    Its `job_time` less that host's computations: communication that nothing hides, and waits for
    other ranks, so also a pipeline's bubble, ideally (stages - 1) / micro-batches of what a host
    computes (1F1B, all stages equal). Infinite when a message did not arrive.
    """

    kind: Literal["exposed_communication"] = "exposed_communication"

    @override
    def value(self, run: RunTables) -> float | None:
        time, computed = _time_and_computed(run, self.traffic)
        if time is None or math.isinf(time):
            return time
        return time - computed if computed else None


def _time_and_computed(run: RunTables, label: str) -> tuple[float | None, int]:
    """Return the time of a job, and how long the host that computes longest does so [ps]."""
    found = run.entry(label)
    if found is None:
        return None, 0
    number, rows, table = found
    entry = run.setting.traffic[number]
    ends = np.asarray(table["finish_ps"])[rows].astype(np.int64)
    if (ends < 0).any():
        return math.inf, 0
    made = sorted(entry.computations(run.network, run.seed, number, ends))
    last = [*ends.tolist(), *(end for *_, end in made)]
    busy: dict[int, int] = {}
    until: dict[int, int] = {}
    for node, begin, end in made:  # those of a host may overlap
        new = max(0, end - max(begin, until.get(node, begin)))
        busy[node] = busy.get(node, 0) + new
        until[node] = max(end, until.get(node, end))
    return float(max(last) - entry.start) if last else None, max(busy.values(), default=0)


@metric
class LostTime(Metric):
    """The time that a [[traffic]] entry lost, on its critical chain, to one cause.

    `to`: "pauses", "collisions" (of flows on links between switches), "sharing" (of the links of
    hosts, also with ACKs) or "stragglers" (hosts that computed longer, or later, than the others).
    `host`: only messages that it sent, and its own computations. `port`: only pauses that began at
    this egress, or collisions at it.
    """

    UNIT: ClassVar[str] = "ps"
    traffic: str = Field(description="Label of the [[traffic]] entry.")
    collective: str | None = Field(default=None, description="Only losses of this collective.")
    BETTER: ClassVar[Better] = "lower"
    kind: Literal["lost_time"] = "lost_time"
    to: Literal["pauses", "collisions", "sharing", "stragglers"] = Field(description="The cause.")
    host: str | None = Field(
        default=None, description="Only messages that this host sent, and its own computations."
    )
    port: Port | None = Field(
        default=None, description="Only pauses that began at this egress, or collisions at it."
    )

    @model_validator(mode="after")
    def _has_ports(self) -> LostTime:
        if self.port is not None and self.to in ("sharing", "stragglers"):
            raise ValueError(f"'port' does not apply to time lost to {self.to}; allowed: 'host'")
        return self

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

    BETTER: ClassVar[Better] = "higher"
    LIMITS: ClassVar[tuple[float, float]] = SHARE
    UNIT: ClassVar[str] = "1"
    kind: Literal["job_fairness"] = "job_fairness"
    traffic: Chosen[str] = Field(description="Labels of the jobs.")

    @override
    def value(self, run: RunTables) -> float | None:
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
