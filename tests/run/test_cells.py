"""Results depend neither on the window, nor on whether cells run on their own or by threads."""

from __future__ import annotations

import ast
import io
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.base.paths import RESULTS_VARIABLE
from pyorch.engine import LocalEngine, cores
from pyorch.pipeline import make_plan
from tests.forms import form

pytestmark = [pytest.mark.cpp, pytest.mark.slow]

SCHEMES = Path(__file__).parents[2] / "experiments" / "schemes"

STUDY = """
title = "cells"
question = "?"
source = "test"

[variants]
files = ["schemes/*.toml"]

[run]
duration = "120us"
drain = "2ms"
allow_loss = true
stop_when_done = true

[queue_pair]
timeout = "300us"

[buffer]
size = "300KB"
lossy_pool = "0B"

[switch]
latency = "300ns"

[port]
control_delay = "100ns"

[[traffic]]
kind = "poisson"
load = 0.6
workload = "hadoop"

[[traffic]]
kind = "incast"
dst = "h0"
degree = 6
size = "30KB"

[[traffic]]
kind = "collective"
connection = "message"
collectives = [
    { name = "g", operation = "all_reduce", algorithm = "ring", size = "64KB" },
    { name = "h", operation = "all_gather", algorithm = "ring", size = "64KB", after = ["g"] },
]

[[trace]]
table = "queue"
period = "7us"

[[trace]]
table = "rate"
period = "11us"

[[trace]]
table = "pause"

[[trace]]
table = "egress"

[[trace]]
table = "control"

[[trace]]
table = "flow_link"
"""

NETWORKS = {
    "fat-tree": """
[topology]
kind = "fat_tree"
k = 4
rate = "25Gbps"
delay = "600ns"
""",
    "unequal": """
[topology]
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "150ns"
uplink_delay = "700ns"
""",
}

ALL_BY_THREADS = "ns3::eventloop::CellLoop::ThreadsFrom=0"
"""Threads run every window, however little happens in it."""

Found = dict[tuple[str, int], tuple[dict[str, bytes], str, list[str]]]


