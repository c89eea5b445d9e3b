"""Paths of flows and of their ACKs: how they are written, what is refused, where they go."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import RESULTS_VARIABLE
from pyorch.engine import LocalEngine
from pyorch.files.load import load_experiment
from pyorch.network.apart import Apart
from pyorch.network.topology import Topology
from pyorch.pipeline import make_plan
from pyorch.run.simulate import _set_paths
from pyorch.traffic import base as traffic
from tests.strategies import ROOT, network

MS = 10**9
CLOS = network(kind="leaf_spine", leaves=2, spines=3, hosts_per_leaf=2)
BROKEN = network(
    kind="leaf_spine", leaves=2, spines=3, hosts_per_leaf=2, failed_links=[["leaf0", "spine1"]]
)
UP = "h0 > leaf0 > spine0 > leaf1 > h2"
BACK = "h2 > leaf1 > spine2 > leaf0 > h0"


def resolve(
    entry: dict[str, Any], net: Topology = CLOS, folder: Path = Path()
) -> tuple[dict[str, Any] | None, list[str]]:
    """Canonical form of an entry, and its problems without what is allowed."""
    findings = Findings("x.toml")
    scene = traffic.Scene(net, folder, ROOT / "experiments" / "workloads", MS)
    form = traffic.resolve(entry, findings, ("traffic", "0"), scene)
    return form, [f"{problem.where}: {problem.what}" for problem in findings.problems]


def make(entry: dict[str, Any], net: Topology = CLOS, folder: Path = Path()) -> traffic.Flows:
    """The flows of an entry."""
    form, problems = resolve(entry, net, folder)
    assert form is not None, problems
    return traffic.flows([form], net, 1, 100 * MS)


def names(paths: dict[int, Any], net: Topology = CLOS) -> dict[int, str]:
    """Paths by flow, as people write them."""
    return {flow: " > ".join(net.names[n] for n in path) for flow, path in paths.items()}


def test_a_path_may_be_a_list_or_text() -> None:
    """Lists, ">" and blanks between names are the same canonical form."""
    entry = {"kind": "greedy", "src": "h0", "dst": "h2"}
    spellings = [UP, UP.split(" > "), UP.replace(" > ", " "), UP.replace(" > ", ">"), f" {UP} "]
    forms = [resolve({**entry, "path": path}) for path in spellings]
    assert all(form == forms[0] for form in forms)
    assert names(make({**entry, "path": UP}).paths) == {0: UP}
    assert resolve({**entry, "paths": [UP]})[0] != forms[0][0]
    assert names(make({**entry, "paths": [UP]}).paths) == {0: UP}


def test_paths_are_for_all_flows_between_their_ends() -> None:
    """Drawn flows too; those without a path go by ECMP."""
    entry = {
        "kind": "poisson",
        "workload": "websearch",
        "load": 0.5,
        "paths": [UP, "h3 leaf1 spine1 leaf0 h1"],
        "ack_paths": [BACK],
    }
    flows = make(entry)
    pairs = list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))
    assert {pairs[flow] for flow in flows.paths} == {(0, 2), (3, 1)}
    assert set(flows.ack_paths) == {flow for flow, pair in enumerate(pairs) if pair == (0, 2)}
    assert len(flows.paths) == sum(pair in {(0, 2), (3, 1)} for pair in pairs) > 3
    assert flows.ack_reverse == {}


def test_acks_go_as_the_entry_says_but_where_a_flow_says_otherwise() -> None:
    """A message's own path wins over the entry's, a list by ends over the mode."""
    messages = [
        {"src": "h0", "dst": "h2", "size": "1KB", "path": UP},
        {"src": "h0", "dst": "h2", "size": "1KB", "ack_path": BACK},
        {"src": "h1", "dst": "h3", "size": "1KB", "ack_path": "ecmp"},
        {"src": "h1", "dst": "h3", "size": "1KB"},
    ]
    flows = make({"kind": "messages", "messages": messages, "ack_path": "reverse"})
    assert names(flows.paths) == {0: UP}
    assert names(flows.ack_paths) == {1: BACK}
    assert flows.ack_reverse == {0: True, 2: False, 3: True}
    other = "h0 > leaf0 > spine2 > leaf1 > h2"
    flows = make({"kind": "messages", "messages": messages, "paths": [other], "ack_paths": [BACK]})
    assert names(flows.paths) == {0: UP, 1: other}
    assert names(flows.ack_paths) == {0: BACK, 1: BACK}
    assert flows.ack_reverse == {2: False}


def test_a_csv_file_has_columns_for_paths(tmp_path: Path) -> None:
    """Empty cells default to the entry's values."""
    (tmp_path / "m.csv").write_text(
        "src,dst,size,path,ack_path\n"
        f"h0,h2,1KB,{UP},ecmp\n"
        f"h0,h2,1KB,,{BACK}\n"
        "h1,h3,1KB,h1 leaf0 spine1 leaf1 h3,\n"
    )
    flows = make({"kind": "messages", "file": "m.csv", "ack_path": "reverse"}, folder=tmp_path)
    assert names(flows.paths) == {0: UP, 2: "h1 > leaf0 > spine1 > leaf1 > h3"}
    assert names(flows.ack_paths) == {1: BACK}
    assert flows.ack_reverse == {0: False, 2: True}


