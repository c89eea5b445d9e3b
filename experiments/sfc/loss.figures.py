"""The figure of the study of loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyorch.base.units import parse_bytes
from pyorch.report.figures import Drawn
from pyorch.report.style import COLOURS, MARKERS
from pyorch.sizing import theory

if TYPE_CHECKING:
    from pyorch.report.data import ReportData
    from pyorch.report.figures.custom import Custom

POOL = "buffer.lossy_pool"
THRESHOLD, RATE = 50e3, 25e9
#: TTS + TFS [s]. Local: ToR 1, wire 0.5, NIC 1 + 1, a message 0.047; frame 0.486, wire 0.5, ToR 1.
#: Far: two wires, the spine 3, a ToR 1, and two transmissions at 400 Gb/s more, each way.
LOCAL, FAR = 5.53e-6, 15.6e-6


def loss(data: ReportData, figure: Custom) -> Drawn:
    """Draw frames lost over the buffer, and where the closed form says that loss ends."""
    runs = figure.rows_of(data).copy()
    runs["pool_kb"] = [parse_bytes(str(text)) / 1e3 for text in runs[POOL]]
    runs["far"] = runs["variant"].str.endswith("far")
    runs["senders"] = [int(text.split()[0]) for text in runs["variant"]]
    runs["needed_kb"] = [
        theory.sfc_buffer(THRESHOLD, senders, RATE, FAR if far else LOCAL) / 1e3
        for senders, far in zip(runs["senders"], runs["far"], strict=True)
    ]
    canvas, panels = figure.canvas(columns=2, sharey=True)
    numbers = sorted(set(runs["senders"]))
    for axes, far, title in zip(panels[0], (False, True), ("local ToR", "far ToR"), strict=True):
        for number, senders in enumerate(numbers):
            part = runs[(runs["far"] == far) & (runs["senders"] == senders)].sort_values("pool_kb")
            if part.empty:
                continue
            part = part[part["lost"].shift(fill_value=1) > 0]  # up to the first without loss
            axes.plot(
                part["pool_kb"],
                part["lost"],
                marker=MARKERS[number],
                color=COLOURS[number],
                label=f"{senders} senders",
            )
            axes.axvline(
                float(part["needed_kb"].iloc[0]),
                color=COLOURS[number],
                linestyle="--",
                linewidth=0.9,
            )
        axes.set_title(title)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(0, 2 * float(runs["lost"].max()))
        axes.set_xlabel("Buffer (KB)")
    panels[0][0].set_ylabel("Frames lost")
    canvas.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    columns = ["variant", "pool_kb", "needed_kb", "lost"]
    return Drawn(canvas, runs[columns], [])
