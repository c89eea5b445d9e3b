"""The site: every page is in it, every link leads somewhere, attributes come from the modules."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.catalogue.reference import reference_pages
from pyorch.cli.tasks import VERBS
from pyorch.cli.verb import installed
from pyorch.files.load import load_experiment
from pyorch.report.runs import RUNS_FILE
from tests.strategies import ROOT, SCHEMA
from tools import tuned
from tools.docs import SCHEMES, build_site, commands, write_source
from tools.notebooks import notebooks
from tools.pictures import gallery, pictures, refresh

#: Pages in which one looks things up, or of which results write a part.
LONG = ("architecture", "flows", "reproduction")


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Broken links, unknown references and pages outside the tree would fail it."""
    page = build_site(Paths(ROOT), SCHEMA, tmp_path)
    html = page.parent
    pages = {file.stem for file in (ROOT / "docs").glob("*.md")}
    modules = {file.stem for file in (ROOT / "ns3-modules").glob("*/doc/*.rst")}
    written = {"start", "index", *reference_pages()}
    assert {file.stem for file in html.glob("*.html")} >= pages | written
    results = {file.stem for file in (ROOT / "docs" / "results").glob("*.md")}
    assert {file.stem for file in (html / "results").glob("*.html")} == results
    assert {file.stem for file in (html / "modules").glob("*.html")} >= modules
    text = (html / "modules" / "attributes-lossless.html").read_text(encoding="utf-8")
    assert "queue_service" in text
    inherited = (html / "modules" / "attributes-later.html").read_text(encoding="utf-8")
    assert "lossless_classes" in inherited  # of BufferPolicy, another module's
    assert 'id="pyorch.Study.load"' in (html / "reference.html").read_text(encoding="utf-8")
    for notebook in notebooks(Paths(ROOT)):
        shown = (html / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        assert '<img alt="' in shown, notebook
    files = (page, html / "start.html")
    titles = {re.findall("<title>(.*)</title>", file.read_text())[0] for file in files}
    assert len(titles) == 2, "Next leads to a page of the same title"
    linked = re.findall(r'href="([\w/-]+)\.html"', page.read_text(encoding="utf-8"))
    assert {name.split("/")[-1] for name in linked} >= pages | modules


@pytest.mark.slow
def test_a_link_that_leads_nowhere_fails_the_site(tmp_path: Path) -> None:
    """Each is reported with its page and its target, in a site of two pages."""
    shutil.copytree(ROOT / "docs" / "site", tmp_path / "docs" / "site")
    (tmp_path / "docs" / "images").mkdir()
    for page in ("gfc.md", "running.md"):
        shutil.copy(ROOT / "docs" / page, tmp_path / "docs")
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
    """On a git host it leads there; the site has only pages, and links for what prints one."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "tasks.py").write_text("")
    text = "# GFC\n\nSee [the tasks](../tasks.py), [it](../ns3-modules/gfc/doc/gfc.rst).\n"
    (tmp_path / "docs" / "gfc.md").write_text(text)
    write_source(Paths(tmp_path), SCHEMA, tmp_path / "source")
    wanted = "# GFC\n\nSee the tasks, [it](modules/gfc.rst).\n"
    assert (tmp_path / "source" / "gfc.md").read_text() == wanted
    for page in ("experiments", "keys"):
        text = (tmp_path / "source" / f"{page}.md").read_text()
        assert "[`pyorch docs metrics`](metrics.md)" in text, page


def test_the_page_of_commands_has_every_verb_and_option() -> None:
    """As declared: words in capitals, in brackets if they may be left out."""
    page = commands()
    for heading in ("invoke show [NAME]", "invoke minimise NAME RUN", "pyorch init FOLDER"):
        assert f"\n## `{heading}`\n" in page
    assert "| `--dry-run` | only show what would run |\n" in page
    assert "| `--seeds …` | run seeds 1 to N, or N-M, instead of those in the file |\n" in page
    assert page.count("\n## ") == len({*VERBS, *installed([])}) + 1


@pytest.mark.slow
def test_pictures_of_studies_are_figures_that_there_are_and_are_shown() -> None:
    """GROUP.STUDY.FIGURE.png names a figure of a study, and some page shows it."""
    paths = Paths(ROOT)
    found = pictures(paths)
    assert len(found) > 5
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("ns3-modules/*/doc/*.rst"), ROOT / "README.md"]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    for picture in found:
        figures = load_experiment(picture.study, paths=paths).figures
        assert picture.figure in {figure.name for figure in figures}, picture.file
        shown = f"{picture.file.parent.name}/{picture.file.name}"
        assert any(shown in text for text in texts), picture.file


def test_study_pages_have_pictures_and_answers() -> None:
    """Every page shows a figure of a study, and a section of a study opens with its answer."""
    schemes = [ROOT / "docs" / f"{name}.md" for name in SCHEMES]
    for page in (*sorted(ROOT.glob("docs/studies-*.md")), *schemes):
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^!\[.+\]\(.*/[\w-]+\.[\w-]+\.[\w-]+\.png\)$", text, re.MULTILINE), page
        without = re.findall(r"^## (\S+/\S+): .*\n\n(?!\*\*.+[.]\*\*\n)", text, re.MULTILINE)
        assert without == [], page


def test_no_page_is_longer_than_one_reads() -> None:
    """1,500 words, 2,000 where one looks things up, 800 of a scheme; docs/results has tables."""
    words = {
        page.stem: len(page.read_text(encoding="utf-8").split())
        for page in sorted(ROOT.glob("docs/*.md"))
    }
    most = dict.fromkeys(words, 1500) | dict.fromkeys(LONG, 2000) | dict.fromkeys(SCHEMES, 800)
    assert {name: n for name, n in words.items() if n > most[name]} == {}


def words_of_sentences(text: str) -> list[int]:
    """The number of words of each sentence of a page; tables, code and pictures are none."""
    text = re.sub(r"```.*?```|^(?:\||#| {4}|!\[).*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"\n\s*\n|\n(?=[-*] )|[.!?][*_\")]*\s+(?=[A-Z0-9`*(\"])", text)
    counts = (len(re.findall(r"\S*\w\S*", part)) for part in parts)
    return [count for count in counts if count]


def test_sentences_have_at_most_25_words_on_average() -> None:
    """On every page that has some."""
    pages = {file.stem: file.read_text(encoding="utf-8") for file in ROOT.glob("docs/*.md")}
    counts = {name: found for name, text in pages.items() if (found := words_of_sentences(text))}
    assert words_of_sentences("One. Two `x.y` two.\n\n| a |\n\n- Three three three: 1.5\n") == [
        1,
        3,
        4,
    ]
    assert {name for name, found in counts.items() if sum(found) > 25 * len(found)} == set()


def test_a_page_of_a_scheme_says_when_it_fails() -> None:
    """Below what was found, in bold; and each entry of its studies is an answer, a sentence."""
    for name in SCHEMES:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(r"^\*\*.+\.\*\*.*?^## When (it fails|they fail)$", text, re.M | re.S), name
        entries = re.findall(r"^- `[\w-]+/[\w-]+`: (.*)$", text, re.MULTILINE)
        assert [one for one in entries if not re.fullmatch(r"[A-Z].+\.", one)] == []


def test_the_page_of_tuned_schemes_is_that_of_their_files() -> None:
    """`python -m tools.tuned` writes it."""
    text = (ROOT / "docs" / "results" / "schemes.md").read_text(encoding="utf-8")
    assert text == tuned.page(Paths(ROOT))
    assert "| `credit.period` | 20.9712us | 5.2428us | 1.3107us |" in text  # 65,535 B at each rate


@pytest.mark.slow
def test_the_gallery_has_every_picture_of_a_study() -> None:
    """As it is written with the pictures: with the kinds and titles of figures now."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert page == gallery(Paths(ROOT))
    links = re.findall(r"^!\[.+\]\((.+)\)$", page, re.MULTILINE)
    assert {(ROOT / "docs" / link).resolve() for link in links} == {
        picture.file.resolve() for picture in pictures(Paths(ROOT))
    }


def test_pictures_follow_the_reports(tmp_path: Path) -> None:
    """What a report of a named study has is copied, if it is of the study's runs."""
    paths = Paths(tmp_path)
    paths.images.mkdir(parents=True)
    reports = {  # study -> figure, what it shows, and the runs it is of
        "g/a": ("x", b"new", "a"),
        "g/b": ("y", b"old", "b"),
        "g/c": ("z", b"new", "c"),
        "g/d": ("w", b"new", "others"),
        "g/e": ("v", b"new", None),
    }
    for study, (figure, data, runs) in reports.items():
        (paths.images / f"{study.replace('/', '.')}.{figure}.png").write_bytes(b"old")
        paths.report(study).mkdir(parents=True)
        (paths.report(study) / f"{figure}.png").write_bytes(data)
        if runs is not None:
            (paths.report(study) / RUNS_FILE).write_text(runs)
    (paths.images / "alone.png").write_bytes(b"old")
    names = ["g/a", "g/b", "g/d", "g/e"]
    changed, left = refresh(names, paths, lambda study: study.removeprefix("g/"))
    assert changed == [paths.images / "g.a.x.png"]
    assert [picture.study for picture in left] == ["g/d", "g/e"]
    new = {file.name for file in paths.images.iterdir() if file.read_bytes() == b"new"}
    assert new == {"g.a.x.png"}


def test_every_page_of_a_scheme_shows_its_validation() -> None:
    """Where a module's page explains its validation, a picture of a study follows."""
    pages = sorted(ROOT.glob("ns3-modules/*/doc/*.rst"))
    without = {
        page.stem
        for page in pages
        if "\nValidation\n" in (text := page.read_text(encoding="utf-8"))
        and ".. figure::" not in text
    }
    assert without <= {
        "rdma",
        "eventloop",
        "fabricdevice",
        "dsh",
        "observe",
        "deadlock",
        "facade",
    }, without
