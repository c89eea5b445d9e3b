"""What a report has drawn, so that a figure of the same runs is not drawn again.

Beside the figures, in .drawn/NAME.json: the key of all that a figure depends on, and the checksums
of its files. Figures of a study's own code are always drawn: nobody knows what that reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.files import make_folder, write_atomically
from pyorch.report.page import DrawnFigure

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures import FigureModel

FOLDER = ".drawn"
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("matplotlib", "numpy", "pandas", "seaborn")


def is_own(model: FigureModel) -> bool:
    """Whether a kind of figure is one of this package."""
    return type(model).__module__.startswith("pyorch.")


def key_of(model: FigureModel, data: ReportData) -> str | None:
    """Return a digest of all that a figure depends on; None when nobody knows that."""
    if not is_own(model) or model.kind == "custom":
        return None
    return _digest(
        [
            _code(),
            model.model_dump_json(),
            *sorted(data.specs),
            *(metric.model_dump_json() for metric in data.metrics),
            data.runs.to_json(orient="split", double_precision=15),
        ]
    )


def recall(name: str, key: str | None, folder: Path) -> DrawnFigure | None:
    """Return a figure that lies in the folder as it was drawn for this key, if it does."""
    try:
        known = json.loads(_note(name, folder).read_text(encoding="utf-8"))
        if key is None or known["key"] != key:
            return None
        whole = all(_sum(folder / file) == digest for file, digest in known["files"].items())
        files = tuple(folder / file for file in known["files"])
        return DrawnFigure(**{**known["figure"], "files": files}) if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remember(figure: DrawnFigure, key: str | None, folder: Path) -> None:
    """Note that a figure was drawn; one with an error is tried again. Raises OSError."""
    if key is None or figure.error:
        _note(figure.name, folder).unlink(missing_ok=True)
        return
    fields = {name: value for name, value in asdict(figure).items() if name != "files"}
    sums = {file.name: _sum(file) for file in figure.files}
    make_folder(folder / FOLDER)
    text = json.dumps({"key": key, "figure": fields, "files": sums})
    write_atomically(_note(figure.name, folder), text + "\n")


def _note(name: str, folder: Path) -> Path:
    return folder / FOLDER / f"{name}.json"


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _code() -> str:
    """Return a digest of this package's code and of the libraries that draw."""
    files = sorted(file for kind in ("*.py", "*.j2") for file in _PACKAGE.rglob(kind))
    return _digest([*(f"{one} {version(one)}" for one in _LIBRARIES), *map(_sum, files)])


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()
