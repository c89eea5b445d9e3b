"""Experiment files: what is read, what is refused, and in which words."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.base.reading import MAX_TOML
from pyorch.files.find import list_experiments
from pyorch.files.layers import MAX_FILES
from pyorch.files.load import load_experiment
from pyorch.files.setting import Resolver
from pyorch.metrics.base import parse, written
from pyorch.remarks import of_plan
from pyorch.setting.experiment import OF_ORACLE
from tests.forms import form
from tests.strategies import (
    MINIMAL,
    OBEYING,
    ROOT,
    SCHEMA,
    attribute,
    complaints,
    kind,
    load,
    size,
    write,
)

#: PFC: what demands headroom.
PFC = 'flow_control = ["pfc"]\n'


def attributes(folder: Path, text: str, *overrides: str) -> dict[str, Any]:
    """The attributes of the first setting."""
    found: dict[str, Any] = form(load(folder, text, *overrides).points[0])["attributes"]
    return found


def test_the_default_experiment_is_resolved() -> None:
    """Figure 5 of the GFC paper: PFC and GFC with the paper's thresholds in ns-3's spelling."""
    experiment = load_experiment("gfc/two-to-one", (), SCHEMA, Paths(ROOT))
    by_scheme = {form(point)["flow_control"][0]: form(point) for point in experiment.points}
    gfc = by_scheme["ns3::gfc::ConceptualGfc"]["attributes"]["ns3::gfc::ConceptualGfc"]
    assert {"B0": "50000", "Bm": "100000"}.items() <= gfc.items()
    pfc = by_scheme["ns3::pfc::Pfc"]
    buffer = {"Threshold": "Static", "Xoff": "80000", "Xon": "77000"}
    assert buffer.items() <= pfc["attributes"]["ns3::lossless::SharedBuffer"].items()
    assert pfc["topology"]["rate_bps"] == 10**10
    assert "75KB" in [expect.expected for expect in experiment.expects]


@pytest.mark.parametrize(
    ("line", "type_id", "spelled"),
    [
        ('[port]\ncontrol_delay = "22us"', "lossless::Port", {"ControlDelay": "22000000ps"}),
        ('[port]\nqueue_service = "round_robin"', "lossless::Port", {"QueueService": "RoundRobin"}),
        ("[switch]\ndecrement_ttl = false", "lossless::Switch", {"DecrementTtl": "false"}),
        ("[buffer]\nalpha = 1", "lossless::SharedBuffer", {"Alpha": "1.0"}),
        ("[buffer]\nlossless_classes = 0x18", "lossless::SharedBuffer", {"LosslessClasses": "24"}),
        ('[buffer]\nsize = "16MiB"', "lossless::SharedBuffer", {"Size": "16777216"}),
        (
            '[never-seen-before]\ncap = "10Gbps"',
            "later::NeverSeenBefore",
            {"Cap": "10000000000bps"},
        ),
    ],
)
def test_attributes_are_spelled_as_ns3_does(
    tmp_path: Path, line: str, type_id: str, spelled: dict[str, str]
) -> None:
    """Every type of attribute, also of a module that this project has never heard of."""
    text = 'flow_control = ["never-seen-before"]\n' + MINIMAL + line
    assert attributes(tmp_path, text) == {f"ns3::{type_id}": spelled}


def test_inherited_attributes_and_full_names_are_known(tmp_path: Path) -> None:
    """An attribute of a parent is set on the child, which may be chosen by its TypeId name."""
    schema = (
        *SCHEMA,
        kind("a::Base", "ns3::lossless::FlowControl", size("Gap", 1), abstract=True),
        kind("a::Child", "ns3::a::Base", attribute("Text", "String", "")),
    )
    text = 'flow_control = ["ns3::a::Child"]\n' + MINIMAL + '[child]\ngap = "2B"\ntext = "x"'
    data = form(load(tmp_path, text, schema=schema).points[0])
    assert data["attributes"] == {"ns3::a::Child": {"Gap": "2", "Text": "x"}}


def test_a_scheme_that_is_not_used_is_checked_but_left_out(tmp_path: Path) -> None:
    """The section of GFC changes nothing for a PFC run, yet its mistakes are reported."""
    text = 'flow_control = ["pfc"]\n' + MINIMAL + '[conceptual-gfc]\nbm = "1MB"\n'
    assert attributes(tmp_path, text) == {}
    assert complaints(tmp_path, text + "b1 = 3") == [
        "experiments/x.toml: conceptual-gfc.b1: unknown key 'b1'\n    allowed: bm, b0"
    ]


def test_sections_of_single_nodes_are_resolved(tmp_path: Path) -> None:
    """Patterns become names; sections of schemes that the run lacks are checked and left out."""
    text = 'flow_control = ["pfc"]\n' + MINIMAL
    text += (
        '[[node]]\nlabel = "all"\nnames = ["s*", "h1", "h0"]\nport = { control_delay = "1us" }\n'
    )
    text += 'pfc = { quanta = 5 }\n[[node]]\nnames = "s0"\nconceptual-gfc = { bm = "1MB" }\n'
    override = "node.all.port.control_delay=2us,3us"
    points = load(tmp_path, text, override, schema=_with_quanta()).points
    assert [form(point)["nodes"] for point in points] == [
        [
            {
                "nodes": ["h0", "h1", "s0"],
                "attributes": {
                    "ns3::pfc::Pfc": {"Quanta": "5"},
                    "ns3::lossless::Port": {"ControlDelay": f"{delay}000000ps"},
                },
            }
        ]
        for delay in (2, 3)
    ]
    unknown = MINIMAL + '[[node]]\nnames = "s0"\nswitsch = { }\n'
    assert "unknown section 'switsch'" in complaints(tmp_path, unknown)[0]
    agent = kind("a::Agent", "ns3::lossless::SwitchAgent", size("Gap", 1))
    text = 'agents = ["agent"]\n' + MINIMAL + '[[node]]\nnames = "h0"\nagent = { gap = "2B" }\n'
    told = "experiments/x.toml: node[0].agent: h0 is a host and has no agent\n"
    told += "    allowed: nodes that have one"
    assert complaints(tmp_path, text, schema=(*SCHEMA, agent)) == [told]
    text = text.replace("agents", "host_agents")
    assert form(load(tmp_path, text, schema=(*SCHEMA, agent)).points[0])["host_agents"]


def _with_quanta() -> tuple[Any, ...]:
    """The schema with an attribute for PFC."""
    others = (info for info in SCHEMA if info.name != "ns3::pfc::Pfc")
    quanta = attribute("Quanta", "Uinteger", "1")
    return (*others, kind("pfc::Pfc", "ns3::lossless::FlowControl", quanta))


def test_old_names_of_types_are_read_as_the_new_ones(tmp_path: Path) -> None:
    """In lists, sections, entries and overrides; what was used is known afterwards."""
    old, new = "ns3::lossless::Pfc", "ns3::pfc::Pfc"
    schema = tuple(
        dataclasses.replace(one, was=old) if one.name == new else one for one in _with_quanta()
    )
    text = f'flow_control = ["{old}"]\n{MINIMAL}["{old}"]\nquanta = 5\n'
    text += f'[[node]]\nlabel = "one"\nnames = "s0"\n"{old}" = {{ quanta = 6 }}\n'
    overrides = (f"{old}.quanta=7", f"node.one.{old}.quanta=8")
    read = load(tmp_path, text, *overrides, schema=schema)
    same = load(
        tmp_path,
        text.replace(old, new),
        *(one.replace(old, new) for one in overrides),
        schema=schema,
    )
    assert form(read.points[0]) == form(same.points[0])
    assert form(read.points[0])["attributes"][new] == {"Quanta": "7"}
    assert read.types is not None
    assert read.types.outdated == {old: new}
    assert same.types is not None
    assert same.types.outdated == {}
    assert [remark.text for remark in of_plan(read, [])][:1] == [
        f"{old} is called {new} now, and is read as that; write the new name"
    ]


def test_a_section_has_one_name_in_a_document(tmp_path: Path) -> None:
    """Which of two names came later would be chance, once files and options are merged."""
    text = f'flow_control = ["pfc"]\n{MINIMAL}[pfc]\nquanta = 5\n["ns3::pfc::Pfc"]\nquanta = 6\n'
    told = "experiments/x.toml: ns3::pfc::Pfc: 'pfc' and 'ns3::pfc::Pfc' are names of the same "
    told += "section\n    allowed: one of them, such as 'pfc'"
    assert complaints(tmp_path, text, schema=_with_quanta()) == [told]


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    """One pass over the file finds what is wrong in all of its parts."""
    text = """
