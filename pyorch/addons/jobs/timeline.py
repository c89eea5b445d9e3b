"""Timelines of the ranks of a run: bars of hosts, for a figure and for trace viewers.

The trace event format is specified in the document "Trace Event Format" (chrome://tracing,
Perfetto): complete events ("ph": "X") with `ts` and `dur` in microseconds, metadata events ("M")
that name processes and threads. Events of a thread must nest, so overlapping bars of a host are on
several threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyorch.addons.jobs.spans import spans_of
from pyorch.base.errors import refusal
from pyorch.metrics.loads import holds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pyorch.metrics import RunTables

Category = Literal["collective", "compute", "message", "pause"]
MOST_BARS = 2_000_000
"""Events that a viewer can still open."""


@dataclass(frozen=True)
class Bar:
    """An activity of a host, or of a port of a node.

    lane: the name of the host or node; label: of the traffic entry, or of the port. begin, end: ps.
    round: of a collective, from 0.
    """

    lane: str
    label: str
    name: str
    category: Category
    begin: int
    end: int
    round: int = 0


def bars_of(run: RunTables, labels: Sequence[str] | None = None) -> list[Bar]:
    """Return the bars of a run, by time. labels: of traffic entries; None: of all.

    A collective, also a named one of a schedule, lasts from the first message that a host sends to
    the last one that it receives; before it the host computes for `delay`, without jitter.
    Unfinished activities last to the end of the run. Pauses come from `pause_tree`, or from the
    traced ports of `pause`; else `untraced`.
    """
    found = []
    for number, entry in enumerate(run.setting.traffic):
        label = run.flows.labels[number]
        if labels is None or label in labels:
            rows = run.flows.of_entry(number)
            found += list(_BY_KIND.get(entry.kind, _messages)(run, entry, label, rows))
    found += list(_pauses(run))
    return sorted(found, key=lambda bar: (bar.begin, bar.end, bar.lane, bar.label, bar.name))


def _collectives(run: RunTables, entry: Any, label: str, rows: NDArray[np.int64]) -> Iterator[Bar]:
    parts, table = entry.parts(), run.find_table("flow")
    if parts is None or table is None or not len(rows):
        return
    spans = spans_of(parts, rows, table)
    slow = entry.slowdowns(run.network)
    places = {name: number for number, name in enumerate(spans.names)}
    waited_for = {name for phase in spans.phases for name in phase.after}
    columns = (spans.phase, spans.round, spans.host, spans.begins, spans.ends)
    bars = list(zip(*(one.tolist() for one in columns), strict=True))
    own = {(phase, turn, host): end for phase, turn, host, _, end in bars}
    last: dict[tuple[int, int], int] = {}  # the end of all, for hosts that have no part
    for phase, turn, _, _, end in bars:
        last[phase, turn] = max(end, last.get((phase, turn), 0))
    for phase, turn, host, begin, end in bars:
        if begin < 0:
            continue
        one, lane = spans.phases[phase], run.nodes[host]
        yield Bar(lane, label, one.name, "collective", begin, run.end_ps if end < 0 else end, turn)
        if not one.delay:
            continue
        before = turn if one.after else turn - 1
        names = one.after or [name for name in spans.names if name not in waited_for]
        ready = max(
            (
                own.get((places[name], before, host), last[places[name], before])
                for name in names
                if before >= 0
            ),
            default=entry.start,
        )
        done = min(begin, ready + round(one.delay * slow[host]))
        yield Bar(lane, label, f"before {one.name}", "compute", ready, done, turn)


def _messages(run: RunTables, _entry: Any, label: str, rows: NDArray[np.int64]) -> Iterator[Bar]:
    import numpy as np

    table = run.find_table("flow")
    if table is None:
        return
    columns = (np.asarray(table[name])[rows] for name in ("src", "dst", "start_ps", "finish_ps"))
    for src, dst, begin, end in zip(*(one.tolist() for one in columns), strict=True):
        if begin >= 0:
            last = run.end_ps if end < 0 else end
            yield Bar(run.nodes[src], label, f"to {run.nodes[dst]}", "message", begin, last)


def _goal(run: RunTables, entry: Any, label: str, rows: NDArray[np.int64]) -> Iterator[Bar]:
    import numpy as np

    parts = entry.parts()
    yield from _collectives(run, entry, label, rows)
    yield from _messages(run, entry, label, rows if parts is None else rows[parts.phase < 0])
    table = run.find_table("flow")
    if table is None:
        return
    number = run.flows.labels.index(label)
    ends = np.asarray(table["finish_ps"])[rows].astype(np.int64)
    for node, begin, end in entry.computations(run.network, run.seed, number, ends):
        yield Bar(run.nodes[node], label, "calc", "compute", begin, end)


_BY_KIND = {"collective": _collectives, "goal": _goal}


def _pauses(run: RunTables) -> Iterator[Bar]:
    """The times in which a class of a port was held back, in the tables of pauses."""
    table = holds_of(run)
    if table is None:
        return
    names = ("node", "peer", "class", "start_ps", "end_ps")
    columns = (table[name].tolist() for name in names)
    for node, peer, number, begin, end in zip(*columns, strict=True):
        label = f"towards {run.nodes[peer]}"
        last = run.end_ps if end < 0 else end
        yield Bar(run.nodes[node], label, f"class {number} paused", "pause", begin, last)


def untraced(run: RunTables) -> list[str]:
    """Return what to say of a timeline without pauses because none were traced; else nothing."""
    if holds_of(run) is not None:
        return []
    sent = round(run.summary.get("pauses_sent", 0))
    hint = 'to see who was paused, add [[trace]] with table = "pause_tree" and run again.'
    return [f"Pauses were not traced ({sent} were sent); {hint}"]


# ---------------------------------------------------------------------------------------------
# Trace event format


def trace_events(bars: Sequence[Bar], nodes: Sequence[str]) -> dict[str, Any]:
    """Return bars as an object of the trace event format.

    nodes: in display order. A process is a node. Bars with the same label share a thread, or
    several if they overlap without nesting.
    """
    tracks: dict[tuple[str, str, str], list[list[int]]] = {}
    threads: dict[tuple[str, str, str, int], int] = {}
    pids = {name: number for number, name in enumerate(nodes)}
    events: list[dict[str, Any]] = []
    for bar in sorted(bars, key=lambda bar: (bar.begin, -bar.end)):
        key = (bar.lane, bar.label, "pause" if bar.category == "pause" else "")
        track = _track(tracks.setdefault(key, []), bar)
        tid = threads.setdefault((*key, track), len(threads) + 1)
        events.append(
            {
                "name": bar.name,
                "cat": bar.category,
                "ph": "X",
                "ts": bar.begin / 1e6,
                "dur": (bar.end - bar.begin) / 1e6,
                "pid": pids[bar.lane],
                "tid": tid,
                "args": {"round": bar.round, "begin_ps": bar.begin, "end_ps": bar.end},
            }
        )
    used = {bar.lane for bar in bars}
    meta = [_meta("process_name", pids[name], 0, {"name": name}) for name in nodes if name in used]
    meta += [
        _meta("process_sort_index", pids[name], 0, {"sort_index": pids[name]})
        for name in nodes
        if name in used
    ]
    for (lane, label, _, track), tid in threads.items():
        shown = label if track == 0 else f"{label} ({track + 1})"
        meta.append(_meta("thread_name", pids[lane], tid, {"name": shown}))
    return {"traceEvents": meta + events, "displayTimeUnit": "ns"}


def _meta(name: str, pid: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": args}


def _track(tracks: list[list[int]], bar: Bar) -> int:
    """Return the first track on which a bar nests, and put it there; bars come by their begins.

    A track is the ends of the bars that are open on it, the outermost first.
    """
    for number, ends in enumerate(tracks):
        while ends and ends[-1] <= bar.begin:
            ends.pop()
        if not ends or bar.end <= ends[-1]:
            ends.append(bar.end)
            return number
    tracks.append([bar.end])
    return len(tracks) - 1


def trace_text(run: RunTables) -> str:
    """Return a run as JSON in the trace event format. Raises UserError if it is too large."""
    bars = bars_of(run)
    if len(bars) > MOST_BARS:
        raise refusal("timeline", f"{len(bars)} bars", f"at most {MOST_BARS}", "a shorter run")
    return json.dumps(trace_events(bars, run.nodes), separators=(",", ":")) + "\n"
