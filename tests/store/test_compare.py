"""`compare`: two results side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.cli.compare import compare_results
from pyorch.store.comparison import compare, read_side
from pyorch.store.seal import write_seal

OLD, NEW = "a" * 64, "b" * 64


def add_run(
    root: Path, name: str, seed: int, peak: float, table: bytes, build: str = OLD, variant: str = ""
) -> Path:
    """A finished run, as the store leaves it; its table is not a table, which nobody reads here."""
    folder = root / "results" / name / "runs" / f"{build[:4]}{variant}{seed:012}"
    folder.mkdir(parents=True)
    spec = {"params": {"variant": variant, "buffer.xoff": "20KB"}, "seed": seed, "metrics": []}
    summary = {"nodes": [], "summary": {"peak": peak, "events": 7}}
    summary |= {"metrics": {"0": {"paused": 5 * peak}}}
    (folder / "spec.json").write_text(json.dumps(spec))
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "queue.parquet").write_bytes(table)
    write_seal(folder, folder.name, build)
    return folder


@pytest.fixture(name="root")
def make_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own."""
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path))
    monkeypatch.delenv("PYORCH_RESULTS", raising=False)
    return tmp_path


def test_equal_bytes_are_the_same_and_nothing_else_is(root: Path) -> None:
    """Files decide, not numbers."""
    for name in ("one", "two"):
        add_run(root, name, 1, 10, b"x")
        add_run(root, name, 2, 20, b"x" if name == "one" else b"y")
    add_run(root, "one", 3, 1, b"x")
    paths = Paths(root)
    found = compare(read_side("one", paths), read_side("two", paths))
    assert found.same == ["buffer.xoff=20KB seed=1"]
    assert found.differing == {"buffer.xoff=20KB seed=2": ["queue.parquet"]}, "only the table"
    assert (found.only_a, found.only_b) == (["buffer.xoff=20KB seed=3"], [])
    assert not found.is_same
    assert not found.values, "the numbers are the same"


def test_numbers_differ_by_the_part_of_the_larger_one(root: Path) -> None:
    """10 and 8 differ by 20 %, as 16 and 20 do."""
    for seed, peak in ((1, 10.0), (2, 16.0), (3, 10.0)):
        add_run(root, "one", seed, peak, b"x")
        add_run(root, "two", seed, {1: 8.0, 2: 20.0, 3: 10.0}[seed], b"x")
    paths = Paths(root)
    values = {
        one.name: one for one in compare(read_side("one", paths), read_side("two", paths)).values
    }
    assert set(values) == {"peak", "paused"}
    assert values["peak"].runs == 2
    assert values["peak"].relative == pytest.approx(0.2)
    assert {values["paused"].a, values["paused"].b} in ({50.0, 40.0}, {80.0, 100.0})


def test_builds_of_one_study_are_sides(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A build is named by its first digits."""
    add_run(root, "study", 1, 10, b"x", OLD)
    add_run(root, "study", 1, 11, b"y", NEW)
    add_run(root, "study", 2, 10, b"x", OLD)
    assert compare_results("study@aa", "study@bb") == 1
    said = capsys.readouterr().out
    assert "1 run: differ" in said
    assert "1 run: only in A" in said
    assert "9.09 %" in said
    assert compare_results("study@aa", str(root / "results" / "study") + "@aaaa") == 0


def test_the_newest_of_several_builds_counts(root: Path) -> None:
    """One folder has runs of several builds."""
    add_run(root, "study", 1, 10, b"x", OLD)
    add_run(root, "study", 1, 11, b"y", NEW)
    side = read_side("study", Paths(root))
    assert [run.build for run in side.runs.values()] == [NEW]
    assert side.older == 1


def test_what_cannot_be_compared_is_said(root: Path) -> None:
    """A wrong name, a build without runs, and a damaged run."""
    folder = add_run(root, "study", 1, 10, b"x")
    with pytest.raises(UserError, match="no results have that name") as found:
        read_side("studie", Paths(root))
    assert found.value.problems[0].allowed == "study"
    with pytest.raises(UserError, match="no run is of a build 'c'"):
        read_side("study@c", Paths(root))
    (folder / "summary.json").write_text("{}")
    with pytest.raises(UserError, match="instead of"):
        read_side("study", Paths(root))
    write_seal(folder, folder.name, OLD)
    with pytest.raises(UserError, match=r"summary\.json: is not a summary as pyorch writes it"):
        read_side("study", Paths(root))
    (folder / "summary.json").write_text('{"nodes": [], "summary": {}, "metrics": {}}')
    for spec in ("nonsense", "[]", '{"params": []}', '{"params": {}, "seed": null}'):
        (folder / "spec.json").write_text(spec)
        write_seal(folder, folder.name, OLD)
        with pytest.raises(UserError, match=r"spec\.json: is not the spec of a run as pyorch"):
            read_side("study", Paths(root))
