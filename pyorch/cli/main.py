"""The program `pyorch`: the verbs of every user, in any folder.

`pyorch --help` lists them, `pyorch VERB --help` explains one, and `pyorch --print-completion-script
bash` (or zsh, fish) prints what a shell needs to complete them.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Annotated

from invoke.collection import Collection
from invoke.exceptions import ParseError
from invoke.parser.context import ParserContext
from invoke.program import Program

from pyorch import cli
from pyorch.base import ends
from pyorch.base.errors import quoted, suggest
from pyorch.base.paths import RENAMED
from pyorch.cli import door, tasks
from pyorch.cli.verb import as_task, installed, verb

run = as_task(tasks.experiment.declared.function, "run")


@verb
def init(
    folder: Annotated[str, "to create, or to turn into a project"],
    *,
    template: Annotated[
        str,
        "the experiment that it begins with: fabric (schemes under a workload and incasts), "
        "incast (default), ring, deadlock; into a project it is added",
    ] = "",
) -> int:
    """Make a project: a folder for experiments and modules of your own, with a first experiment."""
    return cli.init.init(folder, template)


@verb
def docs(
    page: Annotated[str, "one of them; default: say which there are"] = "",
    part: Annotated[str, "only what it has under this heading, such as a kind"] = "",
    *,
    search: Annotated[str, "only those that have this word, and where"] = "",
) -> int:
    """Show a page of the documentation or a part of it, or which there are."""
    return cli.pages.docs(page, part, search)


GROUPS = {
    "a first study": ("init", "list", "show", "run", "report", "docs"),
    "what happened": ("explain", "compare", "trace", "timeline"),
    "deadlocks": ("prevent", "search", "minimise"),
    "switches and schemes": ("size", "schemes", "new-scheme", "build"),
    "other tools and users": ("import", "export", "goal", "schema", "trust"),
    "a Slurm cluster": ("submit", "status", "collect", "cancel"),
}
"""The verbs as `--help` lists them: by what a user wants."""

VERBS = (*(run if one is tasks.experiment else one for one in tasks.VERBS), init, docs)


class Console(Program):
    """A program of verbs, without the options of invoke that have no meaning here."""

    def parse_core(self, argv: list[str] | None) -> None:
        """Read the options that belong to no verb."""
        super().parse_core(argv)
        door.keep_bytecode()

    def parse_tasks(self) -> None:
        """Read the verb and its options; say what may have been meant by one that there is not."""
        try:
            super().parse_tasks()
        except ParseError as error:
            words = self.core.unparsed
            verbs = [*self.collection.task_names]
            if words and words[0] in verbs and error.context is not None:
                _explain_option(words[1:], error.context, error)
            if not words or words[0] in verbs or words[0].startswith("-"):
                raise
            other = RENAMED.get(words[0])
            hint = f"it is `pyorch {other}` here" if other else suggest(words[0], verbs)
            what = f"there is no verb {words[0]!r}"
            raise ParseError(f"{what}; {hint or '`pyorch --help` lists them'}") from error

    def print_version(self) -> None:
        """Print the version."""
        from importlib.metadata import version

        print(f"pyorch {version('pyorch')}")

    def print_help(self) -> None:
        """Print the usage and the verbs, those of packages last."""
        print("Usage: pyorch VERB [options]\n\n`pyorch VERB --help` explains a verb.")
        width = min(shutil.get_terminal_size().columns, 100)
        left = {name: (task.__doc__ or "") for name, task in self.collection.tasks.items()}
        for title, names in [*GROUPS.items(), ("of packages", tuple(left))]:
            mine = [(name, left.pop(name)) for name in names if name in left]
            if mine:
                print(f"\n{title}:")
            for name, text in mine:
                head = f"  {name:<13}"
                line = text.strip().partition("\n")[0]
                print(textwrap.fill(line, width, initial_indent=head, subsequent_indent=15 * " "))


def _explain_option(words: Sequence[str], verb: ParserContext, error: ParseError) -> None:
    """Raise ParseError with a hint if the verb does not have an option; return on another error."""
    options = verb.flags
    given = (word.partition("=")[0] for word in words if word.startswith("--"))
    unknown = next((option for option in given if option not in options), None)
    if unknown is not None and repr(unknown) in str(error):
        hint = suggest(unknown, options) or f"`{door.PYORCH} {verb.name} --help` lists its options"
        what = f"`{door.PYORCH} {verb.name}` has no option {quoted(unknown)}"
        raise ParseError(f"{what}; {hint}") from error


def program() -> Program:
    """Return the program with its verbs."""
    verbs = Collection()
    for one in (*VERBS, *installed(sys.argv[1:])):
        one.help = {option: door.spoken(text) for option, text in (one.help or {}).items()}
        verbs.add_task(one)
    return Console(name="pyorch", binary="pyorch", namespace=verbs)


def main() -> None:
    """Run the command line; exit codes are those of `pyorch.cli.base`."""
    ends.start()
    door.enter(door.PYORCH)
    program().run()
