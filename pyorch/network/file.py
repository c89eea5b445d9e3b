"""The kind `file`: a network from GraphML, node-link JSON, containerlab YAML or a CSV of links.

What is read becomes an explicit topology, so that a run knows nothing of the file. networkx reads
GraphML, PyYAML reads YAML.
"""

from __future__ import annotations

import fnmatch
import io
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import Problem, UserError, one_of, quoted, suggest
from pyorch.base.fields import Names, decode, encode
from pyorch.base.findings import Findings, Path
from pyorch.base.lazy import nx
from pyorch.base.reading import csv_rows, is_file, read_json, read_text
from pyorch.base.units import RATES, TIMES, parse_rate, parse_time
from pyorch.network.kinds import Explicit
from pyorch.network.topology import TopologyTable, Wiring, topology

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Format = Literal["graphml", "json", "containerlab", "csv"]
SUFFIXES: dict[str, Format] = {
    ".graphml": "graphml",
    ".json": "json",
    ".yml": "containerlab",
    ".yaml": "containerlab",
    ".csv": "csv",
}
"""The format of a file, by its suffix."""
ROLES = ("role", "kind", "type")
"""Attributes of nodes that may say what a node is."""
HOSTS, PLAIN = frozenset({"host", "server"}), "linux"
"""Their values for hosts, and the kind of a containerlab container that may be anything."""
SPECIAL = frozenset({"host", "macvlan", "mgmt-net", "vxlan", "vxlan-stitch", "dummy"})
"""Ends of containerlab links that are not nodes of the topology."""
MAX_BYTES = 8 * 10**6
"""Largest file of a network; YAML has less (`plain_yaml`). GraphML takes 0.6 s a megabyte."""
MAX_PARTS = 100_000
"""Nodes and links that such a file may have, together."""
_PARTS = re.compile(r"<(?:\w+:)?(?:node|edge)\b")
_IDS = "each a string or a number"
_QUOTED = re.compile(r"('[^']*')$")


@dataclass
class Edge:
    """A link as 'repeat' belongs in the file. where: how messages name its place."""

    a: str
    b: str
    where: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Graph:
    """The content of a file: nodes with their attributes, and links."""

    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


Tell = Callable[[str, str, str | None, str | None], None]
"""Notes a problem: where in the file, what, what is allowed, a hint."""


