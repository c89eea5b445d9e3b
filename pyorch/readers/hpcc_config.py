"""The configuration file of the HPCC simulator's family: lines of a key and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

from pyorch.base.errors import Problem, UserError
from pyorch.base.reading import read_text, words_of
from pyorch.base.units import (
    MAX_TIME,
    format_bytes,
    format_rate,
    format_time,
    is_number,
    parse_rate,
    whole,
)
from pyorch.readers.records import Settings

CONTROLS = {"1": "dcqcn", "3": "hpcc", "7": "timely", "8": "dctcp"}
"""Congestion controls by CC_MODE."""
_MARKED = ("dcqcn", "dctcp")
_MIB, _KB = 1 << 20, 1000
_OUTPUT = "what it writes is not what is simulated"
_LEFT_OUT = {
    "L2_CHUNK_SIZE": "acknowledgements are by packets",
    "LINK_DOWN": "write it as [[topology.failures]]",
    "TRACE_FILE": _OUTPUT,
    "TRACE_OUTPUT_FILE": _OUTPUT,
    "FCT_OUTPUT_FILE": _OUTPUT,
    "PFC_OUTPUT_FILE": _OUTPUT,
    "QLEN_MON_FILE": _OUTPUT,
    "QLEN_MON_START": _OUTPUT,
    "QLEN_MON_END": _OUTPUT,
    "ENABLE_TRACE": _OUTPUT,
}
"""Keys that are known, and why they are not used."""


def _number(text: str) -> Decimal:
    """Return a number, 0 or above. Raises ValueError, as what reads values here."""
    if not is_number(text) or Decimal(text) < 0:
        raise ValueError("not a number, 0 or above")
    return Decimal(text)


def _whole(text: str) -> int:
    found = whole(text)
    if found is None:
        raise ValueError("not a whole number, 0 or above")
    return found


def _fraction(text: str) -> float:
    return float(_number(text))


def _microseconds(text: str) -> str:
    return format_time(int(_number(text) * 10**6))


def _stop(text: str) -> str:
    """Return a number of seconds; some files have more than any run can last, for no end."""
    return format_time(int(min(_number(text) * 10**12, Decimal(MAX_TIME))))


def _rate(text: str) -> str:
    return format_rate(parse_rate(text.replace("b/s", "bps")))


_SIMPLE: Mapping[str, tuple[str, str, Callable[[str], Any]]] = {
    "PACKET_PAYLOAD_SIZE": ("queue_pair", "payload_size", lambda text: format_bytes(_whole(text))),
    "L2_ACK_INTERVAL": ("queue_pair", "ack_every", _whole),
    "BUFFER_SIZE": ("buffer", "size", lambda text: format_bytes(int(_number(text) * _MIB))),
    "USE_DYNAMIC_PFC_THRESHOLD": (
        "buffer",
        "threshold",
        lambda text: "static" if text == "0" else "dynamic",
    ),
    "ERROR_RATE_PER_LINK": ("port", "loss_rate", _fraction),
    "SIMULATOR_STOP_TIME": ("run", "duration", _stop),
}
"""Keys that mean the same under every congestion control: section, key, how it is read."""
_OF_CONTROL: Mapping[str, Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "dcqcn": {
        "ALPHA_RESUME_INTERVAL": ("alpha_interval", _microseconds),
        "RATE_DECREASE_INTERVAL": ("decrease_interval", _microseconds),
        "RP_TIMER": ("increase_interval", _microseconds),
        "EWMA_GAIN": ("gain", _fraction),
        "FAST_RECOVERY_TIMES": ("fast_recovery", _whole),
        "CLAMP_TARGET_RATE": ("clamp_target", lambda text: text != "0"),
        "RATE_AI": ("additive_increase", _rate),
        "RATE_HAI": ("hyper_increase", _rate),
        "MIN_RATE": ("min_rate", _rate),
    },
    "hpcc": {
        "U_TARGET": ("eta", _fraction),
        "MI_THRESH": ("max_stage", _whole),
        "RATE_AI": ("additive_increase", _rate),
        "MIN_RATE": ("min_rate", _rate),
    },
    "timely": {"RATE_AI": ("additive_increase", _rate), "MIN_RATE": ("min_rate", _rate)},
    "dctcp": {
        "EWMA_GAIN": ("gain", _fraction),
        "DCTCP_RATE_AI": ("additive_increase", _rate),
        "MIN_RATE": ("min_rate", _rate),
    },
}
_ELSEWHERE = ("CC_MODE", "ENABLE_QCN", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP", "HAS_WIN")
_FILES = {"TOPOLOGY_FILE": "network", "FLOW_FILE": "messages"}


def is_config(words: list[str]) -> bool:
    """Whether a line, as words, may be the first of a configuration."""
    return len(words) >= 2 and words[0].isupper() and words[0].replace("_", "").isalnum()


def read(file: Path, label: str) -> Settings:
    """Read a configuration. Raises UserError that names every line that cannot be read."""
    given = _lines(file, label)
    found = Settings()
    problems: list[Problem] = []
    control = _control(found, given)
    known = dict(_SIMPLE)
    if control is not None:
        known |= {name: (control, *target) for name, target in _OF_CONTROL[control].items()}
    used = {name: of for name, of in given.items() if of[1] and name not in _ELSEWHERE}
    for name, (number, words) in used.items():
        if name in _FILES:
            # it names the file as seen from the simulator's folder: only one beside this is read
            found.files[_FILES[name]] = PurePosixPath(words[0].replace("\\", "/")).name
        elif name in known:
            section, key, read_one = known[name]
            try:
                found.put(section, key, read_one(words[0]), f"{name} {' '.join(words)}")
            except ValueError as error:
                where = f"{label}: line {number}: {name}"
                problems.append(Problem(where, f"{words[0][:80]!r} cannot be read: {error}"))
        elif not _is_off(name, words):
            why = _LEFT_OUT.get(name, "it has no counterpart under this congestion control")
            found.left_out.append(f"{name} {' '.join(words)}: {why}")
    if control in _MARKED:
        problems += _marking(found, given, label)
    if control == "dcqcn" and given.get("HAS_WIN", (0, ["0"]))[1] == ["1"]:
        found.put("queue_pair", "window_bdps", 1, "HAS_WIN 1")
    if problems:
        raise UserError(problems)
    return found


def _lines(file: Path, label: str) -> dict[str, tuple[int, list[str]]]:
    """Return the line and the values of every key."""
    lines = words_of(read_text(file, label), "#")
    return {key: (number, values) for number, (key, *values) in lines}


def _is_off(name: str, words: list[str]) -> bool:
    """Whether a key says that something does not happen."""
    zero = all(is_number(word) and Decimal(word) == 0 for word in words)
    return zero and name in ("LINK_DOWN", "ERROR_RATE_PER_LINK", "L2_BACK_TO_ZERO")


def _control(found: Settings, given: Mapping[str, tuple[int, list[str]]]) -> str | None:
    """Note and return the congestion control; None if there is none."""
    mode = " ".join(given.get("CC_MODE", (0, ["1"]))[1])
    if given.get("ENABLE_QCN", (0, ["1"]))[1] == ["0"]:
        found.left_out.append("CC_MODE: ENABLE_QCN 0 switches congestion control off")
        return None
    control = CONTROLS.get(mode)
    if control is None:
        found.left_out.append(f"CC_MODE {mode}: there is no such congestion control here")
        return None
    found.at_top["congestion_control"] = control
    if control in ("hpcc", "timely"):
        found.put(control, "reference_rate", "0bps", "RATE_AI is for every rate")
    if control in _MARKED:
        found.at_top["agents"] = ["ecn-marking"]
    return control


def _marking(
    found: Settings, given: Mapping[str, tuple[int, list[str]]], label: str
) -> list[Problem]:
    """Note where switches mark: the thresholds of the fastest rate, in proportion for others.

    Return the problems.
    """
    maps: dict[str, dict[int, Decimal]] = {}
    for name in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP"):
        number, words = given.get(name, (0, []))
        count = whole(words[0]) if words else 0
        pairs = list(zip(words[1::2], words[2::2], strict=False))
        good = all(whole(rate) and is_number(value) for rate, value in pairs)
        if not good or count is None or len(pairs) < count:
            what = f"{' '.join(words)[:80]!r} is not a map of rates to thresholds"
            allowed = "the number of pairs, then rate [bit/s] and threshold of each"
            return [Problem(f"{label}: line {number}: {name}", what, allowed)]
        maps[name] = {int(rate): Decimal(value) for rate, value in pairs[:count]}
    fastest = max(set.intersection(*(set(of) for of in maps.values())), default=0)
    if not fastest:
        return []
    section = "ecn-marking"
    for name, key in (("KMIN_MAP", "kmin"), ("KMAX_MAP", "kmax")):
        size = format_bytes(int(maps[name][fastest] * _KB))
        found.put(section, key, size, f"{name} at {format_rate(fastest)}")
    found.put(section, "pmax", float(maps["PMAX_MAP"][fastest]), "PMAX_MAP")
    found.put(section, "reference_rate", format_rate(fastest), "thresholds go with the rate")
    found.put(section, "at", "dequeue", "as there: by what a packet leaves behind")
    for name in ("KMIN_MAP", "KMAX_MAP"):
        for rate, value in maps[name].items():
            if value * fastest != maps[name][fastest] * rate:
                told = f"{name} {rate} {value}: thresholds here are in proportion to the rate"
                found.left_out.append(f"{told}, from that at {format_rate(fastest)}")
    return []
