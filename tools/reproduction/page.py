"""The reproduction page: what the source documents claim, and what our runs show.

    docs/published.toml, the [[expect]]s of all studies -> rows of evidence -> claims -> HTML, CSV,
    LaTeX, Markdown

Every expectation that names a claim is a row of its evidence, whatever the origin of its number;
a claim's verdict is that of all its rows together (claims.py). What no run can refute
(inputs, arithmetic, what is not modelled) is listed separately and not counted.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError
from pyorch.base.units import ranges
from pyorch.metrics import parse_quantity
from pyorch.report.expect import ExpectModel, Result, with_origin
from pyorch.report.page import template, where_text
from pyorch.report.quantities import scale_of_text, show
from pyorch.report.tex import booktabs
from tools.reproduction.claims import (
    HOLDS,
    NOT_JUDGED,
    NOT_RUN,
    PARTLY,
    REFUTED,
    VERDICTS,
    Claim,
    Evidence,
    evidence_of,
    fits,
    grade,
    together,
    where_not,
)
from tools.reproduction.published import CLOSED_FORMS, Number, Published

SETTING, NOT_MODELLED, SAME, OTHER = "setting", "not modelled", "the same", "another"
FACTS = {
    SETTING: "an input, which the study uses as given",
    SAME: "repeating the document's arithmetic gives the same number",
    OTHER: "repeating the document's arithmetic gives another number",
    NOT_MODELLED: "the simulator does not model this",
}
"""The labels of what no run can refute, and what they mean."""
_COLUMNS = (
    *("document", "place", "what", "published", "claim", "exists", "study", "evidence", "where"),
    *("origin", "judged", "ours", "settings judged", "settings failed", "verdict", "against"),
    *("why", "settings"),
)
_MOST = 3  # studies that a line names
_STOP = re.compile(r"[.;:](?: |$)")
_IN_PART = "A condition, and what holds under it; the table has the values at which that turns."
_COLOURS = {HOLDS: "good", REFUTED: "bad", SETTING: "", NOT_MODELLED: "", SAME: ""}


@dataclass(frozen=True)
class Row:
    """One piece of evidence for a claim, or a fact that no run can refute.

    document: its key. place: where in it. what, published: the claim, in our reading and in the
    document's words. claim: its key, "" for a fact. study, evidence, where: the expectation that
    judges it and the runs it was measured in; "" if there is none. origin: that of the criterion
    `judged`. ours: as text. found: the settings it was judged in, and those in which it does not
    hold; `against` is the latter as text. why: the reason for a difference, or for not comparing.
    exists: whether the claim is that something can be. settings: the version of the study's
    settings that was measured, "" if nothing was.
    """

    document: str
    place: str
    what: str
    published: str
    claim: str = ""
    study: str = ""
    evidence: str = ""
    where: str = ""
    origin: str = ""
    judged: str = ""
    ours: str = "-"
    found: Evidence = field(default_factory=Evidence)
    verdict: str = NOT_JUDGED
    against: str = ""
    why: str = ""
    exists: bool = False
    settings: str = ""

    @property
    def criterion(self) -> str:
        """What it was judged by, with its origin."""
        return with_origin(self.judged, self.origin)

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes a row from all others, regardless of what was measured."""
        said = (self.published, self.origin, self.judged)
        return (self.document, self.place, self.what, self.study, self.evidence, self.where, *said)


@dataclass(frozen=True)
class Judged:
    """A claim with all its evidence. condition: as in published.toml."""

    document: str
    place: str
    what: str
    published: str
    condition: str
    verdict: str
    exists: bool
    rows: tuple[Row, ...]

    @property
    def says(self) -> str:
        """The verdict in words; "shown" of what holds in one setting and need not in all."""
        return "shown" if self.exists and self.verdict == HOLDS else self.verdict

    @property
    def when(self) -> str:
        """The condition; of what is not judged the reason."""
        reasons = dict.fromkeys(row.why for row in self.rows if row.why)
        return self.condition or (" ".join(reasons) if self.verdict == NOT_JUDGED else "")

    @property
    def studies(self) -> str:
        """The studies that judge it, or have its numbers; of many the first, and how many more."""
        names = list(dict.fromkeys(row.study for row in self.rows if row.study))
        shown = (
            names
            if len(names) <= _MOST
            else [*names[: _MOST - 1], f"{len(names) - _MOST + 1} more"]
        )
        return ", ".join(shown)


@dataclass(frozen=True)
class Study:
    """What the page needs of a study: its expectations, and their results, None without any.

    points: the parameters of each setting, in the order of the plan. settings: the version of its
    settings. note: a remark on the results as a whole.
    """

    name: str
    expects: Sequence[ExpectModel]
    results: Sequence[Result] | None
    points: Sequence[Mapping[str, Any]]
    settings: str = ""
    note: str = ""


