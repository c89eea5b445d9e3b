"""Minimisation: from a run to a minimal part of it for which a condition still holds.

Delta debugging (`ddmin`) removes hosts, links, switches, flows and settings; hosts move nearer to
where their flows meet others, switches are merged with their neighbours, limits of flows (rate
caps, windows, on-off times) are removed, and numbers are halved. At the end each remaining
part is removed once more on its own, so that the result is 1-minimal.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from pyorch.addons.lab.case import KINDS, SETTINGS, Case, Flow, Part
from pyorch.addons.lab.condition import Condition, check_names, numbers_of, read_condition
from pyorch.addons.lab.ddmin import ddmin
from pyorch.addons.lab.explicit import case_of, traces_of
from pyorch.addons.lab.trials import Outcome, Step, Trials, Written
from pyorch.addons.lab.ways import ways_of
from pyorch.base.errors import refusal
from pyorch.base.fields import NEVER
from pyorch.base.paths import Paths
from pyorch.base.units import format_bytes, format_time, parse_bytes
from pyorch.engine import LocalEngine
from pyorch.notebook import Readable
from pyorch.plan import RunSpec
from pyorch.store.store import Store
from pyorch.trace.request import find_run

if TYPE_CHECKING:
    from pyorch.pipeline import Plan

FOLDER = "minimise"
"""Below the results of a study: where its trials are kept."""
NOT_HALVED = ("size", "lossy_pool")
"""Sizes of a buffer that are not thresholds."""
ROUNDS = 20
"""Maximum number of rounds until nothing more can be removed."""


@dataclass(frozen=True)
class Need:
    """Why a part is needed: the outcome of the run without it."""

    part: Part
    outcome: Outcome


@dataclass(frozen=True, repr=False)
class Minimal(Readable):
    """The result of a minimisation.

    case: the minimal case. needs: why each of its parts is needed. before: the numbers of parts of
    the original run. origin, run_hash: title and hash of that run.
    """

    trials: Trials
    case: Case
    needs: tuple[Need, ...]
    before: Mapping[str, int]
    origin: str
    run_hash: str
    written: Written | None = None
    """Its files, if it was asked to write some."""

    @property
    def steps(self) -> list[Step]:
        """All trials, in order."""
        return self.trials.steps

    @property
    def condition(self) -> Condition:
        """The condition that holds for it."""
        return self.trials.condition

    @override
    def lines(self) -> Iterator[str]:
        """What is left of the run, and where to find more."""
        yield f"{self.origin}, reduced while {self.condition.text}, in {len(self.steps)} trials:"
        after = self.case.measures()
        for what, count in self.before.items():
            yield f"{what + ':':<9} {count} -> {after[what]}"
        yield "Why each part is needed: .needs; minimise(..., out=FILE) writes it as an experiment"


def minimise(
    plan: Plan,
    run: str,
    condition: str = "deadlocked",
    jobs: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Minimal:
    """Find a minimal part of a study's run for which a condition still holds.

    run: number, hash or title. jobs: number of parallel runs. tell: gets a line after each stage.
    The study's own run is performed if it is missing. All trials are stored, so that the same call
    resumes after an interruption. Raises UserError, KeyboardInterrupt.
    """
    asked = read_condition(condition)
    fingerprint = plan.build.fingerprint
    spec = find_run(plan.specs, fingerprint, run)
    metrics = asked.metrics(spec.metrics)
    _make(plan, spec, jobs)
    numbers = numbers_of(plan.store, spec, fingerprint)
    check_names(asked, numbers, spec.metrics)
    if not asked.holds(numbers):
        said = ", ".join(f"{t.name} is {numbers.get(t.name)}" for t in asked.terms)
        what = f"the condition {asked.text!r} does not hold for this run: {said}"
        hint = "choose another run: `invoke show` lists them, runs.parquet has their numbers"
        raise refusal(f"RUN {run}", what, hint=hint)
    store = store_of(plan.store.paths, plan.store.name)
    traces = traces_of(spec) if metrics else []
    with LocalEngine(store, jobs, stream=io.StringIO()) as engine:
        trials = Trials(plan, store, engine, asked, metrics, traces, tell)
        start = _explicit(plan, spec, trials)
        case, needs = _Reduction(trials).of(start)
    origin = f"{plan.store.name}, {spec.title}"
    return Minimal(trials, case, needs, start.measures(), origin, spec.hash(fingerprint))


def store_of(paths: Paths, name: str) -> Store:
    """Where the trials of a study's runs are kept."""
    return Store(paths, f"{name}/{FOLDER}")


