"""A record of what a report wrote, so that for the same runs nothing is written again.

Next to the figures, .drawn/NAME.json has the key of all that a figure depends on and the checksums
of its files; .drawn/.report.json has those of the whole report, and its console output. Whatever
uses a study's own code is always rewritten: what that code reads is unknown.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pyorch.base.files import make_folder, write_atomically
from pyorch.metrics.base import written
from pyorch.plan import RunSpec
from pyorch.report.data import ReportData
from pyorch.report.figures import FigureModel
from pyorch.report.figures.base import is_own
from pyorch.report.page import DrawnFigure
from pyorch.setting.experiment import Experiment
from pyorch.store.store import Store

FOLDER = ".drawn"
_REPORT = ".report"  # no figure can have this name
_FIGURES = "[!.]*.json"
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("matplotlib", "numpy", "pandas", "seaborn")
_OF_PAGES = ("itables", "jinja2", "networkx", "ns3", "plotly", "pyarrow", "pyorch", "scipy")


@dataclass(frozen=True)
class Told:
    """What a report says: its verdicts, figures that could not be drawn, and the page to open.

    failed: whether an expectation or a figure makes the experiment fail. compared: the means of
    metrics in short, where nothing is expected. pdfs: names of the files for a paper, beside it.
    """

    verdicts: Sequence[str]
    errors: Sequence[str]
    index: Path
    failed: bool
    compared: Sequence[str] = ()
    pdfs: Sequence[str] = ()


def key_of_report(
    experiment: Experiment,
    specs: Sequence[RunSpec],
    store: Store,
    fingerprint: str,
    command: str,
    paper: bool,
) -> str | None:
    """Return a digest of all that a report depends on; None when that is unknown.

    It is also None if a run is missing: what is known of that changes with every attempt.
    """
    runs = {spec.hash(fingerprint): spec for spec in specs}
    if experiment.kinds or any(spec.setting.packages for spec in specs):
        return None
    if any(map(_is_foreign, experiment.figures)) or not all(map(store.is_done, runs)):
        return None
    about = [
        *(experiment.name, experiment.title, experiment.question, experiment.source),
        *(
            str(store.root),
            fingerprint,
            command,
            paper,
            sys.version,
            [*map(written, experiment.metrics)],
        ),
    ]
    return _digest(
        [
            _code(),
            *map(_release, _OF_PAGES),
            json.dumps(about),
            *(model.model_dump_json() for model in (*experiment.figures, *experiment.expects)),
            *(json.dumps(_seen(store, key, spec)) for key, spec in runs.items()),
        ]
    )


def _seen(store: Store, run_hash: str, spec: RunSpec) -> list[Any]:
    """Return what a report reads from a run; its tables never change."""
    numbers = store.read_summary(run_hash), store.read_metrics(run_hash, spec)
    return [run_hash, dict(spec.params), *numbers, store.log_lines(run_hash)]


def recall_report(key: str | None, folder: Path) -> Told | None:
    """Return the output of the report in the folder if it was written for this key."""
    known = _recall(_REPORT, key, folder)
    try:
        told = known["told"] if known else None
        return Told(**told | {"index": Path(told["index"])}) if told else None
    except (KeyError, TypeError):
        return None


def remember_report(told: Told, key: str | None, files: Sequence[Path], folder: Path) -> None:
    """Note that a report was written; one with an error is tried again. Raises OSError."""
    content = {"told": asdict(told) | {"index": str(told.index)}}
    _remember(_REPORT, None if told.errors else key, content, files, folder)


def _is_foreign(model: FigureModel) -> bool:
    return not is_own(model) or model.kind == "custom"


def key_of(model: FigureModel, data: ReportData, paper: bool) -> str | None:
    """Return a digest of all that a figure depends on; None when that is unknown."""
    if _is_foreign(model):
        return None
    return _digest(
        [
            _code(),
            json.dumps(paper),
            model.model_dump_json(),
            *sorted(data.specs),
            *(metric.model_dump_json() for metric in data.metrics),
            data.runs.to_json(orient="split", double_precision=15),
        ]
    )


def recall(name: str, key: str | None, folder: Path) -> DrawnFigure | None:
    """Return the figure in the folder if it was drawn for this key."""
    known = _recall(name, key, folder)
    try:
        files = tuple(folder / file for file in known["files"]) if known else ()
        return DrawnFigure(**{**known["figure"], "files": files}) if known else None
    except (KeyError, TypeError):
        return None


def remember(figure: DrawnFigure, key: str | None, folder: Path) -> None:
    """Note that a figure was drawn; one with an error is tried again. Raises OSError."""
    fields = {name: value for name, value in asdict(figure).items() if name != "files"}
    key = None if figure.error else key
    _remember(figure.name, key, {"figure": fields}, figure.files, folder)


def files_in(folder: Path) -> set[str]:
    """Return the names of all files that figures were drawn into."""
    return {file for note in (folder / FOLDER).glob(_FIGURES) for file in _files(note)}


def is_for_paper(folder: Path) -> bool:
    """Whether a report has figures for a paper, which are then kept up to date."""
    return any(folder.glob("*.pdf"))


def remove_others(before: Collection[str], figures: Iterable[DrawnFigure], folder: Path) -> None:
    """Remove earlier files that no longer belong to a figure. Raises OSError.

    These are the files of a figure that the study no longer has or that can no longer be drawn,
    and of a width that no longer fits.
    """
    files = {figure.name: {file.name for file in figure.files} for figure in figures}
    for file in set(before).difference(*files.values()):
        (folder / file).unlink(missing_ok=True)
    for note in (folder / FOLDER).glob(_FIGURES):
        if note.stem not in files:
            note.unlink()


def _files(note: Path) -> set[str]:
    """Return the files of a figure; none if its note cannot be read."""
    try:
        # only names: a note that somebody edited must not reach beyond the folder
        return {Path(file).name for file in json.loads(note.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _recall(name: str, key: str | None, folder: Path) -> Mapping[str, Any] | None:
    """Return a note of this key, if all its files are as they were."""
    try:
        known: Mapping[str, Any] = json.loads(_note(name, folder).read_text(encoding="utf-8"))
        if key is None or known["key"] != key:
            return None
        whole = all(_sum(folder / file) == digest for file, digest in known["files"].items())
        return known if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _remember(
    name: str, key: str | None, content: Mapping[str, Any], files: Iterable[Path], folder: Path
) -> None:
    """Note what was written; without a key it is rewritten next time, but its files are known."""
    sums = {os.path.relpath(file, folder): _sum(file) for file in files}
    make_folder(folder / FOLDER, below=folder)
    text = json.dumps({"key": key, **content, "files": sums})
    write_atomically(_note(name, folder), text + "\n")


def _note(name: str, folder: Path) -> Path:
    return folder / FOLDER / f"{name}.json"


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _code() -> str:
    """Return a digest of this package's code and of the drawing libraries."""
    files = sorted(file for kind in ("*.py", "*.j2") for file in _PACKAGE.rglob(kind))
    return _digest([*map(_release, _LIBRARIES), *map(_sum, files)])


def _release(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # a checkout that is not installed
        return package


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()
