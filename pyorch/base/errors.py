"""Error messages for users: what is wrong, where, what is allowed, and what to do."""

from __future__ import annotations

import difflib
import itertools
import linecache
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import TracebackType
from typing import Any

SHOWN_PROBLEMS = 50
"""Problems that are shown of one input."""
MAX_WHERE, MAX_TEXT = 300, 1000
"""Characters of a place and of a line of other text above which its middle is left out."""
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(text: str, longest: int = MAX_TEXT) -> str:
    """Return a text suitable for a terminal: without control characters, no line too long."""
    lines = [_clip(line, longest) for line in text.split("\n")]
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), "\n".join(lines))


def _clip(line: str, longest: int) -> str:
    """Leave out the middle of a long line."""
    left = len(line) - longest
    half = longest // 2
    return f"{line[:half]} ... ({left} characters) ... {line[-half:]}" if left > 0 else line


def quoted(value: object) -> str:
    """Return a value as quoted in messages: its repr, also if Python refuses to create it."""
    try:
        return shown(repr(value), MAX_WHERE)
    except ValueError:
        return "a number with thousands of digits"
    except Exception:  # of somebody else's class
        return f"an object of {type(value).__qualname__}"


_MAX_NAME, _MAX_NAMES = 100, 2000
MOST_NEAREST = 8
"""Names that are suggested instead of a misspelt one."""
_MAX_CALLS = 4
"""Calls of a traceback that are shown at each of its ends."""


@dataclass(frozen=True)
class Problem:
    """An error in an input.

    where: file, key path or command-line option; what: the value found; allowed: accepted values;
    hint: what to do about it. The last two are optional.
    """

    where: str
    what: str
    allowed: str | None = None
    hint: str | None = None

    def inside(self, file: str) -> Problem:
        """Return the same problem with its location inside a file."""
        return replace(self, where=f"{file}: {self.where}" if self.where else file)

    def render(self) -> str:
        """Return the problem as indented lines of text without a final newline."""
        where = shown(self.where, MAX_WHERE).replace("\n", "\\n")  # a name may be many lines
        lines = [f"{where}: {shown(self.what)}"]
        if self.allowed:
            lines.append(f"    allowed: {shown(self.allowed)}")
        if self.hint:
            lines.append(f"    hint: {shown(self.hint)}")
        return "\n".join(lines)


class UserError(Exception):
    """Invalid user input: all problems found in it, at least one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        if not problems:
            raise ValueError("a UserError needs at least one problem")
        super().__init__(problems)
        self.problems: tuple[Problem, ...] = tuple(problems)

    def render(self) -> str:
        """Return the problems, with their number if there are several.

        Of very many only the first are shown: the others are usually of the same kind.
        """
        lines = [problem.render() for problem in self.problems[:SHOWN_PROBLEMS]]
        left = len(self.problems) - len(lines)
        if left:
            lines.append(f"... and {left} more")
        if len(self.problems) > 1:
            lines.append(f"{len(self.problems)} problems")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()


def refusal(
    where: str, what: str, allowed: str | None = None, hint: str | None = None
) -> UserError:
    """Return an error with a single problem, whose fields these are."""
    return UserError([Problem(where, what, allowed, hint)])


def describe_defect(error: BaseException) -> str:
    """Return an unexpected exception as one line: its type and message, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{place}"


class OwnCodeError(UserError):
    """An exception in a kind, or a function of a figure, that is not of this package."""


def is_of_others(code: type | Callable[..., Any]) -> bool:
    """Whether a class or function is not of this package."""
    return _package(code.__module__) != _package(__name__)


