"""Networks: topologies of every kind, their cycles, failing links and layout."""

from pyorch.network import file, kinds  # they register themselves

__all__ = ["file", "kinds"]
