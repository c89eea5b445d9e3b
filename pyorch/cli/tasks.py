"""The verbs of both programs, `invoke` in a checkout and `pyorch` anywhere, as tasks of invoke.

They only read the command line; their work is done in the other files of pyorch/cli.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.parser.argument import Argument
from invoke.tasks import Task, task

from pyorch.cli import door

DEFAULT = "gfc/two-to-one"

SELECT = {
    "name": f"experiment, as `invoke list` names it, or a file; default {DEFAULT}",
    "set": "KEY=VALUE: change any key of the file; a list 'KEY=A,B' is a sweep; repeatable",
    "only": "A,B: run only these variants",
    "seeds": "run seeds 1 to N, or N-M, instead of those in the file",
}
JOBS = "number of parallel runs; default one per core"


class PositionalTask(Task[Any]):
    """A task with positional arguments, such as NAME.

    Invoke takes whatever follows the task for such an argument, even `--help` and an option that
    does not exist. So an argument is positional only if the command line has a word for it.
    """

    default_name: str | None = None
    default_run: str | None = None

    def get_arguments(self, ignore_unknown_help: bool | None = None) -> list[Argument]:
        """Return the arguments; those without a word on the command line become options."""
        arguments = super().get_arguments(ignore_unknown_help)
        takes_value = {
            f"--{str(argument.name).strip('_').replace('_', '-')}": argument.takes_value
            for argument in arguments
        }
        names = {self.name, *self.aliases}
        name = next((word for word in sys.argv[1:] if word in names), self.name)
        words, stray = positional_words(sys.argv[1:], name, takes_value)
        wanted = [argument for argument in arguments if argument.positional]
        for argument in wanted[len(words) :]:
            default = {"name": self.default_name, "run": self.default_run}.get(str(argument.name))
            if default is not None or stray:
                argument.positional = False
                argument.default = default or ""
        return arguments


class NamedTask(PositionalTask):
    """A task whose NAME may be left out."""

    default_name = DEFAULT


class OptionalRun(PositionalTask):
    """A task whose RUN may be left out."""

    default_run = ""


class OptionalName(PositionalTask):
    """A task whose NAME may be left out too."""

    default_name = ""


def positional_words(
    words: Sequence[str], task_name: str, takes_value: Mapping[str, bool]
) -> tuple[list[str], bool]:
    """The words after a task that are neither options nor their values.

    takes_value: the options of the task. The second value is whether an option that is not among
    them, such as --help, was found: only the words before it count.
    """
    found: list[str] = []
    if task_name not in words:
        return found, False
    following = iter(words[words.index(task_name) + 1 :])
    for word in following:
        flag, equals, _ = word.partition("=")
        if not word.startswith("-"):
            if not found and word in TASKS:
                break
            found.append(word)
        elif flag not in takes_value:
            return found, True
        elif takes_value[flag] and not equals:
            next(following, None)
    return found, False


def _with_only(overrides: list[str], only: str) -> list[str]:
    return [*overrides, f"only={only}"] if only else overrides


def finish(code: int) -> None:
    """End the task with the exit code of its command."""
    if code:
        raise Exit(code=code)


@task(name="list")
def list_(context: Context) -> None:
    """List the experiments."""
    from pyorch.cli.listing import list_all

    finish(list_all())


@task(
    klass=NamedTask,
    positional=["name"],
    iterable=["set_"],
    help=SELECT
    | {
        "picture": "also draw its network, where flows go, and their cyclic dependency, into "
        "network.svg of its results",
        "out": "file of the picture, .svg, .png or .pdf",
        "open": "show the picture in a browser",
    },
    auto_shortflags=False,
)
def show(
    context: Context,
    name: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    picture: bool = False,
    out: str = "",
    open_: bool = False,
) -> None:
    """Show what an experiment would run: its runs, their settings, its network."""
    from pyorch.cli import show as module

    drawn = out if picture or out or open_ else None
    finish(module.show(name, _with_only(set_, only), seeds, drawn, open_))


@task(
    klass=NamedTask,
    aliases=("run",),  # as it is called outside a checkout
    positional=["name"],
    iterable=["set_"],
    help=SELECT
    | {
        "jobs": JOBS,
        "dry-run": "only show what would run",
    },
    auto_shortflags=False,
)
def experiment(
    context: Context,
    name: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    jobs: str = "",
    dry_run: bool = False,
) -> None:
    """Run what is missing of an experiment, and write its report.

    Exit codes: 0 all well, 1 a run or an expectation failed, 2 bad input; 130, 143,
    129 interrupted (Ctrl-C, SIGTERM, SIGHUP).
    After an interruption or a failure the same command goes on with what is missing.
    """
    from pyorch.cli import experiment as module

    finish(module.experiment(name, _with_only(set_, only), seeds, jobs, dry_run))


@task(
    klass=NamedTask,
    positional=["name"],
    iterable=["set_"],
    help=SELECT | {"paper": "each figure as PDF, too, and for one column and two"},
    auto_shortflags=False,
)
def report(
    context: Context,
    name: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    paper: bool = False,
) -> None:
    """Write the report of an experiment from the runs that are done."""
    from pyorch.cli import report as module

    finish(module.report(name, _with_only(set_, only), seeds, paper))


RUN = "number, hash or title of a run, as `invoke show NAME` lists them"


def about_run(
    options: Mapping[str, str], klass: type[Task[Any]] = PositionalTask, lists: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Task[Any]]:
    """Make a task from a function about one run of an experiment: NAME, RUN, and selecting options.

    options: its own, with their help. lists: those that may be repeated.
    """
    found: Callable[[Callable[..., None]], Task[Any]] = task(
        klass=klass,
        positional=["name", "run"],
        iterable=["set_", *lists],
        help=SELECT
        | {"name": "experiment, as `invoke list` names it, or a file", "run": RUN}
        | dict(options),
        auto_shortflags=False,
    )
    return found


@about_run(
    {
        "port": "capture only this port (s0:h0: of s0 towards h0) or those of a node (s0); "
        "may be repeated; default all",
        "until": "stop the run at this time, such as 1ms; default its end",
        "out": "folder to write into; default results/NAME/traces/HASH",
        "fcs": "frames end with their FCS",
        "untagged": "routed frames without an 802.1Q tag",
        "snap": "maximum bytes stored per frame; default 65535",
        "no-animation": "only pcap files",
    },
    lists=["port"],
)
def trace(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    port: list[str],
    seeds: str = "",
    only: str = "",
    until: str = "",
    out: str = "",
    fcs: bool = False,
    untagged: bool = False,
    snap: str = "",
    no_animation: bool = False,
) -> None:
    """Run one run again and write pcap files and a NetAnim animation of it.

    Exit codes: 0 all well, 1 the run failed or its results differ from the stored ones, 2 bad
    input; 130, 143, 129 interrupted.
    """
    from pyorch.cli import trace as module
    from pyorch.trace.request import Words

    words = Words(tuple(port), until, out, snap, fcs, untagged, no_animation)
    finish(module.trace(name, run, words, _with_only(set_, only), seeds))


TO_FILE = {"out": "file to write into; default standard output"}


@about_run(TO_FILE)
def goal(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    out: str = "",
) -> None:
    """Write the traffic of a run as a GOAL schedule, for other simulators to replay."""
    from pyorch.cli import job as module

    finish(module.goal(name, run, _with_only(set_, only), seeds, out))


@about_run(TO_FILE)
def timeline(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    out: str = "",
) -> None:
    """Write what the hosts of a finished run did, for chrome://tracing and Perfetto."""
    from pyorch.cli import job as module

    finish(module.timeline(name, run, _with_only(set_, only), seeds, out))


