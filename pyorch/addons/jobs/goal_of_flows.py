"""The flows of a run as a schedule in GOAL's text form, for other simulators to replay.

Ranks are the hosts that send or receive, in the order of their numbers. Every flow is a send and a
recv with a unique tag; what waits for a flow requires its recv or, if the sender itself waits, its
send. A point is a calc of 0 ns. What begins at several times after the same is a chain of calcs of
the differences, on a CPU of its own: the calcs of one CPU never overlap.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from pyorch.addons.jobs import goal
from pyorch.base.errors import Problem, UserError
from pyorch.traffic.base import POINT, Flows, Waits

CPUS = 256
"""CPUs of a rank in LogGOPSim's binary form."""


class _Writer:
    """Statements by rank."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        nodes = np.unique(np.concatenate([flows.src, flows.dst])).tolist()
        self.nodes: list[int] = nodes
        ranks = {node: rank for rank, node in enumerate(nodes)}
        self.src = [ranks[node] for node in flows.src.tolist()]
        self.dst = [ranks[node] for node in flows.dst.tolist()]
        self.blocks: list[list[str]] = [[] for _ in nodes]
        self.cpus = [0] * len(nodes)
        self.rounded = 0
        # of a rank and what must be done before: what begins how long after that [ns]
        self.later: dict[tuple[int, tuple[str, ...]], dict[int, list[str]]] = {}
        self.before: dict[int, list[tuple[int, int]]] = defaultdict(list)
        waits = flows.waits or Waits(*(np.zeros(0, dtype=np.int64),) * 3)  # type: ignore[arg-type]
        edges = zip(waits.flows.tolist(), waits.after.tolist(), waits.delays.tolist(), strict=True)
        for waiter, after, delay in edges:
            self.before[waiter].append((after, delay))
        self.owners = self._owners()

    def _owners(self) -> dict[int, int | None]:
        """Return the rank of every point that a flow waits for; None: several ranks."""
        owners: dict[int, int | None] = {}
        ready = [(flow, self.src[flow]) for flow in range(len(self.src))]
        while ready:
            waiter, rank = ready.pop()
            for after, _ in self.before.get(waiter, ()):
                if after >= POINT and owners.get(after, rank) is not None:
                    if after not in owners:
                        owners[after] = rank
                        ready.append((after, rank))
                    elif owners[after] != rank:
                        owners[after] = None
        return owners

    def write(self) -> None:
        """Fill the blocks."""
        first = int(self.flows.starts.min())
        for flow, (src, dst) in enumerate(zip(self.src, self.dst, strict=True)):
            size = int(self.flows.sizes[flow])
            self.blocks[src].append(f"s{flow}: send {size}b to {dst} tag {flow}")
            self.blocks[dst].append(f"r{flow}: recv {size}b from {src} tag {flow}")
        for point, rank in self.owners.items():
            if rank is not None:
                self.blocks[rank].append(f"{_point(point)}: calc 0")
        for flow, src in enumerate(self.src):
            start = int(self.flows.starts[flow])
            if start > (first if flow in self.before else 0):
                self._later(f"s{flow}", src, start, [])
            self._wait(f"s{flow}", src, flow)
        for point, rank in self.owners.items():
            if rank is not None:
                self._wait(_point(point), rank, point)
        self._chain()

    def _wait(self, label: str, rank: int, waiter: int) -> None:
        """Let an operation of a rank wait for what its flow or point waits for."""
        by_delay: dict[int, list[str]] = defaultdict(list)
        for after, delay in self.before.get(waiter, ()):
            known = self._label(after, rank)
            # a point that waits for nothing occurs at the start
            if known is not None and (after < POINT or after in self.before):
                by_delay[delay].append(known)
            elif delay:
                by_delay[delay] += []
        for delay, labels in by_delay.items():
            if delay:
                self._later(label, rank, delay, labels)
            else:
                self.blocks[rank] += [f"{label} requires {other}" for other in labels]

    def _label(self, after: int, rank: int) -> str | None:
        """Return the operation by which a rank knows of a flow or point; None: it cannot know."""
        if after >= POINT:
            return _point(after) if self.owners.get(after) == rank else None
        if self.dst[after] == rank:
            return f"r{after}"
        return f"s{after}" if self.src[after] == rank else None

    def _later(self, label: str, rank: int, delay: int, after: Sequence[str]) -> None:
        """Let an operation wait for a delay [ps] in addition."""
        length = round(delay / goal.PS_PER_NS)
        self.rounded += length * goal.PS_PER_NS != delay
        at = self.later.setdefault((rank, tuple(after)), {})
        at.setdefault(length, []).append(label)

    def _chain(self) -> None:
        """Write the calcs between what begins after the same."""
        numbers = itertools.count()
        for (rank, after), at in self.later.items():
            cpu, self.cpus[rank] = self.cpus[rank], self.cpus[rank] + 1
            block, before, past = self.blocks[rank], after, 0
            for length in sorted(at):
                if length > past:
                    name = f"c{next(numbers)}"
                    block.append(f"{name}: calc {length - past} cpu {cpu}")
                    block += [f"{name} requires {other}" for other in before]
                    before, past = (name,), length
                block += [f"{label} requires {other}" for label in at[length] for other in before]

    def told(self) -> Iterator[str]:
        """Yield what the schedule says otherwise than the flows."""
        if self.rounded:
            yield f"{self.rounded:,} times are no whole ns: they are rounded"
        if max(self.cpus) > CPUS:
            yield f"a rank has {max(self.cpus):,} CPUs, and LogGOPSim's binary form {CPUS}"

    def unknown(self) -> list[Problem]:
        """Return the problem of a wait that no rank can know by itself."""
        waiters = [(flow, self.src[flow]) for flow in range(len(self.src))]
        waiters += [(point, rank) for point, rank in self.owners.items() if rank is not None]
        return [
            Problem(
                "traffic",
                f"rank {rank} waits for something that only other ranks can know",
                "waits for messages that the rank sends or receives",
                "GOAL has no such wait; let the rank take part in what it waits for",
            )
            for waiter, rank in waiters
            for after, _ in self.before.get(waiter, ())
            if (after < POINT or after in self.before) and self._label(after, rank) is None
        ]


def _point(number: int) -> str:
    return f"p{number - POINT}"


def goal_of_flows(flows: Flows, names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the schedule of flows between nodes of these names, and what it says otherwise.

    Delays are rounded to ns; comments say how many. Raises UserError for what GOAL cannot express:
    flows without end, bursts, and ranks that wait for messages between others.
    """
    problems = []
    if len(flows) == 0 or not bool((flows.sizes > 0).all()) or bool((flows.stops >= 0).any()):
        problems.append(Problem("traffic", "flows that end with no message", "messages of a size"))
    if flows.on_off:
        problems.append(Problem("traffic", "flows that send in bursts", "no 'on' and 'off'"))
    if problems:
        raise UserError(problems)
    writer = _Writer(flows)
    unknown = writer.unknown()
    if unknown:
        raise UserError(list(dict.fromkeys(unknown)))
    writer.write()
    comments = [f"rank {rank}: {names[node]}" for rank, node in enumerate(writer.nodes)]
    told = list(writer.told())
    return goal.write(len(writer.nodes), writer.blocks, [*comments, *told]), told
