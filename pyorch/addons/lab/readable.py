"""How results of the laboratory are shown in Python: as a few lines instead of all fields."""

from __future__ import annotations

import html
from collections.abc import Iterator


class Readable:
    """A result that is shown as a few lines when printed and in a notebook."""

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
