"""The table that a report begins with: every variant by every metric, and which is best.

All variants see the same traffic for a seed, so differences to the best mean are taken seed by seed
(`standing_of`). A row is a setting; where a sweep varies more than the variant, the best is that of
the same swept values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pyorch.base.lazy import pd
from pyorch.metrics.base import Better
from pyorch.report.data import ReportData
from pyorch.report.quantities import Scale, automatic, plain_name, show, show_value
from pyorch.report.select import absent, value_text
from pyorch.report.statistics import NEGLIGIBLE, Estimate, Standing, estimate, standing_of
from pyorch.report.style import label_axis
from pyorch.setting.tagger import lossless_classes

MOST_ROWS, MOST_METRICS = 60, 20
SHORT_ROWS, SHORT_WIDTH = 8, 100
"""Settings that a terminal shows, and how wide [characters]."""
_DIGITS = 3
_OFTEN = 2  # deadlocks of a run, of which all but one dissolved
_FIRST = ("best", "equal")


@dataclass(frozen=True)
class Cell:
    """A mean with its interval, and what the seeds say of it; "" where nothing is compared.

    mean: it without the interval.
    """

    text: str
    standing: Standing | str = ""
    mean: str = ""


@dataclass(frozen=True)
class Comparison:
    """The table. heads: what varies, then the metrics with their units. rows: texts, and cells.

    best: which variants are best, by metric, and what is not decided; "" without any. left: rows
    that are not shown. seeds: least and most draws behind a mean, where there is one. remarks:
    which metrics are not shown, what was lost, who was too slow.
    """

    heads: Sequence[str]
    rows: Sequence[tuple[Sequence[str], Sequence[Cell]]]
    best: str
    left: int
    seeds: tuple[int, int]
    remarks: Sequence[str] = ()

    @property
    def upright(self) -> bool:
        """Whether metrics go down the page: where they are more than what alone varies."""
        only_one = all(len(texts) == 1 for texts, _ in self.rows)
        return only_one and len(self.heads) > len(self.rows) + 1

    def in_short(self) -> list[str]:
        """The means of the first metrics as lines of a terminal, and what else there is."""
        rows = self.rows[:SHORT_ROWS]
        marks = {"best": " *", "equal": " *", "not decided": " ?"}
        keys = len(self.heads) - len(rows[0][1])
        table = [[*self.heads]]
        for texts, cells in rows:
            means = (cell.mean + marks.get(cell.standing, "") for cell in cells)
            table.append([*texts, *means])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        ends = accumulate(width + 2 for width in widths)
        count = sum(end - 2 <= SHORT_WIDTH for end in ends)
        lines = [
            "  ".join(f"{text:<{width}}" for text, width in zip(line[:count], widths, strict=False))
            for line in table
        ]
        left = len(self.rows) + self.left - len(rows), len(self.heads) - max(count, keys)
        counts = zip(left, ("setting", "metric"), strict=True)
        more = [f"{n} more {what}{'s' if n > 1 else ''}" for n, what in counts if n]
        legend = ("* best", "? may be as good") if self.marked else ()
        lines.append(f"means; {'; '.join([*legend, *more, 'intervals'])} in the report")
        return [line.rstrip() for line in lines]

    @property
    def marked(self) -> bool:
        """Whether any value is marked as best."""
        return any(cell.standing for _, cells in self.rows for cell in cells)

    @property
    def undecided(self) -> bool:
        """Whether it is not decided for some value whether it is as good as the best."""
        return any(cell.standing == "not decided" for _, cells in self.rows for cell in cells)


@dataclass(frozen=True)
class _Column:
    """A metric: its estimates, by row, and their standings."""

    name: str
    unit: str
    scale: Scale
    found: Sequence[Estimate]
    standings: Sequence[Standing | str]


def comparison(
    data: ReportData, metrics: Sequence[str], names: Mapping[str, str]
) -> Comparison | None:
    """Return the table of the finished runs; None if there are not two settings to compare.

    metrics: those to show, in their order. names: what figures call them on their axes.
    """
    runs = data.runs
    keys = [key for key in data.settings if runs[key].astype(str).nunique() > 1]
    known = [name for name in dict.fromkeys(metrics) if _is_number(runs, name)]
    shown = known[:MOST_METRICS]
    if not keys or not shown:
        return None
    empty = [name for name in dict.fromkeys(metrics) if name not in runs or runs[name].isna().all()]
    texts = [runs[key].astype(str) for key in keys]
    parts = [part for _, part in runs.groupby(texts, sort=False, dropna=False)]
    columns = [_column(name, data, parts, keys) for name in shown]
    rows = [
        (
            ["" if absent(value) else value_text(value) for value in part.iloc[0][keys]],
            [_cell(column, number) for column in columns],
        )
        for number, part in enumerate(parts[:MOST_ROWS])
    ]
    variants = [str(part.iloc[0].get("variant", "")) for part in parts]
    untried = _untried(data) if "variant" in keys else []
    draws = [found.n for column in columns for found in column.found if found.n] or [0]
    return Comparison(
        heads=[*keys, *(_head(column, names) for column in columns)],
        rows=rows,
        best=" ".join(filter(None, [_best(columns, variants, names), *untried]))
        if keys == ["variant"]
        else "",
        left=len(parts) - len(rows),
        seeds=(min(draws), max(draws)),
        remarks=[
            *_not_shown("No run has a value of", empty, names),
            *_not_shown("More in the table of runs:", known[MOST_METRICS:], names),
            *(_idle(parts) if "variant" in keys else []),
            *([*_lost(data), *_slow(data), *_again(data)] if "variant" in keys else []),
            *(untried if keys != ["variant"] else []),
        ],
    )


def _not_shown(why: str, metrics: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Say of metrics why the table lacks them; nothing of none."""
    said = ", ".join(names.get(name) or plain_name(name) for name in metrics)
    return [f"{why} {said}."] if said else []


