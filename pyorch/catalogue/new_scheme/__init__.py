"""A complete module for a new scheme, which builds, runs and has its tests: `invoke new-scheme`.

What a module is made of stands in the folders beside this file, with @words@ in the place of names.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyorch.base.errors import Problem, UserError, one_of, refusal, suggest
from pyorch.base.files import telling
from pyorch.base.paths import Paths
from pyorch.build.sources import Module, present_modules, registered_types
from pyorch.build.toolchain import Ns3, find_ns3
from pyorch.files.keys import KEYS
from pyorch.setting.attributes import SECTIONS, kebab_case

#: Kinds of schemes, as the option spells them, and the folders with their files.
KINDS = {
    kind: kind.replace("-", "_")
    for kind in (
        "flow-control",
        "pause",
        "congestion-control",
        "int-congestion-control",
        "buffer-policy",
        "forwarding-policy",
        "table",
    )
}
#: Template -> where it goes in the module.
FILES = {
    "../common/CMakeLists.txt": "CMakeLists.txt",
    "KIND.h": "model/MODULE-KIND.h",
    "KIND.cc": "model/MODULE-KIND.cc",
    "KIND-test-suite.cc": "test/MODULE-KIND-test-suite.cc",
    "module.rst": "doc/MODULE.rst",
    "comparison.toml": "comparison.toml",
    "two-to-one.toml": "experiments/two-to-one.toml",
}
TEMPLATES = Path(__file__).parent
LONGEST_NAME = 32
#: A study that every new scheme of a kind joins.
COMPARING = dict.fromkeys(("flow-control", "pause"), "gfc/two-to-one") | {
    "buffer-policy": "dsh/burst"
}
#: First MAC control opcode that new schemes have, and how many there are.
FIRST_OPCODE, OPCODES = 0x0E00, 0x100

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*")
_OPCODE = re.compile(r"OPCODE\s*=\s*(?P<value>0x[0-9a-fA-F]+)")
#: C++20, and names that ns-3 and this project have for other things.
_RESERVED_WORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const
consteval constexpr constinit continue decltype default delete do double else enum explicit export
extern false final float for friend goto if import inline int long module mutable namespace new
noexcept not nullptr operator or override private protected public register requires return short
signed sizeof static struct switch template this throw true try typedef typeid typename union
unsigned using virtual void volatile while xor ns3 std tests test
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


@dataclass(frozen=True)
class Names:
    """Every form in which the name of a scheme appears, from "early-pause"."""

    module: str

    @property
    def namespace(self) -> str:
        """Its C++ namespace: "earlypause"."""
        return self.module.replace("-", "")

    @property
    def cpp_class(self) -> str:
        """Its class: "EarlyPause"."""
        return "".join(part.capitalize() for part in self.module.split("-"))

    @property
    def type_id(self) -> str:
        """Its TypeId: "ns3::earlypause::EarlyPause"."""
        return f"ns3::{self.namespace}::{self.cpp_class}"

    @property
    def title(self) -> str:
        """Its title in prose: "Early pause"."""
        return self.module.replace("-", " ").capitalize()

    @property
    def identifier(self) -> str:
        """The beginning of its numbers in a summary: "early_pause"."""
        return self.module.replace("-", "_")

    def words(self, kind: str, opcode: int) -> dict[str, str]:
        """What stands in the templates, and what comes in its place."""
        return {
            "module": self.module,
            "namespace": self.namespace,
            "Class": self.cpp_class,
            "GUARD": self.identifier.upper(),
            "name": self.identifier,
            "title": self.title,
            "underline": "-" * len(self.title),
            "kind": kind,
            "opcode": f"0x{opcode:04x}",
            "more": " ${libpfc}" if kind == "pause" else "",
        }


def make_module(name: str, kind: str, home: Path, paths: Paths) -> Path:
    """Make the folder HOME/NAME with a complete module, and return it.

    Raises UserError when the name or the kind will not do; then nothing is made.
    """
    modules = present_modules(paths.modules)
    problems = [*_kind_problems(kind), *name_problems(name, home, modules, find_ns3())]
    if problems:
        raise UserError(problems)
    opcode = free_opcode(name, taken_opcodes(modules))
    words = Names(name).words(kind, opcode)
    place = home / name
    with telling(place):
        for template, target in FILES.items():
            source = TEMPLATES / KINDS[kind] / template.replace("KIND", kind)
            if not source.exists():
                continue  # a table has no variants to compare
            file = place / target.replace("MODULE", name).replace("KIND", kind)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fill(source.read_text(encoding="utf-8"), words), encoding="utf-8")
    _format(sorted(place.rglob("*.h")) + sorted(place.rglob("*.cc")), paths)
    return place


def fill(text: str, words: Mapping[str, str]) -> str:
    """Return a template with every @word@ replaced. Raises KeyError for a word not known."""
    return re.sub(r"@(\w+)@", lambda match: words[match[1]], text)


def _kind_problems(kind: str) -> list[Problem]:
    if kind in KINDS:
        return []
    return [
        Problem("--kind", f"{kind!r} is not a kind of scheme", one_of(KINDS), suggest(kind, KINDS))
    ]


def name_problems(name: str, home: Path, modules: Iterable[Module], ns3: Ns3) -> list[Problem]:
    """Say why a new module in `home` cannot have a name; empty when it can."""
    names = Names(name)
    good = _NAME.fullmatch(name) and kebab_case(names.cpp_class) == name
    if not good or len(name) > LONGEST_NAME:
        lower = re.sub(r"[^a-z0-9]+", "-", kebab_case(name)).strip("-")
        hint = f"did you mean {lower!r}?" if lower != name and _NAME.fullmatch(lower) else None
        allowed = (
            "words of small letters and digits that begin with a letter, joined by '-' "
            f"(early-pause), {LONGEST_NAME} characters at most; no word of one letter after a '-'"
        )
        return [Problem("NAME", f"{name!r} is not a valid module name", allowed, hint)]
    taken = _taken_by(names, home, list(modules), ns3)
    return [Problem("NAME", f"{name!r} is taken: {by}", None, "choose another") for by in taken[:1]]


def _taken_by(names: Names, home: Path, modules: list[Module], ns3: Ns3) -> list[str]:
    """What has the name already."""
    found = [f"the module in {one.folder}" for one in modules if one.name == names.module]
    if os.path.lexists(home / names.module):  # Path.exists raises on names that are too long
        found.append(f"there is {home / names.module}")
    if names.namespace in _RESERVED:
        found.append(f"{names.namespace!r} has a meaning in C++ or ns-3")
    if any(one.name.replace("-", "") == names.namespace for one in modules):
        found.append(f"a module has the namespace ns3::{names.namespace}")
    if (ns3.include / "ns3" / f"{names.module}-module.h").is_file():
        found.append("a module of ns-3")
    if names.module in KEYS or names.identifier in (*KEYS, *SECTIONS.values()):
        found.append(f"experiment files have a section or key [{names.identifier}]")
    sections = {
        kebab_case(type_name.rsplit("::", 1)[-1]): type_name for type_name in _types(modules)
    }
    if names.module in sections:
        found.append(f"{sections[names.module]} has the section [{names.module}]")
    return found


def _types(modules: Iterable[Module]) -> list[str]:
    """TypeIds that the sources of modules register."""
    return [name for text in _model_sources(modules) for name in registered_types(text)]


def taken_opcodes(modules: Iterable[Module]) -> set[int]:
    """MAC control opcodes that the sources of modules use."""
    texts = _model_sources(modules)
    return {int(match["value"], 16) for text in texts for match in _OPCODE.finditer(text)}


def free_opcode(name: str, taken: set[int]) -> int:
    """Return the MAC control opcode of a new scheme: always the same for a name, unless taken.

    Raises UserError when all are taken.
    """
    first = hashlib.sha256(name.encode()).digest()[0]
    offers = [FIRST_OPCODE + (first + step) % OPCODES for step in range(OPCODES)]
    free = next((opcode for opcode in offers if opcode not in taken), None)
    if free is None:
        raise refusal("NAME", f"all {OPCODES} opcodes of new schemes are taken")
    return free


def _model_sources(modules: Iterable[Module]) -> list[str]:
    files = [file for module in modules for file in module.files(("model",))]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]


def _format(files: list[Path], paths: Paths) -> None:
    """Break lines as ns-3 does: where, depends on the length of the names."""
    beside = Path(sys.executable).parent / "clang-format"
    program = str(beside) if beside.exists() else "clang-format"
    style = f"--style=file:{paths.format_style}"
    try:
        subprocess.run([program, style, "-i", *map(str, files)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print(
            "clang-format is missing or failed: some lines may be longer than 100 columns "
            "(python -m pip install -e '.[dev]')",
            file=sys.stderr,
        )
