"""`search`: traffic and settings for which a condition holds, and the border of their region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyorch.addons.lab.border import Verdict
from pyorch.addons.lab.ranges import read_axes
from pyorch.addons.lab.region import CELLS, Region
from pyorch.addons.lab.search import TRIALS, Search
from pyorch.base.errors import Problem, UserError
from pyorch.cli.base import FAILED, OK, command, whole_number
from pyorch.cli.door import say
from pyorch.remarks import runs_text
from pyorch.study import Study

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
    read_axes(words.vary)  # wrong ones are told first
    workers = whole_number("--jobs", words.jobs)
    study = Study.named(name, overrides, seeds=seeds)
    run, condition = run or "1", words.condition or "deadlocked"
    if words.map:
        _refuse({"--by": words.by, "--trials": words.trials}, "--map takes the study's own traffic")
        cells = whole_number("--cells", words.cells) or CELLS
        out = words.out or DEFAULT_TABLE
        return _tell_region(
            study.map_region(words.vary, run, condition, cells, out, workers, _progress)
        )
    _refuse({"--cells": words.cells}, "it requires --map")
    by, out = words.by or "routes", words.out or DEFAULT_FILE
    most = whole_number("--trials", words.trials) or TRIALS
    found = study.search(run, condition, words.vary, most, by, out, workers, _progress)
    return _tell(found, Path(out))


def _refuse(given: Mapping[str, str], why: str) -> None:
    """Refuse options that have no effect here. Raises UserError."""
    problems = [Problem(f"{option} {text}", why) for option, text in given.items() if text]
    if problems:
        raise UserError(problems)


def _progress(line: str) -> None:
    print(line, flush=True)


def _tell(found: Search, file: Path) -> int:
    written = found.written
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


def _tell_region(region: Region) -> int:
    files = region.files
    assert files is not None  # noqa: S101 (they were asked for)
    print(region)
    print(f"figure:   {', '.join(map(str, files.figures))}")
    print(f"points:   {files.points}")
    print(f"border:   {files.border}")
    points = region.map.points.values()
    if all(point.verdict is Verdict.IMPOSSIBLE for point in points):
        raise UserError([Problem("the map", f"no point is possible: {region.reason}")])
    return OK
