"""The registry of metrics, and what a metric sees of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import Field

from pyorch.base.errors import code_of, did_you_mean, is_of_others, nearest, one_of, quoted, refusal
from pyorch.base.lazy import Kinds, np
from pyorch.metrics.fields import Entry, EntryName, Need, is_traced, trace_hint

if TYPE_CHECKING:
    import numpy.typing as npt

    from pyorch.network.topology import Topology
    from pyorch.setting.canonical import Setting
    from pyorch.traffic.base import Flows

Columns = Mapping[str, Any]
"""A table: anything that gives an array for a column name (dict of arrays or DataFrame)."""


@dataclass(frozen=True)
class RunTables:
    """What metrics see of one run.

    setting, seed: what was simulated. nodes: node names in the order of their numbers. summary: the
    run's numbers. tables: name -> columns; a table that is absent was not traced.
    """

    setting: Setting
    seed: int
    nodes: Sequence[str]
    summary: Mapping[str, float]
    tables: Mapping[str, Columns] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """A number of the summary; None if the run does not have it or it does not apply."""
        return known_number(name, self.summary.get(name))

    def table(self, name: str) -> Columns:
        """The columns of a table. Raises UserError when the run did not trace it."""
        found = self.find_table(name)
        if found is None:
            what = "the run did not trace it"
            raise refusal(f"table {name!r}", what, hint=trace_hint(Need(name)))
        return found

    def find_table(self, name: str) -> Columns | None:
        """The columns of a table, or None when the run did not trace it."""
        return self.tables.get(name)

    @property
    def end_ps(self) -> int:
        """When the run ended [ps]: as its summary says, else its duration."""
        return int(self.summary.get("end_ps", self.setting.run.duration))

    @property
    def network(self) -> Topology:
        """The network of the run."""
        from pyorch.network.topology import build

        return build(self.setting.topology)

    @cached_property
    def flows(self) -> Flows:
        """The flows that the run was given, in the order of table `flow`."""
        from pyorch.traffic import base as traffic

        duration = self.setting.run.duration
        return traffic.flows(self.setting.traffic, self.network, self.seed, duration)

    def entry(self, label: str) -> tuple[int, npt.NDArray[np.int64], Columns] | None:
        """Number and flows of a [[traffic]] entry, and the table of flows; None without these."""
        table = self.find_table("flow")
        if table is None or label not in self.flows.labels:
            return None
        number = self.flows.labels.index(label)
        return number, self.flows.of_entry(number), table

    def is_traced(self, need: Need) -> bool:
        """Whether the run was asked to trace what is needed."""
        return is_traced(need, self.setting.traces)

    def resolve(self, port: str) -> tuple[int, int] | None:
        """Node and peer numbers of a port "s0:h0"; None when this run has no such nodes."""
        node, _, peer = port.partition(":")
        if "#" in peer or self.network.bundles:
            return self.network.port(node, peer)
        numbers = {name: number for number, name in enumerate(self.nodes)}
        if node not in numbers or peer not in numbers:
            return None
        return numbers[node], numbers[peer]

    def window(self, start_ps: int | None, stop_ps: int | None) -> tuple[int, int]:
        """A window [ps]; by default from the end of the warm-up to the end of the duration.

        A window includes the drain period after the duration only if it asks for it.
        """
        start = self.setting.run.warmup if start_ps is None else start_ps
        stop = self.setting.run.duration if stop_ps is None else stop_ps
        return start, min(stop, self.end_ps)


SHARE = (0.0, 1.0)
"""The limits of a share."""
NON_NEGATIVE = (0.0, math.inf)
"""Those of times, bytes, rates and counts."""
UNLIMITED = (-math.inf, math.inf)
"""Those of a difference."""
Better = Literal["lower", "higher", ""]
"""Which values are better; "" where that is up to the question, or differs between schemes."""


class Metric(Entry):
    """A [[metric]] entry: numbers computed from one run."""

    BETTER: ClassVar[Better] = ""
    UNIT: ClassVar[str] = ""
    LIMITS: ClassVar[tuple[float, float]] = NON_NEGATIVE
    name: EntryName = Field(description="Its column in runs.parquet.")
    kind: str

    def outputs(self) -> list[str]:
        """Names of the values this metric gives."""
        return [self.name]

    def unit(self) -> str:
        """Base unit of the values: one of BASE_UNITS."""
        if not self.UNIT:
            raise NotImplementedError
        return self.UNIT

    def yes_no(self) -> bool:
        """Whether every run answers it with 0 or 1."""
        return False

    def limits(self) -> tuple[float, float]:
        """The limits of its values: (0, 1) for a share; by default none is negative."""
        return self.LIMITS

    def better(self) -> Better:
        """Which of its values are the better ones, of two schemes under the same traffic."""
        return self.BETTER

    def needs(self) -> list[Need]:
        """Tables that must be traced."""
        return []

    def summary_numbers(self) -> list[str]:
        """Names of the numbers of a run's summary that it takes."""
        return []

    def value(self, run: RunTables) -> float | None:
        """The number; None when the run has no data for it."""
        raise NotImplementedError

    def values(self, run: RunTables) -> dict[str, float | None]:
        """All numbers by output name."""
        return {self.name: self.value(run)}


