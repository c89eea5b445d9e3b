"""Write the report of an experiment: figures, expectations, index.html."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import OwnCodeError, UserError, code_of, describe_defect
from pyorch.base.files import make_folder, replacing, write_atomically
from pyorch.base.fingerprint import short
from pyorch.metrics import missing_numbers
from pyorch.plan import RunSpec
from pyorch.report import gallery, record
from pyorch.report.answer import ALWAYS, answer
from pyorch.report.comparison import comparison
from pyorch.report.data import ReportData
from pyorch.report.embed import packed
from pyorch.report.expect import AGREES, DIFFERS, ExpectModel, Result, agreed_metrics, judge
from pyorch.report.figures import MODELS, FigureError, FigureModel
from pyorch.report.page import DrawnFigure, FailedRun, Page, render
from pyorch.report.quantities import show
from pyorch.report.record import Told
from pyorch.report.runs import RUNS_FILE, digest_of, machines, runs_table
from pyorch.report.setting import Setting, setting
from pyorch.report.standstill import headlines, readable
from pyorch.report.style import is_legible, lay_out, measured_at, paper_style
from pyorch.report.tex import booktabs
from pyorch.store.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_TAIL_LINES = 15
_PNG_DPI = 200


@dataclass(frozen=True)
class ReportResult:
    """What a report found.

    failed_expectations: those that make the experiment fail. figure_errors: figures that could
    not be drawn. files: everything written, index.html first. compared: means of metrics in short.
    """

    failed_expectations: tuple[Result, ...]
    files: tuple[Path, ...]
    expectations: tuple[Result, ...] = ()
    figure_errors: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()

    @property
    def index(self) -> Path:
        """The page to open."""
        return self.files[0]

    def told(self) -> Told:
        """Its console output."""
        verdicts = []
        for result in self.expectations:
            margin = result.margin() if result.verdict == AGREES else ""
            expected = result.wanted() + (f" ({margin})" if margin else "")
            what, measured = result.expect.what, result.measured()
            verdicts.append(f"{result.verdict:<11} {what}: {measured}, {expected}")
        failed = bool(self.failed_expectations or self.figure_errors)
        compared = () if self.expectations else self.compared
        pdfs = [file.name for file in self.files if file.suffix == ".pdf"]
        return Told(verdicts, self.figure_errors, self.index, failed, compared, pdfs)


def write_report(
    experiment: Any,
    store: Store,
    specs: Sequence[RunSpec],
    out_dir: Path,
    *,
    fingerprint: str = "",
    command: str | None = None,
    paper: bool = False,
    overloads: Sequence[str] = (),
) -> ReportResult:
    """Write the report of the finished runs among the specs into a folder.

    experiment: has name, title, question, source, metrics, figures, expects (models or their
    tables), folder and types. fingerprint: of the build, as in the run hashes. command: what
    reproduces it; by default that of the experiment's name. paper: draw figures for one, too (see
    write_figure). overloads: of links, in words. The same store gives the same bytes.
    """
    make_folder(out_dir, below=store.paths.results)
    data = ReportData.of(store, specs, fingerprint, experiment.metrics, _file(experiment))
    before = record.files_in(out_dir)
    results = judge([_expect(entry) for entry in experiment.expects], data)
    agreed = agreed_metrics(results)
    models = [_figure(entry).headed(agreed).fitted(data) for entry in experiment.figures]
    figures = [_figure_of(model, data, out_dir, paper) for model in models]
    record.remove_others(before, figures, out_dir)
    files = [path for figure in figures for path in figure.files]
    files += _write_expectations(results, out_dir, experiment.name)
    index = out_dir / gallery.INDEX
    paths = store.paths
    command = command or f"{paths.call_of('experiment')} {experiment.name}"
    commands = [command] if paper else [command, _for_paper(command)]
    page = _page(experiment, store, data.specs, data, figures, results, fingerprint, commands)
    page = replace(page, overloads=overloads)
    files.append(_write_setting(page.setting, out_dir, experiment.name))
    write_atomically(index, render(page))
    write_atomically(out_dir / RUNS_FILE, digest_of(data.specs))
    gallery.write_summary(_summary(page), out_dir)
    return ReportResult(
        failed_expectations=tuple(result for result in results if result.failed),
        files=(index, *files),
        expectations=tuple(results),
        figure_errors=tuple(f"{f.name}: {f.error}" for f in figures if f.error),
        compared=tuple(page.comparison.in_short() if page.comparison else _of_one_run(data)),
    )


def _of_one_run(data: ReportData) -> list[str]:
    """The metrics of a single run, a line each."""
    if len(data.runs) != 1:
        return []
    (run,) = data.runs.to_dict("records")
    names = [name for metric in data.metrics for name in metric.outputs()]
    known = {name: run[name] for name in names if isinstance(run.get(name), int | float)}
    return [f"{name}: {show(value, data.unit(name))}" for name, value in known.items()]


def _for_paper(command: str) -> str:
    """The command that writes the report for a paper, with a comment."""
    program, _, rest = command.split(" ", 2)
    report = f"{program} report {rest}"
    return f"{report} --paper  # each figure as PDF, too, and for one column and two"


def _figure(entry: FigureModel | Mapping[str, Any]) -> FigureModel:
    if isinstance(entry, FigureModel):
        return entry
    return MODELS[entry["kind"]].model_validate(dict(entry))


def _expect(entry: ExpectModel | Mapping[str, Any]) -> ExpectModel:
    return entry if isinstance(entry, ExpectModel) else ExpectModel.model_validate(dict(entry))


def _file(experiment: Any) -> Path | None:
    file = getattr(experiment, "file", None)
    return None if file is None else Path(file)


def _figure_of(model: FigureModel, data: ReportData, out_dir: Path, paper: bool) -> DrawnFigure:
    """Return an existing figure if nothing that it depends on has changed, else draw it."""
    key = record.key_of(model, data, paper)
    known = record.recall(model.name, key, out_dir)
    if known is not None:
        return known
    figure = write_figure(model, data, out_dir, paper)
    record.remember(figure, key, out_dir)
    return figure


def write_figure(
    model: FigureModel, data: ReportData, out_dir: Path, paper: bool = False
) -> DrawnFigure:
    """Draw a figure into NAME.png and .csv.

    paper: also into NAME.pdf, and at the other width into NAME-one or -two, which is left out
    where texts would cover each other. Returns the figure's error instead when it cannot be drawn.
    """
    with paper_style():
        try:
            with code_of(type(model), f"figure {model.name!r}", passing=(FigureError,)):
                drawn = model.draw(data)
                drawn_other = _at_other_width(model).draw(data) if paper else None
        except (FigureError, OwnCodeError) as error:
            return DrawnFigure(model.name, model.title, model.caption, error=str(error))
        except (OSError, UserError, MemoryError):
            raise
        except Exception as error:  # a defect of this kind must not break the whole report
            what = f"a defect of kind '{model.kind}': {describe_defect(error)}"
            return DrawnFigure(model.name, model.title, model.caption, error=what)
        table = out_dir / f"{model.name}.csv"
        write_atomically(table, drawn.data.to_csv(index=False, lineterminator="\n"))
        pictures = save(drawn.canvas, out_dir, model.name, paper)
        others: tuple[Path, ...] = ()
        if drawn_other is not None:
            # a layout for one width may not fit the other
            with measured_at(drawn_other.canvas, _PNG_DPI):
                fits = is_legible(drawn_other.canvas)
            drawn_other.canvas.set_layout_engine(None)  # it is laid out
            name = f"{model.name}-{_at_other_width(model).width}"
            others = save(drawn_other.canvas, out_dir, name, paper) if fits else ()
    caption = " ".join([model.caption, *drawn.notes]).strip()
    live = "" if drawn.live is None else packed(drawn.live().to_json())
    files = (*pictures, table, *others)
    return DrawnFigure(model.name, model.title, caption, model.width, files, live=live)


def _at_other_width(model: FigureModel) -> FigureModel:
    return model.model_copy(update={"width": "one" if model.width == "two" else "two"})


def save(canvas: Figure, out_dir: Path, name: str, paper: bool) -> tuple[Path, ...]:
    """Write a figure as NAME.png, for a paper also as NAME.pdf: the same bytes of the same data."""
    pdf, png = out_dir / f"{name}.pdf", out_dir / f"{name}.png"
    lay_out(canvas, _PNG_DPI)  # once for both
    with replacing(png) as temporary:
        canvas.savefig(temporary, dpi=_PNG_DPI, metadata={"Software": None})
    if not paper:
        return (png,)
    with replacing(pdf) as temporary:
        canvas.savefig(temporary, metadata={"CreationDate": None, "Producer": None})
    return png, pdf


def _write_expectations(results: Sequence[Result], out_dir: Path, name: str) -> list[Path]:
    """expectations.csv, .json and .tex; nothing when there is no expectation."""
    if not results:
        return []
    rows = [result.row() for result in results]
    text, table = out_dir / "expectations.json", out_dir / "expectations.csv"
    write_atomically(text, json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    with replacing(table) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "where": json.dumps(row["where"], sort_keys=True)})
    tex = out_dir / "expectations.tex"
    heads = ("What", "Expected", "Measured", "Difference", "Verdict")
    cells = [
        (
            r.expect.what,
            r.expect.judged_by(),
            r.measured(),
            r.difference(),
            r.verdict,
        )
        for r in results
    ]
    widths = (0.34, 0.17, 0.2, 0.15, 0.14)
    caption = f"{name}: expected and measured"
    label = f"tab:{name.replace('/', '-')}"
    write_atomically(tex, booktabs(heads, cells, caption=caption, label=label, widths=widths))
    return [table, text, tex]


def _write_setting(found: Setting, out_dir: Path, name: str) -> Path:
    """setting.tex: what all runs share, and what varies."""
    rows = [*found.varying, *found.common]
    label = f"tab:{name.replace('/', '-')}-setting"
    heads, widths = ("Parameter", "Value"), (0.4, 0.6)
    path = out_dir / "setting.tex"
    text = booktabs(heads, rows, caption=f"{name}: setting", label=label, widths=widths, long=True)
    write_atomically(path, text)
    return path


def _page(
    experiment: Any,
    store: Store,
    planned: Mapping[str, RunSpec],
    data: ReportData,
    figures: list[DrawnFigure],
    results: list[Result],
    fingerprint: str,
    commands: Sequence[str],
) -> Page:
    done = set(data.runs["hash"]) if len(data.runs) else set()
    absent = {key: spec for key, spec in planned.items() if key not in done}
    failed = [_failed_run(store, key, spec) for key, spec in absent.items()]
    question = getattr(experiment, "question", "") or ""
    measured = [name for metric in data.metrics for name in metric.outputs()]
    models = [_figure(entry) for entry in experiment.figures]
    names = _axis_names(models)
    agreed = agreed_metrics(results)
    drawn = [name for model in models for name in model.metrics()]
    finding = "" if absent else _finding(models, agreed, results)
    compared = comparison(data, [*measured, *drawn] or ALWAYS, names)
    told = _told(models, data) or (compared.best if compared else "")
    return Page(
        name=experiment.name,
        title=experiment.title,
        question=question,
        answer=answer(data, results, names, question, [*measured, *drawn], finding, told),
        gallery="/".join([".."] * (len(experiment.name.split("/")) + 1)) + f"/{gallery.INDEX}",
        source=getattr(experiment, "source", "") or "",
        setting=setting([*planned.values()], getattr(experiment, "types", None)),
        figures=figures,
        results=results,
        planned=len(planned),
        done=len(done),
        seeds=sorted({spec.seed for spec in planned.values()}),
        failed=[run for run in failed if run.tail is not None],
        missing=[run for run in failed if run.tail is None],
        problems=_messages(data, "problems"),
        warnings=[*_missing_numbers(data), *_messages(data, "warnings")],
        notes=[(readable(text), count) for text, count in _messages(data, "notes")],
        versions=[*versions(fingerprint), *machines(store, done)],
        commands=commands,
        stuck=headlines(data),
        comparison=compared,
        runs=runs_table(data, measured),
    )


def _finding(
    models: Sequence[FigureModel], agreed: Mapping[str, bool], results: Sequence[Result]
) -> str:
    """What the first figure with a finding that is decided found, or that it is refuted."""
    for model in models:
        if text := model.found(agreed):
            return text
        metrics = model.finding.metrics if model.finding else ()
        deciding = [r for r in results if r.expect.decides and r.expect.metric in metrics]
        against = [r for r in deciding if r.verdict == DIFFERS]
        if model.finding and against:
            one = against[0]
            more = f" (and {len(against) - 1} more)" if len(against) > 1 else ""
            measured = f"{one.expect.what}: {one.measured()}, {one.wanted()}{more}"
            return f"Refuted: \u201c{model.finding.text}\u201d. {measured}"
    return ""


def _told(models: Sequence[FigureModel], data: ReportData) -> str:
    """What the first figure with an answer says of the only run."""
    for model in models if len(data.runs) == 1 else ():
        with suppress(FigureError):
            if text := model.answer(data):
                return text
    return ""


def _axis_names(models: Sequence[FigureModel]) -> dict[str, str]:
    """The name that figures give a metric, if one shows it alone with a label."""
    # in a heat map the metric is the colour, and "y_label" names a parameter
    keys = [(model, "label" if hasattr(model, "value") else "y_label") for model in models]
    named = [(model.metrics(), getattr(model, key, "")) for model, key in keys]
    return {metrics[0]: label for metrics, label in named if len(metrics) == 1 and label}


def _summary(page: Page) -> gallery.Summary:
    """What the gallery shows of the page."""
    counts = (
        (len(page.failed), "run failed", "runs failed"),
        (len(page.missing), "run is missing", "runs are missing"),
        (sum(bool(f.error) for f in page.figures), "figure has an error", "figures have errors"),
    )
    drawn = [figure.files[0].name for figure in page.figures if not figure.error]
    return gallery.Summary(
        name=page.name,
        title=page.title,
        question=page.question,
        found=page.answer.found,
        tally=page.answer.tally,
        refuted=len(page.answer.refuted),
        picture=drawn[0] if drawn else "",
        done=page.done,
        planned=page.planned,
        stuck=tuple(page.stuck),
        problems=tuple(f"{n} {one if n == 1 else many}" for n, one, many in counts if n),
    )


def _failed_run(store: Any, run_hash: str, spec: RunSpec) -> FailedRun:
    """A run without a result, with the end of its log when an attempt at it failed."""
    parameters = [f"{key} = {value}" for key, value in spec.params.items() if value != ""]
    title = ", ".join([*parameters, f"seed = {spec.seed}"])
    try:
        text = store.failure(run_hash).log.read_text(encoding="utf-8", errors="replace")
    except (AttributeError, FileNotFoundError, NotADirectoryError):
        return FailedRun(title, run_hash, None)
    return FailedRun(title, run_hash, "\n".join(text.splitlines()[-_TAIL_LINES:]))


def _messages(data: ReportData, kind: str) -> list[tuple[str, int]]:
    """(message, number of finished runs with it)."""
    hashes = data.runs["hash"] if len(data.runs) else ()
    counts = Counter(text for key in hashes for text in data.summary(key).get(kind, ()))
    return list(counts.items())


def _missing_numbers(data: ReportData) -> list[tuple[str, int]]:
    """Metrics of numbers that no finished run has, as messages of all of them."""
    hashes = [*data.runs["hash"]] if len(data.runs) else []
    summaries = [data.summary(key).get("summary", {}) for key in hashes]
    return [(text, len(hashes)) for text in missing_numbers(data.metrics, summaries)]


def versions(fingerprint: str) -> list[tuple[str, str]]:
    """The page's text about the programs that made it."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for package in ("pyorch", "ns3"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return [*found, ("modules' fingerprint", short(fingerprint) or "-")]
