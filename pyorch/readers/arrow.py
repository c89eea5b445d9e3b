"""Plain messages as Arrow has them: a column for each key, of Parquet or of a CSV file of numbers.

Columns are src, dst, size [bytes], and perhaps class and one start, whose name ends in its unit.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.base.units import MAX_BYTES, MAX_TIME, SIZES, TIMES
from pyorch.readers.graphs import MAX_PARTS, Tell
from pyorch.readers.records import ABSENT, MOST_MESSAGES, Integers, MessageList, in_order

STARTS = {f"start_{unit}": scale for unit, scale in TIMES.items()}
"""Columns of starts, and the ps of their unit."""
REQUIRED = {"src", "dst", "size"}
COLUMNS = REQUIRED | {"class", *STARTS}
_UNPLAIN = (b'"', b"#", b"\0", b"0x", b"0X", b" ", b"\t", b"\n\r", b"\n\n")
"""What a CSV file may have that Arrow would read otherwise than we do."""


def of_csv(data: bytes, unit: str | None) -> MessageList | None:
    """Return the messages of a CSV file of names and numbers; None if it is anything else.

    A size or a start may have a unit, the same in every row; starts may be fractions. unit: of a
    plain column start.
    """
    import pyarrow as pa
    from pyarrow import csv

    above = 0
    while data.startswith(b"#"):
        data, above = data.partition(b"\n")[2], above + 1
    data = data.replace(b", ", b",")
    head, first = (_cells(line) for line in (*data.split(b"\n", 2), b"")[:2])
    given = dict(zip(head, first, strict=False))
    own_unit = _unit_of(given.get("start", ""), TIMES)
    start = f"start_{own_unit or unit}"
    names = [start if name == "start" else name for name in head]
    if not plain(names) or any(some in data for some in _UNPLAIN):
        return None
    texts = {name: pa.dictionary(pa.int32(), pa.string()) for name in ("src", "dst")}
    with_unit = {"size": _unit_of(given.get("size", ""), SIZES), start: own_unit}
    texts |= {name: pa.string() for name, own in with_unit.items() if own}
    if b"." in data:
        texts |= {name: _decimal(name) for name in names if name in STARTS and not own_unit}
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
                numbers = _numbers(table.column(name), own, name)
                table = table.set_column(names.index(name), name, numbers)
        for place, name in enumerate(names):
            if pa.types.is_decimal(table.column(name).type):
                table = table.set_column(place, "start_ps", _picoseconds(table.column(name)))
    except (pa.ArrowException, ValueError):
        return None
    wrong: list[str] = []
    found = listed(table, lambda *said: wrong.append(str(said)))
    if found is None or table.num_rows > MOST_MESSAGES:
        return None
    found.lines += 1 + above
    return found


def _decimal(start: str) -> Any:
    """Return the type of a column of starts whose digits, without the point, are ps."""
    import pyarrow as pa

    return pa.decimal128(38, len(str(STARTS[start])) - 1)


def _picoseconds(column: Any) -> Any:
    """Return the digits of decimals as whole numbers. Raises ValueError if one is too large."""
    import pyarrow as pa

    if column.null_count or _values(column, 1).any():
        raise ValueError("no value, or a large one")
    numbers = pa.py_buffer(_values(column))
    return pa.Array.from_buffers(pa.int64(), len(column), [None, numbers])


def of_flows(text: str, count: int) -> MessageList | None:
    """Return the flows of the HPCC family below a first line; None if a line is not a usual one.

    Usual are `src dst class port bytes start_s`, or all without the port.
    """
    import pyarrow as pa
    from pyarrow import csv

    data = _one_blank(text)
    first = data.split(b"\n", 2)[1:2]
    names = ["src", "dst", "class", "port", "size", "start"]
    if len(first[0].split(b" ") if first else []) == 5:
        names.remove("port")
    if data.translate(None, b"0123456789. \n"):
        return None
    types = dict.fromkeys(names, pa.int64()) | {"start": pa.decimal128(38, 12)}
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except (pa.ArrowException, ValueError):
        return None
    more = table.num_rows - count
    if more < 0 or not count:
        return None
    table = table.slice(0, count)
    values = {name: _values(table.column(name)) for name in names}
    groups, sizes, starts = values["class"], values["size"], values["start"]
    ends = np.concatenate((values["src"], values["dst"]))
    late = _values(table.column("start"), 1).any() or starts.min() < 0 or starts.max() > MAX_TIME
    wrong = groups.max() > 7 or sizes.min() < 1 or sizes.max() > MAX_BYTES
    if late or wrong or ends.max() > MAX_PARTS:
        return None
    used, ends = in_order(range(int(ends.max()) + 1), ends)
    src, dst = np.split(ends, 2)
    lines = np.arange(2, count + 2)
    found = MessageList([*map(str, used)], src, dst, sizes, starts, groups, lines)
    if more:
        found.left_out.append(f"{more} flows more than the {count} that the first line says")
    return found


def of_connections(text: str, head: int, nodes: int, count: int) -> MessageList | None:
    """Return the connections of htsim below some lines; None if a line is not a usual one.

    Usual are `src->dst` and what the first of them has, in its order: start, size, and perhaps id
    and prio, each with a whole number. nodes, count: as the head says.
    """
    import pyarrow as pa
    from pyarrow import csv

    data = _one_blank(text)
    first, *_ = (*data.split(b"\n", head + 1)[head : head + 1], b"")
    keys = first.decode("ascii", errors="replace").split(" ")[1::2]
    known = {"start", "size", "id", "prio"}
    if not {"start", "size"} <= set(keys) <= known or len(set(keys)) < len(keys):
        return None
    if b"#" in data or data.count(b"->") != count:
        return None
    ends = ["src", "dst"]
    names = [*ends, *(name for key in keys for name in (f"{key} is", key))]
    types = dict.fromkeys((*ends, *keys), pa.int64())
    words = {f"{key} is": pa.dictionary(pa.int32(), pa.string()) for key in keys}
    try:
        table = csv.read_csv(
            io.BytesIO(data.replace(b"->", b" ")),
            csv.ReadOptions(use_threads=False, column_names=names, skip_rows=head),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types | words, null_values=[]),
        )
    except (pa.ArrowException, ValueError):
        return None
    same = all(
        set(chunk.dictionary.to_pylist()) == {key}
        for key in keys
        for chunk in table.column(f"{key} is").chunks
    )
    if not same or table.num_rows != count or not count:
        return None
    src, dst, starts, sizes = (_values(table.column(key)) for key in (*ends, "start", "size"))
    both = np.concatenate((src, dst))
    late = starts.min() < 0 or starts.max() > MAX_TIME
    if (
        late
        or sizes.min() < 1
        or sizes.max() > MAX_BYTES
        or not 0 <= both.min() <= both.max() < nodes
    ):
        return None
    used, both = in_order(range(int(both.max()) + 1), both)
    src, dst = np.split(both, 2)
    classes = np.full(count, ABSENT, dtype=np.int64)
    lines = np.arange(head + 1, head + count + 1)
    found = MessageList([*map(str, used)], src, dst, sizes, starts, classes, lines)
    if "prio" in keys:
        found.left_out.append(f"prio of {count} connections")
    return found


def _one_blank(text: str) -> bytes:
    """Return a text with one blank between the words of a line, and none around them."""
    data = text.replace("\r\n", "\n").encode()
    if any(some in data for some in (b"  ", b"\t", b" \n", b"\n ")):
        data = b"\n".join(b" ".join(line.split()) for line in data.split(b"\n"))
    return data


def _values(column: Any, half: int = 0) -> npt.NDArray[Any]:
    """Return a column of whole numbers without gaps, or of decimals without their points.

    half: of the 16 bytes of a decimal, the second of which is 0 for what 64 bits can hold.
    `to_numpy` of Arrow would import pandas.
    """
    kind = "int64" if column.type.bit_width > 64 else str(column.type)
    step = max(1, column.type.bit_width // 64)
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype=kind)[half::step][chunk.offset :][: len(chunk)]
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate([np.zeros(0, dtype=kind), *parts])


def _cells(line: bytes) -> list[str]:
    return line.decode("utf-8-sig", errors="replace").strip().split(",")


def _unit_of(cell: str, units: Iterable[str]) -> str:
    """Which of these units ends a number; none of another text."""
    found = re.fullmatch(rf"[0-9]+(?:\.[0-9]+)?({'|'.join(units)})", cell)
    return found[1] if found else ""


def _numbers(column: Any, unit: str, name: str) -> Any:
    """Take a unit from the numbers of a column: sizes are multiplied, starts may be fractions.

    Raises ArrowException if a row has another unit, or a number is too large.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not compute.all(compute.ends_with(column, unit)).as_py():
        raise pa.ArrowInvalid(unit)
    digits = compute.utf8_slice_codeunits(column, 0, -len(unit))
    if not compute.all(compute.utf8_is_digit(digits)).as_py():
        if (
            name not in STARTS
            or compute.any(compute.match_substring_regex(digits, "[^0-9.]")).as_py()
        ):
            raise pa.ArrowInvalid(unit)
        return compute.cast(digits, _decimal(name))
    factor = SIZES[unit] if name == "size" else 1
    return compute.multiply_checked(compute.cast(digits, pa.int64()), factor)


