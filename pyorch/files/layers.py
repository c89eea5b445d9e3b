"""Merges a file with its includes, and expands entries that represent several.

Both lay tables over tables by one rule: `lay`. The place of each key is kept for messages.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from os.path import realpath
from pathlib import Path as FilePath
from pathlib import PurePosixPath
from typing import Any, TypeGuard

from pyorch.base.errors import Problem, UserError, refusal, suggest
from pyorch.base.findings import Path, Place, dotted
from pyorch.base.reading import MAX_TOML, is_file, read_toml, size_of
from pyorch.files.keys import EACH, ENTRIES

Places = dict[Path, Place]
"""Places of keys that are not at their own place in the file; nested keys follow them."""
_SET = ("set",)
SCHEMES = "schemes"
"""Key of [variants] that names schemes of the library; `variants = [...]` stands for it."""
ADDED = ("agents", "host_agents")
"""Lists that add up: of included files, of a file, and of the scheme of a variant."""
MAX_FILES = 200
"""Files that one may include, with those that they include."""
_TOO_MANY = f"more than {MAX_FILES} files are included"
_BOTH = "beside [variants.NAME] the list is a key of [variants]: schemes = [...]"
_NO_FILE = "there is no file {!r} next to it"
_ROWS = "each = [{ ... }, { ... }]: tables, each of them laid over the entry"


def read_layers(
    file: FilePath, label: str, joined: Collection[str] = ADDED
) -> tuple[dict[str, Any], Places]:
    """Return the content of a file laid over its includes, and the places of included keys.

    A file that several of them include counts once, where it is included first. label: its name in
    messages. joined: keys at the top whose lists are joined, besides lists of tables. Raises
    UserError with all problems of the files.
    """
    return _Layers(joined).read(file, label, ())


class _Layers:
    """Reads a file and its includes, each file once, however many include it."""

    def __init__(self, joined: Collection[str]) -> None:
        self._joined = joined
        self._read: set[str] = set()
        self._bytes = 0

    def read(
        self, file: FilePath, label: str, above: tuple[str, ...], by: str = ""
    ) -> tuple[dict[str, Any], Places]:
        """Return a file's content over its includes, and their places.

        above: the files that include it; by: the label of the last, if its own does not tell.
        """
        self._count(file, label)
        above = (*above, realpath(file))
        content = _read_toml(file, f"{label} (included by {by})" if by else label)
        names = content.pop("include", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            what = f"{names!r} is not a list of files"
            raise refusal(f"{label}: include", what, '["parts/common.toml"]')
        if isinstance(content.get("variants"), list):  # tables can be laid over each other
            content["variants"] = {SCHEMES: content["variants"]}
        whole: dict[str, Any] = {}
        places: Places = {}
        problems: list[Problem] = []
        for name in dict.fromkeys(names):
            try:
                below, more = self._part(file, label, name, above)
                lay(whole, below, self._joined, places, more)
            except _TooManyError:
                raise
            except UserError as error:
                problems += error.problems
        if problems:
            raise UserError(problems)
        lay(whole, content, self._joined, places, {(key,): (label, (key,)) for key in content})
        return whole, places

    def _part(
        self, file: FilePath, label: str, name: str, above: tuple[str, ...]
    ) -> tuple[dict[str, Any], Places]:
        """Return what a file includes by a name; nothing if that has been read before."""
        part = file.parent / name
        if not is_file(part):
            raise refusal(f"{label}: include", _NO_FILE.format(name))
        real = realpath(part)
        if real in above:
            raise refusal(f"{label}: include", f"{name} includes itself")
        if real in self._read:
            return {}, {}
        there = str(PurePosixPath(label).parent / name)
        return self.read(part, there, above, label if PurePosixPath(name).is_absolute() else "")

    def _count(self, file: FilePath, label: str) -> None:
        """Raise _TooManyError when this file makes too many, or too much text."""
        self._read.add(realpath(file))
        self._bytes += size_of(file)
        if len(self._read) > MAX_FILES:
            raise _TooManyError([Problem(label, _TOO_MANY, f"at most {MAX_FILES} files")])
        if self._bytes > MAX_TOML:
            what = f"with the files that it includes it has {self._bytes / 1e6:.1f} MB"
            raise _TooManyError([Problem(label, what, f"at most {MAX_TOML // 10**6} MB")])


def _read_toml(file: FilePath, label: str) -> dict[str, Any]:
    """Read a file; where TOML cannot have both forms of variants, say which can. Raises UserError.

    A key is either a list or a table: `variants = [...]` leaves no place for [variants.NAME].
    """
    try:
        return read_toml(file, label)
    except UserError as error:
        if "('variants'" not in error.problems[0].what:
            raise
        raise UserError([replace(one, hint=_BOTH) for one in error.problems]) from None


class _TooManyError(UserError):
    """A file includes more than can be read: nothing else needs to be said of it."""


def lay(
    below: dict[str, Any],
    above: Mapping[str, Any],
    joined: Collection[str] = (),
    places: Places | None = None,
    more: Mapping[Path, Place] | None = None,
    at: Path = (),
) -> dict[str, Any]:
    """Lay a table over another, in place, and return it.

    Tables are merged key by key; lists of tables, those of [set] and of the keys in `joined` are
    concatenated; for other values `above` wins. places: those of the table below; becomes that of
    both. more: those of `above`.
    """
    places, more = {} if places is None else places, more or {}
    for key, value in above.items():
        here, old = (*at, key), below.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            below[key] = lay(dict(old), value, joined, places, more, here)
        elif _is_tables(old) and _is_tables(value):
            for number in range(len(value)):
                shifted = str(len(old) + number)
                places[*here, shifted] = place_of(more, (*here, str(number)))
            below[key] = [*old, *value]
        elif (here[0] in joined or at == _SET) and _is_texts(old) and _is_texts(value):
            below[key] = list(dict.fromkeys([*old, *value]))
        else:
            for path in [path for path in places if path[: len(here)] == here]:
                del places[path]
            places[here] = place_of(more, here)
            places |= {path: one for path, one in more.items() if path[: len(here)] == here}
            below[key] = value
    return below


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _is_tables(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def place_of(places: Mapping[Path, Place], path: Path, label: str = "") -> Place:
    """Return the place of a key: by default in the file of `label` at its own place."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            file, start = places[path[:length]]
            return file, (*start, *path[length:])
    return label, path


