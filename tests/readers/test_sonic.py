"""A switch's configuration of SONiC: what maps, and that it can be planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomli

from pyorch.base.errors import UserError
from pyorch.readers.importing import experiment
from pyorch.study import Study

PORTS = 8
CONFIG: dict[str, Any] = {
    "PORT": {f"Ethernet{4 * n}": {"speed": "100000", "lanes": "1,2,3,4"} for n in range(PORTS)},
    "CABLE_LENGTH": {"AZURE": {f"Ethernet{4 * n}": "300m" for n in range(PORTS)}},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "20000000"},
        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "10000000"},
    },
    "BUFFER_PROFILE": {
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "dynamic_th": "3", "size": "0"},
        "pg_lossless_100000_300m_profile": {
            "pool": "ingress_lossless_pool", "xon": "18432", "xon_offset": "2496",
            "xoff": "110592", "dynamic_th": "-3", "size": "18432",
        },
    },
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}, "Ethernet4": {"pfc_enable": "3,4"}},
    "WRED_PROFILE": {
        "AZURE_LOSSLESS": {
            "ecn": "ecn_all", "green_min_threshold": "1048576", "green_max_threshold": "2097152",
            "green_drop_probability": "5",
        }
    },
    "DSCP_TO_TC_MAP": {"AZURE": {"3": "3"}},
    "SCHEDULER": {"scheduler.0": {"type": "DWRR"}},
}  # fmt: skip
LOOKUP = """# speed cable size xon xoff threshold xon_offset
100000 5m 18432 18432 40000 0 2496
100000 300m 18432 18432 120000 -2 2496
400000 5m 37888 18432 90000 0 3584
"""


def _imported(
    folder: Path, content: dict[str, Any], lookup: str = ""
) -> tuple[dict[str, Any], str]:
    files = [folder / "config_db.json"]
    files[0].write_text(json.dumps(content), encoding="utf-8")
    if lookup:
        files.append(folder / "pg_profile_lookup.ini")
        files[1].write_text(lookup, encoding="utf-8")
    text = experiment(files, folder)
    (folder / "my.toml").write_text(text, encoding="utf-8")
    return tomli.loads(text), text


def test_pool_profile_maps_and_marks(tmp_path: Path) -> None:
    """A star of the ports, with buffer, headroom, thresholds and ECN of the switch."""
    table, text = _imported(tmp_path, CONFIG)
    assert table["topology"] == {
        "kind": "star", "hosts": PORTS, "rate": "100Gbps", "delay": "1.5us",
    }  # fmt: skip
    assert table["buffer"] == {
        "lossless_classes": 24, "size": "20MB", "lossy_pool": "0B", "headroom": "108KiB",
        "alpha": 0.125, "xon_offset": "2496B",
    }  # fmt: skip
    assert table["ecn-marking"] == {"kmin": "1MiB", "kmax": "2MiB", "pmax": 0.05}
    assert table["dcqcn"] == {"parameters": "connectx"}  # as a switch does not say
    assert table["traffic"][0]["class"] == 3
    assert "# left out: DSCP_TO_TC_MAP: no port names a map of it" in text
    assert "# left out: SCHEDULER: it has no counterpart" in text
    (spec,) = Study.load(tmp_path / "my.toml").plan().specs
    assert spec.setting.attributes["ns3::lossless::SharedBuffer"]["Headroom"] == "110592"


MAPS: dict[str, Any] = {
    "PORT_QOS_MAP": {
        "Ethernet0": {
            "pfc_enable": "3,4", "dscp_to_tc_map": "AZURE", "pfc_to_queue_map": "AZURE",
            "tc_to_pg_map": "[TC_TO_PRIORITY_GROUP_MAP|AZURE]", "tc_to_queue_map": "AZURE",
        }
    },
    "DSCP_TO_TC_MAP": {
        "AZURE": {"3": "3", "4": "4", "24": "1", "46": "5", "48": "6"},
        "OTHER": {"3": "1"},
    },
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"0": "0", "1": "0", "3": "3", "4": "4"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "1": "1", "3": "3", "5": "4"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "3", "4": "5"}},
}  # fmt: skip


def test_maps_of_classes(tmp_path: Path) -> None:
    """Those that ports name; pairs that change nothing only where they say what is trusted."""
    table, text = _imported(tmp_path, CONFIG | MAPS)
    assert table["agents"] == ["ecn-marking", "tagger"]
    assert table["port"] == {
        "dscp_classes": {"3": 3, "4": 4, "24": 1},  # 46 and 48 lead to 5 and 6 anyway
        "class_groups": {"1": 0},
        "class_queues": {"5": 4},
    }
    assert {key: table["traffic"][0][key] for key in ("class", "dscp")} == {"class": 3, "dscp": 3}
    assert "left out: MAP_PFC_PRIORITY_TO_QUEUE AZURE: here each priority has" in text
    (spec,) = Study.load(tmp_path / "my.toml").plan().specs
    port = spec.setting.attributes["ns3::lossless::Port"]
    assert port["DscpClasses"] == "3=3,4=4,24=1"
    # hosts mark class 3 as 3, not as 24, which leads to class 1
    assert not [one for one in Study.load(tmp_path / "my.toml").remarks_on_plan() if "group" in one]
    dump = "RPG_TIME_RESET_P1 300\nDCE_TCP_G_P1 1019\n"
    (tmp_path / "nic.txt").write_text(dump, encoding="utf-8")
    text = experiment([tmp_path / "config_db.json", tmp_path / "nic.txt"], tmp_path)
    assert tomli.loads(text)["agents"] == ["ecn-marking", "tagger"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("DSCP_TO_TC_MAP", {"AZURE": {"64": "3"}}, "DSCP_TO_TC_MAP|AZURE|64: '64'"),
        ("DSCP_TO_TC_MAP", {"AZURE": {"3": "8"}}, "DSCP_TO_TC_MAP|AZURE|3: '8'"),
        ("TC_TO_QUEUE_MAP", {"MINE": {}}, "PORT_QOS_MAP|Ethernet0|tc_to_queue_map: 'AZURE'"),
    ],
)
def test_maps_that_cannot_be_are_refused(
    tmp_path: Path, key: str, value: dict[str, Any], message: str
) -> None:
    """By table, row and key."""
    with pytest.raises(UserError) as refusal:
        _imported(tmp_path, CONFIG | MAPS | {key: value})
    assert message in refusal.value.render()


def test_a_shared_pool_of_headroom_is_over_subscribed(tmp_path: Path) -> None:
    """Ports share it: the ratio is that of all their headrooms to the pool."""
    pool = {"ingress_lossless_pool": {"size": "20000000", "xoff": "884736"}}
    table, _ = _imported(tmp_path, CONFIG | {"BUFFER_POOL": pool})
    assert table["buffer"]["size"] == "20884736B"
    assert table["buffer"]["headroom_ratio"] == 110_592 * PORTS * 2 / 884_736
    assert table["run"]["allow_loss"] is True
    Study.load(tmp_path / "my.toml").plan()


@pytest.mark.parametrize(("metres", "xoff"), [("5m", 40_000), ("40m", 120_000), ("2000m", 120_000)])
def test_profiles_are_looked_up_by_speed_and_cable(tmp_path: Path, metres: str, xoff: int) -> None:
    """That of the next longer cable, or of the longest."""
    content = {key: of for key, of in CONFIG.items() if key != "BUFFER_PROFILE"}
    content["CABLE_LENGTH"] = {"AZURE": {"Ethernet0": metres}}
    table, _ = _imported(tmp_path, content, LOOKUP)
    assert table["buffer"]["headroom"] == f"{xoff // 1000}KB"


@pytest.mark.parametrize(
    ("content", "lookup", "said"),
    [
        ({"PORT": {}, "BUFFER_POOL": {}}, "", "PORT has 0 ports"),
        ({"PORT": {"a": {"speed": "x"}, "b": {}}}, "", "0 of them with a speed"),
        ({"PORT": {"a": {"speed": "9" * 15}, "b": {}}}, "", "PORT|a|speed: '999"),
        ({"PORT": CONFIG["PORT"]}, "100000 5m 1\n", "pg_profile_lookup.ini: line 1"),
        ({"PORT": CONFIG["PORT"]}, "100000 5m 1 2 x 3\n", "pg_profile_lookup.ini: line 1"),
    ],
)
def test_what_is_no_configuration_is_told(
    tmp_path: Path, content: dict[str, Any], lookup: str, said: str
) -> None:
    """With the file, and its line."""
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, content, lookup)
    assert said in caught.value.render()


def _changed(table: str, key: str, value: str | None, row: str | None = None) -> dict[str, Any]:
    """Return the configuration with another value of a key, in the last row unless one is named."""
    content = json.loads(json.dumps(CONFIG))
    of = content[table][row or list(content[table])[-1]]
    of.pop(key, None)
    of |= {} if value is None else {key: value}
    return dict(content)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("PORT", "speed", "abc"),
        ("PORT", "speed", "0"),
        ("CABLE_LENGTH", "Ethernet0", "5 meters"),
        ("PORT_QOS_MAP", "pfc_enable", "3,9"),
        ("BUFFER_PROFILE", "xoff", "abc"),
        ("BUFFER_PROFILE", "xoff", "-5"),
        ("BUFFER_PROFILE", "xon_offset", "1.5"),
        ("BUFFER_PROFILE", "xon", ""),
        ("BUFFER_PROFILE", "dynamic_th", "99"),
        ("BUFFER_PROFILE", "static_th", "x"),
        ("BUFFER_PROFILE", "pool", "nowhere"),
        ("WRED_PROFILE", "green_min_threshold", "low"),
        ("WRED_PROFILE", "green_max_threshold", "9"),
        ("WRED_PROFILE", "green_drop_probability", "101"),
        ("WRED_PROFILE", "ecn", "perhaps"),
    ],
)
def test_a_value_that_cannot_be_read_is_told(
    tmp_path: Path, table: str, key: str, value: str
) -> None:
    """By table, row and key."""
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, _changed(table, key, value))
    told = caught.value.render()
    assert f"config_db.json: {table}|" in told
    assert f"|{key}: {value!r}" in told
    assert "allowed: " in told


def test_a_pool_has_a_size_and_a_profile_one_threshold(tmp_path: Path) -> None:
    """Neither is skipped: a threshold that is static is one of bytes."""
    for content, said in (
        (_changed("BUFFER_POOL", "size", "lots", "ingress_lossless_pool"), "pool|size: 'lots'"),
        (_changed("BUFFER_PROFILE", "static_th", "9000"), "'dynamic_th and static_th'"),
    ):
        with pytest.raises(UserError) as caught:
            _imported(tmp_path, content)
        assert said in caught.value.render()
    content = _changed("BUFFER_PROFILE", "dynamic_th", None)
    content["BUFFER_PROFILE"]["pg_lossless_100000_300m_profile"]["static_th"] = "90000"
    table, _ = _imported(tmp_path, content)
    buffer = table["buffer"]
    assert (buffer["threshold"], buffer["xoff"], buffer["xon"]) == ("static", "90KB", "87504B")


def test_what_is_absent_is_assumed_and_what_is_not_used_is_told(tmp_path: Path) -> None:
    """Keys of a profile, lengths of cables, and profiles of a file."""
    _, text = _imported(tmp_path, _changed("BUFFER_PROFILE", "xoff", None), LOOKUP)
    assert "# assumed: the profile of 100000 Mb/s and 300 m" in text
    _, text = _imported(tmp_path, CONFIG, LOOKUP)
    assert "# left out: pg_profile_lookup.ini: the configuration has a profile of its own" in text
    _, text = _imported(tmp_path, {"PORT": CONFIG["PORT"]}, LOOKUP)
    assert "# assumed: every cable is 40 m long, 5 ns a metre: CABLE_LENGTH has none" in text
    assert "# left out: pg_profile_lookup.ini: it has no profile of 40 m, but of 300" in text
    slow = {"PORT": {name: {"speed": "25000"} for name in CONFIG["PORT"]}}
    _, text = _imported(tmp_path, slow, LOOKUP)
    assert "# left out: pg_profile_lookup.ini: it has no profile of 25000 Mb/s" in text
    assert "absent or 0 in a lossless profile, so ours: xoff, xon_offset, dynamic_th" in text
    assert "# assumed: the buffer has our size" in text


@pytest.mark.parametrize(
    ("rows", "rate", "said"),
    [
        (  # as the port with as many lanes
            [{"speed": "50000", "lanes": "1,2"}, {"lanes": "3,4"}, {"lanes": "5,6"}],
            "50Gbps",
            "2 have no speed, but that of their lanes or of their alias",
        ),
        (  # as the alias says
            [{"alias": f"fortyGigE0/{n}", "lanes": "1,2,3,4"} for n in range(3)],
            "40Gbps",
            "3 have no speed, but that of their lanes or of their alias",
        ),
        (  # lanes of two speeds tell nothing
            [{"speed": s, "lanes": "1"} for s in ("10000", "25000", "25000")] + [{"lanes": "2"}],
            "25Gbps",
            "also 1 without a speed",
        ),
    ],
)
def test_ports_without_a_speed_have_that_of_their_lanes(
    tmp_path: Path, rows: list[dict[str, str]], rate: str, said: str
) -> None:
    """Or of their alias; what tells nothing is assumed to be the most common one."""
    ports = {f"Ethernet{n}": row for n, row in enumerate(rows)}
    found, text = _imported(tmp_path, {"PORT": ports})
    assert found["topology"]["rate"] == rate
    assert said in text


def test_a_switch_without_any_speed_is_refused_with_what_to_add(tmp_path: Path) -> None:
    """Lanes alone do not say how fast they are."""
    ports = {f"Ethernet{n}": {"lanes": "1,2,3,4", "alias": f"etp{n}"} for n in range(4)}
    with pytest.raises(UserError) as caught:
        _imported(tmp_path, {"PORT": ports})
    assert 'add "speed" to one port' in caught.value.render()
