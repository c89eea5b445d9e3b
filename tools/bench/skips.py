"""`invoke bench --skips`: how much sooner a run ends that skips what repeats, in pairs.

Runs each setting of benchmarks/skips/*.toml, and a shipped study without its tables, with `[run]
repeats` off and on, one right after the other, since the machine's other load changes both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median

from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import default_paths
from pyorch.cli.base import OK, command, whole_number
from pyorch.pipeline import Plan, make_plan
from pyorch.plan import RunSpec
from tools.bench.command import whole_run

MODEL = "ai/model"
"""Each variant would be two to five CPU-minutes; the first one is run."""


@command
def skips(repeats: str = "") -> int:
    """Measure, and print a table. Raises UserError when a run fails."""
    times = whole_number("--repeats", repeats) or 1
    paths = default_paths()
    print("| workload | setting | skipped | as fast |\n|---|---|---|---|", flush=True)
    for file in [*sorted((paths.benchmarks / "skips").glob("*.toml")), MODEL]:
        off, on = (
            make_plan(str(file), overrides=[f'run.repeats="{mode}"'], seeds="1", paths=paths)
            for mode in ("off", "on")
        )
        count = 1 if file == MODEL else len(on.specs)
        for pair in list(zip(off.specs, on.specs, strict=True))[:count]:
            ratios = []
            for _ in range(times):
                slow, fast = (_run(plan, spec) for plan, spec in zip((off, on), pair, strict=True))
                ratios.append(fast[0] / slow[0])
            name, title = on.experiment.name, pair[1].title
            print(f"| {name} | {title} | {fast[1]:.1%} | {median(ratios):.2f} |", flush=True)
    return OK


def _run(plan: Plan, spec: RunSpec) -> tuple[float, float]:
    """Hops per CPU-second, and the share of time that was skipped. Raises UserError."""
    bare = replace(spec, setting=replace(spec.setting, traces=()), metrics=())
    found = whole_run(plan, bare)
    if found is None:
        raise UserError(
            [Problem(plan.experiment.label, "the run failed, as shown above", None, None)]
        )
    said = re.search(r"repeats: (\d+) ps", "\n".join(found.notes))
    return found.hops_per_s, int(said[1]) / found.summary["end_ps"] if said else 0.0
