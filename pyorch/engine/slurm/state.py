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

from pyorch.engine.log import log_tail, read_notes
from pyorch.engine.slurm.client import QueuedJob
from pyorch.engine.slurm.submission import UNFIT, Submission
from pyorch.paths import RunPaths
from pyorch.progress import read_heartbeat
from pyorch.store import Store

#: Without Slurm's word, a run that gave a sign of life within this time [s] is taken to compute.
SIGN_OF_LIFE_S = 120.0
#: How many logs are read to learn how long a run takes, and why runs were lost.
SAMPLE = 200

# what slurmstepd writes into a job's log; true since Slurm 2
_ENDED_BY_SLURM = re.compile(
    r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO (.+?))? \*"
)

# Slurm's word for a job whose log its node could not open, or whose user it does not know
_LAUNCH_FAILURE = "JobLaunchFailure"


class State(StrEnum):
    """What a run of a sweep is."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    LOST = "lost"
    #: only while Slurm does not answer: neither done nor failed, and no sign of life
    UNKNOWN = "unknown"


#: States that a new submission takes up.
TO_SUBMIT = frozenset({State.FAILED, State.LOST})


class JobState(StrEnum):
    """What Slurm says of the job that holds a run."""

    RUNNING = "running"
    WAITING = "waiting"
    GONE = "gone"
    #: Slurm does not answer
    UNKNOWN = "unknown"


def classify(job: JobState, *, done: bool, failed: bool, attempted: bool) -> State:
    """Return what a run is.

    job: what Slurm says of the job that holds it. done: its result is there. failed: its last
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
    """The last submission that took up a run, the job that has it, and what Slurm says of it."""

    submission: Submission
    task: int
    job: JobState


@dataclass
class SweepState:
    """The state of the latest sweep of an experiment.

    runs: of every run by hash. holders: of every run that was submitted. others: jobs of other
    sweeps of the experiment. fractions: how far the running ones are. away: what Slurm's client
    said when Slurm does not answer, else "". ended: jobs that ended and that Slurm still remembers,
    looked for only when runs were lost.
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
        """Whether nothing of it computes or waits any more."""
        return not any(self.count(s) for s in (State.RUNNING, State.WAITING, State.UNKNOWN))


def holders(
    submissions: Sequence[Submission], queued: Sequence[QueuedJob] | None
) -> dict[str, Holder]:
    """Return who holds each run: a job that is still there, else the last that was submitted.

    submissions: the oldest first; queued: the answer of squeue, None when there was none.
    """
    jobs = {(job.name, job.index): job for job in queued or ()}
    found: dict[str, Holder] = {}
    for submission in submissions:
        states = _task_states(submission, jobs, known=queued is not None)
        for position, run_hash in enumerate(submission.runs):
            task = submission.task_of(position)
            before, state = found.get(run_hash), states.get(task, JobState.GONE)
            # a job that is still there holds the run, also when a later submission ended
            if before is None or state is not JobState.GONE or before.job is JobState.GONE:
                found[run_hash] = Holder(submission, task, state)
    return found


def _task_states(
    submission: Submission, jobs: Mapping[tuple[str, int], QueuedJob], *, known: bool
) -> dict[int, JobState]:
    """What Slurm says of each job of a submission; those of a cancelled one count as gone."""
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
    """Return the state of each run, and how far the running ones are."""
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
    """Whether an attempt belongs to the job that computes now, not to one that was killed."""
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


# What else a person wants to know


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
    """Why runs were lost, and how many each; of many only a sample of jobs is looked at."""
    remembered = {(job.name, job.index): job for job in state.ended}
    known: dict[tuple[str, int] | None, str] = {}
    reasons: Counter[str] = Counter()
    for run_hash in state.hashes(State.LOST):
        holder = state.holders.get(run_hash)
        key = None if holder is None else (holder.submission.id, holder.task)
        if key not in known:
            known[key] = lost_reason(holder, remembered) if len(known) < SAMPLE else "not looked at"
        reasons[known[key]] += 1
    return reasons


def lost_tail(state: SweepState, lines: int = 5) -> str:
    """The last lines of the log of one job that lost runs; empty when there is none."""
    for run_hash in state.hashes(State.LOST):
        holder = state.holders.get(run_hash)
        tail = "" if holder is None else log_tail(holder.submission.log(holder.task), lines)
        if tail:
            return tail
    return ""


def mean_run_s(store: Store, hashes: Sequence[str]) -> float | None:
    """How long a run takes [s]: the mean over at most SAMPLE of those given; None without any."""
    step = max(1, len(hashes) // SAMPLE)
    times = []
    for run_hash in hashes[::step]:
        try:
            times.append(float(read_notes(RunPaths(store.folder(run_hash)).log)["wall_s"]))
        except (OSError, KeyError, ValueError):
            continue
    return mean(times) if times else None


def eta_s(waiting: int, fractions: Sequence[float], run_s: float | None) -> float | None:
    """Time left [s] with as many runs at once as now; None when nothing tells."""
    if run_s is None or not fractions:
        return None
    work = waiting + sum(1 - fraction for fraction in fractions)
    return work * run_s / len(fractions)


def _text(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
