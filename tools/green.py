"""What passed already, and for which inputs: nothing is checked twice that cannot have changed.

A check is the suites of a module in a profile, or a Python test with the mark `inputs`. A record
has for each the digest of all that its outcome depends on. There are two: this machine's, below
build/, of whatever passed here, and the project's, tests/green.json, which `invoke test --all`
writes: with the same code, compiler, flags and packages other machines need not check again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from pyorch.base.files import write_atomically
from pyorch.base.fingerprint import of_module
from pyorch.base.paths import Paths
from pyorch.build import sources
from pyorch.build.profiles import TEST_FLAGS, flags_of
from pyorch.build.toolchain import find_compiler, find_ns3

RECORD = "green.json"
#: Below build/: runs of the laboratory's tests.
KEPT_RUNS = "kept-runs"
#: How many digits of a digest are kept, and how many are shown.
DIGITS, SHOWN = 32, 8
#: Decide which suites run, and how.
_RUNNERS = ("tools/green.py", "tools/cpptests.py")
_NO_SOURCES = ("__pycache__",)
_INSTALLERS = ("pip", "setuptools", "wheel")


class Inputs:
    """The digests of what checks depend on, as it is now. A new object sees later edits."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._of_file = cache(lambda file: hashlib.sha256(file.read_bytes()).hexdigest())
        self._of_suites = cache(self._digest_of_suites)
        self._fingerprint = cache(self._fingerprint_of)
        self.of = cache(self._digest_of)

    def of_suites(self, module: str, profile: str) -> str:
        """Of a module's suites: its code and tests, all modules it needs, compiler, and flags.

        Raises UserError if ns-3 or the compiler is missing, KeyError if there is no such module.
        """
        return self._of_suites(module, profile)

    def _digest_of(self, names: tuple[str, ...]) -> str:
        """Of files and folders of the project, where a module counts with all it needs.

        Raises OSError if a named file cannot be read, and as of_suites.
        """
        modules = {f"ns3-modules/{name}": name for name in self.modules}
        parts = []
        for name in sorted(names):
            if name in modules:
                parts.append(of_module(self._fingerprint("release"), modules[name]))
            else:
                parts.append(self._of_files(self._paths.root / name))
        return _digest(parts)

    @cached_property
    def packages(self) -> str:
        """Of Python's minor version, the compiler, and all packages that are installed.

        Not of those that only install others: virtual environments bring them in many versions.
        Raises UserError if there is no compiler.
        """
        found = {
            f"{one.name} {one.version}"
            for one in importlib.metadata.distributions()
            if one.name and one.name.lower() not in _INSTALLERS
        }
        python = ".".join(platform.python_version_tuple()[:2])
        return _digest([python, str(find_compiler()), *sorted(found)])

    @property
    def modules(self) -> Sequence[str]:
        """The names of the project's modules."""
        return [module.name for module in self._modules]

    @cached_property
    def _modules(self) -> Sequence[sources.Module]:
        return [one for one in sources.present_modules(self._paths.modules) if not one.outside]

    def _fingerprint_of(self, profile: str) -> str:
        cache_file = self._paths.build_root / "prints.json"
        kept = cache_file if cache_file.parent.is_dir() else None
        tools = (find_ns3().version, str(find_compiler()))
        return sources.fingerprint(self._modules, *tools, flags_of(profile), cache=kept)

    def _digest_of_suites(self, name: str, profile: str) -> str:
        (module,) = (one for one in self._modules if one.name == name)
        shared = [file for one in self._modules for file in one.folder.glob("test/*.h")]
        runners = [self._paths.root / file for file in _RUNNERS]
        folders = [module.folder / part for part in sources.TEST_FOLDERS]
        files = [*(folder for folder in folders if folder.is_dir()), *shared, sources.TEST_CHECKS]
        parts = [self._of_files(file) for file in (*files, *filter(Path.is_file, runners))]
        code = of_module(self._fingerprint(profile), name)
        return _digest([code, TEST_FLAGS.get(profile, ""), *parts])

    def _of_files(self, place: Path) -> str:
        """Of a file, or of all files below a folder and their names."""
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        return _digest(
            f"{file.relative_to(self._paths.root).as_posix() if place.is_dir() else file.name} "
            f"{self._of_file(file)}"
            for file in files
            if (file.is_file() or file == place) and not set(_NO_SOURCES) & set(file.parts)
        )


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


class Green:
    """Both records of what passed."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._ours, self._theirs = (_read(file) for file in self._files)

    @property
    def _files(self) -> tuple[Path, Path]:
        return self._paths.build_root / RECORD, self._paths.tests / RECORD

    def vouches(self, check: str, digest: str) -> str | None:
        """The record that says a check passed with these inputs; None if none does."""
        if self._ours.get(check) == digest:
            return "here"
        return f"in tests/{RECORD}" if self._theirs.get(check) == digest else None

    def add(self, passed: Mapping[str, str]) -> None:
        """Record checks that passed here, with the digests of their inputs. Raises OSError."""
        file, _ = self._files
        self._ours = {**_read(file), **passed}
        _write(file, self._ours)

    def publish(self, present: Mapping[str, str]) -> int:
        """Write the project's record, of those of these checks that passed here; return how many.

        Raises OSError.
        """
        kept = {
            check: digest for check, digest in present.items() if self._ours.get(check) == digest
        }
        _write(self._files[1], kept)
        return len(kept)

    @property
    def of_pytest(self) -> dict[str, str]:
        """What pytest has checked here."""
        return {check: digest for check, digest in self._ours.items() if "::" in check}


def _read(file: Path) -> dict[str, str]:
    """A record; empty if there is none, or none that can be read: then everything is checked."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {check: digest for check, digest in content.items() if isinstance(digest, str)}


def _write(file: Path, record: Mapping[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(dict(sorted(record.items())), indent=1) + "\n")