@about_run(
    {
        "while": "condition to keep: deadlocked (default), lossy, starved, or a comparison such "
        "as 'peak > 100KB' of metrics and numbers of the summary",
        "out": "experiment file to write, with .png and .steps.csv; default minimal.toml",
        "jobs": JOBS,
    }
)
def minimise(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    while_: str = "",
    out: str = "",
    jobs: str = "",
) -> None:
    """Reduce a run to the smallest case that still deadlocks: network, flows, settings, numbers.

    Exit codes: 0 all well, 2 bad input; 130, 143, 129 interrupted. The same command goes on.
    """
    from pyorch.cli import minimise as module

    overrides = _with_only(set_, only)
    finish(module.minimise_run(name, run, while_, out, jobs, overrides, seeds))


@about_run(
    {
        "out": "folder to write into; default results/NAME/explain/pages/HASH",
        "jobs": JOBS,
    }
)
def explain(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    out: str = "",
    jobs: str = "",
) -> None:
    """Say what happened in a run that deadlocked, and what each cure would have done.

    Exit codes: 0 all well, 2 bad input; 130, 143, 129 interrupted. The same command goes on.
    """
    from pyorch.cli import explain as module

    finish(module.explain_run(name, run, out, jobs, _with_only(set_, only), seeds))


@about_run(
    {
        "run": "run whose network to use, as listed by `invoke show NAME`; default the first",
        "root": "highest switch of up-down routing; default by the tiers of the network",
        "out": "file for the routes of up-down routing, [[route]] entries that a file can include",
        "avoid": "file for [[route]] entries that avoid the fewest turns, if there are any",
        "tags": "file for more lossless classes, and the rules by which frames change class",
    },
    klass=OptionalRun,
)
def prevent(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    root: str = "",
    out: str = "",
    avoid: str = "",
    tags: str = "",
) -> None:
    """Say which cyclic dependencies a network has, what breaks them, and at what price."""
    from pyorch.cli import prevent as module

    finish(
        module.prevent_deadlocks(name, run, root, out, avoid, tags, _with_only(set_, only), seeds)
    )


