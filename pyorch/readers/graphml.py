"""GraphML, read by networkx."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.lazy import nx
from pyorch.base.reading import read_text
from pyorch.readers.graphs import (
    MAX_BYTES,
    Graph,
    Tell,
    directed,
    no_node,
    of_networkx,
    refuse_many,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PARTS = re.compile(r"<(?:\w+:)?(?:node|edge)\b")
_QUOTED = re.compile(r"('[^']*')$")


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Read an undirected graph, which may have parallel links."""
    from xml.etree.ElementTree import ParseError, fromstring

    content = read_text(file, label, MAX_BYTES)
    refuse_many(sum(1 for _ in _PARTS.finditer(content)), label)
    try:
        with warnings.catch_warnings():
            # of ports, which do not matter here, and of keys without a type, which are strings
            warnings.simplefilter("ignore")
            graph = nx.read_graphml(io.BytesIO(content.encode()))
        root = fromstring(content.encode())  # noqa: S314 (as networkx does; expat limits its entities)
    except RecursionError:
        tell("", "is nested too deeply", None, None)
        return None
    except (ParseError, nx.NetworkXError) as error:
        tell("", f"is not GraphML: {error}", None, None)
        return None
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        value = _QUOTED.search(str(error))
        what = (
            f"is not GraphML: {value[1] if value else 'a value'} does not fit, as a type or of one"
        )
        tell("", what, "attr.type boolean, int, long, float, double or string; values of it", None)
        return None
    if graph.is_directed():
        directed(graph.is_multigraph(), tell)
        return None
    _check_graphml(root, tell)
    return of_networkx(graph)


def _check_graphml(root: Element, tell: Tell) -> None:
    """Note what networkx ignores: other graphs, and ends of links that are not nodes."""
    graph, *others = root.findall("{*}graph")
    if others:
        tell("", f"it has {len(others) + 1} graphs", "one graph", None)
    nodes: dict[str, None] = {}
    for number, node in enumerate(graph.iterfind(".//{*}node"), 1):
        name = node.get("id")
        if name is None:
            tell(f"node {number}", "it has no id", 'id="..."', None)
        else:
            nodes[name] = None
    for number, edge in enumerate(graph.iterfind(".//{*}edge"), 1):
        for side in ("source", "target"):
            end = edge.get(side)
            if end is None:
                tell(f"edge {number}", f"it has no {side}", 'source="..." and target="..."', None)
            elif end not in nodes:
                no_node(end, nodes, f"edge {number}: {side}", tell)
