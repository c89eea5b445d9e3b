"""What an experiment file says, read but not judged: a document of tables, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pyorch.errors import Problem

if TYPE_CHECKING:
    from pyorch.findings import Path, Place


@dataclass(frozen=True)
class Document:
    """An experiment before it is resolved.

    name: of its results. file: where it stands, or would stand when it was made in Python; what it
    names is looked for beside it. label: how messages call it. content: its tables, with those of
    included files, and several entries where one has `each`. places: where those stand that do not
    stand in the file at their own place. problems: what is wrong with it already.
    """

    name: str
    file: FilePath
    label: str
    content: Mapping[str, Any]
    places: Mapping[Path, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether there is such a file."""
        return self.file.is_file()
