"""Whatever is loaded when it is first used: numpy, pandas and networkx, and names of packages.

The three take from 0.1 to 0.5 s to load, and many commands end without them. A module that cannot
do without imports them as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Later", "found", "np", "nx", "pd"]


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


def found(package: str, where: Mapping[str, str], name: str) -> Any:
    """Return what a package offers under a name, from the module that `where` gives for it.

    where: "module", or "module:other" if it has another name there. Raises AttributeError.
    """
    if name not in where:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, _, other = where[name].partition(":")
    return getattr(import_module(module), other or name)
