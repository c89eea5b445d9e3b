"""The files of a search: an experiment file, a picture, the table of trials."""

from __future__ import annotations

from pathlib import Path

from pyorch.addons.lab.explicit import tables_of
from pyorch.addons.lab.search import Search
from pyorch.addons.lab.trials import Written
from pyorch.addons.lab.write import csv_of, draw, dump, measured
from pyorch.base.files import storage_error, write_atomically

MADE_BY = "# A run that was found by `pyorch search`"
"""How files of this kind begin: no other file is overwritten."""


def table_of_trials(found: Search) -> str:
    """All trials in order, as CSV."""
    return csv_of([one.row(number) for number, one in enumerate(found.tried, start=1)])


def write_search(found: Search, file: Path) -> Written | None:
    """Write the result to `file`, and .trials.csv and .png with the same name.

    Performs one more run, with the tables that the picture needs. If nothing was found, only the
    table is written. Raises UserError.
    """
    trials, picture = file.with_suffix(".trials.csv"), file.with_suffix(".png")
    try:
        if found.tried:
            write_atomically(trials, table_of_trials(found))
        if found.case is None:
            return None
        asked = found.condition.text
        content = dict(tables_of(found.case, f"{found.origin}: {asked}").content)
        content["question"] = f"How can this network get '{asked}'?"
        content["source"] = f"the network of run {found.run_hash} of {found.origin}"
        last = found.tried[-1]
        source = f"run {last.outcome.run_hash}"
        content |= measured(found.trials, found.case, source)
        head = [
            f"{MADE_BY} (docs/deadlock-lab.md).",
            f"# On: {found.origin} (run {found.run_hash}).",
            f"# Trial {len(found.tried)}: {last.proposal.text}.",
        ]
        write_atomically(file, dump(content, {}, "\n".join(head) + "\n"))
        drawn, cycle = draw(found.trials, content, picture)
    except OSError as error:
        raise storage_error(error, file) from error
    return Written(file, trials, picture if drawn else None, cycle)
