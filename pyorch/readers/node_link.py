"""Node-link JSON as networkx writes it."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import one_of
from pyorch.base.reading import read_json
from pyorch.readers.graphs import MAX_BYTES, Graph, Tell, assembled, directed


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
        directed(tell)
        return None
    return assembled(nodes, links, ("nodes[{}]", f"{key}[{{}}]"), tell)
