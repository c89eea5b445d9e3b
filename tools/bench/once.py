"""One run without traces or results, for valgrind: python -m tools.bench.once BUILD SPEC."""

from __future__ import annotations

import sys
from pathlib import Path

from pyorch.build.info import read_build
from pyorch.kinds import read_spec
from pyorch.run.ns3 import load_simulation
from pyorch.run.simulate import set_up


def main(build: str, file: str) -> None:
    """Simulate a RunSpec to its end, and print its data packet-hops."""
    spec = read_spec(Path(file).read_text(encoding="utf-8"))
    simulation = load_simulation(read_build(Path(build)))(spec.seed)
    set_up(simulation, spec)
    simulation.Run(spec.setting.run.latest_end)
    summary = {str(pair.first): float(pair.second) for pair in simulation.GetSummary()}
    print(f"data_hops {summary['data_hops']:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
