"""The summary of the bake-off as HTML, Markdown, figure and CSV. All text follows from the data."""

from __future__ import annotations

import base64
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.files import make_folder, write_atomically
from pyorch.report.page import template
from pyorch.report.quantities import UNITS, scale, show, show_value
from pyorch.report.statistics import NEGLIGIBLE, Standing
from pyorch.report.style import COLUMN_INCHES, paper_style
from pyorch.report.write import save
from tools.bakeoff import advice as advising
from tools.bakeoff import claims, decide, sensitivity
from tools.bakeoff.advice import Advice, Said, Tables, say
from tools.bakeoff.compare import (
    REFERENCE,
    Answer,
    Compared,
    Cost,
    frame_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tools.bakeoff.claims import Tried
    from tools.bakeoff.decide import Fact
    from tools.bakeoff.sensitivity import Turned

RANKED = "Hadoop"
"""The row by which the figure's schemes are in order."""
_MOST = 4.0
"""Ratios beyond this, or its inverse, have the strongest colour."""


@dataclass(frozen=True)
class Summary:
    """All that the page shows.

    about: scheme -> what it is. costs: over the scenes with a cyclic dependency. turned: how
    verdicts depend on values that no source settles. tried: what scenarios did to claims. facts,
    base: what the schemes need, and their costs with Hadoop, for the table to decide from.
    """

    rows: tuple[Compared, ...]
    costs: tuple[Cost, ...]
    about: dict[str, str]
    fingerprint: str
    runs: int
    planned: int
    turned: tuple[Turned, ...] = ()
    tried: tuple[Tried, ...] = ()
    advice: tuple[Advice, ...] = ()
    facts: tuple[Fact, ...] = ()
    base: tuple[Cost, ...] = ()

    @property
    def decide(self) -> list[list[str]]:
        """The lines of the table to decide from."""
        return decide.lines_of(self.facts, self.rows, self.base, self.tried)

    @property
    def said(self) -> list[Said]:
        """The advice with its numbers."""
        tables = Tables(self.rows, self.turned, self.tried)
        return [say(one, tables) for one in self.advice]

    @property
    def schemes(self) -> list[str]:
        """Their names, in the order of their files."""
        return [found.scheme for found in self.costs]


def value_text(compared: Compared, answer: Answer) -> str:
    """Return a mean in the unit of the row with its interval, "412 ± 9 µs".

    Where all seeds gave the same value, it says so instead. Where seeds only shift the same
    traffic, it gives their range: "412 (410 to 415) µs".
    """
    unit, mean = compared.row.unit, answer.mean
    if not mean.n:
        return "no value"
    if math.isinf(mean.mean):
        return "did not finish"
    if compared.row.independent:
        text = show_value(mean, UNITS[unit], scale(unit), digits=3)
        return f"{text}, all {mean.n} seeds equal" if mean.spread == "equal" else text
    values = answer.by_seed.values()
    three = (mean.mean, min(values), max(values))
    shown = [show(value, UNITS[unit], scale(unit), 3).partition(" ") for value in three]
    (number, _, label), (least, *_), (most, *_) = shown
    spread = f" ({least} to {most})" if least != most else ""
    return f"{number}{spread} {label}".strip()


def verdict(compared: Compared) -> str:
    """Say in words who is best in a row, and how sure that is."""
    best = compared.best
    if compared.empty:
        return "No scheme has a value at this size."
    if not best:
        return "No scheme finished."
    value = value_text(compared, best[0])
    if compared.sole:
        return "; ".join([f"{best[0].scheme} alone is best: {value}", *_beside(compared)]) + "."
    if len(best) == len(compared.answers):
        return f"All are equal ({best[0].scheme}: {value})."
    parts = [f"{best[0].scheme} has the best mean, {value}"]
    for words, found in (
        ("equal", best[1:]),
        ("not decided", compared.standing("not decided")),
        ("no value", compared.standing("no value")),
    ):
        if found:
            parts.append(f"{words}: {', '.join(answer.scheme for answer in found)}")
    return "; ".join(parts + _beside(compared)) + "."


def _beside(compared: Compared) -> list[str]:
    """Return what a verdict adds about runs that stayed deadlocked and about missing values."""
    stuck = [answer.scheme for answer in compared.answers if answer.stuck]
    parts = [f"deadlocked to the end: {', '.join(stuck)}"] if stuck else []
    if compared.missing:
        parts.append(f"{compared.missing} values that some scheme lacks are left out")
    return parts


def scheme_text(summary: Summary, name: str) -> str:
    """Say in words how a scheme fared over all rows, and what it cost."""
    asked = [
        one
        for one in summary.rows
        if not one.empty and name in [answer.scheme for answer in one.answers]
    ]
    sole = [one.row.label for one in asked if one.sole and one.best[0].scheme == name]
    scenes = scenes_of(asked)
    among = sum(all(_stands(one, name, "best", "equal") for one in rows) for rows in scenes)
    partly = sum(any(_stands(one, name, "best", "equal") for one in rows) for rows in scenes)
    (found,) = (cost for cost in summary.costs if cost.scheme == name)
    parts = [f"among the best in all rows of {among} of {len(scenes)} scenes"]
    parts += [f"in some of {partly - among} more"] if partly > among else []
    parts += [f"alone in: {', '.join(sole)}"] if sole else []
    locked = [one.row.label for one in asked for a in one.answers if a.scheme == name and a.stuck]
    factors = {one.row.label: factor_to_best(one, name) for one in asked}
    unfinished = [label for label, factor in factors.items() if math.isinf(factor)]
    finite = {label: f for label, f in factors.items() if math.isfinite(f)}
    if locked:
        parts.append(f"stayed deadlocked in runs of: {', '.join(locked)}")
    if unfinished:
        parts.append(f"nothing got through, or not all of it, in: {', '.join(unfinished)}")
    if finite:
        worst = max(finite, key=lambda label: finite[label])
        if finite[worst] > 1.005:
            parts.append(f"at worst a factor of {finite[worst]:.3g} from the best ({worst})")
    parts.append(_deadlocks(found))
    parts.append(
        f"lost {found.lost:,.0f} per million link crossings" if found.lost else "lost nothing"
    )
    return "; ".join(parts) + "."


def scenes_of(rows: Iterable[Compared]) -> list[list[Compared]]:
    """Return the rows scene by scene."""
    found: dict[str, list[Compared]] = {}
    for one in rows:
        found.setdefault(one.row.scene, []).append(one)
    return list(found.values())


def _stands(compared: Compared, name: str, *wanted: Standing) -> bool:
    return name in [answer.scheme for answer in compared.standing(*wanted)]


def _deadlocks(found: Cost) -> str:
    """Say how often a scheme deadlocked where that can happen, and whether it recovered."""
    unjudged = f"deadlocks not judged in {found.unjudged} runs" if found.unjudged else ""
    if unjudged and not found.cyclic:
        return unjudged
    if not found.deadlocks:
        text = f"no deadlock in {found.cyclic} runs with a cyclic dependency"
    else:
        text = f"deadlocked in {found.deadlocks} of {found.cyclic} runs with a cyclic dependency"
        text += f", {found.stuck} of them to the end" if found.stuck else ", all of them resolved"
    return f"{text}; {unjudged}" if unjudged else text


def factor_to_best(compared: Compared, name: str) -> float:
    """Return the factor by which a scheme is worse than the best mean of a row, at least 1.

    NaN where either stayed deadlocked: the factor would depend on how long the runs were.
    """
    best = compared.best
    (answer,) = (one for one in compared.answers if one.scheme == name)
    if not best or not answer.mean.n or answer.stuck or best[0].stuck:
        return math.nan
    own, top = answer.mean.mean, best[0].mean.mean
    below, above = (top, own) if compared.row.better == "lower" else (own, top)
    if above == below:
        return 1.0
    return math.inf if math.isinf(above) or below == 0 else above / below


def heat_map(summary: Summary) -> Figure:
    """Draw the ratio of every scheme to the reference; purple is better, orange worse.

    Its columns are the `drawn` rows, its lines the schemes that all of these have, ordered by
    their means in the row RANKED.
    """
    from matplotlib.figure import Figure

    rows = [one for one in summary.rows if one.row.drawn and not one.empty]
    means = [{a.scheme: a.mean.mean for a in one.answers if a.mean.n} for one in rows]
    names = [name for name in summary.schemes if all(name in found for found in means)]
    if not rows:
        return Figure()
    key = next((n for n, one in enumerate(rows) if one.row.label == RANKED), 0)
    names.sort(key=lambda name: _key(rows[key], means[key][name]))
    canvas = Figure(figsize=(COLUMN_INCHES["two"], 0.24 * len(names) + 1.75), layout="constrained")
    _panel(canvas.subplots(), rows, names)
    return canvas


def _key(compared: Compared, mean: float) -> float:
    return mean if compared.row.better == "lower" else -mean


def _panel(axes: Axes, rows: Sequence[Compared], names: Sequence[str]) -> None:
    """Draw a panel: a column per row of the summary, a line per scheme."""
    import matplotlib as mpl

    seeds = Counter[str]()  # most draws of any row of a study
    for one in rows:
        seeds[one.row.study] = max(seeds[one.row.study], *(a.mean.n for a in one.answers))
    colours = mpl.colormaps["PuOr"]
    for x, one in enumerate(rows):
        for answer in one.answers:
            if answer.scheme not in names:
                continue
            y = names.index(answer.scheme)
            gain = _gain(one, answer)
            shade = 0.5 if math.isnan(gain) else 0.5 + 0.42 * max(-1.0, min(1.0, gain))
            box = mpl.patches.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colours(shade))
            axes.add_patch(box)
            bold = answer.best and len(one.best) < len(one.answers)
            dark = abs(shade - 0.5) > 0.33
            axes.text(
                x,
                y,
                _cell(answer, seeds[one.row.study]),
                ha="center",
                va="center",
                fontsize=min(5.5, 112 / len(rows)),
                fontweight="bold" if bold else "normal",
                color="white" if dark else "black",
            )
    for x, (left, right) in enumerate(itertools.pairwise(rows)):
        if left.row.scene != right.row.scene:
            axes.axvline(x + 0.5, color="white", linewidth=2.5)
    labels = [_column(one) for one in rows]
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xticks(range(len(rows)), labels, rotation=38, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _column(compared: Compared) -> str:
    """Return the name of a row, with an arrow for the better direction and the reference."""
    arrow = "↓" if compared.row.better == "lower" else "↑"
    other = compared.reference != REFERENCE
    return f"{compared.row.label} {arrow}" + (f" (to {compared.reference or 'none'})" * other)


def _gain(compared: Compared, answer: Answer) -> float:
    """Return how good a ratio is: 1 very good, 0 as the reference, -1 very bad."""
    ratio = answer.ratio.mean
    if math.isinf(answer.mean.mean) or answer.stuck:
        return -1.0
    if math.isnan(ratio):
        return math.nan
    if ratio <= 0:
        return 1.0 if compared.row.better == "lower" else -1.0
    gain = math.log(ratio) / math.log(_MOST)
    return -gain if compared.row.better == "lower" else gain


def _cell(answer: Answer, seeds: int) -> str:
    """Return the ratio, with the number of its seeds if the study has more."""
    ratio, n = answer.ratio.mean, answer.ratio.n
    if answer.stuck:
        return "stuck"
    if math.isinf(answer.mean.mean):
        return "∞"
    if math.isnan(ratio):
        return "-"
    text = f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.3g}"
    return text if n == seeds else f"{text}\nn={n}"


