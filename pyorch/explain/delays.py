"""Where each flow of a run lost time: its critical path, frame by frame.

The last frame of a flow arrived when it did because of what was before it: its own way across the
last link, the wait for that link, its way there, or the frame of its flow that left just before it.
Followed back to the start of the flow, these intervals follow each other without a gap, so that
they add up to the time the flow took. The waits are what it lost; each has one cause.

Messages of a connection share queue pairs: their packets have consecutive numbers there, in the
order of their starts. At the sender the path of a message goes on through what its queue pair sent
before it, back to the message's start.
"""

from __future__ import annotations

import gc
import itertools
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyorch.network.topology import HOST
from pyorch.setting.attributes import Catalogue, number, section_of

if TYPE_CHECKING:
    from pyorch.metrics.base import RunTables

TABLES = ("frame", "pause_tree", "pause", "drop", "flow_rate")
"""What the run must have recorded, at all ports."""
OF_FLOW = (
    *("flow", "src", "dst", "class", "size_bytes", "start_ps", "finish_ps", "ideal_ps"),
    "delivered_bytes",
)
"""Columns of the table `flow`."""
RATE_CONTROL, WINDOW_CONTROL = "ns3::rdma::RateControl", "ns3::rdma::WindowControl"
"""Congestion controls without a window are below the first, and not below the second."""
DATA, ACK, NACK = 0, 1, 2
"""Column `kind` of the table `frame`."""
SENT = 0
"""Column `side` of the table `pause`: the port paused its peer."""
HOSTS, SWITCHES, QUEUE_PAIR = "ns3::rdma::Host", "ns3::lossless::Switch", "ns3::rdma::QueuePair"

PAUSES, RECEIVER = "pauses", "a slow receiver"
AT_SENDER, AT_RECEIVER = "other flows of its sender", "other flows to its receiver"
COLLISIONS, CONTROL = "other flows between switches", "control frames"
CONNECTION = "other messages of its connection"
WITHHELD, RATE, WINDOW = "a port's rate or credit", "its sender's rate", "its sender's window"
TIMEOUT, REPEATS, ELSEWHERE = "a timer", "frames sent again", "unknown"
LOSS = "a loss, until a NACK"
CAUSES: Mapping[str, str] = {
    PAUSES: "an egress was paused; the place is where the pauses began",
    RECEIVER: "an egress was paused; the pauses began at this host",
    AT_SENDER: "frames of other flows of the same sender went first",
    AT_RECEIVER: "frames of other flows to the same receiver went first",
    COLLISIONS: "frames of other flows went first, on a link between switches",
    CONNECTION: "frames of other messages of the same queue pairs went first",
    CONTROL: "ACKs and control frames went first",
    WITHHELD: "the line was idle: a flow control's rate or credit kept the frame",
    RATE: "the line was idle: a congestion control, a cap or a flow control kept the sender",
    WINDOW: "the line was idle: the sender could go on as an ACK came",
    LOSS: "the line was idle: the sender sent frames again as an answer came",
    TIMEOUT: "the sender waited until it sent frames again: a retransmission timer",
    REPEATS: "frames that had been sent before",
    ELSEWHERE: "the flow's frames were not seen to leave this node",
}
"""Every cause of a wait, and what it means."""

Place = tuple[int, int]
"""A node and the peer to which its port leads; peer -1: the node itself."""
Integers = npt.NDArray[np.int64]
Packet = tuple[int, int]
"""A queue pair and the number of a packet."""
MOST_PSN = 1 << 62
PARTS = 4
"""Of the frames, after each of which it is said how far it is."""


