"""Numbers mean what they show: intervals, digits that follow them, and what they are of."""

from __future__ import annotations

import math
import re
from statistics import stdev
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pyorch.report.expect import ExpectModel, Result, evaluate
from pyorch.report.quantities import (
    UNITS,
    draws_text,
    place_of,
    rounded,
    scale,
    show_estimate,
    show_range,
    show_text,
    show_value,
)
from pyorch.report.statistics import NEVER_NEGATIVE, Estimate, Nature, clopper_pearson, estimate

NBSP = "\u00a0"
YES_NO = Nature(yes_no=True)
SHARE = Nature(limits=(0.0, 1.0))


@given(st.integers(1, 400), st.data())
@pytest.mark.slow
def test_clopper_pearson_is_that_of_scipy(n: int, data: st.DataObject) -> None:
    """Of the exact test, two-sided."""
    from scipy.special import betaincinv  # later: each worker would load it that only collects

    hits = data.draw(st.integers(0, n))
    low = betaincinv(hits, n - hits + 1, 0.025) if hits else 0.0
    high = betaincinv(hits + 1, n - hits, 0.975) if hits < n else 1.0
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_no_share_is_below_0_or_above_1(values: list[float]) -> None:
    """Nor is its interval, whose ends are not beyond the mean."""
    found = estimate(values, SHARE)
    if found.n > 1:
        assert 0 <= found.low <= found.mean + 1e-9
        assert found.mean - 1e-9 <= found.high <= 1