def _make(plan: Plan, spec: RunSpec, jobs: int | None) -> None:
    """Perform the study's run if it is missing. Raises UserError if it fails."""
    plan.set_damaged_aside()
    if plan.store.is_done(spec.hash(plan.build.fingerprint)):
        return
    result = LocalEngine(plan.store, jobs).run([spec], plan.build)
    if result.interrupted:
        raise KeyboardInterrupt
    if result.left:
        failure = result.failures[0].render() if result.failures else "it could not be stored"
        raise refusal("the run", f"it fails: {failure}")


def _explicit(plan: Plan, spec: RunSpec, trials: Trials) -> Case:
    """The run as a case for which the condition holds: with pinned flows, or else without.

    Raises UserError if it holds for neither.
    """
    types = plan.experiment.types
    assert types is not None  # noqa: S101 (a plan is made with the types of a build)
    ways = {} if spec.setting.routes else ways_of(plan, spec)
    run: dict[str, Any] = {}
    if trials.condition.is_deadlock:
        run |= {"stop_on_deadlock": True}
    if trials.condition.is_lossy:
        run |= {"allow_loss": True}
    cases = [case_of(spec, types, nodes) for nodes in ([ways, {}] if ways else [{}])]
    cases = [replace(case, run={**case.run, **run}) for case in cases]
    names = ["everything explicit, flows on the paths that they have at the start"] * bool(ways)
    found = trials.first(cases, "explicit", [*names, "everything explicit, flows by the routes"])
    if found is None:
        outcome = trials.outcome(cases[0])
        what = "the condition no longer holds once all links and flows are written one by one"
        raise refusal("the run", f"{what} ({outcome.why or outcome.word})")
    return cases[found]


# ---------------------------------------------------------------------------------------------
# Stages


