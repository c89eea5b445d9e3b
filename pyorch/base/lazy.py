"""Whatever is loaded when it is first used: numpy, pandas and networkx, kinds, names of packages.

The three take from 0.1 to 0.5 s to load, and many commands end without them. A module that cannot
do without imports them as usual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

__all__ = ["Kinds", "Later", "found", "np", "nx", "pd"]


class Later(ModuleType):
    """Stands for a module of this name until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import pandas as pd
else:

    class _Library(Later):
        """Keeps what was asked of it: nobody replaces parts of a library."""

        def __getattr__(self, name: str) -> Any:
            value = super().__getattr__(name)
            setattr(self, name, value)
            return value

    np, nx, pd = map(_Library, ("numpy", "networkx", "pandas"))


T = TypeVar("T")


class Kinds(MutableMapping[str, T], Generic[T]):
    """Classes by the name of their kind, each loaded when it is first asked for.

    Names are in the order in which messages list them.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._known: dict[str, T | str] = {}
        for module, kinds in modules.items():
            self.later(module, kinds)

    def later(self, module: str, kinds: str) -> None:
        """Add kinds, separated by blanks, that a module registers when it is imported."""
        for kind in kinds.split():
            self._known.setdefault(kind, module)

    def __getitem__(self, kind: str) -> T:
        known = self._known[kind]
        if isinstance(known, str):
            import_module(known)
        return cast("T", self._known[kind])

    def __setitem__(self, kind: str, registered: T) -> None:
        self._known[kind] = registered

    def __delitem__(self, kind: str) -> None:
        del self._known[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def found(package: str, where: Mapping[str, str], name: str) -> Any:
    """Return what a package offers under a name, from the module that `where` gives for it.

    where: "module", or "module:other" if it has another name there. Raises AttributeError.
    """
    if name not in where:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, _, other = where[name].partition(":")
    return getattr(import_module(module), other or name)
