"""Metrics against closed forms and brute force."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pyorch.base.errors import UserError
from pyorch.metrics import (
    MODELS,
    Need,
    RunTables,
    compute,
    is_traced,
    known_numbers,
    output_units,
    parse,
)
from pyorch.metrics.fields import parse_quantity
from pyorch.metrics.flow_kinds import percentile_of, samples_needed
from pyorch.metrics.pause_kinds import CAUSES
from pyorch.metrics.series import rate_series
from tests.forms import section, setting_of, traces_of

US = 10**6
NODES = ["s0", "h0", "h1"]
ALL = [
    {"table": name, "ports": [], "classes": [], "period_ps": US if name == "rate" else 0}
    for name in ("queue", "egress", "rate", "pause", "drop", "control", "flow_rate")
]


def columns(names: str, rows: list[tuple[int, ...]]) -> dict[str, np.ndarray]:
    """A table from rows of integers."""
    data = np.array(rows, dtype=np.int64).reshape(len(rows), len(names.split()))
    return {name: data[:, index] for index, name in enumerate(names.split())}


def make_run(
    end: int = 100, traces: list[dict[str, Any]] | None = None, **tables: Any
) -> RunTables:
    """A run of `end` ps without warm-up over nodes s0, h0, h1."""
    traces = ALL if traces is None else traces
    return run_over({"run": {"duration_ps": end}, "traces": traces}, end, tables)


def run_over(data: dict[str, Any], end: int, tables: dict[str, Any]) -> RunTables:
    """A run of a setting that ended at `end` [ps]."""
    return RunTables(setting_of(data), 1, NODES, {"end_ps": end, "pauses_sent": 7}, tables)


def queue(*rows: tuple[int, int], number: int = 3) -> dict[str, np.ndarray]:
    """A queue table of port s0:h0 from (time, bytes)."""
    full = [(time, 0, 1, number, size) for time, size in rows]
    return columns("time_ps node peer class bytes", full)


def one(run: RunTables, kind: str, **keys: Any) -> float | None:
    """The value of one metric; of a metric with several values the first."""
    return next(iter(compute([parse({"name": "m", "kind": kind, **keys})], run).values()))


STEP = queue((10, 100), (30, 50), (60, 200), (80, 0))


def test_time_mean_is_the_integral_over_time() -> None:
    """A step function: 0 for 10, 100 for 20, 50 for 30, 200 for 20, 0 for 20 ps."""
    expected = (100 * 20 + 50 * 30 + 200 * 20) / 100
    assert one(make_run(queue=STEP), "time_mean", port="s0:h0") == expected


def test_window_cuts_pieces() -> None:
    """From 20 ps to 70 ps: 10 ps of 100, 30 of 50, 10 of 200."""
    keys: dict[str, Any] = {"port": "s0:h0", "from": "20ps", "to": "70ps"}
    run = make_run(queue=STEP)
    assert one(run, "time_mean", **keys) == (100 * 10 + 50 * 30 + 200 * 10) / 50
    assert one(run, "min", **keys) == 50
    assert one(run, "max", **keys) == 200
    assert one(run, "last", **keys) == 200


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 49), st.integers(0, 7), st.integers(0, 9)), max_size=20),
    st.integers(0, 20),
    st.integers(21, 50),
)
def test_time_mean_equals_brute_force(
    changes: list[tuple[int, int, int]], start: int, stop: int
) -> None:
    """Summed over classes, it equals an average over every single picosecond."""
    changes.sort(key=lambda row: row[0])
    level = np.zeros((8, 50))
    for time, number, size in changes:
        level[number, time:] = size
    rows = [(time, 0, 1, number, size) for time, number, size in changes]
    run = make_run(50, queue=columns("time_ps node peer class bytes", rows))
    window = {"from": f"{start}ps", "to": f"{stop}ps"}
    found = one(run, "time_mean", port="s0:h0", **window)
    assert found == pytest.approx(level.sum(axis=0)[start:stop].mean())


def test_swing_gives_two_values() -> None:
    """Smallest and largest value have names of their own."""
    entry = {"name": "q", "kind": "swing", "port": "s0:h0", "from": "10ps", "to": "80ps"}
    assert compute([parse(entry)], make_run(queue=STEP)) == {"q_min": 50.0, "q_max": 200.0}
    assert output_units([parse(entry)]) == {"q_min": "B", "q_max": "B"}


def test_rates_allowed_to_flows_are_summed_over_the_flows_of_a_host() -> None:
    """Two flows of one class at 10 and 4, then 6 and 4, then one is done: 14, 10, 4 bit/s."""
    rows = [(0, 1, 0, 3, 5, 10), (20, 1, 0, 3, 7, 4), (40, 1, 0, 3, 5, 6), (60, 1, 0, 3, 5, 0)]
    rows += [(0, 2, 0, 3, 6, 99)]  # of another host
    run = make_run(flow_rate=columns("time_ps node peer class flow rate_bps", rows))
    keys = {"table": "flow_rate", "port": "h0:s0"}
    assert one(run, "max", **keys) == 14
    assert one(run, "last", **keys) == 4
    assert one(run, "time_mean", **keys) == pytest.approx(
        (20 * 10 + 20 * 14 + 20 * 10 + 40 * 4) / 100
    )
    assert parse({"name": "m", "kind": "max", **keys}).unit() == "bit/s"


def test_first_crossing() -> None:
    """When a level is reached, upwards, downwards, or never."""
    table = queue((10, 40), (20, 90), (30, 60), (40, 95), (50, 74), (60, 76))
    run = make_run(queue=table)
    assert one(run, "first_crossing", port="s0:h0", level="80B") == 20
    down = {"direction": "down", "from": "25ps"}
    assert one(run, "first_crossing", port="s0:h0", level="75B", **down) == 30
    assert one(run, "first_crossing", port="s0:h0", level="100B") is None


def test_lead_of_one_crossing_over_another() -> None:
    """The queue is 100 from 10, 50 from 30, 200 from 60 and 0 from 80 ps on."""
    run = make_run(queue=STEP)

    def lead(first: dict[str, Any], then: dict[str, Any]) -> float | None:
        ends = {"first": first, "then": then}
        ends = {name: {"port": "s0:h0", "class": 3, **end} for name, end in ends.items()}
        return one(run, "lead", **ends)

    assert lead({"level": "100B"}, {"level": "150B"}) == 50
    assert lead({"level": "150B"}, {"level": "100B"}) == -50
    late = {"level": "60B", "direction": "down", "from": "20ps"}
    assert lead({"level": "100B"}, late) == 20
    assert lead({"level": "100B"}, {"level": "201B"}) == math.inf
    assert lead({"level": "201B"}, {"level": "100B"}) is None


def test_stalled_says_when_something_is_stuck() -> None:
    """1 when the last delivery came too early and not all arrived; None without the numbers."""
    run = make_run()
    numbers = {"delivered_bytes": 5, "sent_bytes": 9, "last_delivery_ps": 40}
    for changed, expected in (
        ({}, 1),
        ({"last_delivery_ps": 50}, 0),
        ({"delivered_bytes": 9}, 0),
    ):
        summary = numbers | changed
        told = replace(run, summary=summary)
        assert one(told, "stalled", after="50ps") == expected
    assert one(run, "stalled", after="50ps") is None


def test_rate_counts_bytes_of_intervals() -> None:
    """1,250 bytes in 1 us are 10 Gb/s; a row counts the interval that ends at its time."""
    rows = [(US, 0, 1, 3, 1250, 0), (2 * US, 0, 1, 3, 0, 0), (2 * US, 0, 1, 4, 625, 0)]
    table = columns("time_ps node peer class rx_bytes tx_bytes", rows)
    run = make_run(2 * US, rate=table)
    assert one(run, "rate_mean", port="s0:h0") == pytest.approx(7.5e9)
    assert one(run, "rate_mean", port="s0:h0", **{"class": 3}) == pytest.approx(5e9)
    assert one(run, "rate_mean", port="s0:h0", to="1us") == pytest.approx(10e9)
    assert one(run, "utilisation", port="s0:h0") == pytest.approx(0.75)
    assert one(run, "utilisation", port="s0:h0", rate="40Gbps") == pytest.approx(0.1875)
    assert one(run, "time_mean", port="s0:h0", table="rate", to="1us") == pytest.approx(10e9)


ARRIVALS = [{"table": "rate", "ports": [], "classes": [], "period_ps": 0}]


def arrivals(*times: int) -> dict[str, np.ndarray]:
    """1,500 byte frames that arrive at s0 from h0 at these times [ns]."""
    rows = [(1000 * time, 0, 1, 3, 1500, 0) for time in times]
    return columns("time_ps node peer class rx_bytes tx_bytes", rows)


def test_spread_of_rates_is_the_highest_over_the_mean() -> None:
    """2,500 B by one port and 500 B by the other: 2,500 over 1,500, or 3 over 1 if one is idle."""
    rows = [(US, 0, 1, 3, 0, 2500), (US, 1, 0, 3, 700, 500)]
    run = make_run(US, rate=columns("time_ps node peer class rx_bytes tx_bytes", rows))
    ports = ["s0:h0", "h0:s0"]
    assert one(run, "rate_spread", ports=ports) == pytest.approx(2500 / 1500)
    assert one(run, "rate_spread", ports=ports, direction="rx") == pytest.approx(2)
    assert one(run, "rate_spread", ports=[*ports, "s0:h1"]) is None
    idle = make_run(
        US, rate=columns("time_ps node peer class rx_bytes tx_bytes", [(US, 0, 1, 3, 0, 0)])
    )
    assert one(idle, "rate_spread", ports=["s0:h0", "s0:h0"]) is None


def test_rate_of_single_frames() -> None:
    """10 Gb/s for 3 frames, 5 Gb/s for 2, then silence and one frame at line rate."""
    table = arrivals(1200, 2400, 3600, 6000, 8400, 60_000)
    run = make_run(100 * US, traces=ARRIVALS, rate=table)
    windows = [(0, 3600, 10e9), (3600, 8400, 5e9), (8400, 58_800, 0), (58_800, 60_000, 10e9)]
    for start, stop, rate in windows:
        window = {"from": f"{start}ns", "to": f"{stop}ns"}
        assert one(run, "rate_mean", port="s0:h0", **window) == pytest.approx(rate)
    whole = 6 * 1500 * 8 / 100e-6
    assert one(run, "rate_mean", port="s0:h0") == pytest.approx(whole)
    keys = {"table": "rate", "port": "s0:h0"}
    assert one(run, "min", **keys) == 0
    assert one(run, "max", **keys) == pytest.approx(10e9)


def test_silence_is_a_rate_of_zero() -> None:
    """A traced port at which no frame arrived; what it sent is not known without a period."""
    run = make_run(100 * US, traces=ARRIVALS, rate=arrivals())
    assert one(run, "rate_mean", port="s0:h0") == 0
    assert one(run, "rate_mean", port="s0:h0", direction="tx") is None
    one_frame = make_run(100 * US, traces=ARRIVALS, rate=arrivals(50_000))
    assert one(one_frame, "rate_mean", port="s0:h0") == pytest.approx(1500 * 8 / 100e-6)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 90_000), min_size=1, max_size=30, unique=True))
def test_rates_keep_all_bytes(times: list[int]) -> None:
    """Whatever the gaps, rate times time is what arrived, unless the last piece is open."""
    run = make_run(1000 * US, traces=ARRIVALS, rate=arrivals(*sorted(times)))
    mean = one(run, "rate_mean", port="s0:h0")
    assert mean is not None
    series = rate_series(run, "rx", "s0:h0", 3)
    assert series is not None
    _, values, lengths = series.clip(0, 1000 * US)
    assert (values * lengths).sum() / 1e12 == pytest.approx(len(times) * 1500 * 8)


PAUSES = columns(
    "start_ps end_ps node peer class side",
    [(10, 20, 1, 0, 3, 1), (30, 45, 1, 0, 3, 1), (90, 100, 1, 0, 3, 1), (0, 50, 0, 1, 3, 0)],
)


def test_pause_times() -> None:
    """Lengths 10 and 15, gaps 10 and 45; the interval cut off by the run's end has no length."""
    run = make_run(pause=PAUSES)
    assert one(run, "on_time", side="paused") == 12.5
    assert one(run, "off_time", side="paused") == (10 + 45) / 2
    assert one(run, "pause_time", side="paused") == 35
    assert one(run, "pause_time", side="pausing") == 50
    assert one(run, "pause_time", side="paused", **{"from": "15ps", "to": "40ps"}) == 5 + 10
    assert one(run, "pause_count", side="paused", to="40ps") == 2
    assert one(run, "pause_count", side="paused", ports=["h1:s0"]) == 0
    assert one(run, "on_time", side="paused", ports=["h1:s0"]) is None


