"""Traffic: flows of every kind."""

from pyorch.traffic import kinds, messages  # they register themselves

__all__ = ["kinds", "messages"]
