"""Paths too long for the telemetry of frames: refused, or said before the run and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.build.schema import AttributeInfo, TypeInfo
from pyorch.files.load import load_experiment
from pyorch.network import topology
from pyorch.network.cycles import ShortestPaths
from pyorch.plan import expand
from pyorch.remarks.routes import scenes_of
from pyorch.remarks.telemetry import of_detours
from pyorch.run.simulate import _with_keys
from pyorch.setting.attributes import catalogue
from pyorch.setting.telemetry import longest_path
from pyorch.traffic import base as traffic

PROJECT = Paths(Path(__file__).resolve().parents[2])
CONTROL = "ns3::rdma::CongestionControl"
TYPES = [
    TypeInfo(CONTROL, "ns3::Object", "rdma", abstract=True),
    TypeInfo("ns3::x::Int", CONTROL, "x", abstract=False, telemetry=True),
    TypeInfo("ns3::x::Plain", CONTROL, "x", abstract=False),
    TypeInfo(
        "ns3::rdma::QueuePair",
        "ns3::Object",
        "rdma",
        abstract=False,
        attributes=[AttributeInfo("TelemetryHops", "", "ns3::UintegerValue", "5", "uint32_t 1:15")],
    ),
]
BASE = """
title = "Telemetry"
congestion_control = "{control}"
[run]
duration = "4ms"
seeds = {seeds}
[topology]
kind = "{kind}"
switches = {switches}
rate = "100Gbps"
delay = "500ns"
{links}
[queue_pair]
{room}
[[traffic]]
kind = "greedy"
{traffic}
"""


def text_of(traffic: str, **changes: Any) -> str:
    """An experiment with a host on every switch, by default of a line of 20."""
    known = {"control": "int", "kind": "line", "switches": 20, "links": "", "room": "", "seeds": 1}
    return BASE.format(**known | changes, traffic=traffic)


def problems(folder: Path, text: str) -> list[str]:
    """What is refused: place, problem, allowed, hint."""
    file = folder / "x.toml"
    file.write_text(text)
    try:
        load_experiment(str(file), schema=TYPES, paths=PROJECT)
    except UserError as error:
        return [f"{one.where}|{one.what}|{one.allowed}|{one.hint}" for one in error.problems]
    return []


def to(host: int) -> str:
    """A flow from h0."""
    return f'src = "h0"\ndst = "h{host}"'


@pytest.mark.parametrize(
    ("host", "room", "control", "refused"),
    [
        (4, 0, "int", False),  # 5 switches, as many as by default
        (5, 0, "int", True),
        (5, 0, "plain", False),
        (5, 0, "", False),
        (6, 6, "int", True),
        (6, 7, "int", False),
        (14, 15, "int", False),
    ],
)
def test_a_path_with_more_switches_than_room_is_refused(
    host: int, room: int, control: str, refused: bool, tmp_path: Path
) -> None:
    """Where the file is read, by the key to set; without telemetry any path will do."""
    key = f"telemetry_hops = {room}" if room else ""
    found = problems(tmp_path, text_of(to(host), room=key, control=control))
    switches = host + 1
    text = (
        f"{tmp_path / 'x.toml'}: queue_pair.telemetry_hops|the path from h0 to h{host} passes "
        f"{switches} switches, but frames have room for the telemetry of {room or 5}|"
        f"{switches} to 15|set queue_pair.telemetry_hops = {switches}, or shorten the path"
    )
    assert found == ([text] if refused else [])


def test_a_path_that_no_frame_has_room_for(tmp_path: Path) -> None:
    """Then the key does not help."""
    (found,) = problems(tmp_path, text_of(to(15), room="telemetry_hops = 15"))
    assert "passes 16 switches" in found
    assert "|paths of at most 15 switches|shorten the path, or choose" in found


def test_fixed_paths_count_with_their_length(tmp_path: Path) -> None:
    """Around a ring of six the long way has six switches, the short one two."""
    ring: dict[str, Any] = {"kind": "ring", "switches": 6}
    around = "h0 " + " ".join(f"s{n}" for n in (0, 5, 4, 3, 2, 1)) + " h1"
    assert problems(tmp_path, text_of(to(1), **ring)) == []
    (found,) = problems(tmp_path, text_of(f'{to(1)}\npath = "{around}"', **ring))
    assert "the path from h0 to h1 passes 6 switches" in found


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "fat_tree", "k": 4},
        {"kind": "ring", "switches": 9},
        {"kind": "ring", "switches": 9, "failed_links": [["s0", "s1"]]},
        {"kind": "line", "switches": 7, "hosts_per_switch": 2},
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_longest_path_is_that_of_a_search(network: dict[str, Any], seed: int) -> None:
    """Of permutations; networkx searches each flow's way."""
    findings = Findings("x")
    found = topology.resolve({**network, "rate": "10Gbps", "delay": "1us"}, findings)
    assert found is not None
    graph = nx.Graph()
    for link, (a, b) in enumerate(zip(found.network.a, found.network.b, strict=True)):
        if link not in found.network.failed_links:
            graph.add_edge(int(a), int(b))
    entry = {"kind": "permutation", "random": True, "size": "1KB"}
    scene = traffic.Scene(found.network, PROJECT.root, PROJECT.workloads, 10**9, 1000, 48)
    table = traffic.resolve(entry, findings, ("traffic", "0"), scene)
    assert table is not None, findings.problems
    flows = traffic.flows([table], found.network, seed, 10**9)
    ends = list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))
    lengths = {pair: nx.shortest_path_length(graph, *pair) - 1 for pair in ends}
    longest = longest_path(found.network, flows, ShortestPaths.of(found.network))
    assert longest.switches == max(lengths.values())
    assert lengths[longest.src, longest.dst] == longest.switches