def _idle(parts: Sequence[pd.DataFrame]) -> list[str]:
    """Who is compared with nobody because it finishes nothing, where others finish something."""
    idle = list(dict.fromkeys(str(p.iloc[0]["variant"]) for p in parts if _stands_still(p)))
    some = idle and not all(map(_stands_still, parts))
    return (
        [f"Left out of the comparison, since no flow finished: {', '.join(idle)}."] if some else []
    )


def _slow(data: ReportData) -> list[str]:
    """The variants that finished less than half of their flows without a deadlock."""
    runs, parts = data.runs, []
    if not {"flows_unfinished", "flows_finite", "deadlocked_at_end"} <= set(runs):
        return []
    left = runs["flows_unfinished"] > runs["flows_finite"] / 2
    for name, some in runs[left & (runs["deadlocked_at_end"] == 0)].groupby("variant", sort=False):
        of = f"{int(some['flows_unfinished'].sum()):,} of {int(some['flows_finite'].sum()):,} flows"
        parts.append(f"{name} ({of} in {len(some)} of {(runs['variant'] == name).sum()} runs)")
    what = "no deadlock, but most flows were not finished at the end"
    return [f"Too slow: {what}: {'; '.join(parts)}."] if parts else []


def _again(data: ReportData) -> list[str]:
    """The variants whose deadlocks are broken, and form anew: what cures that leave their cause."""
    runs = data.runs
    if "deadlock_episodes" not in runs:
        return []
    means = runs.groupby("variant", sort=False)["deadlock_episodes"].mean()
    told = [f"{name} ({mean:,.0f} a run)" for name, mean in means.items() if mean >= _OFTEN]
    why = "who breaks one leaves what caused it"
    return [f"Deadlocks that formed anew: {', '.join(told)}; {why}."] if told else []


def _lost(data: ReportData) -> list[str]:
    """What was lost, where runs lose frames."""
    runs, parts = data.runs, []
    for name, some in runs.groupby("variant", sort=False) if "dropped_frames" in runs else ():
        frames = int(some["dropped_frames"].sum())
        if frames:
            share = 100 * some["retransmitted_bytes"].sum() / max(some["sent_bytes"].sum(), 1)
            parts.append(f"{frames:,} under {name}, which sent {share:.2g} % of its bytes again")
    return [f"Frames lost: {'; '.join(parts)}."] if parts else []


def _untried(data: ReportData) -> list[str]:
    """Say which schemes have no lossless class, and still lost nothing to recover from."""
    runs = data.runs
    some = runs.groupby("variant", sort=False) if "dropped_frames" in runs else ()
    names = [
        str(name)
        for name, part in some
        if not part["dropped_frames"].sum()
        and not any(lossless_classes(data.specs[key].setting) for key in part["hash"])
    ]
    what = "lost no frame: these runs do not say how loss recovery does"
    return [f"{_few(names)} {what}."] if names else []


def _is_number(runs: pd.DataFrame, name: str) -> bool:
    """Whether a column has numbers, and not only gaps."""
    if name not in runs or not set(map(type, runs[name])) <= {int, float}:
        return False
    return bool(runs[name].notna().any())


