"""`show`: what an experiment would run."""

from __future__ import annotations

import itertools
import shlex
import shutil
import sys
import textwrap
import webbrowser
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import one_of, refusal, shown
from pyorch.base.files import refuse_links, storage_error
from pyorch.base.units import rounded_bytes
from pyorch.cli import door
from pyorch.cli.base import OK, listing
from pyorch.pipeline import Plan
from pyorch.remarks import runs_text
from pyorch.study import Study

if TYPE_CHECKING:
    from pyorch.plan import RunSpec

SHOWN_RUNS, FEW_RUNS = 40, 3
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
    details: bool = False,
) -> int:
    """Print what an experiment would run, what it asks of network and machine, if it is ready.

    picture: a file to draw its network into; "" for network.svg in its results. in_browser: open it
    in one. details: all runs, the settings of the first, what varies, and defaults.
    """
    study = Study.named(name, overrides, seeds=seeds)
    plan = study.plan()
    for label in ("title", "question", "source"):
        text = getattr(plan.experiment, label, "")
        if text:
            print(shown(f"{label + ':':<10}{text}"))
    remarks = study.remarks_on_plan()
    print_runs(plan, remarks, SHOWN_RUNS if details else FEW_RUNS)
    _print_cycles(plan.specs, details)
    if not details:
        _print_messages(plan.specs[0])
    _print_demand(plan, any(remark.startswith("offered:") for remark in remarks))
    if details:
        _print_settings(plan)
    if picture is not None:
        file = draw(plan, picture).absolute()
        print(f"\npicture of the first run: {file}")
        if in_browser and not webbrowser.open(file.as_uri()):
            print("no browser was found: open it yourself", file=sys.stderr)
    _print_readiness(plan, name, remarks, details)
    return OK


def _print_demand(plan: Plan, overloaded: bool) -> None:
    """Print what the flows ask of the links, and the runs of this machine.

    overloaded: it has been said that a link gets too much on average.
    """
    from pyorch.remarks.demand import cost_text, demands, speed_here

    found = demands(plan.experiment, plan.specs)
    if not found:
        return
    most = max((demand for demand, _ in found), key=lambda demand: demand.highest)
    told = f"{most.flows:,} flows, {rounded_bytes(int(most.payload))}"
    print(shown(f"\noffered by {told}: {most.told or 'they wait for each other, not for a time'}"))
    if most.highest > 1 and not overloaded:
        print("above 100 %: so many flows were drawn here; queues there last until the run's end")
    speed, figures = speed_here(plan.store.paths.results), len(plan.experiment.figures)
    cost = cost_text(found, len(plan.missing), speed, figures)
    print(shown(f"cost: {cost}"))


def _print_messages(spec: RunSpec) -> None:
    """Print what there is to say of many messages of files."""
    from pyorch.traffic.base import label_of
    from pyorch.traffic.columns import Columns, summary

    for number, entry in enumerate(spec.setting.traffic):
        columns = getattr(entry, "columns", None)
        if isinstance(columns, Columns):
            print(shown(f"\n{label_of(entry, number)}:"))
            for key, value in summary(columns).items():
                print(shown(f"  {key:<16}  {value}"))


def _print_readiness(plan: Plan, name: str, remarks: Sequence[str], details: bool) -> None:
    """Print whether the experiment can be run as it is, as the last line."""
    print()
    if not details:
        call = f"invoke show {shlex.quote(name)} --details"
        door.say(f"`{call}` has all runs, settings and defaults")
    wrong = sum(remark.startswith(("warning:", "offered:")) for remark in remarks)
    missing = len(plan.missing)
    if not missing:
        print("done: all runs are there")
    elif wrong:
        are = "a warning" if wrong == 1 else f"{wrong} warnings"
        print(f"ready to run, but there {'is' if wrong == 1 else 'are'} {are} above")
    else:
        print(f"ready: {runs_text(missing)} to do")


def _print_settings(plan: Plan) -> None:
    """Print the settings of the first run with their units, what varies, and its defaults."""
    from pyorch.report.setting import setting, sources, unset

    types = plan.experiment.types
    varying = setting(plan.specs, types).varying
    for what, rows in (
        ("what varies", varying),
        ("settings of the first run", setting(plan.specs[:1], types).common),
    ):
        width = min(max((len(key) for key, _ in rows), default=0), 44)
        if rows:
            print(f"\n{what}:")
        for key, value in rows:
            print(shown(f"  {key:<{width}}  {value}"))
    defaults = unset(plan.specs[0].setting, types) if types is not None else {}
    space = "\N{NO-BREAK SPACE}"
    told = {
        section: ", ".join(f"{key}{space}{value}" for key, value in values.items())
        for section, values in defaults.items()
    }
    origins = sources(plan.specs[0].setting, types) if types is not None else {}
    _print_wrapped("sources of values of presets and standards:", origins)
    _print_wrapped("defaults of what it leaves unset (`invoke schemes NAME` explains them):", told)


