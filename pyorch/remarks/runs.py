"""Remarks on finished runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import UserError
from pyorch.remarks.base import Remark, numbers_of, runs_text, which

if TYPE_CHECKING:
    from pyorch.plan import RunSpec
    from pyorch.store.store import Damage, Store

MOST_WARNINGS = 6
MOST_DAMAGED = 10
_STUCK = ("deadlocked", "blocked_by_host")

Summary = Mapping[str, Any]
"""The content of a run's summary.json."""
Done = Sequence[tuple["RunSpec", Summary]]


def of_runs(
    specs: Sequence[RunSpec],
    store: Store,
    fingerprint: str,
    own: Iterable[str] = (),
    explain: Callable[[RunSpec], str] | None = None,
    numbered: bool = True,
) -> list[Remark]:
    """Remarks on the finished runs among the specs, the most important first.

    own: modules of a person's own, whose numbers show whether their schemes did anything. explain:
    the command that explains a run. numbered: whether a person knows the runs by these numbers.
    """
    done: list[tuple[RunSpec, Summary]] = []
    for spec in specs:
        try:
            done.append((spec, store.read_summary(spec.hash(fingerprint))))
        except (OSError, ValueError, UserError):  # not done, or damaged: reported elsewhere
            continue
    unfinished = [*_still(done), *_unfinished(done, store, fingerprint)]
    deadlocks = [*_deadlocks(done, specs if numbered else ()), *_waiting(done)]
    if deadlocks and explain:
        stuck = [spec for spec, found in done if any(_number(found, name) for name in _STUCK)]
        others = ", or another of these runs" if len(stuck) > 1 else ""
        deadlocks.append(Remark("why", f"`{explain(stuck[0])}`{others}"))
    first = [*deadlocks, *_losses(done), *unfinished, *_missing(done)]
    return [*first, *_own(done, own), *_equal(done), *_unmeasured(done), *_warned(done)]


