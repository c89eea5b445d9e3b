"""Sweeps on a cluster, as far as no Slurm is needed: arithmetic, parsing, states, settings, nodes.

Where Slurm is talked to, small programs of the same names stand in its place.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths, RunPaths
from pyorch.build import ensure_built
from pyorch.build.finished import builds_in
from pyorch.build.info import BuildInfo, read_build
from pyorch.build.loadable import LoadError, check_loadable
from pyorch.cli.sweep import cancel, collect, status, submit
from pyorch.engine import LocalEngine, write_manifest
from pyorch.engine.base import BatchResult, Failure, describe_exit
from pyorch.engine.manifest import (
    Manifest,
    digest_of_head,
    index_manifest,
    read_run,
    read_runs,
)
from pyorch.engine.slurm import node, packing, settings, state
from pyorch.engine.slurm import submission as submission_module
from pyorch.engine.slurm.client import AwayError, QueuedJob, Slurm, parse_queue
from pyorch.engine.slurm.settings import load_settings, parse_limit, slurm_time
from pyorch.engine.slurm.state import JobState, State, classify
from pyorch.engine.slurm.submission import Submission, SubmittedArray, TaskNote, create, write_note
from pyorch.kinds import read_spec
from pyorch.plan import RunSpec
from pyorch.store.store import Store, this_system
from tests.forms import form, run_of
from tests.inputs import ROOT, called
from tests.slurm_cluster import wait_for
from tools import develop

SUMMARY = '{"nodes": [], "summary": {}, "metrics": {}}'
FINGERPRINT = "f" * 64


# Packing


@given(
    run_s=st.floats(1e-3, 1e5),
    overhead_s=st.floats(0, 1e3),
    cores=st.integers(1, 64),
)
@example(run_s=45.0, overhead_s=5.0, cores=1)  # exactly 10 %
def test_overhead_stays_within_a_tenth_and_no_run_is_packed_in_vain(
    run_s: float, overhead_s: float, cores: int
) -> None:
    """Without a time limit the fewest runs a job are found: one round less would exceed 10 %."""
    runs = packing.runs_per_job(run_s, overhead_s, cores)
    assert runs % cores == 0
    assert packing.overhead_share(runs, run_s, overhead_s, cores) <= 0.1 * (1 + 1e-9)
    if runs > cores:
        assert packing.overhead_share(runs - cores, run_s, overhead_s, cores) > 0.1 * (1 - 1e-9)


@given(run_s=st.floats(1e-3, 1e3), overhead_s=st.floats(0, 100), runs=st.integers(1, 100_000))
@example(run_s=0.2, overhead_s=3.0, runs=10_000)  # 74 jobs of 135 runs, and one of ten
def test_a_sweep_has_no_job_that_is_nearly_empty(
    run_s: float, overhead_s: float, runs: int
) -> None:
    """The overhead of the whole sweep is within a tenth, unless all of it is one job."""
    per_job = packing.runs_per_job(run_s, overhead_s, runs=runs)
    jobs = packing.jobs_for(runs, per_job)
    if jobs > 1:
        overhead = jobs * overhead_s
        assert overhead / (overhead + runs * run_s) <= 0.1 * (1 + 1e-9)
    assert per_job <= max(runs, packing.runs_per_job(run_s, overhead_s))


@given(
    run_s=st.floats(1e-3, 1e5),
    overhead_s=st.floats(0, 1e3),
    cores=st.integers(1, 64),
    limit_s=st.floats(60, 1e6),
)
def test_a_job_fits_into_half_its_time_limit(
    run_s: float, overhead_s: float, cores: int, limit_s: float
) -> None:
    """The limit wins over the overhead, but one run a core is always done."""
    runs = packing.runs_per_job(run_s, overhead_s, cores, limit_s)
    assert runs >= cores
    assert runs <= packing.runs_per_job(run_s, overhead_s, cores)
    if runs > cores:
        assert overhead_s + runs // cores * run_s <= limit_s / 2 * (1 + 1e-9)


@given(runs=st.integers(1, 100_000), per_job=st.integers(1, 500), limit=st.integers(50, 10_001))
def test_jobs_and_arrays_cover_every_run_once(runs: int, per_job: int, limit: int) -> None:
    """Every run belongs to one job, every job to one array, and no array is too large."""
    jobs = packing.jobs_for(runs, per_job)
    arrays = list(packing.arrays_for(jobs, limit))
    assert (jobs - 1) * per_job < runs <= jobs * per_job
    assert all(1 <= array.jobs <= limit for array in arrays)
    assert [array.first for array in arrays] == list(range(0, jobs, limit))
    assert sum(array.jobs for array in arrays) == jobs


@given(
    runs=st.integers(1, 300),
    per_job=st.integers(1, 20),
    run_s=st.integers(1, 50),
    overhead_s=st.integers(0, 20),
    cores=st.integers(1, 40),
)
def test_the_cost_of_a_sweep_is_that_of_a_queue(
    runs: int, per_job: int, run_s: int, overhead_s: int, cores: int
) -> None:
    """Against cores that take one job after the other, step by step."""
    left, free = runs, [0] * cores
    while left:
        take = min(per_job, left)
        left -= take
        heapq.heappush(free, heapq.heappop(free) + overhead_s + take * run_s)
    found = packing.cost(runs, per_job, run_s, overhead_s, cores)
    assert found.wall_s == max(free)
    assert found.core_s == sum(free)
    jobs = packing.jobs_for(runs, per_job)
    assert found.overhead == pytest.approx(jobs * overhead_s / sum(free))


def test_a_run_without_duration_is_no_basis() -> None:
    """A duration of zero is a mistake of the caller."""
    with pytest.raises(ValueError, match="must take some time"):
        packing.runs_per_job(0.0, 5.0)


# What Slurm says


def test_the_queue_is_read_as_slurm_22_writes_it() -> None:
    """Waiting, running and ending elements; single jobs and warnings are left out."""
    text = (
        "gfc/ring:20261121-110016-d77fc9:0|7|4|PENDING|Resources|\n"
        "gfc/ring:20261121-110016-d77fc9:0|7|3|RUNNING|None|n2\n"
        "gfc/ring:20261121-110016-d77fc9:0|7|2|COMPLETING|None|n[1-2]\n"
        "odd|name|8|0|REQUEUE_HOLD|launch failed requeued held|\n"
        "wrap|9|N/A|RUNNING|None|n1\n"
        "slurm_load_jobs: warning\n"
    )
    jobs = parse_queue(text)
    ring = "gfc/ring:20261121-110016-d77fc9:0"
    assert jobs == [
        QueuedJob(ring, 7, 4, "PENDING", "Resources", ""),
        QueuedJob(ring, 7, 3, "RUNNING", "", "n2"),
        QueuedJob(ring, 7, 2, "COMPLETING", "", "n[1-2]"),
        QueuedJob("odd|name", 8, 0, "REQUEUE_HOLD", "launch failed requeued held", ""),
    ]
    assert [job.runs for job in jobs] == [False, True, True, False]


@pytest.fixture
def fake_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put shell scripts in the place of Slurm's programs; returns the log of their calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "calls"
    log.touch()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(program: str, body: str) -> Path:
        file = folder / program
        file.write_text(f'#!/bin/sh\necho "{program} $*" >> {log}\n{body}\n')
        file.chmod(0o755)
        return log

    put("scontrol", "echo 'MaxArraySize            = 1001'")
    put("squeue", "true")
    put("scancel", "true")
    put("sbatch", "echo 4711")
    return put


def test_slurm_is_asked_and_understood(fake_slurm: Callable[[str, str], Path]) -> None:
    """Numbers, cluster names after them, and the configuration are read."""
    slurm = Slurm()
    assert slurm.max_array_size() == 1001
    assert slurm.submit(["--hold"], Path("job.sh"), "0") == 4711
    log = fake_slurm("sbatch", "echo '4712;cluster'")
    assert slurm.submit([], Path("job.sh")) == 4712
    slurm.cancel([2, 1])
    slurm.cancel([])
    assert slurm.queue([]) == []
    calls = log.read_text().splitlines()
    assert "sbatch --parsable --hold job.sh 0" in calls
    assert [call for call in calls if call.startswith("scancel")] == ["scancel 1 2"]


@pytest.mark.parametrize(
    "said",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    ],
)
def test_silence_of_slurm_is_told_from_refusal(
    said: str, fake_slurm: Callable[[str, str], Path]
) -> None:
    """An absent controller does not mean a refusal: the request may have been carried out."""
    for program in ("sbatch", "squeue", "scancel", "scontrol"):
        fake_slurm(program, f"echo '{said}' >&2; exit 1")
    slurm = Slurm()
    asked: list[Callable[[], object]] = [
        lambda: slurm.submit([], Path("job.sh")),
        lambda: slurm.queue(["a"]),
        lambda: slurm.cancel([1]),
        slurm.max_array_size,
    ]
    for ask in asked:
        with pytest.raises(AwayError):
            ask()


def test_a_refusal_is_told_with_a_hint(fake_slurm: Callable[[str, str], Path]) -> None:
    """The output of sbatch, without its name, and what to do."""
    fake_slurm("sbatch", "echo 'sbatch: error: invalid partition specified: nope' >&2; exit 1")
    with pytest.raises(UserError) as caught:
        Slurm().submit([], Path("job.sh"))
    (problem,) = caught.value.problems
    assert problem.what == "invalid partition specified: nope"
    assert problem.hint is not None
    assert "sinfo" in problem.hint


def test_a_program_that_cannot_be_started_is_told(
    fake_slurm: Callable[[str, str], Path],
) -> None:
    """Linux refuses an argument of 128 KiB: not a traceback, but what went wrong."""
    with pytest.raises(UserError, match="Argument list too long"):
        Slurm().submit(["--comment=" + "x" * 200_000], Path("job.sh"))


def test_an_answer_without_a_number_is_no_submission(
    fake_slurm: Callable[[str, str], Path],
) -> None:
    """It is then unknown whether the array was accepted."""
    fake_slurm("sbatch", "echo Submitted")
    with pytest.raises(AwayError, match="no job number but 'Submitted'"):
        Slurm().submit([], Path("job.sh"))


def test_the_queue_is_asked_for_any_number_of_names(
    fake_slurm: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """All names are asked for, and no argument is longer than Linux takes."""
    names = [f"{'long' * 60}:{number}" for number in range(1200)]
    asked = tmp_path / "asked"
    log = fake_slurm("squeue", f"echo \"$4\" | tr , '\\n' | sed 's/.*:/x:/' >> {asked}")
    assert Slurm().queue(names) == []
    assert len(asked.read_text().split()) == len(names)
    assert log.read_text().count("squeue --noheader") == 5


def test_jobs_of_another_user_are_told_as_such(fake_slurm: Callable[[str, str], Path]) -> None:
    """Two users share results; each can cancel only what is theirs."""
    said = "scancel: error: Kill job error on job id 7: Access/permission denied"
    fake_slurm("scancel", f"echo '{said}' >&2; exit 1")
    with pytest.raises(UserError) as caught:
        Slurm().cancel([7])
    assert "job id 7: Access/permission denied" in caught.value.render()
    assert "only the submitter of a job can cancel it" in caught.value.render()


def test_slurm_that_hangs_is_not_waited_for(fake_slurm: Callable[[str, str], Path]) -> None:
    """An answer that does not come is silence."""
    fake_slurm("squeue", "exec sleep 60")
    began = time.monotonic()
    with pytest.raises(AwayError, match=r"no answer for 0\.2 s"):
        Slurm(patience_s=0.2).queue(["a"])
    assert time.monotonic() - began < 10


def test_a_full_slurm_is_told_in_its_own_words(fake_slurm: Callable[[str, str], Path]) -> None:
    """With MaxJobCount jobs known, sbatch says so and tries again for longer than we wait."""
    said = "Slurm temporarily unable to accept job, sleeping and retrying"
    fake_slurm("squeue", f"for i in 1 2; do echo 'squeue: error: {said}' >&2; done; exec sleep 60")
    with pytest.raises(AwayError, match=rf"no answer for 1 s; it said: {said}\Z"):
        Slurm(patience_s=1).queue(["a"])


def test_without_slurm_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Slurm's programs is not mistaken for a silent Slurm."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="was not found on PATH"):
        Slurm().max_array_size()


# States


@pytest.mark.parametrize(
    ("job", "done", "failed", "attempted"), list(product(JobState, *[[False, True]] * 3))
)
def test_every_run_has_the_state_that_the_words_mean(
    job: JobState, done: bool, failed: bool, attempted: bool
) -> None:
    """All cases, against a second wording: by the questions a person would ask."""
    found = classify(job, done=done, failed=failed, attempted=attempted)
    if done:
        expected = State.DONE
    elif job is JobState.GONE:  # nobody will do anything about it
        expected = State.FAILED if failed else State.LOST
    elif job is JobState.WAITING:  # whatever happened before, it will be tried again
        expected = State.WAITING
    elif failed:
        expected = State.FAILED
    elif attempted:
        expected = State.RUNNING
    else:
        expected = State.WAITING if job is JobState.RUNNING else State.UNKNOWN
    assert found is expected


def make_spec(seed: int) -> RunSpec:
    """A RunSpec of an experiment named study."""
    return run_of({"experiment": "study", "seed": seed})


def make_store(root: Path) -> Store:
    """A store with its folders."""
    store = Store(Paths(root), "study")
    store.prepare()
    return store


def submit_in_file(
    store: Store, seeds: list[int], created: float = 0.0, per_job: int = 1
) -> Submission:
    """A submission on the disk whose one array has the number 7."""
    specs = [make_spec(seed) for seed in seeds]
    hashes = [spec.hash(FINGERPRINT) for spec in specs]
    made = create(
        store,
        hashes,
        hashes,
        name="study",
        overrides=(),
        seeds="",
        fingerprint=FINGERPRINT,
        runs_per_job=per_job,
    )
    write_manifest(made.manifest, specs, FINGERPRINT, store.root / "build")
    index_manifest(made.manifest)
    jobs = packing.jobs_for(len(seeds), per_job)
    made = made.with_arrays([SubmittedArray(0, jobs, 7)])
    if created:
        file = made.folder / "submission.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"created": created}))
    return made


def commit(store: Store, seed: int) -> str:
    """Commit a finished run and return its hash."""
    spec = make_spec(seed)
    attempt = store.begin(spec.hash(FINGERPRINT))
    attempt.spec.write_text(spec.to_json())
    attempt.summary.write_text(SUMMARY)
    attempt.log.write_text("# wall_s: 2.0\n")
    store.commit(attempt.folder, spec.hash(FINGERPRINT), FINGERPRINT)
    return spec.hash(FINGERPRINT)


def job_of(made: Submission, index: int, word: str = "RUNNING") -> QueuedJob:
    """An element of the first array of a submission in the queue."""
    return QueuedJob(made.job_name(made.arrays[0]), 7, index, word)


def test_a_sweep_is_read_from_disk_and_queue(tmp_path: Path) -> None:
    """Six runs in six states; without an answer from Slurm only what is on disk is claimed."""
    store = make_store(tmp_path)
    made = submit_in_file(store, [0, 1, 2, 3, 4, 5])
    done, running, waiting, failed, lost, again = made.runs
    commit(store, 0)
    write_note(made.folder, 1, TaskNote("7_1", "n1", "h", 0, time.time()))
    store.begin(running)
    store.fail(store.begin(failed).folder, failed)
    store.fail(store.begin(again).folder, again)
    queued = [job_of(made, 1), job_of(made, 2, "PENDING"), job_of(made, 5, "PENDING")]
    held = state.holders([made], queued)
    states, fractions = state.run_states(made.plan, store, held)
    assert states == {
        done: State.DONE,
        running: State.RUNNING,
        waiting: State.WAITING,
        failed: State.FAILED,
        lost: State.LOST,
        again: State.WAITING,
    }
    assert fractions == [0.0]
    silent, _ = state.run_states(made.plan, store, state.holders([made], None))
    assert silent == {
        done: State.DONE,
        running: State.RUNNING,
        waiting: State.UNKNOWN,
        failed: State.FAILED,
        lost: State.UNKNOWN,
        again: State.FAILED,
    }


def test_a_job_that_was_replaced_notes_nothing_more(tmp_path: Path) -> None:
    """The orphan of a dead slurmd ends after the requeued job has begun."""
    made = submit_in_file(make_store(tmp_path), [0])
    orphan = TaskNote("7_0", "n1", "h", 0, 1.0)
    requeued = TaskNote("7_0", "n2", "h", 1, 5.0)
    for note in (orphan, requeued, replace(orphan, ended=9.0, outcome="done")):
        write_note(made.folder, 0, note)
    assert made.note(0) == requeued
    write_note(made.folder, 0, replace(requeued, ended=9.0, outcome="done"))
    assert made.note(0) == replace(requeued, ended=9.0, outcome="done")


def test_a_failure_of_old_does_not_count_after_a_new_submission(tmp_path: Path) -> None:
    """A run that failed, was submitted again and then lost, is lost."""
    store = make_store(tmp_path)
    run_hash = make_spec(0).hash(FINGERPRINT)
    kept = store.fail(store.begin(run_hash).folder, run_hash)
    os.utime(kept.folder, (time.time() - 100,) * 2)
    made = submit_in_file(store, [0])
    states, _ = state.run_states(made.plan, store, state.holders([made], []))
    assert states == {run_hash: State.LOST}


def test_a_living_job_of_an_earlier_submission_holds_its_runs(tmp_path: Path) -> None:
    """A later submission whose jobs are gone does not hide the one that still computes."""
    store = make_store(tmp_path)
    first = submit_in_file(store, [0, 1], created=100.0)
    second = submit_in_file(store, [0], created=200.0)
    known = submission_module.submissions(store)
    assert [item.id for item in known] == [first.id, second.id]
    held = state.holders(known, [job_of(first, 0)])
    assert held[first.runs[0]].submission.id == first.id
    assert held[first.runs[0]].job is JobState.RUNNING
    assert held[first.runs[1]].job is JobState.GONE
    known[0].mark_cancelled()
    held = state.holders(known, [job_of(first, 0, "COMPLETING")])
    assert held[first.runs[0]].submission.id == second.id
    assert held[first.runs[0]].job is JobState.GONE


def test_a_submission_is_the_latest_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that is set back, or stopped, does not change the order."""
    store = make_store(tmp_path)
    made = []
    for now in (2e9, 1e9, 1e9, 3e9):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        made.append(submit_in_file(store, [0]).id)
    assert [item.id for item in submission_module.submissions(store)] == made


