"""The cases that only plan: what is mutated, how it is given to pyorch, and what it must answer."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.campaign import mutate
from tests.campaign.mutate import Place
from tests.campaign.project import FIRST, SLURM, SPECIAL, Project, to_toml


@dataclass(frozen=True)
class Case:
    """One case.

    files: what to write into the project: bytes, or one of SPECIAL. words: the command line, empty
    when `call` is given: a function and its arguments, Python objects. about: what was done, for
    people. names: one of these a refusal must name. nobody: as a user without rights, if root can
    become one. gone: in a folder that has been deleted.
    """

    kind: str
    about: str
    files: dict[str, bytes | str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    call: tuple[str, tuple[Any, ...]] | None = None
    names: tuple[str, ...] = ()
    nobody: bool = False
    gone: bool = False


Maker = Callable[["mutate.random.Random", Project], Case]
KINDS: dict[str, tuple[int, Maker]] = {}
"""Every kind of case with its weight."""


def kind(name: str, weight: int) -> Callable[[Maker], Maker]:
    """Register a kind of case; it comes up in proportion to its weight."""

    def register(maker: Maker) -> Maker:
        KINDS[name] = (weight, maker)
        return maker

    return register


def make(seed: int, number: int, project: Project, only: str = "") -> Case:
    """Return the case of a number. only: the kinds whose names begin so, in turn."""
    rng = mutate.generator(seed, number)
    names = [name for name in KINDS if name.startswith(only)]
    name = rng.choices(names, [KINDS[one][0] for one in names])[0]
    if only:
        name = names[number % len(names)]
    return KINDS[name][1](rng, project)


# ---------------------------------------------------------------------------------------------
# Files


def _weight(project: Project, path: str) -> float:
    """Small files are read in no time, so that they come up more often."""
    return 1 / (300 + len(project.content[project.users[path]]))


def _some_file(rng: Any, project: Project, ends: tuple[str, ...], own: bool) -> str:
    """Return a shipped file; own: one that is an experiment itself."""
    paths = [
        path
        for path, user in project.users.items()
        if path.endswith(ends) and (user == path) == own
    ]
    return str(rng.choices(paths, [_weight(project, path) for path in paths])[0])


def _shown(project: Project, path: str) -> tuple[str, ...]:
    """Return the command that reads a file: as NAME, or as a path where it has no name."""
    user = project.users[path]
    if user.startswith("experiments/"):
        return ("show", user.removeprefix("experiments/").removesuffix(".toml"))
    return ("show", str(project.root / user))


def _named(project: Project, path: str) -> tuple[str, ...]:
    """Return what a message about a file may name: itself, or a file that was read with it."""
    others = () if project.users[path] == path else (".toml", ".csv", ".json")
    return (path.rpartition("/")[2], project.users[path], *others)


@kind("experiment, by structure", 30)
def _structure(rng: Any, project: Project) -> Case:
    path = FIRST if rng.random() < 0.3 else _some_file(rng, project, (".toml",), own=True)
    return _of_document(rng, project, path, "experiment, by structure")


@kind("parts and schemes, by structure", 8)
def _material(rng: Any, project: Project) -> Case:
    path = _some_file(rng, project, (".toml",), own=False)
    return _of_document(rng, project, path, "parts and schemes, by structure")


@kind("collectives as JSON, by structure", 3)
def _json(rng: Any, project: Project) -> Case:
    path = _some_file(rng, project, (".json",), own=False)
    changed, about = mutate.change_document(rng, project.document(path))
    files = {path: _json_of(changed).encode()}
    words, names = _shown(project, path), _named(project, path)
    return Case("collectives as JSON, by structure", f"{path}: {about}", files, words, None, names)


def _json_of(document: dict[str, Any]) -> str:
    """Return a document as JSON, but what Python does not write as JSON's authors would."""
    try:
        return json.dumps(document, default=str)
    except ValueError:  # an integer of too many digits
        return json.dumps({"collective": 0}).replace("0", "9" * 5000)


