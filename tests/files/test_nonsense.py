"""Nonsense is refused with a sentence before anything is listed, allocated or simulated."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyorch.base import reading, units
from pyorch.base.errors import SHOWN_PROBLEMS, UserError
from pyorch.base.reading import excesses
from pyorch.cli import base as cli
from pyorch.cli.new_scheme import new_scheme
from pyorch.cli.sweep import collect, status
from pyorch.files.find import list_experiments
from pyorch.files.load import load_experiment
from pyorch.metrics import parse_quantity
from pyorch.plan import MAX_RUNS, RunSpec, expand, read_seeds
from pyorch.traffic.base import MAX_FLOWS
from tests.strategies import MINIMAL, complaints, load, write

PFC = 'flow_control = ["pfc"]\n' + MINIMAL
POISSON = MINIMAL + '[[traffic]]\nkind = "poisson"\nworkload = "sizes.csv"\nload = 0.5\n'
MESSAGES = MINIMAL + '[[traffic]]\nkind = "messages"\nfile = "m.csv"\n'


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("run.seeds=1000000000", "a count from 1 to 100000"),
        ("trace=[" + '{table="queue"},' * 1001 + "]", "1001 entries"),
        ("run.seeds=" + "9" * 5000, "a number has thousands of digits"),
        ('traffic.0.src=["h0..h999999999"]', "there is no host 'h0..h999999999'"),
        ('traffic.0.src=["h0..h' + "9" * 5000 + '"]', "there is no host"),
        ("topology.hosts=" + "[" * 5000, "nested more than 32 deep"),
        ("topology.hosts=" + "9" * 30, "the number is out of range"),
        (".".join("a" * 40) + "=1", "has more than 32 parts"),
        ("topology.delay=9223372036854775807ps", "larger than the largest time, 4000000s"),
        (
            "buffer.alpha=" + ",".join(map(str, range(10_001))),
            "10001 settings: 10001 of 'buffer.alpha' (--set)",
        ),
    ],
)
def test_bounds_come_before_lists(tmp_path: Path, override: str, message: str) -> None:
    """Each in no time: what is asked for is never made."""
    began = time.process_time()
    assert message in complaints(tmp_path, MINIMAL, override)[0]
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text", ["1-4294967295", "100001", "9" * 5000, "1-\u0663", "\u00b2", "0-3"]
)
def test_seeds_are_bounded(text: str) -> None:
    """The limit is reported; digits of other scripts do not count as digits."""
    with pytest.raises(UserError, match="--seeds"):
        read_seeds(text)


def test_headroom_beyond_64_bits_is_told_exactly(tmp_path: Path) -> None:
    """A link of 1000 Tbps and 46 days holds 5 * 10^20 B: no array of integers does."""
    found = complaints(tmp_path, PFC, "topology.rate=1000Tbps", "topology.delay=4000000s")
    assert found[0].startswith("experiments/x.toml: buffer.size: size 16MB is over-committed at s0")
    assert str(4 * 2 * 10**15 * 4_000_000 // 8)[:4] in found[0]


def test_runs_are_bounded(tmp_path: Path) -> None:
    """Settings times seeds, whether the seeds come from the file or from a program."""
    experiment = load(tmp_path, MINIMAL, "buffer.alpha=1,2")
    with pytest.raises(UserError, match=f"at most {MAX_RUNS} runs at once"):
        expand(experiment, range(1, 50_002))
    for wrong in (["1"], [0], [2**32], "12", 5, [1.5]):
        with pytest.raises(UserError, match="seed"):
            expand(experiment, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "entry",
    [
        'kind = "all_to_all"\nsize = "1KB"',
        'kind = "incast"\nsrc = "all"\ndst = "h0..h9999"\nsize = "1KB"',
        'kind = "incast"\ndegree = 99\ndst = "h0"\nsize = "1B"\nrepeat = 1000000\ninterval = "1ps"',
        'kind = "poisson"\nworkload = "hadoop"\nload = 1\n',
    ],
)
def test_flows_are_counted_before_they_are_made(tmp_path: Path, entry: str) -> None:
    """By arithmetic, so that a mistake costs neither memory nor time."""
    text = MINIMAL + f"[[traffic]]\n{entry}"
    changes = ["topology.hosts=20000", "run.duration=100s"]
    found = complaints(tmp_path, text, *changes)
    assert any(f"at most {MAX_FLOWS}" in line for line in found), found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("size_bytes,cumulative\n0,0\n100,nan\n100,1\n", "line 3: not a size and a share"),
        (f"size_bytes,cumulative\n0,0\n{10**30},1\n", "line 3: not a size and a share"),
        (f"size_bytes,cumulative\n0,0\n{10**15},1\n", "its largest flow is 1000TB"),
        (f"size_bytes,cumulative\n0,0\n{'9' * 5000},1\n", "line 3: not a size and a share"),
        ("size_bytes,size_bytes,cumulative\n0,0,0\n", "duplicate column 'size_bytes'"),
        ("size_bytes,cumulative\n\u00e9,0\n".encode("latin-1"), "byte 0xE9 in line 2"),
        ("size_bytes,cumulative\n0,0\n".encode("utf-16"), "is UTF-16 text"),
        (f"size_bytes,cumulative\n{'x' * 200_000},0\n", "a cell has more than 100000 characters"),
    ],
)
def test_distributions(tmp_path: Path, content: str | bytes, message: str) -> None:
    """A spreadsheet's file, a number that is none, a flow that takes for ever."""
    paths = write(tmp_path, POISSON)
    raw = content.encode() if isinstance(content, str) else content
    (paths.experiments / "sizes.csv").write_bytes(raw)
    assert message in complaints(tmp_path, POISSON)[0]


