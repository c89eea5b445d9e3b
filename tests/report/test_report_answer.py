"""A report's answer, and the gallery: true to the verdicts and the runs."""

from __future__ import annotations

import json
import os
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.files.load import load_experiment
from pyorch.metrics.derived_kinds import Stalled
from pyorch.metrics.flow_kinds import Fairness
from pyorch.report import gallery
from pyorch.report import write as writing
from pyorch.report.answer import Answer, answer
from pyorch.report.data import ReportData
from pyorch.report.expect import AGREES, ExpectModel, evaluate
from pyorch.report.write import write_report
from tests.report.test_report import FIGURES, experiment, make_store, study, sweep

SCHEMES = ("PFC", "GFC", "SFC")


def answer_of(runs: pd.DataFrame, bounds: list[float], question: str = "") -> Answer:
    """The answer of expectations that a metric is at most so much."""
    expects = [
        ExpectModel(what=f"at most {n}", metric="queue", max=bound, status="ours", source="-")
        for n, bound in enumerate(bounds)
    ]
    data = SimpleNamespace(
        runs=runs, settings=["variant"], unit=lambda _name: "1", is_share=lambda _name: False
    )
    results = evaluate(expects, runs, {"queue": "1"}, ["variant"])
    found = answer(data, results, {}, question)  # type: ignore[arg-type]
    # whatever it says must be what the table of verdicts says
    wrong = [result.expect.what for result in results if result.verdict != AGREES]
    assert list(found.refuted) == wrong
    holds = len(bounds) - len(wrong)
    if wrong:
        said = re.match(r"(\d+) of (\d+) expectations? holds?, (\d+) (?:is|are) ref", found.tally)
        assert said is not None, found.tally
        assert tuple(map(int, said.groups())) == (holds, len(bounds), len(wrong))
    else:
        assert "refuted" not in found.tally
        assert "hold" in found.tally or not bounds
    return found


def runs_of(queues: list[float], deadlocked: list[int] | None = None) -> pd.DataFrame:
    """A run of each scheme in turn."""
    names = [SCHEMES[n % len(SCHEMES)] for n in range(len(queues))]
    stuck = deadlocked or [0] * len(queues)
    return pd.DataFrame({"variant": names, "seed": 1, "queue": queues, "deadlocked": stuck})


@given(
    st.lists(st.floats(0, 100), min_size=3, max_size=12),
    st.lists(st.floats(0, 100), min_size=1, max_size=5),
)
@pytest.mark.drawing
def test_an_answer_says_of_verdicts_what_their_table_says(
    queues: list[float], bounds: list[float]
) -> None:
    """Counts, and which are refuted, whatever was measured."""
    answer_of(runs_of(queues), bounds)


def test_an_answer_changes_when_a_verdict_changes() -> None:
    """By as little as one bound, or one run."""
    runs = runs_of([10, 20, 30])
    assert answer_of(runs, [40, 50]).tally == "All 2 expectations hold."
    assert answer_of(runs, [40, 25]).tally == "1 of 2 expectations holds, 1 is refuted."
    assert answer_of(runs_of([10, 20, 60]), [40, 50]).tally == (
        "0 of 2 expectations hold, 2 are refuted."
    )
    assert answer_of(runs, [40]).found == "Queue: from 10 (PFC) to 30 (SFC)."
    assert answer_of(runs_of([10, 20, 5]), [40]).found == "Queue: from 5 (SFC) to 20 (GFC)."


@pytest.mark.drawing
@given(st.lists(st.integers(0, 1), min_size=3, max_size=15))
def test_an_answer_counts_deadlocks_as_the_runs_have_them(deadlocked: list[int]) -> None:
    """Each scheme with as many of its runs as deadlocked, and no scheme as free that was not."""
    runs = runs_of([float(n) for n in range(len(deadlocked))], deadlocked)
    found = answer_of(runs, [99], "Which scheme deadlocks?").found
    free = re.search(r"none under ([^.]*)\.", found)
    for name in SCHEMES:
        mine = runs[runs["variant"] == name]["deadlocked"]
        if 0 < sum(deadlocked) < len(deadlocked):
            said = re.search(rf"{name} in (\d+) of (\d+)", found)
            counts = (int(said[1]), int(said[2])) if said else (0, len(mine))
            assert counts == (mine.sum(), len(mine))
            assert (free is not None and name in free[1]) == (mine.sum() == 0)
        else:
            assert re.search(r"Deadlock in (no|each) of \d+ runs", found), found
    assert "eadlock" not in answer_of(runs, [99], "How long is the queue?").found


