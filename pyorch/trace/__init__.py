"""The frames on the links of a run for other programs: pcap files and an animation.

`invoke trace` writes them (`pyorch.trace.request`). In a notebook or a script:

    from pyorch.build import ensure_built
    from pyorch.run.ns3 import load_simulation
    from pyorch.trace import Options, trace_run

    simulation = load_simulation(ensure_built())
    traced = trace_run(spec, simulation, folder, Options(ports=(("s0", "h0"),)))
"""

from pyorch.trace.capture import Captured, Options, Traced, trace_run

__all__ = ["Captured", "Options", "Traced", "trace_run"]
