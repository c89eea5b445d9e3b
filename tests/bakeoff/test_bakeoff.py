"""The summary of the bake-off: who is best, how sure that is, and text that follows the data."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.paths import default_paths
from tests.inputs import RUNS, called
from tools.bakeoff.advice import Advice, Ground, Said, Tables, load_advice, say
from tools.bakeoff.claims import Claim, all_tried, judge, lines_of, load_claims
from tools.bakeoff.compare import Row, compare, cost, few, ratio_of
from tools.bakeoff.decide import HEADS, Fact, load_facts
from tools.bakeoff.decide import lines_of as decided
from tools.bakeoff.page import (
    Summary,
    cost_line,
    factor_to_best,
    heat_map,
    markdown,
    value_text,
    verdict,
    write,
)
from tools.bakeoff.sensitivity import Vary, told, turn
from tools.bakeoff.summary import compare_all, load_rows, studies

pytestmark = pytest.mark.inputs(*RUNS, "docs/bakeoff.md", "docs/results/bakeoff.md", "tools")

ROW = Row(study="bakeoff/x", scene="X", label="Time", metric="time", better="lower", unit="us")


CRITICAL = {2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706}
"""Two-sided 5 % points of Student's t by degrees of freedom, as every table has them."""


def runs(**values: list[float]) -> pd.DataFrame:
    """Runs of schemes: the metric of each seed [us]."""
    lines = [
        {"variant": name, "seed": seed, "time": value * 1e6, "deadlocked": 0, "data_hops": 1000}
        | {"dropped_frames": 2 * (name == "B"), "flows_unfinished": 0, "peak_buffer_bytes": 1e5}
        | {"buffer_size_bytes": 4e5, "flow_cycle_egresses": seed % 2, "deadlocked_at_end": 0}
        | {"pause_time_ps": 5e5, "end_ps": 1e6, "control_frames_sent": 3}
        for name, found in values.items()
        for seed, value in enumerate(found, 1)
    ]
    return pd.DataFrame(lines)


def test_only_what_the_seeds_tell_apart_is_best() -> None:
    """Seed by seed A is 10 us faster than B; C has a better mean than A in no sure way."""
    table = runs(PFC=[50, 90, 70], A=[20, 60, 40], B=[31, 70, 49], C=[70, 10, 35])
    found = compare(ROW, table, ["PFC", "A", "B", "C"])
    assert [answer.scheme for answer in found.best] == ["C"]
    assert not found.sole
    assert [one.scheme for one in found.standing("not decided")] == ["A", "B", "PFC"]
    sure = compare(ROW, table, ["PFC", "A", "B"])
    assert [answer.scheme for answer in sure.best] == ["A"]
    assert verdict(sure) == "A alone is best: 40 ± 50 µs."
    assert factor_to_best(sure, "B") == pytest.approx(1.25)
    assert verdict(found).startswith("C has the best mean, 38 ± 75 µs")
    assert verdict(found).endswith("; not decided: A, B, PFC.")
    same = compare(ROW, runs(PFC=[50, 90, 70], A=[50.1, 90.1, 70.1]), ["PFC", "A"])
    assert verdict(same) == "All are equal (PFC: 70 ± 50 µs)."


@given(
    st.lists(st.floats(1, 100), min_size=3, max_size=6),
    st.lists(st.floats(1, 100), min_size=3, max_size=6),
)
@pytest.mark.slow
def test_the_test_is_the_paired_t_test(first: list[float], second: list[float]) -> None:
    """Told apart exactly where the paired interval, by the table of t, is beyond 1 %."""
    n = min(len(first), len(second))
    first, second = [round(v, 1) for v in first[:n]], [round(v, 1) for v in second[:n]]
    differences = np.subtract(first, second)
    found = compare(ROW, runs(A=first, B=second), ["A", "B"])
    bound = 0.01 * min(np.mean(first), np.mean(second))
    margin = CRITICAL[n - 1] * float(np.std(differences, ddof=1)) / math.sqrt(n) + bound
    difference = abs(float(np.mean(differences)))
    if abs(difference - margin) > 1e-3:
        assert found.sole == (difference > margin)


