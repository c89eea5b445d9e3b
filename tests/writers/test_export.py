"""`export`: what was written and read back is the same network and the same flows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch.base.findings import Findings
from pyorch.base.units import is_number
from pyorch.cli.export import FORMATS, export, scene_of
from pyorch.kinds import activate
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.readers import door
from pyorch.readers.hpcc_config import keys_of
from pyorch.readers.importing import experiment
from pyorch.study import Study
from pyorch.traffic import base as traffic
from pyorch.writers.scenes import Scene, Written

SECOND = 10**12
READ = {
    "hpcc": ("topology.txt", "flow.txt"),
    "htsim": ("network.topo", "flows.cm"),
    "graphml": ("network.graphml", "messages.csv"),
    "csv": ("links.csv", "messages.csv"),
}


def _network(table: dict[str, Any], folder: Path) -> Topology:
    findings = Findings("x.toml")
    found = topology.resolve({"rate": "1Gbps", "delay": "1us", **table}, findings, folder=folder)
    assert found is not None, [one.render() for one in findings.problems]
    return found.network


def _flows(entry: dict[str, Any], network: Topology, folder: Path) -> traffic.Flows:
    findings = Findings("x.toml")
    scene = traffic.Scene(network, folder, folder, 10 * SECOND)
    found = traffic.resolve({"kind": "messages", **entry}, findings, ("traffic", "0"), scene)
    assert found is not None, [one.render() for one in findings.problems]
    return traffic.flows([found], network, 1, 10 * SECOND)


def _read_back(kind: str, scene: Scene, folder: Path) -> tuple[Topology, traffic.Flows, Written]:
    written = FORMATS[kind](scene)
    for name, text in written.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    network_file, flow_file = READ[kind]
    network = _network({"kind": "file", "file": network_file}, folder)
    return network, _flows({"file": flow_file}, network, folder), written


@st.composite
def _tables(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A random tree of switches with hosts on each, and messages, some of which wait."""
    count = draw(st.integers(1, 5))
    rates = st.integers(1, 400).map(lambda rate: f"{rate}Gbps")
    delays = st.integers(0, 10**7).map(lambda delay: f"{delay}ps")
    links = [(f"s{draw(st.integers(0, one - 1))}", f"s{one}") for one in range(1, count)]
    on = [draw(st.integers(2, 3)) for _ in range(count)]
    hosts = [(f"h{one}x{n}", f"s{one}") for one in range(count) for n in range(on[one])]
    table = {
        "kind": "explicit",
        "hosts": [host for host, _ in hosts],
        "switches": [f"s{one}" for one in range(count)],
        "links": [
            {"between": list(ends), "rate": draw(rates), "delay": draw(delays)}
            for ends in [*hosts, *links]
        ],
    }
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 8))):
        src, dst = draw(st.permutations([host for host, _ in hosts]))[:2]
        one: dict[str, Any] = {"src": src, "dst": dst, "id": f"i{number}"}
        one |= {"size": f"{draw(st.integers(1, 10**9))}B", "class": draw(st.integers(0, 7))}
        one["start"] = f"{draw(st.integers(0, 10**12))}ps"
        messages.append(one)
        if number and draw(st.booleans()):
            one |= {"after": [f"i{draw(st.integers(0, number - 1))}"], "delay": "7us"}
    return table, messages


def _same(one: traffic.Flows, other: traffic.Flows, names: Any, others: Any, order: Any) -> None:
    for column in ("sizes", "starts", "classes"):
        assert np.array_equal(getattr(one, column)[order], getattr(other, column)), column
    for column in ("src", "dst"):
        ends = names[getattr(one, column)[order]]
        assert np.array_equal(ends, others[getattr(other, column)]), column


def _links(network: Topology, names: Any) -> set[tuple[frozenset[str], int, int]]:
    ends = zip(names[network.a], names[network.b], strict=True)
    speeds = zip(network.rates.tolist(), network.delays.tolist(), strict=True)
    return {
        (frozenset(map(str, pair)), rate, delay)
        for pair, (rate, delay) in zip(ends, speeds, strict=True)
    }


