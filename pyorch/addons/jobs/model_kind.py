"""Traffic of kind `transformer`: one iteration of training, as a GOAL schedule.

Ranks are numbered as in Megatron-LM: those of a tensor group first, then data, then pipeline. A
stage has layers / pipeline layers. Forward, a layer of hidden size h takes 24 b s h^2 + 4 b s^2 h
floating-point operations for b sequences of s tokens (Narayanan et al., SC 2021, without
recomputation), backward twice as many, shared by a tensor group; of a mixture of experts 16 b s h^2
of them count once for each active expert. Two all-reduces of b s h elements go with a layer each
way (Shoeybi et al., arXiv 1909.08053), and, of a mixture, two all-to-all of the tokens for
`active_experts`. Each rank of a stage sends its share of b s h elements to the next stage, and
back. Layers of a stage that nothing else interrupts compute and communicate as one: latencies of
their collectives count once.

The schedule is 1F1B (Narayanan et al., SOSP 2019). The gradients of 12 h^2 parameters a layer are
summed at the end, or, with `overlap`, layer by layer during the last backward pass; of a mixture
those of 4 h^2, and those of an expert's 8 h^2 among the data / experts ranks that have it.
Embeddings, routers and the optimiser are left out.

Of inference, without `training`, there are the forward passes alone, layer by layer, and the two
collectives of a layer one after the other. Prefill has sequences of prompts; in a step of decoding
`sequence` is 1, and `context` the tokens that it looks back on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from pyorch.addons.jobs.chakra import Node
from pyorch.addons.jobs.chakra_schedule import COLLECTIVES, Reading
from pyorch.addons.jobs.goal_kind import LONGEST
from pyorch.addons.jobs.scheduled import ScheduledTable, computed_too_long
from pyorch.base.errors import Problem
from pyorch.traffic.base import Check, TrafficTable, traffic

ATTENTION = 4
"""Parameters of a layer's attention, in units of the square of the hidden size."""
PERCEPTRON = 8
"""Those of its perceptron, or of each expert of a mixture."""
MOST_NODES = 2_000_000
"""Computations and communications of all ranks."""


