"""The local engine, with a worker that sleeps, crashes or hangs instead of simulating."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.base.units import duration, rounded_time
from pyorch.build.info import BuildInfo
from pyorch.engine import BatchResult, LocalEngine, read_manifest, read_run, write_manifest
from pyorch.engine.base import describe_exit
from pyorch.engine.log import log_tail, read_notes
from pyorch.engine.manifest import read_runs
from pyorch.engine.progress import (
    Heartbeat,
    Progress,
    Watch,
    read_heartbeat,
    read_running,
    remaining_s,
)
from pyorch.engine.terminal import Running
from pyorch.kinds import read_spec
from pyorch.plan import RunSpec
from pyorch.store.store import Store
from tests.forms import form, run_of
from tests.inputs import called

pytestmark = pytest.mark.processes

FINGERPRINT = "f" * 64

WORKER = """
import json, os, shutil, signal, sys, time
from pathlib import Path
from pyorch.engine import read_run
from pyorch.base.paths import RunPaths, default_paths
from pyorch.run.process import end_with_parent
from pyorch.store.store import Store
from pyorch.kinds import read_spec

manifest, spec = read_run(Path(sys.argv[1]), int(sys.argv[2]), read_spec)
attempt = RunPaths(Path(sys.argv[3]))
store = Store(default_paths(), spec.setting.experiment)
run_hash = spec.hash(manifest.fingerprint)
end_with_parent()
trace = store.paths.root / "trace"
with trace.open("a") as file:
    file.write(f"{spec.seed} {os.getpid()}\\n")
for step in spec.params["do"].split():
    action, _, value = step.partition(":")
    if action == "sleep":
        time.sleep(float(value))
    elif action == "say":
        print(value, file=sys.stderr)
    elif action == "simulated":
        attempt.heartbeat.write_text(value.replace("_", " "))
    elif action == "lose":
        shutil.rmtree(getattr(store, value) if value != "attempt" else attempt.folder)
    elif action == "exit":
        os._exit(int(value))
    elif action == "kill":
        os.kill(os.getpid(), getattr(signal, value))
    elif action == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif action == "unless":
        if (store.paths.root / value).exists():
            break
attempt.spec.write_text(spec.to_json())
attempt.summary.write_text(json.dumps({"nodes": [], "summary": {}, "metrics": {}}))
store.commit(attempt.folder, run_hash, manifest.fingerprint)
"""

DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_engine as t
root = Path(sys.argv[2])
result = t.run_batch(root, [t.make_spec(n, do) for n, do in enumerate(sys.argv[3:])], sys.stdout)
print(f"done {result.done} left {result.left} interrupted {result.interrupted}", flush=True)
"""


def make_spec(seed: int, do: str) -> RunSpec:
    """A RunSpec that tells the worker what to do."""
    return run_of({"experiment": "study", "seed": seed, "params": {"variant": "", "do": do}})


def make_build(root: Path) -> BuildInfo:
    """A build that nothing loads."""
    return BuildInfo(root / "build", [], [], [], FINGERPRINT)


def make_store(root: Path) -> Store:
    """The store that the engine writes to."""
    return Store(Paths(root), "study")


def worker_command(root: Path) -> Callable[[Path, int, Path], Sequence[str]]:
    """The command that starts the worker."""
    script = root / "worker.py"
    script.write_text(WORKER)
    return lambda manifest, index, attempt: [
        sys.executable,
        *(str(argument) for argument in (script, manifest, index, attempt)),
    ]


def run_batch(
    root: Path, specs: Sequence[RunSpec], stream: Any = None, jobs: int = 2
) -> BatchResult:
    """Run what is missing of some specs."""
    store = make_store(root)
    engine = LocalEngine(store, jobs, worker_command(root), stream or io.StringIO())
    return engine.run(store.missing(specs, FINGERPRINT), make_build(root))


