"""The modules without pyorch: their example programs run, and their captures are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch.base.paths import project_root
from pyorch.build import BuildInfo, ensure_built
from tests.inputs import RUNS, called
from tests.wireshark import tshark

pytestmark = [pytest.mark.cpp, pytest.mark.inputs(*RUNS)]

ROOT = project_root()
#: Example program -> options that make it short, and what it has to print.
SHORT = {
    "cbfc-long-link": (["--duration=200us"], r"\d"),
    "dcfit-ring": (["--duration=500us"], r"\d"),
    "dcqcn-incast": (["--duration=500us"], r"goodput_gbps \d"),
    "dsh-burst": ([], r"pauses_sent 0\n"),
    "eventloop-rate": ([], r"events_per_cpu_s"),
    "fabricdevice-incast": (["--duration=500us"], r"10\.0\.0\.1 tcp_gbps 2\.\d"),
    "forwarding-two-ways": (["--duration=200us"], r"goodput_gbps \d"),
    "lossless-threshold": ([], r"closed_form_bytes"),
    "gfc-two-to-one": (["--duration=1ms"], r"\d"),
    "pffc-victim": (["--duration=300us"], r"\d"),
    "facade-permutation": (["--size=10000"], r"unfinished 0"),
    "rdma-connection": ([], r"message 3 arrived_ps \d"),
    "sfc-incast": (["--duration=300us"], r"\d"),
}


@pytest.fixture(scope="module")
def build() -> BuildInfo:
    """The build with the example programs."""
    return ensure_built(tests=True)


def run(build: BuildInfo, name: str, *options: str) -> str:
    """Run an example program; return what it printed."""
    program = build.programs / name
    done = called([program, *options], timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run() -> None:
    """A new example has to be added above."""
    names = {file.stem for file in (ROOT / "ns3-modules").glob("*/examples/*.cc")}
    assert names == set(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_an_example_runs(build: BuildInfo, name: str) -> None:
    """Each prints numbers, and refuses an option that it does not have."""
    options, expected = SHORT[name]
    assert re.search(expected, run(build, name, *options))
    program = build.programs / name
    wrong = called([program, "--nonsense=1"])
    assert wrong.returncode != 0


def run_python(module: str, name: str) -> str:
    """Run an example in Python; return what it printed."""
    script = ROOT / "ns3-modules" / module / "examples" / f"{name}.py"
    environment = os.environ | {"PYORCH_ROOT": str(ROOT)}
    done = called([sys.executable, script], timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_thresholds_are_those_of_the_closed_form(build: BuildInfo) -> None:
    """In C++ and in Python a queue gets alpha Bs / (1 + n alpha) within a frame each queue."""
    text = run(build, "lossless-threshold", "--queues=8", "--alpha=0.5")
    found = dict(line.split() for line in text.splitlines())
    assert abs(int(found["queue_bytes"]) - float(found["closed_form_bytes"])) <= 8 * 64
    rows = re.findall(
        r"queue_bytes (\d+) +closed_form_bytes (\d+)", run_python("lossless", "lossless-threshold")
    )
    assert len(rows) == 4
    for held, closed_form in rows:
        assert abs(int(held) - int(closed_form)) <= 8 * 256


def test_messages_share_a_connection_or_a_link(build: BuildInfo) -> None:
    """One after the other, else in turn: 1,000 packets of 1,000 + 48 + 20 B at 100 Gb/s, 1 us."""
    for options, last in (
        ([], [1000, 2000, 3000, 4000]),
        (["--shared=0"], [3994, 3998, 3999, 4000]),  # the first has sent one when the others join
    ):
        text = run(build, "rdma-connection", *options)
        found = re.findall(r"message (\d) arrived_ps (\d+)", text)
        expected = [(str(k), str(1_000_000 + n * 85_440)) for k, n in enumerate(last)]
        assert found == expected


def test_the_stack_runs_from_python(build: BuildInfo) -> None:
    """TCP loses nothing in the lossless class and is paused; in the lossy one it is not."""
    printed = run_python("fabricdevice", "fabricdevice-incast")
    found = {
        int(match[1]): dict(
            zip(match[2].split()[::2], map(float, match[2].split()[1::2]), strict=True)
        )
        for match in re.finditer(r"dscp +(\d+)  (.*)", printed)
    }
    assert found[26]["dropped_frames"] == 0
    assert found[26]["pauses"] > 0
    assert found[0]["pauses"] == 0


# ---------------------------------------------------------------------------------------------
# Packets of ns-3's Internet stack, as tshark reads them


def decode(file: Path, fields: list[str], frames: str = "") -> list[list[str]]:
    """The fields of the frames of a capture, all checksums verified."""
    words = [tshark(), "-n", "-r", str(file), "-T", "fields", "-E", "separator=/t"]
    words += ["-o", "eth.fcs:ALWAYS", "-o", "eth.check_fcs:TRUE", "-o", "ip.check_checksum:TRUE"]
    words += ["-o", "tcp.check_checksum:TRUE"]
    words += [word for field in fields for word in ("-e", field)]
    words += ["-Y", frames] if frames else []
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("tagged", [False, True])
def test_tcp_on_a_capture(build: BuildInfo, tmp_path: Path, tagged: bool) -> None:
    """Tshark reads ARP, TCP and PFC; checksums hold, lengths are the wire's, classes the DSCP's."""
    tags = f"--tagged={int(tagged)}"
    incast = ["--duration=500us", "--xoff=20000", tags]
    run(build, "fabricdevice-incast", *incast, f"--pcap={tmp_path}/")
    # ns-3's ARP waits up to 10 ms before it asks
    asking = ["--duration=12ms", "--rate=1Gbps", "--senders=1", "--caches=0", tags]
    run(build, "fabricdevice-incast", *asking, f"--pcap={tmp_path}/ask-")
    files = sorted(tmp_path.glob("*.pcap"))
    assert {file.stem for file in files} >= {"h0-s0", "s0-h4"}
    kinds = set()
    for file in files:
        fields = ["frame.protocols", "eth.fcs.status", "ip.checksum.status", "tcp.checksum.status"]
        fields += ["frame.len", "ip.dsfield.dscp", "vlan.priority", "ip.len", "eth.type"]
        rows = decode(file, fields)
        assert rows
        assert not decode(file, ["frame.number"], "_ws.malformed")
        for protocols, fcs, ip, tcp, length, dscp, priority, ip_length, *_ in rows:
            layers = protocols.split(":")
            kinds |= set(layers)
            assert fcs == "1"
            assert int(length) >= 64
            if "ip" in layers:
                assert ip == "1"
                assert tcp == "1"
                assert int(length) == max(int(ip_length) + 18, 64) + 4 * tagged
            if "ip" in layers and tagged:
                assert int(priority) == int(dscp) // 8
    assert {"arp", "tcp", "macc"} <= kinds


def test_marks_are_on_the_wire(build: BuildInfo, tmp_path: Path) -> None:
    """A mark of the switch is on the link behind it, and not on those before it."""
    options = ["--duration=1ms", "--dscp=0", "--lossyPool=2000000", "--dctcp=1"]
    run(build, "fabricdevice-incast", *options, f"--pcap={tmp_path}/")
    marked = "ip.dsfield.ecn == 3 && ip.dst == 10.0.0.5"
    assert decode(tmp_path / "s0-h4.pcap", ["frame.number"], marked)
    assert not decode(tmp_path / "h0-s0.pcap", ["frame.number"], marked)
    assert {row[0] for row in decode(tmp_path / "s0-h4.pcap", ["ip.checksum.status"], "ip")} == {
        "1"
    }
