"""The tutorials that need no cluster: what they type works, and says what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.tutorial import ROOT, Tutorial, is_shown


@pytest.mark.cpp
@pytest.mark.slow
def test_the_first_study(tmp_path: Path) -> None:
    """It runs as it is, and the page quotes its report."""
    tutorial = Tutorial(tmp_path, "first-study")
    tutorial.follow()
    assert len(tutorial.typed) == 5
    rows = pd.read_csv(tutorial.folder / "results" / "fabric" / "report" / "schemes.csv")
    assert {"PFC+HPCC", "IRN"} == set(rows["variant"])
    tutorial.type("pyorch report fabric")
    report = tutorial.folder / "results" / "fabric" / "report"
    page = (report / "index.html").read_text(encoding="utf-8")
    text = (ROOT / "docs" / "first-study.md").read_text(encoding="utf-8")
    (quoted,) = re.findall(r"^> (.*)$", text, re.MULTILINE)
    assert quoted in page
    rows = pd.read_csv(report / "schemes.csv").set_index(["variant", "metric"])["mean"]
    assert f"{rows['BFC', 'p99_below_10KB']:.2f} times the ideal time" in text
    assert f"against {rows['PFC', 'p99_below_10KB']:.0f} under PFC" in text


@pytest.mark.cpp
def test_the_first_experiment(tmp_path: Path) -> None:
    """The victim gets a sender's share, by arithmetic 10 Gb/s over the number of senders."""
    tutorial = Tutorial(tmp_path, "first-experiment")
    tutorial.follow()
    runs = (tmp_path / "results" / "victim" / "runs").glob("*/summary.json")
    metrics = [json.loads(file.read_text(encoding="utf-8"))["metrics"] for file in runs]
    rates = sorted(one["victim_rate"] / 1e9 for run in metrics for one in run.values())
    assert [round(rate, 3) for rate in rates] == [2.503, 5.441, 10.0]
    text = (ROOT / "docs" / "first-experiment.md").read_text(encoding="utf-8")
    assert "5.44 Gb/s under PFC and 10 Gb/s under PFFC" in text
    assert "2.503 Gb/s" in text


@pytest.mark.parametrize(
    ("page", "said", "shown"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a 1 ...", "a 1 2 3\n", True),
        ("a\nc", "a\nb\nc\n", False),
        ("a", "a\nb\n", False),
        ("a 2 ...", "a 1 2\n", False),
    ],
)
def test_what_counts_as_shown(page: str, said: str, shown: bool) -> None:
    """The comparison can fail."""
    assert is_shown(page, said) is shown