def make_rows(published: Published, studies: Sequence[Study]) -> list[Row]:
    """All rows, by document and by their place in it.

    Raises UserError if an entry names a study, or an expectation a claim, that does not exist.
    """
    _check_names(published, studies)
    rows = [row for claim in published.claim for row in _of_claim(claim, studies)]
    rows += [_of_number(number) for number in published.number]
    order = {document.key: place for place, document in enumerate(published.document)}
    return sorted(rows, key=lambda row: (order[row.document], *_position(row.place)))


def _check_names(published: Published, studies: Sequence[Study]) -> None:
    known = {study.name for study in studies}
    entries: list[Claim | Number] = [*published.claim, *published.number]
    for entry in entries:
        if entry.study and entry.study not in known:
            where = f'published.toml: "{entry.what}"'
            raise UserError([Problem(where, f"there is no study '{entry.study}'", None, None)])
    claims = [claim.key for claim in published.claim]
    for study in studies:
        for expect in study.expects:
            for key in expect.claims:
                if key not in claims:
                    what = f"'{expect.what}' names a claim '{key}' that no document has"
                    hint = "published.toml has the claims"
                    raise UserError([Problem(study.name, what, None, hint)])


def _position(place: str) -> tuple[float, str]:
    """Where a place is in its document: by page or slide, else by section; tables come last."""
    page = re.search(r"(?:pp?\.|slides?) (\d+)", place)
    found = page or re.search(r"sections? ([\d.]+\d|\d)", place)
    return (float(found[1]) if found else math.inf, place)


def _of_claim(claim: Claim, studies: Sequence[Study]) -> list[Row]:
    """A claim's evidence, or a single row that says why there is none."""
    said = (claim.document, claim.place, claim.what, claim.published, claim.key)
    base = Row(*said, exists=claim.exists)
    rows = [
        _evidence(base, study, number, expect, claim)
        for study in studies
        for number, expect in enumerate(study.expects)
        if claim.key in expect.claims and _speaks(claim, study, expect)
    ]
    if rows:
        return rows
    if not claim.why:
        where = f'published.toml: "{claim.what}"'
        what = "no expectation names this claim"
        hint = "name it in the `claim` of an [[expect]], or say in `why` what prevents that"
        raise UserError([Problem(where, what, None, hint)])
    return [replace(base, study=claim.study, why=claim.why)]


def _speaks(claim: Claim, study: Study, expect: ExpectModel) -> bool:
    """Whether any setting of an expectation is evidence for a claim."""
    mine = [point for point in study.points if fits(point, expect.where)]
    return not mine or any(claim.covers(study.name, expect.metric, point) for point in mine)


def _evidence(base: Row, study: Study, number: int, expect: ExpectModel, claim: Claim) -> Row:
    """The row of an expectation for a claim."""
    row = replace(
        base,
        study=study.name,
        evidence=expect.what,
        where=where_text(expect),
        origin=expect.origin(),
        judged=expect.criterion() if expect.comparable else "",
        settings=study.settings,
    )
    if study.results is None:
        return replace(row, verdict=NOT_RUN, why=expect.why)
    result = study.results[number]
    if not expect.comparable:
        return replace(row, ours=result.measured() + study.note, why=expect.why)
    cells = [cell for cell in result.cells if claim.covers(study.name, expect.metric, cell.setting)]
    result = replace(result, cells=tuple(cells))  # ours are the settings that count, no others
    ours = result.measured() + study.note
    found = evidence_of(cells, study.points, claim.worst_over)
    verdict = found.verdict if found.judged else NOT_RUN
    why = expect.why if verdict != HOLDS else ""
    if verdict in (PARTLY, REFUTED):
        why = f"{result.difference()}. {why}".strip()
    if verdict == HOLDS and result.margin():
        ours += f"; {result.margin()}"
    against = where_not(cells) if verdict in (PARTLY, REFUTED) else ""
    return replace(row, ours=ours, found=found, verdict=verdict, against=against, why=why)


def _of_number(number: Number) -> Row:
    """The row of a fact."""
    row = Row(number.document, number.place, number.what, number.published, study=number.study)
    row = replace(row, why=number.why)
    if number.closed_form is None:
        return replace(row, verdict=str(number.verdict))
    ours, verdict = _computed(number)
    return replace(row, ours=ours, verdict=verdict, judged=number.criterion())


