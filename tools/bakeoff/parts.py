"""Reads the files of experiments/bakeoff/parts that are not experiments."""

from __future__ import annotations

from typing import TypeVar

from pyorch.base.errors import UserError
from pyorch.base.fields import Table
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.base.reading import read_toml

Part = TypeVar("Part", bound=Table)


def load_part(model: type[Part], file: str, paths: Paths) -> Part:
    """Read such a file, for example "experiments/bakeoff/parts/x.toml".

    Raises UserError with every problem in it.
    """
    findings = Findings(file)
    found = findings.validate(model, read_toml(paths.studies.parent / file, file), ())
    if found is None:
        raise UserError(findings.problems)
    return found
