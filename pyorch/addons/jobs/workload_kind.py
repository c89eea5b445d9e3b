"""Traffic of kind `workload`: an iteration from a workload file of SimAI or AICB.

Line 1: the policy and pairs `key: value`; line 2: the number of rows; a row: name, dependency
(unused), then three times a time [ns], a collective and its bytes, for forward, input gradient and
weight gradient, and the time of the update [ns] (aliyun/SimAI cef83f9d, Workload.cc;
aliyun/aicb 23eec3c). Ranks of a tensor group are consecutive.

An iteration: forward row by row, each collective waited for; backward from the last row to the
first, the input gradient, whose collective is waited for, then the weight gradient, whose
collective nothing waits for until the end. A collective ends the time of its row's update after its
last message (Layer.cc of the same). The bytes of an all-gather are those of its result
(MockNcclGroup.cc).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs.chakra import Node
from pyorch.addons.jobs.chakra_schedule import COLLECTIVES, MOST_NUMBER, Reading
from pyorch.addons.jobs.goal_kind import LONGEST
from pyorch.addons.jobs.scheduled import ScheduledTable, computed_too_long, note
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.reading import read_text
from pyorch.traffic.base import Check, TrafficTable, traffic

POLICIES = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
MOST_ROWS = 100_000
MOST_NODES = 2_000_000
_KINDS = {
    "ALLREDUCE": "ALL_REDUCE",
    "ALLGATHER": "ALL_GATHER",
    "REDUCESCATTER": "REDUCE_SCATTER",
    "ALLTOALL": "ALL_TO_ALL",
}
_SUFFIXES = ("", "_EP", "_DP_EP")
_TOKENS = 12
_WHOLE = f"whole numbers, 0 to {MOST_NUMBER}"
_DEGREES = {
    "tensor": "model_parallel_NPU_group",
    "experts": "ep",
    "pipeline": "pp",
    "all": "all_gpus",
}


class Step(NamedTuple):
    """A computation [ns] and the collective behind it: its operation, its group, its bytes."""

    time: int
    operation: str | None
    group: str
    size: int


class Row(NamedTuple):
    """A row of the file, and its line: update [ns], forward, input gradient, weight gradient."""

    line: int
    update: int
    forward: Step
    inputs: Step
    weights: Step


@dataclass(frozen=True)
class Workload:
    """What a file has. ranks: 0 where it does not say."""

    tensor: int
    experts: int
    ranks: int
    rows: Sequence[Row]


def read(text: str, label: str) -> Workload:
    """Return what a file has. Raises UserError with its problems."""
    problems: list[Problem] = []

    def tell(line: int, what: str, allowed: str | None = None) -> None:
        problems.append(Problem(f"{label}: line {line}", what, allowed))

    lines = text.rstrip().splitlines()
    if len(lines) < 2 or not lines[0].split():
        allowed = "a line of policy and keys, and one of the number of rows"
        raise refusal(label, "it has no head", allowed)
    degrees = _head(lines[0], tell)
    count = _whole(lines[1].strip()) or 0
    if not 0 < count <= MOST_ROWS or len(lines) != count + 2:
        allowed = f"their number, at most {MOST_ROWS:,}"
        tell(2, f"{lines[1].strip()!r} rows, and {len(lines) - 2} lines follow", allowed)
        raise UserError(problems)
    rows = [_row(words.split(), at, tell) for at, words in enumerate(lines[2 : count + 2], start=3)]
    if problems:
        raise UserError(problems)
    found = [row for row in rows if row is not None]
    return Workload(degrees["tensor"], max(1, degrees["experts"]), degrees["all"], found)


def _head(line: str, tell: Callable[..., None]) -> dict[str, int]:
    """Return the degrees of parallelism, 0 where the line does not say."""
    policy, pairs = line.split(maxsplit=1)[0], re.findall(r"\b(\w+)\s*:\s*(\S+)", line)
    values = dict(pairs)
    if policy not in POLICIES:
        tell(1, f"policy {policy!r} is not read", ", ".join(POLICIES))
    for key in sorted(values if len(values) < len(pairs) else ()):
        if sum(name == key for name, _ in pairs) > 1:
            tell(1, f"{key} appears twice", "each key once")
    numbers = {key: _whole(values.get(key, "0")) for key in (*_DEGREES.values(), "checkpoints")}
    for key, number in numbers.items():
        if number is None:
            tell(1, f"{key} is {values[key]!r}", _WHOLE)
    degrees = {name: numbers[key] or 0 for name, key in _DEGREES.items()}
    if numbers[_DEGREES["tensor"]] == 0:
        tell(1, f"no {_DEGREES['tensor']!r}", f"{_DEGREES['tensor']}: RANKS")
    if degrees["pipeline"] > 1:
        tell(1, f"pp is {degrees['pipeline']}: what stages send is not in the rows", "pp: 1")
    if numbers["checkpoints"]:
        tell(1, "checkpoints, whose layers are computed again, are not read", "checkpoints: 0")
    return degrees


def _whole(text: str) -> int | None:
    """Return a whole number from 0, which may be written as 12.0 or 1e9; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    whole = value.is_integer() and 0 <= value <= MOST_NUMBER
    return int(value) if whole else None


