"""`search --map`: against the whole grid, exact probabilities, and a closed form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import pipeline
from pyorch.addons.lab.border import Map, Place, Point, Verdict, judge, looks, map_border
from pyorch.addons.lab.ranges import read_axes
from pyorch.addons.lab.region import _Judge, map_region, write_region
from pyorch.addons.lab.trials import Outcome
from pyorch.addons.lab.varied import Varied
from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths
from pyorch.base.units import parse_bytes, parse_time
from pyorch.sizing import theory
from tests.inputs import ROOT, RUNS
from tests.kept import kept_runs


def _map(dimensions: int, side: int, holds: Callable[[Place], bool]) -> Map:
    def judge_all(places: Sequence[Place]) -> Mapping[Place, Point]:
        verdicts = {True: Verdict.HOLDS, False: Verdict.NOT}
        return {place: Point(0, 1, 0, 1, verdicts[holds(place)]) for place in places}

    return map_border(dimensions, side, judge_all)


def _implied(found: Map) -> dict[Place, set[Verdict]]:
    """What a map says of each point of the grid: of itself, or of the corners of its cells."""
    said: dict[Place, set[Verdict]] = {}
    for cell in found.cells:
        verdicts = {found.points[corner].verdict for corner in cell.corners()}
        for place in itertools.product(*(range(at, at + cell.width + 1) for at in cell.corner)):
            said.setdefault(place, set()).update(verdicts)
    return said | {place: {point.verdict} for place, point in found.points.items()}


def _check(found: Map, holds: Callable[[Place], bool]) -> None:
    """Each point of the whole grid is as the map says, and each step across the border is in it."""
    grid = list(itertools.product(range(found.side + 1), repeat=found.dimensions))
    assert _implied(found) == {
        place: {Verdict.HOLDS if holds(place) else Verdict.NOT} for place in grid
    }
    steps = set()
    for place in grid:
        for axis in range(found.dimensions):
            on = tuple(at + (number == axis) for number, at in enumerate(place))
            if on[axis] <= found.side and holds(place) != holds(on):
                steps.add((place, on))
    crossings = found.crossings()
    assert {(one.low, one.high) for one in crossings} == steps
    assert len(crossings) == len(steps)


SIDES = st.sampled_from([8, 16, 32])


@given(SIDES, st.tuples(*[st.floats(-1, 1)] * 2), st.floats(-1, 1))
@settings(max_examples=40, deadline=None)
def test_a_straight_border_is_as_on_the_whole_grid(
    side: int, normal: tuple[float, float], shift: float
) -> None:
    """Wherever the border is: half planes are convex, so equal corners mean one kind."""

    def holds(place: Place) -> bool:
        return sum(n * (at / side - 0.5) for n, at in zip(normal, place, strict=True)) > shift / 2

    _check(_map(2, side, holds), holds)


@given(st.tuples(*[st.floats(0.2, 0.8)] * 2), st.floats(0.3, 0.5))
@settings(max_examples=40, deadline=None)
@pytest.mark.slow
def test_a_round_region_is_as_on_the_whole_grid(centre: tuple[float, float], radius: float) -> None:
    """The border is followed into cells whose corners are all outside."""

    def holds(place: Place) -> bool:
        return sum((at / 32 - c) ** 2 for at, c in zip(place, centre, strict=True)) < radius**2

    found = _map(2, 32, holds)
    _check(found, holds)
    assert len(found.points) < 33**2 * 0.6


@given(st.tuples(*[st.floats(-1, 1)] * 3), st.floats(-1, 1))
@settings(max_examples=10, deadline=None)
def test_three_parameters(normal: tuple[float, float, float], shift: float) -> None:
    """The same in space."""

    def holds(place: Place) -> bool:
        return sum(n * (at / 8 - 0.5) for n, at in zip(normal, place, strict=True)) > shift / 2

    _check(_map(3, 8, holds), holds)


# ---------------------------------------------------------------------------------------------
# Points


@cache
def _decisions(seeds: int, p: float) -> dict[Verdict, float]:
    """How probable each verdict is of a point whose runs hold with probability p: exactly."""
    ways = {0: 1.0}
    decided = dict.fromkeys(Verdict, 0.0)
    done = 0
    for look in looks(seeds):
        more = look - done
        after: dict[int, float] = {}
        for hits, weight in ways.items():
            for new in range(more + 1):
                share = comb(more, new) * p**new * (1 - p) ** (more - new)
                after[hits + new] = after.get(hits + new, 0.0) + weight * share
        ways = {}
        for hits, weight in after.items():
            verdict = judge([True] * hits + [False] * (look - hits), seeds).verdict
            if verdict is Verdict.OPEN and look < seeds:
                ways[hits] = weight
            else:
                decided[verdict] += weight
        done = look
    return decided


@pytest.mark.parametrize("seeds", [6, 8, 10, 16, 20, 32, 64, 100])
@pytest.mark.slow
def test_a_point_is_decided_wrongly_in_one_case_of_twenty_at_most(seeds: int) -> None:
    """Although it is looked at several times: where p is 1/2 each verdict is wrong."""
    exact = _decisions(seeds, 0.5)
    assert sum(exact.values()) == pytest.approx(1)
    assert exact[Verdict.HOLDS] + exact[Verdict.NOT] <= 0.05
    assert _decisions(seeds, 0.999)[Verdict.HOLDS] > 0.95
    assert _decisions(seeds, 0.001)[Verdict.NOT] > 0.95


def test_seeds_that_decide_nothing_are_refused() -> None:
    """Five that agree are not enough for 95 %; one makes no claim of it."""
    assert looks(1) == [1]
    assert judge([True], 1).verdict is Verdict.HOLDS
    for seeds in (2, 5):
        with pytest.raises(ValueError, match="6 and more"):
            looks(seeds)
    assert judge([None, None], 6).verdict is Verdict.IMPOSSIBLE


class Planted:
    """Runs of a study, and their outcomes: the condition holds with a probability that rises."""

    def __init__(self) -> None:
        self.made: list[tuple[str, int]] = []
        self.told: list[str] = []

    def runs(self, values: Mapping[str, str], seeds: Sequence[int]) -> list[Any]:
        """The run of each seed, as what decides its outcome."""
        if values["y"] == "0.5":
            raise UserError([Problem("y", "cannot be")])
        return [(f"{values['x']} {values['y']}", seed) for seed in seeds]

    def of_runs(self, specs: Sequence[tuple[str, int]]) -> list[Outcome]:
        """By a draw that the seed and the values decide."""
        self.made += specs
        return [Outcome(self.holds(*spec), "run") for spec in specs]

    @staticmethod
    def holds(values: str, seed: int) -> bool:
        """Whether it holds: with the probability x."""
        drawn = Random(f"{values} {seed}").random()  # noqa: S311 (no secret)
        return drawn < float(values.split(maxsplit=1)[0])

    def tell(self, line: str) -> None:
        """Keep a line."""
        self.told.append(line)


def test_each_point_takes_the_seeds_that_it_needs() -> None:
    """As one look after the other by itself says; none twice, and one line for each point."""
    planted: Any = Planted()
    axes = read_axes(["x=0.0..1.0", "y=0.0..1.0"])
    seeds = list(range(1, 33))
    found = map_border(2, 8, _Judge(planted, planted, axes, 8, seeds))
    assert len(planted.made) == len(set(planted.made))
    assert len(planted.told) == len(found.points)
    used = set()
    for place, point in found.points.items():
        x, y = (axis.text(step / 8) for axis, step in zip(axes, place, strict=True))
        if y == "0.5":
            assert point.verdict is Verdict.IMPOSSIBLE
            continue
        for look in looks(32):
            outcomes = [Planted.holds(f"{x} {y}", seed) for seed in seeds[:look]]
            expected = judge(outcomes, 32)
            if expected.verdict is not Verdict.OPEN:
                break
        assert point == expected
        used.add(point.runs)
    assert used == {8, 16, 32}


# ---------------------------------------------------------------------------------------------
# Runs


#: h2 pauses the switch for ever, so that all comes to rest in it that its PAUSE cannot stop.
HEADROOM = """
title = "Headroom"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "200us"

