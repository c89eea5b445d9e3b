"""lost: what the critical chain of a job lost, by cause and place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field
from typing_extensions import override

from pyorch.metrics import Need
from pyorch.report.figures.base import Drawn, FigureError, figure
from pyorch.report.figures.overtime import OneRunAPanel
from pyorch.report.quantities import automatic, show
from pyorch.report.style import COLOURS, label_axis, seaborn

if TYPE_CHECKING:
    from pyorch.metrics import RunTables
    from pyorch.metrics.losses import Chain
    from pyorch.report.data import ReportData
    from pyorch.report.figures.overtime import Panels

CAUSES = ("pauses", "collisions", "sharing", "stragglers")
ITSELF = ("messages", "computing")
"""What a job's time consists of besides."""
LEAST_PS = 1
"""Smaller losses are rounding errors of estimates."""
NOTE = (
    "Of the critical chain, from the flow that arrives last back to one that waited for nothing: "
    "pauses by the port where they began, collisions by the link between switches, sharing (with "
    "other flows at the ends, and ACKs) by the host whose message it was, stragglers by the host "
    "that computed longer. Collisions and sharing are estimates."
)

ALL = "Messages take their ideal times; all lines add up to the job's time."

COST = {
    "pauses": "Pauses that began at {}",
    "collisions": "Collisions at {}",
    "sharing": "Sharing the links with messages of {}",
    "stragglers": "The late computation of {}",
}
"""What a loss of a cause at a place is called in a sentence."""
Line = tuple[str, str, str]
"""A cause, a place and a collective."""


class Loss(NamedTuple):
    """Time lost to a cause at a place by a collective ("" for other traffic) [ps]."""

    cause: str
    place: str
    collective: str
    time: float

    @property
    def where(self) -> Line:
        """What it is of."""
        return self.cause, self.place, self.collective


NONE = Loss("nothing", "", "", 0.0)
"""The line of a job that lost nothing."""


@figure
class LostTime(OneRunAPanel):
    """What a job lost to pauses, collisions, sharing and stragglers, and where; largest first.

    traffic: the label of a [[traffic]] entry. `columns`: a panel for each of its values, with the
    same lines; without it one run, the first that `where` leaves. `most` lines. `costs`: what its
    time consists of, by collective, too.
    """

    kind: Literal["lost"] = "lost"
    traffic: str = Field(description="Label of the job.")
    most: int = Field(default=20, ge=3, le=60, description="Lines at most.")
    costs: bool = Field(
        default=False,
        description="Also what its messages, by collective, and its computing take, which with "
        "the losses add up to its time.",
    )

    @override
    def needs(self) -> list[Need]:
        return [Need("pause_tree"), Need("flow_link")]

    @override
    def panels(self, data: ReportData) -> Panels:
        if self.columns is None and self.seed is None:
            return [(None, self.rows_of(data))]
        return super().panels(data)

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        found: list[tuple[str, list[Loss]]] = []
        endless: list[str] = []
        for value, part in self.panels(data):
            run, title = data.run(part["hash"].iloc[0]), self.title_of(value)
            chain = self._chain(run, title)
            found.append((title, losses_of(run, chain, self.costs)))
            if chain.unfinished:
                place = f" ({title})" if title else ""
                endless.append(f"until the end of the run at {show(run.end_ps, 'ps')}{place}")
        lines = _most_first(losses for _, losses in found) or [NONE.where]
        shown = lines[: self.most]
        times = [loss.time for _, losses in found for loss in losses if loss.where in shown]
        scale = automatic("ps", pd.Series(times or [0.0]))
        canvas, (row,) = self.canvas(
            1, len(found), height=0.7 + 0.16 * len(shown), sharex=True, sharey=True
        )
        for axes, (title, losses) in zip(row, found, strict=True):
            of = {loss.where: loss.time / scale.factor for loss in losses}
            seaborn().barplot(
                x=[of.get(line, 0.0) for line in shown],
                y=range(len(shown)),
                orient="h",
                hue=[cause for cause, _, _ in shown],
                hue_order=(*CAUSES, *ITSELF, NONE.cause),
                palette=COLOURS[: len(CAUSES) + len(ITSELF) + 1],
                saturation=1,
                width=0.7,
                dodge=False,
                legend=False,
                ax=axes,
            )
            axes.set_title(title)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.set_xlabel(label_axis("Time" if self.costs else "Lost", scale.label))
        row[0].set_yticks(range(len(shown)), [_name(line) for line in shown])
        row[0].set_ylim(len(shown) - 0.4, -0.6)
        row[0].set_xlim(left=0)
        parts = [pd.DataFrame(losses or [NONE]).assign(panel=title) for title, losses in found]
        table = pd.concat(parts, ignore_index=True).rename(columns={"time": "lost_ps"})
        table = table if self.columns else table.drop(columns="panel")
        notes = [NOTE, ALL] if self.costs else [NOTE]
        if endless:
            counted = "; ".join(endless)
            notes.insert(0, f"{self.traffic} did not end: what it lost {counted} is counted.")
        if len(lines) > len(shown):
            notes.append(f"{len(lines) - len(shown)} lines are left out.")
        return Drawn(canvas, table, notes)

    def _chain(self, run: RunTables, panel: str) -> Chain:
        from pyorch.metrics.losses import lost_of

        chain = lost_of(run, self.traffic, network=True)
        if chain is None:
            known = ", ".join(run.flows.labels)
            raise FigureError(f"no traffic is called {self.traffic!r}; there is: {known}")
        if not chain.steps:
            raise FigureError(f"{self.traffic} did not begin" + (f", {panel}" if panel else ""))
        return chain

    @override
    def answer(self, data: ReportData) -> str:
        run = data.run(self.rows_of(data)["hash"].iloc[0])
        chain = self._chain(run, "")
        losses = losses_of(run, chain)
        if not losses:
            return f"{self.traffic} lost nothing."
        most = losses[0]
        whole = automatic("ps", [float(chain.time)])
        cost, of = (show(time, "ps", whole, 3) for time in (most.time, chain.time))
        until = " until the end of the run, in which it did not end" if chain.unfinished else ""
        what = COST[most.cause].format(most.place)
        return f"{what} cost {self.traffic} most: {cost} of {of}{until}."


