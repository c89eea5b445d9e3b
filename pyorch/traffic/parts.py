"""Named parts of a [[traffic]] entry, such as the collectives of a job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """Which part each flow of an entry belongs to; arrays have the shape (flows,).

    names: of the parts. phase: number among them, -1: none. group, round: from 0, of parts that
    several groups of hosts have, and that repeat.
    """

    names: tuple[str, ...]
    phase: Numbers
    group: Numbers
    round: Numbers

    def of(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which flows belong to the part of a name."""
        return np.asarray(self.phase == self.names.index(name))
