"""The verdict on a claim of a document: over all settings that it covers, the worst counts.

[[claim]] of docs/published.toml <- `claim` of the [[expect]]s of all studies -> Row (evidence)
-> Evidence: settings judged, settings that fail -> verdict: holds, holds in part, refuted

A setting (a point of a study's plan) counts once, however many expectations judge it, and a claim
holds in it only where all of them do. How many settings a study has says nothing: where a verdict
is in part, the claim's `condition` says when it holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pyorch.base.fields import Names
from pyorch.metrics.fields import Entry, EntryName, Where
from pyorch.report.select import absent, among, value_text

if TYPE_CHECKING:
    from pyorch.report.expect import Cell, ExpectModel

HOLDS, PARTLY, REFUTED = "holds", "holds in part", "refuted"
NOT_JUDGED, NOT_RUN = "not judged", "not run"
VERDICTS = {
    HOLDS: "in every setting and run that it covers; if it says that something can be, in at least "
    "one",
    PARTLY: "under the condition that the row states, and not without it",
    REFUTED: "in no setting that it covers, whatever it is judged by",
    NOT_JUDGED: "the two cannot be compared; the row says why",
    NOT_RUN: "a study has no results, or none since its settings changed",
}
"""Every verdict on a claim, and where the claim holds then."""
_MOST = 6  # values that a text names one by one


class Outside(Entry):
    """Settings that have a metric of a claim but say nothing of it, and why.

    study: a pattern, or several. where: which of its settings (default: all). metric: which of its
    metrics.
    """

    study: Names
    where: Where = Field(default={})
    metric: str = "*"
    why: str = Field(min_length=1)


class Claim(Entry):
    """What a document claims, in our reading (`what`) and in its own words (`published`).

    condition: when it holds, with the value at which that turns; of a claim that holds, what it
    rests on. schemes: the variants that it is about (patterns). A metric that judges it in one
    study must judge it in every study that has one of that name; `outside` excuses settings.
    `no_evidence`: settings that are judged and say nothing of the claim, as it cannot fail there.
    `exists`: it says that something can happen, so that one setting in which it does is enough.
    `worst_over`: parameters that draw a case of the same setting, as a seed does (when something
    starts); of the settings that differ only in these, the worst counts. If no expectation names a
    claim, its `why` says why it is not judged, and `study` where to look.
    """

    key: EntryName
    document: EntryName
    place: str = Field(min_length=1)
    what: str = Field(min_length=1)
    published: str = Field(min_length=1)
    condition: str = ""
    schemes: list[str] = Field(default=["*"])
    outside: list[Outside] = Field(default=[])
    no_evidence: list[Outside] = Field(default=[])
    exists: bool = False
    worst_over: list[str] = Field(default=[])
    why: str = ""
    study: str = ""

    def is_about(self, point: Mapping[str, Any]) -> bool:
        """Whether a setting's variant is one of the schemes."""
        return _is_one(str(point.get("variant", "")), self.schemes)

    def leaves_out(self, study: str, metric: str, point: Mapping[str, Any]) -> bool:
        """Whether an entry of `outside` excuses a setting."""
        return _is_of_one(self.outside, study, metric, point)

    def covers(self, study: str, metric: str, point: Mapping[str, Any]) -> bool:
        """Whether a setting that is judged is evidence."""
        return self.is_about(point) and not _is_of_one(self.no_evidence, study, metric, point)


def _is_of_one(
    entries: Iterable[Outside], study: str, metric: str, point: Mapping[str, Any]
) -> bool:
    return any(
        _is_one(study, one.study) and fnmatchcase(metric, one.metric) and fits(point, one.where)
        for one in entries
    )


