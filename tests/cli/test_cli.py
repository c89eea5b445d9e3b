"""The commands as a person types them: messages, exit codes, files."""

from __future__ import annotations

import copy
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import tasks
from pyorch import pipeline
from pyorch.addons.jobs import commands as job
from pyorch.base import files
from pyorch.base.errors import Problem, UserError
from pyorch.base.files import DiskError, storage_error
from pyorch.base.paths import Paths, RunPaths
from pyorch.cli import base as cli
from pyorch.cli.listing import list_all
from pyorch.cli.pages import docs
from pyorch.study import Study
from tests.forms import run_of
from tests.inputs import ROOT, called
from tests.projects import LOSING
from tests.slurm_cluster import wait_for
from tools import develop
from tools.cpptests import SuiteResult, Suites

SMALL = """
title = "Small"
port.pause_response = "ideal"

[run]
duration = "200us"
seeds = 2

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h2", size = "50KB" },
  { src = "h1", dst = "h2", size = "50KB", start = "1us" },
]

[variants.PFC]
flow_control = ["pfc"]

[[trace]]
table = "queue"

[[metric]]
name = "top"
kind = "max"
table = "queue"
port = "s0:h0"
"""


Invoke = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """This project, with results of its own."""
    return os.environ | {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(tmp_path / "results")}


@pytest.fixture
def invoke(environment: dict[str, str]) -> Invoke:
    """Run a task in a process of its own."""

    def run(*words: str, results: Path | None = None) -> subprocess.CompletedProcess[str]:
        moved = {} if results is None else {"PYORCH_RESULTS": str(results)}
        return called(
            [sys.executable, "-m", "invoke", *words], cwd=ROOT, env=environment | moved, timeout=300
        )

    return run


@pytest.fixture
def small(tmp_path: Path) -> str:
    """The path of a small experiment file."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return str(file)


# What is typed


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("experiment", False),
        ("experiment gfc/x", True),
        ("experiment --jobs 2", False),
        ("experiment --jobs 2 gfc/x", True),
        ("experiment --set a=1 --set b=2", False),
        ("experiment --set a=1 gfc/x --dry-run", True),
        ("experiment --jobs=2 --dry-run", False),
        ("experiment --dry-run gfc/x", True),
        ("build experiment", False),
        ("experiment report gfc/x", False),
        ("build", False),
    ],
)
def test_a_name_is_found_on_the_command_line(words: str, given: bool) -> None:
    """NAME is the first word that is neither an option, nor its value, nor another task."""
    takes_value = dict.fromkeys(("--set", "--jobs", "--seeds", "--name"), True)
    takes_value["--dry-run"] = False
    found, stray = tasks.positional_words(words.split(), "experiment", takes_value)
    assert (bool(found), stray) == (given, False)


@pytest.mark.parametrize("words", ["run gfc/x", "run", "experiment gfc/x"])
def test_an_experiment_is_run_by_either_name(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a checkout the verb is `run`."""
    monkeypatch.setattr(sys, "argv", ["invoke", *words.split()])
    task = copy.deepcopy(tasks.experiment)  # which its arguments take the help texts from
    name = next(one for one in task.get_arguments() if one.name == "name")
    assert name.positional == ("gfc/x" in words)
    assert name.positional or name.default == tasks.DEFAULT


def test_a_project_without_experiments_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty answer would leave a person wondering which folder was meant."""
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path))
    assert list_all() == 0
    text = capsys.readouterr().out
    assert text == f"there is no experiment: no .toml file is in {tmp_path / 'experiments'}\n"


def test_every_task_and_option_has_a_help_text() -> None:
    """`invoke TASK --help` says something about the task and about each of its options."""
    found = [value for value in vars(tasks).values() if isinstance(value, tasks.Task)]
    assert len(found) > 20
    for task in found:
        assert (task.__doc__ or "").strip(), task.name
        for argument in task.get_arguments():
            assert argument.help, f"{task.name}: {argument.name}"


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "two", " "])
def test_a_count_is_a_whole_number_from_1(text: str) -> None:
    """Anything else is refused by the option's name and value."""
    with pytest.raises(UserError) as caught:
        cli.whole_number("--jobs", text)
    expected = Problem("--jobs", f"{text!r} is not allowed", "a whole number from 1", None)
    assert caught.value.problems == (expected,)


