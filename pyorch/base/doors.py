"""What installed packages add to pyorch, its own add-ons among them: their entry points.

Groups: "pyorch.kinds" and "pyorch.figures" (`pyorch.kinds`), "pyorch.verbs" (`pyorch.cli.verb`),
"pyorch.readers" (`pyorch.readers.door`), "pyorch.study" (methods of `Study`), "pyorch.cures"
(`pyorch.explain`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pyorch.base.errors import UserError, defect_of, refusal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN = "pyorch"
"""The distribution of this package."""


@cache
def points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def names(group: str) -> list[str]:
    """Return the names of the entry points of a group, each once."""
    return list(dict.fromkeys(point.name for point in points(group)))


def named(group: str, name: str) -> Any:
    """Return what the entry point of a name stands for; None if there is none.

    Raises UserError if it cannot be loaded, or several packages have one of this name.
    """
    found = [point for point in points(group) if point.name == name]
    if len(found) > 1:
        what = f"several packages bring {name!r}: {', '.join(map(package_of, found))}"
        raise refusal(group, what, hint="uninstall all of them but one")
    return load(found[0]) if found else None


def load(point: EntryPoint) -> Any:
    """Return what an entry point stands for. Raises UserError if it cannot be loaded."""
    try:
        return point.load()
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # anything may be wrong with code of somebody else
        raise UserError([defect_of(point.module, error, f"package {package_of(point)}")]) from error


def package_of(point: EntryPoint) -> str:
    """Return the package of an entry point: "name version"."""
    package = point.dist
    return f"{package.name} {package.version}" if package is not None else f"{point.name} ?"
