"""Whole runs through the command line, with the real simulator."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyorch.base.units import parse_rate, parse_time
from pyorch.sizing import theory
from tests.inputs import ROOT, called

#: One sender whose receiver pauses for ever: its queue turns OFF once, and nothing drains.
STUCK = """
title = "stuck"
question = "?"
source = "test"
flow_control = ["pfc"]

[run]
duration = "300us"
allow_loss = {allow_loss}

[topology]
kind = "star"
hosts = 3
rate = "{rate}"
delay = "{delay}"

[port]
control_delay = "{control_delay}"

[buffer]
size = "50MB"
threshold = "static"
xoff = "50KB"
xon = "40KB"
headroom = "{headroom}B"

[[fault]]
kind = "pause_storm"
host = "h2"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
class = 3
start = "20us"

[[traffic]]
kind = "greedy"
src = "h1"
dst = "h0"
class = 3
"""

MIXED = """
title = "mixed"
question = "?"
source = "test"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "300us"
drain = "1ms"
seeds = 2
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "25Gbps"
delay = "1us"
[[traffic]]
kind = "poisson"
workload = "hadoop"
load = 0.6
class = 3
[[trace]]
table = "queue"
classes = [3]
[[trace]]
table = "pause"
classes = [3]
"""

SETTINGS = [
    ("10Gbps", "1us", "0ns"),
    ("100Gbps", "2us", "0ns"),
    ("25Gbps", "500ns", "4us"),
]


def run(folder: Path, text: str, *options: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run an experiment text; returns the finished process and the folder of its runs."""
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return verb(folder, "experiment", str(file), *options)


