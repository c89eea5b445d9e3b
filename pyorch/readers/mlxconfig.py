"""DCQCN's parameters of NVIDIA NICs, as `mlxconfig -d DEVICE query` lists them.

Only the first port counts, and the last column but comments: what is in use after the next start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError
from pyorch.base.reading import read_text
from pyorch.base.units import format_rate, format_time
from pyorch.readers.records import Settings

_LINE = re.compile(
    r"^[*> \t]*([A-Z][A-Z0-9_]*?)(_P\d)?[ \t]+(?:\S+[ \t]+)*?(?:\w*\()?(\d{1,9})\)?[ \t]*$",
    re.ASCII | re.MULTILINE,
)
_SIGN = "RPG_TIME_RESET"
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


def is_dump(text: str) -> bool:
    """Whether a text lists the parameters of a NIC."""
    return any(match[1] == _SIGN for match in _LINE.finditer(text))


def read(file: Path, label: str) -> Settings:
    """Read a dump. Raises UserError that names the lines whose numbers are out of range."""
    text = read_text(file, label)
    found = Settings()
    found.at_top = {"congestion_control": "dcqcn", "agents": ["ecn-marking"]}
    found.put("dcqcn", "parameters", "connectx", "what the dump does not say")
    problems = []
    for match in _LINE.finditer(text):
        name, port, value = match[1], match[2] or "", int(match[3])
        if port not in ("", "_P1"):
            continue
        said = f"{name}{port} {value}"
        if name in _KEYS:
            key, as_value, most = _KEYS[name]
            if value > most:
                line = text.count("\n", 0, match.start(1)) + 1
                problems.append(
                    Problem(f"{label}: line {line}: {name}", str(value), f"0 to {most}")
                )
                continue
            if name == "MIN_TIME_BETWEEN_CNPS" and not value:
                found.put("dcqcn", "notification", "per_packet", said)
                continue
            found.put("dcqcn", key, as_value(value), said)
        elif name == "RPG_BYTE_RESET" and value:
            found.left_out.append(f"{said}: no byte counter, as NICs behave (preset connectx)")
        elif name in _FIXED and value != _FIXED[name][0]:
            found.left_out.append(f"{said}: {_FIXED[name][1]}")
    if problems:
        raise UserError(problems)
    found.assumed.append("the NICs of all hosts have these parameters of DCQCN")
    return found
