"""The finished build that a binary wheel brings: used where the modules are those of the wheel.

`pack` makes it, for setup.py: libraries, headers and what describes them, without any place of the
machine that compiled them. `unpack` places it among the builds of this machine, next to links to
ns-3's libraries, in which the loader looks for them first.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pyorch.base.paths import SHIPPED
from pyorch.build import finished
from pyorch.build.finished import MODULES
from pyorch.build.info import BuildInfo
from pyorch.build.loadable import LoadError, check_loadable
from pyorch.build.toolchain import Ns3
from pyorch.build.wheel import TARGETS, cmake_targets, parse_targets

HOME = SHIPPED / "build"
"""Where an installed package has it; other packages have none."""


def compiler() -> str | None:
    """The compiler of the build that this package brings, as in its fingerprint; None if none."""
    stamp = finished.read_stamp(HOME)
    return None if stamp is None else str(stamp["compiler"])


def pack(build: BuildInfo, target: Path) -> None:
    """Write what a wheel brings of a finished build into a new folder. Raises OSError."""
    stamp = finished.read_stamp(build.folder)
    if stamp is None:
        raise FileNotFoundError(build.folder)
    # where the loader looks: $ORIGIN, in some order, and ns-3's folder
    places = re.compile(rb"(?:\$ORIGIN:)?%s(?::\$ORIGIN)?" % re.escape(bytes(build.ns3_libraries)))
    for part in ("include/ns3", "lib"):
        (target / part).mkdir(parents=True)
        for file in sorted((build.folder / part).iterdir()):
            if file.is_symlink():  # of ns-3
                continue
            content = file.read_bytes()
            content = places.sub(_only_beside, content) if part == "lib" else content
            (target / part / file.name).write_bytes(content)
    (target / MODULES).write_bytes((build.folder / MODULES).read_bytes())
    plain = replace(
        build,
        folder=Path(),
        libraries=[one.relative_to(build.folder) for one in build.libraries],
        include_dirs=[Path("include")],
        ns3_libraries=Path(),
        programs=None,
    )
    finished.write_stamp(target, plain.to_json(), stamp["compiler"])


def unpack(folder: Path, fingerprint: str, ns3: Ns3, say: Callable[[str], None]) -> None:
    """Place the shipped build in `folder`, if it has this fingerprint and loads on this machine.

    The caller holds the lock of the profile. Raises OSError.
    """
    stamp = finished.read_stamp(HOME)
    if stamp is None:
        return
    known = BuildInfo.from_json(stamp["info"])
    if known.fingerprint != fingerprint:
        say("the modules are not those that came with the package, or ns-3 is another")
        return
    info = replace(
        known,
        folder=folder,
        libraries=[folder / one for one in known.libraries],
        include_dirs=[folder / "include", ns3.include],
        ns3_libraries=ns3.libraries,
    )
    with finished.made_aside(folder) as new:
        finished.place({name: HOME / name for name in stamp["files"]}, new)
        targets = parse_targets(ns3.targets.read_text(encoding="utf-8"))
        (new / TARGETS).write_text(cmake_targets(ns3, targets), encoding="utf-8")
        for library in ns3.libraries.glob("*.so*"):
            (new / "lib" / library.name).symlink_to(library)
        finished.write_stamp(new, info.to_json(), stamp["compiler"])
    try:
        check_loadable(info)
    except LoadError as error:
        finished.delete(folder)
        say(f"the libraries that came with the package do not load here: {error.problems[0].what}")


def _only_beside(places: re.Match[bytes]) -> bytes:
    """$ORIGIN alone, in the same length, so that nothing else in the file moves."""
    return b"$ORIGIN".ljust(len(places[0]), b"\0")
