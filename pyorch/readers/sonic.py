"""A switch's configuration of SONiC: ports, buffer pool and profiles, PFC and WRED.

`config_db.json` is one JSON table. `pg_profile_lookup.ini` has a line for each speed and cable: its
profile is used where the configuration has none of its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError, one_of, refusal
from pyorch.base.reading import read_json, read_text, words_of
from pyorch.base.units import PS_PER_METRE, format_bytes, format_rate, format_time
from pyorch.readers.records import Settings

_TABLES = ("PORT", "BUFFER_POOL", "BUFFER_PROFILE")
_USED = {
    "PORT", "CABLE_LENGTH", "BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "TC_TO_DSCP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}  # fmt: skip
_MAPS = {
    "dscp_to_tc_map": ("DSCP_TO_TC_MAP", "dscp_classes", 64, 8),
    "tc_to_pg_map": ("TC_TO_PRIORITY_GROUP_MAP", "class_groups", 8, 8),
    "tc_to_queue_map": ("TC_TO_QUEUE_MAP", "class_queues", 8, 8),
    "tc_to_dscp_map": ("TC_TO_DSCP_MAP", "class_marks", 8, 64),
}
"""By key of a port's maps: their table, our key, and how many keys and values it has."""
_FIXED = {
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}
"""Maps that here always lead from a number to itself."""
_HEAD = (
    "speed cable size xon xoff threshold xon_offset, such as 100000 40m 18432 18432 61440 0 2496"
)
_NEAR = re.compile("BUFFER|MAP|PFC|QUEUE|SCHEDULER|TRIMMING|WRED")
"""Names of tables that say something of queues."""
_METRES = re.compile(r"(\d{1,6})m", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,15}", re.ASCII)
_ECN = re.compile(r"ecn_(none|all|(green|yellow|red)(_(yellow|red)){0,2})")
_ALIAS = re.compile(r"([A-Za-z]+)GigE", re.ASCII)
_ALIASES = {
    "ten": 10_000, "twentyfive": 25_000, "forty": 40_000, "fifty": 50_000, "hundred": 100_000,
    "twohundred": 200_000, "fourhundred": 400_000, "eighthundred": 800_000,
}  # fmt: skip
"""Speeds [Mb/s] by the word before GigE in the alias of a port."""
MOST_PORTS = 4096
_MOST = 10**12
"""Largest number of bytes."""
Table = Mapping[str, Mapping[str, Any]]
Profile = tuple[str, Mapping[str, Any]]
"""A profile of a buffer, behind the place where it is."""


@dataclass
class _Switch:
    """A configuration while it is read: what is found so far, and values that cannot be read."""

    label: str
    found: Settings = field(default_factory=Settings)
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, where: str, value: object, allowed: str) -> None:
        self.problems.append(Problem(where, repr(str(value)[:80]), allowed))

    def number(
        self, where: str, row: Mapping[str, Any], key: str, least: int = 0, most: int = _MOST
    ) -> int | None:
        """Return the number of a key; None if it is absent, or wrong, which is noted."""
        if key not in row:
            return None
        text = str(row[key])
        if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
            self.wrong(f"{where}|{key}", row[key], f"whole numbers, {least} to {most}")
            return None
        return int(text)

    def most_common(self, what: str, values: Counter[Any]) -> Any:
        """Return the most common of some values; the others are left out."""
        most = values.most_common(1)[0][0]
        others = sorted(set(values) - {most})
        if others:
            self.found.left_out.append(f"other {what}: {', '.join(map(str, others))}")
        return most


OUR_SENDERS = "senders have DCQCN, with the parameters of ConnectX: a switch does not say"
"""What is assumed unless a NIC says it."""


def is_config(content: object) -> bool:
    """Whether JSON is a configuration of a switch."""
    return isinstance(content, dict) and any(
        isinstance(content.get(name), dict) for name in _TABLES
    )


