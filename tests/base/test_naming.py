"""No two experiment files share a results folder, and a file keeps its own."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.files.find import claim_results, experiment_name


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A project with one study."""
    paths = Paths(tmp_path / "project", tmp_path / "results")
    make(paths.experiments / "gfc", "ring")
    return paths


def make(folder: Path, stem: str = "inc") -> str:
    """Write an experiment file; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{stem}.toml"
    file.write_text('title = "x"')
    return str(file)


def test_files_of_one_name_have_folders_of_their_own(tmp_path: Path, paths: Paths) -> None:
    """The first one has the short name; each keeps its own, whoever comes later."""
    first, second = make(tmp_path / "a"), make(tmp_path / "b")
    assert experiment_name(first, paths) == experiment_name(second, paths) == "inc"
    assert not paths.results.exists()  # looking claims nothing
    claim_results(first, paths)
    name = experiment_name(second, paths)
    assert name.startswith("inc-")
    assert len(name) == len("inc-") + 8
    claim_results(second, paths)
    for _ in range(2):
        assert experiment_name(first, paths) == "inc"
        assert experiment_name(second, paths) == name
        claim_results(second, paths)
    assert (paths.results / name / "file.txt").read_text() == f"{second}\n"


def test_a_file_keeps_its_folder_when_the_short_name_becomes_free(
    tmp_path: Path, paths: Paths
) -> None:
    """Its results would be lost to it otherwise."""
    first, second = make(tmp_path / "a"), make(tmp_path / "b")
    claim_results(first, paths)
    claim_results(second, paths)
    name = experiment_name(second, paths)
    (paths.results / "inc" / "file.txt").unlink()
    (paths.results / "inc").rmdir()
    assert experiment_name(second, paths) == name


def test_a_link_is_the_file_that_it_leads_to(tmp_path: Path, paths: Paths) -> None:
    """By whatever path it is called; a copy is another file."""
    first = make(tmp_path / "a")
    claim_results(first, paths)
    link = tmp_path / "inc.toml"
    link.symlink_to(first)
    assert experiment_name(str(link), paths) == "inc"
    assert experiment_name(f"{tmp_path}/a/../a/inc.toml", paths) == "inc"
    assert experiment_name(make(tmp_path / "copy"), paths) != "inc"


@pytest.mark.parametrize("stem", ["gfc", "reproduction"])
def test_no_file_has_the_name_of_what_is_there_already(
    tmp_path: Path, paths: Paths, stem: str
) -> None:
    """A study, a folder of studies, or the page of all of them."""
    assert experiment_name(make(tmp_path, stem), paths).startswith(f"{stem}-")
    assert experiment_name(make(tmp_path, "other"), paths) == "other"
    assert experiment_name("gfc/ring", paths) == "gfc/ring"
    make(paths.experiments, "inc")
    assert experiment_name(make(tmp_path / "a"), paths).startswith("inc-")


def test_files_that_come_at_once_do_not_meet(tmp_path: Path, paths: Paths) -> None:
    """One of them is first, whichever it is."""
    files = [make(tmp_path / str(number)) for number in range(40)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda file: claim_results(file, paths), files))
    finally:
        sys.setswitchinterval(before)
    names = {experiment_name(file, paths) for file in files}
    assert len(names) == 40
    assert "inc" in names
    assert {folder.name for folder in paths.results.iterdir()} == names


def test_a_note_that_was_cut_short_holds_nobody_up(tmp_path: Path, paths: Paths) -> None:
    """Then nobody has the short name."""
    file = make(tmp_path / "a")
    (paths.results / "inc").mkdir(parents=True)
    (paths.results / "inc" / "file.txt").touch()
    claim_results(file, paths)
    assert experiment_name(file, paths).startswith("inc-")
    (paths.results / experiment_name(file, paths) / "file.txt").write_text("")
    claim_results(file, paths)


def test_a_results_folder_that_cannot_be_written_is_told(tmp_path: Path, paths: Paths) -> None:
    """As any other trouble with the disk."""
    file = make(tmp_path / "a")
    paths.results.mkdir()
    (paths.results / "inc").touch()
    with pytest.raises(UserError, match="cannot be written"):
        claim_results(file, paths)
    (paths.results / "inc").unlink()
    paths.results.rmdir()
    paths.results.touch()
    with pytest.raises(UserError, match="cannot be written"):
        claim_results(file, paths)
