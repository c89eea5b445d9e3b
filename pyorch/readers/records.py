"""What files of messages and of settings say, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Name = TypeVar("Name", str, int)
Integers = npt.NDArray[np.int64]
ABSENT = -1
"""What a message has where its file has no value."""
MOST_MESSAGES = 5_000_000
"""Messages that a file may have."""


@dataclass
class MessageList:
    """Messages in the order of their file, in columns: there may be millions.

    names: of hosts, which src and dst count from 0, in the order in which all senders and then all
    receivers come to them. sizes: bytes. starts: ps, classes: 0..7; ABSENT where the file has none.
    lines: of the file. ids and after: names of messages, and of those that each waits for; empty if
    none waits. delays: all of their delays together [ps]. left_out: what is not used.
    """

    names: list[str]
    src: Integers
    dst: Integers
    sizes: Integers
    starts: Integers
    classes: Integers
    lines: Integers
    ids: list[str] = field(default_factory=list)
    after: list[list[str]] = field(default_factory=list)
    delays: int = 0
    left_out: list[str] = field(default_factory=list)

    @classmethod
    def of_rows(
        cls,
        ends: Sequence[tuple[str, str]],
        sizes: Sequence[int],
        starts: Sequence[int | None] = (),
        classes: Sequence[int | None] = (),
        lines: Sequence[int] = (),
    ) -> MessageList:
        """Return messages that were read one by one. ends: src and dst of each."""
        numbers: dict[str, int] = {}
        src, dst = (
            np.array([numbers.setdefault(of[end], len(numbers)) for of in ends], dtype=np.int64)
            for end in (0, 1)
        )
        absent = [None] * len(ends)
        sizes_, starts_, classes_, lines_ = (
            np.array([ABSENT if one is None else one for one in column or absent], dtype=np.int64)
            for column in (sizes, starts, classes, lines)
        )
        return cls(list(numbers), src, dst, sizes_, starts_, classes_, lines_)

    def __len__(self) -> int:
        return len(self.src)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the names of both ends of each message."""
        names = self.names
        return [
            (names[a], names[b]) for a, b in zip(self.src.tolist(), self.dst.tolist(), strict=True)
        ]


def in_order(names: Sequence[Name], ends: Integers) -> tuple[list[Name], Integers]:
    """Return the names that are used, in the order in which they are, and their numbers.

    ends: places in names, which may name a host twice.
    """
    first = np.full(len(names), len(ends), dtype=np.int64)
    first[ends[::-1]] = np.arange(len(ends), dtype=np.int64)[::-1]  # the last that is written stays
    numbers: dict[Name, int] = {}
    places = np.zeros(len(names), dtype=np.int64)
    used = np.flatnonzero(first < len(ends))
    for place in used[np.argsort(first[used])].tolist():
        places[place] = numbers.setdefault(names[place], len(numbers))
    return list(numbers), places[ends]


@dataclass(frozen=True)
class Job:
    """What the ranks of a job do, which a [[traffic]] entry replays.

    file: what the entry names. entry: its other keys. ranks: how many. nics: of each rank, which is
    a server if it has several.
    """

    file: Path
    entry: Mapping[str, Any]
    ranks: int
    nics: int = 1
    assumed: Sequence[str] = ()


@dataclass
class Settings:
    """What a configuration says. at_top: keys of the experiment itself.

    sections: by name, each key with its value and where that comes from. files: names of other
    files by what they hold. left_out: keys that are not used, and why. assumed: what they do not
    say. network: a [topology], if they say one. entry: keys of all traffic; job: of a job. maps: of
    ECN's thresholds by the rate of a link [bit/s], by the name of each map. failures: of links, as
    [topology] has them. named: files in its own words.
    """

    at_top: dict[str, Any] = field(default_factory=dict)
    sections: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    network: dict[str, Any] | None = None
    entry: dict[str, Any] = field(default_factory=dict)
    job: dict[str, Any] = field(default_factory=dict)
    maps: dict[str, dict[int, Decimal]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def put(self, section: str, key: str, value: Any, origin: str) -> None:
        """Add a key of a section."""
        self.sections.setdefault(section, {})[key] = (value, origin)

    def add(self, other: Settings) -> None:
        """Add what another configuration says, which wins where both say something.

        Agents are those of both.
        """
        agents = [*self.at_top.get("agents", []), *other.at_top.get("agents", [])]
        self.at_top |= other.at_top
        if agents:
            self.at_top["agents"] = [*dict.fromkeys(agents)]
        for section, keys in other.sections.items():
            self.sections.setdefault(section, {}).update(keys)
        self.files |= other.files
        self.maps |= other.maps
        self.failures += other.failures
        self.named |= other.named
        self.left_out += other.left_out
        self.assumed += other.assumed
        self.network = other.network or self.network
        self.entry |= other.entry
        self.job |= other.job
