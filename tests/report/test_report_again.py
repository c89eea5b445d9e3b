"""A report that would be the same is not written again, without any visible difference."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest

from pyorch import kinds
from pyorch.cli.experiment import experiment, report
from pyorch.report import gallery, record, write
from tests.cli.test_cli import SMALL
from tests.inputs import ROOT

pytestmark = pytest.mark.cpp


QUESTION = 'title = "Small"\nquestion = "How long is the queue?"'
STUDY = f"""{SMALL.replace('title = "Small"', QUESTION)}
[[figure]]
name = "tops"
kind = "bars"
x = "variant"
y = "top"

[[expect]]
what = "the queue stays short"
metric = "top"
max = "1MB"
source = "test"
status = "ours"
"""

CUSTOM = """
[[figure]]
name = "own"
kind = "custom"
function = "own"
"""
FUNCTION = """
from pyorch.report.figures import Drawn


def own(data, model):
    canvas, axes = model.canvas()
    axes[0][0].plot([1, {end}])
    return Drawn(canvas, data.runs[["seed"]] * {end})
"""
KIND = """
from typing import Literal

from pyorch.kinds import {imports}


{body}
"""
FIGURE_KIND = '''
@figure
class Mine(FigureModel):
    """A figure of its own."""

    kind: Literal["mine"]

    def draw(self, data):
        canvas, axes = self.canvas()
        axes[0][0].plot([1, {end}])
        return Drawn(canvas, data.runs[["seed"]] * {end})
'''
METRIC_KIND = '''
@metric
class Constant(Metric):
    """A number of its own."""

    kind: Literal["constant"]

    def unit(self):
        return "1"

    def value(self, run):
        return float({end})
'''
MINE = '\n[[figure]]\nname = "mine"\nkind = "mine"\n'
CONSTANT = '\n[[metric]]\nname = "fixed"\nkind = "constant"\n'


@dataclass
class Desk:
    """One study, and how often its report was written."""

    file: Path
    results: Path
    capture: pytest.CaptureFixture[str]
    written: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Of the report."""
        return self.results / "small" / "report"

    def said(self, does: Callable[..., int], **options: str | bool) -> tuple[int, str, str]:
        """What a command says: its exit code, its output, its errors."""
        self.written.clear()
        self.capture.readouterr()
        code = does(str(self.file), **options)
        return (code, *self.capture.readouterr())

    def files(self) -> dict[str, bytes]:
        """Everything that a report writes for people."""
        places = [*self.folder.iterdir(), self.folder.parent / "runs.parquet"]
        places.append(self.results / "index.html")
        return {place.name: place.read_bytes() for place in places if place.is_file()}

    def check(
        self, written: bool, does: Callable[..., int] = report, **options: str | bool
    ) -> tuple[int, str, str]:
        """A command does as one that knows of no earlier report; written: whether it had to."""
        said, files = self.said(does, **options), self.files()
        assert bool(self.written) == written
        shutil.rmtree(self.folder)
        (self.results / "index.html").unlink()
        assert self.said(does, **options) == said
        assert self.written
        assert self.files() == files
        return said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the study and its runs, which all tests share."""
    return tmp_path_factory.mktemp("again")


@pytest.fixture
def desk(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """The study as it was first, with its report."""
    results = place / "results"
    monkeypatch.setenv("PYORCH_ROOT", str(ROOT))
    monkeypatch.setenv("PYORCH_RESULTS", str(results))
    found = Desk(place / "small.toml", results, capsys)
    write_report = write.write_report

    def noted(*args: object, **options: object) -> write.ReportResult:
        found.written.append("report")
        return write_report(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(write, "write_report", noted)
    found.file.write_text(STUDY)
    shutil.rmtree(found.folder, ignore_errors=True)  # files of another test's figures
    assert found.said(experiment)[0] == 0
    yield found
    record._code.cache_clear()
    kinds.activate({})


def test_a_repeat_writes_no_report(desk: Desk) -> None:
    """It says the same as the first time, by either command, and the gallery holds it for new."""
    shutil.rmtree(desk.folder)
    first = desk.said(report)
    assert desk.written
    assert desk.said(report) == first
    assert not desk.written
    assert "agrees" in first[1]
    assert first[1].endswith(f"report: {desk.folder / 'index.html'}\n")
    (desk.folder.parent / "runs").touch()
    assert desk.check(False) == first
    (desk.folder.parent / "runs").touch()
    assert desk.said(experiment)[1] == f"small: 2 runs, 2 done\n{first[1]}"
    assert not desk.written
    assert [card.stale for card in gallery.cards(desk.results)] == [False]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Small"', '"Smaller"'),
        ('"How long is the queue?"', '"How long?"'),
        ('y = "top"', 'y = "top"\ncaption = "Another."'),
        ('max = "1MB"', 'max = "2MB"'),
        ('source = "test"', 'source = "another"'),
        ('port = "s0:h0"', 'port = "s0:h1"'),
        ("seeds = 2", "seeds = 1"),
        ('name = "tops"', 'name = "other"'),
    ],
)
def test_an_edited_study_has_a_new_report(desk: Desk, old: str, new: str) -> None:
    """Whatever of it is edited; no run is made for that."""
    assert STUDY.count(old) == 1
    desk.file.write_text(STUDY.replace(old, new))
    desk.check(True)
    desk.check(False)


def test_another_command_is_another_report(desk: Desk) -> None:
    """The page names the command that makes it."""
    desk.check(True, seeds="1")
    desk.check(True)


@pytest.mark.parametrize("name", ["tops.png", "tops.csv", "index.html", "setting.tex"])
def test_a_lost_or_damaged_file_is_made_again(desk: Desk, name: str) -> None:
    """Not only a figure's."""
    desk.check(False)
    (desk.folder / name).unlink()
    desk.check(True)
    (desk.folder / name).write_bytes((desk.folder / name).read_bytes()[:-1])
    desk.check(True)
    desk.check(False)


