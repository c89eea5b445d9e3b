"""What a user must not miss: of a plan before it runs, and of its runs once they are done."""

from pyorch.remarks.base import Remark, lines, runs_text
from pyorch.remarks.plan import of_plan
from pyorch.remarks.runs import of_runs

__all__ = ["Remark", "lines", "of_plan", "of_runs", "runs_text"]
