"""What makes a scheme useless is said before the run: just below a bound, and not just above it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pyorch import (
    Greedy,
    Incast,
    Messages,
    Run,
    Star,
    Study,
)
from pyorch.config.cycles import ShortestPaths
from pyorch.config.topology import Topology
from pyorch.paths import Paths
from pyorch.remarks.layers import Layers
from pyorch.theory import time_of
from tests.forms import network_of

ROOT = Path(__file__).resolve().parents[1]
MS, US = 10**9, 10**6


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """This project with results of its own."""
    monkeypatch.delenv("PYORCH_MODULE_PATH", raising=False)
    return Paths(ROOT, tmp_path / "results")


def study(paths: Paths, **more: Any) -> Study:
    """A flow from h0 to h1 through a switch at 25 Gb/s, with PFC."""
    return Study(
        **{
            "name": "mine",
            "title": "Mine",
            "topology": Star(hosts=2, rate="25Gbps", delay="1us"),
            "traffic": Messages(messages=[{"src": "h0", "dst": "h1", "size": "10KB"}]),
            "run": Run(duration="1ms"),
            "flow_control": ["pfc"],
            "paths": paths,
            **more,
        }
    )


def said(paths: Paths, **more: Any) -> list[str]:
    """The remarks on the plan of a study."""
    return study(paths, **more).remarks


def about(remarks: list[str], word: str) -> list[str]:
    """The remarks that have a word."""
    return [remark for remark in remarks if word in remark]


# ---------------------------------------------------------------------------------------------
# Round trips


def base_rtt(rate: int, delay: int, payload: int = 1000) -> int:
    """The base round trip [ps] through one switch: two links there and two back."""
    return 4 * delay + 2 * time_of(payload + 48 + 20, rate) + 2 * time_of(64 + 20, rate)


@pytest.mark.parametrize("payload", [1000, 300])
@pytest.mark.parametrize("above", [-1, 1])
def test_a_timeout_below_the_base_round_trip_resends_what_was_not_lost(
    paths: Paths, above: int, payload: int
) -> None:
    """What the simulator does and what is said before change at the same picosecond."""
    rtt = base_rtt(25 * 10**9, 2 * US, payload)
    one = study(
        paths,
        topology=Star(hosts=2, rate="25Gbps", delay="2us"),
        traffic=Messages(messages=[{"src": "h0", "dst": "h1", "size": f"{payload}B"}]),
        queue_pair={"timeout": f"{rtt + above}ps"},
        run=Run(duration="1ms", stop_when_done="acked"),
    )
    found = about(one.remarks, "queue_pair.timeout")
    assert len(found) == (above < 0)
    assert all("from h0 to h1" in text for text in found)
    resent = int(one.run(jobs=1, progress=False).table("flow")["retransmitted_bytes"].sum())
    assert (resent > 0) == (above < 0)


def test_each_timeout_is_held_against_the_longest_path(paths: Paths) -> None:
    """Of a setting, and of each of several; without loss recovery there is none."""
    rtt = base_rtt(25 * 10**9, MS)
    far = {"topology": Star(hosts=2, rate="25Gbps", delay="1ms"), "run": Run(duration="9ms")}
    for name in ("timeout", "short_timeout"):
        for time, count in ((rtt - 1, 1), (rtt + 1, 0)):
            values = {"timeout": "1s", name: f"{time}ps"}
            assert len(about(said(paths, **far, queue_pair=values), f"{name} 4 ms")) == count
    values = {"timeout": "1ms", "retransmit": "none"}
    assert about(said(paths, **far, queue_pair=values), "timeout") == []
    swept = study(paths, **far).sweep("queue_pair.timeout", ["1ms", "2ms", "5ms"])
    (text,) = about(swept.remarks, "timeout")
    assert text.startswith("warning:    in 2 of 3 runs (queue_pair.timeout=1ms, queue_pair.timeo")
    assert ", at worst: queue_pair.timeout 1 ms is not above the base round trip of 4 ms" in text


@pytest.mark.parametrize(
    ("high", "low", "label"), [(-1, -2, "warning"), (1, -1, "note"), (2, 1, "")]
)
def test_timely_whose_round_trips_are_all_too_long(
    paths: Paths, high: int, low: int, label: str
) -> None:
    """Above high_rtt every sample cuts; above low_rtt only the gradient raises."""
    rtt = base_rtt(25 * 10**9, 100 * US)
    found = said(
        paths,
        topology=Star(hosts=2, rate="25Gbps", delay="100us"),
        congestion_control="timely",
        timely={"high_rtt": f"{rtt + high}ps", "low_rtt": f"{rtt + low}ps"},
    )
    found = about(found, "timely.")
    assert len(found) == bool(label)
    assert all(text.startswith(f"{label}:") for text in found)
    assert all('timely.min_rtt = "0us"' in text for text in found)


@pytest.mark.parametrize("control", ["hpcc", "dctcp", "theta-power-tcp"])
def test_a_base_round_trip_given_too_short(paths: Paths, control: str) -> None:
    """A window of T fills T of the path's time; 95 % of it is what HPCC aims at."""
    rtt = base_rtt(25 * 10**9, 10 * US)
    for share, count in ((0.94, 1), (0.96, 0)):
        found = said(
            paths,
            topology=Star(hosts=2, rate="25Gbps", delay="10us"),
            congestion_control=control,
            agents=["ecn-marking"],
            **{control: {"base_rtt": f"{int(rtt * share)}ps"}},
        )
        assert len(about(found, f"{control}.base_rtt")) == count


