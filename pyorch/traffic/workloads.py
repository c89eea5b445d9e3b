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
from pyorch.base.units import MAX_BYTES, format_bytes

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
    path = folder / name if name.endswith(".csv") else workloads / f"{name}.csv"
    if is_file(path):
        return path
    if name.endswith(".csv"):
        raise ValueError(f"there is no file {name!r} next to the experiment file")
    known = sorted(entry.stem for entry in workloads.glob("*.csv"))
    hint = suggest(name, known)
    text = f"unknown workload {name!r}; known: {', '.join(known)}"
    raise ValueError(f"{text}; {hint}" if hint else text)


def load(path: Path) -> SizeDistribution:
    """Read a distribution. Raises UserError that names every line that is wrong."""
    problems: list[Problem] = []
    points: list[tuple[int, float]] = []
    lines: list[int] = []
    for line, row in rows(path, COLUMNS, problems):
        try:
            point = (int(row["size_bytes"]), float(row["cumulative"]))
        except ValueError:
            point = (-1, math.nan)
        if not (0 <= point[0] <= MAX_BYTES and 0 <= point[1] <= 1):
            what = f"not a size and a share: {row['size_bytes']!r}, {row['cumulative']!r}"
            allowed = f"such as 1000, 0.25; sizes in bytes, at most {format_bytes(MAX_BYTES)}"
            problems.append(Problem(f"{path.name}: line {line}", what, allowed))
            continue
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            problems.append(Problem(f"{path.name}: line {line}", "falls below the line before"))
        points.append(point)
        lines.append(line)
    if not problems:
        problems = list(_shape_problems(path.name, points, lines))
    if problems:
        raise UserError(problems)
    return of_points(points)


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
    (first, begin), (last, end) = points[0], points[-1]
    if begin != 0:
        hint = f"add a first line {first},0: that share of the flows then has {first} bytes"
        what = f"the first point has a cumulative share of {begin:g}"
        yield Problem(f"{file}: line {lines[0]}", what, "0", hint)
    if end != 1:
        what = f"the last point has a cumulative share of {end:g}"
        yield Problem(f"{file}: line {lines[-1]}", what, "1", "write shares, not percent or counts")
    if last == 0:
        yield Problem(f"{file}: line {lines[-1]}", "all sizes are 0", "a largest size above 0")


def rows(
    path: Path, columns: list[str], problems: list[Problem], optional: tuple[str, ...] = ()
) -> list[tuple[int, dict[str, str]]]:
    """Read a CSV file with a header line; lines that start with '#' and empty lines are skipped.

    Returns (line number, cells by column). Notes problems with columns and short or long lines.
    """
    try:
        cells = csv_rows(path, path.name)
    except UserError as error:
        problems += error.problems
        return []
    if not cells:
        problems.append(Problem(path.name, "empty", f"a header line {','.join(columns)}"))
        return []
    header = cells[0][1]
    wrong = list(_wrong_columns(path.name, header, columns, optional))
    problems += wrong
    if wrong:
        return []
    good = []
    for number, row in cells[1:]:
        if len(row) == len(header):
            good.append((number, dict(zip(header, row, strict=True))))
        else:
            what = f"{len(row)} cells under {len(header)} columns"
            problems.append(Problem(f"{path.name}: line {number}", what))
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
