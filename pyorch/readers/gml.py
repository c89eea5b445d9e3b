"""GML, read by networkx."""

from __future__ import annotations

import re
from pathlib import Path

from pyorch.base.lazy import nx
from pyorch.base.reading import read_text
from pyorch.readers.graphs import MAX_BYTES, Graph, Tell, directed, of_networkx, refuse_many

_PARTS = re.compile(r"\b(?:node|edge)\s*\[")
_GRAPH = re.compile(r"\bgraph\s*\[")


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read an undirected graph, whose nodes are called by their ids."""
    content = read_text(file, label, MAX_BYTES)
    refuse_many(sum(1 for _ in _PARTS.finditer(content)), label)
    if not re.search(r"\bmultigraph\s+1\b", content):
        # the Topology Zoo does not say where there are parallel links, and networkx wants to know
        content = _GRAPH.sub("graph [ multigraph 1", content, count=1)
    try:
        graph = nx.parse_gml(content, label="id")
    except (nx.NetworkXError, LookupError, ValueError, TypeError, RecursionError) as error:
        tell(
            "",
            f"is not GML: {error}",
            "graph [ node [ id 0 ] ... edge [ source 0 target 1 ] ]",
            None,
        )
        return None
    if graph.is_directed():
        directed(graph.is_multigraph(), tell)
        return None
    return of_networkx(graph)
