"""What the README shows is true: its pages and commands exist."""

from __future__ import annotations

import re

import pytest

from pyorch.base.paths import Paths
from pyorch.cli import main
from pyorch.files.find import list_experiments
from tests.docs.test_guide import slug
from tests.inputs import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_task_leads_to_one_page_and_to_a_verb() -> None:
    """A newcomer reads the README and one page: neither may be long, no task may offer several."""
    assert len(README.split()) <= 500
    rows = re.findall(r"^\| (.+) \| `(.+)` \| (.+) \|$", README, re.MULTILINE)
    assert len(rows) > 8
    assert [task for task, _, page in rows if page.count("](") != 1 or "](" in task] == []
    verbs = {verb.name for verb in main.VERBS}
    commands = [command.split()[1] for _, command, _ in rows if command.startswith("pyorch ")]
    assert len(commands) > 6
    assert set(commands) <= verbs


def test_linked_files_exist() -> None:
    """Every relative link of the README leads to a file."""
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_linked_headings_exist(name: str) -> None:
    """Every anchor of a link is a heading of its page; the site checks those within docs."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!\w+:)([^)#]*\.md)#([^)]+)\)", text)
    for target, anchor in links:
        page = (ROOT / target).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
        assert anchor in {slug(heading) for heading in headings}, (target, anchor)


def test_studies_have_their_pages() -> None:
    """Every study has its page."""
    studies = {name for name, _ in list_experiments(Paths(ROOT))}
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    told = re.findall(r"^(?:## |- `)([\w-]+/[\w-]+)`?: ", pages, re.MULTILINE)
    assert sorted(told) == sorted(studies)
