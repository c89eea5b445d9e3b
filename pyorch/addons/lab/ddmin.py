"""Delta debugging: a minimal subset of a set of parts for which a condition still holds.

Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions on
Software Engineering 28(2), 2002, section 3: the algorithm ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Part = TypeVar("Part")
First = Callable[[Sequence[Sequence[Part]]], int | None]
"""Given selections of parts: the index of the first for which the condition holds, or None."""


def ddmin(parts: Sequence[Part], first: First[Part]) -> list[Part]:
    """Return a 1-minimal selection of parts: without any single one the condition does not hold.

    It holds for all of `parts`, which is not tested. Unlike in the paper the empty selection may
    satisfy it, and is tried first. The order of the parts is kept. `first` is called with several
    selections at once, so that they can be tried in parallel.
    """
    kept = list(parts)
    if not kept or first([[]]) is not None:
        return []
    pieces = 2
    while len(kept) > 1:
        chunks = split(kept, pieces)
        rests = [[part for other in chunks if other is not one for part in other] for one in chunks]
        tried = chunks if pieces == 2 else [*chunks, *rests]  # of two, each is the other's rest
        found = first(tried)
        if found is not None:
            kept = list(tried[found])
            pieces = 2 if found < len(chunks) else max(pieces - 1, 2)
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return kept


def split(parts: Sequence[Part], pieces: int) -> list[list[Part]]:
    """Divide parts into a number of pieces, in order, with lengths that differ by at most one."""
    bounds = [len(parts) * number // pieces for number in range(pieces + 1)]
    return [list(parts[low:high]) for low, high in pairwise(bounds)]
