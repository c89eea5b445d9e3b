"""Sweeps on a cluster: what `invoke submit | status | cancel | collect` do.

As in cli.py every function prints for people and returns an exit code.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.cli import (
    FAILED,
    OK,
    SHOWN_FAILURES,
    Plan,
    command,
    listing,
    make_plan,
    set_damaged_aside,
    whole_number,
    write_report_of,
)
from pyorch.engine.log import log_tail
from pyorch.engine.slurm import state as states
from pyorch.engine.slurm.client import AwayError, QueuedJob, Slurm
from pyorch.engine.slurm.packing import arrays_for, cost, jobs_for, overhead_share, runs_per_job
from pyorch.engine.slurm.settings import Settings, load_settings
from pyorch.engine.slurm.state import TO_SUBMIT, State, SweepState
from pyorch.engine.slurm.submission import (
    FOLDER,
    Submission,
    SubmittedArray,
    create,
    locked,
    submissions,
)
from pyorch.errors import Problem, UserError
from pyorch.files import RESULTS_HINT, STORAGE_ERRORS, storage_error, write_atomically
from pyorch.paths import default_paths
from pyorch.progress import duration
from pyorch.reading import is_folder
from pyorch.remarks import runs_text
from pyorch.store import Store

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

WATCH_INTERVAL_S = 5.0
#: Cores for which a dry run says how long the sweep takes.
SHOWN_CORES = (1, 100, 10_000)


def _away(error: AwayError) -> UserError:
    hint = "try again later, on the login node; what was submitted goes on by itself"
    return UserError([Problem("Slurm", f"does not answer: {error}", None, hint)])


# ---------------------------------------------------------------------------------------------
# submit


@dataclass(frozen=True)
class Packing:
    """How many runs a job does, and why; how long a run takes [s]."""

    runs: int
    reason: str
    run_s: float


@command
def submit(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    options: Mapping[str, str | bool] | None = None,
    runs_each: str = "",
    dry_run: bool = False,
) -> int:
    """Send what is missing of an experiment to Slurm and return.

    options: of `load_settings`; runs_each: the text of --runs-per-job.
    """
    given = whole_number("--runs-per-job", runs_each)
    settings = load_settings(default_paths(), options or {})
    plan = make_plan(name, overrides, seeds, claim=not dry_run)
    _check_place(plan.store)
    slurm = Slurm()
    try:
        limit = slurm.max_array_size()
        if dry_run:
            return _tell_dry_run(plan, _todo(plan, slurm), settings, given, limit)
        plan.set_damaged_aside()
        with locked(plan.store):
            todo = _todo(plan, slurm)
            print(todo.line(plan.store.name))
            missing = todo.missing
            if not missing:
                return OK
            packing = _packing(plan, settings, given, len(missing))
            print(f"a job does {runs_text(packing.runs)}: {packing.reason}")
            typed = {"name": _lasting(name, plan), "overrides": tuple(overrides), "seeds": seeds}
            submission = _prepare(plan, missing, packing, settings, typed)
            submission = _send(submission, settings, slurm, len(missing), limit)
    except AwayError as error:
        raise _away(error) from error
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        raise storage_error(error, plan.store.root / FOLDER, RESULTS_HINT) from error
    numbers = ", ".join(str(array.job_id) for array in submission.arrays)
    jobs = sum(array.jobs for array in submission.arrays)
    print(f"submitted {runs_text(len(missing))} in {jobs:,} jobs (array {numbers})")
    print(f"invoke status {name}    shows how far it is")
    print(f"invoke collect {name}   writes the report when it is done")
    return OK


def _check_place(store: Store) -> None:
    """Refuse a folder that sbatch cannot be told as the place of logs: it drops backslashes."""
    if "\\" in str(store.root):
        what = "Slurm cannot write logs below a folder with a backslash in its name"
        hint = "set PYORCH_RESULTS to another folder, or rename the experiment"
        raise UserError([Problem(str(store.root), what, None, hint)])


def _lasting(name: str, plan: Plan) -> str:
    """The experiment as named, but a file by a path that holds in every folder."""
    inside = plan.experiment.file.is_relative_to(plan.store.paths.experiments)
    return name if inside else str(plan.experiment.file.resolve())


@dataclass(frozen=True)
class Todo:
    """What is to be submitted: missing runs by hash; how many jobs hold, and how many are done."""

    missing: Mapping[str, RunSpec]
    held: int
    done: int

    def line(self, name: str) -> str:
        """All of it for people."""
        total = len(self.missing) + self.held + self.done
        parts = [runs_text(total), f"{self.done:,} done"]
        parts += [f"{self.held:,} already with Slurm"] if self.held else []
        return f"{name}: {', '.join([*parts, f'{len(self.missing):,} to submit'])}"


def _todo(plan: Plan, slurm: Slurm) -> Todo:
    """Look which runs are neither done nor held by a job. Raises AwayError."""
    earlier = submissions(plan.store)
    queued = slurm.queue([name for item in earlier for name in item.job_names()])
    specs = {spec.hash(plan.build.fingerprint): spec for spec in plan.specs}
    found, _ = states.run_states(list(specs), plan.store, states.holders(earlier, queued))
    missing = {key: specs[key] for key, state in found.items() if state in TO_SUBMIT}
    done = sum(1 for state in found.values() if state is State.DONE)
    return Todo(missing, len(specs) - len(missing) - done, done)


def _packing(plan: Plan, settings: Settings, given: int | None, runs: int) -> Packing:
    """How many runs a job does: as told, else so many that overhead stays small."""
    done = {path.name for path in plan.store.runs.glob("[!.]*")}
    own = done & {spec.hash(plan.build.fingerprint) for spec in plan.specs}
    known = states.mean_run_s(plan.store, sorted(own or done))
    run_s = known or settings.run_time_s
    source = "as measured here" if known else "assumed, none was made here yet: `run_time`"
    cores, overhead = settings.cores_per_job, settings.job_overhead_s
    if given is not None:
        return Packing(given, f"as given; a run takes {run_s:.3g} s ({source})", run_s)
    count = runs_per_job(run_s, overhead, cores, settings.time_s, runs)
    share = overhead_share(count, run_s, overhead, cores)
    costs = f"a job costs {overhead:g} s, {share:.0%} of it"
    return Packing(count, f"a run takes {run_s:.3g} s ({source}), {costs}", run_s)


def _cost_lines(runs: int, packing: Packing, settings: Settings) -> Iterator[str]:
    """What the submitted runs take on 1, 100 and 10,000 cores."""
    slots = settings.cores_per_job
    rounds, per_job = jobs_for(runs, slots), jobs_for(packing.runs, slots)
    for cores in SHOWN_CORES:
        lanes = max(1, cores // slots)
        found = cost(rounds, per_job, packing.run_s, settings.job_overhead_s, lanes)
        unit = "core" if lanes * slots == 1 else "cores"
        yield f"expected on {lanes * slots} {unit}: {duration(found.wall_s)}"
    hours = found.core_s * slots / 3600
    yield f"core time: {hours:.3g} h, {found.overhead:.0%} of it scheduling and starting jobs"


def _prepare(
    plan: Plan,
    missing: Mapping[str, RunSpec],
    packing: Packing,
    settings: Settings,
    fields: Mapping[str, object],
) -> Submission:
    """Write the folder of a submission. Raises OSError when the disk refuses."""
    from pyorch.engine.manifest import index_manifest, write_manifest
    from pyorch.engine.slurm.script import job_script

    plan.store.prepare()
    fingerprint = plan.build.fingerprint
    submission = create(
        plan.store,
        list(dict.fromkeys(spec.hash(fingerprint) for spec in plan.specs)),
        list(missing),
        fingerprint=fingerprint,
        runs_per_job=packing.runs,
        time_s=settings.time_s,
        **fields,
    )
    write_manifest(submission.manifest, list(missing.values()), fingerprint, plan.build.folder)
    index_manifest(submission.manifest)
    # names of files need not be UTF-8
    script = os.fsencode(job_script(submission, settings, plan.store.paths))
    write_atomically(submission.script, script)
    submission.script.chmod(0o755)
    return submission


def _send(
    submission: Submission, settings: Settings, slurm: Slurm, runs: int, limit: int
) -> Submission:
    """Submit the arrays; what was taken before a refusal stays. Raises UserError, AwayError."""
    from pyorch.engine.slurm.script import array_options

    taken: list[SubmittedArray] = []
    jobs = jobs_for(runs, submission.runs_per_job)
    for array in arrays_for(jobs, limit):
        # noted before Slurm is asked: should its answer get lost, the name still finds the jobs
        unknown = SubmittedArray(array.first, array.jobs)
        submission = submission.with_arrays([*taken, unknown])
        # --max-running holds for one array, so that several go one after the other
        after = taken[-1].job_id if taken and settings.max_running is not None else None
        script_options = [f"--chdir={default_paths().root}"]
        script_options += array_options(submission, array, settings, after)
        try:
            job_id = slurm.submit(script_options, submission.script, str(array.first))
        except UserError:
            if taken:
                submission.with_arrays(taken)
            else:
                submission.discard()
            raise
        taken.append(replace(unknown, job_id=job_id))
    return submission.with_arrays(taken)


def _tell_dry_run(plan: Plan, todo: Todo, settings: Settings, given: int | None, limit: int) -> int:
    """Say what would be submitted."""
    from pyorch.engine.base import title
    from pyorch.engine.slurm.script import array_options

    print(todo.line(plan.store.name))
    missing = todo.missing
    print(f"settings: {settings.file or 'none: there is no slurm.toml'}")
    for spec in list(missing.values())[:SHOWN_FAILURES]:
        print(f"  {title(spec)}")
    if len(missing) > SHOWN_FAILURES:
        print(f"  ... and {len(missing) - SHOWN_FAILURES} more")
    if missing:
        packing = _packing(plan, settings, given, len(missing))
        print(f"a job does {runs_text(packing.runs)}: {packing.reason}")
        print("\n".join(_cost_lines(len(missing), packing, settings)))
        folder = plan.store.root / FOLDER / "ID"
        shown = Submission(
            folder, plan.store.name, "", (), "", plan.build.fingerprint, 0.0, packing.runs
        )
        for array in arrays_for(jobs_for(len(missing), packing.runs), limit):
            options = array_options(shown, array, settings)
            print(shlex.join(["sbatch", *options, str(shown.script), str(array.first)]))
    print("\nnothing was submitted (--dry-run)")
    return OK


# ---------------------------------------------------------------------------------------------
# status


@listing
def status(name: str, watch: bool = False) -> int:
    """Print what became of the latest sweep of an experiment that was submitted."""
    store = _store(name)
    while True:
        state = look(store, Slurm())
        if watch and sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="")
        code = _tell_state(state, store, name)
        if not watch or state.is_over:
            return code
        sys.stdout.flush()
        time.sleep(WATCH_INTERVAL_S)
        if not sys.stdout.isatty():
            print()


def _store(name: str) -> Store:
    """The store of an experiment that was submitted. Raises UserError when there is none."""
    from pyorch.config.load import experiment_name

    paths = default_paths()
    try:
        store = Store(paths, name)
        if is_folder(store.root / FOLDER):  # also when its file is no more
            return store
    except ValueError:
        pass
    return Store(paths, experiment_name(name, paths))


def look(store: Store, slurm: Slurm) -> SweepState:
    """Return the state of the latest sweep. Raises UserError when nothing was submitted."""
    known = submissions(store)
    if not known:
        hint = f"invoke submit {store.name}; `invoke show` tells what a local sweep has done"
        raise UserError([Problem(store.name, "it was never submitted to Slurm", None, hint)])
    latest = known[-1]
    away, queued = "", None
    try:
        queued = slurm.queue([name for item in known for name in item.job_names()])
    except (AwayError, UserError) as error:
        away = error.problems[0].what if isinstance(error, UserError) else str(error)
    held = states.holders(known, queued)
    found, fractions = states.run_states(latest.plan, store, held)
    wanted = {name for item in known if item.sweep == latest.sweep for name in item.job_names()}
    own = [job for job in queued or () if job.name in wanted]
    others = [job for job in queued or () if job.name not in wanted]
    sweep = SweepState(latest, found, held, own, others, fractions, away)
    if sweep.count(State.LOST) and not away:
        with suppress(AwayError):
            sweep.ended = slurm.ended(wanted)
    return sweep


def _tell_state(state: SweepState, store: Store, name: str) -> int:
    """Print a state; return 1 when runs failed or were lost, else 0."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(state.submission.created))
    print(f"{store.name}: {runs_text(len(state.runs))}, last submitted {when}")
    if state.away:
        print(f"Slurm does not answer ({state.away}): this is what the disk tells")
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
    return _tell_next(state, name)


