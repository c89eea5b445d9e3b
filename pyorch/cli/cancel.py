"""`cancel`: cancel the jobs of a sweep."""

from __future__ import annotations

from pyorch.cli import door
from pyorch.cli.base import OK, command
from pyorch.engine.slurm import cluster


@command
def cancel(name: str) -> int:
    """Cancel all jobs of an experiment; what is done stays."""
    store = cluster.store_of(name)
    ended = cluster.cancel(store)
    if ended.latest is None:
        print(f"{store.name}: it has no jobs in Slurm")
        return OK
    print(f"cancelled {ended.running} running and {ended.waiting} waiting jobs")
    again = cluster.command_of("submit", ended.latest, name)
    door.say(f"finished runs stay; {again} resumes the rest")
    return OK
