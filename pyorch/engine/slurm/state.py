"""The state of a sweep: read from the disk and from squeue, never cached."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import mean

from pyorch.base.paths import RunPaths
from pyorch.engine.log import log_tail, read_notes
from pyorch.engine.progress import read_heartbeat
from pyorch.engine.slurm.client import QueuedJob
from pyorch.engine.slurm.submission import UNFIT, Submission
from pyorch.store.store import Store

#: If Slurm does not answer, a run with a sign of life within this time [s] counts as running.
SIGN_OF_LIFE_S = 120.0
#: Number of logs read to learn how long a run takes, and why runs were lost.
SAMPLE = 200

# what slurmstepd has written into a job's log since Slurm 2
_ENDED_BY_SLURM = re.compile(
    r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO (.+?))? \*"
)

# Slurm's reason for a job whose log its node could not open, or whose user it does not know
_LAUNCH_FAILURE = "JobLaunchFailure"


class State(StrEnum):
    """The state of a run of a sweep."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    LOST = "lost"
    #: only if Slurm does not answer: neither done nor failed, and no sign of life
    UNKNOWN = "unknown"


#: States whose runs a new submission includes.
TO_SUBMIT = frozenset({State.FAILED, State.LOST})


class JobState(StrEnum):
    """What Slurm reports about the job that holds a run."""

    RUNNING = "running"
    WAITING = "waiting"
    GONE = "gone"
    #: Slurm does not answer
    UNKNOWN = "unknown"


def classify(job: JobState, *, done: bool, failed: bool, attempted: bool) -> State:
    """Return the state of a run.

    job: what Slurm reports about the job that holds it. done: its result exists. failed: its last
    submission left a failed attempt. attempted: an attempt shows signs of life.
    """
    if done:
        return State.DONE
    if job is JobState.WAITING:
        return State.WAITING
    if failed:
        return State.FAILED
    if job is JobState.GONE:
        return State.LOST
    if attempted:
        return State.RUNNING
    return State.WAITING if job is JobState.RUNNING else State.UNKNOWN


@dataclass(frozen=True)
class Holder:
    """The last submission that includes a run, its job, and what Slurm reports about that."""

    submission: Submission
    task: int
    job: JobState


@dataclass
class SweepState:
    """The state of the latest sweep of an experiment.

    runs: the state of every run by hash. holders: those of every submitted run. others: jobs of
    other sweeps of the experiment. fractions: progress of the running ones. away: the message of
    Slurm's client if Slurm does not answer, else "". ended: jobs that ended and that Slurm still
    remembers, looked up only if runs were lost.
    """

    submission: Submission
    runs: dict[str, State]
    holders: dict[str, Holder]
    queued: list[QueuedJob]
    others: list[QueuedJob]
    fractions: list[float] = field(default_factory=list)
    away: str = ""
    ended: Sequence[QueuedJob] = ()

    def count(self, state: State) -> int:
        """How many runs are in a state."""
        return sum(1 for value in self.runs.values() if value is state)

    def hashes(self, *states: State) -> list[str]:
        """The runs in some states, in the order of the plan."""
        return [key for key, value in self.runs.items() if value in states]

    @property
    def is_over(self) -> bool:
        """Whether none of it is still running or waiting."""
        return not any(self.count(s) for s in (State.RUNNING, State.WAITING, State.UNKNOWN))


def holders(
    submissions: Sequence[Submission], queued: Sequence[QueuedJob] | None
) -> dict[str, Holder]:
    """Return the job of each run: one that still exists, else the last submitted one.

    submissions: the oldest first; queued: the answer of squeue, None if there was none.
    """
    jobs = {(job.name, job.index): job for job in queued or ()}
    found: dict[str, Holder] = {}
    for submission in submissions:
        states = _task_states(submission, jobs, known=queued is not None)
        for position, run_hash in enumerate(submission.runs):
            task = submission.task_of(position)
            before, state = found.get(run_hash), states.get(task, JobState.GONE)
            # a job that still exists holds the run, even if a later submission ended
            if before is None or state is not JobState.GONE or before.job is JobState.GONE:
                found[run_hash] = Holder(submission, task, state)
    return found


def _task_states(
    submission: Submission, jobs: Mapping[tuple[str, int], QueuedJob], *, known: bool
) -> dict[int, JobState]:
    """What Slurm reports about each job of a submission; cancelled ones count as gone."""
    states: dict[int, JobState] = {}
    if submission.is_cancelled:
        return states
    for name, array in submission.job_names().items():
        for index in range(array.jobs):
            job = jobs.get((name, index))
            if job is not None:
                running = job.runs
                states[array.first + index] = JobState.RUNNING if running else JobState.WAITING
            elif not known:
                states[array.first + index] = JobState.UNKNOWN
    return states


