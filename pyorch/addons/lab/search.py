"""Search: traffic and settings of a network for which a condition holds, a deadlock by default.

The search starts from routes: each trial drives flows along a cycle of dependencies of the
network's routes (`pyorch.addons.lab.drive`), with the values of the study first and then with draws
of those that are varied. Random flows, used for comparison, take the same routes.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from pyorch.addons.lab.case import Case, Flow
from pyorch.addons.lab.condition import Condition, read_condition
from pyorch.addons.lab.drive import (
    Cycle,
    Path,
    Routes,
    demanded,
    draw_permutation,
    draw_routes,
    drive,
    with_hosts,
)
from pyorch.addons.lab.explicit import case_of, traces_of
from pyorch.addons.lab.prevent import names_of
from pyorch.addons.lab.ranges import Axis, draw
from pyorch.addons.lab.trials import AT_ONCE, Outcome, Trials, Written
from pyorch.addons.lab.varied import Varied
from pyorch.base.errors import UserError, one_of, refusal, suggest
from pyorch.base.fields import NEVER
from pyorch.engine import LocalEngine
from pyorch.network import topology
from pyorch.notebook import Readable
from pyorch.plan import RunSpec
from pyorch.setting.dependency import ways_at_start

OPTION = "--for"
BY = ("routes", "draws", "permutation")
"""Sources of flows: along cycles; the same number at random; or from each host to another."""
MOST_CYCLES = 8
"""Maximum number of cycles that are driven in turn."""
EACH = (1, 2, 3)
"""Flows for each turn of a cycle: a different number for each cycle, and in each round."""
TRIALS = 64
_REPEATS = 200
"""The search ends after this many proposals in a row that were tried already."""
_EMPTY_ROUNDS = 32
"""And after this many rounds in a row whose values are rejected, or give no cycle."""


@dataclass(frozen=True)
class Proposal:
    """A trial to make. cycle: that it drives. fed: number of its links that the paths fill."""

    case: Case
    cycle: str
    links: int
    fed: int
    values: Mapping[str, str]

    @property
    def text(self) -> str:
        """The proposal in a line."""
        flows = f"{len(self.case.flows)} flows"
        around = f" along {self.cycle}" if self.cycle else ""
        return ", ".join([flows + around, *(f"{key}={one}" for key, one in self.values.items())])


@dataclass(frozen=True)
class Tried:
    """A proposal and its outcome."""

    proposal: Proposal
    outcome: Outcome

    def row(self, number: int) -> dict[str, object]:
        """The row of the table of trials."""
        one = self.proposal
        own = {"trial": number, "flows": len(one.case.flows), "cycle": one.cycle}
        links = {"cycle_links": one.links, "demanded_links": one.fed}
        outcome = {"outcome": self.outcome.word, "run": self.outcome.run_hash}
        return {**own, **links, **one.values, **outcome}


@dataclass(frozen=True, repr=False)
class Search(Readable):
    """What a search found. case: None if nothing was. cycles: of the routes, up to a bound.

    stopped: why there were no further values to try; "" if there were.
    """

    trials: Trials
    tried: tuple[Tried, ...]
    case: Case | None
    cycles: int
    origin: str
    run_hash: str
    stopped: str = ""
    written: Written | None = None
    """Its files, if it was asked to write some and found something."""

    @property
    def condition(self) -> Condition:
        """The condition of the search."""
        return self.trials.condition

    @property
    def impossible(self) -> str:
        """How many trials were impossible, and why the first was; "" if none was."""
        reasons = [one.outcome.why for one in self.tried if one.outcome.why]
        count = f"{len(reasons)} of {len(self.tried)} trials are impossible"
        return f"{count}, the first because: {reasons[0]}" if reasons else ""

    @property
    def is_void(self) -> bool:
        """Whether nothing was found, and most trials were impossible: then that says nothing."""
        impossible = sum(bool(one.outcome.why) for one in self.tried)
        return self.case is None and 2 * impossible > len(self.tried)

    @override
    def lines(self) -> Iterator[str]:
        """Whether something was found, and how to write it."""
        text, count = self.condition.text, len(self.tried)
        if self.is_void:
            yield f"{self.origin}: whether {text!r} can hold is unknown"
        elif self.case is None:
            yield f"{self.origin}: {text!r} holds in none of {count} trials"
        else:
            yield f"{self.origin}: {text} after {count} trials; search(..., out=FILE) writes it"
        if self.impossible:
            yield self.impossible
        if self.stopped:
            yield self.stopped
        if not self.cycles:
            yield "The routes at the start have no cycle of dependencies"


def search(
    source: Varied,
    condition: str = "deadlocked",
    axes: Sequence[Axis] = (),
    most: int = TRIALS,
    by: str = "routes",
    jobs: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Search:
    """Search for a run for which a condition holds, on the network of a run of a study.

    axes: what is varied besides the traffic. most: maximum number of trials. by: source of flows,
    one of BY. jobs: parallel runs. tell: gets a line for each trial. The seed of the run determines
    all draws. Every trial is kept, so that the same call resumes after an interruption. Raises
    UserError, KeyboardInterrupt.
    """
    asked = read_condition(condition, OPTION)
    if by not in BY:
        raise refusal("--by", f"there is no search by {by!r}", one_of(BY), suggest(by, BY))
    _check(axes)
    plan, spec = source.plan, source.spec
    source.runs({}, [spec.seed])  # reports mistakes before anything runs
    if axes:
        source.runs(draw(axes, 1), [spec.seed])
    tried: list[Tried] = []
    with trials_of(source, asked, jobs, tell) as trials:
        proposals = _Proposals(source, trials, axes, by)
        coming = iter(proposals)
        case = None
        while case is None and len(tried) < most:
            batch = list(zip(range(min(AT_ONCE, most - len(tried))), coming, strict=False))
            if not batch:
                break
            found = _try(trials, [proposal for _, proposal in batch], tried)
            case = None if found is None else found.case
    origin = f"{plan.store.name}, {spec.title}"
    run_hash = spec.hash(plan.build.fingerprint)
    cycles, stopped = proposals.cycles, proposals.stopped
    return Search(trials, tuple(tried), case, cycles, origin, run_hash, stopped)


def _check(axes: Sequence[Axis]) -> None:
    """Refuse to vary what the search itself determines. Raises UserError."""
    own = [axis.key for axis in axes if axis.key.split(".")[0] in ("traffic", "only", "scenario")]
    own += [axis.key for axis in axes if axis.key == "run.seeds"]
    if own:
        what = f"{one_of(own)} cannot be varied here: the search creates the traffic of one run"
        raise refusal("--vary", what, hint="it can be varied with --map")


@contextmanager
def trials_of(
    source: Varied,
    asked: Condition,
    jobs: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[Trials]:
    """Yield the trials of a search."""
    plan, spec = source.plan, source.spec
    metrics = asked.metrics(spec.metrics)
    store = source.store
    traces = traces_of(spec) if metrics else []
    with LocalEngine(store, jobs, stream=io.StringIO()) as engine:
        yield Trials(plan, store, engine, asked, metrics, traces, tell, OPTION)


def _try(trials: Trials, batch: Sequence[Proposal], tried: list[Tried]) -> Proposal | None:
    """Try some proposals, the first one alone; return the first for which the condition holds."""
    parts = [batch[:1], batch[1:]] if not tried else [batch]
    for part in filter(None, parts):
        outcomes = trials.outcomes([proposal.case for proposal in part])
        for proposal, outcome in zip(part, outcomes, strict=True):
            tried.append(Tried(proposal, outcome))
            trials.tell(f"trial {len(tried)}: {proposal.text}: {outcome.word}")
            if outcome.holds:
                return proposal
    return None


# ---------------------------------------------------------------------------------------------
# Proposals


@dataclass
class _Proposals:
    """The proposals in order: in each round other values, over all cycles."""

    source: Varied
    trials: Trials
    axes: Sequence[Axis]
    by: str
    cycles: int = 0
    stopped: str = ""

    def __iter__(self) -> Iterator[Proposal]:
        known: set[str] = set()
        repeats = 0
        for proposal in self._all():
            key = json.dumps(self.trials.content(proposal.case), sort_keys=True)
            repeats = repeats + 1 if key in known else 0
            if repeats > _REPEATS:
                return
            if key not in known:
                known.add(key)
                yield proposal

    def _all(self) -> Iterator[Proposal]:
        empty = 0
        for number in itertools.count():
            values = draw(self.axes, number) if number else {}
            proposals: list[Proposal] = []
            why = ""
            try:
                spec = self.source.runs(values, [self.source.spec.seed])[0]
            except UserError as error:  # in these values: the first ones were checked
                why = f"{error.problems[0].where}: {error.problems[0].what}"
            else:
                proposals = list(self._of_round(spec, values, number))
            yield from proposals
            empty = 0 if proposals else empty + 1
            if empty and (not self.axes or empty == _EMPTY_ROUNDS):
                last = f"{empty} draws of values in a row gave no trial, the last because {why}"
                self.stopped = last if why else ""
                return

    def _of_round(
        self, spec: RunSpec, values: Mapping[str, str], number: int
    ) -> Iterator[Proposal]:
        base = self._base(spec)
        network = topology.build(spec.setting.topology)
        routes = Routes.of(ways_at_start(spec.setting, network))
        cycles = routes.cycles(MOST_CYCLES)
        self.cycles = max(self.cycles, len(cycles))
        for place, cycle in enumerate(cycles):
            each = EACH[(number + place) % len(EACH)]
            random = np.random.default_rng([spec.seed, number, place])
            chosen = drive(routes, cycle, each, random, loose=number >= len(EACH))
            fed = len(demanded(cycle, chosen))
            if self.by != "routes":
                chosen = draw_routes(routes, len(chosen), random)
            paths = (
                draw_permutation(routes, random)
                if self.by == "permutation"
                else with_hosts(routes, chosen, random)
            )
            told = _written(routes, cycle) if self.by == "routes" else ""
            case = replace(base, flows=_flows(base.flows[0], routes, paths)).used()
            yield Proposal(case, told, len(cycle), fed if told else 0, values)
        if not cycles and not self.trials.condition.is_deadlock and routes.has_pairs:
            random = np.random.default_rng([spec.seed, number])
            paths = draw_permutation(routes, random)
            case = replace(base, flows=_flows(base.flows[0], routes, paths)).used()
            yield Proposal(case, "", 0, 0, values)

    def _base(self, spec: RunSpec) -> Case:
        """The run without what a search does not need, and with what its condition needs."""
        types = self.source.plan.experiment.types
        assert types is not None  # noqa: S101 (a plan is made with the types of a build)
        case = case_of(spec, types, {})
        if not case.flows:
            what = "all flows of the run stay inside servers"
            raise refusal("RUN", what, "one with a flow that leaves its server")
        condition = self.trials.condition
        run = {**case.run, "drain": 0}
        run |= {"stop_on_deadlock": True} if condition.is_deadlock else {}
        run |= {"allow_loss": True} if condition.is_lossy else {}
        return replace(case, run=run)


def _written(routes: Routes, cycle: Cycle) -> str:
    return " ".join(names_of(routes.network, egress) for egress in cycle)


def _flows(like: Flow, routes: Routes, paths: Sequence[Path]) -> tuple[Flow, ...]:
    """Endless flows on some paths, of the class of a flow of the study."""
    names = routes.network.names
    return tuple(
        Flow(
            number=number,
            src=names[path[0]],
            dst=names[path[-1]],
            size=0,
            start=0,
            stop=NEVER,
            traffic_class=like.traffic_class,
            path=tuple(names[node] for node in path),
        )
        for number, path in enumerate(paths)
    )
