"""Power cuts: whatever one may leave of a study is opened with the real code, and made whole again.

A real study is recorded while it is killed, damaged, and gone on with. Every state that a power cut
at any moment may leave (powercut.py has the model) must open without a traceback; a run that counts
as done must be whole; a run whose process ended well must be there; and the same command must bring
the very bytes of the study that nothing disturbed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from pyorch.base.errors import UserError
from pyorch.base.fingerprint import short
from pyorch.base.paths import RESULTS_VARIABLE, Paths, RunPaths, project_root
from pyorch.build import ensure_built
from pyorch.engine.base import RUN_DONE
from pyorch.engine.manifest import Manifest, read_runs
from pyorch.engine.slurm.state import holders, run_states
from pyorch.engine.slurm.submission import read_note, submissions
from pyorch.kinds import read_spec
from pyorch.plan import RunSpec
from pyorch.run import process as run
from pyorch.store.store import Store
from tests.powercut import Disk, Step, Tree, read_record, read_tree, recorder, states_of, write_tree

pytestmark = pytest.mark.xdist_group("powercut")  # the record is made once

ROOT = project_root()
STUDY = """
title = "Cut"
port.pause_response = "ideal"

[run]
duration = "100us"
seeds = 2

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "poisson"
label = "flows"
load = 0.5
workload = "hadoop"

[sweep]
"traffic.flows.load" = [0.3, 0.6]

[[trace]]
table = "queue"

[[metric]]
name = "top"
kind = "max"
table = "queue"
port = "s0:h0"

[[figure]]
name = "top"
kind = "bars"
x = "traffic.flows.load"
y = "top"
"""
RUN = re.compile(r"results/cut/runs/([0-9a-f]{16})")
SEALED = re.compile(r"(spec\.json|summary\.json|SHA256SUMS|.*\.parquet)")
NEVER_READ = ("log.txt", "heartbeat")
#: What is checked run by run, or can itself say whether it is whole, or is only shown.
BY_ITSELF = re.compile(r"results/\w+/(runs|damaged|failed)(/|$)|(^|/)\.")
STATES = 3
"""How many states beyond the plain ones are drawn at a moment with many open steps."""


@dataclass(frozen=True)
class Recorded:
    """What was done to the disk, the undisturbed results, and the runs by their hash."""

    steps: Sequence[Step]
    reference: Tree
    fingerprint: str
    specs: dict[str, RunSpec]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A study that is killed after its first run, damaged, and gone on with."""
    return record(tmp_path_factory.mktemp("powercut"))


def record(tmp: Path) -> Recorded:
    """Record such a study in a folder."""
    file, disk = tmp / "cut.toml", tmp / "disk"
    file.write_text(STUDY)
    words = [sys.executable, "-m", "invoke", "experiment", str(file), "--jobs", "1"]
    plain = {**os.environ, RESULTS_VARIABLE: str(tmp / "plain")}
    subprocess.run(words, cwd=ROOT, env=plain, check=True, capture_output=True)
    watched = _watched(tmp)
    killed = subprocess.Popen(words, cwd=ROOT, env=watched, stdout=subprocess.DEVNULL)
    runs = disk / "results" / "cut" / "runs"
    while not (done := list(runs.glob("[0-9a-f]*"))):
        assert killed.poll() is None
        time.sleep(0.001)
    killed.kill()
    killed.wait()
    spoil = "import sys; open(sys.argv[1], 'r+').write('?')"
    summary = RunPaths(done[0]).summary
    subprocess.run([sys.executable, "-c", spoil, str(summary)], env=watched, check=True)
    again = subprocess.run(words, cwd=ROOT, env=watched, check=True, capture_output=True, text=True)
    assert f"{summary}: was altered" in again.stderr
    steps = _recorded(tmp)
    reference = {f"results/{path}": data for path, data in read_tree(tmp / "plain").items()}
    return Recorded(steps, reference, *_runs_of(tmp / "plain" / "cut"))


