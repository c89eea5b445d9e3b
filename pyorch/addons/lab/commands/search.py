"""`search`: traffic and settings for which a condition holds, and the border of their region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyorch.addons.lab.border import Verdict
from pyorch.addons.lab.ranges import read_axes
from pyorch.addons.lab.region import CELLS, Region
from pyorch.addons.lab.search import TRIALS, Search
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.cli.base import FAILED, OK, command
from pyorch.cli.door import say
from pyorch.cli.verb import Select
from pyorch.remarks import runs_text
from pyorch.study import Study

DEFAULT_FILE = "found.toml"
DEFAULT_TABLE = "border.csv"


@command
def search_run(
    of: Select,
    run: str = "",
    vary: Sequence[str] = (),
    condition: str = "",
    by: str = "",
    trials: int | None = None,
    out: str = "",
    jobs: int | None = None,
    **others: object,
) -> int:
    """Search on the network of a run, and write what was found. others: only for a map."""
    read_axes(vary)  # wrong ones are told first
    _refuse(others, "it requires --map")
    asked = (run or "1", condition or "deadlocked", vary, trials or TRIALS, by or "routes")
    file = out or DEFAULT_FILE
    study = Study.named(of.name, of.overrides, seeds=of.seeds)
    return _tell(study.search(*asked, file, jobs, _progress), Path(file))


@command
def map_run(
    of: Select,
    run: str = "",
    vary: Sequence[str] = (),
    condition: str = "",
    cells: int | None = None,
    out: str = "",
    jobs: int | None = None,
    **others: object,
) -> int:
    """Map a region around a run, and write its border. others: only for a search."""
    read_axes(vary)
    _refuse(others, "--map takes the study's own traffic")
    asked = (vary, run or "1", condition or "deadlocked", cells or CELLS)
    study = Study.named(of.name, of.overrides, seeds=of.seeds)
    return _tell_region(study.map_region(*asked, out or DEFAULT_TABLE, jobs, _progress))


def _refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options that have no effect here. Raises UserError."""
    problems = [Problem(f"--{option} {value}", why) for option, value in given.items() if value]
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
            raise refusal("the search", what, hint=f"logs are in {found.trials.store.failed}")
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
        raise refusal("the map", f"no point is possible: {region.reason}")
    return OK
