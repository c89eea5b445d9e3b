"""A run of a study with other values of some keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyorch.addons.lab.ranges import overrides_of
from pyorch.base.errors import refusal
from pyorch.build import load_schema
from pyorch.files.find import read_document
from pyorch.files.load import load_experiment
from pyorch.files.patch import ONLY
from pyorch.plan import RunSpec, expand
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pyorch.files.find import Document
    from pyorch.pipeline import Plan


FOLDER = "search"
"""The folder of a study's trials, in that of its results."""


@dataclass(frozen=True)
class Varied:
    """A run of a study, and the source of the study. name, overrides: as in `make_plan`."""

    plan: Plan
    spec: RunSpec
    name: str | Document
    overrides: Sequence[str] = ()

    @cached_property
    def store(self) -> Store:
        """The store of the runs."""
        return Store(self.plan.store.paths, f"{self.plan.store.name}/{FOLDER}")

    @cached_property
    def _document(self) -> Document:

        name, paths = self.name, self.plan.store.paths
        document = read_document(name, paths) if isinstance(name, str) else name
        return replace(document, name=self.store.name)  # runs know their folder

    def runs(self, values: Mapping[str, str], seeds: Sequence[int]) -> list[RunSpec]:
        """The run with other values of some keys, once with each seed. Raises UserError.

        Figures and expectations are left out: those of other scenarios would have no run.
        """
        texts = [*self._narrowed(), *overrides_of(values)]
        if "scenario" in self.spec.params and "scenario" not in values:
            texts.append(f"scenario={self.spec.params['scenario']}")  # the others are not needed
        schema = load_schema(self.plan.build)
        paths = self.plan.store.paths
        experiment = load_experiment(self._document, texts, schema, paths, runs_only=True)
        own = self._others(self.spec.params, values)
        specs = expand(experiment, seeds)
        found = [spec for spec in specs if self._others(spec.params, values) == own]
        if len(found) != len(seeds):
            what = f"the study no longer has this run if {', '.join(values)} changes"
            raise refusal("--vary", what, hint="vary keys that do not choose the runs")
        return found

    def _narrowed(self) -> list[str]:
        """The overrides, and only the run's variant: values need not suit the others."""
        variant = str(self.spec.params["variant"])
        if not variant or "," in variant:  # --only cannot name it
            return list(self.overrides)
        others = [one for one in self.overrides if one.partition("=")[0].strip() != ONLY]
        return [*others, f"{ONLY}={variant}"]

    @staticmethod
    def _others(params: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
        return {key: value for key, value in params.items() if key not in values}
