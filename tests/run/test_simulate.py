"""RunSpec -> calls of the Simulation -> files, with a Simulation that only takes notes."""
# ruff: noqa: N802 - the fake has the names of the C++ class

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pyorch.base.paths import RunPaths
from pyorch.engine.progress import read_heartbeat
from pyorch.metrics import parse
from pyorch.network.topology import NO_NETWORK
from pyorch.plan import RunSpec, metrics_digest
from pyorch.run.simulate import (
    ModelError,
    RefusedError,
    WrongResultError,
    advance,
    read_tables,
    run_until,
    set_up,
    simulate,
    write_table,
)
from tests.forms import run_of, section

STAR = {
    "kind": "star",
    "hosts": 3,
    "rate_bps": 10_000_000_000,
    "delay_ps": 1_000_000,
    "failed_links": [],
    "failures": [{"link": ["h1", "s0"], "down_ps": 5, "up_ps": -1}],
}

METRICS = [{"name": "top", "kind": "max", "table": "queue", "port": "s0:h0", "class": 3}]
DIGEST = metrics_digest(tuple(map(parse, METRICS)))


@dataclass
class Pair:
    """A std::pair."""

    first: str
    second: float


class FakeSimulation:
    """Takes notes of every call and gives fixed results."""

    finish = ""
    check = ""
    columns = (
        ("time_ps", np.array([0, 700], "int64")),
        ("node", np.array([3, 3], "uint32")),
        ("peer", np.array([0, 0], "uint32")),
        ("class", np.array([3, 3], "uint8")),
        ("bytes", np.array([0, 1500], "uint64")),
    )

    def __init__(self, seed: int) -> None:
        self.calls: list[tuple[Any, ...]] = [("Simulation", seed)]
        self.now = 0

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name[0].isupper():
            raise AttributeError(name)

        def note(*arguments: Any) -> None:
            plain = [a.tolist() if isinstance(a, np.ndarray) else a for a in arguments]
            types = [a.dtype.name for a in arguments if isinstance(a, np.ndarray)]
            self.calls.append((name, *plain, *([types] if types else [])))

        return note

    def Check(self) -> str:
        """Give the problems."""
        return self.check

    def Warnings(self) -> str:
        """Give one warning."""
        return "outside the bound\n"

    def Notes(self) -> str:
        """Give one note."""
        return "a deadlock\n"

    def Run(self, until: int) -> bool:
        """Simulate 600 ps and no more."""
        self.now = min(until, 600)
        return until < 600

    def Now(self) -> int:
        """Give the time."""
        return self.now

    def GetDeliveredShare(self) -> float:
        """Give three quarters of what is delivered at the end."""
        return 0.75

    def GetFinishedFlows(self) -> int:
        """Give the number of messages that have arrived."""
        return 3

    def Finish(self) -> str:
        """Give the problems."""
        return self.finish

    def GetSummary(self) -> list[Pair]:
        """Give two numbers."""
        return [Pair("events", 12.0), Pair("mean", 0.5)]

    def GetNTables(self) -> int:
        """Give the number of tables."""
        return 2

    def GetTableName(self, table: int) -> str:
        """Name a table."""
        return ("queue", "drop")[table]

    def GetNRows(self, table: int) -> int:
        """Count rows: the second table is empty."""
        return (2, 0)[table]

    def GetNColumns(self, table: int) -> int:
        """Count columns."""
        return (len(self.columns), 1)[table]

    def GetColumnName(self, _table: int, column: int) -> str:
        """Name a column."""
        return self.columns[column][0]

    def GetColumnType(self, _table: int, column: int) -> str:
        """Name a type."""
        return self.columns[column][1].dtype.name

    def GetColumnData(self, table: int, column: int) -> int:
        """Give an address; an empty column has none."""
        return int(self.columns[column][1].ctypes.data) if table == 0 else 0


def make_spec(**changes: Any) -> RunSpec:
    """A RunSpec that uses everything a Simulation can do."""
    data: dict[str, Any] = {
        "schema": 1,
        "experiment": "study",
        "seed": 7,
        "run": {
            "duration_ps": 1000,
            "warmup_ps": 0,
            "drain_ps": 200,
            "allow_loss": True,
            "stop_when_done": False,
            "deadlock_test_ps": 100,
            "stop_on_deadlock": True,
            "simulator": "ns3::eventloop::EventLoop",
        },
        "topology": STAR,
        "attributes": {"ns3::lossless::Port": {"Overhead": "0"}},
        "flow_control": ["ns3::pfc::Pfc"],
        "agents": ["ns3::a::Agent"],
        "host_agents": ["ns3::a::NicAgent"],
        "nodes": [
            {"nodes": ["h1", "s0"], "attributes": {"ns3::lossless::Port": {"Overhead": "4"}}},
            {"nodes": ["s0"], "attributes": {"ns3::lossless::Switch": {"Latency": "5ps"}}},
        ],
        "routes": [{"switch": "s0", "dst": "h1", "next": "h0", "at_ps": 7, "until_ps": -1}],
        "forwarding": "ns3::f::Policy",
        "buffer_policy": "ns3::b::Policy",
        "congestion_control": "ns3::c::Control",
        "traffic": [],
        "faults": [
            {"kind": "slow_receiver", "host": "h2", "rate_bps": 5, "start_ps": 6},
            {"kind": "pause_storm", "host": "h1", "class": 3, "start_ps": 7, "stop_ps": 8},
        ],
        "traces": [
            {"table": "queue", "ports": [["s0", "h0"]], "classes": [3, 0], "period_ps": 0},
            {"table": "rate", "ports": [], "classes": [], "period_ps": 9},
        ],
        "metrics": METRICS,
        "params": {"variant": ""},
    }
    return RunSpec.from_json(json.dumps(data | changes))