def write(summary: Summary, folder: Path) -> Path:
    """Write the page and its data into a folder; return the page."""
    make_folder(folder)
    with paper_style():
        picture, _ = save(heat_map(summary), folder, "schemes", paper=True)
    frame_of(summary.rows).to_csv(folder / "schemes.csv", index=False)
    write_atomically(folder / "summary.md", markdown(summary))
    write_atomically(folder / "advice.md", advising.markdown(summary.said))
    page = folder / "index.html"
    image = base64.b64encode(picture.read_bytes()).decode()
    write_atomically(page, _html(summary, image))
    return page


def caption() -> str:
    """Return what the figure shows, in words."""
    return (
        f"Ratio to {REFERENCE}, seed by seed, or to the scheme in brackets where runs of "
        f"{REFERENCE} stayed deadlocked or did not finish. ↓: lower is better, ↑: higher is. "
        "Purple is better than the reference, orange worse; the colours saturate at a factor of "
        f"{_MOST:g}. Bold: the best mean and its equals (95 % interval of the difference within "
        f"{100 * NEGLIGIBLE:g} %), unless all are equal. ∞: a run did not finish. Stuck: a run "
        "stayed deadlocked, so that a ratio would only show how long it was. Rows between white "
        "lines share the same traffic."
    )


def how_sure(summary: Summary) -> str:
    """Say how many seeds there are and how certain that makes the verdicts."""
    asked = [one for one in summary.rows if not one.empty]
    seeds = sorted({answer.mean.n for one in asked for answer in one.answers if answer.mean.n})
    count = str(seeds[-1]) if seeds[0] == seeds[-1] else f"{seeds[0]} to {seeds[-1]}"
    told = sum(one.sole for one in summary.rows)
    shifted = [one.row.label for one in asked if not one.row.independent]
    missing = summary.planned - summary.runs
    return (
        f"{summary.runs} runs, {count} seeds per setting, 95 % Student-t intervals over seeds. A "
        "draw is a seed of a scene in which it draws traffic, paths or failed links, not only "
        "starts, together with all settings that share it. "
        f"{len(asked)} rows of {len(scenes_of(asked))} scenes; rows in which one scheme alone is "
        f"best: {told}. Each scheme is tested by itself "
        "against the best one, row by row, without correction for the number of tests: more "
        "than one in twenty of the differences reported may be chance."
        + (
            f" {len(shifted)} rows have no interval, because their seeds only shift starts by a "
            f"few microseconds: {', '.join(shifted)}."
            if shifted
            else ""
        )
        + (f" {missing} planned runs are missing." if missing else "")
    )