def test_thousands_of_unknown_columns_are_told_at_once(tmp_path: Path) -> None:
    """A line of commas is one unknown name; of many, only those that are shown are compared."""
    paths = write(tmp_path, POISSON)
    file = paths.experiments / "sizes.csv"
    file.write_text(f"size_bytes,cumulative{',' * 100_000}\n0,0\n")
    assert "unknown column ''" in complaints(tmp_path, POISSON)[0]
    file.write_text(f"size_bytes,cumulative,{','.join(f'c{n}' for n in range(1000))}\n0,0\n")
    found = complaints(tmp_path, POISSON)
    assert len(found) == SHOWN_PROBLEMS + 1
    assert found[-1].startswith(f"sizes.csv: {1000 - SHOWN_PROBLEMS} more unknown columns")


def test_columns_of_messages_are_given_once(tmp_path: Path) -> None:
    """Two columns of one name: it is unclear which is meant."""
    paths = write(tmp_path, MESSAGES)
    (paths.experiments / "m.csv").write_text("src,dst,size,size\nh0,h1,1,2\n")
    assert complaints(tmp_path, MESSAGES) == [
        "m.csv: duplicate column 'size'\n    allowed: each column once"
    ]


ALL_WRONG = """
title = "A test"
[run]
duration = "1ms"
[topology]
kind = "fat-tree"
k = 4
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "poisson"
workload = "WebSearch"
load = 0.5
[[fault]]
kind = "slow_reciever"
[[trace]]
table = "queu"
[sweep]
"buffer.alfa" = [1, 2]
[[metric]]
name = "hash"
kind = "max"
port = "s0:h0"
[[figure]]
name = "f"
kind = "custom"
function = "nowhere"
uses = ["nothing"]
[[expect]]
what = "no criterion"
metric = "peak"
status = "verified"
source = "s"
"""


def test_a_wrong_value_hides_no_other_of_its_entry(tmp_path: Path) -> None:
    """Hosts and files are checked along with a load out of range, ports of metrics with both."""
    text = POISSON.replace("sizes.csv", "WebSearch").replace("load = 0.5", "load = 9")
    text += 'src = ["h98", "h99"]\n'
    metric = '[[metric]]\nname = "q"\nkind = "max"\ntable = "queue"\nport = "s0:h97"\n'
    found = "\n".join(complaints(tmp_path, text + metric))
    for part in ("load", "h97", "h98", "h99", "unknown workload 'WebSearch'"):
        assert part in found, found


def test_a_wrong_cell_hides_no_other_of_its_row(tmp_path: Path) -> None:
    """The size and the source of a message."""
    paths = write(tmp_path, MESSAGES)
    (paths.experiments / "m.csv").write_text("src,dst,size\nh9,h1,-5\n")
    found = "\n".join(complaints(tmp_path, MESSAGES))
    assert "line 2: size" in found
    assert "line 2: src: there is no host 'h9'" in found


def test_samples_that_nobody_can_mean_are_refused(tmp_path: Path) -> None:
    """A picosecond instead of a microsecond: 10^12 samples of each queue."""
    greedy = MINIMAL + '[[traffic]]\nkind = "greedy"\nsrc = "h0"\ndst = "h1"\n'
    text = greedy + '[[trace]]\ntable = "queue"\nperiod = "1ps"\n'
    (problem,) = complaints(tmp_path, text, "run.duration=1s")
    assert "trace[0].period: 1ps: 1e+12 samples of each of" in problem
    assert load(tmp_path, text, "run.duration=1s", "trace.0.period=1us").points
    (problem,) = complaints(tmp_path, text, "run.duration=soon")
    assert "run.duration" in problem, "without a duration nothing is said of periods"


def test_all_problems_are_told_in_one_round(tmp_path: Path) -> None:
    """None hides behind another: no traffic behind the topology, no sweep behind a figure."""
    found = "\n".join(complaints(tmp_path, ALL_WRONG))
    for part in (
        "sweep.buffer.alfa: unknown key 'alfa'",
        "topology.kind: unknown topology 'fat-tree'",
        "traffic[0].workload: unknown workload 'WebSearch'",
        "fault[0].kind: unknown fault 'slow_reciever'",
        "trace[0].table: unknown table 'queu'",
        "[[metric]] hash: 'hash' is another column",
        "x.figures.py or figures.py has no function 'nowhere'",
        "unknown metric 'nothing'",
        "no criterion",
    ):
        assert part in found, part


