"""Explanation of a run: of its deadlock, or of what its flows waited for.

A run that deadlocked is repeated with the necessary tables (`pyorch.explain.story`), with taps on
the ports of its cycle (`pyorch.trace`), and once with each cure that installed packages bring. Any
other is repeated with every frame on every link (`pyorch.explain.delays`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from typing_extensions import override

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.fields import reverse_names
from pyorch.base.findings import Findings
from pyorch.base.units import format_time
from pyorch.engine import LocalEngine
from pyorch.engine.log import log_tail
from pyorch.explain.base import Explained, Wires
from pyorch.explain.delays import TABLES, delays_of
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
from pyorch.explain.slow import Slow
from pyorch.explain.story import DIGITS, Blocked, Story, read_blocked, read_story
from pyorch.metrics import known_numbers
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.plan import RunSpec
from pyorch.remarks import runs_text
from pyorch.remarks.demand import cpu_text, time_text
from pyorch.report.data import ReportData
from pyorch.report.quantities import show
from pyorch.setting.attributes import number, section_of
from pyorch.setting.experiment import resolve_traces
from pyorch.store.store import Store
from pyorch.trace.capture import Captured, Options
from pyorch.trace.request import MOST_FILES, find_run, run_again

if TYPE_CHECKING:
    from pyorch.pipeline import Plan
    from pyorch.setting.attributes import Catalogue
    from pyorch.setting.canonical import Setting

FOLDER = "explain"
"""Below the results of a study: where its runs and pages are kept."""
OF_STORY = ("deadlock", "pause", "pause_tree")
"""Tables of a story, besides `rate`."""
SLOWER = 2.0
"""About so many times the CPU time of a run takes it with all of these."""
FOLLOWING = 10e-6
"""CPU time of following a data frame over a link, about [s]."""
MOST_HOPS = 20_000_000
"""Of a run's data frames, if all of these are recorded: 1 GB of memory for each 4,000,000."""
INTERVALS = 200
"""Number of intervals of the table `rate` in a run."""
PORT = "ns3::lossless::Port"
CLOCKS = {"ClockOffset": "clock_offset", "ClockTolerance": "clock_tolerance"}
"""Attributes of a port by which its clock is off."""
WORDS = ("no deadlock", "too slow", "broken", "deadlock", "not judged", "not tried")
"""Possible outcomes of a cure, the best first.

too slow: no deadlock, but flows did not finish; broken: there was a deadlock, but it dissolved.
"""
AROUND = 20_000_000
"""Duration of the captures before and after the pause that closed the cycle [ps]."""


@dataclass(frozen=True, repr=False)
class Explanation(Explained):
    """The explanation of a run that deadlocked, or in which queues wait for a host.

    outcomes: of the run as it was, and with each cure; none if it waits for a host that pauses
    forever, or if no package brings cures.
    """

    story: Story | Blocked
    outcomes: tuple[Outcome, ...]

    @override
    def sentences(self) -> tuple[str, ...]:
        """Its story."""
        return self.story.sentences()

    @override
    def notes(self) -> list[str]:
        """What a reader must know besides the story."""
        return self.story.notes()

    @property
    @override
    def answer(self) -> str:
        """The answer in two sentences: when, which queues, and how many of the cures help."""
        if isinstance(self.story, Blocked):
            return self.story.answer
        tried = [one for one in self.outcomes if one.run_hash and one.cure.name != AS_IT_WAS]
        free = [one for one in tried if _word(one) == WORDS[0]]
        said = (
            f"At {show(self.story.formed, 'ps', digits=DIGITS)} {len(self.story.cycle)} queues "
            f"began to wait for each other: {' → '.join(self.story.circle)}."
        )
        if not self.outcomes:
            return said
        slow = len([one for one in tried if one.crawls])
        more = f", and with {slow} more it does not either, but flows do not finish" if slow else ""
        able = sum(one.cannot for one in free)
        never = f" (with {able} of these it cannot)" if able else ""
        cures = f"{len(free)} of {len(tried)} cures"
        return f"{said} With {cures} the same run does not deadlock{never}{more}."

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
    if outcome.crawls:
        return "too slow"
    return "deadlock" if outcome.is_stuck else "broken" if outcome.deadlocks else "no deadlock"


