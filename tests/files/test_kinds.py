"""Kinds of a user's own: next to an experiment, and in installed packages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyorch import Study, kinds
from pyorch.base.errors import OwnCodeError, UserError
from pyorch.base.paths import Paths
from pyorch.files.load import load_experiment
from pyorch.metrics import MODELS, Metric, RunTables, compute
from pyorch.network import topology
from pyorch.plan import expand
from pyorch.report.data import ReportData
from pyorch.report.figures import FigureModel
from pyorch.report.write import write_figure
from pyorch.setting.canonical import encode
from pyorch.traffic import base as traffic
from tests.inputs import ROOT, called

KINDS = """
from typing import Literal

import numpy as np
from pydantic import Field
from pyorch.kinds import (
    Block, Drawn, FigureModel, Metric, Size, TopologyTable, TrafficTable, Wiring, canonical,
    end_numbers, figure, metric, topology, traffic,
)


@topology("pair")
class Pair(TopologyTable):
    \"\"\"Hosts in pairs, each pair on a switch, all switches on s0.\"\"\"

    pairs: int = Field(ge=2, description="How many pairs.")

    def wire(self):
        wiring = Wiring(switches=[f"s{n}" for n in range(self.pairs + 1)])
        wiring.add_hosts(2 * self.pairs)
        for number, host in enumerate(wiring.hosts):
            wiring.link(host, f"s{number // 2 + 1}", self.rate, self.delay)
        for number in range(self.pairs):
            wiring.link(f"s{number + 1}", "s0", self.rate, self.delay)
        return wiring


@traffic("across")
class Across(TrafficTable):
    \"\"\"The first host of every pair sends to the second of the next.\"\"\"

    size: Size

    def resolve(self, check):
        return canonical(self)

    def generate(self, network, random, duration_ps):
        hosts = len(network.hosts)
        ends = [(f"h{n}", f"h{(n + 3) % hosts}") for n in range(0, hosts, 2)]
        return Block(*end_numbers(ends, network), self.size, self.start)


@metric
class Finished(Metric):
    kind: Literal["finished_share"] = "finished_share"

    def unit(self):
        return "1"

    def value(self, run):
        return run.summary["flows_finished"] / run.summary["flows_total"]


@figure
class Dots(FigureModel):
    kind: Literal["dots"] = "dots"
    y: str

    def metrics(self):
        return [self.y]

    def draw(self, data):
        rows = self.rows_of(data)
        canvas, ((axes,),) = self.canvas()
        axes.plot(range(len(rows)), rows[self.y], "o")
        return Drawn(canvas, rows[["seed", self.y]])
"""

FILE = """
title = "Own kinds"
kinds = ["mine.py"]
flow_control = ["pfc"]
[run]
duration = "1ms"
[topology]
kind = "pair"
pairs = 3
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "across"
size = "30KB"
[[metric]]
name = "share"
kind = "finished_share"
[[figure]]
name = "all"
kind = "dots"
y = "share"
"""


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paths]:
    """A folder with an experiment and its kinds; afterwards only our kinds are known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYORCH_MODULE_PATH", raising=False)
    Path("mine.py").write_text(KINDS)
    Path("own.toml").write_text(FILE)
    yield Paths(ROOT, tmp_path / "results")
    kinds.activate({})


def problem(paths: Paths) -> str:
    """The messages about own.toml."""
    with pytest.raises(UserError) as caught:
        load_experiment("own.toml", paths=paths)
    return caught.value.render()


def test_kinds_beside_an_experiment_are_checked_like_ours(paths: Paths) -> None:
    """Valid ones are resolved; a misspelt key gets the nearest one of the class's own."""
    (point,) = load_experiment("own.toml", paths=paths).points
    assert len(point.network.hosts) == 6
    flows = traffic.flows(point.setting.traffic, point.network, 1, 10**9)
    assert [(s, d) for s, d in zip(flows.src, flows.dst, strict=True)] == [(0, 3), (2, 5), (4, 1)]
    Path("own.toml").write_text(FILE.replace("pairs = 3", "pars = 3"))
    assert "topology.pars: unknown key 'pars'" in problem(paths)
    assert "did you mean 'pairs'?" in problem(paths)
    Path("own.toml").write_text(FILE.replace("pairs = 3", "pairs = 1"))
    assert "topology.pairs: 1 is not allowed" in problem(paths)


def test_kinds_of_one_experiment_are_not_those_of_another(paths: Paths) -> None:
    """Without the line that names the file there is no such kind."""
    load_experiment("own.toml", paths=paths)
    assert "pair" in topology.KINDS
    Path("own.toml").write_text(FILE.replace('kinds = ["mine.py"]', ""))
    told = problem(paths)
    assert "unknown topology 'pair'" in told
    assert "unknown metric 'finished_share'" in told
    assert "pair" not in topology.KINDS
    assert "finished_share" not in MODELS


