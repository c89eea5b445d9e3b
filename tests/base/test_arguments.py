"""Objects of wrong types, given to public functions: refused as other input is."""

from __future__ import annotations

import datetime
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pyorch.base.arguments import _FORMS
from pyorch.base.errors import UserError
from pyorch.base.paths import Paths
from pyorch.study import Study
from tests.strategies import MINIMAL, write


class Mean:
    """Its texts cannot be asked for."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __iter__ = __eq__ = __hash__ = __repr__  # type: ignore[assignment]


SELF: list[Any] = []
SELF.append(SELF)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]

WRONG: dict[str, Callable[[Study], Any]] = {
    "name: ['x'] is not allowed": lambda _: Study(name=["x"]),  # type: ignore[arg-type]
    "name: {} is not allowed": lambda _: Study(name={}),  # type: ignore[arg-type]
    "title: 3 is not allowed": lambda _: Study(title=3),  # type: ignore[arg-type]
    "paths: 'here' is not allowed": lambda _: Study(paths="here"),  # type: ignore[arg-type]
    "allowed: Paths or None": lambda _: Study(paths=1),  # type: ignore[arg-type]
    "nested more than 32 deep": lambda _: Study(traffic=SELF),
    "are nested more": lambda _: Study(run={"duration": DEEP}),
    "buffer.alpha: {1} is not text": lambda _: Study(buffer={"alpha": {1}}),
    "traffic.0: an object of Mean is not": lambda _: Study(traffic=Mean()),
    "buffer.alpha: 2024-01-01 is a date": lambda _: Study(
        buffer={"alpha": datetime.date(2024, 1, 1)}
    ),
    "load: name: True is not allowed": lambda _: Study.load(True),  # type: ignore[arg-type]
    "load: name: b'x' is not allowed": lambda _: Study.load(b"x"),  # type: ignore[arg-type]
    "load: overrides: 'a=1'": lambda _: Study.load("x", "a=1"),
    "load: overrides: [1]": lambda _: Study.load("x", [1]),  # type: ignore[list-item]
    "load: seeds: 1.5": lambda _: Study.load("x", seeds=1.5),  # type: ignore[arg-type]
    "only: variants: 3 is not allowed": lambda s: s.only(3),  # type: ignore[arg-type]
    "only: variants: None": lambda s: s.only("A", None),  # type: ignore[arg-type]
    "seeds: [1, 2] is not allowed": lambda s: s.seeds([1, 2]),  # type: ignore[arg-type]
    "seeds: True is not allowed": lambda s: s.seeds(True),
    "set: key: 3 is not allowed": lambda s: s.set(3, 1),  # type: ignore[arg-type]
    "an object of Mean is not allowed in an experiment file": lambda s: s.set("a.b", Mean()),
    "a number with thousands of digits is not": lambda s: s.set("a.b", 10**5000),
    "[[...]] is not allowed": lambda s: s.set("a.b", SELF),
    "sweep: values: 3 is not allowed": lambda s: s.sweep("a.b", 3),  # type: ignore[arg-type]
    "sweep: values: 'ab'": lambda s: s.sweep("a.b", "ab"),
    "sweep: values: an object of Mean cannot be listed": lambda s: s.sweep("a.b", Mean()),  # type: ignore[arg-type]
    "run: jobs: 'two' is not allowed": lambda s: s.run("two"),  # type: ignore[arg-type]
    "run: progress: 1 is not": lambda s: s.run(progress=1),  # type: ignore[arg-type]
    "explain: run: None": lambda s: s.explain(None),  # type: ignore[arg-type]
    "explain: out: 7 is not": lambda s: s.explain(1, 7),  # type: ignore[arg-type]
    "minimise: condition: 1": lambda s: s.minimise(1, 1),  # type: ignore[arg-type]
    "search: vary: 'a'": lambda s: s.search(vary="a"),
    "search: trials: '9'": lambda s: s.search(trials="9"),  # type: ignore[arg-type]
    "map_region: cells: 1.5": lambda s: s.map_region([], cells=1.5),  # type: ignore[arg-type]
    "prevent: root: None": lambda s: s.prevent(root=None),  # type: ignore[arg-type]
    "table: name: ['a']": lambda s: s.table(["a"]),  # type: ignore[arg-type]
    "report: paper: 'no'": lambda s: s.report("no"),  # type: ignore[arg-type]
    "submit: options: 3": lambda s: s.submit(partition=3),  # type: ignore[arg-type]
    "collect: partial: []": lambda s: s.collect([]),  # type: ignore[arg-type]
    "save: file: 3 is not allowed": lambda s: s.save(3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_types_are_refused_by_name(told: str, tmp_path: Path) -> None:
    """With the argument and its value, before anything is planned or compiled."""
    study = Study.load("x", paths=write(tmp_path, MINIMAL))
    with pytest.raises(UserError, match=re.escape(told)):
        WRONG[told](study)


def test_a_filter_that_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    """Whatever the class of its value does when it is compared or shown."""
    study = Study.load("x", paths=write(tmp_path, MINIMAL))
    plan: Any = SimpleNamespace(specs=[SimpleNamespace(params={}, seed=1)])
    with pytest.raises(UserError, match="is not something that runs have"):
        study._chosen(plan, {"seed": Mean()})


def test_what_fits_passes(tmp_path: Path) -> None:
    """Paths, numbers of numpy and ranges; Python says which argument is missing or unknown."""
    paths = write(tmp_path, MINIMAL)
    study = Study.load(paths.experiments / "x.toml", ("run.duration=2ms",), paths=paths)
    study = study.seeds(np.int64(2)).set(buffer={"alpha": 1}).sweep("traffic.0.class", range(3))  # type: ignore[arg-type]
    assert "traffic.0.class=0,1,2" in repr(study)
    with pytest.raises(TypeError, match="missing 1 required"):
        study.table()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword"):
        study.seeds(1, number=2)  # type: ignore[call-arg]
    assert str(inspect.signature(Study.seeds)) == "(self, seeds: 'int | str') -> 'Study'"


def test_every_argument_of_a_study_has_a_known_form() -> None:
    """Or names a class, or takes anything: another word would refuse whatever is given."""
    methods = [one for name, one in vars(Study).items() if name[0] != "_" or name == "__init__"]
    for method in [
        getattr(one, "__func__", one) for one in methods if not isinstance(one, property)
    ]:
        for parameter in list(inspect.signature(method).parameters.values())[1:]:
            forms = str(parameter.annotation).split(" | ")
            assert "Any" in forms or set(forms) <= {*_FORMS, Paths.__name__}, (method, forms)