def losses_of(run: RunTables, chain: Chain, costs: bool = False) -> list[Loss]:
    """Return what a chain lost, by cause, place and collective, largest first.

    costs: also the times of its messages and computations themselves, and no hosts that shared.
    """
    sums: dict[tuple[str, str, str], float] = defaultdict(float)
    for cause, place, collective, time in _parts(run, chain):
        if costs or cause not in ITSELF:
            sums[cause, "" if costs and cause == "sharing" else place, collective] += time
    found = [Loss(*key, time) for key, time in sums.items() if time >= LEAST_PS]
    return sorted(found, key=lambda one: (-one.time, one))


def _parts(run: RunTables, chain: Chain) -> Iterator[Loss]:
    def egress(place: tuple[int, int]) -> str:
        node, peer = place
        return run.nodes[node] if peer < 0 else f"{run.nodes[node]} → {run.nodes[peer]}"

    for one in chain.steps:
        host = run.nodes[one.host]
        for cause, by_place in (
            ("pauses", one.losses.pauses),
            ("collisions", one.losses.collisions),
        ):
            for place, time in by_place.items():
                yield Loss(cause, egress(place), one.collective, float(time))
        yield Loss("sharing", host, one.collective, float(one.losses.sharing))
        yield Loss("stragglers", host, one.collective, float(one.late))
        lost = sum(one.losses.pauses.values()) + sum(one.losses.collisions.values())
        yield Loss("messages", "", one.collective, one.took - lost - one.losses.sharing)
        yield Loss("computing", "", "", float(one.computed - one.late))
    yield Loss("computing", "", "", float(chain.computed))


def _most_first(found: Iterable[Sequence[Loss]]) -> list[Line]:
    """What was lost to in any of several runs, in the order of the most that one lost to it."""
    most: dict[Line, float] = {}
    for losses in found:
        for loss in losses:
            most[loss.where] = max(loss.time, most.get(loss.where, 0.0))
    return sorted(most, key=lambda line: (-most[line], line))


def _name(line: Line) -> str:
    cause, *where = line
    return ": ".join(filter(None, [cause, ", ".join(filter(None, where))]))
