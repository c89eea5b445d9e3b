"""Piecewise constant functions of time, as described by queue and rate tables.

numpy is imported inside functions: the metric models are loaded at every start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import np
from pyorch.metrics.base import Columns, RunTables
from pyorch.metrics.fields import Need, is_traced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Times = NDArray[np.int64]

_SILENCE = 20  # length of a gap in frames: below 5 % of the line rate, single frames are shown


@dataclass(frozen=True)
class Series:
    """values[i] holds from times_ps[i] until times_ps[i + 1], the last one until end_ps.

    times_ps: shape (n,), int64, strictly increasing. values: shape (n,), float64.
    """

    times_ps: Times
    values: Floats
    end_ps: int

    def clip(self, start_ps: int, stop_ps: int) -> tuple[Times, Floats, Times]:
        """(begin, value, length) of every piece inside the window; empty when it is empty."""
        stop_ps = min(stop_ps, self.end_ps)
        edges = np.append(self.times_ps, max(self.end_ps, int(self.times_ps[-1])))
        begin = np.clip(edges[:-1], start_ps, None)
        length = np.clip(edges[1:], None, stop_ps) - begin
        inside = length > 0
        return begin[inside], self.values[inside], length[inside]


def _select(table: Columns, node: int, peer: int, class_number: int | None) -> NDArray[np.bool_]:

    mask = (np.asarray(table["node"]) == node) & (np.asarray(table["peer"]) == peer)
    if class_number is not None:
        mask &= np.asarray(table["class"]) == class_number
    return np.asarray(mask, dtype=bool)


def _sum_of_steps(times: Times, values: Floats, parts: NDArray[Any]) -> tuple[Times, Floats]:
    """Sum over parts (classes, flows) of functions that start at 0 and are given by new values."""
    changes = np.zeros(len(values))
    for number in np.unique(parts):
        rows = np.flatnonzero(parts == number)
        rows = rows[np.argsort(times[rows], kind="stable")]
        changes[rows] = np.diff(values[rows], prepend=0.0)
    order = np.argsort(times, kind="stable")
    times, total = times[order], np.cumsum(changes[order])
    last = np.append(np.diff(times) > 0, True)[: len(times)]  # the last value of an instant
    return times[last], total[last]


def state_series(
    run: RunTables, table_name: str, column: str, port: str, class_number: int | None
) -> Series | None:
    """A table of states (queue bytes): each row's value holds until the next of its part.

    A part is a class, or a flow where the table has flows (their rates); the series is the sum of
    the requested parts. None when the run did not trace it. Before its first row a state is 0: a
    run starts empty.
    """
    found = _find(run, Need(table_name, port, class_number))
    if found is None:
        return None
    table, mask = found
    part = "flow" if "flow" in table else "class"
    times = np.asarray(table["time_ps"])[mask].astype(np.int64)
    values = np.asarray(table[column])[mask].astype(np.float64)
    times, values = _sum_of_steps(times, values, np.asarray(table[part])[mask])
    if len(times) == 0 or times[0] > 0:
        times, values = np.insert(times, 0, 0), np.insert(values, 0, 0.0)
    return Series(times, values, run.end_ps)


def rate_series(
    run: RunTables, direction: str, port: str, class_number: int | None
) -> Series | None:
    """Rate [bit/s] of a port, received ("rx") or sent ("tx"), of one class or of all.

    With a sampling period, a row of table `rate` counts the wire bytes of the interval that ends
    at its time; without one, it is the arrival of a frame. Returns None when the run did not
    trace it; frames sent are traced only with a period.
    """
    need = rate_need(direction, port, class_number)
    found = _find(run, need)
    if found is None:
        return None
    table, mask = found
    times, index = np.unique(np.asarray(table["time_ps"])[mask], return_inverse=True)
    counts = np.asarray(table[f"{direction}_bytes"])[mask].astype(np.float64)
    times = times.astype(np.int64)
    bits: Floats = np.bincount(index, weights=counts, minlength=len(times)).astype(np.float64) * 8
    if not is_traced(replace(need, sampled=True), run.setting.traces):
        return _of_arrivals(times, bits, run.end_ps)
    if len(times) == 0:
        return None
    first = int(times[0])
    period = int(times[1]) - first if len(times) > 1 else first
    begins = np.insert(times[:-1], 0, max(first - period, 0))
    return Series(begins, bits * 1e12 / np.maximum(times - begins, 1), int(times[-1]))


def _of_arrivals(times: Times, bits: Floats, end_ps: int) -> Series:
    """Rate from frames: bits[i] over the time since the frame before, arrived at times[i].

    A gap of more than _SILENCE times the frame's own length is idle time with the frame at its end,
    at line rate: otherwise a pause would look like a slow sender. The line rate is the highest
    rate of the frames.
    """
    if len(times) == 0:
        return Series(np.zeros(1, np.int64), np.zeros(1), end_ps)
    before = np.insert(times[:-1], 0, 0)
    gaps = np.maximum(times - before, 1)
    line = float((bits / gaps)[1:].max()) if len(times) > 1 else float(bits[0] / gaps[0])
    lengths = np.maximum(np.ceil(bits / line), 1).astype(np.int64)
    silent = gaps > _SILENCE * lengths
    silent[0] = gaps[0] > lengths[0]
    begins = np.where(silent, times - lengths, before)
    values = bits * 1e12 / (times - begins)
    at = np.flatnonzero(silent)
    begins, values = np.insert(begins, at, before[at]), np.insert(values, at, 0.0)
    last = int(times[-1])
    if len(times) == 1 or end_ps - last > _SILENCE * int(lengths[-1]):
        return Series(np.append(begins, last), np.append(values, 0.0), end_ps)
    return Series(begins, values, last)


def rate_need(direction: str, port: str, class_number: int | None) -> Need:
    """What a rate needs: bytes that a port sent are counted only in intervals."""
    return Need("rate", port, class_number, sampled=direction == "tx")


def _find(run: RunTables, need: Need) -> tuple[Columns, NDArray[np.bool_]] | None:
    table, ends = run.find_table(need.table), run.resolve(need.port or "")
    if table is None or ends is None or not run.is_traced(need):
        return None
    return table, _select(table, *ends, need.class_number)
