"""What the file of messages says, in any format: columns, one value a message."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_MESSAGES = 5_000_000
"""Messages that a file may have."""


@dataclass
class MessageList:
    """Messages in the order of their file.

    sizes: bytes. starts: ps, classes: 0..7; None or empty where the file has none. ids and after:
    names of messages, and of those that each waits for; empty if none waits. lines: of the file.
    """

    src: list[str] = field(default_factory=list)
    dst: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    starts: list[int | None] = field(default_factory=list)
    classes: list[int | None] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    after: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
