"""The table `flow_link` by message, also of messages that share queue pairs.

The table has a row for each queue pair at an egress. A message uses those of its queue pairs, from
its start to its end, and has its share of their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pyorch.metrics.base import RunTables

Columns = Mapping[str, npt.NDArray[Any]]
NAMES = ("first_ps", "last_ps", "node", "peer", "class", "flow", "bytes")


def by_message(run: RunTables) -> tuple[Columns, npt.NDArray[np.int64]]:
    """Return `flow_link` with a row for each message at an egress, and the row of the table.

    The run needs the table.
    """
    table: Any = run.table("flow_link")
    rows = {name: np.asarray(table[name]) for name in NAMES if name in table}
    made = run.flows.connections
    if made is None:
        return rows, np.arange(len(rows["flow"]))
    flows: Any = run.table("flow")
    count, shares = len(run.flows), len(made.messages)
    message = np.concatenate([np.arange(count), made.messages.astype(np.int64)])
    size = np.concatenate([run.flows.sizes.astype(np.float64), made.sizes.astype(np.float64)])
    np.subtract.at(size, made.messages, made.sizes)
    carrier = np.arange(count + shares)
    carrier[made.flows] = made.queue_pairs
    start = np.asarray(flows["start_ps"]).astype(np.int64)[message]
    end = np.asarray(flows["finish_ps"]).astype(np.int64)[message]
    end = np.where(end < 0, run.end_ps, end)
    started = np.flatnonzero(start >= 0)
    started = started[np.argsort(carrier[started], kind="stable")]
    whole = np.bincount(carrier[started], weights=size[started], minlength=count + shares)
    low, high = (
        np.searchsorted(carrier[started], rows["flow"].astype(np.int64), side)
        for side in ("left", "right")
    )
    of = np.repeat(np.arange(len(low)), high - low)
    place = np.arange(len(of)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    piece = started[low[of] + place]
    part = np.divide(
        size[piece], whole[carrier[piece]], out=np.ones(len(of)), where=size[piece] > 0
    )
    found = {name: column[of] for name, column in rows.items()}
    found["first_ps"] = np.clip(start[piece], found["first_ps"], found["last_ps"])
    found["last_ps"] = np.clip(end[piece], found["first_ps"], found["last_ps"])
    found["bytes"] = np.rint(found["bytes"] * part).astype(np.int64)
    found["flow"] = message[piece]
    return found, of


def by_queue_pair(table: Columns, rows: npt.NDArray[np.int64]) -> Columns:
    """Return when queue pairs carried any message at an egress, of a table by message.

    rows: of `flow_link`. A queue pair has a row for each time in which it does so.
    """
    times, rank = np.unique(np.stack([table["first_ps"], table["last_ps"]]), return_inverse=True)
    first, last = rank.reshape(2, -1) + rows * len(times)
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    begins = np.flatnonzero(np.append(True, first[1:] > last[:-1]) if len(first) else [])
    ends = np.append(begins[1:], len(first))[: len(begins)] - 1
    found = {name: table[name][order[begins]] for name in ("node", "peer", "first_ps")}
    return found | {"last_ps": times[last[ends] % max(len(times), 1)]}
