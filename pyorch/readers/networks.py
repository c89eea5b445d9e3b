"""What `import` assumes of a network, so that it can run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyorch.base.errors import refusal
from pyorch.base.units import LENGTHS, is_number, parse_rate
from pyorch.readers import door
from pyorch.readers.graphs import (
    ERRORS,
    Graph,
    degrees,
    depth_of,
    named_hosts,
    parts_of,
    read_delay,
    read_rate,
    respell,
    respelled,
    without,
)

RATES = {"rate": "", "LinkSpeedRaw": "bps", "bandwidth": "", "capacity": "", "speed": ""}
"""Attributes of links that may be their rate, and its unit if they have none."""
DELAYS = {"delay": "", "latency": "", "dist": "km", "length": "km"}
"""The same of delays."""
RATE, DELAY = "100Gbps", "1us"
"""Of links that have none."""


@dataclass
class Assumed:
    """A [topology]. server: hosts of one. rates: of its links [bit/s].

    round_trip: a time that none takes longer to the farthest host and back, without queues [ps].
    hops: links that no path has more of. in_flight: the most that the links of one node hold on
    their ways there and back [bytes]. losses: [[node]] entries of ports that lose frames.
    """

    table: dict[str, Any]
    server: int = 1
    rates: set[int] = field(default_factory=lambda: {parse_rate(RATE)})
    round_trip: int = 0
    hops: int = 0
    in_flight: int = 0
    losses: list[dict[str, Any]] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def assumed(file: Path, graph: Graph, folder: Path, ends: Iterable[str]) -> Assumed:
    """Return the [topology] of a file for a folder. ends: of messages, if no node has a role."""
    found = Assumed({"kind": "file", "file": os.path.relpath(file, folder)})
    if door.format_of(file.name, "network") is None:
        found.table["format"] = "hpcc"
    found.table |= {"rate": RATE, "delay": DELAY}
    found.left_out += graph.left_out
    wrong = [name for name in graph.nodes if respelled(name) != name]
    if wrong:
        found.table["respell"] = True
        first = f"{wrong[0]!r} is {respelled(wrong[0])!r}"
        told = f"{len(wrong)} names of nodes have what no name may have: {first}"
        found.assumed.append(told)
        graph = respell(graph)
    rates, delays = (
        _attribute(found, graph, file.name, (key, default), names)
        for key, default, names in (("rate", RATE, RATES), ("delay", DELAY, DELAYS))
    )
    found.rates = set(rates) or found.rates
    _far(found, graph, rates, delays)
    graph = _connected(found, graph)
    degree = degrees(graph)
    hosts = _hosts(found, graph, ends)
    pairs = Counter(frozenset((edge.a, edge.b)) for edge in graph.edges)
    many = sum(count > 1 and pair.isdisjoint(hosts) for pair, count in pairs.items())
    if many:
        several = "1 pair of nodes has" if many == 1 else f"{many} pairs of nodes have"
        told = f"{several} several links: flows are spread over them by their hash"
        found.assumed.append(told + '; parallel = "merge" makes one of the summed rates of each')
    if any(degree[name] > 1 for name in hosts):
        told = "hosts have several links: a message takes one by the hash of its connection, among "
        found.assumed.append(told + "those from which the way is shortest (link of [[traffic]])")
        planes = len(parts_of(without(graph, hosts)))
        if planes > 1:
            told = f"{planes} planes that hosts alone connect: no path leads from one to another"
            found.assumed.append(told)
    if graph.servers:
        told = "NVSwitches are the scale-up domain of each server, without contention inside"
        found.assumed.append(told)
        found.server = graph.servers.size if len(hosts) > graph.servers.size else 1
    _losses(found, graph)
    return found


def _connected(found: Assumed, graph: Graph) -> Graph:
    """Return what is used of a network that falls apart: its largest part, without loops."""
    parts = parts_of(graph)
    loops = sum(1 for edge in graph.edges if edge.a == edge.b)
    if len(parts) < 2 and not loops:
        return graph
    found.table["parts"] = "largest"
    largest = max(parts, key=len)
    if len(parts) > 1:
        what = f"{len(graph.nodes) - len(largest)} nodes in {len(parts) - 1} parts"
        found.left_out.append(f"{what} that are not connected with the other {len(largest)}")
    if loops:
        found.left_out.append(f"{loops} links that lead from a node to itself")
    return without(graph, set(graph.nodes) - largest)


def _hosts(found: Assumed, graph: Graph, ends: Iterable[str]) -> set[str]:
    """Return the hosts by their roles, or the nodes with one link if messages lead between such.

    Otherwise one is added to each node.
    """
    hosts = named_hosts(graph)
    if len(hosts) > 1:
        return hosts
    single = {name for name, links in degrees(graph).items() if links == 1}
    known = set(map(respelled, ends)) & set(graph.nodes)  # the plan tells of others
    if not hosts and set() < known <= single:
        found.assumed.append("no node has a role: hosts are those with one link, as the messages'")
        return single
    each = 1 if len(graph.nodes) > 1 else 2
    found.table |= {"hosts": [], "add_hosts": each}
    told = "no hosts" if not hosts else "one host only"
    found.assumed.append(f"the file has {told}: every node is a switch, with {each} hosts added")
    return set()


def _far(found: Assumed, graph: Graph, rates: Sequence[int], delays: Sequence[int]) -> None:
    """Note how far it is across a network. rates, delays: of all links of the file."""
    held = Counter[str]()
    for edge, rate, delay in zip(graph.edges, rates, delays, strict=True):
        for end in (edge.a, edge.b):
            held[end] += 2 * rate * delay // (8 * 10**12)
    found.in_flight = max(held.values(), default=0)
    found.hops = 2 * (1 + depth_of(graph))
    found.round_trip = 2 * found.hops * max(delays, default=0)


def _attribute(
    found: Assumed, graph: Graph, label: str, key: tuple[str, str], names: Mapping[str, str]
) -> list[int]:
    """Choose the attribute of links that is their rate or delay, and its unit; return the values.

    Raises UserError if an attribute of just that name cannot be read.
    """
    name, default = key
    edges = [
        {one: value for one, value in edge.attributes.items() if value not in (None, "")}
        for edge in graph.edges
    ]
    have = Counter(one for attributes in edges for one in attributes)
    chosen = next((one for one in names if have[one]), None)
    missing = len(edges) - (have[chosen] if chosen else 0)
    if missing:
        found.assumed.append(f"{missing} of {len(edges)} links have no {name}: {default}")
    parse = read_rate if name == "rate" else read_delay
    usual = [parse(default)] * len(edges)
    if chosen is None:
        return usual
    bare = any(is_number(str(one[chosen]).strip()) for one in edges if chosen in one)
    unit = names[chosen] if bare else ""
    read = []
    for edge, attributes in zip(graph.edges, edges, strict=True):
        value = str(attributes.get(chosen, default)).strip()
        try:
            read.append(parse(f"{value}{unit}" if is_number(value) else value))
            if name == "rate" and not read[-1]:
                raise ValueError("a rate of 0")
        except ValueError as error:
            if chosen == name:
                where = f"{label}: {edge.where}: {chosen}"
                raise refusal(where, str(error), f"a {name}, or none: then {default}") from None
            told = f"attribute {chosen!r} is not read as the links' {name}: {edge.a} - {edge.b} has"
            found.left_out.append(f"{told} {value!r}")
            found.assumed.append(f"all links have a {name} of {default}")
            return usual
    if chosen != name:
        found.table[f"{name}_attribute"] = chosen
    if unit:
        found.table[f"{name}_unit"] = unit
        length = ", as a length of cable, 5 ns a metre" if unit in LENGTHS else ""
        found.assumed.append(f"attribute {chosen!r} of links is their {name} in {unit}{length}")
    return read


def _losses(found: Assumed, graph: Graph) -> None:
    """Note the ports of links that lose frames."""
    pairs = Counter(frozenset((edge.a, edge.b)) for edge in graph.edges)
    used: Counter[frozenset[str]] = Counter()
    ports: dict[str, list[str]] = {}
    for edge in graph.edges:
        pair = frozenset((edge.a, edge.b))
        used[pair] += 1
        place = f"#{used[pair]}" if pairs[pair] > 1 else ""
        if ERRORS in edge.attributes:
            ports.setdefault(edge.attributes[ERRORS], []).extend(
                [f"{edge.a}:{edge.b}{place}", f"{edge.b}:{edge.a}{place}"]
            )
    if ports:
        found.table["error_rates"] = "ignore"
        count = sum(map(len, ports.values())) // 2
        found.assumed.append(f"{count} links lose frames: loss_rate of their ports")
    for rate, names in ports.items():
        found.losses.append({"names": names, "port": {"loss_rate": float(rate)}})
