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

import gc
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import first_of, suggest

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_BRACE = re.compile(r"(?<=\{)|(?=\})|(?<=\})")
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_WAIT = re.compile(rf"({_NAME})\s+(i?requires)\s+({_NAME})", re.ASCII)


class _Field(NamedTuple):
    """A field of a statement: the word before its value, the value, and what that may be.

    needed: whether it may not be missing.
    """

    name: str
    word: str
    value: str
    allowed: str
    needed: bool = False


_SIZE = _Field("size", "", r"([0-9]{1,18})\s*b", "Nb, N bytes of up to 18 digits", True)
_PEER = _Field("rank", "(to|from)", "(-1|[0-9]{1,9})", "to RANK, or from RANK for a recv", True)
_TAG = _Field("tag", "tag", "(-1|[0-9]{1,18})", "a number of up to 18 digits")
_CPU = _Field("cpu", "cpu", "([0-9]{1,9})", "a number of up to 9 digits")
_NIC = _Field("nic", "nic", "([0-9]{1,9})", "a number of up to 9 digits")
_TIME = _Field("time", "", "([0-9]{1,15})", "N, whole nanoseconds of up to 15 digits", True)
_NUMBER = _Field("number", "", "([0-9]{1,9})", "a number of up to 9 digits", True)
_BLOCK = _Field("block", "", r"\{", "{ in the same line", True)
_FIELDS = {
    "send|recv": (_SIZE, _PEER, _TAG, _CPU, _NIC),
    "calc": (_TIME, _CPU),
    "num_ranks": (_NUMBER,),
    "rank": (_NUMBER, _BLOCK),
}
"""By the first word of a statement, its fields in their order."""


def _statement(words: str) -> re.Pattern[str]:
    """Return the pattern of a statement: its label, its first word, its fields.

    Like LogGOPSim's, it needs no space after a number: ATLAHS also writes 'cpu 3nic 1'.
    """
    fields = (rf"(?:\s*{f.word}\s*{f.value}){'' if f.needed else '?'}" for f in _FIELDS[words])
    label = "" if "rank" in words else rf"(?:({_NAME})\s*:\s*)?"
    return re.compile(rf"{label}({words})\b{''.join(fields)}", re.ASCII)


_MESSAGE, _CALC, _HEAD, _RANK = map(_statement, _FIELDS)
_LABELLED = re.compile(rf"(?:([^\s:]+)\s*:\s*)?(?:({'|'.join(_FIELDS)})\b)?(.*)", re.ASCII)
FORMS = (
    "num_ranks N, rank N {, [LABEL:] send Nb to RANK [tag N] [cpu N] [nic N], [LABEL:] recv Nb "
    "from RANK [tag N] [cpu N] [nic N], [LABEL:] calc N [cpu N], LABEL requires LABEL, "
    "LABEL irequires LABEL, }"
)
PS_PER_NS = 1000
"""A calc counts nanoseconds, as LogGOPSim does."""
SHOWN_MISTAKES = 50
"""Maximum number of mistakes reported for one file."""
Numbers = npt.NDArray[np.int64]
OUTSIDE = -1
"""The rank of statements outside a block."""


class Operation(NamedTuple):
    """One send, recv or calc. size: bytes, of a calc ns. peer: the other rank, -1 of a calc."""

    kind: Literal["send", "recv", "calc"]
    rank: int
    size: int
    peer: int
    tag: int
    cpu: int
    nic: int
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

    @cached_property
    def before(self) -> Before:
        """The steps that must precede each."""
        return Before(self)

    @cached_property
    def order(self) -> list[int]:
        """The steps in order, without those that can never occur."""
        return self.before.in_order()


