"""`python -m tools.chakra_example FOLDER`: the traces of experiments/ai/training, a made-up job.

Eight ranks train two layers: pairs of ranks share tensors, every second rank shares data.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pyorch.addons.jobs.chakra import Node, Value, write

RANKS, LAYERS = 8, 2
ALL_REDUCE = 0
FORWARD, BACKWARD = 100, 200
"""Computation of a layer [us]."""
ACTIVATIONS, GRADIENTS = 500_000, 1_000_000
"""Bytes of a layer."""


def groups() -> dict[str, list[int]]:
    """Return the ranks of each process group."""
    pairs = {f"tensor{n}": [2 * n, 2 * n + 1] for n in range(RANKS // 2)}
    return pairs | {f"data{n}": list(range(n, RANKS, 2)) for n in range(2)}


def nodes(rank: int) -> Iterator[Node]:
    """Yield the nodes of a rank: forward, backward, and the sums of gradients in parallel."""
    tensor, data = f"tensor{rank // 2}", f"data{rank % 2}"
    number = 0
    last: tuple[int, ...] = ()

    def compute(name: str, duration: int) -> Node:
        return Node(number, "COMP_NODE", last, duration, {"is_cpu_op": False}, name)

    def reduce(name: str, group: str, size: int) -> Node:
        more: dict[str, Value] = {"comm_type": ALL_REDUCE, "comm_size": size, "pg_name": group}
        more["is_cpu_op"] = False
        return Node(number, "COMM_COLL_NODE", last, 0, more, name)

    for layer in range(2 * LAYERS):
        forward = layer < LAYERS
        way = "forward" if forward else "backward"
        of = layer if forward else 2 * LAYERS - 1 - layer
        yield compute(f"{way}{of}", FORWARD if forward else BACKWARD)
        last, number = (number,), number + 1
        yield reduce(f"{way}{of}_activations", tensor, ACTIVATIONS)
        last, number = (number,), number + 1
        if not forward:
            yield reduce(f"gradients{of}", data, GRADIENTS)  # the next layer does not wait for it
            number += 1


def main(folder: Path) -> None:
    """Write the traces and the groups."""
    for rank in range(RANKS):
        (folder / f"training.{rank}.et").write_bytes(write(nodes(rank)))
    (folder / "training-groups.json").write_text(json.dumps(groups(), indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