def started(root: Path) -> list[int]:
    """Seeds of the runs that the worker began, in order."""
    trace = root / "trace"
    lines = trace.read_text().splitlines() if trace.exists() else []
    return [int(line.split()[0]) for line in lines]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, at most a minute: other work may fill the machine."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.01)


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process that runs a batch in tmp_path."""
    processes: list[subprocess.Popen[str]] = []

    def start(*actions: str) -> subprocess.Popen[str]:
        here = Path(__file__).resolve()
        arguments = [sys.executable, "-c", DRIVER, str(here.parent), str(tmp_path), *actions]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_all_runs_end_and_nothing_is_left_over(tmp_path: Path) -> None:
    """Every run is committed; manifests, attempts and heartbeats are gone."""
    specs = [make_spec(seed, "") for seed in range(5)]
    result = run_batch(tmp_path, specs)
    assert result == BatchResult(done=5, left=0)
    store = make_store(tmp_path)
    assert sorted(os.listdir(store.runs)) == sorted(s.hash(FINGERPRINT) for s in specs)
    assert sorted(os.listdir(store.root)) == ["runs"]


def test_the_same_command_again_does_only_what_is_missing(tmp_path: Path) -> None:
    """Finished runs are not started a second time."""
    run_batch(tmp_path, [make_spec(seed, "") for seed in (0, 1)])
    assert run_batch(tmp_path, [make_spec(seed, "") for seed in (0, 1, 2)]).done == 1
    assert started(tmp_path)[2:] == [2]
    assert run_batch(tmp_path, [make_spec(0, "")]) == BatchResult(done=0, left=0)


def test_a_run_that_was_made_since_the_batch_began_is_not_begun(tmp_path: Path) -> None:
    """Another process may work at the same runs: a job's orphan, or a second shell."""
    specs = [make_spec(seed, "") for seed in range(3)]
    run_batch(tmp_path, specs[:2])
    engine = LocalEngine(make_store(tmp_path), 1, worker_command(tmp_path), io.StringIO())
    assert engine.run(specs, make_build(tmp_path)) == BatchResult(done=3, left=0)
    assert sorted(started(tmp_path)) == [0, 1, 2]


def test_no_more_than_jobs_at_once(tmp_path: Path) -> None:
    """With one job the runs follow each other in the order of the plan."""
    began = time.monotonic()
    run_batch(tmp_path, [make_spec(seed, "sleep:0.2") for seed in range(3)], jobs=1)
    assert time.monotonic() - began >= 0.6
    assert started(tmp_path) == [0, 1, 2]


@pytest.mark.parametrize(
    ("do", "returncode", "meaning"),
    [
        ("say:boom kill:SIGSEGV", -11, "crashed: segmentation fault (exit code -11)"),
        ("say:boom kill:SIGKILL", -9, "was killed (SIGKILL; out of memory?) (exit code -9)"),
        ("say:boom exit:3", 3, "ended with a wrong result (exit code 3)"),
        ("say:boom exit:0", 0, "ended by itself before its end, without a result (exit code 0)"),
    ],
)
def test_a_crash_fails_that_run_only(
    tmp_path: Path, do: str, returncode: int, meaning: str
) -> None:
    """The other runs go on; the failure has the log's tail and what reproduces it."""
    stream = io.StringIO()
    specs = [make_spec(0, do), make_spec(1, "sleep:0.1"), make_spec(2, "")]
    result = run_batch(tmp_path, specs, stream)
    assert (result.done, result.left) == (2, 1)
    (failure,) = result.failures
    assert (failure.returncode, failure.tail) == (returncode, "boom")
    kept = make_store(tmp_path).failure(specs[0].hash(FINGERPRINT))
    assert kept.spec.read_text() == specs[0].to_json() + "\n"
    assert kept.log.read_text() == "boom\n"
    manifest, spec = read_run(kept.manifest, 0, read_spec)
    assert (manifest.fingerprint, form(spec)) == (FINGERPRINT, form(specs[0]))
    assert failure.reproduce.endswith(f"-m pyorch.run {kept.manifest} 0")
    assert f"FAILED do={do} seed=0: the run {meaning}\n    | boom\n" in stream.getvalue()


def test_a_failed_run_is_tried_again(tmp_path: Path) -> None:
    """The next call runs the failed one again and forgets the failure when it succeeds."""
    spec = make_spec(0, "unless:mended exit:1")
    assert run_batch(tmp_path, [spec]).left == 1
    (tmp_path / "mended").touch()
    assert run_batch(tmp_path, [spec]).done == 1
    assert os.listdir(make_store(tmp_path).failed) == []


def test_a_program_that_cannot_start_is_reported(tmp_path: Path) -> None:
    """A worker that does not exist is an error of the system, not a silent success."""
    store = make_store(tmp_path)
    engine = LocalEngine(store, 1, lambda *_: ["/nowhere/at/all"], io.StringIO())
    with pytest.raises(FileNotFoundError):
        engine.run([make_spec(0, "")], make_build(tmp_path))


