"""`import`: an experiment from foreign files that can run, and says what it assumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomli

from pyorch.addons.jobs import chakra
from pyorch.base.errors import UserError
from pyorch.base.units import MAX_TIME, parse_bytes, parse_time
from pyorch.cli.bring import bring
from pyorch.network.topology import Topology, build
from pyorch.readers.importing import experiment
from pyorch.study import Study
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run, verb

NETWORK = "4 1 3\n3\n" + "".join(f"{host} 3 100Gbps 0.001ms 0\n" for host in range(3))
FLOWS = "2\n0 2 3 100 1000000 2.0\n1 2 3 100 1000000 2.0\n"
CONFIG = """ENABLE_QCN 1
CC_MODE {mode}
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
PACKET_PAYLOAD_SIZE 1000
SIMULATOR_STOP_TIME 4.00
RATE_AI 50Mb/s
MIN_RATE 100Mb/s
U_TARGET 0.9
EWMA_GAIN 0.0625
BUFFER_SIZE 16
KMIN_MAP 2 25000000000 100 100000000000 400
KMAX_MAP 2 25000000000 400 100000000000 1000
PMAX_MAP 2 25000000000 0.2 100000000000 0.3
LINK_DOWN 0 0 0
PINT_PROB 1.0
"""

MAPS = (
    "KMIN_MAP 1 100000000000 400\nKMAX_MAP 1 100000000000 1600\n",
    "KMAX_MAP 1 100000000000 1600\nPMAX_MAP 1 100000000000 0.2\n",
)


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def _imported(folder: Path, *names: str) -> tuple[dict[str, Any], str]:
    text = experiment([folder / name for name in names], folder)
    return tomli.loads(text), text


@pytest.mark.parametrize(
    ("lines", "every"),
    [
        ("L2_ACK_INTERVAL 0\n", 1),
        ("L2_ACK_INTERVAL 256\n", 1),
        ("L2_ACK_INTERVAL 4000\n", 4),
        ("PACKET_PAYLOAD_SIZE 1500\nL2_ACK_INTERVAL 4000\n", 3),
        ("L2_ACK_INTERVAL 4000\nENABLE_IRN 1\n", 1),
    ],
)
def test_acknowledgements_come_after_bytes(tmp_path: Path, lines: str, every: int) -> None:
    """Which its code counts, whatever its notes say; a packet has 1,000 by default."""
    _write(tmp_path, topology=NETWORK, config=f"TOPOLOGY_FILE topology.txt\n{lines}")
    table, _ = _imported(tmp_path, "config.txt")
    assert table["queue_pair"]["ack_every"] == every


@pytest.mark.parametrize(
    ("mode", "control", "own"),
    [
        (1, "dcqcn", {"additive_increase": "50Mbps", "gain": 0.0625, "min_rate": "100Mbps"}),
        (3, "hpcc", {"additive_increase": "50Mbps", "eta": 0.9, "reference_rate": "0bps"}),
        (8, "dctcp", {"gain": 0.0625, "min_rate": "100Mbps"}),
    ],
)
def test_a_configuration_brings_its_files_and_what_maps(
    tmp_path: Path, mode: int, control: str, own: dict[str, Any]
) -> None:
    """Every key that is used names its origin; the others are listed."""
    _write(tmp_path, topology=NETWORK, flow=FLOWS, config=CONFIG.format(mode=mode))
    table, text = _imported(tmp_path, "config.txt")
    assert table["topology"]["file"] == "topology.txt"
    assert table["traffic"] == [{"kind": "messages", "file": "flow.txt"}]
    assert table["congestion_control"] == control
    assert own.items() <= table[control].items()
    assert table["run"] == {"duration": "4s", "stop_when_done": True}
    assert table["buffer"]["size"] == "16MiB"
    assert "# BUFFER_SIZE 16" in text
    assert "# left out: PINT_PROB 1.0" in text
    assert "LINK_DOWN" not in text
    if control != "hpcc":
        marks = table["ecn-marking"]
        assert (marks["kmin"], marks["kmax"], marks["pmax"]) == ("400KB", "1MB", 0.3)
        assert "# left out: KM" not in text  # no link has 25 Gb/s


MAPPED = """CC_MODE 1
KMIN_MAP 4 25000000000 100 100000000000 400 200000000000 1000 1600000000000 2400
KMAX_MAP 4 25000000000 400 100000000000 1600 200000000000 2000 1600000000000 9600
PMAX_MAP 4 25000000000 0.2 100000000000 0.2 200000000000 0.3 1600000000000 0.4
"""


@pytest.mark.parametrize(
    ("rates", "marks", "left_out"),
    [
        (("100Gbps",) * 3, ("400KB", "1600KB", 0.2, "100Gbps"), set()),
        (("25Gbps", "100Gbps", "100Gbps"), ("400KB", "1600KB", 0.2, "100Gbps"), set()),
        (
            ("100Gbps", "200Gbps", "200Gbps"),
            ("1MB", "2MB", 0.3, "200Gbps"),
            {
                "KMIN_MAP 100000000000 400",
                "KMAX_MAP 100000000000 1600",
                "PMAX_MAP 100000000000 0.2",
            },
        ),
        (("100Gbps", "400Gbps", "400Gbps"), ("400KB", "1600KB", 0.2, "100Gbps"), set()),
    ],
)
def test_thresholds_are_those_of_the_rates_of_links(
    tmp_path: Path, rates: tuple[str, ...], marks: tuple[Any, ...], left_out: set[str]
) -> None:
    """The fastest rate of a link counts; rows of rates that no link has are not listed."""
    links = "".join(f"{host} 3 {rate} 0.001ms 0\n" for host, rate in enumerate(rates))
    _write(tmp_path, topology=f"4 1 3\n3\n{links}", config=MAPPED)
    table, text = _imported(tmp_path, "config.txt", "topology.txt")
    found = table["ecn-marking"]
    kmin, kmax = map(parse_bytes, (found["kmin"], found["kmax"]))
    assert (kmin, kmax) == tuple(map(parse_bytes, marks[:2]))
    assert (found["pmax"], found["reference_rate"]) == marks[2:]
    told = [line.partition(": ")[2] for line in text.splitlines() if "left out: " in line]
    assert {one.partition(": ")[0] for one in told if "MAP" in one} == left_out
    assert ("has no links of 400Gbps: in proportion to" in text) == ("400Gbps" in rates)


@pytest.mark.parametrize("recovery", [0, 1])
def test_lossy_networks_of_conweave_have_no_pfc(tmp_path: Path, recovery: int) -> None:
    """With its recovery; its keys are known, and a key that is not is called so."""
    own = f"""ENABLE_PFC 0
