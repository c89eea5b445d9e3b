"""What is loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyorch.build
from pyorch.base.lazy import found, np, nx, pd


def test_a_library_is_loaded_when_something_of_it_is_used() -> None:
    """Not by its import, and it is the library itself that answers."""
    code = (
        "import sys; from pyorch.base.lazy import np; before = 'numpy' in sys.modules; "
        "one = np.arange(3); print(before, type(one) is sys.modules['numpy'].ndarray)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    assert isinstance(np.arange(2), np.ndarray)
    assert pd.DataFrame({"a": np.arange(2)})["a"].sum() == nx.path_graph(2).number_of_edges()


@pytest.mark.parametrize("stands", [np, pd, nx])
def test_what_a_library_does_not_have_is_an_attribute_error(stands: object) -> None:
    """So that hasattr answers."""
    assert not hasattr(stands, "no_such_name")


def test_names_of_packages() -> None:
    """From the module that has them, under their name there, and nothing else."""
    where = {"loads": "json", "parse": "json:loads"}
    assert found("mine", where, "parse") is found("mine", where, "loads")
    with pytest.raises(AttributeError, match="module 'mine' has no attribute 'dumps'"):
        found("mine", where, "dumps")
    with pytest.raises(AttributeError, match=r"module 'pyorch\.build' has no attribute 'nothing'"):
        getattr(pyorch.build, "nothing")  # noqa: B009
