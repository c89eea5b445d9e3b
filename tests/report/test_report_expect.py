"""Expectations: criteria, verdicts, intervals, and checks between entries."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from pyorch.metrics import parse
from pyorch.report.consistency import check_entries
from pyorch.report.expect import ExpectModel, Result, evaluate
from pyorch.report.figures import MODELS
from pyorch.report.quantities import automatic, scale, show
from pyorch.report.select import Settings, having, matching, same, values_of
from pyorch.report.statistics import estimate, t_quantile
from tests.forms import traces_of

RUNS = pd.DataFrame(
    {
        "variant": ["GFC", "GFC", "GFC", "PFC", "PFC"],
        "k": [4, 4, 4, 4, 8],
        "queue_mean": [74_000.0, 75_000.0, 76_000.0, 78_000.0, None],
    }
)
BASE = {"what": "w", "metric": "queue_mean", "source": "Figure 5, p. 79", "status": "verified"}
SETTLES = {**BASE, "where": {"variant": "GFC"}, "expected": "75KB", "tolerance": 0.02}


def judge(**keys: Any) -> Result:
    """The result of one expectation over RUNS."""
    expect = ExpectModel.model_validate({**BASE, **keys})
    return evaluate([expect], RUNS, {"queue_mean": "B"}, ["variant", "k"])[0]


def test_student_t_against_the_printed_table() -> None:
    """Two-sided 95 % values of any statistics book."""
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 29: 2.045, 120: 1.980}
    assert {n: round(t_quantile(n), 3) for n in table} == table
    assert round(t_quantile(5, 0.99), 3) == 4.032


def test_estimate_of_three_values() -> None:
    """Mean 2, standard deviation 1: half width t(2) / sqrt(3)."""
    found = estimate([1.0, 2.0, 3.0, None, math.nan])
    assert (found.mean, found.n) == (2.0, 3)
    assert found.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert math.isnan(estimate([1.0]).half_width)
    assert estimate([1.0, math.inf]).mean == math.inf
    assert estimate([]).n == 0


def test_agreement_is_judged_by_the_mean() -> None:
    """74, 75 and 76 KB are 75 KB with an interval of t(2) / sqrt(3) KB."""
    result = judge(**SETTLES)
    assert (result.verdict, result.failed) == ("agrees", False)
    assert result.measured() == "75.0 ± 2.5 KB (n\u00a0=\u00a03)"
    assert result.difference() == "< 0.01 %"
    assert result.expect.criterion() == "75 KB ± 2 %"
    assert result.expect.judged_by() == "75 KB (published) ± 2 % (ours)"
    assert result.expect.wanted() == "published 75 KB"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"status": "derived"}, "derived 75 KB"),
        ({"expected": None, "tolerance": None, "max": "80KB"}, "ours ≤ 80 KB"),
    ],
)
def test_only_what_is_published_is_called_so(keys: dict[str, Any], expected: str) -> None:
    """What is derived or a bound of ours has its own name."""
    assert judge(**{**SETTLES, **keys}).expect.wanted() == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"expected": "74444B", "tolerance": 0.02}, "derived 74.44 KB"),
        ({"max": "80001B"}, "derived ≤ 80 KB"),
        ({"max": "75001B"}, "derived ≤ 75.001 KB"),  # 75 KB might lie on either side of "75 KB"
        ({"min": "1B"}, "derived ≥ 1 B"),  # not 0.001 KB
        ({"expected": "74444B", "absolute": "1500B"}, "derived 74.44 KB"),
    ],
)
def test_a_bound_is_told_in_the_unit_of_the_value(keys: dict[str, Any], expected: str) -> None:
    """Of the measured 75 KB, with about four digits."""
    result = judge(**SETTLES | {"expected": None, "tolerance": None, "status": "derived"} | keys)
    assert result.measured().startswith("75.0 ± 2.5 KB")
    assert result.wanted() == expected


def test_difference_fails_a_verified_expectation() -> None:
    """Published 70 KB: 7.1 % off, outside 2 %."""
    result = judge(**{**SETTLES, "expected": "70KB"})
    assert (result.verdict, result.failed) == ("differs", True)
    assert result.difference() == "+5 KB (+7.1 %)"


@pytest.mark.parametrize(
    ("keys", "verdict", "failed"),
    [
        ({"status": "derived"}, "differs", True),
        ({"status": "ours"}, "differs", True),
        ({"fails": False}, "differs", False),
    ],
)
def test_status_decides_what_a_difference_means(
    keys: dict[str, Any], verdict: str, failed: bool
) -> None:
    """A difference fails the experiment, whatever its origin, unless the entry says otherwise."""
    result = judge(**{**SETTLES, "expected": "70KB", **keys})
    assert (result.verdict, result.failed) == (verdict, failed)


def test_a_criterion_of_ones_own_needs_no_source() -> None:
    """Neither `status` nor `source`: what is expected is enough."""
    entry = {"what": "a short queue", "metric": "queue", "max": "80KB"}
    assert ExpectModel.model_validate(entry).judged_by() == "≤ 80 KB (ours)"


def test_tolerance_is_inclusive_and_exact_at_its_border() -> None:
    """A relative and an absolute tolerance, just inside and just outside."""
    assert judge(**{**SETTLES, "expected": "80KB", "tolerance": 0.0625}).verdict == "agrees"
    assert judge(**{**SETTLES, "expected": "80KB", "tolerance": 0.06}).verdict == "differs"
    near = {"where": {"variant": "GFC"}, "expected": "80KB"}
    assert judge(**near, absolute="5KB").verdict == "agrees"
    assert judge(**near, absolute="4.9KB").verdict == "differs"


def test_bounds() -> None:
    """min, max and equals are inclusive."""
    where = {"variant": "GFC"}
    assert judge(where=where, min="75KB", max="75KB").verdict == "agrees"
    assert judge(where=where, max="74.9KB").verdict == "differs"
    assert judge(where=where, equals=75000).verdict == "agrees"
    assert judge(where=where, equals=75001).verdict == "differs"


def test_a_ratio_compares_with_the_run_that_differs_in_what_is_named() -> None:
    """By hand: 60/80 and 90/100, seed by seed; a run without a counterpart has no value."""
    runs = pd.DataFrame(
        {
            "variant": ["PFC", "PFC", "GFC", "GFC", "GFC"],
            "k": [4, 4, 4, 4, 8],
            "seed": [1, 2, 2, 1, 1],
            "queue_mean": [80.0, 100.0, 90.0, 60.0, 50.0],
        }
    )

    def ratio(**keys: Any) -> Result:
        entry = {**BASE, "relative_to": {"variant": "PFC"}, **keys}
        expect = ExpectModel.model_validate(entry)
        return evaluate([expect], runs, {"queue_mean": "B"}, ["variant", "k"])[0]

    found = ratio(where={"variant": "GFC", "k": 4}, max=0.825)
    assert (found.verdict, found.unit) == ("agrees", "1")
    assert found.estimates[0].mean == pytest.approx((0.75 + 0.9) / 2)
    assert ratio(where={"variant": "GFC", "k": 4}, max=0.8).verdict == "differs"
    assert ratio(where={"variant": "GFC"}, max=1).verdict == "not measured"
    assert ratio(where={"variant": "PFC"}, equals=1).verdict == "agrees"
    assert ratio(where={"variant": "GFC", "k": 4}, relative_to={"k": 8}, max=9).missing == 1
    runs.loc[0, "queue_mean"] = math.nan  # PFC, seed 1: nothing to measure, so that seed 2 is left
    (pair,) = ratio(where={"variant": "GFC", "k": 4}, max=0.9).estimates
    assert (pair.mean, pair.n) == (pytest.approx(0.9), 1)
    runs.loc[0, "queue_mean"] = math.inf  # measured, and without end: no ratio
    assert ratio(where={"variant": "GFC", "k": 4}, max=0.9).verdict == "not measured"


def test_every_setting_must_agree() -> None:
    """PFC differs at k = 4, so an expectation on all settings differs."""
    result = judge(where={"k": 4}, expected="75KB", tolerance=0.02)
    assert result.verdict == "differs"
    assert result.measured() == "75 to 78 KB (2 settings, n\u00a0=\u00a01 to 3 each)"
    assert result.difference() == "+3 KB (+4 %)"


def test_runs_without_a_value_are_not_measured() -> None:
    """A finished run whose metric has no value never counts as agreement, and fails."""
    result = judge(where={"variant": "PFC", "k": 8}, max="80KB")
    assert (result.verdict, result.failed, result.measured()) == ("not measured", True, "–")
    result = judge(where={"variant": "PFC"}, max="80KB")
    assert (result.verdict, result.missing) == ("not measured", 1)


def test_absent_runs_are_not_measured() -> None:
    """Without a matching run there is no verdict; the missing run itself is reported."""
    result = judge(where={"variant": "CBFC"}, max="80KB")
    assert (result.verdict, result.failed) == ("not measured", False)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "no criterion"),
        ({"max": "75KB", "status": "verified", "source": ""}, "needs 'source'"),
        ({"expected": "75KB"}, "no criterion"),
        ({"tolerance": 0.1}, "need 'expected'"),
        ({"expected": 1, "tolerance": 0.1, "absolute": 1}, "not both"),
        ({"expected": 0, "tolerance": 0.1}, "use 'absolute'"),
        ({"expected": "75KB", "absolute": "1us"}, "different units"),
        ({"max": 1, "source": ""}, "source"),
        ({"max": math.nan}, r"a finite number, or text with its unit, is expected \(got nan\)"),
        ({"min": math.inf}, r"expected \(got inf\)"),
        ({"equals": True}, r"expected \(got True\)"),
        ({"max": [1]}, r"expected \(got \[1\]\)"),
        ({"expected": -math.inf, "absolute": 1}, r"expected \(got -inf\)"),
        ({"expected": 1, "absolute": math.nan}, r"expected \(got nan\)"),
        ({"expected": 1, "tolerance": math.inf}, "finite number"),
        ({"expected": 1, "tolerance": math.nan}, "finite number"),
        ({"expected": 1, "tolerance": True}, "valid number"),
        ({"expected": 1, "absolute": -1}, "a distance and cannot be below 0"),
        ({"min": "2KB", "max": "1KB"}, "'min' is above 'max': 2KB and 1KB"),
        ({"max": 1, "where": {"k": math.nan}}, "finite number"),
        ({"max": 1, "fails": 1}, "valid boolean"),
        ({"max": 1, "relative_to": {}}, "names no variant"),
        ({"max": "75KB", "relative_to": {"variant": "PFC"}}, "have no unit"),
        ({"max": 1, "status": "sure"}, "'verified', 'derived', 'fluid model' or 'ours'"),
    ],
)
def test_bad_expectations_are_refused(keys: dict[str, Any], message: str) -> None:
    """Every mistake is named."""
    with pytest.raises(ValidationError, match=message):
        ExpectModel.model_validate({**BASE, **keys})


def test_values_are_the_same_in_any_spelling() -> None:
    """A filter says 10Gbps, a sweep 10000Mbps; true is not 1."""
    assert same("10Gbps", "10000Mbps")
    assert same(4, "4.0")
    assert not same(True, 1.5)
    assert not same("10Gbps", "10GB")
    assert list(matching(RUNS, {"variant": "PFC", "k": "8"}).index) == [4]
    assert len(matching(RUNS, {"nothing": 1})) == 0
    both = matching(RUNS, {"variant": ["PFC", "GFC"], "k": [4, "8"]})
    assert list(both.index) == [
        index
        for index, (variant, k) in enumerate(zip(RUNS["variant"], RUNS["k"], strict=True))
        if variant in ("PFC", "GFC") and str(k) in ("4", "8")
    ]
    assert len(matching(RUNS, {"k": ["9", 8]})) == len(matching(RUNS, {"k": 8}))


def test_a_plan_is_laid_out_as_its_runs_are() -> None:
    """Filters, values and panels are the same for a plain table and a DataFrame, even with gaps."""
    rows: list[dict[str, Any]] = [
        {"hash": "0", "variant": "PFC", "k": 4, "rate": "10Gbps", "seed": 1},
        {"hash": "1", "variant": "PFC", "k": 8, "on": True, "seed": 1},
        {"hash": "2", "variant": "GFC", "rate": "10000Mbps", "k": 4.5, "seed": 1},
        {"hash": "3", "variant": "GFC", "on": False, "seed": 2},
    ]
    plain: Any = Settings(rows)
    frame = pd.DataFrame(rows)
    assert plain.columns == list(frame.columns)
    for where, found in (
        ({}, "0123"),
        ({"rate": "10Gbps"}, "02"),
        ({"k": [4, "8"]}, "01"),
        ({"variant": "GFC", "on": False}, "3"),
        ({"nothing": 1}, ""),
    ):
        both = [matching(table, where) for table in (plain, frame)]
        assert [len(one) for one in both] == [len(found)] * 2
        assert ["".join(one["hash"]) for one in both] == [found] * 2
    for column in plain.columns:
        values = values_of(plain, column)
        assert values == values_of(frame, column)
        for value in values:
            panels = [list(having(table, column, value)["hash"]) for table in (plain, frame)]
            assert panels[0] == panels[1] != []
    assert values_of(plain, "k") == [4, 8, 4.5, None]


def test_numbers_for_people() -> None:
    """Units are chosen so that the number starts at 1."""
    assert show(74_617, "B") == "74.62 KB"
    assert show(5e9, "bit/s") == "5 Gb/s"
    assert show(54_800_000, "ps") == "54.8 µs"
    assert show(math.inf, "ps") == "∞"
    assert [show(n, "1") for n in (9999.4, 9999.5, -9999.7)] == ["9999", "10,000", "-10,000"]
    assert show(999.7e9, "bit/s", digits=3) == "1,000 Gb/s"
    assert show(math.nan, "1") == "nan"
    assert automatic("ps", [10.0, 2e9]).label == "ms"
    assert (scale("%").factor, scale("KiB").factor) == (0.01, 1024)


def problems(
    metrics: Any = (),
    figures: Any = (),
    expects: Any = (),
    varied: Any = ("variant", "k"),
) -> list[str]:
    """What check_entries finds in a file that traces the queue of s0:h0 and varies `k`."""
    found = check_entries(
        "a.toml",
        [parse(entry) for entry in metrics],
        [MODELS[entry["kind"]].model_validate(entry) for entry in figures],
        [ExpectModel.model_validate(entry) for entry in expects],
        traces_of([{"table": "queue", "ports": [["s0", "h0"]], "classes": [3]}]),
        varied,
    )
    return [problem.render() for problem in found]


MEAN = {"name": "queue_mean", "kind": "time_mean", "port": "s0:h0", "class": 3}


def test_a_right_file_has_no_problem() -> None:
    """Metric, figure and expectation fit."""
    line = {
        "name": "f",
        "kind": "line",
        "x": "k",
        "y": ["queue_mean", "peak_queue_bytes"],
        "hue": "variant",
    }
    assert problems([MEAN], [line], [SETTLES]) == []


def test_untraced_tables_are_problems_with_the_lines_to_add() -> None:
    """The hint is a [[trace]] that can be pasted."""
    (text,) = problems([{**MEAN, "table": "rate"}])
    assert "it needs table 'rate' of port s0:h0 and class 3, which no [[trace]] records" in text
    assert '[[trace]]\ntable = "rate"\nports = ["s0:h0"]\nclasses = [3]' in text


def test_misspelt_names_are_problems_with_a_suggestion() -> None:
    """Metrics and parameters that do not exist."""
    line = {"name": "f", "kind": "line", "x": "kk", "y": "queue_maen", "hue": "variant"}
    text = "\n".join(problems([MEAN], [line], [{**SETTLES, "metric": "queue_man"}]))
    assert "unknown metric 'queue_maen'" in text
    assert text.count("did you mean 'queue_mean'?") == 2
    assert "'kk' does not vary in this experiment" in text
    (text,) = problems([MEAN], [], [{**BASE, "relative_to": {"varant": "PFC"}, "max": 1}])
    assert "'varant' does not vary in this experiment" in text


@pytest.mark.parametrize("kind", ["cdf", "slowdown"])
def test_a_default_that_does_not_vary_is_no_problem(kind: str) -> None:
    """Distributions have a line per variant: without variants one. Who asks for them is told."""
    figure = {"name": "f", "kind": kind}
    assert problems([], [figure], varied=["k"]) == []
    (told,) = problems([], [figure | {"hue": "variant"}], varied=["k"])
    assert "'variant' does not vary" in told


def test_a_finding_needs_an_expectation() -> None:
    """Who claims something in a title names metrics that expectations are of."""
    finding = {"text": "GFC holds the queue", "metrics": ["queue_mean"]}
    line = {"name": "f", "kind": "line", "x": "k", "y": "queue_mean", "finding": finding}
    assert problems([MEAN], [line], [SETTLES]) == []
    (text,) = problems([MEAN], [line], [{**SETTLES, "metric": "events", "expected": 1}])
    assert "'finding': no [[expect]] has the metric 'queue_mean'" in text
    (text,) = problems([MEAN], [line])
    assert "nothing: there is no [[expect]]" in text


def test_units_and_repeated_names_are_problems() -> None:
    """A time cannot be expected of a queue; two metrics cannot share a name."""
    text = "\n".join(problems([MEAN, MEAN], [], [{**SETTLES, "expected": "75us"}]))
    assert "the name 'queue_mean' is given twice" in text
    assert "its numbers are in ps, but the metric 'queue_mean' is in B" in text


def test_metrics_on_one_axis_have_one_unit() -> None:
    """Else its label would be wrong for one of them."""
    line = {"name": "f", "kind": "line", "x": "k", "y": ["queue_mean", "queue_mean"]}
    assert problems([MEAN], [line]) == []
    (text,) = problems([MEAN], [line | {"y": ["queue_mean", "pause_time_ps", "events"]}])
    assert (
        "metrics on one axis need one unit, but 'queue_mean' is in B, 'pause_time_ps' is in ps, "
        "'events' is a pure number" in text
    )
