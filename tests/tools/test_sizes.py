"""The table of features and their lines."""

from __future__ import annotations

import pytest

from tools import sizes
from tools.sizes import Feature, feature_of, lines_of, problems


def test_every_file_belongs_to_a_feature_and_none_is_over_its_budget() -> None:
    """The message says which; `python -m tools.sizes` prints them all."""
    assert problems(lines_of()) == []


def test_what_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file goes to the nearest place above it; twins, strays and what is over are told."""
    features = (Feature("a", 10, ("x", "x/y/z.py")), Feature("b", 3, ("x/y", "x", "gone")))
    monkeypatch.setattr(sizes, "FEATURES", features)
    assert [feature_of(f"x/y/{one}.py") for one in "zw"] == list(features)
    assert problems({"x/y/z.py": 10, "x/y/w.py": 4, "v.py": 1}) == [
        "x is named 2 times",
        "there is no gone",
        "v.py belongs to no feature",
        "b: 4 lines, at most 3",
    ]
