"""One run without traces or results, for valgrind: python -m tools.bench.once BUILD SPEC."""

from __future__ import annotations

import sys
from pathlib import Path

from pyorch.build.info import read_build
from pyorch.ns3 import load_simulation
from pyorch.plan import RunSpec
from pyorch.simulate import set_up
from pyorch.spec import latest_end_ps


def main(build: str, file: str) -> None:
    """Simulate a RunSpec to its end, and print its data packet-hops."""
    spec = RunSpec.from_json(Path(file).read_text(encoding="utf-8"))
    simulation = load_simulation(read_build(Path(build)))(spec.data["seed"])
    set_up(simulation, spec.data)
    simulation.Run(latest_end_ps(spec.data["run"]))
    summary = {str(pair.first): float(pair.second) for pair in simulation.GetSummary()}
    print(f"data_hops {summary['data_hops']:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
