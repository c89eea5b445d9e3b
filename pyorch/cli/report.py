"""`report`: write the report of the finished runs."""

from __future__ import annotations

from collections.abc import Sequence

from pyorch.base.errors import Problem, UserError
from pyorch.cli.base import command, tell_damage, write_report_of
from pyorch.pipeline import command_line, make_plan


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "", paper: bool = False) -> int:
    """Write the report of an experiment's finished runs."""
    plan = make_plan(name, overrides, seeds)
    tell_damage(plan.set_damaged_aside(), plan.titles)
    if not plan.done:
        where = plan.store.name
        hint = f"run it first: invoke experiment {name}"
        raise UserError([Problem(where, "none of its runs is done with this build", None, hint)])
    return write_report_of(plan, command_line(name, overrides, seeds), paper)
