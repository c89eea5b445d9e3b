"""Traffic of kind `collective`: in the experiment itself, or in a TOML or JSON file next to it.

The algorithms are in pyorch.addons.jobs.collectives. What waits for what:

    flow -> end of a host's part -> begin of its part of the next collective -> flow
                                    begin -> end

Beginnings and ends are points, so that n flows waiting for m others take n + m waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs import collectives, slices
from pyorch.addons.jobs.ranks import RankedTable, stretched
from pyorch.base.errors import UserError
from pyorch.base.fields import Names, Size, Table, Time
from pyorch.base.findings import Findings
from pyorch.base.reading import read_json, read_toml
from pyorch.network.topology import Topology
from pyorch.traffic.base import (
    POINT,
    Block,
    Check,
    TrafficTable,
    Waits,
    canonical,
    first_in_circle,
    node_numbers,
    traffic,
)
from pyorch.traffic.parts import Parts

#: More messages of one entry than this must be a mistake.
MAX_TRANSFERS = 5_000_000
Array = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]
NOT_PLACED: dict[str, Any] = {"hosts": None, "placement": None}


class Phase(Table):
    """One collective of a job: its hosts are the ranks 0, 1, ... in the order given."""

    left_out = frozenset(
        {"stride", "jitter", "chunks", "in_order", "skew", "slice", "channels", "in_flight"}
        | {"step_cost", "protocol"}
    )

    name: str = Field(
        pattern=r"^[A-Za-z][A-Za-z0-9_-]*$",
        description="For `after`, metrics, and sweeps (traffic.LABEL.collectives.NAME.size).",
    )
    operation: str = Field(
        description="all_reduce, reduce_scatter, all_gather, broadcast or all_to_all."
    )
    algorithm: str | None = Field(
        default=None,
        description="By operation; none: its first; 'tuned': ring or double_tree, and `protocol`, "
        "as NCCL's model of costs prefers for the size.",
    )
    protocol: Literal["simple", "ll", "ll128"] | None = Field(
        default=None,
        description="NCCL's: 'll' sends 8 B for each 4, in slices of 32 KiB at most, 'll128' 128 "
        "for each 120; none: simple, or, with 'tuned', the one preferred.",
    )
    size: Size = Field(description="Buffer of each host; for `all_gather` of the result.")
    hosts: Names | None = Field(
        default=None, description="Ranks 0, 1, ... in this order; none: those of the job."
    )
    group_size: int | None = Field(
        default=None,
        ge=2,
        description="Ranks per group; each group performs the collective by itself, at the "
        "same time; none: all.",
    )
    stride: int = Field(
        default=1,
        ge=1,
        description="Distance between the ranks of a group: with 8 ranks, groups of 2 and "
        "stride 4 are 0 4, 1 5, 2 6, 3 7.",
    )
    after: list[str] = Field(
        default=[],
        description="Collectives of which a host must have its part before it starts this one.",
    )
    delay: Time = Field(
        default=0,
        description="Computation between that and the beginning; without `after` from `start` on.",
    )
    jitter: Time = Field(
        default=0,
        description="A random time up to this is added to `delay`, for every host and round.",
    )
    step_delay: Time = Field(
        default=0,
        description="Time from the arrival of a block to the sending of what waits for it "
        "(reduction).",
    )
    chunks: int = Field(
        default=1,
        ge=1,
        le=100_000,
        description="Pieces of the buffer, each of which goes through the whole algorithm, "
        "pipelined.",
    )
    slice: Size | None = Field(
        default=None,
        description="Largest message, where the collective is sent as NCCL does, in slices and "
        "channels; 1MiB for its rings, 512KiB for its trees. None: a message for each block.",
    )
    channels: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Parts of the buffer, each with connections of its own; with `slice`. In "
        "servers each begins with another rank.",
    )
    in_flight: int | None = Field(
        default=None,
        ge=2,
        description="Slices of a channel for which a receiver has room; none: as NCCL, 4 of a "
        "ring, 8 of others.",
    )
    step_cost: Time = Field(
        default=0,
        description="Software's time for each slice, from when its receiver has room for it.",
    )
    in_order: bool = Field(
        default=False,
        description="A host sends one message at a time to each other host; else all ready "
        "ones share its link.",
    )
    local: int | None = Field(
        default=None,
        ge=2,
        description="Ranks of a server, for `hierarchical` and `channels`; none: "
        "hosts_per_server, where the topology has servers.",
    )
    skew: float = Field(
        default=0,
        ge=0,
        le=10,
        description="Of an all_to_all: block k goes as (k+1)^-skew (Zipf), so that rank 0 is "
        "asked most.",
    )

    def call(self, ranks: int) -> collectives.Call:
        """Return the algorithm's input, for the ranks of one group."""
        group = self.group_size or ranks
        return collectives.Call(group, self.size, self.local or 1, self.skew)

    def count(self, ranks: int) -> int:
        """Return the transfers of all groups. Resolved collectives only."""
        call, algorithm = self.call(ranks), _algorithm(self)
        slicing = self.slicing()
        number = (
            algorithm.count(call) * self.chunks
            if slicing is None
            else slices.count(algorithm, call, slicing)
        )
        return number * (ranks // call.ranks)

    def slicing(self) -> slices.Slicing | None:
        """Return how it is sliced; None: not at all. Resolved collectives only."""
        if self.slice is None:
            return None
        in_flight = self.in_flight or slices.default_in_flight(_algorithm(self))
        slot = slices.PROTOCOLS[self.protocol or slices.SIMPLE].slot
        return slices.Slicing(self.channels, min(self.slice, slot or self.slice), in_flight)


@dataclass(frozen=True)
class JobParts(Parts):
    """The collectives of an entry, as its parts. ranks: how many a group of each has."""

    phases: tuple[Phase, ...]
    ranks: tuple[int, ...]


class Job(Table):
    """The content of a file of collectives; the whole list is repeated `repeat` times."""

    collective: list[Phase] = Field(min_length=1)
    repeat: int = Field(default=1, ge=1, le=100_000)


@traffic("collective")
class Collective(RankedTable):
    """Collective communication, of the file (TOML or JSON) or of the entry itself.

    Collectives that wait for no other start in round r + 1 after those of round r for which no
    other waits.
    """

    file_key = "file"

    file: str | None = Field(
        default=None,
        description="A TOML file of [[collective]] entries, or a JSON file, instead of "
        "`collectives`.",
    )
    collectives: list[Phase] | None = Field(
        default=None, min_length=1, description="The collectives."
    )
    repeat: int = Field(
        default=1, ge=1, le=100_000, description="How often the whole list is executed."
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.collectives is None) == (self.file is None):
            check.add("collectives", "give either 'collectives' or 'file'", "one of the two")
            return None
        ranks = self.resolve_ranks(check)
        if self.file is None:
            job = Job(collective=self.collectives or [], repeat=self.repeat)
            return self._resolve_job(job, "collectives", check, ranks)
        if self.repeat != 1:
            check.add("repeat", "'repeat' belongs in the file", "no 'repeat' together with 'file'")
        found = _read_job(check, self.file)
        if found is None:
            return None
        at = Check(Findings(self.file), (), check.scene)
        form = self._resolve_job(found, "collective", at, ranks)
        check.findings.merge(at.findings.problems)
        return form

    def _resolve_job(
        self, job: Job, key: str, check: Check, ranks: Mapping[str, Any] | None
    ) -> TrafficTable | None:
        """Return the canonical form. ranks: what `resolve_ranks` returned."""
        if ranks is None:
            return None
        before = len(check.findings.problems)
        hosts = ranks["hosts"]
        network = check.scene.network
        # a random placement is drawn from the seed of each run
        nodes = (
            None
            if self.placement == "random"
            else canonical(self, hosts=hosts).place(network, np.random.default_rng(0))
        )
        resolved = [
            _resolve_phase(phase, f"{key}.{number}", check, hosts, nodes)
            for number, phase in enumerate(job.collective)
        ]
        phases = [phase for phase in resolved if phase is not None]
        _check_phases(job, key, check)
        if all(phase.hosts for phase in job.collective):
            for one in self.model_fields_set & {"hosts", "placement"}:
                check.add(one, "each collective names its own hosts", f"no {one!r}")
        if len(check.findings.problems) > before:
            return None
        number = job.repeat * sum(phase.count(len(phase.hosts or hosts)) for phase in phases)
        if number > MAX_TRANSFERS:
            told = f"about {number} messages"
            check.add(key, told, f"at most {MAX_TRANSFERS}", "fewer hosts or rounds")
            return None
        placed = self.placement not in (None, "listed")
        if not placed:  # one form, whether the entry or its collectives name the hosts
            phases = [one.model_copy(update={"hosts": one.hosts or hosts}) for one in phases]
        changed = {"hosts": hosts, "placement": self.placement} if placed else NOT_PLACED
        changed = changed | {"stragglers": ranks["stragglers"], "repeat": job.repeat}
        return canonical(self, file=None, collectives=phases, **changed)

    @override
    def check_files(self, check: Check) -> None:
        if self.file is not None:
            _read_job(check, self.file)

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        phases = self.collectives or []
        return self.repeat * sum(
            phase.count(len(phase.hosts or self.hosts or ())) for phase in phases
        )

    @override
    def doubts(self, network: Topology) -> Iterator[tuple[str, str]]:
        yield from super().doubts(network)
        for phase in self.collectives or ():
            if phase.local is None or (self.placement == "random" and not phase.hosts):
                continue
            listed = self.place(network, np.random.default_rng(0))
            nodes = node_numbers(phase.hosts, network) if phase.hosts else listed
            there = _local(network.servers[_groups(phase, nodes)])
            if there not in (None, phase.local):
                why = f"{phase.local}, but {there} ranks share a server"
                yield f"collectives.{phase.name}.local", why

    @override
    def computing(self, network: Topology) -> set[str]:
        timed = [phase for phase in self.collectives or () if phase.delay or phase.step_delay]
        return {name for phase in timed for name in phase.hosts or self.hosts or ()}

    @override
    def part_names(self) -> Sequence[str]:
        return [phase.name for phase in self.collectives or ()]

    @override
    def parts(self) -> JobParts:
        phases = in_order(self.collectives or [])
        hosts = [len(phase.hosts or self.hosts or ()) for phase in phases]
        calls = [phase.call(number) for phase, number in zip(phases, hosts, strict=True)]
        counts = [phase.count(number) for phase, number in zip(phases, hosts, strict=True)]
        groups = [number // call.ranks for number, call in zip(hosts, calls, strict=True)]
        group = [
            np.repeat(np.arange(number), count // number)
            for number, count in zip(groups, counts, strict=True)
        ]
        rounds = self.repeat
        return JobParts(
            tuple(phase.name for phase in phases),
            np.tile(np.repeat(np.arange(len(phases)), counts), rounds),
            np.tile(np.concatenate(group), rounds),
            np.repeat(np.arange(rounds), sum(counts)),
            tuple(phases),
            tuple(call.ranks for call in calls),
        )

    @override
    def on_time(self) -> TrafficTable:
        phases = [one.model_copy(update={"jitter": 0}) for one in self.collectives or ()]
        return self.model_copy(update={"stragglers": None, "collectives": phases})

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        return _Schedule(self, network, random).block()


def _read_job(check: Check, name: str) -> Job | None:
    """Read a .toml or .json file next to the experiment; note its problems."""
    if Path(name).suffix not in (".toml", ".json"):
        check.add("file", f"{name!r} is neither TOML nor JSON", "a file that ends .toml or .json")
        return None
    path = check.file("file", name)
    if path is None:
        return None
    findings = Findings(name)
    try:
        job = findings.validate(Job, _parse(path, name), ())
    except UserError as error:
        check.findings.merge(error.problems)
        return None
    check.findings.merge(findings.problems)
    return job


def _parse(path: Path, name: str) -> object:
    return read_toml(path, name) if path.suffix == ".toml" else read_json(path, name)


def _resolve_phase(
    phase: Phase, key: str, check: Check, own: Sequence[str], placed: Array | None
) -> Phase | None:
    """Return a collective with its hosts and its algorithm named; None after problems.

    own: hosts of the job, the default. placed: nodes of its ranks; None: not known before the run.
    """
    known = collectives.names_of(phase.operation)
    if not known:
        check.findings.unknown(
            (*check.path, *key.split("."), "operation"),
            "operation",
            phase.operation,
            collectives.operations(),
        )
        return None
    if slices.chooses(phase.operation):
        known.append(slices.TUNED)
    algorithm = phase.algorithm or known[0]
    protocol: str | None = phase.protocol
    if algorithm not in known:
        place = (*check.path, *key.split("."), "algorithm")
        check.findings.unknown(place, f"algorithm of {phase.operation}", algorithm, known)
        return None
    hosts = None if phase.hosts is None else check.hosts(f"{key}.hosts", phase.hosts)
    if phase.hosts is not None and hosts is None:
        return None
    ranks = len(own if hosts is None else hosts)
    if ranks < 2:
        check.add(f"{key}.hosts", "a collective needs several hosts", "at least two hosts")
        return None
    if not _check_groups(phase, key, check, ranks):
        return None
    network = check.scene.network
    nodes = placed if hosts is None else node_numbers(hosts, network)
    servers = None if nodes is None else network.servers[_groups(phase, nodes)]
    if algorithm == slices.TUNED:
        first = network.numbers[(own if hosts is None else hosts)[0]]
        group = phase.group_size or ranks
        number = -(-group // network.server_size) if servers is None else len(np.unique(servers[0]))
        nic, domain = int(network.host_rates[first]), network.scale_up
        rate = nic * min(phase.channels, group // number) if number > 1 or not domain else domain[0]
        asked = slices.Group(group, number, rate, phase.channels)
        known = list(slices.PROTOCOLS) if phase.protocol is None else [phase.protocol]
        algorithm, protocol = slices.tuned(asked, phase.size, known)
    protocol = None if protocol == slices.SIMPLE else protocol
    found = phase.model_copy(update={"hosts": hosts, "algorithm": algorithm, "protocol": protocol})
    if phase.local is None and ("local" in _algorithm(found).reads or phase.channels > 1):
        found = found.model_copy(update={"local": None if servers is None else _local(servers)})
    _check_call(found, key, check, found.call(ranks))
    return found


def _local(servers: Array) -> int | None:
    """Return how many consecutive ranks share a server, if all do so alike and are all there.

    servers: of each rank of each group, shape (groups, ranks). None: one, or it differs.
    """
    groups, ranks = servers.shape
    ends = np.flatnonzero(servers[0] != servers[0, 0])
    local = int(ends[0]) if len(ends) else ranks
    if local < 2 or ranks % local:
        return None
    parts = servers.reshape(groups, -1, local)
    whole = bool((parts == parts[:, :, :1]).all())
    apart = all(len(np.unique(row)) == len(row) for row in parts[:, :, 0])
    return local if whole and apart else None


def _check_groups(phase: Phase, key: str, check: Check, ranks: int) -> bool:
    """Whether the ranks of a collective can be cut into its groups; else note the problem."""
    if phase.group_size is None:
        if phase.stride != 1:
            check.add(f"{key}.stride", "'stride' without groups", None, "give 'group_size', too")
        return phase.stride == 1
    block = phase.group_size * phase.stride
    if ranks % block == 0:
        return True
    what = f"{ranks} ranks in groups of {phase.group_size}"
    what += "" if phase.stride == 1 else f", {phase.stride} apart"
    check.add(f"{key}.group_size", what, f"a number of ranks that {block} divides")
    return False


def _check_call(phase: Phase, key: str, check: Check, call: collectives.Call) -> None:
    """Note what an algorithm cannot do."""
    algorithm = _algorithm(phase)
    name = f"{phase.operation} by {phase.algorithm}"
    _check_slices(phase, key, check, algorithm, call)
    for one in ("local", "skew"):
        turns = one == "local" and phase.channels > 1
        if getattr(phase, one) and one not in algorithm.reads and not turns:
            others = [
                " by ".join(known)
                for known, other in collectives.ALGORITHMS.items()
                if one in other.reads
            ]
            check.add(f"{key}.{one}", f"{name} does not use it", f"with {', '.join(others)}")
    needed = algorithm.refuses(call)
    if needed is not None:
        what = f"{name} of {call.ranks} ranks"
        hint = None
        if "local" in algorithm.reads:
            what += f" in servers of {call.local}"
            hint = None if phase.local else "give 'local' where ranks of a server do not follow"
        at = "hosts" if phase.group_size is None else "group_size"
        check.add(f"{key}.{at}", what, needed, hint)
        return
    parts = algorithm.parts(call) * phase.chunks * phase.channels
    if phase.size < parts:
        what = f"{phase.size} B in {parts} parts"
        check.add(f"{key}.size", what, "at least a byte for each part")


def _check_slices(
    phase: Phase,
    key: str,
    check: Check,
    algorithm: collectives.Algorithm,
    call: collectives.Call,
) -> None:
    """Note what belongs to slices, or not, and too few of them under way."""
    if phase.slice is None:
        for one in ("channels", "in_flight", "step_cost"):
            if one in phase.model_fields_set:
                check.add(f"{key}.{one}", "of a collective in slices", None, "give 'slice', too")
        return
    for one in ("chunks", "in_order"):
        if one in phase.model_fields_set:
            check.add(f"{key}.{one}", "slices are cut and ordered as NCCL does", f"no {one!r}")
    least = slices.least_in_flight(algorithm)
    if phase.in_flight is not None and phase.in_flight < least:
        what = f"{phase.in_flight}: ranks in a circle would wait for each other forever"
        check.add(f"{key}.in_flight", what, f"at least {least}")
    if phase.channels > 1 and call.ranks % call.local:
        what = f"groups of {call.ranks} ranks in servers of {call.local}"
        check.add(f"{key}.local", what, "a number that divides the ranks of a group")


def _algorithm(phase: Phase) -> collectives.Algorithm:
    """Return the algorithm of a resolved collective."""
    found = collectives.ALGORITHMS[phase.operation, phase.algorithm or ""]
    return found if phase.protocol in (None, slices.SIMPLE) else replace(found, slices=1)


def _check_phases(job: Job, key: str, check: Check) -> None:
    """Names are unique, what is waited for exists, and there are no cycles."""
    known: dict[str, int] = {}
    for number, phase in enumerate(job.collective):
        if known.setdefault(phase.name, number) != number:
            check.add(f"{key}.{number}.name", f"{phase.name!r} appears twice", "each name once")
    for number, phase in enumerate(job.collective):
        for name in phase.after:
            if name not in known:
                place = (*check.path, key, str(number), "after")
                check.findings.unknown(place, "collective", name, known)
        if len(set(phase.after)) < len(phase.after):
            check.add(f"{key}.{number}.after", "a collective is listed twice", "each name once")
    after = [[known[name] for name in phase.after if name in known] for phase in job.collective]
    circle = first_in_circle(after)
    if circle is not None:
        check.add(f"{key}.{circle}.after", "collectives wait for each other in a cycle")


@dataclass(frozen=True)
class _Edges:
    """Waits, with the numbers of the first round; delays [ps], possibly by round.

    first: the first round with these waits. back: how many rounds earlier the awaited one is.
    """

    waiters: Numbers
    after: Numbers
    delays: Numbers | int = 0
    first: int = 0
    back: int = 0


class _Schedule:
    """The flows of a collective entry: round by round, collective by collective."""

    def __init__(self, entry: Collective, network: Topology, random: np.random.Generator) -> None:
        self.entry = entry
        self.random = random
        self.nodes = len(network.names)
        self.factors = entry.slowdowns(network)
        own = entry.place(network, random) if entry.hosts else np.zeros(0, dtype=np.uint32)
        phases = in_order(entry.collectives or [])
        waited_for = {name for phase in phases for name in phase.after}
        self.sinks = [phase.name for phase in phases if phase.name not in waited_for]
        self.parts: list[_Part] = []
        flow = point = 0
        for phase in phases:
            hosts = node_numbers(phase.hosts, network) if phase.hosts else own
            part = _Part(phase, _groups(phase, hosts), flow, point)
            self.parts.append(part)
            flow += part.length
            point += part.points
        self.length, self.points = flow, point
        self.by_name = {part.phase.name: part for part in self.parts}

    def block(self) -> Block:
        """Return the flows."""
        rounds = self.entry.repeat
        src = np.concatenate([part.src for part in self.parts])
        dst = np.concatenate([part.dst for part in self.parts])
        sizes = np.concatenate([part.sizes for part in self.parts]).astype(np.uint64)
        starts = np.full((rounds, self.length), self.entry.start, dtype=np.int64)
        edges: list[_Edges] = []
        for part in self.parts:
            before = self._begin_delays(part)
            if not part.phase.after:
                starts[0, part.flow : part.flow + part.length] += before[0, part.sender]
            edges += self._edges(part, before)
        flows = [self._in_rounds(one.waiters)[one.first :].ravel() for one in edges]
        after = [
            self._in_rounds(one.after)[one.first - one.back : rounds - one.back].ravel()
            for one in edges
        ]
        delays = [
            np.broadcast_to(one.delays, (rounds, len(one.waiters)))[one.first :].ravel()
            for one in edges
        ]
        waits = Waits(
            np.concatenate(flows).astype(np.uint32),
            np.concatenate(after).astype(np.uint32),
            np.concatenate(delays),
            self.points * rounds,
        )
        return Block(
            np.tile(src, rounds),
            np.tile(dst, rounds),
            np.tile(sizes, rounds),
            starts.ravel(),
            waits=waits,
            channels=np.tile(np.concatenate([part.channels for part in self.parts]), rounds),
        )

    def _in_rounds(self, ids: Numbers) -> Numbers:
        """Return the numbers that flows and points of the first round have in each round."""
        step = np.where(ids >= POINT, self.points, self.length)
        return ids + np.arange(self.entry.repeat, dtype=np.int64)[:, None] * step

    def _begin_delays(self, part: _Part) -> Numbers:
        """Return how long each host computes before its part [ps], by round and rank."""
        delay = stretched(part.phase.delay, part.hosts, self.factors)
        delays = np.broadcast_to(delay, (self.entry.repeat, len(delay)))
        if part.phase.jitter:
            late = self.random.integers(0, part.phase.jitter, size=delays.shape, endpoint=True)
            return delays + late
        return delays

    def _edges(self, part: _Part, before: Numbers) -> Iterator[_Edges]:
        """Yield the waits of a collective."""
        inside = stretched(part.times, part.at, self.factors)
        yield _Edges(part.waiters, part.after, inside)
        if self._is_waited_for(part):
            yield from part.end_edges()
        later = 0 if part.phase.after else 1  # 1: it waits for the previous round
        names = part.phase.after or (self.sinks if self.entry.repeat > 1 else [])
        for name in names:
            ends = self.by_name[name].ends_of(part.hosts, self.nodes)
            yield _Edges(part.begin, ends, before, first=later, back=later)
        if names and self._is_waited_for(part):  # a part does not end before it has begun
            yield _Edges(part.end, part.begin, first=later)
        if names:
            senders = np.arange(part.length, dtype=np.int64) + part.flow
            yield _Edges(senders, part.begin[part.sender], first=later)

    def _is_waited_for(self, part: _Part) -> bool:
        name = part.phase.name
        repeats = self.entry.repeat > 1 and name in self.sinks
        return repeats or any(name in other.phase.after for other in self.parts)


def _groups(phase: Phase, hosts: Array) -> Array:
    """Return the hosts of each group, shape (groups, ranks of a group)."""
    size, stride = phase.group_size or len(hosts), phase.stride
    return hosts.reshape(-1, size, stride).swapaxes(1, 2).reshape(-1, size)


class _Part:
    """A collective of the first round. Its flows begin at `flow`, its points at `point`.

    hosts: those of all groups, in order. sender: for each flow, the place of its source among them.
    waiters, after, times, at: waits inside of it, their time [ps] and the node that takes it.
    Points are the beginnings of the hosts' parts, their ends, one when all have ended, and those of
    slices.
    """

    def __init__(self, phase: Phase, groups: Array, flow: int, point: int) -> None:
        self.phase, self.flow = phase, flow
        self.hosts = groups.ravel()
        number, ranks = groups.shape
        algorithm, call, slicing = _algorithm(phase), phase.call(len(self.hosts)), phase.slicing()
        made = (
            collectives.transfers_of(algorithm, call, phase.chunks, phase.in_order)
            if slicing is None
            else slices.sliced(algorithm, call, slicing)
        )
        own_points = made.leaving if isinstance(made, slices.Sliced) else 0
        shift = np.arange(number, dtype=np.int64)[:, None]
        self.length = number * len(made)
        self.points = 2 * len(self.hosts) + 1 + number * own_points
        self.sender = (shift * ranks + made.src).ravel()
        self.receiver = (shift * ranks + made.dst).ravel()
        self.src, self.dst = self.hosts[self.sender], self.hosts[self.receiver]
        data = own_points or len(made)  # messages; behind slices come those that clear to send
        sizes = slices.PROTOCOLS[phase.protocol or slices.SIMPLE].wire(made.sizes[:data])
        self.sizes = np.tile(np.concatenate([sizes, made.sizes[data:]]), number)
        first_point = point + 2 * len(self.hosts) + 1

        def numbered(ids: Numbers) -> Numbers:
            points = ids + shift * own_points + first_point
            return np.asarray(
                np.where(ids >= POINT, points, ids + shift * len(made) + flow).ravel()
            )

        self.waiters, self.after = numbered(made.waiters), numbered(made.after)
        if isinstance(made, slices.Sliced):
            times = made.reduces * phase.step_delay + made.clears * phase.step_cost
            at = made.ranks_of(made.waiters)
            self.channels = np.tile(made.channels, number)
        else:
            times = np.where(made.taking_turns(), 0, phase.step_delay)
            at = made.src[made.waiters]
            self.channels = np.zeros(self.length, dtype=np.int64)
        self.times = np.tile(times, number)
        self.at = self.hosts[(shift * ranks + at).ravel()]
        places = np.arange(len(self.hosts), dtype=np.int64)
        self.begin = POINT + point + places
        self.end = self.begin + len(places)
        self.all = POINT + point + 2 * len(places)

    def end_edges(self) -> Iterator[_Edges]:
        """Yield the waits of the end points."""
        flows = np.arange(self.length, dtype=np.int64)
        yield _Edges(self.end[self.receiver], flows + self.flow)
        deaf = np.ones(len(self.hosts), dtype=bool)  # their part ends with their last send
        deaf[self.receiver] = False
        sent = np.flatnonzero(deaf[self.sender])
        yield _Edges(self.end[self.sender[sent]], sent + self.flow)
        yield _Edges(np.full(len(self.end), self.all), self.end)

    def ends_of(self, hosts: Array, nodes: int) -> Numbers:
        """Return for each host the point at which its part ends; if it has none, that of all."""
        ends = np.full(nodes, self.all, dtype=np.int64)
        ends[self.hosts] = self.end
        return ends[hosts]


def in_order(phases: Sequence[Phase]) -> list[Phase]:
    """Return collectives so that each comes after those it waits for."""
    by_name = {phase.name: phase for phase in phases}
    order = TopologicalSorter({phase.name: phase.after for phase in phases})
    return [by_name[name] for name in order.static_order()]
