"""pyorch as a library: studies loaded and built, changed, run, inspected, saved."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pyorch
from pyorch import Incast, Messages, Run, Star, Study, Trace, UserError
from pyorch.base.paths import Paths
from pyorch.files.compose import composed
from pyorch.files.find import Document
from pyorch.files.load import load_experiment
from tests.forms import form
from tests.inputs import ROOT, called


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """This project with results of its own, and a folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYORCH_MODULE_PATH", raising=False)
    return Paths(ROOT, tmp_path / "results")


def built(paths: Paths, **more: object) -> Study:
    """Two hosts send 60 KB each to the third; the switch pauses at 20 KB."""
    return Study(
        **{
            "name": "mine",
            "title": "Mine",
            "topology": Star(hosts=3, rate="10Gbps", delay="1us"),
            "traffic": Incast(degree=2, dst="h2", size="60KB", traffic_class=3),
            "run": Run(duration="1ms"),
            "flow_control": ["pfc"],
            "buffer": {"threshold": "static", "xoff": "20KB", "xon": "17KB"},
            "traces": [Trace(table="queue", ports=["s0:h0"])],
            "paths": paths,
            **more,
        }
    )


# Without a build


def test_importing_the_package_loads_nothing_heavy() -> None:
    """Neither pydantic nor numpy nor pandas; what is asked for is then there."""
    code = (
        "import sys, pyorch\n"
        "heavy = {'pydantic', 'numpy', 'pandas', 'matplotlib', 'cppyy', 'networkx'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert all(getattr(pyorch, name) for name in pyorch.__all__)\n"
    )
    done = called([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_listed_and_found() -> None:
    """What type checkers see, what is exported, and what is loaded are the same names."""
    assert sorted(pyorch.__all__) == sorted(pyorch._WHERE)
    with pytest.raises(AttributeError, match="no attribute 'Sudy'"):
        _ = pyorch.Sudy


def test_an_object_is_refused_in_the_words_of_a_file() -> None:
    """All problems at once, as UserError, with the nearest key."""
    with pytest.raises(UserError) as caught:
        Star(host=3, rate="10Gbp", delay="1us")
    told = str(caught.value.render())
    assert "Star: rate: '10Gbp': 'Gbp' is not a unit of a rate" in told
    assert "Star: host: unknown key 'host'" in told
    assert "did you mean 'hosts'?" in told


def test_a_file_has_one_spelling_of_a_key(paths: Paths) -> None:
    """Python says traffic_class for `class`; a file does not."""
    assert Incast(degree=2, dst="h2", size="1KB", traffic_class=5).traffic_class == 5
    Path("a.toml").write_text(
        'title = "A"\n[run]\nduration = "1ms"\n[topology]\nkind = "star"\nhosts = 3\n'
        'rate = "1Gbps"\ndelay = "1us"\n[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
        "traffic_class = 5\n"
    )
    with pytest.raises(UserError, match="unknown key 'traffic_class'"):
        load_experiment("a.toml", paths=paths)


def test_what_is_built_is_what_a_file_says(paths: Paths) -> None:
    """Saved and loaded, a study of objects has the settings of the same file written by hand."""
    message = {"src": "h0", "dst": "h2", "size": "50KB", "start": "1500ns"}
    file = built(paths, traffic=[Messages(messages=[message])]).save("mine.toml")
    document = tomllib.loads(file.read_text())
    assert document["topology"] == {"kind": "star", "hosts": 3, "rate": "10Gbps", "delay": "1us"}
    assert document["run"] == {"duration": "1ms"}
    assert document["trace"] == [{"table": "queue", "ports": ["s0:h0"]}]
    assert document["buffer"]["xoff"] == "20KB"
    (point,) = load_experiment("mine.toml", paths=paths).points
    (traffic,) = form(point)["traffic"]
    assert traffic["messages"][0]["size_bytes"] == 50_000
    assert traffic["messages"][0]["start_ps"] == 1_500_000


def test_changes_stand_in_the_saved_file(paths: Paths) -> None:
    """What is set wins over variants and sweeps there as it does without a file."""
    study = built(
        paths,
        variants={"A": {"run.drain": "1us", "agents": []}, "B": {"run.drain": "2us"}},
        sweep={"topology.hosts": [3, 4]},
    )
    changed = study.set("run.drain", "7us").sweep("buffer.alpha", [0.5, 1]).only("A").seeds(3)
    changed = changed.set({"topology.hosts": 5}).set(question="why?")
    file = changed.save("changed.toml")
    document = tomllib.loads(file.read_text())
    assert document["variants"] == {"A": {"agents": []}}
    assert document["sweep"] == {"topology.hosts": [5], "buffer.alpha": [0.5, 1]}
    assert document["question"] == "why?"
    assert document["run"] == {"duration": "1ms", "drain": "7us", "seeds": 3}
    loaded = load_experiment("changed.toml", paths=paths)
    direct = load_experiment(changed._source, changed._overrides, paths=paths)
    named = {"experiment": "mine"}
    assert [form(p) | named for p in loaded.points] == [form(p) | named for p in direct.points]
    assert [form(point)["run"]["drain_ps"] for point in loaded.points] == [7_000_000] * 2


def test_a_variant_is_saved_with_the_one_that_it_extends(paths: Paths) -> None:
    """Alone it would mean less; both mean what they mean without a file."""
    variants = {"A": {"run.drain": "1us"}, "B": {"extends": "A"}, "C": {}}
    study = built(paths, variants=variants)
    with pytest.raises(UserError, match="'B' extends 'A', which would not be in the file"):
        study.only("B").save("alone.toml")
    study.only("A", "B").save("both.toml")
    points = load_experiment("both.toml", paths=paths).points
    assert [form(point)["run"]["drain_ps"] for point in points] == [1_000_000] * 2


def test_a_study_never_changes(paths: Paths) -> None:
    """`set` and its sisters return another one."""
    study = built(paths)
    study.set("run.drain", "7us").only("A").seeds(2)
    assert study._overrides == ()
    assert study._seeds == ""


def test_what_one_file_cannot_say_is_not_saved(paths: Paths) -> None:
    """A file name without .toml, and files next to the experiment."""
    with pytest.raises(UserError, match="not a valid name of an experiment file"):
        built(paths).save("mine.txt")
    bakeoff = Study.load("bakeoff/incast", paths=paths)
    with pytest.raises(UserError, match="names files beside it"):
        bakeoff.save("elsewhere.toml")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"topology": {"kind": "file", "file": "net.graphml"}}, "topology.file"),
        ({"variants": {"T": {"traffic": [{"kind": "trace", "file": "f.csv"}]}}}, "T.traffic.file"),
        ({"variants": {"T": {"traffic.0.file": "f.csv"}}}, "T.traffic.0.file"),
        ({"sweep": {"scenario": {"S": {"topology": {"file": "f"}}}}}, "scenario.S.topology.file"),
        ({"sweep": {"topology.file": ["f", "g"]}}, "sweep.topology.file"),
    ],
)
def test_files_of_networks_and_traffic_stay_beside_a_study(
    tmp_path: Path, changes: dict[str, Any], key: str
) -> None:
    """Wherever they are named; in the folder of the study itself it is saved."""
    document = Document("mine", tmp_path / "mine.toml", "mine.toml", {"title": "A", **changes})
    with pytest.raises(UserError) as caught:
        composed(document, (), "", tmp_path / "elsewhere")
    (problem,) = caught.value.problems
    assert problem.what.endswith(f"{key} names files beside it")
    assert composed(document, (), "", tmp_path) == document.content


