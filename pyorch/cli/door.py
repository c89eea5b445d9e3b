"""Which program a person called: messages name the commands of that one."""

from __future__ import annotations

import re
import sys

PYORCH = "pyorch"
_RENAMED = {"experiment": "run"}
_VERBS = (
    *("experiment", "list", "show", "report", "trace", "submit", "status", "cancel", "collect"),
    *("compare", "minimise", "prevent", "goal", "timeline", "build", "schema", "schemes", "size"),
    *("new-scheme", "init"),
)
_CALL = re.compile(rf"\binvoke (?P<verb>{'|'.join(_VERBS)})\b")

_program = "invoke"


def enter(program: str) -> None:
    """Say which program this is."""
    global _program  # noqa: PLW0603 (one process is one program)
    _program = program


def keep_bytecode() -> None:
    """Let Python keep what it compiles of our files, as it does unless a person forbids it.

    Invoke forbids it to every program, and each command would compile a hundred files again.
    """
    sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)


def spoken(text: str) -> str:
    """Return a text that names commands of invoke, with those of the program that was called."""
    if _program != PYORCH:
        return text
    return _CALL.sub(lambda call: f"{PYORCH} {_RENAMED.get(call['verb'], call['verb'])}", text)


def say(text: str) -> None:
    """Print a text that names commands."""
    print(spoken(text))
