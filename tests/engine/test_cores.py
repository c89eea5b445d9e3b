"""How many threads runs have, and what a process may use."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from pyorch.base.errors import UserError
from pyorch.engine import cores
from pyorch.engine.manifest import read_manifest, read_run, write_manifest
from pyorch.kinds import read_spec
from pyorch.run.serve import tiny
from pyorch.study import Study


def asked(threads: Any) -> list[Any]:
    """A run that asks for threads."""
    return [dataclasses.replace(tiny(), threads=threads)]


def test_automatic_threads_share_the_cores() -> None:
    """As many as there are cores for each run; one where there are more runs."""
    cases = [(1, 8, 8), (3, 8, 2), (8, 8, 1), (20, 8, 1), (1, 1, 1)]
    for runs, there, expected in cases:
        assert cores.threads_of(asked("auto"), there, runs, "") == expected
    assert cores.threads_of(asked(3), 3, 1, "") == 3
    assert cores.threads_of([], 3, 1, "") == 1


def test_more_threads_than_cores_are_refused_with_both_numbers() -> None:
    """Of this machine or of a job."""
    with pytest.raises(UserError, match="asks for 4 threads, and its job has 2"):
        cores.threads_of(asked(4), 2, 1, "its job has")


@pytest.mark.parametrize(
    ("quota", "of_job", "expected"),
    [("max 100000", "", None), ("150000 100000", "", 1), ("max 100000", "1", 1), ("", "x", None)],
)
def test_a_quota_and_a_job_limit_the_cores(
    quota: str,
    of_job: str,
    expected: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever number of cores the machine has."""
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(cores, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setenv(cores.OF_JOB, of_job)
    assert cores.usable_cores() == (expected or len(os.sched_getaffinity(0)))


def test_threads_are_no_part_of_a_run(tmp_path: Path) -> None:
    """They go with the manifest, and neither the JSON nor the hash of a run has them."""
    one, many = tiny(), dataclasses.replace(tiny(), threads=2)
    assert (one.to_json(), one.hash("a")) == (many.to_json(), many.hash("a"))
    path = tmp_path / "manifest.jsonl"
    write_manifest(path, [many], "a", tmp_path, 2)
    assert read_manifest(path).threads == 2
    assert read_run(path, 0, read_spec)[1].threads == 2
    write_manifest(path, [one], "a", tmp_path)
    assert read_manifest(path).threads == 1


@pytest.mark.parametrize(
    ("value", "said"), [("0", "1"), ('"many"', "auto"), ("1025", "1024"), ("1.5", "auto")]
)
def test_odd_numbers_of_threads_are_refused(value: str, said: str, tmp_path: Path) -> None:
    """With what is allowed."""
    with pytest.raises(UserError, match=said) as caught:
        Study.load("gfc/two-to-one", overrides=[f"run.threads={value}"]).plan()
    assert "threads" in str(caught.value)