def test_a_target_of_swift_that_an_idle_path_exceeds(paths: Paths) -> None:
    """With the window that fills the path; what is to be set is just enough."""
    rtt = base_rtt(25 * 10**9, 100 * US)
    for target, count in ((rtt - 1, 1), (rtt + 1, 0)):
        found = said(
            paths,
            topology=Star(hosts=2, rate="25Gbps", delay="100us"),
            congestion_control="swift",
            swift={"base_target": f"{target}ps", "hop_target": "0us", "flow_range": "0us"},
        )
        assert len(about(found, "swift.base_target")) == count
    hosts = {"host": {"latency": "30us"}}
    near = {"congestion_control": "swift", **hosts}
    assert about(said(paths, **near, swift={"endpoint_target": "90us"}), "swift.endpoint_target")
    assert said(paths, **near, swift={"endpoint_target": "91us"}) == []


def network_of_random_links(seed: int) -> Topology:
    """A random network of 6 switches with a host each and various delays."""
    random = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(6, 0.5, seed=seed)
    graph.add_edges_from(nx.path_graph(6).edges)
    links = [[f"h{n}", f"s{n}"] for n in range(6)] + [[f"s{a}", f"s{b}"] for a, b in graph.edges]
    table = {
        "kind": "explicit",
        "hosts": [f"h{n}" for n in range(6)],
        "switches": [f"s{n}" for n in range(6)],
        "links": [{"between": pair, "delay_ps": int(random.integers(1, 50))} for pair in links],
        "rate_bps": 10**10,
        "delay_ps": 10**6,
    }
    return network_of(table)


@pytest.mark.parametrize("seed", range(20))
def test_sums_along_shortest_paths(seed: int) -> None:
    """The least delay and the load of each link, by listing all paths."""
    network = network_of_random_links(seed)
    layers = Layers.of(network)
    assert layers is not None
    graph: nx.Graph[int] = nx.Graph(zip(network.a.tolist(), network.b.tolist(), strict=True))
    graph.remove_nodes_from(network.hosts.tolist())
    weights = network.delays.astype(np.float64)
    matrix = np.random.default_rng(seed).random((6, 6)) * (1 - np.eye(6))
    loads = dict.fromkeys(zip(*(end.tolist() for end in layers.nodes), strict=True), 0.0)
    least = layers.least(weights)
    nodes = ShortestPaths.of(network).switches
    for one in range(6):
        for other in range(6):
            ways = list(nx.all_shortest_paths(graph, int(nodes[one]), int(nodes[other])))
            sums = [
                sum(weights[network.links[pair]] for pair in nx.utils.pairwise(w)) for w in ways
            ]
            assert least[one, other] == pytest.approx(min(sums))
            assert layers.hops[one, other] == len(ways[0]) - 1
            for way in ways:
                splits = [{w[w.index(n) + 1] for w in ways if n in w} for n in way[:-1]]
                share = matrix[one, other] / np.prod([len(hops) for hops in splits])
                for link in nx.utils.pairwise(way):
                    loads[link] += share
    assert layers.loads(matrix) == pytest.approx(list(loads.values()))


