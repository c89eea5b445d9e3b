"""The kind `file`: a network from GraphML, node-link JSON, containerlab YAML or a CSV of links.

What is read becomes an explicit topology, so that a run knows nothing of the file. networkx reads
GraphML and node-link JSON, PyYAML reads YAML.
"""

from __future__ import annotations

import csv
import fnmatch
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.config.topology import TopologyTable, Wiring, topology
from pyorch.config.topology_kinds import Explicit
from pyorch.errors import Problem, one_of, quoted, suggest
from pyorch.fields import Names, decode, encode
from pyorch.findings import Findings, Path
from pyorch.reading import is_file
from pyorch.units import RATES, TIMES, parse_rate, parse_time

if TYPE_CHECKING:
    import networkx as nx

Format = Literal["graphml", "json", "containerlab", "csv"]
SUFFIXES: dict[str, Format] = {
    ".graphml": "graphml",
    ".json": "json",
    ".yml": "containerlab",
    ".yaml": "containerlab",
    ".csv": "csv",
}
"""What a file is, by the end of its name."""
ROLES = ("role", "kind", "type")
"""Attributes of nodes that may say what a node is."""
HOSTS, PLAIN = frozenset({"host", "server"}), "linux"
"""What they say of a host, and the kind of a container of containerlab that may be anything."""
SPECIAL = frozenset({"host", "macvlan", "mgmt-net", "vxlan", "vxlan-stitch", "dummy"})
"""Ends of links of containerlab that are no nodes of the topology."""


@dataclass
class Edge:
    """A link as it stands in the file. where: how messages name its place."""

    a: str
    b: str
    where: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Graph:
    """What a file says: nodes with their attributes, and links."""

    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


Tell = Callable[[str, str, str | None, str | None], None]
"""Notes a problem: where in the file, what, what is allowed, a hint."""


@topology("file")
class FileTopology(TopologyTable):
    """Nodes and links of a file beside the experiment: GraphML, node-link JSON, containerlab, CSV.

    Routes are the shortest paths, as in every topology; others are given by [[route]] and `path`.
    """

    file: str = Field(description="The file, beside the experiment file.")
    format: Format | None = Field(default=None, description="Of the file; by default by its name.")
    hosts: Names | None = Field(
        default=None,
        description="Which nodes are hosts, names or patterns; default: those whose role, kind or "
        "type is host or server, or linux with one link; where there is none, all with one link.",
    )
    add_hosts: int = Field(
        default=0, ge=0, le=1024, description="So many more hosts on each switch: NAME-h0, ..."
    )
    add_hosts_on: Names | None = Field(
        default=None, description="On which switches, names or patterns; default all."
    )
    name_attribute: str | None = Field(
        default=None, description="Attribute of nodes that is their name; default their id."
    )
    rate_attribute: str = Field(default="rate", description="Attribute of links: their rate.")
    delay_attribute: str = Field(default="delay", description="Attribute of links: their delay.")
    rate_unit: str | None = Field(default=None, description="Unit of rates that have none.")
    delay_unit: str | None = Field(default=None, description="Unit of delays that have none.")

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
                found.append(((key,), f"{unit!r} is no unit", ", ".join(units)))
        return found

    @override
    def read(self, folder: FilePath, findings: Findings, path: Path) -> TopologyTable | None:
        file = folder / self.file
        if not is_file(file):
            what = f"there is no file {self.file!r} beside the experiment file"
            findings.add((*path, "file"), what)
            return None
        before = len(findings.problems)

        def tell(where: str, what: str, allowed: str | None, hint: str | None) -> None:
            place = f"{self.file}: {where}" if where else self.file
            findings.merge([Problem(place, what, allowed, hint)])

        form = self._form(file, tell)
        return decode(Explicit, form) if form and len(findings.problems) == before else None

    def _form(self, file: FilePath, tell: Tell) -> dict[str, Any] | None:
        """Return the canonical form of the explicit topology, or what is there besides problems."""
        graph = _read(file, self.format or SUFFIXES[file.suffix.lower()], tell)
        if graph is None:
            return None
        if self.name_attribute is not None:
            graph = _renamed(graph, self.name_attribute, tell)
        _check(graph, tell)
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
                tell(name, f"a node is called as the host {name!r} that is added", None, None)
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
            text = str(value).strip()
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
    says = {str(attributes.get(key, "")).lower() for key in ROLES}
    return bool(says & HOSTS) or (PLAIN in says and links == 1)


