"""Cures for a deadlock, the same run with a change, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyorch.build import load_schema
from pyorch.engine.log import log_tail
from pyorch.files.find import Document
from pyorch.files.load import load_experiment
from pyorch.metrics import known_numbers
from pyorch.plan import RunSpec, expand
from pyorch.run.simulate import RefusedError
from pyorch.setting.dependency import flow_cycle

if TYPE_CHECKING:
    from pandas import DataFrame

    from pyorch.pipeline import Plan
    from pyorch.store.store import Store

GROUP = "pyorch.cures"
"""The group of the entry points of cures."""
ADDED, WAYS, SCHEMES = "added", "ways", "schemes"
GROUPS = {
    ADDED: "The same scheme with an addition",
    WAYS: "Other routes",
    SCHEMES: "Other schemes, tuned for this network (docs/bakeoff.md)",
}
"""Kinds of cures, and their headings."""
AS_IT_WAS = "as it was"
LOG_LINES = 1000
"""Of a log: a refused run has a line for each problem."""
Content = dict[str, Any]


@dataclass(frozen=True)
class Cure:
    """A run to compare with.

    group: one of GROUPS, "" for the run itself. about: what it is and costs, in words. content: the
    tables of its experiment; None if it is impossible, for a reason.
    """

    name: str
    group: str
    about: str
    content: Content | None = None
    reason: str = ""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run with a cure.

    run_hash: "" if there is none, for a reason. deadlocks: how often it deadlocked, None if
    unknown; formed: the first one [ps]; is_stuck: deadlocked at the end. dropped: frames, including
    those that the cure itself drops. repeated: retransmitted bytes. flows: number of finite ones;
    ended: how many of these finished. delivered: bytes. slowest: rate of the slowest flow while it
    lasted [bit/s]. withheld: time in which only a flow control's rate kept lines idle, summed over
    ports and classes [ps]. end: ps. buffer: the most that a switch held [B]. cannot: with it the
    flows have no cyclic buffer dependency within lossless classes, so that none can ever deadlock.
    """

    cure: Cure
    run_hash: str = ""
    reason: str = ""
    deadlocks: int | None = None
    formed: int = -1
    is_stuck: bool = False
    dropped: int = 0
    repeated: int = 0
    flows: int = 0
    ended: int = 0
    delivered: int = 0
    slowest: float = 0.0
    withheld: int = 0
    end: int = 0
    buffer: int = 0
    cannot: bool = False

    @property
    def crawls(self) -> bool:
        """Whether it did not deadlock, but flows had not finished at the end."""
        return self.deadlocks == 0 and self.ended < self.flows

    @property
    def is_lossy(self) -> bool:
        """Whether the cure has no lossless class."""
        buffer: Mapping[str, Any] = (self.cure.content or {}).get("buffer", {})
        return bool(buffer.get("lossless_classes") == 0)


def outcome_of(cure: Cure, store: Store, spec: RunSpec, run_hash: str) -> Outcome:
    """Read the outcome of a finished run with a cure."""
    numbers = known_numbers(store.read_summary(run_hash)["summary"])

    def number(name: str) -> int:
        return int(numbers.get(name) or 0)

    return Outcome(
        cure,
        run_hash,
        deadlocks=number("deadlock_episodes") if "deadlocked" in numbers else None,
        formed=number("deadlock_formed_ps") if number("deadlocked") else -1,
        is_stuck=bool(number("deadlocked_at_end")),
        dropped=number("dropped_frames"),
        repeated=number("retransmitted_bytes"),
        flows=number("flows_finite"),
        ended=number("flows_finite") - number("flows_unfinished"),
        delivered=number("delivered_bytes"),
        slowest=_slowest(store.read_table(run_hash, "flow"), number("end_ps")),
        withheld=number("withheld_time_ps"),
        end=number("end_ps"),
        buffer=number("peak_buffer_bytes"),
        cannot=not number("deadlocked") and _cannot(spec),
    )


def _cannot(spec: RunSpec) -> bool:
    """Whether the flows of a run have no cyclic buffer dependency within lossless classes."""
    found = flow_cycle(spec.setting, spec.seed)
    return not found.cycle or found.is_broken


def _slowest(flows: DataFrame, end: int) -> float:
    """The lowest goodput of any flow, each from its start to its end or that of the run."""
    begun = flows[flows["start_ps"] < end]
    until = begun["finish_ps"].where(begun["finish_ps"] >= 0, end)
    rates = 8e12 * begun["delivered_bytes"] / (until - begun["start_ps"])
    return float(rates.min()) if len(rates) else 0.0


# ---------------------------------------------------------------------------------------------
# Runs of changed tables


def spec_of(
    plan: Plan, store: Store, content: dict[str, Any], seeds: Sequence[int] | None = None
) -> RunSpec:
    """Return the run described by the tables of a file next to a study's.

    store: the one that is to keep it. Raises UserError if the tables are invalid.
    """
    file = plan.experiment.folder / "minimal.toml"
    document = Document(store.name, file, "trial", content)
    experiment = load_experiment(document, (), load_schema(plan.build), store.paths)
    return expand(experiment, seeds)[0]


def has_failed(store: Store, run_hash: str) -> bool:
    """Whether a run was refused, or its result was wrong, for permanent reasons."""
    kept = store.failure(run_hash)
    return RefusedError.headline in log_tail(kept.log, LOG_LINES) or kept.summary.is_file()


def tables_agree(found: RunSpec, wanted: RunSpec) -> list[str]:
    """Return the differences between a run and the run that its tables describe.

    Names and recorded tables are ignored.
    """
    own = ("params", "experiment", "traces", "packages", "metrics")
    one, other = (
        {key: value for key, value in spec.to_data().items() if key not in own}
        for spec in (found, wanted)
    )
    return [key for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
