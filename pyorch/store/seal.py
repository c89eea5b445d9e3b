"""SHA256SUMS: what vouches for the files of a finished run.

It is written last, lists spec.json, summary.json and all tables, and is in the usual format, so
that `sha256sum -c SHA256SUMS` checks a run too. Two comments, which sha256sum skips, say more: the
first of which run and build it is and how long each file is, the last one vouches for the lines
above it. So a run whose files were lost, cut, altered or exchanged for those of another run is
never taken for a whole one. log.txt is not listed: it tells of the machine, not of the result.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from pyorch.base.files import opened
from pyorch.base.fingerprint import short
from pyorch.base.paths import RunPaths

SMALL_BYTES = 65_536
"""A quick look reads files up to this size; larger ones are judged by their size and time."""

_MOST_BYTES = 10**6
"""Of a seal itself: it has a line for each table."""
_HEAD = "# pyorch "
_FOOT = "# sha256 of the lines above: "
_ALTERED = "was altered"
_SEALED = frozenset({"spec.json", "summary.json", "SHA256SUMS"})


class DamagedError(Exception):
    """A finished run is not what it was: the file that is damaged, and what is wrong with it."""

    def __init__(self, file: Path, what: str) -> None:
        super().__init__(file, what)
        self.file, self.what = file, what

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


@dataclass(frozen=True)
class Seal:
    """A SHA256SUMS as read: size [B] and SHA-256 of each file, and the build that made them."""

    sizes: Mapping[str, int]
    digests: Mapping[str, str]
    fingerprint: str


def write_seal(folder: Path, run_hash: str, fingerprint: str) -> None:
    """Write the SHA256SUMS of a run that is complete. Raises OSError."""
    run = RunPaths(folder)
    sizes, lines = {}, []
    for file in (run.spec, run.summary, *run.tables()):
        with file.open("rb", buffering=0) as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            sizes[file.name] = content.tell()
        lines.append(f"{digest}  {file.name}\n")
    about = {"run": run_hash, "fingerprint": short(fingerprint), "bytes": sizes}
    text = "".join([_HEAD, json.dumps(about, sort_keys=True), "\n", *lines])
    with opened(run.sums, "w") as sums:
        sums.write(f"{text}{_FOOT}{_digest(text.encode())}\n")


def read_seal(folder: Path, run_hash: str) -> Seal:
    """Read the SHA256SUMS of a run.

    Raises DamagedError when it is not whole or of another run, FileNotFoundError when there is no
    such run, OSError when it cannot be read.
    """
    file = RunPaths(folder).sums
    folder.stat()
    missing = "is missing: the run is damaged, or older than checksums of runs"
    data = _content(file, _MOST_BYTES, missing)
    text, _, foot = data.decode("utf-8", errors="replace").rpartition(_FOOT)
    if foot != f"{_digest(text.encode())}\n":
        raise DamagedError(file, _ALTERED if data else "is empty")
    try:
        return _parsed(text, run_hash)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise DamagedError(file, "is not a seal as pyorch writes it") from None
    except _OtherRunError as error:
        raise DamagedError(file, f"is of another run: {error}") from None


class _OtherRunError(Exception):
    """A seal is of another run."""


def _parsed(text: str, run_hash: str) -> Seal:
    """Return what the lines above a seal's last one say.

    Raises _OtherRunError, and any of ValueError, LookupError, TypeError or RecursionError when they
    are not what `write_seal` writes: anybody can make a checksum that fits.
    """
    head, *lines = text.split("\n")
    about = json.loads(head.removeprefix(_HEAD))
    if about["run"] != run_hash:
        raise _OtherRunError(about["run"])
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}
    sizes, fingerprint = dict(about["bytes"]), about["fingerprint"]
    named = digests.keys() == sizes.keys() and digests.keys() >= {"spec.json", "summary.json"}
    plain = all(type(one) is int and one >= 0 for one in sizes.values())
    plain = plain and not any("/" in name for name in sizes)
    if not named or not plain or not isinstance(fingerprint, str):
        raise ValueError("sizes and checksums are not those of a run's files")
    return Seal(sizes, digests, fingerprint)


def stamp(folder: Path) -> tuple[int, ...]:
    """Return what changes with the files that are sealed, and with their names.

    Raises FileNotFoundError when there is no such folder, OSError.
    """
    found: list[int] = []
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name in _SEALED or entry.name.endswith(".parquet"):
                    status = entry.stat(follow_symlinks=False)  # a run has no links
                    found += (status.st_ino, status.st_size)
                    found += (status.st_mtime_ns, status.st_ctime_ns)
    except NotADirectoryError:
        return ()
    return tuple(found)


def problem_of(folder: Path, run_hash: str, *, quick: bool = False) -> DamagedError | None:
    """Compare all files of a run with its seal and return what is wrong; None when it is whole.

    quick: large files are not read when they have the right size and are older than the seal,
    which is written last. Raises FileNotFoundError when there is no such run, OSError.
    """
    try:
        seal = read_seal(folder, run_hash)
        trusted_ns = RunPaths(folder).sums.stat().st_mtime_ns if quick else 0
        for name, size in seal.sizes.items():
            if size <= SMALL_BYTES or (name == "summary.json" and not quick):
                data = read_file(folder, seal, name)
                if name == "summary.json" and not _is_summary(data):
                    raise DamagedError(folder / name, "is not a summary as pyorch writes it")
            else:
                _check_large(folder / name, size, seal.digests[name], trusted_ns)
    except DamagedError as error:
        return error
    return None


def _is_summary(data: bytes) -> bool:
    """Whether what was sealed as a summary has what everybody reads of it."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return False
    if not isinstance(content, dict):
        return False
    nodes, numbers, metrics = (content.get(key) for key in ("nodes", "summary", "metrics"))
    of_texts = (nodes, *(content.get(key, []) for key in ("problems", "warnings", "notes")))
    return (
        all(isinstance(one, list) and all(isinstance(t, str) for t in one) for one in of_texts)
        and isinstance(numbers, dict)
        and all(type(number) in (int, float) for number in numbers.values())
        and isinstance(metrics, dict)
        and all(isinstance(values, dict) for values in metrics.values())
    )


