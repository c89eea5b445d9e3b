"""`goal` and `timeline`: the traffic of a run for other simulators, and a run for trace viewers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pyorch.addons.jobs.goal_of_flows import goal_of_flows
from pyorch.addons.jobs.timeline import trace_text, untraced
from pyorch.base.errors import refusal
from pyorch.base.files import storage_error, write_atomically
from pyorch.cli.base import OK, listing
from pyorch.network import topology
from pyorch.report.data import ReportData
from pyorch.study import Study
from pyorch.traffic import base as traffic


@listing
def goal(name: str, run: str, overrides: Sequence[str], seeds: str, out: str) -> int:
    """Print the traffic of a run as a GOAL schedule, or write it into a file."""
    spec = Study.named(name, overrides, seeds=seeds).find(run)
    setting = spec.setting
    network = topology.build(setting.topology)
    flows = traffic.flows(setting.traffic, network, spec.seed, setting.run.duration)
    return _give(goal_of_flows(flows, network.names)[0], out)


@listing
def timeline(name: str, run: str, overrides: Sequence[str], seeds: str, out: str) -> int:
    """Print what the hosts of a finished run did as trace events, or write it into a file."""
    import pandas as pd

    study = Study.named(name, overrides, seeds=seeds)
    plan, spec = study.planned, study.find(run)
    found = spec.hash(plan.build.fingerprint)
    if not plan.store.is_done(found):
        raise refusal("RUN", "this run is not done", hint=f"invoke experiment {name}")
    data = ReportData(plan.store, pd.DataFrame({"hash": [found]}), {found: spec})
    for hint in untraced(data.run(found)):
        print(hint, file=sys.stderr)
    return _give(trace_text(data.run(found)), out)


def _give(text: str, out: str) -> int:
    """Print a text, or write it into a file. Raises UserError when it cannot be written."""
    if not out:
        print(text, end="")
        return OK
    if not Path(out).parent.is_dir():
        raise refusal(f"--out {out}", f"there is no folder {Path(out).parent}")
    try:
        write_atomically(Path(out), text)
    except OSError as error:
        raise storage_error(error, Path(out)) from error
    print(f"wrote {out}")
    return OK