def _of_document(rng: Any, project: Project, path: str, name: str) -> Case:
    changed, about = project.document(path), []
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        changed, told = mutate.change_document(rng, changed)
        about.append(told)
    content = to_toml(changed).encode("utf-8", errors="surrogatepass")
    names = _named(project, path)
    return Case(
        name, f"{path}: {'; '.join(about)}", {path: content}, _shown(project, path), None, names
    )


@kind("TOML and JSON, by lines and bytes", 16)
def _text(rng: Any, project: Project) -> Case:
    own = rng.random() < 0.7
    path = _some_file(rng, project, (".toml", ".json") if not own else (".toml",), own)
    return _of_bytes(rng, project, path, "TOML and JSON, by lines and bytes")


@kind("CSV", 10)
def _csv(rng: Any, project: Project) -> Case:
    path = _some_file(rng, project, (".csv",), own=False)
    if rng.random() < 0.4:
        return _of_bytes(rng, project, path, "CSV")
    lines = project.content[path].decode().splitlines()
    spot = rng.randrange(len(lines))
    cells = lines[spot].split(",")
    column = rng.randrange(len(cells))
    pool = [mutate.odd_value(rng, cells[column]), *mutate.NUMBERS, "x" * 200_000]
    cells[column] = _argument(rng.choice(pool))
    if rng.random() < 0.1:
        cells = rng.choice([cells * 2, cells[:1], cells * 5000, ['"', *cells], [*cells, ""]])
    lines[spot] = ",".join(cells)
    content = "\n".join(lines).encode("utf-8", errors="surrogatepass")
    about = f"{path}: line {spot + 1}, cell {column + 1}"
    return Case("CSV", about, {path: content}, _shown(project, path), None, _named(project, path))


@kind("files of other tools", 12)
def _foreign(rng: Any, project: Project) -> Case:
    """Of every format of text: by words, lines and bytes."""
    ends = (".txt", ".gml", ".topo", ".cm", ".graphml", ".yml", ".goal")
    path = _some_file(rng, project, ends, own=False)
    if rng.random() < 0.5:
        return _of_bytes(rng, project, path, "files of other tools")
    words = re.split(r"(\s+)", project.content[path].decode())
    spot = rng.randrange(0, len(words), 2)
    pool = [mutate.odd_value(rng, words[spot]), *mutate.NUMBERS, "x" * 200_000, "9" * 5000]
    words[spot] = _argument(rng.choice(pool))
    if rng.random() < 0.1:
        words[spot : spot + 1] = rng.choice([[], [words[spot], "\n"] * 5000, ["\n"], ["\0"]])
    content = "".join(words).encode("utf-8", errors="surrogatepass")
    name, about = "files of other tools", f"{path}: word {spot // 2 + 1}"
    return Case(name, about, {path: content}, _shown(project, path), None, _named(project, path))


def _of_bytes(rng: Any, project: Project, path: str, name: str) -> Case:
    content = project.content[path]
    if rng.random() < 0.5:
        text, about = mutate.change_text(rng, content.decode())
        content = text.encode("utf-8", errors="surrogatepass")
    else:
        content, about = mutate.change_bytes(rng, content)
    names = _named(project, path)
    return Case(name, f"{path}: {about}", {path: content}, _shown(project, path), None, names)


@kind("no file where one should be", 3)
def _special(rng: Any, project: Project) -> Case:
    path = str(rng.choice([path for path in project.users if not path.endswith(".py")]))
    what = str(rng.choice(SPECIAL))
    files: dict[str, bytes | str] = {path: what}
    words, names = _shown(project, path), (*_named(project, path), *_shown(project, path)[1:])
    if rng.random() < 0.3:  # files that include or extend themselves, or each other
        what = "includes itself"
        path, text = rng.choice(
            [
                (FIRST, b'include = ["full.toml"]\n'),
                (FIRST, b'include = ["../campaign/full.toml", "/etc/passwd", "."]\n'),
                ("experiments/campaign/schemes/ruled.toml", b'include = ["ruled.toml"]\n'),
                ("experiments/campaign/schemes/ruled.toml", b'include = ["../full.toml"]\n'),
            ]
        )
        files = {path: text + project.content[path]}
        words, names = _shown(project, path), (*_named(project, path), "/etc/passwd")
    return Case("no file where one should be", f"{path}: {what}", files, words, None, names)


