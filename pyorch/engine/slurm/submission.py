"""The files of one `invoke submit` on disk: results/NAME/slurm/ID/.

submission.json   what was submitted, when, with which build, and the numbers of the jobs
plan.txt          the hashes of all runs of the sweep, including those that were already done
runs.txt          the hashes of the runs that were submitted, in the order of the manifest
manifest.jsonl    those runs; manifest.index gives their offsets
job.sh            the batch script
log/              what each job printed
tasks/            a note of each job: where it began, and how it ended
cancelled         exists once `invoke cancel` was called
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pyorch.base.errors import refusal
from pyorch.base.files import (
    RESULTS_HINT,
    STORAGE_ERRORS,
    create_atomically,
    make_folder,
    opened,
    storage_error,
    write_atomically,
)
from pyorch.engine.slurm.packing import Array
from pyorch.store.store import Store

FOLDER = "slurm"
_NOT_IN_NAMES = re.compile(r"[^\w./+-]", re.ASCII)


@dataclass(frozen=True)
class SubmittedArray(Array):
    """An array, with its number in Slurm; None if Slurm's answer never came."""

    job_id: int | None = None


@dataclass(frozen=True)
class TaskNote:
    """A job's note about itself.

    job: its number; node and host: where it ran; restarts: how often Slurm requeued it; started and
    ended: seconds since 1970, ended None while it runs or if it was killed; outcome: one of
    OUTCOMES; message: why its node could not run it, else "".
    """

    job: str
    node: str
    host: str
    restarts: int
    started: float
    ended: float | None = None
    outcome: str = ""
    message: str = ""


#: Outcomes that a job records: all its runs done, some failed, ended from outside, node unfit.
OUTCOMES = (DONE, FAILED, INTERRUPTED, UNFIT) = ("done", "failed", "interrupted", "unfit")


