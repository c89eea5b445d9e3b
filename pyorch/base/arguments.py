"""Arguments of public functions: those of wrong types are refused as all other input is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import FunctionType
from typing import Any, TypeVar

from pyorch.base.errors import Problem, UserError, quoted

C = TypeVar("C", bound=type)

Tell = Callable[[str], object]
"""Takes a line that a user should see."""


def _is_texts(value: Any) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed and all(isinstance(one, str) for one in value)


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "text"),
    # also those of numpy, which a column of a DataFrame has
    "int": (lambda v: hasattr(v, "__index__") and not isinstance(v, bool), "a whole number"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "PathLike[str]": (lambda value: isinstance(value, PathLike), "a path"),
    "Mapping[str, Any]": (lambda value: isinstance(value, Mapping), "a table"),
    "Sequence[str]": (_is_texts, "a list of strings"),
    "Iterable[Any]": (lambda v: isinstance(v, Iterable) and not isinstance(v, str), "a list"),
    "None": (lambda value: value is None, "None"),
    "Tell": (callable, "a function of a line"),
}
"""What fits a part of an annotation, and its name in messages."""


def checked(cls: C) -> C:
    """Let the public methods of a class raise UserError for arguments of wrong types.

    Their annotations are those of `_FORMS`, joined by |; names of classes; or contain Any.
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        where = cls.__name__ if name == "__init__" else f"{cls.__name__}.{name}"
        if isinstance(member, FunctionType):
            setattr(cls, name, checking(member, where))
        elif isinstance(member, classmethod):
            setattr(cls, name, classmethod(checking(member.__func__, where)))
    return cls


def checking(function: Callable[..., Any], where: str) -> Callable[..., Any]:
    """Return a function that refuses arguments of wrong types. where: its name in messages."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:  # Python says which argument is missing or unknown
            return function(*args, **kwargs)
        problems = [
            Problem(f"{where}: {name}", f"{quoted(value)} is not allowed", allowed)
            for name, values in given.items()
            for value, allowed in _wrong(signature.parameters[name], values)
        ]
        if problems:
            raise UserError(problems)
        return function(*args, **kwargs)

    return call


def _wrong(parameter: inspect.Parameter, given: Any) -> Iterator[tuple[Any, str]]:
    """Yield the values of an argument that do not fit, each with what would."""
    if not isinstance(parameter.annotation, str):  # none, or not of a module of ours
        return
    forms = parameter.annotation.split(" | ")
    if "Any" in forms:
        return
    values: Iterable[Any] = [given]
    if parameter.kind is parameter.VAR_POSITIONAL:
        values = given
    elif parameter.kind is parameter.VAR_KEYWORD:
        values = given.values()
    for value in values:
        if not any(_fits(value, form) for form in forms):
            yield value, " or ".join(_FORMS[form][1] if form in _FORMS else form for form in forms)


def _fits(value: object, form: str) -> bool:
    if form in _FORMS:
        return _FORMS[form][0](value)
    return any(cls.__name__ == form for cls in type(value).__mro__)
