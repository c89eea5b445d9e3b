"""The configuration file of the HPCC simulator's family: lines of a key and its values.

`KEYS` says for reading and for writing what each of them means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

from pyorch.base.errors import Problem, UserError, nearest, suggest
from pyorch.base.reading import read_text, words_of
from pyorch.base.units import (
    MAX_TIME,
    format_bytes,
    format_rate,
    format_time,
    is_number,
    parse_bytes,
    parse_rate,
    parse_time,
    whole,
)
from pyorch.readers.records import Settings

CONTROLS = {"1": "dcqcn", "3": "hpcc", "7": "timely", "8": "dctcp"}
"""Congestion controls by CC_MODE."""
MARKED = ("dcqcn", "dctcp")
"""Those that react to marks of switches."""
_MIB, _KB = 1 << 20, 1000
_OUTPUT = re.compile(
    r"ENABLE_TRACE|(TRACE|\w*OUTPUT|\w*_MON(_DETAIL)?)_FILE|(\w+_)?MON_\w+|\w+_MONITORING_\w+"
)
"""Keys of what it writes, which is not what is simulated."""
BALANCERS = {"2": "DRILL", "3": "CONGA", "6": "LetFlow", "9": "ConWeave"}
"""Of ConWeave's simulator, by LB_MODE; 0 is a hash of the flow, as here."""
_LEFT_OUT = {
    "L2_CHUNK_SIZE": "acknowledgements at its multiples, too, are not sent here",
    "LINK_DOWN": "it is no time [us] and two nodes",
    "FLOWGEN_START_TIME": "flows start as their file says",
    "FLOWGEN_STOP_TIME": "flows start as their file says",
    "FLOW_INPUT_FILE": "it is written there",
    "LOAD": "flows are those of their file",
    "RANDOM_SEED": "[run] seeds has our own",
    "DATA_RATE": "the file of the network has it",
    "LINK_DELAY": "the file of the network has it",
    "PAUSE_TIME": "a pause lasts until it is taken back",
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


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("neither 0 nor 1")
    return text == "1"


def _plain(value: Decimal) -> str:
    """Return a number with all of its digits."""
    return f"{value.normalize():f}"


def _stop(text: str) -> str:
    """Return a number of seconds; some files have more than any run can last, for no end."""
    return format_time(int(min(_number(text) * 10**12, Decimal(MAX_TIME))))


@dataclass(frozen=True)
class Form:
    """How a value is written. read: as experiment files do; write: as the configuration does.

    read raises ValueError.
    """

    read: Callable[[str], Any]
    write: Callable[[Any], str]


_WHOLE = Form(_whole, str)
_FLAG = Form(_flag, lambda value: str(int(str(value).lower() == "true")))
_SHARE = Form(lambda text: float(_number(text)), lambda value: _plain(Decimal(str(value))))
_BYTES = Form(lambda text: format_bytes(_whole(text)), lambda value: str(parse_bytes(value)))
_MEBIBYTES = Form(
    lambda text: format_bytes(int(_number(text) * _MIB)),
    lambda value: str(round(parse_bytes(value) / _MIB)),  # it reads whole numbers
)
_DYNAMIC = Form(
    lambda text: "dynamic" if _flag(text) else "static",
    lambda value: str(int(value.lower() == "dynamic")),
)
_MICROSECONDS = Form(
    lambda text: format_time(int(_number(text) * 10**6)),
    lambda value: _plain(Decimal(parse_time(value)) / 10**6),
)
_SECONDS = Form(_stop, lambda value: _plain(Decimal(parse_time(value)) / 10**12))
_RATE = Form(
    lambda text: format_rate(parse_rate(text.replace("b/s", "bps"))),
    lambda value: f"{parse_rate(value)}bps",
)
_SIMPLE: Mapping[str, tuple[str, str, Form]] = {
    "PACKET_PAYLOAD_SIZE": ("queue_pair", "payload_size", _BYTES),
    "BUFFER_SIZE": ("buffer", "size", _MEBIBYTES),
    "USE_DYNAMIC_PFC_THRESHOLD": ("buffer", "threshold", _DYNAMIC),
    "ERROR_RATE_PER_LINK": ("port", "loss_rate", _SHARE),
    "SIMULATOR_STOP_TIME": ("run", "duration", _SECONDS),
}
_OF_CONTROL: Mapping[str, Mapping[str, tuple[str, Form]]] = {
    "dcqcn": {
        "ALPHA_RESUME_INTERVAL": ("alpha_interval", _MICROSECONDS),
        "RATE_DECREASE_INTERVAL": ("decrease_interval", _MICROSECONDS),
        "RP_TIMER": ("increase_interval", _MICROSECONDS),
        "EWMA_GAIN": ("gain", _SHARE),
        "FAST_RECOVERY_TIMES": ("fast_recovery", _WHOLE),
        "CLAMP_TARGET_RATE": ("clamp_target", _FLAG),
        "RATE_AI": ("additive_increase", _RATE),
        "RATE_HAI": ("hyper_increase", _RATE),
        "MIN_RATE": ("min_rate", _RATE),
    },
    "hpcc": {
        "U_TARGET": ("eta", _SHARE),
        "MI_THRESH": ("max_stage", _WHOLE),
        "RATE_AI": ("additive_increase", _RATE),
        "MIN_RATE": ("min_rate", _RATE),
    },
    "timely": {"RATE_AI": ("additive_increase", _RATE), "MIN_RATE": ("min_rate", _RATE)},
    "dctcp": {
        "EWMA_GAIN": ("gain", _SHARE),
        "DCTCP_RATE_AI": ("additive_increase", _RATE),
        "MIN_RATE": ("min_rate", _RATE),
    },
}


def keys_of(control: str | None) -> dict[str, tuple[str, str, Form]]:
    """Return the keys with a counterpart here: section, key, form. control: None for none."""
    own = _OF_CONTROL.get(control or "", {})
    return {**_SIMPLE, **{name: (control or "", *target) for name, target in own.items()}}


MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
ACKS = "L2_ACK_INTERVAL"
"""Bytes from one acknowledgement to the next; up to a payload, each packet has one."""
_PAYLOAD = 1000
"""Bytes of a packet there, by default."""
_FLAGS = (ACKS, "CC_MODE", "ENABLE_QCN", "HAS_WIN", "ENABLE_PFC", "ENABLE_IRN", "LB_MODE")
_FILES = {"TOPOLOGY_FILE": "network", "FLOW_FILE": "messages"}
_ONE = {*_SIMPLE, *_FLAGS, *_FILES, *(name for of in _OF_CONTROL.values() for name in of)}
"""Keys that have one value."""
_UNUSED = (
    "L2_BACK_TO_ZERO", "L2_WAIT_FOR_ACK", "GLOBAL_T", "VAR_WIN", "FAST_REACT", "INT_MULTI",
    "MULTI_RATE", "SAMPLE_FEEDBACK", "PINT_LOG_BASE", "PINT_PROB", "RATE_BOUND", "ACK_HIGH_PRIO",
    "NIC_TOTAL_PAUSE_TIME",
)  # fmt: skip
_KNOWN = {*_ONE, *MAPS, *_LEFT_OUT, *_UNUSED}
Given = Mapping[str, tuple[int, list[str]]]
"""The line and the values of every key."""


def is_config(words: list[str]) -> bool:
    """Whether a line, as words, may be the first of a configuration."""
    return len(words) >= 2 and words[0].isupper() and words[0].replace("_", "").isalnum()


def read(file: Path, label: str) -> Settings:
    """Read a configuration. Raises UserError that names every line that cannot be read."""
    found = Settings()
    problems: list[Problem] = []
    given = _lines(file, label, problems)
    control = _control(found, given, label, problems)
    known = keys_of(control)
    elsewhere = (*_FLAGS, *(MAPS if control in MARKED else ()))
    used = {name: of for name, of in given.items() if name not in elsewhere}
    for name, (_, words) in used.items():
        if name in _FILES:
            # it names the file as seen from the simulator's folder: only one beside this is read
            found.files[_FILES[name]] = PurePosixPath(words[0].replace("\\", "/")).name
            found.named[_FILES[name]] = f"{words[0]}, the {name} of {label}"
        elif name == "LINK_DOWN" and (failure := _failure(words)):
            found.failures.append(failure)
        elif name in known:
            section, key, form = known[name]
            value = _value(given, name, form.read, label, problems)
            found.put(section, key, value, f"{name} {words[0]}")
        elif not _is_off(name, words):
            found.left_out.append(f"{name} {' '.join(words)}: {_why_not(name, given)}")
    if control in MARKED:
        maps = _maps(given, label)
        found.maps, wrong = (maps, []) if isinstance(maps, dict) else ({}, maps)
        problems += wrong
    _acks(found, given, label, problems)
    _lossy(found, given, label, problems)
    found.put("port", "pause_response", "ideal", "pauses act as they arrive there")
    if found.sections.get("queue_pair", {}).get("parameters") is None:
        _window(found, control, _value(given, "HAS_WIN", _flag, label, problems))
    absent = [name for name in known if name not in (*given, "SIMULATOR_STOP_TIME")]
    absent += [name for name in MAPS if control in MARKED and name not in given]
    if absent:
        found.assumed.append(f"not in {label}, so ours: {', '.join(absent)}")
    if problems:
        raise UserError(problems)
    return found


def _lines(file: Path, label: str, problems: list[Problem]) -> Given:
    """Return the line and the values of every key, and note what is wrong with their number."""
    given: dict[str, tuple[int, list[str]]] = {}
    for number, (key, *values) in words_of(read_text(file, label), "#"):
        where = f"{label}: line {number}: {key}"
        if key in given:
            what = f"it is given a second time, after line {given[key][0]}"
            problems.append(Problem(where, what, "each key once"))
        elif not values or (key in _ONE and len(values) > 1):
            what = f"it has {len(values)} values: {' '.join(values)[:80]!r}"
            problems.append(Problem(where, what if values else "it has no value", "one value"))
        else:
            given[key] = (number, values)
    return given


def _value(
    given: Given, name: str, read_one: Callable[[str], Any], label: str, problems: list[Problem]
) -> Any:
    """Return the value of a key; None without it, or where it cannot be read, which is noted."""
    if name not in given:
        return None
    number, (text, *_) = given[name]
    try:
        return read_one(text)
    except ValueError as error:
        what = f"{text[:80]!r} cannot be read: {error}"
        problems.append(Problem(f"{label}: line {number}: {name}", what))
        return None


def _acks(found: Settings, given: Given, label: str, problems: list[Problem]) -> None:
    """Note after how many packets there is an acknowledgement."""
    interval = _value(given, ACKS, _whole, label, problems)
    if interval is not None:
        payload = _value(given, "PACKET_PAYLOAD_SIZE", _whole, label, []) or _PAYLOAD
        every = max(1, -(-interval // payload))
        found.put("queue_pair", "ack_every", every, f"{ACKS} {interval} [bytes]")


def _window(found: Settings, control: str | None, given: bool | None) -> None:
    """Note whether senders have a window, unless the congestion control has one of its own."""
    if control in ("hpcc", "timely", "dctcp"):
        if given is not None and given != (control != "timely"):
            told = f"HAS_WIN {given:d}: windows are as the congestion control has them"
            found.left_out.append(told)
        return
    if given is None:
        found.assumed.append("HAS_WIN 1, as that simulator has it by default")
    if given is not False:
        found.put("queue_pair", "window_bdps", 1, "HAS_WIN 1")


def _failure(words: list[str]) -> dict[str, Any] | None:
    """Return the link that fails, which it does so many us after 2 s; None if none can be told."""
    numbers = [whole(word) for word in words]
    if len(numbers) != 3 or None in numbers or not numbers[0]:
        return None
    time, *ends = (int(one or 0) for one in numbers)
    down = format_time(min(2 * 10**12 + time * 10**6, MAX_TIME))
    return {"link": [str(end) for end in ends], "down": down}


def _why_not(name: str, given: Given) -> str:
    """Return why a key is not used."""
    if _OUTPUT.fullmatch(name):
        return "what it writes is not what is simulated"
    if name.startswith("CONWEAVE_"):
        return "there is no ConWeave here"
    if name in _KNOWN:
        return _LEFT_OUT.get(name, "it has no counterpart under this congestion control")
    hint = suggest(name, _KNOWN - set(given))
    return f"it is not known; {hint}" if hint else "it is not known"


def _lossy(found: Settings, given: Given, label: str, problems: list[Problem]) -> None:
    """Note what ConWeave's simulator says: no PFC, IRN, and how flows are spread over paths."""
    if _value(given, "ENABLE_PFC", _flag, label, problems) is False:
        found.at_top["flow_control"] = []
        size = found.sections.get("buffer", {}).get("size", ("16MB", ""))[0]  # our default
        for section, key, value in (
            ("run", "allow_loss", True),
            ("buffer", "lossless_classes", 0),
            ("buffer", "size", size),
            ("buffer", "lossy_pool", size),
            ("buffer", "lossy_alpha", 1.0),
        ):
            found.put(section, key, value, "ENABLE_PFC 0")
        found.assumed.append("without PFC a queue may have as much of the buffer as is free")
    if _value(given, "ENABLE_IRN", _flag, label, problems):
        found.put("queue_pair", "parameters", "irn", "ENABLE_IRN 1")
        found.put("queue_pair", "ack_every", 1, "ENABLE_IRN 1")
        found.assumed.append("IRN's time-outs and window are those of its paper at 40 Gb/s")
    mode = str(_value(given, "LB_MODE", _whole, label, problems) or 0)
    if mode != "0":
        told = f"LB_MODE {mode}, {BALANCERS.get(mode, 'not known')}: flows are spread over paths"
        found.left_out.append(f"{told} by the hash of their connection, LB_MODE 0")


def _is_off(name: str, words: list[str]) -> bool:
    """Whether a key says that something does not happen."""
    zero = all(is_number(word) and Decimal(word) == 0 for word in words)
    return zero and name in ("LINK_DOWN", "ERROR_RATE_PER_LINK", "L2_BACK_TO_ZERO")


def _control(found: Settings, given: Given, label: str, problems: list[Problem]) -> str | None:
    """Note and return the congestion control; None if there is none."""
    on = _value(given, "ENABLE_QCN", _flag, label, problems)
    mode = str(_value(given, "CC_MODE", _whole, label, problems))
    for name in ("ENABLE_QCN", "CC_MODE"):
        if name not in given:
            found.assumed.append(f"{name} 1: {label} does not say")
    mode = mode if "CC_MODE" in given else "1"
    if on is False:
        found.left_out.append("CC_MODE: ENABLE_QCN 0 switches congestion control off")
        return None
    control = CONTROLS.get(mode)
    if control is None:
        found.left_out.append(f"CC_MODE {mode}: there is no such congestion control here")
        return None
    found.at_top["congestion_control"] = control
    if control in ("hpcc", "timely"):
        found.put(control, "reference_rate", "0bps", "RATE_AI is for every rate")
    if control in MARKED:
        found.at_top["agents"] = ["ecn-marking"]
    return control


def marking(found: Settings, rates: Set[int]) -> None:
    """Note where switches mark: the thresholds of the fastest rate, in proportion for others.

    rates: of the links [bit/s]; others that the maps have do not count.
    """
    maps = {name: _of_links(rows, rates) for name, rows in found.maps.items()}
    if not maps:
        return
    fastest = max(maps[MAPS[0]])
    lacking = [format_rate(rate) for rate in sorted(rates - set(maps[MAPS[0]]))]
    if lacking:
        told = f"{MAPS[0]} has no links of {', '.join(lacking)}: in proportion to"
        found.assumed.append(f"{told} those of {format_rate(fastest)}")
    section = "ecn-marking"
    for name, key in (("KMIN_MAP", "kmin"), ("KMAX_MAP", "kmax")):
        size = format_bytes(int(maps[name][fastest] * _KB))
        found.put(section, key, size, f"{name} at {format_rate(fastest)}")
    found.put(section, "pmax", float(maps["PMAX_MAP"][fastest]), "PMAX_MAP")
    same = all(len(set(maps[name].values())) == 1 for name in MAPS[:2]) and len(maps[MAPS[0]]) > 1
    if same:
        found.put(section, "reference_rate", "0bps", "the same thresholds for every rate")
    else:
        found.put(section, "reference_rate", format_rate(fastest), "thresholds go with the rate")
    found.put(section, "at", "dequeue", "as there: by what a packet leaves behind")
    for name in () if same else MAPS[:2]:
        for rate, value in maps[name].items():
            if value * fastest != maps[name][fastest] * rate:
                told = f"{name} {rate} {value}: thresholds here are in proportion to the rate"
                found.left_out.append(f"{told}, from that at {format_rate(fastest)}")
    for rate, value in maps["PMAX_MAP"].items():
        if value != maps["PMAX_MAP"][fastest]:
            found.left_out.append(f"PMAX_MAP {rate} {value}: one share counts for all rates")


def _of_links(rows: dict[int, Decimal], rates: Set[int]) -> dict[int, Decimal]:
    """Return the rows of a map for these rates, all if it has none of them."""
    return {rate: value for rate, value in rows.items() if rate in rates} or rows


def _maps(given: Given, label: str) -> dict[str, dict[int, Decimal]] | list[Problem]:
    """Return the three maps of rates, or why there are none: no problem if the file has none."""
    maps: dict[str, dict[int, Decimal]] = {}
    lacking = [name for name in MAPS if name not in given]
    if len(lacking) == len(MAPS):
        return []
    if lacking:
        near = nearest(lacking[0], [name for name in given if name not in _KNOWN], 1)
        hint = f"line {given[near[0]][0]} has {near[0]}" if near else None
        return [Problem(label, f"{' and '.join(lacking)} missing", "all three maps, or none", hint)]
    for name in MAPS:
        number, words = given[name]
        count = whole(words[0])
        pairs = list(zip(words[1::2], words[2::2], strict=False))
        good = all(whole(rate) and is_number(value) for rate, value in pairs)
        rates = {int(rate) for rate, _ in pairs} if good else set()
        if not rates or len(rates) != count or len(words) != 1 + 2 * count:
            what = f"{' '.join(words)[:80]!r} is not a map of rates to thresholds"
            allowed = "the number of pairs, then rate [bit/s] and threshold of each"
            return [Problem(f"{label}: line {number}: {name}", what, allowed)]
        maps[name] = {int(rate): Decimal(value) for rate, value in pairs}
        if set(maps[name]) != set(maps[MAPS[0]]):
            where = f"{label}: line {number}: {name}"
            return [Problem(where, f"its rates are not those of {MAPS[0]}", "the same rates")]
    return maps
