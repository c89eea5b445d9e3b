"""`prevent`: what keeps a network from deadlocking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from pyorch.cli.base import OK, command
from pyorch.config import topology
from pyorch.errors import Problem, UserError, one_of, suggest
from pyorch.files import storage_error, write_atomically
from pyorch.lab.prevent import MOST_CYCLES, Cut, Prevention, names_of, prevent
from pyorch.pipeline import make_plan
from pyorch.trace.request import find_run

SHOWN = 8


@command
def prevent_deadlocks(
    name: str,
    run: str = "",
    root: str = "",
    out: str = "",
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Print the cycles of a run's network and what breaks them; write up-down routes."""
    if out and not Path(out).parent.is_dir():
        raise UserError([Problem(f"--out {out}", f"there is no folder {Path(out).parent}")])
    plan = make_plan(name, overrides, seeds)
    spec = find_run(plan.specs, plan.build.fingerprint, run or "1")
    network = topology.build(spec.setting.topology)
    found = prevent(network, _root(network, root))
    _tell(found)
    if out:
        entries = list(found.updown.routes())
        try:
            write_atomically(Path(out), tomli_w.dumps({"route": entries}))
        except OSError as error:
            raise storage_error(error, Path(out)) from error
        print(f'routes:   {len(entries)} in {out}: include = ["{Path(out).name}"] in an experiment')
    return OK


def _root(network: topology.Topology, name: str) -> int | None:
    switches = [one for one in network.names if not network.is_host(one)]
    if name and name not in switches:
        what = f"there is no switch {name!r}"
        raise UserError([Problem("--root", what, one_of(switches), suggest(name, switches))])
    return network.numbers[name] if name else None


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