@pytest.mark.parametrize(
    ("log", "outcome", "cancelled", "reason"),
    [
        ("*** JOB 4 ON n1 CANCELLED AT 2026-11-21T10:51:15 DUE TO TIME LIMIT ***", "", False,
         "its job hit the time limit"),
        ("*** JOB 4 ON n1 CANCELLED AT 2026-11-21T10:51:15 ***", "", True, "cancelled"),
        ("*** JOB 4 ON n1 CANCELLED AT 2026-11-21T10:51:15 ***", "", False, "job was cancelled"),
        ("*** JOB 4 ON n1 CANCELLED AT 2026-11-21T10:51:15 DUE TO PREEMPTION ***", "", False,
         "Slurm ended its job: preemption"),
        ("x", "unfit", False, "node n1 cannot compute it: lib: made for another CPU"),
        ("x", "interrupted", False, "its job ended before reaching it"),
        ("x", None, False, "its job ended before it started"),
        (None, None, False, "its job never started"),
    ],
)  # fmt: skip
def test_the_reason_for_a_loss_is_told(
    tmp_path: Path, log: str | None, outcome: str | None, cancelled: bool, reason: str
) -> None:
    """From what slurmstepd wrote, from what the job noted, or from what is not there."""
    store = make_store(tmp_path)
    made = submit_in_file(store, [0])
    if log is not None:
        made.log(0).write_text(f"study: 1 runs\nslurmstepd-n1: error: {log}\n")
    if outcome is not None:
        text = "lib: made for another CPU\n    hint: ..." if outcome == "unfit" else ""
        write_note(made.folder, 0, TaskNote("7_0", "n1", "h", 0, 1.0, 2.0, outcome, text))
    if cancelled:
        made.mark_cancelled()
    held = state.holders([made], [])
    assert state.lost_reason(held[made.runs[0]], {}) == reason


