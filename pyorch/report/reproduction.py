"""The reproduction page: every published number of the source documents, and ours beside it.

    docs/published.toml, the [[expect]]s of all studies -> rows -> HTML, CSV, LaTeX, Markdown

A row comes from an expectation whose status is "verified" and whose source is one of the documents,
or from an entry of docs/published.toml. What is derived or recalled is never called published.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from pyorch.errors import Problem, UserError
from pyorch.metrics import parse_quantity
from pyorch.report.expect import (
    AGREES,
    NOT_COMPARABLE,
    NOT_MEASURED,
    ExpectModel,
    Result,
)
from pyorch.report.page import template, where_text
from pyorch.report.published import CLOSED_FORMS, Document, Number, Published
from pyorch.report.quantities import scale_of_text, show
from pyorch.report.tex import booktabs

REACHED, DIFFERS, SETTING, NOT_MODELLED = "reached", "differs", "setting", "not modelled"
NOT_RUN = "not run"
VERDICTS = {
    REACHED: "ours meets what is published, within the tolerance that the study states",
    DIFFERS: "ours does not; the last column says by how much and why",
    NOT_COMPARABLE: "ours stands beside it, but something keeps the two from being compared",
    NOT_MODELLED: "the simulator has nothing that this number is about",
    SETTING: "an input, which the study uses as it is given",
    NOT_RUN: "the study has no results yet",
}
"""Every verdict and what it means."""
_COLOURS = {REACHED: "good", DIFFERS: "bad", SETTING: "", NOT_MODELLED: ""}


@dataclass(frozen=True)
class Row:
    """One published number.

    document: its key. place: where in it. what, where: the statement, and the runs it was measured
    in. published, ours: for people. verdict: of VERDICTS. why: of a difference, or of what was not
    compared. study: what measures it, "" for none.
    """

    document: str
    place: str
    what: str
    where: str
    published: str
    ours: str
    verdict: str
    why: str
    study: str

    @property
    def key(self) -> tuple[str, ...]:
        """What tells a row apart from all others, whatever was measured."""
        return (self.document, self.place, self.what, self.where, self.published, self.study)


@dataclass(frozen=True)
class Study:
    """What the page needs of a study: its expectations, and their results, None without any.

    note: what is to be said of the results as a whole.
    """

    name: str
    expects: Sequence[ExpectModel]
    results: Sequence[Result] | None
    note: str = ""


def make_rows(published: Published, studies: Sequence[Study]) -> list[Row]:
    """All rows, by document and by their place in it.

    Raises UserError when an entry names a study or an expectation that does not exist.
    """
    by_name = {study.name: study for study in studies}
    rows = [
        row
        for study in studies
        for number, expect in enumerate(study.expects)
        for row in _verified(published, study, number, expect)
    ]
    rows += [_of_number(number, by_name) for number in published.number]
    order = {document.key: place for place, document in enumerate(published.document)}
    return sorted(rows, key=lambda row: (order[row.document], *_position(row.place)))


def _position(place: str) -> tuple[float, str]:
    """Where a place is in its document: by its page, else by its section; tables come last."""
    found = re.search(r"pp?\. (\d+)", place) or re.search(r"sections? ([\d.]+\d|\d)", place)
    return (float(found[1]) if found else math.inf, place)


def _verified(published: Published, study: Study, number: int, expect: ExpectModel) -> list[Row]:
    """The row of an expectation, none when it is not published in one of the documents."""
    document = published.document_of(expect.source)
    if expect.status != "verified" or document is None:
        return []
    return [
        Row(
            document.key,
            _place(document, expect.source),
            expect.what,
            where_text(expect),
            expect.criterion(),
            *_judged(study, number, expect.why),
            study.name,
        )
    ]


def _place(document: Document, source: str) -> str:
    """What follows the document's name in a source: "section 4.1, p. 79"."""
    name = max((n for n in document.sources if source.startswith(n)), key=len)
    return source.removeprefix(name).lstrip(", :").partition(": ")[0] or source


def _judged(study: Study, number: int, why: str) -> tuple[str, str, str]:
    """(ours, verdict, why) of an expectation of a study."""
    if study.results is None:
        return "-", NOT_RUN, why
    result = study.results[number]
    found = {AGREES: REACHED, NOT_COMPARABLE: NOT_COMPARABLE}.get(result.verdict, DIFFERS)
    if result.verdict == NOT_MEASURED:
        why = f"A run has no value. {why}".strip()
    elif found == DIFFERS:
        why = f"{result.difference()}. {why}".strip()
    return result.measured() + study.note, found, "" if found == REACHED else why


