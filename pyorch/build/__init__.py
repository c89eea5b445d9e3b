"""Compile the C++ modules against the ns3 wheel, and tell what they can do."""

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
