"""No file of tests is missed."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def test_pytest_looks_at_every_file_with_tests(request: pytest.FixtureRequest) -> None:
    """By their names, and by those of all folders above them."""
    passed_by: list[str] = request.config.getini("norecursedirs")
    names: list[str] = request.config.getini("python_files")
    with_tests = [
        file.relative_to(TESTS)
        for file in TESTS.rglob("*.py")
        if re.search(r"^(async )?def test_", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len({file.parent for file in with_tests}) > 10
    for file in with_tests:
        assert any(fnmatch(file.name, name) for name in names), file
        for room in file.parent.parts:
            assert not any(fnmatch(room, name) for name in passed_by), file
