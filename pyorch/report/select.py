"""Choosing rows of the table of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyorch.base.lazy import pd
from pyorch.metrics import parse_quantity
from pyorch.report.quantities import show_text


@dataclass(frozen=True)
class Settings:
    """A table of runs with only those parts of a pd.DataFrame that layouts need.

    Loading pandas takes as long as everything else before a run.
    """

    rows: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: str | list[bool]) -> Any:
        """A column by its name, or the rows for which a list says so."""
        if isinstance(chosen, str):
            return [row.get(chosen, math.nan) for row in self.rows]
        return Settings([row for row, one in zip(self.rows, chosen, strict=True) if one])


def same(left: Any, right: Any) -> bool:
    """Whether two written values mean the same: 1 and 1.0, "10Gbps" and "10000Mbps"."""
    if left == right or str(left) == str(right):
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    try:
        return parse_quantity(_plain(left)) == parse_quantity(_plain(right))
    except ValueError:
        return False


def among(value: Any, wanted: Any) -> bool:
    """Whether a value matches a filter: the same, or one of a list."""
    return any(same(value, one) for one in _choice(wanted))


def _plain(value: Any) -> str | float:
    """A numpy number, or text that is a number, as a float; other text unchanged."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def matching(runs: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The runs for which every entry of the filter holds; none when a column does not exist."""
    for name, wanted in where.items():
        if name not in runs.columns:
            return runs[[False] * len(runs)]
        runs = runs[[among(value, wanted) for value in runs[name]]]
    return runs


def filter_text(where: Mapping[str, Any]) -> str:
    """A filter for people: "GFC or PFC, k = 4"."""
    return ", ".join(
        _either(wanted, str) if name == "variant" else f"{name} = {_either(wanted, value_text)}"
        for name, wanted in where.items()
    )


def _choice(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _either(wanted: Any, spell: Callable[[Any], str]) -> str:
    return " or ".join(spell(one) for one in _choice(wanted))


def values_of(runs: pd.DataFrame, column: str | None) -> list[Any]:
    """The different values of a column in order of appearance; None stands for no value.

    [None] without a column, [] when there is no such column.
    """
    if column is None:
        return [None]
    if column not in runs.columns:
        return []
    return list(dict.fromkeys(None if absent(value) else value for value in runs[column]))


def having(runs: pd.DataFrame, column: str, wanted: Any) -> pd.DataFrame:
    """The runs with exactly this value in a column; None stands for no value."""
    values = (None if absent(value) else value for value in runs[column])
    return runs[[value is None if wanted is None else value == wanted for value in values]]


def absent(value: Any) -> bool:
    """Whether a cell of the table of runs is empty."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def value_text(value: Any) -> str:
    """A parameter's value for a legend or a tick: quantities in the spelling of papers."""
    try:
        return show_text(value if isinstance(value, str) else float(value))
    except (TypeError, ValueError):
        return str(value)
