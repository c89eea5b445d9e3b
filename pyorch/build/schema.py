"""What the built modules provide: every type with its attributes, from ns-3's TypeIds."""

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError, refusal
from pyorch.base.files import write_atomically
from pyorch.base.paths import program, python_path
from pyorch.build.info import BuildInfo

#: The class that Python drives (docs/architecture.md): its module, namespace in ns3, and header.
FACADE_MODULE = "facade"
FACADE_NAMESPACE = "facade"
FACADE_HEADER = "facade-simulation.h"

_NOT_FOR_PYTHON = Problem(
    where="profile",
    what="the sanitize profile is for the C++ test program; Python cannot load its libraries",
    allowed="release, debug",
    hint=None,
)


@dataclass(frozen=True)
class AttributeInfo:
    """One attribute: `type` is the C++ class of its value, `allowed` what its checker accepts."""

    name: str
    help: str
    type: str
    default: str
    allowed: str


@dataclass(frozen=True)
class TraceInfo:
    """One trace source and the C++ signature of its callbacks."""

    name: str
    help: str
    callback: str


@dataclass(frozen=True)
class TypeInfo:
    """One registered type.

    group: its module. abstract: it has no constructor. signaller: of a congestion control the
    TypeId name of the switch agent whose signal it obeys. telemetry: whether it makes frames carry
    that of switches. was: an old TypeId name that is still understood, or "".
    """

    name: str
    parent: str
    group: str
    abstract: bool
    attributes: Sequence[AttributeInfo] = ()
    traces: Sequence[TraceInfo] = ()
    signaller: str = ""
    telemetry: bool = False
    was: str = ""


#: All types, in the order in which ns-3 registered them.
Schema = Sequence[TypeInfo]


def parse_schema(text: str) -> Schema:
    """Parse the JSON of `Simulation::Describe`.

    Raises ValueError if the text is not JSON, KeyError or TypeError if it does not have that form.
    """
    return tuple(_type_info(entry) for entry in json.loads(text))


def load_schema(info: BuildInfo) -> Schema:
    """Describe the types of the built modules.

    The modules are queried once, in a separate process, and the answer is kept in the build folder
    as long as the fingerprint stays the same. Raises UserError if no module provides the class
    Simulation, or if the query fails.
    """
    cache = info.folder / "schema.json"
    known = _read_cache(cache, info.fingerprint)
    if known is None:
        text = describe(info)
        known = _parse_or_complain(text, cache)
        content = {"fingerprint": info.fingerprint, "types": json.loads(text)}
        with suppress(OSError):  # another user's build: without write access it is queried again
            write_atomically(cache, json.dumps(content, indent=1) + "\n")
    return known


def has_facade(info: BuildInfo) -> bool:
    """Whether the built modules provide the class Simulation."""
    return any((folder / "ns3" / FACADE_HEADER).is_file() for folder in info.include_dirs)


def describe(info: BuildInfo) -> str:
    """Return the JSON of `Simulation::Describe` for all built modules.

    Raises UserError if that fails.
    """
    if info.profile == "sanitize":
        raise UserError([_NOT_FOR_PYTHON])
    if not has_facade(info):
        raise refusal(
            str(info.folder),
            f"no built module ({', '.join(info.modules)}) has {FACADE_HEADER}",
            hint=f"the module '{FACADE_MODULE}' provides it: is it in ns3-modules/?",
        )
    done = subprocess.run(
        [*program("pyorch.run.ns3"), str(info.folder)],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError([_describe_problem(info, done.stderr)])
    return done.stdout


def _describe_problem(info: BuildInfo, stderr: str) -> Problem:
    tail = "\n".join(stderr.strip().splitlines()[-12:])
    return Problem(
        where=str(info.folder),
        what=f"the built modules do not load:\n{tail}",
        allowed=None,
        hint="delete it and 'invoke build'; if it still fails, the modules are at fault",
    )


def _read_cache(cache: Path, fingerprint: str) -> Schema | None:
    try:
        content = json.loads(cache.read_text(encoding="utf-8"))
        if content["fingerprint"] != fingerprint:
            return None
        return tuple(_type_info(entry) for entry in content["types"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # an unreadable cache counts as none


def _parse_or_complain(text: str, cache: Path) -> Schema:
    try:
        return parse_schema(text)
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(
            "ns3::facade::Simulation::Describe",
            f"its answer cannot be read ({error!r}): {text[:200]!r}",
            "a JSON list of types, as documented there",
            f"the module '{FACADE_MODULE}' is at fault ({cache} was not written)",
        ) from error


def _type_info(entry: dict[str, Any]) -> TypeInfo:
    return TypeInfo(
        name=entry["name"],
        parent=entry["parent"],
        group=entry["group"],
        abstract=bool(entry["abstract"]),
        attributes=tuple(AttributeInfo(**attribute) for attribute in entry["attributes"]),
        traces=tuple(TraceInfo(**trace) for trace in entry["traces"]),
        signaller=entry.get("signaller", ""),
        telemetry=bool(entry.get("telemetry", False)),
        was=entry.get("was", ""),
    )
