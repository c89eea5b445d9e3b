"""`experiment` (alias `run`) and `report`: run what is missing of an experiment, report on it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from pyorch.base import ends
from pyorch.base.errors import UserError
from pyorch.cli.base import (
    FAILED,
    OK,
    SHOWN_FAILURES,
    command,
    tell_report,
    warn,
)
from pyorch.cli.show import print_runs
from pyorch.engine import BatchResult
from pyorch.remarks import runs_text
from pyorch.study import RunsMissingError, Study


@command
def experiment(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    jobs: int | None = None,
    dry_run: bool = False,
) -> int:
    """Run what is missing of an experiment and write its report."""
    study = Study.named(name, overrides, seeds=seeds)
    if dry_run:
        print_runs(study.plan(), study.remarks_on_plan())
        print("\nnothing was run (--dry-run)")
        return OK
    result = study.perform(jobs, print, warn)
    plan = study.planned
    code = _tell(result, len(plan.specs))
    if result.interrupted or result.storage_failed or not plan.done:
        return code
    return max(code, tell_report(study.with_done().report(told=warn)))


def _tell(result: BatchResult, total: int) -> int:
    """Print how a batch ended and return the exit code."""
    if result.interrupted:
        done = total - result.left
        ends.tell(f"interrupted: {done} done, {result.left} left, resume with the same command")
        return ends.exit_code()
    if not result.left:
        return OK
    if result.storage_failed:
        print(f"stopped: {total - result.left} done, {result.left} left", file=sys.stderr)
        return FAILED
    failed = len(result.failures)
    print(f"{runs_text(failed)} failed, {result.left} of {total} missing:", file=sys.stderr)
    for failure in result.failures[:SHOWN_FAILURES]:
        print(f"  {failure.title}: {failure.log}", file=sys.stderr)
    if failed > SHOWN_FAILURES:
        print(f"  ... and {failed - SHOWN_FAILURES} more", file=sys.stderr)
    print("repeat the command to retry what is missing", file=sys.stderr)
    return FAILED


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "", paper: bool = False) -> int:
    """Write the report of an experiment's finished runs."""
    try:
        return tell_report(Study.named(name, overrides, seeds=seeds).report(paper, warn))
    except RunsMissingError as error:
        hint = f"run it first: invoke experiment {name}"
        raise UserError([replace(one, hint=hint) for one in error.problems]) from None
