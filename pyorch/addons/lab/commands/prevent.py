"""`prevent`: what keeps a network from deadlocking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from pyorch.addons.lab.drive import route_tables
from pyorch.base.errors import Problem, UserError
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
            raise UserError(
                [Problem(f"{option} {file}", f"there is no folder {Path(file).parent}")]
            )
    study = Study.named(name, overrides, seeds=seeds)
    found = study.prevent(run or 1, root)
    print(found)
    if out:
        _write_routes("routes:   ", Path(out), found.updown.routes())
    if avoid:
        if found.avoiding is None:
            what = "no [[route]] entries were found that avoid the turns"
            raise UserError([Problem("--avoid", what, None, "the other changes listed above")])
        _write_routes("avoid:    ", Path(avoid), route_tables(found.network, found.avoiding))
    if tags:
        rules = study.tags(run or 1)
        _write(Path(tags), rules.content)
        classes = ", ".join(map(str, rules.classes))
        print(
            f"tags:     lossless classes {classes}, then class {rules.lossy}, at "
            f'{len(rules.ups)} switches, in {tags}: include = ["{Path(tags).name}"], the last one'
        )
    return OK


def _write_routes(label: str, file: Path, entries: list[dict[str, Any]]) -> None:
    _write(file, {"route": entries})
    print(f'{label}{len(entries)} in {file}: include = ["{file.name}"] in an experiment')


def _write(file: Path, content: Mapping[str, Any]) -> None:
    try:
        write_atomically(file, tomli_w.dumps(content))
    except OSError as error:
        raise storage_error(error, file) from error
