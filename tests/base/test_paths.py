"""Where files live."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths, RunPaths, default_paths, project_root


def test_the_project_is_the_folder_with_pyproject_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PYORCH_ROOT the project is found above the package."""
    monkeypatch.delenv("PYORCH_ROOT", raising=False)
    assert project_root() == Path(__file__).resolve().parents[2]


def test_the_environment_moves_project_and_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """PYORCH_ROOT and PYORCH_RESULTS move the project and its results apart from each other."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path / "project"))
    monkeypatch.delenv("PYORCH_RESULTS", raising=False)
    assert default_paths().results == tmp_path / "project" / "results"
    monkeypatch.setenv("PYORCH_RESULTS", str(tmp_path / "scratch"))
    assert default_paths().experiments == tmp_path / "project" / "experiments"
    assert default_paths().report("a/b") == tmp_path / "scratch" / "a" / "b" / "report"


def test_a_missing_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PYORCH_ROOT that does not exist is an error that names the variable and the folder."""
    monkeypatch.setenv("PYORCH_ROOT", "/nowhere/at/all")
    with pytest.raises(UserError) as caught:
        project_root()
    assert caught.value.render() == "PYORCH_ROOT: there is no folder /nowhere/at/all"


@pytest.mark.parametrize("name", ["", "..", "a/../../b", "/etc", "a//b", "./a"])
def test_a_name_cannot_leave_the_results(name: str, tmp_path: Path) -> None:
    """An experiment's name never leads out of the results folder."""
    with pytest.raises(ValueError, match="not a valid name of an experiment"):
        Paths(tmp_path).experiment_results(name)


def test_files_of_a_run(tmp_path: Path) -> None:
    """A run's tables are its Parquet files, by name."""
    run = RunPaths(tmp_path)
    for name in ("rate", "flow"):
        run.table(name).touch()
    run.spec.touch()
    assert [path.name for path in run.tables()] == ["flow.parquet", "rate.parquet"]
