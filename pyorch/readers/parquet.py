"""Messages in a Parquet file, in the columns of CSV: src, dst, size [bytes], start_ps, class."""

from __future__ import annotations

import io
from pathlib import Path

from pyorch.base.errors import one_of
from pyorch.base.reading import read_bytes
from pyorch.readers import arrow
from pyorch.readers.graphs import Tell
from pyorch.readers.records import MOST_MESSAGES, MessageList

MOST_UNPACKED = 10**9
"""Largest content that is unpacked [bytes]."""
_ALLOWED = "src, dst, size, and perhaps class and one of " + ", ".join(arrow.STARTS)


def messages(file: Path, label: str, tell: Tell) -> MessageList | None:
    """Read plain messages: src and dst text, the others whole numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(io.BytesIO(read_bytes(file, label)), read_dictionary=["src", "dst"])
        meta = opened.metadata
        names = opened.schema_arrow.names
        if not arrow.plain(names):
            tell("", f"the columns are {one_of(names)}", _ALLOWED, None)
            return None
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if meta.num_rows > MOST_MESSAGES or size > MOST_UNPACKED:
            what = f"{meta.num_rows:,} messages, {size:,} bytes unpacked"
            tell("", what, f"at most {MOST_MESSAGES:,} and {MOST_UNPACKED:,}", None)
            return None
        table = opened.read()
    except KeyError:
        tell("", "it has no column src or dst", _ALLOWED, None)
        return None
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        tell("", f"is not Parquet: {str(error).splitlines()[0]}", None, None)
        return None
    return arrow.listed(table, tell)
