"""All studies of the project, loaded once by a process: five seconds."""

from __future__ import annotations

from functools import cache

import pytest

from pyorch.files.find import list_experiments
from pyorch.files.load import load_experiment
from pyorch.setting.experiment import Experiment
from tests.inputs import RUNS

INPUTS = (
    *RUNS,
    "docs/published.toml",
    "docs/reproduction.csv",
    "docs/reproduction.md",
    "docs/results",
    "tests/shipped.py",
    "tools",
)
MARKS = [
    pytest.mark.studies,
    pytest.mark.inputs(*INPUTS),
    pytest.mark.xdist_group("shipped"),  # they are loaded by one process
]
"""Of a file whose tests load all of them."""


@cache
def studies() -> dict[str, Experiment]:
    """All of them by name, in the order of `invoke list`."""
    return {name: load_experiment(name) for name, _ in list_experiments()}
