"""The description of a finished build: everything needed to load it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyorch.build.finished import STAMP, hold


@dataclass(frozen=True)
class BuildInfo:
    """One finished build.

    `libraries` are the shared libraries of `modules`, both in load order (a module comes after
    those it links); `include_dirs` are the folders that contain `ns3/*.h`, the modules' first;
    `ns3_libraries` is the folder of the wheel's own libraries; `fingerprint` covers everything that
    can change a result (pyorch.base.fingerprint); `programs` is the folder of the test program and
    the examples, if they were requested.
    """

    folder: Path
    libraries: list[Path]
    include_dirs: list[Path]
    modules: list[str]
    fingerprint: str
    ns3_libraries: Path = Path()
    ns3_version: str = ""
    profile: str = "release"
    programs: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        return {
            "folder": str(self.folder),
            "libraries": [str(library) for library in self.libraries],
            "include_dirs": [str(folder) for folder in self.include_dirs],
            "modules": list(self.modules),
            "fingerprint": self.fingerprint,
            "ns3_libraries": str(self.ns3_libraries),
            "ns3_version": self.ns3_version,
            "profile": self.profile,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "BuildInfo":
        """Read the result of `to_json`. Raises KeyError if something is missing."""
        return cls(
            folder=Path(content["folder"]),
            libraries=[Path(library) for library in content["libraries"]],
            include_dirs=[Path(folder) for folder in content["include_dirs"]],
            modules=list(content["modules"]),
            fingerprint=content["fingerprint"],
            ns3_libraries=Path(content["ns3_libraries"]),
            ns3_version=content["ns3_version"],
            profile=content["profile"],
        )


def read_build(folder: Path) -> BuildInfo:
    """Read the BuildInfo of a finished build without checking that it is up to date.

    For a process started by one that has built; the build is not deleted before this process ends.
    Raises OSError, ValueError or KeyError if there is no finished build in that folder.
    """
    if not hold(folder):
        raise FileNotFoundError(f"{folder} no longer exists")
    content = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    return BuildInfo.from_json(content["info"])
