"""The sizing adviser: numbers of papers and of the simulator, TOML that is accepted, refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.build import ensure_built, load_schema
from pyorch.engine import LocalEngine
from pyorch.files.load import load_experiment
from pyorch.plan import expand
from pyorch.sizing import size, theory
from pyorch.sizing.asics import ASICS
from pyorch.store.store import Store
from tests.inputs import ROOT, called

STAR = """
title = "sized"
flow_control = ["multi-stage-gfc", "pfc"]
[run]
duration = "1us"
[topology]
kind = "star"
hosts = 32
rate = "{rate}"
delay = "{delay}"
[[traffic]]
kind = "greedy"
src = "h0"
dst = "h1"
class = 3
"""


def test_numbers_of_dsh() -> None:
    """32 x 100G with 2 us and 7 lossless classes: eta 56,840 B, 12.7 MB in all (ICDCS 2023)."""
    options = {"asic": "tomahawk", "delay": "2us", "classes": "7", "lossy_pool": "0B"}
    switch = size.read_switch("", options, load_experiment)
    assert switch.eta(switch.ports[0]) == 56_840
    assert 7 * 32 * switch.eta(switch.ports[0]) == pytest.approx(12.7e6, rel=0.01)
    assert switch.size == 16_000_000


@given(
    ports=st.integers(1, 256),
    rate=st.sampled_from([10, 25, 40, 100, 400]),
    metres=st.integers(0, 2000),
    classes=st.integers(1, 8),
    buffer=st.integers(2**20, 2**30),
)
@pytest.mark.slow
def test_what_fits_is_what_adds_up(
    ports: int, rate: int, metres: int, classes: int, buffer: int
) -> None:
    """Headroom, pools and thresholds of all queues fit into the buffer; one class more does not."""
    texts = {"ports": str(ports), "rate": f"{rate}Gbps", "cable": f"{metres}m"}
    texts |= {"classes": str(classes), "buffer": f"{buffer}B"}
    switch = size.read_switch("", texts, load_experiment)
    fitting = switch.fitting("pfc")
    late = {10: 67, 25: 80, 40: 118, 100: 394, 400: 905}[rate] * 512_000 // rate  # ps
    one = theory.eta_prime(rate * 10**9, 5000 * metres, 1500, 64, 20, late) + 4 * 1500
    assert fitting == min(8, max(0, (buffer - 10**6) // (ports * one)))
    try:
        size.check(switch)
    except UserError as error:
        assert fitting < classes
        lacks = re.search(r"is (\d+) B too little", error.render())
        assert lacks
        assert buffer + int(lacks[1]) == 10**6 + classes * ports * one
    else:
        assert fitting >= classes
        assert 10**6 + ports * classes * (one - 6000 + switch.share) <= buffer
        assert switch.share - switch.gap >= 0, "XON is a size"


def test_schemes_need_what_their_theorems_ask_for() -> None:
    """B0 and B1 leave room for two frames exactly when the classes fit."""
    for classes in range(1, 9):
        switch = size.read_switch(
            "", {"asic": "tomahawk3", "cable": "300m", "classes": str(classes)}, load_experiment
        )
        assert (switch.fitting("stages") >= classes) == (switch.b1 >= 3000)
        assert (switch.fitting("conceptual") >= classes) == (switch.b0 >= 3000)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"asic": "tomahwk"}, "did you mean 'tomahawk'?"),
        ({"cable": "300"}, 'not a length such as "300m"'),
        ({"classes": "9"}, "allowed: 1 to 8"),
        ({"cable": "1m", "delay": "1us"}, "--cable --delay"),
        ({"alpha": "x"}, "1/1024 to 1024"),
        ({"buffer": "1MB"}, "too little for 1 lossless class on 32 x 100Gbps"),
    ],
)
def test_refusals(options: dict[str, str], told: str) -> None:
    """Impossible values are reported, with what is allowed."""
    with pytest.raises(UserError) as caught:
        size.check(size.read_switch("", options, load_experiment))
    assert told in caught.value.render()


def test_chips_name_their_source() -> None:
    """No size without a source; every one fits one lossless class over 100 m."""
    for name, asic in ASICS.items():
        assert asic.source, name
        assert size.read_switch("", {"asic": name}, load_experiment).fitting("pfc") >= 1


@pytest.mark.parametrize(
    ("classes", "line"),
    [
        ("1", "lossless_classes = 8         # a mask, not a count: class 3"),
        ("2", "lossless_classes = 24         # a mask, not a count: classes 3, 4"),
        (
            "8",
            "lossless_classes = 255         # a mask, not a count: classes 0, 1, 2, 3, 4, 5, 6, 7",
        ),
    ],
)
def test_the_mask_of_classes_does_not_read_as_a_count(classes: str, line: str) -> None:
    """8 is class 3, not eight classes."""
    assert line in size.toml_lines(
        size.read_switch("", {"asic": "tomahawk", "classes": classes}, load_experiment)
    )


@pytest.mark.cpp
@pytest.mark.parametrize("delay", ["500ns", "1500ns"])
def test_the_toml_is_accepted_and_the_simulator_agrees(tmp_path: Path, delay: str) -> None:
    """Pasted into a study it runs without a warning, with the same headroom; a larger B1 warns."""
    switch = size.read_switch(
        "", {"asic": "tomahawk", "delay": delay, "classes": "2", "gfc": "yes"}, load_experiment
    )
    pasted = "\n".join(size.toml_lines(switch))
    file = tmp_path / "sized.toml"
    file.write_text(STAR.format(rate="100Gbps", delay=delay) + pasted, encoding="utf-8")
    build = ensure_built(quiet=True)
    schema = load_schema(build)
    outside = [f"multi-stage-gfc.b1={switch.b1}B,{switch.b1 + 100}B"]
    experiment = load_experiment(str(file), outside, schema=schema, paths=Paths(ROOT))
    found = size.of_setting(experiment)
    assert (found.b1, found.headroom) == (switch.b1, switch.headroom), "and back again"
    store = Store(Paths(ROOT, tmp_path), "sized")
    specs = expand(experiment)
    assert not LocalEngine(store, 1).run(specs, build).failures
    at_bound, above = (store.read_summary(spec.hash(build.fingerprint)) for spec in specs)
    assert at_bound["warnings"] == []
    assert "less than 2 C tau" in above["warnings"][0]
    assert at_bound["summary"]["sufficient_headroom_bytes"] == switch.eta_prime(switch.ports[0])
    assert at_bound["summary"]["published_headroom_bytes"] == switch.eta(switch.ports[0])


@pytest.mark.processes
def test_the_command(tmp_path: Path) -> None:
    """`invoke size` prints a table and TOML, and says in one message what is wrong."""
    done = _invoke("size", "--asic", "tomahawk", "--classes", "2")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 110
    assert "gfc]" not in done.stdout
    assert len(done.stdout.split()) < 340
    assert "[multi-stage-gfc]" in _invoke("size", "--gfc").stdout
    small = _invoke("size", "--buffer", "1MB")
    assert small.returncode == 2
    assert "Traceback" not in small.stderr


def _invoke(*words: str) -> subprocess.CompletedProcess[str]:
    return called([sys.executable, "-m", "invoke", *words], cwd=ROOT)
