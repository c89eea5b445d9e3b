"""What a buffer must be, and what its thresholds may be, on given ports and cables: `invoke size`.

All formulas are those of pyorch.sizing.theory and pyorch.sizing.gfc, which the C++ modules compute,
too. Sizes are bytes, rates bit/s, times ps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pyorch.base.columns import aligned
from pyorch.base.errors import Problem, UserError, one_of, refusal, suggest
from pyorch.base.units import (
    MAX_DIGITS,
    PS_PER_METRE,
    format_bytes,
    format_rate,
    format_time,
    parse_bytes,
    parse_rate,
    parse_time,
    whole,
)
from pyorch.network.topology import SWITCH, Topology
from pyorch.setting.attributes import Catalogue, number, section_of
from pyorch.setting.canonical import Setting
from pyorch.setting.experiment import Experiment
from pyorch.sizing import gfc
from pyorch.sizing.asics import ASICS, SHIPPED, UNKNOWN
from pyorch.sizing.capacity import Frames, frames
from pyorch.sizing.theory import (
    IDEAL,
    IEEE,
    RULES,
    bytes_in,
    dynamic_threshold,
    eta,
    headroom_in_cells,
    response_quanta,
    time_of,
)

CLASSES = 8
#: Between XOFF and XON, in frames: the 2 MTU of the GFC paper, section 4.1.
GAP_FRAMES = 2
#: What a queue must be able to hold beside its headroom under PFC, in frames: XOFF and XON.
PFC_FRAMES = 2 * GAP_FRAMES
DEFAULT_RATE, DEFAULT_DELAY = 100 * 10**9, 100 * PS_PER_METRE


@dataclass(frozen=True)
class Ports:
    """Some ports alike: how many, their rate [bit/s], and the delay of their cables [ps]."""

    count: int
    rate: int
    delay: int

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.count} x {format_rate(self.rate)}, {format_time(self.delay)}"


@dataclass(frozen=True)
class Switch:
    """A switch to be sized.

    name: whose it is. size: its buffer. lossy_pool: the part for lossy classes. classes: lossless
    ones. frames: sizes of frames, control delay. alpha: of dynamic thresholds. source: of the size.
    mask: which classes are lossless in an experiment; 0: not given. own_bm, own_b1: of GFC, where
    they are not what the buffer leaves. asic: its chip, "" for none. tells_gfc: whether it
    tells GFC's parameters.
    """

    name: str
    ports: tuple[Ports, ...]
    size: int
    lossy_pool: int
    classes: int
    frames: Frames
    alpha: float
    source: str = ""
    note: str = ""
    mask: int = 0
    own_bm: int | None = None
    own_b1: int | None = None
    asic: str = ""
    tells_gfc: bool = False

    @property
    def lossless(self) -> int:
        """Which classes are lossless, bit c for class c: as given, else around class 3."""
        if self.mask.bit_count() == self.classes:
            return self.mask
        return ((1 << self.classes) - 1) << max(0, min(3, CLASSES - self.classes))

    @property
    def queues(self) -> int:
        """Lossless (port, class) queues."""
        return self.classes * sum(ports.count for ports in self.ports)

    def eta(self, ports: Ports) -> int:
        """Published headroom of one (port, class), eta of DSH."""
        return eta(ports.rate, ports.delay, self.frames.data)

    def eta_prime(self, ports: Ports) -> int:
        """Sufficient headroom of one (port, class), eta'; what PFC demands."""
        return self.frames.eta_prime(ports.rate, ports.delay)

    @property
    def headroom(self) -> int:
        """Headroom of all ports for one lossless class."""
        return sum(ports.count * self.eta_prime(ports) for ports in self.ports)

    @property
    def shared(self) -> int:
        """What headroom and the lossy pool leave, Bs; negative when they do not fit."""
        return self.size - self.lossy_pool - self.classes * self.headroom

    @property
    def share(self) -> int:
        """What every queue can hold of the shared buffer at once: Bs / (ports x classes)."""
        return self.shared // self.queues

    @property
    def gap(self) -> int:
        """Between XOFF and XON: two frames."""
        return GAP_FRAMES * self.frames.data

    def link(self, ports: Ports) -> gfc.Link:
        """The link as the formulas of GFC take it."""
        run = self.frames
        return gfc.Link(
            ports.rate,
            ports.delay,
            run.data,
            run.overhead,
            run.control_delay(ports.rate),
            run.control,
        )

    def c_tau(self, ports: Ports) -> int:
        """Bytes that arrive within the feedback latency: C tau, tau as the simulator reckons."""
        return bytes_in(ports.rate, self.link(ports).latency)

    @property
    def worst(self) -> Ports:
        """The ports with the greatest C tau."""
        return max(self.ports, key=self.c_tau)

    @property
    def bm(self) -> int:
        """Bm of GFC: the share of a queue, but for two frames and the gap of PFC above it."""
        return self.share - self.gap if self.own_bm is None else self.own_bm

    @property
    def tau(self) -> int:
        """Feedback latency of GFC at the ports where it reaches farthest, as a run reckons it."""
        return self.link(self.worst).latency

    @property
    def b0(self) -> int:
        """Largest B0 of conceptual GFC; negative for none."""
        return gfc.largest_b0(self.worst.rate, self.tau, self.bm)

    @property
    def time_based_b0(self) -> int:
        """Largest B0 of time-based GFC with the paper's period of credits; negative for none."""
        link = self.link(self.worst)
        return gfc.largest_time_based_b0(link.rate, self.tau, self.bm, link.credit_period)

    @property
    def largest_b1(self) -> int:
        """Largest B1 of multi-stage GFC; negative for none."""
        return gfc.largest_b1(self.worst.rate, self.tau, self.bm)

    @property
    def b1(self) -> int:
        """B1 of multi-stage GFC: as given, else the largest; negative for none."""
        return self.largest_b1 if self.own_b1 is None else self.own_b1

    def needs(self, scheme: str) -> int:
        """The least share of a queue that a scheme works with: "pfc", "conceptual", "stages"."""
        c_tau = self.c_tau(self.worst)
        least = {"pfc": 0, "conceptual": 4 * c_tau, "stages": 2 * c_tau}[scheme]
        return least + PFC_FRAMES * self.frames.data

    def least_size(self, scheme: str) -> int:
        """The least buffer with which a scheme works on all ports and classes."""
        return self.lossy_pool + self.classes * self.headroom + self.queues * self.needs(scheme)

    def fitting(self, scheme: str) -> int:
        """How many lossless classes fit under a scheme, 0 to 8."""
        fits = (
            count
            for count in range(CLASSES, 0, -1)
            if replace(self, classes=count).least_size(scheme) <= self.size
        )
        return next(fits, 0)


