"""Lost time: chains, pauses, collisions, stragglers and fairness, against hand-made cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.metrics import RunTables, parse
from pyorch.metrics.chain import Crossing, Drawn, Hold, chain_of, losses_of
from pyorch.metrics.losses import Chain, lost_of
from pyorch.report.figures import lost
from pyorch.report.figures.lost import Loss
from tests.cli.test_end_to_end import run
from tests.forms import setting_of
from tests.jobs.test_collectives import ACK, PACKET, US, inline
from tests.strategies import ROOT
from tests.traffic.test_traffic import MS, STAR, resolve


def numbers(*values: int) -> np.ndarray:
    """An array of times."""
    return np.array(values, dtype=np.int64)


def test_the_chain_goes_back_through_what_was_waited_for_longest() -> None:
    """Three messages, of which the last waits for the slower of two; the steps add up."""
    messages = [
        {"src": "h0", "dst": "h1", "size": "1KB", "id": "a", "start": "1us"},
        {"src": "h0", "dst": "h2", "size": "1KB", "id": "b"},
        {"src": "h1", "dst": "h3", "size": "1KB", "after": ["a", "b"], "delay": "2us"},
    ]
    entry = resolve({"kind": "messages", "messages": messages})[0]
    assert entry is not None
    starts, ends = numbers(US, 0, 9 * US), numbers(4 * US, 7 * US, 12 * US)
    steps = chain_of(entry, STAR, Drawn(1, 0, MS), starts, ends)
    assert [(step.flow, step.computed, step.late) for step in steps] == [
        (1, 0, 0),
        (2, 2 * US, 0),
    ]
    spans = sum(ends[step.flow] - starts[step.flow] + step.computed for step in steps)
    assert spans == 12 * US


#: A flow over hops 0 to 2 at 10 Gb/s from 0 to 100 ps; the table `flow_link` has it at each.
WAY = [Crossing(0, 10, 0, 0, 100), Crossing(10, 11, 1, 0, 100), Crossing(11, 1, 2, 0, 100)]
RATES = {(0, 10): 10**10, (10, 11): 10**10, (11, 1): 10**10}
ALONE = (numbers(0), numbers(100))


def crowd(*spans: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Times of the flow itself and of others at an egress."""
    return numbers(*sorted([0, *(a for a, _ in spans)])), numbers(
        *sorted([100, *(b for _, b in spans)])
    )


def test_what_is_lost_is_divided_by_the_shares_that_others_take() -> None:
    """One more between switches for 40 ps takes 20 ps of them, one at the end for 20 ps 10."""
    others = {(0, 10): ALONE, (10, 11): crowd((30, 70)), (11, 1): ALONE}
    lost = losses_of(60, (0, 100), WAY, {}, others, RATES)
    assert lost.collisions == {(10, 11): pytest.approx(60)}
    assert lost.sharing == pytest.approx(0)
    others[11, 1] = crowd((80, 100))
    lost = losses_of(60, (0, 100), WAY, {}, others, RATES)
    assert lost.collisions == {(10, 11): pytest.approx(40)}
    assert lost.sharing == pytest.approx(20)
    # what the flow would have shared at its own end anyway is no collision: 1/2, and 1/3 of it
    others[10, 11], others[11, 1] = crowd((30, 60), (30, 60)), crowd((30, 60))
    lost = losses_of(60, (0, 100), WAY, {}, others, RATES)
    assert lost.collisions == {(10, 11): pytest.approx(60 * (1 / 6) / (1 / 6 + 1 / 2))}
    others[11, 1] = others[10, 11]
    lost = losses_of(60, (0, 100), WAY, {}, others, RATES)
    assert (lost.collisions, lost.sharing) == ({}, 60)


