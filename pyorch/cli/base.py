"""What commands share: exit codes, error messages, and output of several of them.

0 success, 1 a run or an expectation failed, 2 bad input, 128 + number ended by a signal.
"""

from __future__ import annotations

import errno
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec

from pyorch.base import ends
from pyorch.base.errors import Problem, UserError
from pyorch.base.files import DiskError
from pyorch.base.paths import current_folder
from pyorch.base.units import whole
from pyorch.cli import door
from pyorch.remarks import Remark, lines, of_runs, runs_text

if TYPE_CHECKING:
    from pyorch.pipeline import Plan
    from pyorch.store.store import Damage

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
    raise UserError([Problem(option, f"{text!r} is not allowed", "a whole number from 1", None)])


def tell(remarks: Sequence[Remark]) -> None:
    """Print remarks where a user sees them, even if the output goes to a file."""
    sys.stdout.flush()
    for line in lines(remarks):
        print(line, file=sys.stderr)
    sys.stderr.flush()


def tell_damage(found: Sequence[Damage], titles: Mapping[str, str]) -> None:
    """Name the runs that were damaged and set aside; titles: the runs' titles by hash."""
    for damage in found[:SHOWN_FAILURES]:
        name = " ".join(filter(None, [damage.run_hash, titles.get(damage.run_hash)]))
        print(f"damaged run {name}: {damage.file}: {damage.what}", file=sys.stderr)
        if damage.kept is not None:
            print(f"    its remains are kept in {damage.kept}", file=sys.stderr)
    if len(found) > SHOWN_FAILURES:
        print(f"... and {len(found) - SHOWN_FAILURES} more", file=sys.stderr)
    if found:
        what = "does not count as done" if len(found) == 1 else "do not count as done"
        print(f"{runs_text(len(found))} damaged: {what}, and must run again", file=sys.stderr)


def write_report_of(plan: Plan, command_line: str, paper: bool = False) -> int:
    """Write the report and print expected and measured values."""
    from pyorch import pipeline

    done = len(plan.done)
    if done < len(plan.specs):
        print(f"the report covers {done} of {len(plan.specs)} runs", file=sys.stderr)
    # before drawing, which may fail
    tell(of_runs(plan.specs, plan.store, plan.build.fingerprint))
    found = pipeline.tell_report_of(plan, command_line, paper)
    for line in in_short(found.verdicts) if sys.stdout.isatty() else found.verdicts:
        print(line)
    for text in found.errors:
        print(f"figure not drawn: {text}", file=sys.stderr)
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