ENABLE_IRN {recovery}
LB_MODE 9
CONWEAVE_TX_EXPIRY_TIME 1000
MON_START 5
QLEN_MON_INTERVAL 5
FLOWGEN_STOP_TIME 2.1
CNP_OUTPUT_FILE x/cnp.txt
BUFER_SIZE 9
"""
    _write(tmp_path, topology=NETWORK, flow=FLOWS, config=CONFIG.format(mode=1) + own)
    table, text = _imported(tmp_path, "config.txt")
    assert table["flow_control"] == []
    assert table["buffer"]["lossless_classes"] == 0
    assert table["buffer"]["lossy_pool"] == table["buffer"]["size"] == "16MiB"
    assert (table["queue_pair"].get("parameters") == "irn") == bool(recovery)
    assert ("window_bdps" in table["queue_pair"]) != bool(recovery)
    assert "LB_MODE 9, ConWeave: flows are spread" in text
    assert "FLOWGEN_STOP_TIME 2.1: flows start as their file says" in text
    for name in ("MON_START 5", "QLEN_MON_INTERVAL 5", "CNP_OUTPUT_FILE x/cnp.txt"):
        assert f"{name}: what it writes is not what is simulated" in text
    assert "BUFER_SIZE 9: it is not known" in text
    assert "assumed: no PFC" in text
    (tmp_path / "my.toml").write_text(text, encoding="utf-8")
    Study.load(tmp_path / "my.toml").plan()


def test_what_was_imported_can_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command, which says what it assumes; it overwrites nothing."""
    _write(tmp_path, topology=NETWORK, flow=FLOWS)
    files = [str(tmp_path / name) for name in ("flow.txt", "topology.txt")]
    out = str(tmp_path / "my.toml")
    assert bring(files, out) == 0
    assert "assumed: a run takes at most" in capsys.readouterr().out
    (spec,) = Study.load(out).plan().specs
    assert spec.setting.traffic[0].pairs() == [("0", "2"), ("1", "2")]
    assert bring(files, out) == 2
    assert "exists already" in capsys.readouterr().err


SLOW_STAR = "a,b,rate,delay\nh0,s,1Gbps,1us\nh1,s,1Gbps,1us\nh2,s,1Gbps,1us\n"


@pytest.mark.parametrize(
    ("messages", "duration", "lossless"),
    [
        ("src,dst,size,start,class\nh0,h1,1MB,2s,5\nh1,h2,5MB,,\n", 2 + 0.49, 1 << 5),
        ("src,dst,size,start_us\nh0,h1,1000,3000000\n", 3 + 0.09, None),
        (
            "src,dst,size,id,after,delay_us\nh0,h1,1MB,a,,\nh1,h2,9MB,b,a,500000\n",
            0.5 + 0.81,
            None,
        ),
    ],
)
def test_messages_in_csv_count(
    tmp_path: Path, messages: str, duration: float, lossless: int | None
) -> None:
    """For the duration, the start of the last one and a tenth of the rate, and for the classes."""
    (tmp_path / "links.csv").write_text(SLOW_STAR, encoding="utf-8")
    (tmp_path / "messages.csv").write_text(messages, encoding="utf-8")
    out = tmp_path / "my.toml"
    assert bring([str(tmp_path / name) for name in ("messages.csv", "links.csv")], str(out)) == 0
    table = tomli.loads(out.read_text(encoding="utf-8"))
    assert parse_time(table["run"]["duration"]) == round(duration * 10**12)
    assert table.get("buffer", {}).get("lossless_classes") == lossless


def test_names_that_no_node_may_have_are_spelled_anew(tmp_path: Path) -> None:
    """With what is said of it, of messages to them, too; two that become one are refused."""
    links = "a,b\nleaf1.dc1,New York\n10.0.0.1,leaf1.dc1\n10.0.0.2,New York\n"
    (tmp_path / "links.csv").write_text(links, encoding="utf-8")
    (tmp_path / "messages.csv").write_text("src,dst,size\n10.0.0.1,10.0.0.2,1MB\n", "utf-8")
    out = str(tmp_path / "my.toml")
    assert bring([str(tmp_path / name) for name in ("messages.csv", "links.csv")], out) == 0
    assert "4 names of nodes have what no name may have: 'leaf1.dc1' is 'leaf1-dc1'" in Path(
        out
    ).read_text(encoding="utf-8")
    (spec,) = Study.load(out).plan().specs
    assert spec.setting.traffic[0].pairs() == [("10-0-0-1", "10-0-0-2")]
    assert set(_network(Path(out)).names) == {"leaf1-dc1", "New-York", "10-0-0-1", "10-0-0-2"}
    (tmp_path / "links.csv").write_text(links.replace("10.0.0.2", "10-0.0.1"), encoding="utf-8")
    with pytest.raises(UserError, match="would both be called '10-0-0-1'"):
        _imported(tmp_path, "links.csv")


