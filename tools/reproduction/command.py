"""`invoke report` over several studies: one page with every published number next to ours."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import write_atomically
from pyorch.base.paths import Paths, default_paths
from pyorch.cli import door
from pyorch.cli import experiment as report_of_one
from pyorch.cli.base import OK, command, warn
from pyorch.pipeline import Plan, make_plan
from pyorch.remarks import of_damage
from pyorch.setting.canonical import encode
from tools.pictures import Picture, refresh, write_gallery

if TYPE_CHECKING:
    from pyorch.setting.experiment import Experiment
    from pyorch.store.store import Damage
    from tools.reproduction.page import Row, Study

ALL = "all"
FOLDER = "reproduction"
_VERSION_DIGITS = 12
Told = Callable[[Plan, "Sequence[Damage]"], object]


def names_of(pattern: str, paths: Paths) -> list[str] | None:
    """The studies meant by a NAME of several, None if it names one.

    "all", a folder of experiments/ ("gfc"), a pattern ("gfc/*"), or names separated by commas.
    Raises UserError if a part of it means none.
    """
    from pyorch.files.find import list_experiments

    parts = [part.strip().rstrip("/") for part in pattern.split(",") if part.strip()]
    known = [name for name, _ in list_experiments(paths)]
    if len(parts) == 1 and (parts[0] in known or not _is_many(parts[0], known)):
        return None
    found: list[str] = []
    for part in parts:
        mine = [name for name in known if _means(part, name)]
        if not mine:
            problem = Problem(part, "no experiment has this name", None, "`invoke list` lists all")
            raise UserError([problem])
        found += mine
    return list(dict.fromkeys(found))


def _is_many(part: str, known: Sequence[str]) -> bool:
    return part == ALL or "*" in part or any(name.startswith(f"{part}/") for name in known)


def _means(part: str, name: str) -> bool:
    return part in (ALL, name) or name.startswith(f"{part}/") or fnmatch(name, part)


def study_of(name: str, paths: Paths, told: Told) -> Study:
    """A study's expectations, and their results from those seeds of which all runs are done.

    Raises UserError if it cannot be read.
    """
    from pyorch.files.load import load_experiment
    from pyorch.report.data import ReportData
    from pyorch.report.expect import judge
    from tools.reproduction.page import Study

    plan = make_plan(name, paths=paths)
    told(plan, plan.set_damaged_aside())
    expects = list(plan.experiment.expects)
    open_seeds = {spec.seed for spec in plan.missing}
    specs = [spec for spec in plan.specs if spec.seed not in open_seeds]
    settings = settings_of(load_experiment(name, paths=paths))
    points = [point.params for point in plan.experiment.points]
    if not specs:
        return Study(name, expects, None, points, settings)
    data = ReportData.of(plan.store, specs, plan.build.fingerprint, plan.experiment.metrics)
    seeds, planned = (len({spec.seed for spec in some}) for some in (specs, plan.specs))
    note = f"; {seeds} of {planned} seeds" if seeds < planned else ""
    results = judge(expects, data)
    return Study(name, expects, results, points, settings, note)


def runs_of(name: str, paths: Paths) -> str:
    """The digest of the runs that a study means with this build. Raises UserError."""
    from pyorch.report.runs import digest_of

    plan = make_plan(name, paths=paths)
    return digest_of(spec.hash(plan.build.fingerprint) for spec in plan.specs)


def settings_of(experiment: Experiment) -> str:
    """The version of a study's settings: equal if all its runs are equal except for their seeds.

    It is computed from the settings of the runs, with attributes of C++ objects as written if the
    experiment was loaded without the built modules. How a file is composed, texts, metrics, figures
    and expectations are not part of it.
    """
    points = [encode(point.setting) for point in experiment.points]
    text = json.dumps(points, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_DIGITS]


def rows_of(
    names: Sequence[str], paths: Paths, told: Told = lambda _plan, _found: None
) -> tuple[list[Row], list[str]]:
    """(rows of the page, studies of these of which no seed is done).

    Numbers of a study that is not among the names, or not done, are as docs/reproduction.csv has
    them, as long as its settings are still the same. Raises UserError.
    """
    from pyorch.files.find import list_experiments
    from tools.reproduction.page import carry_over, from_csv, make_rows
    from tools.reproduction.published import load_published

    published = load_published(paths.published)
    known = [name for name, _ in list_experiments(paths)]
    studies = [
        study_of(name, paths, told) if name in names else unread(name, paths) for name in known
    ]
    left = [study.name for study in studies if study.name in names and study.results is None]
    kept = paths.reproduction.with_suffix(".csv")
    before = from_csv(kept.read_text(encoding="utf-8")) if kept.is_file() else []
    return carry_over(make_rows(published, studies), before), left


def unread(name: str, paths: Paths) -> Study:
    """A study without results. Raises UserError if its file cannot be read."""
    from pyorch.files.load import load_experiment

    return unread_of(name, load_experiment(name, paths=paths))


def unread_of(name: str, experiment: Experiment) -> Study:
    """A study that is loaded, without results."""
    from tools.reproduction.page import Study

    points = [point.params for point in experiment.points]
    return Study(name, list(experiment.expects), None, points, settings_of(experiment))


@dataclass(frozen=True)
class Reproduction:
    """What a report over several studies wrote.

    verdicts: the number of claims with each. left: studies without a finished seed. changed:
    updated pictures; kept: pictures that stay because there is no report of the current runs.
    """

    page: Path
    table: Path
    verdicts: Mapping[str, int]
    left: list[str]
    changed: list[Path]
    kept: list[Picture]


def report_several(
    names: Sequence[str], paths: Paths | None = None, told: Told = lambda _plan, _found: None
) -> Reproduction:
    """Write the page; docs/reproduction.md and .csv; and docs/results/reproduction.md.

    The pictures of docs/ are updated from the reports of these studies. told: is called for damaged
    runs, with their plan. Raises UserError if a study cannot be read.
    """
    from tools.reproduction.page import counts, summary, to_csv, to_markdown, write_page
    from tools.reproduction.published import load_published

    paths = paths or default_paths()
    rows, left = rows_of(names, paths, told)
    published = load_published(paths.published)
    folder = paths.results / FOLDER
    links = {name: link for name in names if (link := _link(paths, name))}
    files = write_page(rows, published, folder, links)
    write_atomically(paths.reproduction, summary(rows, published))
    table = paths.reproduction.parent / "results" / paths.reproduction.name
    write_atomically(table, to_markdown(rows, published))
    write_atomically(paths.reproduction.with_suffix(".csv"), to_csv(rows))
    changed, kept = refresh(names, paths, lambda name: runs_of(name, paths))
    write_gallery(paths)
    return Reproduction(
        files[0], paths.reproduction, dict(counts(rows)), left, list(changed), list(kept)
    )


def _link(paths: Paths, name: str) -> str:
    """The path of a study's report relative to the page; "" if there is none."""
    index = paths.report(name) / "index.html"
    up = Path(*[".."] * len(Path(FOLDER).parts))
    return str(up / name / "report" / "index.html") if index.is_file() else ""


def _tell_damage(plan: Plan, found: Sequence[Damage]) -> None:
    for line in of_damage(found, plan.titles):
        warn(line)


@command
def report(name: str, overrides: Sequence[str] = (), seeds: str = "", paper: bool = False) -> int:
    """`invoke report`: for one study its report; for several the page, with the verdicts."""
    names = names_of(name, default_paths())
    if names is None:
        return report_of_one.report(name, overrides, seeds, paper)
    if paper:
        what = "goes with one study only"
        raise UserError([Problem("--paper", what, None, "invoke report NAME --paper, for each")])
    found = report_several(names, told=_tell_damage)
    for verdict, count in found.verdicts.items():
        print(f"{count:5}  {verdict}")
    for study in found.left:
        print(f"{study}: no seed is done; its rows are unchanged", file=sys.stderr)
    for picture in found.changed:
        print(f"picture: {picture}")
    for old in found.kept:
        what = f"no report of the runs that {old.study} now means; `invoke report {old.study}`"
        print(door.spoken(f"{old.file.name}: unchanged: {what}"), file=sys.stderr)
    print(f"page: {found.page}\ntable: {found.table}")
    return OK
