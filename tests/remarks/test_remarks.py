"""What a user must not miss is reported, and nothing else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from pyorch.base.paths import Paths
from pyorch.build.schema import AttributeInfo, TypeInfo
from pyorch.files.load import load_experiment
from pyorch.network.cycles import ShortestPaths
from pyorch.plan import RunSpec, expand
from pyorch.remarks import Remark, lines, of_plan, of_runs
from pyorch.remarks.plan import _idle_thresholds, _may_draw, _signals
from pyorch.setting.attributes import catalogue
from pyorch.setting.canonical import NodeAttributes
from pyorch.setting.experiment import Experiment
from tests.forms import run_of

WELL = {"flows_total": 4, "flows_unfinished": 0, "deadlocked": 0, "deadlocked_at_end": 0}
DEAD = {"deadlocked": 1, "deadlocked_at_end": 1}


class Summaries:
    """A store that has only summaries; None means a run that is not done."""

    def __init__(self, found: Mapping[RunSpec, dict[str, Any] | None]) -> None:
        self._found = {spec.hash("f"): summary for spec, summary in found.items()}

    def read_summary(self, run_hash: str) -> dict[str, Any]:
        """summary.json of a run."""
        found = self._found[run_hash]
        if found is None:
            raise FileNotFoundError(run_hash)
        return found


def spec(variant: str = "", seed: int = 1, **params: Any) -> RunSpec:
    """A run of a variant and a seed."""
    return run_of({"params": {"variant": variant, **params}, "seed": seed})


def said(runs: Mapping[RunSpec, dict[str, Any] | None], *own: str) -> list[str]:
    """The remarks on runs with these summary numbers, `warnings` among them."""
    summaries = {
        one: None
        if numbers is None
        else {
            "summary": {k: v for k, v in (WELL | numbers).items() if k != "warnings"},
            "warnings": numbers.get("warnings", []),
        }
        for one, numbers in runs.items()
    }
    store: Any = Summaries(summaries)
    return [remark.line() for remark in of_runs(list(runs), store, "f", own)]


def test_runs_that_went_well_need_no_word() -> None:
    """Nothing is said of them, nor of runs that are not done."""
    assert (
        said({spec(seed=1): {"events": 1}, spec(seed=2): {"events": 2}, spec(seed=3): None}) == []
    )


def test_numbers_of_ones_own_schemes_are_told() -> None:
    """As a range over the runs that have them; of a scheme that did nothing all are 0."""
    runs: dict[RunSpec, dict[str, Any] | None] = {
        spec("PFC"): {"events": 1, "pfc_frames_sent": 9},
        spec("Mine", 1): {"events": 2, "leaky_pfc_messages": 692, "leaky_pfc_leaked_frames": 0},
        spec("Mine", 2): {"events": 3, "leaky_pfc_messages": 1817, "leaky_pfc_leaked_frames": 0},
    }
    assert said(runs, "leaky-pfc", "pf") == ["leaky-pfc:  messages 692 to 1,817, leaked_frames 0"]
    assert said(runs) == []


def test_deadlocks_losses_and_unfinished_flows_are_counted_by_variant() -> None:
    """Each names the runs it is of, and a temporary deadlock is a different case."""
    runs = {
        spec("PFC", 1): DEAD | {"flows_unfinished": 3, "events": 1},
        spec("PFC", 2): DEAD | {"flows_unfinished": 1, "events": 2},
        spec("GFC", 1): {"deadlocked": 1, "events": 3},
        spec("GFC", 2): {"dropped_lossless_frames": 7, "events": 4},
        spec("Mine", 1): {"deadlock_not_judged_ports": 8, "events": 5},
    }
    assert said(runs) == [
        "deadlock:   in 2 of 5 runs (PFC), runs 1-2",
        "deadlock:   temporary, in 1 of 5 runs (GFC (1 of 2))",
        (
            "deadlock:   not judged: a flow control that may hold queues back is not a "
            "DeadlockModel, in 1 of 5 runs (Mine)"
        ),
        "loss:       7 frames of lossless classes, in 1 of 5 runs (GFC (1 of 2))",
        "unfinished: 4 of 20 flows did not finish, in 2 of 5 runs (PFC)",
    ]


def test_runs_that_stand_still_are_not_those_that_deadlock() -> None:
    """The report counts the same ones."""
    quiet = {"flows_unfinished": 1, "last_delivery_ps": 10**6, "end_ps": 10**9}
    runs = {spec("PFC"): DEAD | quiet | {"events": 1}, spec("GFC"): quiet | {"events": 2}}
    assert [line for line in said(runs) if line.startswith("halted:")] == [
        (
            "halted:     no progress, but no deadlock, in 1 of 2 runs (GFC): nothing arrived "
            "after 1 us of 1 ms, and 1 message waits"
        )
    ]


def test_runs_that_deadlock_come_with_the_command_that_explains_them() -> None:
    """Numbers as `show` counts them, where these are the ones that a person knows."""
    runs = [spec("PFC", seed) for seed in range(1, 6)]
    stuck = {one: DEAD if one.seed in (2, 3, 5) else {} for one in runs}
    store: Any = Summaries({one: {"summary": WELL | found} for one, found in stuck.items()})
    for numbered, told in ((True, ", runs 2-3, 5"), (False, "")):
        found = of_runs(runs, store, "f", (), lambda one: f"explain {one.seed}", numbered)
        assert [remark.line() for remark in found[:2]] == [
            f"deadlock:   in 3 of 5 runs{told}",
            "why:        `explain 2`, or another of these runs",
        ]


def test_without_variants_runs_are_named_by_their_setting() -> None:
    """If all runs are meant there is no list; many groups are abbreviated."""
    loads = [spec("", 1, load=load) for load in range(7)]
    found = said(dict.fromkeys(loads, DEAD))
    assert found == ["deadlock:   in all 7 runs"]
    found = said({one: DEAD if one.params["load"] else {} for one in loads})
    assert found == [
        "deadlock:   in 6 of 7 runs (load=1, load=2, load=3, load=4, and 2 more), runs 2-7"
    ]


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((5, 5, 5, 5), "every seed gave the same results: one seed is enough"),
        ((5, 5, 5, 6), "every seed gave the same results in 1 of 2 settings: one seed is enough"),
        ((5, 6, 5, 6), None),
    ],
)
def test_seeds_that_change_nothing_are_told(events: tuple[int, ...], text: str | None) -> None:
    """Judged by all numbers of the runs of one setting."""
    runs = [spec(variant, seed) for variant in ("A", "B") for seed in (1, 2)]
    found = said({run: {"events": n} for run, n in zip(runs, events, strict=True)})
    assert found == ([] if text is None else [f"seeds:      {text}"])


def test_warnings_of_runs_come_with_their_runs() -> None:
    """One line a text; of very many the first, and how many more there are."""
    found = said({spec("A"): {"warnings": ["odd", "odd"]}, spec("B"): {"events": 2}})
    assert found == ["warning:    in 1 of 2 runs (A): odd"]
    found = said({spec("A"): {"warnings": [f"odd {n}" for n in range(30)]}})
    assert found[-1] == "warning:    ... and 24 more, in the report"


def test_numbers_that_no_run_has_are_named_with_their_neighbours() -> None:
    """A scheme's number is in its runs only; a misspelt one is in none, as is one far off."""
    metrics = [
        {"name": "pause_times_ps", "kind": "summary", "number": "pause_times_ps"},
        {"name": "peak", "kind": "summary", "number": "gfc_peak_queue_bytes"},
        {"name": "share", "kind": "ratio", "number": "pause_time_ps", "to": "zzz"},
    ]
    runs = {
        variant: run_of({"params": {"variant": variant}, "metrics": metrics}) for variant in "AB"
    }
    found = said(
        {
            runs["A"]: {"pause_time_ps": 1},
            runs["B"]: {"pause_time_ps": 2, "gfc_peak_queue_bytes": 3},
        }
    )
    none = "has no value: no finished run has a number"
    near = "did you mean 'pause_time_ps'?"
    assert found == [
        f"warning:    metric 'pause_times_ps' {none} 'pause_times_ps'; {near}",
        f"warning:    metric 'share' {none} 'zzz'; summary.json of a run lists its numbers",
    ]
    assert said({runs["A"]: None, runs["B"]: None}) == []