def read(file: Path, lookup: Path | None = None) -> Settings:
    """Return what maps, with a star of the switch's ports. lookup: the file of profiles, if any.

    Raises UserError that names every value that cannot be read, by table, row and key.
    """
    switch = _Switch(file.name)
    found = switch.found
    tables = _tables(switch, read_json(file, file.name))
    ports = tables.get("PORT", {})
    speed = _speed(switch, ports)
    cable = _cable(switch, tables.get("CABLE_LENGTH", {}))
    found.network = {
        "kind": "star",
        "hosts": len(ports),
        "rate": format_rate(speed * 10**6),
        "delay": format_time(cable * PS_PER_METRE),
    }
    classes = _classes(switch, tables.get("PORT_QOS_MAP", {}))
    profile = _profile(switch, tables.get("BUFFER_PROFILE", {}), (speed, cable))
    if lookup is not None and profile is not None:
        found.left_out.append(f"{lookup.name}: the configuration has a profile of its own")
    elif lookup is not None:
        profile = _looked_up(switch, lookup, (speed, cable))
    _buffer(switch, tables.get("BUFFER_POOL", {}), profile or ("", {}), len(ports) * classes)
    _marking(switch, tables.get("WRED_PROFILE", {}))
    _maps(switch, tables)
    others = sorted(set(tables) - _USED)
    near = [name for name in others if _NEAR.search(name)]
    found.left_out += [f"{name}: it has no counterpart" for name in near]
    if len(others) > len(near):
        found.left_out.append(f"{len(others) - len(near)} tables that say nothing of queues")
    if switch.problems:
        raise UserError(switch.problems)
    return found


def _tables(switch: _Switch, content: object) -> dict[str, Table]:
    """Return the tables of a configuration, those that are used of rows alone."""
    tables: dict[str, Table] = {}
    for name, of in content.items() if isinstance(content, dict) else ():
        rows = of if isinstance(of, dict) else {}
        tables[name] = {key: row for key, row in rows.items() if isinstance(row, dict)}
        if name in _USED and (rows is not of or len(tables[name]) < len(rows)):
            switch.wrong(f"{switch.label}: {name}", of, '{"row": {"key": "value"}, ...}')
    return tables


def _speed(switch: _Switch, ports: Table) -> int:
    """Return the most common speed of ports [Mb/s]. Raises UserError if there is none."""
    at = f"{switch.label}: PORT|"
    given = {name: switch.number(at + name, row, "speed", 1, 10**8) for name, row in ports.items()}
    of_lanes: dict[int, set[int]] = defaultdict(set)
    for name, number in given.items():
        if number is not None:
            of_lanes[_lanes(ports[name])].add(number)
    told = {name: _told(row, of_lanes) for name, row in ports.items() if "speed" not in row}
    speeds = Counter(one for one in {**given, **told}.values() if one is not None)
    if not 2 <= len(ports) <= MOST_PORTS or not speeds:
        what = f"PORT has {len(ports)} ports, {sum(speeds.values())} of them with a speed"
        allowed = f'2 to {MOST_PORTS} ports, {{"Ethernet0": {{"speed": "100000"}}}} in Mb/s'
        hint = 'add "speed" to one port: others with as many lanes then have the same'
        hinted = hint if len(ports) > 1 and not switch.problems else None
        raise UserError([*switch.problems, Problem(switch.label, what, allowed, hinted)])
    speed: int = switch.most_common("speeds of ports [Mb/s]", speeds)
    star = f"a star: a host on each of the {len(ports)} ports, at {speed} Mb/s"
    inferred = sum(one is not None for one in told.values())
    if inferred:
        star += f"; {inferred} have no speed, but that of their lanes or of their alias"
    if len(told) > inferred:
        star += f", also {len(told) - inferred} without a speed"
    switch.found.assumed.append(star)
    return speed


def _lanes(row: Mapping[str, Any]) -> int:
    """Return how many lanes a port has; 0 if it does not say."""
    text = str(row.get("lanes", ""))
    return text.count(",") + 1 if text else 0


def _told(row: Mapping[str, Any], of_lanes: Mapping[int, set[int]]) -> int | None:
    """Return the speed of a port by its lanes, or by its alias, such as fortyGigE0/4 [Mb/s].

    None if neither tells, also where ports with as many lanes have several speeds. of_lanes: speeds
    of ports by their number of lanes.
    """
    alike = of_lanes.get(_lanes(row), set()) if _lanes(row) else set()
    if len(alike) == 1:
        return next(iter(alike))
    alias = _ALIAS.match(str(row.get("alias", "")))
    return _ALIASES.get(alias[1].lower()) if alias else None


