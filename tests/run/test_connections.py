"""Connections of several messages, in whole runs, against closed forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_end_to_end import run

pytestmark = pytest.mark.cpp

STUDY = """
title = "connections"
[run]
duration = "1ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[port]
pause_response = "ideal"
overhead = "0B"
[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h1", size = "20KB" },
  { src = "h2", dst = "h1", size = "1KB", start = "500us" },
  { src = "h0", dst = "h1", size = "10KB" },
  { src = "h0", dst = "h1", size = "10KB", start = "100us" },
]
[variants.Messages]
[variants.Pairs]
traffic.0.connection = "pair"
[variants.Scheduled]
traffic.0.connection = "pair"
run.simulator = "ns3::eventloop::EventLoop"
"""


def test_messages_of_a_pair_follow_each_other(tmp_path: Path) -> None:
    """The second one ends when one of both sizes would; by turns, they end together."""
    import pandas as pd

    done, results = run(tmp_path, STUDY)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for folder in sorted(results.rglob("runs/*/spec.json")):
        text = folder.read_text(encoding="utf-8")
        name = "Scheduled" if "EventLoop" in text else "Pairs" if '"pair"' in text else "Messages"
        found[name] = pd.read_parquet(folder.with_name("flow.parquet")).finish_ps.tolist()
    frame = 1048 * 80  # ps

    def alone(frames: int) -> int:
        return (frames + 1) * frame + 2_000_000

    late = [500_000_000 + alone(1), 100_000_000 + alone(10)]
    assert found["Pairs"] == [alone(20), late[0], alone(30), late[1]]
    assert found["Scheduled"] == found["Pairs"]
    # by turns, but for the first frame's successor, which was ready before the other message began
    assert found["Messages"] == [alone(30), late[0], alone(21), late[1]]
