"""What happened in a run that deadlocked, or waits for a host that pauses forever.

Facts from its tables, and sentences on them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyorch.base.errors import one_of
from pyorch.metrics import known_numbers
from pyorch.report.quantities import show

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from pyorch.store.store import Store

CYCLE, STUCK, CHAIN = 0, 1, 2
"""Column `part` of the table `deadlock_part`."""
OF_HOST = 2
"""Its column `reason`: a host paused."""
CYCLIC, OF_HOSTS = 0, 1
"""Column `kind` of the table `deadlock`."""
PAUSING = 0
"""Column `side` of the table `pause`."""
SHOWN = 6
"""Maximum number of pauses or queues that a sentence names."""
DIGITS = 6
"""Digits of times: those of a chain are close to each other."""


@dataclass(frozen=True)
class Pause:
    """A pause of the causal chain: `node` paused `peer` at a time [ps].

    egress: the neighbour to which most bytes of the ingress were to go; "" if unknown.
    is_of_host: a host paused its switch.
    """

    node: str
    peer: str
    time: int
    egress: str = ""
    is_of_host: bool = False


Egress = tuple[str, str]
"""A node, and the neighbour to which its port leads."""


@dataclass(frozen=True)
class _Cost:
    """What it cost that queues wait from a time on. Times in ps, rates in bit/s on links to hosts.

    flows: number of finite flows; unfinished: how many of these did not finish; missing: their
    bytes that did not arrive. before, after: rate at which all hosts together received data before
    it formed and after; None if the table `rate` has no such interval.
    """

    formed: int
    end: int
    flows: int
    unfinished: int
    missing: int
    before: float | None
    after: float | None

    def _cost(self) -> str:
        parts = []
        if self.after is not None and self.before is not None:
            parts.append(
                f"all hosts together received {show(self.after, 'bit/s')} from then on, "
                f"and {show(self.before, 'bit/s')} before"
            )
        if self.flows:
            alone = self.flows == 1
            what, whose = ("flow has", "its") if alone else ("flows have", "their")
            parts.append(
                f"{self.unfinished} of {self.flows} finite {what} not finished, "
                f"and {show(self.missing, 'B')} of {whose} data are missing"
            )
        rest = show(self.end - self.formed, "ps")
        return (
            f"The run continued for {rest}: {'; '.join(parts)}."
            if parts
            else (f"The run continued for {rest}.")
        )


@dataclass(frozen=True)
class Story(_Cost):
    """The first cyclic deadlock of a run.

    chain: pauses, from the initial trigger to the one that closed the cycle. cycle: egresses in
    the frames' direction. oldest: the pause of one of these that had been in force longest. behind:
    those that wait for it. dissolved: when it did, -1: never. episodes: number of deadlocks.
    has_pauses: whether ports sent any; else they held back credits.
    """

    dissolved: int
    episodes: int
    has_pauses: bool
    chain: tuple[Pause, ...]
    cycle: tuple[Egress, ...]
    behind: tuple[Egress, ...]
    oldest: Pause | None = None

    @property
    def closing(self) -> Pause | None:
        """The pause that closed the cycle."""
        return self.chain[-1] if self.chain else None

    @property
    def circle(self) -> tuple[str, ...]:
        """The nodes of the cycle in the frames' direction, the first one also at the end."""
        return (*(node for node, _ in self.cycle), self.cycle[0][0])

    def sentences(self) -> tuple[str, ...]:
        """Five: the trigger, the chain, what closed it, what waited behind it, what it cost."""
        return self._trigger(), self._chain(), self._closing(), self._behind(), self._cost()

    def notes(self) -> list[str]:
        """What a reader must know besides the sentences."""
        found = []
        if self.episodes > 1:
            found.append(f"This is the first of {self.episodes} deadlocks of the run.")
        if not self.has_pauses:
            found.append(
                "No pauses are sent here: to pause another is to let it run out of credit."
            )
        return found

    def _trigger(self) -> str:
        if not self.chain:
            return "How it began is unknown: no pause that led to it is recorded."
        first, oldest = self.chain[0], self.oldest
        at = f"It began at {_time(first.time)}"
        if oldest and oldest.time < first.time:
            at = (
                f"The oldest pause of the cycle is that by which {oldest.node} paused "
                f"{oldest.peer} at {_time(oldest.time)}; the one that closed it goes back to "
                f"{_time(first.time)}"
            )
        if first.is_of_host:
            return f"{at}, when the host {first.node} could accept no more and paused {first.peer}."
        if not first.egress:
            return f"{at}, when {first.node} paused {first.peer}."
        return (
            f"{at}, when more arrived at {first.node} than its port to {first.egress}, "
            f"which was not paused, could send, so that {first.node} paused {first.peer}."
        )

    def _chain(self) -> str:
        count = len(self.chain)
        if count < 2:
            return "No other pause led to it."
        between = self.chain[1:-1]
        span = show(self.chain[-1].time - self.chain[0].time, "ps", digits=DIGITS)
        whole = f"the chain has {count} pauses in {span}"
        if not between:
            return f"Data that {self.chain[0].peer} could not send led to one more pause: {whole}."
        steps = [f"{one.node} paused {one.peer}" for one in between[:SHOWN]]
        left = len(between) - len(steps)
        more = f" ({left} more not listed)" if left else ""
        return f"Each pause led to the next: {', then '.join(steps)}{more}; {whole}."

    def _closing(self) -> str:
        circle = " → ".join(self.circle)
        waits = (
            f"the {len(self.cycle)} queues {circle} wait for each other and none can send again"
            if self.dissolved < 0
            else f"the {len(self.cycle)} queues {circle} waited for each other, "
            f"until something else ended it at {_time(self.dissolved)}"
        )
        if self.closing is None:
            return f"From {_time(self.formed)} on {waits}."
        return (
            f"The last one, by which {self.closing.node} paused {self.closing.peer} at "
            f"{_time(self.closing.time)}, closed the cycle: from {_time(self.formed)} on {waits}."
        )

    def _behind(self) -> str:
        if not self.behind:
            return "No other queue waited behind them."
        queues = "queue" if len(self.behind) == 1 else "queues"
        names = one_of((f"{node} → {peer}" for node, peer in self.behind), SHOWN)
        return f"{len(self.behind)} more {queues} waited behind them: {names}."


