"""`collect`: the tables and the report of a sweep that was submitted."""

from __future__ import annotations

import sys

from pyorch.cli import door
from pyorch.cli.base import FAILED, command, tell_report, warn
from pyorch.study import RunsMissingError, Study


@command
def collect(name: str, partial: bool = False) -> int:
    """Write the tables and the report of the latest sweep, once all its runs are done."""
    study = Study.named(name)
    try:
        code = tell_report(study.collect(partial, print, warn))
    except RunsMissingError:
        hint = "`invoke status` shows why; --partial reports on the finished runs"
        print(door.spoken(hint), file=sys.stderr)
        return FAILED
    return FAILED if study.missing else code
