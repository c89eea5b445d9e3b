"""What figures and the report see of the store: the table of runs, and any table of any run."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.lazy import pd
from pyorch.metrics import RunTables, output_units, unit_of_name
from pyorch.metrics.base import (
    BETTER_NUMBERS,
    NON_NEGATIVE,
    SHARE,
    YES_NO_NUMBERS,
    Better,
    Metric,
)
from pyorch.report.statistics import Estimate, Nature, estimate
from pyorch.store.store import Store

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.setting.canonical import Setting

_KEPT_TABLES = 64  # tables kept in memory; a report over hundreds of runs must stay small


def _is_fixed(setting: Setting) -> bool:
    """Whether the runs of a setting use no random numbers."""
    from pyorch.network import topology
    from pyorch.setting.chance import may_draw

    return not may_draw(setting, topology.build(setting.topology))


class StoreTables(Mapping[str, Any]):
    """The tables of one run, read when they are asked for."""

    def __init__(self, data: ReportData, run_hash: str) -> None:
        self._data, self._hash = data, run_hash

    def __getitem__(self, name: str) -> pd.DataFrame:
        found = self._data.table(self._hash, name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("the tables of a run are read by name")

    def __len__(self) -> int:
        raise TypeError("the tables of a run are read by name")


class ReportData:
    """Finished runs of an experiment.

    runs: one row per finished run, in the order of the plan: hash, seed, variant, parameters,
    summary numbers, metrics. parameters: the columns that the experiment varies. file: of the
    experiment.
    """

    def __init__(
        self,
        store: Any,
        runs: pd.DataFrame,
        specs: Mapping[str, Any],
        metrics: Sequence[Metric] = (),
        file: Path | None = None,
    ) -> None:
        self.store, self.runs, self.specs = store, runs, specs
        self.file, self.metrics = file, list(metrics)
        names = [name for spec in specs.values() for name in spec.params]
        self.parameters = [name for name in dict.fromkeys(names) if name != "variant"]
        self._units = output_units(metrics)
        self._models = {output: model for model in metrics for output in model.outputs()}
        self._tables: OrderedDict[tuple[str, str], pd.DataFrame | None] = OrderedDict()
        self._summaries: dict[str, dict[str, Any]] = {}

    @classmethod
    def of(
        cls,
        store: Store,
        specs: Sequence[RunSpec],
        fingerprint: str,
        metrics: Sequence[Metric] = (),
        file: Path | None = None,
    ) -> ReportData:
        """Collect the finished runs among the specs. fingerprint: as in run hashes."""
        runs = store.collect(specs, fingerprint)
        by_hash = {spec.hash(fingerprint): spec for spec in specs}
        return cls(store, runs, by_hash, metrics, file)

    @property
    def settings(self) -> list[str]:
        """Columns that distinguish settings: all that varies except the seed."""
        columns = ["variant", *self.parameters]
        return [name for name in columns if name in self.runs.columns]

    def unit(self, metric: str) -> str:
        """Base unit of a metric or a summary number."""
        return self._units.get(metric) or unit_of_name(metric)

    @property
    def units(self) -> dict[str, str]:
        """Base unit of every column of the table of runs."""
        return {name: self.unit(name) for name in (*self.runs.columns, *self._units)}

    def nature(self, metric: str, runs: pd.DataFrame) -> Nature:
        """What is known about a metric in some of the runs before it is measured."""
        model = self._models.get(metric)
        return Nature(
            fixed="hash" in runs and self.fixed.issuperset(runs["hash"]),
            yes_no=model.yes_no() if model else metric in YES_NO_NUMBERS,
            limits=model.limits() if model else NON_NEGATIVE,
        )

    def better(self, metric: str) -> Better:
        """Which values of a metric, or of a number of the summary, are better."""
        model = self._models.get(metric)
        return model.better() if model else BETTER_NUMBERS.get(metric, "")

    def is_share(self, metric: str) -> bool:
        """Whether a metric is a share, any number from 0 to 1."""
        model = self._models.get(metric)
        return model is not None and model.limits() == SHARE and not model.yes_no()

    def estimate(self, metric: str, runs: pd.DataFrame) -> Estimate:
        """The estimate of a metric from some runs of one setting."""
        values = runs[metric] if metric in runs.columns else ()
        return estimate(values, self.nature(metric, runs))

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The runs that use no random numbers: with another seed they would be the same."""
        from pyorch.setting.chance import MOST_SCENES, scene_of

        settings: dict[str, list[str]] = {}
        for key, spec in self.specs.items():
            settings.setdefault(json.dumps(spec.params, sort_keys=True, default=str), []).append(
                key
            )
        known: dict[Hashable, bool] = {}
        found: list[str] = []
        for keys in settings.values():
            scenes = {scene_of(self.specs[key].setting) for key in keys}
            scene = scenes.pop()
            if scenes:  # links that fail at random: drawn before the run, by its seed
                continue
            if scene not in known:
                known[scene] = len(known) < MOST_SCENES and _is_fixed(self.specs[keys[0]].setting)
            if known[scene]:
                found += keys
        return frozenset(found)

    def summary(self, run_hash: str) -> dict[str, Any]:
        """summary.json of a run."""
        if run_hash not in self._summaries:
            self._summaries[run_hash] = self.store.read_summary(run_hash)
        return self._summaries[run_hash]

    def table(self, run_hash: str, name: str) -> pd.DataFrame | None:
        """A table of a run, None when there is none of that name; the last few are cached."""
        key = (run_hash, name)
        if key not in self._tables:
            try:
                self._tables[key] = self.store.read_table(run_hash, name)
            except (KeyError, FileNotFoundError):
                self._tables[key] = None
            while len(self._tables) > _KEPT_TABLES:
                self._tables.popitem(last=False)
        return self._tables[key]

    def run(self, run_hash: str) -> RunTables:
        """One run, as metrics see it."""
        summary = self.summary(run_hash)
        return RunTables(
            setting=self.specs[run_hash].setting,
            seed=self.specs[run_hash].seed,
            nodes=summary["nodes"],
            summary=summary.get("summary", {}),
            tables=StoreTables(self, run_hash),
        )
