"""The plan: which runs, in which order, and what their hashes depend on."""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
import tracemalloc
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.files.load import load_experiment
from pyorch.metrics import parse
from pyorch.plan import RunSpec, expand, hash_of_json, read_seeds
from pyorch.setting.canonical import Setting
from tests.forms import form
from tests.strategies import MINIMAL, load

VARIANTS = """
[variants.PFC]
flow_control = ["pfc"]
[variants.GFC]
flow_control = ["conceptual-gfc"]
"conceptual-gfc.bm" = "90KB"
"""
SWEEP = '[sweep]\n"buffer.alpha" = [0.125, 0.5]\n"topology.hosts" = [3, 4, 5]\n'


def specs(folder: Path, text: str, *overrides: str, seeds: str = "") -> list[RunSpec]:
    """The runs of a file with that text."""
    return expand(load(folder, text, *overrides), read_seeds(seeds))


def test_runs_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Variants outermost, then swept keys, then seeds; params tell them apart."""
    found = specs(tmp_path, MINIMAL + VARIANTS + SWEEP, seeds="2")
    order = [(*run.params.values(), form(run)["seed"]) for run in found]
    assert order == list(itertools.product(["PFC", "GFC"], [0.125, 0.5], [3, 4, 5], [1, 2]))
    assert list(found[0].params) == ["variant", "buffer.alpha", "topology.hosts"]
    assert form(found[-1])["topology"]["hosts"] == 5
    buffer = form(found[-1])["attributes"]["ns3::lossless::SharedBuffer"]
    assert buffer == {"Alpha": "0.5"}


def test_a_file_without_variants_has_one_without_a_name(tmp_path: Path) -> None:
    """The variant is then the empty text."""
    (run,) = specs(tmp_path, MINIMAL)
    assert run.params == {"variant": ""}
    assert (form(run)["schema"], form(run)["experiment"], form(run)["seed"]) == (1, "x", 1)


def test_seeds_come_from_the_file_or_the_command(tmp_path: Path) -> None:
    """A count, a list, and --seeds, which wins."""
    count = MINIMAL.replace("[run]", "[run]\nseeds = 3")
    listed = MINIMAL.replace("[run]", "[run]\nseeds = [7, 4]")
    assert [form(run)["seed"] for run in specs(tmp_path, count)] == [1, 2, 3]
    assert [form(run)["seed"] for run in specs(tmp_path, listed)] == [7, 4]
    assert [form(run)["seed"] for run in specs(tmp_path, listed, seeds="2")] == [1, 2]
    assert [form(run)["seed"] for run in specs(tmp_path, listed, "run.seeds=2")] == [1, 2]
    assert [form(run)["seed"] for run in specs(tmp_path, listed, seeds="11-13")] == [11, 12, 13]
    assert read_seeds("1001-1500") == range(1001, 1501)
    for bad in ("0", "-3", "5-4", "0-4", "x", "1-", "1-2-3", str(2**32)):
        with pytest.raises(UserError, match=f"--seeds: '{bad}' is not allowed"):
            read_seeds(bad)


def test_a_time_limit_is_no_part_of_a_run(tmp_path: Path) -> None:
    """It goes along with each run, but neither its JSON nor its hash; no variant changes it."""
    text = MINIMAL + VARIANTS
    plain = specs(tmp_path, text)
    limited = specs(tmp_path, text.replace("[run]", '[run]\ntime_limit = "10min"'))
    assert [run.time_limit for run in (*plain, *limited)] == [None, None, 600, 600]
    assert limited == plain
    assert [run.hash("f") for run in limited] == [run.hash("f") for run in plain]
    assert [run.time_limit for run in specs(tmp_path, MINIMAL, "run.time_limit=90s")] == [90]
    with pytest.raises(UserError, match=r"'run\.time_limit' belongs to the experiment as a whole"):
        specs(tmp_path, text + 'run.time_limit = "1s"\n')
    for bad in ("10", "0s", "10 us"):
        with pytest.raises(UserError, match=r"run\.time_limit"):
            specs(tmp_path, MINIMAL, f"run.time_limit={bad}")


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("run.duration=3ms", "run.duration_ps", 3 * 10**9),
        ("topology.hosts=8", "topology.hosts", 8),
        ('flow_control=["pfc", "conceptual-gfc"]', "flow_control.1", "ns3::gfc::ConceptualGfc"),
        ("traffic.0.class=5", "traffic.0.class", 5),
        ("port.control_delay=1us", "attributes.ns3::lossless::Port.ControlDelay", "1000000ps"),
        ('traffic=[{kind="greedy",src="h3",dst="h0"}]', "traffic.0.src.0", "h3"),
    ],
)
def test_an_override_reaches_any_key(tmp_path: Path, override: str, key: str, value: Any) -> None:
    """TOML values and bare text, for keys of the file and keys it does not have."""
    (run,) = specs(tmp_path, MINIMAL, override)
    found: Any = form(run)
    for part in key.split("."):
        found = found[int(part)] if part.isdigit() else found[part]
    assert found == value
    assert run.params == {"variant": ""}


def test_an_override_wins_over_variants_and_may_change_one(tmp_path: Path) -> None:
    """A plain key holds for all variants, variants.NAME.key for one."""
    text = MINIMAL + VARIANTS

    def bm(*overrides: str) -> list[Any]:
        name = "ns3::gfc::ConceptualGfc"
        return [form(run)["attributes"].get(name) for run in specs(tmp_path, text, *overrides)]

    assert bm() == [None, {"Bm": "90000"}]
    assert bm("conceptual-gfc.bm=80KB") == [None, {"Bm": "80000"}]
    assert bm("variants.GFC.conceptual-gfc.bm=70KB") == [None, {"Bm": "70000"}]


def test_an_override_with_commas_makes_or_replaces_a_sweep(tmp_path: Path) -> None:
    """A list is a sweep; a single value for a swept key is a sweep of one."""
    made = specs(tmp_path, MINIMAL, "buffer.alpha=0.25,1")
    assert [run.params["buffer.alpha"] for run in made] == [0.25, 1]
    replaced = specs(tmp_path, MINIMAL + SWEEP, "buffer.alpha=2,4", "topology.hosts=6")
    assert [tuple(run.params.values()) for run in replaced] == [("", 2, 6), ("", 4, 6)]
    assert [form(run)["topology"]["hosts"] for run in replaced] == [6, 6]


def test_a_sweep_reaches_entries_by_label(tmp_path: Path) -> None:
    """traffic.NAME is the entry with that label."""
    text = MINIMAL + 'label = "bulk"\n[sweep]\n"traffic.bulk.rate_cap" = ["1Gbps", "2Gbps"]\n'
    caps = [form(run)["traffic"][0]["rate_cap_bps"] for run in specs(tmp_path, text)]
    assert caps == [10**9, 2 * 10**9]


def test_two_spellings_of_a_value_are_one_run(tmp_path: Path) -> None:
    """Units, numbers and enumerators are canonical everywhere, in swept values too."""
    text = MINIMAL + '[sweep]\n"port.control_delay" = ["1us"]\n"buffer.threshold" = ["static"]\n'
    one = specs(tmp_path, text + '"buffer.alpha" = [1]\n"buffer.size" = ["16MB"]')
    other = text.replace('"1us"]', '"1000ns"]').replace("static", "Static")
    other = other.replace('"10Gbps"', '"10000Mbps"').replace('"1ms"', '"0.001s"')
    two = specs(tmp_path, other + '"buffer.alpha" = [1.0]\n"buffer.size" = ["16000KB"]')
    assert [run.to_json() for run in one] == [run.to_json() for run in two]


def test_the_hash_ignores_metrics_and_nothing_else(tmp_path: Path) -> None:
    """A new metric leaves the run in place; any other change, or another build, moves it."""
    (run,) = specs(tmp_path, MINIMAL)
    base = run.hash("build")
    assert len(base) == 16
    metric = parse({"name": "m", "kind": "summary", "number": "events"})
    assert replace(run, metrics=(metric,)).hash("build") == base
    assert run.hash("other build") != base
    assert hash_of_json(run.to_json(), "build") == base
    for key, value in form(run).items():
        changed = json.dumps({**form(run), key: [value, "changed"]})
        assert (hash_of_json(changed, "build") == base) == (key == "metrics"), key


JSON = st.recursive(
    st.integers()
    | st.text(max_size=5)
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
TABLES = st.dictionaries(st.text(max_size=4), JSON, max_size=5)


def shuffled(value: Any) -> Any:
    """The same JSON with the keys of every table in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(list(value))}
    return [shuffled(entry) for entry in value] if isinstance(value, list) else value


