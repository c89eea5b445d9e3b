"""An incast through a switch that trims, packet by packet: what module trimming is checked with.

It is written from docs of packet trimming and uses none of our code: senders and a receiver around
a switch, whole messages at line rate, and selective repeat of what the receiver saw trimmed. The
switch keeps a frame whole if its queue and the frame take no more than what is free in the buffer
(alpha 1); else it keeps the first bytes, which are sent before all data. A sender repeats what was
reported before it sends anything new. Only trimmed frames cause repeats: on one path nothing else
can.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

PAYLOAD, HEADERS, OVERHEAD, ANSWER = 1000, 48, 20, 64  # bytes
LONGEST = 500 * 10**6  # ps


class UnclearError(Exception):
    """Two things happen at once, or a header is lost, or it takes long: there is no answer."""


@dataclass(frozen=True)
class Incast:
    """rates, delays: of the senders' links and, last, the receiver's [bit/s, ps].

    starts, packets: of each sender's message [ps]. last: payload of its last packet. room: buffer;
    size: of a trimmed frame [bytes].
    """

    rates: tuple[int, ...]
    delays: tuple[int, ...]
    starts: tuple[int, ...]
    packets: tuple[int, ...]
    last: tuple[int, ...]
    room: int
    size: int


@dataclass
class Result:
    """finish: when each message is complete [ps]. trimmed: frames of each. room: most bytes."""

    finish: list[int]
    trimmed: list[int]
    peak: int = 0


@dataclass
class _Sender:
    next: int = 0
    again: deque[int] = field(default_factory=deque)
    sending: bool = False


class _Model:
    def __init__(self, given: Incast) -> None:
        self.given = given
        n = len(given.starts)
        self.now = self.planned = 0
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.senders = [_Sender() for _ in range(n)]
        self.queues: tuple[deque[tuple[int, int, int]], ...] = (deque(), deque())  # data, headers
        self.held = [0, 0]
        self.egress_busy = False
        self.answers_free = 0
        self.back_free = [0] * n
        self.got: list[set[int]] = [set() for _ in range(n)]
        self.result = Result([-1] * n, [0] * n)
        self.touched: dict[str, int] = {}

    def at(self, time: int, act: Callable[[], None]) -> None:
        self.planned += 1
        heapq.heappush(self.events, (time, self.planned, act))

    def touch(self, place: str) -> None:
        """No two things may happen at a place at once."""
        if self.touched.get(place) == self.now:
            raise UnclearError(place)
        self.touched[place] = self.now

    def time(self, link: int, size: int) -> int:
        rate = self.given.rates[link]
        return ((size + OVERHEAD) * 8 * 10**12 * 2 + rate) // (2 * rate)

    def bytes_of(self, flow: int, psn: int) -> int:
        last = psn == self.given.packets[flow] - 1
        return HEADERS + (self.given.last[flow] if last else PAYLOAD)

    # Senders

    def send(self, flow: int) -> None:
        sender = self.senders[flow]
        if sender.sending or (not sender.again and sender.next == self.given.packets[flow]):
            return
        psn = sender.again.popleft() if sender.again else sender.next
        sender.next = max(sender.next, psn + 1)
        sender.sending = True
        took = self.time(flow, self.bytes_of(flow, psn))
        self.at(self.now + took + self.given.delays[flow], lambda: self.arrive(flow, psn))
        self.at(self.now + took, lambda: self.sent(flow))

    def sent(self, flow: int) -> None:
        self.touch(f"sender {flow}")
        self.senders[flow].sending = False
        self.send(flow)

    def learn(self, flow: int, psn: int) -> None:
        self.touch(f"sender {flow}")
        self.senders[flow].again.append(psn)
        self.send(flow)

    # The switch

    def arrive(self, flow: int, psn: int) -> None:
        self.touch("switch")
        size = self.bytes_of(flow, psn)
        cut = self.held[0] + size > self.given.room - sum(self.held)
        if cut:
            if size <= self.given.size:
                raise UnclearError("nothing to cut")
            size = self.given.size
            self.result.trimmed[flow] += 1
            if self.held[1] + size > self.given.room - sum(self.held):
                raise UnclearError("a header is lost")
        self.held[cut] += size
        self.result.peak = max(self.result.peak, sum(self.held))
        self.queues[cut].append((flow, psn, size))
        self.serve()

    def serve(self) -> None:
        cut = bool(self.queues[1])
        if self.egress_busy or not self.queues[cut]:
            return
        flow, psn, size = self.queues[cut].popleft()
        self.egress_busy = True
        took = self.time(-1, size)
        self.at(self.now + took, lambda: self.left(cut, size))
        self.at(self.now + took + self.given.delays[-1], lambda: self.receive(flow, psn, cut))

    def left(self, cut: bool, size: int) -> None:
        self.touch("switch")
        self.egress_busy = False
        self.held[cut] -= size
        self.serve()

    # The receiver

    def receive(self, flow: int, psn: int, cut: bool) -> None:
        """Every frame is answered; answers go one after the other, before all else."""
        self.answers_free = max(self.now, self.answers_free) + self.time(-1, ANSWER)
        there = self.answers_free + self.given.delays[-1]
        self.back_free[flow] = max(there, self.back_free[flow]) + self.time(flow, ANSWER)
        if cut:
            back = self.back_free[flow] + self.given.delays[flow]
            self.at(back, lambda: self.learn(flow, psn))
            return
        self.got[flow].add(psn)
        if len(self.got[flow]) == self.given.packets[flow]:
            self.result.finish[flow] = self.now

    def run(self) -> Result:
        for flow, start in enumerate(self.given.starts):
            self.at(start, lambda flow=flow: self.send(flow))  # type: ignore[misc]
        while self.events:
            self.now, _, act = heapq.heappop(self.events)
            if self.now > LONGEST:
                raise UnclearError("headers take too much of the link")
            act()
        return self.result


def modelled(given: Incast) -> Result:
    """What becomes of an incast; raises UnclearError."""
    return _Model(given).run()