@pytest.mark.parametrize("name", ["hash", "seed", "variant", "delivered_bytes", "sent_bytes"])
def test_a_metric_has_a_column_of_its_own(tmp_path: Path, name: str) -> None:
    """Its values would be lost in runs.parquet, or those of another column."""
    text = MINIMAL + f'[[metric]]\nname = "{name}"\nkind = "fct"\n'
    assert f"'{name}' is another column" in complaints(tmp_path, text)[0]


def test_functions_of_figures_are_looked_for(tmp_path: Path) -> None:
    """Without running the file: defined, imported or assigned, in either of the two files."""
    text = MINIMAL + '[[figure]]\nname = "f"\nkind = "custom"\nfunction = "draw"\n'
    paths = write(tmp_path, text)
    assert "has no function 'draw'" in complaints(tmp_path, text)[0]
    (paths.experiments / "figures.py").write_text("def draw(:\n")
    assert "figures.py is not Python" in complaints(tmp_path, text)[0]
    for good in ("def draw(data, figure): 1/0", "from x import y as draw", "draw = 1/0"):
        (paths.experiments / "figures.py").write_text(good)
        assert load(tmp_path, text).figures


def test_hosts_of_metrics_exist(tmp_path: Path) -> None:
    """A metric of a host that no network has would have no value in any run."""
    text = MINIMAL + '[[metric]]\nname = "m"\nkind = "fct"\nsrc = ["h9"]\n'
    assert complaints(tmp_path, text)[0].startswith(
        "experiments/x.toml: metric[0].src: there is no"
    )


def test_names_that_cannot_be(tmp_path: Path) -> None:
    """Neither the name nor a file so called stops anything else."""
    paths = write(tmp_path, MINIMAL)
    (paths.experiments / "..toml").write_text(MINIMAL)
    (paths.experiments / "loop.toml").symlink_to("loop.toml")
    assert [name for name, _ in list_experiments(paths)] == ["loop", "x"]
    wrong: list[Any] = [".", "..", "x" * 5000, "a/" * 3000, "a\0b", "", "loop", 5, None, b"x"]
    for name in wrong:
        with pytest.raises(UserError):
            load_experiment(name, paths=paths)
    for overrides in ("a=1", [1], 5):
        with pytest.raises(UserError, match="list of strings"):
            load_experiment("x", overrides, paths=paths)  # type: ignore[arg-type]


def test_an_override_that_is_not_text(tmp_path: Path) -> None:
    """Bytes of a command line that are not UTF-8 reach nothing that could stumble over them."""
    assert complaints(tmp_path, MINIMAL, "metric.0.table=\udcff") == [
        "--set metric.0.table=\\udcff: is not UTF-8"
    ]


def test_what_lies_deep_below_a_long_name_costs_little_memory(tmp_path: Path) -> None:
    """The place of a value is spelled only when something is wrong with it."""
    name = "n" * 100_000
    whole = {name: [[number] for number in range(20_000)]}
    tracemalloc.start()
    assert list(excesses(whole)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    whole[name][7] = [2**64]
    assert list(excesses(whole)) == [
        (f"{name}.7.0", "the number is out of range, -(2^64 - 1) to 2^64 - 1")
    ]


def test_a_text_is_read_once_however_often_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """YAML's aliases repeat a long text 100,000 times; what is wrong is told each time."""
    read: list[object] = []
    check = reading._excess_of

    def counted(value: object) -> str:
        read.append(value)
        return check(value)

    monkeypatch.setattr(reading, "_excess_of", counted)
    long, wrong = "x" * 10**6, "\x1b"
    assert list(excesses({"a": [long] * 1000, "b": [[long]], "c": {"d": long}})) == []
    assert read == [long]
    assert [place for place, _ in excesses({"a": [long, wrong, wrong]})] == ["a.1", "a.2"]


def test_names_beyond_what_the_file_system_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that no folder can have is the name of none: bad input, not a traceback."""
    name = "n" * 300
    asks: list[Callable[[], int]] = [
        lambda: collect(name, partial=False),
        lambda: status(name),
        lambda: new_scheme("mine", "flow-control", str(tmp_path / name)),
    ]
    for ask in asks:
        assert ask() in (cli.FAILED, cli.BAD_INPUT)
        assert name[:50] in capsys.readouterr().err


def test_functions_for_programs_say_what_is_wrong() -> None:
    """Whatever they are given, it is a ValueError with a sentence."""
    wrong: list[Any] = [None, 1.5, [], "x" * 10_000, -(10**5000), object()]
    for value in wrong:
        for function in (units.format_time, units.parse_rate, RunSpec.from_json):
            with pytest.raises(ValueError, match=" "):
                function(value)


def test_quantities_beyond_floats() -> None:
    """As a number and as text."""
    for wrong in (10**400, "9" * 400 + "B"):
        with pytest.raises(ValueError, match=" "):
            parse_quantity(wrong)
