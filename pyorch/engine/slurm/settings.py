"""Settings of this site for submissions: a TOML file, and options of `invoke submit`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
)

from pyorch.base.errors import Problem, UserError, one_of, refusal, suggest
from pyorch.base.paths import Paths, expanded
from pyorch.base.reading import is_file, read_toml
from pyorch.base.trust import SITE_FILE, vouch
from pyorch.base.units import WALL_TIMES

FILE_VARIABLE = "PYORCH_SLURM"

#: More jobs at once, or cores in a job, than any site has.
MAX_COUNT = 1_000_000

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|min|h|d)")
_SLURM_TIME = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?")
_COUNT = re.compile(r"[0-9]{1,9}")
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?:=.*)?", re.DOTALL)


def parse_duration(text: object) -> float:
    """Return the seconds of "90s", "30min", "2h" or "1d".

    Raises ValueError with a message for users.
    """
    match = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not a duration")
    return float(match[1]) * WALL_TIMES[match[2]]


def parse_limit(text: object) -> int:
    """Return the seconds of a time limit, in Slurm's format or as a duration.

    "30" are minutes, "30:00", "1:30:00", "2-12", "2-12:30" and "2-12:30:00" as in sbatch. Raises
    ValueError with a message for users.
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
    """Return seconds in the format of sbatch: D-HH:MM:SS."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02}:{minutes:02}:{rest:02}"


def _positive(text: object) -> float:
    seconds = parse_duration(text)
    if seconds == 0:
        raise ValueError(f"{text!r} is not a time")
    return seconds


def _count(value: object) -> object:
    """A number that the command line passes as text."""
    return int(value) if isinstance(value, str) and _COUNT.fullmatch(value) else value


def _options(lines: tuple[str, ...]) -> tuple[str, ...]:
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


#: Options of sbatch that a site cannot set, and why.
_OWNED = {
    **_all("is set by pyorch itself", "array", "job-name", "output", "error", "open-mode", "chdir"),
    **_all("is set by pyorch itself", "parsable", "requeue", "no-requeue", "dependency"),
    **_all("prevents sbatch from submitting the array and returning at once", "wait", "wrap"),
    **_all("prevents sbatch from submitting anything", "test-only", "help", "usage", "version"),
    **_all("sends jobs to a cluster that `invoke status` does not query", "clusters"),
    **{
        name: f"is set by its own key here: {name} = ..."
        for name in ("partition", "account", "qos", "time", "mem")
    },
    **_all("is set by its own key here: cores_per_job = ...", "cpus-per-task"),
}


def _key(default: Any, allowed: str, key: str | None = None) -> Any:
    return Field(default, description=allowed, alias=key)


_DURATIONS = '"90s", "30min", "2h", "1d"'
_COUNTS = f"a whole number from 1 to {MAX_COUNT:,}"
_Word = Annotated[str, Field(pattern=r"^[\w.,+-]+$")]
_Count = Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT), BeforeValidator(_count)]
_Lines = tuple[Annotated[str, Field(pattern=r"^[^\x00]*$")], ...]


class Settings(BaseModel):
    """Settings of all jobs; the description of a field states the values of its key.

    time_s: time limit; mem: memory per job, in Slurm's format; max_running: parallel jobs;
    cores_per_job: parallel runs in one job, or threads of a run; job_overhead_s: cost of
    scheduling and starting a job here; run_time_s: duration of a run, used until one is done;
    setup: shell lines before anything
    else; options: further options of sbatch. file: the settings file, if any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    partition: _Word = _key("", 'a text, "main"')
    account: _Word = _key("", 'a text, "project1"')
    qos: _Word = _key("", 'a text, "normal"')
    time_s: Annotated[int | None, BeforeValidator(parse_limit)] = _key(
        None, f'{_DURATIONS}, or as sbatch reads it: "1:30:00", "2-12"', "time"
    )
    mem: Annotated[str, Field(pattern="^[0-9]{1,15}[KMGT]?$")] = _key("", '"2G", "500M"')
    max_running: _Count | None = _key(None, _COUNTS)
    cores_per_job: _Count = _key(1, _COUNTS)
    job_overhead_s: Annotated[float, BeforeValidator(parse_duration)] = _key(
        5.0, _DURATIONS, "job_overhead"
    )
    run_time_s: Annotated[float, BeforeValidator(_positive)] = _key(60.0, _DURATIONS, "run_time")
    build_on_node: StrictBool = _key(False, "true, false")
    setup: _Lines = _key((), '["module load gcc/12"]')
    options: Annotated[_Lines, AfterValidator(_options)] = _key(
        (), '["--constraint=avx2"]: long options of sbatch, each one text'
    )
    file: Path | None = Field(None, exclude=True)

    def sbatch_options(self) -> list[str]:
        """The options of sbatch for these settings."""
        given = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": "" if self.time_s is None else slurm_time(self.time_s),
            "mem": self.mem,
        }
        own = [f"--{name}={value}" for name, value in given.items() if value]
        return [*own, f"--cpus-per-task={self.cores_per_job}", *self.options]


KEYS: Mapping[str, str] = {
    field.alias or name: field.description or ""
    for name, field in Settings.model_fields.items()
    if not field.exclude
}
"""The keys of the file, with their allowed values."""


def settings_file(paths: Paths) -> Path | None:
    """The settings file of this site, if any.

    $PYORCH_SLURM, else slurm.toml in the project, else in ~/.config/pyorch. Raises UserError if the
    variable does not name a file.
    """
    given = os.environ.get(FILE_VARIABLE)
    if given:
        file = expanded(given)
        if is_file(file):
            return file
        raise refusal(FILE_VARIABLE, f"there is no file {given}")
    home = expanded(os.environ.get("XDG_CONFIG_HOME") or "~/.config")
    places = (paths.root / SITE_FILE, home / "pyorch" / SITE_FILE)
    return next((file for file in places if file.is_file()), None)


def load_settings(paths: Paths, options: Mapping[str, str | bool]) -> Settings:
    """The site's settings, overridden by options of the command line.

    options: by key, as typed; "" and False are ignored. Raises UserError with all problems.
    """
    file = settings_file(paths)
    if file is not None:
        vouch([file])
    document = {} if file is None else read_toml(file, str(file))
    typed = {key: value for key, value in options.items() if value not in ("", False)}
    given = document | typed
    problems = [
        Problem(f"{file}: {key}", "unknown key", one_of(KEYS), suggest(key, KEYS))
        for key in given
        if key not in KEYS
    ]
    try:
        found = Settings.model_validate({key: given[key] for key in KEYS if key in given})
    except ValidationError as error:
        for key, told in {str(one["loc"][0]): one for one in error.errors()}.items():
            where = "--" + key.replace("_", "-") if key in typed else f"{file}: {key}"
            what = told.get("ctx", {}).get("error", f"{given[key]!r} is not allowed")
            problems.append(Problem(where, str(what), KEYS[key]))
    if problems:
        raise UserError(problems)
    return found.model_copy(update={"file": file})
