"""Names of experiments whose files lie outside experiments/: no two share a results folder.

The first of several files FILE.toml is called FILE and owns results/FILE, where that is recorded;
every other one has eight digits of its path in its name. A single file has the same name wherever
it is, so that a copy of it gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from os.path import realpath
from pathlib import Path

from pyorch.base.files import RESULTS_HINT, create_atomically, make_folder, telling
from pyorch.base.paths import Paths

OWNER = "file.txt"
"""In a results folder: the path of the experiment file that it belongs to."""
_DIGITS = 8
_LONGEST = 60


def name_outside(file: Path, taken: Collection[str], paths: Paths) -> str:
    """Return the name of an experiment file outside experiments/.

    taken: names and folders of the experiments inside, which it must avoid.
    """
    resolved = realpath(file)
    short = file.stem
    digest = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:_DIGITS]
    own = f"{short[:_LONGEST]}-{digest}"
    if short in taken or paths.experiment_results(own).is_dir():
        return own
    owner = _owner(paths.experiment_results(short))
    return short if owner in (None, os.fsencode(resolved)) else own


def claim(name: str, file: Path, paths: Paths) -> bool:
    """Record that a results folder belongs to a file; return False if another was faster.

    Raises UserError when the folder cannot be written.
    """
    folder = paths.experiment_results(name)
    path = os.fsencode(realpath(file))
    with telling(folder, RESULTS_HINT):
        make_folder(folder, below=paths.results)
        if not (folder / OWNER).exists():
            create_atomically(folder / OWNER, path + b"\n")
    return _owner(folder) == path


def _owner(folder: Path) -> bytes | None:
    """The file that owns a results folder, b"" if that is unknown; None: no file yet."""
    try:
        return (folder / OWNER).read_bytes().removesuffix(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return b""
