"""Repeat one run of a study with captures: find the run, read the options, start a process."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyorch.base.errors import Problem, UserError, one_of, refusal, suggest
from pyorch.base.files import refuse_links
from pyorch.base.paths import program
from pyorch.base.units import parse_time, whole
from pyorch.engine.local import child_environment
from pyorch.engine.log import log_tail
from pyorch.network.topology import Topology
from pyorch.pipeline import Plan
from pyorch.plan import RunSpec
from pyorch.trace.capture import Options

MOST_FILES = 500
"""Maximum number of files; more are rarely intended, and each stays open during the run."""
SHOWN_RUNS = 20


@dataclass(frozen=True)
class Words:
    """The options of the command, as typed."""

    ports: tuple[str, ...] = ()
    until: str = ""
    out: str = ""
    snap: str = ""
    fcs: bool = False
    untagged: bool = False
    no_animation: bool = False


# ---------------------------------------------------------------------------------------------
# Words -> run and options


def find_run(specs: Sequence[RunSpec], fingerprint: str, text: str) -> RunSpec:
    """Find the run of a study that a text identifies.

    The text is its number from 1, its hash or the start of it, its title as `invoke show` prints
    it, or a unique part of the title. Raises UserError.
    """
    number = whole(text)
    if number is not None and 1 <= number <= len(specs):
        return specs[number - 1]
    if number is not None and len(text) < 4:  # longer ones may be the start of a hash
        nearest = 1 if number < 1 else len(specs)
        hint = f"did you mean {nearest}, {specs[nearest - 1].title!r}?"
        raise _no_run(specs, text, "there is no run with this number", hint)
    titles = [spec.title for spec in specs]
    tests = (
        [spec for spec, words in zip(specs, titles, strict=True) if words == text],
        [spec for spec in specs if len(text) >= 4 and spec.hash(fingerprint).startswith(text)],
        [spec for spec, words in zip(specs, titles, strict=True) if text and text in words],
    )
    for found in tests:
        if len(found) == 1:
            return found[0]
        if found:
            raise _no_run(found, text, f"{len(found)} runs match {text!r}")
    raise _no_run(specs, text, f"no run matches {text!r}")


def _no_run(specs: Sequence[RunSpec], text: str, what: str, hint: str | None = None) -> UserError:
    numbers = f"a number from 1 to {len(specs)}, a hash, or a title: "
    hint = hint or suggest(text, [spec.title for spec in specs])
    hint = hint or "invoke show NAME --details lists the runs"
    titles = one_of((spec.title for spec in specs), SHOWN_RUNS)
    return refusal("RUN", what, numbers + titles, hint)


def read_options(words: Words, network: Topology) -> Options:
    """Read the command's options. Raises UserError with all problems."""
    problems: list[Problem] = []
    ports = tuple(
        port for word in words.ports if (port := _port(word, network, problems)) is not None
    )
    until = _until(words.until, problems)
    snap = _snap(words.snap, problems)
    files = _count_files(ports, network)
    if files > MOST_FILES:
        what = f"{files} ports would be captured, each in its own file"
        hint = "name some: --port s0:h0, or --port s0 for all ports of s0"
        problems.append(Problem("--port", what, f"at most {MOST_FILES}", hint))
    if problems:
        raise UserError(problems)
    return Options(
        ports=ports,
        until_ps=until,
        fcs=words.fcs,
        tagged=not words.untagged,
        snap_bytes=snap,
        animate=not words.no_animation,
    )


def _port(word: str, network: Topology, problems: list[Problem]) -> tuple[str, str] | None:
    node, _, peer = word.partition(":")
    for end in (node, peer.partition("#")[0]) if ":" in word else (node,):
        if end not in network.numbers:
            what = f"there is no node {end!r}"
            problem = Problem(
                f"--port {word}", what, one_of(network.names), suggest(end, network.names)
            )
            problems.append(problem)
            return None
    if peer and network.port(node, peer) is None:
        near = sorted(b for a, b in network.links if a == network.numbers[node])
        what, _ = network.no_link(node, peer)
        allowed = one_of(f"{node}:{network.end_names[other]}" for other in near)
        problems.append(Problem(f"--port {word}", what, allowed))
        return None
    return node, peer


def _count_files(ports: Sequence[tuple[str, str]], network: Topology) -> int:
    if not ports:
        return 2 * len(network.a)
    ends = network.a.tolist() + network.b.tolist()
    return sum(1 if peer else ends.count(network.numbers[node]) for node, peer in ports)


def _until(text: str, problems: list[Problem]) -> int | None:
    if not text:
        return None
    try:
        until = parse_time(text)
    except ValueError as error:
        problems.append(Problem("--until", str(error)))
        return None
    if until == 0:
        problems.append(Problem("--until", "time starts at 0", "a time above 0"))
    return until


def _snap(text: str, problems: list[Problem]) -> int:
    longest = Options().snap_bytes
    if not text:
        return longest
    length = whole(text)
    if length is not None and 1 <= length <= longest:
        return length
    problems.append(Problem("--snap", f"{text!r} is not allowed", f"bytes from 1 to {longest}"))
    return longest


# ---------------------------------------------------------------------------------------------
# The run


@dataclass(frozen=True)
class Again:
    """The outcome of a repeated run: its exit code, its output, and the files it wrote."""

    returncode: int
    said: str
    answer: Mapping[str, Any]


def run_again(plan: Plan, spec: RunSpec, folder: Path, options: Options) -> Again:
    """Trace in a separate process, so that an abort of the simulator does not end this one.

    Raises UserError when the folder is a link of another user.
    """
    refuse_links(folder, plan.store.paths.results)
    request = {
        "spec": spec.to_json(),
        "build": str(plan.build.folder),
        "folder": str(folder.resolve()),
        "options": options.to_data(),
    }
    with tempfile.TemporaryDirectory() as aside:
        file = Path(aside) / "request.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        log = Path(aside) / "log.txt"
        with log.open("wb") as errors:
            child = subprocess.run(
                [*program("pyorch.trace.traced"), str(file)],
                env=child_environment(plan.store.paths),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                check=False,
                start_new_session=True,  # Ctrl-C reaches only this process, which ends the child
            )
        said = log_tail(log)
    answer = {} if child.returncode else json.loads(child.stdout.splitlines()[-1])
    return Again(child.returncode, said, answer)
