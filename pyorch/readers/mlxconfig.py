"""DCQCN's parameters of NVIDIA NICs, as `mlxconfig -d DEVICE query` lists them.

Only the first port counts, and the last column: what is in use after the next start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError, suggest
from pyorch.base.reading import read_text, words_of
from pyorch.base.units import format_rate, format_time
from pyorch.readers.records import Settings

_NAME = re.compile(r"([A-Za-z]\w*?)(_P\d)?", re.ASCII)
_VALUE = re.compile(r"(\d{1,9})|\w*\((\d{1,9})\)", re.ASCII)
_SIGN = re.compile(r"^[*> \t]*(?:RO[ \t]+)?RPG_TIME_RESET(?:_P\d)?(?:\s|$)", re.MULTILINE)
_SCALE = 1024


def _us(value: int) -> str:
    return format_time(value * 10**6)


def _mbps(value: int) -> str:
    return format_rate(value * 10**6)


_KEYS: Mapping[str, tuple[str, Callable[[int], Any], int]] = {
    "RPG_TIME_RESET": ("increase_interval", _us, 10**6),
    "RPG_THRESHOLD": ("fast_recovery", int, 1000),
    "RPG_AI_RATE": ("additive_increase", _mbps, 10**6),
    "RPG_HAI_RATE": ("hyper_increase", _mbps, 10**6),
    "RPG_MIN_RATE": ("min_rate", _mbps, 10**6),
    "RATE_TO_SET_ON_FIRST_CNP": ("first_rate", _mbps, 10**6),
    "DCE_TCP_G": ("gain", lambda value: (_SCALE - value) / _SCALE, _SCALE - 1),
    "DCE_TCP_RTT": ("alpha_interval", _us, 10**6),
    "RATE_REDUCE_MONITOR_PERIOD": ("decrease_interval", _us, 10**6),
    "INITIAL_ALPHA_VALUE": ("initial_alpha", lambda value: value / _SCALE, _SCALE),
    "MIN_TIME_BETWEEN_CNPS": ("cnp_interval", _us, 10**6),
    "CLAMP_TGT_RATE": ("clamp_target", bool, 1),
    "CLAMP_TGT_RATE_AFTER_TIME_INC": ("clamp_after_timer", bool, 1),
}
"""Parameters: key of [dcqcn], how the number becomes its value, and the largest number."""
_FIXED = {
    "RPG_GD": (11, "a cut is to 1 - alpha / 2, as 11 means"),
    "RPG_MIN_DEC_FAC": (50, "a cut is to half the rate at most, as 50 means"),
    "RPG_MAX_RATE": (0, "the largest rate is that of the link, as 0 means"),
}
"""Parameters that have one value here, and what it means."""
_MOST = {
    **dict.fromkeys((*_FIXED, "RPG_BYTE_RESET"), 10**9 - 1),
    **{name: most for name, (_, _, most) in _KEYS.items()},
}
"""The largest number of every parameter that is read."""


def is_dump(text: str) -> bool:
    """Whether a text lists the parameters of a NIC."""
    return _SIGN.search(text) is not None


def read(file: Path, label: str) -> Settings:
    """Read a dump. Raises UserError that names the lines whose numbers cannot be read."""
    found = Settings()
    found.at_top = {"congestion_control": "dcqcn", "agents": ["ecn-marking"]}
    found.put("dcqcn", "parameters", "connectx", "what the dump does not say")
    given, others, unknown = _given(read_text(file, label), label)
    for name, (_, port, value) in given.items():
        _note(found, name, f"{name}{port} {value}", value)
    found.assumed.append("the NICs of all hosts have these parameters of DCQCN")
    absent = [name for name in _KEYS if name not in given]
    if absent:
        found.assumed.append(f"not in the dump, so of the preset connectx: {', '.join(absent)}")
    if others:
        found.left_out.append(f"{others} parameters of ports other than the first")
    hints = {name: suggest(name, absent) for name in unknown}
    found.left_out += [f"{name}: it is not read; {hint}" for name, hint in hints.items() if hint]
    return found


def _given(text: str, label: str) -> tuple[dict[str, tuple[int, str, int]], int, list[str]]:
    """Return line, port and value of every parameter, how many other ports have, and other names.

    Raises UserError.
    """
    given: dict[str, tuple[int, str, int]] = {}
    others, unknown, problems = 0, [], []
    for line, name, port, last in _rows(text):
        if name not in _MOST:
            unknown.append(name)
            continue
        if port not in ("", "_P1"):
            others += 1
            continue
        match, most = _VALUE.fullmatch(last), _MOST[name]
        value = int(match[1] or match[2]) if match else most + 1
        where = f"{label}: line {line}: {name}"
        if value > most:
            problems.append(Problem(where, last or "it has no value", f"0 to {most}"))
        elif name in given and given[name][2] != value:
            what = f"{value}, but line {given[name][0]} has {given[name][2]}"
            problems.append(Problem(where, what, "one NIC, each parameter once"))
        else:
            given[name] = (line, port, value)
    if problems:
        raise UserError(problems)
    return given, others, unknown


def _rows(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, name, port and last column of every parameter; "" where there is none."""
    for line, marked in words_of(text, "#"):
        words = " ".join(marked).lstrip("*> ").removeprefix("RO ").split()
        match = _NAME.fullmatch(words[0]) if words else None
        if match:
            yield line, match[1], match[2] or "", words[-1] if len(words) > 1 else ""


def _note(found: Settings, name: str, said: str, value: int) -> None:
    """Note what a parameter means here, or that it has no counterpart."""
    if name == "MIN_TIME_BETWEEN_CNPS" and not value:
        found.put("dcqcn", "notification", "per_packet", said)
    elif name in _KEYS:
        key, as_value, _ = _KEYS[name]
        found.put("dcqcn", key, as_value(value), said)
    elif name == "RPG_BYTE_RESET" and value:
        found.left_out.append(f"{said}: no byte counter, as NICs behave (preset connectx)")
    elif name in _FIXED and value != _FIXED[name][0]:
        found.left_out.append(f"{said}: {_FIXED[name][1]}")
