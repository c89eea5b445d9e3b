"""`export`: the network and the flows of a run for other simulators and tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyorch.base.errors import Problem, UserError, refusal, suggest
from pyorch.base.files import telling, write_atomically
from pyorch.base.paths import expanded
from pyorch.cli import door
from pyorch.cli.base import OK, command
from pyorch.network import topology
from pyorch.plan import RunSpec
from pyorch.readers import door as readers
from pyorch.setting.attributes import Catalogue, section_of, snake_case, written
from pyorch.setting.canonical import Setting
from pyorch.study import Study
from pyorch.traffic import base as traffic
from pyorch.writers import hpcc, htsim, tables
from pyorch.writers.scenes import Scene, Written

_ALWAYS = ("queue_pair", "port", "buffer")
"""Sections that every run has."""
FORMATS: Mapping[str, Callable[[Scene], Written]] = {
    "hpcc": hpcc.write,
    "htsim": htsim.write,
    "graphml": tables.graphml,
    "csv": tables.csv,
}


@command
def export(name: str, run: str, kind: str, out: str, overrides: Sequence[str], seeds: str) -> int:
    """Write the files into a folder, and say what they do not say."""
    formats = FORMATS if kind in FORMATS else {**FORMATS, **readers.writers()}
    if kind not in formats:
        what = f"{kind!r} is not a format" if kind else "no format was given"
        raise refusal("--as", what, ", ".join(formats), suggest(kind, formats))
    study = Study.named(name, overrides, seeds=seeds)
    texts = formats[kind](scene_of(study.find(run), study.planned.experiment.types))
    folder = expanded(out or ".")
    targets = {folder / file: text for file, text in texts.files.items()}
    hint = "--out with another folder"
    there = [Problem(str(one), "exists already", None, hint) for one in targets if one.exists()]
    if there:
        raise UserError(there)
    for target, text in targets.items():
        with telling(target):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(target, text)
        print(f"wrote {target}")
    for line in texts.left_out:
        door.say(f"left out: {line}")
    return OK


def scene_of(spec: RunSpec, types: Catalogue | None) -> Scene:
    """Return the network and the flows of a run. Raises UserError."""
    setting = spec.setting
    network = topology.build(setting.topology)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    losses, others = _losses(setting)
    return Scene(
        network,
        flows,
        setting.topology.kind,
        setting.run.duration,
        _short(setting.congestion_control),
        tuple(map(_short, setting.flow_control)),
        _settings(setting, types) if types else {},
        frozenset(
            (types.short_name(name), snake_case(key))
            for name, of in setting.attributes.items()
            for key in of
        )
        if types
        else frozenset(),
        losses,
        others,
    )


def _settings(setting: Setting, types: Catalogue) -> dict[str, dict[str, Any]]:
    """Return the values of hosts, ports, buffers and the schemes of a run, with defaults."""
    schemes = [*setting.flow_control, *setting.agents, setting.congestion_control]
    found: dict[str, dict[str, Any]] = {}
    for section in (*_ALWAYS, *(types.short_name(name) for name in schemes if name)):
        info = types.find(section)
        values = section_of(types, setting.attributes, section)
        if info is not None and values is not None:
            found[section] = {
                snake_case(key): written(types, info.name, key, text)
                for key, text in values.items()
            }
    return found


def _losses(setting: Setting) -> tuple[dict[str, float], int]:
    """Return the shares of frames that single ports lose, and the number of other [[node]]."""
    losses: dict[str, float] = {}
    others = 0
    for entry in setting.nodes:
        values = [of for of in entry.attributes.values() if of]
        ports = all(":" in name for name in entry.nodes)
        if ports and len(values) == 1 and set(values[0]) == {"LossRate"}:
            losses |= dict.fromkeys(entry.nodes, float(values[0]["LossRate"]))
        else:
            others += 1
    return losses, others


def _short(type_name: str) -> str:
    return type_name.rpartition("::")[2].lower()
