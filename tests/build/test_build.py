"""The build: what it needs, what it does, and what it says when something is wrong."""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.fingerprint import ModulePrint, compose, of_types, short
from pyorch.build import (
    PROFILES,
    AttributeInfo,
    BuildInfo,
    compile_log,
    ensure_built,
    lists,
    load_schema,
    parse_schema,
    read_build,
    schema,
    sources,
    toolchain,
    wheel,
)
from pyorch.build.builder import ensure_used
from pyorch.build.code import tokens
from pyorch.build.profiles import TEST_FLAGS, flags_of
from tests.inputs import BUILDS, called
from tools.cpptests import (
    SuiteResult,
    longest_first,
    run_cpp_tests,
    runners_of,
    suites_by_module,
)

pytestmark = pytest.mark.inputs(*BUILDS)

MODULES = Path(__file__).parents[1] / "data" / "modules"
REAL_MODULES = Path(__file__).parents[2] / "ns3-modules"
GCC = toolchain.Compiler("/usr/bin/g++", "gcc", "12.2.0", "x86_64-linux-gnu")


def copy_project(folder: Path) -> Path:
    """Make a project of its own with two small modules."""
    shutil.copytree(MODULES, folder / "ns3-modules")
    return folder


def append(file: Path, text: str) -> None:
    """Add a line to a file, at a time that no earlier write had."""
    file.write_text(file.read_text() + text + "\n")


def compiled(info: BuildInfo) -> list[str]:
    """Return the names of the sources that the last build compiled."""
    lines = (info.folder.parent / "build.log").read_text().splitlines()
    objects = [line.split()[-1] for line in lines if "Building CXX object" in line]
    return sorted(Path(name).name.removesuffix(".o") for name in objects)