def test_a_node_that_could_not_begin_a_job_is_named(tmp_path: Path) -> None:
    """It does not see the folder of the log, so that nothing is on the disk; Slurm remembers it."""
    made = submit_in_file(make_store(tmp_path), [0, 1])
    held = state.holders([made], [])
    name = made.job_name(made.arrays[0])
    ended = {(name, 1): QueuedJob(name, 7, 1, "FAILED", "JobLaunchFailure", "n4")}
    assert state.lost_reason(held[made.runs[0]], ended) == "its job never started"
    reason = state.lost_reason(held[made.runs[1]], ended)
    assert reason == f"node n4 could not begin its job: does it see {made.folder / 'log'}?"


@given(
    waiting=st.integers(0, 10_000),
    fractions=st.lists(st.floats(0, 1), min_size=1, max_size=50),
    run_s=st.floats(0.1, 1e4),
)
def test_the_eta_is_the_work_left_over_the_runs_at_once(
    waiting: int, fractions: list[float], run_s: float
) -> None:
    """Between what is left when all running ones are at their end, and at their beginning."""
    left = state.eta_s(waiting, fractions, run_s)
    assert left is not None
    lanes = len(fractions)
    assert waiting * run_s / lanes - 1e-6 <= left <= (waiting + lanes) * run_s / lanes + 1e-6
    assert state.eta_s(waiting, [], run_s) is None
    assert state.eta_s(waiting, fractions, None) is None


