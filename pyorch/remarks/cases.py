"""The settings of a plan, each with its runs, its network and, where they are few, its flows."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import UserError
from pyorch.remarks.base import Remark, which
from pyorch.setting.attributes import section_of, snake_case

if TYPE_CHECKING:
    from pyorch.network.topology import Topology
    from pyorch.plan import RunSpec
    from pyorch.setting.attributes import Catalogue
    from pyorch.setting.canonical import Setting
    from pyorch.setting.experiment import Experiment
    from pyorch.traffic.base import Flows

MOST_SCENES, MOST_FLOWS = 30, 1_000_000
"""Maximum number of different traffics, and of flows, that are generated; above, no remarks."""


@dataclass(frozen=True)
class Case:
    """A setting and its runs, which differ in their seeds only.

    Links that fail at random are those of no seed: they are up.
    """

    setting: Setting
    network: Topology
    specs: Sequence[RunSpec]


@dataclass
class Cases:
    """The cases of a plan, and what remarks on them share."""

    every: Sequence[Case]
    specs: Sequence[RunSpec]
    types: Catalogue | None
    seed: int
    _flows: dict[Hashable, Flows | None] = field(default_factory=dict)
    _made: int = 0

    @classmethod
    def of(cls, experiment: Experiment, specs: Sequence[RunSpec]) -> Cases:
        """Return the cases of the runs of an experiment."""
        runs: dict[str, list[RunSpec]] = {}
        for spec in specs:
            runs.setdefault(_key(spec.params), []).append(spec)
        every = [
            Case(point.setting, point.network, runs[_key(point.setting.params)])
            for point in experiment.points
            if _key(point.setting.params) in runs
        ]
        return cls(every, specs, experiment.types, experiment.seeds[0])

    def flows(self, case: Case) -> Flows | None:
        """Return the flows of a case for the first seed; None if that would take long."""
        from pyorch.traffic import base as traffic

        setting = case.setting
        key = setting.topology, (*setting.traffic,), setting.run.duration
        if key in self._flows:
            return self._flows[key]
        found = None
        if len(self._flows) < MOST_SCENES and self._made <= MOST_FLOWS:
            try:
                found = traffic.flows(
                    setting.traffic, case.network, self.seed, setting.run.duration
                )
                self._made += len(found)
            except UserError:  # reported by the run that needs it
                found = None
        self._flows[key] = found
        return found

    def section(self, case: Case, type_name: str) -> dict[str, str] | None:
        """Return the values of a type's attributes in a case, with defaults; None if unknown."""
        if self.types is None:
            return None
        found: dict[str, str] | None = section_of(self.types, case.setting.attributes, type_name)
        return found

    def is_of(self, name: str, ancestor: str) -> bool:
        """Whether a type is another, or below it."""
        info = self.types.by_name.get(name) if self.types is not None else None
        if self.types is None or info is None:
            return False
        return name == ancestor or self.types.derives(info, ancestor)

    def key(self, type_name: str, attribute: str) -> str:
        """Return the key by which a file sets an attribute: "queue_pair.timeout"."""
        section = self.types.short_name(type_name) if self.types is not None else type_name
        return f"{section}.{snake_case(attribute)}"


@dataclass(frozen=True)
class Found:
    """Something to say of a case. Of those with the same topic the gravest is said, for all.

    what, hint: what is wrong with it, and what to do. gravity: larger is worse.
    """

    topic: Hashable
    case: Case
    what: str
    hint: str
    gravity: float = 0.0
    label: str = "warning"


def told(found: Iterable[Found], specs: Sequence[RunSpec]) -> list[Remark]:
    """Return a remark for each topic."""
    topics: dict[Hashable, dict[int, Found]] = {}
    for one in found:
        worst = topics.setdefault(one.topic, {}).setdefault(id(one.case), one)
        if one.gravity > worst.gravity:
            topics[one.topic][id(one.case)] = one
    remarks = []
    for same in topics.values():
        runs = [spec for one in same.values() for spec in one.case.specs]
        gravest = max(same.values(), key=lambda one: one.gravity)
        various = len({one.what for one in same.values()}) > 1
        where = f"in {which(runs, specs)}" + (", at worst" if various else "")
        remarks.append(Remark(gravest.label, f"{where}: {gravest.what}; {gravest.hint}"))
    return remarks


def _key(params: Any) -> str:
    return json.dumps(dict(params), sort_keys=True, default=str)
