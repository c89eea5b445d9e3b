"""Text files of the HPCC simulator and of those that descend from it.

Networks: a line of numbers, the ids of switches, then a line for each link. The first line tells
the dialect: `nodes switches links` (HPCC, ConWeave, ASTRA-sim), `nodes switches tors links`
(PowerTCP), with the rates of hosts and uplinks behind it (Reverie), or `nodes gpus_per_server
nvswitches switches links GPU` (SimAI). Flows: their number, then a line for each. What follows the
counted lines is free text there and here.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from pyorch.base.reading import read_text, words_of
from pyorch.base.units import MAX_BYTES as MOST_BYTES
from pyorch.base.units import MAX_TIME, is_number, parse_rate, parse_time, whole
from pyorch.readers import arrow
from pyorch.readers.graphs import ERRORS, MAX_BYTES, MAX_PARTS, Edge, Graph, Servers, Tell
from pyorch.readers.records import MOST_MESSAGES, MessageList

_PS = Decimal(10**12)
_HEADS = (
    "nodes switches links; nodes switches tors links; nodes switches tors links host_bps "
    "uplink_bps; nodes gpus_per_server nvswitches switches links GPU"
)
_LINK = "node node rate delay error_rate, such as 0 4 100Gbps 1us 0"
_FLOW = "src dst class port bytes start_s, or without the port"
_FEW = 1000
"""Flows up to which it is not worth a try whether all lines are as programs write them."""
_WORD = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True)
class _Head:
    """The first line of a network. size: GPUs of a server, of SimAI."""

    nodes: int
    switches: int
    links: int
    nvswitches: int = 0
    size: int = 1


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read a network: nodes are called by their numbers, rates without a unit are bit/s."""
    lines = words_of(read_text(file, label, MAX_BYTES))
    number, words = next(lines, (1, []))
    head = _head(words)
    if head is None:
        tell(f"line {number}", "it does not begin like a network of the HPCC family", _HEADS, None)
        return None
    if head.nodes + head.links > MAX_PARTS:
        what = f"its network has {head.nodes + head.links:,} nodes and links"
        tell(f"line {number}", what, f"at most {MAX_PARTS:,}", None)
        return None
    kinds = _kinds(head, lines, tell)
    if kinds is None:
        return None
    graph = Graph({str(node): {"role": kind} for node, kind in enumerate(kinds)})
    for number, words in itertools.islice(lines, head.links):
        edge = _edge(number, words, head.nodes, tell)
        if edge is None:
            return None
        graph.edges.append(edge)
    if len(graph.edges) < head.links:
        what = f"{len(graph.edges)} links, but its first line says {head.links}"
        tell("", what, "as many lines of links as it says", None)
        return None
    more = _surplus(lines, (5,))
    if more:
        graph.left_out.append(f"{more} links more than the {head.links} that the first line says")
    return _with_servers(graph, head, tell) if head.nvswitches else graph


def _surplus(lines: Iterator[tuple[int, list[str]]], lengths: Sequence[int]) -> int:
    """Return how many lines below those that count are numbers like them, and not free text."""
    return sum(
        len(words) in lengths
        and all(whole(word) is not None for word in words[:2])
        and is_number(words[-1].removesuffix("."))
        for _, words in lines
    )


def _head(words: Sequence[str]) -> _Head | None:
    """Return what a first line says; None if it is not one."""
    numbers = [whole(word) for word in words[:5]]
    if len(words) == 3:
        found = (numbers[0], numbers[1], numbers[2], 0, 1)
    elif len(words) == 4 or (len(words) == 6 and all(map(is_number, words))):
        found = (numbers[0], numbers[1], numbers[3], 0, 1)
    elif len(words) == 6 and _WORD.fullmatch(words[5]):
        found = (numbers[0], numbers[3], numbers[4], numbers[2] or 0, numbers[1] or 0)
    else:
        return None
    nodes, switches, links, nvswitches, size = found
    if None in numbers or nodes is None or switches is None or links is None or size < 1:
        return None
    return _Head(nodes, switches, links, nvswitches, size)


def _kinds(head: _Head, lines: Iterator[tuple[int, list[str]]], tell: Tell) -> list[str] | None:
    """Return the role of every node, by the ids of switches; None after a problem."""
    roles = ["host"] * head.nodes
    left = head.nvswitches + head.switches
    while left:
        number, words = next(lines, (0, []))
        where = f"line {number}" if number else ""
        if not words or len(words) > left:
            what = f"{len(words)} ids of switches where {left} are to come"
            tell(where, what, "as many ids as the first line says, NVSwitches first", None)
            return None
        for word in words:
            node = whole(word)
            if node is None or node >= head.nodes or roles[node] != "host":
                what = f"{word!r} is not the id of a further switch"
                tell(where, what, f"whole numbers, 0 to {head.nodes - 1}, each once", None)
                return None
            roles[node] = "nvswitch" if left > head.switches else "switch"
            left -= 1
    return roles


def _edge(number: int, words: Sequence[str], nodes: int, tell: Tell) -> Edge | None:
    where = f"line {number}"
    if len(words) < 5:
        tell(where, f"a link has five values, here are {len(words)}", _LINK, None)
        return None
    for word in words[:2]:
        node = whole(word)
        if node is None or node >= nodes:
            tell(where, f"there is no node {word!r}", f"0 to {nodes - 1}", None)
            return None
    rate, delay, error = words[2:5]
    if not is_number(error) or not 0 <= Decimal(error) < 1:
        tell(where, f"the error rate of the link is {error!r}", "from 0 to below 1", None)
        return None
    of = {"rate": f"{rate}bps" if is_number(rate) else rate, "delay": delay}
    if Decimal(error):
        of[ERRORS] = error
    return Edge(str(int(words[0])), str(int(words[1])), where, of)