titel = "x"
flow_control = ["pfcc"]
[run]
duration = "1"
warmup = "1us"
drian = "1us"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"
[bufer]
size = "1MB"
[buffer]
threshold = "statik"
alpha = 5000
xoff = 80
[[traffic]]
kind = "greedy"
src = "h9"
dst = "h2"
"""
    assert complaints(tmp_path, text) == [
        'experiments/x.toml: title: missing\n    hint: add title = "..." at the top',
        (
            "experiments/x.toml: titel: unknown key 'titel'\n    allowed: title, "
            "question, source, include, kinds, set, run, "
            "topology, flow_control, agents, host_agents, forwarding, congestion_control, "
            "buffer_policy, node, route, traffic, fault, "
            "variants, sweep, trace, "
            "metric, figure, expect, port, switch, buffer, never-seen-policy, "
            "queue_pair, pfc, conceptual-gfc, never-seen-before, dcqcn\n"
            "    hint: did you mean 'title'?"
        ),
        (
            "experiments/x.toml: bufer: unknown section 'bufer'\n    allowed: title, "
            "question, source, include, kinds, set, run, "
            "topology, flow_control, agents, host_agents, forwarding, congestion_control, "
            "buffer_policy, node, route, traffic, fault, "
            "variants, sweep, trace, "
            "metric, figure, expect, port, switch, buffer, never-seen-policy, "
            "queue_pair, pfc, conceptual-gfc, never-seen-before, dcqcn\n"
            "    hint: did you mean 'buffer'?"
        ),
        "experiments/x.toml: run.duration: '1' lacks its unit: a time is written like \"25us\"",
        (
            "experiments/x.toml: run.drian: unknown key 'drian'\n    allowed: "
            "duration, warmup, drain, "
            "allow_loss, stop_when_done, deadlock_test, stop_on_deadlock, simulator, "
            "oracle, repeats, seeds, time_limit, threads\n"
            "    hint: did you mean 'drain'?"
        ),
        (
            "experiments/x.toml: flow_control: unknown scheme 'pfcc'\n    allowed: "
            "pfc, conceptual-gfc, "
            "never-seen-before\n    hint: did you mean 'pfc'?"
        ),
        (
            "experiments/x.toml: buffer.threshold: 'statik' is not allowed\n    "
            "allowed: Dynamic, Static\n"
            "    hint: did you mean 'Static'?"
        ),
        (
            "experiments/x.toml: buffer.alpha: 5000 is out of range\n"
            "    allowed: a number, 0.000976562 to 1024"
        ),
        (
            "experiments/x.toml: buffer.xoff: a size is a text with its unit, "
            'such as "100KB" (got 80)\n'
            '    allowed: a size such as "100KB", 1B to 1TB'
        ),
        "experiments/x.toml: traffic[0].src: there is no host 'h9'\n    allowed: hosts h0 to h3",
    ]


def test_points_may_give_what_run_lacks(tmp_path: Path) -> None:
    """A duration that only a sweep gives; seeds count for all runs."""
    text = MINIMAL.replace('duration = "1ms"', "seeds = 2")
    assert text != MINIMAL
    found = load(tmp_path, text + '[sweep]\n"run.duration" = ["1ms", "2ms"]\n')
    assert [form(point)["run"]["duration_ps"] for point in found.points] == [10**9, 2 * 10**9]
    assert found.seeds == (1, 2)
    assert [one for one in complaints(tmp_path, text) if "run.duration: missing" in one]


@pytest.mark.parametrize("line", ['warmup = "1h"', "seeds = 0", "typo = 3"])
def test_a_fault_of_run_makes_none_of_traffic(tmp_path: Path, line: str) -> None:
    """How many flows there are, is not known without a duration."""
    traffic = '[[traffic]]\nkind = "poisson"\nworkload = "websearch"\nload = 0.9\n'
    text = MINIMAL.replace("[run]", f"[run]\n{line}") + traffic
    assert len(complaints(tmp_path, text)) == 1


def test_a_syntax_error_is_told_with_its_place(tmp_path: Path) -> None:
    """File, line, column and the parser's message."""
    assert complaints(tmp_path, 'title = "x"\n[run\nduration = 1') == [
        (
            "experiments/x.toml, line 2, column 5: Expected ']' at the end of a table declaration\n"
            "    hint: the file is not TOML"
        )
    ]
    assert complaints(tmp_path, "title = [1,")[0].startswith("experiments/x.toml, at its end: ")


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("gfc/two-two-one", "did you mean 'gfc/two-to-one'? "),
        ("experiments/gfc/two-two-one.toml", "did you mean 'gfc/two-to-one'? "),
        ("ring", "did you mean 'dsh/ring' or 'gfc/ring'? "),
        ("quite-another", ""),
    ],
)
def test_an_unknown_experiment_is_told_with_its_neighbours(
    tmp_path: Path, name: str, suggested: str
) -> None:
    """A misspelt name, or one without its folder, is answered with the names like it, not all."""
    paths = write(tmp_path, MINIMAL)
    for folder, file in (("gfc", "two-to-one"), ("gfc", "ring"), ("dsh", "ring")):
        (paths.experiments / folder).mkdir(exist_ok=True)
        (paths.experiments / folder / f"{file}.toml").write_text(MINIMAL)
    with pytest.raises(UserError) as caught:
        load_experiment(name, paths=paths)
    assert caught.value.render() == (
        f"{name}: there is no such experiment\n"
        f"    hint: {suggested}'invoke list' shows all with their titles"
    )