def _cable(switch: _Switch, table: Table) -> int:
    """Return the most common length of cable [m]; 40 if there is none."""
    lengths: Counter[int] = Counter()
    for name, row in table.items():
        for port, text in row.items():
            match = _METRES.fullmatch(str(text))
            if match is None:
                where = f"{switch.label}: CABLE_LENGTH|{name}|{port}"
                switch.wrong(where, text, "whole metres, such as 40m; 0m where there is no cable")
            elif int(match[1]):
                lengths[int(match[1])] += 1
    length: int = switch.most_common("lengths of cable [m]", lengths) if lengths else 40
    told = "" if lengths else ": CABLE_LENGTH has none"
    switch.found.assumed.append(f"every cable is {length} m long, 5 ns a metre{told}")
    return length


def _classes(switch: _Switch, table: Table) -> int:
    """Note which classes are lossless; return how many."""
    enabled: Counter[str] = Counter()
    for name, row in table.items():
        text = str(row.get("pfc_enable", ""))
        if text and not set(text.split(",")) <= set("01234567"):
            where = f"{switch.label}: PORT_QOS_MAP|{name}|pfc_enable"
            switch.wrong(where, text, "classes from 0 to 7, such as 3,4")
        elif text:
            enabled[text] += 1
    if not enabled:
        switch.found.assumed.append("class 3 is lossless: PORT_QOS_MAP enables PFC for none")
        return 1
    text = switch.most_common("pfc_enable of ports", enabled)
    classes = [int(one) for one in text.split(",")]
    mask = sum(1 << one for one in set(classes))
    switch.found.put("buffer", "lossless_classes", mask, f"pfc_enable {text}")
    switch.found.entry["class"] = classes[0]
    return len(set(classes))


