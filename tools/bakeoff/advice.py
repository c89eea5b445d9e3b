"""Advice: sentences that take their numbers from the tables and that the tables must support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, model_validator

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.report.statistics import estimate
from tools.bakeoff.claims import Tried
from tools.bakeoff.compare import Compared, Values, Verdict, against, few, ratio_of
from tools.bakeoff.parts import load_part
from tools.bakeoff.sensitivity import Turned

FILE = "experiments/bakeoff/parts/advice.toml"


class Number(Table):
    """What replaces a pair of braces.

    A mean of a row, or its ratio to that of `over` or to the scheme's own in `over_row`, or the
    `least` value, in units of 1e9; or the ratio of a `claim` in a `scenario`.
    """

    scheme: str = ""
    row: str | None = None
    over: str | None = None
    over_row: str | None = None
    least: bool = False
    claim: str | None = None
    scenario: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Number:
        if (self.row is None) == (self.claim is None):
            raise ValueError("give one of 'row' and 'claim'")
        return self


class Ground(Table):
    """What has to hold in a row: the `verdict` on a scheme against another.

    With `value` and `to` it has to hold if the scheme has that value of the sensitivity analysis.
    """

    row: str
    scheme: str
    than: str
    verdict: Verdict = "better"
    value: str | None = None
    to: str | None = None


class Advice(Table):
    """A sentence with a pair of braces for each number.

    claims: the claims that it makes. No scenario may turn them, except those that the sentence
    itself excepts; `aside` lists these by claim.
    """

    text: str
    numbers: list[Number] = Field(default=[])
    grounds: list[Ground] = Field(min_length=1)
    claims: list[str] = Field(default=[])
    aside: dict[str, list[str]] = Field(default={})

    @model_validator(mode="after")
    def _braces(self) -> Advice:
        if self.text.count("{") != len(self.numbers):
            raise ValueError("give a number for each pair of braces")
        return self


class File(Table):
    """The file: all sentences in their order."""

    advice: list[Advice] = Field(min_length=1)


@dataclass(frozen=True)
class Said:
    """A sentence with its numbers, and what the tables do not support: grounds and claims.

    left_open: its claims in scenarios in which the seeds do not decide, where there are several.
    """

    text: str
    missing: tuple[str, ...]
    left_open: tuple[str, ...] = ()


def load_advice(paths: Paths) -> list[Advice]:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(File, FILE, paths).advice


@dataclass(frozen=True)
class Tables:
    """Where numbers and grounds are looked up. Unknown names raise KeyError."""

    rows: Sequence[Compared]
    turned: Sequence[Turned] = ()
    tried: Sequence[Tried] = ()

    def row(self, label: str) -> Compared:
        """Return a row by its label."""
        return {one.row.label: one for one in self.rows}[label]

    def values(self, row: str, scheme: str) -> Values:
        """Return a scheme's values in a row, by seed: of all that it has."""
        return {answer.scheme: answer for answer in self.row(row).answers}[scheme].own

    def trial(self, one: Ground) -> Turned:
        """Return what a changed value did to the metric of the row."""
        metric = self.row(one.row).row.metric
        key = (one.scheme, one.value or "", one.to or "", metric)
        return {(t.vary.scheme, t.vary.what, t.setting, t.metric): t for t in self.turned}[key]


def say(advice: Advice, tables: Tables) -> Said:
    """Fill in the numbers and check the grounds. Raises KeyError for what the tables lack."""
    shown = [_value(number, tables) for number in advice.numbers]
    found = [(ground, _verdict(ground, tables)) for ground in advice.grounds]
    missing = [
        f"{ground.scheme} against {ground.than} in {ground.row}: {verdict}"
        for ground, verdict in found
        if verdict != ground.verdict
    ]
    own = [one for one in tables.tried if one.claim.key in advice.claims]
    silent = [one for one in own if not _excepts(advice, one)]
    missing += [f"{told_of(one)}: {one.outcome}" for one in silent if one.outcome == "turns"]
    missing += [
        f"{told_of(one)}: excepted, but holds"
        for one in own
        if one.outcome == "holds" and _excepts(advice, one)
    ]
    left_open: dict[str, list[str]] = {}
    for one in silent:
        if one.outcome == "open" and one.ratio.n > 1:
            left_open.setdefault(one.claim.says, []).append(f"{one.scenario} {one.number}")
    told = tuple(f"{says} ({', '.join(found)})" for says, found in left_open.items())
    return Said(advice.text.format(*shown), tuple(missing), told)


def _excepts(advice: Advice, one: Tried) -> bool:
    """Whether the words of a sentence except a scenario."""
    return one.scenario in advice.aside.get(one.claim.key, [])


def told_of(one: Tried) -> str:
    """Return a claim, a scenario and the resulting number as text."""
    return f"{one.claim.says} ({one.scenario}, {one.number})"


def _verdict(ground: Ground, tables: Tables) -> Verdict:
    if ground.value is not None:
        return tables.trial(ground).verdicts[ground.scheme, ground.than][1]
    own, other = (tables.values(ground.row, name) for name in (ground.scheme, ground.than))
    return against(tables.row(ground.row).row, own, other)


def _value(number: Number, tables: Tables) -> str:
    if number.claim is not None:
        tried = {(one.claim.key, one.scenario): one for one in tables.tried}
        return tried[number.claim, number.scenario or ""].number
    row = number.row or ""
    values = tables.values(row, number.scheme)
    if number.least:
        return f"{min(values.values(), default=float('nan')) / 1e9:.1f}"
    if number.over is None and number.over_row is None:
        mean = estimate(values.values())
        return f"{mean.mean:.3g}{few(mean)}"
    ratio = ratio_of(values, tables.values(number.over_row or row, number.over or number.scheme))
    return f"{ratio.mean:.2f}{few(ratio)}"


def markdown(found: Sequence[Said]) -> str:
    """Return the sentences as a list; those that the tables do not support say so."""
    return "".join(
        f"- {one.text}"
        + (f" *Open: {'; '.join(one.left_open)}.*" if one.left_open else "")
        + (f" **Not borne out: {'; '.join(one.missing)}.**" if one.missing else "")
        + "\n"
        for one in found
    )
