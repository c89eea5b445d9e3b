"""Run CMake and Ninja: progress for the user, a full log, the first error."""

import errno
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pyorch.base.errors import refusal
from pyorch.base.files import storage_error
from pyorch.base.units import duration

#: Where there is no terminal, a line of progress comes so often [s].
SILENCE_S = 30.0

#: How much of the compiler's output a message shows; the log has the rest.
SHOWN_LINES = 12

#: Variables by which the user's environment would affect the compiler, and so the results.
_FLAG_VARIABLES = ("CXXFLAGS", "CPPFLAGS", "CFLAGS")

#: If less space than this is left on the disk, a failed step is attributed to that.
_NO_ROOM_BYTES = 100_000

_PROGRESS = re.compile(r"^\[(?P<done>\d+)/(?P<total>\d+)\] (?P<what>.*)$")
# Not just "error": Ninja repeats the failed command, whose file names may contain that word.
_ERROR = re.compile(
    r": (fatal |internal compiler )?error: |: undefined reference |: multiple definition "
    r"|^CMake Error|^ninja: (error|fatal)|: No space left on device"
)


@dataclass
class Log:
    """The log of one build: each step is run, its output shown (unless quiet) and appended.

    clock: wall time [s].
    """

    file: Path
    quiet: bool
    started: bool = False
    warnings: int = 0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self._shown = self.clock()

    def run(self, step: str, command: Sequence[str]) -> None:
        """Run one step. Raises UserError with the first error lines if it fails."""
        lines: list[str] = []
        with self.file.open("a" if self.started else "w", encoding="utf-8") as log:
            self.started = True
            log.write(f"$ {' '.join(command)}\n")
            kept = {
                name: value for name, value in os.environ.items() if name not in _FLAG_VARIABLES
            }
            process = subprocess.Popen(
                command,
                env={**kept, "LC_ALL": "C", "NINJA_STATUS": "[%f/%t] "},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            with process:
                for line in process.stdout or ():
                    log.write(line)
                    lines.append(line.rstrip("\n"))
                    self.warnings += ": warning: " in line
                    self._show(lines[-1])
        if not self.quiet and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        if process.returncode != 0:
            self._fail(step, lines)

    def _show(self, line: str) -> None:
        """Show a line of progress: in its place on a terminal, now and then elsewhere."""
        match = _PROGRESS.match(line)
        if not match or self.quiet:
            return
        now = self.clock()
        if sys.stderr.isatty():
            name = Path(match["what"]).name.removesuffix(".o")
            text = f"build: {match['done']}/{match['total']} {name}"
            print(f"\r\x1b[K{text[:79]}", end="", file=sys.stderr, flush=True)
        elif now - self._shown >= SILENCE_S:
            self._shown = now
            took = duration(now - self._began)
            text = f"build: {match['done']} of {match['total']} files, {took}"
            print(text, file=sys.stderr, flush=True)

    def _fail(self, step: str, lines: Sequence[str]) -> NoReturn:
        if shutil.disk_usage(self.file.parent).free < _NO_ROOM_BYTES:  # CMake does not notice
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.file.parent))
            raise storage_error(full, self.file.parent)
        unlisted = next((line for line in lines if "not listed in" in line), None)
        what = (
            "CMake could not configure the modules"
            if step == "configure"
            else "the modules do not compile"
        )
        hint = "correct the source and repeat the command"
        if unlisted is not None:
            hint = "python -m pyorch.build.lists lists them"
        shown = "\n".join(first_errors(lines))
        raise refusal("ns3-modules", f"{what}:\n{shown}", hint=f"{hint}; full log: {self.file}")


def first_errors(lines: Sequence[str]) -> list[str]:
    """Return the lines from the first error on, or the last ones if none looks like an error."""
    errors = (number for number, line in enumerate(lines) if _ERROR.search(line))
    first = next(errors, max(0, len(lines) - SHOWN_LINES))
    return [line for line in lines[first:] if not _PROGRESS.match(line)][:SHOWN_LINES]
