"""GOAL, the Group Operation Assembly Language, in its text form: read, checked, and written.

Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language - A Flexible Way to Express
Collective Communication", ICPP 2009; the grammar is that of LogGOPSim's txt2bin:

    num_ranks 2
    rank 0 {
      a: calc 500 cpu 0              // nanoseconds
      b: send 1000b to 1 tag 7 cpu 0 nic 0
      b requires a                   // b begins when a is done; irequires: when a has begun
    }
    rank 1 { c: recv 1000b from 0 tag 7 }

docs/goal.md lists what is read beyond that, and what is not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from pyorch.errors import suggest

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_HEAD = re.compile(r"num_ranks\s+([0-9]{1,9})", re.ASCII)
_RANK = re.compile(r"rank\s+([0-9]{1,9})\s*\{", re.ASCII)
_WAIT = re.compile(rf"({_NAME})\s+(i?requires)\s+({_NAME})", re.ASCII)
_OPERATION = re.compile(
    rf"(?:(?P<label>{_NAME})\s*:\s*)?"
    r"(?:(?P<kind>send|recv)\s+(?P<size>[0-9]{1,18})\s*b\s+(?P<way>to|from)\s+(?P<peer>-1|[0-9]{1,9})"
    r"(?:\s+tag\s+(?P<tag>-1|[0-9]{1,10}))?(?:\s+cpu\s+(?P<cpu>[0-9]{1,9}))?"
    r"(?:\s+nic\s+(?P<nic>[0-9]{1,9}))?"
    r"|calc\s+(?P<time>[0-9]{1,15})(?:\s+cpu\s+(?P<calc_cpu>[0-9]{1,9}))?)",
    re.ASCII,
)
FORMS = (
    "num_ranks N, rank N {, [LABEL:] send Nb to RANK [tag N] [cpu N] [nic N], [LABEL:] recv Nb "
    "from RANK [tag N] [cpu N] [nic N], [LABEL:] calc N [cpu N], LABEL requires LABEL, "
    "LABEL irequires LABEL, }"
)
PS_PER_NS = 1000
"""A calc counts nanoseconds, as LogGOPSim does."""


class Operation(NamedTuple):
    """One send, recv or calc. size: bytes, of a calc ns. peer: the other rank, -1 of a calc."""

    kind: Literal["send", "recv", "calc"]
    rank: int
    size: int
    peer: int
    tag: int
    cpu: int
    line: int


class Wait(NamedTuple):
    """Operation `waiter` begins when `after` is done, or, if `begun`, when it has begun."""

    waiter: int
    after: int
    begun: bool


@dataclass(frozen=True)
class Mistake:
    """A problem with a line of a file; line 0: with the whole file."""

    line: int
    what: str
    allowed: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Schedule:
    """The operations of all ranks, their waits, and the recv of every send.

    waits: those of the file, and of the calcs of one CPU, which run in the order of the file.
    """

    ranks: int
    operations: tuple[Operation, ...]
    waits: tuple[Wait, ...]
    matches: Mapping[int, int]


@dataclass
class _Reading:
    """A file as far as it has been read."""

    ranks: int | None = None
    rank: int | None = None
    seen: dict[int, int] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[int, str, str, bool]] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def tell(
        self, line: int, what: str, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.mistakes.append(Mistake(line, what, allowed, hint))


@lru_cache(maxsize=8)
def read(text: str) -> tuple[Schedule | None, tuple[Mistake, ...]]:
    """Return the schedule of a text, or None and all problems, by line."""
    state = _Reading()
    last = 0
    for number, line in _statements(text):
        _read_statement(state, number, line)
        last = number
    if state.rank is not None:
        state.tell(last, f"the block of rank {state.rank} has no end", "}")
        _end_block(state)
    if state.ranks is None:
        state.tell(0, "num_ranks is missing", "num_ranks N before the first rank")
    elif missing := [rank for rank in range(state.ranks) if rank not in state.seen]:
        told = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        state.tell(0, f"no block for rank {told}", f"one for each rank from 0 to {state.ranks - 1}")
    if state.mistakes:
        return None, tuple(state.mistakes)
    matches = _match(state)
    state.waits += _take_turns(state.operations)
    schedule = Schedule(state.ranks or 0, tuple(state.operations), tuple(state.waits), matches)
    if not state.mistakes and len(in_order(schedule)) < 2 * len(schedule.operations):
        lines = _circle(schedule)
        told = ", ".join(map(str, lines[:10])) + (", ..." if len(lines) > 10 else "")
        what = f"the operations in lines {told} wait for each other in a cycle: a deadlock"
        state.tell(lines[0], what, None, "calcs of one CPU take turns in the order of the file")
    return (None if state.mistakes else schedule), tuple(state.mistakes)


def plain(text: str) -> str:
    """Return a text without comments and with single spaces."""
    return "".join(f"{' '.join(line.split())}\n" for _, line in _statements(text))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement and its line, from 1."""
    bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(bare.split("\n"), start=1):
        for part in re.split(r"(?<=\{)|(?=\})|(?<=\})", line):
            if part.strip():
                yield number, part.strip()


