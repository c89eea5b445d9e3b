"""Whose code runs, and where results are written, in folders where others may write, too."""

from __future__ import annotations

import errno
import os
import py_compile
import shutil
import stat
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyorch import kinds
from pyorch.base import trust
from pyorch.base.errors import UserError
from pyorch.base.files import make_folder, opened, refuse_links
from pyorch.base.paths import Paths, program, project_root, python_path
from pyorch.build.sources import MODULE_PATH_VARIABLE, find_modules, fingerprint
from pyorch.engine.slurm.cluster import load_settings
from pyorch.remarks.plan import _hides
from pyorch.report.figures.custom import Custom
from pyorch.store.store import Store, _keep
from tests.inputs import ROOT, called
from tests.projects import STAR

STRANGER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Decisions of a user who has made none."""
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.delenv(trust.INHERITED, raising=False)
    return folder / "pyorch" / "trust.json"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A file of code in a folder, both of this user."""
    folder = tmp_path / "place"
    folder.mkdir()
    file = folder / "mine.py"
    file.write_text("answer = 42\n")
    return file


def refusal(call: Callable[[], object]) -> str:
    """What a refusal says."""
    with pytest.raises(UserError) as caught:
        call()
    return caught.value.render()


def give_away(path: Path) -> None:
    """Let a path belong to another user."""
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def loosen(mode: int, folder: bool = False) -> Callable[[Path], object]:
    """Set the mode of a file, or of its folder."""
    return lambda file: (file.parent if folder else file).chmod(mode)


def link_of_another(file: Path) -> None:
    """Put another user's link in the place of a file that is this user's own."""
    real = file.rename(file.with_name("real.py"))
    file.symlink_to(real)
    give_away(file)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_own_files_run(code: Path, mode: int) -> None:
    """Files that only their user may write need nothing."""
    code.chmod(mode)
    trust.vouch([code])
    assert trust.decide(code.parent) == {}


def test_a_sticky_folder_protects_what_is_in_it(code: Path) -> None:
    """As in /tmp: others may write there, but replace nothing."""
    code.parent.chmod(0o1777)
    trust.vouch([code])


@pytest.mark.parametrize(
    ("loose", "told"),
    [
        (loosen(0o666), "may be changed by everybody"),
        (loosen(0o777, folder=True), "place may be changed by everybody"),
        (loosen(0o757, folder=True), "place may be changed by everybody"),
        pytest.param(give_away, "belongs to nobody", marks=as_root),
        pytest.param(lambda file: give_away(file.parent), "place belongs to", marks=as_root),
        pytest.param(
            lambda file: (os.chown(file, -1, STRANGER), file.chmod(0o664)),
            "may be changed by the group nogroup",
            marks=as_root,
        ),
        pytest.param(link_of_another, "belongs to nobody", marks=as_root),
    ],
)
def test_what_another_may_write_is_refused(
    code: Path, loose: Callable[[Path], object], told: str
) -> None:
    """The message names the file, who else may write it, and how to trust it; then it runs."""
    loose(code)
    said = refusal(lambda: trust.vouch([code]))
    assert said.startswith(f"{code}: is not used: ")
    assert told in said
    assert f"pyorch trust {code}" in said
    assert list(trust.decide(code)) == [code]
    trust.vouch([code])


def test_a_link_leads_to_the_folders_that_count(code: Path, tmp_path: Path) -> None:
    """A link of this user is as safe as what it leads to."""
    link = tmp_path / "link.py"
    link.symlink_to(code)
    trust.vouch([link])
    code.parent.chmod(0o777)
    assert "place may be changed by everybody" in refusal(lambda: trust.vouch([link]))


