"""Strict units: text such as "10Gbps", "25us", "100KB" to integers (bit/s, ps, bytes) and back.

The spellings are ns-3's. Decimal prefixes are powers of 1000, binary ones (KiB, MiB, GiB, TiB) of
1024. Nothing is rounded: a text that is not a whole number of the base unit is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from pyorch.base.errors import quoted

RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
PS_PER_METRE = 5_000
"""Light and electricity in a cable: 5 ns a metre, two thirds of the speed of light."""
LENGTHS = {"m": PS_PER_METRE, "km": 1000 * PS_PER_METRE}
"""Lengths of cable as delays [ps]."""
WALL_TIMES = {"s": 1, "min": 60, "h": 3600, "d": 86400}
SIZES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_DECIMAL_SIZES = {unit: size for unit, size in SIZES.items() if "i" not in unit}
#: Spellings that are read but not written.
_ALIASES = {"Kbps": "kbps", "kB": "KB", "bit/s": "bps", "b/s": "bps"}

#: Largest quantities that are taken. Two times added stay below 2^63 ps, which is all that the
#: simulator can count; a rate or a size is a thousand times what anyone builds or sends, and so far
#: from 2^64 that products with the sizes of frames and headers stay below it, too.
MAX_TIME = 4 * 10**18
MAX_WALL_TIME = 10_000 * 86_400
MAX_RATE = 10**15
MAX_BYTES = 10**15
#: Longer numbers are beyond every bound, and slow to read.
MAX_DIGITS = 20
#: What the denominators of finite decimal fractions divide, at these scales.
_ROUND = 10**40
_MAX_TEXT = 100

_DIGITS = r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
_NUMBER = re.compile(rf"(?P<number>{_DIGITS})\s*(?P<unit>[A-Za-z/]+)?", re.ASCII)


def pattern_of(units: Mapping[str, int]) -> str:
    """Return the regular expression, for JSON schemas, of texts with one of some units."""
    names = [*units, *(alias for alias, unit in _ALIASES.items() if unit in units)]
    return rf"^\s*{_DIGITS}\s*({'|'.join(names)})\s*$"


def parse_rate(text: str) -> int:
    """Return the bit/s of a text such as "10Gbps". Raises ValueError for people."""
    return _parse(text, RATES, "rate", "10Gbps", MAX_RATE)


def parse_time(text: str) -> int:
    """Return the picoseconds of a text such as "25us". Raises ValueError for people."""
    return _parse(text, TIMES, "time", "25us", MAX_TIME)


def parse_delay(text: str) -> int:
    """Return the picoseconds of a text such as "25us", or of a length of cable such as "3km".

    Lengths are rounded to whole ps. Raises ValueError for people.
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _MAX_TEXT else None
    if match is None or match["unit"] not in LENGTHS:
        return parse_time(text)
    delay = round(Fraction(Decimal(match["number"])) * LENGTHS[match["unit"]])
    if delay > MAX_TIME:
        raise ValueError(f"{text!r} is longer than the longest time, {format_time(MAX_TIME)}")
    return delay


def parse_bytes(text: str) -> int:
    """Return the bytes of a text such as "100KB" or "1MiB". Raises ValueError for people."""
    return _parse(text, SIZES, "size", "100KB", MAX_BYTES)


def parse_wall_time(text: str) -> int:
    """Return the seconds of a wall time such as "10min" or "1.5h". Raises ValueError for people."""
    return _parse(text, WALL_TIMES, "wall time", "10min", MAX_WALL_TIME)


def format_wall_time(seconds: int) -> str:
    """Return the shortest exact spelling of a wall time in seconds."""
    return _format(seconds, WALL_TIMES)


def format_rate(bits_per_second: int) -> str:
    """Return the shortest exact spelling of a rate in bit/s."""
    return _format(bits_per_second, RATES)


def format_time(picoseconds: int) -> str:
    """Return the shortest exact spelling of a time in ps."""
    return _format(picoseconds, TIMES)


def format_bytes(size: int) -> str:
    """Return the shortest exact spelling of a size in bytes."""
    return _format(size, SIZES)


