"""`explain`: why a run deadlocked and what cures do, or where its flows lost time."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

from pyorch.cli.base import OK, command
from pyorch.explain.base import Explained
from pyorch.explain.explanation import Explanation
from pyorch.explain.outcomes import AS_IT_WAS
from pyorch.explain.page import HEADS, grouped, is_free, row_of, too_slow
from pyorch.explain.slow import Slow, Table
from pyorch.remarks import runs_text
from pyorch.report.quantities import show
from pyorch.study import Study

WIDTH, SHOWN = 100, 5
"""Of lines, and rows of a table."""


@command
def explain_run(
    name: str,
    run: str,
    out: str = "",
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Write the page of a run, and print a summary."""
    study = Study.named(name, overrides, seeds=seeds)
    if not run:
        run = _first(study)
        print(f"run:      {study.find(run).title}", flush=True)
    found = study.explain(run, out, jobs, lambda line: print(line, flush=True), sys.stdout)
    _tell(found)
    assert found.page is not None  # noqa: S101 (it was asked for)
    index, wires = found.page
    if wires:
        files = f"{len(wires.pcaps)} pcap files and {wires.animation.name}"
        print(f"captures: {files} in {index.parent}")
    print(f"page:     {index}")
    return OK


def _first(study: Study) -> str:
    """The first run that deadlocked, as far as they are done; else the first one."""
    runs = study.runs
    if "deadlocked" in runs and len(stuck := runs[runs["deadlocked"] > 0]):
        return str(stuck.iloc[0]["hash"])
    return "1"


def _tell(found: Explained) -> None:
    print(f"\n{textwrap.fill(found.answer, WIDTH)}" if isinstance(found, Slow) else "")
    for number, sentence in enumerate(found.sentences(), start=1):
        print(textwrap.fill(f"{number}. {sentence}", WIDTH, subsequent_indent="   "))
    for note in found.notes():
        print(textwrap.fill(note, WIDTH))
    if isinstance(found, Slow):
        for table in found.tables():
            _tell_table(table)
        print(f"\ntables:   {show(found.tables_bytes, 'B')}")
    elif isinstance(found, Explanation) and found.outcomes:
        _tell_cures(found)
    print(f"\nruns:     {found.store.root}; {runs_text(found.simulated)} simulated now")


def _tell_table(table: Table) -> None:
    """Print the first rows of a table; the last column is cut where the others would break."""
    rows = [table.heads, *table.rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.heads) - 1)]
    print(f"\n{table.title}")
    for row in rows[: SHOWN + 1]:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[-1]]))
    if len(table.rows) > SHOWN:
        print(f"... and {len(table.rows) - SHOWN} more, on the page")


def _tell_cures(found: Explanation) -> None:
    """Print the cures that always help, each with its numbers, and the names of the others."""
    heads = HEADS[:-1]
    sure = [one for one in found.outcomes if is_free(one) and one.cannot]
    shown = [*(one for one in found.outcomes if one.cure.name == AS_IT_WAS), *sure]
    rows = [row_of(outcome) for outcome in shown]
    widths = [max(len(row.cells[at]) for row in rows) for at in range(len(heads))]
    widths = [max(width, len(head)) for width, head in zip(widths, heads, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(f"{c:<{w}}" for c, w in zip(cells, widths, strict=True)).rstrip()

    print(f"\n{line(heads)}")
    for heading, some in grouped(shown):
        print(f"{heading}:" if heading else "", end="\n" if heading else "")
        print("\n".join(line(row.cells[: len(heads)]) for row in map(row_of, some)))
    lucky = [one for one in found.outcomes if is_free(one) and not one.cannot]
    stuck = [one for one in found.outcomes if one.deadlocks and one not in shown]
    for what, some in (("Not in this run, but maybe in another", lucky), ("Deadlock, too", stuck)):
        if some:
            print(textwrap.fill(f"{what}: {', '.join(one.cure.name for one in some)}.", WIDTH))
    for one in found.outcomes:
        if one.reason:
            print(textwrap.fill(f"Not tried: {one.cure.name}: {row_of(one).reason}", WIDTH))
    if note := too_slow(found.outcomes):
        print(textwrap.fill(note, WIDTH))
