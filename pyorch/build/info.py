"""What a build left behind: everything needed to load it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The file in a build folder that holds the BuildInfo and what it was made from.
STAMP = "build.json"


@dataclass(frozen=True)
class BuildInfo:
    """One finished build.

    `libraries` are the shared libraries of `modules`, both in load order (a module comes after
    those it links); `include_dirs` are the folders that hold `ns3/*.h`, those of the modules first;
    `ns3_libraries` is the folder of the wheel's own libraries; `fingerprint` is a SHA-256 in hex
    over all that can change a result; `base` is the folder of the project's own build when this
    one adds modules of $PYORCH_MODULE_PATH to it.
    """

    folder: Path
    libraries: list[Path]
    include_dirs: list[Path]
    modules: list[str]
    fingerprint: str
    ns3_libraries: Path = Path()
    ns3_version: str = ""
    profile: str = "release"
    base: Path | None = None

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
            "base": str(self.base) if self.base else None,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "BuildInfo":
        """Read what `to_json` wrote. Raises KeyError when something is missing."""
        return cls(
            folder=Path(content["folder"]),
            libraries=[Path(library) for library in content["libraries"]],
            include_dirs=[Path(folder) for folder in content["include_dirs"]],
            modules=list(content["modules"]),
            fingerprint=content["fingerprint"],
            ns3_libraries=Path(content["ns3_libraries"]),
            ns3_version=content["ns3_version"],
            profile=content["profile"],
            base=Path(content["base"]) if content.get("base") else None,
        )


def read_build(folder: Path) -> BuildInfo:
    """Read the BuildInfo of a finished build without checking that it is up to date.

    For a process that another one has started after building. Raises OSError, ValueError or
    KeyError when there is no finished build in that folder.
    """
    content = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    return BuildInfo.from_json(content["info"])