def test_experiments_are_listed_by_name_even_if_one_is_broken(tmp_path: Path) -> None:
    """A file that is not TOML is shown as such and hides no other."""
    paths = write(tmp_path, MINIMAL)
    (paths.experiments / "a.toml").write_text("title = ")
    listed = list_experiments(paths)
    assert listed[0] == ("a", "(cannot be read: Invalid value)")
    assert listed[1] == ("x", "A test")


def test_a_misspelt_table_is_told_before_the_modules_are_known(tmp_path: Path) -> None:
    """Without a schema an unknown section may be right, but not instead of a missing table."""
    text = MINIMAL.replace("[topology]", "[topolgy]") + "[never-seen]\nx = 1\n"
    first, second = complaints(tmp_path, text, schema=None)
    assert first.startswith("experiments/x.toml: topolgy: unknown section 'topolgy'\n")
    assert first.endswith("hint: did you mean 'topology'?")
    assert second.startswith("experiments/x.toml: topology: missing\n")


def test_without_a_schema_attributes_are_left_alone(tmp_path: Path) -> None:
    """Sections of C++ objects stay as written, but ports have the rule by which they obey."""
    text = MINIMAL + "[whatever]\nkey = 3\n"
    for port, obeys in (
        ("", {"pause_response": '"802.3"'}),
        ('[port]\npause_response = "ideal"\n', {}),
        ('[port]\ncontrol_delay = "1us"\n', {"control_delay": '"1us"'}),
    ):
        found = form(load(tmp_path, text + port, schema=None).points[0])["attributes"]
        assert found.pop("port", {}) == obeys
        assert found == {"whatever": {"key": "3"}}
    told = complaints(tmp_path, "whatever = 3\n" + MINIMAL, schema=None)
    assert told[0].startswith("experiments/x.toml: whatever: unknown key 'whatever'")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            '[buffer]\nthreshold = "static"\nxoff = "10KB"\nxon = "11KB"',
            (
                "experiments/x.toml: buffer.xon: xon 11KB is above xoff 10KB\n    "
                "allowed: at most 10KB"
            ),
        ),
        (
            # 10G and 1 us: 2*(1250 + 1068) + 3840 + 84 + 1048
            '[buffer]\nheadroom = "9607B"',
            (
                "experiments/x.toml: buffer.headroom: headroom 9607B can lose frames "
                "on a link of 10Gbps "
                "and 1us\n    allowed: eta' = 9608 B or more; eta' = 2*(C*Dprop + 1068 B) "
                "+ max(3840 B, C*0s) + 84 B "
                "+ 1048 B\n    hint: leave it out (or 0B) for eta' on every port, or set "
                "run.allow_loss = true"
            ),
        ),
        (
            # four queues with 9608 B of headroom and 10 KB private, 1 MB for lossy classes
            '[buffer]\nsize = "1078431B"\nprivate = "10KB"',
            (
                "experiments/x.toml: buffer.size: size 1078431B is over-committed at "
                "s0: private and "
                "headroom take 78432 B, the lossy pool 1000000 B\n    allowed: at least 1078432 B\n"
                "    hint: raise buffer.size, or lower buffer.lossy_pool, private or the number of "
                "lossless classes"
            ),
        ),
    ],
)
def test_the_buffer_must_be_what_it_claims(tmp_path: Path, lines: str, message: str) -> None:
    """XON above XOFF, headroom below eta' and over-commitment are refused with the bound."""
    assert complaints(tmp_path, PFC + MINIMAL + lines) == [message]


def test_only_what_is_told_to_stop_needs_headroom(tmp_path: Path) -> None:
    """Without PFC in the chain none is kept, however long the link, and little is no fault."""
    tight = '[buffer]\nsize = "1040KB"\nprivate = "10KB"\n'  # four private parts, 1 MB for lossy
    for flow_control in ("", 'flow_control = ["conceptual-gfc"]\n'):
        for lines in (tight, '[buffer]\nheadroom = "1B"'):
            assert load(tmp_path, flow_control + MINIMAL + lines).points
        (problem,) = complaints(tmp_path, flow_control + MINIMAL + tight + 'headroom = "1B"')
        assert "at least 1040004 B" in problem
    (problem,) = complaints(tmp_path, PFC + MINIMAL + tight)
    assert f"at least {1_040_000 + 4 * 9608} B" in problem


def test_lossless_classes_need_room_for_a_frame(tmp_path: Path) -> None:
    """Whatever the chain: without headroom or private parts, what the lossy pool leaves."""
    tight = '[buffer]\nlossy_pool = "1MB"\nsize = '
    for flow_control in ("", 'flow_control = ["conceptual-gfc"]\n'):
        text = flow_control + MINIMAL
        assert load(tmp_path, text + tight + '"1001048B"').points
        assert complaints(tmp_path, text + tight + '"1001047B"') == [
            (
                "experiments/x.toml: buffer.size: size 1001047B is over-committed at s0: private "
                "and headroom take 0 B, the lossy pool 1000000 B, a frame of a lossless class "
                "1048 B\n    allowed: at least 1001048 B\n"
                "    hint: raise buffer.size, or lower buffer.lossy_pool, private or the number of "
                "lossless classes"
            )
        ]
        for instead in (
            '"1004192B"\nprivate = "1048B"',
            '"1038432B"\nheadroom = "9608B"',
            '"1MB"\nlossless_classes = 0',
        ):
            assert load(tmp_path, text + tight + instead).points
        lossy = text.replace("[run]", "[run]\nallow_loss = true")
        assert load(tmp_path, lossy + tight + '"1MB"').points
    (problem,) = complaints(tmp_path, MINIMAL + tight + '"1004188B"\nprivate = "1047B"')
    assert "at least 1005236 B" in problem


@pytest.mark.parametrize(
    "lines",
    [
        '[buffer]\nheadroom = "9608B"',
        '[buffer]\nsize = "1078432B"\nprivate = "10KB"',
        '[buffer]\nxoff = "10KB"\nxon = "11KB"',
        '[buffer]\nheadroom = "1B"\nlossless_classes = 0',
    ],
)
def test_a_buffer_at_its_bounds_is_accepted(tmp_path: Path, lines: str) -> None:
    """The bounds themselves are allowed, and what is not used is not judged."""
    assert load(tmp_path, PFC + MINIMAL + lines).points


def test_a_buffer_policy_is_chosen_by_name(tmp_path: Path) -> None:
    """It has a section of its own, and takes from [buffer] what every policy has."""
    sections = '[buffer]\nsize = "2MB"\nlossy_pool = "1MB"\nalpha = 1\n'
    sections += '[never-seen-policy]\nlossy_pool = "3MB"\nquota = "5KB"\n'
    for name in ("never-seen-policy", "ns3::later::NeverSeenPolicy"):
        (point,) = load(tmp_path, f'buffer_policy = "{name}"\n{MINIMAL}{sections}').points
        assert form(point)["buffer_policy"] == "ns3::later::NeverSeenPolicy"
        assert form(point)["attributes"] == {
            "ns3::later::NeverSeenPolicy": {
                "LossyPool": "3000000",
                "Quota": "5000",
                "Size": "2000000",
            }
        }
    entry = '[[node]]\nnames = "s0"\nbuffer = { size = "9MB", alpha = 2 }\n'
    (point,) = load(tmp_path, f'buffer_policy = "never-seen-policy"\n{MINIMAL}{entry}').points
    (node,) = form(point)["nodes"]
    assert node["attributes"] == {"ns3::later::NeverSeenPolicy": {"Size": "9000000"}}


