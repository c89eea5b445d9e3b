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
    NOT_RUN: "the study has no results, or none since its settings changed",
}
"""Every verdict and what it means."""
_COLOURS = {REACHED: "good", DIFFERS: "bad", SETTING: "", NOT_MODELLED: ""}


@dataclass(frozen=True)
class Row:
    """One published number.

    document: its key. place: where in it. what, where: the statement, and the runs it was measured
    in. published: what the document says, "" when the study states only a bound of its own. judged:
    that bound, or the tolerance. ours: for people. verdict: of VERDICTS. why: of a difference, or
    of what was not compared. study: what measures it, "" for none. settings: the version of the
    study's settings that was measured, "" when nothing is.
    """

    document: str
    place: str
    what: str
    where: str
    published: str
    judged: str
    ours: str
    verdict: str
    why: str
    study: str
    settings: str

    @property
    def key(self) -> tuple[str, ...]:
        """What tells a row apart from all others, whatever was measured."""
        said = (self.published, self.judged)
        return (self.document, self.place, self.what, self.where, *said, self.study)


@dataclass(frozen=True)
class Study:
    """What the page needs of a study: its expectations, and their results, None without any.

    settings: tells versions of its settings apart. note: what is to be said of the results as a
    whole.
    """

    name: str
    expects: Sequence[ExpectModel]
    results: Sequence[Result] | None
    settings: str = ""
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
    """Where a place is in its document: by page or slide, else by section; tables come last."""
    page = re.search(r"(?:pp?\.|slides?) (\d+)", place)
    found = page or re.search(r"sections? ([\d.]+\d|\d)", place)
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
            expect.quoted(),
            expect.criterion() if expect.comparable else "",
            *_judged(study, number, expect.why),
            study.name,
            study.settings,
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
    return result.measured() + study.note, found, why


def _of_number(number: Number, studies: Mapping[str, Study]) -> Row:
    """The row of an entry of docs/published.toml. Raises UserError; see make_rows."""
    where = f'published.toml: "{number.what}"'
    if number.study and number.study not in studies:
        raise UserError([Problem(where, f"there is no study '{number.study}'", None, None)])
    ours, why, judged, settings = "-", number.why, "", ""
    verdict: str = number.verdict or ""
    if number.closed_form is not None:
        ours, verdict = _computed(number)
        judged = number.criterion()
    elif number.expect is not None:
        study = studies[number.study]
        names = [expect.what for expect in study.expects]
        if names.count(number.expect) != 1:
            what = (
                f"{names.count(number.expect)} expectations of {study.name} say '{number.expect}'"
            )
            raise UserError([Problem(where, what, "exactly one", "name one of them")])
        place = names.index(number.expect)
        ours, found, why = _judged(study, place, number.why or study.expects[place].why)
        settings = study.settings
        if number.verdict is None:
            verdict, judged = found, study.expects[place].criterion()
        else:
            verdict, why = (number.verdict if found != NOT_RUN else found), number.why
    return Row(
        number.document,
        number.place,
        number.what,
        "",
        number.published,
        judged,
        ours,
        verdict,
        why,
        number.study,
        settings,
    )


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
        return text, REACHED
    return f"{text} ({(found.value / wanted.value - 1) * 100:+.2g} %)".replace("-", "−"), DIFFERS


def carry_over(rows: Sequence[Row], before: Iterable[Row]) -> list[Row]:
    """Rows of studies that were not run, with what an earlier page says of the same number.

    What was measured with other settings is not carried: the row stays "not run" and says so.
    """
    known = {row.key: row for row in before}
    return [_carried(row, known.get(row.key)) for row in rows]


def _carried(row: Row, old: Row | None) -> Row:
    """A row with what was said of it before."""
    if row.verdict != NOT_RUN or old is None or old.verdict == NOT_RUN:
        return row
    if old.settings != row.settings:
        return replace(row, why=f"The study's settings changed; before, ours was {old.ours}.")
    return replace(row, ours=old.ours, verdict=old.verdict, why=old.why)


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


def of_arithmetic(rows: Iterable[Row]) -> str:
    """Say how many rows are reached without a simulation."""
    count = sum(row.verdict == REACHED and not row.study for row in rows)
    return f"{count} of those reached are arithmetic of the document, done again without a run."


def to_markdown(rows: Sequence[Row], documents: Sequence[Document]) -> str:
    """docs/reproduction.md."""
    lines = [
        "# Reproduction",
        "",
        "Every number that the source documents publish, and ours beside it. Made by",
        "`invoke report all` from the results of all studies and `docs/published.toml`;",
        "do not edit. What a study derives from a document, or what is only recalled of it, is not",
        "here: the study's own report has it. *published* is what the document says, and empty",
        "where it gives no number; *judged by* is our criterion.",
        "",
        "| verdict | rows | means |",
        "|---|---|---|",
        *(f"| {verdict} | {count} | {VERDICTS[verdict]} |" for verdict, count in counts(rows)),
        "",
        of_arithmetic(rows),
    ]
    for document in documents:
        mine = [row for row in rows if row.document == document.key]
        lines += ["", f"## {document.title}", ""]
        lines += [
            "| where | what | published | judged by | ours | verdict | why |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [_markdown_row(row) for row in mine]
    return "\n".join([*lines, ""])


def _markdown_row(row: Row) -> str:
    what = f"{row.what} ({row.where})" if row.where else row.what
    study = f" ({row.study})" if row.study else ""
    cells = (
        row.place,
        what + study,
        row.published,
        row.judged,
        row.ours,
        row.verdict,
        row.why,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_tex(rows: Sequence[Row], documents: Sequence[Document]) -> str:
    """One booktabs table a document."""
    heads = ("Where", "What", "Published", "Judged by", "Ours", "Verdict")
    return "\n".join(
        booktabs(
            heads,
            [
                (row.place, row.what, row.published, row.judged, row.ours, row.verdict)
                for row in rows
                if row.document == document.key
            ],
            caption=document.title,
            label=f"tab:{document.key}",
            widths=(0.15, 0.28, 0.16, 0.13, 0.16, 0.12),
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
        arithmetic=of_arithmetic(rows),
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
    from pyorch.files import make_folder, write_atomically

    make_folder(folder)
    texts = {
        "index.html": to_html(rows, documents, links),
        "reproduction.csv": to_csv(rows),
        "reproduction.md": to_markdown(rows, documents),
        "reproduction.tex": to_tex(rows, documents),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]
