"""The kinds of traffic: each is one class with its keys, its checks and its flows."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import UserError, refusal
from pyorch.base.fields import NEVER, Duration, Names, Size, Table, Time
from pyorch.base.units import format_bytes
from pyorch.network.cycles import draw_paths_around_cycle
from pyorch.network.topology import SWITCH, Topology
from pyorch.traffic import workloads
from pyorch.traffic.base import (
    Block,
    Check,
    Offered,
    TrafficTable,
    canonical,
    end_numbers,
    node_numbers,
    traffic,
)

#: Maximum number of packets of a distribution's largest flow; above, its mean is not computed.
MAX_PACKETS = 10_000_000
Array = npt.NDArray[np.uint32]


@traffic("greedy")
class Greedy(TrafficTable):
    """Sources that always have data to send, from `start` to `stop`.

    `dst` is one host for all sources, or one for each source.
    """

    src: Names = Field(description="Sending hosts; 'all' leaves `dst` out.")
    dst: Names = Field(description="One host, or one for each source.")
    stop: Duration | None = Field(
        default=None, description="No packet is made from then on; none: never."
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        src, dst = check.hosts("src", self.src), self._destinations(check)
        if self.stop is not None and self.stop <= self.start:
            check.add("stop", "not after start", "a time after 'start'")
        if src is None or dst is None:
            return None
        if len(dst) == 1 and len(self.src) == 1 and self.src[0] in ("all",):
            src = [name for name in src if name != dst[0]]
        if len(dst) not in (1, len(src)):
            check.add(
                "dst",
                f"{len(dst)} destinations for {len(src)} sources",
                "one, or one for each source",
            )
            return None
        _check_pairs(check, self._pairs(src, dst))
        return canonical(self, src=src, dst=dst)

    def _destinations(self, check: Check) -> list[str] | None:
        """Destinations may repeat, unlike sources."""
        found = [check.hosts("dst", [name]) for name in self.dst]
        return None if None in found else [name for part in found for name in part or ()]

    @staticmethod
    def _pairs(src: list[str], dst: list[str]) -> list[tuple[str, str]]:
        return list(zip(src, dst if len(dst) > 1 else dst * len(src), strict=True))

    @override
    def pairs(self) -> list[tuple[str, str]]:
        return self._pairs(self.src, self.dst)

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        src, dst = end_numbers(self.pairs(), network)
        return Block(src, dst, 0, self.start)

    @override
    def stop_ps(self) -> int:
        return NEVER if self.stop is None else self.stop


class _Routed(TrafficTable):
    """Flows on fixed paths, up to `jitter` late; without `size` they are endless."""

    size: Size | None = Field(default=None, description="Payload of each flow; none: without end.")
    jitter: Time = Field(
        default=0, description="Each flow starts later by up to this, drawn from the seed."
    )
    stop: Duration | None = Field(
        default=None, description="No packet is made from then on; none: never."
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if self.paths is not None:
            check.add("paths", f"traffic of kind {self.kind} chooses its paths itself")
        if self.stop is not None and self.stop <= self.start + self.jitter:
            check.add("stop", "not after the last start", "a time after 'start' and 'jitter'")
            return None
        return canonical(self)

    def ways(self, network: Topology, random: np.random.Generator) -> list[Array]:
        """Return the nodes of every flow's path, from host to host."""
        raise NotImplementedError

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        paths = self.ways(network, random)
        ends = np.array([[path[0], path[-1]] for path in paths], dtype=np.uint32)
        starts = self.start + random.integers(0, self.jitter + 1, size=len(paths))
        return Block(ends[:, 0], ends[:, 1], self.size or 0, starts, paths=paths)

    @override
    def last_start(self) -> int:
        return self.start + self.jitter

    @override
    def stop_ps(self) -> int:
        return NEVER if self.stop is None else self.stop


