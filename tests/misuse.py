"""Calls of the C++ facade that make no sense, each in a fork: python -m tests.misuse.

Prints {name of the case: {"outcome", "message"}} as JSON. `CASES` says what each must answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pyorch.build import ensure_built
from pyorch.run.ns3 import load_simulation
from tests.forks import in_fork

_PFC, _BUFFER = "ns3::pfc::Pfc", "ns3::lossless::SharedBuffer"


def network(sim: Any, build: bool = False) -> Any:
    """Two hosts and a switch, one finite flow from h0 to h1."""
    sim.AddFlowControl(_PFC)
    sim.AddNodes(np.array([0, 0, 1], "uint8"), "h0\nh1\ns0", 3)
    links(sim)
    flow(sim)
    if build:
        sim.Build()
    return sim


def built(sim: Any) -> Any:
    """The same, built."""
    return network(sim, build=True)


def nodes(sim: Any, kinds: list[int], names: str) -> None:
    """Add nodes."""
    sim.AddNodes(np.array(kinds, "uint8"), names, len(kinds))


def links(
    sim: Any,
    a: tuple[int, ...] = (0, 1),
    b: tuple[int, ...] = (2, 2),
    rate: int = 10**10,
    delay: int = 10**5,
) -> None:
    """Add links of one kind."""
    n = len(a)
    ends = np.array(a, "uint32"), np.array(b, "uint32")
    sim.AddLinks(*ends, np.array([rate] * n, "uint64"), np.array([delay] * n, "int64"), n)


def flow(
    sim: Any, src: int = 0, dst: int = 1, size: int = 5000, start: int = 0, cls: int = 3
) -> None:
    """Add a flow."""
    none = np.array([0], "uint64")
    sim.AddFlows(
        np.array([src], "uint32"),
        np.array([dst], "uint32"),
        np.array([size], "uint64"),
        np.array([start], "int64"),
        np.array([-1], "int64"),
        np.array([cls], "uint8"),
        none,
        none,
        1,
    )


def wait(sim: Any, waiting: int, after: int, delay: int) -> None:
    """Let a flow wait for another."""
    numbers = np.array([waiting], "uint32"), np.array([after], "uint32")
    sim.AddDependencies(*numbers, np.array([delay], "int64"), 1)


def trace(sim: Any, table: str = "queue", node: int = 2, peer: int = -1, period: int = 0) -> None:
    """Trace a table of one node."""
    sim.Trace(table, np.array([node], "uint32"), np.array([peer], "int64"), 1, 0xFF, period)


def without_oracle(sim: Any) -> Any:
    """A simulation that judges no deadlocks."""
    sim.SwitchOffOracle()
    return sim


def finished(sim: Any) -> Any:
    """A run that is over."""
    built(sim).Run(10**9)
    sim.Finish()
    return sim


def path(sim: Any, *on: int, flow_number: int = 0) -> None:
    """Pin a flow."""
    sim.SetPath(flow_number, np.array(on, "uint32"), len(on))


def server(sim: Any, *hosts: int, rate: int = 10**12, delay: int = 0) -> Any:
    """Make hosts a server."""
    sim.AddServer(np.array(hosts, "uint32"), len(hosts), rate, delay, True)
    return sim


def nics(sim: Any, leaves: int, arrives: int, flow_number: int = 0) -> None:
    """Say by which hosts a flow leaves and arrives."""
    sim.SetNics(*(np.array([one], "uint32") for one in (flow_number, leaves, arrives)), 1)


def two(cls: Any) -> None:
    """Build while another Simulation exists: a finished one has the clock, too."""
    first = built(cls(1))
    first.Finish()
    built(cls(1))


Act = Callable[[Any], object]
BAD, WHEN = "invalid_argument", "logic_error"
CASES: dict[str, tuple[str, str, Act]] = {
    "Finish before Build": (WHEN, "Finish was called before Build", lambda s: network(s).Finish()),
    "Run before Build": (WHEN, "Run was called before Build", lambda s: network(s).Run(1)),
    "Check before Build": (WHEN, "Check was called before Build", lambda s: network(s).Check()),
    "Warnings before Build": (
        WHEN,
        "Warnings was called before Build",
        lambda s: network(s).Warnings(),
    ),
    "Notes before Build": (WHEN, "Notes was called before Build", lambda s: network(s).Notes()),
    "summary before Build": (WHEN, "GetSummary was called before Build", lambda s: s.GetSummary()),
    "number before Build": (
        WHEN,
        "GetSummary was called before Build",
        lambda s: s.GetNumber("events"),
    ),
    "pcap before Build": (
        WHEN,
        "TracePcap was called before Build",
        lambda s: network(s).TracePcap(
            np.array([0], "uint32"), np.array([-1], "int64"), 0, "folder"
        ),
    ),
    "pause tree before Build": (
        WHEN,
        "GetOracle was called before Build",
        lambda s: trace(network(s), "pause_tree"),
    ),
    "Build twice": (WHEN, "Build was called after Build", lambda s: built(s).Build()),
    "Run after Finish": (WHEN, "Run was called after Finish", lambda s: finished(s).Run(10**10)),
    "Trace after Finish": (WHEN, "Trace was called after Finish", lambda s: trace(finished(s))),
    "host after Build": (
        WHEN,
        "AddNodes was called after Build",
        lambda s: nodes(built(s), [0], "h2"),
    ),
    "link after Build": (
        WHEN,
        "AddLink was called after Build",
        lambda s: links(built(s), (0,), (2,)),
    ),
    "flow after Build": (WHEN, "AddFlows was called after Build", lambda s: flow(built(s))),
    "endless flow after Build": (
        WHEN,
        "AddFlows was called after Build",
        lambda s: built(s).AddFlow(0, 1, 3),
    ),
    "dependency after Build": (
        WHEN,
        "AddDependencies was called after Build",
        lambda s: wait(built(s), 0, 0, 0),
    ),
    "server after Build": (
        WHEN,
        "AddServer was called after Build",
        lambda s: server(built(s), 0, 1),
    ),
    "NICs after Build": (WHEN, "SetNics was called after Build", lambda s: nics(built(s), 0, 1)),
    "server with a switch": (BAD, "node 2 (s0) is a switch", lambda s: server(network(s), 0, 2)),
    "host of two servers": (BAD, "to two servers", lambda s: server(server(network(s), 0), 0, 1)),
    "host of a server twice": (BAD, "or twice to one", lambda s: server(network(s), 1, 1)),
    "scale-up with a delay of -1 ps": (
        BAD,
        "delay of a scale-up domain cannot be at -1 ps",
        lambda s: server(network(s), 0, 1, delay=-1),
    ),
    "NIC of another server": (BAD, "not of the same server", lambda s: nics(network(s), 1, 1)),
    "NIC of no flow": (BAD, "no flow 7", lambda s: nics(network(s), 0, 1, flow_number=7)),
    "one NIC for both ends": (
        BAD,
        "leave and arrive by the same host",
        lambda s: nics(server(network(s), 0, 1, rate=0), 1, 1),
    ),
    "arrival by another host of a domain": (
        BAD,
        "cannot be forwarded over a scale-up domain",
        lambda s: nics(server(network(s), 0, 1), 1, 0),
    ),
    "path after Build": (
        WHEN,
        "SetPaths was called after Build",
        lambda s: path(built(s), 0, 2, 1),
    ),
    "bursts after Build": (
        WHEN,
        "SetOnOff was called after Build",
        lambda s: built(s).SetOnOff(0, 1, 1),
    ),
    "attribute after Build": (
        WHEN,
        "SetAttribute was called after Build",
        lambda s: built(s).SetAttribute(_BUFFER, "Size", "1000"),
    ),
    "attribute of a node after Build": (
        WHEN,
        "SetNodeAttribute was called after Build",
        lambda s: built(s).SetNodeAttribute(2, _BUFFER, "Size", "1000"),
    ),
    "flow control after Build": (
        WHEN,
        "AddFlowControl was called after Build",
        lambda s: built(s).AddFlowControl(_PFC),
    ),
    "agent after Build": (
        WHEN,
        "AddAgent was called after Build",
        lambda s: built(s).AddAgent("ns3::lossless::EcnMarking"),
    ),
    "congestion control after Build": (
        WHEN,
        "SetCongestionControl was called after Build",
        lambda s: built(s).SetCongestionControl("ns3::dcqcn::Dcqcn"),
    ),
    "failure after Build": (
        WHEN,
        "FailLink at 0 ps was called after Build",
        lambda s: built(s).FailLink(0, 0, 2),
    ),
    "slow receiver after Build": (
        WHEN,
        "SetReceiveRate was called after Build",
        lambda s: built(s).SetReceiveRate(1, 1, 0),
    ),
    "another event loop after Build": (
        WHEN,
        "SetSimulator was called after Build",
        lambda s: built(s).SetSimulator("ns3::DefaultSimulatorImpl"),
    ),
    "oracle after Build": (
        WHEN,
        "SwitchOffOracle was called after Build",
        lambda s: built(s).SwitchOffOracle(),
    ),
    "deadlocks without an oracle": (
        WHEN,
        "the oracle of this fabric is switched off",
        lambda s: trace(built(without_oracle(s)), "deadlock"),
    ),
    "what paused whom without an oracle": (
        WHEN,
        "the oracle of this fabric is switched off",
        lambda s: trace(built(without_oracle(s)), "pause_tree"),
    ),
    "detections without an oracle": (
        WHEN,
        "the oracle of this fabric is switched off",
        lambda s: trace(built(without_oracle(s)), "detection"),
    ),
    "seed 0": (BAD, "seed of a run cannot be 0", lambda s: type(s)(0)),
    "two at once": (WHEN, "another Simulation still exists", lambda s: two(type(s))),
    "no such table": (BAD, "no table 999; there are 1", lambda s: built(s).GetTableName(999)),
    "rows of no table": (BAD, "no table 999", lambda s: built(s).GetNRows(999)),
    "columns of no table": (BAD, "no table 1;", lambda s: built(s).GetNColumns(1)),
    "no such column": (
        BAD,
        "'flow' has no column 999",
        lambda s: finished(s).GetColumnName(0, 999),
    ),
    "type of no column": (BAD, "no column 999", lambda s: finished(s).GetColumnType(0, 999)),
    "data of no column": (BAD, "no column 999", lambda s: finished(s).GetColumnData(0, 999)),
    "unknown flow control": (
        BAD,
        "'ns3::lossless::Pcf' is not a flow control, nor any loaded type; there are ns3::",
        lambda s: s.AddFlowControl("ns3::lossless::Pcf"),
    ),
    "a node as flow control": (
        BAD,
        "'ns3::Node' is not a flow control; there are",
        lambda s: s.AddFlowControl("ns3::Node"),
    ),
    "an abstract flow control": (
        BAD,
        "is not a flow control",
        lambda s: s.AddFlowControl("ns3::lossless::FlowControl"),
    ),
    "a flow control as agent": (BAD, "is not an agent", lambda s: s.AddAgent(_PFC)),
    "a flow control as agent of hosts": (BAD, "is not an agent", lambda s: s.AddHostAgent(_PFC)),
    "a flow control as congestion control": (
        BAD,
        "is not a congestion control",
        lambda s: s.SetCongestionControl(_PFC),
    ),
    "unknown event loop": (BAD, "no event loop 'ns3::Loop'", lambda s: s.SetSimulator("ns3::Loop")),
    "unknown type": (BAD, "no type 'ns3::X'", lambda s: s.SetAttribute("ns3::X", "Size", "1")),
    "unknown attribute": (
        BAD,
        "SharedBuffer has no attribute 'Sizes'",
        lambda s: s.SetAttribute(_BUFFER, "Sizes", "1"),
    ),
    "value out of range": (
        BAD,
        "SharedBuffer::Size cannot be '0'; allowed: int64_t 1:4398046511104",
        lambda s: s.SetAttribute(_BUFFER, "Size", "0"),
    ),
    "value of a node out of range": (
        BAD,
        "s0: ns3::lossless::SharedBuffer::Size cannot be '-1'",
        lambda s: network(s).SetNodeAttribute(2, _BUFFER, "Size", "-1"),
    ),
    "attribute of no node": (
        BAD,
        "no node 7; there are 3",
        lambda s: network(s).SetNodeAttribute(7, _BUFFER, "Size", "1000"),
    ),
    "attribute of what a node has not": (
        BAD,
        "h0 has no object of the type ns3::lossless::Switch",
        lambda s: network(s).SetNodeAttribute(0, "ns3::lossless::Switch", "Latency", "1ns"),
    ),
    "negative period": (BAD, "period of -5 ps", lambda s: trace(built(s), period=-5)),
    "negative deadlock test": (BAD, "period of -1 ps", lambda s: s.SetDeadlockTest(-1, False)),
    "unknown trace": (
        BAD,
        "no trace table 'queues'; there are",
        lambda s: trace(built(s), "queues"),
    ),
    "trace of no node": (BAD, "no node 9", lambda s: trace(built(s), node=9)),
    "trace of no link": (
        BAD,
        "no link between nodes 0 and 1",
        lambda s: trace(built(s), "queue", 0, 1),
    ),
    "Run to the past": (BAD, "the end of a run cannot be at -1 ps", lambda s: built(s).Run(-1)),
    "unknown kind of node": (BAD, "of the kind 7", lambda s: nodes(s, [7], "h0")),
    "too few names": (BAD, "1 names for 2 nodes", lambda s: nodes(s, [0, 0], "h0")),
    "link to no node": (
        BAD,
        "link 2 connects nodes 0 and 99",
        lambda s: links(network(s), (0,), (99,)),
    ),
    "link to itself": (BAD, "connects nodes 2 and 2", lambda s: links(network(s), (2,), (2,))),
    "two links of a host": (
        BAD,
        "host h0 has more than one",
        lambda s: links(network(s), (0,), (2,)),
    ),
    "rate 0": (
        BAD,
        "rate of 0 bit/s; allowed: 1000",
        lambda s: (nodes(s, [0, 1], "h\ns"), links(s, (0,), (1,), 0)),
    ),
    "rate 2^64 - 1": (
        BAD,
        "cannot have a rate of 18446744073709551615 bit/s",
        lambda s: (nodes(s, [0, 1], "h\ns"), links(s, (0,), (1,), 2**64 - 1)),
    ),
    "delay -1": (
        BAD,
        "cannot have a delay of -1 ps; allowed: 0 to",
        lambda s: (nodes(s, [0, 1], "h\ns"), links(s, (0,), (1,), 10**9, -1)),
    ),
    "delay 2^63 - 1": (
        BAD,
        "cannot have a delay of 9223372036854775807 ps",
        lambda s: (nodes(s, [0, 1], "h\ns"), links(s, (0,), (1,), 10**9, 2**63 - 1)),
    ),
    "node without a link": (
        BAD,
        "node h2 has no link",
        lambda s: (network(s), nodes(s, [0], "h2"), s.Build()),
    ),
    "flow from no node": (
        BAD,
        "cannot be node 99: there are 3",
        lambda s: flow(network(s), src=99),
    ),
    "flow from a switch": (BAD, "node 2 (s0) is a switch", lambda s: flow(network(s), src=2)),
    "flow to itself": (BAD, "same source and destination", lambda s: flow(network(s), dst=0)),
    "flow before the start": (BAD, "cannot be at -1 ps", lambda s: flow(network(s), start=-1)),
    "class 8": (BAD, "class 8 is not in 0..7", lambda s: flow(network(s), cls=8)),
    "wait for no flow": (BAD, "no flow 5; there are 1", lambda s: wait(network(s), 0, 5, 0)),
    "wait backwards": (BAD, "cannot start -1 ps after", lambda s: wait(network(s), 0, 0, -1)),
    "wait for an endless flow": (
        BAD,
        "which is endless",
        lambda s: (flow(network(s), size=0), wait(s, 0, 1, 0)),
    ),
    "bursts of no flow": (BAD, "no flow 3; there are 1", lambda s: network(s).SetOnOff(3, 1, 1)),
    "negative silence": (BAD, "be silent for -1 ps", lambda s: network(s).SetOnOff(0, 1, -1)),
    "path of no flow": (BAD, "no flow 4", lambda s: path(network(s), 0, 2, 1, flow_number=4)),
    "path over no node": (BAD, "contains node 9; there are 3", lambda s: path(network(s), 0, 9, 1)),
    "failure of no link": (BAD, "no link 9; there are 2", lambda s: network(s).FailLink(9, 1, 2)),
    "failure that ends first": (BAD, "cannot fail at 5 ps", lambda s: network(s).FailLink(0, 5, 2)),
    "failure before the start": (
        BAD,
        "cannot fail at -5 ps",
        lambda s: network(s).FailLink(0, -5, 2),
    ),
    "route of a host": (
        BAD,
        "a route leads from a switch",
        lambda s: network(s).DivertRoute(0, 1, 2, 0, 1),
    ),
    "route over no link": (
        BAD,
        "no link from s0",
        lambda s: network(s).DivertRoute(2, 1, 2, 0, 1),
    ),
    "slow receiver in a switch": (BAD, "is a switch", lambda s: network(s).SetReceiveRate(2, 1, 0)),
    "slow receiver before the start": (
        BAD,
        "cannot be at -1 ps",
        lambda s: network(s).SetReceiveRate(1, 1, -1),
    ),
    "pause storm of class 9": (BAD, "class 9", lambda s: network(s).AddPauseStorm(1, 9, 0, -1)),
    "pause storm backwards": (
        BAD,
        "stop after its start",
        lambda s: network(s).AddPauseStorm(1, 3, 5, 2),
    ),
    "bytes of no flow": (BAD, "no flow 7", lambda s: built(s).GetDeliveredBytes(7)),
}
"""What is done, the exception it must end in, and words of its sentence."""

ENTRIES: dict[str, tuple[str, Act]] = {
    "a message of 2^64 - 1 B": (
        "flow 1: 18446744073709551615 B are 18446744073709552 packets; at most 4294967295",
        lambda s: flow(network(s), size=2**64 - 1),
    ),
    "a message of 200 PB": (
        "flow 1: 200000000000000000 B",
        lambda s: flow(network(s), size=2 * 10**17),
    ),
    "a path that leads elsewhere": ("path of flow 0", lambda s: path(network(s), 1, 2, 0)),
    "a circle of flows": ("wait for each other", lambda s: wait(network(s), 0, 0, 0)),
}
"""What is accepted, but is an entry of Check()."""


def try_case(act: Act, simulation_class: Any, check: bool) -> dict[str, Any]:
    """Do it."""
    simulation = simulation_class(1)
    act(simulation)
    if not check:
        return {"outcome": "silence", "message": ""}
    simulation.Build()
    return {"outcome": "checked", "message": str(simulation.Check())}


def main() -> int:
    """Try everything and print how it went."""
    simulation_class: Any = load_simulation(ensure_built(quiet=True))
    acts = [(name, act, False) for name, (_, _, act) in CASES.items()]
    acts += [(name, act, True) for name, (_, act) in ENTRIES.items()]
    answers = {
        n: in_fork(partial(try_case, act, simulation_class, check)) for n, act, check in acts
    }
    print(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