@dataclass(frozen=True)
class Blocked(_Cost):
    """Queues that wait for hosts that pause forever.

    pauses: the last pause of each of these hosts, which does not end. levels: the egresses that
    wait, first those to the hosts, then those that wait for these, and so on.
    """

    pauses: tuple[Pause, ...]
    levels: tuple[tuple[Egress, ...], ...]

    @property
    def answer(self) -> str:
        """Who is waited for, since when, and by how many queues."""
        hosts = "; ".join(
            f"the host {one.node} pauses {one.peer} forever from {_time(one.time)} on"
            for one in self.pauses[:SHOWN]
        )
        more = len(self.pauses) - SHOWN
        left = f"; so do {more} more hosts" if more > 0 else ""
        queues = sum(map(len, self.levels))
        waits = "1 queue waits" if queues == 1 else f"{queues} queues wait"
        whom = "it" if len(self.pauses) == 1 else "them"
        formed = _time(self.formed)
        return f"{hosts[:1].upper()}{hosts[1:]}{left}. From {formed} on {waits} for {whom}."

    def sentences(self) -> tuple[str, ...]:
        """Who is waited for, the queues hop by hop, and what it cost."""
        steps = []
        for number, level in enumerate(self.levels):
            names = one_of((f"{node} → {peer}" for node, peer in level), SHOWN)
            steps.append(f"{'behind these' if number else 'at the host'}: {names}")
        return self.answer, f"The queues that wait, {'; '.join(steps)}.", self._cost()

    def notes(self) -> list[str]:
        """What a reader must know besides the sentences."""
        return [
            "No queues wait for each other: it would end if the host stopped pausing.",
            "Cures are tried for deadlocks only; a watchdog drops what waits for such a host.",
        ]


def _time(picoseconds: int) -> str:
    return show(picoseconds, "ps", digits=DIGITS)


def _first_of(episodes: DataFrame, parts: DataFrame, kind: int) -> tuple[Series, DataFrame]:
    """The first episode of a kind, and its parts in their order."""
    first = episodes[episodes["kind"] == kind].sort_values("formed_ps", kind="stable").iloc[0]
    return first, parts[parts["episode"] == first["episode"]].sort_values("order", kind="stable")


def read_story(store: Store, run_hash: str) -> Story:
    """Read the story from the tables of a finished run that deadlocked.

    It needs the tables deadlock, deadlock_part and flow, and `rate` of ports that lead to hosts.
    """
    content = store.read_summary(run_hash)
    names: Sequence[str] = content["nodes"]
    numbers = known_numbers(content["summary"])
    episodes = store.read_table(run_hash, "deadlock")
    first, parts = _first_of(episodes, store.read_table(run_hash, "deadlock_part"), CYCLIC)
    cycle = _egresses(parts, CYCLE, names)
    held = parts[(parts["part"] == CYCLE) & (parts["time_ps"] >= 0)]
    since = held.sort_values("time_ps", kind="stable")
    oldest = next((Pause(one.peer, one.node, one.time) for one in _pauses(since, names)), None)
    formed, end = int(first["formed_ps"]), int(numbers["end_ps"] or 0)
    flows, unfinished, missing = _flows(store.read_table(run_hash, "flow"), end)
    before, after = _received(store.read_table(run_hash, "rate"), formed)
    return Story(
        formed=formed,
        dissolved=int(first["dissolved_ps"]),
        end=end,
        episodes=int((episodes["kind"] == CYCLIC).sum()),
        has_pauses=bool(numbers.get("pauses_sent")),
        chain=tuple(_pauses(parts[parts["part"] == CHAIN], names)),
        cycle=cycle,
        behind=tuple(one for one in _egresses(parts, STUCK, names) if one not in cycle),
        oldest=oldest,
        flows=flows,
        unfinished=unfinished,
        missing=missing,
        before=before,
        after=after,
    )


