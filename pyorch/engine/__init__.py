"""Engines: run many RunSpecs, each in a separate process. They do not depend on ns-3."""

from pyorch.engine.base import BatchResult, Engine, Failure, Refusal
from pyorch.engine.local import LocalEngine
from pyorch.engine.manifest import Manifest, read_manifest, read_run, write_manifest

__all__ = [
    "BatchResult",
    "Engine",
    "Failure",
    "LocalEngine",
    "Manifest",
    "Refusal",
    "read_manifest",
    "read_run",
    "write_manifest",
]
