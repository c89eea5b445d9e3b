"""Which reader reads a file: by the name of its format, else by the file's name and its content.

A reader is a module with a function for each thing that its files can hold, all of them optional,
each called with the file, its label in messages and a `Tell`:

- `network` returns a `Graph`, or None after problems;
- `messages` returns a `MessageList`, or None after problems. CSV is read by `pyorch.traffic`.

For `import` a reader may have `job`, which is called with the file, its label and a file of process
groups or None, returns a `Job` and raises UserError.

For `export` it may have `write`, which returns the `Written` of a `Scene` (pyorch.writers).

A package adds a format by an entry point "pyorch.readers" of its name, for a module or an object
with these functions; its `suffixes` tell which files are of this format, by what they hold.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyorch.base import doors
from pyorch.base.errors import one_of, refusal, suggest

Content = Literal["network", "messages", "job"]
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
    more = [name for name in doors.names(GROUP) if name not in _OWN]
    return [*own, *(name for name in more if hasattr(_module(name), content))]


def knows(name: str, content: Content) -> bool:
    """Whether files of a format may hold something."""
    return content in _OWN[name].suffixes if name in _OWN else name in formats(content)


def format_of(file: str, content: Content) -> str | None:
    """Return the format of a file by its name; None if that does not tell."""
    suffix = Path(file).suffix.lower()
    for name, own in _OWN.items():
        if suffix in own.suffixes.get(content, ()):
            return name
    for name in doors.names(GROUP):
        more: Mapping[str, Sequence[str]] = getattr(_module(name), "suffixes", {})
        if suffix and suffix in more.get(content, ()):
            return name
    return None


def reader(name: str, content: Content) -> Callable[..., Any]:
    """Return the function that reads something in a format. Raises UserError if there is none."""
    found: Callable[..., Any] | None = getattr(_module(name), content, None)
    if found is None:
        known = formats(content)
        what = f"{name!r} is not a format of {content}"
        raise refusal("format", what, one_of(known), suggest(name, known))
    return found


def writers() -> dict[str, Callable[..., Any]]:
    """Return the functions of packages that write a format, by its name."""
    found = {name: getattr(_module(name), "write", None) for name in doors.names(GROUP)}
    return {name: write for name, write in found.items() if write is not None}


def _module(name: str) -> object:
    """Return the reader of a format; None if there is none."""
    if name in _OWN:
        return importlib.import_module(f"pyorch.readers.{_OWN[name].module}")
    return doors.named(GROUP, name)