@contextmanager
def code_of(
    code: type | Callable[..., Any],
    what: str,
    hint: str | None = None,
    passing: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """Report an exception in somebody else's class or function as an OwnCodeError.

    It names the line where it was raised and the calls in that code alone. what: is at work, such
    as "metric 'late'". passing: exceptions that the caller expects. Those in code of this package
    are its own defects and stay what they are.
    """
    expected: tuple[type[Exception], ...] = (OwnCodeError, MemoryError, *passing)
    try:
        yield
    except expected:
        raise
    except Exception as error:
        if not is_of_others(code):
            raise
        calls = _calls_in(_package(code.__module__), error.__traceback__)
        where = f"{calls[-1].filename}:{calls[-1].lineno}: {what}" if calls else what
        where += f" ({code.__qualname__})"
        if isinstance(error, UserError):
            problems = [problem.inside(where) for problem in error.problems]
        else:
            problems = [Problem(where, _told(error, calls), None, hint)]
        raise OwnCodeError(problems) from error


def defect_of(module: str, error: BaseException, where: str) -> Problem:
    """Return an exception that somebody else's module raised when it was loaded, as a problem.

    It names the lines of that module alone, the innermost last; where it has none, the place where
    it was raised. where: the file or package.
    """
    calls = _calls_in(_package(module), error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        linecache.checkcache(error.filename)
        line = linecache.getline(error.filename, error.lineno).strip()
        at = f"    {PurePath(error.filename).name}:{error.lineno}: {line}".rstrip(": ")
        return Problem(
            where, "\n".join([f"{type(error).__name__}: {error.msg}", *_lines(calls), at])
        )
    return Problem(where, _told(error, calls) if calls else describe_defect(error))


def _told(error: BaseException, calls: Sequence[traceback.FrameSummary]) -> str:
    """An exception, and below it calls that led to it."""
    return "\n".join([f"{type(error).__name__}: {error}", *_lines(calls)])


def _lines(calls: Sequence[traceback.FrameSummary]) -> list[str]:
    """Calls as lines: of many, as of a recursion without an end, the first and the last."""
    lines = [f"    {c.filename}:{c.lineno}, in {c.name}: {c.line}" for c in calls]
    more = len(lines) - 2 * _MAX_CALLS
    if more <= 1:
        return lines
    return [*lines[:_MAX_CALLS], f"    ... {more:,} more calls", *lines[-_MAX_CALLS:]]


def _package(module: str) -> str:
    return module.partition(".")[0]


def _calls_in(package: str, trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the calls of a traceback that are in the code of a package, the innermost last."""
    calls = []
    for frame, line in traceback.walk_tb(trace):
        if _package(frame.f_globals.get("__name__", "")) == package:
            file = frame.f_code.co_filename
            linecache.checkcache(file)  # in a notebook it may have been edited since
            text = linecache.getline(file, line, frame.f_globals).strip()
            name = PurePath(file).name  # no folder of this machine
            calls.append(traceback.FrameSummary(name, line, frame.f_code.co_name, line=text))
    return calls


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean 'x'?" with the known name closest to a misspelt one, or None."""
    return did_you_mean(nearest(name, known, 1))


def did_you_mean(names: Sequence[str]) -> str | None:
    """Return "did you mean 'x', 'y' or 'z'?", or None without a name."""
    if not names:
        return None
    *others, last = map(repr, names)
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"


def nearest(name: str, known: Iterable[str], most: int = MOST_NEAREST) -> list[str]:
    """Return the known names closest to a misspelt one, the closest first, at most so many.

    Case, '-' and '_' are ignored, and so may be the folder of "folder/name". Among thousands of
    names none is searched for.
    """
    candidates = list(itertools.islice(known, _MAX_NAMES + 1))
    if len(candidates) > _MAX_NAMES:
        return []  # it would take seconds to fold and compare them
    by_form: dict[str, list[str]] = {}
    for candidate in candidates:
        for form in {fold(candidate), fold(candidate.rpartition("/")[2])}:
            by_form.setdefault(form, []).append(candidate)
    if len(name) > _MAX_NAME or len(by_form) > _MAX_NAMES:
        return []
    wanted = fold(name)
    close = difflib.get_close_matches(wanted, by_form, n=most, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, wanted, form).ratio() for form in close]
    close = [one for one, like in zip(close, likeness, strict=True) if like > likeness[0] - 0.3]
    return list(dict.fromkeys(one for form in close for one in by_form[form]))[:most]


def fold(name: str) -> str:
    """Return a name in lower case without '-' and '_', to compare spellings."""
    return name.lower().replace("-", "").replace("_", "")


def first_of(items: Iterable[object], most: int) -> str:
    """Return the first of some items as one line, with "..." if there are more; "" for none."""
    first = list(itertools.islice(items, most + 1))
    return ", ".join(map(str, first[:most])) + (", ..." if len(first) > most else "")


def one_of(names: Iterable[str], limit: int = 40) -> str:
    """Return names as one line for `Problem.allowed`, at most `limit` of them."""
    listed = list(names)
    shown = ", ".join(listed[:limit])
    return shown if len(listed) <= limit else f"{shown}, ... ({len(listed)} in all)"
