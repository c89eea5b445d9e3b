"""The tables that runs record: their columns and what these mean, from the sources of the modules.

By convention a class or function that fills a table has a comment that begins with the name of the
table in quotes, and a comment above a column says what it is. Columns that have none are explained
where most tables get them from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyorch.base.paths import Paths
from pyorch.base.reading import read_text
from pyorch.build.sources import present_modules

_FILLER = re.compile(
    r"(?P<doc>(?:^/// [^\n]*\n)+)^(?P<head>(?:class|void)\b[^{;]*)\{\n(?P<body>.*?)^\}", re.M | re.S
)
_STEP = re.compile(
    r"(?P<doc>(?:^ *// [^\n]*\n)*)"
    r'^[^\n]*(?:\bAdd<(?P<type>\w+?)(?:_t)?>\("(?P<name>\w+)"\)|(?P<lead>m_columns\.Open)|Table& )',
    re.M,
)
_NAMED = re.compile(r'"(?P<name>\w+)": (?P<text>.*)')
_PARENT = re.compile(r"public (?:\w+::)*(\w+)")
_CLASS = re.compile(r"class (\w+)")
PARTS = ("model", "helper")
"""Folders of a module whose sources may fill tables."""
SAMPLED, COMMON = "SampledProbe", "PortColumns::Open"
"""The class of probes that sample, and the function that adds the columns of most tables."""


@dataclass(frozen=True)
class Column:
    """A column of a table. kind: its type, as numpy names it."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class RecordedTable:
    """A table. sampled: a [[trace]] may give it a period."""

    name: str
    help: str
    columns: tuple[Column, ...]
    sampled: bool = False


@dataclass(frozen=True)
class _Filler:
    """A class or function that fills tables. parent: class that it inherits, or ""."""

    name: str
    parent: str
    tables: tuple[RecordedTable, ...]


def recorded_tables(paths: Paths) -> list[RecordedTable]:
    """Return all tables of the modules, also of a user's own, by name.

    Raises UserError if a source cannot be read.
    """
    folders = [one.folder / part for one in present_modules(paths.modules) for part in PARTS]
    files = [file for folder in folders for file in sorted(folder.glob("*.cc"))]
    fillers = [one for file in files for one in _fillers(read_text(file, str(file)))]
    known = {one.name: one for one in fillers}
    found = {table.name: table for one in fillers for table in _whole(one, known) if table.name}
    common = {
        column.name: column
        for one in fillers
        if COMMON in one.name
        for column in one.tables[0].columns
    }
    return [_explained(found[name], common) for name in sorted(found)]


def _fillers(text: str) -> Iterator[_Filler]:
    for match in _FILLER.finditer(text):
        name, parent = _CLASS.search(match["head"]), _PARENT.search(match["head"])
        tables = tuple(_tables(_plain(match["doc"]), match["body"]))
        yield _Filler(name[1] if name else match["head"], parent[1] if parent else "", tables)


def _tables(doc: str, body: str) -> Iterator[RecordedTable]:
    """Yield the table of a comment, then those that comments in the body begin."""
    name, about, columns = *_named(doc), list[Column]()
    for step in _STEP.finditer(body):
        said = _plain(step["doc"])
        if step["name"]:
            columns.append(Column(step["name"], step["type"], said))
        elif step["lead"]:
            columns += [Column(lead, "", "") for lead in ("time_ps", "node", "peer", "class")]
        elif _NAMED.match(said):
            yield RecordedTable(name, about, tuple(columns))
            (name, about), columns = _named(said), []
    yield RecordedTable(name, about, tuple(columns))


def _named(doc: str) -> tuple[str, str]:
    """Return the table that a comment names, "" if none, and what it says of it."""
    match = _NAMED.match(doc)
    return (match["name"], match["text"]) if match else ("", doc)


def _plain(comment: str) -> str:
    return " ".join(line.strip().lstrip("/").strip() for line in comment.splitlines())


def _whole(filler: _Filler, known: Mapping[str, _Filler]) -> Iterator[RecordedTable]:
    """Yield the tables of a filler, with what its parents add."""
    parents = [filler.parent]
    while parents[-1] in known:
        parents.append(known[parents[-1]].parent)
    inherited = [known[name].tables[0].columns for name in parents if name in known]
    for table in filler.tables:
        columns = (*(column for above in inherited for column in above), *table.columns)
        yield replace(table, columns=columns, sampled=SAMPLED in parents)


def _explained(table: RecordedTable, common: Mapping[str, Column]) -> RecordedTable:
    """Return a table with the common meaning of columns that have none of their own."""
    return replace(
        table,
        columns=tuple(
            common[column.name] if column.name in common and not column.help else column
            for column in table.columns
        ),
    )