def test_an_unknown_study_is_refused_at_once(paths: Paths) -> None:
    """With the nearest name."""
    with pytest.raises(UserError) as caught:
        Study.load("gfc/two-to-on", paths=paths)
    assert "did you mean 'gfc/two-to-one'?" in caught.value.render()


# With runs


@pytest.mark.cpp
def test_a_newcomers_first_ten_minutes(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    """Load, change a key, run, DataFrame, own figure; build from objects, run, save, command."""
    study = Study.load("gfc/two-to-one", paths=paths).set("queue_pair.payload_size", "952B")
    study = study.run(jobs=1)
    assert "2/2 runs" in capsys.readouterr().out
    runs = study.runs
    assert list(runs["variant"]) == ["PFC", "GFC-conceptual"]
    queue = study.table("queue", variant="GFC-conceptual")
    assert set(queue["variant"]) == {"GFC-conceptual"}
    assert 70_000 < queue["bytes"].max() < 100_000
    assert {"what", "verdict"} <= set(study.verdicts.columns)
    own = study.plot({"kind": "bars", "x": "variant", "y": "peak_queue_bytes"})
    assert own.axes
    assert study.plot("queue-and-rate").axes
    assert "2 of 2 runs done" in study._repr_html_()
    assert repr(study.plan()) == "<Plan gfc/two-to-one, 2 runs>"

    mine = built(paths).sweep("buffer.xoff", ["20KB", "30KB"]).run(jobs=1)
    assert list(mine.runs["delivered_bytes"]) == [120_000, 120_000]
    # a queue of one port: until it pauses; and then what is on its way, less than 5 KB, and what
    # arrives in 3.43 us at 10 Gb/s, until the pause is obeyed: 4.3 KB
    peaks = mine.table("queue").groupby("buffer.xoff")["bytes"].max()
    assert 20_000 < peaks["20KB"] < 29_300
    assert 30_000 < peaks["30KB"] < 35_000
    capsys.readouterr()
    again = built(paths).seeds(2).run(jobs=1)
    assert "every seed gave the same results" in capsys.readouterr().out
    assert any("every seed gave the same results" in line for line in again.remarks)
    file = mine.save("mine.toml")
    environment = os.environ | {"PYORCH_ROOT": str(ROOT), "PYORCH_RESULTS": str(paths.results)}
    done = called(
        [
            sys.executable,
            "-m",
            "invoke",
            "--search-root",
            str(ROOT),
            "experiment",
            str(file.resolve()),
        ],
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert "mine: 2 runs, 2 done" in done.stdout


@pytest.mark.cpp
def test_a_run_by_hand_is_the_run_of_the_engine(paths: Paths, tmp_path: Path) -> None:
    """Its tables are equal, its trace sources call, and pauses come in pairs of OFF and ON."""
    code = f"""
import pyorch
from pathlib import Path
from pyorch.base.paths import Paths
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.cli.test_study import built
study = built(Paths(Path({str(ROOT)!r}), Path("results"))).run(progress=False)
run, seen = study.open(), []
assert run.connect("s0:h0", "PauseSent", lambda port, cls, on: seen.append((cls, on))) == 1
assert run.advance("10us") == "10us"
assert run.tables["queue"]["time_ps"].max() <= 10_000_000
assert run.advance() == "1ms"
assert run.problems == ()
for name in ("queue", "flow"):
    run.tables[name].to_parquet(name + ".hand")
    study.table(name).to_parquet(name + ".engine")
assert run.summary["delivered_bytes"] == 120_000
assert seen and seen[::2] == [(3, True)] * (len(seen) // 2), seen
try:
    run.port("s0:h7")
except pyorch.UserError as error:
    print(error.render())
first, run = run, study.open()  # as when a notebook's cell is run again
assert run.simulation.Now() == 0
try:
    run.advance("1min")
except pyorch.UserError as error:
    assert "advance: until: '1min': 'min' is not a unit of a time" in str(error)
else:
    raise AssertionError
run.advance()
assert run.summary["delivered_bytes"] == 120_000
try:
    first.summary
except pyorch.UserError as error:
    print(error.render())
"""
    done = called([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "there is no node 'h7'" in done.stdout
    assert "it was closed" in done.stdout
    for name in ("queue", "flow"):
        hand, engine = (pd.read_parquet(tmp_path / f"{name}.{how}") for how in ("hand", "engine"))
        assert len(hand) > 1
        for column in hand.columns:
            assert np.array_equal(hand[column], engine[column]), (name, column)


@pytest.mark.cpp
def test_results_that_are_not_there_say_so(paths: Paths) -> None:
    """Runs that are not done, tables, filters and figures that do not exist."""
    study = built(paths)
    for ask, told in (
        (lambda: study.table("queue"), "this run is not done"),
        (study.report, "none of its runs is done"),
        (lambda: study.table("queue", variants="A"), "'variants' does not vary"),
        (lambda: study.table("queue", seed=2), "no run has seed = 2"),
        (lambda: study.plot("x"), "there is no figure 'x'"),
        (lambda: study.plot({"kind": "pie"}), "unknown figure 'pie'"),
    ):
        with pytest.raises(UserError) as caught:
            ask()
        assert told in caught.value.render()