def test_what_is_said_fits_on_a_screen() -> None:
    """Of many remarks the first are shown."""
    shown = lines([Remark("warning", str(n)) for n in range(40)])
    assert len(shown) == 13
    assert shown[-1] == "... and 28 more"


# ---------------------------------------------------------------------------------------------
# Of a plan

TYPES = catalogue(
    [
        TypeInfo("ns3::rdma::CongestionControl", "ns3::Object", "rdma", abstract=True),
        TypeInfo("ns3::lossless::SwitchAgent", "ns3::Object", "lossless", abstract=True),
        TypeInfo("ns3::x::Marker", "ns3::lossless::SwitchAgent", "x", abstract=False),
        TypeInfo("ns3::x::BetterMarker", "ns3::x::Marker", "x", abstract=False),
        TypeInfo("ns3::x::Other", "ns3::lossless::SwitchAgent", "x", abstract=False),
        TypeInfo(
            "ns3::x::Control",
            "ns3::rdma::CongestionControl",
            "x",
            abstract=False,
            signaller="ns3::x::Marker",
        ),
        TypeInfo("ns3::x::Alone", "ns3::rdma::CongestionControl", "x", abstract=False),
    ]
)


@pytest.mark.parametrize(
    ("control", "agents", "warned"),
    [
        ("Control", [], True),
        ("Control", ["Other"], True),
        ("Control", ["Marker"], False),
        ("Control", ["Other", "BetterMarker"], False),
        ("Alone", [], False),
        ("", [], False),
    ],
)
def test_a_control_whose_signal_nobody_sends(control: str, agents: list[str], warned: bool) -> None:
    """It is named with the agent it wants, or one derived from that, and what to add."""
    data = {
        "params": {"variant": ""},
        "congestion_control": control and f"ns3::x::{control}",
        "agents": [f"ns3::x::{agent}" for agent in agents],
    }
    found = [remark.text for remark in _signals([run_of(data)], TYPES)]
    text = (
        "control needs the signal of the agent marker, which no switch has in the run: rates "
        'are never cut; add agents = ["marker"]'
    )
    assert found == ([text] if warned else [])


