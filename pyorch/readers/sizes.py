"""Distributions of sizes without a header: lines of a size and a cumulative share or percentage.

So have them the HPCC simulator and its kin (percent), ABM and PowerTCP (shares, with commas), and
Homa (shares, with the mean in a line of its own before them). The last line tells percent from
shares.
"""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import Problem
from pyorch.base.reading import read_text, words_of
from pyorch.base.units import is_number

Rows = list[tuple[int, str, str]]
"""The number of each line, its size and its share."""


def read(file: Path, label: str, problems: list[Problem]) -> tuple[Rows, float] | None:
    """Return the points as they are written, and what their shares are to be divided by.

    None if the file does not begin with a number: then it has a header. Notes lines that are not
    points. Raises UserError if the file cannot be read.
    """
    lines = list(words_of(read_text(file, label).replace(",", " "), "#"))
    if not lines or not is_number(lines[0][1][0]):
        return None
    if len(lines[0][1]) == 1:
        lines = lines[1:]  # the mean, which follows from the points
    rows: Rows = []
    for number, words in lines:
        if len(words) == 2:
            rows.append((number, words[0], words[1]))
        else:
            what = f"{len(words)} values, where a size and a share are to be"
            problems.append(Problem(f"{label}: line {number}", what, "such as 1000 0.25"))
    last = rows[-1][2] if rows else "1"
    return rows, 100.0 if is_number(last) and float(last) > 1 else 1.0
