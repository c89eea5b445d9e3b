"""Compile the C++ modules, and only when there is something to compile."""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from pyorch.build import compile_log, sources
from pyorch.build.info import STAMP, BuildInfo
from pyorch.build.profiles import flags_of
from pyorch.build.sources import CMAKE_FOLDER, Module
from pyorch.build.toolchain import Compiler, Ns3, Toolchain, find_compiler, find_ns3, find_toolchain
from pyorch.build.wheel import base_targets, cmake_targets, parse_targets
from pyorch.errors import UserError
from pyorch.files import storage_error, write_atomically
from pyorch.paths import Paths, project_root

_IDENTITY = "identity.json"
_LOCK = ".lock"
#: What a build made, one module a line: name, file, libraries it links.
_MODULES = "modules.txt"
#: Longest list of module names in the name of a build folder.
_LONGEST = 60


@dataclass(frozen=True)
class _Request:
    """One call of ensure_built."""

    profile: str
    flags: str
    folder: Path
    modules: Sequence[Module]
    tests: bool
    quiet: bool
    base: BuildInfo | None = None

    @property
    def compiled(self) -> Sequence[Module]:
        """The modules that this build compiles; those of its base are there already."""
        return [module for module in self.modules if not self.base or module.outside]

    @property
    def target(self) -> str:
        return "tests" if self.tests else "modules"

    def say(self, text: str) -> None:
        if not self.quiet:
            print(f"build: {text}", file=sys.stderr, flush=True)


def ensure_built(
    profile: str = "release",
    quiet: bool = False,
    *,
    tests: bool = False,
    root: Path | None = None,
    folder: Path | None = None,
    outside: bool = True,
) -> BuildInfo:
    """Compile every module of ns3-modules/ that changed, and return what there is to load.

    Modules of $PYORCH_MODULE_PATH are compiled against that build, into a folder of their own:
    build/PROFILE is the same with and without them. `outside` False leaves them out.

    `tests` compiles the test program and the examples too; where there are modules of
    $PYORCH_MODULE_PATH, theirs only. `root` is the project's folder if it is not the one that this
    package lies in; `folder` takes the place of its build/. When nothing changed, no other program
    than the compiler (for its version) is started. Several processes may call this at once: one
    compiles, the others wait for it.

    Raises UserError when something the build needs is missing or wrong, or when the modules do
    not compile.
    """
    paths = Paths(root if root is not None else project_root())
    modules = sources.find_modules(paths.modules)
    more = [module for module in modules if module.outside and outside]
    own = _Request(
        profile=profile,
        flags=flags_of(profile),
        folder=(folder or paths.build_root) / profile,
        modules=[module for module in modules if not module.outside],
        tests=tests and not more,
        quiet=quiet,
    )
    info = _ensure(own)
    if not more:
        return info
    with_more = own.folder.with_name(f"{profile}-with-{_joined(more)}")
    return _ensure(replace(own, folder=with_more, modules=modules, tests=tests, base=info))


def _joined(modules: Sequence[Module]) -> str:
    """Return modules as a part of a folder's name: their names, and a digest of where they lie.

    So those of two shells, or of two tests, do not take each other's place.
    """
    text = "-".join(module.name for module in modules)
    places = ":".join(str(module.folder) for module in modules)
    digest = hashlib.sha256(places.encode()).hexdigest()
    return f"{text}-{digest[:8]}" if len(text) <= _LONGEST else digest[:16]


def _ensure(request: _Request) -> BuildInfo:
    """Return a build, made if need be. Raises UserError."""
    ns3 = find_ns3()
    info = _finished(request, ns3)
    if info is not None:
        return info
    tools = find_toolchain()
    try:
        with _locked(request):
            info = _finished(request, ns3)  # another process may have done it while this one waited
            return info if info is not None else _build(request, tools)
    except OSError as error:
        raise storage_error(error, request.folder) from error


