"""GML, as the Topology Zoo and networkx write it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from pyorch.base.errors import quoted, refusal
from pyorch.base.reading import MAX_DEPTH, TOO_DEEP, read_text
from pyorch.readers.graphs import MAX_BYTES, Graph, Tell, assembled, directed, refuse_many

_TOKEN = re.compile(r'"[^"]*"|[^\s\[\]"#]+|[\[\]"]|#[^\n]*')
_EXAMPLE = "graph [ node [ id 0 ] ... edge [ source 0 target 1 ] ]"
Block = dict[str, list[Any]]
"""What is between brackets: the values of each key, texts or blocks."""


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read an undirected graph, whose nodes are called by their ids."""
    graphs = _blocks(read_text(file, label, MAX_BYTES), label).get("graph", [])
    if len(graphs) != 1:
        tell("", f"is not GML: it has {len(graphs) or 'no'} graphs", _EXAMPLE, None)
        return None
    (graph,) = graphs
    if not isinstance(graph, dict):
        tell("", "is not GML: its graph is not in brackets", _EXAMPLE, None)
        return None
    if graph.get("directed", ["0"]) != ["0"]:
        directed(tell)
        return None
    nodes, links = ([_plain(one) for one in graph.get(key, [])] for key in ("node", "edge"))
    refuse_many(len(nodes) + len(links), label)
    return assembled(nodes, links, ("node {}", "edge {}"), tell)


def _plain(block: object) -> object:
    """Return a block with values for lists of one, and tables for others, which name nothing."""
    if not isinstance(block, dict):
        return block
    return {key: of[0] if len(of) == 1 else dict(enumerate(of)) for key, of in block.items()}


def _blocks(content: str, label: str) -> Block:
    """Return the blocks of a file. Raises UserError where it is not GML."""
    here: Block = {}
    around: list[Block] = []
    key = ""
    for match in _TOKEN.finditer(content):
        word = match[0]
        if word[0] == "#":
            continue
        if not key and word == "]" and around:
            here = around.pop()
        elif not key and (word[0].isalpha() or word[0] == "_"):
            key = word
        elif not key or word in ("]", '"'):
            line = content.count("\n", 0, match.start()) + 1
            what = f"the value of {quoted(key)}" if key else "a key"
            raise refusal(f"{label}: line {line}", f"{quoted(word)} in place of {what}", _EXAMPLE)
        else:
            value: Any = html.unescape(word.strip('"'))
            if word == "[":
                if len(around) == MAX_DEPTH:
                    raise refusal(label, TOO_DEEP)
                around.append(here)
                value = {}
            here.setdefault(key, []).append(value)
            here, key = (value if word == "[" else here), ""
    if around or key:
        raise refusal(label, f"it ends {'before a ]' if around else 'without a value'}", _EXAMPLE)
    return here
