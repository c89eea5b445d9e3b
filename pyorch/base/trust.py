"""Whose code runs: what somebody else may have written runs only if its user trusts it.

Kinds, figures, C++ modules and the shell lines of slurm.toml are code, and a pyorch.toml decides
which of them count. A file of these runs if nobody but its user and root could have written it.
Any other needs `pyorch trust PATH`, which notes its path and the digest of its content in a file of
this user: once it changes, the decision no longer holds.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from pyorch.base.errors import refusal
from pyorch.base.files import make_folder, replacing, telling

INHERITED = "PYORCH_TRUSTED"
"""In the environment of a job: digests of what the user who submitted it trusts."""
PROJECT_FILE = "pyorch.toml"
"""Makes a folder a project, with the experiments and modules of the package beside its own."""
SITE_FILE = "slurm.toml"
"""Settings of a site for submissions, in a project or in the user's own configuration."""

_CODE = (".py", ".cc", ".h", ".cmake", ".txt")
_SKIPPED = frozenset({"results", "build", "__pycache__"})
_ALLOWED = "files of your own or of root, in folders that nobody else may change"

_used: set[str] = set()


def vouch(files: Iterable[Path], named: Path | None = None, content: bytes | None = None) -> None:
    """Raise UserError for the first file that somebody else may have written, unless it is trusted.

    named: the file or folder to trust, by default the file. content: what was read of the file.
    """
    known: dict[str, str] = {}
    for file in files:
        why = _stranger(file, known)
        if why and not _is_trusted(file, content):
            if os.path.realpath(file) in _decisions():
                why = f"has changed since you trusted it ({why})"
            hint = f"read it, and if you trust it: pyorch trust {shlex.quote(str(named or file))}"
            raise refusal(str(file), f"is not used: {why}", _ALLOWED, hint)


def decide(place: Path) -> dict[Path, str]:
    """Trust all code in a file or folder as it is now.

    Returns why each file that needs this may be somebody else's; the others are not noted. Raises
    UserError if there is no such place, a file cannot be read, or the decision cannot be noted.
    """
    if not (_is_file(place) or os.path.isdir(place)):  # noqa: PTH112 (names that are too long)
        is_other = os.path.lexists(place)
        what = "is neither a file nor a folder" if is_other else "there is no such file or folder"
        raise refusal(str(place), what)
    known: dict[str, str] = {}
    reasons = {file: _stranger(file, known) for file in _code_in(place)}
    found = {file: why for file, why in reasons.items() if why}
    if found:
        decisions = {**_decisions(), **{os.path.realpath(file): _digest(file) for file in found}}
        _note(decisions)
    return found


def execute(module: str, file: str, text: str) -> ModuleType:
    """Run the text of a file of code as a module of that name, and return it.

    Not from the file, beside which a compiled form might be that of something else.
    """
    made = ModuleType(module)
    made.__file__ = file
    sys.modules[module] = made  # where pydantic looks up the names of annotations
    exec(compile(text, file, "exec"), made.__dict__)  # noqa: S102 (a person's own code, by choice)
    return made


def inherited() -> str:
    """What a job needs in $PYORCH_TRUSTED so as to run what this process was allowed to."""
    return ":".join(sorted(_used))


def _stranger(file: Path, known: dict[str, str]) -> str:
    """Say who else may have written a file; "" if nobody.

    known: what was found of files and folders so far.
    """
    path = str(file.absolute())
    return _stranger_on(path, known).removeprefix(f"{path} ")


def _stranger_on(path: str, known: dict[str, str]) -> str:
    """Look at all that decides what a path leads to: folders above it and links, too."""
    if path in known:
        return known[path]
    known[path] = ""  # of links in a circle the first decides
    above = os.path.dirname(path)  # noqa: PTH120 (Path takes thrice the time)
    try:
        found = os.lstat(path)
    except OSError:  # nothing is there to run; who may put something there is asked above
        found = None
    why = _stranger_at(path, found) if found else ""
    if why:
        why = f"{path} {why}"
    elif above != path:
        why = _stranger_on(above, known)
    if found and not why and stat.S_ISLNK(found.st_mode):
        why = _stranger_on(str(Path(above, Path(path).readlink())), known)
    known[path] = why
    return why


