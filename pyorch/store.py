"""The results of one experiment on disk: results/NAME/runs/<hash>/ and runs.parquet.

A run is written aside and committed by one atomic rename, so that any number of attempts at one
run, on any number of machines, are harmless: exactly one becomes the run, the others vanish.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import socket
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.errors import Problem, UserError
from pyorch.files import RESULTS_HINT, storage_error, write_atomically
from pyorch.paths import Paths, RunPaths

if TYPE_CHECKING:
    import pandas as pd

    from pyorch.plan import RunSpec

STALE_AFTER_S = 24 * 3600
"""After this long without a sign of life an attempt of another machine counts as dead."""

FIRST_COLUMNS = ("hash", "seed", "variant")


_LOG_HEAD = 8  # lines of a log that say where a run was made


class Store:
    """The runs of one experiment.

    Nothing is cached: what counts is what lies on the disk, also when another process or another
    machine put it there. Creating a Store touches nothing; `prepare` makes its folders.
    """

    def __init__(self, paths: Paths, experiment_name: str) -> None:
        self.paths = paths
        self.name = experiment_name
        self.root = paths.experiment_results(experiment_name)
        self.runs = self.root / "runs"
        self.failed = self.root / "failed"
        self.table_file = self.root / "runs.parquet"

    def folder(self, run_hash: str) -> Path:
        """Where a finished run lies, or will lie."""
        return self.runs / run_hash

    def failure(self, run_hash: str) -> RunPaths:
        """The files of the last failed attempt at a run."""
        return RunPaths(self.failed / run_hash)

    def is_done(self, run_hash: str) -> bool:
        """Whether the run is finished and committed."""
        return RunPaths(self.folder(run_hash)).summary.is_file()

    def prepare(self) -> None:
        """Make the folders and sweep out what dead attempts left.

        Raises UserError when the results folder cannot be written.
        """
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            probe = self.runs / f".probe.{uuid.uuid4().hex}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise storage_error(error, self.root, RESULTS_HINT) from error
        self.sweep()

    # Attempts

    def begin(self, run_hash: str) -> RunPaths:
        """Make a new folder for an attempt at a run. Raises OSError when it cannot be written."""
        unique = f".{run_hash}.{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"
        folder = self.runs / unique
        folder.mkdir(parents=True)
        return RunPaths(folder)

    def commit(self, attempt: Path, run_hash: str) -> bool:
        """Make a complete attempt the run, in one atomic step.

        Returns False when another attempt was faster; this one is deleted then. Raises
        ValueError when the attempt has no summary.json, OSError when the disk fails.
        """
        if not RunPaths(attempt).summary.is_file():
            raise ValueError(f"{attempt} is not complete: it has no summary.json")
        RunPaths(attempt).heartbeat.unlink(missing_ok=True)
        won = self._rename(attempt, run_hash)
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
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            if self.is_done(run_hash):
                return False
            # someone deleted the summary of a committed run: what is left of it is no result
            remove(target)

    def fail(self, attempt: Path, run_hash: str) -> RunPaths:
        """Keep a failed attempt in failed/<hash>/ in place of the one before."""
        RunPaths(attempt).heartbeat.unlink(missing_ok=True)
        target = self.failed / run_hash
        self.failed.mkdir(parents=True, exist_ok=True)
        while True:
            remove(target)
            try:
                attempt.rename(target)
                return RunPaths(target)
            except OSError as error:  # another attempt failed at the same moment
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise

    def discard(self, attempt: Path) -> None:
        """Delete an attempt."""
        shutil.rmtree(attempt, ignore_errors=True)

    def sweep(self) -> None:
        """Delete what dead attempts left: their process is gone, or silent for a day."""
        for entry in os.scandir(self.runs):
            if entry.name.startswith(".") and is_dead_attempt(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)

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

    def read_spec(self, run_hash: str) -> RunSpec:
        """The RunSpec of a finished run. Raises FileNotFoundError when there is none."""
        from pyorch.plan import RunSpec

        return RunSpec.from_json(RunPaths(self.folder(run_hash)).spec.read_text(encoding="utf-8"))

    def read_summary(self, run_hash: str) -> dict[str, Any]:
        """summary.json of a finished run. Raises FileNotFoundError when there is none."""
        return _read_json(RunPaths(self.folder(run_hash)).summary)

    def log_lines(self, run_hash: str) -> list[str]:
        """The first lines of a finished run's log, which say where and with what it was made."""
        try:
            with RunPaths(self.folder(run_hash)).log.open(
                encoding="utf-8", errors="replace"
            ) as log:
                return [line.rstrip("\n") for _, line in zip(range(_LOG_HEAD), log, strict=False)]
        except OSError:
            return []

    def table_names(self, run_hash: str) -> list[str]:
        """The tables that a finished run wrote."""
        return [path.stem for path in RunPaths(self.folder(run_hash)).tables()]

    def read_table(self, run_hash: str, table: str) -> pd.DataFrame:
        """A table of a finished run. Raises FileNotFoundError when it was not traced."""
        import pandas as pd

        # a file object: no look-up of partitions beside it, and a plain FileNotFoundError
        with RunPaths(self.folder(run_hash)).table(table).open("rb") as file:
            return pd.read_parquet(file)

    def read_metrics(self, run_hash: str, metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The metrics of a finished run, from its summary or computed from its tables.

        Computed ones are kept beside the tables, so that a changed metric costs once.
        """
        digest = metrics_digest(metrics)
        known = self.read_summary(run_hash).get("metrics", {}).get(digest)
        if known is not None:
            return dict(known)
        kept = self.folder(run_hash) / f"metrics-{digest}.json"
        with contextlib.suppress(FileNotFoundError, ValueError):
            return _read_json(kept)
        values = self._compute(run_hash, metrics)
        with contextlib.suppress(OSError):  # results that may only be read are still results
            write_atomically(kept, json.dumps(values) + "\n")
        return values

    def _compute(self, run_hash: str, metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        from pyorch.metrics import RunTables, compute

        summary = self.read_summary(run_hash)
        names = self.table_names(run_hash)
        tables: dict[str, Any] = {name: self.read_table(run_hash, name) for name in names}
        spec = self.read_spec(run_hash)
        return compute(metrics, RunTables(spec.data, summary["nodes"], summary["summary"], tables))

    def collect(self, specs: Sequence[RunSpec], fingerprint: str) -> pd.DataFrame:
        """Gather the finished runs, one row a run, and write them to runs.parquet.

        Columns: hash, seed, variant, every parameter, every summary number, every metric. A
        parameter whose values are of several types is given as text. Runs that are not done
        have no row. Raises UserError when a metric has the name of another column.
        """
        by_hash = {spec.hash(fingerprint): spec for spec in specs}
        rows = [self._row(key, spec) for key, spec in by_hash.items() if self.is_done(key)]
        frame = _frame(rows, self.name)
        temporary = self.root / f".runs.{uuid.uuid4().hex}.parquet"
        try:
            frame.to_parquet(temporary, index=False)
            temporary.replace(self.table_file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise storage_error(error, self.table_file, RESULTS_HINT) from error
        return frame

    def _row(self, run_hash: str, spec: RunSpec) -> list[dict[str, Any]]:
        """Columns of a run in three groups: parameters, summary, metrics."""
        own = {"hash": run_hash, "seed": spec.data["seed"], "variant": ""}
        metrics = self.read_metrics(run_hash, spec.data["metrics"])
        return [{**own, **spec.params}, self.read_summary(run_hash)["summary"], metrics]


def metrics_digest(metrics: Sequence[Mapping[str, Any]]) -> str:
    """The name under which summary.json keeps the values of a list of metrics: 16 hex digits."""
    canonical = json.dumps(list(metrics), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _frame(rows: Sequence[Sequence[Mapping[str, Any]]], name: str) -> pd.DataFrame:
    """One table of all rows; its columns in the order parameters, summary, metrics."""
    import pandas as pd

    groups = [list(dict.fromkeys(k for row in rows for k in row[part])) for part in range(3)]
    clashes = set(groups[2]) & {*groups[0], *groups[1]}
    if clashes:
        where = f"{name}: [[metric]] {', '.join(sorted(clashes))}"
        what = "the name is that of another column of runs.parquet"
        raise UserError([Problem(where, what, None, "give the metric another name")])
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


def _read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def remove(folder: Path) -> None:
    """Delete a folder in a way that never shows half of it under its name."""
    aside = folder.with_name(f".gone.{uuid.uuid4().hex}")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def is_dead_attempt(folder: Path) -> bool:
    """Whether nobody works on an attempt '.HASH.HOST.PID.RANDOM' any more."""
    parts = folder.name.split(".")
    here = len(parts) >= 5 and ".".join(parts[2:-2]) == socket.gethostname()
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