@pytest.mark.parametrize("name", ["lat\udce9.csv", "lat\udce9"])
def test_names_that_are_not_utf_8_are_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a file and of the folder of one: an experiment cannot name them."""
    file = tmp_path / name
    if not file.suffix:
        file.mkdir()
        file /= "links.csv"
    file.write_text(SLOW_STAR, encoding="utf-8")
    assert bring([str(file)], str(tmp_path / "e.toml")) == 2
    assert "is not UTF-8" in capsys.readouterr().err
    assert not (tmp_path / "e.toml").exists()


def test_a_link_that_goes_down_does_so_after_two_seconds(tmp_path: Path) -> None:
    """As in that simulator, whose key counts us from there; other values are listed."""
    config = CONFIG.format(mode=1)
    links = NETWORK.replace("4 1 3", "4 1 4") + "0 3 100Gbps 0.001ms 0\n"
    for line, failures in (
        ("LINK_DOWN 7 1 3", [{"link": ["1", "3"], "down": "2000007us"}]),
        ("LINK_DOWN 7 1", None),
    ):
        _write(tmp_path, topology=links, config=config.replace("LINK_DOWN 0 0 0", line))
        table, text = _imported(tmp_path, "config.txt")
        assert table["topology"].get("failures") == failures
        assert ("it is no time [us] and two nodes" in text) == (failures is None)


@pytest.mark.parametrize(
    ("name", "text", "hosts"),
    [
        ("flow.txt", FLOWS, 3),
        ("m.cm", "Nodes 9\nConnections 1\n3->8 id 1 start 0.000000 size 9000\n", 9),
        ("m.csv", "src,dst,size\nh0,h3,1MB\n", 4),
    ],
)
def test_messages_alone_get_a_star(tmp_path: Path, name: str, text: str, hosts: int) -> None:
    """As a job does, with a host for each number up to the highest."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert bring([str(tmp_path / name)], str(tmp_path / "my.toml")) == 0
    table = tomli.loads((tmp_path / "my.toml").read_text(encoding="utf-8"))
    assert (table["topology"]["kind"], table["topology"]["hosts"]) == ("star", hosts)
    (tmp_path / "o.csv").write_text("src,dst,size\nalpha,beta,1MB\n", encoding="utf-8")
    with pytest.raises(UserError, match="none of the files holds a network"):
        _imported(tmp_path, "o.csv")


def test_a_message_to_no_node_does_not_turn_hosts_into_switches(tmp_path: Path) -> None:
    """The experiment then tells of that message."""
    (tmp_path / "links.csv").write_text(SLOW_STAR, encoding="utf-8")
    (tmp_path / "messages.csv").write_text("src,dst,size\nh0,h7,1MB\n", encoding="utf-8")
    table, _ = _imported(tmp_path, "links.csv", "messages.csv")
    assert "add_hosts" not in table["topology"]


def test_a_network_of_too_many_nodes_writes_nothing(tmp_path: Path) -> None:
    """It is refused before there is an experiment."""
    nodes = ",".join(f'{{"id": {node}}}' for node in range(100_001))
    (tmp_path / "net.json").write_text(f'{{"nodes": [{nodes}], "links": []}}', encoding="utf-8")
    with pytest.raises(UserError, match="its network has 100,001 nodes and links"):
        _imported(tmp_path, "net.json")


def test_the_network_that_a_configuration_names_is_told(tmp_path: Path) -> None:
    """Where it lies elsewhere, such as two folders above what ConWeave's runs write."""
    _write(tmp_path, config="CC_MODE 1\nTOPOLOGY_FILE config/fat_k8.txt\nFLOW_FILE flow.txt\n")
    _write(tmp_path, flow=FLOWS)  # for which no star stands in
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "config.txt")
    assert "name config/fat_k8.txt, the TOPOLOGY_FILE of config.txt, too" in caught.value.render()


def test_a_folder_of_the_simulator_is_enough(tmp_path: Path) -> None:
    """Its configuration, or its network and its flows; else it is told what is missing."""
    mix = tmp_path / "simulation" / "mix"
    mix.mkdir(parents=True)
    _write(mix, topology=NETWORK, flow=FLOWS)
    for extra in ("", "config"):
        if extra:
            _write(mix, config=CONFIG.format(mode=1))
        table, _ = _imported(tmp_path, "")
        assert table["topology"]["file"] == "simulation/mix/topology.txt"
        assert table["traffic"][0]["file"] == "simulation/mix/flow.txt"
        assert ("congestion_control" in table) == bool(extra)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "empty")
    assert "empty: is a folder without config.txt" in caught.value.render()