def test_a_count_may_be_left_out() -> None:
    """An option that was not given is None, one that was is its number."""
    assert cli.whole_number("--jobs", "") is None
    assert cli.whole_number("--jobs", "12") == 12


def test_errors_become_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input is reported without a traceback and gives 2, a full disk 1, an interruption 130."""

    @cli.command
    def complain() -> int:
        raise UserError([Problem("file", "wrong", "right", None)])

    @cli.command
    def interrupted() -> int:
        raise KeyboardInterrupt

    @cli.command
    def fill() -> int:
        raise storage_error(OSError(errno.ENOSPC, "No space left on device", "results"), Path())

    assert fill() == 1
    assert "results: cannot be written: No space left on device" in capsys.readouterr().err
    assert complain() == 2
    assert capsys.readouterr().err == "file: wrong\n    allowed: right\n"
    assert interrupted() == 130


def test_what_a_job_prints_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up leaves the previous file, and is reported as a full disk."""

    def full(file: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(file))

    out = tmp_path / "job.goal"
    assert job._give("first\n", str(out)) == cli.OK
    monkeypatch.setattr(files, "sync", full)
    with pytest.raises(DiskError, match="No space left on device"):
        job._give("second\n", str(out))
    assert [file.name for file in tmp_path.iterdir()] == ["job.goal"]
    assert out.read_text() == "first\n"
    with pytest.raises(UserError, match="there is no folder"):
        job._give("third\n", str(tmp_path / "absent" / "job.goal"))


# Bad input, from the outside


@pytest.mark.processes
def test_a_misspelt_experiment_gets_a_suggestion(invoke: Invoke) -> None:
    """An unknown name gives exit code 2 and the nearest one."""
    done = invoke("experiment", "gfc/two-to-on")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no such experiment" in done.stderr
    assert "did you mean 'gfc/two-to-one'?" in done.stderr


@pytest.mark.processes
def test_every_set_reaches_the_experiment(invoke: Invoke, small: str) -> None:
    """All --set options are handed on, and all their problems come back at once."""
    done = invoke("show", small, "--set", "run.duratio=1us", "--set", "topology.hots=3,4")
    assert done.returncode == 2
    assert "did you mean 'duration'?" in done.stderr
    assert "did you mean 'hosts'?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.cpp
def test_a_title_cannot_steer_the_terminal(invoke: Invoke, small: str) -> None:
    r"""Control characters are shown as escapes; ESC, and LaTeX's \eta, are refused."""
    file = Path(small)
    before = file.read_text()
    file.write_text(re.sub(r'title = ".*"', r'title = "a\\u009b31mRED"', before))
    shown = invoke("show", small)
    assert shown.returncode == 0, shown.stderr
    assert "\x9b" not in shown.stdout
    assert r"a\x9b31mRED" in shown.stdout
    for text, told in (
        (r"$\eta$", r"\e in a text, which TOML 1.0 does not allow"),
        (r"a\u001b[31mRED", "title: the text has a control character, ESC"),
    ):
        file.write_text(before.replace('title = "', f'title = "{text}', 1))
        refused = invoke("show", small)
        assert refused.returncode == 2
        assert told in refused.stderr
        assert "\x1b" not in refused.stderr


@pytest.mark.processes
def test_show_prints_what_a_file_leaves_unset(invoke: Invoke, small: str) -> None:
    """Of every section in use, with the values that `schemes` has for its keys; no key twice."""
    shown = invoke(
        "show", small, "--set", "switch.route_delay=3us", "--only", "PFC", "--details"
    ).stdout
    settings, _, defaults = shown.partition("\ndefaults of what it leaves unset")
    found: dict[str, dict[str, str]] = {}
    section = ""
    for line in defaults.partition("\n\n")[0].splitlines()[1:]:
        section, values = line[2:12].strip() or section, line[14:].rstrip(",")
        found.setdefault(section, {}).update(pair.split(" ", 1) for pair in values.split(", "))
    entries = json.loads(invoke("schemes", "--json").stdout)
    known = {one["name"]: {key["name"]: key["default"] for key in one["keys"]} for one in entries}
    assert {"port", "switch", "host", "queue_pair", "buffer", "pfc"} <= found.keys()
    for section, values in found.items():
        assert values.items() <= {k: v.strip('"') for k, v in known[section].items()}.items()
        for key in known[section].keys() - values.keys():
            assert f".{key} " in settings or known[section][key] == "{}"  # a table without entries
    assert "route_delay" in known["switch"].keys() - found["switch"].keys()


