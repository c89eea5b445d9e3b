"""results/index.html: every study that has a report, with its figure and its answer.

A report writes `summary.json` next to its page. The gallery only lays these files out: it reads no
runs and draws nothing. Each report writes first its summary, then the gallery, one process at a
time, so that the last one includes all.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pyorch.base.files import opened, write_atomically
from pyorch.report.page import template

SUMMARY = "summary.json"
INDEX = "index.html"
_LOCK = ".index.lock"
_RUNS, _REPORT = "runs", "report"


@dataclass(frozen=True)
class Summary:
    """What the gallery shows of a report.

    picture: the file of its first figure beside its page, "" without one. problems: what is wrong
    with it, one short text each. stuck: deadlocks and runs without progress, a sentence each.
    """

    name: str
    title: str
    question: str
    found: str
    tally: str
    refuted: int
    picture: str
    done: int
    planned: int
    problems: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """A study in the gallery. folder: that of its report, relative to the gallery."""

    summary: Summary
    folder: str
    stale: bool


def write_summary(summary: Summary, folder: Path) -> Path:
    """Write the summary of a report next to its page. Raises OSError."""
    file = folder / SUMMARY
    write_atomically(file, json.dumps(asdict(summary), indent=1, ensure_ascii=False) + "\n")
    return file


def cards(results: Path) -> list[Card]:
    """The studies below a folder of results that have a report, by name.

    A summary that cannot be read, as of a report that is being removed, is left out.
    """
    found = []
    for folder in _reports(results):
        try:
            known = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
            problems, stuck = known["problems"], known.get("stuck", ())
            summary = Summary(**{**known, "problems": tuple(problems), "stuck": tuple(stuck)})
            runs, written = folder.with_name(_RUNS), (folder / SUMMARY).stat().st_mtime_ns
            # runs were added or removed after the report was written
            stale = runs.is_dir() and runs.stat().st_mtime_ns > written
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if (folder / INDEX).is_file():
            found.append(Card(summary, folder.relative_to(results).as_posix(), stale))
    return sorted(found, key=lambda card: card.summary.name)


def _reports(results: Path) -> Iterator[Path]:
    """Folders of reports, without searching those of runs, which are many."""
    for place, folders, _ in os.walk(results):
        if _REPORT in folders:
            yield Path(place, _REPORT)
        folders[:] = [name for name in folders if name not in (_RUNS, _REPORT)]


def refresh(results: Path) -> Path:
    """Rewrite the gallery of a folder of results. Raises OSError."""
    index = results / INDEX
    with _alone(results / _LOCK):
        write_atomically(index, render(cards(results)))
    return index


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Hold a lock, where the file system has locks."""
    with opened(file, "a") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def render(shown: list[Card]) -> str:
    """The gallery as HTML."""
    groups: dict[str, list[Card]] = {}
    for card in shown:
        groups.setdefault(card.summary.name.partition("/")[0], []).append(card)
    return template("gallery.html.j2").render(groups=groups, total=len(shown))
