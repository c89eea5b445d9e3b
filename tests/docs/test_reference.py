"""The pages written from the models: every key with its unit, default and meaning, every column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

from pyorch.base.findings import models_in
from pyorch.base.paths import Paths
from pyorch.catalogue.editor import schema_of
from pyorch.catalogue.new_scheme import TEMPLATES, Names, fill
from pyorch.catalogue.reference import reference_pages
from pyorch.catalogue.tables import recorded_tables
from pyorch.files.entries import report_models
from pyorch.files.keys import ExperimentFile
from pyorch.network import topology
from pyorch.setting.attributes import catalogue
from pyorch.setting.canonical import FAULTS
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.strategies import ROOT, SCHEMA

#: A short run; its tables are added.
RECORDED = """
title = "every table"
flow_control = ["pfc", "llr"]
run = { duration = "20us" }
topology = { kind = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"
"""
UNASKED = ("flow", "deadlock_part")
"""Tables that are there without a [[trace]] of their own."""
PAGES = {name: page(Paths(ROOT)) for name, page in reference_pages().items()}
ROW = re.compile(r"^\| `(?P<key>\w+)` \| (?P<default>.+?) \| (?P<allowed>.+?) \| (?P<help>.*) \|$")


def models() -> Iterator[type[BaseModel]]:
    """Every model of a file, and the models inside them."""
    report = report_models()
    registries = (topology.KINDS, traffic.KINDS, FAULTS, report.metrics, report.figures)
    todo: list[type[BaseModel]] = [ExperimentFile, report.expect]
    todo += [model for registry in registries for model in registry.values()]
    seen = set()
    while todo:
        model = todo.pop()
        if model not in seen:
            seen.add(model)
            yield model
            fields = [one for one in model.model_fields.values() if not one.exclude]
            todo += [inner for field in fields for inner in models_in(field.annotation)]


def rows(page: str) -> Iterator[tuple[str, str, str, str]]:
    """Key, default, what is allowed and meaning, of all rows of a page."""
    for line in PAGES[page].splitlines():
        if (match := ROW.match(line)) and match["default"] != "unit":
            yield match["key"], match["default"], match["allowed"], match["help"]


def test_every_key_of_every_model_says_what_it_means() -> None:
    """A new key is explained where it is defined, or the pages would have an empty cell."""
    silent = [
        f"{model.__name__}.{name}"
        for model in models()
        for name, field in model.model_fields.items()
        if not field.description and not field.exclude and name != "kind"
    ]
    assert silent == []


def test_every_key_of_the_schema_is_on_a_page() -> None:
    """All that an editor completes, except attributes of modules, which have pages of their own.

    Keys that are filled in, "derived" and "columns", are nobody's to write.
    """
    schema = schema_of(catalogue(SCHEMA))
    known: dict[str, Any] = schema["$defs"]
    keys = {
        key
        for name, one in known.items()
        if not name.startswith("section-") and name not in ("Derived", "Columns", "NodeTable")
        for key in one.get("properties", {})
        if key not in ("derived", "columns") or name.startswith("figure-")
    }
    keys |= {key for key in schema["properties"] if key in ExperimentFile.model_fields}
    text = "".join(PAGES.values())
    assert len(keys) > 150
    assert [key for key in sorted(keys) if f"| `{key}` |" not in text] == []


@pytest.mark.parametrize("page", ["keys", "topologies", "traffic", "metrics", "figures"])
def test_every_row_has_a_default_and_what_is_allowed(page: str) -> None:
    """Nothing is left open."""
    found = list(rows(page))
    assert found
    assert [row for row in found if not all(cell.strip() for cell in row[:3])] == []
    assert ("rate", "*needed*", 'a rate such as "10Gbps" above 0') in {
        row[:3] for row in rows("topologies")
    }


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("topologies", topology.KINDS),
        ("traffic", traffic.KINDS),
        ("keys", FAULTS),
        ("metrics", report_models().metrics),
        ("figures", report_models().figures),
    ],
)
def test_every_kind_has_a_heading(page: str, kinds: dict[str, type[BaseModel]]) -> None:
    """By which the site's search, and links, find it."""
    assert [kind for kind in kinds if f"\n## {kind}\n" not in PAGES[page]] == []


def test_a_default_is_that_of_the_model() -> None:
    """In the spelling of a file."""
    traffic_keys = {row[:2] for row in rows("traffic")}
    assert {("start", '`"0s"`'), ("workload", "*needed*"), ("start", "none")} <= traffic_keys
    assert dict(row[:2] for row in rows("keys"))["deadlock_test"] == '`"100us"`'


def test_every_column_of_every_table_is_explained() -> None:
    """Those of the modules' sources, inherited and common ones too."""
    found = {table.name: table for table in recorded_tables(Paths(ROOT))}
    silent = [
        f"{table.name}.{column.name}"
        for table in found.values()
        for column in table.columns
        if not column.help or not column.kind
    ]
    assert silent == []
    names = {name: [column.name for column in one.columns] for name, one in found.items()}
    assert names["queue"] == ["time_ps", "node", "peer", "class", "bytes"]
    assert names["deadlock_part"][:3] == ["episode", "part", "order"]
    assert found["queue"].sampled
    assert not found["drop"].sampled


def test_the_table_of_a_module_of_ones_own_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `invoke new-scheme --kind table` writes it."""
    folder = tmp_path / "long-wait"
    (folder / "model").mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text("build_lib(\n  LIBNAME long-wait\n)\n")
    template = (TEMPLATES / "table" / "table.cc").read_text(encoding="utf-8")
    text = fill(template, Names("long-wait").words("table", 0))
    (folder / "model" / "table.cc").write_text(text)
    monkeypatch.setenv("PYORCH_MODULE_PATH", str(tmp_path))
    (own,) = (one for one in recorded_tables(Paths(ROOT)) if "waited" in one.help)
    assert [column.name for column in own.columns] == [
        *("time_ps", "node", "peer", "class", "flow", "waited_ps")
    ]
    assert all(column.help for column in own.columns)


def test_a_table_of_a_source_is_read(tmp_path: Path) -> None:
    """A parent's columns first, the common ones with their common meaning, one with its own."""
    folder = tmp_path / "ns3-modules" / "m" / "helper"
    folder.mkdir(parents=True)
    (folder.parent / "CMakeLists.txt").write_text("build_lib(\n  LIBNAME m\n)\n")
    (folder / "m-probe.cc").write_text(
        """
/// Leading columns.
void
PortColumns::Open(Table& table)
{
    // when
    m_time = table.Add<int64_t>("time_ps");
    // which
    m_node = table.Add<uint32_t>("node");
    // to
    m_peer = table.Add<uint32_t>("peer");
    // priority
    m_cls = table.Add<uint8_t>("class");
}

/// What two tables share.
class BytesProbe : public observe::SampledProbe
{
    void Open(Fabric&, Table& table) override
    {
        m_columns.Open(table);
        // waiting
        m_bytes = table.Add<int64_t>("bytes");
    }
};

/// "heap": a heap
/// of bytes.
class HeapProbe : public BytesProbe
{
    void Open(Fabric& fabric, Table& table) override
    {
        // -1: not
        // yet
        m_end = table.Add<double>("end");
    }
};
"""
    )
    (heap,) = recorded_tables(Paths(tmp_path))
    assert (heap.name, heap.help, heap.sampled) == ("heap", "a heap of bytes.", True)
    assert [(one.name, one.kind, one.help) for one in heap.columns] == [
        ("time_ps", "int64", "when"),
        ("node", "uint32", "which"),
        ("peer", "uint32", "to"),
        ("class", "uint8", "priority"),
        ("bytes", "int64", "waiting"),
        ("end", "double", "-1: not yet"),
    ]


@pytest.mark.cpp
def test_the_columns_are_those_of_a_run(tmp_path: Path) -> None:
    """Names and types of every table, in their order, as the simulator writes them."""
    with_several_links = {"src_link", "dst_link"}  # of hosts, which this run has not
    told = {
        table.name: [
            (column.name, column.kind)
            for column in table.columns
            if column.name not in with_several_links
        ]
        for table in recorded_tables(Paths(ROOT))
    }
    asked = "".join(f'[[trace]]\ntable = "{name}"\n' for name in told if name not in UNASKED)
    done, results = run(tmp_path, RECORDED + asked)
    assert done.returncode == 0, done.stderr
    files = {file.stem: file for file in results.rglob("runs/*/*.parquet")}
    written = {
        name: [(column.name, str(column.type)) for column in pq.read_schema(file)]
        for name, file in files.items()
    }
    assert written == told
