"""`import`: an experiment from files of other simulators and tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyorch.base.errors import UserError, refusal
from pyorch.base.files import telling, write_atomically
from pyorch.base.paths import expanded
from pyorch.base.reading import is_text
from pyorch.cli import door
from pyorch.cli.base import OK, command
from pyorch.readers.importing import experiment
from pyorch.study import Study


@command
def bring(files: Sequence[str], out: str) -> int:
    """Write the experiment, check that it can run, and say what was assumed and left out."""
    if not out:
        hint = "invoke import topology.txt flow.txt --out my.toml"
        raise refusal("--out", "no file to write was given", "a name in .toml", hint)
    target = expanded(out)
    if target.suffix != ".toml":
        raise refusal("--out", f"{out!r} is not a name of an experiment", "*.toml")
    if target.exists():
        raise refusal(out, "exists already", hint="remove it, or name another one")
    text = experiment([expanded(name) for name in files if name], target.parent)
    if not is_text(text):
        what, hint = "the name of a file or folder is not UTF-8", "give it another name"
        raise refusal("import", what, hint=hint)
    with telling(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, text)
    for line in text.splitlines():
        if line.startswith("# "):
            print(line.removeprefix("# "))
    _check(target)
    print(f"wrote {out}; next:")
    door.say(f"    invoke show {out}")
    door.say(f"    invoke experiment {out}")
    return OK


def _check(file: Path) -> None:
    """Plan the experiment. Raises UserError with what is to be changed in it."""
    try:
        Study.load(file).plan()
    except UserError as error:
        print(f"wrote {file}, which is still to be changed:")
        raise error from None
