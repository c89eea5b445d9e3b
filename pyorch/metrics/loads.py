"""What each link of a run carried, in each direction, and for how long it was paused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyorch.metrics.base import Columns, RunTables
from pyorch.metrics.chain import by_place
from pyorch.metrics.crossings import by_message

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Loads:
    """Both directions of every link, in a window; all arrays have the shape (egresses,).

    begin, end: the window [ps]. node, peer: of the egress. rates [bit/s]. carried: bytes on the
    wire. paused: share of the window in which a class was held back; None without such a table.
    """

    begin: int
    end: int
    node: Integers
    peer: Integers
    rates: Integers
    carried: Floats
    paused: Floats | None

    @property
    def load(self) -> Floats:
        """The share of its rate that each egress carried."""
        return self.carried * 8e12 / (self.rates * float(self.end - self.begin))


class LoadError(Exception):
    """The load of a run's links is unknown; the message says why."""


def loads_of_flows(
    run: RunTables, traffic: str | None, collective: str | None, class_number: int | None
) -> Loads:
    """Return the load by data frames of flows, from the first frame to the end of the last.

    traffic, collective: only this entry, and only this one of its collectives; None: all.
    Raises LoadError.
    """
    _table(run, "flow_link")
    table, _ = by_message(run)
    mine = np.ones(len(table["flow"]), dtype=bool)
    if traffic is not None:
        mine &= np.isin(np.asarray(table["flow"]), _flows_of(run, traffic, collective))
    if class_number is not None:
        mine &= np.asarray(table["class"]) == class_number
    firsts, lasts, node, peer, carried = (
        np.asarray(table[name])[mine] for name in ("first_ps", "last_ps", "node", "peer", "bytes")
    )
    # flows of a scale-up domain cross no link
    window = (int(firsts.min()), int(lasts.max())) if len(firsts) else (0, run.end_ps)
    return _loads(run, window, (node, peer, carried), class_number)


def loads_of_ports(run: RunTables, start: int, stop: int | None, class_number: int | None) -> Loads:
    """Return the load by frames in a window [ps]; stop None: to the last sample. Raises LoadError.

    An interval of the table `rate` that extends beyond the window counts in proportion.
    """
    table = _table(run, "rate")
    if not len(table["time_ps"]):
        raise LoadError("the run ended before the first sample of the table 'rate'")
    times = np.asarray(table["time_ps"]).astype(np.int64)
    ends, interval = np.unique(times, return_inverse=True)
    period = int(ends[1] - ends[0]) if len(ends) > 1 else int(ends[0])
    begins = np.insert(ends[:-1], 0, max(int(ends[0]) - period, 0))
    begin, end = max(start, int(begins[0])), int(ends[-1] if stop is None else min(stop, ends[-1]))
    inside = np.clip(ends, None, end) - np.clip(begins, begin, None)
    share = np.clip(inside, 0, None) / np.maximum(ends - begins, 1)
    carried = np.asarray(table["tx_bytes"]) * share[interval]
    mine = np.ones(len(times), dtype=bool)
    if class_number is not None:
        mine = np.asarray(table["class"]) == class_number
    node, peer = (np.asarray(table[name])[mine] for name in ("node", "peer"))
    return _loads(run, (begin, end), (node, peer, carried[mine]), class_number)


def is_of_all_ports(run: RunTables, table: str) -> bool:
    """Whether a table was traced at all ports."""
    return any(trace.table == table and not trace.ports for trace in run.setting.traces)


def _table(run: RunTables, name: str) -> Columns:
    table = run.find_table(name)
    if table is None:
        raise LoadError(f"the runs have no table '{name}'; add a [[trace]] and run again")
    if not is_of_all_ports(run, name):
        raise LoadError(
            f"'{name}' is traced at some ports only; leave 'ports' out of its [[trace]]"
        )
    return table


def _flows_of(run: RunTables, traffic: str, collective: str | None) -> Integers:
    """Return the numbers of the flows of an entry, or of one of its collectives."""
    labels = run.flows.labels
    if traffic not in labels:
        raise LoadError(f"no traffic is called {traffic!r}; there is: {', '.join(labels)}")
    number = labels.index(traffic)
    entry, rows = run.setting.traffic[number], run.flows.of_entry(number)
    if collective is None:
        return rows
    parts = entry.parts()
    if parts is None:
        raise LoadError(f"{traffic} is of kind {entry.kind} and has no collectives")
    if collective not in parts.names:
        known = ", ".join(parts.names)
        raise LoadError(f"{traffic} has no collective {collective!r}; it has: {known}")
    return np.asarray(rows[parts.of(collective)])


def _loads(
    run: RunTables, window: tuple[int, int], sent: tuple[Any, Any, Any], class_number: int | None
) -> Loads:
    """Sum the bytes sent by each egress. nodes, peers and bytes are those of the rows."""
    begin, end = window
    if begin >= end:
        raise LoadError("nothing was counted in the window")
    network = run.network
    node, peer = network.ports
    most = len(network.end_names)
    keys = node * most + peer
    order = np.argsort(keys)
    rows = sent[0].astype(np.int64) * most + sent[1].astype(np.int64)
    places = np.minimum(np.searchsorted(keys[order], rows), len(keys) - 1)
    if (keys[order][places] != rows).any():
        raise LoadError("a table has links that are not in the network")
    carried: Floats = np.bincount(order[places], weights=sent[2], minlength=len(keys)).astype(
        np.float64
    )
    rates = np.tile(network.rates.astype(np.int64), 2)
    paused = _paused(run, window, class_number, (node, peer))
    return Loads(begin, end, node, peer, rates, carried, paused)


def _paused(
    run: RunTables, window: tuple[int, int], class_number: int | None, ends: tuple[Any, Any]
) -> Floats | None:
    """Return the share of a window in which a class of each egress was held back."""
    if run.find_table("pause_tree") is None and not is_of_all_ports(run, "pause"):
        return None
    table = holds_of(run)
    if table is None:
        return None
    begin, end = window
    places = by_place(table, ("start_ps", "end_ps", "class"))
    shares = np.zeros(len(ends[0]))
    for number, place in enumerate(zip(ends[0].tolist(), ends[1].tolist(), strict=True)):
        if place in places:
            rows = places[place]
            rows = rows if class_number is None else rows[rows[:, 2] == class_number]
            until = np.where(rows[:, 1] < 0, end, rows[:, 1])
            shares[number] = _covered(rows[:, 0], until, begin, end) / (end - begin)
    return shares


def holds_of(run: RunTables) -> Columns | None:
    """Return the times in which a class of an egress was held back; None if they were not traced.

    From `pause_tree`, else from `pause`, which may be of some ports only. end_ps < 0: not ended.
    """
    table = run.find_table("pause_tree")
    obeyed: slice | npt.NDArray[np.bool_] = slice(None)
    if table is None:
        table = run.find_table("pause")
        if table is None:
            return None
        obeyed = np.asarray(table["side"]) == 1
    names = ("start_ps", "end_ps", "node", "peer", "class")
    return {name: np.asarray(table[name])[obeyed] for name in names}


def _covered(starts: Integers, ends: Integers, begin: int, end: int) -> int:
    """Return how much of a window the union of intervals covers [ps]."""
    order = np.argsort(starts, kind="stable")
    lows, highs = np.clip(starts[order], begin, end), np.clip(ends[order], begin, end)
    before = np.insert(np.maximum.accumulate(highs)[:-1], 0, begin) if len(highs) else highs
    return int(np.clip(highs - np.maximum(lows, before), 0, None).sum())