def test_list_names_the_experiments(invoke: Invoke) -> None:
    """`invoke list` shows the default experiment with its title."""
    done = invoke("list")
    assert done.returncode == 0
    assert re.search(rf"^{cli.DEFAULT_EXPERIMENT} +\S", done.stdout, re.MULTILINE)
    assert tasks.DEFAULT == cli.DEFAULT_EXPERIMENT


# Whole experiments


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder that are compared: everything but logs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "log.txt"
    }


@pytest.mark.cpp
def test_results_do_not_depend_on_the_jobs(invoke: Invoke, small: str, tmp_path: Path) -> None:
    """The same runs one by one and two at once give the same bytes, in 5 files a run."""
    for jobs in ("1", "2"):
        done = invoke("experiment", small, "--jobs", jobs, results=tmp_path / jobs)
        assert done.returncode == 0, done.stdout + done.stderr
    one, two = tree(tmp_path / "1" / "small" / "runs"), tree(tmp_path / "2" / "small" / "runs")
    assert {Path(name).name for name in one} == {
        "SHA256SUMS",
        "spec.json",
        "summary.json",
        "flow.parquet",
        "queue.parquet",
    }
    assert len(one) == 10
    assert one == two
    runs = pd.read_parquet(tmp_path / "1" / "small" / "runs.parquet")
    assert runs["seed"].tolist() == [1, 2]
    assert runs["delivered_bytes"].tolist() == [100_000, 100_000]


@pytest.mark.cpp
def test_an_experiment_is_done_once(invoke: Invoke, small: str, tmp_path: Path) -> None:
    """A dry run does nothing; a second run starts nothing; more seeds start only those."""
    dry = invoke("experiment", small, "--dry-run")
    assert dry.returncode == 0
    assert "runs:     2, 0 of them done" in dry.stdout
    assert not (tmp_path / "results").exists()
    first = invoke("experiment", small)
    assert "small: 2 runs, 0 done" in first.stdout
    runs = tmp_path / "results" / "small" / "runs"
    before = {path: path.stat().st_mtime_ns for path in runs.iterdir()}
    assert len(before) == 2
    again = invoke("experiment", small, "--seeds", "3")
    assert "small: 3 runs, 2 done" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(runs.iterdir())) == 3


@pytest.mark.cpp
def test_files_of_one_name_do_not_share_results(invoke: Invoke, tmp_path: Path) -> None:
    """Each has its runs, table and report, and finds them again."""
    files = [tmp_path / folder / "inc.toml" for folder in "ab"]
    for file, title in zip(files, ("First", "Second"), strict=True):
        file.parent.mkdir()
        file.write_text(SMALL.replace("Small", title))
        done = invoke("experiment", str(file), "--seeds", "1")
        assert done.returncode == 0, done.stderr
    pages = sorted((tmp_path / "results").glob("*/report/index.html"))
    assert [re.sub(r"-[0-9a-f]{8}$", "-*", page.parts[-3]) for page in pages] == ["inc", "inc-*"]
    titles = [re.search(r"<h1>(.*)</h1>", page.read_text()) for page in pages]
    assert [found and found[1] for found in titles] == ["First", "Second"]
    for file in files:
        assert "runs:     1, 1 of them done" in invoke("show", str(file), "--seeds", "1").stdout


@pytest.mark.cpp
def test_a_wrong_result_fails_its_run(invoke: Invoke, tmp_path: Path) -> None:
    """What only a run can tell: exit code 1, the reason, and a failure on the disk."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL + LOSING)
    done = invoke("experiment", str(file), "--seeds", "1")
    assert done.returncode == 1
    assert "frames of lossless classes" in done.stdout
    assert "1 run failed, 1 of 2 missing" in done.stderr
    (failed,) = (tmp_path / "results" / "small" / "failed").iterdir()
    assert '"variant":"BAD"' in RunPaths(failed).spec.read_text()
    by_hand = called(
        done.stdout.split("reproduce: ")[1].splitlines()[0].split(),
        cwd=ROOT,
        env=os.environ | {"PYORCH_RESULTS": str(tmp_path / "results")},
    )
    assert by_hand.returncode == 3
    assert "frames of lossless classes" in by_hand.stderr


@pytest.mark.cpp
def test_an_expectation_that_fails_is_exit_code_1(invoke: Invoke, tmp_path: Path) -> None:
    """Runs that end well but contradict a verified expectation do not count as a success."""
    file = tmp_path / "wrong.toml"
    expect = """
