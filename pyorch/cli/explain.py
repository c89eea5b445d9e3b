"""`explain`: what happened in a run that deadlocked or waits for a host, and what cures do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pyorch.cli.base import OK, command
from pyorch.explain.explanation import Explanation
from pyorch.explain.page import HEADS, grouped, row_of
from pyorch.remarks import runs_text
from pyorch.study import Study

WIDTH = 100


@command
def explain_run(
    name: str,
    run: str,
    out: str = "",
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Write the page of a run that deadlocked, and print a summary."""
    study = Study.named(name, overrides, seeds=seeds)
    found = study.explain(run, out, jobs, lambda line: print(line, flush=True))
    _tell(found)
    assert found.page is not None  # noqa: S101 (it was asked for)
    index, wires = found.page
    if wires:
        files = f"{len(wires.pcaps)} pcap files and {wires.animation.name}"
        print(f"captures: {files} in {index.parent}")
    print(f"page:     {index}")
    return OK


def _tell(found: Explanation) -> None:
    print()
    for number, sentence in enumerate(found.story.sentences(), start=1):
        print(textwrap.fill(f"{number}. {sentence}", WIDTH, subsequent_indent="   "))
    for note in found.story.notes():
        print(note)
    if found.outcomes:
        _tell_cures(found)
    print(f"\nruns:     {found.store.root}; {runs_text(found.simulated)} simulated now")


def _tell_cures(found: Explanation) -> None:
    heads = HEADS[:-1]
    rows = [row_of(outcome) for outcome in found.outcomes]
    widths = [max(len(row.cells[at]) for row in rows) for at in range(len(heads))]
    widths = [max(width, len(head)) for width, head in zip(widths, heads, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(f"{c:<{w}}" for c, w in zip(cells, widths, strict=True)).rstrip()

    print(f"\n{line(heads)}")
    for heading, some in grouped(found.outcomes):
        print(f"{heading}:" if heading else "", end="\n" if heading else "")
        for row in map(row_of, some):
            cells = row.cells[: len(heads)]
            print(f"{row.name}: not tried: {row.reason}" if row.reason else line(cells))
