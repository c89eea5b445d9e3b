"""The program `pyorch`: its verbs, its words, and projects outside a checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from setuptools._distutils.filelist import FileList

import tasks
from pyorch.base.paths import Paths, default_paths, project_root
from pyorch.build.sources import find_modules, fingerprint
from pyorch.catalogue.reference import reference_pages
from pyorch.cli import door, main, pages
from pyorch.cli.init import init
from pyorch.cli.verb import GROUP
from pyorch.files.find import list_experiments
from pyorch.pipeline import command_line
from pyorch.report.write import _for_paper
from pyorch.study import Study
from tests.inputs import ROOT, called

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
DEVELOPERS = {"test", "lint", "bench", "docs", "clean", "bakeoff", "wheel"}


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that belongs to no project."""
    monkeypatch.chdir(tmp_path)
    for name in ("PYORCH_ROOT", "PYORCH_RESULTS", "PYORCH_MODULE_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_both_doors_have_the_same_verbs() -> None:
    """All that invoke does for users pyorch does, too, under the same names except run."""
    ours = set(main.program().namespace.task_names)
    theirs = {value.name for value in vars(tasks).values() if isinstance(value, tasks.Task)}
    assert ours - {"init"} == theirs - (DEVELOPERS - {"docs"}) - {"experiment"} | {"run"}


def test_the_pages_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """All of docs/, of the models and of modules, by a word in them, one at a time, with a typo."""
    own = {file.stem for file in (ROOT / "docs").glob("*.md")}
    own |= {f"results/{file.stem}" for file in (ROOT / "docs" / "results").glob("*.md")}
    of_modules = {file.stem for file in (ROOT / "ns3-modules").glob("*/doc/*.rst")}
    assert pages.docs() == 0
    heads = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line][:-1]
    assert sorted(heads) == sorted(own | set(reference_pages()) | of_modules)
    assert pages.docs(search="Tomahawk 5") == 0
    found = capsys.readouterr().out
    assert "studies-hardware" in found
    assert "first-study" not in found
    assert pages.docs("bring.md") == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "bring.md").read_text()
    assert pages.docs("results/schemes") == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "results" / "schemes.md").read_text()
    assert pages.docs("metrics", "all") == 0
    assert "\n## first_crossing\n" in capsys.readouterr().out
    assert pages.docs("brung") == 2
    assert "did you mean 'bring'?" in capsys.readouterr().err
    assert pages.docs(search="no such word") == 2


