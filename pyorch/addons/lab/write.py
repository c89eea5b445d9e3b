"""The files of a minimisation: an experiment file, a picture, the table of steps."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyorch.addons.lab.case import Case, Part
from pyorch.addons.lab.explicit import Place, tables_of
from pyorch.addons.lab.minimise import Minimal
from pyorch.addons.lab.trials import Trials, Written
from pyorch.base.errors import refusal
from pyorch.base.files import replacing, storage_error, write_atomically
from pyorch.base.findings import Findings
from pyorch.engine import LocalEngine
from pyorch.metrics.base import written
from pyorch.plan import RunSpec
from pyorch.report.data import ReportData
from pyorch.report.figures import MODELS, FigureError
from pyorch.report.style import paper_style

MADE_BY = "# The least of a run, found by `pyorch minimise`"
"""How files of this kind begin: no other file is overwritten."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def check_target(file: Path, made_by: str = MADE_BY, suffix: str = ".toml") -> None:
    """Check before anything runs that the result can be written. Raises UserError.

    made_by: how an earlier result begins, which may be overwritten. suffix: of the file's name.
    """
    where = f"--out {file}"
    if file.suffix != suffix:
        what = (
            "is not a valid name of an experiment file"
            if suffix == ".toml"
            else "is not a valid name of a table"
        )
        raise refusal(where, what, f"NAME{suffix}")
    if not file.parent.is_dir():
        raise refusal(where, f"there is no folder {file.parent}")
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise refusal(where, "cannot be written", hint="choose another place")
    if file.exists() and not file.read_text(encoding="utf-8", errors="replace").startswith(made_by):
        what = "there is a file of that name, which is not an earlier result"
        raise refusal(where, what, hint="choose another name, or remove it")


def write(minimal: Minimal, file: Path) -> Written:
    """Write a result to `file`, and .steps.csv and .png with the same name.

    Performs one more run, with the tables that the picture needs. Raises UserError.
    """
    check_target(file)
    steps, picture = file.with_suffix(".steps.csv"), file.with_suffix(".png")
    content, comments = described(minimal)
    try:
        write_atomically(file, dump(content, comments, _head(minimal)))
        write_atomically(steps, table_of_steps(minimal))
        drawn, cycle = draw(minimal.trials, content, picture)
    except OSError as error:
        raise storage_error(error, file) from error
    return Written(file, steps, picture if drawn else None, cycle)


def described(minimal: Minimal) -> tuple[dict[str, Any], dict[Place, str]]:
    """The tables of the file, and remarks on their parts."""
    asked = minimal.condition.text
    tables = tables_of(minimal.case, f"{minimal.origin}, reduced while {asked}")
    content = dict(tables.content)
    content["question"] = f"Which part of the run is needed for the condition '{asked}'?"
    content["source"] = f"run {minimal.run_hash} of {minimal.origin}"
    content |= measured(minimal.trials, minimal.case, f"run {minimal.run_hash}")
    told: dict[Place, str] = {}
    for need in minimal.needs:
        place = tables.places.get(need.part)
        if place is not None:
            told.setdefault(place, _why(minimal, need.part, need.outcome.why))
    return content, told


def measured(trials: Trials, case: Case, source: str) -> dict[str, Any]:
    """The traces, metrics, figures and expectations of a case. source: of the expectation."""
    content: dict[str, Any] = {}
    traces = [dict(trace) for trace in trials.content(case).get("trace", [])]
    known = {trace["table"] for trace in traces}
    tables_needed = ("pause", "deadlock") if trials.condition.is_deadlock else ("pause",)
    content["trace"] = traces + [{"table": t} for t in tables_needed if t not in known]
    content["metric"] = [written(metric) for metric in trials.metrics]
    if trials.condition.is_deadlock:
        content["metric"] = [{"name": "deadlock", "kind": "summary", "number": "deadlocked"}]
        content["figure"] = [{"name": "network", "kind": "deadlock_map", "frames": 0}]
        expect = {"what": "it deadlocks", "metric": "deadlock", "equals": 1, "status": "ours"}
        content["expect"] = [expect | {"source": source}]
    if not content["metric"]:
        del content["metric"]
    return content


def _why(minimal: Minimal, part: Part, impossible: str) -> str:
    what = part[0] if part[0] in ("host", "link", "switch", "flow") else "it"
    name = f"flow {part[1]} of the run" if part[0] == "flow" else f"this {what}"
    name = "it" if what == "it" else name
    if impossible == "no flow is left":
        return "every flow needs it"
    if impossible:
        return f"without {name} the run is impossible: {impossible}"
    return f"without {name}: not {minimal.condition.text}"


