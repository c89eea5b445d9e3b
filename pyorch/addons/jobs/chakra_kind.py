"""Traffic of kind `chakra`: execution traces, one file per rank of a job, as a GOAL schedule."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Literal

from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs.chakra import Node, read
from pyorch.addons.jobs.chakra_schedule import MOST_COPIED, Reading
from pyorch.addons.jobs.scheduled import ScheduledTable, note
from pyorch.base.errors import Problem, UserError
from pyorch.base.reading import is_file, read_bytes, read_json
from pyorch.traffic.base import Check, TrafficTable, traffic

MOST_COPIES = 4096
"""Ranks that one trace may stand for."""
_NAME = re.compile(r"\.(0|[1-9][0-9]{0,8})\.et$")


@traffic("chakra")
class Chakra(ScheduledTable):
    """Chakra execution traces: FILE.0.et is that of rank 0, FILE.1.et that of rank 1, ..."""

    source = "Sridharan et al.: Chakra, arXiv 2305.14516"
    file_key = "file"

    file: str = Field(description="FILE: that of rank 0 is FILE.0.et.")
    groups: str | None = Field(
        default=None,
        description="A JSON file with the ranks of each process group that traces name.",
    )
    ignore: list[str] = Field(default=[], description="Attributes of nodes to ignore.")
    ignore_missing: bool = Field(
        default=False, description="Ignore dependencies on nodes that are not in the file."
    )
    dependencies: Literal["all", "data"] = Field(
        default="all",
        description="What nodes wait for; 'data': not for ctrl_deps, which in traces of "
        "PyTorch say who called whom.",
    )
    chain_streams: bool = Field(
        default=False,
        description="What runs on a stream of a device waits for what ran on it before.",
    )
    flops: float | None = Field(
        default=None,
        gt=0,
        description="Floating-point operations that a rank does per second: computations of "
        "`num_ops` take as long; none: their duration.",
    )
    memory_rate: float | None = Field(
        default=None,
        gt=0,
        description="With `flops`, bytes that its memory gives per second: no computation is "
        "shorter than its `tensor_size` takes.",
    )
    copies: int = Field(
        default=1,
        ge=1,
        le=MOST_COPIES,
        description="Ranks that all do what FILE.0.et says, the only file.",
    )

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        traces = self._copied(check, read_traces(check, self.file, self.dependencies == "all"))
        groups = None if self.groups is None else read_groups(check, self.groups, len(traces))
        if self.memory_rate and not self.flops:
            check.add("memory_rate", "'memory_rate' without 'flops'", None, "give 'flops', too")
        if not self.check_algorithms(check) or check.findings.problems or not traces:
            return None
        reading = Reading(
            groups,
            self.algorithms or {},
            frozenset(self.ignore),
            self.ignore_missing,
            self.dependencies == "all",
            self.chain_streams,
            self.flops,
            self.memory_rate,
        )
        return self.as_goal(check, traces, reading)

    @override
    def check_files(self, check: Check) -> None:
        read_traces(check, self.file)

    def _copied(
        self, check: Check, traces: list[tuple[str, list[Node]]]
    ) -> list[tuple[str, list[Node]]]:
        """Return the traces of all ranks; note why there can be none, and return none."""
        if self.copies == 1 or not traces:
            return traces
        nodes = len(traces[0][1]) * self.copies
        if len(traces) > 1:
            what = f"there are {len(traces)} traces: {self.file}.0.et and others"
            check.add("copies", what, f"1, or {self.file}.0.et alone")
            return []
        if nodes > MOST_COPIED:
            check.add("copies", f"{nodes:,} nodes in all", f"at most {MOST_COPIED:,}")
            return []
        return traces * self.copies


def read_traces(check: Check, name: str, control: bool = True) -> list[tuple[str, list[Node]]]:
    """Return the name and the nodes of every rank's file; note problems, and return none.

    control: whether nodes wait for their ctrl_deps.
    """
    first = check.scene.folder / f"{name}.0.et"
    if not is_file(first):
        what = f"there is no file '{name}.0.et' next to the experiment file"
        check.add("file", what, "the part of the files' names before '.0.et', '.1.et', ...")
        return []
    beside = first.parent.glob(f"{glob.escape(Path(name).name)}.*.et")
    numbers = sorted(int(found[1]) for one in beside if (found := _NAME.search(one.name)))
    missing = next((rank for rank, there in enumerate(numbers) if there != rank), None)
    if missing is not None:
        what = f"'{name}.{missing}.et' is missing, but '{name}.{numbers[-1]}.et' exists"
        check.add("file", what, "a file for each rank")
        return []
    traces = []
    problems: list[Problem] = []
    for rank in numbers:
        label = f"{name}.{rank}.et"
        try:
            nodes, wrong = read(read_bytes(check.scene.folder / label, label), label, control)
        except UserError as error:
            note(check, list(error.problems), name)
            return []
        problems += wrong
        traces.append((label, nodes))
    note(check, problems, name)
    return [] if problems else traces


def read_groups(check: Check, name: str, ranks: int) -> dict[str, list[int]] | None:
    """Return the ranks of each process group, from a JSON file; note problems.

    ranks: how many there are; 0 if that is not known.
    """
    path = check.file("groups", name)
    if path is None:
        return None
    try:
        found = read_json(path, name)
    except UserError as error:
        check.findings.merge(error.problems)
        return None
    allowed = '{"GROUP": [RANK, RANK, ...], ...}'
    if not isinstance(found, dict):
        check.findings.merge([Problem(name, "not a table of groups", allowed)])
        return None
    for group, members in found.items():
        whole = isinstance(members, list) and all(type(one) is int for one in members)
        if not whole or not members or len(set(members)) < len(members):
            problem = Problem(f"{name}, {group}", "not a list of different ranks", allowed)
            check.findings.merge([problem])
        elif ranks and not 0 <= min(members) <= max(members) < ranks:
            what = f"rank {max(members) if min(members) >= 0 else min(members)} of {ranks}"
            check.findings.merge([Problem(f"{name}, {group}", what, f"0 to {ranks - 1}")])
    return found
