"""Metrics that hold what a deadlock detector says against what the oracle says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from pyorch.metrics.base import Metric, RunTables, metric
from pyorch.metrics.fields import Chosen, Need, Time

CYCLIC = 0
"""Column `kind` of table `deadlock`: queues that wait for each other."""
CYCLE, STUCK = 0, 1
"""Column `part` of table `deadlock_part`: queues of the cycle, and all that are stuck."""
WAYS = ("on_loop", "off_loop", "again", "watchdog", "controller")
"""Column `way` of table `detection` is a place in this list (dcfit::Dcfit::Way and others)."""

Way = Literal["on_loop", "off_loop", "again", "watchdog", "controller"]
Queue = tuple[int, int, int]
"""Node, neighbour and class of an egress queue."""


@dataclass(frozen=True)
class Episode:
    """A cyclic deadlock: when it was there [ps], and its queues."""

    formed: int
    dissolved: int | None
    queues: frozenset[Queue]

    def covers(self, time: int, queue: Queue) -> bool:
        """Whether a queue was in it at a time."""
        return self.holds(time) and queue in self.queues

    def holds(self, time: int) -> bool:
        """Whether it was there at a time."""
        return self.formed <= time and (self.dissolved is None or time <= self.dissolved)


def episodes(run: RunTables) -> list[Episode] | None:
    """The cyclic deadlocks of a run as they formed; None if they are not traced."""
    import numpy as np

    table, parts = run.table("deadlock"), run.table("deadlock_part")
    if table is None or parts is None:
        return None
    queues: dict[int, set[Queue]] = {}
    columns = [np.asarray(parts[c]) for c in ("episode", "part", "node", "peer", "class")]
    for number, part, node, peer, cls in zip(*columns, strict=True):
        if part in (CYCLE, STUCK):
            queues.setdefault(int(number), set()).add((int(node), int(peer), int(cls)))
    found = []
    columns = [np.asarray(table[c]) for c in ("episode", "kind", "formed_ps", "dissolved_ps")]
    for number, kind, formed, dissolved in zip(*columns, strict=True):
        if kind == CYCLIC:
            end = None if dissolved < 0 else int(dissolved)
            found.append(Episode(int(formed), end, frozenset(queues.get(int(number), ()))))
    return sorted(found, key=lambda episode: episode.formed)


class DetectionMetric(Metric):
    """Something that a detector says, by the `ways` in which it finds deadlocks (default: all)."""

    ways: Chosen[Way] | None = None

    @override
    def unit(self) -> str:
        return "1"

    @override
    def needs(self) -> list[Need]:
        return [Need("detection", None, None), Need("deadlock", None, None)]

    def detections(self, run: RunTables) -> list[tuple[int, Queue]] | None:
        """Time [ps] and queue of every detection in order; None if they are not traced."""
        import numpy as np

        table = run.table("detection")
        if table is None:
            return None
        wanted = {WAYS.index(way) for way in self.ways or WAYS}
        columns = [np.asarray(table[c]) for c in ("time_ps", "node", "peer", "class", "way")]
        rows = zip(*columns, strict=True)
        return sorted((int(t), (int(n), int(p), int(c))) for t, n, p, c, w in rows if w in wanted)

    @override
    def value(self, run: RunTables) -> float | None:
        detections, deadlocks = self.detections(run), episodes(run)
        if detections is None or deadlocks is None:
            return None
        return self.judge(detections, deadlocks, run.end_ps)

    def judge(
        self, detections: list[tuple[int, Queue]], deadlocks: list[Episode], end: int
    ) -> float | None:
        """The number. end: of the run [ps]."""
        raise NotImplementedError


@metric
class FalseAlarms(DetectionMetric):
    """Detections of an egress queue that was in no cyclic deadlock, nor stuck behind one, then."""

    kind: Literal["false_alarms"] = "false_alarms"

    @override
    def judge(
        self, detections: list[tuple[int, Queue]], deadlocks: list[Episode], end: int
    ) -> float | None:
        return float(
            sum(
                not any(episode.covers(time, queue) for episode in deadlocks)
                for time, queue in detections
            )
        )


@metric
class MissedDeadlocks(DetectionMetric):
    """Cyclic deadlocks there for `grace` or longer, and nobody said so while they were."""

    kind: Literal["missed_deadlocks"] = "missed_deadlocks"
    grace: Time = 0

    @override
    def judge(
        self, detections: list[tuple[int, Queue]], deadlocks: list[Episode], end: int
    ) -> float | None:
        missed = 0
        for episode in deadlocks:
            last = end if episode.dissolved is None else episode.dissolved
            said = any(episode.holds(time) for time, _ in detections)
            missed += last - episode.formed >= self.grace and not said
        return float(missed)


@metric
class DetectionTime(DetectionMetric):
    """Time from the formation of the first cyclic deadlock to the first detection in it [ps]."""

    kind: Literal["detection_time"] = "detection_time"

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def judge(
        self, detections: list[tuple[int, Queue]], deadlocks: list[Episode], end: int
    ) -> float | None:
        if not deadlocks:
            return None
        first = deadlocks[0]
        times = [time - first.formed for time, queue in detections if first.covers(time, queue)]
        return float(min(times)) if times else None


@metric
class DetectionLap(DetectionMetric):
    """Time of the last round of messages of the first detection in the first deadlock [ps].

    From the return of the check message to that of the (last) consistency message.
    """

    kind: Literal["detection_lap"] = "detection_lap"

    @override
    def unit(self) -> str:
        return "ps"

    @override
    def value(self, run: RunTables) -> float | None:
        import numpy as np

        table, deadlocks = run.table("detection"), episodes(run)
        if table is None or not deadlocks:
            return None
        times, looped = np.asarray(table["time_ps"]), np.asarray(table["looped_ps"])
        within = [deadlocks[0].holds(int(time)) for time in times]
        return float((times - looped)[within][0]) if any(within) else None
