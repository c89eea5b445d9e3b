"""Iterations of transformers from their sizes: against what their definitions say."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.addons.jobs import kinds as _kinds  # noqa: F401 (registers the kind)
from pyorch.metrics import RunTables, parse
from pyorch.traffic import base as traffic
from tests.cli.test_end_to_end import run
from tests.forms import setting_of
from tests.strategies import ROOT, network
from tests.traffic.test_traffic import resolve

STAR = network(kind="star", hosts=16)
MODEL: dict[str, Any] = {
    "kind": "transformer",
    "label": "job",
    "layers": 8,
    "hidden": 512,
    "sequence": 256,
    "flops": 1e13,
}
LAYER = 24 * 256 * 512**2 + 4 * 256**2 * 512
"""Operations of a layer forward, of one sequence."""


@pytest.mark.parametrize(
    "degrees",
    [
        {"data": 2},
        {"tensor": 2, "micro_batches": 3},
        {"pipeline": 4, "micro_batches": 6, "overlap": False},
        {"tensor": 2, "pipeline": 2, "data": 4, "experts": 2, "micro_batches": 2},
        {"data": 4, "experts": 4},
        {"data": 4, "experts": 4, "tensor": 2, "training": False, "micro_batches": 2},
    ],
)
def test_collectives_carry_what_the_model_has(degrees: dict[str, Any]) -> None:
    """Bytes of activations, experts and gradients, whatever is taken together."""
    form, problems = resolve(MODEL | degrees, STAR)
    assert not problems
    model: Any = form
    tensor, data, pipeline = (degrees.get(key, 1) for key in ("tensor", "data", "pipeline"))
    sizes: Counter[str] = Counter()
    for one in model.collectives or ():
        sizes[one.name] += one.size
    batches = degrees.get("micro_batches", 1)
    activations = 256 * 512 * 2
    groups = data  # of each stage
    experts = degrees.get("experts", 1)
    shared = 12 if experts == 1 else 4
    training = degrees.get("training", True)
    passes = 2 * (1 + training) * batches * 8  # twice a layer, forward and backward
    expected = {
        "tensor": passes * activations * groups if tensor > 1 else 0,
        "experts": passes * activations * 2 * tensor * data // experts if experts > 1 else 0,
        "gradients": 8 * shared * 512**2 * 2
        if data > 1 and training
        else 0,  # of all tensor ranks together
        # each of the experts has 8 h^2, and a group of its own in every stage
        "expert_gradients": 8 * 8 * 512**2 * 2 * experts if 1 < experts < data else 0,
    }
    assert {name: sizes[name] for name in expected} == expected
    sends = model.schedule.count(" tag ") if pipeline > 1 else 0
    assert (sends > 0) == (pipeline > 1)


@pytest.mark.parametrize("active", [1, 2, 4])
def test_experts_compute_what_their_tokens_need(active: int) -> None:
    """Of 24 b s h^2 operations of a layer the perceptron's 16 count for each active expert."""
    keys = {"data": 4, "experts": 4, "active_experts": active, "overlap": False}
    model: Any = resolve(MODEL | keys, STAR)[0]
    times = [int(time) for time in re.findall(r"calc ([1-9][0-9]*) ", model.schedule)]
    layer = (8 + 16 * active) * 256 * 512**2 + 4 * 256**2 * 512
    assert sum(times) == pytest.approx(4 * 8 * 3 * layer / 1e13 * 1e9, abs=8)


def test_what_does_not_fit_is_said() -> None:
    """Stages that do not divide layers, experts that do not divide copies, too few hosts."""
    for keys, told in (
        ({"pipeline": 3}, "divides 'layers'"),
        ({"data": 4, "experts": 3}, "divides 'data'"),
        ({"tensor": 8, "data": 4}, "32 ranks (tensor x data x pipeline) on 16 hosts"),
        ({"data": 4, "experts": 2, "active_experts": 3}, "traffic[0].active_experts: 3 of 2"),
        ({"data": 2, "active_experts": 2}, "traffic[0].active_experts: of a mixture"),
        ({"tensor": 3}, "traffic[0].tensor: 512 in 3 parts"),
        ({"data": 2, "training": False}, "traffic[0]: no rank sends anything"),
        ({}, "traffic[0].data: a single rank"),
        ({"data": 2, "flops": 1e-300}, "traffic[0].flops: a rank computes for inf s"),
        ({"data": 2, "flops": 1e-3}, "traffic[0].flops: a rank computes for"),
        ({"data": 2, "flops": 5e-324, "hidden": 1}, "traffic[0].flops: a rank computes for inf s"),
        (
            {"data": 6, "algorithms": {"all_reduce": "halving_doubling"}},
            "traffic[0].data: all_reduce by halving_doubling of 6 ranks",
        ),
        ({"data": 16, "hidden": 1, "element": 1}, "traffic[0].data: all_reduce"),
        ({"algorithms": {"all_reduce": "rng"}}, "unknown algorithm of all_reduce 'rng'"),
    ):
        _, problems = resolve(MODEL | keys, STAR)
        assert any(told in problem for problem in problems), problems


