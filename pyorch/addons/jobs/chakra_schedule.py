"""Chakra traces of all ranks as a schedule in GOAL's text form.

Every node is a step of its rank that begins when those that it depends on are done. A computation
is a calc; a collective is the sends and recvs of its algorithm (pyorch.addons.jobs.collectives)
between a calc of 0 ns where a rank begins its part and one where it ends it; its messages have tags
of their own, by which it is named. pyorch.addons.jobs.goal and pyorch.addons.jobs.goal_kind
define the meaning of the GOAL text.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyorch.addons.jobs import collectives, goal
from pyorch.addons.jobs.chakra import Node, Value
from pyorch.addons.jobs.goal_kind import Named
from pyorch.base.errors import Problem, first_of

COLLECTIVES = (
    "ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
    "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
)  # fmt: skip
"""By number."""
OPERATIONS = {
    "ALL_REDUCE": "all_reduce",
    "ALL_GATHER": "all_gather",
    "BROADCAST": "broadcast",
    "ALL_TO_ALL": "all_to_all",
    "REDUCE_SCATTER": "reduce_scatter",
}
"""Those that are read, and their names here."""
IGNORED = frozenset(
    {
        "comm_priority", "fw_parent", "fw_tid", "kernel_backend", "kernel_file", "num_ops",
        "op_schema", "pg_desc", "rf_id", "scope", "seq_id", "stream", "tensor_loc", "tensor_size",
        "tid", "ts",
    }
)  # fmt: skip
"""Attributes that are ignored in every node."""
MESSAGES = ("COMM_SEND_NODE", "COMM_RECV_NODE")
READ = {
    "COMP_NODE": frozenset(),
    "METADATA_NODE": frozenset(),
    "COMM_SEND_NODE": frozenset({"comm_size", "comm_src", "comm_dst", "comm_tag"}),
    "COMM_RECV_NODE": frozenset({"comm_size", "comm_src", "comm_dst", "comm_tag"}),
    "COMM_COLL_NODE": frozenset({"comm_type", "comm_size", "pg_name", "involved_dim"}),
}
"""Kinds of nodes that are read, and the attributes of each in addition to `is_cpu_op`."""
NS_PER_US = 1000
MOST_TAG = 2**32 - 1
"""Tags of collectives begin above this."""
MOST_COPIED = 2_000_000
"""Nodes of all copies of a trace, and about as many statements [0.5 KB, 10 us each]."""
MOST_SHOWN = 10
"""Ids of nodes that a message shows."""
MOST_NUMBER = 10**15
"""Bytes or us above which a number must be a mistake: GOAL has 18 digits."""
MOST_OPERATIONS = 10**20


@dataclass
class _Rank:
    """The text of a rank so far: statements, and the node of each. ids: of all nodes."""

    number: int
    label: str
    nodes: Sequence[Node]
    ids: frozenset[int]
    lines: list[str] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = {one.id: one.place for one in self.nodes if one.place}

    def where(self, node: int) -> str:
        return self.places.get(node, f"{self.label}, node {node}")

    def say(self, node: Node, *lines: str) -> None:
        self.lines += lines
        self.origins += [node.id] * len(lines)


class _Call(NamedTuple):
    """A rank's part of a collective. kind: of COLLECTIVES, by number. size: bytes."""

    node: Node
    kind: int
    size: int


class _Written(NamedTuple):
    """A collective that was written. node: of its first rank; the others as in Named."""

    node: Node
    operation: str
    ranks: int
    size: int
    group: int
    tags: tuple[int, int]


@dataclass(frozen=True)
class Reading:
    """How traces are read.

    groups: ranks of each process group; None: unknown. algorithms: by operation, unless the
    default. ignore: more attributes to ignore. ignore_missing: ignore dependencies on nodes that
    are not in the file. control: the nodes' dependencies have ctrl_deps among them. chain_streams:
    what runs on a stream of a device waits for what ran on it before. flops: floating-point
    operations per second, memory_rate: bytes per second, which decide how long a computation of
    `num_ops` takes; None: its duration. gathered: the size of an all-gather is that of its result.
    """

    groups: Mapping[str, Sequence[int]] | None = None
    algorithms: Mapping[str, str] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()
    ignore_missing: bool = False
    control: bool = True
    chain_streams: bool = False
    flops: float | None = None
    memory_rate: float | None = None
    gathered: bool = False


