"""`bakeoff`: run every scene, or report on what is done, and write the summary."""

from __future__ import annotations

from pyorch.base.paths import default_paths
from pyorch.cli.base import BAD_INPUT, OK, command, whole_number
from pyorch.cli.experiment import experiment, report
from tools.bakeoff.sensitivity import load_asked, run_trials
from tools.bakeoff.summary import load_rows, studies, write_summary


@command
def bakeoff(jobs: str = "", report_only: bool = False) -> int:
    """Run what is missing of all scenes and write the summary; exit with the worst code."""
    paths, workers = default_paths(), whole_number("--jobs", jobs)
    rows = load_rows(paths)
    code = OK
    for study in studies(paths):
        if report_only:
            code = max(code, report(study))
        else:
            code = max(code, experiment(study, jobs=workers))
        if code >= BAD_INPUT:
            return code
    if not report_only:
        code = max(code, run_trials(load_asked(paths), jobs, paths))
    page = write_summary(rows, paths)
    print(f"summary: {page}")
    return code
