"""`docs`: the pages of the documentation, in the terminal; an installed package has them, too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyorch.base.errors import fold, one_of, refusal, suggest
from pyorch.base.paths import Paths, default_paths
from pyorch.base.reading import read_text
from pyorch.catalogue.reference import EVERY_KIND, SAME_KEYS, reference_pages
from pyorch.cli import door
from pyorch.cli.base import OK, listing

_WHOLE = "all"


@listing
def docs(page: str = "", part: str = "", search: str = "") -> int:
    """Print which pages there are, or those with a word, or one page, or a part of it."""
    pages = pages_of(default_paths())
    if page:
        name = page.removesuffix(".md").removesuffix(".rst")
        if name not in pages:
            name, part = _with_part(page, pages), page
        text = pages[name].text()
        if part and part != _WHOLE:
            text = _part(name, text, part)
        elif not part and name in reference_pages():
            text = _contents(name, text)
        _show(text, pages[name].is_markdown)
        return OK
    texts = {name: one.text() for name, one in pages.items()}
    word = search.casefold()
    hits = ((name, _line_with(word, text)) for name, text in texts.items())
    found = {name: line for name, line in hits if line is not None}
    if not found:
        raise refusal("docs", f"no page has {search!r}", hint="a shorter word, or part of one")
    width = max(map(len, found))
    for name, line in found.items():
        print(f"{name:<{width}}  {_title(texts[name])}")
        if search:
            print(f"{'':<{width}}    {_around(line, word)}")
    door.say("\n`pyorch docs PAGE` shows one, `pyorch docs --search WORD` those with a word")
    return OK


@dataclass(frozen=True)
class Page:
    """A page. text: reads or writes it, and raises UserError if it cannot."""

    text: Callable[[], str]
    is_markdown: bool = True


def pages_of(paths: Paths) -> dict[str, Page]:
    """The pages by name: of docs/ and its results/, written from the models, and of modules."""
    files = [*sorted(paths.docs.glob("*.md")), *sorted(paths.docs.glob("results/*.md"))]
    names = [file.relative_to(paths.docs).with_suffix("").as_posix() for file in files]
    own = {name: Page(_reader(file)) for name, file in zip(names, files, strict=True)}
    written = {name: Page(partial(page, paths)) for name, page in reference_pages().items()}
    modules = sorted(paths.modules.glob("*/doc/*.rst"))
    return own | written | {file.stem: Page(_reader(file), is_markdown=False) for file in modules}


def _reader(file: Path) -> Callable[[], str]:
    return partial(read_text, file, str(file))


def _title(text: str) -> str:
    """The first heading of a page."""
    lines = (line for line in text.splitlines() if line[:2] not in ("", "..") and line[0] != "<")
    return next((line.lstrip("# ") for line in lines if not set(line) <= set("#*=- ")), "")


def _line_with(word: str, text: str) -> str | None:
    """The first line that has a word."""
    return next((line for line in text.splitlines() if word in line.casefold()), None)


def _around(line: str, word: str, room: int = 60) -> str:
    """A line, or what stands around the word in a long one."""
    at = line.casefold().index(word)
    begin, end = max(0, at - room), min(len(line), at + len(word) + room)
    return f"{'... ' * (begin > 0)}{line[begin:end].strip()}{' ...' * (end < len(line))}"


def _sections(text: str) -> dict[str, str]:
    """The parts of a page of Markdown, by their headings."""
    parts = (part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return {head: body for head, _, body in parts}


def _contents(name: str, text: str) -> str:
    """What a page of reference has, a line a part: nobody reads thousands of words for a key."""
    found = _sections(text)
    width = max(map(len, found))
    lines = [f"    {head:<{width}}  {_title(body)}".rstrip() for head, body in found.items()]
    shows = f"`pyorch docs {name} {list(found)[1]}` shows one of them, `{_WHOLE}` the whole page"
    return "\n".join([text.partition("\n## ")[0], *lines, "", shows, ""])


def _by_word(found: Iterable[str]) -> dict[str, str]:
    """Headings by what a person types for them: route for [[route]]."""
    return {fold(re.sub(r"[][`]", "", head)): head for head in found}


def _with_part(wanted: str, pages: Mapping[str, Page]) -> str:
    """Return the one page of reference with a part. Raises UserError if there is not one."""
    word = fold(wanted.strip("[]"))
    having = [name for name in reference_pages() if word in _by_word(_sections(pages[name].text()))]
    if len(having) == 1:
        return having[0]
    hint = " or ".join(f"pyorch docs {name} {word}" for name in having) or suggest(wanted, pages)
    raise refusal("docs", f"there is no page {wanted!r}", one_of(pages, 100), hint)


def _part(name: str, text: str, wanted: str) -> str:
    """Return a part of a page, and which keys its kind has as every other. Raises UserError."""
    found = _sections(text)
    by_word = _by_word(found)
    head = by_word.get(fold(wanted.strip("[]")))
    if head is None:
        what, hint = f"has no part {wanted!r}", suggest(wanted, by_word)
        raise refusal(f"the page {name}", what, one_of(found), hint)
    body, _, other = found[head].rstrip().partition(SAME_KEYS)
    rows = found[other.strip("`.")].partition("| key |") if other else []
    lines = [f"## {head}", body + "".join(rows[1:]).rstrip()]
    before = list(found)[: list(found).index(head)]
    for one in [one for one in before if EVERY_KIND in found[one] and head.isidentifier()][-1:]:
        own = found[one].partition("\n### ")[0]
        keys = re.findall(r"^\| `(?!kind`)(\w+)` \| (\*needed\*)?", own, re.MULTILINE)
        texts = ", ".join(f"{key} (needed)" if needed else key for key, needed in keys)
        shown = f"`pyorch docs {name} {one.strip('[]')}`"
        lines.append(f"\nKeys of every kind, explained by {shown}: {texts}.")
    return "\n".join([*lines, ""])


def _show(text: str, is_markdown: bool) -> None:
    """Print a page, laid out where a person reads it."""
    if sys.stdout.isatty() and is_markdown:
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="")
