"""What a command may load before it does anything: the budget of its start, in modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.inputs import ROOT
from tools import starts

pytestmark = pytest.mark.processes

BOTH = [["-m", "pyorch"], ["-m", "invoke", "--search-root", str(ROOT)]]


@pytest.mark.parametrize("words", BOTH, ids=["pyorch", "invoke"])
def test_what_was_compiled_is_kept(words: list[str], tmp_path: Path) -> None:
    """A command compiles our files once, although invoke forbids Python to keep them."""
    allowed = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for more, kept in (({}, True), ({"PYTHONDONTWRITEBYTECODE": "1"}, False)):
        caches = tmp_path / str(kept)
        environment = allowed | more | {"PYTHONPYCACHEPREFIX": str(caches)}
        subprocess.run([sys.executable, *words, "list"], env=environment, check=True, cwd=ROOT)
        assert bool(list(caches.rglob("pyorch/cli/listing*.pyc"))) is kept


def test_a_start_beyond_its_budget_is_found() -> None:
    """The message of `invoke lint` on a program that loads more than allowed."""
    words = ["-c", "import pyorch.cli.base, numpy.linalg"]
    found = starts.Budget(words, frozenset(), 2).exceeded(starts.loaded(words))
    assert found[0] == "loads numpy"
    assert "modules of pyorch, not 2: pyorch pyorch.base pyorch.base.ends " in found[1]
    assert not starts.Budget(words, frozenset({"numpy"}), 40).exceeded(starts.loaded(words))


def test_figures_load_no_statistics_and_leave_them_to_others() -> None:
    """Drawing needs no scipy, which seaborn would load for a second; others still get it."""
    ours = "from pyorch.report import style; style.seaborn().heatmap"
    assert "scipy" not in starts.loaded(["-c", ours])
    theirs = "import scipy.stats, seaborn; seaborn.clustermap([[1, 2], [3, 5]]); "
    theirs += "seaborn.kdeplot([1, 2, 4])"
    assert "scipy.stats._stats_py" in starts.loaded(["-c", f"{ours}; {theirs}"])
    assert "scipy.stats._stats_py" in starts.loaded(["-c", f"import scipy.stats; {ours}"])


def test_what_commands_draw_with_lacks_only_what_help_shows() -> None:
    """Matplotlib's classes have no lists of properties, which are set as ever."""
    code = """if True:
        from pyorch.report import style
        style.load_quickly()
        from matplotlib.artist import Artist
        from matplotlib.lines import Line2D
        assert "antialiased" not in str(Line2D.set.__doc__)
        line = Line2D([], [])
        line.set(linewidth=7)
        assert line.get_linewidth() == 7
        class Later(Artist):
            def set_seven(self, value):
                pass
        assert "seven" in Later.set.__doc__
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.cpp
def test_what_has_nothing_to_do_loads_nothing_that_draws_or_simulates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures are checked, not drawn, by `show` and where runs and report are there."""
    monkeypatch.setenv("PYORCH_RESULTS", str(tmp_path))
    name = "gfc/two-to-one"
    assert not starts.SHOW.exceeded(starts.loaded([*starts.SHOW.words, name]))
    assert starts.REPEAT.exceeded(starts.loaded([*starts.REPEAT.words, name]))
    assert not starts.REPEAT.exceeded(starts.loaded([*starts.REPEAT.words, name]))
