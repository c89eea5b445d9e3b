"""The page of an explanation: a single HTML file, with its pcap files.

Also the output on a terminal: the same sentences and the same table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.base.errors import refusal, shown
from pyorch.base.files import make_folder, storage_error, write_atomically
from pyorch.base.findings import Findings
from pyorch.explain.base import Explained, Wires
from pyorch.explain.delays import PAUSES, RECEIVER
from pyorch.explain.explanation import Explanation, capture
from pyorch.explain.outcomes import AS_IT_WAS, GROUPS, Outcome
from pyorch.explain.slow import Slow, Table
from pyorch.explain.story import Blocked, Story
from pyorch.report import embed
from pyorch.report.data import ReportData
from pyorch.report.figures import MODELS
from pyorch.report.figures.network_live import PLAY
from pyorch.report.page import STEP_MS, template
from pyorch.report.quantities import show
from pyorch.report.setting import Setting, setting
from pyorch.report.style import paper_style
from pyorch.report.write import versions, write_figure
from pyorch.sizing.capacity import PFC

if TYPE_CHECKING:
    from pyorch.report.figures import FigureModel
    from pyorch.report.page import DrawnFigure

INDEX = "index.html"
HEADS = (
    *("Cure", "Deadlock", "Lost", "Ended", "Received", "Slowest", "Buffer"),
    "What it is and costs",
)
MAX_REASON = 160
_DIGITS = 6


@dataclass(frozen=True)
class Row:
    """A row of the table of cures. reason: why there is no run; the rest is empty then."""

    name: str
    reason: str = ""
    deadlock: str = ""
    colour: str = ""
    lost: str = ""
    ended: str = ""
    rate: str = ""
    slowest: str = ""
    buffer: str = ""
    price: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """Its texts, in the order of HEADS."""
        numbers = (self.lost, self.ended, self.rate, self.slowest, self.buffer)
        return (self.name, self.deadlock, *numbers, self.price)


@dataclass(frozen=True)
class Page:
    """Everything that the page shows. groups: headings with the cures below them."""

    title: str
    run: str
    answer: str
    sentences: Sequence[str]
    notes: Sequence[str]
    tables: Sequence[Table]
    figures: Sequence[DrawnFigure]
    wires: str
    files: Sequence[tuple[str, str, int]]
    filter: str
    cures_note: str
    heads: Sequence[str]
    groups: Sequence[tuple[str, Sequence[Row]]]
    store: str
    setting: Setting
    commands: Sequence[str]
    versions: Sequence[tuple[str, str]]


def write(found: Explained, folder: Path, command: str) -> tuple[Path, Wires | None]:
    """Write the page and its files into a folder; return index.html and the captures, if any.

    command: the one that reproduces it. The same explanation gives the same bytes. Raises
    UserError.
    """
    try:
        make_folder(folder, below=found.store.paths.results)
        wires = None
        if isinstance(found, Explanation) and isinstance(found.story, Story):
            wires = capture(found, folder)
        page = _page(found, wires, folder, command)
        live = any(figure.live for figure in page.figures)
        text = template("explain.html.j2", Path(__file__).parent).render(
            page=page,
            plotly=embed.plotly() if live else "",
            play=PLAY,
            step_ms=STEP_MS,
            datatables=None,
            table_options="",
        )
        index = folder / INDEX
        write_atomically(index, text)
    except OSError as error:
        raise storage_error(error, folder) from error
    return index, wires


def check_folder(folder: Path) -> None:
    """Check, before anything runs, that the folder can be created. Raises UserError."""
    if folder.exists() and not folder.is_dir():
        raise refusal(f"--out {folder}", "is a file", hint="name a folder")
    if not folder.absolute().parent.is_dir():
        raise refusal(f"--out {folder}", f"there is no folder {folder.parent}")


def _page(found: Explained, wires: Wires | None, folder: Path, command: str) -> Page:

    types = found.plan.experiment.types
    run = f"{found.plan.store.name}, {found.spec.title} (run {found.run_hash})"
    outcomes = found.outcomes if isinstance(found, Explanation) else ()
    return Page(
        title=f"{_subject(found)} explained: {found.plan.experiment.title}",
        run=run,
        answer=found.answer,
        sentences=[one for one in found.sentences() if one != found.answer],
        notes=found.notes(),
        tables=found.tables() if isinstance(found, Slow) else (),
        figures=list(_figures(found, folder)),
        wires=_captured(wires) if wires else "",
        files=_files(wires) if wires else [],
        filter=_filter(found, wires) if wires else "",
        cures_note=" ".join(filter(None, (_repeats(outcomes), too_slow(outcomes)))),
        heads=HEADS,
        groups=[(heading, list(map(row_of, some))) for heading, some in grouped(outcomes)],
        store=f"results/{found.store.name}",
        setting=setting([found.spec], types),
        commands=[command],
        versions=versions(found.plan.build.fingerprint),
    )


def _subject(found: Explained) -> str:
    if not isinstance(found, Explanation):
        return "What flows waited for,"
    return "A host that pauses forever," if isinstance(found.story, Blocked) else "A deadlock"


def grouped(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    """Return the outcomes grouped under the headings of their kinds."""
    for group in ("", *GROUPS):
        some = [one for one in outcomes if one.cure.group == group]
        if some:
            yield GROUPS.get(group, ""), some


def row_of(outcome: Outcome) -> Row:
    """An outcome as a row of the table."""
    name = outcome.cure.name
    if outcome.reason:
        return Row(name, shown(outcome.reason, MAX_REASON))
    word, colour = _verdict(outcome)
    price = [outcome.cure.about]
    if outcome.is_lossy:
        price.append("no class is lossless")
    if outcome.repeated:
        price.append(f"{show(outcome.repeated, 'B')} retransmitted")
    return Row(
        name,
        deadlock=word,
        colour=colour,
        lost=f"{outcome.dropped:,}",
        ended=f"{outcome.ended} of {outcome.flows}" if outcome.flows else "–",
        rate=show(8e12 * outcome.delivered / outcome.end, "bit/s") if outcome.end else "–",
        slowest=show(outcome.slowest, "bit/s"),
        buffer=show(outcome.buffer, "B"),
        price="; ".join(price),
    )


def _verdict(outcome: Outcome) -> tuple[str, str]:
    if outcome.deadlocks is None:
        return "not judged", "open"
    if outcome.crawls:
        return "none, but too slow", "open"
    if not outcome.deadlocks:
        return ("cannot", "good") if outcome.cannot else ("not in this run", "open")
    at = show(outcome.formed, "ps")
    if outcome.is_stuck:
        more = f", {outcome.deadlocks} in all" if outcome.deadlocks > 1 else ""
        return f"from {at}{more}", "bad"
    times = "once" if outcome.deadlocks == 1 else f"{outcome.deadlocks} times"
    return f"broken {times}, first at {at}", "open"


def is_free(outcome: Outcome) -> bool:
    """Whether a run did not deadlock, and finished."""
    return outcome.deadlocks == 0 and not outcome.crawls


def too_slow(outcomes: Sequence[Outcome]) -> str:
    """What became of cures without a deadlock whose flows had not finished; "" without any."""
    slow = [one for one in outcomes if one.crawls]
    told = []
    for one in slow:
        idle = f"; its rates kept lines idle, {show(one.withheld, 'ps')} over all ports"
        left = f"{one.flows - one.ended} of {one.flows} flows"
        told.append(f"{one.cure.name} ({left}{idle if one.withheld else ''})")
    if not told:
        return ""
    whose = f"no queue waits forever, but at the end, {show(slow[0].end, 'ps')}, flows are left"
    return f"Too slow: {whose}: {', '.join(told)}."


def _repeats(outcomes: Sequence[Outcome]) -> str:
    queue_pair = next(
        (one.cure.content or {} for one in outcomes if one.cure.name == AS_IT_WAS), {}
    ).get("queue_pair", {})
    if str(queue_pair.get("retransmit", "")).lower() != "none":
        return ""
    return (
        "Since cures may drop frames, senders retransmit with them (go-back-N, after 1 ms without "
        "an answer); in the run as it was they do not."
    )


# ---------------------------------------------------------------------------------------------
# Figures


def _figures(found: Explained, folder: Path) -> Iterator[DrawnFigure]:

    data = ReportData.of(found.store, [found.told], found.plan.build.fingerprint)
    for entry in _entries(found):
        with paper_style():
            yield write_figure(_model(entry), data, folder, paper=True)


def _entries(found: Explained) -> Sequence[Mapping[str, object]]:
    tree = {"kind": "pause_tree", "name": "tree", "title": "Who paused whom"}
    if isinstance(found, Slow):
        causes = {cause for one in found.delays for cause, _ in one.parts}
        return (tree,) if causes & {PAUSES, RECEIVER} else ()
    assert isinstance(found, Explanation)  # noqa: S101 (there is no third)
    height = 3.6 if len(found.network.names) < 30 else 5.0
    movie = {"kind": "deadlock_map", "name": "movie", "title": "How it came about"}
    if isinstance(found.story, Blocked):
        movie |= {"kind": "pause_map"}
    return movie | {"height": height}, tree


def _model(entry: Mapping[str, object]) -> FigureModel:

    findings = Findings("figure")
    model = findings.validate_kind("figure", MODELS, entry, ())
    assert model is not None  # noqa: S101 (written here)
    return model


# ---------------------------------------------------------------------------------------------
# Wires


def _captured(wires: Wires) -> str:
    start, stop = (show(at, "ps", digits=_DIGITS) for at in (wires.start, wires.stop))
    return (
        f"Captures of the {len(wires.pcaps)} links of the cycle from {start} to {stop}, each at "
        "the end whose queue waits, in both directions; and all links as an animation."
    )


def _files(wires: Wires) -> list[tuple[str, str, int]]:
    rows = [
        (
            one.path.name,
            f"Wireshark, port of {node} to {peer}"
            + ("; the pause that closed the cycle arrives here" if one == wires.closing else ""),
            one.frames,
        )
        for (node, peer), one in wires.pcaps.items()
    ]
    return [*rows, (wires.animation.name, "NetAnim, all links", wires.frames)]


def _filter(found: Explained, wires: Wires) -> str:
    assert isinstance(found, Explanation)  # noqa: S101 (the only one with wires)
    assert isinstance(found.story, Story)  # noqa: S101 (the only one with wires)
    closing = found.story.closing
    if closing is None or wires.closing is None or not _has_pfc(found):
        return ""
    number = found.network.numbers[closing.node]
    source = "02:00:" + ":".join(f"{number:08x}"[at : at + 2] for at in range(0, 8, 2))
    return (
        f"tshark -r {wires.closing.path.name} -Y \\\n"
        f"  'macc.opcode == 0x0101 && eth.src == {source} && frame.time_epoch >= "
        f"{_seconds(closing.time)} && frame.time_epoch <= {_seconds(found.story.formed)}'"
    )


def _seconds(picoseconds: int) -> str:
    """A time as in captures, truncated to nanoseconds."""
    return f"{picoseconds // 1000 / 1e9:.9f}"


def _has_pfc(found: Explained) -> bool:
    """Whether pauses of the run are frames of PFC."""
    return PFC in found.spec.setting.flow_control