BASE_UNITS = ("B", "bit/s", "ps", "1")
"""Units of metrics: bytes, bits a second, picoseconds, and 1 for shares, ratios and counts."""
UNIT_HINT = 'def unit(self): return "1"'
_RUN_HINT = 'what `run` offers a metric: docs/kinds.md, "What a metric sees of a run"'

MODELS: Kinds[type[Metric]] = Kinds(
    {
        "pyorch.metrics.series_kinds": "time_mean max min last swing first_crossing rate_mean "
        "utilisation rate_spread",
        "pyorch.metrics.control_kinds": "control_share control_peak",
        "pyorch.metrics.derived_kinds": "ratio lead bytes_between stalled pause_latency pause_tail",
        "pyorch.metrics.detection_kinds": "false_alarms missed_deadlocks detection_time "
        "detection_lap",
        "pyorch.metrics.flow_kinds": "fct_slowdown fct goodput fairness collective_time summary",
        "pyorch.metrics.job_kinds": "job_time exposed_communication lost_time job_fairness",
        "pyorch.metrics.pause_kinds": "pause_time pause_count on_time off_time drops",
    }
)
"""Every kind of metric and the model of its entry."""

_M = TypeVar("_M", bound=Metric)


def metric(model: type[_M]) -> type[_M]:
    """Register a kind of metric: a Metric whose field `kind` is a Literal."""
    (kind,) = get_args(model.model_fields["kind"].annotation)
    MODELS[kind] = model
    return model


def parse(entry: Mapping[str, Any]) -> Metric:
    """The validated metric of an entry of a RunSpec. Raises UserError on an unknown kind."""
    kind = str(entry.get("kind"))
    if kind not in MODELS:
        raise refusal("[[metric]]", f"unknown kind '{kind}'", ", ".join(sorted(MODELS)))
    return MODELS[kind].model_validate(dict(entry))


def written(metric: Metric) -> dict[str, Any]:
    """Return a metric as a RunSpec has it, in the form of a file, which `parse` reads."""
    return metric.model_dump(mode="json", by_alias=True, exclude_none=True)


def compute(metrics: Iterable[Metric], run: RunTables) -> dict[str, float | None]:
    """Every metric of a run by output name.

    A value is None when the run has no data for it, and inf where unfinished flows affect it.
    """
    values: dict[str, float | None] = {}
    for one in metrics:
        with code_of(type(one), f"metric {one.name!r}", _RUN_HINT):
            found = one.values(run)
            if is_of_others(type(one)):
                found = {name: _plain(value) for name, value in found.items()}
        values.update(found)
    return values


