"""The results of one experiment on disk: results/NAME/runs/<hash>/ and runs.parquet.

A run is written to a temporary folder, made durable, and committed by one atomic rename, so that
any number of attempts at one run, on any number of machines, are harmless: exactly one becomes the
run, the others are deleted. All data read are compared with the run's seal (`pyorch.store.seal`); a
damaged run does not count as done, and is moved to damaged/.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
import socket
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import refusal
from pyorch.base.files import (
    RESULTS_HINT,
    make_folder,
    refuse_links,
    replacing,
    sync,
    sync_all,
    telling,
    temporaries,
)
from pyorch.base.lazy import pd
from pyorch.base.paths import Paths, RunPaths
from pyorch.metrics import RunTables, compute, known_numbers
from pyorch.store import seal
from pyorch.store.seal import DamagedError

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

STALE_AFTER_S = 24 * 3600
"""After this long without a sign of life an attempt of another system counts as dead."""

FIRST_COLUMNS = ("hash", "seed", "variant")

_LOG_HEAD = 8  # lines of a log that say where a run was made
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


@dataclass(frozen=True)
class Damage:
    """A damaged run: its hash, the file, and the problem.

    kept: where the run was set aside; None if the folder cannot be written.
    """

    run_hash: str
    file: Path
    what: str
    kept: Path | None


class Store:
    """The runs of one experiment.

    The disk is authoritative, also for data written by another process or machine; only the
    verification of a run is cached, until one of its files changes. Creating a Store does not
    access the disk; `prepare` creates its folders.
    """

    def __init__(self, paths: Paths, experiment_name: str) -> None:
        self.paths = paths
        self.name = experiment_name
        self.root = paths.experiment_results(experiment_name)
        self.runs = self.root / "runs"
        self.failed = self.root / "failed"
        self.damaged = self.root / "damaged"
        self._checked: dict[str, tuple[tuple[int, ...], DamagedError | None]] = {}
        self.table_file = self.root / "runs.parquet"

    def folder(self, run_hash: str) -> Path:
        """The folder of a finished run, existing or not."""
        return self.runs / run_hash

    def failure(self, run_hash: str) -> RunPaths:
        """The files of the last failed attempt at a run."""
        return RunPaths(self.failed / run_hash)

    def is_done(self, run_hash: str) -> bool:
        """Whether the run is finished, committed and complete.

        Unless `set_damaged_aside` has read them, large tables are checked by size and time only.
        """
        try:
            self._check(run_hash, quick=True)
        except (FileNotFoundError, DamagedError):
            return False
        return True

    def problem(self, run_hash: str) -> str | None:
        """The problem of a finished run, as checked by `is_done`; None if there is none."""
        try:
            self._check(run_hash, quick=True)
        except DamagedError as error:
            return str(error)
        except FileNotFoundError:
            pass
        return None

    def set_damaged_aside(self, hashes: Iterable[str]) -> list[Damage]:
        """Verify all finished ones of some runs; move damaged ones to damaged/ and return them.

        They no longer count as done. Raises UserError if a run may not be read.
        """
        found = []
        for run_hash in hashes:
            try:
                self._check(run_hash, quick=False)
            except FileNotFoundError:
                continue
            except DamagedError as error:
                kept = None
                with contextlib.suppress(OSError):  # results that may only be read
                    kept = self._set_aside(run_hash)
                found.append(Damage(run_hash, error.file, error.what, kept))
        return found

    def _check(self, run_hash: str, *, quick: bool) -> None:
        """Compare a run with its seal, unless that was done and nothing changed since.

        Raises DamagedError; FileNotFoundError when there is no such run; UserError.
        """
        folder = self.folder(run_hash)
        try:
            stamp = seal.stamp(folder)
            known, problem = self._checked.get(run_hash, (None, None))
            if known != stamp:
                problem = seal.problem_of(folder, run_hash, quick=quick)
                if problem is not None or not quick:
                    self._checked[run_hash] = stamp, problem
        except PermissionError as error:
            what, hint = f"cannot be read: {error.strerror}", "ask its owner for permission to"
            raise refusal(str(error.filename), what, hint=hint) from error
        if problem is not None:
            raise problem

    def _set_aside(self, run_hash: str) -> Path | None:
        """Move a damaged run to damaged/HASH.NUMBER. Raises OSError.

        Returns None when another process has set it aside, or has put a whole run in its place.
        """
        refuse_links(self.damaged, self.paths.results)
        make_folder(self.damaged)
        for number in itertools.count(1):
            kept = self.damaged / f"{run_hash}.{number}"
            if not kept.exists():
                try:
                    self.folder(run_hash).rename(kept)
                    break
                except FileNotFoundError:  # another process has set it aside meanwhile
                    return None
                except OSError as error:  # another process took the same name
                    if error.errno not in _TAKEN:
                        raise
        if seal.problem_of(kept, run_hash) is None:
            self._put_back(kept, run_hash)
            return None
        sync_all([self.damaged, self.runs])
        return kept

    def _put_back(self, whole: Path, run_hash: str) -> None:
        try:
            whole.rename(self.folder(run_hash))
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            remove(whole)  # the same run has been made once more

    def prepare(self) -> None:
        """Create the folders and delete the remains of dead attempts.

        Raises UserError if the results folder cannot be written.
        """
        with telling(self.root, RESULTS_HINT):
            make_folder(self.runs, below=self.paths.results)
            probe = self.runs / f".probe.{uuid.uuid4().hex}"
            probe.touch()
            sync_all([probe, self.runs])
            probe.unlink()
        self.sweep()

    # Attempts

    def begin(self, run_hash: str) -> RunPaths:
        """Create a new folder for an attempt at a run. Raises OSError if it cannot be written."""
        unique = f".{run_hash}.{this_system()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"
        folder = self.runs / unique
        folder.mkdir(parents=True)
        return RunPaths(folder)

    def commit(self, attempt: Path, run_hash: str, fingerprint: str) -> bool:
        """Commit a complete attempt as the run, atomically; it then survives a power cut.

        Returns False if another attempt was faster; this one is then deleted. Raises ValueError if
        the attempt lacks a file or belongs to another run, OSError if the disk fails.
        """
        from pyorch.plan import hash_of_json

        files = RunPaths(attempt)
        if not files.summary.is_file():
            raise ValueError(f"{attempt} is not complete: it has no summary.json")
        if hash_of_json(files.spec.read_text(encoding="utf-8"), fingerprint) != run_hash:
            raise ValueError(f"{attempt} is not an attempt at the run {run_hash}")
        files.heartbeat.unlink(missing_ok=True)
        seal.write_seal(attempt, run_hash, fingerprint)
        sync_all([*attempt.iterdir(), attempt])
        won = self._rename(attempt, run_hash)
        sync(self.runs)  # also after the rename of another attempt: its process may be gone
        if not won:
            shutil.rmtree(attempt, ignore_errors=True)
        remove(self.failed / run_hash)
        return won

    def _rename(self, attempt: Path, run_hash: str) -> bool:
        target = self.folder(run_hash)
        while True:
            try:
                attempt.rename(target)
                return True
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            if self.is_done(run_hash):
                return False
            # what is left of a damaged run is no result
            self._set_aside(run_hash)

    def fail(self, attempt: Path, run_hash: str) -> RunPaths:
        """Move a failed attempt to failed/<hash>/, replacing the previous one."""
        RunPaths(attempt).heartbeat.unlink(missing_ok=True)
        target = self.failed / run_hash
        refuse_links(self.failed, self.paths.results)
        self.failed.mkdir(parents=True, exist_ok=True)
        while True:
            remove(target)
            try:
                attempt.rename(target)
                return RunPaths(target)
            except OSError as error:  # another attempt failed at the same moment
                if error.errno not in _TAKEN:
                    raise

    def discard(self, attempt: Path) -> None:
        """Delete an attempt."""
        shutil.rmtree(attempt, ignore_errors=True)

    def sweep(self) -> None:
        """Delete the remains of dead attempts: their process is gone, or inactive for a day."""
        for path in [*self.runs.glob(".*"), *self.failed.glob(".*"), *temporaries(self.root)]:
            if is_dead_attempt(path):
                shutil.rmtree(path, ignore_errors=True)
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def attempts(self) -> dict[str, list[Path]]:
        """The folders of all attempts that are not committed, by the run's hash."""
        found: dict[str, list[Path]] = {}
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(self.runs):
                parts = entry.name.split(".")
                if entry.name.startswith(".") and len(parts) >= 5:
                    found.setdefault(parts[1], []).append(Path(entry.path))
        return found

    # Results

    def missing(self, specs: Sequence[RunSpec], fingerprint: str) -> list[RunSpec]:
        """The runs that are not done, each once, in order."""
        by_hash = {spec.hash(fingerprint): spec for spec in specs}
        return [spec for run_hash, spec in by_hash.items() if not self.is_done(run_hash)]

    def read_summary(self, run_hash: str) -> dict[str, Any]:
        """summary.json of a finished run. Raises FileNotFoundError if there is none."""
        content: dict[str, Any] = json.loads(self._read(run_hash, "summary.json"))
        return content

    def _read(self, run_hash: str, name: str) -> bytes:
        """Return a file of a finished run, as it was sealed.

        Raises FileNotFoundError when there is none, UserError when it is damaged.
        """
        folder = self.folder(run_hash)
        try:
            return seal.read_file(folder, seal.read_seal(folder, run_hash), name)
        except DamagedError as error:
            hint = "the same command again sets this run aside, `invoke experiment` repeats it"
            raise refusal(str(error.file), error.what, hint=hint) from error

    def log_lines(self, run_hash: str) -> list[str]:
        """The first lines of a finished run's log: machine and versions."""
        try:
            with RunPaths(self.folder(run_hash)).log.open(
                encoding="utf-8", errors="replace"
            ) as log:
                return [line.rstrip("\n") for _, line in zip(range(_LOG_HEAD), log, strict=False)]
        except OSError:
            return []

    def table_names(self, run_hash: str) -> list[str]:
        """The tables that a finished run wrote."""
        sealed = seal.read_seal(self.folder(run_hash), run_hash).sizes
        return sorted(Path(name).stem for name in sealed if name.endswith(".parquet"))

    def read_table(self, run_hash: str, table: str) -> pd.DataFrame:
        """A table of a finished run.

        Raises FileNotFoundError if it was not traced, UserError when it is none.
        """
        import pyarrow as pa

        content = BytesIO(self._read(run_hash, f"{table}.parquet"))
        try:
            return pd.read_parquet(content)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            file = RunPaths(self.folder(run_hash)).table(table)
            what, hint = "was sealed, but is not a table as pyorch writes it", "delete this run"
            raise refusal(str(file), what, hint=hint) from error

    def read_metrics(self, run_hash: str, spec: RunSpec) -> dict[str, Any]:
        """The metrics of a finished run, from its summary or computed from its tables.

        Computed ones are cached next to the tables, so that a changed metric is computed once.
        Their file has a checksum instead of being durable: after a power cut it is recomputed if
        damaged.
        """
        from pyorch.plan import metrics_digest

        digest = metrics_digest(spec.metrics)
        known = self.read_summary(run_hash).get("metrics", {}).get(digest)
        if known is not None:
            return dict(known)
        kept = self.folder(run_hash) / f"metrics-{digest}.json"
        values = _read_kept(kept)
        if values is None:
            values = self._compute(run_hash, spec)
            with contextlib.suppress(OSError):  # results that may only be read are still results
                refuse_links(kept.parent, self.paths.results)
                _keep(kept, values)
        return values

    def _compute(self, run_hash: str, spec: RunSpec) -> dict[str, Any]:

        summary = self.read_summary(run_hash)
        names = self.table_names(run_hash)
        tables = {name: self._read_arrays(run_hash, name) for name in names}
        run = RunTables(spec.setting, spec.seed, summary["nodes"], summary["summary"], tables)
        return compute(spec.metrics, run)

    def _read_arrays(self, run_hash: str, table: str) -> dict[str, Any]:
        """Return a table as metrics see it when the run ends: an array a column."""
        frame = self.read_table(run_hash, table)
        return {str(name): column.to_numpy() for name, column in frame.items()}

    def collect(self, specs: Sequence[RunSpec], fingerprint: str) -> pd.DataFrame:
        """Gather the finished runs, one row a run, and write them to runs.parquet.

        Columns: hash, seed, variant, every parameter, every summary number, every metric. A
        parameter with values of several types is converted to text. Unfinished runs have no row.
        Raises UserError if a metric has the name of another column.
        """
        by_hash = {spec.hash(fingerprint): spec for spec in specs}
        rows = [self._row(key, spec) for key, spec in by_hash.items() if self.is_done(key)]
        frame = _frame(rows, self.name)
        if not rows and not self.root.is_dir():  # looking at results makes no folder
            return frame
        refuse_links(self.root, self.paths.results)
        with telling(self.table_file, RESULTS_HINT), replacing(self.table_file) as temporary:
            frame.to_parquet(temporary, index=False)
        return frame

    def collected_seeds(self) -> set[int]:
        """Return the seeds of the runs that were last gathered; none if that cannot be read."""
        try:
            return {
                int(seed) for seed in pd.read_parquet(self.table_file, columns=["seed"])["seed"]
            }
        except (OSError, ValueError, KeyError):  # anything may lie there
            return set()

    def _row(self, run_hash: str, spec: RunSpec) -> list[dict[str, Any]]:
        """Columns of a run in three groups: parameters, summary, metrics."""
        own = {"hash": run_hash, "seed": spec.seed, "variant": ""}
        metrics = self.read_metrics(run_hash, spec)
        summary = known_numbers(self.read_summary(run_hash)["summary"])
        return [{**own, **spec.params}, summary, metrics]


