"""Pictures of docs/: figures of studies, in files that are called GROUP.STUDY.FIGURE.png.

A page shows one by its name, and `invoke report all` copies it anew from the study's report.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pyorch.paths import Paths


@dataclass(frozen=True)
class Picture:
    """A picture of a page, and the study and figure that it is of."""

    file: Path
    study: str
    figure: str


def pictures(folder: Path) -> list[Picture]:
    """Return the pictures of a folder that are figures of studies, by name."""
    parts = [(file, file.stem.split(".")) for file in sorted(folder.glob("*.png"))]
    return [Picture(file, f"{p[0]}/{p[1]}", p[2]) for file, p in parts if len(p) == 3]


def refresh(names: Collection[str], paths: Paths) -> list[Path]:
    """Copy the pictures of these studies from their reports; return the files that changed.

    What has no report, or no such figure in it, stays as it is.
    """
    changed = []
    for picture in pictures(paths.images):
        made = paths.report(picture.study) / f"{picture.figure}.png"
        if picture.study not in names or not made.is_file():
            continue
        if made.read_bytes() != picture.file.read_bytes():
            shutil.copyfile(made, picture.file)
            changed.append(picture.file)
    return changed