@task(
    klass=OptionalRun,
    positional=["name", "run"],
    iterable=["set_", "vary"],
    help=SELECT
    | {
        "name": "experiment, as `invoke list` names it, or a file",
        "run": "run whose network to use, as listed by `invoke show NAME`; default the first",
        "vary": "KEY=LOW..HIGH (append :log for a logarithmic range) or KEY=A,B,C: vary this in "
        "addition to the traffic; repeatable",
        "for": "condition to search for: deadlocked (default), lossy, starved, or a comparison "
        "such as 'peak > 100KB' of metrics and numbers of the summary",
        "by": "how to propose flows: routes (default: along dependency cycles), draws (as "
        "many at random), permutation (from each host to another)",
        "trials": "maximum number of trials; default 64",
        "map": "map the border of the region in which the condition holds for the study's own run, "
        "over two or three --vary KEY=LOW..HIGH, with the seeds of the run's setting",
        "cells": "final number of cells along each axis of a map: 4, 8, 16 (default), 32, ...",
        "out": "experiment file to write, with .png and .trials.csv; default found.toml. With "
        "--map a table, with .points.csv, .png and .pdf; default border.csv",
        "jobs": "number of parallel runs; default one per core",
    },
    auto_shortflags=False,
)
def search(
    context: Context,
    name: str,
    run: str,
    set_: list[str],
    vary: list[str],
    seeds: str = "",
    only: str = "",
    for_: str = "",
    by: str = "",
    trials: str = "",
    out: str = "",
    jobs: str = "",
    map_: bool = False,
    cells: str = "",
) -> None:
    """Find traffic and settings that deadlock a network, or the border of the region that does.

    Exit codes: 0 found, 1 not found, 2 bad input; 130, 143, 129 interrupted. The same command
    goes on.
    """
    from pyorch.cli import search as module

    words = module.Words(tuple(vary), for_, by, trials, out, jobs, map_, cells)
    finish(module.search_run(name, run, words, _with_only(set_, only), seeds))