def _column(
    name: str, data: ReportData, parts: Sequence[pd.DataFrame], keys: Sequence[str]
) -> _Column:
    found = [data.estimate(name, part) for part in parts]
    unit, better = data.unit(name), data.better(name) if "variant" in keys else ""
    standings: list[Standing | str] = ["" for _ in parts]
    if better:
        groups: dict[Hashable, list[int]] = {}
        for number, part in enumerate(parts):
            same = tuple(str(part.iloc[0][key]) for key in keys if key != "variant")
            groups.setdefault(same, []).append(number)
        for numbers in (_moving(some, parts) for some in groups.values() if len(some) > 1):
            for number, told in _standings(name, better, numbers, parts, found).items():
                standings[number] = told
    return _Column(name, unit, automatic(unit, [one.mean for one in found]), found, standings)


def _moving(numbers: Sequence[int], parts: Sequence[pd.DataFrame]) -> Sequence[int]:
    """Those of some rows that finish flows, unless none does: who stands still is never best."""
    found = [number for number in numbers if not _stands_still(parts[number])]
    return found or numbers


def _stands_still(runs: pd.DataFrame) -> bool:
    """Whether no flow of any size ends in any of some runs."""
    if not {"flows_unfinished", "flows_finite"} <= set(runs):
        return False
    finite = runs["flows_finite"]
    return bool((finite > 0).all() and (runs["flows_unfinished"] >= finite).all())


def _standings(
    name: str,
    better: Better,
    numbers: Sequence[int],
    parts: Sequence[pd.DataFrame],
    found: Sequence[Estimate],
) -> dict[int, Standing]:
    """Return the standing of some rows among themselves."""
    told: dict[int, Standing] = {n: "worse" if found[n].n else "no value" for n in numbers}
    finite = [number for number in numbers if found[number].n and math.isfinite(found[number].mean)]
    if not finite:
        return told
    sign = 1 if better == "lower" else -1
    first = min(finite, key=lambda number: sign * found[number].mean)
    bound = NEGLIGIBLE * abs(found[first].mean)
    best = parts[first].set_index("seed")[name]
    for number in finite:
        differences = (parts[number].set_index("seed")[name] - best).dropna()
        fixed = found[number].spread == found[first].spread == "fixed"
        if number == first:
            told[number] = "best"
        elif fixed:  # more runs would be the same
            told[number] = "equal" if abs(differences.mean()) <= bound else "worse"
        else:
            told[number] = standing_of(estimate(differences), bound)
    return told


def _cell(column: _Column, number: int) -> Cell:
    found, scale = column.found[number], column.scale
    text = show_value(found, column.unit, scale, _DIGITS).removesuffix(f" {scale.label}")
    mean = show(found.mean, column.unit, scale, _DIGITS).removesuffix(f" {scale.label}")
    if not found.n or found.spread == "share":
        mean = text.partition(" (")[0]
    return Cell(text, column.standings[number], mean)


def _head(column: _Column, names: Mapping[str, str]) -> str:
    return label_axis(names.get(column.name) or plain_name(column.name), column.scale.label)


def _best(columns: Sequence[_Column], variants: Sequence[str], names: Mapping[str, str]) -> str:
    """Which variants are best, by metric: "Best: A (tail). Not decided: long mean (B or C)."."""
    decided: dict[str, list[str]] = {}
    undecided: list[str] = []
    for column in columns:
        first = [
            who for who, told in zip(variants, column.standings, strict=True) if told in _FIRST
        ]
        if not first or len(first) == len(variants):
            continue
        name = names.get(column.name) or plain_name(column.name)
        what = f"{name[:1].lower()}{name[1:]}"
        if "not decided" in column.standings:
            told = zip(variants, column.standings, strict=True)
            still = [who for who, standing in told if standing in (*_FIRST, "not decided")]
            few = len(still) <= _DIGITS
            between = _few(still, "or") if few else f"between {len(still)} of {len(variants)}"
            undecided.append(f"{what} ({between})")
        else:
            decided.setdefault(_few(first), []).append(what)
    best = ", ".join(f"{who} ({', '.join(whats)})" for who, whats in decided.items())
    parts = [f"Best: {best}."] if best else []
    return " ".join([*parts, *([f"Not decided: {', '.join(undecided)}."] if undecided else [])])


def _few(names: Sequence[str], last: str = "and") -> str:
    """Names in a row, or the first ones and how many more; `last` is between the last two."""
    shown = list(names) if len(names) <= _DIGITS else [*names[:2], f"{len(names) - 2} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"