def measured(
    runs: pd.DataFrame, settings: list[str], metrics: list[str], unit: str = "bit/s"
) -> str:
    """What is said of runs of which nothing is expected."""
    data = SimpleNamespace(
        runs=runs, settings=settings, unit=lambda _name: unit, is_share=lambda name: name == "share"
    )
    found = answer(data, [], {"rate": "Goodput"}, "", metrics)  # type: ignore[arg-type]
    assert (found.tally, found.refuted) == ("", ())
    return found.found


@given(st.lists(st.integers(1, 900), min_size=6, max_size=6))
@pytest.mark.drawing
def test_without_expectations_each_variant_has_its_value(rates: list[int]) -> None:
    """As means over its seeds; where all are alike once."""
    rows = [
        {"variant": name, "seed": seed, "rate": 1e9 * rates[2 * n + seed]}
        for n, name in enumerate(SCHEMES)
        for seed in (0, 1)
    ]
    said = measured(pd.DataFrame(rows), ["variant"], ["rate"])
    means = [sum(rates[2 * n : 2 * n + 2]) / 2 for n in range(3)]
    values = re.findall(r"(?:(\w+) )?([\d.]+) Gb/s", said)
    assert said.startswith("Goodput, mean over seeds: ")
    if len(values) == 1:
        assert means == pytest.approx([float(values[0][1])] * 3, rel=0.005)
        assert said.endswith("in all 3 settings.")
    else:
        assert [name for name, _ in values] == list(SCHEMES)
        assert [float(value) for _, value in values] == pytest.approx(means, rel=0.005)


def test_without_expectations_a_sweep_has_its_extremes() -> None:
    """And of metrics those that tell runs apart; else one, or what every run measures."""
    points = [(name, load) for name in SCHEMES for load in (1, 2, 3)]
    rows = [
        {
            "variant": name,
            "load": load,
            "seed": 1,
            "same": 7e9,
            "rate": load * (SCHEMES.index(name) + 1) * 1e9,
            "last_delivery_ps": 1e9,
        }
        for name, load in points
    ]
    runs = pd.DataFrame(rows)
    extremes = "Goodput: from 1 Gb/s (PFC, load = 1) to 9 Gb/s (SFC, load = 3)."
    assert measured(runs, ["variant", "load"], ["same", "rate"]) == extremes
    assert measured(runs, ["variant", "load"], ["same"]) == "Same: 7 Gb/s in all 9 settings."
    assert measured(runs, ["variant", "load"], ["absent"]).startswith("Last delivery: ")
    assert measured(runs.iloc[:0], ["variant", "load"], ["rate"]) == ""


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([1e9, None, 2e9], "PFC 1 Gb/s, SFC 2 Gb/s; no value in 1 of 3 runs (GFC)."),
        ([1e9, None, 1e9], "1 Gb/s in 2 of 3 settings; no value in 1 of 3 runs (GFC)."),
        ([1e9, None, None], "1 Gb/s in 1 of 3 settings; no value in 2 of 3 runs (GFC and SFC)."),
        ([1e9, float("inf"), 0], "PFC 1 Gb/s, GFC ∞, SFC 0 Gb/s."),
        ([999.7e9, 3, 5e9], "PFC 1,000 Gb/s, GFC 3 b/s, SFC 5 Gb/s."),
    ],
)
def test_an_answer_hides_no_run_without_a_value(rates: list[float | None], said: str) -> None:
    """A mean of the runs that have one is not that of all; and each value is readable."""
    runs = pd.DataFrame({"variant": SCHEMES, "seed": 1, "rate": rates})
    assert measured(runs, ["variant"], ["rate"]) == f"Goodput: {said}"


