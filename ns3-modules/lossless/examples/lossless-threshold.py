# SPDX-License-Identifier: GPL-2.0-only
"""How much of a shared buffer queues get under a dynamic threshold, by alpha.

Run it as a program, or cell by cell (`# %%`) in an editor that knows cells.
"""

# %% ns-3 and the modules of this project
import cppyy

from pyorch.build import ensure_built
from pyorch.run.ns3 import load_all

ns = load_all(ensure_built())

# %% What is tried
QUEUES, SIZE_B, HEADROOM_B, FRAME_B, CLASS = 8, 12_000_000, 40_000, 256, 3


# %% Frames come to all queues in turn until each is told to pause its upstream
def fill(alpha: float) -> tuple[int, float]:
    """Return the bytes that the first queue then holds, and what the closed form says."""
    buffer = ns.CreateObject["ns3::lossless::SharedBuffer"]()
    buffer.SetAttribute("Size", ns.UintegerValue(SIZE_B))
    buffer.SetAttribute("LossyPool", ns.UintegerValue(0))
    buffer.SetAttribute("Headroom", ns.UintegerValue(HEADROOM_B))
    buffer.SetAttribute("Alpha", ns.DoubleValue(alpha))
    buffer.Configure(cppyy.gbl.std.vector["ns3::lossless::BufferDemand"](QUEUES + 1))
    waiting = set(range(QUEUES))
    while waiting:
        for port in sorted(waiting):
            buffer.Admit(port, QUEUES, CLASS, FRAME_B)
            if buffer.GetUsage(port, CLASS).off:
                waiting.discard(port)
    shared = buffer.GetSharedSize()
    return buffer.GetUsage(0, CLASS).shared, alpha * shared / (1 + QUEUES * alpha)


# %% Small alpha leaves room for queues to come, large alpha gives it to those there are
for alpha in (1 / 32, 1 / 8, 1 / 2, 2):
    held, closed_form = fill(alpha)
    print(f"alpha {alpha:<8g} queue_bytes {held:<8d} closed_form_bytes {closed_form:.0f}")
