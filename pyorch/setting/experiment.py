"""The experiment: the validated content of a file, and the entries of [run]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import Field

from pyorch.base.errors import suggest
from pyorch.base.fields import Table, Time, TrafficClass, WallTime
from pyorch.base.findings import Findings, Path
from pyorch.base.units import format_time
from pyorch.network.topology import Topology, check_link
from pyorch.setting.attributes import SAMPLED_PROBE, Catalogue
from pyorch.setting.canonical import (
    FAULTS,
    STORMS,
    Fault,
    ResumeStorm,
    RunSection,
    Setting,
    Trace,
)

MAX_SEEDS = 100_000
"""More seeds of one experiment than this must be a mistake."""
MAX_THREADS = 1024
"""More threads of one run than this must be a mistake."""
MAX_SAMPLES = 10**10
"""More samples of a trace, over its ports and classes, than this must be a mistake."""


class RunTable(RunSection):
    """How long a run is, what counts as a success, and which seeds there are.

    The seeds, `time_limit` and `threads` belong to the experiment as a whole.
    """

    seeds: int | list[int] | str = Field(
        default=1,
        description="How many seeds (1, 2, ...), a list of them, or a range: '1001-1500'.",
    )
    time_limit: WallTime | None = Field(
        default=None,
        description="Wall time after which a run is ended and has failed; none: no limit. It "
        "changes no result.",
    )
    threads: Annotated[int, Field(ge=1, le=MAX_THREADS)] | Literal["auto"] = Field(
        default=1,
        description="Threads of each run; 'auto': as many as there are cores for it, where there "
        "are fewer runs than cores. They change no result.",
    )

    @property
    def section(self) -> RunSection:
        """The part that belongs to each run."""
        return RunSection.model_construct(**{name: getattr(self, name) for name in _OF_RUNS})


_OF_RUNS = tuple(RunSection.model_fields)


class TraceTable(Table):
    """[[trace]]: a table to record, for some ports and classes; by default for all."""

    table: str = Field(description="One of `pyorch docs tables`; `flow` is always recorded.")
    ports: list[str] = Field(
        default=[],
        min_length=1,
        description="Ports: 's0:h0' is that of s0 towards h0, for `flow_rate` 'h0:s0'; none: all.",
    )
    classes: list[TrafficClass] = Field(
        default=[], min_length=1, description="Traffic classes; none: all."
    )
    period: Time = Field(
        default=0,
        description="Time between samples of tables that can be sampled; 0: record every change.",
    )

    def recorded(self) -> Trace:
        """What a run records for this entry."""
        ports = sorted({tuple(port.split(":")) for port in self.ports})
        classes = sorted(set(self.classes)) or list(range(8))
        return Trace.model_construct(
            table=self.table, ports=[*map(list, ports)], classes=classes, period=self.period
        )


@dataclass(frozen=True)
class Point:
    """One setting of an experiment, and its network."""

    setting: Setting
    network: Topology

    @property
    def params(self) -> Mapping[str, Any]:
        """The variant and the swept values."""
        return self.setting.params


@dataclass(frozen=True)
class Experiment:
    """A valid experiment file.

    name: path below experiments/ without ".toml". label: the file as messages name it. folder: of
    the file. seeds, time_limit [s], threads: as the file says. variants: their names. sweep: swept
    keys and values. points: every setting, variants outermost. metrics, figures, expects: models of
    pyorch.metrics and pyorch.report. kinds: texts of the files with kinds of its own, by name.
    types: of the modules against which it was checked, None if it was not. replaced: keys of the
    file that every variant replaces, so that they are in force in no run.
    """

    name: str
    file: FilePath
    label: str
    title: str
    question: str
    source: str
    seeds: tuple[int, ...]
    variants: tuple[str, ...]
    sweep: Mapping[str, Sequence[Any]]
    points: tuple[Point, ...]
    metrics: tuple[Any, ...] = ()
    figures: tuple[Any, ...] = ()
    expects: tuple[Any, ...] = ()
    types: Catalogue | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    time_limit: int | None = None
    threads: int | Literal["auto"] = 1
    replaced: tuple[str, ...] = ()

    @property
    def folder(self) -> FilePath:
        """The folder of the file and of the files that it names."""
        return self.file.parent


def resolve_run(data: object, findings: Findings) -> RunTable | None:
    """Validate [run]."""
    run = findings.validate(RunTable, {} if data is None else data, ("run",))
    if run is None:
        return None
    if run.warmup >= run.duration:
        findings.add(("run", "warmup"), "the warm-up covers the whole run", "below run.duration")
        return None
    if not seeds_of(run):
        what = f"{run.seeds!r} is not allowed"
        allowed = f"a count from 1 to {MAX_SEEDS}, a list of different seeds from 1, or '1001-1500'"
        findings.add(("run", "seeds"), what, allowed)
        return None
    return run


def seeds_of(run: RunTable) -> tuple[int, ...]:
    """Return the seeds that [run] asks for; none if they are not allowed."""
    if isinstance(run.seeds, int):
        return tuple(range(1, run.seeds + 1)) if run.seeds <= MAX_SEEDS else ()
    seeds = _range(run.seeds) if isinstance(run.seeds, str) else run.seeds
    good = all(1 <= seed < 2**32 for seed in seeds) and len(set(seeds)) == len(seeds)
    return tuple(seeds) if good and len(seeds) <= MAX_SEEDS else ()


def _range(text: str) -> Sequence[int]:
    """Return the seeds of a range such as "1001-1500"; none for any other text."""
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1) if first.isdecimal() and last.isdecimal() else ()


_PFC = "ns3::pfc::Pfc"


def resolve_faults(
    entries: Sequence[Any],
    network: Topology,
    duration_ps: int,
    flow_control: Sequence[str],
    findings: Findings,
) -> list[Fault]:
    """Validate [[fault]] entries. flow_control: TypeIds of the run."""
    faults = []
    for number, entry in enumerate(entries):
        path: Path = ("fault", str(number))
        fault = findings.validate_kind("fault", FAULTS, entry, path)
        if fault is None:
            continue
        if fault.place is not None:
            check_port(fault.place, network, findings, (*path, "port"))
        elif not network.is_host(fault.host):
            hint = suggest(fault.host, network.host_names)
            findings.add((*path, "host"), f"there is no host {fault.host!r}", None, hint)
        if isinstance(fault, ResumeStorm) and _PFC not in flow_control:
            what = "only PFC sends frames that resume a class without reason"
            findings.add(path, what, 'flow_control = ["pfc"]')
        if fault.start >= duration_ps:
            what = "begins at or after the end of the run"
            findings.add((*path, "start"), what, "before run.duration")
        stop = fault.stop if isinstance(fault, STORMS) else None
        if stop is not None and stop <= fault.start:
            findings.add((*path, "stop"), "not after start", "a time after 'start'")
        faults.append(fault)
    return faults


#: Tables that are filled from what the oracle of deadlocks finds.
OF_ORACLE = frozenset({"deadlock", "detection", "pause_tree"})
#: Prefixes of types whose modules are part of every run.
_EVERY_RUN = ("ns3::deadlock::", "ns3::lossless::", "ns3::observe::", "ns3::rdma::")


def resolve_traces(
    entries: Sequence[Any],
    network: Topology,
    run: RunTable | None,
    findings: Findings,
    types: Catalogue | None,
) -> list[Trace]:
    """Validate [[trace]] entries; return what is to be recorded, ports and classes sorted.

    run: by which absurdly short periods are refused, and tables without their oracle.
    """
    traces = []
    duration_ps = run.duration if run else 0
    for number, entry in enumerate(entries):
        path: Path = ("trace", str(number))
        trace = check_trace(entry, findings, path, types)
        if trace is None:
            continue
        if trace.table in OF_ORACLE and run is not None and not run.oracle:
            what = f"the table {trace.table!r} needs the oracle, and run.oracle is false"
            findings.add((*path, "table"), what, None, "leave one of the two out")
        for at, port in enumerate(trace.ports):
            check_port(port, network, findings, (*path, "ports", str(at)))
        recorded = trace.recorded()
        series = (len(recorded.ports) or 2 * len(network.a)) * len(recorded.classes)
        if trace.period and duration_ps // trace.period * series > MAX_SAMPLES:
            least = format_time(-(-duration_ps * series // MAX_SAMPLES))
            what = f"{format_time(trace.period)}: {duration_ps // trace.period:.3g} samples"
            what += f" of each of {series} queues"
            findings.add((*path, "period"), what, f"from {least}, in a run of that length")
            continue
        probe = types.tables[trace.table].name if types and trace.table in types.tables else ""
        if probe and not probe.startswith(_EVERY_RUN):
            recorded = recorded.model_copy(update={"probe": probe})
        traces.append(recorded)
    return traces


def check_trace(
    entry: object, findings: Findings, path: Path, types: Catalogue | None
) -> TraceTable | None:
    """Validate a [[trace]] entry except its ports, which depend on a network."""
    trace = findings.validate(TraceTable, entry, path)
    if trace is not None and types is not None:
        probe = types.tables.get(trace.table)
        if probe is None:
            findings.unknown((*path, "table"), "table", trace.table, types.tables)
        elif trace.period and not types.derives(probe, SAMPLED_PROBE):
            what = f"the table {trace.table!r} is recorded event by event"
            findings.add((*path, "period"), what, "no period")
    return trace


def check_port(port: str, network: Topology, findings: Findings, path: Path) -> bool:
    """Note a problem unless "s0:h0" is a port of the network."""
    ends = port.split(":")
    if len(ends) != 2:
        what = f"{port!r} is not a port"
        findings.add(path, what, "NODE:NEIGHBOUR, such as s0:h0 for the port of s0 towards h0")
        return False
    return check_link(network, ends, findings, path)
