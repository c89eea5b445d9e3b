"""Files of jobs for `import`: what their ranks are, and the entry that replays them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyorch.addons.jobs import chakra_kind, goal_kind, workload_kind
from pyorch.addons.jobs.chakra import Node
from pyorch.addons.jobs.chakra_schedule import Reading, schedule
from pyorch.addons.jobs.goal_of_flows import goal_of_flows
from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.findings import Findings
from pyorch.base.reading import read_text
from pyorch.network.topology import NO_NETWORK
from pyorch.readers.records import Job
from pyorch.traffic.base import Check
from pyorch.traffic.base import Scene as Setting
from pyorch.writers.scenes import Scene, Written, left_out

COPIES = 8
"""Ranks that are assumed where only the trace of one is at hand."""
FLOPS = 4e14
"""Operations per second that are assumed where traces have no durations."""
_TRACE = re.compile(r"(.+)\.(?:0|[1-9]\d{0,8})\.et", re.ASCII)


@dataclass(frozen=True)
class Reader:
    """A format of jobs. suffixes: of its files. write: if a run can be written in it."""

    job: Callable[[Path, str, Path | None], Job]
    suffixes: Mapping[str, Sequence[str]]
    write: Callable[[Scene], Written] | None = None


def _check(file: Path) -> Check:
    return Check(Findings(file.name), (), Setting(NO_NETWORK, file.parent, file.parent, 0))


def _goal(file: Path, label: str, _: Path | None) -> Job:
    """Return the job of a GOAL schedule. Raises UserError."""
    check = _check(file)
    text = goal_kind.read_file(check, label)
    found = None if text is None else goal_kind.checked(check, text, label)
    if found is None:
        raise UserError(check.findings.problems)
    nics = 1 + max((one.nic for one in found.operations), default=0)
    entry = {"kind": "goal", **({"ranks": "servers"} if nics > 1 else {})}
    return Job(file, entry, found.ranks, nics)


def _chakra(file: Path, label: str, groups: Path | None) -> Job:
    """Return the job of Chakra traces, of which one is given, or of a workload file, .txt.

    What cannot be met is left out, as little as possible: dependencies of control, those on nodes
    that are missing, and process groups whose ranks are not known. Raises UserError.
    """
    if file.suffix.lower() == ".txt":
        return _workload(file, label)
    match = _TRACE.fullmatch(label)
    if match is None:
        what, allowed = "its name does not say of which rank it is", "NAME.0.et, NAME.1.et, ..."
        raise refusal(label, what, allowed)
    problems: list[Problem] = []
    ways = itertools.product((False, True)[: 1 if groups else 2], (False, True), (True, False))
    for everybody, missing, control in ways:
        traces = _traces(file, match[1], control)
        copies = COPIES if len(traces) == 1 else 1
        named = _groups(groups, len(traces) * copies)
        ignored = frozenset(["pg_name"] if everybody else [])
        timed = all(node.duration or not node.attributes.get("num_ops") for node in traces[0][1])
        flops = None if timed else FLOPS
        reading = Reading(named, {}, ignored, missing, control, flops=flops)
        # two copies have the problems of all, but for those with the ranks that groups name
        problems = schedule(traces * (copies if named else min(copies, 2)), reading)[2]
        if not problems:
            break
    if problems:
        raise UserError(problems)
    said = {
        "copies": (copies, copies > 1, f"{copies} ranks do what the one trace says"),
        "dependencies": (
            "data", not control, "nodes wait for data_deps only: ctrl_deps cannot all be met"
        ),
        "ignore_missing": (
            True, missing, "dependencies on nodes that are not in the file are left out"
        ),
        "flops": (FLOPS, not timed, ""),
        "ignore": (
            ["pg_name"], everybody,
            "ranks of process groups are not known: all ranks join each collective",
        ),
    }  # fmt: skip
    used = {key: of for key, of in said.items() if of[1]}
    entry = {"kind": "chakra", **{key: value for key, (value, *_) in used.items()}}
    assumed = [told for *_, told in used.values() if told]
    return Job(file.with_name(match[1]), entry, len(traces) * copies, 1, assumed)


def _workload(file: Path, label: str) -> Job:
    """Return the job of a workload file of SimAI or AICB. Raises UserError."""
    found = workload_kind.read(read_text(file, label), label)
    ranks = found.ranks or found.tensor * found.experts
    told = f"{label} does not say of how many ranks: of one tensor group for each expert, {ranks}"
    more = {} if found.ranks else {"gpus": ranks}
    return Job(file, {"kind": "workload", **more}, ranks, 1, [told] if more else [])


def _traces(file: Path, name: str, control: bool) -> list[tuple[str, list[Node]]]:
    check = _check(file)
    traces = chakra_kind.read_traces(check, name, control)
    if check.findings.problems:
        raise UserError(check.findings.problems)
    return traces


def _groups(file: Path | None, ranks: int) -> dict[str, list[int]] | None:
    if file is None:
        return None
    check = _check(file)
    found = chakra_kind.read_groups(check, file.name, ranks)
    if check.findings.problems:
        raise UserError(check.findings.problems)
    return found


def _schedule(scene: Scene) -> Written:
    """Return schedule.goal. Raises UserError for flows that GOAL cannot express."""
    text, told = goal_of_flows(scene.flows, scene.network.names)
    found = Written({"schedule.goal": text}, list(left_out(scene, paths=False, classes=False)))
    found.left_out += [*told, "the network: GOAL has none", "settings of schemes and switches"]
    return found


GOAL = Reader(_goal, {"job": (".goal", ".bin")}, _schedule)
CHAKRA = Reader(_chakra, {"job": (".et", ".txt")})
