"""`compare`: two results, or two builds of one study, run by run and number by number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyorch.base.columns import aligned
from pyorch.base.paths import default_paths
from pyorch.cli.base import FAILED, OK, listing
from pyorch.remarks import runs_text
from pyorch.store.comparison import SHOWN_DIGITS, Comparison, Side, compare, read_side

SHOWN_RUNS = 10


@listing
def compare_results(first: str, second: str) -> int:
    """Print which runs have the same bytes and which numbers differ; return 1 if any differ."""
    paths = default_paths()
    a, b = read_side(first, paths), read_side(second, paths)
    for letter, side in (("A", a), ("B", b)):
        print(f"{letter}: {side.folder}: {_builds(side)}")
    found = compare(a, b)
    print(f"{runs_text(len(found.same))}: the same bytes")
    _print_runs("differ", [f"{run}: {', '.join(f)}" for run, f in found.differing.items()])
    _print_runs("only in A", found.only_a)
    _print_runs("only in B", found.only_b)
    _print_values(found)
    return OK if found.is_same else FAILED


def _builds(side: Side) -> str:
    builds = sorted({run.build[:SHOWN_DIGITS] for run in side.runs.values()})
    older = f", and {side.older} of other builds, left out" if side.older else ""
    return f"{runs_text(len(side.runs))} of build {', '.join(builds)}{older}"


def _print_runs(what: str, runs: Sequence[str]) -> None:
    if not runs:
        return
    print(f"{runs_text(len(runs))}: {what}")
    for run in runs[:SHOWN_RUNS]:
        print(f"    {run}")
    if len(runs) > SHOWN_RUNS:
        print(f"    ... and {len(runs) - SHOWN_RUNS} more")


def _print_values(found: Comparison) -> None:
    if not found.values:
        return
    rows = [("number", "runs", "A", "B", "differs by", "most in")]
    for one in sorted(found.values, key=lambda one: -one.relative):
        relative = "" if math.isinf(one.relative) else f"{100 * one.relative:.3g} %"
        rows.append((one.name, str(one.runs), _number(one.a), _number(one.b), relative, one.where))
    print("", *aligned(rows), sep="\n")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.10g}"
