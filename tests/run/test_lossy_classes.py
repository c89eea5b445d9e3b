"""A flow control acts on lossless classes only, whichever it is, in whole runs.

A class that is not lossless behaves as if there were no flow control: nobody pauses it, and whoever
is told to hold it back takes no notice.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.test_end_to_end import run

pytestmark = pytest.mark.cpp

#: Every scheme that stops, slows or queues what a peer sends. NONE is what they are compared with.
NONE = "none"
CHAINS = {
    NONE: [],
    "pfc": ["pfc"],
    "credit": ["credit"],
    "time-based-gfc": ["time-based-gfc"],
    "conceptual-gfc": ["conceptual-gfc"],
    "multi-stage-gfc": ["multi-stage-gfc"],
    "pffc": ["pffc"],
    "bfc": ["bfc"],
}

#: Two hosts overload a third, which is slow besides, and storms.
STUDY = """
title = "overload"
question = "?"
source = "test"
queue_pair.retransmit = "none"
port.pause_response = "ideal"

[run]
duration = "1ms"
allow_loss = true

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "greedy"
dst = "h2"
src = ["h0", "h1"]
class = {cls}

[[fault]]
kind = "slow_receiver"
host = "h2"
rate = "6Gbps"

[[fault]]
kind = "pause_storm"
host = "h2"
class = {cls}
start = "300us"

[buffer]
lossy_pool = "200KB"
size = "4MB"

[variants]
{variants}"""

#: The switch protects class 3, the hosts do not.
DISAGREE = """
[[node]]
names = ["h*"]
buffer = { lossless_classes = 0 }
"""


def outcomes(folder: Path, text: str, cls: int) -> dict[str, tuple[dict[str, float], Path]]:
    """Summary and folder of the run of each chain."""
    variants = [
        f"{name} = {{ flow_control = {json.dumps(chain)} }}\n" for name, chain in CHAINS.items()
    ]
    done, results = run(
        folder, text.replace("{cls}", str(cls)).replace("{variants}", "".join(variants))
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for file in results.rglob("runs/*/summary.json"):
        spec = json.loads((file.parent / "spec.json").read_text(encoding="utf-8"))
        summary = json.loads(file.read_text(encoding="utf-8"))["summary"]
        found[spec["params"]["variant"]] = (summary, file.parent)
    assert found.keys() == CHAINS.keys()
    return found


def test_a_lossy_class_is_as_without_a_flow_control(tmp_path: Path) -> None:
    """The flow table is the same, and what is dropped; only a storm sends frames, in vain."""
    found = outcomes(tmp_path, STUDY, cls=0)
    summary, folder = found[NONE]
    flows = pq.read_table(folder / "flow.parquet")
    assert summary["dropped_lossy_frames"] > 0
    for name, (of_scheme, its) in found.items():
        assert pq.read_table(its / "flow.parquet").equals(flows), name
        assert of_scheme["dropped_lossy_frames"] == summary["dropped_lossy_frames"], name
        assert of_scheme["pause_time_ps"] == of_scheme["blocked_by_host"] == 0, name
        assert of_scheme["control_frames_ignored"] == of_scheme["control_frames_sent"], name
        assert (of_scheme["control_frames_sent"] > 0) == (name == "pfc"), name


def test_who_does_not_protect_a_class_does_not_hold_it_back(tmp_path: Path) -> None:
    """The switch asks the hosts to stop or slow down; they send as without a flow control."""
    found = outcomes(tmp_path, STUDY + DISAGREE, cls=3)
    summary, _ = found[NONE]
    for name, (of_scheme, _) in found.items():
        assert of_scheme["sent_bytes"] == summary["sent_bytes"], name
        # BFC pauses queues by name, and a class that a host does not protect has none there.
        asked = name not in {NONE, "bfc"}
        assert (of_scheme["control_frames_ignored"] > 0) == asked, name
