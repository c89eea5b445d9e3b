"""What is said of routes that no flow takes, and of links that fail under fixed paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.files.load import load_experiment
from pyorch.plan import expand
from pyorch.remarks.routes import of_routes, scenes_of
from pyorch.setting import dependency

PROJECT = Paths(Path(__file__).resolve().parents[2])
BASE = """
title = "Routes"
[run]
duration = "1ms"
[topology]
kind = "{kind}"
switches = {switches}
rate = "10Gbps"
delay = "1us"
{links}
[[traffic]]
{traffic}
"""
GREEDY = 'kind = "greedy"\nsrc = "h0"\ndst = "h1"'
AROUND = 'kind = "ring"\nsize = "100KB"'
BREAK = 'failures = [{ link = ["s0", "s1"], down = "10us" }]'


def text_of(
    traffic: str, *routes: str, kind: str = "line", switches: int = 4, links: str = ""
) -> str:
    """An experiment with a host on every switch; routes: "s1 h2 s0" and keys on further lines."""
    text = BASE.format(kind=kind, switches=switches, links=links, traffic=traffic)
    for route in routes:
        keys, *more = route.split("\n")
        switch, dst, after = keys.split()
        hosts = ", ".join(f'"{host}"' for host in dst.split(","))
        text += f'[[route]]\nswitch = "{switch}"\ndst = [{hosts}]\nnext = "{after}"\n'
        text += "\n".join([*more, ""])
    return text


def told(folder: Path, text: str) -> list[str]:
    """The remarks on its routes."""
    file = folder / "x.toml"
    file.write_text(text)
    specs = expand(load_experiment(str(file), paths=PROJECT))
    return [one.text for one in of_routes(scenes_of(specs), specs)]


@pytest.mark.parametrize(
    ("route", "keys", "reason"),
    [
        ("s1 h1 s2", "", ""),  # where the flow ends
        ("s0 h1 s1", "", ""),
        ("s1 h0 s2", "", ""),  # its ACKs
        ("s1 h0 s2", 'ack_path = "reverse"', "no flow goes to h0"),
        ("s1 h0 s2", 'ack_path = "h1 s1 s0 h0"', "no flow goes to h0"),
        ("s2 h1 s3", "", "no flow to h1 passes s2"),
        ("s1 h3 s0", "", "no flow goes to h3"),
        ("s1 h3,h1 s2", "", ""),
        ("s1 h3,h2 s0", "", "no flow goes to h3, h2"),
        ('s1 h1 s2\nuntil = "5us"', 'start = "5us"', "no flow goes to h1"),
        ('s1 h1 s2\nuntil = "6us"', 'start = "5us"', ""),
        ('s1 h1 s2\nat = "2ms"', "", "it begins at 2ms, after the end of the run"),
        (
            "s1 h1 s2",
            'path = "h0 s0 s1 h1"',
            "all flows to h1 have fixed paths, which routes do not change",
        ),
        ("s1 h0 s2", 'path = "h0 s0 s1 h1"\nack_path = "ecmp"', ""),
    ],
)
def test_a_route_that_no_flow_takes(route: str, keys: str, reason: str, tmp_path: Path) -> None:
    """On a line h0's flow to h1 crosses s0 and s1, and its ACKs go back by ECMP."""
    switch, dst, _ = route.split()[:3]
    hosts = dst.replace(",", ", ")
    what = f"[[route]] of {switch} for {hosts} has no effect: {reason}"
    assert told(tmp_path, text_of(f"{GREEDY}\n{keys}", route)) == ([what] if reason else [])


def test_a_route_is_taken_once_a_failed_link_or_another_route_leads_there(tmp_path: Path) -> None:
    """Around a ring of four the flow takes the long way after the short one broke."""
    ring: dict[str, Any] = {"kind": "ring"}
    one_way = GREEDY + '\nack_path = "reverse"'
    on_the_way = 's3 h1 s0\nat = "20us"'
    assert "no flow to h1 passes s3" in told(tmp_path, text_of(one_way, on_the_way, **ring))[0]
    assert told(tmp_path, text_of(one_way, on_the_way, **ring, links=BREAK)) == []
    early = 's3 h1 s0\nuntil = "9us"'
    assert "passes s3" in told(tmp_path, text_of(one_way, early, **ring, links=BREAK))[0]
    assert told(tmp_path, text_of(one_way, on_the_way, "s0 h1 s3", **ring)) == []