@dataclass
class _Reduction:
    """One minimisation; every stage returns a case for which the condition holds."""

    trials: Trials

    def of(self, case: Case) -> tuple[Case, tuple[Need, ...]]:
        """Reduce until nothing more can be removed."""
        case = self._shorter(case, slack=4)
        for _ in range(ROUNDS):
            case = self._once(case)
            smaller, needs = self._check(case)
            if smaller is None:
                return case, needs
            case = smaller
        what = f"something more could be removed after {ROUNDS} rounds"
        raise refusal("minimise", what, hint="this is a defect: please report it")

    def _once(self, case: Case) -> Case:
        for kind in ("host", "flow"):
            case = self._parts(case, [kind])
            case = self._one(case, "unused", [(case.used(), "without what no flow uses")])
        for kind in ("link", "switch"):
            case = self._parts(case, [kind])
        case = self._greedy(case, "nearer", _nearer)
        case = self._greedy(case, "merge", _merged)
        case = self._one(case, "unused", [(case.used(), "without what no flow uses")])
        for kind in ("flow", "link"):
            case = self._parts(case, [kind])
        case = self._parts(case, SETTINGS)
        for stage, changes in AMOUNTS:
            case = self._greedy(case, stage, changes)
        return self._shorter(case)

    def _parts(self, case: Case, kinds: Sequence[str]) -> Case:
        """Remove as many parts of some kinds as possible, by ddmin."""
        parts = [part for kind in kinds for part in case.parts(kind)]
        whole = case
        stage = f"{kinds[0]}s" if len(kinds) == 1 else "settings"

        def without(kept: Sequence[Part]) -> Case | None:
            chosen = set(kept)
            return whole.without({part for part in parts if part not in chosen})

        def first(selections: Sequence[Sequence[Part]]) -> int | None:
            names = [f"{len(kept)} of {len(parts)} {stage}" for kept in selections]
            return self.trials.first([without(kept) for kept in selections], stage, names)

        left = without(ddmin(parts, first)) if parts else case
        assert left is not None  # noqa: S101 (a trial of it was made)
        if left != case:
            self._tell(stage, left)
        return left

    def _one(self, case: Case, stage: str, changes: Sequence[tuple[Case | None, str]]) -> Case:
        """Take the first of some other cases for which the condition holds, if any."""
        others = [(other, name) for other, name in changes if other is not None and other != case]
        cases = [other for other, _ in others]
        found = self.trials.first(cases, stage, [name for _, name in others])
        return case if found is None else cases[found]

    def _greedy(
        self, case: Case, stage: str, changes: Callable[[Case], list[tuple[Case | None, str]]]
    ) -> Case:
        """Make changes as long as one is possible."""
        before = case
        while (changed := self._one(case, stage, changes(case))) != case:
            case = changed
        if case != before:
            self._tell(stage, case)
        return case

    def _shorter(self, case: Case, slack: int = 1) -> Case:
        """Halve the duration as often as possible, and remove the drain.

        slack: factor by which it is lengthened again, so that smaller cases have time.
        """
        whole = int(case.run["duration"])
        halves = [whole >> by for by in range(1, whole.bit_length())]
        case = self._one(
            case,
            "duration",
            [(replace(case, run={**case.run, "drain": 0}), "no drain")],
        )
        short = case
        for half in halves:
            shorter = self._one(short, "duration", [(short.lasting(half), format_time(half))])
            if shorter == short:
                break
            short = shorter
        if slack > 1:
            longer = min(whole, int(short.run["duration"]) * slack)
            short = self._one(case, "duration", [(case.lasting(longer), format_time(longer))])
        if short != case:
            self._tell("duration", short)
        return short

    def _check(self, case: Case) -> tuple[Case | None, tuple[Need, ...]]:
        """Remove each remaining part alone; return a smaller case, or why each part is needed."""
        parts = [part for kind in (*KINDS, *SETTINGS) for part in case.parts(kind)]
        cases = [case.without([part]) for part in parts]
        names = [f"without {' '.join(part)}" for part in parts]
        found = self.trials.first(cases, "check", names)
        if found is not None:
            return cases[found], ()
        missing = Outcome(False, "", "no flow is left")
        outcomes = [missing if one is None else self.trials.outcome(one) for one in cases]
        needs = zip(parts, outcomes, strict=True)
        for stage, changes in (("nearer", _nearer), ("merge", _merged), *AMOUNTS):
            smaller = self._one(case, f"check {stage}", changes(case))
            if smaller != case:
                return smaller, ()
        return None, tuple(Need(part, outcome) for part, outcome in needs)

    def _tell(self, stage: str, case: Case) -> None:
        size = ", ".join(f"{count} {what}" for what, count in case.measures().items())
        lasting = format_time(case.run["duration"])
        self.trials.tell(f"{stage}: {size}, {lasting} ({len(self.trials.steps)} trials)")


Changes = list[tuple[Case | None, str]]


@dataclass(frozen=True)
class _Limit:
    """A limit of flows: its name, whether a flow has it, the flow without it, the flow with half.

    halved is None if half is pointless: halved on-off times only alternate faster.
    """

    name: str
    is_set: Callable[[Flow], bool]
    without: Callable[[Flow], Flow]
    halved: Callable[[Flow], Flow] | None


LIMITS = (
    _Limit(
        "rate cap",
        lambda flow: flow.rate > 0,
        lambda flow: replace(flow, rate=0),
        lambda flow: replace(flow, rate=_half(flow.rate)),
    ),
    _Limit(
        "window",
        lambda flow: flow.window > 0,
        lambda flow: replace(flow, window=0),
        lambda flow: replace(flow, window=_half(flow.window)),
    ),
    _Limit(
        "on-off times",
        lambda flow: flow.on_off is not None,
        lambda flow: replace(flow, on_off=None),
        None,
    ),
    _Limit(
        "stop",
        lambda flow: flow.stop != NEVER,
        lambda flow: replace(flow, stop=NEVER),
        lambda flow: replace(flow, stop=flow.start + _half(flow.stop - flow.start)),
    ),
)