def _watched(tmp: Path) -> dict[str, str]:
    """The environment of a program whose writes below tmp/disk, its results, are recorded."""
    (tmp / "disk").mkdir()
    return {
        **os.environ,
        RESULTS_VARIABLE: str(tmp / "disk" / "results"),
        "LD_PRELOAD": str(recorder(tmp)),
        "RECORD_ROOT": str(tmp / "disk"),
        "RECORD_LOG": str(tmp / "record"),
    }


def _recorded(tmp: Path) -> list[Step]:
    """What was recorded, which must be all that was done."""
    steps, replayed = read_record(tmp / "record", tmp / "disk"), Disk()
    for step in steps:
        replayed.do(step)
    assert replayed.tree() == read_tree(tmp / "disk")
    return steps


def _runs_of(study: Path) -> tuple[str, dict[str, RunSpec]]:
    """The fingerprint of the build, and the settings of each run in the order of the plan."""
    folders = [study / "runs" / name for name in pd.read_parquet(study / "runs.parquet")["hash"]]
    head = RunPaths(folders[0]).sums.read_text().splitlines()[0]
    fingerprint = ensure_built(quiet=True).fingerprint
    assert re.findall(r'"fingerprint": "([^"]+)"', head) == [short(fingerprint)]
    return fingerprint, {
        path.name: RunSpec.from_json(RunPaths(path).spec.read_text()) for path in folders
    }


@dataclass(frozen=True)
class Moment:
    """A state after a power cut, and what was promised by then.

    promised: runs whose process had ended well. whole: what each other file may contain. ended:
    whether the command had ended, so that all files must be there.
    """

    tree: Tree
    promised: frozenset[str]
    whole: dict[str, set[bytes]]
    ended: bool


class Witness:
    """Follows a record and keeps what was promised so far; made: the runs by their process."""

    def __init__(self) -> None:
        self.promised: set[str] = set()
        self.whole: dict[str, set[bytes]] = {}
        self.made: dict[int, str] = {}

    def see(self, step: Step, disk: Disk) -> None:
        """Take note of a step that the disk has just done."""
        target = RUN.fullmatch(step.other)
        if target:
            self.made[step.pid] = target[1]
        elif step.other and not BY_ITSELF.search(step.other):
            self.whole.setdefault(step.other, set()).add(disk.content(step.other))
        if step.kind == "exit" and step.offset == RUN_DONE and step.pid in self.made:
            self.promised.add(self.made[step.pid])
        # what was damaged, or moved away, on purpose is not promised any more
        folder, name = os.path.split(step.path)
        hurt = RUN.fullmatch(folder) if SEALED.fullmatch(name) else RUN.fullmatch(step.path)
        if hurt and step.kind in ("write", "rename"):
            self.promised.discard(hurt[1])


def moments(steps: Sequence[Step], most: int) -> Iterator[Moment]:
    """Every state to look at, each once.

    Looked at is what may be left just before each sync (what may be left since the sync before it
    is among that), and just after each end of a process.
    """
    disk, witness, seen = Disk(), Witness(), set()
    last = max(number for number, step in enumerate(steps) if step.kind == "exit")
    for number, step in enumerate(steps):
        if step.kind != "sync":
            disk.do(step)
            witness.see(step, disk)
        if step.kind == "sync" or number == last or step.pid in witness.made:
            for tree in states_of(disk, number, most):
                told = frozenset(witness.promised)
                moment = Moment(tree, told, witness.whole, number >= last)
                read = tuple(item for item in tree.items() if not item[0].endswith(NEVER_READ))
                key = (read, told, moment.ended)
                if key not in seen:
                    seen.add(key)
                    yield moment
        if step.kind == "sync":
            disk.do(step)


