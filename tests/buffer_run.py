"""A run whose buffer is traced: python -m tests.buffer_run; prints its tables."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from pyorch.build import ensure_built
from pyorch.run.ns3 import load_simulation
from pyorch.run.simulate import read_tables
from tests.forms import network_of

RATES, DELAYS = (10**10, 9 * 10**9, 7 * 10**9), (100_003, 200_017, 300_043)
"""Of the links of h0, h1 and h2 [bit/s, ps]: no two things happen at once in the switch."""
PRIVATE, XOFF, XON = 2_100, 6_000, 4_000
FLOWS = ((0, 2, 40_000), (1, 2, 30_000), (1, 0, 5_000))
"""Source, destination, bytes."""


def main() -> int:
    """Two hosts send to a third one through a small buffer."""
    simulation: Any = load_simulation(ensure_built(quiet=True))(1)
    buffer = {"Size": 100_000, "LossyPool": 0, "Private": PRIVATE, "Threshold": "Static"}
    for name, value in (buffer | {"Xoff": XOFF, "Xon": XON}).items():
        simulation.SetAttribute("ns3::lossless::SharedBuffer", name, str(value))
    simulation.AddFlowControl("ns3::pfc::Pfc")
    simulation.AddNodes(np.array([0, 0, 0, 1], "uint8"), "h0\nh1\nh2\ns0", 4)
    ends = np.array([0, 1, 2], "uint32"), np.array([3, 3, 3], "uint32")
    simulation.AddLinks(*ends, np.array(RATES, "uint64"), np.array(DELAYS, "int64"), 3)
    src, dst, sizes = zip(*FLOWS, strict=True)
    n = len(FLOWS)
    nothing = np.zeros(n, "uint64")
    simulation.AddFlows(
        np.array(src, "uint32"),
        np.array(dst, "uint32"),
        np.array(sizes, "uint64"),
        np.zeros(n, "int64"),
        np.full(n, -1, "int64"),
        np.full(n, 3, "uint8"),
        nothing,
        nothing,
        n,
    )
    simulation.Build()
    assert str(simulation.Check()) == ""
    switch, all_ports = np.array([3], "uint32"), np.array([-1], "int64")
    for table in ("buffer", "queue"):
        simulation.Trace(table, switch, all_ports, 1, 1 << 3, 0)
    simulation.Trace("frame", switch, all_ports, 0, 0xFF, 0)
    simulation.Run(200_000_000)
    assert str(simulation.Finish()) == ""
    star = network_of({"kind": "star", "hosts": 3, "rate_bps": RATES[0], "delay_ps": DELAYS[0]})
    tables = read_tables(simulation, star)
    print(
        json.dumps(
            {
                name: {c: a.tolist() for c, a in tables[name].items()}
                for name in ("buffer", "queue", "frame")
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