def test_an_edited_file_is_read_again_and_names_other_runs(paths: Paths) -> None:
    """The text of the file is part of the run, wherever the file is."""
    (first,) = expand(load_experiment("own.toml", paths=paths))
    Path("mine.py").write_text(KINDS.replace("(n + 3)", "(n + 5)"))
    (second,) = expand(load_experiment("own.toml", paths=paths))
    assert first.hash("f") != second.hash("f")
    assert "(n + 5)" in second.setting.kinds["mine.py"]
    Path("mine.py").write_text(KINDS)
    (third,) = expand(load_experiment("own.toml", paths=paths))
    assert third.hash("f") == first.hash("f")


def test_experiments_without_kinds_have_no_word_of_them(paths: Paths) -> None:
    """Their runs are called as ever."""
    points = load_experiment("gfc/two-to-one", paths=paths).points
    assert not {"kinds", "packages"} & {key for point in points for key in encode(point.setting)}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import nowhere_at_all", "mine.py: ModuleNotFoundError: No module named"),
        ("x = ", "mine.py: SyntaxError"),
        (
            "from pyorch.kinds import *\n@topology('star')\nclass Star(TopologyTable): pass",
            "mine.py: there is a kind 'star' already",
        ),
    ],
)
def test_a_wrong_file_is_told_and_leaves_nothing(paths: Paths, code: str, told: str) -> None:
    """Its own error, in a line; registries are as before."""
    before = dict(topology.KINDS)
    Path("mine.py").write_text(code)
    assert told in problem(paths)
    assert before == topology.KINDS


def test_an_exception_when_a_file_is_loaded_is_told_by_its_own_lines(paths: Paths) -> None:
    """The calls in it, the innermost last, and the line that Python cannot read; none of ours."""
    code = "def half(size):\n    return size / 0\n\nSIZE = half(7)\n"
    for text, told in (
        (
            code,
            [
                "ZeroDivisionError: division by zero",
                "    mine.py:4, in <module>: SIZE = half(7)",
                "    mine.py:2, in half: return size / 0",
            ],
        ),
        ("x = 1\nif x\n", ["SyntaxError: expected ':'", "    mine.py:2: if x"]),
        (
            'exec("a b")\n',
            [
                "SyntaxError: invalid syntax",
                '    mine.py:1, in <module>: exec("a b")',
                "    <string>:1",
            ],
        ),
        (
            "import sys\nsys.exit(3)\n",
            ["SystemExit: 3", "    mine.py:2, in <module>: sys.exit(3)"],
        ),
    ):
        with pytest.raises(UserError) as caught:
            kinds.activate({"mine.py": text})
        assert caught.value.problems[0].where == "mine.py"
        assert caught.value.problems[0].what.splitlines() == told
    with pytest.raises(UserError) as caught:
        kinds.activate({"mine.py": "def f():\n    f()\nf()\n"})
    first, *_, last = lines = caught.value.problems[0].what.splitlines()
    assert first.startswith("RecursionError")
    assert "mine.py:3, in <module>: f()" in lines[1]
    assert last == "    mine.py:2, in f: f()"
    assert len(lines) == 10
    kinds.activate({})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('kinds = "mine.py"', "'mine.py' is not a list of files"),
        ('kinds = ["other.py"]', "there is no Python file 'other.py' next to"),
        ('kinds = ["own.toml"]', "there is no Python file 'own.toml' next to"),
    ],
)
def test_files_of_kinds_must_be_there(paths: Paths, line: str, told: str) -> None:
    """The key names a list of Python files next to the experiment."""
    Path("own.toml").write_text(FILE.replace('kinds = ["mine.py"]', line))
    assert told in problem(paths)


@pytest.mark.processes
def test_an_installed_package_brings_kinds(paths: Paths, tmp_path: Path) -> None:
    """Its entry point is found; runs that use one of its kinds name package and version."""
    site = tmp_path / "site"
    info = site / "fabrics-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fabrics\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[pyorch.kinds]\nall = fabrics\n")
    (site / "fabrics.py").write_text(KINDS)
    Path("own.toml").write_text(FILE.replace('kinds = ["mine.py"]', ""))
    code = """
import json, sys
from pathlib import Path
from pyorch import kinds
from pyorch.files.load import load_experiment
from pyorch.base.paths import Paths
paths = Paths(Path(sys.argv[1]))
names = ("own.toml", "gfc/ring")
own, ours = (load_experiment(name, paths=paths).points[0].setting for name in names)
print(json.dumps([own.packages, own.kinds, ours.packages]))
"""
    done = called(
        [sys.executable, "-c", code, str(ROOT)],
        env={"PYTHONPATH": f"{site}:{ROOT}", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [{"fabrics": "1.2"}, {}, {}]


UNIT = '    def unit(self):\n        return "1"\n'
VALUE = 'run.summary["flows_finished"] / run.summary["flows_total"]'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (UNIT, "", "mine.py: class Finished (metric 'finished_share'): it has no 'unit'"),
        ('return "1"', 'return "share"', "metric 'share' (Finished): unit(): 'share' is not a"),
    ],
)
def test_a_metric_says_its_unit_when_it_is_loaded(
    paths: Paths, old: str, new: str, told: str
) -> None:
    """A missing or unknown one is reported with its file, its class and what is allowed."""
    Path("mine.py").write_text(KINDS.replace(old, new))
    said = problem(paths)
    assert told in said
    assert said.lstrip().startswith("mine.py:")
    assert 'allowed: "B", "bit/s", "ps", "1"' in said