def _chosen(patterns: Sequence[str], names: Collection[str], key: str, tell: Tell) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        some = fnmatch.filter(names, pattern)
        if not some:
            what = f"no node is called {pattern!r} ({key})"
            tell("", what, one_of(names), suggest(pattern, names))
        found.update(some)
    return found


# ---------------------------------------------------------------------------------------------
# What must be true of any network


def _check(graph: Graph, tell: Tell) -> None:
    """Note loops, links twice, names that cannot be, and parts that are not connected."""
    seen: dict[frozenset[str], str] = {}
    for edge in graph.edges:
        ends = frozenset((edge.a, edge.b))
        if len(ends) == 1:
            tell(edge.where, f"a link leads from {edge.a} to itself", "two different ends", None)
        elif ends in seen:
            what = f"a second link between {edge.a} and {edge.b}, after {seen[ends]}"
            hint = "make one link of them, of their rates together"
            tell(edge.where, what, "one link between two nodes", hint)
        seen.setdefault(ends, edge.where)
    for name in graph.nodes:
        if not name or not all(letter.isalnum() or letter in "-_" for letter in name):
            what = f"{quoted(name)} is no name of a node"
            tell(quoted(name), what, "letters, digits, '-' and '_'", "or set name_attribute")
    parts = _parts(graph)
    if len(parts) > 1:
        listed = "; ".join(one_of(sorted(part), 5) for part in parts[:5])
        what = f"the network falls into {len(parts)} parts: {listed}"
        tell("", what, "nodes that all reach each other", None)


