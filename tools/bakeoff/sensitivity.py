"""Which verdicts between schemes turn when values that no source settles change, one at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from pyorch.base.fields import Table
from pyorch.base.paths import Paths
from pyorch.cli.base import FAILED, OK, whole_number
from pyorch.metrics.fields import Where
from pyorch.pipeline import Plan, make_plan
from pyorch.report.statistics import Estimate, estimate
from tools.bakeoff.compare import Row, Values, Verdict, against
from tools.bakeoff.parts import load_part

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

FILE = "experiments/bakeoff/parts/sensitivity.toml"


class Vary(Table):
    """A value of one scheme, or of all: its name, the scene's value, and the values tried."""

    scheme: str = ""
    what: str
    used: str
    settings: dict[str, list[str]] = Field(min_length=1)


class Asked(Table):
    """The file: a scene, which of its settings and seeds count, the metrics, and what is varied.

    excused: keys of scheme files that no source settles and that are not varied, with the reason.
    """

    study: str
    where: Where
    metrics: list[str] = Field(min_length=1)
    seeds: int = Field(ge=2)
    vary: list[Vary] = Field(min_length=1)
    excused: dict[str, str] = Field(default={})

    def plan(self, paths: Paths, changes: Sequence[str] = ()) -> Plan:
        """Plan the scene with changed values. Raises UserError if one cannot be set."""
        chosen = [f"run.seeds={self.seeds}", *(f"{key}={one}" for key, one in self.where.items())]
        return make_plan(self.study, [*chosen, *changes], paths=paths)


@dataclass(frozen=True)
class Trial:
    """One changed value: the plan with it, and those of its runs that count."""

    vary: Vary
    setting: str
    plan: Plan
    specs: list[RunSpec]


@dataclass(frozen=True)
class Turned:
    """What one changed value does to one metric.

    before, after: the scheme's mean in the scene as it is, and with the value; None if the value is
    changed for all schemes at once. verdicts: on pairs of schemes, before and after; the changed
    scheme comes first.
    """

    vary: Vary
    setting: str
    metric: str
    before: Estimate | None
    after: Estimate | None
    verdicts: dict[tuple[str, str], tuple[Verdict, Verdict]]

    @property
    def turned(self) -> dict[tuple[str, str], tuple[Verdict, Verdict]]:
        """The pairs whose verdict changed."""
        return {pair: both for pair, both in self.verdicts.items() if both[0] != both[1]}


def load_asked(paths: Paths) -> Asked:
    """Read the file. Raises UserError with every problem in it."""
    return load_part(Asked, FILE, paths)


def where_runs(plan: Plan, where: Where) -> list[RunSpec]:
    """Return the runs of a plan that have these swept values."""
    return [
        spec
        for spec in plan.specs
        if all(
            spec.params.get(key) in (value if isinstance(value, list) else [value])
            for key, value in where.items()
        )
    ]


def trials(asked: Asked, paths: Paths) -> Iterator[Trial]:
    """Yield every changed value with its runs. Raises UserError if one cannot be set."""
    for vary in asked.vary:
        for name, changes in vary.settings.items():
            plan = asked.plan(paths, changes)
            specs = [
                s for s in where_runs(plan, asked.where) if vary.scheme in ("", s.params["variant"])
            ]
            yield Trial(vary, name, plan, specs)


def run_trials(asked: Asked, jobs: str, paths: Paths) -> int:
    """Run what is missing of all trials and return the exit code."""
    every = ((one.plan, one.specs) for one in trials(asked, paths))
    return run_missing("sensitivity", every, jobs)


def run_missing(what: str, plans: Iterable[tuple[Plan, list[RunSpec]]], jobs: str) -> int:
    """Run what is missing of these runs, each once, and return the exit code.

    plans: those of one or several studies; each study has a folder of results.
    """
    from pyorch.engine import LocalEngine

    todo: dict[str, tuple[Plan, dict[str, RunSpec]]] = {}
    for plan, specs in plans:
        fingerprint = plan.build.fingerprint
        _, missing = todo.setdefault(plan.store.name, (plan, {}))
        for spec in plan.store.missing(specs, fingerprint):
            missing[spec.hash(fingerprint)] = spec
    code = OK
    for plan, missing in todo.values():
        if missing:
            print(f"{what}: {len(missing)} runs of {plan.store.name}")
            engine = LocalEngine(plan.store, whole_number("--jobs", jobs))
            code = FAILED if engine.run(list(missing.values()), plan.build).left else code
    return code


