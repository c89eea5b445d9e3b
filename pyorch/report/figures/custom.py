"""custom: a figure that a study draws itself, with a Python file next to its experiment file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from typing_extensions import override

from pyorch.base.errors import OwnCodeError, UserError, code_of, defect_of
from pyorch.base.reading import read_code
from pyorch.base.trust import execute
from pyorch.metrics.fields import Need
from pyorch.report.figures.base import Drawn, FigureError, FigureModel, figure

if TYPE_CHECKING:
    from pyorch.report.data import ReportData


@figure
class Custom(FigureModel):
    """Calls `function` of NAME.figures.py or figures.py in the folder of the experiment file.

    function(data: ReportData, figure: Custom) -> Drawn. `options` are for the function; `needs`
    names the tables that it reads, `uses` the metrics, so that both are checked before a run.
    """

    kind: Literal["custom"] = "custom"
    function: str = Field(description="Its name.")
    options: dict[str, Any] = Field(
        default={},
        description="For the function; `pyorch.metrics.parse_quantity` reads quantities in them.",
    )
    tables: list[str] = Field(default=[], alias="needs", description="Tables that it reads.")
    uses: list[str] = Field(default=[], description="Metrics that it reads.")

    @override
    def needs(self) -> list[Need]:
        return [Need(table) for table in self.tables]

    @override
    def metrics(self) -> list[str]:
        return list(self.uses)

    def lacking(self, experiment: Path) -> str | None:
        """Report a missing function, as far as can be seen without running the files."""
        present = [path for path in _files(experiment) if path.is_file()]
        for path in present:
            try:
                # names that a module defines or imports anywhere; "*" for all names of another
                # module
                tree = ast.parse(read_code(path, path.parent, path.name))
                names: set[str] = set()
                for node in ast.walk(tree):
                    if isinstance(node, ast.FunctionDef | ast.ClassDef):
                        names.add(node.name)
                    elif isinstance(node, ast.Import | ast.ImportFrom):
                        names.update(alias.asname or alias.name for alias in node.names)
                    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        names.add(node.id)
            except UserError as error:
                return _refused(path, error)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                return f"{path.name} is not Python: {error}"
            if self.function in names or "*" in names:
                return None
        files = " or ".join(path.name for path in present or _files(experiment))
        return f"{files} has no function {self.function!r}"

    @override
    def draw(self, data: ReportData) -> Drawn:
        function = self._load(data)
        try:
            with code_of(function, "custom figure", passing=(FigureError,)):
                drawn = function(data, self)
        except OwnCodeError as error:
            raise FigureError(str(error)) from error
        except FigureError:
            raise
        except Exception as error:  # a study's own code: its bug must not break the whole report
            raise FigureError(f"{self.function}: {type(error).__name__}: {error}") from error
        if not isinstance(drawn, Drawn):
            raise FigureError(f"'{self.function}' returned {type(drawn).__name__}, not a Drawn")
        return drawn

    def _load(self, data: ReportData) -> Callable[[ReportData, Custom], Drawn]:
        if data.file is None:
            raise FigureError("the experiment has no folder to look for figures.py in")
        files = _files(data.file)
        present = [path for path in files if path.is_file()]
        for path in present:
            function = getattr(_import(path), self.function, None)
            if callable(function):
                return function  # type: ignore[no-any-return]
        names = " or ".join(path.name for path in present or files)
        raise FigureError(f"{names} has no function '{self.function}'")


def _files(experiment: Path) -> list[Path]:
    return [experiment.with_suffix(".figures.py"), experiment.with_name("figures.py")]


def _import(path: Path) -> ModuleType:
    name = "pyorch_study_" + "".join(c if c.isalnum() else "_" for c in path.stem)
    try:
        text = read_code(path, path.parent, path.name)
    except UserError as error:
        raise FigureError(_refused(path, error)) from error
    try:
        return execute(name, str(path), text)
    except (Exception, SystemExit) as error:  # anything may be wrong with code of somebody else
        problem = defect_of(name, error, path.name)
        raise FigureError(f"{problem.where}: {problem.what}") from error


def _refused(path: Path, error: UserError) -> str:
    told = error.problems[0]
    return "; ".join(filter(None, [f"{path.name} {told.what}", told.hint]))
