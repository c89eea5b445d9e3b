"""The kind `file`: a network from a file in any format that `pyorch.readers` knows.

What is read becomes an explicit topology, so that a run knows nothing of the file.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from pyorch.base.errors import Problem, UserError, one_of, quoted, suggest
from pyorch.base.fields import Names, as_list, decode, encode
from pyorch.base.findings import Findings, Path
from pyorch.base.reading import is_file
from pyorch.base.units import LENGTHS, RATES, TIMES
from pyorch.network.kinds import Explicit
from pyorch.network.topology import TopologyTable, Wiring, topology
from pyorch.readers import door
from pyorch.readers.graphs import (
    ERRORS,
    Edge,
    Graph,
    Servers,
    Tell,
    degrees,
    named_hosts,
    parts_of,
    plain,
    read_delay,
    read_rate,
    refuse_many,
    respell,
    without,
)


@topology("file")
class FileTopology(TopologyTable):
    """Nodes and links of a file: GraphML, node-link JSON, containerlab, CSV, HPCC and others.

    Routes are the shortest paths, as in every topology; others are given by [[route]] and `path`.
    """

    lists_links: ClassVar[bool] = True

    file: str = Field(description="Path, relative to the experiment file.")
    format: str | None = Field(
        default=None, description="Format of the file; default: from its name."
    )
    hosts: (
        Annotated[list[str], BeforeValidator(as_list, json_schema_input_type=str | list[str])]
        | None
    ) = Field(
        default=None,
        description="Which nodes are hosts, names or patterns, [] is none; default: those whose "
        "role, kind or type is host or server, or linux with one link; where there is none, all "
        "with one link.",
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
    respell: bool = Field(
        default=False,
        description="Whether '-' stands for blanks, dots and whatever else names may not have, as "
        "in messages to them.",
    )
    rate_attribute: str = Field(default="rate", description="Attribute of links: their rate.")
    delay_attribute: str = Field(default="delay", description="Attribute of links: their delay.")
    rate_unit: str | None = Field(default=None, description="Unit of rates without one.")
    delay_unit: str | None = Field(
        default=None, description="Unit of delays without one; m or km: 5 ns a metre of cable."
    )
    parallel: Literal["keep", "merge"] = Field(
        default="keep",
        description="Several links between two switches; keep: each is a port of its own; merge: "
        "one with the sum of their rates and the longest of their delays.",
    )
    parts: Literal["refuse", "largest", "keep"] = Field(
        default="refuse",
        description="A network that is not connected, such as planes after a split; largest: the "
        "part with the most nodes, also without links from a node to itself; keep: all parts, "
        "between which there can be no traffic.",
    )
    error_rates: Literal["refuse", "ignore"] = Field(
        default="refuse",
        description="Links that lose frames; ignore: no link does, unless [port] or [[node]] has a "
        "loss_rate.",
    )

    @override
    def wire(self) -> Wiring:
        raise NotImplementedError("it is read first")

    @override
    def may_fall_apart(self) -> bool:
        return self.parts == "keep"

    @override
    def problems(self) -> list[tuple[Path, str, str | None]]:
        found: list[tuple[Path, str, str | None]] = []
        kind = self.format or door.format_of(self.file, "network")
        if kind is None or not door.knows(kind, "network"):
            what = f"what {self.file!r} is does not follow from its name"
            what = f"unknown format {kind!r}" if kind else what
            found.append((("format",), what, ", ".join(door.formats("network"))))
        if self.parts == "keep" and self.random_failed_links:
            what = "random links may only fail where all hosts stay connected"
            found.append((("random_failed_links",), what, 'none, with parts = "keep"'))
        for key, unit, units in (
            ("rate_unit", self.rate_unit, RATES),
            ("delay_unit", self.delay_unit, TIMES | LENGTHS),
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

        kind = self.format or door.format_of(self.file, "network") or ""
        try:
            graph: Graph | None = door.reader(kind, "network")(file, self.file, tell)
            # without the refused parts the network would only give further, misleading problems
            if graph is None or len(findings.problems) > before:
                return None
            refuse_many(len(graph.nodes) + len(graph.edges), self.file)
            form = self._form(graph, tell)
        except UserError as error:
            findings.merge(error.problems)
            return None
        return decode(Explicit, form) if len(findings.problems) == before else None

    def _form(self, graph: Graph, tell: Tell) -> dict[str, Any]:
        """Return the canonical form of the explicit topology; incomplete if there are problems."""
        if self.name_attribute is not None:
            graph = _renamed(graph, self.name_attribute, tell)
        if self.respell:
            graph = respell(graph)
        if self.parts == "largest" and graph.nodes:
            graph = without(graph, set(graph.nodes) - max(parts_of(graph), key=len))
        hosts = self._hosts(graph, tell)
        switches = [name for name in graph.nodes if name not in hosts]
        _check(graph, tell, self)
        self._check_hosts(graph, hosts, tell)
        links = [link for edge in graph.edges if (link := self._link(edge, tell))]
        if self.parallel == "merge":
            links = _merged(links)
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
        kept = _in_servers(graph.servers) | kept
        return kept | {"kind": "explicit", "hosts": names, "switches": switches, "links": links}

    def _hosts(self, graph: Graph, tell: Tell) -> set[str]:
        """Return which nodes are hosts."""
        if self.hosts is not None:
            return _chosen(self.hosts, graph.nodes, "hosts", tell)
        degree = degrees(graph)
        return named_hosts(graph) or {name for name in graph.nodes if degree[name] == 1}

    def _check_hosts(self, graph: Graph, hosts: Collection[str], tell: Tell) -> None:
        """Note hosts that have no link."""
        degree = degrees(graph)
        for name in sorted(hosts):
            if not degree[name]:
                hint = "choose the hosts: hosts = [...]" if self.hosts is None else None
                tell(name, f"host {name!r} has no link", "one or several", hint)

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
            ("rate_bps", self.rate_attribute, self.rate_unit, read_rate, self.rate),
            ("delay_ps", self.delay_attribute, self.delay_unit, read_delay, self.delay),
        )
        link: dict[str, Any] = {"between": [edge.a, edge.b]}
        if ERRORS in edge.attributes and self.error_rates == "refuse":
            what = f"the link loses frames: its error rate is {edge.attributes[ERRORS]}"
            cure = 'give loss_rate in [port] or [[node]], and error_rates = "ignore" here'
            tell(edge.where, what, "0", cure)
            return None
        for key, attribute, unit, parse, default in readers:
            value = edge.attributes.get(attribute)
            if value is None or value == "":
                link[key] = default
                continue
            text = (plain(value) or "a list or table").strip()
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


def _in_servers(servers: Servers | None) -> dict[str, Any]:
    """Return what a file says of servers, as a canonical form."""
    if servers is None:
        return {}
    form: dict[str, Any] = {"hosts_per_server": servers.size}
    if servers.rate:
        form["scale_up"] = {"rate_bps": servers.rate, "delay_ps": servers.delay}
    return form


def _merged(links: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one link for all between the same two nodes, in the order of their first ones."""
    found: dict[frozenset[str], dict[str, Any]] = {}
    for link in links:
        first = found.setdefault(frozenset(link["between"]), link)
        if first is not link:
            first["rate_bps"] += link["rate_bps"]
            first["delay_ps"] = max(first["delay_ps"], link["delay_ps"])
    return list(found.values())


