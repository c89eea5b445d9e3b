"""What a plan asks of its network and of the machine: against arithmetic by hand."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from pyorch.files.load import load_experiment
from pyorch.plan import expand
from pyorch.remarks.demand import Demand, cost_text, demands, speed_here
from tests.strategies import MINIMAL, SCHEMA, write

FABRIC = """
title = "A leaf-spine"
[run]
duration = "1ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "incast"
dst = "h0"
src = ["h1", "h2", "h3"]
size = "100KB"
"""


def demand_of(folder: Path, text: str) -> Demand:
    """The demand of the only traffic of an experiment."""
    experiment = load_experiment("x", (), SCHEMA, write(folder, text))
    ((found, runs),) = demands(experiment, expand(experiment))
    assert runs == 1
    return found


def test_loads_and_hops_of_an_incast(tmp_path: Path) -> None:
    """100 packets of 1,068 B on the wire each: one flow takes two links, two take four."""
    found = demand_of(tmp_path, FABRIC)
    assert (found.flows, found.payload) == (3, 300_000)
    assert found.hops == 100 * (2 + 4 + 4)
    one = 100 * 1068 * 8 / 1e-3 / 10e9
    mean, most, link = found.tiers["leaf -> h"]
    assert (link, most) == ("leaf0 -> h0", pytest.approx(3 * one))
    assert mean == pytest.approx(3 * one / 4)
    # the two flows from the other leaf are spread over both spines
    mean, most, _ = found.tiers["leaf -> spine"]
    assert (mean, most) == (pytest.approx(2 * one / 4), pytest.approx(one))
    assert found.highest == pytest.approx(3 * one)
    assert found.told.startswith("leaf -> h 6 % (at most 26 %, leaf0 -> h0), h -> leaf 6 %")


def test_nodes_that_are_numbers_are_told_by_what_they_are(tmp_path: Path) -> None:
    """As in networks of the HPCC simulator: their names without digits would be nothing."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "n.txt").write_text(
        "4 2 3\n2 3\n0 2 10Gbps 1us 0\n2 3 10Gbps 1us 0\n3 1 10Gbps 1us 0\n"
    )
    head, _, _ = FABRIC.partition('kind = "leaf_spine"')
    network = 'kind = "file"\nfile = "n.txt"\nformat = "hpcc"\nrate = "1Gbps"\ndelay = "1us"\n'
    traffic = '[[traffic]]\nkind = "permutation"\nshift = 1\nsize = "100KB"\n'
    found = demand_of(tmp_path, head + network + traffic)
    assert set(found.tiers) == {"host -> switch", "switch -> host", "switch -> switch"}
    assert found.tiers["switch -> switch"][2] in ("2 -> 3", "3 -> 2")


def test_endless_senders_share_the_links_of_their_hosts(tmp_path: Path) -> None:
    """Two greedy senders to one host offer half of its link each."""
    found = demand_of(tmp_path, MINIMAL)
    assert found.payload == pytest.approx(10e9 / 8 * 1e-3 * 1000 / 1068)


TIER = {"leaf -> h": (0.5, 0.6, "leaf0 -> h0")}


def test_the_cost_follows_from_the_speed_of_this_machine(tmp_path: Path) -> None:
    """From logs of runs here; those of another machine, and broken ones, do not count."""
    for number, host in enumerate([socket.gethostname(), "elsewhere", "broken"]):
        run = tmp_path / "study" / "runs" / f"{number}"
        run.mkdir(parents=True)
        (run / "log.txt").write_text(f"# host: {host} (x86_64), pid 1\n# simulate_cpu_s: 2\n")
        summary = {"summary": {"data_hops": 1_000_000}}
        (run / "summary.json").write_text(json.dumps(summary) if host != "broken" else "{")
    assert speed_here(tmp_path) == pytest.approx(2e-6)
    assert speed_here(tmp_path / "none") is None
    found = [(Demand(10, 1e6, 3e6, {}, 2e8), 4)]
    told = cost_text(found, 2, 2e-6)
    assert told == (
        "3,000,000 packet-hops a run, 6.1s and 200 MB; 12s of CPU time for 2 to do "
        "(2 us a hop, measured here)"
    )
    assert "nothing has run here yet" in cost_text(found, 2, None)
    assert " and 5s for the report" in cost_text([(Demand(10**6, 1e6, 1, TIER, 0), 4)], 2, 1, 2)
    # A job's flows are followed link by link: 4 x 250,000 of them.
    assert " and 3 min for the report" in cost_text([(Demand(250_000, 1, 1, {}, 0), 4)], 2, 1, 2)
