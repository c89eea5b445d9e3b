"""Pictures of pages: figures of studies, in files called GROUP.STUDY.FIGURE.png.

Those of the guide are in docs/images, those of a module in its doc/figures, to be copied with it.

A page shows one by its name, and `invoke report all` updates it from the study's report, if the
report covers the study's current runs: not others (--set), nor those of another build.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from pyorch.base.errors import shown
from pyorch.base.files import write_atomically
from pyorch.base.paths import Paths, default_paths
from pyorch.files.load import load_experiment
from pyorch.report.runs import RUNS_FILE

OTHERS = "What only this study asks:"
QUESTIONS = {
    "variants": "Which scheme is better, and at what price?",
    "bars": "Which scheme is better, and at what price?",
    "slowdown": "For flows of which size? (many schemes: `cells = true`)",
    "cdf": "For how many flows?",
    "line": "How does it depend on a parameter, or on two?",
    "heatmap": "How does it depend on a parameter, or on two?",
    "timeseries": "What happened in a run?",
    "pause_map": "Who paused whom, and what deadlocked?",
    "pause_tree": "Who paused whom, and what deadlocked?",
    "deadlock_map": "Who paused whom, and what deadlocked?",
    "link_load": "Which links are busy?",
    "lost": "Where did a job lose its time?",
    "rank_timeline": "Where did a job lose its time?",
    "custom": OTHERS,
}
"""What each kind of figure answers."""
SMALL = 160
"""Width of a picture in the table [px]."""


@dataclass(frozen=True)
class Picture:
    """A picture of a page, with its study and figure."""

    file: Path
    study: str
    figure: str


def pictures(paths: Paths) -> list[Picture]:
    """Return the pictures of all pages that are figures of studies, by name."""
    files = [*paths.images.glob("*.png"), *paths.modules.glob("*/doc/figures/*.png")]
    parts = [(file, file.stem.split(".")) for file in sorted(files, key=lambda file: file.name)]
    return [Picture(file, f"{p[0]}/{p[1]}", p[2]) for file, p in parts if len(p) == 3]


def refresh(
    names: Collection[str], paths: Paths, runs_of: Callable[[str], str]
) -> tuple[list[Path], list[Picture]]:
    """Copy the pictures of these studies from their reports.

    runs_of: the digest of a study's runs, as its report records it in RUNS_FILE. Returns the files
    that changed, and the pictures that stay because there is no report of these runs.
    """
    changed, left = [], []
    for picture in pictures(paths):
        if picture.study not in names:
            continue
        report = paths.report(picture.study)
        made, noted = report / f"{picture.figure}.png", report / RUNS_FILE
        if not (made.is_file() and noted.is_file()) or noted.read_text() != runs_of(picture.study):
            left.append(picture)
            continue
        if made.read_bytes() != picture.file.read_bytes():
            write_atomically(picture.file, made.read_bytes())
            changed.append(picture.file)
    return changed, left


def page_of(group: str, pages: Collection[str]) -> str | None:
    """Return the name of the page about a group of studies: by topic, or of the scheme."""
    return next((name for name in (f"studies-{group}", group) if name in pages), None)


def gallery(paths: Paths) -> str:
    """Return the page of all pictures, as Markdown: by the question that their kind answers."""
    head = [
        "# Which figure answers which question",
        "",
        (
            "Figures of studies, by the `kind` of their [[[figure]]](reports.md#figures); "
            "`pyorch run NAME` draws one again."
        ),
        "",
        "| the question | `kind` | |",
        "|---|---|---|",
    ]
    thumbnails = dict.fromkeys(QUESTIONS.values(), "")
    pages = paths.root / "docs"
    by_kind: dict[str, list[str]] = {question: [] for question in QUESTIONS.values()}
    by_study = sorted(pictures(paths), key=lambda picture: (picture.study, picture.figure))
    for study, found in groupby(by_study, key=lambda picture: picture.study):
        experiment = load_experiment(study, paths=paths)
        about = page_of(study.partition("/")[0], [file.stem for file in pages.glob("*.md")])
        name = f"[{study}]({about}.md)" if about else f"`{study}`"
        figures = {figure.name: figure for figure in experiment.figures}
        for picture in found:
            file = Path(os.path.relpath(picture.file, pages)).as_posix()
            figure = figures.get(picture.figure)
            title = shown((figure.title if figure else "") or experiment.title)
            question = QUESTIONS.get(str(figure.kind) if figure else "", OTHERS)
            by_kind[question] += ["", name, "", f"![{title}]({file})"]
            thumbnails[question] = thumbnails[question] or _small(file)
    lines = head + [f"| {one} | {_kinds(one)} | {image} |" for one, image in thumbnails.items()]
    for question, entries in by_kind.items():
        lines += ["", f"## {question} {_kinds(question)}", *entries] if entries else []
    return "\n".join(lines) + "\n"


def _small(file: str) -> str:
    return f'<img src="{file}" width="{SMALL}">'


def _kinds(question: str) -> str:
    return ", ".join(f"`{kind}`" for kind, other in QUESTIONS.items() if other == question)


def write_gallery(paths: Paths) -> Path:
    """Write that page, and return it. Raises OSError."""
    file = paths.root / "docs" / "gallery.md"
    write_atomically(file, gallery(paths))
    return file


if __name__ == "__main__":
    print(write_gallery(default_paths()))
