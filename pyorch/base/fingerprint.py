"""The fingerprint of a build: what can change a result, as one line of text, module by module.

A run is named after the part of it that the run uses, so that an edit of one scheme leaves the runs
of the others as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_WHOLE = 64  # hex digits


@dataclass(frozen=True)
class ModulePrint:
    """What a module contributes: the digest of its code, the modules it needs, and its types."""

    digest: str
    needs: Sequence[str]
    types: Sequence[str]


def compose(common: str, base: str, modules: Mapping[str, ModulePrint]) -> str:
    """Return the fingerprint of a build.

    common: digest of what every run depends on: ns-3, the compiler, its flags. base: the module
    that every run uses. The text begins with 64 hex digits that differ whenever anything does.
    """
    parts = [
        f"{name}={part.digest}:{','.join(sorted(part.needs))}:{','.join(sorted(part.types))}"
        for name, part in sorted(modules.items())
    ]
    rest = " ".join([common, base, *parts])
    return f"{hashlib.sha256(rest.encode()).hexdigest()} {rest}"


def short(fingerprint: str) -> str:
    """Return the digits by which people tell one build from another."""
    return fingerprint[:_WHOLE]


@lru_cache(maxsize=4096)
def of_types(fingerprint: str, types: frozenset[str]) -> str:
    """Return what of a fingerprint concerns a run.

    types: full names of the ns-3 types that the run names. It covers the modules of `modules_of`;
    where there are none, the whole build. A text of another form is returned as it is.
    """
    used = modules_of(fingerprint, types)
    if not used:
        return fingerprint
    return _digest(fingerprint, used)


def of_module(fingerprint: str, name: str) -> str:
    """Return what of a fingerprint concerns a module: its code, and that of all that it needs.

    Raises KeyError if there is no such module.
    """
    return _digest(fingerprint, _with_needs({name}, _parse(fingerprint)[2]))


def modules_of(fingerprint: str, types: Iterable[str]) -> frozenset[str]:
    """Return the modules whose code concerns runs that name these types.

    They are the base, the modules of the types, and all that these need. Empty where a type is of
    no module, so that nobody knows, and for a text of another form.
    """
    _, base, modules = _parse(fingerprint)
    homes = {name: module for module, part in modules.items() for name in part.types}
    used = {base} | {homes.get(name, "") for name in types}
    return _with_needs(used, modules) if used <= modules.keys() else frozenset()


def _with_needs(names: Iterable[str], modules: Mapping[str, ModulePrint]) -> frozenset[str]:
    """Modules and all that they need, directly or not."""
    used = set(names)
    waiting = list(used)
    while waiting:
        needs = {name for name in modules[waiting.pop()].needs if name in modules}
        waiting += needs - used
        used |= needs
    return frozenset(used)


def _digest(fingerprint: str, names: Iterable[str]) -> str:
    """The digest of what all runs depend on, and of these modules."""
    common, _, modules = _parse(fingerprint)
    lines = [common, *(f"{name}={modules[name].digest}" for name in sorted(names))]
    return hashlib.sha256(" ".join(lines).encode()).hexdigest()


@lru_cache(maxsize=16)
def _parse(fingerprint: str) -> tuple[str, str, dict[str, ModulePrint]]:
    _, *rest = fingerprint.split(" ")
    if len(rest) < 2:
        return "", "", {}
    modules = {}
    for text in rest[2:]:
        name, _, fields = text.partition("=")
        digest, needs, types = fields.split(":", 2)
        modules[name] = ModulePrint(digest, _names(needs), _names(types))
    return rest[0], rest[1], modules


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def types_in(data: object) -> Iterable[str]:
    """Yield the full names of ns-3 types among the keys and values of JSON data."""
    if isinstance(data, str):
        if data.startswith("ns3::"):
            yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from types_in(key)
            yield from types_in(value)
    elif isinstance(data, Sequence):
        for value in data:
            yield from types_in(value)