@dataclass
class Delay:
    """The time of a flow, divided. Times in ps, sizes in bytes.

    end: when the last bit was received, or the run's end (`finished` False). ideal: of the flow on
    an idle network, -1 if it is unknown. queue_pair: that carries it, or its first share. own: what
    its own frames took on the critical path. parts: its waits, by cause and place: end - start =
    own + their sum, exactly. waits_for: what a flow that did not finish waits for at the end.
    """

    flow: int
    src: int
    dst: int
    size: int
    start: int
    end: int
    ideal: int
    finished: bool
    queue_pair: int
    own: int = 0
    waits_for: tuple[str, Place] | None = None
    parts: dict[tuple[str, Place], int] = field(default_factory=lambda: defaultdict(int))

    @property
    def time(self) -> int:
        """From start to end."""
        return self.end - self.start

    @property
    def waited(self) -> int:
        """Sum of the waits."""
        return self.time - self.own

    @property
    def hidden(self) -> int:
        """Time that it waited although others made up for: a slower link, a frame, a share.

        It is ideal - own: 0 where all links of its path have one rate, and if it did not finish;
        less if its shares need more headers.
        """
        return self.ideal - self.own if self.finished and self.ideal >= 0 else 0


def delays_of(
    run: RunTables, types: Catalogue, tell: Callable[[str], object] = lambda _: None
) -> list[Delay]:
    """Return the delay of every flow that started. The run needs TABLES of all its ports.

    tell: called with a line from time to time.
    """
    frames = _Frames(run, types)
    collects = gc.isenabled()
    gc.disable()  # millions of rows live for a moment, and none is in a circle
    try:
        return list(frames.delays(tell))
    finally:
        if collects:
            gc.enable()


class _Port:
    """The frames of an egress in their order: when each began and ended, and of which kind."""

    def __init__(self, begin: Integers, end: Integers, data: npt.NDArray[np.bool_]) -> None:
        # arrays, since each full garbage collection passes over every item of a list
        self.begin, self.end = _packed(begin), _packed(end)
        self.busy = [
            _packed(np.cumsum(np.r_[0, np.where(chosen, end - begin, 0)]))
            for chosen in (data, ~data)
        ]
        self.data = data.tobytes()

    def taken(self, since: int, until: int) -> tuple[int, int]:
        """Return the time in an interval that frames of data took, and that others took."""
        low, high = bisect_right(self.end, since), bisect_left(self.begin, until)
        found = [sums[max(low, high)] - sums[low] for sums in self.busy]
        if low < high:  # the first may have begun before, the last may end later
            found[not self.data[low]] -= max(0, since - self.begin[low])
            found[not self.data[high - 1]] -= max(0, self.end[high - 1] - until)
        return found[0], found[1]

    def begins_data(self, time: int) -> bool:
        """Whether a frame of data began then."""
        at = bisect_left(self.begin, time)
        return at < len(self.begin) and self.begin[at] == time and bool(self.data[at])

    def idle(self, since: int, until: int) -> Iterator[tuple[int, int]]:
        """The intervals in between in which nothing was sent."""
        low, high = bisect_right(self.end, since), bisect_left(self.begin, until)
        now = since
        for begin, end in zip(self.begin[low:high], self.end[low:high], strict=True):
            if begin > now:
                yield now, begin
            now = end
        if until > now:
            yield now, until


@dataclass(frozen=True)
class _Piece:
    """The packets of a message, or of its share, on a queue pair: first to end - 1. size: bytes."""

    message: int
    queue_pair: int
    size: int
    first: int = 0
    end: int = MOST_PSN


@dataclass(slots=True, eq=False)
class _Row:
    """A data frame at an egress [ps]. arrived: at the peer, ready to be sent on.

    before: its row at the hop before. previous: the row of its flow that left by this egress just
    before it; at the sending host that of its flow or queue pair by any egress. repeated: its
    packet had been sent before. back: the sender went back to it.
    """

    node: int
    peer: int
    packet: Packet
    flow: int
    begin: int
    end: int
    arrived: int
    before: _Row | None
    previous: _Row | None
    repeated: bool
    back: bool


