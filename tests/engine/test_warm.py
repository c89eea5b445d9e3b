"""Runs as forks of a warm process: the same bytes as cold ones, and as well isolated."""

from __future__ import annotations

import io
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyorch.base.paths import RESULTS_VARIABLE, ROOT_VARIABLE, Paths, RunPaths, default_paths
from pyorch.engine import LocalEngine, write_manifest
from pyorch.engine.launch import Process, WarmLauncher
from pyorch.engine.local import child_environment
from pyorch.engine.log import log_tail, read_notes
from pyorch.engine.progress import read_heartbeat
from pyorch.pipeline import Plan, make_plan
from pyorch.run.ns3 import CRASHES
from tests.inputs import called

pytestmark = pytest.mark.processes

STUDY = """
title = "warm"
question = "?"
source = "test"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "{duration}"

[topology]
kind = "fat_tree"
k = 4
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "poisson"
class = 3
load = 0.5
workload = "websearch"

[sweep]
"buffer.size" = ["2MB", "4MB"]

[[trace]]
table = "queue"
classes = [3]

[[metric]]
name = "least"
kind = "goodput"
of = "min"
"""


@pytest.fixture
def plan_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """Make a plan of the study; its results are in a folder of the test."""

    def make(results: str, duration: str = "200us", seeds: int = 2) -> Plan:
        monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / results))
        file = tmp_path / "warm.toml"
        file.write_text(STUDY.format(duration=duration), encoding="utf-8")
        return make_plan(str(file), seeds=str(seeds))

    return make