[[expect]]
what = "nobody waits"
metric = "top"
expected = "1B"
tolerance = 0.01
status = "verified"
source = "nowhere"
"""
    file.write_text(SMALL + expect)
    done = invoke("experiment", str(file), "--seeds", "1")
    assert done.returncode == 1
    assert "nobody waits" in done.stdout
    assert (tmp_path / "results" / "wrong" / "report" / "index.html").is_file()


@pytest.mark.cpp
def test_ctrl_c_stops_within_two_seconds(
    environment: dict[str, str], small: str, tmp_path: Path
) -> None:
    """An hour of simulated time ends at once, with exit code 130 and the way to go on."""
    words = ["experiment", small, "--set", "run.duration=3600s"]
    words += ["--set", 'traffic=[{kind="greedy",src="h0",dst="h2"}]', "--set", "trace=[]"]
    process = subprocess.Popen(
        [sys.executable, "-m", "invoke", *words, "--set", "metric=[]"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    runs = tmp_path / "results" / "small" / "runs"
    deadline = time.monotonic() + 60
    while len(list(runs.glob(".*/heartbeat"))) < 1:
        assert time.monotonic() < deadline, process.communicate(timeout=1)
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - began < 2.0
    assert process.returncode == 130
    assert "interrupted: 0 done, 2 left, resume with the same command" in output
    assert "Traceback" not in errors
    assert list(runs.iterdir()) == []


@pytest.mark.cpp
def test_schemes_tells_what_can_be_written(invoke: Invoke) -> None:
    """Every scheme is listed with the keys of its section; one of them with all about it."""
    done = invoke("schemes")
    assert done.returncode == 0
    assert "    pfc (ns3::pfc::Pfc)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    one = invoke("schemes", "conceptual-gfc")
    assert re.search(r'^ +bm = "100KB"$', one.stdout, re.MULTILINE)
    wrong = invoke("schemes", "conceptual-gcf")
    assert wrong.returncode == 2
    assert "did you mean 'conceptual-gfc'?" in wrong.stderr


@pytest.mark.cpp
def test_dcqcn_without_marking_is_told_before_and_after(invoke: Invoke, tmp_path: Path) -> None:
    """In `show`, at the start and at the end; with the agent there is no remark."""
    file = tmp_path / "small.toml"
    file.write_text(
        'congestion_control = "dcqcn"\n' + SMALL + '[dcqcn]\nreference_rate = "10Gbps"\n'
    )
    marking = ["--set", 'agents=["ecn-marking"]', "--set", 'ecn-marking.reference_rate="10Gbps"']
    before = "warning:    dcqcn needs the signal of the agent ecn-marking, which no switch has"
    after = "warning:    in all 2 runs: ns3::dcqcn::Dcqcn: no switch has the agent"
    assert before in invoke("show", str(file)).stdout
    assert "warning" not in invoke("show", str(file), *marking).stdout
    done = invoke("experiment", str(file))
    assert [done.stderr.count(text) for text in (before, after)] == [1, 1], done.stderr
    assert "seeds:      every seed gave the same results" in done.stderr
    done = invoke("experiment", str(file), *marking)
    assert done.returncode == 0
    assert "warning" not in done.stderr


def test_a_drawing_that_fails_hides_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Remarks on runs are printed before the report begins."""
    misspelt = {"name": "late", "kind": "summary", "number": "deadlockd"}
    spec = run_of({"params": {"variant": ""}, "metrics": [misspelt]})
    summary = {"summary": {"deadlocked": 1, "deadlocked_at_end": 1}, "warnings": ["odd"]}
    store = SimpleNamespace(
        read_summary=lambda _: summary, is_done=lambda _: True, paths=Paths(tmp_path), name="x"
    )

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pyorch.report.write.write_report", fail)
    build: Any = SimpleNamespace(fingerprint="f")
    study: Any = SimpleNamespace(kinds={"mine.py": ""}, points=[], types=None, seeds=[1])
    plan = pipeline.Plan(study, [spec], build, store)  # type: ignore[arg-type]
    reported = Study.named("x", paths=Paths(tmp_path))
    reported._plan = reported._whole = plan
    with pytest.raises(ZeroDivisionError):
        reported.report(told=cli.warn)
    assert capsys.readouterr().err == (
        "deadlock:   in the run\n"
        "why:        `invoke explain x 1`\n"
        "warning:    metric 'late' has no value: no finished run has a number 'deadlockd'; "
        "did you mean 'deadlocked' or 'deadlocked_at_end'?\n"
        "warning:    in the run: odd\n"
    )