def _head(minimal: Minimal) -> str:
    before = ", ".join(f"{count} {what}" for what, count in minimal.before.items())
    after = ", ".join(f"{count} {what}" for what, count in minimal.case.measures().items())
    lines = [
        f"{MADE_BY} (docs/deadlock-lab.md).",
        f"# From: {minimal.origin} (run {minimal.run_hash}): {before}.",
        f"# Left: {after}; {len(minimal.steps)} trials.",
        f"# Condition: {minimal.condition.text}. Each part with a remark was also removed alone.",
    ]
    return "\n".join(lines) + "\n"


def table_of_steps(minimal: Minimal) -> str:
    """All trials in order, as CSV."""
    return csv_of([step.row(number) for number, step in enumerate(minimal.steps, start=1)])


def csv_of(rows: Sequence[Mapping[str, Any]], head: str = "") -> str:
    """Rows with the same columns as CSV. head: the first line, a comment."""
    text = io.StringIO()
    text.write(head)
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


# ---------------------------------------------------------------------------------------------
# TOML with comments


def dump(content: Mapping[str, Any], comments: Mapping[Place, str], head: str = "") -> str:
    """Return tables as TOML, with a comment after each item for which `comments` has one."""
    lines = [head] if head else []
    plain = {key: value for key, value in content.items() if not _is_table(value)}
    lines += _pairs(plain, comments, ())
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(key)}]", *_pairs(value, comments, (key,))]
        elif _is_table(value):
            for number, entry in enumerate(value):
                lines += ["", f"[[{_key(key)}]]{_comment(comments, (key, number))}"]
                lines += _pairs(entry, comments, (key, number))
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    is_list = isinstance(value, list) and bool(value)
    return isinstance(value, Mapping) or (is_list and all(isinstance(v, Mapping) for v in value))


def _pairs(table: Mapping[str, Any], comments: Mapping[Place, str], place: Place) -> Iterator[str]:
    for key, value in table.items():
        at: Place = (*place, key)
        count = len(value) if isinstance(value, list) else 0
        if count == 1 and at not in comments:
            at = (*at, 0)
        if not any((*at, number) in comments for number in range(count)):
            yield f"{_key(key)} = {_value(value)}{_comment(comments, at)}"
            continue
        yield f"{_key(key)} = ["
        for number, entry in enumerate(value):
            yield f"  {_value(entry)},{_comment(comments, (*at, number))}"
        yield "]"


def _comment(comments: Mapping[Place, str], place: Place) -> str:
    return f"  # {comments[place]}" if place in comments else ""


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# ---------------------------------------------------------------------------------------------
# The picture


def draw(trials: Trials, content: Mapping[str, Any], file: Path) -> tuple[bool, tuple[str, ...]]:
    """Draw the network of a result; return whether there is a picture, and its cycle.

    Performs the run of the result's file. Raises UserError.
    """
    spec = trials.spec(dict(content))
    _make(trials, spec)
    fingerprint = trials.plan.build.fingerprint
    is_deadlock = trials.condition.is_deadlock
    kind = "deadlock_map" if is_deadlock else "pause_map"
    findings = Findings("figure")
    model = findings.validate_kind(
        "figure", MODELS, {"name": "network", "kind": kind, "frames": 0}, ()
    )
    assert model is not None  # noqa: S101 (written here)
    data = ReportData.of(trials.store, [spec], fingerprint, (), trials.plan.experiment.file)
    with paper_style():
        try:
            canvas = model.draw(data).canvas
        except FigureError:
            return False, ()
        with replacing(file) as temporary:
            canvas.savefig(temporary, dpi=200, metadata={"Software": None})
    return True, _cycle(trials, spec) if is_deadlock else ()


def _make(trials: Trials, spec: RunSpec) -> None:
    """Perform the run of the result's file. Raises UserError if it is not what was looked for."""
    missing = trials.store.missing([spec], trials.plan.build.fingerprint)
    result = LocalEngine(trials.store, 1, stream=io.StringIO()).run(missing, trials.plan.build)
    if result.interrupted:
        raise KeyboardInterrupt
    outcome = trials.judge(spec)
    if not outcome.holds:
        what = f"the run of the file is not {trials.condition.text} ({outcome.why})"
        raise refusal("the result", what, hint="this is a defect: please report it")


def _cycle(trials: Trials, spec: RunSpec) -> tuple[str, ...]:
    """The egresses of the first cyclic deadlock of a run, in order."""
    store = trials.store
    run_hash = spec.hash(trials.plan.build.fingerprint)
    names = store.read_summary(run_hash)["nodes"]
    episodes = store.read_table(run_hash, "deadlock")
    number = int(episodes[episodes["kind"] == 0]["episode"].iloc[0])
    parts = store.read_table(run_hash, "deadlock_part")
    parts = parts[(parts["episode"] == number) & (parts["part"] == 0)]
    ends = zip(parts["node"], parts["peer"], strict=True)
    return tuple(f"{names[node]}:{names[peer]}" for node, peer in ends)