def plain(names: Sequence[str]) -> bool:
    """Whether columns are those of plain messages, each once."""
    starts = sum(1 for name in names if name in STARTS)
    return REQUIRED <= set(names) <= COLUMNS and len(set(names)) == len(names) and starts < 2


def listed(table: Any, tell: Tell) -> MessageList | None:
    """Return the messages of a table, whose src and dst are dictionaries; None after a problem."""
    import pyarrow as pa

    names = table.column_names
    chunks = []
    for name in ("src", "dst"):
        column = table.column(name)
        if column.null_count or not pa.types.is_dictionary(column.type):
            tell(name, f"the column is {column.type}, or lacks values", "text in every row", None)
            return None
        chunks += column.chunks
    start = "".join(name for name in names if name in STARTS)
    bounds = (
        ("size", 1, MAX_BYTES, 1),
        (start, 0, MAX_TIME, STARTS.get(start, 1)),
        ("class", 0, 7, 1),
    )
    columns: list[Integers] = []
    for name, *limits in bounds:
        absent = np.full(table.num_rows, ABSENT, dtype=np.int64)
        column = _checked(table.column(name), limits, tell, name) if name in names else absent
        if column is None:
            return None
        columns.append(column)
    used: list[str] = []
    ends: Integers = np.zeros(0, dtype=np.int64)
    if chunks:
        both = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
        indices = _values(pa.chunked_array([both.indices])).astype(np.int64)
        used, ends = in_order(both.dictionary.to_pylist(), indices)
    src, dst = np.split(ends, 2)
    sizes, starts, classes = columns
    return MessageList(used, src, dst, sizes, starts, classes, np.arange(1, table.num_rows + 1))


