"""What the tasks do: every function prints for people and returns an exit code.

0 all well, 1 a run or an expectation failed, 2 bad input, 128 + number ended by a signal.
"""

from __future__ import annotations

import functools
import itertools
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec

from pyorch import ends
from pyorch.errors import Problem, UserError
from pyorch.files import RESULTS_HINT, STORAGE_ERRORS, storage_error
from pyorch.paths import Paths, default_paths
from pyorch.remarks import Remark, lines, of_plan, of_runs, runs_text
from pyorch.units import whole

if TYPE_CHECKING:
    from pyorch.build import BuildInfo
    from pyorch.config import Experiment
    from pyorch.engine import BatchResult
    from pyorch.plan import RunSpec
    from pyorch.store import Store

OK, FAILED, BAD_INPUT = 0, 1, 2

DEFAULT_EXPERIMENT = "gfc/two-to-one"
SHOWN_RUNS = 40
SHOWN_FAILURES = 10
SHOWN_CYCLES = 10
#: Scenes whose buffer dependencies `show` looks at, and their nodes: more would take minutes.
MOST_SCENES, MOST_NODES = 200, 20_000

P = ParamSpec("P")


def command(function: Callable[P, int]) -> Callable[P, int]:
    """Turn what a person did wrong into one clear message and exit code 2, Ctrl-C into 130.

    Output that nobody reads does not stop the work; output that is lost to a full disk makes a
    success a failure.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            code = function(*args, **kwargs)
        except UserError as error:
            sys.stdout.flush()
            print(error.render(), file=sys.stderr)
            code = BAD_INPUT
        except KeyboardInterrupt:
            ends.tell(f"\ninterrupted: {ends.GO_ON}", sys.stderr)
            return ends.exit_code()
        failure = ends.output_failure()
        if failure is None:
            return code
        print(f"standard output cannot be written: {failure}", file=sys.stderr)
        return code or FAILED

    return guarded


def listing(function: Callable[P, int]) -> Callable[P, int]:
    """A command that only prints: it ends, and well, when its reader has read enough."""

    @functools.wraps(function)
    def until_closed(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with ends.needing_output():
                code = function(*args, **kwargs)
                sys.stdout.flush()
                return code
        except BrokenPipeError:  # `invoke show ... | head`
            return OK

    return command(until_closed)


def whole_number(option: str, text: str) -> int | None:
    """Read the value of an option that counts something, from 1; None when it was not given.

    Raises UserError when it is anything else.
    """
    if text == "":
        return None
    number = whole(text)
    if number:
        return number
    raise UserError([Problem(option, f"{text!r} is not allowed", "a whole number from 1", None)])


# ---------------------------------------------------------------------------------------------
# Experiments


@dataclass(frozen=True)
class Plan:
    """An experiment made ready: what to run, with which build, and where results go."""

    experiment: Experiment
    specs: list[RunSpec]
    build: BuildInfo
    store: Store

    @property
    def missing(self) -> list[RunSpec]:
        """The runs that are not done."""
        return self.store.missing(self.specs, self.build.fingerprint)

    @property
    def done(self) -> list[RunSpec]:
        """The runs that are done."""
        fingerprint = self.build.fingerprint
        return [spec for spec in self.specs if self.store.is_done(spec.hash(fingerprint))]

    def set_damaged_aside(self) -> None:
        """Read all finished runs, so that those that are done are whole. Raises UserError."""
        from pyorch.engine.base import title

        titles = {spec.hash(self.build.fingerprint): title(spec) for spec in self.specs}
        set_damaged_aside(self.store, titles)


def make_plan(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    paths: Paths | None = None,
    claim: bool = False,
) -> Plan:
    """Load an experiment, build the modules if need be, and expand it. Raises UserError.

    claim: results will be written, so that their folder must belong to this experiment.
    """
    from pyorch.build import ensure_built, load_schema
    from pyorch.config import load_experiment
    from pyorch.config.load import claim_results
    from pyorch.plan import expand, read_seeds
    from pyorch.store import Store

    paths = paths or default_paths()
    chosen = read_seeds(seeds)
    # all problems are told at once; when there is no build yet, those that can be told without one
    # come before a minute of compiling
    build = ensure_built(first=lambda: load_experiment(name, overrides, paths=paths))
    if claim:
        claim_results(name, paths)
    experiment = load_experiment(name, overrides, schema=load_schema(build), paths=paths)
    specs = expand(experiment, seeds=chosen)
    return Plan(experiment, specs, build, Store(paths, specs[0].data["experiment"]))


def set_damaged_aside(store: Store, titles: Mapping[str, str]) -> bool:
    """Read all that is finished of some runs; name the damaged ones, which are then not done.

    titles: of the runs for people, by hash. Returns whether one was damaged. Raises UserError.
    """
    found = store.set_damaged_aside(titles)
    for damage in found[:SHOWN_FAILURES]:
        name = " ".join(filter(None, [damage.run_hash, titles[damage.run_hash]]))
        print(f"damaged run {name}: {damage.file}: {damage.what}", file=sys.stderr)
        if damage.kept is not None:
            print(f"    what is left of it is kept in {damage.kept}", file=sys.stderr)
    if len(found) > SHOWN_FAILURES:
        print(f"... and {len(found) - SHOWN_FAILURES} more", file=sys.stderr)
    if found:
        what = "does not count as done" if len(found) == 1 else "do not count as done"
        print(f"{runs_text(len(found))} damaged: {what}, and must run again", file=sys.stderr)
    return bool(found)


@listing
def list_all() -> int:
    """Print the name and the title of every experiment."""
    from pyorch.config import list_experiments

    paths = default_paths()
    found = list_experiments(paths)
    if not found:
        print(f"there is no experiment: no .toml file is in {paths.experiments}")
    width = max((len(name) for name, _ in found), default=0)
    for name, title in found:
        print(f"{name:<{width}}  {title}")
    return OK


@listing
def show(name: str, overrides: Sequence[str] = (), seeds: str = "") -> int:
    """Print what an experiment would run: its question, its runs, and the first one resolved."""
    plan = make_plan(name, overrides, seeds)
    for label in ("title", "question", "source"):
        text = getattr(plan.experiment, label, "")
        if text:
            print(f"{label + ':':<10}{text}")
    _print_runs(plan, of_plan(plan.experiment, plan.specs))
    _print_cycles(plan.specs)
    print("\nthe first run, resolved:")
    print(json.dumps(plan.specs[0].data, indent=2, sort_keys=True))
    return OK


def _print_cycles(specs: Sequence[RunSpec]) -> None:
    """Say which runs have flows with a cyclic buffer dependency, and print the cycles."""
    from pyorch.config import topology
    from pyorch.dependency import describe_cycle, flow_cycle
    from pyorch.engine.base import title

    keys = ("topology", "traffic", "routes", "run", "seed")
    switch = "ns3::lossless::Switch"
    found: dict[str, str] = {}
    runs: dict[str, list[RunSpec]] = {}
    looked = nodes = 0
    seeds: set[int] = set()
    for spec in specs:
        if len(found) >= MOST_SCENES and spec.data["seed"] not in seeds:
            continue  # the seed is part of a scene
        seeds.add(spec.data["seed"])
        scene = {key: spec.data[key] for key in keys}
        scene |= {"switch": spec.data["attributes"].get(switch), "nodes": spec.data["nodes"]}
        key = json.dumps(scene, sort_keys=True)
        if key not in found and (len(found) >= MOST_SCENES or nodes >= MOST_NODES):
            continue
        if key not in found:
            cycle = flow_cycle(spec.data)
            names = topology.build(spec.data["topology"]).names
            found[key] = describe_cycle(cycle, names)
            nodes += len(names)
        runs.setdefault(found[key], []).append(spec)
        looked += 1
    print("\nbuffer dependencies of the flows:")
    for text, same in itertools.islice(runs.items(), SHOWN_CYCLES):
        which = "all runs" if len(same) == len(specs) else title(same[0])
        more = f" and {len(same) - 1} more" if 1 < len(same) < len(specs) else ""
        print(f"  {which}{more}: {text}")
    if len(runs) > SHOWN_CYCLES:
        print(f"  ... and {len(runs) - SHOWN_CYCLES} more cycles")
    if looked < len(specs):
        print(f"  ({runs_text(len(specs) - looked)} not looked at)")


def _print_runs(plan: Plan, remarks: Sequence[Remark]) -> None:
    """Print how many runs there are, how many are done, what is to be said, and which they are."""
    from pyorch.engine.base import title

    missing = {id(spec) for spec in plan.missing}
    total = len(plan.specs)
    print(f"runs:     {total}, {total - len(missing)} of them done")
    print(f"results:  {plan.store.root}\n")
    if remarks:
        print("\n".join(lines(remarks)) + "\n")

    width = len(str(min(total, SHOWN_RUNS)))
    for number, spec in enumerate(plan.specs[:SHOWN_RUNS], 1):
        run_hash = spec.hash(plan.build.fingerprint)
        problem = plan.store.problem(run_hash) if id(spec) in missing else None
        state = "done" if id(spec) not in missing else "damaged" if problem else "to do"
        print(f"  {number:>{width}}  {run_hash}  {state:<7}  {title(spec)}")
        if problem:
            print(f"  {'':{width}}  {problem}")
    if total > SHOWN_RUNS:
        print(f"  ... and {total - SHOWN_RUNS} more")


@command
def experiment(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    jobs: str = "",
    dry_run: bool = False,
) -> int:
    """Run what is missing of an experiment and write its report."""
    from pyorch.engine import LocalEngine

    workers = whole_number("--jobs", jobs)
    plan = make_plan(name, overrides, seeds, claim=not dry_run)
    remarks = of_plan(plan.experiment, plan.specs)
    if dry_run:
        _print_runs(plan, remarks)
        print("\nnothing was run (--dry-run)")
        return OK
    plan.set_damaged_aside()
    missing = plan.missing
    print(f"{plan.store.name}: {runs_text(len(plan.specs))}, {len(plan.specs) - len(missing)} done")
    if missing:
        tell(remarks)
    result = LocalEngine(plan.store, workers).run(missing, plan.build)
    code = _tell(result, len(plan.specs))
    if result.interrupted or result.storage_failed or not plan.done:
        return code
    return max(code, write_report_of(plan, _command_line(name, overrides, seeds)))


def _command_line(name: str, overrides: Sequence[str], seeds: str) -> str:
    """The command that makes these results again."""
    words = ["invoke", "experiment", name]
    for override in overrides:
        words += ["--set", override]
    return shlex.join([*words, *(["--seeds", seeds] if seeds else [])])


def _tell(result: BatchResult, total: int) -> int:
    """Say how a batch ended and return the exit code."""
    if result.interrupted:
        done = total - result.left
        ends.tell(f"interrupted: {done} done, {result.left} left, resume with the same command")
        return ends.exit_code()
    if not result.left:
        return OK
    if result.storage_failed:
        print(f"stopped: {total - result.left} done, {result.left} left", file=sys.stderr)
        return FAILED
    failed = len(result.failures)
    print(f"{runs_text(failed)} failed, {result.left} of {total} missing:", file=sys.stderr)
    for failure in result.failures[:SHOWN_FAILURES]:
        print(f"  {failure.title}: {failure.log}", file=sys.stderr)
    if failed > SHOWN_FAILURES:
        print(f"  ... and {failed - SHOWN_FAILURES} more", file=sys.stderr)
    print("the same command tries again what is missing", file=sys.stderr)
    return FAILED


def tell(remarks: Sequence[Remark]) -> None:
    """Print remarks where people look, also when the output goes to a file."""
    sys.stdout.flush()
    for line in lines(remarks):
        print(line, file=sys.stderr)
    sys.stderr.flush()


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "") -> int:
    """Write the report of the runs of an experiment that are done; of several, one page."""
    from pyorch import reproduce

    several = reproduce.names_of(name, default_paths())
    if several is not None:
        return reproduce.report_several(several)
    plan = make_plan(name, overrides, seeds)
    plan.set_damaged_aside()
    if not plan.done:
        where = plan.store.name
        hint = f"run it first: invoke experiment {name}"
        raise UserError([Problem(where, "none of its runs is done with this build", None, hint)])
    return write_report_of(plan, _command_line(name, overrides, seeds))


def write_report_of(plan: Plan, command_line: str) -> int:
    """Write the report and print what was expected and what was found."""
    from pyorch.report import write_report

    done = len(plan.done)
    if done < len(plan.specs):
        print(f"the report covers {done} of {len(plan.specs)} runs", file=sys.stderr)
    folder = plan.store.paths.report(plan.store.name)
    # before drawing, which may fail
    tell(of_runs(plan.specs, plan.store, plan.build.fingerprint))
    try:
        result = write_report(
            plan.experiment,
            plan.store,
            plan.specs,
            folder,
            fingerprint=plan.build.fingerprint,
            command=command_line,
        )
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        raise storage_error(error, folder, RESULTS_HINT) from error
    for expectation in result.expectations:
        published = expectation.expect.published
        print(
            f"{expectation.verdict:<11} {expectation.expect.what}: {expectation.measured()}", end=""
        )
        print("" if published is None else f", published {published}")
    for text in result.figure_errors:
        print(f"figure not drawn: {text}", file=sys.stderr)
    print(f"report: {result.index}")
    return FAILED if result.failed_expectations or result.figure_errors else OK


# ---------------------------------------------------------------------------------------------
# Modules


@command
def build(sanitize: bool = False, debug: bool = False) -> int:
    """Compile the C++ modules."""
    from pyorch.build import ensure_built

    if sanitize and debug:
        problem = Problem("--sanitize --debug", "two builds at once", "one of them", None)
        raise UserError([problem])
    profile = "sanitize" if sanitize else "debug" if debug else "release"
    # the sanitized build is one of the test program: Python itself is not sanitized
    info = ensure_built(profile, tests=sanitize)
    print(f"{profile}: {', '.join(info.modules)} in {info.folder}")
    return OK


@listing
def gfc_parameters(texts: Mapping[str, str]) -> int:
    """Print the parameters of GFC for a link, given as texts; see pyorch.gfc."""
    from pyorch.gfc import read_parameters, render

    print(render(read_parameters(texts)))
    return OK
