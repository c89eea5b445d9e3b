"""Traffic: from the [[traffic]] entries of a file to flat arrays of flows.

The kinds are in kinds and messages, and in packages. Random choices of an entry
come from a generator seeded only by the seed of the run and the number of the entry, so that one
seed gives the same flows under every scheme.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from pyorch.base.errors import code_of, refusal, suggest
from pyorch.base.fields import (
    NEVER,
    Duration,
    Kind,
    LinkRate,
    Size,
    Time,
    TrafficClass,
    Window,
    decode,
    encode,
)
from pyorch.base.findings import Findings, Path
from pyorch.base.lazy import Kinds
from pyorch.base.reading import is_file
from pyorch.base.units import MAX_TIME, whole
from pyorch.network.topology import Topology
from pyorch.traffic import links
from pyorch.traffic.connections import (
    MOST_QUEUE_PAIRS,
    Connections,
    Use,
    connect,
    source_ports,
)
from pyorch.traffic.parts import Parts
from pyorch.traffic.paths import AckPath, NodePath, PathBook, check_path

#: More flows of a run than this must be a mistake: they would need gigabytes.
MAX_FLOWS = 5_000_000
POINT = 1 << 31
"""First number of points, which wait and are waited for like flows, but send nothing."""
RECOVERIES = {"none": "None", "go_back_n": "GoBackN", "selective": "Selective"}
"""Loss recoveries, and what the modules call them."""
_RANGE = re.compile(r"([A-Za-z_-]*)(\d+)\.\.([A-Za-z_-]*)(\d+)")


@dataclass(frozen=True)
class Waits:
    """Flows that wait for others; all arrays have the shape (edges,).

    flows[i] starts at the earliest `delays[i]` [ps] after flow `after[i]` has been received whole.
    Either may be a point, POINT + its number; one that waits for nothing occurs at time 0. points:
    the number of points.
    """

    flows: npt.NDArray[np.uint32]
    after: npt.NDArray[np.uint32]
    delays: npt.NDArray[np.int64]
    points: int = 0

    def __len__(self) -> int:
        return len(self.flows)

    def behind(self, flow: int, point: int) -> Waits:
        """Return the waits with flows and points renumbered from `flow` and `point`."""
        flows, after = (
            np.where(ids >= POINT, ids + np.uint32(point), ids + np.uint32(flow)).astype(np.uint32)
            for ids in (self.flows, self.after)
        )
        return Waits(flows, after, self.delays, self.points)


@dataclass(frozen=True)
class Nics:
    """Flows that leave or arrive through other hosts than their ends; arrays of shape (flows,).

    Of a host with several links it is the end of the link, see `Topology.host_ends`.
    """

    flows: npt.NDArray[np.uint32]
    leaves: npt.NDArray[np.uint32]
    arrives: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.flows)


@dataclass(frozen=True)
class Flows:
    """Flows in the order of the traffic entries; all arrays have the shape (flows,).

    sizes: payload bytes, 0: greedy. starts, stops: ps, stop -1: never. classes: 0..7. rates: cap in
    bit/s, 0: none. windows: bytes in flight, 0: no limit; both of a flow's queue pair, or of each
    of its shares. groups: number of the traffic entry of each flow. labels: name of each entry.
    queue_pairs: entry -> attributes of its flows' queue pairs that differ from [queue_pair].
    on_off: flow -> (on_ps, off_ps). paths: flow -> numbers of all nodes from source to destination.
    ack_paths: the same from destination to source. ack_reverse: flow -> whether its ACKs take its
    path backwards, else ECMP; those of a flow in neither take its path backwards, if it has one.
    waits: between flows, if any. nics: numbers of flows that leave or arrive by other hosts of
    their servers, and these hosts. connections: of flows that do not have a queue pair each.
    """

    src: npt.NDArray[np.uint32]
    dst: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    classes: npt.NDArray[np.uint8]
    rates: npt.NDArray[np.uint64]
    windows: npt.NDArray[np.uint64]
    groups: npt.NDArray[np.uint32]
    labels: tuple[str, ...]
    queue_pairs: dict[int, dict[str, str]] = field(default_factory=dict)
    on_off: dict[int, tuple[int, int]] = field(default_factory=dict)
    paths: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)
    ack_paths: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)
    ack_reverse: dict[int, bool] = field(default_factory=dict)
    waits: Waits | None = None
    nics: Nics | None = None
    connections: Connections | None = None

    def __len__(self) -> int:
        return len(self.src)

    def ends_on_network(
        self, network: Topology
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the hosts through which each flow leaves and arrives; by default its own ends.

        Of hosts with several links, the ends of these.
        """
        src, dst = self.src.copy(), self.dst.copy()
        if self.nics is not None:
            src[self.nics.flows], dst[self.nics.flows] = self.nics.leaves, self.nics.arrives
        if network.scale_up is not None:
            inside = network.servers[src] == network.servers[dst]
            dst[inside] = src[inside]
        return src, dst

    def ack_reverse_of_all(self) -> dict[int, bool]:
        """Return `ack_reverse` with the shares of messages, which are as their messages."""
        messages = [] if self.connections is None else self.connections.messages.tolist()
        shares = {
            share: self.ack_reverse[message]
            for share, message in enumerate(messages, start=len(self))
            if message in self.ack_reverse
        }
        return self.ack_reverse | shares

    def of_entry(self, number: int) -> npt.NDArray[np.int64]:
        """Return the flows of the traffic entry with a number."""
        return np.flatnonzero(self.groups == number)

    def payloads(self, usual: int) -> npt.NDArray[np.int64]:
        """Return the payload of a full packet of each flow [B]; usual: that of [queue_pair]."""
        found = np.full(len(self), usual, dtype=np.int64)
        for number, own in self.queue_pairs.items():
            found[self.of_entry(number)] = int(own.get("PayloadSize", usual))
        return found


