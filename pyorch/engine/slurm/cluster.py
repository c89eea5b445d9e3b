"""Sweeps on a cluster: submission, status, cancellation, and the plan to report on."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path

from pyorch.base.errors import UserError, refusal
from pyorch.base.files import RESULTS_HINT, STORAGE_ERRORS, storage_error, write_atomically
from pyorch.base.paths import Paths
from pyorch.base.reading import is_folder
from pyorch.base.units import duration
from pyorch.engine import LocalEngine
from pyorch.engine.cores import threads_of
from pyorch.engine.manifest import digest_of_head, index_manifest, write_manifest
from pyorch.engine.preflight import refuse
from pyorch.engine.slurm import state as states
from pyorch.engine.slurm.client import AwayError, QueuedJob, Slurm
from pyorch.engine.slurm.packing import arrays_for, cost, jobs_for, overhead_share, runs_per_job
from pyorch.engine.slurm.script import array_options, job_script
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
from pyorch.files.find import experiment_name
from pyorch.pipeline import Plan, command_line, make_plan
from pyorch.plan import RunSpec
from pyorch.remarks import runs_text
from pyorch.store.store import Damage, Store

#: Cores for which a dry run says how long the sweep takes.
SHOWN_CORES = (1, 100, 10_000)


def _away(error: AwayError) -> UserError:
    hint = "try again later, on the login node; submitted jobs continue meanwhile"
    return refusal("Slurm", f"does not answer: {error}", hint=hint)


# ---------------------------------------------------------------------------------------------
# submit


@dataclass(frozen=True)
class Packing:
    """Number of runs per job, the reason, and the duration of a run [s]."""

    runs: int
    reason: str
    run_s: float

    @property
    def line(self) -> str:
        """All of it for people."""
        return f"a job does {runs_text(self.runs)}: {self.reason}"


@dataclass(frozen=True)
class Asked:
    """A sweep to submit: the command, its plan, and the site's settings."""

    name: str
    overrides: Sequence[str]
    seeds: str
    plan: Plan
    settings: Settings
    runs_per_job: int | None = None


@dataclass(frozen=True)
class Sent:
    """Runs and arrays that a submission sent to Slurm."""

    runs: int
    arrays: Sequence[SubmittedArray]


@dataclass(frozen=True)
class Forecast:
    """Preview of a submission: packing of jobs, expected cost, and calls of sbatch."""

    todo: Todo
    packing: Packing | None
    costs: Sequence[str]
    commands: Sequence[Sequence[str]]


def ask(
    name: str,
    overrides: Sequence[str],
    seeds: str,
    paths: Paths,
    options: Mapping[str, str | bool],
    runs_per_job: int | None = None,
    claim: bool = True,
) -> Asked:
    """Prepare a submission. options: of `load_settings`. Raises UserError."""
    settings = load_settings(paths, options)
    plan = make_plan(name, overrides, seeds, paths, claim=claim)
    # sbatch drops backslashes from the place of logs
    if "\\" in str(plan.store.root):
        what = "Slurm cannot write logs below a folder with a backslash in its name"
        hint = "set PYORCH_RESULTS to another folder, or rename the experiment"
        raise refusal(str(plan.store.root), what, hint=hint)
    return Asked(name, overrides, seeds, plan, settings, runs_per_job)


def forecast(asked: Asked) -> Forecast:
    """Preview a submission. Raises UserError."""
    plan = asked.plan
    try:
        slurm = Slurm()
        limit = slurm.max_array_size()
        todo = _todo(plan, slurm)
    except AwayError as error:
        raise _away(error) from error
    missing = todo.missing
    if not missing:
        return Forecast(todo, None, (), ())
    packing = _packing(plan, asked.settings, asked.runs_per_job, len(missing))
    costs = tuple(_cost_lines(len(missing), packing, asked.settings))
    folder = plan.store.root / FOLDER / "ID"
    shown = Submission(
        folder, plan.store.name, "", (), "", plan.build.fingerprint, 0.0, packing.runs
    )
    commands = tuple(
        (
            "sbatch",
            *array_options(shown, array, asked.settings),
            str(shown.script),
            str(array.first),
        )
        for array in arrays_for(jobs_for(len(missing), packing.runs), limit)
    )
    return Forecast(todo, packing, costs, commands)


def submit(asked: Asked, told: Callable[[str], object] = lambda _: None) -> Sent | None:
    """Submit the missing runs of an experiment to Slurm; None if nothing is missing.

    told: called with each line of output as soon as it is known. Raises UserError.
    """
    plan, settings = asked.plan, asked.settings
    try:
        slurm = Slurm()
        limit = slurm.max_array_size()
        with locked(plan.store):
            todo = _todo(plan, slurm)
            told(todo.line(plan.store.name))
            missing = todo.missing
            if not missing:
                return None
            specs, cores = list(missing.values()), settings.cores_per_job
            packing = _packing(plan, settings, asked.runs_per_job, len(missing))
            threads = threads_of(specs, cores, packing.runs, "its job has, by cores_per_job,")
            _check_networks(plan, specs)
            told(packing.line)
            # the experiment as named, but a file by a path that holds in every folder
            paths = plan.store.paths
            homes = filter(None, (paths.experiments, paths.shipped_experiments))
            inside = any(map(plan.experiment.file.is_relative_to, homes))
            typed = {
                "name": (asked.name if inside else realpath(plan.experiment.file)),
                "overrides": tuple(asked.overrides),
                "seeds": asked.seeds,
            }
            submission = _prepare(plan, missing, packing, threads, settings, typed)
            root = plan.store.paths.root
            submission = _send(submission, settings, slurm, len(missing), limit, root)
    except AwayError as error:
        raise _away(error) from error
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        raise storage_error(error, plan.store.root / FOLDER, RESULTS_HINT) from error
    return Sent(len(missing), submission.arrays)