def test_gaps_do_not_join_ports() -> None:
    """Off time is taken within a port and class, never between two of them."""
    rows = [(10, 20, 1, 0, 3, 1), (40, 50, 2, 0, 3, 1), (70, 80, 1, 0, 4, 1)]
    table = columns("start_ps end_ps node peer class side", rows)
    assert one(make_run(pause=table), "off_time", side="paused") is None


def flows(n: int, unfinished: int = 0) -> dict[str, np.ndarray]:
    """Flow i takes (i + 1) times its ideal time of 10 ps; the last ones do not finish."""
    rows = [
        (i, 1, 2, 3, 1000 + i, 0, 10 * (i + 1) if i < n - unfinished else -1, 10, 1000)
        for i in range(n)
    ]
    names = "flow src dst class size_bytes start_ps finish_ps ideal_ps delivered_bytes"
    return columns(names, rows)


def test_percentiles_need_samples() -> None:
    """p99 from 1,000 flows, p99.9 from 10,000, median from 20."""
    assert [samples_needed(p) for p in (50, 90, 99, 99.9)] == [20, 100, 1000, 10_000]
    run = make_run(10**6, flow=flows(999))
    assert one(run, "fct_slowdown", percentile=99) is None
    run = make_run(10**6, flow=flows(1000))
    assert one(run, "fct_slowdown", percentile=99) == 990
    assert one(run, "fct_slowdown", percentile=50) == 500
    assert one(run, "fct", percentile=50) == 5000