def rounded_time(picoseconds: int) -> str:
    """Return a time in ps as people read it: three digits, such as "2.82 ms"."""
    return _rounded(picoseconds, TIMES)


def rounded_bytes(size: int) -> str:
    """Return a size in bytes as people read it: three digits, such as "1.23 MB"."""
    return _rounded(size, _DECIMAL_SIZES)


def duration(seconds: float) -> str:
    """Return a wall time in seconds for people: "8 s", "3 min 20 s", "2 h 5 min"."""
    whole_s = round(seconds)
    if whole_s < 60:
        return f"{whole_s} s"
    if whole_s < 3600:
        return f"{whole_s // 60} min {whole_s % 60} s"
    return f"{whole_s // 3600} h {whole_s % 3600 // 60} min"


QUANTITIES = {
    "B": (parse_bytes, format_bytes),
    "bit/s": (parse_rate, format_rate),
    "ps": (parse_time, format_time),
}
"""How texts of each base unit are read and written; no text is of two of them."""


def shortest(text: str) -> str:
    """Return the shortest spelling of a rate, time or size; other text as it is."""
    for parse, write in QUANTITIES.values():
        try:
            return write(parse(text))
        except ValueError:
            continue
    return text


def _parse(text: object, units: dict[str, int], kind: str, example: str, largest: int) -> int:
    if not isinstance(text, str):
        raise ValueError(
            f'a {kind} is a text with its unit, such as "{example}" (got {quoted(text)})'
        )
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _MAX_TEXT else None
    if match is None:
        raise ValueError(f'{quoted(text)} is not a {kind} such as "{example}"')
    unit = match["unit"]
    if unit is None:
        raise ValueError(f'{text!r} lacks its unit: a {kind} is written like "{example}"')
    scale = units.get(_ALIASES.get(unit, unit))
    if scale is None:
        raise ValueError(f"{text!r}: {unit!r} is not a unit of a {kind}; known: {', '.join(units)}")
    value = Fraction(Decimal(match["number"])) * scale
    if value.denominator != 1:
        smallest = next(iter(units))
        raise ValueError(f"{text!r} is not a whole number of {smallest}")
    if value > largest:
        raise ValueError(f"{text!r} is larger than the largest {kind}, {_format(largest, units)}")
    return int(value)


def is_number(text: str) -> bool:
    """Whether a text is a number without a unit, such as 1500 or 1.5e3."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _MAX_TEXT else None
    return match is not None and match["unit"] is None


def whole(text: str) -> int | None:
    """Return the number written in a text of decimal digits; None for any other text."""
    good = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if good else None


def _rounded(value: int, units: Mapping[str, int]) -> str:
    value = round(value, 3 - len(str(value)))
    unit, size = [item for item in units.items() if item[1] <= max(value, 1)][-1]
    return f"{value / size:g} {unit}"


def _format(value: int, units: dict[str, int]) -> str:
    if not isinstance(value, int):
        raise ValueError(f"{quoted(value)} is not a whole number")
    if value < 0:
        raise ValueError(f"{quoted(value)} is negative and has no spelling")
    if value == 0:
        return "0s" if units is TIMES else f"0{next(iter(units))}"
    spellings = []
    for unit, scale in units.items():
        if _ROUND * value % scale == 0:  # 1/3 has no finite decimal fraction
            exact = _decimal(value, scale)
            spellings.append((len(exact) + len(unit), "." in exact, exact + unit))
    return min(spellings)[2]


def _decimal(value: int, scale: int) -> str:
    """Return value / scale as a finite decimal fraction without an exponent."""
    digits = 0
    while value % scale:
        value, digits = value * 10, digits + 1
    text = str(value // scale).rjust(digits + 1, "0")
    return text if digits == 0 else f"{text[:-digits]}.{text[-digits:]}"


def short_key(key: str, others: Iterable[str]) -> str:
    """The last part of a parameter's name, or all of it where another one ends like it."""
    last = key.rpartition(".")[2]
    return key if any(one != key and one.rpartition(".")[2] == last for one in others) else last


def ranges(numbers: Iterable[int]) -> list[str]:
    """Ascending numbers in short: "0-7" and "12"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ["-".join(map(str, run)) for run in runs]
