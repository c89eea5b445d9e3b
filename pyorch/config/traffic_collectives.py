"""Traffic of kind `collective`: in the experiment itself, or in a TOML or JSON file beside it.

The algorithms are in pyorch.config.collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import override

from pyorch.config import collectives
from pyorch.config.topology import Topology
from pyorch.config.traffic import (
    Block,
    Check,
    TrafficTable,
    Waits,
    canonical,
    first_in_circle,
    join_waits,
    node_numbers,
    traffic,
)
from pyorch.errors import UserError
from pyorch.fields import Names, Size, Table, Time
from pyorch.findings import Findings
from pyorch.reading import is_file, read_json, read_toml

#: Messages of one entry above which a plan is surely a mistake.
MAX_TRANSFERS = 5_000_000
Array = npt.NDArray[np.uint32]


class Phase(Table):
    """One collective of a job: its hosts are the ranks 0, 1, ... in the order given.

    size: bytes of each rank's buffer; of `all_gather` those of the result. after: names of
    collectives that a rank must have its part of before it begins with this one, `delay` later.
    step_delay: from the arrival of a block to the sending of what waits for it (reduction).
    """

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    operation: str
    algorithm: str | None = None
    size: Size
    hosts: Names = Field(default=["all"])
    after: list[str] = Field(default=[])
    delay: Time = 0
    step_delay: Time = 0


class Job(Table):
    """What a file of collectives holds; the whole list is done `repeat` times."""

    collective: list[Phase] = Field(min_length=1)
    repeat: int = Field(default=1, ge=1, le=100_000)


@traffic("collective")
class Collective(TrafficTable):
    """Collective communication, of the file (TOML or JSON) or of the entry itself.

    In round r + 1 what waits for nothing waits for everything that nothing waits for in round r.
    """

    file_key = "file"

    file: str | None = None
    collectives: list[Phase] | None = Field(default=None, min_length=1)
    repeat: int = Field(default=1, ge=1, le=100_000)

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if (self.collectives is None) == (self.file is None):
            check.add("collectives", "give either 'collectives' or 'file'", "one of the two")
            return None
        if self.file is None:
            job, at = Job(collective=self.collectives or [], repeat=self.repeat), check
            name = "collectives"
        else:
            if self.repeat != 1:
                check.add("repeat", "it stands in the file", "no 'repeat' beside 'file'")
            found = _read_job(check, self.file)
            if found is None:
                return None
            job, name = found, "collective"
            at = Check(Findings(self.file), (), check.scene)
        before = len(at.findings.problems)
        phases = [_resolve_phase(p, f"{name}.{n}", at) for n, p in enumerate(job.collective)]
        _check_phases(job, name, at)
        if all(phase is not None for phase in phases):
            _check_number([phase for phase in phases if phase], job.repeat, name, at)
        if at is not check:
            check.findings.merge(at.findings.problems)
        if len(at.findings.problems) > (before if at is check else 0):
            return None
        good = [phase for phase in phases if phase is not None]
        return canonical(self, file=None, collectives=good, repeat=job.repeat)

    @override
    def check_files(self, check: Check) -> None:
        if self.file is not None:
            _read_job(check, self.file)

    @override
    def count(self, network: Topology, duration_ps: int) -> float:
        phases = self.collectives or []
        return self.repeat * sum(_algorithm(phase).count(len(phase.hosts)) for phase in phases)

    @override
    def generate(self, network: Topology, random: np.random.Generator, duration_ps: int) -> Block:
        return _Schedule(self, network).block()


def _read_job(check: Check, name: str) -> Job | None:
    """Read a .toml or .json file beside the experiment; note what is wrong with it."""
    path = check.scene.folder / name
    if path.suffix not in (".toml", ".json"):
        check.add("file", f"{name!r} is neither TOML nor JSON", "a file that ends .toml or .json")
        return None
    if not is_file(path):
        check.add("file", f"there is no file {name!r} beside the experiment file")
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


def _resolve_phase(phase: Phase, key: str, check: Check) -> Phase | None:
    """Return a collective with its hosts and its algorithm named; None after problems."""
    known = collectives.names_of(phase.operation)
    if not known:
        check.findings.unknown(
            (*check.path, *key.split("."), "operation"),
            "operation",
            phase.operation,
            collectives.operations(),
        )
        return None
    algorithm = phase.algorithm or known[0]
    if algorithm not in known:
        place = (*check.path, *key.split("."), "algorithm")
        check.findings.unknown(place, f"algorithm of {phase.operation}", algorithm, known)
        return None
    hosts = check.hosts(f"{key}.hosts", phase.hosts)
    if hosts is None:
        return None
    parts = collectives.ALGORITHMS[phase.operation, algorithm].parts(len(hosts))
    if len(hosts) < 2:
        check.add(f"{key}.hosts", "one host has nobody to talk to", "at least two hosts")
    elif phase.size < parts:
        what = f"{phase.size} B in {parts} parts"
        check.add(f"{key}.size", what, "a byte for each part at least")
    return phase.model_copy(update={"hosts": hosts, "algorithm": algorithm})


def _algorithm(phase: Phase) -> collectives.Algorithm:
    """Return the algorithm of a resolved collective."""
    return collectives.ALGORITHMS[phase.operation, phase.algorithm or ""]


def _check_phases(job: Job, key: str, check: Check) -> None:
    """Names stand there once, what is waited for exists, nothing waits in a circle."""
    known: dict[str, int] = {}
    for number, phase in enumerate(job.collective):
        if known.setdefault(phase.name, number) != number:
            check.add(f"{key}.{number}.name", f"{phase.name!r} is there twice", "every name once")
    for number, phase in enumerate(job.collective):
        for name in phase.after:
            if name not in known:
                place = (*check.path, key, str(number), "after")
                check.findings.unknown(place, "collective", name, known)
    after = [[known[name] for name in phase.after if name in known] for phase in job.collective]
    circle = first_in_circle(after)
    if circle is not None:
        check.add(f"{key}.{circle}.after", "collectives wait for each other in a circle")


def _check_number(phases: Sequence[Phase], repeat: int, key: str, check: Check) -> None:
    """Messages, and who waits for whom between collectives, are not surely a mistake."""
    counts = {phase.name: _algorithm(phase).count(len(phase.hosts)) for phase in phases}
    ranks = {phase.name: max(1, len(phase.hosts)) for phase in phases}
    waited_for = {name for phase in phases for name in phase.after}
    sinks = [name for name in counts if name not in waited_for]
    waits = 0
    for phase in phases:
        others = phase.after or (sinks if repeat > 1 else [])
        first = _algorithm(phase).first(len(phase.hosts))
        waits += first * sum(-(-counts[name] // ranks[name]) for name in others if name in counts)
    for number, what in ((sum(counts.values()), "messages"), (waits, "waits of one for another")):
        if repeat * number > MAX_TRANSFERS:
            told = f"about {repeat * number} {what}"
            check.add(key, told, f"at most {MAX_TRANSFERS}", "fewer hosts or rounds")


class _Schedule:
    """The flows of a collective entry: round by round, collective by collective."""

    def __init__(self, entry: Collective, network: Topology) -> None:
        self.entry = entry
        self.network = network
        self.phases = _in_order(entry.collectives or [])
        waited_for = {name for phase in self.phases for name in phase.after}
        self.sinks = [phase.name for phase in self.phases if phase.name not in waited_for]
        self.made = [_algorithm(p).make(len(p.hosts), p.size) for p in self.phases]
        self.ranks = [node_numbers(phase.hosts, network) for phase in self.phases]
        counts = [len(transfers) for transfers in self.made]
        self.firsts = np.cumsum([0, *counts])
        self.length = int(self.firsts[-1])

    def block(self) -> Block:
        """Return the flows."""
        src = np.concatenate([r[t.src] for r, t in zip(self.ranks, self.made, strict=True)])
        dst = np.concatenate([r[t.dst] for r, t in zip(self.ranks, self.made, strict=True)])
        sizes = np.concatenate([transfers.sizes for transfers in self.made]).astype(np.uint64)
        inside = self._inside()
        starts = np.full(self.length, self.entry.start, dtype=np.int64)
        waits = []
        rounds = self.entry.repeat
        for number in range(rounds):
            shift = np.uint32(number * self.length)
            waits.append(Waits(inside.flows + shift, inside.after + shift, inside.delays))
            if number < 2:  # from the second round on all are alike
                between = self._between(src, dst, follows=number > 0)
            waits.append(Waits(between.flows + shift, between.after + shift, between.delays))
        begins = np.tile(starts, rounds)
        for phase, first, transfers in zip(self.phases, self.firsts, self.made, strict=False):
            if not phase.after:
                begins[first + _initial(transfers)] += phase.delay
        return Block(
            np.tile(src, rounds),
            np.tile(dst, rounds),
            np.tile(sizes, rounds),
            begins,
            waits=join_waits(waits),
        )

    def _inside(self) -> Waits:
        """Who waits for whom inside the collectives of one round."""
        flows = [t.waiters + first for first, t in zip(self.firsts, self.made, strict=False)]
        after = [t.after + first for first, t in zip(self.firsts, self.made, strict=False)]
        delays = [
            np.full(len(t.waiters), phase.step_delay, dtype=np.int64)
            for phase, t in zip(self.phases, self.made, strict=True)
        ]
        return Waits(
            np.concatenate(flows).astype(np.uint32),
            np.concatenate(after).astype(np.uint32),
            np.concatenate(delays),
        )

    def _between(self, src: Array, dst: Array, follows: bool) -> Waits:
        """Who waits for another collective: in the same round, or in the one before."""
        flows, after, delays = [], [], []
        places = {phase.name: number for number, phase in enumerate(self.phases)}
        for phase, first, transfers in zip(self.phases, self.firsts, self.made, strict=False):
            names, back = (phase.after, 0) if phase.after else (self.sinks * follows, self.length)
            for begun in (first + _initial(transfers)).tolist():
                for name in names:
                    own = self._of_rank(places[name], int(src[begun]), src, dst)
                    flows += [begun] * len(own)
                    after += (own - back).tolist()
                    delays += [phase.delay] * len(own)
        columns = np.array([flows, after], dtype=np.int64).astype(np.uint32)
        return Waits(columns[0], columns[1], np.array(delays, dtype=np.int64))

    def _of_rank(self, place: int, host: int, src: Array, dst: Array) -> npt.NDArray[np.int64]:
        """Return what a host receives in a collective; what it sends, if it receives nothing."""
        first, last = self.firsts[place : place + 2]
        for ends in (dst, src):
            own = np.flatnonzero(ends[first:last] == host)
            if len(own):
                return np.asarray(own + first)
        return np.arange(first, last)  # no part of it: all must be over


def _initial(transfers: collectives.Transfers) -> npt.NDArray[np.int64]:
    """Return the transfers that wait for no other of their collective."""
    return np.setdiff1d(np.arange(len(transfers)), transfers.waiters)


def _in_order(phases: Sequence[Phase]) -> list[Phase]:
    """Return collectives so that each comes after those it waits for."""
    by_name = {phase.name: phase for phase in phases}
    order = TopologicalSorter({phase.name: phase.after for phase in phases})
    return [by_name[name] for name in order.static_order()]


def flows_of_collective(entry: Collective, name: str) -> npt.NDArray[np.int64]:
    """Return which flows of a resolved entry belong to the collective of a name."""
    phases = _in_order(entry.collectives or [])
    counts = [_algorithm(phase).count(len(phase.hosts)) for phase in phases]
    names = np.repeat([phase.name for phase in phases], counts)
    return np.flatnonzero(np.tile(names == name, entry.repeat))
