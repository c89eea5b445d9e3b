"""A network as the simulator has it, where a host with several links is a node for each.

There a host has one link. Of a host with several the first node has its number and name; the others
come behind all nodes and are called as the ports that they are, "h0:s1".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.network.topology import HOST, Numbers, Port, Topology

_PEERS = {
    "peer": "node", "egress_peer": "node", "cause_peer": "peer", "root_peer": "root_node",
}  # fmt: skip
"""Columns of tables that name the neighbour of a port, and those that name the port's node."""
_NODES = ("node", "root_node", "src", "dst")
"""Columns that name nodes."""
_LINKS = ("src_link", "dst_link")
"""Columns that name ports of hosts."""

Nodes = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Apart:
    """The simulator's nodes. network: as experiments know it, by whose numbers it is asked."""

    network: Topology

    @cached_property
    def _more(self) -> list[int]:
        """The ends of links that are nodes behind the others, see `Topology.ends`, in order."""
        return [end for ends in self.network.several.values() for end in ends[1:]]

    @cached_property
    def _nodes(self) -> Numbers:
        """The simulator's node, by the number of a node or the end of a link."""
        nodes = self.network.ends.copy()
        nodes[self._more] = len(self.network.names) + np.arange(len(self._more))
        return nodes

    @cached_property
    def _ends(self) -> Numbers:
        """By the simulator's node, the end of a link that it is; -1: it is a whole node."""
        ends = np.full(len(self.network.names) + len(self._more), -1)
        ends[len(self.network.names) :] = self._more
        for host, own in self.network.several.items():
            ends[host] = own[0]
        return ends

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes."""
        network = self.network
        ports = [network.port_at(end) for end in self._more]
        more = (f"{network.names[node]}:{network.end_names[peer]}" for node, peer in ports)
        return (*network.names, *more)

    @cached_property
    def kinds(self) -> npt.NDArray[np.uint8]:
        """The kinds of all nodes."""
        more = np.full(len(self._more), HOST, dtype=np.uint8)
        return np.concatenate([self.network.kinds, more])

    @cached_property
    def links(self) -> tuple[Nodes, Nodes]:
        """The nodes at both ends of each link."""
        ends = self._nodes[len(self.network.names) :].astype(np.uint32)
        return np.ascontiguousarray(ends[::2]), np.ascontiguousarray(ends[1::2])

    @property
    def groups(self) -> list[Nodes]:
        """The nodes of each host with several links."""
        return [self.of(np.array(ends)) for ends in self.network.several.values()]

    def of(self, ends: npt.NDArray[Any]) -> Nodes:
        """Return the simulator's nodes at ends of links, or of nodes."""
        nodes: Nodes = self._nodes[ends].astype(np.uint32)
        return nodes

    def nodes(self, node: int) -> list[int]:
        """Return all nodes of the simulator that stand for a node."""
        return [int(self._nodes[end]) for end in self.network.host_ends(node)]

    def port(self, node: int, neighbour: int) -> Port:
        """Return a port, both of its numbers as the simulator has them."""
        network = self.network
        own, far = network.link_ends((node, neighbour))
        if neighbour >= len(network.names) and self._ends[self._nodes[[own, far]]].max() < 0:
            return node, neighbour + len(self._more)  # one of several links between switches
        return int(self._nodes[own]), int(self._nodes[far])

    def _path(self, path: Nodes) -> Nodes:
        """Return a path, given by its first node and the neighbours from there on."""
        if not self._more:
            return path
        ports = [self.port(*port) for port in self.network.egresses(path.tolist())]
        return np.array([ports[0][0], *(peer for _, peer in ports)], dtype=np.uint32)

    def flat(self, paths: Mapping[int, Nodes]) -> tuple[Nodes, Nodes, Nodes]:
        """Return paths as three arrays: their flows, their lengths, and all their nodes in turn."""
        own = [self._path(path) for path in paths.values()]
        flows = np.fromiter(paths, dtype=np.uint32, count=len(paths))
        lengths = np.fromiter(map(len, own), dtype=np.uint32, count=len(paths))
        return flows, lengths, np.concatenate([np.zeros(0, np.uint32), *own])

    def told(self, columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a table of the simulator by the numbers of the network."""
        found = dict(columns)
        if not self._more:
            return found
        for peers, nodes in _PEERS.items():
            if peers in columns and nodes in columns:
                told = self._neighbours(columns[nodes].astype(np.int64), columns[peers])
                found[peers] = told.astype(columns[peers].dtype)
        for name in _LINKS:
            if name in columns:
                ports = [self._leads_to(node) for node in columns[name].tolist()]
                found[name] = np.array(ports, dtype=columns[name].dtype)
        for name in _NODES:
            if name in columns:
                found[name] = self._whole[columns[name]].astype(columns[name].dtype)
        return found

    @cached_property
    def _whole(self) -> Numbers:
        """The node by the simulator's node."""
        ends = self._ends
        return np.where(ends < 0, np.arange(len(ends)), self.network.ends[ends])

    @cached_property
    def _seen(self) -> tuple[Numbers, Numbers]:
        """By the simulator's node, the neighbour to which its link leads, and that it is itself."""
        ports = [self.network.port_at(end) if end >= 0 else (0, 0) for end in self._ends.tolist()]
        back = [self.network.reverse(port) if any(port) else (0, 0) for port in ports]
        itself = [
            peer if end >= 0 else node
            for node, (end, (_, peer)) in enumerate(zip(self._ends.tolist(), back, strict=True))
        ]
        return np.array([peer for _, peer in ports]), np.array(itself)

    def _neighbours(self, nodes: Numbers, peers: npt.NDArray[Any]) -> Numbers:
        """Return the neighbours of ports, from the simulator's nodes and neighbours; -1: none."""
        leads, itself = self._seen
        peers = peers.astype(np.int64)
        inside = np.clip(peers, 0, len(itself) - 1)
        found = np.where(peers < len(itself), itself[inside], peers - len(self._more))
        known = np.clip(nodes, 0, len(itself) - 1)
        found = np.where((nodes == known) & (self._ends[known] >= 0), leads[known], found)
        return np.where(peers < 0, peers, found)

    def _leads_to(self, node: int) -> int:
        """Return the neighbour to which the link of a host's node leads."""
        end = int(self._ends[node])
        return self.network.port_at(end if end >= 0 else self.network.first_end(node))[1]
