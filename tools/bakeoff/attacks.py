"""Attacks of an independent reader on the claims, and the settings at which these broke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.metrics.fields import Where
from pyorch.pipeline import Plan, make_plan
from tools.bakeoff.compare import Row, Values, Verdict, against
from tools.bakeoff.parts import load_part
from tools.bakeoff.sensitivity import run_missing, values_of, where_runs

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

FILE = "experiments/bakeoff/parts/attacks.toml"

Outcome = Literal["holds", "open", "turns"]
"""The outcome of an attack on a claim: it holds, the seeds do not decide, or the opposite holds."""


class Contestant(Table):
    """A scheme with values of its own, compared in attacks along with the schemes by name."""

    scheme: str
    set: list[str] = Field(min_length=1)


class Claim(Table):
    """A sentence of the page that the attacks with the same `on` try to break.

    In `metric` a scheme is better or worse than another, or not shown to be worse, or, with `zero`,
    its value is 0 in every run.
    """

    key: str
    says: str
    on: str
    scheme: str
    than: str = ""
    metric: str
    better: Literal["lower", "higher"] = "lower"
    verdict: Literal["better", "worse", "no worse"] = "better"
    zero: bool = False

    @model_validator(mode="after")
    def _one(self) -> Claim:
        if self.zero == bool(self.than):
            raise ValueError("give one of 'than' and 'zero'")
        return self

    @property
    def contestants(self) -> list[str]:
        """The contestants that its runs need."""
        return [self.scheme, *([self.than] if self.than else [])]


class Attack(Table):
    """A changed scene, in which all claims with the same `on` are judged again."""

    name: str
    on: str
    study: str
    where: Where = Field(default={})
    set: list[str] = Field(default=[])


class Attacks(Table):
    """The file. scale, seeds: those of all attacks."""

    scale: str
    seeds: int = Field(ge=2)
    contestants: dict[str, Contestant] = Field(default={})
    claim: list[Claim] = Field(min_length=1)
    attack: list[Attack] = Field(min_length=1)

    @model_validator(mode="after")
    def _meet(self) -> Attacks:
        idle = {one.on for one in self.claim} ^ {one.on for one in self.attack}
        if idle:
            raise ValueError(f"'on' of claims or of attacks alone: {', '.join(sorted(idle))}")
        return self


@dataclass(frozen=True)
class Party:
    """A contestant of an attack: its scheme, the plan that includes it, and the runs that count."""

    name: str
    scheme: str
    plan: Plan
    specs: list[RunSpec]


@dataclass(frozen=True)
class Tried:
    """The result of one attack on one claim.

    ratio: of the two means; for a metric that has to be 0, its mean (a share of runs if it is 0 or
    1 in each).
    """

    claim: Claim
    attack: Attack
    outcome: Outcome
    ratio: float

    @property
    def number(self) -> str:
        """The ratio as text, a share in percent."""
        return f"{100 * self.ratio:.0f} %" if self.claim.zero else f"{self.ratio:.2f}"


def load_attacks(paths: Paths) -> Attacks:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(Attacks, FILE, paths)


def parties(attacks: Attacks, attack: Attack, paths: Paths) -> Iterator[Party]:
    """Yield all contestants of an attack. Raises UserError if a value cannot be set."""
    claims = [claim for claim in attacks.claim if claim.on == attack.on]
    plans: dict[tuple[str, ...], Plan] = {}  # the schemes by name share one
    for name in dict.fromkeys(name for claim in claims for name in claim.contestants):
        own = attacks.contestants.get(name)
        scheme, values = (own.scheme, own.set) if own else (name, [])
        changes = (attacks.scale, f"run.seeds={attacks.seeds}", *attack.set, *values)
        plan = plans.get(changes) or make_plan(attack.study, changes, paths=paths)
        plans[changes] = plan
        yield Party(name, scheme, plan, where_runs(plan, {**attack.where, "variant": scheme}))


def run_attacks(attacks: Attacks, jobs: str, paths: Paths) -> int:
    """Run what is missing of all attacks and return the exit code."""
    every = (party for attack in attacks.attack for party in parties(attacks, attack, paths))
    return run_missing("attacks", ((one.plan, one.specs) for one in every), jobs)


def all_tried(attacks: Attacks, paths: Paths) -> list[Tried]:
    """Judge all claims in all attacks whose runs are all done, where their metric has values."""
    found: list[Tried] = []
    for attack in attacks.attack:
        every = list(parties(attacks, attack, paths))
        if any(one.plan.store.missing(one.specs, one.plan.build.fingerprint) for one in every):
            continue
        for claim in (claim for claim in attacks.claim if claim.on == attack.on):
            own = {
                one.name: values_of(one.plan, one.specs, claim.metric).get(one.scheme, {})
                for one in every
                if one.name in claim.contestants
            }
            if all(own.values()):  # a percentile of too few flows has no value
                found.append(judge(claim, attack, own))
    return found


def judge(claim: Claim, attack: Attack, values: Mapping[str, Values]) -> Tried:
    """Judge a claim. values: those of its contestants, by seed."""
    own = values[claim.scheme]
    if claim.zero:
        mean = sum(own.values()) / len(own)
        return Tried(claim, attack, "turns" if any(own.values()) else "holds", mean)
    other = values[claim.than]
    row = Row(study="", scene="", label="", metric=claim.metric, better=claim.better)
    seeds = own.keys() & other.keys()
    ratio = sum(own[seed] for seed in seeds) / sum(other[seed] for seed in seeds)
    verdict = against(row, own, other)
    holds: dict[str, tuple[Verdict, ...]] = {"no worse": ("better", "open")}
    outcome: Outcome = "open" if verdict == "open" else "turns"
    if verdict in holds.get(claim.verdict, (claim.verdict,)):
        outcome = "holds"
    return Tried(claim, attack, outcome, ratio)


HEADS = ("Claim", "Holds", "Open", "Turns")


def lines_of(found: Sequence[Tried]) -> list[list[str]]:
    """Return the cells of every claim: the attacks by outcome, with the ratio of each."""
    by_claim: dict[str, list[Tried]] = {}
    for one in found:
        by_claim.setdefault(one.claim.key, []).append(one)
    outcomes: tuple[Outcome, ...] = ("holds", "open", "turns")
    return [
        [
            own[0].claim.says,
            *(
                "; ".join(f"{one.attack.name} {one.number}" for one in own if one.outcome == name)
                or "-"
                for name in outcomes
            ),
        ]
        for own in by_claim.values()
    ]


def markdown(found: Sequence[Tried]) -> str:
    """Return the table: one line a claim."""
    lines = [list(HEADS), ["---"] * len(HEADS), *lines_of(found)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
