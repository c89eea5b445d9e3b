"""Compile the C++ modules, but only if there is something to compile."""

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path

from pyorch.base.errors import UserError, refusal
from pyorch.base.files import telling, write_atomically
from pyorch.base.fingerprint import modules_of
from pyorch.base.paths import Paths, project_root
from pyorch.build import compile_log, finished, shipped, sources
from pyorch.build.finished import MODULES, STAMP
from pyorch.build.info import BuildInfo
from pyorch.build.profiles import TEST_FLAGS, flags_of
from pyorch.build.schema import FACADE_MODULE
from pyorch.build.sources import CMAKE_FOLDER, Module
from pyorch.build.toolchain import Ns3, Toolchain, find_compiler, find_ns3, find_toolchain
from pyorch.build.wheel import TARGETS, base_targets, cmake_targets, parse_targets

#: In the working folder: what it was made from, unless a build was killed there, and since when.
_IDENTITY = "identity.json"
_BEGAN = "began"
#: In a profile's folder: where CMake and Ninja compile, and their last output.
_WORK = "work"
_LOG = "build.log"
#: The folder in which tests find an ns3/test.h that precedes the wheel's.
_TESTING = "testing"
#: The names of the examples, written by CMake.
_EXAMPLES = "examples.txt"
#: Maximum length of the list of module names in the name of a build folder.
_LONGEST = 60
#: How often to compile again if sources keep changing.
_TRIES = 5
_PROGRAMS = "programs-"
_PROGRAMS_OF = f"{_PROGRAMS}of-"  # some modules only
#: The program with the suites of all modules; with the suffix "-MODULE", those of one.
TEST_RUNNER = "test-runner"
#: Next to the profiles: what each version of a module's files contributes to a fingerprint.
_PRINTS = "prints.json"
_STUB = re.compile(r'#include "(?P<file>/[^"]*)"\n')


class _ChangedError(Exception):
    """A source changed during compilation: which of its versions was compiled is unknown."""


@dataclass(frozen=True)
class _Request:
    """One call of ensure_built; `folder` is the profile's."""

    profile: str
    flags: str
    folder: Path
    modules: Sequence[Module]
    tests: bool
    quiet: bool
    base: BuildInfo | None = None
    first: Callable[[], object] | None = None
    tested: Sequence[str] = ()
    only: Collection[str] = ()

    @property
    def own(self) -> Sequence[Module]:
        """The modules that are compiled in this folder; those of its base exist already."""
        return [module for module in self.modules if not self.base or module.outside]

    @property
    def compiled(self) -> Sequence[Module]:
        """The modules that this build compiles."""
        return [module for module in self.own if not self.only or module.name in self.only]

    @property
    def work(self) -> Path:
        """Where CMake and Ninja compile."""
        return self.folder / _WORK

    @property
    def targets(self) -> Sequence[str]:
        """The targets of Ninja."""
        if self.tests and not self.tested:
            # examples are compiled and run only in release, never under sanitizers
            return ["modules", TEST_RUNNER] if self.profile == "sanitize" else ["tests"]
        return ["modules", *(self.runners if self.tests else ())]

    @property
    def runners(self) -> Sequence[str]:
        """The test programs of single modules, if only these are to be tested."""
        return [f"{TEST_RUNNER}-{name}" for name in self.tested]

    def say(self, text: str) -> None:
        if not self.quiet:
            print(f"build: {text}", file=sys.stderr, flush=True)


