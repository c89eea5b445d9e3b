"""Traffic of kind `goal`: a schedule in GOAL's text form (pyorch.addons.jobs.goal), as flows.

A message leaves when its send begins. A send is done when its message has arrived, or, if it is no
longer than `eager`, at once; a recv when it has begun and the message has arrived; a calc after its
time. So every step occurs a delay after the latest of those before it: after a flow or a point
(pyorch.traffic.base.Waits).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs import collectives, goal, goal_binary
from pyorch.addons.jobs.collective_kind import JobParts, Phase
from pyorch.addons.jobs.ranks import RankedTable
from pyorch.base.errors import Problem, UserError
from pyorch.base.fields import Size, Table, Window
from pyorch.base.reading import read_bytes, read_text
from pyorch.network.topology import Topology
from pyorch.traffic.base import (
    POINT,
    Block,
    Check,
    TrafficTable,
    Waits,
    canonical,
    generator_of,
    node_numbers,
    traffic,
)

MOST_COMPUTED = 10**15
"""Of a rank, with its slowdown [ns]: times in ps have 64 bits."""
LONGEST = f"at most {MOST_COMPUTED / 1e9:,.0f} s"
Nodes = npt.NDArray[np.uint32]
Array = npt.NDArray[np.int64]


class Named(Table):
    """Messages of a schedule, those of the tags from `tags[0]` to `tags[1]`, that are a collective.

    Several of a name are rounds of it, in the order listed, or, with another `group`, what other
    groups of ranks do by themselves.
    """

    name: str = Field(min_length=1, description="Name of the collective.")
    operation: str = Field(description="As of collectives, for `bus_bandwidth`.")
    size: Size = Field(description="As of collectives.")
    group: int = Field(
        default=0, ge=0, description="Other groups of ranks do the same by themselves."
    )
    tags: list[int] = Field(
        min_length=2, max_length=2, description="The lowest and the highest tag of its messages."
    )


@traffic("goal")
class Goal(RankedTable):
    """Messages and computations of ranks, of a GOAL file, text or binary, or of the entry itself.

    Computations of a server are those of its first host.
    """

    source = "Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009"
    file_key = "file"
    left_out = RankedTable.left_out | {"ranks"}

    file: str | None = Field(
        default=None, description="A GOAL file, text or binary, or `schedule`."
    )
    schedule: str | None = Field(default=None, description="The schedule itself, as text.")
    eager: Window = Field(
        default=0, description="Messages up to this size start without their receiver."
    )
    ranks: Literal["hosts", "servers"] = Field(
        default="hosts",
        description="What a rank is: a host, or a server whose NIC k is its host k.",
    )
    collectives: list[Named] | None = Field(
        default=None, min_length=1, description="Names of messages, for metrics and figures."
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.schedule is None) == (self.file is None):
            check.add("file", "give either 'file' or 'schedule'", "one of the two")
            return None
        ranks = self.resolve_ranks(check)
        text = self.schedule if self.file is None else read_file(check, self.file)
        found = None if text is None else checked(check, text, self.file or "schedule")
        if ranks is None or found is None or text is None or not self._check_names(check, found):
            return None
        network = check.scene.network
        hosts = ranks["hosts"]
        if self.ranks == "servers":
            # the first host of each server that has one of the hosts, in their order
            servers = dict.fromkeys(network.servers[node_numbers(hosts, network)].tolist())
            hosts = ranks["hosts"] = [
                network.names[network.hosts[one * network.server_size]] for one in servers
            ]
        if len(hosts) < found.ranks:
            what = f"{found.ranks} ranks on {len(hosts)} {self.ranks}"
            check.add("hosts", what, f"a {self.ranks[:-1]} for each rank")
        if not found.matches:
            check.add("", "no rank sends anything", "a message from one to another")
        if self.ranks == "servers" and self.placement == "by_rail":
            check.add("placement", "a rank that is a server has a host on every rail", "'listed'")
        _tell(check, self.file or "schedule", self._wrong_nics(found, network.server_size))
        _tell(check, self.file or "schedule", self._endless(found))
        if self.placement in (None, "listed"):
            ranks |= {"hosts": hosts[: found.ranks], "placement": None}
        return canonical(self, file=None, schedule=goal.plain(text), **ranks)

    def _check_names(self, check: Check, schedule: goal.Schedule) -> bool:
        """Whether the schedule has the collectives; else note the problems."""
        before = len(check.findings.problems)
        named = self.collectives or []
        last, owner = -1, 0
        for number, one in sorted(enumerate(named), key=lambda of: of[1].tags):
            first, until = one.tags
            if not 0 <= first <= until:
                what, allowed = f"{first} to {until}", "the lowest and the highest of its tags"
                check.add(f"collectives.{number}.tags", what, allowed)
            elif first <= last:
                what, allowed = f"collectives[{owner}] has tag {first}, too", "each tag once"
                check.add(f"collectives.{number}.tags", what, allowed)
            last, owner = max((last, owner), (until, number))
        if len(check.findings.problems) > before:
            return False
        firsts: dict[str, tuple[str, int]] = {}
        known = collectives.operations()
        _, ranks_of = _named_flows(named, schedule)
        for number, (one, members) in enumerate(zip(named, ranks_of, strict=True)):
            operation, ranks = firsts.setdefault(one.name, (one.operation, len(members)))
            if one.operation not in known:
                place = (*check.path, "collectives", str(number), "operation")
                check.findings.unknown(place, "operation", one.operation, known)
            elif not members:
                what = f"no message has a tag from {one.tags[0]} to {one.tags[1]}"
                check.add(f"collectives.{number}.tags", what)
            elif (one.operation, len(members)) != (operation, ranks):
                what = f"{one.name!r} is {one.operation} of {len(members)} ranks here"
                allowed = f"{operation} of {ranks} ranks as in the first of this name"
                check.add(f"collectives.{number}", what, allowed, "give it another name")
        return len(check.findings.problems) == before

    @override
    def check_files(self, check: Check) -> None:
        text = None if self.file is None else read_file(check, self.file)
        if text is not None and self.file is not None:
            checked(check, text, self.file)

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        return len(_schedule(self.schedule or "").matches)

    @override
    def computing(self, network: Topology) -> set[str]:
        operations = _schedule(self.schedule or "").operations
        ranks = {one.rank for one in operations if one.kind == "calc" and one.size}
        if self.placement is not None:
            return set(self.hosts or ()) if ranks else set()
        hosts = self.hosts_of_ranks(network, np.random.default_rng(0))
        return {network.names[node] for node in hosts[sorted(ranks)].ravel().tolist()}

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        hosts = self.hosts_of_ranks(network, random)
        return self.steps(network, hosts).block(hosts, self.start)

    @override
    def part_names(self) -> Sequence[str]:
        return [one.name for one in self.collectives or ()]

    @override
    def parts(self) -> JobParts | None:
        named = self.collectives
        if not named:
            return None
        flows, members = self.named_flows()
        call = np.array(flows, dtype=np.int64)
        turns: Counter[tuple[str, int]] = Counter()
        rounds = []
        calls: dict[str, list[int]] = {}
        for number, one in enumerate(named):
            rounds.append(turns[one.name, one.group])
            turns[one.name, one.group] += 1
            calls.setdefault(one.name, []).append(number)
        phases = []
        phase = np.zeros(len(named), dtype=np.int64)
        for number, (name, mine) in enumerate(calls.items()):
            phase[mine] = number
            # the mean size, as of a bandwidth the mean time is taken
            size = round(sum(named[one].size for one in mine) / len(mine))
            operation = named[mine[0]].operation
            phases.append(Phase.model_construct(name=name, operation=operation, size=size))
        return JobParts(
            tuple(calls),
            np.where(call < 0, -1, phase[call]),
            np.array([one.group for one in named], dtype=np.int64)[call],
            np.array(rounds, dtype=np.int64)[call],
            tuple(phases),
            tuple(len(members[mine[0]]) for mine in calls.values()),
        )

    @override
    def computations(
        self, network: Topology, seed: int, number: int, ends: Array
    ) -> list[tuple[int, int, int]]:
        hosts = self.hosts_of_ranks(network, generator_of(seed, number))
        calcs = self.steps(network, hosts).times_of_calcs(ends, self.start)
        return [(int(hosts[rank, 0]), begin, end) for rank, begin, end in calcs]

    @classmethod
    @override
    def shown(cls, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return it with the names of its collectives only: there may be thousands."""
        if "collectives" not in entry:
            return entry
        names = dict.fromkeys(one["name"] for one in entry["collectives"])
        return {**entry, "collectives": list(names)}

    def hosts_of_ranks(self, network: Topology, random: np.random.Generator) -> Nodes:
        """Return the node of every NIC of every rank, shape (ranks, NICs). Canonical only."""
        nodes = self.place(network, random)
        if self.ranks == "hosts":
            return nodes[:, np.newaxis]
        first = np.searchsorted(network.hosts, nodes)
        places = first[:, np.newaxis] + np.arange(network.server_size)
        return np.asarray(network.hosts[places])

    def named_flows(self) -> tuple[list[int], list[set[int]]]:
        """Return the number of each flow's collective, -1: none, and the ranks of each collective.

        Canonical entries only.
        """
        return _named_flows(self.collectives or (), _schedule(self.schedule or ""))

    def steps(self, network: Topology, hosts: Nodes) -> Steps:
        """Return the waits of ranks on hosts. Canonical entries only."""
        slow = self.slowdowns(network)[hosts].max(axis=1).tolist() if self.stragglers else []
        return _steps(self.schedule or "", self.eager, tuple(slow))

    def _wrong_nics(self, schedule: goal.Schedule, size: int) -> list[goal.Mistake]:
        """Return the NICs that a rank does not have, on a network with servers of `size` hosts."""
        if self.ranks == "servers":
            known, what, hint = size, f"a server of {size} hosts", "topology.hosts_per_server"
        else:
            known, what = 1, "a rank that is one host"
            hint = 'ranks = "servers" makes rank n the n-th server, and nic k its host k, from 0'
        allowed = f"nic 0 to {known - 1}" if known > 1 else "nic 0"
        return [
            goal.Mistake(one.line, f"nic {one.nic} of {what}", allowed, hint)
            for one in schedule.operations
            if one.nic >= known
        ]

    def _endless(self, schedule: goal.Schedule) -> list[goal.Mistake]:
        """Return the ranks that compute for longer than a run can count."""
        slow = math.prod(one.slowdown for one in self.stragglers or ())
        times: Counter[int] = Counter()
        for one in schedule.operations:
            if one.kind == "calc":
                times[one.rank] += one.size
        return [
            goal.Mistake(0, f"rank {rank} computes for {time * slow:.3g} ns", LONGEST)
            for rank, time in sorted(times.items())
            if time * slow > MOST_COMPUTED
        ]


