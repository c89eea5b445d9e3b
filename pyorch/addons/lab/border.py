"""Where a condition begins to hold: an adaptive map of a region over two or three parameters.

The region is a grid of points. Coarse cells come first; a cell is divided where its corners differ,
or where one of them is undecided, until a cell is one step of the grid. A point is decided by runs
with several seeds, once an interval of the probability that the condition holds leaves out 1/2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pyorch.report.statistics import clopper_pearson

Place = tuple[int, ...]
"""A point of the grid: its step along each axis."""
CONFIDENCE = 0.95
FEWEST_SEEDS = 6
"""Fewest seeds that can decide a point: six that agree, as 2 (1/2)^6 is below 5 %."""
COARSE = 4
"""Cells along each axis at the beginning."""


class Verdict(StrEnum):
    """What is known of a point."""

    HOLDS = "holds"
    NOT = "does not hold"
    OPEN = "undecided"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Point:
    """The verdict of the runs at a point.

    hits: runs for which the condition holds. low, high: interval of the probability that it holds;
    0 and 1 with a single seed, for which there is no interval.
    """

    hits: int
    runs: int
    low: float
    high: float
    verdict: Verdict


def looks(seeds: int) -> list[int]:
    """After how many seeds a point is judged: a quarter of them, a half, and all of them.

    Steps of fewer than eight are skipped. Raises ValueError if this many seeds decide nothing.
    """
    if seeds == 1:
        return [1]
    if seeds < FEWEST_SEEDS:
        raise ValueError(f"1, or {FEWEST_SEEDS} and more")
    return sorted({part for part in (seeds // 4, seeds // 2) if part >= 8} | {seeds})


def confidence_of(seeds: int) -> float:
    """The confidence of each step, so that all steps together have CONFIDENCE (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / len(looks(seeds))


def judge(outcomes: Sequence[bool | None], seeds: int) -> Point:
    """Judge a point by the outcomes of its first seeds; None if no such run is possible.

    seeds: how many it may use.
    """
    runs, hits = len(outcomes), sum(bool(one) for one in outcomes)
    if all(one is None for one in outcomes):
        return Point(0, runs, 0.0, 1.0, Verdict.IMPOSSIBLE)
    if seeds == 1:
        return Point(hits, runs, 0.0, 1.0, Verdict.HOLDS if hits else Verdict.NOT)
    low, high = clopper_pearson(hits, runs, confidence_of(seeds))
    verdict = Verdict.HOLDS if low > 0.5 else Verdict.NOT if high < 0.5 else Verdict.OPEN
    return Point(hits, runs, low, high, verdict)


# ---------------------------------------------------------------------------------------------
# Cells


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: its lowest corner and its width in steps."""

    corner: Place
    width: int

    def corners(self) -> Iterator[Place]:
        """All of its corners."""
        yield from itertools.product(*((at, at + self.width) for at in self.corner))

    def parts(self) -> Iterator[Cell]:
        """The cells into which it is divided."""
        half = self.width // 2
        for corner in itertools.product(*((at, at + half) for at in self.corner)):
            yield Cell(corner, half)


@dataclass(frozen=True)
class Crossing:
    """Where the border crosses a line of the grid: between two of its points.

    axis: number of the axis along the line. low, high: decided points with no decided one between
    them; the condition holds at only one of the two. open: number of undecided points between them.
    """

    axis: int
    low: Place
    high: Place
    open: int


@dataclass(frozen=True)
class Map:
    """A mapped region. side: steps along each axis. cells: the undivided ones, which cover it."""

    dimensions: int
    side: int
    points: Mapping[Place, Point]
    cells: tuple[Cell, ...]

    def crossings(self) -> list[Crossing]:
        """All crossings of the border, along each axis in turn."""
        found: list[Crossing] = []
        for axis in range(self.dimensions):
            lines: dict[Place, list[Place]] = {}
            for place in sorted(self.points, key=lambda one: (one[axis], one)):
                lines.setdefault((*place[:axis], *place[axis + 1 :]), []).append(place)
            for _, line in sorted(lines.items()):
                found += self._along(axis, line)
        return found

    def _along(self, axis: int, line: Sequence[Place]) -> Iterator[Crossing]:
        last: Place | None = None
        between = 0
        for place in line:
            verdict = self.points[place].verdict
            if verdict is Verdict.OPEN:
                between += 1
                continue
            if (
                last is not None
                and {verdict, self.points[last].verdict} == {Verdict.HOLDS, Verdict.NOT}
                and (between or place[axis] - last[axis] == 1)
            ):
                yield Crossing(axis, last, place, between)
            last, between = place, 0


Judge = Callable[[Sequence[Place]], Mapping[Place, Point]]
"""The verdicts of the runs at some points."""


def map_border(dimensions: int, side: int, judge_all: Judge) -> Map:
    """Map a region. side: steps along each axis, COARSE times a power of two.

    If all corners of a cell agree, its inside is assumed to agree as well, unless a point on its
    edge, known from a neighbour, differs: so the border is followed from where it was found.
    Features within one coarse cell, or between two points of an edge, are missed.
    """
    points: dict[Place, Point] = {}
    width = side // COARSE
    corners = itertools.product(range(0, side, width), repeat=dimensions)
    leaves = [Cell(corner, width) for corner in corners]
    waiting = leaves
    while waiting:
        fresh = sorted({place for cell in waiting for place in cell.corners()} - points.keys())
        points |= judge_all(fresh)
        divided = {cell for cell in leaves if cell.width > 1 and _is_crossed(cell, points)}
        waiting = [part for cell in leaves if cell in divided for part in cell.parts()]
        leaves = [cell for cell in leaves if cell not in divided] + waiting
    return Map(dimensions, side, points, tuple(sorted(leaves, key=lambda one: one.corner)))


def _is_crossed(cell: Cell, points: Mapping[Place, Point]) -> bool:
    """Whether the border crosses a cell, judged by all of its known points."""
    known = {points[place].verdict for place in _known(cell, points)}
    known.discard(Verdict.IMPOSSIBLE)
    return len(known) > 1 or Verdict.OPEN in known


def _known(cell: Cell, points: Mapping[Place, Point]) -> Iterable[Place]:
    inside = itertools.product(*(range(at, at + cell.width + 1) for at in cell.corner))
    return (place for place in inside if place in points)
