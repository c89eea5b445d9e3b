"""The reference pages, written from the models alone: keys, kinds and tables of an experiment file.

The site has them, and `pyorch docs` prints them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel

from pyorch import kinds
from pyorch.base.findings import models_in
from pyorch.base.paths import Paths
from pyorch.catalogue.schemes import Key, key_of
from pyorch.catalogue.tables import recorded_tables
from pyorch.files.entries import report_models
from pyorch.files.keys import ExperimentFile, NodeTable, SweepTable, VariantsTable
from pyorch.files.routes import RouteTable
from pyorch.metrics import Metric
from pyorch.metrics.base import BETTER_NUMBERS, unit_of_name
from pyorch.network import topology
from pyorch.report.consistency import SUMMARY_NUMBERS
from pyorch.report.figures import FigureModel
from pyorch.setting.canonical import FAULTS, Fault
from pyorch.setting.experiment import RunTable, TraceTable
from pyorch.traffic import base as traffic

Models = Mapping[str, type[BaseModel]]
_QUANTITIES = (
    'Quantities are text with a unit: rates `"10Gbps"`, times `"25us"`, sizes `"100KB"`. '
    "*Needed* keys have no default."
)
_ELSEWHERE = (
    "Kinds are on `pyorch docs topologies`, `pyorch docs traffic`, `pyorch docs metrics` and "
    "`pyorch docs figures`, each with its name behind: `pyorch docs topologies ring`. "
    "`pyorch schemes NAME` has sections of C++ objects, such as `[buffer]`."
)
_RECORDED = (
    "A [[trace]] records a table, stored as Parquet; `flow` is always there. Times are in ps, "
    "sizes in bytes."
)
EVERY_KIND = "The `kind`, and the keys of every kind:"
SAME_KEYS = "Keys as of "
_NUMBERS = (
    "`summary` and `ratio` take them, and figures and expectations name them directly. Schemes add "
    "numbers of their own."
)


def reference_pages() -> dict[str, Callable[[Paths], str]]:
    """Return what writes each page as Markdown, by the page's name."""
    return {
        "keys": lambda _: _keys(),
        "topologies": lambda _: _kinds("Topologies", "[topology]", topology.KINDS, _TOPOLOGY),
        "traffic": lambda _: _kinds("Traffic", "[[traffic]]", traffic.KINDS, traffic.TrafficTable),
        "metrics": lambda _: _metrics(),
        "figures": lambda _: _kinds("Figures", "[[figure]]", report_models().figures, FigureModel),
        "tables": _tables,
    }


_TOPOLOGY = topology.TopologyTable


def _keys() -> str:
    """The keys of a file outside its kinds, which have pages of their own."""
    lines = ["# Keys of an experiment file", "", _QUANTITIES, "", _ELSEWHERE, ""]
    lines += ["## At the top", "", *_rows(_keys_of(ExperimentFile))]
    tables: dict[str, type[BaseModel]] = {
        "[run]": RunTable,
        "[[node]]": NodeTable,
        "[[route]]": RouteTable,
        "[[trace]]": TraceTable,
        "[variants]": VariantsTable,
        "[sweep]": SweepTable,
        "[[expect]]": report_models().expect,
    }
    for name, model in tables.items():
        lines += [f"## {name}", "", *_about(model), *_rows(_keys_of(model))]
    lines += [*_kind_sections("[[fault]]", FAULTS, Fault)]
    return "\n".join(lines)


def _kinds(title: str, table: str, found: Models, base: type[BaseModel]) -> str:
    """A page of kinds: the keys of all of them, then each with its own."""
    kinds.activate({})  # those of installed packages, too
    return "\n".join([f"# {title}", "", _QUANTITIES, "", *_kind_sections(table, found, base)])


def _metrics() -> str:
    """The kinds of metrics, and the numbers of every run."""
    page = _kinds("Metrics", "[[metric]]", report_models().metrics, Metric)
    cells = [
        (f"`{name}`", unit_of_name(name), BETTER_NUMBERS.get(name, "")) for name in SUMMARY_NUMBERS
    ]
    lines = [
        "## Numbers of every run",
        "",
        _NUMBERS,
        "",
        *table(("number", "unit", "better"), cells),
    ]
    return "\n".join([page, *lines])


def _kind_sections(table: str, found: Models, base: type[BaseModel]) -> Iterator[str]:
    """The keys of all kinds, then each with its own, unless another before it has the same."""
    shared = [key for key in _keys_of(base) if all(key in _keys_of(one) for one in found.values())]
    yield from (f"## {table}", "", EVERY_KIND, "")
    yield from _rows([Key("kind", None, "one of those below", "Which kind it is."), *shared])
    yield from _inner(base)
    before: dict[tuple[str, ...], str] = {}
    for kind, model in found.items():
        own = [key for key in _keys_of(model) if key not in shared]
        keys = (*_rows(own), *_inner(model, base))
        same = before.setdefault(keys, kind)
        yield from (f"## {kind}", "", *_about(model))
        yield from (f"{SAME_KEYS}`{same}`.", "") if keys and same != kind else keys


def _about(model: type[BaseModel]) -> Iterator[str]:
    """What a model says of itself, its source, and which of its values are better."""
    doc = inspect.cleandoc(model.__doc__ or "").replace("*", r"\*")
    yield from (doc, "")
    if source := getattr(model, "source", ""):
        yield from (f"Source: {source.rstrip('.')}.", "")
    if better := getattr(model, "BETTER", ""):
        yield from (f"{better.capitalize()} is better.", "")


def _keys_of(model: type[BaseModel]) -> list[Key]:
    """The keys that a file may have, those that it must have first."""
    fields = model.model_fields.items()
    keys = [key_of(name, one) for name, one in fields if name != "kind" and not one.exclude]
    return sorted(keys, key=lambda key: key.default is not None)


def _inner(model: type[BaseModel], base: type[BaseModel] | None = None) -> Iterator[str]:
    """The tables inside a model, each below the key that has them, except those of a base."""
    for name, field in model.model_fields.items():
        for inner in models_in(field.annotation):
            if not field.exclude and not (base and name in base.model_fields):
                title = f"### {field.alias or name}"
                yield from (title, "", *_about(inner), *_rows(_keys_of(inner)), *_inner(inner))


def _rows(keys: Sequence[Key]) -> list[str]:
    """A table of keys; nothing without any."""
    if not keys:
        return []
    cells = [(f"`{key.name}`", _default(key), key.allowed, key.help) for key in keys]
    return table(("key", "default", "allowed", "meaning"), cells)


def _default(key: Key) -> str:
    if key.default is None:
        return "*needed*"
    return key.default if key.default == "none" else f"`{key.default}`"


def _tables(paths: Paths) -> str:
    """The tables of runs with their columns."""
    lines = [
        "# Tables",
        "",
        _RECORDED,
        "",
    ]
    for one in recorded_tables(paths):
        every = " Each change is a row, or, with a `period`, each sample." if one.sampled else ""
        about = f"{one.help[:1].upper()}{one.help[1:].rstrip('.')}.{every}"
        cells = [(f"`{column.name}`", column.kind, column.help) for column in one.columns]
        lines += [f"## {one.name}", "", about, "", *table(("column", "type", "meaning"), cells)]
    return "\n".join(lines)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, and an empty one."""
    lines = [heads, ["---"] * len(heads), *(map(_cell, row) for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _cell(text: str) -> str:
    """Return text that is safe in a cell of a Markdown table."""
    return " ".join(text.replace("|", r"\|").replace("<", "&lt;").split())