@pytest.mark.parametrize("kind", ["hpcc", "graphml", "csv"])
@given(_tables())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_networks_and_flows_come_back(
    kind: str, tmp_path: Path, tables: tuple[dict[str, Any], list[dict[str, Any]]]
) -> None:
    """Every node, link, rate, delay and flow, and in our formats who waits for whom."""
    network = _network(tables[0], tmp_path)
    flows = _flows({"messages": tables[1]}, network, tmp_path)
    scene = Scene(network, flows, "explicit", 10 * SECOND, "dcqcn", ("pfc",))
    again, found, written = _read_back(kind, scene, tmp_path)
    names = np.array(network.names)
    if kind == "hpcc":  # calls nodes by their numbers, and lists flows by their starts
        numbers = np.arange(len(names)).astype(str)
        order = np.argsort(flows.starts, kind="stable")
        ours = numbers
    else:
        order, ours = np.arange(len(flows)), names
    others = np.array(again.names)
    assert len(again.hosts) == len(network.hosts)
    assert _links(network, ours) == _links(again, others)
    _same(flows, found, ours, others, order)
    waiting = 0 if flows.waits is None else len(set(flows.waits.flows.tolist()))
    if kind == "hpcc":
        assert any("wait for others" in line for line in written.left_out) == (waiting > 0)
    elif waiting and flows.waits is not None:
        assert found.waits is not None
        for column in ("flows", "after", "delays"):
            ours_, theirs = getattr(flows.waits, column), getattr(found.waits, column)
            assert np.array_equal(ours_, theirs), column


def test_a_fat_tree_comes_back_from_htsim(tmp_path: Path) -> None:
    """With connections that wait for one, for two, and what its triggers cannot say."""
    network = _network({"kind": "fat_tree", "k": 4, "rate": "100Gbps"}, tmp_path)
    messages = [
        {"src": "h0", "dst": "h5", "size": "1MB", "id": "a", "start": "3us"},
        {"src": "h1", "dst": "h6", "size": "2MB", "id": "b"},
        {"src": "h5", "dst": "h0", "size": "3MB", "id": "c", "after": ["a", "b"]},
        {"src": "h6", "dst": "h2", "size": "4MB", "after": ["c"]},
        {"src": "h6", "dst": "h3", "size": "5MB", "after": ["a"]},
        {"src": "h6", "dst": "h3", "size": "3GB"},
    ]
    flows = _flows({"messages": messages}, network, tmp_path)
    again, found, written = _read_back("htsim", Scene(network, flows, "fat_tree", 1), tmp_path)
    assert _links(network, _of_htsim(network)) == _links(again, np.array(again.names))
    assert found.sizes.tolist() == flows.sizes.tolist()[:-1]
    assert found.starts.tolist() == flows.starts.tolist()[:-1]
    assert found.waits is not None
    waits = zip(found.waits.flows.tolist(), found.waits.after.tolist(), strict=True)
    assert sorted(waits) == [(2, 0), (2, 1), (3, 2)]
    assert [line for line in written.left_out if line.startswith("1 flows")] == [
        "1 flows of more than 2,147,483,647 B, its largest",
        "1 flows wait in a way that triggers cannot say: they start at their own times",
    ]


def _of_htsim(network: Topology) -> Any:
    return np.array([name.replace("edge", "tor").removeprefix("h") for name in network.names])


@st.composite
def _triggered(draw: st.DrawFn, hosts: int) -> list[dict[str, Any]]:
    """Random messages between h0, h1, ..., some of which wait for one or two earlier ones."""
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 12))):
        ends = st.lists(st.integers(0, hosts - 1), min_size=2, max_size=2, unique=True)
        src, dst = (f"h{end}" for end in draw(ends))
        one: dict[str, Any] = {"src": src, "dst": dst}
        one |= {"size": f"{draw(st.integers(1, 2**32))}B", "id": f"i{number}"}
        if number and draw(st.booleans()):
            most = min(number, 4) - 1  # so that several wait for the same
            after = draw(st.lists(st.integers(0, most), min_size=1, max_size=2, unique=True))
            one["after"] = [f"i{other}" for other in after]
        if draw(st.integers(0, 3)) == 0:
            one["start"] = f"{draw(st.integers(0, 10**12))}ps"
        messages.append(one)
    return messages


