"""The rules of the public HPCC simulator, without ns-3: a second model of its eight flows.

Read in its source (alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a) for facts only:
hosts, switches and HPCC with one window, in whole nanoseconds and whole bits per second. No loss,
no pauses: neither occurs with these flows.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

LINE = 25_000_000_000
"""Rate of all links [bit/s]."""
DELAY = 1000
"""Delay of all links [ns]."""
HOSTS = 8
"""The first half is on the left of the trunk."""
PAYLOAD, HEADER, ACK = 957, 90, 88
"""Bytes of a packet, of its headers with 42 B of telemetry, and of an ACK."""
RTT = 6918
"""T [ns]: six delays and three times 957 B in whole ns."""
STEP = 10_000_000
"""Additive increase [bit/s]."""
LEAST = 1_000_000_000
"""Minimum rate [bit/s]."""
TARGET = 0.95
"""Target utilization."""


@dataclass(frozen=True)
class Rules:
    """Which roundings apply: `window` [B] is T at the line rate, the rest are units [B]."""

    window: float = 21_618
    byte_unit: int = 128
    queue_unit: int = 80


@dataclass(frozen=True)
class Hop:
    """Telemetry of a port: its time [ns], and bytes sent and waiting, rounded down."""

    time: int
    sent: int
    queue: int


@dataclass
class Flow:
    """A message and its sender."""

    source: int
    target: int
    size: int
    start: int
    sent: int = 0
    acked: int = 0
    received: int = 0
    rate: int = LINE
    reference: int = LINE
    utilization: float = 1.0
    round_end: int = 0
    due: int = 0
    last_bytes: int = 0
    hops: tuple[Hop, ...] = ()
    finish: int = 0
    rates: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Packet:
    """A packet, or an ACK; `number` counts bytes: the packet's first, or those acknowledged."""

    flow: Flow
    bytes: int
    number: int
    is_ack: bool
    hops: tuple[Hop, ...] = ()


def spacing(size: int, rate: int) -> int:
    """Time of bytes at a rate [ns], rounded down as its clock does: seconds in 64 binary digits."""
    return int(size * 8 / rate * 2.0**64) * 1_000_000_000 >> 64


Event = list[Any]
"""Time [ns], number, function or None, arguments."""


class Clock:
    """Events in the order of time, then of creation."""

    def __init__(self) -> None:
        self.now = 0
        self._count = 0
        self._events: list[Event] = []

    def at(self, time: int, call: Callable[..., None], *arguments: object) -> Event:
        """Call a function at a time [ns]; set the third element to None to cancel it."""
        self._count += 1
        event = [time, self._count, call, arguments]
        heapq.heappush(self._events, event)
        return event

    def run(self) -> None:
        """Run all events."""
        while self._events:
            event = heapq.heappop(self._events)
            call, event[2] = event[2], None
            if call:
                self.now = event[0]
                call(*event[3])


class Port:
    """Sends what waits in it, in order; a switch writes telemetry as a packet starts."""

    def __init__(self, clock: Clock, rules: Rules, arrive: Callable[[Packet], None]) -> None:
        self.clock, self.rules, self.arrive = clock, rules, arrive
        self.waiting: deque[Packet] = deque()
        self.queue = self.sent = 0
        self.busy = False

    def push(self, packet: Packet) -> None:
        """Let a packet wait."""
        self.waiting.append(packet)
        self.queue += packet.bytes
        self.go()

    def go(self) -> None:
        """Start the next packet if the line is free."""
        if self.busy or not self.waiting:
            return
        packet = self.waiting.popleft()
        self.queue -= packet.bytes
        if not packet.is_ack:
            sent = self.sent - self.sent % self.rules.byte_unit
            queue = self.queue - self.queue % self.rules.queue_unit
            packet.hops += (Hop(self.clock.now, sent, queue),)
        self.sent += packet.bytes
        self.transmit(packet)

    def transmit(self, packet: Packet) -> None:
        """Occupy the line, and let the packet arrive."""
        self.busy = True
        end = self.clock.now + spacing(packet.bytes, LINE)
        self.clock.at(end, self.end)
        self.clock.at(end + DELAY, self.arrive, packet)

    def end(self) -> None:
        """The line is free."""
        self.busy = False
        self.go()