def test_the_default_buffer_policy_need_not_be_named(tmp_path: Path) -> None:
    """A run is the same whether the file says it or not; another's section changes nothing."""
    plain = form(load(tmp_path, f'{MINIMAL}[buffer]\nsize = "2MB"').points[0])
    for name in ("buffer", "shared-buffer", "ns3::lossless::SharedBuffer"):
        text = f'buffer_policy = "{name}"\n{MINIMAL}[buffer]\nsize = "2MB"\n'
        text += '[never-seen-policy]\nquota = "5KB"'
        assert form(load(tmp_path, text).points[0]) == plain


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('buffer_policy = "never-seen-polisy"', "did you mean 'never-seen-policy'"),
        ('buffer_policy = "pfc"', "allowed: buffer, never-seen-policy"),
        ("buffer_policy = 3", "one name, or none"),
        ('buffer_policy = ["buffer"]', "one name, or none"),
    ],
)
def test_a_buffer_policy_must_be_one(tmp_path: Path, line: str, told: str) -> None:
    """A misspelt one, and what is none."""
    (problem,) = complaints(tmp_path, f"{line}\n{MINIMAL}")
    assert told in problem


def test_over_subscribed_headroom_needs_allow_loss(tmp_path: Path) -> None:
    """A pool keeps no bound; with loss allowed less of the buffer is committed."""
    tight = '[buffer]\nsize = "1030KB"\nheadroom_ratio = 2\n'  # four headrooms of 9608 B
    (problem,) = complaints(tmp_path, PFC + MINIMAL + tight)
    assert "2 times over-subscribed can lose frames" in problem
    lossy = PFC + MINIMAL.replace("[run]", "[run]\nallow_loss = true")
    assert load(tmp_path, lossy + tight).points
    (problem,) = complaints(tmp_path, lossy + tight.replace("= 2", "= 1"))
    assert "over-committed" in problem


def test_loss_can_be_allowed(tmp_path: Path) -> None:
    """allow_loss accepts headroom below eta'."""
    lossy = MINIMAL.replace("[run]", "[run]\nallow_loss = true")
    text = PFC + lossy + '[buffer]\nheadroom = "1KB"'
    assert attributes(tmp_path, text) == {"ns3::lossless::SharedBuffer": {"Headroom": "1000"}}


def test_a_control_delay_counts_into_the_headroom(tmp_path: Path) -> None:
    """With 22 us at 10G the response is 27,500 B instead of 3840 B."""
    told = complaints(
        tmp_path, PFC + MINIMAL + '[buffer]\nheadroom = "10KB"\n[port]\ncontrol_delay = "22us"'
    )
    assert f"eta' = {9608 - 3840 + 27_500} B or more" in told[0]


def test_a_module_without_buffer_attributes_is_not_judged(tmp_path: Path) -> None:
    """The arithmetic needs the attributes; without them nothing is assumed."""
    schema = tuple(
        dataclasses.replace(info, attributes=info.attributes[:5])
        if info.name.endswith("SharedBuffer")
        else info
        for info in SCHEMA
    )
    assert load(tmp_path, PFC + MINIMAL + '[buffer]\nheadroom = "1B"', schema=schema).points


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            '[[fault]]\nkind = "slow_reciever"\nhost = "h1"\nrate = "1Gbps"',
            (
                "experiments/x.toml: fault[0].kind: unknown fault 'slow_reciever'\n"
                "    allowed: slow_receiver, pause_storm, resume_storm\n"
                "    hint: did you mean 'slow_receiver'?"
            ),
        ),
        (
            '[[fault]]\nhost = "h1"',
            (
                "experiments/x.toml: fault[0].kind: missing\n"
                "    allowed: slow_receiver, pause_storm, resume_storm"
            ),
        ),
        (
            '[[fault]]\nkind = "pause_storm"\nhost = "h1"\nstart = "2us"\nstop = "2us"',
            "experiments/x.toml: fault[0].stop: not after start\n    allowed: a time after 'start'",
        ),
        (
            '[[trace]]\ntable = "pause"\nperiod = "1us"',
            (
                "experiments/x.toml: trace[0].period: the table 'pause' is recorded "
                "event by event\n"
                "    allowed: no period"
            ),
        ),
        (
            '[[trace]]\ntable = "queue"\nports = ["s0:h7"]',
            (
                "experiments/x.toml: trace[0].ports[0]: there is no node 'h7'\n"
                "    allowed: h0, h1, h2, h3, s0"
            ),
        ),
        (
            '[[trace]]\ntable = "queue"\nports = ["h0:h1"]',
            (
                "experiments/x.toml: trace[0].ports[0]: there is no link between h0 and h1\n"
                "    allowed: h0 has links to s0"
            ),
        ),
        (
            '[[trace]]\ntable = "qeue"',
            (
                "experiments/x.toml: trace[0].table: unknown table 'qeue'\n"
                "    allowed: queue, buffer, egress, rate, pause, drop, control, control_value, "
                "frame, deadlock, pause_tree, detection, flow_rate\n"
                "    hint: did you mean 'queue'?"
            ),
        ),
        *(
            (
                lines,
                (
                    f"experiments/x.toml: {where}: the list is empty\n"
                    f"    allowed: {other}a list with at least one entry"
                ),
            )
            for lines, where, other in (
                ('[[trace]]\ntable = "queue"\nports = []', "trace[0].ports", ""),
                ('[[trace]]\ntable = "queue"\nclasses = []', "trace[0].classes", ""),
                ('[[metric]]\nname = "d"\nkind = "drops"\nports = []', "metric[0].ports", ""),
                ('[[metric]]\nname = "g"\nkind = "goodput"\nsrc = []', "metric[0].src", ""),
                (
                    (
                        '[[figure]]\nname = "f"\nkind = "timeseries"\n'
                        'rows = [{ table = "queue", port = [] }]'
                    ),
                    "figure[0].rows[0].port",
                    "a valid string or ",
                ),
            )
        ),
        (
            (
                '[[expect]]\nwhat = "w"\nmetric = "events"\nmax = nan\n'
                'status = "derived"\nsource = "s"'
            ),
            (
                "experiments/x.toml: expect[0].max: a finite number, or text with its unit, "
                "is expected (got nan)"
            ),
        ),
        (
            '[[figure]]\nname = "s"\nkind = "pause_tree"\nheight = inf',
            (
                "experiments/x.toml: figure[0].height: inf is not allowed\n"
                "    allowed: a finite number"
            ),
        ),
        (
            '[sweep]\n"traffic.1.class" = [1, 2]',
            "experiments/x.toml: sweep.traffic.1.class: 'traffic' has no entry '1'; it has 0 to 0",
        ),
        (
            '[sweep]\n"buffer.alhpa" = [1, 2]',
            (
                "experiments/x.toml: sweep.buffer.alhpa: unknown key 'alhpa'\n    allowed: size, "
                "lossy_pool, lossless_classes, lossy_alpha, private, headroom, headroom_ratio, "
                "threshold, alpha, xon_offset, xoff, "
                "xon\n    hint: did you mean 'alpha'?"
            ),
        ),
        (
            '[sweep]\n"port.control_delay" = ["1us", "1000ns"]',
            (
                "experiments/x.toml: sweep.port.control_delay: duplicate value: 1us\n"
                "    allowed: each value once"
            ),
        ),
        (
            '[[node]]\nnames = "s0"\nswitch = { decrement_ttl = 3 }',
            (
                "experiments/x.toml: node[0].switch.decrement_ttl: 3 is not true or false\n"
                "    allowed: true or false"
            ),
        ),
        (
            "[[node]]\nswitch = { decrement_ttl = true }",
            (
                "experiments/x.toml: node[0].names: missing\n"
                '    allowed: names of nodes or ports ("s0:h0"), or patterns such as "spine*" or '
                '"leaf*:h*"'
            ),
        ),
        (
            '[[node]]\nnames = ["s1", "h*"]',
            "experiments/x.toml: node[0].names: there is no node 's1'",
        ),
        (
            '[[node]]\nnames = ["*"]\nswitch = { decrement_ttl = true }',
            (
                "experiments/x.toml: node[0].switch: h0 is a host and has no switch\n"
                "    allowed: nodes that have one"
            ),
        ),
        (
            '[[node]]\nnames = "h0"\nqueue_pair = { }',
            (
                "experiments/x.toml: node[0].queue_pair: belongs to flows, not to a node\n"
                "    allowed: switch, host, buffer, port and the schemes of a node\n"
                "    hint: [[traffic]] has payload_size, dscp and retransmit; "
                "host has ack_class and cnp_class"
            ),
        ),
        (
            '[variants.A]\n"buffer.xoff" = "1KB"\nbuffer = { xoff = "2KB" }',
            "experiments/x.toml: variants.A: 'buffer.xoff' is given twice",
        ),
        (
            '[variants.A]\ntitle = "B"',
            (
                "experiments/x.toml: variants.A: 'title' belongs to the experiment as a whole\n"
                "    allowed: keys that describe a run"
            ),
        ),
        (
            '[variants.A]\nbuffer.xoff = "80"',
            (
                "experiments/x.toml: variants.A: buffer.xoff: '80' lacks its unit: a "
                "size is written "
                'like "100KB"\n    allowed: a size such as "100KB", 1B to 1TB'
            ),
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    """Each message says where the value was written, what it is, and what is allowed."""
    assert complaints(tmp_path, MINIMAL + lines) == [message]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("run.duratoin=1ms", "--set run.duratoin=1ms: unknown key 'duratoin'"),
        (
            "run.duration=1",
            '--set run.duration=1: a time is a text with its unit, such as "25us" (got 1)',
        ),
        ("run", "--set run: not of the form key=value, and no list of [set]"),
        ("run..x=1", "--set run..x=1: 'run..x' is not a key such as 'buffer.alpha'"),
        ("nonsense=1", "--set nonsense=1: unknown key 'nonsense'"),
        ("variants.B.buffer.xoff=1KB", "--set variants.B.buffer.xoff=1KB: there is no variant 'B'"),
        ("title.x=1", "--set title.x=1: 'title' is 'A test' and has no key 'x'"),
    ],
)
def test_a_wrong_override_is_told_as_typed(tmp_path: Path, override: str, message: str) -> None:
    """The message names the option, not the file."""
    assert complaints(tmp_path, MINIMAL, override)[0].splitlines()[0] == message