def _frame(rows: Sequence[Sequence[Mapping[str, Any]]], name: str) -> pd.DataFrame:
    """One table of all rows; its columns in the order parameters, summary, metrics."""
    groups = [list(dict.fromkeys(k for row in rows for k in row[part])) for part in range(3)]
    clashes = set(groups[2]) & {*groups[0], *groups[1]}
    if clashes:
        where = f"{name}: [[metric]] {', '.join(sorted(clashes))}"
        what = "the name is that of another column of runs.parquet"
        raise refusal(where, what, hint="give the metric another name")
    columns = list(dict.fromkeys([*FIRST_COLUMNS, *groups[0], *groups[1], *groups[2]]))
    merged = [{**row[1], **row[2], **row[0]} for row in rows]
    data = {column: _one_type([row.get(column) for row in merged]) for column in columns}
    return pd.DataFrame(data, columns=columns)


def _one_type(values: list[Any]) -> list[Any]:
    """Values that fit one column: as they are, or as text when they are of several types."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 and not kinds & {list, dict}:
        return values
    if kinds <= {int, float}:
        return values
    return [
        value if value is None or isinstance(value, str) else json.dumps(value) for value in values
    ]


def _keep(path: Path, values: Mapping[str, Any]) -> None:
    """Write values with their checksum in the first line. Raises OSError."""
    text = json.dumps(values)
    with replacing(path, durable=False) as temporary:
        digest = hashlib.sha256(text.encode()).hexdigest()
        temporary.write_text(f"{digest}\n{text}\n", encoding="utf-8")


def _read_kept(path: Path) -> dict[str, Any] | None:
    """Read what `_keep` wrote; None when it is not there or not whole."""
    try:
        digest, _, text = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if digest.decode(errors="replace") != hashlib.sha256(text.rstrip(b"\n")).hexdigest():
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def kept_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the metrics that were computed after a run, from the files next to its tables."""
    found = map(_read_kept, sorted(folder.glob("metrics-*.json")))
    return [values for values in found if values is not None]