SCHEMES = {"pfc": "PFC", "stages": "multi-stage GFC", "conceptual": "conceptual GFC"}


# ---------------------------------------------------------------------------------------------
# What is asked


@dataclass(frozen=True)
class _Option:
    """How an option is read, and the least and the most it may be."""

    parse: Callable[[str], int]
    show: Callable[[int], str]
    least: int
    most: int


def _whole(text: str) -> int:
    number = whole(text)
    if number is None:
        raise ValueError(f"{text!r} is not a whole number")
    return number


def _metres(text: str) -> int:
    """Read a length of cable such as "300m" as its delay."""
    digits = text.strip().removesuffix("m").strip()
    plain = digits.isascii() and digits.replace(".", "", 1).isdigit() and len(digits) <= MAX_DIGITS
    if not text.strip().endswith("m") or not plain:
        raise ValueError(f'{text!r} is not a length such as "300m"')
    return round(float(digits) * PS_PER_METRE)


_OPTIONS: dict[str, _Option] = {
    "ports": _Option(_whole, str, 1, 4096),
    "classes": _Option(_whole, str, 1, CLASSES),
    "rate": _Option(parse_rate, format_rate, 10**6, 10**13),
    "cable": _Option(_metres, format_time, 0, 10**10),
    "delay": _Option(parse_time, format_time, 0, 10**10),
    "control_delay": _Option(parse_time, format_time, 0, 10**10),
    "buffer": _Option(parse_bytes, format_bytes, 1, 2**40),
    "lossy_pool": _Option(parse_bytes, format_bytes, 0, 2**40),
    "bm": _Option(parse_bytes, format_bytes, 1, 2**32 - 1),
    "b1": _Option(parse_bytes, format_bytes, 0, 2**32 - 1),
    "mtu": _Option(parse_bytes, format_bytes, 64, 65_535),
    "overhead": _Option(parse_bytes, format_bytes, 0, 1000),
}


