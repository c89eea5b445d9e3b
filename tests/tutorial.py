"""Follows a page: writes its files, types its commands, and compares their output with the page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.inputs import ROOT

BLOCK = re.compile(r"(?P<before>[^\n]*)\n\n```(?P<language>\w+)\n(?P<text>.*?)\n```", re.DOTALL)
NAMED = re.compile(r"(?P<verb>Save|Append).* `(?P<name>[\w.-]+)`:$")


@dataclass
class Tutorial:
    """A page, followed in a folder."""

    folder: Path
    page: str
    root: Path = ROOT
    """The project in which commands are typed."""
    typed: list[str] = field(default_factory=list)
    said: str = ""

    def follow(self) -> None:
        """Write the page's files, type its commands, and compare what they say."""
        text = (ROOT / "docs" / f"{self.page}.md").read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if block["language"] == "toml":
                self._write(block["before"], block["text"])
            elif block["language"] == "sh":
                self.said = "".join(self.type(line) for line in block["text"].splitlines())
            elif block["language"] == "text":
                assert is_shown(block["text"], self.said), (block["text"], self.said)

    def _write(self, before: str, text: str) -> None:
        named = NAMED.search(before)
        assert named, f"{before!r} names no file"
        file = self.folder / named["name"]
        kept = file.read_text(encoding="utf-8") if named["verb"] == "Append" else ""
        file.write_text(f"{kept}\n{text}\n", encoding="utf-8")

    def type(self, line: str) -> str:
        """Type a command; return what it says."""
        self.typed.append(line)
        program, *words = shlex.split(line, comments=True)
        if program == "cd":
            self.root = self.folder = self.folder / words[0]
            return ""
        assert program == "pyorch"
        results = self.folder / "results"
        done = subprocess.run(
            [sys.executable, "-m", "pyorch", *words],
            cwd=self.folder,
            env=os.environ | {"PYORCH_ROOT": str(self.root), "PYORCH_RESULTS": str(results)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        said = done.stdout.replace(f"{results}/", "results/")
        assert "Traceback" not in said
        return re.sub(r"\b[0-9a-f]{16}\b", "HASH", said)


def is_shown(page: str, said: str) -> bool:
    """Whether a page shows an output, where "..." stands for lines or the rest of a line."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in page.splitlines()
    ]
    return re.fullmatch("".join(lines), said.rstrip("\n") + "\n") is not None
