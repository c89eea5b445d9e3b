"""What passed is not run again until something changes that it depends on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pyorch.base.paths import Paths
from tests.inputs import COLLECTED, ROOT, called, imported
from tools import develop
from tools.cpptests import SuiteResult
from tools.develop import Chosen, bytecode_kept
from tools.green import Green, Inputs

LISTS = "build_lib(\n  LIBNAME {name}\n  LIBRARIES_TO_LINK {needs}\n)\n"


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A project of two modules, of which the upper one needs the lower, and another one."""
    for name, needs in (("low", ""), ("high", "${liblow}"), ("other", "")):
        lists = LISTS.format(name=name, needs=needs)
        code, test = "int one;\n", f'TestSuite("{name}-suite")\n'
        files = {"CMakeLists.txt": lists, "model/a.cc": code, "test/a.cc": test, "test/a.h": ""}
        _write(tmp_path / "ns3-modules" / name, files)
    _write(tmp_path, {"docs/page.md": "text", "tests/test_a.py": ""})
    return Paths(tmp_path)


def _suites(paths: Paths) -> dict[str, str]:
    inputs = Inputs(paths)
    return {f"{p} {m}": inputs.of_suites(m, p) for p in ("release", "sanitize") for m in SUITES}


SUITES = ("low", "high", "other")


@pytest.mark.parametrize(
    ("file", "text", "changed"),
    [
        ("low/model/a.cc", "int two;\n", {"low", "high"}),
        ("low/model/a.cc", "int one; // the same\n", set()),
        ("low/test/a.cc", 'TestSuite("low-more")\n', {"low"}),
        ("low/test/a.h", "int shared;\n", set(SUITES)),
        ("high/model/a.cc", "int two;\n", {"high"}),
        ("high/examples/a.cc", "int main();\n", {"high"}),
        ("high/doc/high.rst", "Words\n", set()),
    ],
)
def test_suites_depend_on_what_is_linked(
    paths: Paths, file: str, text: str, changed: set[str]
) -> None:
    """Whatever can change an outcome changes the digest; comments of a library cannot."""
    before = _suites(paths)
    _write(paths.modules, {file: text})
    after = _suites(paths)
    assert {name.split()[1] for name in before if before[name] != after[name]} == changed


