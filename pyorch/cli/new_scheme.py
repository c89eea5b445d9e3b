"""`new-scheme`: make a module for a new scheme and print the next steps."""

from __future__ import annotations

import os
from pathlib import Path

from pyorch.base.paths import default_paths, expanded
from pyorch.build.sources import MODULE_PATH_VARIABLE, present_modules
from pyorch.catalogue.new_scheme import COMPARING, Names, make_module
from pyorch.cli import door
from pyorch.cli.base import OK, command


@command
def new_scheme(name: str, kind: str = "flow-control", folder: str = "") -> int:
    """Make a module for a new scheme and print the next steps."""
    paths = default_paths()
    home = expanded(folder).absolute() if folder else paths.own_modules
    place = make_module(name, kind, home, paths)
    names = Names(name)
    print(f"{names.type_id} in {place}:")
    for file in sorted(file for file in place.rglob("*") if file.is_file()):
        print(f"    {file.relative_to(place)}")
    print("next:")
    known = {module.folder for module in present_modules(paths.modules)}
    if place not in known:
        print(f"    export {MODULE_PATH_VARIABLE}={_with(home)}")
    door.say("    invoke build")
    door.say(f"    invoke schemes {name}")
    door.say(f"    invoke experiment {name}/two-to-one")
    if kind in COMPARING:
        door.say(
            f"    invoke experiment {COMPARING[kind]}    # studies that compare schemes include it"
        )
    if not paths.shipped:  # otherwise there is no checkout with the tests
        door.say(f"    invoke test --quick -k {name}")
    return OK


def _with(home: Path) -> str:
    """The module path with one more folder."""
    entries = [
        entry for entry in os.environ.get(MODULE_PATH_VARIABLE, "").split(os.pathsep) if entry
    ]
    return os.pathsep.join([*entries, *([str(home)] if str(home) not in entries else [])])
