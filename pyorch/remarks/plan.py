"""Remarks on a plan before anything runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.base.paths import Paths, default_paths
from pyorch.remarks.base import Remark, which
from pyorch.remarks.cases import Cases, Found, told

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.report.data import ReportData
    from pyorch.report.figures import FigureModel
    from pyorch.setting.attributes import Catalogue
    from pyorch.setting.experiment import Experiment
    from pyorch.traffic.base import Flows

BUFFER = "ns3::lossless::SharedBuffer"
IDLE = {"Dynamic": ("Xoff", "Xon"), "Static": ("Alpha", "XonOffset")}
"""Attributes of the buffer that have no effect with a kind of threshold."""
MARGIN = 1.25
"""Factor by which the traffic of another seed may have more flows."""


def of_plan(
    experiment: Experiment, specs: Sequence[RunSpec], paths: Paths | None = None
) -> list[Remark]:
    """Remarks that are certain before anything runs. paths: of the project, by default this one."""
    found = [*_hides(experiment, paths or default_paths()), *_outdated(experiment.types)]
    found += _replaced(experiment)
    found += [*_signals(specs, experiment.types), *_idle_thresholds(specs, experiment.types)]
    cases = Cases.of(experiment, specs)
    found += [
        *told(_of_cases(cases), specs),
        *_on_ways(specs, experiment.types),
        *_drawn(experiment, specs),
    ]
    return [*found, *_without_runs(experiment, specs), *_few_flows(experiment, cases)]


def of_overloads(experiment: Experiment, specs: Sequence[RunSpec]) -> list[str]:
    """Links that get more than they carry, in words: what a report says of it."""
    from pyorch.remarks.offered import of_offered_loads

    return [one.text for one in told(of_offered_loads(Cases.of(experiment, specs)), specs)]


def _of_cases(cases: Cases) -> Iterator[Found]:
    """What is said of settings, by topic."""
    if cases.types is None:
        return
    from pyorch.remarks.classes import of_classes  # these load numpy
    from pyorch.remarks.feedback import of_feedback
    from pyorch.remarks.line_rates import of_line_rates
    from pyorch.remarks.offered import of_doubtful_keys, of_offered_loads
    from pyorch.remarks.round_trips import of_round_trips

    yield from of_round_trips(cases)
    yield from of_classes(cases)
    yield from of_line_rates(cases)
    yield from of_feedback(cases)
    yield from of_offered_loads(cases)
    yield from of_doubtful_keys(cases)


def _hides(experiment: Experiment, paths: Paths) -> Iterator[Remark]:
    """Whether a file of the project has the name of a study that came with the package."""
    shipped = paths.shipped_experiments
    if shipped is None:
        return
    other = shipped / f"{experiment.name}.toml"
    if other.is_file() and experiment.file.resolve() != other.resolve():
        what = f"{experiment.name} is {experiment.label} of this project"
        yield Remark("study", f"{what}, not the study of that name that came with pyorch")


def _replaced(experiment: Experiment) -> Iterator[Remark]:
    """What a file, or one that it includes, gives to all variants, and none of them keeps."""
    for key in experiment.replaced:
        what = f"'{key}' of the file is in force in no run: every variant sets its own"
        yield Remark(key, f"{what}; set it in the variants, or leave those out")


def _outdated(types: Catalogue | None) -> Iterator[Remark]:
    """Old names of types, which are read as the new ones."""
    for old, new in sorted(types.outdated.items()) if types is not None else ():
        yield Remark("name", f"{old} is called {new} now, and is read as that; write the new name")


def _signals(specs: Sequence[RunSpec], types: Catalogue | None) -> Iterator[Remark]:
    """Congestion controls whose signal no switch sends.

    They are not rejected: an agent not derived from the named one may send the signal, too.
    """
    if types is None:
        return
    deaf: dict[tuple[str, str], list[RunSpec]] = defaultdict(list)
    for spec in specs:
        control = types.by_name.get(spec.setting.congestion_control)
        wanted = types.by_name.get(control.signaller) if control is not None else None
        agents = [types.by_name[name] for name in spec.setting.agents]
        if control and wanted and not any(wanted in types.lineage(agent) for agent in agents):
            deaf[control.name, wanted.name].append(spec)
    for names, runs in deaf.items():
        obeying, agent = map(types.short_name, names)
        yield Remark(
            "warning",
            f"{obeying} needs the signal of the agent {agent}, which no switch has in "
            f'{which(runs, specs)}: rates are never cut; add agents = ["{agent}"]',
        )


def _idle_thresholds(specs: Sequence[RunSpec], types: Catalogue | None) -> Iterator[Remark]:
    """Thresholds that a file sets, but that the buffer's kind of threshold does not use."""
    from pyorch.setting.attributes import section_of, snake_case

    default = section_of(types, {}, "buffer") if types is not None else None
    if default is None or "Threshold" not in default:
        return
    idle: dict[tuple[str, str], list[RunSpec]] = defaultdict(list)
    for spec in specs:
        given = spec.setting.attributes.get(BUFFER, {})
        threshold = given.get("Threshold", default["Threshold"])
        for name in IDLE.get(threshold, ()):
            if name in given:
                idle[name, threshold].append(spec)
    for (name, threshold), runs in idle.items():
        other = next(kind for kind in IDLE if kind != threshold)
        what = f'buffer.{snake_case(name)} has no effect with threshold = "{threshold.lower()}"'
        hint = f'leave it out, or set buffer.threshold = "{other.lower()}"'
        yield Remark("warning", f"{what}, in {which(runs, specs)}; {hint}")


