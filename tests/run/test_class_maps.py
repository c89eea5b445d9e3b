"""Classes on their way, frames of several sizes, storms and watchdogs, in whole runs."""

from __future__ import annotations

import itertools
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.files.ports import PortCheck
from pyorch.network import topology
from pyorch.network.topology import Topology
from pyorch.report.setting import sources
from pyorch.run.simulate import RefusedError
from pyorch.setting.attributes import DEFAULTS
from pyorch.setting.tagger import TAGGER, ClassWays, is_lossless_cycle
from pyorch.study import Study
from tests.cli.test_end_to_end import run, summaries
from tests.forms import setting_of

cpp = pytest.mark.cpp
HEAD = """
title = "classes"
flow_control = ["pfc"]
port.pause_response = "ideal"
[run]
duration = "200us"
allow_loss = true
[topology]
kind = "line"
switches = 3
hosts_per_switch = 2
rate = "100Gbps"
delay = "500ns"
"""
NEIGHBOURS = {"s0": ("h0", "h1", "s1"), "s1": ("s0", "s2", "h2", "h3"), "s2": ("s1", "h4", "h5")}
ROUTE = ("h0", "s0", "s1", "s2", "h4")
RNG = random.Random(47)  # noqa: S311


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """Each test draws the same, whichever ran before it."""
    RNG.seed(47)


