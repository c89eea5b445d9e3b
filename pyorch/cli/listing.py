"""`list`: which experiments there are."""

from __future__ import annotations

from pyorch.base.errors import shown
from pyorch.base.paths import default_paths
from pyorch.cli.base import OK, listing
from pyorch.files.find import list_experiments


@listing
def list_all() -> int:
    """Print the name and the title of every experiment."""
    paths = default_paths()
    found = list_experiments(paths)
    if not found:
        print(f"there is no experiment: no .toml file is in {paths.experiments}")
    width = max((len(name) for name, _ in found), default=0)
    for name, title in found:
        print(shown(f"{name:<{width}}  {title}"))
    return OK
