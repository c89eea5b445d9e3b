"""`prevent`: what keeps a network from deadlocking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from pyorch.addons.lab.drive import route_tables
from pyorch.addons.lab.tags import Tags
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.files import storage_error, write_atomically
from pyorch.cli.base import OK, command
from pyorch.study import Study


@command
def prevent_deadlocks(
    name: str,
    run: str = "",
    root: str = "",
    out: str = "",
    avoid: str = "",
    tags: str = "",
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Print the cycles of a run's network and what breaks them; write routes and rules that do."""
    for option, file in (("--out", out), ("--avoid", avoid), ("--tags", tags)):
        if file and not Path(file).parent.is_dir():
            raise refusal(f"{option} {file}", f"there is no folder {Path(file).parent}")
    study = Study.named(name, overrides, seeds=seeds)
    found = study.prevent(run or 1, root)
    print(f"run:      {study.find(run or 1).title}")
    print(found)
    own = found.judged.entries
    problems: list[Problem] = []
    if out:
        _write_routes("routes:   ", Path(out), found.updown.routes(), bool(own))
    if avoid and found.avoiding is None:
        what = "no [[route]] entries were found that avoid the turns"
        problems.append(Problem("--avoid", what, None, "the other changes listed above"))
    elif avoid:
        entries = route_tables(found.network, {**own, **(found.avoiding or {})})
        _write_routes("avoid:    ", Path(avoid), entries, bool(own))
    if tags:
        try:
            _write_tags(Path(tags), study.tags(run or 1))
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(problems)
    return OK


def _write_tags(file: Path, rules: Tags) -> None:
    _write(file, rules.content)
    classes = ", ".join(map(str, rules.classes))
    print(
        f"tags:     lossless classes {classes} at {len(rules.ups)} switches, in {file}: "
        f'include = ["{file.name}"] at the top of the experiment, last in the list\n'
        f"          no frame on the routes gets into class {rules.lossy}, which is lossy: "
        "only one that turns up again more often"
    )


def _write_routes(label: str, file: Path, entries: list[dict[str, Any]], instead: bool) -> None:
    """Write entries. instead: the experiment has some, which they replace."""
    _write(file, {"route": entries})
    how = " in place of its [[route]] entries" if instead else ""
    where = f'include = ["{file.name}"] at the top of the experiment{how}'
    print(f"{label}{len(entries)} in {file}: {where}")


def _write(file: Path, content: Mapping[str, Any]) -> None:
    try:
        write_atomically(file, tomli_w.dumps(content))
    except OSError as error:
        raise storage_error(error, file) from error