def outcome(folder: Path, text: str) -> tuple[dict[str, float], dict[str, pd.DataFrame]]:
    """The summary and the tables of a run that succeeds."""
    folder.mkdir(exist_ok=True)
    done, results = run(folder, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = summaries(results)
    (place,) = results.rglob("runs/*/summary.json")
    nodes = json.loads(place.read_text(encoding="utf-8"))["nodes"]
    tables = {file.stem: pd.read_parquet(file) for file in place.parent.glob("*.parquet")}
    for table in tables.values():
        for column in {"node", "peer"} & set(table):
            table[column] = [nodes[number] for number in table[column]]
    return found, tables


def refused(folder: Path, text: str) -> str:
    """What is said of a run that is refused."""
    done, _ = run(folder, text)
    assert done.returncode != 0
    return " ".join((done.stdout + done.stderr).split())


def drawn_maps() -> dict[str, dict[str, dict[int, int]]]:
    """Maps for ports of switches, some of which trust code points."""
    maps: dict[str, dict[str, dict[int, int]]] = {}
    for node, peers in NEIGHBOURS.items():
        for peer in peers:
            own: dict[str, dict[int, int]] = {}
            for key, keys, values in (
                ("dscp_classes", 64, 8), ("class_groups", 8, 8),
                ("class_queues", 8, 8), ("class_marks", 8, 64),
            ):  # fmt: skip
                some = RNG.sample(range(keys), keys // 2)
                if RNG.random() < 0.7:
                    own[key] = {one: RNG.randrange(values) for one in some}
            maps[f"{node}:{peer}"] = own
    return maps


def toml_of(maps: dict[str, dict[str, dict[int, int]]]) -> str:
    """The maps as entries of a file."""
    parts = []
    for port, own in maps.items():
        lines = [
            f"{key} = {{ {', '.join(f'{one} = {value}' for one, value in table.items())} }}"
            for key, table in own.items()
        ]
        parts.append(f'[[node]]\nnames = ["{port}"]\n[node.port]\n' + "\n".join(lines) + "\n")
    return "".join(parts)


def way_of(maps: dict[str, dict[str, dict[int, int]]], cls: int, dscp: int) -> list[int]:
    """The class on each link of the route behind the first switch: what the maps say in words."""
    found = []
    for before, node, after in zip(ROUTE, ROUTE[1:], ROUTE[2:], strict=False):
        come, go = maps[f"{node}:{before}"], maps[f"{node}:{after}"]
        trusted = come.get("dscp_classes")
        label = cls if trusted is None else trusted.get(dscp, dscp // 8)
        dscp = go.get("class_marks", {}).get(label, dscp)
        cls = go.get("class_queues", {}).get(label, label)
        found.append(cls)
    return found


@cpp
def test_frames_leave_in_the_class_that_the_maps_of_ports_say(tmp_path: Path) -> None:
    """Random maps, class by class and hop by hop, in a run and in what is said before it."""
    for number in range(3):
        maps = drawn_maps()
        flows = [(cls, RNG.choice([None, *range(64)])) for cls in RNG.sample(range(8), 4)]
        entries = "".join(
            f'[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h4"\nclass = {cls}\n'
            f'rate_cap = "5Gbps"\n' + (f"dscp = {dscp}\n" if dscp is not None else "")
            for cls, dscp in flows
        )
        text = HEAD + "[buffer]\nlossless_classes = 0\nlossy_pool = '12MB'\n" + toml_of(maps)
        text = text.replace("title", 'agents = ["tagger"]\ntitle')
        _, tables = outcome(tmp_path / str(number), text + '[[trace]]\ntable = "frame"\n' + entries)
        data = tables["frame"].query("kind == 0")
        for flow, (cls, dscp) in enumerate(flows):
            expected = way_of(maps, cls, 8 * cls if dscp is None else dscp)
            own = data[data.flow == flow]
            seen = [
                set(own[(own.node == node) & (own.peer == peer)]["class"])
                for node, peer in itertools.pairwise(ROUTE[1:])
            ]
            assert seen == [{one} for one in expected]
            assert said_of(maps, cls, dscp) == expected


def said_of(maps: dict[str, dict[str, dict[int, int]]], cls: int, dscp: int | None) -> list[int]:
    """The same as it is foreseen before a run."""
    names = {"dscp_classes": "DscpClasses", "class_groups": "ClassGroups"}
    names |= {"class_queues": "ClassQueues", "class_marks": "ClassMarks"}
    nodes = [
        {
            "nodes": [port],
            "attributes": {
                "ns3::lossless::Port": {
                    names[key]: ",".join(f"{one}={value}" for one, value in table.items())
                    for key, table in own.items()
                }
            },
        }
        for port, own in maps.items()
    ]
    table = {"kind": "line", "switches": 3, "hosts_per_switch": 2}
    network = network_of(table)
    ways = ClassWays(setting_of({"agents": [TAGGER], "nodes": nodes}), network)
    found, mark = [], 8 * cls if dscp is None else dscp
    for before, node, after in zip(ROUTE, ROUTE[1:], ROUTE[2:], strict=False):
        ports = [network.port(node, peer) for peer in (before, after)]
        hop = ways.hop(cls, mark, *ports)  # type: ignore[arg-type]
        cls, mark = hop.queue, hop.dscp
        found.append(cls)
    return found


def network_of(table: dict[str, Any]) -> Topology:
    """A network with links of 100 Gb/s and 1 us."""
    findings = Findings("x")
    resolved = topology.resolve({"rate": "100Gbps", "delay": "1us", **table}, findings)
    assert resolved is not None, findings.problems
    return resolved.network


PAUSED = """
[buffer]
lossless_classes = 24
threshold = "static"
xoff = "20KB"
xon = "10KB"
[[node]]
names = ["s1:s0"]
port = { %s }
[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h4"
dscp = 26
[[fault]]
kind = "slow_receiver"
host = "h4"
rate = "20Gbps"
[[trace]]
table = "pause"
"""


@cpp
def test_a_pause_names_the_group_to_which_frames_are_charged(tmp_path: Path) -> None:
    """Maps that agree lose nothing; if the group differs, the queue goes on, and frames go."""
    head = HEAD.replace("title", 'agents = ["tagger"]\ntitle')
    agreed, tables = outcome(tmp_path / "1", head + PAUSED % "dscp_classes = { 26 = 3 }")
    assert agreed["dropped_frames"] == 0
    at_s1 = tables["pause"].query("node == 's0' and peer == 's1'")
    assert set(at_s1["class"]) == {3}
    other, tables = outcome(tmp_path / "2", head + PAUSED % "class_groups = { 3 = 4 }")
    assert other["dropped_headroom_frames"] > 0
    at_s1 = tables["pause"].query("node == 's0' and peer == 's1'")
    assert set(at_s1["class"]) == {4}
    done, _ = run(tmp_path, head + PAUSED % "class_groups = { 3 = 4 }")
    said = " ".join((done.stdout + done.stderr).split())
    assert "frames that arrive by s1:s0 in queue 3 are charged to group 4" in said


@cpp
def test_maps_without_the_agent_that_applies_them_are_refused(tmp_path: Path) -> None:
    """So are classes, groups and code points that there are not."""
    assert 'nothing applies the map at s1:s0 allowed: agents = ["tagger"]' in refused(
        tmp_path, HEAD + PAUSED % "class_groups = { 3 = 4 }"
    )
    wrong = HEAD + PAUSED % "class_groups = { 8 = 4 }, dscp_classes = { 64 = 3, 26 = 8 }"
    said = refused(tmp_path, wrong)
    assert "'8' is not a class from 0 to 7" in said
    assert "'64' is not a code point from 0 to 63" in said


@cpp
def test_frames_that_a_link_does_not_take_are_refused(tmp_path: Path) -> None:
    """A flow with packets of its own size; a link whose ends differ; a host, and a switch."""
    flows = '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h4"\npayload_size = "4096B"\n'
    text = HEAD + flows + '[[trace]]\ntable = "frame"\n'
    found, tables = outcome(tmp_path / "1", text)
    data = tables["frame"].query("kind == 0")
    assert set(data.bytes) == {4096 + 48 + 20}
    assert found["delivered_bytes"] % 4096 == 0

    def limited(*names: str) -> str:
        entries = (f'[[node]]\nnames = ["{one}"]\nport = {{ mtu = "1518B" }}\n' for one in names)
        return HEAD + "".join(entries) + flows

    one_end = refused(tmp_path, limited("s2:h4"))
    assert "1518B at s2:h4, but any at h4:s2" in one_end
    at_host = refused(tmp_path, limited("s2:h4", "h4"))
    assert "its frames have up to 4144 B, the port of h4 to s2 takes at most 1518" in at_host
    between = refused(tmp_path, limited("s0:s1", "s1:s0"))
    assert "frames of 4144 B, but s0:s1 takes 1518B" in between
    outcome(tmp_path / "2", limited("s2:h5", "h5"))  # no flow of that size goes there
    for size, most in (("9000B", ""), ("9001B", "less than or equal to 9000")):
        text = HEAD + flows.replace("4096B", size)
        assert most in (refused(tmp_path, text) if most else str(outcome(tmp_path / "3", text)))


def drawn_ports() -> str:
    """Sections of ports, of which about half are impossible."""
    draw = random.Random(RNG.randrange(2**32))  # noqa: S311

    def own() -> str:
        least, most = (
            ", ".join(
                f'{cls} = "{draw.randrange(20, high)}Gbps"' for cls in draw.sample(range(8), n)
            )
            for high, n in ((60, draw.randrange(4)), (90, draw.randrange(3)))
        )
        lines = [
            f"min_rates = {{ {least} }}",
            f"max_rates = {{ {most} }}",
            'class_service = "dwrr"',
        ]
        lines += ['weights = { 3 = 2, 7 = "strict" }', 'mtu = "1100B"', 'mtu = "1047B"']
        lines += ["class_queues = { 2 = 5 }"]
        kept = {line.partition(" ")[0]: line for line in lines if draw.random() < 0.3}
        return ", ".join(kept.values())

    places = [["*"], ["s0:s1", "s1:s0"], ["h*", "s*:h*"], ["s1"], ["h0", "s2:h4"]]
    entries = [
        f"[[node]]\nnames = {json.dumps(names)}\nport = {{ {own()} }}\n"
        for names in draw.sample(places, draw.randrange(1, 3))
    ]
    head = HEAD.replace("title", 'agents = ["tagger"]\ntitle') if draw.random() < 0.7 else HEAD
    flows = '[[traffic]]\nkind = "greedy"\nsrc = ["h0", "h4"]\ndst = ["h5", "h3"]\n'
    return head + "".join(entries) + flows


@cpp
def test_ports_are_refused_before_a_run_as_by_the_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random sections: what is accepted can be built, and what is refused cannot."""
    both = []
    for number in range(30):
        file = tmp_path / f"{number}.toml"
        file.write_text(drawn_ports(), encoding="utf-8")
        found = []
        for kept in (True, False):
            with monkeypatch.context() as patched, suppress(UserError, RefusedError):
                if not kept:
                    patched.setattr(PortCheck, "check", lambda *_: None)
                Study.load(file).open().close() if not kept else Study.load(file).plan()
                found.append(number)
        both.append(len(found) == 2)
        assert len(found) in (0, 2), file.read_text(encoding="utf-8")
    assert 5 < sum(both) < 25


@cpp
def test_hosts_answer_in_classes_of_their_own(tmp_path: Path) -> None:
    """ACKs and CNPs of a host, and of one that leaves it to [queue_pair]."""
    text = HEAD.replace("title", 'agents = ["ecn-marking"]\ncongestion_control = "dcqcn"\ntitle')
    text += """
[dcqcn]
notification = "paced"
[ecn-marking]
kmin = "5KB"
kmax = "20KB"
[[node]]
names = ["h4"]
host = { ack_class = 1, cnp_class = 6 }
[queue_pair]
answer_class = 2
[[traffic]]
kind = "greedy"
each = [{ src = ["h0", "h1"], dst = "h4" }, { src = ["h2", "h3"], dst = "h5" }]
[[trace]]
table = "frame"
"""
    _, tables = outcome(tmp_path, text)
    frames = tables["frame"]
    at_host = {
        (host, kind): set(frames[(frames.node == host) & (frames.kind == kind)]["class"])
        for host in ("h4", "h5")
        for kind in (1, 3)
    }
    assert at_host == {("h4", 1): {1}, ("h4", 3): {6}, ("h5", 1): {2}, ("h5", 3): {2}}


STORM = """
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h4"
[[fault]]
class = 3
{fault}
[[trace]]
table = "pause"
"""


@cpp
@pytest.mark.parametrize("place", ['host = "h4"', 'port = "s2:s1"', 'port = "s1:s0"'])
def test_a_choppy_storm_leaves_the_gaps_between_its_pauses(tmp_path: Path, place: str) -> None:
    """Of a host or a switch: the share of time between pauses, at line rate."""
    fault = (
        f'kind = "pause_storm"\n{place}\nstart = "20us"\nstop = "180us"\non = "6us"\noff = "2us"'
    )
    found, tables = outcome(tmp_path, HEAD + STORM.replace("{fault}", fault))
    assert found["dropped_frames"] == 0
    victim = {"h4": ("s2", "h4"), "s2:s1": ("s1", "s2"), "s1:s0": ("s0", "s1")}
    node, peer = victim[place.split('"')[1]]
    pauses = tables["pause"].query(f"node == '{node}' and peer == '{peer}'")
    frame, control = 1048 + 20, 64 + 20  # bytes on a link of 12.5 B/ns; the delay is 500 ns
    begin = pauses["start_ps"].to_numpy() - 500_000
    assert len(begin) == 20
    late = begin - 20_000_000 - 8_000_000 * np.arange(20)
    assert control * 80 <= late.min() <= late.max() <= (frame + control) * 80
    assert (pauses["end_ps"] - pauses["start_ps"]).to_numpy() == pytest.approx(6e6, abs=frame * 80)


@cpp
def test_frames_that_resume_end_pauses_with_a_reason(tmp_path: Path) -> None:
    """A slow receiver that resumes its switch all the time overflows; without PFC it cannot be."""
    slow = HEAD + STORM.replace(
        "{fault}", 'kind = "slow_receiver"\nhost = "h4"\nrate = "20Gbps"'
    ).replace("class = 3\n", "")
    calm, _ = outcome(tmp_path / "1", slow)
    storm = '[[fault]]\nkind = "resume_storm"\nhost = "h4"\nevery = "1us"\n'
    found, _ = outcome(tmp_path / "2", slow + storm)
    assert calm["dropped_frames"] == 0
    assert found["pfc_frames_sent"] - calm["pfc_frames_sent"] >= 190
    assert found["pause_time_ps"] < 0.2 * calm["pause_time_ps"]
    without = refused(tmp_path, slow.replace('["pfc"]', '["credit"]') + storm)
    assert "only PFC sends frames that resume" in without
    both = refused(tmp_path, slow + storm.replace('host = "h4"', 'host = "h4"\nport = "s2:h4"'))
    assert "either 'host' or 'port' is needed" in both


WATCHED = """
[buffer]
lossless_classes = 24
[pfc-watchdog]
poll = "100us"
detection = "200us"
restoration = "200us"
{own}
[[traffic]]
kind = "greedy"
dst = "h4"
each = [{ src = "h0", class = 3 }, { src = "h1", class = 4 }]
[[fault]]
kind = "pause_storm"
host = "h4"
each = [{ class = 3 }, { class = 4 }]
stop = "1ms"
"""


@cpp
def test_classes_have_watchdogs_of_their_own(tmp_path: Path) -> None:
    """Times and actions by class, and what ends a storm.

    One that turns into frames that resume goes on where frames count (sonic-swss issue 4581).
    """
    head = HEAD.replace("title", 'agents = ["pfc-watchdog"]\ntitle').replace("200us", "2ms")
    both, _ = outcome(tmp_path / "1", head + WATCHED.replace("{own}", ""))
    assert both["watchdog_storms"] == both["watchdog_restored"] == 2
    assert both["watchdog_first_storm_ps"] == 200_000_000
    own = 'actions = { 4 = "alert" }\ndetections = { 3 = "500us" }'
    text = head + WATCHED.replace("{own}", own) + '[[trace]]\ntable = "drop"\n'
    some, tables = outcome(tmp_path / "2", text)
    assert some["watchdog_first_storm_ps"] == 200_000_000
    drops = tables["drop"]
    assert len(drops) == some["watchdog_frames_dropped"] > 0
    assert set(drops["class"]) == {3}
    assert drops["time_ps"].min() == 500_000_000
    resumes = '[[fault]]\nkind = "resume_storm"\nhost = "h4"\nstart = "1ms"\nevery = "50us"\n'
    calm, _ = outcome(tmp_path / "3", head + WATCHED.replace("{own}", "") + resumes)
    frames, _ = outcome(
        tmp_path / "4", head + WATCHED.replace("{own}", 'calm = "frames"') + resumes
    )
    assert calm["watchdog_restored"] == 2
    assert frames["watchdog_restored"] == 1  # class 4, of which no frame comes
    late = refused(tmp_path, head + WATCHED.replace("{own}", 'restorations = { 3 = "10us" }'))
    assert "Restoration of the PFC watchdog" in late


FABRIC = """
title = "Two-tier Clos, dual-ToR servers, 400G on LAGs of two 800G links"
flow_control = ["pfc"]
congestion_control = "dcqcn"
agents = ["ecn-marking", "tagger", "pfc-watchdog"]
dcqcn.parameters = "connectx"
host.cnp_class = 6
ecn-marking = { kmin = "1MiB", kmax = "2MiB" }
queue_pair = { parameters = "connectx", payload_size = "4096B" }
[run]
duration = "200us"
allow_loss = true
[topology]
kind = "leaf_spine"
leaves = 4
hosts_per_leaf = 4
links_per_host = 2
spines = 2
links_per_spine = 2
rate = "400Gbps"
delay = "150ns"
uplink_rate = "800Gbps"
uplink_delay = "1500ns"
[port]
class_service = "dwrr"
weights = { 0 = 1, 1 = 1, 2 = 2, 3 = 4, 4 = 4, 5 = 4 }
dscp_classes = { 26 = 3, 27 = 4, 28 = 5, 48 = 6 }
pause_response = "802.3"
clock_tolerance = 100
mtu = "4200B"
[buffer]
parameters = "tomahawk5"
lossless_classes = 56
lossy_pool = "20MB"
alpha = 0.0625
[[traffic]]
kind = "permutation"
shift = 5
size = "1MB"
each = [{ class = 3, dscp = 26 }, { class = 4, dscp = 27 }, { class = 5, dscp = 28 }, { class = 1 }]
"""


@cpp
def test_the_fabric_of_a_data_centre_fits_into_forty_lines(tmp_path: Path) -> None:
    """LAGs, two leaves a host, six weighted queues, maps, MTU, watchdogs, a chip and NICs."""
    assert sum(bool(line) for line in FABRIC.splitlines()) <= 40
    text = FABRIC.replace("allow_loss = true\n", "allow_loss = true\ndrain = '1ms'\n")
    found, tables = outcome(tmp_path, text + '[[trace]]\ntable = "frame"\n')
    assert found["dropped_frames"] == 0
    assert found["delivered_bytes"] == 32_000_000
    plan = Study.load(tmp_path / "study.toml").plan()
    assert plan.experiment.types is not None
    told = sources(plan.specs[0].setting, plan.experiment.types)
    presets = {"dcqcn connectx", "buffer tomahawk5", "queue_pair connectx"}
    assert set(told) == {*presets, "port.pause_response 802.3"}
    assert "1.1584us at 400Gbps, 579.2ns at 800Gbps" in told["port.pause_response 802.3"]
    assert "Dell Z9864F" in told["buffer tomahawk5"]
    data = tables["frame"].query("kind == 0")
    assert data.groupby("flow")["class"].nunique().max() == 1
    flows = data.drop_duplicates("flow").set_index("flow")["class"]
    assert flows.value_counts().to_dict() == {3: 8, 4: 8, 5: 8, 1: 8}


def test_a_cycle_is_lossless_only_where_groups_and_queues_are() -> None:
    """A ring of turns, whose classes a map leads into a lossy queue at one switch."""
    network = network_of({"kind": "ring", "switches": 4})
    ring = [network.numbers[f"s{n}"] for n in range(4)]
    turns = [((ring[n - 3], ring[n - 2]), (ring[n - 2], ring[n - 1])) for n in range(4)]
    mask = {DEFAULTS["buffer_policy"]: {"LosslessClasses": "8"}}
    everywhere = {"nodes": ["s0"], "attributes": {"ns3::lossless::Port": {"ClassQueues": "3=2"}}}
    for nodes, cyclic in (([], True), ([everywhere], False)):
        setting = setting_of({"agents": [TAGGER], "nodes": nodes, "attributes": mask})
        assert is_lossless_cycle(setting, network, turns, [3]) == cyclic
