"""Seeded mutations: of values, of documents, of texts and of bytes."""

from __future__ import annotations

import copy
import datetime
import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]

HUGE_INTEGER = int("9" * 4300)
"""The longest integer that Python converts to text and back."""
NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 8, 100, 0.5, 1.5, -0.0, float("nan"), float("inf"), float("-inf")),
    *(1e308, 5e-324, 1e-9, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63),
    *(2**64 - 1, 2**64, 10**15, 10**18, 10**30, -(2**63), HUGE_INTEGER),
]
QUANTITIES = [
    *("0us", "0s", "0B", "0bps", "1ps", "1B", "1bps", "1ns", "3B", "999Tbps", "9Tbps", "100TB"),
    *("9223372036854775807ps", "9223372036854775808ps", "9223372s", "9223371s", "106751days"),
    *("18446744073709551615B", "18446744073709551616B", "16EiB", "18446744073709551615bps"),
    *("1e30s", "1e99us", "1e-99s", "0.1ps", "-1us", "1 us", " 1us ", "1us us", "1US", "1Us", "us"),
    *("10GBps", "10gbps", "10 Gbps", "10Gb/s", "1_000B", "+1us", "0x10B", "1e5", "1.", ".5us"),
    *("\uff11us", "\u0663us", "1\u00b5s", "1\u03bcs", "1KiB", "1,5us", "inf", "nan", "infus"),
    *("9" * 5000 + "B", "0." + "0" * 400 + "1s", "1e9999999999s"),
]
TEXTS = [
    *("", " ", "x", "h0", "h1", "s0", "all", "h0..h3", "h3..h1", "h0..h999999999", "leaf0:*"),
    *("h0..h" + "9" * 30, "h0..h" + "9" * 5000, "h..h", "h0..x3", "s0:h0", "s0:*", ":", "*", "a.b"),
    *("..", ".", "/", "../x.csv", "/etc/passwd", "/dev/zero", "/dev/null", "/proc/self/mem"),
    *("x" * 300, "x" * 100_000, "a/" * 3000, "\u00e9", "\u65e5\u672c", "\u202eabc", "\U0001f600"),
    *("\x1b[31mred", "a\nb", "a\tb", "a\rb", "%s%n", "{0}", "$(id)", "`id`", "'", '"', "\\", ";"),
    *("<script>alert(1)</script>", "nan", "true", "null", "None", "-", "--help", "pfc", "PFC"),
    *("ns3::pfc::Pfc", "ns3::Object", "fat-tree", "WebSearch", "hash", "seed", "variant"),
    *("flows_total", "queue", "flow", "p999", "p100", "1-5", "[0", "**/*", "[!a", "\udcff"),
]
STRUCTURES: list[Any] = [
    *([], {}, [[]], [{}], [[[[]]]], {"": 1}, {"a": {}}, True, False, [None], ["x"], [1], ["h0"]),
    *([1, 1], ["h0", "h0"], [0] * 20_000, list(range(20_000)), ["x" * 50] * 5_000),
    *({f"k{n}": n for n in range(3_000)}, datetime.date(2020, 1, 1), datetime.time(1, 2)),
    *({"kind": "star"}, {"kind": "greedy"}, [{"kind": "poisson"}], {"min": 1, "max": 2}),
]
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z/]+)")
_MIXED_UNITS = ["ps", "ns", "us", "ms", "s", "B", "KB", "MB", "MiB", "bps", "kbps", "Gbps", "Tbps"]
_DEEP = [50, 200, 2_000, 100_000]


MOST_PLACES = 50_000
"""Places that a document may have: each copy of a part into another can double them."""


