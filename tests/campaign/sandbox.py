"""Run a piece of work in a fork that may take neither much time nor much memory."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CPU_S = 10
"""CPU time that a case may take [s]; it does not depend on what else the machine does."""
WALL_S = 60.0
"""Time that a case may take on a loaded machine [s]: above it, it waits for something."""
MEMORY = 2**30
"""Memory that a case may have [bytes]."""
FILE_SIZE = 2**30
"""Largest file that a case may write [bytes]."""
UNCAUGHT = 99
"""Exit code of a case that ended with an exception nobody caught."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended.

    code: exit code; minus the signal when one killed it. timed_out: it was killed after WALL_S.
    """

    code: int
    stdout: str
    stderr: str
    cpu_s: float
    wall_s: float
    timed_out: bool = False


def run_limited(work: Callable[[], int], folder: Path) -> Outcome:
    """Run `work` in a fork under the limits; its return value is the exit code.

    folder: where its output is kept until it has been read.
    """
    files = folder / "stdout", folder / "stderr"
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _become(work, *files)
    watched = os.pidfd_open(pid)
    timed_out = not select.select([watched], [], [], WALL_S)[0]
    if timed_out:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    os.close(watched)
    texts = [file.read_text(encoding="utf-8", errors="backslashreplace") for file in files]
    return Outcome(
        os.waitstatus_to_exitcode(status),
        *texts,
        usage.ru_utime + usage.ru_stime,
        time.monotonic() - began,
        timed_out,
    )


def _become(work: Callable[[], int], out: Path, err: Path) -> None:
    """In the fork: do the work and end."""
    code = UNCAUGHT
    try:
        os.setsid()
        sys.stdout.flush()
        sys.stderr.flush()
        for number, file in ((1, out), (2, err)):
            opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(opened, number)
            os.close(opened)
        _limit()
        code = work()
    except SystemExit as ending:
        code = _code_of(ending)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _code_of(ending: SystemExit) -> int:
    """Return the exit code that Python would end with."""
    if ending.code is None or isinstance(ending.code, int):
        return ending.code or 0
    print(ending.code, file=sys.stderr)
    return 1


def _limit() -> None:
    """Limit this process: what it shares with its parent does not count as its own memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    pages, resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[:2]
    reserved = (int(pages) - int(resident)) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (reserved + MEMORY, reserved + MEMORY))
