"""How to submit at this site: a small TOML file, and the options of `invoke submit` over it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyorch.errors import Problem, UserError, one_of, suggest
from pyorch.paths import Paths, expanded
from pyorch.reading import is_file, read_toml

FILE_VARIABLE = "PYORCH_SLURM"
FILE_NAME = "slurm.toml"

#: More jobs at once, or cores in a job, than any site has.
MAX_COUNT = 1_000_000

_UNITS_S = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|min|h|d)")
_SLURM_TIME = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?")
_MEM = re.compile(r"[0-9]{1,15}[KMGT]?")
_COUNT = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"[\w.,+-]+")
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?:=.*)?", re.DOTALL)


@dataclass(frozen=True)
class Settings:
    """What every job is submitted with.

    time_s: time limit; mem: memory a job, in Slurm's spelling; max_running: jobs at once;
    cores_per_job: runs at once in one job; job_overhead_s: what scheduling and starting a job costs
    here; run_time_s: how long a run takes as long as none has been made; setup: shell lines before
    anything else; options: further options of sbatch. file: where all this was read, if anywhere.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    time_s: int | None = None
    mem: str = ""
    max_running: int | None = None
    cores_per_job: int = 1
    job_overhead_s: float = 5.0
    run_time_s: float = 60.0
    build_on_node: bool = False
    setup: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    file: Path | None = None

    def sbatch_options(self) -> list[str]:
        """The options of sbatch that these settings amount to."""
        given = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": "" if self.time_s is None else slurm_time(self.time_s),
            "mem": self.mem,
        }
        own = [f"--{name}={value}" for name, value in given.items() if value]
        return [*own, f"--cpus-per-task={self.cores_per_job}", *self.options]


def parse_duration(text: object) -> float:
    """Return the seconds of "90s", "30min", "2h" or "1d". Raises ValueError for people."""
    match = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not a duration")
    return float(match[1]) * _UNITS_S[match[2]]


def parse_limit(text: object) -> int:
    """Return the seconds of a time limit, in Slurm's spelling or as a duration.

    "30" are minutes, "30:00", "1:30:00", "2-12", "2-12:30" and "2-12:30:00" as sbatch reads them.
    Raises ValueError for people.
    """
    if isinstance(text, str) and _DURATION.fullmatch(text.strip()):
        seconds = round(parse_duration(text))
    else:
        match = _SLURM_TIME.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise ValueError(f"{text!r} is not a time limit")
        days, *parts = match.groups()
        numbers = [int(part) for part in parts if part is not None]
        if days is not None:  # days-hours[:minutes[:seconds]]
            hours, minutes, rest = [*numbers, 0, 0][:3]
        elif len(numbers) == 3:
            hours, minutes, rest = numbers
        else:  # minutes[:seconds]
            hours, (minutes, rest) = 0, [*numbers, 0][:2]
        seconds = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest
    if seconds <= 0:
        raise ValueError(f"{text!r} leaves no time")
    return seconds


