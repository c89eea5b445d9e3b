"""What the glossary names is in the code, and private words are not."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.inputs import ROOT

_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_][\w:]*(?:\.h)?")

#: Words that were made up here for what has a name in the trade, and that name.
PRIVATE = {
    "Firmer": "a revoked release",
    "Foresee": "prefetch",
    "FrameForAll": "broadcast",
    "Silencing": "pausing",
    "Speller": "serializer",
}


@cache
def headers() -> dict[str, str]:
    """The text of each header and source of the modules, tests and examples left out."""
    parts = ("model", "helper")
    files = [file for part in parts for file in ROOT.glob(f"ns3-modules/*/{part}/**/*.*")]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def named(text: str) -> list[str]:
    """What the last column of the first table of the glossary puts between backticks."""
    rows = [line.split("|") for line in text.split("\n## ", maxsplit=1)[0].splitlines()]
    cells = [row[3] for row in rows if len(row) > 4 and "---" not in row[1]]
    return [name for cell in cells for name in _CODE.findall(cell)]


def is_there(name: str) -> bool:
    """Whether some file has all parts of a name such as "DeadlockAnalyzer::Core"."""
    if name in headers():
        return True
    parts = [re.compile(rf"\b{part}\b") for part in name.split("::") if part not in _SPACES]
    return any(all(part.search(text) for part in parts) for text in headers().values())


_SPACES = {"rdma", "cbfc", "lossless"}


def test_what_the_glossary_names_is_there() -> None:
    """A name that has gone is not explained."""
    names = named((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert len(names) > 15, "the table is read"
    assert [name for name in names if _NAME.fullmatch(name) and not is_there(name)] == []


@pytest.mark.parametrize("word", sorted(PRIVATE))
def test_no_private_word_is_used(word: str) -> None:
    """The trade has a word for it."""
    found = [
        f"{file}: {name}"
        for file, text in headers().items()
        for name in re.findall(rf"\b\w*{word}\w*\b", text)
    ]
    assert found == [], f"say {PRIVATE[word]}"


def test_a_name_that_is_gone_is_found() -> None:
    """The test can fail."""
    assert is_there("DeadlockAnalyzer::Core")
    assert not is_there("DeadlockAnalyzer::Heart")
