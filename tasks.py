"""Everything there is to do: `invoke --list` names the tasks, `invoke TASK --help` explains one.

The tasks only read the command line; what they do is in pyorch/cli and in tools/.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from invoke.context import Context
from invoke.tasks import Task, task

from pyorch.base import ends
from pyorch.cli import door
from pyorch.cli import tasks as verbs
from pyorch.cli.verb import DEFAULT, TASKS, Chosen, finish, installed, positional_words, verb

if "invoke.main" in sys.modules:  # the program, and not a test that imports this file
    ends.start()
    door.keep_bytecode()

__all__ = ["DEFAULT", "Task", "positional_words"]

# invoke looks for them here
globals().update({name: one for name, one in vars(verbs).items() if isinstance(one, Task)})


@task(
    name="test",
    help={
        "quick": "a minute: only what Python alone decides; with -k also C++ suites, not sanitized",
        "all": "also what passed already with the same inputs; for CI and releases",
        "coverage": "say which lines of pyorch pytest runs; takes longer",
        "many": "only the C++ suites, with thousands of random networks (-k proof: some minutes)",
        "k": "only Python tests that match this expression, and C++ suites with it in their name, "
        "whose modules' tests alone are compiled",
    },
)
def run_tests(
    context: Context,
    quick: bool = False,
    all: bool = False,  # noqa: A002 (the option is --all)
    k: str = "",
    many: bool = False,
    coverage: bool = False,
) -> None:
    """Run all tests whose inputs changed since they passed: pytest, and the C++ suites."""
    from tools import develop

    finish(develop.run_tests(quick, k, many, coverage, all))


@task(
    help={
        "repeats": "runs of each workload; default 3",
        "keep": "make the result benchmarks/baseline.json, with which later ones are compared",
        "scaling": "how time and memory grow with hosts, messages, buffer and simulated time",
        "pauses": "workloads that pause again and again, with the deadlock oracle and without",
        "cells": "each workload in cells and with EventLoop; writes docs/results/performance.md",
        "skips": "runs that skip what repeats, and the same ones that do not",
        "threads": "one run with 1, 2, 4, ... threads, as many as there are cores",
    },
    auto_shortflags=False,
)
def bench(
    context: Context,
    repeats: str = "",
    keep: bool = False,
    scaling: bool = False,
    pauses: bool = False,
    cells: bool = False,
    skips: bool = False,
    threads: bool = False,
) -> None:
    """Measure the speed of the workloads in benchmarks/; fail if they need more instructions."""
    from tools import bench

    parts = (pauses, bench.pauses), (cells, bench.cells), (skips, bench.skips)
    for asked, part in (*parts, (threads, bench.threads)):
        if asked:
            return finish(part(repeats))
    return finish(bench.scaling() if scaling else bench.bench(repeats, keep))


@task(help={"fix": "mend what can be mended without thinking"}, auto_shortflags=False)
def lint(context: Context, fix: bool = False) -> None:
    """Check the form of all sources: ruff, mypy, import-linter, clang-format."""
    from tools import develop

    finish(develop.lint(fix))


@task(
    help={
        "results": "delete all results too",
        "old-results": "delete only the runs that other builds than the present one have made",
        "dry-run": "with --old-results: only say how much would be deleted",
    },
    auto_shortflags=False,
)
def clean(
    context: Context, results: bool = False, old_results: bool = False, dry_run: bool = False
) -> None:
    """Delete what compiling and testing left behind."""
    from tools import develop

    finish(develop.clean(results, old_results, dry_run))


@task(
    help={
        "jobs": "runs at the same time; default one per core",
        "report-only": "only write the reports and the summary of what is done",
    },
    auto_shortflags=False,
)
def bakeoff(context: Context, jobs: str = "", report_only: bool = False) -> None:
    """Run every scheme through the same scenes (experiments/bakeoff), and sum up who wins where."""
    from tools.bakeoff import command

    finish(command.bakeoff(jobs, report_only))


@verb
def report(
    of: Chosen,
    *,
    paper: Annotated[bool, "each figure as PDF, too, and for one column and two"] = False,
) -> int:
    """Write the report of an experiment from the runs that are done.

    With NAME "all", a folder ("gfc"), a pattern ("gfc/*") or several names with commas between: the
    page of every published number with ours beside it, and docs/reproduction.md.
    """
    from tools.reproduction import command

    return command.report(of.name, of.overrides, of.seeds, paper)


@task(help={"out": "folder for both; default dist"})
def wheel(context: Context, out: str = "dist") -> None:
    """Make what a release publishes: a wheel with the compiled modules, and its sources."""
    from tools import wheels

    finish(wheels.wheel(Path(out)))


@task
def docs(context: Context) -> None:
    """Build the pages of docs/ and of the modules as a site, into build/docs."""
    from tools import docs

    finish(docs.docs())


TASKS.update(one.name for one in globals().values() if isinstance(one, Task))
globals().update({one.name: one for one in installed(sys.argv[1:])})