# The tasks of those who work on the project


@pytest.mark.parametrize(
    ("suites", "pytest_code", "chosen", "expected"),
    [
        ([True, True], 0, False, "all well: 2 of 2 C++ suites passed, pytest passed"),
        ([True, False], 0, False, "FAILED: 1 of 2 C++ suites passed, pytest passed"),
        ([True], 1, False, "FAILED: 1 of 1 C++ suites passed, pytest failed"),
        ([], 0, False, "FAILED: no C++ suite ran, pytest passed"),
        ([True], 5, False, "FAILED: 1 of 1 C++ suites passed, pytest found no test"),
        ([], 0, True, "all well: no C++ suite ran, pytest passed"),
        ([True], 5, True, "all well: 1 of 1 C++ suites passed"),
        ([False], 5, True, "FAILED: 0 of 1 C++ suites passed"),
        ([], 5, True, "FAILED: no C++ suite ran, pytest found no test"),
    ],
)
def test_the_verdict_on_all_tests_is_honest(
    suites: list[bool], pytest_code: int, chosen: bool, expected: str
) -> None:
    """Any failure fails, and so do tests that got lost unless only some were asked for."""
    assert develop.verdict(suites, pytest_code, chosen) == (expected.startswith("all"), expected)


def test_pytest_is_spared_a_word_that_no_test_has(tmp_path: Path) -> None:
    """As a scheme of one's own; a word in a file or in its name may choose a test."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "test_units.py").write_text("def test_Rate() -> None:\n    pass\n")
    chosen = {
        word: develop.is_in_tests(word, tmp_path)
        for word in ("leaky-pfc", "rate", "Units", "base", "", "rate or leaky", "leaky or mine")
    }
    assert [word for word, found in chosen.items() if not found] == ["leaky-pfc"]


def _suites_beside(profiles: Mapping[str, Collection[str]], expression: str) -> Suites:
    """In place of the C++ suites: begins what pytest waits for, and waits for what it begins."""
    folder = Path(os.environ["BOTH"])
    (folder / "suites").touch()
    wait_for((folder / "pytest").exists, "pytest", 60)
    if expression:
        raise UserError([Problem("ns3-modules", f"{expression} does not compile")])
    return {name: [SuiteResult("a", True, os.nice(0), "")] for name in profiles}


@pytest.mark.slow
def test_suites_run_beside_pytest_and_nicer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both have begun before one ends; failures of the suites are reported."""
    monkeypatch.setenv("BOTH", str(tmp_path))
    monkeypatch.setattr("pyorch.build.ensure_built", lambda: None)
    monkeypatch.setattr(develop, "run_suites", _suites_beside)

    def call(*_: object) -> int:
        wait_for((tmp_path / "suites").exists, "the suites", 60)
        (tmp_path / "pytest").touch()
        return 0

    monkeypatch.setattr(develop, "_call", call)
    assert develop.run_tests() == 0
    told = capsys.readouterr().out
    nice = os.nice(0) + develop.BESIDE
    for profile in ("release ", "sanitize"):
        assert f"PASS  {profile}  a ({nice}.0 s)" in told
    assert told.endswith("all well: 2 of 2 C++ suites passed, pytest passed\n")
    assert develop.run_tests(expression="mine") == 2
    assert "mine does not compile" in capsys.readouterr().err


