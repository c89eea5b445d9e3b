"""Update the lists of sources in CMakeLists.txt: python -m pyorch.build.lists.

As in ns-3, a module lists its files. A build refuses files that are not listed; this lists them.
"""

import re
import sys
from pathlib import Path

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths, project_root
from pyorch.build.sources import Module, find_modules

#: Keyword of build_lib -> where its files are.
_LISTS = {
    "SOURCE_FILES": ("model/**/*.cc", "helper/**/*.cc"),
    "HEADER_FILES": ("model/**/*.h", "helper/**/*.h"),
    "TEST_SOURCES": ("test/**/*.cc",),
}
_FILES = r"(?P<files>(?:\s+[^\s()]+\.(?:cc|h)\b)*)"


def listed(text: str, keyword: str) -> list[str]:
    """Return the files that a CMakeLists.txt lists after a keyword of build_lib."""
    match = re.search(rf"\b{keyword}\b{_FILES}", text)
    return match["files"].split() if match else []


def present(module: Module, keyword: str) -> list[str]:
    """Return the files of a module that belong after a keyword, sorted."""
    found = [path for pattern in _LISTS[keyword] for path in module.folder.glob(pattern)]
    return sorted(path.relative_to(module.folder).as_posix() for path in found)


def updated(module: Module) -> str:
    """Return the text that a module's CMakeLists.txt should have."""
    text = (module.folder / "CMakeLists.txt").read_text(encoding="utf-8")
    for keyword in _LISTS:
        files = present(module, keyword)
        if files != sorted(listed(text, keyword)):
            text = re.sub(rf"\n *{keyword}\b{_FILES}", "", text)
            text = _insert(text, keyword, files) if files else text
    return text


def _insert(text: str, keyword: str, files: list[str]) -> str:
    """Insert a list where ns-3's own modules have it: tests last, others before the libraries."""
    block = f"\n  {keyword}" + "".join(f"\n    {file}" for file in files)
    before = r"\n\)" if keyword == "TEST_SOURCES" else r"\n *LIBRARIES_TO_LINK\b"
    return re.sub(before, lambda match: block + match[0], text, count=1)


def main() -> int:
    """Rewrite outdated lists and print which; exit code 2 if there is no project."""
    try:
        modules = find_modules(Paths(project_root()).modules)
    except UserError as error:
        print(error.render(), file=sys.stderr)
        return 2
    for module in modules:
        file: Path = module.folder / "CMakeLists.txt"
        text = updated(module)
        if text != file.read_text(encoding="utf-8"):
            file.write_text(text, encoding="utf-8")
            print(f"updated {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
