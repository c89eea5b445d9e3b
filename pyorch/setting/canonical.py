"""A setting: what the runs of one point of an experiment share, as types and as canonical JSON.

Kinds of topologies and traffic are the models of their registries; the JSON has their values as
integers in bit/s, ps and bytes (`pyorch.base.fields.encode`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator
from typing_extensions import override

from pyorch.base.fields import NEVER, Duration, Rate, Table, Time, TrafficClass, Until
from pyorch.base.fields import decode as decode_table
from pyorch.base.fields import encode as encode_table
from pyorch.base.fingerprint import types_in
from pyorch.network import topology
from pyorch.network.topology import TopologyTable
from pyorch.setting.attributes import DEFAULTS, OPTIONAL
from pyorch.traffic import base as traffic
from pyorch.traffic.base import TrafficTable

if TYPE_CHECKING:
    from pyorch.build.facade import Simulation

SCHEMA = 1
"""Version of the canonical form of a run."""
TYPELESS = ("topology", "traffic", "params", "metrics", "kinds", "packages")
"""Keys of a run that do not contain names of ns-3 types."""

Attributes = Mapping[str, Mapping[str, str]]
"""TypeId -> attribute -> value in ns-3's spelling."""


class RunSection(Table):
    """How long a run is, and what counts as a success: [run] without its seeds."""

    left_out = frozenset({"oracle", "repeats"})

    duration: Duration = Field(description="Flows start in [0, duration).")
    warmup: Time = Field(default=0, description="Metrics ignore this time.")
    drain: Time = Field(default=0, description="Added after the duration, for flows to finish.")
    allow_loss: bool = Field(
        default=False,
        description="Accept lost frames of lossless classes, and less headroom than the flow "
        "controls demand.",
    )
    stop_when_done: bool | Literal["acked"] = Field(
        default=False,
        description="End once every finite flow has been received; 'acked': once every "
        "sender has its last ACK.",
    )
    deadlock_test: Time = Field(
        default=100_000_000,
        description="Interval between checks for deadlocks; 0: only at the end. When one "
        "formed is exact in any case.",
    )
    stop_on_deadlock: bool = Field(
        default=False, description="End at the first check that finds a cyclic deadlock."
    )
    simulator: Literal[
        "ns3::eventloop::CellLoop", "ns3::eventloop::EventLoop", "ns3::DefaultSimulatorImpl"
    ] = Field(
        default="ns3::eventloop::CellLoop",
        description="ns-3's implementation of the event loop. CellLoop orders events of the same "
        "time by place; EventLoop and, more slowly, DefaultSimulatorImpl by when they were "
        "scheduled: their results are the same, and differ from CellLoop's in such ties.",
    )
    oracle: bool = Field(
        default=True,
        description="False: deadlocks are not tracked, and pauses cost less to simulate.",
    )
    repeats: Literal["off", "verify", "on"] = Field(
        default="off",
        description="on: what a network repeats exactly, period by period, is skipped; the results "
        "are the same bytes. verify: it is simulated, and compared with what would be skipped. "
        "What was skipped, and what was not and why, is among the notes of a run.",
    )

    @model_validator(mode="after")
    def _check_oracle(self) -> RunSection:
        if self.stop_on_deadlock and not self.oracle:
            raise ValueError("'stop_on_deadlock' needs the oracle: leave 'oracle = false' out")
        return self

    @property
    def latest_end(self) -> int:
        """When a run ends at the latest [ps]."""
        return self.duration + self.drain


class Fault(Table):
    """A fault of a host, or of a port."""

    kind: str
    host: str = Field(description="The host.")
    start: Time = Field(default=0, description="When it begins.")

    @property
    def place(self) -> str | None:
        """The port that is faulty, "s0:h0"; None: those of the host."""
        return None

    def tell(self, simulation: Simulation, node: int, peer: int) -> None:
        """Add the fault of a node, by its number, to a Simulation, before it is built.

        peer: the node to which its port leads; -1: every port of the node.
        """
        raise NotImplementedError