@traffic("cycle")
class Cycle(_Routed):
    """Flows that close a cyclic buffer dependency of the network's shortest paths.

    Every dependency of one cycle is used by `flows` flows, on shortest paths drawn from the seed.
    They start up to `jitter` after `start`; without `size` they never end.
    """

    flows: int = Field(
        default=1, ge=1, le=1000, description="Flows for each dependency of the cycle."
    )

    @override
    def ways(self, network: Topology, random: np.random.Generator) -> list[Array]:

        paths = draw_paths_around_cycle(network, self.flows, random)
        if not paths:
            what = "the shortest paths of the network have no cyclic buffer dependency"
            hint = 'with random_failed_links: dependency = "cyclic" in [topology]'
            raise refusal("traffic (kind cycle)", what, hint=hint)
        return [np.array(path, dtype=np.uint32) for path in paths]


@traffic("ring")
class Ring(_Routed):
    """Flows around a ring: from every host to a host `hops` switches further on.

    Their paths follow the switches' numbers, even if the opposite direction is shorter, and
    whatever [[route]] entries say; a `permutation` with `shift` takes these. They start up to
    `jitter` after `start`; without `size` they never end.
    """

    left_out = _Routed.left_out | {"to"}

    hops: int = Field(default=2, ge=1, description="Switches from a flow's first to its last.")
    to: Literal["first", "same"] = Field(
        default="first",
        description="The first host there, or the one at the same place: of two hosts a switch the "
        "second sends to the second.",
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        network = check.scene.network
        switches = np.flatnonzero(network.kinds == SWITCH).tolist()
        for a, b in itertools.pairwise([*switches, switches[0]]):
            if not network.neighbours_by(a, b):
                what = f"there is no link from {network.names[a]} to {network.names[b]}"
                check.add("kind", what, "a topology of kind ring")
                return None
        if self.hops >= len(switches):
            check.add("hops", f"a ring of {len(switches)} switches", f"1 to {len(switches) - 1}")
            return None
        racks = set(network.racks[network.hosts].tolist())
        for place, node in enumerate(switches):
            end = switches[(place + self.hops) % len(switches)]
            if node in racks and end not in racks:
                what = f"a flow from {network.names[node]} would end at {network.names[end]}, "
                what += "which has no host"
                check.add("hops", what, "a ring with a host on each switch where a flow ends")
                return None
            here, there = (np.count_nonzero(network.racks[network.hosts] == s) for s in (node, end))
            if self.to == "same" and here > there:
                what = f"{network.names[node]} has {here} hosts and {network.names[end]} {there}"
                check.add("to", what, 'as many hosts where a flow ends, or "first"')
                return None
        self._check_links(check)
        return super().resolve(check)

    def _check_links(self, check: Check) -> None:
        """Every link of the paths is up at the start: the paths do not avoid failed links."""
        network = check.scene.network
        paths = self._around(network)
        for a, b in sorted({pair for path in paths for pair in itertools.pairwise(path.tolist())}):
            if network.links[network.egresses([a, b])[0]] in network.failed_links:
                what = f"the link from {network.names[a]} to {network.names[b]}"
                what += " has failed from the start, and the paths of a ring do not avoid it"
                others = 'traffic of other kinds, such as "permutation", avoids it'
                check.add("kind", what, None, others)
                return

    @override
    def ways(self, network: Topology, random: np.random.Generator) -> list[Array]:
        return self._around(network)

    def _around(self, network: Topology) -> list[Array]:
        switches = np.flatnonzero(network.kinds == SWITCH)
        hosts: dict[int, list[int]] = {}
        for host in network.hosts.tolist():
            hosts.setdefault(int(network.racks[host]), []).append(host)
        paths = []
        for host in network.hosts:
            place = int(np.searchsorted(switches, network.racks[host]))
            way = switches[(place + np.arange(self.hops + 1)) % len(switches)]
            place = hosts[int(way[0])].index(host) if self.to == "same" else 0
            paths.append(np.array([host, *way, hosts[int(way[-1])][place]], dtype=np.uint32))
        return paths


MOST_ROUNDS = 1_000_000
"""Of an incast."""


@traffic("incast")
class Incast(TrafficTable):
    """Several sources send `size` to one host at once; every `interval`, `repeat` times.

    The sources are `src`, or `degree` hosts drawn anew each time and for each of several `dst`.
    Each start is late by up to `jitter`. With `load`, incasts arrive at random (Poisson) from
    `start` to the end of the run, each to one drawn from `dst`, at a rate at which their payload is
    that share of what all hosts can send.
    """

    dst: Names = Field(
        description="Receiving hosts; each gets every round, or with `load` one drawn for each."
    )
    src: Names | None = Field(default=None, description="Sending hosts, or `degree`.")
    degree: int | None = Field(
        default=None, ge=1, description="Number of senders that are drawn for each round."
    )
    size: Size = Field(description="Payload from each sender.")
    jitter: Time = Field(
        default=0, description="Each sender starts later by up to this, drawn from the seed."
    )
    repeat: int = Field(
        default=1,
        ge=1,
        le=MOST_ROUNDS,
        description="Number of rounds; with an `interval` by default all until `run.duration`.",
    )
    interval: Duration | None = Field(default=None, description="Time from round to round.")
    load: float | None = Field(
        default=None,
        gt=0,
        le=1.5,
        description="Share of what all hosts can send; rounds then come at random.",
    )
    left_out = TrafficTable.left_out | {"load"}

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.src is None) == (self.degree is None):
            check.add("degree", "give either 'src' or 'degree'", "one of the two")
            return None
        if self.repeat > 1 and self.interval is None and self.load is None:
            check.add("interval", "missing", None, "a repeated incast needs its 'interval'")
        if self.load is not None and (self.repeat > 1 or self.interval is not None):
            what = "'load' sets how often; so do 'repeat' and 'interval'"
            check.add("load", what, "one of the two")
        dst = check.hosts("dst", self.dst)
        if dst is None:
            return None
        others = len(check.scene.network.hosts) - 1
        if self.degree is not None and self.degree > others:
            check.add("degree", f"{self.degree} sources of {others} other hosts", f"1 to {others}")
        repeat = self._repeated(check)
        rounds = {"repeat": repeat, "interval": self.interval if repeat > 1 else None}
        if self.src is None:
            return canonical(self, dst=dst, **rounds)
        src = check.hosts("src", self.src)
        if src is None:
            return None
        targets = set(dst)
        if self.src == ["all"]:
            src = [name for name in src if name not in targets]
        if not src:
            check.add(
                "src", "no sender is left: all hosts are destinations", "a host other than 'dst'"
            )
            return None
        senders = set(src)
        _check_pairs(check, [(name, name) for name in dst if name in senders])
        return canonical(self, src=src, dst=dst, **rounds)

    def _repeated(self, check: Check) -> int:
        """Return the number of rounds: if only their interval is given, all before the end."""
        if self.interval is None or "repeat" in self.model_fields_set:
            return self.repeat
        rounds = max(1, -(-(check.scene.duration_ps - self.start) // self.interval))
        if rounds > MOST_ROUNDS:
            what = f"{rounds:,} rounds until run.duration"
            check.add("interval", what, f"at most {MOST_ROUNDS:,} rounds", "give 'repeat'")
        return min(rounds, MOST_ROUNDS)

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        return self._count_rounds(network, duration_ps) * self._degree()

    def _degree(self) -> int:
        return self.degree or len(self.src or ())

    def _count_rounds(self, network: Topology, duration_ps: int) -> float:
        """Return the number of incasts, each to one receiver; the mean if they are random."""
        if self.load is None:
            return len(self.dst) * self.repeat
        rate = self.load * float(network.host_rates[network.hosts].sum(dtype=np.float64))
        return rate * (duration_ps - self.start) / 1e12 / (8 * self.size * self._degree())

    @override
    def offered(self, network: Topology, duration_ps: int) -> Offered | None:
        if self.load is None and self.interval is None:
            return None
        hosts = network.hosts
        to = np.isin(hosts, node_numbers(self.dst, network))
        senders = np.ones(len(hosts), dtype=bool)
        if self.src is not None:
            senders = np.isin(hosts, node_numbers(self.src, network))
        pairs = senders[:, None] & to & ~np.eye(len(hosts), dtype=bool)
        spread = pairs / np.maximum(pairs.sum(axis=0), 1)
        if self.load is not None:
            rate = self.load * float(network.host_rates[hosts].sum(dtype=np.float64)) / to.sum()
            return Offered(self.start, duration_ps, rate * spread)
        period = self.interval or 0
        rate = (self.degree or pairs.sum(axis=0)) * self.size * 8e12 / period
        return Offered(self.start, self.start + self.repeat * period, rate * spread)

    @override
    def last_start(self) -> int:
        return self.start + (self.repeat - 1) * (self.interval or 0)

    @override
    def pairs(self) -> list[tuple[str, str]] | None:
        if self.src is None or self.load is not None:
            return None
        return [(name, target) for target in self.dst for name in self.src] * self.repeat

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        targets, begins = self._rounds(network, random, duration_ps)
        bursts = [np.empty(0, dtype=np.uint32)]
        for target in targets:
            others = network.hosts[network.hosts != target]
            if self.src is None:
                bursts.append(np.sort(random.choice(others, size=self.degree or 0, replace=False)))
            else:
                bursts.append(node_numbers(self.src, network))
        src = np.concatenate(bursts).astype(np.uint32)
        dst = np.repeat(targets, self._degree()).astype(np.uint32)
        late = random.integers(0, self.jitter, size=len(src), endpoint=True)
        return Block(src, dst, self.size, np.repeat(begins, self._degree()) + late)

    def _rounds(
        self, network: Topology, random: np.random.Generator, duration_ps: int
    ) -> tuple[Array, npt.NDArray[np.int64]]:
        """Return the receiver of each incast and when it begins [ps]."""
        targets = node_numbers(self.dst, network)
        if self.load is None:
            begins = self.start + np.arange(self.repeat, dtype=np.int64) * (self.interval or 0)
            return np.tile(targets, self.repeat), np.repeat(begins, len(targets))
        count = int(random.poisson(self._count_rounds(network, duration_ps)))
        begins = np.sort(random.integers(self.start, duration_ps, size=count))
        return random.choice(targets, size=count), begins


@traffic("permutation")
class Permutation(TrafficTable):
    """Every host sends `size` to one other and receives from one: `shift` further, or at random."""

    hosts: Names = Field(default=["all"], description="The hosts.")
    size: Size = Field(description="Payload of each flow.")
    shift: int | None = Field(
        default=None, ge=1, description="Places in the list of hosts from source to destination."
    )
    random: bool = Field(
        default=False, description="Draw the destinations from the seed, instead of `shift`."
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.shift is None) != self.random:
            check.add("shift", "give either 'shift' or 'random = true'", "one of the two")
        chosen = check.hosts("hosts", self.hosts)
        if chosen is None:
            return None
        if len(chosen) < 2:
            check.add("hosts", "a permutation needs several hosts", "at least two hosts")
        elif self.shift is not None and self.shift % len(chosen) == 0:
            what = f"shift {self.shift} of {len(chosen)} hosts sends every host to itself"
            check.add("shift", what, f"1 to {len(chosen) - 1}")
        return canonical(self, hosts=chosen)

    @override
    def pairs(self) -> list[tuple[str, str]] | None:
        if self.random:
            return None
        return [
            (name, self.hosts[(number + (self.shift or 0)) % len(self.hosts)])
            for number, name in enumerate(self.hosts)
        ]

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        src = node_numbers(self.hosts, network)
        dst = np.roll(src, -(self.shift or 0))
        while self.random and bool(np.any(src == dst)):  # e attempts on average
            dst = random.permutation(src)
        return Block(src, dst, self.size, self.start)


@traffic("all_to_all")
class AllToAll(TrafficTable):
    """Every host sends `size` to every other host at once."""

    hosts: Names = Field(default=["all"], description="The hosts.")
    size: Size = Field(description="Payload of each flow.")

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        chosen = check.hosts("hosts", self.hosts)
        if chosen is None:
            return None
        if len(chosen) < 2:
            check.add("hosts", "a single host cannot send to others", "at least two hosts")
        return canonical(self, hosts=chosen)

    @override
    def pairs(self) -> list[tuple[str, str]]:
        return list(itertools.permutations(self.hosts, 2))

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        return len(self.hosts) * (len(self.hosts) - 1)

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        chosen = node_numbers(self.hosts, network)
        src, dst = np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen))
        return Block(src[src != dst], dst[src != dst], self.size, self.start)


