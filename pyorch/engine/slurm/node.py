"""One job of a sweep: python -m pyorch.engine.slurm.node MANIFEST --task K --runs-per-task B.

It does the runs K*B to K*B+B-1 of a manifest that are not done, with the local engine: each in a
process of its own, committed by one rename. So a run on a node is the same as a run at home, a job
may begin twice, and whatever ends it leaves finished runs behind. Exit codes: 0 all its runs are
done, 1 some failed, 4 the disk refused, 5 this machine cannot compute, 128 + the number of
the signal that ended it.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pyorch.base import ends
from pyorch.base.errors import UserError, refusal
from pyorch.base.files import telling
from pyorch.base.paths import RunPaths, default_paths
from pyorch.build.info import BuildInfo
from pyorch.engine.base import RUN_STORAGE, RUN_UNFIT, BatchResult
from pyorch.engine.cores import threads_of
from pyorch.engine.local import LocalEngine
from pyorch.engine.manifest import Manifest, read_runs
from pyorch.engine.progress import SLICES, read_heartbeat
from pyorch.engine.slurm.submission import (
    DONE,
    FAILED,
    INTERRUPTED,
    UNFIT,
    TaskNote,
    write_note,
)
from pyorch.kinds import read_spec
from pyorch.plan import RunSpec
from pyorch.store.store import Store, is_dead_attempt

#: An attempt of another process that gave no sign of life for this long [s] is taken for dead.
SILENCE_S = 60.0
POLL_S = 1.0

_CODES = {DONE: 0, FAILED: 1}


class NodeStore(Store):
    """A store that leaves dead attempts alone: thousands of jobs need not all look for them."""

    def sweep(self) -> None:
        """Do nothing; `invoke submit` and `invoke experiment` sweep."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the runs of one job and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pyorch.engine.slurm.node", description=__doc__)
    parser.add_argument("manifest", type=Path, help="the manifest of a submission")
    parser.add_argument("--task", type=int, required=True, help="number of the job, from 0")
    parser.add_argument("--runs-per-task", type=int, required=True, help="runs per job")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel runs")
    parser.add_argument("--head", default="", help="digest of the manifest's first line")
    parser.add_argument("--build-on-node", action="store_true", help="compile the modules here")
    given = parser.parse_args(arguments)
    note = _begin()
    folder = given.manifest.parent
    write_note(folder, given.task, note)
    try:
        result = _work(given)
    except UserError as error:
        print(error.render(), file=sys.stderr, flush=True)
        ended = replace(note, ended=time.time(), outcome=UNFIT, message=error.render())
        write_note(folder, given.task, ended)
        return RUN_UNFIT
    outcome = INTERRUPTED if result.interrupted else FAILED if result.left else DONE
    write_note(folder, given.task, replace(note, ended=time.time(), outcome=outcome))
    if outcome == INTERRUPTED:
        return ends.exit_code()
    return RUN_STORAGE if result.storage_failed else _CODES[outcome]


def _begin() -> TaskNote:
    environment = os.environ
    array = environment.get("SLURM_ARRAY_JOB_ID", "")
    return TaskNote(
        job=f"{array}_{environment.get('SLURM_ARRAY_TASK_ID', '')}" if array else "",
        node=environment.get("SLURMD_NODENAME", socket.gethostname()),
        host=socket.gethostname(),
        restarts=int(environment.get("SLURM_RESTART_COUNT", "0")),
        started=time.time(),
    )


def _work(given: argparse.Namespace) -> BatchResult:
    first, count = given.task * given.runs_per_task, given.runs_per_task
    manifest, specs = read_runs(given.manifest, first, count, read_spec, given.head)
    store = NodeStore(default_paths(), specs[0].setting.experiment)
    missing = store.missing(specs, manifest.fingerprint)
    print(f"{store.name}: {len(specs) - len(missing)} of {len(specs)} done before", flush=True)
    if not missing:
        return BatchResult(done=0, left=0)
    build = _build(manifest, specs, given.build_on_node)
    return do_runs(missing, store, build, given.jobs)


def _build(manifest: Manifest, specs: Iterable[RunSpec], build_here: bool) -> BuildInfo:
    """The build to load on this machine; what is compiled here is only what the runs use.

    Raises UserError when it cannot be loaded here.
    """
    from pyorch.build.builder import ensure_used
    from pyorch.build.info import read_build
    from pyorch.build.loadable import check_loadable

    if build_here:
        types = frozenset().union(*(spec.types for spec in specs))
        info = ensure_used(types, _own_build_folder())
    else:
        try:
            info = read_build(manifest.build)
        except (OSError, ValueError, KeyError) as error:
            what = f"node {socket.gethostname()} sees no finished build there"
            hint = (
                "share the project's folder with the nodes, or compile there: --build-on-node; "
                "if the build was deleted meanwhile, submit again"
            )
            raise refusal(str(manifest.build), what, hint=hint) from error
    if info.fingerprint != manifest.fingerprint:
        what = "the modules here are not those the sweep was submitted with"
        hint = (
            "the node's compiler or ns3 is another, see `setup` in slurm.toml"
            if build_here
            else "they were rebuilt since; submit again"
        )
        raise refusal(str(info.folder), what, hint=hint)
    check_loadable(info)
    return info


