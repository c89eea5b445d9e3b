"""The batch script: whatever folders and files are called, it passes on these bytes and no others.

The script is run by sh as Slurm runs it, with a program in Python's place that notes what it got.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyorch.base.paths import Paths
from pyorch.build.sources import MODULE_PATH_VARIABLE
from pyorch.engine.base import RUN_UNFIT
from pyorch.engine.slurm import script
from pyorch.engine.slurm.packing import Array
from pyorch.engine.slurm.settings import Settings
from pyorch.engine.slurm.submission import Submission
from tests.inputs import ROOT
from tools import develop

PACKAGE = str(ROOT)

#: Names that mean something to a shell, to printf or to sbatch.
NASTY = (
    "it's",
    'a "b" c',
    "$(touch made) ${HOME} $1",
    "`touch made`",
    "100%d %s %a %%",
    "line\nbreak\ntouch made\n",
    "\n#SBATCH --array=0-9\n",
    "-rf --version",
    "-",
    "~",
    "back\\slash\\",
    "ünï çødé “quoted” 名前",
    "not UTF-8 \udcff",
    "' ; touch made ; '",
    "'\n\"$(touch made)`touch made`\\'\"",
    "*",
    "!! # ; & | < > ( ) { } [ ] ? =",
)
LETTERS = st.one_of(
    st.sampled_from("'\"$`%\n\r\t ;&|<>(){}[]*?!#~-\\="),
    st.characters(exclude_characters="/\0", exclude_categories=("Cs",)),
)
NAMES = st.one_of(
    st.sampled_from(NASTY),
    st.text(LETTERS, min_size=1, max_size=40).filter(lambda name: name not in (".", "..")),
)

SITE = Settings()

_NOTE = """\
#!/bin/sh
printf '%s\\0' "$@" "$PYORCH_ROOT" "$PYORCH_RESULTS" "$PYTHONPATH" "$PYORCH_MODULE_PATH" > "$NOTED"
pwd -P >> "$NOTED"
"""


@dataclass(frozen=True)
class Job:
    """A batch script with everything it needs, below a folder."""

    folder: Path
    submission: Submission
    paths: Paths
    python: Path
    modules: Path
    site: Settings

    @property
    def content(self) -> bytes:
        """The script as `invoke submit` writes it."""
        variables = {MODULE_PATH_VARIABLE: str(self.modules), "PYTHONPATH": str(self.modules)}
        with (
            mock.patch.dict(os.environ, variables),
            mock.patch.object(script.sys, "executable", str(self.python)),
        ):
            return os.fsencode(script.job_script(self.submission, self.site, self.paths, "0a1b"))

    def run(self) -> subprocess.CompletedProcess[bytes]:
        """Run it as Slurm does a job of an array that begins with job 40."""
        self.submission.script.write_bytes(self.content)
        environment = {"PATH": os.environ["PATH"], "SLURM_ARRAY_TASK_ID": "2", "HOME": "/nowhere"}
        return subprocess.run(
            ["sh", str(self.submission.script), "40"],
            cwd=self.folder / "cwd",
            env=environment | {"NOTED": str(self.folder / "noted")},
            capture_output=True,
            check=False,
        )

    def files(self) -> set[Path]:
        """All files and folders there are, but the note of the program."""
        return set(self.folder.rglob("*")) - {self.folder / "noted"}


@contextmanager
def a_job(name: str, other: str, site: Settings = SITE) -> Iterator[Job]:
    """A job whose folders and files have two names."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        project, results = folder / "project" / name, folder / "results" / other
        python, modules = folder / "venv" / name / f"python {other}", folder / "modules" / name
        home = results / name / "slurm" / "20260101-000000-abcdef"
        for each in (project, home / "log", python.parent, modules, folder / "cwd"):
            each.mkdir(parents=True)
        python.write_text(_NOTE)
        python.chmod(0o755)
        submission = Submission(home, name, other, (), "", "", 0.0, 3)
        submission.manifest.touch()
        submission.script.touch()
        yield Job(folder, submission, Paths(project, results), python, modules, site)