def test_what_does_not_finish_is_never_best() -> None:
    """Infinite means lose; if no scheme finishes, none wins."""
    found = compare(ROW, runs(PFC=[math.inf, 5, 5], A=[7, 7, 7]), ["PFC", "A"])
    assert verdict(found) == "A alone is best: 7 µs, all 3 seeds equal."
    assert value_text(found, found.answers[0]) == "did not finish"
    assert factor_to_best(found, "PFC") == math.inf
    assert found.reference == "A", "PFC did not come through"
    assert [answer.ratio.mean for answer in found.answers] == [math.inf, 1]
    nobody = compare(ROW, runs(PFC=[math.inf], A=[math.inf]), ["PFC", "A"])
    assert verdict(nobody) == "No scheme finished."


def test_ratios_are_taken_seed_by_seed() -> None:
    """Twice as good each time is a ratio of 0.5 without any error, however the seeds differ."""
    found = compare(ROW, runs(PFC=[10, 1000, 30], A=[5, 500, 15]), ["PFC", "A"])
    ratio = found.answers[1].ratio
    assert (ratio.mean, ratio.half_width, ratio.n) == (0.5, 0, 3)


def test_a_ratio_has_the_interval_of_pairs() -> None:
    """Of A to a constant it is the t-interval of A's mean over that constant; of twice A, none."""
    own = {1: 1.0, 2: 2.0, 3: 3.0, 4: 9.0}
    found = ratio_of(own, {1: 2.0, 2: 2.0, 3: 2.0})
    half = CRITICAL[2] / math.sqrt(3) / 2
    assert (found.mean, found.n) == (1, 3)
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half), rel=1e-4)
    assert few(found) == "±1"
    double = ratio_of({seed: 2 * value for seed, value in own.items()}, own)
    assert (double.mean, double.half_width, few(double)) == (2, 0, "")
    assert few(ratio_of({1: 3.0}, {1: 2.0})) == " (n=1)"


HIGHER = ROW.model_copy(update={"better": "higher"})


def test_more_than_enough_is_no_better() -> None:
    """A victim that gets more than its fair share takes it from another flow."""
    row = HIGHER.model_copy(update={"enough": 20e6, "independent": False})
    table = runs(PFC=[1, 1], A=[20, 20], B=[22, 23])
    found = compare(row, table, ["PFC", "A", "B"])
    assert [answer.scheme for answer in found.best] == ["A", "B"]
    assert verdict(found).startswith("A has the best mean, 20 µs; equal: B")


@pytest.mark.parametrize(
    ("row", "pfc", "values", "reference", "ratios"),
    [
        (ROW, [5, 5], [10, 5], "PFC", [1, 1.5]),
        (ROW, [5, 5], [math.inf, 5], "PFC", [1, math.inf]),
        (ROW, [math.inf] * 2, [7, 7], "A", [math.inf, 1]),
        (HIGHER, [0, 5], [5, 5], "A", [0.5, 1]),
        (HIGHER, [0, 0], [0, 0], "", [math.nan, math.nan]),
    ],
)
def test_no_ratio_leaves_out_a_seed(
    row: Row, pfc: list[float], values: list[float], reference: str, ratios: list[float]
) -> None:
    """Where PFC failed in a seed, or got nothing, the best is divided by, of all seeds."""
    found = compare(row, runs(PFC=pfc, A=values), ["PFC", "A"])
    assert found.reference == reference
    assert [answer.ratio.mean for answer in found.answers] == pytest.approx(ratios, nan_ok=True)


def test_nothing_is_divided_by_a_run_that_stayed_deadlocked() -> None:
    """What such a run got says how long it was: no ratio, no factor, and not the reference."""
    table = runs(PFC=[1, 9], A=[9, 9], B=[8, 9])
    table.loc[(table.variant != "A") & (table.seed == 1), "deadlocked_at_end"] = 1
    found = compare(HIGHER, table, ["PFC", "A", "B"])
    assert (found.reference, [answer.stuck for answer in found.answers]) == ("A", [1, 0, 1])
    assert [answer.ratio.n for answer in found.answers] == [0, 2, 0]
    assert math.isnan(factor_to_best(found, "PFC"))
    assert verdict(found).endswith("; deadlocked to the end: PFC, B.")


