"""When each host's part in each collective lasted.

Entries of kind `collective` have collectives, and schedules in which messages are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyorch.addons.jobs.collective_kind import JobParts, Phase

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spans:
    """When each host's part of each collective lasted; arrays have the shape (parts,).

    phases, names, ranks: the collectives, and how many ranks a group of each has. phase: number
    among them. group, round: from 0; host: number of the node. begins: start of the first message
    that it sends, or, if it sends none, receives; ends: arrival of the last message that it
    receives, or, if it receives none, sends, but not before it begins [ps]; -1: never.
    """

    phases: tuple[Phase, ...]
    ranks: tuple[int, ...]
    phase: Numbers
    group: Numbers
    round: Numbers
    host: Numbers
    begins: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.phase)

    @property
    def names(self) -> list[str]:
        """Names of the collectives."""
        return [phase.name for phase in self.phases]

    def of(self, name: str) -> Spans:
        """Return those of one collective."""
        number = self.names.index(name)
        rows = self.phase == number
        columns = (self.phase - number, self.group, self.round, self.host, self.begins, self.ends)
        phases, ranks = self.phases[number : number + 1], self.ranks[number : number + 1]
        return Spans(phases, ranks, *(column[rows] for column in columns))

    def _groups(self) -> Numbers:
        """Number the groups of each collective and round."""
        key = np.stack([self.phase, self.round, self.group])
        return np.asarray(np.unique(key, axis=1, return_inverse=True)[1]).ravel()

    def of_groups(self) -> tuple[Numbers, Numbers]:
        """Return when each group of each collective and round began and ended [ps]; -1: never."""
        group = self._groups()
        begins, ends = _earliest(group, self.begins), np.zeros(group.max() + 1, dtype=np.int64)
        np.maximum.at(ends, group, self.ends)
        ends[group[self.ends < 0]] = -1
        return begins, ends

    def first_begins(self) -> Numbers:
        """Return for each part when the first of its group began [ps]."""
        group = self._groups()
        return np.asarray(_earliest(group, self.begins)[group])


def _earliest(place: Numbers, times: Numbers) -> Numbers:
    """Return the lowest time of each place from 0."""
    found = np.full(place.max() + 1, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(found, place, times)
    return found


def spans_of(parts: JobParts, rows: npt.NDArray[Any], table: Mapping[str, Any]) -> Spans:
    """Return when the parts of the collectives of an entry lasted.

    rows: its flows in the table `flow`.
    """
    named = parts.phase >= 0
    rows, phases = rows[named], len(parts.phases)
    src, dst, starts, ends = (
        np.asarray(table[name])[rows].astype(np.int64)
        for name in ("src", "dst", "start_ps", "finish_ps")
    )
    nodes = int(max(src.max(), dst.max())) + 1
    groups = int(parts.group.max()) + 1
    of_part = ((parts.round * phases + parts.phase) * groups + parts.group)[named]
    keys, place = np.unique(
        np.concatenate([of_part * nodes + src, of_part * nodes + dst]), return_inverse=True
    )
    sent, received = place[: len(src)], place[len(src) :]
    never = np.iinfo(np.int64).max
    begins = np.full(len(keys), never, dtype=np.int64)
    last = np.full(len(keys), -1, dtype=np.int64)
    for first in (sent, received):
        silent = begins == never  # sends nothing, so that what it receives counts
        use = silent[first]
        np.minimum.at(begins, first[use], np.where(starts < 0, never - 1, starts)[use])
    for first in (received, sent):
        deaf = last == -1
        use = deaf[first]
        np.maximum.at(last, first[use], np.where(ends < 0, never, ends)[use])
    of_part, host = np.divmod(keys, nodes)
    of_phase, group = np.divmod(of_part, groups)
    round_, phase = np.divmod(of_phase, phases)
    begins[begins >= never - 1] = -1
    last = np.where(last == never, -1, np.maximum(last, begins))
    return Spans(parts.phases, parts.ranks, phase, group, round_, host, begins, last)
