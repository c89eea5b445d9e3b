"""What flows waited for: closed forms to the picosecond; books that balance under any scheme."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyorch import Study
from pyorch.base.errors import Problem, UserError
from pyorch.base.paths import Paths
from pyorch.cli.explain import explain_run
from pyorch.explain import delays
from pyorch.explain.delays import Delay
from pyorch.explain.slow import Slow

pytestmark = pytest.mark.cpp
ROOT = Path(__file__).resolve().parents[2]
US = 10**6
P = 8 * 10 * (1000 + 48 + 20)
"""Time of a frame with 1000 B of payload at 100 Gb/s [ps]."""
N = 500
"""Frames of a message of 500 KB."""

STAR = """
title = "waits"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "2ms"
drain = "20ms"
stop_when_done = true

[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "500ns"
"""
ONE = """
[[traffic]]
kind = "messages"
messages = [{ src = "h0", dst = "h2", size = "500KB" }]
"""


def two(size: str) -> str:
    """Two messages to one receiver."""
    both = ", ".join(f'{{ src = "{src}", dst = "h2", size = "{size}" }}' for src in ("h0", "h1"))
    return f'[[traffic]]\nkind = "messages"\nmessages = [{both}]\n'


def explained(folder: Path, text: str, run: int = 1) -> Slow:
    """The explanation of a run of a study."""
    file = folder / "waits.toml"
    file.write_text(text, encoding="utf-8")
    found = Study.load(file, paths=Paths(ROOT, folder / "results")).explain(run)
    assert isinstance(found, Slow)
    for one in found.delays:
        check_books(one)
    return found


def check_books(one: Delay) -> None:
    """A flow's time is its own frames and waits, none negative, to the picosecond."""
    assert one.time == one.own + sum(one.parts.values())
    assert min(one.parts.values(), default=0) >= 0
    if one.finished:
        assert one.time == one.ideal - one.hidden + one.waited


def by_cause(one: Delay) -> Counter[str]:
    """The waits of a flow, of all places together."""
    found: Counter[str] = Counter()
    for (cause, _), time in one.parts.items():
        found[cause] += time
    return found


def test_a_flow_that_is_alone_waits_for_nothing(tmp_path: Path) -> None:
    """It takes its ideal time."""
    (one,) = explained(tmp_path, STAR + ONE).delays
    assert one.time == one.ideal == one.own == (N + 1) * P + US
    assert not one.parts


@pytest.mark.parametrize("pauses", [False, True])
def test_two_senders_wait_for_each_others_frames(tmp_path: Path, pauses: bool) -> None:
    """Whether they are paused or not: the link to the receiver is never idle.

    The frame that is last waits for all N of the other flow, the other's last for N - 1 if they
    take turns to the end.
    """
    small = '[buffer]\nsize = "300KB"\nlossy_pool = "0B"\n'
    found = explained(
        tmp_path,
        STAR + (small if pauses else "") + two("500KB"),
    )
    summary = found.store.read_summary(found.told.hash(found.plan.build.fingerprint))["summary"]
    assert bool(summary["pauses_sent"]) == pauses
    waits = [one.parts for one in found.delays]
    place = found.network.numbers["s0"], found.network.numbers["h2"]
    assert [set(one) for one in waits] == [{(delays.AT_RECEIVER, place)}] * 2
    first, last = sorted(one.waited for one in found.delays)
    assert last == N * P
    # while both are paused the turns of the last frames depend on which came first
    assert first == (N - 1) * P or (pauses and (N - 10) * P < first < (N - 1) * P)
    assert "other flows to its receiver" in found.answer


VICTIM = """
title = "victim"
flow_control = ["pfc"]
port.pause_response = "ideal"

[run]
duration = "2ms"
drain = "20ms"
stop_when_done = true

[topology]
kind = "dumbbell"
left = 2
right = 2
rate = "100Gbps"
delay = "500ns"

[[traffic]]
kind = "messages"
messages = [
  { src = "h0", dst = "h2", size = "500KB" },
  { src = "h1", dst = "h3", size = "100KB", start = "30us" },
]

[buffer]
size = "300KB"
lossy_pool = "0B"

[[fault]]
kind = "pause_storm"
host = "h2"
stop = "400us"
"""


def test_a_storm_is_a_slow_receiver_and_its_victim_waits_for_it(tmp_path: Path) -> None:
    """No other cause has more than the frames that went before it was paused."""
    found = explained(tmp_path, VICTIM)
    storm = delays.RECEIVER, (found.network.numbers["h2"], -1)
    own, victim = found.delays
    waits = own.parts
    assert waits[storm] > 350 * US
    assert own.waited - waits[storm] <= 100 * P  # the victim's frames
    assert victim.parts[storm] > 300 * US
    assert victim.time < 30 * US + 400 * US


def test_a_slow_receiver_takes_what_its_rate_lacks(tmp_path: Path) -> None:
    """At a quarter of the rate all waits but the frames in its buffer are for it."""
    small = '[buffer]\nsize = "300KB"\nlossy_pool = "0B"\n'
    slow = '[[fault]]\nkind = "slow_receiver"\nhost = "h2"\nrate = "25Gbps"\n'
    (one,) = explained(tmp_path, STAR + ONE + small + slow).delays
    assert by_cause(one).keys() == {delays.RECEIVER}
    assert one.waited == one.time - one.ideal > 0


def test_a_timer_is_told_from_a_rate(tmp_path: Path) -> None:
    """A link loses what is sent from 10 to 12 us; nothing is answered until the timer at 300 us."""
    lossy = """
[queue_pair]
timeout = "300us"
ack_every = 1000000
retransmit = "GoBackN"
"""
    down = 'failures = [{ link = ["s0", "h2"], down = "10us", up = "100us" }]\n'
    (one,) = explained(
        tmp_path, STAR.replace("[run]", "[run]\nallow_loss = true") + down + lossy + ONE
    ).delays
    causes = by_cause(one)
    assert causes[delays.TIMEOUT] >= 300 * US - N * P
    assert set(causes) <= {delays.TIMEOUT, delays.REPEATS, delays.CONTROL}


def test_a_cap_is_a_rate(tmp_path: Path) -> None:
    """At half the rate N - 1 frames wait for as long as one takes."""
    (one,) = explained(tmp_path, STAR + ONE + 'rate_cap = "50Gbps"\n').delays
    assert by_cause(one) == {delays.RATE: (N - 1) * P}


def test_a_window_waits_for_answers(tmp_path: Path) -> None:
    """Ten frames and a round trip at a time: what is left of it is waited for an ACK."""
    answers = "[queue_pair]\nack_every = 10\n"
    (one,) = explained(tmp_path, STAR + answers + ONE + 'window = "10KB"\n').delays
    causes = by_cause(one)
    assert set(causes) == {delays.WINDOW}
    # the tenth frame of each window is answered when it has crossed two links, and the ACK as well
    ack = 2 * (84 * 80) + US
    assert causes[delays.WINDOW] == (N // 10 - 1) * (P + US + ack)


def test_a_window_is_known_beside_acks_of_another_flow(tmp_path: Path) -> None:
    """The line carries them while it waits: each divides the wait, whose cause stays the same.

    An answer comes later by a frame of the other flow at most, a new frame by an ACK.
    """
    answers = "[queue_pair]\nack_every = 10\n"
    other = """
[[traffic]]
kind = "messages"
messages = [{ src = "h1", dst = "h0", size = "500KB" }]
rate_cap = "50Gbps"
"""
    one, _ = explained(tmp_path, STAR + answers + ONE + 'window = "10KB"\n' + other).delays
    causes = by_cause(one)
    assert causes[delays.CONTROL] > 0
    assert set(causes) == {delays.WINDOW, delays.CONTROL}
    ack = 84 * 80
    exact = (N // 10 - 1) * (P + 2 * US + 2 * ack)
    assert exact <= one.waited <= exact + N // 10 * (P + 2 * ack)


def test_a_loss_is_not_a_window(tmp_path: Path) -> None:
    """All are sent, then a NACK comes for a frame that a link lost: no window kept the sender.

    The frames begin on that link at P + 500 ns + k P. It loses those of 42.3 to 42.8 us; of the
    others the first is answered as soon as it is there, and the line idle since the end of all.
    """
    down = 'failures = [{ link = ["s0", "h2"], down = "42.3us", up = "42.8us" }]\n'
    text = STAR.replace("[run]", "[run]\nallow_loss = true") + down
    (one,) = explained(tmp_path, text + '[queue_pair]\nretransmit = "GoBackN"\n' + ONE).delays
    causes = by_cause(one)
    k = -(-(42_800_000 - P - US // 2) // P)
    answered = P + US // 2 + (k + 1) * P + US // 2 + US + 2 * 84 * 80
    assert causes[delays.LOSS] == answered - N * P
    assert set(causes) <= {delays.LOSS, delays.REPEATS}


def test_missing_credit_is_no_slow_receiver(tmp_path: Path) -> None:
    """Nor is a switch: it is missing at the sender, for as long as its port is held."""
    found = explained(tmp_path, STAR.replace('"pfc"', '"credit"') + ONE)
    (one,) = found.delays
    numbers = found.network.numbers
    gate = numbers["h0"], numbers["s0"]
    assert set(by_cause(one)) == {delays.WITHHELD, delays.CONTROL}
    assert {place for _, place in one.parts} == {gate}
    folder = found.store.folder(found.told.hash(found.plan.build.fingerprint))
    holds = pd.read_parquet(folder / "pause_tree.parquet")
    mine = holds[holds["node"] == gate[0]]
    # a hold begins with the frame that takes the last credit
    assert one.waited == (mine["end_ps"] - mine["start_ps"] - P).sum()


def test_missing_credit_is_no_pause_of_another_flow_control(tmp_path: Path) -> None:
    """PFC of a host that storms holds the last link; the sender's port lacks credit, as alone."""
    storm = '[[fault]]\nkind = "pause_storm"\nhost = "h2"\nstart = "10us"\nstop = "60us"\n'
    found = explained(tmp_path, STAR.replace('"pfc"', '"pfc", "credit"') + ONE + storm)
    (one,) = found.delays
    summary = found.store.read_summary(found.told.hash(found.plan.build.fingerprint))["summary"]
    assert summary["pauses_sent"] > 0
    gate = found.network.numbers["h0"], found.network.numbers["s0"]
    assert {part for part in one.parts if part[0] != delays.CONTROL} == {(delays.WITHHELD, gate)}
    folder = found.store.folder(found.told.hash(found.plan.build.fingerprint))
    holds = pd.read_parquet(folder / "pause_tree.parquet")
    mine = holds[holds["node"] == gate[0]]
    assert one.waited == (mine["end_ps"] - mine["start_ps"] - P).sum()


def test_what_a_port_sends_in_an_interval_is_that_of_each_moment() -> None:
    """Against every unit of time alone, frames cut at both ends included."""
    rng = random.Random(1)  # noqa: S311 (a test)
    for _ in range(1000):
        begin: list[int] = []
        end: list[int] = []
        data: list[bool] = []
        now = 0
        for _ in range(rng.randrange(6)):
            now += rng.randrange(4)
            begin.append(now)
            now += rng.randrange(1, 5)
            end.append(now)
            data.append(rng.random() < 0.5)
        frames = list(zip(begin, end, data, strict=True))
        begins, ends = np.array(begin, dtype=np.int64), np.array(end, dtype=np.int64)
        port = delays._Port(begins, ends, np.array(data, dtype=bool))
        since = rng.randrange(20)
        until = since + rng.randrange(1, 10)
        moments = range(since, until)
        busy = {at: kind for at in moments for low, high, kind in frames if low <= at < high}
        taken = tuple(sum(one == kind for one in busy.values()) for kind in (True, False))
        assert port.taken(since, until) == taken
        idle = [at for low, high in port.idle(since, until) for at in range(low, high)]
        assert idle == [at for at in moments if at not in busy]


SCHEMES = """
title = "schemes"
port.pause_response = "ideal"

[variants]
schemes = ["pfc", "pfc+dcqcn", "pfc+hpcc", "irn", "gfc", "bfc", "cbfc", "pffc", "sfc+pfc"]

[run]
duration = "1ms"
drain = "20ms"
stop_when_done = true

[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
uplink_rate = "100Gbps"
delay = "500ns"

[buffer]
size = "2MB"
lossy_pool = "0B"

[[traffic]]
kind = "incast"
degree = 6
dst = "h0"
size = "100KB"

[[traffic]]
kind = "poisson"
workload = "hadoop"
load = 0.2
"""


@pytest.mark.slow
def test_books_balance_under_every_scheme(tmp_path: Path) -> None:
    """And of a flow whose frames are never lost, own frames take no more than its ideal time."""
    file = tmp_path / "schemes.toml"
    file.write_text(SCHEMES, encoding="utf-8")
    study = Study.load(file, paths=Paths(ROOT, tmp_path / "results"))
    for run in range(1, 10):
        found = study.explain(run)
        assert isinstance(found, Slow)
        for one in found.delays:
            check_books(one)
            assert 0 <= one.hidden <= 3 * P, (found.spec.title, one)
        assert not any(delays.ELSEWHERE in by_cause(one) for one in found.delays)


def ends(text: str, duration: str) -> str:
    """The same, cut off at a time."""
    return text.replace('drain = "20ms"\nstop_when_done = true', "").replace(
        '"2ms"', f'"{duration}"'
    )


SHORT = ends(STAR, "20us")


def test_books_balance_where_the_run_ends_in_a_frame(tmp_path: Path) -> None:
    """Two flows that are not finished have shared a link for 20 us less the way to it."""
    found = explained(tmp_path, SHORT + two("5MB"))
    for one in found.delays:
        assert not one.finished
        assert one.time == 20 * US
        assert abs(one.waited - one.time / 2) <= US + 2 * P
        assert one.waits_for is not None
        assert one.waits_for[0] == delays.AT_RECEIVER


WINDOWED = STAR + "[queue_pair]\nack_every = 10\n" + ONE + 'window = "10KB"\n'
CAPPED = 'rate_cap = "50Gbps"\n'
SMALL_CREDIT = """
[time-based-gfc]
b0 = "100KB"
buffer = "900KB"
period = "5us"
"""


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (WINDOWED, 10 * P),
        # a rate that let it go on long ago is none that it waits for
        (WINDOWED + CAPPED, 19 * P),
        # nor is a flow control's, of which the queues are far
        (WINDOWED.replace('"pfc"', '"time-based-gfc"') + SMALL_CREDIT, 10 * P),
    ],
)
def test_an_unfinished_flow_waits_for_its_window(tmp_path: Path, text: str, sent: int) -> None:
    """Ten frames are there, and their ACK on its way back when the run ends."""
    (one,) = explained(tmp_path, ends(text, "2.8us")).delays
    assert not one.finished
    gate = one.src, 4
    assert one.waits_for == (delays.WINDOW, gate)
    assert one.parts[delays.WINDOW, gate] == 2_800_000 - sent


def test_an_unfinished_flow_waits_for_its_rate(tmp_path: Path) -> None:
    """A window of ten that is not full keeps none: at 0.4 Gb/s the second frame goes at 250 P."""
    slow = WINDOWED + 'rate_cap = "0.4Gbps"\n'
    (one,) = explained(tmp_path, ends(slow, "10us")).delays
    gate = one.src, 4
    assert one.waits_for == (delays.RATE, gate)
    assert dict(one.parts) == {(delays.RATE, gate): 10 * US - P}
    one_frame = slow.replace('"10KB"', '"1KB"')
    (one,) = explained(tmp_path, ends(one_frame, "10us")).delays
    assert one.waits_for == (delays.RATE, gate), "a full window would be open before"


def test_a_frame_on_its_way_waits_for_nothing(tmp_path: Path) -> None:
    """A flow that is alone has only own frames, whether it is finished or not."""
    (one,) = explained(tmp_path, SHORT + ONE).delays
    assert not one.finished
    assert one.own == one.time == 20 * US
    assert not one.parts
    assert one.waits_for is None


# ---------------------------------------------------------------------------------------------
# Messages that share a connection

M = 512
"""Frames of a message of 512 KB, or twice those of a half, which is a multiple of 128 B, too."""


def pair(start: str = "0us", more: str = "") -> str:
    """Two messages of a connection, the second one from a time on."""
    ends = 'src = "h0", dst = "h2"'
    return (
        f'[[traffic]]\nkind = "messages"\nconnection = "pair"\n{more}messages = '
        f'[{{ {ends}, size = "512KB" }}, {{ {ends}, size = "512KB", start = "{start}" }}]\n'
    )


@pytest.mark.parametrize("start", [0, 20])
@pytest.mark.parametrize("more", ["", 'queue_pairs = 2\nsplit = "all"\n'])
def test_a_message_waits_for_those_before_it(tmp_path: Path, more: str, start: int) -> None:
    """At the sender, while M frames last since the start of the first, whole or in shares."""
    found = explained(tmp_path, STAR + pair(f"{start}us", more))
    first, second = found.delays
    gate = found.network.numbers["h0"], found.network.numbers["s0"]
    # a queue pair that has sent its share goes on with the next message: by one frame at most
    assert set(first.parts) <= {(delays.CONNECTION, gate)}
    assert first.waited <= (P if more else 0)
    assert dict(second.parts) == {(delays.CONNECTION, gate): M * P - start * US}
    assert second.own == second.ideal == (M + 1) * P + US
    (of_pairs,) = (table for table in found.tables() if table.title == "By queue pair")
    ((name, count, *_),) = of_pairs.rows
    assert (name, count) == ("0, h0 → h2", "2")


def test_queue_pairs_of_a_connection_take_turns(tmp_path: Path) -> None:
    """Whole messages in turn: each waits for the other's frames, as two flows of a sender do."""
    one, two_ = explained(tmp_path, STAR + pair(more="queue_pairs = 2\n")).delays
    assert (one.queue_pair, two_.queue_pair) == (0, 1)
    assert set(by_cause(one)) == set(by_cause(two_)) == {delays.AT_SENDER}
    # the second frame was ready before the other message began
    assert [one.waited, two_.waited] == [(M - 2) * P, M * P]


def test_a_message_waits_for_what_kept_the_one_before_it(tmp_path: Path) -> None:
    """A cap of half the rate counts as a rate for both, also before the second is sent."""
    first, second = explained(tmp_path, STAR + pair(more='rate_cap = "50Gbps"\n')).delays
    assert by_cause(first) == {delays.RATE: (M - 1) * P}
    assert by_cause(second) == {delays.CONNECTION: M * P, delays.RATE: (2 * M - 1) * P}


def test_a_loss_of_one_message_delays_the_next(tmp_path: Path) -> None:
    """Go-back-M sends the second one's frames again as well, which count as frames sent again."""
    down = 'failures = [{ link = ["s0", "h2"], down = "42.3us", up = "42.8us" }]\n'
    text = STAR.replace("[run]", "[run]\nallow_loss = true") + down
    text += '[queue_pair]\nretransmit = "GoBackN"\n' + pair()
    first, second = explained(tmp_path, text).delays
    k = -(-(42_800_000 - P - US // 2) // P)
    answered = P + US // 2 + (k + 1) * P + US // 2 + US + 2 * 84 * 80
    # the line was not idle: what the second sent until the NACK came the first one waited for
    assert by_cause(first)[delays.CONNECTION] == pytest.approx(answered - M * P, abs=P)
    assert set(by_cause(first)) <= {delays.CONNECTION, delays.REPEATS}
    lost = -(-(42_300_000 - 2 * P - US) // P)  # the first that has not arrived as the link goes
    assert second.time == pytest.approx(answered + (2 * M - lost + 1) * P + US, abs=P)
    assert by_cause(second).keys() <= {delays.CONNECTION, delays.REPEATS}


def test_an_unfinished_message_waits_for_the_one_before_it(tmp_path: Path) -> None:
    """A host takes nothing for 400 us; the second one has not begun when the run ends."""
    storm = '[[fault]]\nkind = "pause_storm"\nhost = "h2"\nstart = "10us"\nstop = "400us"\n'
    small = '[buffer]\nsize = "300KB"\nlossy_pool = "0B"\n'
    found = explained(tmp_path, ends(STAR, "100us") + small + storm + pair("50us"))
    first, second = found.delays
    held = delays.RECEIVER, (found.network.numbers["h2"], -1)
    assert not first.finished
    assert not second.finished
    assert first.waits_for == second.waits_for == held
    assert second.parts[held] == second.time == 50 * US


JOB = """
title = "job"
flow_control = ["pfc"]
port.pause_response = "ideal"

[variants]
schemes = ["pfc", "pfc+dcqcn", "pfc+hpcc", "irn", "gfc"]

[run]
duration = "1ms"
drain = "20ms"
stop_when_done = true

[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
uplink_rate = "100Gbps"
delay = "500ns"

[buffer]
size = "2MB"
lossy_pool = "0B"

[[traffic]]
kind = "collective"
label = "ring"
queue_pairs = 2
split = "SPLIT"
collectives = [
  { name = "a", operation = "all_reduce", size = "200KB", slice = "32KiB", channels = 2 },
  { name = "b", operation = "all_to_all", size = "100KB", after = ["a"] },
]
"""


@pytest.mark.slow
@pytest.mark.parametrize("split", ["all", "round-robin"])
def test_books_balance_for_jobs_with_connections(tmp_path: Path, split: str) -> None:
    """Under every scheme; a message's own frames are its ideal time, but for headers of shares."""
    file = tmp_path / "job.toml"
    file.write_text(JOB.replace("SPLIT", split), encoding="utf-8")
    study = Study.load(file, paths=Paths(ROOT, tmp_path / "results"))
    for run in range(1, 6):
        found = study.explain(run)
        assert isinstance(found, Slow)
        for one in found.delays:
            check_books(one)
            # a share goes on while the other waits on its way
            most = 3 * P if split == "round-robin" else one.size // 1000 * P
            assert -120 * 80 <= one.hidden <= most, (found.spec.title, one)
        assert not any(delays.ELSEWHERE in by_cause(one) for one in found.delays)


# ---------------------------------------------------------------------------------------------
# What cannot be explained


def refused(folder: Path, text: str) -> Problem:
    """Why a run that was simulated is not explained, before any other is simulated."""
    folder.mkdir(exist_ok=True)
    file = folder / "waits.toml"
    file.write_text(text, encoding="utf-8")
    study = Study.load(file, paths=Paths(ROOT, folder / "results"))
    study.run(jobs=1, progress=False)
    with pytest.raises(UserError) as raised:
        study.explain(1)
    assert not [one for one in (folder / "results").rglob("explain") if any(one.iterdir())]
    (problem,) = raised.value.problems
    return problem


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("port.clock_offset", "[port]\nclock_offset = -50\n"),
        ("port.clock_tolerance", "[port]\nclock_tolerance = 100\n"),
        ("node.0.port.clock_offset", '[[node]]\nnames = "h0"\nport = { clock_offset = 9 }\n'),
        (
            "node.0.port.clock_tolerance",
            '[[node]]\nnames = "s0:h2"\nport = { clock_tolerance = 9 }\n',
        ),
    ],
)
def test_clocks_that_are_off_are_refused(tmp_path: Path, where: str, text: str) -> None:
    """The books are of exact rates."""
    ports = (STAR + ONE).replace('port.pause_response = "ideal"\n', "")
    problem = refused(tmp_path, ports + text)
    assert problem.where == where
    assert "clocks are off" in problem.what


def test_an_entry_of_a_port_has_no_latency(tmp_path: Path) -> None:
    """A node's counts, a port's is none."""
    entries = """
[[node]]
names = "s0:h1"
port = { clock_offset = 0 }

[[node]]
names = "s0"
switch = { latency = "1us" }
"""
    (one,) = explained(tmp_path, STAR + ONE + entries).delays
    assert one.time == one.own == (N + 1) * P + 2 * US
    assert not one.parts


def test_a_run_that_fails_is_told_by_its_title_and_reason(tmp_path: Path) -> None:
    """Those of the study's run, not of the one that is derived from it."""
    variants = '[variants]\nschemes = ["pfc"]\n\n[run]'
    down = 'failures = [{ link = ["s0", "h2"], down = "10us", up = "100us" }]\n'
    text = STAR.replace('flow_control = ["pfc"]\n', "").replace("[run]", variants)
    with pytest.raises(UserError) as raised:
        explained(tmp_path, text + down + ONE)
    (problem,) = raised.value.problems
    assert problem.where == "RUN variant=PFC seed=1"
    assert "log.txt" in problem.what
    assert "s0 dropped" in problem.what.rpartition("log.txt")[2]


# ---------------------------------------------------------------------------------------------
# What a flow control's rate withholds

GFC = (
    STAR.replace('"pfc"', "SCHEME")
    + """
[buffer]
size = "4MB"
lossy_pool = "0B"
threshold = "static"
xoff = "1.2MB"
xon = "1MB"

[conceptual-gfc]
b0 = "100KB"
bm = "900KB"

[multi-stage-gfc]
b1 = "500KB"
bm = "900KB"

[time-based-gfc]
b0 = "100KB"
buffer = "900KB"
period = "5us"

[[trace]]
table = "frame"
"""
    + two("8MB")
)


@pytest.mark.parametrize("scheme", ["conceptual-gfc", "multi-stage-gfc", "time-based-gfc"])
def test_two_senders_are_withheld_what_the_link_lacks(tmp_path: Path, scheme: str) -> None:
    """Each has frames until its last: what its line is idle until then is withheld, to the ps.

    Together they send 2 N frames through a link that needs 2 N P, so that each is idle for N P
    less what waits in the switch at its end, at most Bm.
    """
    file = tmp_path / "gfc.toml"
    file.write_text(GFC.replace("SCHEME", f'"{scheme}"'), encoding="utf-8")
    study = Study.load(file, paths=Paths(ROOT, tmp_path / "results"))
    study.run(jobs=1, progress=False)
    (row,) = study.runs.to_dict("records")
    frames = study.table("frame")
    idle = 0
    for host in (0, 1):
        sent = frames[frames["node"] == host]
        last = sent[sent["kind"] == 0]["time_ps"].max()
        taken = sent[sent["time_ps"] < last]["bytes"].sum() * 80
        idle += last - taken
    assert row["withheld_time_ps"] == idle
    whole, queue = 8000 * P, 900_000 * 80
    assert 2 * whole - 2.3 * queue <= row["withheld_time_ps"] <= 2 * whole
    assert row["pause_time_ps"] == 0


def test_pauses_are_not_withheld(tmp_path: Path) -> None:
    """A port without a rate has no such number."""
    file = tmp_path / "pfc.toml"
    file.write_text(STAR + ONE, encoding="utf-8")
    study = Study.load(file, paths=Paths(ROOT, tmp_path / "results"))
    study.run(jobs=1, progress=False)
    assert "withheld_time_ps" not in study.runs


# ---------------------------------------------------------------------------------------------
# For people


def test_the_command_says_it_and_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same sentences; the second time nothing is simulated."""
    monkeypatch.setenv("PYORCH_RESULTS", str(tmp_path / "results"))
    file = tmp_path / "victim.toml"
    file.write_text(VICTIM, encoding="utf-8")
    assert explain_run(str(file), "1") == 0
    said = capsys.readouterr().out
    assert "The largest cause is a slow receiver" in said
    assert "h2" in said.split("The largest cause")[1].splitlines()[0]
    assert explain_run(str(file), "1") == 0
    assert "0 runs simulated now" in capsys.readouterr().out
    (page,) = (tmp_path / "results").rglob("pages/*/index.html")
    text = page.read_text(encoding="utf-8")
    assert "By cause" in text
    assert "Who paused whom" in text


def test_python_gives_every_wait(tmp_path: Path) -> None:
    """As a table whose sum is what the flows waited."""
    found = explained(tmp_path, VICTIM)
    table = found.frame()
    assert isinstance(table, pd.DataFrame)
    assert table["lost_ps"].sum() == sum(one.waited for one in found.delays)
