"""The results of an experiment on disk."""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.base.errors import UserError
from pyorch.base.files import make_folder, storage_error
from pyorch.base.paths import RESULTS_VARIABLE, Paths, RunPaths
from pyorch.engine.base import RUN_STORAGE
from pyorch.engine.manifest import Manifest
from pyorch.metrics import parse
from pyorch.plan import RunSpec, metrics_digest
from pyorch.run import process as run
from pyorch.run.simulate import write_table
from pyorch.store import seal
from pyorch.store.seal import SMALL_BYTES
from pyorch.store.store import Store
from tests.forms import run_of
from tests.inputs import ROOT
from tools.prune import find_runs, size_of

FINGERPRINT = "f" * 64


def metric(name: str) -> dict[str, str]:
    """A metric of a name."""
    return {"name": name, "kind": "summary", "number": "events"}


def make_spec(seed: int = 1, **changes: Any) -> RunSpec:
    """A RunSpec as far as the store uses it."""
    return run_of({"experiment": "study/one", "seed": seed, "params": {"variant": ""}} | changes)


def begin(store: Store, spec: RunSpec, fingerprint: str = FINGERPRINT, **summary: float) -> Path:
    """An attempt at a run that is complete, with the given summary numbers."""
    attempt = store.begin(spec.hash(fingerprint))
    attempt.spec.write_text(spec.to_json())
    content = {"nodes": ["h0", "s0"], "summary": summary, "metrics": {}}
    attempt.summary.write_text(json.dumps(content))
    return attempt.folder


def finish(
    store: Store,
    spec: RunSpec,
    fingerprint: str = FINGERPRINT,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    metrics: Mapping[str, Any] | None = None,
    **summary: float,
) -> str:
    """Commit a run with the given tables, summary numbers, and metrics by their digest."""
    run_hash = spec.hash(fingerprint)
    attempt = RunPaths(begin(store, spec, fingerprint, **summary))
    content = json.loads(attempt.summary.read_text())
    attempt.summary.write_text(json.dumps(content | {"metrics": metrics or {}}))
    for name, columns in (tables or {}).items():
        write_table(attempt, name, {key: np.asarray(values) for key, values in columns.items()})
    assert store.commit(attempt.folder, run_hash, fingerprint)
    return run_hash


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    store = Store(Paths(tmp_path), "study/one")
    store.prepare()
    return store


def test_a_run_exists_only_once_committed(store: Store) -> None:
    """A run that is being written is not done; a committed one is, without its heartbeat."""
    run_hash = make_spec().hash(FINGERPRINT)
    attempt = RunPaths(begin(store, make_spec()))
    attempt.heartbeat.write_text("1 2")
    assert not store.is_done(run_hash)
    assert store.commit(attempt.folder, run_hash, FINGERPRINT)
    assert store.is_done(run_hash)
    assert os.listdir(store.runs) == [run_hash]
    assert sorted(os.listdir(store.folder(run_hash))) == ["SHA256SUMS", "spec.json", "summary.json"]


def test_an_incomplete_attempt_cannot_be_committed(store: Store) -> None:
    """Without its summary, or with the settings of another run, an attempt is refused."""
    run_hash = make_spec().hash(FINGERPRINT)
    attempt = RunPaths(begin(store, make_spec()))
    attempt.summary.unlink()
    with pytest.raises(ValueError, match=r"not complete: it has no summary\.json"):
        store.commit(attempt.folder, run_hash, FINGERPRINT)
    with pytest.raises(ValueError, match="is not an attempt at the run"):
        store.commit(begin(store, make_spec(2)), run_hash, FINGERPRINT)
    assert not store.is_done(run_hash)


def test_the_later_of_two_attempts_vanishes(store: Store) -> None:
    """The second attempt at a run says that it lost and leaves nothing behind."""
    run_hash = make_spec().hash(FINGERPRINT)
    attempts = [begin(store, make_spec(), number=number) for number in range(2)]
    assert [store.commit(a, run_hash, FINGERPRINT) for a in attempts] == [True, False]
    assert store.read_summary(run_hash)["summary"] == {"number": 0}
    assert os.listdir(store.runs) == [run_hash]


RACED = 20  # runs that two processes commit at once

COMMITTER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.store import test_store as t
store = t.Store(t.Paths(Path(sys.argv[2])), "study/one")
specs = [t.make_spec(seed, metrics=[t.metric(sys.argv[4])]) for seed in range(t.RACED)]
while time.time() < float(sys.argv[3]):
    pass