def test_odd_paths_are_named_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder here has a name, too; a file given twice counts once."""
    (tmp_path / "mix").mkdir()
    _write(tmp_path / "mix", topology=NETWORK, flow=FLOWS)
    monkeypatch.chdir(tmp_path / "mix")
    table = tomli.loads(experiment([Path()], Path()))
    assert table["title"] == "Imported from mix"
    table = tomli.loads(experiment([Path("topology.txt")] * 2, Path()))
    assert table["title"] == "Imported from topology.txt"
    (tmp_path / "other").mkdir()
    _write(tmp_path / "other", net=NETWORK)
    for given, said in (
        ("../other", "import ../other/net.txt --out my.toml"),
        ("/dev/null", "is not a file to be read"),
        ("none.txt", "there is no such file"),
        ("", "no file was given"),
    ):
        assert bring([given], "my.toml") == 2
        assert said in capsys.readouterr().err


def _network(file: Path) -> Topology:
    return build(Study.load(file).plan().specs[0].setting.topology)


GRAPHS = {
    "zoo.gml": 'graph [ node [ id 0 label "A b" ] node [ id 1 ] node [ id 2 ]'
    " edge [ source 0 target 1 LinkSpeedRaw 1000000000.0 ]"
    " edge [ source 0 target 1 LinkSpeedRaw 2000000000.0 ]"
    " edge [ source 1 target 2 LinkSpeedRaw 1000000000.0 ] ]",
    "hub.json": '{"nodes": [{"id": "a"}, {"id": "b"}], '
    '"links": [{"source": "a", "target": "b", "dist": 12.5}]}',
}


def test_graphs_of_switches_get_hosts(tmp_path: Path) -> None:
    """Parallel links are kept, distances become delays, and each is said."""
    for name, text in GRAPHS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    _, text = _imported(tmp_path, "zoo.gml")
    assert "# assumed: 1 pair of nodes has several links" in text
    assert 'duration = "90ms"' in text  # 1 MB at a tenth of 1 Gb/s, and 10 ms more
    (tmp_path / "zoo.toml").write_text(text)
    network = _network(tmp_path / "zoo.toml")
    assert [network.names[host] for host in network.hosts] == ["0-h0", "1-h0", "2-h0"]
    rates = {network.ends_of(link)[1]: int(rate) for link, rate in enumerate(network.rates)}
    assert (rates["1#1"], rates["1#2"]) == (10**9, 2 * 10**9)
    _, text = _imported(tmp_path, "hub.json")
    (tmp_path / "hub.toml").write_text(text)
    network = _network(tmp_path / "hub.toml")
    assert network.delays[0] == 12_500 * 5_000


def test_long_cables_get_buffers_and_time(tmp_path: Path) -> None:
    """1,000 km at 100 Gb/s hold 125 MB there and back; each of 70 links may be on a path."""
    ends = "".join(f"{n},{n + 1},1000km\n" for n in range(70))
    (tmp_path / "far.csv").write_text(f"a,b,delay\n{ends}", encoding="utf-8")
    table, text = _imported(tmp_path, "far.csv")
    assert table["buffer"] == {"size": "750MB"}  # three times those of two links
    # 2 (70 + 1) links of 5 ms, there and back, twice; ten times for the run, and 0.8 ms to send
    assert table["queue_pair"] == {"ttl": 255, "timeout": "2.84s"}
    assert table["run"]["duration"] == "14201ms"
    assert "# assumed: cables are long: switches have a buffer of 750MB" in text
    (tmp_path / "my.toml").write_text(text)
    Study.load(tmp_path / "my.toml").plan()


LINKS = "a,b,rate\nh0,s0,10Gbps\nh1,s0,\ns0,s1,40Gbps\nh2,s1,10Gbps\n"


def test_hosts_without_a_role_are_those_of_the_messages(tmp_path: Path) -> None:
    """If all of them have one link; otherwise hosts are added."""
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "own.csv").write_text("src,dst,size,start\nh0,h2,10KB,0us\n")
    found, text = _imported(tmp_path, "links.csv", "own.csv")
    assert "add_hosts" not in found["topology"]
    assert "# assumed: 1 of 4 links have no rate: 100Gbps" in text
    (tmp_path / "other.csv").write_text("src,dst,size,start\ns0,h2,10KB,0us\n")
    found, _ = _imported(tmp_path, "links.csv", "other.csv")
    assert found["topology"]["add_hosts"] == 1


def test_a_rate_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """It is not replaced by another, nor are those of other links."""
    (tmp_path / "links.csv").write_text(LINKS.replace("40Gbps", "fast"))
    with pytest.raises(UserError, match="line 4: rate") as caught:
        _imported(tmp_path, "links.csv")
    assert "none: then 100Gbps" in caught.value.render()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"c": "CC_MODE 1\n"}, "none of the files holds a network"),
        ({"topology": NETWORK + "x", "other": NETWORK}, "a second file of network"),
        ({"topology": NETWORK.replace("100Gbps", "1Gb")}, "rate"),
        ({"topology": NETWORK.replace("100Gbps", "0")}, "topology.txt: line 3: rate: a rate of 0"),
        (
            {"topology": NETWORK, "f": "2\n0 1 3 100 0 1\n1 2 3 100 0 1\n"},
            "f.txt: line 2 and 1 more: '0' is not a size",
        ),
        ({"topology": NETWORK, "c": "CC_MODE 1\nRATE_AI 5furlongs\n"}, "c.txt: line 2: RATE_AI"),
        (
            {"topology": NETWORK, "c": f"CC_MODE 1\nKMIN_MAP 9 1\n{MAPS[1]}"},
            "line 2: KMIN_MAP: '9 1'",
        ),
        ({"topology": NETWORK, "c": f"CC_MODE 1\n{MAPS[0]}"}, "PMAX_MAP missing"),
        ({"topology": NETWORK, "c": f"CC_MODE 1\n{MAPS[0]}PMAXMAP 1 5 1\n"}, "line 4 has PMAXMAP"),
        (
            {"topology": NETWORK, "c": f"CC_MODE 1\n{MAPS[0]}PMAX_MAP 1 50000000000 1\n"},
            "line 4: PMAX_MAP: its rates are not those of KMIN_MAP",
        ),
        ({"topology": NETWORK, "c": "CC_MODE 1\nRATE_AI\n"}, "line 2: RATE_AI: it has no value"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nRATE_AI 50 Mb/s\n"}, "it has 2 values: '50 Mb/s'"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nCC_MODE 3\n"}, "a second time, after line 1"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nENABLE_QCN 2\n"}, "'2' cannot be read: neither 0"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nHAS_WIN yes\n"}, "line 2: HAS_WIN"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nCLAMP_TARGET_RATE 7\n"}, "CLAMP_TARGET_RATE: '7'"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nBUFFER_SIZE nan\n"}, "'nan' cannot be read: not a"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nRP_TIMER 1e999990\n"}, "line 2: RP_TIMER: '1e9999"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nL2_ACK_INTERVAL 1.5\n"}, "not a whole number"),
    ],
)
def test_what_cannot_be_imported_is_told(tmp_path: Path, files: dict[str, str], said: str) -> None:
    """With the file and the line."""
    _write(tmp_path, **files)
    out = tmp_path / "my.toml"

    def run() -> None:
        out.write_text(experiment([tmp_path / f"{name}.txt" for name in files], tmp_path))
        Study.load(out).plan()

    with pytest.raises(UserError) as caught:
        run()
    assert said in caught.value.render()


def test_a_configuration_tells_what_it_lacks_and_what_is_not_used(tmp_path: Path) -> None:
    """Keys with our values, keys that look like known ones, and flows and links beyond a count."""
    topology = NETWORK.replace("4 1 3", "4 1 2")
    flows = FLOWS.replace("2\n0", "1\n0", 1)
    config = "CC_MODE 1\nRATE_AL 5\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\n"
    _write(tmp_path, topology=topology, flow=flows, config=config + "HAS_WIN 1\n")
    table, text = _imported(tmp_path, "config.txt")
    assert table["queue_pair"]["window_bdps"] == 1
    for said in (
        "assumed: ENABLE_QCN 1: config.txt does not say",
        "assumed: not in config.txt, so ours: PACKET_PAYLOAD_SIZE,",
        ", RATE_AI, RATE_HAI, MIN_RATE, KMIN_MAP, KMAX_MAP, PMAX_MAP",
        "assumed: PFC on every link, headroom by our rule; headers and ACKs have our sizes",
        "left out: RATE_AL 5: it is not known; did you mean 'RATE_AI'?",
        "left out: 1 links more than the 2 that the first line says",
        "left out: 1 flows more than the 1 that the first line says",
    ):
        assert f"# {said}" in text or said in text, said
    _write(tmp_path, config="ENABLE_QCN 0\nCC_MODE 3\nTOPOLOGY_FILE topology.txt\n")
    table, text = _imported(tmp_path, "config.txt")
    assert "congestion_control" not in table
    assert "# assumed: no congestion control" in text
    assert "# assumed: HAS_WIN 1, as that simulator has it by default" in text
    assert table["queue_pair"]["window_bdps"] == 1
    _write(tmp_path, config="CC_MODE 3\nTOPOLOGY_FILE topology.txt\nHAS_WIN 0\n")
    table, text = _imported(tmp_path, "config.txt")
    assert "# left out: HAS_WIN 0: windows are as the congestion control has them" in text
    assert "window_bdps" not in table.get("queue_pair", {})


def test_a_fat_tree_tells_what_it_lacks_and_what_is_not_used(tmp_path: Path) -> None:
    """Links without a latency have the delay of [topology]; its queues are not simulated."""
    tiers = "Nodes 4\nTiers 2\nPodsize 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n"
    tiers += "Radix_Up 1\nQueue_Down 80\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
    (tmp_path / "n.topo").write_text(tiers + "Downlink_Latency_ns 500\nSwitch_Latency_ns 30\n")
    table, text = _imported(tmp_path, "n.topo")
    assert "# assumed: 4 of 6 links have no delay: 1us" in text
    for said in ("Podsize 2: two tiers are one pod", "tier 0: queue_down 80"):
        assert f"# left out: {said}" in text
    assert "# left out: tier 1: switch_latency_ns 30" in text
    (tmp_path / "my.toml").write_text(text)
    assert sorted(_network(tmp_path / "my.toml").delays) == [500_000] * 2 + [10**6] * 4
    assert table["topology"]["delay"] == "1us"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topolgy:\n  nodes: {a: {}}\n", "did you mean 'topology'?"),
        ("topology:\n  nodes: {a: {}, b: {}}\n  link: []\n", "unknown key 'link'"),
    ],
)
def test_a_lab_with_a_wrong_key_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """A key that is spelled wrongly would leave the network without links."""
    (tmp_path / "lab.yml").write_text(text)
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "lab.yml")
    assert said in caught.value.render()


def test_a_configuration_reads_no_file_elsewhere(tmp_path: Path) -> None:
    """Of a path only the name counts, beside the configuration."""
    (tmp_path / "in").mkdir()
    _write(tmp_path, secret=NETWORK)
    _write(tmp_path / "in", c="CC_MODE 1\nTOPOLOGY_FILE ../secret.txt\n")
    with pytest.raises(UserError) as caught:
        experiment([tmp_path / "in" / "c.txt"], tmp_path)
    assert "none of the files holds a network" in caught.value.render()


@pytest.mark.cpp
def test_imported_flows_arrive_to_the_picosecond(tmp_path: Path) -> None:
    """Two flows of 1,000 frames each meet on one link, which sends them one after the other.

    A frame of 1,000 B has 48 B of headers, and 20 B of preamble and gap: 85.44 ns at 100 Gb/s. The
    last bit comes behind 2,000 frames, one more on the first link, and 1 us on each of two.
    """
    _write(tmp_path, topology=NETWORK, flow=FLOWS)
    done, results = verb(
        tmp_path, "import", str(tmp_path), "--out", str(tmp_path / "my.toml"), "--run"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("flow.parquet")
    flows = pd.read_parquet(file)
    frame = (1000 + 48 + 20) * 8 * 10
    assert flows["finish_ps"].max() - 2 * 10**12 == 2001 * frame + 2 * 10**6
    assert flows["size_bytes"].sum() == 2_000_000


# ---------------------------------------------------------------------------------------------
# What real files have


def test_links_that_lose_frames_become_loss_rates_of_their_ports(tmp_path: Path) -> None:
    """In both directions, also of hosts with several links; refused where nobody asked."""
    lossy = "4 2 5\n2 3\n0 2 1Gbps 1us 0\n0 3 1Gbps 1us 0.01\n1 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"
    _write(tmp_path, topology=lossy + "2 3 1Gbps 1us 1e-3\n", c="ERROR_RATE_PER_LINK 0.5\n")
    table, text = _imported(tmp_path, "topology.txt", "c.txt")
    assert table["topology"]["error_rates"] == "ignore"
    assert table["port"] == {"loss_rate": 0.5, "pause_response": "ideal"}
    assert table["node"] == [
        {"names": ["0:3", "3:0"], "port": {"loss_rate": 0.01}},
        {"names": ["2:3", "3:2"], "port": {"loss_rate": 0.001}},
    ]
    (tmp_path / "my.toml").write_text(text)
    Study.load(tmp_path / "my.toml").plan()
    (tmp_path / "my.toml").write_text(text.replace('error_rates = "ignore"', ""))
    with pytest.raises(UserError) as caught:
        Study.load(tmp_path / "my.toml").plan()
    assert "topology.txt: line 4: the link loses frames: its error rate is 0.01" in str(
        caught.value.render()
    )


PARTS = {
    "an isolated node": ("0 1\n1 2\n", 4, "1 nodes in 1 parts that are not connected"),
    "two parts": ("0 1\n1 2\n3 4\n", 5, "2 nodes in 1 parts"),
    "a loop": ("0 1\n1 2\n1 1\n", 3, "1 links that lead from a node to itself"),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_is_not_connected_is_left_out(name: str, tmp_path: Path) -> None:
    """The largest part remains, of three nodes and two links, with a host on each node."""
    links, nodes, said = PARTS[name]
    lines = [f"node [ id {one} ]" for one in range(nodes)]
    for line in links.splitlines():
        a, b = line.split()
        lines.append(f"edge [ source {a} target {b} ]")
    (tmp_path / "zoo.gml").write_text(f"graph [ {' '.join(lines)} ]")
    table, text = _imported(tmp_path, "zoo.gml")
    assert table["topology"]["parts"] == "largest"
    assert said in text
    (tmp_path / "my.toml").write_text(text)
    network = _network(tmp_path / "my.toml")
    assert sorted(network.names) == ["0", "0-h0", "1", "1-h0", "2", "2-h0"]
    assert len(network.a) == 5


def test_a_lab_without_two_hosts_gets_some(tmp_path: Path) -> None:
    """A container with several links is a switch, also if its kind is linux."""
    lab = "topology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: srl}\n  links:\n"
    lab += '    - endpoints: ["a:1", "b:1"]\n'
    (tmp_path / "lab.clab.yml").write_text(lab)
    table, text = _imported(tmp_path, "lab.clab.yml")
    assert table["topology"]["add_hosts"] == 1
    assert "assumed: the file has one host only" in text


def test_flows_after_the_end_of_the_configuration_start_nevertheless(tmp_path: Path) -> None:
    """And an end that no run can reach is the last one that one can."""
    late = FLOWS.replace("1 2 3 100 1000000 2.0", "1 2 3 100 1000000 5.0")
    config = "CC_MODE 1\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME "
    _write(tmp_path, topology=NETWORK, flow=late)
    (tmp_path / "a.conf").write_text(f"{config}4.0\n")
    table, text = _imported(tmp_path, "a.conf")
    assert "left out: SIMULATOR_STOP_TIME 4.0: later flows would never start" in text
    assert parse_time(table["run"]["duration"]) > 5 * 10**12
    (tmp_path / "b.conf").write_text(f"{config}40000000000000.00\n")
    table, _ = _imported(tmp_path, "b.conf")
    assert parse_time(table["run"]["duration"]) == MAX_TIME


def test_a_file_that_is_given_is_read_instead_of_one_that_is_named(tmp_path: Path) -> None:
    """In any order; a file without flows is none."""
    _write(tmp_path, topology=NETWORK, other=NETWORK, flow="0\n", c="TOPOLOGY_FILE topology.txt\n")
    (tmp_path / "c.txt").write_text("CC_MODE 1\nTOPOLOGY_FILE topology.txt\n")
    table, text = _imported(tmp_path, "c.txt", "other.txt", "flow.txt")
    assert table["topology"]["file"] == "other.txt"
    assert table["traffic"][0]["kind"] == "permutation"
    assert "left out: flow.txt: it has no flows" in text


def test_what_holds_nothing_known_is_refused(tmp_path: Path) -> None:
    """A file that was named is not passed over."""
    _write(tmp_path, topology=NETWORK, notes="Read me first, please\n")
    with pytest.raises(UserError) as caught:
        experiment([tmp_path / "topology.txt", tmp_path / "notes.txt"], tmp_path)
    assert "what it holds is not known: it begins with 'Read me first please'" in str(caught.value)
    for name, text, said in (
        ("empty.txt", " \n", "empty.txt: it is empty"),
        ("odd.csv", "from,to\nx,y\n", "its columns are from, to\n    allowed: a, b, ... of a netw"),
        ("trace.0.et", "\x1f\x8b", "trace.0.et: is compressed (gzip)\n    hint: unpack it"),
        ("a.csv", "a,b,rate\nx,y,1Gb\n", "a.csv: line 2: rate: '1Gb': 'Gb' is not a unit"),
    ):
        (tmp_path / name).write_bytes(text.encode("latin-1"))
        with pytest.raises(UserError) as caught:
            experiment([tmp_path / name], tmp_path)
        assert said in str(caught.value)


DUMP = """Device #1:
----------
Configurations:                              Default         Current         Next Boot
*       CLAMP_TGT_RATE_AFTER_TIME_INC_P1     True(1)         True(1)         False(0)
        CLAMP_TGT_RATE_P1                    False(0)        False(0)        True(1)
        RPG_TIME_RESET_P1                    300             300             100
        RPG_BYTE_RESET_P1                    32767           32767           32767
        RPG_AI_RATE_P1                       5               5               20
        RPG_GD_P1                            11              11              11
        RPG_MIN_DEC_FAC_P1                   50              50              95
        DCE_TCP_G_P1                         1019            1019            1023
        INITIAL_ALPHA_VALUE_P1               1023            1023            512
        MIN_TIME_BETWEEN_CNPS_P1             4               4               0
        RPG_TIME_RESET_P2                    300             300             7
        LINK_TYPE_P1                         ETH(2)          ETH(2)          ETH(2)
