"""The project's event loop gives the bytes that ns-3's own gives."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import RESULTS_VARIABLE
from pyorch.engine import LocalEngine
from pyorch.files.load import load_experiment
from pyorch.pipeline import make_plan
from pyorch.plan import RunSpec
from tests.forms import form

STUDY = """
title = "simulators"
question = "?"
source = "test"

[run]
duration = "300us"
drain = "200us"
allow_loss = true

[topology]
kind = "fat_tree"
k = 4
rate = "10Gbps"
delay = "1us"
failures = [{ link = ["agg0", "core0"], down = "100us", up = "150us" }]

[switch]
latency = "300ns"

[port]
control_delay = "1us"

[[traffic]]
kind = "poisson"
load = 0.8
workload = "hadoop"

[[traffic]]
kind = "incast"
dst = "h0"
degree = 10
size = "50KB"
jitter = "1us"

[variants.PFC]
flow_control = ["pfc"]

[variants.GFC]
flow_control = ["multi-stage-gfc", "pfc"]

[variants.CBFC]
flow_control = ["credit"]
"run.deadlock_test" = "20us"

[[trace]]
table = "queue"

[[trace]]
table = "pause"

[[trace]]
table = "rate"
period = "10us"

[[trace]]
table = "control"

[sweep]
"run.simulator" = ["ns3::eventloop::EventLoop", "ns3::DefaultSimulatorImpl"]
"""


Found = tuple[RunSpec, dict[str, bytes], dict[str, float]]


@pytest.fixture(name="simulated")
def _simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Found]]:
    """Run all of a study: its runs, each with the bytes of its tables and its summary."""
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results"))

    def simulate(text: str, seeds: str = "") -> list[Found]:
        file = tmp_path / "simulators.toml"
        file.write_text(text, encoding="utf-8")
        plan = make_plan(str(file), seeds=seeds)
        output = io.StringIO()
        done = LocalEngine(plan.store, 2, stream=output).run(plan.specs, plan.build).done
        assert done == len(plan.specs), output.getvalue()
        found = []
        for spec in plan.specs:
            key = spec.hash(plan.build.fingerprint)
            folder = plan.store.folder(key)
            files = list(folder.rglob("*.parquet"))
            assert files
            tables = {str(path.relative_to(folder)): path.read_bytes() for path in files}
            found.append((spec, tables, plan.store.read_summary(key)["summary"]))
        return found

    return simulate


@pytest.mark.cpp
def test_both_event_loops_give_the_same_bytes(simulated: Callable[..., list[Found]]) -> None:
    """Every table and summary of every scheme is the same under both, events counted alike."""
    runs = simulated(STUDY, seeds="2")
    assert len(runs) == 12
    tables: dict[str, dict[str, bytes]] = {}
    for spec, files, summary in runs:
        assert summary["events"] > 10_000
        found = {**files, "summary": repr(sorted(summary.items())).encode()}
        same = f"{form(spec)['params']['variant']} {form(spec)['seed']}"
        assert tables.setdefault(same, found) == found, same
    assert len(tables) == 6
    assert len({tuple(sorted(found.items())) for found in tables.values()}) == 6


@pytest.mark.cpp
def test_without_the_oracle_all_else_stays(simulated: Callable[..., list[Found]]) -> None:
    """Only the summary's numbers on deadlocks are missing, and the events of the search."""
    loops = '"run.simulator" = ["ns3::eventloop::EventLoop", "ns3::DefaultSimulatorImpl"]'
    runs = simulated(STUDY.replace(loops, '"run.oracle" = [true, false]'))
    assert len(runs) == 6
    found = {
        (form(spec)["params"]["variant"], form(spec)["run"].get("oracle", True)): (tables, summary)
        for spec, tables, summary in runs
    }
    for variant in ("PFC", "GFC", "CBFC"):
        (tables, on), (others, off) = found[variant, True], found[variant, False]
        differ = {name for name in on if on[name] != off.get(name)} - {"events"}
        assert differ == {name for name in on if name.startswith(("deadlock", "blocked_by_host"))}
        assert off.keys() <= on.keys()
        assert not any(name.startswith(("deadlock", "blocked_by_host")) for name in off)
        assert tables == others


def test_to_stop_on_what_nobody_sees_is_refused(tmp_path: Path) -> None:
    """A run cannot end because of a deadlock that is not searched for."""
    file = tmp_path / "oracle.toml"
    off = "[run]\noracle = false\nstop_on_deadlock = true"
    file.write_text(STUDY.replace("[run]", off, 1), encoding="utf-8")
    with pytest.raises(UserError, match="'stop_on_deadlock' needs the oracle"):
        load_experiment(str(file))


def test_an_unknown_event_loop_is_refused(tmp_path: Path) -> None:
    """The message names both that there are."""
    file = tmp_path / "simulators.toml"
    file.write_text(STUDY.replace("ns3::DefaultSimulatorImpl", "ns3::Default"), encoding="utf-8")
    with pytest.raises(UserError) as error:
        load_experiment(str(file))
    assert "ns3::DefaultSimulatorImpl" in error.value.render()
    assert "run.simulator" in error.value.render()