def verb(folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Call `invoke`; returns the finished process and the folder of its runs."""
    results = folder / "results"
    done = called(
        [sys.executable, "-m", "invoke", *words],
        cwd=ROOT,
        env={**os.environ, "PYORCH_RESULTS": str(results)},
        timeout=300,
    )
    return done, results


def summaries(results: Path) -> list[dict[str, float]]:
    """The summaries of all finished runs."""
    files = sorted(results.rglob("runs/*/summary.json"))
    return [json.loads(file.read_text(encoding="utf-8"))["summary"] for file in files]


def digests(results: Path) -> dict[str, str]:
    """Digest of every file of every run but its log."""
    return {
        str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(results.rglob("runs/*/*"))
        if file.name != "log.txt"
    }


def stuck(setting: tuple[str, str, str], headroom: int, *, allow_loss: bool) -> str:
    """The experiment with a headroom [B]."""
    rate, delay, control_delay = setting
    return STUCK.format(
        rate=rate,
        delay=delay,
        control_delay=control_delay,
        headroom=headroom,
        allow_loss=str(allow_loss).lower(),
    )


@pytest.mark.cpp
@pytest.mark.parametrize("setting", SETTINGS, ids="-".join)
def test_the_most_that_ample_headroom_held_is_the_least_that_loses_nothing(
    tmp_path: Path, setting: tuple[str, str, str]
) -> None:
    """With a byte less a frame is lost, with as much none; eta' is never less."""
    outcomes = {}
    for name, headroom in (("ample", 5_000_000), ("exact", 0), ("less", -1)):
        peak = int(outcomes["ample"]["peak_headroom_bytes"]) if outcomes else 0
        folder = tmp_path / name
        folder.mkdir()
        text = stuck(setting, headroom if not outcomes else peak + headroom, allow_loss=True)
        done, results = run(folder, text)
        assert done.returncode == 0, done.stdout + done.stderr
        (outcomes[name],) = summaries(results)
    ample = outcomes["ample"]
    assert ample["dropped_lossless_frames"] == 0
    assert outcomes["exact"]["dropped_lossless_frames"] == 0
    assert outcomes["less"]["dropped_lossless_frames"] > 0
    rate, delay, control_delay = setting
    eta_prime = theory.eta_prime(
        parse_rate(rate),
        parse_time(delay),
        1048,
        64,
        control_delay_ps=parse_time(control_delay),
    )
    assert ample["sufficient_headroom_bytes"] == eta_prime, "C++ and Python compute the same eta'"
    assert ample["published_headroom_bytes"] == theory.eta(
        parse_rate(rate), parse_time(delay), 1048
    )
    assert 0 < ample["peak_headroom_bytes"] <= eta_prime


@pytest.mark.cpp
def test_a_lost_frame_of_a_lossless_class_fails_the_run(tmp_path: Path) -> None:
    """A link that fails under lossless traffic loses frames: exit code 1, with which and why."""
    text = stuck(SETTINGS[0], 0, allow_loss=False).replace(
        "[port]", 'failures = [{ link = ["h0", "s0"], down = "100us" }]\n\n[port]'
    )
    done, results = run(tmp_path, text)
    assert done.returncode == 1
    assert "dropped" in done.stdout + done.stderr
    assert "allow_loss" in done.stdout + done.stderr
    assert summaries(results) == []


@pytest.mark.cpp
def test_the_same_runs_have_the_same_bytes_however_many_at_a_time(tmp_path: Path) -> None:
    """Poisson traffic under ECMP, two seeds: one at a time, two at a time: identical files."""
    found = []
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        folder.mkdir()
        done, results = run(folder, MIXED, "--jobs", jobs)
        assert done.returncode == 0, done.stdout + done.stderr
        found.append(digests(results))
    assert found[0]
    assert found[0] == found[1]
    one, two = summaries(tmp_path / "1" / "results")
    assert one != two, "another seed is another run"


#: A host that pauses its switch for ever repeats the pause at half of its 1,000 quanta of 51.2 ns.
REFRESHED = """
title = "refreshed"
question = "What do the refreshes of a pause cost?"
source = "test"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "300us"

[topology]
kind = "star"
hosts = 2
rate = "10Gbps"
delay = "1us"

[pfc]
pause_quanta = 1000

[[fault]]
kind = "pause_storm"
host = "h1"
class = 4

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
class = 4

[[trace]]
table = "control"
ports = ["h1:s0"]

[[metric]]
name = "share"
kind = "control_share"
port = "h1:s0"

[[metric]]
name = "peak"
kind = "control_peak"
port = "h1:s0"
window = "25.6us"

[[expect]]
what = "a frame of 84 B on the wire at 0 us and after every 25.6 us"
metric = "share"
expected = 0.002688
absolute = 1e-12
status = "derived"
source = "12 x 84 B x 8 / (10 Gb/s x 300 us)"

[[expect]]
what = "one frame in every span of 25.6 us"
metric = "peak"
expected = 0.002625
absolute = 1e-12
status = "derived"
source = "84 B x 8 / (10 Gb/s x 25.6 us)"
"""


@pytest.mark.cpp
def test_control_frames_are_traced_and_their_share_is_told(tmp_path: Path) -> None:
    """Rows, times and both metrics of a pause and its refreshes."""
    done, results = run(tmp_path, REFRESHED)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs/*/control.parquet")
    table = pq.read_table(file)
    rows = table.to_pydict()
    assert table.schema.field("opcode").type == table.schema.field("classes").type == pa.uint16()
    assert rows["time_ps"] == [25_600_000 * number for number in range(12)]
    assert set(rows["opcode"]) == {0x0101}
    assert set(rows["classes"]) == {1 << 4}
    assert set(rows["bytes"]) == {84}
    assert set(zip(rows["node"], rows["peer"], strict=True)) == {(1, 2)}


@pytest.mark.cpp
def test_only_and_seeds_add_to_a_report(tmp_path: Path) -> None:
    """A report covers what was asked for, and whatever else of the file is done."""
    text = MIXED + '\n[variants]\nA = {}\nB = { port.control_delay = "1us" }\n'
    covered = []
    for options in (
        ("--only", "A"),
        ("--only", "B", "--seed", "9"),
        ("--seeds", "1"),
    ):
        done, results = run(tmp_path, text, *options)
        assert done.returncode == 0, done.stderr
        page = json.loads((results / "study" / "report" / "summary.json").read_text())
        covered.append((page["done"], page["planned"]))
    assert covered == [(2, 2), (3, 3), (4, 4)]
    done, _ = run(tmp_path, text, "--seed", "9", "--seeds", "2")
    assert done.returncode == 2
    assert "--seed: is given together with --seeds" in done.stderr
