"""What the laboratory adds to `pyorch.Study`: its methods `minimise`, `search`, `prevent`, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.addons.lab import minimise as minimising
from pyorch.addons.lab import region as regions
from pyorch.addons.lab import search as searching
from pyorch.addons.lab.minimise import Minimal
from pyorch.addons.lab.prevent import Prevention, prevent_run
from pyorch.addons.lab.ranges import read_axes
from pyorch.addons.lab.region import Region
from pyorch.addons.lab.search import Search
from pyorch.addons.lab.tags import Tags, tags_of
from pyorch.addons.lab.varied import Varied
from pyorch.addons.lab.write import check_target, write
from pyorch.addons.lab.write_search import MADE_BY, write_search
from pyorch.base.arguments import Tell
from pyorch.trace.request import find_run

if TYPE_CHECKING:
    from pyorch.setting.attributes import Catalogue
    from pyorch.study import Study


def _unheard(_: str) -> None:
    """Take a line that nobody wants to see."""


def minimise(
    study: Study,
    run: str | int,
    condition: str = "deadlocked",
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    told: Tell = _unheard,
) -> Minimal:
    """Return a minimal part of a run for which a condition still holds (docs/deadlock-lab.md).

    run: number, hash or title. out: an experiment file to write, with picture and steps next to
    it. told: gets a line after each stage. The same call resumes after an interruption. Raises
    UserError, KeyboardInterrupt.
    """
    if out is not None:
        check_target(Path(out))
    minimal = minimising.minimise(study.claimed(), str(run), condition, jobs, told)
    return minimal if out is None else replace(minimal, written=write(minimal, Path(out)))


def search(
    study: Study,
    run: str | int = 1,
    condition: str = "deadlocked",
    vary: Sequence[str] = (),
    trials: int = 64,
    by: str = "routes",
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    told: Tell = _unheard,
) -> Search:
    """Search for traffic and settings that fulfil a condition (docs/deadlock-lab.md).

    run: number, hash or title of the run with the network. vary: as for `--vary`. trials:
    maximum number. by: "routes", "draws" or "permutation". out: an experiment file for the
    result, with picture and trials next to it. told: gets a line for each trial. The same call
    resumes after an interruption. Raises UserError, KeyboardInterrupt.
    """
    axes = read_axes(vary)
    if out is not None:
        check_target(Path(out), MADE_BY)
    found = searching.search(_varied(study, run), condition, axes, trials, by, jobs, told)
    return found if out is None else replace(found, written=write_search(found, Path(out)))


def map_region(
    study: Study,
    vary: Sequence[str],
    run: str | int = 1,
    condition: str = "deadlocked",
    cells: int = 16,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    told: Tell = _unheard,
) -> Region:
    """Map where a condition holds over two or three parameters (docs/deadlock-lab.md).

    vary: as for `--vary`, with ranges. run: number, hash or title of the run to vary.
    cells: final number along each axis: 4, 8, 16, ... out: a CSV file for the border, with
    points and figure next to it. told: gets a line for each point. The same call resumes after
    an interruption. Raises UserError, KeyboardInterrupt.
    """
    axes = read_axes(vary)
    if out is not None:
        check_target(Path(out), regions.MADE_BY, ".csv")
    region = regions.map_region(_varied(study, run), condition, axes, cells, jobs, told)
    return region if out is None else replace(region, files=regions.write_region(region, Path(out)))


def prevent(study: Study, run: str | int = 1, root: str = "") -> Prevention:
    """Return ways to prevent deadlocks with the network and routes of a run.

    Described in docs/deadlock-lab.md.

    run: number, hash or title. root: highest switch of up-down routing. Raises UserError.
    """
    return prevent_run(study.find(run), _types(study), root)


def tags(study: Study, run: str | int = 1) -> Tags:
    """Return more lossless classes for a run, and the rules by which frames change class.

    Described in docs/deadlock-lab.md.

    run: number, hash or title. Raises UserError, also if it cannot use them.
    """
    return tags_of(study.find(run), _types(study))


def _types(study: Study) -> Catalogue:
    types = study.planned.experiment.types
    assert types is not None  # noqa: S101 (a plan is made with the types of a build)
    return types


def _varied(study: Study, run: str | int) -> Varied:
    """A run of a study whose keys the laboratory can vary."""
    plan = study.claimed()
    spec = find_run(plan.specs, plan.build.fingerprint, str(run))
    return Varied(plan, spec, study.source, study.overrides)
