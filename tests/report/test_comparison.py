"""The table of variants that a report begins with: means, intervals, and what the seeds decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from pyorch.metrics.flow_kinds import FctSlowdown, Goodput, SummaryNumber
from pyorch.report.comparison import MOST_METRICS, MOST_ROWS, Comparison, comparison
from pyorch.report.data import ReportData
from pyorch.setting.attributes import DEFAULTS
from tests.forms import run_of

TAIL = FctSlowdown(name="tail")
RATE = Goodput(name="rate")
PAUSES = SummaryNumber(name="pauses", number="pause_time_ps")
BASE = (1.0, 2.0, 3.0, 4.0, 5.0)


def compared(values: Mapping[str, Sequence[float]], name: str = "tail") -> Comparison:
    """The table of a metric, by variant and seed."""
    rows = [
        {"hash": f"{variant}{seed}", "variant": variant, "seed": seed, name: value}
        for variant, several in values.items()
        for seed, value in enumerate(several, 1)
    ]
    data = ReportData(None, pd.DataFrame(rows), {}, [TAIL, RATE, PAUSES])
    found = comparison(data, [name], {})
    assert found is not None
    return found


def standings(found: Comparison) -> dict[str, str]:
    """What is said of each variant's only metric."""
    return {texts[0]: str(cells[0].standing) for texts, cells in found.rows}


def test_differences_are_taken_seed_by_seed() -> None:
    """Intervals overlap, but each seed says the same; by another order nothing is decided."""
    shifted, mixed = [one + 1 for one in BASE], [5.0, 1.0, 4.0, 3.0, 3.5]
    found = compared({"A": BASE, "B": shifted, "C": mixed, "D": [1.001 * one for one in BASE]})
    assert standings(found) == {"A": "best", "B": "worse", "C": "not decided", "D": "equal"}
    # Student's t with 4 degrees of freedom: 2.776 sqrt(2.5 / 5) = 1.963
    assert found.rows[0][1][0].text == "3.0 ± 2.0"
    assert found.best == "Not decided: tail (A, C or D)."
    assert found.undecided
    assert compared({"A": BASE, "B": shifted}).best == "Best: A (tail)."
    assert found.seeds == (5, 5)


def test_what_is_better_depends_on_the_metric() -> None:
    """More goodput, fewer slowdowns; pauses are not compared, as some schemes have other means."""
    values = {"A": [1.0, 1.1], "B": [9.0, 9.1]}
    assert standings(compared(values, "rate")) == {"A": "worse", "B": "best"}
    assert standings(compared(values, "tail")) == {"A": "best", "B": "worse"}
    assert standings(compared(values, "pauses")) == {"A": "", "B": ""}
    assert not compared(values, "pauses").marked


def test_what_did_not_finish_or_has_no_value_is_never_best() -> None:
    """An unfinished flow makes a mean infinite; one seed decides nothing."""
    found = compared({"A": [math.inf, 1.0], "B": [3.0, 3.1], "C": [math.nan, math.nan]})
    assert standings(found) == {"A": "worse", "B": "best", "C": "no value"}
    assert [cells[0].text for _, cells in found.rows] == ["∞", "3.05 ± 0.64", "–"]
    assert found.seeds == (2, 2)  # "C" has none
    assert standings(compared({"A": [1.0], "B": [9.0]})) == {"A": "best", "B": "not decided"}


def test_the_best_is_that_of_the_same_swept_values() -> None:
    """A sweep adds rows, each compared with those of its own values."""
    rows = [
        {"hash": f"{v}{k}{s}", "variant": v, "k": k, "seed": s, "tail": base * k + s / 10}
        for v, base in (("A", 1), ("B", 2))
        for k in (1, 10)
        for s in (1, 2, 3)
    ]
    data = ReportData(None, pd.DataFrame(rows), {}, [TAIL])
    data.parameters = ["k"]
    found = comparison(data, ["tail"], {"tail": "Slowdown"})
    assert found is not None
    assert list(found.heads) == ["variant", "k", "Slowdown"]
    assert [cells[0].standing for _, cells in found.rows] == ["best", "best", "worse", "worse"]
    assert found.best == ""


def test_one_setting_is_no_comparison_and_many_are_cut() -> None:
    """Without anything that varies there is no table; a long one says how much is left."""
    one = pd.DataFrame([{"hash": "x", "variant": "A", "seed": 1, "tail": 1.0}])
    assert comparison(ReportData(None, one, {}, [TAIL]), ["tail"], {}) is None
    many = compared({f"V{n}": [float(n)] for n in range(MOST_ROWS + 5)})
    assert (len(many.rows), many.left) == (MOST_ROWS, 5)


def test_schemes_that_may_lose_frames_say_how_many() -> None:
    """Without a lossless class also that there were none; where frames are never lost nothing."""
    lossy = {DEFAULTS["buffer_policy"]: {"LosslessClasses": "0"}}
    counts = {"PFC": (0, {}), "IRN": (0, lossy), "DCQCN": (50, lossy), "Breaker": (3, {})}
    specs = {
        f"{name}{seed}": run_of({"attributes": attributes, "seed": seed})
        for name, (_, attributes) in counts.items()
        for seed in (1, 2)
    }
    rows = [
        {"hash": f"{name}{seed}", "variant": name, "seed": seed, "tail": 1.0 + seed}
        | {"dropped_frames": lost, "retransmitted_bytes": 10.0 * lost, "sent_bytes": 1e5}
        for name, (lost, _) in counts.items()
        for seed in (1, 2)
    ]
    found = comparison(ReportData(None, pd.DataFrame(rows), specs, [TAIL]), ["tail"], {})
    assert found is not None
    assert found.remarks == [
        (
            "Frames lost: 100 under DCQCN, which sent 0.5 % of its bytes again; "
            "6 under Breaker, which sent 0.03 % of its bytes again."
        )
    ]
    untried = "IRN lost no frame: these runs do not say how loss recovery does."
    assert found.best.endswith(untried)
    assert compared({"A": BASE, "B": BASE}).remarks == []