@dataclass
class _Reading:
    """A file as far as it has been read.

    refused: labels of the rank's statements that are not understood.
    """

    ranks: int | None = None
    rank: int = OUTSIDE
    seen: dict[int, int] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    asked: list[tuple[int, str, str, bool]] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def tell(
        self, line: int, what: str, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.mistakes.append(Mistake(line, what, allowed, hint))


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the search for cycles of objects: of millions that last it takes half of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@lru_cache(maxsize=8)
@uncollected()
def read(text: str) -> tuple[Schedule | None, tuple[Mistake, ...]]:
    """Return the schedule of a text, or None and all problems, by line."""
    state = _Reading()
    last = 0
    for number, line in _statements(text):
        if not _read_statement(state, number, line):
            return None, tuple(state.mistakes)
        last = number
    if state.rank != OUTSIDE:
        state.tell(last, f"the block of rank {state.rank} has no end", "}")
        _end_block(state)
    if state.ranks is None:
        state.tell(0, "num_ranks is missing", "num_ranks N before the first rank")
    elif missing := first_of((n for n in range(state.ranks) if n not in state.seen), 10):
        allowed = f"one for each rank from 0 to {state.ranks - 1}"
        state.tell(0, f"no block for rank {missing}", allowed)
    if state.mistakes:
        return None, tuple(state.mistakes)
    matches = _match(state)
    state.waits += _take_turns(state.operations)
    schedule = Schedule(state.ranks or 0, tuple(state.operations), tuple(state.waits), matches)
    if not state.mistakes and len(schedule.order) < 2 * len(schedule.operations):
        lines = _circle(schedule)
        told = first_of(lines, 10)
        what = f"the operations in lines {told} wait for each other in a cycle: a deadlock"
        state.tell(lines[0], what, None, "calcs of one CPU take turns in the order of the file")
    return (None if state.mistakes else schedule), tuple(state.mistakes)


def plain(text: str) -> str:
    """Return a text without comments and with single spaces."""
    return "".join(f"{' '.join(line.split())}\n" for _, line in _statements(text))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement and its line, from 1."""
    bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text) if "/" in text else text
    for number, line in enumerate(bare.split("\n"), start=1):
        parts = [line] if "{" not in line and "}" not in line else _BRACE.split(line)
        for part in parts:
            if stripped := part.strip():
                yield number, stripped


def _read_statement(state: _Reading, line: int, text: str) -> bool:
    """Read a statement; return False if what follows cannot be understood without it."""
    if found := _WAIT.fullmatch(text):
        if state.rank == OUTSIDE:
            state.tell(line, "a dependency outside a rank", "between rank N { and }")
        else:
            state.asked.append((line, found[1], found[3], found[2] == "irequires"))
    elif found := _MESSAGE.fullmatch(text):
        _read_message(state, line, found)
    elif found := _CALC.fullmatch(text):
        label, _, time, cpu = found.groups()
        _add(state, label, Operation("calc", state.rank, int(time), -1, 0, int(cpu or 0), 0, line))
    elif found := _RANK.fullmatch(text):
        _begin_block(state, line, int(found[2]))
    elif text == "}":
        if state.rank == OUTSIDE:
            state.tell(line, "unmatched }")
        _end_block(state)
    elif found := _HEAD.fullmatch(text):
        _read_head(state, line, int(found[2]))
    else:
        return _refuse(state, line, text)
    return True


def _refuse(state: _Reading, line: int, text: str) -> bool:
    """Note which field of a statement is wrong; return False for the head of file or rank."""
    found = _LABELLED.fullmatch(text)
    label, kind, rest = found.groups() if found else (None, None, text)
    if label is not None:
        state.refused.add(label)
    if label is not None and re.fullmatch(_NAME, label, re.ASCII) is None:
        state.tell(line, f"the label {_short(label)}", "a letter, then letters, digits and _")
    elif kind is None:
        state.tell(line, f"not understood: {text[:60]!r}", FORMS)
    else:
        state.tell(line, *_wrong_field(kind, rest))
    return kind not in ("num_ranks", "rank")


def _wrong_field(kind: str, rest: str) -> tuple[str, str]:
    """Return what is wrong with the fields after the first word of a statement, and what may be."""
    fields = next(fields for words, fields in _FIELDS.items() if kind in words.split("|"))
    for one in fields:
        head = re.match(rf"\s*{one.word}\s*", rest, re.ASCII)
        after = rest if head is None else rest[head.end() :]
        value = None if head is None else re.match(rf"{one.value}(?![0-9.])", after, re.ASCII)
        if value is not None:
            rest = after[value.end() :]
        elif head is not None or one.needed:
            return f"{kind}: the {one.name} is {_short(after)}", one.allowed
    allowed = ", ".join(f"{one.word} N" for one in fields if not one.needed)
    return f"{kind}: {_short(rest)} is no field, or not in order", allowed or "nothing more"


def _short(text: str) -> str:
    """Return the first word of a text, quoted."""
    found = re.search(r"\S+", text, re.ASCII)
    if found is None:
        return "missing"
    return repr(found[0] if len(found[0]) <= 40 else f"{found[0][:40]}...")


def _read_head(state: _Reading, line: int, ranks: int) -> None:
    if state.ranks is not None:
        state.tell(line, "duplicate num_ranks", "once")
    elif ranks < 2:
        state.tell(line, f"num_ranks is {ranks}", "from 2: a single rank can send to no other")
    state.ranks = ranks


def _begin_block(state: _Reading, line: int, rank: int) -> None:
    if state.rank != OUTSIDE:
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
    labels = state.labels
    for line, waiter, after, begun in state.asked:
        if waiter in labels and after in labels:
            state.waits.append(Wait(labels[waiter], labels[after], begun))
            continue
        for name in (waiter, after):
            if name not in labels and name not in state.refused:
                shown = len(state.mistakes) < SHOWN_MISTAKES
                hint = suggest(name, list(labels)) if shown else None  # it compares with each
                state.tell(line, f"rank {state.rank} has no label {name!r}", None, hint)
    state.labels, state.refused, state.asked, state.rank = {}, set(), [], OUTSIDE


def _read_message(state: _Reading, line: int, found: re.Match[str]) -> None:
    label, kind, size, way, peer, tag, cpu, nic = found.groups()
    one = Operation(
        "send" if kind == "send" else "recv",
        state.rank, int(size), int(peer), int(tag or 0), int(cpu or 0), int(nic or 0), line,
    )  # fmt: skip
    if _add(state, label, one):
        _check_message(state, one, way)


def _add(state: _Reading, label: str | None, one: Operation) -> bool:
    """Add an operation and its label; return False, with a mistake, outside a rank."""
    if state.rank == OUTSIDE:
        state.tell(one.line, f"a {one.kind} outside a rank", "between rank N { and }")
        return False
    if label is not None:
        if label in state.labels:
            other = state.operations[state.labels[label]].line
            what = f"the label {label!r} is in line {other} already"
            state.tell(one.line, what, "every label once")
        state.labels[label] = len(state.operations)
    state.operations.append(one)
    return True


def _check_message(state: _Reading, one: Operation, way: str) -> None:
    wanted = {"send": "to", "recv": "from"}[one.kind]
    if way != wanted:
        state.tell(one.line, f"{one.kind} ... {way}", f"{one.kind} ... {wanted}")
    if one.peer == -1 or one.tag == -1:
        what = f"a {one.kind} that accepts any {'rank' if one.peer == -1 else 'tag'}"
        state.tell(one.line, what, "a rank and a tag", "matching must not depend on the run")
    elif one.peer == one.rank:
        state.tell(one.line, f"rank {one.rank} sends to itself", "another rank")
    elif state.ranks is not None and one.peer >= state.ranks:
        state.tell(one.line, f"rank {one.peer} of {state.ranks}", f"0 to {state.ranks - 1}")


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


class Before:
    """The steps that must precede each: of step n, from begins[n] to begins[n + 1] of `steps`."""

    def __init__(self, schedule: Schedule) -> None:
        begun = np.arange(len(schedule.operations), dtype=np.int64) * 2
        waiters, after, early = np.array(schedule.waits, dtype=np.int64).reshape(-1, 3).T
        sends, receives = np.array(list(schedule.matches.items()), dtype=np.int64).reshape(-1, 2).T
        later = np.concatenate([begun + 1, 2 * waiters, 2 * receives + 1])
        earlier = np.concatenate([begun, 2 * after + 1 - early, 2 * sends])
        by_later = np.argsort(later, kind="stable")
        self._later, self._earlier = later[by_later], earlier[by_later]
        self.begins = _begins(later, 2 * len(begun))
        self.steps: list[int] = self._earlier.tolist()

    def __getitem__(self, step: int) -> list[int]:
        return self.steps[self.begins[step] : self.begins[step + 1]]

    def in_order(self) -> list[int]:
        """Return the steps in order, without those that can never occur."""
        number = len(self.begins) - 1
        begins = _begins(self._earlier, number)
        behind = self._later[np.argsort(self._earlier, kind="stable")].tolist()
        left: list[int] = np.diff(self.begins).tolist()
        order: list[int] = [step for step in range(number) if left[step] == 0]
        for step in order:  # grows during the loop
            for one in behind[begins[step] : begins[step + 1]]:
                left[one] -= 1
                if left[one] == 0:
                    order.append(one)
        return order


def _begins(keys: Numbers, number: int) -> list[int]:
    """Return where the rows of each key from 0 begin, once sorted, and where the last one ends."""
    ends: list[int] = np.cumsum(np.bincount(keys, minlength=number)).tolist()
    return [0, *ends]


def _circle(schedule: Schedule) -> list[int]:
    """Return the lines of operations that wait for each other."""
    before = schedule.before
    stuck = set(range(2 * len(schedule.operations))) - set(schedule.order)
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
        lines += [f"rank {rank} {{", *statements, "}"]
    return "\n".join(lines) + "\n"