@topology("file")
class FileTopology(TopologyTable):
    """Nodes and links of a file: GraphML, node-link JSON, containerlab, CSV.

    Routes are the shortest paths, as in every topology; others are given by [[route]] and `path`.
    """

    lists_links: ClassVar[bool] = True

    file: str = Field(description="Path, relative to the experiment file.")
    format: Format | None = Field(
        default=None, description="Format of the file; default: from its name."
    )
    hosts: Names | None = Field(
        default=None,
        description="Which nodes are hosts, names or patterns; default: those whose role, kind or "
        "type is host or server, or linux with one link; where there is none, all with one link.",
    )
    add_hosts: int = Field(
        default=0, ge=0, le=1024, description="Number of hosts to add to each switch: NAME-h0, ..."
    )
    add_hosts_on: Names | None = Field(
        default=None, description="Switches to add hosts to, names or patterns; default all."
    )
    name_attribute: str | None = Field(
        default=None, description="Node attribute that holds the name; default the id."
    )
    rate_attribute: str = Field(default="rate", description="Attribute of links: their rate.")
    delay_attribute: str = Field(default="delay", description="Attribute of links: their delay.")
    rate_unit: str | None = Field(default=None, description="Unit of rates without one.")
    delay_unit: str | None = Field(default=None, description="Unit of delays without one.")

    @override
    def wire(self) -> Wiring:
        raise NotImplementedError("it is read first")

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        found: list[tuple[Path, str, str | None]] = []
        if self.format is None and FilePath(self.file).suffix.lower() not in SUFFIXES:
            what = f"what {self.file!r} is does not follow from its name"
            found.append((("format",), what, "graphml, json, containerlab, csv"))
        for key, unit, units in (
            ("rate_unit", self.rate_unit, RATES),
            ("delay_unit", self.delay_unit, TIMES),
        ):
            if unit is not None and unit not in units:
                found.append(((key,), f"{unit!r} is not a unit", ", ".join(units)))
        return found

    @override
    def read(self, folder: FilePath, findings: Findings, path: Path) -> TopologyTable | None:
        file = folder / self.file
        if not is_file(file):
            what = f"there is no file {self.file!r} next to the experiment file"
            findings.add((*path, "file"), what)
            return None
        before = len(findings.problems)

        def tell(where: str, what: str, allowed: str | None, hint: str | None) -> None:
            place = f"{self.file}: {where}" if where else self.file
            findings.merge([Problem(place, what, allowed, hint)])

        kind = self.format or SUFFIXES[file.suffix.lower()]
        try:
            graph = _READERS[kind](file, self.file, tell)
            # without the refused parts the network would only give further, misleading problems
            if graph is None or len(findings.problems) > before:
                return None
            _refuse_many(len(graph.nodes) + len(graph.edges), self.file)
            form = self._form(graph, tell)
        except UserError as error:
            findings.merge(error.problems)
            return None
        return decode(Explicit, form) if len(findings.problems) == before else None

    def _form(self, graph: Graph, tell: Tell) -> dict[str, Any]:
        """Return the canonical form of the explicit topology; incomplete if there are problems."""
        if self.name_attribute is not None:
            graph = _renamed(graph, self.name_attribute, tell)
        _check(graph, tell, self.name_attribute is not None)
        hosts = self._hosts(graph, tell)
        switches = [name for name in graph.nodes if name not in hosts]
        links = [link for edge in graph.edges if (link := self._link(edge, tell))]
        more = self._more_hosts(switches, graph, tell)
        own = {"rate_bps": self.rate, "delay_ps": self.delay}
        links += [{"between": [name, switch], **own} for name, switch in more]
        names = [*[name for name in graph.nodes if name in hosts], *[name for name, _ in more]]
        if len(names) < 2:
            hint = "name them: hosts = [...], or add some: add_hosts = 2"
            tell(
                "", f"{len(names)} of its {len(graph.nodes)} nodes are hosts", "at least two", hint
            )
        common = encode(self)
        kept = {key: common[key] for key in common if key not in _own_keys()}
        return kept | {"kind": "explicit", "hosts": names, "switches": switches, "links": links}

    def _hosts(self, graph: Graph, tell: Tell) -> set[str]:
        """Return which nodes are hosts, each with exactly one link."""
        degree = Counter(end for edge in graph.edges for end in (edge.a, edge.b))
        if self.hosts is not None:
            hosts = _chosen(self.hosts, graph.nodes, "hosts", tell)
        else:
            hosts = {name for name, of in graph.nodes.items() if _is_host(of, degree[name])}
            hosts = hosts or {name for name in graph.nodes if degree[name] == 1}
        for name in sorted(hosts):
            if degree[name] != 1:
                hint = "choose the hosts: hosts = [...]" if self.hosts is None else None
                tell(name, f"host {name!r} has {degree[name]} links", "exactly one", hint)
        return hosts

    def _more_hosts(
        self, switches: Sequence[str], graph: Graph, tell: Tell
    ) -> list[tuple[str, str]]:
        """Return hosts that are added, each with its switch."""
        if not self.add_hosts:
            return []
        chosen = set(switches)
        if self.add_hosts_on is not None:
            chosen = _chosen(self.add_hosts_on, switches, "add_hosts_on", tell)
        added = [
            (f"{switch}-h{number}", switch)
            for switch in switches
            if switch in chosen
            for number in range(self.add_hosts)
        ]
        for name, _ in added:
            if name in graph.nodes:
                tell(name, f"a node has the same name as the added host {name!r}", None, None)
        return added

    def _link(self, edge: Edge, tell: Tell) -> dict[str, Any] | None:
        readers = (
            ("rate_bps", self.rate_attribute, self.rate_unit, parse_rate, self.rate),
            ("delay_ps", self.delay_attribute, self.delay_unit, parse_time, self.delay),
        )
        link: dict[str, Any] = {"between": [edge.a, edge.b]}
        for key, attribute, unit, parse, default in readers:
            value = edge.attributes.get(attribute)
            if value is None or value == "":
                link[key] = default
                continue
            text = (_plain(value) or "a list or table").strip()
            if unit is not None and _is_number(text):
                text = f"{text}{unit}"
            try:
                link[key] = parse(text)
                if key == "rate_bps" and link[key] == 0:
                    raise ValueError("a rate of 0; allowed: above 0")
            except ValueError as error:
                hint = None
                if _is_number(text):
                    name = key.partition("_")[0]
                    hint = f'say which unit it is in: {name}_unit = "..." in [topology]'
                tell(f"{edge.where}: {attribute}", str(error), None, hint)
                return None
        return link