def cost_line(found: Cost) -> list[str]:
    """Return the cells of a scheme in the table of costs."""
    return [
        found.scheme,
        f"{found.control:.1f}",
        f"{found.lost:,.0f}",
        "< 0.001" if 0 < found.paused < 0.001 else f"{found.paused:.2g}",
        f"{100 * found.buffer:.0f} %",
        _struck(found),
        str(found.stuck),
        f"{found.unfinished} of {found.runs}",
    ]


def _struck(found: Cost) -> str:
    """Say in how many runs, settings and draws a scheme deadlocked; only draws have an interval."""
    parts = [
        f"{found.deadlocks} of {found.cyclic} runs",
        f"{found.struck} of {found.settings} settings",
    ]
    if found.draws:
        low, high = (f"{100 * bound:.0f}" for bound in found.share)
        parts.append(f"{found.hits} of {found.draws} draws ({low} to {high} %)")
    return "; ".join(parts)


COSTS = (
    "Scheme",
    "Control frames per 1,000 data frames",
    "Lost per million link crossings",
    "Paused ports, mean number",
    "Largest buffer use, mean",
    "Deadlocks where there is a cycle (95 %, Clopper-Pearson)",
    "Deadlocked to the end",
    "Runs with unfinished flows",
)


BASE = (1, 2, 3, 4, 7)
"""Which of COSTS apply to Hadoop, where there is no cycle."""