def read_switch(name: str, texts: Mapping[str, str], load: Callable[[str], Experiment]) -> Switch:
    """Return the switch that an experiment's name, a chip's and options describe.

    texts: options by name, "" where one was not given. load: an experiment by its name. Raises
    UserError with all that is wrong.
    """
    given = {key: text for key, text in texts.items() if text}
    problems: list[Problem] = []
    asic, asked = given.pop("asic", ""), bool(given.pop("gfc", ""))
    if asic in UNKNOWN:
        what = f"no source for the buffer, ports and rates of {asic} is known here"
        problems.append(Problem("--asic", what, one_of(ASICS), "give --buffer, --ports and --rate"))
    elif asic and asic not in ASICS:
        problems.append(
            Problem("--asic", f"{asic!r} is not known", one_of(ASICS), suggest(asic, ASICS))
        )
    if asic and name:
        problems.append(Problem("NAME --asic", "both define the ports", "one of them"))
    alpha = _read_alpha(given.pop("alpha", ""), problems)
    rule = RULES.get(given.get("control_delay", "").lower())
    if rule:
        del given["control_delay"]
    values = {
        key: value
        for key, text in given.items()
        if (value := _read(key, text, problems)) is not None
    }
    if "cable" in values and "delay" in values:
        problems.append(Problem("--cable --delay", "both define the propagation delay", "one"))
    if name and (clash := sorted({"ports", "rate", "cable", "delay"} & values.keys())):
        what = "the topology of the experiment already defines it"
        problems.append(Problem(f"--{clash[0]}", what, None, "leave out NAME, or the option"))
    if problems:
        raise UserError(problems)
    switch = of_setting(load(name)) if name else _of_chip(asic, values)
    changed: dict[str, Any] = {"alpha": alpha} if alpha else {}
    changed |= {key: values[key] for key in ("classes", "lossy_pool") if key in values}
    changed |= {f"own_{key}": values[key] for key in ("bm", "b1") if key in values}
    changed |= {"tells_gfc": True} if asked or {"bm", "b1"} & values.keys() else {}
    changed |= {"size": values["buffer"], "source": "--buffer"} if "buffer" in values else {}
    rule = rule or (None if name or "control_delay" in values else IEEE)
    switch = replace(switch, frames=_frames(switch.frames, values, rule), **changed)
    if switch.classes == 0:
        raise refusal(name, "none of its classes is lossless", hint="give their number: --classes")
    if switch.own_b1 is not None and switch.own_b1 >= switch.bm:
        raise refusal("--b1", f"{switch.own_b1} B", f"from 0 B to below Bm = {switch.bm} B")
    return switch


def _read(key: str, text: str, problems: list[Problem]) -> int | None:
    option, where = _OPTIONS[key], f"--{key.replace('_', '-')}"
    try:
        value = option.parse(text)
    except ValueError as error:
        rules = f"a time, or {one_of(RULES)}" if key == "control_delay" else None
        problems.append(Problem(where, str(error), rules))
        return None
    if not option.least <= value <= option.most:
        allowed = f"{option.show(option.least)} to {option.show(option.most)}"
        problems.append(Problem(where, f"{text!r} is out of range", allowed))
    return value