def test_a_group_of_one_may_write(code: Path) -> None:
    """Many systems give each user a group, and everybody the umask 002."""
    own = os.getegid()
    if not trust._is_private(own):
        pytest.skip("this user has no group alone")
    os.chown(code, -1, own)
    code.chmod(0o664)
    trust.vouch([code])


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="only Linux shows lists so")
def test_an_access_control_list_is_no_group_of_one(code: Path) -> None:
    """With a list the mode of the group is that of everybody in the list."""
    own = os.getegid()
    if not trust._is_private(own):
        pytest.skip("this user has no group alone")
    os.chown(code, -1, own)
    # version 2; entries of tag, permissions and id: owner, a user, group, mask, others
    entries = [(1, 6, -1), (2, 6, STRANGER), (4, 4, -1), (16, 6, -1), (32, 4, -1)]
    packed = b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(code, "system.posix_acl_access", struct.pack("<I", 2) + packed)
    except OSError as error:
        pytest.skip(f"this file system has no lists: {error}")
    assert stat.S_IMODE(code.stat().st_mode) == 0o664
    assert "its access control list" in refusal(lambda: trust.vouch([code]))
    trust.decide(code)
    trust.vouch([code])


def test_what_cannot_run_needs_no_trust(code: Path) -> None:
    """Links to nothing or in a circle, FIFOs, and devices: nothing is read, nothing waits."""
    names = ("nothing.py", "circle.py", "fifo.py")
    nothing, circle, fifo = (code.with_name(name) for name in names)
    nothing.symlink_to("nowhere")
    circle.symlink_to(circle)
    os.mkfifo(fifo)
    fifo.chmod(0o666)
    assert trust.decide(code.parent) == {}
    trust.vouch([nothing, circle, code.with_name("none.py")])
    for place in (nothing, circle, fifo, Path(os.devnull)):
        assert f"{place}: is neither a file nor a folder" in refusal(partial(trust.decide, place))
    for name in ("none.py", "x" * 5000, "a\0b"):
        assert "no such file or folder" in refusal(partial(trust.decide, code.with_name(name)))
    code.parent.chmod(0o777)
    assert "nothing.py: cannot be read" in refusal(lambda: trust.vouch([nothing]))


def test_code_that_cannot_be_read_is_named(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a file with mode 600 that another user owns."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    code.chmod(0o666)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert (
        refusal(lambda: trust.decide(code.parent)) == f"{code}: cannot be read: Permission denied"
    )


def test_a_decision_lapses_with_the_content(code: Path, config: Path) -> None:
    """It holds for a path and what is there; nobody else can read or write it."""
    code.chmod(0o666)
    trust.decide(code.parent)
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    trust.vouch([code])
    code.write_text("answer = 43\n")
    assert "has changed since you trusted it" in refusal(lambda: trust.vouch([code]))
    other = code.with_name("other.py")
    other.write_text("answer = 42\n")
    other.chmod(0o666)
    assert "other.py" in refusal(lambda: trust.vouch([other]))


def test_only_own_decisions_count(code: Path, config: Path) -> None:
    """Decisions that others may write are none; a damaged file is an error that names it."""
    code.chmod(0o666)
    trust.decide(code)
    config.chmod(0o666)
    refusal(lambda: trust.vouch([code]))
    config.chmod(0o600)
    config.write_text("{")
    assert f"{config}: cannot be read" in refusal(lambda: trust.vouch([code]))


