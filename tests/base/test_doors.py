"""What installed packages add: verbs, methods of a study, kinds, cures."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pyorch.base import doors
from tests.inputs import ROOT, called

ADDED = """
from __future__ import annotations
from pyorch.cli.verb import verb

@verb
def greet() -> int:
    '''Greet.'''
    print("hello")
    return 0

def half(study, of: int) -> int:
    return of // 2
"""
POINTS = "[pyorch.verbs]\ngreet = more:greet\n[pyorch.study]\nhalf = more:half\n"


def installed(site: Path, code: str = ADDED, points: str = POINTS, name: str = "more") -> None:
    """Install a package of one module into a folder."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (site / "more.py").write_text(code)


def told(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a Python program does with the packages of a folder."""
    return called(
        [sys.executable, *words],
        env={"PYTHONPATH": f"{site}:{ROOT}", "PATH": "/usr/bin:/bin"},
        cwd=site,
    )


def test_the_entry_points_of_this_package_are_installed() -> None:
    """If this fails, pyproject.toml has changed: `pip install -e .` installs its entry points."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for group, points in wanted.items():
        known = {point.name: point.value for point in doors.points(group)}
        assert {name: known.get(name) for name in points} == points
        for name in points:
            assert doors.named(group, name) is not None


@pytest.mark.processes
def test_a_package_adds_verbs_and_methods(tmp_path: Path) -> None:
    """They are called and listed like those of pyorch; arguments of wrong types are refused."""
    installed(tmp_path)
    assert told(tmp_path, "-m", "pyorch", "greet").stdout == "hello\n"
    assert "  greet        Greet.\n" in told(tmp_path, "-m", "pyorch", "--help").stdout
    code = "import pyorch; s = pyorch.Study(); print(s.half(7), 'half' in dir(s)); s.half('x')"
    done = told(tmp_path, "-c", code)
    assert done.stdout == "3 True\n"
    assert "Study.half: of: 'x' is not allowed\n    allowed: a whole number" in done.stderr
    missing = told(tmp_path, "-c", "import pyorch; pyorch.Study().third()")
    assert missing.stderr.endswith("AttributeError: 'Study' object has no attribute 'third'\n")


@pytest.mark.processes
def test_a_package_that_is_wrong_hinders_no_other_verb(tmp_path: Path) -> None:
    """It is named when its verbs might be meant; `list` does not look for it."""
    installed(tmp_path, "1 / 0")
    done = told(tmp_path, "-m", "pyorch", "--help")
    assert "  minimise " in done.stdout
    assert done.stderr.startswith("package more 1.0: ZeroDivisionError: division by zero\n")
    assert told(tmp_path, "-m", "pyorch", "list").stderr == ""


@pytest.mark.processes
def test_one_name_of_two_packages_is_refused(tmp_path: Path) -> None:
    """Neither of them is taken silently."""
    installed(tmp_path)
    installed(tmp_path, name="other")
    done = told(tmp_path, "-m", "pyorch", "greet")
    assert done.stdout == ""
    said = "pyorch.verbs: several packages bring 'greet': more 1.0, other 1.0\n"
    assert done.stderr.startswith(said) or done.stderr.startswith(
        "pyorch.verbs: several packages bring 'greet': other 1.0, more 1.0\n"
    )