def test_a_full_disk_stops_the_batch_with_one_message(tmp_path: Path) -> None:
    """A run that could not write stops everything, and one message says why."""
    stream = io.StringIO()
    specs = [make_spec(n, "exit:4" if n == 0 else "sleep:60") for n in range(4)]
    began = time.monotonic()
    result = run_batch(tmp_path, specs, stream)
    assert time.monotonic() - began < 50
    assert (result.storage_failed, result.done, result.left) == (True, 0, 4)
    assert stream.getvalue().count("cannot be written") == 1
    assert "PYORCH_RESULTS" in stream.getvalue()
    assert os.listdir(make_store(tmp_path).runs) == []


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """Even one that ignores SIGTERM; the message names the key, and the other runs go on."""
    stream = io.StringIO()
    specs = [make_spec(0, "deaf sleep:600"), make_spec(1, ""), make_spec(2, "")]
    limited = [replace(spec, time_limit=10) for spec in specs]
    result = run_batch(tmp_path, limited, stream)
    assert (result.done, result.left) == (2, 1)
    assert [failure.title for failure in result.failures] == ["do=deaf sleep:600 seed=0"]
    assert (
        "seed=0: the run was ended: it took longer than 10 s of wall time, `time_limit` of [run]\n"
        in stream.getvalue()
    )
    pid = int((tmp_path / "trace").read_text().split()[1])
    assert not Path(f"/proc/{pid}").exists()


def test_the_time_limit_goes_with_a_manifest(tmp_path: Path) -> None:
    """To the nodes of a cluster; neither the run's name nor its canonical form has it."""
    spec = make_spec(1, "")
    limited = replace(spec, time_limit=600)
    assert limited == spec
    assert limited.hash(FINGERPRINT) == spec.hash(FINGERPRINT)
    path = tmp_path / "manifest"
    write_manifest(path, [spec], FINGERPRINT, tmp_path)
    without = path.read_bytes()
    write_manifest(path, [limited], FINGERPRINT, tmp_path)
    assert path.read_bytes() != without
    _, (read,) = read_runs(path, 0, 1, read_spec)
    assert (read, read.time_limit) == (spec, 600)


def test_runs_that_fail_alike_are_told_once(tmp_path: Path) -> None:
    """In full for the first, and in one line for the others."""
    stream = io.StringIO()
    specs = [make_spec(n, "say:no_room exit:2") for n in range(4)]
    specs.append(make_spec(4, "say:other exit:2"))
    result = run_batch(tmp_path, specs, stream, jobs=1)
    assert [failure.title[-1] for failure in result.failures] == ["0", "1", "2", "3", "4"]
    assert stream.getvalue().count("| no_room\n") == 1
    assert stream.getvalue().count("| other\n") == 1
    title = "do=say:no_room exit:2 seed="
    expected = f"FAILED 3 more runs in the same way as {title}0: {title}1, {title}2, {title}3\n"
    assert stream.getvalue().endswith(expected)


@pytest.mark.parametrize("then", ["exit:0", "exit:1", ""])
def test_a_folder_of_results_that_goes_is_told(tmp_path: Path, then: str) -> None:
    """It stops the batch with one message that names it, however its runs end."""
    stream = io.StringIO()
    specs = [make_spec(0, f"lose:root {then}"), make_spec(1, "")]
    result = run_batch(tmp_path, specs, stream, jobs=1)
    assert (result.storage_failed, result.done, result.left) == (True, 0, 2)
    runs = make_store(tmp_path).runs
    assert f"{runs}: the folder of the results is gone" in stream.getvalue()
    assert stream.getvalue().count("\n") == 2


def test_an_attempt_that_goes_is_told(tmp_path: Path) -> None:
    """That run alone fails."""
    specs = [make_spec(0, "lose:attempt exit:0"), make_spec(1, "")]
    result = run_batch(tmp_path, specs, jobs=1)
    assert (result.done, result.left) == (1, 1)
    assert "the run lost its folder, " in result.failures[0].render()


