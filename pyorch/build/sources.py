"""The C++ modules as files: which exist, whether they changed, and their fingerprint."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pyorch.base.errors import Problem, UserError
from pyorch.base.files import write_atomically
from pyorch.base.fingerprint import ModulePrint, compose
from pyorch.base.paths import default_paths, expanded
from pyorch.base.reading import is_file
from pyorch.base.trust import vouch
from pyorch.build.code import tokens

#: More folders with modules, each of one module or of several; separated like PATH.
MODULE_PATH_VARIABLE = "PYORCH_MODULE_PATH"

#: The fixed part of the CMake project, shipped in the package.
CMAKE_FOLDER = Path(__file__).parent / "cmake"

#: The replacement of ns-3's checks in the modules' tests; not part of a fingerprint.
TEST_CHECKS = Path(__file__).parent / "testing" / "checks.h"

#: Folders of a module whose files become part of its library; the others affect only tests,
#: examples and pages.
MODEL_FOLDERS = ("model", "helper")
TEST_FOLDERS = ("test", "examples")

SOURCE_SUFFIXES = (".cc", ".h", ".cmake", ".txt")
_CODE = (".cc", ".h")
#: The registration of a type in a source, and the modules that a CMakeLists.txt links.
_TYPE = re.compile(r'\bTypeId\(\s*"(ns3::[\w:]+)"\s*\)')
_LISTED_TESTS = re.compile(rb"\n *TEST_SOURCES\b[^)]*(?=\n\))")
_NEEDED = re.compile(r"\$\{lib([\w-]+)\}")
_DIGITS = 32  # of a module's digest, in hex
#: Of a cache of prints: its version, changed with how code is read, and how many are kept.
_PRINTS_FORMAT, _KEPT_PRINTS = b"3", 200


@dataclass(frozen=True)
class Module:
    """One C++ module: its name is that of its folder.

    outside: it did not come with the package, but is in the project or $PYORCH_MODULE_PATH.
    """

    name: str
    folder: Path
    outside: bool = False

    @property
    def experiments(self) -> Path:
        """The folder in which a module may provide experiment files."""
        return self.folder / "experiments"

    @property
    def comparison(self) -> Path:
        """The file with the variants by which its schemes join comparisons."""
        return self.folder / "comparison.toml"

    @property
    def presets(self) -> Path:
        """The file with named sets of parameters of its types."""
        return self.folder / "presets.toml"

    def files(self, folders: Sequence[str]) -> list[Path]:
        """Return the source files of some of its folders, sorted, and its CMakeLists.txt.

        Links to nothing are none: by .#pfc.cc an editor notes that it has pfc.cc open.
        """
        found = [self.folder / "CMakeLists.txt"]
        for folder in folders:
            for place, _, names in os.walk(self.folder / folder):
                files = (Path(place, name) for name in names if name.endswith(SOURCE_SUFFIXES))
                found += filter(is_file, files)
        return sorted(found)


def find_modules(home: Path) -> list[Module]:
    """Find all modules, in `home`, $PYORCH_MODULE_PATH and the project, sorted by name.

    A module is a folder with a CMakeLists.txt that calls build_lib. Raises UserError if there is
    none, if two have the same name, if a folder of the variable has none, or if somebody else may
    have written one.
    """
    problems: list[Problem] = []
    found = _modules_in(home)
    if not found:
        problems.append(
            Problem(str(home), "it has no C++ module", "folders with a CMakeLists.txt", None)
        )
    for entry, more in _modules_outside():
        if not more:
            problems.append(
                Problem(
                    where=f"{MODULE_PATH_VARIABLE}={entry}",
                    what="this folder is not a C++ module and has none",
                    allowed="folders with a CMakeLists.txt that calls build_lib",
                    hint="correct or unset the environment variable",
                )
            )
        found += more
    names = [module.name for module in found]
    problems += [
        Problem(name, f"two modules have this name: {_places(found, name)}", None, "rename one")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if problems:
        raise UserError(problems)
    for module in found:
        vouch(module.files((*MODEL_FOLDERS, *TEST_FOLDERS)), named=module.folder)
    return sorted(found, key=lambda module: module.name)


def present_modules(home: Path) -> list[Module]:
    """Find all modules as find_modules does, but without reporting problems."""
    outside = [module for _, found in _modules_outside() for module in found]
    return sorted([*_modules_in(home), *outside], key=lambda module: module.name)


def _modules_outside() -> list[tuple[str, list[Module]]]:
    """Return the entries of $PYORCH_MODULE_PATH, and the project's modules/, with their modules."""
    entries = filter(None, os.environ.get(MODULE_PATH_VARIABLE, "").split(os.pathsep))
    found = [(entry, _modules_in(expanded(entry).absolute(), True)) for entry in entries]
    paths = default_paths()
    known = {module.folder.resolve() for _, modules in found for module in modules}
    own = _modules_in(paths.own_modules, True) if paths.shipped else []
    more = [module for module in own if module.folder.resolve() not in known]
    return [*found, *([(str(paths.own_modules), more)] if more else [])]