@pytest.mark.parametrize(
    ("lines", "overrides", "place"),
    [
        ('[sweep]\nscenario = ["a", "b"]\n', (), "test.toml: sweep.scenario"),
        ("", ("scenario=a",), "--set scenario=a"),
        ("", ("scenario=a,b",), "--set scenario=a,b"),
    ],
)
def test_scenarios_that_are_none(
    tmp_path: Path, lines: str, overrides: tuple[str, ...], place: str
) -> None:
    """Chosen by name where the file has no [sweep.scenario.NAME]."""
    (told,) = complaints(tmp_path, MINIMAL + lines, *overrides)
    first, hint = told.splitlines()
    assert first.endswith(f"{place.removeprefix('test.toml: ')}: there are no scenarios")
    assert "[sweep.scenario.NAME]" in hint


def test_an_override_inside_what_another_one_replaced(tmp_path: Path) -> None:
    """--set variants=TEXT leaves nothing for a later override to change; both are reported."""
    told = complaints(tmp_path, MINIMAL, "variants=s0", "variants.A.buffer.xoff=1KB")
    assert told[1] == "--set variants.A.buffer.xoff=1KB: there is no variant 'A'"
    assert any(line.startswith("--set variants=s0: 's0' is not a table") for line in told)


ENTRIES = """
[variants.A]
"buffer.alpha" = 0.5
[variants.B]
[[trace]]
table = "queue"
[[metric]]
name = "peak"
kind = "max"
table = "queue"
port = "s0:h0"
"""


def test_metrics_figures_and_expectations_are_validated_together(tmp_path: Path) -> None:
    """Unknown kinds, ports, variants and metrics are found in all three."""
    text = (
        MINIMAL
        + ENTRIES
        + """
[[metric]]
name = "wrong"
kind = "time_maen"
[[figure]]
name = "f"
kind = "timeseries"
rows = [{ table = "queue", port = "s0:h9", klass = 3 }]
[[expect]]
what = "w"
metric = "peak"
where = { variant = "C", vairant = "A" }
max = "1KB"
status = "derived"
source = "nowhere"
"""
    )
    told = [line for problem in complaints(tmp_path, text) for line in problem.splitlines()]
    assert "experiments/x.toml: metric[1].kind: unknown metric 'time_maen'" in told
    assert "    hint: did you mean 'time_mean'?" in told
    assert "experiments/x.toml: figure[0].rows[0].klass: unknown key 'klass'" in told
    assert "experiments/x.toml: figure[0].rows[0].port: there is no node 'h9'" in told
    assert "experiments/x.toml: expect[0].where.variant: no run has variant = 'C'" in told
    assert (
        "experiments/x.toml: expect[0].where.vairant: 'vairant' does not vary in this experiment"
        in told
    )


def test_a_table_that_is_not_traced_is_told_for_the_settings_that_lack_it(tmp_path: Path) -> None:
    """A trace in one variant does not help the other, and only that is reported."""
    metric = '[[metric]]\nname = "peak"\nkind = "max"\ntable = "queue"\nport = "s0:h0"\n'
    text = MINIMAL + metric + '[variants.A]\ntrace = [{ table = "queue" }]\n'
    assert load(tmp_path, text).points
    told = complaints(tmp_path, text + "[variants.B]\n")
    assert len(told) == 1
    assert "needs table 'queue' of port s0:h0, which no [[trace]] records" in told[0]
    assert len(complaints(tmp_path, text, "run.duration=1")) == 1