def test_the_time_of_a_run_is_the_mean_of_those_done(tmp_path: Path) -> None:
    """Read from their logs; runs without one do not count."""
    store = make_store(tmp_path)
    done = [commit(store, seed) for seed in range(4)]
    RunPaths(store.folder(done[0])).log.write_text("# wall_s: 6.0\n")
    RunPaths(store.folder(done[1])).log.unlink()
    assert state.mean_run_s(store, [*done, "none"]) == pytest.approx((6 + 2 + 2) / 3)
    assert state.mean_run_s(store, []) is None


# Settings


def write_site(root: Path, text: str) -> None:
    """Write the site's file into a project."""
    (root / "slurm.toml").write_text(text)


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have settings of their own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.delenv(settings.FILE_VARIABLE, raising=False)


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    """Every key of the file, and options over it."""
    write_site(
        tmp_path,
        """
        partition = "long"
        account = "a1"
        qos = "q"
        time = "2h"
        mem = "2G"
        max_running = 50
        cores_per_job = 4
        job_overhead = "3s"
        run_time = "10min"
        build_on_node = true
        setup = ["module load gcc/12"]
        options = ["--constraint=avx2"]
        """,
    )
    found = load_settings(Paths(tmp_path), {"partition": "short", "mem": "", "max_running": "7"})
    assert (found.partition, found.account, found.time_s) == ("short", "a1", 7200)
    assert (found.max_running, found.cores_per_job, found.build_on_node) == (7, 4, True)
    assert (found.job_overhead_s, found.run_time_s) == (3.0, 600.0)
    assert found.setup == ("module load gcc/12",)
    assert found.sbatch_options() == [
        *["--partition=short", "--account=a1", "--qos=q", "--time=0-02:00:00", "--mem=2G"],
        *["--cpus-per-task=4", "--constraint=avx2"],
    ]
    assert found.file == tmp_path / "slurm.toml"


def test_the_file_in_the_documentation_holds_every_key(tmp_path: Path) -> None:
    """What docs/cluster.md shows is valid, complete, and says the defaults where it says so."""
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    write_site(tmp_path, shown)
    found = load_settings(Paths(tmp_path), {})
    assert set(tomllib.loads(shown)) == set(settings.KEYS) - {"qos"}
    default = settings.Settings()
    assert (found.job_overhead_s, found.run_time_s) == (default.job_overhead_s, default.run_time_s)


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    """A cluster whose defaults fit needs no file."""
    found = load_settings(Paths(tmp_path), {})
    assert found == settings.Settings()
    assert found.sbatch_options() == ["--cpus-per-task=1"]