class SlowReceiver(Fault):
    """A host that accepts data at a rate below its link's; rate 0 restores line rate."""

    kind: Literal["slow_receiver"]
    rate: Rate = Field(description="Rate at which it accepts data; 0: line rate.")

    @override
    def tell(self, simulation: Simulation, node: int, peer: int) -> None:
        simulation.SetReceiveRate(node, self.rate, self.start)


class _Storm(Fault):
    """Control frames that a faulty port sends, whatever its node holds."""

    left_out: ClassVar[frozenset[str]] = frozenset({"off", "on", "port"})

    host: str | None = Field(default=None, description="The host whose port is faulty.")  # type: ignore[assignment]
    port: str | None = Field(
        default=None, description="Or the port, such as 's0:h0' for that of s0 towards h0."
    )
    traffic_class: TrafficClass = Field(
        default=3,
        alias="class",
        description="Class that the frames name. Where it is not lossless they are ignored.",
    )
    stop: Until = Field(default=None, description="When it ends; none: never.")

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.host is None) == (self.port is None):
            raise ValueError("either 'host' or 'port' is needed, and not both")
        return self

    @property
    @override
    def place(self) -> str | None:
        return self.port

    def _add(
        self, simulation: Simulation, port: tuple[int, int], times: tuple[int, int], resumes: int
    ) -> None:
        stop = NEVER if self.stop is None else self.stop
        simulation.AddStorm(*port, self.traffic_class, self.start, stop, *times, resumes)


class PauseStorm(_Storm):
    """A faulty port that keeps pausing its peer, from start to stop or the end."""

    kind: Literal["pause_storm"]
    on: Duration | None = Field(
        default=None, description="Length of each pause of a choppy storm; with 'off'."
    )
    off: Duration | None = Field(default=None, description="Gap between its pauses; with 'on'.")

    @model_validator(mode="after")
    def _check_pauses(self) -> Self:
        if (self.on is None) != (self.off is None):
            raise ValueError("'on' and 'off' need each other")
        return self

    @override
    def tell(self, simulation: Simulation, node: int, peer: int) -> None:
        on, off = self.on or 0, self.off or 0
        self._add(simulation, (node, peer), (on, off), 0)


class ResumeStorm(_Storm):
    """A faulty port that keeps telling its peer to send (XON), which ends pauses with a reason."""

    kind: Literal["resume_storm"]
    every: Duration = Field(description="Time between two of its frames.")

    @override
    def tell(self, simulation: Simulation, node: int, peer: int) -> None:
        self._add(simulation, (node, peer), (self.every, 0), 1)


STORMS = (PauseStorm, ResumeStorm)
FAULTS: dict[str, type[Fault]] = {
    "slow_receiver": SlowReceiver,
    "pause_storm": PauseStorm,
    "resume_storm": ResumeStorm,
}
"""Every kind of fault."""


class Trace(Table):
    """A table that is recorded for some ports (all if none is named) and classes.

    ports: (node, neighbour). probe: TypeId of the probe that fills the table, if its module is not
    part of every run, so that the run's name covers its code.
    """

    table: str
    ports: list[list[str]] = Field(default=[])
    classes: list[TrafficClass] = Field(default=[*range(8)])
    period: Time = 0
    probe: str | None = None


class Route(Table):
    """From `at` until `until` a switch sends traffic for a host to a neighbour."""

    switch: str
    dst: str
    next: str
    at: Time = 0
    until: Until = None


class NodeAttributes(Table):
    """Attributes that only some nodes have, by their names, or some ports, "s0:h0"."""

    nodes: list[str]
    attributes: dict[str, dict[str, str]]


class Around(NamedTuple):
    """What runs share: the JSON around their metrics and seed, and the types it names.

    head is before the metrics, middle between them and the seed, behind after the seed. behind is
    None if it depends on the seed, because links that fail are drawn from it.
    """

    head: str
    middle: str
    behind: str | None
    types: frozenset[str]

    def json(self, seed: object, metrics: str = "") -> str:
        """Return the JSON of a run; metrics: their key and value, none for what is hashed."""
        parts = (self.head, metrics, self.middle, f'"seed":{json.dumps(seed)}', self.behind)
        return f"{{{','.join(filter(None, parts))}}}"