# ---------------------------------------------------------------------------------------------
# Command lines


def _argument(value: Any) -> str:
    """Return a value as one word of a command line: without NUL, not too long."""
    try:
        text = value if isinstance(value, str) else to_toml({"x": value})[6:-1]
    except ValueError:
        text = "1" * 5000
    return text.replace("\0", "")[:120_000]


def _leaf(rng: Any, document: dict[str, Any]) -> Place:
    return tuple(rng.choice(list(mutate.places(document))))


@kind("--set", 18)
def _set(rng: Any, project: Project) -> Case:
    path = FIRST if rng.random() < 0.3 else _some_file(rng, project, (".toml",), own=True)
    document = project.document(path)
    texts = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        place = _leaf(rng, document)
        key = ".".join(map(str, place))
        key = rng.choice([key, key, key, mutate.misspelt(rng, key), rng.choice(mutate.TEXTS)])
        values = [
            _argument(mutate.odd_value(rng, mutate.at(document, place)))
            for _ in range(rng.choice([1, 1, 1, 1, 2, 3]))
        ]
        ways = [f"{key}={','.join(values)}"] * 8
        ways += [f"{key}", f"={values[0]}", f"{key}={mutate.deep(rng)}", f"{key}=={values[0]}"]
        ways += [f"{key}={','.join(map(str, range(rng.choice([50, 2_000, 20_000]))))}"]
        texts.append(_argument(rng.choice(ways)))
    words = [*_shown(project, path), *(word for text in texts for word in ("--set", text))]
    return Case("--set", "; ".join(texts)[:300], {}, tuple(words), None, ("--set", path))


SEEDS = [
    *(
        "0",
        "1",
        "-1",
        "1-0",
        "5-3",
        "1-4294967295",
        "4294967295",
        "4294967296",
        "1-1e3",
        "1.5",
        " ",
    ),
    *("1-", "-", "--", "1-2-3", "9" * 30, "9" * 5000, "1-" + "9" * 5000, "\u0663", "\uff11-\uff12"),
    *(
        "\u00b2",
        "0x10",
        "1_0",
        "all",
        "1,2",
        "+5",
        " 5",
        "1 - 5",
        "1000001",
        "100000",
        "1-1",
        "nan",
    ),
]


@kind("--seeds and run.seeds", 4)
def _seeds(rng: Any, project: Project) -> Case:
    path = _some_file(rng, project, (".toml",), own=True)
    text = _argument(rng.choice([*SEEDS, *mutate.TEXTS]))
    way = rng.random()
    if way < 0.6:
        words: tuple[str, ...] = (*_shown(project, path), "--seeds", text)
    else:
        value = _argument(rng.choice([*mutate.NUMBERS, *mutate.STRUCTURES, text, [1, 2, 2**40]]))
        words = (*_shown(project, path), "--set", f"run.seeds={value}")
    return Case("--seeds and run.seeds", " ".join(words)[:300], {}, words, None, ("seeds", "--set"))


@kind("Slurm's settings", 7)
def _slurm(rng: Any, project: Project) -> Case:
    files: dict[str, bytes | str] = {}
    about = "as they are"
    if rng.random() < 0.7:
        if rng.random() < 0.3:
            content, about = mutate.change_bytes(rng, project.content[SLURM])
        else:
            document, about = mutate.change_document(rng, project.document(SLURM))
            content = to_toml(document).encode("utf-8", errors="surrogatepass")
        files[SLURM] = content
    words = ["submit", "gfc/two-to-one", "--dry-run"]
    options = ["--partition", "--account", "--time", "--mem", "--max-running", "--runs-per-job"]
    for option in rng.sample(options, rng.choice([0, 1, 2])):
        times = ["90s", "1:30:00", "2-12", "9" * 30, "99999d", "0", "1:99", "1e9h", "0-0", "-1"]
        pool = [*times, *mutate.TEXTS, *mutate.NUMBERS]
        words += [option, _argument(rng.choice(pool))]
    about = f"{SLURM}: {about}; {' '.join(words[3:])[:200]}"
    return Case("Slurm's settings", about, files, tuple(words), None, (SLURM, "--", "Slurm"))


