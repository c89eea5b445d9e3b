"""Workload files of SimAI and AICB: what is read of them, and what is not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyorch.addons.jobs import kinds as _kinds  # noqa: F401 (registers the kind)
from pyorch.addons.jobs.workload_kind import groups_of, nodes_of, read
from pyorch.base.errors import UserError
from tests.cli.test_end_to_end import run
from tests.jobs.test_slices import across
from tests.star import ACK
from tests.strategies import network
from tests.traffic.test_traffic import resolve

HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 2 ga: 1 "
TAIL = "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n"
ROWS = """2
grads -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 40000 100
block\t-1\t250000\tALLREDUCE\t60000\t300000 ALLREDUCE 60000 1 NONE 0 100
"""
STAR = network(kind="star", hosts=16)


def test_rows_are_read() -> None:
    """Words are separated by blanks or tabs; bytes may be written with a point."""
    found = read(HEAD + TAIL + ROWS.replace(" 40000 ", " 40000.0 "), "w.txt")
    assert (found.tensor, found.experts, found.ranks) == (4, 1, 16)
    first, second = found.rows
    assert first.weights == (1, "REDUCE_SCATTER", "gradients", 40000)
    assert second.forward == (250_000, "ALL_REDUCE", "tensor", 60000)
    assert second.weights.operation is None
    assert (first.line, second.line) == (3, 4)
    # a long word of a hostile file takes no time that grows with its square (10 minutes)
    assert read(HEAD + "x" * 200_000 + " " + TAIL + ROWS, "w.txt").ranks == 16


def test_groups_are_those_of_simai() -> None:
    """TP: consecutive; DP: modulo; EP: one of each of neighbouring TP groups; DP_EP: the rest."""
    found = read((HEAD + TAIL).replace("ep: 1", "ep: 2") + ROWS, "w.txt")
    groups = groups_of(found, 16)
    assert groups["tensor 1"] == [4, 5, 6, 7]
    assert groups["gradients 1"] == [1, 5, 9, 13]
    assert groups["experts 1 1"] == [9, 13]
    assert groups["copies 1 0"] == [1, 9]


def test_collectives_of_each_group_are_made(tmp_path: Path) -> None:
    """Of four tensor groups two all-reduces each, and of four data groups a reduce-scatter."""
    (tmp_path / "w.txt").write_text(HEAD + TAIL + ROWS)
    form, problems = resolve({"kind": "workload", "file": "w.txt"}, STAR, tmp_path)
    assert not problems
    model: Any = form
    names = Counter(one.name for one in model.collectives)
    assert names == {"forward tensor": 4, "backward tensor": 4, "weights gradients": 4}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "DATA", "policy 'DATA' is not read"),
        ("pp: 1", "pp: 2", "pp is 2"),
        ("checkpoints: 0", "checkpoints: 3", "are not read"),
        ("model_parallel_NPU_group", "mp", "no 'model_parallel_NPU_group'"),
        ("\n2\n", "\n3\n", "'3' rows, and 2 lines follow"),
        ("\n2\n", "\n1\n", "line 2: '1' rows, and 2 lines follow"),
        ("\n2\n", "\n2.7\n", "line 2: '2.7' rows"),
        ("\n2\n", "\n-2\n", "line 2: '-2' rows"),
        ("NPU_group: 4", "NPU_group: 2.7", "line 1: model_parallel_NPU_group is '2.7'"),
        ("checkpoints: 0", "checkpoints: -1", "line 1: checkpoints is '-1'"),
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO", "policy 'MICRO' is not read"),
        ("250000", "1000.7", "line 4: '1000.7' ns"),
        (" 40000", " -40000", "line 3: '1' ns or '-40000' B"),
        (" 40000", " inf", "line 3: '1' ns or 'inf' B"),
        ("REDUCESCATTER", "BROADCAST", "line 3: collective 'BROADCAST'"),
        (" 100\nblock", "\nblock", "line 3: 11 words"),
        ("250000", "x", "line 4: 'x' ns"),
        ("NONE 0 100", "NONE 0 x", "line 4: 'x' ns"),
        ("ga: 1", "pp: 1", "line 1: pp appears twice"),
    ],
)
def test_what_is_not_read_is_said(old: str, new: str, told: str) -> None:
    """With file and line; nothing is passed over."""
    text = HEAD + TAIL + ROWS
    assert old in text
    with pytest.raises(UserError) as error:
        read(text.replace(old, new), "w.txt")
    assert told in str(error.value)


def test_ranks_must_be_known_and_fit(tmp_path: Path) -> None:
    """Files of 2024 do not say how many there are."""
    (tmp_path / "w.txt").write_text(HEAD + "\n" + ROWS)
    for keys, told in (({}, "give 'gpus'"), ({"gpus": 6}, "a multiple of 4")):
        _, problems = resolve({"kind": "workload", "file": "w.txt", **keys}, STAR, tmp_path)
        assert any(told in problem for problem in problems), problems
    assert resolve({"kind": "workload", "file": "w.txt", "gpus": 8}, STAR, tmp_path)[0]


def told_of(folder: Path, text: str, **keys: Any) -> list[str]:
    """What is said of a workload file on 16 hosts."""
    (folder / "w.txt").write_text(text)
    return resolve({"kind": "workload", "file": "w.txt", **keys}, STAR, folder)[1]


def test_groups_of_one_rank_send_nothing(tmp_path: Path) -> None:
    """Of tensor groups of all GPUs the gradients, and of copies of experts that there is one of."""
    one_group = (HEAD + TAIL).replace("group: 4", "group: 16") + ROWS
    copies = (HEAD + TAIL).replace("ep: 1", "ep: 4") + ROWS
    copies = copies.replace("1 NONE 0 100", "1 ALLREDUCE_DP_EP 9000 100")
    for text, name in ((one_group, "weights gradients"), (copies, "weights copies")):
        (tmp_path / "w.txt").write_text(text)
        model: Any = resolve({"kind": "workload", "file": "w.txt"}, STAR, tmp_path)[0]
        assert model is not None
        names = {one.name for one in model.collectives}
        assert "forward tensor" in names
        assert name not in names
    (told,) = told_of(tmp_path, one_group.replace("16", "1"))
    assert "traffic[0].gpus: a single rank" in told


def test_problems_name_the_line(tmp_path: Path) -> None:
    """Not ranks and nodes, of which the file has none; and one problem is told once."""
    text = (HEAD + TAIL).replace("all_gpus: 16", "all_gpus: 12") + ROWS
    (told,) = told_of(tmp_path, text.replace(" 40000 ", " 2 "))
    assert told.startswith("w.txt: line 3: reduce_scatter by ring of 2 B in 3 parts")
    told = "".join(told_of(tmp_path, text, algorithms={"reduce_scatter": "halving"}))
    assert told.startswith("w.txt: line 3: reduce_scatter by halving of 3 ranks")
    (told,) = told_of(tmp_path, text.replace("250000", "1e15"))
    assert told.startswith("w.txt: a rank computes for 1e+06 s")


@pytest.mark.parametrize(
    ("algorithms", "told"),
    [
        ({"all_reduce": "double-tree"}, "unknown algorithm of all_reduce 'double-tree'"),
        ({"all_reduce": "tuned"}, "unknown algorithm of all_reduce 'tuned'"),
        ({"all_reduce": "hierarchical"}, "unknown algorithm of all_reduce 'hierarchical'"),
        ({"allreduce": "ring"}, "unknown operation 'allreduce'"),
    ],
)
def test_algorithms_are_checked(algorithms: dict[str, str], told: str, tmp_path: Path) -> None:
    """By the same check in workloads and in models."""
    model = {"kind": "transformer", "layers": 2, "hidden": 64, "sequence": 64, "flops": 1e12}
    of_model = resolve({**model, "data": 2, "algorithms": algorithms}, STAR)[1]
    of_file = told_of(tmp_path, HEAD + TAIL + ROWS, algorithms=algorithms)
    assert of_model == of_file
    assert told in of_file[0]


@pytest.mark.cpp
def test_an_iteration_takes_the_time_of_its_rows(tmp_path: Path) -> None:
    """Forward, backward, and the end of the gradients' sum, each ring in closed form."""
    (tmp_path / "w.txt").write_text(HEAD + TAIL + ROWS)
    text = """
title = "workload"
port.pause_response = "ideal"
[run]
duration = "1ms"
drain = "1s"
stop_when_done = true
[topology]
kind = "star"
hosts = 16
rate = "100Gbps"
delay = "1us"
[queue_pair]
ack_every = 1000000
[[traffic]]
kind = "workload"
label = "job"
file = "w.txt"
[[metric]]
name = "whole"
kind = "job_time"
traffic = "job"
[[trace]]
each = [{ table = "pause_tree" }, { table = "flow_link" }]
[[figure]]
name = "costs"
kind = "lost"
traffic = "job"
costs = true
"""
    done, results = run(tmp_path, text)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = results.rglob("runs.parquet")
    (whole,) = pd.read_parquet(file).whole
    computed = 1 + 250_000 + 300_000 + 1 + 1 + 1  # ns; the sum of gradients begins after the last
    updates = 3 * 100  # of each collective
    rings = 2 * 6 * across(15_000) + 3 * across(10_000)
    assert whole == pytest.approx((computed + updates) * 1000 + rings, abs=15 * ACK + 5_000)
    assert f"whole: {whole / 1e6:.4g} \u00b5s" in done.stdout
    (file,) = results.rglob("costs.csv")
    costs = pd.read_csv(file)
    assert costs["lost_ps"].sum() == pytest.approx(whole, abs=len(costs))  # the last update, too
    assert costs.query("cause == 'computing'")["lost_ps"].sum() == (computed + updates) * 1000


