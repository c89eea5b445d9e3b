"""The claims of the page, each judged in every scenario of its study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.metrics.fields import Where
from pyorch.report.select import matching
from tools.bakeoff.compare import Row, Values, Verdict, against, values_by_draw
from tools.bakeoff.parts import load_part

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "experiments/bakeoff/parts/claims.toml"
SCENARIO = "scenario"

Outcome = Literal["holds", "open", "turns"]
"""Of a claim in a scenario: it holds, the seeds do not decide, or the opposite holds."""


class Claim(Table):
    """A sentence of the page that every scenario of `study` with these settings may turn.

    In `metric` a scheme is better or worse than another, or not shown to be worse, or, with `zero`,
    its value is 0 in every run. independent: as in a row of the summary.
    """

    key: str
    says: str
    study: str
    where: Where = Field(default={})
    scheme: str
    than: str = ""
    metric: str
    better: Literal["lower", "higher"] = "lower"
    verdict: Literal["better", "worse", "no worse"] = "better"
    zero: bool = False
    independent: bool = True

    @model_validator(mode="after")
    def _one(self) -> Claim:
        if self.zero == bool(self.than):
            raise ValueError("give one of 'than' and 'zero'")
        return self

    @property
    def schemes(self) -> list[str]:
        """Those that it is about."""
        return [self.scheme, *([self.than] if self.than else [])]


class Claims(Table):
    """The file."""

    claim: list[Claim] = Field(min_length=1)


@dataclass(frozen=True)
class Tried:
    """A claim in one scenario, "" where its study has none.

    ratio: of the two means; for a metric that has to be 0, its mean (a share of runs if it is 0 or
    1 in each).
    """

    claim: Claim
    scenario: str
    outcome: Outcome
    ratio: float

    @property
    def number(self) -> str:
        """The ratio as text, a share in percent."""
        return f"{100 * self.ratio:.0f} %" if self.claim.zero else f"{self.ratio:.2f}"


def load_claims(paths: Paths) -> list[Claim]:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(Claims, FILE, paths).claim


def all_tried(claims: Sequence[Claim], tables: Mapping[str, DataFrame]) -> list[Tried]:
    """Judge all claims in all scenarios of which there are runs with a value for their schemes."""
    found = []
    for claim in claims:
        for scenario, runs in _scenarios(matching(tables[claim.study], claim.where)):
            values = {
                name: values_by_draw(runs, name, claim.metric, claim.independent)
                for name in claim.schemes
            }
            if all(values.values()):  # a percentile of too few flows has no value
                found.append(judge(claim, scenario, values))
    return found


def _scenarios(runs: DataFrame) -> Iterator[tuple[str, DataFrame]]:
    if SCENARIO not in runs:
        yield "", runs
        return
    for name in runs[SCENARIO].unique():
        yield str(name), runs[runs[SCENARIO] == name]


def judge(claim: Claim, scenario: str, values: Mapping[str, Values]) -> Tried:
    """Judge a claim. values: those of its schemes, by draw."""
    own = values[claim.scheme]
    if claim.zero:
        mean = sum(own.values()) / len(own)
        return Tried(claim, scenario, "turns" if any(own.values()) else "holds", mean)
    other = values[claim.than]
    row = Row(
        study="",
        scene="",
        label="",
        metric=claim.metric,
        better=claim.better,
        independent=claim.independent,
    )
    seeds = own.keys() & other.keys()
    ratio = sum(own[seed] for seed in seeds) / sum(other[seed] for seed in seeds)
    verdict = against(row, own, other)
    holds: dict[str, tuple[Verdict, ...]] = {"no worse": ("better", "open")}
    outcome: Outcome = "open" if verdict == "open" else "turns"
    if verdict in holds.get(claim.verdict, (claim.verdict,)):
        outcome = "holds"
    return Tried(claim, scenario, outcome, ratio)


HEADS = ("Claim", "Holds", "Open", "Turns")


def lines_of(found: Sequence[Tried]) -> list[list[str]]:
    """Return the cells of every claim: the scenarios by outcome, with the ratio of each."""
    by_claim: dict[str, list[Tried]] = {}
    for one in found:
        by_claim.setdefault(one.claim.key, []).append(one)
    outcomes: tuple[Outcome, ...] = ("holds", "open", "turns")
    return [
        [
            own[0].claim.says,
            *(
                "; ".join(
                    f"{one.scenario} {one.number}".strip() for one in own if one.outcome == name
                )
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