def test_a_route_that_only_some_runs_take_is_not_told(tmp_path: Path) -> None:
    """A sweep may switch the traffic, and a route be of one variant only, which is named."""
    swept = text_of(GREEDY, "s1 h1 s2") + '[sweep]\n"traffic.0.dst" = ["h1", "h2"]\n'
    assert told(tmp_path, swept) == []
    some = text_of(GREEDY) + "[variants.Plain]\n[[variants.Odd.route]]\n"
    some += 'switch = "s1"\ndst = "h3"\nnext = "s0"\n'
    (text,) = told(tmp_path, some)
    assert text == ("[[route]] of s1 for h3 has no effect in 1 of 2 runs (Odd): no flow goes to h3")


def test_links_that_fail_under_fixed_paths(tmp_path: Path) -> None:
    """Around three switches, two of three flows cross each link; other flows are rerouted."""
    ring: dict[str, Any] = {"kind": "ring", "switches": 3}
    down = "in the run: the fixed paths of 2 of 3 flows lead over links that go down (s0:s1 from "
    lost = "they are not rerouted, and frames sent there are lost"
    fails = "; in a lossless class, this fails the run unless run.allow_loss = true"
    assert told(tmp_path, text_of(AROUND, **ring, links=BREAK)) == [f"{down}10us): {lost}{fails}"]
    for_a_while = BREAK.replace(" }", ', up = "20us" }')
    text = text_of(AROUND, **ring, links=for_a_while).replace("[run]", "[run]\nallow_loss = true")
    assert told(tmp_path, text) == [f"{down}10us until 20us): {lost}"]
    for keys in ('start = "20us"', 'stop = "10us"'):
        assert told(tmp_path, text_of(f"{AROUND}\n{keys}", **ring, links=for_a_while)) == []
    assert told(tmp_path, text_of(GREEDY, **ring, links=BREAK)) == []
    late = BREAK.replace("10us", "1ms")  # when the run ends
    assert told(tmp_path, text_of(AROUND, **ring, links=late)) == []


def test_links_drawn_from_many_seeds_are_one_remark(tmp_path: Path) -> None:
    """Each seed draws another link: ten remarks would hide all others."""
    text = text_of(AROUND, kind="ring", switches=6, links="random_failed_links = 1")
    (said,) = told(tmp_path, text.replace("[run]", "[run]\nseeds = 10"))
    assert said.startswith("in all 10 runs, with different links, for instance in ")
    assert "of 6 flows lead over links that are down from the start (s" in said


def test_many_routes_without_effect_are_one_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of `prevent --out`, which cover all hosts; looked at together, not one by one."""
    asked: list[int] = []
    plain = dependency.phases

    def counted(setting: Any, network: Any) -> Any:
        asked.append(1)
        return plain(setting, network)

    monkeypatch.setattr(dependency, "phases", counted)
    routes = [f"s{at} h0,h1 s{at - 1}" for at in range(2, 6)]
    (said,) = told(tmp_path, text_of(GREEDY, "s0 h1 s1", *routes, switches=6))
    what = "4 of 5 [[route]] entries have no effect in any run, such as that of s2 for h0, h1"
    assert said == f"{what}: no flow to h0, h1 passes s2"
    assert asked == [1]


def test_a_ring_with_a_failed_link_is_refused(tmp_path: Path) -> None:
    """The paths around it are fixed; a link drawn from the seed is told of before it runs."""
    ring: dict[str, Any] = {"kind": "ring", "switches": 3}
    failed = 'failed_links = [["s2", "s0"]]'
    refused = r"kind: the link from s2 to s0 has failed from the start, and the paths of a ring do"
    with pytest.raises(UserError, match=refused):
        told(tmp_path, text_of(AROUND, **ring, links=failed))
    assert told(tmp_path, text_of(GREEDY, **ring, links=failed)) == []
    (text,) = told(tmp_path, text_of(AROUND, **ring, links="random_failed_links = 1"))
    assert "2 of 3 flows lead over links that are down from the start (s" in text
    assert text.endswith("): they are refused")


def test_a_ring_with_a_switch_without_hosts_is_refused(tmp_path: Path) -> None:
    """Where a flow would end there; a traceback named the number of the switch."""
    switches = ["a", "b", "c"]
    ends = [("a", "b"), ("b", "c"), ("c", "a"), ("h0", "a"), ("h1", "b")]
    links = ", ".join(f'{{ between = ["{one}", "{other}"] }}' for one, other in ends)
    text = text_of(AROUND, kind="explicit").replace("switches = 4", f"switches = {switches}")
    text = text.replace("[[traffic]]", f'hosts = ["h0", "h1"]\nlinks = [{links}]\n[[traffic]]')
    with pytest.raises(UserError, match=r"hops: a flow from a would end at c, which has no host"):
        told(tmp_path, text)
    assert told(tmp_path, text.replace('kind = "ring"', 'kind = "permutation"\nshift = 1')) == []
