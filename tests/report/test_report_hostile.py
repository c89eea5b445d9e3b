"""Every kind of figure and metric on runs that have little to show: none, one, or nonsense."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pyorch.plan import RunSpec
from pyorch.report.data import ReportData
from pyorch.report.figures import MODELS, Drawn, FigureError
from pyorch.report.style import paper_style
from pyorch.report.write import write_report
from tests.report.test_report import (
    FIGURES,
    FakeStore,
    experiment,
    make_store,
    study,
    sweep,
)

pytestmark = pytest.mark.drawing

Tables = dict[str, pd.DataFrame]
NUMBERS = ("peak_queue_bytes", "pauses_sent", "queue_mean")

CUSTOM = {"name": "own", "kind": "custom", "function": "draw"}
LOST = {"name": "lost", "kind": "lost", "traffic": "0"}
ENTRIES = {entry["kind"]: entry for entry in (CUSTOM, LOST, *FIGURES.values())}
"""An example of every kind."""
OF_METRICS = {
    kind for kind, entry in ENTRIES.items() if MODELS[kind].model_validate(dict(entry)).metrics()
}
"""The kinds that show metrics; the others read tables."""


def _in_flows(tables: Tables, **columns: Any) -> Tables:
    return {**tables, "flow": tables["flow"].assign(**columns)}


TABLES: dict[str, Callable[[Tables], Tables]] = {
    "none": lambda _: {},
    "empty": lambda tables: {name: table.iloc[:0] for name, table in tables.items()},
    "one row": lambda tables: {name: table.iloc[:1] for name, table in tables.items()},
    "no flow finished": lambda tables: _in_flows(tables, finish_ps=-1),
    "five flows": lambda tables: {**tables, "flow": tables["flow"].head(5)},
    "no ideal time": lambda tables: _in_flows(tables, ideal_ps=-1),
    "ideal time 0": lambda tables: _in_flows(tables, ideal_ps=0),
    "all at once": lambda tables: _in_flows(tables, start_ps=0, finish_ps=0),
}
"""What the tables of a run may have become."""

VALUES: dict[str, Any] = {
    "None": [None],
    "NaN": [math.nan],
    "infinite": [math.inf],
    "zero": [0],
    "huge": [1e150],
    "negative": [-3.5],
    "one": [7, None],
    "mixed": [math.inf, math.nan, None, 1.0, -1.0, 0.0, -math.inf],
}
"""What the metrics of runs may have become, one run after the other; the last for all others."""


class HostileStore(FakeStore):
    """A store whose metrics are replaced."""

    values: list[Any]

    def collect(self, specs: Any, fingerprint: str) -> pd.DataFrame:
        """One row a finished run, with the values in place of every number."""
        runs = super().collect(specs, fingerprint)
        filled = [self.values[min(i, len(self.values) - 1)] for i in range(len(runs))]
        return runs.assign(**{name: pd.Series(filled, index=runs.index) for name in NUMBERS})


def made(name: str) -> tuple[list[RunSpec], FakeStore]:
    """The runs that an example is made for, all done."""
    specs = study(2) if name == "timeseries" else sweep(1)
    return specs, _store(len(specs), name == "timeseries")


@cache
def _store(_runs: int, plain: bool) -> FakeStore:
    return make_store(study(2) if plain else sweep(1))


def attempt(entry: Mapping[str, Any], store: FakeStore, specs: list[RunSpec]) -> str:
    """Draw; return "" or why not. Anything but a drawing or a FigureError fails the test."""
    planned = {spec.hash(""): spec for spec in specs}
    data = ReportData(store, store.collect(specs, ""), planned)
    with paper_style(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            drawn = MODELS[entry["kind"]].model_validate(dict(entry)).draw(data)
        except FigureError as error:
            return str(error) or "no reason"
        drawn.canvas.draw_without_rendering()
        assert len(drawn.data)
        return ""


def test_there_is_an_example_of_every_kind() -> None:
    """So a new kind is tried here by itself."""
    assert set(ENTRIES) == set(MODELS)


@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("name", sorted(set(ENTRIES) - OF_METRICS))
def test_a_figure_of_odd_tables_draws_or_says_why_not(name: str, tables: str) -> None:
    """No kind of figure crashes on missing, empty or strange tables."""
    specs, store = made(name)
    changed = {key: TABLES[tables](found) for key, found in store.tables.items()}
    attempt(ENTRIES[name], FakeStore(changed, store.summaries), specs)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", sorted(OF_METRICS))
def test_a_figure_of_odd_metrics_draws_or_says_why_not(name: str, values: str) -> None:
    """Nor on metrics without a value, infinite, or beyond all bounds; on logarithmic axes, too."""
    specs, plain = made(name)
    store = HostileStore(plain.tables, plain.summaries)
    store.values = VALUES[values]
    axes = {"log_x", "log_y"} & set(MODELS[name].model_fields)
    attempt(ENTRIES[name], store, specs)
    if axes:
        attempt(ENTRIES[name] | dict.fromkeys(axes, True), store, specs)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_figure_of_no_run_says_so(name: str) -> None:
    """Of an experiment none of whose runs is done."""
    assert attempt(ENTRIES[name], FakeStore(), made(name)[0])


def test_a_defect_of_one_figure_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report names it with the place of the defect, and shows the rest."""

    def fail(*_: object) -> Drawn:
        raise ZeroDivisionError("oops")

    specs = sweep(1)
    figures = [FIGURES["bars"], FIGURES["cdf"]]
    monkeypatch.setattr(MODELS["bars"], "draw", fail)
    result = write_report(experiment(figures), made("bars")[1], specs, tmp_path)
    (error,) = result.figure_errors
    assert re.fullmatch(
        r"bars: a defect of kind 'bars': ZeroDivisionError: oops \(.*\.py:\d+\)", error
    )
    assert "oops" in result.index.read_text(encoding="utf-8")
    assert (tmp_path / "cdf.png").is_file()