def test_the_users_own_file_and_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project's file goes before the user's, the variable before both."""
    own = tmp_path / "no-config" / "pyorch" / "slurm.toml"
    own.parent.mkdir(parents=True)
    own.write_text('partition = "mine"\n')
    assert load_settings(Paths(tmp_path), {}).partition == "mine"
    write_site(tmp_path, 'partition = "project"\n')
    assert load_settings(Paths(tmp_path), {}).partition == "project"
    named = tmp_path / "named.toml"
    named.write_text('partition = "named"\n')
    monkeypatch.setenv("PYORCH_SLURM", str(named))
    assert load_settings(Paths(tmp_path), {}).partition == "named"
    monkeypatch.setenv("PYORCH_SLURM", str(tmp_path / "none"))
    with pytest.raises(UserError, match="there is no file"):
        load_settings(Paths(tmp_path), {})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('partitoin = "a"', "did you mean 'partition'?"),
        ('max-running = "a"', "did you mean 'max_running'?"),
        ("partition = 3", "3 is not allowed"),
        ('partition = "a b"', "'a b' is not allowed"),
        ('time = "soon"', "'soon' is not a time limit"),
        ('time = "0"', "'0' leaves no time"),
        ('mem = "2GB"', "'2GB' is not allowed"),
        ("max_running = 0", "0 is not allowed"),
        ("max_running = true", "True is not allowed"),
        ('job_overhead = "5"', "'5' is not a duration"),
        ('build_on_node = "yes"', "'yes' is not allowed"),
        ('setup = "module load x"', "'module load x' is not allowed"),
        ('options = ["constraint=x"]', "'constraint=x' is not a long option of sbatch"),
        ('options = ["-a0-3"]', "'-a0-3' is not a long option of sbatch"),
        ('options = ["--constraint", "avx2"]', "'avx2' is not a long option of sbatch"),
        ('options = ["--"]', "'--' is not a long option of sbatch"),
        ('options = ["--Array=0-3"]', "'--Array=0-3' is not a long option of sbatch"),
        ('options = ["--array=0-3"]', "'--array=0-3' is set by pyorch itself"),
        ('options = ["--arr=0-3"]', "'--arr=0-3' is short for --array, which is set by pyorch"),
        (
            'options = ["--hold", "--wrap=id"]',
            "'--wrap=id' prevents sbatch from submitting",
        ),
        ('options = ["--chdir=/"]', "'--chdir=/' is set by pyorch itself"),
        ('options = ["--outp=/x"]', "'--outp=/x' is short for --output, which is set by pyorch"),
        ('options = ["--no-requeue"]', "'--no-requeue' is set by pyorch itself"),
        ('options = ["--test-only"]', "'--test-only' prevents sbatch from submitting anything"),
        (
            'options = ["--clusters=b"]',
            "sends jobs to a cluster that `invoke status` does not query",
        ),
        ('options = ["--time=5"]', "'--time=5' is set by its own key here: time = ..."),
        ('options = ["--cpus=5"]', "short for --cpus-per-task, which is set by its own key"),
        ('options = ["--comment=a\\u0000b"]', "is not allowed"),
        ('time = "9999999999h"', "'9999999999h' is not a time limit"),
        ('run_time = "0s"', "'0s' is not a time"),
        ("cores_per_job = 1000001", "a whole number from 1 to 1,000,000"),
        ("partition = ", "the file is not TOML"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    """File, key, value, and what is allowed."""
    write_site(tmp_path, text + "\n")
    with pytest.raises(UserError) as caught:
        load_settings(Paths(tmp_path), {})
    assert complaint in caught.value.render()
    assert str(tmp_path / "slurm.toml") in caught.value.render()


def test_a_wrong_option_is_told_by_its_name(tmp_path: Path) -> None:
    """All of them at once."""
    with pytest.raises(UserError) as caught:
        load_settings(Paths(tmp_path), {"max_running": "few", "time": "later"})
    assert {problem.where for problem in caught.value.problems} == {"--max-running", "--time"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 1800),
        ("30:15", 1815),
        ("1:30:15", 5415),
        ("2-12", 2 * 86400 + 12 * 3600),
        ("2-12:30", 2 * 86400 + 12 * 3600 + 1800),
        ("2-12:30:15", 2 * 86400 + 12 * 3600 + 1815),
        ("90s", 90),
        ("1.5h", 5400),
        ("1d", 86400),
    ],
)
def test_time_limits_are_read_as_sbatch_reads_them(text: str, seconds: int) -> None:
    """The formats of sbatch's manual, and durations with a unit."""
    assert parse_limit(text) == seconds


@given(st.integers(1, 10**7))
def test_a_time_limit_survives_being_written(seconds: int) -> None:
    """The arguments of sbatch are what was meant."""
    assert parse_limit(slurm_time(seconds)) == seconds


# The manifest


@given(first=st.integers(0, 12), count=st.integers(1, 12), indexed=st.booleans())
@pytest.mark.slow
def test_a_job_reads_its_own_runs(
    tmp_path_factory: pytest.TempPathFactory, first: int, count: int, indexed: bool
) -> None:
    """With an index or without, those of a list cut by hand."""
    file = tmp_path_factory.mktemp("manifest") / "manifest.jsonl"
    specs = [make_spec(10**seed) for seed in range(10)]  # lines of unequal length
    write_manifest(file, specs, FINGERPRINT, Path("build"))
    if indexed:
        index_manifest(file)
    if first >= len(specs):
        with pytest.raises(UserError, match="no run number"):
            read_runs(file, first, count, read_spec)
        return
    manifest, found = read_runs(file, first, count, read_spec)
    assert found == specs[first : first + count]
    assert (manifest.runs, found[0]) == (10, read_run(file, first, read_spec)[1])


# Nodes


def beat(folder: Path, stop: threading.Event) -> None:
    """Keep an attempt alive as a simulation does."""
    number = 0
    while not stop.wait(0.05):
        number += 1
        RunPaths(folder).heartbeat.write_text(f"{number} 1000")


def stranger(store: Store, run_hash: str) -> Path:
    """An attempt of another machine."""
    folder = store.runs / f".{run_hash}.elsewhere.{os.getpid()}.0a1b2c3d"
    folder.mkdir()
    return folder


