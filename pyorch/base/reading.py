"""Read what people write: UTF-8 text of a sane size, as TOML, JSON or CSV.

Everything that comes from a file or the command line passes here first, so that the rest of the
package meets neither bytes of another encoding nor a document too deep or a number too long to
handle.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
import stat
from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from types import NoneType
from typing import Any

import tomli

from pyorch.base.errors import quoted, refusal
from pyorch.base.trust import vouch

MAX_FILE = 64 * 10**6
"""Largest file that is read [bytes]; a list of a million messages is smaller."""
MAX_TOML = 8 * 10**6
"""Largest TOML file, with those that it includes [bytes]; parsing takes 0.15 s a megabyte."""
MAX_DEPTH = 32
"""How deep tables and lists may be nested."""
MAX_INTEGER = 2**64 - 1
"""Largest whole number, and minus it the smallest: no setting has one beyond."""
MAX_CELL = 100_000
"""Longest cell of a CSV file [characters]."""

_ESCAPE = "the text has a control character, ESC"
_SAVE = "save it as UTF-8"
#: What the first bytes of a file say of its encoding; UTF-32 first, which begins like UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"PK\x03\x04": "ZIP",
}
"""What the first bytes of a file that is not text say of how it is compressed."""
#: Brackets, texts, comments and ends of lines of a TOML document. Groups are not possessive: until
#: Python 3.11.5 such a group forgets how it began to match (gh-106052).
_PARTS = re.compile(
    r'''"""(?:[^"\\]++|\\[\s\S]|"(?!""))*"{3,5}|"(?:[^"\\\n]++|\\.)*"'''
    r"|'''[\s\S]*?'{3,5}|'[^'\n]*+'|#.*+|[\[\]{},=\n]"
)
#: What TOML 1.1 alone may look like, and few documents of 1.0: a line that goes on with a key, a
#: comment or nothing; one that begins with a comma or }; a comma before }; an escape.
_SIGN = re.compile(
    r"""[{,][ \t\r]*+(?:\#|\n[ \t]*+(?:[\#\r\n]|(?:[\w.\- \t]++|"[^"\n]*+"|'[^'\n]*+')+=))"""
    r"|^[ \t]*+[,}]|,[ \t]*+\}|\\[ex]",
    re.MULTILINE,
)
_NEW_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*+(\\[ex])")
_LITERAL = "write '...' around a text with backslashes, such as LaTeX"
_NO_1_0 = "which TOML 1.0 does not allow"
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
TOO_DEEP = f"tables and lists are nested more than {MAX_DEPTH} deep"


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of that name; a name that no file can have is that of none."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file raises on names that are too long)


def is_text(text: str) -> bool:
    """Whether what came from a command line is UTF-8: Python keeps other bytes as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder of that name; a name that no folder can have is that of none."""
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises on names that are too long)


def size_of(file: Path) -> int:
    """Return the size of a file [bytes]; 0 if it cannot be told."""
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


def read_text(file: Path, label: str, most: int = MAX_FILE) -> str:
    """Read a UTF-8 file, with or without a byte order mark. Raises UserError that says why not.

    most: bytes that it may have.
    """
    return _text_of(read_bytes(file, label, most), label)


def read_code(file: Path, folder: Path, label: str) -> str:
    """Read a file of code that is about to run, and that an experiment in this folder names.

    Raises UserError when it cannot be read, lies elsewhere, or may be somebody else's.
    """
    if not file.resolve().is_relative_to(folder.resolve()):
        what, allowed = "leads out of the folder of the experiment file", "a file in it, or below"
        raise refusal(label, what, allowed)
    content = read_bytes(file, label)
    vouch([file], content=content)
    return _text_of(content, label)


def _text_of(content: bytes, label: str) -> str:
    mark = next((name for start, name in _MARKS.items() if content.startswith(start)), None)
    if mark is not None:
        raise refusal(label, f"is {mark} text, not UTF-8", hint=_SAVE)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse_packed(content, label)
        line = content.count(b"\n", 0, error.start) + 1
        what = f"is not UTF-8 text (byte 0x{content[error.start]:02X} in line {line})"
        raise refusal(label, what, hint=_SAVE) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        hint = f"if it is UTF-16, {_SAVE}"
        raise refusal(label, f"is not text: a NUL byte in line {line}", hint=hint)
    return text


def refuse_packed(content: bytes, label: str) -> None:
    """Raise UserError if a file is compressed."""
    packed = next((name for start, name in _PACKED.items() if content.startswith(start)), None)
    if packed is not None:
        raise refusal(label, f"is compressed ({packed})", hint="unpack it")


def read_bytes(file: Path, label: str, most: int = MAX_FILE) -> bytes:
    """Read a file as it is. Raises UserError that says why it cannot be read.

    most: bytes that it may have.
    """
    try:
        # without O_NONBLOCK a FIFO would be waited for
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise refusal(label, "is not a file")
            content = opened.read(most + 1) if status.st_size <= most else b""
        size = max(status.st_size, len(content))
        if size <= most:
            return content
        what = f"is too large to be read ({size / 1e6:.3g} MB)"
        raise refusal(label, what, f"at most {most // 10**6} MB")
    except OSError as error:
        raise refusal(label, f"cannot be read: {error.strerror}") from error


def read_toml(file: Path, label: str) -> dict[str, Any]:
    """Read a TOML 1.0 file. Raises UserError with line, column and what the parser said."""
    text = read_text(file, label, MAX_TOML)
    try:
        table = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        told = str(error)
        match = _POSITION.search(told)
        at = f", line {match[1]}, column {match[2]}" if match and match[1] else ", at its end"
        what = _POSITION.sub("", told)
        raise refusal(f"{label}{at}", what, hint="the file is not TOML") from error
    except (RecursionError, ValueError) as error:
        raise refusal(label, _excess(error)) from error
    if newer := _newer(text):
        position, what, hint = newer
        line = text.count("\n", 0, position) + 1
        raise refusal(f"{label}, line {line}", what, hint=hint)
    refuse_excess(table, label)
    return table


def _newer(text: str) -> tuple[int, str, str] | None:
    """Return the first part of a document that TOML 1.1 alone allows; None if there is none.

    That is its position, what is wrong, and how TOML 1.0 says it. The parser takes both; Python's
    own takes 1.0 only, but three times as long.
    """
    if not _SIGN.search(text):
        return None
    header = before = ""
    begin = 0
    opened: list[int] = []
    for match in _PARTS.finditer(text):
        part, at = match[0], match.start()
        if part[0] == '"' and (escape := _NEW_ESCAPE.search(part)):
            return at + escape.start(1), f"{escape[1]} in a text, {_NO_1_0}", _LITERAL
        if part == "\n" and opened and text[opened[-1]] == "{":
            what = f"the inline table {{ ... }} spans several lines, {_NO_1_0}"
            key = text[begin : opened[0]].strip(" \t=")
            return opened[-1], what, _form(header, key, in_list=text[opened[0]] == "[")
        if part == "}" and before == ",":
            return at, f"there is a comma before }}, {_NO_1_0}", "leave the comma out"
        if part in ("[", "{"):
            opened.append(at)
        elif part in ("]", "}"):
            first = opened.pop()
            if not opened and not text[begin:first].strip():
                header = text[first : match.end()].strip("[ \t]")
        elif part == "\n" and not opened:
            begin = match.end()
        before = part
    return None


def _form(header: str, key: str, *, in_list: bool) -> str:
    """How TOML 1.0 writes a table of many keys, or those of a list, that a key of a table has."""
    path = f"{header}.{key}" if header else key
    if in_list:
        return f"write each table in one line, or [[{path}]] and its keys below it, for each"
    return f"write it in one line, or [{path}] and its keys below it"


def read_json(file: Path, label: str, most: int = MAX_FILE) -> Any:
    """Read a JSON file. Raises UserError with line, column and what the parser said.

    most: bytes that it may have.
    """
    text = read_text(file, label, most)
    try:
        value = json.loads(text, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        where = f"{label}, line {error.lineno}, column {error.colno}"
        raise refusal(where, error.msg, hint="the file is not JSON") from error
    except _TwinError as error:
        raise refusal(label, str(error)) from error
    except (RecursionError, ValueError) as error:
        raise refusal(label, _excess(error)) from error
    refuse_excess(value, label)
    return value


class _TwinError(ValueError):
    """A key is given twice."""


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the table of a JSON object. Raises _TwinError when a key is given twice."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise _TwinError(f"the key {key!r} is given twice in one object")
        table[key] = value
    return table


def _excess(error: Exception) -> str:
    """Say what a parser could not take in: the other ValueError is that of the many digits."""
    return TOO_DEEP if isinstance(error, RecursionError) else "a number has thousands of digits"


def parse_toml_value(text: str) -> Any:
    """Return the TOML value of a text, or the text itself when it is none.

    Raises ValueError for people when it is not TOML 1.0, is nested too deeply or has a number too
    large.
    """
    line = f"value = {text}"
    try:
        table = tomli.loads(line)
    except tomli.TOMLDecodeError:
        return text
    except (RecursionError, ValueError) as error:
        raise ValueError(_excess(error)) from error
    value = table.get("value")
    plain = isinstance(value, (str, int, float, bool, list, dict))
    if not plain or len(table) != 1:
        return text
    if newer := _newer(line):
        raise ValueError(newer[1])
    for _, what in excesses(value):
        raise ValueError(what)
    return value


def refuse_excess(document: Any, label: str) -> None:
    """Raise UserError with the place of the first of `excesses` in a file; label: its name."""
    for place, what in excesses(document):
        raise refusal(f"{label}: {place}" if place else label, what)


def excesses(
    document: Any, place: tuple[Any, ...] = (), clean: set[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (place, what is wrong) of what no file may have, though a parser takes it.

    That is nesting too deep, a number too large, ESC in a text, and a date or time of day. place:
    of the document in a larger one. clean: texts that have been read to their end already.
    """
    clean = set() if clean is None else clean  # an alias stands for a long text again and again
    if not isinstance(document, dict | list):
        if what := _excess_of(document):
            yield ".".join(map(str, place)), what
        return
    if len(place) >= MAX_DEPTH:
        yield str(place[0]), TOO_DEEP
        return
    for key, part in document.items() if isinstance(document, dict) else enumerate(document):
        if isinstance(part, str) and part in clean:
            continue
        if isinstance(part, dict | list) or _excess_of(part):
            yield from excesses(part, (*place, key), clean)
        elif isinstance(part, str):
            clean.add(part)


def _excess_of(value: Any) -> str:
    """What is wrong with a value that is not a table or list; "" if nothing."""
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return "the number is out of range, -(2^64 - 1) to 2^64 - 1"
    if isinstance(value, date | time):
        return f"{value} is a date or a time of day; write '...' around text, and times as \"25us\""
    if not isinstance(value, str | int | float | NoneType):
        return f"{quoted(value)} is not text, a number, a list or a table"
    return _ESCAPE if isinstance(value, str) and "\x1b" in value else ""


def words_of(text: str, comment: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of every line that has some.

    comment: what begins a comment, which does not count; "" where there are none.
    """
    for number, line in enumerate(text.splitlines(), 1):
        words = (line.partition(comment)[0] if comment else line).split()
        if words:
            yield number, words


def csv_rows(file: Path, label: str, most: int = MAX_FILE) -> list[tuple[int, list[str]]]:
    """Read the lines of a CSV file: (line number, cells without blanks around them).

    Lines that start with '#' and empty lines are skipped. most: bytes that it may have. Raises
    UserError.
    """
    found = []
    for number, line in enumerate(read_text(file, label, most).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if '"' in line:
            try:
                cells = next(csv.reader([line], strict=True))
            except csv.Error as error:
                raise refusal(f"{label}: line {number}", _of_csv(line, error)) from error
        else:
            cells = line.split(",")  # as the reader does, in a fraction of its time
        if line.split() != [line]:  # there are blanks
            cells = [cell.strip() for cell in cells]
        if len(line) > MAX_CELL and max(map(len, cells)) > MAX_CELL:
            raise refusal(f"{label}: line {number}", f"a cell has more than {MAX_CELL} characters")
        found.append((number, cells))
    return found


def _of_csv(line: str, error: csv.Error) -> str:
    if len(line) > MAX_CELL:
        return f"a cell has more than {MAX_CELL} characters"
    return f"is not CSV: {error}"
