"""Ports as they are, in experiment files: values by class, single ports, responses by rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.units import format_rate
from pyorch.setting.attributes import catalogue, spell, written
from pyorch.sizing.theory import QUANTUM_BYTES, pause_response, response_quanta
from tests.forms import form
from tests.strategies import MINIMAL, OBEYING, SCHEMA, complaints, load

PORT = "ns3::lossless::Port"
CLASSES = st.sampled_from([str(number) for number in range(8)])


def port_of(folder: Path, text: str) -> dict[str, str]:
    """The attributes of ports in the first setting."""
    found: dict[str, str] = form(load(folder, MINIMAL + text).points[0])["attributes"][PORT]
    return found


def test_values_by_class_are_a_table(tmp_path: Path) -> None:
    """Each has the spelling of a single value; a word of its own may be written in any way."""
    text = '[port]\nclass_service = "dwrr"\nweights = { 4 = 2, 3 = 1000, 7 = "strict" }\n'
    text += 'max_rates = { 0 = "1.5Gbps" }\n'
    assert port_of(tmp_path, text) == {
        "ClassService": "Dwrr",
        "Weights": "3=1000,4=2,7=Strict",
        "MaxRates": "0=1500000000bps",
    }


def test_one_class_can_be_swept(tmp_path: Path) -> None:
    """A key leads into the table."""
    text = MINIMAL + '[port]\nclass_service = "dwrr"\nweights = { 4 = 2 }\n'
    text += '[sweep]\n"port.weights.3" = [1, 5]\n'
    points = load(tmp_path, text).points
    told = [form(point)["attributes"][PORT]["Weights"] for point in points]
    assert told == ["3=1,4=2", "3=5,4=2"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("weights = { 8 = 1 }", "'8' is not a class from 0 to 7"),
        ("weights = { 3 = 0 }", "0 is out of range"),
        ('weights = { 3 = "fair" }', "'fair' is not a whole number"),
        ('weights = "3=1"', "'3=1' is not a table of classes"),
        ('min_rates = { 3 = "strict" }', "'strict'"),
        ('min_rates = { 3 = "1bps" }', "out of range"),
    ],
)
def test_nonsense_by_class_is_refused(tmp_path: Path, line: str, told: str) -> None:
    """With the key, and what is allowed."""
    (problem,) = complaints(tmp_path, f"{MINIMAL}[port]\n{line}")
    assert problem.startswith("experiments/x.toml: port.")
    assert told in problem
    assert "allowed: a table of classes, { 3 = VALUE }; VALUE is" in problem


NODE = "[[node]]\nnames = {names}\nport = {{ {port} }}\n"


@pytest.mark.parametrize(
    ("names", "port", "told"),
    [
        ("", 'min_rates = { 3 = "6Gbps", 4 = "4Gbps" }', None),
        ("", 'min_rates = { 3 = "6Gbps", 4 = "4000001Kbps" }', "10000001kbps together"),
        ('"s0:h2"', 'min_rates = { 3 = "11Gbps" }', "the link of s0:h2 has 10Gbps"),
        (
            "",
            'min_rates = { 3 = "6Gbps" }\nmax_rates = { 3 = "5Gbps", 4 = "1Gbps" }',
            "6Gbps of class 3 is above its maximum at s0:h0, 5Gbps",
        ),
        ("", "weights = { 3 = 2 }", "serves its classes by 'strict'"),
        ('"s0:h2"', 'weights = { 3 = 2 }, class_service = "dwrr"', None),
        ("", 'mtu = "1048B"', None),
        ("", 'mtu = "1047B"', "frames of 1048 B, but h0:s0 takes 1047B"),
        ('["s0:h2", "h2"]', 'mtu = "1047B"', None),  # others take them
        ('"h2"', 'mtu = "9000B"', "9KB at h2:s0, but any at s0:h2"),
        ("", "class_groups = { 3 = 4 }", "nothing applies the map at s0:h0"),
        ('["h1", "h2:s0"]', "class_queues = { 3 = 4 }", "hosts have no maps, and h1 is one"),
    ],
)
def test_ports_that_cannot_be_are_refused(
    tmp_path: Path, names: str, port: str, told: str | None
) -> None:
    """Before the run, at the key that is wrong; what just fits is not."""
    own = NODE.format(names=names, port=port) if names else f"[port]\n{port}\n"
    if told is None:
        load(tmp_path, MINIMAL + own)
        return
    (problem,) = complaints(tmp_path, MINIMAL + own)
    where = "traffic[0]" if "frames of" in told else "node[0].port." if names else "port."
    assert problem.startswith(f"experiments/x.toml: {where}")
    assert told in problem


def test_a_later_entry_mends_or_spoils_a_port(tmp_path: Path) -> None:
    """The section that gives the value is told."""
    good, bad = (f'min_rates = {{ 3 = "{rate}Gbps" }}' for rate in (9, 11))
    ports = MINIMAL + f"[port]\n{bad}\n" + NODE.format(names='"*"', port=good)
    load(tmp_path, ports)
    (problem,) = complaints(tmp_path, ports + NODE.format(names='"s*"', port=bad))
    assert problem.startswith("experiments/x.toml: node[1].port.min_rates: 11Gbps together")


@given(
    st.dictionaries(CLASSES, st.integers(1, 1000) | st.just("strict")),
    st.dictionaries(CLASSES, st.integers(1000, 10**15)),
)
def test_what_is_spelled_is_written_again(weights: dict[str, Any], rates: dict[str, int]) -> None:
    """Into ns-3's spelling and back."""
    types = catalogue(SCHEMA)
    known = types.attributes(types.by_name[PORT])
    text = spell(known["weights"], weights)
    assert written(types, PORT, "Weights", text) == dict(sorted(weights.items()))
    table = {cls: format_rate(rate) for cls, rate in rates.items()}
    text = spell(known["max_rates"], table)
    assert written(types, PORT, "MaxRates", text) == dict(sorted(table.items()))


