"""What a person sees when an input is wrong: what, where, what is allowed, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input.

    where: file, key path or command-line option; what: what was found there; allowed: what would
    have been accepted; hint: what to do about it. The last two are optional.
    """

    where: str
    what: str
    allowed: str | None = None
    hint: str | None = None

    def render(self) -> str:
        """Return the problem as indented lines of text without a final newline."""
        lines = [f"{self.where}: {self.what}"]
        if self.allowed:
            lines.append(f"    allowed: {self.allowed}")
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)


class UserError(Exception):
    """Bad input by a person: all problems found in it, at least one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        if not problems:
            raise ValueError("a UserError needs at least one problem")
        super().__init__(problems)
        self.problems: tuple[Problem, ...] = tuple(problems)

    def render(self) -> str:
        """Return all problems, one after the other, with their number when there are several."""
        lines = [problem.render() for problem in self.problems]
        if len(lines) > 1:
            lines.append(f"{len(lines)} problems")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean 'x'?" with the known name closest to a misspelt one, or None.

    Case, '-' and '_' do not count as differences.
    """
    by_folded = {fold(candidate): candidate for candidate in known}
    close = difflib.get_close_matches(fold(name), by_folded, n=1, cutoff=0.6)
    return f"did you mean {by_folded[close[0]]!r}?" if close else None


def fold(name: str) -> str:
    """Return a name in lower case without '-' and '_', to compare spellings."""
    return name.lower().replace("-", "").replace("_", "")


def one_of(names: Iterable[str], limit: int = 40) -> str:
    """Return names as one line for `Problem.allowed`, at most `limit` of them."""
    listed = list(names)
    shown = ", ".join(listed[:limit])
    return shown if len(listed) <= limit else f"{shown}, ... ({len(listed)} in all)"