RING = {"kind": "ring", "switches": 8}
FAILS = 'failures = [{ link = ["s0", "s1"], down = "1ms", up = "3ms" }]'


def detours(folder: Path, text: str) -> list[str]:
    """The remarks on paths that become too long."""
    file = folder / "x.toml"
    file.write_text(text)
    specs = expand(load_experiment(str(file), schema=TYPES, paths=PROJECT))
    return [one.text for one in of_detours(scenes_of(specs), specs, catalogue(TYPES))]


def test_a_failure_that_leads_past_more_switches_than_room_is_said(tmp_path: Path) -> None:
    """Around a ring of eight the long way has eight switches; only where frames have telemetry."""
    text = (
        "in the run: from 1ms on the path from h0 to h1 passes 8 switches, more than "
        "queue_pair.telemetry_hops = 5: the others are not measured; set "
        "queue_pair.telemetry_hops = 8"
    )
    assert detours(tmp_path, text_of(to(1), **RING, links=FAILS)) == [text]
    assert detours(tmp_path, text_of(to(1), **RING, links=FAILS, control="plain")) == []
    enough = text_of(to(1), **RING, links=FAILS, room="telemetry_hops = 8")
    assert detours(tmp_path, enough) == []


def test_a_failure_that_no_long_way_avoids_is_not_said(tmp_path: Path) -> None:
    """Flows that end before, begin after, or do not pass the link have their short ways."""
    for keys in ('stop = "1ms"', 'start = "3ms"'):
        assert detours(tmp_path, text_of(f"{to(1)}\n{keys}", **RING, links=FAILS)) == [], keys
    other = 'src = "h2"\ndst = "h4"'
    assert detours(tmp_path, text_of(other, **RING, links=FAILS)) == []
    variants = "[variants.A]\n[variants.B]\ncongestion_control = 'plain'\n"
    both = text_of(to(1), **RING, links=FAILS) + variants
    (found,) = detours(tmp_path, both)
    assert found.startswith("in 1 of 2 runs (A): ")


def test_modules_name_attributes_as_files_do() -> None:
    """Whatever a module says of an attribute of a type comes with its key."""
    said = "raise TelemetryHops of ns3::rdma::QueuePair, or RefreshAt of ns3::pfc::Pfc"
    assert _with_keys(said) == "raise queue_pair.telemetry_hops, or pfc.refresh_at"
    for same in ("paths of ns3 are long", "DCQCN: CutOn Timer", "a queue of s0:h0"):
        assert _with_keys(same) == same