def _parts(graph: Graph) -> list[set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    left = dict.fromkeys(graph.nodes)
    parts = []
    while left:
        part, front = set[str](), [next(iter(left))]
        while front:
            node = front.pop()
            if node not in part:
                part.add(node)
                front += near[node]
        parts.append(part)
        left = {name: None for name in left if name not in part}
    return parts


def _renamed(graph: Graph, attribute: str, tell: Tell) -> Graph:
    names = {name: str(of.get(attribute, "")) for name, of in graph.nodes.items()}
    for name, new in names.items():
        if not new:
            known = sorted({key for of in graph.nodes.values() for key in of})
            what = f"the node has no attribute {attribute!r}"
            tell(name, what, one_of(known) or "no node has one", suggest(attribute, known))
    for new, count in Counter(names.values()).items():
        if count > 1 and new:
            tell("", f"{count} nodes are called {new!r}", "every node a name of its own", None)
    edges = [Edge(names[e.a], names[e.b], e.where, e.attributes) for e in graph.edges]
    return Graph({names[name]: of for name, of in graph.nodes.items()}, edges)


# ---------------------------------------------------------------------------------------------
# Formats


def _read(file: FilePath, kind: Format, tell: Tell) -> Graph | None:
    """Read a file; None when it is not what it should be, which is noted."""
    try:
        return _READERS[kind](file, tell)
    except UnicodeDecodeError:
        tell("", "is no text in UTF-8", None, None)
    except OSError as error:
        tell("", f"cannot be read: {error.strerror}", None, None)
    return None


def _graphml(file: FilePath, tell: Tell) -> Graph | None:
    from xml.etree.ElementTree import ParseError

    import networkx as nx

    try:
        graph = nx.read_graphml(file)
    except (ParseError, nx.NetworkXError, KeyError, ValueError, TypeError) as error:
        tell("", f"is no GraphML: {error}", None, None)
        return None
    return _of_networkx(graph, tell)


def _node_link(file: FilePath, tell: Tell) -> Graph | None:
    import networkx as nx

    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        key = "links" if "links" in content else "edges"
        graph = nx.node_link_graph(content, edges=key)
    except json.JSONDecodeError as error:
        tell(f"line {error.lineno}", f"is no JSON: {error.msg}", None, None)
        return None
    except (nx.NetworkXError, KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"is no node-link JSON as networkx writes it: {type(error).__name__} {error}"
        tell("", what, '{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}', None)
        return None
    return _of_networkx(graph, tell)


def _of_networkx(graph: nx.Graph[Any], tell: Tell) -> Graph | None:
    if graph.is_directed():
        kind = "multigraph" if graph.is_multigraph() else "graph"
        hint = "save it undirected: graph.to_undirected() of networkx"
        tell("", f"it is a directed {kind}: its links lead one way", "an undirected graph", hint)
        return None
    nodes: dict[str, Mapping[str, Any]] = {
        str(name): dict(of) for name, of in graph.nodes(data=True)
    }
    edges = [
        Edge(str(a), str(b), f"link {a} - {b}", dict(of)) for a, b, of in graph.edges(data=True)
    ]
    return Graph(nodes, edges)


def _csv(file: FilePath, tell: Tell) -> Graph | None:
    """Links in the columns a and b, and attributes in the others; # begins a comment."""
    with file.open(encoding="utf-8", newline="") as text:
        lines = [
            (number, line)
            for number, line in enumerate(text, start=1)
            if line.strip() and not line.startswith("#")
        ]
    rows = csv.reader(line for _, line in lines)
    head = [name.strip() for name in next(rows, [])]
    if not {"a", "b"} <= set(head) or len(set(head)) < len(head):
        what = f"the first line has the columns {one_of(head) or 'none'}"
        tell("line 1", what, "a, b, and perhaps rate, delay and others, each once", None)
        return None
    graph = Graph()
    for (number, _), row in zip(lines[1:], rows, strict=False):
        where = f"line {number}"
        if len(row) != len(head):
            tell(where, f"{len(row)} cells in {len(head)} columns", None, None)
            continue
        cells = {name: cell.strip() for name, cell in zip(head, row, strict=True)}
        a, b = cells.pop("a"), cells.pop("b")
        graph.nodes |= {a: graph.nodes.get(a, {}), b: graph.nodes.get(b, {})}
        graph.edges.append(Edge(a, b, where, cells))
    return graph


def _containerlab(file: FilePath, tell: Tell) -> Graph | None:
    """Nodes and links of `topology` in a file of containerlab."""
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        tell(where, f"is no YAML: {getattr(error, 'problem', None) or error}", None, None)
        return None
    inner = content.get("topology") if isinstance(content, dict) else None
    nodes = inner.get("nodes") if isinstance(inner, dict) else None
    links = inner.get("links", []) if isinstance(inner, dict) else None
    if not isinstance(nodes, dict) or not isinstance(links, list):
        tell("", "is no file of containerlab", "topology: with nodes: and links:", None)
        return None
    graph = Graph({str(name): of if isinstance(of, dict) else {} for name, of in nodes.items()})
    for number, link in enumerate(links):
        where = f"topology.links[{number}]"
        ends = list(_ends(link))
        if len(ends) != 2:
            what = f"{quoted(link)} is no link between two nodes"
            tell(where, what, 'endpoints: ["a:eth1", "b:eth1"]', None)
            continue
        for end in ends:
            if end in graph.nodes:
                continue
            known = one_of(graph.nodes)
            what = f"there is no node {end!r}"
            if end in SPECIAL:
                what = f"{end!r} is outside the topology"
            tell(where, what, known, suggest(end, graph.nodes))
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
            yield str(end["node"])


_READERS: dict[Format, Callable[[FilePath, Tell], Graph | None]] = {
    "graphml": _graphml,
    "json": _node_link,
    "containerlab": _containerlab,
    "csv": _csv,
}
