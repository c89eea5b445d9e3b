"""The batch script of a submission: everything that a job does before Python starts."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from pyorch.base import trust
from pyorch.base.paths import RESULTS_VARIABLE, ROOT_VARIABLE, Paths, python_path
from pyorch.build.sources import MODULE_PATH_VARIABLE
from pyorch.engine.base import RUN_UNFIT
from pyorch.engine.slurm.packing import Array
from pyorch.engine.slurm.settings import Settings
from pyorch.engine.slurm.submission import Submission

_SCRIPT = """\
#!/bin/sh
# One job of a sweep: sbatch --array=... job.sh FIRST
# Job number FIRST + SLURM_ARRAY_TASK_ID does its share of the manifest next to this file.
{exports}
{setup}
python={python}
manifest={manifest}
if ! cd "$PYORCH_ROOT" || ! [ -x "$python" ] || ! [ -r "$manifest" ]; then
    {{
        printf 'node %s does not see all of these:\\n' "$(hostname)"
        printf '    %s\\n' "$PYORCH_ROOT" "$python" "$manifest"
        echo 'nodes need the folders of the submitting machine, under the same names'
    }} >&2
    exit {unfit}
fi
exec "$python" -P -m pyorch.engine.slurm.node "$manifest" --task "$(($1 + SLURM_ARRAY_TASK_ID))" \\
    --runs-per-task {runs_per_job} --jobs {cores} --head {head}{build}
"""


def job_script(submission: Submission, settings: Settings, paths: Paths, head: str) -> str:
    """Return the batch script as text; head: the digest of the manifest's first line.

    Folders and files named by the user appear once each, quoted, as the value of a variable.
    Only `setup` is shell code, on purpose. The exports come before it: sbatch reads options from
    comments up to the first command, and `setup` may contain comments.
    """
    variables = {
        ROOT_VARIABLE: str(paths.root),
        RESULTS_VARIABLE: str(paths.results),
        "PYTHONPATH": python_path(),
        trust.INHERITED: trust.inherited(),
        MODULE_PATH_VARIABLE: os.environ.get(MODULE_PATH_VARIABLE, ""),
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items() if value]
    return _SCRIPT.format(
        exports="\n".join(lines),
        setup="\n".join(settings.setup),
        python=shlex.quote(sys.executable),
        manifest=shlex.quote(str(submission.manifest)),
        runs_per_job=submission.runs_per_job,
        cores=settings.cores_per_job,
        head=head,
        build=" --build-on-node" if settings.build_on_node else "",
        unfit=RUN_UNFIT,
    )


def array_options(
    submission: Submission, array: Array, settings: Settings, after: int | None = None
) -> Sequence[str]:
    """Return the options of sbatch for one array; `after` is the array it waits for, if any."""
    limit = "" if settings.max_running is None else f"%{settings.max_running}"
    return [
        *settings.sbatch_options(),
        f"--array=0-{array.jobs - 1}{limit}",
        f"--job-name={submission.job_name(array)}",
        f"--output={submission.log_pattern(array)}",
        "--open-mode=append",
        "--requeue",
        *([] if after is None else [f"--dependency=afterany:{after}"]),
    ]
