"""A wheel with the compiled modules: it runs without a compiler, and as if compiled here."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pyorch.base.paths import Paths
from pyorch.build import ensure_built
from tests.cli.test_program import in_sdist
from tests.inputs import RUNS, called
from tools import wheels

ROOT = Path(__file__).parents[2]
PROGRAMS = ("bash", "env", "git", "sh", "uname")
"""What remains on PATH: no compiler."""


pytestmark = [
    pytest.mark.cpp,
    pytest.mark.xdist_group("wheel"),
    pytest.mark.inputs(
        *RUNS,
        "MANIFEST.in",
        "docs",
        "setup.py",
        "pyproject.toml",
        "tests/cli/test_program.py",
        "tools/wheels.py",
    ),
]

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed."""
    place = tmp_path_factory.mktemp("wheel")
    copy, made = place / "copy", place / "made"
    for name in in_sdist():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    wheels.with_modules(ensure_built(outside=False), copy, made)
    (wheel,) = made.iterdir()
    assert wheel.name.endswith(f"-py3-none-linux_{os.uname().machine}.whl")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    subprocess.run([*install, str(place / "site"), str(wheel)], check=True)
    return place / "site"


def program(site: Path, home: Path, compiler: bool = False) -> Program:
    """`pyorch` of that installation, in a home of its own; by default it finds no compiler."""
    path = home / "bin"
    path.mkdir(parents=True)
    for name in PROGRAMS:
        (path / name).symlink_to(shutil.which(name) or pytest.fail(f"{name} is missing"))
    plain = {k: one for k, one in os.environ.items() if not k.startswith(("PYORCH_", "CXX"))}
    environment = {
        **plain,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH'] if compiler else path}",
        "PYTHONPATH": str(site),
        "XDG_CACHE_HOME": str(home / "cache"),
    }

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return called([sys.executable, "-m", "pyorch", *words], cwd=home, env=environment)

    return call


def digests(runs: Path) -> dict[str, str]:
    """The tables of all runs, by run and name."""
    return {
        file.relative_to(runs).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in runs.rglob("*.parquet")
    }


def test_it_runs_without_a_compiler(site: Path, tmp_path: Path) -> None:
    """The same runs, by name and by byte, as of a build that was compiled here."""
    home = tmp_path / "home"
    done = program(site, home)("run", "gfc/two-to-one")
    assert done.returncode == 0, done.stderr
    assert "build:" not in done.stderr
    here = [sys.executable, "-m", "pyorch", "run", "gfc/two-to-one"]
    environment = {**os.environ, "PYORCH_RESULTS": str(tmp_path / "here")}
    subprocess.run(here, cwd=ROOT, env=environment, capture_output=True, check=True)
    ours = digests(tmp_path / "here" / "gfc" / "two-to-one" / "runs")
    assert len(ours) > 2
    assert digests(home / "results" / "gfc" / "two-to-one" / "runs") == ours


def test_a_module_of_a_project_is_compiled_against_it(site: Path, tmp_path: Path) -> None:
    """That module alone; a run then loads both, and ns-3."""
    call = program(site, tmp_path / "home", compiler=True)
    for words in (["init", "."], ["new-scheme", "my-pause"]):
        done = call(*words)
        assert done.returncode == 0, done.stderr
    done = call("run", "my-pause/two-to-one")
    assert done.returncode == 0, done.stderr
    assert "build: compiling my-pause (" in done.stdout + done.stderr


def test_it_says_nothing_of_the_machine_that_compiled_it(site: Path) -> None:
    """No file has a path of it."""
    shipped = site / "pyorch" / "shipped" / "build"
    files = [file for file in shipped.rglob("*") if file.is_file()]
    assert len([file for file in files if file.suffix == ".so"]) > 20
    ns3 = ensure_built(outside=False).ns3_libraries.parent
    places = [str(place).encode() for place in (Paths(ROOT).root, ns3)]
    assert [file for file in files if any(one in file.read_bytes() for one in places)] == []


def test_an_edit_or_a_library_that_does_not_load_compiles_anew(site: Path, tmp_path: Path) -> None:
    """Which needs the compiler, and says why."""
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    (library, *_) = sorted((copy / "pyorch" / "shipped" / "build" / "lib").glob("*-pfc.so"))
    whole = library.read_bytes()
    library.write_bytes(whole.replace(b"GLIBCXX_3.4", b"GLIBCXX_9.4"))
    done = program(copy, tmp_path / "first")("run", "gfc/two-to-one")
    assert done.returncode == 2
    assert "the libraries that came with the package do not load here" in done.stderr
    assert "GLIBCXX_9.4" in done.stderr
    assert "the C++ compiler 'g++' was not found on PATH" in done.stderr
    library.write_bytes(whole)
    source = copy / "pyorch" / "shipped" / "ns3-modules" / "pfc" / "model" / "pfc.cc"
    source.write_text(
        source.read_text().replace("NS_LOG_COMPONENT", "\nint g_edited{0};\nNS_LOG_COMPONENT", 1)
    )
    done = program(copy, tmp_path / "second")("run", "gfc/two-to-one")
    assert done.returncode == 2
    assert "the modules are not those that came with the package" in done.stderr
    assert "the C++ compiler 'g++' was not found on PATH" in done.stderr