def run_python(code: str, folder: Path) -> str:
    """Run Python code in a process of its own, with a build's folder as its argument."""
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def count_once(info: BuildInfo) -> int:
    """Return what Simulation(seed=0) counts in a fresh process."""
    code = (
        "import sys, pathlib; from pyorch import build; from pyorch.run import ns3;"
        "info = build.read_build(pathlib.Path(sys.argv[1]));"
        "print(ns3.load_simulation(info)(0).Count())"
    )
    return int(run_python(code, info.folder))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two small modules that have not been built yet."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildInfo]:
    """A project with two small modules, built; tests must leave its sources as they are."""
    root = copy_project(tmp_path_factory.mktemp("built"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", "-march=native -ffast-math")
        info = ensure_built(quiet=True, root=root)
    return root, info


# What the build needs


def test_a_log_hears_of_a_long_compilation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no terminal: a line at most every half minute, with files and time."""
    now = [0.0]
    log = compile_log.Log(tmp_path / "log", quiet=False, clock=lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        log._show(f"[{second}/190] Building CXX object a.cc.o")
        log._show("a.cc:1: warning: that is no progress")
    assert capsys.readouterr().err.splitlines() == [
        "build: 30 of 190 files, 30 s",
        "build: 60 of 190 files, 1 min 0 s",
        "build: 90 of 190 files, 1 min 30 s",
    ]
    compile_log.Log(tmp_path / "log", quiet=True, clock=lambda: now[0])._show("[1/2] a")
    assert capsys.readouterr().err == ""


def test_the_wheel_is_found_without_importing_it() -> None:
    """The headers and libraries of ns-3.44 are found, and ns3 is not imported for it."""
    ns3 = toolchain.find_ns3()
    assert ns3.version.startswith("3.44.")
    assert (ns3.include / "ns3" / "core-module.h").is_file()
    assert wheel.library_file(ns3, "core").is_file()
    assert "ns3" not in sys.modules


def test_missing_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ns3 the message says what is missing, which version, and how to install it."""

    def missing(_name: str) -> str:
        raise importlib.metadata.PackageNotFoundError("ns3")

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(UserError) as caught:
        toolchain.find_ns3()
    assert caught.value.render() == (
        "ns3: the Python package ns3 is not installed; the C++ modules are compiled against it\n"
        "    allowed: ns3==3.44.*\n"
        "    hint: in the project's folder: python -m pip install -c constraints.txt -e '.[dev]'"
    )


@pytest.mark.parametrize("version", ["3.43.post9", "3.45", "3.440", "4.44"])
def test_wrong_wheel(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Another release of ns3 is named and refused."""
    monkeypatch.setattr(importlib.metadata, "version", lambda _name: version)
    with pytest.raises(UserError, match=f"the installed ns3 is version {version};"):
        toolchain.find_ns3()


def test_wheel_without_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An ns3 package without headers and libraries (a source install) is refused."""
    spec = importlib.util.spec_from_loader("ns3", None, is_package=True)
    assert spec is not None
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(UserError, match="has no headers and libraries"):
        toolchain.find_ns3()


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without g++ on PATH the message says how to get one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(UserError) as caught:
        toolchain.find_compiler()
    assert caught.value.render() == (
        "C++ compiler: the C++ compiler 'g++' was not found on PATH; it compiles ns3-modules/\n"
        "    allowed: g++ 10.1 or newer, or clang++ 11.0 or newer\n"
        "    hint: on Debian or Ubuntu: sudo apt-get install g++; or set CXX to the compiler to use"
    )


@pytest.mark.parametrize(
    ("banner", "version", "accepted"),
    [
        ("g++ (Debian) 10.0.1", "10.0.1", False),
        ("g++ (Debian) 10.1.0", "10.1.0", True),
        ("g++ (Debian) 9.4.0", "9.4.0", False),
        ("Debian clang version 10.0.1", "10.0.1", False),
        ("Debian clang version 11.0.0", "11.0.0", True),
    ],
)
def test_old_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, banner: str, version: str, accepted: bool
) -> None:
    """A compiler older than ns-3.44 allows is refused with its version; $CXX chooses it."""
    fake = tmp_path / "fake-cxx"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{banner}" || echo {version}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", str(fake))
    if accepted:
        assert toolchain.find_compiler().version == version
    else:
        with pytest.raises(UserError, match=rf"{fake} is \w+ {version}, too old for C\+\+20"):
            toolchain.find_compiler()


@pytest.mark.parametrize("name", toolchain.PROGRAMS)
def test_programs_come_from_their_packages(name: str) -> None:
    """CMake and Ninja of the virtual environment are taken even when PATH has others."""
    assert Path(toolchain.find_program(name)).is_relative_to(sys.prefix)


def test_everything_missing_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a bare machine everything missing is reported at once."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    with pytest.raises(UserError) as caught:
        toolchain.find_toolchain()
    assert [problem.where for problem in caught.value.problems] == [
        "ns3",
        "C++ compiler",
        "cmake",
        "ninja",
    ]


def test_definitions_and_needs_of_the_wheel() -> None:
    """Definitions that ns-3's headers read are kept, paths of the building machine are not."""
    text = (
        'set_target_properties(ns3::stats PROPERTIES\n  INTERFACE_COMPILE_DEFINITIONS "'
        'PROJECT_SOURCE_PATH=\\"/x\\";NS3_LOG_ENABLE;HAVE_GSL"\n'
        '  INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include;/usr/include/gtk-3.0"\n'
        '  INTERFACE_LINK_LIBRARIES "-Wl,--no-as-needed;ns3::core;-lpthread;/usr/libgsl.so"\n)'
    )
    expected = wheel.WheelLibrary(definitions=("NS3_LOG_ENABLE", "HAVE_GSL"), needs=("core",))
    assert wheel.parse_targets(text) == {"stats": expected}


def test_definitions_of_the_installed_wheel() -> None:
    """The modules see logs and asserts as the wheel's libraries were compiled with them."""
    libraries = wheel.parse_targets(toolchain.find_ns3().targets.read_text())
    wanted = {"NS3_BUILD_PROFILE_RELEASE", "NS3_LOG_ENABLE", "NS3_ASSERT_ENABLE"}
    assert all(wanted <= set(library.definitions) for library in libraries.values())
    assert libraries["network"].needs == ("stats",)
    assert libraries["stats"].needs == ("core",)


# Profiles


def test_every_profile_computes_the_same() -> None:
    """No profile uses instructions of one machine, or rounds once where C++ says twice."""
    for flags in PROFILES.values():
        assert "-ffp-contract=off" in flags.split()
        assert not any(flag in flags for flag in ("-march", "-mtune", "-ffast-math", "-Ofast"))


def test_unknown_profile() -> None:
    """A misspelt profile is answered with all there are."""
    with pytest.raises(UserError) as caught:
        flags_of("relaese")
    assert caught.value.render() == (
        "profile: there is no build profile 'relaese'\n"
        "    allowed: release, debug, sanitize, races\n"
        "    hint: did you mean 'release'?"
    )


# Modules and their fingerprint


def make_module(folder: Path) -> Path:
    """Make a folder that counts as a module."""
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(f"build_lib(LIBNAME {folder.name})\n")
    return folder


def test_modules_are_found_by_their_cmakelists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder without build_lib is not a module; the variable names modules or folders."""
    home = tmp_path / "home"
    for name in ("rdma", "lossless"):
        make_module(home / name)
    (home / "notes").mkdir()
    monkeypatch.setenv(
        sources.MODULE_PATH_VARIABLE,
        f"{make_module(tmp_path / 'mine')}:{make_module(tmp_path / 'more' / 'a').parent}",
    )
    names = [module.name for module in sources.find_modules(home)]
    assert names == ["a", "lossless", "mine", "rdma"]


def test_all_problems_of_module_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry and a name that two modules have are reported together."""
    first, second = make_module(tmp_path / "home" / "rdma"), make_module(tmp_path / "x" / "rdma")
    monkeypatch.setenv(sources.MODULE_PATH_VARIABLE, f"{second}:{tmp_path / 'nothing'}")
    with pytest.raises(UserError) as caught:
        sources.find_modules(tmp_path / "home")
    assert [(problem.where, problem.what) for problem in caught.value.problems] == [
        (
            f"PYORCH_MODULE_PATH={tmp_path / 'nothing'}",
            "this folder is not a C++ module and has none",
        ),
        ("rdma", f"two modules have this name: {first} and {second}"),
    ]


def fingerprint(root: Path, ns3: str = "3.44", flags: str = "-O3") -> str:
    """Return the fingerprint of a project's modules."""
    return sources.fingerprint(sources.find_modules(root / "ns3-modules"), ns3, str(GCC), flags)


def test_fingerprint_is_of_content(project: Path, tmp_path: Path) -> None:
    """Neither times, nor places, nor tests change the fingerprint."""
    before = fingerprint(project)
    source = project / "ns3-modules" / "demo" / "model" / "demo-counter.cc"
    os.utime(source, (1, 1))
    append(project / "ns3-modules" / "demo" / "test" / "demo-counter-test-suite.cc", "// more")
    lists = project / "ns3-modules" / "demo" / "CMakeLists.txt"
    text, suite = lists.read_text(), "test/demo-counter-test-suite.cc"
    lists.write_text(text.replace(suite, f"{suite}\n    test/demo-more-test-suite.cc"))
    assert lists.read_text() != text
    (project / "ns3-modules" / "demo" / "model" / "notes~").write_text("no source")
    assert fingerprint(project) == before
    assert fingerprint(copy_project(tmp_path / "elsewhere")) == before


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("demo/model/demo-counter.cc", "int more;"),
        ("facade/helper/facade-simulation.h", "#define MORE"),
        ("facade/CMakeLists.txt", "# more"),
    ],
)
def test_fingerprint_changes_with_content(project: Path, file: str, line: str) -> None:
    """One more line of code, or any in a CMake file, is another fingerprint."""
    before = fingerprint(project)
    append(project / "ns3-modules" / file, line)
    assert fingerprint(project) != before