def _row(words: list[str], at: int, tell: Callable[..., None]) -> Row | None:
    if len(words) != _TOKENS:
        tell(at, f"{len(words)} words", f"{_TOKENS}: name, dependency, 3 x (ns, collective, B), ns")
        return None
    steps = []
    for first, usual in ((2, "tensor"), (5, "tensor"), (8, "gradients")):
        time, size = _whole(words[first]), _whole(words[first + 2])
        if time is None or size is None:
            tell(at, f"{words[first]!r} ns or {words[first + 2]!r} B", _WHOLE)
            return None
        word = words[first + 1]
        kind, suffix = next(
            ((one, word.removeprefix(one)) for one in _KINDS if word.startswith(one)), ("", "")
        )
        if word != "NONE" and (not kind or suffix not in _SUFFIXES):
            tell(at, f"collective {word!r}", f"NONE, {', '.join(_KINDS)}, also with _EP or _DP_EP")
            return None
        group = {"": usual, "_EP": "experts", "_DP_EP": "copies"}[suffix]
        steps.append(Step(time, _KINDS.get(kind) if size else None, group, size))
    update = _whole(words[11])
    if update is None:
        tell(at, f"{words[11]!r} ns", _WHOLE)
        return None
    return Row(at, update, *steps)


@traffic("workload")
class WorkloadTraffic(ScheduledTable):
    """An iteration of training, from a workload file of SimAI or AICB."""

    source = "aliyun/SimAI and aliyun/aicb: workload files"
    file_key = "file"

    file: str = Field(description="The workload file, .txt.")
    gpus: int | None = Field(default=None, ge=2, description="Ranks; none: `all_gpus` of the file.")

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        found = read_file(check, self.file)
        ranks = 0 if found is None else self._ranks(check, found)
        if not self.check_algorithms(check) or found is None or not ranks:
            return None
        groups = {
            name: members for name, members in groups_of(found, ranks).items() if len(members) > 1
        }
        names: list[dict[str, str]] = [{} for _ in range(ranks)]
        for name, members in groups.items():
            for rank in members:
                names[rank][name.split()[0]] = name
        traces = [
            (f"rank {rank}", nodes_of(found, names[rank], self.file)) for rank in range(ranks)
        ]
        too_long = computed_too_long(traces[0][1])
        if too_long is not None:
            check.findings.merge([Problem(self.file, too_long, LONGEST, "times are in ns")])
            return None
        reading = Reading(groups, self.algorithms or {}, gathered=True)
        return self.as_goal(check, traces, reading)

    def _ranks(self, check: Check, found: Workload) -> int:
        """Return the number of ranks; note why there can be none, and return 0."""
        ranks = self.gpus or found.ranks
        if not ranks:
            check.add("gpus", "the file does not say how many", None, "give 'gpus'")
        elif ranks == 1:
            check.add("gpus", "a single rank has no network", "from 2")
        elif ranks % (found.tensor * found.experts):
            what = f"{ranks} ranks in tensor groups of {found.tensor} and {found.experts} experts"
            check.add("gpus", what, f"a multiple of {found.tensor * found.experts}")
        elif ranks * len(found.rows) * 9 > MOST_NODES:
            what = f"{len(found.rows):,} rows for {ranks} ranks"
            check.add("file", what, f"at most {MOST_NODES // 9:,} in all")
        else:
            return ranks
        return 0

    @override
    def check_files(self, check: Check) -> None:
        read_file(check, self.file)


def read_file(check: Check, name: str) -> Workload | None:
    """Return what a file next to the experiment has; note its problems, and return None."""
    path = check.file("file", name)
    if path is None:
        return None
    try:
        return read(read_text(path, name), name)
    except UserError as error:
        note(check, error.problems, name)
        return None


def groups_of(found: Workload, ranks: int) -> dict[str, list[int]]:
    """Return the ranks of each group: "tensor 0", "gradients 0", "experts 0 0", "copies 0 0"."""
    groups: dict[str, list[int]] = {}
    for rank in range(ranks):
        copy, place = divmod(rank, found.tensor)
        neighbours, expert = divmod(copy, found.experts)
        for name in (
            f"tensor {copy}",
            f"gradients {place}",
            f"experts {place} {neighbours}",
            f"copies {place} {expert}",
        ):
            groups.setdefault(name, []).append(rank)
    return groups


def nodes_of(found: Workload, groups: Mapping[str, str], label: str) -> list[Node]:
    """Return what a rank does. groups: names of those of its own with several ranks, by kind."""
    made: list[Node] = []

    def add(kind: str, last: tuple[int, ...], place: str, **more: Any) -> tuple[int, ...]:
        made.append(Node(len(made), kind, last, place=place, **more))
        return (len(made) - 1,)

    def step(
        row: Row, one: Step, last: tuple[int, ...], name: str
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Add a step; return what ends its computation, and what ends its collective."""
        place = f"{label}: line {row.line}"
        if one.time:
            last = add("COMP_NODE", last, place, duration=one.time / 1000)
        if one.operation is None or one.group not in groups:
            return last, last
        index = COLLECTIVES.index(one.operation)
        attributes = {"comm_type": index, "comm_size": one.size, "pg_name": groups[one.group]}
        done = add("COMM_COLL_NODE", last, place, attributes=attributes, name=name)
        if row.update:  # what nothing waits for must not hold up the computations behind it
            aside = {"is_cpu_op": one is row.weights}
            duration = row.update / 1000
            done = add("COMP_NODE", done, place, duration=duration, attributes=aside)
        return last, done

    last: tuple[int, ...] = ()
    for row in found.rows:
        _, last = step(row, row.forward, last, f"forward {row.forward.group}")
    for row in reversed(found.rows):
        _, last = step(row, row.inputs, last, f"backward {row.inputs.group}")
        last, _ = step(row, row.weights, last, f"weights {row.weights.group}")
    return made
