"""What commands share: exit codes, error messages, and output of several of them.

0 success, 1 a run or an expectation failed, 2 bad input, 128 + number ended by a signal.
"""

from __future__ import annotations

import errno
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec

from pyorch.base import ends
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.files import DiskError
from pyorch.base.paths import current_folder
from pyorch.base.units import whole
from pyorch.cli import door

if TYPE_CHECKING:
    from pyorch.report.record import Told

OK, FAILED, BAD_INPUT = 0, 1, 2

DEFAULT_EXPERIMENT = "gfc/two-to-one"
SHOWN_FAILURES = 10
SHOWN_VERDICTS = 12

_TOO_MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})

P = ParamSpec("P")


def command(function: Callable[P, int]) -> Callable[P, int]:
    """Turn a user's mistake into one clear message and exit code 2, Ctrl-C into 130.

    Output that nobody reads does not stop the work; output lost to a full disk turns success into
    failure.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            current_folder()  # relative paths, and much that does not look like one, start there
            code = function(*args, **kwargs)
        except UserError as error:
            sys.stdout.flush()
            print(door.spoken(error.render()), file=sys.stderr)
            code = FAILED if isinstance(error, DiskError) else BAD_INPUT
        except OSError as error:
            if error.errno not in _TOO_MANY_FILES:
                raise
            print(_too_many_files(error).render(), file=sys.stderr)
            code = BAD_INPUT
        except KeyboardInterrupt:
            ends.tell(f"\ninterrupted: {ends.GO_ON}", sys.stderr)
            return ends.exit_code()
        failure = ends.output_failure()
        if failure is None:
            return code
        print(f"standard output cannot be written: {failure}", file=sys.stderr)
        return code or FAILED

    return guarded


def _too_many_files(error: OSError) -> Problem:
    """The problem of a process that can open no more files."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    what = f"{error.strerror}: this process may have {limit:,} files open at once"
    return Problem("the system", what, None, "raise the limit, such as with `ulimit -n 1024`")


def listing(function: Callable[P, int]) -> Callable[P, int]:
    """A command that only prints: it ends successfully when its reader has read enough."""

    @functools.wraps(function)
    def until_closed(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with ends.needing_output():
                code = function(*args, **kwargs)
                sys.stdout.flush()
                return code
        except BrokenPipeError:  # `invoke show ... | head`
            return OK

    return command(until_closed)


def whole_number(option: str, text: str) -> int | None:
    """Read an option's value, a whole number from 1; None when it was not given.

    Raises UserError on anything else.
    """
    if text == "":
        return None
    number = whole(text)
    if number:
        return number
    raise refusal(option, f"{text!r} is not allowed", "a whole number from 1")


def warn(line: str) -> None:
    """Print a line where a user sees it, even if the output goes to a file."""
    sys.stdout.flush()
    print(line, file=sys.stderr, flush=True)


def tell_report(found: Told) -> int:
    """Print expected and measured values of a report; return the exit code."""
    for line in in_short(found.verdicts) if sys.stdout.isatty() else found.verdicts:
        print(line)
    for line in found.compared:
        print(line)
    for text in found.errors:
        print(f"figure not drawn: {text}", file=sys.stderr)
    if found.pdfs:
        print(f"for a paper, beside it: {', '.join(found.pdfs)}")
    print(f"report: {found.index}")
    return FAILED if found.failed else OK


def in_short(verdicts: Sequence[str], most: int = SHOWN_VERDICTS) -> list[str]:
    """Verdicts for one screen: all if they are few, else counts and those that do not agree."""
    from pyorch.report.expect import AGREES

    if len(verdicts) <= most:
        return [*verdicts]
    others = [line for line in verdicts if not line.startswith(AGREES)]
    left = len(others) - most
    agreed = len(verdicts) - len(others)
    head = f"{len(verdicts)} expectations: {agreed} agree, {len(others)} do not or are open"
    return [head, *others[:most], *([f"... and {left} more in the report"] if left > 0 else [])]
