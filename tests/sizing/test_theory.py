"""Closed forms and fluid models against published and independently derived numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.sizing import theory
from pyorch.sizing.asics import ASICS, SHIPPED
from tests import fluid as fluid_model

GBPS = 10**9
US = 10**6


@pytest.mark.parametrize(
    ("rate", "delay_ps", "bytes_"),
    [
        (10, US, 9_340),
        (25, US, 13_090),
        (40, US, 16_840),
        (100, 2 * US, 56_840),
        (400, 2 * US, 206_840),
    ],
)
def test_eta_of_dsh(rate: int, delay_ps: int, bytes_: int) -> None:
    """The table of headrooms for an MTU of 1500 B; DSH itself prints the one at 100G."""
    assert theory.eta(rate * GBPS, delay_ps, 1500) == bytes_


def test_eta_prime_counts_what_eta_leaves_out() -> None:
    """Two frames on the wire, response, PAUSE on the wire and the frame that triggers it."""
    at_100g = theory.eta_prime(100 * GBPS, US, 1048, 64)
    assert at_100g == 25_000 + 2 * 1068 + 3840 + 84 + 1048
    slow = theory.eta_prime(10 * GBPS, US, 1048, 64, 0, 22 * US)
    assert slow == 2500 + 2 * 1048 + 27_500 + 64 + 1048


@given(st.integers(1, 400), st.integers(0, 10**8), st.integers(64, 9000), st.integers(0, 40))
def test_eta_prime_is_above_eta(rate: int, delay_ps: int, mtu: int, overhead: int) -> None:
    """It is eta, one more frame, the PAUSE and three overheads, whatever the link."""
    found = theory.eta_prime(rate * GBPS, delay_ps, mtu, 64, overhead)
    assert found - theory.eta(rate * GBPS, delay_ps, mtu) == mtu + 64 + 3 * overhead


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_bytes_are_rounded_up(rate: int, time_ps: int) -> None:
    """The bytes carry at least rate times time, by less than one byte more."""
    exact = rate * time_ps / 8e12
    assert exact <= theory.bytes_in(rate, time_ps) < exact + 1


@given(st.floats(0.01, 16), st.integers(1000, 10**8), st.integers(1, 64))
def test_dynamic_threshold_is_the_fixed_point(alpha: float, shared: int, queues: int) -> None:
    """Each queue holds w = alpha (Bs - n w)."""
    held = theory.dynamic_threshold(alpha, shared, queues)
    assert held == pytest.approx(alpha * (shared - queues * held), rel=1e-6, abs=1e-3)


def test_gfc_fluid_of_figure_5() -> None:
    """One overshoot to 78.5 KB at 150 us, an undershoot to 74.5 KB, then 75 KB."""
    fluid = fluid_model.gfc_fluid(10 * GBPS, 5 * GBPS, 25e-6, 100_000, 50_000, 2e-3)
    assert fluid.peak() == pytest.approx(78_500, abs=60)
    assert fluid.peak_time() == pytest.approx(150e-6, abs=1e-6)
    assert fluid.after(150e-6).queue.min() == pytest.approx(74_500, abs=60)
    assert fluid.after(1e-3).mean() == pytest.approx(75_000, abs=1)
    assert fluid.rate[-1] == pytest.approx(5 * GBPS, rel=1e-6)


def test_pfc_fluid_of_figure_5() -> None:
    """The queue swings from 61.4 to 95.6 KB, 54.8 us with input and 54.8 us without."""
    fluid = fluid_model.pfc_fluid(10 * GBPS, 5 * GBPS, 25e-6, 80_000, 77_000, 2e-3).after(400e-6)
    on, off = fluid.intervals()
    assert (fluid.queue.min(), fluid.peak()) == pytest.approx((61_400, 95_600), abs=60)
    assert (on, off) == pytest.approx((54.8e-6, 54.8e-6), abs=1e-7)
    assert fluid.period() == pytest.approx(109.6e-6, abs=2e-7)


@pytest.mark.parametrize(("factor", "overshoots"), [(2.5, True), (2.75, False), (4.0, False)])
@pytest.mark.slow
def test_the_tight_range_of_gfc_is_e(factor: float, overshoots: bool) -> None:
    """With nothing drained the queue passes Bm below e C tau and not above; 4 C tau is safe."""
    reach = 31_250  # C tau at 10G and 25 us
    b0 = 200_000 - round(factor * reach)
    fluid = fluid_model.gfc_fluid(10 * GBPS, 0, 25e-6, 200_000, b0, 2e-3)
    assert (fluid.peak() > 200_000 + 1) is overshoots
    assert theory.gfc_sufficient_range(10 * GBPS, 25 * US) == 4 * reach


def test_stage_thresholds_of_multi_stage_gfc() -> None:
    """Bm = 300 KB and B1 = 281 KB give the table of stages 1 to 6."""
    stages = theory.gfc_stage_thresholds(300_000, 281_000, 6)
    assert stages == [281_000, 290_500, 295_250, 297_625, 298_812.5, 299_406.25]


def test_a_queue_that_never_pauses_has_no_period() -> None:
    """Without a pause there is nothing to average."""
    fluid = fluid_model.pfc_fluid(10 * GBPS, 10 * GBPS, 25e-6, 80_000, 77_000, 1e-4)
    assert math.isnan(fluid.period())


@pytest.mark.parametrize(
    ("senders", "gbps", "threshold", "loop", "reserve"),
    [
        (2, 18.75, 91e3, 14.5e-6, 0.0),
        (2, 18.75, 91e3, 14.5e-6, 12.5e3),
        (2, 18.75, 91e3, 14.5e-6, 40e3),
        (8, 25.0, 50e3, 5e-6, 0.0),
        (4, 100.0, 500e3, 9e-6, 50e3),
    ],
)
@pytest.mark.slow
def test_source_flow_control_against_time_steps(
    senders: int, gbps: float, threshold: float, loop: float, reserve: float
) -> None:
    """What is silent, by every arrival above the threshold, in steps of 10 ns."""
    step, rate = 10e-9, gbps * 1e9 / 8
    queue, peak, busy, steps = 0.0, 0.0, 0, 400_000
    silence: list[tuple[float, float]] = []
    now_silent_until, heard = 0.0, 0
    for number in range(steps):
        time = number * step
        while heard < len(silence) and silence[heard][0] <= time:
            now_silent_until = max(now_silent_until, silence[heard][1])
            heard += 1
        if time >= now_silent_until:
            queue += senders * rate * step
            if queue > threshold:
                silence.append((time + loop, time + loop + (queue - reserve) / rate))
        sent = min(queue, rate * step)
        queue -= sent
        busy += sent > 0
        peak = max(peak, queue)
    assert peak == pytest.approx(theory.sfc_buffer(threshold, senders, rate * 8, loop), rel=0.02)
    found = theory.sfc_utilisation(threshold, senders, rate * 8, loop, reserve)
    assert busy / steps == pytest.approx(found, abs=0.01)


def test_the_slides_arithmetic_of_source_flow_control() -> None:
    """34 KB in transit at 18.75 Gb/s are 14.5 us; of 125 KB they are 27 %, the slides' 25 %."""
    loop = 34e3 * 8 / 18.75e9
    assert loop == pytest.approx(14.5e-6, rel=0.01)
    assert loop / (125e3 * 8 / 18.75e9) == pytest.approx(0.27, abs=0.005)
    assert theory.sfc_buffer(91e3, 2, 18.75e9, loop) == pytest.approx(125e3)
    assert theory.sfc_utilisation(91e3, 2, 18.75e9, loop) == pytest.approx(0.88, abs=0.005)