def _print_wrapped(head: str, texts: Mapping[str, str]) -> None:
    """Print texts, each beside its name."""
    width = max(map(len, texts), default=0)
    columns = min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns)
    wrap = textwrap.TextWrapper(max(40, columns - width - 4), break_on_hyphens=False)
    if texts:
        door.say(f"\n{head}")
    for name, text in texts.items():
        for number, line in enumerate(wrap.wrap(text)):
            label = "" if number else name
            print(shown(f"  {label:<{width}}  {line}".replace("\N{NO-BREAK SPACE}", " ")))


def draw(plan: Plan, picture: str) -> Path:
    """Draw the network, the flows' ways and their cycle of the first run; return the file.

    Raises UserError.
    """
    from pyorch.report.planned import FORMATS, planned_map, save

    file = Path(picture) if picture else plan.store.root / "network.svg"
    if file.suffix not in FORMATS:
        raise refusal(f"--out {file}", "is not a name of a picture", one_of(FORMATS))
    spec = plan.specs[0]
    refuse_links(file.parent, plan.store.paths.results)
    try:
        save(planned_map(spec.setting, spec.seed, f"{plan.store.name}, {spec.title}"), file)
    except OSError as error:
        raise storage_error(error, file) from error
    return file


def _print_cycles(specs: Sequence[RunSpec], details: bool) -> None:
    """Say which runs have flows with a cyclic buffer dependency, and print the cycles.

    details: all of them, not one of each verdict.
    """
    from pyorch.network import topology
    from pyorch.setting.dependency import describe_cycle, flow_cycle
    from pyorch.setting.tagger import TAGGER, lossless_classes

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
        types = ("ns3::lossless::Switch", *(TAGGER for one in setting.agents if one == TAGGER))
        attributes = (frozenset(setting.attributes.get(one, {}).items()) for one in types)
        key = (spec.seed, setting.topology, setting.run, *lists, *attributes)
        key = (*key, lossless_classes(setting))
        if key not in found and (len(found) >= MOST_SCENES or nodes >= MOST_NODES):
            continue
        if key not in found:
            cycle = flow_cycle(setting, spec.seed)
            network = topology.build(setting.topology)
            found[key] = describe_cycle(cycle, network.end_names)
            nodes += len(network.names)
        runs.setdefault(found[key], []).append(spec)
        looked += 1
    print("\nbuffer dependencies of the flows:")
    texts: dict[str, list[str]] = {}
    for text in runs:
        texts.setdefault(text if details else text.partition(":")[0], []).append(text)
    for one in itertools.islice(texts.values(), SHOWN_CYCLES):
        same = [spec for text in one for spec in runs[text]]
        which = "all runs" if len(same) == len(specs) else runs[one[0]][0].title
        more = f" and {len(same) - 1} more" if 1 < len(same) < len(specs) else ""
        others = f" (and {len(one) - 1} more cycles)" if len(one) > 1 else ""
        print(f"  {which}{more}: {one[0]}{others}")
    if len(texts) > SHOWN_CYCLES:
        print(f"  ... and {len(texts) - SHOWN_CYCLES} more cycles")
    if looked < len(specs):
        print(f"  ({runs_text(len(specs) - looked)} not looked at)")


def print_runs(plan: Plan, remarks: Sequence[str], most: int = SHOWN_RUNS) -> None:
    """Print how many runs there are, how many are done, what is to be said, and the first ones."""
    missing = {id(spec) for spec in plan.missing}
    total = len(plan.specs)
    print(f"runs:     {total}, {total - len(missing)} of them done")
    print(f"results:  {plan.store.root}\n")
    if remarks:
        print("\n".join(remarks) + "\n")

    width = len(str(min(total, most)))
    for number, spec in enumerate(plan.specs[:most], 1):
        run_hash = spec.hash(plan.build.fingerprint)
        problem = plan.store.problem(run_hash) if id(spec) in missing else None
        state = "done" if id(spec) not in missing else "damaged" if problem else "to do"
        print(f"  {number:>{width}}  {run_hash}  {state:<7}  {spec.title}")
        if problem:
            print(f"  {'':{width}}  {problem}")
    if total > most:
        print(f"  ... and {total - most} more")
