"""Whatever is loaded when it is first used: numpy, pandas and networkx, and names of packages.

The three take from 0.1 to 0.5 s to load, and many commands end without them. A module that cannot
do without imports them as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["found", "np", "nx", "pd"]

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import pandas as pd
else:

    class _Lazy(ModuleType):
        """Stands for a module, and keeps what was asked of it."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self.__name__), name)
            setattr(self, name, value)
            return value

    np, nx, pd = map(_Lazy, ("numpy", "networkx", "pandas"))


def found(package: str, where: Mapping[str, str], name: str) -> Any:
    """Return what a package offers under a name, from the module that `where` gives for it.

    where: "module", or "module:other" if it has another name there. Raises AttributeError.
    """
    if name not in where:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, _, other = where[name].partition(":")
    return getattr(import_module(module), other or name)
