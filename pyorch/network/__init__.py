"""Networks: topologies of every kind, their cycles and failing links."""

from pyorch.network import file, kinds  # they register themselves

__all__ = ["file", "kinds"]
