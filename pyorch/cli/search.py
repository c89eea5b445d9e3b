"""`search`: traffic and settings for which a condition holds, and the border of their region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyorch.addons.lab.border import Verdict
from pyorch.addons.lab.ranges import read_axes
from pyorch.addons.lab.region import CELLS, Region, RegionFiles, map_region, write_region
from pyorch.addons.lab.region import MADE_BY as BORDER_MADE_BY
from pyorch.addons.lab.search import TRIALS, Search, search
from pyorch.addons.lab.varied import Varied
from pyorch.addons.lab.write import check_target
from pyorch.addons.lab.write_search import MADE_BY, write_search
from pyorch.base.errors import Problem, UserError
from pyorch.cli.base import FAILED, OK, command, whole_number
from pyorch.cli.door import say
from pyorch.pipeline import make_plan
from pyorch.remarks import runs_text
from pyorch.trace.request import find_run

DEFAULT_FILE = "found.toml"
DEFAULT_TABLE = "border.csv"


@dataclass(frozen=True)
class Words:
    """The options of the command as they were typed."""

    vary: Sequence[str] = ()
    condition: str = ""
    by: str = ""
    trials: str = ""
    out: str = ""
    jobs: str = ""
    map: bool = False
    cells: str = ""


@command
def search_run(
    name: str, run: str, words: Words, overrides: Sequence[str] = (), seeds: str = ""
) -> int:
    """Search on the network of a run, or map a region, and write what was found."""
    axes = read_axes(words.vary)
    workers = whole_number("--jobs", words.jobs)
    if words.map:
        _refuse({"--by": words.by, "--trials": words.trials}, "--map takes the study's own traffic")
        cells = whole_number("--cells", words.cells) or CELLS
        file = Path(words.out or DEFAULT_TABLE)
        check_target(file, BORDER_MADE_BY, ".csv")
        source = _source(name, run, overrides, seeds)
        region = map_region(source, _condition(words), axes, cells, workers, _progress)
        return _tell_region(region, write_region(region, file))
    _refuse({"--cells": words.cells}, "it requires --map")
    by = words.by or "routes"
    most = whole_number("--trials", words.trials) or TRIALS
    file = Path(words.out or DEFAULT_FILE)
    check_target(file, MADE_BY)
    source = _source(name, run, overrides, seeds)
    found = search(source, _condition(words), axes, most, by, workers, _progress)
    return _tell(found, file)


def _source(name: str, run: str, overrides: Sequence[str], seeds: str) -> Varied:
    plan = make_plan(name, overrides, seeds, claim=True)
    spec = find_run(plan.specs, plan.build.fingerprint, run or "1")
    return Varied(plan, spec, name, overrides)


def _condition(words: Words) -> str:
    return words.condition or "deadlocked"


def _refuse(given: Mapping[str, str], why: str) -> None:
    """Refuse options that have no effect here. Raises UserError."""
    problems = [Problem(f"{option} {text}", why) for option, text in given.items() if text]
    if problems:
        raise UserError(problems)


def _progress(line: str) -> None:
    print(line, flush=True)


def _tell(found: Search, file: Path) -> int:
    written = write_search(found, file)
    count = len(found.tried)
    if not found.cycles:
        print("cycles:   none of dependencies in the routes that hold at the start")
    print(f"trials:   {count}; {runs_text(found.trials.runs)} simulated now")
    print(f"runs:     {found.trials.store.root}")
    if written is None:
        if count:
            print(f"steps:    {file.with_suffix('.trials.csv')}")
        if found.stopped:
            print(f"stopped:  {found.stopped}")
        if found.is_void:
            what = f"whether {found.condition.text!r} can hold is unknown: {found.impossible}"
            hint = f"logs are in {found.trials.store.failed}"
            raise UserError([Problem("the search", what, None, hint)])
        if found.impossible:
            print(f"none:     {found.impossible}")
        print(f"found:    no run in which {found.condition.text!r} holds")
        return FAILED
    if written.cycle:
        print(f"cycle:    {' -> '.join([*written.cycle, written.cycle[0]])}")
    if written.picture is not None:
        print(f"picture:  {written.picture}")
    print(f"steps:    {written.steps}")
    say(f"file:     {file}; run it with: invoke experiment {file}")
    say(f"smaller:  invoke minimise {file} 1")
    return OK


def _tell_region(region: Region, files: RegionFiles) -> int:
    print(region)
    print(f"figure:   {', '.join(map(str, files.figures))}")
    print(f"points:   {files.points}")
    print(f"border:   {files.border}")
    points = region.map.points.values()
    if all(point.verdict is Verdict.IMPOSSIBLE for point in points):
        raise UserError([Problem("the map", f"no point is possible: {region.reason}")])
    return OK
