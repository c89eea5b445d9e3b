"""One run: RunSpec -> tables and summary in a folder. Independent of engines and of the store.

Everything written here depends only on the RunSpec and the build: a repetition gives the same
bytes. Wall time and host are written elsewhere (log.txt).
"""

from __future__ import annotations

import ctypes
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.base.fields import NEVER
from pyorch.base.files import opened
from pyorch.base.lazy import Later, np
from pyorch.base.paths import RunPaths
from pyorch.base.units import format_time
from pyorch.engine.progress import SLICES, Heartbeat
from pyorch.metrics import RunTables, compute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyorch.build.facade import Simulation, SimulationClass
    from pyorch.network import apart as simulated
    from pyorch.network.apart import Apart
    from pyorch.network.topology import Topology
    from pyorch.plan import RunSpec
    from pyorch.setting.canonical import Fault, NodeAttributes, Route, RunSection, Setting
    from pyorch.traffic.base import Flows
    from pyorch.traffic.connections import Connections

    Tables = dict[str, dict[str, NDArray[Any]]]
else:
    simulated = Later("pyorch.network.apart")

#: In what cppyy raises for anything else than a std::exception.
_UNKNOWN = "unknown C++ exception"
ALL_CLASSES = 0xFF
ANY_PEER = -1


class RunProblemsError(Exception):
    """The problems of a run, one a line."""

    headline = "the run failed"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def render(self) -> str:
        """Return the headline and the problems as text."""
        return "\n".join([f"{self.headline}:", *(f"  {problem}" for problem in self.problems)])


class RefusedError(RunProblemsError):
    """The configuration is impossible; nothing was simulated."""

    headline = "this configuration is impossible"


class WrongResultError(RunProblemsError):
    """The run ended, but broke a rule: bytes not conserved, or a lossless class lost frames."""

    headline = "the run ended with a wrong result"


class ModelError(RunProblemsError):
    """A C++ object threw an exception during the run."""

    headline = "a module aborted the run"


class OutOfMemoryError(RunProblemsError):
    """The run's records do not fit into the memory of the process."""

    headline = "not enough memory for this run"


def simulate(spec: RunSpec, simulation_class: SimulationClass, run: RunPaths) -> dict[str, float]:
    """Simulate a run and write its tables and summary.json into its folder.

    simulation_class: ns3::facade::Simulation, from `pyorch.run.ns3.load_simulation`. Returns the
    CPU time of each phase [s]: setup, run, write. Raises RefusedError before the simulation,
    WrongResultError after it (tables and summary are written nevertheless), OSError if a file
    cannot be written.
    """
    clock = _Phases()
    simulation = simulation_class(spec.seed)
    topology = set_up(simulation, spec, 1 if spec.threads == "auto" else spec.threads)
    clock.end("setup")
    advance(simulation, spec.setting.run, run)
    problems = _lines(simulation.Finish())
    clock.end("run")
    tables = read_tables(simulation, topology)
    for name, columns in tables.items():
        write_table(run, name, columns)
    summary = {
        "nodes": list(topology.end_names),
        "summary": {str(pair.first): _number(pair.second) for pair in simulation.GetSummary()},
        "metrics": {},
        "problems": problems,
        "warnings": _lines(simulation.Warnings()),
        "notes": _lines(simulation.Notes()),
    }
    if not problems:
        summary["metrics"] = _metrics(spec, summary, tables)
    with opened(run.summary, "w") as file:
        file.write(json.dumps(summary, indent=1) + "\n")
    clock.end("write")
    if problems:
        raise WrongResultError(problems)
    return clock.seconds