def _half(value: int) -> int:
    return (value + 1) // 2


def _nearer(case: Case) -> Changes:
    return [(case.moved(host), f"{host} one switch nearer") for host in case.hosts]


def _merged(case: Case) -> Changes:
    if not case.is_pinned:  # shortest paths would change
        return []
    return [
        (case.merged(a, b), f"{a} and {b} as one switch")
        for link in case.trunks
        for a, b in ((link.a, link.b),)
    ]


def _with_flows(case: Case, change: Callable[[Flow], Flow]) -> Case:
    return replace(case, flows=tuple(change(flow) for flow in case.flows))


def limits_of(case: Case) -> Changes:
    """Limits of flows, removed or halved: of all flows, or of one entry of the file.

    The messages of an entry share their rate cap, window and on-off times.
    """
    changes: Changes = []
    for limit in LIMITS:
        entries = list(dict.fromkeys(_entry(flow) for flow in case.flows if limit.is_set(flow)))
        for word, change in (("no", limit.without), ("half the", limit.halved)):
            if change is None:
                continue
            for chosen in [entries, *([entry] for entry in entries if len(entries) > 1)]:
                smaller = replace(
                    case,
                    flows=tuple(
                        change(flow) if limit.is_set(flow) and _entry(flow) in chosen else flow
                        for flow in case.flows
                    ),
                )
                whose = "" if len(chosen) == len(entries) else f" of {' '.join(chosen[0])}"
                changes.append((smaller, f"{word} {limit.name}{whose}"))
    return changes


def _entry(flow: Flow) -> tuple[str, str]:
    """The entry of a file that a flow belongs to: its own, or that of the messages of its group."""
    return ("messages", str(flow.group)) if flow.size else ("flow", str(flow.number))


def _sizes(case: Case) -> Changes:
    """Halve all sizes, or one."""

    def halved(number: int | None) -> Case:
        return _with_flows(
            case,
            lambda flow: (
                replace(flow, size=_half(flow.size))
                if flow.size and number in (None, flow.number)
                else flow
            ),
        )

    one = [
        (halved(flow.number), f"flow {flow.number}: half its size")
        for flow in case.flows
        if flow.size
    ]
    return [(halved(None), "half of all sizes"), *one]


def _starts(case: Case) -> Changes:
    """Start all flows at 0, or one."""

    def at_once(number: int | None) -> Case:
        return _with_flows(
            case, lambda flow: replace(flow, start=0) if number in (None, flow.number) else flow
        )

    one = [(at_once(flow.number), f"flow {flow.number} starts at 0") for flow in case.flows]
    return [(at_once(None), "all flows start at 0"), *one]


def _thresholds(case: Case) -> Changes:
    """Halve all thresholds, or one: sizes of buffer and flow controls."""
    controls = {name for part, name in case.settings.items() if part[0] == "scheme"}
    halves = {
        part: half for part, half in _halves(case.settings) if part[1] in {"buffer", *controls}
    }

    def with_halves(parts: Mapping[Part, str]) -> Case:
        return replace(case, settings={**case.settings, **parts})

    each = [
        (with_halves({part: half}), f"{part[1]}.{part[2]} = {half}")
        for part, half in halves.items()
    ]
    return [(with_halves(halves), "half of all thresholds"), *each] if halves else []


def _halves(settings: Mapping[Part, Any]) -> Iterator[tuple[Part, str]]:
    for part, value in settings.items():
        if part[0] != "attribute" or part[2] in NOT_HALVED or not isinstance(value, str):
            continue
        try:
            size = parse_bytes(value)
        except ValueError:
            continue
        if size > 1:
            yield part, format_bytes(_half(size))


AMOUNTS = (
    *(("limits", limits_of), ("sizes", _sizes)),
    *(("starts", _starts), ("thresholds", _thresholds)),
)
"""Stages that change numbers, in their order."""
