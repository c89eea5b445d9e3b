"""Simulate the shipped studies with `[run] repeats = "verify"`, their settings with one seed.

    python -m tests.skipped [--cpu S] [--most N] [--bare] [NAME ...]

Every skip that would have been made is compared with what is simulated. Prints a line a setting:
the share of its time that would have been skipped, and why more was not; ends with a count. A run
is left after S seconds of CPU time; of each study N settings are tried, apart. --bare leaves out
tables, which forbid to skip what they have rows of. Exits 1 if a skip would have been wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

from pyorch.build import ensure_built
from pyorch.files.find import list_experiments
from pyorch.plan import RunSpec
from pyorch.run.ns3 import load_simulation
from pyorch.run.simulate import set_up
from pyorch.study import Study
from tests import forks

FIRST_PS = 20_000_000
"""The first part of a run; its CPU time says how long the next ones are."""


def verify(simulation_class: Any, spec: RunSpec, limit_s: float, bare: bool) -> dict[str, Any]:
    """Simulate for so long at most, and tell what was said of repeats."""
    run = spec.setting.run.model_copy(update={"repeats": "verify"})
    traces = () if bare else spec.setting.traces
    simulation = simulation_class(spec.seed)
    set_up(simulation, replace(spec, setting=replace(spec.setting, run=run, traces=traces)))
    started = time.process_time()
    now, part = 0, FIRST_PS
    while now < run.latest_end:
        began = time.process_time()
        now = min(now + part, run.latest_end)
        if not simulation.Run(now):
            break
        used = time.process_time()
        if used - started > limit_s:
            break
        part = part * 2 if used - began < limit_s / 20 else part
    notes = [line for line in str(simulation.Notes()).splitlines() if line.startswith("repeats")]
    return {"note": notes[0], "now": int(simulation.Now()), "cpu": time.process_time() - started}


def runs_of(name: str, most: int) -> list[RunSpec]:
    """Runs of a study: at most so many of its settings, each with the first seed."""
    specs: dict[str, RunSpec] = {}
    for spec in Study.load(name).plan().specs:
        specs.setdefault(repr(spec.params), spec)
    return list(specs.values())[:: -(-len(specs) // most)]


def main() -> int:
    """Return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cpu", type=float, default=10.0)
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--bare", action="store_true")
    given = parser.parse_args()
    simulation_class = load_simulation(ensure_built(quiet=True))
    forks.LIMIT_CPU_S = int(10 * given.cpu + 60)
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong = 0
    for name in given.names or [name for name, _ in list_experiments()]:
        for spec in runs_of(name, given.most):
            act = partial(verify, simulation_class, spec, given.cpu, given.bare)
            found = forks.in_fork(act)
            found |= {"note": "nothing: " + str(found)} if "note" not in found else {}
            counts["settings"] += 1
            if found["note"].startswith("nothing"):
                wrong += "a skip would have been wrong" in found["note"] or "peaks" in found["note"]
                counts["ended otherwise"] += 1
            said = re.match(r"repeats: (\d+) ps in (\d+) parts", found["note"])
            skipped, parts = (int(number) for number in said.groups()) if said else (0, 0)
            share = skipped / max(1, found.get("now", 1))
            counts["with skips"] += parts > 0
            counts["parts compared"] += parts
            if parts == 0:
                # The reason that was found most often.
                why = re.findall(r"nothing was (\d+) times, as ([^;]*)", found["note"])
                most = max(why, key=lambda pair: int(pair[0]))[1] if why else found["note"]
                reasons[most[:100]] += 1
            print(f"{share:6.1%} {parts:4} {name} {spec.title}: {found['note']}", flush=True)
    for what, count in [*counts.items(), *reasons.most_common()]:
        print(f"{count:6} {what}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
