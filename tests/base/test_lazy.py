"""What is loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyorch.build
from pyorch.base.lazy import Kinds, found, np, nx, pd


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


def test_a_kind_is_loaded_when_it_is_asked_for() -> None:
    """Its name is known before, in the order of the list, and what registers first stays."""
    kinds: Kinds[type] = Kinds({"no_such_module": "first second"})
    kinds["second"] = int
    kinds.later("another", "second third")
    assert list(kinds) == ["first", "second", "third"]
    assert "first" in kinds
    assert kinds["second"] is int
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        kinds.get("first")
    assert "fourth" not in kinds


@pytest.mark.parametrize(
    "registry",
    [
        *("pyorch.network.topology:KINDS", "pyorch.traffic.base:KINDS"),
        *("pyorch.metrics.base:MODELS", "pyorch.report.figures.base:MODELS"),
    ],
)
def test_lists_of_kinds_have_what_their_modules_register(registry: str) -> None:
    """No module of kinds is missed, and none registers what its list lacks."""
    package, _, name = registry.partition(":")
    code = f"""if True:
        import importlib, pkgutil, sys
        import pyorch.addons.jobs.kinds
        kinds = importlib.import_module("{package}").{name}
        before, listed = list(kinds), dict(kinds)
        for room in ("{package.rpartition(".")[0]}", "pyorch.addons.jobs"):
            for one in pkgutil.iter_modules(importlib.import_module(room).__path__, room + "."):
                importlib.import_module(one.name)
        assert list(kinds) == before, set(kinds) ^ set(before)
        assert all(isinstance(model, type) for model in listed.values()), listed
    """
    if "figures" in registry:
        code = code.replace("jobs.kinds", "jobs.gantt")
    subprocess.run([sys.executable, "-c", code], check=True)