def test_the_least_number_of_flows_of_a_percentile_can_be_given() -> None:
    """With `min_flows` a p99 of 7 flows is their largest; without a percentile it means nothing."""
    run = make_run(10**6, flow=flows(7))
    assert one(run, "fct_slowdown", percentile=99, min_flows=7) == 7
    assert one(run, "fct_slowdown", percentile=99, min_flows=8) is None
    with pytest.raises(ValidationError, match="'min_flows' needs 'percentile'"):
        one(run, "fct", min_flows=5)


def test_completion_at_the_sender_counts_what_is_not_acknowledged_as_unfinished() -> None:
    """ACKs come 5 ps after the last bit, in the ideal case 2 ps; then the last one is missing."""
    table = flows(40)
    table["acked_ps"] = table["finish_ps"] + 5
    table["ideal_acked_ps"] = table["ideal_ps"] + 2
    run = make_run(10**6, flow=table)
    assert one(run, "fct", until="acked") == 5 + 10 * 20.5
    assert one(run, "fct") == one(run, "fct", until="received") == 10 * 20.5
    assert one(run, "fct_slowdown", until="acked", percentile=50) == 205 / 12
    table["acked_ps"][-1] = -1
    assert one(run, "fct", until="acked") == math.inf
    assert one(run, "fct") == 10 * 20.5