@traffic("transformer")
class Transformer(ScheduledTable):
    """An iteration of training a transformer, or a step of inference, from its sizes.

    Its collectives are `tensor`, `experts`, `gradients` and `expert_gradients`.
    """

    source = (
        "Narayanan et al.: Megatron-LM, SC 2021 (schedule, operations); our own simplifications"
    )

    layers: int = Field(ge=1, le=10_000, description="Layers; each stage has as many.")
    hidden: int = Field(ge=1, le=1_000_000, description="Hidden size.")
    sequence: int = Field(ge=1, le=100_000_000, description="Tokens of a sequence.")
    context: int | None = Field(
        default=None, ge=1, le=100_000_000, description="Tokens that each attends to; none: those."
    )
    training: bool = Field(
        default=True, description="False: inference, forward passes layer by layer."
    )
    tensor: int = Field(default=1, ge=1, description="Ranks that share each layer.")
    pipeline: int = Field(default=1, ge=1, description="Stages.")
    data: int = Field(default=1, ge=1, description="Ranks that have the same weights.")
    experts: int = Field(
        default=1,
        ge=1,
        description="Of these, ranks that have one expert of a layer each; 1: none.",
    )
    active_experts: int = Field(default=2, ge=1, description="Experts that see a token.")
    micro_batches: int = Field(default=1, ge=1, description="Micro-batches of an iteration.")
    micro_batch: int = Field(default=1, ge=1, description="Sequences of each.")
    element: int = Field(default=2, ge=1, le=8, description="Bytes of an element.")
    flops: float = Field(gt=0, description="Floating-point operations that a rank does per second.")
    overlap: bool = Field(
        default=True, description="Sum gradients while the last micro-batch is still computed."
    )

    @property
    def ranks(self) -> int:
        """Return the number of ranks."""
        return self.tensor * self.data * self.pipeline

    @override
    def resolve(self, check: Check) -> TrafficTable | None:
        if not self._fits(check):
            return None
        traces = [(f"rank {rank}", _Rank(self, rank).nodes()) for rank in range(self.ranks)]
        too_long = computed_too_long(traces[0][1])
        if too_long is not None:
            check.add("flops", too_long, LONGEST, "a larger value, or less work")
            return None
        return self.as_goal(check, traces, Reading(_groups(self), self.algorithms or {}))

    @override
    def tell(self, check: Check, problems: Sequence[Problem]) -> None:
        for one in dict.fromkeys(problems):
            check.add(one.where, one.what, one.allowed, one.hint)

    def _fits(self, check: Check) -> bool:
        """Whether ranks and layers can be divided so; note what cannot."""
        before = len(check.findings.problems)
        if self.layers % self.pipeline:
            what = f"{self.layers} layers in {self.pipeline} stages"
            check.add("pipeline", what, "a number that divides 'layers'")
        if 1 < self.experts < self.active_experts:
            what = f"{self.active_experts} of {self.experts} experts"
            check.add("active_experts", what, f"at most {self.experts}")
        if self.model_fields_set & {"experts", "active_experts"} == {"active_experts"}:
            check.add("active_experts", "of a mixture of experts", None, "give 'experts', too")
        if self.hidden % self.tensor:
            what = f"{self.hidden} in {self.tensor} parts"
            check.add("tensor", what, "a number that divides 'hidden'")
        if self.data % self.experts:
            what = f"{self.experts} of {self.data} ranks"
            check.add("experts", what, "a number that divides 'data'")
        if self.ranks == 1:
            check.add("data", "a single rank has no network", "tensor x data x pipeline from 2")
        hosts = len(check.hosts("hosts", self.hosts or ["all"]) or ())
        if hosts and hosts < self.ranks:
            what = f"{self.ranks} ranks (tensor x data x pipeline) on {hosts} hosts"
            check.add("hosts", what, "a host for each rank")
        layers = self.layers // self.pipeline
        steps = self.micro_batches * (12 if self.training else 5 * layers)
        nodes = self.ranks * (steps + 3 * layers)
        if nodes > MOST_NODES:
            check.add("micro_batches", f"about {nodes:,} steps", f"at most {MOST_NODES:,}")
        self.check_algorithms(check)
        return len(check.findings.problems) == before


def _groups(model: Transformer) -> dict[str, list[int]]:
    """Return the ranks of each process group."""
    groups: dict[str, list[int]] = {}
    for number in range(model.ranks):
        for name in _Rank(model, number).groups.values():
            groups.setdefault(name, []).append(number)
    return groups