class Host(Port):
    """A port whose ACKs go first, then the packets of its flows in turn."""

    flows: list[Flow]
    turn: int = 0
    wake: Event | None = None

    def go(self) -> None:
        """Send an ACK or the next packet that window and rate allow; else wait for one."""
        if self.busy:
            return
        if self.waiting:
            self.transmit(self.waiting.popleft())
            return
        now = self.clock.now
        for k in range(1, len(self.flows) + 1):
            number = (k + self.turn) % len(self.flows)
            flow = self.flows[number]
            window = self.rules.window * flow.rate // LINE
            if flow.sent < flow.size and flow.sent - flow.acked < window and flow.due <= now:
                self.turn = number
                self.send(flow)
                return
        self.flows = [flow for flow in self.flows if flow.acked < flow.size]
        due = min((flow.due for flow in self.flows if flow.sent < flow.size), default=0)
        if due > now and not (self.wake and self.wake[2]):
            self.wake = self.clock.at(due, self.go)

    def send(self, flow: Flow) -> None:
        """Send a packet; its size at the current rate says when the next one is due."""
        payload = min(PAYLOAD, flow.size - flow.sent)
        packet = Packet(flow, payload + HEADER, flow.sent, is_ack=False)
        flow.sent += payload
        self.transmit(packet)
        flow.last_bytes = packet.bytes
        flow.due = self.clock.now + spacing(packet.bytes, flow.rate)

    def begin(self, flow: Flow) -> None:
        """Start a message."""
        self.flows.append(flow)
        flow.due = self.clock.now
        self.go()

    def take(self, packet: Packet) -> None:
        """Answer a packet, or process an ACK."""
        flow = packet.flow
        if not packet.is_ack:
            flow.received += packet.bytes - HEADER
            self.waiting.append(Packet(flow, ACK, flow.received, is_ack=True, hops=packet.hops))
        else:
            flow.acked = packet.number
            if flow.acked == flow.size:
                flow.finish = self.clock.now
            self.control(flow, packet)
        self.go()

    def control(self, flow: Flow, ack: Packet) -> None:
        """Change the rate by the telemetry of an ACK, and with it when the next packet is due."""
        is_round = ack.number > flow.round_end
        before, flow.hops = flow.hops, ack.hops
        if not before:
            flow.round_end = flow.sent
            return
        flow.utilization = self.utilization(flow.utilization, before, ack.hops)
        rate = int(flow.reference / (flow.utilization / TARGET)) + STEP
        rate = min(max(rate, LEAST), LINE)
        flow.due += spacing(flow.last_bytes, rate) - spacing(flow.last_bytes, flow.rate)
        if self.wake and self.wake[2] and flow.due < self.wake[0]:
            self.wake[2] = None
            self.wake = self.clock.at(max(flow.due, self.clock.now), self.go)
        flow.rate = rate
        flow.rates.append((self.clock.now, rate))
        if is_round:
            flow.reference = rate
            flow.round_end = flow.sent

    def utilization(self, old: float, before: Sequence[Hop], now: Sequence[Hop]) -> float:
        """Average of the load of the busiest hop, weighted by the time since the last ACK."""
        highest, time = 0.0, 0
        for last, hop in zip(before, now, strict=True):
            elapsed = hop.time - last.time
            load = (hop.sent - last.sent) * 8 / (elapsed * 1e-9) / LINE
            load += min(hop.queue, last.queue) / self.rules.window
            if load > highest:
                highest, time = load, min(elapsed, RTT)
        return (old * (RTT - time) + highest * time) / RTT


def run(flows: Sequence[Flow], rules: Rules = Rules()) -> None:
    """Run flows over two switches and a trunk, and set their `finish` and `rates`."""
    clock = Clock()
    hosts: list[Host] = []
    down: list[Port] = []

    def is_left(host: int) -> bool:
        return host < HOSTS // 2

    def switch(left: bool) -> Callable[[Packet], None]:
        def arrive(packet: Packet) -> None:
            to = packet.flow.source if packet.is_ack else packet.flow.target
            (down[to] if is_left(to) == left else trunk[left]).push(packet)

        return arrive

    sides = {left: switch(left) for left in (True, False)}
    trunk = {left: Port(clock, rules, sides[not left]) for left in (True, False)}
    for number in range(HOSTS):
        host = Host(clock, rules, sides[is_left(number)])
        host.flows = []
        hosts.append(host)
        down.append(Port(clock, rules, host.take))
    for flow in flows:
        clock.at(flow.start, hosts[flow.source].begin, flow)
    clock.run()