def _modules_in(folder: Path, outside: bool = False) -> list[Module]:
    places = [folder] if _is_module(folder) else filter(_is_module, sorted(folder.glob("*/")))
    return [Module(place.name, place, outside) for place in places]


def _is_module(folder: Path) -> bool:
    lists = folder / "CMakeLists.txt"
    return lists.is_file() and "build_lib(" in lists.read_text(encoding="utf-8", errors="replace")


def _places(modules: Iterable[Module], name: str) -> str:
    return " and ".join(str(module.folder) for module in modules if module.name == name)


def snapshot(files: Iterable[Path]) -> list[list[object]]:
    """Return [path, size, mtime, ctime] of each file, times in ns; equal if files are unchanged."""
    return [[str(file), *_size_and_times(file)] for file in files]


def _size_and_times(file: Path) -> tuple[int, int, int]:
    try:
        stat = file.stat()
    except FileNotFoundError:  # an editor is about to replace it
        return -1, -1, -1
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def is_newer(present: list[list[object]], known: list[list[object]], began: int) -> bool:
    """Whether every file that differs between two snapshots was written since `began` [ns].

    Ninja notices only these: it assumes that it has compiled an older file already.
    """
    changed = [file for file in present if file not in known]
    return all(isinstance(file[2], int) and file[2] > began for file in changed)


def files_of_libraries(modules: Iterable[Module]) -> list[Path]:
    """Return the files of which the libraries are made, and the CMake files that say how."""
    own = [file for module in modules for file in module.files(MODEL_FOLDERS)]
    return [*cmake_files(), *own]


def files_of_tests(modules: Iterable[Module]) -> list[Path]:
    """Return the files that only the test program uses."""
    return [file for module in modules for file in module.files(TEST_FOLDERS)]


def cmake_files() -> list[Path]:
    """Return the fixed part of the CMake project."""
    return sorted(file for file in CMAKE_FOLDER.iterdir() if file.is_file())


def fingerprint(
    modules: Iterable[Module],
    ns3: str,
    compiler: str,
    flags: str,
    base: str = "",
    cache: Path | None = None,
) -> str:
    """Return the fingerprint of everything that can change a result, module by module.

    That is the code in the modules' model/ and helper/, token by token, all CMake files but their
    lists of tests, the versions of ns-3 and of the compiler, and the flags. Comments, layout,
    places and times of the files are not part of it, nor are the tests. base: the module that every
    run uses. cache: a file that saves splitting code into tokens again. pyorch.base.fingerprint
    reads the text.
    """
    common = hashlib.sha256()
    for part in (ns3, compiler, flags):
        _feed(common, part.encode())
    for file in cmake_files():
        _feed(common, file.name.encode(), file.read_bytes())
    # what each module contributes, if possible from the cache, by its files' bytes
    known = _read_prints(cache)
    found, used = {}, {}
    for module in modules:
        contents = {
            file.relative_to(module.folder).as_posix(): file.read_bytes()
            for file in module.files(MODEL_FOLDERS)
        }
        digest = hashlib.sha256(_PRINTS_FORMAT)
        for name, data in contents.items():
            _feed(digest, name.encode(), data)
        key = digest.hexdigest()
        found[module.name] = used[key] = known.get(key) or _print_of(module.name, contents)
    if cache is not None and not used.keys() <= known.keys():
        kept = dict(list((known | used).items())[-_KEPT_PRINTS:])
        with suppress(OSError):  # it only saves time
            text = json.dumps({key: asdict(part) for key, part in kept.items()})
            write_atomically(cache, text + "\n")
    return compose(common.hexdigest(), base, found)


def _read_prints(cache: Path | None) -> dict[str, ModulePrint]:
    try:
        content = json.loads(cache.read_text(encoding="utf-8")) if cache else {}
        return {key: ModulePrint(**part) for key, part in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _print_of(name: str, contents: Mapping[str, bytes]) -> ModulePrint:
    digest = hashlib.sha256()
    needs: set[str] = set()
    types: set[str] = set()
    for file, data in contents.items():
        code = data
        if file.endswith(_CODE):
            text = data.decode(errors="surrogateescape")
            code = "\0".join(tokens(text)).encode(errors="surrogateescape")
            types.update(registered_types(text))
        else:
            code = _LISTED_TESTS.sub(b"", data)
            needs.update(_NEEDED.findall(code.decode(errors="replace")))
        _feed(digest, file.encode(), code)
    return ModulePrint(digest.hexdigest()[:_DIGITS], sorted(needs - {name}), sorted(types))


def registered_types(text: str) -> list[str]:
    """Return the full names of the ns-3 types that a C++ source registers."""
    return _TYPE.findall(text)


def digest_of_tests(modules: Iterable[Module], flags: str) -> str:
    """Return a SHA-256 in hex over the sources of the test program other than the libraries.

    The modules' places are part of it, because tests read files next to them.
    """
    digest = hashlib.sha256(flags.encode())
    _feed(digest, TEST_CHECKS.read_bytes())
    for file in files_of_tests(modules):
        _feed(digest, str(file).encode(), file.read_bytes())
    return digest.hexdigest()


def _feed(digest: "hashlib._Hash", *parts: bytes) -> None:
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))  # so that different lists differ
        digest.update(part)