def _check_networks(plan: Plan, missing: Sequence[RunSpec]) -> None:
    """Have modules check networks here, where jobs would meet their objections one by one.

    Raises UserError, and KeyboardInterrupt.
    """
    engine = LocalEngine(plan.store, stream=io.StringIO())
    result = engine.check(missing, plan.build, plan.done)
    if result.interrupted:
        raise KeyboardInterrupt
    refuse(plan, result)


@dataclass(frozen=True)
class Todo:
    """Runs to be submitted: missing runs by hash; numbers of runs in jobs and of finished runs."""

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
    """How many runs per job: as told, else so many that overhead stays small."""
    done = {path.name for path in plan.store.runs.glob("[!.]*")}
    own = done & {spec.hash(plan.build.fingerprint) for spec in plan.specs}
    known = states.mean_run_s(plan.store, sorted(own or done))
    run_s = known or settings.run_time_s
    source = "as measured here" if known else "assumed, no run has finished yet: `run_time`"
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
    threads: int,
    settings: Settings,
    fields: Mapping[str, object],
) -> Submission:
    """Write the folder of a submission. threads: of each run. Raises OSError of the disk."""
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
    specs = list(missing.values())
    write_manifest(submission.manifest, specs, fingerprint, plan.build.folder, threads)
    index_manifest(submission.manifest)
    head = digest_of_head(submission.manifest)
    # names of files need not be UTF-8
    script = os.fsencode(job_script(submission, settings, plan.store.paths, head))
    write_atomically(submission.script, script)
    submission.script.chmod(0o755)
    return submission


def _send(
    submission: Submission, settings: Settings, slurm: Slurm, runs: int, limit: int, root: Path
) -> Submission:
    """Submit the arrays; what was taken before a refusal stays. root: where jobs start.

    Raises UserError, AwayError.
    """
    taken: list[SubmittedArray] = []
    jobs = jobs_for(runs, submission.runs_per_job)
    for array in arrays_for(jobs, limit):
        # noted before Slurm is asked: should its answer get lost, the name still finds the jobs
        unknown = SubmittedArray(array.first, array.jobs)
        submission = submission.with_arrays([*taken, unknown])
        # --max-running holds for one array, so that several go one after the other
        after = taken[-1].job_id if taken and settings.max_running is not None else None
        script_options = [f"--chdir={root}"]
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


# ---------------------------------------------------------------------------------------------
# What became of it


def store_of(name: str, paths: Paths) -> Store:
    """The store of a submitted experiment. Raises UserError if there is none."""
    try:
        store = Store(paths, name)
        if is_folder(store.root / FOLDER):  # also when its file is no more
            return store
    except ValueError:
        pass
    return Store(paths, experiment_name(name, paths))


def look(store: Store, slurm: Slurm) -> SweepState:
    """Return the state of the latest sweep. Raises UserError if nothing was submitted."""
    known = submissions(store)
    if not known:
        hint = f"invoke submit {store.name}; `invoke show` shows the state of a local sweep"
        raise refusal(store.name, "it was never submitted to Slurm", hint=hint)
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


def settled(store: Store) -> tuple[SweepState, list[Damage]]:
    """The state of the latest sweep after setting damaged runs aside, and the damaged runs.

    Raises UserError when nothing was submitted.
    """
    state = look(store, Slurm())
    damaged = store.set_damaged_aside(state.runs)
    return (look(store, Slurm()) if damaged else state), damaged


def command_of(task: str, submission: Submission, name: str, paths: Paths | None = None) -> str:
    """The command line of a task for the sweep of a submission."""
    return command_line(name, submission.overrides, submission.seeds, task, paths=paths)


# ---------------------------------------------------------------------------------------------
# cancel, and collect


@dataclass(frozen=True)
class Cancelled:
    """Cancelled jobs, and their latest submission; None: there were none."""

    running: int
    waiting: int
    latest: Submission | None


def cancel(store: Store) -> Cancelled:
    """Cancel all jobs of an experiment; finished runs are kept. Raises UserError."""
    slurm = Slurm()
    with locked(store):
        known = [item for item in submissions(store) if not item.is_cancelled]
        try:
            queued = slurm.queue([job for item in known for job in item.job_names()])
            slurm.cancel({job.array_id for job in queued})
        except AwayError as error:
            raise _away(error) from error
        ended = _mark_cancelled(known, queued)
    running = sum(1 for job in queued if job.runs)
    return Cancelled(running, len(queued) - running, known[-1] if ended else None)


def _mark_cancelled(known: Sequence[Submission], queued: Sequence[QueuedJob]) -> int:
    """Note it at the submissions whose jobs were cancelled; return how many."""
    names = {job.name for job in queued}
    marked = [item for item in known if names & set(item.job_names())]
    for item in marked:
        item.mark_cancelled()
    return len(marked)


def plan_of(submission: Submission, paths: Paths) -> tuple[Plan, bool]:
    """The plan of a submission, and whether the modules changed since.

    Raises UserError if the experiment has changed.
    """
    plan = make_plan(submission.name, submission.overrides, submission.seeds, paths)
    is_earlier = plan.build.fingerprint != submission.fingerprint
    if is_earlier:
        plan = replace(plan, build=replace(plan.build, fingerprint=submission.fingerprint))
    hashes = dict.fromkeys(spec.hash(submission.fingerprint) for spec in plan.specs)
    if tuple(hashes) != submission.plan:
        what = "the experiment has changed since it was submitted"
        hint = "undo the change to report on that sweep, or submit the new one"
        raise refusal(submission.name, what, hint=hint)
    return plan, is_earlier
