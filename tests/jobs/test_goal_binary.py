"""GOAL's binary form: the same schedule as its text, and plain words for what is none."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from pyorch.addons.jobs.goal_binary import is_binary, text_of
from pyorch.base.errors import UserError
from pyorch.traffic import base as traffic
from tests.jobs.test_goal import begins
from tests.traffic.test_traffic import MS, STAR, resolve

TEXT = """num_ranks 2
rank 0 {
l0: calc 700 cpu 0
l1: send 5000b to 1 tag 3 cpu 0 nic 0
l1 requires l0
}
rank 1 {
l0: recv 5000b from 0 tag 3 cpu 0 nic 0
}
"""
SEND, RECV, CALC = 1, 2, 3


def _rank(operations: list[tuple[int, int, int, int, list[int]]]) -> bytes:
    """A rank of (type, peer, size, tag, what requires it), by the description of the format."""
    appendix: list[int] = []
    nodes = b""
    waited = {waiter for *_, behind in operations for waiter in behind}
    for number, (kind, peer, size, tag, behind) in enumerate(operations):
        nodes += struct.pack("<IbIQIBB", number in waited, kind, peer, size, tag, 0, 0)
        nodes += struct.pack("<IIII", len(behind), len(appendix), 0, 0)
        appendix += behind
    roots = [number for number in range(len(operations)) if number not in waited]
    head = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
    return head + nodes + struct.pack(f"<{len(appendix)}I", *appendix)


def _file(*ranks: bytes) -> bytes:
    place = 4 + 2 + 16 * len(ranks)
    table = b""
    for one in ranks:
        table += struct.pack("<QQ", place, place + len(one))
        place += len(one)
    return struct.pack("<QIBB", 4223, len(ranks), 0, 0) + table + b"".join(ranks)


PAIR = (
    _rank([(CALC, 0, 700, 0, [1]), (SEND, 1, 5000, 3, [])]),
    _rank([(RECV, 0, 5000, 3, [])]),
)


def test_the_bytes_are_those_of_the_format() -> None:
    """191 B in all, and each rank where its table says, counted behind the first number."""
    data = _file(*PAIR)
    assert len(data) == 191
    assert struct.unpack_from("<4Q", data, 14) == (38, 132, 132, 183)
    assert is_binary(data)


def test_a_binary_schedule_is_the_job_of_its_text(tmp_path: Path) -> None:
    """The same flows, which begin at the same times."""
    (tmp_path / "job.bin").write_bytes(_file(*PAIR))
    (tmp_path / "job.goal").write_text(TEXT)
    found = []
    for name in ("job.bin", "job.goal"):
        form, problems = resolve({"kind": "goal", "file": name}, folder=tmp_path)
        assert form is not None, problems
        found.append(traffic.flows([form], STAR, 1, MS))
    one, other = found
    assert one.sizes.tolist() == other.sizes.tolist() == [5000]
    assert begins(one) == begins(other)
    assert np.array_equal(one.src, other.src)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (struct.pack("<Q", 2342) + _file(*PAIR)[8:], "--save-mem"),
        (_file(*PAIR)[:40], "it ends before the table of its 2 ranks"),
        (struct.pack("<QIBB", 4223, 2**32 - 1, 0, 0), "it ends before the table"),
        (_file(*PAIR)[:-1], "rank 1, bytes 140 to 191: it is not a rank"),
        (_file(_rank([(7, 0, 0, 0, [])])), "operation 0 is of type 7"),
        (_file(_rank([(CALC, 0, 0, 0, [9])])), "operation 9 of 1 waits"),
        (_file(struct.pack("<II", 2**31, 0)), "2,147,483,648 operations and 0 roots do not fit"),
        (_file(struct.pack("<II", 0, 2**31)), "do not fit"),
        (_file(struct.pack("<II", 7, 7) + bytes(4 * 7 + 104 * 7)), "LogGOPSim's form is read"),
        (
            _file(_rank([(CALC, 0, 0, 0, [])])[:-16] + struct.pack("<4I", 2**31, 0, 0, 0)),
            "too many",
        ),
    ],
)
def test_what_is_no_binary_schedule_is_told(data: bytes, said: str) -> None:
    """With the rank and its bytes; counts are bounded before anything is read."""
    with pytest.raises(UserError) as caught:
        text_of(data, "job.bin")
    assert said in caught.value.render()