def test_what_is_exposed_of_an_unfinished_job_is_infinite() -> None:
    """Not empty, also if no computation has begun."""
    table = {"kind": "star", "hosts": 16, "rate_bps": 10**10, "delay_ps": 10**6}
    for keys in ({"data": 2}, {"data": 2, "overlap": False}):
        entry: Any = resolve(MODEL | keys, STAR)[0]
        setting = replace(setting_of({"topology": table}), traffic=[entry])
        number = len(traffic.flows([entry], STAR, 1, 10**12))
        rows = {"finish_ps": np.full(number, -1)}
        run_ = RunTables(setting, 1, [*STAR.names], {"end_ps": 1e9}, {"flow": rows})
        metric = parse({"name": "m", "kind": "exposed_communication", "traffic": "job"})
        assert metric.value(run_) == math.inf


@pytest.mark.cpp
def test_the_example_of_the_page_is_ready_to_run(tmp_path: Path) -> None:
    """As it is printed."""
    text = (ROOT / "docs" / "jobs.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    done, results = run(tmp_path, example)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    assert (pd.read_parquet(file).iteration > 0).all()


STUDY = """
title = "models"
port.pause_response = "ideal"
[run]
duration = "1ms"
drain = "10s"
stop_when_done = true
[topology]
kind = "star"
hosts = 16
rate = "400Gbps"
delay = "100ns"
[queue_pair]
payload_size = "4096B"
ack_every = 64
[[traffic]]
MODEL
[[metric]]
name = "whole"
kind = "job_time"
traffic = "job"
[[metric]]
name = "exposed"
kind = "exposed_communication"
traffic = "job"
"""


@pytest.mark.cpp
def test_times_are_those_of_the_schedule(tmp_path: Path) -> None:
    """Computing, the bubble of 1F1B, and collectives that nothing hides."""
    text = STUDY.replace(
        "MODEL", "\n".join(f"{key} = {json.dumps(value)}" for key, value in MODEL.items())
    )
    cases: dict[str, dict[str, Any]] = {
        "data": {"data": 2, "overlap": False},
        "tensor": {"tensor": 4},
        "pipeline": {"pipeline": 4, "micro_batches": 8},
        "prefill": {"training": False, "tensor": 2},
        "decode": {"training": False, "tensor": 2, "sequence": 1, "context": 256},
    }
    for name, keys in cases.items():
        text += f"[variants.{name}]\n"
        text += "".join(f"traffic.job.{key} = {json.dumps(value)}\n" for key, value in keys.items())
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    table = pd.read_parquet(file).set_index("variant")
    forward = 8 * LAYER / 1e13 * 1e12  # ps

    def ring(ranks: int, size: int) -> float:
        wire = size / ranks * (4096 + 68) / 4096 * 20
        return 2 * (ranks - 1) * (wire + 4164 * 20 + 200_000)

    gradients = ring(2, 8 * 12 * 512**2 * 2)
    assert table.whole["data"] == pytest.approx(3 * forward + gradients, rel=0.01)
    assert table.exposed["data"] == pytest.approx(gradients, rel=0.03)
    tensors = 2 * ring(4, 2 * 8 * 256 * 512 * 2)
    assert table.exposed["tensor"] == pytest.approx(tensors, rel=0.05)
    # (micro-batches + stages - 1) passes of a stage each way, and messages of 256 KiB in between
    stage = 3 * forward / 4
    assert table.whole["pipeline"] == pytest.approx(11 * stage, rel=0.05)
    # of which 3 are the bubble: (stages - 1) / micro-batches of what a host computes
    exposed = table.whole["pipeline"] - 8 * stage
    assert table.exposed["pipeline"] == pytest.approx(exposed, rel=1e-3)
    # of inference each layer computes, and then does two all-reduces, of one token in decoding
    for name, tokens in (("prefill", 256), ("decode", 1)):
        layer = (24 * tokens * 512**2 + 4 * tokens * 256 * 512) / 2 / 1e13 * 1e12
        one = (
            ring(2, tokens * 512 * 2) if name == "prefill" else 2 * (2 * (512 + 68) * 20 + 200_000)
        )
        assert table.whole[name] == pytest.approx(8 * (layer + 2 * one), rel=0.01)
