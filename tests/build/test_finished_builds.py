"""Finished builds: never changed, found again, kept while in use, and never half made."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.build import BuildInfo, builder, compile_log, ensure_built, finished, read_build
from tests.inputs import BUILDS, ROOT

pytestmark = pytest.mark.inputs(*BUILDS)

MODULES = ROOT / "tests" / "data" / "modules"

BUILD = """
import sys, pathlib
from pyorch.build import ensure_built
print(ensure_built(root=pathlib.Path(sys.argv[1])).folder)
"""

COUNT = """
import sys, pathlib
from pyorch import build
from pyorch.run import ns3
info = build.read_build(pathlib.Path(sys.argv[1]))
print(ns3.load_simulation(info)(0).Count())
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libns3.44-" in line})
"""

HOLD = """
import sys, pathlib
from pyorch.build import read_build
read_build(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def python(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """Start Python code in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, text=True, cwd=ROOT, **(pipes | options))  # type: ignore[call-overload, no-any-return]


def count(folder: Path) -> tuple[int, set[Path]]:
    """What the modules of a build count in a fresh process, and the libraries it has loaded."""
    output, errors = python(COUNT, folder).communicate()
    assert errors == ""
    number, libraries = output.splitlines()
    return int(number), {Path(library) for library in libraries.split()}


def state(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Every file of a build: its time, its number on the disk, and a digest of its bytes."""
    return {
        str(file.relative_to(folder)): (
            file.stat().st_mtime_ns,
            file.stat().st_ino,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in folder.rglob("*")
        if file.is_file() and file.name != finished.IN_USE
    }


def header(root: Path) -> Path:
    """The header with the number that counting starts from."""
    return root / "ns3-modules" / "demo" / "model" / "demo-counter.h"


def start_at(root: Path, number: int) -> None:
    """Edit the source: what counts next counts from another number."""
    lines = header(root).read_text().splitlines()
    edited = [f"constexpr uint32_t START = {number};" if "START =" in x else x for x in lines]
    header(root).write_text("\n".join(edited) + "\n")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two small modules, compiled once for all tests that copy it."""
    root = tmp_path_factory.mktemp("compiled") / "project"
    shutil.copytree(MODULES, root / "ns3-modules")
    ensure_built(quiet=True, root=root)
    return root


@pytest.fixture
def project(compiled: Path) -> Iterator[Path]:
    """That project, with a single finished build of the sources as they were."""
    yield compiled
    shutil.copytree(MODULES, compiled / "ns3-modules", dirs_exist_ok=True)
    keep = ensure_built(quiet=True, root=compiled).folder
    for build in finished.builds_in(keep.parent):
        if build != keep:
            shutil.rmtree(build)


# Without a compiler


def make_build(folder: Path) -> Path:
    """Commit a folder with two files."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    source = folder.parent / "source"
    source.write_text("library")
    with finished.made_aside(folder) as new:
        finished.place({"lib/a.so": source, "lib/b.so": source}, new)
        (new / finished.STAMP).write_text("{}")
    return folder


def test_a_build_in_use_is_not_removed(tmp_path: Path) -> None:
    """A process that reads a build keeps it until it ends, however it ends."""
    build = make_build(tmp_path / "release" / "one")
    assert finished.hold(build)
    descriptor = finished._held.pop(build)
    assert not finished.remove(build)
    os.close(descriptor)
    assert finished.remove(build)
    assert not finished.hold(build)
    assert os.listdir(tmp_path / "release") == ["source"]


def test_a_fork_keeps_what_its_parent_held(tmp_path: Path) -> None:
    """Runs are forks of a warm process: each of them keeps the build."""
    build = make_build(tmp_path / "release" / "one")
    assert finished.hold(build)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.close(finished._held.pop(build))
    assert not finished.remove(build)
    os.close(writer)
    os.waitpid(child, 0)
    assert finished.remove(build)


def test_a_lock_that_the_disk_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be locked, builds are used, and none is deleted."""
    build = make_build(tmp_path / "release" / "one")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert finished.hold(build)
    assert not finished.remove(build)
    assert build.is_dir()


def test_files_are_for_reading_and_shared(tmp_path: Path) -> None:
    """What two builds have in common is on disk once, and is never written to."""
    one, two = (tmp_path / "release" / name for name in ("one", "two"))
    make_build(one)
    changed = tmp_path / "changed"
    changed.write_text("other")
    source = one.parent / "source"
    with finished.made_aside(two) as new:
        finished.place({"lib/a.so": source, "lib/b.so": changed}, new, known=one)
    assert (two / "lib/a.so").samefile(one / "lib/a.so")
    assert (two / "lib/b.so").read_text() == "other"
    assert (one / "lib/b.so").read_text() == "library"
    assert not (two / "lib/a.so").samefile(source), "what Ninja made is copied: it may rewrite it"
    assert all(file.stat().st_mode & 0o222 == 0 for file in two.glob("lib/*"))


def test_clean_deletes_all_but_what_is_needed(tmp_path: Path) -> None:
    """Kept: a build in use, one that a sweep waits for, and a folder where a process compiles."""
    root = tmp_path / "build"
    used, waited, old = (make_build(root / "release" / name) for name in "abc")
    other = make_build(root / "debug" / "d")
    for profile in ("release", "debug"):
        (root / profile / finished.LOCK).touch()
        (root / profile / "work").mkdir()
    (root / "docs").mkdir()
    lock = os.open(used / finished.IN_USE, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    with finished.compiling(root / "debug"):
        kept = finished.clean(root, {waited: "a sweep"})
    assert kept == [
        (root / "debug", "another process compiles there"),
        (used, "a running process uses it"),
        (waited, "a sweep"),
    ]
    assert other.is_dir()
    assert not old.exists()
    assert sorted(path.name for path in (root / "release").iterdir()) == [".lock", "a", "b"]
    os.close(lock)
    assert finished.clean(root, {}) == []
    assert not root.exists()


def test_who_waits_for_a_folder_that_is_cleaned_gets_a_new_one(tmp_path: Path) -> None:
    """A lock on a deleted file would let two compile at once."""
    profile = tmp_path / "release"
    said: list[str] = []

    def clean_meanwhile(text: str) -> None:
        said.append(text)
        shutil.rmtree(profile)
        os.close(lock)  # frees it

    profile.mkdir()
    lock = os.open(profile / finished.LOCK, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with finished.compiling(profile, clean_meanwhile):
        assert (profile / finished.LOCK).is_file()
        with pytest.raises(BlockingIOError), finished.compiling(profile):
            pass
    assert len(said) == 1


# With one


@pytest.mark.cpp
def test_an_edit_undone_finds_its_build(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer build is put next to it, unchanged, and going back compiles nothing."""
    before = ensure_built(quiet=True, root=project)
    was = state(before.folder)
    start_at(project, 41)
    after = ensure_built(quiet=True, root=project)
    assert after.folder != before.folder
    assert count(after.folder)[0] == 42
    assert count(before.folder)[0] == 1
    shared = before.folder / "include/ns3/facade-simulation.h"
    assert shared.samefile(after.folder / "include/ns3/facade-simulation.h")
    assert state(before.folder) == was

    monkeypatch.setattr(compile_log.Log, "run", lambda *_: pytest.fail("something was started"))
    start_at(project, 0)
    assert ensure_built(root=project) == before
    start_at(project, 41)
    assert ensure_built(root=project) == after


@pytest.mark.cpp
def test_an_older_file_in_the_place_of_a_newer_one(project: Path) -> None:
    """Ninja goes by times, and would take what it compiled last for the older file's code."""
    backup = header(project).with_suffix(".bak")
    shutil.copy2(header(project), backup)
    start_at(project, 41)
    assert count(ensure_built(quiet=True, root=project).folder)[0] == 42
    shutil.move(backup, header(project))
    info = ensure_built(quiet=True, root=project)
    shutil.rmtree(info.folder)
    assert ensure_built(quiet=True, root=project) == info
    assert count(info.folder)[0] == 1


@pytest.mark.cpp
def test_libraries_find_each_other(project: Path, tmp_path: Path) -> None:
    """Those of one build are loaded together, also after the folder they were compiled in went."""
    info = ensure_built(quiet=True, root=project)
    aside = tmp_path / "work"
    (info.folder.parent / "work").rename(aside)
    number, libraries = count(info.folder)
    aside.rename(info.folder.parent / "work")
    assert number == 1
    assert {path for path in libraries if path.is_relative_to(project)} == set(info.libraries)
    headers = info.include_dirs[0] / "ns3"
    assert (headers / "demo-counter.h").read_text() == header(project).read_text()
    assert not any(str(project) in file.read_text() for file in headers.iterdir())


KILLED = """
import os, signal
from pyorch.build import finished
{place}, step = None, {place}
def step_and_die(*arguments):
    result = step(*arguments)
    if {condition}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
{place} = step_and_die
"""


@pytest.mark.cpp
@pytest.mark.parametrize(
    ("place", "condition"),
    [
        ("finished.place", "True"),
        ("finished._make_durable", "True"),
        ("finished.delete", "True"),
        ("finished.Path.rename", "arguments[0].name.startswith('.new-')"),
    ],
)
def test_killed_in_the_midst(project: Path, place: str, condition: str) -> None:
    """Whenever a build is killed there is a whole one or none; the next one sets it right."""
    info = ensure_built(quiet=True, root=project)
    was = {name: digest for name, (*_, digest) in state(info.folder).items()}
    (info.folder / "lib" / "libns3.44-demo.so").unlink()  # so it makes room for a whole one
    process = python(KILLED.format(place=place, condition=condition) + BUILD, project)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    if builder._open(info.folder):
        assert {name: digest for name, (*_, digest) in state(info.folder).items()} == was
    assert ensure_built(quiet=True, root=project) == info
    assert {name: digest for name, (*_, digest) in state(info.folder).items()} == was
    assert count(info.folder)[0] == 1
    assert [path.name for path in info.folder.parent.glob(".*")] == [finished.LOCK]


@pytest.mark.cpp
@pytest.mark.parametrize("full", ["shutil.copyfile", "os.fsync", "pathlib.Path.rename", "os.mkdir"])
def test_a_full_disk_leaves_no_build(
    project: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    """The message says it; nothing counts as done, and nothing is left lying around."""
    info = ensure_built(quiet=True, root=project)
    shutil.rmtree(info.folder)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(info.folder))

    with monkeypatch.context() as patch:
        patch.setattr(full, refuse)
        with pytest.raises(UserError, match="No space left on device"):
            ensure_built(quiet=True, root=project)
    assert not info.folder.exists()
    assert list(info.folder.parent.glob(".new-*")) == []
    assert ensure_built(quiet=True, root=project) == info


SLOW = """#!/bin/sh
case "$*" in *" -c "*) ;; *) exec g++ "$@";; esac
g++ "$@" || exit 1
case "$*" in *demo-counter.cc) touch {here}/began ;; *) exit 0 ;; esac
for n in $(seq 3000); do [ -e {here}/go ] || sleep 0.1; done
"""


def compiled_by(script: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """Make a project, and the environment in which a script compiles it."""
    root = folder / "project"
    shutil.copytree(MODULES, root / "ns3-modules")
    compiler = folder / "c++"
    compiler.write_text(script.format(here=folder))
    compiler.chmod(0o755)
    return root, os.environ | {"CXX": str(compiler)}


@pytest.mark.cpp
def test_an_edit_while_it_is_compiled(tmp_path: Path) -> None:
    """Two builds at once, the source edited in between: no build has the code of another."""
    root, environment = compiled_by(SLOW, tmp_path)
    first = python(BUILD, root, env=environment)
    while not (tmp_path / "began").exists():
        assert first.poll() is None, first.communicate()
    start_at(root, 41)
    second = python(BUILD, root, env=environment)
    (tmp_path / "go").touch()
    outputs = [process.communicate() for process in (first, second)]
    assert "a source changed during compilation, compiling again" in outputs[0][1]
    folders = [Path(output.strip()) for output, _ in outputs]
    assert folders[0] == folders[1], outputs
    assert count(folders[0])[0] == 42
    assert finished.builds_in(folders[0].parent) == [folders[0]]


LATE = """#!/bin/sh
case "$*" in *" -c "*facade-simulation.cc) ;; *) exec g++ "$@";; esac
mkdir {here}/began || exec g++ "$@"
g++ "$@" || exit 1
for word; do case "$last" in -o) object="$word";; esac; last="$word"; done
cp "$object" {here}/late.o
echo $$ > {here}/began/pid
for n in $(seq 3000); do [ -e {here}/go ] || sleep 0.1; done
cp {here}/late.o "$object"
touch {here}/gone
"""


@pytest.mark.cpp
def test_a_compiler_that_outlives_a_killed_build(tmp_path: Path) -> None:
    """What it writes later, of a source that was edited since, ends up in no build."""
    root, environment = compiled_by(LATE, tmp_path)
    first = python(BUILD, root, env=environment)
    while not (tmp_path / "began" / "pid").exists():
        assert first.poll() is None, first.communicate()
    first.kill()
    start_at(root, 41)
    output, errors = python(BUILD, root, env=environment).communicate()
    assert count(Path(output.strip()))[0] == 42, errors
    (tmp_path / "go").touch()
    while not (tmp_path / "gone").exists():
        time.sleep(0.01)
    source = root / "ns3-modules" / "demo" / "model" / "demo-counter.cc"
    source.write_text(source.read_text() + "int demo_added = 1;\n")
    output, errors = python(BUILD, root, env=environment).communicate()
    assert count(Path(output.strip()))[0] == 42, errors
    first.communicate()


@pytest.mark.cpp
def test_a_build_with_other_modules_is_whole(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs the project's own build no more, and shares its files instead of copying them."""
    more = tmp_path / "more"
    shutil.copytree(MODULES / "demo", more)
    for file in [path for path in more.rglob("*") if path.is_file()]:
        text = file.read_text().replace("demo", "more").replace("DEMO", "MORE")
        file.write_text(text.replace("DemoCounter", "MoreCounter"))
        file.rename(file.with_name(file.name.replace("demo", "more")))
    own = ensure_built(quiet=True, root=project)
    monkeypatch.setenv("PYORCH_MODULE_PATH", str(more))
    info = ensure_built(quiet=True, root=project)
    assert info.modules == ["demo", "facade", "more"]
    assert info.folder.parent.name.startswith("release-with-more-")
    assert all(path.is_relative_to(info.folder) for path in info.libraries)
    for library in own.libraries:
        assert library.samefile(info.folder / "lib" / library.name)
    aside = tmp_path / "own"
    own.folder.rename(aside)
    number, libraries = count(info.folder)
    aside.rename(own.folder)
    assert number == 1
    assert {path for path in libraries if path.is_relative_to(project)} == set(info.libraries)
    size = sum(file.stat().st_size for file in (info.folder.parent).rglob("*") if file.is_file())
    assert size < 10e6


@pytest.mark.cpp
def test_only_the_latest_of_what_no_study_uses_is_kept(project: Path) -> None:
    """The latest of the programs, and of debug builds, unless one is in use."""
    first = ensure_built(quiet=True, root=project, tests=True)
    suite = project / "ns3-modules" / "demo" / "test" / "demo-counter-test-suite.cc"
    suite.write_text(suite.read_text() + "// edited\n")
    second = ensure_built(quiet=True, root=project, tests=True)
    assert (first.folder, first.fingerprint) == (second.folder, second.fingerprint)
    assert first.programs is not None
    assert second.programs is not None
    assert first.programs.is_dir(), "this process holds it"
    os.close(finished._held.pop(first.programs))
    suite.write_text(suite.read_text() + "// edited\n")
    ensure_built(quiet=True, root=project, tests=True)
    assert not first.programs.exists()
    assert second.programs.is_dir()


@pytest.mark.cpp
def test_a_process_keeps_the_build_it_reads(project: Path) -> None:
    """`read_build` is enough; once the process is killed, the build may go."""
    info = ensure_built(quiet=True, root=project)
    copy: Path = info.folder.with_name("copy")
    shutil.copytree(info.folder, copy)
    process = python(HOLD, copy)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert not finished.remove(copy)
    process.kill()
    process.communicate()
    assert finished.remove(copy)
    with pytest.raises(FileNotFoundError):
        read_build(copy)


def test_a_build_that_lost_files_or_was_moved_does_not_count(tmp_path: Path) -> None:
    """It is made again: its libraries, or the paths that it names, are not what they were."""
    build, moved = make_build(tmp_path / "release" / "one"), tmp_path / "release" / "two"
    info = BuildInfo(build, [build / "lib/a.so"], [build / "include"], ["a"], "f")
    sizes = {f"lib/{name}.so": len("library") for name in "ab"}
    stamp = {"info": info.to_json(), "compiler": "gcc", "files": sizes}
    (build / finished.STAMP).write_text(json.dumps(stamp))
    assert builder._open(build) == info
    build.rename(moved)
    assert builder._open(moved) is None
    assert builder._open(build) is None
    moved.rename(build)
    library = build / "lib/b.so"
    library.chmod(0o644)
    library.write_text("lib")  # truncated, as by a power cut on a disk that lies
    assert builder._open(build) is None
    library.write_text("library")
    assert builder._open(build) == info
    (build / finished.STAMP).write_text("{")
    assert builder._open(build) is None


def test_info_is_read_as_it_was_written(tmp_path: Path) -> None:
    """What is not written: where programs lie, as they come and go."""
    info = BuildInfo(tmp_path, [tmp_path / "a.so"], [tmp_path], ["a"], "f", programs=tmp_path)
    assert BuildInfo.from_json(info.to_json()).programs is None
