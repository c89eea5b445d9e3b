"""The answer that a report begins with: made from the runs and the verdicts.

finding of a figure, if its expectations agree -> as it is
key metric (of the first expectation) -> where it is lowest and highest, or how often it is 1
without expectations: the first metrics -> what each variant has of them
verdicts -> how many expectations hold, and which are refuted
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyorch.base.lazy import pd
from pyorch.base.units import short_key
from pyorch.report.data import ReportData
from pyorch.report.expect import AGREES, DIFFERS, NOT_COMPARABLE, NOT_MEASURED, Result
from pyorch.report.quantities import automatic, plain_name, show
from pyorch.report.select import absent, value_text, values_of
from pyorch.report.statistics import estimate

_MOST = 3  # variants or expectations that a text names one by one
_MOST_METRICS = 2  # that an answer tells of without expectations
_MOST_VALUES = 4  # variants that it gives one by one
_LEAST = 0.01  # of a unit: less is given in another one
_UNSET = "unset"  # a parameter that a variant does not have
DEADLOCKED = "deadlocked"
ALWAYS = ("last_delivery_ps", "pause_time_ps", "peak_queue_bytes")
"""Numbers of every run, for an experiment that measures nothing of its own."""


@dataclass(frozen=True)
class Answer:
    """The result of the runs in a sentence, and how many expectations hold.

    tally: counts of verdicts. refuted: the expectations that do not hold, as written.
    """

    found: str
    tally: str
    refuted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it, as one line."""
        return " ".join(part for part in (self.found, self.tally) if part)


def answer(
    data: ReportData,
    results: Sequence[Result],
    names: Mapping[str, str],
    question: str = "",
    metrics: Sequence[str] = (),
    finding: str = "",
    told: str = "",
) -> Answer:
    """Return the answer of the finished runs.

    finding: a sentence that the verdicts support; "" without one.
    told: what a figure says; it takes the place of metrics where nothing is expected.
    names: what figures call metrics on their axes. metrics: those of the experiment in its order,
    which are told where nothing is expected; else numbers that every run has.
    """
    refuted = tuple(r.expect.what for r in results if r.verdict == DIFFERS)
    found = f"{finding}." if finding else _found(data, results, names, question)
    if not results and len(data.runs):
        told = told or _measured(data, names, metrics) or _measured(data, names, ALWAYS)
        found = " ".join(part for part in (found, told) if part)
    return Answer(found, _tally(results), refuted)


def _tally(results: Sequence[Result]) -> str:
    """How many expectations got each verdict: "14 of 15 expectations hold, 1 is refuted."."""
    if not results:
        return ""
    verdicts = [result.verdict for result in results]
    holds = verdicts.count(AGREES)
    refuted = verdicts.count(DIFFERS)
    rest = ((NOT_MEASURED, "not measured"), (NOT_COMPARABLE, "not comparable"))
    counts = [(refuted, "refuted"), *((verdicts.count(name), said) for name, said in rest)]
    parts = [f"{count} {'is' if count == 1 else 'are'} {said}" for count, said in counts if count]
    total = len(results)
    if total == holds:
        all_of = "The expectation holds" if total == 1 else f"All {total} expectations hold"
        return f"{all_of}."
    of = f"{holds} of {total} expectations {'holds' if holds == 1 else 'hold'}"
    return f"{', '.join([of, *parts])}."


def _found(
    data: ReportData, results: Sequence[Result], names: Mapping[str, str], question: str
) -> str:
    """What the runs show of the key metric; "" without a finished run or a number to report."""
    runs = data.runs
    if not len(runs):
        return ""
    metric = key_metric(results, runs)
    parts = []
    known = DEADLOCKED in runs and bool(runs[DEADLOCKED].notna().all())
    same = metric is not None and known and bool((runs[metric] == runs[DEADLOCKED]).all())
    if known and not same and "deadlock" in question.lower():
        parts.append(_counted("Deadlock", runs, DEADLOCKED))
    if metric is not None:
        name = "Deadlock" if same else names.get(metric) or plain_name(metric)
        said = _counted(name, runs, metric) if _is_yes_no(data, metric) else ""
        parts.append(said or _ranged(name, data, metric))
    return " ".join(part for part in parts if part)


def _measured(data: ReportData, names: Mapping[str, str], metrics: Sequence[str]) -> str:
    """What runs have of some metrics: of the first that tell them apart, or of the first one."""
    runs = data.runs
    known = [
        name
        for name in dict.fromkeys(metrics)
        if name in runs and name != DEADLOCKED and set(map(type, runs[name])) <= {int, float}
        if runs[name].notna().any()
    ]
    apart = [name for name in known if len(set(runs[name].dropna())) > 1]
    said = []
    for metric in apart[:_MOST_METRICS] or known[:1]:
        name = names.get(metric) or plain_name(metric)
        if _is_yes_no(data, metric):
            said.append(_counted(name, runs, metric))
        else:
            said.append(_valued(name, data, metric))
    return " ".join(said)


def _is_yes_no(data: ReportData, metric: str) -> bool:
    """Whether runs have only 0 or 1, and not as a share: "in each of 3 runs" is not said of one."""
    values = set(data.runs[metric].dropna().astype(float))
    return values <= {0.0, 1.0} and data.unit(metric) == "1" and not data.is_share(metric)


