"""Remarks that a user should not miss: on a plan before it runs, and on its finished runs."""

from pyorch.remarks.base import Remark, lines, runs_text, which
from pyorch.remarks.plan import of_overloads, of_plan
from pyorch.remarks.runs import of_damage, of_runs

__all__ = [
    "Remark",
    "lines",
    "of_damage",
    "of_overloads",
    "of_plan",
    "of_runs",
    "runs_text",
    "which",
]
