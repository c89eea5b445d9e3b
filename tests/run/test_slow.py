"""What the explanation of a slow run says first, of made-up waits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pyorch.explain.delays import AT_RECEIVER, PAUSES, WITHHELD, Delay
from pyorch.explain.slow import Slow


def told(*delays: Delay) -> Slow:
    """The explanation of some delays."""
    ends = ["leaf0", "leaf1", "h0", "h1"]
    network: Any = SimpleNamespace(names=ends, end_names=ends)
    nothing: Any = None
    return Slow(*[nothing] * 4, network, 0, delays)


def delay(flow: int, parts: dict[tuple[str, tuple[int, int]], int], ideal: int = 100) -> Delay:
    """A flow of 100 ps that also waited."""
    end = 100 + sum(parts.values())
    return Delay(flow, 2, 3, 370, 0, end, ideal, True, flow, own=100, parts=parts)


def test_the_largest_cause_is_that_of_the_largest_sum() -> None:
    """Not of the longest wait at one place; its place is where it cost most."""
    waits = {(PAUSES, (0, 2)): 160, (AT_RECEIVER, (0, 2)): 80, (AT_RECEIVER, (1, 3)): 90}
    answer = told(delay(0, waits)).answer
    assert answer.startswith(f"The largest cause is {AT_RECEIVER}: 52% of the 330 ps")
    assert answer.endswith("27% at leaf1 → h1.")


@pytest.mark.parametrize(("ideal", "compared"), [(100, True), (60, False)])
def test_flows_are_compared_with_those_of_equal_paths(ideal: int, compared: bool) -> None:
    """A flow below one leaf is no measure of one across the spine."""
    slow = delay(1, {(PAUSES, (0, 2)): 900})
    said = " ".join(told(delay(0, {}, ideal), slow).sentences())
    assert ("of equal paths took" in said) == compared


def test_a_rate_is_said_to_be_local() -> None:
    """Pauses are followed to where they began, rates are not."""
    for cause, local in ((WITHHELD, True), (PAUSES, False)):
        notes = told(delay(0, {(cause, (0, 2)): 10})).notes()
        assert any("not where its limit began" in note for note in notes) == local