def test_comments_and_layout_change_no_fingerprint(project: Path, tmp_path: Path) -> None:
    """Neither do they with a cache, which knows a module by the bytes of its files."""
    cache = tmp_path / "prints.json"
    before = fingerprint(project)
    modules = sources.find_modules(project / "ns3-modules")
    for _ in range(2):
        assert sources.fingerprint(modules, "3.44", str(GCC), "-O3", cache=cache) == before
    source = project / "ns3-modules" / "demo" / "model" / "demo-counter.cc"
    source.write_text("/* new */\n" + source.read_text().replace("    ", "\t").replace("{", "\n{"))
    append(source, "// more")
    for _ in range(2):
        assert sources.fingerprint(modules, "3.44", str(GCC), "-O3", cache=cache) == before
    append(source, "int more;")
    after = sources.fingerprint(modules, "3.44", str(GCC), "-O3", cache=cache)
    assert after == fingerprint(project) != before
    cache.write_text("[]")
    assert sources.fingerprint(modules, "3.44", str(GCC), "-O3", cache=cache) == after


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a+b", "a /* x */ + // y\n b", True),
        ("a + +b", "a ++b", False),
        ("x<y<z> >", "x<y<z>>", False),
        ("int ab", "int a b", False),
        ('"a  b"', '"a b"', False),
        ('"//"', '"" //"', False),
        ("'\"' // \"", "'\"'", True),
        ('R"x(a // b)x"', 'R"x(a)x"', False),
        ('R"(a\n  b)"', 'R"(a\nb)"', False),
        ("1'000'000", "1'000'000 // '", True),
        ("1'000", "1000", False),
        ("#define F(x) 1", "#define F (x) 1", False),
        ("#if A\nb", "#if A b", False),
        ("#if A // c\n\n\nb", "#if A \n b", True),
        ("# define A \\\n  1\nb", "# define A  1\nb", True),
        ("a\n#if B\n#endif", "a #if B\n#endif", False),
        ("a // c \\\n b\nd", "a d", True),
        ("auto x = 0x1p-3;", "auto x = 0x1p - 3;", False),
        ("a\r\nb", "a\nb", True),
    ],
)
def test_what_the_compiler_sees(one: str, other: str, same: bool) -> None:
    """Comments, blanks and line breaks count where C++ says that they do, and nowhere else."""

    def seen(text: str) -> list[str]:
        return [part for part in tokens(text) if part != " "] if same else tokens(text)

    assert (seen(one) == seen(other)) == same


