"""Tests of one xdist_group run on one worker, as their shared fixtures need."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.inputs import called
from tools.develop import GROUPED

pytestmark = pytest.mark.processes

SIX_TESTS = """
import os, pathlib, pytest

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(6))
def test_notes_its_worker(number):
    pathlib.Path(str(number)).write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_a_group_of_tests_stays_on_one_worker(tmp_path: Path) -> None:
    """pytest-xdist 3.8 drops groups in silence with pytest 9.2 (its issue 1386)."""
    (tmp_path / "test_grouped.py").write_text(SIX_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    call = [sys.executable, "-m", "pytest", "-q", "-n", "3", *GROUPED]
    done = called(call, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    workers = {(tmp_path / str(number)).read_text() for number in range(6)}
    assert len(workers) == 1, f"one group ran on {sorted(workers)}"
