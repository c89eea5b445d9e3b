"""Link-level retry in whole runs: nothing is lost, and a closed form of what errors cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_end_to_end import run
from tests.run.test_real_links import head, of_runs

pytestmark = pytest.mark.cpp

CROWDED = """
flow_control = ["pfc", "llr"]
title = "retry"
[run]
duration = "200us"
drain = "20ms"
stop_when_done = true
simulator = "{simulator}"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
rate = "100Gbps"
delay = "400ns"
[buffer]
size = "4MB"
threshold = "static"
xoff = "40KB"
xon = "30KB"
headroom = "150KB"
[port]
pause_response = "ideal"
bit_error_rate = 1e-6
loss_rate = 0.002
[llr]
protect_control = true
initial_sequence = 1048000
[[traffic]]
kind = "poisson"
load = 0.5
workload = "hadoop"
[[traffic]]
kind = "incast"
dst = "h0"
degree = 5
size = "100KB"
[[trace]]
table = "llr"
ports = ["leaf0:h0"]
classes = [3]
"""


def test_a_fabric_with_retry_loses_nothing(tmp_path: Path) -> None:
    """Of frames of which one in a hundred is damaged, under every event loop."""
    found = {}
    for loop in ("eventloop::EventLoop", "DefaultSimulatorImpl", "eventloop::CellLoop"):
        folder = tmp_path / loop.replace(":", "-")
        folder.mkdir()
        (one,) = of_runs(folder, CROWDED.replace("{simulator}", f"ns3::{loop}"))
        assert one["flows_finished"] == one["flows_total"] > 10
        for nothing in ("dropped_frames", "reordered_frames", "retransmitted_bytes", "timeouts"):
            assert one[nothing] == 0, nothing
        assert one["llr_replays"] > 100
        assert one["llr_timeouts"] > 0
        assert one["pauses_sent"] > 0
        assert one["llr_peak_replay_bytes"] <= one["llr_max_bytes"]
        found[loop] = one
    first, second, _ = found.values()
    assert first["end_ps"] == second["end_ps"]
    assert first["llr_frames_repeated"] == second["llr_frames_repeated"]
    assert next((tmp_path / "eventloop--EventLoop").rglob("runs/*/llr.parquet")).stat().st_size > 0


ONE_LINK = """
[buffer]
size = "64MB"
[llr]
ack_spacing = "400B"
latency = "300ns"
{more}
[[node]]
names = ["h0:s0"]
port = { bit_error_rate = {rate} }
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
[[metric]]
name = "goodput"
kind = "goodput"
"""


def one_link(folder: Path, rate: float, more: str = "") -> dict[str, float]:
    """A greedy flow of frames of 1048 B over a link of 100 Gb/s that errs."""
    folder.mkdir()
    text = 'flow_control = ["pfc", "llr"]\n' + head("10ms", "100us", 2, "100Gbps", "500ns")
    (found,) = of_runs(folder, text + ONE_LINK.replace("{rate}", f"{rate}").replace("{more}", more))
    return found


def test_goodput_is_that_of_the_closed_form(tmp_path: Path) -> None:
    """A damaged frame costs the time from its start to its replay.

    That is the frame itself; its way; the NACK, as ACKs of frames (85.44 ns) do not fill their
    spacing (32 ns); its way, and the latency; half a frame in transmission. The next frame may be
    damaged, too, and so may the replay, which then costs as much (if its NACK is sent: one of a
    replay is not, and the timer's three loops and 500 ns pass).
    """
    wire, bits = 1068 * 0.08, 1048 * 8  # ns, bits
    for rate in (1e-6, 3e-6):
        found = one_link(tmp_path / f"{rate}", rate)
        wrong = 1 - (1 - rate) ** bits
        cost = wire + 2 * 500 + 300 + 0.64 + wire / 2
        loop = 2 * 500 + 300 + 408 * 0.08
        again = wire + 3 * loop + 500
        mean = wire + wrong * (cost + wrong / (1 - wrong) * again)
        assert found["llr_replays"] > 500
        assert found["goodput"] == pytest.approx(1000 * 8 / mean * 1e9, rel=0.02)
        assert found["dropped_frames"] == found["retransmitted_bytes"] == 0


FLUSHED = """
[buffer]
size = "64MB"
[queue_pair]
payload_size = "4096B"
retransmit = "selective"
timeout = "1ms"
[port]
loss_rate = 0.01
[llr]
replay_count = 1
replay_timer = "3.1us"
reinitialize = true
new_frames = "{frames}"
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
[[trace]]
table = "llr"
"""


@pytest.mark.parametrize("frames", ["block", "best_effort"])
def test_a_flush_is_followed_by_one_initialisation(tmp_path: Path, frames: str) -> None:
    """INIT is sent once for each flush where no message is damaged, just above the loop, too."""
    text = 'flow_control = ["pfc", "llr"]\n' + head("5ms", "100us", 2, "400Gbps", "1.5us")
    text = text.replace("[run]", "[run]\nallow_loss = true")
    (found,) = of_runs(tmp_path, text + FLUSHED.replace("{frames}", frames))
    assert found["llr_messages_damaged"] == 0
    assert found["llr_flushes"] > 20
    assert found["llr_inits_sent"] == found["llr_flushes"]


def test_the_loop_is_that_of_the_answers(tmp_path: Path) -> None:
    """The other end spaces and delays them: an end with other settings causes no time-outs."""
    for key in ('ack_spacing = "16384B"', 'latency = "20us"'):
        node = f'[[node]]\nnames = ["s0"]\nllr = {{ {key} }}'
        found = one_link(tmp_path / key[:3], 0, node)
        assert found["llr_timeouts"] == 0
        assert found["goodput"] == pytest.approx(100e9 * 1000 / 1068, rel=0.02)


def test_a_replay_buffer_limits_the_rate(tmp_path: Path) -> None:
    """To its frames in the time from the start of one to the effect of its ACK."""
    for frames in (1, 4, 10):
        found = one_link(tmp_path / f"{frames}", 0, f'max_bytes = "{frames * 1048}B"')
        cycle = 1068 * 0.08 + 2 * 500 + 300 + 0.64
        assert found["goodput"] == pytest.approx(frames * 8000 / cycle * 1e9, rel=0.001)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('max_bytes = "1000B"', "MaxBytes 1000 B is below the largest frame, 1048 B"),
        ('replay_timer = "1us"', "ReplayTimer 1000 ns is shorter than the loop, 1164 ns"),
        ('replay_count = 3\nnew_frames = "block"', "stops the link for ever after a flush"),
        ("max_frames = 524289", "max_frames"),
        ('ack_spacing = "200B"', "ack_spacing"),
        (
            '[port]\npause_response = "ideal"\n[buffer]\nheadroom = "25KB"',
            "Llr: and 10402 B that the peer may still replay",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path: Path, keys: str, message: str) -> None:
    """Before the run, with what to do."""
    text = 'flow_control = ["pfc", "llr"]\n' + head("1ms", "0us", 2, "100Gbps", "500ns")
    traffic = '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
    done, _ = run(tmp_path, text + f"[llr]\n{keys}\n" + traffic)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
