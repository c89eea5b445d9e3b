"""pause_tree: which congestion point cost which port how much paused time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import pd
from pyorch.metrics import Need, RunTables
from pyorch.metrics.fields import OfClass
from pyorch.report.figures.base import Drawn, FigureError, FigureModel, figure
from pyorch.report.quantities import automatic
from pyorch.report.style import COLOURS, label_axis, seaborn

if TYPE_CHECKING:
    from pyorch.report.data import ReportData

Egress = tuple[int, int]
"""A node and the neighbour that its port leads to; -1 where a host is the cause."""

_INDENT = "    "


@dataclass(frozen=True)
class Line:
    """One line of the tree: its depth, what it names, and paused time [ps]."""

    depth: int
    egress: Egress
    paused: float


@figure
class PauseTree(FigureModel):
    """Congestion points, and below each the ports that were paused because of it, hop by hop.

    Bars are paused time, summed over the classes (or of `class` alone); that of a congestion point
    is the sum of what lies below it. One run, the first that `where` leaves. `most` lines.
    """

    kind: Literal["pause_tree"] = "pause_tree"
    class_number: OfClass = None
    most: int = Field(default=30, ge=3, le=60, description="Lines at most.")

    @override
    def needs(self) -> list[Need]:
        return [Need("pause_tree")]

    @override
    def draw(self, data: ReportData) -> Drawn:

        run = data.run(self.rows_of(data)["hash"].iloc[0])
        lines = grow(self._holds(run), run.network.far)
        if not lines:
            raise FigureError("no port was paused")
        shown = lines[: self.most]
        names = [_name(line, run.nodes) for line in shown]
        times = pd.Series([line.paused for line in shown])
        scale = automatic("ps", times)
        canvas, panels = self.canvas(1, 1, height=0.6 + 0.16 * len(shown))
        axes = panels[0][0]
        seaborn().barplot(
            x=times / scale.factor,
            y=range(len(shown)),
            orient="h",
            hue=[line.depth == 0 for line in shown],
            palette={True: COLOURS[1], False: COLOURS[0]},
            saturation=1,
            width=0.7,
            dodge=False,
            legend=False,
            ax=axes,
        )
        axes.set_yticks(range(len(shown)), names)
        for label in axes.get_yticklabels():
            label.set_horizontalalignment("left")
        axes.tick_params(axis="y", length=0, pad=4.2 * max(map(len, names)))
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        of = "ports" if self.class_number is not None else "ports and classes"
        axes.set_xlabel(label_axis(f"Paused time, sum of {of}", scale.label))
        table = pd.DataFrame(
            {
                "depth": [line.depth for line in lines],
                "what": [_name(line, run.nodes).strip() for line in lines],
                "paused_ps": [line.paused for line in lines],
            }
        )
        notes = [NOTE]
        if len(lines) > len(shown):
            notes.append(f"{len(lines) - len(shown)} lines are left out.")
        return Drawn(canvas, table, notes)

    def _holds(self, run: RunTables) -> pd.DataFrame:

        table = run.find_table("pause_tree")
        if table is None:
            raise FigureError("the runs have no table 'pause_tree'; add a [[trace]] and run again")
        names = ("start_ps", "end_ps", "node", "peer", "class", "cause_peer", "depth")
        holds = pd.DataFrame({name: table[name] for name in (*names, "root_node", "root_peer")})
        if self.class_number is not None:
            holds = holds[holds["class"] == self.class_number]
        return holds


NOTE = (
    "Orange: a port where more arrived than left, or a host that paused, with the time it cost: "
    "the sum of what is below it, which may be longer than the run. "
    "Below it, hop by hop: the ports that were paused for it (node → neighbour)."
)


def grow(holds: pd.DataFrame, far: Callable[[int], int] = int) -> list[Line]:
    """Return the lines of the tree: congestion points by cost, each with its victims.

    far: the node of a neighbour, where two nodes have several links.

    A victim is below the port whose pause caused its own; if causes form a cycle, it is below the
    first.
    """
    roots: dict[Egress, dict[Egress, dict[Egress | None, float]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(float))
    )
    columns = ("node", "peer", "cause_peer", "depth", "root_node", "root_peer")
    times = (holds["end_ps"] - holds["start_ps"]).astype(float)
    for values, paused in zip(
        holds[list(columns)].astype(int).itertuples(index=False), times, strict=True
    ):
        node, peer, cause, depth, root_node, root_peer = values
        parent = (far(peer), cause) if depth > 0 else None
        roots[root_node, root_peer][node, peer][parent] += paused
    lines: list[Line] = []
    totals = {
        root: sum(sum(parents.values()) for parents in victims.values())
        for root, victims in roots.items()
    }
    for root in sorted(roots, key=lambda key: (-totals[key], key)):
        lines.append(Line(0, root, totals[root]))
        lines += _below(roots[root])
    return lines


def _below(victims: Mapping[Egress, Mapping[Egress | None, float]]) -> list[Line]:
    """Return the victims of one congestion point, each once, below its most frequent cause."""
    cost = {egress: sum(parents.values()) for egress, parents in victims.items()}
    main = {
        egress: max(parents, key=lambda parent: (parents[parent], parent is None))
        for egress, parents in victims.items()
    }
    children: dict[Egress | None, list[Egress]] = defaultdict(list)
    for egress, parent in main.items():
        children[parent if parent in victims else None].append(egress)
    lines: list[Line] = []
    left = set(victims)

    def visit(egress: Egress, depth: int) -> None:
        left.discard(egress)
        lines.append(Line(depth, egress, cost[egress]))
        for child in sorted(children[egress], key=lambda key: (-cost[key], key)):
            if child in left:
                visit(child, depth + 1)

    for egress in sorted(children[None], key=lambda key: (-cost[key], key)):
        visit(egress, 1)
    while left:  # those whose causes form a cycle
        visit(max(left, key=lambda key: (cost[key], key)), 1)
    return lines


def _name(line: Line, nodes: Sequence[str]) -> str:
    node, peer = line.egress
    if line.depth == 0 and peer < 0:
        return f"{nodes[node]} paused"
    return _INDENT * line.depth + f"{nodes[node]} → {nodes[peer]}"