def test_seeds_that_only_shift_one_traffic_have_no_interval() -> None:
    """Their differences are beyond 1 % in all runs, in none, or it is not decided."""
    row = ROW.model_copy(update={"independent": False})
    table = runs(PFC=[100, 101, 100], A=[100, 100.5, 100], B=[103, 103, 103], C=[100, 103, 103])
    found = compare(row, table, ["PFC", "A", "B", "C"])
    assert [one.standing for one in found.answers] == ["equal", "best", "worse", "not decided"]
    assert value_text(found, found.answers[0]) == "100 (100 to 101) µs"
    assert value_text(found, found.answers[2]) == "103 µs"


def test_only_what_all_schemes_have_is_compared() -> None:
    """B lacks the seed in which all are slow: its mean alone would be the best."""
    table = runs(PFC=[10, 10, 90], A=[10, 10, 90], B=[11, 11])
    found = compare(ROW, table, ["PFC", "A", "B", "C"])
    assert [answer.mean.n for answer in found.answers] == [2, 2, 2, 0]
    assert found.missing == 1
    assert [answer.standing for answer in found.answers] == ["best", "equal", "worse", "no value"]
    settings = runs(PFC=[10, 90], A=[10, 90], B=[10, 90])
    settings = pd.concat([settings.assign(setting="x"), settings.assign(setting="y")])
    cut = settings[~((settings.variant == "B") & (settings.seed == 2) & (settings.setting == "y"))]
    both = compare(ROW, cut, ["PFC", "A", "B"])
    assert {answer.mean.mean for answer in both.answers} == {50e6}
    assert both.missing == 1


def test_one_seed_decides_nothing() -> None:
    """One value has no interval."""
    found = compare(ROW, runs(PFC=[10], A=[50]), ["PFC", "A"])
    assert verdict(found) == "PFC has the best mean, 10 µs; not decided: A."
    empty = compare(ROW, runs(PFC=[math.nan]), ["PFC"])
    assert verdict(empty) == "No scheme has a value at this size."


@pytest.mark.slow
def test_the_summary_says_what_is_in_the_tables(tmp_path: Path) -> None:
    """Every mean is on the page, costs are added up, and the files are reproducible."""
    table = runs(PFC=[50, 90, 70], A=[20, 60, 40], B=[31, 70, 49])
    names = ["PFC", "A", "B"]
    rows = compare_all([ROW], {"bakeoff/x": table}, {"bakeoff/x": names})
    costs = tuple(cost(name, [table]) for name in names)
    assert (costs[2].lost, costs[2].control, costs[2].paused) == (2000, 3, 0.5)
    assert (costs[0].cyclic, costs[0].deadlocks, costs[0].buffer) == (2, 0, 0.25)
    assert costs[0].share == pytest.approx((0, 1 - 0.025 ** (1 / 2)))
    about = {name: f"what {name} is" for name in names}
    summary = Summary(rows, costs, about, "abc", 9, 10)
    page = write(summary, tmp_path)
    text = page.read_text(encoding="utf-8")
    for value in ("70 ± 50 µs", "40 ± 50 µs", "50 ± 48 µs", "1 planned runs are missing"):
        assert value in text
    assert markdown(summary).count("A alone is best") == 1
    again = write(summary, tmp_path / "again")
    for file in ("index.html", "summary.md", "schemes.csv", "schemes.png"):
        assert (again.parent / file).read_bytes() == (tmp_path / file).read_bytes()


