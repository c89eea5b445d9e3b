"""The paths of the flows of a run at its start: python -m pyorch.addons.lab.ways REQUEST.json.

ECMP's hash is the simulator's, which is therefore queried, in a separate process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import refusal
from pyorch.base.paths import program
from pyorch.build.info import read_build
from pyorch.engine.local import child_environment
from pyorch.kinds import read_spec
from pyorch.run.ns3 import load_all
from pyorch.run.process import end_with_parent
from pyorch.run.simulate import set_up
from pyorch.traffic import base as traffic

if TYPE_CHECKING:
    from pyorch.pipeline import Plan
    from pyorch.plan import RunSpec


def ways_of(plan: Plan, spec: RunSpec) -> dict[int, list[int]]:
    """The nodes that each flow of a run passes; empty if each frame chooses its path.

    Raises UserError if the run cannot be built.
    """
    with tempfile.TemporaryDirectory() as aside:
        request = Path(aside) / "request.json"
        content = {"spec": spec.to_json(), "build": str(plan.build.folder)}
        request.write_text(json.dumps(content), encoding="utf-8")
        child = subprocess.run(
            [*program("pyorch.addons.lab.ways"), str(request)],
            env=child_environment(plan.store.paths),
            capture_output=True,
            text=True,
            check=False,
        )
    if child.returncode:
        said = child.stderr.strip().splitlines()[-1:] or ["there was no message"]
        raise refusal("the run", f"it cannot be built: {said[0]}")
    answer: dict[str, list[int]] = json.loads(child.stdout.splitlines()[-1])
    return {int(flow): nodes for flow, nodes in answer.items()}


def main(arguments: list[str]) -> int:
    """Print the paths as a line of JSON."""
    end_with_parent()
    request: dict[str, Any] = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    spec = read_spec(request["spec"])
    ns3 = load_all(read_build(Path(request["build"])))
    simulation = ns3.facade.Simulation(spec.seed)
    network = set_up(simulation, spec)
    setting = spec.setting
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    fabric = simulation.GetFabric()
    ways = {flow: path.tolist() for flow, path in flows.paths.items()}
    if fabric.IsHashed():
        routes = fabric.GetRoutes()
        ends = zip(flows.src.tolist(), flows.dst.tolist(), strict=True)
        for flow, (src, dst) in enumerate(ends):
            frame = ns3.lossless.Frame()
            frame.dst, frame.flow = dst, flow
            frame.hash = ns3.lossless.Routes.Hash(src, dst, flow)
            hops = [int(hop.first) for hop in routes.Trace(src, frame)]
            if flow not in ways and hops:
                ways[flow] = [*hops, dst]
    print(json.dumps(ways))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