def test_a_job_inherits_what_was_trusted(
    code: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the digests in its environment, on a node without the user's home."""
    code.chmod(0o666)
    trust.decide(code)
    trust.vouch([code])
    monkeypatch.setenv(trust.INHERITED, trust.inherited())
    config.unlink()
    trust.vouch([code])
    code.write_text("answer = 43\n")
    refusal(lambda: trust.vouch([code]))


# What counts


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that everybody may write, with a folder to work in."""
    monkeypatch.delenv("PYORCH_ROOT", raising=False)
    folder = tmp_path / "project"
    (folder / "work").mkdir(parents=True)
    (folder / trust.PROJECT_FILE).touch()
    folder.chmod(0o777)
    monkeypatch.chdir(folder / "work")
    return folder


def test_a_project_of_others_is_refused(project: Path) -> None:
    """It is never ignored: the command would do something else than it does for its owner."""
    said = refusal(project_root)
    assert f"{project / trust.PROJECT_FILE}: is not used: " in said
    assert f"pyorch trust {project}" in said
    assert list(trust.decide(project)) == [project / trust.PROJECT_FILE]
    assert project_root() == project


@as_root
def test_root_uses_no_project_of_another(project: Path) -> None:
    """A pyorch.toml in a parent folder owned by somebody else does not decide what root runs."""
    project.chmod(0o755)
    for path in (project, project / trust.PROJECT_FILE):
        give_away(path)
    assert "belongs to nobody" in refusal(project_root)


@pytest.mark.processes
def test_trust_is_a_verb(project: Path) -> None:
    """`pyorch trust` works where every other verb is refused, and names the files."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = [*program("pyorch"), *words]
        return called(line)

    (project / "slurm.toml").touch()
    refused = call("list")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"pyorch trust {project}" in refused.stderr
    trusted = call("trust", "..")
    assert trusted.returncode == 0, trusted.stderr
    assert "trusted: ../pyorch.toml" in trusted.stdout
    assert "trusted: ../slurm.toml" in trusted.stdout
    assert call("list").returncode == 0
    assert "nothing to trust" in call("trust", str(project / "work")).stdout
    assert "there is no such file or folder" in call("trust", "nowhere").stderr


@as_root
def test_a_folder_that_nobody_may_look_into_has_no_project(tmp_path: Path) -> None:
    """Of a parent that was closed after somebody went below it."""
    folder = tmp_path / "closed" / "work"
    folder.mkdir(parents=True)
    (folder.parent / trust.PROJECT_FILE).touch()
    code = (
        "import os; from pyorch.base.paths import project_root; os.setgroups([]); "
        f"os.chdir({str(folder)!r}); os.chmod('..', 0); os.setuid({STRANGER}); "
        "print(project_root())"
    )
    environment = {**os.environ, "PYTHONPATH": python_path()}
    environment.pop("PYORCH_ROOT", None)
    line = [*program("x")[:-2], "-c", code]
    done = called(line, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (str(folder), str(ROOT))


def test_kinds_of_others_do_not_run(code: Path) -> None:
    """Not when an experiment is loaded; once trusted, exactly what was trusted runs."""
    code.chmod(0o666)
    assert f"pyorch trust {code}" in refusal(lambda: kinds.read(["mine.py"], code.parent, "a.toml"))
    trust.decide(code)
    assert kinds.read(["mine.py"], code.parent, "a.toml") == {"mine.py": "answer = 42\n"}


@pytest.mark.parametrize("name", ["../k.py", "{tmp}/k.py", "sub/../mine.py", "link.py", "sub/k.py"])
def test_kinds_lie_beside_the_experiment(code: Path, tmp_path: Path, name: str) -> None:
    """Neither "..", nor absolute paths, nor links lead out of its folder."""
    (tmp_path / "k.py").write_text("")
    code.with_name("link.py").symlink_to(tmp_path / "k.py")
    code.with_name("sub").symlink_to(tmp_path)
    said = refusal(lambda: kinds.read([name.format(tmp=tmp_path)], code.parent, "a.toml"))
    assert said.startswith("a.toml: kinds")
    assert "beside the experiment file" in said or "leads out of the folder" in said


def test_kinds_may_lie_below_the_experiment(code: Path) -> None:
    """A folder of kinds is fine."""
    code.with_name("sub").mkdir()
    code.rename(code.with_name("sub") / "mine.py")
    assert "sub/mine.py" in kinds.read(["sub/mine.py"], code.parent, "a.toml")


def test_figures_of_others_do_not_run(tmp_path: Path) -> None:
    """It is said before the runs, and with what to do."""
    experiment = tmp_path / "a.toml"
    figures = tmp_path / "a.figures.py"
    figures.write_text("def draw(data, figure): raise SystemExit\n")
    figure = Custom(name="own", function="draw")
    assert figure.lacking(experiment) is None
    figures.chmod(0o666)
    said = figure.lacking(experiment)
    assert said is not None
    assert said.startswith("a.figures.py is not used: may be changed by everybody; ")
    assert said.endswith(f"pyorch trust {figures}")
    trust.decide(figures)
    assert figure.lacking(experiment) is None
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.figures.py").symlink_to(figures)
    assert "leads out of the folder" in str(figure.lacking(elsewhere / "b.toml"))


def test_a_compiled_form_beside_figures_does_not_run(tmp_path: Path) -> None:
    """Python would take it for the file that it lies beside, by size and time."""
    figures = tmp_path / "a.figures.py"
    planted = tmp_path / "planted.py"
    planted.write_text("def draw(): return 'planted'\n")
    figures.write_text("def draw(): return 'written'\n")
    os.utime(planted, ns=(0, 0))
    os.utime(figures, ns=(0, 0))
    cache = tmp_path / "__pycache__" / f"a.figures.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(planted), str(cache))
    data: Any = SimpleNamespace(file=tmp_path / "a.toml")
    draw: Any = Custom(name="own", function="draw")._load(data)
    assert draw() == "written"


def test_modules_of_others_are_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a module every source and its CMakeLists.txt count."""
    module = tmp_path / "mine"
    (module / "model").mkdir(parents=True)
    (module / "CMakeLists.txt").write_text("build_lib(LIBNAME mine)\n")
    (module / "model" / "mine.cc").write_text("int x;\n")
    monkeypatch.setenv(MODULE_PATH_VARIABLE, str(module))
    home = ROOT / "ns3-modules"
    find_modules(home)
    for file in (module / "model" / "mine.cc", module / "CMakeLists.txt"):
        file.chmod(0o666)
        assert f"pyorch trust {module}" in refusal(lambda: find_modules(home))
        trust.decide(module)
        find_modules(home)


def test_a_module_may_be_open_in_an_editor(tmp_path: Path) -> None:
    """Emacs notes that with a link to nothing, named like the file."""
    sources = tmp_path / "mine" / "model"
    sources.mkdir(parents=True)
    (sources.parent / "CMakeLists.txt").write_text("build_lib(LIBNAME mine)\n")
    (sources / "mine.cc").write_text("int x;\n")
    module = find_modules(tmp_path)[0]
    before = fingerprint([module], "", "", "")
    (sources / ".#mine.cc").symlink_to("somebody@host.123")
    assert find_modules(tmp_path) == [module]
    assert fingerprint([module], "", "", "") == before


def test_a_site_of_others_is_refused(tmp_path: Path) -> None:
    """Its `setup` is shell code of every job."""
    site = tmp_path / "slurm.toml"
    site.write_text('setup = ["id"]\n')
    assert load_settings(Paths(tmp_path), {}).setup == ("id",)
    site.chmod(0o666)
    assert f"pyorch trust {site}" in refusal(lambda: load_settings(Paths(tmp_path), {}))


def test_a_study_that_hides_a_shipped_one_is_named(tmp_path: Path) -> None:
    """A file of the project wins over the study of that name, and this is said."""
    (tmp_path / trust.PROJECT_FILE).touch()
    paths = Paths(tmp_path)

    def said(name: str) -> list[str]:
        file = paths.experiments / f"{name}.toml"
        label = f"experiments/{name}.toml"
        experiment: Any = SimpleNamespace(name=name, file=file, label=label)
        return [remark.text for remark in _hides(experiment, paths)]

    assert said("gfc/ours") == said("mine") == []
    (text,) = said("gfc/two-to-one")
    assert text.startswith("gfc/two-to-one is experiments/gfc/two-to-one.toml of this project, ")
    assert text.endswith("not the study of that name that came with pyorch")


# Python's own modules


@pytest.mark.processes
def test_programs_do_not_look_into_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with "$PYTHONPATH:", which is the current folder, and without an installed package."""
    for name in ("random", "queue", "selectors", "statistics", "pandas"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError(__file__)\n")
    monkeypatch.setenv("PYTHONPATH", f":{tmp_path / 'none'}:")
    assert python_path() == f"{ROOT}:{tmp_path / 'none'}"
    code = "import random, queue, selectors, statistics, pandas, pyorch.cli.main"
    environment = {**os.environ, "PYTHONPATH": python_path()}
    line = [*program("x")[:-2], "-c", code]
    subprocess.run(line, cwd=tmp_path, env=environment, check=True)
    environment["PYTHONPATH"] = str(ROOT)
    line = [sys.executable, "-m", "pyorch", "--version"]
    subprocess.run(line, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.cpp
def test_a_project_may_have_files_named_like_modules(tmp_path: Path) -> None:
    """Planning, a run and its report work beside a random.py, a queue.py and a pandas.py."""
    for name in ("random", "queue", "selectors", "statistics", "pandas"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError(__file__)\n")
    (tmp_path / trust.PROJECT_FILE).touch()
    (tmp_path / "tiny.toml").write_text(TINY)
    for verb in ("show", "run"):
        line = [sys.executable, "-m", "pyorch", verb, "tiny.toml"]
        done = called(line, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


TINY = (
    """
title = "Tiny"

[run]
duration = "20us"

"""
    + STAR
)


# Where results are written


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """Files that are replaced replace the link; those written in place are refused."""
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    link = tmp_path / "metrics-1.json"
    link.symlink_to(precious)
    _keep(link, {"top": 1})
    assert not link.is_symlink()
    assert "top" in link.read_text()
    second = tmp_path / "log.txt"
    second.symlink_to(precious)
    for mode in ("w", "a", "wb", "ab"):
        with pytest.raises(OSError, match="symbolic links"):
            opened(second, mode)
    assert precious.read_text() == "precious"


@as_root
def test_folders_that_are_links_of_others_are_refused(tmp_path: Path) -> None:
    """Inside the results; the folder of results itself may be a link, and one's own links are."""
    real, target = tmp_path / "scratch", tmp_path / "target"
    real.mkdir()
    target.mkdir()
    results = tmp_path / "results"
    results.symlink_to(real)
    give_away(results)
    study = results / "tiny"
    study.mkdir()
    for name in ("runs", "report", "failed", "slurm"):
        link = study / name
        link.symlink_to(target)
        make_folder(link / "part", below=results)
        give_away(link)
        said = refusal(partial(make_folder, link / "part", below=results))
        assert f"{link}: is a link to {target} that another user made" in said
        refusal(partial(refuse_links, link, results))
    assert "runs: is a link to" in refusal(Store(Paths(tmp_path), "tiny").prepare)


@as_root
@pytest.mark.cpp
def test_planted_links_are_not_followed_by_commands(tmp_path: Path) -> None:
    """Another member of a group that shares results prepares links for a report."""
    (tmp_path / trust.PROJECT_FILE).touch()
    (tmp_path / "tiny.toml").write_text(TINY)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = [*program("pyorch"), *words]
        return called(line, cwd=tmp_path)

    assert call("run", "tiny.toml").returncode == 0
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    folder = tmp_path / "precious"
    folder.mkdir()
    report = tmp_path / "results" / "tiny" / "report"
    index = tmp_path / "results" / "index.html"
    for file in (index, report / "index.html", report / "summary.json", report / "setting.tex"):
        file.unlink()
        file.symlink_to(precious)
        give_away(file)
    done = call("report", "tiny.toml")
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "precious"
    shutil.rmtree(report)
    report.symlink_to(folder)
    give_away(report)
    done = call("report", "tiny.toml")
    assert done.returncode == 2
    assert "is a link to" in done.stderr
    assert list(folder.iterdir()) == []