def test_alone_on_a_thin_uplink_nothing_collides() -> None:
    """An uplink of half the NIC's rate halves that of a lone flow; a second one halves it again."""
    rates = RATES | {(10, 11): 5 * 10**9}
    others = {(0, 10): ALONE, (10, 11): ALONE, (11, 1): ALONE}
    lost = losses_of(60, (0, 100), WAY, {}, others, rates)
    assert (lost.collisions, lost.sharing) == ({}, 60)
    # half of the NIC is as much as the uplink carries
    others[0, 10] = crowd((0, 100))
    assert losses_of(60, (0, 100), WAY, {}, others, rates).sharing == 60
    # in 40 of 100 ps one more takes half of the uplink; with three at the NIC, that has the half
    others[10, 11] = crowd((30, 70))
    lost = losses_of(20, (0, 100), WAY, {}, others, rates)
    assert lost.collisions == {(10, 11): pytest.approx(20)}
    others[0, 10] = crowd(*[(0, 100)] * 3)
    lost = losses_of(20, (0, 100), WAY, {}, others, rates)
    assert (lost.collisions, lost.sharing) == ({}, 20)


def test_spraying_has_the_shares_of_all_its_ways() -> None:
    """Two ways with one more flow on each: twice a half, and nothing is lost there."""
    two = [*WAY, Crossing(10, 12, 1, 0, 100)]
    others = {(0, 10): ALONE, (10, 11): crowd((0, 100)), (10, 12): crowd((0, 100))}
    others[11, 1] = ALONE
    rates = RATES | {(10, 12): 10**10}
    assert losses_of(50, (0, 100), two, {}, others, rates).collisions == {}
    # with three more on each, half of the rate is, evenly
    others[10, 11] = others[10, 12] = crowd((0, 100), (0, 100), (0, 100))
    lost = losses_of(50, (0, 100), two, {}, others, rates)
    assert lost.collisions == {(10, 11): pytest.approx(25), (10, 12): pytest.approx(25)}


def test_a_pause_counts_once_and_for_its_root() -> None:
    """Two egresses held back by one tree, one of them longer by another; no collision meanwhile."""
    holds = {
        (0, 10): [Hold(20, 60, 2, (11, 5))],
        (10, 11): [Hold(10, 50, 1, (11, 5)), Hold(55, 80, 0, (10, 11))],
    }
    others = {(0, 10): ALONE, (10, 11): crowd((0, 60)), (11, 1): ALONE}
    lost = losses_of(90, (0, 100), WAY, holds, others, RATES)
    # from 10 to 55 the first tree, from 55 to 80 the other, which is nearer to its root
    assert lost.pauses == {(11, 5): 45, (10, 11): 25}
    assert lost.collisions == {(10, 11): pytest.approx(20)}
    assert lost.sharing == pytest.approx(0)
    # what was made up for is not lost
    half = losses_of(35, (0, 100), WAY, holds, others, RATES)
    assert half.pauses == {(11, 5): pytest.approx(22.5), (10, 11): pytest.approx(12.5)}
    assert (sum(half.collisions.values()), half.sharing) == (pytest.approx(0), pytest.approx(0))


