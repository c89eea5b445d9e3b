"""The border of a region of settings, found by runs: `border` with the runs of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from pyorch.addons.lab.border import (
    COARSE,
    CONFIDENCE,
    Map,
    Place,
    Point,
    Verdict,
    judge,
    looks,
    map_border,
)
from pyorch.addons.lab.condition import read_condition
from pyorch.addons.lab.ranges import Axis
from pyorch.addons.lab.search import OPTION, trials_of
from pyorch.addons.lab.trials import IMPOSSIBLE, Trials
from pyorch.addons.lab.varied import Varied
from pyorch.addons.lab.write import csv_of
from pyorch.base.errors import Problem, UserError
from pyorch.base.files import replacing, storage_error, write_atomically
from pyorch.notebook import Readable
from pyorch.plan import RunSpec
from pyorch.report.style import COLUMN_INCHES, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


MADE_BY = "# The border of a region, found by `pyorch search --map`"
"""How files of this kind begin: no other file is overwritten."""
CELLS = 16
"""Final number of cells along each axis."""
LOOKS = {
    Verdict.HOLDS: ("#c0392b", "the condition holds"),
    Verdict.NOT: ("white", "it does not hold"),
    Verdict.OPEN: ("#f2b134", "undecided"),
    Verdict.IMPOSSIBLE: ("0.6", "the run is impossible"),
}
"""Colour and meaning of points."""
INSIDE, OUTSIDE, BETWEEN = "#eccac5", "#e4eef5", "#fbf0d5"
"""Colours of cells: the condition holds at all corners, at none, or the border crosses it."""


@dataclass(frozen=True, repr=False)
class Region(Readable):
    """A mapped region. seeds: that a point may use. origin: the run on which it is based.

    reason: why the first of its impossible points is; "" if there is none.
    """

    map: Map
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    trials: Trials
    origin: str
    reason: str = ""
    files: RegionFiles | None = None
    """If it was asked to write some."""

    @override
    def lines(self) -> Iterator[str]:
        """How much was computed and decided, and how narrow the border is along each axis."""
        verdicts = Counter(point.verdict for point in self.map.points.values())
        count, whole = verdicts.total(), (self.map.side + 1) ** len(self.axes)
        often = f"holds at {verdicts[Verdict.HOLDS]}, {verdicts[Verdict.OPEN]} undecided"
        text = self.trials.condition.text
        yield f"points:   {count} of {whole} of the grid; {text!r} {often}"
        if impossible := verdicts[Verdict.IMPOSSIBLE]:
            first, logs = f"the first because: {self.reason}", self.trials.store.failed
            yield f"none:     at {impossible} points the run is impossible, {first}; logs: {logs}"
        runs = sum(point.runs for point in self.map.points.values())
        yield f"runs:     {runs}, {self.trials.runs} simulated now, in {self.trials.store.root}"
        if len(self.seeds) == 1:
            yield "decided:  by one seed, so that no confidence is stated"
        else:
            confidence = f"at {CONFIDENCE:.0%} each, Clopper and Pearson, {len(self.seeds)} seeds"
            yield f"decided:  {confidence} at most"
        for key, width in self.widest.items():
            yield f"border:   along {key} in intervals at most {width} wide"
        if not self.widest:
            yield "border:   none between the points of the grid"

    def texts(self, place: Place) -> dict[str, str]:
        """The values at a point by key."""
        return _texts(self.axes, place, self.map.side)

    @property
    def widest(self) -> dict[str, str]:
        """Along each axis, the width of the widest interval that the border crosses."""
        found = {}
        for number, axis in enumerate(self.axes):
            ends = [
                tuple(axis.at(place[number] / self.map.side) for place in (one.low, one.high))
                for one in self.map.crossings()
                if one.axis == number
            ]
            if ends and axis.log:
                found[axis.key] = f"a factor of {max(high / low for low, high in ends):.3g}"
            elif ends:
                width = max(high - low for low, high in ends)
                found[axis.key] = axis.written(width if axis.whole else float(f"{width:.4g}"))
        return found


def map_region(
    source: Varied,
    condition: str,
    axes: Sequence[Axis],
    cells: int = CELLS,
    jobs: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Region:
    """Map where a condition holds for a run of a study, over two or three keys with ranges.

    cells: final number along each axis, 4 times a power of two. Each point uses the seeds of the
    run's setting until it is decided. tell: gets a line for each point. Everything is kept, so that
    the same call resumes after an interruption. Raises UserError, KeyboardInterrupt.
    """
    asked = read_condition(condition, OPTION)
    plan, spec = source.plan, source.spec
    seeds = tuple(one.seed for one in plan.specs if one.params == spec.params)
    _check(axes, cells, seeds)
    own = ["run.stop_on_deadlock=true"] if asked.is_deadlock else []
    own += ["run.allow_loss=true"] if asked.is_lossy else []
    source = replace(source, overrides=[*source.overrides, *own])
    source.runs(_texts(axes, (cells // 2,) * len(axes), cells), seeds[:1])  # finds mistakes first
    with trials_of(source, asked, jobs, tell) as trials:
        judged = _Judge(source, trials, axes, cells, seeds)
        found = map_border(len(axes), cells, judged)
    origin, reason = f"{plan.store.name}, {spec.title}", judged.reason
    return Region(found, tuple(axes), seeds, trials, origin, reason)


def _check(axes: Sequence[Axis], cells: int, seeds: Sequence[int]) -> None:
    problems = []
    if len(axes) not in (2, 3):
        what, allowed = f"{len(axes)} given with --map", "two or three"
        problems.append(Problem("--vary", what, allowed))
    for axis in axes:
        if axis.choices:
            what = "this is not a range"
            problems.append(Problem(f"--vary {axis.key}", what, f"{axis.key}=LOW..HIGH"))
    if cells < COARSE or cells // COARSE & (cells // COARSE - 1) or cells % COARSE:
        problems.append(Problem("--cells", f"{cells} is not allowed", "4, 8, 16, 32, ..."))
    try:
        looks(len(seeds))
    except ValueError as error:
        what = f"{len(seeds)} seeds decide nothing at a confidence of {CONFIDENCE:.0%}"
        problems.append(Problem("--seeds", what, str(error)))
    if problems:
        raise UserError(problems)


def _texts(axes: Sequence[Axis], place: Place, side: int) -> dict[str, str]:
    return {axis.key: axis.text(step / side) for axis, step in zip(axes, place, strict=True)}


@dataclass
class _Judge:
    """Judges points by runs, one seed after the other while they are undecided."""

    source: Varied
    trials: Trials
    axes: Sequence[Axis]
    side: int
    seeds: Sequence[int]
    reason: str = ""
    """Why the first impossible point is that."""

    def __call__(self, places: Sequence[Place]) -> Mapping[Place, Point]:
        """Judge some points; points with the same rounded values are judged once."""
        alike: dict[tuple[str, ...], list[Place]] = {}
        for place in places:
            values = _texts(self.axes, place, self.side)
            alike.setdefault(tuple(values.values()), []).append(place)
        firsts = [same[0] for same in alike.values()]
        points = self._judge(firsts)
        return {place: points[same[0]] for same in alike.values() for place in same}

    def _judge(self, places: Sequence[Place]) -> dict[Place, Point]:
        specs = {place: self._specs(place) for place in places}
        outcomes: dict[Place, list[bool | None]] = {place: [] for place in places}
        points: dict[Place, Point] = {}
        done = 0
        for look in looks(len(self.seeds)):
            waiting = [place for place in places if place not in points]
            parts = [specs[place][done:look] for place in waiting]
            found = iter(self.trials.of_runs([spec for part in parts for spec in part]))
            for place, part in zip(waiting, parts, strict=True):
                made = [next(found) for _ in part]
                self.reason = self.reason or next((one.why for one in made if one.why), "")
                outcomes[place] += [None if o.word == IMPOSSIBLE else o.holds for o in made]
                outcomes[place] += [] if part else [None] * (look - done)
                point = judge(outcomes[place], len(self.seeds))
                if point.verdict is not Verdict.OPEN or look == len(self.seeds):
                    points[place] = point
                    self._tell(place, point)
            done = look
        return points

    def _specs(self, place: Place) -> list[RunSpec]:
        """The runs of a point; none if its values are impossible."""
        try:
            return self.source.runs(_texts(self.axes, place, self.side), self.seeds)
        except UserError as error:
            self.reason = self.reason or f"{error.problems[0].where}: {error.problems[0].what}"
            return []

    def _tell(self, place: Place, point: Point) -> None:
        values = ", ".join(f"{k}={v}" for k, v in _texts(self.axes, place, self.side).items())
        often = f"in {point.hits} of {point.runs}"
        self.trials.tell(f"{values}: {point.verdict.value} ({often})")


# ---------------------------------------------------------------------------------------------
# Files


@dataclass(frozen=True)
class RegionFiles:
    """The files of a map: the crossings of the border, all points, the figure in two formats."""

    border: Path
    points: Path
    figures: tuple[Path, ...]


def write_region(region: Region, file: Path) -> RegionFiles:
    """Write the border as CSV, and .points.csv, .png and .pdf next to it. Raises UserError."""
    points = file.with_suffix(".points.csv")
    figures = (file.with_suffix(".png"), file.with_suffix(".pdf"))
    head = f"{MADE_BY}: {region.trials.condition.text}, {region.origin} (docs/deadlock-lab.md)\n"
    try:
        write_atomically(file, csv_of(list(_border_rows(region)), head))
        write_atomically(points, csv_of(list(_point_rows(region)), head))
        with paper_style():
            canvas = draw(region)
            with replacing(figures[0]) as temporary:
                canvas.savefig(temporary, dpi=200, metadata={"Software": None})
            with replacing(figures[1]) as temporary:
                canvas.savefig(temporary, metadata={"CreationDate": None})
    except OSError as error:
        raise storage_error(error, file) from error
    return RegionFiles(file, points, figures)


def _border_rows(region: Region) -> Iterator[dict[str, Any]]:
    """One row for each interval in which the border crosses a line of the grid."""
    for one in region.map.crossings():
        low, high = region.texts(one.low), region.texts(one.high)
        key = region.axes[one.axis].key
        fixed = {name: "" if name == key else value for name, value in low.items()}
        holds = "high" if region.map.points[one.high].verdict is Verdict.HOLDS else "low"
        ends = {"low": low[key], "high": high[key], "holds_at": holds}
        yield {"along": key, **fixed, **ends, "undecided": one.open}
    if not region.map.crossings():
        fixed = {axis.key: "" for axis in region.axes}
        yield {"along": "none", **fixed, "low": "", "high": "", "holds_at": "", "undecided": 0}


def _point_rows(region: Region) -> Iterator[dict[str, Any]]:
    for place, point in sorted(region.map.points.items()):
        interval = {"low": f"{point.low:.4f}", "high": f"{point.high:.4f}"}
        counts = {"holds": point.hits, "runs": point.runs}
        yield {**region.texts(place), **counts, **interval, "verdict": point.verdict.value}


def draw(region: Region) -> Canvas:
    """Draw cells and points over the first two axes; a third one gets a panel at each quarter."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    side = region.map.side
    slices = [()] if len(region.axes) == 2 else [(at,) for at in range(0, side + 1, side // COARSE)]
    wide = COLUMN_INCHES["two"] if len(slices) > 1 else COLUMN_INCHES["one"]
    canvas = Figure(figsize=(wide, 3.1 if len(slices) == 1 else 2.4), layout="constrained")
    FigureCanvasAgg(canvas)
    panels = canvas.subplots(1, len(slices), squeeze=False, sharey=True)[0]
    for panel, at in zip(panels, slices, strict=True):
        _draw_slice(region, panel, at)
        if at:
            value = region.axes[2].text(at[0] / side)
            panel.set_title(value if at[0] else f"{region.axes[2].key} = {value}", loc="left")
    panels[0].set_ylabel(region.axes[1].key)
    used = {point.verdict for point in region.map.points.values()}
    handles: list[Any] = [
        Line2D([], [], marker="o", linestyle="", markeredgecolor="0.3", markersize=3.5,
               markerfacecolor=colour, markeredgewidth=0.5, label=name)
        for verdict, (colour, name) in LOOKS.items() if verdict in used
    ]  # fmt: skip
    handles.append(Patch(facecolor=BETWEEN, edgecolor="0.7", linewidth=0.4, label="border"))
    canvas.legend(handles=handles, loc="outside lower center", ncols=2 if len(slices) == 1 else 5)
    return canvas


def _draw_slice(region: Region, axes: Axes, at: Place) -> None:
    """Draw the cells and points of a slice: those with its step along the third axis, if any."""
    from matplotlib.patches import Rectangle

    found, side = region.map, region.map.side
    for cell in found.cells:
        if at and not cell.corner[2] <= at[0] <= cell.corner[2] + cell.width:
            continue
        verdicts = {found.points[place].verdict for place in cell.corners()}
        verdicts.discard(Verdict.IMPOSSIBLE)
        inside = INSIDE if verdicts == {Verdict.HOLDS} else OUTSIDE
        colour = BETWEEN if len(verdicts) > 1 or Verdict.OPEN in verdicts else inside
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "0.75", "linewidth": 0.4}
        axes.add_patch(Rectangle((cell.corner[0], cell.corner[1]), cell.width, cell.width, **look))
    for place, point in found.points.items():
        if place[2:] == at:
            colour = LOOKS[point.verdict][0]
            axes.plot(*place[:2], marker="o", markersize=2.4, markerfacecolor=colour,
                      markeredgecolor="0.3", markeredgewidth=0.4)  # fmt: skip
    steps = range(0, side + 1, side // COARSE)
    axes.set_xticks(steps, [region.axes[0].text(step / side) for step in steps], rotation=45)
    axes.set_yticks(steps, [region.axes[1].text(step / side) for step in steps])
    axes.set_xlim(-0.02 * side, 1.02 * side)
    axes.set_ylim(-0.02 * side, 1.02 * side)
    axes.set_xlabel(region.axes[0].key)
    axes.grid(visible=False)