def _computed(number: Number) -> tuple[str, str]:
    """(ours, verdict) of a closed form."""
    if number.closed_form is None or number.value is None:
        raise ValueError("not a closed form")
    found, wanted = CLOSED_FORMS[number.closed_form](), parse_quantity(number.value)
    near = number.holds(found.value)
    shown = scale_of_text(number.value)
    text = show(found.value, found.unit, shown) if shown else f"{found.value:.3g}"
    if number.published.endswith("%"):
        text = f"{found.value * 100:.3g} %"
    if near:
        return text, SAME
    return f"{text} ({(found.value / wanted.value - 1) * 100:+.2g} %)".replace("-", "−"), OTHER


def claims_of(rows: Iterable[Row], claims: Iterable[Claim] = ()) -> list[Judged]:
    """The claims of the rows, in their order, each with all its evidence.

    claims: those of published.toml, for their conditions.
    """
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if row.claim:
            parts.setdefault(row.claim, []).append(row)
    conditions = {claim.key: claim.condition for claim in claims}
    return [_judged(mine, conditions.get(key, "")) for key, mine in parts.items()]


def _judged(mine: Sequence[Row], condition: str) -> Judged:
    """A claim, from all rows of its evidence. It stays open if something was not run."""
    one = mine[0]
    holds, total = together((row.study, row.found) for row in mine)
    verdict = grade(holds, total, exists=one.exists)
    if verdict == REFUTED and any(row.verdict in (HOLDS, PARTLY) for row in mine):
        verdict = PARTLY  # of several things that a setting was judged by
    verdict = NOT_RUN if any(row.verdict == NOT_RUN for row in mine) else verdict
    said = (one.document, one.place, one.what, one.published)
    return Judged(*said, condition, verdict, one.exists, tuple(mine))


def facts_of(rows: Iterable[Row]) -> list[Row]:
    """The rows that no run can refute."""
    return [row for row in rows if not row.claim]


def carry_over(rows: Sequence[Row], before: Iterable[Row]) -> list[Row]:
    """Rows of studies that were not run, with the results of an earlier page.

    Results with other settings are not carried over: the row stays "not run" and says so.
    """
    known = {row.key: row for row in before}
    return [_carried(row, known.get(row.key)) for row in rows]


def _carried(row: Row, old: Row | None) -> Row:
    """A row with its earlier results."""
    if row.verdict != NOT_RUN or old is None:
        return row
    if old.verdict == NOT_RUN:
        return replace(row, why=old.why)
    if old.settings != row.settings:
        return replace(row, why=f"The study's settings changed; before, ours was {old.ours}.")
    said = {name: getattr(old, name) for name in ("ours", "found", "verdict", "against")}
    return replace(row, why=old.why, **said)


# ---------------------------------------------------------------------------------------------
# As files