def run_fake(
    tmp_path: Path, name: str = "run", kind: type = FakeSimulation, **changes: Any
) -> tuple[RunPaths, FakeSimulation]:
    """Simulate with the fake and return the run's files and the fake."""
    run = RunPaths(tmp_path / name)
    run.folder.mkdir()
    made: list[FakeSimulation] = []

    def create(seed: int) -> FakeSimulation:
        made.append(kind(seed))
        return made[0]

    simulate(make_spec(**changes), create, run)
    return run, made[0]


def test_everything_in_a_spec_reaches_the_simulation(tmp_path: Path) -> None:
    """Names become numbers, arrays have the C++ types; only what is built can be traced."""
    _, simulation = run_fake(tmp_path)
    rates, delays = [10_000_000_000] * 3, [1_000_000] * 3
    assert simulation.calls == [
        ("Simulation", 7),
        ("SetSimulator", "ns3::eventloop::EventLoop"),
        ("SetAttribute", "ns3::lossless::Port", "Overhead", "0"),
        ("AddFlowControl", "ns3::pfc::Pfc"),
        ("AddAgent", "ns3::a::Agent"),
        ("AddHostAgent", "ns3::a::NicAgent"),
        ("SetForwarding", "ns3::f::Policy"),
        ("SetBufferPolicy", "ns3::b::Policy"),
        ("SetCongestionControl", "ns3::c::Control"),
        ("SetAllowLoss", True),
        ("SetRepeats", "off"),
        ("SetStopWhenDone", False, False),
        ("SetDeadlockTest", 100, True),
        ("AddNodes", [0, 0, 0, 1], "h0\nh1\nh2\ns0", 4, ["uint8"]),
        (
            "AddLinks",
            *([0, 1, 2], [3, 3, 3], rates, delays, 3),
            ["uint32", "uint32", "uint64", "int64"],
        ),
        ("FailLink", 1, 5, -1),
        ("SetNodeAttribute", 1, "ns3::lossless::Port", "Overhead", "4"),
        ("SetNodeAttribute", 3, "ns3::lossless::Port", "Overhead", "4"),
        ("SetNodeAttribute", 3, "ns3::lossless::Switch", "Latency", "5ps"),
        ("DivertRoute", 3, 1, 0, 7, -1),
        ("SetReceiveRate", 2, 5, 6),
        ("AddStorm", 1, -1, 3, 7, 8, 0, 0, 0),
        ("Build",),
        ("Trace", "queue", [3], [0], 1, 0b1001, 0, ["uint32", "int64"]),
        ("Trace", "rate", [0], [-1], 0, 0xFF, 9, ["uint32", "int64"]),
    ]


def test_tables_and_summary_are_written(tmp_path: Path) -> None:
    """Tables keep names, types and values; the summary has nodes, numbers and metrics."""
    run, _ = run_fake(tmp_path)
    assert [path.name for path in run.tables()] == ["drop.parquet", "queue.parquet"]
    table = pq.read_table(run.table("queue"))
    for name, values in FakeSimulation.columns:
        np.testing.assert_array_equal(table[name].to_numpy(), values)
        assert str(table[name].type) == values.dtype.name
    assert pq.read_table(run.table("drop")).num_rows == 0
    assert json.loads(run.summary.read_text()) == {
        "nodes": ["h0", "h1", "h2", "s0"],
        "summary": {"events": 12, "mean": 0.5},
        "metrics": {DIGEST: {"top": 1500.0}},
        "problems": [],
        "warnings": ["outside the bound"],
        "notes": ["a deadlock"],
    }


class Slow(FakeSimulation):
    """Stays long in the slice that ends at 588 ps, half way less a slice."""

    def Run(self, until: int) -> bool:
        """Simulate 588 ps and wait until this is noted."""
        self.now = until
        deadline = time.monotonic() + 30
        while until == 588 and read_heartbeat(self.beating) != self.expected:
            assert time.monotonic() < deadline, read_heartbeat(self.beating)
            time.sleep(0.01)
        return until < 588

    beating: Path
    expected: float


@pytest.mark.parametrize(("stop_when_done", "share"), [(False, 588 / 1200), (True, 0.75)])
def test_the_heartbeat_tells_what_is_over(
    tmp_path: Path, stop_when_done: bool, share: float
) -> None:
    """While a slice lasts: time, drain included; where a run stops when done, what is delivered."""
    run = RunPaths(tmp_path)
    Slow.beating, Slow.expected = run.heartbeat, pytest.approx(share)
    settings = section(duration_ps=1000, drain_ps=200, stop_when_done=stop_when_done)
    advance(Slow(7), settings, run)
    assert read_heartbeat(run.heartbeat) == 1.0  # what is left is to write the tables