def test_every_wrong_path_of_a_file_is_told_with_line_and_column(tmp_path: Path) -> None:
    """Ends, hosts on the way, missing and failed links, unknown nodes: all in one round."""
    (tmp_path / "m.csv").write_text(
        "src,dst,size,path,ack_path\n"
        f"h0,h2,1KB,{UP},reverse\n"
        f"h0,h3,1KB,{UP},\n"
        "h0,h2,1KB,h0 leaf0 spine1 leaf1 h2,\n"
        "h0,h2,1KB,h0 leaf0 h1 leaf0 spine0 leaf1 h2,h0 leaf0 spine0 leaf1 h2\n"
        "h0,h2,1KB,h0 leaf0 leaf1 h2,h2 leaf1 spine9 leaf0 h0\n"
        "h0,h2,1KB,,sideways\n"
    )
    form, told = resolve({"kind": "messages", "file": "m.csv"}, BROKEN, tmp_path)
    assert form is None
    assert told == [
        (
            "m.csv: line 7: ack_path: 'sideways' is not a path; "
            "allowed: 'reverse', 'ecmp' or the nodes of a path"
        ),
        "m.csv: line 3: path: does not lead from src to dst",
        "m.csv: line 4: path: the link from leaf0 to spine1 has failed from the start",
        "m.csv: line 5: path: leads through host 'h1'",
        "m.csv: line 5: ack_path: does not lead from dst to src",
        "m.csv: line 6: path: there is no link between leaf0 and leaf1",
        "m.csv: line 6: ack_path: there is no node 'spine9'",
    ]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"paths": [UP, UP]}, ["paths[1]: duplicate path from h0 to h2"]),
        (
            {"paths": ["h1 > leaf0 > spine0 > leaf1 > h2"]},
            ["paths[0]: leads from h1 to h2, but no flow of the entry goes from h1 to h2"],
        ),
        (
            {"ack_paths": [UP]},
            ["ack_paths[0]: leads from h0 to h2, but no flow of the entry goes from h2 to h0"],
        ),
        ({"path": UP, "paths": [UP]}, ["paths: give either 'path' or 'paths'"]),
        (
            {"ack_path": BACK.split(" > "), "ack_paths": [BACK]},
            ["ack_paths: give either 'ack_path' or 'ack_paths'"],
        ),
        ({"ack_path": UP}, ["ack_path: does not lead from dst to src"]),
        ({"ack_path": "revers"}, ["ack_path: 'revers' is not a path; allowed: "]),
        ({"paths": []}, ["paths: the list is empty"]),
        ({"paths": ["h0"]}, ["paths[0]: "]),
        ({"kind": "poisson", "paths": ["h0 > leaf0 > h0"]}, ["paths[0]: ends where it begins"]),
        (
            {"kind": "poisson", "paths": ["leaf0 > spine0 > leaf1"]},
            ["paths[0]: 'leaf0' is a switch", "paths[0]: 'leaf1' is a switch"],
        ),
        ({"kind": "incast", "path": UP}, ["path: a path is for a single flow"]),
    ],
)
def test_paths_that_fit_no_flow_are_refused(keys: dict[str, Any], told: list[str]) -> None:
    """Each with the place of the path in the list."""
    kinds: dict[str, dict[str, Any]] = {
        "greedy": {"src": "h0", "dst": "h2"},
        "poisson": {"workload": "websearch", "load": 0.5},
        "incast": {"degree": 2, "dst": "h2", "size": "1KB"},
    }
    kind = keys.get("kind", "greedy")
    form, found = resolve({"kind": kind, **kinds[kind], **keys})
    assert form is None
    assert len(found) == len(told)
    for one, start in zip(found, told, strict=True):
        assert one.startswith(f"x.toml: traffic[0].{start}")


