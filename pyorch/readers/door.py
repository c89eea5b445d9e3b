"""Which reader reads a file: by the name of its format, else by the file's name and its content.

A reader is a module with a function for each thing that its files can hold, all of them optional,
each called with the file, its label in messages and a `Tell`:

- `network` returns a `Graph`, or None after problems;
- `messages` returns a `MessageList`, or None after problems. CSV is read by `pyorch.traffic`.

A package adds a format by an entry point "pyorch.readers" of its name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError, one_of, suggest

Content = Literal["network", "messages"]
GROUP = "pyorch.readers"
_OWN = {
    "graphml": "graphml",
    "gml": "gml",
    "json": "node_link",
    "containerlab": "containerlab",
    "csv": "links_csv",
    "hpcc": "hpcc",
    "htsim": "htsim",
    "parquet": "parquet",
}
"""Every format of this package and its module here."""
_CONTENT: dict[str, tuple[Content, ...]] = {
    "csv": ("network", "messages"),
    "hpcc": ("network", "messages"),
    "htsim": ("network", "messages"),
    "parquet": ("messages",),
}
"""What files of a format can hold; those that are not here hold networks."""
_SUFFIXES: dict[Content, dict[str, str]] = {
    "network": {
        ".graphml": "graphml",
        ".gml": "gml",
        ".json": "json",
        ".yml": "containerlab",
        ".yaml": "containerlab",
        ".csv": "csv",
        ".txt": "hpcc",
        ".topo": "htsim",
    },
    "messages": {".csv": "csv", ".txt": "hpcc", ".cm": "htsim", ".parquet": "parquet"},
}
"""The format of a file, by what is looked for in it and its suffix."""


def formats(content: Content) -> list[str]:
    """Return the names of the formats in which files may hold something."""
    own = [name for name in _OWN if content in _CONTENT.get(name, ("network",))]
    return [*own, *(name for name in doors.names(GROUP) if name not in _OWN)]


def format_of(file: str, content: Content) -> str | None:
    """Return the format of a file by its name; None if that does not tell."""
    return _SUFFIXES[content].get(Path(file).suffix.lower())


def reader(name: str, content: Content) -> Callable[..., Any]:
    """Return the function that reads something in a format. Raises UserError if there is none."""
    module = None
    if name in _OWN:
        module = importlib.import_module(f"pyorch.readers.{_OWN[name]}")
    elif name in doors.names(GROUP):
        module = doors.named(GROUP, name)
    found: Callable[..., Any] | None = getattr(module, content, None)
    if found is None:
        known = formats(content)
        what = f"{name!r} is not a format of {content}"
        raise UserError([Problem("format", what, one_of(known), suggest(name, known))])
    return found
