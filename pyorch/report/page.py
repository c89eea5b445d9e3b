"""index.html: one file that needs nothing but a browser."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyorch.report.expect import AGREES, DIFFERS, Result
from pyorch.report.select import value_text
from pyorch.report.setting import Setting


@dataclass(frozen=True)
class DrawnFigure:
    """A figure in the report: its files (PDF, PNG, CSV), or why it could not be drawn."""

    name: str
    title: str
    caption: str
    width: str = "two"
    files: tuple[Path, ...] = ()
    error: str = ""
    movie: Path | None = None

    @property
    def image(self) -> str:
        """The moving picture if there is one, else the PNG, as a data URL."""
        shown = self.movie or self.files[1]
        return "data:image/png;base64," + base64.b64encode(shown.read_bytes()).decode()


@dataclass(frozen=True)
class FailedRun:
    """A run without a result; tail: the end of its log, None when it was never tried."""

    title: str
    hash: str
    tail: str | None


@dataclass(frozen=True)
class Page:
    """Everything that the page shows."""

    name: str
    title: str
    question: str
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


def render(page: Page) -> str:
    """The page as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        verdict_class=verdict_class, where_text=where_text, numbers_text=numbers_text
    )
    return environment.get_template("report.html.j2").render(page=page)


def verdict_class(result: Result) -> str:
    """The colour of a verdict: good, bad (fails the experiment) or open."""
    if result.verdict == AGREES:
        return "good"
    return "bad" if result.failed or result.verdict == DIFFERS else "open"


def where_text(result: Result) -> str:
    """The filter of an expectation for people: "GFC, k = 4", "GFC, over PFC"."""
    parts = [_filter_text(result.expect.where)]
    if result.expect.relative_to is not None:
        parts.append(f"over {_filter_text(result.expect.relative_to)}")
    return ", ".join(part for part in parts if part)


def _filter_text(where: Mapping[str, Any]) -> str:
    return ", ".join(
        str(value) if name == "variant" else f"{name} = {value_text(value)}"
        for name, value in where.items()
    )


def numbers_text(numbers: Sequence[int]) -> str:
    """Ascending whole numbers with ranges: "1-5, 8"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
