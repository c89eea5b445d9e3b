"""Sweeps on a real Slurm of three nodes, which the tests start and stop.

What may go wrong, and what is left then: after every fault the sweep gets complete.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import pyorch
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.engine.preflight import CHECK
from pyorch.engine.slurm.client import Slurm
from pyorch.engine.slurm.cluster import look
from pyorch.engine.slurm.state import State, SweepState
from pyorch.engine.slurm.submission import Submission, TaskNote, submissions
from pyorch.files.find import experiment_name
from pyorch.store.store import Store
from tests.forks import cpu_of_children
from tests.inputs import ROOT
from tests.projects import LOSING, STAR
from tests.slurm_cluster import (
    PATIENCE_S,
    Cluster,
    can_hide_folders,
    is_alive,
    missing_programs,
    running_cluster,
    wait_for,
)
from tests.tutorial import Tutorial

pytestmark = [
    pytest.mark.cpp,
    pytest.mark.slow,
    pytest.mark.slurm,
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(
        bool(missing_programs()),
        reason=f"Slurm is not installed: no {', '.join(missing_programs())}",
    ),
]

TINY = (
    """
title = "Tiny"

[run]
duration = "{duration}"
seeds = {seeds}

"""
    + STAR
    + """
[variants.PFC]
flow_control = ["pfc"]

[[trace]]
table = "queue"
period = "10us"

[[metric]]
name = "top"
kind = "max"
table = "queue"
port = "s0:h0"
"""
)


#: Forty runs that take long enough to be stopped as they begin, and twenty that do not.
SUFFERING = (
    TINY
    + """
[variants.B]
flow_control = ["pfc"]
"run.duration" = "401ms"

[variants.C]
flow_control = ["pfc"]
"run.duration" = "2ms"
"""
)

SHORT, LONG = "200us", "400ms"
#: As a folder and as an experiment.
NASTY = '-it\'s "a" $(touch made) `touch made` 100%a %j ü\nend'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Slurm with four nodes of one core, and one that comes later, for most tests here."""
    with running_cluster(tmp_path_factory.mktemp("slurm"), 5, later=1) as running:
        yield running


@dataclass
class Sweep:
    """An experiment with results of its own, and the commands as a person types them."""

    file: Path
    results: Path
    cluster: Cluster
    variables: dict[str, str] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)

    @property
    def store(self) -> Store:
        """Its results."""
        paths = Paths(ROOT, self.results)
        return Store(paths, experiment_name(str(self.file), paths))

    def renamed(self, name: str) -> Sweep:
        """The same with that name as experiment, and as the folder of its results."""
        return replace(self, file=self.file.with_name(f"{name}.toml"), results=self.results / name)

    def write(self, text: str = TINY, *, seeds: int, duration: str = SHORT, more: str = "") -> None:
        """Write the experiment file."""
        self.file.write_text(text.format(seeds=seeds, duration=duration) + more)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a task in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "invoke", words[0], str(self.file), *words[1:]],
            cwd=ROOT,
            env=self.cluster.environment
            | {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(self.results)}
            | self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def invoke(self, *words: str, code: int = 0) -> str:
        """Run a task and return what it printed."""
        process = self.start(*words)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code, output
        return output

    def state(self) -> SweepState:
        """What `invoke status` sees."""
        return look(self.store, Slurm())

    def count(self, state: State) -> int:
        """How many runs are in a state."""
        return self.state().count(state)

    def submissions(self) -> list[Submission]:
        """All submissions, the oldest first."""
        return submissions(self.store)

    def wait(self, patience_s: float = PATIENCE_S) -> SweepState:
        """Wait until nothing computes or waits any more, and Slurm holds no job of it."""

        def is_over() -> bool:
            state = self.state()
            return state.is_over and not state.queued

        wait_for(is_over, "the end of the sweep", patience_s)
        return self.state()

    def logs(self) -> str:
        """What all jobs printed."""
        files = [f for item in self.submissions() for f in sorted((item.folder / "log").iterdir())]
        return "".join(file.read_text() for file in files)

    def is_done(self, run: HeldRun) -> bool:
        """Whether the result of a run is there."""
        return self.store.is_done(run.hash)

    def simulating(self) -> list[HeldRun]:
        """The runs of this sweep that are simulated: a process holds the heartbeat of each open."""
        found = []
        own = f"{self.store.runs}/."
        for pid, environment in self.cluster.processes().items():
            files = Path(f"/proc/{pid}/fd")
            try:
                targets = [str(file.readlink()) for file in files.iterdir()]
            except OSError:
                continue
            # of a run that has just ended it is "heartbeat (deleted)"
            beating = [t for t in targets if t.startswith(own) and t.endswith("heartbeat")]
            if beating:
                run_hash = beating[0].removeprefix(own).partition(".")[0]
                node, task = environment["SLURMD_NODENAME"], environment["SLURM_ARRAY_TASK_ID"]
                found.append(HeldRun(pid, run_hash, node, int(task)))
        return found

    def hold(self, *nodes: str) -> list[HeldRun]:
        """Stop on each of these nodes the simulation that begins next; it takes no core then."""
        found: dict[str, HeldRun] = {}
        deadline = time.monotonic() + PATIENCE_S
        while len(found) < len(nodes):
            assert time.monotonic() < deadline, f"simulations began on {sorted(found)} only"
            for run in self.simulating():
                if run.node in nodes and run.node not in found and run.pid not in self.held:
                    with suppress(ProcessLookupError):
                        os.kill(run.pid, signal.SIGSTOP)
                        self.held.add(run.pid)
                        found[run.node] = run
            time.sleep(0.02)
        return list(found.values())


