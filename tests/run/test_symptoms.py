"""Symptoms that users of simulators and of switches report, in whole runs, with the right values.

Those that the modules' own suites or the tests of remarks have to the picosecond are not here.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pyorch import Study, UserError
from pyorch.base.paths import Paths

pytestmark = pytest.mark.cpp
ROOT = Path(__file__).resolve().parents[2]
US, MS = 10**6, 10**9
FRAME = 8 * 10 * (1000 + 48 + 20)
"""Time of a frame with 1000 B of payload at 100 Gb/s [ps]."""

STAR = """
title = "symptom"
flow_control = ["pfc"]

[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "500ns"

"""


def study(folder: Path, text: str) -> Study:
    """The study of a text, with results of its own."""
    file = folder / "symptom.toml"
    file.write_text(text, encoding="utf-8")
    return Study.load(file, paths=Paths(ROOT, folder / "results"))


def done(folder: Path, text: str) -> Study:
    """The same after its runs."""
    return study(folder, text).run(jobs=1, progress=False)


def packets_by(end: int, apart: int) -> int:
    """How many packets, apart [ps] from each other, have come through a switch by a time [ps]."""
    return (end - 2 * (500_000 + FRAME)) // apart + 1


LOSSY_STORM = (
    STAR
    + """
[run]
duration = "1ms"

[[fault]]
kind = "pause_storm"
host = "h2"
class = 0
start = "100us"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
class = 0
rate_cap = "50Gbps"
"""
)


def test_a_host_that_pauses_a_class_without_pfc_stops_nobody(tmp_path: Path) -> None:
    """Half the line's rate arrives, as without the storm."""
    (run,) = done(tmp_path, LOSSY_STORM).runs.to_dict("records")
    assert run["delivered_bytes"] == 1000 * packets_by(MS, 2 * FRAME)
    assert run["dropped_frames"] == run["blocked_by_host"] == 0
    assert run["control_frames_ignored"] > 0


OVERLOAD = (
    STAR
    + """
[run]
duration = "4ms"

[queue_pair]
retransmit = "none"

[[traffic]]
kind = "greedy"
class = 0
dst = "h2"
each = [{ src = "h0", rate_cap = "90Gbps" }, { src = "h1", rate_cap = "30Gbps" }]
"""
)


def test_what_a_full_link_carries_counts_without_loss_recovery(tmp_path: Path) -> None:
    """Its last link is never idle, so what arrives is what it carries; in order comes less."""
    (run,) = done(tmp_path, OVERLOAD).runs.to_dict("records")
    assert run["delivered_bytes"] == 1000 * packets_by(4 * MS, FRAME)
    assert 0 < run["in_order_bytes"] < run["delivered_bytes"] / 2


BESIDE = (
    STAR
    + """
[run]
duration = "6ms"
warmup = "2ms"

[buffer]
lossless_classes = 24

[port]
class_service = "dwrr"

[queue_pair]
retransmit = "none"

[[traffic]]
kind = "greedy"
dst = "h2"
each = [
    { src = "h0", class = 3, rate_cap = "20Gbps", label = "lossless" },
    { src = "h1", class = 4, rate_cap = "10Gbps", label = "lossless" },
    { src = ["h0", "h1"], class = 1, rate_cap = "20Gbps", label = "lossy" },
    { src = ["h0", "h1"], class = 1, rate_cap = "20Gbps", label = "more lossy" },
]

[[metric]]
kind = "goodput"
each = [
    { name = "all" },
    { name = "lossless", traffic = ["lossless"] },
    { name = "lossy", traffic = ["lossy", "more lossy"] },
]
"""
)


def test_lossy_traffic_beside_lossless_loses_what_does_not_fit(tmp_path: Path) -> None:
    """Of 80 % of a link, beside 30 % in lossless classes, an eighth; who loses is chance."""
    of_study = done(tmp_path, BESIDE)
    (run,) = of_study.runs.to_dict("records")
    payload = 1000 / 1068 * 1e9
    for name, rate in (("all", 100), ("lossless", 30), ("lossy", 70)):
        assert run[name] == pytest.approx(rate * payload, rel=1e-3), name
    assert run["dropped_lossless_frames"] == 0
    assert any("a matter of phase" in text for text in of_study.remarks)


LOCKED_OUT = (
    STAR.replace("100Gbps", "25Gbps")
    + """
[run]
duration = "10ms"
allow_loss = true

[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"

[variants.lossless]

[variants.lossy]
flow_control = []
buffer = { lossless_classes = 0, lossy_pool = "1MB", size = "2MB" }
queue_pair = { retransmit = "none" }

[variants.scheduled]
extends = "lossy"
run = { simulator = "ns3::eventloop::EventLoop" }
"""
)


def test_equal_senders_share_a_queue_unless_ties_go_by_the_order_of_scheduling(
    tmp_path: Path,
) -> None:
    """Frames that arrive at once are accepted in an order that is drawn anew each time.

    In the order of scheduling the same sender always comes first: of two into a lossy queue it
    gets all that leaves, once the queue is full.
    """
    of_study = done(tmp_path, LOCKED_OUT)
    flows = of_study.table("flow").set_index(["variant", "flow"]).delivered_bytes
    assert flows["lossless", 0] == pytest.approx(flows["lossless", 1], rel=1e-3)
    assert flows["lossy", 0] == pytest.approx(flows["lossy", 1], rel=0.02)
    assert min(flows["scheduled"]) < max(flows["scheduled"]) / 50
    (text,) = (text for text in of_study.remarks if "a matter of phase" in text)
    assert "in 2 of 3 runs (lossy, scheduled)" in text


DETOUR = """
title = "symptom"
flow_control = ["pfc"]
congestion_control = "hpcc"
port.pause_response = "ideal"

[run]
duration = "4ms"
allow_loss = true

[topology]
kind = "ring"
switches = 8
rate = "100Gbps"
delay = "500ns"
failures = [{ link = ["s0", "s1"], down = "1ms", up = "3ms" }]

[queue_pair]
timeout = "200us"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"

[[trace]]
table = "rate"
period = "100us"
ports = ["s1:h1"]
classes = [3]
"""


@pytest.mark.parametrize(("settings", "share"), [("", 0.95), ("hpcc.base_rtt = '3200ns'\n", 0.35)])
def test_hpcc_keeps_its_rate_on_a_detour_unless_its_base_rtt_is_fixed(
    tmp_path: Path, settings: str, share: float
) -> None:
    """From 2 switches to 8 and back; T of the short path fills a third of the long one."""
    of_study = done(tmp_path, settings + DETOUR)
    rates: pd.Series[float] = of_study.table("rate").set_index("time_ps").tx_bytes * 8 / 100e-6
    assert rates.loc[500 * US : MS].mean() == pytest.approx(0.95e11, rel=0.01)
    assert rates.loc[1500 * US : 3 * MS].mean() == pytest.approx(share * 1e11, rel=0.1)
    assert rates.loc[3500 * US : 4 * MS].mean() == pytest.approx(0.95e11, rel=0.01)
    frame = 8 * (1000 + 48 + 20 + 2 + 5 * 8)  # with room for the telemetry of 5 switches
    missed = of_study.runs.telemetry_missed_frames.iloc[0]
    assert missed * frame == pytest.approx(2e-3 * share * 1e11, rel=0.1)


BARRIER = (
    STAR
    + '''
[run]
duration = "1ms"
stop_when_done = true

[[traffic]]
kind = "goal"
connection = "message"
schedule = """
num_ranks 2
rank 0 {
a: send 0b to 1 tag 1
b: recv 0b from 1 tag 2
}
rank 1 {
a: recv 0b from 0 tag 1
b: send 0b to 0 tag 2
b requires a
}
"""
'''
)


def test_an_empty_message_of_a_schedule_is_the_smallest_frame(tmp_path: Path) -> None:
    """A barrier takes twice the way of 84 B on two links; the first one's ACK goes before."""
    flows = done(tmp_path, BARRIER).table("flow")
    smallest = 84 * 80
    way = 2 * (500_000 + smallest)
    assert sorted(flows.finish_ps) == [way, 2 * way + smallest]
    assert set(flows.size_bytes) == {1}


def test_an_empty_message_by_itself_is_refused(tmp_path: Path) -> None:
    """0 B would mean an endless flow."""
    text = '[run]\nduration = "1ms"\n\n[[traffic]]\nkind = "messages"\n'
    text += 'messages = [{ src = "h0", dst = "h1", size = "0B" }]\n'
    with pytest.raises(UserError, match=r"messages\[0\]\.size: '0B' is not allowed"):
        study(tmp_path, STAR + text).plan()


ALONE = (
    STAR.replace("500ns", "250us")
    + """
[run]
duration = "30ms"
warmup = "20ms"

[buffer]
size = "200MB"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"

[variants]
HPCC = { congestion_control = "hpcc" }
TIMELY = { congestion_control = "timely" }
Swift = { congestion_control = "swift" }

[[metric]]
name = "goodput"
kind = "goodput"
"""
)


def test_who_is_warned_of_a_long_path_gets_little_on_it(tmp_path: Path) -> None:
    """A flow alone on a path whose base round trip is above the thresholds of two of three."""
    of_study = done(tmp_path, ALONE)
    warned = {text.split(")")[0].split("(")[1] for text in of_study.remarks if "round trip" in text}
    assert warned == {"TIMELY", "Swift"}
    goodput = of_study.runs.set_index("variant").goodput
    assert goodput["HPCC"] == pytest.approx(0.95e11 * 1000 / 1110, rel=0.05)
    assert max(goodput["TIMELY"], goodput["Swift"]) < goodput["HPCC"] / 5
