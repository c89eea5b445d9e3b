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
    assert table["traffic"][0]["class"] == 3
    assert "# left out: DSCP_TO_TC_MAP" in text
    (spec,) = Study.load(tmp_path / "my.toml").plan().specs
    assert spec.setting.attributes["ns3::lossless::SharedBuffer"]["Headroom"] == "110592"


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
        ({"PORT": {"a": {"speed": "9" * 15}, "b": {}}}, "", "1 of them with a speed"),
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