@dataclass(frozen=True)
class HeldRun:
    """A run that is simulated by a process, in a job of an array on a node."""

    pid: int
    hash: str
    node: str
    task: int

    def go_on(self) -> None:
        """Let it simulate again."""
        os.kill(self.pid, signal.SIGCONT)


class Attempts:
    """Counts how often each run is begun: Linux tells of every folder that is made in runs/."""

    _CREATE = 0x100
    _OVERFLOW = 0x4000

    def __init__(self, runs: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watch = self._libc.inotify_add_watch(self._fd, os.fsencode(runs), self._CREATE)
        assert min(self._fd, watch) >= 0, os.strerror(ctypes.get_errno())

    def count(self) -> Counter[str]:
        """How often each was begun, by its hash; to be called once."""
        begun: Counter[str] = Counter()
        with suppress(BlockingIOError):
            while events := os.read(self._fd, 1 << 20):
                while events:
                    _, mask, _, size = struct.unpack_from("iIII", events)
                    assert not mask & self._OVERFLOW
                    name = events[16 : 16 + size].rstrip(b"\0").decode()
                    events = events[16 + size :]
                    parts = name.split(".")
                    # .HASH.HOST.PID.RANDOM; what is built before a sweep is no attempt at a run
                    if len(parts) >= 5 and parts[1] != CHECK:
                        begun[parts[1]] += 1
        os.close(self._fd)
        return begun


@pytest.fixture
def sweep(tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sweep]:
    """A sweep whose name no other test has; its jobs end with the test."""
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    monkeypatch.setenv("PYORCH_ROOT", str(ROOT))
    monkeypatch.setenv("PYORCH_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    file = tmp_path / f"sweep-{tmp_path.name}.toml"
    yield Sweep(file, tmp_path / "results", cluster)
    cluster.cancel_all()
    for node in cluster.later:
        cluster.kill_daemon(node)
    for node in cluster.nodes:
        if cluster.states().get(node) != "idle":
            cluster.kill_daemon(node)
            cluster.start_node(node)
            cluster.call("scontrol", "update", f"NodeName={node}", "State=RESUME")
    wait_for(cluster.is_idle, "all nodes idle again", 60)


def digests(results: Path) -> dict[str, str]:
    """Digest of every file of every run but its log."""
    return {
        str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(results.rglob("runs/*/*"))
        if file.name != "log.txt"
    }


def test_a_sweep_that_suffers_everything(sweep: Sweep, tmp_path: Path) -> None:
    """One sweep of 60 runs, in folders with nasty names, gets complete whatever happens to it.

    A run crashes, one hangs until its job's time limit, a node loses its power and another its
    slurmd, slurmctld is killed, two shells submit at once, live jobs are cancelled, a node does not
    see the results, another compiles for itself. In the end every byte is what the local engine
    writes, and no run was begun twice but for a reason.
    """
    sweep = sweep.renamed(NASTY)
    sweep.write(SUFFERING, seeds=20, duration=LONG)
    trouble = Trouble(sweep, tmp_path / "node")
    home = replace(sweep, results=tmp_path / "home")
    with home.start("experiment") as local:
        trouble.a_node_compiles_for_itself()
        trouble.two_shells_submit_at_once()
        trouble.nodes_die_and_a_run_crashes()
        trouble.the_controller_is_killed()
        trouble.a_job_hangs_until_its_limit()
        trouble.the_dead_nodes_come_back()
        trouble.live_jobs_are_cancelled()
        if can_hide_folders():
            trouble.a_node_does_not_see_the_results()
        trouble.the_rest_is_made()
        output, _ = local.communicate(timeout=PATIENCE_S)
        assert local.returncode == 0, output

    assert len(digests(home.results)) == 60 * 5  # spec, summary, two tables, and their digests
    assert digests(sweep.results) == digests(home.results)
    attempts = trouble.begun.count()
    assert attempts == Counter(trouble.runs) + trouble.again
    assert not sweep.store.failed.exists() or not list(sweep.store.failed.iterdir())
    assert sorted(path.name for path in sweep.store.runs.iterdir()) == sorted(trouble.runs)
    for folder in (ROOT, tmp_path, Path(tempfile.gettempdir()), sweep.cluster.folder):
        assert not (folder / "made").exists()  # what the nasty names would have a shell do


@pytest.mark.skipif(not can_hide_folders(), reason="only root can hide a folder from a process")
def test_a_node_can_be_kept_from_seeing_a_folder() -> None:
    """Where it cannot, the sweep above goes without that trouble, and this line says so."""


class Trouble:
    """What happens to the sweep, step by step; every step makes sure of what is left after it.

    again: the runs that had to be begun again, and how often.
    """

    def __init__(self, sweep: Sweep, local_disk: Path) -> None:
        self.sweep = sweep
        self.cluster = sweep.cluster
        self.again: Counter[str] = Counter()
        self.runs: tuple[str, ...] = ()
        self.site = sweep.file.with_name("site.toml")
        sweep.store.runs.mkdir(parents=True)
        self.begun = Attempts(sweep.store.runs)
        local_disk.mkdir()
        sweep.variables |= {"PYORCH_SLURM": str(self.site), "TMPDIR": str(local_disk)}

    def options(self, *options: str) -> None:
        """Write the site's settings."""
        self.site.write_text(f"options = {json.dumps(options)}\n")

    def a_node_compiles_for_itself(self) -> None:
        """Three of the runs go to a node that compiles the modules they use on its own disk."""
        self.options("--nodelist=n4")
        words = ("--seeds", "20-20", "--runs-per-job", "3", "--build-on-node")
        assert "3 to submit" in self.sweep.invoke("submit", *words)
        (self.compiling,) = self.sweep.submissions()

    def two_shells_submit_at_once(self) -> None:
        """Of two submissions at the same moment one has all other runs, the other none."""
        self.options("--exclude=n4")
        words = ("submit", "--runs-per-job", "4", "--time", "30min")
        shells = [self.sweep.start(*words) for _ in range(2)]
        outputs = sorted(shell.communicate(timeout=PATIENCE_S)[0] for shell in shells)
        assert [shell.returncode for shell in shells] == [0, 0], outputs
        text = "".join(outputs)
        assert sorted(re.findall(r"(\d+) to submit", text)) == ["0", "57"]
        assert "3 already with Slurm" in text or "3 done" in text
        _, self.first = self.sweep.submissions()
        self.runs = self.first.plan
        assert len(self.runs) == 60
        assert self.sweep.count(State.DONE) < 60  # it returned before the work was done

    def nodes_die_and_a_run_crashes(self) -> None:
        """One node is cut off the power, another loses its slurmd while its processes live on."""
        held = {run.node: run for run in self.sweep.hold("n1", "n2", "n3")}
        assert "0 to submit" in self.sweep.invoke("submit")  # a third shell, while they run
        self.cut, self.orphan, crashed = held["n1"], held["n2"], held["n3"]
        self.cluster.kill_node("n1")
        self.cluster.kill_daemon("n2")
        os.kill(crashed.pid, signal.SIGSEGV)
        os.kill(crashed.pid, signal.SIGCONT)
        wait_for(lambda: not is_alive(self.cut.pid), "the end of the node's processes")
        assert is_alive(self.orphan.pid)
        self.again[self.cut.hash] += 1
        self.again[crashed.hash] += 1
        self.crashed = crashed
        (self.witness,) = self.sweep.hold("n3")  # the next run of the same job
        assert self.witness.task == crashed.task
        assert self.sweep.state().runs[crashed.hash] is State.FAILED

    def the_controller_is_killed(self) -> None:
        """While slurmctld is away status says so and what the disk tells; then all goes on."""
        # what slurmctld has not saved when it dies it never knew: it would start these jobs again
        self.cluster.save_state()
        self.cluster.stop_controller()
        self.witness.go_on()
        wait_for(lambda: self.sweep.is_done(self.witness), "a run that ends meanwhile")
        (self.hung,) = self.sweep.hold("n3")
        assert self.hung.task == self.crashed.task
        commands = {verb: self.sweep.start(verb) for verb in ("status", "submit", "cancel")}
        said = {verb: shell.communicate(timeout=PATIENCE_S)[0] for verb, shell in commands.items()}
        assert "Slurm does not answer" in said["status"]
        assert re.search(r"^ +unknown +\d+ +waiting, running or lost", said["status"], re.MULTILINE)
        for verb in ("submit", "cancel"):
            assert commands[verb].returncode == 2
            assert "Slurm: does not answer" in said[verb]
        state = self.sweep.state()
        assert state.away
        assert state.runs[self.witness.hash] is State.DONE
        assert state.runs[self.crashed.hash] is State.FAILED
        assert state.runs[self.hung.hash] is State.RUNNING
        assert state.runs[self.orphan.hash] is State.RUNNING
        others = set(self.first.runs[12:])  # of jobs that had not begun
        assert {state.runs[key] for key in others} == {State.UNKNOWN}
        self.cluster.start_controller()
        wait_for(lambda: not self.sweep.state().away, "slurmctld")

    def a_job_hangs_until_its_limit(self) -> None:
        """A run that hangs ends with its job. Slurm looks at limits every 30 s: others go on."""
        (job,) = [job for job in self.sweep.state().queued if job.node == "n3"]
        # limits are whole minutes, but an end may be set
        words = [f"JobId={job.array_id}_{job.index}", "EndTime=now+1seconds"]
        self.cluster.call("scontrol", "update", *words)
        self.again[self.hung.hash] += 1
        # what follows is about the other nodes
        self.cluster.call("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=test")
        wait_for(lambda: self.outcome_of_compiling() == "done", "the node that compiles", 1500)

    def the_dead_nodes_come_back(self) -> None:
        """Slurm requeued their jobs. One run is made anew; the orphan is waited for, and is done.

        Meanwhile the job that hung ends.
        """
        down = {"down", "down*"}
        wait_for(lambda: {self.cluster.states()[n] for n in ("n1", "n2")} <= down, "dead nodes")
        for run in (self.cut, self.orphan):  # Slurm puts requeued jobs behind the rest of an array
            job = f"JobId={self.first.arrays[0].job_id}_{run.task}"
            self.cluster.call("scontrol", "update", job, "Nice=-100")
        self.cluster.start_node("n1")
        wait_for(lambda: "waiting for it" in self.sweep.logs(), "the job that replaces the orphan")
        self.orphan.go_on()
        wait_for(lambda: self.sweep.is_done(self.orphan), "the end of the orphan")
        self.cluster.start_node("n2")
        for run in (self.cut, self.orphan):
            wait_for(lambda task=run.task: self.note(task).outcome == "done", "a requeued job")
            assert self.note(run.task).restarts == 1
        wait_for(lambda: not is_alive(self.hung.pid), "the end of the run that hangs")
        assert self.note(self.hung.task).restarts == 0  # slurmctld's death did not requeue it

    def note(self, task: int) -> TaskNote:
        """What a job of the first submission noted about itself."""
        note = self.first.note(task)
        assert note is not None
        return note

    def outcome_of_compiling(self) -> str:
        """How the job ended that compiled, as far as it did."""
        note = self.compiling.note(0)
        assert note is None or note.node == "n4"
        return "" if note is None else note.outcome

    def live_jobs_are_cancelled(self) -> None:
        """What is done stays, and what failed, hung, or was cancelled is distinguished."""
        self.cluster.call("scontrol", "update", "NodeName=n3", "State=RESUME")
        held = self.sweep.hold("n1", "n2", "n3")
        output = self.sweep.invoke("cancel")
        assert re.search(r"cancelled 3 running and \d+ waiting jobs", output)
        state = self.sweep.wait()
        wait_for(lambda: not any(is_alive(run.pid) for run in held), "the end of what was running")
        self.again.update(run.hash for run in held)
        assert state.count(State.FAILED) == 1
        lost, done = state.count(State.LOST), state.count(State.DONE)
        assert lost + done == 59
        output = self.sweep.invoke("status", code=1)
        assert re.search(r"^ +failed +1$", output, re.MULTILINE)
        assert re.search(r"^FAILED variant=PFC seed=\d+$", output, re.MULTILINE)
        assert "reproduce:" in output
        limited = 4 * (self.hung.task + 1) - self.first.runs.index(self.hung.hash)
        assert f"(cancelled {lost - limited}, its job hit the time limit {limited})" in output
        missing = f"{lost + 1} of 60 runs are missing: {done} done, 1 failed, {lost} lost"
        assert missing in self.sweep.invoke("collect", code=1)
        partial = self.sweep.invoke("collect", "--partial", code=1)
        assert f"the report covers {done} of 60 runs" in partial
        assert "it has no jobs in Slurm" in self.sweep.invoke("cancel")
        self.done_before = self.inodes()

    def inodes(self) -> dict[str, int]:
        """The folders of runs that are done; one that is made again is another."""
        return {path.name: path.stat().st_ino for path in self.sweep.store.runs.glob("[!.]*")}

    def a_node_does_not_see_the_results(self) -> None:
        """It takes one job after the other and can begin none; status names it."""
        self.cluster.start_node("n5", hidden=self.sweep.results)
        wait_for(lambda: self.cluster.states()["n5"] == "idle", "the node without the folder")
        self.options("--nodelist=n5")
        self.sweep.invoke("submit", "--runs-per-job", "4")
        state = self.sweep.wait()
        lost = state.count(State.LOST)
        assert state.count(State.DONE) + lost == 60
        output = self.sweep.invoke("status", code=1)
        log = self.sweep.submissions()[-1].folder / "log"
        assert f"(node n5 could not begin its job: does it see {log}? {lost})" in output
        assert not list(log.iterdir())
        self.options("--exclude=n5")

    def the_rest_is_made(self) -> None:
        """One more submission takes up what failed or was lost, and only that."""
        missing = 60 - self.sweep.count(State.DONE)
        output = self.sweep.invoke("submit", "--runs-per-job", "5", "--build-on-node")
        assert f"{60 - missing} done, {missing} to submit" in output
        state = self.sweep.wait()
        assert state.count(State.DONE) == 60, self.sweep.logs()
        last = self.sweep.submissions()[-1]
        notes = [last.note(task) for task in range(last.arrays[0].jobs)]
        assert {note.outcome for note in notes if note} == {"done"}
        assert {note.node for note in notes if note} <= {"n1", "n2", "n3", "n4"}
        assert self.done_before.items() <= self.inodes().items()
        assert "60 done, 0 to submit" in self.sweep.invoke("submit")
        assert "all done" in self.sweep.invoke("status")
        assert "report:" in self.sweep.invoke("collect")


def test_a_run_that_is_wrong_fails_with_its_reason(sweep: Sweep) -> None:
    """What a run fails for is shown by status with the reason; the others are run."""
    sweep.write(seeds=1, more=LOSING)
    sweep.invoke("submit", "--runs-per-job", "2")
    state = sweep.wait()
    assert (state.count(State.DONE), state.count(State.FAILED)) == (1, 1)
    output = sweep.invoke("status", code=1)
    assert "FAILED variant=BAD seed=1" in output
    assert "frames of lossless classes" in output


def test_the_first_sweep(sweep: Sweep, tmp_path: Path) -> None:
    """The tutorial's commands, with the output that it shows; all runs are done."""
    Tutorial(tmp_path, "first-sweep").follow()
    assert len(list((sweep.results / "sweep" / "runs").iterdir())) == 60


def test_a_study_is_swept_from_python(sweep: Sweep) -> None:
    """submit, status and collect of a Study; its runs are the bytes of a run here."""
    sweep.write(seeds=3)
    study = pyorch.Study.load(sweep.file)
    with pytest.raises(UserError, match="never submitted"):
        study.status()
    sent = study.submit(runs_per_job=1)
    assert sent is not None
    assert (sent.runs, [array.jobs for array in sent.arrays]) == (3, [3])
    with pytest.raises(UserError, match="of 3 runs are missing"):
        study.collect()
    sweep.wait()
    assert {name: count for name, count in study.status().items() if count} == {"done": 3}
    assert study.submit() is None
    assert study.collect().index.is_file()
    assert sorted(study.runs["seed"]) == [1, 2, 3]
    here = replace(sweep, results=sweep.results / "here")
    here.invoke("experiment")
    assert digests(here.results) == {
        name: digest
        for name, digest in digests(sweep.results).items()
        if not name.startswith("here/")
    }


def test_ten_thousand_runs_are_submitted_with_ten_seconds_of_cpu(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planning, hashing, the manifest and one array of 10,000 jobs; it waits for none of them."""
    site = tmp_path / "slurm.toml"
    site.write_text('setup = ["exit 0"]\noptions = ["--hold"]\n')
    sweep.write(seeds=10_000)
    monkeypatch.setenv("PYORCH_SLURM", str(site))
    began, before = time.monotonic(), cpu_of_children()
    output = sweep.invoke("submit", "--runs-per-job", "1")
    took, computing = time.monotonic() - began, cpu_of_children() - before
    assert "submitted 10,000 runs in 10,000 jobs" in output
    assert re.search(r"^ +waiting +10000 ", sweep.invoke("status"), re.MULTILINE)
    assert "cancelled 0 running and 10000 waiting" in sweep.invoke("cancel")
    # other tests use the cores too, so that the clock alone would say how busy they are
    assert computing < 10
    assert took < 3 * computing + 10  # nor does it wait: Slurm answers at once


def test_more_runs_than_an_array_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several arrays are one sweep; bringing Slurm up and down leaves no process behind."""
    with running_cluster(tmp_path / "slurm", 1, max_array=4) as cluster:
        monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
        sweep = Sweep(tmp_path / "split.toml", tmp_path / "results", cluster)
        sweep.write(seeds=7)
        output = sweep.invoke("submit", "--runs-per-job", "1", "--max-running", "1")
        assert "submitted 7 runs in 7 jobs" in output
        assert [array.jobs for array in sweep.submissions()[0].arrays] == [4, 3]
        wait_for(
            lambda: "Dependency" in {job.reason for job in sweep.state().queued},
            "the second array, which waits for the first",
        )
        wait_for(lambda: sweep.count(State.DONE) >= 1, "a first result")
        assert cluster.processes()
    assert cluster.processes() == {}
    state = sweep.state()
    assert state.away
    assert state.count(State.DONE) >= 1
    assert state.count(State.LOST) == state.count(State.FAILED) == 0
