"""A study in Python: load an experiment or build one, change it, run it, look at its results.

Nothing is compiled, checked or run before it is needed. Finished runs are found on disk, so every
call resumes where the last one ended, also in another process.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fsdecode
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

from pyorch import kinds, pipeline
from pyorch.base import doors
from pyorch.base.arguments import Tell, checked, checking
from pyorch.base.errors import Problem, UserError, code_of, one_of, quoted, refusal, suggest
from pyorch.base.fields import written
from pyorch.base.files import storage_error, write_atomically
from pyorch.base.findings import Findings
from pyorch.base.lazy import Later, pd
from pyorch.base.paths import Paths, default_paths
from pyorch.base.reading import TOO_DEEP, excesses
from pyorch.files.find import experiment_name, made_document, read_document
from pyorch.files.patch import is_selection
from pyorch.pipeline import Plan
from pyorch.report.expect import agreed_metrics, judge
from pyorch.report.figures import MODELS, FigureError
from pyorch.report.select import among
from pyorch.report.style import paper_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pyorch.engine import BatchResult, Failure
    from pyorch.engine.slurm import client, cluster
    from pyorch.engine.slurm import state as states
    from pyorch.engine.slurm.cluster import Asked, Cancelled, Sent
    from pyorch.engine.slurm.state import SweepState
    from pyorch.explain.base import Explained
    from pyorch.files.find import Document
    from pyorch.plan import RunSpec
    from pyorch.report.data import ReportData
    from pyorch.report.planned import PlannedMap
    from pyorch.report.record import Told
    from pyorch.run.byhand import OpenRun
    from pyorch.store.store import Store

else:
    client, cluster, states = (
        Later(f"pyorch.engine.slurm.{name}") for name in ("client", "cluster", "state")
    )

GROUP = "pyorch.study"
"""The group of the entry points that are methods of a study."""
SHOWN_RUNS = 20


def _unheard(_: str) -> None:
    """Take a line that nobody wants to see."""


class RunsMissingError(UserError):
    """There is nothing to report on: no run is done, or some of a sweep that was submitted."""


class RunsFailedError(Exception):
    """Some runs of a study failed; the others are done. failures: each with its log."""

    def __init__(self, failures: Sequence[Failure], left: int) -> None:
        super().__init__(failures, left)
        self.failures = tuple(failures)
        self.left = left

    def __str__(self) -> str:
        """Everything that a user needs to proceed."""
        from pyorch.engine.base import repeated

        first = {failure.reason: failure for failure in reversed(self.failures)}
        told = "\n".join(
            [*(one.render() for one in reversed(first.values())), *repeated(self.failures)]
        )
        return f"{self.left} runs are missing; run() retries them\n{told}".strip()


@checked
class Study:
    """An experiment with its runs.

    A study is immutable: `set`, `sweep`, `only` and `seeds` return a new one. Installed packages
    may bring more methods: functions of a study, entry points of the group "pyorch.study".
    """

    _joined = False  # whether runs that were asked for earlier are among its own

    def __init__(
        self,
        *,
        name: str = "study",
        title: str = "",
        traffic: Sequence[Any] | Any = (),
        run: Any = None,
        paths: Paths | None = None,
        **tables: Any,
    ) -> None:
        """Create a study from objects, as if from a file NAME.toml in the current folder.

        Every key of an experiment file may be given, with the objects of this package, such as
        `Star(hosts=3, ...)`, or with tables as in a file. Lists have names in the plural: `traces`,
        `metrics`, `figures`, `expects`, `nodes`, `routes`, `faults`.
        """
        from pyorch.files.keys import ENTRIES

        self._paths = (paths or default_paths()).absolute()
        entries = traffic if isinstance(traffic, list | tuple) else [traffic]
        content: dict[str, Any] = {"title": title or name}
        lists = {f"{key}s": key for key in ENTRIES}
        plain = {lists.get(key, key): value for key, value in tables.items()}
        given = plain | {"traffic": list(entries), "run": run}
        try:
            content |= {key: written(value) for key, value in given.items() if value is not None}
        except RecursionError:
            raise refusal(f"Study {name}", TOO_DEEP) from None
        if wrong := [Problem(f"Study {name}: {place}", what) for place, what in excesses(content)]:
            raise UserError(wrong)
        self._source: str | Document = made_document(name, content, self._paths)
        self._overrides: tuple[str, ...] = ()
        self._seeds = ""
        self._plan: Plan | None = None
        self._whole: Plan | None = None
        """A plan of which no finished run can be damaged."""

    @classmethod
    def load(
        cls,
        name: str | PathLike[str],
        overrides: Sequence[str] = (),
        *,
        seeds: int | str = "",
        paths: Paths | None = None,
    ) -> Study:
        """Return the study of an experiment: "gfc/two-to-one", or the path of a file.

        overrides: as for --set. seeds: N for 1 to N, or "N-M". Raises UserError if there is no such
        experiment.
        """
        study = cls.named(fsdecode(name), overrides, seeds=seeds, paths=paths)
        experiment_name(fsdecode(name), study._paths)
        return study

    @classmethod
    def named(
        cls,
        name: str,
        overrides: Sequence[str] = (),
        *,
        seeds: int | str = "",
        paths: Paths | None = None,
    ) -> Study:
        """Return the study of an experiment like `load`, which may be no more.

        Its results remain, and a sweep that was submitted; its plan raises UserError.
        """
        study = cls.__new__(cls)
        study._paths = (paths or default_paths()).absolute()
        study._source, study._overrides, study._seeds = name, tuple(overrides), str(seeds)
        study._plan = study._whole = None
        return study

    def __getattr__(self, name: str) -> Any:
        """A method that an installed package brings."""
        function = None if name.startswith("_") else doors.named(GROUP, name)
        if function is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return MethodType(checking(function, f"Study.{name}"), self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *doors.names(GROUP)]

    # Another study

    def set(
        self, key: str | Mapping[str, Any] | None = None, value: Any = None, **more: Any
    ) -> Study:
        """Return the study with a key changed, or several as a mapping, or keys of the top level.

        A list is a single value; `sweep` takes several values.
        """
        changes = {} if key is None else dict(key) if isinstance(key, Mapping) else {key: value}
        texts = [f"{name}={_toml(one)}" for name, one in (changes | more).items()]
        return self._with(overrides=(*self._overrides, *texts))

    def sweep(self, key: str, values: Iterable[Any]) -> Study:
        """Return the study with a key swept over several values."""
        try:
            texts = [_toml(one) for one in values]
        except UserError:
            raise
        except Exception as error:  # of somebody else's class, whose values cannot be asked for
            what = f"{quoted(values)} cannot be listed ({type(error).__name__})"
            raise refusal("Study.sweep: values", what, "a list") from None
        return self._with(overrides=(*self._overrides, f"{key}={','.join(texts)}"))

    def only(self, *variants: str) -> Study:
        """Return the study with only these variants."""
        return self._with(overrides=(*self._overrides, f"only={','.join(variants)}"))

    def seeds(self, seeds: int | str) -> Study:
        """Return the study with the seeds 1 to N, or those of "N-M"."""
        return self._with(seeds=str(seeds))

    def with_done(self) -> Study:
        """Return this study with what is done of the same experiment's other variants and seeds.

        A report of it adds to what there is, where `only` and `seeds` would replace it. Raises
        UserError.
        """
        from pyorch.plan import expand

        overrides = tuple(one for one in self._overrides if not is_selection(one))
        if overrides == self._overrides and not self._seeds:
            return self
        plan, other = self._made(), self._with(overrides, "")
        whole, fingerprint = other.plan(), plan.build.fingerprint
        seeds = sorted(
            {spec.seed for spec in (*plan.specs, *whole.specs)} | whole.store.collected_seeds()
        )
        asked = {spec.hash(fingerprint) for spec in plan.specs}
        found = [
            spec
            for spec in expand(whole.experiment, seeds)
            if (key := spec.hash(fingerprint)) in asked or whole.store.is_done(key)
        ]
        other._plan = replace(whole, specs=found)
        other._seeds = self._seeds
        other._joined = True
        return other

    def _with(self, overrides: tuple[str, ...] | None = None, seeds: str | None = None) -> Study:
        other = type(self).__new__(type(self))
        other._paths, other._source = self._paths, self._source
        other._plan = other._whole = None
        other._overrides = self._overrides if overrides is None else overrides
        other._seeds = self._seeds if seeds is None else seeds
        return other

    # Plan and run

    @property
    def source(self) -> str | Document:
        """The name or file of its experiment, or its tables if it was made of objects."""
        return self._source

    @property
    def overrides(self) -> tuple[str, ...]:
        """The changes of its keys, as for --set."""
        return self._overrides

    @property
    def name(self) -> str:
        """The name of its results."""
        if isinstance(self._source, str):
            return experiment_name(self._source, self._paths)
        return self._source.name

    def plan(self) -> Plan:
        """Check the whole experiment, build the modules if necessary, and list the runs.

        Raises UserError with all problems. The file is read again each time.
        """
        self._plan = pipeline.make_plan(
            self._source, self._overrides, self._seeds, paths=self._paths
        )
        return self._plan

    @property
    def planned(self) -> Plan:
        """The latest plan; the first time it is made."""
        return self._made()

    def run(
        self, jobs: int | None = None, seeds: int | str | None = None, progress: bool = True
    ) -> Study:
        """Perform the missing runs, and return the study (with these seeds, if given).

        jobs: number of parallel runs, by default one per core. progress: show a progress line, and
        the remarks. After an interruption the same call resumes. Raises UserError, RunsFailedError
        if runs failed, and KeyboardInterrupt.
        """
        from pyorch.notebook import output

        if seeds is not None:
            return self.seeds(seeds).run(jobs, progress=progress)
        screen = output(progress)

        def told(line: str) -> None:
            screen.write(f"{line}\n")

        result = self.perform(jobs, told=told, stream=screen)
        if result.interrupted:
            raise KeyboardInterrupt
        if progress:
            for line in self._remarks_on_runs():
                told(line)
        if result.left:
            raise RunsFailedError(result.failures, result.left)
        return self

    def perform(
        self,
        jobs: int | None = None,
        said: Tell = _unheard,
        told: Tell = _unheard,
        stream: Any = None,
    ) -> BatchResult:
        """Perform the missing runs like `run`, and return how that ended instead of raising it.

        said: gets a line on how many runs are done. told: gets lines on damaged runs, and the
        remarks. stream: of the progress, by default standard output. Raises UserError.
        """
        from pyorch.engine import LocalEngine
        from pyorch.engine.preflight import refuse
        from pyorch.remarks import runs_text

        plan = self._plan = self._whole = self.claimed()
        self._set_damaged_aside(plan, told)
        missing, total = plan.missing, len(plan.specs)
        said(f"{plan.store.name}: {runs_text(total)}, {total - len(missing)} done")
        if missing:  # before runs that may take hours
            for line in self.remarks_on_plan():
                told(line)
        result = LocalEngine(plan.store, jobs, stream=stream).run(
            missing, plan.build, shown=plan.done
        )
        refuse(plan, result)
        return result

    @staticmethod
    def _set_damaged_aside(plan: Plan, told: Tell) -> None:
        from pyorch.remarks import of_damage

        for line in of_damage(plan.set_damaged_aside(), plan.titles):
            told(line)

    def open(self, **where: Any) -> OpenRun:
        """Return one run in this process, built but not started, to be controlled step by step.

        where: as in `table`; the first matching run. Raises UserError.
        """
        from pyorch.run.byhand import OpenRun

        plan = self._made()
        return OpenRun(plan, self._chosen(plan, where)[0])

    def explain(
        self,
        run: str | int,
        out: str | PathLike[str] | None = None,
        jobs: int | None = None,
        told: Tell = _unheard,
        stream: Any = None,
    ) -> Explained:
        """Explain a run: a deadlock and the effect of cures, or where its flows lost time.

        docs/why.md and docs/deadlock-lab.md. An `Explanation` of a deadlock, else a `Slow`.

        run: number, hash or title. out: a folder for a page about it, with captures; "": one in its
        results. told: gets a line before each stage that takes time. stream: of the progress, by
        default none. The same call resumes after an interruption. Raises UserError,
        KeyboardInterrupt.
        """
        from pyorch.explain.explanation import explain
        from pyorch.explain.page import check_folder, write

        if out:
            check_folder(Path(out))
        found = explain(self.claimed(), str(run), jobs, told, stream)
        if out is None:
            return found
        again = self._command("explain", str(run))
        return replace(found, page=write(found, Path(out or found.folder), again))

    def find(self, run: str | int) -> RunSpec:
        """Return the run of a number, hash or title. Raises UserError if there is none."""
        from pyorch.trace.request import find_run

        plan = self._made()
        return find_run(plan.specs, plan.build.fingerprint, str(run))

    def claimed(self) -> Plan:
        """Plan the runs that are about to be performed. Raises UserError."""
        return pipeline.make_plan(
            self._source, self._overrides, self._seeds, paths=self._paths, claim=True
        )

    # Results

    @property
    def remarks(self) -> list[str]:
        """The commands' remarks on the plan and on its finished runs, such as unfinished flows."""
        return [*self.remarks_on_plan(), *self._remarks_on_runs()]

    def remarks_on_plan(self) -> list[str]:
        """The remarks that are certain before anything runs."""
        from pyorch.remarks import lines, of_plan

        plan = self._made()
        return lines(of_plan(plan.experiment, plan.specs, self._paths))

    def _remarks_on_runs(self) -> list[str]:
        from pyorch.build.sources import present_modules
        from pyorch.remarks import lines, of_runs

        plan = self._made()
        own = [one.name for one in present_modules(self._paths.modules) if one.outside]
        store, fingerprint, numbered = plan.store, plan.build.fingerprint, self._is_numbered
        return lines(of_runs(plan.specs, store, fingerprint, own, self._explaining, numbered))

    @property
    def _is_numbered(self) -> bool:
        """Whether `show` of the same command gives its runs the same numbers."""
        return not self._seeds and not self._joined

    def _explaining(self, spec: RunSpec) -> str:
        """The command that explains a run: by its number, or where it may have another by title."""
        if self._is_numbered:
            return self._command("explain", str(self._made().specs.index(spec) + 1))
        return self._command("explain", spec.title, seeds=str(spec.seed))

    @property
    def runs(self) -> pd.DataFrame:
        """One row per finished run: hash, seed, variant, parameters, summary numbers, metrics."""
        plan = self._made()
        return plan.store.collect(plan.specs, plan.build.fingerprint)

    def table(self, name: str, **where: Any) -> pd.DataFrame:
        """A table of all finished runs, with the variant, the parameters and the seed of each.

        where: `variant="GFC", seed=1`, or `**{"buffer.alpha": 0.5}`; a list matches any of its
        values. Nodes are numbers; `nodes` has their names. Raises UserError if it was not traced.
        """
        plan = self._made()
        chosen = self._chosen(plan, where)
        parts = []
        known: dict[str, None] = {}
        for spec in chosen:
            run_hash = spec.hash(plan.build.fingerprint)
            if not plan.store.is_done(run_hash):
                continue
            names = plan.store.table_names(run_hash)
            known |= dict.fromkeys(names)
            if name in names:
                rows = plan.store.read_table(run_hash, name)
                columns = {k: one for k, one in _own(spec).items() if k not in rows.columns}
                parts.append(pd.concat([_constant(columns, len(rows)), rows], axis=1))
        if not parts:
            raise self._no_table(name, list(known), len(chosen))
        return pd.concat(parts, ignore_index=True)

    def _no_table(self, name: str, known: Sequence[str], runs: int) -> UserError:
        if not known:
            what = f"none of these {runs} runs is done" if runs > 1 else "this run is not done"
            return refusal(self.name, what, hint="run() runs what is missing")
        hint = suggest(name, known) or "a [[trace]] of the file, or traces=, records it"
        return refusal(self.name, f"no table {name!r}", one_of(known), hint)

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes of the first run, by number; behind them, those of parallel links."""
        from pyorch.network import topology

        return list(topology.build(self._made().specs[0].setting.topology).end_names)

    def network(self, **where: Any) -> PlannedMap:
        """The picture of a run before it runs: network, paths of flows, cyclic dependency.

        where: as in `table`; the first matching run. A notebook shows it; `.canvas()` is a
        matplotlib Figure.
        """
        from pyorch.report.planned import planned_map

        spec = self._chosen(self._made(), where)[0]
        return planned_map(spec.setting, spec.seed, f"{self.name}, {spec.title}")

    @property
    def verdicts(self) -> pd.DataFrame:
        """Expected and measured values, one row per expectation."""
        plan, data = self._made(), self._data()
        results = judge(plan.experiment.expects, data)
        return pd.DataFrame([result.row() for result in results])

    def plot(self, figure: str | Mapping[str, Any] | Any) -> Figure:
        """Draw a figure of the experiment by its name, or one given as a table or a model.

        Raises UserError if there is none of that name, or it cannot be drawn.
        """
        from pyorch.notebook import show_figures

        model = self._figure(figure)
        if model.finding is not None:
            expects = self._made().experiment.expects
            model = model.headed(agreed_metrics(judge(expects, self._data())))
        show_figures()
        with paper_style():
            try:
                with code_of(type(model), f"figure {model.name!r}", passing=(FigureError,)):
                    canvas: Figure = model.draw(self._data()).canvas
                return canvas
            except FigureError as error:
                raise refusal(f"figure {model.name}", str(error)) from error

    def _figure(self, figure: str | Mapping[str, Any] | Any) -> Any:

        if isinstance(figure, Mapping):
            findings = Findings("figure")
            entry = {"name": "figure", **figure}
            model = findings.validate_kind("figure", MODELS, entry, ())
            if model is None:
                raise UserError(findings.problems)
            return model
        if isinstance(figure, tuple(MODELS.values())):
            return figure
        if not isinstance(figure, str):
            what = f"{quoted(figure)} is not a figure"
            raise refusal(self.name, what, "a name, a table, or a model of a figure")
        known = {model.name: model for model in self._made().experiment.figures}
        if figure not in known:
            what, hint = f"there is no figure {figure!r}", suggest(figure, known)
            raise refusal(self.name, what, one_of(known) or None, hint)
        return known[figure]

    @property
    def missing(self) -> int:
        """The number of runs that are not done."""
        return len(self._made().missing)

    def report(self, paper: bool = False, told: Tell | None = None) -> Told:
        """Write the report of the finished runs; `.index` is the page to open.

        One that would be the same is left as it is. paper: also write each figure as PDF, for one
        column and two. told: gets the lines of the command on damaged runs, on missing runs, and
        the remarks; by default those on damaged runs are printed. Raises UserError, and
        RunsMissingError if no run is done.
        """
        plan = self._made()
        if plan is not self._whole:  # `perform` has looked at them
            self._set_damaged_aside(plan, told or print)
        self._whole = None
        if not plan.done:
            what, hint = "none of its runs is done with this build", "run() runs what is missing"
            raise RunsMissingError([Problem(plan.store.name, what, None, hint)])
        return self._reported(plan, self.command, paper, told)

    def _reported(self, plan: Plan, command: str, paper: bool, told: Tell | None) -> Told:
        if told is not None:
            done = len(plan.done)
            if done < len(plan.specs):
                told(f"the report covers {done} of {len(plan.specs)} runs")
            for line in self._remarks_on_runs():  # before drawing, which may fail
                told(line)
        return pipeline.report_of(plan, command, paper)

    @property
    def command(self) -> str:
        """The command line that produces these results."""
        return self._command("experiment")

    # Cluster

    def ask(
        self, options: Mapping[str, Any], runs_per_job: int | None = None, claim: bool = True
    ) -> Asked:
        """Return what `submit` would submit: the plan, and the settings of the site.

        options: as for `invoke submit`. claim: results will be written. Raises UserError, also if
        the study is not in a file.
        """
        if not isinstance(self._source, str):
            what = "a study made in Python is submitted from its file"
            raise refusal(self.name, what, hint='study.save("my.toml"), Study.load')
        which = (self._source, self._overrides, self._seeds, self._paths)
        asked = cluster.ask(*which, options, runs_per_job, claim)
        self._plan = asked.plan
        return asked

    def submit(
        self,
        runs_per_job: int | None = None,
        said: Tell = _unheard,
        told: Tell | None = None,
        **options: str | bool,
    ) -> Sent | None:
        """Submit the missing runs to Slurm; None if there are none.

        said: gets lines on what is submitted. told: gets the remarks, and lines on damaged runs; by
        default the latter are printed. options: as for `invoke submit`. Raises UserError, also if
        the study is not in a file.
        """
        asked = self.ask(options, runs_per_job)
        if told is not None and asked.plan.missing:
            for line in self.remarks_on_plan():
                told(line)
        self._set_damaged_aside(asked.plan, told or print)
        return cluster.submit(asked, said)

    def status(self) -> dict[str, int]:
        """Numbers of runs of the latest submitted sweep that are done, running, lost, ...

        Raises UserError if none was submitted.
        """
        state = self.state()
        return {kind.value: state.count(kind) for kind in states.State}

    def state(self) -> SweepState:
        """The state of the latest submitted sweep: every run, jobs, and what Slurm says of them.

        Raises UserError if none was submitted.
        """
        return cluster.look(self.store, client.Slurm())

    def cancel(self) -> Cancelled:
        """Cancel all jobs of the study; finished runs are kept. Raises UserError."""
        return cluster.cancel(self.store)

    @property
    def store(self) -> Store:
        """Where its results are. Raises UserError if there is no such experiment."""
        from pyorch.store.store import Store

        if isinstance(self._source, str):
            return cluster.store_of(self._source, self._paths)
        return Store(self._paths, self.name)

    def collect(
        self, partial: bool = False, said: Tell = _unheard, told: Tell | None = None
    ) -> Told:
        """Write the report of the latest sweep.

        partial: report on the finished runs although others are missing. said: gets a line on
        missing runs. told: as for `report`, and a line when the sweep was made with an earlier
        build; by default it is printed, like those on damaged runs. Raises UserError, and
        RunsMissingError if runs are missing.
        """
        from pyorch.remarks import of_damage

        store = self.store
        state, damaged = cluster.settled(store)
        for line in of_damage(damaged, {}):
            (told or print)(line)
        missing = len(state.runs) - state.count(states.State.DONE)
        if missing:
            parts = [
                f"{state.count(kind)} {kind.value}" for kind in states.State if state.count(kind)
            ]
            what = f"{missing} of {len(state.runs)} runs are missing"
            said(f"{store.name}: {what}: {', '.join(parts)}")
            if not partial or missing == len(state.runs):
                hint = "collect(partial=True), or status()"
                raise RunsMissingError([Problem(store.name, what, None, hint)])
        submission = state.submission
        plan, is_earlier = cluster.plan_of(submission, self._paths)
        if is_earlier:
            (told or print)("made with an earlier build of the modules, as the sweep was")
        store.sweep()
        self._plan = plan
        command = cluster.command_of("experiment", submission, submission.name, self._paths)
        return self._reported(plan, command, False, told)

    # File

    def save(self, file: str | PathLike[str]) -> Path:
        """Write this study, including changes made in Python, as an experiment file.

        Raises UserError if it cannot be written.
        """
        from pyorch.files.compose import composed

        path = Path(file)
        if path.suffix != ".toml":
            raise refusal(str(path), "is not a valid name of an experiment file", "NAME.toml")
        source = self._source
        document = read_document(source, self._paths) if isinstance(source, str) else source
        content = composed(document, self._overrides, self._seeds, path.parent)
        try:
            import tomli_w

            write_atomically(path, tomli_w.dumps(content))
        except OSError as error:
            raise storage_error(error, path) from error
        return path

    # Inside

    def _command(self, task: str, *more: str, seeds: str | None = None) -> str:
        name = self._source if isinstance(self._source, str) else self._source.file.name
        seeds = self._seeds if seeds is None else seeds
        return pipeline.command_line(name, self._overrides, seeds, task, more, self._paths)

    def _made(self) -> Plan:
        plan = self._plan or self.plan()
        kinds.activate(plan.experiment.kinds)  # another study may have activated others meanwhile
        return plan

    def _data(self) -> ReportData:
        from pyorch.report.data import ReportData

        plan = self._made()
        made, fingerprint = plan.experiment, plan.build.fingerprint
        return ReportData.of(plan.store, plan.specs, fingerprint, made.metrics, made.file)

    def _chosen(self, plan: Plan, where: Mapping[str, Any]) -> list[RunSpec]:
        """Return the runs that match a filter. Raises UserError if there are none."""

        def fits(spec: RunSpec) -> bool:
            own = _own(spec)
            try:
                return all(among(own[key], wanted) for key, wanted in where.items())
            except Exception:  # also of somebody else's class, which may not even have a text
                what = f"{quoted(where)} is not something that runs have"
                raise refusal(self.name, what, "values, or lists of them") from None

        known = _varied(plan)
        for key in where:
            if key not in known:
                what, hint = f"{key!r} does not vary in this experiment", suggest(key, known)
                raise refusal(self.name, what, one_of(known), hint)
        found = [spec for spec in plan.specs if fits(spec)]
        if not found:
            what = "no run has " + ", ".join(f"{key} = {quoted(one)}" for key, one in where.items())
            raise refusal(self.name, what)
        return found

    def __repr__(self) -> str:
        made = (
            f", {len(self._plan.done)} of {len(self._plan.specs)} runs done" if self._plan else ""
        )
        changed = "".join(f", {text}" for text in self._overrides)
        return f"<Study {self.name}{changed}{made}>"

    def _repr_html_(self) -> str:
        """The study in a notebook: its question, runs and network. Plans it if necessary."""
        plan = self._made()
        experiment = plan.experiment
        done = {id(spec) for spec in plan.done}
        heads = _varied(plan)
        rows = [
            [
                *(_own(spec).get(key, "") for key in heads),
                "done" if id(spec) in done else "to do",
            ]
            for spec in plan.specs[:SHOWN_RUNS]
        ]
        more = len(plan.specs) - len(rows)
        cells = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        head = "".join(f"<th>{html.escape(key)}</th>" for key in (*heads, "state"))
        return (
            f"<b>{html.escape(experiment.title)}</b><br>{html.escape(experiment.question)}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
            + (f"... and {more} more runs<br>" if more else "")
            + f"{len(done)} of {len(plan.specs)} runs done<br>"
            + self.network()._repr_html_()
        )


def _toml(value: Any) -> str:
    """Return a value in the form that --set accepts. Raises UserError if it has none."""
    try:
        return _spelled(written(value))
    except Exception:  # also of somebody else's class, which may not even have a text
        what = f"{quoted(value)} is not allowed in an experiment file"
        raise refusal("Study", what, "text, numbers, lists, tables, and models of pyorch") from None


def _spelled(plain: Any) -> str:
    """Return plain values in TOML. Raises TypeError for others, ValueError for a huge number."""
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)} = {_spelled(v)}" for k, v in plain.items()) + "}"
    if isinstance(plain, list):
        return "[" + ", ".join(map(_spelled, plain)) + "]"
    if isinstance(plain, str):
        return json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, int | float):
        return repr(plain)
    raise TypeError(plain)


def _own(spec: RunSpec) -> dict[str, Any]:
    """Return what distinguishes a run from the others of its study."""
    return {**spec.params, "seed": spec.seed}


def _varied(plan: Plan) -> list[str]:
    """Return the names of what distinguishes the runs of a plan; the seed is the last."""
    return [*dict.fromkeys(key for spec in plan.specs for key in spec.params), "seed"]


def _constant(columns: Mapping[str, Any], rows: int) -> pd.DataFrame:

    return pd.DataFrame({key: [value] * rows for key, value in columns.items()})