"""


def test_parameters_of_a_nic_are_those_of_dcqcn(tmp_path: Path) -> None:
    """Those of the first port, after the next start; what has no counterpart is told."""
    _write(tmp_path, topology=NETWORK, nic=DUMP)
    table, text = _imported(tmp_path, "topology.txt", "nic.txt")
    assert table["congestion_control"] == "dcqcn"
    assert table["dcqcn"] == {
        "parameters": "connectx", "clamp_after_timer": False, "clamp_target": True,
        "increase_interval": "100us", "additive_increase": "20Mbps", "gain": 1 / 1024,
        "initial_alpha": 0.5, "notification": "per_packet",
    }  # fmt: skip
    assert "# left out: RPG_BYTE_RESET_P1 32767: no byte counter" in text
    assert "# left out: RPG_MIN_DEC_FAC_P1 95: a cut is to half the rate at most" in text
    assert "RPG_GD" not in text
    (tmp_path / "my.toml").write_text(text)
    Study.load(tmp_path / "my.toml").plan()
    _write(tmp_path, nic=DUMP.replace("1019            1023\n", "1019            1024\n"))
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "topology.txt", "nic.txt")
    assert "nic.txt: line 11: DCE_TCP_G: 1024" in caught.value.render()


@pytest.mark.parametrize("value", ["-5", "N/A", "0x5", "Perhaps", "1.5", ""])
def test_a_parameter_of_a_nic_is_read_or_refused(tmp_path: Path, value: str) -> None:
    """A line with a name that is known is never passed over."""
    _write(tmp_path, topology=NETWORK, nic=f"RPG_TIME_RESET_P1 300\nRPG_AI_RATE_P1 {value}\n")
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "topology.txt", "nic.txt")
    assert f"nic.txt: line 2: RPG_AI_RATE: {value or 'it has no value'}" in caught.value.render()


def test_parameters_that_a_dump_lacks_are_told(tmp_path: Path) -> None:
    """With names that are like them, and those of other ports; two NICs in one dump are refused."""
    nic = "RPG_TIME_RESET_P1 300\nRPG_AI_RATES_P1 5\nRPG_HAI_RATE_P2 50\n"
    _write(tmp_path, topology=NETWORK, nic=nic)
    _, text = _imported(tmp_path, "topology.txt", "nic.txt")
    assert "# assumed: not in the dump, so of the preset connectx: RPG_THRESHOLD, RPG_AI" in text
    assert "# left out: RPG_AI_RATES: it is not read; did you mean 'RPG_AI_RATE'?" in text
    assert "# left out: 1 parameters of ports other than the first" in text
    _write(tmp_path, nic=f"{nic}RPG_TIME_RESET_P1 100\n")
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "topology.txt", "nic.txt")
    assert "line 4: RPG_TIME_RESET: 100, but line 1 has 300" in caught.value.render()


JOB = {"label": "job"}
SCHEDULE = (
    "num_ranks 2\nrank 0 {\na: send 9b to 1 tag 7 nic 1\n}\nrank 1 {\nb: recv 9b from 0 tag 7\n}\n"
)


def test_a_schedule_gets_a_star_of_as_many_hosts(tmp_path: Path) -> None:
    """Ranks of several NICs are servers."""
    (tmp_path / "job.goal").write_text(SCHEDULE)
    table, text = _imported(tmp_path, "job.goal")
    assert table["topology"] == {
        "kind": "star", "hosts": 4, "hosts_per_server": 2, "rate": "100Gbps", "delay": "1us",
    }  # fmt: skip
    assert table["traffic"] == [{"kind": "goal", "ranks": "servers", **JOB, "file": "job.goal"}]
    (tmp_path / "my.toml").write_text(text)
    Study.load(tmp_path / "my.toml").plan()
    (tmp_path / "job.goal").write_text(SCHEDULE.replace("to 1", "to 5"))
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, "job.goal")
    assert "job.goal, line 3" in caught.value.render()


def _trace(folder: Path, rank: int, after: tuple[int, ...] = ()) -> None:
    """A broadcast, and an all-reduce of 8 KB that waits for it by data."""
    one = {"comm_type": 5, "comm_size": 700, "pg_name": "0"}
    nodes = [
        chakra.Node(1, "COMM_COLL_NODE", after, 0, one),
        chakra.Node(2, "COMM_COLL_NODE", (1,), 0, {**one, "comm_type": 0, "comm_size": 8000}),
    ]
    (folder / f"t.{rank}.et").write_bytes(chakra.write(nodes))


def test_traces_of_a_job_are_replayed(tmp_path: Path) -> None:
    """With the process groups of a file; the trace of one rank alone stands for eight."""
    for rank in range(4):
        _trace(tmp_path, rank)
    (tmp_path / "groups.json").write_text('{"0": [0, 1, 2, 3]}')
    table, text = _imported(tmp_path, "t.2.et", "groups.json")
    assert table["topology"]["hosts"] == 4
    assert table["traffic"] == [{"kind": "chakra", **JOB, "file": "t", "groups": "groups.json"}]
    (tmp_path / "my.toml").write_text(text)
    assert _job_flows(tmp_path / "my.toml") == (3 + 2 * 3 * 4, 3 * 700 + 6 * 8000)
    for rank in (1, 2, 3):
        (tmp_path / f"t.{rank}.et").unlink()
    _trace(tmp_path, 0, (77,))  # which is not in the file
    (tmp_path / "groups.json").unlink()
    table, text = _imported(tmp_path, "t.0.et")
    assert table["topology"]["hosts"] == 8
    assert "assumed: 8 ranks do what the one trace says" in text
    assert "assumed: ranks of process groups are not known" in text
    entry = {"kind": "chakra", "copies": 8, "ignore_missing": True, "ignore": ["pg_name"]}
    assert table["traffic"] == [{**entry, **JOB, "file": "t"}]
    (tmp_path / "my.toml").write_text(text)
    assert _job_flows(tmp_path / "my.toml") == (7 + 2 * 7 * 8, 7 * 700 + 14 * 8000)


WORKLOAD = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 all_gpus: 4
1
layer -1 700 ALLREDUCE 8000 1 NONE 0 1 ALLREDUCE 4000 1
"""