def test_an_answer_gives_a_share_as_a_number_and_names_what_a_variant_lacks() -> None:
    """A share of 1 in all runs is no event in each of them; "nan" is not a value of a key."""
    runs = pd.DataFrame(
        {"variant": SCHEMES, "seed": 1, "share": 1.0, "hit": 1, "load": [1, 2, None]}
    )
    assert measured(runs, ["variant"], ["share"], "1") == "Share: 1 in all 3 settings."
    assert measured(runs, ["variant"], ["hit"], "1") == "Hit in each of 3 runs."
    runs["rate"] = [1e9, 2e9, 3e9]
    extremes = "Goodput: from 1 Gb/s (PFC, load = 1) to 3 Gb/s (SFC, load unset)."
    assert measured(runs, ["variant", "load"], ["rate"]) == extremes
    stalled = Stalled.model_validate({"name": "stalled", "kind": "stalled", "after": "1us"})
    kinds = [Fairness(name="fair"), stalled]
    data = ReportData(None, runs, {}, kinds)
    assert [data.is_share(name) for name in ("fair", "stalled", "hit")] == [True, False, False]


@pytest.mark.drawing
def test_a_page_begins_with_the_answer_and_the_figure(tmp_path: Path) -> None:
    """The answer, then the first figure, then the verdicts, then the rest."""
    specs = sweep(1)
    figures = [FIGURES["line"], FIGURES["bars"]]
    page = write_report(experiment(figures), make_store(specs), specs, tmp_path).index
    text = page.read_text(encoding="utf-8")
    summary = json.loads((tmp_path / gallery.SUMMARY).read_text(encoding="utf-8"))
    main = text[text.index("<main>") :]
    signs = ['class="answer"', 'id="peak"', 'id="expectations"', 'id="bars"', 'id="runs-table"']
    places = [main.index(sign) for sign in signs]
    assert places == sorted(places)
    assert summary["found"] in text
    assert summary["tally"] in text
    anchors = re.findall(r'<a href="#([\w-]+)">', text)
    assert {"answer", "peak", "expectations", "bars", "runs-table", "setting"} <= set(anchors)
    assert all(f'id="{anchor}"' in text for anchor in anchors)


@pytest.mark.parametrize(
    ("limit", "runs", "answered"),
    [("1MB", 2, True), ("1B", 2, False), ("1MB", 1, False)],
    ids=["holds", "refuted", "incomplete"],
)
@pytest.mark.drawing
def test_a_finding_that_holds_is_the_answer(
    tmp_path: Path, limit: str, runs: int, answered: bool
) -> None:
    """While its expectations agree and no run is missing; refuted, it is told with what refutes it.

    The count of verdicts stays.
    """
    finding = {"text": "Both hold the queue", "metrics": ["peak_queue_bytes"]}
    bars = {"x": "variant", "hue": None, "where": {}, "y": "peak_queue_bytes"}
    one = experiment(
        [FIGURES["bars"] | bars, FIGURES["bars"] | bars | {"name": "b", "finding": finding}]
    )
    ours = {"status": "ours", "source": "-", "fails": False}
    held = {"metric": "peak_queue_bytes", **ours}
    aside = {"what": "empty", "max": "1B", "decides": False, **held}
    one.expects = [{"what": "held", "max": limit, **held}, aside]
    specs = study()
    write_report(one, make_store(specs[:runs]), specs, tmp_path)
    summary = json.loads((tmp_path / gallery.SUMMARY).read_text(encoding="utf-8"))
    assert (summary["found"] == "Both hold the queue.") == answered
    refuted = summary["found"].startswith("Refuted: \u201cBoth hold the queue\u201d. held: ")
    assert refuted == (limit == "1B")
    assert summary["found"]
    assert "expectation" in summary["tally"]