def _read_alpha(text: str, problems: list[Problem]) -> float:
    """Read --alpha; 0 when it was not given."""
    if not text:
        return 0
    try:
        alpha = float(text)
    except ValueError:
        alpha = 0
    if not 1 / 1024 <= alpha <= 1024:
        problems.append(Problem("--alpha", f"{text!r} is not a share", "1/1024 to 1024, as 0.125"))
    return alpha


def _frames(run: Frames, values: Mapping[str, int], rule: str | None) -> Frames:
    """Change frame sizes and the control delay, or the rule for it, as options say."""
    mtu = values.get("mtu", run.data)
    return replace(
        run,
        payload=mtu - min(run.header, mtu),
        header=min(run.header, mtu),
        overhead=values.get("overhead", run.overhead),
        control_delay_ps=values.get("control_delay", 0 if rule else run.control_delay_ps),
        response=rule or (IDEAL if "control_delay" in values else run.response),
    )


def _of_chip(asic: str, values: Mapping[str, int]) -> Switch:
    """A switch with all its ports alike, by default a Tomahawk's."""
    chip = ASICS[asic or "tomahawk"]
    changed = [key for key in ("buffer", "ports", "rate") if key in values]
    own = bool(changed) and not asic
    ports = Ports(
        values.get("ports", chip.ports),
        values.get("rate", chip.rate),
        values.get("cable", values.get("delay", DEFAULT_DELAY)),
    )
    return Switch(
        name="switch" if own else asic or "tomahawk",
        ports=(ports,),
        size=chip.size,
        lossy_pool=10**6,
        classes=1,
        frames=replace(frames(None, {}), payload=1452, header=48),
        alpha=0.125,
        source=f"default: {chip.source}" if own else chip.source,
        note="" if own else chip.note,
        asic=asic,
    )


def of_setting(experiment: Experiment) -> Switch:
    """Return the switch of the first setting of an experiment that needs the most headroom."""
    point = experiment.points[0]
    return of_run(experiment.name, point.setting, point.network, experiment.types)


def of_run(name: str, setting: Setting, network: Topology, of: Catalogue | None) -> Switch:
    """Return the switch of a run that needs the most headroom. of: the types of its attributes."""
    types, attributes = cast("Any", of), setting.attributes
    buffer = section_of(types, attributes, "buffer") or {}
    run = frames(types, attributes, setting.traffic)
    mask = int(number(buffer["LosslessClasses"]))
    base = Switch(
        name=name,
        ports=(),
        size=int(number(buffer["Size"])),
        lossy_pool=int(number(buffer["LossyPool"])),
        classes=mask.bit_count(),
        mask=mask,
        frames=run,
        alpha=number(buffer["Alpha"]),
        source=f"[buffer] size of {name}",
        tells_gfc=any("gfc" in kind.lower() for kind in attributes),
    )
    found = [
        replace(base, name=f"{node} of {base.name}", ports=ports)
        for node, ports in _switches(network)
    ]
    if not found:
        what = "its first setting has no switch to size"
        raise refusal(name, what, hint="choose another experiment")
    return max(found, key=lambda switch: switch.headroom)


def _switches(network: Topology) -> list[tuple[str, tuple[Ports, ...]]]:
    """Return every switch with its ports, those that are alike together."""
    counts: dict[int, dict[tuple[int, int], int]] = {}
    columns = (network.a, network.b, network.rates, network.delays)
    for a, b, rate, delay in zip(*(column.tolist() for column in columns), strict=True):
        for node in (a, b):
            alike = counts.setdefault(node, {})
            alike[rate, delay] = alike.get((rate, delay), 0) + 1
    return [
        (network.names[node], tuple(Ports(count, *kind) for kind, count in sorted(alike.items())))
        for node, alike in sorted(counts.items())
        if network.kinds[node] == SWITCH
    ]