def test_entries_end_up_in_the_experiment(tmp_path: Path) -> None:
    """As models; a metric in a RunSpec says the same as the file."""
    (metric,) = load(tmp_path, MINIMAL + ENTRIES).metrics
    assert metric.name == "peak"
    assert {"kind": "max", "table": "queue", "port": "s0:h0"}.items() <= written(metric).items()
    assert parse(json.loads(json.dumps(written(metric)))) == metric


def test_the_examples_in_the_guide_are_valid(tmp_path: Path) -> None:
    """Every TOML block of the pages of a file loads, alone or laid over the first one."""
    pages = ("experiments", "flows", "kinds")
    guide = "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) > 8
    whole = blocks[0]
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "messages.csv").write_text("src,dst,size,start\nh0,h1,1MB,0\n")
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "experiments" / "my_kinds.py").write_text(code)
    for block in blocks:
        if "dcqcn" in block:  # needs real modules: tests/files/test_presets.py
            continue
        text = block if "title" in block else _over(whole, block)
        assert load(tmp_path, text, schema=OBEYING).points, block


def _over(whole: str, part: str) -> str:
    """Replace in a file the tables that a part brings itself."""
    own = set(re.findall(r"^\[+([\w.-]+)\]+", part, re.MULTILINE))
    pieces = re.split(r"^(?=\[)", whole, flags=re.MULTILINE)
    kept = [p for p in pieces if not re.match(r"\[+([\w.-]+)", p) or _name(p) not in own]
    needs_network = {"topology"} & own
    if needs_network:  # entries that name nodes of the network that is replaced
        kept = [p for p in kept if _name(p) not in {"trace", "metric", "figure", "expect"}]
    # what precedes the tables of a part belongs to none of them
    head, *tables = re.split(r"^(?=\[)", part, flags=re.MULTILINE)
    return head + "\n" + "".join(kept) + "".join(tables)


def _name(piece: str) -> str:
    match = re.match(r"\[+([\w.-]+)", piece)
    return match[1] if match else ""


#: B lays its own over A's, and C its own over both.
EXTENDING = """
[variants.C]
extends = "B"
buffer.xon = "7KB"
[variants.A]
buffer = { xoff = "9KB", xon = "8KB" }
run.duration = "2ms"
[variants.B]
extends = "A"
"buffer.xoff" = "10KB"
"""


def buffers(folder: Path, text: str, *overrides: str) -> dict[str, tuple[str, str]]:
    """(XOFF, XON) of each variant."""
    found = {}
    for point in load(folder, text, *overrides).points:
        buffer = form(point)["attributes"]["ns3::lossless::SharedBuffer"]
        found[point.params["variant"]] = (buffer["Xoff"], buffer["Xon"])
    return found


def test_a_variant_is_laid_over_the_one_that_it_extends(tmp_path: Path) -> None:
    """Lines of several, in any order in the file; each means what it is when written out."""
    whole = """
[variants.C]
buffer = { xoff = "10KB", xon = "7KB" }
run.duration = "2ms"
[variants.A]
buffer = { xoff = "9KB", xon = "8KB" }
run.duration = "2ms"
[variants.B]
buffer = { xoff = "10KB", xon = "8KB" }
run.duration = "2ms"
"""
    short = load(tmp_path, MINIMAL + EXTENDING).points
    assert list(map(form, short)) == list(map(form, load(tmp_path, MINIMAL + whole).points))


def test_an_option_changes_a_variant_and_those_that_extend_it(tmp_path: Path) -> None:
    """As if it were written in the file; what extends it keeps its own keys."""
    found = buffers(
        tmp_path, MINIMAL + EXTENDING, "variants.A.buffer.xoff=11KB", "variants.A.buffer.xon=5KB"
    )
    assert found == {"C": ("10000", "7000"), "A": ("11000", "5000"), "B": ("10000", "5000")}
    alone = buffers(tmp_path, MINIMAL + EXTENDING, "only=B")
    assert alone == {"B": ("10000", "8000")}


def test_a_variant_extends_one_of_another_file(tmp_path: Path) -> None:
    """Of a file of variants, and a scheme file, whose values come first."""
    paths = write(tmp_path, "")
    (paths.experiments / "more.toml").write_text('[variants.A]\nbuffer.xoff = "9KB"\n')
    (paths.experiments / "scheme.toml").write_text(
        'name = "S"\nabout = "s"\n[values]\n'
        '"buffer.xoff" = { value = "8KB", source = "s" }\n'
        '"buffer.xon" = { value = "4KB", source = "s" }\n'
    )
    text = (
        '[buffer]\nsize = "16MB"\nxon = "6KB"\n[variants]\nfiles = ["more.toml", "scheme.toml"]\n'
        '[variants.B]\nextends = "A"\nbuffer.xon = "3KB"\n'
        '[variants.T]\nextends = "S"\nbuffer.xon = "2KB"\n'
    )
    assert buffers(tmp_path, MINIMAL + text) == {
        "B": ("9000", "3000"),
        "T": ("8000", "2000"),
        "A": ("9000", "6000"),
        "S": ("8000", "4000"),
    }


@pytest.mark.parametrize(
    ("variants", "told"),
    [
        (
            '[variants.Small]\n[variants.B]\nextends = "Smal"',
            (
                "experiments/x.toml: variants.B.extends: there is no variant 'Smal'\n"
                "    allowed: Small\n    hint: did you mean 'Small'?"
            ),
        ),
        (
            '[variants.A]\nextends = "C"\n[variants.B]\nextends = "A"\n[variants.C]\nextends = "B"',
            (
                "experiments/x.toml: variants.B.extends: A -> C -> B -> A is a circle\n"
                "    allowed: a variant that does not extend this one"
            ),
        ),
        (
            '[variants.A]\nextends = "A"',
            (
                "experiments/x.toml: variants.A.extends: A -> A is a circle\n"
                "    allowed: a variant that does not extend this one"
            ),
        ),
        (
            '[variants.A]\nextends = ["B"]',
            (
                "experiments/x.toml: variants.A.extends: ['B'] is not allowed\n"
                "    allowed: the name of another variant"
            ),
        ),
        (
            '[variants.A]\nbuffer.xoff = "80"\n[variants.B]\nextends = "A"',
            "experiments/x.toml: variants.A: buffer.xoff: '80' lacks its unit",
        ),
    ],
)
def test_what_a_variant_cannot_extend(tmp_path: Path, variants: str, told: str) -> None:
    """Each is one problem, at the variant in whose table it is written."""
    (found,) = complaints(tmp_path, MINIMAL + variants)
    assert found.startswith(told)


def test_a_long_line_of_variants_is_read(tmp_path: Path) -> None:
    """Longer than the interpreter's stack is deep."""
    names = [f"V{number}" for number in range(1500)]
    text = "[variants.V0]\nbuffer.xoff = '9KB'\nbuffer.xon = '8KB'\n" + "".join(
        f"[variants.{name}]\nextends = '{base}'\n" for base, name in itertools.pairwise(names)
    )
    assert buffers(tmp_path, MINIMAL + text, "only=V1499") == {"V1499": ("9000", "8000")}