def test_a_crash_without_a_word_is_told_with_its_time(tmp_path: Path) -> None:
    """How far the simulation was, and how to see where it is; in a log that says why, neither."""
    specs = [
        make_spec(0, "simulated:500_1000_5000000_0 sleep:2 kill:SIGSEGV"),
        make_spec(1, "kill:SIGSEGV"),
        make_spec(2, "say:told exit:1"),
    ]
    within, before, told = run_batch(tmp_path, specs, jobs=1).failures
    end = rounded_time(specs[0].setting.run.latest_end)
    assert f"    it ended:  at 5 us of {end} by its last heartbeat, or later\n" in within.render()
    assert f"    backtrace: gdb -batch -ex run -ex backtrace --args {within.reproduce}\n" in (
        within.render()
    )
    assert "    it ended:  before it simulated anything\n" in before.render()
    assert told.facts == ()


def test_control_characters_of_a_log_do_not_reach_a_terminal(tmp_path: Path) -> None:
    """They are escaped; the log keeps them."""
    stream = io.StringIO()
    run_batch(tmp_path, [make_spec(0, "say:\x1b[31mred exit:1")], stream)
    assert "\x1b" not in stream.getvalue()
    assert "    | \\x1b[31mred\n" in stream.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_everything_within_two_seconds(
    tmp_path: Path, drive: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    """Even with a run that ignores SIGTERM; finished runs stay and the rest can be resumed."""
    process = drive("", "deaf sleep:60", "sleep:60", "sleep:60")
    store = make_store(tmp_path)
    done = make_spec(0, "").hash(FINGERPRINT)
    wait_for(lambda: store.is_done(done) and len(started(tmp_path)) >= 3, "three runs to begin")
    began = time.monotonic()
    process.send_signal(number)
    output, _ = process.communicate(timeout=10)
    assert time.monotonic() - began < 2.0
    assert output.splitlines()[-1] == "done 1 left 3 interrupted True"
    assert os.listdir(store.runs) == [done]
    assert sorted(os.listdir(store.root)) == ["runs"]
    for line in (tmp_path / "trace").read_text().splitlines():
        assert not Path(f"/proc/{line.split()[1]}").exists()


def test_a_batch_that_was_started_by_nohup_outlives_its_terminal(
    tmp_path: Path, drive: Callable[..., subprocess.Popen[str]]
) -> None:
    """A signal that the process was started to ignore does not end the batch."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = drive("sleep:0.5")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(lambda: started(tmp_path) == [0], "the run to begin")
    process.send_signal(signal.SIGHUP)
    output, _ = process.communicate(timeout=10)
    assert output.splitlines()[-1] == "done 1 left 0 interrupted False"


def test_a_batch_goes_on_after_its_process_was_killed(
    tmp_path: Path, drive: Callable[..., subprocess.Popen[str]]
) -> None:
    """SIGKILL of the engine ends its runs too; the next call sweeps up and does the rest."""
    store = make_store(tmp_path)
    specs = [make_spec(0, ""), make_spec(1, "unless:mended sleep:60")]
    process = drive(*(spec.params["do"] for spec in specs))
    wait_for(
        lambda: store.is_done(specs[0].hash(FINGERPRINT)) and len(started(tmp_path)) == 2,
        "the second run to begin",
    )
    process.kill()
    process.wait()
    orphan = int((tmp_path / "trace").read_text().split()[-1])
    wait_for(lambda: not Path(f"/proc/{orphan}").exists() or _is_zombie(orphan), "the run to end")
    assert len(os.listdir(store.runs)) == 2  # one is done, one was being written
    (tmp_path / "mended").touch()
    assert run_batch(tmp_path, specs) == BatchResult(done=1, left=0)
    assert sorted(os.listdir(store.runs)) == sorted(spec.hash(FINGERPRINT) for spec in specs)
    assert sorted(started(tmp_path)) == [0, 1, 1]


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_two_engines_at_one_experiment_do_no_harm(
    tmp_path: Path, drive: Callable[..., subprocess.Popen[str]]
) -> None:
    """The same batch twice at once: both succeed and every run is there once."""
    actions = ["sleep:0.3"] * 4
    processes = [drive(*actions), drive(*actions)]
    outputs = [process.communicate(timeout=30)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert all(" left 0 interrupted False" in output for output in outputs)
    store = make_store(tmp_path)
    expected = sorted(make_spec(n, do).hash(FINGERPRINT) for n, do in enumerate(actions))
    assert sorted(os.listdir(store.runs)) == expected


# Manifests, logs, exit codes


def test_a_manifest_gives_back_its_runs(tmp_path: Path) -> None:
    """Every run of a manifest is found by its number, with the build's fingerprint."""
    specs = [make_spec(seed, "") for seed in range(3)]
    path = tmp_path / "manifest.jsonl"
    write_manifest(path, specs, FINGERPRINT, tmp_path / "build")
    assert read_manifest(path).runs == 3
    for number, spec in enumerate(specs):
        manifest, read = read_run(path, number, read_spec)
        assert (form(read), manifest.fingerprint) == (form(spec), FINGERPRINT)
        assert manifest.build == tmp_path / "build"
    assert os.listdir(tmp_path) == ["manifest.jsonl"]


@pytest.mark.parametrize("index", [-1, 3, 100])
def test_a_manifest_has_no_other_runs(tmp_path: Path, index: int) -> None:
    """A number outside the manifest is an error that says which there are."""
    path = tmp_path / "manifest.jsonl"
    write_manifest(path, [make_spec(seed, "") for seed in range(3)], FINGERPRINT, tmp_path)
    with pytest.raises(UserError, match=rf"it has no run number {index}\n    allowed: 0 to 2"):
        read_run(path, index, read_spec)


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", '{"manifest": 99}'])
def test_another_file_is_no_manifest(tmp_path: Path, text: str) -> None:
    """Any other file is refused by name."""
    path = tmp_path / "manifest.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=r"manifest\.jsonl: is not a manifest of this version"):
        read_manifest(path)


def test_the_tail_of_a_log(tmp_path: Path) -> None:
    """The last lines of a long log, with bytes that are not text replaced."""
    log = tmp_path / "log.txt"
    log.write_bytes(b"".join(b"%d\n" % n for n in range(100_000)) + b"\xff\n\n")
    assert log_tail(log, 3) == "99998\n99999\n\ufffd"
    assert log_tail(tmp_path / "missing") == ""


CRASH = """\
# hash: abc
# startup_s: 0.5
msg="name static is no valid value", file=enum.h, line=293
NS_FATAL, terminating
*** Crash, the innermost function first:
/lib/x86_64-linux-gnu/libc.so.6(abort+0xd7)[0x7f17b3a42537]
/lib/libstdc++.so.6(_ZSt9terminatev+0x25)[0x7f17b06a8e85]
/lib/x.so(_ZNK3ns311EnumCheckerIiE8GetValueEv+0x1f)[0x7f17afee87b0]
python(_start+0x21)[0x55953442a081]
"""


def test_the_tail_of_a_crash_is_its_message(tmp_path: Path) -> None:
    """Of a stack trace only the frames of ns-3 and the modules are shown, and none of the notes."""
    log = tmp_path / "log.txt"
    log.write_text(CRASH)
    assert log_tail(log).splitlines() == [
        "name static is no valid value",
        "(enum.h:293)",
        "in ns3::EnumChecker<int>::GetValue() const + 0x1f of x.so",
    ]
    assert read_notes(log) == {"hash": "abc", "startup_s": "0.5"}


def test_exit_codes_are_explained() -> None:
    """Signals and unknown codes are reported as such."""
    assert "NS_FATAL_ERROR" in describe_exit(-6)
    assert "SIGFPE" in describe_exit(-8)
    assert describe_exit(77) == "stopped (exit code 77)"
    assert describe_exit(-1) == "was ended by SIGHUP (exit code -1)"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            'NS_ASSERT failed, cond="a < b", msg="queue 3\nis full", +1.5s 4 file=m/q.cc, line=7\n',
            ["queue 3", "is full", '(NS_ASSERT failed, cond="a < b", +1.5s 4 q.cc:7)'],
        ),
        ('aborted. cond="a > b, file=m/q.cc, line=7\n', ['(aborted. cond="a > b, q.cc:7)']),
        ('aborted. msg="no link", file=q.cc, line=7\n', ["no link", "(aborted. q.cc:7)"]),
    ],
)
def test_an_abort_is_told_by_its_message_first(
    tmp_path: Path, printed: str, expected: list[str]
) -> None:
    """As the macros of ns-3 print it, before what the run said until then."""
    log = tmp_path / "log.txt"
    end = "NS_FATAL, terminating\nterminate called without an active exception\n"
    crash = "*** Crash, the innermost function first:\nx(main+0x1)[0x1]\n"
    log.write_text(f"# hash: a\nearlier\n{printed}{end}{crash}")
    assert log_tail(log).splitlines() == [*expected, "earlier"]


