"""YAML of plain values: what JSON could say, with aliases and merges that are counted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import yaml
from typing_extensions import override
from yaml.composer import Composer

from pyorch.base.errors import refusal
from pyorch.base.reading import TOO_DEEP, read_text, refuse_excess

MAX_YAML = 2 * 10**6
"""Largest YAML file [bytes]; parsing takes 2 s a megabyte."""
MAX_VALUES = 10**6
"""Values that a YAML file may stand for, with each alias in full."""
_TAG = "tag:yaml.org,2002:"
_TOO_MANY = "aliases and merges stand for too many values, or for themselves"
_INVALID = "the value looks like a number or a truth value, but is not a valid one"
_FASTEST: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(Composer, _FASTEST):  # type: ignore[misc]
    """Makes texts, numbers, truth values, lists and tables; dates are texts.

    libyaml's parser is fast, but its composer crashes on deep nesting: that of Python does not.
    """

    def __init__(self, text: str) -> None:
        _FASTEST.__init__(self, text)
        Composer.__init__(self)

    yaml_constructors: ClassVar[dict[str, Any]] = {
        tag: make
        for tag, make in _FASTEST.yaml_constructors.items()
        if tag is None or tag.removeprefix(_TAG) in ("null", "str", "seq", "map")
    }
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: [(tag, form) for tag, form in found if tag != f"{_TAG}timestamp"]
        for first, found in _FASTEST.yaml_implicit_resolvers.items()
    }
    merged = 0
    """Entries that merges have brought so far."""

    @override
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Count what merges bring before they do: each may double it."""
        for key, value in node.value:
            if key.tag == f"{_TAG}merge":
                for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if isinstance(part, yaml.MappingNode):
                        self.flatten_mapping(part)
                        self.merged += len(part.value)
                if self.merged > MAX_VALUES:
                    raise yaml.MarkedYAMLError(problem=_TOO_MANY, problem_mark=key.start_mark)
        super().flatten_mapping(node)


def _scalar(kind: str) -> None:
    """Let the loader make a kind of scalar, and name the line of one that is none."""
    make = _FASTEST.yaml_constructors[f"{_TAG}{kind}"]

    def construct(loader: Any, node: yaml.Node) -> Any:
        try:
            return make(loader, node)
        except (ValueError, LookupError) as error:
            mark = node.start_mark
            raise yaml.MarkedYAMLError(problem=_INVALID, problem_mark=mark) from error

    _Loader.add_constructor(f"{_TAG}{kind}", construct)


for _kind in ("bool", "int", "float"):
    _scalar(_kind)


def read_yaml(file: Path, label: str) -> Any:
    """Read a YAML file. Raises UserError with the line and what the parser said."""
    text = read_text(file, label, MAX_YAML)
    try:
        value = yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader)
        if _values_in(value, {}) > MAX_VALUES:
            raise refusal(label, _TOO_MANY, f"at most {MAX_VALUES:,} values in all")
    except RecursionError as error:
        raise refusal(label, TOO_DEEP) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{label}: line {mark.line + 1}" if mark else label
        said = getattr(error, "problem", None) or str(error)
        raise refusal(where, said if said == _TOO_MANY else f"is not YAML: {said}") from error
    refuse_excess(value, label)
    return value


def _values_in(value: Any, known: dict[int, float]) -> float:
    """Count the values of a document with each alias in full: infinite if it contains itself."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = math.inf  # until it is counted only itself can ask
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_values_in(part, known) for part in parts)
    return known[id(value)]