def test_a_workload_of_simai_says_what_its_time_consists_of(tmp_path: Path) -> None:
    """Beside SimAI's topology; a file without the number of GPUs has one tensor group."""
    (tmp_path / "work.txt").write_text(WORKLOAD)
    (tmp_path / "net").write_text(
        "7 2 2 1 8 H100\n4 5 6\n"
        + "".join(f"{n} {4 + n // 2} 1440Gbps 0.000025ms 0\n" for n in range(4))
        + "".join(f"{n} 6 200Gbps 0.0005ms 0\n" for n in range(4))
    )
    table, text = _imported(tmp_path, "net", "work.txt")
    assert table["traffic"] == [{"kind": "workload", **JOB, "file": "work.txt"}]
    assert {one["kind"] for one in table["metric"]} == {"fct", "job_time", "exposed_communication"}
    assert table["figure"][0]["costs"]
    (tmp_path / "my.toml").write_text(text)
    # in two pairs 2 x 2 halves of the first sum, and as many of the second
    assert _job_flows(tmp_path / "my.toml") == (16, 2 * 4 * 4000 + 2 * 4 * 2000)
    (tmp_path / "work.txt").write_text(WORKLOAD.replace(" all_gpus: 4", ""))
    table, text = _imported(tmp_path, "work.txt")
    assert table["traffic"][0]["gpus"] == table["topology"]["hosts"] == 2
    assert "work.txt does not say of how many ranks" in text