def generator(*seed: object) -> random.Random:
    """Return the random numbers of a case: the same for the same seed everywhere."""
    return random.Random(":".join(map(str, seed)))  # noqa: S311 (nothing here is a secret)


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Yield every place in a document."""
    inside: Any = ()
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*above, key)
        yield from places(part, (*above, key))


def at(document: Any, place: Place) -> Any:
    """Return what stands at a place."""
    for key in place:
        document = document[key]
    return document


def odd_value(rng: random.Random, old: Any = None) -> Any:
    """Return a value that has little to do with the old one, or too much."""
    kinds = [NUMBERS, QUANTITIES, TEXTS, STRUCTURES]
    if isinstance(old, str) and rng.random() < 0.6:
        return odd_text(rng, old)
    if isinstance(old, int | float) and not isinstance(old, bool) and rng.random() < 0.6:
        return odd_number(rng, old)
    if isinstance(old, list) and rng.random() < 0.4:
        return rng.choice([old * 2, old[:1], [*old, *old[:1]], [old], old[::-1], old * 500])
    return copy.deepcopy(rng.choice(rng.choice(kinds)))


def odd_number(rng: random.Random, old: float) -> Any:
    """Return another number than the old one."""
    factor = rng.choice([-1, 0, 2, 10, 1000, 10**6, 10**12, 0.5, 0.001])
    if abs(old) > 2**64:
        return rng.choice(NUMBERS)
    ways = [old * factor, old + 1, old - 1, str(old), rng.choice(NUMBERS), rng.choice(NUMBERS)]
    return rng.choice(ways)


def odd_text(rng: random.Random, old: str) -> str:
    """Return a text like the old one, or nothing like it."""
    match = _QUANTITY.fullmatch(old)
    if match and rng.random() < 0.7:
        number, unit = match[1], match[2]
        ways = [
            *(f"{number}{rng.choice(_MIXED_UNITS)}", f"{number}{unit.swapcase()}", number, unit),
            *(f"-{number}{unit}", f"{number}000000{unit}", f"{number}e12{unit}", f"0{unit}"),
            *(f"{number}.5{unit}", f"{number}{unit}{unit}", rng.choice(QUANTITIES)),
            rng.choice(QUANTITIES),
        ]
        return rng.choice(ways)
    if rng.random() < 0.5:
        return misspelt(rng, old)
    return rng.choice(rng.choice([TEXTS, QUANTITIES]))


def misspelt(rng: random.Random, word: str) -> str:
    """Return a word with a typing mistake."""
    if not word:
        return "x"
    spot = rng.randrange(len(word))
    before, letter, after = word[:spot], word[spot], word[spot + 1 :]
    ways = [
        *(before + after, before + letter * 2 + after, before + after[:1] + letter + after[1:]),
        *(word.upper(), word.title(), word + "s", word.replace("_", "-"), word.replace("-", "_")),
        *(before + rng.choice("abcxyz019_-. ") + after, f" {word}", f"{word} "),
    ]
    return rng.choice(ways)


def change_document(rng: random.Random, document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a document with something wrong in it, and what was done."""
    changed, told = _changed(rng, document)
    if any(itertools.islice(places(changed), MOST_PLACES, None)):
        return document, f"{told}, which would make it too long"
    return changed, told


