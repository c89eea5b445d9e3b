"""Which program was called, `invoke` or `pyorch`: messages name its commands."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from pyorch.base.paths import RENAMED

PYORCH = "pyorch"
_CALL = re.compile(r"\binvoke (?P<verb>[a-z][a-z-]*)\b")

_program = "invoke"
_verbs = {"init"}


def enter(program: str) -> None:
    """Set which program this is."""
    global _program  # noqa: PLW0603 (one process is one program)
    _program = program


def know(verbs: Iterable[str]) -> None:
    """Set the verbs that both programs have."""
    _verbs.update(verbs)


def keep_bytecode() -> None:
    """Let Python cache the compiled form of our files, unless the user forbids it.

    Invoke forbids it for every program, so that each command would compile a hundred files again.
    """
    sys.dont_write_bytecode = bool(sys.flags.dont_write_bytecode)


def spoken(text: str) -> str:
    """Return a text with commands of invoke replaced by those of the program that was called."""
    if _program != PYORCH:
        return text

    def ours(call: re.Match[str]) -> str:
        verb = call["verb"]
        return f"{PYORCH} {RENAMED.get(verb, verb)}" if verb in _verbs else call[0]

    return _CALL.sub(ours, text)


def say(text: str) -> None:
    """Print a text that names commands."""
    print(spoken(text))
