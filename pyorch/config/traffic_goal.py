"""Traffic of kind `goal`: a schedule in GOAL's text form (pyorch.config.goal), as flows.

A message leaves when its send begins. A send is done when its message has arrived, or, if it is no
longer than `eager`, at once; a recv when it has begun and the message has arrived; a calc after its
time. So every step occurs a delay after the latest of those before it: after a flow or a point
(pyorch.config.traffic.Waits).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from pyorch.config import goal
from pyorch.config.ranks import RankedTable
from pyorch.config.topology import Topology
from pyorch.config.traffic import (
    POINT,
    Block,
    Check,
    TrafficTable,
    Waits,
    canonical,
    generator_of,
    traffic,
)
from pyorch.errors import Problem, UserError
from pyorch.fields import Window
from pyorch.reading import is_file, read_text

SHOWN_MISTAKES = 50
"""Maximum number of mistakes reported for one file."""
Array = npt.NDArray[np.int64]


@traffic("goal")
class Goal(RankedTable):
    """Messages and computations of ranks, of a file in GOAL's text form or of the entry itself."""

    source = "Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009"
    file_key = "file"

    file: str | None = None
    schedule: str | None = None
    eager: Window = 0

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.schedule is None) == (self.file is None):
            check.add("file", "give either 'file' or 'schedule'", "one of the two")
            return None
        ranks = self.resolve_ranks(check)
        text = self.schedule if self.file is None else _read(check, self.file)
        found = None if text is None else _checked(check, text, self.file or "schedule")
        if ranks is None or found is None or text is None:
            return None
        hosts = ranks["hosts"]
        if len(hosts) < found.ranks:
            check.add("hosts", f"{found.ranks} ranks on {len(hosts)} hosts", "a host for each rank")
            return None
        if self.placement in (None, "listed"):
            ranks |= {"hosts": hosts[: found.ranks], "placement": None}
        return canonical(self, file=None, schedule=goal.plain(text), **ranks)

    @override
    def check_files(self, check: Check) -> None:
        text = None if self.file is None else _read(check, self.file)
        if text is not None and self.file is not None:
            _checked(check, text, self.file)

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        return len(_schedule(self.schedule or "").matches)

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        nodes = self.place(network, random)
        return self.steps(network, nodes).block(nodes, self.start)

    def computations(
        self, network: Topology, seed: int, number: int, ends: Array
    ) -> list[tuple[int, int, int]]:
        """Return node, begin and end [ps] of the calcs that began in a run.

        number: of the entry. ends: of its flows [ps], -1: never. Canonical entries only.
        """
        nodes = self.place(network, generator_of(seed, number))
        calcs = self.steps(network, nodes).times_of_calcs(ends, self.start)
        return [(int(nodes[rank]), begin, end) for rank, begin, end in calcs]

    def steps(self, network: Topology, nodes: npt.NDArray[np.uint32]) -> Steps:
        """Return the waits of ranks on nodes. Canonical entries only."""
        slow = self.slowdowns(network)[nodes].tolist() if self.stragglers else []
        return _steps(self.schedule or "", self.eager, tuple(slow))


def _read(check: Check, name: str) -> str | None:
    path = check.scene.folder / name
    if not is_file(path):
        check.add("file", f"there is no file {name!r} next to the experiment file")
        return None
    try:
        return read_text(path, name)
    except UserError as error:
        form = "GOAL is read in its text form, not in its binary one"
        check.findings.merge(
            [
                replace(one, hint=f"{one.hint}; {form}") if one.hint else one
                for one in error.problems
            ]
        )
        return None


def _checked(check: Check, text: str, name: str) -> goal.Schedule | None:
    found, mistakes = goal.read(text)
    for one in mistakes[:SHOWN_MISTAKES]:
        where = f"{name}, line {one.line}" if one.line else name
        check.findings.merge([Problem(where, one.what, one.allowed, one.hint)])
    if len(mistakes) > SHOWN_MISTAKES:
        what = f"{len(mistakes) - SHOWN_MISTAKES} more mistakes"
        check.findings.merge([Problem(name, what)])
    return found


def _schedule(text: str) -> goal.Schedule:
    found, mistakes = goal.read(text)
    if found is None:
        raise ValueError(f"a schedule is not canonical: {mistakes[0]}")
    return found


class After(NamedTuple):
    """A moment: `delay` [ps] after a flow or point, or, if that is None, the start of the entry."""

    step: int | None
    delay: int