def simulate(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Tables, summary and notes of all runs of a study, by variant and seed."""
    shutil.copytree(SCHEMES, folder / "schemes")
    monkeypatch.setenv(RESULTS_VARIABLE, str(folder / "results"))
    file = folder / "cells.toml"
    file.write_text(text, encoding="utf-8")
    plan = make_plan(str(file))
    output = io.StringIO()
    done = LocalEngine(plan.store, 2, stream=output).run(plan.specs, plan.build).done
    assert done == len(plan.specs), output.getvalue()
    found = {}
    for spec in plan.specs:
        key = spec.hash(plan.build.fingerprint)
        tables = plan.store.folder(key)
        summary = plan.store.read_summary(key)
        found[form(spec)["params"]["variant"], form(spec)["seed"]] = (
            {path.name: path.read_bytes() for path in sorted(tables.rglob("*.parquet"))},
            repr(sorted(summary["summary"].items())),
            [note for note in summary["notes"] if note.startswith("all is one cell")],
        )
    return found


@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_windows_change_no_byte(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every scheme of the bake-off gives the same tables and summary in one order of time."""
    text = STUDY + NETWORKS[network]
    cells = simulate(tmp_path / "cells", text, monkeypatch)
    assert len(cells) > 10
    assert not any(notes for _, _, notes in cells.values())
    for window in ("0ns", "40ns"):
        monkeypatch.setenv("NS_ATTRIBUTE_DEFAULT", f"ns3::eventloop::CellLoop::MostWindow={window}")
        other = simulate(tmp_path / window, text, monkeypatch)
        assert {name for name in cells if cells[name] != other[name]} == set()
    monkeypatch.setattr(cores, "usable_cores", lambda: 4)
    for threads in (2, 3):
        monkeypatch.setenv("NS_ATTRIBUTE_DEFAULT", ALL_BY_THREADS)
        many = text.replace("[run]", f"[run]\nthreads = {threads}")
        other = simulate(tmp_path / f"{threads}", many, monkeypatch)
        assert {name for name in cells if cells[name] != other[name]} == set()


ANY = """
title = "any"
question = "?"
source = "test"

[variants]
files = ["schemes/{scheme}.toml"]

[run]
duration = "{duration}us"
drain = "200us"
allow_loss = true
stop_when_done = {stop}

[queue_pair]
timeout = "300us"

[buffer]
size = "{buffer}KB"
lossy_pool = "0B"

[port]
control_delay = "{control}ns"

[topology]
{network}
rate = "25Gbps"
delay = "{delay}ns"

[[traffic]]
kind = "poisson"
load = {load}
workload = "hadoop"

[[traffic]]
kind = "incast"
dst = "h0"
degree = 2
size = "{incast}KB"

[[trace]]
table = "pause"

[[trace]]
table = "egress"
"""

SHAPES = (
    'kind = "ring"\nswitches = 3\nhosts_per_switch = 1',
    'kind = "ring"\nswitches = 5\nhosts_per_switch = 2',
    'kind = "leaf_spine"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nuplink_delay = "400ns"',
    'kind = "fat_tree"\nk = 4',
)

ANY_RUN = st.fixed_dictionaries(
    {
        "scheme": st.sampled_from(sorted(file.stem for file in SCHEMES.glob("*.toml"))),
        "network": st.sampled_from(SHAPES),
        "delay": st.integers(30, 3000),
        "control": st.sampled_from((0, 100, 700)),
        "load": st.sampled_from((0.1, 0.5, 0.95)),
        "buffer": st.sampled_from((300, 3000)),
        "incast": st.sampled_from((10, 300)),
        "duration": st.integers(20, 100),
        "stop": st.sampled_from(("true", "false")),
    }
)


@settings(max_examples=6, deadline=None)
@given(keys=ANY_RUN, window=st.integers(1, 400))
def test_no_window_changes_a_byte_of_any_run(keys: dict[str, Any], window: int) -> None:
    """Random networks, delays, loads and schemes: as in one order of time."""
    text = ANY.format(**keys)
    found = []
    for most in ("1h", "0ns", f"{window}ns"):
        with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
            patch.setenv("NS_ATTRIBUTE_DEFAULT", f"ns3::eventloop::CellLoop::MostWindow={most}")
            found.append(simulate(Path(folder) / "run", text, patch))
    assert found[0] == found[1] == found[2]


def by_threads(folder: Path, text: str, threads: int) -> Found:
    """The same, of runs whose every window several threads run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NS_ATTRIBUTE_DEFAULT", ALL_BY_THREADS)
        patch.setattr(cores, "usable_cores", lambda: 8)
        return simulate(folder, text.replace("[run]", f"[run]\nthreads = {threads}"), patch)


@settings(max_examples=6, deadline=None)
@given(keys=ANY_RUN, threads=st.integers(2, 5))
def test_no_number_of_threads_changes_a_byte_of_any_run(keys: dict[str, Any], threads: int) -> None:
    """Random networks, delays, loads and schemes; what needs one order refuses threads."""
    text = ANY.format(**keys)
    with TemporaryDirectory() as folder:
        one = by_threads(Path(folder) / "one", text, 1)
        ((_, _, notes),) = one.values()
        if notes:
            with pytest.raises(AssertionError, match=re.escape(notes[0].partition(": ")[2])):
                by_threads(Path(folder) / "refused", text, threads)
        else:
            assert by_threads(Path(folder) / "many", text, threads) == one


TWO_TO_ONE = """
title = "two to one"
question = "?"
source = "test"
port.pause_response = "ideal"

[run]
duration = "20ms"
allow_loss = true

[topology]
kind = "star"
hosts = 3
rate = "25Gbps"
delay = "500ns"

[buffer]
lossless_classes = 0
lossy_pool = "1MB"
size = "2MB"

[queue_pair]
payload_size = "1024B"
header_size = "66B"
retransmit = "none"

[[traffic]]
kind = "greedy"
src = ["h0", "h1"]
dst = "h2"

[variants.Lossy]
"""


def test_equal_senders_share_equally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two senders in step fill a queue that drops: neither is always the one that loses."""
    ((tables, _, _),) = simulate(tmp_path / "two", TWO_TO_ONE, monkeypatch).values()
    (flows,) = (tables[name] for name in tables if name.startswith("flow"))
    delivered = pq.read_table(io.BytesIO(flows))["delivered_bytes"].to_pylist()
    assert min(delivered) > 0.7 * max(delivered)
    assert sum(delivered) > 0.7 * 25e9 / 8 * 20e-3


SMALL = """
title = "one cell"
question = "?"
source = "test"
flow_control = ["{scheme}"]
port.pause_response = "ideal"

[run]
duration = "200us"

[topology]
kind = "{topology}"
rate = "25Gbps"
delay = "1us"
{more}

[buffer]
size = "600KB"
lossy_pool = "0B"

[[traffic]]
{traffic}

[variants.PFC]
"""

RING = "switches = 3\nhosts_per_switch = 1"
LEAVES = "leaves = 2\nspines = 2\nhosts_per_leaf = 2"
CREDIT = '\n[credit]\nbuffer = "60KB"'
CYCLE = 'kind = "ring"\nhops = 2'
ONE = 'kind = "messages"\nmessages = [{ src = "h0", dst = "h3", size = "20KB" }]'
STORM = '[[fault]]\nkind = "pause_storm"\nhost = "h0"\n'
FAILURE = '\nfailures = [{ link = ["leaf0", "spine0"], down = "50us" }]'

NEEDS_ONE_ORDER = {
    "credits": (
        {"topology": "ring", "more": RING + CREDIT, "traffic": CYCLE, "scheme": "credit"},
        "ns3::cbfc::Credit does not announce what it holds back",
    ),
    "rows": (
        {
            "topology": "leaf_spine",
            "more": LEAVES,
            "traffic": ONE + '\n[[trace]]\ntable = "pause_tree"',
            "scheme": "pfc",
        },
        "the rows of the table 'pause_tree'",
    ),
}


@pytest.mark.parametrize("case", sorted(NEEDS_ONE_ORDER))
def test_what_needs_one_order_says_so(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes of such a run give the reason."""
    keys, reason = NEEDS_ONE_ORDER[case]
    ((_, _, notes),) = simulate(tmp_path / "run", SMALL.format(**keys), monkeypatch).values()
    (note,) = notes
    assert reason in note


JUDGED = {
    "cycle": ("ring", RING, CYCLE),
    "failure": ("leaf_spine", LEAVES + FAILURE, ONE),
    "storm": ("leaf_spine", LEAVES, ONE + "\n" + STORM),
}


@pytest.mark.parametrize("case", sorted(JUDGED))
def test_deadlocks_are_judged_in_cells(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one could form cells run on their own, too, with the same tables and summary."""
    topology, more, traffic = JUDGED[case]
    text = SMALL.format(topology=topology, more=more, traffic=traffic, scheme="pfc")
    cells = simulate(tmp_path / "cells", text, monkeypatch)
    monkeypatch.setenv("NS_ATTRIBUTE_DEFAULT", "ns3::eventloop::CellLoop::MostWindow=0ns")
    assert simulate(tmp_path / "one", text, monkeypatch) == cells
    assert not any(notes for _, _, notes in cells.values())
    for threads in (2, 4, 8):
        assert by_threads(tmp_path / f"{threads}", text, threads) == cells


RETRIED = STUDY.replace("[port]", "[port]\nbit_error_rate = 1e-6\nloss_rate = 0.002").replace(
    'files = ["schemes/*.toml"]', '"PFC and LLR" = { flow_control = ["pfc", "llr"] }'
)
FAILING = """
failures = [{ link = ["leaf0", "spine0"], down = "50us", up = "80us" }]

[[trace]]
table = "llr"
"""


@pytest.mark.parametrize("more", ["", FAILING])
def test_no_number_of_threads_changes_a_byte_of_retries(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links that err and recover; then one that fails and is initialised again."""
    text = RETRIED + NETWORKS["unequal"] + more
    one = simulate(tmp_path / "1", text, monkeypatch)
    for _, summary, notes in one.values():
        found = dict(ast.literal_eval(summary))
        assert found["llr_replays"] > 50
        assert found["llr_inits_sent"] == (2 if more else 0)
        assert not notes
    for threads in (2, 4, 8):
        assert by_threads(tmp_path / f"{threads}", text, threads) == one


WHEEL = 'wheel = { run.simulator = "ns3::eventloop::EventLoop" }\n'

LOOP = """
title = "loop of routes"
flow_control = ["pfc"]
port.pause_response = "ideal"

[variants]
cells = {}
wheel = { run.simulator = "ns3::eventloop::EventLoop" }

[run]
duration = "2ms"
allow_loss = true

[queue_pair]
retransmit = "none"
ttl = 16

[buffer]
size = "8MB"
threshold = "static"
xoff = "100KB"
xon = "97KB"

[topology]
kind = "line"
switches = 2
hosts_per_switch = 1
rate = "40Gbps"
delay = "1us"

[[route]]
switch = "s1"
dst = "h1"
next = "s0"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
rate_cap = "{rate}"
"""


@pytest.mark.parametrize(("rate", "deadlocked"), [("4.8Gbps", 0.0), ("30Gbps", 1.0)])
def test_deadlocks_of_paths_that_never_arrive_are_judged(
    rate: str, deadlocked: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop of two switches deadlocks above 2 B / TTL, under either event loop."""
    text = LOOP.replace("{rate}", rate)
    both = simulate(tmp_path / "loop", text, monkeypatch)
    for _, summary, _ in both.values():
        assert dict(ast.literal_eval(summary))["deadlocked"] == deadlocked
    cells = text.replace(WHEEL, "")
    key = ("cells", 1)
    assert by_threads(tmp_path / "threads", cells, 2)[key] == both[key]


def test_without_such_a_thing_there_is_no_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two leaves and two spines have no cycle."""
    text = SMALL.format(topology="leaf_spine", more=LEAVES, traffic=ONE, scheme="pfc")
    ((_, _, notes),) = simulate(tmp_path / "run", text, monkeypatch).values()
    assert not notes


REFUSES_THREADS = {
    "credits": NEEDS_ONE_ORDER["credits"],
    "rows": (NEEDS_ONE_ORDER["rows"][0], "the rows of the table 'pause_tree'"),
    "one cell": (
        {"topology": "star", "more": "hosts = 4", "traffic": ONE, "scheme": "pfc"},
        "the network is a single cell",
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSES_THREADS))
def test_what_cannot_be_divided_refuses_threads_by_name(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the run, with the reason."""
    keys, reason = REFUSES_THREADS[case]
    monkeypatch.setattr(cores, "usable_cores", lambda: 2)
    text = SMALL.format(**keys).replace("[run]", "[run]\nthreads = 2")
    with pytest.raises(AssertionError, match=reason):
        simulate(tmp_path / "run", text, monkeypatch)


SLOW_CLOCK = """
title = "clocks"

[variants]
clocks = {{}}

[run]
duration = "30ms"
stop_when_done = {stop}
allow_loss = true

[topology]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 1
rate = "100Gbps"
delay = "1us"
uplink_delay = "1ms"

[port]
pause_response = "ideal"
overhead = "0B"
clock_offset = 100

[[node]]
names = "h1"
port = {{ clock_offset = -100 }}

[queue_pair]
header_size = "0B"
min_frame_size = "1B"
payload_size = "1KB"

[[traffic]]
kind = "messages"
messages = [{{ src = "h0", dst = "h1", size = "40000001B" }}]
"""


@pytest.mark.parametrize("stop", ["true", '"acked"'])
def test_frames_come_by_the_clock_of_the_port_that_sends_them(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver whose own clock is slow has its message sooner than its line rate says."""
    simulate(tmp_path / "run", SLOW_CLOCK.format(stop=stop), monkeypatch)