wins = 0
for spec in specs:
    attempt = t.begin(store, spec, **{sys.argv[4]: 1})
    wins += store.commit(attempt, spec.hash(t.FINGERPRINT), t.FINGERPRINT)
print(wins)
"""


def race(tmp_path: Path) -> list[int]:
    """Let two processes commit the same runs at once; how many each of them won."""
    start = str(time.time() + 3.0)
    arguments = [sys.executable, "-c", COMMITTER, str(ROOT), str(tmp_path), start]
    processes = [
        subprocess.Popen([*arguments, name], stdout=subprocess.PIPE, text=True) for name in "AB"
    ]
    wins = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return wins


@pytest.mark.processes
def test_of_concurrent_commits_exactly_one_wins(store: Store, tmp_path: Path) -> None:
    """Two processes commit the same runs at once: both succeed, each run has one winner."""
    assert sum(race(tmp_path)) == RACED
    hashes = sorted(make_spec(seed).hash(FINGERPRINT) for seed in range(RACED))
    assert sorted(os.listdir(store.runs)) == hashes
    for run_hash in hashes:  # no run is a mixture of two attempts
        assert store.is_done(run_hash)
        ((name, _),) = store.read_summary(run_hash)["summary"].items()
        spec = json.loads(RunPaths(store.folder(run_hash)).spec.read_text())
        assert spec["metrics"][0]["name"] == name


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
    """An attempt goes when its process is gone, or after a day of silence on another system.

    A container is another system, whatever its host name is: its PIDs are not those of here.
    """
    alive = store.begin("a" * 16).folder
    child = subprocess.Popen(["true"])
    child.wait()
    host = alive.name.split(".", 2)[2].rsplit(".", 2)[0]
    dead = store.runs / f".{'b' * 16}.{host}.{child.pid}.0"
    recent = store.runs / f".{'c' * 16}.elsewhere.example.1.0"
    container = store.runs / f".{'f' * 16}.{host.rpartition('+')[0]}+01234567.{child.pid}.0"
    silent = store.runs / f".{'d' * 16}.elsewhere.example.1.0"
    beating = store.runs / f".{'e' * 16}.elsewhere.example.1.0"
    for folder in (dead, recent, silent, beating, container):
        folder.mkdir()
    RunPaths(beating).heartbeat.write_text("1 2")
    for folder in (silent, beating):
        os.utime(folder, (time.time() - 90_000,) * 2)
    store.sweep()
    assert set(store.runs.iterdir()) == {alive, recent, beating, container}


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
    assert [s.seed for s in store.missing(specs, FINGERPRINT)] == [3, 2]
    assert [s.seed for s in store.missing(specs, "0" * 64)] == [3, 1, 2]


def test_tables_come_back_as_written(store: Store) -> None:
    """A table keeps its columns, types and values; a missing one is a FileNotFoundError."""
    columns = {
        "time_ps": np.array([1, 2**60], "int64"),
        "class": np.array([0, 7], "uint8"),
    }
    run_hash = finish(store, make_spec(), tables={"queue": columns})
    frame = store.read_table(run_hash, "queue")
    pd.testing.assert_frame_equal(frame, pd.DataFrame(columns))
    assert store.table_names(run_hash) == ["queue"]
    with pytest.raises(FileNotFoundError):
        store.read_table(run_hash, "rate")


def test_collect_gives_one_row_a_run(store: Store) -> None:
    """runs.parquet has parameters and numbers, one row a finished run, mixed types as text."""
    specs = [
        make_spec(1, params={"variant": "PFC", "load": 0.5, "bm": 3}),
        make_spec(2, params={"variant": "GFC", "load": 0.8, "bm": "100KB"}),
        make_spec(3),
    ]
    hashes = [finish(store, spec, events=10 * spec.seed) for spec in specs[:2]]
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


SLOW = {"kind": "slow_receiver", "host": "h0", "rate_bps": 1}
METRICS = [{"name": "top", "kind": "max", "table": "queue", "port": "s0:h0", "class": 3}]
DIGEST = metrics_digest(tuple(map(parse, METRICS)))


def test_a_new_metric_is_computed_from_the_tables(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric that was added after the run comes from its tables, and is then kept.

    What is kept is used only when it is whole.
    """
    traces = [{"table": "queue", "ports": [["s0", "h0"]], "classes": [3], "period_ps": 0}]
    spec = make_spec(metrics=METRICS, traces=traces)
    columns = {
        "time_ps": [0, 10, 20],
        "node": [1, 1, 1],
        "peer": [0, 0, 0],
        "class": [3, 3, 3],
        "bytes": [0, 5000, 2000],
    }
    run_hash = finish(store, spec, tables={"queue": columns}, end_ps=1000)
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [5000.0]
    (kept,) = store.folder(run_hash).glob("metrics-*.json")
    whole = kept.read_bytes()
    for spoilt in (b"", b"{}", b"[]", whole[:-9], bytes(len(whole)), b"\xff" + whole):
        kept.write_bytes(spoilt)
        assert store.collect([spec], FINGERPRINT)["top"].tolist() == [5000.0]
        assert kept.read_bytes() == whole
    monkeypatch.delattr(Store, "_compute")
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [5000.0]