@contextmanager
def _locked(request: _Request) -> Iterator[None]:
    request.folder.mkdir(parents=True, exist_ok=True)
    with (request.folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            request.say("another process is compiling, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Is there anything to do?


def _finished(request: _Request, ns3: Ns3) -> BuildInfo | None:
    """Return the finished build if it was made from exactly what is there now."""
    try:
        stamp = json.loads((request.folder / STAMP).read_text(encoding="utf-8"))
        info = BuildInfo.from_json(stamp["info"])
        made_from = stamp["made_from"]
        current = _made_from(request, ns3, _compiler_or(made_from["compiler"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    wanted = [key for key in current if key != "tests" or request.tests]
    same = all(made_from.get(key) == current[key] for key in wanted)
    return info if same and all(library.is_file() for library in info.libraries) else None


def _made_from(request: _Request, ns3: Ns3, compiler: str) -> dict[str, Any]:
    """All that decides whether a build is up to date; a file counts by its size and time."""
    return {
        "folder": str(request.folder),
        "flags": request.flags,
        "ns3": [ns3.version, str(ns3.include)],
        "compiler": compiler,
        "libraries": sources.snapshot(sources.files_of_libraries(request.modules)),
        "tests": sources.snapshot(sources.files_of_tests(request.compiled)),
        "base": request.base.fingerprint if request.base else None,
    }


def _compiler_or(known: str) -> str:
    """The compiler; without one, that of the finished build, which needs none any more."""
    try:
        return _compiler_text(find_compiler())
    except UserError:
        return known


def _compiler_text(compiler: Compiler) -> str:
    return f"{compiler.path}: {compiler}"


# Doing it


def _build(request: _Request, tools: Toolchain) -> BuildInfo:
    began = time.monotonic()
    names = ", ".join(module.name for module in request.compiled)
    request.say(f"compiling {names} ({request.profile}, {tools.compiler})")
    made_from = _made_from(request, tools.ns3, _compiler_text(tools.compiler))
    if not request.tests:
        made_from["tests"] = None
    fingerprint = sources.fingerprint(
        request.modules, tools.ns3.version, tools.compiler, request.flags
    )
    _start_afresh_if_moved(request, tools)
    (request.folder / STAMP).unlink(missing_ok=True)
    log = compile_log.Log(request.folder / "build.log", request.quiet)
    log.run("configure", _configure_command(request, tools))
    jobs = str(len(os.sched_getaffinity(0)))
    log.run("compile", [tools.ninja, "-C", str(request.folder), "-j", jobs, request.target])
    info = _info(request, tools, fingerprint)
    _write_json(request.folder / STAMP, {"info": info.to_json(), "made_from": made_from})
    if log.warnings:
        request.say(f"{log.warnings} warnings, see {log.file}")
    request.say(f"done in {time.monotonic() - began:.1f} s")
    return info


def _start_afresh_if_moved(request: _Request, tools: Toolchain) -> None:
    """Empty the build folder when what is in it was made elsewhere or by something else.

    CMake and Ninja look at times and commands only: they would not notice another compiler
    behind the same name.
    """
    identity = {
        "folder": str(request.folder),
        "project": str(CMAKE_FOLDER),
        "ns3": [tools.ns3.version, str(tools.ns3.include)],
        "compiler": _compiler_text(tools.compiler),
        "cmake": tools.cmake,
        "ninja": tools.ninja,
    }
    if request.base:
        identity["outside"] = [str(module.folder) for module in request.compiled]
    file = request.folder / _IDENTITY
    try:
        if json.loads(file.read_text(encoding="utf-8")) == identity:
            return
    except (OSError, ValueError):
        pass
    for entry in request.folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()
    _write_json(file, identity)


def _configure_command(request: _Request, tools: Toolchain) -> list[str]:
    targets = request.folder / "ns3-targets.cmake"
    text = cmake_targets(tools.ns3, parse_targets(tools.ns3.targets.read_text(encoding="utf-8")))
    _write_if_new(targets, text)
    base = request.folder / "base-targets.cmake"
    if request.base:
        _write_if_new(base, base_targets(request.base, _read_modules(request.base.folder)))
    folders = ";".join(str(module.folder) for module in request.compiled)
    settings = {
        "CMAKE_MAKE_PROGRAM": tools.ninja,
        "CMAKE_CXX_COMPILER": tools.compiler.path,
        "CMAKE_BUILD_TYPE": "",
        # given here, so that CXXFLAGS of the environment cannot change results
        "CMAKE_CXX_FLAGS": request.flags,
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "PYORCH_MODULES": folders,
        "PYORCH_TARGETS": str(targets),
        "PYORCH_BASE": str(base) if request.base else "",
        "PYORCH_PROFILE": request.profile,
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    return [
        tools.cmake,
        "-G",
        "Ninja",
        "-S",
        str(CMAKE_FOLDER),
        "-B",
        str(request.folder),
        *options,
    ]


def _info(request: _Request, tools: Toolchain, fingerprint: str) -> BuildInfo:
    made = _read_modules(request.folder)
    links = {name: needs for name, (_, needs) in made.items()}
    order = [name for name in TopologicalSorter(links).static_order() if name in made]
    base = request.base
    return BuildInfo(
        folder=request.folder,
        libraries=[
            *(base.libraries if base else []),
            *(request.folder / "lib" / made[name][0] for name in order),
        ],
        include_dirs=[
            request.folder / "include",
            *(base.include_dirs if base else [tools.ns3.include]),
        ],
        modules=[*(base.modules if base else []), *order],
        fingerprint=fingerprint,
        ns3_libraries=tools.ns3.libraries,
        ns3_version=tools.ns3.version,
        profile=request.profile,
        base=base.folder if base else None,
    )


def _read_modules(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return what a build made: the library of each module, and the libraries that it links."""
    lines = (folder / _MODULES).read_text(encoding="utf-8").splitlines()
    return {name: (file, needs) for name, file, *needs in map(str.split, lines)}


def _write_if_new(file: Path, text: str) -> None:
    """Write a file unless it says so already: CMake goes by its time."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def _write_json(file: Path, content: object) -> None:
    write_atomically(file, json.dumps(content, indent=1) + "\n")
