"""Metrics that compare a deadlock detector with the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import np
from pyorch.metrics.base import Better, Metric, RunTables, metric
from pyorch.metrics.fields import Chosen, Need, Time

CYCLIC = 0
"""Column `kind` of table `deadlock`: queues that wait for each other."""
WAYS = ("on_loop", "off_loop", "again", "watchdog", "controller")
"""Column `way` of table `detection` is a place in this list (dcfit::Dcfit::Way and others)."""

Way = Literal["on_loop", "off_loop", "again", "watchdog", "controller"]


@dataclass(frozen=True)
class Episode:
    """A cyclic deadlock: its number, when it formed and when it dissolved [ps]; None: never."""

    number: int
    formed: int
    dissolved: int | None


@dataclass(frozen=True)
class Detection:
    """A declaration.

    time: when [ps]. looped: when a cycle was suspected [ps]. episode: the cyclic deadlock that, by
    the oracle, contained the (node, egress, class) at that time or blocked it; None: there is none.
    """

    time: int
    looped: int
    episode: int | None


def episodes(run: RunTables) -> list[Episode] | None:
    """The cyclic deadlocks of a run as they formed; None if they are not traced."""
    table = run.find_table("deadlock")
    if table is None:
        return None
    columns = [np.asarray(table[c]) for c in ("episode", "kind", "formed_ps", "dissolved_ps")]
    found = [
        Episode(int(number), int(formed), None if dissolved < 0 else int(dissolved))
        for number, kind, formed, dissolved in zip(*columns, strict=True)
        if kind == CYCLIC
    ]
    return sorted(found, key=lambda episode: (episode.formed, episode.number))


class DetectionMetric(Metric):
    """A metric of detections, filtered by `ways`, how deadlocks are found (default: all)."""

    UNIT: ClassVar[str] = "1"
    ways: Chosen[Way] | None = Field(default=None, description="Detections that count; none: all.")

    @override
    def needs(self) -> list[Need]:
        return [Need("detection", None, None), Need("deadlock", None, None)]

    def detections(self, run: RunTables) -> list[Detection] | None:
        """Every detection by time; None if they are not traced."""
        table = run.find_table("detection")
        if table is None:
            return None
        wanted = {WAYS.index(way) for way in self.ways or WAYS}
        columns = [np.asarray(table[c]) for c in ("time_ps", "looped_ps", "episode", "way")]
        found = [
            Detection(int(time), int(looped), None if episode < 0 else int(episode))
            for time, looped, episode, way in zip(*columns, strict=True)
            if way in wanted
        ]
        return sorted(found, key=lambda detection: detection.time)

    @override
    def value(self, run: RunTables) -> float | None:
        detections, deadlocks = self.detections(run), episodes(run)
        if detections is None or deadlocks is None:
            return None
        return self.judge(detections, deadlocks, run.end_ps)

    def judge(
        self, detections: list[Detection], deadlocks: list[Episode], end: int
    ) -> float | None:
        """The number. end: of the run [ps]."""
        raise NotImplementedError


@metric
class FalseAlarms(DetectionMetric):
    """Detections of an egress queue that was neither in a cyclic deadlock nor stuck behind one."""

    BETTER: ClassVar[Better] = "lower"
    kind: Literal["false_alarms"] = "false_alarms"

    @override
    def judge(
        self, detections: list[Detection], deadlocks: list[Episode], end: int
    ) -> float | None:
        return float(sum(detection.episode is None for detection in detections))


@metric
class MissedDeadlocks(DetectionMetric):
    """Cyclic deadlocks that lasted `grace` or longer without any of their queues being declared."""

    BETTER: ClassVar[Better] = "lower"
    kind: Literal["missed_deadlocks"] = "missed_deadlocks"
    grace: Time = Field(default=0, description="Deadlocks that last less do not count.")

    @override
    def judge(
        self, detections: list[Detection], deadlocks: list[Episode], end: int
    ) -> float | None:
        found = {detection.episode for detection in detections}
        return float(
            sum(
                episode.number not in found
                and (end if episode.dissolved is None else episode.dissolved) - episode.formed
                >= self.grace
                for episode in deadlocks
            )
        )


@metric
class DetectionTime(DetectionMetric):
    """Time from the formation of the first cyclic deadlock to the first detection in it [ps]."""

    BETTER: ClassVar[Better] = "lower"
    UNIT: ClassVar[str] = "ps"
    kind: Literal["detection_time"] = "detection_time"

    @override
    def judge(
        self, detections: list[Detection], deadlocks: list[Episode], end: int
    ) -> float | None:
        first = first_of(detections, deadlocks)
        return float(first.time - deadlocks[0].formed) if first else None


@metric
class DetectionLap(DetectionMetric):
    """Time of the last round of messages of the first detection in the first deadlock [ps].

    From the return of the check message to that of the (last) consistency message.
    """

    UNIT: ClassVar[str] = "ps"
    kind: Literal["detection_lap"] = "detection_lap"

    @override
    def judge(
        self, detections: list[Detection], deadlocks: list[Episode], end: int
    ) -> float | None:
        first = first_of(detections, deadlocks)
        return float(first.time - first.looped) if first and first.looped >= 0 else None


def first_of(detections: list[Detection], deadlocks: list[Episode]) -> Detection | None:
    """The first detection in the first cyclic deadlock."""
    if not deadlocks:
        return None
    mine = (found for found in detections if found.episode == deadlocks[0].number)
    return next(mine, None)