def read_file(check: Check, name: str) -> str | None:
    """Return a schedule as text; note problems."""
    path = check.file("file", name)
    if path is None:
        return None
    try:
        data = read_bytes(path, name)
        return (
            goal_binary.text_of(data, name)
            if goal_binary.is_binary(data)
            else read_text(path, name)
        )
    except UserError as error:
        check.findings.merge(error.problems)
        return None


def checked(check: Check, text: str, name: str) -> goal.Schedule | None:
    """Return a schedule; note what is wrong with it, and return None."""
    found, mistakes = goal.read(text)
    _tell(check, name, mistakes)
    return found


def _tell(check: Check, name: str, mistakes: Sequence[goal.Mistake]) -> None:
    for one in mistakes[: goal.SHOWN_MISTAKES]:
        where = f"{name}, line {one.line}" if one.line else name
        check.findings.merge([Problem(where, one.what, one.allowed, one.hint)])
    if len(mistakes) > goal.SHOWN_MISTAKES:
        what = f"{len(mistakes) - goal.SHOWN_MISTAKES} more mistakes"
        check.findings.merge([Problem(name, what)])


def _named_flows(
    named: Sequence[Named], schedule: goal.Schedule
) -> tuple[list[int], list[set[int]]]:
    """Return the number of each flow's collective, -1: none, and the ranks of each collective."""
    order = sorted(range(len(named)), key=lambda number: named[number].tags)
    firsts = [named[number].tags[0] for number in order]
    flows = []
    members: list[set[int]] = [set() for _ in named]
    for send in sorted(schedule.matches):
        one = schedule.operations[send]
        place = bisect_right(firsts, one.tag) - 1
        number = order[place] if place >= 0 and one.tag <= named[order[place]].tags[1] else -1
        flows.append(number)
        if number >= 0:
            members[number] |= {one.rank, one.peer}
    return flows, members


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

    src, dst: ranks, out, into: their NICs, sizes: bytes, begins: when each may start; by flow.
    points: by point, the times whose latest it is. calcs: those that take time.
    """

    def __init__(self, schedule: goal.Schedule, eager: int, slow: tuple[float, ...]) -> None:
        operations, before = schedule.operations, schedule.before
        flows = {send: number for number, send in enumerate(sorted(schedule.matches))}
        of_receive = {receive: flows[send] for send, receive in schedule.matches.items()}
        sends = [operations[send] for send in flows]
        self.src = np.array([one.rank for one in sends], dtype=np.int64)
        self.dst = np.array([one.peer for one in sends], dtype=np.int64)
        self.out = np.array([one.nic for one in sends], dtype=np.int64)
        nics = [operations[schedule.matches[send]].nic for send in flows]
        self.into = np.array(nics, dtype=np.int64)
        # a message of 0 B is a frame, too
        self.sizes = np.array([max(one.size, 1) for one in sends], dtype=np.uint64)
        self.begins: list[After] = [After(None, 0)] * len(flows)
        self.points: list[list[After]] = []
        self.calcs: list[Calc] = []
        times: dict[int, After] = {}
        for step in schedule.order:
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
        if len(moments) == 1:
            return moments[0]
        latest: dict[int | None, int] = {}
        for step, delay in moments:
            latest[step] = max(delay, latest.get(step, 0))
        if latest.get(None) == 0 and len(latest) > 1:
            del latest[None]  # nothing is earlier
        if len(latest) < 2:
            return After(*next(iter(latest.items()), (None, 0)))
        self.points.append([After(*one) for one in latest.items()])
        return After(POINT + len(self.points) - 1, 0)

    def block(self, hosts: Nodes, start: int) -> Block:
        """Return the flows of an entry that starts at `start` [ps]. hosts: by rank and NIC."""
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
            hosts[self.src, self.out],
            hosts[self.dst, self.into],
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
@goal.uncollected()
def _steps(text: str, eager: int, slow: tuple[float, ...]) -> Steps:
    return Steps(_schedule(text), eager, slow)
