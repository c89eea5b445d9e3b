"""Atomic and durable file writes, and errors of writing."""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from pyorch.base.errors import Problem, UserError, refusal

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_AT_ONCE = 16
_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.")

STORAGE_ERRORS = _FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR}
"""What the disk or its folders, not the program, are to blame for."""

RESULTS_HINT = (
    "or set PYORCH_RESULTS to another folder; then repeat the command to run what is missing"
)
"""What else helps when it is results that cannot be written."""


class DiskError(UserError):
    """The disk is full or broken; not an error of the user."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file atomically.

    Raises OSError. When it returns, the file survives a power cut.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def opened(path: Path, mode: str) -> IO[Any]:
    """Open a file for writing in place, text as UTF-8, but not through a link.

    Whoever may write in a folder could have made one there. Raises OSError.
    """
    encoding = None if "b" in mode else "utf-8"
    return open(path, mode, encoding=encoding, opener=_open_itself)


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Provide the name of a temporary file that then replaces `path` atomically.

    It has the same suffix. durable: it survives a power cut afterwards. Raises OSError.
    """
    temporary = path.with_name(f".{uuid.uuid4().hex}.{path.name}")
    try:
        yield temporary
        if durable:
            sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def create_atomically(path: Path, content: bytes) -> None:
    """Write a file like `write_atomically`, unless there is one of that name. Raises OSError."""
    temporary = path.with_name(f".{uuid.uuid4().hex}.{path.name}")
    try:
        temporary.write_bytes(content)
        sync(temporary)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            pass
        except OSError:  # a file system without links; of two processes the later one wins there
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def temporaries(folder: Path) -> list[Path]:
    """The temporary files of `replacing` in a folder: in use, or left by a dead process."""
    return [path for path in folder.glob(".*") if _TEMPORARY.match(path.name)]


def make_folder(path: Path, below: Path | None = None) -> None:
    """Create a folder and its parents so that they survive a power cut.

    Raises OSError. below: folders below this one are made durable even if they exist: another
    process may just have created them. They must not be links of somebody else: raises UserError.
    """
    if below is not None:
        refuse_links(path, below)
    line = [path, *path.parents]
    absent = [folder for folder in line if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    ours = {made.parent for made in absent}
    shared = {folder for folder in line[1:] if below is not None and folder.is_relative_to(below)}
    for folder in ours:
        sync(folder)
    for folder in shared - ours:
        with suppress(PermissionError):  # whoever made it has synced it
            sync(folder)


def refuse_links(path: Path, below: Path) -> None:
    """Raise UserError if a folder below another one is a link that neither user nor root made.

    What is written into it could land anywhere.
    """
    for folder in (path, *path.parents):
        if folder == below or not folder.is_relative_to(below):
            return
        if folder.is_symlink() and folder.lstat().st_uid not in (0, os.geteuid()):
            what = f"is a link to {folder.readlink()} that another user made"
            hint = "remove it, or make it yourself"
            raise refusal(str(folder), what, "a folder, or a link of your own", hint)


def sync(path: Path) -> None:
    """Return once the content of a file, or the entries of a folder, survive a power cut.

    Raises OSError if the disk or its file system fails. It must not be retried then: the kernel
    reports a lost write only once.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        number = error.errno if error.errno in STORAGE_ERRORS else errno.EIO
        what = f"the disk or its file system cannot keep it safe (fsync: {error.strerror})"
        raise OSError(number, what, str(path)) from error
    finally:
        os.close(descriptor)


def sync_all(paths: Sequence[Path]) -> None:
    """Do the same for several at once: the disk then flushes once or twice instead of for each.

    Measured with six small files on a busy ext4 disk: 5 ms instead of 24 ms. Raises OSError.
    """
    with ThreadPoolExecutor(max_workers=max(1, min(len(paths), _AT_ONCE))) as pool:
        list(pool.map(sync, paths))


def storage_error(error: OSError, path: Path, hint: str = "") -> UserError:
    """Return one message that a file or folder cannot be written; `hint` is further advice.

    It is a DiskError if the folder is not the cause.
    """
    if error.errno in _FULL:
        first = "free some space there"
    elif error.errno == errno.EIO:
        first = "check the disk"
    else:
        first = "make the folder writable"
    where = str(error.filename2 or error.filename or path)
    what = f"cannot be written: {error.strerror or error}"
    kind = DiskError if error.errno in _FULL | {errno.EIO} else UserError
    return kind([Problem(where, what, None, f"{first}, {hint}" if hint else first)])


@contextmanager
def telling(path: Path, hint: str = "", *, only: frozenset[int] | None = None) -> Iterator[None]:
    """Raise the UserError of `storage_error` in place of an OSError; only: of these numbers."""
    try:
        yield
    except OSError as error:
        if only is not None and error.errno not in only:
            raise
        raise storage_error(error, path, hint) from error