@task(
    klass=PositionalTask,
    positional=["a", "b"],
    help={
        "a": "name of an experiment with results, or a results folder; with @BUILD only the runs "
        "of a build, by the first digits of its fingerprint",
        "b": "result to compare with",
    },
    auto_shortflags=False,
)
def compare(context: Context, a: str, b: str) -> None:
    """Compare two results: which runs are the same bytes, which numbers differ by how much.

    Exit codes: 0 the same, 1 they differ, 2 bad input.
    """
    from pyorch.cli import compare as module

    finish(module.compare_results(a, b))


SITE = {
    "partition": "Slurm partition; by default from slurm.toml or the site, as for the next options",
    "account": "Slurm account to charge",
    "time": "time limit of a job: 90s, 30min, 2h, 1d, or as sbatch reads it",
    "mem": "memory of a job, as sbatch reads it: 2G",
    "max-running": "maximum number of running jobs",
    "runs-per-job": "runs that a job does one after the other; default so many that scheduling "
    "costs less than 10 %",
    "build-on-node": "compile the modules on every node instead of loading the shared ones",
    "dry-run": "only show what would be submitted",
}


@task(
    klass=PositionalTask,
    positional=["name"],
    iterable=["set_"],
    help=SELECT | {"name": "experiment, as `invoke list` names it, or a file"} | SITE,
    auto_shortflags=False,
)
def submit(
    context: Context,
    name: str,
    set_: list[str],
    seeds: str = "",
    only: str = "",
    partition: str = "",
    account: str = "",
    time: str = "",
    mem: str = "",
    max_running: str = "",
    runs_per_job: str = "",
    build_on_node: bool = False,
    dry_run: bool = False,
) -> None:
    """Send what is missing of an experiment to Slurm, and return at once.

    Exit codes: 0 submitted or nothing to do, 2 bad input, refused by Slurm, or no answer of it.
    """
    from pyorch.cli import submit as module

    options: dict[str, str | bool] = {
        "partition": partition,
        "account": account,
        "time": time,
        "mem": mem,
        "max_running": max_running,
        "build_on_node": build_on_node,
    }
    finish(module.submit(name, _with_only(set_, only), seeds, options, runs_per_job, dry_run))


SUBMITTED = {"name": "experiment that was submitted"}


@task(
    klass=PositionalTask,
    positional=["name"],
    help=SUBMITTED | {"watch": "repeat every few seconds until nothing runs or waits"},
    auto_shortflags=False,
)
def status(context: Context, name: str, watch: bool = False) -> None:
    """Show how far a submitted experiment is, and why runs failed or were lost.

    Exit codes: 0 done or on its way, 1 runs failed or were lost, 2 it was never submitted.
    """
    from pyorch.cli import status as module

    finish(module.status(name, watch))


@task(klass=PositionalTask, positional=["name"], help=SUBMITTED, auto_shortflags=False)
def cancel(context: Context, name: str) -> None:
    """Cancel the jobs of a submitted experiment; what is done stays."""
    from pyorch.cli import cancel as module

    finish(module.cancel(name))


@task(
    klass=PositionalTask,
    positional=["name"],
    help=SUBMITTED | {"partial": "report on the finished runs although others are missing"},
    auto_shortflags=False,
)
def collect(context: Context, name: str, partial: bool = False) -> None:
    """Write the tables and the report of a submitted experiment.

    Exit codes: 0 all well, 1 runs are missing, or an expectation or a figure failed, 2 bad input.
    """
    from pyorch.cli import collect as module

    finish(module.collect(name, partial))


@task(
    help={
        "sanitize": "the C++ test program with address and undefined-behaviour sanitizers",
        "debug": "without optimisation, with debug information",
    },
    auto_shortflags=False,
)
def build(context: Context, sanitize: bool = False, debug: bool = False) -> None:
    """Compile the C++ modules (experiments do it by themselves)."""
    from pyorch.cli import build as module

    finish(module.build(sanitize, debug))


