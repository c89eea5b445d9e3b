"""Compile the C++ modules against the ns3 wheel, and describe what they provide.

Submodules are loaded on first use: listing the modules does not need the builder.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyorch.build.builder import ensure_built
    from pyorch.build.info import BuildInfo, read_build
    from pyorch.build.profiles import PROFILES
    from pyorch.build.schema import (
        AttributeInfo,
        Schema,
        TraceInfo,
        TypeInfo,
        load_schema,
        parse_schema,
    )

__all__ = [
    "PROFILES",
    "AttributeInfo",
    "BuildInfo",
    "Schema",
    "TraceInfo",
    "TypeInfo",
    "ensure_built",
    "load_schema",
    "parse_schema",
    "read_build",
]

_WHERE = {"ensure_built": "builder", "PROFILES": "profiles"}
_WHERE |= dict.fromkeys(("BuildInfo", "read_build"), "info")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pyorch.build' has no attribute {name!r}")
    return getattr(import_module(f"pyorch.build.{_WHERE.get(name, 'schema')}"), name)
