"""`invoke docs`: the pages of docs/ and of the modules as a site.

Pages -> build/docs/source, with an index and tables of all attributes from the built modules ->
Sphinx -> build/docs/html. Any warning of Sphinx fails the build.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base import doors
from pyorch.base.errors import Problem, UserError
from pyorch.base.files import write_atomically
from pyorch.base.paths import Paths, default_paths
from pyorch.catalogue.reference import reference_pages, table
from pyorch.cli.base import OK, command
from pyorch.cli.main import init
from pyorch.cli.tasks import VERBS
from pyorch.cli.verb import Declared, installed
from tools.notebooks import notebooks as notebooks_of
from tools.pictures import page_of

if TYPE_CHECKING:
    from pyorch.build.schema import TypeInfo
    from pyorch.setting.attributes import Catalogue

#: Groups of the navigation and their pages; a page named in none is a how-to guide.
TUTORIALS = ("first-study", "first-experiment", "new-scheme", "deadlock-hunt", "first-sweep")
REFERENCE = ("experiments", "flows", "jobs", "bring", "reports", "traces", "goal", "glossary")
EXPLANATION = (
    "architecture",
    "open-fabric",
    "reliability",
    "performance",
    "other-simulators",
)
SCHEMES = ("pfc", "gfc", "cbfc", "pffc", "sfc", "bfc", "dcfit", "dsh", "rdma", "trimming", "llr")
RESULTS = ("gallery", "bakeoff", "reproduction")
WRITTEN = ("commands", "reference", "modules", "attributes")
"""Pages written from the code that only the site has."""
RESULT_TABLES = "results"
"""Folder of docs/, and of the site, of tables, most of which commands write."""
FRONT = Path("docs/site")
"""Folder of what only the site has: its settings, its front page, its style."""
START, OVERVIEW = "start", "Overview and installation"
"""The README as a page of the site, and its title there: the front page has the README's."""
CLAIMS = "claims/index.html"
"""The claims as a page with filters, embedded in that of all claims."""
FIGURES = re.compile(r"(?<=\]\(|=\")\.\./ns3-modules/[^/]+/doc/figures/")
"""Pictures of modules, collected in one folder of the site."""
MODULE = re.compile(r"(?<=\]\()\.\./ns3-modules/[^/]+/doc/(?=[\w-]+\.rst\))")
"""Pages of modules, which are in one folder, too."""
SHOWN = re.compile(rf"`pyorch docs ({'|'.join(reference_pages())})`")
"""A command that prints a page written from the models: on the site it is a link to the page."""
OUTWARD = re.compile(r"\[([^\]]+)\]\(((?:\.\./|[^)#:]+\.toml)[^)#]*)(?:#[^)]*)?\)")


@command
def docs() -> int:
    """Build the site and print where it is."""
    from pyorch.build import ensure_built, load_schema

    paths = default_paths()
    page = build_site(paths, load_schema(ensure_built()), paths.build_root / "docs")
    print(f"site: {page}")
    return OK


