"""What goes over the wires: `invoke trace`, its pcap files as tshark reads them, and NetAnim."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.plan import RunSpec, expand
from pyorch.report.layout import layout
from pyorch.trace import Options
from pyorch.trace.netanim import describe, seconds, spread, write_animation
from pyorch.trace.request import Words, find_run, read_options
from tests.forks import Warm
from tests.forms import form, network_of, run_of
from tests.inputs import ROOT, RUNS, called
from tests.wireshark import tshark

pytestmark = [
    pytest.mark.inputs(*RUNS),
    pytest.mark.xdist_group("trace"),
]  # the runs are made once

#: An incast over a small switch, under every scheme that sends frames of its own.
STUDY = """
title = "Trace"
flow_control = ["pfc"]

[run]
duration = "2ms"
stop_when_done = true

[topology]
kind = "star"
hosts = 4
rate = "25Gbps"
delay = "500ns"

[queue_pair]
header_size = "66B"
ack_size = "70B"
cnp_size = "82B"

[buffer]
size = "2MB"
threshold = "static"
xoff = "20KB"
xon = "15KB"

[port]
control_delay = "100ns"

[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h3", size = "100KB", class = 3 },
  { src = "h1", dst = "h3", size = "150001B", class = 3 },
  { src = "h2", dst = "h3", size = "40KB", class = 5, start = "20us" },
  { src = "h2", dst = "h1", size = "13B", class = 0, start = "30us" },
]

[variants.PFC]
congestion_control = "dcqcn"
"dcqcn.notification" = "paced"
agents = ["ecn-marking"]
"ecn-marking.kmin" = "20KB"
"ecn-marking.kmax" = "40KB"
"ecn-marking.pmax" = 1.0

[variants."model sizes"]
"queue_pair.header_size" = "48B"
"queue_pair.ack_size" = "64B"
"queue_pair.cnp_size" = "64B"
congestion_control = "dcqcn"
"dcqcn.notification" = "paced"
agents = ["ecn-marking"]
"ecn-marking.kmin" = "20KB"
"ecn-marking.kmax" = "40KB"
"ecn-marking.pmax" = 1.0

[variants.loss]
"buffer.lossless_classes" = 0
"buffer.lossy_pool" = "30KB"

[variants.conceptual]
flow_control = ["conceptual-gfc"]
"buffer.xoff" = "500KB"
"buffer.xon" = "400KB"
"conceptual-gfc.ideal" = false
"conceptual-gfc.min_gap" = "2us"
"conceptual-gfc.b0" = "10KB"
"conceptual-gfc.bm" = "100KB"

[variants.stages]
flow_control = ["multi-stage-gfc"]
"buffer.xoff" = "500KB"
"buffer.xon" = "400KB"
"multi-stage-gfc.b1" = "20KB"
"multi-stage-gfc.bm" = "100KB"

[variants.credit]
flow_control = ["credit"]
"buffer.xoff" = "500KB"
"buffer.xon" = "400KB"
"credit.buffer" = "100KB"

[variants.pairs]
run.stop_when_done = "acked"
"traffic.0.connection" = "pair"
"traffic.0.messages" = [
  { src = "h1", dst = "h3", size = "2500B" },
  { src = "h1", dst = "h3", size = "1500B" },
  { src = "h1", dst = "h3", size = "900B" },
  { src = "h0", dst = "h2", size = "13B" },
]

[variants.PFFC]
flow_control = ["pffc"]

[variants.SFC]
agents = ["sfc-congestion-point"]
host_agents = ["sfc-reaction-point"]
"sfc-congestion-point.threshold" = "20KB"

[[trace]]
table = "frame"

[[trace]]
table = "control"
"""

VARIANTS = tuple(re.findall(r"\[variants\.\"?([\w ]+)\"?\]", STUDY))

#: Simulate a run twice in processes of their own: with a tap on every port, or without.
CHILD = """
import sys
from pathlib import Path

import numpy as np

from pyorch.build.info import read_build
from pyorch.run.ns3 import load_simulation
from pyorch.base.paths import RunPaths
from pyorch.plan import RunSpec
from pyorch.run.simulate import simulate

simulation_class = load_simulation(read_build(Path(sys.argv[1])))