_SIZE = ["asic", "ports", "rate", "cable", "delay", "buffer", "lossy-pool", "classes", "mtu"]
_SIZE += ["overhead", "control-delay", "alpha", "bm", "b1"]
_OTHER: list[tuple[str, list[str], list[str]]] = [
    ("list", [], []),
    ("show", ["NAME"], ["seeds", "set", "x"]),
    ("experiment", ["NAME"], ["jobs", "seeds", "set"]),
    ("report", ["NAME"], ["seeds", "set"]),
    ("trace", ["NAME", "NAME"], ["port", "until", "out", "snap", "seeds"]),
    ("schemes", ["NAME"], ["json"]),
    ("new-scheme", ["NAME"], ["kind", "folder"]),
    ("status", ["NAME"], ["watch"]),
    ("collect", ["NAME"], ["partial"]),
]


@kind("other options", 12)
def _options(rng: Any, project: Project) -> Case:
    which = rng.random()
    pool = [*mutate.TEXTS, *mutate.QUANTITIES, *mutate.NUMBERS, *SEEDS, *map(str, range(20))]
    if which < 0.3:
        words = ["size", *(["gfc/ring"] if rng.random() < 0.2 else [])]
        chosen = rng.sample(_SIZE, rng.choice([1, 2, 3]))
    else:
        verb, positional, options = rng.choice(_OTHER)
        words = [verb]
        for _ in positional:
            good = project.experiments()
            name = rng.choice([rng.choice(good), "gfc/two-to-one", rng.choice(mutate.TEXTS)])
            words.append(_argument(mutate.misspelt(rng, name) if rng.random() < 0.5 else name))
        if verb == "new-scheme":
            words += ["--folder", str(project.root / "made")]
        if verb == "experiment":
            words.append("--dry-run")
        chosen = rng.sample(options, min(len(options), rng.choice([0, 1, 2])))
    for option in chosen:
        words += [f"--{option}", _argument(rng.choice(pool))]
    return Case("other options", " ".join(words)[:300], {}, tuple(words), None, ("",))


# ---------------------------------------------------------------------------------------------
# Python objects

_OBJECTS: list[Any] = [
    *(None, b"gfc/ring", 3.5, math.nan, math.inf, object(), {}, [], (), {1}, range(3), "", True),
    *(
        -1,
        0,
        2**63,
        2**64,
        10**30,
        mutate.HUGE_INTEGER * 10,
        1 + 2j,
        ["a"],
        [None],
        [1],
        "x" * 10**5,
    ),
]


@kind("Python objects", 12)
def _objects(rng: Any, project: Project) -> Case:
    name = rng.choice(sorted(FUNCTIONS))
    odd = rng.choice(
        [rng.choice(_OBJECTS), mutate.odd_value(rng), rng.choice([*mutate.TEXTS, *SEEDS])]
    )
    if name.startswith("Study"):
        more = [_Mean(), _ITSELF, [_Mean()], {"x": _Mean()}, {1: 2}, lambda: None, type, b"\xff"]
        more += [[odd], {"x": odd}, (odd, odd), datetime.date(2024, 1, 1), decimal.Decimal("1.5")]
        odd = rng.choice([odd, rng.choice(more)])
    return Case("Python objects", f"{name}({_short(odd)})", call=(name, (odd,)), names=("",))


def _short(value: object) -> str:
    try:
        return repr(value)[:200]
    except Exception:
        return "what cannot be shown"