def spread(content: dict[str, Any], places: Places, label: str) -> tuple[Problem, ...]:
    """Replace entries with `each`, in the lists of a document, by several; return problems.

    Every table of `each` is laid over the other keys of the entry.
    """
    problems: list[Problem] = []
    for key in ENTRIES:
        entries = content.get(key)
        if not _is_tables(entries):
            continue
        found: list[dict[str, Any]] = []
        moved: Places = {}
        for number, entry in enumerate(entries):
            file, start = place_of(places, (key, str(number)), label)
            for name in [name for name in entry if name != EACH and _is_tables(entry[name])]:
                if hint := suggest(name, [EACH]):
                    where = f"{file}: {dotted((*start, name))}"
                    problems.append(Problem(where, f"unknown key {name!r}", _ROWS, hint))
            rows = entry.get(EACH, [{}])
            if not _is_tables(rows) or not rows:
                where = f"{file}: {dotted((*start, EACH))}"
                problems.append(Problem(where, f"{rows!r} is not allowed", _ROWS))
                rows = []
            shared = {name: value for name, value in entry.items() if name != EACH}
            for index, row in enumerate(rows):
                at = (key, str(len(found)))
                moved[at] = (file, (*start, EACH, str(index)) if EACH in entry else start)
                moved |= {(*at, one): (file, (*start, one)) for one in shared if one not in row}
                found.append(lay(copy.deepcopy(shared), row))
        content[key] = found
        places |= moved
    return tuple(problems)
