"""Links in a CSV file."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import one_of
from pyorch.base.reading import csv_rows
from pyorch.readers.graphs import MAX_BYTES, Edge, Graph, Tell


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Links in the columns a and b, and attributes in the others; # begins a comment."""
    allowed = "a, b, and perhaps rate, delay and others, each once"
    rows = csv_rows(file, label, MAX_BYTES)
    if not rows:
        tell("", "it has no line with the names of the columns", allowed, None)
        return None
    first, head = rows[0]
    if not {"a", "b"} <= set(head) or len(set(head)) < len(head):
        tell(f"line {first}", f"the columns are {one_of(head)}", allowed, None)
        return None
    graph = Graph()
    for number, row in rows[1:]:
        where = f"line {number}"
        if len(row) != len(head):
            tell(where, f"{len(row)} cells in {len(head)} columns", None, None)
            continue
        cells = dict(zip(head, row, strict=True))
        a, b = cells.pop("a"), cells.pop("b")
        graph.nodes |= {a: graph.nodes.get(a, {}), b: graph.nodes.get(b, {})}
        graph.edges.append(Edge(a, b, where, cells))
    return graph
