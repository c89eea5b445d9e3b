"""A manifest: the runs of a batch and their build, one JSON object per line.

The first line identifies the build; every other line is the canonical JSON of a RunSpec. It is the
complete input of a run process, on this machine or on a cluster.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pyorch.base.errors import refusal
from pyorch.base.files import make_folder, write_atomically

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

Reader = Callable[[str], "RunSpec"]
FORMAT = 1
INDEX_SUFFIX = ".index"


@dataclass(frozen=True)
class Manifest:
    """The first line: the fingerprint and the folder of the build, and the number of runs.

    time_limit: of each run, in wall time [s]. threads: of each run.
    """

    fingerprint: str
    build: Path
    runs: int
    time_limit: int | None = None
    threads: int = 1

    def complete(self, spec: RunSpec) -> RunSpec:
        """Return a RunSpec of a line with what is the same for all and not in the lines."""
        return replace(spec, time_limit=self.time_limit, threads=self.threads)


def write_manifest(
    path: Path, specs: Sequence[RunSpec], fingerprint: str, build: Path, threads: int = 1
) -> None:
    """Write a manifest atomically. threads: of each run. Raises OSError."""
    head: dict[str, object] = {"manifest": FORMAT, "fingerprint": fingerprint}
    head |= {"build": str(build), "runs": len(specs)}
    limit = specs[0].time_limit if specs else None  # an experiment's runs have the same
    head |= {} if limit is None else {"time_limit": limit}
    head |= {} if threads == 1 else {"threads": threads}
    make_folder(path.parent)
    lines = [json.dumps(head, sort_keys=True), *(spec.to_json() for spec in specs)]
    write_atomically(path, "\n".join(lines) + "\n")


def digest_of_head(path: Path) -> str:
    """Return the digest of the first line, by which a job knows it again. Raises UserError."""
    with _open(path) as file:
        return _digest(file.readline())


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read the first line. Raises UserError if the file is not a manifest."""
    with _open(path) as file:
        return _head(path, file)


def read_run(path: Path, index: int, read: Reader) -> tuple[Manifest, RunSpec]:
    """Read the first line and the RunSpec of a number, from 0.

    read: parser of a line. Raises UserError if the file is not a manifest or has no run of that
    number.
    """
    with _open(path) as file:
        manifest = _head(path, file)
        line = next(islice(file, index, None), "") if 0 <= index < manifest.runs else ""
    if not line:
        raise refusal(str(path), f"it has no run number {index}", f"0 to {manifest.runs - 1}")
    return manifest, manifest.complete(_spec(path, line, read))


def index_manifest(path: Path) -> None:
    """Write an index of a manifest's runs next to it, for `read_runs`. Raises OSError."""
    offsets, at = array("Q"), 0
    with path.open("rb") as file:
        for line in file:
            at += len(line)
            offsets.append(at)
    write_atomically(path.with_suffix(INDEX_SUFFIX), offsets.tobytes())


def read_runs(
    path: Path, first: int, count: int, read: Reader, head: str = ""
) -> tuple[Manifest, list[RunSpec]]:
    """Read the first line and at most `count` RunSpecs, from a number on.

    read: as in `read_run`. head: the digest that the first line must have, if given: that line
    names the code to load, and others may be allowed to write where results lie. With an index only
    these lines are read, however long the manifest is. Raises UserError if the file is not a
    manifest, or not this one, or has no run of the first number.
    """
    with _open(path) as file:
        manifest = _head(path, file, head)
        if not 0 <= first < manifest.runs:
            raise refusal(str(path), f"it has no run number {first}", f"0 to {manifest.runs - 1}")
        skipped = first
        with suppress(FileNotFoundError), path.with_suffix(INDEX_SUFFIX).open("rb") as index:
            index.seek(first * 8)
            file.seek(int.from_bytes(index.read(8), sys.byteorder))
            skipped = 0
        lines = islice(file, skipped, skipped + min(count, manifest.runs - first))
        specs = [_spec(path, line, read) for line in lines]
        return manifest, [manifest.complete(spec) for spec in specs]


def _spec(path: Path, line: str, read: Reader) -> RunSpec:
    try:
        return read(line)
    except ValueError as error:
        what = "one of its lines is damaged"
        raise refusal(str(path), what, hint="start the experiment again") from error


def _open(path: Path) -> IO[str]:
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise refusal(str(path), f"cannot be read: {error.strerror}") from error


def _head(path: Path, file: IO[str], digest: str = "") -> Manifest:
    line = file.readline()
    if digest and _digest(line) != digest:
        what = "was exchanged after the submission: its first line is another"
        raise refusal(str(path), what, hint="look who may write into this folder, and submit again")
    try:
        head = json.loads(line)
        if head["manifest"] != FORMAT:
            raise ValueError("another format")
        build, runs = Path(head["build"]), int(head["runs"])
        same = (head.get("time_limit"), int(head.get("threads", 1)))
        return Manifest(head["fingerprint"], build, runs, *same)
    except (ValueError, KeyError, TypeError) as error:
        what = "is not a manifest of this version"
        raise refusal(str(path), what, hint="start the experiment again") from error