def _stranger_at(path: str, found: os.stat_result) -> str:
    if found.st_uid not in _owners():
        return f"belongs to {_user(found.st_uid)}"
    is_link, is_sticky = stat.S_ISLNK(found.st_mode), found.st_mode & stat.S_ISVTX
    if is_link or (is_sticky and stat.S_ISDIR(found.st_mode)):
        return ""  # only its owner may replace what lies in a folder with the sticky bit
    if found.st_mode & ~_program().st_mode & stat.S_IWOTH:
        return "may be changed by everybody"
    if not found.st_mode & stat.S_IWGRP or _is_shared_program(found.st_gid):
        return ""
    if not _is_private(found.st_gid):
        return f"may be changed by the group {_group(found.st_gid)}"
    return "may be changed by those in its access control list" if _has_list(path) else ""


def _has_list(path: str) -> bool:
    """Whether the mode of its group stands for an access control list, as set by `setfacl`."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except (OSError, AttributeError):  # a file system or a system without
        return False


@cache
def _program() -> os.stat_result:
    """This file: whoever may write it needs no other."""
    return Path(__file__).stat()


def _is_shared_program(gid: int) -> bool:
    program = _program()
    return bool(program.st_mode & stat.S_IWGRP) and program.st_gid == gid


@cache
def _owners() -> frozenset[int]:
    """The users whose files run: this one, root, and the owner of this program.

    Root has another number where it is not known, as in some containers: that of the owner of /.
    """
    return frozenset({os.geteuid(), 0, Path("/").stat().st_uid, _program().st_uid})


@cache
def _is_private(gid: int) -> bool:
    """Whether a group is that of one such user alone: named after the user, without others."""
    try:
        group = grp.getgrgid(gid)
        user = pwd.getpwnam(group.gr_name)
    except KeyError:
        return False
    alone = user.pw_gid == gid and set(group.gr_mem) <= {user.pw_name}
    return alone and user.pw_uid in _owners()


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _is_trusted(file: Path, content: bytes | None) -> bool:
    digest = _digest(file) if content is None else hashlib.sha256(content).hexdigest()
    inherited = digest in os.environ.get(INHERITED, "").split(":")
    if inherited or _decisions().get(os.path.realpath(file)) == digest:
        _used.add(digest)
        return True
    return False


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise refusal(str(file), f"cannot be read: {error.strerror}") from error


def _is_file(path: Path) -> bool:
    """Whether something can be read: not a link to nothing, as editors make, nor a FIFO."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file raises on names that are too long)


def _code_in(place: Path) -> Iterator[Path]:
    """Everything in a file or folder that could run, or that decides what runs."""
    if not place.is_dir():
        yield place
        return
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(n for n in folders if n not in _SKIPPED and not n.startswith("."))
        for name in sorted(names):
            is_code = name.endswith(_CODE) or name in (PROJECT_FILE, SITE_FILE)
            if is_code and _is_file(Path(folder, name)):
                yield Path(folder, name)


def _file() -> Path:
    """Where a user's decisions are noted."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    return Path(home) / "pyorch" / "trust.json"


def _decisions() -> Mapping[str, str]:
    """Digests by path; none if the file may be somebody else's. Raises UserError."""
    file = _file()
    try:
        if _stranger(file, {}):
            return {}
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        hint = "delete it, and trust again what you need"
        raise refusal(str(file), f"cannot be read: {error}", hint=hint) from error


def _note(decisions: Mapping[str, str]) -> None:
    file = _file()
    with telling(file):
        make_folder(file.parent)
        with replacing(file) as temporary:
            temporary.touch(0o600)
            text = json.dumps(decisions, indent=1, sort_keys=True, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")
    if why := _stranger(file, {}):
        hint = "set XDG_CONFIG_HOME to a folder that only you may change"
        raise refusal(str(file), f"is not read: {why}", _ALLOWED, hint)