def _load(odd: Any) -> object:
    from pyorch.files.load import load_experiment

    return load_experiment(odd)


def _override(odd: Any) -> object:
    from pyorch.files.load import load_experiment

    return load_experiment("gfc/two-to-one", odd)


def _override_one(odd: Any) -> object:
    from pyorch.files.load import load_experiment

    return load_experiment("gfc/two-to-one", [odd])


def _expand(odd: Any) -> object:
    from pyorch.files.load import load_experiment
    from pyorch.plan import expand

    return expand(load_experiment("gfc/two-to-one"), odd)


def _read_seeds(odd: Any) -> object:
    from pyorch.plan import read_seeds

    return read_seeds(odd)


def _run_spec(odd: Any) -> object:
    from pyorch.plan import RunSpec

    return RunSpec.from_json(odd)


def _unit(name: str) -> Callable[[Any], object]:
    def call(odd: Any) -> object:
        from pyorch.base import units

        return getattr(units, name)(odd)

    return call


def _quantity(odd: Any) -> object:
    from pyorch.metrics import parse_quantity

    return parse_quantity(odd)


_UNITS = ["parse_rate", "parse_time", "parse_bytes", "format_rate", "format_time", "format_bytes"]


class _Mean:
    """It can be neither shown nor compared."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __eq__ = __hash__ = __bool__ = __iter__ = __len__ = __repr__  # type: ignore[assignment]


_ITSELF: list[Any] = []
_ITSELF.append(_ITSELF)


def _study(method: str, *before: Any) -> Callable[[Any], object]:
    """A method of a study, whose last argument is nonsense."""

    def call(odd: Any) -> object:
        from pyorch.study import Study

        study = Study.load("campaign/sealed")
        made = getattr(study, method)(*before, odd)
        return made.plan() if isinstance(made, Study) and method != "run" else made

    return call


def _study_with(key: str) -> Callable[[Any], object]:
    def call(odd: Any) -> object:
        from pyorch.study import Study

        return Study(**({"title": "t", **_TABLES} | {key: odd})).plan()

    return call


def _study_where(odd: Any) -> object:
    from pyorch.study import Study

    return Study.load("campaign/sealed").table("queue", seed=odd)


def _study_open(odd: Any) -> object:
    from pyorch.study import Study

    return Study.load("campaign/sealed").open(variant=odd)


def _study_load(odd: Any) -> object:
    from pyorch.study import Study

    return Study.load(odd).plan()


_TABLES: dict[str, Any] = {
    "run": {"duration": "10us"},
    "topology": {"kind": "star", "hosts": 2, "rate": "10Gbps", "delay": "1us"},
    "traffic": [{"kind": "greedy", "src": "h0", "dst": "h1"}],
}
_OF_STUDY = {
    **{
        f"Study({key})": _study_with(key) for key in ("name", "title", "paths", "metrics", *_TABLES)
    },
    **{f"Study.{name}": _study(name) for name in ("only", "seeds", "set", "table", "plot", "save")},
    **{f"Study.{name}": _study(name) for name in ("explain", "minimise", "prevent", "submit")},
    **{f"Study.{name}": _study(name) for name in ("map_region", "search", "report", "collect")},
    "Study.set(value)": _study("set", "buffer.alpha"),
    "Study.sweep": _study("sweep", "buffer.alpha"),
    "Study.sweep(key)": lambda odd: _study("sweep", odd)([1, 2]),
    "Study.table(where)": _study_where,
    "Study.open(where)": _study_open,
    "Study.load": _study_load,
}
FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "load_experiment": _load,
    "load_experiment(overrides)": _override,
    "load_experiment(an override)": _override_one,
    "expand(seeds)": _expand,
    "read_seeds": _read_seeds,
    "RunSpec.from_json": _run_spec,
    "parse_quantity": _quantity,
    **{name: _unit(name) for name in _UNITS},
    **_OF_STUDY,
}
"""Functions that programs call, with one argument that is nonsense."""