# ---------------------------------------------------------------------------------------------
# Classes

OPEN = {"flow_control": [], "run": Run(duration="1ms")}
TWO = {
    "topology": Star(hosts=3, rate="25Gbps", delay="1us"),
    "traffic": Greedy(src=["h0", "h1"], dst="h2"),
}


def test_a_lossless_class_that_nothing_guards(paths: Paths) -> None:
    """Unless a scheme may hold traffic back, loss is accepted, or the class is lossy."""
    (text,) = said(paths, **OPEN, **TWO)
    assert text.startswith("warning:    in the run: class 3 is lossless, but no port has a flow")
    assert "buffer.lossless_classes = 0" in text
    assert said(paths, **TWO) == []
    assert said(paths, **TWO, **OPEN | {"run": Run(duration="1ms", allow_loss=True)}) == []
    sfc = {"agents": ["sfc-congestion-point"], "host_agents": ["sfc-reaction-point"]}
    assert said(paths, **OPEN, **TWO, **sfc) == []
    marks = {"congestion_control": "dcqcn", "agents": ["ecn-marking"]}
    assert about(said(paths, **OPEN, **TWO, **marks), "no port has a flow control")


@pytest.mark.parametrize(("size", "lost"), [(49_000, False), (51_000, True)])
def test_an_unguarded_class_is_fine_where_its_queue_cannot_fill(
    paths: Paths, size: int, lost: bool
) -> None:
    """What all flows send, with headers, against XOFF."""
    found = said(
        paths,
        flow_control=[],
        topology=Star(hosts=3, rate="25Gbps", delay="1us"),
        traffic=Incast(degree=2, dst="h2", size=f"{size // 2}B"),
        queue_pair={"header_size": "0B"},
        buffer={"threshold": "static", "xoff": "50KB", "xon": "40KB"},
    )
    assert bool(about(found, "no port has a flow control")) == lost


def test_lossy_traffic_beside_a_flow_control(paths: Paths) -> None:
    """The mask is told as classes, with the one that makes all of it lossless."""
    traffic = [
        Greedy(src="h0", dst="h2", traffic_class=cls, label=f"t{cls}", rate_cap=f"{cls + 1}Gbps")
        for cls in (1, 3, 4)
    ]
    more = {"topology": TWO["topology"], "traffic": traffic}
    (text,) = said(paths, **more, buffer={"lossless_classes": 24})
    assert text == (
        "note:       in the run: class 1 (of t1) is lossy: buffer.lossless_classes = 24, a bit "
        "mask, means classes 3 and 4; 26 makes all traffic lossless"
    )
    assert said(paths, **more, buffer={"lossless_classes": 26}) == []
    (text,) = said(paths, **more, queue_pair={"retransmit": "none"})
    assert "classes 1 and 4 (of t1, t4) are lossy: buffer.lossless_classes = 8" in text
    assert 'with queue_pair.retransmit = "none" what is lost stays lost' in text
    messages = [{"src": "h0", "dst": "h1", "size": "1KB", "class": cls} for cls in (3, 5)]
    (text,) = said(paths, traffic=Messages(messages=messages))
    assert "class 5 (of messages-0) is lossy" in text


LOSSY = {"flow_control": [], "buffer": {"lossless_classes": 0}}


def test_equal_senders_at_a_lossy_queue(paths: Paths) -> None:
    """Which of them loses is a matter of phase, unless rates differ, fit, or react."""
    (text,) = said(paths, **LOSSY, **TWO)
    assert text.startswith("note:       in the run: 2 hosts send equal frames at equal rates")
    for caps, count in (
        (("13Gbps", "13Gbps"), 1),
        (("12.5Gbps", "12.5Gbps"), 0),
        (("13Gbps", "14Gbps"), 0),
    ):
        traffic = [Greedy(src=f"h{n}", dst="h2", rate_cap=cap) for n, cap in enumerate(caps)]
        found = said(paths, **LOSSY, topology=TWO["topology"], traffic=traffic)
        assert len(about(found, "phase")) == count, caps
    assert said(paths, **TWO, **LOSSY, queue_pair={"window_bdps": 1.0}) == []
    assert said(paths, **TWO, **LOSSY, congestion_control="hpcc") == []
    assert said(paths, **TWO) == []
