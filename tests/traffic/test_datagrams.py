"""Flows without loss recovery beside flows with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyorch import Study
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths

ROOT = Path(__file__).resolve().parents[2]
TEXT = """
title = "t"
question = "q"
source = "own"
flow_control = ["pfc"]

[run]
duration = "4ms"

[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "500ns"

[port]
pause_response = "ideal"
clock_tolerance = 100

[queue_pair]
retransmit = "selective"
timeout = "100us"

[[traffic]]
kind = "greedy"
label = "datagrams"
src = ["h0", "h1"]
dst = "h2"
class = 0
rate_cap = "80Gbps"
retransmit = "none"

[[traffic]]
kind = "messages"
label = "reliable"
messages = [{ src = "h3", dst = "h4", size = "20MB" }]
{more}
"""
PAYLOAD, HEADER, OVERHEAD, ACK = 1000, 48, 20, 64


def done(folder: Path, more: str = "", text: str = TEXT) -> Study:
    """A study after its runs."""
    folder.mkdir(exist_ok=True)
    (folder / "datagrams.toml").write_text(text.replace("{more}", more), encoding="utf-8")
    study = Study.load(folder / "datagrams.toml", paths=Paths(ROOT, folder / "results"))
    return study.run(jobs=1, progress=False)


@pytest.mark.cpp
def test_datagrams_lose_what_the_link_cannot_carry(tmp_path: Path) -> None:
    """160 into 100 Gb/s: 62.5 % arrive, none is repeated; a reliable message is as if alone."""
    flows = done(tmp_path).table("flow")
    sent, arrived = flows["sent_bytes"][:2].sum(), flows["delivered_bytes"][:2].sum()
    assert flows["retransmitted_bytes"].tolist() == [0, 0, 0]
    assert sent == pytest.approx(
        4e-3 * 160e9 / 8 * PAYLOAD / (PAYLOAD + HEADER + OVERHEAD), rel=0.005
    )
    assert arrived / sent == pytest.approx(100 / 160, rel=0.01)  # less what is in the buffer
    assert flows["finish_ps"][2] == flows["ideal_ps"][2]


@pytest.mark.cpp
def test_a_recovery_is_of_its_entry_only(tmp_path: Path) -> None:
    """Beside datagrams messages into a lossy class repeat what is lost, shares too, and arrive."""
    more = (
        '[[traffic]]\nkind = "messages"\nlabel = "repeated"\nclass = 0\nretransmit = "go_back_n"\n'
    )
    more += 'connection = "pair"\nqueue_pairs = 2\nsplit = "all"\n'
    more += 'messages = [{ src = "h4", dst = "h2", size = "1MB" }]\n'
    ending = TEXT.replace('rate_cap = "80Gbps"', 'rate_cap = "80Gbps"\nstop = "1ms"')
    flows = done(tmp_path, more, ending).table("flow")
    assert flows["retransmitted_bytes"][:3].tolist() == [0, 0, 0]
    assert flows["retransmitted_bytes"][3] > 0
    assert flows["finish_ps"][3] > 0


def test_an_unknown_recovery_is_refused(tmp_path: Path) -> None:
    """With those that there are."""
    (tmp_path / "d.toml").write_text(TEXT.replace('"none"', '"never"').replace("{more}", ""))
    study = Study.load(tmp_path / "d.toml", paths=Paths(ROOT, tmp_path / "results"))
    with pytest.raises(UserError) as caught:
        study.plan()
    assert "go_back_n" in str(caught.value.render())