@given(TABLES)
@pytest.mark.slow
def test_a_hash_does_not_depend_on_the_order_of_keys(data: dict[str, Any]) -> None:
    """It is one of the content, whatever that is."""
    texts = json.dumps(data), json.dumps(shuffled(data))
    assert len({hash_of_json(text, "x") for text in texts}) == 1


@settings(max_examples=25)
@given(
    st.integers(0, 3),
    st.lists(st.integers(1, 3), max_size=3),
    st.integers(1, 3),
)
def test_the_number_of_runs_is_the_product(variants: int, lengths: list[int], seeds: int) -> None:
    """Variants times the lengths of all sweeps times seeds, each run a different one."""
    keys = ["buffer.alpha", "topology.hosts", "traffic.0.class"]
    text = MINIMAL + "".join(f"[variants.V{n}]\n" for n in range(variants)) + "[sweep]\n"
    for key, length in zip(keys, lengths, strict=False):
        text += f'"{key}" = {[3 + n for n in range(length)]}\n'
    with tempfile.TemporaryDirectory() as folder:
        found = specs(Path(folder), text, seeds=str(seeds))
    expected = max(variants, 1) * seeds
    for length in lengths:
        expected *= length
    assert len(found) == expected
    assert len({run.hash("x") for run in found}) == expected


