"""Writing files so that nobody ever reads half of one, and what to say when the disk refuses."""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path

from pyorch.errors import Problem, UserError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

STORAGE_ERRORS = _FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR}
"""What the disk or its folders, not the program, are to blame for."""

RESULTS_HINT = (
    "or set PYORCH_RESULTS to another folder; the same command then goes on with what is missing"
)
"""What else helps when it is results that cannot be written."""


def write_atomically(path: Path, text: str) -> None:
    """Write a text file that appears under its name complete or not at all. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def storage_error(error: OSError, path: Path, hint: str = "") -> UserError:
    """Say in one message that a file or folder cannot be written; `hint` is what else may help."""
    first = "free some space there" if error.errno in _FULL else "make the folder writable"
    where = str(error.filename or path)
    what = f"cannot be written: {error.strerror or error}"
    return UserError([Problem(where, what, None, f"{first}, {hint}" if hint else first)])
