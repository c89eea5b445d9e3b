"""[[metric]], [[figure]] and [[expect]], validated with the models of metrics and report.

The models are imported only here and only if a file has such entries: listing experiments does not
need them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel

from pyorch import metrics
from pyorch.base.errors import one_of, suggest
from pyorch.base.findings import Findings, Path
from pyorch.base.units import shortest
from pyorch.files.keys import ENTRIES, WHOLE
from pyorch.files.setting import Resolver, entries_of
from pyorch.network.topology import Topology
from pyorch.report import expect, figures
from pyorch.report.figures.custom import Custom
from pyorch.setting.attributes import Catalogue
from pyorch.setting.canonical import Trace
from pyorch.setting.experiment import Point, TraceTable, check_port
from pyorch.traffic.base import TrafficTable, label_of


@dataclass(frozen=True)
class Entries:
    """Valid entries, as models."""

    metrics: tuple[BaseModel, ...] = ()
    figures: tuple[BaseModel, ...] = ()
    expects: tuple[BaseModel, ...] = ()


@dataclass(frozen=True)
class Models:
    """The models of the three kinds of entries."""

    metrics: Mapping[str, type[BaseModel]]
    figures: Mapping[str, type[BaseModel]]
    expect: type[BaseModel]
    check: Any  # pyorch.report.consistency.check_entries


def report_models() -> Models:
    """Return the models of this project."""
    from pyorch.report.consistency import check_entries

    return Models(metrics.MODELS, figures.MODELS, expect.ExpectModel, check_entries)


def resolve_entries(
    document: Mapping[str, Any],
    points: Sequence[Point],
    varied: Mapping[str, Sequence[Any]],
    findings: Findings,
    file: FilePath,
    resolver: Resolver,
) -> Entries:
    """Validate the entries of a file against each other and against the networks it draws.

    varied: what figures and expectations may filter by, and its values. file: that of the
    experiment; figures may look for files next to it. resolver: that of all settings, including
    those that are not points because of problems.
    """
    lists = {key: entries_of(document, key, findings) for key in ENTRIES if key in WHOLE}
    if not any(lists.values()):
        return Entries()
    models, networks = report_models(), resolver.networks
    numbered = {key: list(enumerate(lists[key])) for key in lists}
    metrics, figures = (
        [findings.validate_kind(key, of_kind, e, (key, str(n))) for n, e in numbered[key]]
        for key, of_kind in (("metric", models.metrics), ("figure", models.figures))
    )
    expects = [
        findings.validate(models.expect, e, ("expect", str(n))) for n, e in numbered["expect"]
    ]
    _check_functions(figures, file, findings)
    known = None not in metrics  # otherwise it is unknown which metrics there are
    for key, found in (("metric", metrics), ("figure", figures), ("expect", expects)):
        for number, (entry, model) in enumerate(zip(lists[key], found, strict=True)):
            checked = known and model is not None
            if key in ("metric", "figure") and isinstance(entry, dict):
                _check_traffic(entry, (key, str(number)), points, findings)
            if key == "metric" and isinstance(entry, dict):
                _check_until(entry, (key, str(number)), points, findings)
            _check_names(entry, (key, str(number)), networks, varied, findings, checked)
    good = [[model for model in found if model] for found in (metrics, figures, expects)]
    if known:
        for traces in _traces(document, points, resolver.types):
            findings.merge(models.check(findings.file, *good, traces, tuple(varied)))
    return Entries(*map(tuple, good))


def _check_functions(
    figures: Sequence[BaseModel | None], file: FilePath, findings: Findings
) -> None:
    """Functions that draw figures must be in the files where they are looked for."""
    for number, figure in enumerate(figures):
        lacking = figure.lacking(file) if isinstance(figure, Custom) else None
        if lacking:
            findings.add(("figure", str(number), "function"), lacking)


def _check_names(
    entry: object,
    path: Path,
    networks: Sequence[Topology],
    varied: Mapping[str, Sequence[Any]],
    findings: Findings,
    complete: bool,
) -> None:
    """Check ports and filters anywhere in an entry.

    complete: the keys of its own filter are checked with the other names it uses.
    """
    if isinstance(entry, list):
        for number, part in enumerate(entry):
            _check_names(part, (*path, str(number)), networks, varied, findings, complete)
    if not isinstance(entry, dict):
        return
    for key, value in entry.items():
        at = (*path, key)
        check = _OF_NETWORKS.get(key)
        if check is not None:
            for name in value if isinstance(value, list) else [value]:
                check(name, at, networks, findings)
        elif key == "where" and isinstance(value, dict):
            _check_filter(value, at, varied, findings, complete and len(path) == 2)
        elif key != "options":
            _check_names(value, at, networks, varied, findings, complete)


def _check_port(port: object, path: Path, networks: Sequence[Topology], findings: Findings) -> None:
    """A port must exist in at least one of the networks: a sweep may change the network."""
    if not isinstance(port, str) or not networks:
        return
    if not any(check_port(port, network, Findings(""), ()) for network in networks):
        check_port(port, networks[0], findings, path)


def _check_host(host: object, path: Path, networks: Sequence[Topology], findings: Findings) -> None:
    """A host must exist in at least one of the networks."""
    if isinstance(host, str) and networks and not any(n.is_host(host) for n in networks):
        hint = suggest(host, networks[0].host_names)
        findings.add(path, f"there is no host {host!r}", None, hint)


_OF_NETWORKS = {
    **dict.fromkeys(("port", "ports"), _check_port),
    **dict.fromkeys(("src", "dst", "host"), _check_host),
}
"""Keys, anywhere in an entry, that name a part of a network."""


def _entries_of(label: object, points: Sequence[Point]) -> list[TrafficTable]:
    """Return the [[traffic]] entries with a label, from all settings."""
    return [
        entry
        for point in points
        for number, entry in enumerate(point.setting.traffic)
        if label_of(entry, number) == label
    ]


def _check_traffic(
    chosen: Mapping[str, Any], path: Path, points: Sequence[Point], findings: Findings
) -> None:
    """Labels and collectives must occur in the [[traffic]] of at least one setting."""
    written = chosen.get("traffic", [])
    for label in written if isinstance(written, list) else [written]:
        if isinstance(label, str) and points and not _entries_of(label, points):
            traffic = [one for point in points for one in enumerate(point.setting.traffic)]
            known = dict.fromkeys(label_of(entry, number) for number, entry in traffic)
            findings.unknown((*path, "traffic"), "[[traffic]] entry", label, known)
    name, entries = chosen.get("collective"), _entries_of(written, points)
    known = dict.fromkeys(name for entry in entries for name in entry.part_names())
    if entries and isinstance(name, str) and name not in known:
        findings.unknown((*path, "collective"), "collective", name, known)


def _check_until(
    metric: Mapping[str, Any], path: Path, points: Sequence[Point], findings: Findings
) -> None:
    """A run that ends with the last bit received never sees the ACK of that bit."""
    early = any(point.setting.run.stop_when_done is True for point in points)
    if metric.get("until") == "acked" and early:
        what = "runs end when the last message is received, before its ACK is back"
        findings.add((*path, "until"), what, None, 'set run.stop_when_done = "acked"')


def _check_filter(
    where: Mapping[str, Any],
    path: Path,
    varied: Mapping[str, Sequence[Any]],
    findings: Findings,
    only_values: bool,
) -> None:
    """A filter names something that varies, and a value it takes."""
    for key, value in where.items():
        if key not in varied and only_values:
            continue
        if key not in varied:
            allowed = one_of(varied) or "nothing: this experiment varies only the seed"
            what = f"{key!r} does not vary in this experiment"
            findings.add((*path, key), what, allowed, suggest(key, varied))
            continue
        values = [str(entry) for entry in varied[key]]
        known = {text.lower() for entry in values for text in (entry, _spelling(entry))}
        for one in value if isinstance(value, list) else [value]:
            wanted = _spelling(one)
            if wanted.lower() not in known:
                what = f"no run has {key} = {one!r}"
                findings.add((*path, key), what, one_of(values), suggest(wanted, values))


def _spelling(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return shortest(value) if isinstance(value, str) else str(value)


def _traces(
    document: Mapping[str, Any], points: Sequence[Point], types: Catalogue | None
) -> list[list[Trace]]:
    """Return the different lists of traces that the settings have.

    If no setting is valid, they follow from the file: the traces in it, or one of everything if a
    variant may add others, which are unknown without the types.
    """
    if points:
        lists = [list(point.setting.traces) for point in points]
        return [found for number, found in enumerate(lists) if found not in lists[:number]]
    written = document.get("trace", [])
    entries = written if isinstance(written, list) else [written]
    unread = Findings("")
    traces = [unread.validate(TraceTable, entry, ()) for entry in entries]
    varies = any("trace" in str(document.get(key)) for key in ("variants", "sweep"))
    if None not in traces and not varies:
        return [[trace.recorded() for trace in traces if trace]]
    return [[Trace(table=table) for table in types.tables]] if types else []
