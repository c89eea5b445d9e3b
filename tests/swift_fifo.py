"""Swift's senders at one port: a second model, with a list of events and nothing of ns-3."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

#: The study rdma/swift-target: 10 Gb/s, four wires of 1 us, htsim's values.
#: Times in us, windows in packets.
FRAME_BYTES, OVERHEAD_BYTES, PAYLOAD_BYTES = 1048, 20, 1000
PACKET = (FRAME_BYTES + OVERHEAD_BYTES) * 8 / 10e3
ANSWER = (64 + OVERHEAD_BYTES) * 8 / 10e3
WIRE = 1.0
BASE_RTT = 4 * WIRE + 2 * PACKET + 2 * ANSWER
BASE_TARGET, HOP_TARGET = 20.0, 3.053
FLOW_LEAST_WINDOW, FLOW_MOST_WINDOW, LEAST_WINDOW = 0.1, 100.0, 0.001
BETA, MOST_DECREASE = 0.8, 0.5


def target(window: float, flow_range: float) -> float:
    """Delay aimed at, in us: Kumar et al., SIGCOMM 2020, section 3.5, as recalled."""
    alpha = flow_range / (FLOW_LEAST_WINDOW**-0.5 - FLOW_MOST_WINDOW**-0.5)
    scaled = alpha * (window**-0.5 - FLOW_MOST_WINDOW**-0.5)
    return BASE_TARGET + HOP_TARGET + min(max(scaled, 0.0), flow_range)


@dataclass
class Sender:
    """One flow. What it owes is the part of a packet that its pace has not yet earned."""

    window: float
    rtt: float
    flying: int = 0
    owed: float = 0.0
    settled: float = 0.0
    line_free: float = 0.0
    look: float = -1.0
    cut: float = -math.inf

    def settle(self, now: float) -> None:
        """Earn, at one packet in a round trip over the window, up to now."""
        earned = (now - self.settled) * self.window / self.rtt
        self.owed = max(0.0, self.owed - earned) if self.window < 1 else 0.0
        self.settled = now

    def adjust(self, delay: float, now: float, increase: float, flow_range: float) -> None:
        """Follow the delay of an answer: Algorithm 1, as recalled."""
        aim = target(self.window, flow_range)
        if delay < aim:
            self.window += increase / self.window if self.window >= 1 else increase
        elif now - self.cut >= delay > aim:
            self.cut = now
            share = min(BETA * (delay - aim) / delay, MOST_DECREASE)
            self.window = max(LEAST_WINDOW, self.window * (1 - share))
        self.rtt = delay


@dataclass
class Port:
    """The queue they share, and the time integral of what waits in it."""

    since: float
    until: float
    busy: float = 0.0
    area: float = 0.0

    def pass_through(self, now: float) -> float:
        """Take a packet, and say when its last bit has gone."""
        start = max(now, self.busy)
        self.busy = start + PACKET
        self.area += max(0.0, min(start, self.until) - max(now, self.since))
        return self.busy


def mean_queue(flows: int, increase: float, flow_range: float, since: float, until: float) -> float:
    """Mean bytes that wait from `since` to `until`, both in us."""
    senders = [Sender(float(math.ceil(BASE_RTT / PACKET)), BASE_RTT) for _ in range(flows)]
    port = Port(since, until)
    events: list[tuple[float, int, str, int, float]] = []
    made = 0

    def plan(when: float, what: str, flow: int, sent: float) -> None:
        nonlocal made
        heapq.heappush(events, (when, made, what, flow, sent))
        made += 1

    def send(flow: int, now: float) -> None:
        one = senders[flow]
        room = max(1, round(one.window * PAYLOAD_BYTES) // PAYLOAD_BYTES)
        while one.flying < room:
            due = now + one.owed * one.rtt / one.window if one.window < 1 else now
            due = max(due, one.line_free)
            if due > now + 1e-9:
                one.look = due
                plan(due, "look", flow, 0.0)
                return
            one.flying += 1
            one.owed = 1.0 if one.window < 1 else 0.0
            one.settled, one.line_free = now, now + PACKET
            plan(now + PACKET + WIRE, "arrival", flow, now)

    for flow in range(flows):
        send(flow, 0.0)
    while events and events[0][0] <= until:
        now, _, what, flow, sent = heapq.heappop(events)
        one = senders[flow]
        if what == "arrival":
            back = port.pass_through(now) + 3 * WIRE + 2 * ANSWER
            plan(back, "answer", flow, sent)
            continue
        if what == "look" and one.look != now:
            continue
        one.settle(now)
        if what == "answer":
            one.flying -= 1
            one.adjust(now - sent, now, increase, flow_range)
        send(flow, now)
    return port.area / (until - since) * FRAME_BYTES