def cold(manifest: Path, index: int, attempt: Path) -> list[str]:
    """The command of a run that is a program of its own."""
    words = [sys.executable, "-m", "pyorch.run", str(manifest), str(index)]
    return [*words, "--attempt", str(attempt)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of all runs but the logs."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != "log.txt")
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.cpp
def test_a_warm_run_gives_the_bytes_of_a_cold_one(plan_of: Callable[..., Plan]) -> None:
    """Four runs from one warm process, and each in a program of its own, are equal."""
    warm = plan_of("warm")
    assert len(warm.missing) == 4
    assert LocalEngine(warm.store, 2, stream=io.StringIO()).run(warm.missing, warm.build).left == 0
    logs = [RunPaths(folder).log for folder in warm.store.runs.iterdir()]
    assert not any("not warm" in log.read_text() for log in logs)
    # a cold start takes 0.4 s at the least; the first of the warm ones has waited for it too
    assert sorted(float(read_notes(log)["startup_s"]) for log in logs)[0] < 0.2
    apart = plan_of("apart")
    assert (
        LocalEngine(apart.store, 2, cold, io.StringIO()).run(apart.missing, apart.build).left == 0
    )
    expected = contents(apart.store.runs)
    assert len(expected) == 4 * 5  # spec, summary, flow, queue and their checksums
    assert contents(warm.store.runs) == expected


FIRST_RUN = """
import os
import sys
from pathlib import Path

from pyorch.run import serve
from pyorch.run.process import run_line

manifest, lines = serve._read(Path(sys.argv[1]))
serve._prepare(manifest, lines[0], networks=False)
before = set(sys.modules)
assert run_line(manifest, lines[0], Path(sys.argv[2]), 0.0) == 0
print(*sorted(set(sys.modules) - before), flush=True)
os._exit(0)  # as a fork ends: exit() is what a module must not call
"""


def test_a_fork_has_nothing_left_to_load(plan_of: Callable[..., Plan], tmp_path: Path) -> None:
    """What a warm process has not loaded, each of its runs would load again."""
    plan = plan_of("loads")
    plan.store.prepare()
    attempt = plan.store.begin(plan.specs[0].hash(plan.build.fingerprint)).folder
    manifest = tmp_path / "manifest.jsonl"
    write_manifest(manifest, plan.specs, plan.build.fingerprint, plan.build.folder)
    done = called(
        [sys.executable, "-c", FIRST_RUN, str(manifest), str(attempt)],
        env=child_environment(plan.store.paths),
    )
    assert done.returncode == 0, done.stderr
    assert "not warm" not in done.stderr
    assert done.stdout.split() == []


@pytest.mark.cpp
def test_a_kept_engine_takes_all_batches_from_one_process(
    plan_of: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two batches, one start, the bytes of one batch; afterwards no process is left."""
    starts = []
    serve = WarmLauncher._serve

    def counted(launcher: WarmLauncher, attempt: RunPaths) -> Any:
        starts.append(attempt)
        return serve(launcher, attempt)

    monkeypatch.setattr(WarmLauncher, "_serve", counted)
    kept, once = plan_of("kept"), plan_of("once")
    with LocalEngine(kept.store, 2, stream=io.StringIO()) as engine:
        for batch in (kept.missing[:1], kept.missing[1:]):
            assert engine.run(batch, kept.build).left == 0
    assert len(starts) == 1
    assert engine._warm is None
    LocalEngine(once.store, 2, stream=io.StringIO()).run(once.missing, once.build)
    assert contents(kept.store.runs) == contents(once.store.runs)


@pytest.mark.cpp
def test_a_build_that_goes_is_told(plan_of: Callable[..., Plan], tmp_path: Path) -> None:
    """A run that must load it says so and is no failure of its settings; a warm one has it."""
    plan = plan_of("gone", seeds=1)
    copy = tmp_path / "build" / "release" / "copy"
    shutil.copytree(plan.build.folder, copy)
    copied = replace(plan, build=replace(plan.build, folder=copy))

    def spoil(manifest: Path, index: int, attempt: Path) -> list[str]:
        shutil.rmtree(copy, ignore_errors=True)
        return cold(manifest, index, attempt)

    result = LocalEngine(plan.store, 1, spoil, io.StringIO()).run(plan.missing, copied.build)
    assert [failure.returncode for failure in result.failures] == [5, 5]
    told = result.failures[0].render()
    assert "the run could not start: the built modules cannot be loaded" in told
    assert f"{copy}: the build that these runs started with was deleted or damaged" in told
    assert "start the experiment again: it builds first" in told


@pytest.mark.cpp
def test_warm_runs_need_the_build_no_more(
    plan_of: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their process has loaded it: what is deleted after the first run does not stop the others."""
    plan = plan_of("deleted")
    copy = tmp_path / "build" / "release" / "copy"
    shutil.copytree(plan.build.folder, copy)
    end = LocalEngine._end

    def delete(engine: LocalEngine, batch: Any, child: Any) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        end(engine, batch, child)

    monkeypatch.setattr(LocalEngine, "_end", delete)
    output = io.StringIO()
    build = replace(plan.build, folder=copy)
    assert LocalEngine(plan.store, 1, stream=output).run(plan.missing, build).done == 4
    assert not copy.exists()


@pytest.fixture
def launcher(
    request: pytest.FixtureRequest, tmp_path: Path, plan_of: Callable[..., Plan]
) -> Iterator[tuple[WarmLauncher, Plan]]:
    """A launcher of runs that take long."""
    plan = plan_of("long", duration=getattr(request, "param", "60s"), seeds=1)
    plan.store.prepare()
    manifest = tmp_path / "manifest.jsonl"
    write_manifest(manifest, plan.specs, plan.build.fingerprint, plan.build.folder)
    environment = child_environment(plan.store.paths)
    with selectors.DefaultSelector() as selector:
        warm = WarmLauncher(manifest, tmp_path, environment, selector, len(plan.specs))
        yield warm, plan
        warm.close()


def begin(warm: WarmLauncher, plan: Plan, index: int) -> Process:
    """Start a run and wait until it is a process."""
    return begin_in_folder(warm, plan, index)[0]


def begin_in_folder(warm: WarmLauncher, plan: Plan, index: int) -> tuple[Process, RunPaths]:
    """The same, with the folder of the attempt."""
    attempt = plan.store.begin(plan.specs[index].hash(plan.build.fingerprint))
    process = warm.start(index, attempt)
    wait_for(lambda: process.poll() is None and process.pid != 0, "the run to begin")
    wait_for(attempt.spec.exists, "the run to be at work")
    return process, attempt


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, at most 20 seconds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_fork_that_crashes_takes_nobody_along(launcher: tuple[WarmLauncher, Plan]) -> None:
    """Its exit code is the signal's; the other goes on, and more can be started."""
    warm, plan = launcher
    first, second = begin(warm, plan, 0), begin(warm, plan, 1)
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert second.poll() is None
    third = begin(warm, plan, 0)
    assert third.poll() is None
    warm.close()
    wait_for(lambda: is_gone(second.pid) and is_gone(third.pid), "the forks to end")


@pytest.mark.parametrize("launcher", ["200ms"], indirect=True)  # flows of 60 s take 3 s to make
def test_a_crash_ends_at_once_and_names_its_functions(
    launcher: tuple[WarmLauncher, Plan],
) -> None:
    """Wherever it happens: a handler that allocates would hang in every crash within malloc()."""
    warm, plan = launcher
    for moment in range(30):
        crash(warm, plan, moment * 0.001)
    tails = [crash(warm, plan) for _ in range(3)]
    assert any("in ns3::facade::Simulation::Run(long) + 0x" in tail for tail in tails), tails


def crash(warm: WarmLauncher, plan: Plan, after_s: float | None = None) -> str:
    """Crash a run and return the tail of its log.

    after_s: how long after its heartbeat began; without it, once it has simulated something.
    """
    process, attempt = begin_in_folder(warm, plan, 0)
    wait_for(attempt.heartbeat.exists, "the run to simulate")
    if after_s is None:
        wait_for(lambda: read_heartbeat(attempt.heartbeat) > 0, "the simulation to go on")
    else:
        time.sleep(after_s)
    os.kill(process.pid, signal.SIGSEGV)
    wait_for(lambda: process.poll() is not None, "the end of a crash")
    assert process.wait() == -signal.SIGSEGV
    return log_tail(attempt.log)


LOADING = """
import os, sys
import pyorch.run.ns3, pyorch.run.process

def load(build):
    import cppyy

    cppyy.gbl.std.string("at work")
    os.kill(os.getpid(), int(sys.argv[1]))

pyorch.run.process.load_build = lambda manifest: None
pyorch.run.ns3.load_simulation = load
pyorch.run.process.load_class(None)
"""


@pytest.mark.parametrize("number", CRASHES)
def test_a_crash_while_the_modules_load_ends_by_its_signal(number: signal.Signals) -> None:
    """So does an illegal instruction, of modules that were built for another CPU."""
    done = subprocess.run([sys.executable, "-c", LOADING, str(int(number))], check=False)
    assert done.returncode == -number


def test_when_the_warm_process_dies_its_runs_fail_and_another_takes_over(
    launcher: tuple[WarmLauncher, Plan],
) -> None:
    """A run cannot outlive the process that watches it, and the batch goes on."""
    warm, plan = launcher
    first = begin(warm, plan, 0)
    os.kill(server_of(first), signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    wait_for(lambda: is_gone(first.pid), "the fork to end")
    assert begin(warm, plan, 1).poll() is None


@pytest.mark.parametrize(
    ("number", "again"), [(signal.SIGKILL, True), (signal.SIGSEGV, False)], ids=["killed", "crash"]
)
def test_runs_of_a_warm_process_that_is_killed_while_it_loads_are_tried_again(
    launcher: tuple[WarmLauncher, Plan], number: signal.Signals, again: bool
) -> None:
    """For lack of memory, say. One that crashes there would crash again."""
    warm, plan = launcher
    attempts = [plan.store.begin(spec.hash(plan.build.fingerprint)) for spec in plan.specs[:2]]
    runs = [warm.start(index, attempt) for index, attempt in enumerate(attempts)]
    assert warm._server is not None
    warm._server.send_signal(number)
    assert [(run.wait(), run.is_orphaned) for run in runs] == [(-number, again)] * 2


def server_of(process: Process) -> int:
    """The process that a run is a fork of."""
    return int(Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_batch_outlives_its_warm_process(
    plan_of: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    """Its runs are tried again, one at a time; that at which it dies again is the one that fails.

    The others give the bytes of runs that nothing happened to.
    """
    quiet = plan_of("quiet")
    assert (
        LocalEngine(quiet.store, 2, stream=io.StringIO()).run(quiet.missing, quiet.build).left == 0
    )
    plan = plan_of("killed")
    killed = [0]

    class Killing(WarmLauncher):
        """Kills its warm process when the first two runs have begun, and with each start then."""

        def poll(self) -> None:
            super().poll()
            begun = [fork for fork in self._forks.values() if fork.pid and fork.code is None]
            wanted = 2 if killed[0] == 0 else 1
            if killed[0] < deaths and len(begun) == wanted:
                killed[0] += 1
                os.kill(server_of(begun[0]), signal.SIGKILL)

    monkeypatch.setattr("pyorch.engine.local.WarmLauncher", Killing)
    output = io.StringIO()
    result = LocalEngine(plan.store, 2, stream=output).run(plan.missing, plan.build)
    again = "the process that runs are forks of was killed (SIGKILL; out of memory?)"
    assert output.getvalue().count(again) == 1
    assert result.left == deaths - 1
    for failure in result.failures:
        told = "FAILED buffer.size=2MB seed=1: the run was under way both times when the process"
        assert failure.render().startswith(told)
    expected, found = contents(quiet.store.runs), contents(plan.store.runs)
    assert len(found) == len(expected) * (4 - result.left) // 4
    assert found.items() <= expected.items()


DRIVER = """
import sys
from pyorch.pipeline import make_plan
from pyorch.engine import LocalEngine
plan = make_plan(sys.argv[1])
result = LocalEngine(plan.store, 2).run(plan.missing, plan.build)
print(f"done {result.done} left {result.left} interrupted {result.interrupted}", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_engine(
    tmp_path: Path, plan_of: Callable[..., Plan], number: signal.Signals
) -> None:
    """After Ctrl-C within two seconds, after kill -9 at once: no process is left."""
    plan = plan_of("long", duration="60s", seeds=1)
    environment = {
        **os.environ,
        RESULTS_VARIABLE: str(tmp_path / "long"),
        ROOT_VARIABLE: str(default_paths().root),
    }
    engine = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "warm.toml")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    runs = Paths(default_paths().root, tmp_path / "long").experiment_results("warm") / "runs"

    def at_work() -> int:
        return sum(1 for file in runs.glob(".*/spec.json")) if runs.exists() else 0

    wait_for(lambda: at_work() == 2, "two runs to be at work")
    (server,) = children(engine.pid)
    forks = children(server)
    assert len(forks) == 2
    began = time.monotonic()
    engine.send_signal(number)
    output, _ = engine.communicate(timeout=10)
    assert time.monotonic() - began < 2
    if number == signal.SIGINT:
        assert output.splitlines()[-1] == "done 0 left 2 interrupted True"
        assert list(runs.iterdir()) == []
    wait_for(lambda: all(is_gone(pid) for pid in (server, *forks)), "all to end")
    assert plan.missing == plan.specs


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]