def test_the_picture_ranks_the_schemes_that_all_of_its_columns_have() -> None:
    """In the order of the row called Hadoop, without rows that are not drawn."""
    hadoop = ROW.model_copy(update={"label": "Hadoop", "drawn": True})
    other = hadoop.model_copy(update={"study": "bakeoff/y", "label": "Other", "better": "higher"})
    tables = {
        "bakeoff/x": runs(PFC=[4, 5], A=[2, 3], B=[1, 2]),
        "bakeoff/y": runs(PFC=[1], A=[2]),
    }
    taking = {"bakeoff/x": ["PFC", "A", "B"], "bakeoff/y": ["PFC", "A"]}
    rows = compare_all([other, hadoop, ROW], tables, taking)
    costs = tuple(cost(name, list(tables.values())) for name in ("PFC", "A", "B"))
    about = {"PFC": "", "A": "", "B": ""}
    (only,) = heat_map(Summary(rows, costs, about, "abc", 8, 8)).axes
    assert [label.get_text() for label in only.get_yticklabels()] == ["A", "PFC"]
    assert [text.get_text() for text in only.texts] == ["1.00", "2.00", "1.00", "0.55"]


def test_rows_with_fewer_draws_than_others_of_their_study_say_so() -> None:
    """Not the one with most, wherever it stands; the last row is no measure of the others."""
    whole = ROW.model_copy(update={"drawn": True})
    few = whole.model_copy(update={"label": "Few", "metric": "short"})
    table = runs(PFC=[2, 2, 2], A=[1, 1, 1])
    table["short"] = table["time"].where(table["seed"] == table["seed"].min())
    for rows in ([whole, few], [few, whole]):
        found = compare_all(rows, {"bakeoff/x": table}, {"bakeoff/x": ["PFC", "A"]})
        costs = tuple(cost(name, [table]) for name in ("PFC", "A"))
        (axes,) = heat_map(Summary(found, costs, {"PFC": "", "A": ""}, "abc", 8, 8)).axes
        texts = [text.get_text() for text in axes.texts]
        assert sorted(texts) == ["0.50", "0.50\nn=1", "1.00", "1.00\nn=1"]


def test_what_to_decide_from_has_the_worst_victim_and_the_hardest_cycle() -> None:
    """Means of the tails, the least rate of the victims, shares of deadlocks over scenarios."""
    labels = ("p99, Hadoop", "p99, real ports", "Victim of a trunk", "Victim at a sender")
    rows = [HIGHER.model_copy(update={"label": label, "independent": False}) for label in labels]
    table = runs(A=[1, 3])  # 1 and 3 million
    found = compare_all(rows, {"bakeoff/x": table}, {"bakeoff/x": ["A"]})
    never = CLAIM.model_copy(update={"zero": True, "than": ""})
    tried = [judge(never, name, {"A": v}) for name, v in (("a", {1: 0.0}), ("b", {1: 1.0, 2: 0.0}))]
    facts = [Fact(name=n, queues="1", state="s", nic="n", silicon="no") for n in ("A", "B")]
    (line, empty) = decided(facts, found, [cost("A", [table])], tried)
    tail = "2000000.0±1e+07"  # 12.7 times half of the difference
    ends = "0% to 50% (1-99)"
    assert line[:5] == ["A", f"{tail}, {tail}", ends, "0.0, 0.0", "25 %"]
    assert empty[:5] == ["B", "-, -", "-", "-, -", "-"]


def test_the_tables_of_the_page_have_the_schemes_and_rows_that_there_are() -> None:
    """A scheme or question that joins makes them old, as they are of a run."""
    paths = default_paths()
    text = (paths.root / "docs" / "results" / "bakeoff.md").read_text(encoding="utf-8")
    tables = {
        part.splitlines()[0].split("|")[1].strip(): [
            line.split("|")[1].strip() for line in part.splitlines()[2:]
        ]
        for part in text.split("\n\n")
        if part.startswith("| ")
    }
    hint = "invoke bakeoff; copy summary.md and schemes.png of results/bakeoff/summary"
    assert tables["question"] == [row.label for row in load_rows(paths)], hint
    shipped = shipped_schemes()
    whole = [part for part in text.split("\n\n") if part.startswith("| scheme | how it fared")]
    assert [line.split("|")[1].strip() for line in whole[0].splitlines()[2:]][: len(shipped)] == (
        shipped
    ), hint
    known = [claim.says for claim in load_claims(paths)]
    assert tables["Claim"] == [one for one in known if one in tables["Claim"]], hint