EXITS = """
import ctypes, sys
from pyorch.run.process import end_with_exit

library = ctypes.CDLL(None)
end_with_exit()
library.printf(b"said, and not yet written")
library.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code", [0, 1])
def test_exit_in_a_module_is_no_end_of_a_run(code: int) -> None:
    """Nothing is destroyed under its feet, and its code is not taken for that of a run."""
    line = [sys.executable, "-c", EXITS, str(code)]
    done = called(line)
    assert (done.returncode, done.stdout) == (6, "said, and not yet written")
    assert describe_exit(6) == (
        "was ended by exit(), which a module called, before its end (exit code 6)"
    )


# Progress


def test_a_heartbeat_tells_the_fraction(tmp_path: Path) -> None:
    """It is written by itself while the work goes on; what does not change gives no sign."""
    share = [0.0]
    path = tmp_path / "heartbeat"
    assert read_heartbeat(path) == 0.0
    with Heartbeat(path, lambda: share[0], interval_s=0.001):
        for wanted in (0.1, 0.5, 2.0):
            share[0] = wanted
            deadline = time.monotonic() + 30
            while read_heartbeat(path) != min(wanted, 1.0):
                assert time.monotonic() < deadline
                time.sleep(0.001)
        os.utime(path, (1000, 1000))
        time.sleep(0.02)
        assert path.stat().st_mtime == 1000
    assert read_heartbeat(tmp_path / "missing") == 0.0


def test_a_heartbeat_tells_a_stall(tmp_path: Path) -> None:
    """Nothing arrived for a tenth of the time so far; at first, of the time that a run may take."""
    path = tmp_path / "heartbeat"
    now, arrived = 0, 0
    with Heartbeat(path, lambda: now / 1000, 3600, lambda: now, lambda: arrived) as heart:
        for now, arrived, stalled in (  # noqa: B007 (the heartbeat reads them)
            (99, 0, 0),
            (100, 0, 100),
            (200, 1, 0),
            (222, 1, 0),
            (223, 1, 23),
            (900, 1, 700),
            (901, 2, 0),
        ):
            heart.beat()
            assert read_running(path).now == now
            assert read_running(path).stalled == stalled


@pytest.mark.parametrize(("arrived_later", "stalled"), [(1, 3000), (2, 0)])
def test_the_end_of_a_run_looks_once_more(tmp_path: Path, arrived_later: int, stalled: int) -> None:
    """A run that goes faster than the heart beats has not stalled since the last beat."""
    path = tmp_path / "heartbeat"
    now, arrived = 2000, 1
    with Heartbeat(path, lambda: now / 5000, 3600, lambda: now, lambda: arrived) as heart:
        heart.beat()
        now, arrived = 5000, arrived_later
    assert read_running(path).stalled == stalled


def test_the_time_left_follows_from_the_speed() -> None:
    """4 of 10 runs and two halves in 50 s: 5 runs' worth, so 50 s are left."""
    assert remaining_s(50.0, 10, 4, under_way(0.5, 0.5)) == pytest.approx(50.0)
    assert remaining_s(50.0, 10, 0, []) == float("inf")


