"""What an experiment file may contain: one model, the source of every list of its keys.

Sections of C++ objects, such as [buffer], are next to these keys; their names and keys come from
the built modules. The models of kinds, of [topology], [[traffic]], [[metric]] and [[figure]], come
from registries, which files and packages add to (pyorch.kinds).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import ConfigDict, Field

from pyorch.base.fields import Table
from pyorch.files.routes import RouteTable
from pyorch.setting.experiment import RunTable, TraceTable


class Whole:
    """Marks a key that belongs to the experiment as a whole: no variant and no sweep changes it."""


class First:
    """Marks a key that cannot be changed by options: --set comes too late for it."""


Compared = Literal["buffer_policy", "flow_control", "forwarding", "congestion_control"]
"""What a study may compare."""
Patch = dict[str, Any]
"""Keys that describe a run, dotted or as tables, with other values."""
Text = Annotated[str, Whole()]
Tables = list[dict[str, Any]]
"""Entries whose keys depend on the rest of the file."""


class NodeTable(Table):
    """[[node]]: sections of C++ objects that apply to some nodes, or ports of nodes, only."""

    names: str | list[str] = Field(
        description="Nodes, ports such as 's0:h0', or patterns such as 'spine*' and 'leaf*:h*'."
    )
    label: str | None = Field(
        default=None, description="A name by which `--set` refers to the entry."
    )


class VariantsTable(Table):
    """[variants]: a variant is a table NAME; others come from files and from modules."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Patch]

    schemes: list[str] = Field(
        default=[], description="Tuned schemes by name: 'pfc+dcqcn'. `variants = [...]` is short."
    )
    files: str | list[str] = Field(
        default=[], description="Files with variants, relative to this one: 'schemes/*.toml'."
    )
    modules: Compared | list[Compared] = Field(
        default=[], description="Kinds of schemes to compare; modules add variants of them."
    )


class SweepTable(Table):
    """[sweep]: dotted keys, each with a list of values; a scenario is several keys with theirs."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Any]

    scenario: dict[str, Patch] = Field(
        default={}, description="Named sets of changes, each run with every variant."
    )


class ExperimentFile(Table):
    """The keys at the top of an experiment file, in the order in which messages list them."""

    title: Text = Field(description="A one-line description of the study.")
    question: Text = Field(default="", description="The question that it answers.")
    source: Text = Field(default="", description="Its source: a paper, a section.")
    include: Annotated[list[str], Whole(), First()] = Field(
        default=[], description="Files, relative to this one, whose keys this one overrides."
    )
    kinds: Annotated[list[str], Whole(), First()] = Field(
        default=[], description="Python files with your own kinds, relative to this one."
    )
    set: Annotated[dict[str, list[str]], Whole(), First()] = Field(
        default={}, description="Named lists of `--set` options: `--set NAME` applies them all."
    )
    run: RunTable = Field(description="Duration, seeds, and what counts as success.")
    topology: dict[str, Any] = Field(description="The network, by its 'kind'.")
    flow_control: list[str] = Field(default=[], description="Flow controls on every port.")
    agents: list[str] = Field(default=[], description="Agents of switches.")
    host_agents: list[str] = Field(default=[], description="Agents of hosts.")
    forwarding: str = Field(default="", description="How switches choose among equal-cost paths.")
    congestion_control: str = Field(default="", description="Of every queue pair; default none.")
    buffer_policy: str = Field(default="", description="How a switch's packet buffer is divided.")
    node: list[NodeTable] = Field(default=[], description="Sections for some nodes only.")
    route: list[RouteTable] = Field(
        default=[], description="Routes that differ from the shortest paths."
    )
    traffic: Tables = Field(description="Flows, by their 'kind'.")
    fault: Tables = Field(default=[], description="Faulty hosts, by their 'kind'.")
    variants: Annotated[VariantsTable | list[str], Whole()] = Field(
        default_factory=VariantsTable,
        description="Sets of changes that are compared, or the names of tuned schemes.",
    )
    sweep: Annotated[SweepTable, Whole()] = Field(
        default_factory=SweepTable, description="Keys, and the values to sweep over."
    )
    trace: list[TraceTable] = Field(default=[], description="Tables to record.")
    metric: Annotated[Tables, Whole()] = Field(
        default=[], description="Numbers computed for every run, by their 'kind'."
    )
    figure: Annotated[Tables, Whole()] = Field(
        default=[], description="Figures of the report, by their 'kind'."
    )
    expect: Annotated[Tables, Whole()] = Field(
        default=[], description="Expected values, with source and tolerance."
    )


def _marked(mark: type) -> frozenset[str]:
    fields = ExperimentFile.model_fields.items()
    return frozenset(
        name for name, info in fields if any(isinstance(one, mark) for one in info.metadata)
    )


WHOLE_OF_RUN = frozenset(("run", key) for key in ("seeds", "time_limit", "threads"))
"""Keys of [run] that belong to the experiment as a whole."""


def is_whole(path: Sequence[str]) -> bool:
    """Whether a key belongs to the experiment as a whole, so that no setting may change it."""
    return path[0] in WHOLE or tuple(path[:2]) in WHOLE_OF_RUN


EACH = "each"
"""In an entry of a list: tables, each of which gives one entry."""
SCENARIO = "scenario"
"""In [sweep]: named sets of changes, swept under this key."""
#: Keys at the top of a file that are not sections of C++ objects.
KEYS = tuple(ExperimentFile.model_fields)
#: Those that no variant and no sweep changes, and those that --set does not change either.
WHOLE, FIRST = _marked(Whole), _marked(First)
#: Those that are text, and tables that every file has.
TEXTS = tuple(
    name for name in KEYS if name in WHOLE and ExperimentFile.model_fields[name].annotation is str
)
NEEDED = tuple(
    name
    for name, info in ExperimentFile.model_fields.items()
    if info.is_required() and name not in TEXTS
)
#: Those that are lists of tables, such as [[traffic]].
ENTRIES = tuple(
    name
    for name, info in ExperimentFile.model_fields.items()
    if get_origin(info.annotation) is list and get_args(info.annotation)[0] is not str
)
