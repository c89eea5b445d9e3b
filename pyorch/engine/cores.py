"""Cores of this machine, and how many of them a run takes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyorch.base.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyorch.plan import RunSpec

QUOTA = Path("/sys/fs/cgroup/cpu.max")
OF_JOB = "SLURM_CPUS_PER_TASK"


def usable_cores() -> int:
    """How many cores this process may use: by affinity, quota of its cgroup, and Slurm's job."""
    cores = [len(os.sched_getaffinity(0))]
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text(encoding="ascii").split()
        cores.append(max(1, int(quota) // int(period)))  # "max" is no number: no quota
    with suppress(KeyError, ValueError):
        cores.append(max(1, int(os.environ[OF_JOB])))
    return min(cores)


def threads_of(specs: Sequence[RunSpec], cores: int, runs: int, where: str) -> int:
    """Return how many threads each of these runs has.

    cores: that they share, `where` for messages. runs: at once at most, for "auto": with fewer
    than cores, each run has its share of them. Raises UserError when a run asks for more threads
    than there are cores.
    """
    asked: int | Literal["auto"] = specs[0].threads if specs else 1  # of an experiment the same
    if asked == "auto":
        return max(1, cores // max(1, runs))
    if asked > cores:
        what = f"each run asks for {asked} threads, and {where} {cores}"
        hint = 'more threads than cores are slower than one; "auto" takes what there is'
        raise refusal("run.threads", what, f"at most {cores}", hint)
    return asked