THROWING = """
struct Throwing
{
    bool Run(long) { throw 42; }
    long Now() { return 7000; }
};
"""


def test_what_a_module_throws_is_told_whatever_it_is() -> None:
    """Without a traceback, although it has no message, and with the time."""
    import cppyy

    cppyy.cppdef(THROWING)
    with pytest.raises(ModelError) as caught:
        run_until(cppyy.gbl.Throwing(), 8000, 9000)
    what = "a module threw something that is no std::exception, so that it has no message"
    assert caught.value.problems == (what, "it was at 7ns of 9ns")


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two runs of one spec write the same files with the same bytes."""
    first, _ = run_fake(tmp_path, "first")
    second, _ = run_fake(tmp_path, "second")
    for path in [*first.tables(), first.summary]:
        assert path.read_bytes() == (second.folder / path.name).read_bytes()


class Impossible(FakeSimulation):
    """Refuses its configuration."""

    check = "headroom of s0 is 1 B, needs 2 B\nXON above XOFF\n"


def test_what_a_module_refuses_by_an_exception_is_a_refusal() -> None:
    """The message from C++ is shown, with object, attribute and value; a defect of ours is not."""
    cppyy = pytest.importorskip("cppyy")
    cppyy.cppdef(
        """
        #include <stdexcept>
        namespace pyorch_test {
        struct Strict {
            void SetSimulator(const char*) {
                throw std::invalid_argument("ns3::rdma::Host.Latency cannot be -1 ps");
            }
        };
        }
        """
    )
    spec = run_of({})
    with pytest.raises(RefusedError) as caught:
        set_up(cppyy.gbl.pyorch_test.Strict(), spec)
    assert caught.value.problems == ("ns3::rdma::Host.Latency cannot be -1 ps",)
    with pytest.raises(AttributeError):
        set_up(cppyy.gbl.pyorch_test.Strict(), None)


def test_what_a_module_throws_in_the_run_is_told_in_words() -> None:
    """The sentence of C++ and the simulated time; no traceback, which would say nothing of it."""
    cppyy = pytest.importorskip("cppyy")
    cppyy.cppdef(
        """
        #include <stdexcept>
        namespace pyorch_test {
        struct Thrower {
            bool Run(long long) { throw std::runtime_error("flow 7 has no path"); }
            long long Now() { return 3000000; }
        };
        }
        """
    )
    with pytest.raises(ModelError) as caught:
        run_until(cppyy.gbl.pyorch_test.Thrower(), 10**7, 10**7)
    assert caught.value.render() == (
        "a module aborted the run:\n  flow 7 has no path\n  it was at 3us of 10us"
    )


def test_an_impossible_configuration_is_not_simulated(tmp_path: Path) -> None:
    """What Check says is raised, all of it, and nothing is written."""
    with pytest.raises(RefusedError) as caught:
        run_fake(tmp_path, kind=Impossible)
    assert caught.value.render() == (
        "this configuration is impossible:\n  headroom of s0 is 1 B, needs 2 B\n  XON above XOFF"
    )
    assert list((tmp_path / "run").iterdir()) == []


class Lossy(FakeSimulation):
    """Loses frames."""

    finish = "2 frames of lossless class 3 were dropped at s0"


def test_a_wrong_result_keeps_its_tables(tmp_path: Path) -> None:
    """What Finish says is raised after tables and summary were written, without metrics."""
    with pytest.raises(WrongResultError, match="2 frames of lossless class 3"):
        run_fake(tmp_path, kind=Lossy)
    run = RunPaths(tmp_path / "run")
    assert len(run.tables()) == 2
    summary = json.loads(run.summary.read_text())
    assert summary["problems"] == [Lossy.finish]
    assert summary["metrics"] == {}


def test_columns_are_read_in_place() -> None:
    """A column is the memory of C++ itself, read-only, and not a copy."""
    tables = read_tables(FakeSimulation(1), NO_NETWORK)
    for name, values in FakeSimulation.columns:
        assert tables["queue"][name].ctypes.data == values.ctypes.data
        assert not tables["queue"][name].flags.writeable
    assert tables["drop"]["time_ps"].shape == (0,)


def test_writing_a_table_does_not_import_pandas(tmp_path: Path) -> None:
    """A run process must not pay for pandas, which takes 0.4 s to import."""
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from pyorch.base.paths import RunPaths; from pyorch.run.simulate import write_table\n"
        "write_table(RunPaths(Path(sys.argv[1])), 't', {'a': np.arange(3)})\n"
        "sys.exit('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == 0
    assert pq.read_table(tmp_path / "t.parquet")["a"].to_pylist() == [0, 1, 2]


def test_a_table_that_cannot_be_written_is_an_os_error() -> None:
    """A full disk comes through as the system's error, for the engine to explain."""
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the machine
        write_table(RunPaths(Path("/dev/full")), "x", {"a": np.arange(3)})