def test_a_metric_of_the_run_is_not_computed_again(store: Store) -> None:
    """A value in summary.json under the digest of the metrics is taken as it is."""
    spec = make_spec(metrics=METRICS)
    finish(store, spec, metrics={DIGEST: {"top": 42}})
    assert store.collect([spec], FINGERPRINT)["top"].tolist() == [42]


def test_a_metric_must_not_hide_another_column(store: Store) -> None:
    """A metric with the name of a summary number is refused instead of replacing it."""
    spec = make_spec(metrics=METRICS)
    finish(store, spec, metrics={DIGEST: {"top": 42}}, top=1)
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
            spec = make_spec(seed=2, metrics=[metric("m")])
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


# Damage


BIG = {"value": np.arange(40_000) * 7919 % 65_537}  # a table above the size that a quick look reads


def flip(path: Path) -> None:
    """Change one byte of a file, in its middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swap(path: Path) -> None:
    """Replace a file by that of another run."""
    (other,) = (folder for folder in path.parent.parent.iterdir() if folder != path.parent)
    path.write_bytes((other / path.name).read_bytes())


DAMAGES: dict[str, Callable[[Path], object]] = {
    "is missing": Path.unlink,
    "is empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "flipped": flip,
    "[]": lambda path: path.write_text("[]"),
    "{}": lambda path: path.write_text("{}"),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe" * 40),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "of another run": swap,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["spec.json", "summary.json", "queue.parquet", "SHA256SUMS"])
def test_a_damaged_run_is_never_done(store: Store, file: str, damage: str) -> None:
    """Whatever happens to a file, the run is named and set aside, and is done once made again."""
    spec = make_spec()
    run_hash = finish(store, spec, tables={"queue": BIG}, events=1)
    other = {"value": BIG["value"][::-1].copy()}
    finish(store, make_spec(2, faults=[SLOW]), tables={"queue": other}, events=2)
    DAMAGES[damage](store.folder(run_hash) / file)
    for fresh in (store, Store(store.paths, store.name)):
        assert not fresh.is_done(run_hash)
        assert fresh.missing([spec], FINGERPRINT) == [spec]
        assert len(fresh.collect([spec], FINGERPRINT)) == 0
        assert str(store.folder(run_hash) / file) in str(fresh.problem(run_hash))
    left = {path.name for path in store.folder(run_hash).iterdir()}
    (found,) = store.set_damaged_aside([run_hash, make_spec(2, faults=[SLOW]).hash(FINGERPRINT)])
    assert (found.run_hash, found.file) == (run_hash, store.folder(run_hash) / file)
    assert found.kept == store.damaged / f"{run_hash}.1"
    assert {path.name for path in found.kept.iterdir()} == left
    assert store.problem(run_hash) is None  # there is none any more
    finish(store, spec, tables={"queue": BIG}, events=1)
    assert store.set_damaged_aside([run_hash]) == []
    assert len(store.collect([spec], FINGERPRINT)) == 1


def test_what_is_wrong_is_said_in_words(store: Store) -> None:
    """Each kind of damage has its own words."""
    run_hash = finish(store, make_spec())
    other = finish(store, make_spec(2))
    summary, sums = RunPaths(store.folder(run_hash)).summary, "SHA256SUMS"
    size = summary.stat().st_size
    whole = {path: path.read_bytes() for path in store.folder(run_hash).iterdir()}
    told = {}
    for name, damage in DAMAGES.items():
        for path, content in whole.items():
            if path.is_dir():
                path.rmdir()
            path.write_bytes(content)
        damage(summary)
        told[name] = str(store.problem(run_hash)).removeprefix(f"{summary}: ")
    assert told == {
        "is missing": "is missing",
        "is empty": "is empty",
        "cut": f"has {size - 9} instead of {size} bytes",
        "longer": f"has {size + 1} instead of {size} bytes",
        "zeros": "was altered",
        "flipped": "was altered",
        "[]": f"has 2 instead of {size} bytes",
        "{}": f"has 2 instead of {size} bytes",
        "not UTF-8": f"has 80 instead of {size} bytes",
        "a folder": "is not a file",
        "of another run": "None",  # equal summaries: nothing is wrong
    }
    shutil.rmtree(store.folder(run_hash))
    store.folder(other).rename(store.folder(run_hash))
    assert f"is of another run: {other}" in str(store.problem(run_hash))
    (store.folder(run_hash) / sums).unlink()
    assert "older than checksums of runs" in str(store.problem(run_hash))


def _seal_again(folder: Path, text: str) -> None:
    """Write a seal whose own checksum fits whatever it says."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{text}# sha256 of the lines above: {digest}\n")


