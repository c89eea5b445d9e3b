"""`collect`: the tables and the report of a sweep that was submitted."""

from __future__ import annotations

import sys

from pyorch.cli import door
from pyorch.cli.base import FAILED, command, tell_damage, write_report_of
from pyorch.engine.slurm import cluster
from pyorch.engine.slurm.state import State


@command
def collect(name: str, partial: bool = False) -> int:
    """Write the tables and the report of the latest sweep, once all its runs are done."""
    store = cluster.store_of(name)
    state, damaged = cluster.settled(store)
    tell_damage(damaged, {})
    missing = len(state.runs) - state.count(State.DONE)
    if missing:
        parts = [f"{state.count(kind)} {kind.value}" for kind in State if state.count(kind)]
        print(f"{store.name}: {missing} of {len(state.runs)} runs are missing: {', '.join(parts)}")
        if not partial or missing == len(state.runs):
            hint = "`invoke status` shows why; --partial reports on the finished runs"
            print(door.spoken(hint), file=sys.stderr)
            return FAILED
    submission = state.submission
    plan, is_earlier = cluster.plan_of(submission)
    if is_earlier:
        print("made with an earlier build of the modules, as the sweep was", file=sys.stderr)
    store.sweep()
    code = write_report_of(plan, cluster.command_of("experiment", submission, submission.name))
    return FAILED if missing else code
