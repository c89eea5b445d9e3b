"""`submit`, `status`, `cancel` and `collect`: a sweep on Slurm."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyorch.base.errors import first_of
from pyorch.base.paths import program
from pyorch.base.units import duration
from pyorch.cli import door
from pyorch.cli.base import FAILED, OK, SHOWN_FAILURES, command, listing, tell_report, warn
from pyorch.engine.log import log_tail
from pyorch.engine.slurm import cluster
from pyorch.engine.slurm import state as states
from pyorch.engine.slurm.cluster import command_of
from pyorch.engine.slurm.state import State, SweepState
from pyorch.remarks import runs_text
from pyorch.store.store import Store
from pyorch.study import RunsMissingError, Study


@command
def submit(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    options: Mapping[str, str | bool] | None = None,
    runs_each: int | None = None,
    dry_run: bool = False,
) -> int:
    """Send an experiment's missing runs to Slurm and return.

    options: of `load_settings`; runs_each: runs of a job, by default so many that they pay.
    """
    study = Study.named(name, overrides, seeds=seeds)
    if dry_run:
        asked = study.ask(options or {}, runs_each, claim=False)
        if asked.plan.missing:
            for line in study.remarks_on_plan():
                warn(line)
        return _tell_dry_run(asked)
    sent = study.submit(runs_each, print, warn, **(options or {}))
    if sent is None:
        return OK
    numbers = ", ".join(str(array.job_id) for array in sent.arrays)
    jobs = sum(array.jobs for array in sent.arrays)
    print(f"submitted {runs_text(sent.runs)} in {jobs:,} jobs (array {numbers})")
    door.say(f"invoke status {name}    shows its progress")
    door.say(f"invoke collect {name}   writes the report when it is done")
    return OK


def _tell_dry_run(asked: cluster.Asked) -> int:
    """Print what would be submitted."""
    would = cluster.forecast(asked)
    missing = would.todo.missing
    print(would.todo.line(asked.plan.store.name))
    print(f"settings: {asked.settings.file or 'none: there is no slurm.toml'}")
    for spec in list(missing.values())[:SHOWN_FAILURES]:
        print(f"  {spec.title}")
    if len(missing) > SHOWN_FAILURES:
        print(f"  ... and {len(missing) - SHOWN_FAILURES} more")
    if would.packing is not None:
        print(would.packing.line)
    print(
        "\n".join(
            [
                *would.costs,
                *map(shlex.join, would.commands),
                "",
                "nothing was submitted (--dry-run)",
            ]
        )
    )
    return OK


WATCH_INTERVAL_S = 5.0


@listing
def status(name: str, watch: bool = False) -> int:
    """Print the state of the latest submitted sweep of an experiment."""
    study = Study.named(name)
    store = study.store
    while True:
        state = study.state()
        if watch and sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="")
        code = _tell_state(state, store, name)
        if not watch or state.is_over:
            return code
        sys.stdout.flush()
        time.sleep(WATCH_INTERVAL_S)
        if not sys.stdout.isatty():
            print()


def _tell_state(state: SweepState, store: Store, name: str) -> int:
    """Print a state; return 1 when runs failed or were lost, else 0."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(state.submission.created))
    print(f"{store.name}: {runs_text(len(state.runs))}, last submitted {when}")
    if state.away:
        print(f"Slurm does not answer ({state.away}): this is the state on disk")
    for kind in State:
        count = state.count(kind)
        if count or kind in (State.DONE, State.RUNNING, State.WAITING):
            print(f"  {kind.value:<8}{count:>7}{_remark(kind, state)}")
    left = _eta(state, store)
    if left:
        print(left)
    if state.others:
        print(f"{len(state.others)} jobs of other sweeps of it are with Slurm too")
    _tell_failures(state, store)
    bad = state.count(State.FAILED) + state.count(State.LOST)
    if bad:
        again = command_of("submit", state.submission, name)
        door.say(f"\n{again}   repeats what failed or was lost")
        return FAILED
    if state.count(State.DONE) == len(state.runs):
        door.say(f"all done: invoke collect {name}")
    return OK


def _remark(kind: State, state: SweepState) -> str:
    """What follows a number: nodes, reasons for waiting, reasons for losing runs."""
    if kind is State.RUNNING:
        names = sorted({job.node for job in state.queued if job.runs and job.node})
        return f"  on {first_of(names, 8)}" if names and state.count(kind) else ""
    if kind is State.WAITING:
        reasons = Counter(job.reason for job in state.queued if not job.runs and job.reason)
        held = Counter(job.state for job in state.queued if "HOLD" in job.state)
        return _counted(reasons + held, "jobs: ")
    if kind is State.LOST:
        return _counted(states.lost_reasons(state))
    if kind is State.UNKNOWN:
        return "  waiting, running or lost: only Slurm knows"
    return ""


def _counted(counter: Counter[str], before: str = "") -> str:
    if not counter:
        return ""
    return f"  ({before}{', '.join(f'{text} {n}' for text, n in counter.most_common(5))})"


def _eta(state: SweepState, store: Store) -> str:
    run_s = states.mean_run_s(store, state.hashes(State.DONE))
    left = states.eta_s(state.count(State.WAITING), state.fractions, run_s)
    if left is None or run_s is None:
        return ""
    return f"ETA {duration(left)} ({len(state.fractions)} at once, {run_s:.3g} s per run)"


def _tell_failures(state: SweepState, store: Store) -> None:
    """Print failed runs with the end of their log, and the end of a job's log that lost runs."""
    failed = state.hashes(State.FAILED)
    for run_hash in failed[:SHOWN_FAILURES]:
        kept = store.failure(run_hash)
        tail = log_tail(kept.log) or "(its log is empty)"
        print(f"\nFAILED {_title(kept.spec, run_hash)}")
        print("\n".join(f"    | {line}" for line in tail.splitlines()))
        print(f"    log:       {kept.log}")
        reproduce = [*program("pyorch.run"), str(kept.manifest), "0"]
        print(f"    reproduce: {shlex.join(reproduce)}")
    if len(failed) > SHOWN_FAILURES:
        print(f"\n... and {len(failed) - SHOWN_FAILURES} more failed, see {store.failed}")
    tail = states.lost_tail(state)
    if tail:
        print("\nthe end of the log of a job that lost runs:")
        print("\n".join(f"    | {line}" for line in tail.splitlines()))


def _title(spec_file: Path, run_hash: str) -> str:
    from pyorch.plan import title_of

    try:
        spec = json.loads(spec_file.read_text(encoding="utf-8"))
        return title_of(spec["params"], spec["seed"])
    except (OSError, ValueError, KeyError):
        return run_hash


@command
def cancel(name: str) -> int:
    """Cancel all jobs of an experiment; what is done stays."""
    study = Study.named(name)
    ended = study.cancel()
    if ended.latest is None:
        print(f"{study.store.name}: it has no jobs in Slurm")
        return OK
    print(f"cancelled {ended.running} running and {ended.waiting} waiting jobs")
    again = command_of("submit", ended.latest, name)
    door.say(f"finished runs stay; {again} resumes the rest")
    return OK


@command
def collect(name: str, partial: bool = False) -> int:
    """Write the tables and the report of the latest sweep, once all its runs are done."""
    study = Study.named(name)
    try:
        code = tell_report(study.collect(partial, print, warn))
    except RunsMissingError:
        hint = "`invoke status` shows why; --partial reports on the finished runs"
        print(door.spoken(hint), file=sys.stderr)
        return FAILED
    return FAILED if study.missing else code