def test_set_up_is_no_speed() -> None:
    """90 s of set-up and 10 s for a quarter: 30 s are left. Runs still to start are set up, too."""
    begun = Running("a", 0.25, setup=90.0)
    waiting = Running("b", 0.0, is_set_up=False, setup=100.0)
    assert remaining_s(100.0, 1, 0, [begun]) == pytest.approx(30.0)
    assert remaining_s(100.0, 2, 0, [begun, begun]) == pytest.approx(30.0)
    # 7.5 runs at 2.5 % a second, two at once, and three times 90 s
    assert remaining_s(100.0, 8, 0, [begun, begun]) == pytest.approx(7.5 / 0.025 / 2 + 3 * 90)
    assert remaining_s(100.0, 2, 0, [begun, waiting]) == pytest.approx(1.75 / 0.025 / 2)
    assert remaining_s(100.0, 1, 0, [waiting]) == float("inf")


def test_a_standstill_has_no_end() -> None:
    """Nobody knows when a run that stands still will go on, whatever the others do."""
    still = Running("b", 0.5, still=31.0)
    assert remaining_s(100.0, 4, 2, [Running("a", 0.5), still]) == float("inf")


def test_a_watch_sees_set_up_and_standstill(tmp_path: Path) -> None:
    """Wall time before the heartbeat begins, and since it last changed, from half a minute on."""
    now, file = [0.0], tmp_path / "heartbeat"
    watch = Watch("a", file, lambda: now[0])

    def at(second: float, text: str = "") -> Running:
        now[0] = second
        if text:
            file.write_text(text)
        return watch.look()

    assert at(5) == Running("a", 0.0, is_set_up=False, setup=5.0)
    assert at(90) == Running("a", 0.0, is_set_up=False, setup=90.0)
    assert at(91, "0 1000 0 0") == Running("a", 0.0, setup=91.0)
    assert at(120.9).still == 0
    assert at(121).still == 30
    assert at(121.5, "10 1000 7 7") == Running("a", 0.01, 7, setup=91.0)
    assert at(151.5) == Running("a", 0.01, 7, setup=91.0, still=30.0)
    assert at(152, "1000 1000 800 7").still == 0
    assert at(999).still == 0  # it writes its tables


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    """Seconds below a minute, minutes below an hour."""
    assert duration(seconds) == text


