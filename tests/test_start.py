"""What a command may load before it does anything: the budget of its start, in modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "pydantic", "pandas", "matplotlib", "networkx", "pyarrow", "cppyy", "seaborn"}
HEAVY |= {"plotly", "jinja2", "scipy", "IPython", "pyorch.build.builder", "pyorch.config"}


def loaded(*words: str) -> set[str]:
    """The modules that a Python program imports, as `python -X importtime` tells them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["list"], ["show", "--help"]])
def test_what_only_prints_names_loads_nothing_heavy(words: list[str]) -> None:
    """Neither models nor arrays are needed to say which verbs and which experiments there are."""
    found = loaded("-m", "pyorch", *words)
    assert "pyorch.cli.main" in found
    assert not HEAVY & found


def test_a_run_loads_neither_pandas_nor_figures() -> None:
    """What a process needs that only simulates: numpy and the models, and cppyy by itself."""
    found = loaded("-c", "import pyorch.run, pyorch.serve, pyorch.simulate, pyorch.metrics")
    assert not found & {"pandas", "matplotlib", "networkx", "seaborn", "plotly", "pyarrow"}
    assert "pyorch.report" not in found


@pytest.mark.cpp
def test_to_show_an_experiment_loads_nothing_that_draws_or_simulates() -> None:
    """Figures are checked, not drawn."""
    found = loaded("-m", "pyorch", "show", "gfc/two-to-one")
    assert "pyorch.report.figures" in found
    assert not found & (HEAVY - {"numpy", "pydantic", "pyorch.build.builder", "pyorch.config"})
