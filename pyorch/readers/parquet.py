"""Messages in a Parquet file, in the columns of CSV: src, dst, size [bytes], start_ps, class."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pyorch.base.errors import one_of
from pyorch.base.reading import read_bytes
from pyorch.base.units import MAX_BYTES, MAX_TIME, TIMES
from pyorch.readers.graphs import Tell
from pyorch.readers.records import MOST_MESSAGES, MessageList

MOST_UNPACKED = 10**9
"""Largest content that is unpacked [bytes]."""
_STARTS = {f"start_{unit}": scale for unit, scale in TIMES.items()}
_COLUMNS = {"src", "dst", "size", "class", *_STARTS}
_ALLOWED = "src, dst, size, and perhaps class and one of " + ", ".join(_STARTS)


def messages(file: Path, label: str, tell: Tell) -> MessageList | None:
    """Read plain messages: src and dst text, the others whole numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(io.BytesIO(read_bytes(file, label)), read_dictionary=["src", "dst"])
        meta = opened.metadata
        names = opened.schema_arrow.names
        times = [name for name in names if name in _STARTS]
        if not {"src", "dst", "size"} <= set(names) <= _COLUMNS or len(times) > 1:
            tell("", f"the columns are {one_of(names)}", _ALLOWED, None)
            return None
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if meta.num_rows > MOST_MESSAGES or size > MOST_UNPACKED:
            what = f"{meta.num_rows:,} messages, {size:,} bytes unpacked"
            tell("", what, f"at most {MOST_MESSAGES:,} and {MOST_UNPACKED:,}", None)
            return None
        table = opened.read()
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        tell("", f"is not Parquet: {str(error).splitlines()[0]}", None, None)
        return None
    found = MessageList(lines=list(range(1, meta.num_rows + 1)))
    for name, into in (("src", found.src), ("dst", found.dst)):
        column = table.column(name)
        if column.null_count or not pa.types.is_dictionary(column.type):
            tell(name, f"the column is {column.type}, or lacks values", "text in every row", None)
            return None
        into.extend(column.to_pylist())
    bounds: list[tuple[str, list[Any], int, int, int]] = [
        ("size", found.sizes, 1, MAX_BYTES, 1),
        ("class", found.classes, 0, 7, 1),
        *((name, found.starts, 0, MAX_TIME, _STARTS[name]) for name in times),
    ]
    for name, numbers, least, most, scale in bounds:
        if name in names and not _add(numbers, table.column(name), (least, most, scale), tell):
            return None
    return found


def _add(into: list[Any], column: Any, bounds: tuple[int, int, int], tell: Tell) -> bool:
    """Add the numbers of a column; note a problem and return whether there was none."""
    least, most, scale = bounds
    values = column.to_pylist()
    for number, value in enumerate(values, 1):
        if type(value) is not int or not least <= value * scale <= most:
            allowed = f"whole numbers, {least} to {most // scale}"
            tell(f"row {number}", f"{value!r} is not a value of its column", allowed, None)
            return False
    into += [value * scale for value in values]
    return True
