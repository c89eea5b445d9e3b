"""`prevent`: what keeps a network from deadlocking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from pyorch.cli.base import OK, command
from pyorch.config import topology
from pyorch.errors import Problem, UserError, one_of
from pyorch.files import storage_error, write_atomically
from pyorch.lab.prevent import MOST_CYCLES, Cut, Prevention, names_of, prevent
from pyorch.lab.tags import tags_of
from pyorch.pipeline import make_plan
from pyorch.trace.request import find_run

SHOWN = 8


@command
def prevent_deadlocks(
    name: str,
    run: str = "",
    root: str = "",
    out: str = "",
    tags: str = "",
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Print the cycles of a run's network and what breaks them; write routes and rules that do."""
    for option, file in (("--out", out), ("--tags", tags)):
        if file and not Path(file).parent.is_dir():
            raise UserError(
                [Problem(f"{option} {file}", f"there is no folder {Path(file).parent}")]
            )
    plan = make_plan(name, overrides, seeds)
    spec = find_run(plan.specs, plan.build.fingerprint, run or "1")
    found = prevent(topology.build(spec.setting.topology), root)
    _tell(found)
    if out:
        entries = list(found.updown.routes())
        _write(Path(out), {"route": entries})
        print(f'routes:   {len(entries)} in {out}: include = ["{Path(out).name}"] in an experiment')
    if tags:
        types = plan.experiment.types
        assert types is not None  # noqa: S101 (a plan is made with the types of a build)
        rules = tags_of(spec, types)
        _write(Path(tags), rules.content)
        classes = ", ".join(map(str, rules.classes))
        print(
            f"tags:     lossless classes {classes}, then class {rules.lossy}, at "
            f'{len(rules.ups)} switches, in {tags}: include = ["{Path(tags).name}"], the last one'
        )
    return OK


def _write(file: Path, content: Mapping[str, Any]) -> None:
    try:
        write_atomically(file, tomli_w.dumps(content))
    except OSError as error:
        raise storage_error(error, file) from error


def _tell(found: Prevention) -> None:
    network, updown = found.network, found.updown
    count = f"{len(found.cycles)}" if found.all_counted else f"{MOST_CYCLES} and more"
    print(f"cycles:   {count} of dependencies, in {found.turns} turns of the shortest paths")
    for cycle in sorted(found.cycles, key=lambda one: (len(one), one))[:SHOWN]:
        print("    " + " -> ".join(names_of(network, egress) for egress in (*cycle, cycle[0])))
    turns = [
        f"{network.names[a]} > {network.names[b]} > {network.names[c]}"
        for (a, b), (_, c) in found.turn_cut.items
    ]
    print(f"turns:    {_how_many(found.turn_cut)}{one_of(turns, SHOWN)}")
    if found.link_cut is None:
        print("links:    no set was found that leaves all hosts connected")
    else:
        links = [f"{network.names[a]} - {network.names[b]}" for a, b in found.link_cut.items]
        print(f"links:    {_how_many(found.link_cut)}{one_of(links, SHOWN)}")
    mean, most = updown.stretch
    print(
        f"up-down:  paths {mean:.2f} times as long on average, {most:.2f} at most; "
        f"{100 * updown.throughput:.0f} % of the throughput of all-to-all traffic"
    )
    print(f"classes:  {found.classes} lossless, if a frame changes class where it turns up again")


def _how_many(cut: Cut[Any]) -> str:
    if not cut.items:
        return "none must go"
    if cut.exact:
        return f"{len(cut.items)} must go, and no fewer do: "
    return f"{len(cut.items)} do (greedy; at least {cut.least}): "