def report_into(results: Path, name: str) -> Path:
    """A report of the made-up study under another name, in a folder of results."""
    specs = study()
    one = experiment([FIGURES["bars"] | {"x": "variant", "hue": None, "where": {}}])
    one.name = name
    folder = results / name / "report"
    (results / name / "runs").mkdir(parents=True)
    return write_report(one, make_store(specs), specs, folder).index


def names_in(results: Path) -> list[str]:
    """The studies that the gallery links to, each link tried."""
    text = (results / gallery.INDEX).read_text(encoding="utf-8")
    links = re.findall(r'<a class="card" href="([^"]+)"', text)
    pictures = re.findall(r'<img loading="lazy" src="([^"]+)"', text)
    assert all((results / link).is_file() for link in (*links, *pictures))
    return [link.removesuffix("/report/index.html") for link in links]


@pytest.mark.drawing
def test_the_gallery_has_what_there_is(tmp_path: Path) -> None:
    """New studies come, removed ones go, and one whose runs changed says so until its report."""
    report_into(tmp_path, "gfc/one")
    page = report_into(tmp_path, "pfc/two")
    gallery.refresh(tmp_path)
    assert names_in(tmp_path) == ["gfc/one", "pfc/two"]
    back = re.search(r'<a href="([./]+index.html)">All studies', page.read_text(encoding="utf-8"))
    assert back is not None
    assert (page.parent / back[1]).resolve() == (tmp_path / gallery.INDEX).resolve()
    shutil.rmtree(tmp_path / "gfc")
    later = (page.parent / gallery.SUMMARY).stat().st_mtime + 5
    os.utime(tmp_path / "pfc/two/runs", (later, later))
    (card,) = gallery.cards(tmp_path)
    assert card.stale
    gallery.refresh(tmp_path)
    assert names_in(tmp_path) == ["pfc/two"]
    assert "out of date" in (tmp_path / gallery.INDEX).read_text(encoding="utf-8")


@pytest.mark.drawing
@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "x"}', "null"])
def test_the_gallery_outlives_a_broken_summary(tmp_path: Path, content: str) -> None:
    """Of an older version, or half removed: it is left out, the others stay."""
    report_into(tmp_path, "gfc/one")
    broken = report_into(tmp_path, "gfc/two").with_name(gallery.SUMMARY)
    broken.write_text(content, encoding="utf-8")
    gallery.refresh(tmp_path)
    assert names_in(tmp_path) == ["gfc/one"]


def test_the_gallery_says_what_failed(tmp_path: Path) -> None:
    """Missing runs and figures without a picture."""
    specs = study(2)
    one = experiment([FIGURES["cdf"] | {"hue": None}])
    write_report(one, make_store(specs[:1]), specs, tmp_path / "gfc/fake/report")
    (card,) = gallery.cards(tmp_path)
    assert card.summary.problems[:1] == ("3 runs are missing",)
    assert (card.summary.done, card.summary.planned) == (1, 4)


def write_one(place: tuple[Path, int]) -> None:
    """A summary and the gallery, as a report of this process would."""
    results, number = place
    folder = results / f"s/{number}" / "report"
    folder.mkdir(parents=True)
    (folder / gallery.INDEX).write_text("")
    name = f"s/{number}"
    known = gallery.Summary(name, name, "", "", "", 0, "", 1, 1)
    gallery.write_summary(known, folder)
    gallery.refresh(results)


@pytest.mark.processes
def test_reports_at_the_same_time_are_all_in_the_gallery(tmp_path: Path) -> None:
    """The last writer has seen all summaries."""
    with ProcessPoolExecutor(8) as pool:
        list(pool.map(write_one, [(tmp_path, number) for number in range(24)]))
    assert sorted(names_in(tmp_path)) == sorted(f"s/{number}" for number in range(24))


def test_a_heat_map_names_its_metric_by_its_colour() -> None:
    """The axes of a heat map are parameters: its y label is not a name of what it shows."""
    figures = load_experiment("deadlock/thresholds").figures
    assert writing._axis_names(figures)["deadlock"] == "Deadlocked"