def test_schemes_without_a_deadlock_that_finish_nothing_are_said_to_be_too_slow() -> None:
    """Neither those that deadlock nor those that finish most flows; counted run by run."""
    counts = {"PFC": (5, 1), "GFC": (5, 0), "CBFC": (2, 0), "IRN": (0, 0)}
    rows = [
        {"hash": f"{name}{seed}", "variant": name, "seed": seed, "tail": 1.0}
        | {"flows_unfinished": left - (seed == 3 and left), "flows_finite": 6}
        | {"deadlocked_at_end": stuck}
        for name, (left, stuck) in counts.items()
        for seed in (1, 2, 3)
    ]
    found = comparison(ReportData(None, pd.DataFrame(rows), {}, [TAIL]), ["tail"], {})
    assert found is not None
    assert found.remarks == [
        (
            "Too slow: no deadlock, but most flows were not finished at the end: "
            "GFC (10 of 12 flows in 2 of 3 runs)."
        )
    ]


def test_who_stands_still_is_never_best() -> None:
    """It has the fewest deadlocks, and no flow arrives; where none does, all are compared."""
    for still, told, said in (
        ((6, 0), "Best: PFC (tail).", ["Left out of the comparison, since no flow finished: GFC."]),
        ((6, 6), "Best: GFC (tail).", []),
    ):
        rows = [
            {"hash": f"{name}{seed}", "variant": name, "seed": seed, "tail": tail + seed / 100}
            | {"flows_unfinished": left, "flows_finite": 6}
            for name, tail, left in zip(
                ("GFC", "PFC", "BFC"), (1.0, 2.0, 3.0), (*still, still[1]), strict=True
            )
            for seed in (1, 2, 3)
        ]
        found = comparison(ReportData(None, pd.DataFrame(rows), {}, [TAIL]), ["tail"], {})
        assert found is not None
        assert (found.best, found.remarks) == (told, said)


def test_deadlocks_that_come_back_are_counted() -> None:
    """Not one that forms once, whether it lasts or not."""
    rows = [
        {"hash": f"{name}{seed}", "variant": name, "seed": seed, "tail": 1.0 + seed}
        | {"deadlock_episodes": times}
        for name, times in {"PFC": 1, "Breaker": 209, "BFC": 0}.items()
        for seed in (1, 2)
    ]
    found = comparison(ReportData(None, pd.DataFrame(rows), {}, [TAIL]), ["tail"], {})
    assert found is not None
    assert found.remarks == [
        "Deadlocks that formed anew: Breaker (209 a run); who breaks one leaves what caused it."
    ]


def test_metrics_without_a_value_and_those_that_do_not_fit_are_named() -> None:
    """None vanishes without a word; more metrics than variants go down the page."""
    metrics = [f"m{number}" for number in range(MOST_METRICS + 2)]
    rows = [
        {"hash": f"{who}{seed}", "variant": who, "seed": seed, "tail": math.nan}
        | dict.fromkeys(metrics, 1.0 + seed)
        for who in ("A", "B")
        for seed in (1, 2)
    ]
    data = ReportData(None, pd.DataFrame(rows), {}, [TAIL])
    found = comparison(data, ["tail", "gone", *metrics], {"tail": "Slowdown"})
    assert found is not None
    assert found.remarks == [
        "No run has a value of Slowdown, Gone.",
        f"More in the table of runs: M{MOST_METRICS}, M{MOST_METRICS + 1}.",
    ]
    assert found.upright
    assert not compared({"A": BASE, "B": BASE}).upright
    swept = ReportData(
        None, pd.DataFrame([{**row, "k": k} for row in rows for k in (1, 2)]), {}, [TAIL]
    )
    swept.parameters = ["k"]
    found = comparison(swept, metrics, {})
    assert found is not None
    assert list(found.heads[:2]) == ["variant", "k"]
    assert not found.upright, "a column for each that varies"


def test_in_short_it_has_the_means_of_some_settings() -> None:
    """As many as fit on a screen; the last line says what marks mean, and how much is left."""
    found = compared({"A": BASE, "B": [5.0, 1.0, 4.0, 3.0, 3.5], "C": [math.nan], "D": [9.0] * 5})
    assert found.in_short() == [
        "variant  Tail",
        "A        3 *",
        "B        3.3 ?",
        "C        –",
        "D        9",
        "means; * best; ? may be as good; intervals in the report",
    ]
    lines = compared({f"V{n}": [float(n)] for n in range(70)}, "pauses").in_short()
    assert len(lines) == 10
    assert lines[-1] == "means; 62 more settings; intervals in the report"
    wide = {f"metric_{n}_{'long' * 5}": 1.0 for n in range(6)}
    rows = [{"hash": who, "variant": who, "seed": 1} | wide for who in "AB"]
    cut = comparison(ReportData(None, pd.DataFrame(rows), {}, [TAIL]), [*wide], {})
    assert cut is not None
    assert max(map(len, cut.in_short()[:-1])) <= 100
    assert "3 more metrics" in cut.in_short()[-1]
