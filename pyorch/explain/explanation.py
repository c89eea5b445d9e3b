"""Explanation of a deadlocked run: the events, captures, and the effect of cures.

The run is repeated with the necessary tables (`pyorch.explain.story`), with taps on the ports of
its cycle (`pyorch.trace`), and once with each cure that installed packages bring.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError
from pyorch.base.findings import Findings
from pyorch.base.units import format_time
from pyorch.engine import LocalEngine
from pyorch.engine.log import log_tail
from pyorch.explain.outcomes import (
    AS_IT_WAS,
    GROUP,
    Cure,
    Outcome,
    has_failed,
    outcome_of,
    spec_of,
    tables_agree,
)
from pyorch.explain.story import DIGITS, Blocked, Egress, Story, read_blocked, read_story
from pyorch.metrics import known_numbers
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.notebook import Readable
from pyorch.plan import RunSpec
from pyorch.report.quantities import show
from pyorch.setting.experiment import resolve_traces
from pyorch.store.store import Store
from pyorch.trace.capture import Captured, Options
from pyorch.trace.request import MOST_FILES, find_run, run_again

if TYPE_CHECKING:
    from pyorch.pipeline import Plan
    from pyorch.setting.attributes import Catalogue

FOLDER = "explain"
"""Below the results of a study: where its runs and pages are kept."""
INTERVALS = 200
"""Number of intervals of the table `rate` in a run."""
WORDS = ("no deadlock", "broken", "deadlock", "not judged", "not tried")
"""Possible outcomes of a cure, the best first; broken: there was a deadlock, but it dissolved."""
AROUND = 20_000_000
"""Duration of the captures before and after the pause that closed the cycle [ps]."""


@dataclass(frozen=True, repr=False)
class Explanation(Readable):
    """The explanation of a run. spec: the study's run; told: the same with the tables of the story.

    outcomes: of the run as it was, and with each cure; none if it waits for a host that pauses
    forever, or if no package brings cures. simulated: number of runs that were not in the store.
    page: its index.html and captures, if it was written.
    """

    plan: Plan
    store: Store
    spec: RunSpec
    told: RunSpec
    network: Topology
    story: Story | Blocked
    outcomes: tuple[Outcome, ...]
    simulated: int
    page: tuple[Path, Wires | None] | None = None

    @property
    def run_hash(self) -> str:
        """Hash of the study's run."""
        return self.spec.hash(self.plan.build.fingerprint)

    @property
    def folder(self) -> Path:
        """The folder of its page."""
        return self.store.root / "pages" / self.run_hash

    @property
    def answer(self) -> str:
        """The answer in two sentences: when, which queues, and how many of the cures help."""
        if isinstance(self.story, Blocked):
            return self.story.answer
        tried = [one for one in self.outcomes if one.run_hash and one.cure.name != AS_IT_WAS]
        free = [one for one in tried if one.deadlocks == 0]
        said = (
            f"At {show(self.story.formed, 'ps', digits=DIGITS)} {len(self.story.cycle)} queues "
            f"began to wait for each other: {' → '.join(self.story.circle)}."
        )
        if not self.outcomes:
            return said
        return f"{said} With {len(free)} of {len(tried)} cures the same run does not deadlock."

    @override
    def lines(self) -> Iterator[str]:
        """The answer, the cures by outcome, and where to find more."""
        yield self.answer
        names: dict[str, list[str]] = {}
        for one in self.outcomes:
            if one.cure.name != AS_IT_WAS:
                names.setdefault(_word(one), []).append(one.cure.name)
        for word in WORDS:
            if word in names:
                yield f"{word + ':':<15}{', '.join(names[word])}"
        yield "The story in sentences: .story.sentences(); numbers of each cure: .outcomes"


def _word(outcome: Outcome) -> str:
    """The outcome of a run with a cure, as one of WORDS."""
    if outcome.reason:
        return "not tried"
    if outcome.deadlocks is None:
        return "not judged"
    return "deadlock" if outcome.is_stuck else "broken" if outcome.deadlocks else "no deadlock"


@dataclass(frozen=True)
class Wires:
    """Captures around the closing of the cycle. start, stop: ps.

    pcaps: one for each port of the cycle. closing: the one that contains the pause that closed the
    cycle.
    """

    start: int
    stop: int
    pcaps: Mapping[Egress, Captured]
    closing: Captured | None
    animation: Path
    frames: int


def explain(
    plan: Plan, run: str, jobs: int | None = None, tell: Callable[[str], object] = lambda _: None
) -> Explanation:
    """Explain a run that deadlocked, or in which queues wait for a host that pauses forever.

    run: number, hash or title. jobs: runs at once.

    Everything is stored, so that the same call resumes after an interruption. tell: called with a
    line after each stage. Raises UserError, also if no queues wait; KeyboardInterrupt.
    """
    fingerprint = plan.build.fingerprint
    spec = find_run(plan.specs, fingerprint, run)
    if not spec.setting.run.oracle:
        what = "deadlocks are unknown: the run has [run] oracle = false"
        raise UserError([Problem(f"RUN {run}", what, None, "--set run.oracle=true")])
    types = plan.experiment.types
    assert types is not None  # noqa: S101 (a plan is made with the types of a build)
    store = Store(plan.store.paths, f"{plan.store.name}/{FOLDER}")
    network = topology.build(spec.setting.topology)
    told = _told(store, spec, types, network)
    simulated = _make(plan, store, [told], jobs)
    if not store.is_done(told.hash(fingerprint)):
        log = store.failure(told.hash(fingerprint)).log
        raise UserError([Problem(f"RUN {run}", f"it fails, as {log} says")])
    numbers = known_numbers(store.read_summary(told.hash(fingerprint))["summary"])
    _check(numbers, run)
    if not numbers.get("deadlocked"):
        hosts = {network.names[host] for host in network.hosts.tolist()}
        blocked = read_blocked(store, told.hash(fingerprint), hosts)
        return Explanation(plan, store, spec, told, network, blocked, (), simulated)
    story = read_story(store, told.hash(fingerprint))
    tell(f"the run: a deadlock of {len(story.cycle)} queues")
    bring = [doors.load(point) for point in doors.points(GROUP)]
    cures = [cure for cures_of in bring for cure in cures_of(spec, types, store.paths)]
    specs = {cure.name: _spec(plan, store, spec, told, cure) for cure in cures}
    if cures:
        tell(f"the cures: {len(cures)} runs")
    wanted = [one for one in specs.values() if not isinstance(one, str)]
    simulated += _make(plan, store, wanted, jobs)
    outcomes = tuple(_outcome(plan, store, cure, specs[cure.name]) for cure in cures)
    return Explanation(plan, store, spec, told, network, story, outcomes, simulated)


