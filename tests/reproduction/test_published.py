"""Every quantity that the source documents publish has a row of the reproduction page, or a reason.

tests/published/ has one list for each document, read from it independently of the page. An entry
says where the document has a quantity, what it says and with which values, and then either `rows`,
the `what` of the rows that stand for it, or `left`, why it has none.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pyorch.base.paths import default_paths
from pyorch.base.reading import read_toml
from pyorch.report.quantities import show_text
from tests.inputs import ROOT
from tests.shipped import MARKS, studies
from tools.docs import SCHEMES
from tools.reproduction.page import Row, from_csv
from tools.reproduction.published import load_published

pytestmark = [*MARKS, pytest.mark.inputs("docs", "tests/published")]

LISTS = ROOT / "tests" / "published"
DOCUMENTS = ("gfc", "dcfit", "dsh", "pffc", "sfc")
REASONS = {
    "a rule of the scheme, implemented and tested": ("definition", "claim", "setting"),
    "a definition or a notation": ("definition", "background"),
    "background of other work, without a number": ("background", "claim"),
    "words without a quantity": ("background", "claim"),
    "a step of an argument, whose end has a row": ("claim",),
    "the axis of a figure": ("setting",),
    "the document gives no number": ("setting",),
    "a note of a reader, not of the document": ("background",),
}
"""Why an entry may have no row, and which kinds may say so: no reason serves for a result."""


class Entry(BaseModel):
    """A quantity of a document.

    kind: what the document measured or computed (result), asserts (claim), assumes (setting),
    defines, or says of others (background). shown_as: how a row spells the values, where the
    numbers of `values` are not in its text.
    """

    model_config = ConfigDict(extra="forbid")

    place: str = Field(min_length=1)
    what: str = Field(min_length=1)
    values: list[str] = Field(min_length=1)
    kind: Literal["result", "claim", "setting", "definition", "background"]
    rows: list[str] = []
    left: str | None = None
    shown_as: str | None = None


def entries(document: str) -> list[Entry]:
    """The list of a document."""
    file = LISTS / f"{document}.toml"
    return [Entry.model_validate(entry) for entry in read_toml(file, file.name)["number"]]


def page(document: str) -> list[Row]:
    """The rows of docs/reproduction.csv of a document."""
    path = default_paths().reproduction.with_suffix(".csv")
    return [row for row in from_csv(path.read_text(encoding="utf-8")) if row.document == document]


WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
UNITS = {
    "Gb/s": r"Gb/s|Gbps|Gbits?|gigabit|GbE",
    "Mb/s": r"Mb/s|Mbps",
    "GB": "GB",
    "MB": "MB",
    "KB": r"KB|Kbytes?",
    "B": r"B|bytes?",
    "bit": r"bits?|b",
    "ms": r"ms|msec",
    "us": r"us|usec|\u03bcs",
    "ns": r"ns|nsec",
    "m": r"m|meters",
    "%": "%",
    "MTU": "MTU",
}
_UNIT = "|".join(f"({spelled})" for spelled in UNITS.values())
_NUMBER = re.compile(
    rf"(?<![\w.])(\d+(?:[.,]\d+)*(?:/\d+)?)(?:\s*-?(?:{_UNIT})(?![A-Za-z]))?", re.ASCII
)


@cache
def numbers_of(text: str) -> frozenset[tuple[str, str]]:
    """All (number, unit) of a text, however it spells them; indices (B1, R_0) are none.

    The unit is "" where there is none.
    """
    plain = unicodedata.normalize("NFKC", text)
    for digit, word in enumerate(WORDS, 2):
        plain = re.sub(rf"\b{word}\b", str(digit), plain)
    names = list(UNITS)
    found = set()
    for match in _NUMBER.finditer(plain):
        number, *spelled = match.groups()
        unit = next((name for name, one in zip(names, spelled, strict=True) if one), "")
        found.add((number.replace(",", ""), unit))
    return frozenset(found)


def missing(values: list[str], texts: list[str]) -> set[tuple[str, str]]:
    """The (number, unit) of the values that no text shows. One without a unit may have any."""
    shown = frozenset().union(*(numbers_of(text) for text in texts))
    bare = {number for number, _ in shown}
    wanted = frozenset().union(*(numbers_of(value) for value in values))
    return {one for one in wanted if one not in shown and (one[1] or one[0] not in bare)}


def test_only_what_is_printed_is_called_published() -> None:
    """Every number that an expectation calls published is in the list of its document.

    A pure number is one in a unit that metrics do not know (bits); then `says` has the document's.
    Of a document that was read as well (`others`), the page of its studies has the number.
    """
    docs = ROOT / "docs"
    schemes = [docs / f"{name}.md" for name in SCHEMES]
    shown = [*docs.glob("studies-*.md"), *schemes, *(docs / "results").glob("*.md")]
    pages = [page.read_text(encoding="utf-8") for page in shown]
    published = load_published(default_paths().published)
    for name, study in studies().items():
        for expect in study.expects:
            if expect.origin() != "published":
                continue
            document = published.document_of(expect.source)
            other = document is None and expect.source.startswith(tuple(published.others))
            assert document is not None or other, (name, expect.what)
            given = [one for one in (expect.expected, expect.min, expect.max) if one is not None]
            values = [
                show_text(one)
                if isinstance(one, str)
                else (f"{one:#.3g}" if one < 1000 else f"{one:.0f}").rstrip(".")
                if other and not expect.says
                else expect.says
                for one in given
            ]
            listed = entries(document.key) if document is not None else ()
            texts = [text for one in listed for text in (one.what, *one.values)] or pages
            assert all(numbers_of(value) for value in values), (name, expect.what)
            assert not missing(values, texts), (name, expect.what)


def spaced(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def test_there_is_a_list_for_every_document_of_the_page() -> None:
    """And no other."""
    known = {document.key for document in load_published(default_paths().published).document}
    assert known == set(DOCUMENTS) == {file.stem for file in LISTS.iterdir()}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_quantity_has_rows_or_a_reason(document: str) -> None:
    """Exactly one of them: rows that are on the page, or a reason that its kind may have."""
    known = {row.what for row in page(document)}
    for entry in entries(document):
        assert bool(entry.rows) != (entry.left is not None), entry
        for what in entry.rows:
            assert what in known, f"{entry.place}: no row of {document} says '{what}'"
        if entry.left is not None:
            assert entry.kind in REASONS[entry.left], entry


def words_of(text: str) -> set[str]:
    """The words of a text that say something."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return set(re.findall(r"\w+", plain)) - {"a", "and", "be", "is", "of", "no", "the", "to"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_rows_without_a_number_say_what_their_entries_say(document: str) -> None:
    """Half of the words of such a row are in the texts of its entries."""
    for row in page(document):
        mine = [entry for entry in entries(document) if row.what in entry.rows]
        if not row.published or numbers_of(row.published) or not mine:
            continue
        said = set().union(*(words_of(" ".join([*e.values, e.what])) for e in mine))
        wanted = words_of(row.published)
        assert 2 * len(wanted & said) >= len(wanted), f"{row.place}, {row.what}: {row.published}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_rows_stand_where_their_entries_do(document: str) -> None:
    """A section, page, figure or slide that a row names is one that an entry of it names, too."""
    for row in page(document):
        mine = [entry for entry in entries(document) if row.what in entry.rows]
        places = set(re.findall(r"\d+(?:\.\d+)*", row.place))
        found = set().union(*(re.findall(r"\d+(?:\.\d+)*", entry.place) for entry in mine))
        assert not mine or not places or not found or places & found, (row.place, row.what)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_rows_show_the_numbers_that_they_stand_for(document: str) -> None:
    """Each number of an entry is in the text of a row, or the row spells it as the entry says."""
    rows = page(document)
    for entry in entries(document):
        mine = [row for row in rows if row.what in entry.rows]
        texts = [text for row in mine for text in (row.published, row.what)]
        lacking = missing(entry.values, texts) if mine else set()
        if entry.shown_as is None:
            assert not lacking, f"{entry.place}, {entry.what}: no row shows {sorted(lacking)}"
        else:
            assert lacking, f"{entry.place}, {entry.what}: shown_as is not needed"
            assert any(spaced(entry.shown_as) in spaced(text) for text in texts), entry


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_page_says_nothing_that_the_document_does_not(document: str) -> None:
    """Every row with something published represents entries that have all its numbers."""
    listed = entries(document)
    for row in page(document):
        mine = [entry for entry in listed if row.what in entry.rows]
        assert mine or not row.published, f"no entry names '{row.what}'"
        said = [text for entry in mine for text in (*entry.values, entry.shown_as or "")]
        lacking = missing([row.published], said) if mine else set()
        assert not lacking, f"{row.place}, {row.what}: no entry has {sorted(lacking)}"


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        ("7.4\u00b5s", "7.4 us", True),
        ("~ <= 23 Kbytes", "<= 23 KB", True),
        ("25 gigabit", "at 25 Gb/s and 75 %", True),
        ("10,000 switches", "10,000; 64; 14; 6", True),
        ("1/4", "a 4", False),
        ("25 Gbit", "25 KB", False),
        ("1.4ms", "1.4", False),
        ("14-bit", "14", False),
        ("B1 and R_0", "", True),
        ("two failed links", "2 failed links", True),
        ("7.4us", "4 us and 7", False),
    ],
)
def test_numbers_are_compared_with_their_units(value: str, text: str, *, same: bool) -> None:
    """However they are spelled; a number of another unit, or without one, does not count."""
    assert (missing([value], [text]) == set()) == same


def test_the_page_beside_hardware_counts_its_rows() -> None:
    """Its headline is the sum of the table: rows that agree, and all the others."""
    page = (ROOT / "docs" / "studies-hardware.md").read_text(encoding="utf-8")
    table = (ROOT / "docs" / "results" / "hardware.md").read_text(encoding="utf-8")
    lines = [line for line in table.partition("\nApart stand\n")[0].splitlines() if line[:1] == "|"]
    said = [line.strip("| ").rpartition("|")[2].strip() for line in lines[2:]]
    agree = sum(verdict.startswith("agrees") for verdict in said)
    counted = f"Of {len(said)} independent measurements {agree} agree"
    assert f"**{counted} within both errors and {len(said) - agree} do not:" in page
    for name in ("CHANGELOG.md", "docs/other-simulators.md"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        assert counted in text or f"{agree} of {len(said)} agree" in text, name