def to_csv(rows: Sequence[Row]) -> str:
    """The rows as CSV, as docs/reproduction.csv has them.

    Settings are their numbers in the plan: "0-7, 12".
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        cells = {one.name: getattr(row, one.name) for one in fields(Row)}
        cells["settings judged"] = ", ".join(ranges(row.found.judged))
        cells["settings failed"] = ", ".join(ranges(row.found.failed))
        cells["exists"] = "yes" if row.exists else ""
        writer.writerow(cells[name] for name in _COLUMNS)
    return file.getvalue()


def from_csv(text: str) -> list[Row]:
    """The rows of a file written by to_csv."""
    rows = []
    for line in csv.DictReader(io.StringIO(text)):
        cells: dict[str, Any] = dict(line)
        judged, failed = (cells.pop(f"settings {what}") for what in ("judged", "failed"))
        found = Evidence(numbers_of(judged), numbers_of(failed))
        rows.append(Row(**cells | {"found": found, "exists": cells["exists"] == "yes"}))
    return rows


def numbers_of(text: str) -> tuple[int, ...]:
    """The numbers of a text of ranges: "0-7, 12"."""
    ends = [part.partition("-")[::2] for part in text.split(", ") if part]
    return tuple(n for low, high in ends for n in range(int(low), int(high or low) + 1))


def counts(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """(verdict, of how many claims), in the order of VERDICTS."""
    found = Counter(claim.verdict for claim in claims_of(rows))
    return [(verdict, found[verdict]) for verdict in VERDICTS if found[verdict]]


def fact_counts(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """(what is said, of how many facts), in the order of FACTS."""
    found = Counter(row.verdict for row in facts_of(rows))
    return [(verdict, found[verdict]) for verdict in FACTS if found[verdict]]


def summary(rows: Sequence[Row], published: Published) -> str:
    """docs/reproduction.md: the counts, and each claim that does not hold as it is stated."""
    judged = claims_of(rows, published.claim)
    lines = [
        "# Reproduction",
        "",
        "What the source documents claim, and what our runs show; written by `invoke report all`.",
        "A claim holds if every run of every setting that it covers meets every expectation, in",
        "all studies. [The table of all claims](results/reproduction.md) names the studies, and",
        "`reproduction.csv` has each expectation with our number and the settings in which it",
        "fails. Terms are in the [glossary](glossary.md).",
        "",
        "| verdict | claims | it holds |",
        "|---|---|---|",
        *(f"| {verdict} | {number} | {VERDICTS[verdict]} |" for verdict, number in counts(rows)),
    ]
    for verdict, head in ((REFUTED, ["## Refuted"]), (PARTLY, ["## Holds in part", "", _IN_PART])):
        lines += ["", *head]
        for document in published.document:
            mine = [one for one in judged if (one.document, one.verdict) == (document.key, verdict)]
            said = _refuted(mine) if verdict == REFUTED else _by_condition(mine)
            lines += ["", f"**{document.key.upper()}**", "", *said] if said else []
    return "\n".join([*lines, ""])


def _refuted(claims: Iterable[Judged]) -> list[str]:
    return [f"- {_stated(one)}. *{one.when}*" for one in claims]


def _by_condition(claims: Iterable[Judged]) -> list[str]:
    """A line for each condition, as far as its first stop, with the claims that share it."""
    parts: dict[str, list[str]] = {}
    for one in claims:
        parts.setdefault(_STOP.split(one.when, maxsplit=1)[0], []).append(_stated(one))
    return [f"- *{condition}*: {'; '.join(stated)}" for condition, stated in parts.items()]


def _stated(claim: Judged) -> str:
    """A claim without what we judge it by."""
    return claim.what.partition("; we ")[0]


def to_markdown(rows: Sequence[Row], published: Published) -> str:
    """docs/results/reproduction.md: a line for each claim."""
    claims = claims_of(rows, published.claim)
    lines = [
        "# All claims",
        "",
        "The table of [the reproduction](../reproduction.md), which says how to read it, written",
        "by `invoke report all` from all studies and `docs/published.toml`; do not edit. With the",
        "words of the documents, and filters, it is `results/reproduction/index.html`.",
    ]
    for document in published.document:
        lines += ["", f"## {document.title}", ""]
        lines += [
            "| where | claim | verdict | when, or why not | studies |",
            "|---|---|---|---|---|",
        ]
        lines += [
            _cells(claim.place, claim.what, claim.says, claim.when, claim.studies)
            for claim in claims
            if claim.document == document.key
        ]
    lines += ["", "## Inputs and arithmetic", ""]
    lines += ["No run can refute these; they are not counted, and are in `reproduction.csv`.", ""]
    lines += ["| said | rows | means |", "|---|---|---|"]
    lines += [f"| {said} | {number} | {FACTS[said]} |" for said, number in fact_counts(rows)]
    return "\n".join([*lines, ""])


def _cells(*texts: str) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def to_tex(rows: Sequence[Row], published: Published) -> str:
    """One booktabs table a document: its claims."""
    heads = ("Where", "Claim", "Published", "Studies", "Verdict", "When, or why not")
    claims = claims_of(rows, published.claim)
    return "\n".join(
        booktabs(
            heads,
            [
                (
                    *(claim.place, claim.what, claim.published),
                    *(claim.studies, claim.says, claim.when),
                )
                for claim in claims
                if claim.document == document.key
            ],
            caption=document.title,
            label=f"tab:{document.key}",
            widths=(0.11, 0.25, 0.17, 0.13, 0.08, 0.26),
            long=True,
        )
        for document in published.document
    )


def to_html(rows: Sequence[Row], published: Published, links: Mapping[str, str]) -> str:
    """The page. links: from a study to its report, for those that have one."""
    claims = claims_of(rows, published.claim)
    parts = [
        (doc, [claim for claim in claims if claim.document == doc.key])
        for doc in published.document
    ]
    return template("page.html.j2", Path(__file__).parent).render(
        parts=parts,
        counts=counts(rows),
        facts=facts_of(rows),
        fact_counts=fact_counts(rows),
        titles={doc.key: doc.title.partition(":")[0] for doc in published.document},
        verdicts=VERDICTS,
        origins=sorted({row.origin for row in rows if row.claim and row.origin}),
        said=FACTS,
        links=links,
        total=len(claims),
        command="invoke report all",
        colour=lambda verdict: _COLOURS.get(verdict, "open"),
    )


def write_page(
    rows: Sequence[Row], published: Published, folder: Path, links: Mapping[str, str]
) -> list[Path]:
    """Write index.html and reproduction.csv, .md and .tex into a folder; the page comes first."""
    from pyorch.base.files import make_folder, write_atomically

    make_folder(folder)
    texts = {
        "index.html": to_html(rows, published, links),
        "reproduction.csv": to_csv(rows),
        "reproduction.md": to_markdown(rows, published),
        "reproduction.tex": to_tex(rows, published),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]
