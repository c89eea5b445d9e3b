"""pause_map and deadlock_map: the network with what is paused, at one moment and over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.lazy import np, pd
from pyorch.metrics import Need, RunTables
from pyorch.metrics.fields import OfClass, Time
from pyorch.report.figures.base import Drawn, FigureError, FigureModel, figure
from pyorch.report.figures.network_live import live_map
from pyorch.report.figures.picture import Egress, Episode, Picture
from pyorch.report.layout import layout
from pyorch.report.select import having
from pyorch.report.style import COLUMN_INCHES

if TYPE_CHECKING:
    from pyorch.network.topology import Topology
    from pyorch.report.data import ReportData

_PARTS = {"cycle": 0, "stuck": 1, "chain": 2}
_MOST_SWITCHES = 60
_MOST_INCHES, _TEXTS_INCHES = 3.6, 0.8
"""Maximum height of a map, and height of what is above and below the network."""
_LINKS = "Each link is drawn once a direction; arrows point the way frames wanted to go"
PAUSE_NOTE = f"Drawn at the moment with the most pauses. {_LINKS}."
NOTE = (
    f"Drawn at the moment the deadlock forms. {_LINKS}, dotted links are down. Numbers: "
    "pauses of the causal chain in their order; 1, with the star, is the initial trigger."
)


class _Map(FigureModel):
    """The network of one run, with links coloured by their pauses; the page has a time slider.

    `class` picks one class, `frames` is the most steps of the slider (0: none): the moments at
    which a pause begins or ends, or as many moments at equal distances when there are more.
    """

    class_number: OfClass = None
    frames: int = Field(
        default=60, ge=0, le=200, description="Steps of the slider at most; 0: no slider."
    )

    def _pauses(self, run: RunTables) -> pd.DataFrame:
        """Intervals in which egresses obeyed a pause: start_ps, end_ps, node, peer."""
        table = run.find_table("pause")
        if table is None:
            raise FigureError("the runs have no table 'pause'; add a [[trace]] and run again")
        names = ("start_ps", "end_ps", "node", "peer", "class", "side")
        rows = pd.DataFrame({name: table[name] for name in names})
        rows = rows[rows["side"] == 1]
        if self.class_number is not None:
            rows = rows[rows["class"] == self.class_number]
        return rows[["start_ps", "end_ps", "node", "peer"]]

    def _drawn(self, picture: Picture, at: float, window: tuple[float, float], note: str) -> Drawn:
        """Draw the picture at a time, and live over a window [ps]."""
        # no higher than the network at this width, with the title above and the legend below
        (left, right), (low, high) = picture.limits(72 * COLUMN_INCHES[self.width])
        height = COLUMN_INCHES[self.width] * (high - low) / (right - left) + _TEXTS_INCHES
        canvas, panels = self.canvas(1, 1, height=min(height, _MOST_INCHES))
        picture.draw(panels[0][0], at, wide=self.width == "two")
        times = moments(picture.pauses, *window, self.frames) if self.frames else ()
        draw_live = partial(live_map, picture, times, at) if times else None
        return Drawn(canvas, picture.table(at), [note], draw_live)


@figure
class PauseMap(_Map):
    """The network at the moment when most egresses are paused, or at a given time.

    Shows one run, the first that `where` leaves, of one `seed`. `at` is the time of the printed
    figure; the slider goes over `from`..`until` (default: from the first pause to the last).
    """

    kind: Literal["pause_map"] = "pause_map"
    seed: int | None = Field(default=None, description="The seed that is shown; none: the first.")
    at: Time | None = Field(
        default=None, description="Time of the printed figure; none: when most are paused."
    )
    start: Time | None = Field(
        default=None, alias="from", description="Begin of the slider; none: the first pause."
    )
    until: Time | None = Field(default=None, description="End of the slider; none: the last pause.")

    @override
    def needs(self) -> list[Need]:
        return [Need("pause", None, self.class_number)]

    @override
    def rows_of(self, data: ReportData) -> pd.DataFrame:
        rows = super().rows_of(data)
        if self.seed is not None:
            rows = having(rows, "seed", self.seed)
            if not len(rows):
                raise FigureError(f"no finished run has seed {self.seed}")
        return rows

    @override
    def draw(self, data: ReportData) -> Drawn:
        run = data.run(self.rows_of(data)["hash"].iloc[0])
        pauses = self._pauses(run)
        if not len(pauses):
            raise FigureError("there is no pause")
        network = _network(run)
        picture = Picture(network, layout(network), None, pauses)
        first = float(pauses["start_ps"].min() if self.start is None else self.start)
        last = float(pauses["end_ps"].max() if self.until is None else self.until)
        at = busiest(pauses, first, last) if self.at is None else float(self.at)
        note = PAUSE_NOTE if self.at is None else f"{_LINKS}."
        return self._drawn(picture, at, (first, last), note)


def busiest(pauses: pd.DataFrame, first: float, last: float) -> float:
    """The first moment of a window [ps] at which most pauses are in force."""
    starts = np.sort(pauses["start_ps"].to_numpy(dtype=np.float64))
    ends = np.sort(pauses["end_ps"].to_numpy(dtype=np.float64))
    times = np.unique(np.append(starts[(starts >= first) & (starts <= last)], first))
    in_force = np.searchsorted(starts, times, "right") - np.searchsorted(ends, times, "right")
    return float(times[in_force.argmax()])


def moments(pauses: pd.DataFrame, first: float, last: float, most: int) -> list[float]:
    """The times [ps] of a slider: every change inside a window if there are few, else a grid."""
    changes = np.append(pauses["start_ps"], pauses["end_ps"]).astype(np.float64)
    inside = np.unique(changes[(changes > first) & (changes < last)])
    if len(inside) + 2 <= most:
        return [first, *inside.tolist(), last]
    return [float(time) for time in np.linspace(first, last, most)]


@figure
class DeadlockMap(_Map):
    """The network when a deadlock forms: paused links, the cycle, the causal chain, its trigger.

    Shows one run, the first that `where` leaves and that deadlocked; the page's slider shows how
    the deadlock developed. `episode` picks a later deadlock.
    """

    kind: Literal["deadlock_map"] = "deadlock_map"
    episode: int = Field(default=0, ge=0, description="Number of the deadlock; 0: the first.")

    @override
    def needs(self) -> list[Need]:
        return [Need("pause", None, self.class_number), Need("deadlock")]

    @override
    def draw(self, data: ReportData) -> Drawn:
        runs = self.rows_of(data)
        run, found = self._find(data, list(runs["hash"]))
        network = _network(run)
        pauses = self._pauses(run)
        begin = min([pauses["start_ps"].min(), found.formed]) if len(pauses) else found.formed
        picture = Picture(network, layout(network), found, pauses)
        return self._drawn(picture, found.formed, (float(begin), found.formed), NOTE)

    def _find(self, data: ReportData, hashes: Sequence[str]) -> tuple[RunTables, Episode]:
        """Return the first run that has the deadlock, and the deadlock."""
        for key in hashes:
            episodes = data.table(key, "deadlock")
            parts = data.table(key, "deadlock_part")
            if episodes is None or parts is None:
                raise FigureError("the runs have no table 'deadlock'; add a [[trace]]")
            cyclic = episodes[episodes["kind"] == 0]
            if len(cyclic) > self.episode:
                row = cyclic.iloc[self.episode]
                number, formed = int(row["episode"]), float(row["formed_ps"])
                return (run := data.run(key)), _episode(run.network, number, formed, parts)
        raise FigureError("none of these runs deadlocked")


def _episode(network: Topology, number: int, formed: float, parts: pd.DataFrame) -> Episode:
    mine = parts[parts["episode"] == number].sort_values("order")

    def egresses(part: str) -> list[Egress]:
        rows = mine[mine["part"] == _PARTS[part]]
        return list(zip(rows["node"].astype(int), rows["peer"].astype(int), strict=True))

    chain = mine[mine["part"] == _PARTS["chain"]]
    # the port that paused belongs to the node; what it paused is its neighbour's egress
    held = [network.reverse((int(node), int(peer))) for node, peer in egresses("chain")]
    return Episode(
        formed=formed,
        cycle=tuple(egresses("cycle")),
        stuck=frozenset(egresses("stuck")),
        chain=tuple(zip(chain["time_ps"].astype(float), held, strict=True)),
    )


def _network(run: RunTables) -> Topology:
    import pyorch.network  # noqa: F401  (registers the kinds of topology)
    from pyorch.network import topology

    network = run.network
    switches = int((network.kinds == topology.SWITCH).sum())
    if switches > _MOST_SWITCHES:
        what = f"{switches} switches are too many for a picture"
        raise FigureError(f"{what}; at most {_MOST_SWITCHES} fit")
    return network
