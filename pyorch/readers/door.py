"""Which reader reads a file: by the name of its format, else by the file's name and its content.

A reader is a module with a function for each thing that its files can hold, all of them optional,
each called with the file, its label in messages and a `Tell`:

- `network` returns a `Graph`, or None after problems;
- `messages` returns a `MessageList`, or None after problems. CSV is read by `pyorch.traffic`.

A package adds a format by an entry point "pyorch.readers" of its name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError, one_of, suggest

Content = Literal["network", "messages"]
GROUP = "pyorch.readers"


@dataclass(frozen=True)
class _Own:
    """A reader of this package: its module, and the suffixes of files by what they hold."""

    module: str
    suffixes: Mapping[Content, Sequence[str]]


_OWN: Mapping[str, _Own] = {
    "graphml": _Own("graphml", {"network": (".graphml",)}),
    "gml": _Own("gml", {"network": (".gml",)}),
    "json": _Own("node_link", {"network": (".json",)}),
    "containerlab": _Own("containerlab", {"network": (".yml", ".yaml")}),
    "csv": _Own("links_csv", {"network": (".csv",), "messages": (".csv",)}),
    "hpcc": _Own("hpcc", {"network": (".txt",), "messages": (".txt",)}),
    "htsim": _Own("htsim", {"network": (".topo",), "messages": (".cm",)}),
    "parquet": _Own("parquet", {"messages": (".parquet",)}),
}
"""Every format of this package."""


def formats(content: Content) -> list[str]:
    """Return the names of the formats in which files may hold something."""
    own = [name for name, one in _OWN.items() if content in one.suffixes]
    return [*own, *(name for name in doors.names(GROUP) if name not in _OWN)]


def format_of(file: str, content: Content) -> str | None:
    """Return the format of a file by its name; None if that does not tell."""
    suffix = Path(file).suffix.lower()
    return next(
        (name for name, own in _OWN.items() if suffix in own.suffixes.get(content, ())), None
    )


def reader(name: str, content: Content) -> Callable[..., Any]:
    """Return the function that reads something in a format. Raises UserError if there is none."""
    module = None
    if name in _OWN:
        module = importlib.import_module(f"pyorch.readers.{_OWN[name].module}")
    elif name in doors.names(GROUP):
        module = doors.named(GROUP, name)
    found: Callable[..., Any] | None = getattr(module, content, None)
    if found is None:
        known = formats(content)
        what = f"{name!r} is not a format of {content}"
        raise UserError([Problem("format", what, one_of(known), suggest(name, known))])
    return found
