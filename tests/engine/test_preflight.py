"""Networks that modules refuse are told before any run of a batch, at once."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from pyorch import Study, UserError
from pyorch.base.paths import RESULTS_VARIABLE
from pyorch.cli.experiment import experiment
from pyorch.engine import LocalEngine, preflight
from pyorch.engine.launch import WarmLauncher
from pyorch.engine.slurm import cluster
from pyorch.pipeline import Plan, make_plan

pytestmark = pytest.mark.cpp

STUDY = """
title = "bad"
question = "?"
source = "test"
port.pause_response = "ideal"

[run]
duration = "20us"
seeds = 3

[topology]
kind = "dumbbell"
left = 2
right = 2
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "poisson"
class = 3
load = 0.5
workload = "websearch"

[variants.pfc]
flow_control = ["pfc"]

[variants.credit]
flow_control = ["credit"]

[variants.bad]
flow_control = ["time-based-gfc"]
"time-based-gfc.buffer" = "6MB"
"""
#: What a port is promised is 6 MB at each of 3 ports, of 16 MB less the lossy pool of 1 MB.
PROMISED = "in total 18000000 B are promised, but at most 15000000 B"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A study whose last variant is impossible; its results are in a folder of the test."""
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results"))
    (tmp_path / "bad.toml").write_text(STUDY, encoding="utf-8")
    return str(tmp_path / "bad.toml")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the runs whose networks are checked."""
    numbers: list[int] = []
    start = WarmLauncher.start

    def counted(launcher: WarmLauncher, index: int, attempt: Any, check: bool = False) -> Any:
        numbers.extend([index] if check else [])
        return start(launcher, index, attempt, check)

    monkeypatch.setattr(WarmLauncher, "start", counted)
    return numbers


def files_of(plan: Plan) -> list[Path]:
    """All that runs and checks have left."""
    return [*plan.store.runs.rglob("*"), *plan.store.failed.rglob("*")]


def test_a_batch_with_a_refused_network_starts_no_run(
    file: str, checked: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last variant is impossible: one message for both switches and all seeds, exit code 2."""
    assert experiment(file) == 2
    said = capsys.readouterr().err
    assert "bad.toml: 3 of 9 runs (bad): s0, s1: buffer over-committed" in said
    assert said.count(PROMISED) == 1
    assert "hint: or run the others: --only pfc,credit\n" in said
    assert sorted(checked) == [0, 3, 6]
    plan = make_plan(file)
    assert not files_of(plan)
    assert not [*plan.store.root.glob(".manifest*")]
    with pytest.raises(UserError, match=PROMISED):
        Study.load(file).run(progress=False)


def test_a_sweep_with_a_refused_network_is_not_submitted(file: str) -> None:
    """The check of `submit`, which needs no Slurm."""
    plan = make_plan(file)
    with pytest.raises(UserError, match=PROMISED):
        cluster._check_networks(plan, plan.missing)
    possible = make_plan(file, ["only=pfc,credit"])
    cluster._check_networks(possible, possible.missing)
    assert not files_of(plan)


def test_what_runs_have_shown_is_not_checked_again(file: str, checked: list[int]) -> None:
    """Nor is the network of a single run, which tells it as soon itself."""

    def run(overrides: list[str], seeds: str) -> None:
        plan = make_plan(file, overrides, seeds)
        engine = LocalEngine(plan.store, 2, stream=io.StringIO())
        assert engine.run(plan.missing, plan.build, shown=plan.done).left == 0

    run(["only=pfc"], "1")
    assert checked == []
    run(["only=pfc"], "3")
    assert checked == []
    run(["only=pfc,credit"], "3")
    assert checked == [0]
    run(["only=credit", "traffic.0.load=0.1,0.2"], "1")
    assert checked == [0, 0]  # one network, whatever goes on in it


def test_checks_that_take_too_long_are_left_to_the_runs(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Then a batch goes on as without checks, with the same bytes."""
    found = []
    for results, longest in (("late", -1.0), ("without", None)):
        monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / results))
        monkeypatch.setattr(preflight, "LONGEST_S", longest)
        plan = make_plan(file, seeds="1")
        shown = None if longest is None else plan.done
        result = LocalEngine(plan.store, 1, stream=io.StringIO()).run(
            plan.missing, plan.build, shown
        )
        assert (result.done, result.left, result.refusals) == (2, 1, ())
        assert PROMISED in result.failures[0].tail
        files = (file for file in plan.store.runs.rglob("*") if file.name != "log.txt")
        found.append(
            {one.parent.name + one.name: one.read_bytes() for one in files if one.is_file()}
        )
        assert not [*plan.store.runs.glob(".*")]
    assert found[0] == found[1]
