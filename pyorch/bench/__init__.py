"""How fast the simulator is, by itself and as a whole run: `invoke bench`."""

from pyorch.bench.command import bench
from pyorch.bench.scaling import scaling

__all__ = ["bench", "scaling"]
