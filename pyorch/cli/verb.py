"""Verbs of the command line, each declared once: a function whose annotations say its options.

The parser of both programs, the help, the completion and the reference come from there. What stands
before `*` are words, such as NAME; what stands behind are options. `Annotated` has the help.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.parser.argument import Argument
from invoke.tasks import Task

from pyorch.base.errors import UserError, refusal
from pyorch.cli import door

DEFAULT = "gfc/two-to-one"

Count = int | None
"""A whole number from 1; None if it was not given."""


@dataclass(frozen=True)
class Select:
    """The experiment that a verb is about, and which of its runs: NAME, --set, --only, --seeds."""

    name: str
    overrides: Sequence[str] = ()
    seeds: str = ""


_OF_SELECT: dict[str, tuple[type, str]] = {
    "set_": (
        list,
        "KEY=VALUE: change any key of the file; a list 'KEY=A,B' is a sweep; repeatable",
    ),
    "only": (str, "A,B: run only these variants"),
    "seeds": (str, "run seeds 1 to N, or N-M, instead of those in the file"),
    "seed": (str, "run this seed alone"),
}

GROUP = "pyorch.verbs"
"""The group of the entry points of verbs: each names one that `verb` made."""
TASKS: set[str] = set()
"""Every task, as it is typed."""


class PositionalTask(Task[Any]):
    """A task with positional arguments, such as NAME.

    Invoke takes whatever follows the task for such an argument, even `--help` and an option that
    does not exist. So an argument is positional only if the command line has a word for it.
    declared: by the function that it was made of.
    """

    declared: Declared

    def get_arguments(self, ignore_unknown_help: bool | None = None) -> list[Argument]:
        """Return the arguments; those without a word on the command line become options."""
        arguments = super().get_arguments(ignore_unknown_help)
        takes_value = {
            f"--{str(argument.name).strip('_').replace('_', '-')}": argument.takes_value
            for argument in arguments
        }
        names = {self.name, *self.aliases}
        name = next((word for word in sys.argv[1:] if word in names), self.name)
        words, stray = positional_words(sys.argv[1:], name, takes_value)
        wanted = [argument for argument in arguments if argument.positional]
        for argument in wanted[len(words) :]:
            default = self.declared.defaults.get(str(argument.name))
            if default is not None or stray:
                argument.positional = False
                argument.default = default or ""
        return arguments


def positional_words(
    words: Sequence[str], task_name: str, takes_value: Mapping[str, bool]
) -> tuple[list[str], bool]:
    """The words after a task that are neither options nor their values.

    takes_value: the options of the task. The second value is whether an option that is not among
    them, such as --help, was found: only the words before it count.
    """
    found: list[str] = []
    if task_name not in words:
        return found, False
    following = iter(words[words.index(task_name) + 1 :])
    for word in following:
        flag, equals, _ = word.partition("=")
        if not word.startswith("-"):
            if not found and word in TASKS:
                break
            found.append(word)
        elif flag not in takes_value:
            return found, True
        elif takes_value[flag] and not equals:
            next(following, None)
    return found, False


@dataclass
class Declared:
    """What a function declares: its arguments with their kinds and help.

    words: those that are positional; defaults: of words; texts: initial values of options. select:
    the argument that is a Select, if there is one.
    """

    function: Callable[..., int]
    kinds: dict[str, Any] = field(default_factory=dict)
    help: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    select: str = ""

    @classmethod
    def by(cls, function: Callable[..., int]) -> Declared:
        """Read a function."""
        found = cls(function)
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in inspect.signature(function).parameters.items():
            kind, help_, *default = get_args(hints[name])
            is_word = parameter.kind is not parameter.KEYWORD_ONLY
            if kind is Select:
                found.select = name
                found._add("name", str, help_, is_word, *default)
                for option, (of, text) in _OF_SELECT.items():
                    found._add(option, of, text, False)
                continue
            if is_word and parameter.default is not parameter.empty:
                default = [parameter.default]
            elif isinstance(parameter.default, str):
                found.texts[name] = parameter.default
            found._add(name, list if get_origin(kind) is list else kind, help_, is_word, *default)
        return found

    def _add(self, name: str, kind: Any, help_: str, is_word: bool, *default: str) -> None:
        self.kinds[name], self.help[name] = kind, help_
        if is_word:
            self.words.append(name)
        if default:
            self.defaults[name] = default[0]

    @property
    def lists(self) -> list[str]:
        """The options that may be repeated."""
        return [name for name, kind in self.kinds.items() if kind is list]

    @property
    def signature(self) -> inspect.Signature:
        """The signature that invoke reads: texts, flags and lists."""
        empty, only = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
        bare = {*self.words, *self.lists}
        own = [
            inspect.Parameter(name, only, default=empty if name in bare else self._initial(name))
            for name in self.kinds
        ]
        first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return inspect.Signature([first, *own])

    def _initial(self, name: str) -> bool | str:
        return False if self.kinds[name] is bool else self.texts.get(name, "")

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the function for what was typed. Raises UserError."""
        from pyorch.cli.base import whole_number

        found = dict(given)
        for name, kind in self.kinds.items():
            if kind == Count:
                found[name] = whole_number(f"--{name.replace('_', '-')}", given[name])
        if self.select:
            only = [f"only={only}"] if (only := found.pop("only")) else []
            overrides = [*found.pop("set_"), *only]
            seeds, seed = found.pop("seeds"), found.pop("seed")
            if seeds and seed:
                raise refusal("--seed", "is given together with --seeds", "one of them")
            seeds = f"{seed}-{seed}" if seed else seeds
            found[self.select] = Select(found.pop("name"), overrides, seeds)
        return found