@dataclass(frozen=True)
class Block:
    """The flows of one entry; numbers stand for all flows.

    paths: by flow, all its nodes. own_paths: by flow, its path and that of its ACKs, as in entries.
    waits: between these flows. channels: only flows of one channel share a connection.
    """

    src: npt.NDArray[np.uint32]
    dst: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint64] | int
    starts: npt.NDArray[np.int64] | int
    classes: npt.NDArray[np.uint8] | None = None
    paths: Sequence[npt.NDArray[np.uint32]] = ()
    own_paths: Sequence[tuple[list[str] | None, str | list[str] | None]] = ()
    waits: Waits | None = None
    channels: npt.NDArray[np.int64] | int = 0


@dataclass(frozen=True)
class Offered:
    """Traffic that arrives at random from begin to end [ps].

    rates: mean rate [bit/s] from each host to each other, (hosts, hosts), in the network's order.
    """

    begin: int
    end: int
    rates: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scene:
    """The data with which an entry is validated.

    folder: of the experiment file. workloads: folder of the shipped distributions. payload, header:
    bytes of a full data frame. duration_ps: of the run.
    """

    network: Topology
    folder: FilePath
    workloads: FilePath
    duration_ps: int
    payload: int = 1000
    header: int = 48


@dataclass
class Check:
    """Collects problems of one entry at keys inside it."""

    findings: Findings
    path: Path
    scene: Scene

    def add(self, key: str, what: str, allowed: str | None = None, hint: str | None = None) -> None:
        """Note a problem with a key of the entry."""
        at = tuple(part for part in key.split(".") if part)
        self.findings.add((*self.path, *at), what, allowed, hint)

    def host(self, key: str, name: str) -> bool:
        """Note a problem unless there is a host of that name."""
        network = self.scene.network
        if network.is_host(name):
            return True
        what = f"{name!r} is a switch" if name in network.numbers else f"there is no host {name!r}"
        first, last = network.names[network.hosts[0]], network.names[network.hosts[-1]]
        self.add(key, what, f"hosts {first} to {last}", suggest(name, network.host_names))
        return False

    def file(self, key: str, name: str) -> FilePath | None:
        """Return the file of that name beside the experiment; note a problem if there is none."""
        path = self.scene.folder / name
        if is_file(path):
            return path
        self.add(key, f"there is no file {name!r} next to the experiment file")
        return None

    def path_of(self, key: str, path: Sequence[str], ends: tuple[str, str]) -> None:
        """Note problems of the path of a flow, or that of its ACKs, given the flow's ends."""

        def tell(what: str, allowed: str | None, hint: str | None) -> None:
            self.add(key, what, allowed, hint)

        check_path(path, ends, self.scene.network, tell, back=key.startswith("ack"))

    def hosts(self, key: str, names: Sequence[str]) -> list[str] | None:
        """Return the hosts meant by names; note a problem and return None if there are none."""
        chosen: list[str] = []
        missing = False
        for name in names:
            found = expand_hosts(name, self.scene.network)
            if found is None and self.host(key, name):
                found = [name]
            chosen += found or []
            missing |= not found
        if missing:
            return None
        if len(set(chosen)) < len(chosen):
            self.add(key, "a host is listed twice", "each host once")
            return None
        return chosen