FORGED: dict[str, Callable[[str], str]] = {
    "nothing": lambda _: "",
    "no JSON": lambda text: text.replace('# pyorch {"', "# pyorch {"),
    "deep JSON": lambda _: "# pyorch " + "[" * 100_000 + "\n",
    "a list": lambda _: "# pyorch []\n",
    "a number": lambda _: "# pyorch 1\n",
    "no sizes": lambda text: text.replace('"bytes"', '"bites"'),
    "sizes of no file": lambda text: re.sub(r'"bytes": {.*?}', '"bytes": {}', text),
    "sizes in a list": lambda text: re.sub(r'"bytes": {.*?}', '"bytes": []', text),
    "sizes as text": lambda text: re.sub(r'"spec.json": \d+', '"spec.json": "9"', text),
    "a size below 0": lambda text: re.sub(r'"spec.json": \d+', '"spec.json": -9', text),
    "a size of null": lambda text: re.sub(r'"spec.json": \d+', '"spec.json": null', text),
    "no checksums": lambda text: text.split("\n")[0] + "\n",
    "one checksum less": lambda text: text[: text.index("\n") + 1] + text.rsplit("\n", 2)[1] + "\n",
    "a checksum of nothing": lambda text: text + "0  \n",
    "a file elsewhere": lambda text: text.replace("summary.json", "../../summary.json"),
    "no build": lambda text: text.replace('"fingerprint"', '"finger"'),
    "a build of null": lambda text: re.sub(r'"fingerprint": "\w+"', '"fingerprint": null', text),
    "a run of null": lambda text: re.sub(r'"run": "\w+"', '"run": null', text),
    "a run in a list": lambda text: re.sub(r'"run": "(\w+)"', r'"run": ["\\1"]', text),
}
SUMMARIES = ["", "[]", "{}", "nonsense", "[" * 60_000, '{"nodes": [], "summary": {}}']
SUMMARIES += ['{"nodes": [1], "summary": {}, "metrics": {}}']
SUMMARIES += ['{"nodes": [], "summary": {"a": "b"}, "metrics": {}}']
SUMMARIES += ['{"nodes": [], "summary": {}, "metrics": {"a": 1}}']


@pytest.mark.parametrize("forged", [*FORGED, *range(len(SUMMARIES))])
def test_a_forged_seal_is_damage(store: Store, forged: str | int) -> None:
    """A seal that fits itself, and a summary that fits its seal, have to make sense, too."""
    spec = make_spec()
    run_hash = finish(store, spec)
    folder = store.folder(run_hash)
    text = (folder / "SHA256SUMS").read_text().rpartition("# sha256 of")[0]
    if isinstance(forged, int):
        RunPaths(folder).summary.write_text(SUMMARIES[forged])
        seal.write_seal(folder, run_hash, FINGERPRINT)
    else:
        assert FORGED[forged](text) != text
        _seal_again(folder, FORGED[forged](text))
    assert not store.is_done(run_hash)
    assert "pyorch writes it" in str(store.problem(run_hash)) or "of another run" in str(
        store.problem(run_hash)
    )
    assert store.missing([spec], FINGERPRINT) == [spec]
    (found,) = store.set_damaged_aside([run_hash])
    assert found.kept == store.damaged / f"{run_hash}.1"
    finish(store, spec)
    assert store.is_done(run_hash)