def test_figures_for_a_paper_are_made_when_asked_and_stay(desk: Desk) -> None:
    """A later command, which does not ask, writes them again; without them it writes none."""
    pictures = {"tops.png", "tops.pdf", "tops-one.png", "tops-one.pdf"}
    assert pictures & desk.files().keys() == {"tops.png"}
    desk.check(True, paper=True)
    desk.check(False, paper=True)
    assert pictures <= desk.files().keys()
    asked = desk.files()
    (desk.folder / "tops.pdf").unlink()
    assert desk.said(experiment)[0] == 0
    assert (desk.written, desk.files()) == (["report"], asked)
    assert desk.said(report)[0] == 0
    assert not desk.written
    for document in desk.folder.glob("*.pdf"):
        document.unlink()
    assert desk.said(report)[0] == 0
    assert pictures & desk.files().keys() == {"tops.png"}


def test_tables_and_the_gallery_are_made_again(desk: Desk) -> None:
    """Files next to the report are part of it; the gallery is always refreshed."""
    for name in ("expectations.csv", "expectations.json", "runs.sha256", "summary.json"):
        (desk.folder / name).write_text("{}")
        desk.check(True)
    (desk.folder.parent / "runs.parquet").unlink()
    desk.check(True)
    (desk.results / "index.html").unlink()
    desk.check(False)
    (desk.folder / ".drawn" / ".report.json").write_text('{"key": 1')
    desk.check(True)


def test_edited_code_or_another_library_writes_the_report_again(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the report itself, its templates, and what draws."""
    code = tmp_path / "pyorch"
    shutil.copytree(ROOT / "pyorch", code, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(record, "_PACKAGE", code)
    record._code.cache_clear()
    desk.check(False)
    for name in (
        "report/write.py",
        "report/report.html.j2",
        "report/style.css.j2",
        "sizing/theory.py",
    ):
        with (code / name).open("a") as file:
            file.write("\n")
        record._code.cache_clear()
        desk.check(True)
        desk.check(False)
    for library in ("matplotlib", "plotly", "itables"):
        monkeypatch.setattr(record, "version", partial(_newer, library))
        record._code.cache_clear()
        desk.check(True)
        desk.check(False)


def _newer(library: str, package: str) -> str:
    return f"{version(package)}.1" if package == library else version(package)


def test_a_failing_study_fails_each_time(desk: Desk) -> None:
    """With the exit code and the verdict of the first time."""
    desk.file.write_text(STUDY.replace('max = "1MB"', 'max = "1B"'))
    code, output, _ = desk.check(True)
    assert code == 1
    assert "differs" in output
    assert desk.check(False)[0] == 1
    assert desk.said(experiment)[0] == 1
    assert not desk.written


def test_a_part_of_the_runs_is_reported_each_time(desk: Desk) -> None:
    """What is known of a missing run changes with every attempt at it."""
    for _ in range(2):
        code, _, errors = desk.check(True, seeds="3")
        assert code == 0
        assert "the report covers 2 of 3 runs" in errors
    desk.check(True)


def test_a_figure_of_the_study_itself_is_always_drawn(desk: Desk) -> None:
    """What its code reads is unknown; one that cannot be drawn is tried again."""
    code = desk.file.with_name("figures.py")
    desk.file.write_text(STUDY + CUSTOM)
    tables = []
    for end in (1, 2):
        code.write_text(FUNCTION.format(end=end))
        desk.check(True)
        tables.append((desk.folder / "own.csv").read_text())
    assert tables == ["seed\n1\n2\n", "seed\n2\n4\n"]
    code.write_text(FUNCTION.format(end="unknown"))
    for _ in range(2):
        code_, _, errors = desk.check(True)
        assert code_ == 1
        assert "custom figure (own): NameError" in errors
    code.write_text(FUNCTION.format(end=1))
    desk.check(True)
    desk.file.write_text(STUDY)
    desk.check(True)
    assert not list(desk.folder.glob("own*")), "its files went with the figure"
    code.unlink()


@pytest.mark.parametrize(
    ("imports", "body", "entry", "table", "column"),
    [
        ("Drawn, FigureModel, figure", FIGURE_KIND, MINE, "mine.csv", "seed"),
        ("Metric, metric", METRIC_KIND, CONSTANT, "../runs.parquet", "fixed"),
    ],
    ids=["figure", "metric"],
)
def test_a_kind_of_ones_own_counts_with_its_code(
    desk: Desk, imports: str, body: str, entry: str, table: str, column: str
) -> None:
    """An edit makes the runs stale, and the report is that of the new ones."""
    import pandas as pd

    code = desk.file.with_name("mine.py")
    desk.file.write_text('kinds = ["mine.py"]\n' + STUDY + entry)
    found = []
    for end in (1, 2):
        text = body.format(end=end)
        code.write_text(KIND.format(imports=imports, body=text))
        assert desk.said(experiment)[0] == 0
        desk.check(True)
        file = desk.folder / table
        read = pd.read_csv if file.suffix == ".csv" else pd.read_parquet
        found.append(list(read(file)[column]))
    assert found in ([[1, 2], [2, 4]], [[1.0, 1.0], [2.0, 2.0]])