@dataclass(frozen=True, eq=False)
class Setting:
    """One setting of an experiment; its runs differ in their seeds.

    topology: for an experiment's setting as in its file, for a run's with the failed links drawn.
    flow_control, agents, host_agents: TypeIds, as are congestion_control ("": none), forwarding and
    buffer_policy. params: the variant and the swept values. kinds: texts of the files with kinds of
    its own, by name; packages: releases of the installed packages that provide some.
    """

    experiment: str
    run: RunSection
    topology: TopologyTable
    traffic: Sequence[TrafficTable]
    attributes: Attributes = field(default_factory=dict)
    flow_control: Sequence[str] = ()
    agents: Sequence[str] = ()
    host_agents: Sequence[str] = ()
    congestion_control: str = DEFAULTS["congestion_control"]
    forwarding: str = DEFAULTS["forwarding"]
    buffer_policy: str = DEFAULTS["buffer_policy"]
    nodes: Sequence[NodeAttributes] = ()
    routes: Sequence[Route] = ()
    faults: Sequence[Fault] = ()
    traces: Sequence[Trace] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def around(self) -> Around:
        """What its runs share, which is most of the work of a hash."""
        return around_seed(encode(self))


#: Parts added later, omitted if they have these values, so that older runs keep their names.
_LEFT_OUT: Mapping[str, Any] = {**OPTIONAL, "kinds": {}, "packages": {}}
_TABLES: Mapping[str, type[Table]] = {
    "run": RunSection,
    "nodes": NodeAttributes,
    "routes": Route,
    "traces": Trace,
}
_OF_KINDS: Mapping[str, Mapping[str, type[Table]]] = {
    "topology": topology.KINDS,
    "traffic": traffic.KINDS,
    "faults": FAULTS,
}


def encode(setting: Setting) -> dict[str, Any]:
    """Return the canonical form of a setting."""
    parts = {part.name: getattr(setting, part.name) for part in fields(setting)}
    kept = {key: value for key, value in parts.items() if value != _LEFT_OUT.get(key, ...)}
    return {"schema": SCHEMA, **{key: _encode(value) for key, value in kept.items()}}


def behind_seed(setting: Setting) -> str:
    """Return `Around.behind` of a setting."""
    names = (part.name for part in fields(setting) if part.name > "seed")
    return _items({name: _encode(getattr(setting, name)) for name in names})


def decode(form: Mapping[str, Any]) -> Setting:
    """Return the setting of a canonical form; its own kinds must be active (`pyorch.kinds`).

    Raises ValueError if it is not one.
    """
    try:
        parts = {key: _decode(key, value) for key, value in form.items()}
        if parts.pop("schema") != SCHEMA:
            raise ValueError("of another version")
        return Setting(**parts)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a canonical form: {error}") from error


def canonical_json(form: object) -> str:
    """Return JSON in its one spelling: sorted keys, no spaces, ASCII."""
    return json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)


def around_seed(form: Mapping[str, Any]) -> Around:
    """Return the parts of a run's canonical form other than its metrics and seed."""
    return Around(
        _items({key: form[key] for key in form if key < "metrics"}),
        _items({key: form[key] for key in form if "metrics" < key < "seed"}),
        _items({key: form[key] for key in form if key > "seed"}),
        frozenset(types_in({key: form[key] for key in form if key not in TYPELESS})),
    )


def _items(form: Mapping[str, Any]) -> str:
    return canonical_json(form)[1:-1]


def _encode(value: Any) -> Any:
    if isinstance(value, Table):
        return encode_table(value)
    if isinstance(value, list | tuple):
        return [_encode(entry) for entry in value]
    return value


def _decode(key: str, value: Any) -> Any:
    if key not in _TABLES and key not in _OF_KINDS:
        return value
    if isinstance(value, list):
        return [_decode(key, entry) for entry in value]
    return decode_table(_TABLES.get(key) or _OF_KINDS[key][value["kind"]], value)
