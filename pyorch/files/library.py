"""The library of schemes: tuned sets of parameters that any experiment names.

They are the scheme files of experiments/schemes: those of the project first, then those that came
with the package. A name is that of the scheme, its `short` or that of its file, in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from pyorch.base.errors import fold, one_of, suggest
from pyorch.base.findings import Findings, Path
from pyorch.base.paths import Paths
from pyorch.base.reading import read_toml

FOLDER = "schemes"
"""Below experiments/."""
_PATTERNS = ("*.toml", "combined/*.toml", "shipped/*.toml")
_CALL = "'invoke schemes library' tells what each is"


def scheme_files(paths: Paths) -> Iterator[tuple[FilePath, str]]:
    """Yield the library's files, the project's own first, and what messages call each."""
    for root in dict.fromkeys((paths.experiments, paths.studies)):
        for pattern in _PATTERNS:
            for file in sorted((root / FOLDER).glob(pattern)):
                yield file, file.relative_to(root).as_posix()


class Library:
    """The library's files by what they may be called; read when something is first looked up."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._files: dict[str, tuple[FilePath, str]] = {}
        self._names: list[str] = []

    def find(self, name: str) -> tuple[FilePath, str] | None:
        """Return the file that a name means and what messages call it. Raises UserError."""
        if not self._files:
            for file, label in scheme_files(self._paths):
                table = read_toml(file, label)
                words = [str(table.get(key, "")) for key in ("name", "short")]
                for word in filter(None, (*words, file.stem)):
                    self._files.setdefault(fold(word), (file, label))
                self._names += filter(None, words)
        return self._files.get(fold(name))

    def missing(self, name: str, path: Path, findings: Findings) -> None:
        """Note that no scheme has a name."""
        what = f"there is no scheme {name!r}"
        findings.add(path, what, one_of(self._names), suggest(name, self._names) or _CALL)