def check(switch: Switch) -> None:
    """Raise UserError when the buffer is too small for PFC, with what lacks and what would fit."""
    least = switch.least_size("pfc")
    if switch.size >= least:
        return
    fitting = switch.fitting("pfc")
    classes = f"{switch.classes} lossless class{'es' if switch.classes > 1 else ''}"
    what = (
        f"{format_bytes(switch.size)} is {_size(least - switch.size)} too little for {classes} "
        f"on {_all_ports(switch)}: headroom {_size(switch.classes * switch.headroom)}, lossy pool "
        f"{_size(switch.lossy_pool)}, {PFC_FRAMES} frames a queue "
        f"{_size(switch.queues * switch.needs('pfc'))}"
    )
    fewer = f"{fitting} would fit" if fitting else "not even 1 class fits"
    hint = f"{fewer}; or shorter cables, smaller frames, a smaller lossy pool"
    raise refusal("buffer", what, f"at least {_size(least)}", hint)


def _all_ports(switch: Switch) -> str:
    return " and ".join(ports.label for ports in switch.ports)


# ---------------------------------------------------------------------------------------------
# For people

_DSH = "DSH, Background"
_LEGEND = """\
C rate, D delay of a cable, d control delay; L frame, Lw on the wire, Pw control frame on the wire
eta can lose frames (DSH, ICDCS 2023), eta' is sufficient and what PFC sets aside; XOFF, static: all
queues at once""".splitlines()
_LEGEND_OF_GFC = """\
GFC: Qian, Cheng, Zhang, Ren, SIGCOMM 2019; tau as the simulator reckons and warns by; its bounds
are sufficient, not necessary; T period of credits, 65,535 B at C; m control frame, tau apart; PFC
is the backstop above Bm""".splitlines()


def render(switch: Switch) -> str:
    """Return all that is known of a switch, as a text for people."""
    # how many lossless classes fit under each scheme
    rows: list[Sequence[str]] = [("lossless classes that fit", "", "a queue, besides its headroom")]
    for scheme, label in SCHEMES.items() if switch.tells_gfc else [("pfc", "PFC")]:
        count = switch.fitting(scheme)
        lacks = switch.least_size(scheme) - switch.size
        told = f", {_size(lacks)} too little for {switch.classes}" if lacks > 0 else ""
        rows.append((f"    {label}", str(count), f"{_size(switch.needs(scheme))}{told}"))
    legend = [*_LEGEND, *(_LEGEND_OF_GFC if switch.tells_gfc else ())]
    parts = [_head(switch), [*aligned(_rows(switch)), *legend], aligned(rows)]
    parts += [_stage_lines(switch)] if switch.tells_gfc and switch.b1 >= 0 else []
    parts.append(toml_lines(switch))
    return "\n\n".join("\n".join(part) for part in parts)


def _head(switch: Switch) -> list[str]:
    run = switch.frames
    sizes = (
        f"frames of {_size(run.data)} + {_size(run.overhead)}, control frames of "
        f"{_size(run.control)}, control delay {_response(run)}"
    )
    buffer = f"buffer {format_bytes(switch.size)} ({switch.source})"
    lines = [
        f"{switch.name}: {_all_ports(switch)}",
        f"    {buffer}",
        f"    lossless classes: {switch.classes}; {sizes}",
    ]
    return [*lines, f"    note: {switch.note}"] if switch.note else lines


def _response(run: Frames) -> str:
    """Say how long control frames take to be obeyed."""
    own = format_time(run.control_delay_ps)
    rules = {IDEAL: own, IEEE: "as IEEE 802.3 allows"}
    rule = rules.get(run.response, f"of a {run.response.lower()}, 3us")
    return f"{rule}, at least {own}" if run.control_delay_ps and run.response != IDEAL else rule