def test_a_flow_without_an_ideal_time_has_no_slowdown() -> None:
    """There was no path when it began: it counts in the FCT, and nowhere in the slowdown."""
    table = flows(40)
    table["ideal_ps"][:20] = -1
    run = make_run(10**6, flow=table)
    assert one(run, "fct_slowdown", percentile=50) == 30
    assert one(run, "fct_slowdown") == pytest.approx(np.mean(range(21, 41)))
    assert one(run, "fct", percentile=50) == 200


def test_unfinished_flows_are_infinite() -> None:
    """They raise means, and percentiles that reach them."""
    run = make_run(10**6, flow=flows(1000, unfinished=20))
    assert one(run, "fct_slowdown", percentile=99) == math.inf
    assert one(run, "fct_slowdown", percentile=90) == 900
    assert one(run, "fct") == math.inf


def test_warmup_and_size_choose_flows() -> None:
    """Flows that start in the warm-up, and flows outside the bucket, do not count."""
    run = make_run(10**6, flow=flows(100))
    keys: dict[str, Any] = {"min_size": "1010B", "max_size": "1020B"}
    assert one(run, "fct_slowdown", **keys) == pytest.approx(np.mean(range(11, 21)))
    late = replace(run, setting=replace(run.setting, run=section(warmup_ps=1, duration_ps=10**6)))
    assert one(late, "fct_slowdown") is None


@settings(max_examples=50)
@given(st.lists(st.floats(1, 1e6), min_size=20, max_size=60))
def test_percentile_is_nearest_rank(values: list[float]) -> None:
    """The median is the smallest value that at least half of the samples do not exceed."""
    expected = sorted(values)[math.ceil(len(values) / 2) - 1]
    assert percentile_of(np.array(values), 50) == expected


