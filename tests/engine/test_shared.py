"""Two users share results: by a group, a folder that hands its group down, and a umask of 002."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyorch.build import ensure_built
from tests.inputs import ROOT
from tests.projects import LOSING, STAR
from tests.users import second_user

pytestmark = [pytest.mark.cpp, pytest.mark.slow]

STUDY = (
    """
title = "Shared"

[run]
duration = "200us"
seeds = 6

"""
    + STAR
    + """
[variants.PFC]
flow_control = ["pfc"]

[[trace]]
table = "queue"
period = "10us"

[[metric]]
name = "{metric}"
kind = "max"
table = "queue"
port = "s0:h0"

[[figure]]
name = "queues"
kind = "timeseries"

[[figure.rows]]
table = "queue"
port = "s0:h0"
"""
)


@dataclass(frozen=True)
class User:
    """Someone with a home, and with a group that another is in too."""

    entry: pwd.struct_passwd
    group: int
    home: Path
    python: str
    packages: str

    @property
    def uid(self) -> int:
        """The number of the user."""
        return self.entry.pw_uid

    def start(self, *arguments: str, results: Path, umask: int = 0o002) -> subprocess.Popen[str]:
        """Run Python as this user."""
        known = {key: os.environ[key] for key in ("PATH", "LANG", "CXX") if key in os.environ}
        own = {"HOME": str(self.home), "PYTHONPATH": f"{ROOT}:{self.packages}"}
        own |= {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(results)}
        return subprocess.Popen(
            [self.python, *arguments],
            cwd=self.home,
            env=known | own | {"USER": self.entry.pw_name, "TMPDIR": str(self.home)},
            user=self.uid,
            group=self.entry.pw_gid,
            extra_groups=[self.group],
            umask=umask,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def invoke(
        self, *words: str, study: Path, results: Path, code: int = 0, umask: int = 0o002
    ) -> str:
        """Run a task on a study; nothing of it may be refused unless that is expected."""
        task = ("-m", "invoke", "--search-root", str(ROOT), words[0], str(study), *words[1:])
        process = self.start(*task, results=results, umask=umask)
        return finish(process, code)


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a task and return its output."""
    output, _ = process.communicate(timeout=600)
    assert process.returncode == code, output
    assert "Traceback" not in output
    if code != 2:
        assert "Permission denied" not in output
    return output


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that everybody may enter; that of pytest is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def users(place: Path) -> Iterator[list[User]]:
    """Two users of this machine, the second in the first one's group, who both can run Python."""
    with second_user("a") as first, second_user("b") as second:
        ensure_built(quiet=True)
        made = []
        for entry in (first, second):
            home = place / entry.pw_name
            home.mkdir()
            os.chown(home, entry.pw_uid, entry.pw_gid)
            made.append(User(entry, first.pw_gid, home, *python_for_all()))
        check = "import cppyy, invoke, pyarrow, pyorch"
        process = made[0].start("-c", check, results=place)
        output, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            pytest.skip(f"users other than root cannot run Python and pyorch here: {output[-200:]}")
        yield made


def python_for_all() -> tuple[str, str]:
    """A Python of this version that everybody may run, and where its packages are.

    That of a virtual environment may lie in the home of whoever made it.
    """
    packages = sysconfig.get_path("purelib")
    own = Path(sys.executable)
    if all(folder.stat().st_mode & stat.S_IXOTH for folder in own.resolve().parents):
        return str(own), packages
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return shutil.which(name, path="/usr/bin:/usr/local/bin") or str(own), packages


def write(study: Path, metric: str = "top", more: str = "") -> Path:
    """Write the study that both can read."""
    study.write_text(STUDY.format(metric=metric) + more)
    study.chmod(0o644)
    return study


def test_two_users_make_and_report_one_study(users: list[User], place: Path) -> None:
    """Each does a part, at the same time and after each other; each may replace what is there."""
    one, two = users
    results = place / "shared"
    results.mkdir()
    os.chown(results, -1, one.group)
    results.chmod(0o2775)
    study = write(place / "study.toml")

    words = ("-m", "invoke", "--search-root", str(ROOT), "experiment", str(study))
    parts = {one: "1-4", two: "3-6"}
    both = [user.start(*words, "--seeds", seeds, results=results) for user, seeds in parts.items()]
    for process in both:
        assert "report:" in finish(process)
    (runs,) = results.rglob("runs")
    made = sorted(run for run in runs.iterdir() if not run.name.startswith("."))
    assert len(made) == 6
    assert {run.stat().st_uid for run in made} == {one.uid, two.uid}
    before = {run: run.stat().st_ino for run in made}

    # new metrics are kept in the folders of runs, reports take the place of the other's
    write(study, metric="highest")
    for user in (two, one):
        assert "6 runs, 6 done" in user.invoke("experiment", study=study, results=results)
    assert "report" in two.invoke("report", study=study, results=results)
    assert {run: run.stat().st_ino for run in made} == before

    # so do failures
    write(study, metric="highest", more=LOSING)
    for user in (one, two):
        user.invoke("experiment", "--seeds", "1", study=study, results=results, code=1)
        assert {path.stat().st_uid for path in runs.with_name("failed").iterdir()} == {user.uid}
    assert {run: run.stat().st_ino for run in made} == before
    strangers = [path for path in results.rglob("*") if path.stat().st_gid != one.group]
    assert strangers == []


def test_what_is_not_shared_is_said_in_a_sentence(users: list[User], place: Path) -> None:
    """With a umask of 022 another may look, but not add: no traceback, and what to do."""
    one, two = users
    results = place / "own"
    results.mkdir()
    os.chown(results, one.uid, one.group)
    results.chmod(0o2775)
    study = write(place / "own.toml")
    one.invoke("experiment", "--seeds", "2", study=study, results=results, umask=0o022)
    assert "2 of them done" in two.invoke("show", study=study, results=results)
    output = two.invoke("experiment", study=study, results=results, code=2)
    assert output.count("cannot be written: Permission denied") == 1
    assert "make the folder writable" in output
    (runs,) = results.rglob("runs")
    assert len(list(runs.iterdir())) == 2
