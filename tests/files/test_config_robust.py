"""Experiment files that are wrong in any way are refused in words, never by another exception."""

from __future__ import annotations

import copy
import datetime
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.files import layers, load
from pyorch.plan import expand
from pyorch.setting.experiment import Experiment
from pyorch.traffic import base as traffic
from tests.strategies import MINIMAL, SCHEMA, complaints, write

FULL = (
    MINIMAL
    + """
label = "bulk"
[port]
control_delay = "1us"
[buffer]
threshold = "static"
[[traffic]]
kind = "messages"
messages = [{ src = "h0", dst = "h1", size = "1KB", start = "1us" }]
path = ["h0", "s0", "h1"]
[[traffic]]
kind = "incast"
dst = "h0"
degree = 2
size = "1KB"
repeat = 2
interval = "1us"
[[traffic]]
kind = "poisson"
workload = "hadoop"
load = 0.5
[[fault]]
kind = "slow_receiver"
host = "h1"
rate = "1Gbps"
[[trace]]
table = "queue"
ports = ["s0:h0"]
classes = [3]
[variants.A]
flow_control = ["pfc"]
"buffer.xoff" = "80KB"
[sweep]
"buffer.alpha" = [1, 2]
[[metric]]
name = "peak"
kind = "max"
table = "queue"
port = "s0:h0"
class = 3
[[figure]]
name = "f"
kind = "timeseries"
rows = [{ table = "queue", port = "s0:h0", class = 3 }]
[[expect]]
what = "w"
metric = "peak"
where = { variant = "A" }
max = "1MB"
status = "derived"
source = "s"
"""
)
DOCUMENT = tomllib.loads(FULL)
GONE = object()
ODD: list[Any] = [
    *(GONE, 0, -1, 1.5, float("nan"), True, 10**30, datetime.date(2020, 1, 1)),
    *("", "x", "1us", "h0:", "a.b"),
    *([], ["x"], [[]], [1], [["a"]], [{}], {}, {"a": 1}, {"": 1}),
]
Place = tuple[str | int, ...]


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Every place in a document."""
    inside: Any = ()
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*above, key)
        yield from places(part, (*above, key))


def changed(place: Place, value: Any) -> dict[str, Any]:
    """The document with another value at a place, or none."""
    document = copy.deepcopy(DOCUMENT)
    here: Any = document
    for key in place[:-1]:
        here = here[key]
    if value is GONE:
        del here[place[-1]]
    else:
        here[place[-1]] = copy.deepcopy(value)
    return document


def load_document(document: dict[str, Any]) -> Experiment:
    """Load a document as if it had been read from a file."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        paths = write(Path(folder), "")
        patch.setattr(layers, "read_toml", lambda *_: copy.deepcopy(document))
        return load.load_experiment("x", (), SCHEMA, paths)


@settings(max_examples=300)
@given(st.sampled_from(list(places(DOCUMENT))), st.sampled_from(ODD))
@example(("trace", 0, "ports"), [1])
@example(("trace", 0, "classes"), "x")
@example(("metric", 0, "port"), True)
@example(("sweep",), {"": 1})
@pytest.mark.slow
def test_any_odd_value_is_refused_in_words_or_can_be_run(place: Place, value: Any) -> None:
    """A file with one odd value is a UserError, or a plan whose flows can be made."""
    try:
        experiment = load_document(changed(place, value))
    except UserError:  # any other exception fails the test; an empty UserError cannot be made
        return
    for run in expand(experiment):
        assert len(run.hash("")) == 16
    point = experiment.points[0]
    setting = point.setting
    assert len(traffic.flows(setting.traffic, point.network, 1, setting.run.duration)) > 0


def test_the_file_itself_is_valid() -> None:
    """Without an odd value there are two runs, so that the property above is about the values."""
    assert len(expand(load_document(DOCUMENT))) == 2


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("buffer.alpha=,", "--set buffer.alpha=,: a value between commas is missing"),
        ("buffer.alpha=1,,2", "--set buffer.alpha=1,,2: a value between commas is missing"),
        ("sweep=1", "--set sweep=1: 1 is not a table"),
        ("variants.A=3", "--set variants.A=3: 3 is not a table"),
        ("traffic.9.class=1", "--set traffic.9.class=1: 'traffic' has no entry '9'"),
        ("flow_control=pfc", "--set flow_control=pfc: 'pfc' is not allowed"),
        ("buffer.alpha={", "--set buffer.alpha={: '{' is not a number"),
        ("topology.hosts=4,4", "experiments/x.toml: sweep.topology.hosts: duplicate value: 4"),
    ],
)
def test_odd_overrides_are_refused_in_words(tmp_path: Path, override: str, message: str) -> None:
    """A --set that makes no sense is answered with what was typed."""
    assert complaints(tmp_path, FULL, override)[0].startswith(message)