def test_goodput_and_fairness() -> None:
    """Two greedy flows of 1,000 and 3,000 bytes in 1 us: 8 and 24 Gb/s; Jain's index 0.8."""
    names = "flow src dst class size_bytes start_ps finish_ps ideal_ps delivered_bytes"
    table = columns(names, [(0, 1, 2, 3, 0, 0, -1, 0, 1000), (1, 1, 2, 3, 0, 0, -1, 0, 3000)])
    run = make_run(US, flow=table)
    assert one(run, "goodput") == pytest.approx(32e9)
    assert one(run, "goodput", of="min") == pytest.approx(8e9)
    assert one(run, "goodput", flows=[1]) == pytest.approx(24e9)
    assert one(run, "goodput", src=["h1"]) is None
    assert one(run, "fairness") == pytest.approx(16 / (2 * (1 + 9)))


def test_delays_of_a_pause_are_told_apart() -> None:
    """Decision to obedience, obedience to the last arrival before the silence; and ratios."""
    rows = [(100, 500, 0, 1, 3, 0), (130, 560, 1, 0, 3, 1)]
    rows += [(900, 1400, 0, 1, 3, 0), (950, 1450, 1, 0, 3, 1)]
    pauses = columns("start_ps end_ps node peer class side", rows)
    # 20 and 40 ps after the first pause is obeyed, again from the resume on, 10 ps after the second
    times = [90, 110, 150, 170, 600, 620, 640, 660, 680, 700, 720, 740, 760, 780, 960, 1500]
    rates = columns(
        "time_ps node peer class rx_bytes tx_bytes", [(time, 0, 1, 3, 100, 0) for time in times]
    )
    run = make_run(2000, pause=pauses, rate=rates)
    port: dict[str, Any] = {"port": "s0:h0", "class": 3}
    assert one(run, "pause_latency", **port) == 50
    assert one(run, "pause_latency", statistic="min", **port) == 30
    assert one(run, "pause_latency", statistic="mean", **port) == 40
    assert one(run, "pause_tail", **port) == 40
    assert one(run, "pause_tail", statistic="min", **port) == 10
    assert one(run, "ratio", number="pauses_sent", to="end_ps") == 7 / 2000
    assert one(run, "ratio", number="pauses_sent", to="absent") is None


def test_causes_are_those_of_the_simulator() -> None:
    """Their order is that of the enumeration in C++."""
    header = Path(__file__).parents[2] / "ns3-modules/lossless/model/lossless-frame.h"
    body = header.read_text().partition("enum class DropCause")[2].partition("}")[0]
    assert re.findall(r"^ +([A-Z_]+),", body, re.MULTILINE) == [c.upper() for c in CAUSES]


def test_drops_and_summary() -> None:
    """Drops are counted by cause in the window; a summary number is taken as it is."""
    rows = [(5, 0, 1, 3, 1, 0, 1000), (6, 0, 1, 3, 2, 0, 1000), (7, 0, 2, 3, 1, 0, 1000)]
    run = make_run(drop=columns("time_ps node peer class cause flow bytes", rows))
    assert one(run, "drops") == 3
    assert one(run, "drops", cause="lossy", ports=["s0:h0"]) == 1
    assert one(run, "drops", to="6ps") == 1
    assert one(run, "summary", number="pauses_sent") == 7
    assert one(run, "summary", number="absent") is None


def control(*rows: tuple[int, int, int], peer: int = 1) -> dict[str, np.ndarray]:
    """A control table of the port of s0 to a peer, from (time, class vector, wire bytes)."""
    full = [(time, 0, peer, 0x0FC1, classes, size) for time, classes, size in rows]
    return columns("time_ps node peer opcode classes bytes", full)