def remove(folder: Path) -> None:
    """Delete a folder atomically: it never appears half deleted under its name."""
    aside = folder.with_name(f".gone.{uuid.uuid4().hex}")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


@cache
def this_system() -> str:
    """Return an identifier of the PID namespace: this boot of this machine, or a container.

    A host name is not sufficient: containers and copies of a virtual machine often share one.
    """
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    with contextlib.suppress(OSError):
        own = f"{boot.read_text().strip()} {namespace.readlink()}"
        return f"{socket.gethostname()}+{hashlib.sha256(own.encode()).hexdigest()[:8]}"
    return socket.gethostname()


def is_dead_attempt(folder: Path) -> bool:
    """Whether no process works on an attempt '.HASH.SYSTEM.PID.RANDOM' any more."""
    parts = folder.name.split(".")
    here = len(parts) >= 5 and ".".join(parts[2:-2]) == this_system()
    if here and parts[-2].isdigit() and not _is_alive(int(parts[-2])):
        return True
    return time.time() - _last_sign(folder) > STALE_AFTER_S


def _last_sign(folder: Path) -> float:
    """When something in the folder last changed; now, when it has just gone."""
    try:
        heartbeat = RunPaths(folder).heartbeat
        newest = folder.stat().st_mtime
        return max(newest, heartbeat.stat().st_mtime) if heartbeat.exists() else newest
    except FileNotFoundError:
        return time.time()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
