"""Node-link JSON as networkx writes it."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import one_of
from pyorch.base.reading import read_json
from pyorch.readers.graphs import MAX_BYTES, Edge, Graph, Tell, directed, name_of, no_node

_IDS = "each a string or a number"


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Node-link data as networkx writes them; networkx would turn all ends of links into nodes."""
    content = read_json(file, label, MAX_BYTES)
    of = content if isinstance(content, dict) else {}
    key = "links" if "links" in of else "edges"
    nodes, links = of.get("nodes"), of.get(key)
    if not isinstance(nodes, list) or not isinstance(links, list):
        allowed = '{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}'
        seen = f"a table of {one_of(of)}" if of else "no table, or an empty one"
        tell("", f"is not node-link JSON as networkx writes it, but {seen}", allowed, None)
        return None
    if of.get("directed"):
        directed(bool(of.get("multigraph")), tell)
        return None
    graph = Graph()
    for number, node in enumerate(nodes):
        name, where = _id(node, "id"), f"nodes[{number}]"
        if name is None:
            tell(where, "it is not a node with an id", f'{{"id": ...}}, {_IDS}', None)
        elif name in graph.nodes:
            tell(where, f"a second node has the id {name!r}", "a unique id for every node", None)
        else:
            graph.nodes[name] = {key: node[key] for key in node if key != "id"}
    for number, link in enumerate(links):
        a, b, where = _id(link, "source"), _id(link, "target"), f"{key}[{number}]"
        if a is None or b is None:
            what = "it is not a link with a source and a target"
            tell(where, what, f'{{"source": ..., "target": ...}}, {_IDS}', None)
            continue
        for end in (a, b):
            if end not in graph.nodes:
                no_node(end, graph.nodes, where, tell)
        own = {key: link[key] for key in link if key not in ("source", "target")}
        graph.edges.append(Edge(a, b, where, own))
    return graph


def _id(entry: object, key: str) -> str | None:
    return name_of(entry.get(key)) if isinstance(entry, dict) else None