def all_turned(asked: Asked, paths: Paths) -> list[Turned]:
    """Judge all trials whose runs are done, metric by metric."""
    found: list[Turned] = []
    scene: dict[str, dict[str, dict[int, float]]] = {}
    base = asked.plan(paths)
    for metric in asked.metrics:
        scene[metric] = values_of(base, where_runs(base, asked.where), metric)
    for trial in trials(asked, paths):
        if all(spec_done(trial, spec) for spec in trial.specs):
            for metric in asked.metrics:
                own = values_of(trial.plan, trial.specs, metric)
                found.append(turn(trial.vary, trial.setting, metric, scene[metric], own))
    return found


def spec_done(trial: Trial, spec: RunSpec) -> bool:
    """Whether a run of a trial is done."""
    return trial.plan.store.is_done(spec.hash(trial.plan.build.fingerprint))


def values_of(plan: Plan, specs: Sequence[RunSpec], metric: str) -> dict[str, dict[int, float]]:
    """Return the metric of each scheme and finished seed, the mean over its settings."""
    table = plan.store.collect(specs, plan.build.fingerprint)
    found: dict[str, dict[int, list[float]]] = {}
    if metric in table:
        lines = zip(table["variant"], table["seed"], table[metric], strict=True)
        for scheme, seed, value in lines:
            if value is not None and not math.isnan(value):
                found.setdefault(str(scheme), {}).setdefault(int(seed), []).append(float(value))
    return {
        scheme: {seed: sum(several) / len(several) for seed, several in values.items()}
        for scheme, values in found.items()
    }


def turn(
    vary: Vary,
    setting: str,
    metric: str,
    scene: Mapping[str, Values],
    own: Mapping[str, Values],
) -> Turned:
    """Judge the schemes that have the changed value against all others.

    scene, own: the metric of each scheme and seed, in the scene as it is and with the value.
    """
    name = vary.scheme
    row = Row(study="", scene="", label="", metric=metric, better="lower")
    changed = {**scene, **own}
    pairs = [
        (one, other)
        for one, other in itertools.permutations(scene, 2)
        if one == name or (not name and one < other)
    ]
    verdicts = {
        (one, other): (
            against(row, scene[one], scene[other]),
            against(row, changed[one], changed[other]),
        )
        for one, other in pairs
    }
    before, after = (estimate(found[name].values()) if name else None for found in (scene, changed))
    return Turned(vary, setting, metric, before, after, verdicts)


def told(turned: Turned) -> str:
    """Describe what turned: schemes by verdict before and after, or pairs if all were changed."""
    groups: dict[tuple[Verdict, Verdict], list[str]] = {}
    for (one, other), both in turned.turned.items():
        if turned.vary.scheme:
            groups.setdefault(both, []).append(other)
        elif both == ("worse", "better"):
            groups.setdefault(("better", "worse"), []).append(f"{other} than {one}")
        elif "open" not in both:
            groups.setdefault(both, []).append(f"{one} than {other}")
    parts = [f"{old} to {new}: {', '.join(names)}" for (old, new), names in groups.items()]
    if not turned.vary.scheme:
        half = sum("open" in both for both in turned.turned.values())
        parts.append(f"{half} of {len(turned.verdicts)} pairs to or from open")
    return "; ".join(parts) or "-"


HEADS = ("Of", "Value", "Used", "Changed to", "Metric", "Mean before", "With it", "Turned")


def line(one: Turned) -> list[str]:
    """Return the cells for a changed value and a metric."""
    before, after = (
        f"{e.mean:.3g} ± {e.half_width:.2g}" if e else "" for e in (one.before, one.after)
    )
    what = (one.vary.scheme or "all", one.vary.what, one.vary.used, one.setting)
    return [*what, one.metric, before, after, told(one)]


def markdown(found: Sequence[Turned]) -> str:
    """Return the table: one line per changed value and metric."""
    lines = [list(HEADS), ["---"] * len(HEADS), *map(line, found)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