class _Phases:
    """CPU seconds of this process by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def end(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now


# ---------------------------------------------------------------------------------------------
# RunSpec -> Simulation


def set_up(simulation: Simulation, spec: RunSpec, threads: int = 1) -> Topology:
    """Build the network of a RunSpec in a new Simulation, with its traces, and return it.

    threads: that will run it; more than one leave no room for callbacks of Python. Raises
    RefusedError with the modules' objections.
    """
    try:
        network = configure(simulation, spec.setting, spec.seed)
        apart = simulated.Apart(network)
        if threads > 1:
            simulation.SetThreads(threads)
        simulation.Build()
        problems = _lines(simulation.Check())
        for trace in spec.setting.traces:  # only objects that exist can be traced
            ports = [apart.port(*_port(network, *port)) for port in trace.ports]
            # an empty array has no address to pass; its length says that it is empty
            nodes = _array([node for node, _ in ports] or [0], "uint32")
            peers = _array([peer for _, peer in ports] or [ANY_PEER], "int64")
            mask = sum(1 << number for number in set(trace.classes)) or ALL_CLASSES
            simulation.Trace(trace.table, nodes, peers, len(ports), mask, trace.period)
    except Exception as error:
        said = _said_by_module(error)
        if said is None:
            raise
        raise RefusedError([said]) from error
    if problems:
        raise RefusedError(problems)
    return network


def _said_by_module(error: Exception) -> str | None:
    """The message of an exception of C++; None for one of Python."""
    if type(error).__module__.startswith("cppyy.gbl"):
        thrown: Any = error
        return _with_keys(str(thrown.what()))
    if type(error) is Exception and _UNKNOWN in str(error):
        return "a module threw something that is no std::exception, so that it has no message"
    return None


def configure(simulation: Simulation, setting: Setting, seed: int) -> Topology:
    """Configure a new Simulation for a run without building it, and return its network."""
    from pyorch.network import topology as topologies
    from pyorch.traffic import base as traffic

    run = setting.run
    simulation.SetSimulator(run.simulator)
    for type_id, attributes in setting.attributes.items():
        for name, value in attributes.items():
            simulation.SetAttribute(type_id, name, value)
    for type_id in setting.flow_control:
        simulation.AddFlowControl(type_id)
    for type_id in setting.agents:
        simulation.AddAgent(type_id)
    for type_id in setting.host_agents:
        simulation.AddHostAgent(type_id)
    simulation.SetForwarding(setting.forwarding)
    simulation.SetBufferPolicy(setting.buffer_policy)
    simulation.SetCongestionControl(setting.congestion_control)
    simulation.SetAllowLoss(run.allow_loss)
    simulation.SetRepeats(run.repeats)
    simulation.SetStopWhenDone(bool(run.stop_when_done), run.stop_when_done == "acked")
    simulation.SetDeadlockTest(run.deadlock_test, run.stop_on_deadlock)
    if not run.oracle:
        simulation.SwitchOffOracle()
    network = topologies.build(setting.topology)
    apart = simulated.Apart(network)
    _add_topology(simulation, network, apart)
    _set_nodes(simulation, apart, setting.nodes)
    for route in setting.routes:
        _divert(simulation, route, apart)
    _add_flows(simulation, traffic.flows(setting.traffic, network, seed, run.duration), apart)
    _add_faults(simulation, setting.faults, apart)
    return network


def _add_faults(simulation: Simulation, faults: Sequence[Fault], apart: Apart) -> None:
    network = apart.network
    for fault in faults:
        if fault.place is not None:
            name, _, neighbour = fault.place.partition(":")
            fault.tell(simulation, *apart.port(*_port(network, name, neighbour)))
            continue
        for node in apart.nodes(network.numbers[fault.host]):
            fault.tell(simulation, node, ANY_PEER)


def _divert(simulation: Simulation, route: Route, apart: Apart) -> None:
    node, neighbour = apart.port(*_port(apart.network, route.switch, route.next))
    until = NEVER if route.until is None else route.until
    for dst in apart.nodes(apart.network.numbers[route.dst]):
        simulation.DivertRoute(node, dst, neighbour, route.at, until)


def _add_topology(simulation: Simulation, network: Topology, apart: Apart) -> None:
    simulation.AddNodes(apart.kinds, "\n".join(apart.names), len(apart.names))
    simulation.AddLinks(*apart.links, network.rates, network.delays, len(network.a))
    for nodes in apart.groups:
        simulation.SetHostPorts(nodes, len(nodes))
    size = network.server_size
    if size > 1:
        rate, delay = network.scale_up or (0, 0)
        for first in range(0, len(network.hosts), size):
            hosts = network.hosts[first : first + size]
            simulation.AddServer(hosts, size, rate, delay, network.failover)
    for link, down_ps, up_ps in network.failures:
        simulation.FailLink(link, down_ps, up_ps)


def _set_nodes(simulation: Simulation, apart: Apart, entries: Sequence[NodeAttributes]) -> None:
    """Set the attributes of single nodes and ports; a later entry overrides an earlier one."""
    network = apart.network
    for entry in entries:
        for owner in entry.nodes:
            name, _, neighbour = owner.partition(":")
            port = apart.port(*_port(network, name, neighbour)) if neighbour else None
            for type_id, attributes in entry.attributes.items():
                for key, value in attributes.items():
                    if port is not None:
                        simulation.SetPortAttribute(*port, type_id, key, value)
                        continue
                    for node in apart.nodes(network.numbers[name]):
                        simulation.SetNodeAttribute(node, type_id, key, value)


def _port(network: Topology, name: str, neighbour: str) -> tuple[int, int]:
    """Return a port by names that were checked before."""
    port = network.port(name, neighbour)
    assert port is not None, f"{name}:{neighbour}"  # noqa: S101
    return port


def _add_flows(simulation: Simulation, flows: Flows, apart: Apart) -> None:
    count = len(flows)
    if count == 0:
        return
    simulation.AddFlows(
        flows.src,
        flows.dst,
        flows.sizes,
        flows.starts,
        flows.stops,
        flows.classes,
        flows.rates,
        flows.windows,
        count,
    )
    if flows.waits is not None:
        waits = flows.waits
        simulation.AddDependencies(waits.flows, waits.after, waits.delays, len(waits))
    if flows.nics is not None and len(flows.nics):
        nics = flows.nics
        simulation.SetNics(nics.flows, apart.of(nics.leaves), apart.of(nics.arrives), len(nics))
    for entry, values in flows.queue_pairs.items():
        own = flows.of_entry(entry).astype(np.uint32)
        for name, value in values.items() if len(own) else ():
            simulation.SetFlowAttribute(own, len(own), name, value)
    if flows.connections is not None:
        _connect(simulation, flows.connections)
    for flow, (on_ps, off_ps) in flows.on_off.items():
        simulation.SetOnOff(flow, on_ps, off_ps)
    _set_paths(simulation, flows, apart)


def _connect(simulation: Simulation, made: Connections) -> None:
    if len(made.messages):
        simulation.AddShares(made.messages, made.sizes, len(made.messages))
    if len(made.flows):
        simulation.SetConnections(made.flows, made.queue_pairs, len(made.flows))
    simulation.SetSourcePorts(made.owners, made.ports, len(made.owners))


def _set_paths(simulation: Simulation, flows: Flows, apart: Apart) -> None:
    if flows.paths:
        simulation.SetPaths(*apart.flat(flows.paths), len(flows.paths))
    if flows.ack_paths:
        simulation.SetAckPaths(*apart.flat(flows.ack_paths), len(flows.ack_paths))
    if flows.ack_reverse:
        reverse = flows.ack_reverse_of_all()
        numbers, ways = _array(list(reverse), "uint32"), _array(list(reverse.values()), "uint8")
        simulation.SetAckRouting(numbers, ways, len(reverse))


def _array(values: Sequence[int], kind: str) -> NDArray[Any]:

    return np.array(values, dtype=kind)


# ---------------------------------------------------------------------------------------------
# Simulation -> files


def advance(simulation: Simulation, settings: RunSection, run: RunPaths) -> None:
    """Simulate to the end given by [run], in slices, and keep the heartbeat going.

    The ends of slices count as events, so they are the same on every machine.
    """
    end_ps = settings.latest_end
    # so that the heartbeat continues meanwhile; nothing called here calls Python
    run_of_class: Any = getattr(type(simulation), "Run", simulation.Run)
    run_of_class.__release_gil__ = True
    with heartbeat_of(simulation, settings, run):
        for number in range(1, SLICES + 1):
            if not run_until(simulation, end_ps * number // SLICES, end_ps):
                break


def heartbeat_of(simulation: Simulation, settings: RunSection, run: RunPaths) -> Heartbeat:
    """Create the heartbeat of a run; it reads only what may be read while the run goes on."""
    end_ps = settings.latest_end

    def done() -> float:
        """The share of the time or, if the run stops when all is delivered, of the payload."""
        share = int(simulation.Now()) / end_ps
        delivered = float(simulation.GetDeliveredShare())
        return max(share, delivered) if settings.stop_when_done else share

    def moved() -> tuple[float, int]:
        """Payload of messages on the network, and the number of all that have arrived.

        When all have arrived nothing can stall, and time is what moves.
        """
        delivered = float(simulation.GetDeliveredShare())
        if delivered >= 1:
            return delivered, int(simulation.Now())
        return delivered, int(simulation.GetFinishedFlows())

    return Heartbeat(run.heartbeat, done, now=lambda: int(simulation.Now()), moved=moved)


def run_until(simulation: Simulation, until_ps: int, end_ps: int) -> bool:
    """Simulate up to a time [ps]. Raises OutOfMemoryError, ModelError."""
    try:
        return bool(simulation.Run(until_ps))
    except Exception as error:
        where = f"it was at {format_time(simulation.Now())} of {format_time(end_ps)}"
        if not isinstance(error, MemoryError) and type(error).__name__ != "bad_alloc":
            said = _said_by_module(error)
            if said is None:
                raise
            raise ModelError([said, where]) from error
        hint = "trace fewer ports and classes, or by a period; or make the run shorter"
        raise OutOfMemoryError([where, hint]) from error


def read_tables(simulation: Simulation, network: Topology) -> Tables:
    """The result tables as arrays in C++ memory: valid as long as the Simulation exists.

    Columns of nodes have the numbers of the network; they are copies if these are others.
    """
    apart = simulated.Apart(network)
    tables: Tables = {}
    for table in range(simulation.GetNTables()):
        rows = int(simulation.GetNRows(table))
        columns = {
            str(simulation.GetColumnName(table, column)): _view(
                simulation.GetColumnData(table, column),
                str(simulation.GetColumnType(table, column)),
                rows,
            )
            for column in range(simulation.GetNColumns(table))
        }
        tables[str(simulation.GetTableName(table))] = apart.told(columns)
    return tables


def _view(address: int, kind: str, rows: int) -> NDArray[Any]:
    """An array over `rows` values of a type at an address, without a copy; not writable."""
    dtype: np.dtype[Any] = np.dtype(kind)
    if rows == 0:  # an empty C++ vector may have no address
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (rows * dtype.itemsize)).from_address(int(address))
    array: NDArray[Any] = np.frombuffer(memoryview(memory), dtype)
    array.flags.writeable = False
    return array


def write_table(run: RunPaths, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write a table as Parquet; equal columns give equal bytes. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # from_buffers instead of pa.array, which imports pandas (0.4 s) to inspect an ndarray
    arrays = [
        pa.Array.from_buffers(pa.from_numpy_dtype(c.dtype), len(c), [None, pa.py_buffer(c)])
        for c in columns.values()
    ]
    table = pa.Table.from_arrays(arrays, names=list(columns))
    with opened(run.table(name), "wb") as file:
        pq.write_table(table, file, compression="zstd", store_schema=False)


def _metrics(spec: RunSpec, summary: Mapping[str, Any], tables: Tables) -> dict[str, Any]:
    from pyorch.plan import metrics_digest

    run = RunTables(spec.setting, spec.seed, summary["nodes"], summary["summary"], tables)
    return {metrics_digest(spec.metrics): compute(spec.metrics, run)}


def _number(value: float) -> int | float:
    """A count as an integer, so that it is written without '.0'."""
    number = float(value)
    return int(number) if number.is_integer() else number


def _lines(text: object) -> list[str]:
    return [_with_keys(line) for line in str(text).splitlines() if line.strip()]


def _with_keys(text: str) -> str:
    """Name attributes as experiment files do: "TelemetryHops of ns3::rdma::QueuePair"."""
    if " of ns3::" not in text:
        return text
    from pyorch.setting.attributes import Catalogue, snake_case

    def key(found: re.Match[str]) -> str:
        return f"{Catalogue.short_name(found[2])}.{snake_case(found[1])}"

    return re.sub(r"\b(\w+) of (ns3(?:::\w+)+)", key, text)
