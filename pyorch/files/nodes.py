"""[[node]]: sections of C++ objects that apply to some nodes, or ports of nodes, only."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyorch.base.errors import suggest
from pyorch.base.findings import Findings, Path
from pyorch.network.topology import Topology
from pyorch.setting.attributes import DEFAULTS, INTERFACES, Catalogue, TypeInfo, resolve_section
from pyorch.setting.canonical import NodeAttributes
from pyorch.sizing.theory import IDEAL, usual_response

#: Keys of an entry that are not sections.
_OWN = ("names", "label")
#: Types whose objects only one kind of node has: True for hosts.
_ONLY = {"ns3::lossless::Switch": False, "ns3::rdma::Host": True}
_NOT_OF_NODES = "ns3::rdma::QueuePair"
PORT = "ns3::lossless::Port"
RESPONSE = "PauseResponse"
"""The attribute of a port that says by which rule it obeys pauses."""


def resolve_nodes(
    entries: Sequence[Any],
    network: Topology,
    types: Catalogue | None,
    schemes: Mapping[str, Any],
    findings: Findings,
    response: str = IDEAL,
) -> dict[int, NodeAttributes]:
    """Validate [[node]] entries, by their numbers; names come in the network's order.

    Sections of schemes that the run does not use are left out. schemes: the TypeIds of the run's
    flow controls, agents and buffer policy. Without types only the names are checked, and sections
    stay as they are written. response: the rule by which ports obey pauses that are not named.
    """
    resolved = {}
    for number, entry in enumerate(entries):
        path: Path = ("node", str(number))
        if not isinstance(entry, dict):
            findings.add(path, f"a table is expected (got {entry!r})")
            continue
        names = _names(entry.get("names"), network, findings, (*path, "names"))
        attributes: dict[str, dict[str, str]] = {}
        for key, data in entry.items():
            if key in _OWN:
                continue
            if types is None:
                attributes[key] = as_written(data)
                continue
            info = types.find(key)
            if info is None:
                findings.unknown((*path, key), "section", key, [*_OWN, *types.sections])
                continue
            values = resolve_section(types, info, data, findings, (*path, key))
            if _fits(info, names, network, types, schemes, findings, (*path, key)) and values:
                attributes[info.name] = attributes.get(info.name, {}) | values
            elif info.name == DEFAULTS["buffer_policy"] and types.policy_attributes(values):
                own = attributes.setdefault(schemes["buffer_policy"], {})
                own |= types.policy_attributes(values) | own
        if attributes:
            sections = dict(sorted(_obeying(attributes, response).items()))
            resolved[number] = NodeAttributes(nodes=names, attributes=sections)
    return resolved


def _obeying(
    attributes: Mapping[str, dict[str, str]], response: str
) -> Mapping[str, dict[str, str]]:
    """Let an entry that says how late its ports obey pauses be exact, whatever the others do."""
    port = attributes.get(PORT, {})
    if response == IDEAL or usual_response(port) != IDEAL:
        return attributes
    return {**attributes, PORT: dict(sorted({RESPONSE: IDEAL, **port}.items()))}


def as_written(section: object) -> dict[str, str]:
    """Return a section that cannot be checked without the types: its values as JSON."""
    data = section if isinstance(section, Mapping) else {}
    return {key: json.dumps(value, sort_keys=True, default=str) for key, value in data.items()}


def _names(value: object, network: Topology, findings: Findings, path: Path) -> list[str]:
    """Return the nodes and ports meant by names and patterns such as "spine*" and "leaf*:h*"."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not given or not all(isinstance(n, str) for n in given):
        what = "missing" if value is None else f"{value!r} is not allowed"
        allowed = 'names of nodes or ports ("s0:h0"), or patterns such as "spine*" or "leaf*:h*"'
        findings.add(path, what, allowed)
        return []
    ports = port_names(network) if any(":" in name for name in given) else []
    found: set[str] = set()
    for name in given:
        known, kind = (ports, "port") if ":" in name else (network.names, "node")
        meant = fnmatch.filter(known, name)
        node, _, neighbour = name.partition(":")
        if not meant and {node, neighbour.partition("#")[0]} <= network.numbers.keys():
            # a port whose name is near may be that of another switch
            what, allowed = network.no_link(node, neighbour)
            findings.add(path, f"there is no port {name!r}: {what}", allowed)
        elif not meant:
            findings.add(path, f"there is no {kind} {name!r}", None, suggest(name, known))
        found.update(meant)
    return [name for name in (*network.names, *ports) if name in found]


def port_names(network: Topology) -> list[str]:
    """Return all ports, "s0:h0" for that of s0 towards h0, in the order of links."""
    names = network.end_names
    both = np.stack(network.ports, axis=1).reshape(2, -1, 2).swapaxes(0, 1).reshape(-1, 2)
    return [f"{names[node]}:{names[neighbour]}" for node, neighbour in both.tolist()]


def _fits(
    info: TypeInfo,
    names: Sequence[str],
    network: Topology,
    types: Catalogue,
    schemes: Mapping[str, Any],
    findings: Findings,
    path: Path,
) -> bool:
    """Whether the nodes have such objects; objects that no node can have are noted."""
    if info.name == _NOT_OF_NODES or types.derives(info, INTERFACES["congestion_control"]):
        what = "belongs to flows, not to a node"
        fitting = "switch, host, buffer, port and the schemes of a node"
        hint = "[[traffic]] has payload_size, dscp and retransmit; host has ack_class and cnp_class"
        findings.add(path, what, fitting, hint if info.name == _NOT_OF_NODES else None)
        return False
    ports = [name for name in names if ":" in name]
    of_ports = info.name == PORT or types.derives(info, INTERFACES["flow_control"])
    if ports and not of_ports:
        what = f"belongs to a node, not to the port {ports[0]}"
        findings.add(path, what, "of ports: port, and flow controls")
        return False
    if types.derives(info, INTERFACES["buffer_policy"]):
        return bool(info.name == schemes["buffer_policy"])  # of every node
    if types.derives(info, INTERFACES["forwarding"]):
        if info.name != schemes["forwarding"]:
            return False  # checked, but this run does not use it
        allowed = {False: True, True: False}
    elif types.is_scheme(info):
        agents = types.derives(info, INTERFACES["agents"])
        of_switches = schemes["agents"] if agents else schemes["flow_control"]
        of_hosts = schemes["host_agents"] if agents else schemes["flow_control"]
        if info.name not in (*of_switches, *of_hosts):
            return False  # checked, but this run does not use it
        allowed = {False: info.name in of_switches, True: info.name in of_hosts}
    elif info.name in _ONLY:
        allowed = {kind: kind == _ONLY[info.name] for kind in (False, True)}
    else:
        allowed = {False: True, True: True}
    wrong = [name for name in names if not allowed[network.is_host(name.partition(":")[0])]]
    for name in wrong[:1]:
        kind = "host" if network.is_host(name.partition(":")[0]) else "switch"
        findings.add(path, f"{name} is a {kind} and has no {path[-1]}", "nodes that have one")
    return not wrong
