"""`init`: make a project, a folder for experiments and modules of one's own."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import storage_error, write_atomically
from pyorch.base.paths import Paths, expanded
from pyorch.base.reading import read_text
from pyorch.base.trust import PROJECT_FILE
from pyorch.cli import door
from pyorch.cli.base import OK, command

FIRST = "experiments/incast.toml"
PART = "parts/job.toml"
"""Metrics and figures for jobs of ranks, to be included."""
_FILES = {
    PROJECT_FILE: """\
# This file makes its folder a pyorch project: experiments/ has experiment files, results/ their
# results, modules/ C++ modules of your own. It has no other content.
""",
    ".gitignore": "results/\n__pycache__/\n",
    FIRST: """\
title = "Incast under PFC"
question = "How does alpha change the pause time?"
source = "own"
flow_control = ["pfc"]

[run]
duration = "2ms"

[topology]
kind = "star"
hosts = 9
rate = "100Gbps"
delay = "1us"

[[traffic]]
kind = "incast"
degree = 8
dst = "h8"
size = "1MB"

[sweep]
"buffer.alpha" = [0.03125, 0.125, 0.5]

[[metric]]
name = "pause_time"
kind = "summary"
number = "pause_time_ps"

[[figure]]
name = "pause-time"
kind = "line"
x = "buffer.alpha"
y = "pause_time"
log_x = true
""",
}


@command
def init(folder: str) -> int:
    """Make the folder and its first files; existing files stay as they are."""
    if not folder:
        what = "no folder was given"
        raise UserError(
            [Problem("FOLDER", what, None, "invoke init my-project, or . for this one")]
        )
    place = expanded(folder)
    if (place / PROJECT_FILE).exists():
        raise UserError([Problem(str(place), f"is a project already: it has a {PROJECT_FILE}")])
    for name, text in _FILES.items():
        _write(place / name, text)
    shipped = Paths(place).studies / "ai" / PART
    if shipped.is_file():
        _write(place / "experiments" / PART, read_text(shipped, PART))
    print(f"made {place.resolve()}")
    print("next:")
    door.say(f"    cd {place}")
    door.say("    invoke list")
    door.say(f"    invoke experiment {Path(FIRST).stem}")
    return OK


def _write(file: Path, text: str) -> None:
    if file.exists():
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text)
    except OSError as error:
        raise storage_error(error, file) from error