def test_suites_depend_on_flags_and_compiler(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each profile has digests of its own; another compiler has others, too."""
    before = _suites(paths)
    assert len(set(before.values())) == len(before)
    other = tmp_path / "g++"
    other.write_text(
        '#!/bin/sh\n[ "$1" = -dumpmachine ] && echo x86_64-linux-gnu || echo g++ 99.1.0\n'
    )
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    assert not set(_suites(paths).values()) & set(before.values())


def test_named_inputs_are_files_folders_and_modules(paths: Paths) -> None:
    """A file that comes or goes counts; a module counts with what it needs; a wrong name fails."""
    module, folder = ("ns3-modules/high",), ("docs", "tests/test_a.py")
    before = [Inputs(paths).of(one) for one in (module, folder)]
    _write(paths.root, {"docs/more.md": "", "docs/__pycache__/x.pyc": ""})
    assert Inputs(paths).of(module) == before[0]
    assert Inputs(paths).of(folder) != before[1]
    (paths.root / "docs" / "more.md").unlink()
    assert Inputs(paths).of(folder) == before[1]
    _write(paths.modules, {"low/model/a.cc": "int two;\n"})
    assert Inputs(paths).of(module) != before[0]
    with pytest.raises(OSError, match="docs/none"):
        Inputs(paths).of(("docs/none.md",))


def test_a_record_vouches_for_nothing_but_what_it_has(paths: Paths) -> None:
    """A wrong digest, a missing file and one that cannot be read run everything."""
    green = Green(paths)
    assert green.vouches("sanitize low", "d1") is None
    green.add({"sanitize low": "d1", "release low": "d2", "tests/build/test_includes.py::a": "d3"})
    again = Green(paths)
    assert again.vouches("sanitize low", "d1") == "here"
    assert again.vouches("sanitize low", "d2") is None
    present = {"sanitize low": "d1", "sanitize high": "d1", "release low": "d2"}
    assert again.publish(present | again.of_pytest) == 3
    (paths.build_root / "green.json").unlink()
    there = Green(paths)
    assert there.vouches("sanitize low", "d1") == "in tests/green.json"
    assert there.vouches("tests/build/test_includes.py::a", "d3") == "in tests/green.json"
    assert there.vouches("release low", "d2") == "in tests/green.json"
    assert there.vouches("release low", "d1") is None
    for text in ("", "[]", '{"sanitize low": 3}', "{"):
        (paths.tests / "green.json").write_text(text)
        assert Green(paths).vouches("sanitize low", "d1") is None


def test_what_is_left_out_is_told(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """By module, with the digest and the record that vouches; --all and -k leave out nothing."""
    monkeypatch.setenv("PYORCH_ROOT", str(paths.root))
    suites = _suites(paths)
    known = {name: suites[name] for name in ("sanitize low", "release low", "sanitize other")}
    Green(paths).add({**known, "release other": "of another tree"})
    for chosen in (Chosen(everything=True), Chosen(expression="a")):
        told: list[str] = []
        left_out = develop._without(chosen, Green(paths), Inputs(paths), told)
        assert (left_out, told) == ({"release": frozenset(), "sanitize": frozenset()}, [])
    left_out = develop._without(Chosen(), Green(paths), Inputs(paths), told)
    assert left_out == {"release": {"low"}, "sanitize": {"low", "other"}}
    digests = [suites[name][:8] for name in ("release low", "sanitize low", "sanitize other")]
    why = "suites that passed with the same inputs already (--all runs them)"
    assert told == [
        f"release {why}: low ({digests[0]} here)",
        f"sanitize {why}: low ({digests[1]} here), other ({digests[2]} here)",
    ]
    assert develop._without(Chosen(quick=True), Green(paths), Inputs(paths), told) == {}


def test_a_module_is_recorded_if_all_its_suites_passed(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And if nothing changed meanwhile that they depend on. A suite is its file's module's."""
    monkeypatch.setenv("PYORCH_ROOT", str(paths.root))
    more = {"high/test/b.cc": 'TestSuite("low-more")\n', "low/test/b.cc": 'TestSuite("far")\n'}
    _write(paths.modules, more)
    results = [
        SuiteResult(name, name != "low-more", 0.0, "")
        for name in ("low-suite", "far", "high-suite", "low-more", "other-suite")
    ]
    before, digests = Inputs(paths), _suites(paths)
    develop._suites_of(before, "sanitize")
    _write(paths.modules, {"other/model/a.cc": "int two;\n"})
    develop._record(paths, Green(paths), before, {"sanitize": results})
    record = json.loads((paths.build_root / "green.json").read_text())
    assert record == {"sanitize low": digests["sanitize low"]}


PROJECT = {
    "pyproject.toml": "",
    "input.txt": "one",
    "tests/conftest.py": (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"),
    "tests/test_mine.py": """
import pathlib, pytest
HOME = pathlib.Path(__file__).parents[1]
@pytest.mark.inputs("input.txt")
@pytest.mark.parametrize("n", [1, 2])
def test_it(n):
    assert n == 1 or HOME.joinpath("input.txt").read_text() != "two"
@pytest.mark.inputs("input.txt")
def test_changing():
    if HOME.joinpath("input.txt").read_text() == "three":
        HOME.joinpath("input.txt").write_text("one")
def test_always(): pass
""",
}


@pytest.mark.processes
def test_python_tests_run_again_when_their_inputs_change(tmp_path: Path) -> None:
    """What passed is skipped and says so; what failed, or whose input changed meanwhile, is not."""
    _write(tmp_path, PROJECT)

    def run(text: str, *options: str) -> str:
        (tmp_path / "input.txt").write_text(text)
        command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", "tests")
        done = called(
            [*command, *options],
            cwd=tmp_path,
            env=os.environ | {"PYORCH_ROOT": str(tmp_path), "PYTHONPATH": str(ROOT)},
        )
        return done.stdout

    assert "4 passed" in run("one", "-n", "2"), "workers record, too"
    record = json.loads((tmp_path / "build" / "green.json").read_text())
    again = run("one", "--recorded")
    assert "1 passed, 3 skipped" in again
    digest = record["tests/test_mine.py::test_it[1]"][:8]
    assert f"passed here with the same inputs ({digest}); --all runs it" in again
    assert "1 failed, 3 passed" in run("two"), "only if it is asked to"
    assert "1 failed, 1 passed, 2 skipped" in run("two", "--recorded", "-n", "2")
    assert "4 passed" in run("three", "--recorded")
    assert "4 passed" in run("three", "--recorded"), "the tree was another one at the end"


def test_inputs_have_all_that_is_imported(request: pytest.FixtureRequest) -> None:
    """A test is not left out when code changes that its file imports; those of headers read it."""
    missing: dict[str, set[str]] = {}
    for item in request.session.stash[COLLECTED]:
        names = {name for mark in item.iter_markers("inputs") for name in mark.args}
        if names and not all(name.startswith("ns3-modules/") for name in names):
            needed = imported(item.path) - {"tests/inputs.py"}
            left_out = {one for one in needed if not any(_is_in(one, name) for name in names)}
            missing |= {item.path.name: left_out} if left_out else {}
    assert missing == {}


def _is_in(file: str, name: str) -> bool:
    return file == name or file.startswith(f"{name}/")


def test_bytecode_of_tests_is_kept() -> None:
    """Away from the sources where it is forbidden there; a folder of the user's own is used."""
    paths = Paths(Path("/x"))
    assert bytecode_kept({"A": "1"}, paths) == {"A": "1"}
    forbidden = {"PYTHONDONTWRITEBYTECODE": "1"}
    assert bytecode_kept(forbidden, paths) == {"PYTHONPYCACHEPREFIX": "/x/build/bytecode"}
    own = {"PYTHONPYCACHEPREFIX": "/y"}
    assert bytecode_kept(forbidden | own, paths) == own