def _own_keys() -> set[str]:
    """The keys that other kinds do not have."""
    return set(FileTopology.model_fields) - set(TopologyTable.model_fields)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_host(attributes: Mapping[str, Any], links: int) -> bool:
    says = {(_plain(attributes.get(key)) or "").lower() for key in ROLES}
    return bool(says & HOSTS) or (PLAIN in says and links == 1)


def _refuse_many(parts: int, label: str) -> None:
    if parts > MAX_PARTS:
        what = f"its network has {parts:,} nodes and links"
        raise UserError([Problem(label, what, f"at most {MAX_PARTS:,}")])


def _chosen(patterns: Sequence[str], names: Collection[str], key: str, tell: Tell) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        some = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not some:
            what = f"no node is called {pattern!r} ({key})"
            tell("", what, one_of(names), suggest(pattern, names))
        found.update(some)
    return found


# ---------------------------------------------------------------------------------------------
# What every network must satisfy


def _check(graph: Graph, tell: Tell, named: bool) -> None:
    """Note loops, duplicate links, invalid names, and parts that are not connected.

    named: by an attribute that the user chose.
    """
    seen: dict[frozenset[str], str] = {}
    for edge in graph.edges:
        ends = frozenset((edge.a, edge.b))
        if len(ends) == 1:
            tell(edge.where, f"a link leads from {edge.a} to itself", "two different ends", None)
        elif ends in seen:
            what = f"a second link between {edge.a} and {edge.b}, after {seen[ends]}"
            hint = "merge them into one link with the sum of their rates"
            tell(edge.where, what, "one link between two nodes", hint)
        seen.setdefault(ends, edge.where)
    for name in graph.nodes:
        if (not name and not named) or not all(
            letter.isalnum() or letter in "-_" for letter in name
        ):
            what = f"{quoted(name)} is not a valid node name"
            other = None if named else "or set name_attribute"
            tell(quoted(name), what, "letters, digits, '-' and '_'", other)
    parts = _parts(graph)
    if len(parts) > 1:
        listed = "; ".join(one_of(sorted(part), 5) for part in parts[:5])
        what = f"the network consists of {len(parts)} parts: {listed}"
        tell("", what, "nodes that all reach each other", None)