def as_task(
    function: Callable[..., int], name: str = "", aliases: Sequence[str] = ()
) -> PositionalTask:
    """Make a task of invoke from a function that declares a verb; it ends with its exit code."""
    declared = Declared.by(function)

    def body(context: Context, **given: Any) -> None:  # noqa: ARG001 (invoke hands it over)
        try:
            values = declared.values(given)
        except UserError as error:
            print(door.spoken(error.render()), file=sys.stderr)
            raise Exit(code=2) from None
        finish(function(**values))

    body.__doc__, body.__name__ = function.__doc__, function.__name__
    body.__signature__ = declared.signature  # type: ignore[attr-defined]
    made = PositionalTask(
        body,
        name=name or function.__name__.strip("_").replace("_", "-"),
        aliases=aliases,
        positional=declared.words,
        iterable=declared.lists,
        help=dict(declared.help),  # a task gives its texts away
        auto_shortflags=False,
    )
    made.declared = declared
    TASKS.update((made.name, *made.aliases))
    door.know([made.name])
    return made


def verb(function: Callable[..., int]) -> PositionalTask:
    """Make a task from a function that declares a verb."""
    return as_task(function)


def finish(code: int) -> None:
    """End the task with the exit code of its command."""
    if code:
        raise Exit(code=code)


def installed(words: Sequence[str]) -> list[PositionalTask]:
    """Return the verbs that packages bring, entry points of the group "pyorch.verbs".

    None if the words of the command line begin with a task that is known: looking for packages
    takes longer than many a verb. What cannot be loaded is told and left out.
    """
    first = next((word for word in words if not word.startswith("-")), "")
    if first in TASKS or "--version" in words:
        return []
    from pyorch.base import doors

    found = []
    for name in doors.names(GROUP):
        try:
            found.append(doors.named(GROUP, name))
        except UserError as error:
            print(door.spoken(error.render()), file=sys.stderr)
    return found


NAME = f"experiment, as `invoke list` names it, or a file; default {DEFAULT}"
Chosen = Annotated[Select, NAME, DEFAULT]
"""An experiment that may be left out."""
One = Annotated[Select, "experiment, as `invoke list` names it, or a file"]
Run = Annotated[str, "number, hash or title of a run, as `invoke show NAME` lists them"]
Jobs = Annotated[Count, "number of parallel runs; default one per core"]
