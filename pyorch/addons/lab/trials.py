"""Trials: whether a condition holds for a case, found by a run in a separate store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyorch.addons.lab.case import Case
from pyorch.addons.lab.condition import Condition, check_names, numbers_of
from pyorch.addons.lab.explicit import tables_of
from pyorch.base.errors import UserError
from pyorch.engine.base import Engine
from pyorch.engine.log import log_tail
from pyorch.explain.outcomes import LOG_LINES, has_failed, spec_of
from pyorch.metrics import Metric
from pyorch.plan import RunSpec
from pyorch.run.simulate import RunProblemsError
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from pyorch.pipeline import Plan

AT_ONCE = 8
"""Number of cases tried together; constant, so that trials do not depend on the machine."""
IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Written:
    """The files of a result. picture: None if there is nothing to draw; cycle: its egresses."""

    file: Path
    steps: Path
    picture: Path | None
    cycle: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial: whether the condition holds, the run, or why there is none."""

    holds: bool
    run_hash: str = ""
    why: str = ""

    @property
    def word(self) -> str:
        """The outcome in words."""
        return "holds" if self.holds else IMPOSSIBLE if self.why else "does not hold"


@dataclass(frozen=True)
class Step:
    """One trial in the table of steps; trials made in parallel in vain are not listed."""

    stage: str
    what: str
    outcome: Outcome
    measures: dict[str, int]
    duration_ps: int

    def row(self, number: int) -> dict[str, Any]:
        """The row of the table."""
        own = {"step": number, "stage": self.stage, "tried": self.what}
        size = {**self.measures, "duration_ps": self.duration_ps}
        return {**own, "outcome": self.outcome.word, **size, "run": self.outcome.run_hash}


@dataclass
class Trials:
    """The trials of one minimisation, or of one search.

    plan: of the study. store: keeps the trials' runs. engine: performs them. metrics, traces:
    those that the condition needs. tell: gets a line now and then. option: the one with the
    condition, whose names the first run that ends checks; "" if they are known to be right.
    """

    plan: Plan
    store: Store
    engine: Engine
    condition: Condition
    metrics: Sequence[Metric] = ()
    traces: Sequence[dict[str, Any]] = ()
    tell: Callable[[str], object] = lambda _: None
    option: str = ""
    steps: list[Step] = field(default_factory=list)
    runs: int = 0
    """Number of runs that were simulated now, not found in the store."""
    _known: dict[str, Outcome] = field(default_factory=dict)

    def first(self, cases: Sequence[Case | None], stage: str, names: Sequence[str]) -> int | None:
        """The number of the first case for which the condition holds, or None.

        A case that is None is impossible. names: of the cases in the table of steps. Raises
        KeyboardInterrupt; the same call then resumes.
        """
        for low in range(0, len(cases), AT_ONCE):
            outcomes = self.outcomes(cases[low : low + AT_ONCE])
            for number, outcome in enumerate(outcomes, start=low):
                case = cases[number]
                if case is None:
                    continue
                sizes = dict(case.measures())
                duration = int(case.run["duration"])
                self.steps.append(Step(stage, names[number], outcome, sizes, duration))
                if outcome.holds:
                    return number
        return None

    def outcome(self, case: Case) -> Outcome:
        """The outcome of one case, which is not added to the table of steps."""
        return self.outcomes([case])[0]

    def outcomes(self, cases: Sequence[Case | None]) -> list[Outcome]:
        """The outcomes of some cases, which are not added to the table of steps."""
        keys = [None if case is None else self._key(case) for case in cases]
        fresh = {
            key: case
            for key, case in zip(keys, cases, strict=True)
            if key is not None and case is not None and key not in self._known
        }
        self._run(fresh)
        impossible = Outcome(False, "", "no valid case is left")
        return [impossible if key is None else self._known[key] for key in keys]

    def _key(self, case: Case) -> str:
        return json.dumps(self.content(case), sort_keys=True)

    def content(self, case: Case) -> dict[str, Any]:
        """The tables of a trial."""
        content = dict(tables_of(case).content)
        names = {*case.hosts, *case.switches}
        traces = []
        for trace in self.traces:
            ports = [port for port in trace.get("ports", []) if set(port.split(":")) <= names]
            if ports or not trace.get("ports"):
                traces.append({**trace, **({"ports": ports} if ports else {})})
        return content | ({"trace": traces} if traces else {})

    def _run(self, fresh: dict[str, Case]) -> None:
        """Find the outcomes of new cases, given by their keys."""
        specs: dict[str, RunSpec] = {}
        for key in fresh:
            try:
                specs[key] = self.spec(json.loads(key))
            except UserError as error:
                self._known[key] = Outcome(False, "", error.problems[0].what)
        self._known |= dict(zip(specs, self.of_runs(list(specs.values())), strict=True))

    def of_runs(self, specs: Sequence[RunSpec]) -> list[Outcome]:
        """The outcomes of runs; missing ones are performed. Raises KeyboardInterrupt."""
        build = self.plan.build
        fingerprint = build.fingerprint
        missing = [
            spec
            for spec in self.store.missing(list(specs), fingerprint)
            if not has_failed(self.store, spec.hash(fingerprint))
        ]
        if missing:
            result = self.engine.run(missing, build)
            if result.interrupted:
                raise KeyboardInterrupt
            self.runs += len(missing)
        return [self.judge(spec) for spec in specs]

    def judge(self, spec: RunSpec) -> Outcome:
        """Whether the condition holds for a run; a failed one is impossible. Raises UserError."""
        fingerprint = self.plan.build.fingerprint
        run_hash = spec.hash(fingerprint)
        if not self.store.is_done(run_hash):
            return Outcome(False, run_hash, why_failed(self.store, run_hash))
        measured = replace(spec, metrics=tuple(self.metrics))
        numbers = numbers_of(self.store, measured, fingerprint)
        if self.option:
            check_names(self.condition, numbers, self.metrics, self.option)
            self.option = ""
        return Outcome(self.condition.holds(numbers), run_hash)

    def spec(self, content: dict[str, Any], seeds: Sequence[int] | None = None) -> RunSpec:
        """The run described by the tables of a file. Raises UserError if they are invalid."""
        return spec_of(self.plan, self.store, content, seeds)


def why_failed(store: Store, run_hash: str) -> str:
    """The first problem in the log of a failed run."""
    lines = log_tail(store.failure(run_hash).log, LOG_LINES).splitlines()
    heads = {f"{error.headline}:" for error in RunProblemsError.__subclasses__()}
    first = next((number + 1 for number, line in enumerate(lines) if line in heads), 0)
    return lines[first].strip() if first < len(lines) else "it fails"
