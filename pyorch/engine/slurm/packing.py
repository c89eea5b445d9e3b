"""Number of runs per job, and division of jobs into arrays: arithmetic without Slurm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

#: Maximum loss to scheduling and starting jobs, as a share of all core time.
MAX_OVERHEAD = 0.1

#: Runs differ: a job is filled to this share of its time limit at most.
LIMIT_SHARE = 0.5


@dataclass(frozen=True)
class Array:
    """One job array: its first job among all jobs of the submission, and its size."""

    first: int
    jobs: int


def overhead_share(runs: int, run_s: float, overhead_s: float, cores: int = 1) -> float:
    """The share of overhead in the time of a job with `runs` runs on `cores` cores."""
    work = math.ceil(runs / cores) * run_s
    return overhead_s / (overhead_s + work) if overhead_s + work > 0 else 0.0


def runs_per_job(
    run_s: float,
    overhead_s: float,
    cores: int = 1,
    limit_s: float | None = None,
    runs: int | None = None,
) -> int:
    """The smallest number of runs per job that keeps overhead within MAX_OVERHEAD.

    run_s: duration of a run; overhead_s: cost of scheduling and starting a job; cores: parallel
    runs in a job; limit_s: the job's time limit, of which LIMIT_SHARE may be used; runs: of the
    sweep, so that its last job is not nearly empty. The limit takes precedence over the overhead;
    the result is a multiple of cores, at least one run per core.
    """
    if run_s <= 0:
        raise ValueError(f"a run must take some time, not {run_s} s")
    # overhead / (overhead + n * run) <= share, for n runs one after the other on each core
    rounds = max(1, math.ceil(overhead_s * (1 - MAX_OVERHEAD) / MAX_OVERHEAD / run_s))
    if runs is not None:
        needed = jobs_for(runs, cores)
        rounds = jobs_for(needed, max(1, needed // rounds))
    if limit_s is not None:
        rounds = min(rounds, math.floor((limit_s * LIMIT_SHARE - overhead_s) / run_s))
    return max(1, rounds) * cores


@dataclass(frozen=True)
class Cost:
    """Cost of a sweep of equal runs on a number of cores: wall time [s], and core time [s].

    overhead: the share of the core time used for scheduling and starting jobs.
    """

    wall_s: float
    core_s: float
    overhead: float


def cost(runs: int, per_job: int, run_s: float, overhead_s: float, cores: int) -> Cost:
    """Return the cost of a sweep: jobs of one core, started as soon as a core is free.

    runs: total, each of run_s seconds; per_job: runs per job; overhead_s: of every job.
    """
    jobs = jobs_for(runs, per_job)
    last = runs - (jobs - 1) * per_job  # runs of the last job, which starts last
    full_s = overhead_s + per_job * run_s
    waves, rest = divmod(jobs, cores)
    alone = rest == 1 or cores == 1
    wall = waves * full_s if rest == 0 else (waves + 1) * full_s
    if alone:  # the last job runs alone in the last wave
        wall -= (per_job - last) * run_s
    core_s = jobs * overhead_s + runs * run_s
    return Cost(wall, core_s, jobs * overhead_s / core_s if core_s > 0 else 0.0)


def jobs_for(runs: int, per_job: int) -> int:
    """The number of jobs for all runs."""
    return -(-runs // per_job)


def arrays_for(jobs: int, max_array_size: int) -> Iterator[Array]:
    """Split jobs into arrays of at most `max_array_size` elements."""
    for first in range(0, jobs, max_array_size):
        yield Array(first, min(max_array_size, jobs - first))
