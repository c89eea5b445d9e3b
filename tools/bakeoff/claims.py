"""The claims of the page, each judged in every scenario of its study."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.metrics.fields import Where
from pyorch.report.select import matching
from pyorch.report.statistics import Estimate, Nature, estimate
from tools.bakeoff.compare import Row, Values, Verdict, against, few, ratio_of, values_by_draw
from tools.bakeoff.parts import load_part

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "experiments/bakeoff/parts/claims.toml"
SCENARIO = "scenario"

Outcome = Literal["holds", "open", "turns"]
"""Of a claim in a scenario: it holds, the seeds do not decide, or the opposite holds."""


class Claim(Table):
    """A sentence of the page that every scenario of its studies with these settings may turn.

    In `metric` a scheme is better or worse than another, or not shown to be worse, or, with `zero`,
    its value is 0 in every run. independent: as in a row of the summary.
    """

    key: str
    says: str
    study: str | list[str]
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
    def studies(self) -> list[str]:
        """Those that it is judged in."""
        return [self.study] if isinstance(self.study, str) else self.study

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

    ratio: of the two means; for a metric that has to be 0, the share of runs in which it is not.
    """

    claim: Claim
    scenario: str
    outcome: Outcome
    ratio: Estimate

    @property
    def number(self) -> str:
        """The ratio as text, or the share in percent, with its interval."""
        found = self.ratio
        if not self.claim.zero:
            return f"{found.mean:.2f}{few(found) if self.claim.independent else ''}"
        return share_text(found)


def share_text(found: Estimate) -> str:
    """Return a share with its interval: "45% (23-68)"."""
    mean, low, high = (f"{100 * one:.0f}" for one in (found.mean, found.low, found.high))
    return f"{mean}% ({low}-{high})" if found.spread == "share" else f"{mean}%"


def load_claims(paths: Paths) -> list[Claim]:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(Claims, FILE, paths).claim


def all_tried(claims: Sequence[Claim], tables: Mapping[str, DataFrame]) -> list[Tried]:
    """Judge all claims in all scenarios of which there are runs with a value for their schemes."""
    found = []
    for claim in claims:
        tried = (_scenarios(matching(tables[one], claim.where)) for one in claim.studies)
        for scenario, runs in itertools.chain.from_iterable(tried):
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
        share = estimate((float(value > 0) for value in own.values()), Nature(yes_no=True))
        return Tried(claim, scenario, "turns" if share.mean else "holds", share)
    other = values[claim.than]
    row = Row(
        study="",
        scene="",
        label="",
        metric=claim.metric,
        better=claim.better,
        independent=claim.independent,
    )
    ratio = ratio_of(own, other)
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