def test_a_run_is_named_after_the_code_that_it_uses() -> None:
    """An edit concerns the runs that name a type of the module, or of one that needs it."""
    parts = {
        "loop": ModulePrint("1", (), ("ns3::Loop",)),
        "fabric": ModulePrint("2", ("loop", "core"), ("ns3::Port",)),
        "facade": ModulePrint("3", ("fabric",), ()),
        "credits": ModulePrint("4", ("fabric",), ("ns3::Credit",)),
        "stages": ModulePrint("5", ("fabric", "credits"), ("ns3::Stage",)),
        "device": ModulePrint("6", ("fabric",), ("ns3::Device",)),
    }
    runs = {
        "plain": frozenset({"ns3::Port"}),
        "credit": frozenset({"ns3::Port", "ns3::Credit"}),
        "stage": frozenset({"ns3::Stage"}),
        "strange": frozenset({"ns3::Unheard"}),
    }

    def names(changed: str = "", common: str = "c") -> dict[str, str]:
        now = {
            name: replace(part, digest="new") if name == changed else part
            for name, part in parts.items()
        }
        return {run: of_types(compose(common, "facade", now), types) for run, types in runs.items()}

    before = names()
    assert len(set(before.values())) == len(runs)
    stale = {
        name: {run for run, text in names(name).items() if text != before[run]} for name in parts
    }
    everything = set(runs)
    assert stale == {
        "loop": everything,
        "fabric": everything,
        "facade": everything,
        "credits": {"credit", "stage", "strange"},
        "stages": {"stage", "strange"},
        "device": {"strange"},
    }
    assert all(text != before[run] for run, text in names(common="d").items())
    assert of_types("any other text", runs["plain"]) == "any other text"


def test_fingerprint_changes_with_everything_else_that_counts(project: Path) -> None:
    """The name of a source, ns-3's version, the compiler and the flags count."""
    modules = sources.find_modules(project / "ns3-modules")
    other = toolchain.Compiler(GCC.path, GCC.family, "13.1.0", GCC.machine)
    elsewhere = toolchain.Compiler("/opt/g++", GCC.family, GCC.version, GCC.machine)
    before = fingerprint(project)
    assert sources.fingerprint(modules, "3.44", str(elsewhere), "-O3") == before
    different = {
        before,
        sources.fingerprint(modules, "3.44", str(other), "-O3"),
        fingerprint(project, ns3="3.45"),
        fingerprint(project, flags="-O2"),
    }
    model = project / "ns3-modules" / "demo" / "model"
    (model / "demo-counter.cc").rename(model / "demo-renamed.cc")
    assert len({*different, fingerprint(project)}) == 5


# What it says when the compiler fails


def test_first_errors_leave_out_the_command() -> None:
    """Of Ninja's output only what the compiler says is shown, from the first error on."""
    output = [
        "[3/9] Building CXX object error.dir/a.cc.o",
        "[4/9] Building CXX object error.dir/b.cc.o",
        "FAILED: error.dir/b.cc.o",
        "/usr/bin/g++ -O3 -c /x/error: a.cc",
        "/x/b.cc: In function 'int f()':",
        "/x/b.cc:7:1: error: no return",
        "    7 | }",
        "ninja: build stopped: subcommand failed.",
    ]
    assert compile_log.first_errors(output) == output[5:]


