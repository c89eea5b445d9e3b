"""Trials that the search takes beside random flows: python -m tools.search [SEEDS TRIALS SET...].

Prints a table of deadlock/networks and writes all counts as CSV. SET: as
for --set, such as port.queue_service=round_robin.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence

from pyorch.addons.lab.search import BY, search
from pyorch.addons.lab.varied import Varied
from pyorch.addons.lab.write import csv_of
from pyorch.base.files import write_atomically
from pyorch.pipeline import make_plan

STUDY = "deadlock/networks"
DEFAULTS = ("3", "16")


def main(arguments: Sequence[str]) -> int:
    """Search each network with each seed and each source of flows."""
    seeds, most = (int(word) for word in [*arguments[:2], *DEFAULTS[len(arguments) :]])
    overrides = tuple(arguments[2:])
    plan = make_plan(STUDY, overrides, str(seeds), claim=True)
    rows: list[dict[str, object]] = []
    for spec in plan.specs:
        source = Varied(plan, spec, STUDY, overrides)
        for by in BY:
            found = search(source, most=most, by=by)
            took = "" if found.case is None else len(found.tried)
            row = {"network": spec.params["scenario"], "by": by, "seed": spec.seed}
            rows.append({**row, "trials": len(found.tried), "found_at": took})
            print(" ".join(map(str, rows[-1].values())), file=sys.stderr, flush=True)
    file = Varied(plan, plan.specs[0], STUDY).store.root / "comparison.csv"
    write_atomically(file, csv_of(rows))
    print(f"| network | {' | '.join(BY)} |\n|---{'|---' * len(BY)}|")
    for network in dict.fromkeys(row["network"] for row in rows):
        cells = [cell([r for r in rows if (r["network"], r["by"]) == (network, by)], most)
                 for by in BY]  # fmt: skip
        print(f"| {network} | {' | '.join(cells)} |")
    print(f"\n{file}", file=sys.stderr)
    return 0


def cell(rows: Sequence[Mapping[str, object]], most: int) -> str:
    """Trials to the first deadlock: median and worst; and how often there was none."""
    counts = sorted(most + 1 if r["found_at"] == "" else int(str(r["found_at"])) for r in rows)
    missed = sum(count > most for count in counts)
    middle, worst = statistics.median_low(counts), counts[-1]
    if missed == len(rows):
        return f"none in {most}"
    told = [f"> {most}" if count > most else str(count) for count in (middle, worst)]
    return f"{told[0]} ({told[1]})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