def _check_large(file: Path, size: int, digest: str, trusted_ns: int) -> None:
    with _found(file):
        found = file.stat()
        if found.st_size != size:
            raise DamagedError(file, _wrong_size(found.st_size, size))
        if found.st_mtime_ns < trusted_ns:
            return
        with _opened(file) as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != digest:
                raise DamagedError(file, _ALTERED)


def read_file(folder: Path, seal: Seal, name: str) -> bytes:
    """Read a file of a run: exactly the bytes that were sealed.

    Raises DamagedError when they are others, FileNotFoundError when the run never had such a file.
    """
    file = folder / name
    if name not in seal.digests:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
    if _size(file) < seal.sizes[name]:  # before there is memory for what a seal promises
        raise DamagedError(file, _wrong_size(_size(file), seal.sizes[name]))
    data = _content(file, seal.sizes[name])
    if len(data) != seal.sizes[name]:
        raise DamagedError(file, _wrong_size(_size(file), seal.sizes[name]))
    if _digest(data) != seal.digests[name]:
        raise DamagedError(file, _ALTERED)
    return data


def _content(file: Path, most: int, missing: str = "is missing") -> bytes:
    """Read a file up to one byte more than it may have; what waits or never ends is no file."""
    with _found(file, missing), _opened(file) as content:
        return content.read(most + 1)


def _opened(file: Path) -> BufferedReader:
    """Open a regular file. Raises OSError, IsADirectoryError for anything else."""
    opened = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    return opened


def _size(file: Path) -> int:
    with _found(file):
        return file.stat().st_size


def _wrong_size(found: int, sealed: int) -> str:
    return f"has {found} instead of {sealed} bytes" if found else "is empty"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _found(file: Path, missing: str = "is missing") -> Iterator[None]:
    """Take a file for damaged that is not there, is none, or that the disk cannot read."""
    try:
        yield
    except FileNotFoundError:
        raise DamagedError(file, missing) from None
    except (IsADirectoryError, NotADirectoryError):
        raise DamagedError(file, "is not a file") from None
    except OSError as error:
        if error.errno not in (errno.EIO, errno.ELOOP, errno.ENXIO):
            raise
        raise DamagedError(file, f"cannot be read: {error.strerror}") from None
