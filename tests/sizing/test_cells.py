"""Buffers of whole cells: what frames take, what headroom must be, and chips' presets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomli

from pyorch import Study
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.base.units import parse_bytes
from pyorch.sizing.asics import ASICS, SHIPPED
from pyorch.sizing.theory import eta_prime, headroom_in_cells

ROOT = Path(__file__).resolve().parents[2]
PRESETS = tomli.loads((ROOT / "ns3-modules/lossless/presets.toml").read_text())
INCAST = """
title = "t"
question = "q"
source = "own"
flow_control = ["pfc"]

[run]
duration = "1ms"

[buffer]
{buffer}

[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "500ns"

[[traffic]]
kind = "messages"
messages = [
  {{ src = "h0", dst = "h2", size = "200kB" }},
  {{ src = "h1", dst = "h2", size = "100kB" }},
]
"""


@pytest.mark.parametrize("chip", PRESETS)
def test_presets_are_those_that_size_knows(chip: str) -> None:
    """Size, cell and the gap below XOFF."""
    preset, asic = PRESETS[chip]["buffer"], ASICS[chip]
    found = [parse_bytes(preset[key]) for key in ("size", "cell_size", "xon_offset")]
    assert found == [asic.size, asic.cell, SHIPPED[chip].xon_offset]


def _study(folder: Path, buffer: str) -> Study:
    folder.mkdir()
    (folder / "cells.toml").write_text(INCAST.format(buffer=buffer), encoding="utf-8")
    return Study.load(folder / "cells.toml", paths=Paths(ROOT, folder / "results"))


@pytest.mark.parametrize("cell", [208, 254, 420])
def test_headroom_is_demanded_in_cells(cell: int, tmp_path: Path) -> None:
    """Headroom eta' of 1048 B frames at 100 Gb/s and 500 ns, each byte less is refused."""
    response = 394 * 512 * 10  # ps: 394 quanta
    in_bytes = eta_prime(100 * 10**9, 500_000, 1048, 64, control_delay_ps=response)
    demand = headroom_in_cells(in_bytes, cell)
    shortest = -(-64 // cell) * cell / 84
    assert demand > 0.99 * shortest * in_bytes
    keys = 'cell_size = "{}B"\nheadroom = "{}B"'
    _study(tmp_path / "enough", keys.format(cell, demand)).plan()
    with pytest.raises(UserError) as caught:
        _study(tmp_path / "less", keys.format(cell, demand - 1)).plan()
    assert f"eta' = {demand} B or more" in str(caught.value.render())
    assert f"in cells of {cell} B" in str(caught.value.render())


@pytest.mark.cpp
def test_frames_take_whole_cells(tmp_path: Path) -> None:
    """Of the same incast the fullest moment has as many frames: 1048 B are five cells of 254 B."""
    peaks, times = [], []
    for cell in (1, 254):
        study = _study(tmp_path / str(cell), f'cell_size = "{cell}B"')
        study.run(jobs=1, progress=False)
        (file,) = (tmp_path / str(cell) / "results").rglob("summary.json")
        peaks.append(json.loads(file.read_text())["summary"]["peak_buffer_bytes"])
        times.append(study.table("flow")["finish_ps"].tolist())
    assert peaks[0] % 1048 == 0
    assert peaks[0] > 50 * 1048
    assert peaks[1] == peaks[0] // 1048 * 5 * 254
    assert times[0] == times[1]
    with pytest.raises(UserError):
        _study(tmp_path / "wrong", 'cell_size = "0B"').plan()
