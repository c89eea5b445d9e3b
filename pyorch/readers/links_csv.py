"""Links, and for `import` messages, in a CSV file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyorch.base.errors import one_of
from pyorch.base.reading import csv_rows, read_bytes
from pyorch.base.units import TIMES, is_number, parse_bytes, parse_time
from pyorch.readers import arrow
from pyorch.readers.graphs import MAX_BYTES, Edge, Graph, Tell
from pyorch.readers.records import ABSENT, MessageList


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


def messages(file: Path, label: str, tell: Tell) -> MessageList:
    """Messages as far as `import` needs them: the experiment reads each cell and tells what is bad.

    A size, start or class that cannot be read is ABSENT.
    """
    del tell
    many = arrow.of_csv(read_bytes(file, label), None)
    if many is not None:
        return many
    (_, head), *rows = csv_rows(file, label) or [(1, [])]
    cells: dict[str, list[str]] = {}
    for place, name in enumerate(head):
        key, _, unit = name.rpartition("_")
        timed = key in ("start", "delay") and unit in TIMES
        column = [row[place] if place < len(row) else "" for _, row in rows]
        if timed:
            column = [f"{cell}{unit}" if is_number(cell) else cell for cell in column]
        cells[key if timed else name] = column
    absent = [""] * len(rows)
    src, dst, sizes, starts, delays, classes, after = (
        cells.get(key, absent) for key in ("src", "dst", "size", "start", "delay", "class", "after")
    )
    found = MessageList.of_rows(
        list(zip(src, dst, strict=True)),
        [_read(f"{cell}B" if is_number(cell) else cell, parse_bytes) for cell in sizes],
        [_read(cell, parse_time) for cell in starts],
        [_read(cell, "01234567".index) for cell in classes],
    )
    found.after = [cell.split() for cell in after]
    found.delays = sum(max(0, _read(cell, parse_time)) for cell in delays)
    return found


def _read(cell: str, parse: Callable[[str], int]) -> int:
    try:
        return parse(cell) if cell else ABSENT
    except ValueError:
        return ABSENT