def _rows(switch: Switch) -> list[Sequence[str]]:
    """Rows of what, value, formula, source."""
    rows: list[Sequence[str]] = [("", "value", "formula", "source")]
    for ports in switch.ports:
        at = f" ({ports.label})" if len(switch.ports) > 1 else ""
        rows += [
            (f"eta{at}", _size(switch.eta(ports)), "2 (C D + L) + 3840 B", _DSH),
            (
                f"eta'{at}",
                _size(switch.eta_prime(ports)),
                "2 (C D + Lw) + max(3840 B, C d) + Pw + L",
                "derived",
            ),
            *_allowed_rows(switch, ports, at),
        ]
    alone, all_queues = (
        int(dynamic_threshold(switch.alpha, switch.shared, count)) for count in (1, switch.queues)
    )
    rows += [
        (
            "headroom in all",
            _size(switch.classes * switch.headroom),
            "classes x sum of eta'",
            "derived",
        ),
        ("shared, Bs", _size(switch.shared), "size - lossy pool - headroom", _DSH),
        ("XOFF, static", _size(switch.share), "Bs / (ports x classes)", "derived"),
        ("XON, static", _size(switch.share - switch.gap), "XOFF - 2 L", "GFC, section 4.1"),
        *_shipped_xon(switch),
        (
            f"one queue, alpha {switch.alpha:g}",
            _size(alone),
            "alpha Bs / (1 + alpha)",
            "derived",
        ),
        (
            f"{switch.queues} queues, alpha {switch.alpha:g}",
            _size(all_queues),
            "alpha Bs / (1 + n alpha)",
            "derived",
        ),
    ]
    return rows + (_rows_of_gfc(switch) if switch.tells_gfc else [])


def _rows_of_gfc(switch: Switch) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for ports in switch.ports:
        at = f" ({ports.label})" if len(switch.ports) > 1 else ""
        tau = _time(switch.link(ports).latency)
        rows += [
            (f"tau{at}", tau, "2 Lw / C + 2 D + d + Pw / C", "recalled; derived"),
            (f"C tau{at}", _size(switch.c_tau(ports)), "", ""),
        ]
    bm = ("XOFF - 2 L", "derived") if switch.own_bm is None else ("as given", "--bm")
    rows += [
        ("Bm of GFC", _none(switch.bm), *bm),
        ("B0, conceptual GFC", _none(switch.b0), "Bm - 4 C tau", "GFC, theorem 4.1"),
        ("B0, time-based GFC", _none(switch.time_based_b0), "Bm - C T - C tau", "derived"),
        ("B1, multi-stage GFC", _none(switch.largest_b1), "Bm - 2 C tau", "GFC, section 4.2"),
    ]
    for label, overhead, formula in (
        ("GFC messages, worst", gfc.worst_overhead, "m / tau"),
        ("GFC messages, steady", gfc.steady_overhead, "m / (8 tau)"),
    ):
        share = _share(overhead(switch.frames.control, switch.tau), switch.worst.rate)
        rows.append((label, share, formula, "GFC, section 4.2"))
    return rows


def _allowed_rows(switch: Switch, ports: Ports, at: str) -> list[Sequence[str]]:
    """What headroom hardware needs and has: peers that obey late, cells, and what is shipped."""
    rows: list[Sequence[str]] = []
    late = switch.eta_prime(ports)
    frames = replace(switch.frames, response=IEEE)
    if (allowed := frames.eta_prime(ports.rate, ports.delay)) > late:
        late = allowed
        quanta = f"with d = {response_quanta(ports.rate)} quanta of 512 bit times"
        rows.append((f"eta' for 802.3{at}", _size(late), quanta, "IEEE 802.3, 31B.3.7"))
    cell = ASICS[switch.asic].cell if switch.asic else 0
    if cell:
        in_cells = headroom_in_cells(late, cell, switch.frames.overhead)
        formula = f"in cells of {cell} B, frames of any size"
        rows.append((f"  in cells{at}", _size(in_cells), formula, "derived"))
    profile = SHIPPED.get(switch.asic)
    found = profile.at(ports.rate, ports.delay / PS_PER_METRE) if profile else None
    if profile and found:
        metres, size = found
        rows.append((f"  as shipped{at}", _size(size), f"{profile.switch}, {metres} m", "SONiC"))
    return rows