def test_control_frames_take_a_share_of_the_link() -> None:
    """At 10 Gb/s 125 B take 100 ns; what reaches out of the window counts as far as it is in."""
    ns = 1000
    table = control((0, 8, 125), (400 * ns, 8, 125), (500 * ns, 16, 125), (950 * ns, 24, 125))
    run = make_run(1000 * ns, control=table)
    assert one(run, "control_share", port="s0:h0") == pytest.approx(0.35)
    assert one(run, "control_share", port="s0:h1") == 0
    assert one(run, "control_share", port="s0:h0", rate="5Gbps") == pytest.approx(0.65)
    assert one(run, "control_share", port="s0:h0", **{"class": 4}) == pytest.approx(0.15)
    window = {"from": "50ns", "to": "450ns"}
    assert one(run, "control_share", port="s0:h0", **window) == pytest.approx(0.25)
    peak: dict[str, Any] = {"port": "s0:h0", "window": "200ns"}
    assert one(run, "control_peak", **peak) == pytest.approx(1.0)
    assert one(run, "control_peak", **peak, **{"class": 3}) == pytest.approx(0.5)
    assert one(run, "control_peak", port="s0:h0", window="100ns") == pytest.approx(1.0)
    assert one(run, "control_peak", port="s0:h0", window="101ns") == pytest.approx(200 / 101)
    assert one(run, "control_peak", port="s0:h0", window="1us") == pytest.approx(0.4)
    assert one(run, "control_peak", port="s0:h0", window="1001ns") is None
    assert one(run, "control_peak", port="s0:h1", window="1us") == 0


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 59), st.integers(1, 9)), max_size=25),
    st.integers(1, 60),
    st.integers(0, 20),
    st.integers(40, 60),
)
def test_peak_equals_brute_force(
    frames: list[tuple[int, int]], window: int, start: int, stop: int
) -> None:
    """Every span of whole picoseconds inside the interval, one by one."""
    frames.sort()
    run = make_run(60, control=control(*[(time, 8, size) for time, size in frames]))
    found = one(
        run,
        "control_peak",
        port="s0:h0",
        rate="8Tbps",  # a byte a picosecond
        window=f"{window}ps",
        **{"from": f"{start}ps", "to": f"{stop}ps"},
    )
    sums = [
        sum(size for time, size in frames if at <= time < at + window)
        for at in range(start, stop - window + 1)
    ]
    assert found == (pytest.approx(max(sums) / window) if sums else None)


PORT_KINDS = sorted(kind for kind, model in MODELS.items() if "port" in model.model_fields)


@pytest.mark.parametrize("kind", PORT_KINDS)
def test_missing_data_is_none(kind: str) -> None:
    """Untraced tables, untraced ports and ports that do not exist give None."""
    more: dict[str, Any] = {"level": "1B", "tolerance": 0.1, "class_number": 3, "window": "1us"}
    more |= {key: {"port": "s0:h0", "level": "1B"} for key in ("first", "then")}
    more = {key: value for key, value in more.items() if key in MODELS[kind].model_fields}
    more |= {"traffic": "job", "to": "pauses"} if kind == "lost_time" else {}
    assert one(make_run(), kind, port="s0:h0", **more) is None
    assert one(make_run(queue=STEP), kind, port="s0:h9", **more) is None
    other = [{"table": "queue", "ports": [["s0", "h1"]], "classes": []}]
    assert one(make_run(queue=STEP, traces=other), kind, port="s0:h0", **more) is None


def test_traced_but_never_changed_is_zero() -> None:
    """A traced queue without a row was empty all the time."""
    assert one(make_run(queue=queue()), "max", port="s0:h0") == 0


def test_needs_are_matched_with_traces() -> None:
    """A trace covers a need when table, port and class fit; empty lists mean all."""
    traces = traces_of([{"table": "queue", "ports": [["s0", "h0"]], "classes": [3]}])
    assert is_traced(Need("queue", "s0:h0", 3), traces)
    assert not is_traced(Need("queue", "s0:h1", 3), traces)
    assert not is_traced(Need("queue", "s0:h0", 4), traces)
    assert not is_traced(Need("rate", "s0:h0", 3), traces)
    assert is_traced(Need("flow"), [])
    rate = Need("rate", "s0:h0", 3, sampled=True)
    assert not is_traced(rate, traces_of([{"table": "rate"}]))
    assert is_traced(rate, traces_of([{"table": "rate", "period_ps": 5}]))


