"""The table of runs of a report, and the machines that made them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pyorch.metrics import parse_quantity
from pyorch.report.data import ReportData
from pyorch.report.page import RunsTable
from pyorch.report.quantities import automatic
from pyorch.report.select import absent, value_text
from pyorch.report.style import label_axis

RUNS_FILE = "runs.sha256"
"""In the folder of a report: the digest of the runs that it covers."""
_MOST_ROWS = 2000
_LOGGED = ("host", "versions")


def digest_of(hashes: Iterable[str]) -> str:
    """A digest of runs by their hashes, in any order."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def runs_table(data: ReportData, metrics: Sequence[str]) -> RunsTable | None:
    """The varied parameters, the seed and the metrics of every run; None without a finished run."""
    if not len(data.runs):
        return None
    shown = data.runs.head(_MOST_ROWS)
    settings = [name for name in data.settings if shown[name].astype(str).nunique() > 1]
    columns: list[tuple[str, list[tuple[str, str]]]] = [
        (name, [_setting(value) for value in shown[name]]) for name in (*settings, "seed")
    ]
    known = [name for name in metrics if name in shown.columns]
    columns += [_numbers(name, data.unit(name), shown[name]) for name in known]
    columns.append(("run", [(str(key), str(key)) for key in shown["hash"]]))
    first = len(settings) + 1
    return RunsTable(
        heads=[head for head, _ in columns],
        rows=list(zip(*(cells for _, cells in columns), strict=True)),
        numeric=frozenset(range(first, first + len(known))),
        left=len(data.runs) - len(shown),
    )


def _setting(value: Any) -> tuple[str, str]:
    """(text, what it is sorted by) of a parameter: a quantity by its size in base units."""
    if absent(value):
        return "", ""
    try:
        order = f"{parse_quantity(value if isinstance(value, str) else float(value)).value:g}"
    except (TypeError, ValueError):
        order = value_text(value)
    return value_text(value), order


def _numbers(name: str, unit: str, values: Iterable[Any]) -> tuple[str, list[tuple[str, str]]]:
    """(head with its unit, cells) of a metric: one unit for the whole column."""
    found = [math.nan if absent(value) else float(value) for value in values]
    scale = automatic(unit, found)
    texts = ["–" if math.isnan(v) else f"{v / scale.factor:.5g}" for v in found]
    orders = ["" if text == "–" else text for text in texts]
    return label_axis(name, scale.label), list(zip(texts, orders, strict=True))


def machines(store: Any, hashes: Iterable[str]) -> list[tuple[str, str]]:
    """(what, value and in how many runs) of the logs of finished runs: host, versions."""
    found: dict[str, Counter[str]] = {name: Counter() for name in _LOGGED}
    for key in sorted(hashes):
        for line in store.log_lines(key):
            name, _, value = line.removeprefix("# ").partition(": ")
            if name in found:
                found[name][value.partition(", pid")[0]] += 1
    rows = []
    for name, label in zip(_LOGGED, ("made on", "made with"), strict=True):
        few = found[name].most_common(3)
        texts = [f"{text} ({n} run{'' if n == 1 else 's'})" for text, n in few]
        more = len(found[name]) - len(few)
        if texts:
            rows.append((label, "; ".join([*texts, *([f"{more} more"] if more > 0 else [])])))
    return rows
