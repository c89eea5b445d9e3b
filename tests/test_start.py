"""What a command may load before it does anything: the budget of its start, in modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = {"numpy", "pydantic", "pandas", "matplotlib", "networkx", "pyarrow", "cppyy", "seaborn"}
HEAVY |= {"plotly", "jinja2", "scipy", "IPython", "pyorch.build.builder", "pyorch.config"}


def loaded(*words: str) -> set[str]:
    """The modules that a Python program imports, as `python -X importtime` tells them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize(
    "words",
    [["-m", "pyorch"], ["-m", "invoke", "--search-root", str(ROOT)]],
    ids=["pyorch", "invoke"],
)
def test_what_was_compiled_is_kept(words: list[str], tmp_path: Path) -> None:
    """A command compiles our files once, although invoke forbids Python to keep them."""
    allowed = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for more, kept in (({}, True), ({"PYTHONDONTWRITEBYTECODE": "1"}, False)):
        caches = tmp_path / str(kept)
        environment = allowed | more | {"PYTHONPYCACHEPREFIX": str(caches)}
        subprocess.run([sys.executable, *words, "list"], env=environment, check=True, cwd=ROOT)
        assert bool(list(caches.rglob("pyorch/cli/listing*.pyc"))) is kept


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


def test_figures_load_no_statistics_and_leave_them_to_others() -> None:
    """Drawing needs no scipy, which seaborn would load for a second; others still get it."""
    ours = "from pyorch.report import style; style.seaborn().heatmap"
    assert "scipy" not in loaded("-c", ours)
    theirs = "import scipy.stats, seaborn; seaborn.clustermap([[1, 2], [3, 5]]); "
    theirs += "seaborn.kdeplot([1, 2, 4])"
    assert "scipy.stats._stats_py" in loaded("-c", f"{ours}; {theirs}")
    assert "scipy.stats._stats_py" in loaded("-c", f"import scipy.stats; {ours}")


@pytest.mark.cpp
def test_to_show_an_experiment_loads_nothing_that_draws_or_simulates() -> None:
    """Figures are checked, not drawn."""
    found = loaded("-m", "pyorch", "show", "gfc/two-to-one")
    assert "pyorch.report.figures" in found
    assert not found & (HEAVY - {"numpy", "pydantic", "pyorch.build.builder", "pyorch.config"})
