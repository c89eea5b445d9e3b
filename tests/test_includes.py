"""No file of a module includes itself by way of others, and no module another that needs it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pyorch.build import ensure_built
from pyorch.build.toolchain import find_compiler

MODULES = Path(__file__).resolve().parent.parent / "ns3-modules"
_INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:ns3/)?([\w./-]+)"', re.MULTILINE)
_UNNAMED = re.compile(r"^namespace\n\{.*?^\} // namespace$", re.MULTILINE | re.DOTALL)
_NAMESPACE = re.compile(r"^namespace (\w+)$", re.MULTILINE)
_CLASS = re.compile(r"^(?:class|struct) (\w+)[^;\n]*$", re.MULTILINE)

Graph = dict[str, set[str]]

#: Lines of a class with its header, comments and licence included.
LONGEST = 900


def includes(home: Path) -> Graph:
    """What each source and header of the modules includes of them, by file name.

    ns-3 installs all headers into one folder, so that names are unique.
    """
    files = [file for part in ("model", "helper") for file in home.glob(f"*/{part}/*.[ch]*")]
    names = {file.name for file in files}
    return {
        file.name: set(_INCLUDE.findall(file.read_text(encoding="utf-8"))) & names for file in files
    }


def between(home: Path, graph: Mapping[str, Set[str]]) -> Graph:
    """The same between modules."""
    homes = {file.name: file.parent.parent.name for file in home.glob("*/*/*.[ch]*")}
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


def refused(files: Sequence[Path]) -> dict[str, str]:
    """What a compiler says of the sources that it does not take, each read alone, by file name."""
    build = ensure_built(quiet=True)
    words = [f"-I{folder}" for folder in build.include_dirs]
    words += ["-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE", "-std=c++20", "-fsyntax-only", "-w"]
    said = {}
    for file in files:
        command = [str(find_compiler().path), *words, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said[file.name] = done.stderr
    return said


@pytest.mark.cpp
@pytest.mark.slow
@pytest.mark.parametrize(
    "module", sorted(path.parent.name for path in MODULES.glob("*/CMakeLists.txt"))
)
def test_each_source_includes_what_it_needs(module: str) -> None:
    """Builds compile sources together, where one has what another includes; ns-3's trees do not."""
    sources = [
        file for part in ("model", "helper") for file in MODULES.glob(f"{module}/{part}/*.cc")
    ]
    assert sources
    assert refused(sources) == {}


@pytest.mark.cpp
def test_a_missing_include_is_found(tmp_path: Path) -> None:
    """The test above can fail."""
    file = tmp_path / "mine.cc"
    file.write_text("std::vector<int> numbers;\n")
    assert "vector" in refused([file])["mine.cc"]
    file.write_text(
        '#include "ns3/lossless-port.h"\n#include <vector>\nstd::vector<int> numbers;\n'
    )
    assert refused([file]) == {}


def lengths(home: Path) -> dict[str, int]:
    """Lines of each class: its header and its source, which have its name."""
    lines: dict[str, int] = {}
    for part in ("model", "helper"):
        for file in home.glob(f"*/{part}/*.[ch]*"):
            text = file.read_text(encoding="utf-8")
            lines[file.stem] = lines.get(file.stem, 0) + text.count("\n")
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
    for file in sorted(home.glob("*/*/*.cc")):
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