def under_way(*shares: float) -> list[Running]:
    """Runs of which these shares are over."""
    return [Running("x", share) for share in shares]


def test_plain_progress_is_sparse() -> None:
    """Without a terminal: a line at most every ten seconds, and one at the end."""
    now, stream = [0.0], io.StringIO()
    progress = Progress(5, stream, clock=lambda: now[0])
    for moment in (4.0, 8.0, 12.0, 18.0, 20.0):
        now[0] = moment
        progress.update(under_way(0.5))
        progress.finish_run(failed=moment == 12.0, running=under_way(0.5))
    assert stream.getvalue() == (
        "1/5 runs, running 50%, 9 s left\n"
        "4/5 runs, 1 failed, running 50%, 3 s left\n"
        "5/5 runs, 1 failed, took 20 s\n"
    )


def test_a_log_hears_of_long_runs() -> None:
    """Without a terminal: while no run ends, a line at least every half minute."""
    now, stream = [0.0], io.StringIO()
    progress = Progress(2, stream, clock=lambda: now[0])
    for second in range(1, 101):
        now[0] = float(second)
        progress.update(under_way(second / 200))
        if second == 50:
            progress.finish_run(failed=False, running=under_way(0.25))
    assert stream.getvalue() == (
        "0/2 runs, running 15%, 6 min 10 s left\n"
        "1/2 runs, running 25%, 30 s left\n"
        "1/2 runs, running 40%, 34 s left\n"
    )


def test_a_log_hears_of_a_stall() -> None:
    """Which run makes no progress, and for how long in its own time."""
    now, stream = [0.0], io.StringIO()
    progress = Progress(2, stream, clock=lambda: now[0])
    now[0] = 30.0
    progress.update([Running("a", 0.25), Running("b", 0.25, 10**12, 12 * 10**10)])
    assert stream.getvalue() == (
        "0/2 runs, running 25% 25% (stalled for 120 ms of simulated time), 1 min 30 s left\n"
    )


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


def test_a_terminal_shows_one_line() -> None:
    """On a terminal the line is overwritten, and messages appear above it."""
    now, stream = [0.0], Terminal()
    progress = Progress(2, stream, clock=lambda: now[0])
    now[0] = 10.0
    progress.update(under_way(0.25, 0.75))
    progress.message("FAILED x")
    progress.finish_run(failed=True, running=[])
    progress.close()
    shown = [part.rstrip() for part in stream.getvalue().split("\r")]
    assert shown[1] == "0/2 runs, running 25% 75%, 10 s left"
    assert shown[3].startswith("FAILED x")
    assert stream.getvalue().endswith("1/2 runs, 1 failed\n")


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_standstill_is_told(kind: type[io.StringIO]) -> None:
    """In a log and in a notebook's line: how long, where, and which run; set-up is named, too."""
    now, stream = [0.0], kind()
    progress = Progress(4, stream, clock=lambda: now[0])
    now[0] = 90.0
    still = Running("variant=PFC seed=1", 0.15, 12_300_000, setup=1.0, still=40.2)
    title = "variant=PFC seed=3"
    waiting = Running(title, 0.0, is_set_up=False, setup=90.0)
    progress.update([still, replace(still, title="x", still=30.0), waiting])
    assert stream.getvalue().strip("\r\n") == (
        "0/4 runs, running 15% 15%, 1 setting up for 1 min 30 s, "
        "no progress for 40 s of wall time at 12.3 us: variant=PFC seed=1 (and 1 more)"
    )
