"""`trace`: repeat a run to get pcap files and an animation."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyorch.base.errors import one_of
from pyorch.base.units import format_time
from pyorch.cli.base import BAD_INPUT, FAILED, OK, command
from pyorch.engine.base import describe_exit
from pyorch.network import topology
from pyorch.pipeline import Plan
from pyorch.study import Study
from pyorch.trace.capture import Options
from pyorch.trace.request import Words, read_options, run_again

SHOWN_FILES = 12


@command
def trace(name: str, run: str, words: Words, overrides: Sequence[str] = (), seeds: str = "") -> int:
    """Write the pcap files and the animation of one run, and print how to open them."""
    study = Study.named(name, overrides, seeds=seeds)
    plan, spec = study.planned, study.find(run)
    options = read_options(words, topology.build(spec.setting.topology))
    run_hash = spec.hash(plan.build.fingerprint)
    folder = Path(words.out) if words.out else plan.store.root / "traces" / run_hash
    again = run_again(plan, spec, folder, options)
    if again.said:
        print(again.said, file=sys.stderr)
    if again.returncode:
        print(f"the traced run failed: {describe_exit(again.returncode)}", file=sys.stderr)
        return BAD_INPUT if again.returncode == BAD_INPUT else FAILED
    _tell(again.answer, folder)
    if options.snap_bytes < Options().snap_bytes:
        print(
            f"frames are cut to {options.snap_bytes} bytes: Wireshark writes 'Malformed Packet' "
            "where it misses payload; the headers that are there are right"
        )
    return _compare(plan, run_hash, again.answer, options)


def _tell(answer: Mapping[str, Any], folder: Path) -> None:
    pcaps = answer["pcaps"]
    frames = sum(count for _, count, _ in pcaps)
    print(f"simulated {format_time(answer['end_ps'])}; wrote into {folder}:")
    for path, count, _ in pcaps[:SHOWN_FILES]:
        print(f"  {Path(path).name:<24} {count} frames")
    if len(pcaps) > SHOWN_FILES:
        print(f"  ... and {len(pcaps) - SHOWN_FILES} more, {frames} frames in all")
    if answer["animation"]:
        print(f"  {Path(answer['animation']).name:<24} {answer['frames']} frames on all links")
    cut = sum(count for _, _, count in pcaps)
    if cut:
        print(
            f"{cut} frames are shorter in the model than the headers of the standards, and are "
            "captured cut off (docs/traces.md says what to set for real sizes)"
        )
    if pcaps:
        print(f"open a capture:   wireshark {pcaps[0][0]}")
    if answer["animation"]:
        print(f"the animation:    NetAnim {answer['animation']}")


def _compare(plan: Plan, run_hash: str, answer: Mapping[str, Any], options: Options) -> int:
    """Print whether a complete run gave the stored results."""
    for problem in answer["problems"]:
        print(f"the run's result is wrong: {problem}", file=sys.stderr)
    if answer["problems"]:
        return FAILED
    if options.until_ps is not None or not plan.store.is_done(run_hash):
        return OK
    stored = plan.store.read_summary(run_hash)["summary"]
    if stored == answer["summary"]:
        print(f"results:          the same as those of the stored run {run_hash}")
        return OK
    names = {name for name, _ in set(stored.items()) ^ set(answer["summary"].items())}
    print(f"the results differ from the stored run {run_hash}: {one_of(sorted(names))}")
    return FAILED
