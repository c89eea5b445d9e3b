"""The verbs that jobs add to both programs: `goal` and `timeline`."""

from __future__ import annotations

from typing import Annotated

from pyorch.cli.verb import One, Run, verb

ToFile = Annotated[str, "file to write into; default standard output"]


@verb
def goal(of: One, run: Run, *, out: ToFile = "") -> int:
    """Write the traffic of a run as a GOAL schedule, for other simulators to replay."""
    from pyorch.addons.jobs import commands as module

    return module.goal(of.name, run, of.overrides, of.seeds, out)


@verb
def timeline(of: One, run: Run, *, out: ToFile = "") -> int:
    """Write what the hosts of a finished run did, for chrome://tracing and Perfetto."""
    from pyorch.addons.jobs import commands as module

    return module.timeline(of.name, run, of.overrides, of.seeds, out)
