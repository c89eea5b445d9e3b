"""Traffic of kind `messages`: single messages, in the experiment or in a CSV file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import Problem, UserError, one_of, suggest
from pyorch.base.fields import Size, Table, Time, TrafficClass, decode
from pyorch.base.reading import csv_rows, read_bytes, size_of
from pyorch.base.units import (
    MAX_BYTES,
    TIMES,
    is_number,
    parse_bytes,
    parse_time,
    whole,
)
from pyorch.network.topology import Topology
from pyorch.readers import arrow, door
from pyorch.readers.graphs import respelled
from pyorch.readers.records import ABSENT, MessageList, in_order
from pyorch.traffic import workloads
from pyorch.traffic.base import (
    Block,
    Check,
    TrafficTable,
    Waits,
    canonical,
    end_numbers,
    first_in_circle,
    traffic,
)
from pyorch.traffic.columns import Columns, block_of, columns_of, summary
from pyorch.traffic.paths import AckPath, NodePath, check_path, read_ack_path, split_path


class Message(Table):
    """One message; start and class default to those of the entry.

    It starts, at the earliest, `delay` after the messages whose `id` is in `after` have arrived.
    Its path and that of its ACKs default to those of the entry.
    """

    src: str = Field(description="Host that sends.")
    dst: str = Field(description="Host that receives.")
    size: Size = Field(description="Payload.")
    start: Time | None = Field(default=None, description="Earliest start; none: that of the entry.")
    traffic_class: TrafficClass | None = Field(
        default=None, alias="class", description="Traffic class; none: that of the entry."
    )
    id: str | None = Field(default=None, description="Its name, for `after`.")
    after: list[str] | None = Field(
        default=None, min_length=1, description="Messages that must have arrived before, by `id`."
    )
    delay: Time | None = Field(default=None, description="Time from their arrival to its start.")
    path: NodePath | None = Field(
        default=None, description="All its nodes; none: as the entry says."
    )
    ack_path: AckPath | None = Field(
        default=None, description="Path of its ACKs; none: as the entry says."
    )


#: Columns of a CSV file of messages.
COLUMNS, OPTIONAL = (
    ["src", "dst", "size"],
    ("start", "class", "id", "after", "delay", "path", "ack_path"),
)


LONG = 1000
"""Messages of a file above which they are kept as columns, unless some wait or have a path."""
LARGE = 50_000
"""Size of a CSV file [bytes] above which it is worth a try whether it has plain numbers alone."""
MOST_TOLD = 20
"""Lines with a mistake of one kind that are named."""


@traffic("messages")
class Messages(TrafficTable):
    """Messages listed in the experiment, or in a file: CSV, Parquet, HPCC and others.

    A CSV or Parquet file has the columns src, dst and size, and may have start, class, id, after,
    delay, path and ack_path. In a CSV file plain numbers of `size` are bytes, plain times need a
    unit (`start_us`, or `time_unit`), several ids in `after` are separated by spaces, and lines
    that begin with # are skipped.
    """

    file_key = "file"

    messages: list[Message] | None = Field(default=None, description="The messages, or `file`.")
    file: str | None = Field(
        default=None, description="A CSV file, or one of another tool, beside the experiment."
    )
    format: str | None = Field(
        default=None, description="Format of the file; none: as its name and content say."
    )
    time_unit: str | None = Field(
        default=None, description="Unit of plain numbers in columns of times."
    )
    columns: Columns | None = Field(default=None, exclude=True)

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if self.columns is not None:
            check.add("columns", "unknown key 'columns'", None, "it is filled in")
            return None
        if (self.messages is None) == (self.file is None):
            check.add("messages", "give either 'messages' or 'file'", "one of the two")
            return None
        before = len(check.findings.problems)
        listed = self._listed(check) if self.file is None else self._read(check, self.file)
        complete = len(check.findings.problems) == before
        own: dict[str, Any] = {"file": None, "format": None, "time_unit": None}
        if isinstance(listed, MessageList):
            columns = columns_of(check, self.file or "", listed, self) if complete else None
            return None if columns is None else canonical(self, columns=columns, **own)
        if complete and not listed:
            check.add("messages" if self.file is None else "file", "empty", "at least one message")
        filled = [_Placed(self._fill(one.message), one.place) for one in listed]
        for one in filled:
            self._check(check, one)
        if complete:  # otherwise an id may be in a line that could not be read
            _check_waiting(check, filled)
        return canonical(self, messages=[one.message for one in filled], **own)

    @override
    def check_files(self, check: Check) -> None:
        if self.file is not None:
            self._read(check, self.file)

    def _read(self, check: Check, name: str) -> list[_Placed] | MessageList:
        """Return the messages of a file; notes problems. Many plain ones stay in columns."""
        kind = self.format or door.format_of(name, "messages")
        if kind is None or not door.knows(kind, "messages"):
            known = door.formats("messages")
            what = (
                f"unknown format {kind!r}"
                if kind
                else f"what {name!r} is does not follow from its name"
            )
            check.add("format", what, one_of(known), suggest(kind or "", known))
        elif self.time_unit is not None and self.time_unit not in TIMES:
            check.add("time_unit", f"{self.time_unit!r} is not a unit", ", ".join(TIMES))
        elif check.file("file", name) is not None:
            foreign = kind != "csv"
            found = _read_foreign(check, kind, name) if foreign else None
            listed = _read_csv(check, name, self.time_unit) if found is None else found
            return _with_hosts(listed, check.scene.network.host_names)
        return []

    def _listed(self, check: Check) -> list[_Placed]:
        where = check.findings.where((*check.path, "messages"))
        messages = enumerate(self.messages or ())
        return [_Placed(message, f"{where}[{number}].") for number, message in messages]

    def _fill(self, message: Message) -> Message:
        start = self.start if message.start is None else message.start
        own = message.traffic_class
        own = self.traffic_class if own is None else own
        return message.model_copy(update={"start": start, "traffic_class": own})

    @staticmethod
    def _check(check: Check, one: _Placed) -> None:
        message = one.message
        one.check_ends(check)
        if message.src == message.dst:
            one.tell(check, "dst", f"{message.src} sends to itself", "src and dst differ")
        if (message.start or 0) >= check.scene.duration_ps:
            what = "a message starts at or after the end of the run"
            one.tell(check, "start", what, "before run.duration")
        one.check_paths(check)

    @classmethod
    @override
    def shown(cls, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        columns = entry.get("columns")
        if columns is None:
            return entry
        return {**entry, "columns": summary(decode(Columns, columns))}

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        columns = self.columns
        return len(self.messages or ()) if columns is None else columns.src.count(" ") + 1

    @override
    def classes(self) -> set[int]:
        if self.columns is not None:
            return set(np.flatnonzero(np.bincount(self.columns.column("classes"))).tolist())
        return {message.traffic_class or 0 for message in self.messages or ()}

    @override
    def pairs(self) -> list[tuple[str, str]]:
        if self.columns is not None:
            names = self.columns.names
            ends = (self.columns.column(key).tolist() for key in ("src", "dst"))
            return [(names[src], names[dst]) for src, dst in zip(*ends, strict=True)]
        return [(message.src, message.dst) for message in self.messages or ()]

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        if self.columns is not None:
            return block_of(self.columns, network)
        src, dst = end_numbers(self.pairs(), network)
        messages = self.messages or []
        sizes = np.array([message.size for message in messages], dtype=np.uint64)
        starts = np.array([message.start or 0 for message in messages], dtype=np.int64)
        classes = np.array([message.traffic_class or 0 for message in messages], dtype=np.uint8)
        numbers = {message.id: number for number, message in enumerate(messages)}
        waits = [
            (number, numbers[name], message.delay or 0)
            for number, message in enumerate(messages)
            for name in message.after or ()
        ]
        own = [(message.path, message.ack_path) for message in messages]
        return Block(src, dst, sizes, starts, classes, own_paths=own, waits=_waits(waits))


@dataclass(frozen=True)
class _Placed:
    """A message and its place for users, before the name of a key or column."""

    message: Message
    place: str

    def tell(
        self, check: Check, column: str, what: str, allowed: str | None, hint: str | None = None
    ) -> None:
        """Note a problem with one of its values."""
        check.findings.merge([Problem(f"{self.place}{column}", what, allowed, hint)])

    def check_ends(self, check: Check) -> None:
        """Its ends, if given, are hosts."""
        network = check.scene.network
        for column in ("src", "dst"):
            name = getattr(self.message, column, None)
            if name is not None and not network.is_host(name):
                switch = name in network.numbers
                what = f"{name!r} is a switch" if switch else f"there is no host {name!r}"
                hosts = [network.names[host] for host in network.hosts.tolist()]
                allowed = f"hosts {hosts[0]} to {hosts[-1]}"
                self.tell(check, column, what, allowed, suggest(name, hosts))

    def check_paths(self, check: Check) -> None:
        """Note problems of its path and that of its ACKs."""
        ends = (self.message.src, self.message.dst)
        for key in ("path", "ack_path"):
            path = getattr(self.message, key)
            if isinstance(path, list):
                tell = functools.partial(self.tell, check, key)
                check_path(path, ends, check.scene.network, tell, back=key == "ack_path")


def _check_waiting(check: Check, listed: list[_Placed]) -> None:
    """Every id is unique, everything waited for exists, and no message waits for itself."""
    known: dict[str, int] = {}
    for number, one in enumerate(listed):
        name = one.message.id
        if name is not None and known.setdefault(name, number) != number:
            one.tell(check, "id", f"{name!r} appears twice", "each id once")
    for one in listed:
        if one.message.delay is not None and one.message.after is None:
            one.tell(check, "delay", "'delay' without 'after'", "together with 'after'")
        for name in one.message.after or ():
            if name not in known:
                what = f"there is no message with the id {name!r}"
                one.tell(check, "after", what, one_of(known) or "no message has an id")
    after = [[known[i] for i in one.message.after or () if i in known] for one in listed]
    circle = first_in_circle(after)
    if circle is not None:
        listed[circle].tell(check, "after", "messages wait for each other in a cycle", None)


def _waits(edges: Sequence[tuple[int, int, int]]) -> Waits | None:
    if not edges:
        return None
    columns = np.array(edges, dtype=np.int64)
    flows, after = (columns[:, number].astype(np.uint32) for number in (0, 1))
    return Waits(flows, after, columns[:, 2].copy())


def _read_csv(check: Check, name: str, unit: str | None) -> list[_Placed] | MessageList:
    """Read a CSV file of messages; note every cell that is wrong.

    unit: of plain numbers of time, unless the name of their column has it: start_us.
    """
    problems: list[Problem] = []
    file = check.scene.folder / name
    try:
        if size_of(file) > LARGE:
            plain = arrow.of_csv(read_bytes(file, name), unit)
            if plain is not None and len(plain) > LONG:
                return plain
        rows = csv_rows(file, name)
    except UserError as error:
        check.findings.problems += error.problems
        return []
    cells = _cells_of_head(rows[0][1] if rows else [], unit)
    if not workloads.good_head(name, rows, COLUMNS, problems, OPTIONAL):
        check.findings.problems += problems
        return []
    if len(rows) > LONG and not set(rows[0][1]) & set(UNPLAIN):
        found = _plain_columns(name, rows, cells, problems)
        check.findings.merge(problems[:MOST_TOLD])
        return found
    listed = [
        placed
        for line, row in workloads.cells_of(name, rows, problems)
        if (placed := _placed(check, f"{name}: line {line}: ", row, cells))
    ]
    check.findings.problems[:0] = problems
    return listed


def _cells_of_head(head: list[str], unit: str | None) -> Mapping[str, Callable[[str], Any]]:
    """Return how the cells are read; names of columns that end in a unit of time lose it."""
    units: dict[str, str | None] = dict.fromkeys(TIMED, unit)
    for place, column in enumerate(head):
        base, _, suffix = column.rpartition("_")
        if base in TIMED and suffix in TIMES:
            head[place], units[base] = base, suffix
    return CELLS | {base: _timed(units[base]) for base in TIMED}


def _placed(
    check: Check, place: str, row: Mapping[str, str], cells: Mapping[str, Callable[[str], Any]]
) -> _Placed | None:
    """Return the message of a line, None if it lacks what it needs; note cells that are wrong."""
    values: dict[str, Any] = {}
    for column, cell in row.items():
        if not cell and column in OPTIONAL:
            continue
        try:
            values[FIELDS.get(column, column)] = cells[column](cell)
        except ValueError as error:
            check.findings.merge([Problem(f"{place}{column}", str(error))])
    placed = _Placed(Message.model_construct(**values), place)
    if set(COLUMNS) <= set(values):
        return placed
    if len(check.scene.network.hosts):
        placed.check_ends(check)
    return None


def _plain_columns(
    name: str,
    rows: Sequence[tuple[int, list[str]]],
    cells: Mapping[str, Callable[[str], Any]],
    problems: list[Problem],
) -> MessageList:
    """Return plain messages column by column. Cells that are wrong are problems."""
    lines, head = [line for line, _ in rows[1:]], rows[0][1]
    width = len(head)
    for line, row in rows[1:]:
        if len(row) != width:
            what = f"{len(row)} cells under {width} columns"
            problems.append(Problem(f"{name}: line {line}", what))
    if problems:
        return MessageList.of_rows((), ())
    columns = dict(zip(head, zip(*(row for _, row in rows[1:]), strict=True), strict=True))

    def read(column: str) -> list[Any]:
        parse, own = cells[column], columns.get(column, ())
        known: dict[str, Any] = {"": None} if column in OPTIONAL else {}
        wrong: dict[str, str] = {}
        for cell in set(own) - known.keys():
            try:
                known[cell] = parse(cell)
            except ValueError as error:
                known[cell], wrong[cell] = 0, str(error)
        for line, cell in zip(lines, own, strict=True) if wrong else ():
            if cell in wrong:
                problems.append(Problem(f"{name}: line {line}: {column}", wrong[cell]))
        return list(map(known.__getitem__, own))

    src, dst, sizes, starts, classes = map(read, ("src", "dst", "size", "start", "class"))
    ends = list(zip(src, dst, strict=True))
    return MessageList.of_rows(ends, sizes, starts, classes, lines)


def _read_foreign(check: Check, kind: str, name: str) -> list[_Placed] | MessageList:
    """Read a file in another format than CSV."""

    def tell(where: str, what: str, allowed: str | None, hint: str | None) -> None:
        check.findings.merge([Problem(f"{name}: {where}" if where else name, what, allowed, hint)])

    try:
        found: MessageList | None = door.reader(kind, "messages")(
            check.scene.folder / name, name, tell
        )
    except UserError as error:
        check.findings.merge(error.problems)
        return []
    if found is None:
        return []
    if not len(found):
        check.add("file", "empty", "at least one message")
    if len(check.scene.network.hosts):
        _name_hosts(found, check.scene.network.host_names)
    return found if len(found) > LONG and not found.after else _one_by_one(name, found)


def _one_by_one(name: str, found: MessageList) -> list[_Placed]:
    """Return each message of a file for itself."""
    starts, classes = (
        [None if value == ABSENT else value for value in column.tolist()]
        for column in (found.starts, found.classes)
    )
    sizes, lines = found.sizes.tolist(), found.lines.tolist()
    return [
        _Placed(
            Message.model_construct(
                src=src,
                dst=dst,
                size=sizes[number],
                start=starts[number],
                traffic_class=classes[number],
                id=found.ids[number] if found.ids else None,
                after=(found.after[number] or None) if found.after else None,
            ),
            f"{name}: line {lines[number]}: ",
        )
        for number, (src, dst) in enumerate(found.pairs())
    ]


def _with_hosts(
    found: list[_Placed] | MessageList, hosts: Collection[str]
) -> list[_Placed] | MessageList:
    """Let names that no node can have stand for hosts whose names a network's `respell` made."""

    def host(name: str) -> str:
        other = name if name in hosts else respelled(name)
        return other if other in hosts else name

    if isinstance(found, MessageList):
        _rename(found, [host(name) for name in found.names])
        return found
    for number, one in enumerate(found):
        ends = {"src": host(one.message.src), "dst": host(one.message.dst)}
        if ends != {"src": one.message.src, "dst": one.message.dst}:
            found[number] = _Placed(one.message.model_copy(update=ends), one.place)
    return found