def _valued(name: str, data: ReportData, metric: str) -> str:
    """A metric by variant, or if these are many or something else varies, where it is extreme."""
    runs = data.runs[data.runs[metric].notna()]
    varied = {key for key in data.settings if len(set(data.runs[key].astype(str))) > 1}
    if len(set(runs["seed"])) > 1:
        name = f"{name}, mean over seeds"
    groups = _groups(runs)
    if varied != {"variant"} or len(groups) > _MOST_VALUES:
        return _ranged(name, data, metric)
    values = _shown([estimate(part[metric]).mean for _, part in groups], data.unit(metric))
    if len(set(values)) == 1:
        return _ranged(name, data, metric)
    told = [f"{who} {value}" for (who, _), value in zip(groups, values, strict=True)]
    return f"{name}: {', '.join(told)}{_lacking(data.runs, metric)}."


def _shown(means: Sequence[float], unit: str) -> list[str]:
    """Means in one unit, but for those that would be tiny in it."""
    common = automatic(unit, [mean for mean in means if math.isfinite(mean)])
    least = _LEAST * common.factor
    return [show(m, unit, common if m == 0 or abs(m) >= least else None, 3) for m in means]


def _lacking(runs: pd.DataFrame, metric: str) -> str:
    """How many runs have no value, and of which variants: "; no value in 1 of 3 runs (GFC)"."""
    without = runs[runs[metric].isna()]
    if not len(without):
        return ""
    names = [who for who, _ in _groups(without)]
    whose = f" ({_list(names)})" if len(_groups(runs)) > 1 else ""
    return f"; no value in {len(without)} of {len(runs)} run{'s' if len(runs) > 1 else ''}{whose}"


def key_metric(results: Sequence[Result], runs: pd.DataFrame) -> str | None:
    """The metric of the first judged expectation, preferably one that differs between runs.

    None without one.
    """
    judged = [r for r in results if r.verdict not in (NOT_COMPARABLE, NOT_MEASURED)]
    metrics = [result.expect.metric for result in judged]
    known = [name for name in metrics if name in runs and runs[name].notna().any()]
    return next(
        (name for name in known if len(set(runs[name].dropna())) > 1), next(iter(known), None)
    )


def _counted(name: str, runs: pd.DataFrame, metric: str) -> str:
    """In how many runs of each variant something occurs: "Deadlock: PFC in 10 of 10 runs; ..."."""
    known = runs[runs[metric].notna()]
    groups = _groups(known)
    counts = [(who, int((part[metric] > 0).sum()), len(part)) for who, part in groups]
    total, hits = len(known), sum(hit for _, hit, _ in counts)
    if len(counts) < 2 or not hits or hits == total:
        often = "no" if not hits else "each" if hits == total and total > 1 else f"{hits}"
        where = f"{often} of {total} runs" if total > 1 else "the run" if hits else "no run"
        return f"{name} in {where}."
    some = sorted((one for one in counts if one[1]), key=lambda one: -one[1] / one[2])
    none = [who for who, hit, _ in counts if not hit]
    told = [f"{who} in {hit} of {of}" for who, hit, of in some[:_MOST]]
    told[0] += " runs"
    if more := some[_MOST:]:
        least = min(more, key=lambda one: one[1] / one[2])
        told.append(f"{len(more)} more, {least[0]} least with {least[1]} of {least[2]}")
    return f"{name}: {', '.join(told)}{'; none under ' + _list(none) if none else ''}."


def _groups(runs: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The runs by variant."""
    if "variant" not in runs:
        return [("", runs)]
    return [(str(who), runs[runs["variant"] == who]) for who in values_of(runs, "variant")]


def _ranged(name: str, data: ReportData, metric: str) -> str:
    """Where a metric is lowest and where highest, as means over seeds of each setting."""
    runs = data.runs
    varied = [key for key in data.settings if len(set(runs[key].astype(str))) > 1]
    keys = [runs[key].astype(str) for key in varied]
    parts = [p for _, p in runs.groupby(keys, sort=False, dropna=False)] if keys else [runs]
    means = [(estimate(part[metric]).mean, dict(part.iloc[0])) for part in parts]
    known = [(mean, point) for mean, point in means if not math.isnan(mean)]
    texts = _shown([mean for mean, _ in known], data.unit(metric))
    told = [(text, point) for text, (_, point) in zip(texts, known, strict=True)]
    lacking = _lacking(runs, metric)
    order = sorted(range(len(known)), key=lambda place: known[place][0])
    low, high = told[order[0]][0], told[order[-1]][0]
    if low == high:
        of = f"all {len(told)}" if len(told) == len(parts) else f"{len(told)} of {len(parts)}"
        return f"{name}: {low}{f' in {of} settings' if len(parts) > 1 else ''}{lacking}."
    every = [point for _, point in told]
    ends = []
    for end in (low, high):
        where = _shared([point for text, point in told if text == end], every, varied)
        ends.append(f"{end} ({where})" if where else end)
    return f"{name}: from {ends[0]} to {ends[1]}{lacking}."


def _shared(
    points: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]], varied: Sequence[str]
) -> str:
    """What distinguishes some settings from the others: "PFC or CBFC, queue service = Fifo"."""
    parts = []
    for key in varied:
        mine, all_of = ({str(point[key]) for point in some} for some in (points, every))
        if mine == all_of:
            continue
        each = [point[key] for point in points]
        values = list(dict.fromkeys(_UNSET if absent(one) else value_text(one) for one in each))
        if len(values) > _MOST:
            values = [*values[: _MOST - 1], f"{len(values) - _MOST + 1} more"]
        said = " or ".join(value for value in values if value)
        short = short_key(key, varied).replace("_", " ")
        is_name = key in ("variant", "scenario")
        parts.append(said if is_name else f"{short} {'' if said == _UNSET else '= '}{said}")
    return ", ".join(parts)


def _list(names: Sequence[Any]) -> str:
    """Names in a row: "PFC, CBFC and SFC", or some of them and how many more."""
    shown = [str(name) for name in names]
    if len(shown) > _MOST + 1:
        shown = [*shown[:_MOST], f"{len(shown) - _MOST} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
