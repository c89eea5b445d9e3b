"""`invoke wheel`: what a release publishes, a wheel with the compiled modules and its sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths, default_paths
from pyorch.build import BuildInfo, ensure_built, shipped
from pyorch.cli.base import OK, command

_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


@command
def wheel(out: Path) -> int:
    """Write both into a folder, and print their names."""
    for file in make(default_paths(), out):
        print(file)
    return OK


def make(paths: Paths, out: Path) -> list[Path]:
    """Write a wheel and a source distribution of the committed files; return both.

    Raises UserError if the modules do not compile, or git, setuptools or pip fails.
    """
    build = ensure_built(root=paths.root, outside=False)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        copy, made = Path(place, "copy"), Path(place, "made")
        listed = _run(["git", "ls-files", "-z"], paths.root, {})
        for name in filter(None, listed.split("\0")):
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.root / name, target)
        made.mkdir()
        _run([sys.executable, "-c", _SDIST, str(made)], copy, {})
        with_modules(build, copy, made)
        return [Path(shutil.copy(file, out)) for file in sorted(made.iterdir())]


def with_modules(build: BuildInfo, sources: Path, out: Path) -> None:
    """Write a wheel of a copy of the project, with these compiled modules. Raises UserError."""
    with tempfile.TemporaryDirectory() as packed:
        shipped.pack(build, Path(packed))
        words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), "."]
        _run(words, sources, {"PYORCH_BUILT": packed})


def _run(call: list[str], folder: Path, more: Mapping[str, str]) -> str:
    """Return what a program prints. Raises UserError with its last line if it fails."""
    done = subprocess.run(
        call, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it says nothing"]
        hint = "in a checkout, after pip install -c constraints.txt -e '.[dev]'"
        raise UserError([Problem(f"wheel: {Path(call[0]).name}", said[-1], None, hint)])
    return done.stdout
