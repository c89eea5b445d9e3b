"""The notebooks of docs/: `python -m tools.notebooks` runs them and stores their output.

The site shows the stored output; a test runs them again and compares the texts.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from pyorch.base.files import write_atomically
from pyorch.base.paths import RESULTS_VARIABLE, Paths, default_paths

_TIMEOUT_S = 120


def notebooks(paths: Paths) -> list[Path]:
    """All notebooks of the pages, by name."""
    return sorted((paths.root / "docs" / "notebooks").glob("*.ipynb"))


def executed(file: Path, folder: Path) -> Any:
    """Return the notebook after running it in its own kernel, in a folder for its results.

    Raises nbclient.exceptions.CellExecutionError when a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, timeout=_TIMEOUT_S, kernel_name="python3", record_timing=False,
        coalesce_streams=True, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute(env={**os.environ, RESULTS_VARIABLE: str(folder / "results")})
    notebook.metadata.pop("language_info", None)  # names the version of Python
    return notebook


def texts(notebook: Any) -> list[str]:
    """The final text output of its cells, without progress and addresses of objects."""
    found = [
        output.data["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    return [text for text in found if not text.startswith("<")]


def main() -> None:
    """Run all and store their output."""
    import nbformat

    for file in notebooks(default_paths()):
        with tempfile.TemporaryDirectory(prefix="pyorch-notebook-") as folder:
            text = nbformat.writes(executed(file, Path(folder)))  # type: ignore[no-untyped-call]
        write_atomically(file, text + "\n")
        print(file)


if __name__ == "__main__":
    main()