class _Frames:
    """The tables of a run, by flow and by egress."""

    def __init__(self, run: RunTables, types: Catalogue) -> None:
        self.run = run
        self.network = run.network
        self.is_host = self.network.kinds[self.network.ends] == HOST  # of neighbours, too
        attributes = run.setting.attributes
        self.latency = self._latencies(types)
        # senders without a rate of their own wait for their port's
        self.gated = "withheld_time_ps" in run.summary and not run.setting.congestion_control
        queue_pair = section_of(types, attributes, "queue_pair") or {}
        self.payloads = run.flows.payloads(int(number(queue_pair.get("PayloadSize", "0"))))
        self.window_bdps = number(queue_pair.get("WindowBdps", "0"))
        control = types.by_name.get(run.setting.congestion_control)
        self.controls_window = control is not None and (
            types.derives(control, WINDOW_CONTROL) or not types.derives(control, RATE_CONTROL)
        )
        timers = [
            int(number(queue_pair[key])) for key in ("Timeout", "ShortTimeout") if key in queue_pair
        ]
        self.timeout = min((one for one in timers if one > 0), default=0)
        # of any scheme; without one, what holds an egress is missing credit, and with one it may be
        self.paused = any(
            name.endswith("pauses_sent") and value for name, value in run.summary.items()
        )
        flows: Any = run.table("flow")
        self.flow = {name: np.asarray(flows[name]).astype(np.int64) for name in OF_FLOW}
        table: Any = run.table("frame")
        order = np.argsort(np.asarray(table["time_ps"]), kind="stable")
        names = ("time_ps", "node", "peer", "kind", "flow", "psn", "bytes")
        self.rows = {name: np.asarray(table[name])[order].astype(np.int64) for name in names}
        rate, delay = self._links()
        bits = self.rows["bytes"] * 8_000_000_000_000
        self.rows["end"] = self.rows["time_ps"] + (bits + rate // 2) // rate
        self.rows["arrived"] = self.rows["end"] + delay + self.latency[self.rows["peer"]]

    def _latencies(self, types: Catalogue) -> Integers:
        """What each node needs before it sends a frame on, or has received it [ps]."""
        setting = self.run.setting
        common = {
            name: int(number((section_of(types, setting.attributes, name) or {})["Latency"]))
            for name in (HOSTS, SWITCHES)
        }
        found = np.where(self.is_host, common[HOSTS], common[SWITCHES]).astype(np.int64)
        for entry in setting.nodes:
            for name in entry.nodes:
                node = self.network.numbers.get(name)
                if node is None:  # a port, which has no latency
                    continue
                own = entry.attributes.get(HOSTS if self.is_host[node] else SWITCHES, {})
                if "Latency" in own:
                    found[node] = int(number(own["Latency"]))
        return found[self.network.ends]

    def _links(self) -> tuple[Integers, Integers]:
        """Rate [bit/s] and delay [ps] of each row's link."""
        network, count = self.network, len(self.network.ends)
        near, neighbour = network.ports
        keys = near * count + neighbour
        order = np.argsort(keys)
        wanted = self.rows["node"] * count + self.rows["peer"]
        at = order[np.searchsorted(keys[order], wanted)]
        return (
            np.tile(network.rates.astype(np.int64), 2)[at],
            np.tile(network.delays.astype(np.int64), 2)[at],
        )

    @cached_property
    def ports(self) -> dict[Place, _Port]:
        """The frames of every egress that sent any."""
        node, peer = self.rows["node"], self.rows["peer"]
        order = np.lexsort((peer, node))
        ends = np.stack([node[order], peer[order]])
        cuts = np.flatnonzero((np.diff(ends) != 0).any(axis=0)) + 1
        return {
            (int(node[part[0]]), int(peer[part[0]])): _Port(
                self.rows["time_ps"][part], self.rows["end"][part], self.rows["kind"][part] == DATA
            )
            for part in np.split(order, cuts)
            if len(part)
        }

    @cached_property
    def holds(self) -> dict[tuple[int, int, int], list[list[int]]]:
        """Start, end and root of each time an egress was held, by node, peer and class."""
        table: Any = self.run.table("pause_tree")
        names = ("node", "peer", "class", "start_ps", "end_ps", "root_node", "root_peer")
        columns = [np.asarray(table[name]).astype(np.int64) for name in names]
        found: dict[tuple[int, int, int], list[list[int]]] = defaultdict(list)
        for node, peer, cls, *hold in zip(*(one.tolist() for one in columns), strict=True):
            found[node, peer, cls].append(hold)
        for rows in found.values():
            rows.sort()
        return found

    @cached_property
    def pauses(self) -> dict[tuple[int, int, int], list[tuple[int, int]]]:
        """Start of each pause that the peer sent, and the last end so far; by node, peer and class.

        An egress that misses credit has an item, too.
        """
        table: Any = self.run.table("pause")
        names = ("node", "peer", "class", "side", "start_ps", "end_ps")
        columns = [np.asarray(table[name]).astype(np.int64).tolist() for name in names]
        found: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
        for node, peer, cls, side, start, end in zip(*columns, strict=True):
            if side == SENT:
                found[(*self.network.reverse((node, peer)), cls)].append((start, end))
            else:
                found[node, peer, cls] += ()
        for some in found.values():
            some.sort()
            some[:] = itertools.accumulate(some, lambda one, two: (two[0], max(one[1], two[1])))
        return found

    @cached_property
    def rates(self) -> dict[int, list[tuple[int, int]]]:
        """When the rate of each flow changed, and to what [bit/s]."""
        table: Any = self.run.table("flow_rate")
        columns = [np.asarray(table[name]).tolist() for name in ("flow", "time_ps", "rate_bps")]
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for flow, time, rate in zip(*columns, strict=True):
            found[flow].append((time, rate))
        return found

    def is_due(self, flow: int, since: int, size: int, until: int) -> bool:
        """Whether a flow's rate let it send another frame until a time, after one of that size.

        since: when that began. The rate's integral since then is what may have been sent.
        """
        changes = self.rates.get(flow, [])
        low = max(0, bisect_right(changes, (since, 2**63)) - 1)
        if low == len(changes):
            return True
        ends = [*(time for time, _ in changes[low + 1 :] if time < until), until]
        sent, now = 0, since
        for (_, rate), end in zip(changes[low:], ends, strict=False):
            sent, now = sent + rate * (end - now), end
        return sent >= size * 8 * 10**12

    def lacks_credit(self, egress: tuple[int, int, int], start: int) -> bool:
        """Whether an egress (node, peer, class) that was held from a moment on missed credit.

        Credit ends with a frame that takes it, at its begin. A pause comes from the peer, and lasts
        there when it takes effect here.
        """
        if not self.paused:
            return True
        node, peer, _ = egress
        sent = self.pauses.get(egress)
        if sent is None:
            return False
        before = bisect_right(sent, (start, MOST_PSN))
        if before and start < sent[before - 1][1]:
            return False
        port = self.ports.get((node, peer))
        return port is not None and port.begins_data(start)

    @cached_property
    def drops(self) -> dict[tuple[int, int], list[int]]:
        """When frames of a flow were dropped at a node, by these two."""
        table: Any = self.run.table("drop")
        columns = [np.asarray(table[name]).tolist() for name in ("flow", "node", "time_ps")]
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for flow, node, time in zip(*columns, strict=True):
            found[flow, node].append(time)
        return found

    def delays(self, tell: Callable[[str], object]) -> Iterator[Delay]:
        """Of every flow that started, in the order of their numbers. tell: how far it is."""
        columns = [self.flow[name].tolist() for name in OF_FLOW[:-1]]
        kind, answered = self.rows["kind"], self.is_host[self.rows["peer"]]
        mine = (kind == DATA) | (np.isin(kind, (ACK, NACK)) & answered)
        by_pair = np.flatnonzero(mine)[np.argsort(self.rows["flow"][mine], kind="stable")]
        pairs = self.rows["flow"][by_pair]
        pieces = self._pieces()
        groups: dict[int, dict[int, list[_Piece]]] = defaultdict(dict)  # by queue pair, by flow
        for flow, some in pieces.items():
            groups[some[0].queue_pair][flow] = some
        found: dict[int, Delay] = {}
        started = {
            flow: (Delay(flow, src, dst, size, start, end, ideal, finish >= 0, 0), cls)
            for flow, src, dst, cls, size, start, finish, ideal in zip(*columns, strict=True)
            if 0 <= start < self.run.end_ps
            for end in [finish if finish >= 0 else self.run.end_ps]
        }
        done, step = 0, max(1, len(by_pair) // PARTS)
        for queue_pair, flows in groups.items():
            carrying = {piece.queue_pair for some in flows.values() for piece in some}
            cuts = (np.searchsorted(pairs, [one, one + 1]) for one in carrying)
            rows = np.sort(np.concatenate([by_pair[low:high] for low, high in cuts]))
            sent = _Sent(self, flows, rows)
            done, before = done + len(rows), done
            if before // step < done // step < PARTS:
                tell(f"followed the flows of {100 * done // len(by_pair)}% of the frames")
            for flow in flows:
                delay, cls = started[flow]
                delay.queue_pair = queue_pair
                _Walk(self, sent, delay, cls).go()
                found[flow] = delay
        yield from (found[flow] for flow in sorted(found))

    def _pieces(self) -> dict[int, list[_Piece]]:
        """What queue pairs carry of each flow that started, its own part first."""
        start, finish = self.flow["start_ps"], self.flow["finish_ps"]
        started = np.flatnonzero((start >= 0) & (start < self.run.end_ps)).tolist()
        sizes: dict[int, int] = dict(enumerate(self.flow["size_bytes"].tolist()))
        whole = {flow: [_Piece(flow, flow, sizes[flow])] for flow in started}
        made = self.run.flows.connections
        if made is None:
            return whole
        carrier = dict(zip(made.flows.tolist(), made.queue_pairs.tolist(), strict=True))
        shares: dict[int, list[tuple[int, int]]] = defaultdict(list)
        divided = zip(made.messages.tolist(), made.sizes.tolist(), strict=True)
        for share, (flow, size) in enumerate(divided, start=len(sizes)):
            shares[flow].append((share, size))
            sizes[flow] -= size
        # of those that start at once the first one is there first
        there = np.where(finish < 0, MOST_PSN, finish)
        order = np.lexsort((-self.flow["delivered_bytes"], there, start)).tolist()
        next_: dict[int, int] = defaultdict(int)
        paired = set(made.owners.tolist()) | set(carrier)
        for flow in order:
            if flow not in whole or flow not in paired:
                continue
            whole[flow] = []
            for part, size in [(flow, sizes[flow]), *shares[flow]]:
                pair = carrier.get(part, part)
                first, end = next_[pair], next_[pair] + -(-size // int(self.payloads[flow]))
                whole[flow].append(_Piece(flow, pair, size, first, end))
                next_[pair] = end
        return whole


class _Sent:
    """The frames of a connection's queue pairs, or of those that share its messages.

    rows: of each message, in the order of time. last: what each queue pair sent last. answers: when
    its sender received some, and which packet they expect next.
    """

    def __init__(
        self, frames: _Frames, flows: Mapping[int, Sequence[_Piece]], rows: Integers
    ) -> None:
        self.flows = flows
        self.rows: dict[int, list[_Row]] = {flow: [] for flow in flows}
        self.last: dict[int, _Row] = {}
        self.bytes: dict[int, int] = {}  # of the last frame of each queue pair
        self.next: dict[int, int] = defaultdict(int)  # psn
        self.answers: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.sent: set[Packet] = set()
        pieces: dict[int, list[_Piece]] = defaultdict(list)
        for some in flows.values():
            for piece in some:
                pieces[piece.queue_pair].append(piece)
        for some in pieces.values():
            some.sort(key=lambda piece: piece.first)
        self._firsts = {pair: [piece.first for piece in some] for pair, some in pieces.items()}
        self._pieces = pieces
        names = ("node", "peer", "kind", "flow", "psn", "bytes", "time_ps", "end", "arrived")
        columns = (frames.rows[name][rows].tolist() for name in names)
        self._read(frames, zip(*columns, strict=True))
        for answers in self.answers.values():
            answers.sort()

    def _read(self, frames: _Frames, rows: Any) -> None:
        """Make the rows, in the order of time, and note what arrived where."""
        is_host = frames.is_host.tolist()
        arrivals: dict[tuple[int, Packet], list[_Row]] = defaultdict(list)
        left: dict[tuple[int, int, int], _Row] = {}
        of_flow: dict[int, _Row] = {}
        for node, peer, kind, pair, psn, size, begin, end, arrived in rows:
            if kind != DATA:  # at its sender: no others are read
                self.answers[pair].append((arrived, psn))
                continue
            packet, flow = (pair, psn), self._piece_of(pair, psn).message
            here = arrivals.get((node, packet))
            came = here[-1] if here else None
            if here and came is not None and came.arrived > begin:
                came = next((one for one in reversed(here) if one.arrived <= begin), None)
            repeated = packet in self.sent if came is None else came.repeated
            back = False
            if is_host[node]:
                before = self.last.get(pair)
                back = before is not None and psn <= before.packet[1]
                ahead = (one for one in (of_flow.get(flow), before) if one is not None)
                previous = max(ahead, key=lambda one: one.begin, default=None)
                self.next[pair], self.bytes[pair] = max(self.next[pair], psn + 1), size
            else:
                previous = left.get((node, peer, flow))
            row = _Row(
                node, peer, packet, flow, begin, end, arrived, came, previous, repeated, back
            )
            if is_host[node]:
                self.last[pair] = of_flow[flow] = row
            else:
                left[node, peer, flow] = row
            if came is None:
                self.sent.add(packet)
            if not is_host[peer]:
                arrivals[frames.network.far(peer), packet].append(row)
            self.rows[flow].append(row)

    def _piece_of(self, pair: int, psn: int) -> _Piece:
        """The piece to which a packet belongs."""
        return self._pieces[pair][bisect_right(self._firsts[pair], psn) - 1]

    def left_of(self, pair: int, psn: int, payload: int) -> int:
        """Bytes of a piece from a packet on; of an endless one, those of a packet."""
        piece = self._piece_of(pair, psn)
        return piece.size - (psn - piece.first) * payload if piece.size else payload

    @cached_property
    def ports(self) -> dict[Place, _Port]:
        """All frames of the queue pairs, by egress; none if they carry a single message."""
        found: dict[Place, list[_Row]] = defaultdict(list)
        if len(self.flows) > 1:
            rows = (row for some in self.rows.values() for row in some)
            for row in sorted(rows, key=lambda row: row.begin):
                found[row.node, row.peer].append(row)
        return {
            place: _Port(
                np.array([row.begin for row in some]),
                np.array([row.end for row in some]),
                np.ones(len(some), dtype=np.bool_),
            )
            for place, some in found.items()
        }


class _Walk:
    """The critical path of a flow, from its end back to its start."""

    def __init__(self, frames: _Frames, sent: _Sent, delay: Delay, cls: int) -> None:
        self.frames, self.sent, self.delay, self.cls = frames, sent, delay, cls
        self.rows = sent.rows[delay.flow]
        self.last: dict[int, _Row] = {}  # of each node
        self.coming: dict[Packet, _Row] = {}  # what was on its last link at the end
        self.got: set[Packet] = set()
        self.pair = delay.queue_pair  # which waits at the end
        self.lost = False  # what the receiver waits for
        self.final: _Row | None = None
        for row in self.rows:
            self.last[row.node] = row
            if not frames.is_host[row.peer]:
                continue
            if row.arrived <= delay.end:
                self.got.add(row.packet)
                self.final = row if self.final is None else max(self.final, row, key=_arrived)
            else:
                self.coming.setdefault(row.packet, row)

    def go(self) -> None:
        """Fill in the parts of the delay."""
        delay = self.delay
        row = self.final if delay.finished else self._stuck()
        if delay.parts:
            delay.waits_for = self._most()
        if row is None:
            if delay.finished or not self.last:  # on no link: in a scale-up domain, or not begun
                delay.own = delay.time if delay.finished else 0
                if not delay.finished:
                    network = self.frames.network
                    gate = network.access(network.host_ends(delay.src)[0])
                    self._wait(gate, delay.start, delay.end, None)
            return
        if delay.finished:
            delay.own = row.arrived - row.end
            if delay.end > row.arrived:  # it takes what is in its buffer at its own rate
                delay.parts[RECEIVER, (delay.dst, -1)] += delay.end - row.arrived
        while row is not None:
            self._take(row)
            following = self._step(row)
            if not delay.finished and delay.parts and row is self.coming.get(row.packet):
                delay.waits_for = self._most()  # as will the frame after the one on its way
            row = following

    def _take(self, row: _Row) -> None:
        """Account for the time of a frame."""
        delay = self.delay
        time = max(0, min(row.end, delay.end) - max(row.begin, delay.start))
        if row.flow == delay.flow and not row.repeated:
            delay.own += time
        elif time > 0:
            other = row.flow != delay.flow
            part = (CONNECTION, (row.node, row.peer)) if other else (REPEATS, (row.node, -1))
            delay.parts[part] += time

    def _most(self) -> tuple[str, Place]:
        """The part that is the longest so far."""
        return max(self.delay.parts, key=lambda part: self.delay.parts[part])

    def _step(self, row: _Row) -> _Row | None:
        """Account for what is between a row and the one that it follows; return that."""
        before, previous = row.before, row.previous
        came = before.arrived if before is not None else self.delay.start
        freed = previous.end if previous is not None else came
        ready = min(max(came, freed), row.begin)
        self._wait((row.node, row.peer), ready, row.begin, row)
        if freed >= came and previous is not None:
            return previous
        if before is not None:
            self.delay.own += ready - before.end
        return before

    def _wait(self, place: Place, since: int, until: int, row: _Row | None) -> None:
        """Divide a wait at an egress into its causes. row: what was sent then; None: nothing."""
        if until <= since:
            return
        parts, frames = self.delay.parts, self.frames
        node, peer = place
        port = frames.ports.get(place)
        data, control = port.taken(since, until) if port is not None else (0, 0)
        connection = self.sent.ports.get(place)
        if connection is not None and (shared := connection.taken(since, until)[0]):
            parts[CONNECTION, place] += shared
            data -= shared
        if data:
            cause = (
                AT_SENDER
                if frames.is_host[node]
                else AT_RECEIVER
                if frames.is_host[peer]
                else COLLISIONS
            )
            parts[cause, place] += data
        if control:
            parts[CONTROL, place] += control
        if data + control == until - since:
            return
        idle = list(port.idle(since, until)) if port is not None else [(since, until)]
        left = sum(end - begin - self._held(place, begin, end) for begin, end in idle)
        if left > 0:
            # a frame that may go while an ACK is sent goes after it
            late = idle[-1][1]
            if port is not None and port.taken(late, until)[0]:
                late = until
            parts[self._cause(place, since, late, until, row), place] += left

    def _held(self, place: Place, since: int, until: int) -> int:
        """Account for pauses and missing credit in an idle interval; return their time."""
        held, now = 0, since
        egress = (*place, self.cls)
        holds = self.frames.holds.get(egress, [])
        low = max(0, bisect_right(holds, [since]) - 1)
        for start, end, root, to in holds[low : bisect_left(holds, [until])]:
            begin, stop = max(now, start), min(until, end if end >= 0 else until)
            if stop > begin:
                if self.frames.lacks_credit(egress, start):
                    part = WITHHELD, place
                else:
                    at_host = to < 0 and bool(self.frames.is_host[root])
                    part = RECEIVER if at_host else PAUSES, (root, to)
                self.delay.parts[part] += stop - begin
                held += stop - begin
                now = stop
        return held

    def _cause(self, place: Place, since: int, late: int, until: int, row: _Row | None) -> str:
        """Why an egress that nothing held, and nothing used, did not send a frame until a time.

        since: when the frame could have gone. late: from when on nothing but the line kept it.
        """
        node, peer = place
        if not self.frames.is_host[node]:
            return ELSEWHERE if peer < 0 else WITHHELD
        answers = self.sent.answers.get(self.pair if row is None else row.packet[0], [])
        answered = bisect_right(answers, (until, MOST_PSN))
        answer = answers[answered - 1][0] if answered else -1
        goes_back = row is not None and row.back
        if row is not None and answer >= late:
            return LOSS if goes_back else WINDOW
        own = WITHHELD if self.frames.gated else RATE
        if row is None:
            return TIMEOUT if self.lost else WINDOW if self._fills_window(until) else own
        timer = self.frames.timeout
        quiet = answer <= since or (timer > 0 and until - answer >= timer)
        return TIMEOUT if goes_back and quiet else own

    def _fills_window(self, until: int) -> bool:
        """Whether the sender waits for an ACK: its rate lets it go on, its window does not.

        A window that is not of the traffic is unknown: then it counts if anything is in flight.
        """
        frames, sent, pair = self.frames, self.sent, self.pair
        known = (psn for time, psn in sent.answers.get(pair, ()) if time <= self.delay.end)
        next_ = sent.next[pair]
        in_flight = next_ - max(known, default=0)
        if in_flight <= 0:
            return False
        if not frames.is_due(pair, sent.last[pair].begin, sent.bytes[pair], until):
            return False
        if frames.controls_window or frames.window_bdps > 0:
            return True
        payload = int(frames.payloads[self.delay.flow])
        rest = sent.left_of(pair, next_, payload)
        window = int(frames.run.flows.windows[self.delay.flow])
        return 0 < window < in_flight * payload + min(rest, payload)

    def _stuck(self) -> _Row | None:
        """Account for what a flow that is not finished waits for; return its row before that."""
        delay = self.delay
        for piece in self.sent.flows[delay.flow]:
            wanted = piece.queue_pair, piece.first
            while wanted in self.got:
                wanted = piece.queue_pair, wanted[1] + 1
            if wanted[1] < piece.end:
                break
        self.pair = wanted[0]
        copies = (row for row in self.rows if row.packet == wanted)
        known = [r for r in copies if not self.frames.is_host[r.peer] and not self._is_lost(r)]
        coming = self.coming.get(wanted)
        if coming is not None and not self._is_lost(coming):
            delay.own += max(0, delay.end - coming.end)
            return coming
        self.lost = wanted in self.sent.sent and not known
        if not known:
            row = self.sent.last.get(self.pair)
            if row is not None:
                self._wait((row.node, row.peer), max(row.end, delay.start), delay.end, None)
            return row
        row = max(known, key=_arrived)
        node = self.frames.network.far(row.peer)
        there = self.last.get(node)
        place = (node, there.peer) if there is not None else (node, -1)
        came = min(row.arrived, delay.end)
        delay.own += max(0, came - row.end)
        self._wait(place, came, delay.end, None)
        return row

    def _is_lost(self, row: _Row) -> bool:
        """Whether a frame was dropped where it arrived."""
        node = self.frames.network.far(row.peer)
        times = self.frames.drops.get((row.packet[0], node), [])
        at = bisect_left(times, row.end)
        return at < len(times) and times[at] <= row.arrived


def _packed(values: Integers) -> array[int]:
    return array("q", np.ascontiguousarray(values, dtype=np.int64).tobytes())


def _arrived(row: _Row) -> int:
    return row.arrived
