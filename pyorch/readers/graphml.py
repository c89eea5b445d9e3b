"""GraphML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import one_of, quoted, refusal
from pyorch.base.reading import read_text
from pyorch.readers.graphs import MAX_BYTES, Graph, Tell, assembled, directed, refuse_many

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PARTS = re.compile(r"<(?:\w+:)?(?:node|edge)\b")
_ENDS = {"node": ("id",), "edge": ("source", "target")}
"""What identifies each part of a graph."""


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read an undirected graph, which may have parallel links; values are texts of any type."""
    from xml.etree.ElementTree import ParseError, fromstring

    content = read_text(file, label, MAX_BYTES)
    refuse_many(sum(1 for _ in _PARTS.finditer(content)), label)
    try:
        root = fromstring(content)  # noqa: S314 (expat limits its entities)
    except ParseError as error:
        raise refusal(label, f"is not GraphML: {error}") from None
    graphs = root.findall("{*}graph")
    if len(graphs) != 1:
        tell("", f"is not GraphML: it has {len(graphs) or 'no'} graphs", "one graph", None)
        return None
    (graph,) = graphs
    if graph.find(".//{*}hyperedge") is not None:
        tell("", "it has hyperedges", "edges, each between two nodes", None)
        return None
    usual = str(graph.get("edgedefault") == "directed").lower()
    if any(edge.get("directed", usual) == "true" for edge in graph.iterfind(".//{*}edge")):
        directed(tell)
        return None
    nodes, links = (_parts(root, graph, kind, tell) for kind in _ENDS)
    return assembled(nodes, links, ("node {}", "edge {}"), tell)


def _parts(root: Element, graph: Element, kind: str, tell: Tell) -> list[dict[str, Any]]:
    """Return the nodes or the edges of a graph, with their attributes."""
    keys = [key for key in root.iterfind("{*}key") if key.get("for", "all") in (kind, "all")]
    names = {key.get("id"): key.get("attr.name") or key.get("id") for key in keys}
    usual = {names[key.get("id")]: one.text for key in keys for one in key.iterfind("{*}default")}
    found: list[dict[str, Any]] = []
    for number, part in enumerate(graph.iterfind(f".//{{*}}{kind}"), 1):
        own: dict[Any, Any] = dict(usual)
        for data in part:
            if data.tag.rpartition("}")[2] != "data":
                continue
            key = data.get("key")
            if key not in names:
                what = f"there is no key {quoted(key)} of a {kind}"
                tell(f"{kind} {number}", what, one_of(map(str, names)) or "none: it has none", None)
                return found
            label = next((one for one in data.iter() if one.tag.endswith("Label")), None)
            if label is None:
                own[names[key]] = data.text
            else:  # of yEd
                own["label"] = (label.text or "").strip()
        found.append(own | {end: part.get(end) for end in _ENDS[kind]})
    return found
