"""No file of a module includes itself by way of others, and no module another that needs it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pyorch.build import ensure_built
from pyorch.build.toolchain import find_compiler
from tests.inputs import called

MODULES = Path(__file__).resolve().parents[2] / "ns3-modules"
_INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:ns3/)?([\w./-]+)"', re.MULTILINE)
_UNNAMED = re.compile(r"^namespace\n\{.*?^\} // namespace$", re.MULTILINE | re.DOTALL)
_NAMESPACE = re.compile(r"^namespace (\w+)$", re.MULTILINE)
_CLASS = re.compile(r"^(?:class|struct) (\w+)[^;\n]*$", re.MULTILINE)

Graph = dict[str, set[str]]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

#: Lines of code of a class with its header; comments are not counted, so that none is cut for it.
LONGEST = 1_000


def includes(home: Path) -> Graph:
    """What each source and header of the modules includes of them, by file name.

    ns-3 installs all headers into one folder, so that names are unique.
    """
    files = [file for part in ("model", "helper") for file in home.glob(f"*/{part}/**/*.[ch]*")]
    names = {file.name for file in files}
    return {
        file.name: set(_INCLUDE.findall(file.read_text(encoding="utf-8"))) & names for file in files
    }


def between(home: Path, graph: Mapping[str, Set[str]]) -> Graph:
    """The same between modules."""
    homes = {file.name: file.relative_to(home).parts[0] for file in home.glob("*/*/**/*.[ch]*")}
    modules: Graph = {}
    for file, included in graph.items():
        needs = {homes[name] for name in included} - {homes[file]}
        modules.setdefault(homes[file], set()).update(needs)
    return modules


def cycle(graph: Graph) -> list[str]:
    """The nodes of a cycle, the first again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_file_includes_itself_by_way_of_others() -> None:
    """Headers can be read one after the other."""
    graph = includes(MODULES)
    assert graph["observe-probe.h"] >= {"lossless-fabric.h"}, "includes are found"
    assert cycle(graph) == []


def test_no_class_needs_one_that_needs_it() -> None:
    """What a source includes counts, too: classes can be read one after the other."""
    classes: Graph = {}
    for file, included in includes(MODULES).items():
        stem = Path(file).stem
        classes.setdefault(stem, set()).update({Path(name).stem for name in included} - {stem})
    assert cycle(classes) == []


def test_no_module_needs_one_that_needs_it() -> None:
    """Modules can be built one after the other."""
    modules = between(MODULES, includes(MODULES))
    assert modules["lossless"] == {"eventloop"}, "it knows no room above it"
    assert modules["rdma"] == {"lossless", "observe"}
    assert modules["facade"] >= {"rdma", "deadlock"}
    assert cycle(modules) == []


#: Headers from which most files take nearly all that they read, those with the most first.
COMMON = ("lossless-fabric-node.h", "lossless-port.h", "object.h")


class Compiler:
    """Reads files alone, as if nothing were known of them, without reading all their headers again.

    A precompiled header only stands for files that include everything in it, so that it hides no
    missing include from them. It does change an order: a small header finds names in it that it
    does not include, so that such headers must be read as well.
    """

    def __init__(self, folder: Path) -> None:
        build = ensure_built(quiet=True)
        self._folders = build.include_dirs
        self._own = {file.name: file for file in MODULES.glob("*/*/**/*.h")}
        self._reached: dict[Path, frozenset[Path]] = {}
        self._command = [str(find_compiler().path), *(f"-I{one}" for one in self._folders)]
        self._command += ["-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE", "-std=c++20", "-w"]
        self._precompiled: dict[Path, frozenset[Path]] = {}
        for name in COMMON:
            header = folder / name.replace(".h", "-only.h")
            header.write_text(f'#include "ns3/{name}"\n', encoding="utf-8")
            assert self._run("-x", "c++-header", str(header)) == ""
            self._precompiled[header] = self.reached(header)

    def refused(self, files: Sequence[Path]) -> dict[str, str]:
        """What it says of the files that it does not take, by file name."""
        said = {file.name: self._read(file) for file in files}
        return {name: text for name, text in said.items() if text}

    def reached(self, file: Path) -> frozenset[Path]:
        """The headers of ns-3 and of the modules that a file includes, by way of others, too."""
        if file not in self._reached:
            found: set[Path] = set()
            todo = [file]
            while todo:
                names = _INCLUDE.findall(todo.pop().read_text(encoding="utf-8"))
                new = {self._find(name) for name in names} - found
                found |= new
                todo += new
            self._reached[file] = frozenset(found)
        return self._reached[file]

    def _find(self, name: str) -> Path:
        places = [folder / "ns3" / name for folder in self._folders]
        return self._own.get(name) or next(
            (one for one in places if one.is_file()), Path(os.devnull)
        )

    def common(self, file: Path) -> Path | None:
        """The precompiled header with the most of which a file includes everything."""
        found = (one for one, all_of in self._precompiled.items() if all_of <= self.reached(file))
        return next(found, None)

    def _read(self, file: Path) -> str:
        header = self.common(file)
        first = () if header is None else ("-include", str(header))
        return self._run("-fsyntax-only", *first, "-x", "c++", str(file))

    def _run(self, *words: str) -> str:
        done = called([*self._command, *words])
        return done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """With its precompiled headers."""
    return Compiler(tmp_path_factory.mktemp("precompiled"))


