"""`import`: an experiment from foreign files that can run, and says what it assumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomli

from pyorch.base.errors import UserError
from pyorch.cli.bring import bring
from pyorch.network.topology import Topology, build
from pyorch.readers.importing import experiment
from pyorch.study import Study
from tests.cli.test_end_to_end import run

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


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def _imported(folder: Path, *names: str) -> tuple[dict[str, Any], str]:
    text = experiment([folder / name for name in names], folder)
    return tomli.loads(text), text


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
        assert "# left out: KMAX_MAP 25000000000 400" in text  # not in proportion
        assert "# left out: KMIN_MAP" not in text


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
    """Parallel links are merged, distances become delays, and each is said."""
    for name, text in GRAPHS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    _, text = _imported(tmp_path, "zoo.gml")
    assert "# assumed: 1 pairs of nodes have several links" in text
    (tmp_path / "zoo.toml").write_text(text)
    network = _network(tmp_path / "zoo.toml")
    assert [network.names[host] for host in network.hosts] == ["0-h0", "1-h0", "2-h0"]
    rates = {frozenset((network.names[a], network.names[b])): int(rate)
             for a, b, rate in zip(network.a, network.b, network.rates, strict=True)}  # fmt: skip
    assert rates[frozenset("01")] == 3 * 10**9
    _, text = _imported(tmp_path, "hub.json")
    (tmp_path / "hub.toml").write_text(text)
    network = _network(tmp_path / "hub.toml")
    assert network.delays[0] == 12_500 * 5_000


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"flow": FLOWS}, "none of the files holds a network"),
        ({"topology": NETWORK + "x", "other": NETWORK}, "a second file of network"),
        ({"topology": NETWORK.replace("100Gbps", "1Gb")}, "rate"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nRATE_AI 5furlongs\n"}, "c.txt: line 2: RATE_AI"),
        ({"topology": NETWORK, "c": "CC_MODE 1\nKMIN_MAP 9 1\n"}, "c.txt: line 2: KMIN_MAP"),
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
    files = [tmp_path / "topology.txt", tmp_path / "flow.txt"]
    done, results = run(tmp_path, experiment(files, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("flow.parquet")
    flows = pd.read_parquet(file)
    frame = (1000 + 48 + 20) * 8 * 10
    assert flows["finish_ps"].max() - 2 * 10**12 == 2001 * frame + 2 * 10**6
    assert flows["size_bytes"].sum() == 2_000_000