def test_output_without_an_error_line_shows_its_end() -> None:
    """A compiler that was killed says nothing like an error: the last lines are shown."""
    output = [f"line {number}" for number in range(40)]
    assert compile_log.first_errors(output) == output[-compile_log.SHOWN_LINES :]


# Building for real


@pytest.mark.cpp
def test_build_info(built: tuple[Path, BuildInfo]) -> None:
    """A module comes after the one it links, whatever the alphabet says; all of it exists."""
    root, info = built
    assert info.modules == ["demo", "facade"]
    assert [library.name for library in info.libraries] == [
        "libns3.44-demo.so",
        "libns3.44-facade.so",
    ]
    assert all(library.is_file() for library in info.libraries)
    assert info.folder.parent == root / "build" / "release"
    assert info.folder.name.startswith(info.fingerprint[:12])
    assert (info.include_dirs[0] / "ns3" / "demo-module.h").is_file()
    assert (info.include_dirs[1] / "ns3" / "core-module.h").is_file()
    assert len(short(info.fingerprint)) == 64
    assert read_build(info.folder) == info


@pytest.mark.cpp
def test_commands_are_those_of_the_profile(built: tuple[Path, BuildInfo]) -> None:
    """The profile's flags and the wheel's definitions are used, CXXFLAGS is not."""
    _, info = built
    entries = json.loads((info.folder.parent / "work" / "compile_commands.json").read_text())
    command = next(
        entry["command"].split() for entry in entries if entry["file"].endswith("demo-counter.cc")
    )
    wanted = {
        "-O3",
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-ffp-contract=off",
        "-DNS3_BUILD_PROFILE_RELEASE",
        "-DNS3_LOG_ENABLE",
        "-DNS3_ASSERT_ENABLE",
    }
    assert wanted <= set(command)
    assert not {"-march=native", "-ffast-math", "-DNDEBUG"} & set(command)


