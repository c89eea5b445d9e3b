"""A switch's configuration of SONiC: ports, buffer pool and profiles, PFC and WRED.

`config_db.json` is one JSON table. `pg_profile_lookup.ini` has a line for each speed and cable: its
profile is used where the configuration has none of its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError
from pyorch.base.reading import read_json, read_text, words_of
from pyorch.base.units import PS_PER_METRE, format_bytes, format_rate, format_time, whole
from pyorch.readers.records import Settings

_TABLES = ("PORT", "BUFFER_POOL", "BUFFER_PROFILE")
_USED = {
    "PORT", "CABLE_LENGTH", "BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "PORT_QOS_MAP",
}  # fmt: skip
_HEAD = (
    "speed cable size xon xoff threshold xon_offset, such as 100000 40m 18432 18432 61440 0 2496"
)
_NEAR = re.compile("BUFFER|MAP|PFC|QUEUE|SCHEDULER|TRIMMING|WRED")
"""Names of tables that say something of queues."""
_METRES = re.compile(r"(\d{1,6})m")
MOST_PORTS = 4096
Table = Mapping[str, Mapping[str, Any]]


def is_config(content: object) -> bool:
    """Whether JSON is a configuration of a switch."""
    return isinstance(content, dict) and any(
        isinstance(content.get(name), dict) for name in _TABLES
    )


def read(file: Path, lookup: Path | None = None) -> Settings:
    """Return what maps, with a star of the switch's ports. lookup: the file of profiles, if any.

    Raises UserError.
    """
    label = file.name
    content = read_json(file, label)
    tables = {
        name: {key: row for key, row in of.items() if isinstance(row, dict)}
        for name, of in (content.items() if isinstance(content, dict) else ())
        if isinstance(of, dict)
    }
    found = Settings()
    ports = tables.get("PORT", {})
    speeds = Counter(
        speed for row in ports.values() if (speed := whole(str(row.get("speed", "")))) is not None
    )
    if not 2 <= len(ports) <= MOST_PORTS or not speeds or max(speeds) > 10**8 or min(speeds) < 1:
        what = f"PORT has {len(ports)} ports, {sum(speeds.values())} of them with a speed"
        allowed = f'2 to {MOST_PORTS} ports, {{"Ethernet0": {{"speed": "100000"}}}} in Mb/s'
        raise UserError([Problem(label, what, allowed)])
    speed = speeds.most_common(1)[0][0]
    cable = _cable(tables.get("CABLE_LENGTH", {}))
    found.network = {
        "kind": "star",
        "hosts": len(ports),
        "rate": format_rate(speed * 10**6),
        "delay": format_time(cable * PS_PER_METRE),
    }
    found.assumed.append(f"a star: a host on each of the {len(ports)} ports, at {speed} Mb/s")
    found.assumed.append(f"every cable is {cable} m long, 5 ns a metre")
    if len(speeds) > 1:
        found.left_out.append(f"ports of other speeds: {sorted(set(speeds) - {speed})} Mb/s")
    classes = _classes(found, tables.get("PORT_QOS_MAP", {}))
    profile = _profile(tables.get("BUFFER_PROFILE", {}), (speed, cable))
    if profile is None and lookup is not None:
        profile = _looked_up(lookup, (speed, cable), found)
    _buffer(found, tables.get("BUFFER_POOL", {}), profile or {}, len(ports) * classes)
    _marking(found, tables.get("WRED_PROFILE", {}))
    others = sorted(set(tables) - _USED)
    near = [name for name in others if _NEAR.search(name)]
    found.left_out += [f"{name}: it has no counterpart" for name in near]
    if len(others) > len(near):
        found.left_out.append(f"{len(others) - len(near)} tables that say nothing of queues")
    return found


def _cable(tables: Table) -> int:
    """Return the most common length of cable [m]; 40 if there is none."""
    lengths = Counter(
        int(match[1])
        for row in tables.values()
        for text in row.values()
        if (match := _METRES.fullmatch(str(text))) and int(match[1])
    )
    return lengths.most_common(1)[0][0] if lengths else 40


def _classes(found: Settings, table: Table) -> int:
    """Note which classes are lossless; return how many."""
    enabled = Counter(str(row.get("pfc_enable", "")) for row in table.values())
    text = enabled.most_common(1)[0][0] if enabled else ""
    classes = [int(one) for one in text.split(",") if one in tuple("01234567")]
    if not classes:
        found.assumed.append("class 3 is lossless: PORT_QOS_MAP enables PFC for none")
        return 1
    mask = sum(1 << one for one in set(classes))
    found.put("buffer", "lossless_classes", mask, f"pfc_enable {text}")
    found.traffic_class = classes[0]
    return len(set(classes))


def _profile(table: Table, port: tuple[int, int]) -> Mapping[str, Any] | None:
    """Return the lossless profile of a port: that of its speed and cable, else the first."""
    lossless = {name: row for name, row in table.items() if "xoff" in row and "xon" in row}
    own = f"pg_lossless_{port[0]}_{port[1]}m"
    return next((row for name, row in lossless.items() if name.startswith(own)), None) or next(
        iter(lossless.values()), None
    )


def _looked_up(lookup: Path, port: tuple[int, int], found: Settings) -> Mapping[str, Any] | None:
    """Return the profile of a speed and the cable next in length. Raises UserError."""
    label = lookup.name
    rows: dict[int, dict[str, str]] = {}
    for number, words in words_of(read_text(lookup, label), "#"):
        match = _METRES.fullmatch(words[1]) if len(words) in (6, 7) else None
        good = match and all(re.fullmatch(r"-?\d{1,12}", word) for word in [words[0], *words[2:]])
        if not match or not good:
            raise UserError([Problem(f"{label}: line {number}", "it is not a profile", _HEAD)])
        if int(words[0]) == port[0]:
            keys = ("size", "xon", "xoff", "dynamic_th", "xon_offset")
            rows[int(match[1])] = dict(zip(keys, words[2:], strict=False))
    if not rows:
        return None
    length = min(rows, key=lambda metres: (metres < port[1], abs(metres - port[1])))
    found.assumed.append(f"the profile of {port[0]} Mb/s and {length} m in {label}")
    return rows[length]


def _number(row: Mapping[str, Any], key: str) -> int | None:
    return whole(str(row.get(key, "")))


def _buffer(found: Settings, pools: Table, profile: Mapping[str, Any], queues: int) -> None:
    """Note the buffer, the headroom of each queue, and thresholds."""
    pool = pools.get("ingress_lossless_pool", {})
    size, shared = _number(pool, "size"), _number(pool, "xoff") or 0
    xoff = _number(profile, "xoff")
    if size:
        origin = "ingress_lossless_pool: size" + (" and xoff" if shared else "")
        found.put("buffer", "size", format_bytes(size + shared), origin)
        found.put("buffer", "lossy_pool", "0B", "the pool of lossless classes alone")
    if xoff:
        found.put("buffer", "headroom", format_bytes(xoff), "xoff of the lossless profile")
        if shared and xoff * queues > shared:
            ratio = math.floor(xoff * queues / shared * 1000) / 1000
            found.put("buffer", "headroom_ratio", ratio, f"{queues} queues share {shared} B")
            found.put("run", "allow_loss", True, "their headroom is over-subscribed")
    threshold = str(profile.get("dynamic_th", ""))
    if re.fullmatch(r"-?\d", threshold):
        found.put("buffer", "alpha", 2.0 ** int(threshold), f"2^dynamic_th, {threshold}")
    offset = _number(profile, "xon_offset")
    if offset:
        found.put("buffer", "xon_offset", format_bytes(offset), "xon_offset")
    if profile and _number(profile, "xon"):
        found.left_out.append(f"xon {profile['xon']}: a queue resumes by xon_offset alone")


def _marking(found: Settings, profiles: Table) -> None:
    """Note where the first profile with ECN marks."""
    for name, row in profiles.items():
        low, high = _number(row, "green_min_threshold"), _number(row, "green_max_threshold")
        percent = _number(row, "green_drop_probability")
        if not str(row.get("ecn", "")).startswith("ecn") or not low or not high or high < low:
            continue
        found.at_top["agents"] = ["ecn-marking"]
        found.at_top["congestion_control"] = "dcqcn"
        found.assumed.append("senders have DCQCN, with our parameters: a switch does not say")
        found.put("ecn-marking", "kmin", format_bytes(low), f"green_min_threshold of {name}")
        found.put("ecn-marking", "kmax", format_bytes(high), "green_max_threshold")
        if percent is not None and percent <= 100:
            share = float(Decimal(percent) / 100)
            found.put("ecn-marking", "pmax", share, "green_drop_probability")
        return