def _files(moment: Moment) -> Iterator[str]:
    """Complain of other files that are not whole, or that are lost."""
    for path, content in moment.tree.items():
        known = content is None or BY_ITSELF.search(path)
        if not known and content not in moment.whole.get(path, ()):
            yield f"{path} is not whole"
    if moment.ended:
        yield from (f"{path} is lost" for path in moment.whole if path not in moment.tree)


class Opener:
    """Opens states with the real code, in a folder in memory where there is one."""

    def __init__(self, recorded: Recorded, patch: pytest.MonkeyPatch) -> None:
        self._recorded = recorded
        self._patch = patch
        patch.setattr(run, "_simulate", self._simulate)

    def complaints(self, moment: Moment, *, go_on: bool = True) -> list[str]:
        """Open a state, check it, continue the study; return what is not as promised."""
        if found := list(_files(moment)):
            return found
        memory = Path("/dev/shm")  # noqa: S108  (only a faster disk)
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            read_again = {path: c for path, c in moment.tree.items() if "/report/" not in path}
            write_tree(read_again, Path(folder))
            self._patch.setenv(RESULTS_VARIABLE, f"{folder}/results")
            store = Store(Paths(ROOT, Path(folder) / "results"), "cut")
            found = list(self._looked_at(moment, store))
            return [*found, *self._gone_on(store, Path(folder))] if go_on else found

    def _looked_at(self, moment: Moment, store: Store) -> Iterator[str]:
        for run_hash in self._recorded.specs:
            if store.is_done(run_hash):
                if self._differs(store, run_hash):
                    yield f"{run_hash} counts as done and is not whole"
            elif run_hash in moment.promised:
                yield f"{run_hash} was done and is lost: {store.problem(run_hash)}"

    def _gone_on(self, store: Store, folder: Path) -> Iterator[str]:
        store.prepare()
        specs, fingerprint = self._recorded.specs, self._recorded.fingerprint
        damaged = store.set_damaged_aside(specs)
        yield from (f"{item.run_hash} cannot be set aside" for item in damaged if not item.kept)
        manifest = Manifest(fingerprint, folder, len(specs))
        for spec in store.missing(list(specs.values()), fingerprint):
            if run._do(manifest, spec, None, time.monotonic()) != RUN_DONE:
                yield "a run fails"
        for run_hash in specs:
            if not store.is_done(run_hash) or self._differs(store, run_hash):
                yield f"{run_hash} does not become what it was"
        store.collect(list(specs.values()), fingerprint)
        if store.table_file.read_bytes() != self._recorded.reference["results/cut/runs.parquet"]:
            yield "runs.parquet does not become what it was"

    def _simulate(self, _: Manifest, spec: RunSpec, attempt: RunPaths, __: float) -> None:
        """Write what the simulation wrote: that it is deterministic is tested elsewhere."""
        for name, data in self._files_of(spec.hash(self._recorded.fingerprint)).items():
            if name not in ("spec.json", "SHA256SUMS"):
                (attempt.folder / name).write_bytes(data)

    def _differs(self, store: Store, run_hash: str) -> bool:
        expected = self._files_of(run_hash)
        found = {
            path.name: path.read_bytes()
            for path in store.folder(run_hash).iterdir()
            if SEALED.fullmatch(path.name)
        }
        return found != expected

    def _files_of(self, run_hash: str) -> dict[str, bytes]:
        start = f"results/cut/runs/{run_hash}/"
        return {
            name: data
            for path, data in self._recorded.reference.items()
            if data and path.startswith(start) and SEALED.fullmatch(name := Path(path).name)
        }


