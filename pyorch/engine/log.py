"""Reading a run's log.txt: the run's notes, and why it failed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

NOTE = "# "
"""Prefix of lines in which a run records facts about the machine and the time."""

TAIL_LINES = 15
STACK_FRAMES = 6
_FRAME_WIDTH = 160
# "/path/libx.so(_ZN3ns38lossless4Port4SendEv+0x1f)[0x7f00]": a function of ns-3 or of the modules
_FRAME = re.compile(r"(?P<file>.*)\((?P<function>_Z\w*3ns3\w*)\+(?P<offset>0x[0-9a-f]+)\)\[\w+\]")
_TAIL_BYTES = 262_144
FRAME = "in ns3::"
"""How a line about a function of ns-3 or of the modules begins."""

# printed by the facade's ReportCrashes before the functions
_CRASH = "*** Crash, the innermost function first:\n"

# printed by ns-3 when it aborts (NS_ABORT_*, NS_ASSERT*, NS_FATAL_ERROR)
_ABORT = re.compile(
    r'(?P<head>(?:aborted\. |NS_ASSERT failed, )?(?:cond=".*?"?, )?)(?:msg="(?P<message>.*?)", )?'
    r'(?P<when>[^\n"]*)file=(?P<file>\S+), line=(?P<line>\d+)\nNS_FATAL, terminating\n?'
    r"(?:terminate called without an active exception\n?)?",
    re.DOTALL,
)
# and by the C++ library for an uncaught exception
_UNCAUGHT = re.compile(
    r"terminate called after throwing an instance of '(?P<type>.*)'\n"
    r"  what\(\):  (?P<message>.*)\n?"
)


def read_notes(log: Path) -> dict[str, str]:
    """The notes of a run: "# name: value" lines. Raises OSError if there is no log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    notes = (line.removeprefix(NOTE).partition(": ") for line in lines if line.startswith(NOTE))
    return {name: value for name, _, value in notes}


def log_tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log without the notes; empty if there is none.

    For a crash: first the simulator's reason for the abort, if any, then the last lines before it,
    and the innermost frames of the C++ modules.
    """
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    before, crash, trace = text.partition(_CRASH)
    reason, before = _reason(before)
    last = [line for line in before.rstrip().splitlines() if not line.startswith(NOTE)]
    frames = _frames(trace.splitlines()) if crash else []
    return "\n".join([*reason, *last[-lines:], *frames]).strip()


def _reason(text: str) -> tuple[list[str], str]:
    """Why the simulator aborted, and the text without that; empty if it did not."""
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
    """The innermost functions of ns-3 or of the modules, if any, else of others, one a line."""
    found = [frame for frame in map(_FRAME.fullmatch, trace) if frame is not None][:STACK_FRAMES]
    if not found:  # the first two are the handler and the system's frame for signals
        return [line[:_FRAME_WIDTH] for line in trace[2 : 2 + STACK_FRAMES]]
    names = _readable([frame["function"] for frame in found])
    return [
        f"in {name} + {frame['offset']} of {Path(frame['file']).name}"[:_FRAME_WIDTH]
        for name, frame in zip(names, found, strict=True)
    ]


def _readable(functions: Sequence[str]) -> list[str]:
    """Names of C++ functions as in the source; without a demangler, as in the linker."""
    program = shutil.which("c++filt")
    if program is None:
        return list(functions)
    lines = "\n".join(functions)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else list(functions)
