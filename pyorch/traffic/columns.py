"""Many plain messages as columns: a line of text for each, instead of a table for each message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import Problem
from pyorch.base.fields import Table
from pyorch.base.units import format_bytes, format_time, rounded_bytes
from pyorch.network.topology import Topology
from pyorch.readers.records import ABSENT, Integers, MessageList
from pyorch.traffic.base import Block, Check, TrafficTable, node_numbers

_known: dict[str, Integers] = {}
_MOST_KNOWN = 16
"""Columns whose numbers are kept beside their text."""


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

    def column(self, name: str) -> Integers:
        """Return a column as an array that cannot be changed."""
        return _numbers(getattr(self, name))


def columns_of(check: Check, file: str, found: MessageList, table: TrafficTable) -> Columns | None:
    """Return many messages as columns; note what is wrong with them, each kind of it once."""
    network = check.scene.network
    starts = np.where(found.starts == ABSENT, table.start, found.starts)
    classes = np.where(found.classes == ABSENT, table.traffic_class, found.classes)
    unknown = np.array([not network.is_host(name) for name in found.names])
    mistakes: Sequence[tuple[npt.NDArray[np.bool_], str, str]] = (
        (
            unknown[found.src] | unknown[found.dst],
            "a message has an end that is not a host",
            f"hosts {_ends_of(network)}",
        ),
        (found.src == found.dst, "a message leads from a host to itself", "src and dst differ"),
        (
            starts >= check.scene.duration_ps,
            "a message starts at or after the end of the run",
            "before run.duration",
        ),
    )
    good = True
    for wrong, what, allowed in mistakes:
        rows = np.flatnonzero(wrong)
        if not len(rows):
            continue
        good = False
        first = int(rows[0])
        told = f"{what}: {found.names[found.src[first]]} to {found.names[found.dst[first]]}"
        told += f", and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        place = f"{file}: line {found.lines[first]}"
        check.findings.merge([Problem(place, told, allowed)])
    if not good:
        return None
    columns = (found.src, found.dst, found.sizes, starts, classes)
    src, dst, sizes, begins, groups = map(_text, columns)
    return Columns(names=found.names, src=src, dst=dst, sizes=sizes, starts=begins, classes=groups)


def _text(values: Integers) -> str:
    """Return numbers with blanks between them.

    Arrow's CSV takes a tenth of the time of `str`, and does not import pandas as its `compute`.
    """
    import pyarrow as pa
    from pyarrow import csv

    numbers = pa.py_buffer(np.ascontiguousarray(values, dtype=np.int64))
    column = pa.Array.from_buffers(pa.int64(), len(values), [None, numbers])
    written = pa.BufferOutputStream()
    table = pa.Table.from_arrays([column], ["numbers"])
    csv.write_csv(table, written, csv.WriteOptions(include_header=False))
    text = str(written.getvalue().to_pybytes().decode().rstrip().replace("\n", " "))
    _keep(text, np.array(values, dtype=np.int64))
    return text


def _numbers(text: str) -> Integers:
    """Return numbers from their text, not to be changed: several look at the same columns."""
    if text not in _known:
        _keep(text, np.fromstring(text, dtype=np.int64, sep=" "))
    return _known[text]


def _keep(text: str, numbers: Integers) -> None:
    numbers.setflags(write=False)
    _known[text] = numbers
    if len(_known) > _MOST_KNOWN:
        del _known[next(iter(_known))]


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