def test_lint_checks_everything_and_fix_mends(tmp_path: Path) -> None:
    """Without --fix no command writes; with it those do that can."""
    paths = Paths(tmp_path)
    header = paths.modules / "a" / "model" / "a.h"
    header.parent.mkdir(parents=True)
    header.touch()
    checks, fixes = (dict(develop.lint_commands(paths, fix)) for fix in (False, True))
    names = ["ruff check", "ruff format", "mypy", "import-linter", "starts", "clang-format"]
    assert list(checks) == names
    assert "--check" in checks["ruff format"]
    assert checks["clang-format"][1:3] == ["--dry-run", "-Werror"]
    assert checks["clang-format"][-1:] == ["ns3-modules/a/model/a.h"]
    assert fixes["clang-format"][1:] == ["-i", "ns3-modules/a/model/a.h"]
    assert "--fix" in fixes["ruff check"]
    assert "--check" not in fixes["ruff format"]


def test_clean_keeps_results_unless_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is compiled goes, results stay; with --results they go too."""
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path))
    monkeypatch.delenv("PYORCH_RESULTS", raising=False)
    for name in ("build", "results", "pyorch/__pycache__", "experiments"):
        (tmp_path / name).mkdir(parents=True)
    assert develop.clean() == 0
    assert sorted(os.listdir(tmp_path)) == ["experiments", "pyorch", "results"]
    assert os.listdir(tmp_path / "pyorch") == []
    assert "kept" in capsys.readouterr().out
    assert develop.clean(results=True) == 0
    assert sorted(os.listdir(tmp_path)) == ["experiments", "pyorch"]


def test_clean_deletes_only_runs_of_other_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--old-results keeps the build and this build's runs, and says what it deletes."""
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path))
    monkeypatch.delenv("PYORCH_RESULTS", raising=False)
    monkeypatch.setattr("pyorch.build.ensure_built", lambda **_: SimpleNamespace(fingerprint="now"))
    spec = run_of({"params": {}})
    folders = [tmp_path / "results/s/e/runs" / spec.hash(name) for name in ("now", "before")]
    for folder in folders:
        folder.mkdir(parents=True)
        RunPaths(folder).spec.write_text(spec.to_json())
        RunPaths(folder).table("queue").write_bytes(bytes(1_500_000 - len(spec.to_json())))
    (tmp_path / "build").mkdir()
    assert develop.clean(old_results=True, dry_run=True) == 0
    text = capsys.readouterr().out
    assert "runs of other builds, to delete: 1 (1.5 MB)" in text
    assert "runs of this build, to keep: 1" in text
    assert all(folder.is_dir() for folder in folders)
    assert develop.clean(old_results=True) == 0
    assert "runs of other builds, deleted: 1 (1.5 MB)" in capsys.readouterr().out
    assert os.listdir(folders[0].parent) == [folders[0].name]
    assert (tmp_path / "build").is_dir()
    assert develop.clean(results=True, old_results=True) == 2
    assert develop.clean(dry_run=True) == 2
    assert folders[0].is_dir()


@pytest.mark.cpp
def test_a_damaged_run_is_named_kept_and_made_again(
    invoke: Invoke, small: str, tmp_path: Path
) -> None:
    """`show` names it, `report` sets it aside and goes on without, `experiment` makes it anew."""
    assert invoke("experiment", small).returncode == 0
    results = tmp_path / "results" / "small"
    before = tree(results / "runs")
    first, second = sorted((results / "runs").iterdir())
    (first / "summary.json").write_text("")
    shown = invoke("show", small)
    assert shown.returncode == 0
    assert "runs:     2, 1 of them done" in shown.stdout
    assert f"{first}/summary.json: is empty" in shown.stdout
    reported = invoke("report", small)
    assert f"damaged run {first.name} variant=PFC seed=" in reported.stderr
    assert f"{first}/summary.json: is empty" in reported.stderr
    assert f"kept in {results}/damaged/{first.name}.1" in reported.stderr
    assert "the report covers 1 of 2 runs" in reported.stderr
    (second / "queue.parquet").unlink()
    again = invoke("experiment", small)
    assert again.returncode == 0
    assert f"{second}/queue.parquet: is missing" in again.stderr
    assert "small: 2 runs, 0 done" in again.stdout
    assert tree(results / "runs") == before
    assert len(list((results / "damaged").iterdir())) == 2


def test_a_part_of_a_reference_page_is_found_by_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With or without brackets; of several pages that have it, both are named."""
    for word in ("route", "[[route]]"):
        assert docs(word) == 0
        assert capsys.readouterr().out.startswith("## [[route]]\n")
    assert docs("ring") == 2
    told = capsys.readouterr().err
    assert "pyorch docs topologies ring or pyorch docs traffic ring" in told
