"""Sweeps on a real Slurm of three nodes, which the tests start and stop.

What may go wrong, and what is left then: after every fault the sweep gets complete.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyorch.cluster import look
from pyorch.engine.slurm.client import Slurm
from pyorch.engine.slurm.state import State, SweepState
from pyorch.engine.slurm.submission import Submission, submissions
from pyorch.paths import Paths
from pyorch.store import Store
from tests.slurm_cluster import Cluster, is_alive, missing_programs, running_cluster, wait_for

ROOT = Path(__file__).resolve().parents[1]

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

TINY = """
title = "Tiny"

[run]
duration = "{duration}"
seeds = {seeds}

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"

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

IMPOSSIBLE = """
[variants.BAD]
flow_control = ["conceptual-gfc"]
"conceptual-gfc.b0" = "200KB"
"conceptual-gfc.bm" = "100KB"
"""

SHORT, LONG = "200us", "400ms"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Slurm with three nodes of one core, for all tests of this file."""
    with running_cluster(tmp_path_factory.mktemp("slurm"), 3) as running:
        yield running


@dataclass
class Sweep:
    """An experiment with results of its own, and the commands as a person types them."""

    file: Path
    results: Path
    cluster: Cluster

    @property
    def store(self) -> Store:
        """Its results."""
        return Store(Paths(ROOT, self.results), self.file.stem)

    def write(self, text: str = TINY, *, seeds: int, duration: str = SHORT, more: str = "") -> None:
        """Write the experiment file."""
        self.file.write_text(text.format(seeds=seeds, duration=duration) + more)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a task in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "invoke", words[0], str(self.file), *words[1:]],
            cwd=ROOT,
            env=self.cluster.environment
            | {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(self.results)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def invoke(self, *words: str, code: int = 0) -> str:
        """Run a task and return what it printed."""
        process = self.start(*words)
        output, _ = process.communicate(timeout=300)
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

    def wait(self, patience_s: float = 150.0) -> SweepState:
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

    def simulating(self) -> list[int]:
        """The processes that simulate a run of this sweep: they hold its heartbeat open."""
        found = []
        for pid in self.cluster.processes():
            files = Path(f"/proc/{pid}/fd")
            try:
                targets = [str(file.readlink()) for file in files.iterdir()]
            except OSError:
                continue
            own = f"{self.store.runs}/."
            if any(target.startswith(own) and "heartbeat" in target for target in targets):
                found.append(pid)
        return found

    def hold(self, count: int) -> list[int]:
        """Stop simulations as they begin, until there are so many; they take no core then."""
        held: list[int] = []
        deadline = time.monotonic() + 60
        while len(held) < count:
            assert time.monotonic() < deadline, f"{len(held)} of {count} simulations began"
            new = [pid for pid in self.simulating() if pid not in held]
            for pid in new[: count - len(held)]:
                os.kill(pid, signal.SIGSTOP)
                held.append(pid)
            time.sleep(0.05)
        return held


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
    for node in cluster.nodes:
        if node not in cluster.idle():
            cluster.kill_daemon(node)
            cluster.start_node(node)
    wait_for(lambda: cluster.idle() == cluster.nodes, "all nodes idle again", 60)


def digests(results: Path) -> dict[str, str]:
    """Digest of every file of every run but its log."""
    return {
        str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(results.rglob("runs/*/*"))
        if file.name != "log.txt"
    }


def test_forty_runs_on_three_nodes_equal_the_local_engines(sweep: Sweep, tmp_path: Path) -> None:
    """All runs are made, by all nodes; every byte is what the local engine writes."""
    sweep.write(seeds=40)
    assert "40 to submit" in sweep.invoke("submit", "--runs-per-job", "5")
    assert sweep.state().count(State.DONE) < 40  # it returned before the work was done
    assert sweep.wait().count(State.DONE) == 40
    (submission,) = sweep.submissions()
    notes = [submission.note(task) for task in range(8)]
    assert {note.node for note in notes if note} == set(sweep.cluster.nodes)
    assert {note.outcome for note in notes if note} == {"done"}
    assert "all done" in sweep.invoke("status")
    assert "report:" in sweep.invoke("collect")
    home = Sweep(sweep.file, tmp_path / "home", sweep.cluster)
    home.invoke("experiment")
    assert len(digests(home.results)) == 40 * 4  # spec, summary, and two tables
    assert digests(sweep.results) == digests(home.results)


def test_two_shells_submit_each_run_once(sweep: Sweep) -> None:
    """Of two submissions at the same moment one has all runs, the other none."""
    sweep.write(seeds=6)
    shells = [sweep.start("submit", "--runs-per-job", "2") for _ in range(2)]
    outputs = sorted(shell.communicate(timeout=60)[0] for shell in shells)
    assert [shell.returncode for shell in shells] == [0, 0]
    assert sorted(re.findall(r"(\d+) to submit", "".join(outputs))) == ["0", "6"]
    assert len(sweep.submissions()) == 1
    assert "0 to submit" in sweep.invoke("submit")  # a third, later, while they wait or run
    assert sweep.wait().count(State.DONE) == 6
    assert sweep.invoke("submit").count("6 done, 0 to submit") == 1


def test_a_crash_costs_only_its_own_run(sweep: Sweep) -> None:
    """A segmentation fault fails one run; the others, also of its job, are made."""
    sweep.write(seeds=2, duration=LONG)
    sweep.invoke("submit", "--runs-per-job", "1")
    (pid,) = sweep.hold(1)
    os.kill(pid, signal.SIGSEGV)
    os.kill(pid, signal.SIGCONT)
    state = sweep.wait()
    assert (state.count(State.DONE), state.count(State.FAILED)) == (1, 1)
    output = sweep.invoke("status", code=1)
    assert re.search(r"^ +failed +1$", output, re.MULTILINE)
    assert re.search(r"^FAILED variant=PFC seed=[12]$", output, re.MULTILINE)
    assert "reproduce:" in output
    assert "1 of 2 runs are missing" in sweep.invoke("collect", code=1)
    assert "the report covers 1 of 2 runs" in sweep.invoke("collect", "--partial", code=1)
    assert "1 done, 1 to submit" in sweep.invoke("submit")
    assert sweep.wait().count(State.DONE) == 2
    assert sweep.invoke("collect").count("report:") == 1


def test_an_impossible_run_fails_with_its_reason(sweep: Sweep) -> None:
    """What the simulator refuses is told by status with the reason; the others are made."""
    sweep.write(seeds=1, more=IMPOSSIBLE)
    sweep.invoke("submit", "--runs-per-job", "2")
    state = sweep.wait()
    assert (state.count(State.DONE), state.count(State.FAILED)) == (1, 1)
    output = sweep.invoke("status", code=1)
    assert "FAILED variant=BAD seed=1" in output
    assert "this configuration is impossible" in output


def test_dead_nodes_lose_nothing(sweep: Sweep) -> None:
    """One node is cut off the power, another loses its slurmd while its processes live on.

    Slurm requeues the jobs of both. The run of the first is made anew; that of the second is still
    being made by the orphan, and the requeued job waits for it instead of making it twice.
    """
    sweep.write(seeds=2, duration=LONG)
    sweep.invoke("submit", "--runs-per-job", "1")
    held = sweep.hold(2)  # they must not be done before Slurm finds their nodes dead
    on_node = {sweep.cluster.processes()[pid]["SLURMD_NODENAME"]: pid for pid in held}
    sweep.cluster.kill_node("n1")
    sweep.cluster.kill_daemon("n2")
    wait_for(lambda: not is_alive(on_node["n1"]), "the end of the node's processes", 10)
    assert is_alive(on_node["n2"])
    wait_for(lambda: "waiting for it" in sweep.logs(), "the job that replaces the orphan", 120)
    os.kill(on_node["n2"], signal.SIGCONT)
    assert sweep.wait(240).count(State.DONE) == 2
    (submission,) = sweep.submissions()
    restarts = [note.restarts for note in map(submission.note, range(2)) if note]
    assert restarts == [1, 1]
    assert sweep.logs().count("1/1 runs, took") == 2  # no run was made twice to its end
    assert sorted(path.name for path in sweep.store.runs.iterdir()) == sorted(submission.runs)
    assert not sweep.store.failed.exists()


def test_the_controller_may_restart(sweep: Sweep) -> None:
    """While slurmctld is away status says so and what the disk tells; then all goes on."""
    sweep.write(seeds=4, duration=LONG)
    sweep.invoke("submit", "--runs-per-job", "1")
    held = sweep.hold(3)
    # what slurmctld has not saved when it dies it never knew: it would start these jobs again
    wait_for(sweep.cluster.has_saved_its_state, "the state of slurmctld on the disk", 30)
    sweep.cluster.stop_controller()
    os.kill(held.pop(), signal.SIGCONT)
    wait_for(lambda: list(sweep.store.runs.glob("[!.]*")), "a run that ends meanwhile")
    output = sweep.invoke("status")
    assert "Slurm does not answer" in output
    for state, count in {"done": 1, "running": 2, "waiting": 0, "unknown": 1}.items():
        assert re.search(rf"^ +{state} +{count}\b", output, re.MULTILINE), output
    assert "Slurm: does not answer" in sweep.invoke("submit", code=2)
    assert "Slurm: does not answer" in sweep.invoke("cancel", code=2)
    sweep.cluster.start_controller()
    wait_for(lambda: not sweep.state().away, "slurmctld")
    for pid in held:
        os.kill(pid, signal.SIGCONT)
    assert sweep.wait().count(State.DONE) == 4
    (submission,) = sweep.submissions()
    assert [note.restarts for note in map(submission.note, range(4)) if note] == [0] * 4


def test_cancel_and_go_on(sweep: Sweep) -> None:
    """What is done stays; the next submission takes up the rest, and only that."""
    sweep.write(seeds=6, duration=LONG)
    sweep.invoke("submit", "--runs-per-job", "2")
    held = sweep.hold(3)
    os.kill(held.pop(), signal.SIGCONT)
    wait_for(lambda: sweep.count(State.DONE) >= 1, "a first result")
    assert "cancelled" in sweep.invoke("cancel")
    state = sweep.wait()
    done, lost = state.count(State.DONE), state.count(State.LOST)
    assert (done, lost) in [(1, 5), (2, 4)]
    wait_for(lambda: not any(map(is_alive, held)), "the end of what was running", 20)
    assert f"(cancelled {lost})" in sweep.invoke("status", code=1)
    before = {path.name: path.stat().st_ino for path in sweep.store.runs.glob("[!.]*")}
    assert f"{lost} to submit" in sweep.invoke("submit", "--runs-per-job", "2")
    assert sweep.wait().count(State.DONE) == 6
    after = {path.name: path.stat().st_ino for path in sweep.store.runs.glob("[!.]*")}
    assert before.items() <= after.items()
    assert "no job of it is with Slurm" in sweep.invoke("cancel")


def test_a_time_limit_is_told_and_mended(sweep: Sweep) -> None:
    """A job that hits its limit loses its run; status says why, a longer limit mends it."""
    sweep.write(seeds=1, duration=LONG)
    sweep.invoke("submit", "--time", "1min")
    (pid,) = sweep.hold(1)
    (job,) = sweep.state().queued
    # limits are whole minutes, but an end may be set; slurmctld looks every 30 s
    sweep.cluster.call("scontrol", "update", f"JobId={job.array_id}", "EndTime=now+1seconds")
    state = sweep.wait(100)
    assert state.count(State.LOST) == 1
    assert not is_alive(pid)
    assert "(its job hit the time limit 1)" in sweep.invoke("status", code=1)
    assert "1 to submit" in sweep.invoke("submit", "--time", "10min")
    assert sweep.wait().count(State.DONE) == 1


def test_ten_thousand_runs_are_submitted_within_ten_seconds(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From typing to the prompt: planning, hashing, the manifest and one array of 10,000 jobs."""
    site = tmp_path / "slurm.toml"
    site.write_text('setup = ["exit 0"]\noptions = ["--hold"]\n')
    sweep.write(seeds=10_000)
    monkeypatch.setenv("PYORCH_SLURM", str(site))
    took = []
    while min(took, default=99.0) >= 10 and len(took) < 3:  # other tests use the cores too
        began = time.monotonic()
        output = sweep.invoke("submit", "--runs-per-job", "1")
        took.append(time.monotonic() - began)
        assert "submitted 10000 runs in 10000 jobs" in output
        assert re.search(r"^ +waiting +10000 ", sweep.invoke("status"), re.MULTILINE)
        assert "cancelled 0 running and 10000 waiting" in sweep.invoke("cancel")
    assert min(took) < 10


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
