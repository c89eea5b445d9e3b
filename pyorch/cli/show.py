"""`show`: what an experiment would run."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
import webbrowser
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import Problem, UserError, one_of, shown
from pyorch.base.files import refuse_links, storage_error
from pyorch.cli import door
from pyorch.cli.base import OK, listing
from pyorch.pipeline import Plan
from pyorch.remarks import runs_text
from pyorch.study import Study

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

SHOWN_RUNS = 40
SHOWN_CYCLES = 10
WIDEST = 100
#: Scenes whose buffer dependencies `show` looks at, and their nodes: more would take minutes.
MOST_SCENES, MOST_NODES = 200, 20_000


@listing
def show(
    name: str,
    overrides: Sequence[str] = (),
    seeds: str = "",
    picture: str | None = None,
    in_browser: bool = False,
) -> int:
    """Print what an experiment would run: its question, its runs, the settings of the first.

    picture: a file to draw its network into; "" for network.svg in its results. in_browser: open it
    in one.
    """
    study = Study.named(name, overrides, seeds=seeds)
    plan = study.plan()
    for label in ("title", "question", "source"):
        text = getattr(plan.experiment, label, "")
        if text:
            print(shown(f"{label + ':':<10}{text}"))
    print_runs(plan, study.remarks_on_plan())
    _print_cycles(plan.specs)
    _print_settings(plan)
    if picture is not None:
        file = draw(plan, picture).absolute()
        print(f"\npicture of the first run: {file}")
        if in_browser and not webbrowser.open(file.as_uri()):
            print("no browser was found: open it yourself", file=sys.stderr)
    return OK


def _print_settings(plan: Plan) -> None:
    """Print the settings of the first run with their units, and what it has by default."""
    from pyorch.report.setting import setting, unset

    types = plan.experiment.types
    rows = setting(plan.specs[:1], types).common
    width = min(max((len(key) for key, _ in rows), default=0), 44)
    print("\nsettings of the first run:")
    for key, value in rows:
        print(shown(f"  {key:<{width}}  {value}"))
    defaults = unset(plan.specs[0].setting, types) if types is not None else {}
    width = max(map(len, defaults), default=0)
    columns = min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns)
    if defaults:
        door.say("\ndefaults of what it leaves unset (`invoke schemes NAME` explains them):")
    for section, values in defaults.items():
        texts = [f"{key}\N{NO-BREAK SPACE}{value}" for key, value in values.items()]
        wrap = textwrap.TextWrapper(max(40, columns - width - 4), break_on_hyphens=False)
        for number, line in enumerate(wrap.wrap(", ".join(texts))):
            name = "" if number else section
            print(shown(f"  {name:<{width}}  {line}".replace("\N{NO-BREAK SPACE}", " ")))


def draw(plan: Plan, picture: str) -> Path:
    """Draw the network, the flows' ways and their cycle of the first run; return the file.

    Raises UserError.
    """
    from pyorch.report.planned import FORMATS, planned_map, save

    file = Path(picture) if picture else plan.store.root / "network.svg"
    if file.suffix not in FORMATS:
        what = "is not a name of a picture"
        raise UserError([Problem(f"--out {file}", what, one_of(FORMATS), None)])
    spec = plan.specs[0]
    refuse_links(file.parent, plan.store.paths.results)
    try:
        save(planned_map(spec.setting, spec.seed, f"{plan.store.name}, {spec.title}"), file)
    except OSError as error:
        raise storage_error(error, file) from error
    return file


def _print_cycles(specs: Sequence[RunSpec]) -> None:
    """Say which runs have flows with a cyclic buffer dependency, and print the cycles."""
    from pyorch.network import topology
    from pyorch.setting.dependency import describe_cycle, flow_cycle

    switch = "ns3::lossless::Switch"
    found: dict[Hashable, str] = {}
    runs: dict[str, list[RunSpec]] = {}
    looked = nodes = 0
    seeds: set[int] = set()
    for spec in specs:
        setting = spec.setting
        if len(found) >= MOST_SCENES and spec.seed not in seeds:
            continue  # the seed is part of a scene
        seeds.add(spec.seed)
        lists = (tuple(part) for part in (setting.traffic, setting.routes, setting.nodes))
        attributes = frozenset(setting.attributes.get(switch, {}).items())
        key = (spec.seed, setting.topology, setting.run, *lists, attributes)
        if key not in found and (len(found) >= MOST_SCENES or nodes >= MOST_NODES):
            continue
        if key not in found:
            cycle = flow_cycle(setting, spec.seed)
            names = topology.build(setting.topology).names
            found[key] = describe_cycle(cycle, names)
            nodes += len(names)
        runs.setdefault(found[key], []).append(spec)
        looked += 1
    print("\nbuffer dependencies of the flows:")
    for text, same in itertools.islice(runs.items(), SHOWN_CYCLES):
        which = "all runs" if len(same) == len(specs) else same[0].title
        more = f" and {len(same) - 1} more" if 1 < len(same) < len(specs) else ""
        print(f"  {which}{more}: {text}")
    if len(runs) > SHOWN_CYCLES:
        print(f"  ... and {len(runs) - SHOWN_CYCLES} more cycles")
    if looked < len(specs):
        print(f"  ({runs_text(len(specs) - looked)} not looked at)")


def print_runs(plan: Plan, remarks: Sequence[str]) -> None:
    """Print how many runs there are, how many are done, what is to be said, and which they are."""
    missing = {id(spec) for spec in plan.missing}
    total = len(plan.specs)
    print(f"runs:     {total}, {total - len(missing)} of them done")
    print(f"results:  {plan.store.root}\n")
    if remarks:
        print("\n".join(remarks) + "\n")

    width = len(str(min(total, SHOWN_RUNS)))
    for number, spec in enumerate(plan.specs[:SHOWN_RUNS], 1):
        run_hash = spec.hash(plan.build.fingerprint)
        problem = plan.store.problem(run_hash) if id(spec) in missing else None
        state = "done" if id(spec) not in missing else "damaged" if problem else "to do"
        print(f"  {number:>{width}}  {run_hash}  {state:<7}  {spec.title}")
        if problem:
            print(f"  {'':{width}}  {problem}")
    if total > SHOWN_RUNS:
        print(f"  ... and {total - SHOWN_RUNS} more")