def _with_servers(graph: Graph, head: _Head, tell: Tell) -> Graph | None:
    """Return the graph with its NVSwitches as the domain of each server; None after a problem."""
    hosts = [name for name, of in graph.nodes.items() if of["role"] == "host"]
    if len(hosts) % head.size:
        tell("line 1", f"{len(hosts)} GPUs in servers of {head.size}", "whole servers", None)
        return None
    server = {name: number // head.size for number, name in enumerate(hosts)}
    joined: dict[str, set[int]] = defaultdict(set)
    rates: dict[str, int] = dict.fromkeys(hosts, 0)
    delays = set[int]()
    edges = []
    for edge in graph.edges:
        ends = {graph.nodes[end]["role"]: end for end in (edge.a, edge.b)}
        if "nvswitch" not in ends:
            edges.append(edge)
            continue
        if "host" not in ends or ERRORS in edge.attributes:
            wrong = (
                "is linked to a switch" if "host" not in ends else "has a link that loses frames"
            )
            allowed = "NVSwitches linked to GPUs, without errors"
            tell(edge.where, f"an NVSwitch {wrong}", allowed, None)
            return None
        try:
            rate, delay = (
                parse_rate(edge.attributes["rate"]),
                parse_time(edge.attributes["delay"]),
            )
        except ValueError as error:
            tell(edge.where, str(error), None, None)
            return None
        joined[ends["nvswitch"]].add(server[ends["host"]])
        rates[ends["host"]] += rate
        delays.add(delay)
    across = next((name for name, of in joined.items() if len(of) > 1), None)
    if across is not None:
        what = f"NVSwitch {across} joins GPUs of {len(joined[across])} servers"
        hint = "servers are consecutive GPUs, as many as the second number of the first line"
        tell("", what, "NVSwitches inside a server", hint)
        return None
    if len(set(rates.values())) > 1 or len(delays) != 1 or 0 in rates.values():
        what = "GPUs differ in the rate or the delay of their links to NVSwitches"
        tell("", what, "the same for all GPUs", None)
        return None
    nodes = {name: of for name, of in graph.nodes.items() if of["role"] != "nvswitch"}
    # a frame crosses two links: from a GPU to the NVSwitch, and from there to the other
    return Graph(
        nodes, edges, Servers(head.size, rates[hosts[0]], 2 * delays.pop()), graph.left_out
    )


def messages(file: Path, label: str, tell: Tell) -> MessageList | None:
    """Read flows: `src dst class port bytes start_s`, or of ConWeave without the port.

    Starts are rounded to whole ps.
    """
    text = read_text(file, label)
    lines = words_of(text)
    number, words = next(lines, (1, []))
    count = whole(words[0]) if len(words) == 1 else None
    if count is None or count > MOST_MESSAGES:
        allowed = f"the number of flows alone, at most {MOST_MESSAGES:,}"
        tell(f"line {number}", f"it begins with {' '.join(words[:8])!r}", allowed, None)
        return None
    many = arrow.of_flows(text, count) if number == 1 and count > _FEW else None
    if many is not None:
        return many
    flows = [_flow(number, words, tell) for number, words in itertools.islice(lines, count)]
    if len(flows) < count:
        what = f"{len(flows)} flows, but its first line says {count}"
        tell("", what, "as many lines of flows as it says", None)
        return None
    rows = [flow for flow in flows if flow is not None]
    if len(rows) < count:
        return None
    numbers, ends, classes, sizes, starts = zip(*rows, strict=True) if rows else ((),) * 5
    found = MessageList.of_rows(ends, sizes, starts, classes, numbers)
    more = _surplus(lines, (5, 6))
    if more:
        found.left_out.append(f"{more} flows more than the {count} that the first line says")
    return found


def _flow(
    number: int, words: Sequence[str], tell: Tell
) -> tuple[int, tuple[str, str], int, int, int] | None:
    """Return line, ends, class, size and start of a flow; None after a problem."""
    where = f"line {number}"
    if len(words) not in (5, 6):
        tell(where, f"a flow has five or six values, here are {len(words)}", _FLOW, None)
        return None
    src, dst, group = (whole(word) for word in words[:3])
    size = whole(words[-2])
    start = _start(words[-1])
    if src is None or dst is None:
        tell(where, f"{' '.join(words[:2])!r} are not two nodes", "numbers of nodes", None)
    elif group is None or group > 7:
        tell(where, f"class {words[2]!r} is not one of 0 to 7", _FLOW, None)
    elif size is None or not 0 < size <= MOST_BYTES:
        tell(where, f"{words[-2]!r} is not a size", "whole bytes, from 1", None)
    elif start is None:
        tell(where, f"{words[-1]!r} is not a start", "seconds, such as 2.0001", None)
    else:
        return number, (str(src), str(dst)), group, size, start
    return None


def _start(text: str) -> int | None:
    """Return the ps of a number of seconds, also of "2."; None if it is none, or too large."""
    text = text[:-1] if text.endswith(".") and text[:-1].isdecimal() else text
    if len(text) > 40 or not is_number(text):
        return None
    try:
        start = int((Decimal(text) * _PS).to_integral_value())
    except InvalidOperation:
        return None
    return start if start <= MAX_TIME else None