def test_no_time_is_below_0() -> None:
    """1, 2 and 9: t = 4.3027 for 2 degrees, s = 4.3589, so 4 ± 10.828; a difference may be."""
    values = [1.0, 2.0, 9.0]
    found = estimate(values, NEVER_NEGATIVE)
    assert (found.low, found.high) == (0, pytest.approx(14.828, abs=1e-3))
    assert show_value(found, "ps", scale("ps")) == "4.0 (0.0 to 14.8) ps"
    assert estimate(values).low == pytest.approx(-6.828, abs=1e-3)
    # a metric that was negative once evidently can be
    assert estimate([-1.0, 2.0, 9.0], NEVER_NEGATIVE).low < -1


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=8))
def test_the_interval_is_that_of_scipy(values: list[int]) -> None:
    """Student's t, where the values are not all the same."""
    found = estimate(values)
    assume(found.spread == "mean")
    from scipy.special import stdtrit  # not scipy.stats, which takes seconds to load

    error = stdev(values) / math.sqrt(len(values))
    half = stdtrit(len(values) - 1, 0.975) * error
    low, high = found.mean - half, found.mean + half
    size = max(map(abs, values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-9 * size)


@pytest.mark.parametrize(
    ("values", "nature", "unit", "told"),
    [
        ([74e3, 75e3, 76e3], Nature(), "KB", f"75.0 ± 2.5 KB (n{NBSP}={NBSP}3)"),
        ([75e3, 75e3, 75e3], Nature(), "KB", "75 KB (all 3 runs equal)"),
        ([75e3, 75e3, 75e3], Nature(fixed=True), "KB", "75 KB (deterministic)"),
        ([75e3], Nature(fixed=True), "KB", "75 KB (deterministic)"),
        ([75e3], Nature(), "KB", "75 KB (1 run)"),
        ([], Nature(), "KB", "–"),
        ([75e3, math.inf], Nature(), "KB", f"∞ (n{NBSP}={NBSP}2)"),
        ([1, 0, 0, 1, 0], YES_NO, "1", "2 of 5 runs (5 to 85 %)"),
        ([0, 0, 0, 0, 0], YES_NO, "1", "0 of 5 runs (0 to 52 %)"),
        ([1, 1, 1], Nature(fixed=True, yes_no=True), "1", "1 (deterministic)"),
        ([0.0, 0.0, 0.1], SHARE, "1", f"0.033 (0.000 to 0.177) (n{NBSP}={NBSP}3)"),
        (
            [1.828e9, 1.828e9 * (1 + 2e-16), 1.828e9],
            Nature(),
            "Gbps",
            "1.828 Gb/s (all 3 runs equal)",
        ),
        ([1.0, 1 + 1e-9], Nature(), "1", f"1 ± less than 1e-05 % of it (n{NBSP}={NBSP}2)"),
    ],
)
def test_what_an_estimate_says(values: list[float], nature: Nature, unit: str, told: str) -> None:
    """Its value, its interval, and what it is of."""
    assert show_estimate(estimate(values, nature), UNITS[unit], scale(unit)) == told


def test_the_unit_is_one_in_which_the_number_is_read() -> None:
    """0.02792 ± 0.01814 ms is 28 ± 18 us."""
    found = Estimate(27.92e6, 9.78e6, 46.06e6, 10)
    assert show_value(found, "ps", scale("ms")) == "28 ± 18 µs"
    assert show_value(found, "ps", scale("us")) == "28 ± 18 µs"
    assert show_value(found, "ps") == "28 ± 18 µs"


@given(st.floats(1e-6, 1e12), st.floats(1e-6, 1e3), st.sampled_from(["1", "B", "ps", "bit/s"]))
def test_digits_follow_the_interval(mean: float, share: float, base: str) -> None:
    """Mean and interval end at the same digit, the second of the interval; no exponents."""
    half = mean * share
    text = show_value(Estimate(mean, mean - half, mean + half, 5), base)
    number, width = re.fullmatch(r"([\d.,]+) ± ([\d.,]+)(?: .*)?", text).groups()  # type: ignore[union-attr]
    number, width = number.replace(",", ""), width.replace(",", "")
    places = [len(one.partition(".")[2]) for one in (number, width)]
    assert places[0] == places[1]
    assert len(width.replace(".", "").strip("0")) <= 2
    assert "e" not in text
    assert float(width) > 0
    # either may be rounded by a twentieth of the width
    assert float(number) / float(width) == pytest.approx(1 / share, abs=0.06 * (1 + 1 / share))


@given(st.floats(1e-12, 1e12))
def test_a_half_width_has_two_digits(half: float) -> None:
    """Rounded at its place it is 10 to 99 of that place, and within half of one."""
    place = place_of(half)
    number = float(rounded(half, place).replace(",", ""))
    assert 9.99 < number / 10.0**place < 99.01
    assert abs(number - half) <= 0.5001 * 10.0**place


def test_settings_are_no_repetitions() -> None:
    """An n is of the draws of one setting."""
    one, more = estimate([5e9]), estimate([5.1e9, 5.2e9])
    fixed = estimate([5e9], Nature(fixed=True))
    assert draws_text([one, one, one]) == "3 settings, 1 run each"
    assert draws_text([fixed, fixed]) == "2 settings, deterministic"
    assert draws_text([more, more]) == f"2 settings, n{NBSP}={NBSP}2 each"
    equal = estimate([5e9, 5e9])
    assert draws_text([equal, equal]) == "2 settings, in each all 2 runs equal"
    assert show_range(one, more, "bit/s") == "5 to 5.15 Gb/s"
    none, half = estimate([0, 0], YES_NO), estimate([0, 1], YES_NO)
    assert show_range(none, half, "1") == "0 to 50 % of the runs"
    assert show_text("0.086487%") == "0.08649 %"
    told = f"2 settings, n{NBSP}={NBSP}2 each, intervals within 0 to 99 %"  # sqrt(0.975) = 0.987
    assert draws_text([none, half]) == told


def judged(values: list[float], **keys: Any) -> Result:
    """A result of one setting."""
    entry = {"what": "w", "metric": "x", "source": "s", "status": "ours", **keys}
    runs = pd.DataFrame({"variant": "A", "seed": range(len(values)), "x": values})
    return evaluate([ExpectModel.model_validate(entry)], runs, {"x": "1"}, ["variant"])[0]


def test_shares_are_compared_as_shares() -> None:
    """1 of 4 against 2 of 4 is a half, though the runs themselves are 0 of 0 and 1 of 0."""
    runs = pd.DataFrame(
        {"variant": ["A"] * 4 + ["B"] * 4, "seed": [*range(4)] * 2, "x": [1, 0, 0, 0, 0, 0, 1, 1]}
    )
    entry = {"what": "w", "metric": "x", "source": "s", "status": "ours", "max": 0.999}
    entry |= {"where": {"variant": "A"}, "relative_to": {"variant": "B"}, "average": True}
    expect = ExpectModel.model_validate(entry)
    found = evaluate([expect], runs, {"x": "1"}, ["variant"], lambda _metric, _runs: YES_NO)[0]
    assert found.measured() == f"0.5 (n{NBSP}={NBSP}4)"
    assert found.difference() == "50 % within"
    none = evaluate([expect], runs, {"x": "1"}, ["variant"])[0]
    assert none.missing == 1


@pytest.mark.parametrize(
    ("keys", "values", "margin"),
    [
        ({"max": 3.51}, [3.03, 3.03], "14 % within"),
        ({"min": 3.51}, [3.64], "3.7 % within"),
        ({"max": 3.51}, [3.64], "3.7 % beyond"),
        ({"max": 10, "claim": "c"}, [5, 9], "10 % within"),
        ({"max": 10}, [5, 9], "30 % within"),
        ({"max": 0}, [0.0], ""),
        ({"max": 0}, [2.0], "2 beyond"),
        ({"equals": 0}, [0.0], ""),
        ({"max": 3.51, "status": "derived"}, [3.0], "15 % within"),
        ({"min": 1}, [50.0], "more than 10 times the bound"),
        ({"max": 10}, [math.inf], "infinitely far beyond"),
        ({"max": 10}, [9.999], "at the bound"),
        ({"expected": 3, "tolerance": 0.1}, [3.0], ""),
        ({"min": 1}, [2.5], "2.5 times the bound"),
        ({"max": 1}, [2.5], "2.5 times the bound"),
        ({"max": 1}, [0.0], ""),
        ({"min": 1}, [2.0], "2 times the bound"),
        ({"min": 1}, [0.0], "100 % beyond"),
    ],
)
def test_a_bound_has_its_margin(keys: dict[str, Any], values: list[float], margin: str) -> None:
    """How far the worst run, or the mean where no claim asks for each, was from the bound."""
    assert judged(values, **keys).margin() == margin


@given(
    st.lists(st.one_of(st.floats(0, 1e9), st.just(math.inf)), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from(["1", "B", "ps", "bit/s"]),
)
def test_no_interval_is_of_length_0(values: list[float], fixed: bool, base: str) -> None:
    """Whatever the runs gave, "± 0" is never what one reads."""
    text = show_estimate(estimate(values, Nature(fixed=fixed)), base)
    assert not re.search(r"± 0(\.0*)?( |$)", text)