@given(NAMES, NAMES)
@example(NASTY[0], NASTY[1])
@example(NASTY[5], NASTY[14])
@example(NASTY[12], NASTY[6])
@pytest.mark.slow
def test_the_script_passes_on_exactly_what_was_named(name: str, other: str) -> None:
    """Arguments, environment and folder are those bytes; nothing is printed, no file is made."""
    with a_job(name, other, Settings(cores_per_job=2, build_on_node=True)) as job:
        before = job.files() | {job.submission.script}
        done = job.run()
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert job.files() == before
        # an empty entry of PYTHONPATH would be the current folder
        path = ":".join(filter(None, f"{PACKAGE}:{job.modules}".split(":")))
        expected = [
            *["-P", "-m", "pyorch.engine.slurm.node", str(job.submission.manifest), "--task", "42"],
            *["--runs-per-task", "3", "--jobs", "2", "--head", "0a1b", "--build-on-node"],
            *[str(job.paths.root), str(job.paths.results), path],
            str(job.modules),
        ]
        *noted, folder = (job.folder / "noted").read_bytes().split(b"\0")
        assert noted == [os.fsencode(text) for text in expected]
        assert folder == os.fsencode(job.paths.root.resolve()) + b"\n"


@given(NAMES, NAMES, st.sampled_from(["project", "python", "manifest"]))
@example(NASTY[2], NASTY[3], "manifest")
@settings(max_examples=30)
def test_a_node_that_sees_not_all_says_so_and_does_nothing(
    name: str, other: str, gone: str
) -> None:
    """Exit code 5; the message names the folders as they are, and runs nothing of them."""
    with a_job(name, other) as job:
        missing = {
            "project": job.paths.root,
            "python": job.python,
            "manifest": job.submission.manifest,
        }[gone]
        missing.rename(missing.with_name("aside"))
        before = job.files()
        done = job.run()
        assert done.returncode == RUN_UNFIT
        assert job.files() == before
        for each in (job.paths.root, job.python, job.submission.manifest):
            assert b"\n    " + os.fsencode(each) + b"\n" in done.stderr


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("name", ["plain", *NASTY])
def test_shellcheck_finds_nothing_in_the_script(name: str, tmp_path: Path) -> None:
    """Neither with plain names, where notes count too, nor with nasty ones.

    What is left out for these are notes on the values: that nothing in them expands.
    """
    with a_job(name, name) as job:
        (tmp_path / "job.sh").write_bytes(job.content)
    strict = ["--severity=style"] if name == "plain" else ["--severity=warning"]
    check_shell(*strict, str(tmp_path / "job.sh"))


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_lint_checks_the_script_and_that_of_ci(tmp_path: Path) -> None:
    """`invoke lint` gives shellcheck both, and finds nothing."""
    name, (program, *files) = develop.shell_check(Paths(ROOT), tmp_path)
    assert (name, program) == ("shellcheck", "shellcheck")
    assert [Path(file).name for file in files] == ["run", "job.sh"]
    check_shell(*files)


def check_shell(*arguments: str) -> None:
    """Run shellcheck; it must find nothing."""
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["shellcheck", *arguments], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace") + done.stderr.decode()


def test_lint_says_when_shellcheck_did_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not passed over in silence."""
    monkeypatch.setattr(develop, "_passes", lambda *_arguments: True)
    monkeypatch.setenv("PATH", "/nowhere")
    assert develop.lint() == 0
    output = capsys.readouterr().out
    assert "not run: shellcheck is not installed" in output
    assert "lint: all well, without shellcheck" in output


def test_options_in_setup_are_no_options_of_sbatch() -> None:
    """A comment is read by sbatch only before the first command; `setup` comes after one."""
    with a_job("name", "other", Settings(setup=("#SBATCH --array=0-9",))) as job:
        lines = job.content.splitlines()
    commands = [number for number, line in enumerate(lines) if not line.startswith(b"#")]
    assert lines.index(b"#SBATCH --array=0-9") > commands[0]


@pytest.mark.parametrize("setup", ["exit 3", "cd /; PYORCH_ROOT=/nowhere", "python=/bin/false"])
def test_setup_is_shell(setup: str) -> None:
    """Its lines run before anything else; what they set cannot take the place of Python."""
    with a_job("name", "other", Settings(setup=(setup,))) as job:
        assert job.run().returncode == {"e": 3, "c": RUN_UNFIT, "p": 0}[setup[0]]


def test_the_log_of_a_job_is_where_sbatch_is_told(tmp_path: Path) -> None:
    """There sbatch puts the index for %a and % for %%, and nothing else."""
    submission = Submission(tmp_path / "100%a %j", "a", "a", (), "", "", 0.0, 3)
    pattern = submission.log_pattern(Array(0, 9))
    assert pattern.replace("%%", "\0").replace("%a", "7").replace("\0", "%") == str(
        submission.log(7)
    )
    assert pattern.replace("%%", "").count("%") == 1