def run_states(
    hashes: Sequence[str], store: Store, held: Mapping[str, Holder]
) -> tuple[dict[str, State], list[float]]:
    """Return the state of each run, and the progress of the running ones."""
    attempts = store.attempts()
    states, fractions = {}, []
    for run_hash in hashes:
        holder = held.get(run_hash)
        job = JobState.GONE if holder is None else holder.job
        beating = max(map(_last_beat, attempts.get(run_hash, ())), default=None)
        state = classify(
            job,
            done=store.is_done(run_hash),
            failed=_failed_since(store, run_hash, holder),
            attempted=beating is not None and _counts(beating, job, holder),
        )
        states[run_hash] = state
        if state is State.RUNNING:
            files = [RunPaths(folder).heartbeat for folder in attempts[run_hash]]
            fractions.append(max(map(read_heartbeat, files)))
    return states, fractions


def _last_beat(attempt: Path) -> float:
    for file in (RunPaths(attempt).heartbeat, attempt):
        try:
            return file.stat().st_mtime
        except OSError:
            continue
    return 0.0


def _counts(beat: float, job: JobState, holder: Holder | None) -> bool:
    """Whether an attempt belongs to the running job, not to one that was killed."""
    if job is JobState.RUNNING and holder is not None:
        began = holder.submission.folder / "tasks" / f"{holder.task}.json"
        try:
            return beat >= began.stat().st_mtime
        except OSError:
            return False
    return time.time() - beat < SIGN_OF_LIFE_S


def _failed_since(store: Store, run_hash: str, holder: Holder | None) -> bool:
    """Whether a run failed after it was last submitted."""
    try:
        when = store.failure(run_hash).folder.stat().st_mtime
    except OSError:
        return False
    return holder is None or when >= holder.submission.written


# Further information for users


def lost_reason(holder: Holder | None, remembered: Mapping[tuple[str, int], QueuedJob]) -> str:
    """Why a run was lost, in a few words; `remembered` are ended jobs by name and index."""
    if holder is None:
        return "was never submitted"
    submission, task = holder.submission, holder.task
    note, log = submission.note(task), submission.log(task)
    ended = _ENDED_BY_SLURM.findall(_text(log))
    if note is not None and note.outcome == UNFIT:
        reason = f"node {note.node} cannot compute it: {note.message.splitlines()[0]}"
    elif ended and ended[-1] == "TIME LIMIT":
        reason = "its job hit the time limit"
    elif submission.is_cancelled:
        reason = "cancelled"
    elif ended:
        reason = f"Slurm ended its job: {ended[-1].lower()}" if ended[-1] else "job was cancelled"
    elif note is not None:
        reason = "its job ended before reaching it"
    elif log.exists():
        reason = "its job ended before it started"
    else:
        array = submission.array_of(task)
        job = remembered.get((submission.job_name(array), task - array.first))
        reason = "its job never started"
        if job is not None and job.reason == _LAUNCH_FAILURE:
            reason = f"node {job.node} could not begin its job: does it see {log.parent}?"
    return reason


def lost_reasons(state: SweepState) -> Counter[str]:
    """Why runs were lost, with counts; if there are many, only a sample of jobs is examined."""
    remembered = {(job.name, job.index): job for job in state.ended}
    known: dict[tuple[str, int] | None, str] = {}
    reasons: Counter[str] = Counter()
    for run_hash in state.hashes(State.LOST):
        holder = state.holders.get(run_hash)
        key = None if holder is None else (holder.submission.id, holder.task)
        if key not in known:
            known[key] = lost_reason(holder, remembered) if len(known) < SAMPLE else "not examined"
        reasons[known[key]] += 1
    return reasons


def lost_tail(state: SweepState, lines: int = 5) -> str:
    """The last lines of the log of one job that lost runs; empty if there is none."""
    for run_hash in state.hashes(State.LOST):
        holder = state.holders.get(run_hash)
        tail = "" if holder is None else log_tail(holder.submission.log(holder.task), lines)
        if tail:
            return tail
    return ""


def mean_run_s(store: Store, hashes: Sequence[str]) -> float | None:
    """Mean duration of a run [s], over at most SAMPLE of those given; None without any."""
    step = max(1, len(hashes) // SAMPLE)
    times = []
    for run_hash in hashes[::step]:
        try:
            times.append(float(read_notes(RunPaths(store.folder(run_hash)).log)["wall_s"]))
        except (OSError, KeyError, ValueError):
            continue
    return mean(times) if times else None


def eta_s(waiting: int, fractions: Sequence[float], run_s: float | None) -> float | None:
    """Time left [s] with as many parallel runs as now; None if unknown."""
    if run_s is None or not fractions:
        return None
    work = waiting + sum(1 - fraction for fraction in fractions)
    return work * run_s / len(fractions)


def _text(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
