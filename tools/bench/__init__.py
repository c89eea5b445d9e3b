"""How fast the simulator is, by itself and as a whole run: `invoke bench`."""

from tools.bench.command import bench
from tools.bench.pauses import pauses
from tools.bench.scaling import scaling

__all__ = ["bench", "pauses", "scaling"]
