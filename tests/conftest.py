"""The order of the tests, what those that draw examples share, and what passed already."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from pyorch import kinds
from pyorch.base.errors import UserError
from pyorch.base.paths import default_paths
from tests.inputs import COLLECTED
from tools.develop import NOT_QUICK
from tools.green import SHOWN, Green, Inputs

# how long an example takes says how busy the machine is
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

_ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--recorded`, which `invoke test` gives."""
    parser.addoption(
        "--recorded",
        action="store_true",
        help="leave out tests with the mark `inputs` that passed with the same inputs already",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the record of what passed. All kinds are known, as when an experiment is read."""
    kinds.activate({})
    config.pluginmanager.register(_Recorder(config), "recorder")


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no core idles at the end: Slurm, groups, slow tests.

    pytest-xdist deals tests out in this order (--no-loadscope-reorder). Each group stays together.
    """
    session.stash[COLLECTED] = list(items)
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    """Tests of a lower rank begin earlier."""
    if item.get_closest_marker("slurm"):
        return 0
    if item.get_closest_marker("xdist_group"):
        return 1
    return 2 if item.get_closest_marker("slow") else 3


@pytest.fixture(autouse=True)
def _nothing_is_compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of `invoke test --quick` that compiles all modules must have the mark `cpp`."""
    from pyorch.build import builder

    def refuse(*_: object) -> None:
        pytest.fail("compiles C++ without the mark cpp")

    if not any(map(request.node.get_closest_marker, NOT_QUICK)):
        monkeypatch.setattr(builder, "_compile", refuse)


class _Recorder:
    """Skips tests whose inputs are those with which they passed, and records what passes.

    Under pytest-xdist the workers skip, and the process that has their reports records.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._green = Green(default_paths())
        self._before = Inputs(default_paths())
        self._passed: dict[str, tuple[str, Sequence[str]]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(trylast=True)  # after those that are not selected are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Give each test the digest of its inputs, and skip what passed with them."""
        for item in items:
            names = [name for mark in item.iter_markers("inputs") for name in mark.args]
            if not names:
                continue
            names.append(item.path.relative_to(_ROOT).as_posix())
            digest = _digest(self._before, names)
            item.user_properties.append(("inputs", [digest, *names]))
            place = self._green.vouches(item.nodeid, digest)
            if place and self._config.getoption("--recorded"):
                why = f"passed {place} with the same inputs ({digest[:SHOWN]}); --all runs it"
                item.add_marker(pytest.mark.skip(reason=why))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what passed."""
        if report.failed:
            self._failed.add(report.nodeid)
        for key, value in report.user_properties:
            if key == "inputs" and report.when == "call" and report.passed:
                digest, *names = value if isinstance(value, list) else [str(value)]
                self._passed[report.nodeid] = (digest, names)

    def pytest_sessionfinish(self) -> None:
        """Record what passed, unless its inputs changed meanwhile."""
        if hasattr(self._config, "workerinput"):
            return
        after = Inputs(default_paths())
        kept = {
            test: digest
            for test, (digest, names) in self._passed.items()
            if digest and test not in self._failed and _digest(after, names) == digest
        }
        if kept:
            with suppress(OSError):  # then they run again
                self._green.add(kept)


def _digest(inputs: Inputs, names: Sequence[str]) -> str:
    """Of the named files and folders; of the packages, too, unless only C++ counts.

    Empty, which no record has, where the compiler is missing on which they depend.
    """
    try:
        code = inputs.of(tuple(sorted(names)))
        headers = all(name.startswith(("ns3-modules/", "tests/")) for name in names)
        return code if headers else f"{code[:16]}{inputs.packages[:16]}"
    except UserError:
        return ""