def test_cells_hold_whatever_frames_come() -> None:
    """Brute force: the most cells that frames of some sizes fill while so many bytes pass."""
    for cell in (96, 144, 208, 254, 420):
        sizes = [64, 65, cell, cell + 1, 2 * cell + 1, 777, 1500]
        most = [0] * 6000
        for wire in range(1, 6000):
            options = [
                most[wire - size - 20] + -(-size // cell) * cell
                for size in sizes
                if 64 <= size <= wire - 20
            ]
            most[wire] = max([most[wire - 1], *options])
            assert most[wire] <= theory.most_in_cells(wire, cell)
        assert most[-1] >= 0.96 * theory.most_in_cells(5999, cell)


def test_what_is_shipped_covers_the_cable() -> None:
    """The next longer cable of a profile, and nothing beyond the longest or for another rate."""
    dell = SHIPPED["tomahawk5"]
    assert dell.at(400 * 10**9, 5) == (5, 393_192)
    assert dell.at(400 * 10**9, 6) == (40, 446_024)
    assert dell.at(400 * 10**9, 300) == (300, 839_216)
    assert dell.at(400 * 10**9, 301) is None
    assert dell.at(25 * 10**9, 5) is None


@pytest.mark.parametrize("chip", sorted(SHIPPED))
def test_what_is_shipped_is_whole_cells(chip: str) -> None:
    """A buffer has nothing smaller; Broadcom's profiles say so, gaps of 10 to 18 cells included."""
    cell, profile = ASICS[chip].cell, SHIPPED[chip]
    assert profile.xon_offset % cell == 0
    assert not profile.xon_offset or 10 <= profile.xon_offset / cell <= 18
    sizes = [size for by_length in profile.headroom.values() for size in by_length.values()]
    if profile.xon_offset:
        assert {size % cell for size in sizes} == {0}