def test_an_entry_can_name_ports(tmp_path: Path) -> None:
    """By name and pattern, besides nodes, in the order of the network."""
    text = MINIMAL + '[[node]]\nnames = ["s0:h2", "h1", "h*:s0"]\nport = { clock_tolerance = 9 }\n'
    (entry,) = form(load(tmp_path, text).points[0])["nodes"]
    assert entry["nodes"] == ["h1", "h0:s0", "h1:s0", "h2:s0", "s0:h2", "h3:s0"]
    assert entry["attributes"] == {PORT: {"ClockTolerance": "9.0"}}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('names = "s0:h9"\nport = { clock_tolerance = 9 }', "there is no port 's0:h9'"),
        (
            'names = "h0:h1"\nport = { clock_tolerance = 9 }',
            "there is no link between h0",
        ),
        ('names = "s0:h1"\nswitch = { latency = "1us" }', "not to the port s0:h1"),
        ('names = "s0:h1"\nbuffer = { size = "1MB" }', "not to the port s0:h1"),
    ],
)
def test_what_is_no_port_or_not_of_ports_is_refused(tmp_path: Path, entry: str, told: str) -> None:
    """The entry and the section are told."""
    (problem,) = complaints(tmp_path, f"{MINIMAL}[[node]]\n{entry}")
    assert told in problem


def test_a_response_by_rate_counts_into_the_headroom(tmp_path: Path) -> None:
    """At 10G 67 quanta are 4288 B instead of 3840 B; a tester's 3 us are 3750 B, which is less."""
    pfc = 'flow_control = ["pfc"]\n' + MINIMAL + '[buffer]\nheadroom = "5KB"\n[port]\n'
    for line, response in (
        ("", 4288),
        ('pause_response = "802.3"', 4288),
        ('pause_response = "ideal"', 3840),
        ('pause_response = "tester"', 3840),
        ('control_delay = "0us"', 3840),
        ('control_delay = "4us"', 5000),
        ('control_delay = "4us"\npause_response = "802.3"', 5000),
        ('control_delay = "1us"\npause_response = "802.3"', 4288),
    ):
        (told,) = complaints(tmp_path, pfc + line, schema=OBEYING)
        assert f"eta' = {9608 - 3840 + response} B or more" in told, line


