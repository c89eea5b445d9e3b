"""What groups of tests depend on, for the mark `inputs`; and what a file imports, to check it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

_HELPERS = ("buffer_run", "forks", "forms", "kept", "misuse", "projects", "wireshark")
RUNS = (
    "constraints.txt",
    "experiments",
    "ns3-modules",
    "pyorch",
    "tests/data",
    "tools/__init__.py",
    "tools/green.py",
    *(f"tests/{name}.py" for name in _HELPERS),
)
"""Of tests that run experiments."""


def called(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A program that has ended, with what it printed. options: of `subprocess.run`."""
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""Where a session has all tests of the files that it read, those too that it does not run."""

_PACKAGES = ("pyorch", "tests", "tools")


def imported(file: Path) -> set[str]:
    """All files of the project that a file imports, by way of others, too, as paths in it.

    Imports for type checkers alone do not count.
    """
    found, todo = {file}, [file]
    while todo:
        new = _imports(todo.pop()) - found
        found |= new
        todo += new
    return {one.relative_to(ROOT).as_posix() for one in found - {file}}


@cache
def _imports(file: Path) -> frozenset[Path]:
    names: set[str] = set()
    for node in _executed(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    parts = [name.split(".") for name in names if name.split(".")[0] in _PACKAGES]
    places = {ROOT.joinpath(*part[:end]) for part in parts for end in range(1, len(part) + 1)}
    files = {place / "__init__.py" for place in places}
    files |= {place.with_suffix(".py") for place in places}
    return frozenset(file for file in files if file.is_file())


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _executed(node)


BUILDS = (
    "ns3-modules",
    "pyorch/build",
    "tests/data/modules",
    "tools/__init__.py",
    "tools/cpptests.py",
    *sorted(imported(ROOT / "tools" / "cpptests.py")),
)
"""Of tests that build modules and run none."""