def _job_flows(file: Path) -> tuple[int, int]:
    (spec,) = Study.load(file).plan().specs
    setting = spec.setting
    flows = traffic.flows(setting.traffic, build(setting.topology), 1, setting.run.duration)
    return len(flows), int(flows.sizes.sum())


PLANES = "6 2 8\n4 5\n" + "".join(
    f"{host} {switch} 100Gbps 1us 0\n" for host in range(4) for switch in (4, 5)
)


def test_planes_that_only_hosts_connect_are_kept(tmp_path: Path) -> None:
    """A host is in both, and its flows in one of them from end to end."""
    _write(tmp_path, topology=PLANES)
    table, text = _imported(tmp_path, "topology.txt")
    assert table["traffic"][0]["shift"] == 1
    assert "2 planes that hosts alone connect" in text
    (tmp_path / "my.toml").write_text(text)
    network = _network(tmp_path / "my.toml")
    assert not network.cut_off()
    (spec,) = Study.load(tmp_path / "my.toml").plan().specs
    flows = traffic.flows(spec.setting.traffic, network, 1, spec.setting.run.duration)
    leaves, arrives = (network.racks[ends] for ends in flows.ends_on_network(network))
    assert leaves.tolist() == arrives.tolist()
    assert set(leaves.tolist()) == {4, 5}


