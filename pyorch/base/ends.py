"""How a program ends: by a signal, with nobody to read its output, or by a crash.

A signal ends a program at once, wherever it is: what it has finished lies under its name already,
what it has not is made again. So there is nothing to unwind, and no exception that some library
could swallow or print.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends a program from outside, with the exit code 128 + the number of the signal."""

GO_ON = "finished runs are kept; repeat the command to resume"

GRACE_S = 1.0
"""Between SIGTERM and SIGKILL for child processes."""

_CLOSED = frozenset({errno.EPIPE, errno.EBADF})
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class _Process:
    """What this process knows of its own end."""

    go_on: str = GO_ON
    received: int = 0  # the signal that ends it
    told: bool = False  # the person knows how to go on
    held: bool = False
    pending: bool = False
    ending: bool = False


_process = _Process()


def start(go_on: str = GO_ON) -> None:
    """Make the program end well from here on; call it as early as possible.

    go_on: how to go on after an interruption.
    """
    _process.go_on = go_on
    no_core_files()
    _open_standard_descriptors()
    sys.stdout = _stream(sys.stdout, 1)
    sys.stderr = _stream(sys.stderr, 2)
    for number in watched():
        signal.signal(number, _on_signal)
    atexit.register(_ignore_signals)


def watched() -> list[signal.Signals]:
    """The signals that end this process: without SIGHUP when nohup had it ignored.

    SIGINT counts also where a shell has a job in the background ignore it.
    """
    has_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in SIGNALS if number != signal.SIGHUP or not has_nohup]


def no_core_files() -> None:
    """Have a crash of this process or its children leave no core file in the current folder."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


# ---------------------------------------------------------------------------------------------
# Signals


def exit_code() -> int:
    """The exit code after an interruption, as shells give it: 128 + the number of the signal."""
    return 128 + (_process.received or signal.SIGINT)


def note(number: int) -> None:
    """Take note of a signal that somebody else handles."""
    _process.received = _process.received or number


def tell(text: str, file: TextIO | None = None) -> None:
    """Print how a program that was interrupted ended; it then says nothing else of that."""
    with _held():
        print(text, file=file, flush=True)
        _process.told = True


@contextlib.contextmanager
def _held() -> Iterator[None]:
    """Have signals wait for the end of the block."""
    _process.held = True
    try:
        yield
    finally:
        _process.held = False
    if _process.pending:
        _end()


def _on_signal(number: int, _frame: object) -> None:
    note(number)
    _process.pending = True
    if not _process.held:
        _end()


def _end() -> NoReturn:
    """Say how to go on, end all child processes, and leave. A second signal does not wait."""
    code = exit_code()
    if _process.ending:
        _end_children(0.0)
        os._exit(code)
    for stream in (sys.stdout, sys.stderr):
        # RuntimeError: the signal came in the middle of a write
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
            stream.flush()
    cause = signal.Signals(code - 128).name
    line = f"{_to_line_start()}interrupted ({cause}): {_process.go_on}\n"
    said = b"" if _process.told else line.encode()
    with contextlib.suppress(OSError):
        _process.ending = True  # Python handles no signal between this and the end of the write
        os.write(2, said)
    _end_children(GRACE_S)
    os._exit(code)


def _to_line_start() -> str:
    """What clears a line of progress on a terminal, and the ^C behind it."""
    return "\r\x1b[K" if os.isatty(2) else ""


def _end_children(grace_s: float) -> None:
    """End everything that this process has started, and what that has started."""
    if not _descendants():
        return
    with contextlib.suppress(Exception):  # those whose parent dies first become our children
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    kill_from = time.monotonic() + grace_s
    told: set[int] = set()
    while (alive := _descendants()) and time.monotonic() < kill_from + GRACE_S:
        kill = time.monotonic() >= kill_from
        processes = alive if kill else alive - told
        number = signal.SIGKILL if kill else signal.SIGTERM
        for process in processes:
            with contextlib.suppress(OSError):
                os.kill(process, number)
        told |= alive
        time.sleep(0.01)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> set[int]:
    """The living processes that this one has started, directly or not; none without /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = entry.read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.parent.name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process not in found:
                found.add(process)
                waiting.append(process)
    return found


def _ignore_signals() -> None:
    """Nothing is left to interrupt: Python only tidies up."""
    for number in watched():
        signal.signal(number, signal.SIG_IGN)


# ---------------------------------------------------------------------------------------------
# Output


class _Descriptor(io.FileIO):
    """A standard stream: what it does not take is dropped, and the reason kept."""

    failure: OSError | None = None
    is_needed = False

    def write(self, data: ReadableBuffer) -> int:
        """Write, or drop. Raises BrokenPipeError, once, when the program is of no use without."""
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
                if self.is_needed and error.errno == errno.EPIPE:
                    raise
        return memoryview(data).nbytes


def _open_standard_descriptors() -> None:
    """Open those that are closed, lest a file of results takes their number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null == number:
                os.set_inheritable(number, True)
            else:
                os.dup2(null, number)
                os.close(null)


def _stream(old: TextIO | None, number: int) -> TextIO:
    """A stream like the old one whose failures end nothing, and that takes every character."""
    if old is not None:
        with contextlib.suppress(OSError):
            old.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(number, "w", closefd=False)),
        encoding=getattr(old, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=number == 2 or bool(getattr(old, "line_buffering", False)),
        write_through=bool(getattr(old, "write_through", False)),
    )


def _standard_output() -> _Descriptor | None:
    """What lies under sys.stdout, unless this process was not started by `start`, or captures."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Descriptor) else None


@contextlib.contextmanager
def needing_output() -> Iterator[None]:
    """Have the block end by BrokenPipeError when nobody reads standard output any more."""
    output = _standard_output()
    if output is not None:
        output.is_needed = True
    try:
        yield
    finally:
        if output is not None:
            output.is_needed = False


def output_failure() -> str | None:
    """Why standard output could not be written, if it was not just closed."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    output = _standard_output()
    if output is None or output.failure is None or output.failure.errno in _CLOSED:
        return None
    return output.failure.strerror
