"""Flow-size distributions: CSV files of (size_bytes, cumulative), sampled by inverse transform."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyorch.base.errors import SHOWN_PROBLEMS, Problem, UserError, suggest
from pyorch.base.reading import csv_rows, is_file
from pyorch.base.units import MAX_BYTES, format_bytes, is_number
from pyorch.readers import sizes

COLUMNS = ["size_bytes", "cumulative"]


@dataclass(frozen=True)
class SizeDistribution:
    """A distribution of flow sizes, linear between its points.

    sizes: int64 (points,), bytes, never falling. cumulative: float64 (points,), from 0 to 1, never
    falling.
    """

    sizes: npt.NDArray[np.int64]
    cumulative: npt.NDArray[np.float64]

    def quantile(self, share: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
        """Return the sizes [bytes], at least 1, below which the given shares of the flows lie."""
        sizes = np.rint(np.interp(share, self.cumulative, self.sizes))
        return np.maximum(sizes, 1).astype(np.uint64)

    def mean(self) -> float:
        """Return the mean size [bytes]."""
        middle = (self.sizes[1:] + self.sizes[:-1]) / 2
        return float(np.sum(middle * np.diff(self.cumulative)))

    def mean_packets(self, payload: int) -> float:
        """Return the mean number of packets of `payload` bytes that a flow takes.

        E[ceil(s / payload)] is the sum over k >= 0 of P(s > k * payload).
        """
        starts = np.arange(0, int(self.sizes[-1]), payload, dtype=np.float64)
        return float(np.sum(1.0 - np.interp(starts, self.sizes, self.cumulative)))


def find(name: str, folder: Path, workloads: Path) -> Path:
    """Return the file of a workload.

    "websearch" is shipped (folder `workloads`), "sizes.csv" is next to the experiment file. Raises
    ValueError with a message for users if there is none.
    """
    own = bool(Path(name).suffix)
    path = folder / name if own else workloads / f"{name}.csv"
    if is_file(path):
        return path
    if own:
        raise ValueError(f"there is no file {name!r} next to the experiment file")
    known = sorted(entry.stem for entry in workloads.glob("*.csv"))
    hint = suggest(name, known)
    text = f"unknown workload {name!r}; known: {', '.join(known)}"
    raise ValueError(f"{text}; {hint}" if hint else text)


def load(path: Path, unit: int = 1) -> SizeDistribution:
    """Read a distribution: CSV with a header, or in any form that `pyorch.readers.sizes` knows.

    unit: bytes that a size of 1 in the file stands for. Raises UserError that names every line that
    is wrong.
    """
    problems: list[Problem] = []
    points: list[tuple[int, float]] = []
    lines: list[int] = []
    for line, size, share in _points(path, unit, problems):
        if points and (size < points[-1][0] or share < points[-1][1]):
            problems.append(Problem(f"{path.name}: line {line}", "falls below the line before"))
        points.append((size, share))
        lines.append(line)
    if not problems:
        problems = list(_shape_problems(path.name, points, lines))
    if problems:
        raise UserError(problems)
    if points[0][1] > 0:  # that share of the flows has the first size
        points.insert(0, (points[0][0], 0.0))
    return of_points(points)


def _points(path: Path, unit: int, problems: list[Problem]) -> Iterator[tuple[int, int, float]]:
    """Yield line, size [bytes] and cumulative share of every point; note lines that are wrong."""
    listed: sizes.Rows = []
    scale = 1.0
    try:
        if (plain := sizes.read(path, path.name, problems)) is not None:
            listed, scale = plain
        elif good_head(path.name, rows := csv_rows(path, path.name), COLUMNS, problems):
            cells = cells_of(path.name, rows, problems)
            listed = [(line, row[COLUMNS[0]], row[COLUMNS[1]]) for line, row in cells]
    except UserError as error:
        problems += error.problems
    for line, size_text, share_text in listed:
        size, share = -1, math.nan
        if is_number(size_text) and is_number(share_text):
            size, share = round(float(size_text) * unit), float(share_text) / scale
        if 0 <= size <= MAX_BYTES and 0 <= share <= 1:
            yield line, size, share
            continue
        what = f"not a size and a share: {size_text!r}, {share_text!r}"
        allowed = f"such as 1000, 0.25; sizes in bytes, at most {format_bytes(MAX_BYTES)}"
        problems.append(Problem(f"{path.name}: line {line}", what, allowed))


def of_points(points: list[tuple[int, float]]) -> SizeDistribution:
    """Return the distribution through (size, cumulative) points."""
    return SizeDistribution(
        np.array([size for size, _ in points], dtype=np.int64),
        np.array([share for _, share in points], dtype=np.float64),
    )


def _shape_problems(
    file: str, points: Sequence[tuple[int, float]], lines: Sequence[int]
) -> Iterator[Problem]:
    """Yield what keeps points that never fall from being a whole distribution."""
    if len(points) < 2:
        yield Problem(file, f"{len(points)} points are no distribution", "at least two points")
        return
    last, end = points[-1]
    if end != 1:
        what = f"the last point has a cumulative share of {end:g}"
        yield Problem(f"{file}: line {lines[-1]}", what, "1", "write shares, not percent or counts")
    if last == 0:
        yield Problem(f"{file}: line {lines[-1]}", "all sizes are 0", "a largest size above 0")


def good_head(
    name: str,
    rows: Sequence[tuple[int, list[str]]],
    columns: Sequence[str],
    problems: list[Problem],
    optional: Sequence[str] = (),
) -> bool:
    """Note problems with the names of the columns of a CSV file; return whether there are none."""
    if not rows:
        problems.append(Problem(name, "empty", f"a header line {','.join(columns)}"))
        return False
    wrong = list(_wrong_columns(name, rows[0][1], columns, optional))
    problems += wrong
    return not wrong


def cells_of(
    name: str, rows: Sequence[tuple[int, list[str]]], problems: list[Problem]
) -> list[tuple[int, dict[str, str]]]:
    """Return the lines of a CSV file below its header: (line number, cells by column).

    Notes short and long lines.
    """
    header = rows[0][1]
    good = []
    for number, row in rows[1:]:
        if len(row) == len(header):
            good.append((number, dict(zip(header, row, strict=True))))
        else:
            what = f"{len(row)} cells under {len(header)} columns"
            problems.append(Problem(f"{name}: line {number}", what))
    return good


def _wrong_columns(
    file: str, header: Sequence[str], columns: Sequence[str], optional: Sequence[str]
) -> Iterator[Problem]:
    """Yield what is wrong with the first line of a CSV file: names that are unknown or missing."""
    known = (*columns, *optional)
    allowed = ", ".join(columns) + (f"; if needed {', '.join(optional)}" if optional else "")
    unknown = [name for name in dict.fromkeys(header) if name not in known]
    for name in unknown[:SHOWN_PROBLEMS]:  # suggestions for all of them would take long
        hint = suggest(name, known)
        if len(header) == 1 and (other := next((one for one in ";\t|" if one in name), None)):
            hint = f"separate cells by commas, not by {other!r}"
        yield Problem(file, f"unknown column {name!r}", allowed, hint)
    if len(unknown) > SHOWN_PROBLEMS:
        yield Problem(file, f"{len(unknown) - SHOWN_PROBLEMS} more unknown columns", allowed)
    if missing := [name for name in columns if name not in header]:
        yield Problem(file, f"column {', '.join(missing)} is missing")
    twice = [name for name, count in Counter(header).items() if count > 1]
    for name in twice[:SHOWN_PROBLEMS]:
        yield Problem(file, f"duplicate column {name!r}", "each column once")
