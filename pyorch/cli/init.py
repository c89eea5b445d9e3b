"""`init`: make a project, a folder for experiments and modules of one's own."""

from __future__ import annotations

from pathlib import Path

from pyorch.base.errors import one_of, refusal, suggest
from pyorch.base.files import telling, write_atomically
from pyorch.base.paths import default_paths, expanded
from pyorch.base.reading import read_text
from pyorch.base.trust import PROJECT_FILE
from pyorch.cli import door
from pyorch.cli.base import OK, command

TEMPLATES = "templates"
"""Below experiments/: files that begin a project."""
FIRST = "incast"
PART = "parts/job.toml"
"""Metrics and figures for jobs of ranks, to be included."""
_FILES = {
    PROJECT_FILE: """\
# This file makes its folder a pyorch project: experiments/ has experiment files, results/ their
# results, modules/ C++ modules of your own. It has no other content.
""",
    ".gitignore": "results/\n__pycache__/\n",
}


@command
def init(folder: str, template: str = "") -> int:
    """Make the folder and its first files; existing files stay as they are.

    template: the experiment that it begins with. Into a project it is added.
    """
    if not folder:
        what = "no folder was given"
        raise refusal("FOLDER", what, hint="invoke init my-project, or . for this one")
    place = expanded(folder)
    is_project = (place / PROJECT_FILE).exists()
    if is_project and not template:
        what = f"is a project already: it has a {PROJECT_FILE}"
        raise refusal(str(place), what, hint="--template adds an experiment")
    name = template or FIRST
    shipped = default_paths().studies
    known = {file.stem: file for file in sorted((shipped / TEMPLATES).glob("*.toml"))}
    if name not in known:
        what, hint = f"there is no template {name!r}", suggest(name, known)
        raise refusal("--template", what, one_of(known), hint)
    for file, text in _FILES.items():
        _write(place / file, text)
    first = place / "experiments" / f"{name}.toml"
    if is_project and first.exists():
        raise refusal(str(first), "is there already", hint="rename it first")
    _write(first, read_text(known[name], name))
    part = shipped / "ai" / PART
    if part.is_file():
        _write(place / "experiments" / PART, read_text(part, PART))
    print(f"{'added' if is_project else 'made'} {(first if is_project else place).resolve()}")
    print("next:")
    if place.resolve() != Path.cwd():
        print(f"    cd {place}")
    door.say(f"    invoke show {name}")
    door.say(f"    invoke experiment {name}")
    return OK


def _write(file: Path, text: str) -> None:
    if file.exists():
        return
    with telling(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text)
