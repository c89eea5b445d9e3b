"""What a claim of a document is worth: all settings that speak to it, and the worst of them.

[[claim]] of docs/published.toml <- `claim` of the [[expect]]s of all studies -> Row (evidence)
-> Verdict: holds, holds in k of n, refuted, not judged
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pyorch.metrics.fields import Entry, EntryName, Where
from pyorch.report.select import among, value_text

if TYPE_CHECKING:
    from pyorch.report.expect import Cell, ExpectModel, Result

HOLDS, PARTLY, REFUTED = "holds", "holds in part", "refuted"
NOT_JUDGED, NOT_RUN = "not judged", "not run"
VERDICTS = {
    HOLDS: "in every setting and run that speaks to it",
    PARTLY: "in some settings and not in others; the row says in which not",
    REFUTED: "in no setting that speaks to it",
    NOT_JUDGED: "something keeps the two from being compared; the row says what",
    NOT_RUN: "a study has no results, or none since its settings changed",
}
"""Every verdict on a claim, and where the claim holds then."""
_MOST = 6  # values that a text names one by one


class Outside(Entry):
    """Settings that have a metric of a claim and do not speak to it, and why.

    study: a pattern. where: which of its settings, all unless told. metric: which of its metrics.
    """

    study: str = Field(min_length=1)
    where: Where = Field(default={})
    metric: str = "*"
    why: str = Field(min_length=1)


class Claim(Entry):
    """What a document claims, in our reading (`what`) and in its own words (`published`).

    metrics: names of metrics that speak to it in whichever study has them; schemes: the variants
    of which it speaks. Both are patterns. `outside` excuses settings from that. A claim that no
    expectation names says in `why` what keeps it from being judged, and `study` where to look.
    """

    key: EntryName
    document: EntryName
    place: str = Field(min_length=1)
    what: str = Field(min_length=1)
    published: str = Field(min_length=1)
    metrics: list[str] = Field(default=[])
    schemes: list[str] = Field(default=["*"])
    outside: list[Outside] = Field(default=[])
    why: str = ""
    study: str = ""

    def is_about(self, point: Mapping[str, Any]) -> bool:
        """Whether a setting's variant is one of the schemes."""
        return _is_one(str(point.get("variant", "")), self.schemes)

    def leaves_out(self, study: str, metric: str, point: Mapping[str, Any]) -> bool:
        """Whether an entry of `outside` excuses a setting."""
        return any(
            fnmatchcase(study, one.study)
            and fnmatchcase(metric, one.metric)
            and fits(point, one.where)
            for one in self.outside
        )


def _is_one(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def fits(point: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a setting (parameters by name) is what a filter means."""
    return all(name in point and among(point[name], wanted) for name, wanted in where.items())


@dataclass(frozen=True)
class Uncounted:
    """A setting of a study that speaks to a claim and that none of its expectations judges."""

    claim: str
    study: str
    metric: str
    setting: str


def uncounted(
    claim: Claim,
    study: str,
    points: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    expects: Sequence[ExpectModel],
) -> Iterator[Uncounted]:
    """Settings that speak to a claim and are not judged.

    A metric that one expectation of the claim judges is to be judged in all settings of the study
    of which the claim speaks; so is every metric that the claim itself names.
    """
    mine = [expect for expect in expects if claim.key in expect.claims]
    named = [name for name in metrics if _is_one(name, claim.metrics)]
    for metric in dict.fromkeys([*(expect.metric for expect in mine), *named]):
        judging = [expect for expect in mine if expect.metric == metric]
        filters = [expect.where for expect in judging]
        filters += [{**one.where, **one.relative_to} for one in judging if one.relative_to]
        for point in points:
            judged = any(fits(point, where) for where in filters)
            left = claim.leaves_out(study, metric, point)
            if claim.is_about(point) and not judged and not left:
                yield Uncounted(claim.key, study, metric, setting_text(point))


def setting_text(point: Mapping[str, Any]) -> str:
    """A setting for people: "Stages, queue_service = Fifo"."""
    return ", ".join(_named(name, [value]) for name, value in point.items() if value != "")


def _named(column: str, values: Sequence[Any]) -> str:
    texts = list(dict.fromkeys(value_text(value) for value in values))
    said = " or ".join(texts) if len(texts) <= _MOST else f"{len(texts)} values"
    short = column.removeprefix("traffic.").removeprefix("topology.")
    return said if column in ("variant", "scenario") else f"{short} = {said}"


def count(result: Result) -> tuple[int, int]:
    """(settings in which an expectation holds, settings in which it was judged)."""
    return sum(cell.holds for cell in result.cells), len(result.cells)


def where_not(result: Result) -> str:
    """The settings in which an expectation does not hold, "" when it does everywhere."""
    against = [cell for cell in result.cells if not cell.holds]
    if not against:
        return ""
    varied = [name for name in against[0].setting if _varies(name, result.cells)]
    named = [_named(name, [cell.setting[name] for cell in against]) for name in varied]
    return ", ".join(text for text in named if text)


def _varies(name: str, cells: Sequence[Cell]) -> bool:
    return len({str(cell.setting[name]) for cell in cells}) > 1 or name == "variant"


def verdict_of(judged: Sequence[tuple[str, int, int]]) -> tuple[str, int, int]:
    """(verdict, settings in which it holds, settings) of a claim, from those of its evidence."""
    holds = sum(k for verdict, k, _ in judged if verdict not in (NOT_JUDGED, NOT_RUN))
    total = sum(n for verdict, _, n in judged if verdict not in (NOT_JUDGED, NOT_RUN))
    verdicts = {verdict for verdict, _, _ in judged}
    if NOT_RUN in verdicts:
        return NOT_RUN, holds, total
    return grade(holds, total), holds, total


def grade(holds: int, total: int) -> str:
    """The verdict on so many settings in which something holds, of so many."""
    if total == 0:
        return NOT_JUDGED
    return HOLDS if holds == total else PARTLY if holds else REFUTED
