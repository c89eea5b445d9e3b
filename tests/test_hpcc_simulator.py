"""Flows under the conventions of the public HPCC simulator, compared one by one with it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pyorch.paths import Paths
from pyorch.study import Study

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "experiments" / "rdma" / "hpcc-simulator.csv"
NS = 1000


def reference(scheme: str) -> dict[str, int]:
    """Completion times in ns by sender, where no flow was moved."""
    lines = (line for line in REFERENCE.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return {
        row["src"] + row["size_bytes"]: int(row["fct_ns"])
        for row in csv.DictReader(lines)
        if row["scheme"] == scheme and row["shift_ns"] == "0"
    }


@pytest.mark.parametrize("scheme", ["none", "dctcp"])
def test_each_flow_takes_as_long_as_in_the_public_simulator(scheme: str, tmp_path: Path) -> None:
    """Within 1 %, where moving a flow by a microsecond moves no flow by more."""
    study = Study.load("rdma/hpcc-simulator", paths=Paths(ROOT, tmp_path / "results"))
    done = study.only(scheme).sweep("traffic.moved.start", ["50us"])
    done.run()
    flows = done.table("flow")
    ours = {
        f"h{flow.src}{flow.size_bytes}": (flow.acked_ps - flow.start_ps) / NS
        for flow in flows.itertuples()
    }
    theirs = reference(scheme)
    assert len(theirs) == len(ours) == 8
    for flow, time in theirs.items():
        assert ours[flow] == pytest.approx(time, rel=0.01), flow