class Tapped:
    pcaps = ""

    def __init__(self, seed):
        self.simulation = simulation_class(seed)
        self.simulation.SetAttribute("ns3::observe::PcapTap", "Fcs", "true")

    def __getattr__(self, name):
        return getattr(self.simulation, name)

    def Build(self):
        self.simulation.Build()
        nodes, peers = np.zeros(1, "uint32"), np.zeros(1, "int64")
        problems = self.simulation.TracePcap(nodes, peers, 0, self.pcaps)
        assert not str(problems), problems

def answer(spec, folder, pcaps):
    run = RunPaths(Path(folder))
    run.folder.mkdir()
    Tapped.pcaps = pcaps
    simulate(RunSpec.from_json(spec), Tapped if pcaps else simulation_class, run)
    return {}
"""

FIELDS = [
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "eth.fcs.status",
    "vlan.priority",
    "ip.src",
    "ip.dst",
    "ip.ttl",
    "ip.len",
    "ip.checksum.status",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "udp.srcport",
    "udp.dstport",
    "infiniband.bth.opcode",
    "infiniband.bth.psn",
    "infiniband.bth.destqp",
    "infiniband.bth.a",
    "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",
    "infiniband.reth.dmalen",
    "infiniband.payload",
    "macc.opcode",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c5",
    "data.data",
    "eth.padding",
    "eth.trailer",
    "_ws.malformed",
    "_ws.short",
    "_ws.expert.severity",
    "_ws.expert.message",
    "eth.src",
]

#: Expert information of tshark below this is not an error: 0x600000 is a warning.
EXPERT_ERROR = 0x800000

DATA, ACK, NACK, CNP, SIGNAL, MAC = range(6)
PFC = 0x0101
FIRST, MIDDLE, LAST, ONLY = 0x06, 0x07, 0x08, 0x0A


@functools.cache
def decode(pcap: Path) -> pd.DataFrame:
    """The frames of a file as tshark decodes them, all preferences checked."""
    checks = ["eth.fcs:ALWAYS", "eth.check_fcs:TRUE", "ip.check_checksum:TRUE"]
    words = [tshark(), "-n", "-r", str(pcap), "-T", "fields", "-E", "separator=/t"]
    words += itertools.chain.from_iterable(("-o", check) for check in checks)
    words += itertools.chain.from_iterable(("-e", field) for field in FIELDS)
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return pd.DataFrame(rows, columns=FIELDS)


@dataclass(frozen=True)
class Run:
    """A run with taps: its files, its tables, and those of the same run without taps."""

    pcaps: Path
    tables: Path
    untapped: Path
    spec: RunSpec

    @property
    def names(self) -> list[str]:
        """Node names."""
        nodes: list[str] = json.loads((self.tables / "summary.json").read_text())["nodes"]
        return nodes

    def end_ps(self) -> int:
        """When the run ended, as its summary says."""
        summary = json.loads((self.tables / "summary.json").read_text())["summary"]
        return int(summary["end_ps"])

    def table(self, name: str, node: str, peer: str) -> pd.DataFrame:
        """The rows of a port, in the order of time."""
        table = pd.read_parquet(self.tables / f"{name}.parquet")
        numbers = self.names.index(node), self.names.index(peer)
        return table[(table["node"] == numbers[0]) & (table["peer"] == numbers[1])].reset_index()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Run]]:
    """Simulate a variant of the study when it is first asked for."""
    from pyorch.build import ensure_built, load_schema
    from pyorch.files.load import load_experiment

    folder = tmp_path_factory.mktemp("trace")
    file = folder / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    build = ensure_built()
    paths = Paths(ROOT)
    experiment = load_experiment(str(file), schema=load_schema(build), paths=paths)
    specs = {form(spec)["params"]["variant"]: spec for spec in expand(experiment)}
    runs: dict[str, Run] = {}
    warm = Warm(CHILD, str(build.folder))

    def simulate(variant: str) -> Run:
        if variant not in runs:
            pcaps = folder / f"{variant}-pcaps"
            pcaps.mkdir()
            run = Run(pcaps, folder / f"{variant}-1", folder / f"{variant}-0", specs[variant])
            for where, taps in ((run.tables, str(pcaps)), (run.untapped, "")):
                assert warm.ask(specs[variant].to_json(), str(where), taps) == {}
            runs[variant] = run
        return runs[variant]

    yield simulate
    warm.close()


def frames_of(pcap: Path) -> list[tuple[int, bytes, int]]:
    """The records of a file, read by hand: time [ns], bytes, original length."""
    data = pcap.read_bytes()
    magic, major, minor, _, _, snap, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, snap, link) == (0xA1B23C4D, 2, 4, 65535, 1)
    at, frames = 24, []
    while at < len(data):
        second, nanosecond, captured, length = struct.unpack_from("<IIII", data, at)
        frames.append((second * 10**9 + nanosecond, data[at + 16 : at + 16 + captured], length))
        at += 16 + captured
    return frames


def nanoseconds(column: pd.Series[str]) -> list[int]:
    """Times as tshark writes them (seconds with nine digits) in ns."""
    return [int(text.replace(".", "")) for text in column]


def sent(frames: pd.DataFrame, number: int) -> pd.DataFrame:
    """Those that go from the end that is a host: routed ones by their source, MAC by address."""
    host = f"10.0.0.{number + 1}"
    address = f"02:00:00:00:00:{number:02x}"
    chosen: pd.DataFrame = frames[
        (frames["ip.src"] == host) | (frames["ip.src"].eq("") & frames["eth.src"].eq(address))
    ]
    return chosen


@pytest.mark.cpp
@pytest.mark.parametrize("variant", VARIANTS)
def test_tshark_decodes_every_frame(study: Callable[[str], Run], variant: str) -> None:
    """No frame of any scheme is malformed, and each FCS and IPv4 checksum is right."""
    run = study(variant)
    pcaps = sorted(run.pcaps.glob("*.pcap"))
    assert [pcap.stem for pcap in pcaps] == sorted(
        f"{a}-{b}" for h in range(4) for a, b in ((f"h{h}", "s0"), ("s0", f"h{h}"))
    )
    for pcap in pcaps:
        frames = decode(pcap)
        assert len(frames) == len(frames_of(pcap)) > 0
        assert (frames["_ws.malformed"] == "").all(), frames[frames["_ws.malformed"] != ""]
        severities = ",".join(frames["_ws.expert.severity"]).split(",")
        assert all(int(level) < EXPERT_ERROR for level in severities if level)
        cut = frames["frame.len"] != frames["frame.cap_len"]
        assert (frames["_ws.short"][~cut] == "").all()
        assert (frames["eth.fcs.status"][~cut] == "1").all()
        assert (frames["ip.checksum.status"][frames["ip.src"] != ""] == "1").all()
        if variant == "model sizes":
            assert cut.any()
        else:  # 13 bytes have no room for the RETH
            assert set(frames["infiniband.reth.dmalen"][cut]) <= {"13"}


@pytest.mark.cpp
@pytest.mark.parametrize("variant", VARIANTS)
def test_taps_change_nothing_and_see_everything(study: Callable[[str], Run], variant: str) -> None:
    """The results are the same bytes as without taps; the files have each frame and its time."""
    run = study(variant)
    for file in sorted(run.untapped.iterdir()):
        if file.suffix in (".parquet", ".json"):
            assert file.read_bytes() == (run.tables / file.name).read_bytes(), file.name
    for host in range(4):
        frames = sent(decode(run.pcaps / f"h{host}-s0.pcap"), host)
        table = run.table("frame", f"h{host}", "s0")
        assert nanoseconds(frames["frame.time_epoch"]) == (table["time_ps"] // 1000).tolist()
        overhead = 20
        assert (frames["frame.cap_len"].astype(int) + overhead).tolist() == table["bytes"].tolist()
        kinds = frames["infiniband.bth.opcode"].map(
            {"17": ACK, "129": CNP} | {str(code): DATA for code in (FIRST, MIDDLE, LAST, ONLY)}
        )
        nak = frames["infiniband.aeth.syndrome"].isin(["96", "0x60"])
        kinds = kinds.mask(nak, NACK).mask(frames["macc.opcode"] != "", MAC)
        assert kinds.tolist() == table["kind"].tolist()


@pytest.mark.cpp
def test_pfc_classes_and_times_are_named(study: Callable[[str], Run]) -> None:
    """Tshark names the classes and times of PFC; the frames are those of the table "control"."""
    run = study("PFC")
    seen = 0
    for host in range(4):
        frames = decode(run.pcaps / f"h{host}-s0.pcap")
        pauses = frames[frames["macc.opcode"] != ""]
        wire_ps = (64 + 20) * 8 * 40 + 500_000  # 40 ps a bit, and the delay
        table = run.table("control", "s0", f"h{host}").head(len(pauses))
        late = run.table("control", "s0", f"h{host}")["time_ps"].iloc[len(pauses) :]
        assert (late > run.end_ps() - wire_ps).all()  # on their way when the run ended
        assert (
            nanoseconds(pauses["frame.time_epoch"])
            == ((table["time_ps"] + wire_ps) // 1000).tolist()
        )
        classes = [int(text, 16) for text in pauses["macc.cbfc.enbv"]]
        assert classes == table["classes"].tolist()
        for vector, three, five in zip(
            classes,
            pauses["macc.cbfc.pause_time.c3"],
            pauses["macc.cbfc.pause_time.c5"],
            strict=True,
        ):
            assert three in ("0", "65535") if vector >> 3 & 1 else three in ("", "0")
            assert five in ("0", "65535") if vector >> 5 & 1 else five in ("", "0")
        times = set(pauses["macc.cbfc.pause_time.c3"])
        seen += "65535" in times and "0" in times
    assert seen == 2  # h0 and h1 send in class 3, are paused and resumed


@pytest.mark.cpp
def test_roce_packets_are_named(study: Callable[[str], Run]) -> None:
    """Opcodes, PSNs, queue pairs, priority, DSCP and ECN are those of the flows."""
    run = study("PFC")
    frames = decode(run.pcaps / "h1-s0.pcap")
    data = frames[
        (frames["infiniband.bth.destqp"] == "0x000003") & (frames["ip.src"] == "10.0.0.2")
    ]
    assert data["infiniband.bth.opcode"].astype(int).tolist() == [FIRST, *[MIDDLE] * 149, LAST]
    assert data["infiniband.bth.psn"].astype(int).tolist() == list(range(151))
    assert data["infiniband.reth.dmalen"].iloc[0] == "150001"
    assert set(data["ip.dst"]) == {"10.0.0.4"}
    assert set(data["vlan.priority"]) == {"3"}
    assert set(data["ip.dsfield.dscp"]) == {"24"}
    assert set(data["ip.dsfield.ecn"]) == {"2"}  # ECT(0): no switch was passed yet
    assert set(data["udp.dstport"]) == {"4791"}
    assert data["infiniband.bth.a"].iloc[-1] in ("1", "True")  # the last asks for an ACK
    # what is left of the IPv4 packet but headers and ICRC is payload
    payload = data["ip.len"].astype(int) - 20 - 8 - 12 - 4
    assert payload.iloc[1:-1].eq(1000).all()
    assert payload.iloc[0] == 1000  # with the RETH in it
    assert payload.iloc[-1] == 0  # one byte has no room in whole words
    one = frames[frames["infiniband.bth.destqp"] == "0x000005"]
    assert set(one["infiniband.bth.opcode"]) == {str(ONLY), "17"}
    received = decode(run.pcaps / "h3-s0.pcap")
    marks = set(received["ip.dsfield.ecn"][received["ip.dst"] == "10.0.0.4"])
    assert marks == {"2", "3"}
    cnps = received[received["infiniband.bth.opcode"] == "129"]
    summary = json.loads((run.tables / "summary.json").read_text())["summary"]
    assert len(cnps) == summary["cnps_sent"] > 0
    assert set(cnps["frame.len"]) == {"82"}
    assert set(cnps["ip.dsfield.dscp"]) == {"48"}
    assert set(received["ip.ttl"][received["ip.dst"] == "10.0.0.4"]) == {"63"}  # one switch


@pytest.mark.cpp
def test_each_message_of_a_connection_is_a_write(study: Callable[[str], Run]) -> None:
    """Of its own length, on one queue pair with one source port; ACKs count the messages."""
    frames = decode(study("pairs").pcaps / "h1-s0.pcap")
    data = frames[frames["ip.src"] == "10.0.0.2"]
    opcodes = data["infiniband.bth.opcode"].astype(int).tolist()
    assert opcodes == [FIRST, MIDDLE, LAST, FIRST, LAST, ONLY]
    assert data["infiniband.bth.psn"].astype(int).tolist() == list(range(6))
    lengths = data["infiniband.reth.dmalen"]
    assert lengths[lengths != ""].tolist() == ["2500", "1500", "900"]
    answers = frames[frames["ip.src"] == "10.0.0.4"]
    assert answers["infiniband.aeth.msn"].astype(int).tolist() == [0, 0, 1, 1, 2, 3]
    assert len(set(frames["udp.srcport"])) == 1
    assert set(data["infiniband.bth.destqp"]) == {"0x000002"}


@pytest.mark.cpp
def test_naks_name_the_missing_packet(study: Callable[[str], Run]) -> None:
    """After a loss tshark reads NAKs, and the packet that each names comes again."""
    run = study("loss")
    frames = decode(run.pcaps / "h1-s0.pcap")
    mine = frames[frames["infiniband.bth.destqp"] == "0x000003"]
    naks = [
        (place, int(psn))
        for place, (syndrome, psn) in enumerate(
            zip(mine["infiniband.aeth.syndrome"], mine["infiniband.bth.psn"], strict=True)
        )
        if syndrome in ("96", "0x60")
    ]
    assert naks
    for place, psn in naks:
        later = mine.iloc[place + 1 :]
        data = later[later["ip.src"] == "10.0.0.2"]["infiniband.bth.psn"].astype(int).tolist()
        assert not data or psn in data


@pytest.mark.cpp
@pytest.mark.parametrize("variant", ["PFC", "loss"])
def test_invariant_crcs_are_right(study: Callable[[str], Run], variant: str) -> None:
    """The ICRC is that of zlib over the masked packet; each payload is whole words."""
    run = study(variant)
    looked = 0
    for pcap in run.pcaps.glob("*.pcap"):
        for _, frame, length in frames_of(pcap):
            if frame[12:14] != b"\x81\x00" or frame[40:42] != (4791).to_bytes(2, "big"):
                continue
            if len(frame) < length:  # cut: the message of 13 bytes
                continue
            packet = bytearray(frame[18 : 18 + int.from_bytes(frame[20:22], "big")])
            assert (len(packet) - 44) % 4 == 0
            icrc = packet[-4:]
            del packet[-4:]
            for at in (1, 8, 10, 11, 26, 27, 32):
                packet[at] = 0xFF
            assert zlib.crc32(bytes(8 * [0xFF]) + packet).to_bytes(4, "little") == icrc
            looked += 1
    assert looked > 500


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("variant", "opcode"),
    [
        ("conceptual", 0x0FC0),
        ("stages", 0x0FC1),
        ("credit", 0x0CBF),
        ("PFFC", 0x0FF0),
    ],
)
def test_schemes_have_their_bytes(study: Callable[[str], Run], variant: str, opcode: int) -> None:
    """MAC control frames of a scheme carry its opcode and words at the documented places."""
    run = study(variant)
    bodies = [
        frame[14:60]
        for pcap in run.pcaps.glob("*.pcap")
        for _, frame, _ in frames_of(pcap)
        if frame[12:14] == b"\x88\x08" and int.from_bytes(frame[14:16], "big") == opcode
    ]
    assert bodies
    if variant == "conceptual":
        lengths = [int.from_bytes(body[16:20], "big") for body in bodies if body[3] & 8]
        assert min(lengths) == 10_000
        assert max(lengths) > 20_000
    if variant == "stages":
        assert {0, 1} <= {int.from_bytes(body[10:12], "big") for body in bodies if body[3] & 8}
    if variant == "credit":
        counts = [struct.unpack(">II", body[4:12]) for body in bodies]
        assert all(limit >= sent_blocks or limit < 4096 for limit, sent_blocks in counts)
        assert max(sent_blocks for _, sent_blocks in counts) > 1000
    if variant == "PFFC":
        assert all(body[2] in (3, 5) for body in bodies)  # the class
        sequences = [int.from_bytes(body[4:6], "big") for body in bodies]
        assert max(sequences) > 0


@pytest.mark.cpp
def test_sfc_messages_have_their_bytes(study: Callable[[str], Run]) -> None:
    """A source flow control message is UDP to port 1674 with class and interval."""
    run = study("SFC")
    frames = decode(run.pcaps / "h1-s0.pcap")
    messages = frames[frames["udp.dstport"] == "1674"]
    assert len(messages) > 0
    assert set(messages["frame.len"]) == {"128"}
    for data in messages["data.data"]:
        payload = bytes.fromhex(data)
        assert len(payload) == 14
        assert (payload[0], payload[1] & 0xF) == (1, 3)
        assert 0 < int.from_bytes(payload[2:8], "big") < 150_000_000  # ps


@pytest.mark.cpp
def test_dcfit_tags_stand_in_the_padding(tmp_path: Path) -> None:
    """Pauses on a loop carry DCFIT's block behind the times, where tshark sees padding."""
    from pyorch.build import ensure_built, load_schema
    from pyorch.files.load import load_experiment

    build = ensure_built()
    experiment = load_experiment("dcfit/on-loop", schema=load_schema(build), paths=Paths(ROOT))
    names = ("edge5", "agg5", "core2", "agg7")
    options = Options(
        ports=tuple((name, "") for name in names), until_ps=400_000_000, fcs=True, animate=False
    )
    request = tmp_path / "request.json"
    request.write_text(
        json.dumps(
            {
                "spec": expand(experiment)[0].to_json(),
                "build": str(build.folder),
                "folder": str(tmp_path / "pcaps"),
                "options": options.to_data(),
            }
        ),
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "pyorch.trace.traced", str(request)]
    done = called(words, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    kinds = set()
    for pcap, _, _ in json.loads(done.stdout)["pcaps"]:
        tagged = False
        for _, frame, length in frames_of(Path(pcap)):
            if frame[12:16] != b"\x88\x08\x01\x01" or frame[34] != 0xDC:
                continue
            assert length == 64
            size, kind, classes = frame[35], frame[36], frame[37]
            assert size == 4 + 5 * classes.bit_count()
            message = int.from_bytes(frame[38:43], "big")
            assert message >> 26 < 36  # a node of the fat-tree
            assert not any(frame[34 + size : 60])
            kinds.add(kind)
            tagged = True
        if tagged:
            frames = decode(Path(pcap))
            pauses = frames[frames["macc.opcode"] != ""]
            assert (pauses["_ws.malformed"] == "").all()
            assert set(pauses["eth.fcs.status"]) == {"1"}
    assert 1 in kinds  # checks; what follows them depends on whether there is a deadlock


# ---------------------------------------------------------------------------------------------
# The command


def invoke(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A task in a process of its own."""
    moved = {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(folder / "results")}
    return called(
        [sys.executable, "-m", "invoke", *words], cwd=ROOT, env=os.environ | moved, timeout=300
    )


@pytest.mark.cpp
def test_trace_writes_what_it_says(tmp_path: Path) -> None:
    """The command names its files; the animation has the frames; wrong words are reported."""
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    out = tmp_path / "out"
    words = ["--port", "s0:h3", "--until", "60us", "--out", str(out)]
    done = invoke(tmp_path, "trace", str(file), "variant=PFC", *words)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["animation.xml", "s0-h3.pcap"]
    assert "simulated 60us" in done.stdout
    count = len(frames_of(out / "s0-h3.pcap"))
    assert f"s0-h3.pcap               {count} frames" in done.stdout
    assert max(time for time, _, _ in frames_of(out / "s0-h3.pcap")) <= 60_000
    animation = ElementTree.parse(out / "animation.xml").getroot()  # noqa: S314 - our own file
    assert animation.attrib == {"ver": "netanim-3.109", "filetype": "animation"}
    assert len(animation.findall("node")) == 5
    assert len(animation.findall("link")) == 4
    packets = animation.findall("p")
    assert len(packets) > count
    for packet in packets[:200]:
        times = [float(packet.attrib[key]) for key in ("fbTx", "fbRx", "lbTx", "lbRx")]
        assert times[0] < times[1] < times[3]
        assert times[1] - times[0] == pytest.approx(500e-9, abs=1e-12)
        assert times[3] - times[2] == pytest.approx(500e-9, abs=1e-12)

    done = invoke(tmp_path, "trace", str(file), "99", "--port", "s0:h9")
    assert done.returncode == 2
    assert "RUN: there is no run with this number" in done.stderr


@pytest.mark.cpp
def test_trace_compares_with_the_stored_run(tmp_path: Path) -> None:
    """A whole run is compared with the stored one; the files are next to it, not in it."""
    file = tmp_path / "study.toml"
    file.write_text(re.sub(r"\[variants\.\"model.*", "", STUDY, flags=re.DOTALL), encoding="utf-8")
    assert invoke(tmp_path, "experiment", str(file)).returncode == 0
    runs = {path: path.read_bytes() for path in tmp_path.rglob("runs/*/*")}
    words = ["--port", "s0", "--no-animation", "--snap", "96"]
    done = invoke(tmp_path, "trace", str(file), "1", *words)
    assert done.returncode == 0, done.stderr
    assert "frames are cut to 96 bytes: Wireshark writes 'Malformed Packet'" in done.stdout
    assert "the same as those of the stored run" in done.stdout
    assert {path: path.read_bytes() for path in tmp_path.rglob("runs/*/*")} == runs
    assert len(list(tmp_path.rglob("traces/*/s0-h*.pcap"))) == 4


def spec(number: int, variant: str) -> RunSpec:
    """A run of which only the title counts."""
    return run_of({"params": {"variant": variant}, "seed": number})


SPECS = [spec(1, "PFC"), spec(2, "PFC"), spec(1, "GFC")]


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("1", 0),
        ("3", 2),
        ("GFC", 2),
        ("variant=PFC seed=2", 1),
        (SPECS[1].hash("f"), 1),
        (SPECS[1].hash("f")[:8], 1),
    ],
)
def test_a_run_is_found(text: str, index: int) -> None:
    """By number, title, part of a title, hash or the start of it."""
    assert find_run(SPECS, "f", text) is SPECS[index]


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("0", "there is no run with this number", f"did you mean 1, {SPECS[0].title!r}?"),
        ("4", "there is no run with this number", f"did you mean 3, {SPECS[2].title!r}?"),
        ("PFC", "2 runs match 'PFC'", "--details lists the runs"),
        ("", "no run matches ''", "--details lists the runs"),
        ("XFC", "no run matches 'XFC'", "--details lists the runs"),
    ],
)
def test_a_run_that_is_not_meant_is_told(text: str, what: str, hint: str) -> None:
    """The message has the titles to choose from."""
    with pytest.raises(UserError) as caught:
        find_run(SPECS, "f", text)
    assert caught.value.problems[0].what == what
    assert (caught.value.problems[0].hint or "").endswith(hint)
    assert "variant=PFC seed=1" in (caught.value.problems[0].allowed or "")


def network(kind: str, **keys: Any) -> Any:
    """A topology of a kind."""
    common = {"rate_bps": 10**10, "delay_ps": 10**6, "failed_links": [], "failures": []}
    return network_of({"kind": kind, **common, **keys})


def test_options_are_read() -> None:
    """Ports are names, with a neighbour or without; times have units."""
    star = network("star", hosts=3)
    words = Words(ports=("s0:h0", "h1"), until="2us", snap="96", fcs=True, untagged=True)
    assert read_options(words, star) == Options(
        ports=(("s0", "h0"), ("h1", "")), until_ps=2_000_000, fcs=True, tagged=False, snap_bytes=96
    )
    assert Options.from_data(json.loads(json.dumps(read_options(words, star).to_data()))) == (
        read_options(words, star)
    )


def test_all_wrong_options_are_told_at_once() -> None:
    """Unknown nodes, missing links, times without unit, lengths out of range."""
    star = network("star", hosts=3)
    words = Words(ports=("s1:h0", "h0:h1"), until="2", snap="0")
    with pytest.raises(UserError) as caught:
        read_options(words, star)
    assert [problem.where for problem in caught.value.problems] == [
        "--port s1:h0",
        "--port h0:h1",
        "--until",
        "--snap",
    ]
    assert caught.value.problems[1].allowed == "h0:s0"


def test_too_many_files_are_refused() -> None:
    """A fat-tree of k = 10 has 1,500 ports."""
    with pytest.raises(UserError, match="1500 ports would be captured"):
        read_options(Words(), network("fat_tree", k=10))


# ---------------------------------------------------------------------------------------------
# NetAnim


@pytest.mark.parametrize(
    "net",
    [
        network("star", hosts=5),
        network("star", hosts=60),
        network("fat_tree", k=4),
        network("ring", switches=5),
        network("leaf_spine", leaves=3, spines=2, hosts_per_leaf=4, uplink_rate_bps=10**10),
    ],
    ids=["star", "wide", "fat_tree", "ring", "leaf_spine"],
)
def test_no_node_stands_on_another_or_on_a_link(net: Any) -> None:
    """Every node has room, and no link passes through a node that is not its end."""
    positions = spread(layout(net))
    assert set(positions) == set(range(len(net.names)))
    points = {node: np.array(position) for node, position in positions.items()}
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(points.values(), 2))
    assert nearest > 6
    for a, b in zip(net.a.tolist(), net.b.tolist(), strict=True):
        for node, point in points.items():
            if node not in (a, b):
                along = points[b] - points[a]
                share = np.clip(np.dot(point - points[a], along) / np.dot(along, along), 0, 1)
                assert np.linalg.norm(points[a] + share * along - point) > 1


def test_hosts_are_below_their_switches() -> None:
    """The layers of a fat-tree are hosts, edge, aggregation and core, from the bottom."""
    net = network("fat_tree", k=4)
    heights: dict[str, set[float]] = {}
    for node, (_, y) in layout(net).items():
        heights.setdefault(net.names[node].rstrip("0123456789"), set()).add(round(y, 9))
    ((host,), (edge,), (agg,), (core,)) = (heights[layer] for layer in ("h", "edge", "agg", "core"))
    assert host < edge < agg < core


#: What AnimationInterface of ns-3.44 writes for two nodes, a link and a packet.
NS3_SAMPLE = """<anim ver="netanim-3.109" filetype="animation" >
<node id="0" sysId="0" locX="1" locY="2" />
<link fromId="0" toId="1" fd="" td="" ld="" />
<nu p="d" t="0" id="0" descr="h0" />
<nu p="c" t="0" id="0" r="1" g="2" b="3" />
<nu p="s" t="0" id="0" w="4" h="4" />
<p fId="0" fbTx="1" lbTx="1.024902344" meta-info="x" tId="1" fbRx="1" lbRx="1.024902344" />
</anim>"""


def forms(text: str) -> set[tuple[str, ...]]:
    """Each kind of element with its attributes in order."""
    root = ElementTree.fromstring(text)  # noqa: S314 - our own text
    return {(item.tag, item.attrib.get("p", ""), *item.attrib) for item in root.iter()}


def test_the_animation_is_what_netanim_reads(tmp_path: Path) -> None:
    """Elements and attributes are those of ns-3's AnimationInterface; times are exact."""
    net = network("star", hosts=2)
    frames = {
        "time_ps": np.array([1, 2_000_000_000_000], "int64"),
        "node": np.array([0, 2], "uint32"),
        "peer": np.array([2, 0], "uint32"),
        "kind": np.array([DATA, MAC], "uint8"),
        "class": np.array([3, 8], "uint8"),
        "flow": np.array([7, 0], "uint32"),
        "psn": np.array([5, -1], "int64"),
        "opcode": np.array([0, PFC], "uint16"),
        "bytes": np.array([1000, 84], "int64"),
    }
    file = tmp_path / "animation.xml"
    assert write_animation(file, net, frames) == 2
    assert forms(file.read_text(encoding="utf-8")) == forms(NS3_SAMPLE)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == '<anim ver="netanim-3.109" filetype="animation">'
    assert lines[-1] == "</anim>"
    assert '<link fromId="0" toId="2" fd="h0" td="s0" ld="10Gbps, 1us"/>' in lines
    assert '<nu p="d" t="0" id="2" descr="s0"/>' in lines
    # 1000 bytes at 10 Gb/s take 800 ns; the delay is 1 us
    assert lines[-3] == (
        '<p fId="0" fbTx="0.000000000001" lbTx="0.000000800001" '
        'meta-info="DATA flow 7 psn 5 class 3 1000 B" '
        'tId="2" fbRx="0.000001000001" lbRx="0.000001800001"/>'
    )
    assert 'meta-info="PFC MAC control 0x0101 84 B"' in lines[-2]


def test_times_and_frames_are_described() -> None:
    """Seconds are exact, unknown kinds are shown as numbers."""
    assert seconds(1_500_000_000_007) == "1.500000000007"
    assert describe(ACK, 8, 1, 4, 0, 84) == "ACK flow 1 psn 4 control queue 84 B"
    assert describe(99, 0, 0, -1, 0, 64) == "kind 99 flow 0 class 0 64 B"
    assert describe(MAC, 8, 0, -1, 0x0FC0, 84) == "MAC control 0x0fc0 84 B"
