"""What repeats itself is skipped with the same bytes: skipped and simulated runs agree."""

from __future__ import annotations

import hashlib
import re
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.build import ensure_built
from pyorch.plan import RunSpec
from pyorch.run.ns3 import load_simulation
from pyorch.run.simulate import read_tables, set_up
from pyorch.study import Study
from tests.forks import in_fork

pytestmark = [pytest.mark.cpp]

RING = """
title = "A ring"
question = "?"
source = "test"
flow_control = ["pfc"]
{more}
[run]
duration = "{duration}"
drain = "{drain}"
stop_when_done = {stop}
repeats = "{repeats}"
{run}
[queue_pair]
payload_size = "{payload}B"
ack_every = {acks}

[buffer]
size = "16MB"

[topology]
kind = "leaf_spine"
spines = 2
leaves = {leaves}
hosts_per_leaf = {hosts}
rate = "{rate}Gbps"
delay = "{delay}us"
{failure}

[[traffic]]
kind = "collective"
label = "job"
collectives = [{{ name = "g", operation = "{operation}", algorithm = "ring", size = "{size}B" }}]
{traffic}
"""
DEFAULTS = {
    "more": "",
    "run": "",
    "duration": "1ms",
    "drain": "100ms",
    "stop": "true",
    "payload": 4096,
    "acks": 1_000_000,
    "leaves": 4,
    "hosts": 4,
    "rate": 400,
    "delay": 1,
    "failure": "",
    "operation": "all_reduce",
    "size": 16_000_000,
    "traffic": "",
}


@cache
def simulation_class() -> Any:
    """The class that simulates, loaded once; each run is a fork."""
    return load_simulation(ensure_built(quiet=True))