def _own_build_folder() -> Path:
    """Where this machine compiles for itself: a folder of this user alone, on a local disk.

    Other users may write next to it, so its name cannot be foreseen, and what is not this user's
    alone is never taken. Raises UserError when there is no safe place, or no room.
    """
    import hashlib
    import tempfile

    place = Path(tempfile.gettempdir())
    digest = hashlib.sha256(str(default_paths().root).encode()).hexdigest()[:12]
    prefix = f"pyorch-build-{os.geteuid()}-{digest}-"
    hint = "set TMPDIR to a local folder of your own"
    with telling(place, hint):
        # raise UserError when another user could exchange what lies in a folder
        found = place.stat()
        open_to_others = found.st_mode & 0o022 or found.st_uid not in (0, os.geteuid())
        if open_to_others and not found.st_mode & stat.S_ISVTX:
            what = "modules are not compiled there, as other users could exchange them"
            allowed = "a folder that only you can change, or one with the sticky bit, like /tmp"
            raise refusal(str(place), what, allowed, hint)
        for folder in place.glob(f"{prefix}*"):
            if not _is_private(folder):
                print(f"{folder}: not used, as other users can change it", flush=True)
        if not any(map(_is_private, place.glob(f"{prefix}*"))):
            # of jobs that begin at once, all but the first find an older one when they look again
            tempfile.mkdtemp(prefix=f"{prefix}{time.time_ns()}-", dir=place)
        return next(filter(_is_private, sorted(place.glob(f"{prefix}*"))))


def _is_private(folder: Path) -> bool:
    """Whether a path is a folder of this user that nobody else can even open."""
    found = folder.lstat()
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return mine and not found.st_mode & 0o077


def do_runs(
    missing: Sequence[RunSpec],
    store: Store,
    build: BuildInfo,
    jobs: int,
    silence_s: float = SILENCE_S,
) -> BatchResult:
    """Do all runs, those last at which another process seems to work.

    A requeued job can overlap the attempts it replaces: a dead slurmd leaves its processes behind.
    They are given the time to finish, as long as they show signs of life.
    """
    signs = {
        key: folders
        for key, folders in _foreign_attempts(missing, store, build.fingerprint).items()
        if folders
    }
    taken = [spec for spec in missing if spec.hash(build.fingerprint) in signs]
    free = [spec for spec in missing if spec.hash(build.fingerprint) not in signs]
    threads = threads_of(missing, jobs, len(missing), "its job has")
    engine = LocalEngine(store, max(1, jobs // threads))
    first = _forget_ended(engine.run(free, build), store)
    if not taken or first.interrupted or first.storage_failed:
        return replace(first, left=first.left + len(taken))
    print(f"another process is doing {len(taken)} of the runs: waiting for it", flush=True)
    left = _wait(taken, store, build.fingerprint, silence_s)
    second = _forget_ended(engine.run(left, build), store)
    return BatchResult(
        done=first.done + len(taken) - len(left) + second.done,
        left=first.left + second.left,
        failures=first.failures + second.failures,
        interrupted=second.interrupted,
        storage_failed=second.storage_failed,
    )


def _forget_ended(result: BatchResult, store: Store) -> BatchResult:
    """Take runs that were ended together with their job for unmade, not for failed.

    Slurm signals all processes of a job, and the end of a run may be seen before the own signal.
    """
    if not result.interrupted:
        return result
    ended = {f.hash for f in result.failures if f.returncode in (-signal.SIGTERM, -signal.SIGKILL)}
    for run_hash in ended:
        store.discard(store.failure(run_hash).folder)
    return replace(result, failures=tuple(f for f in result.failures if f.hash not in ended))


def _foreign_attempts(
    specs: Sequence[RunSpec], store: Store, fingerprint: str
) -> dict[str, list[Path]]:
    """Attempts at these runs that may be alive, by hash; those that surely are not are deleted."""
    attempts = store.attempts()
    found: dict[str, list[Path]] = {}
    for run_hash in (spec.hash(fingerprint) for spec in specs):
        for folder in attempts.get(run_hash, ()):
            if is_dead_attempt(folder):
                store.discard(folder)
            else:
                found.setdefault(run_hash, []).append(folder)
    return found


def _wait(
    specs: Sequence[RunSpec], store: Store, fingerprint: str, silence_s: float
) -> list[RunSpec]:
    """Wait until each run is done or nobody works at it any more; return those not done."""
    seen: dict[str, tuple[object, float]] = {}  # the last sign, and when it came
    open_specs = list(specs)
    left: list[RunSpec] = []
    while open_specs:
        now = time.monotonic()
        attempts = _foreign_attempts(open_specs, store, fingerprint)
        still_open = []
        for spec in open_specs:
            run_hash = spec.hash(fingerprint)
            if store.is_done(run_hash):
                continue
            folders = attempts.get(run_hash, [])
            sign = tuple(map(_sign, folders))
            before, since = seen.get(run_hash, (None, now))
            seen[run_hash] = (sign, since if sign == before else now)
            patience_s = max([silence_s, *map(_between_signs, folders)])
            if not folders or now - seen[run_hash][1] >= patience_s:
                left.append(spec)
            else:
                still_open.append(spec)
        open_specs = still_open
        if open_specs:
            time.sleep(min(POLL_S, silence_s / 4))
    return left


def _sign(attempt: Path) -> tuple[int, ...]:
    """Changes whenever an attempt gets on; clocks of machines are never compared."""
    signs = []
    for file in (RunPaths(attempt).heartbeat, attempt):
        try:
            signs.append(file.stat().st_mtime_ns)
        except OSError:
            signs.append(0)
    return tuple(signs)


def _between_signs(attempt: Path) -> float:
    """How long [s] an attempt may well be silent: thrice what it took from sign to sign so far."""
    files = RunPaths(attempt)
    try:
        took = files.heartbeat.stat().st_mtime - files.spec.stat().st_mtime
    except OSError:
        return 0.0
    fraction = read_heartbeat(files.heartbeat)
    return 3 * took / (fraction * SLICES) if fraction > 0 else 0.0


if __name__ == "__main__":
    ends.start("finished runs are kept; `invoke submit` submits the rest")
    sys.exit(main())
