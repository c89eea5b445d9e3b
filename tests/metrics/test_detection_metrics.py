"""Metrics of deadlock detectors, against brute force and cases made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.metrics import RunTables, compute, parse
from pyorch.metrics.detection_kinds import WAYS
from pyorch.report.statistics import clopper_pearson
from tests.forms import setting_of

Row = tuple[int, ...]


SETTING = setting_of({"run": {"duration_ps": 1000}})


def columns(names: str, rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """A table from rows of integers."""
    data = np.array(rows, dtype=np.int64).reshape(len(rows), len(names.split()))
    return {name: data[:, index] for index, name in enumerate(names.split())}


def make_run(detections: Sequence[Row], deadlocks: Sequence[Row]) -> RunTables:
    """A run of 1000 ps.

    detections: time, way, looped, episode. deadlocks: episode, kind, formed, dissolved.
    """
    tables = {
        "detection": columns("time_ps way looped_ps episode", detections),
        "deadlock": columns("episode kind formed_ps dissolved_ps", deadlocks),
    }
    return RunTables(SETTING, 1, [], {"end_ps": 1000}, tables)


def one(run: RunTables, kind: str, **keys: object) -> float | None:
    """The value of one metric."""
    return compute([parse({"name": "m", "kind": kind, **keys})], run)["m"]


DEADLOCKS = [(0, 0, 100, 400), (1, 1, 150, -1), (2, 0, 300, -1)]
"""Two cyclic ones that are there at the same time, and one that waits for a host."""


def test_a_detection_is_false_where_the_oracle_saw_no_cyclic_deadlock_then() -> None:
    """What else was deadlocked at that time, elsewhere or later, does not make it true."""
    said = [(99, 0, 0, -1), (200, 0, 0, 0), (200, 0, 0, -1), (401, 2, 0, -1), (500, 1, 0, 2)]
    run = make_run(said, DEADLOCKS)
    assert one(run, "false_alarms") == 3
    assert one(run, "false_alarms", ways=["on_loop"]) == 2
    assert one(run, "false_alarms", ways=["off_loop"]) == 0


def test_a_deadlock_is_missed_when_no_queue_of_it_is_declared() -> None:
    """That another is found at the same time does not help; it may be there for too short."""
    run = make_run([(350, 2, 340, 2)], DEADLOCKS)  # both are there at 350 ps
    assert one(run, "missed_deadlocks") == 1
    assert one(run, "missed_deadlocks", grace="301ps") == 0  # the first was there for 300 ps
    assert one(run, "missed_deadlocks", grace="300ps") == 1
    assert one(run, "missed_deadlocks", ways=["on_loop"]) == 2
    assert one(run, "detection_time") is None  # of the first, which nobody saw
    assert one(run, "detection_lap") is None


def test_times_are_those_of_the_first_deadlock() -> None:
    """From its formation, and of the last round of messages."""
    found = [(130, 1, 121, 0), (120, 0, 112, 0), (110, 0, 100, -1), (105, 0, 1, 2)]
    run = make_run(found, DEADLOCKS)
    assert one(run, "detection_time") == 20
    assert one(run, "detection_time", ways=["off_loop"]) == 30
    assert one(run, "detection_lap") == 8
    assert one(run, "detection_lap", ways=["off_loop"]) == 9
    nothing = make_run([], [])
    assert one(nothing, "detection_time") is None
    assert one(nothing, "detection_lap") is None
    assert one(nothing, "false_alarms") == 0
    assert one(nothing, "missed_deadlocks") == 0


def test_without_its_tables_a_metric_is_empty() -> None:
    """Never a made-up number."""
    run = RunTables(SETTING, 1, [], {"end_ps": 1000}, {})
    for kind in ("false_alarms", "missed_deadlocks", "detection_time", "detection_lap"):
        assert one(run, kind) is None


@given(st.integers(1, 60), st.data())
def test_clopper_pearson_by_its_definition(n: int, data: st.DataObject) -> None:
    """At its bounds what was seen, or more extreme, has the probability that is left."""
    hits = data.draw(st.integers(0, n))
    low, high = clopper_pearson(hits, n)
    tail = 0.025  # also at 0 and n: the interval is two-sided

    def probability(share: float, counts: range) -> float:
        return sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in counts)

    assert low <= hits / n <= high
    if hits > 0:
        assert probability(low, range(hits, n + 1)) == pytest.approx(tail, rel=1e-6)
    if hits < n:
        assert probability(high, range(hits + 1)) == pytest.approx(tail, rel=1e-6)


def test_no_hits_leave_a_bound_that_falls_as_one_over_n() -> None:
    """No hits in n: (1 - p)^n = 0.025 gives about -ln(0.025) / n = 3.69 / n."""
    low, high = clopper_pearson(0, 2000)
    assert low == 0
    assert high == pytest.approx(-math.log(0.025) / 2000, rel=0.01)


def test_every_way_has_a_name() -> None:
    """dcfit-detector.h, pfc-watchdog.h and dcfit-controller.h number them."""
    assert WAYS == ("on_loop", "off_loop", "again", "watchdog", "controller")
