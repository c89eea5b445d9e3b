"""The plan: an experiment becomes a list of runs, each canonical JSON with a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, cast

from pyorch.config.experiment import Experiment, Point
from pyorch.config.failing import draw_failed_links
from pyorch.errors import Problem, UserError, quoted
from pyorch.fingerprint import of_types, types_in
from pyorch.spec import RunData, SettingData
from pyorch.units import whole

#: Parts of a RunSpec that do not change what is simulated.
NOT_HASHED = ("metrics",)
TYPELESS = ("topology", "traffic", "params", "metrics", "kinds", "packages")
"""Keys of a RunSpec below which no ns-3 type is named."""
HASH_DIGITS = 16
MAX_SEED = 2**32 - 1
MAX_RUNS = 100_000
"""Runs that are planned at once; their RunSpecs lie in memory."""
_SEEDS = 'a whole number from 1 (20: the seeds 1 to 20), or the first and the last ("21-40")'
_LISTED = f"whole numbers from 1 to {MAX_SEED}"


class Around(NamedTuple):
    """What a run's hash is made of: the JSON before and behind its seed, and the types it names.

    behind: None where it depends on the seed, because links that fail are drawn from it.
    """

    before: str
    behind: str | None
    types: frozenset[str]


@dataclass(frozen=True, eq=False)
class RunSpec:
    """One run: JSON-able data in integer units. Equal data is an equal run.

    around: what `_around_seed` returns for `data`, where somebody knows it already: the runs of a
    setting share it.
    """

    data: RunData
    around: Around | None = field(default=None, repr=False)

    @property
    def params(self) -> Mapping[str, Any]:
        """The variant and the swept values."""
        return self.data["params"]

    @cached_property
    def _json(self) -> str:
        return _canonical(self.data)

    @cached_property
    def _own_around(self) -> Around:
        return _around_seed(self.data)

    def to_json(self) -> str:
        """Return canonical JSON: sorted keys, no spaces, ASCII."""
        return self._json

    def hash(self, fingerprint: str) -> str:
        """Return the 16 hex digits that name the run's folder.

        fingerprint: of the built modules; what of it concerns this run counts, so that a result is
        never taken from older code, and stays when other code changes.
        """
        before, behind, types = self.around or self._own_around
        behind = _behind_seed(self.data) if behind is None else behind
        used = of_types(fingerprint, types)
        text = f"{before}{json.dumps(self.data.get('seed'))}{behind}\n{used}"
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """Return the RunSpec of its JSON. Raises ValueError when the text is not a JSON table."""
        try:
            data = json.loads(text)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"a RunSpec is not read from {quoted(text)}") from error
        if not isinstance(data, dict):
            raise ValueError("a RunSpec is a JSON table")
        return cls(cast(RunData, data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunSpec) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _around_seed(data: Mapping[str, Any]) -> Around:
    """Return what a run's hash is made of beside its seed.

    It is the same for all seeds of a setting, and most of the time that a hash takes.
    """
    types = frozenset(types_in({k: v for k, v in data.items() if k not in TYPELESS}))
    before = _canonical({k: v for k, v in data.items() if k < "seed" and k not in NOT_HASHED})[:-1]
    comma = "," if len(before) > 1 else ""
    return Around(f'{before}{comma}"seed":', _behind_seed(data), types)


def _behind_seed(data: Mapping[str, Any]) -> str:
    behind = _canonical({k: v for k, v in data.items() if k > "seed" and k not in NOT_HASHED})[1:]
    return behind if behind == "}" else f",{behind}"


def read_seeds(text: str) -> range | None:
    """Return the seeds that --seeds asks for: "20" is 1 to 20, "1001-1500" is that; "": None.

    Raises UserError when it is neither.
    """
    _refuse_no_text(text)
    if text == "":
        return None
    first, dash, last = text.partition("-")
    if not dash:
        first, last = "1", text
    low, high = whole(first), whole(last)
    if low is None or high is None or not 1 <= low <= high <= MAX_SEED:
        raise UserError([Problem("--seeds", f"{text!r} is not allowed", _SEEDS)])
    seeds = range(low, high + 1)
    _refuse_too_many("--seeds", len(seeds), f"{len(seeds)} seeds")
    return seeds


def _refuse_no_text(seeds: object) -> None:
    """Raise UserError when a program gives something else than text."""
    if not isinstance(seeds, str):
        raise UserError([Problem("--seeds", f"{quoted(seeds)} is not text", _SEEDS)])


def _refuse_too_many(where: str, count: int, what: str) -> None:
    if count > MAX_RUNS:
        hint = "do them in parts, such as --seeds 1-1000 and --seeds 1001-2000"
        raise UserError([Problem(where, what, f"at most {MAX_RUNS} runs at once", hint)])


def expand(experiment: Experiment, seeds: Sequence[int] | None = None) -> list[RunSpec]:
    """Return the runs of an experiment: by variant, swept keys as in the file, then seed.

    seeds: those to run instead of those of the file. Raises UserError when they are not seeds,
    when there are more than MAX_RUNS runs, and when random failed links cannot be drawn.
    """
    chosen = experiment.seeds if seeds is None else _checked(seeds)
    points = len(experiment.points)
    what = f"{points} settings and {len(chosen)} seeds are {points * len(chosen)} runs"
    _refuse_too_many(experiment.name, points * len(chosen), what)
    return [spec for point in experiment.points for spec in _of_point(experiment, point, chosen)]


def _of_point(experiment: Experiment, point: Point, seeds: Sequence[int]) -> Iterator[RunSpec]:
    """Yield the runs of one setting."""
    around = _around_seed(point.data)
    if point.data["topology"].get("random_failed_links"):
        around = around._replace(behind=None)
    for seed in seeds:
        yield RunSpec(_run_data(experiment, point.data, seed), around)


def _checked(seeds: object) -> Sequence[int]:
    """Return seeds given by a program. Raises UserError when they are not seeds."""
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Sequence):
        raise UserError([Problem("seeds", f"{quoted(seeds)} is not a list of seeds", _LISTED)])
    _refuse_too_many("seeds", len(seeds), f"{len(seeds)} seeds")
    wrong = [seed for seed in seeds if type(seed) is not int or not 1 <= seed <= MAX_SEED]
    if wrong:
        raise UserError([Problem("seeds", f"{quoted(wrong[0])} is not a seed", _LISTED)])
    return seeds


def _run_data(experiment: Experiment, data: SettingData, seed: int) -> RunData:
    try:
        topology = draw_failed_links(data["topology"], seed)
    except UserError as error:
        raise UserError([one.inside(experiment.label) for one in error.problems]) from error
    metrics = [dict(metric) for metric in experiment.metrics]
    return {**data, "seed": seed, "topology": topology, "metrics": metrics}