def of_damage(found: Sequence[Damage], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield lines on runs that were damaged and set aside. titles: the runs' titles by hash."""
    for damage in found[:MOST_DAMAGED]:
        name = " ".join(filter(None, [damage.run_hash, titles.get(damage.run_hash)]))
        yield f"damaged run {name}: {damage.file}: {damage.what}"
        if damage.kept is not None:
            yield f"    its remains are kept in {damage.kept}"
    if len(found) > MOST_DAMAGED:
        yield f"... and {len(found) - MOST_DAMAGED} more"
    if found:
        what = "does not count as done" if len(found) == 1 else "do not count as done"
        yield f"{runs_text(len(found))} damaged: {what}, and must run again"


def _specs(done: Done) -> list[RunSpec]:
    return [spec for spec, _ in done]


def _number(summary: Summary, name: str) -> float:
    return float(summary.get("summary", {}).get(name) or 0)


def _deadlocks(done: Done, specs: Sequence[RunSpec]) -> Iterator[Remark]:
    lasting = [spec for spec, summary in done if _number(summary, "deadlocked_at_end")]
    if lasting:
        where = f"in {which(lasting, _specs(done))}"
        named = f", runs {numbers_of(lasting, specs)}" if 1 < len(lasting) < len(specs) else ""
        yield _first("deadlock", where + named, lasting, done)
    passing = [
        spec
        for spec, summary in done
        if _number(summary, "deadlocked") and not _number(summary, "deadlocked_at_end")
    ]
    if passing:
        yield _first("deadlock", f"temporary, in {which(passing, _specs(done))}", passing, done)
    unjudged = [spec for spec, summary in done if _number(summary, "deadlock_not_judged_ports")]
    if unjudged:
        yield Remark(
            "deadlock",
            "not judged: a flow control that may hold queues back is not a DeadlockModel, "
            f"in {which(unjudged, _specs(done))}",
        )


def _waiting(done: Done) -> Iterator[Remark]:
    """Runs in which queues wait for a host that pauses forever."""
    some = [spec for spec, summary in done if _number(summary, "blocked_by_host")]
    if some:
        yield _first("waiting", f"in {which(some, _specs(done))}", some, done)


def _first(label: str, where: str, some: Sequence[RunSpec], done: Done) -> Remark:
    """A remark on some runs that says of the first of them what happened."""
    from pyorch.report.standstill import deadlock, plain, stall  # pydantic

    summary = next(summary for spec, summary in done if spec is some[0])
    tell = deadlock if label == "deadlock" else stall
    text = plain(tell(summary.get("summary", {}), summary.get("notes", ())))
    link = ": " if len(some) == 1 else "; in the first of these "
    return Remark(label, f"{where}{link}{text}" if text else where)


def _still(done: Done) -> Iterator[Remark]:
    """Runs that make no progress, though neither a deadlock nor a host explains it."""
    from pyorch.report.standstill import is_still  # pydantic

    found = [
        spec
        for spec, summary in done
        if is_still(summary.get("summary", {})) and not _number(summary, "blocked_by_host")
    ]
    if found:
        yield _first(
            "halted", f"no progress, but no deadlock, in {which(found, _specs(done))}", found, done
        )


def _losses(done: Done) -> Iterator[Remark]:
    name = "dropped_lossless_frames"
    lost = [spec for spec, summary in done if _number(summary, name)]
    if lost:
        frames = int(sum(_number(summary, name) for _, summary in done))
        yield Remark(
            "loss", f"{frames:,} frames of lossless classes, in {which(lost, _specs(done))}"
        )


def _unfinished(done: Done, store: Store, fingerprint: str) -> Iterator[Remark]:
    open_ = [spec for spec, summary in done if _number(summary, "flows_unfinished")]
    if open_:
        flows = int(sum(_number(summary, "flows_unfinished") for _, summary in done))
        total = int(sum(_number(summary, "flows_total") for _, summary in done))
        text = f"{flows:,} of {total:,} flows did not finish, in {which(open_, _specs(done))}"
        yield Remark("unfinished", text + _stalled(done, store, fingerprint))


def _stalled(done: Done, store: Store, fingerprint: str) -> str:
    """The messages that wait, and for which, in the first run in which some do not finish."""
    for spec, summary in done:
        if not _number(summary, "flows_unfinished") or not spec.setting.run.stop_when_done:
            continue
        from pyorch.network import topology
        from pyorch.remarks.stall import explain, named
        from pyorch.traffic import base as traffic

        try:
            table = store.read_table(spec.hash(fingerprint), "flow")
        except (OSError, UserError):
            continue
        setting = spec.setting
        network = topology.build(setting.topology)
        flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
        columns = {name: table[name].to_numpy() for name in table.columns}
        numbers, part_of = summary["summary"], named(flows, setting.traffic)
        text = explain(summary["nodes"], columns, flows.waits, numbers, part_of)
        if text:
            more = sum(_number(other, "flows_unfinished") > 0 for _, other in done) > 1
            return f"; in {spec.title}: {text}" if more else f": {text}"
    return ""


def _missing(done: Done) -> Iterator[Remark]:
    """Metrics of numbers that no run has, most likely misspelt."""
    from pyorch.metrics import missing_numbers  # pydantic

    metrics = {metric.name: metric for spec, _ in done for metric in spec.metrics}
    numbers = [summary.get("summary", {}) for _, summary in done]
    for text in missing_numbers(metrics.values(), numbers):
        yield Remark("warning", text)


def _equal(done: Done) -> Iterator[Remark]:
    """Settings for which all seeds gave the same numbers: more seeds only cost time."""
    numbers: dict[str, list[str]] = defaultdict(list)
    for spec, summary in done:
        key = json.dumps(dict(spec.params), sort_keys=True, default=str)
        numbers[key].append(json.dumps(summary.get("summary", {}), sort_keys=True))
    several = [found for found in numbers.values() if len(found) > 1]
    equal = sum(len(set(found)) == 1 for found in several)
    if equal:
        where = "" if equal == len(several) else f" in {equal} of {len(several)} settings"
        yield Remark("seeds", f"every seed gave the same results{where}: one seed is enough")


def _own(done: Done, modules: Iterable[str]) -> Iterator[Remark]:
    """What the schemes of these modules report, in which 0 everywhere means that they idled."""
    for module in modules:
        begin = f"{module.replace('-', '_')}_"
        found: dict[str, list[float]] = defaultdict(list)
        for _, summary in done:
            for name, value in summary.get("summary", {}).items():
                if name.startswith(begin):
                    found[name.removeprefix(begin)].append(value)
        ends = {name: dict.fromkeys((min(all_), max(all_))) for name, all_ in found.items()}
        texts = [f"{name} {' to '.join(f'{n:,.10g}' for n in two)}" for name, two in ends.items()]
        if texts:
            yield Remark(module, ", ".join(texts))


def _unmeasured(done: Done) -> Iterator[Remark]:
    """Frames that passed more switches than they have room for the telemetry of."""
    name = "telemetry_missed_frames"
    some = [spec for spec, summary in done if _number(summary, name)]
    if some:
        frames = int(sum(_number(summary, name) for _, summary in done))
        what = f"{frames:,} data frames passed more switches than queue_pair.telemetry_hops"
        text = f"{what}, in {which(some, _specs(done))}: the last ones were not measured; raise it"
        yield Remark("warning", text)


def _warned(done: Done) -> Iterator[Remark]:
    by_text: dict[str, list[RunSpec]] = defaultdict(list)
    for spec, summary in done:
        for text in dict.fromkeys(summary.get("warnings", ())):
            by_text[text].append(spec)
    for text, specs in list(by_text.items())[:MOST_WARNINGS]:
        yield Remark("warning", f"in {which(specs, _specs(done))}: {text}")
    if len(by_text) > MOST_WARNINGS:
        yield Remark("warning", f"... and {len(by_text) - MOST_WARNINGS} more, in the report")
