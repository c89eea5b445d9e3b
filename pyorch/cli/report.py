"""`report`: the report of the runs that are done; of several studies, one page of all numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pyorch.cli import door
from pyorch.cli.base import OK, command, tell_damage, write_report_of
from pyorch.errors import Problem, UserError
from pyorch.paths import default_paths
from pyorch.pipeline import command_line, make_plan


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "") -> int:
    """Write the report of the runs of an experiment that are done; of several, one page."""
    from pyorch import reproduce

    several = reproduce.names_of(name, default_paths())
    if several is not None:
        return report_several(several)
    plan = make_plan(name, overrides, seeds)
    tell_damage(plan.set_damaged_aside(), plan.titles)
    if not plan.done:
        where = plan.store.name
        hint = f"run it first: invoke experiment {name}"
        raise UserError([Problem(where, "none of its runs is done with this build", None, hint)])
    return write_report_of(plan, command_line(name, overrides, seeds))


def report_several(names: Sequence[str]) -> int:
    """Write the page of several studies and print the verdicts."""
    from pyorch import reproduce

    found = reproduce.report_several(
        names, told=lambda plan, damaged: tell_damage(damaged, plan.titles)
    )
    for verdict, count in found.verdicts.items():
        print(f"{count:5}  {verdict}")
    for name in found.left:
        print(f"{name}: no seed is done; its rows are those of before", file=sys.stderr)
    for picture in found.changed:
        print(f"picture: {picture}")
    for old in found.kept:
        what = f"no report of the runs that {old.study} now means; `invoke report {old.study}`"
        print(door.spoken(f"{old.file.name}: as before: {what}"), file=sys.stderr)
    print(f"page: {found.page}\ntable: {found.table}")
    return OK