def _changed(rng: random.Random, document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    document = copy.deepcopy(document)
    known = list(places(document))
    if not known:
        return {"x": odd_value(rng)}, "a key x"
    place = rng.choice(known)
    here, key = at(document, place[:-1]), place[-1]
    told = ".".join(map(str, place))
    way = rng.choice(["value"] * 6 + ["gone", "name", "twice", "swap", "splice", "wrap", "more"])
    if way == "gone":
        del here[key]
    elif way == "name" and isinstance(here, dict):
        here[misspelt(rng, str(key))] = here.pop(key)
    elif way == "twice":
        if isinstance(here, dict):
            here[misspelt(rng, str(key))] = copy.deepcopy(here[key])
        else:
            here.insert(rng.randrange(len(here) + 1), copy.deepcopy(here[key]))
    elif way == "swap":
        told += f" and {_swap(document, place, rng.choice(known))}"
    elif way == "splice":
        here[key] = copy.deepcopy(at(document, rng.choice(known)))
    elif way == "wrap":
        here[key] = rng.choice([[here[key]], {"x": here[key]}, [[here[key]]]])
    elif way == "more" and isinstance(here, dict):
        here[rng.choice([*TEXTS, *QUANTITIES][:60])] = odd_value(rng)
    else:
        here[key] = odd_value(rng, here[key])
    return document, f"{way} of {told}"


def _swap(document: dict[str, Any], place: Place, other: Place) -> str:
    """Let two places change their values; the first gets a copy when one is inside the other."""
    mine, theirs = copy.deepcopy(at(document, place)), copy.deepcopy(at(document, other))
    here, there = at(document, place[:-1]), at(document, other[:-1])
    here[place[-1]] = theirs
    if other[: len(place)] != place and place[: len(other)] != other:
        there[other[-1]] = mine
    return ".".join(map(str, other))


def deep(rng: random.Random) -> str:
    """Return a value nested deeply, closed or not."""
    depth = rng.choice(_DEEP)
    opening, closing = rng.choice([("[", "]"), ("{a=", "}"), ('{"a":', "}")])
    return opening * depth + "1" + closing * rng.choice([depth, depth, 0, depth - 1])


def change_text(rng: random.Random, text: str) -> tuple[str, str]:
    """Return a text with something wrong in its lines, and what was done."""
    lines = text.splitlines()
    if not lines:
        return deep(rng), "nested deeply"
    spot = rng.randrange(len(lines))
    ways = ["digits", "deep", "line", "lines", "without", "cut", "sign", "word", "many"]
    way = rng.choice(ways)
    if way == "digits":
        number = rng.choice(["9" * 5000, "-1", "1e999", "0x1F", "1_0", "nan", "1e-400", "9" * 30])
        lines[spot] = re.sub(r"\d+", number, lines[spot], count=1)
    elif way == "deep":
        lines[spot] = re.sub(r"=.*", lambda _: f"= {deep(rng)}", lines[spot])
    elif way == "line":
        lines.insert(rng.randrange(len(lines) + 1), lines[spot])
    elif way == "lines":
        lines[spot:spot] = [lines[spot]] * rng.choice([3, 1000])
    elif way == "without":
        del lines[spot]
    elif way == "cut":
        lines = [*lines[:spot], lines[spot][: rng.randrange(len(lines[spot]) + 1)]]
    elif way == "sign":
        column = rng.randrange(len(lines[spot]) + 1)
        sign = rng.choice("[]{}\"'=,.#\t\x00\x0b\u00a0\ufeff\u2028;-")
        lines[spot] = lines[spot][:column] + sign + lines[spot][column:]
    elif way == "many":
        lines[spot] = lines[spot] + rng.choice(["x", ",", " ", "\t", "["]) * 200_000
    else:
        words = re.findall(r"[\w.]+", lines[spot]) or ["x"]
        word = rng.choice(words)
        new = rng.choice([misspelt(rng, word), *rng.sample(TEXTS, 3), *rng.sample(QUANTITIES, 3)])
        lines[spot] = lines[spot].replace(word, new, 1)
    return "\n".join(lines) + "\n", f"{way} at line {spot + 1}"


def change_bytes(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Return bytes that are damaged, or the same text in another encoding, and what was done."""
    text = content.decode("utf-8", errors="replace")
    accented = re.sub("e", "\u00e9", text, count=rng.choice([1, 3, 0]))
    spot = rng.randrange(len(content) + 1)
    length = rng.choice([1, 3, 40, 4000])
    ways = {
        "latin-1": lambda: accented.encode("latin-1", errors="replace"),
        "utf-16": lambda: text.encode("utf-16"),
        "utf-16-le": lambda: text.encode("utf-16-le"),
        "utf-32": lambda: text.encode("utf-32"),
        "BOM": lambda: text.encode("utf-8-sig"),
        "CRLF": lambda: text.replace("\n", "\r\n").encode(),
        "CR": lambda: text.replace("\n", "\r").encode(),
        "flipped bit": lambda: (
            content[:spot]
            + bytes(byte ^ 1 << rng.randrange(8) for byte in content[spot : spot + 1])
            + content[spot + 1 :]
        ),
        "gap": lambda: content[:spot] + content[spot + length :],
        "noise": lambda: content[:spot] + rng.randbytes(min(length, 40)) + content[spot:],
        "all noise": lambda: rng.randbytes(length),
        "again": lambda: content[: spot + length] + content[spot:],
        "cut": lambda: content[:spot],
        "nothing": lambda: b"",
        "NUL": lambda: content[:spot] + b"\0" * length + content[spot:],
        "surrogate": lambda: content[:spot] + b"\xed\xa0\x80" + content[spot:],
    }
    way = rng.choice(list(ways))
    return ways[way](), way