def _remark(kind: State, state: SweepState) -> str:
    """What stands behind a number: nodes, reasons for waiting, reasons for losing."""
    if kind is State.RUNNING:
        names = sorted({job.node for job in state.queued if job.runs and job.node})
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return f"  on {shown}" if names and state.count(kind) else ""
    if kind is State.WAITING:
        reasons = Counter(job.reason for job in state.queued if not job.runs and job.reason)
        held = Counter(job.state for job in state.queued if "HOLD" in job.state)
        return _counted(reasons + held, "jobs: ")
    if kind is State.LOST:
        return _counted(states.lost_reasons(state))
    if kind is State.UNKNOWN:
        return "  waiting, running or lost: Slurm alone knows"
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
    return f"ETA {duration(left)} ({len(state.fractions)} at once, {run_s:.3g} s a run)"


def _tell_failures(state: SweepState, store: Store) -> None:
    """Print failed runs with the end of their log, and the end of a job's log that lost runs."""
    failed = state.hashes(State.FAILED)
    for run_hash in failed[:SHOWN_FAILURES]:
        kept = store.failure(run_hash)
        tail = log_tail(kept.log) or "(its log is empty)"
        print(f"\nFAILED {_title(kept.spec, run_hash)}")
        print("\n".join(f"    | {line}" for line in tail.splitlines()))
        print(f"    log:       {kept.log}")
        reproduce = [sys.executable, "-m", "pyorch.run", str(kept.manifest), "0"]
        print(f"    reproduce: {shlex.join(reproduce)}")
    if len(failed) > SHOWN_FAILURES:
        print(f"\n... and {len(failed) - SHOWN_FAILURES} more failed, see {store.failed}")
    tail = states.lost_tail(state)
    if tail:
        print("\nthe log of a job that lost runs ends so:")
        print("\n".join(f"    | {line}" for line in tail.splitlines()))


