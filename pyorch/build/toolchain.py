"""The tools that a build needs: the ns3 wheel, a C++ compiler, CMake and Ninja."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

from pyorch.base.errors import Problem, UserError, refusal

#: The release whose headers the modules are written for, and the first one of its packages.
NS3_RELEASE = "3.44"
NS3_REQUIREMENT = f"ns3=={NS3_RELEASE}.*"
NS3_INSTALL = "python -m pip install -c constraints.txt -e '.[dev]'"

#: ns-3.44 needs C++20 and says which compilers suffice (its README and installation guide).
OLDEST_GCC = (10, 1)
OLDEST_CLANG = (11, 0)

#: CMake 3.20 is required by ns3-modules' top-level CMakeLists.txt.
PROGRAMS = ("cmake", "ninja")


@dataclass(frozen=True)
class Ns3:
    """The installed ns3 wheel: `include` has `ns3/*.h`, `libraries` has libns3.44-*.so."""

    version: str
    include: Path
    libraries: Path

    @property
    def release(self) -> str:
        """The release as in the names of the libraries ("3.44")."""
        return NS3_RELEASE

    @property
    def targets(self) -> Path:
        """The file that says how the wheel's libraries were compiled and which others they need."""
        return self.libraries / "cmake" / "ns3" / "ns3Targets.cmake"


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its path, "gcc" or "clang", its version and the machine it compiles for."""

    path: str
    family: str
    version: str
    machine: str

    def __str__(self) -> str:
        return f"{self.family} {self.version} ({self.machine})"


@dataclass(frozen=True)
class Toolchain:
    """Everything a build needs."""

    ns3: Ns3
    compiler: Compiler
    cmake: str
    ninja: str


def find_ns3() -> Ns3:
    """Find the ns3 wheel where pip put it, without importing it (its import takes seconds).

    Raises UserError if it is missing, is of another release, or lacks its headers or libraries.
    """
    try:
        version = importlib.metadata.version("ns3")
    except importlib.metadata.PackageNotFoundError:
        raise _ns3_error("the Python package ns3 is not installed") from None
    if not re.match(rf"{re.escape(NS3_RELEASE)}(\.|$)", version):
        raise _ns3_error(f"the installed ns3 is version {version}")
    spec = importlib.util.find_spec("ns3")
    for folder in [Path(place) for place in (spec and spec.submodule_search_locations) or ()]:
        for libraries in (folder / "lib64", folder / "lib"):
            ns3 = Ns3(version, folder / "include", libraries)
            if ns3.targets.is_file() and (ns3.include / "ns3" / "core-module.h").is_file():
                return ns3
    raise _ns3_error(f"the installed ns3 {version} has no headers and libraries")


def _ns3_error(what: str) -> UserError:
    return refusal(
        "ns3",
        f"{what}; the C++ modules are compiled against it",
        NS3_REQUIREMENT,
        f"in the project's folder: {NS3_INSTALL}",
    )


def find_compiler() -> Compiler:
    """Find the C++ compiler: $CXX if set, else g++.

    Raises UserError if it is missing or too old.
    """
    wanted = os.environ.get("CXX", "").strip() or "g++"
    path = shutil.which(wanted)
    if path is None:
        raise UserError([_compiler_problem(f"the C++ compiler '{wanted}' was not found on PATH")])
    stat = Path(path).stat()
    compiler = _identify(path, stat.st_mtime_ns, stat.st_size)
    oldest = OLDEST_CLANG if compiler.family == "clang" else OLDEST_GCC
    if tuple(int(number) for number in re.findall(r"\d+", compiler.version)) < oldest:
        what = f"{path} is {compiler.family} {compiler.version}, too old for C++20"
        raise UserError([_compiler_problem(what)])
    return compiler


@lru_cache(maxsize=8)
def _identify(path: str, _mtime_ns: int, _size: int) -> Compiler:
    """Query a compiler; the time and size ensure that an upgraded one is queried again."""
    banner = _ask(path, "--version")
    family = "clang" if "clang" in banner.lower() else "gcc"
    # gcc -dumpversion gives only the major number, clang has no -dumpfullversion but -dumpversion
    # is complete
    flags = ("-dumpversion",) if family == "clang" else ("-dumpfullversion", "-dumpversion")
    return Compiler(path, family, _ask(path, *flags).strip(), _ask(path, "-dumpmachine").strip())


def _ask(path: str, *flags: str) -> str:
    try:
        done = subprocess.run([path, *flags], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"{path} {' '.join(flags)} does not run: {error}"
        raise UserError([_compiler_problem(what)]) from error
    return done.stdout


def _compiler_problem(what: str) -> Problem:
    gcc, clang = (".".join(map(str, oldest)) for oldest in (OLDEST_GCC, OLDEST_CLANG))
    return Problem(
        where="C++ compiler",
        what=f"{what}; it compiles ns3-modules/",
        allowed=f"g++ {gcc} or newer, or clang++ {clang} or newer",
        hint="on Debian or Ubuntu: sudo apt-get install g++; or set CXX to the compiler to use",
    )


def find_program(name: str) -> str:
    """Find cmake or ninja: in its PyPI package, next to this Python, or on PATH.

    Raises UserError if it is not found.
    """
    places = [*_package_folders(name), sysconfig.get_path("scripts")]
    found = next((path for place in places if (path := shutil.which(name, path=place))), None)
    found = found or shutil.which(name)
    if found is None:
        raise refusal(
            name,
            f"'{name}' was not found, neither as a Python package nor on PATH",
            hint=f"python -m pip install -c constraints.txt {name}",
        )
    return found


def _package_folders(name: str) -> Sequence[str]:
    """The folders of a program in its PyPI package (the script next to Python is slower)."""
    spec = importlib.util.find_spec(name)
    return () if spec is None or spec.origin is None else (f"{Path(spec.origin).parent}/data/bin",)


def find_toolchain() -> Toolchain:
    """Find everything a build needs. Raises one UserError that names everything missing."""
    problems: list[Problem] = []
    ns3 = _attempt(find_ns3, problems)
    compiler = _attempt(find_compiler, problems)
    cmake, ninja = (_attempt(partial(find_program, name), problems) for name in PROGRAMS)
    if ns3 is None or compiler is None or cmake is None or ninja is None:
        raise UserError(problems)
    return Toolchain(ns3, compiler, cmake, ninja)


_Found = TypeVar("_Found")


def _attempt(find: Callable[[], _Found], problems: list[Problem]) -> _Found | None:
    try:
        return find()
    except UserError as error:
        problems.extend(error.problems)
        return None