@pytest.mark.cpp
def test_nothing_to_do_starts_nothing(
    built: tuple[Path, BuildInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing changed, neither CMake nor Ninja runs, and it takes less than a second."""
    root, info = built
    monkeypatch.setattr(compile_log.Log, "run", lambda *_: pytest.fail("something was started"))
    began = time.monotonic()
    assert ensure_built(root=root) == info
    assert time.monotonic() - began < 1


@pytest.mark.cpp
def test_a_finished_build_needs_no_compiler(
    built: tuple[Path, BuildInfo], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a machine without a compiler, what another one compiled can still be used."""
    root, info = built
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert ensure_built(root=root) == info


@pytest.mark.cpp
def test_what_runs_do_not_use_is_not_compiled_for_them(project: Path) -> None:
    """A build of a part is of the whole's fingerprint; the whole compiles only what is missing."""
    own = project / "ns3-modules" / "mine"
    shutil.copytree(project / "ns3-modules" / "demo", own)
    for file in [path for path in own.rglob("*") if path.is_file()]:
        text = re.sub(
            "demo", "mine", re.sub("Demo", "Mine", re.sub("DEMO", "MINE", file.read_text()))
        )
        file.unlink()
        file.with_name(file.name.replace("demo", "mine")).write_text(text)
    counter = ["ns3::demo::Counter"]
    part = ensure_used(counter, project / "build", project)
    assert part.modules == ["demo", "facade"]
    assert compiled(part) == ["demo-counter.cc", "facade-simulation.cc"]
    assert count_once(part) == 1
    whole = ensure_built(quiet=True, root=project)
    assert whole.fingerprint == part.fingerprint
    assert whole.folder != part.folder
    assert sorted(whole.modules) == ["demo", "facade", "mine"]
    assert compiled(whole) == ["mine-counter.cc"]
    for types in (["ns3::mine::Counter"], ["ns3::Unheard"]):  # all are used, or nobody knows
        assert ensure_used(types, project / "build", project) == whole
    assert ensure_used(counter, project / "build", project) == part


@pytest.mark.cpp
def test_a_changed_header_compiles_what_includes_it(project: Path) -> None:
    """Both modules include the header: both are compiled again, and the new value is what runs."""
    before = ensure_built(quiet=True, root=project)
    header = project / "ns3-modules" / "demo" / "model" / "demo-counter.h"
    header.write_text(header.read_text().replace("START = 0", "START = 41"))
    after = ensure_built(quiet=True, root=project)
    assert compiled(after) == ["demo-counter.cc", "facade-simulation.cc"]
    assert count_once(after) == 42
    assert after.fingerprint != before.fingerprint

    append(project / "ns3-modules" / "facade" / "helper" / "facade-simulation.cc", "int g_nothing;")
    assert compiled(ensure_built(quiet=True, root=project)) == ["facade-simulation.cc"]


@pytest.mark.cpp
def test_a_failed_compile_says_where(project: Path) -> None:
    """The message has file, line and the compiler's words, and the log; corrected, it builds."""
    source = project / "ns3-modules" / "demo" / "model" / "demo-counter.cc"
    good = source.read_text()
    append(source, "int Broken() { return nonsense; }")
    with pytest.raises(UserError) as caught:
        ensure_built(quiet=True, root=project)
    message = caught.value.render()
    log = project / "build" / "release" / "build.log"
    line = len(good.splitlines()) + 1
    assert message.startswith("ns3-modules: the modules do not compile:\n")
    assert f"{source}:{line}:23: error: 'nonsense' was not declared in this scope" in message
    assert f"full log: {log}" in message
    assert "nonsense" in log.read_text()

    with pytest.raises(UserError, match="nonsense"):
        ensure_built(quiet=True, root=project)
    source.write_text(good)
    assert ensure_built(quiet=True, root=project).modules == ["demo", "facade"]


@pytest.mark.cpp
def test_an_unlisted_source_is_refused(project: Path) -> None:
    """A source that CMakeLists.txt forgets would be a class that silently does not exist."""
    (project / "ns3-modules" / "demo" / "model" / "demo-forgotten.cc").write_text("int x;\n")
    with pytest.raises(UserError) as caught:
        ensure_built(quiet=True, root=project)
    message = caught.value.render()
    assert "model/demo-forgotten.cc" in message
    assert "hint: python -m pyorch.build.lists lists them; full log: " in message


@pytest.mark.cpp
def test_a_removed_header_is_gone(project: Path) -> None:
    """A header that a module no longer has cannot be included any more."""
    extra = project / "ns3-modules" / "demo" / "model" / "demo-extra.h"
    lists = extra.parent.parent / "CMakeLists.txt"
    extra.write_text("#pragma once\n")
    before = lists.read_text()
    lists.write_text(before.replace("HEADER_FILES", "HEADER_FILES model/demo-extra.h"))
    include = ensure_built(quiet=True, root=project).include_dirs[0] / "ns3"
    assert (include / "demo-extra.h").read_text() == extra.read_text()
    assert "demo-extra.h" in (include / "demo-module.h").read_text()
    extra.unlink()
    lists.write_text(before)
    include = ensure_built(quiet=True, root=project).include_dirs[0] / "ns3"
    assert not (include / "demo-extra.h").exists()
    assert "demo-extra.h" not in (include / "demo-module.h").read_text()


@pytest.mark.cpp
def test_builds_at_once_do_not_collide(project: Path) -> None:
    """Three processes build one project at once: one compiles, all get the same build."""
    code = (
        "import sys, pathlib; from pyorch.build import ensure_built;"
        "print(ensure_built(root=pathlib.Path(sys.argv[1])).fingerprint)"
    )
    command = [sys.executable, "-c", code, str(project)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len({output for output, _ in outputs}) == 1
    assert sum("build: compiling demo, facade" in errors for _, errors in outputs) == 1


# What the modules can do


@pytest.mark.cpp
def test_schema_is_asked_once(
    built: tuple[Path, BuildInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The types are those that Simulation::Describe tells, and the second time they are read."""
    _, info = built
    types = load_schema(info)
    assert [(known.name, known.group, known.abstract) for known in types] == [
        ("ns3::demo::Counter", "demo,facade", False)
    ]
    assert types[0].attributes == (
        AttributeInfo("Step", "What to add", "ns3::UintegerValue", "1", "uint32_t 0:8"),
    )
    monkeypatch.setattr(schema, "describe", lambda _: pytest.fail("asked again"))
    assert load_schema(info) == types


@pytest.mark.cpp
def test_schema_follows_the_fingerprint(
    built: tuple[Path, BuildInfo], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another fingerprint asks again; a spoilt cache too."""
    _, info = built
    asked: list[str] = []

    def describe(asking: BuildInfo) -> str:
        asked.append(asking.fingerprint)
        return "[]"

    monkeypatch.setattr(schema, "describe", describe)
    for known in ("a", "a", "b"):
        load_schema(BuildInfo(tmp_path, info.libraries, info.include_dirs, info.modules, known))
    (tmp_path / "schema.json").write_text("{")
    load_schema(BuildInfo(tmp_path, info.libraries, info.include_dirs, info.modules, "b"))
    assert asked == ["a", "b", "b"]


def test_schema_without_the_facade(tmp_path: Path) -> None:
    """Without the class Simulation nothing can be checked; the message names its module."""
    with pytest.raises(UserError) as caught:
        load_schema(BuildInfo(tmp_path, [], [tmp_path], ["demo"], "f"))
    assert caught.value.render() == (
        f"{tmp_path}: no built module (demo) has facade-simulation.h\n"
        "    hint: the module 'facade' provides it: is it in ns3-modules/?"
    )


@pytest.mark.parametrize("text", ["", "{}{", '[{"name": "x"}]', '[{"attributes": 3}]', "[3]"])
def test_schema_of_another_form(text: str) -> None:
    """Text that is not what Describe promises is refused, never half read."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        parse_schema(text)


# The C++ suites


@pytest.mark.cpp
def test_suites_pass_and_fail(project: Path) -> None:
    """Each suite is reported by name; a wrong number fails it and its message is kept."""
    [passed] = run_cpp_tests(quiet=True, root=project)
    assert (passed.name, passed.passed) == ("demo-counter", True)

    info = ensure_built(quiet=True, root=project)
    suite = project / "ns3-modules" / "demo" / "test" / "demo-counter-test-suite.cc"
    suite.write_text(suite.read_text().replace("Next(), 2,", "Next(), 3,"))
    assert ensure_built(quiet=True, root=project) == info, "tests are no part of the libraries"
    [failed] = run_cpp_tests(quiet=True, root=project)
    assert (failed.name, failed.passed) == ("demo-counter", False)
    assert "two steps of one end at two" in failed.output
    assert compiled(info) == ["demo-counter-test-suite.cc"]


@pytest.mark.cpp
def test_failed_checks_say_what_those_of_ns3_say(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kind of check, failed and held, ends and goes on as with ns-3's own header."""
    suite = project / "ns3-modules" / "demo" / "test" / "demo-counter-test-suite.cc"
    sides = {"EQ": "1, 2", "NE": "1, 1", "LT": "2, 1", "LT_OR_EQ": "2, 1", "GT": "1, 2"}
    sides |= {"GT_OR_EQ": "1, 2", "EQ_TOL": "1.0, 2.0, 0.5"}
    held = {"EQ": "1, 1", "NE": "1, 2", "LT": "1, 2", "LT_OR_EQ": "1, 1", "GT": "2, 1"}
    held |= {"GT_OR_EQ": "1, 1", "EQ_TOL": "1.0, 1.5, 0.5"}
    lines = [
        f'[this] {{ NS_TEST_{kind}_MSG_{name}({values}, {number} << " told");'
        f' std::cout << "{kind} " << {number} << std::endl; }}();'
        for table in (sides, held)
        for number, (name, values) in enumerate(table.items())
        for kind in ("ASSERT", "EXPECT")
    ]
    first = "counter->Next();\n"
    text = suite.read_text().replace(first, first + "\n".join(lines))
    suite.write_text("#include <iostream>\n" + text)
    asked = ("--suite=demo-counter", "--verbose")
    said = []
    for flags in (TEST_FLAGS, {}):
        monkeypatch.setattr("pyorch.build.builder.TEST_FLAGS", flags)
        info = ensure_built(quiet=True, root=project, tests=True)
        (runner,) = runners_of(info)
        for stop in ((), ("--stop-on-failure",)):
            command = [runner, *asked, *stop]
            done = called(command)
            assert done.returncode != 0
            assert done.stdout.count(" told") == 2 * len(sides)
            # what follows a failed check is reached only where tests go on
            reached = [done.stdout.count(f"{kind} 0\n") for kind in ("ASSERT", "EXPECT")]
            assert reached == ([1, 2] if stop else [2, 2])
            said.append(re.sub(r"\b[\d.]+ s\b", "", done.stdout))
    assert said[:2] == said[2:]


def test_the_longest_suite_begins_first() -> None:
    """As it was before; one that is new may take any time."""
    before = [SuiteResult(name, True, took, "") for name, took in (("a", 1.0), ("b", 3.0))]
    assert longest_first(["a", "b", "c"], before) == ["c", "b", "a"]
    assert longest_first(["a", "b"], []) == ["a", "b"]


@pytest.mark.cpp
def test_chosen_suites_are_built_alone(project: Path) -> None:
    """`invoke test -k X`: one program a module that has X, and neither others nor examples."""
    assert suites_by_module(project)["demo"] == ["demo-counter"]
    assert run_cpp_tests(quiet=True, root=project, expression="elsewhere") == []
    assert run_cpp_tests(quiet=True, root=project, without=["demo"]) == []
    [passed] = run_cpp_tests(quiet=True, root=project, expression="COUNT")
    assert (passed.name, passed.passed) == ("demo-counter", True)
    [programs] = ensure_built(quiet=True, root=project).folder.glob("programs-*")
    assert _programs_in(programs) == ["test-runner-demo"]


@pytest.mark.cpp
def test_a_build_has_no_programs_of_an_earlier_one(project: Path) -> None:
    """What suites built alone leave in the working folder may not even start later."""
    ensure_built(quiet=True, root=project, tests=True, tested=["demo"])
    programs = ensure_built(quiet=True, root=project, tests=True).programs
    assert programs is not None
    assert "test-runner" in _programs_in(programs)
    assert "test-runner-demo" not in _programs_in(programs)


def _programs_in(folder: Path) -> list[str]:
    """Names of the programs."""
    return sorted(path.name for path in folder.iterdir() if path.stat().st_mode & 0o100)


@pytest.mark.cpp
def test_sanitizers_see_faults(project: Path) -> None:
    """The sanitize profile fails suites that only look right, each for its fault."""
    faults = {
        "volatile int* p = new int(1); delete p; int n = *p; (void)n;": "heap-use-after-free",
        "volatile int n = 2147483647; n = n + 1;": "signed integer overflow",
        "volatile auto p = new int[4]; p = nullptr;": "LeakSanitizer",
        "volatile double x = 1e300; volatile int n = x; (void)n;": "outside the range",
        "volatile int* volatile p = nullptr; int n = *p; (void)n;": "SEGV on unknown address",
        "": "",
    }
    suite = project / "ns3-modules" / "demo" / "test" / "demo-counter-test-suite.cc"
    good = suite.read_text()
    suites = [good.replace("counter->Next();\n", f"counter->Next(); {one}\n") for one in faults]
    named = [
        re.sub(r"CountTestCase|[Cc]ounterTestSuite|demo-counter(?=\")", rf"\g<0>{number}", text)
        for number, text in enumerate(suites)
    ]
    suite.write_text("".join(named))
    results = run_cpp_tests("sanitize", quiet=True, root=project)
    assert [result.passed for result in results] == [not said for said in faults.values()]
    for result, said in zip(results, faults.values(), strict=True):
        assert said in result.output


@pytest.mark.cpp
def test_sanitize_is_not_for_python(project: Path) -> None:
    """Python cannot load a sanitized library, and gets an error instead of crashing."""
    info = ensure_built("sanitize", quiet=True, root=project)
    with pytest.raises(UserError, match="Python cannot load its libraries"):
        load_schema(info)


# The modules of this project


def test_lists_of_sources_are_complete() -> None:
    """Every CMakeLists.txt lists exactly the sources that are in its module's folders."""
    for module in sources.find_modules(REAL_MODULES):
        assert lists.updated(module) == (module.folder / "CMakeLists.txt").read_text()


def test_lists_are_rewritten(project: Path) -> None:
    """Added and removed files are put where ns-3's own modules have them; the rest stays."""
    demo = project / "ns3-modules" / "demo"
    (demo / "helper").mkdir()
    (demo / "helper" / "demo-helper.cc").touch()
    (demo / "model" / "demo-Other.cc").touch()
    (demo / "test" / "demo-counter-test-suite.cc").unlink()
    assert lists.updated(sources.Module("demo", demo)) == (
        "build_lib(\n"
        "  LIBNAME demo\n"
        "  HEADER_FILES model/demo-counter.h\n"
        "  SOURCE_FILES\n"
        "    helper/demo-helper.cc\n"
        "    model/demo-Other.cc\n"
        "    model/demo-counter.cc\n"
        "  LIBRARIES_TO_LINK ${libnetwork}\n"
        ")\n"
    )


def test_modules_name_themselves() -> None:
    """Every module's library has the name of its folder, by which the others link it."""
    for module in sources.find_modules(REAL_MODULES):
        assert f"LIBNAME {module.name}\n" in (module.folder / "CMakeLists.txt").read_text()