BUFFER = TypeInfo(
    "ns3::lossless::SharedBuffer",
    "ns3::lossless::BufferPolicy",
    "lossless",
    abstract=False,
    attributes=[
        AttributeInfo("Threshold", "", "ns3::EnumValue", "Dynamic", "Dynamic|Static"),
        AttributeInfo("Xoff", "[B]", "ns3::UintegerValue", "80000", ""),
        AttributeInfo("Alpha", "", "ns3::DoubleValue", "0.125", ""),
    ],
)


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        ({}, ""),
        ({"Xoff": "9000"}, "xoff"),
        ({"Threshold": "Static", "Xoff": "9000"}, ""),
        ({"Threshold": "Static", "Alpha": "1"}, "alpha"),
        ({"Alpha": "1"}, ""),
    ],
)
def test_thresholds_that_the_buffer_does_not_use(given: dict[str, str], idle: str) -> None:
    """A sweep of XOFF under dynamic thresholds gives one result again and again."""
    data = {"params": {"variant": ""}, "attributes": {BUFFER.name: given} if given else {}}
    found = [remark.text for remark in _idle_thresholds([run_of(data)], catalogue([BUFFER]))]
    assert [text.split()[0] for text in found] == ([f"buffer.{idle}"] if idle else [])


PLAIN = """
title = "Plain"
[run]
duration = "1ms"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "messages"
messages = [{ src = "h0", dst = "h2", size = "50KB" }, { src = "h1", dst = "h2", size = "5MB" }]
[sweep]
"topology.rate" = ["10Gbps", "40Gbps"]
"""
PROJECT = Paths(Path(__file__).resolve().parents[2])
POISSON = """
[[traffic]]
kind = "poisson"
workload = "websearch"
load = 0.5
"""
FIGURES = """
[[figure]]
name = "sizes"
kind = "slowdown"
hue = "topology.rate"

[[metric]]
name = "tail"
kind = "fct"
percentile = 99
"""
MIXED = """
"buffer.xoff" = ["40KB", "60KB"]
"port.pause_response" = ["ideal", "802.3"]

[[figure]]
name = "mixed"
kind = "cdf"
hue = "topology.rate"
"""
SEED_9 = """
[[trace]]
table = "queue"

[[figure]]
name = "time"
kind = "timeseries"
columns = "topology.rate"
seed = 9
rows = [{ table = "queue", port = "s0:h0" }]
"""


def experiment_of(text: str, folder: Path) -> Experiment:
    """An experiment of this text."""
    file = folder / "plain.toml"
    file.write_text(text)
    return load_experiment(str(file), paths=PROJECT)


def remarks_of(text: str, folder: Path, seeds: int = 3) -> list[str]:
    """The remarks on its plan."""
    experiment = experiment_of(text, folder)
    specs = expand(experiment, seeds=range(1, seeds + 1))
    return [remark.line() for remark in of_plan(experiment, specs)]


def test_seeds_that_will_change_nothing_are_told_before(tmp_path: Path) -> None:
    """Without traffic, links, routes or agents that draw; one seed needs no word."""
    text = "seeds:      nothing in this experiment is drawn from the seed: all 3 seeds of a "
    assert remarks_of(PLAIN, tmp_path) == [text + "setting will give the same results"]
    assert remarks_of(PLAIN, tmp_path, seeds=1) == []
    assert remarks_of(PLAIN + POISSON, tmp_path) == []