def test_bytes_between_two_crossings() -> None:
    """16 B a ps up to 40 ps, then 8: from 20 to 60 ps 480 B; the egress queue is read as any."""
    rates = [(time, 2, 0, 3, 160 if time <= 40 else 80, 0) for time in range(10, 101, 10)]
    traces = [{**entry, "period_ps": 10} if entry["table"] == "rate" else entry for entry in ALL]
    run = make_run(
        traces=traces,
        egress=queue((20, 100), (60, 0)),
        rate=columns("time_ps node peer class rx_bytes tx_bytes", rates),
    )
    assert one(run, "max", table="egress", port="s0:h0") == 100
    rises = {"table": "egress", "port": "s0:h0", "level": "100B"}
    falls = {**rises, "level": "0B", "direction": "down", "from": "30ps"}
    never = {**rises, "level": "101B"}

    def between(first: dict[str, Any], then: dict[str, Any]) -> float | None:
        return one(run, "bytes_between", port="h1:s0", first=first, then=then)

    assert between(rises, falls) == pytest.approx(20 * 16 + 20 * 8)
    assert between(falls, rises) == 0
    assert between(rises, never) == math.inf
    assert between(never, rises) is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "time_mean", "port": "s0"}, "a port is written 'NODE:NEIGHBOUR'"),
        ({"kind": "time_mean", "port": "s0:h0", "from": "5"}, "lacks its unit"),
        ({"kind": "time_mean", "port": "s0:h0", "form": "5us"}, "Extra inputs are not permitted"),
        ({"kind": "time_mean", "port": "s0:h0", "table": "flow"}, "is not a series over time"),
        ({"kind": "max", "port": "s0:h0", "from": "5us", "to": "5us"}, "must be before"),
        ({"kind": "first_crossing", "port": "s0:h0", "level": "5us"}, "'level' is in ps"),
        ({"kind": "time_mean", "port": "s0:h0", "table": "rate", "column": "b"}, "'rx' or 'tx'"),
        ({"kind": "max", "port": "s0:h0", "table": "control"}, "is not a series over time"),
        ({"kind": "control_share", "port": "s0:h0", "rate": "0bps"}, "must be above 0"),
        ({"kind": "control_share", "port": "s0:h0", "from": "5us", "to": "4us"}, "must be before"),
        ({"kind": "control_peak", "port": "s0:h0"}, "window"),
        ({"kind": "control_peak", "port": "s0:h0", "window": "0us"}, "greater than 0"),
        (
            {
                "kind": "lead",
                "first": {"port": "s0:h0", "level": "5us"},
                "then": {"port": "s0:h0", "level": "5B"},
            },
            "'level' is in ps",
        ),
    ],
)
def test_bad_entries_are_refused(entry: dict[str, Any], message: str) -> None:
    """Every mistake is named."""
    with pytest.raises(ValidationError, match=message):
        parse({"name": "m", **entry})


def test_unknown_kind_is_a_user_error() -> None:
    """An unknown kind lists the known ones."""
    with pytest.raises(UserError, match="unknown kind 'mean'"):
        parse({"name": "m", "kind": "mean"})


def example(kind: str) -> dict[str, Any]:
    """A valid entry of a kind."""
    keys: dict[str, Any] = {
        "port": "s0:h0",
        "level": "1KB",
        "window": "5us",
        "number": "events",
        "from": "5us",
    }
    keys |= {"to": "end_ps"} if kind == "ratio" else {}
    keys |= {"ports": ["s0:h0", "s0:h1"]} if kind == "rate_spread" else {}
    jobs = ("collective_time", "bus_bandwidth", "iteration_time", "lateness", "lost_time")
    keys |= {"traffic": "job"} if kind in ("job_time", "exposed_communication") else {}
    keys |= {"to": "collisions"} if kind == "lost_time" else {}
    keys |= {"traffic": ["job"]} if kind == "job_fairness" else {}
    keys |= {"traffic": "job", "collective": "sum"} if kind in jobs else {}
    crossing = {"port": "s0:h0", "class": 3, "level": "1KB", "from": "5us"}
    keys |= {"after": "5us", "first": crossing, "then": crossing | {"direction": "down"}}
    keys |= (
        {"class": 3} if kind.startswith("pause_") and "port" in MODELS[kind].model_fields else {}
    )
    fields = {info.alias or name for name, info in MODELS[kind].model_fields.items()}
    return {"name": "m", "kind": kind} | {k: v for k, v in keys.items() if k in fields}


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_dumped_entries_can_be_read(kind: str) -> None:
    """A validated entry, written as JSON, is the same entry: it travels in a RunSpec."""
    model = parse(example(kind))
    assert parse(model.model_dump(mode="json", exclude_none=True)) == model


ROW = {
    "queue": "time_ps node peer class bytes",
    "egress": "time_ps node peer class bytes",
    "rate": "time_ps node peer class rx_bytes tx_bytes",
    "pause": "start_ps end_ps node peer class side",
    "control": "time_ps node peer opcode classes bytes",
    "drop": "time_ps node peer class cause flow bytes",
    "flow_rate": "time_ps node peer class flow rate_bps",
    "flow_link": "first_ps last_ps node peer class flow bytes",
    "detection": "time_ps node peer class way begun_ps looped_ps episode",
    "deadlock": "episode kind formed_ps seen_ps dissolved_ps cycle_queues stuck_queues",
    "deadlock_part": "episode part order node peer class time_ps reason egress_peer",
    "pause_tree": "start_ps end_ps node peer class cause_peer depth root_node root_peer",
    "flow": "flow src dst class size_bytes start_ps finish_ps ideal_ps delivered_bytes sent_bytes "
    "acked_ps ideal_acked_ps",
}
"""The columns of every table."""
TABLES_OF_LITTLE: dict[str, list[int]] = {"none": [], "empty": [], "0": [0], "-1": [-1], "1": [1]}