@pytest.mark.parametrize("file", ["SHA256SUMS", "summary.json", "spec.json"])
@pytest.mark.parametrize("instead", ["fifo", "loop", "device", "dangling"])
def test_what_is_no_file_is_damage(store: Store, file: str, instead: str) -> None:
    """Neither waited for nor read without an end."""
    run_hash = finish(store, make_spec())
    path = store.folder(run_hash) / file
    path.unlink()
    if instead == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to({"loop": file, "device": "/dev/zero", "dangling": "nowhere"}[instead])
    assert not store.is_done(run_hash)
    assert str(path) in str(store.problem(run_hash))
    assert [damage.file for damage in store.set_damaged_aside([run_hash])] == [path]


def test_a_forged_size_is_not_believed(store: Store) -> None:
    """No memory is asked for what a seal only promises."""
    run_hash = finish(store, make_spec())
    folder = store.folder(run_hash)
    text = (folder / "SHA256SUMS").read_text().rpartition("# sha256 of")[0]
    _seal_again(folder, re.sub(r'"summary.json": \d+', f'"summary.json": {2**62}', text))
    (found,) = store.set_damaged_aside([run_hash])
    assert f"instead of {2**62} bytes" in found.what


def test_a_forged_table_is_told(store: Store) -> None:
    """Its bytes are those that were sealed; they are no table."""
    run_hash = finish(store, make_spec(), tables={"queue": BIG})
    folder = store.folder(run_hash)
    for content in (b"", b"PAR1", b"PAR1" * 20, bytes(1000)):
        RunPaths(folder).table("queue").write_bytes(content)
        seal.write_seal(folder, run_hash, FINGERPRINT)
        with pytest.raises(UserError, match=r"queue\.parquet: was sealed, but is not a table"):
            store.read_table(run_hash, "queue")


def test_before_a_run_there_is_a_table_without_rows(tmp_path: Path) -> None:
    """With the columns that every run has; nothing is written where nothing is."""
    frame = Store(Paths(tmp_path), "study/one").collect([make_spec()], FINGERPRINT)
    assert len(frame) == 0
    assert list(frame.columns) == ["hash", "seed", "variant"]
    assert not (tmp_path / "results").exists()


def test_a_large_table_is_read_where_results_are_used(store: Store) -> None:
    """A quick look takes its size and time for enough; who uses results reads every byte."""
    run_hash = finish(store, make_spec(), tables={"queue": BIG})
    table = RunPaths(store.folder(run_hash)).table("queue")
    assert table.stat().st_size > SMALL_BYTES
    flip(table)
    assert not store.is_done(run_hash)  # newer than the seal: read by anyone
    os.utime(table, ns=(0, 0))  # as if the disk itself had lost a bit
    assert store.is_done(run_hash)
    with pytest.raises(UserError, match=r"queue\.parquet: was altered"):
        store.read_table(run_hash, "queue")
    assert [damage.what for damage in store.set_damaged_aside([run_hash])] == ["was altered"]
    assert not store.is_done(run_hash)


def test_sha256sum_checks_a_run_too(store: Store) -> None:
    """SHA256SUMS is in the format of the well-known tool, and lists every file but the log."""
    run_hash = finish(store, make_spec(), tables={"queue": BIG})
    RunPaths(store.folder(run_hash)).log.write_text("not compared")
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    checked = subprocess.run(
        command, cwd=store.folder(run_hash), capture_output=True, text=True, check=True
    )
    assert checked.stdout.splitlines() == ["spec.json: OK", "summary.json: OK", "queue.parquet: OK"]
    flip(RunPaths(store.folder(run_hash)).table("queue"))
    assert subprocess.run(command, cwd=store.folder(run_hash), check=False).returncode == 1