def _own_keys() -> set[str]:
    """The keys that other kinds do not have."""
    return set(FileTopology.model_fields) - set(TopologyTable.model_fields)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _check(graph: Graph, tell: Tell, table: FileTopology) -> None:
    """Note loops, invalid names, and parts that are not connected."""
    named = table.name_attribute is not None
    for edge in graph.edges:
        if edge.a == edge.b:
            hint = 'leave it out: parts = "largest"'
            tell(edge.where, f"a link leads from {edge.a} to itself", "two different ends", hint)
    for name in graph.nodes:
        if (not name and not named) or not all(
            letter.isalnum() or letter in "-_" for letter in name
        ):
            what = f"{quoted(name)} is not a valid node name"
            other = "respell = true puts '-' for others" + (
                "" if named else "; or set name_attribute"
            )
            tell(quoted(name), what, "letters, digits, '-' and '_'", other)
    parts = parts_of(graph)
    if len(parts) > 1 and table.parts != "keep":
        listed = "; ".join(one_of(sorted(part), 5) for part in parts[:5])
        what = f"the network consists of {len(parts)} parts: {listed}"
        hint = 'keep the largest one, parts = "largest", or all, parts = "keep"'
        tell("", what, "nodes that all reach each other", hint)


def _renamed(graph: Graph, attribute: str, tell: Tell) -> Graph:
    names = {name: plain(of.get(attribute)) or "" for name, of in graph.nodes.items()}
    have = [{key for key in of if plain(of[key])} for of in graph.nodes.values()]
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
    nodes = {names[name]: of for name, of in graph.nodes.items()}
    return Graph(nodes, edges, graph.servers)
