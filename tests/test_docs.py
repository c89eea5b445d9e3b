"""The site: every page is in it, every link leads somewhere, attributes come from the modules."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from pyorch.docs import build_site, write_source
from pyorch.errors import UserError
from pyorch.paths import Paths
from pyorch.pictures import pictures, refresh
from tests.strategies import ROOT, SCHEMA


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Broken links, unknown references and pages outside the tree would fail it."""
    page = build_site(Paths(ROOT), SCHEMA, tmp_path)
    html = page.parent
    pages = {file.stem for file in (ROOT / "docs").glob("*.md")}
    modules = {file.stem for file in (ROOT / "ns3-modules").glob("*/doc/*.rst")}
    assert {file.stem for file in html.glob("*.html")} >= pages | {"start", "index"}
    assert {file.stem for file in (html / "modules").glob("*.html")} >= modules
    text = (html / "modules" / "attributes-lossless.html").read_text(encoding="utf-8")
    assert "queue_service" in text
    linked = re.findall(r'href="([\w/-]+)\.html"', page.read_text(encoding="utf-8"))
    assert {name.split("/")[-1] for name in linked} >= pages | modules


def test_a_link_that_leads_nowhere_fails_the_site(tmp_path: Path) -> None:
    """Every one is told with its page and its target."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "ns3-modules/cbfc/doc", tmp_path / "ns3-modules/cbfc/doc")
    shutil.copy(ROOT / "README.md", tmp_path)
    broken = ("nowhere.md", "running.md#no-such-heading", "../no-such-folder/x.py")
    with (tmp_path / "docs" / "gfc.md").open("a", encoding="utf-8") as page:
        page.writelines(f"\n[nothing]({target})\n" for target in broken)
    with pytest.raises(UserError) as found:
        build_site(Paths(tmp_path), SCHEMA, tmp_path / "build")
    problems = [problem.what for problem in found.value.problems]
    for target in ("nowhere.md", "no-such-heading", "no-such-folder"):
        assert any("gfc.md" in what and target in what for what in problems), problems


def test_a_link_to_a_file_of_the_repository_becomes_text(tmp_path: Path) -> None:
    """On a git host it leads there; the site has only pages."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "tasks.py").write_text("")
    (tmp_path / "docs" / "gfc.md").write_text("# GFC\n\nSee [the tasks](../tasks.py).\n")
    write_source(Paths(tmp_path), SCHEMA, tmp_path / "source")
    assert (tmp_path / "source" / "gfc.md").read_text() == "# GFC\n\nSee the tasks.\n"


def test_pictures_of_studies_are_figures_that_there_are_and_are_shown() -> None:
    """GROUP.STUDY.FIGURE.png names a figure of a study, and some page shows it."""
    paths = Paths(ROOT)
    found = pictures(paths.images)
    assert len(found) > 5
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("ns3-modules/*/doc/*.rst"), ROOT / "README.md"]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    for picture in found:
        document = tomllib.loads((paths.experiments / f"{picture.study}.toml").read_text())
        assert picture.figure in {entry["name"] for entry in document["figure"]}, picture.file
        assert any(f"images/{picture.file.name}" in text for text in texts), picture.file


def test_pictures_follow_the_reports(tmp_path: Path) -> None:
    """What a report of a named study has is copied; the rest stays."""
    paths = Paths(tmp_path)
    paths.images.mkdir(parents=True)
    for name in ("g.a.x", "g.b.y", "g.c.z", "alone"):
        (paths.images / f"{name}.png").write_bytes(b"old")
    for study, figure, data in (("g/a", "x", b"new"), ("g/b", "y", b"old"), ("g/c", "z", b"new")):
        paths.report(study).mkdir(parents=True)
        (paths.report(study) / f"{figure}.png").write_bytes(data)
    assert refresh(["g/a", "g/b"], paths) == [paths.images / "g.a.x.png"]
    assert (paths.images / "g.a.x.png").read_bytes() == b"new"
    assert (paths.images / "g.c.z.png").read_bytes() == b"old"
