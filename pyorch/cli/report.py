"""`report`: write the report of the finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyorch.base.errors import UserError
from pyorch.cli.base import command, tell_report, warn
from pyorch.study import RunsMissingError, Study


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "", paper: bool = False) -> int:
    """Write the report of an experiment's finished runs."""
    try:
        return tell_report(Study.named(name, overrides, seeds=seeds).report(paper, warn))
    except RunsMissingError as error:
        hint = f"run it first: invoke experiment {name}"
        raise UserError([replace(one, hint=hint) for one in error.problems]) from None
