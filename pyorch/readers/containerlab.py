"""Labs of containerlab: YAML with nodes and links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyorch.base.errors import one_of, suggest
from pyorch.readers.graphs import Edge, Graph, Tell, name_of, no_node, plain
from pyorch.readers.plain_yaml import read_yaml

_TOP = ("name", "prefix", "mgmt", "settings", "topology", "debug")
_INNER = ("nodes", "links", "kinds", "groups", "defaults")


def network(file: Path, label: str, tell: Tell) -> Graph | None:
    """Nodes and links of `topology` in a file of containerlab."""
    content = read_yaml(file, label)
    inner = _inner(content if isinstance(content, dict) else {}, tell)
    if inner is None:
        return None
    graph = Graph()
    graph.left_out += [f"{str(key)[:80]}: it is not read" for key in content if key not in _TOP]
    for number, (key, of) in enumerate(inner["nodes"].items(), 1):
        name = name_of(key)
        if name is None:  # also yes, no, on and off
            what = "its name is a truth value or empty in YAML"
            tell(f"topology.nodes, node {number}", what, "a string", "put the name in quotes")
        else:
            graph.nodes[name] = _whole(inner, of if isinstance(of, dict) else {})
    for number, link in enumerate(inner.get("links", [])):
        where = f"topology.links[{number}]"
        ends = list(_ends(link))
        if len(ends) != 2:
            tell(
                where, "it is not a link between two nodes", 'endpoints: ["a:eth1", "b:eth1"]', None
            )
            continue
        for end in ends:
            if end not in graph.nodes:
                no_node(end, graph.nodes, where, tell)
        if set(ends) <= set(graph.nodes):
            labels = link.get("labels", {})
            graph.edges.append(
                Edge(ends[0], ends[1], where, labels if isinstance(labels, dict) else {})
            )
    return graph


def _inner(content: Mapping[Any, Any], tell: Tell) -> Mapping[str, Any] | None:
    """Return what is in `topology`, and note its unknown keys; None without nodes and links."""
    inner = content.get("topology")
    if (
        not isinstance(inner, dict)
        or not isinstance(inner.get("nodes"), dict)
        or not isinstance(inner.get("links", []), list)
    ):
        near = (suggest(str(key), _TOP) for key in content)
        hint = next((one for one in near if one and "'topology'" in one), None)
        tell("", "is not a containerlab file", "topology: with nodes: and links:", hint)
        return None
    for key in inner:
        if key not in _INNER:
            what = f"unknown key {str(key)[:80]!r}"
            tell("topology", what, one_of(_INNER), suggest(str(key), _INNER))
    return inner


def _whole(inner: Mapping[str, Any], of: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a node with what `defaults`, its kind and its group give it; its own keys win."""

    def part(table: str, key: object) -> Mapping[str, Any]:
        found = inner.get(table)
        if table != "defaults":
            found = found.get(key) if isinstance(found, dict) and isinstance(key, str) else None
        return found if isinstance(found, dict) else {}

    defaults, group = part("defaults", None), part("groups", of.get("group"))
    kind = of.get("kind", group.get("kind", defaults.get("kind")))
    return {**defaults, **part("kinds", kind), **group, **of, **({"kind": kind} if kind else {})}


def _ends(link: object) -> Iterator[str]:
    """Yield the nodes of a link: "a:eth1", or {node: a, interface: eth1}."""
    ends = link.get("endpoints") if isinstance(link, dict) else None
    for end in ends if isinstance(ends, list) else []:
        if isinstance(end, str):
            yield end.partition(":")[0]
        elif isinstance(end, dict) and "node" in end:
            yield plain(end["node"]) or "a list or table"
