"""lost: what the critical chain of a job lost, by cause and place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field
from typing_extensions import override

from pyorch.metrics import Need
from pyorch.report.figures.base import Drawn, FigureError, FigureModel, figure
from pyorch.report.quantities import automatic
from pyorch.report.style import COLOURS, label_axis, seaborn

if TYPE_CHECKING:
    from pyorch.metrics import RunTables
    from pyorch.metrics.losses import Chain
    from pyorch.report.data import ReportData

CAUSES = ("pauses", "collisions", "sharing", "stragglers")
LEAST_PS = 1
"""Smaller losses are rounding errors of estimates."""
NOTE = (
    "Of the critical chain, from the flow that arrives last back to one that waited for nothing: "
    "pauses by the port where they began, collisions by the link between switches, sharing (with "
    "other flows at the ends, and ACKs) by the host whose message it was, stragglers by the host "
    "that computed longer. Collisions and sharing are estimates."
)


class Loss(NamedTuple):
    """Time lost to a cause at a place by a collective ("" for other traffic) [ps]."""

    cause: str
    place: str
    collective: str
    time: float


NONE = Loss("nothing", "", "", 0.0)
"""The line of a job that lost nothing."""


@figure
class LostTime(FigureModel):
    """What a job lost to pauses, collisions, sharing and stragglers, and where; largest first.

    traffic: the label of a [[traffic]] entry. One run, the first that `where` leaves. `most` lines.
    """

    kind: Literal["lost"] = "lost"
    traffic: str
    most: int = Field(default=20, ge=3, le=60)

    @override
    def needs(self) -> list[Need]:
        return [Need("pause_tree"), Need("flow_link")]

    @override
    def draw(self, data: ReportData) -> Drawn:
        import pandas as pd

        run = data.run(self.rows_of(data)["hash"].iloc[0])
        losses = losses_of(run, self._chain(run)) or [NONE]
        shown = losses[: self.most]
        scale = automatic("ps", pd.Series([one.time for one in shown]))
        canvas, panels = self.canvas(1, 1, height=0.7 + 0.16 * len(shown))
        axes = panels[0][0]
        seaborn().barplot(
            x=[one.time / scale.factor for one in shown],
            y=range(len(shown)),
            orient="h",
            hue=[one.cause for one in shown],
            hue_order=(*CAUSES, NONE.cause),
            palette=COLOURS[: len(CAUSES) + 1],
            saturation=1,
            width=0.7,
            dodge=False,
            legend=False,
            ax=axes,
        )
        axes.set_yticks(range(len(shown)), [_name(one) for one in shown])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(label_axis("Lost", scale.label))
        table = pd.DataFrame(losses).rename(columns={"time": "lost_ps"})
        notes = [NOTE]
        if len(losses) > len(shown):
            notes.append(f"{len(losses) - len(shown)} lines are left out.")
        return Drawn(canvas, table, notes)

    def _chain(self, run: RunTables) -> Chain:
        from pyorch.metrics.losses import lost_of

        chain = lost_of(run, self.traffic, network=True)
        if chain is None:
            known = ", ".join(run.flows.labels)
            raise FigureError(f"no traffic is called {self.traffic!r}; there is: {known}")
        if chain.unfinished:
            raise FigureError(f"{self.traffic} did not end")
        return chain


def losses_of(run: RunTables, chain: Chain) -> list[Loss]:
    """Return what a chain lost, by cause, place and collective, largest first."""
    sums: dict[tuple[str, str, str], float] = defaultdict(float)
    for cause, place, collective, time in _parts(run, chain):
        sums[cause, place, collective] += time
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


def _name(loss: Loss) -> str:
    if loss is NONE:
        return loss.cause
    of = f", {loss.collective}" if loss.collective else ""
    return f"{loss.cause}: {loss.place}{of}"