@task(
    klass=OptionalName,
    positional=["name"],
    help={
        "name": "a scheme, topology or traffic kind; default all of them",
        "json": "for programs",
    },
    auto_shortflags=False,
)
def schemes(context: Context, name: str, json: bool = False) -> None:
    """Describe schemes, topologies, kinds of traffic and metrics: keys, defaults, source."""
    from pyorch.cli import schemes as module

    finish(module.schemes(name, json))


@task(
    klass=OptionalName,
    positional=["name"],
    help={"name": "experiment whose own kinds to include"},
    auto_shortflags=False,
)
def schema(context: Context, name: str) -> None:
    """Print the JSON schema of experiment files, by which an editor completes and checks them."""
    from pyorch.cli import schema as module

    finish(module.schema(name))


@task(
    klass=PositionalTask,
    name="new-scheme",
    positional=["name"],
    help={
        "name": "name of the scheme and its module, such as early-pause",
        "kind": "flow-control (default), congestion-control, int-congestion-control, "
        "buffer-policy, forwarding-policy, table",
        "folder": "folder to create it in; default ns3-modules/",
    },
    auto_shortflags=False,
)
def new_scheme(context: Context, name: str, kind: str = "flow-control", folder: str = "") -> None:
    """Make a complete module for a scheme of your own: C++, tests, page, experiment."""
    from pyorch.cli import new_scheme as module

    finish(module.new_scheme(name, kind, folder))


@task(
    klass=PositionalTask,
    positional=["path"],
    help={"path": "a project, another folder, or a file"},
    auto_shortflags=False,
)
def trust(context: Context, path: str) -> None:
    """Let code run that another user may have written: Python, C++ and slurm.toml, as it is now."""
    from pyorch.cli import trust as module

    finish(module.trust_path(path))


@task(
    klass=OptionalName,
    positional=["name"],
    help={
        "name": "experiment whose topology and buffer to use; otherwise given by options",
        "asic": "chip: buffer, ports and rate; default tomahawk",
        "ports": "how many",
        "rate": "of every port",
        "cable": "length of every cable, such as 300m; default 100m",
        "delay": "one-way delay of every cable, instead of its length",
        "buffer": "size of the packet buffer",
        "lossy-pool": "part of the buffer for lossy classes; default 1MB",
        "classes": "lossless classes; default 1",
        "mtu": "largest frame; default 1500B",
        "overhead": "bytes on the wire in addition to a frame; default 20B",
        "control-delay": "time until a control frame takes effect; default 0us",
        "alpha": "of dynamic thresholds; default 0.125",
        "bm": "queue length at which GFC's rate reaches 0; default what the buffer leaves",
        "b1": "start of stage 1 of multi-stage GFC; default the largest inside the bound",
    },
    auto_shortflags=False,
)
def size(
    context: Context,
    name: str,
    asic: str = "",
    ports: str = "",
    rate: str = "",
    cable: str = "",
    delay: str = "",
    buffer: str = "",
    lossy_pool: str = "",
    classes: str = "",
    mtu: str = "",
    overhead: str = "",
    control_delay: str = "",
    alpha: str = "",
    bm: str = "",
    b1: str = "",
) -> None:
    """Size a switch: headroom, thresholds, GFC's parameters, lossless classes, and their TOML."""
    from pyorch.cli import size as module

    options = {"asic": asic, "ports": ports, "rate": rate, "cable": cable, "delay": delay}
    options |= {"buffer": buffer, "lossy_pool": lossy_pool, "classes": classes, "mtu": mtu}
    options |= {"overhead": overhead, "control_delay": control_delay, "alpha": alpha}
    options |= {"bm": bm, "b1": b1}
    finish(module.size(name, options))


VERBS: tuple[Task[Any], ...] = tuple(one for one in globals().values() if isinstance(one, Task))
"""Every verb of both programs, in the order of this file: declaring one here is enough."""
door.know(verb.name for verb in VERBS)

TASKS: set[str] = set()
"""Every task, as it is typed."""


def register(found: Mapping[str, object]) -> None:
    """Note the tasks of a module, by its globals."""
    for value in found.values():
        if isinstance(value, Task):
            TASKS.update((value.name, *value.aliases))


register(globals())
