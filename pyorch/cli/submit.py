"""`submit`: send an experiment's missing runs to Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from pyorch.cli import door
from pyorch.cli.base import OK, SHOWN_FAILURES, command, warn
from pyorch.engine.slurm import cluster
from pyorch.remarks import runs_text
from pyorch.study import Study


@command
def submit(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    options: Mapping[str, str | bool] | None = None,
    runs_each: int | None = None,
    dry_run: bool = False,
) -> int:
    """Send an experiment's missing runs to Slurm and return.

    options: of `load_settings`; runs_each: runs of a job, by default so many that they pay.
    """
    study = Study.named(name, overrides, seeds=seeds)
    if dry_run:
        asked = study.ask(options or {}, runs_each, claim=False)
        if asked.plan.missing:
            for line in study.remarks_on_plan():
                warn(line)
        return _tell_dry_run(asked)
    sent = study.submit(runs_each, print, warn, **(options or {}))
    if sent is None:
        return OK
    numbers = ", ".join(str(array.job_id) for array in sent.arrays)
    jobs = sum(array.jobs for array in sent.arrays)
    print(f"submitted {runs_text(sent.runs)} in {jobs:,} jobs (array {numbers})")
    door.say(f"invoke status {name}    shows its progress")
    door.say(f"invoke collect {name}   writes the report when it is done")
    return OK


def _tell_dry_run(asked: cluster.Asked) -> int:
    """Print what would be submitted."""
    would = cluster.forecast(asked)
    missing = would.todo.missing
    print(would.todo.line(asked.plan.store.name))
    print(f"settings: {asked.settings.file or 'none: there is no slurm.toml'}")
    for spec in list(missing.values())[:SHOWN_FAILURES]:
        print(f"  {spec.title}")
    if len(missing) > SHOWN_FAILURES:
        print(f"  ... and {len(missing) - SHOWN_FAILURES} more")
    if would.packing is not None:
        print(would.packing.line)
    print(
        "\n".join(
            [
                *would.costs,
                *map(shlex.join, would.commands),
                "",
                "nothing was submitted (--dry-run)",
            ]
        )
    )
    return OK
