"""`size`: headroom, thresholds and lossless classes of a switch."""

from __future__ import annotations

from collections.abc import Mapping

from pyorch.base.paths import default_paths
from pyorch.build import ensure_built, load_schema
from pyorch.cli.base import OK, listing
from pyorch.setting.experiment import Experiment
from pyorch.sizing.size import check, read_switch, render


@listing
def size(name: str, options: Mapping[str, str]) -> int:
    """Print what a switch needs, from an experiment, a chip or options, and the TOML for it."""
    switch = read_switch(name, options, _load)
    check(switch)
    print(render(switch))
    return OK


def _load(name: str) -> Experiment:
    from pyorch.files.load import load_experiment

    return load_experiment(name, schema=load_schema(ensure_built()), paths=default_paths())
