"""Reading a run's log.txt: what the run noted about itself, and why it failed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

NOTE = "# "
"""How lines begin in which a run notes something about the machine and the time."""

TAIL_LINES = 15
STACK_FRAMES = 6
_FRAME_WIDTH = 160
_TAIL_BYTES = 262_144

# what cppyy's signal handler prints before a stack trace of a hundred lines
_BREAK = "*** Break ***"

# what ns-3 prints when it aborts (NS_ABORT_*, NS_ASSERT*, NS_FATAL_ERROR)
_ABORT = re.compile(
    r'(?P<head>(?:aborted\. |NS_ASSERT failed, )?(?:cond=".*?"?, )?)(?:msg="(?P<message>.*?)", )?'
    r'(?P<when>[^\n"]*)file=(?P<file>\S+), line=(?P<line>\d+)\nNS_FATAL, terminating\n?'
    r"(?:terminate called without an active exception\n?)?",
    re.DOTALL,
)
# and the C++ library for an exception that nobody catches
_UNCAUGHT = re.compile(
    r"terminate called after throwing an instance of '(?P<type>.*)'\n"
    r"  what\(\):  (?P<message>.*)\n?"
)


def read_notes(log: Path) -> dict[str, str]:
    """The notes of a run: "# name: value" lines. Raises OSError when there is no log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    notes = (line.removeprefix(NOTE).partition(": ") for line in lines if line.startswith(NOTE))
    return {name: value for name, _, value in notes}


def log_tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log without the notes; empty when there is none.

    Of a crash: first why the simulator aborted, if it said so, then the last lines before it, and
    the innermost frames of the C++ modules.
    """
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    before, crash, trace = text.partition(_BREAK)
    reason, before = _reason(before)
    last = [line for line in before.rstrip().splitlines() if not line.startswith(NOTE)]
    frames = _frames(trace.splitlines()) if crash else []
    return "\n".join([*reason, *last[-lines:], *frames]).strip()


def _reason(text: str) -> tuple[list[str], str]:
    """Why the simulator aborted, and the text without that; nothing when it did not."""
    found = _ABORT.search(text) if "NS_FATAL" in text else None
    if found is not None:
        where = f"{found['when']}{Path(found['file']).name}:{found['line']}"
        reason = [*(found["message"] or "").splitlines(), f"({found['head']}{where})"]
    else:
        found = _UNCAUGHT.search(text)
        if found is None:
            return [], text
        reason = [found["message"], f"(an exception of the type {found['type']})"]
    return reason, text[: found.start()] + text[found.end() :]


def _frames(trace: Sequence[str]) -> list[str]:
    """The innermost frames that are in ns-3 or in the modules, each in one line."""
    frames = [line for line in trace if line.startswith("#") and " ns3::" in line]
    return [frame[:_FRAME_WIDTH] for frame in frames[:STACK_FRAMES]]