def test_a_job_that_did_not_end_is_followed_to_the_end_of_the_run() -> None:
    """To the flow that lacks most: 1/4 of it, 2 of 8 us, came in 40 us, so it lost 38."""
    messages = [
        {"src": "h0", "dst": "h1", "size": "8KB", "id": "a"},
        {"src": "h1", "dst": "h3", "size": "8KB", "after": ["a"], "delay": "2us"},
        {"src": "h2", "dst": "h3", "size": "8KB"},
        {"src": "h3", "dst": "h0", "size": "8KB", "after": ["a"], "delay": "500us"},
    ]
    entry = resolve({"kind": "messages", "messages": messages, "label": "job"})[0]
    star = {"kind": "star", "hosts": 6, "rate_bps": 10**10, "delay_ps": US}
    setting = replace(setting_of({"topology": star}), traffic=[entry])
    table = {
        "src": numbers(0, 1, 2, 3),
        "start_ps": numbers(0, 10 * US, 0, -1),
        "finish_ps": numbers(8 * US, -1, -1, -1),
        "ideal_ps": numbers(8 * US, 8 * US, 8 * US, 8 * US),
        "size_bytes": numbers(8000, 8000, 8000, 8000),
        "delivered_bytes": numbers(8000, 2000, 7000, 0),
    }
    tables = {"flow": table, "pause_tree": NO_PAUSE, "flow_link": NO_FRAME}
    run = RunTables(setting, 1, [*STAR.names], {"end_ps": 50 * US}, tables)
    chain = lost_of(run, "job", network=True)
    assert chain is not None
    assert (chain.unfinished, chain.time) == (True, 50 * US)
    assert [(one.host, one.losses.sharing) for one in chain.steps] == [(0, 0), (1, 38 * US)]
    keys = {"name": "m", "kind": "lost_time", "traffic": "job", "to": "sharing"}
    assert parse(keys).value(run) == np.inf
    figure = lost.LostTime.model_validate({"name": "x", "traffic": "job"})
    runs = pd.DataFrame({"hash": ["a"], "seed": 1, "variant": ""})
    data: Any = SimpleNamespace(runs=runs, settings=["variant"], run=lambda _: run)
    drawn = figure.draw(data)
    until = "until the end of the run at 50 µs"
    assert drawn.notes[0] == f"job did not end: what it lost {until} is counted."
    assert drawn.data["lost_ps"].tolist() == [38 * US]
    assert figure.answer(data) == (
        "Sharing the links with messages of h1 cost job most: 38 µs of 50 µs until the end of the "
        "run, in which it did not end."
    )


NO_PAUSE = {
    name: numbers()
    for name in ("start_ps", "end_ps", "depth", "root_node", "root_peer", "class", "node", "peer")
}
NO_FRAME = {name: numbers() for name in ("flow", "first_ps", "last_ps", "class", "node", "peer")}