@goal.uncollected()
def schedule(
    traces: Sequence[tuple[str, Sequence[Node]]], reading: Reading
) -> tuple[str, list[Named], list[Problem]]:
    """Return the schedule of traces (a label and the nodes of rank 0, 1, ...), and all problems.

    The text, and the collectives in it, are a schedule if there are none.
    """
    found = _Schedule(traces, reading)
    found.write()
    text = goal.write(len(traces), [rank.lines for rank in found.ranks])
    if not found.problems:
        found.problems += _mistakes(text, found.ranks)
    return text, _named(found.written), found.problems


def _named(written: Sequence[_Written]) -> list[Named]:
    """Name collectives like their nodes.

    Those of a name differ at most in size: the description of their process group, the number of
    their ranks, and their operation are added to it where it is not the same for all.
    """
    kinds: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    parts = []
    for one in written:
        name = " ".join(one.node.name.split()) or one.operation
        group = str(one.node.attributes.get("pg_desc", ""))
        parts.append((name, (group, f"{one.ranks} ranks", one.operation)))
        kinds[name].add(parts[-1][1])
    names = []
    for name, kind in parts:
        columns = zip(kind, zip(*kinds[name], strict=True), strict=True)
        differ = [value for value, values in columns if len(set(values)) > 1 and value]
        names.append(", ".join([name, *differ]))
    return [
        Named.model_construct(
            name=name, operation=one.operation, size=one.size, group=one.group, tags=list(one.tags)
        )
        for name, one in zip(names, written, strict=True)
    ]


def _mistakes(text: str, ranks: Sequence[_Rank]) -> list[Problem]:
    """Problems that GOAL finds in a schedule, by node instead of by line."""
    places = [""] * 2  # lines count from 1; the first has num_ranks
    for rank in ranks:
        places += ["", *map(rank.where, rank.origins), ""]

    def named(lines: re.Match[str]) -> str:
        return "; ".join(dict.fromkeys(places[int(n)] for n in re.findall(r"\d+", lines[0])))

    _, mistakes = goal.read(text)
    return [
        Problem(
            places[one.line],
            re.sub(r"lines? [0-9]+(, [0-9]+)*", named, one.what),
            one.allowed,
            one.hint,
        )
        for one in mistakes
    ]


def _is_call(node: Node) -> bool:
    """Whether a collective is only the host's call of one, which a kernel does later."""
    return bool(node.attributes.get("is_cpu_op")) and not (
        {"comm_type", "comm_size"} & node.attributes.keys()
    )


