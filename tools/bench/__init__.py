"""Measures the speed of the simulator, alone and in whole runs: `invoke bench`."""

from tools.bench.cells import cells
from tools.bench.command import bench
from tools.bench.pauses import pauses
from tools.bench.scaling import scaling
from tools.bench.skips import skips
from tools.bench.threads import threads

__all__ = ["bench", "cells", "pauses", "scaling", "skips", "threads"]