@dataclass(frozen=True)
class Submission:
    """One submission of a sweep.

    folder: its own. name: as typed; overrides and seeds: likewise. time_s: the jobs' time limit.
    created: seconds since 1970.
    """

    folder: Path
    experiment: str
    name: str
    overrides: tuple[str, ...]
    seeds: str
    fingerprint: str
    created: float
    runs_per_job: int
    time_s: int | None = None
    arrays: tuple[SubmittedArray, ...] = field(default=())

    @property
    def id(self) -> str:
        """Its name among the submissions of an experiment; starts with the date."""
        return self.folder.name

    @property
    def manifest(self) -> Path:
        """The runs that were submitted."""
        return self.folder / "manifest.jsonl"

    @property
    def script(self) -> Path:
        """The batch script."""
        return self.folder / "job.sh"

    @cached_property
    def plan(self) -> tuple[str, ...]:
        """The hashes of all runs of the sweep, in order."""
        return _read_lines(self.folder / "plan.txt")

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The hashes of the submitted runs, in the order of the manifest."""
        return _read_lines(self.folder / "runs.txt")

    @cached_property
    def written(self) -> float:
        """Time of writing by the file system's clock: comparable with times of results."""
        return self.manifest.stat().st_mtime

    @property
    def sweep(self) -> str:
        """A key shared by all submissions of one sweep."""
        return hashlib.sha256("\n".join(self.plan).encode()).hexdigest()

    @property
    def is_cancelled(self) -> bool:
        """Whether `invoke cancel` was called since."""
        return (self.folder / "cancelled").exists()

    def job_name(self, array: Array) -> str:
        """The name of an array in Slurm: unlike job numbers it is never reused."""
        return f"{_NOT_IN_NAMES.sub('_', self.experiment)}:{self.id}:{array.first}"

    def job_names(self) -> dict[str, Array]:
        """All its arrays by name."""
        return {self.job_name(array): array for array in self.arrays}

    def task_of(self, position: int) -> int:
        """The job that has the run at a position of the manifest."""
        return position // self.runs_per_job

    def log(self, task: int) -> Path:
        """The output of a job."""
        first = self.array_of(task).first
        return self.folder / "log" / f"{first}+{task - first}.txt"

    def array_of(self, task: int) -> Array:
        """The array that has a job."""
        before = [array for array in self.arrays if array.first <= task]
        return max(before, key=lambda array: array.first, default=Array(0, 0))

    def log_pattern(self, array: Array) -> str:
        """The output for sbatch --output, which replaces %a by the index and %% by %."""
        return f"{self.folder / 'log'}/".replace("%", "%%") + f"{array.first}+%a.txt"

    def note(self, task: int) -> TaskNote | None:
        """A job's note about itself; None if it never started."""
        return read_note(self.folder, task)

    def save(self) -> None:
        """Write submission.json. Raises OSError."""
        content = {**asdict(self), "folder": str(self.folder)}
        write_atomically(self.folder / "submission.json", json.dumps(content, indent=1) + "\n")

    def with_arrays(self, arrays: Sequence[SubmittedArray]) -> Submission:
        """Return it with other arrays, written to disk. Raises OSError."""
        changed = replace(self, arrays=tuple(arrays))
        changed.save()
        return changed

    def discard(self) -> None:
        """Delete it: Slurm accepted nothing of it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def mark_cancelled(self) -> None:
        """Record that it was cancelled. Raises OSError."""
        create_atomically(self.folder / "cancelled", b"")


def read_note(folder: Path, task: int) -> TaskNote | None:
    """The note of a job of a submission; None if it never started."""
    try:
        text = (folder / "tasks" / f"{task}.json").read_text(encoding="utf-8")
        return TaskNote(**json.loads(text))
    except (OSError, ValueError, TypeError):
        return None


def write_note(folder: Path, task: int, note: TaskNote) -> None:
    """Write a job's note about itself, unless its replacement has already written one.

    A full disk must not end the job.
    """
    known = read_note(folder, task)
    if known is not None and known.restarts > note.restarts:
        return
    with suppress(OSError):
        write_atomically(folder / "tasks" / f"{task}.json", json.dumps(asdict(note)) + "\n")


def create(store: Store, plan: Sequence[str], runs: Sequence[str], **fields: Any) -> Submission:
    """Create the folder of a new submission, with everything but the manifest.

    Raises OSError. It is the latest one even if the clock was set back.
    """
    earlier = max((known.created for known in submissions(store)), default=0.0)
    created = max(time.time(), math.nextafter(earlier, math.inf))
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(created))
    folder = store.root / FOLDER / f"{stamp}-{uuid.uuid4().hex[:6]}"
    for part in ("log", "tasks"):
        make_folder(folder / part, below=store.paths.results)
    write_atomically(folder / "plan.txt", "".join(f"{key}\n" for key in plan))
    write_atomically(folder / "runs.txt", "".join(f"{key}\n" for key in runs))
    return Submission(folder=folder, experiment=store.name, created=created, **fields)


def submissions(store: Store) -> list[Submission]:
    """All submissions of an experiment, oldest first; incomplete folders are skipped."""
    found = []
    for file in (store.root / FOLDER).glob("*/submission.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found.append(_read(file))
    return sorted(found, key=lambda submission: (submission.created, submission.id))


def _read(file: Path) -> Submission:
    content = json.loads(file.read_text(encoding="utf-8"))
    arrays = tuple(SubmittedArray(**array) for array in content.pop("arrays"))
    overrides = tuple(content.pop("overrides"))
    return Submission(
        **{**content, "folder": file.parent, "arrays": arrays, "overrides": overrides}
    )


def _read_lines(file: Path) -> tuple[str, ...]:
    return tuple(file.read_text(encoding="utf-8").split())


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Lock the submission of an experiment, here and on machines that share the folder.

    Raises UserError if the folder cannot be written.
    """
    folder = store.root / FOLDER
    with ExitStack() as stack:
        try:
            make_folder(folder, below=store.paths.results)
            lock = stack.enter_context(opened(folder / ".lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno in STORAGE_ERRORS:
                raise storage_error(error, folder, RESULTS_HINT) from error
            what = f"the file system of this folder cannot lock files: {error.strerror}"
            hint = "set PYORCH_RESULTS to a folder on another file system that all nodes share"
            raise refusal(str(folder), what, hint=hint) from error
        yield