def _chained(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes of a device each behind the one before it on its stream.

    In the order of their time stamps `ts`, or else of the file.
    """

    def begin(node: Node) -> float:
        stamp = node.attributes.get("ts", 0)
        return float(stamp) if isinstance(stamp, int | float) else 0.0

    last: dict[object, int] = {}
    before: dict[int, int] = {}
    for node in sorted(nodes, key=begin):
        stream = node.attributes.get("stream")
        if isinstance(stream, int) and not node.attributes.get("is_cpu_op"):
            if stream in last:
                before[node.id] = last[stream]
            last[stream] = node.id
    return [
        node._replace(after=tuple(dict.fromkeys([*node.after, before[node.id]])))
        if node.id in before
        else node
        for node in nodes
    ]


def _without_implied(order: Sequence[Node]) -> list[Node]:
    """Return nodes without what one that they wait for waits for, too. order: has no cycle.

    PyTorch's traces have dozens of dependencies for each node.
    """
    before = {node.id: frozenset(node.after) for node in order}
    nothing: frozenset[int] = frozenset()
    found = []
    for node in order:
        implied = nothing.union(*(before.get(other, nothing) for other in node.after))
        found.append(node._replace(after=tuple(one for one in node.after if one not in implied)))
    return found


class _Schedule:
    """The statements of all ranks while they are being written."""

    def __init__(self, traces: Sequence[tuple[str, Sequence[Node]]], reading: Reading) -> None:
        self.reading = reading
        of_traces = {id(nodes): nodes for _, nodes in traces}
        ids = {key: frozenset(node.id for node in nodes) for key, nodes in of_traces.items()}
        if reading.chain_streams:
            of_traces = {key: _chained(nodes) for key, nodes in of_traces.items()}
        self.ranks = [
            _Rank(number, label, of_traces[id(nodes)], ids[id(nodes)])
            for number, (label, nodes) in enumerate(traces)
        ]
        self.copied = len(of_traces) < len(traces)
        self.problems: list[Problem] = []
        self.tag = MOST_TAG + 1
        self.written: list[_Written] = []
        # of each process group, the collectives of each of its ranks in the order of their files
        self.calls: dict[tuple[int, ...], dict[int, list[_Call]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def tell(
        self,
        rank: _Rank,
        node: Node,
        what: str,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problems.append(Problem(rank.where(node.id), what, allowed, hint))

    def write(self) -> None:
        """Fill the ranks' lines."""
        orders: dict[int, Sequence[Node]] = {}
        for rank in self.ranks:
            key = id(rank.nodes)
            if key not in orders:
                order = self._in_order(rank)
                orders[key] = _without_implied(order) if self.copied else order
            for node in orders[key]:
                if self._check_attributes(rank, node):
                    self._node(rank, node)
            if self._too_many():
                return
        for group, (members, calls) in enumerate(self.calls.items()):
            self._group(group, members, calls)

    def _too_many(self) -> bool:
        """Whether the copies of a trace have more statements than are read, which is told once."""
        lines = sum(len(rank.lines) for rank in self.ranks) if self.copied else 0
        if lines > MOST_COPIED and not self.problems:
            what = f"nodes, dependencies and messages of {len(self.ranks)} ranks are too many"
            allowed = f"at most {MOST_COPIED:,} statements, or so, in all"
            self.problems.append(Problem(self.ranks[0].label, what, allowed, "fewer copies"))
        return lines > MOST_COPIED

    def _in_order(self, rank: _Rank) -> list[Node]:
        """Return nodes after those that they depend on, otherwise in the order of the file."""
        places: dict[int, int] = {}
        for place, node in enumerate(rank.nodes):
            if places.setdefault(node.id, place) != place:
                self.tell(rank, node, "another node has this id", "every id once")
        left = [0] * len(rank.nodes)
        behind: list[list[int]] = [[] for _ in rank.nodes]
        for place, node in enumerate(rank.nodes):
            for other in node.after:
                if other in places:
                    left[place] += 1
                    behind[places[other]].append(place)
        self._check_missing(rank)
        ready = [place for place, number in enumerate(left) if number == 0]
        order = []
        while ready:
            place = heapq.heappop(ready)
            order.append(rank.nodes[place])
            for other in behind[place]:
                left[other] -= 1
                if left[other] == 0:
                    heapq.heappush(ready, other)
        stuck = [node for node, number in zip(rank.nodes, left, strict=True) if number]
        if stuck:
            told = first_of((node.id for node in stuck), MOST_SHOWN)
            hint = 'if ctrl_deps, which say who called whom, close it: dependencies = "data"'
            self.tell(
                rank,
                stuck[0],
                f"nodes depend on each other in a cycle: among {told}",
                None,
                hint if self.reading.control else None,
            )
        return order

    def _check_missing(self, rank: _Rank) -> None:
        """Tell of dependencies on nodes that are not there, unless they are to be ignored."""
        missing = dict.fromkeys(
            other for node in rank.nodes for other in node.after if other not in rank.ids
        )
        if missing and not self.reading.ignore_missing:
            some = "a node that is" if len(missing) == 1 else f"{len(missing)} nodes that are"
            what = f"nodes depend on {some} not in the file ({first_of(missing, MOST_SHOWN)})"
            hint = "if a converter removed what is missing: ignore_missing = true"
            self.problems.append(Problem(rank.label, what, "nodes of the same file", hint))

    def _check_attributes(self, rank: _Rank, node: Node) -> bool:
        if node.kind not in READ:
            self.tell(rank, node, f"a {node.kind} is not read", ", ".join(READ))
            return False
        known = READ[node.kind] | IGNORED | self.reading.ignore | {"is_cpu_op"}
        if node.kind in MESSAGES:
            known |= {"comm_type"}  # ASTRA-sim's custom collectives have it, without a meaning
        for name in node.attributes:
            if name not in known:
                allowed = ", ".join(sorted(READ[node.kind] | {"is_cpu_op"}))
                hint = f'if the network has no part in it: ignore = ["{name}"]'
                what = f"attribute {name!r} of a {node.kind} is not read"
                self.tell(rank, node, what, allowed, hint)
        return True

    def _number(
        self, rank: _Rank, node: Node, name: str, most: int, otherwise: int | None = None
    ) -> int | None:
        """Return a number that a node has as an attribute; None after a problem."""
        value: Value | None = node.attributes.get(name, otherwise)
        if isinstance(value, int) and 0 <= value <= most:
            return int(value)
        what = f"no attribute {name!r}" if value is None else f"attribute {name!r} is {value!r}"
        self.tell(rank, node, f"{what} of a {node.kind}", f"a whole number, 0 to {most}")
        return None

    def _node(self, rank: _Rank, node: Node) -> None:
        done = f"n{node.id}"
        before = [f"n{other}" for other in node.after if other in rank.ids]
        if node.kind == "COMM_COLL_NODE" and not _is_call(node):
            self._collective(rank, node)
            begin = f"b{node.id}"
            rank.say(node, f"{begin}: calc 0", f"{done}: calc 0", f"{done} requires {begin}")
        elif node.kind in MESSAGES:
            begin = done
            rank.say(node, f"{done}: {self._message(rank, node)}")
        else:
            begin = done
            rank.say(node, f"{done}: {self._calc(rank, node)}")
        rank.say(node, *(f"{begin} requires {other}" for other in before))

    def _calc(self, rank: _Rank, node: Node) -> str:
        if node.kind == "METADATA_NODE":
            return "calc 0"
        duration = node.duration
        if node.attributes.get("num_ops") and self.reading.flops:
            duration = self._computed(rank, node, self.reading.flops)
        elif duration == 0 and node.attributes.get("num_ops"):
            what = "a computation of 'num_ops' without 'duration_micros'"
            self.tell(rank, node, what, "its duration", "give 'flops'")
        if not duration < MOST_NUMBER / NS_PER_US:
            self.tell(rank, node, f"it takes {duration:g} us", f"less than {MOST_NUMBER} ns")
            return "calc 0"
        cpu = 1 if node.attributes.get("is_cpu_op") else 0
        return f"calc {round(duration * NS_PER_US)} cpu {cpu}"

    def _computed(self, rank: _Rank, node: Node, flops: float) -> float:
        """Return how long the operations of a node, or the bytes that they need, take [us]."""
        operations = self._number(rank, node, "num_ops", MOST_OPERATIONS) or 0
        read = self._number(rank, node, "tensor_size", MOST_NUMBER, 0) or 0
        return max(operations / flops, read / (self.reading.memory_rate or math.inf)) * 1e6

    def _message(self, rank: _Rank, node: Node) -> str:
        sends = node.kind == "COMM_SEND_NODE"
        own, other = ("comm_src", "comm_dst") if sends else ("comm_dst", "comm_src")
        most = len(self.ranks) - 1
        size = self._number(rank, node, "comm_size", MOST_NUMBER)
        peer = self._number(rank, node, other, most)
        tag = self._number(rank, node, "comm_tag", MOST_TAG, 0)
        here = node.attributes.get(own, rank.number)
        if here != rank.number:
            self.tell(rank, node, f"attribute {own!r} is {here!r}", f"{rank.number}, its own rank")
        words = f"send {size}b to" if sends else f"recv {size}b from"
        return f"{words} {peer} tag {tag}"

    def _collective(self, rank: _Rank, node: Node) -> None:
        """Note a collective of a rank, to be done with those of the others of its group."""
        members = self._members(rank, node)
        kind = self._number(rank, node, "comm_type", len(COLLECTIVES) - 1)
        size = self._number(rank, node, "comm_size", MOST_NUMBER)
        if kind is not None and COLLECTIVES[kind] not in OPERATIONS:
            what = f"attribute 'comm_type' is {kind}, {COLLECTIVES[kind]}, which is not read"
            self.tell(rank, node, what, ", ".join(OPERATIONS))
        elif members is not None and size is not None and kind is not None:
            self.calls[members][rank.number].append(_Call(node, kind, size))

    def _members(self, rank: _Rank, node: Node) -> tuple[int, ...] | None:
        """Return the ranks of the process group of a node; None after a problem."""
        known = {key: of for key, of in node.attributes.items() if key not in self.reading.ignore}
        involved, name = known.get("involved_dim", []), known.get("pg_name", "")
        groups = self.reading.groups
        what = allowed = hint = None
        if name == "" and (not isinstance(involved, list) or not all(involved)):
            what, allowed = "attribute 'involved_dim' leaves dimensions out", "true for all of them"
            hint = (
                "name the process group by 'pg_name', and its ranks by 'groups'; of all ranks if "
            )
            hint += 'ignore = ["involved_dim"]'
        elif name == "":
            return tuple(range(len(self.ranks)))
        elif groups is None or not isinstance(name, str):
            what = f"attribute 'pg_name' is {name!r}, whose ranks are not known"
            hint = 'groups = "FILE": JSON such as {"NAME": [0, 1]}; '
            hint += 'of all ranks if ignore = ["pg_name"]'
        elif name not in groups:
            what = f"attribute 'pg_name' is {name!r}, which 'groups' does not have"
            allowed = ", ".join(list(groups)[:20])
        elif rank.number not in groups[name]:
            told = ", ".join(map(str, groups[name][:20]))
            what = f"process group {name!r} does not have rank {rank.number}"
            allowed = f"a group that has it, not {told}"
        else:
            return tuple(groups[name])
        self.tell(rank, node, what, allowed, hint)
        return None

    def _group(
        self, group: int, members: tuple[int, ...], calls: Mapping[int, Sequence[_Call]]
    ) -> None:
        """Write the collectives of a process group, matching the n-th of each rank."""
        for turn in range(max(len(nodes) for nodes in calls.values())):
            parts = {rank: calls[rank][turn] for rank in members if turn < len(calls.get(rank, ()))}
            leader, first = next(iter(parts.items()))
            at = self.ranks[leader]
            for rank in members:
                if rank not in parts:
                    what = f"rank {rank} has no collective number {turn + 1} of this group"
                    hint = "every rank of a group must take part in all its collectives"
                    self.tell(at, first.node, what, None, hint)
            for rank, part in parts.items():
                for name, value, other in (
                    ("comm_type", part.kind, first.kind),
                    ("comm_size", part.size, first.size),
                ):
                    if value != other:
                        what = f"attribute {name!r} is {value}, and in {at.where(first.node.id)} "
                        hint = "the n-th collective of a group is one for all its ranks"
                        self.tell(self.ranks[rank], part.node, f"{what}it is {other}", None, hint)
            if not self.problems and len(members) > 1 and not self._too_many():
                self._transfers(group, members, [parts[rank].node for rank in members], first)

    def _transfers(
        self, group: int, members: Sequence[int], nodes: Sequence[Node], one: _Call
    ) -> None:
        """Write the messages of one collective. nodes: of each member."""
        ranks = [self.ranks[rank] for rank in members]
        operation = OPERATIONS[COLLECTIVES[one.kind]]
        name = self.reading.algorithms.get(operation) or collectives.names_of(operation)[0]
        algorithm = collectives.ALGORITHMS[operation, name]
        # a trace counts what a rank contributes, an all-gather here what it receives
        contributed = operation == "all_gather" and not self.reading.gathered
        factor = len(members) if contributed else 1
        call = collectives.Call(len(members), one.size * factor)
        if (needed := algorithm.refuses(call)) is not None:
            what = f"{operation} by {name} of {len(members)} ranks"
            self.tell(ranks[0], nodes[0], what, needed, f"algorithms = {{ {operation} = ... }}")
            return
        if call.size < algorithm.parts(call):
            what = f"{operation} by {name} of {one.size} B in {algorithm.parts(call)} parts"
            self.tell(ranks[0], nodes[0], what, "a byte for each part")
            return
        made = algorithm.make(call)
        tags = (self.tag, self.tag + len(made) - 1)
        self.written.append(_Written(nodes[0], operation, call.ranks, call.size, group, tags))
        src, dst = made.src.tolist(), made.dst.tolist()
        first = self.tag
        self.tag += len(made)
        receivers = set(dst)
        columns = zip(src, dst, made.sizes.tolist(), strict=True)
        for number, (sender, receiver, length) in enumerate(columns, start=first):
            out, into = nodes[sender].id, nodes[receiver].id
            send, recv = f"s{number}", f"r{number}"
            ranks[sender].say(
                nodes[sender],
                f"{send}: send {length}b to {members[receiver]} tag {number}",
                f"{send} requires b{out}",
                # a rank that receives nothing ends its part with what it sends
                *(() if sender in receivers else (f"n{out} requires {send}",)),
            )
            ranks[receiver].say(
                nodes[receiver],
                f"{recv}: recv {length}b from {members[sender]} tag {number}",
                f"{recv} requires b{into}",
                f"n{into} requires {recv}",
            )
        for waiter, after in zip(made.waiters.tolist(), made.after.tolist(), strict=True):
            rank = src[waiter]
            known = "r" if dst[after] == rank else "s"
            ranks[rank].say(nodes[rank], f"s{first + waiter} requires {known}{first + after}")
