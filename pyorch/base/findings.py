"""Collects the problems of an experiment file, with the origin of each value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pyorch.base.errors import Problem, UserError, one_of, suggest

MAX_PROBLEMS = 200
"""Problems of one file after which no more are looked for."""
_EMPTY = "the list is empty"
Path = tuple[str, ...]
"""Keys from the top of an experiment file; list entries by their number, from 0."""
Place = tuple[str, Path]
"""A file, as messages name it, and a path in it."""

M = TypeVar("M", bound=BaseModel)


def dotted(path: Sequence[str]) -> str:
    """Return a path in readable form: ("traffic", "0", "load") is "traffic[0].load"."""
    text = ""
    for key in path:
        text += f"[{key}]" if key.isdigit() and text else f".{key}" if text else key
    return text


@dataclass
class Findings:
    """The problems found so far in one file.

    file: name of the file in messages. origins: for values that were written elsewhere, the path of
    the value and its origin: a location in a file, or text (variant, sweep, --set).
    """

    file: str
    origins: Mapping[Path, str | Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(
        self, path: Sequence[str], what: str, allowed: str | None = None, hint: str | None = None
    ) -> None:
        """Record a problem with the value at a path, once. Raises UserError like `merge`."""
        self.merge([Problem(self.where(tuple(path)), what, allowed, hint)])

    def merge(self, problems: Iterable[Problem]) -> None:
        """Record problems found elsewhere, each once.

        Raises UserError if there are so many that finding more would take long without benefit.
        """
        known = set(self.problems)
        self.problems += dict.fromkeys(problem for problem in problems if problem not in known)
        if len(self.problems) >= MAX_PROBLEMS:
            raise UserError(self.problems)

    def unknown(self, path: Sequence[str], kind: str, name: str, known: Iterable[str]) -> None:
        """Record an unknown name, with the known ones and the closest of them."""
        names = list(known)
        self.add(path, f"unknown {kind} {name!r}", one_of(names) or None, suggest(name, names))

    def where(self, path: Path) -> str:
        """Return the location where the user wrote the value at a path."""
        origin, rest = self._origin(path)
        if isinstance(origin, str):
            return origin + (f" ({dotted(rest)})" if rest else "")
        file, start = origin
        return f"{file}: {dotted((*start, *rest))}" if path else file

    def _origin(self, path: Path) -> tuple[str | Place, Path]:
        """Return where the longest known part of a path was written, and the rest of the path."""
        for length in range(len(path), 0, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                return origin, path[length:]
        return (self.file, ()), path

    def validate(self, model: type[M], data: object, path: Path) -> M | None:
        """Return the data as a model; if there are problems, record all of them and return None."""
        if not isinstance(data, dict):
            self.add(path, f"a table is expected (got {data!r})")
            return None
        try:
            return model.model_validate(data)
        except ValidationError as error:
            self.note(error, model, data, path)
            return None

    def note(
        self, error: ValidationError, model: type[BaseModel], data: object, path: Path = ()
    ) -> None:
        """Record all problems that pydantic found in the data of a model."""
        for at, found in _by_place(error.errors(include_url=False), data).items():
            self._note(path, at, found, model)

    def validate_kind(
        self, what: str, models: Mapping[str, type[M]], data: object, path: Path
    ) -> M | None:
        """Return an entry as the model of its `kind`; on problems record them and return None.

        what: the name of such entries in messages.
        """
        if not isinstance(data, dict):
            self.add(path, f"a table is expected (got {data!r})")
            return None
        kind = data.get("kind")
        model = models.get(kind) if isinstance(kind, str) else None
        if model is not None:
            return self.validate(model, data, path)
        if kind is None:
            self.add((*path, "kind"), "missing", one_of(models))
        else:
            hint = suggest(str(kind), models) or "if an add-on or a package brings it, install that"
            said = f"unknown {what} {str(kind)!r}"
            self.add((*path, "kind"), said, one_of(models) or None, hint)
        return None

    def _note(
        self, path: Path, at: Path, found: list[ErrorDetails], model: type[BaseModel]
    ) -> None:
        """Note the errors at one place; several there are the members of a union."""
        first = found[0]
        if first["type"] == "extra_forbidden":
            self.unknown((*path, *at), "key", at[-1], _keys_at(model, at[:-1]))
        elif first["type"] == "missing":
            hint = f"add '{at[-1]} = ...'"
            origin, _ = self._origin((*path, *at))
            elsewhere = not isinstance(origin, str) and origin[0] != self.file
            # a table of an included file goes on in the file that includes it, an entry does not
            if elsewhere and not any(key.isdigit() for key in path):
                hint += f" there, or in {self.file}"
            self.add((*path, *at), "missing", None, hint)
        else:
            told = [_tell(detail) for detail in found]
            allowed = [text for _, text in told if text]
            what = _EMPTY if _EMPTY in (text for text, _ in told) else told[0][0]
            self.add((*path, *at), what, " or ".join(dict.fromkeys(allowed)) or None)


def _by_place(details: list[ErrorDetails], data: object) -> dict[Path, list[ErrorDetails]]:
    """Sort errors by the place in the data; the names of union members are no place."""
    places: dict[Path, list[ErrorDetails]] = {}
    for detail in details:
        at: list[str] = []
        here: Any = data
        for key in detail["loc"]:
            inside = isinstance(here, dict) and key in here
            inside |= isinstance(here, list) and isinstance(key, int) and key < len(here)
            if inside:
                here = here[key]
                at.append(str(key))
        if detail["type"] == "missing":
            at.append(str(detail["loc"][-1]))
        places.setdefault(tuple(at), []).append(detail)
    return places


def _tell(detail: ErrorDetails) -> tuple[str, str | None]:
    """Return what is wrong and what is allowed, in words, from an error of pydantic."""
    error = detail.get("ctx", {}).get("error")
    if isinstance(error, Exception):  # raised by a validator of this project, for people
        return str(error), None
    if detail["type"] == "too_short" and not detail["input"]:
        return _EMPTY, "a list with at least one entry"
    if detail["type"] == "list_type" and isinstance(detail["input"], str | int | float):
        return f"{detail['input']!r} is not allowed", f"a list, {json.dumps([detail['input']])}"
    message = detail["msg"]
    should = "Input should be "
    if message.startswith(should):
        return f"{detail['input']!r} is not allowed", message.removeprefix(should)
    return f"{message} (got {detail['input']!r})", None


def _keys_at(model: type[BaseModel], at: Path) -> list[str]:
    """Return the keys that a model knows at a place inside it."""
    models: list[type[BaseModel]] = [model]
    for key in at:
        if key.isdigit():
            continue
        fields = [
            info
            for candidate in models
            for name, info in candidate.model_fields.items()
            if key in (name, info.alias)
        ]
        models = [found for info in fields for found in models_in(info.annotation)]
    keys = [
        info.alias or name
        for one in models
        for name, info in one.model_fields.items()
        if not info.exclude  # filled in, not written
    ]
    return list(dict.fromkeys(keys))


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that appear in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)
