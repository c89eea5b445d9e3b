"""A single run in this process, step by step: its network, trace sources and tables.

For inspection in a notebook or a program. `Study.run` performs the runs of a study, each in a
separate process: here, an abort of the simulator ends this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import UserError, refusal
from pyorch.base.findings import Findings
from pyorch.base.lazy import pd
from pyorch.base.units import format_time, parse_time
from pyorch.engine.progress import SLICES
from pyorch.metrics import known_numbers
from pyorch.network.apart import Apart
from pyorch.network.topology import Topology
from pyorch.report.planned import planned_map
from pyorch.run.callbacks import connect
from pyorch.run.ns3 import load_all
from pyorch.run.simulate import read_tables, run_until, set_up
from pyorch.setting.experiment import check_port

if TYPE_CHECKING:
    from pyorch.build import BuildInfo
    from pyorch.build.facade import Simulation
    from pyorch.pipeline import Plan
    from pyorch.plan import RunSpec


_loaded: dict[Path, Any] = {}
_open: list[OpenRun] = []
"""The run that is open: ns-3 has one clock a process."""


def _ns3(build: BuildInfo) -> Any:
    """ns-3 and our modules in this process, which can load them once. Raises UserError."""
    if build.folder not in _loaded:
        if _loaded:
            what = "this process has loaded an older version of the modules"
            raise refusal("open", what, hint="restart Python, or the kernel")
        _loaded[build.folder] = load_all(build)
    return _loaded[build.folder]


class OpenRun:
    """A run that is built and can be driven step by step.

    Opening another closes it, as when a notebook's cell is run again. spec: what it simulates.
    network: nodes and links. problems: errors of its result, once it has ended.
    """

    def __init__(self, plan: Plan, spec: RunSpec) -> None:
        """Build the run. Raises RefusedError when the modules refuse its configuration."""
        self.spec = spec
        self.ns3 = _ns3(plan.build)
        while _open:
            _open.pop().close()
        self._simulation: Simulation | None = self.ns3.facade.Simulation(spec.seed)
        _open.append(self)
        self.network: Topology = set_up(self.simulation, spec)
        self.problems: tuple[str, ...] | None = None

    @property
    def simulation(self) -> Simulation:
        """The ns3::facade::Simulation. Raises UserError when the run is closed."""
        if self._simulation is None:
            what = "it was closed, at the latest when another run was opened"
            raise refusal("this run", what, hint="keep copies of its tables")
        return self._simulation

    def close(self) -> None:
        """Delete the simulation, with its network. Tables that were read before stay."""
        self._simulation = None

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: its network, and where its flows go."""
        at = format_time(int(self.simulation.Now()))
        return planned_map(
            self.spec.setting, self.spec.seed, f"{self.spec.title}, at {at}"
        )._repr_html_()

    def port(self, name: str) -> Any:
        """The C++ port "s0:h0": the port of s0 towards h0. Raises UserError if there is none."""
        findings = Findings("port")
        if not check_port(name, self.network, findings, ()):
            raise UserError(findings.problems)
        port = Apart(self.network).port(*self.network.port(*name.split(":")) or (0, 0))
        return self.simulation.GetFabric().FindPort(*port)

    def connect(self, source: str, name: str, function: Callable[..., None]) -> int:
        """Connect a function to a trace source; return the number of sources connected.

        source: a port "s0:h0", or an ns3::Config path. Raises UserError if there is none.
        """
        return connect(source if source.startswith("/") else self.port(source), name, function)

    @property
    def now(self) -> str:
        """The simulated time."""
        return format_time(int(self.simulation.Now()))

    @cached_property
    def end_ps(self) -> int:
        """End time of the run [ps]: its duration plus the time it may drain."""
        return self.spec.setting.run.latest_end

    def advance(self, until: str = "") -> str:
        """Simulate up to a time such as "100us", by default the end; return the simulated time.

        Raises UserError for an invalid time, ModelError, and exceptions of connected functions.
        """
        goal = min(_time(until), self.end_ps) if until else self.end_ps
        if self.problems is not None:
            return self.now
        for number in range(1, SLICES + 1):  # as a run of the engine does: its slices are events
            slice_end = self.end_ps * number // SLICES
            if slice_end <= int(self.simulation.Now()):
                continue
            goes_on = run_until(self.simulation, min(slice_end, goal), self.end_ps)
            if not goes_on or slice_end >= self.end_ps == goal:
                self.problems = tuple(str(self.simulation.Finish()).splitlines())
            if not goes_on or slice_end >= goal:
                break
        return self.now

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The traced tables so far; once the run has ended, the flows, too."""
        return {
            name: pd.DataFrame({key: values.copy() for key, values in columns.items()})
            for name, columns in read_tables(self.simulation, self.network).items()
        }

    @property
    def summary(self) -> dict[str, float | None]:
        """The summary of the run, empty before its end.

        None: the time of an event that never occurred.
        """
        numbers = {str(p.first): float(p.second) for p in self.simulation.GetSummary()}
        return known_numbers(numbers)


def _time(text: str) -> int:
    """The time of a text [ps]. Raises UserError if it is none."""
    try:
        return parse_time(text)
    except ValueError as error:
        allowed = 'simulated time, such as "100us" or "1.5ms"'
        raise refusal("advance: until", str(error), allowed) from error