def committing_engine(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the engine of a node commit at once, and note the seeds it was given."""
    seeds: list[int] = []

    def run(self: LocalEngine, specs: list[RunSpec], build: BuildInfo) -> BatchResult:
        for spec in specs:
            seeds.append(form(spec)["seed"])
            commit(Store(Paths(self._store.paths.root), "study"), form(spec)["seed"])
        return BatchResult(done=len(specs), left=0)

    monkeypatch.setattr(LocalEngine, "run", run)
    return seeds


def test_a_requeued_job_waits_for_the_attempt_it_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that another machine still makes comes last, and is not made when that one ends."""
    store = make_store(tmp_path)
    made = committing_engine(monkeypatch)
    specs = [make_spec(seed) for seed in range(3)]
    folder = stranger(store, specs[0].hash(FINGERPRINT))
    stop = threading.Event()
    heart = threading.Thread(target=beat, args=(folder, stop))
    heart.start()

    def finish() -> None:
        time.sleep(1.0)
        stop.set()
        heart.join()
        RunPaths(folder).summary.write_text(SUMMARY)
        RunPaths(folder).spec.write_text(specs[0].to_json())
        store.commit(folder, specs[0].hash(FINGERPRINT), FINGERPRINT)

    other = threading.Thread(target=finish)
    other.start()
    build = BuildInfo(tmp_path, [], [], [], FINGERPRINT)
    result = node.do_runs(specs, store, build, 1, silence_s=0.6)
    other.join()
    assert made == [1, 2]
    assert (result.done, result.left) == (3, 0)
    assert not list(store.failed.glob("*")) if store.failed.exists() else True


def test_a_run_ended_with_its_job_did_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM reaches a run and the engine that watches it: which is seen first is chance."""
    store = make_store(tmp_path)
    codes = {0: -signal.SIGTERM, 1: 1}
    hashes = {seed: make_spec(seed).hash(FINGERPRINT) for seed in codes}

    def run(self: LocalEngine, specs: list[RunSpec], build: BuildInfo) -> BatchResult:
        kept = [store.fail(store.begin(hashes[seed]).folder, hashes[seed]) for seed in codes]
        failures = [
            Failure("", hashes[seed], code, "", files.log, "")
            for (seed, code), files in zip(codes.items(), kept, strict=True)
        ]
        return BatchResult(0, 2, tuple(failures), interrupted=True)

    monkeypatch.setattr(LocalEngine, "run", run)
    build = BuildInfo(tmp_path, [], [], [], FINGERPRINT)
    result = node.do_runs([make_spec(seed) for seed in codes], store, build, 1)
    assert [failure.hash for failure in result.failures] == [hashes[1]]
    assert [path.name for path in store.failed.iterdir()] == [hashes[1]]


def test_a_silent_attempt_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt of another machine without a sign of life is replaced, after the others."""
    store = make_store(tmp_path)
    made = committing_engine(monkeypatch)
    specs = [make_spec(seed) for seed in range(3)]
    stranger(store, specs[0].hash(FINGERPRINT))
    build = BuildInfo(tmp_path, [], [], [], FINGERPRINT)
    result = node.do_runs(specs, store, build, 1, silence_s=0.3)
    assert made == [1, 2, 0]
    assert (result.done, result.left) == (3, 0)


def test_a_long_run_may_be_silent_for_longer(tmp_path: Path) -> None:
    """A tenth of a run took 50 s, so a hundredth takes 5 s: 15 s of silence do not mean death."""
    files = RunPaths(stranger(make_store(tmp_path), "a" * 16))
    assert node._between_signs(files.folder) == 0
    files.spec.touch()
    files.heartbeat.write_text("100 1000 0 0")
    os.utime(files.spec, (1000, 1000))
    os.utime(files.heartbeat, (1050, 1050))
    assert node._between_signs(files.folder) == pytest.approx(15.0)


def test_a_dead_attempt_of_this_machine_is_swept_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is gone: nothing to wait for."""
    store = make_store(tmp_path)
    made = committing_engine(monkeypatch)
    process = subprocess.Popen(["true"])
    process.wait()
    run_hash = make_spec(0).hash(FINGERPRINT)
    dead = store.runs / f".{run_hash}.{this_system()}.{process.pid}.0a1b2c3d"
    dead.mkdir()
    began = time.monotonic()
    node.do_runs([make_spec(0)], store, BuildInfo(tmp_path, [], [], [], FINGERPRINT), 1)
    assert time.monotonic() - began < 5
    assert made == [0]
    assert not dead.exists()


@pytest.fixture(scope="module")
def built() -> BuildInfo:
    """The built modules."""
    return ensure_built(quiet=True)


def copy_build(built: BuildInfo, folder: Path) -> BuildInfo:
    """A copy of a build whose libraries may be spoilt."""
    (folder / "lib").mkdir(parents=True)
    libraries = [Path(shutil.copy(library, folder / "lib")) for library in built.libraries]
    content = built.to_json() | {
        "folder": str(folder),
        "libraries": [str(library) for library in libraries],
    }
    (folder / "build.json").write_text(json.dumps({"info": content}))
    return BuildInfo.from_json(content)


def make_for_arm(library: Path) -> None:
    """Change the machine in the header of a library."""
    with library.open("r+b") as file:
        file.seek(18)
        file.write(struct.pack("<H", 183 if os.uname().machine == "x86_64" else 62))


def need_what_is_not_there(library: Path) -> None:
    """Rename a library that this one is linked with, in place."""
    content = library.read_bytes()
    changed = content.replace(b"libns3.44-core", b"libns3.44-gone")
    assert changed != content
    library.write_bytes(changed)


def cut(library: Path) -> None:
    """Leave the beginning only."""
    library.write_bytes(library.read_bytes()[:4096])


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (make_for_arm, "made for another CPU: "),
        (need_what_is_not_there, "libns3.44-gone"),
        (cut, "SIGBUS"),
        (Path.unlink, "cannot be read: No such file or directory"),
        (lambda library: library.write_text("x" * 100), "is not a shared library"),
    ],
)
def test_a_node_says_why_it_cannot_load_the_modules(
    built: BuildInfo, tmp_path: Path, spoil: Callable[[Path], object], complaint: str
) -> None:
    """Another CPU, a missing library, a damaged one: reported before any run begins."""
    info = copy_build(built, tmp_path / "build" / "release")
    check_loadable(info)
    spoil(info.libraries[0])
    with pytest.raises(LoadError) as caught:
        check_loadable(info)
    assert complaint in caught.value.render()
    assert "--build-on-node" in caught.value.render()


@pytest.mark.cpp
def test_a_job_on_an_unfit_node_makes_no_attempt(built: BuildInfo, tmp_path: Path) -> None:
    """It ends with exit code 5, its log and its note say why, and no run counts as failed."""
    info = copy_build(built, tmp_path / "build" / "release")
    make_for_arm(info.libraries[-1])
    store = make_store(tmp_path)
    made = submit_in_file(store, [0])
    write_manifest(made.manifest, [make_spec(0)], built.fingerprint, info.folder)
    index_manifest(made.manifest)
    done = run_node(tmp_path, made)
    assert done.returncode == 5
    assert "made for another CPU" in done.stderr
    note = made.note(0)
    assert note is not None
    assert (note.outcome, note.node) == ("unfit", socket.gethostname())
    held = state.holders([made], [])
    assert "made for another CPU" in state.lost_reason(held[made.runs[0]], {})
    assert list(store.runs.iterdir()) == []
    assert not store.failed.exists()


def run_node(root: Path, made: Submission, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the first job of a submission as Slurm would, in a project of its own."""
    return called(
        [
            *[sys.executable, "-m", "pyorch.engine.slurm.node", str(made.manifest)],
            *["--task", "0", "--runs-per-task", "1", *more],
        ],
        cwd=root,
        env={**os.environ, "PYORCH_ROOT": str(root), "PYTHONPATH": str(ROOT)}
        | {"PYORCH_RESULTS": str(root / "results")},
        timeout=120,
    )


@pytest.mark.processes
def test_a_job_without_the_build_says_what_to_share(tmp_path: Path) -> None:
    """A node that does not see the project's folder is distinguished from a defect."""
    store = make_store(tmp_path)
    made = submit_in_file(store, [0])
    done = run_node(tmp_path, made)
    assert done.returncode == 5
    assert "sees no finished build there" in done.stderr


def test_a_job_loads_only_the_build_that_was_submitted(tmp_path: Path) -> None:
    """Whoever may write where results lie cannot give it another build to load."""
    store = make_store(tmp_path)
    made = submit_in_file(store, [0])
    head = digest_of_head(made.manifest)
    assert "sees no finished build there" in run_node(tmp_path, made, "--head", head).stderr
    write_manifest(made.manifest, [make_spec(0)], "fp", tmp_path / "theirs")
    done = run_node(tmp_path, made, "--head", head)
    assert done.returncode == 5
    assert "was exchanged after the submission" in done.stderr


@pytest.mark.cpp
def test_a_node_may_compile_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--build-on-node: a build of its own on a local disk, with the fingerprint of the sweep."""
    project, local = tmp_path / "project", tmp_path / "local"
    shutil.copytree(ROOT / "tests" / "data" / "modules", project / "ns3-modules")
    local.mkdir()
    monkeypatch.setenv("PYORCH_ROOT", str(project))
    monkeypatch.setattr("tempfile.tempdir", str(local))
    with pytest.raises(UserError, match="not those the sweep was submitted with"):
        node._build(Manifest(FINGERPRINT, project / "build" / "release", 1), [], build_here=True)
    (folder,) = local.iterdir()
    (finished_build,) = builds_in(folder / "release")
    info = read_build(finished_build)
    assert node._build(Manifest(info.fingerprint, Path("unseen"), 1), [], build_here=True) == info
    assert not (project / "build").exists()
    with pytest.raises(UserError, match="--build-on-node"):
        node._build(Manifest(info.fingerprint, project / "build", 1), [], build_here=False)


def test_the_exit_code_of_another_cpu_has_a_meaning() -> None:
    """An illegal instruction is reported as what it usually is."""
    assert "another CPU" in describe_exit(-4)


# The commands


SMALL = """
title = "Small"
port.pause_response = "ideal"

[run]
duration = "200us"
seeds = 5

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"

[variants.PFC]
flow_control = ["pfc"]
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A small experiment file, which is the store's name, and results of its own."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.setenv("PYORCH_ROOT", str(ROOT))
    monkeypatch.setenv("PYORCH_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("PYORCH_SLURM", str(tmp_path / "site.toml"))
    (tmp_path / "site.toml").write_text('partition = "main"\n')
    monkeypatch.chdir(tmp_path)
    return Store(Paths(ROOT, tmp_path / "results"), "small")


@pytest.mark.cpp
def test_a_dry_run_writes_and_submits_nothing(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows the runs, how they are packed, and the command."""
    log = fake_slurm("scontrol", "echo 'MaxArraySize = 2'")
    assert submit("small.toml", runs_each=2, dry_run=True) == 0
    output = capsys.readouterr().out
    assert "small: 5 runs, 0 done, 5 to submit" in output
    commands = re.findall(r"^sbatch .*$", output, re.MULTILINE)
    assert len(commands) == 2  # three jobs, two an array
    assert "--array=0-1 " in commands[0]
    assert commands[1].endswith("job.sh 2")
    assert all("--partition=main" in command for command in commands)
    assert "nothing was submitted" in output
    assert "sbatch" not in log.read_text()
    assert not small.root.exists()


@pytest.mark.cpp
def test_a_submission_is_all_on_the_disk(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Manifest, plan, script, numbers; a run that is done already is in the plan alone."""
    fake_slurm("scontrol", "echo 'MaxArraySize = 1'")
    log = fake_slurm("sbatch", "echo 47")
    options: dict[str, str | bool] = {"max_running": "1", "time": "2h", "build_on_node": True}
    assert submit("small.toml", seeds="4", options=options, runs_each=2) == 0
    assert "submitted 4 runs in 2 jobs (array 47, 47)" in capsys.readouterr().out
    (made,) = submission_module.submissions(small)
    assert made.plan == made.runs
    assert [(array.first, array.jobs, array.job_id) for array in made.arrays] == [
        (0, 1, 47),
        (1, 1, 47),
    ]
    _, specs = read_runs(made.manifest, 2, 2, read_spec)
    assert [spec.hash(made.fingerprint) for spec in specs] == list(made.runs[2:])
    first, second = [line for line in log.read_text().splitlines() if line.startswith("sbatch")]
    assert "--array=0-0%1" in first
    assert "--dependency" not in first
    assert "--dependency=afterany:47" in second
    assert "--time=0-02:00:00" in second
    script = made.script.read_text()
    assert "--build-on-node" in script
    assert subprocess.run(["sh", "-n", str(made.script)], check=False).returncode == 0
    assert collect("small.toml") == 1  # nothing was really made
    assert "4 of 4 runs are missing: 4 lost" in capsys.readouterr().out


@pytest.mark.cpp
def test_a_refusal_half_way_keeps_what_was_taken(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The second array is refused: the first is with Slurm, the rest is lost, not forgotten."""
    fake_slurm("scontrol", "echo 'MaxArraySize = 3'")
    log = fake_slurm("squeue", "true")
    again = f'[ "$(grep -c ^sbatch {log})" -gt 1 ]'
    fake_slurm("sbatch", f"if {again}; then echo no >&2; exit 1; fi; echo 9")
    assert submit("small.toml", runs_each=1) == 2
    assert "sbatch: no" in capsys.readouterr().err
    (made,) = submission_module.submissions(small)
    assert [array.job_id for array in made.arrays] == [9]
    name = made.job_name(made.arrays[0])
    fake_slurm("squeue", "\n".join(f"echo '{name}|9|{n}|PENDING|Priority|'" for n in range(3)))
    assert status("small.toml") == 1
    output = capsys.readouterr().out
    assert re.search(r"^ +waiting +3 +\(jobs: Priority 3\)$", output, re.MULTILINE)
    assert re.search(r"^ +lost +2 ", output, re.MULTILINE)


@pytest.mark.cpp
def test_a_refusal_leaves_nothing(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a submission of which Slurm took nothing, nothing stays."""
    fake_slurm("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    assert submit("small.toml") == 2
    assert "invalid account" in capsys.readouterr().err
    assert submission_module.submissions(small) == []
    assert status("small.toml") == 2


@pytest.mark.cpp
def test_a_lost_answer_of_sbatch_loses_no_job(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Slurm took the array but could not say so: its name finds it, and nothing goes twice."""
    fake_slurm("sbatch", "echo 'error: Socket timed out on send/recv operation' >&2; exit 1")
    assert submit("small.toml", runs_each=5) == 2
    (made,) = submission_module.submissions(small)
    assert made.arrays[0].job_id is None
    fake_slurm("squeue", f"echo '{made.job_name(made.arrays[0])}|9|0|PENDING|None|'")
    log = fake_slurm("sbatch", "echo 10")
    log.write_text("")
    assert submit("small.toml", runs_each=5) == 0
    assert "5 already with Slurm, 0 to submit" in capsys.readouterr().out
    assert "sbatch" not in log.read_text()
    assert cancel("small.toml") == 0
    assert "scancel 9" in log.read_text()


def test_what_was_never_submitted_has_no_status(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """It is bad input, with the command that helps."""
    assert status("small.toml") == 2
    assert "invoke submit small" in capsys.readouterr().err
    assert status("gfc/rign") == 2
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.cpp
def test_collect_refuses_another_experiment(
    small: Store, fake_slurm: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that changed since is not reported on as if it were the sweep that was made."""
    assert submit("small.toml") == 0
    (made,) = submission_module.submissions(small)
    for number, run_hash in enumerate(made.plan):
        attempt = small.begin(run_hash)
        attempt.spec.write_text(read_run(made.manifest, number, read_spec)[1].to_json())
        attempt.summary.write_text(SUMMARY)
        small.commit(attempt.folder, run_hash, made.fingerprint)
    Path("small.toml").write_text(SMALL.replace("200us", "300us"))
    assert collect("small.toml") == 2
    assert "has changed since it was submitted" in capsys.readouterr().err


@pytest.mark.parametrize(("daemon", "told"), [(None, True), ("/usr/sbin/slurmctld", False)])
def test_invoke_test_says_that_no_slurm_is_there(
    monkeypatch: pytest.MonkeyPatch, daemon: str | None, told: bool
) -> None:
    """Tests that were left out for want of Slurm are named, with the way to get it."""
    monkeypatch.setattr(develop, "_system_program", lambda _name: daemon)
    monkeypatch.setattr(develop, "_call", lambda *_arguments: 0)
    skipped: list[str] = []
    assert develop._run_pytest(develop.Chosen(), skipped) == 0
    assert any("apt-get install slurm-wlm munge" in line for line in skipped) is told


def test_two_processes_submit_one_after_the_other(tmp_path: Path) -> None:
    """The lock holds between processes."""
    store = make_store(tmp_path)
    script = (
        "import sys, time; from pathlib import Path\n"
        "from pyorch.engine.slurm.submission import locked\n"
        "from pyorch.base.paths import Paths; from pyorch.store.store import Store\n"
        "with locked(Store(Paths(Path(sys.argv[1])), 'study')):\n"
        "    print('in', flush=True); sys.stdin.read()\n"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == b"in\n"
    entered = threading.Event()

    def enter() -> None:
        with submission_module.locked(store):
            entered.set()

    second = threading.Thread(target=enter)
    second.start()
    assert not entered.wait(0.3)
    first.stdin.close()
    wait_for(entered.is_set, "the lock", 10)
    second.join()
    first.wait()
    first.stdout.close()


@pytest.mark.parametrize(
    ("queue", "cancelled", "kept"),
    [
        ("held", False, True),
        ("held", True, True),  # a job that runs until Slurm has ended it
        ("empty", False, False),
        ("away", False, True),
        ("away", True, False),
        ("none", False, True),
    ],
)
def test_clean_keeps_the_builds_of_a_sweep(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    queue: str,
    cancelled: bool,
    kept: bool,
) -> None:
    """Jobs in the queue will load theirs; where Slurm does not answer, all with runs to do."""
    monkeypatch.setenv("PYORCH_ROOT", str(tmp_path))
    monkeypatch.delenv("PYORCH_RESULTS", raising=False)
    store = make_store(tmp_path)
    made = submit_in_file(store, [0, 1])
    builds = [tmp_path / "build" / "release" / name for name in ("used", "old")]
    for build in builds:
        build.mkdir(parents=True)
        (build / "build.json").touch()
        (build / "in-use").touch()
    (builds[0].parent / ".lock").touch()
    write_manifest(made.manifest, [make_spec(0), make_spec(1)], FINGERPRINT, builds[0])
    if cancelled:
        made.mark_cancelled()

    def answer(_: Slurm, names: Sequence[str]) -> list[QueuedJob]:
        if queue == "away":
            raise AwayError("nobody there")
        if queue == "none":
            raise UserError([Problem("Slurm", "not here", None, None)])
        return [QueuedJob(name, 7, 0, "PENDING") for name in names if queue == "held"]

    monkeypatch.setattr(Slurm, "queue", answer)
    assert develop.clean() == 0
    assert builds[0].is_dir() == kept
    assert not builds[1].exists()
    told = f"kept {builds[0]}: jobs of study in Slurm load it (invoke cancel study)"
    assert (told in capsys.readouterr().out) == kept
    for seed in (0, 1):
        commit(store, seed)
    assert develop.clean() == 0
    assert not builds[0].exists()
