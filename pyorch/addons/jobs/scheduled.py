"""What kinds of traffic share that become a GOAL schedule: transformer, chakra, workload."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from pyorch.addons.jobs import collectives
from pyorch.addons.jobs.chakra import Node
from pyorch.addons.jobs.chakra_schedule import OPERATIONS, Reading, schedule
from pyorch.addons.jobs.goal import SHOWN_MISTAKES
from pyorch.addons.jobs.goal_kind import MOST_COMPUTED, Goal
from pyorch.addons.jobs.ranks import RankedTable
from pyorch.base.errors import Problem
from pyorch.traffic.base import Check, TrafficTable


class ScheduledTable(RankedTable):
    """The keys of a job whose ranks do what traces say."""

    algorithms: dict[str, str] | None = Field(
        default=None,
        description="Algorithms by operation, unless the first of each; 'tuned' and "
        "'hierarchical' are of kind `collective` alone.",
    )

    def check_algorithms(self, check: Check) -> bool:
        """Whether there are the requested algorithms; else note those that do not exist."""
        before = len(check.findings.problems)
        for operation, name in (self.algorithms or {}).items():
            place = (*check.path, "algorithms", operation)
            if operation not in OPERATIONS.values():
                check.findings.unknown(place, "operation", operation, OPERATIONS.values())
                continue
            known = [one for one in collectives.names_of(operation) if one != "hierarchical"]
            if name not in known:
                check.findings.unknown(place, f"algorithm of {operation}", name, known)
        return len(check.findings.problems) == before

    def as_goal(
        self, check: Check, traces: Sequence[tuple[str, Sequence[Node]]], reading: Reading
    ) -> TrafficTable | None:
        """Return traces of all ranks as a resolved schedule; note problems, and return None."""
        text, named, problems = schedule(traces, reading)
        if problems:
            self.tell(check, problems)
            return None
        known = {name: getattr(self, name) for name in RankedTable.model_fields}
        known["kind"] = Goal.registered
        entry = Goal.model_construct(**known, schedule=text, collectives=named or None)
        return entry.resolve(check)

    def tell(self, check: Check, problems: Sequence[Problem]) -> None:
        """Note problems of the traces."""
        note(check, problems, str(getattr(self, self.file_key)))


def note(check: Check, problems: Sequence[Problem], name: str) -> None:
    """Note problems of traces, the first ones of many. name: of their file."""
    distinct = list(dict.fromkeys(problems))  # ranks share those of what they do together
    check.findings.merge(distinct[:SHOWN_MISTAKES])
    if len(distinct) > SHOWN_MISTAKES:
        check.findings.merge([Problem(name, f"{len(distinct) - SHOWN_MISTAKES} more mistakes")])


def computed_too_long(nodes: Sequence[Node]) -> str | None:
    """Return how long a rank computes, if that must be a mistake."""
    seconds = sum(node.duration for node in nodes) / 1e6
    return f"a rank computes for {seconds:.3g} s" if seconds * 1e9 > MOST_COMPUTED else None