@given(data=st.data())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_networks_and_flows_come_back_from_htsim(tmp_path: Path, data: st.DataObject) -> None:
    """Fat-trees of any size and speed; each flow starts at its time, waits, or is counted."""
    k = data.draw(st.sampled_from([2, 4, 6]))
    rate, delay = data.draw(st.integers(1, 800)), data.draw(st.integers(1, 10**4))
    table = {"kind": "fat_tree", "k": k, "rate": f"{rate}Gbps", "delay": f"{delay}ns"}
    network = _network(table, tmp_path)
    flows = _flows({"messages": data.draw(_triggered(len(network.hosts)))}, network, tmp_path)
    fitting = np.flatnonzero(flows.sizes < 2**31).tolist()
    scene = Scene(network, flows, "fat_tree", 10 * SECOND)
    if not fitting:
        more = f"{len(flows)} flows of more than 2,147,483,647 B, its largest"
        assert more in FORMATS["htsim"](scene).left_out
        return
    again, found, written = _read_back("htsim", scene, tmp_path)
    assert _links(network, _of_htsim(network)) == _links(again, np.array(again.names))
    ours, theirs = np.array(network.hosts).tolist(), np.array(again.hosts).tolist()
    for column in ("src", "dst"):
        ends = [ours.index(node) for node in getattr(flows, column)[fitting].tolist()]
        assert ends == [theirs.index(node) for node in getattr(found, column).tolist()], column
    assert found.sizes.tolist() == flows.sizes[fitting].tolist()
    asked, kept = _waits(flows), _waits(found)
    kept = {fitting[flow]: {fitting[other] for other in of} for flow, of in kept.items()}
    assert all(asked[flow] == of for flow, of in kept.items())  # none waits for anything else
    lost = [flow for flow in fitting if flow in asked and flow not in kept]
    said = [line for line in written.left_out if "triggers cannot say" in line]
    assert said == [
        f"{len(lost)} flows wait in a way that triggers cannot say: they start at their own times"
    ] * bool(lost)
    for flow, start in zip(fitting, found.starts.tolist(), strict=True):
        assert start == flows.starts[flow] or flow in kept
    # what triggers can say is said: the first that waits, at no time of its own, for what is there
    first = min(asked, default=None)
    if first in fitting and asked[first] <= set(fitting) and flows.starts[first] == 0:
        assert first in kept


def _waits(flows: traffic.Flows) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    if flows.waits is not None:
        pairs = zip(flows.waits.flows.tolist(), flows.waits.after.tolist(), strict=True)
        for flow, other in pairs:
            found.setdefault(flow, set()).add(other)
    return found


def test_what_cannot_be_said_is_listed(tmp_path: Path) -> None:
    """Endless flows, failures and servers."""
    table = {"kind": "star", "hosts": 4, "hosts_per_server": 2}
    table["failures"] = [{"link": ["h0", "s0"], "down": "1us"}]
    network = _network(table, tmp_path)
    scene = traffic.Scene(network, tmp_path, tmp_path, SECOND)
    greedy = {"kind": "greedy", "src": "h0", "dst": "h1", "rate_cap": "1Gbps"}
    entry = traffic.resolve(greedy, Findings("x"), ("t",), scene)
    assert entry is not None
    flows = traffic.flows([entry], network, 1, SECOND)
    for kind, write in FORMATS.items():
        said = "\n".join(write(Scene(network, flows, "star", 1, "swift", ("gfc",))).left_out)
        assert "1 flows without an end" in said
        assert "1 flows with a cap" in said
        assert "1 links that fail during the run" in said
        assert "hosts_per_server = 2" in said
        if kind == "hpcc":
            assert "flow control: it has PFC, not gfc" in said
            assert "congestion control swift" in said
        if kind == "htsim":
            assert "the network: it has whole fat-trees only, and this is star" in said


