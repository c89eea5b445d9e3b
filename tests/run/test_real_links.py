"""Links as they are, in whole runs, against closed forms and what others measured or require."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.cli.test_end_to_end import run, summaries

pytestmark = pytest.mark.cpp

HEAD = """
title = "real links"
[run]
duration = "{duration}"
warmup = "{warmup}"
[topology]
kind = "star"
hosts = {hosts}
rate = "{rate}"
delay = "{delay}"
"""


def head(duration: str, warmup: str, hosts: int, rate: str, delay: str) -> str:
    """A star and a run."""
    return HEAD.format(duration=duration, warmup=warmup, hosts=hosts, rate=rate, delay=delay)


WEIGHTED = """
[buffer]
size = "64MB"
lossless_classes = 24
lossy_pool = "8MB"
[port]
pause_response = "ideal"
class_service = "dwrr"
weights = { 3 = 2 }
[queue_pair]
payload_size = "4096B"
parameters = "roce"
retransmit = "none"
[[traffic]]
kind = "greedy"
dst = "h2"
each = [
  { src = "h0", class = 3 },
  { src = "h1", class = 4 },
  { src = "h3", class = 0, rate_cap = "200Gbps" },
  { src = "h3", class = 5, rate_cap = "200Gbps" },
]
[[trace]]
table = "rate"
period = "100us"
ports = ["s0:h2"]
[[metric]]
kind = "rate_mean"
port = "s0:h2"
direction = "tx"
each = [{ name = "c0", class = 0 }, { name = "c3", class = 3 }, { name = "c4", class = 4 },
        { name = "c5", class = 5 }]
