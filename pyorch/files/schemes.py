"""Scheme files: a scheme with its parameters and the source of each.

`variants = ["pfc+dcqcn"]` names those of the library, experiments/schemes (pyorch.files.library),
`[variants] files = "schemes/*.toml"` others: each is a variant. Values may be rules, which
are evaluated for the network, the rate and the buffer of each setting (`environment`), so that
every scheme is tuned by the rule of its source and by nothing else.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import Field, model_validator

from pyorch.base.errors import fold, one_of, refusal, suggest
from pyorch.base.fields import Table
from pyorch.base.findings import Findings, Path
from pyorch.base.units import format_bytes, format_time, parse_bytes, parse_time
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.attributes import DEFAULTS
from pyorch.sizing.capacity import (
    DEFAULT_BUFFER,
    DEFAULT_HEADER,
    DEFAULT_LOSSY_POOL,
    DEFAULT_OVERHEAD,
    DEFAULT_PAYLOAD,
    MIN_FRAME,
    Frames,
)
from pyorch.sizing.theory import IDEAL, RULES, usual_response

#: Keys of a scheme file that choose C++ classes: lists, joined with those of included files.
CHAINS = ("flow_control", "agents", "host_agents")

OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}
FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max}


class Value(Table):
    """A parameter: a literal value, or a rule that gives bytes, a time [s] or a number."""

    value: str | int | float | bool | None = None
    size: str | None = None
    time: str | None = None
    number: str | None = None
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _one(self) -> Value:
        given = [one for one in (self.value, self.size, self.time, self.number) if one is not None]
        if len(given) != 1:
            raise ValueError("give one of 'value', 'size', 'time' and 'number'")
        return self

    def spell(self, names: Mapping[str, float]) -> Any:
        """Return the value as an experiment file has it. Raises ValueError on a bad rule."""
        if self.value is not None:
            return self.value
        if self.size is not None:
            return format_bytes(_natural(math.floor(evaluate(self.size, names))))
        if self.time is not None:
            return format_time(_natural(round(evaluate(self.time, names) * 1e12)))
        return evaluate(self.number or "", names)


class SchemeFile(Table):
    """A scheme file's content, besides `include`.

    short: another name for it. values: dotted keys of an experiment file.
    """

    name: str = Field(min_length=1)
    short: str = ""
    about: str = Field(min_length=1)
    flow_control: list[str] = Field(default=[])
    agents: list[str] = Field(default=[])
    host_agents: list[str] = Field(default=[])
    forwarding: str | None = None
    congestion_control: str | None = None
    buffer_policy: str | None = None
    values: dict[str, Value] = Field(default={})

    @property
    def chosen(self) -> dict[str, Any]:
        """Its choices, by the key of an experiment; lists even if they are empty."""
        keys = (*CHAINS, *DEFAULTS)
        return {key: getattr(self, key) for key in keys if getattr(self, key) is not None}

    def changes(
        self, names: Mapping[str, float], file: str, scene: str
    ) -> Iterator[tuple[Path, Any, str]]:
        """Yield its changes to an experiment: key, value, and where it is written.

        names: what rules may use. file: that of the scheme. scene: that of the experiment. Raises
        UserError if a rule cannot be evaluated.
        """
        yield from (((key,), value, f"{file}: {key}") for key, value in self.chosen.items())
        for key, value in self.values.items():
            by_rule = "" if value.value is not None else f", by its rule for {scene}"
            try:
                yield tuple(key.split(".")), value.spell(names), f"{file}: {key}{by_rule}"
            except ValueError as error:
                known = f"rules may use {', '.join(names)}, min() and max()"
                hint = f"evaluated for the settings of {scene}"
                raise refusal(f"{file}: {key}", str(error), known, hint) from error


def read_scheme(content: Mapping[str, Any], findings: Findings) -> SchemeFile | None:
    """Return the content of a scheme file; note problems and then return None."""
    if "extends" in content:
        findings.add(("extends",), "is called 'include' now", None, "write include = [...]")
    said = {key: value for key, value in content.items() if key != "extends"}
    return findings.validate(SchemeFile, said, ())


def environment(
    document: Mapping[str, Any], network: Topology, scene: str = "scene"
) -> dict[str, float]:
    """Return what rules may use, for their setting.

    rate [B/s] and delay [s]: those of the fastest and of the longest link; control_delay [s];
    frame, wire: size of a full data frame without and with preamble and gap [B]; buffer: that of a
    switch [B]; lossless: its part for each lossless class [B]; ports: those of the switch with the
    most; headroom: eta' of such a port, as demanded by PFC [B]; share: each port's part of
    `lossless` after headroom [B]; cells: by how much the smallest frames grow as they take whole
    cells of a switch. Raises UserError if there is no switch.
    """
    sections = ("port", "buffer", "queue_pair")
    port, buffer, queue_pair = (document.get(section, {}) for section in sections)
    for section in sections:
        if not isinstance(document.get(section, {}), Mapping):
            raise refusal(f"{scene}: {section}", f"{document[section]!r} is not a table")
    if SWITCH not in network.kinds.tolist():
        what = "there is no switch, whose ports the schemes' rules are about"
        raise refusal(f"{scene}: topology", what)
    rate, delay_ps = int(network.rates.max()), int(network.delays.max())
    size = _bytes(buffer, "size", DEFAULT_BUFFER)
    mask = buffer.get("lossless_classes", 0)
    classes = max(1, mask.bit_count()) if isinstance(mask, int) else 1  # else the resolver refuses
    lossless = max(0, size - _bytes(buffer, "lossy_pool", DEFAULT_LOSSY_POOL)) / classes
    run = Frames(
        payload=_bytes(queue_pair, "payload_size", DEFAULT_PAYLOAD),
        header=_bytes(queue_pair, "header_size", DEFAULT_HEADER),
        minimum=_bytes(queue_pair, "min_frame_size", MIN_FRAME),
        overhead=_bytes(port, "overhead", DEFAULT_OVERHEAD),
        control=_bytes(port, "control_frame_size", MIN_FRAME),
        control_delay_ps=parse_time(port.get("control_delay", "0us")),
        response=RULES.get(fold(str(port.get("pause_response", usual_response(port)))), IDEAL),
    )
    frame = run.payload + run.header
    headroom = run.eta_prime(rate, delay_ps)
    switches = [n for n, kind in enumerate(network.kinds.tolist()) if kind == SWITCH]
    ends = [*network.a.tolist(), *network.b.tolist()]
    ports = max(ends.count(number) for number in switches)
    return {
        "rate": rate / 8,
        "delay": delay_ps / 1e12,
        "control_delay": run.control_delay(rate) / 1e12,
        "frame": float(frame),
        "wire": float(frame + run.overhead),
        "buffer": float(size),
        "lossless": lossless,
        "ports": float(ports),
        "headroom": float(headroom),
        "share": lossless / ports - headroom,
        "cells": max(1.0, _bytes(buffer, "cell_size", 1) / MIN_FRAME),
    }


def _bytes(table: Mapping[str, Any], key: str, otherwise: int) -> int:
    return parse_bytes(table[key]) if key in table else otherwise


def evaluate(rule: str, names: Mapping[str, float]) -> float:
    """Evaluate a rule of numbers, names, + - * /, min() and max(). Raises ValueError."""
    try:
        tree = ast.parse(rule, mode="eval")
        result = _value(tree.body, names)
    except SyntaxError as error:
        raise ValueError(f"{rule!r} is not a rule: {error.msg}") from error
    except ZeroDivisionError as error:
        raise ValueError(f"{rule!r} divides by zero") from error
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"{rule!r} is too large") from error
    if not math.isfinite(result):
        raise ValueError(f"{rule!r} gives {result}")
    return result


def _value(node: ast.AST, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            hint = suggest(node.id, names)
            raise ValueError(f"unknown name {node.id!r}" + (f"; {hint}" if hint else ""))
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        if len(node.args) < 2 or node.keywords:
            raise ValueError(f"{ast.unparse(node)!r}: give {node.func.id}() at least two values")
        return FUNCTIONS[node.func.id](*(_value(part, names) for part in node.args))
    raise ValueError(
        f"{ast.unparse(node)!r} is not allowed in a rule; allowed: {one_of(FUNCTIONS)}"
    )


def _natural(number: int) -> int:
    if number < 0:
        raise ValueError(f"its rule gives {number}, below 0: the buffer is too small for it")
    return number
