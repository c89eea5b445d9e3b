"""Compile the C++ modules against the ns3 wheel, and describe what they provide.

Submodules are loaded on first use: listing the modules does not need the builder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import found

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

_WHERE = dict.fromkeys(__all__, "pyorch.build.schema")
_WHERE |= {"ensure_built": "pyorch.build.builder", "PROFILES": "pyorch.build.profiles"}
_WHERE |= dict.fromkeys(("BuildInfo", "read_build"), "pyorch.build.info")


def __getattr__(name: str) -> Any:
    return found(__name__, _WHERE, name)
