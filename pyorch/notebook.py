"""What is different in a notebook: a line of progress in its place, and how results are shown."""

from __future__ import annotations

import html
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TextIO


class _InPlace(io.TextIOBase):
    """Writes to standard output, and takes a carriage return to work as on a terminal."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()

    def isatty(self) -> bool:
        return True


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and type(found).__name__ == "ZMQInteractiveShell"


def output(shown: bool) -> TextIO:
    """Where progress goes: nowhere, a notebook's cell, or standard output."""
    if not shown:
        return io.StringIO()
    return _InPlace() if is_notebook() else sys.stdout  # type: ignore[return-value]


def show_figures() -> None:
    """Have a notebook show a figure that a cell ends with, as it does once pyplot is used."""
    if is_notebook():
        with suppress(ImportError):
            import matplotlib_inline.backend_inline  # noqa: F401 (to import it is to switch it on)


def show_as(kind: type, as_html: Callable[[Any], str]) -> None:
    """Have a notebook show objects of a class, and of those made from it, as HTML."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    if found is not None:
        found.display_formatter.formatters["text/html"].for_type(kind, as_html)


class Readable:
    """A result that is shown as a few lines, not all fields, when printed and in a notebook."""

    def lines(self) -> Iterator[str]:
        """The result in a few lines."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same lines for a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"
