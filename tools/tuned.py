"""The page of the tuned schemes: what each sets at which rate, and where that is from.

`python -m tools.tuned` writes docs/results/schemes.md from experiments/schemes; a test compares it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pyorch.base.files import write_atomically
from pyorch.base.paths import Paths, default_paths
from pyorch.base.units import format_rate
from pyorch.files.presets import read_presets
from pyorch.files.schemes import environment
from pyorch.files.variants import read_library
from pyorch.network import topology
from pyorch.network.kinds import Star

RATES = (25, 100, 400)
"""Gb/s."""
BUFFER = {"size": "32MB", "lossy_pool": "0B"}
PORTS = 32
HEAD = f"""# Tuned schemes: which parameters at which rate

What the schemes of `experiments/schemes/` set for a switch of {PORTS} ports with {BUFFER["size"]}
for lossless classes, and links of 500 ns. `pyorch show NAME --details` has those of your network,
`pyorch schemes NAME` the rules. Written by `python -m tools.tuned`.

| key | {" | ".join(f"{rate} Gb/s" for rate in RATES)} | from | schemes |
|---|{"---|" * (len(RATES) + 2)}
"""


def page(paths: Paths) -> str:
    """Return the page, as Markdown."""
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    names = []
    for rate in RATES:
        star = Star.model_validate(
            {"kind": "star", "hosts": PORTS, "rate": f"{rate}Gbps", "delay": "500ns"}
        )
        names.append(environment({"buffer": BUFFER}, topology.build(star)))
    for scheme in read_library(paths):
        for key, value in scheme.values.items():
            spelled = [_text(value.spell(known)) for known in names]
            rows[key, *spelled, value.source].append(scheme.short or scheme.name)
    lines = [
        f"| `{key}` | {' | '.join(values)} | {source} | {', '.join(schemes)} |"
        for (key, *values, source), schemes in sorted(rows.items())
    ]
    return HEAD + "\n".join(lines) + "\n" + "\n".join(_presets(paths)) + "\n"


def _presets(paths: Paths) -> Iterator[str]:
    """What fits one rate only."""
    yield ""
    yield "## Values for one rate"
    yield ""
    yield "Defaults and parameter sets that do not scale; `show` warns where they do not fit."
    yield ""
    yield "| section | set | for hosts of |"
    yield "|---|---|---|"
    for section, presets in sorted(read_presets(paths).items()):
        for name, preset in sorted(presets.items()):
            if preset.line_rate is not None:
                yield f"| `{section}` | `{name}` | {format_rate(preset.line_rate)} |"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(paths: Paths) -> Path:
    """Write the page, and return it. Raises OSError."""
    file = paths.root / "docs" / "results" / "schemes.md"
    write_atomically(file, page(paths))
    return file


if __name__ == "__main__":
    print(write(default_paths()))