@pytest.mark.parametrize("page", reference_pages())
def test_a_page_of_reference_is_read_a_part_at_a_time(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which parts it has, a line each; every part has all its keys, and nothing of the others."""
    assert pages.docs(page, "all") == 0
    whole = capsys.readouterr().out
    heads = re.findall("^## (.+)$", whole, re.MULTILINE)
    assert pages.docs(page) == 0
    contents = capsys.readouterr().out
    assert [one[4:].split("  ")[0] for one in contents.splitlines() if one[:4] == "    "] == heads
    assert len(contents.split()) < 700
    parts = list(zip(heads, whole.split("\n## ")[1:], strict=True))
    for head, part in (*parts[:2], parts[-1]):
        assert pages.docs(page, head.strip("[]").upper()) == 0
        shown = capsys.readouterr().out
        own, _, other = part.rstrip().partition("Keys as of")
        assert shown.startswith(f"## {own}")
        assert shown.count("\n## ") == 0
        assert not other or "| key |" in shown


def test_a_kind_is_shown_with_the_keys_that_it_shares(capsys: pytest.CaptureFixture[str]) -> None:
    """With every other kind by name, with another kind in full; a misspelt one is suggested."""
    assert pages.docs("topologies", "dumbbell") == 0
    shown = capsys.readouterr().out
    assert "| `left` | *needed* |" in shown
    assert "`pyorch docs topologies topology`: rate (needed), delay (needed), failed_li" in shown
    assert len(shown.split()) < 150
    assert pages.docs("metrics", "min") == 0
    assert "| `port` | *needed* |" in capsys.readouterr().out
    assert pages.docs("topologies", "dumbel") == 2
    assert "did you mean 'dumbbell'?" in capsys.readouterr().err


def test_every_verb_and_option_has_a_help_text() -> None:
    """`pyorch VERB --help` says something about the verb and about each of its options."""
    code = """
from pyorch.cli import main
verbs = main.program().namespace
for name in verbs.task_names:
    assert (verbs[name].__doc__ or "").strip(), name
    for argument in verbs[name].get_arguments():
        assert argument.help, (name, argument.name)
"""
    # in a process of its own: a task gives its help texts away once
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["experiment", "x.toml"], "there is no verb 'experiment'; it is `pyorch run` here"),
        (["shwo", "x.toml"], "there is no verb 'shwo'; did you mean 'show'?"),
        (["zzz"], "there is no verb 'zzz'; `pyorch --help` lists them"),
        (
            ["show", "--bogus"],
            "`pyorch show` has no option '--bogus'; `pyorch show --help` lists its options",
        ),
        (
            ["run", "x", "--sed", "3"],
            "`pyorch run` has no option '--sed'; did you mean '--seed'?",
        ),
    ],
)
def test_a_verb_that_there_is_not_is_told_with_one_that_there_is(
    words: list[str], said: str
) -> None:
    """A task of invoke has another name here; an option that there is not is no verb."""
    line = [sys.executable, "-m", "pyorch", *words]
    done = called(line)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{said}\n")


def test_messages_name_the_commands_of_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invoke experiment is pyorch run there; what pyorch does not have keeps its name."""
    text = "`invoke experiment X`, invoke size, invoke list, invoke test, invoked"
    assert door.spoken(text) == text
    monkeypatch.setattr(door, "_program", door.PYORCH)
    told = "`pyorch run X`, pyorch size, pyorch list, invoke test, invoked"
    assert door.spoken(text) == told


def test_a_command_is_what_works_in_its_project(tmp_path: Path) -> None:
    """In a checkout, which has the tasks, that of invoke; in a project that of pyorch."""
    given = ("two words", ["buffer.alpha=0.5"], "1..2")
    rest = "'two words' --set buffer.alpha=0.5 --seeds 1..2"
    checkout = Paths(ROOT)
    assert command_line(*given, paths=checkout) == f"invoke experiment {rest}"
    assert init("here") == 0
    os.chdir(tmp_path / "here")
    assert command_line(*given) == f"pyorch run {rest}"
    assert command_line("incast", task="report") == "pyorch report incast"
    assert _for_paper(command_line("incast")).startswith("pyorch report incast --paper")
    assert command_line(*given, paths=checkout) == f"invoke experiment {rest}"


def test_a_command_does_not_depend_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the project is named from the project's folder; any other by its name, for pyorch.

    Only a project's folder has the tasks of invoke.
    """
    project, folder = tmp_path / "project", tmp_path / "apart"
    inside, outside = project / "notes" / "a.toml", folder / "b.toml"
    for file in (inside, outside):
        file.parent.mkdir(parents=True)
        file.touch()
    checkout = Paths(project)
    for here in (project, inside.parent, folder):
        monkeypatch.chdir(here)
        for path in (str(inside), os.path.relpath(inside)):
            assert command_line(path, paths=checkout) == "invoke experiment notes/a.toml"
        for path in (str(outside), os.path.relpath(outside)):
            assert command_line(path, paths=checkout) == "pyorch run b.toml"
            assert _for_paper(command_line(path, paths=checkout)).startswith("pyorch report b.toml")
    assert command_line("a/b.toml", paths=checkout) == "invoke experiment a/b.toml"


def test_every_verb_stands_in_one_group_of_the_help() -> None:
    """Those of add-ons, too; only verbs of other packages stand in none."""
    grouped = [name for names in main.GROUPS.values() for name in names]
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert sorted(grouped) == sorted({*(one.name for one in main.VERBS), *entry_points[GROUP]})
    lines = called([sys.executable, "-m", "pyorch", "--help"]).stdout.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == grouped


def test_help_names_the_commands_of_the_program() -> None:
    """Outside a checkout there is no `invoke list`."""
    line = [sys.executable, "-m", "pyorch", "explain", "--help"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert "`pyorch list`" in said
    assert "invoke" not in said


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    """Without a traceback, whether a command looks for a project there or not."""
    for verb, root in (("list", {}), ("report x.toml", {"PYORCH_ROOT": str(tmp_path)})):
        folder = tmp_path / "gone"
        folder.mkdir()
        code = f"cd {folder}; rmdir {folder}; exec {sys.executable} -P -m pyorch {verb}"
        environment = os.environ | {"PYTHONPATH": str(ROOT)} | root
        done = called(["sh", "-c", code], env=environment)
        assert done.returncode == 2
        told = "the current folder: it was deleted\n    hint: change to another one with `cd`\n"
        assert done.stderr == told


def test_too_few_open_files_are_told() -> None:
    """With the limit, and how to raise it."""
    code = """
import resource
from pathlib import Path
from pyorch.cli.base import command

def hungry() -> int:
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
    return len([Path("/dev/null").open() for _ in range(20)])

raise SystemExit(command(hungry)())
"""
    line = [sys.executable, "-c", code]
    done = called(line)
    assert done.returncode == 2
    assert done.stderr == (
        "the system: Too many open files: this process may have 12 files open at once\n"
        "    hint: raise the limit, such as with `ulimit -n 1024`\n"
    )


def test_a_project_has_its_own_experiments_before_those_of_the_package(tmp_path: Path) -> None:
    """Also from a folder inside it; it contains its own results and modules."""
    assert init("here") == 0
    inside = tmp_path / "here" / "deeper"
    inside.mkdir()
    os.chdir(inside)
    assert project_root() == tmp_path / "here"
    paths = default_paths()
    names = [name for name, _ in list_experiments(paths)]
    shipped = [name for name, _ in list_experiments(Paths(ROOT))]
    assert names == ["incast", *shipped]
    part = tmp_path / "here" / "experiments" / "parts" / "job.toml"
    assert part.read_bytes() == (ROOT / "experiments" / "ai" / "parts" / "job.toml").read_bytes()
    assert paths.results == tmp_path / "here" / "results"
    assert (paths.modules, paths.own_modules) == (ROOT / "ns3-modules", tmp_path / "here/modules")
    assert paths.build_root == ROOT / "build"
    own = paths.experiments / "gfc" / "two-to-one.toml"
    own.parent.mkdir()
    own.write_text('title = "Mine"\n')
    assert dict(list_experiments(paths))["gfc/two-to-one"] == "Mine"


def test_the_modules_of_a_project_are_found_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in modules/, once, even if the environment variable names the folder, too."""
    assert init("here") == 0
    os.chdir(tmp_path / "here")
    own = tmp_path / "here" / "modules"
    before = {module.name for module in find_modules(ROOT / "ns3-modules")}
    (own / "early-pause").mkdir(parents=True)
    (own / "early-pause" / "CMakeLists.txt").write_text("build_lib(LIBNAME early-pause)")
    for given in ("", str(own)):
        monkeypatch.setenv("PYORCH_MODULE_PATH", given)
        found = find_modules(ROOT / "ns3-modules")
        assert {module.name for module in found} - before == {"early-pause"}
        assert [module.outside for module in found if module.name == "early-pause"] == [True]


def test_init_keeps_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It adds its files to a folder once, and says no the second time."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "incast.toml").write_text("mine")
    assert init(".") == 0
    assert (tmp_path / "experiments" / "incast.toml").read_text() == "mine"
    assert init(".") == 2
    assert "is a project already" in capsys.readouterr().err
    assert init("") == 2


def test_init_begins_with_a_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project begins with one, and more can be added, each once; an unknown name is told."""
    assert init("mine", "fabric") == 0
    assert "pyorch.toml" in [file.name for file in (tmp_path / "mine").iterdir()]
    assert init("mine", "ring") == 0
    assert "experiment ring" in capsys.readouterr().out
    assert init("mine", "ring") == 2
    assert "is there already" in capsys.readouterr().err
    assert init("other", "fabrik") == 2
    told = capsys.readouterr().err
    allowed = "deadlock, fabric, hardware, incast, job, ring"
    assert f"allowed: {allowed}\n    hint: did you mean 'fabric'?" in told
    assert not (tmp_path / "other").exists()
    names = sorted(file.name for file in (tmp_path / "mine" / "experiments").glob("*.toml"))
    assert names == ["fabric.toml", "ring.toml"]


@pytest.mark.cpp
@pytest.mark.parametrize("template", ["fabric", "ring", "deadlock", "incast", "hardware", "job"])
def test_every_template_is_ready_to_run(tmp_path: Path, template: str) -> None:
    """It loads without a problem, and nothing it measures will be empty."""
    assert init("mine", template) == 0
    study = Study.load(template, paths=Paths(tmp_path / "mine"))
    assert study.remarks_on_plan() == []
    assert study.plan().experiment.question


@pytest.mark.cpp
def test_a_row_of_ones_own_is_judged(tmp_path: Path) -> None:
    """The template for measurements runs as it is: 4096 B of 4178 at 100 Gb/s, as the NIC's."""
    assert init("mine", "hardware") == 0
    study = Study.load("hardware", paths=Paths(tmp_path / "mine"))
    study.run()
    assert study.runs["goodput"].item() == pytest.approx(1e11 * 4096 / 4178, rel=1e-3)
    assert study.verdicts["verdict"].tolist() == ["agrees"]


def in_sdist() -> set[str]:
    """What a source distribution has of this checkout, by MANIFEST.in and what is always in one."""
    # not asked of git: the tests also run in a copy of the committed files
    tops = {"docs", "experiments", "ns3-modules", "pyorch"}
    listed = [
        str(file.relative_to(ROOT))
        for top in sorted(tops)
        for file in sorted((ROOT / top).rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    ] + [file.name for file in ROOT.iterdir() if file.is_file()]
    files = FileList()
    files.allfiles = listed
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        if line and not line.startswith("#"):
            files.process_template_line(line)
    always = {"pyproject.toml", "setup.py", "README.md", "LICENSE"}
    return {*files.files, *always, *(file for file in listed if file.startswith("pyorch/"))}


def test_the_version_is_the_same_everywhere() -> None:
    """pyproject.toml has it; a citation and the topmost release of the changelog say the same."""
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    heads = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line[:3] == "## "]
    release = next(head for head in heads if head != "## Unreleased")
    assert release.split()[1] == VERSION


@pytest.mark.slow
def test_an_installed_package_needs_no_checkout(tmp_path: Path) -> None:
    """Of a source distribution, as a wheel: it lists all studies, and has the same fingerprint.

    All modules of Python are there, and nothing of tests and tools. A new project has their
    studies and its own. It runs nothing: compiling the modules for it takes minutes.
    """
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    copy = tmp_path / "copy"
    for file in in_sdist():
        target = copy / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, target)
    done = called([*install, str(copy)])
    assert done.returncode == 0, done.stderr
    expected = {file for file in in_sdist() if file.startswith("pyorch/")}
    assert {str(file.relative_to(site)) for file in site.rglob("*")} >= expected
    assert {file.name for file in site.iterdir()} - {"bin"} == {
        "pyorch",
        f"pyorch-{VERSION}.dist-info",
    }
    folder = tmp_path / "anywhere"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def pyorch(*words: str, place: Path = folder) -> subprocess.CompletedProcess[str]:
        return called([sys.executable, "-m", "pyorch", *words], cwd=place, env=environment)

    listed = pyorch("list")
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert names == [name for name, _ in list_experiments(Paths(ROOT))], listed.stderr
    asked = pyorch("report", "gfc/two-to-on")
    assert asked.returncode == 2
    assert "did you mean 'gfc/two-to-one'?" in asked.stderr
    shipped = site / "pyorch" / "shipped" / "ns3-modules"
    prints = [
        fingerprint(find_modules(home), "3.44", "gcc", "", "rdma")
        for home in (shipped, ROOT / "ns3-modules")
    ]
    assert prints[0] == prints[1]
    assert pyorch("init", "mine").returncode == 0
    of_project = pyorch("list", place=folder / "mine")
    listed_there = {line.split()[0] for line in of_project.stdout.splitlines()}
    assert listed_there == {*names, "incast"}, of_project.stderr
