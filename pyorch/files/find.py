"""Finds experiment files, the one that a name means, and its content, unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import Problem, UserError, did_you_mean, nearest, quoted, refusal
from pyorch.base.paths import Paths, default_paths
from pyorch.base.reading import is_file, read_toml
from pyorch.build.sources import present_modules
from pyorch.files.naming import claim, name_outside

if TYPE_CHECKING:
    from pyorch.base.findings import Path, Place

#: Folders of results/ that belong to no experiment.
NOT_STUDIES = frozenset({"reproduction"})
#: Folders below experiments/ whose TOML files are not experiments.
MATERIAL = frozenset({"schemes", "parts", "templates", "workloads"})
#: What names such as "..toml" are without their suffix: results cannot have these names.
_NO_NAMES = frozenset({"", ".", ".."})


@dataclass(frozen=True)
class Document:
    """An experiment before it is resolved.

    name: that of its results. file: its path, or a path made up for one made in Python; files that
    it names are relative to it. label: its name in messages. content: its tables, with those of
    included files, and with `each` expanded. places: the places of keys that are elsewhere than at
    their own place in the file. problems: those found so far.
    """

    name: str
    file: FilePath
    label: str
    content: Mapping[str, Any]
    places: Mapping[Path, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_document(name_or_path: str | PathLike[str], paths: Paths) -> Document:
    """Return the content of an experiment file and its includes. Raises UserError."""
    from pyorch.files.layers import read_layers, spread

    file, name = _find(fspath(name_or_path), paths)
    label = _label(file, paths)
    content, places = read_layers(file, label)
    return Document(name, file, label, content, places, spread(content, places, label))


def made_document(name: str, content: Mapping[str, Any], paths: Paths) -> Document:
    """Return an experiment made in Python, as if it were NAME.toml in the current folder.

    Raises UserError if no file can have that name.
    """
    from pyorch.files.layers import spread

    file = FilePath.cwd() / f"{name}.toml"
    if "/" in name or "\0" in name or name in _NO_NAMES:
        what = f"{quoted(name)} is not a valid name of an experiment file"
        raise refusal("Study: name", what, 'a name such as "my-incast"')
    places: dict[Path, Place] = {}
    whole = dict(content)
    return Document(_name(file, paths), file, name, whole, places, spread(whole, places, name))


def experiment_name(name_or_path: str, paths: Paths) -> str:
    """Return the name of an experiment without reading it. Raises UserError when there is none."""
    return _find(name_or_path, paths)[1]


def list_experiments(paths: Paths | None = None) -> list[tuple[str, str]]:
    """Return (name, title) of every experiment file, by name; the title says if it is not TOML.

    Those of experiments/ first, then those that modules bring.
    """
    found = []
    for name, file in _files(paths or default_paths()).items():
        try:
            title = str(read_toml(file, file.name).get("title", ""))
        except UserError as error:
            title = f"(cannot be read: {error.problems[0].what})"
        found.append((name, title))
    return found


def _files(paths: Paths) -> dict[str, FilePath]:
    """Return experiment files by name: below experiments/, and in the modules' own folders.

    A file FILE.toml of a module is MODULE/FILE, unless experiments/ has one with that name. Those
    that came with the package follow the project's own.
    """
    own = {_below(file, paths.experiments): file for file in _tomls(paths.experiments)}
    shipped = paths.shipped_experiments
    if shipped is not None:
        more = {_below(file, shipped): file for file in _tomls(shipped)}
        own |= {name: file for name, file in more.items() if name not in own}
    brought = {
        f"{module.name}/{_below(file, module.experiments)}": file
        for module in present_modules(paths.modules)
        for file in _tomls(module.experiments)
    }
    return own | {name: file for name, file in brought.items() if name not in own}


def _below(file: FilePath, folder: FilePath) -> str:
    return file.relative_to(folder).with_suffix("").as_posix()


def _tomls(folder: FilePath) -> list[FilePath]:
    """Return the experiment files below a folder, except those in folders of MATERIAL."""
    files = (file for file in sorted(folder.rglob("*.toml")) if file.stem not in _NO_NAMES)
    return [f for f in files if MATERIAL.isdisjoint(f.relative_to(folder).parts[:-1])]


def _name(file: FilePath, paths: Paths) -> str:
    root = FilePath(realpath(paths.experiments))
    resolved = FilePath(realpath(file))
    if resolved.is_relative_to(root):
        return _below(resolved, root)
    files = _files(paths)
    for name, known in files.items():
        if realpath(known) == str(resolved):
            return name
    folders = {str(folder) for name in files for folder in FilePath(name).parents}
    return name_outside(file, files.keys() | folders | NOT_STUDIES, paths)


def claim_results(name_or_path: str | Document, paths: Paths) -> str:
    """Claim the results folder of a file outside experiments/, before anything is written.

    Returns the name of the experiment. Raises UserError when there is no such file, or the folder
    cannot be written.
    """
    while True:
        if isinstance(name_or_path, Document):
            file = name_or_path.file
            name = _name(file, paths)
        else:
            file, name = _find(name_or_path, paths)
        if name in _files(paths) or claim(name, file, paths) or name != file.stem:
            return name


def _label(file: FilePath, paths: Paths) -> str:
    # a link has its own name, even a broken one
    resolved = FilePath(realpath(file.parent), file.name)
    root = FilePath(realpath(paths.root))
    inside = resolved.is_relative_to(root)
    return resolved.relative_to(root).as_posix() if inside else str(file)


def _find(name_or_path: str, paths: Paths) -> tuple[FilePath, str]:
    """Return the file of an experiment and its name. Raises UserError when there is none."""
    inside = paths.experiments / f"{name_or_path.removesuffix('.toml')}.toml"
    for file in (inside, FilePath(name_or_path)):
        if file.suffix == ".toml" and file.stem not in _NO_NAMES and is_file(file):
            return file, _name(file, paths)
    names = _files(paths)
    if name_or_path in names:
        return names[name_or_path], name_or_path
    what = "there is no such experiment"
    if not names:
        raise refusal(name_or_path, what, "none: experiments/ has no .toml file")
    wanted = name_or_path.removeprefix("experiments/").removesuffix(".toml")
    near = did_you_mean(nearest(wanted, names))
    hint = " ".join(filter(None, [near, "'invoke list' shows all with their titles"]))
    raise refusal(name_or_path, what, hint=hint)
