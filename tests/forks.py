"""Do something in a fork of this process, and see what becomes of it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT_CPU_S = 20
"""A fork that needs more CPU time is ended by SIGXCPU."""


def in_fork(act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a function returns in a fork.

    Else {"outcome": "ended with CODE", "message": what it wrote to its standard error}, or
    {"outcome": the name of its exception, "message": its text}.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S + 1))
            os.dup2(writing, 2)
            try:
                answer = act()
            except Exception as error:
                answer = {"outcome": type(error).__name__, "message": str(error)}
            os.write(writing, b"\0" + json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    text, _, answer = said.rpartition(b"\0")
    code = os.waitstatus_to_exitcode(status)
    if code == 0 and answer:
        return dict(json.loads(answer))
    return {"outcome": f"ended with {code}", "message": (text or answer).decode(errors="replace")}


def cpu_of_children() -> float:
    """CPU time of this process's ended children and their descendants [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Warm:
    """A program that has loaded what takes long; every answer comes from a fork of it.

    program: it defines `answer`, a function of JSON values that returns a dictionary of them, and
    finds `words` in sys.argv[1:].
    """

    def __init__(self, program: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program + _ANSWER_ALL, *words],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *given: Any) -> dict[str, Any]:
        """What `answer` returns, or what became of it, as in_fork tells it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


_ANSWER_ALL = """
import json, sys
from functools import partial
from tests.forks import in_fork
for line in sys.stdin:
    print(json.dumps(in_fork(partial(answer, *json.loads(line)))), flush=True)
"""
