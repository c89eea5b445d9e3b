"""One run with captures: RunSpec -> pcap files and an animation in a folder.

Captures use trace sources and change nothing: the results are those of the run without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import np
from pyorch.build.facade import Simulation, SimulationClass
from pyorch.engine.progress import SLICES
from pyorch.network.apart import Apart
from pyorch.run.simulate import read_tables, set_up
from pyorch.trace.netanim import write_animation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.network.topology import Topology
    from pyorch.plan import RunSpec

TAP = "ns3::observe::PcapTap"
ANIMATION = "animation.xml"
ANY_PEER = -1
ALL_CLASSES = 0xFF


@dataclass(frozen=True)
class Options:
    """What to capture and how.

    ports: (node, neighbour), the neighbour "" for all ports of the node; empty: every port.
    from_ps: earlier frames are not written. until_ps: end of the simulation; None: that of the run.
    fcs: frames end with their FCS. tagged: routed frames have an 802.1Q tag. snap_bytes: maximum
    number of bytes per frame in a file, 1 to 65535. animate: also write an animation of all links.
    """

    ports: tuple[tuple[str, str], ...] = ()
    from_ps: int = 0
    until_ps: int | None = None
    fcs: bool = False
    tagged: bool = True
    snap_bytes: int = 65535
    animate: bool = True

    def to_data(self) -> dict[str, Any]:
        """Return the options in a form that JSON can represent."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Options:
        """Return the options of `to_data`."""
        return cls(**data | {"ports": tuple((node, peer) for node, peer in data["ports"])})


@dataclass(frozen=True)
class Captured:
    """A pcap file.

    cut: frames whose headers by the standards are longer than the frame in the model; they are
    captured with the length of the model.
    """

    path: Path
    frames: int
    cut: int


@dataclass(frozen=True)
class Traced:
    """The files written, and how the run ended.

    animation: None if there is none. frames: in the animation. end_ps: simulated time. summary:
    the numbers of the run. problems: those that `Simulation.Finish` reported.
    """

    pcaps: tuple[Captured, ...]
    animation: Path | None
    frames: int
    end_ps: int
    summary: dict[str, int | float]
    problems: tuple[str, ...]


def trace_run(
    spec: RunSpec, simulation_class: SimulationClass, folder: Path, options: Options
) -> Traced:
    """Simulate a run with captures and write the files into a folder, created if missing.

    simulation_class: ns3::facade::Simulation, from `pyorch.run.ns3.load_simulation`; a process can
    have only one simulation at a time. Raises RefusedError if the run's configuration is
    impossible, OSError if a file cannot be written, KeyError for a node that does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for link in filter(Path.is_symlink, folder.iterdir()):  # C++ would write through it
        link.unlink()
    simulation = simulation_class(spec.seed)
    simulation.SetAttribute(TAP, "Fcs", _word(options.fcs))
    simulation.SetAttribute(TAP, "Tagged", _word(options.tagged))
    simulation.SetAttribute(TAP, "SnapLength", str(options.snap_bytes))
    simulation.SetAttribute(TAP, "Start", f"{options.from_ps}ps")
    network = set_up(simulation, spec)  # with the run's traces: samples count as events
    nodes, peers = port_numbers(network, options.ports)
    problems = _lines(simulation.TracePcap(nodes, peers, len(options.ports), str(folder)))
    if problems:
        raise OSError("; ".join(problems))
    if options.animate:
        everywhere = (nodes, peers, 0, ALL_CLASSES, 0)
        simulation.Trace("frame", *everywhere)
    _advance(simulation, spec, options.until_ps)
    problems = _lines(simulation.Finish())
    animation, frames = None, 0
    if options.animate:
        animation = folder / ANIMATION
        table = read_tables(simulation, network)["frame"]
        shown = table["time_ps"] >= options.from_ps
        table = {name: column[shown] for name, column in table.items()}
        frames = write_animation(animation, network, table)
    return Traced(
        pcaps=tuple(_captured(line) for line in _lines(simulation.GetPcaps())),
        animation=animation,
        frames=frames,
        end_ps=int(simulation.Now()),
        summary={str(pair.first): float(pair.second) for pair in simulation.GetSummary()},
        problems=tuple(problems),
    )


def _advance(simulation: Simulation, spec: RunSpec, until_ps: int | None) -> None:
    """Simulate in the same slices as `pyorch.run.simulate`, because their ends count as events."""
    end_ps = spec.setting.run.latest_end
    last_ps = end_ps if until_ps is None else min(end_ps, until_ps)
    for number in range(1, SLICES + 1):
        at_ps = min(end_ps * number // SLICES, last_ps)
        if not simulation.Run(at_ps) or at_ps == last_ps:
            return


def port_numbers(
    network: Topology, ports: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Node and neighbour numbers of ports by name; the neighbour "" is any. Raises KeyError."""
    apart = Apart(network)
    # an empty array has no address to pass; its length is passed as well
    found = [
        [(number, ANY_PEER) for number in apart.nodes(network.numbers[node])]
        if not peer
        else [apart.port(*_known(network, node, peer))]
        for node, peer in ports
    ] or [[(0, ANY_PEER)]]
    nodes, peers = np.array([port for some in found for port in some]).T
    return nodes.astype(np.uint32), peers.astype(np.int64)


def _known(network: Topology, node: str, peer: str) -> tuple[int, int]:
    port = network.port(node, peer)
    if port is None:
        raise KeyError((node, peer))
    return port


def _captured(line: str) -> Captured:
    path, frames, cut = line.split("\t")
    return Captured(Path(path), int(frames), int(cut))


def _word(value: bool) -> str:
    return "true" if value else "false"


def _lines(text: object) -> list[str]:
    return [line for line in str(text).splitlines() if line.strip()]
