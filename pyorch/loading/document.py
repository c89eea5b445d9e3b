"""What an experiment file says, read but not judged: a document of tables, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Document:
    """An experiment before it is resolved.

    name: of its results. file: where it stands, or would stand when it was made in Python; what it
    names is looked for beside it. label: how messages call it. content: its tables, with those of
    included files.
    """

    name: str
    file: Path
    label: str
    content: Mapping[str, Any]

    @property
    def is_file(self) -> bool:
        """Whether there is such a file."""
        return self.file.is_file()
