"""A manifest: the runs of a batch and the build they are made with, one JSON object a line.

The first line says which build; every other line is the canonical JSON of a RunSpec. It is all
that a run process is told, on this machine or on a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pyorch.errors import Problem, UserError
from pyorch.files import write_atomically

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

FORMAT = 1


@dataclass(frozen=True)
class Manifest:
    """The first line: the fingerprint and the folder of the build, and how many runs follow."""

    fingerprint: str
    build: Path
    runs: int


def write_manifest(path: Path, specs: Sequence[RunSpec], fingerprint: str, build: Path) -> None:
    """Write a manifest, complete or not at all. Raises OSError."""
    head = {"manifest": FORMAT, "fingerprint": fingerprint, "build": str(build), "runs": len(specs)}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(head, sort_keys=True), *(spec.to_json() for spec in specs)]
    write_atomically(path, "\n".join(lines) + "\n")


def read_manifest(path: Path) -> Manifest:
    """Read the first line. Raises UserError when the file is no manifest."""
    with _open(path) as file:
        return _head(path, file)


def read_run(path: Path, index: int) -> tuple[Manifest, RunSpec]:
    """Read the first line and the RunSpec of a number, from 0.

    Raises UserError when the file is no manifest or has no run of that number.
    """
    from pyorch.plan import RunSpec

    with _open(path) as file:
        manifest = _head(path, file)
        line = next(islice(file, index, None), "") if 0 <= index < manifest.runs else ""
    if not line:
        allowed = f"0 to {manifest.runs - 1}"
        raise UserError([Problem(str(path), f"it has no run number {index}", allowed, None)])
    return manifest, RunSpec.from_json(line)


def _open(path: Path) -> IO[str]:
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise UserError([Problem(str(path), f"cannot be read: {error.strerror}")]) from error


def _head(path: Path, file: IO[str]) -> Manifest:
    try:
        head = json.loads(file.readline())
        if head["manifest"] != FORMAT:
            raise ValueError("another format")
        return Manifest(head["fingerprint"], Path(head["build"]), int(head["runs"]))
    except (ValueError, KeyError, TypeError) as error:
        what = "is no manifest of this version"
        raise UserError([Problem(str(path), what, None, "start the experiment again")]) from error
