"""How fast the simulator is, by itself and as a whole run: `invoke bench`."""

from pyorch.bench.command import bench

__all__ = ["bench"]
