"""The notebooks of the pages run in a kernel of their own, and show what is stored in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from pyorch.base.paths import Paths
from tests.inputs import ROOT
from tools.notebooks import executed, notebooks, texts


@pytest.mark.cpp
@pytest.mark.parametrize("file", notebooks(Paths(ROOT)), ids=lambda file: file.stem)
def test_a_notebook_shows_what_it_says(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell runs; the tables are the stored ones, and figures are there where some were."""
    monkeypatch.setenv("PYORCH_ROOT", str(ROOT))
    stored = nbformat.read(file, as_version=4)
    now = executed(file, tmp_path)
    assert texts(now) == texts(stored)
    assert texts(now)
    for cell, before in zip(now.cells, stored.cells, strict=True):
        for output, kept in zip(cell.get("outputs", ()), before.get("outputs", ()), strict=True):
            assert set(output.get("data", ())) == set(kept.get("data", ()))
