"""The private half of `pyorch.Study`: an experiment made ready, and reported. It prints nothing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.files import RESULTS_HINT, STORAGE_ERRORS, telling
from pyorch.base.paths import Paths, default_paths, program_call
from pyorch.base.reading import is_file

if TYPE_CHECKING:
    from pyorch.build import BuildInfo
    from pyorch.files.find import Document
    from pyorch.plan import RunSpec
    from pyorch.report.record import Told
    from pyorch.setting.experiment import Experiment
    from pyorch.store.store import Damage, Store


@dataclass(frozen=True, repr=False)
class Plan:
    """An experiment made ready: what to run, with which build, and where results go."""

    experiment: Experiment
    specs: list[RunSpec]
    build: BuildInfo
    store: Store

    def __repr__(self) -> str:
        """Say which plan it is, without a look at the disk; there may be 100,000 runs."""
        return f"<Plan {self.store.name}, {len(self.specs)} runs>"

    @property
    def missing(self) -> list[RunSpec]:
        """The runs that are not done."""
        return self.store.missing(self.specs, self.build.fingerprint)

    @property
    def done(self) -> list[RunSpec]:
        """The runs that are done."""
        fingerprint = self.build.fingerprint
        return [spec for spec in self.specs if self.store.is_done(spec.hash(fingerprint))]

    @property
    def titles(self) -> dict[str, str]:
        """The runs for people, by hash."""
        return {spec.hash(self.build.fingerprint): spec.title for spec in self.specs}

    def set_damaged_aside(self) -> list[Damage]:
        """Read all finished runs, so that those that are done are whole; return the damaged ones.

        Raises UserError when one may not be read.
        """
        return self.store.set_damaged_aside(self.titles)


def make_plan(
    name: str | Document,
    overrides: Sequence[str] = (),
    seeds: str = "",
    paths: Paths | None = None,
    claim: bool = False,
) -> Plan:
    """Load an experiment, build the modules if need be, and expand it. Raises UserError.

    claim: results will be written, so that their folder must belong to this experiment.
    """
    from pyorch.build import ensure_built, load_schema
    from pyorch.files.find import claim_results
    from pyorch.files.load import load_experiment
    from pyorch.plan import expand, read_seeds
    from pyorch.store.store import Store

    paths = paths or default_paths()
    chosen = read_seeds(seeds)
    # all problems are told at once; when there is no build yet, those that can be told without one
    # come before a minute of compiling
    build = ensure_built(first=lambda: load_experiment(name, overrides, paths=paths))
    if claim:
        claimed = claim_results(name, paths)
        if not isinstance(name, str):
            name = replace(name, name=claimed)
    experiment = load_experiment(name, overrides, schema=load_schema(build), paths=paths)
    specs = expand(experiment, seeds=chosen)
    return Plan(experiment, specs, build, Store(paths, specs[0].setting.experiment))


def report_of(plan: Plan, command: str, paper: bool = False) -> Told:
    """Write the report of the runs that are done, unless it lies there as it would be written.

    command: what makes these results again. paper: draw figures for a paper, too; where they are
    already, they are drawn again. Raises UserError when the folder cannot be written.
    """
    from pyorch.report import gallery, record

    store, fingerprint = plan.store, plan.build.fingerprint
    folder = store.paths.report(store.name)
    paper = paper or record.is_for_paper(folder)
    key = record.key_of_report(plan.experiment, plan.specs, store, fingerprint, command, paper)
    known = record.recall_report(key, folder)
    with telling(folder, RESULTS_HINT, only=STORAGE_ERRORS):
        if known is None:
            from pyorch.remarks import of_overloads
            from pyorch.report.runs import RUNS_FILE
            from pyorch.report.style import load_quickly
            from pyorch.report.write import write_report

            load_quickly()
            result = write_report(
                *(plan.experiment, store, plan.specs, folder),
                fingerprint=fingerprint,
                command=command,
                paper=paper,
                overloads=of_overloads(plan.experiment, plan.specs),
            )
            known = result.told()
            more = (store.table_file, folder / RUNS_FILE, folder / gallery.SUMMARY)
            record.remember_report(known, key, [*result.files, *more], folder)
        else:
            os.utime(folder / gallery.SUMMARY, follow_symlinks=False)  # no run came after it
        gallery.refresh(store.paths.results)
    return known


def command_line(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    task: str = "experiment",
    more: Sequence[str] = (),
    paths: Paths | None = None,
) -> str:
    """The command that does a task with an experiment, as it stands in reports and messages.

    It does not depend on the current folder: a file in the project is named as seen from the
    project's folder, any other by its name alone, for its own folder, where only `pyorch` works.
    more: words behind NAME. paths: of the project, by default the one that it is called in.
    """
    paths = paths or default_paths()
    file = Path(realpath(name))
    call = paths.call_of(task)
    is_name = not Path(name).is_absolute() and is_file(paths.experiments / name)
    if not is_name and name.endswith(".toml") and is_file(file):
        inside = file.is_relative_to(root := Path(realpath(paths.root)))
        name = file.relative_to(root).as_posix() if inside else file.name
        call = call if inside else program_call(task)
    words = [name, *more]
    for override in overrides:
        words += ["--set", override]
    return f"{call} {shlex.join([*words, *(['--seeds', seeds] if seeds else [])])}"
