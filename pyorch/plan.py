"""The plan: an experiment becomes a list of runs, each canonical JSON with a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from pyorch.base.errors import UserError, quoted, refusal
from pyorch.base.fingerprint import of_types
from pyorch.base.units import whole
from pyorch.metrics import Metric, parse
from pyorch.metrics.base import written
from pyorch.network.failing import draw_failed_links
from pyorch.setting.canonical import (
    Around,
    Setting,
    around_seed,
    behind_seed,
    canonical_json,
    decode,
    encode,
)
from pyorch.setting.experiment import Experiment, Point

HASH_DIGITS = 16
MAX_SEED = 2**32 - 1
MAX_RUNS = 100_000
"""Runs that are planned at once; their RunSpecs lie in memory."""
_SEEDS = 'a whole number from 1 (20: the seeds 1 to 20), or the first and the last ("21-40")'
_LISTED = f"whole numbers from 1 to {MAX_SEED}"


@dataclass(frozen=True, slots=True, eq=False)
class RunSpec:
    """One run: a setting, a seed and what is to be measured. Equal content is an equal run.

    around: what the hash is made of beside the seed where the setting is not that of an experiment,
    because links that fail were drawn. time_limit: wall time after which an engine ends the run
    [s]. threads: of the run; "auto": an engine chooses. Both change no result, and are in neither
    the canonical form nor the hash.
    """

    setting: Setting
    seed: int
    metrics: tuple[Metric, ...] = ()
    around: Around | None = field(default=None, repr=False)
    time_limit: int | None = field(default=None, repr=False)
    threads: int | Literal["auto"] = field(default=1, repr=False)

    @property
    def title(self) -> str:
        """The run for people: its parameters and its seed."""
        return title_of(self.params, self.seed)

    @property
    def params(self) -> Mapping[str, Any]:
        """The variant and the swept values."""
        return self.setting.params

    def to_data(self) -> dict[str, Any]:
        """Return the canonical form, a table of JSON in integer units."""
        metrics = json.loads(_metrics_json(self.metrics))
        return {**encode(self.setting), "seed": self.seed, "metrics": metrics}

    def to_json(self) -> str:
        """Return canonical JSON: sorted keys, no spaces, ASCII."""
        return self._around().json(self.seed, f'"metrics":{_metrics_json(self.metrics)}')

    def hash(self, fingerprint: str) -> str:
        """Return the 16 hex digits that name the run's folder.

        fingerprint: of the built modules; what of it concerns this run counts, so that a result is
        never taken from older code, and stays when other code changes.
        """
        return _hash_again(self._around(), self.seed, fingerprint)

    @property
    def types(self) -> frozenset[str]:
        """Full names of the ns-3 types that the run names."""
        return self._around().types

    def _around(self) -> Around:
        if self.around is None:
            return self.setting.around
        return self.around._replace(behind=behind_seed(self.setting))

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """Return the RunSpec of its JSON. Raises ValueError when the text is none.

        The kinds of its own that it has must be active: see `pyorch.kinds.read_spec`.
        """
        data = _table(text)
        try:
            seed, metrics = data.pop("seed"), data.pop("metrics")
            return cls(decode(data), seed, tuple(parse(metric) for metric in metrics))
        except (KeyError, TypeError, UserError) as error:
            raise ValueError(f"not a RunSpec: {error}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunSpec) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())


def hash_of_json(text: str, fingerprint: str) -> str:
    """Return the hash of a RunSpec by its JSON, also where its kinds are not known.

    Raises ValueError when the text is not a JSON table.
    """
    data = _table(text)
    return _hash(around_seed(data), data.get("seed"), fingerprint)


@lru_cache(maxsize=16)
def _metrics_json(metrics: tuple[Metric, ...]) -> str:
    return canonical_json([written(metric) for metric in metrics])


def metrics_digest(metrics: tuple[Metric, ...]) -> str:
    """The name under which summary.json keeps the values of some metrics: 16 hex digits."""
    return hashlib.sha256(_metrics_json(metrics).encode()).hexdigest()[:HASH_DIGITS]


def _table(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"a RunSpec is not read from {quoted(text)}") from error
    if not isinstance(data, dict):
        raise ValueError("a RunSpec is a JSON table")
    return data


def _hash(around: Around, seed: object, fingerprint: str) -> str:
    used = of_types(fingerprint, around.types)
    text = f"{around.json(seed)}\n{used}"
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


_hash_again = lru_cache(maxsize=16)(_hash)
"""Of few runs, which may be large: a million messages are text of 50 MB."""


def read_seeds(text: str) -> range | None:
    """Return the seeds that --seeds asks for: "20" is 1 to 20, "1001-1500" is that; "": None.

    Raises UserError when it is neither.
    """
    if not isinstance(text, str):
        raise refusal("--seeds", f"{quoted(text)} is not text", _SEEDS)
    if text == "":
        return None
    first, dash, last = text.partition("-")
    if not dash:
        first, last = "1", text
    low, high = whole(first), whole(last)
    if low is None or high is None or not 1 <= low <= high <= MAX_SEED:
        raise refusal("--seeds", f"{text!r} is not allowed", _SEEDS)
    seeds = range(low, high + 1)
    _refuse_too_many("--seeds", len(seeds), f"{len(seeds)} seeds")
    return seeds


def _refuse_too_many(where: str, count: int, what: str) -> None:
    if count > MAX_RUNS:
        hint = "run them in parts, such as --seeds 1-1000 and --seeds 1001-2000"
        raise refusal(where, what, f"at most {MAX_RUNS} runs at once", hint)


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
    setting, metrics = point.setting, experiment.metrics
    apart: dict[str, Any] = {"time_limit": experiment.time_limit, "threads": experiment.threads}
    if not setting.topology.random_failed_links:
        yield from (RunSpec(setting, seed, metrics, **apart) for seed in seeds)
        return
    around = setting.around._replace(behind=None)
    for seed in seeds:
        try:
            drawn = draw_failed_links(setting.topology, seed)
        except UserError as error:
            raise UserError([one.inside(experiment.label) for one in error.problems]) from error
        yield RunSpec(replace(setting, topology=drawn), seed, metrics, around, **apart)


def _checked(seeds: object) -> Sequence[int]:
    """Return seeds given by a program. Raises UserError when they are not seeds."""
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Sequence):
        raise refusal("seeds", f"{quoted(seeds)} is not a list of seeds", _LISTED)
    _refuse_too_many("seeds", len(seeds), f"{len(seeds)} seeds")
    wrong = [seed for seed in seeds if type(seed) is not int or not 1 <= seed <= MAX_SEED]
    if wrong:
        raise refusal("seeds", f"{quoted(wrong[0])} is not a seed", _LISTED)
    return seeds


def title_of(params: Mapping[str, Any], seed: object) -> str:
    """Return the title of a run with some parameters and a seed."""
    parameters = [f"{key}={value}" for key, value in params.items() if value != ""]
    return " ".join([*parameters, f"seed={seed}"])