class _Rank:
    """What a rank does, as the nodes of a trace."""

    def __init__(self, model: Transformer, number: int) -> None:
        self.model, self.number = model, number
        place, rest = number % model.tensor, number // model.tensor
        copy, self.stage = rest % model.data, rest // model.data
        self.groups = {
            "tensor": f"tensor {copy} {self.stage}",
            "gradients": f"gradients {place} {self.stage}",
            "experts": f"experts {place} {copy // model.experts} {self.stage}",
            "expert_gradients": f"expert_gradients {place} {copy % model.experts} {self.stage}",
        }
        self.layers = model.layers // model.pipeline
        self.tokens = model.micro_batch * model.sequence
        self.made: list[Node] = []

    def nodes(self) -> list[Node]:
        """Return all that it does."""
        last: tuple[int, ...] = ()
        for backward, number in self._order():
            final = backward and number == self.model.micro_batches - 1
            last = self._pass(backward, number, last, final and self.model.overlap)
        if self.model.training and not self.model.overlap:
            self._sum(self.layers, last)
        return self.made

    def _order(self) -> Iterator[tuple[bool, int]]:
        """Yield whether a pass is backward, and its micro-batch: 1F1B."""
        number = self.model.micro_batches
        if not self.model.training:
            yield from ((False, one) for one in range(number))
            return
        ahead = min(self.model.pipeline - 1 - self.stage, number)
        yield from ((False, one) for one in range(ahead))
        for one in range(number - ahead):
            yield False, ahead + one
            yield True, one
        yield from ((True, one) for one in range(number - ahead, number))

    def _pass(
        self, backward: bool, number: int, last: tuple[int, ...], sums: bool
    ) -> tuple[int, ...]:
        """Add a pass of a micro-batch. sums: gradients, each layer's when it has been computed."""
        model, across = self.model, self.model.tensor * self.model.data
        bytes_ = self.tokens * model.hidden * model.element
        part = max(1, bytes_ // model.tensor)  # that the same rank of the other stage lacks
        behind, before = (1, -1) if backward else (-1, 1)  # stages it comes from and goes to
        tag = number + (model.micro_batches if backward else 0)
        if 0 <= self.stage + behind < model.pipeline:
            peer = self.number + behind * across
            last += self._add("COMM_RECV_NODE", (), comm_size=part, comm_tag=tag, comm_src=peer)
        for layers in [1] * self.layers if sums or not model.training else [self.layers]:
            last = self._compute(layers, backward, last)
            if sums:
                self._sum(1, last)
            last = self._exchange(layers, bytes_, last)
        if 0 <= self.stage + before < model.pipeline:
            peer = self.number + before * across
            self._add("COMM_SEND_NODE", last, comm_size=part, comm_tag=tag, comm_dst=peer)
        return last

    def _compute(self, layers: int, backward: bool, last: tuple[int, ...]) -> tuple[int, ...]:
        model = self.model
        active = model.active_experts if model.experts > 1 else 1
        linear = 2 * (ATTENTION + PERCEPTRON * active) * self.tokens * model.hidden**2
        attention = 4 * self.tokens * (model.context or model.sequence) * model.hidden
        work = layers * (linear + attention) * (2 if backward else 1) / model.tensor
        return self._add("COMP_NODE", last, place="flops", duration=work / model.flops * 1e6)

    def _exchange(self, layers: int, bytes_: int, last: tuple[int, ...]) -> tuple[int, ...]:
        """Add the collectives of activations, or of their gradients."""
        times = 1 if self.model.training else 2
        size = 2 // times * layers * bytes_
        for _ in range(times):
            if self.model.tensor > 1:
                last = self._collective("tensor", "ALL_REDUCE", size, last)
            if self.model.experts > 1:
                tokens = size * self.model.active_experts
                last = self._collective("experts", "ALL_TO_ALL", tokens, last)
        return last

    def _sum(self, layers: int, last: tuple[int, ...]) -> None:
        """Add the sums of gradients: of experts, among the ranks that have the same one."""
        model = self.model
        unit = layers * model.hidden**2
        shared = ATTENTION + (PERCEPTRON if model.experts == 1 else 0)
        for name, ranks, weights in (
            ("gradients", model.data, shared * unit),
            ("expert_gradients", model.data // model.experts, PERCEPTRON * unit),
        ):
            if ranks > 1 and (name == "gradients" or model.experts > 1):
                size = weights // model.tensor * model.element
                self._collective(name, "ALL_REDUCE", size, last)

    def _collective(
        self, name: str, operation: str, size: int, last: tuple[int, ...]
    ) -> tuple[int, ...]:
        kind = COLLECTIVES.index(operation)
        group = self.groups[name]
        key = "data" if "gradients" in name else name
        return self._add(
            "COMM_COLL_NODE", last, name, key, comm_type=kind, comm_size=size, pg_name=group
        )

    def _add(
        self,
        kind: str,
        after: tuple[int, ...],
        name: str = "",
        place: str = "pipeline",
        duration: float = 0,
        **more: Any,
    ) -> tuple[int, ...]:
        self.made.append(Node(len(self.made), kind, after, duration, more, name, place))
        return (len(self.made) - 1,)