@pytest.mark.cpp
def test_planes_do_not_slow_each_other(tmp_path: Path) -> None:
    """Two messages of 1,000 frames share a link of the first plane, the second has one alone.

    The second of the same two hosts takes their other plane; times are as in the test above.
    """
    flows = "3\n0 1 3 100 1000000 0.001\n0 1 3 100 1000000 0.001\n2 1 3 100 1000000 0.001\n"
    _write(tmp_path, topology=PLANES, flow=flows)
    files = [tmp_path / "topology.txt", tmp_path / "flow.txt"]
    text = experiment(files, tmp_path)
    text = text.replace("\n[[traffic]]\n", '\n[[traffic]]\nlink = "round-robin"\n')
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("flow.parquet")
    frame = (1000 + 48 + 20) * 8 * 10
    took = pd.read_parquet(file)["finish_ps"] - 10**9
    assert sorted(took)[0::2] == [1001 * frame + 2 * 10**6, 2001 * frame + 2 * 10**6]


ASTRA = {
    "all-reduce-implementation": ["oneRing", "halvingDoubling"],
    "all-to-all-implementation": ["ring"],
    "roofline-enabled": 1,
    "peak-perf": 900,
    "local-mem-bw": 1600,
    "boost-mode": 0,
}
DIMENSIONS = "topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ {} ]\nlatency: [ {} ]\n"


def _system(folder: Path, **keys: Any) -> None:
    (folder / "system.json").write_text(json.dumps(ASTRA | keys))


def test_a_network_and_a_system_of_astra_sim_go_with_traces(tmp_path: Path) -> None:
    """Rails of two servers; a GB/s is 2^30 bytes; operations take what processors say."""
    for rank in range(4):
        work = chakra.Node(0, "COMP_NODE", (), 0, {"num_ops": 9 * 10**9, "tensor_size": 8 * 10**6})
        _trace(tmp_path, rank)
        there = (tmp_path / f"t.{rank}.et").read_bytes()
        more = chakra.write([work])
        (tmp_path / f"t.{rank}.et").write_bytes(there + more[len(chakra.write([])) :])
    (tmp_path / "groups.json").write_text('{"0": [0, 1, 2, 3]}')
    (tmp_path / "logical.json").write_text('{"logical-dims": ["2", "2"]}')
    (tmp_path / "memory.json").write_text('{"memory-type": "NO_MEMORY_EXPANSION"}')
    net = DIMENSIONS.format("FullyConnected, Switch", "2, 2", "100, 12.5", "50.0, 500.0")
    (tmp_path / "net.yml").write_text(net)
    _system(tmp_path)
    table, text = _imported(
        tmp_path, "t.0.et", "groups.json", "net.yml", "system.json", "logical.json", "memory.json"
    )
    assert table["topology"] == {
        "kind": "rail_optimised", "groups": 1, "servers_per_group": 2, "hosts_per_server": 2,
        "spines": 1, "rate": f"{12.5 * 2**33:.0f}bps", "delay": "500ns",
        "scale_up": {"rate": f"{100 * 2**33}bps", "delay": "50ns"},
    }  # fmt: skip
    assert table["traffic"] == [
        {"kind": "chakra", **JOB, "file": "t", "groups": "groups.json", "nic": "rail",
         "algorithms": {"all_reduce": "ring"}, "flops": 9e14, "memory_rate": 1.6e12}
    ]  # fmt: skip
    for said in ("all-to-all by ring: by direct", "boost-mode: ", "logical.json: logical dim"):
        assert f"left out: {said}" in text
    assert "that of dimension 1" in text
    (tmp_path / "my.toml").write_text(text)
    (spec,) = Study.load(tmp_path / "my.toml").plan().specs
    (entry,) = spec.setting.traffic
    # 9e9 operations at 9e14 a second take 10 us, and 8 MB at 1.6 TB/s 5 us
    assert "calc 10000 cpu 0" in entry.schedule


@pytest.mark.parametrize(
    ("values", "topology"),
    [
        (("Switch", "8", "100", "936.25"), {"kind": "star", "hosts": 8, "delay": "936250ps"}),
        (("Ring", "8", "50", "1000"), {"kind": "star", "hosts": 8, "delay": "500ns"}),
        (("Switch, Ring", "1, 8", "400, 50", "1, 1000"), {"kind": "star", "delay": "500ns"}),
        (("FullyConnected", "8", "50", "0"), {"kind": "star", "rate": f"{7 * 50 * 2**33}bps"}),
    ],
)
def test_dimensions_of_astra_sim_are_switches(
    tmp_path: Path, values: tuple[str, ...], topology: dict[str, Any]
) -> None:
    """Without traffic hosts send to one; a Ring has the latency of one link, a Switch of two."""
    (tmp_path / "net.yml").write_text(DIMENSIONS.format(*values))
    table, _ = _imported(tmp_path, "net.yml")
    assert topology.items() <= table["topology"].items()
    assert table["traffic"][0]["kind"] == "incast"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("Torus", "8", "50", "1"), "topology[0]: 'Torus'"),
        (("Switch", "0", "50", "1"), "npus_count[0]: 0"),
        (("Switch", "true", "50", "1"), "npus_count[0]: True"),
        (("Switch", "8", "0", "1"), "bandwidth[0]: 0"),
        (("Switch", "8", "50", "-1"), "latency[0]: -1"),
        (("Switch", "8", "50", ".nan"), "latency[0]: nan"),
        (("Switch, Ring", "8", "50", "1"), "lists of one length"),
        (("Switch", "1", "50", "1"), "0 dimensions of several NPUs"),
        (("Ring, Ring, Ring", "2, 2, 2", "1, 1, 1", "1, 1, 1"), "(2 x 2 x 2)"),
    ],
)
def test_a_network_of_astra_sim_that_cannot_be_is_refused(
    tmp_path: Path, values: tuple[str, ...], said: str
) -> None:
    """With the key and the place."""
    (tmp_path / "net.yml").write_text(DIMENSIONS.format(*values))
    with pytest.raises(UserError) as told:
        _imported(tmp_path, "net.yml")
    assert said in str(told.value)


def test_a_system_of_astra_sim_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """Processors without a rate; without traces it has nothing to say."""
    _trace(tmp_path, 0)
    _system(tmp_path, **{"peak-perf": 0})
    with pytest.raises(UserError, match=r"system.json: peak-perf: it is 0"):
        _imported(tmp_path, "t.0.et", "system.json")
    _system(tmp_path)
    (tmp_path / "net.yml").write_text(DIMENSIONS.format("Switch", "8", "50", "1"))
    assert (
        "left out: system.json: no job is given" in _imported(tmp_path, "net.yml", "system.json")[1]
    )
