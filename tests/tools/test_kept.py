"""Runs that are kept for the laboratory's tests are those that would be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyorch.base.paths import Paths
from pyorch.store.store import Store
from tests.kept import Kept, version
from tests.store.test_store import FINGERPRINT, finish, make_spec, metric


def test_a_kept_run_is_the_same_in_another_store(tmp_path: Path) -> None:
    """By its whole content, and its code in C++ and Python: of another nothing is kept."""
    one, two = (Store(Paths(tmp_path / name), "study") for name in ("one", "two"))
    spec = make_spec()
    run_hash = finish(one, spec, tables={"flow": {"size": [1, 2]}}, events=7)
    kept = Kept(tmp_path / "kept", "now")
    kept.keep(one, make_spec(2), FINGERPRINT)  # it is not done
    assert not kept.restore(two, make_spec(2), FINGERPRINT)
    kept.keep(one, spec, FINGERPRINT)
    measured = make_spec(metrics=[metric("events")])
    assert measured.hash(FINGERPRINT) == run_hash
    for other, fingerprint in ((measured, FINGERPRINT), (spec, "e" * 64)):
        assert not kept.restore(two, other, fingerprint)
    assert kept.restore(two, spec, FINGERPRINT)
    assert two.is_done(run_hash)
    assert two.read_summary(run_hash) == one.read_summary(run_hash)
    assert two.read_table(run_hash, "flow").equals(one.read_table(run_hash, "flow"))
    assert not Kept(tmp_path / "kept", "later").restore(one, spec, FINGERPRINT)
    assert not any((tmp_path / "kept").iterdir()), "of older code nothing stays"


@pytest.mark.slow
def test_the_version_is_that_of_all_code_that_makes_a_run() -> None:
    """It is found, and the same twice."""
    assert version() == version()