def explain(
    plan: Plan,
    run: str,
    jobs: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
    stream: TextIO | None = None,
) -> Explanation | Slow:
    """Explain a run: its deadlock, the host that its queues wait for, or what its flows wait for.

    run: number, hash or title. jobs: runs at once.

    Everything is stored, so that the same call resumes after an interruption. tell: called with a
    line before what takes time. stream: of the progress. Raises UserError; KeyboardInterrupt.
    """
    spec = find_run(plan.specs, plan.build.fingerprint, run)
    network = topology.build(spec.setting.topology)
    store = Store(plan.store.paths, f"{plan.store.name}/{FOLDER}")
    stage = _Stage(plan, store, spec, network, jobs, tell, stream or io.StringIO())
    if _is_stuck(stage.known()):
        told = stage.of_story
        numbers = known_numbers(stage.summary_of(store, told))
        if _is_stuck(numbers):
            return _of_deadlock(stage, told, numbers)
    return _of_delays(stage)


def _is_stuck(numbers: Mapping[str, Any]) -> bool:
    return bool(numbers.get("deadlocked") or numbers.get("blocked_by_host"))


@dataclass
class _Stage:
    """A run that is being explained. simulated: number of runs that were made for it."""

    plan: Plan
    store: Store
    spec: RunSpec
    network: Topology
    jobs: int | None
    tell: Callable[[str], object]
    stream: TextIO
    simulated: int = 0

    def known(self) -> Mapping[str, Any]:
        """The numbers of the study's run, or of the one that its story needs."""
        if self._is_done(self.spec):
            return known_numbers(self.summary_of(self.plan.store, self.spec))
        return known_numbers(self.summary_of(self.store, self.of_story))

    def _is_done(self, spec: RunSpec) -> bool:
        return self.plan.store.is_done(spec.hash(self.plan.build.fingerprint))

    def summary_of(self, store: Store, spec: RunSpec) -> dict[str, Any]:
        """The numbers of a run that should be done. Raises a UserError that says why it is not."""
        run_hash = spec.hash(self.plan.build.fingerprint)
        if not store.is_done(run_hash):
            log = store.failure(run_hash).log
            what = f"it fails, as {log} says: {_failure(store, run_hash)}"
            raise refusal(f"RUN {self.spec.title}", what, hint=self._instead())
        found: dict[str, Any] = store.read_summary(run_hash)["summary"]
        return found

    def _instead(self) -> str | None:
        """A run of the study that is done: of the same setting, if there is one."""
        specs = self.plan.specs
        done = [number for number, one in enumerate(specs, 1) if self._is_done(one)]
        same = [number for number in done if specs[number - 1].setting is self.spec.setting]
        number = next(iter([*same, *done]), None)
        what = (
            f"did you mean {number}, {specs[number - 1].title!r}, which is done?" if number else ""
        )
        return what or None

    @cached_property
    def of_story(self) -> RunSpec:
        """The run with the tables that a story needs."""
        network = self.network
        ports = [
            f"{network.names[near]}:{network.end_names[peer]}"
            for end in network.attached.tolist()
            for near, peer in [network.reverse(network.access(end))]
        ]
        period = max(self.spec.setting.run.latest_end // INTERVALS, 1)
        rate = {"table": "rate", "ports": ports, "period": format_time(period)}
        tables: list[Mapping[str, Any]] = [*({"table": one} for one in OF_STORY), rate]
        return self.told(tables, "the run, with what led to a standstill")

    def told(
        self, tables: Sequence[Mapping[str, Any]], what: str, times: float = 1, hops: int = 0
    ) -> RunSpec:
        """The run, continued to its end, with some tables and no others; made if it is missing.

        what: said before it is made. times: how much longer it takes. hops: its own, if known.
        """
        types = self.plan.experiment.types
        assert types is not None  # noqa: S101 (a plan is made with the types of a build)
        told = _told(self.store, self.spec, types, self.network, tables)
        self.make([told], what, times, hops)
        self.summary_of(self.store, told)
        return told

    def make(self, specs: Sequence[RunSpec], what: str, times: float = 1, hops: int = 0) -> None:
        """Perform those of some runs that are missing; what they are is said before, and the cost.

        times: how much longer than the study's run each takes. hops: of that one, if known.
        """
        plan, store, fingerprint = self.plan, self.store, self.plan.build.fingerprint
        missing = [
            spec
            for spec in store.missing(specs, fingerprint)
            if not has_failed(store, spec.hash(fingerprint))
        ]
        if not missing:
            return
        results = store.paths.results
        cost = cpu_text(plan.experiment, self.spec, results, times * len(missing), hops)
        self.tell(", ".join(filter(None, [what, cost])))
        result = LocalEngine(store, self.jobs, stream=self.stream).run(missing, plan.build)
        if result.interrupted:
            raise KeyboardInterrupt
        self.simulated += len(missing)


def _of_delays(stage: _Stage) -> Slow:
    """Explain what the flows of a run that does not deadlock wait for."""
    plan, store = stage.plan, stage.store
    types = plan.experiment.types
    assert types is not None  # noqa: S101 (a plan is made with the types of a build)
    if problems := [*_clocks(stage.spec.setting, types)]:
        raise UserError(problems)
    hops = int(stage.known().get("data_hops") or 0)
    if hops > MOST_HOPS:
        what = f"its data frames pass {hops:,} links: too many to follow each"
        hint = "a shorter run: --set run.duration=..., or fewer flows"
        raise refusal(f"RUN {stage.spec.title}", what, f"at most {MOST_HOPS:,}", hint)
    what = f"the run once more, with every frame on every link: {hops:,} of data"
    told = stage.told([{"table": one} for one in TABLES], what, SLOWER, hops)
    stage.tell(f"following these frames back, about {time_text(FOLLOWING * hops)} of CPU time")
    fingerprint = plan.build.fingerprint
    run_hash = told.hash(fingerprint)
    run = ReportData.of(store, [told], fingerprint).run(run_hash)
    found = tuple(delays_of(run, types, stage.tell))
    size = sum(file.stat().st_size for file in store.folder(run_hash).glob("*.parquet"))
    return Slow(
        plan, store, stage.spec, told, stage.network, stage.simulated, found, tables_bytes=size
    )


def _clocks(setting: Setting, types: Catalogue) -> Iterator[Problem]:
    """Clocks that are off: the time that a frame takes is then not that of its link's rate."""
    common = section_of(types, setting.attributes, PORT) or {}
    of_nodes = [
        (f"node.{at}.port", entry.attributes.get(PORT, {}))
        for at, entry in enumerate(setting.nodes)
    ]
    for where, found in [("port", common), *of_nodes]:
        for attribute, key in CLOCKS.items():
            if number(found.get(attribute, "0")) != 0:
                yield Problem(
                    f"{where}.{key}",
                    "clocks are off, and the times of frames are known for exact ones only",
                    "0",
                    "explain the run with exact clocks",
                )


def _of_deadlock(stage: _Stage, told: RunSpec, numbers: Mapping[str, Any]) -> Explanation:
    """Explain a run that deadlocked, or in which queues wait for a host that pauses forever."""
    plan, store, spec, network = stage.plan, stage.store, stage.spec, stage.network
    run_hash = told.hash(plan.build.fingerprint)
    if not numbers.get("deadlocked"):
        hosts = {network.names[host] for host in network.hosts.tolist()}
        blocked = read_blocked(store, run_hash, hosts)
        return Explanation(plan, store, spec, told, network, stage.simulated, blocked, ())
    story = read_story(store, run_hash)
    stage.tell(f"the run: a deadlock of {len(story.cycle)} queues")
    types = plan.experiment.types
    bring = [doors.load(point) for point in doors.points(GROUP)]
    cures = [cure for cures_of in bring for cure in cures_of(spec, types, store.paths)]
    specs = {cure.name: _spec(plan, store, spec, told, cure) for cure in cures}
    wanted = [one for one in specs.values() if not isinstance(one, str)]
    stage.make(wanted, f"the cures: {runs_text(len(wanted))}")
    outcomes = tuple(_outcome(plan, store, cure, specs[cure.name]) for cure in cures)
    return Explanation(plan, store, spec, told, network, stage.simulated, story, outcomes)


def _told(
    store: Store,
    spec: RunSpec,
    types: Catalogue,
    network: Topology,
    tables: Sequence[Mapping[str, Any]],
) -> RunSpec:
    """The run, continued to its end, with some tables and no others."""
    findings = Findings("explain")
    traces = resolve_traces(tables, network, None, findings, types)
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
        raise refusal("explain", what, hint="this is a defect: please report it")
    params = {**spec.params, "cure": cure.name}
    return replace(found, setting=replace(found.setting, params=params))


def _outcome(plan: Plan, store: Store, cure: Cure, spec: RunSpec | str) -> Outcome:
    if isinstance(spec, str):
        return Outcome(cure, reason=spec)
    run_hash = spec.hash(plan.build.fingerprint)
    if not store.is_done(run_hash):
        return Outcome(cure, reason=_failure(store, run_hash))
    return outcome_of(cure, store, spec, run_hash)


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
        raise refusal("the captures", f"the run fails: {again.said}")
    written = [Captured(Path(path), count, cut) for path, count, cut in again.answer["pcaps"]]
    pcaps = dict(zip(ports, written, strict=True))
    own = pcaps.get(reverse_names(closing.node, closing.peer)) if closing else None
    animation = Path(again.answer["animation"])
    return Wires(start, stop, pcaps, own, animation, int(again.answer["frames"]))
