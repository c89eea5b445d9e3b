"""`experiment`, alias `run`: run what is missing of an experiment and write its report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyorch.base import ends
from pyorch.cli.base import (
    FAILED,
    OK,
    SHOWN_FAILURES,
    command,
    tell,
    tell_damage,
    whole_number,
    write_report_of,
)
from pyorch.cli.show import print_runs
from pyorch.pipeline import command_line, make_plan
from pyorch.remarks import of_plan, runs_text

if TYPE_CHECKING:
    from pyorch.engine import BatchResult


@command
def experiment(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    jobs: str = "",
    dry_run: bool = False,
) -> int:
    """Run what is missing of an experiment and write its report."""
    from pyorch.engine import LocalEngine
    from pyorch.engine.preflight import refuse

    workers = whole_number("--jobs", jobs)
    plan = make_plan(name, overrides, seeds, claim=not dry_run)
    if dry_run:
        print_runs(plan, of_plan(plan.experiment, plan.specs))
        print("\nnothing was run (--dry-run)")
        return OK
    tell_damage(plan.set_damaged_aside(), plan.titles)
    missing = plan.missing
    print(f"{plan.store.name}: {runs_text(len(plan.specs))}, {len(plan.specs) - len(missing)} done")
    if missing:
        tell(of_plan(plan.experiment, plan.specs))
    result = LocalEngine(plan.store, workers).run(missing, plan.build, shown=plan.done)
    refuse(plan, result)
    code = _tell(result, len(plan.specs))
    if result.interrupted or result.storage_failed or not plan.done:
        return code
    return max(code, write_report_of(plan, command_line(name, overrides, seeds)))


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