@pytest.mark.parametrize(
    ("type_id", "name"),
    [
        ("ns3::lossless::Port", "BitErrorRate"),
        ("ns3::lossless::Port", "LossRate"),
        ("ns3::lossless::Port", "ClockTolerance"),
        ("ns3::rdma::Host", "PacingJitter"),
    ],
)
def test_errors_clocks_and_uneven_pacing_are_drawn(type_id: str, name: str, tmp_path: Path) -> None:
    """Of all nodes or of one, in one setting of several; 0 draws nothing."""
    experiment = experiment_of(PLAIN, tmp_path)
    first, *others = experiment.points
    for value, drawn in (("1e-09", True), ("0", False)):
        attributes = {type_id: {name: value}}
        one = NodeAttributes(nodes=["h0"], attributes=attributes)
        changes: list[dict[str, Any]] = [{"attributes": attributes}, {"nodes": [one]}]
        for change in changes:
            changed = replace(first, setting=replace(first.setting, **change))
            assert _may_draw(replace(experiment, points=(*others, changed))) is drawn


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ('[variants]\nschemes = ["pfc", "irn"]', False),  # a scheme's agents come beside them
        ("[variants]\nA = { agents = [] }\nB = { agents = [] }", True),
        ('[variants]\nA = { agents = [] }\nB = { buffer.xon = "1KB" }', False),
        ("", False),
    ],
)
def test_an_agent_that_every_variant_replaces_is_named(
    variants: str, said: bool, tmp_path: Path
) -> None:
    """A cure of an included file, say, which no variant keeps."""
    text = PLAIN.replace("[run]", 'agents = ["ns3::x"]\n[run]', 1) + variants
    found = [line for line in remarks_of(text, tmp_path, seeds=1) if "in force in no run" in line]
    assert len(found) == said


@pytest.mark.parametrize("key", ["agents", "host_agents", "congestion_control"])
def test_what_may_draw_is_not_said_to_draw_nothing(key: str, tmp_path: Path) -> None:
    """An agent or a congestion control may use random numbers, and is not asked."""
    experiment = experiment_of(PLAIN, tmp_path)
    assert not _may_draw(experiment)
    points = tuple(
        replace(point, setting=replace(point.setting, **{key: ["ns3::x"]}))
        for point in experiment.points
    )
    assert _may_draw(replace(experiment, points=points))


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ("hosts = 4", False),
        ('kind = "leaf_spine"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2', True),
        ('kind = "leaf_spine"\nleaves = 3\nspines = 1\nhosts_per_leaf = 2', False),
        ('kind = "fat_tree"\nk = 4', True),
        ('kind = "ring"\nswitches = 4', True),
        ('kind = "ring"\nswitches = 5', False),
    ],
)
def test_a_choice_of_routes_is_a_second_shortest_path(
    keys: str, choice: bool, tmp_path: Path
) -> None:
    """As counted by a library for graphs, path by path."""
    kind = "" if "kind" in keys else 'kind = "star"\n'
    text = PLAIN.replace('kind = "star"\nhosts = 4', kind + keys)
    text = (
        text[: text.index("[[traffic]]")]
        + '[[traffic]]\nkind = "permutation"\nshift = 1\nsize = "1KB"\n'
    )
    network = experiment_of(text, tmp_path).points[0].network
    graph: nx.Graph[int] = nx.Graph(zip(network.a.tolist(), network.b.tolist(), strict=True))
    pairs = itertools.combinations(network.hosts.tolist(), 2)
    several = any(len(list(nx.all_shortest_paths(graph, *pair))) > 1 for pair in pairs)
    assert several == choice
    assert ShortestPaths.of(network).has_choice() == choice


def test_percentiles_of_too_few_flows_are_told_before(tmp_path: Path) -> None:
    """Of metrics, and of the buckets of a figure."""
    metric, figure = remarks_of(PLAIN + POISSON + FIGURES, tmp_path)
    told = re.fullmatch(
        r"warning:    metric 'tail' will be empty: p99 needs 1,000 flows, a run has about (\d+); "
        r"run (\d+) times as long, or set min_flows",
        metric,
    )
    assert told
    flows, times = map(int, told.groups())
    assert (times - 1) * flows < 1000 <= times * flows
    assert re.fullmatch(
        r"warning:    figure 'sizes' will lack points: p50 needs 20 and p99 needs 1,000 flows in a "
        r"bucket of sizes, the fullest has about \d+",
        figure,
    )
    enough = PLAIN + POISSON + FIGURES.replace('hue = "', 'min_flows = 1\nhue = "')
    assert remarks_of(enough + "min_flows = 1", tmp_path) == []


def test_figures_that_no_run_fits_are_told_before(tmp_path: Path) -> None:
    """When they would mix settings, or show a seed that is not run."""
    (text,) = remarks_of(PLAIN + MIXED, tmp_path, seeds=1)
    assert "figure 'mixed' cannot be drawn: flows of several values of buffer.xoff, port" in text
    one = MIXED.replace('"port.pause_response" = ["ideal", "802.3"]\n', "")
    assert remarks_of(PLAIN + one, tmp_path, seeds=1) == []  # a panel for each
    (text,) = remarks_of(PLAIN + SEED_9, tmp_path, seeds=1)
    assert text == "warning:    figure 'time': no run has seed 9"