def slurm_time(seconds: int) -> str:
    """Return seconds as sbatch reads them: D-HH:MM:SS."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02}:{minutes:02}:{rest:02}"


def _positive(text: object) -> float:
    seconds = parse_duration(text)
    if seconds == 0:
        raise ValueError(f"{text!r} is no time at all")
    return seconds


def _count(value: object) -> int:
    number = int(value) if isinstance(value, str) and _COUNT.fullmatch(value) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MAX_COUNT:
        raise ValueError(f"{value!r} is not a whole number in this range")
    return number


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise ValueError(f"{value!r} is not a name")
    return value


def _memory(value: object) -> str:
    if not isinstance(value, str) or not _MEM.fullmatch(value):
        raise ValueError(f"{value!r} is not an amount of memory as sbatch reads it")
    return value


def _lines(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise ValueError(f"{value!r} is not a list of texts")
    if any("\0" in line for line in value):
        raise ValueError(f"{value!r} holds a NUL character")
    return tuple(value)


def _options(value: object) -> tuple[str, ...]:
    lines = _lines(value)
    for line in lines:
        match = _OPTION.fullmatch(line)
        if match is None:
            raise ValueError(f"{line!r} is not a long option of sbatch in one text")
        # sbatch completes shortened names
        owned = next((name for name in _OWNED if name.startswith(match[1])), None)
        if owned is not None:
            meant = "" if owned == match[1] else f" is short for --{owned}, which"
            raise ValueError(f"{line!r}{meant} {_OWNED[owned]}")
    return lines


def _all(reason: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


#: Options of sbatch that are not the site's to give, and why.
_OWNED = {
    **_all("is set by pyorch itself", "array", "job-name", "output", "error", "open-mode", "chdir"),
    **_all("is set by pyorch itself", "parsable", "requeue", "no-requeue", "dependency"),
    **_all("keeps sbatch from submitting the array and returning at once", "wait", "wrap"),
    **_all("keeps sbatch from submitting anything", "test-only", "help", "usage", "version"),
    **_all("sends jobs to where `invoke status` does not look", "clusters"),
    **{
        name: f"has a key of its own here: {name} = ..."
        for name in ("partition", "account", "qos", "time", "mem")
    },
    **_all("has a key of its own here: cores_per_job = ...", "cpus-per-task"),
}

_COUNTS = f"a whole number from 1 to {MAX_COUNT:,}"
_DURATIONS = '"90s", "30min", "2h", "1d"'
#: Key of the file -> (field, how to read it, what is allowed).
KEYS: Mapping[str, tuple[str, Callable[[object], Any], str]] = {
    "partition": ("partition", _word, 'a text, "main"'),
    "account": ("account", _word, 'a text, "project1"'),
    "qos": ("qos", _word, 'a text, "normal"'),
    "time": ("time_s", parse_limit, f'{_DURATIONS}, or as sbatch reads it: "1:30:00", "2-12"'),
    "mem": ("mem", _memory, '"2G", "500M"'),
    "max_running": ("max_running", _count, _COUNTS),
    "cores_per_job": ("cores_per_job", _count, _COUNTS),
    "job_overhead": ("job_overhead_s", parse_duration, _DURATIONS),
    "run_time": ("run_time_s", _positive, _DURATIONS),
    "build_on_node": ("build_on_node", _flag, "true, false"),
    "setup": ("setup", _lines, '["module load gcc/12"]'),
    "options": (
        "options",
        _options,
        '["--constraint=avx2"]: long options of sbatch, each one text',
    ),
}


def settings_file(paths: Paths) -> Path | None:
    """Which file says how to submit here, if any.

    $PYORCH_SLURM, else slurm.toml in the project, else in ~/.config/pyorch. Raises UserError when
    the variable names no file.
    """
    given = os.environ.get(FILE_VARIABLE)
    if given:
        file = expanded(given)
        if is_file(file):
            return file
        raise UserError([Problem(FILE_VARIABLE, f"there is no file {given}", None, None)])
    home = expanded(os.environ.get("XDG_CONFIG_HOME") or "~/.config")
    places = (paths.root / FILE_NAME, home / "pyorch" / FILE_NAME)
    return next((file for file in places if file.is_file()), None)


def load_settings(paths: Paths, options: Mapping[str, str | bool]) -> Settings:
    """The site's settings with the options of the command line over them.

    options: by key, as typed; "" and False are left out. Raises UserError with all problems.
    """
    file = settings_file(paths)
    document = {} if file is None else read_toml(file, str(file))
    problems: list[Problem] = []
    fields = _read(document, lambda key: f"{file}: {key}", problems)
    typed = {key: value for key, value in options.items() if value not in ("", False)}
    fields |= _read(typed, lambda key: "--" + key.replace("_", "-"), problems)
    if problems:
        raise UserError(problems)
    return replace(Settings(file=file), **fields)


def _read(
    document: Mapping[str, Any], where: Callable[[str], str], problems: list[Problem]
) -> dict[str, Any]:
    fields = {}
    for key, value in document.items():
        if key not in KEYS:
            what = "there is no such key"
            problems.append(Problem(where(key), what, one_of(KEYS), suggest(key, KEYS)))
            continue
        field, read, allowed = KEYS[key]
        try:
            fields[field] = read(value)
        except ValueError as error:
            problems.append(Problem(where(key), str(error), allowed))
    return fields