@pytest.mark.parametrize("word", ["ALLGATHER", "REDUCESCATTER", "ALLTOALL"])
def test_sizes_are_those_of_whole_buffers(word: str, tmp_path: Path) -> None:
    """In a group of four each rank sends three quarters, of what an all-gather ends with, too."""
    text = (HEAD + TAIL + "1\nx -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 40000 0\n").replace(
        "REDUCESCATTER", word
    )
    (tmp_path / "w.txt").write_text(text)
    form: Any = resolve({"kind": "workload", "file": "w.txt"}, STAR, tmp_path)[0]
    assert form.generate(STAR, np.random.default_rng(1), 10**12).sizes.sum() == 16 * 30_000


def test_what_waits_for_what_is_as_in_simai() -> None:
    """Input gradients before weight gradients, for whose collectives nothing waits."""
    text = HEAD + TAIL + ROWS.replace(" 1 NONE 0 100", " 7 ALLREDUCE 8000 100")
    names = {"tensor": "tensor 0", "gradients": "gradients 0"}
    nodes = nodes_of(read(text, "w.txt"), names, "w.txt")
    of = {node.name: node for node in nodes if node.name}
    done = next(node.id for node in nodes if node.after == (of["backward tensor"].id,))
    (weights,) = (node for node in nodes if node.duration == 0.007)
    assert weights.after == (done,)  # of the last row: after its input gradient's collective
    rest = [node for node in nodes if node.name == "weights gradients"]
    assert rest[0].after == (weights.id,)
    (update,) = (node for node in nodes if node.after == (rest[0].id,))
    assert update.attributes["is_cpu_op"]  # aside: computations go in the order of the nodes
    (inputs,) = (node for node in nodes if node.after == (weights.id,) and not node.name)
    assert inputs.duration == 0.001  # of the row before: it waits for no sum of gradients