def test_pauses_are_obeyed_as_late_as_the_standard_allows(tmp_path: Path) -> None:
    """Unless the file says how late; ideal ports have the attributes that they had before."""

    def of(text: str) -> tuple[Any, Any]:
        shape = form(load(tmp_path, MINIMAL + text, schema=OBEYING).points[0])
        nodes = [entry["attributes"][PORT] for entry in shape["nodes"]]
        return shape["attributes"].get(PORT), nodes

    late, exact = {"PauseResponse": "802.3"}, {"ControlDelay": "1000000ps"}
    assert of("") == (late, [])
    assert of('[port]\npause_response = "ideal"') == (None, [])
    assert of('[port]\ncontrol_delay = "1us"') == (exact, [])
    assert of('[port]\ncontrol_delay = "1us"\npause_response = "802.3"') == (late | exact, [])
    node = '[[node]]\nnames = "s0"\nport = { control_delay = "1us" }\n'
    assert of(node) == (late, [exact | {"PauseResponse": "Ideal"}])
    assert of('[port]\npause_response = "ideal"\n' + node) == (None, [exact])
    of_clock = node.replace('control_delay = "1us"', "clock_tolerance = 9")
    assert of(of_clock) == (late, [{"ClockTolerance": "9.0"}])


@pytest.mark.parametrize(
    ("gigabits", "bytes_then"),
    [(25, 5120), (40, 7552), (100, 25_216), (200, 28_992), (400, 57_920)],
)
def test_the_response_is_that_of_the_standard(gigabits: int, bytes_then: int) -> None:
    """As public reports on headroom quote it."""
    rate = gigabits * 10**9
    assert response_quanta(rate) * QUANTUM_BYTES == bytes_then
    assert pause_response("802.3", rate) == bytes_then * 8 * 1000 // gigabits


def test_a_rate_that_the_standard_lacks_has_the_quanta_of_the_next_faster_one() -> None:
    """So that no response is shorter than allowed; above 800 Gb/s those of 800 Gb/s."""
    assert [response_quanta(rate) for rate in (1, 10**9 + 1, 33 * 10**9)] == [1, 67, 118]
    assert response_quanta(16 * 10**11) == response_quanta(8 * 10**11) == 905


def test_starts_are_jittered_from_the_seed(tmp_path: Path) -> None:
    """Within the bound, different, the same for a seed; the flows themselves stay."""
    from pyorch.traffic.base import draws, flows

    def of(text: str, seed: int) -> Any:
        point = load(tmp_path, MINIMAL + text).points[0]
        assert draws(point.setting.traffic, point.network, 10**9) == ("jitter" in text)
        return flows(point.setting.traffic, point.network, seed, 10**9)

    late = 'start = "5us"\nstart_jitter = "3us"\n'
    first, again, other = (of(late, seed).starts for seed in (1, 1, 2))
    assert ((first >= 5_000_000) & (first <= 8_000_000)).all()
    assert first.tolist() == again.tolist() != other.tolist()
    assert len(set(first.tolist())) == 2
    assert of("", 1).src.tolist() == of(late, 1).src.tolist()
    (told,) = complaints(tmp_path, MINIMAL + 'start = "999us"\nstart_jitter = "1us"\n')
    assert "a flow starts at or after the end" in told
    (told,) = complaints(tmp_path, MINIMAL + 'stop = "2us"\nstart_jitter = "2us"\n')
    assert "a flow may start at or after its stop" in told


def test_a_port_of_several_links_is_named_by_those_of_its_switch(tmp_path: Path) -> None:
    """And not by a port of another switch, whose name is near."""
    network = 'kind = "leaf_spine"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nlinks_per_spine = 2'
    text = MINIMAL.replace('kind = "star"\nhosts = 4', network)
    entry = '[[node]]\nnames = "leaf1:spine0#3"\nport = { clock_tolerance = 9 }\n'
    (problem,) = complaints(tmp_path, text + entry)
    assert "2 links lead from leaf1 to spine0: spine0#3 is none of them" in problem
    assert "spine0#1, spine0#2" in problem