@pytest.mark.cpp
def test_no_power_cut_loses_or_spoils_a_finished_run(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every state opens; done is whole, promised is done, the rest becomes the same bytes."""
    opener = Opener(recorded, monkeypatch)
    opened = 0
    for moment in moments(recorded.steps, STATES):
        assert opener.complaints(moment) == []
        opened += 1
    print(f"{opened} states of {len(recorded.steps)} steps")
    assert opened > 100


#: Every sync that a study needs: what is synced, by its path.
SYNCS = {
    "spec.json": r".*/spec\.json",
    "summary.json": r".*/summary\.json",
    "tables": r".*/runs/\..*\.parquet",
    "SHA256SUMS": r".*/SHA256SUMS",
    "the name of its file": r"results/cut/\.\w+\.file\.txt",
    "the folder of an attempt": r".*/runs/\.[^/]+",
    "the folder of all runs": r"results/cut/runs",
    "the folder of the study": r"results/cut",
    "the results": r"results",
    "the folder above the results": r"\.",
    "runs.parquet": r"results/cut/\.\w+\.runs\.parquet",
    "a page": r".*/report/\.\w+\.index\.html",
    "a picture": r".*/report/\.\w+\.top\.png",
    "the folder of the report": r"results/cut/report",
}


@pytest.mark.cpp
@pytest.mark.parametrize("what", SYNCS)
def test_each_sync_is_needed(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Without any one kind of sync, some power cut loses or spoils something, and this sees it."""
    unsynced = [
        step
        for step in recorded.steps
        if step.kind != "sync" or not re.fullmatch(SYNCS[what], step.path)
    ]
    assert len(unsynced) < len(recorded.steps)
    opener = Opener(recorded, monkeypatch)
    assert any(opener.complaints(moment, go_on=False) for moment in moments(unsynced, STATES))


# What a cluster's jobs and `invoke status` read

SUBMIT = """
import os
from pathlib import Path
from pyorch.engine.slurm.submission import TaskNote, write_note
from tests.engine import test_cluster as t
store = t.Store(t.Paths(Path.cwd(), Path(os.environ["PYORCH_RESULTS"])), "study")
store.prepare()
made = t.submit_in_file(store, [1, 2, 3, 4, 5], per_job=2)
for task in (0, 1, 0):
    write_note(made.folder, task, TaskNote("7", "n1", "h", 0, 1.0))
"""


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    """What submitting a sweep, and the notes of its jobs, do to a disk."""
    tmp = tmp_path_factory.mktemp("submitted")
    subprocess.run([sys.executable, "-c", SUBMIT], cwd=ROOT, env=_watched(tmp), check=True)
    return _recorded(tmp)


def unreadable(moment: Moment) -> list[str]:
    """Read all that is there of submissions; complain of what is not whole or is lost."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(moment.tree, Path(folder))
        store = Store(Paths(ROOT, Path(folder) / "results"), "study")
        found = submissions(store)
        for made in found:
            assert len(made.runs) == len(made.plan) == 5
            for task in range(3):
                read_runs(made.manifest, 2 * task, 2, read_spec)
                read_note(made.folder, task)
            run_states(made.plan, store, holders([made], []))
        lost = [] if found or not moment.ended else ["the submission is lost"]
        return [*lost, *_files(moment)]


@pytest.mark.processes
def test_no_power_cut_spoils_a_submission(submitted: list[Step]) -> None:
    """A submission is listed with all its files, or not at all; once submitted it is listed."""
    states = list(moments(submitted, STATES))
    assert len(states) > 30
    assert [unreadable(moment) for moment in states] == [[]] * len(states)


SUBMISSION = (
    "plan.txt",
    "runs.txt",
    "manifest.jsonl",
    "manifest.index",
    "submission.json",
    "0.json",
)


@pytest.mark.parametrize("what", [*SUBMISSION, "slurm", "slurm/[^/]+"])
@pytest.mark.slow
def test_each_sync_of_a_submission_is_needed(submitted: list[Step], what: str) -> None:
    """Without any one of them some power cut spoils something, and the test above sees it."""
    pattern = rf"results/study/(.*/)?(\.\w+\.)?{what}"
    unsynced = [s for s in submitted if s.kind != "sync" or not re.fullmatch(pattern, s.path)]
    assert len(unsynced) < len(submitted)
    with pytest.raises((AssertionError, OSError, UserError)):
        assert not any(unreadable(moment) for moment in moments(unsynced, STATES))
