"""The interface of all engines."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyorch.base.errors import Problem, first_of, shown

if TYPE_CHECKING:
    from pyorch.build.info import BuildInfo
    from pyorch.plan import RunSpec

#: Exit codes of `python -m pyorch.run`.
RUN_DONE = 0
RUN_ERROR = 1
RUN_REFUSED = 2
RUN_WRONG = 3
RUN_STORAGE = 4
RUN_UNFIT = 5
RUN_LEFT = 6

SHOWN_TITLES = 10
"""Runs that are named of those that failed in the same way."""

_MEANINGS = {
    RUN_DONE: "ended by itself before its end, without a result",
    RUN_ERROR: "stopped with an error",
    RUN_REFUSED: "was rejected: its configuration is impossible",
    RUN_WRONG: "ended with a wrong result",
    RUN_STORAGE: "could not write its results",
    RUN_UNFIT: "could not start: the built modules cannot be loaded",
    RUN_LEFT: "was ended by exit(), which a module called, before its end",
}

_SIGNALS: dict[int, str] = {
    signal.SIGABRT: "was aborted by the simulator (NS_FATAL_ERROR, NS_ABORT or a failed assertion)",
    signal.SIGBUS: "crashed: bus error (SIGBUS; a disk or shared memory full?)",
    signal.SIGFPE: "crashed: integer division by zero or overflow (SIGFPE)",
    signal.SIGILL: "crashed: illegal instruction (SIGILL); were the modules built for another CPU?",
    signal.SIGKILL: "was killed (SIGKILL; out of memory?)",
    signal.SIGSEGV: "crashed: segmentation fault",
}


@dataclass(frozen=True)
class Failure:
    """A failed run: its title, its hash, the outcome, the tail of its log.

    `log` is the whole log; `reproduce` is the command that runs it again in the foreground. `why`
    is what the engine knows better than the exit code tells; `facts` are lines about a run whose
    log may not say where it was.
    """

    title: str
    hash: str
    returncode: int
    tail: str
    log: Path
    reproduce: str
    why: str = ""
    facts: tuple[str, ...] = ()

    @property
    def reason(self) -> tuple[str, str]:
        """How the run ended, and the tail of its log: equal for runs that fail in the same way."""
        return self.why or describe_exit(self.returncode), self.tail

    def render(self) -> str:
        """Return everything that the user needs to proceed, as text."""
        how, tail = self.reason
        said = [f"    | {line}" for line in tail.splitlines()] or ["    | (its log is empty)"]
        lines = [f"FAILED {self.title}: the run {how}", *said, *(f"    {f}" for f in self.facts)]
        lines += [f"    log:       {self.log}", f"    reproduce: {self.reproduce}"]
        return shown("\n".join(lines))


def repeated(failures: Sequence[Failure]) -> Iterator[str]:
    """Yield a line about the runs that failed in the same way as an earlier one."""
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        groups.setdefault(failure.reason, []).append(failure)
    for first, *others in groups.values():
        if others:
            runs = "1 more run" if len(others) == 1 else f"{len(others):,} more runs"
            titles = first_of((failure.title for failure in others), SHOWN_TITLES)
            yield shown(f"FAILED {runs} in the same way as {first.title}: {titles}")


@dataclass(frozen=True)
class Refusal:
    """A problem that modules have with networks, without its place, and all runs that have it."""

    problem: Problem
    specs: tuple[RunSpec, ...]


@dataclass(frozen=True)
class BatchResult:
    """Outcome of a batch: runs done and left, failures, and why it stopped early.

    refusals: of its networks; then nothing was simulated.
    """

    done: int
    left: int
    failures: tuple[Failure, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    interrupted: bool = False
    storage_failed: bool = False


class Engine(Protocol):
    """Runs the given RunSpecs; the caller has removed finished ones."""

    def run(self, specs: Sequence[RunSpec], build: BuildInfo) -> BatchResult:
        """Run all; return when none is running any more."""
        ...


def describe_exit(returncode: int) -> str:
    """Return the meaning of a run's exit code, with the code."""
    meaning = _MEANINGS.get(returncode, "stopped")
    if returncode < 0:
        meaning = _SIGNALS.get(-returncode) or f"was ended by {_signal_name(-returncode)}"
    return f"{meaning} (exit code {returncode})"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
