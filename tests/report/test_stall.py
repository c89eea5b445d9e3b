"""The report on a run without progress: since when, and what waits for what."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from pyorch.remarks.stall import explain
from pyorch.traffic.base import POINT, Waits
from tests.cli.test_end_to_end import ROOT, run
from tests.inputs import called

NAMES = ["h0", "h1", "h2", "h3", "s0"]


def table(*rows: tuple[int, int, int, int, int, int]) -> dict[str, np.ndarray]:
    """A table of flows: src, dst, size, start, finish, delivered."""
    keys = ("src", "dst", "size_bytes", "start_ps", "finish_ps", "delivered_bytes")
    return dict(zip(keys, np.array(rows, dtype=np.int64).T, strict=True))


def test_who_waits_for_whom_is_told_through_points() -> None:
    """One is in flight, two wait for it, one of them by a point; arrivals are not listed."""
    flow = table(
        (0, 1, 1000, 0, 9, 1000),
        (1, 2, 8000, 5, -1, 2000),
        (2, 3, 1000, -1, -1, 0),
        (3, 0, 1000, -1, -1, 0),
    )
    waits = Waits(
        np.array([2, 2, POINT, 3], np.uint32),
        np.array([0, 1, 1, POINT], np.uint32),
        np.zeros(4, np.int64),
        1,
    )
    numbers = {"last_delivery_ps": 10**6, "end_ps": 10**8}
    assert explain(NAMES, flow, waits, numbers) == (
        "no progress after 1 us of 100 us; 1 message is in flight (h1 to h2 has 2 KB of 8 KB), "
        "2 not started: they wait (h2 to h3 for h1 to h2; h3 to h0 for h1 to h2)"
    )
    late = explain(NAMES, flow, waits, numbers | {"last_delivery_ps": 95 * 10**6})
    assert late.startswith("data still arrived when the run ended at 100 us; 1 message is in")
    assert explain(NAMES, table((0, 1, 1000, 0, 9, 1000)), None, numbers) == ""
    never = explain(NAMES, table((0, 1, 1000, 0, -1, 0)), None, {"end_ps": 10**6})
    assert never.startswith("nothing arrived until the end at 1 us; 1 message is in flight")


DEADLOCK = """
title = "a deadlock under collectives"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "2ms"
stop_when_done = true
[topology]
kind = "ring"
switches = 3
rate = "10Gbps"
delay = "1us"
[buffer]
size = "2MB"
threshold = "static"
xoff = "30KB"
xon = "27KB"
[[traffic]]
kind = "messages"
label = "job"
messages = [
  { src = "h0", dst = "h2", size = "5MB", path = "h0 > s0 > s1 > s2 > h2", id = "a" },
  { src = "h1", dst = "h0", size = "5MB", path = "h1 > s1 > s2 > s0 > h0", id = "b" },
  { src = "h2", dst = "h1", size = "5MB", path = "h2 > s2 > s0 > s1 > h1", id = "c" },
  { src = "h1", dst = "h2", size = "1KB", after = ["c"] },
]
"""


@pytest.mark.cpp
def test_a_deadlock_is_told_with_who_waits(tmp_path: Path) -> None:
    """Three messages go round, hold each other back, and a fourth waits for one of them."""
    done, _ = run(tmp_path, DEADLOCK)
    assert "deadlock:" in done.stderr
    (line,) = [one for one in done.stderr.splitlines() if "no progress after" in one]
    assert "of 2 ms; 3 messages are in flight (h0 to h2 has " in line
    assert line.endswith("1 not started: they wait (h1 to h2 for h2 to h1)")


RING = """
title = "a host that takes nothing"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "200us"
stop_when_done = true
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "collective"
label = "job"
hosts = ["h1", "h2", "h0"]
repeat = 2
[[traffic.collectives]]
name = "warm-up"
operation = "broadcast"
size = "9KB"
[[traffic.collectives]]
name = "gradients"
operation = "all_gather"
size = "3MB"
after = ["warm-up"]
[[fault]]
kind = "pause_storm"
host = "h1"
start = "20us"
"""


@pytest.mark.cpp
def test_a_rank_of_a_job_is_told_with_its_collective(tmp_path: Path) -> None:
    """A ring h1, h2, h0: h1 takes nothing, so that h0 cannot send to it; all else waits for that.

    In the second step h1 would pass on what h0 sent, and h0 wait for h1.
    """
    done, _ = run(tmp_path, RING)
    (line,) = [one for one in done.stderr.splitlines() if " in flight" in one]
    assert "(h0 to h1 (gradients, round 1) has " in line
    assert "h1 to h2 (gradients, round 1) for h0 to h1 (gradients, round 1)" in line
    assert "(warm-up, round 2) for h0 to h1 (gradients, round 1)" in line


@pytest.mark.cpp
def test_a_receive_without_a_send_is_refused_before_it_can_hang(tmp_path: Path) -> None:
    """With the line, and who would wait."""
    text = """
title = "a receive without a send"
run.duration = "1ms"
topology = { kind = "star", hosts = 2, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "goal"
connection = "message"
file = "job.goal"
"""
    (tmp_path / "job.goal").write_text(
        "num_ranks 2\nrank 0 {\n a: calc 5\n}\nrank 1 {\n r: recv 100b from 0 tag 7\n}\n"
    )
    done, _ = run(tmp_path, text)
    assert done.returncode == 2
    assert "job.goal, line 6: " in done.stderr


#: Two of the three do not go round; a source without an end goes on when they have arrived.
FREE = DEADLOCK.replace('  { src = "h2"', '  # { src = "h2"').replace(
    'after = ["c"]', 'after = ["b"]'
)
FREE = FREE.replace("stop_when_done = true", "stop_when_done = false")
FREE = FREE.replace("5MB", "500KB") + '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
SLICE_PS = 20 * 10**6


@pytest.mark.cpp
def test_a_stall_is_seen_while_the_run_goes_on(tmp_path: Path) -> None:
    """In the heartbeat of a deadlock, from a tenth of the time on, and in no other."""
    (tmp_path / "deadlock.toml").write_text(DEADLOCK)
    (tmp_path / "free.toml").write_text(FREE)
    code = f"""
import json, pyorch, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from pyorch.base.paths import RunPaths
from pyorch.engine.progress import read_running
from pyorch.run.simulate import heartbeat_of
folder = RunPaths(Path("."))
for name in ("deadlock", "free"):
    run, seen = pyorch.Study.load(name + ".toml").open(), []
    heart = heartbeat_of(run.simulation, run.spec.setting.run, folder)
    for number in range(1, 101):
        run.advance(str(20 * number) + "us")
        heart.beat()
        found = read_running(folder.heartbeat)
        seen.append((found.now, found.stalled))
    print(json.dumps([seen, run.summary["last_delivery_ps"], run.summary["flows_unfinished"]]))
    del heart  # it refers to the simulation, of which there is one at a time
"""
    done = called([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    deadlock, free = (json.loads(line) for line in done.stdout.splitlines()[-2:])
    seen, last, unfinished = deadlock
    assert unfinished == 4
    for now, stalled in seen:
        before = -(-last // SLICE_PS) * SLICE_PS  # the first look after the last arrival
        assert stalled == (now - before if now - before >= 0.1 * now else 0)
    assert seen[-1][1] > 1.8e9
    seen, last, unfinished = free
    assert unfinished == 0
    assert last > 1.9e9  # of the flow without an end
    assert [stalled for _, stalled in seen] == [0] * 100
