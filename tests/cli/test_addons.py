"""The package without its add-ons: everything else works, and what they bring is refused."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.inputs import ROOT, called

Told = Callable[..., subprocess.CompletedProcess[str]]

BARE = """
import sys
from pyorch import kinds
from pyorch.base.paths import default_paths
from pyorch.files.load import load_experiment
from pyorch.plan import expand

for name in sys.argv[1:]:
    print(len(expand(load_experiment(name, paths=default_paths()))))
"""
"""Plans experiments without the types of a build."""

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Calls Python with a copy of the package that has neither add-ons nor entry points."""
    site = tmp_path_factory.mktemp("bare")
    left_out = shutil.ignore_patterns("addons", "__pycache__")
    shutil.copytree(ROOT / "pyorch", site / "pyorch", ignore=left_out)
    for name in ("experiments", "ns3-modules"):
        (site / name).symlink_to(ROOT / name)
    info = site / "pyorch-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyorch\nVersion: 0\n")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(site), "PYORCH_ROOT": str(site)}
        line = [sys.executable, *words]
        return called(line, env=environment, cwd=site)

    return call


def test_the_copy_has_no_addons(bare: Told) -> None:
    """Otherwise the tests below would test nothing."""
    code = "import pyorch; from pyorch.base import doors; "
    code += "print(pyorch.__file__, doors.names('pyorch.verbs'), hasattr(pyorch, 'Collective'))"
    done = bare("-c", code)
    assert "bare" in done.stdout
    assert done.stdout.endswith("[] False\n"), done.stderr


def test_help_names_the_verbs_of_the_core_alone(bare: Told) -> None:
    """Those of the laboratory and of jobs are as unknown as any other word."""
    shown = bare("-m", "pyorch", "--help").stdout
    verbs = set(re.findall(r"^  (\S+)", shown, re.MULTILINE))
    assert {"run", "show", "explain", "size"} <= verbs
    assert not {"minimise", "prevent", "search", "goal", "timeline"} & verbs
    done = bare("-m", "pyorch", "minimise", "gfc/ring", "1")
    assert done.stderr.startswith("there is no verb 'minimise'")


def test_the_core_loads_and_plans_its_studies(bare: Told) -> None:
    """Lists them, reads their files with metrics and figures, and lists their runs."""
    assert "gfc/two-to-one " in bare("-m", "pyorch", "list").stdout
    done = bare("-c", BARE, "gfc/two-to-one", "pfc/timer", "deadlock/loop", "sfc/reaction")
    assert done.stderr == ""
    assert len(done.stdout.split()) == 4


def test_a_kind_of_a_job_is_refused_with_what_is_missing(bare: Told) -> None:
    """It is an unknown kind; the message lists what there is, and says what may be missing."""
    done = bare("-c", BARE, "ai/neighbours")
    assert ".kind: unknown traffic 'collective'\n" in done.stderr
    assert "    allowed: greedy, cycle, ring, incast, " in done.stderr
    assert "    hint: if an add-on or a package brings it, install that\n" in done.stderr


def test_no_module_of_the_core_needs_an_addon(bare: Told) -> None:
    """All of them load, with what they import inside functions not counted (`invoke lint` does)."""
    code = """
import importlib, pkgutil, pyorch
for module in pkgutil.walk_packages(pyorch.__path__, "pyorch."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    done = bare("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
