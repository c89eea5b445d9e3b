"""Problems of metrics, figures and expectations as a whole, found before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pyorch.base.errors import Problem, one_of, suggest
from pyorch.metrics import Metric, Need, is_traced, output_units, trace_hint, unit_of_name
from pyorch.report.expect import ExpectModel
from pyorch.report.figures import FigureModel
from pyorch.setting.canonical import Trace
from pyorch.store.store import FIRST_COLUMNS

SUMMARY_NUMBERS = (
    "flows_total",
    "flows_finished",
    "flows_unfinished",
    "delivered_bytes",
    "dropped_frames",
    "dropped_lossless_frames",
    "pauses_sent",
    "pause_time_ps",
    "peak_buffer_bytes",
    "peak_queue_bytes",
    "last_delivery_ps",
    "events",
    "end_ps",
    "data_hops",
    "deadlocked",
    "deadlocked_at_end",
    "deadlock_formed_ps",
    "deadlock_dissolved_ps",
    "deadlock_cycle_queues",
    "deadlock_stuck_queues",
    "deadlock_trigger_on_cycle",
    "blocked_by_host",
    "reordered_frames",
    "reorder_distance",
)
"""Numbers of every run's summary that figures and expectations may name without a [[metric]]."""


MORE_NUMBERS = (
    "withheld_time_ps",
    "blocked_by_host_formed_ps",
    "blocked_by_host_queues",
    "cnps_received",
    "cnps_sent",
    "control_frames_sent",
    "deadlock_chain_pauses",
    "deadlock_episodes",
    "deadlock_evaluations",
    "deadlock_last_formed_ps",
    "deadlock_not_judged_ports",
    "deadlock_seen_ps",
    "deadlock_trigger_is_host",
    "deadlock_trigger_node",
    "deadlock_trigger_peer",
    "deadlock_trigger_ps",
    "dropped_corrupted_frames",
    "dropped_headroom_frames",
    "dropped_link_down_frames",
    "dropped_lossy_frames",
    "dropped_no_route_frames",
    "dropped_scheme_bytes",
    "dropped_scheme_frames",
    "dropped_ttl_frames",
    "flow_cycle_egresses",
    "flows_finite",
    "nacks",
    "peak_headroom_bytes",
    "published_headroom_bytes",
    "retransmitted_bytes",
    "sent_bytes",
    "sufficient_headroom_bytes",
    "timeouts",
)
"""The other numbers of every run's summary, whose names metrics cannot have either."""
_RENAME = "give the metric another name"


def check_entries(
    where: str,
    metrics: Sequence[Metric],
    figures: Sequence[FigureModel],
    expects: Sequence[ExpectModel],
    traces: Sequence[Trace],
    parameters: Collection[str],
) -> list[Problem]:
    """Problems between entries that are each valid.

    where: the file, for messages. traces: what is recorded. parameters: what the experiment
    varies ("variant" among them when the file has variants).
    """
    units = output_units(metrics)
    names = [output for metric in metrics for output in metric.outputs()]
    problems = _twice(f"{where}: [[metric]]", names)
    # problems of metrics with the name of another column of runs.parquet
    taken = {*FIRST_COLUMNS, *parameters, *SUMMARY_NUMBERS, *MORE_NUMBERS}
    problems += [
        Problem(f"{where}: [[metric]] {metric.name}", f"{name!r} is another column", None, _RENAME)
        for metric in metrics
        for name in metric.outputs()
        if name in taken
    ]
    problems += _twice(f"{where}: [[figure]]", [figure.name for figure in figures])
    for metric in metrics:
        problems += _untraced(f"{where}: [[metric]] {metric.name}", metric.needs(), traces)
    for figure in figures:
        place = f"{where}: [[figure]] {figure.name}"
        problems += _untraced(place, figure.needs(), traces)
        problems += _unknown_metrics(place, figure.metrics(), units)
        problems += _several_units(place, figure.on_one_axis(), units)
        problems += _unexpected(place, figure, expects)
        columns = [*_asked_columns(figure, parameters), *figure.where]
        problems += _unknown_parameters(place, columns, parameters)
    for expect in expects:
        problems += _check_expect(f'{where}: [[expect]] "{expect.what}"', expect, units, parameters)
    return problems


def _asked_columns(figure: FigureModel, parameters: Collection[str]) -> list[str]:
    """The columns of a figure's layout, without a default of `hue` that does not vary."""
    assumed = None if "hue" in figure.model_fields_set else getattr(figure, "hue", None)
    return [name for name in figure.axes_columns() if name in parameters or name != assumed]


def _twice(where: str, names: Iterable[str]) -> list[Problem]:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return [
        Problem(where, f"the name '{name}' is given twice", None, "rename one of them")
        for name in repeated
    ]


def _untraced(where: str, needs: Iterable[Need], traces: Sequence[Trace]) -> list[Problem]:
    return [
        Problem(where, f"it needs {need}, which no [[trace]] records", None, trace_hint(need))
        for need in dict.fromkeys(needs)
        if not is_traced(need, traces)
    ]


def _unknown_metrics(where: str, names: Iterable[str], units: Mapping[str, str]) -> list[Problem]:
    known = [*units, *SUMMARY_NUMBERS]
    hint = 'declare a [[metric]]; kind = "summary" gives any number of the simulator'
    return [
        Problem(where, f"unknown metric '{name}'", one_of(known), suggest(name, known) or hint)
        for name in names
        if name not in known
    ]


def _several_units(where: str, names: Sequence[str], units: Mapping[str, str]) -> list[Problem]:
    """A problem if metrics in several units share an axis."""
    found = {name: units.get(name) or unit_of_name(name) for name in names}
    if len(set(found.values())) < 2:
        return []
    told = [f"'{name}' {_measured_in(unit)}" for name, unit in found.items()]
    what = f"metrics on one axis need one unit, but {one_of(told)}"
    return [Problem(where, what, None, "draw a figure for each unit")]


def _measured_in(unit: str) -> str:
    return "is a pure number" if unit == "1" else f"is in {unit}"


def _unexpected(where: str, figure: FigureModel, expects: Sequence[ExpectModel]) -> list[Problem]:
    """Problems of a finding whose metrics have no expectation that decides."""
    known = list(dict.fromkeys(expect.metric for expect in expects if expect.decides))
    allowed = one_of(known) if known else "nothing: there is no [[expect]]"
    return [
        Problem(
            where,
            f"'finding': no [[expect]] has the metric '{name}'",
            allowed,
            suggest(name, known),
        )
        for name in (figure.finding.metrics if figure.finding else ())
        if name not in known
    ]


def _unknown_parameters(
    where: str, names: Iterable[str], parameters: Collection[str]
) -> list[Problem]:
    known = sorted(parameters)
    allowed = one_of(known) if known else "nothing: this experiment varies only the seed"
    return [
        Problem(where, f"'{name}' does not vary in this experiment", allowed, suggest(name, known))
        for name in dict.fromkeys(names)
        if name not in parameters
    ]


def _check_expect(
    where: str, expect: ExpectModel, units: Mapping[str, str], parameters: Collection[str]
) -> list[Problem]:
    problems = _unknown_metrics(where, [expect.metric], units)
    problems += _unknown_parameters(where, expect.where, parameters)
    problems += _unknown_parameters(where, expect.relative_to or {}, parameters)
    written, measured = expect.unit(), units.get(expect.metric) or unit_of_name(expect.metric)
    if not problems and written is not None and written != measured:
        meaning = f"the metric '{expect.metric}' {_measured_in(measured)}"
        problems.append(Problem(where, f"its numbers are in {written}, but {meaning}", None, None))
    return problems
