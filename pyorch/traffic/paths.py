"""Paths of flows and of their answers (ACK, NACK, CNP): how they are written and checked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field

from pyorch.base.errors import suggest
from pyorch.network.topology import Topology

AckMode = str
"""How answers without a separate path are routed: "reverse" or "ecmp"."""
ACK_MODES = ("reverse", "ecmp")
_BETWEEN = re.compile(r"\s*>\s*|\s+")


def split_path(text: str) -> list[str]:
    """Return the nodes of a path written as "h0 > s0 > h1" or "h0 s0 h1"."""
    return _BETWEEN.split(text.strip())


def _read_path(value: Any) -> Any:
    return split_path(value) if isinstance(value, str) else value


def read_ack_path(value: Any) -> Any:
    """Return a mode as it is, and other text as the nodes of a path."""
    if not isinstance(value, str) or value in ACK_MODES:
        return value
    nodes = split_path(value)
    if len(nodes) == 1:
        hint = suggest(value, ACK_MODES)
        allowed = "'reverse', 'ecmp' or the nodes of a path"
        raise ValueError(
            f"{value!r} is not a path; allowed: {allowed}" + (f"; {hint}" * bool(hint))
        )
    return nodes


NodePath = Annotated[
    list[str],
    BeforeValidator(_read_path, json_schema_input_type=str | list[str]),
    Field(min_length=2),
]
"""Every node from one end to the other: a list of names, or "h0 > s0 > h1"."""
AckPath = Annotated[
    AckMode | list[str],
    BeforeValidator(read_ack_path, json_schema_input_type=str | list[str]),
]
"""The path of answers: every node from the flow's destination to its source, or an AckMode."""

Nodes = npt.NDArray[np.uint32]
"""The numbers of the nodes of a path."""
Tell = Callable[[str, str | None, str | None], None]
"""Notes a problem, what is allowed, and a hint."""


def check_path(
    path: Sequence[str], flow: tuple[str, str], network: Topology, tell: Tell, back: bool
) -> None:
    """Report everything that is wrong with a path for a flow with these ends.

    back: it is the path of the flow's answers, from its destination to its source.
    """
    ends = (flow[1], flow[0]) if back else flow
    way = "dst to src" if back else "src to dst"
    unknown = [name for name in path if name.partition("#")[0] not in network.numbers]
    for name in unknown:
        tell(f"there is no node {name!r}", None, suggest(name, network.names))
    if unknown:
        return
    if len(path) < 2 or (path[0], path[-1]) != ends:
        tell(f"does not lead from {way}", f"{ends[0]}, ..., {ends[1]}", None)
    for name in path[1:-1]:
        if network.is_host(name):
            tell(f"leads through host {name!r}", "switches between src and dst", None)
    for before, b in itertools.pairwise(path):
        a = before.partition("#")[0]
        port = network.port(a, b)
        if port is None:
            tell(*network.no_link(a, b), None)
        elif network.links[port] in network.failed_links:
            tell(f"the link from {a} to {b} has failed from the start", None, None)


class PathBook:
    """Fills in the paths of flows and their answers; the first one for a flow counts.

    The three dictionaries, by flow, are those of traffic.Flows.
    """

    def __init__(
        self,
        network: Topology,
        paths: dict[int, Nodes],
        ack_paths: dict[int, Nodes],
        ack_reverse: dict[int, bool],
    ) -> None:
        self._network = network
        self._paths = paths
        self._ack_paths = ack_paths
        self._ack_reverse = ack_reverse

    def add(
        self, flow: int, path: Sequence[str] | None, ack: AckMode | Sequence[str] | None
    ) -> None:
        """Take the path given for one flow."""
        if path is not None and flow not in self._paths:
            self._paths[flow] = self._numbers(path)
        if ack is not None and flow not in self._ack_paths and flow not in self._ack_reverse:
            if isinstance(ack, str):
                self._ack_reverse[flow] = ack == "reverse"
            else:
                self._ack_paths[flow] = self._numbers(ack)

    def add_by_ends(
        self,
        flows: Iterable[tuple[int, tuple[int, int]]],
        paths: Sequence[Sequence[str]],
        ack_paths: Sequence[Sequence[str]],
    ) -> None:
        """Give flows, by number and ends, the path with the same ends."""
        there, back = self._by_ends(paths), self._by_ends(ack_paths)
        for flow, (src, dst) in flows:
            if (src, dst) in there:
                self._paths.setdefault(flow, there[src, dst])
            if (dst, src) in back and flow not in self._ack_reverse:
                self._ack_paths.setdefault(flow, back[dst, src])

    def _numbers(self, path: Sequence[str]) -> Nodes:
        network = self._network
        numbers = [network.numbers.get(name) for name in path]
        for place, number in enumerate(numbers):
            if number is None:  # by one of several links
                port = network.port(path[place - 1].partition("#")[0], path[place])
                numbers[place] = None if port is None else port[1]
        return np.array(numbers, dtype=np.uint32)

    def _by_ends(self, paths: Sequence[Sequence[str]]) -> Mapping[tuple[int, int], Nodes]:
        numbered = [self._numbers(path) for path in paths]
        return {(int(path[0]), int(path[-1])): path for path in numbered}