def _title(spec_file: Path, run_hash: str) -> str:
    from pyorch.engine.base import title
    from pyorch.plan import RunSpec

    try:
        return title(RunSpec.from_json(spec_file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError):
        return run_hash


def _tell_next(state: SweepState, name: str) -> int:
    """Say what to do next; return the exit code."""
    bad = state.count(State.FAILED) + state.count(State.LOST)
    if bad:
        print(
            f"\n{_command('submit', state.submission, name)}   does what failed or was lost again"
        )
        return FAILED
    if state.count(State.DONE) == len(state.runs):
        print(f"all done: invoke collect {name}")
    return OK


def _command(task: str, submission: Submission, name: str) -> str:
    """The command line of a task with the sweep of a submission."""
    words = ["invoke", task, name]
    for override in submission.overrides:
        words += ["--set", override]
    return shlex.join([*words, *(["--seeds", submission.seeds] if submission.seeds else [])])


# ---------------------------------------------------------------------------------------------
# cancel, collect


@command
def cancel(name: str) -> int:
    """Cancel all jobs of an experiment; what is done stays."""
    store = _store(name)
    slurm = Slurm()
    with locked(store):
        known = [item for item in submissions(store) if not item.is_cancelled]
        try:
            queued = slurm.queue([job for item in known for job in item.job_names()])
            slurm.cancel({job.array_id for job in queued})
        except AwayError as error:
            raise _away(error) from error
        ended = _mark_cancelled(known, queued)
    if not ended:
        print(f"{store.name}: no job of it is with Slurm")
        return OK
    running = sum(1 for job in queued if job.runs)
    print(f"cancelled {running} running and {len(queued) - running} waiting jobs")
    print(f"what is done stays; {_command('submit', known[-1], name)} goes on")
    return OK


def _mark_cancelled(known: Sequence[Submission], queued: Sequence[QueuedJob]) -> int:
    """Note it at the submissions whose jobs were cancelled; return how many."""
    names = {job.name for job in queued}
    marked = [item for item in known if names & set(item.job_names())]
    for item in marked:
        item.mark_cancelled()
    return len(marked)


@command
def collect(name: str, partial: bool = False) -> int:
    """Write the tables and the report of the latest sweep, once all its runs are there."""
    store = _store(name)
    state = look(store, Slurm())
    if set_damaged_aside(store, dict.fromkeys(state.runs, "")):
        state = look(store, Slurm())
    missing = len(state.runs) - state.count(State.DONE)
    if missing:
        parts = [f"{state.count(kind)} {kind.value}" for kind in State if state.count(kind)]
        print(f"{store.name}: {missing} of {len(state.runs)} runs are missing: {', '.join(parts)}")
        if not partial or missing == len(state.runs):
            print("`invoke status` shows why; --partial reports on what is done", file=sys.stderr)
            return FAILED
    plan = _plan_of(state.submission)
    store.sweep()
    code = write_report_of(plan, _command("experiment", state.submission, state.submission.name))
    return FAILED if missing else code


def _plan_of(submission: Submission) -> Plan:
    """The plan of a submission, also when the modules changed since.

    Raises UserError when the experiment is another one now.
    """
    plan = make_plan(submission.name, submission.overrides, submission.seeds)
    if plan.build.fingerprint != submission.fingerprint:
        print("made with an earlier build of the modules, as the sweep was", file=sys.stderr)
        plan = replace(plan, build=replace(plan.build, fingerprint=submission.fingerprint))
    hashes = dict.fromkeys(spec.hash(submission.fingerprint) for spec in plan.specs)
    if tuple(hashes) != submission.plan:
        what = "the experiment is another one than when it was submitted"
        hint = "undo the change of its file to report on that sweep, or submit the new one"
        raise UserError([Problem(submission.name, what, None, hint)])
    return plan
