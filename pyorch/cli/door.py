"""Which program a person called: messages name the commands of that one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from pyorch.paths import RENAMED

PYORCH = "pyorch"
_CALL = re.compile(r"\binvoke (?P<verb>[a-z][a-z-]*)\b")

_program = "invoke"
_verbs = {"init"}


def enter(program: str) -> None:
    """Say which program this is."""
    global _program  # noqa: PLW0603 (one process is one program)
    _program = program


def know(verbs: Iterable[str]) -> None:
    """Say which verbs both doors have."""
    _verbs.update(verbs)


def keep_bytecode() -> None:
    """Let Python keep what it compiles of our files, as it does unless a person forbids it.

    Invoke forbids it to every program, and each command would compile a hundred files again.
    """
    sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)


def spoken(text: str) -> str:
    """Return a text that names commands of invoke, with those of the program that was called."""
    if _program != PYORCH:
        return text

    def ours(call: re.Match[str]) -> str:
        verb = call["verb"]
        return f"{PYORCH} {RENAMED.get(verb, verb)}" if verb in _verbs else call[0]

    return _CALL.sub(ours, text)


def say(text: str) -> None:
    """Print a text that names commands."""
    print(spoken(text))