def _on_ways(specs: Sequence[RunSpec], types: Catalogue | None) -> list[Remark]:
    """Routes that no flow takes, links that fail under fixed paths, and what such links change."""
    settings = (spec.setting for spec in specs)
    tables = ((one.routes, one.topology.failures, one.topology.failed_links) for one in settings)
    if not any(map(any, tables)):
        return []
    from pyorch.remarks.routes import of_routes, scenes_of  # numpy
    from pyorch.remarks.telemetry import of_detours

    scenes = scenes_of(specs)
    return [*of_routes(scenes, specs), *of_detours(scenes, specs, types)]


def _drawn(experiment: Experiment, specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Whether several seeds are wasted, because nothing is drawn from them."""
    seeds = len({spec.seed for spec in specs})
    if seeds > 1 and not _may_draw(experiment):
        equal = f"all {seeds} seeds of a setting will give the same results"
        yield Remark("seeds", f"nothing in this experiment is drawn from the seed: {equal}")


def _may_draw(experiment: Experiment) -> bool:
    """Whether something in an experiment may depend on the seed."""
    from pyorch.setting.chance import MOST_SCENES, may_draw, scene_of

    seen: set[Hashable] = set()
    for point in experiment.points:
        scene = scene_of(point.setting)
        if scene in seen:
            continue
        seen.add(scene)
        if len(seen) > MOST_SCENES or may_draw(point.setting, point.network):
            return True
    return False


def _without_runs(experiment: Experiment, specs: Sequence[RunSpec]) -> Iterator[Remark]:
    """Figures and expectations that match no planned run, or that mix settings."""
    from pyorch.report.figures import FigureError
    from pyorch.report.select import filter_text, matching

    if not experiment.figures and not experiment.expects:
        return
    data = _planned(specs, experiment.figures)
    for what, entry in _entries(experiment):
        if not len(matching(data.runs, entry.where)):
            yield Remark("warning", f"{what}: no run has {filter_text(entry.where)}")
    seeds = {spec.seed for spec in specs}
    for figure in experiment.figures:
        seed = getattr(figure, "seed", None)
        if seed is not None and seed not in seeds:
            yield Remark("warning", f"figure '{figure.name}': no run has seed {seed}")
        changed = {} if seed is None else {"seed": None}
        try:
            if len(matching(data.runs, figure.where)):
                figure.model_copy(update=changed).fitted(data).check_layout(data)
        except FigureError as error:
            yield Remark("warning", f"figure '{figure.name}' cannot be drawn: {error}")


def _entries(experiment: Experiment) -> Iterator[tuple[str, Any]]:
    yield from ((f"figure '{figure.name}'", figure) for figure in experiment.figures)
    yield from ((f'expectation "{expect.what}"', expect) for expect in experiment.expects)


def _planned(specs: Sequence[RunSpec], figures: Sequence[FigureModel]) -> ReportData:
    """The settings of a plan as a report would see them, each with one seed, without results."""
    from pyorch.report.data import ReportData
    from pyorch.report.figures.base import is_own
    from pyorch.report.select import Settings

    settings = {json.dumps(dict(spec.params), sort_keys=True): spec for spec in reversed(specs)}
    chosen = {str(number): spec for number, spec in enumerate(reversed(settings.values()))}
    rows = [
        {"hash": key, "variant": "", **spec.params, "seed": spec.seed}
        for key, spec in chosen.items()
    ]
    table: Any = Settings(rows)
    if not all(map(is_own, figures)):  # kinds from elsewhere may use any method of a DataFrame
        import pandas as pd

        table = pd.DataFrame(rows)
    return ReportData(None, table, chosen)


def _few_flows(experiment: Experiment, cases: Cases) -> Iterator[Remark]:
    """Percentiles that need more flows than the traffic has."""
    from pyorch.metrics.flow_kinds import FlowTimes, samples_needed
    from pyorch.report.figures.flows import Slowdown

    metrics = [m for m in experiment.metrics if isinstance(m, FlowTimes)]
    metrics = [metric for metric in metrics if metric.percentile is not None]
    figures = [figure for figure in experiment.figures if isinstance(figure, Slowdown)]
    scenes = _flows_of(cases) if metrics or figures else []
    for metric in metrics if scenes else ():
        needed = samples_needed(metric.percentile or 0, metric.min_flows)
        most = max(int(metric.counted(flows).sum()) for flows in scenes)
        if needed > most * MARGIN:
            takes = f"p{metric.percentile:g} needs {needed:,} flows"
            text = f"metric '{metric.name}' will be empty: {takes}, a run has about {most:,}"
            longer = f"run {-(-needed // most):,} times as long, or " if most else ""
            text += f"; {longer}set min_flows"
            yield Remark("warning", text)
    seeds = len({spec.seed for spec in cases.specs})
    for figure in figures if scenes else ():
        most = max(map(figure.at_most, scenes)) * seeds
        needs = [(p, samples_needed(p, figure.min_flows)) for p in figure.percentiles]
        takes = " and ".join(f"p{p:g} needs {n:,}" for p, n in needs if n > most * MARGIN)
        if takes:
            text = f"figure '{figure.name}' will lack points: {takes} flows in a bucket of sizes"
            yield Remark("warning", f"{text}, the fullest has about {most:,}")


def _flows_of(cases: Cases) -> list[Flows]:
    """The flows of every setting with the first seed; none if there are too many to generate."""
    found: dict[int, Flows] = {}
    for case in cases.every:
        flows = cases.flows(case)
        if flows is None:
            return []
        found[id(flows)] = flows
    return list(found.values())
