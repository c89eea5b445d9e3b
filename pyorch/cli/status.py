"""`status`: the state of a submitted sweep."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import Counter
from pathlib import Path

from pyorch.base.errors import first_of
from pyorch.base.paths import program
from pyorch.base.units import duration
from pyorch.cli import door
from pyorch.cli.base import FAILED, OK, SHOWN_FAILURES, listing
from pyorch.engine.log import log_tail
from pyorch.engine.slurm import state as states
from pyorch.engine.slurm.cluster import command_of
from pyorch.engine.slurm.state import State, SweepState
from pyorch.remarks import runs_text
from pyorch.store.store import Store
from pyorch.study import Study

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