def computed(paths: Paths, value: str) -> dict[str, float | None]:
    """The metric of own.toml in a run of three flows, with another value."""
    Path("mine.py").write_text(KINDS.replace(VALUE, value))
    experiment = load_experiment("own.toml", paths=paths)
    (point,) = experiment.points
    tables = {"flow": {"finish_ps": np.array([5, -1, 7])}}
    summary = {"flows_finished": 2, "flows_total": 3}
    run = RunTables(point.setting, 1, point.network.names, summary, tables)
    metrics = [metric for metric in experiment.metrics if isinstance(metric, Metric)]
    return compute(metrics, run)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('run.flows["finish_ps"]', "TypeError: 'Flows' object is not subscriptable"),
        ('run.table("flow")["end"].mean()', "KeyError: 'end'"),
        ('"many"', "TypeError: a number or None is expected as a value, not 'many'"),
        ('run.table("flow")["finish_ps"]', "TypeError: a number or None is expected"),
    ],
)
def test_an_exception_in_a_metric_is_told_by_its_own_lines(
    paths: Paths, value: str, told: str
) -> None:
    """File, line, metric and exception, and no call in this package or another."""
    with pytest.raises(OwnCodeError) as caught:
        computed(paths, value)
    said = caught.value.render()
    assert told in said
    assert "metric 'share' (Finished)" in said
    assert "pyorch/" not in said
    assert "site-packages" not in said
    if told.startswith("TypeError: a number"):
        return  # the value is wrong, whatever the line
    line = 1 + KINDS[: KINDS.index(VALUE)].count("\n")
    assert said.startswith(f"mine.py:{line}: ")
    assert f"    mine.py:{line}, in value: return {value}" in said


def test_a_table_without_a_trace_is_told_with_what_to_add(paths: Paths) -> None:
    """The metric, its line, the table and the lines of the file; who asks first gets None."""
    with pytest.raises(UserError) as caught:
        computed(paths, 'run.table("queue")["bytes"].max()')
    said = caught.value.render()
    assert said.startswith("mine.py:")
    assert "metric 'share' (Finished): table 'queue': the run did not trace it" in said
    assert '[[trace]]\ntable = "queue"' in said
    assert computed(paths, 'run.find_table("queue")') == {"share": None}


def test_a_metric_may_return_what_numpy_gives(paths: Paths) -> None:
    """As numbers that JSON knows: a mean, a count, a truth."""
    finished = '(run.table("flow")["finish_ps"] >= 0)'
    assert computed(paths, f"{finished}.mean()") == {"share": 2 / 3}
    for what, value in ((f"{finished}.sum()", 2), (f"{finished}.all()", False)):
        assert json.dumps(computed(paths, what)) == json.dumps({"share": value})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("    wiring.add_hosts(2 * self.pairs)", "topology 'pair' (Pair)"),
        ("    return canonical(self)", "traffic 'across' (Across)"),
        ("    hosts = len(network.hosts)", "traffic 'across' (Across)"),
    ],
)
def test_an_exception_in_a_network_or_traffic_is_told_by_its_own_lines(
    paths: Paths, line: str, told: str
) -> None:
    """File, line, kind and exception, wherever the experiment first needs it."""
    Path("mine.py").write_text(KINDS.replace(line, "    1 / 0"))

    def first_flows() -> traffic.Flows:
        (point,) = load_experiment("own.toml", paths=paths).points
        return traffic.flows(point.setting.traffic, point.network, 1, 10**9)

    with pytest.raises(OwnCodeError) as caught:
        first_flows()
    said = caught.value.render()
    number = 1 + KINDS[: KINDS.index(line)].count("\n")
    assert said.startswith(f"mine.py:{number}: {told}: ZeroDivisionError: division by zero")
    assert "pyorch/" not in said


def test_an_exception_in_a_figure_costs_only_that_figure(paths: Paths, tmp_path: Path) -> None:
    """Its error in the report is its own line."""
    Path("mine.py").write_text(KINDS.replace("self.rows_of(data)", "data.table(3)"))
    (model,) = load_experiment("own.toml", paths=paths).figures
    assert isinstance(model, FigureModel)
    drawn = write_figure(model, ReportData(None, pd.DataFrame(), {}), tmp_path)
    line = 1 + KINDS[: KINDS.index("self.rows_of(data)")].count("\n")
    assert drawn.error is not None
    assert drawn.error.startswith(f"mine.py:{line}: figure 'all' (Dots): TypeError: ")
    assert "pyorch/" not in drawn.error


@pytest.mark.cpp
def test_runs_and_reports_use_them(paths: Paths) -> None:
    """In a process of the engine, which has never seen the file; 30 KB arrive at three hosts."""
    study = Study.load("own.toml", paths=paths).run(progress=False)
    Path("mine.py").unlink()
    assert list(study.runs["share"]) == [1.0]
    assert list(study.runs["delivered_bytes"]) == [90_000]
    assert study.plot("all").axes