def test_the_page_shows_the_table_to_decide_from() -> None:
    """As the results have it; all of its schemes are shipped."""
    paths = default_paths()
    page, results = (
        (paths.root / "docs" / name).read_text(encoding="utf-8")
        for name in ("bakeoff.md", "results/bakeoff.md")
    )
    begin = f"| {' | '.join(HEADS)} |"
    shown, written = (
        text[text.index(begin) :].partition("\n\n")[0].strip() for text in (page, results)
    )
    assert shown == written
    names = [fact.name for fact in load_facts(paths)]
    assert [line.split("|")[1].strip() for line in shown.splitlines()[2:]] == names
    assert set(names) <= set(shipped_schemes())


def test_a_row_that_names_no_metric_is_told() -> None:
    """The message names the row and the metrics that there are."""
    row = ROW.model_copy(update={"metric": "tine"})
    with pytest.raises(UserError, match=r"row\[0\].metric: bakeoff/x has no metric 'tine'"):
        compare_all([row], {"bakeoff/x": runs(PFC=[1])}, {"bakeoff/x": ["PFC"]})


@pytest.mark.studies
def test_the_shipped_rows_are_answered_by_the_scenes() -> None:
    """Each row names a study, a metric of it, and settings that the study has."""
    from pyorch.files.load import load_experiment

    paths = default_paths()
    rows = load_rows(paths)
    assert {row.study for row in rows} == set(studies(paths))
    for study in studies(paths):
        experiment = load_experiment(study, paths=paths)
        named = {metric.name for metric in experiment.metrics}
        for row in (row for row in rows if row.study == study):
            assert row.metric in named
            for key, value in row.where.items():
                wanted = set(value if isinstance(value, list) else [value])
                assert wanted <= set(experiment.sweep[key]), (study, key)


CHECK_ALL = """
import json
from dataclasses import replace
from tools.bakeoff.summary import studies
from pyorch.pipeline import make_plan
from pyorch.run.ns3 import load_simulation
from pyorch.base.paths import default_paths
from pyorch.run.simulate import configure
from tests.forms import form

for study in studies(default_paths()):
    plan = make_plan(study, ["run.seeds=1"])
    built = load_simulation(plan.build)
    shapes = ("topology", "attributes", "flow_control", "agents", "host_agents")
    different = {json.dumps([form(spec)[key] for key in shapes]): spec for spec in plan.specs}
    for spec in different.values():
        simulation = built(spec.seed)
        configure(simulation, replace(spec.setting, traffic=()), spec.seed)
        simulation.Build()
        problem = str(simulation.Check())
        assert not problem, f"{study} {spec.params}: {problem}"
        print(study, spec.params["variant"])
"""


def test_advice_says_what_the_tables_say_and_what_they_do_not_bear() -> None:
    """Numbers are means and ratios of the seeds; a ground that does not hold is reported."""
    table = runs(PFC=[50, 90, 70], A=[25, 45, 35], B=[49, 91, 70])
    names = ["PFC", "A", "B"]
    rows = compare_all([ROW], {"bakeoff/x": table}, {"bakeoff/x": names})
    number = {"row": "Time", "scheme": "A", "over": "PFC"}
    advice = Advice.model_validate(
        {
            "text": "A takes {} of PFC, {} ps.",
            "numbers": [number, {"row": "Time", "scheme": "A"}],
            "grounds": [{"row": "Time", "scheme": "A", "than": "PFC"}],
        }
    )
    tables = Tables(rows)
    assert say(advice, tables) == Said("A takes 0.50 of PFC, 3.5e+07±2e+07 ps.", ())
    weak = advice.model_copy(update={"grounds": [Ground(row="Time", scheme="B", than="PFC")]})
    assert say(weak, tables).missing == ("B against PFC in Time: open",)
    vary = Vary(scheme="B", what="x", used="1", settings={"2": ["b.x=2"]})
    scene = {name: {1: 50.0, 2: 52.0} for name in names}
    trial = turn(vary, "2", "time", scene, {"B": {1: 10.0, 2: 12.0}})
    ground = Ground(row="Time", scheme="B", than="PFC", value="x", to="2")
    changed = weak.model_copy(update={"grounds": [ground]})
    assert say(changed, Tables(rows, [trial])).missing == ()
    with pytest.raises(ValueError, match="a number for each pair of braces"):
        Advice.model_validate({"text": "{}", "grounds": [{"row": "", "scheme": "", "than": ""}]})