def test_kinds_that_choose_paths_take_no_others() -> None:
    """A ring's flows have theirs; their ACKs may still go elsewhere."""
    ring = network(kind="ring", switches=4)
    path = "h0 > s0 > s1 > h1"
    _, told = resolve({"kind": "ring", "hops": 1, "paths": [path]}, ring)
    assert told == ["x.toml: traffic[0].paths: traffic of kind ring chooses its paths itself"]
    flows = make({"kind": "ring", "hops": 1, "ack_path": "ecmp"}, ring)
    assert names(flows.paths, ring)[0] == path
    assert flows.ack_reverse == dict.fromkeys(range(4), False)


class Calls:
    """A Simulation that notes the calls it gets."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.made.append((name, *values))


@pytest.mark.slow
def test_ten_thousand_paths_are_checked_quickly_and_handed_over_in_one_call(
    tmp_path: Path,
) -> None:
    """Flat arrays: flows, lengths, nodes."""
    rows = [
        f"h{n % 2},h{2 + n % 2},1KB,h{n % 2} > leaf0 > spine{n % 3} > leaf1 > h{2 + n % 2}"
        for n in range(10_000)
    ]
    (tmp_path / "m.csv").write_text("\n".join(["src,dst,size,path", *rows]))
    begin = time.process_time()
    flows = make({"kind": "messages", "file": "m.csv"}, folder=tmp_path)
    calls = Calls()
    _set_paths(calls, flows, Apart(CLOS))
    assert time.process_time() - begin < 10  # 0.6 s where this was written
    ((name, numbers, lengths, nodes, count),) = calls.made
    assert (name, count) == ("SetPaths", 10_000)
    assert numbers.tolist() == list(range(10_000))
    assert set(lengths.tolist()) == {5}
    spines = [CLOS.numbers[f"spine{n % 3}"] for n in range(10_000)]
    assert nodes.reshape(-1, 5)[:, 2].tolist() == spines
    assert {array.dtype for array in (numbers, lengths, nodes)} == {np.dtype(np.uint32)}


STUDY = """
title = "paths"
question = "?"
source = "test"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "1ms"
stop_when_done = "acked"

[topology]
kind = "leaf_spine"
leaves = 2
spines = 3
hosts_per_leaf = 2
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "messages"
file = "m.csv"

[[trace]]
table = "frame"

[[metric]]
name = "received"
kind = "fct"

[[metric]]
name = "acked"
kind = "fct"
until = "acked"

