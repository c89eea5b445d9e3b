"""How programs end: by signals at any moment, without a reader of their output, by a crash."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from invoke.program import Program

import tasks
from pyorch.base import ends
from tests.inputs import ROOT, called

pytestmark = pytest.mark.processes

LIST = (sys.executable, "-m", "invoke", "list")
MARK = "PYORCH_TEST_MARK"
TASKS = {
    name
    for one in vars(tasks).values()
    if isinstance(one, tasks.Task)
    for name in (one.name, *one.aliases)
}
VERBS = re.compile(r"pyorch\.(cli\.tasks|addons\.\w+\.verbs)")
"""Modules that declare tasks."""


def program(text: str) -> list[str]:
    """The command line of a small program that ends as the tasks do."""
    return [sys.executable, "-c", f"from pyorch.base import ends\nends.start()\n{text}"]


@pytest.fixture(autouse=True)
def _without_nohup() -> Iterator[None]:
    """The tests themselves may run under nohup, which their programs would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def begin(words: Sequence[str], more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a program in the project's folder."""
    return subprocess.Popen(
        words,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | dict(more or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def handles(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal, as Linux tells it."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def marked(mark: str) -> list[str]:
    """The processes that have a mark in their environment: those of one test."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in file.read_bytes().split(b"\0"):
                found.append(file.parent.name)
        except OSError:
            continue
    return found


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("twice", [False, True])
def test_a_signal_ends_a_command_with_a_line_and_a_code(
    number: signal.Signals, twice: bool
) -> None:
    """From the moment tasks.py is read: 128 + its number, one line, and no traceback."""
    for delay in (0.0, 0.03, 0.08):
        process = begin(LIST)
        wait_for(lambda: handles(process, signal.SIGTERM))  # noqa: B023
        time.sleep(delay)
        for _ in range(1 + twice):
            process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        if delay == 0.0 or process.returncode != 0:
            assert process.returncode == 128 + number
            assert errors == f"interrupted ({number.name}): {ends.GO_ON}\n"


def test_children_end_with_their_program(tmp_path: Path) -> None:
    """Also those that ignore SIGTERM, or have a session of their own."""
    # a shell whose child is killed before itself may say so
    shell = "exec 2>/dev/null; trap '' TERM; setsid sleep 61 & touch ready; "
    shell += "while :; do sleep 62; done"
    text = f"import subprocess\nsubprocess.run(['sh', '-c', {shell!r}], cwd={str(tmp_path)!r})"
    process = begin(program(text), {MARK: str(tmp_path)})
    wait_for((tmp_path / "ready").exists)
    assert len(marked(str(tmp_path))) >= 3
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, len(errors.splitlines())) == (128 + signal.SIGTERM, 1)
    assert marked(str(tmp_path)) == []


def test_a_signal_that_nohup_ignores_stays_ignored() -> None:
    """A command started by nohup outlives the terminal."""
    process = begin(["nohup", *LIST])
    wait_for(lambda: handles(process, signal.SIGTERM))
    process.send_signal(signal.SIGHUP)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, "interrupted" in errors) == (0, False)
    assert tasks.DEFAULT in output


def test_what_a_command_says_of_its_end_is_said_once() -> None:
    """A signal during the last words waits for them, and adds none."""
    text = "import os, signal\nends.note(2)\n"
    text += "class Slow:\n    def __str__(self):\n        os.kill(os.getpid(), 15)\n"
    text += "        return 'interrupted: 3 left'\nends.tell(Slow())\nprint('more')"
    process = begin(program(text))
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (130, "interrupted: 3 left\n", "")


# Output


WORK = """
import sys
from pathlib import Path
from pyorch.cli import base
@base.{kind}
def work() -> int:
    for number in range(20_000):
        print("line", number)
    Path(sys.argv[1]).touch()
    return {code}
sys.exit(work())
"""


@pytest.mark.parametrize(
    ("kind", "code", "redirection", "expected", "done"),
    [
        ("command", 0, "| head -1", 0, True),
        ("command", 1, "| head -1", 1, True),
        ("command", 0, ">&-", 0, True),
        ("command", 0, ">&- 2>&- <&-", 0, True),
        ("command", 0, "> /dev/full", 1, True),
        ("command", 0, "> /dev/full 2>&1", 1, True),
        ("command", 2, "> /dev/full", 2, True),
        ("listing", 0, "| head -1", 0, False),
        ("listing", 0, ">&-", 0, True),
        ("listing", 0, "> /dev/full", 1, True),
    ],
)
def test_work_is_done_whoever_reads(
    tmp_path: Path, kind: str, code: int, redirection: str, expected: int, done: bool
) -> None:
    """Without a reader the exit code is about the work; a listing may end with its reader."""
    words = " ".join(f"'{word}'" for word in [*program("")[:2]])
    (tmp_path / "program.py").write_text(program(WORK.format(kind=kind, code=code))[2])
    script = f"set -o pipefail; {words[: words.rindex(' ')]} program.py finished {redirection}"
    ended = called(["bash", "-c", script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (ended.returncode, (tmp_path / "finished").exists()) == (expected, done)
    told = "standard output cannot be written: No space left on device\n"
    full = "/dev/full" in redirection and "2>" not in redirection
    assert ended.stderr == (told if full else "")


def test_a_character_that_the_terminal_lacks_is_escaped(tmp_path: Path) -> None:
    """A title in any script causes no traceback if only ASCII can be printed."""
    file = tmp_path / "experiments" / "snow.toml"
    file.parent.mkdir()
    file.write_text('title = "Größe ☃"\n', encoding="utf-8")
    ascii_only = {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYORCH_ROOT": str(tmp_path)}
    process = begin(LIST, ascii_only)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert output == "snow  Gr\\xf6\\xdfe \\u2603\n"


# Crashes


def test_a_crash_leaves_no_core_file(tmp_path: Path) -> None:
    """Neither one of the program itself nor one of a child."""
    text = "import os, subprocess, sys\nos.chdir(sys.argv[1])\n"
    text += "subprocess.run([sys.executable, '-c', 'import os; os.abort()'])\nos.abort()"
    hard = (
        "import resource as r\nr.setrlimit(r.RLIMIT_CORE, (r.getrlimit(r.RLIMIT_CORE)[1],) * 2)\n"
    )
    words = [*program(text)[:2], hard + program(text)[2], str(tmp_path)]
    ended = begin(words)
    ended.communicate(timeout=30)
    assert ended.returncode == -signal.SIGABRT
    assert os.listdir(tmp_path) == []


# Help


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_explains_itself(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`invoke TASK --help`, also where words that are no options are missing."""
    for words in ([name, "--help"], ["--help", name], [name, "-h"]):
        line = ["invoke", "--search-root", str(ROOT), *words]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.setitem(sys.modules, "tasks", tasks)  # the loader puts its own there
        # a task gives its help texts away once: each line is read by new ones
        for module in [one for one in sys.modules if VERBS.fullmatch(one)]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr("pyorch.cli.tasks", raising=False)
        Program(binary="invoke").run(line, exit=False)
        output, errors = capsys.readouterr()
        names = ("run", "experiment") if name == "run" else (name,)  # an alias
        assert output.startswith(tuple(f"Usage: invoke [--core-opts] {one} " for one in names))
        assert errors == ""
        for option in re.findall(r"^  (--\S+)", output, re.MULTILINE):
            assert re.search(rf"{re.escape(option)} +\S", output)


def test_an_option_that_does_not_exist_is_not_taken_for_a_name() -> None:
    """Invoke would say that there is no experiment '--bogus'."""
    ended = begin([sys.executable, "-m", "invoke", "submit", "--bogus", "x"])
    assert ended.communicate(timeout=30) == ("", "No idea what '--bogus' is!\n")
