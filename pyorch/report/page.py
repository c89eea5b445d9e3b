"""index.html: one file that needs nothing but a browser."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.report import embed
from pyorch.report.answer import Answer
from pyorch.report.comparison import Comparison
from pyorch.report.expect import AGREES, DIFFERS, ExpectModel, Result
from pyorch.report.figures.network_live import PLAY
from pyorch.report.select import filter_text
from pyorch.report.setting import Setting

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True)
class DrawnFigure:
    """A figure in the report, or why it could not be drawn.

    files: PNG and CSV; for a paper PNG, PDF and CSV, and PNG and PDF at the other width. live: what
    Plotly draws, packed.
    """

    name: str
    title: str
    caption: str
    width: str = "two"
    files: tuple[Path, ...] = ()
    error: str = ""
    live: str = ""

    @property
    def image(self) -> str:
        """The PNG as a data URL."""
        return "data:image/png;base64," + base64.b64encode(self.files[0].read_bytes()).decode()

    @property
    def links(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """What the caption links to: (kind, [(text, file)])."""
        names = [path.name for path in self.files]
        of = {ending: [n for n in names if n.endswith(ending)] for ending in (".pdf", ".png")}
        columns = {"one": "one column", "two": "two columns"}
        other = {"one": "two", "two": "one"}[self.width]
        texts = (columns[self.width], columns[other])
        pictures = [
            (ending[1:].upper(), list(zip(texts, found, strict=False)))
            for ending, found in of.items()
            if found
        ]
        return [*pictures, ("Data", [("CSV", name) for name in names if name.endswith(".csv")])]


@dataclass(frozen=True)
class FailedRun:
    """A run without a result; tail: the end of its log, None when it was never tried."""

    title: str
    hash: str
    tail: str | None


@dataclass(frozen=True)
class RunsTable:
    """The table of runs. numeric: numbers of its numeric columns. left: runs beyond its rows.

    rows: cells, each with its text and its sort key.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[tuple[str, str]]]
    numeric: frozenset[int]
    left: int = 0


@dataclass(frozen=True)
class Page:
    """Everything that the page shows. gallery: path of the gallery relative to the page.

    stuck: deadlocks and runs without progress, a sentence each.
    """

    name: str
    title: str
    question: str
    answer: Answer
    gallery: str
    source: str
    setting: Setting
    figures: Sequence[DrawnFigure]
    results: Sequence[Result]
    planned: int
    done: int
    seeds: Sequence[int]
    failed: Sequence[FailedRun]
    missing: Sequence[FailedRun]
    problems: Sequence[tuple[str, int]]
    warnings: Sequence[tuple[str, int]]
    notes: Sequence[tuple[str, int]]
    versions: Sequence[tuple[str, str]]
    commands: Sequence[str]
    stuck: Sequence[str] = ()
    overloads: Sequence[str] = ()
    comparison: Comparison | None = None
    runs: RunsTable | None = None


STEP_MS = 150
"""How long an animated map shows each moment."""
TABLE_OPTIONS: dict[str, Any] = {
    "columnControl": ["order", ["searchList", "search"]],
    "ordering": {"indicators": False, "handler": False},
    "order": [],
    "pageLength": 25,
    "lengthMenu": [25, 100, -1],
    "autoWidth": False,
    "language": {
        "info": "_TOTAL_ runs",
        "infoFiltered": "of _MAX_",
        "lengthMenu": "_MENU_ per page",
    },
}
"""How DataTables shows the table of runs: every column sorts and filters."""


def render(page: Page) -> str:
    """The page as HTML."""
    live = any(figure.live for figure in page.figures)
    return template("report.html.j2").render(
        page=page,
        plotly=embed.plotly() if live else "",
        play=PLAY,
        step_ms=STEP_MS,
        datatables=embed.datatables() if page.runs else None,
        table_options=json.dumps(TABLE_OPTIONS),
    )


def template(name: str, folder: Path | None = None, **functions: Any) -> Template:
    """A template of a folder (default: this one); functions: what else it may call."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader([here] if folder is None else [folder, here]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        verdict_class=verdict_class, where_text=where_text, numbers_text=numbers_text, **functions
    )
    return environment.get_template(name)


def verdict_class(result: Result) -> str:
    """The colour of a verdict: good, bad (fails the experiment) or open."""
    if result.verdict == AGREES:
        return "good"
    return "bad" if result.failed or result.verdict == DIFFERS else "open"


def where_text(expect: ExpectModel) -> str:
    """The filter of an expectation as text: "GFC, k = 4", "GFC, over PFC"."""
    parts = [filter_text(expect.where)]
    if expect.relative_to is not None:
        parts.append(f"over {filter_text(expect.relative_to)}")
    return ", ".join(part for part in parts if part)


def numbers_text(numbers: Sequence[int]) -> str:
    """Ascending whole numbers with ranges: "1-5, 8"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
