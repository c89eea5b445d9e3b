"""How results of the laboratory show themselves in Python: a few lines instead of all fields."""

from __future__ import annotations

import html
from collections.abc import Iterator


class Readable:
    """A result that says in lines what it is, when it is printed and in a notebook."""

    def lines(self) -> Iterator[str]:
        """It in a few lines."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Its lines."""
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same lines, as a notebook shows them."""
        return f"<pre>{html.escape(str(self))}</pre>"
