"""What the modules object to, learnt before the first run of a batch simulates anything.

The warm process builds one run of each different network in a fork that then ends.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError, first_of
from pyorch.base.files import opened
from pyorch.base.paths import RunPaths
from pyorch.engine.base import RUN_REFUSED, BatchResult, Refusal
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pyorch.engine.launch import Process, WarmLauncher
    from pyorch.pipeline import Plan
    from pyorch.plan import RunSpec
    from pyorch.setting.canonical import Setting

_SHOWN_NODES = 4
LONGEST_S = 5.0
"""Wall time for all networks of a batch, from the first on; the others are left to their runs."""
CHECK = "check"
"""In the name of a check's folder, where an attempt's has the run: no run is under way there."""


def write_refusal(attempt: RunPaths, problems: Sequence[Problem]) -> None:
    """Write why a network is refused, in its process. Raises OSError."""
    with opened(attempt.summary, "w") as file:
        json.dump([asdict(problem) for problem in problems], file)


@dataclass
class _Check:
    """A network that is being built: of these runs, as the first of them has it."""

    runs: Sequence[int]
    attempt: RunPaths
    process: Process

    def end(self) -> None:
        """End it, which may have to begin first."""
        while self.process.poll() is None:
            with suppress(ProcessLookupError):
                if self.process.pid:
                    os.killpg(self.process.pid, signal.SIGKILL)
            time.sleep(0.01)

    def problems(self) -> list[Problem]:
        """Why it is refused. What else went wrong is for its runs to tell."""
        file = self.attempt.summary
        if self.process.wait() != RUN_REFUSED or not file.is_file():
            return []
        return [Problem(**problem) for problem in json.loads(file.read_text(encoding="utf-8"))]


@dataclass
class Preflight:
    """Checks a batch: at most `jobs` networks at once.

    go_on: waits a moment, and tells whether the batch still goes on.
    """

    store: Store
    launcher: WarmLauncher
    jobs: int
    go_on: Callable[[], bool]

    def check(self, specs: Sequence[RunSpec], shown: Sequence[RunSpec]) -> tuple[Refusal, ...]:
        """Return what the networks of runs are refused for.

        shown: runs that are done, and have shown that their networks can be. Raises OSError.
        """
        waiting = deque(_networks(specs, shown))
        going: list[_Check] = []
        found: dict[Problem, list[int]] = {}
        end = float("inf")
        while waiting or going:
            while waiting and len(going) < self.jobs:
                runs = waiting.popleft()
                attempt = self.store.begin(CHECK)
                process = self.launcher.start(runs[0], attempt, check=True)
                going.append(_Check(runs, attempt, process))
            if not self.go_on():
                break
            if any(one.process.pid for one in going):
                end = min(end, time.monotonic() + LONGEST_S)
            if time.monotonic() > end:
                waiting.clear()
                for one in going:
                    one.end()
            for one in [check for check in going if check.process.poll() is not None]:
                going.remove(one)
                for problem in one.problems():
                    found.setdefault(problem, []).extend(one.runs)
                self.store.discard(one.attempt.folder)
        for one in going:
            self.store.discard(one.attempt.folder)
        return tuple(Refusal(one, tuple(specs[n] for n in runs)) for one, runs in found.items())


def _networks(specs: Sequence[RunSpec], shown: Sequence[RunSpec]) -> list[list[int]]:
    """The numbers of the runs of each network that none has shown.

    The first network of each variant comes first: there may be no time for all.
    """
    names: dict[int, str] = {}

    def name(spec: RunSpec) -> str:
        setting = spec.setting  # its runs share it
        return names.get(id(setting)) or names.setdefault(id(setting), _network_of(setting))

    known = {name(spec) for spec in shown}
    groups: dict[str, list[int]] = {}
    for number, spec in enumerate(specs):
        if name(spec) not in known:
            groups.setdefault(name(spec), []).append(number)
    variants: set[object] = set()
    first: list[list[int]] = []
    others: list[list[int]] = []
    for runs in groups.values():
        variant = specs[runs[0]].params.get("variant")
        (others if variant in variants else first).append(runs)
        variants.add(variant)
    return [*first, *others]


def _network_of(setting: Setting) -> str:
    """A text that settings share which differ only in what goes on in a network."""
    from pyorch.setting.canonical import canonical_json, encode

    return canonical_json(encode(replace(setting, traffic=(), traces=(), params={})))


def refuse(plan: Plan, result: BatchResult) -> None:
    """Raise UserError, with the runs that it is about, if modules refused networks of a plan.

    What they say of several nodes is said once: "leaf0, leaf1: buffer over-committed".
    """
    from pyorch.remarks import which

    nodes: dict[tuple[Problem, tuple[RunSpec, ...]], list[str]] = {}
    for refusal in result.refusals:
        node, colon, said = refusal.problem.what.partition(": ")
        node, said = (node, said) if colon and " " not in node else ("", refusal.problem.what)
        nodes.setdefault((replace(refusal.problem, what=said), refusal.specs), []).append(node)
    problems = []
    for (problem, specs), names in nodes.items():
        where = f"{plan.experiment.label}: {which(specs, plan.specs)}"
        where += f": {problem.where}" if problem.where else ""
        node = first_of(names, _SHOWN_NODES)
        what = f"{node}: {problem.what}" if node else problem.what
        problems.append(replace(problem, where=where, what=what))
    if problems:
        problems[-1] = replace(problems[-1], hint=problems[-1].hint or _without(plan, result))
        raise UserError(problems)


def _without(plan: Plan, result: BatchResult) -> str | None:
    """How to run a plan without the variants that are refused; None if that leaves none."""
    refused = {spec.params.get("variant") for one in result.refusals for spec in one.specs}
    names = dict.fromkeys(str(spec.params.get("variant", "")) for spec in plan.specs)
    left = ",".join(name for name in names if name not in refused)
    return f"or run the others: --only {shlex.quote(left)}" if left else None