def _checked(column: Any, limits: list[int], tell: Tell, name: str) -> Integers | None:
    """Return the numbers of a column, ABSENT where it has none; None after a problem.

    limits: the least and the most, and the factor of their unit. A row of `class` or of a start may
    have no value; starts that are floating-point numbers are rounded to whole ps.
    """
    import pyarrow as pa

    least, most, scale = limits
    allowed = f"whole numbers, {least} to {most // scale}"
    fractions = name in STARTS and pa.types.is_floating(column.type)
    if not (fractions or pa.types.is_integer(column.type)):
        tell(name, f"the column is {column.type}", allowed, None)
        return None
    values = _values(column.cast(pa.float64()) if fractions else column)
    absent = np.isnan(values) if fractions else np.zeros(len(column), dtype=bool)
    if column.null_count:
        absent |= _values(column.is_null().cast(pa.int8())) > 0
    values = np.where(absent, least, values)
    wrong = (values < least) | (values > most // scale) | (absent if name == "size" else False)
    if wrong.any():
        row = int(np.argmax(wrong))
        value = "no value" if absent[row] else f"{values[row]}"
        tell(f"row {row + 1}", f"{value} is not one of its column {name}", allowed, None)
        return None
    scaled = np.rint(values * scale) if fractions else values.astype(np.int64) * scale
    return np.where(absent, ABSENT, scaled).astype(np.int64)
