"""The scenes of the bake-off, and a summary of their finished runs: `invoke bakeoff`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import Problem, UserError, one_of
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.pipeline import make_plan
from tools.bakeoff.advice import load_advice
from tools.bakeoff.claims import all_tried, load_claims
from tools.bakeoff.compare import (
    BUFFER_SIZE,
    DRAWN,
    REFERENCE,
    SETTING,
    Compared,
    Row,
    Rows,
    compare,
    cost,
)
from tools.bakeoff.decide import load_facts
from tools.bakeoff.page import Summary, write
from tools.bakeoff.parts import load_part
from tools.bakeoff.sensitivity import all_turned, load_asked

if TYPE_CHECKING:
    from pandas import DataFrame

    from pyorch.plan import RunSpec

GROUP = "bakeoff"
COMMON = "parts/common.toml"
BASE = "bakeoff/hadoop"
"""The study whose costs and buffers the tables have."""
TWO = 2
"""Number of seeds compared to find out what a seed draws."""


def _home(paths: Paths) -> Path:
    return paths.studies / GROUP


def studies(paths: Paths) -> list[str]:
    """Return the names of the scenes."""
    return [f"{GROUP}/{file.stem}" for file in sorted(_home(paths).glob("*.toml"))]


def load_rows(paths: Paths) -> list[Row]:
    """Read what the summary compares. Raises UserError if the study of a row is not a scene."""
    findings = Findings(f"experiments/{GROUP}/parts/summary.toml")
    table = load_part(Rows, findings.file, paths)
    known = studies(paths)
    for number, row in enumerate(table.row):
        if row.study not in known:
            findings.unknown(("row", str(number), "study"), "study", row.study, known)
    if findings.problems:
        raise UserError(findings.problems)
    return table.row


def write_summary(rows: list[Row], paths: Paths) -> Path:
    """Compare the finished runs of all scenes and write the page. Raises UserError without any."""
    tables: dict[str, DataFrame] = {}
    taking: dict[str, set[str]] = {}
    planned, fingerprint = 0, ""
    for study in studies(paths):
        plan = make_plan(study, paths=paths)
        planned += len(plan.specs)
        taking[study] = {str(spec.params["variant"]) for spec in plan.specs}
        fingerprint = plan.build.fingerprint
        table = plan.store.collect(plan.specs, fingerprint)
        sizes = {spec.hash(fingerprint): _buffer_of(spec) for spec in plan.specs}
        settings = {spec.hash(fingerprint): _setting_of(spec) for spec in plan.specs}
        own = table["hash"].map(settings)
        columns: dict[str, Any] = {
            BUFFER_SIZE: table["hash"].map(sizes),
            SETTING: own,
            DRAWN: own.isin(_drawn(plan.specs) if _cyclic(table) else ()),
        }
        tables[study] = table.assign(**columns)
    runs = sum(len(table) for table in tables.values())
    if not runs:
        what = "none of its runs has finished with this build"
        raise UserError([Problem(GROUP, what, None, "run it first: invoke bakeoff")])
    about = schemes_of(paths)
    for study, part in taking.items():
        about |= dict.fromkeys(sorted(part - about.keys()), f"as {study} says")
    schemes = {study: [name for name in about if name in part] for study, part in taking.items()}
    compared = compare_all(rows, tables, schemes)
    seen = [name for name in about if _with(name, tables.values())]
    cyclic = [table for table in tables.values() if _cyclic(table)]
    base = tables[BASE]
    summary = Summary(
        compared,
        tuple(cost(name, _with(name, cyclic) or list(tables.values())) for name in seen),
        about,
        fingerprint[:16],
        runs,
        planned,
        tuple(all_turned(load_asked(paths), paths)),
        tuple(all_tried(load_claims(paths), tables)),
        tuple(load_advice(paths)),
        tuple(load_facts(paths)),
        tuple(cost(name, [base]) for name in seen if _with(name, [base])),
    )
    return write(summary, paths.results / GROUP / "summary")


def _with(name: str, tables: Iterable[DataFrame]) -> list[DataFrame]:
    """Return the tables in which a scheme has runs."""
    return [table for table in tables if (table["variant"] == name).any()]


def _setting_of(spec: RunSpec) -> str:
    """Return the swept values of a run except its scheme, as text that identifies the setting."""
    return str(sorted((key, str(val)) for key, val in spec.params.items() if key != "variant"))


def _cyclic(table: DataFrame) -> bool:
    """Whether any run has a cyclic dependency: only those are asked what a seed draws."""
    return "flow_cycle_egresses" in table and bool((table["flow_cycle_egresses"] > 0).any())


def _drawn(specs: Sequence[RunSpec]) -> set[str]:
    """Return the settings in which a seed draws more than the start times of flows.

    It may draw failed links, hosts and sizes of flows, or which of equally short paths they take.
    """
    from pyorch.network import topology
    from pyorch.network.cycles import ShortestPaths
    from pyorch.traffic import base as traffic

    first: dict[str, list[RunSpec]] = {}
    for spec in specs:
        one = first.setdefault(_setting_of(spec), [])
        if len(one) < TWO and spec.seed not in [other.seed for other in one]:
            one.append(spec)

    def parts(spec: RunSpec) -> tuple[str | bytes, ...]:
        setting = spec.setting
        network = topology.build(setting.topology)
        found = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
        arrays = (found.src, found.dst, found.sizes)
        return repr(setting.topology), *(array.tobytes() for array in arrays)

    return {
        setting
        for setting, pair in first.items()
        if len({parts(spec) for spec in pair}) > 1
        or ShortestPaths.of(topology.build(pair[0].setting.topology)).has_choice()
    }


def _buffer_of(spec: RunSpec) -> int:
    """Return the buffer of every node of a run [B]."""
    return int(spec.setting.attributes["ns3::lossless::SharedBuffer"]["Size"])


def compare_all(
    rows: list[Row], tables: Mapping[str, DataFrame], schemes: Mapping[str, list[str]]
) -> tuple[Compared, ...]:
    """Compare all rows, each with the schemes of its study.

    Raises UserError if a study does not have the metric of a row.
    """
    for number, row in enumerate(rows):
        table = tables[row.study]
        if len(table) and row.metric not in table.columns:
            where = f"parts/summary.toml: row[{number}].metric"
            allowed = one_of(str(name) for name in table.columns)
            what = f"{row.study} has no metric {row.metric!r}"
            raise UserError([Problem(where, what, allowed)])
    return tuple(compare(row, tables[row.study], schemes[row.study]) for row in rows)


def schemes_of(paths: Paths) -> dict[str, str]:
    """Return the description of each scheme by name: the reference first, then in file order.

    Schemes that modules add to comparisons come last.
    """
    from pyorch.base.reading import read_toml
    from pyorch.files.variants import read_variants

    findings = Findings(f"experiments/{GROUP}/{COMMON}")
    common = read_toml(_home(paths) / COMMON, findings.file)
    found = read_variants(common.get("variants", {}), _home(paths), paths, findings)
    if findings.problems:
        raise UserError(findings.problems)
    order = sorted(found, key=lambda name: name != REFERENCE)  # the reference comes first
    return {
        name: one.scheme.about if one.scheme else f"as {one.file} says"
        for name, one in ((name, found[name]) for name in order)
    }
