"""`export`: the network and the flows of a run for other simulators and tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyorch.base.errors import Problem, UserError, suggest
from pyorch.base.files import storage_error, write_atomically
from pyorch.base.paths import expanded
from pyorch.cli import door
from pyorch.cli.base import OK, command
from pyorch.network import topology
from pyorch.plan import RunSpec
from pyorch.readers import door as readers
from pyorch.setting.attributes import Catalogue
from pyorch.sizing.checks import frames
from pyorch.study import Study
from pyorch.traffic import base as traffic
from pyorch.writers import hpcc, htsim, tables
from pyorch.writers.scenes import Scene, Written

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
        raise UserError([Problem("--as", what, ", ".join(formats), suggest(kind, formats))])
    study = Study.named(name, overrides, seeds=seeds)
    written = formats[kind](scene_of(study.find(run), study.planned.experiment.types))
    folder = expanded(out or ".")
    targets = {folder / file: text for file, text in written.files.items()}
    hint = "--out with another folder"
    there = [Problem(str(one), "exists already", None, hint) for one in targets if one.exists()]
    if there:
        raise UserError(there)
    for target, text in targets.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(target, text)
        except OSError as error:
            raise storage_error(error, target) from error
        print(f"wrote {target}")
    for line in written.left_out:
        door.say(f"left out: {line}")
    return OK


def scene_of(spec: RunSpec, types: Catalogue | None) -> Scene:
    """Return the network and the flows of a run. Raises UserError."""
    setting = spec.setting
    network = topology.build(setting.topology)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    return Scene(
        network,
        flows,
        setting.topology.kind,
        setting.run.duration,
        frames(types, setting.attributes).payload,
        _short(setting.congestion_control),
        tuple(map(_short, setting.flow_control)),
    )


def _short(type_name: str) -> str:
    return type_name.rpartition("::")[2].lower()
