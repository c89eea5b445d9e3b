"""GOAL's binary form, as LogGOPSim writes it, turned into its text form; LogGOPSim2 has another.

Little-endian, without gaps. Head: u64 4223, u32 ranks, u8 highest cpu, u8 highest nic, and for each
rank u64 begin and end, counted behind the first number. A rank: u32 operations, u32 roots and their
numbers, 39 B for each operation, and an appendix of u32. An operation: u32 dependencies, i8 type,
u32 peer, u64 size [B, or ns], u32 tag, u8 cpu, u8 nic, and count and place in the appendix of what
waits for its end, and then of what waits for its beginning.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pyorch.addons.jobs import goal
from pyorch.base.errors import refusal

MAGIC, DESTROYED = 4223, 2342
MOST_RANKS = 1_000_000
MOST_STATEMENTS = 20_000_000
"""Operations and dependencies of all ranks together."""
_HEAD, _SPAN, _COUNTS = struct.Struct("<QIBB"), struct.Struct("<QQ"), struct.Struct("<II")
_OPERATION = struct.Struct("<IbIQIBBIIII")
_SEND, _RECV, _CALC = 1, 2, 3
_AFTER_MAGIC = 8
_HINT = "LogGOPSim's form is read, with 39 B for an operation, and no other's: give its text"


def is_binary(data: bytes) -> bool:
    """Whether a file begins like a binary schedule."""
    return len(data) >= _HEAD.size and _HEAD.unpack_from(data)[0] in (MAGIC, DESTROYED)


def text_of(data: bytes, label: str) -> str:
    """Return a binary schedule as text. Raises UserError that names the rank."""
    magic, ranks, _, _ = _HEAD.unpack_from(data)
    if magic == DESTROYED:
        what = "LogGOPSim has used it up with --save-mem"
        raise refusal(label, what, hint="make it again from its text")
    if ranks > MOST_RANKS or _HEAD.size + ranks * _SPAN.size > len(data):
        raise refusal(label, f"it ends before the table of its {ranks:,} ranks")
    blocks = []
    left = MOST_STATEMENTS
    for rank in range(ranks):
        begin, end = _SPAN.unpack_from(data, _HEAD.size + rank * _SPAN.size)
        try:
            block = list(_block(data[begin + _AFTER_MAGIC : end + _AFTER_MAGIC], left))
        except (struct.error, ValueError, OverflowError) as error:
            where = f"{label}: rank {rank}, bytes {begin + 8} to {end + 8}"
            raise refusal(where, f"it is not a rank: {error}", hint=_HINT) from error
        left -= len(block)
        blocks.append(block)
    return goal.write(ranks, blocks)


def _block(data: bytes, left: int) -> Iterator[str]:
    """Yield the statements of a rank. Raises ValueError and struct.error."""
    count, roots = _COUNTS.unpack_from(data)
    first = _COUNTS.size + 4 * roots
    appendix = first + _OPERATION.size * count
    if appendix > len(data) or (len(data) - appendix) % 4:
        raise ValueError(f"{count:,} operations and {roots:,} roots do not fit")
    behind = struct.unpack(f"<{(len(data) - appendix) // 4}I", data[appendix:])
    waits = 0
    for number in range(count):
        place = first + number * _OPERATION.size
        _, kind, peer, size, tag, cpu, nic, *ends = _OPERATION.unpack_from(data, place)
        if kind == _CALC:
            yield f"o{number}: calc {size} cpu {cpu}"
        elif kind in (_SEND, _RECV):
            way = "send" if kind == _SEND else "recv"
            to = "to" if kind == _SEND else "from"
            yield f"o{number}: {way} {size}b {to} {peer} tag {tag} cpu {cpu} nic {nic}"
        else:
            raise ValueError(f"operation {number} is of type {kind}, not 1, 2 or 3")
        for word, many, at in (("requires", *ends[:2]), ("irequires", *ends[2:])):
            waits += many
            if waits + count > left or at + many > len(behind):
                raise ValueError(f"operation {number} has too many that wait for it")
            for waiter in behind[at : at + many]:
                if waiter >= count:
                    raise ValueError(f"operation {waiter} of {count:,} waits")
                yield f"o{waiter} {word} o{number}"
