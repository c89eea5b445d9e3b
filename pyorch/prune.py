"""Finds the runs of earlier builds among all results, so that they can be deleted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyorch.paths import RunPaths
from pyorch.plan import HASH_DIGITS, RunSpec

#: Folders of an experiment's results that hold one folder a run.
_OF_RUNS = ("runs", "failed")
_HASH = re.compile(f"[0-9a-f]{{{HASH_DIGITS}}}")


@dataclass(frozen=True)
class FoundRuns:
    """Runs, finished or failed, by whether the present build made them.

    current, old: their folders, sorted. unknown: folders among them whose settings cannot be read.
    """

    current: tuple[Path, ...]
    old: tuple[Path, ...]
    unknown: tuple[Path, ...]


def find_runs(results: Path, fingerprint: str) -> FoundRuns:
    """Sort all runs below a results folder by whether a build made them.

    fingerprint: of that build. A run's name is the hash of its settings, which lie beside it, and
    of the fingerprint: so every run of the build is known, whatever experiment or --set it came
    from, and whether or not its experiment still exists. Runs being written are left out.
    """
    found: dict[bool | None, list[Path]] = {True: [], False: [], None: []}
    for folder in _run_folders(results):
        found[_is_of(folder, fingerprint)].append(folder)
    return FoundRuns(*(tuple(sorted(found[key])) for key in (True, False, None)))


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _run_folders(results: Path) -> Iterator[Path]:
    for folder, names, _ in os.walk(results):
        runs = [n for n in names if _HASH.fullmatch(n)] if Path(folder).name in _OF_RUNS else []
        names[:] = [n for n in names if n not in runs and not n.startswith(".")]
        yield from (Path(folder) / name for name in runs)


def _is_of(folder: Path, fingerprint: str) -> bool | None:
    """Whether a build made the run in a folder; None when that cannot be known."""
    try:
        spec = RunSpec.from_json(RunPaths(folder).spec.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return spec.hash(fingerprint) == folder.name