class Derived(Table):
    """Values of a Poisson entry from elsewhere, so that its canonical form is self-contained."""

    sizes: list[int]
    cumulative: list[float]
    payload: int
    header: int


@traffic("poisson")
class Poisson(TrafficTable):
    """Flows with sizes from a distribution arrive at random (Poisson) between random hosts.

    `load` is the share of each source's link that payload and headers use on average. Preamble, gap
    and telemetry are not counted, so that a seed gives the same flows under every scheme.
    `size_unit` is what a size of 1 in the file of `workload` stands for, such as a packet.
    """

    workload: str = Field(
        description="Distribution of sizes: websearch, hadoop, alistorage2019, datamining, "
        "or a file beside the experiment."
    )
    load: float = Field(
        gt=0, le=1.5, description="Average share of a source's link that payload and headers take."
    )
    src: Names = Field(default=["all"], description="Hosts that send.")
    dst: Names = Field(default=["all"], description="Hosts among which destinations are drawn.")
    pattern: Literal["uniform", "inter-rack", "intra-rack"] = Field(
        default="uniform",
        description="Which destinations are allowed; a rack is the hosts of one switch.",
    )
    stop: Duration | None = Field(
        default=None, description="When the last flow arrives; none: at the end of the duration."
    )
    size_unit: Size = Field(
        default=1, description="What a size of 1 in the file stands for, such as a packet."
    )
    derived: Derived | None = Field(default=None, exclude=True)
    file_key = "workload"
    left_out = TrafficTable.left_out | {"size_unit"}

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if self.derived is not None:
            check.add("derived", "unknown key 'derived'", None, "it is filled in")
            return None
        src, dst = check.hosts("src", self.src), check.hosts("dst", self.dst)
        derived = self._derive(check)
        if self.stop is not None and self.stop <= self.start:
            check.add("stop", "not after start", "a time after 'start'")
        if src is None or dst is None or derived is None:
            return None
        network = check.scene.network
        allowed = self._allowed(node_numbers(src, network), node_numbers(dst, network), network)
        lonely = [src[number] for number in np.flatnonzero(~allowed).tolist()]
        if lonely:
            what = f"{', '.join(lonely[:10])} have no destination ({self.pattern})"
            check.add("dst", what, "another destination for every source")
            return None
        return canonical(self, src=src, dst=dst, derived=derived, size_unit=1)

    @override
    def check_files(self, check: Check) -> None:
        self._derive(check)

    def _derive(self, check: Check) -> Derived | None:
        scene = check.scene
        try:
            file = workloads.find(self.workload, scene.folder, scene.workloads)
            sizes = workloads.load(file, self.size_unit)
        except ValueError as error:
            check.add("workload", str(error))
            return None
        except UserError as error:
            check.findings.problems += error.problems
            return None
        if sizes.sizes[-1] > MAX_PACKETS * scene.payload:
            what = f"its largest flow is {format_bytes(int(sizes.sizes[-1]))}"
            allowed = f"{MAX_PACKETS} packets, {format_bytes(MAX_PACKETS * scene.payload)}"
            check.add("workload", what, f"at most {allowed}")
            return None
        points = (sizes.sizes.tolist(), sizes.cumulative.tolist())
        return Derived(
            sizes=points[0], cumulative=points[1], payload=scene.payload, header=scene.header
        )

    def _allowed(self, src: Array, dst: Array, network: Topology) -> npt.NDArray[np.bool_]:
        """Return for every source whether the pattern allows it a destination."""
        targets = np.bincount(dst, minlength=len(network.names))
        in_rack = np.bincount(network.leaves[dst], minlength=len(network.names))
        near = in_rack[network.leaves[src]]
        here = targets[src]
        left = {
            "uniform": len(dst) - here,
            "inter-rack": len(dst) - near,
            "intra-rack": near - here,
        }
        return np.asarray(left[self.pattern] > 0)

    def _matches(self, src: Array, dst: Array, network: Topology) -> npt.NDArray[np.bool_]:
        same = network.leaves[src] == network.leaves[dst]
        wanted = {"uniform": True, "inter-rack": ~same, "intra-rack": same}[self.pattern]
        return np.asarray((src != dst) & wanted)

    def _derived(self) -> Derived:
        if self.derived is None:
            raise ValueError("a Poisson entry is generated only from its canonical form")
        return self.derived

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        own = self._derived()
        sizes = tuple(own.sizes), tuple(own.cumulative)
        frame_bits = _mean_bits(*sizes, own.payload, own.header)
        rates = network.host_rates[node_numbers(self.src, network)].astype(np.float64)
        length = self._end(duration_ps) - self.start
        return float(self.load * rates.sum() / frame_bits * length / 1e12)

    def _end(self, duration_ps: int) -> int:
        """Return when its last flow arrives at the latest [ps]."""
        return duration_ps if self.stop is None else min(self.stop, duration_ps)

    @override
    def offered(self, network: Topology, duration_ps: int) -> Offered | None:
        hosts = network.hosts
        src, dst = (np.isin(hosts, node_numbers(ends, network)) for ends in (self.src, self.dst))
        pairs = src[:, None] & dst & self._matches(hosts[:, None], hosts, network)
        rates = self.load * network.host_rates[hosts].astype(np.float64)[:, None]
        spread = rates * pairs / np.maximum(pairs.sum(axis=1), 1)[:, None]
        return Offered(self.start, self._end(duration_ps), spread)

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        own = self._derived()
        points = list(zip(own.sizes, own.cumulative, strict=True))
        sizes = workloads.of_points(points)
        hosts = node_numbers(self.src, network)
        rates = network.host_rates[hosts].astype(np.float64)
        count = int(random.poisson(self.count(network, duration_ps)))
        starts = np.sort(random.integers(self.start, self._end(duration_ps), size=count))
        src = random.choice(hosts, size=count, p=rates / rates.sum())
        drawn = sizes.quantile(random.random(count))
        return Block(src, self._destinations(src, network, random), drawn, starts)

    def _destinations(self, src: Array, network: Topology, random: np.random.Generator) -> Array:
        """Draw a destination for every source; those that the pattern forbids are drawn again."""
        targets = node_numbers(self.dst, network)
        dst = random.choice(targets, size=len(src))
        wrong = np.flatnonzero(~self._matches(src, dst, network))
        while len(wrong):
            dst[wrong] = random.choice(targets, size=len(wrong))
            wrong = wrong[~self._matches(src[wrong], dst[wrong], network)]
        return dst


@cache
def _mean_bits(
    sizes: tuple[int, ...], cumulative: tuple[float, ...], payload: int, header: int
) -> float:
    """Return the mean bits of a flow with its headers; the settings of a sweep share it."""
    found = workloads.of_points(list(zip(sizes, cumulative, strict=True)))
    return 8 * (found.mean() + found.mean_packets(payload) * header)


def _check_pairs(check: Check, pairs: list[tuple[str, str]], key: str = "dst") -> None:
    for src, dst in pairs:
        if src == dst:
            check.add(key, f"{src} sends to itself", "src and dst differ")