def test_the_command_writes_into_a_folder_and_overwrites_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And names what is left out."""
    args = ("gfc/two-to-one", "1", "hpcc", str(tmp_path / "out"), (), "")
    assert export(*args) == 0
    assert "left out: " in capsys.readouterr().out
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "config.txt", "flow.txt", "topology.txt",
    ]  # fmt: skip
    assert export(*args) == 2
    assert "exists already" in capsys.readouterr().err
    assert export("gfc/two-to-one", "1", "gaol", "", (), "") == 2
    assert "did you mean 'goal'" in capsys.readouterr().err


OWN = """title = "t"
question = "q?"
source = "own"
flow_control = ["pfc"]
{top}
[run]
duration = "{ms}ms"
[topology]
kind = "explicit"
rate = "25Gbps"
delay = "1us"
hosts = ["h0", "h1"]
switches = ["s0", "s1"]
links = [
  {{ between = ["h0", "s0"], rate = "25Gbps", delay = "1us" }},
  {{ between = ["h1", "s1"], rate = "25Gbps", delay = "1us" }},
  {{ between = ["s0", "s1"], rate = "100Gbps", delay = "2us" }},
]
[buffer]
size = "{mib}MiB"
[queue_pair]
payload_size = "{payload}B"
ack_every = {every}
window_bdps = {window}
[port]
loss_rate = {loss}
[[node]]
names = ["s0:s1", "s1:s0"]
port = {{ loss_rate = 0.25 }}
[[traffic]]
kind = "messages"
messages = [{{ src = "h0", dst = "h1", size = "1MB" }}]
{more}"""
CONTROLLED = {
    "": "",
    "dcqcn": """[dcqcn]
