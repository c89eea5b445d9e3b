"""Runs and their parts from canonical forms, as spec.json has them, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyorch.base.fields import decode
from pyorch.network import topology
from pyorch.network.topology import Topology, TopologyTable
from pyorch.plan import RunSpec
from pyorch.setting.canonical import RunSection, Setting, Trace, encode
from pyorch.setting.experiment import Point
from pyorch.traffic import base as traffic
from pyorch.traffic.base import TrafficTable

STAR = {"kind": "star", "hosts": 2, "rate_bps": 10**10, "delay_ps": 10**6}
RUN = {"duration_ps": 10**9}


def form(one: Point | RunSpec | Setting) -> dict[str, Any]:
    """The canonical form of a point, a run or a setting."""
    if isinstance(one, RunSpec):
        return one.to_data()
    return encode(one.setting if isinstance(one, Point) else one)


def run_of(data: Mapping[str, Any]) -> RunSpec:
    """The run of a canonical form, of which most may be left out."""
    parts = {"schema": 1, "experiment": "x", "run": RUN, "topology": STAR, "traffic": []}
    return RunSpec.from_json(json.dumps({**parts, "seed": 1, "metrics": [], **data}))


def setting_of(data: Mapping[str, Any]) -> Setting:
    """The setting of a canonical form, of which most may be left out."""
    return run_of(data).setting


def section(**keys: Any) -> RunSection:
    """The run section of canonical keys."""
    return decode(RunSection, {**RUN, **keys})


def topology_of(table: Mapping[str, Any]) -> TopologyTable:
    """The topology of a canonical form."""
    return decode(topology.KINDS[table["kind"]], table)


def network_of(table: Mapping[str, Any]) -> Topology:
    """The network of the canonical form of a topology."""
    return topology.build(topology_of(table))


def entries_of(tables: Sequence[Mapping[str, Any]]) -> list[TrafficTable]:
    """The traffic of canonical forms."""
    return [decode(traffic.KINDS[table["kind"]], table) for table in tables]


def traces_of(tables: Sequence[Mapping[str, Any]]) -> list[Trace]:
    """The traces of canonical forms."""
    return [decode(Trace, table) for table in tables]
