"""What the project has in TOML, and what the reader takes: TOML 1.0, as Python and editors read."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.reading import parse_toml_value, read_toml
from pyorch.catalogue.new_scheme import KINDS, TEMPLATES, Names, fill

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "docs", "experiments", "ns3-modules", "tests")
FENCED = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^\.\. sourcecode:: toml\n((?:\n|[ ]+.*\n)+)", re.MULTILINE)


def texts() -> Iterator[tuple[str, str]]:
    """Yield all TOML of the project, with where it is: files, templates, examples of pages."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.toml")]
    for file in [ROOT / "pyproject.toml", *files]:
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    for kind, folder in KINDS.items():
        words = Names("early-pause").words(kind, 0)
        for file in (TEMPLATES / folder).glob("*.toml"):
            yield f"{folder}/{file.name}", fill(file.read_text(encoding="utf-8"), words)
    pages = (ROOT / "docs").rglob("*.md"), ROOT.glob("*.md"), (ROOT / "ns3-modules").rglob("*.rst")
    for page in [page for found in pages for page in found]:
        text = page.read_text(encoding="utf-8")
        for match in (*FENCED.finditer(text), *INDENTED.finditer(text)):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{page.relative_to(ROOT)}, line {line}", textwrap.dedent(match[1])


def test_everything_is_toml_1_0() -> None:
    """Every file, template and example is what Python's own parser reads."""
    found = dict(texts())
    assert {"experiments/gfc/two-to-one.toml", "flow_control/two-to-one.toml"} <= found.keys()
    assert any(name.startswith("docs/experiments.md, line ") for name in found)
    assert any(name.startswith("ns3-modules/sfc/doc/sfc.rst, line ") for name in found)
    wrong = {}
    for name, text in found.items():
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            wrong[name] = str(error)
    assert wrong == {}


SPANS = "the inline table { ... } spans several lines, which TOML 1.0 does not allow"
ONE, EACH = (
    "write it in one line, or [{}] and its keys below it",
    "write each table in one line, or [[{}]] and its keys below it, for each",
)


@pytest.mark.parametrize(
    ("text", "line", "what", "hint"),
    [
        ("[variants]\nPFC = {\n  agents = []\n}\n", 2, SPANS, ONE.format("variants.PFC")),
        ("a = { b = 1,\n  c = 2 }", 1, SPANS, ONE.format("a")),
        ("a = { b = 1\n  , c = 2 }", 1, SPANS, ONE.format("a")),
        ("a = { b = 1 # why\n}", 1, SPANS, ONE.format("a")),
        ("a = { b = 1, # why\n\n  # more\n  c = 2 }", 1, SPANS, ONE.format("a")),
        ("a = { b = 1,\r\n  c = 2 }\r\n", 1, SPANS, ONE.format("a")),
        ('["a b"]\nc.d = { e = [1,\n2], "f g" = 3,\n h = 4 }', 2, SPANS, ONE.format('"a b".c.d')),
        (
            '[[metric]]\nclass = 3\neach = [\n  { name = "a" },\n  { name = "b",\n    from = 1 }]',
            *(5, SPANS, EACH.format("metric.each")),
        ),
        ("a = [{ b = { c = 1 },\n  d = 2 }]", 1, SPANS, EACH.format("a")),
        ('a = """\n{,"""\nb = {\n}', 3, SPANS, ONE.format("b")),
        *(
            (
                text,
                2,
                "there is a comma before }, which TOML 1.0 does not allow",
                "leave the comma out",
            )
            for text in ("\na = { b = 1, }", "\na = [{ b = [1] ,}]")
        ),
        *(
            (text, 1, rf"\{letter} in a text, which TOML 1.0 does not allow", "write '...' around")
            for text, letter in ((r'a = "$\eta$"', "e"), (r'a = "\\\x41"', "x"))
        ),
    ],
)
def test_toml_1_1_is_refused_with_its_form_in_1_0(
    tmp_path: Path, text: str, line: int, what: str, hint: str
) -> None:
    """The message has the line where the table begins, and the header that it would have."""
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    file = tmp_path / "x.toml"
    file.write_bytes(text.encode())
    with pytest.raises(UserError) as caught:
        read_toml(file, "x")
    assert caught.value.render().startswith(f"x, line {line}: {what}\n    hint: {hint}")


@pytest.mark.parametrize(
    "text",
    [
        "a = { b = [\n  1,  # one\n  2,\n] }",
        'a = ["x",\n  "y = {",\n] # {,\nb = { c = 1 }',
        "a = '''\n{ b = 1,\n  c = 2,}'''",
        'a = """"{",\n}"""',
        "a = '\\eta'\nb = \"\\\\eta\"",
        "a = [\n  { b = 1 },\n\n  # two\n  { b = 2 }\n  , { b = 3 },\n]",
        "# one,\na = 1 # {\nb = {}",
    ],
)
def test_what_looks_like_1_1_and_is_1_0_is_read(tmp_path: Path, text: str) -> None:
    """Lists over lines in inline tables; braces, commas, backslashes of texts and comments."""
    file = tmp_path / "x.toml"
    file.write_text(text)
    assert read_toml(file, "x") == tomllib.loads(text)


@pytest.mark.parametrize("text", ["{ a = 1, }", "[{ a = 1,\n b = 2 }]"])
def test_values_of_the_command_line_are_toml_1_0(text: str) -> None:
    """`--set` takes what a file may have."""
    with pytest.raises(ValueError, match=r"which TOML 1\.0 does not allow"):
        parse_toml_value(text)
