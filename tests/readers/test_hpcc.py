"""Text files of the HPCC simulator's family: every dialect gives the network that is meant."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.fields import encode
from pyorch.base.findings import Findings
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.readers import arrow, hpcc
from pyorch.traffic import base as traffic
from pyorch.traffic import workloads
from pyorch.traffic.messages import LONG

SECOND = 10**12
PYTHON = re.compile(r"Error\b|Traceback|object at 0x")


def _network(folder: Path, text: str, **more: Any) -> tuple[Topology | None, list[str]]:
    (folder / "topology.txt").write_text(text, encoding="utf-8")
    findings = Findings("x.toml")
    table = {"kind": "file", "file": "topology.txt", "rate": "1Gbps", "delay": "1us", **more}
    found = topology.resolve(table, findings, folder=folder)
    return found and found.network, [problem.render() for problem in findings.problems]


def _links(network: Topology) -> set[tuple[str, str, int, int]]:
    ends = zip(network.a, network.b, network.rates, network.delays, strict=True)
    names = network.names
    return {(*sorted((names[a], names[b])), int(rate), int(delay)) for a, b, rate, delay in ends}


HEADS = {
    "three numbers": ("4 1 3\n3\n", "25Gbps", "0.002ms"),
    "four, bare rates": ("4 1 1 3\n3\n", "25000000000.0", "2000ns"),
    "six, bare rates": ("4 1 1 3 25000000000 100000000000\n3\n", "25000000000", "2us"),
    "ids over several lines": ("4 1 3\n\n\n 3\n\n", "25Gbps", "2us"),
}


@pytest.mark.parametrize("head", HEADS)
def test_every_head_gives_the_same_network(head: str, tmp_path: Path) -> None:
    """Three hosts on switch 3; what follows the counted links is free text."""
    first, rate, delay = HEADS[head]
    links = "".join(f"{host} 3 {rate} {delay} 0\n" for host in range(3))
    network, problems = _network(tmp_path, f"{first}{links}\nlinks: src dst rate delay error\n")
    assert not problems
    assert network is not None
    assert network.names == ("0", "1", "2", "3")
    assert network.kinds.tolist() == [0, 0, 0, 1]
    assert _links(network) == {(str(host), "3", 25 * 10**9, 2 * 10**6) for host in range(3)}


@given(st.integers(2, 6), st.integers(1, 4), st.integers(1, 5), st.integers(1, 9))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_leaves_and_spines_come_back(
    tmp_path: Path, leaves: int, spines: int, hosts: int, rate: int
) -> None:
    """Counts and every link of a leaf-spine, computed apart."""
    total = leaves * hosts
    nodes = total + leaves + spines
    links = [(host, total + host // hosts, rate, 1) for host in range(total)]
    links += [
        (total + leaf, total + leaves + spine, 4 * rate, 2)
        for leaf in range(leaves)
        for spine in range(spines)
    ]
    lines = [f"{nodes} {leaves + spines} {len(links)}", " ".join(map(str, range(total, nodes)))]
    lines += [f"{a} {b} {speed}Gbps {delay}us 0" for a, b, speed, delay in links]
    network, problems = _network(tmp_path, "\n".join(lines))
    assert not problems
    assert network is not None
    assert len(network.hosts) == total
    assert len(network.names) == nodes
    assert _links(network) == {
        (*sorted((str(a), str(b))), speed * 10**9, delay * 10**6) for a, b, speed, delay in links
    }


SIMAI = """7 2 2 1 {links} H100
4 5 6
0 4 1440Gbps 0.000025ms 0
1 4 1440Gbps 0.000025ms 0
2 5 1440Gbps 0.000025ms 0
3 5 1440Gbps 0.000025ms 0
"""


def test_nvswitches_are_the_domain_of_each_server(tmp_path: Path) -> None:
    """A GPU reaches another of its server over two links of 25 ns, at the rate of one."""
    nics = "".join(f"{gpu} 6 200Gbps 0.0005ms 0\n" for gpu in range(4))
    network, problems = _network(tmp_path, SIMAI.format(links=8) + nics)
    assert not problems
    assert network is not None
    assert network.names == ("0", "1", "2", "3", "6")
    assert network.server_size == 2
    assert network.scale_up == (1440 * 10**9, 50_000)
    assert _links(network) == {(str(gpu), "6", 200 * 10**9, 500_000) for gpu in range(4)}


TWO_SWITCHES = "5 2 6\n3 4\n" + "".join(
    f"{host} {switch} 100Gbps 1us 0\n" for host in range(3) for switch in (3, 4)
)


def test_a_host_may_have_several_links(tmp_path: Path) -> None:
    """It stays one host, with all of them."""
    network, problems = _network(
        tmp_path, TWO_SWITCHES.replace("5 2 6", "5 2 7") + "3 4 1Gbps 1us 0\n"
    )
    assert not problems
    assert network is not None
    assert network.names == ("0", "1", "2", "3", "4")
    assert [network.neighbours(host) for host in "012"] == [["3", "4"]] * 3


WRONG = [
    ("", "line 1: it does not begin like a network"),
    ("4 1\n3\n", "line 1: it does not begin like a network"),
    ("x 1 3\n3\n", "line 1: it does not begin like a network"),
    ("99999999 1 3\n3\n", "100,000"),
    ("4 1 3\n3 2\n0 3 1Gbps 1us 0\n", "line 2: 2 ids of switches where 1 are to come"),
    ("4 1 3\n4\n", "line 2: '4' is not the id of a further switch"),
    ("4 2 3\n3 3\n", "line 2: '3' is not the id of a further switch"),
    ("4 1 3\n3\n0 3 1Gbps 1us 0\n", "1 links, but its first line says 3"),
    ("4 1 3\n3\n0 3 1Gbps 1us\n", "line 3: a link has five values, here are 4"),
    ("4 1 3\n3\n0 7 1Gbps 1us 0\n", "line 3: there is no node '7'"),
    ("4 1 3\n3\n0 3 1Gbps 1us 1.5\n", "line 3: the error rate of the link is '1.5'"),
    (
        SIMAI.format(links=4).replace("ms 0", "ms 0.1", 1),
        "line 3: an NVSwitch has a link that loses",
    ),
    ("4 1 3\n3\n0 3 1Gbps 1us 0\n1 3 1Gfps 1us 0\n2 3 1Gbps 1us 0\n", "line 4: rate: '1Gfps'"),
    ("4 1 3\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1 0\n2 3 1Gbps 1us 0\n", "line 4: delay: '1' lacks"),
    (SIMAI.format(links=4), "hosts"),
    (SIMAI.format(links=5) + "6 4 1Gbps 1us 0\n", "line 7: an NVSwitch is linked to a switch"),
    (SIMAI.format(links=5) + "0 5 1Gbps 1us 0\n", "NVSwitch 5 joins GPUs of 2 servers"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_no_network_is_told_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    """With the file, in plain words."""
    network, problems = _network(tmp_path, text)
    assert network is None
    assert said in "\n".join(problems)
    assert all("topology.txt" in problem for problem in problems)
    assert not PYTHON.search("".join(problems))


# ---------------------------------------------------------------------------------------------
# Flows


STAR = "9 1 8\n8\n" + "".join(f"{host} 8 100Gbps 1us 0\n" for host in range(8))


def _flows(
    folder: Path, text: str, table: str = STAR, **more: Any
) -> tuple[traffic.TrafficTable | None, traffic.Flows | None, list[str]]:
    network, problems = _network(folder, table)
    assert network is not None, problems
    (folder / "flow.txt").write_text(text, encoding="utf-8")
    findings = Findings("x.toml")
    scene = traffic.Scene(network, folder, folder, 4 * SECOND)
    entry = {"kind": "messages", "file": "flow.txt", **more}
    found = traffic.resolve(entry, findings, ("traffic", "0"), scene)
    told = [problem.render() for problem in findings.problems]
    return found, found and traffic.flows([found], network, 1, 4 * SECOND), told


def test_flows_are_read_to_the_picosecond(tmp_path: Path) -> None:
    """Six columns, or five as ConWeave writes them; text behind the counted lines is free."""
    for port in ("100 ", ""):
        rows = f"2\n0 2 3 {port}64000 0.002\n1 2 1 {port}9000 2.000000123456\n\nfirst: how many\n"
        _, flows, problems = _flows(tmp_path, rows)
        assert not problems
        assert flows is not None
        assert flows.src.tolist() == [0, 1]
        assert flows.dst.tolist() == [2, 2]
        assert flows.classes.tolist() == [3, 1]
        assert flows.sizes.tolist() == [64_000, 9_000]
        assert flows.starts.tolist() == [2 * 10**9, 2 * SECOND + 123_456]


def test_many_flows_are_kept_as_columns(tmp_path: Path) -> None:
    """With the same flows as a list, and a summary instead of a line for each."""
    random = np.random.default_rng(1)
    count = LONG + 1
    src = random.integers(0, 8, count)
    dst = (src + random.integers(1, 8, count)) % 8
    sizes, starts = random.integers(1, 10**6, count), random.integers(0, 10**9, count)
    rows = zip(src.tolist(), dst.tolist(), sizes.tolist(), starts.tolist(), strict=True)
    lines = [
        f"{a} {b} 3 100 {size} {start // 10**9}.{start % 10**9:09}" for a, b, size, start in rows
    ]
    entry, flows, problems = _flows(tmp_path, f"{count}\n" + "\n".join(lines))
    assert not problems
    assert entry is not None
    assert flows is not None
    assert np.array_equal(flows.src, src)
    assert np.array_equal(flows.dst, dst)
    assert np.array_equal(flows.sizes, sizes)
    assert np.array_equal(flows.starts, starts * 1000)
    shown = type(entry).shown(encode(entry))["columns"]
    assert shown["count"] == "1,001"
    assert shown["busiest sender"].startswith(f"{np.bincount(src, weights=sizes).argmax()}, ")


@pytest.mark.parametrize("columns", [5, 6])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_many_flows_at_once_are_those_read_line_by_line(
    columns: int, end: str, tmp_path: Path
) -> None:
    """Also with a start of 12 digits, without any, and with lines behind those that count."""
    port = "100 " if columns == 6 else ""
    lines = [
        f"{n % 7} {7 + n % 3} {n % 8} {port}{n + 1} {n}{('', '.', '.000000000001')[n % 3]}"
        for n in range(1500)
    ]
    text = (end or "\n").join(["1400", *lines]) + end

    def tell(*said: object) -> None:
        raise AssertionError(said)

    fast = arrow.of_flows(text, 1400)
    assert fast is not None
    blanks = arrow.of_flows(text.replace(" ", " \t ").replace("\n", " \n  "), 1400)
    assert blanks is not None
    assert np.array_equal(blanks.starts, fast.starts)
    assert blanks.names == fast.names
    (tmp_path / "flow.txt").write_text(text.replace("1400", "1400 ", 1) + "\n#")
    slow = hpcc.messages(tmp_path / "flow.txt", "flow.txt", tell)
    assert slow is not None
    assert (fast.names, fast.left_out) == (slow.names, slow.left_out)
    assert fast.left_out == ["100 flows more than the 1400 that the first line says"]
    for column in ("src", "dst", "sizes", "starts", "classes", "lines"):
        assert np.array_equal(getattr(fast, column), getattr(slow, column)), column


@pytest.mark.parametrize(
    "line",
    [
        "0 1 3 100 5 1.0000000000001", "0 1 8 100 5 1", "0 1 3 100 0 1",
        "0 1 3 5 1", "0 1 3 100 5 1e3", "0 1 3 100 9999999999999999 1", "0 1 3 100 5 9999999",
        "200000 1 3 100 5 1", "0 1 3 100 5 1 7", "0 1.5 3 100 5 1", "",
    ],
)  # fmt: skip
def test_what_is_no_usual_flow_is_left_to_the_other_reader(line: str) -> None:
    """What needs rounding, and what is wrong."""
    usual = "0 1 3 100 5 1\n" * 3
    assert arrow.of_flows(f"6\n{usual}{usual}", 6) is not None
    assert arrow.of_flows(f"7\n{usual}{line}\n{usual}", 7) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: it begins with ''"),
        ("0 1 3 100 5 2\n", "line 1: it begins with '0 1 3 100 5 2'"),
        ("99999999999\n", "at most 5,000,000"),
        ("2\n0 1 3 100 5 2\n", "1 flows, but its first line says 2"),
        ("1\n0 1 3\n", "line 2: a flow has five or six values, here are 3"),
        ("1\n0 x 3 100 5 2\n", "line 2: '0 x' are not two nodes"),
        ("1\n0 1 9 100 5 2\n", "line 2: class '9' is not one of 0 to 7"),
        ("1\n0 1 3 100 0 2\n", "line 2: '0' is not a size"),
        ("1\n0 1 3 100 5 1e99\n", "line 2: '1e99' is not a start"),
        ("1\n0 1 3 100 5 9\n", "at or after the end of the run"),
        ("1\n0 0 3 100 5 1\n", "line 2: dst: 0 sends to itself"),
        ("1\n0 8 3 100 5 1\n", "line 2: dst: '8' is a switch"),
    ],
)
def test_what_are_no_flows_is_told_by_their_line(text: str, said: str, tmp_path: Path) -> None:
    """With the file, in plain words."""
    entry, _, problems = _flows(tmp_path, text)
    assert entry is None
    assert said in "\n".join(problems)


@pytest.mark.parametrize("ending", ["0 0 3 1 5 1\n", "0 8 3 1 5 1\n", "0 1 3 1 5 9\n"])
def test_mistakes_among_many_flows_are_told_once(ending: str, tmp_path: Path) -> None:
    """With the line of the first, and how many more there are."""
    lines = "0 1 3 100 5 1\n" * LONG + ending * 3
    entry, _, problems = _flows(tmp_path, f"{LONG + 3}\n{lines}")
    assert entry is None
    (told,) = problems
    assert told.startswith(f"flow.txt: line {LONG + 2}: ")
    assert "and 2 more" in told


# ---------------------------------------------------------------------------------------------
# Distributions


def _mean(points: list[tuple[float, float]]) -> float:
    """The mean of a distribution that is linear between its points, by hand."""
    first = points[0][0] * points[0][1]
    between = itertools.pairwise(points)
    return first + sum((a + b) / 2 * (q - p) for (a, p), (b, q) in between)


CURVES = {
    "percent": ("0 0\n4000 22.93\n2000000 100", [(0, 0), (4000, 0.2293), (2_000_000, 1)], 1),
    "shares, with commas": ("0,0\n9,0.5\n9,0.7\n90,1", [(0, 0), (9, 0.5), (9, 0.7), (90, 1)], 1),
    "mean, point mass": ("500.0\n3 0.06\n32 0.10\n1000 1\n", [(3, 0.06), (32, 0.1), (1000, 1)], 1),
    "packets": ("1 0.25\n10 1\n", [(1460, 0.25), (14600, 1)], 1460),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_distributions_of_every_dialect(name: str, tmp_path: Path) -> None:
    """Their means are those computed by hand; a first share above 0 is a point mass."""
    text, points, unit = CURVES[name]
    (tmp_path / "d.txt").write_text(text, encoding="utf-8")
    found = workloads.load(tmp_path / "d.txt", unit)
    assert found.mean() == pytest.approx(_mean(points), rel=1e-12)
    below = found.quantile(np.array([0.0, points[0][1] / 2, 1.0]))
    assert below.tolist() == [max(1, round(points[0][0]))] * 2 + [points[-1][0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 0\n5\n10 1\n", "line 2: 1 values, where a size and a share"),
        ("0 0\n10 60\n5 100\n", "line 3: falls below the line before"),
        ("0 0\n10 0.5\n", "line 2: the last point has a cumulative share of 0.5"),
        ("0 0\n10 140\n", "line 2: not a size and a share"),
        ("0 0\nnan 1\n", "line 2: not a size and a share"),
    ],
)
def test_what_is_no_distribution_is_told_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    """As for files with a header."""
    (tmp_path / "d.txt").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        workloads.load(tmp_path / "d.txt")
    assert said in caught.value.render()