def read_blocked(store: Store, run_hash: str, hosts: Collection[str]) -> Blocked:
    """Read from the tables of a finished run which queues wait for hosts that pause forever.

    It needs the tables deadlock, deadlock_part, pause and flow, and `rate` of ports that lead to
    hosts. hosts: names of all.
    """
    content = store.read_summary(run_hash)
    names: Sequence[str] = content["nodes"]
    numbers = known_numbers(content["summary"])
    episodes = store.read_table(run_hash, "deadlock")
    first, parts = _first_of(episodes, store.read_table(run_hash, "deadlock_part"), OF_HOSTS)
    formed, end = int(first["formed_ps"]), int(numbers["end_ps"] or 0)
    flows, unfinished, missing = _flows(store.read_table(run_hash, "flow"), end)
    before, after = _received(store.read_table(run_hash, "rate"), formed)
    levels = levels_of(_egresses(parts, STUCK, names), hosts)
    chain = _pauses(parts[parts["part"] == CHAIN], names)
    known = {(one.node, one.peer): one for one in reversed(chain) if one.is_of_host}
    known |= _last_pauses(store.read_table(run_hash, "pause"), names)
    return Blocked(
        formed=formed,
        end=end,
        flows=flows,
        unfinished=unfinished,
        missing=missing,
        before=before,
        after=after,
        pauses=tuple(
            known.get((host, switch), Pause(host, switch, formed, is_of_host=True))
            for switch, host in levels[0]
        ),
        levels=levels,
    )


def levels_of(stuck: Collection[Egress], hosts: Collection[str]) -> tuple[tuple[Egress, ...], ...]:
    """Return stuck egresses by the number of others that they wait for: those to hosts first.

    Those that wait for none of the others, which the tables then lack, are in the first level.
    """
    to_hosts = [one for one in stuck if one[1] in hosts]
    levels = [to_hosts or list(stuck)]
    left = [one for one in stuck if one not in levels[0]]
    while left:
        heads = {node for node, _ in levels[-1]}
        level = [one for one in left if one[1].partition("#")[0] in heads] or left
        levels.append(level)
        left = [one for one in left if one not in level]
    return tuple(map(tuple, levels))


def _last_pauses(pauses: DataFrame, names: Sequence[str]) -> dict[Egress, Pause]:
    """The last pause that each port sent, by (node, neighbour)."""
    own = pauses[pauses["side"] == PAUSING].sort_values("start_ps", kind="stable")
    columns = (own[column].astype(int) for column in ("node", "peer", "start_ps"))
    return {
        (names[node], names[peer]): Pause(names[node], names[peer], time, is_of_host=True)
        for node, peer, time in zip(*columns, strict=True)
    }


def _egresses(parts: DataFrame, part: int, names: Sequence[str]) -> tuple[Egress, ...]:
    rows = parts[parts["part"] == part]
    ends = zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True)
    return tuple(dict.fromkeys((names[node], names[peer]) for node, peer in ends))


def _pauses(rows: DataFrame, names: Sequence[str]) -> list[Pause]:
    columns = ("node", "peer", "time_ps", "egress_peer", "reason")
    return [
        Pause(names[node], names[peer], time, names[egress] if egress >= 0 else "", why == OF_HOST)
        for node, peer, time, egress, why in zip(
            *(rows[column].astype(int) for column in columns), strict=True
        )
    ]


def _flows(flows: DataFrame, end: int) -> tuple[int, int, int]:
    """Count the finite flows that started, those that did not finish, and their missing bytes."""
    begun = flows[(flows["size_bytes"] > 0) & (flows["start_ps"] < end)]
    left = begun[begun["finish_ps"] < 0]
    return len(begun), len(left), int((left["size_bytes"] - left["delivered_bytes"]).sum())


def _received(rates: DataFrame, formed: int) -> tuple[float | None, float | None]:
    """The rate of data to hosts, in the intervals before a time and in those after it."""
    sent = rates.groupby("time_ps")["tx_bytes"].sum().reset_index()
    starts = sent["time_ps"].shift(fill_value=0)

    def rate(chosen: Series[bool]) -> float | None:
        time = float((sent["time_ps"] - starts)[chosen].sum())
        return 8e12 * float(sent["tx_bytes"][chosen].sum()) / time if time else None

    return rate(sent["time_ps"] <= formed), rate(starts >= formed)