def _parts(graph: Graph) -> list[set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    seen = set[str]()
    parts = []
    for name in graph.nodes:
        if name in seen:
            continue
        part, front = set[str](), [name]
        while front:
            node = front.pop()
            if node not in part:
                part.add(node)
                front += near[node]
        parts.append(part)
        seen |= part
    return parts


def _renamed(graph: Graph, attribute: str, tell: Tell) -> Graph:
    names = {name: _plain(of.get(attribute)) or "" for name, of in graph.nodes.items()}
    have = [{key for key in of if _plain(of[key])} for of in graph.nodes.values()]
    everywhere = sorted(set.intersection(*have)) if have else []
    for name, new in names.items():
        if not new:
            what = f"the node has no name: no attribute {attribute!r}, or an empty one"
            allowed = f"an attribute that every node has: {one_of(everywhere) or 'there is none'}"
            tell(name, what, allowed, suggest(attribute, everywhere))
    for new, count in Counter(names.values()).items():
        if count > 1 and new:
            tell("", f"{count} nodes are called {new!r}", "a unique name for every node", None)
    edges = [Edge(names[e.a], names[e.b], e.where, e.attributes) for e in graph.edges]
    return Graph({names[name]: of for name, of in graph.nodes.items()}, edges)


# ---------------------------------------------------------------------------------------------
# Formats


def _no_node(end: str, nodes: Collection[str], where: str, tell: Tell) -> None:
    """Note an end of a link that is not a node."""
    what = f"{end!r} is outside the topology" if end in SPECIAL else f"there is no node {end!r}"
    tell(where, what, one_of(nodes) or "none: it has no nodes", suggest(end, nodes))


def _directed(multigraph: bool, tell: Tell) -> None:
    kind = "multigraph" if multigraph else "graph"
    hint = "save it undirected: graph.to_undirected() of networkx"
    tell("", f"it is a directed {kind}: its links lead one way", "an undirected graph", hint)


def _graphml(file: FilePath, label: str, tell: Tell) -> Graph | None:
    from xml.etree.ElementTree import ParseError, fromstring

    content = read_text(file, label, MAX_BYTES)
    _refuse_many(sum(1 for _ in _PARTS.finditer(content)), label)
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
        _directed(graph.is_multigraph(), tell)
        return None
    _check_graphml(root, tell)
    edges = [Edge(a, b, f"link {a} - {b}", dict(of)) for a, b, of in graph.edges(data=True)]
    return Graph({name: dict(of) for name, of in graph.nodes(data=True)}, edges)


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
                _no_node(end, nodes, f"edge {number}: {side}", tell)


def _node_link(file: FilePath, label: str, tell: Tell) -> Graph | None:
    """Node-link data as networkx writes them; networkx would turn all ends of links into nodes."""
    content = read_json(file, label, MAX_BYTES)
    of = content if isinstance(content, dict) else {}
    key = "links" if "links" in of else "edges"
    nodes, links = of.get("nodes"), of.get(key)
    if not isinstance(nodes, list) or not isinstance(links, list):
        allowed = '{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}'
        tell("", "is not node-link JSON as networkx writes it", allowed, None)
        return None
    if of.get("directed"):
        _directed(bool(of.get("multigraph")), tell)
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
                _no_node(end, graph.nodes, where, tell)
        own = {key: link[key] for key in link if key not in ("source", "target")}
        graph.edges.append(Edge(a, b, where, own))
    return graph


def _id(entry: object, key: str) -> str | None:
    return _name(entry.get(key)) if isinstance(entry, dict) else None


def _name(value: object) -> str | None:
    """Return the name of a node; networkx writes tuples, such as places in a grid, as lists."""
    if isinstance(value, list | tuple):
        return str(tuple(value))
    return None if isinstance(value, bool) else _plain(value)


def _plain(value: object) -> str | None:
    """Return a value as text; None of a list or table, which aliases of YAML can make endless."""
    return str(value) if isinstance(value, str | int | float) else None


def _csv(file: FilePath, label: str, tell: Tell) -> Graph | None:
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


def _containerlab(file: FilePath, label: str, tell: Tell) -> Graph | None:
    """Nodes and links of `topology` in a file of containerlab."""
    from pyorch.network.plain_yaml import read_yaml

    content = read_yaml(file, label)
    inner = content.get("topology") if isinstance(content, dict) else None
    nodes = inner.get("nodes") if isinstance(inner, dict) else None
    links = inner.get("links", []) if isinstance(inner, dict) else None
    if not isinstance(nodes, dict) or not isinstance(links, list):
        tell("", "is not a containerlab file", "topology: with nodes: and links:", None)
        return None
    graph = Graph()
    for number, (key, of) in enumerate(nodes.items(), 1):
        name = _name(key)
        if name is None:  # also yes, no, on and off
            what = "its name is a truth value or empty in YAML"
            tell(f"topology.nodes, node {number}", what, "a string", "put the name in quotes")
        else:
            graph.nodes[name] = of if isinstance(of, dict) else {}
    for number, link in enumerate(links):
        where = f"topology.links[{number}]"
        ends = list(_ends(link))
        if len(ends) != 2:
            tell(
                where, "it is not a link between two nodes", 'endpoints: ["a:eth1", "b:eth1"]', None
            )
            continue
        for end in ends:
            if end not in graph.nodes:
                _no_node(end, graph.nodes, where, tell)
        if set(ends) <= set(graph.nodes):
            labels = link.get("labels", {})
            graph.edges.append(
                Edge(ends[0], ends[1], where, labels if isinstance(labels, dict) else {})
            )
    return graph


def _ends(link: object) -> Iterator[str]:
    """Yield the nodes of a link: "a:eth1", or {node: a, interface: eth1}."""
    ends = link.get("endpoints") if isinstance(link, dict) else None
    for end in ends if isinstance(ends, list) else []:
        if isinstance(end, str):
            yield end.partition(":")[0]
        elif isinstance(end, dict) and "node" in end:
            yield _plain(end["node"]) or "a list or table"


_READERS: dict[Format, Callable[[FilePath, str, Tell], Graph | None]] = {
    "graphml": _graphml,
    "json": _node_link,
    "containerlab": _containerlab,
    "csv": _csv,
}
