"""The results of an experiment on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.errors import UserError
from pyorch.paths import Paths, RunPaths
from pyorch.plan import RunSpec
from pyorch.prune import find_runs, size_of
from pyorch.simulate import write_table
from pyorch.store import Store, metrics_digest

FINGERPRINT = "f" * 64


def make_spec(seed: int = 1, **changes: Any) -> RunSpec:
    """A RunSpec as far as the store looks at it."""
    data: dict[str, Any] = {
        "schema": 1,
        "experiment": "study/one",
        "seed": seed,
        "run": {"duration_ps": 1000, "warmup_ps": 0, "drain_ps": 0},
        "topology": {},
        "attributes": {},
        "flow_control": [],
        "agents": [],
        "host_agents": [],
        "nodes": [],
        "routes": [],
        "congestion_control": "",
        "traffic": [],
        "faults": [],
        "traces": [],
        "metrics": [],
        "params": {"variant": ""},
    }
    return RunSpec.from_json(json.dumps(data | changes))


def finish(store: Store, spec: RunSpec, fingerprint: str = FINGERPRINT, **summary: float) -> str:
    """Commit a run with the given summary numbers."""
    run_hash = spec.hash(fingerprint)
    attempt = store.begin(run_hash)
    attempt.spec.write_text(spec.to_json())
    content = {"nodes": ["h0", "s0"], "summary": summary, "metrics": {}}
    attempt.summary.write_text(json.dumps(content))
    store.commit(attempt.folder, run_hash)
    return run_hash


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    store = Store(Paths(tmp_path), "study/one")
    store.prepare()
    return store


def test_a_run_exists_only_once_committed(store: Store) -> None:
    """A run that is being written is not done; a committed one is, without its heartbeat."""
    attempt = store.begin("a" * 16)
    attempt.heartbeat.write_text("1 2")
    attempt.summary.write_text("{}")
    assert not store.is_done("a" * 16)
    assert store.commit(attempt.folder, "a" * 16)
    assert store.is_done("a" * 16)
    assert sorted(os.listdir(store.runs)) == ["a" * 16]
    assert os.listdir(store.folder("a" * 16)) == ["summary.json"]


def test_an_incomplete_attempt_cannot_be_committed(store: Store) -> None:
    """Without summary.json, which is written last, an attempt is refused."""
    attempt = store.begin("a" * 16)
    with pytest.raises(ValueError, match=r"not complete: it has no summary\.json"):
        store.commit(attempt.folder, "a" * 16)


def test_the_later_of_two_attempts_vanishes(store: Store) -> None:
    """The second attempt at a run says that it lost and leaves nothing behind."""
    attempts = [store.begin("a" * 16), store.begin("a" * 16)]
    for number, attempt in enumerate(attempts):
        attempt.summary.write_text(str(number))
    assert [store.commit(a.folder, "a" * 16) for a in attempts] == [True, False]
    assert RunPaths(store.folder("a" * 16)).summary.read_text() == "0"
    assert os.listdir(store.runs) == ["a" * 16]


def test_a_run_without_its_summary_is_done_again(store: Store) -> None:
    """A committed folder whose summary someone deleted is replaced by the next attempt."""
    run_hash = finish(store, make_spec(), events=1)
    RunPaths(store.folder(run_hash)).summary.unlink()
    assert [spec.data["seed"] for spec in store.missing([make_spec()], FINGERPRINT)] == [1]
    finish(store, make_spec(), events=2)
    assert store.read_summary(run_hash)["summary"] == {"events": 2}


COMMITTER = """
import sys, time
from pathlib import Path
from pyorch.paths import Paths
from pyorch.store import Store
store = Store(Paths(Path(sys.argv[1])), "study/one")
while time.time() < float(sys.argv[2]):
    pass
wins = 0
for number in range(50):
    run_hash = f"{number:016x}"
    attempt = store.begin(run_hash)
    attempt.spec.write_text(sys.argv[3])
    attempt.summary.write_text(sys.argv[3])
    wins += store.commit(attempt.folder, run_hash)
