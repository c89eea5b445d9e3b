"""Traffic of kind `messages`: single messages, in the experiment or in a CSV file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import Problem, one_of, suggest
from pyorch.base.fields import Size, Table, Time, TrafficClass
from pyorch.base.reading import is_file
from pyorch.base.units import is_number, parse_bytes, parse_time
from pyorch.network.topology import Topology
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
from pyorch.traffic.paths import AckPath, NodePath, check_path, read_ack_path, split_path


class Message(Table):
    """One message; start and class default to those of the entry.

    It starts, at the earliest, `delay` after the messages whose `id` is in `after` have arrived.
    Its path and that of its ACKs default to those of the entry.
    """

    src: str
    dst: str
    size: Size
    start: Time | None = None
    traffic_class: TrafficClass | None = Field(default=None, alias="class")
    id: str | None = None
    after: list[str] | None = Field(default=None, min_length=1)
    delay: Time | None = None
    path: NodePath | None = None
    ack_path: AckPath | None = None


#: Columns of a CSV file of messages.
COLUMNS, OPTIONAL = (
    ["src", "dst", "size"],
    ("start", "class", "id", "after", "delay", "path", "ack_path"),
)


@traffic("messages")
class Messages(TrafficTable):
    """Messages listed in the experiment, or in a CSV file with columns COLUMNS and maybe OPTIONAL.

    In a CSV file plain numbers are bytes and ps, and several ids in `after` are separated by
    spaces.
    """

    file_key = "file"

    messages: list[Message] | None = None
    file: str | None = None

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.messages is None) == (self.file is None):
            check.add("messages", "give either 'messages' or 'file'", "one of the two")
            return None
        before = len(check.findings.problems)
        listed = self._listed(check) if self.file is None else _read_csv(check, self.file)
        complete = len(check.findings.problems) == before
        if complete and not listed:
            check.add("messages" if self.file is None else "file", "empty", "at least one message")
        filled = [_Placed(self._fill(one.message), one.place) for one in listed]
        for one in filled:
            self._check(check, one)
        if complete:  # otherwise an id may be in a line that could not be read
            _check_waiting(check, filled)
        return canonical(self, messages=[one.message for one in filled], file=None)

    @override
    def check_files(self, check: Check) -> None:
        if self.file is not None:
            _read_csv(check, self.file)

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

    @override
    def classes(self) -> set[int]:
        return {message.traffic_class or 0 for message in self.messages or ()}

    @override
    def pairs(self) -> list[tuple[str, str]]:
        return [(message.src, message.dst) for message in self.messages or ()]

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
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


def _read_csv(check: Check, name: str) -> list[_Placed]:
    """Read a CSV file of messages; note every cell that is wrong."""
    path = check.scene.folder / name
    if not is_file(path):
        check.add("file", f"there is no file {name!r} next to the experiment file")
        return []
    listed = []
    for line, row in workloads.rows(path, COLUMNS, check.findings.problems, OPTIONAL):
        place = f"{name}: line {line}: "
        values: dict[str, Any] = {}
        for column, cell in row.items():
            if not cell and column in OPTIONAL:
                continue
            try:
                values[FIELDS.get(column, column)] = CELLS[column](cell)
            except ValueError as error:
                check.findings.merge([Problem(f"{place}{column}", str(error))])
        placed = _Placed(Message.model_construct(**values), place)
        if set(COLUMNS) <= set(values):
            listed.append(placed)
        elif len(check.scene.network.hosts):
            placed.check_ends(check)
    return listed


def _cell_size(cell: str) -> int:
    size = parse_bytes(f"{cell}B" if is_number(cell) else cell)
    if size == 0:
        raise ValueError("the size is 0; allowed: from 1 B")
    return size


def _cell_time(cell: str) -> int:
    return parse_time(f"{cell}ps" if is_number(cell) else cell)


def _cell_class(cell: str) -> int:
    if cell not in tuple("01234567"):
        raise ValueError(f"class {cell!r} is not one of 0 to 7")
    return int(cell)


CELLS: dict[str, Callable[[str], Any]] = {
    "src": str,
    "dst": str,
    "size": _cell_size,
    "start": _cell_time,
    "class": _cell_class,
    "id": str,
    "after": str.split,
    "delay": _cell_time,
    "path": split_path,
    "ack_path": read_ack_path,
}
"""How the cells of each column of a CSV file of messages are read."""
FIELDS = {"class": "traffic_class"}
