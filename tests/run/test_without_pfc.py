"""Congestion controls with PFC and without it, in an incast for which the buffer is too small.

DCQCN's suite (`dcqcn-rate`) has its own.
"""

from __future__ import annotations

import json

import pytest

from tests.cli.test_end_to_end import run
from tests.inputs import RUNS

pytestmark = [pytest.mark.cpp, pytest.mark.inputs(*RUNS, "tests/cli/test_end_to_end.py")]

#: Whether each has a window. TIMELY has none: all begin at line rate, and most is lost.
WINDOWS = {"dctcp": True, "hpcc": True, "power-tcp": True, "swift": True, "timely": False}

#: Sixteen hosts send 500 KB each to one. Without PFC a queue has half of the buffer, 180 KB: less
#: than their first windows together (215 KB), but more than TIMELY's T_low (156 KB).
STUDY = """
title = "incast"
question = "?"
source = "test"
agents = ["ecn-marking"]
ecn-marking.parameters = "dctcp_simulator"
dctcp.parameters = "dctcp_simulator"
timely.parameters = "simulator"
port.pause_response = "ideal"

[run]
duration = "50ms"
stop_when_done = true
allow_loss = true
oracle = false

[topology]
kind = "star"
hosts = 17
rate = "25Gbps"
delay = "1us"

[queue_pair]
timeout = "320us"

[[traffic]]
kind = "incast"
dst = "h16"
src = ["h0..h15"]
size = "500KB"

[sweep.scenario.PFC]
flow_control = ["pfc"]
buffer = { size = "2MB", threshold = "static", xoff = "10KB", xon = "8KB" }

[sweep.scenario.lossy]
flow_control = []
buffer = { size = "360KB", lossless_classes = 0, lossy_pool = "360KB" }

[variants]
"""

#: Payload of all flows, and the least time it takes at 25 Gb/s with headers [ps].
PAYLOAD = 16 * 500_000
WIRE = 8000 * 1068 * 320


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, float]]:
    """Summaries by control and scenario."""
    variants = [f'{name} = {{ congestion_control = "{name}" }}\n' for name in WINDOWS]
    done, results = run(tmp_path_factory.mktemp("incast"), STUDY + "".join(variants))
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for file in results.rglob("runs/*/summary.json"):
        spec = json.loads((file.parent / "spec.json").read_text(encoding="utf-8"))
        key = spec["params"]["variant"], spec["params"]["scenario"]
        found[key] = json.loads(file.read_text(encoding="utf-8"))["summary"]
    return found


@pytest.mark.parametrize("control", WINDOWS)
def test_with_pfc_nothing_is_lost_and_every_flow_finishes(
    runs: dict[tuple[str, str], dict[str, float]], control: str
) -> None:
    """With PFC there is nothing to repeat, and the port to the receiver is 80 % busy at least."""
    run = runs[control, "PFC"]
    assert run["dropped_frames"] == run["retransmitted_bytes"] == 0
    assert run["pauses_sent"] > 0
    assert run["flows_unfinished"] == 0
    assert run["sent_bytes"] == run["delivered_bytes"] == PAYLOAD
    assert WIRE < run["last_delivery_ps"] < WIRE / 0.8


@pytest.mark.parametrize("control", WINDOWS)
def test_without_pfc_what_is_lost_is_sent_again_and_every_flow_finishes(
    runs: dict[tuple[str, str], dict[str, float]], control: str
) -> None:
    """After the first burst a window keeps within the buffer: it loses less than a twentieth."""
    run = runs[control, "lossy"]
    assert run["pauses_sent"] == 0
    assert run["dropped_frames"] == run["dropped_lossy_frames"] > 0
    assert run["flows_unfinished"] == 0
    assert run["delivered_bytes"] == PAYLOAD
    assert run["sent_bytes"] == PAYLOAD + run["retransmitted_bytes"] > PAYLOAD
    if WINDOWS[control]:
        assert run["dropped_frames"] < PAYLOAD / 1000 / 20
        assert WIRE < run["last_delivery_ps"] < WIRE / 0.8