def ensure_built(
    profile: str = "release",
    quiet: bool = False,
    *,
    tests: bool = False,
    tested: Sequence[str] = (),
    root: Path | None = None,
    folder: Path | None = None,
    outside: bool = True,
    first: Callable[[], object] | None = None,
) -> BuildInfo:
    """Compile every module of ns3-modules/ that changed, and return what to load.

    Every build has a separate folder that is never changed again, and never deleted while this
    process uses it. An earlier build of the same sources is reused, and nothing is compiled.
    Modules of $PYORCH_MODULE_PATH are compiled against that build, into a separate folder: those of
    build/PROFILE are the same with and without them. `outside` False omits them.

    `tests` also compiles the test program and, except for sanitize, the examples; if there are
    modules of $PYORCH_MODULE_PATH, only theirs. `tested` names the only modules whose tests are
    compiled, a program for each, without examples. `root` is the project's folder if it is not the
    one that contains this package; `folder` replaces its build/. If there is nothing to compile, no
    program other than the compiler (for its version) is started. Several processes may call this at
    once: one compiles, the others wait for it. `first` is called before anything is compiled, if
    anything is: an exception that it raises avoids the wait.

    Raises UserError if something the build needs is missing or wrong, or if the modules do not
    compile.
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
        first=first,
        tested=tested,
    )
    info = _ensure(own)
    if not more:
        return info
    with_more = own.folder.with_name(f"{profile}-with-{_joined(more)}")
    return _ensure(replace(own, folder=with_more, modules=modules, tests=tests, base=info))


def ensure_used(types: Collection[str], folder: Path, root: Path | None = None) -> BuildInfo:
    """Compile the modules that runs of these types use, below `folder`, and return what to load.

    The build is next to that of all modules and has the same fingerprint. All modules are compiled
    if it is unknown which are used, or if $PYORCH_MODULE_PATH has some. Raises UserError as
    ensure_built does.
    """
    modules = sources.find_modules(Paths(root if root is not None else project_root()).modules)
    request = _Request(
        profile="release",
        flags=flags_of("release"),
        folder=folder / "release",
        modules=modules,
        tests=False,
        quiet=False,
    )
    used = modules_of(_fingerprint(request, "", ""), types)
    names = {module.name for module in modules}
    if not used or used == names or any(module.outside for module in modules):
        return ensure_built(root=root, folder=folder)
    return _ensure(replace(request, only=used))


def _joined(modules: Sequence[Module]) -> str:
    """Return modules as a part of a folder's name: their names, and a digest of their places.

    So the builds of two shells, or of two tests, do not replace each other.
    """
    text = "-".join(module.name for module in modules)
    places = ":".join(str(module.folder) for module in modules)
    digest = hashlib.sha256(places.encode()).hexdigest()
    return f"{text}-{digest[:8]}" if len(text) <= _LONGEST else digest[:16]


def _ensure(request: _Request) -> BuildInfo:
    """Return a build, compiled if necessary. Raises UserError."""
    ns3 = find_ns3()
    info = _finished(request, ns3) or _unpacked(request, ns3)
    if info is not None:
        return info
    if request.first is not None:
        request.first()
    tools = find_toolchain()
    with telling(request.folder), finished.compiling(request.folder, request.say):
        info = _finished(request, ns3)  # perhaps built by another process meanwhile
        return info if info is not None else _build(request, tools)


# Is there anything to do?


def _finished(request: _Request, ns3: Ns3) -> BuildInfo | None:
    """Return the finished build of exactly the present sources, if there is one."""
    for compiler in _compilers(request):
        fingerprint = _fingerprint(request, ns3.version, compiler)
        info = _open(_folder(request, ns3, fingerprint))
        if info is not None and request.tests:
            # A build with its test program, held, if that exists
            programs = info.folder / _programs(request)
            info = replace(info, programs=programs) if finished.hold(programs) else None
        if info is not None:
            return info
    return None


def _unpacked(request: _Request, ns3: Ns3) -> BuildInfo | None:
    """The build that came with this package, if that is the one; it needs no compiler."""
    compiler = shipped.compiler()
    is_whole = not (request.tests or request.base or request.only)
    if compiler is None or request.profile != "release" or not is_whole:
        return None
    fingerprint = _fingerprint(request, ns3.version, compiler)
    folder = _folder(request, ns3, fingerprint)
    with telling(request.folder), finished.compiling(request.folder, request.say):
        if not (folder / STAMP).is_file():  # perhaps by another process meanwhile
            shipped.unpack(folder, fingerprint, ns3, request.say)
        return _open(folder)


def _fingerprint(request: _Request, ns3: str, compiler: str) -> str:
    cache = request.folder.parent / _PRINTS if request.folder.parent.is_dir() else None
    return sources.fingerprint(request.modules, ns3, compiler, request.flags, FACADE_MODULE, cache)


def _compilers(request: _Request) -> Sequence[str]:
    """That of the build that came with this package, if one did, and the one that is here.

    Without one those of the finished builds, which no longer need it.
    """
    brought = shipped.compiler()
    known = [] if brought is None else [brought]
    try:
        known.append(str(find_compiler()))
    except UserError:
        stamps = map(finished.read_stamp, finished.builds_in(request.folder))
        known += [stamp["compiler"] for stamp in stamps if stamp is not None]
    return list(dict.fromkeys(known))


def _folder(request: _Request, ns3: Ns3, fingerprint: str) -> Path:
    """The folder of a build, named after its fingerprint and the place of the wheel it links."""
    place = hashlib.sha256(str(ns3.libraries).encode()).hexdigest()
    part = hashlib.sha256(" ".join(sorted(request.only)).encode()).hexdigest()
    return (
        request.folder / f"{fingerprint[:12]}-{place[:4]}{f'-{part[:8]}' if request.only else ''}"
    )


def _programs(request: _Request) -> str:
    """The name of a folder of programs in a build, derived from their sources."""
    flags = TEST_FLAGS.get(request.profile, "")
    wanted = [one for one in request.compiled if not request.tested or one.name in request.tested]
    prefix = _PROGRAMS_OF if request.tested else _PROGRAMS
    return prefix + sources.digest_of_tests(wanted, flags)[:12]


def _open(folder: Path) -> BuildInfo | None:
    """Return a finished build, held, if it exists and is complete."""
    if not finished.hold(folder):
        return None
    stamp = finished.read_stamp(folder)
    if stamp is None:
        return None
    try:
        whole = all((folder / name).stat().st_size == size for name, size in stamp["files"].items())
        info = BuildInfo.from_json(stamp["info"])
    except (OSError, KeyError, TypeError, AttributeError):
        return None
    return info if whole and info.folder == folder else None


# Doing it


def _build(request: _Request, tools: Toolchain) -> BuildInfo:
    began = time.monotonic()
    finished.tidy(request.folder)
    names = ", ".join(module.name for module in request.compiled)
    request.say(f"compiling {names} ({request.profile}, {tools.compiler})")
    log = compile_log.Log(request.folder / _LOG, request.quiet)
    for _ in range(_TRIES):
        try:
            info = _compile(request, tools, log)
        except _ChangedError:
            request.say("a source changed during compilation, compiling again")
            continue
        if log.warnings:
            request.say(f"{log.warnings} warnings, see {log.file}")
        request.say(f"done in {time.monotonic() - began:.1f} s")
        return info
    what = "sources changed during each compilation"
    raise refusal("ns3-modules", what, hint="build again once they no longer change")


def _compile(request: _Request, tools: Toolchain, log: compile_log.Log) -> BuildInfo:
    """Compile in the working folder, and commit the result. Raises _ChangedError."""
    before = _snapshot(request)
    fingerprint = _fingerprint(request, tools.ns3.version, str(tools.compiler))
    folder = _folder(request, tools.ns3, fingerprint)
    programs = folder / _programs(request)
    ninja = [tools.ninja, "-C", str(request.work), "-j", str(len(os.sched_getaffinity(0)))]
    with _working_folder(request, tools):
        log.run("configure", _configure_command(request, tools))
        log.run("compile", [*ninja, *request.targets])
    info = _open(folder)
    if info is None:
        info = _info(request, tools, fingerprint, folder)
        with finished.made_aside(folder) as new:
            _fill(new, request, info, str(tools.compiler))
            _refuse_changes(request, before)
    if request.tests:
        with finished.made_aside(programs) as new:
            names = request.runners or _whole_programs(request)
            finished.place({name: request.work / "bin" / name for name in names}, new)
            _refuse_changes(request, before)
        info = replace(info, programs=programs)
    for path in (info.folder, info.programs):
        if path:
            finished.hold(path)
    _forget(request, info)
    return info


def _whole_programs(request: _Request) -> Sequence[str]:
    """The programs of a whole build. Others in the working folder are of earlier builds."""
    if request.profile == "sanitize":
        return [TEST_RUNNER]
    return [TEST_RUNNER, *(request.work / _EXAMPLES).read_text(encoding="utf-8").split()]


def _snapshot(request: _Request) -> list[list[object]]:
    files = sources.files_of_libraries(request.modules)
    return sources.snapshot(_all_files(request) if request.tests else files)


def _all_files(request: _Request) -> list[Path]:
    files = sources.files_of_libraries(request.modules)
    return [*files, *sources.files_of_tests(request.own)]


def _refuse_changes(request: _Request, before: list[list[object]]) -> None:
    if _snapshot(request) != before:
        raise _ChangedError


def _fill(new: Path, request: _Request, info: BuildInfo, compiler: str) -> None:
    """Copy everything that belongs to a build into its new folder. Raises OSError."""
    base, work = request.base, request.work
    of_base = [*base.libraries, *_files(base.include_dirs[0] / "ns3")] if base else []
    if base:
        finished.place({str(p.relative_to(base.folder)): p for p in of_base}, new, base.folder)
        for link in (base.folder / "lib").iterdir():
            if link.is_symlink():  # beside a shipped build: its libraries look for ns-3's there
                (new / "lib" / link.name).symlink_to(link.readlink())
    files = {f"include/ns3/{path.name}": _content_of(path) for path in _files(work / "include/ns3")}
    made = (work / "lib" / library.name for library in info.libraries)
    files |= {f"lib/{path.name}": path for path in made if path.is_file()}
    files |= {name: work / name for name in (MODULES, TARGETS)}
    finished.place(files, new, next(iter(finished.builds_in(request.folder)), None))
    finished.write_stamp(new, info.to_json(), compiler)


def _content_of(header: Path) -> Path:
    """The file with the content of a published header: most of these are stubs."""
    stub = _STUB.fullmatch(header.read_text(encoding="utf-8"))
    return Path(stub["file"]) if stub else header


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _forget(request: _Request, info: BuildInfo) -> None:
    """Delete what is not needed: only release builds give results, only new ones are tested."""
    for build in finished.builds_in(request.folder):
        if build != info.folder and request.profile != "release":
            finished.remove(build)
            continue
        prefix = _PROGRAMS_OF if request.tested else _PROGRAMS
        for programs in build.glob(f"{prefix}*") if info.programs else ():
            if programs != info.programs:
                finished.remove(programs)


@contextmanager
def _working_folder(request: _Request, tools: Toolchain) -> Iterator[None]:
    """Empty the working folder if its content was made elsewhere or by other tools.

    CMake and Ninja compare only times and commands: they would not notice another compiler with the
    same name, or a source replaced by an older file. A folder in which a build was killed is not
    trusted either: its compiler may have survived and still write there.
    """
    identity = {
        "folder": str(request.work),
        "project": str(CMAKE_FOLDER),
        "ns3": [tools.ns3.version, str(tools.ns3.include)],
        "compiler": f"{tools.compiler.path}: {tools.compiler}",
        "cmake": tools.cmake,
        "ninja": tools.ninja,
    }
    if request.base:
        identity["outside"] = [str(module.folder) for module in request.compiled]
    present = sources.snapshot(_all_files(request))
    file, began = request.work / _IDENTITY, request.work / _BEGAN
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        since = began.stat().st_mtime_ns
        same = known["made_by"] == identity and sources.is_newer(present, known["sources"], since)
    except (OSError, ValueError, KeyError, TypeError):
        same = False
    if not same:
        finished.delete(request.work)
        request.work.mkdir()
    file.unlink(missing_ok=True)
    began.write_text("", encoding="utf-8")  # the file system's clock, not this machine's
    try:
        yield
    finally:
        content = {"made_by": identity, "sources": present}
        write_atomically(file, json.dumps(content, indent=1) + "\n")


def _configure_command(request: _Request, tools: Toolchain) -> list[str]:
    targets = request.work / TARGETS
    text = cmake_targets(tools.ns3, parse_targets(tools.ns3.targets.read_text(encoding="utf-8")))
    _write_if_new(targets, text)
    base = request.work / "base-targets.cmake"
    if request.base:
        _write_if_new(base, base_targets(request.base, _read_modules(request.base.folder)))
    tests = request.work / _TESTING / "ns3" / "test.h"
    tests.parent.mkdir(parents=True, exist_ok=True)
    checks = sources.TEST_CHECKS.read_text(encoding="utf-8")
    _write_if_new(tests, f'#include "{tools.ns3.include}/ns3/test.h"\n{checks}')
    folders = ";".join(str(module.folder) for module in request.compiled)
    # the flags of tests as a CMake list, with the checks that need less code than ns-3's
    flags = TEST_FLAGS.get(request.profile, "")
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
        "PYORCH_TEST_FLAGS": (f"{flags};-iquote{request.work / _TESTING}" if flags else ""),
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    return [
        tools.cmake,
        "-G",
        "Ninja",
        "-S",
        str(CMAKE_FOLDER),
        "-B",
        str(request.work),
        *options,
    ]


def _info(request: _Request, tools: Toolchain, fingerprint: str, folder: Path) -> BuildInfo:
    made = _read_modules(request.work)
    links = {name: needs for name, (_, needs) in made.items()}
    order = [name for name in TopologicalSorter(links).static_order() if name in made]
    base = request.base
    names = [library.name for library in base.libraries] if base else []
    names += [made[name][0] for name in order]
    return BuildInfo(
        folder=folder,
        libraries=[folder / "lib" / name for name in names],
        include_dirs=[folder / "include", tools.ns3.include],
        modules=[*(base.modules if base else []), *order],
        fingerprint=fingerprint,
        ns3_libraries=tools.ns3.libraries,
        ns3_version=tools.ns3.version,
        profile=request.profile,
    )


def _read_modules(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the results of a build: the library of each module, and the libraries it links."""
    lines = (folder / MODULES).read_text(encoding="utf-8").splitlines()
    return {name: (file, needs) for name, file, *needs in map(str.split, lines)}


def _write_if_new(file: Path, text: str) -> None:
    """Write a file unless it has this content already: CMake relies on its time."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