def _name_hosts(found: MessageList, hosts: Collection[str]) -> None:
    """Let a number of no host stand for h and this number, as kinds of topology call theirs."""
    names = [
        name if name in hosts or f"h{name}" not in hosts else f"h{name}" for name in found.names
    ]
    _rename(found, names)


def _rename(found: MessageList, names: Sequence[str]) -> None:
    """Give the hosts other names, perhaps one to several."""
    if list(names) == found.names:
        return
    found.names, numbers = in_order(names, np.concatenate((found.src, found.dst)))
    found.src, found.dst = np.split(numbers, 2)


def _cell_size(cell: str) -> int:
    plain = whole(cell)
    size = (
        plain
        if plain is not None and plain <= MAX_BYTES
        else parse_bytes(f"{cell}B" if is_number(cell) else cell)
    )
    if size == 0:
        raise ValueError("the size is 0; allowed: from 1 B")
    return size


def _timed(unit: str | None) -> Callable[[str], int]:
    """Return how times are read whose plain numbers have a unit, or none."""

    def read(cell: str) -> int:
        plain = whole(cell)
        if plain is not None and (unit is not None or plain == 0):
            return (
                parse_time(cell + unit) if unit and len(cell) > 15 else plain * TIMES[unit or "s"]
            )
        if not is_number(cell):
            return parse_time(cell)
        if unit is None:
            raise ValueError(
                f'{cell!r} lacks its unit: write it like "25us", call the column start_us or '
                'delay_us, or give time_unit = "us"'
            )
        return parse_time(f"{cell}{unit}")

    return read


def _cell_class(cell: str) -> int:
    if cell not in tuple("01234567"):
        raise ValueError(f"class {cell!r} is not one of 0 to 7")
    return int(cell)


CELLS: dict[str, Callable[[str], Any]] = {
    "src": str,
    "dst": str,
    "size": _cell_size,
    "class": _cell_class,
    "id": str,
    "after": str.split,
    "path": split_path,
    "ack_path": read_ack_path,
}
"""How the cells of each column of a CSV file of messages are read."""
TIMED = ("start", "delay")
"""Columns of times; their names may end in a unit, such as start_us."""
UNPLAIN = ("id", "after", "delay", "path", "ack_path")
"""Columns of messages that wait or have a path."""
FIELDS = {"class": "traffic_class"}
