"""The finished build that a binary wheel brings: used where the modules are those of the wheel.

`pack` makes it, for setup.py: libraries, headers and what describes them, without any place of the
machine that compiled them. `unpack` places it among the builds of this machine, next to links to
ns-3's libraries, in which the loader looks for them first.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyorch.base.files import write_atomically
from pyorch.base.paths import SHIPPED
from pyorch.build import finished
from pyorch.build.finished import STAMP
from pyorch.build.info import BuildInfo
from pyorch.build.loadable import LoadError, check_loadable
from pyorch.build.toolchain import Ns3
from pyorch.build.wheel import TARGETS, cmake_targets, parse_targets

HOME = SHIPPED / "build"
"""Where an installed package has it; other packages have none."""
_PLACE = "."


def compiler(home: Path = HOME) -> str | None:
    """The compiler of the build that this package brings, as in its fingerprint; None if none."""
    stamp = _stamp(home)
    return None if stamp is None else str(stamp["compiler"])


def pack(build: BuildInfo, target: Path) -> None:
    """Write what a wheel brings of a finished build into a new folder. Raises OSError."""
    stamp = json.loads((build.folder / STAMP).read_text(encoding="utf-8"))
    # where the loader looks: $ORIGIN, in some order, and ns-3's folder
    places = re.compile(rb"(?:\$ORIGIN:)?%s(?::\$ORIGIN)?" % re.escape(bytes(build.ns3_libraries)))
    names = [name for name in stamp["files"] if name.startswith(("lib/", "include/"))]
    for name in names:
        content = (build.folder / name).read_bytes()
        if name.startswith("lib/"):
            content = places.sub(_only_beside, content)
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    plain = replace(
        build,
        folder=Path(_PLACE),
        libraries=[one.relative_to(build.folder) for one in build.libraries],
        include_dirs=[Path("include")],
        ns3_libraries=Path(_PLACE),
        programs=None,
    )
    modules = (build.folder / finished.MODULES).read_text(encoding="utf-8")
    (target / finished.MODULES).write_text(modules, encoding="utf-8")
    shipped = {"info": plain.to_json(), "compiler": stamp["compiler"], "files": names}
    (target / STAMP).write_text(json.dumps(shipped, indent=1) + "\n", encoding="utf-8")


def unpack(
    folder: Path, fingerprint: str, ns3: Ns3, say: Callable[[str], None], home: Path = HOME
) -> bool:
    """Place the shipped build in `folder`, if it has this fingerprint and loads on this machine.

    The caller holds the lock of the profile. Raises OSError.
    """
    stamp = _stamp(home)
    if stamp is None:
        return False
    known = BuildInfo.from_json(stamp["info"])
    if known.fingerprint != fingerprint:
        say("the modules are not those that came with the package, or ns-3 is another")
        return False
    info = replace(
        known,
        folder=folder,
        libraries=[folder / one for one in known.libraries],
        include_dirs=[folder / "include", ns3.include],
        ns3_libraries=ns3.libraries,
    )
    with finished.made_aside(folder) as new:
        files = [*stamp["files"], finished.MODULES]
        finished.place({name: home / name for name in files}, new)
        targets = parse_targets(ns3.targets.read_text(encoding="utf-8"))
        (new / TARGETS).write_text(cmake_targets(ns3, targets), encoding="utf-8")
        files.append(TARGETS)
        for library in ns3.libraries.glob("*.so*"):
            (new / "lib" / library.name).symlink_to(library)
        sizes = {name: (new / name).stat().st_size for name in files}
        content = {"info": info.to_json(), "compiler": stamp["compiler"], "files": sizes}
        write_atomically(new / STAMP, json.dumps(content, indent=1) + "\n")
    try:
        check_loadable(info)
    except LoadError as error:
        finished.delete(folder)
        say(f"the libraries that came with the package do not load here: {error.problems[0].what}")
        return False
    return True


def _only_beside(places: re.Match[bytes]) -> bytes:
    """$ORIGIN alone, in the same length, so that nothing else in the file moves."""
    return b"$ORIGIN".ljust(len(places[0]), b"\0")


def _stamp(home: Path) -> dict[str, Any] | None:
    try:
        stamp = json.loads((home / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None