def _is_one(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def fits(point: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a setting (parameters by name) matches a filter."""
    return all(name in point and among(point[name], wanted) for name, wanted in where.items())


@dataclass(frozen=True)
class Uncounted:
    """A setting of a study that a claim covers and none of the study's expectations judges."""

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
    judges: Collection[str],
) -> Iterator[Uncounted]:
    """Yield the settings of a study that a claim covers and that are not judged.

    judges: the metrics that judge the claim in any study. Each of them that this study has must be
    judged in all settings that the claim covers.
    """
    mine = [expect for expect in expects if claim.key in expect.claims]
    named = [name for name in metrics if name in judges]
    for metric in dict.fromkeys([*(expect.metric for expect in mine), *named]):
        judging = [expect for expect in mine if expect.metric == metric]
        filters = [expect.where for expect in judging]
        filters += [{**one.where, **one.relative_to} for one in judging if one.relative_to]
        for point in points:
            judged = any(fits(point, where) for where in filters)
            left = claim.leaves_out(study, metric, point)
            if claim.covers(study, metric, point) and not judged and not left:
                yield Uncounted(claim.key, study, metric, setting_text(point))


def setting_text(point: Mapping[str, Any]) -> str:
    """A setting in words: "Stages, queue_service = Fifo"."""
    return ", ".join(_named(name, [value]) for name, value in point.items() if value != "")


def _named(column: str, values: Sequence[Any]) -> str:
    texts = list(dict.fromkeys(value_text(value) for value in values))
    said = " or ".join(texts) if len(texts) <= _MOST else f"{len(texts)} values"
    short = column.removeprefix("traffic.").removeprefix("topology.")
    return said if column in ("variant", "scenario") else f"{short} = {said}"


@dataclass(frozen=True)
class Evidence:
    """The settings of a study in which something was judged, and those in which it does not hold.

    Both by their number in the plan, from 0, in ascending order.
    """

    judged: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()

    @property
    def holds(self) -> int:
        """The number of settings in which it holds."""
        return len(self.judged) - len(self.failed)

    @property
    def verdict(self) -> str:
        """The verdict of these settings alone."""
        return grade(self.holds, len(self.judged))


def evidence_of(
    cells: Sequence[Cell], points: Sequence[Mapping[str, Any]], worst_over: Sequence[str] = ()
) -> Evidence:
    """Return the settings of a plan (parameters by name) in which an expectation was judged.

    Settings that differ only in the parameters of worst_over are one, the first of them.
    Raises KeyError if a cell is none of the points.
    """
    numbers: dict[tuple[str, ...], int] = {}
    names = list(dict.fromkeys(name for point in points for name in point))
    kept = [name for name in names if not _is_one(name, worst_over)]
    first: dict[tuple[str, ...], int] = {}
    for number, point in enumerate(points):
        same = first.setdefault(_texts(point, kept), number)
        numbers[_texts(point, names)] = same
    found = [(numbers[_texts(cell.setting, names)], cell.holds) for cell in cells]
    judged = sorted({number for number, _ in found})
    failed = sorted({number for number, holds in found if not holds})
    return Evidence(tuple(judged), tuple(failed))


def _texts(point: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    """What distinguishes a setting; a table of runs has NaN for none, and 3.0 for 3."""
    values = (point.get(name) for name in names)
    return tuple("" if absent(value) else value_text(value) for value in values)


def together(parts: Iterable[tuple[str, Evidence]]) -> tuple[int, int]:
    """(settings in which all evidence holds, settings) of a claim. parts: (study, evidence)."""
    judged: set[tuple[str, int]] = set()
    failed: set[tuple[str, int]] = set()
    for study, one in parts:
        judged |= {(study, number) for number in one.judged}
        failed |= {(study, number) for number in one.failed}
    return len(judged - failed), len(judged)


def where_not(cells: Sequence[Cell]) -> str:
    """The settings of these in which an expectation does not hold, "" if it does everywhere."""
    against = [cell for cell in cells if not cell.holds]
    if not against:
        return ""
    varied = [name for name in against[0].setting if _varies(name, cells)]
    named = [_named(name, [cell.setting[name] for cell in against]) for name in varied]
    return ", ".join(text for text in named if text)


def _varies(name: str, cells: Sequence[Cell]) -> bool:
    return len({str(cell.setting[name]) for cell in cells}) > 1 or name == "variant"


def grade(holds: int, total: int, *, exists: bool = False) -> str:
    """The verdict on something that holds in `holds` of `total` settings.

    exists: whether one setting is enough.
    """
    if total == 0:
        return NOT_JUDGED
    enough = holds == total or (exists and holds > 0)
    return HOLDS if enough else PARTLY if holds else REFUTED