def _maps(switch: _Switch, tables: Mapping[str, Table]) -> None:
    """Note the maps of classes that most ports have."""
    found = switch.found
    for key, (table, ours, count, values) in _MAPS.items():
        name, row = _map_of(switch, tables, key, table)
        own = {
            int(one): number
            for one in row
            if (number := _mapped(switch, (table, name), row, one, (count, values))) is not None
        }
        usual = {one: one // 8 if count > values else one for one in range(count)}
        told = own if values > count else {k: v for k, v in sorted(own.items()) if v != usual[k]}
        told = told or dict(list(own.items())[: count > values])  # one says that they are trusted
        if told:
            found.put("port", ours, {str(k): v for k, v in told.items()}, f"{table} {name}")
            agents = found.at_top.setdefault("agents", [])
            agents += [] if "tagger" in agents else ["tagger"]
    for key, table in _FIXED.items():
        name, row = _map_of(switch, tables, key, table)
        if any(str(one) != str(value) for one, value in row.items()):
            found.left_out.append(f"{table} {name}: here each priority has the queue of its number")
    _marked(switch)


def _map_of(
    switch: _Switch, tables: Mapping[str, Table], key: str, table: str
) -> tuple[str, Mapping[str, Any]]:
    """Return the map that most ports name by a key, and its name; an empty one if none does."""
    rows, names = tables.get(table, {}), Counter[str]()
    for port, row in tables.get("PORT_QOS_MAP", {}).items():
        if key in row:
            name = str(row[key]).removeprefix(f"[{table}|").removesuffix("]")
            if name in rows:
                names[name] += 1
            else:
                where = f"{switch.label}: PORT_QOS_MAP|{port}|{key}"
                switch.wrong(where, row[key], one_of(rows) or f"none: {table} is empty")
    if not names:
        if rows:
            switch.found.left_out.append(f"{table}: no port names a map of it")
        return "", {}
    name = switch.most_common(f"{key} of ports", names)
    return name, rows[name]


def _mapped(
    switch: _Switch, place: tuple[str, str], row: Mapping[str, Any], key: str, most: tuple[int, int]
) -> int | None:
    """Return what a key is mapped to; None if the pair cannot be, which is noted."""
    where = f"{switch.label}: {'|'.join(place)}|{key}"
    if not _NUMBER.fullmatch(key) or not 0 <= int(key) < most[0]:
        switch.wrong(where, key, f"keys from 0 to {most[0] - 1}")
        return None
    return switch.number(where.rpartition("|")[0], row, key, 0, most[1] - 1)


def _marked(switch: _Switch) -> None:
    """Let traffic have the code point of its class."""
    trusted, _ = switch.found.sections.get("port", {}).get("dscp_classes", ({}, ""))
    cls = switch.found.entry.get("class")
    if not trusted or cls is None or trusted.get(str(8 * cls), cls) == cls:
        return
    marks = [int(dscp) for dscp, to in trusted.items() if to == cls]
    marks += [dscp for dscp in range(8 * cls, 8 * cls + 8) if str(dscp) not in trusted]
    if marks:
        switch.found.entry["dscp"] = min(marks)
    else:
        switch.found.assumed.append(f"no code point leads to class {cls}: traffic is in another")


def _profile(switch: _Switch, table: Table, port: tuple[int, int]) -> Profile | None:
    """Return the lossless profile of a port: that of its speed and cable, else the first."""
    lossless = [name for name, row in table.items() if "xoff" in row]
    own = f"pg_lossless_{port[0]}_{port[1]}m"
    name = next((one for one in lossless if one.startswith(own)), next(iter(lossless), None))
    others = len(table) - (name is not None)
    if others:
        switch.found.left_out.append(f"{others} other profiles of BUFFER_PROFILE")
    if name is None:
        return None
    if not name.startswith(own):
        switch.found.assumed.append(f"the lossless profile is {name}: there is no {own}...")
    return f"{switch.label}: BUFFER_PROFILE|{name}", table[name]


def _looked_up(switch: _Switch, lookup: Path, port: tuple[int, int]) -> Profile | None:
    """Return the profile of a speed and the cable next in length. Raises UserError."""
    label = lookup.name
    rows: dict[int, Profile] = {}
    for number, words in words_of(read_text(lookup, label), "#"):
        where = f"{label}: line {number}"
        match = _METRES.fullmatch(words[1]) if len(words) in (6, 7) else None
        if not match or not all(_NUMBER.fullmatch(word) for word in [words[0], *words[2:]]):
            raise refusal(where, "it is not a profile", _HEAD)
        if int(words[0]) == port[0]:
            keys = ("size", "xon", "xoff", "dynamic_th", "xon_offset")
            if int(match[1]) in rows:
                switch.wrong(where, " ".join(words[:2]), "each speed and cable once")
            rows[int(match[1])] = where, dict(zip(keys, words[2:], strict=False))
    if not rows:
        switch.found.left_out.append(f"{label}: it has no profile of {port[0]} Mb/s")
        return None
    length = min(rows, key=lambda metres: (metres < port[1], abs(metres - port[1])))
    switch.found.assumed.append(f"the profile of {port[0]} Mb/s and {length} m in {label}")
    if length != port[1]:
        switch.found.left_out.append(f"{label}: it has no profile of {port[1]} m, but of {length}")
    return rows[length]


def _buffer(switch: _Switch, pools: Table, profile: Profile, queues: int) -> None:
    """Note the buffer, the headroom of each queue, and thresholds."""
    found, (where, row) = switch.found, profile
    named = str(row.get("pool", "ingress_lossless_pool"))
    name = named.removeprefix("[BUFFER_POOL|").removesuffix("]")
    if "pool" in row and name not in pools:
        switch.wrong(f"{where}|pool", named, one_of(pools) or "none: BUFFER_POOL is empty")
    pool, at = pools.get(name, {}), f"{switch.label}: BUFFER_POOL|{name}"
    size, shared = switch.number(at, pool, "size", 1), switch.number(at, pool, "xoff") or 0
    xoff = switch.number(where, row, "xoff")
    if size is None:
        found.assumed.append(f"the buffer has our size: {name} has none")
    else:
        origin = f"{name}: size" + (" and xoff" if shared else "")
        found.put("buffer", "size", format_bytes(size + shared), origin)
        found.put("buffer", "lossy_pool", "0B", "the pool of lossless classes alone")
    if set(pools) - {name}:
        found.left_out.append(f"other pools: {one_of(sorted(set(pools) - {name}))}")
    if xoff:
        found.put("buffer", "headroom", format_bytes(xoff), "xoff of the lossless profile")
        if shared and xoff * queues > shared:
            ratio = math.floor(xoff * queues / shared * 1000) / 1000
            found.put("buffer", "headroom_ratio", ratio, f"{queues} queues share {shared} B")
            found.put("run", "allow_loss", True, "their headroom is over-subscribed")
    _thresholds(switch, profile)
    ours = [*([] if xoff else ["xoff"]), *([] if "xon_offset" in row else ["xon_offset"])]
    ours += [] if {"dynamic_th", "static_th"} & set(row) else ["dynamic_th"]
    if ours:
        found.assumed.append(f"absent or 0 in a lossless profile, so ours: {', '.join(ours)}")


def _thresholds(switch: _Switch, profile: Profile) -> None:
    """Note where a queue pauses and resumes."""
    found, (where, row) = switch.found, profile
    power = switch.number(where, row, "dynamic_th", -8, 8)
    static = switch.number(where, row, "static_th", 1)
    offset = switch.number(where, row, "xon_offset", 0, static or _MOST)
    if {"dynamic_th", "static_th"} <= set(row):
        switch.wrong(where, "dynamic_th and static_th", "one of them")
    if power is not None:
        found.put("buffer", "alpha", 2.0**power, f"2^dynamic_th, {power}")
    if static is not None:
        found.put("buffer", "threshold", "static", "static_th")
        found.put("buffer", "xoff", format_bytes(static), "static_th")
        found.put("buffer", "xon", format_bytes(static - (offset or 0)), "xon_offset below it")
    elif offset is not None:
        found.put("buffer", "xon_offset", format_bytes(offset), "xon_offset")
    xon, reserved = switch.number(where, row, "xon"), switch.number(where, row, "size")
    if xon:
        found.left_out.append(f"xon {xon}: a queue resumes by xon_offset alone")
    if reserved:
        found.left_out.append(f"size {reserved} of the profile: no queue has a part of its own")


def _marking(switch: _Switch, profiles: Table) -> None:
    """Note where the first profile with ECN marks."""
    found = switch.found
    for name, row in profiles.items():
        where, ecn = f"{switch.label}: WRED_PROFILE|{name}", str(row.get("ecn", "ecn_none"))
        keys = ("green_min_threshold", "green_max_threshold")
        low, high = (switch.number(where, row, key, 1) for key in keys)
        percent = switch.number(where, row, "green_drop_probability", 0, 100)
        if not _ECN.fullmatch(ecn):
            switch.wrong(f"{where}|ecn", ecn, "ecn_none, ecn_all, ecn_green, ecn_green_yellow, ...")
        if "ecn-marking" in found.sections or not ("green" in ecn or "all" in ecn):
            found.left_out.append(f"WRED_PROFILE {name}: no green frames, or a second that marks")
            continue
        if low is None or high is None:
            found.left_out.append(f"WRED_PROFILE {name}: it needs {' and '.join(keys)}")
            continue
        if high < low:
            switch.wrong(f"{where}|{keys[1]}", high, f"{keys[0]}, {low}, or more")
        found.at_top |= {"agents": ["ecn-marking"], "congestion_control": "dcqcn"}
        found.assumed.append(OUR_SENDERS)
        found.put("dcqcn", "parameters", "connectx", "a switch does not say")
        found.put("ecn-marking", "kmin", format_bytes(low), f"green_min_threshold of {name}")
        found.put("ecn-marking", "kmax", format_bytes(high), "green_max_threshold")
        if percent is None:
            found.assumed.append(f"the largest share of marks is ours: {name} does not say")
        else:
            share = float(Decimal(percent) / 100)
            found.put("ecn-marking", "pmax", share, "green_drop_probability")
        if any(key.startswith(("yellow_", "red_")) for key in row):
            found.left_out.append(f"WRED_PROFILE {name}: thresholds of yellow and red frames")
