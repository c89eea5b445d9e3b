"""The data of a run, as they lie in its spec.json: integers in bit/s, ps and bytes.

Kinds of topologies, traffic, faults and metrics bring keys of their own; their models say which.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict


class RunSection(TypedDict):
    """How long a run is, and what counts as a success: [run] in canonical form."""

    duration_ps: int
    warmup_ps: int
    drain_ps: int
    allow_loss: bool
    stop_when_done: bool | Literal["acked"]
    deadlock_test_ps: int
    stop_on_deadlock: bool
    simulator: str
    oracle: NotRequired[bool]


def latest_end_ps(run: RunSection) -> int:
    """Return when a run ends at the latest [ps]."""
    return run["duration_ps"] + run["drain_ps"]


class SettingData(TypedDict):
    """One setting of an experiment. What is not required is left out where it is the default.

    attributes: TypeId -> attribute -> value. flow_control, agents, host_agents: TypeIds, as
    forwarding, buffer_policy and congestion_control are; "" is no congestion control. params: the
    variant and the swept values. kinds: texts of the files with kinds of its own, by name;
    packages: releases of the installed packages that bring some.
    """

    schema: int
    experiment: str
    run: RunSection
    topology: Mapping[str, Any]
    attributes: Mapping[str, Mapping[str, str]]
    flow_control: Sequence[str]
    agents: Sequence[str]
    host_agents: Sequence[str]
    congestion_control: str
    forwarding: NotRequired[str]
    buffer_policy: NotRequired[str]
    nodes: Sequence[Mapping[str, Any]]
    routes: Sequence[Mapping[str, Any]]
    traffic: Sequence[Mapping[str, Any]]
    faults: Sequence[Mapping[str, Any]]
    traces: Sequence[Mapping[str, Any]]
    params: Mapping[str, Any]
    kinds: NotRequired[Mapping[str, str]]
    packages: NotRequired[Mapping[str, str]]


class RunData(SettingData):
    """One run of a setting: its seed, the links that fail with it, and what is to be measured."""

    seed: int
    metrics: Sequence[Mapping[str, Any]]
