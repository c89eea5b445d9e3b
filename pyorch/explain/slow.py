"""Why a run is slow, stalled or unfair: what its flows lost, by cause, by place and by flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import override

from pyorch.base.errors import one_of
from pyorch.explain.base import Explained
from pyorch.explain.delays import CAUSES, WITHHELD, Delay, Place
from pyorch.report.quantities import show

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 10
"""Maximum number of places and flows that a table shows."""
FEW = 3
"""And a sentence."""
Part = tuple[str, Place]
T = TypeVar("T", str, int, Part, Place)


@dataclass(frozen=True)
class Table:
    """A table for people: its title, heads, and rows of texts; the first column has names."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, repr=False)
class Slow(Explained):
    """What the flows of a run lost. delays: of each flow that started.

    tables_bytes: size of the tables that were recorded for it.
    """

    delays: tuple[Delay, ...] = ()
    tables_bytes: int = 0

    @property
    def answer(self) -> str:
        """What cost most, and how many flows did not finish."""
        parts = self._sums(self.delays)
        if not parts:
            return "Nothing delayed the flows of this run: each took its ideal time."
        whole = sum(parts.values())
        (cause, of_cause), *_ = _most(self._by_cause())
        places = {place: time for (other, place), time in parts.items() if other == cause}
        (place, most), *_ = _most(places)
        stuck = sum(not one.finished for one in self.delays)
        left = f" {stuck:,} of {len(self.delays):,} flows did not finish." if stuck else ""
        return (
            f"The largest cause is {cause}: {_share(of_cause, whole)} of the "
            f"{show(whole, 'ps')} that all flows waited, {_share(most, whole)} "
            f"at {self._place(place)}.{left}"
        )

    def sentences(self) -> tuple[str, ...]:
        """What is lost, who lost most, how unequal it is, and what is waited for at the end."""
        found = (self._books(), self._slowest(), self._unequal(), self._stalled())
        return tuple(one for one in found if one)

    def notes(self) -> list[str]:
        """How to read the numbers."""
        hidden = sum(max(0, one.hidden) for one in self.delays)
        found = [
            "A flow's time is that of its own frames and of its waits, which have one cause each."
        ]
        if hidden:
            found.append(
                f"{show(hidden, 'ps')} of the waits made no flow later: where the rates of links "
                "differ, its frames would have waited for the slowest link anyway."
            )
        if any(cause == WITHHELD for cause, _ in self._sums(self.delays)):
            found.append(
                f"The place of {WITHHELD} is where frames waited, not where its limit began; "
                "that of pauses is where these began."
            )
        return found

    def tables(self) -> tuple[Table, ...]:
        """By cause, by place, by queue pair if some carry several flows, and by flow."""
        whole = sum(one.waited for one in self.delays)
        of_causes = [
            (cause, show(time, "ps"), _share(time, whole), CAUSES[cause])
            for cause, time in _most(self._by_cause())
        ]
        places = [
            (self._place(place), show(time, "ps"), _share(time, whole), cause)
            for (cause, place), time in _most(self._sums(self.delays))[:SHOWN]
        ]
        slowest = sorted(self.delays, key=lambda one: (-one.waited, one.flow))[:SHOWN]
        flows = [
            (
                self._flow(one),
                show(one.time, "ps") + ("" if one.finished else ", not finished"),
                show(one.own + one.hidden, "ps"),
                self._parts(one.parts),
            )
            for one in slowest
            if one.waited
        ]
        return (
            Table("By cause", ("Cause", "Waited", "Share", "Meaning"), of_causes),
            Table("By place", ("Where", "Waited", "Share", "Cause"), places),
            *self._pairs(whole),
            Table(
                "By flow, which waited longest first",
                ("Flow", "Took", "Alone", "Waited most for"),
                flows,
            ),
        )

    def _pairs(self, whole: int) -> Iterator[Table]:
        """What the flows of each queue pair lost, if any carries several."""
        carried: dict[int, list[Delay]] = defaultdict(list)
        for one in self.delays:
            carried[one.queue_pair].append(one)
        lost = {pair: sum(one.waited for one in some) for pair, some in carried.items()}
        if len(carried) == len(self.delays):
            return
        names = self.network.names
        rows = [
            (
                f"{pair}, {names[carried[pair][0].src]} → {names[carried[pair][0].dst]}",
                f"{len(carried[pair]):,}",
                show(time, "ps"),
                _share(time, whole),
                self._parts(self._sums(carried[pair])),
            )
            for pair, time in _most(lost)[:SHOWN]
        ]
        heads = ("Queue pair", "Flows", "Waited", "Share", "Waited most for")
        yield Table("By queue pair", heads, rows)

    def _parts(self, parts: Mapping[Part, int]) -> str:
        return "; ".join(
            f"{show(time, 'ps')} {cause}, {self._place(place)}"
            for (cause, place), time in _most(parts)[:FEW]
        )

    def frame(self) -> DataFrame:
        """Every wait of every flow, as a table: `flow`, `cause`, `node`, `peer`, `lost_ps`."""
        import pandas as pd

        names = (*self.network.end_names, "")
        rows = [
            (one.flow, cause, names[node], names[peer], time)
            for one in self.delays
            for (cause, (node, peer)), time in sorted(one.parts.items())
        ]
        return pd.DataFrame(rows, columns=["flow", "cause", "node", "peer", "lost_ps"])

    @override
    def lines(self) -> Iterator[str]:
        """The answer, and where to find more."""
        yield self.answer
        yield from self.sentences()
        yield "Every wait: .frame(); of each flow: .delays"

    def _books(self) -> str:
        time, own, waited = (
            sum(getattr(one, name) for one in self.delays) for name in ("time", "own", "waited")
        )
        return (
            f"{len(self.delays):,} flows took {show(time, 'ps')} in all: {show(own, 'ps')} for "
            f"their own frames, {show(waited, 'ps')} of waiting."
        )

    def _slowest(self) -> str:
        one = self._longest()
        if one is None or not one.waited:
            return ""
        return f"Flow {self._flow(one)} waited longest, {self._waits(one)}."

    def _longest(self) -> Delay | None:
        return max(self.delays, key=lambda one: (one.waited, -one.flow), default=None)

    def _unequal(self) -> str:
        """The pair of finished flows of a size, alone of the same time, whose times differ most."""
        sizes: dict[tuple[int, int], list[Delay]] = defaultdict(list)
        for one in self.delays:
            if one.finished and one.time > 0:
                sizes[one.size, one.ideal].append(one)
        pairs = [
            (min(some, key=lambda one: one.time), max(some, key=lambda one: one.time))
            for some in sizes.values()
        ]
        fast, slow = max(pairs, key=lambda pair: pair[1].time / pair[0].time, default=(None, None))
        if fast is None or slow is None or slow.time <= 1.1 * fast.time:
            return ""
        said = (
            f"Flows of {show(slow.size, 'B')} and of equal paths took from {show(fast.time, 'ps')} "
            f"({self._flow(fast)}) to {show(slow.time, 'ps')}"
        )
        if slow is self._longest():
            return f"{said}, the one above."
        return f"{said}: {self._flow(slow)} waited {self._waits(slow)}."

    def _stalled(self) -> str:
        waiting: dict[Part, int] = defaultdict(int)
        for one in self.delays:
            if one.waits_for is not None:
                waiting[one.waits_for] += 1
        if not waiting:
            return ""
        said = (
            f"{count:,} for {cause} at {self._place(place)}"
            for (cause, place), count in _most(waiting)
        )
        return f"What flows that are not finished wait for at the end: {one_of(said, FEW)}."

    def _waits(self, one: Delay) -> str:
        said = (
            f"{show(time, 'ps')} for {cause} at {self._place(place)}"
            for (cause, place), time in _most(one.parts)
        )
        return one_of(said, FEW)

    def _flow(self, one: Delay) -> str:
        names = self.network.names
        size = f" ({show(one.size, 'B')})" if one.size else ""
        return f"{one.flow}, {names[one.src]} → {names[one.dst]}{size}"

    def _place(self, place: Place) -> str:
        names = self.network.end_names
        return names[place[0]] + (f" → {names[place[1]]}" if place[1] >= 0 else "")

    def _by_cause(self) -> dict[str, int]:
        found: dict[str, int] = defaultdict(int)
        for (cause, _), time in self._sums(self.delays).items():
            found[cause] += time
        return found

    @staticmethod
    def _sums(delays: Iterable[Delay]) -> dict[Part, int]:
        found: dict[Part, int] = defaultdict(int)
        for one in delays:
            for part, time in one.parts.items():
                found[part] += time
        return found


def _most(times: Mapping[T, int]) -> list[tuple[T, int]]:
    """The items of a dictionary, the largest first."""
    return sorted(times.items(), key=lambda one: (-one[1], one[0]))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
