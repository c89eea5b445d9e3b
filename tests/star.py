"""Messages across an idle star, packet by packet: what the times of collectives are checked with.

It is written from the definitions of docs/architecture.md and of the algorithms, and uses none of
our code. A port sends answers before data, never interrupts a frame, and a frame is sent on when it
has arrived as a whole. Messages take turns at their host: one joins the queue of those ready when
it begins, and again when a packet of it begins. A message is answered once, when it is complete.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

PAYLOAD = 1000  # bytes of a packet
HEADERS = 68  # and preamble and gap [bytes]
BYTE = 80  # ps at 100 Gb/s
ACK = 84 * BYTE
DELAY = 10**6  # of a link [ps]


@dataclass
class Message:
    """size: bytes. waits: (message, ps): it begins so long after the end of each."""

    src: int
    dst: int
    size: int
    waits: list[tuple[int, int]] = field(default_factory=list)


def wire(size: int) -> list[int]:
    """Times that the packets of a message take on a link [ps]."""
    whole, rest = divmod(size, PAYLOAD)
    return [(PAYLOAD + HEADERS) * BYTE] * whole + [(rest + HEADERS) * BYTE] * (rest > 0)


def across(size: int) -> int:
    """Time of a message, and of equal ones that follow it without a gap in between [ps]."""
    packets = wire(size)
    return packets[0] + sum(packets) + 2 * DELAY


@dataclass
class _Port:
    answers: deque[tuple[int, Callable[[], None]]] = field(default_factory=deque)
    data: deque[Iterator[tuple[int, Callable[[], None]]]] = field(default_factory=deque)
    busy: bool = False


class _Star:
    """The events of a star; those of one moment happen in the order in which they were planned."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.ends: list[int] = [-1] * len(messages)
        self.now = 0
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._planned = 0
        ranks = {rank for message in messages for rank in (message.src, message.dst)}
        self._up = {rank: _Port() for rank in ranks}  # of the hosts
        self._down = {rank: _Port() for rank in ranks}  # of the switch
        self._left = [len(message.waits) for message in messages]
        self._begin = [0] * len(messages)

    def run(self) -> list[int]:
        """Return when each message is complete [ps]."""
        for number, message in enumerate(self.messages):
            if not message.waits:
                self._at(0, partial(self._start, number))
        while self._events:
            self.now, _, act = heapq.heappop(self._events)
            act()
        assert min(self.ends) >= 0
        return self.ends

    def _at(self, time: int, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, self._planned, act))
        self._planned += 1

    def _start(self, number: int) -> None:
        message = self.messages[number]
        port = self._up[message.src]
        port.data.append(self._packets(number))
        self._next(port)

    def _packets(self, number: int) -> Iterator[tuple[int, Callable[[], None]]]:
        """Each packet: its time on a link, and what happens behind the first one."""
        message = self.messages[number]
        times = wire(message.size)
        for place, time in enumerate(times):
            end = partial(self._complete, number) if place == len(times) - 1 else _nothing
            yield time, partial(self._forward, message.dst, time, end, answer=False)

    def _forward(self, dst: int, time: int, arrived: Callable[[], None], answer: bool) -> None:
        port = self._down[dst]
        if answer:
            port.answers.append((time, arrived))
        else:
            port.data.append(iter([(time, arrived)]))
        self._next(port)

    def _complete(self, number: int) -> None:
        self.ends[number] = self.now
        message = self.messages[number]
        for other, follower in enumerate(self.messages):
            for after, delay in follower.waits:
                if after == number:
                    self._begin[other] = max(self._begin[other], self.now + delay)
                    self._left[other] -= 1
                    if self._left[other] == 0:
                        self._at(self._begin[other], partial(self._start, other))
        port = self._up[message.dst]
        port.answers.append((ACK, partial(self._forward, message.src, ACK, _nothing, answer=True)))
        self._next(port)

    def _next(self, port: _Port) -> None:
        if port.busy:
            return
        if port.answers:
            time, arrived = port.answers.popleft()
        else:
            while port.data:
                packets = port.data.popleft()
                if (packet := next(packets, None)) is not None:
                    break
            else:
                return
            time, arrived = packet
            port.data.append(packets)
        port.busy = True
        self._at(self.now + time + DELAY, arrived)
        self._at(self.now + time, partial(self._free, port))

    def _free(self, port: _Port) -> None:
        port.busy = False
        self._next(port)


def _nothing() -> None:
    """Happens behind a packet that is not the last of its message, and behind an answer."""


def times(messages: list[Message]) -> list[int]:
    """Return when each message is complete [ps]; all those that wait for none begin at 0."""
    return _Star(messages).run()
