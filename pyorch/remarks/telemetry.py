"""Paths that become too long for the telemetry of frames when links fail during a run."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from pyorch.base.units import format_time
from pyorch.network.cycles import ShortestPaths
from pyorch.plan import RunSpec
from pyorch.remarks.base import Remark, which
from pyorch.remarks.routes import Scene
from pyorch.setting.attributes import Catalogue
from pyorch.setting.telemetry import KEY, MOST_SWITCHES, LongestPath, longest_path, room_of


def of_detours(
    scenes: Sequence[Scene], specs: Sequence[RunSpec], types: Catalogue | None
) -> Iterator[Remark]:
    """Failing links that lead flows past more switches than their frames have room for."""
    found: dict[str, list[RunSpec]] = defaultdict(list)
    if types is None:
        return
    for scene in scenes:
        for room, runs in _rooms(scene, types).items():
            text = _beyond(scene, room)
            if text:
                found[text] += runs
    for text, runs in found.items():
        yield Remark("warning", f"in {which(runs, specs)}: {text}")


def _rooms(scene: Scene, types: Catalogue) -> dict[int, list[RunSpec]]:
    """The runs of a scene whose frames carry telemetry, by their room [switches]."""
    rooms: dict[int, list[RunSpec]] = defaultdict(list)
    for spec in scene.specs:
        room = room_of(spec.setting, types)
        if room is not None:
            rooms[room].append(spec)
    return rooms


def _beyond(scene: Scene, room: int) -> str:
    """Which path is longest after a failure, if it is too long; "" if none is."""
    since, longest = max(_longest(scene), key=lambda one: one[1].switches, default=(0, None))
    if longest is None or longest.switches <= room:
        return ""
    text = f"from {format_time(since)} on {longest.text(scene.network)}, more than"
    text += f" {'.'.join(KEY)} = {room}: the others are not measured"
    fits = longest.switches <= MOST_SWITCHES
    return f"{text}; set {'.'.join(KEY)} = {longest.switches}" if fits else text


def _longest(scene: Scene) -> Iterator[tuple[int, LongestPath]]:
    """The longest path after each change that all switches know, with its time [ps]."""
    flows, times = scene.flows, [when for when, _ in scene.phases]
    for (since, ways), until in itertools.zip_longest(scene.phases[1:], times[2:]):
        known = set(ways.failed.values())
        if len(known) > 1 or ways.diverted:
            continue  # transient, or led elsewhere on purpose
        there = (flows.stops < 0) | (flows.stops > since)
        if until is not None:
            there &= flows.starts < until
        paths = ShortestPaths.of(scene.network, known.pop())
        yield since, longest_path(scene.network, flows, paths, np.asarray(there))