def perform(spec: RunSpec) -> dict[str, Any]:
    """Simulate; return a digest of all tables, the summary, and what is said of repeats."""
    simulation = simulation_class()(spec.seed)
    network = set_up(simulation, spec)
    end = spec.setting.run.latest_end
    for part in range(1, 6):  # the ends of parts are events of their own
        simulation.Run(end * part // 5)
    problems = str(simulation.Finish())
    digest = hashlib.sha256()
    for name, columns in sorted(read_tables(simulation, network).items()):
        for column, values in columns.items():
            digest.update(f"{name} {column}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    summary = {str(pair.first): repr(float(pair.second)) for pair in simulation.GetSummary()}
    notes = [line for line in str(simulation.Notes()).splitlines() if "repeats" in line]
    return {"digest": digest.hexdigest(), "summary": summary, "problems": problems, "notes": notes}


def outcomes(**values: Any) -> dict[str, dict[str, Any]]:
    """What comes of a network with repeats off, on, and verified."""
    found = {}
    simulation_class()
    with TemporaryDirectory() as folder:
        for repeats in ("off", "on", "verify"):
            file = Path(folder) / f"{repeats}.toml"
            text = RING.format(**DEFAULTS | values, repeats=repeats)
            file.write_text(text, encoding="utf-8")
            spec = Study.load(str(file)).plan().specs[0]
            found[repeats] = in_fork(partial(perform, spec))
    return found


def skipped_ps(outcome: dict[str, Any]) -> int:
    """The time that was skipped, or would have been."""
    found = re.match(r"repeats: (\d+) ps in", outcome["notes"][0])
    assert found, outcome
    return int(found[1])


def check_same(found: dict[str, dict[str, Any]]) -> None:
    """All tables and all numbers are the same, events included."""
    for repeats in ("on", "verify"):
        assert "digest" in found[repeats], found[repeats]
        for part in ("summary", "problems", "digest"):
            assert found[repeats][part] == found["off"][part], (repeats, part)


def test_ring_of_large_messages_is_mostly_skipped() -> None:
    """Messages of 1 MB on sixteen hosts, one ACK each: their flows are alone on their links."""
    found = outcomes()
    check_same(found)
    assert found["off"]["notes"] == []
    whole = float(found["off"]["summary"]["end_ps"])
    assert skipped_ps(found["on"]) > 0.5 * whole
    assert skipped_ps(found["verify"]) > 0.4 * whole


SERVERS = 'hosts_per_server = 2\nscale_up = { rate = "3600Gbps", delay = "500ns" }'


def test_where_all_is_one_cell_skips_are_the_same() -> None:
    """One switch, and servers, whose hosts share flows: all events are in one order of time."""
    networks: tuple[dict[str, Any], ...] = ({"leaves": 1, "hosts": 8}, {"failure": SERVERS})
    for values in networks:
        found = outcomes(**values)
        check_same(found)
        assert skipped_ps(found["on"]) > 0.5 * float(found["off"]["summary"]["end_ps"])


def test_a_period_may_include_acknowledgements() -> None:
    """An ACK for 64 packets on one switch: skips are much longer than what lies between two."""
    found = outcomes(leaves=1, hosts=8, acks=64, delay=0.5, size=64_000_000)
    check_same(found)
    parts = int(found["on"]["notes"][0].split(" ps in ")[1].split()[0])
    between_ps = 64 * 4_200 * 8 * 1_000 // 400
    assert skipped_ps(found["on"]) / parts > 4 * between_ps
    assert skipped_ps(found["on"]) > 0.5 * float(found["off"]["summary"]["end_ps"])


def test_what_is_not_at_rest_is_not_skipped_and_says_why() -> None:
    """A control that acts, turns, and a table that would have rows of what is skipped."""
    for more, why in (
        ('congestion_control = "timely"', "congestion control"),
        ('forwarding = "spray"', "hash alone"),
        ('[[trace]]\ntable = "egress"\n', "every change"),
    ):
        given = {"traffic" if "trace" in more else "more": more}
        found = outcomes(**given)
        check_same(found)
        assert skipped_ps(found["on"]) == 0
        assert why in found["on"]["notes"][0]


def test_a_pool_of_insurance_is_skipped_while_no_queue_turns_off() -> None:
    """DSH, whose ports have thresholds of their own."""
    found = outcomes(more='buffer_policy = "dsh"')
    check_same(found)
    assert skipped_ps(found["on"]) > 0.5 * float(found["off"]["summary"]["end_ps"])
    assert found["on"]["summary"]["dsh_queue_offs"] == "0.0"


def test_a_control_that_has_not_acted_is_skipped_until_marks_come_near() -> None:
    """DCQCN whose queues stay below Kmin; with a Kmin of a frame, two that meet could be marked."""
    control = 'congestion_control = "dcqcn"\nagents = ["ecn-marking"]\n'
    control += '[ecn-marking]\nkmin = "{kmin}B"\nkmax = "400KB"'
    found = outcomes(more=control.format(kmin=100_000))
    check_same(found)
    assert skipped_ps(found["on"]) > 0.5 * float(found["off"]["summary"]["end_ps"])
    assert found["on"]["summary"]["marked_frames"] == "0.0"
    found = outcomes(more=control.format(kmin=0))
    check_same(found)
    assert "mark" in found["on"]["notes"][0] or "acts" in found["on"]["notes"][0]
    assert skipped_ps(found["on"]) < 0.1 * float(found["off"]["summary"]["end_ps"])


def test_checks_for_deadlocks_end_no_skip() -> None:
    """They happen inside it, each counted once, and find nothing."""
    checks = {period: outcomes(run=f'deadlock_test = "{period}us"') for period in (0, 3)}
    for found in checks.values():
        check_same(found)
    seldom, often = (skipped_ps(found["on"]) for found in checks.values())
    assert often > 0.99 * seldom > 0
    events = [float(found["on"]["summary"]["events"]) for found in checks.values()]
    assert events[1] - events[0] == float(checks[0]["on"]["summary"]["end_ps"]) // 3_000_000


@pytest.mark.slow
@settings(max_examples=25)
@given(
    leaves=st.integers(1, 4),
    hosts=st.integers(1, 4),
    payload=st.sampled_from([1000, 1452, 4096, 8192]),
    acks=st.sampled_from([1, 1, 2, 7, 16, 1_000_000]),
    rate=st.sampled_from([33, 100, 400]),
    delay=st.sampled_from([0.5, 1, 1.337, 4]),
    operation=st.sampled_from(["all_reduce", "all_gather"]),
    size=st.integers(100_000, 6_000_000),
    end=st.integers(20, 900),
    down=st.integers(1, 200),
    endless=st.booleans(),
    sampled=st.booleans(),
    fails=st.booleans(),
    servers=st.booleans(),
    ends=st.booleans(),
    controlled=st.booleans(),
    dsh=st.booleans(),
    check=st.sampled_from([0, 3, 100]),
)
def test_random_networks_agree(
    *,
    end: int,
    down: int,
    endless: bool,
    sampled: bool,
    fails: bool,
    servers: bool,
    ends: bool,
    controlled: bool,
    dsh: bool,
    check: int,
    **values: Any,
) -> None:
    """Ends, failures, samples, checks and endless flows fall into what would be skipped."""
    if values["leaves"] * values["hosts"] < 2:
        values["hosts"] = 2
    extra = ""
    if endless:
        extra += '\n[[traffic]]\nkind = "greedy"\nsrc = ["h0"]\ndst = "h1"\nstart = "3us"\n'
    if sampled:
        extra += '\n[[trace]]\ntable = "queue"\nperiod = "17us"\n'
    if ends:  # in the middle of what would be skipped
        values |= {"duration": f"{end}us", "drain": "0us", "stop": "false"}
    failure = (
        f'failures = [{{ link = ["leaf0", "spine0"], down = "{down}us", up = "{down + 50}us" }}]'
    )
    failure = failure if fails else ""
    if servers and values["hosts"] % 2 == 0 and not endless:  # a domain carries whole messages
        failure += f"\n{SERVERS}"
    run = f'allow_loss = true\ndeadlock_test = "{check}us"'
    more = 'congestion_control = "dcqcn"\nagents = ["ecn-marking"]\n' if controlled else ""
    more += 'buffer_policy = "dsh"' if dsh else ""
    check_same(outcomes(**values, traffic=extra, failure=failure, run=run, more=more))