[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"

[buffer]
size = "60MB"
headroom = "4MB"
threshold = "static"
xoff = "100KB"
xon = "60KB"

[[fault]]
kind = "pause_storm"
host = "h2"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
"""

__all__ = ["kept_runs"]

pytestmark = [pytest.mark.inputs(*RUNS), pytest.mark.xdist_group("border")]


@pytest.mark.cpp
def test_the_border_of_losses_lies_between_the_closed_forms(tmp_path: Path) -> None:
    """Headroom and delay: below 2 C D frames are lost for certain, above eta' none is."""
    file = tmp_path / "headroom.toml"
    file.write_text(HEADROOM, encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"), claim=True)
    source = Varied(plan, plan.specs[0], str(file))
    axes = read_axes(["topology.delay=500ns..4us", "buffer.headroom=4KB..132KB"])
    region = map_region(source, "lossy", axes, 16, jobs=2)
    assert len(region.map.points) < 17**2
    along = [one for one in region.map.crossings() if one.axis == 1]
    assert len(along) >= 16
    for one in along:
        low, high = region.texts(one.low), region.texts(one.high)
        delay = parse_time(low["topology.delay"])
        certain = 2 * theory.bytes_in(100 * 10**9, delay)
        enough = theory.eta_prime(100 * 10**9, delay, 1500, 64)
        assert parse_bytes(high["buffer.headroom"]) >= certain
        assert parse_bytes(low["buffer.headroom"]) <= enough
        assert region.map.points[one.low].verdict is Verdict.HOLDS
    assert region.widest["buffer.headroom"] == "8KB"
    files = write_region(region, tmp_path / "border.csv")
    border = pd.read_csv(files.border, comment="#")
    assert len(border) == len(region.map.crossings())
    points = pd.read_csv(files.points, comment="#")
    assert len(points) == len(region.map.points)
    assert all(figure.stat().st_size > 5000 for figure in files.figures)
    again = map_region(source, "lossy", axes, 16, jobs=1)
    assert again.trials.runs == 0
    assert again.map == region.map


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("vary", "cells", "said"),
    [
        (["topology.delay=1us..2us"], 16, "two or three"),
        (["topology.delay=1us..2us", "buffer.xoff=1KB,2KB"], 16, "this is not a range"),
        (["topology.delay=1us..2us", "buffer.xoff=1KB..2KB"], 12, "4, 8, 16"),
        (["topology.delay=1us..2us", "buffer.xof=1KB..2KB"], 16, "xof"),
    ],
)
def test_mistakes_are_told(vary: list[str], cells: int, said: str, tmp_path: Path) -> None:
    """Before anything runs."""
    file = tmp_path / "headroom.toml"
    file.write_text(HEADROOM, encoding="utf-8")
    plan = pipeline.make_plan(str(file), paths=Paths(ROOT, tmp_path / "results"))
    with pytest.raises(UserError) as caught:
        map_region(Varied(plan, plan.specs[0], str(file)), "lossy", read_axes(vary), cells)
    assert said in caught.value.render()
