"""Finds what can be deleted: runs of earlier builds, and builds that no sweep waits for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths, RunPaths
from pyorch.plan import HASH_DIGITS, hash_of_json
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pyorch.engine.slurm.submission import Submission

#: Folders of an experiment's results that contain one folder per run.
_OF_RUNS = ("runs", "failed", "damaged")
_HASH = re.compile(rf"([0-9a-f]{{{HASH_DIGITS}}})(\.\d+)?")  # of a damaged run: with a number


@dataclass(frozen=True)
class FoundRuns:
    """Runs, finished, failed or damaged, by whether the current build made them.

    current, old: their folders, sorted. unknown: folders among them whose settings cannot be read.
    """

    current: tuple[Path, ...]
    old: tuple[Path, ...]
    unknown: tuple[Path, ...]


def find_runs(results: Path, fingerprint: str) -> FoundRuns:
    """Sort all runs below a results folder by whether a build made them.

    fingerprint: that of the build. A run's name is the hash of its settings, which are stored with
    it, and of the fingerprint: so every run of the build is recognised, whatever its experiment or
    --set, and even if its experiment no longer exists. Runs being written are left out.
    """
    found: dict[bool | None, list[Path]] = {True: [], False: [], None: []}
    for folder in _run_folders(results):
        found[_is_of(folder, fingerprint)].append(folder)
    return FoundRuns(*(tuple(sorted(found[key])) for key in (True, False, None)))


def builds_of_sweeps(paths: Paths) -> dict[Path, str]:
    """Builds that jobs in Slurm's queue will load, with the sweeps of these jobs.

    If Slurm does not answer, jobs of a sweep with missing runs count as waiting, unless they were
    cancelled.
    """
    from pyorch.engine.manifest import read_manifest
    from pyorch.engine.slurm.client import AwayError, Slurm
    from pyorch.engine.slurm.submission import FOLDER, submissions

    waiting = [
        (store, item)
        for store in _stores(paths, FOLDER)
        for item in submissions(store)
        if _has_runs_to_do(store, item)
    ]
    try:
        queue = Slurm().queue([name for _, item in waiting for name in item.job_names()])
        queued = {job.name for job in queue}
        held = [(s, item) for s, item in waiting if queued & set(item.job_names())]
    except (AwayError, UserError):
        held = [(store, item) for store, item in waiting if not item.is_cancelled]
    found = {}
    for store, item in held:
        with suppress(OSError, UserError):
            build = read_manifest(item.manifest).build
            found[build] = f"jobs of {store.name} in Slurm load it (invoke cancel {item.name})"
    return found


def _has_runs_to_do(store: Store, submission: Submission) -> bool:
    try:
        return not all(map(store.is_done, submission.runs))
    except OSError:
        return False


def _stores(paths: Paths, folder: str) -> Iterator[Store]:
    """The stores of the experiments that have a folder of some name."""
    for place, names, _ in os.walk(paths.results):
        if folder in names:
            yield Store(paths, Path(place).relative_to(paths.results).as_posix())
        names[:] = [n for n in names if n not in (*_OF_RUNS, folder) and not n.startswith(".")]


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _run_folders(results: Path) -> Iterator[Path]:
    for folder, names, _ in os.walk(results):
        runs = [n for n in names if _HASH.fullmatch(n)] if Path(folder).name in _OF_RUNS else []
        names[:] = [n for n in names if n not in runs and not n.startswith(".")]
        yield from (Path(folder) / name for name in runs)


def _is_of(folder: Path, fingerprint: str) -> bool | None:
    """Whether a build made the run in a folder; None if that is unknown.

    A damaged run may have lost its settings, but it is of the build of the run that replaced it.
    """
    run_hash, _, number = folder.name.partition(".")
    for place in (folder.parent.parent / "runs" / run_hash if number else folder, folder):
        try:
            text = RunPaths(place).spec.read_text(encoding="utf-8")
            return hash_of_json(text, fingerprint) == run_hash
        except (OSError, ValueError, RecursionError):
            continue
    return None