print(wins)
"""


def test_of_concurrent_commits_exactly_one_wins(store: Store, tmp_path: Path) -> None:
    """Two processes commit the same 50 runs at once: both succeed, each run has one winner."""
    start = str(time.time() + 1.0)
    arguments = [sys.executable, "-c", COMMITTER, str(tmp_path), start]
    processes = [
        subprocess.Popen([*arguments, name], stdout=subprocess.PIPE, text=True) for name in "AB"
    ]
    wins = [int(process.communicate(timeout=30)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(wins) == 50
    assert sorted(os.listdir(store.runs)) == [f"{number:016x}" for number in range(50)]
    for folder in store.runs.iterdir():  # no run is a mixture of two attempts
        run = RunPaths(folder)
        assert run.spec.read_text() == run.summary.read_text()


def test_a_failure_is_kept_until_the_run_succeeds(store: Store) -> None:
    """failed/<hash>/ holds the last failed attempt and goes away when one succeeds."""
    run_hash = make_spec().hash(FINGERPRINT)
    for text in ("first", "second"):
        attempt = store.begin(run_hash)
        attempt.log.write_text(text)
        store.fail(attempt.folder, run_hash)
    assert store.failure(run_hash).log.read_text() == "second"
    assert not store.is_done(run_hash)
    finish(store, make_spec())
    assert os.listdir(store.failed) == []


def test_only_dead_attempts_are_swept_out(store: Store) -> None:
    """An attempt goes when its process is gone, or after a day of silence on another machine."""
    alive = store.begin("a" * 16).folder
    child = subprocess.Popen(["true"])
    child.wait()
    host = alive.name.split(".", 2)[2].rsplit(".", 2)[0]
    dead = store.runs / f".{'b' * 16}.{host}.{child.pid}.0"
    recent = store.runs / f".{'c' * 16}.elsewhere.example.1.0"
    silent = store.runs / f".{'d' * 16}.elsewhere.example.1.0"
    beating = store.runs / f".{'e' * 16}.elsewhere.example.1.0"
    for folder in (dead, recent, silent, beating):
        folder.mkdir()
    RunPaths(beating).heartbeat.write_text("1 2")
    for folder in (silent, beating):
        os.utime(folder, (time.time() - 90_000,) * 2)
    store.sweep()
    assert set(store.runs.iterdir()) == {alive, recent, beating}


def test_an_unwritable_folder_is_one_message(tmp_path: Path) -> None:
    """Results that cannot be written give one problem with the folder and the way out."""
    (tmp_path / "results").write_text("a file, not a folder")
    with pytest.raises(UserError) as caught:
        Store(Paths(tmp_path), "study/one").prepare()
    (problem,) = caught.value.problems
    assert problem.where.startswith(str(tmp_path / "results"))
    assert problem.what == "cannot be written: Not a directory"
    assert "PYORCH_RESULTS" in str(problem.hint)


def test_missing_names_each_run_once(store: Store) -> None:
    """Runs that are done or listed twice are left out, the order stays."""
    specs = [make_spec(seed) for seed in (3, 1, 2, 3)]
    finish(store, specs[1])
    assert [s.data["seed"] for s in store.missing(specs, FINGERPRINT)] == [3, 2]
    assert [s.data["seed"] for s in store.missing(specs, "0" * 64)] == [3, 1, 2]


def test_tables_come_back_as_written(store: Store) -> None:
    """A table keeps its columns, types and values; a missing one is a FileNotFoundError."""
    run_hash = finish(store, make_spec())
    columns = {
        "time_ps": np.array([1, 2**60], "int64"),
        "class": np.array([0, 7], "uint8"),
    }
    write_table(RunPaths(store.folder(run_hash)), "queue", columns)
    frame = store.read_table(run_hash, "queue")
    pd.testing.assert_frame_equal(frame, pd.DataFrame(columns))
    with pytest.raises(FileNotFoundError):
        store.read_table(run_hash, "rate")


def test_collect_gives_one_row_a_run(store: Store) -> None:
    """runs.parquet has parameters and numbers, one row a finished run, mixed types as text."""
    specs = [
        make_spec(1, params={"variant": "PFC", "load": 0.5, "bm": 3}),
        make_spec(2, params={"variant": "GFC", "load": 0.8, "bm": "100KB"}),
        make_spec(3),
    ]
    hashes = [finish(store, spec, events=10 * spec.data["seed"]) for spec in specs[:2]]
    frame = store.collect(specs, FINGERPRINT)
    expected = pd.DataFrame(
        {
            "hash": hashes,
            "seed": [1, 2],
            "variant": ["PFC", "GFC"],
            "load": [0.5, 0.8],
            "bm": ["3", "100KB"],
            "events": [10, 20],
        }
    )
    pd.testing.assert_frame_equal(frame, expected)
    pd.testing.assert_frame_equal(pd.read_parquet(store.table_file), expected)
    assert [name for name in os.listdir(store.root) if name.startswith(".")] == []


METRICS = [{"name": "top", "kind": "max", "table": "queue", "port": "s0:h0", "class": 3}]


def test_a_new_metric_is_computed_from_the_tables(store: Store) -> None:
    """A metric that was added after the run comes from its tables, and is then kept."""
    traces = [{"table": "queue", "ports": [["s0", "h0"]], "classes": [3], "period_ps": 0}]
    spec = make_spec(metrics=METRICS, traces=traces)
    run_hash = finish(store, spec, end_ps=1000)
    columns = {
        name: np.array(values)
        for name, values in {
            "time_ps": [0, 10, 20],
            "node": [1, 1, 1],
            "peer": [0, 0, 0],
            "class": [3, 3, 3],
            "bytes": [0, 5000, 2000],
        }.items()
    }
    write_table(RunPaths(store.folder(run_hash)), "queue", columns)
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [5000.0]
    RunPaths(store.folder(run_hash)).table("queue").unlink()
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [5000.0]


def test_a_metric_of_the_run_is_not_computed_again(store: Store) -> None:
    """A value in summary.json under the digest of the metrics is taken as it is."""
    spec = make_spec(metrics=METRICS)
    run_hash = finish(store, spec)
    summary = store.read_summary(run_hash) | {"metrics": {metrics_digest(METRICS): {"top": 42}}}
    RunPaths(store.folder(run_hash)).summary.write_text(json.dumps(summary))
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [42]


def test_a_metric_must_not_hide_another_column(store: Store) -> None:
    """A metric with the name of a summary number is refused instead of replacing it."""
    spec = make_spec(metrics=METRICS)
    run_hash = finish(store, spec, top=1)
    summary = store.read_summary(run_hash) | {"metrics": {metrics_digest(METRICS): {"top": 42}}}
    RunPaths(store.folder(run_hash)).summary.write_text(json.dumps(summary))
    with pytest.raises(UserError, match="name is that of another column"):
        store.collect([spec], FINGERPRINT)


def test_runs_of_other_builds_are_told_apart(tmp_path: Path) -> None:
    """By settings and fingerprint alone, in nested experiments, finished and failed."""
    now, before = "a" * 64, "b" * 64
    paths = Paths(tmp_path)
    expected: dict[str, set[Path]] = {now: set(), before: set()}
    for name in ("one", "study/one", "study/runs"):
        store = Store(paths, name)
        store.prepare()
        for fingerprint in (now, before):
            expected[fingerprint].add(store.folder(finish(store, make_spec(), fingerprint)))
            spec = make_spec(seed=2, metrics=[{"name": "m"}])
            attempt = store.begin(spec.hash(fingerprint))
            attempt.spec.write_text(spec.to_json())
            failed = store.fail(attempt.folder, spec.hash(fingerprint))
            expected[fingerprint].add(failed.folder)
        store.begin(make_spec(3).hash(before))  # still being written
    odd = Store(paths, "one").folder("0" * 16)
    odd.mkdir()
    (tmp_path / "results" / "link").symlink_to(tmp_path)
    found = find_runs(paths.results, now)
    assert set(found.current) == expected[now]
    assert set(found.old) == expected[before]
    assert found.unknown == (odd,)
    assert len(found.old) == len(expected[before])
    assert find_runs(tmp_path / "nowhere", now).old == ()


def test_the_size_of_a_run_is_that_of_its_files(tmp_path: Path) -> None:
    """All files below it, no folders."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(bytes(1000))
    (tmp_path / "c").write_bytes(bytes(23))
    assert size_of(tmp_path) == 1023