alpha_interval = "{a}us"
decrease_interval = "{b}us"
increase_interval = "{c}us"
gain = 0.125
clamp_target = true
fast_recovery = 3
additive_increase = "7Mbps"
hyper_increase = "77Mbps"
min_rate = "9Mbps"
[ecn-marking]
kmin = "{kmin}KB"
kmax = "{kmax}KB"
pmax = 0.75
reference_rate = "{reference}Gbps"
""",
    "hpcc": "[hpcc]\neta = 0.875\nmax_stage = 2\nadditive_increase = '40Mbps'\n",
    "timely": "[timely]\nadditive_increase = '8Mbps'\nmin_rate = '10Mbps'\n",
    "dctcp": "[dctcp]\ngain = 0.25\n[ecn-marking]\nkmin = '{kmin}KB'\nkmax = '{kmax}KB'\n",
}
"""What the HPCC simulator knows of each congestion control, too."""


def _scene(file: Path) -> Scene:
    planned = Study.load(file).plan()
    return scene_of(planned.specs[0], planned.experiment.types)


def _rounded(value: object) -> object:
    return float(str(value)) if is_number(str(value)) else str(value).lower()


@pytest.mark.parametrize("control", CONTROLLED)
@pytest.mark.parametrize("seed", [1, 2])
def test_settings_come_back_from_hpcc(tmp_path: Path, control: str, seed: int) -> None:
    """By `import` of what `export` wrote: buffer, losses, marks by rate, windows and senders."""
    draw = random.Random(f"{control}{seed}")  # noqa: S311 (cases, not keys)
    numbers = {name: draw.randint(1, 400) for name in "abc"}
    numbers |= {"kmin": 4 * draw.randint(1, 100), "reference": draw.choice([0, 25, 100])}
    numbers["kmax"] = numbers["kmin"] * draw.randint(1, 5)
    top = f'congestion_control = "{control}"\n' if control else ""
    more = CONTROLLED[control].format(**numbers)
    top += 'agents = ["ecn-marking"]\n' if "ecn-marking" in more else ""
    text = OWN.format(
        top=top,
        more=more,
        ms=draw.randint(1, 5000),
        mib=draw.randint(2, 64),
        payload=draw.randint(64, 4096),
        every=draw.randint(1, 16),
        window=draw.randint(0, 1) if control in ("", "dcqcn") else 0,
        loss=draw.choice([0, 0.5, 1e-7]),
    )
    (tmp_path / "own.toml").write_text(text)
    ours = _scene(tmp_path / "own.toml")
    for name, content in FORMATS["hpcc"](ours).files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "again.toml").write_text(experiment([tmp_path / "config.txt"], tmp_path))
    again = _scene(tmp_path / "again.toml")
    assert (again.control, again.flow_control) == (control, ("pfc",))
    assert again.duration == ours.duration
    assert sorted(again.losses.values()) == sorted(ours.losses.values())
    keys = {(section, key) for section, key, _ in keys_of(control or None).values()}
    keys |= {("queue_pair", "window_bdps"), ("queue_pair", "ack_every")}
    keys |= {*(("ecn-marking", key) for key in ("pmax", "at"))}
    for section, key in keys - {("run", "duration")}:
        if key in ours.settings.get(section, {}) and key != "additive_increase":
            one, other = (_rounded(of.settings[section][key]) for of in (ours, again))
            assert one == other, (section, key)
    # thresholds and increases may be for another rate: what is written of them is the same
    assert FORMATS["hpcc"](again).files == FORMATS["hpcc"](ours).files


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("buffer.size=12MB", "buffer.size is 12MB: BUFFER_SIZE 11 rounds it"),
        ("buffer.alpha=0.5", "buffer.alpha = 0.5: its configuration has no key for it"),
        ("queue_pair.window_bdps=0.5", "queue_pair.window_bdps = 0.5: HAS_WIN 1 is one BDP"),
        ("ecn-marking.at=Enqueue", "ecn-marking.at = Enqueue: it marks at dequeue"),
        ("ecn-marking.kmin=1B", "2 thresholds of ECN are no whole KB: they are rounded"),
    ],
)
def test_settings_that_hpcc_cannot_have_are_listed(tmp_path: Path, setting: str, said: str) -> None:
    """Each by its key."""
    more = CONTROLLED["dcqcn"].format(a=1, b=2, c=3, kmin=4, kmax=40, reference=0)
    top = 'congestion_control = "dcqcn"\nagents = ["ecn-marking"]\n'
    numbers = {"ms": 1, "mib": 16, "payload": 1000, "every": 1, "window": 0, "loss": 0}
    (tmp_path / "own.toml").write_text(OWN.format(top=top, more=more, **numbers))
    planned = Study.load(tmp_path / "own.toml", overrides=[setting]).plan()
    scene = scene_of(planned.specs[0], planned.experiment.types)
    assert said in FORMATS["hpcc"](scene).left_out


@given(_tables())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_flows_come_back_from_goal(
    tmp_path: Path, tables: tuple[dict[str, Any], list[dict[str, Any]]]
) -> None:
    """Every flow with its ends, its size and, to the ns, its start, by `import` and by the kind."""
    network = _network(tables[0], tmp_path)
    messages = [{**one, "start": f"{1000 * n}ns"} for n, one in enumerate(tables[1])]
    for one in messages:  # who may wait for whom depends on the ranks: tests of GOAL have that
        one.pop("after", None), one.pop("delay", None)
    flows = _flows({"messages": messages}, network, tmp_path)
    scene = Scene(network, flows, "explicit", 10 * SECOND, "dcqcn", ("pfc",))
    written = door.writers()["goal"](scene)
    assert "the network: GOAL has none" in written.left_out
    (tmp_path / "schedule.goal").write_text(written.files["schedule.goal"], encoding="utf-8")
    job = door.reader("goal", "job")(tmp_path / "schedule.goal", "schedule.goal", None)
    ranks = sorted({*flows.src.tolist(), *flows.dst.tolist()})
    assert job.ranks == len(ranks)
    activate({})
    hosts = [network.names[node] for node in ranks]
    findings = Findings("x.toml")
    entry = {"kind": "goal", "file": "schedule.goal", "hosts": hosts}
    setting = traffic.Scene(network, tmp_path, tmp_path, 10 * SECOND)
    form = traffic.resolve(entry, findings, ("traffic", "0"), setting)
    assert form is not None, [one.render() for one in findings.problems]
    again = traffic.flows([form], network, 1, 10 * SECOND)
    columns = ("src", "dst", "sizes", "starts")
    ours, theirs = (
        sorted(zip(*(getattr(one, column).tolist() for column in columns), strict=True))
        for one in (flows, again)
    )
    assert ours == theirs
