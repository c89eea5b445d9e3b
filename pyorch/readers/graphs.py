"""What the file of a network says, in any format: nodes and links with their attributes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyorch.base.errors import Problem, UserError, one_of, suggest

MAX_BYTES = 8 * 10**6
"""Largest file of a network; YAML has less (`plain_yaml`). GraphML takes 0.6 s a megabyte."""
MAX_PARTS = 100_000
"""Nodes and links that such a file may have, together."""
SPECIAL = frozenset({"host", "macvlan", "mgmt-net", "vxlan", "vxlan-stitch", "dummy"})
"""Ends of containerlab links that are not nodes of the topology."""

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
    """The content of a file. servers: if it says which hosts are in one."""

    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    servers: Servers | None = None


def refuse_many(parts: int, label: str) -> None:
    """Raise UserError if a file has more nodes and links than are read."""
    if parts > MAX_PARTS:
        what = f"its network has {parts:,} nodes and links"
        raise UserError([Problem(label, what, f"at most {MAX_PARTS:,}")])


def of_networkx(graph: Any) -> Graph:
    """Return the nodes and links of an undirected graph of networkx."""
    nodes: dict[str, Mapping[str, Any]] = {
        str(name): dict(of) for name, of in graph.nodes(data=True)
    }
    links = graph.edges(data=True)
    return Graph(nodes, [Edge(str(a), str(b), f"link {a} - {b}", dict(of)) for a, b, of in links])


def no_node(end: str, nodes: Collection[str], where: str, tell: Tell) -> None:
    """Note an end of a link that is not a node."""
    what = f"{end!r} is outside the topology" if end in SPECIAL else f"there is no node {end!r}"
    tell(where, what, one_of(nodes) or "none: it has no nodes", suggest(end, nodes))


def directed(multigraph: bool, tell: Tell) -> None:
    """Note that a graph is directed."""
    kind = "multigraph" if multigraph else "graph"
    hint = "save it undirected: graph.to_undirected() of networkx"
    tell("", f"it is a directed {kind}: its links lead one way", "an undirected graph", hint)


def name_of(value: object) -> str | None:
    """Return the name of a node; networkx writes tuples, such as places in a grid, as lists."""
    if isinstance(value, list | tuple):
        return str(tuple(value))
    return None if isinstance(value, bool) else plain(value)


def plain(value: object) -> str | None:
    """Return a value as text; None of a list or table, which aliases of YAML can make endless."""
    return str(value) if isinstance(value, str | int | float) else None
