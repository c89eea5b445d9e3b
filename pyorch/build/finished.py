"""Finished builds: made aside, committed by one rename, never changed, kept while in use.

A profile's folder, build/PROFILE, contains the folder in which CMake and Ninja compile, and one
folder for each finished build. A process holds a shared lock on each build that it uses; deleting
one needs the exclusive lock.
"""

import fcntl
import filecmp
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyorch.base.files import sync, sync_all, write_atomically

#: The file in a finished build that contains its BuildInfo.
STAMP = "build.json"
#: The modules in a finished build, one a line: name, file, libraries it links.
MODULES = "modules.txt"
#: In a profile's folder: a lock held by the process that compiles there.
LOCK = ".lock"
#: In a finished build: a lock held by the processes that use it.
IN_USE = "in-use"

_ASIDE = ".new-"
_GONE = ".gone-"

#: The locks of this process, by folder. They end with it and its forks.
_held: dict[Path, int] = {}


def hold(folder: Path) -> bool:
    """Prevent others from deleting a build for the lifetime of this process.

    Returns False if it no longer exists, or is being deleted. If the file system cannot lock,
    nothing is held, and `remove` deletes nothing.
    """
    file = folder / IN_USE
    if folder in _held and _is_at(_held[folder], file):
        return True
    try:
        lock = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return folder.is_dir()
    with suppress(OSError):
        os.utime(file)  # records when it was last used
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    except OSError:
        os.close(lock)
        return True
    before, _held[folder] = _held.get(folder), lock
    if before is not None:
        os.close(before)
    return _is_at(lock, file)  # otherwise it was deleted between the two steps


def remove(folder: Path) -> bool:
    """Delete a build; False if a running process uses it. Raises OSError."""
    try:
        lock = os.open(folder / IN_USE, os.O_RDWR | os.O_CLOEXEC)  # NFS requires it to be writable
    except FileNotFoundError:
        delete(folder)
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        delete(folder)
        return True
    finally:
        os.close(lock)


def delete(folder: Path) -> None:
    """Remove a folder at once by renaming it, if there is one, then delete its content."""
    gone = folder.with_name(f"{_GONE}{uuid.uuid4().hex}")
    with suppress(FileNotFoundError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)  # the next build deletes what is left


def builds_in(profile: Path) -> list[Path]:
    """The finished builds of a profile, the last used first."""

    def last_use(build: Path) -> float:
        try:
            return (build / IN_USE).stat().st_mtime
        except OSError:
            return 0.0

    return sorted((stamp.parent for stamp in profile.glob(f"[!.]*/{STAMP}")), key=last_use)[::-1]


def tidy(profile: Path) -> None:
    """Delete what killed processes left behind. The caller holds the profile's lock."""
    for pattern in (f"{_ASIDE}*", f"{_GONE}*"):
        for folder in (*profile.glob(pattern), *profile.glob(f"*/{pattern}")):
            shutil.rmtree(folder, ignore_errors=True)


def clean(root: Path, needed: Mapping[Path, str]) -> list[tuple[Path, str]]:
    """Delete all results of compilation below a folder, except those in use.

    needed: builds to keep although no process holds them, and why. Returns what was kept, and why.
    Raises OSError.
    """
    kept: list[tuple[Path, str]] = []
    for entry in sorted(root.iterdir()):
        if not (entry / LOCK).is_file():
            _discard(entry)
            continue
        try:
            with compiling(entry):
                kept += _clean_profile(entry, needed)
        except BlockingIOError:
            kept.append((entry, "another process compiles there"))
    if not kept:
        root.rmdir()
    return kept


def _clean_profile(profile: Path, needed: Mapping[Path, str]) -> list[tuple[Path, str]]:
    kept = {build: needed[build] for build in builds_in(profile) if build in needed}
    for build in builds_in(profile):
        if build not in kept and not remove(build):
            kept[build] = "a running process uses it"
    for entry in profile.iterdir():
        if entry not in kept and entry.name != LOCK:
            _discard(entry)
    if not kept:
        shutil.rmtree(profile)
    return sorted(kept.items())


def _discard(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


@contextmanager
def made_aside(folder: Path) -> Iterator[Path]:
    """Make a folder that appears under its name complete or not at all, and survives a power cut.

    An existing folder of that name is incomplete, and is replaced. Raises OSError. The caller holds
    the lock of the profile.
    """
    new = folder.with_name(f"{_ASIDE}{uuid.uuid4().hex}")
    new.mkdir()
    try:
        yield new
        (new / IN_USE).touch()
        _make_durable(new)
        delete(folder)
        new.rename(folder)
        sync(folder.parent)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def place(files: Mapping[str, Path], new: Path, known: Path | None = None) -> None:
    """Copy files into a new build, by their names in it, read-only.

    known: an earlier build. Files that it already has, byte for byte, are linked, since files of
    finished builds never change. Raises OSError.
    """
    for name, source in files.items():
        target = new / name
        target.parent.mkdir(parents=True, exist_ok=True)
        twin = known / name if known else None
        if twin is not None and _is_same(twin, source) and _link(twin, target):
            continue
        shutil.copyfile(source, target)
        target.chmod(0o555 if os.access(source, os.X_OK) else 0o444)


def _is_same(first: Path, second: Path) -> bool:
    try:
        return filecmp.cmp(first, second, shallow=False)
    except OSError:
        return False


def _link(source: Path, target: Path) -> bool:
    try:
        target.hardlink_to(source)
    except OSError:  # the file system has no hard links, or too many
        return False
    return True


def read_stamp(folder: Path) -> dict[str, Any] | None:
    """Return what describes a finished build; None if there is none."""
    try:
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) and "compiler" in stamp else None


def write_stamp(new: Path, info: Mapping[str, Any], compiler: str) -> None:
    """Describe a new build, with the sizes of all its files. Raises OSError."""
    names = [str(path.relative_to(new)) for path in sorted(new.rglob("*")) if path.is_file()]
    sizes = {name: (new / name).stat().st_size for name in names}
    content = {"info": info, "compiler": compiler, "files": sizes}
    write_atomically(new / STAMP, json.dumps(content, indent=1) + "\n")


@contextmanager
def compiling(profile: Path, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock of a profile's folder while compiling there.

    say: gets a message if there is a wait. Without it: raises BlockingIOError instead of waiting.
    """
    lock = -1
    while lock < 0:
        profile.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # `clean` intervened
            lock = _try_lock(profile / LOCK, say)
    try:
        yield
    finally:
        os.close(lock)


def _try_lock(file: Path, say: Callable[[str], None] | None) -> int:
    """Lock a file; -1 if it was deleted while this process waited for it."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if say is None:
                raise
            say("another process is compiling, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_at(lock, file):
            return lock
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return -1


def _is_at(descriptor: int, file: Path) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False


def _make_durable(folder: Path) -> None:
    """Make a folder and its content survive a power cut. Raises OSError."""
    sync_all([Path(parent, name) for parent, _, names in os.walk(folder) for name in (*names, ".")])