def test_a_verdict_turns_where_the_seeds_say_so() -> None:
    """A was better than B and worse than C; with the value it is as B, or better than C."""
    scene = {"A": {1: 10.0, 2: 11.0}, "B": {1: 20.0, 2: 21.0}, "C": {1: 5.0, 2: 6.0}}
    vary = Vary(scheme="A", what="x", used="1", settings={"2": ["a.b=2"]})
    worse = turn(vary, "2", "m", scene, {"A": {1: 20.0, 2: 21.0}})
    assert worse.turned == {("A", "B"): ("better", "open")}
    both = turn(vary, "2", "m", scene, {"A": {1: 1.0, 2: 2.0}})
    assert both.turned == {("A", "C"): ("worse", "better")}
    assert told(both) == "worse to better: C"
    everyone = vary.model_copy(update={"scheme": ""})
    swapped = {"A": scene["B"], "B": scene["A"], "C": scene["C"]}
    whole = turn(everyone, "2", "m", scene, swapped)
    assert told(whole) == "better to worse: A than B; 0 of 3 pairs to or from open"


CLAIM = Claim(
    key="ab", says="A is shorter than B", study="bakeoff/x", scheme="A", than="B", metric="time"
)
MORE = "more"


@pytest.mark.parametrize(
    ("own", "other", "outcome"),
    [
        ([10.0, 11.0, 12.0], [20.0, 21.0, 22.0], "holds"),
        ([20.0, 21.0, 22.0], [10.0, 11.0, 12.0], "turns"),
        ([10.0, 30.0, 20.0], [20.0, 21.0, 22.0], "open"),
    ],
)
def test_a_claim_is_judged_by_the_seeds(own: list[float], other: list[float], outcome: str) -> None:
    """By the paired interval, whichever way the claim is put."""
    values = {name: dict(enumerate(v)) for name, v in (("A", own), ("B", other))}
    tried = judge(CLAIM, MORE, values)
    assert tried.outcome == outcome
    assert tried.ratio.mean == pytest.approx(sum(own) / sum(other))
    other_way = CLAIM.model_copy(update={"scheme": "B", "than": "A", "verdict": "worse"})
    assert judge(other_way, MORE, values).outcome == outcome
    no_worse = CLAIM.model_copy(update={"verdict": "no worse"})
    assert judge(no_worse, MORE, values).outcome == outcome.replace("open", "holds")
    higher = CLAIM.model_copy(update={"better": "higher", "verdict": "worse"})
    assert judge(higher, MORE, values).outcome == outcome


def test_one_run_breaks_what_never_happens() -> None:
    """The number is the share of the runs in which it did."""
    never = Claim(key="n", says="A never", study="bakeoff/x", scheme="A", metric="time", zero=True)
    assert judge(never, MORE, {"A": {1: 0.0, 2: 0.0}}).outcome == "holds"
    once = judge(never, MORE, {"A": {1: 0.0, 2: 0.0, 3: 1.0, 4: 0.0}})
    assert (once.outcome, once.ratio.mean) == ("turns", 0.25)
    assert lines_of([once]) == [["A never", "-", "-", "more 25% (1-81)"]]  # Clopper-Pearson