@pytest.mark.parametrize("content", TABLES_OF_LITTLE)
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_a_metric_of_little_data_has_a_value_or_none(kind: str, content: str) -> None:
    """Without tables, with empty ones, and with one row that says nothing: never an exception."""
    number = TABLES_OF_LITTLE[content]
    tables = {
        name: columns(row, [tuple(number * len(row.split()))] if number else [])
        for name, row in ROW.items()
    }
    entry = {"kind": "greedy", "src": ["h0"], "dst": ["h1"], "label": "job"}
    data = {"run": {"duration_ps": 10**6}, "traces": ALL, "traffic": [entry] if number else []}
    run = run_over(data, 10**6, {} if content == "none" else tables)
    with np.errstate(all="raise"):
        found = compute([parse(example(kind))], run)
    assert all(value is None or isinstance(value, float | int) for value in found.values())


REPORTS = Path(__file__).parents[2] / "ns3-modules"


def numbers_of_the_modules() -> set[str]:
    """Every name under which a module writes a number into the summary, read in its C++."""
    sources = [*REPORTS.glob("*/model/**/*.cc"), *REPORTS.glob("*/helper/*.cc")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    return {name for text in texts for name in re.findall(r'summary\["(\w+)"\]', text)}


def test_no_number_of_a_summary_is_a_sentinel() -> None:
    """-1 for a moment that never came, or for no node, is no value; what counts stays as it is."""
    names = numbers_of_the_modules()
    assert {"deadlock_formed_ps", "deadlock_trigger_node", "pauses_sent"} <= names
    run = make_run()
    told = replace(run, summary=dict.fromkeys(names, -1.0))
    times = {name for name in names if name.endswith(("_ps", "_node", "_peer"))}
    for name in names:
        entry = {"kind": "summary", "name": "x", "number": name}
        assert (compute([parse(entry)], told)["x"] is None) == (name in times), name
        ratio = {"kind": "ratio", "name": "x", "number": name, "to": "pauses_sent"}
        assert (compute([parse(ratio)], told)["x"] is None) == (name in times), name


def test_the_modules_write_no_other_sentinel() -> None:
    """Of every number that a module may give as -1 the name says that it is of something."""
    monitor = (REPORTS / "deadlock/helper/deadlock-monitor.cc").read_text(encoding="utf-8")
    statements = re.findall(r'summary\["(\w+)"\] =([^;]*);', monitor)
    given = {name for name, value in statements if re.search(r"-1\b|time\(", value)}
    assert "deadlock_formed_ps" in given
    assert all(known_numbers({name: -1.0})[name] is None for name in given)
    others = [path for path in REPORTS.glob("*/*/*.cc") if path.name != "deadlock-monitor.cc"]
    for path in others:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'summary\["\w+"\] \+?=[^;]*(-1\b|max\(\);)', text), path


def test_quantities() -> None:
    """Sizes, rates, times, shares and pure numbers are distinguished by their unit."""
    assert parse_quantity("75KB") == parse_quantity("75000B")
    assert parse_quantity("54.8us").value == 54_800_000
    assert parse_quantity("5Gbps").unit == "bit/s"
    assert parse_quantity(0.5).unit == "1"
    with pytest.raises(ValueError, match="b'75KB' is not text or a number"):
        parse_quantity(b"75KB")  # type: ignore[arg-type]
    assert parse_quantity("0.086487%") == parse_quantity(0.00086487)
    assert parse_quantity("-5 %") == parse_quantity(-0.05)
    for text in ("five", "%", "1e3%", "5%%"):
        with pytest.raises(ValueError, match=f"'{text}' is neither a size"):
            parse_quantity(text)


def test_models_load_no_numeric_library() -> None:
    """Every start validates; it must not pay for numpy, pandas or matplotlib."""
    code = (
        "import sys, pyorch.metrics, pyorch.report, pyorch.report.figures, pyorch.report.expect;"
        "print([m for m in ('numpy', 'pandas', 'matplotlib', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