def _shipped_xon(switch: Switch) -> list[Sequence[str]]:
    """XON with the gap to XOFF that is shipped, if it is known."""
    profile = SHIPPED.get(switch.asic)
    if not profile or not profile.xon_offset:
        return []
    offset = profile.xon_offset
    return [("  as shipped", _size(switch.share - offset), f"XOFF - {offset} B", "SONiC")]


def _stage_lines(switch: Switch) -> list[str]:
    """The stages of multi-stage GFC, and what speaks against its B1."""
    table = gfc.stages(switch.worst.rate, switch.b1, switch.bm)
    rows: list[Sequence[str]] = [("stage k", "from B_k", "rate R_k", "a frame takes")]
    for k, stage in enumerate(table):
        frame = time_of(switch.frames.data + switch.frames.overhead, stage.rate)
        rows.append((str(k), _size(stage.start), format_rate(stage.rate), _time(frame)))
    head = f"multi-stage GFC with B1 = {_size(switch.b1)}: N = {len(table) - 1} stages"
    lines = [head, *aligned(rows, right=range(4))]
    if switch.b1 > switch.largest_b1:
        lines.append(
            f"warning: Bm - B1 = {_size(switch.bm - switch.b1)} is less than 2 C tau = "
            f"{_size(switch.bm - switch.largest_b1)}: outside the sufficient bound of section 4.2, "
            "so the queue may reach Bm"
        )
    return lines


def _size(count: int) -> str:
    return f"{count} B"


def _time(picoseconds: int) -> str:
    return f"{picoseconds / 10**6:.6g} us"


def _share(rate: int, line: int) -> str:
    return f"{rate / 10**6:.4g} Mb/s, {100 * rate / line:.2g} %"


def _none(count: int) -> str:
    return _size(count) if count >= 0 else f"none: {-count} B too little"


def _classes(mask: int) -> str:
    """Say which classes a mask means; a number alone reads as a count."""
    names = [str(number) for number in range(8) if mask >> number & 1]
    return f"a mask, not a count: {'class' if len(names) == 1 else 'classes'} {', '.join(names)}"


def toml_lines(switch: Switch) -> list[str]:
    """Return the sections of an experiment file with these values."""
    run = switch.frames
    lines = [
        "# for the experiment file; headroom is left out: under PFC it is eta' on every port",
        "[queue_pair]",
        f'payload_size = "{run.payload}B"',
        f'header_size = "{run.header}B"',
        "",
        "[port]",
        f'overhead = "{run.overhead}B"',
        f'control_delay = "{format_time(run.control_delay_ps)}"',
        *([] if run.response == IDEAL else [f'pause_response = "{run.response}"']),
        "",
        "[buffer]",
        f'size = "{format_bytes(switch.size)}"',
        f'lossy_pool = "{format_bytes(switch.lossy_pool)}"',
        f"lossless_classes = {switch.lossless}         # {_classes(switch.lossless)}",
        'threshold = "static"         # or "dynamic", for which alpha and xon_offset are',
        f'xoff = "{switch.share}B"',
        f'xon = "{switch.share - switch.gap}B"',
        f"alpha = {switch.alpha}",
        f'xon_offset = "{switch.gap}B"',
    ]
    if switch.tells_gfc and switch.b0 >= 0:
        lines += ["", "[conceptual-gfc]", f'bm = "{switch.bm}B"', f'b0 = "{switch.b0}B"']
    if switch.tells_gfc and switch.b1 >= 0:
        lines += ["", "[multi-stage-gfc]", f'bm = "{switch.bm}B"', f'b1 = "{switch.b1}B"']
    return lines