def _of_number(number: Number, studies: Mapping[str, Study]) -> Row:
    """The row of an entry of docs/published.toml. Raises UserError; see make_rows."""
    where = f'published.toml: "{number.what}"'
    if number.study and number.study not in studies:
        raise UserError([Problem(where, f"there is no study '{number.study}'", None, None)])
    ours, why = "-", number.why
    verdict: str = number.verdict or ""
    if number.closed_form is not None:
        ours, verdict = _computed(number)
        why = "" if verdict == REACHED else number.why
    elif number.expect is not None:
        study = studies[number.study]
        names = [expect.what for expect in study.expects]
        if names.count(number.expect) != 1:
            what = (
                f"{names.count(number.expect)} expectations of {study.name} say '{number.expect}'"
            )
            raise UserError([Problem(where, what, "exactly one", "name one of them")])
        place = names.index(number.expect)
        ours, verdict, why = _judged(study, place, number.why or study.expects[place].why)
    return Row(
        number.document,
        number.place,
        number.what,
        "",
        number.published,
        ours,
        verdict,
        why,
        number.study,
    )


def _computed(number: Number) -> tuple[str, str]:
    """(ours, verdict) of a closed form."""
    if number.closed_form is None or number.value is None or number.tolerance is None:
        raise ValueError("not a closed form")
    found, wanted = CLOSED_FORMS[number.closed_form](), parse_quantity(number.value)
    near = math.isclose(found.value, wanted.value, rel_tol=number.tolerance)
    shown = scale_of_text(number.value)
    text = show(found.value, found.unit, shown) if shown else f"{found.value:.3g}"
    if number.published.endswith("%"):
        text = f"{found.value * 100:.3g} %"
    if near:
        return text, REACHED
    return f"{text} ({(found.value / wanted.value - 1) * 100:+.2g} %)".replace("-", "−"), DIFFERS


def carry_over(rows: Sequence[Row], before: Iterable[Row]) -> list[Row]:
    """Rows of studies that were not run, with what an earlier page says of the same number."""
    known = {row.key: row for row in before}
    return [
        replace(row, ours=old.ours, verdict=old.verdict, why=old.why)
        if row.verdict == NOT_RUN and (old := known.get(row.key)) is not None
        else row
        for row in rows
    ]


# ---------------------------------------------------------------------------------------------
# As files


def to_csv(rows: Sequence[Row]) -> str:
    """The rows as CSV, as docs/reproduction.csv has them."""
    file = io.StringIO()
    writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return file.getvalue()


def from_csv(text: str) -> list[Row]:
    """The rows of a file that to_csv made."""
    return [Row(**row) for row in csv.DictReader(io.StringIO(text))]


def counts(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """(verdict, in how many rows), in the order of VERDICTS."""
    found = Counter(row.verdict for row in rows)
    return [(verdict, found[verdict]) for verdict in VERDICTS if found[verdict]]


def to_markdown(rows: Sequence[Row], documents: Sequence[Document]) -> str:
    """docs/reproduction.md."""
    lines = [
        "# Reproduction",
        "",
        "Every number that the source documents publish, and ours beside it. Made by",
        "`invoke report all` from the results of all studies and [published.toml](published.toml);",
        "do not edit. What a study derives from a document, or what is only recalled of it, is not",
        "here: the study's own report has it.",
        "",
        "| verdict | rows | means |",
        "|---|---|---|",
        *(f"| {verdict} | {count} | {VERDICTS[verdict]} |" for verdict, count in counts(rows)),
    ]
    for document in documents:
        mine = [row for row in rows if row.document == document.key]
        lines += ["", f"## {document.title}", ""]
        lines += [
            "| where | what | published | ours | verdict | why |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_markdown_row(row) for row in mine]
    return "\n".join([*lines, ""])


def _markdown_row(row: Row) -> str:
    what = f"{row.what} ({row.where})" if row.where else row.what
    study = f" ({row.study})" if row.study else ""
    cells = (row.place, what + study, row.published, row.ours, row.verdict, row.why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_tex(rows: Sequence[Row], documents: Sequence[Document]) -> str:
    """One booktabs table a document."""
    heads = ("Where", "What", "Published", "Ours", "Verdict")
    return "\n".join(
        booktabs(
            heads,
            [
                (row.place, row.what, row.published, row.ours, row.verdict)
                for row in rows
                if row.document == document.key
            ],
            caption=document.title,
            label=f"tab:{document.key}",
            widths=(0.17, 0.34, 0.15, 0.19, 0.15),
            long=True,
        )
        for document in documents
    )


def to_html(rows: Sequence[Row], documents: Sequence[Document], links: Mapping[str, str]) -> str:
    """The page. links: from a study to its report, for those that have one."""
    parts = [(doc, [row for row in rows if row.document == doc.key]) for doc in documents]
    return template("reproduction.html.j2").render(
        parts=parts,
        counts=counts(rows),
        verdicts=VERDICTS,
        links=links,
        total=len(rows),
        command="invoke report all",
        colour=lambda verdict: _COLOURS.get(verdict, "open"),
    )


def write_page(
    rows: Sequence[Row], documents: Sequence[Document], folder: Path, links: Mapping[str, str]
) -> list[Path]:
    """Write index.html and reproduction.csv, .md and .tex into a folder; the page comes first."""
    from pyorch.files import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "index.html": to_html(rows, documents, links),
        "reproduction.csv": to_csv(rows),
        "reproduction.md": to_markdown(rows, documents),
        "reproduction.tex": to_tex(rows, documents),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]