def _told(store: Store, spec: RunSpec, types: Catalogue, network: Topology) -> RunSpec:
    """The run, continued to its end, with the tables of its story and no others."""
    ports = [
        f"{network.names[near]}:{network.names[host]}"
        for host in network.hosts.tolist()
        for near in [network.racks[host]]
    ]
    period = max(spec.setting.run.latest_end // INTERVALS, 1)
    rate = {"table": "rate", "ports": ports, "period": format_time(period)}
    asked = [{"table": "deadlock"}, {"table": "pause"}, {"table": "pause_tree"}, rate]
    findings = Findings("explain")
    traces = resolve_traces(asked, network, None, findings, types)
    if findings.problems:
        raise UserError(findings.problems)
    setting = replace(
        spec.setting,
        experiment=store.name,
        run=spec.setting.run.model_copy(update={"stop_on_deadlock": False}),
        traces=tuple(traces),
        params={"variant": ""},
    )
    return RunSpec(setting, spec.seed)


def _check(numbers: Mapping[str, Any], run: str) -> None:
    """Raise a UserError that says why a run cannot be explained, unless it deadlocked."""
    if numbers.get("deadlocked") or numbers.get("blocked_by_host"):
        return
    where = f"RUN {run}"
    hint = "choose another run: `invoke experiment NAME` says which deadlock"
    if "deadlocked" not in numbers:
        what = "whether this run deadlocked is unknown: one of its schemes has no deadlock model"
    else:
        what = "this run does not deadlock"
    raise UserError([Problem(where, what, None, hint)])


def _make(plan: Plan, store: Store, specs: Sequence[RunSpec], jobs: int | None) -> int:
    """Perform those of some runs that are missing; return their number."""
    fingerprint = plan.build.fingerprint
    missing = [
        spec
        for spec in store.missing(specs, fingerprint)
        if not has_failed(store, spec.hash(fingerprint))
    ]
    if missing:
        result = LocalEngine(store, jobs, stream=io.StringIO()).run(missing, plan.build)
        if result.interrupted:
            raise KeyboardInterrupt
    return len(missing)


def _spec(plan: Plan, store: Store, spec: RunSpec, told: RunSpec, cure: Cure) -> RunSpec | str:
    """The run with a cure, or the reason why there is none.

    Raises UserError if the run without one is not the one to be explained.
    """
    if cure.content is None:
        return cure.reason
    try:
        found = spec_of(plan, store, cure.content)
    except UserError as error:
        if cure.name == AS_IT_WAS:
            raise
        return error.problems[0].what
    if cure.name == AS_IT_WAS and (wrong := tables_agree(found, told)):
        what = f"the run cannot be written as tables: {', '.join(wrong)}"
        raise UserError([Problem("explain", what, None, "this is a defect: please report it")])
    params = {**spec.params, "cure": cure.name}
    return replace(found, setting=replace(found.setting, params=params))


def _outcome(plan: Plan, store: Store, cure: Cure, spec: RunSpec | str) -> Outcome:
    if isinstance(spec, str):
        return Outcome(cure, reason=spec)
    run_hash = spec.hash(plan.build.fingerprint)
    if not store.is_done(run_hash):
        return Outcome(cure, reason=_failure(store, run_hash))
    return outcome_of(cure, store, run_hash)


def _failure(store: Store, run_hash: str) -> str:
    """Why there is no run with a cure, according to its log."""
    log = store.failure(run_hash).log
    said = [line.strip() for line in log_tail(log).splitlines()] if log.is_file() else []
    lines = [line for line in said if line and not line.startswith("hint:")]
    return lines[-1] if lines else "the run is refused or fails"


# ---------------------------------------------------------------------------------------------
# Wires


def capture(found: Explanation, folder: Path) -> Wires:
    """Repeat the run up to the deadlock, with taps on its ports. Raises UserError."""
    story = found.story
    assert isinstance(story, Story)  # noqa: S101 (there is nothing to capture at a host)
    closing = story.closing
    start = max((closing.time if closing else story.formed) - AROUND, 0)
    stop = min(story.formed + AROUND, story.end)
    ports = tuple(story.cycle[:MOST_FILES])
    options = Options(ports=ports, from_ps=start, until_ps=stop)
    again = run_again(found.plan, found.told, folder, options)
    if again.returncode:
        raise UserError([Problem("the captures", f"the run fails: {again.said}")])
    written = [Captured(Path(path), count, cut) for path, count, cut in again.answer["pcaps"]]
    pcaps = dict(zip(ports, written, strict=True))
    own = pcaps.get((closing.peer, closing.node)) if closing else None
    animation = Path(again.answer["animation"])
    return Wires(start, stop, pcaps, own, animation, int(again.answer["frames"]))