class Calc(NamedTuple):
    """A calc: its rank, when it begins, and how long it takes [ps]."""

    rank: int
    begin: After
    length: int


class Steps:
    """The flows of a schedule and what each waits for.

    src, dst: ranks, sizes: bytes, begins: when each may start; by flow. points: by point, the times
    whose latest it is. calcs: those that take time.
    """

    def __init__(self, schedule: goal.Schedule, eager: int, slow: tuple[float, ...]) -> None:
        operations, before = schedule.operations, goal.steps_before(schedule)
        flows = {send: number for number, send in enumerate(sorted(schedule.matches))}
        of_receive = {receive: flows[send] for send, receive in schedule.matches.items()}
        sends = [operations[send] for send in flows]
        self.src = np.array([one.rank for one in sends], dtype=np.int64)
        self.dst = np.array([one.peer for one in sends], dtype=np.int64)
        # a message of 0 B is a frame, too
        self.sizes = np.array([max(one.size, 1) for one in sends], dtype=np.uint64)
        self.begins: list[After] = [After(None, 0)] * len(flows)
        self.points: list[list[After]] = []
        self.calcs: list[Calc] = []
        times: dict[int, After] = {}
        for step in goal.in_order(schedule):
            number, done = divmod(step, 2)
            one = operations[number]
            if not done:
                times[step] = self._latest([times[other] for other in before[step]])
                if one.kind == "send":
                    self.begins[flows[number]] = times[step]
                continue
            begin = times[2 * number]
            if one.kind == "calc":
                length = round(one.size * goal.PS_PER_NS * (slow[one.rank] if slow else 1))
                if length:
                    self.calcs.append(Calc(one.rank, begin, length))
                times[step] = After(begin.step, begin.delay + length)
            elif one.kind == "recv":
                times[step] = self._latest([begin, After(of_receive[number], 0)])
            else:
                times[step] = begin if one.size <= eager else After(flows[number], 0)

    def _latest(self, moments: list[After]) -> After:
        """Return the latest of several times: one of them if that is certain, else a new point."""
        latest: dict[int | None, int] = {}
        for step, delay in moments:
            latest[step] = max(delay, latest.get(step, 0))
        if latest.get(None) == 0 and len(latest) > 1:
            del latest[None]  # nothing is earlier
        if len(latest) < 2:
            return After(*next(iter(latest.items()), (None, 0)))
        self.points.append([After(*one) for one in latest.items()])
        return After(POINT + len(self.points) - 1, 0)

    def block(self, nodes: npt.NDArray[np.uint32], start: int) -> Block:
        """Return the flows of ranks on nodes, of an entry that starts at `start` [ps]."""
        origin = POINT + len(self.points)  # at time 0, for steps with an earliest time
        starts = [start + (delay if step is None else 0) for step, delay in self.begins]
        edges = [(n, *one) for n, one in enumerate(self.begins) if one.step is not None]
        for number, moments in enumerate(self.points):
            for step, delay in moments:
                at = (origin, start + delay) if step is None else (step, delay)
                edges.append((POINT + number, *at))
        columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
        waits = Waits(
            columns[:, 0].astype(np.uint32),
            columns[:, 1].astype(np.uint32),
            columns[:, 2].copy(),
            len(self.points) + 1,
        )
        return Block(
            nodes[self.src],
            nodes[self.dst],
            self.sizes,
            np.array(starts, dtype=np.int64),
            waits=waits,
        )

    def times_of_calcs(self, ends: Array, start: int) -> list[tuple[int, int, int]]:
        """Return rank, begin and end [ps] of the calcs that began. ends: by flow, -1: never."""
        points: list[int] = []

        def when(moment: After) -> int:
            step, delay = moment
            if step is None:
                return start + delay
            time = points[step - POINT] if step >= POINT else int(ends[step])
            return -1 if time < 0 else time + delay

        for moments in self.points:
            times = [when(moment) for moment in moments]
            points.append(-1 if -1 in times else max(times))
        begun = ((calc, when(calc.begin)) for calc in self.calcs)
        return [(calc.rank, at, at + calc.length) for calc, at in begun if at >= 0]


@lru_cache(maxsize=8)
def _steps(text: str, eager: int, slow: tuple[float, ...]) -> Steps:
    return Steps(_schedule(text), eager, slow)
