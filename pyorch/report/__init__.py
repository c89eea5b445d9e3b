"""Reports: figures, expectations and one HTML page from the store of an experiment.

Importing this package loads no plotting library; `write_report` does when it is called.
"""

from pyorch.report.check import check_entries
from pyorch.report.write import ReportResult, write_report

__all__ = ["ReportResult", "check_entries", "write_report"]