def expand_hosts(name: str, network: Topology) -> list[str] | None:
    """Return the hosts of "all", "h4..h7" or "leaf0:*" (all on leaf0); None for other text."""
    if name == "all":
        return [network.names[host] for host in network.hosts.tolist()]
    if name.endswith(":*") and name[:-2] in network.numbers:
        switch = network.numbers[name[:-2]]
        return [
            network.names[host]
            for host in network.hosts.tolist()
            if (network.leaves[network.host_ends(host)] == switch).any()
        ]
    match = _RANGE.fullmatch(name)
    if match is None or match[1] != match[3]:
        return None
    first, last = whole(match[2]), whole(match[4])
    # a range of more names than there are hosts is not expanded: it may have any length
    if first is None or last is None or not 0 <= last - first < len(network.hosts):
        return None
    names = [f"{match[1]}{number}" for number in range(first, last + 1)]
    return names if all(network.is_host(entry) for entry in names) else None


class TrafficTable(Kind):
    """The keys that every kind of traffic has.

    source: the paper that a kind comes from, if any.
    """

    source: ClassVar[str] = ""
    file_key: ClassVar[str] = ""
    """The key that names a file to read."""
    left_out = frozenset(
        {"connection", "dscp", "link", "nic", "payload_size", "queue_pairs", "retransmit", "split"}
        | {"start_jitter"}
    )

    label: str | None = Field(default=None, description="Name of its flows in tables and figures.")
    traffic_class: TrafficClass = Field(
        default=3, alias="class", description="Traffic class (priority) of its flows."
    )
    dscp: int | None = Field(
        default=None,
        ge=0,
        lt=64,
        description="Code point of its frames, by which switches may tell classes; none: that of "
        "[queue_pair], eight times the class unless set.",
    )
    start: Time = Field(default=0, description="When it begins.")
    start_jitter: Time = Field(
        default=0, description="Each flow starts later by up to this, drawn from the seed."
    )
    rate_cap: LinkRate | None = Field(
        default=None, description="Cap on the rate of each flow; its queue pairs share it."
    )
    window: Window = Field(
        default=0, description="Payload in flight of each flow, likewise; 0: no limit."
    )
    retransmit: Literal["none", "go_back_n", "selective"] | None = Field(
        default=None,
        description="Loss recovery of its flows instead of that of [queue_pair]; 'none': "
        "datagrams, of which all that arrive count.",
    )
    payload_size: Size | None = Field(
        default=None,
        le=9000,
        description="Payload of a full packet of its flows (MTU); none: as above.",
    )
    on: Duration | None = Field(default=None, description="Length of a burst; with 'off'.")
    off: Duration | None = Field(default=None, description="Gap between bursts; with 'on'.")
    nic: Literal["own", "rail", "hash"] = Field(
        default="own",
        description="Hosts of a server by which flows to other servers go: those named; the one at "
        "the destination's place in its server, reached over the scale-up domain; or by a hash.",
    )
    link: links.LinkRule = Field(
        default="hash",
        description="By which links of hosts with several a connection goes, among those between "
        "which the path is shortest: by its hash; in turn for each of the source's connections; "
        "at both ends by that of the same place, the n-th of channel n (rail); or by the first.",
    )
    connection: Literal["message", "pair"] = Field(
        default="message",
        description="One for each message; or one for all messages of the entry from a host to "
        "another: they go one after the other, and congestion control and path persist.",
    )
    queue_pairs: int = Field(
        default=1,
        ge=1,
        le=MOST_QUEUE_PAIRS,
        description="Queue pairs of a connection of a pair, each with a path, an order and a "
        "congestion control of its own (NCCL_IB_QPS_PER_CONNECTION).",
    )
    split: Literal["round-robin", "all"] = Field(
        default="round-robin",
        description="How they carry the messages: one each, in turn; or each message on all, in "
        "shares of a multiple of 128 B (NCCL_IB_SPLIT_DATA_ON_QPS).",
    )
    path: NodePath | None = Field(
        default=None, description="All nodes from source to destination, of a single flow."
    )
    paths: list[NodePath] | None = Field(
        default=None, min_length=1, description="Paths of the flows with the same ends."
    )
    ack_path: AckPath | None = Field(
        default=None,
        description="Path of ACKs, NACKs and CNPs: 'reverse' (as the data, backwards), 'ecmp', or "
        "all nodes from destination to source, of a single flow.",
    )
    ack_paths: list[NodePath] | None = Field(
        default=None,
        min_length=1,
        description="Paths of the ACKs of the flows with the same ends.",
    )

    def resolve(self, check: Check) -> TrafficTable | None:
        """Return the entry with names checked and files read; None after problems."""
        raise NotImplementedError

    def check_files(self, check: Check) -> None:
        """Note problems of the files that the entry names, without a network."""

    def pairs(self) -> list[tuple[str, str]] | None:
        """Ends of every flow if they are not random, else None. Canonical entries only."""
        return None

    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        """Return the flows. Canonical entries only."""
        raise NotImplementedError

    def count(self, network: Topology, duration_ps: int) -> float:  # noqa: ARG002 (some need them)
        """Return the approximate number of flows without making them. Canonical entries only."""
        pairs = self.pairs()
        return 1 if pairs is None else len(pairs)

    def offered(self, network: Topology, duration_ps: int) -> Offered | None:  # noqa: ARG002
        """Return its mean rates if it has a load or a period, else None. Canonical entries only."""
        return None

    def classes(self) -> set[int]:
        """Return the traffic classes of its flows. Canonical entries only."""
        return {self.traffic_class}

    def last_start(self) -> int:
        """Return the latest time [ps] at which the entry certainly starts a flow."""
        return self.start

    def queue_pair_attributes(self) -> dict[str, str]:
        """Return attributes of its flows' queue pairs, as the modules call them."""
        own = {
            "Dscp": self.dscp,
            "PayloadSize": self.payload_size,
            "Retransmit": self.retransmit and RECOVERIES[self.retransmit],
        }
        return {name: str(value) for name, value in own.items() if value is not None}

    def stop_ps(self) -> int:
        """Return when the sources stop [ps]; -1: never."""
        return NEVER

    def part_names(self) -> Sequence[str]:
        """Return the names of its parts, such as collectives."""
        return ()

    def parts(self) -> Parts | None:
        """Return which part each flow belongs to; None if it has none. Canonical entries only."""
        return None

    def on_time(self) -> TrafficTable:
        """Return the entry without what makes hosts late, such as stragglers and jitter."""
        return self

    def computations(
        self,
        network: Topology,  # noqa: ARG002 (jobs need them)
        seed: int,  # noqa: ARG002
        number: int,  # noqa: ARG002
        ends: npt.NDArray[np.int64],  # noqa: ARG002
    ) -> Sequence[tuple[int, int, int]]:
        """Return node, begin and end [ps] of what hosts computed in a run, beside waiting flows.

        number: of the entry. ends: of its flows [ps], -1: never. Canonical entries only.
        """
        return ()

    def doubts(self, network: Topology) -> Iterator[tuple[str, str]]:
        """Yield keys that have no effect, or contradict the network, and why. Canonical only."""
        if self.connection == "pair" and self.split == "all" and self.queue_pairs == 1:
            yield "split", "'all' divides nothing with one queue pair"
        if self.link != "hash" and not network.several:
            yield "link", "every host has one link"

    @classmethod
    def shown(cls, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a report shows of a canonical form."""
        return entry


KINDS: Kinds[type[TrafficTable]] = Kinds(
    {
        "pyorch.traffic.kinds": "greedy cycle ring incast permutation all_to_all poisson",
        "pyorch.traffic.messages": "messages",
    }
)
"""Every kind of traffic and the model of its entry."""

K = TypeVar("K", bound=type[TrafficTable])
E = TypeVar("E", bound=TrafficTable)


def traffic(kind: str) -> Callable[[K], K]:
    """Register a kind of traffic."""

    def register(model: K) -> K:
        KINDS[kind] = model
        model.registered = kind
        return model

    return register


def resolve(data: Any, findings: Findings, path: Path, scene: Scene) -> TrafficTable | None:
    """Return a [[traffic]] entry as written in canonical form; note problems, and return None."""
    before = len(findings.problems)
    table = findings.validate_kind("traffic", KINDS, data, path)
    check = Check(findings, path, scene)
    if table is None:
        _check_good_keys(data, check)
        return None
    if table.payload_size is not None:
        check = Check(findings, path, replace(scene, payload=table.payload_size))
    _check_common(table, check)
    with _code_of(table):
        resolved = table.resolve(check)
    if resolved is None or len(findings.problems) > before:
        return None
    entry = _as_read_back(resolved)
    with _code_of(entry):
        number = entry.count(scene.network, scene.duration_ps)
    if number > MAX_FLOWS and scene.duration_ps < MAX_TIME:  # which stands for one not known
        hint = "a shorter run, a lower load, or fewer hosts or repetitions"
        check.add("", f"about {number:.3g} flows", f"at most {MAX_FLOWS}", hint)
        return None
    _check_paths(entry, check)
    _check_reached(entry, check)
    return entry if len(findings.problems) == before else None


def _check_reached(entry: TrafficTable, check: Check) -> None:
    """Note that flows lead from one part of the network to another: few networks have several."""
    network = check.scene.network
    if not len(network.hosts) or not (network.several or network.cut_off()):
        return
    found = flows([entry], network, 1, check.scene.duration_ps)
    part = network.parts()
    src, dst = found.ends_on_network(network)
    apart = np.flatnonzero(part[src] != part[dst])
    if len(apart):
        src, dst = (network.names[ends[apart[0]]] for ends in (found.src, found.dst))
        more = f", and for {len(apart) - 1:,} further flows" if len(apart) > 1 else ""
        what = f"there is no path from {src} to {dst}{more}: they are in parts of the network"
        check.add("", f"{what} between which there is no link", "traffic inside of each part")


def _code_of(table: TrafficTable) -> AbstractContextManager[None]:
    return code_of(type(table), f"traffic {table.kind!r}")


def _as_read_back(entry: TrafficTable) -> TrafficTable:
    """Return an entry as the run reads it, so that unreadable ones are reported before it runs."""
    try:
        return decode(type(entry), encode(entry))
    except ValueError as error:
        raise refusal("traffic", f"not a canonical form: {error}") from error


def _check_good_keys(data: Any, check: Check) -> None:
    """Note problems with hosts and files of an entry that has wrong values elsewhere."""
    model = KINDS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if model is None:
        return
    for key in ("src", "dst", "hosts"):
        names = data.get(key) if key in model.model_fields else None
        for name in names if isinstance(names, list) else [names]:
            if isinstance(name, str):
                check.hosts(key, [name])
    named: dict[str, Any] = {model.file_key: data.get(model.file_key)}
    if isinstance(named[model.file_key], str):
        model.model_construct(**named).check_files(check)


def check_apart(data: Any, findings: Findings, path: Path, scene: Scene) -> None:
    """Note problems of an entry that do not depend on the network; `scene` has none."""
    table = findings.validate_kind("traffic", KINDS, data, path)
    if table is not None:
        table.check_files(Check(findings, path, scene))


def flows(tables: Sequence[TrafficTable], network: Topology, seed: int, duration_ps: int) -> Flows:
    """Return the flows of canonical entries. Raises UserError above MAX_FLOWS."""
    blocks = []
    _refuse_too_many(sum(table.count(network, duration_ps) for table in tables))
    for number, table in enumerate(tables):
        with _code_of(table):
            block = table.generate(network, generator_of(seed, number), duration_ps)
        if table.start_jitter:
            # its own generator: the flows are those without jitter
            random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, number, 1])))
            later = random.integers(0, table.start_jitter + 1, size=len(block.src))
            block = replace(block, starts=block.starts + later)
        blocks.append(block)
    return _join(blocks, tables, network, seed)


def generator_of(seed: int, number: int) -> np.random.Generator:
    """Return the random generator of an entry, given by number, in the run of a seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, number])))


