"""The verdicts and values of docs/reproduction.csv that moved, as a Markdown table.

`python -m tools.reproduction.moved REVISION` compares the file with that of a git revision.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

from pyorch.base.paths import default_paths
from tools.reproduction.page import Row, claims_of, from_csv


def moved(before: Iterable[Row], after: Iterable[Row]) -> list[str]:
    """Return a line for each claim, and each piece of evidence, of which two states differ."""
    old, new = _said(before), _said(after)
    names = [name for name in {**new, **old} if old.get(name) != new.get(name)]
    return [
        "| " + " | ".join([*name, old.get(name, "-"), new.get(name, "-")]) + " |" for name in names
    ]


def _said(rows: Iterable[Row]) -> dict[tuple[str, str, str], str]:
    """Verdict and value by (claim, study, evidence with its settings); of a claim the verdict."""
    found = {}
    for claim in claims_of(rows):
        found[claim.what, "all", ""] = claim.says
        for row in claim.rows:
            where = f" ({row.where})" if row.where else ""
            found[claim.what, row.study, row.evidence + where] = f"{row.verdict}: {row.ours}"
    return found


def main(revision: str) -> str:
    """Return the table of what moved since a revision. Raises CalledProcessError, OSError."""
    paths = default_paths()
    file = paths.reproduction.with_suffix(".csv")
    place = f"{revision}:{file.relative_to(paths.root).as_posix()}"
    before = subprocess.check_output(
        ["git", "-C", str(paths.root), "show", place], encoding="utf-8"
    )
    lines = moved(from_csv(before), from_csv(file.read_text(encoding="utf-8")))
    head = ["| claim | study | evidence | before | now |", "|---|---|---|---|---|"]
    return "\n".join([*head, *lines])


if __name__ == "__main__":
    print(main(sys.argv[1]))
