"""`cancel`: cancel the jobs of a sweep."""

from __future__ import annotations

from pyorch import cluster
from pyorch.cli import door
from pyorch.cli.base import OK, command


@command
def cancel(name: str) -> int:
    """Cancel all jobs of an experiment; what is done stays."""
    store = cluster.store_of(name)
    ended = cluster.cancel(store)
    if ended.latest is None:
        print(f"{store.name}: no job of it is with Slurm")
        return OK
    print(f"cancelled {ended.running} running and {ended.waiting} waiting jobs")
    door.say(f"what is done stays; {cluster.command_of('submit', ended.latest, name)} goes on")
    return OK