def test_a_sentence_has_to_survive_what_it_does_not_except() -> None:
    """Reported are scenarios that turn it, and exceptions for those that do not."""
    table = runs(PFC=[50, 90, 70], A=[25, 45, 35])
    rows = compare_all([ROW], {"bakeoff/x": table}, {"bakeoff/x": ["PFC", "A"]})
    ground = Ground(row="Time", scheme="A", than="PFC")
    sentence = Advice(text="A.", grounds=[ground], claims=["ab"])
    excepting = sentence.model_copy(update={"aside": {"ab": ["more"]}})
    broken = judge(CLAIM, MORE, {"A": {1: 2.0, 2: 2.0}, "B": {1: 1.0, 2: 1.0}})
    whole = judge(CLAIM, MORE, {"A": {1: 1.0, 2: 1.0}, "B": {1: 2.0, 2: 2.0}})
    assert say(sentence, Tables(rows, (), [broken])).missing == (
        f"A is shorter than B (more, {broken.number}): turns",
    )
    assert say(excepting, Tables(rows, (), [whole])).missing == (
        f"A is shorter than B (more, {whole.number}): excepted, but holds",
    )
    for advice, tried in ((sentence, whole), (excepting, broken)):
        assert say(advice, Tables(rows, (), [tried])).missing == ()
    untold = judge(CLAIM, MORE, {"A": {1: 1.0, 2: 3.0}, "B": {1: 2.0, 2: 2.0}})
    said = say(sentence, Tables(rows, (), [untold]))
    assert (said.missing, said.left_open) == ((), ("A is shorter than B (more 1.00±6)",))
    assert say(excepting, Tables(rows, (), [untold])).left_open == ()


def test_every_scenario_of_a_study_may_turn_a_claim() -> None:
    """Each is judged by its own runs; one without a value for both schemes is left out."""
    near = runs(A=[1, 2], B=[3, 4]).assign(scenario="near", setting="near")
    far = runs(A=[3, 4], B=[1, 2]).assign(scenario="far", setting="far")
    lone = runs(A=[3, 4]).assign(scenario="lone", setting="lone")
    tables = {"bakeoff/x": pd.concat([near, far, lone])}
    found = all_tried([CLAIM], tables)
    assert [(one.scenario, one.outcome) for one in found] == [("near", "holds"), ("far", "turns")]
    only = all_tried([CLAIM.model_copy(update={"where": {"scenario": "far"}})], tables)
    assert [one.scenario for one in only] == ["far"]
    plain = {"bakeoff/x": near.drop(columns="scenario")}
    assert [one.scenario for one in all_tried([CLAIM], plain)] == [""]


@pytest.mark.slow
def test_the_shipped_claims_can_be_judged() -> None:
    """Their studies have the metrics and schemes; advice names claims and scenarios of theirs."""
    from pyorch.files.load import load_experiment

    paths = default_paths()
    claims = {one.key: one for one in load_claims(paths)}
    scenarios: dict[str, set[str]] = {}
    for key, claim in claims.items():
        scenarios[key] = set()
        for study in claim.studies:
            loaded = load_experiment(study, paths=paths)
            assert set(claim.schemes) <= {point.params["variant"] for point in loaded.points}, key
            assert claim.metric in {metric.name for metric in loaded.metrics}, key
            scenarios[key] |= set(loaded.sweep.get("scenario", [""]))
    for advice in load_advice(paths):
        assert set(advice.claims) <= claims.keys()
        for excepted, names in advice.aside.items():
            assert excepted in advice.claims
            assert set(names) <= scenarios[excepted]
        for number in advice.numbers:
            assert number.claim is None or number.scenario in scenarios[number.claim]


NUMBER = r"[\d.]+(?:±[\d.]+| \(n=1\)|%(?: \(\d+-\d+\))?)?"
"""As the sentences show it, with its interval where there are few seeds."""


def test_the_page_has_the_advice_of_the_file() -> None:
    """Each sentence is on the page, with a number for each pair of braces."""
    paths = default_paths()
    text = (paths.root / "docs" / "bakeoff.md").read_text(encoding="utf-8")
    part = text.partition("\n## Advice\n")[2].partition("\n## ")[0]
    said = [line for line in part.splitlines() if line[:2] == "- "]
    wanted = [advice.text for advice in load_advice(paths)]
    assert len(said) == len(wanted)
    for line, sentence in zip(said, wanted, strict=True):
        pattern = NUMBER.join(re.escape(part) for part in sentence.split("{}"))
        assert re.fullmatch(rf"- {pattern}(?: \*Open: .*\*)?", line), sentence