def test_scenarios_are_swept_below_variants(tmp_path: Path) -> None:
    """A scenario changes the file, then the variant does; it is a parameter by its name."""
    text = MINIMAL + '[sweep.scenario.small]\nrun.duration = "2ms"\n[sweep.scenario.long]\n'
    text += 'run.duration = "9ms"\n[variants.A]\n[variants.B]\n"run.duration" = "5ms"\n'
    points = load(tmp_path, text).points
    assert [(dict(p.params), form(p)["run"]["duration_ps"] // 10**9) for p in points] == [
        ({"variant": "A", "scenario": "small"}, 2),
        ({"variant": "A", "scenario": "long"}, 9),
        ({"variant": "B", "scenario": "small"}, 5),
        ({"variant": "B", "scenario": "long"}, 5),
    ]
    one = load(tmp_path, text, "scenario=long").points
    assert [point.params["scenario"] for point in one] == ["long", "long"]
    changed = load(tmp_path, text, "sweep.scenario.long.run.duration=7ms").points
    assert form(changed[1])["run"]["duration_ps"] == 7 * 10**9
    assert "unknown scenario 'lonk'" in complaints(tmp_path, text, "scenario=lonk")[0]
    both = ("run.duration=3ms", "sweep.scenario.long.run.duration=7ms")
    (told,) = complaints(tmp_path, text, *both)
    assert "has no effect: run.duration was set for all runs before" in told
    assert "leave out --set run.duration=3ms" in told
    assert {form(p)["run"]["duration_ps"] for p in load(tmp_path, text, *both[::-1]).points} == {
        3 * 10**9
    }
    bad = MINIMAL + '[sweep.scenario.x]\nrun.duration = "1"\n'
    (told,) = complaints(tmp_path, bad)
    assert told.startswith("experiments/x.toml: sweep.scenario.x: run.duration")
    sizes = MINIMAL + '[sweep.scenario]\n"1 MB" = {}\n"1000KB" = { run.duration = "2ms" }\n'
    names = [point.params["scenario"] for point in load(tmp_path, sizes).points]
    assert names == ["1 MB", "1000KB"], "names, also where they read as the same quantity"


EACH = """
[[metric]]
kind = "max"
table = "queue"
class = 3
each = [
  { name = "first", port = "s0:h0" },
  { name = "both", port = "s0:h1", class = 4 },
]
[[trace]]
table = "queue"
[[expect]]
metric = "first"
where = { class = 3 }
status = "ours"
source = "us"
each = [{ what = "a", max = "1KB" }, { what = "b", where.variant = "A", metric = "both", min = 0 }]
"""


def test_an_entry_stands_once_for_each_of_its_rows(tmp_path: Path) -> None:
    """A row's keys win; tables such as `where` are laid key by key."""
    text = MINIMAL + EACH.replace("where = { class = 3 }", 'where = { "buffer.alpha" = 1 }')
    found = load(tmp_path, text + '[variants.A]\n[sweep]\n"buffer.alpha" = [1, 2]\n')
    assert [(one.name, one.port, one.class_number) for one in found.metrics] == [
        ("first", "s0:h0", 3),
        ("both", "s0:h1", 4),
    ]
    assert [(one.what, one.metric, dict(one.where)) for one in found.expects] == [
        ("a", "first", {"buffer.alpha": 1}),
        ("b", "both", {"buffer.alpha": 1, "variant": "A"}),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('port = "s0:h1"', 'prot = "s0:h1"', "metric[0].each[1].prot: unknown key 'prot'"),
        ('table = "queue"\nclass', 'tabel = "queue"\nclass', "metric[0].tabel: unknown key"),
        ('max = "1KB"', 'maxx = "1KB"', "expect[0].each[0].maxx: unknown key 'maxx'"),
        ('where.variant = "A"', 'where.varaint = "A"', "'varaint' does not vary"),
        ("each = [{ what", "each = []\nx = [{ what", "expect[0].each: [] is not allowed"),
        (
            "each = [{ what",
            "eahc = [{ what",
            "expect[0].eahc: unknown key 'eahc'\n    allowed: each =",
        ),
    ],
)
def test_what_is_wrong_in_a_row_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """In the words that a single entry would get."""
    text = MINIMAL + EACH.replace(old, new).replace("where = { class = 3 }\n", "")
    told = complaints(tmp_path, text + "[variants.A]\n")
    assert any(message in one for one in told), told


def test_what_is_wrong_in_an_included_file_is_told_with_its_name(tmp_path: Path) -> None:
    """Also with own entries in the same list, and in files that include others."""
    folder = tmp_path / "experiments"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "one.toml").write_text(
        'include = ["two.toml"]\n[buffer]\nalhpa = 1\n[[metric]]\nname = "n"\nkind = "fkt"\n'
    )
    (folder / "parts" / "two.toml").write_text('[port]\ncontrol_dealy = "1us"\n')
    text = 'include = ["parts/one.toml"]\n' + MINIMAL
    text += '[buffer]\nxofff = "1KB"\n[[metric]]\nname = "m"\nkind = "fcct"\n'
    told = [one.split("\n")[0] for one in complaints(tmp_path, text)]
    for place in (
        "experiments/parts/one.toml: buffer.alhpa: unknown",
        "experiments/parts/two.toml: port.control_dealy: unknown",
        "experiments/parts/one.toml: metric[0].kind: unknown metric 'fkt'",
        "experiments/x.toml: buffer.xofff: unknown",
        "experiments/x.toml: metric[0].kind: unknown metric 'fcct'",
    ):
        assert any(one.startswith(place) for one in told), (place, told)
    (folder / "parts" / "two.toml").write_text('include = ["one.toml", "three.toml"]\n')
    told = complaints(tmp_path, text)
    assert "experiments/parts/two.toml: include: one.toml includes itself" in told
    assert any("there is no file 'three.toml' next to it" in one for one in told)
    (folder / "parts" / "two.toml").write_text('include = ["/proc/self/mem"]\n')
    unreadable = "/proc/self/mem (included by experiments/parts/two.toml): cannot be read"
    assert any(one.startswith(unreadable) for one in complaints(tmp_path, text))


def test_a_key_missing_in_an_included_table_may_be_added_in_either_file(tmp_path: Path) -> None:
    """Both are named: nobody looks for the fault of a file in one that others include, too."""
    parts = tmp_path / "experiments" / "parts"
    parts.mkdir(parents=True)
    (parts / "run.toml").write_text("[run]\nseeds = 2\n")
    text = 'include = ["parts/run.toml"]\n' + MINIMAL.replace("duration", "warmup")
    told = "\n".join(complaints(tmp_path, text))
    where = "experiments/parts/run.toml: run.duration: missing"
    assert f"{where}\n    hint: add 'duration = ...' there, or in experiments/x.toml" in told
    (parts / "run.toml").write_text('[[traffic]]\nkind = "greedy"\nsrc = "h0"\n')
    told = "\n".join(complaints(tmp_path, 'include = ["parts/run.toml"]\n' + MINIMAL))
    where = "experiments/parts/run.toml: traffic[0].dst: missing"
    assert told == f"{where}\n    hint: add 'dst = ...'", "an entry is in one file"


