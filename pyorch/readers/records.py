"""What files of messages and of settings say, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_MESSAGES = 5_000_000
"""Messages that a file may have."""


@dataclass
class MessageList:
    """Messages in the order of their file.

    sizes: bytes. starts: ps, classes: 0..7; None or empty where the file has none. ids and after:
    names of messages, and of those that each waits for; empty if none waits. lines: of the file.
    left_out: what is not used.
    """

    src: list[str] = field(default_factory=list)
    dst: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    starts: list[int | None] = field(default_factory=list)
    classes: list[int | None] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    after: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


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
    say. network: a [topology], if they say one. traffic_class: of flows.
    """

    at_top: dict[str, Any] = field(default_factory=dict)
    sections: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    network: dict[str, Any] | None = None
    traffic_class: int | None = None

    def put(self, section: str, key: str, value: Any, origin: str) -> None:
        """Add a key of a section."""
        self.sections.setdefault(section, {})[key] = (value, origin)

    def add(self, other: Settings) -> None:
        """Add what another configuration says, which wins where both say something."""
        self.at_top |= other.at_top
        for section, keys in other.sections.items():
            self.sections.setdefault(section, {}).update(keys)
        self.files |= other.files
        self.left_out += other.left_out
        self.assumed += other.assumed
        self.network = other.network or self.network
        if other.traffic_class is not None:
            self.traffic_class = other.traffic_class
