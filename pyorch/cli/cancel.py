"""`cancel`: cancel the jobs of a sweep."""

from __future__ import annotations

from pyorch.cli import door
from pyorch.cli.base import OK, command
from pyorch.engine.slurm.cluster import command_of
from pyorch.study import Study


@command
def cancel(name: str) -> int:
    """Cancel all jobs of an experiment; what is done stays."""
    study = Study.named(name)
    ended = study.cancel()
    if ended.latest is None:
        print(f"{study.store.name}: it has no jobs in Slurm")
        return OK
    print(f"cancelled {ended.running} running and {ended.waiting} waiting jobs")
    again = command_of("submit", ended.latest, name)
    door.say(f"finished runs stay; {again} resumes the rest")
    return OK