"""


def of_runs(folder: Path, text: str) -> list[dict[str, float]]:
    """The metrics and summaries of all runs of a study."""
    import pandas as pd

    done, results = run(folder, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    metrics = pd.read_parquet(file).to_dict("records")
    return [one | other for one, other in zip(metrics, summaries(results), strict=True)]


def test_shares_by_weight_are_those_of_a_switch(tmp_path: Path) -> None:
    """2:1:1:1 of 400G: 159.235 and 79.617 Gb/s of frames (sonic-net/sonic-mgmt#25347)."""
    text = 'flow_control = ["pfc"]\n' + head("3ms", "1ms", 4, "400Gbps", "50ns") + WEIGHTED
    (found,) = of_runs(tmp_path, text)
    frames = {name: found[name] * 4158 / 4178 for name in ("c0", "c3", "c4", "c5")}
    assert frames["c3"] == pytest.approx(159.235e9, rel=0.0005)
    for name in ("c0", "c4", "c5"):
        assert frames[name] == pytest.approx(79.617e9, rel=0.0005), name
    assert found["dropped_lossless_frames"] == 0


LATE = """
[queue_pair]
payload_size = "1434B"
header_size = "66B"
[buffer]
size = "64MB"
threshold = "static"
xoff = "200KB"
xon = "190KB"
{headroom}
[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"
"""


def test_who_obeys_as_late_as_the_standard_allows_needs_more_headroom(tmp_path: Path) -> None:
    """At 400G nothing is lost with what is proposed for 905 quanta, and 10,964 B are too little."""
    start = 'flow_control = ["pfc"]\n' + head("500us", "0us", 3, "400Gbps", "25ns")
    (enough,) = of_runs(tmp_path, start + LATE.replace("{headroom}", ""))
    assert enough["dropped_frames"] == 0
    assert enough["pauses_sent"] > 0
    less = start.replace("[run]", "[run]\nallow_loss = true")
    folder = tmp_path / "less"
    folder.mkdir()
    (little,) = of_runs(folder, less + LATE.replace("{headroom}", 'headroom = "10964B"'))
    assert little["dropped_headroom_frames"] > 1000


ERRING = """
[[node]]
names = ["h0:s0"]
port = { bit_error_rate = 1e-6 }
[[node]]
names = ["s0:h2"]
port = { loss_rate = 0.01 }
[queue_pair]
retransmit = "none"
[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = ["h1", "h2"]
"""


def test_errors_are_those_of_their_link_and_direction(tmp_path: Path) -> None:
    """The closed form of each link; the run succeeds, and no switch has lost a lossless frame."""
    text = 'flow_control = ["pfc"]\n' + head("4ms", "0us", 3, "100Gbps", "500ns")
    text = text.replace("[run]", "[run]\nseeds = 2")
    found = of_runs(tmp_path, text + ERRING)
    for one in found:
        frames = one["sent_bytes"] / 1000 / 2  # of each flow
        wrong = 1 - (1 - 1e-6) ** (8 * 1048)
        mean = frames * (wrong + 0.01)
        deviation = math.sqrt(frames * (wrong + 0.01))
        assert one["dropped_corrupted_frames"] == pytest.approx(mean, abs=4 * deviation)
        assert one["dropped_frames"] == one["dropped_corrupted_frames"]
        assert one["dropped_lossless_frames"] == 0
    assert found[0]["dropped_frames"] != found[1]["dropped_frames"]


def test_links_without_errors_do_not_count_them(tmp_path: Path) -> None:
    """The summary of a run is as it was."""
    text = 'flow_control = ["pfc"]\n' + head("1ms", "0us", 3, "10Gbps", "1us")
    traffic = '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
    (found,) = of_runs(tmp_path, text + traffic)
    assert "dropped_corrupted_frames" not in found


EQUALS = """
lossless_classes = 24
[port]
pause_response = "ideal"
class_service = "dwrr"
clock_tolerance = 100
[host]
pacing_jitter = 0.1
[queue_pair]
retransmit = "none"
[[traffic]]
kind = "greedy"
dst = "h2"
start_jitter = "10us"
each = [
 { src = "h0", class = 3, rate_cap = "20Gbps" },
 { src = "h1", class = 4, rate_cap = "10Gbps" },
 { src = "h0", class = 1, rate_cap = "20Gbps" },
 { src = "h0", class = 1, rate_cap = "20Gbps" },
 { src = "h1", class = 1, rate_cap = "20Gbps" },
 { src = "h1", class = 1, rate_cap = "20Gbps" },
]
"""


def losses(folder: Path, text: str) -> list[list[float]]:
    """The share that each lossy flow loses, by run."""
    import pandas as pd

    done, results = run(folder, text)
    assert done.returncode == 0, done.stdout + done.stderr
    found = []
    for file in sorted(results.rglob("runs/*/flow.parquet")):
        flows = pd.read_parquet(file)
        lost = 1 - flows.delivered_bytes / flows.sent_bytes
        found.append([float(one) for one in lost[2:]])
    return found


def test_equal_senders_do_not_stay_in_step(tmp_path: Path) -> None:
    """80 Gb/s of 70 are offered: each of four flows loses 12.5 % +- 1.5 %, as a test requires."""
    start = 'flow_control = ["pfc"]\n' + head("40ms", "0us", 3, "100Gbps", "500ns")
    start = start.replace("[run]", "[run]\nseeds = 3")
    for shares in losses(tmp_path, start + "[buffer]\n" + EQUALS):
        assert shares == pytest.approx([0.125] * 4, abs=0.015)


def test_nominal_rates_hold_with_clocks(tmp_path: Path) -> None:
    """A clock 100 millionths fast sends so much more, and one that is slow so much less."""
    text = head("10ms", "0us", 3, "10Gbps", "0us")
    text += '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
    sent = {}
    for offset in (0, 1000, -1000):
        folder = tmp_path / str(offset)
        folder.mkdir()
        port = f'[[node]]\nnames = "h0"\nport = {{ clock_offset = {offset} }}\n'
        (found,) = of_runs(folder, 'flow_control = ["pfc"]\n' + text + port)
        sent[offset] = found["sent_bytes"]
    # the switch's port to h1 limits what a faster sender can deliver, and pauses it
    assert sent[-1000] == pytest.approx(0.999 * sent[0], rel=1e-4)
    assert sent[0] <= sent[1000] <= sent[0] + 200_000
