"""Why a run did not finish: which messages are in flight, and which others wait for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import np
from pyorch.base.stalls import is_stalled
from pyorch.base.units import rounded_bytes, rounded_time

if TYPE_CHECKING:
    from pyorch.traffic.base import Flows, TrafficTable, Waits

SHOWN = 3
"""Messages listed one by one."""


def explain(
    names: Sequence[str],
    flow: Mapping[str, Any],
    waits: Waits | None,
    numbers: Mapping[str, float],
    part_of: Callable[[int], str] = lambda _: "",
) -> str:
    """Return a sentence on the messages that did not arrive; "" if all did.

    names: of nodes. flow: the table. waits: between flows. numbers: the run's summary. part_of: a
    flow, see `named`.
    """
    size, start, finish = (np.asarray(flow[k]) for k in ("size_bytes", "start_ps", "finish_ps"))
    ends = list(zip(*(np.asarray(flow[name]).tolist() for name in ("src", "dst")), strict=True))
    here = np.asarray(flow["delivered_bytes"])
    missing = (size > 0) & (finish < 0)
    if not missing.any():
        return ""

    def ends_of(number: int) -> str:
        return " to ".join(names[end] for end in ends[number]) + part_of(number)

    under_way = np.flatnonzero(missing & (start >= 0)).tolist()
    waiting = np.flatnonzero(missing & (start < 0)).tolist()
    parts = [
        f"{ends_of(one)} has {rounded_bytes(int(here[one]))} of {rounded_bytes(int(size[one]))}"
        for one in under_way[:SHOWN]
    ]
    text = f"{_how_long(numbers)}; {_count(len(under_way))} in flight"
    text += f" ({'; '.join([*parts, *_more(under_way)])})" if under_way else ""
    if not waiting:
        return text
    pairs = [(one, _waited_for(one, waits, missing)) for one in waiting[:SHOWN]]
    parts = [f"{ends_of(one)} for {ends_of(other)}" for one, other in pairs if other is not None]
    text += f", {len(waiting):,} not started"
    return text + (f": they wait ({'; '.join([*parts, *_more(waiting)])})" if parts else "")


def named(flows: Flows, traffic: Sequence[TrafficTable]) -> Callable[[int], str]:
    """Return what says of which part of a job a flow is, such as " (gradients, round 2)"."""
    firsts = np.searchsorted(flows.groups, range(len(traffic))).tolist()
    parts = [entry.parts() for entry in traffic]

    def part_of(flow: int) -> str:
        entry = int(flows.groups[flow])
        part, place = parts[entry], flow - firsts[entry]
        if part is None or part.phase[place] < 0:
            return ""
        turn = f", round {part.round[place] + 1}" if part.round.max() else ""
        return f" ({part.names[part.phase[place]]}{turn})"

    return part_of


def _count(number: int) -> str:
    words = {0: "no message is", 1: "1 message is"}
    return words.get(number, f"{number:,} messages are")


def _more(some: Sequence[int]) -> list[str]:
    return [f"and {len(some) - SHOWN:,} more"] if len(some) > SHOWN else []


def _how_long(numbers: Mapping[str, float]) -> str:
    last, end = int(numbers.get("last_delivery_ps", -1)), int(numbers.get("end_ps", 0))
    if last < 0:
        return f"nothing arrived until the end at {rounded_time(end)}"
    if not is_stalled(last, end):
        return f"data still arrived when the run ended at {rounded_time(end)}"
    return f"no progress after {rounded_time(last)} of {rounded_time(end)}"


def _waited_for(flow: int, waits: Waits | None, missing: Any) -> int | None:
    """Return a message that did not arrive and for which a flow waits, directly or via points."""
    from pyorch.traffic.base import POINT

    if waits is None:
        return None
    seen, todo = {flow}, [flow]
    while todo:
        for after in waits.after[waits.flows == np.uint32(todo.pop())].tolist():
            if after < POINT and missing[after]:
                return int(after)
            if after >= POINT and after not in seen:
                seen.add(after)
                todo.append(after)
    return None
