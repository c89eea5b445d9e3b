"""Files of people: other encodings, damage and excess are named as what they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyorch.base.errors import UserError, shown
from pyorch.base.reading import MAX_DEPTH, MAX_FILE, csv_rows, is_file, read_json, read_toml

TEXT = 'title = "Caf\u00e9"\nnumber = 1\n'


def complaint(read: Callable[[Path, str], Any], file: Path) -> str:
    """What reading a file is answered with."""
    with pytest.raises(UserError) as caught:
        read(file, "x")
    return caught.value.render()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.encode("latin-1"), "x: is not UTF-8 text (byte 0xE9 in line 1)"),
        (b"a = 1\nb = '\xff'\n", "x: is not UTF-8 text (byte 0xFF in line 2)"),
        (TEXT.encode("utf-16"), "x: is UTF-16 text, not UTF-8\n    hint: save it as UTF-8"),
        (TEXT.encode("utf-32"), "x: is UTF-32 text, not UTF-8"),
        ("a = 1\n".encode("utf-16-le"), "x: is not text: a NUL byte in line 1"),
        (
            gzip.compress(TEXT.encode(), mtime=0),  # no time of day: workers compare names
            "x: is compressed (gzip)\n    hint: unpack it",
        ),
        (lzma.compress(TEXT.encode()), "x: is compressed (xz)"),
        (bz2.compress(TEXT.encode()), "x: is compressed (bzip2)"),
        (b"a = " + b"[" * 100_000, f"x: tables and lists are nested more than {MAX_DEPTH} deep"),
        (b"a = " + b"[" * 40 + b"]" * 40, "x: a: tables and lists are nested more than"),
        (b"a" + b".a" * 40 + b" = 1", "x: a: tables and lists are nested more than"),
        (b"a = " + b"9" * 5000, "x: a number has thousands of digits"),
        (b"[a]\nb = " + b"9" * 30, "x: a.b: the number is out of range"),
    ],
)
def test_what_a_toml_file_is_instead(tmp_path: Path, content: bytes, message: str) -> None:
    """The message names the encoding, the place or the bound, whatever the parser would say."""
    (tmp_path / "x.toml").write_bytes(content)
    assert complaint(read_toml, tmp_path / "x.toml").startswith(message)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Spreadsheets and some editors write one before UTF-8."""
    (tmp_path / "x.toml").write_bytes(TEXT.encode("utf-8-sig"))
    assert read_toml(tmp_path / "x.toml", "x") == {"title": "Caf\u00e9", "number": 1}
    (tmp_path / "x.csv").write_bytes("size,b\n1,2\n".encode("utf-8-sig"))
    assert csv_rows(tmp_path / "x.csv", "x")[0] == (1, ["size", "b"])


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """A FIFO without a writer, a device without an end, a folder, a file larger than memory."""
    os.mkfifo(tmp_path / "fifo")
    assert complaint(read_toml, tmp_path / "fifo") == "x: is not a file"
    assert complaint(read_json, Path("/dev/zero")) == "x: is not a file"
    assert complaint(read_toml, tmp_path) == "x: cannot be read: Is a directory"
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    assert complaint(read_toml, tmp_path / "huge").startswith("x: is too large to be read")


def test_names_that_no_file_can_have() -> None:
    """They are the names of no file, rather than an error of the file system."""
    assert not is_file("x" * 300)
    assert not is_file("a/" * 3000)
    assert not is_file("a\0b")


def test_long_cells_and_broken_quotes_of_csv(tmp_path: Path) -> None:
    """Beyond what the csv module takes, and where it would guess."""
    file = tmp_path / "x.csv"
    file.write_text("a,b\n1," + "x" * 200_000)
    assert complaint(csv_rows, file) == "x: line 2: a cell has more than 100000 characters"
    file.write_text('a,b\n1,"2')
    assert complaint(csv_rows, file).startswith("x: line 2: is not CSV")


def test_messages_can_be_shown() -> None:
    """Nothing of the input moves the cursor, turns the text round or fills the screen."""
    assert shown("a\x1b[31m\u202eb\udcff\x85") == "a\\x1b[31m\\u202eb\\udcff\\x85"
    assert len(shown("x" * 10**6)) < 1100
    assert shown("caf\u00e9 \u65e5\n\u00b5s") == "caf\u00e9 \u65e5\n\u00b5s"