def _read_statement(state: _Reading, line: int, text: str) -> None:
    if found := _OPERATION.fullmatch(text):
        _read_operation(state, line, found)
    elif found := _WAIT.fullmatch(text):
        if state.rank is None:
            state.tell(line, "a dependency outside a rank", "between rank N { and }")
        else:
            state.asked.append((line, found[1], found[3], found[2] == "irequires"))
    elif found := _RANK.fullmatch(text):
        _begin_block(state, line, int(found[1]))
    elif text == "}":
        if state.rank is None:
            state.tell(line, "unmatched }")
        _end_block(state)
    elif found := _HEAD.fullmatch(text):
        if state.ranks is not None:
            state.tell(line, "duplicate num_ranks", "once")
        elif int(found[1]) < 2:
            state.tell(
                line,
                f"num_ranks is {int(found[1])}",
                "from 2: a single rank can send to no other",
            )
        state.ranks = int(found[1])
    else:
        state.tell(line, f"not understood: {text[:60]!r}", FORMS)


def _begin_block(state: _Reading, line: int, rank: int) -> None:
    if state.rank is not None:
        state.tell(line, f"the block of rank {state.rank} has no end before this one", "}")
        _end_block(state)
    if state.ranks is None:
        state.tell(line, "a rank before num_ranks")
    elif rank >= state.ranks:
        state.tell(line, f"rank {rank} of {state.ranks}", f"0 to {state.ranks - 1}")
    if rank in state.seen:
        state.tell(line, f"rank {rank} has a block in line {state.seen[rank]} already", "one")
    state.seen.setdefault(rank, line)
    state.rank = rank


def _end_block(state: _Reading) -> None:
    """Resolve the labels of a rank; they may be used before their definition."""
    for line, waiter, after, begun in state.asked:
        unknown = [name for name in (waiter, after) if name not in state.labels]
        for name in unknown:
            hint = suggest(name, list(state.labels))
            state.tell(line, f"rank {state.rank} has no label {name!r}", None, hint)
        if not unknown:
            state.waits.append(Wait(state.labels[waiter], state.labels[after], begun))
    state.labels, state.asked, state.rank = {}, [], None


def _read_operation(state: _Reading, line: int, found: re.Match[str]) -> None:
    kind, label = found["kind"] or "calc", found["label"]
    if state.rank is None:
        state.tell(line, f"a {kind} outside a rank", "between rank N { and }")
        return
    if label is not None:
        if label in state.labels:
            other = state.operations[state.labels[label]].line
            state.tell(line, f"the label {label!r} is in line {other} already", "every label once")
        state.labels[label] = len(state.operations)
    if kind == "calc":
        cpu = int(found["calc_cpu"] or 0)
        one = Operation("calc", state.rank, int(found["time"]), -1, 0, cpu, line)
    else:
        peer, tag = int(found["peer"]), int(found["tag"] or 0)
        one = Operation(
            "send" if kind == "send" else "recv",
            state.rank, int(found["size"]), peer, tag, int(found["cpu"] or 0), line,
        )  # fmt: skip
        _check_message(state, one, found)
    state.operations.append(one)