@pytest.mark.cpp
@pytest.mark.slow
@pytest.mark.xdist_group("includes")
@pytest.mark.parametrize(
    "module",
    [
        pytest.param(name, marks=pytest.mark.inputs(f"ns3-modules/{name}"))
        for name in sorted(path.parent.name for path in MODULES.glob("*/CMakeLists.txt"))
    ],
)
def test_each_file_includes_what_it_needs(compiler: Compiler, module: str) -> None:
    """Builds compile sources together, where one has what another includes; ns-3's trees do not."""
    parts = ("model", "helper")
    files = [file for part in parts for file in MODULES.glob(f"{module}/{part}/**/*.*")]
    sources = [file for file in files if file.suffix == ".cc"]
    alone = [file for file in files if file.suffix == ".h" and compiler.common(file) is None]
    assert sources
    assert compiler.refused([*sources, *alone]) == {}


@pytest.mark.cpp
@pytest.mark.slow
@pytest.mark.xdist_group("includes")
@pytest.mark.inputs("ns3-modules/lossless")
def test_a_missing_include_is_found(compiler: Compiler, tmp_path: Path) -> None:
    """The test above can fail: without a precompiled header, and with each of them."""
    file = tmp_path / "mine.cc"
    file.write_text("std::vector<int> numbers;\n")
    assert "vector" in compiler.refused([file])["mine.cc"]
    for common in COMMON:
        includes = f'#include "ns3/{common}"\n'
        file.write_text(f"{includes}std::list<int> numbers;\nns3::DropTailQueue<int> queue;\n")
        assert "DropTailQueue" in compiler.refused([file])["mine.cc"]
        file.write_text(f"{includes}#include <list>\nstd::list<int> numbers;\n")
        assert compiler.refused([file]) == {}


def lengths(home: Path) -> dict[str, int]:
    """Lines of code of each class: its header and its source, which have its name."""
    lines: dict[str, int] = {}
    for part in ("model", "helper"):
        for file in home.glob(f"*/{part}/**/*.[ch]*"):
            text = file.read_text(encoding="utf-8")
            code = [line for line in _COMMENT.sub("", text).splitlines() if line.strip()]
            lines[file.stem] = lines.get(file.stem, 0) + len(code)
    return lines


def test_no_class_is_too_long_to_read() -> None:
    """Who has more than one duty is cut."""
    lines = lengths(MODULES)
    assert lines["lossless-port"] > 500, "headers and sources are added up"
    assert {name: n for name, n in lines.items() if n > LONGEST} == {}


@pytest.mark.parametrize("text", ['#include "b.h"', '# include "ns3/b.h"'])
def test_a_cycle_is_found(tmp_path: Path, text: str) -> None:
    """The test can fail."""
    for name, line in (("a.h", text), ("b.h", '#include "c.h"'), ("c.h", '#include "a.h"')):
        file = tmp_path / "mine" / "model" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(line, encoding="utf-8")
    assert set(cycle(includes(tmp_path))) == {"a.h", "b.h", "c.h"}


def twins(home: Path) -> list[str]:
    """Classes of one name, with namespaces, that two sources define: the linker keeps one."""
    found: list[str] = []
    for file in sorted(home.glob("*/*/**/*.cc")):
        text = _UNNAMED.sub("", file.read_text(encoding="utf-8"))
        names = [*_NAMESPACE.findall(text), ""]
        found += {"::".join(names) + name for name in _CLASS.findall(text)}
    return sorted(name for name, count in Counter(found).items() if count > 1)


def test_no_two_sources_define_a_class_of_one_name(tmp_path: Path) -> None:
    """Of two test cases of one name, one would run twice in the test program, the other never."""
    assert twins(MODULES) == []
    for name in ("one", "two"):
        source = tmp_path / "module" / "test" / f"{name}.cc"
        source.parent.mkdir(parents=True, exist_ok=True)
        unnamed = "namespace\n{\nclass Mine\n{\n};\n} // namespace\n"
        source.write_text(f"namespace ns3\n{{\n{unnamed}class Case : Base\n{{\n}};\n}}\n")
    assert twins(tmp_path) == ["ns3::Case"]


_NAMED = re.compile(r"ns3::(\w+)::[A-Z]")


def links(home: Path) -> Graph:
    """Modules that each module's tests are linked with, by way of others, too."""
    texts = {file.parent.name: file.read_text("utf-8") for file in home.glob("*/CMakeLists.txt")}
    linked = {name: _linked(text, r"\bLIBRARIES_TO_LINK") for name, text in texts.items()}
    found: Graph = {}
    for name, text in texts.items():
        todo = {name, *_linked(text, r"\bTEST_LIBRARIES_TO_LINK")}
        while todo - found.setdefault(name, set()):
            found[name] |= todo
            todo = {other for one in found[name] for other in linked.get(one, ())}
    return found


def _linked(text: str, keyword: str) -> set[str]:
    return set(
        re.findall(
            r"\$\{lib([\w-]+)\}", " ".join(re.findall(keyword + r"((?:\s+\$\{[^}]*\})*)", text))
        )
    )


def test_each_modules_tests_link_what_they_name() -> None:
    """A class that a test names in a string must be in the program of its module alone."""
    linked = links(MODULES)
    assert {"lossless", "eventloop", "dcqcn"} <= linked["sfc"], "links are found, of tests, too"
    for module, known in linked.items():
        texts = [file.read_text("utf-8") for file in MODULES.glob(f"{module}/test/*.cc")]
        named = {name for text in texts for name in _NAMED.findall(text)}
        assert named & linked.keys() <= known, module