def markdown(summary: Summary) -> str:
    """Return the tables of the summary as Markdown, as docs/results/bakeoff.md has them."""
    lines = ["# Results of the bake-off", ""]
    lines += ["Written by `invoke bakeoff` as `results/bakeoff/summary/summary.md`; do not edit."]
    if summary.facts:
        lines += ["", "## To decide from", "", decide.markdown(summary.decide)]
    lines += ["", "## Verdicts", "", "| question | scene | verdict |", "|---|---|---|"]
    lines += [f"| {one.row.label} | {one.row.scene} | {verdict(one)} |" for one in summary.rows]
    lines += ["", "## Schemes", "", "| scheme | how it fared |", "|---|---|"]
    lines += [f"| {name} | {scheme_text(summary, name)} |" for name in summary.schemes]
    lines += ["", "## Costs", ""]
    lines += ["| " + " | ".join(COSTS) + " |", "|---" * len(COSTS) + "|"]
    lines += ["| " + " | ".join(cost_line(found)) + " |" for found in summary.costs]
    lines += ["", how_sure(summary), ""]
    if summary.base:
        heads = ["Scheme, Hadoop", *(COSTS[n] for n in BASE)]
        lines += ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        for found in summary.base:
            cells = cost_line(found)
            lines.append("| " + " | ".join([cells[0], *(cells[n] for n in BASE)]) + " |")
        lines.append("")
    if summary.turned:
        lines += ["## Changed values", "", sensitivity.markdown(summary.turned)]
    if summary.tried:
        lines += ["## Claims", "", claims.markdown(summary.tried)]
    return "\n".join(lines)


def _html(summary: Summary, image: str) -> str:
    functions = {
        "verdict": verdict,
        "scheme_text": scheme_text,
        "value_text": value_text,
        "cost_line": cost_line,
        "turned_line": sensitivity.line,
        "tried_lines": claims.lines_of,
    }
    page = template("summary.html.j2", Path(__file__).parent, **functions)
    return page.render(
        summary=summary,
        image=image,
        caption=caption(),
        sure=how_sure(summary),
        costs=COSTS,
        base=(0, *BASE),
        turned_heads=sensitivity.HEADS,
        tried_heads=claims.HEADS,
    )