def build_site(paths: Paths, types: Sequence[TypeInfo], folder: Path) -> Path:
    """Build the site into a folder; return its first page.

    Raises UserError with the warnings of Sphinx, or if it is not installed.
    """
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    write_source(paths, types, source)
    options = ["-W", "--keep-going", "-n", "-q", "-E", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named sphinx" in done.stderr:
        hint = "pip install -c constraints.txt -e '.[dev]'"
        raise UserError([Problem("invoke docs", "Sphinx is not installed", None, hint)])
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        told = [line.replace(f"{source}/", "") for line in lines]
        raise UserError([Problem("docs", line) for line in told or ["Sphinx failed"]])
    _write_claims(paths, folder / "html" / CLAIMS)
    return folder / "html" / "index.html"


def write_source(paths: Paths, types: Sequence[TypeInfo], source: Path) -> None:
    """Gather all pages into one folder for Sphinx."""
    pages = {file.stem: file for file in sorted((paths.root / "docs").glob("*.md"))}
    results = sorted((paths.root / "docs" / RESULT_TABLES).glob("*.md"))
    modules = {f"modules/{file.stem}": file for file in sorted(paths.modules.glob("*/doc/*.rst"))}
    (source / "modules").mkdir(parents=True)
    shutil.copytree(paths.images, source / "images")
    if results:
        shutil.copytree(results[0].parent, source / RESULT_TABLES)
    if notebooks := [f"notebooks/{file.stem}" for file in notebooks_of(paths)]:
        shutil.copytree(paths.root / "docs" / "notebooks", source / "notebooks")
    shutil.copy(paths.root / FRONT / "conf.py", source / "conf.py")
    shutil.copytree(paths.root / FRONT / "static", source / "static")
    for name, file in pages.items():
        text = _inward(file, paths.root)
        write_atomically(source / f"{name}.md", text)
    if _has_claims(paths):
        claims = source / RESULT_TABLES / paths.reproduction.name
        write_atomically(claims, _framed(claims.read_text(encoding="utf-8")))
    for name, file in modules.items():
        if (figures := file.parent / "figures").is_dir():
            shutil.copytree(figures, source / "modules" / "figures", dirs_exist_ok=True)
        text = file.read_text(encoding="utf-8")
        text += onward(file.parents[1].name, pages, types)
        write_atomically(source / f"{name}.rst", text)
    _, _, readme = (paths.root / "README.md").read_text(encoding="utf-8").partition("\n")
    write_atomically(source / f"{START}.md", f"# {OVERVIEW}\n{readme.replace('](docs/', '](')}")
    write_atomically(source / "reference.md", reference())
    write_atomically(source / "commands.md", commands())
    for name, written in reference_pages().items():
        write_atomically(source / f"{name}.md", _linked(written(paths)))
    attributes = attribute_pages(types)
    for name, text in attributes.items():
        write_atomically(source / f"{name}.md", text)
    for name, title, listed in (
        ("modules", "Schemes and modules", list(modules)),
        ("attributes", "Attributes and trace sources", list(attributes)),
    ):
        write_atomically(source / f"{name}.md", "\n".join([f"# {title}", "", *_tree("", listed)]))
    front = (paths.root / FRONT / "index.md").read_text(encoding="utf-8")
    write_atomically(source / "index.md", front + index(list(pages), notebooks, results))


def _has_claims(paths: Paths) -> bool:
    """Whether there are rows of the reproduction."""
    return paths.reproduction.with_suffix(".csv").is_file()


def _framed(text: str) -> str:
    """The page of all claims without its tables, which are too wide for any screen."""
    head = text.partition("\n## ")[0]
    style = "width: 100%; height: 88vh; border: 0"
    frame = f'<iframe src="../{CLAIMS}" title="All claims" style="{style}"></iframe>'
    return f'{head}\n<p><a href="../{CLAIMS}">On a page of its own</a></p>\n\n{frame}\n'


def _write_claims(paths: Paths, page: Path) -> None:
    """Write the claims of docs/reproduction.csv as a page that filters. Raises OSError."""
    from tools.reproduction.page import from_csv, write_page
    from tools.reproduction.published import load_published

    if _has_claims(paths):
        rows = from_csv(paths.reproduction.with_suffix(".csv").read_text(encoding="utf-8"))
        write_page(rows, load_published(paths.published), page.parent, {})


def _inward(file: Path, root: Path) -> str:
    """Return a page for the site: other files of the repository become plain text."""

    def plain(match: re.Match[str]) -> str:
        return match[1] if (root / "docs" / match[2]).exists() else match[0]

    text = FIGURES.sub("modules/figures/", file.read_text(encoding="utf-8"))
    text = MODULE.sub("modules/", text.replace("](../README.md", f"]({START}.md"))
    text = OUTWARD.sub(plain, text)
    return _linked(text)


def _linked(text: str) -> str:
    """Return a page with the commands that print a page as links to it."""
    return SHOWN.sub(lambda match: f"[{match[0]}]({match[1]}.md)", text)


def onward(module: str, pages: Collection[str], types: Sequence[TypeInfo]) -> str:
    """Return the last section of a module's page: its attributes, and the studies that test it."""
    links = [f"attributes-{module}"] if any(info.group == module for info in types) else []
    links += [f"/{about}"] if (about := page_of(module, pages)) else []
    links += ["/bakeoff"] if "bakeoff" in pages else []
    listed = ", ".join(f":doc:`{name}`" for name in links)
    return f"\nFurther\n~~~~~~~\n\n{listed}\n" if links else ""


def reference() -> str:
    """Return the page of the public names of Python, from their docstrings."""
    import pyorch

    objects = {name: getattr(pyorch, name) for name in sorted([*pyorch.__all__, "Collective"])}
    lines = ["# Python API", "", "[Python](python.md) explains how to use it.", ""]
    for name, value in objects.items():
        options = [] if hasattr(value, "model_fields") else ["   :members:"]
        lines += ["```{eval-rst}", f".. autoclass:: pyorch.{name}", *options, "```", ""]
    lines += ["## Methods of Study that add-ons bring", ""]
    for point in doors.points("pyorch.study"):
        where = point.value.replace(":", ".")
        lines += ["```{eval-rst}", f".. autofunction:: {where}", "```", ""]
    return "\n".join(lines)


def commands() -> str:
    """Return the page of all verbs with their words and options, from their declarations."""
    verbs = {f"invoke {one.name}": one for one in (*VERBS, *installed([]))}
    verbs[f"pyorch {init.name}"] = init
    said = (
        "Outside a checkout it is `pyorch` instead of `invoke`, and `run` instead of `experiment`."
    )
    lines = ["# Commands", "", said, ""]
    for name, one in sorted(verbs.items()):
        own = one.declared
        words = [f"[{w.upper()}]" if w in own.defaults else w.upper() for w in own.words]
        lines += [f"## `{' '.join([name, *words])}`", "", inspect.getdoc(one) or "", ""]
        cells = [(_option(key, own), help_) for key, help_ in own.help.items()]
        lines += table(("", ""), cells) if cells else []
    return "\n".join(lines)


def _option(key: str, declared: Declared) -> str:
    """An argument as it is typed."""
    if key in declared.words:
        return f"`{key.upper()}`"
    value = "" if declared.kinds[key] is bool else " …"
    return f"`--{key.strip('_').replace('_', '-')}{value}`"


def index(pages: Sequence[str], notebooks: Sequence[str] = (), results: Sequence[Path] = ()) -> str:
    """Return the navigation: tutorials, guides, reference, explanation, schemes, studies."""
    studies = [name for name in pages if name.startswith("studies-")]
    tables = [f"{RESULT_TABLES}/{file.stem}" for file in results]
    placed = {*TUTORIALS, *REFERENCE, *EXPLANATION, *SCHEMES, *RESULTS, *studies}
    groups: Mapping[str, Sequence[str]] = {
        "Tutorials": [START, *TUTORIALS, *notebooks],
        "How-to guides": [name for name in pages if name not in placed],
        "Reference": [*REFERENCE, *reference_pages(), *WRITTEN],
        "Explanation": EXPLANATION,
        "Schemes": SCHEMES,
        "Studies": [*(name for name in RESULTS if name in pages), *studies, *tables],
    }
    there = {*pages, *notebooks, *tables, START, *reference_pages(), *WRITTEN}
    return "\n" + "\n".join(
        line
        for caption, names in groups.items()
        for line in _tree(caption, [name for name in names if name in there])
    )


def _tree(caption: str, names: Sequence[str]) -> list[str]:
    """Return a table of contents; with a caption it is hidden and appears only in the margin."""
    head = [f":caption: {caption}", ":hidden:"] if caption else []
    return ["```{toctree}", ":maxdepth: 1", *head, "", *names, "```", ""]


def attribute_pages(types: Sequence[TypeInfo]) -> dict[str, str]:
    """Return a page for each module: attributes, inherited ones too, and traces of its classes."""
    from pyorch.setting.attributes import catalogue

    known = catalogue(types)
    pages = {}
    for group in sorted({info.group for info in types}):
        lines = [f"# Attributes of {group}", ""]
        for info in (info for info in types if info.group == group):
            lines += _class_lines(info, known)
        pages[f"modules/attributes-{group}"] = "\n".join(lines)
    return pages


def _class_lines(info: TypeInfo, types: Catalogue) -> list[str]:
    from pyorch.catalogue.schemes import toml_value
    from pyorch.setting.attributes import describe, written

    lines = [f"## {info.name}", ""]
    attributes = types.attributes(info)
    if attributes:
        cells = [
            (
                f"`{key}`",
                f"`{toml_value(written(types, info.name, one.name, one.default))}`",
                describe(one),
                one.help,
            )
            for key, one in attributes.items()
        ]
        lines += table(("key", "default", "allowed", "meaning"), cells)
    if info.traces:
        sources = [(f"`{trace.name}`", trace.help) for trace in info.traces]
        lines += table(("trace source", "meaning"), sources)
    if not attributes and not info.traces:
        lines += ["No attributes.", ""]
    return lines
