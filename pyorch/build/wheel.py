"""The wheel's libraries as CMake targets.

The wheel has an ns3Targets.cmake, but it names include folders of the machine on which it was
built, and CMake refuses folders that do not exist. So only the definitions and the dependencies of
the libraries are read from it, and the targets are written anew.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyorch.build.info import BuildInfo
from pyorch.build.toolchain import Ns3

#: The wheel's libraries for CMake, with the macros they were compiled with.
TARGETS = "ns3-targets.cmake"

_TARGET = re.compile(
    r"set_target_properties\(ns3::(?P<name>[\w-]+) PROPERTIES(?P<body>.*?)\n\)", re.DOTALL
)


@dataclass(frozen=True)
class WheelLibrary:
    """How one library of the wheel was compiled and which of the others it links."""

    definitions: tuple[str, ...]
    needs: tuple[str, ...]


def parse_targets(text: str) -> dict[str, WheelLibrary]:
    """Read definitions and dependencies of each library from the text of an ns3Targets.cmake.

    Definitions that contain a path of the building machine are omitted: no header reads them.
    """
    return {
        match["name"]: WheelLibrary(
            definitions=tuple(
                entry
                for entry in _property(match["body"], "INTERFACE_COMPILE_DEFINITIONS")
                if "/" not in entry
            ),
            needs=tuple(
                entry.removeprefix("ns3::")
                for entry in _property(match["body"], "INTERFACE_LINK_LIBRARIES")
                if entry.startswith("ns3::")
            ),
        )
        for match in _TARGET.finditer(text)
    }


def _property(body: str, name: str) -> list[str]:
    match = re.search(rf'{name} "(?P<value>(?:[^"\\]|\\.)*)"', body)
    return match["value"].split(";") if match else []


def cmake_targets(ns3: Ns3, libraries: Mapping[str, WheelLibrary]) -> str:
    """Return CMake text: a target ns3::NAME and a variable libNAME for every library."""
    there = {
        name: library for name, library in libraries.items() if library_file(ns3, name).is_file()
    }
    lines = [f'set(NS3_VER "{ns3.release}")', f"set(NS3_INCLUDE [[{ns3.include}]])"]
    for name, library in there.items():
        needs = ";".join(f"ns3::{need}" for need in library.needs if need in there)
        lines += [
            f"add_library(ns3::{name} SHARED IMPORTED GLOBAL)",
            f"set_target_properties(ns3::{name} PROPERTIES",
            f"  IMPORTED_LOCATION [[{library_file(ns3, name)}]]",
            f"  INTERFACE_INCLUDE_DIRECTORIES [[{ns3.include}]]",
            f"  INTERFACE_COMPILE_DEFINITIONS [[{';'.join(library.definitions)}]]",
            f"  INTERFACE_LINK_LIBRARIES [[{needs}]])",
            f"set(lib{name} ns3::{name})",
        ]
    return "\n".join(lines) + "\n"


def library_file(ns3: Ns3, name: str) -> Path:
    """Return the path of one of the wheel's libraries."""
    return ns3.libraries / f"libns{ns3.release}-{name}.so"


def base_targets(base: BuildInfo, modules: Mapping[str, tuple[str, Sequence[str]]]) -> str:
    """Return CMake text: a target and a variable libNAME for every module of a finished build.

    modules: the file of each one's library, and the libraries that it links.
    """
    lines = []
    for name, (file, needs) in modules.items():
        links = ";".join(need if need in modules else f"ns3::{need}" for need in needs)
        lines += [
            f"add_library({name} SHARED IMPORTED GLOBAL)",
            f"set_target_properties({name} PROPERTIES",
            f"  IMPORTED_LOCATION [[{base.folder / 'lib' / file}]]",
            f"  INTERFACE_INCLUDE_DIRECTORIES [[{base.folder / 'include'}]]",
            f"  INTERFACE_LINK_LIBRARIES [[{links}]])",
            f"set(lib{name} {name})",
        ]
    return "\n".join(lines) + "\n"
