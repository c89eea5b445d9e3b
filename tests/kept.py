"""Runs of the laboratory's tests, kept by content: the same code makes the same bytes again."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pyorch.base.paths import default_paths
from pyorch.build import BuildInfo
from pyorch.engine import LocalEngine
from pyorch.engine.base import BatchResult
from pyorch.plan import RunSpec
from pyorch.store.store import Store
from tests.inputs import ROOT, imported
from tools.green import KEPT_RUNS, Inputs

#: What a run imports, and what it loads by name.
_STARTS = ("pyorch/run/process.py", "pyorch/run/serve.py")
_LOADED = ("pyorch/network", "pyorch/traffic", "pyorch/setting", "pyorch/metrics")


class Kept:
    """Finished runs of earlier tests, by their hash, in which the C++ counts, and their content."""

    def __init__(self, home: Path, version: str) -> None:
        self._folder = home / version
        for other in home.iterdir() if home.is_dir() else ():
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)

    def restore(self, store: Store, spec: RunSpec, fingerprint: str) -> bool:
        """Whether the run was kept, and now is in the store."""
        kept = self._place(spec, fingerprint)
        if not kept.is_dir():
            return False
        run_hash = spec.hash(fingerprint)
        store.prepare()
        attempt = store.begin(run_hash)
        shutil.copytree(kept, attempt.folder, dirs_exist_ok=True)
        store.commit(attempt.folder, run_hash, fingerprint)
        return True

    def keep(self, store: Store, spec: RunSpec, fingerprint: str) -> None:
        """Keep a run if it is done; what failed is run again."""
        kept = self._place(spec, fingerprint)
        run_hash = spec.hash(fingerprint)
        if store.is_done(run_hash) and not kept.exists():
            aside = self._folder / f".{uuid.uuid4().hex}"
            shutil.copytree(store.folder(run_hash), aside)
            with suppress(OSError):  # another test kept it meanwhile
                aside.rename(kept)

    def _place(self, spec: RunSpec, fingerprint: str) -> Path:
        content = hashlib.sha256(spec.to_json().encode()).hexdigest()
        return self._folder / f"{spec.hash(fingerprint)}-{content[:16]}"


def version() -> str:
    """Of the Python code that makes runs, and of what is installed."""
    inputs = Inputs(default_paths())
    files = {*_STARTS, *_LOADED, *(one for name in _STARTS for one in imported(ROOT / name))}
    return f"{inputs.of(tuple(sorted(files)))}-{inputs.packages}"


@pytest.fixture(scope="module", autouse=True)
def kept_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--recorded`: runs of this process are made once, until the code changes."""
    if not request.config.getoption("--recorded"):
        yield
        return
    kept = Kept(default_paths().build_root / KEPT_RUNS, version())
    simulate = LocalEngine.run

    def run(engine: LocalEngine, specs: Sequence[RunSpec], build: BuildInfo) -> BatchResult:
        store, fingerprint = engine._store, build.fingerprint
        names = {spec.hash(fingerprint): spec for spec in specs}
        fresh = {
            name: spec for name, spec in names.items() if not kept.restore(store, spec, fingerprint)
        }
        result = simulate(engine, list(fresh.values()), build)
        for spec in fresh.values():
            kept.keep(store, spec, fingerprint)
        return replace(result, done=result.done + len(names) - len(fresh))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "run", run)
        yield