def test_a_file_that_several_include_counts_once(tmp_path: Path) -> None:
    """Where it is included first: what lies over it there is not undone by the other way to it."""
    parts = tmp_path / "experiments" / "parts"
    parts.mkdir(parents=True)
    common = 'title = "common"\nquestion = "?"\n[[metric]]\nname = "n"\nkind = "fct"\n'
    (parts / "common.toml").write_text(common)
    (parts / "one.toml").write_text('include = ["common.toml"]\ntitle = "one"\n')
    (parts / "two.toml").write_text('include = ["common.toml", "../parts/common.toml"]\n')
    text = 'include = ["parts/one.toml", "parts/two.toml", "parts/two.toml"]\n'
    found = load(tmp_path, text + MINIMAL.replace('title = "A test"\n', ""))
    assert (found.title, found.question) == ("one", "?")
    assert [metric.name for metric in found.metrics] == ["n"]


def test_includes_end(tmp_path: Path) -> None:
    """Each file that includes the next one twice, more of them than may be, loops of links."""
    folder = tmp_path / "experiments"
    folder.mkdir()
    for number in range(40):
        (folder / f"p{number}.toml").write_text(
            f'include = ["p{number + 1}.toml", "./p{number + 1}.toml"]\n'
        )
    (folder / "p40.toml").write_text('question = "at the end?"\n')
    assert load(tmp_path, 'include = ["p0.toml"]\n' + MINIMAL).question == "at the end?"
    for number in range(MAX_FILES):
        (folder / f"p{number}.toml").write_text(f'include = ["p{number + 1}.toml"]\n')
    (folder / f"p{MAX_FILES}.toml").write_text("")
    [told] = complaints(tmp_path, 'include = ["p0.toml"]\n' + MINIMAL)
    assert told.endswith(
        f"more than {MAX_FILES} files are included\n    allowed: at most 200 files"
    )
    for number in range(4):
        (folder / f"p{number}.toml").write_text("#" * (MAX_TOML // 4))
    text = f"include = {[f'p{number}.toml' for number in range(4)]}\n"
    [told] = complaints(tmp_path, text + MINIMAL)
    assert "it has 8.0 MB\n    allowed: at most 8 MB" in told
    (folder / "loop.toml").symlink_to("loop.toml")
    [told] = complaints(tmp_path, 'include = ["loop.toml"]\n' + MINIMAL)
    assert told == "experiments/x.toml: include: there is no file 'loop.toml' next to it"


def test_a_list_of_set_that_is_none_is_told(tmp_path: Path) -> None:
    """Also where it is laid over an included list of the same name, which it cannot join."""
    folder = tmp_path / "experiments"
    folder.mkdir()
    (folder / "below.toml").write_text('[set]\nbig = ["run.duration=1ms"]\n')
    text = 'include = ["below.toml"]\n' + MINIMAL + '[set]\nbig = [{ value = "x" }]\n'
    [told] = complaints(tmp_path, text)
    assert told.startswith("experiments/x.toml: set.big: [{'value': 'x'}] is not allowed")
    assert "a list of strings" in told


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('[sweep]\n"pfc.refresh_at" = [[{x = 01:02:03}], 0.9]', "sweep.pfc.refresh_at.0.0.x"),
        ("[buffer]\nalpha = 1979-05-27", "buffer.alpha"),
        ("[[traffic]]\nkind = 1979-05-27T07:32:00Z", "traffic.1.kind"),
    ],
)
def test_dates_are_refused_with_their_place(tmp_path: Path, line: str, place: str) -> None:
    """TOML has them; no key of an experiment takes one."""
    [told] = complaints(tmp_path, MINIMAL + line)
    assert told.startswith(f"experiments/x.toml: {place}: ")
    assert "is a date or a time of day" in told
    [told] = complaints(tmp_path, MINIMAL, "buffer.alpha=[01:02:03]")
    assert "is a date or a time of day" in told


@pytest.mark.parametrize("table", sorted(OF_ORACLE))
def test_tables_of_the_oracle_need_it(tmp_path: Path, table: str) -> None:
    """A trace of them and a run without the oracle are refused together, by both keys."""
    text = MINIMAL.replace("[run]", "[run]\noracle = false")
    assert load(tmp_path, text, schema=None).points[0].setting.run.oracle is False
    trace = f'[[trace]]\ntable = "{table}"\n'
    assert load(tmp_path, MINIMAL + trace, schema=None)
    [told] = complaints(tmp_path, text + trace, schema=None)
    assert told.startswith(
        f"experiments/x.toml: trace[0].table: the table {table!r} needs the oracle, and run.oracle"
    )


def test_an_unknown_scheme_is_answered_with_the_folder_of_modules(tmp_path: Path) -> None:
    """Where a module for it would be found."""
    text = 'flow_control = ["zzz"]\n' + MINIMAL
    assert "a module in ns3-modules/ or in PYORCH_MODULE_PATH" in complaints(tmp_path, text)[0]


def test_a_text_for_a_list_is_answered_with_the_list(tmp_path: Path) -> None:
    """As an experiment file writes it."""
    text = MINIMAL + '[[metric]]\nname = "m"\nkind = "fct"\ntraffic = "background"\n'
    told, *_ = complaints(tmp_path, text)
    assert told.endswith("'background' is not allowed\n    allowed: a list, [\"background\"]")


def test_routes_are_one_for_each_host(tmp_path: Path) -> None:
    """[[route]] names a switch, hosts and a neighbour; times are in ps."""
    text = MINIMAL + '[[route]]\nswitch = "s0"\ndst = "h0..h1"\nnext = "h2"\nat = "1us"\n'
    assert form(load(tmp_path, text).points[0])["routes"] == [
        {"switch": "s0", "dst": host, "next": "h2", "at_ps": 10**6, "until_ps": -1}
        for host in ("h0", "h1")
    ]
    for wrong, told in (
        ('next = "h9"', "there is no node 'h9'"),
        ('next = "h2"\nuntil = "1us"', "not after 'at'"),
        ('next = "h2"\ndst = "hx"', "there is no host 'hx'"),
    ):
        changed = text.replace('next = "h2"', wrong)
        changed = changed.replace('dst = "h0..h1"\n', "", wrong.count("dst"))
        assert told in complaints(tmp_path, changed)[0]
    host = text.replace('switch = "s0"', 'switch = "h0"')
    assert "h0 is a host" in complaints(tmp_path, host)[0]


def test_what_no_section_is_called_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep over it is not resolved value by value; one over a key that exists is."""
    resolved: list[Any] = []
    resolve = Resolver.resolve
    monkeypatch.setattr(
        Resolver, "resolve", lambda *given: (resolved.append(given), resolve(*given))[1]
    )
    swept = "bufer.size=" + ",".join(f"{n}MB" for n in range(1, 51))
    told = complaints(tmp_path, MINIMAL, swept, "run.duration=1ms,2ms,3x")
    assert [line for line in told if "unknown section 'bufer'" in line] == told[:1]
    assert any("3x" in line for line in told[1:])
    assert len(resolved) == 3
