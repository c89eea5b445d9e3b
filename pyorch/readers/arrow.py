"""Plain messages as Arrow has them: a column for each key, of Parquet or of a CSV file of numbers.

Columns are src, dst, size [bytes], and perhaps class and one start, whose name ends in its unit.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pyorch.base.units import MAX_BYTES, MAX_TIME, SIZES, TIMES
from pyorch.readers.graphs import Tell
from pyorch.readers.records import MOST_MESSAGES, MessageList

STARTS = {f"start_{unit}": scale for unit, scale in TIMES.items()}
"""Columns of starts, and the ps of their unit."""
REQUIRED = {"src", "dst", "size"}
COLUMNS = REQUIRED | {"class", *STARTS}
_UNPLAIN = re.compile(rb'["#\0]|0[xX]|,[ \t]|[ \t],|\n[ \t\r\n]')
"""What a CSV file may have that Arrow would read otherwise than we do."""


def of_csv(data: bytes, unit: str | None) -> MessageList | None:
    """Return the messages of a CSV file of names and whole numbers; None if it is anything else.

    A size or a start may have a unit, the same in every row. unit: of a plain column start.
    """
    import pyarrow as pa
    from pyarrow import csv

    head, first = (_cells(line) for line in (*data.split(b"\n", 2), b"")[:2])
    given = dict(zip(head, first, strict=False))
    own_unit = _unit_of(given.get("start", ""), TIMES)
    start = f"start_{own_unit or unit}"
    names = [start if name == "start" else name for name in head]
    if not plain(names) or _UNPLAIN.search(data):
        return None
    texts = {name: pa.dictionary(pa.int32(), pa.string()) for name in ("src", "dst")}
    with_unit = {"size": _unit_of(given.get("size", ""), SIZES), start: own_unit}
    texts |= {name: pa.string() for name, own in with_unit.items() if own}
    types = {name: texts.get(name, pa.int64()) for name in names}
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1),
            csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
        )
        for name, own in with_unit.items():
            if own:
                factor = SIZES[own] if name == "size" else 1
                numbers = _numbers(table.column(name), own, factor)
                table = table.set_column(names.index(name), name, numbers)
    except (pa.ArrowException, ValueError):
        return None
    wrong: list[str] = []
    found = listed(table, lambda *said: wrong.append(str(said)))
    if found is None or table.num_rows > MOST_MESSAGES:
        return None
    found.lines = list(range(2, table.num_rows + 2))
    return found


def _cells(line: bytes) -> list[str]:
    return line.decode("utf-8-sig", errors="replace").strip().split(",")


def _unit_of(cell: str, units: Iterable[str]) -> str:
    """Which of these units ends a whole number; none of another text."""
    found = re.fullmatch(rf"[0-9]+({'|'.join(units)})", cell)
    return found[1] if found else ""


def _numbers(column: Any, unit: str, factor: int) -> Any:
    """Take a unit from whole numbers, and multiply them.

    Raises ArrowException if a row has another unit, or a number is too large.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not compute.all(compute.ends_with(column, unit)).as_py():
        raise pa.ArrowInvalid(unit)
    digits = compute.utf8_slice_codeunits(column, 0, -len(unit))
    if not compute.all(compute.utf8_is_digit(digits)).as_py():
        raise pa.ArrowInvalid(unit)
    return compute.multiply_checked(compute.cast(digits, pa.int64()), factor)


def plain(names: Sequence[str]) -> bool:
    """Whether columns are those of plain messages, each once."""
    starts = sum(1 for name in names if name in STARTS)
    return REQUIRED <= set(names) <= COLUMNS and len(set(names)) == len(names) and starts < 2


def listed(table: Any, tell: Tell) -> MessageList | None:
    """Return the messages of a table, whose src and dst are dictionaries; None after a problem."""
    import pyarrow as pa

    found = MessageList(lines=list(range(1, table.num_rows + 1)))
    names = table.column_names
    for name, into in (("src", found.src), ("dst", found.dst)):
        column = table.column(name).unify_dictionaries().combine_chunks()
        if column.null_count or not pa.types.is_dictionary(column.type):
            tell(name, f"the column is {column.type}, or lacks values", "text in every row", None)
            return None
        if len(column):
            known = column.dictionary.to_pylist()
            into.extend(map(known.__getitem__, column.indices.to_pylist()))
    start = "".join(name for name in names if name in STARTS)
    bounds: list[tuple[str, list[Any], int, int, int]] = [
        ("size", found.sizes, 1, MAX_BYTES, 1),
        ("class", found.classes, 0, 7, 1),
        (start, found.starts, 0, MAX_TIME, STARTS.get(start, 1)),
    ]
    for name, into, *limits in bounds:
        if name in names and not _add(into, table.column(name), limits, tell, name):
            return None
    return found


def _add(into: list[Any], column: Any, limits: list[int], tell: Tell, name: str) -> bool:
    """Add the numbers of a column; note a problem and return whether there was none.

    limits: the least and the most, and the factor of their unit. A row of `class` or of a start may
    have no value.
    """
    import pyarrow as pa

    least, most, scale = limits
    allowed = f"whole numbers, {least} to {most // scale}"
    if not pa.types.is_integer(column.type):
        tell(name, f"the column is {column.type}", allowed, None)
        return False
    absent = np.asarray(column.is_null())
    values = np.asarray(column.fill_null(least))
    wrong = (values < least) | (values > most // scale) | (absent if name == "size" else False)
    if wrong.any():
        row = int(np.argmax(wrong))
        value = "no value" if absent[row] else repr(int(values[row]))
        tell(f"row {row + 1}", f"{value} is not one of its column {name}", allowed, None)
        return False
    into += (values.astype(np.int64) * scale).tolist()
    for row in np.flatnonzero(absent).tolist():
        into[row] = None
    return True