def _plain(value: Any) -> float | None:
    """Return a number as Python's own type, for JSON. Raises TypeError if it is not a number."""
    plain = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    if plain is not None and not isinstance(plain, (int, float)):
        raise TypeError(f"a number or None is expected as a value, not {quoted(value)}")
    return plain


def missing_numbers(
    metrics: Iterable[Metric], summaries: Iterable[Mapping[str, object]]
) -> list[str]:
    """Say which numbers that metrics take are in no summary, and which have similar names.

    Only finished runs show which numbers there are: each scheme adds its own.
    """
    known = {name: None for summary in summaries for name in summary}
    if not known:
        return []
    return [
        f"metric {one.name!r} has no value: no finished run has a number {number!r}; "
        + (did_you_mean(nearest(number, known, 3)) or "summary.json of a run lists its numbers")
        for one in metrics
        for number in one.summary_numbers()
        if number not in known and number not in OF_SOME
    ]


def output_units(metrics: Iterable[Metric]) -> dict[str, str]:
    """Base unit of every output of the metrics. Raises UserError on an unknown one."""
    return {output: unit for model in metrics for output, unit in _units_of(model).items()}


def quoted_units() -> str:
    """Return the base units as they are written in code, for messages."""
    return one_of(f'"{one}"' for one in BASE_UNITS)


def _file_of(model: Metric) -> str:
    """Return the file of a metric as the start of a place in a message."""
    code = getattr(model.unit, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code else ""


def _units_of(model: Metric) -> dict[str, str]:
    what = f"metric {model.name!r}"
    with code_of(type(model), what):
        unit, outputs = model.unit(), model.outputs()
    if unit not in BASE_UNITS:
        where = f"{_file_of(model)}{what} ({type(model).__qualname__}): unit()"
        raise refusal(where, f"{quoted(unit)} is not a base unit", quoted_units())
    return dict.fromkeys(outputs, unit)


NOTHING_THERE = -1
"""What the simulator writes for a time that never came, or a node that does not exist."""
_OF_SOMETHING = ("_ps", "_node", "_peer")


def known_number(name: str, value: float | None) -> float | None:
    """A number of a summary; None if the simulator's number only means that there is none."""
    absent = value == NOTHING_THERE and name.endswith(_OF_SOMETHING)
    return None if absent else value


def known_numbers(summary: Mapping[str, float]) -> dict[str, float | None]:
    """The numbers of a summary, with None for those that do not apply."""
    return {name: known_number(name, value) for name, value in summary.items()}


OF_SOME = frozenset({"withheld_time_ps"})
"""Numbers that a metric may lack without a warning: only some flow controls give them."""

YES_NO_NUMBERS = frozenset(
    {"deadlocked", "deadlocked_at_end", "deadlock_trigger_is_host", "deadlock_trigger_on_cycle"}
    | {"blocked_by_host"}
)
"""Numbers of a summary that are 0 or 1."""
BETTER_NUMBERS: Mapping[str, Better] = {
    "deadlocked": "lower",
    "deadlocked_at_end": "lower",
    "flows_unfinished": "lower",
    "dropped_frames": "lower",
    "retransmitted_bytes": "lower",
    "peak_buffer_bytes": "lower",
    "control_frames_sent": "lower",
    "last_delivery_ps": "lower",
    "flows_finished": "higher",
    "delivered_bytes": "higher",
}
"""Numbers of a summary that mean the same under every scheme. Pauses do not: GFC and BFC slow
senders down without any, and queues are those of lossless classes alone."""


def unit_of_name(name: str) -> str:
    """Base unit given by the suffix of a column or summary number."""
    for suffix, unit in (("bytes", "B"), ("_bps", "bit/s"), ("_ps", "ps")):
        if name.endswith(suffix):
            return unit
    return "1"
