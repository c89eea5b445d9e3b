"""What the file of a network says, in any format: nodes and links with their attributes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pyorch.base.errors import one_of, refusal, suggest
from pyorch.base.units import parse_delay, parse_rate

MAX_BYTES = 8 * 10**6
"""Largest file of a network; YAML has less (`plain_yaml`). GraphML takes 0.6 s a megabyte."""
MAX_PARTS = 100_000
"""Nodes and links that such a file may have, together."""
SPECIAL = frozenset({"host", "macvlan", "mgmt-net", "vxlan", "vxlan-stitch", "dummy"})
"""Ends of containerlab links that are not nodes of the topology."""

ROLES = ("role", "kind", "type")
"""Attributes of nodes that may say what a node is."""
HOSTS, PLAIN = frozenset({"host", "server"}), "linux"
"""Their values for hosts, and the kind of a containerlab container that may be anything."""
ERRORS = "error_rate"
"""Attribute of a link: the share of its frames that get lost, if not 0."""

_IDS = "each a string or a number"
read_rate, read_delay = (lru_cache(maxsize=1000)(parse) for parse in (parse_rate, parse_delay))
"""As of `pyorch.base.units`: the links of a network have few that differ."""

Tell = Callable[[str, str, str | None, str | None], None]
"""Notes a problem: where in the file, what, what is allowed, a hint."""


@dataclass(frozen=True)
class Edge:
    """A link as the file has it. where: how messages name its place."""

    a: str
    b: str
    where: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Servers:
    """Servers of consecutive hosts, joined by a scale-up domain. size: hosts of each.

    rate: of each host's link into the domain [bit/s]. delay: across it [ps].
    """

    size: int
    rate: int
    delay: int


@dataclass
class Graph:
    """The content of a file. servers: if it says which hosts are in one. left_out: not used."""

    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    servers: Servers | None = None
    left_out: list[str] = field(default_factory=list)


def degrees(graph: Graph) -> Counter[str]:
    """Return the number of links of every node that has some."""
    return Counter(end for edge in graph.edges for end in (edge.a, edge.b))


def named_hosts(graph: Graph) -> set[str]:
    """Return the nodes that are hosts by their role."""
    degree = degrees(graph)
    return {name for name, of in graph.nodes.items() if _is_host(of, degree[name])}


def _is_host(attributes: Mapping[str, Any], links: int) -> bool:
    says = {(plain(attributes.get(key)) or "").lower() for key in ROLES}
    return bool(says & HOSTS) or (PLAIN in says and links == 1)


def parts_of(graph: Graph) -> list[set[str]]:
    """Return the nodes of each part that is connected, in the order of their first ones."""
    return [part for part, _ in _parts(graph)]


def depth_of(graph: Graph) -> int:
    """Return the most links between the first node of a part and its others."""
    return max((depth for _, depth in _parts(graph)), default=0)


def _parts(graph: Graph) -> Iterator[tuple[set[str], int]]:
    """Yield each part, and how many links its first node is from the farthest."""
    near: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    seen = set[str]()
    for name in graph.nodes:
        if name in seen:
            continue
        part, front, depth = {name}, {name}, 0
        while front := set().union(*(near[node] for node in front)) - part:
            part |= front
            depth += 1
        yield part, depth
        seen |= part


def without(graph: Graph, nodes: Collection[str]) -> Graph:
    """Return the graph without some nodes, their links, and links from a node to itself."""
    kept = {name: of for name, of in graph.nodes.items() if name not in nodes}
    edges = [one for one in graph.edges if one.a in kept and one.b in kept and one.a != one.b]
    return Graph(kept, edges, graph.servers)


def respelled(name: str) -> str:
    """Return a name with - for what no name of a node may have."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


def respell(graph: Graph) -> Graph:
    """Return the graph with names that nodes may have. Raises UserError if two get the same."""
    owners: dict[str, str] = {}
    for name in graph.nodes:
        other = owners.setdefault(respelled(name), name)
        if other != name:
            what = f"{name!r} and {other!r} would both be called {respelled(name)!r}"
            raise refusal("nodes", what, "names that differ in letters and digits")
    nodes = {respelled(name): of for name, of in graph.nodes.items()}
    edges = [Edge(respelled(e.a), respelled(e.b), e.where, e.attributes) for e in graph.edges]
    return Graph(nodes, edges, graph.servers, graph.left_out)


def refuse_many(parts: int, label: str) -> None:
    """Raise UserError if a file has more nodes and links than are read."""
    if parts > MAX_PARTS:
        raise refusal(label, f"its network has {parts:,} nodes and links", f"at most {MAX_PARTS:,}")


def assembled(
    nodes: Iterable[Any], links: Iterable[Any], places: tuple[str, str], tell: Tell
) -> Graph:
    """Return the graph of tables: of nodes with an id, of links with a source and a target.

    places: of a node and of a link in messages, with {} for its number, from 1 or, in [], from 0.
    """
    graph = Graph()
    of_node, of_link = places
    for number, node in enumerate(nodes, "[" not in of_node):
        name, where = _id(node, "id"), of_node.format(number)
        if name is None:
            tell(where, "it is not a node with an id", f"an id, {_IDS}", None)
        elif name in graph.nodes:
            tell(where, f"a second node has the id {name!r}", "a unique id for every node", None)
        else:
            graph.nodes[name] = {key: node[key] for key in node if key != "id"}
    for number, link in enumerate(links, "[" not in of_link):
        a, b, where = _id(link, "source"), _id(link, "target"), of_link.format(number)
        if a is None or b is None:
            what = "it is not a link with a source and a target"
            tell(where, what, f"source and target, {_IDS}", None)
            continue
        for end in (a, b):
            if end not in graph.nodes:
                no_node(end, graph.nodes, where, tell)
        graph.edges.append(Edge(a, b, where, link))
    return graph


def _id(entry: object, key: str) -> str | None:
    return name_of(entry.get(key)) if isinstance(entry, dict) else None


def no_node(end: str, nodes: Collection[str], where: str, tell: Tell) -> None:
    """Note an end of a link that is not a node."""
    what = f"{end!r} is outside the topology" if end in SPECIAL else f"there is no node {end!r}"
    tell(where, what, one_of(nodes) or "none: it has no nodes", suggest(end, nodes))


def directed(tell: Tell) -> None:
    """Note that a graph is directed."""
    hint = "save it undirected: graph.to_undirected() of networkx"
    tell("", "it is a directed graph: its links lead one way", "an undirected graph", hint)


def name_of(value: object) -> str | None:
    """Return the name of a node; networkx writes tuples, such as places in a grid, as lists."""
    if isinstance(value, list | tuple):
        return str(tuple(value))
    return None if isinstance(value, bool) else plain(value)


def plain(value: object) -> str | None:
    """Return a value as text; None of a list or table, which aliases of YAML can make endless."""
    return str(value) if isinstance(value, str | int | float) else None
