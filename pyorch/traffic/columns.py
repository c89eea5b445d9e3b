"""Many plain messages as columns: a line of text for each, instead of a table for each message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import Problem
from pyorch.base.fields import Table
from pyorch.base.units import format_bytes, format_time, rounded_bytes
from pyorch.network.topology import Topology
from pyorch.readers.records import MessageList
from pyorch.traffic.base import Block, Check, TrafficTable, node_numbers


class Columns(Table):
    """Plain messages: in each text whole numbers with blanks between them, one for each message.

    names: of the hosts, which src and dst count from 0. sizes: bytes. starts: ps.
    """

    names: list[str]
    src: str
    dst: str
    sizes: str
    starts: str
    classes: str

    def column(self, name: str) -> npt.NDArray[np.int64]:
        """Return a column as an array."""
        return np.fromstring(getattr(self, name), dtype=np.int64, sep=" ")


def columns_of(check: Check, file: str, found: MessageList, table: TrafficTable) -> Columns | None:
    """Return many messages as columns; note what is wrong with them, each kind of it once."""
    network = check.scene.network
    numbers: dict[str, int] = {}
    src, dst = (
        np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
        for names in (found.src, found.dst)
    )
    absent = [None] * len(src)
    starts = [table.start if one is None else one for one in found.starts or absent]
    classes = [table.traffic_class if one is None else one for one in found.classes or absent]
    late = np.array(starts, dtype=np.int64) >= check.scene.duration_ps
    unknown = np.array([not network.is_host(name) for name in numbers])
    strange = unknown[src] | unknown[dst]
    mistakes: Sequence[tuple[npt.NDArray[np.bool_], str, str]] = (
        (strange, "a message has an end that is not a host", f"hosts {_ends_of(network)}"),
        (src == dst, "a message leads from a host to itself", "src and dst differ"),
        (late, "a message starts at or after the end of the run", "before run.duration"),
    )
    good = True
    for wrong, what, allowed in mistakes:
        rows = np.flatnonzero(wrong)
        if not len(rows):
            continue
        good = False
        first = int(rows[0])
        told = f"{what}: {found.src[first]} to {found.dst[first]}"
        told += f", and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        place = f"{file}: line {found.lines[first]}"
        check.findings.merge([Problem(place, told, allowed)])
    if not good:
        return None

    def text(values: Iterable[int]) -> str:
        return " ".join(map(str, values))

    return Columns(
        names=list(numbers),
        src=text(src.tolist()),
        dst=text(dst.tolist()),
        sizes=text(found.sizes),
        starts=text(starts),
        classes=text(classes),
    )


def _ends_of(network: Topology) -> str:
    return f"{network.names[network.hosts[0]]} to {network.names[network.hosts[-1]]}"


def block_of(columns: Columns, network: Topology) -> Block:
    """Return the flows of messages in columns."""
    nodes = node_numbers(columns.names, network)
    return Block(
        nodes[columns.column("src")],
        nodes[columns.column("dst")],
        columns.column("sizes").astype(np.uint64),
        columns.column("starts"),
        columns.column("classes").astype(np.uint8),
    )


def summary(columns: Columns) -> dict[str, Any]:
    """Return what people want to know of many messages."""
    sizes, starts = columns.column("sizes"), columns.column("starts")
    low, middle, high = np.quantile(sizes, (0, 0.5, 1), method="lower").tolist()

    def busiest(key: str) -> str:
        total = np.bincount(columns.column(key), weights=sizes)
        most = int(np.argmax(total))
        return f"{columns.names[most]}, {rounded_bytes(int(total[most]))}"

    return {
        "count": f"{len(sizes):,}",
        "in all": rounded_bytes(int(sizes.sum())),
        "sizes": f"{format_bytes(low)} to {format_bytes(high)}, median {format_bytes(middle)}",
        "starts": f"{format_time(int(starts.min()))} to {format_time(int(starts.max()))}",
        "hosts": f"{len(columns.names):,}",
        "busiest sender": busiest("src"),
        "busiest receiver": busiest("dst"),
    }