@pytest.mark.parametrize("most", [2, 0])
@pytest.mark.cpp
def test_a_figure_has_a_panel_for_each_run(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where two are called alike, and where nothing was lost; times begin at 0."""
    found = {
        name: [Loss("pauses", f"s{n}", "", 1e6 * (scale - n)) for n in range(most)]
        for name, scale in (("A", 4), ("B", 9))
    }
    monkeypatch.setattr(lost, "losses_of", lambda run, *_: found[run])
    monkeypatch.setattr(lost.LostTime, "_chain", lambda *_: Chain(()))
    runs = pd.DataFrame({"hash": list(found), "seed": 1, "variant": list(found)})
    data: Any = SimpleNamespace(runs=runs, settings=["variant"], run=lambda name: name)
    keys = {"name": "x", "traffic": "job", "columns": "variant", "labels": {"A": "x", "B": "x"}}
    drawn = lost.LostTime.model_validate(keys).draw(data)
    widths = [[bar.get_width() for bar in axes.patches] for axes in drawn.canvas.axes]
    assert widths == ([[4, 3], [9, 8]] if most else [[0], [0]])
    assert drawn.canvas.axes[0].get_xlim()[0] == 0
    assert list(drawn.data["lost_ps"]) == ([4e6, 3e6, 9e6, 8e6] if most else [0, 0])


def test_fairness_of_jobs_is_jains_index() -> None:
    """Two jobs at 3 and 1: 16 / (2 x 10); one that does not end has nothing."""
    entries = [
        resolve({"kind": "permutation", "size": "1KB", "shift": 1, "label": name})[0]
        for name in ("one", "two")
    ]
    star = {"kind": "star", "hosts": 6, "rate_bps": 10**10, "delay_ps": 10**6}
    setting = replace(setting_of({"topology": star}), traffic=entries)
    ends = np.repeat([200, 400], 6)
    table = {"size_bytes": np.full(12, 1000), "start_ps": np.full(12, 100), "finish_ps": ends}

    def value() -> float | None:
        made = RunTables(setting, 1, [*STAR.names], {"end_ps": 1e9}, {"flow": table})
        return parse({"name": "m", "kind": "job_fairness", "traffic": ["one", "two"]}).value(made)

    assert value() == pytest.approx(16 / 20)
    table["finish_ps"][11] = -1
    assert value() == pytest.approx(1 / 2)


# ---------------------------------------------------------------------------------------------
# With the real simulator

COLLIDE = """
title = "what was lost"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "1ms"
drain = "20ms"
stop_when_done = true
[topology]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
rate = "100Gbps"
delay = "1us"
[buffer]
size = "64MB"
threshold = "dynamic"
alpha = 8
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "collective"
connection = "message"
label = "job"
collectives = [{ name = "swap", operation = "all_reduce", size = "2MB", hosts = ["h0", "h4"] }]
[[trace]]
table = "pause_tree"
[[trace]]
table = "flow_link"
[[trace]]
table = "pause"
"""
FOUR = ("pauses", "collisions", "sharing", "stragglers")
for _to in FOUR:
    COLLIDE += f'[[metric]]\nname = "{_to}"\nkind = "lost_time"\ntraffic = "job"\nto = "{_to}"\n'
COLLIDE += """
[[metric]]
name = "time"
kind = "collective_time"
traffic = "job"
[[metric]]
name = "uplink"
kind = "lost_time"
traffic = "job"
to = "collisions"
port = "leaf0:spine0"
[[metric]]
name = "rooted"
kind = "lost_time"
traffic = "job"
to = "pauses"
port = "leaf0:spine0"
[[metric]]
name = "late_h4"
kind = "lost_time"
traffic = "job"
to = "stragglers"
host = "h4"
[variants.Alone]
[variants.Thin]
"topology.uplink_rate" = "50Gbps"
"queue_pair.ack_every" = 1
[variants.Straggler]
"traffic.job.collectives.swap.step_delay" = "10us"
"traffic.job.stragglers" = [{ hosts = "h4", slowdown = 1.5 }]
"""
JOB: dict[str, Any] = {"kind": "collective", "connection": "message", "label": "job"}
JOB["collectives"] = [
    {
        "name": "swap",
        "operation": "all_reduce",
        "size": "2MB",
        "hosts": ["h0", "h4"],
        "in_order": True,
    }
]
OTHERS = [{"src": f"h{n}", "dst": f"h{4 + n}", "size": "5MB"} for n in (1, 2, 3)]
for _name, _count in (("Neighbour", 1), ("Crowd", 3)):
    _traffic = inline([JOB, {"kind": "messages", "messages": OTHERS[:_count]}])
    COLLIDE += f"[variants.{_name}]\ntraffic = {_traffic}\n"
COLLIDE += """
"buffer.size" = "2MB"
"buffer.alpha" = 0.125
[[figure]]
name = "lost"
kind = "lost"
traffic = "job"
where = { variant = "Crowd" }
[[figure]]
name = "costs"
kind = "lost"
traffic = "job"
columns = "variant"
costs = true
[[figure]]
name = "compared"
kind = "lost"
traffic = "job"
columns = "variant"
"""


def check_pauses_of_timeline(results: Path, number: int, row: pd.Series) -> None:
    """The timeline of a run has each pause that a port obeyed, as the ports themselves noted it."""
    command = [sys.executable, "-m", "invoke", "timeline", str(results.parent / "study.toml")]
    env = {**os.environ, "PYORCH_RESULTS": str(results)}
    told = subprocess.run(
        [*command, str(number)], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    (obeyed,) = results.rglob(f"runs/{row['hash']}*/pause.parquet")
    rows = pd.read_parquet(obeyed).query("side == 1")
    events = [event for event in json.loads(told.stdout)["traceEvents"] if event["ph"] == "X"]
    shown = [event["args"] for event in events if event["cat"] == "pause"]
    assert sorted((one["begin_ps"], one["end_ps"]) for one in shown) == sorted(
        zip(rows["start_ps"], rows["end_ps"], strict=True)
    )
    assert 0 < len(shown) <= row["pauses_sent"]
    assert told.stderr == ""


def check_costs(results: Path, runs: pd.DataFrame, ideal: int) -> None:
    """What was lost, and what the job itself takes, add up to its time."""
    (file,) = results.rglob("costs.csv")
    table = pd.read_csv(file)
    costs = table.groupby(["panel", "cause"])["lost_ps"].sum()
    for variant, row in runs.iterrows():
        assert costs[variant].sum() == pytest.approx(row["time"], abs=len(table))
        if variant != "Thin":  # where they alone are slower
            assert costs[variant]["messages"] == pytest.approx(ideal, abs=len(table))
    assert costs["Straggler"]["computing"] == 10 * US


@pytest.mark.cpp
@pytest.mark.parametrize("connection", ["message", "pair"])
def test_what_a_run_lost_adds_up_to_what_it_took(tmp_path: Path, connection: str) -> None:
    """Alone nothing; a straggler by its slowness; a flow on the same uplink by its half.

    Also of messages that share a queue pair, of which the tables know the first alone.
    """
    done, results = run(tmp_path, COLLIDE.replace('"message"', f'"{connection}"'))
    assert done.returncode == 0, done.stderr
    (table,) = results.rglob("runs.parquet")
    runs = pd.read_parquet(table).set_index("variant")
    ideal = 2 * (1003 * PACKET + 4 * US)
    alone = runs.loc["Alone"]
    assert [alone[to] for to in FOUR[:2]] == [0, 0]
    assert alone["time"] == ideal + alone["sharing"]
    assert alone["sharing"] <= 2 * ACK
    # over an uplink of half the NIC's rate it shares with ACKs, but with no other flow
    thin = runs.loc["Thin"]
    assert [thin[to] for to in FOUR if to != "sharing"] == [0, 0, 0]
    assert thin["sharing"] > 0.01 * thin["time"]
    slow = runs.loc["Straggler"]
    assert slow["stragglers"] == slow["late_h4"] == 5 * US
    assert slow["time"] == ideal + 15 * US + slow["sharing"]
    beside = runs.loc["Neighbour"]
    assert beside["time"] == pytest.approx(ideal + sum(beside[to] for to in FOUR), abs=1)
    # both blocks of h0 have half of the uplink
    assert beside["collisions"] == pytest.approx(beside["time"] - ideal, rel=0.02)
    assert beside["uplink"] > 0.98 * beside["collisions"]
    paused = runs.loc["Crowd"]
    assert paused["rooted"] == paused["pauses"] > 0.2 * (paused["time"] - ideal)
    assert paused["time"] == pytest.approx(ideal + sum(paused[to] for to in FOUR), abs=1)
    # the figure says where
    (file,) = results.rglob("lost.csv")
    drawn = pd.read_csv(file)
    by_cause = drawn.groupby("cause")["lost_ps"].sum()
    for to in FOUR:
        assert by_cause.get(to, 0) == pytest.approx(paused[to], abs=len(drawn))
    assert set(drawn[drawn["cause"] == "pauses"]["place"]) == {"leaf0 → spine0"}
    assert set(drawn["collective"]) == {"swap"}
    assert drawn["lost_ps"].is_monotonic_decreasing
    # and of all variants beside each other
    (file,) = results.rglob("compared.csv")
    sums = pd.read_csv(file).groupby(["panel", "cause"])["lost_ps"].sum()
    for variant, row in runs.iterrows():
        for to in FOUR:
            assert sums.get((variant, to), 0) == pytest.approx(row[to], abs=len(drawn))
    assert sums["Alone"].sum() == pytest.approx(runs.loc["Alone", "sharing"], abs=1)
    check_costs(results, runs, ideal)
    check_pauses_of_timeline(results, 1 + list(runs.index).index("Crowd"), paused)