def test_damaged_runs_of_read_only_results_are_not_done(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be moved, a damaged run is named all the same, and is not done."""
    run_hash = finish(store, make_spec(), tables={"queue": BIG})
    table = RunPaths(store.folder(run_hash)).table("queue")
    flip(table)
    os.utime(table, ns=(0, 0))

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "rename", refuse)
    (found,) = store.set_damaged_aside([run_hash])
    assert (found.what, found.kept) == ("was altered", None)
    assert not store.is_done(run_hash)
    assert store.folder(run_hash).is_dir()


def test_a_whole_run_is_put_back_when_it_was_moved_by_mistake(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find a run damaged; the slower one moves what the faster one has made."""
    run_hash = finish(store, make_spec(), events=1)
    flip(RunPaths(store.folder(run_hash)).summary)
    slow = Store(store.paths, store.name)
    before = make_folder

    def meanwhile(path: Path) -> None:
        before(path)
        monkeypatch.setattr("pyorch.store.store.make_folder", before)
        store.set_damaged_aside([run_hash])
        finish(store, make_spec(), events=1)

    monkeypatch.setattr("pyorch.store.store.make_folder", meanwhile)
    (found,) = slow.set_damaged_aside([run_hash])
    assert (found.what, found.kept) == ("was altered", None)
    assert slow.is_done(run_hash)
    assert os.listdir(store.damaged) == [f"{run_hash}.1"]


@pytest.mark.processes
def test_of_two_commits_over_a_damaged_run_one_wins(store: Store, tmp_path: Path) -> None:
    """Both processes set the same damaged runs aside; each is kept once, none is lost."""
    hashes = [finish(store, make_spec(seed), events=seed) for seed in range(RACED)]
    for run_hash in hashes:
        flip(RunPaths(store.folder(run_hash)).summary)
    assert sum(race(tmp_path)) == RACED
    assert all(map(store.is_done, hashes))
    assert sorted(os.listdir(store.damaged)) == sorted(f"{run_hash}.1" for run_hash in hashes)
    assert sorted(os.listdir(store.runs)) == sorted(hashes)


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.EIO, "check the disk"), (errno.ENOSPC, "free some space there")]
)
def test_a_disk_that_refuses_to_sync_commits_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    """Whichever sync fails before the rename, the run is not done, and the disk is blamed."""
    spec = make_spec()
    run_hash = spec.hash(FINGERPRINT)
    real, calls = os.fsync, [0]

    def fsync(descriptor: int, failing: int) -> None:
        calls[0] += 1
        if calls[0] == failing:
            raise OSError(number, os.strerror(number))
        real(descriptor)

    for failing in range(1, 5):  # three files and their folder
        calls[0] = 0
        monkeypatch.setattr(os, "fsync", functools.partial(fsync, failing=failing))
        with pytest.raises(OSError, match="cannot keep it safe") as caught:
            store.commit(begin(store, spec), run_hash, FINGERPRINT)
        assert caught.value.errno == number
        assert not store.is_done(run_hash)
        (problem,) = storage_error(caught.value, store.root, "or else").problems
        assert problem.hint == f"{hint}, or else"


def test_a_file_system_that_cannot_sync_folders_is_refused_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported before the first run, with the folder and alternatives."""
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UserError, match=r"cannot keep it safe \(fsync: Invalid argument\)") as told:
        store.prepare()
    assert "PYORCH_RESULTS" in str(told.value)


def test_damaged_runs_go_with_their_build(tmp_path: Path) -> None:
    """`invoke clean --old-results` deletes damaged runs of earlier builds, keeps those of this."""
    now, before = "a" * 64, "b" * 64
    store = Store(Paths(tmp_path), "study")
    store.prepare()
    kept = {}
    for fingerprint in (now, before):
        for seed in range(3):
            run_hash = finish(store, make_spec(seed), fingerprint, events=1)
            spoilt = RunPaths(store.folder(run_hash))
            (spoilt.summary if seed < 2 else spoilt.spec).write_text("")
            (found,) = store.set_damaged_aside([run_hash])
            kept[fingerprint, seed] = found.kept
            if seed:  # the others are never made again
                finish(store, make_spec(seed), fingerprint, events=1)
    found_runs = find_runs(tmp_path / "results", now)
    damaged = {path for path in found_runs.current if path.parent == store.damaged}
    assert damaged == {kept[now, seed] for seed in range(3)}
    assert {path for path in found_runs.old if path.parent == store.damaged} == {
        kept[before, seed] for seed in range(3)
    }
    assert found_runs.unknown == ()


def test_a_run_that_the_disk_refuses_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A run whose sync fails ends with the exit code that stops a batch, and blames the disk."""

    def simulate(_: Manifest, __: RunSpec, attempt: RunPaths, ___: float) -> None:
        attempt.summary.write_text("{}")

    def fsync(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(run, "_simulate", simulate)
    monkeypatch.setattr(os, "fsync", fsync)
    spec = make_spec()
    assert run._do(Manifest(FINGERPRINT, tmp_path, 1), spec, None, 0.0) == RUN_STORAGE
    told = capfd.readouterr().err
    assert "cannot keep it safe (fsync: Input/output error)" in told
    assert "check the disk" in told
    assert "Traceback" not in told
    assert not Store(Paths(tmp_path, tmp_path), "study/one").is_done(spec.hash(FINGERPRINT))
