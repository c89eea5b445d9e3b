"""Pages of the modules follow ns-3's outline: scope first, validation last."""

from __future__ import annotations

import re

import pytest

from pyorch.base.paths import Paths
from pyorch.build.sources import find_modules
from pyorch.catalogue.new_scheme import KINDS, TEMPLATES, Names, fill
from tests.inputs import ROOT

MODULES = [module for module in find_modules(Paths(ROOT).modules) if not module.outside]
PAGES = [page for module in MODULES for page in sorted((module.folder / "doc").glob("*.rst"))]
TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
WORDS = Names("early-pause").words("flow-control", 0)
TEXTS |= {
    f"new-{kind}": fill((TEMPLATES / folder / "module.rst").read_text(encoding="utf-8"), WORDS)
    for kind, folder in KINDS.items()
}
_CASE = re.compile(r'TestCase\(\s*(?P<name>(?:"(?:[^"\\\n]|\\.)*"\s*)+)')
_HEADING = re.compile(r"^(?P<text>\S.*)\n(?P<line>[-~]{4,})$", re.MULTILINE)


def headings(text: str, line: str) -> list[re.Match[str]]:
    """Return the headings that are underlined with a character."""
    return [match for match in _HEADING.finditer(text) if set(match["line"]) == {line}]


def test_every_module_has_its_page() -> None:
    """A page is called like its module."""
    assert [
        one.name for one in MODULES if not (one.folder / "doc" / f"{one.name}.rst").is_file()
    ] == []


@pytest.mark.parametrize("page", TEXTS)
def test_pages_follow_the_outline(page: str) -> None:
    """One title; scope and limitations, the model, references, usage, tests, validation."""
    titles, sections = headings(TEXTS[page], "-"), headings(TEXTS[page], "~")
    assert len(titles) == 1
    names = [match["text"] for match in sections]
    assert names[0] == "Scope and Limitations"
    assert names[-4:] == ["References", "Usage", "Examples and Tests", "Validation"]
    for match in [*titles, *sections]:
        assert len(match["line"]) == len(match["text"]), match["text"]


def test_names_of_test_cases_suit_ns3() -> None:
    """ns-3 refuses these characters in names, and only says so when its test program starts."""
    folders = [module.folder for module in MODULES] + [TEMPLATES / one for one in KINDS.values()]
    names = [
        re.sub(r'"\s*"', "", match["name"]).strip()[1:-1]
        for folder in folders
        for file in sorted(folder.rglob("*-test-suite.cc"))
        for match in _CASE.finditer(file.read_text(encoding="utf-8"))
    ]
    assert len(names) > 100
    assert [name for name in names if re.search(r'["/\\|?]', name)] == []