def test_random_failed_links_are_drawn_per_seed(tmp_path: Path) -> None:
    """Each seed has failures of its own, written out in its RunSpec."""
    text = MINIMAL.replace(
        'kind = "star"\nhosts = 4', 'kind = "fat_tree"\nk = 4\nrandom_failed_links = 2'
    )
    found = [form(run)["topology"] for run in specs(tmp_path, text, seeds="6")]
    assert all(len(table["failed_links"]) == 2 for table in found)
    assert all("random_failed_links" not in table for table in found)
    assert len({json.dumps(table["failed_links"]) for table in found}) > 1


THREE = """
[variants.A]
"buffer.alpha" = 0.5
[variants.B]
"buffer.alpha" = 0.25
[variants."C, wide"]
"buffer.alpha" = 0.125
"""


def test_the_runs_of_a_setting_share_what_is_hashed(tmp_path: Path) -> None:
    """100,000 seeds of a large network fit into memory: hashing keeps nothing in each run."""
    found = specs(tmp_path, MINIMAL, seeds="1000")
    found[0].hash("f")
    tracemalloc.start()
    assert len({run.hash("f") for run in found}) == 1000
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert left < 100_000


def test_only_some_variants(tmp_path: Path) -> None:
    """Their runs are those of the whole experiment, in its order; figures may still name others."""
    whole = specs(tmp_path, MINIMAL + THREE)
    some = specs(tmp_path, MINIMAL + THREE, "only=B, A")
    assert [run.params["variant"] for run in some] == ["A", "B"]
    assert {run.hash("f") for run in some} < {run.hash("f") for run in whole}
    assert some == whole[: len(some)]


@pytest.mark.parametrize("text", [MINIMAL, MINIMAL + THREE])
def test_variants_that_are_not_there(tmp_path: Path, text: str) -> None:
    """The message has the option as it was typed."""
    with pytest.raises(UserError) as caught:
        specs(tmp_path, text, "only=A,D")
    last = caught.value.problems[-1]
    assert (last.where, last.what) == ("--only A,D", "there is no variant 'D'")


def test_links_that_cannot_be_drawn_are_told_with_their_file(tmp_path: Path) -> None:
    """Draws come after the file was accepted; the message names it all the same."""
    text = MINIMAL.replace(
        'kind = "star"\nhosts = 4',
        'kind = "fat_tree"\nk = 4\nrandom_failed_links = 1\ndependency = "cyclic"',
    )
    with pytest.raises(UserError) as caught:
        specs(tmp_path, text)
    assert caught.value.problems[0].where == "experiments/x.toml: topology.random_failed_links"


def test_a_hash_is_of_the_canonical_json() -> None:
    """What the runs of a setting share is serialised once; hashes are of the whole."""
    specs = expand(load_experiment("gfc/fat-tree"), seeds=[1, 7]) + expand(
        load_experiment("gfc/two-to-one"), seeds=[1, 2**32 - 1]
    )
    for spec in specs:
        kept = {key: value for key, value in form(spec).items() if key != "metrics"}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        assert spec.hash("f") == hashlib.sha256(f"{text}\nf".encode()).hexdigest()[:16]


STUDIES = ("gfc/two-to-one", "dsh/burst", "forwarding/load", "deadlock/zoo", "gfc/fat-tree")


@pytest.mark.parametrize("name", STUDIES)
def test_a_run_reads_back_from_its_json(name: str) -> None:
    """With equal parts of the same types, whatever the order of the keys is."""
    runs = expand(load_experiment(name), [1])
    for run in {run.params["variant"]: run for run in runs}.values():
        text = json.dumps(shuffled(json.loads(run.to_json())))
        read = RunSpec.from_json(text)
        assert read.to_json() == run.to_json()
        assert (read.seed, read.metrics) == (run.seed, run.metrics)
        for part in fields(Setting):
            before, after = getattr(run.setting, part.name), getattr(read.setting, part.name)
            sequence = isinstance(before, list | tuple)
            assert (list(before) == list(after)) if sequence else (before == after), part.name
        assert read == run
        assert len({read, run}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"sede": 1},
        {"schema": 2},
        {"run": {"duration_ps": "1ms"}},
        {"run": {"duration": 10**9}},
        {"topology": {"kind": "moebius"}},
        {"topology": None},
        {"traffic": [{"kind": "greedy"}]},
        {"metrics": [{"name": "m", "kind": "nothing"}]},
    ],
)
def test_what_is_no_run_is_not_read(change: dict[str, Any]) -> None:
    """An unknown part, one of another type, one of a file: nothing is guessed."""
    data = form(expand(load_experiment("gfc/two-to-one"), [1])[0])
    RunSpec.from_json(json.dumps(data))
    with pytest.raises(ValueError, match=r"\w"):
        RunSpec.from_json(json.dumps({**data, **change}))
    with pytest.raises(ValueError, match="not a RunSpec"):
        RunSpec.from_json(json.dumps({key: data[key] for key in data if key != "seed"}))
