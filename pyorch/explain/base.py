"""What every explanation of a run has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.notebook import Readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyorch.explain.story import Egress
    from pyorch.network.topology import Topology
    from pyorch.pipeline import Plan
    from pyorch.plan import RunSpec
    from pyorch.store.store import Store
    from pyorch.trace.capture import Captured


@dataclass(frozen=True)
class Wires:
    """Captures around the closing of the cycle. start, stop: ps.

    pcaps: one for each port of the cycle. closing: the one that contains the pause that closed the
    cycle.
    """

    start: int
    stop: int
    pcaps: Mapping[Egress, Captured]
    closing: Captured | None
    animation: Path
    frames: int


@dataclass(frozen=True, repr=False)
class Explained(Readable):
    """The explanation of a run. spec: the study's run; told: the same with the tables it needs.

    simulated: number of runs that were not in the store. page: its index.html and
    captures, if it was written.
    """

    plan: Plan
    store: Store
    spec: RunSpec
    told: RunSpec
    network: Topology
    simulated: int
    page: tuple[Path, Wires | None] | None = field(default=None, kw_only=True)

    @property
    def run_hash(self) -> str:
        """Hash of the study's run."""
        return self.spec.hash(self.plan.build.fingerprint)

    @property
    def folder(self) -> Path:
        """The folder of its page."""
        return self.store.root / "pages" / self.run_hash

    @property
    def answer(self) -> str:
        """The answer in a sentence or two."""
        raise NotImplementedError

    def sentences(self) -> tuple[str, ...]:
        """The explanation, sentence by sentence."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """What a reader must know besides the sentences."""
        raise NotImplementedError
