"""Patches: dotted keys and nested tables laid over an experiment file (variants, sweeps, --set)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import Problem, suggest
from pyorch.base.reading import MAX_DEPTH, is_text, parse_toml_value
from pyorch.base.units import whole

if TYPE_CHECKING:
    from pyorch.base.findings import Findings, Path


class PatchError(ValueError):
    """A patch that cannot be applied; the message is for users."""


_LISTS = 'a list of strings, large = ["topology.hosts=64"]'
#: The form of --only among the overrides: names of variants.
ONLY = "only"


@dataclass(frozen=True)
class Override:
    """One `--set key=value`: its place and its values; several values make a sweep.

    where: its name in messages.
    """

    text: str
    path: Path
    values: tuple[Any, ...]
    is_list: bool
    where: str

    @property
    def value(self) -> Any:
        """The value for a key that is not swept."""
        return list(self.values) if self.is_list else self.values[0]


def split_key(key: str) -> Path:
    """Return the parts of a dotted key. Raises PatchError when one is empty."""
    parts = tuple(part.strip() for part in key.split("."))
    if not all(parts):
        raise PatchError(f"{key!r} is not a key such as 'buffer.alpha'")
    if len(parts) > MAX_DEPTH:
        raise PatchError(f"{key!r} has more than {MAX_DEPTH} parts")
    return parts


def nest(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Turn dotted keys into nested tables: {"a.b": 1} is {"a": {"b": 1}}.

    Raises PatchError when a key is given twice, in two spellings.
    """
    nested: dict[str, Any] = {}
    for path, value in leaves(patch):
        here = nested
        for key in path[:-1]:
            here = here.setdefault(key, {})
            if not isinstance(here, dict):
                raise PatchError(f"{'.'.join(path)!r} is inside a key that also has a value")
        if path[-1] in here:
            raise PatchError(f"{'.'.join(path)!r} is given twice")
        here[path[-1]] = value
    return nested


def flat(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Turn nested tables into dotted keys. Raises PatchError as `nest` does."""
    return {".".join(path): value for path, value in leaves(nest(patch))}


def is_selection(text: str) -> bool:
    """Whether an option chooses variants, which are as they were, instead of changing a key."""
    return text.partition("=")[0].strip() == ONLY


def variants_of(override: Override) -> list[str]:
    """Return the variants that an override `only=A,B` names."""
    return [name.strip() for name in override.text.partition("=")[2].split(",")]


def leaves(patch: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of everything in nested tables except non-empty tables."""
    for key, value in patch.items():
        path = (*above, *split_key(key))
        if isinstance(value, dict) and value:
            yield from leaves(value, path)
        else:
            yield path, value


def put(document: dict[str, Any], path: Path, value: Any) -> tuple[Path, ...]:
    """Set a value in a document, copying everything on the way to its place.

    So other documents that share parts of it stay as they are. Entries of lists are given by number
    (from 0) or by their `label` or `name`. Returns the places that were written: the path, with
    entry names as numbers, and the first part of it that is new. Raises PatchError if the path
    leads through something without keys.
    """
    here: Any = document
    real: list[str] = []
    fresh: int | None = None
    for number, key in enumerate(path):
        last = number == len(path) - 1
        if isinstance(here, list):
            index = _index(here, key, real)
            real.append(str(index))
            here[index] = value if last else copy.copy(here[index])
            here = here[index]
        elif isinstance(here, dict):
            real.append(key)
            if key not in here and fresh is None:
                fresh = len(real)
            here[key] = value if last else copy.copy(here.get(key, {}))
            here = here[key]
        else:
            raise PatchError(f"{'.'.join(real)!r} is {here!r} and has no key {key!r}")
    return (tuple(real), tuple(real[:fresh]))


def _index(entries: list[Any], key: str, above: Sequence[str]) -> int:
    """Return the number of a list entry given by number, label or name."""
    names = [
        str(entry.get("label", entry.get("name", ""))) if isinstance(entry, dict) else ""
        for entry in entries
    ]
    if key in names:
        return names.index(key)
    number = whole(key)
    if number is not None and number < len(entries):
        return number
    named = ", ".join(name for name in names if name)
    known = f"0 to {len(entries) - 1}" + (f", or {named}" if named else "")
    raise PatchError(f"{'.'.join(above)!r} has no entry {key!r}; it has {known}")


def chosen_overrides(
    lists: object, texts: Sequence[str], findings: Findings
) -> tuple[list[Override], list[Problem]]:
    """Read `--set` options: key=value with a TOML value, bare text, or several with commas.

    One without '=' names a list of [set], whose texts come first and are overridden by the others.
    """
    if not isinstance(lists, dict):
        findings.add(("set",), f"{lists!r} is not a table", _LISTS)
        lists = {}
    wrong = {name: one for name, one in lists.items() if not _are_texts(one)}
    for name, one in wrong.items():
        findings.add(("set", name), f"{one!r} is not allowed", _LISTS)
    lists = lists | dict.fromkeys(wrong, ())
    places = {name: findings.where(("set", name)) for name in lists}
    found: list[Override] = []
    problems: list[Problem] = []
    named = [text for text in texts if "=" not in text]
    listed = [one for name in named for one in _listed(lists, places, name.strip(), (), problems)]
    for text, where in (*listed, *((text, _typed(text)) for text in texts if text not in named)):
        try:
            # read one option; where: its name in messages. Raises ValueError for users
            if not is_text(text):
                raise ValueError("is not UTF-8")
            key, equals, value = text.partition("=")
            if not equals or not value.strip():
                raise ValueError("not of the form key=value", "buffer.alpha=0.125")
            path = split_key(key)
            parts = _split_list(value)
            if not all(parts):
                raise ValueError("a value between commas is missing", "0.125,0.25")
            found.append(
                Override(text, path, tuple(map(parse_toml_value, parts)), len(parts) > 1, where)
            )
        except ValueError as error:  # its arguments: the problem and, if known, what is allowed
            problems.append(Problem(where, *map(str, error.args)))
    return found, problems


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _typed(text: str) -> str:
    """Return an option's name in messages."""
    key, _, value = text.partition("=")
    return f"--{ONLY} {value}" if key.strip() == ONLY else f"--set {text}"


def _listed(
    lists: Mapping[str, Any],
    places: Mapping[str, str],
    text: str,
    above: tuple[str, ...],
    problems: list[Problem],
) -> list[tuple[str, str]]:
    """Return a text with its place, or those of the list of [set] that it names.

    places: those of the lists. above: enclosing lists.
    """
    where = f"{places[above[-1]]}: {text}" if above else _typed(text)
    if "=" in text:
        return [(text, where)]
    if text in lists and text not in above:
        inner = (_listed(lists, places, one, (*above, text), problems) for one in lists[text])
        return [one for texts in inner for one in texts]
    if text in above:
        problems.append(Problem(where, "the list refers to itself"))
        return []
    what = "not of the form key=value, and no list of [set]"
    others = [name for name in lists if name not in above]
    allowed = ", ".join([*others, "buffer.alpha=0.125"])
    problems.append(Problem(where, what, allowed, suggest(text, others)))
    return []


def _split_list(text: str) -> list[str]:
    """Split at the commas outside of brackets and quotes."""
    parts, begin, depth, quote = [], 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        if letter == "," and not depth and not quote:
            parts.append(text[begin:place])
            begin = place + 1
    return [part.strip() for part in (*parts, text[begin:])]