def _check_message(state: _Reading, one: Operation, found: re.Match[str]) -> None:
    wanted = {"send": "to", "recv": "from"}[one.kind]
    if found["way"] != wanted:
        state.tell(one.line, f"{one.kind} ... {found['way']}", f"{one.kind} ... {wanted}")
    if one.peer == -1 or one.tag == -1:
        what = f"a {one.kind} that accepts any {'rank' if one.peer == -1 else 'tag'}"
        state.tell(one.line, what, "a rank and a tag", "matching must not depend on the run")
    elif one.peer == one.rank:
        state.tell(one.line, f"rank {one.rank} sends to itself", "another rank")
    elif state.ranks is not None and one.peer >= state.ranks:
        state.tell(one.line, f"rank {one.peer} of {state.ranks}", f"0 to {state.ranks - 1}")
    if int(found["nic"] or 0):
        state.tell(one.line, f"nic {found['nic']}", "nic 0", "a host has one port")


def _match(state: _Reading) -> dict[int, int]:
    """Match sends and receives of the same ranks and tag in the order of the file."""
    ends: dict[tuple[int, int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, one in enumerate(state.operations):
        if one.kind == "send":
            ends[one.rank, one.peer, one.tag][0].append(number)
        elif one.kind == "recv":
            ends[one.peer, one.rank, one.tag][1].append(number)
    matches = {}
    for (src, dst, tag), (sends, receives) in ends.items():
        for send, receive in zip(sends, receives, strict=False):
            matches[send] = receive
            sent, taken = state.operations[send], state.operations[receive]
            if taken.size < sent.size:
                what = f"{taken.size} B are received of the {sent.size} B sent in line {sent.line}"
                state.tell(taken.line, what, f"from {sent.size} B")
        for number in sends[len(receives) :]:
            what = f"nothing receives what rank {src} sends to {dst} with tag {tag}"
            state.tell(state.operations[number].line, what, None, "add a recv, or correct the tags")
        for number in receives[len(sends) :]:
            what = f"nothing sends what rank {dst} receives from {src} with tag {tag}"
            state.tell(state.operations[number].line, what, None, "add a send, or correct the tags")
    state.mistakes.sort(key=lambda mistake: mistake.line)
    return matches


def _take_turns(operations: Sequence[Operation]) -> Iterator[Wait]:
    """Yield the waits by which the calcs of a CPU take turns; those of 0 ns need no CPU."""
    last: dict[tuple[int, int], int] = {}
    for number, one in enumerate(operations):
        if one.kind == "calc" and one.size:
            if (one.rank, one.cpu) in last:
                yield Wait(number, last[one.rank, one.cpu], begun=False)
            last[one.rank, one.cpu] = number


# ---------------------------------------------------------------------------------------------
# Order. Operation n begins at step 2n and is done at step 2n + 1.


def steps_before(schedule: Schedule) -> list[list[int]]:
    """Return for each step those that must precede it."""
    before: list[list[int]] = [[] for _ in range(2 * len(schedule.operations))]
    for number in range(len(schedule.operations)):
        before[2 * number + 1].append(2 * number)
    for waiter, after, begun in schedule.waits:
        before[2 * waiter].append(2 * after + (not begun))
    for send, receive in schedule.matches.items():
        before[2 * receive + 1].append(2 * send)
    return before


def in_order(schedule: Schedule) -> list[int]:
    """Return the steps in order, without those that can never occur."""
    before = steps_before(schedule)
    behind: list[list[int]] = [[] for _ in before]
    left = [len(steps) for steps in before]
    for step, steps in enumerate(before):
        for one in steps:
            behind[one].append(step)
    order = [step for step, number in enumerate(left) if number == 0]
    for step in order:  # grows during the loop
        for one in behind[step]:
            left[one] -= 1
            if left[one] == 0:
                order.append(one)
    return order


def _circle(schedule: Schedule) -> list[int]:
    """Return the lines of operations that wait for each other."""
    before = steps_before(schedule)
    stuck = set(range(len(before))) - set(in_order(schedule))
    step, way = min(stuck), dict[int, int]()
    while step not in way:
        way[step] = len(way)
        step = next(one for one in before[step] if one in stuck)
    circle = [one for one, place in way.items() if place >= way[step]]
    return sorted({schedule.operations[one // 2].line for one in circle})


# ---------------------------------------------------------------------------------------------
# Writing


def write(ranks: int, blocks: Iterable[Sequence[str]], comments: Sequence[str] = ()) -> str:
    """Return the text of a schedule. blocks: the statements of each rank."""
    lines = [f"// {comment}" for comment in comments]
    lines.append(f"num_ranks {ranks}")
    for rank, statements in enumerate(blocks):
        lines += ["", f"rank {rank} {{", *statements, "}"]
    return "\n".join(lines) + "\n"