def draws(tables: Sequence[TrafficTable], network: Topology, duration_ps: int) -> bool:
    """Whether canonical entries use random numbers.

    Raises UserError if an entry has no flows in this network.
    """
    for table in tables:
        if table.start_jitter:
            return True
        random = np.random.Generator(np.random.PCG64(1))
        before = random.bit_generator.state
        with _code_of(table):
            table.generate(network, random, duration_ps)
        if random.bit_generator.state != before:
            return True
    return False


def _refuse_too_many(number: float) -> None:
    if number > MAX_FLOWS:
        hint = "a shorter run, a lower load, or fewer hosts or repetitions"
        raise refusal("traffic", f"about {number:.3g} flows in all", f"at most {MAX_FLOWS}", hint)


def canonical(table: E, **changed: Any) -> E:
    """Return a table with some fields replaced."""
    return table.model_copy(update=changed)


def node_numbers(names: Sequence[str], network: Topology) -> npt.NDArray[np.uint32]:
    """Return the numbers of nodes."""
    return np.array([network.numbers[name] for name in names], dtype=np.uint32)


def end_numbers(
    pairs: Sequence[tuple[str, str]], network: Topology
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the numbers of the sources and of the destinations."""
    src = node_numbers([pair[0] for pair in pairs], network)
    return src, node_numbers([pair[1] for pair in pairs], network)


def first_in_circle(after: Sequence[Sequence[int]]) -> int | None:
    """Return the first that can never start because of its waits; None: all can."""
    try:
        tuple(TopologicalSorter(dict(enumerate(after))).static_order())
    except CycleError as error:
        return int(min(error.args[1]))
    return None


def _check_common(table: TrafficTable, check: Check) -> None:
    if (table.on is None) != (table.off is None):
        check.add(
            "on" if table.on is None else "off", "missing", None, "give 'on' and 'off' together"
        )
    latest = table.last_start() + table.start_jitter
    if latest >= check.scene.duration_ps:
        check.add("start", "a flow starts at or after the end of the run", "before run.duration")
    if table.start_jitter and NEVER < table.stop_ps() <= latest:
        check.add("start_jitter", "a flow may start at or after its stop", "before 'stop'")
    network = check.scene.network
    paths = (table.path, table.paths, table.ack_paths)
    if table.nic != "own" and network.server_size == 1:
        check.add("nic", "every host is a server of its own", None, "topology.hosts_per_server")
    elif table.nic != "own" and any(path is not None for path in paths):
        check.add("nic", "a path names the hosts by which a flow goes", "'own' with a path")
    elif table.nic == "rail" and network.scale_up is None:
        what = "without a scale-up domain a message cannot go to another host of its server"
        check.add("nic", what, None, 'give topology.scale_up, or nic = "hash"')
    elif table.nic == "hash" and network.scale_up is not None:
        what = "a GPU behind a scale-up domain has one NIC of its own"
        check.add("nic", what, "'own' or 'rail' with topology.scale_up")
    _check_connection(table, check)
    if table.label is not None and not table.label:
        check.add("label", "empty", "any text")


def _check_connection(table: TrafficTable, check: Check) -> None:
    """What the messages of one connection cannot have, and those with one each."""
    if table.connection == "message":
        default = {key: TrafficTable.model_fields[key].default for key in ("queue_pairs", "split")}
        for key, usual in default.items():
            if getattr(table, key) != usual:
                what = "a message with a connection of its own has one queue pair"
                check.add(key, what, f"{usual!r}", 'set connection = "pair"')
        return
    for key, value in (("on", table.on), ("path", table.path), ("paths", table.paths)):
        if value is not None:
            what = "bursts and paths are of messages with a connection each"
            check.add("connection", what, f"'message' with {key!r}", 'set connection = "message"')


def _check_paths(table: TrafficTable, check: Check) -> None:
    """Paths lead from end to end of the entry's flows, over links that are up at the start."""
    ack = None if isinstance(table.ack_path, str) else table.ack_path
    for key, path, many in (
        ("path", table.path, table.paths),
        ("ack_path", ack, table.ack_paths),
    ):
        if path is not None and many is not None:
            check.add(f"{key}s", f"give either '{key}' or '{key}s'", "one of the two")
        elif path is not None:
            _check_single(table, key, path, check)
        elif many is not None:
            _check_list(table, f"{key}s", many, check)


def _check_single(table: TrafficTable, key: str, path: list[str], check: Check) -> None:
    pairs = table.pairs()
    if pairs is None or len(pairs) != 1:
        check.add(key, "a path is for a single flow", "one source and one destination")
        return
    check.path_of(key, path, pairs[0])


def _check_list(table: TrafficTable, key: str, paths: list[list[str]], check: Check) -> None:
    """Every path has the ends of a flow, if they are known, and no two have the same."""
    known = table.pairs()
    pairs = None if known is None else set(known)
    seen: set[tuple[str, str]] = set()
    for number, path in enumerate(paths):
        at = f"{key}.{number}"
        back = key.startswith("ack")
        ends = (path[-1], path[0]) if back else (path[0], path[-1])
        check.path_of(at, path, ends)
        between = f"from {path[0]} to {path[-1]}"
        if path[0] == path[-1]:
            check.add(at, "ends where it begins", "a path between two hosts")
        elif ends in seen:
            check.add(at, f"duplicate path {between}", "one path for the same two ends")
        elif pairs is not None and ends not in pairs:
            what = f"leads {between}, but no flow of the entry goes from {ends[0]} to {ends[1]}"
            check.add(at, what)
        elif pairs is None:
            for name in path[0], path[-1]:
                check.host(at, name)
        seen.add(ends)


def _join(
    blocks: list[Block], tables: Sequence[TrafficTable], network: Topology, seed: int
) -> Flows:
    counts = [len(block.src) for block in blocks]

    def column(values: Sequence[Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
        parts = [
            np.broadcast_to(np.asarray(v, dtype), n) for v, n in zip(values, counts, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype), *parts])

    firsts = np.cumsum([0, *counts])[:-1].tolist()
    classes = [
        t.traffic_class if b.classes is None else b.classes
        for b, t in zip(blocks, tables, strict=True)
    ]
    result = Flows(
        src=column([block.src for block in blocks], np.uint32),
        dst=column([block.dst for block in blocks], np.uint32),
        sizes=column([block.sizes for block in blocks], np.uint64),
        starts=column([block.starts for block in blocks], np.int64),
        stops=column([table.stop_ps() for table in tables], np.int64),
        classes=column(classes, np.uint8),
        rates=column([table.rate_cap or 0 for table in tables], np.uint64),
        windows=column([table.window for table in tables], np.uint64),
        groups=column(list(range(len(tables))), np.uint32),
        labels=tuple(label_of(t, n) for n, t in enumerate(tables)),
        queue_pairs={n: own for n, t in enumerate(tables) if (own := t.queue_pair_attributes())},
        waits=_join_waits([block.waits for block in blocks], firsts),
    )
    result = replace(result, nics=_nics_of(result, [table.nic for table in tables], network))
    book = PathBook(network, result.paths, result.ack_paths, result.ack_reverse)
    for first, count, table, block in zip(firsts, counts, tables, blocks, strict=True):
        result.paths.update(enumerate(block.paths, start=first))
        numbers = range(first, first + count)
        if table.on is not None and table.off is not None:
            result.on_off.update(dict.fromkeys(numbers, (table.on, table.off)))
        for flow, (path, ack) in zip(numbers, block.own_paths, strict=False):
            book.add(flow, path, ack)
        if table.paths or table.ack_paths:
            ends = zip(block.src.tolist(), block.dst.tolist(), strict=True)
            book.add_by_ends(
                zip(numbers, ends, strict=True), table.paths or (), table.ack_paths or ()
            )
        if table.path is not None or table.ack_path is not None:
            for flow in numbers:
                book.add(flow, table.path, table.ack_path)
    channels = column([block.channels for block in blocks], np.int64)
    result = _with_links(result, tables, channels, network)
    return _connected(result, tables, channels, network, seed)


def _connected(
    flows: Flows,
    tables: Sequence[TrafficTable],
    channels: npt.NDArray[np.int64],
    network: Topology,
    seed: int,
) -> Flows:
    """Return the flows with the connections of pairs; what stays in a scale-up domain has none."""
    paired = [number for number, table in enumerate(tables) if table.connection == "pair"]
    src, dst = (ends.astype(np.int64) for ends in flows.ends_on_network(network))
    chosen = np.flatnonzero(np.isin(flows.groups, paired) & (src != dst))
    if not len(chosen):
        return flows
    for flow in chosen[flows.sizes[chosen] == 0].tolist() + list(flows.paths):
        if flows.groups[flow] in paired:
            what = f"flow {flow} is endless or has a path of its own"
            at = f"traffic.{flows.groups[flow]}.connection"
            raise refusal(at, what, "'message' for such flows")
    columns = (flows.groups, flows.src, flows.dst, src, dst, flows.classes, channels)
    keys = np.stack([column[chosen].astype(np.int64) for column in columns])
    uses = [Use(table.queue_pairs, table.split) for table in tables]
    of_flow = [uses[group] for group in flows.groups[chosen].tolist()]
    made, of = connect(chosen, keys, flows.sizes[chosen].astype(np.int64), of_flow, len(flows))
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(0,))))
    places = len(network.ends if network.several else network.names)
    made = replace(made, ports=source_ports(src[of], dst[of], places, random))
    shares = np.ones(len(flows), dtype=np.uint64)
    shares[chosen] = [use.queue_pairs if use.split == "all" else 1 for use in of_flow]
    rates, windows = (np.maximum(of // shares, of > 0) for of in (flows.rates, flows.windows))
    return replace(flows, connections=made, rates=rates, windows=windows)


def _nics_of(flows: Flows, choices: Sequence[str], network: Topology) -> Nics | None:
    """Return the hosts through which flows to other servers go. choices: `nic`, by entry."""
    if all(choice == "own" for choice in choices):
        return None
    size = network.server_size
    place = np.zeros(len(network.names), dtype=np.int64)
    place[network.hosts] = np.arange(len(network.hosts))
    source, destination = place[flows.src], place[flows.dst]
    own = np.array(choices)[flows.groups]
    number = np.arange(len(flows), dtype=np.uint64)
    by_rail = source // size * size + destination % size
    by_rail = np.where(by_rail // network.nic_size == source // network.nic_size, source, by_rail)
    by_hash = source // size * size + (links.mixed(2 * number) % size).astype(np.int64)
    arrival = destination // size * size + (links.mixed(2 * number + 1) % size).astype(np.int64)
    leaves = np.where(own == "rail", by_rail, np.where(own == "hash", by_hash, source))
    arrives = np.where(own == "hash", arrival, destination)
    other = (source // size != destination // size) & (
        (leaves != source) | (arrives != destination)
    )
    chosen = np.flatnonzero(other).astype(np.uint32)
    return Nics(chosen, network.hosts[leaves[other]], network.hosts[arrives[other]])


def _with_links(
    flows: Flows, tables: Sequence[TrafficTable], channels: npt.NDArray[np.int64], network: Topology
) -> Flows:
    """Return the flows with the links that they take at hosts with several."""
    if not network.several or not len(flows):
        return flows
    src, dst = (ends.astype(np.int64) for ends in flows.ends_on_network(network))
    number = np.arange(len(flows))
    paired = np.array([table.connection == "pair" for table in tables])[flows.groups]
    columns = (flows.groups, flows.src, flows.dst, flows.classes, channels)
    keys = np.stack([*columns, np.where(paired, -1, number)])
    first, of = np.unique(keys, axis=1, return_index=True, return_inverse=True)[1:]
    rules = np.array([table.link for table in tables])[flows.groups]
    asked = links.Asked(src, dst, first[of.reshape(-1)], channels, rules)
    chosen = links.choose(asked, network)
    src[chosen.flows], dst[chosen.flows] = chosen.leaves, chosen.arrives
    for flow in flows.paths.keys() | flows.ack_paths.keys():
        src[flow], dst[flow] = _ends_of_paths(flow, flows, network)
    other = np.flatnonzero((src != dst) & ((src != flows.src) | (dst != flows.dst)))
    ends = (src[other].astype(np.uint32), dst[other].astype(np.uint32))
    return replace(flows, nics=Nics(other.astype(np.uint32), *ends))


def _ends_of_paths(flow: int, flows: Flows, network: Topology) -> tuple[int, int]:
    """Return the ends, see `Topology.host_ends`, of a flow with a path, or whose ACKs have one."""
    there, back = flows.paths.get(flow), flows.ack_paths.get(flow)
    ends = [network.path_ends(there.tolist())] if there is not None else []
    ends += [network.path_ends(back.tolist())[::-1]] if back is not None else []
    if ends[0] != ends[-1]:
        what = f"the ACKs of flow {flow} have other links of its hosts than its data"
        raise refusal(f"traffic.{flows.groups[flow]}.ack_path", what, "the same link at each host")
    return ends[0]


def label_of(entry: TrafficTable, number: int) -> str:
    """Return the name of the entry with a number: its label, else its kind and the number."""
    return entry.label or f"{entry.kind}-{number}"


def _join_waits(waits: Sequence[Waits | None], firsts: Sequence[int]) -> Waits | None:
    """Return the waits of all entries, whose flows begin at `firsts`; None if there are none."""
    points, found = 0, []
    for one, first in zip(waits, firsts, strict=True):
        if one is not None and len(one):
            found.append(one.behind(first, points))
            points += one.points
    if not found:
        return None
    return Waits(
        np.concatenate([one.flows for one in found]),
        np.concatenate([one.after for one in found]),
        np.concatenate([one.delays for one in found]),
        points,
    )