def test_only_independent_draws_have_an_interval() -> None:
    """40 runs of a ring that differ by microseconds are four settings, and no draw at all."""
    lines = [
        {"variant": "PFC", "seed": seed, "setting": setting, "drawn": drawn, "deadlocked": hit}
        | {"deadlocked_at_end": 0, "flow_cycle_egresses": 4, "dropped_frames": 0}
        | {"flows_unfinished": 0, "peak_buffer_bytes": 1, "buffer_size_bytes": 1}
        | {"data_hops": 1, "pause_time_ps": 0, "end_ps": 1}
        for setting, drawn, hits in (
            *((f"ring {n}", False, range(1, 11)) for n in range(4)),
            ("failed links, a", True, (1, 2, 3)),
            ("failed links, b", True, (3, 4)),
        )
        for seed in range(1, 11)
        for hit in [int(seed in hits)]
    ]
    table = pd.DataFrame(lines)
    rings, drawn = table[~table["drawn"]], table[table["drawn"]]
    found = cost("PFC", [rings, drawn])
    assert (found.deadlocks, found.cyclic) == (45, 60)
    assert (found.struck, found.settings) == (6, 6)
    assert (found.hits, found.draws) == (4, 10)
    assert cost_line(found)[5] == "45 of 60 runs; 6 of 6 settings; 4 of 10 draws (12 to 74 %)"
    assert cost_line(cost("PFC", [rings]))[5] == "40 of 40 runs; 4 of 4 settings"


@pytest.mark.studies
def test_the_ring_draws_starts_and_failed_links_are_draws() -> None:
    """What a seed draws of a scene is read in its plan."""
    from pyorch.pipeline import make_plan
    from tools.bakeoff.summary import _drawn

    ring, failures = (
        make_plan(f"bakeoff/{name}", ["run.seeds=2"]) for name in ("ring", "failures")
    )
    assert not _drawn(ring.specs)
    assert len(_drawn(failures.specs)) == 6


@pytest.mark.studies
def test_a_seed_has_the_same_flows_under_every_scheme() -> None:
    """Telemetry makes frames longer; a load does not count it, or there would be fewer flows."""
    from pyorch.network import topology
    from pyorch.pipeline import make_plan
    from pyorch.traffic import base as traffic

    studies = ("bakeoff/hadoop", "bakeoff/workloads")
    specs = [spec for one in studies for spec in make_plan(one, ["run.seeds=1"]).specs]
    found: dict[str, set[bytes]] = {}
    for spec in specs:
        network = topology.build(spec.setting.topology)
        run = spec.setting.run
        flows = traffic.flows(spec.setting.traffic, network, spec.seed, run.duration)
        drawn = b"".join(a.tobytes() for a in (flows.src, flows.dst, flows.sizes))
        found.setdefault(str(spec.params["scenario"]), set()).add(drawn)
    assert {name: len(kinds) for name, kinds in found.items()} == dict.fromkeys(found, 1)


@pytest.mark.studies
def test_every_scheme_fits_every_scene() -> None:
    """Nobody simulates these in CI, but all of their networks are built and checked."""
    done = called([sys.executable, "-c", CHECK_ALL], timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    paths = default_paths()
    checked = {tuple(line.split(" ", 1)) for line in done.stdout.splitlines()}
    assert {scheme for _, scheme in checked} >= set(shipped_schemes())
    taken = {study: {scheme for other, scheme in checked if other == study} for study, _ in checked}
    assert set(taken) == set(studies(paths))
    few = {"bakeoff/partial"}  # only schemes of which half can be deployed
    listed = {fact.name for fact in load_facts(paths)}
    assert all(taken[study] >= listed for study in taken.keys() - few)


def shipped_schemes() -> list[str]:
    """The schemes that the scenes have by themselves."""
    from tools.bakeoff.summary import schemes_of

    found = schemes_of(default_paths())
    return [name for name, about in found.items() if not about.startswith("as ")]