[[metric]]
name = "slowdown"
kind = "fct_slowdown"
until = "acked"
"""


@pytest.mark.cpp
def test_frames_and_acks_of_a_run_take_the_paths_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the table of frames saw; FCT at the sender is that of the closed form."""
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results"))
    (tmp_path / "m.csv").write_text(
        f"src,dst,size,start,path,ack_path\nh0,h2,5000,0,{UP},{BACK}\n"
        "h1,h3,5000,100us,h1 leaf0 spine1 leaf1 h3,\n"
        f"h0,h2,5000,200us,{UP},reverse\n"
    )
    file = tmp_path / "paths.toml"
    file.write_text(STUDY)
    plan = make_plan(str(file))
    output = io.StringIO()
    done = LocalEngine(plan.store, 1, stream=output).run(plan.specs, plan.build).done
    assert done == 1, output.getvalue()
    key = plan.specs[0].hash(plan.build.fingerprint)
    frames = pq.read_table(plan.store.folder(key) / "frame.parquet").to_pandas()
    spines = {CLOS.numbers[name]: name for name in ("spine0", "spine1", "spine2")}
    seen = {
        (flow, kind): {spines[node] for node in part["node"] if node in spines}
        for (flow, kind), part in frames[frames["kind"] < 2].groupby(["flow", "kind"])
    }
    assert seen == {
        (0, 0): {"spine0"},
        (0, 1): {"spine2"},
        (1, 0): {"spine1"},
        (1, 1): {"spine1"},
        (2, 0): {"spine0"},
        (2, 1): {"spine0"},
    }
    flows = pq.read_table(plan.store.folder(key) / "flow.parquet").to_pandas()
    frame, ack, delay = 1068 * 800, 84 * 800, 10**6  # ps at 10 Gb/s, and of a link
    received, back = (5 + 3) * frame + 4 * delay, 4 * (ack + delay)
    assert (flows["finish_ps"] - flows["start_ps"]).tolist() == [received] * 3
    assert (flows["acked_ps"] - flows["start_ps"]).tolist() == [received + back] * 3
    metrics = next(iter(plan.store.read_summary(key)["metrics"].values()))
    assert metrics == {"received": received, "acked": received + back, "slowdown": 1.0}


def test_completion_at_the_sender_needs_a_run_that_waits_for_it(tmp_path: Path) -> None:
    """A run that ends with the last packet has no time for its ACK."""
    (tmp_path / "m.csv").write_text("src,dst,size\nh0,h2,1KB\n")
    file = tmp_path / "paths.toml"
    file.write_text(STUDY.replace('stop_when_done = "acked"', "stop_when_done = true"))
    with pytest.raises(UserError) as caught:
        load_experiment(str(file))
    told = [(one.where, one.what) for one in caught.value.problems]
    what = "runs end when the last message is received, before its ACK is back"
    assert [place.split(": ")[-1] for place, _ in told] == ["metric[1].until", "metric[2].until"]
    assert {text for _, text in told} == {what}


def test_a_ring_leads_to_the_first_host_or_to_the_one_at_the_same_place() -> None:
    """Host i of a switch of two is h(2 s + i); a switch with fewer hosts has no such place."""
    ring = network(kind="ring", switches=3, hosts_per_switch=2)
    for to in ("first", "same"):
        flows = make({"kind": "ring", "to": to}, ring)
        ends = [2 * ((host // 2 + 2) % 3) + (host % 2 if to == "same" else 0) for host in range(6)]
        assert flows.dst.tolist() == ends
        assert [path[-1] for path in flows.paths.values()] == ends
    links = [["s0", "s1"], ["s1", "s2"], ["s2", "s0"], ["h0", "s0"], ["h1", "s0"], ["h2", "s2"]]
    table = [{"between": pair} for pair in [*links, ["h3", "s1"]]]
    hosts, switches = ([f"{kind}{n}" for n in range(count)] for kind, count in (("h", 4), ("s", 3)))
    uneven = network(kind="explicit", hosts=hosts, switches=switches, links=table)
    _, told = resolve({"kind": "ring", "to": "same"}, uneven)
    assert told == ["x.toml: traffic[0].to: s0 has 2 hosts and s2 1"]
