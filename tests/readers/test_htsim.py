"""Connection matrices and fat-trees of htsim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyorch.base.findings import Findings
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.readers import arrow, htsim
from pyorch.readers.records import MessageList
from pyorch.traffic import base as traffic
from tests.traffic.test_traffic import MS, STAR, resolve

MATRIX = """Nodes 4
Connections 4
Triggers 2
# two at once, and two when they are done
0->2 id 1 start 1000 size 40000 send_done_trigger 7
1->3 id 2 start 0 size 9000 recv_done_trigger 8
2->0 id 3 trigger 7 size 9000 prio 5 recv_done_trigger 8
3->1 id 4 trigger 8 size 100
trigger id 7 oneshot
trigger id 8 barrier count 2
"""


def test_connections_start_at_times_or_behind_others(tmp_path: Path) -> None:
    """Numbers are h0, h1, ...; a barrier waits for all that set it off."""
    (tmp_path / "m.cm").write_text(MATRIX)
    form, problems = resolve({"kind": "messages", "file": "m.cm"}, folder=tmp_path)
    assert form is not None, problems
    flows = traffic.flows([form], STAR, 1, MS)
    assert flows.sizes.tolist() == [40_000, 9_000, 9_000, 100]
    assert flows.starts.tolist() == [1000, 0, 0, 0]
    assert flows.src.tolist() == [0, 1, 2, 3]
    assert flows.waits is not None
    waits = zip(flows.waits.flows.tolist(), flows.waits.after.tolist(), strict=True)
    assert sorted(waits) == [(2, 0), (3, 1), (3, 2)]


def _many(keys: list[str], count: int = 1500) -> str:
    """A matrix of many connections, each with these keys."""
    numbers = {"id": 1, "start": 7, "size": 3, "prio": 2}
    rows = [
        f"{n % 64}->{(n * 7 + 1) % 64} " + " ".join(f"{key} {n * numbers[key] + 1}" for key in keys)
        for n in range(count)
    ]
    return "\n".join(["# many", "Nodes 64", f"Connections {count}", *rows]) + "\n"


def _read(folder: Path, text: str) -> MessageList:
    def tell(*said: object) -> None:
        raise AssertionError(said)

    (folder / "many.cm").write_text(text)
    found = htsim.messages(folder / "many.cm", "many.cm", tell)
    assert found is not None
    return found


@pytest.mark.parametrize("keys", [["start", "size"], ["id", "prio", "size", "start"]])
@pytest.mark.parametrize("blank", [" ", "\t "])
def test_many_connections_at_once_are_those_read_line_by_line(
    keys: list[str], blank: str, tmp_path: Path
) -> None:
    """Whatever the order of their keys; a comment behind one leaves them to the other reader."""
    text = _many(keys).removeprefix("# many\n")
    fast = arrow.of_connections(text.replace(" ", blank), 2, 64, 1500)
    assert fast is not None
    slow = _read(tmp_path, text + "# end")
    assert (fast.names, fast.left_out) == (slow.names, slow.left_out)
    for column in ("src", "dst", "sizes", "starts", "classes", "lines"):
        assert np.array_equal(getattr(fast, column), getattr(slow, column)), column
        assert np.array_equal(getattr(_read(tmp_path, text), column), getattr(slow, column)), column


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("start 8 ", "start -8 "), ("size 4\n", "size 0\n"), ("start 8 ", "begin 8 "),
        ("1->8", "1 8"), ("1->8", "1->64"), ("start 8 ", "start 8.0 "),
        ("size 4\n", "size 4 prio 3\n"),
        ("start 8 ", "trigger 8 "), ("start 8 ", f"start {10**19} "), ("1->8", "1->8->9"),
    ],
)  # fmt: skip
def test_what_is_no_usual_connection_is_left_to_the_other_reader(old: str, new: str) -> None:
    """What is wrong, and what is rare."""
    text = _many(["start", "size"]).removeprefix("# many\n")
    assert old in text
    assert arrow.of_connections(text.replace(old, new, 1), 2, 64, 1500) is None
    assert arrow.of_connections(text, 2, 64, 1501) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Connections 4", "Connections 5", "4 lines of connections, but it says Connections 5"),
        ("start 1000", "start x", "m.cm: line 5: start x is not read"),
        ("start 1000 ", "", "line 5: a connection needs a size above 0, and either"),
        ("size 100\n", "size\n", "line 8: size is not read"),
        ("0->2", "0->9", "line 5: 0->9, but it says Nodes 4"),
        ("barrier count 2", "oneshot", "trigger 8 is set off by 2 connections"),
        ("trigger id 7 oneshot", "trigger id 7 often", "line 9: 'trigger id 7 often' is not"),
        ("id 7 oneshot", "id 8 oneshot", "line 10: a second trigger 8"),
        ("Triggers 2", "Triggers 2\nFailures 1", "line 4: failures are not read"),
        ("# two", "two", "line 4: 'two at once, and two when they are done' is not a line"),
    ],
)
def test_what_is_no_matrix_is_told_by_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    """With what is allowed."""
    (tmp_path / "m.cm").write_text(MATRIX.replace(old, new, 1))
    form, problems = resolve({"kind": "messages", "file": "m.cm"}, folder=tmp_path)
    assert form is None
    assert said in "\n".join(problems)


TWO = """Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 500
Tier 1
Downlink_speed_Gbps 200
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2
"""
THREE = """nodes 16
tiers 3
podsize 4
tier 0
downlink_speed_gbps 100
radix_down 2
radix_up 2
tier 1
downlink_speed_gbps 100
radix_down 2
radix_up 2
tier 2
downlink_speed_gbps 100
radix_down 4
"""


def _network(folder: Path, text: str, **more: Any) -> tuple[Topology | None, str]:
    (folder / "n.topo").write_text(text)
    findings = Findings("x.toml")
    table = {"kind": "file", "file": "n.topo", "rate": "1Gbps", "delay": "1us", **more}
    found = topology.resolve(table, findings, folder=folder)
    return found and found.network, "\n".join(one.render() for one in findings.problems)


def test_two_tiers_with_bundles(tmp_path: Path) -> None:
    """Each ToR has two links of 200 Gb/s to each of two switches; merged, one of 400 Gb/s."""
    network, problems = _network(tmp_path, TWO)
    assert network is not None, problems
    assert network.rates.tolist().count(200 * 10**9) == 8
    assert {len(links) for links in network.bundles.values()} == {2}
    network, problems = _network(tmp_path, TWO, parallel="merge")
    assert network is not None, problems
    assert len(network.hosts) == 8
    links = zip(network.rates.tolist(), network.delays.tolist(), strict=True)
    assert Counter(links) == {(100 * 10**9, 500_000): 8, (400 * 10**9, 10**6): 4}


def test_three_tiers_are_the_fat_tree_of_four_ports(tmp_path: Path) -> None:
    """The same links as the kind fat_tree, up to the names of its switches."""
    network, problems = _network(tmp_path, THREE)
    assert network is not None, problems
    kind = {"kind": "fat_tree", "k": 4, "rate": "1Gbps", "delay": "1us"}
    own = topology.resolve(kind, Findings("x.toml"))
    assert own is not None

    def links(of: Topology) -> set[frozenset[str]]:
        names = [name.replace("edge", "tor").removeprefix("h") for name in of.names]
        return {frozenset((names[a], names[b])) for a, b in zip(of.a, of.b, strict=True)}

    assert links(network) == links(own.network)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Tiers 2", "Tiers 4", "2 tiers are described, and it says 4"),
        ("Radix_Down 4\nRadix_Up", "Radix_Down 3\nRadix_Up", "do not divide evenly"),
        ("Radix_Up 4\n", "", "tier 0: radix_up is missing"),
        ("Radix_Down 4\nDown", "Radix_Down 5\nDown", "tier 1: radix_down is 5"),
        ("Nodes 8", "Nodes 8\nNodes 8", "line 2: 'Nodes 8' is not read here"),
        ("Nodes 8", "Nodes 80000000", "nodes and links"),
        ("Bundle 2", "Bundles 2", "line 13: 'Bundles 2' is not read here"),
        ("Podsize 8", "Podsize 0.5", "line 3: 'Podsize 0.5' is not read here"),
        ("Nodes 8", "Nodes 9e400", "line 1: 'Nodes 9e400' is not read here"),
        ("Gbps 100", "Gbps 9e400", "line 5: 'Downlink_speed_Gbps 9e400' is not read here"),
    ],
)
def test_what_is_no_fat_tree_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    """By its line or tier."""
    text = TWO.replace(old, new, 1)
    text = text.replace("Podsize 8\n", "") if old in ("Tiers 2", "Nodes 8") else text
    network, problems = _network(tmp_path, text)
    assert network is None
    assert said in problems
