"""`minimise`: the smallest part of a run for which a condition still holds."""

from __future__ import annotations

from collections.abc import Sequence

from pyorch.addons.lab.minimise import Minimal
from pyorch.cli.base import OK, command
from pyorch.cli.door import say
from pyorch.remarks import runs_text
from pyorch.study import Study

DEFAULT_FILE = "minimal.toml"


@command
def minimise_run(
    name: str,
    run: str,
    condition: str = "",
    out: str = "",
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    seeds: str = "",
) -> int:
    """Write the smallest case of a run as an experiment file, and print what it is."""
    study = Study.named(name, overrides, seeds=seeds)
    asked = (condition or "deadlocked", out or DEFAULT_FILE, jobs)
    _tell(study.minimise(run, *asked, lambda line: print(line, flush=True)))
    return OK


def _tell(minimal: Minimal) -> None:
    written = minimal.written
    assert written is not None  # noqa: S101 (it was asked for)
    trials = minimal.trials
    print(f"trials:   {len(minimal.steps)}; {runs_text(trials.runs)} simulated now")
    print(f"runs:     {trials.store.root}")
    after = minimal.case.measures()
    for what, count in minimal.before.items():
        print(f"{what + ':':<9} {count} -> {after[what]}")
    if written.cycle:
        print(f"cycle:    {' -> '.join([*written.cycle, written.cycle[0]])}")
    if written.picture is not None:
        print(f"picture:  {written.picture}")
    print(f"steps:    {written.steps}")
    say(f"file:     {written.file}; run it with: invoke experiment {written.file}")
