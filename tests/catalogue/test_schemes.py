"""Scheme files, rules, includes, lists of --set: how experiments of a comparison share things."""

from __future__ import annotations

import contextlib
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.cli.schemes import schemes
from pyorch.files.find import list_experiments, made_document
from pyorch.files.load import load_experiment
from pyorch.files.schemes import CHAINS, SchemeFile, environment, evaluate
from pyorch.files.variants import read_library, read_variants
from pyorch.setting.attributes import TypeInfo, catalogue, number, section_of
from tests.forms import form
from tests.strategies import MINIMAL, ROOT, SCHEMA, network
from tools.bakeoff.sensitivity import load_asked

SCENE = """
title = "?"
include = ["parts/common.toml"]
[topology]
hosts = 4
[sweep]
"buffer.size" = ["2MB", "4MB"]
[set]
full = ["topology.hosts=8", "sweep.buffer.size=8MB"]
"""
COMMON = """
[variants]
files = "schemes/*.toml"
[buffer]
lossy_pool = "0B"
"""
COMMON = MINIMAL.replace('title = "A test"\n', "").replace("hosts = 4\n", "") + COMMON
PFC = """
name = "PFC"
about = "pauses"
flow_control = ["pfc"]
[values."buffer.alpha"]
value = 0.25
source = "a book"
"""
GFC = """
name = "GFC"
about = "slows"
include = ["pfc.toml"]
flow_control = ["conceptual-gfc"]
[values."conceptual-gfc.bm"]
size = "min(share, 3 * rate * delay) - 2 * frame"
source = "a paper"
[values."conceptual-gfc.b0"]
value = "1KB"
source = "a choice"
"""


def project(folder: Path, scene: str = SCENE, **schemes: str) -> Paths:
    """A project with one comparison: a scene, what it includes, and scheme files."""
    paths = Paths(folder)
    group = paths.experiments / "duel"
    (group / "parts").mkdir(parents=True)
    (group / "schemes").mkdir()
    (paths.experiments / "workloads").symlink_to(ROOT / "experiments" / "workloads")
    (group / "scene.toml").write_text(scene)
    (group / "parts" / "common.toml").write_text(COMMON)
    for name, text in ({"pfc": PFC, "gfc": GFC} | schemes).items():
        (group / "schemes" / f"{name}.toml").write_text(text)
    return paths


def complaints(paths: Paths, *overrides: str) -> list[str]:
    """What is wrong with the scene."""
    with pytest.raises(UserError) as told:
        load_experiment("duel/scene", overrides, SCHEMA, paths)
    return [problem.render() for problem in told.value.problems]


def test_every_scheme_file_is_a_variant(tmp_path: Path) -> None:
    """Chains are joined along `include`, rules follow the swept buffer, lists of files do not."""
    paths = project(tmp_path)
    found = load_experiment("duel/scene", (), SCHEMA, paths)
    assert found.variants == ("GFC", "PFC")
    assert [point.params["buffer.size"] for point in found.points] == ["2MB", "4MB"] * 2
    gfc = form(found.points[0])
    assert gfc["flow_control"] == ["ns3::pfc::Pfc", "ns3::gfc::ConceptualGfc"]
    # 3 C D = 3 x 1250 B is below any share
    assert gfc["attributes"]["ns3::gfc::ConceptualGfc"]["Bm"] == str(3 * 1250 - 2 * 1048)
    for point in found.points:
        assert form(point)["attributes"]["ns3::lossless::SharedBuffer"]["Alpha"] == "0.25"
    assert [name for name, _ in list_experiments(paths)] == ["duel/scene"]
    set_in = "variants.PFC.buffer.alpha=0.5", "variants.PFC.buffer.xon_offset=2KB"
    one = load_experiment("duel/scene", set_in, SCHEMA, paths)
    alphas = [form(p)["attributes"]["ns3::lossless::SharedBuffer"]["Alpha"] for p in one.points]
    assert alphas == ["0.25", "0.25", "0.5", "0.5"]


def test_a_file_may_have_several_variants(tmp_path: Path) -> None:
    """Tables as in an experiment; problems are reported with the name of the file."""
    text = '[variants.Slow]\nport.control_delay = "9us"\n[variants.Fast]\n'
    paths = project(tmp_path, both=text)
    found = load_experiment("duel/scene", ("variants.Fast.buffer.alpha=0.5",), SCHEMA, paths)
    assert found.variants == ("Slow", "Fast", "GFC", "PFC")
    attributes = [form(point)["attributes"] for point in found.points[::2]]
    assert [one["ns3::lossless::SharedBuffer"].get("Alpha") for one in attributes[:2]] == [
        None,
        "0.5",
    ]
    file = paths.experiments / "duel" / "schemes" / "both.toml"
    for old, new, message in (
        ("control_delay", "control_dealy", "both.toml: variants.Slow: port.control_dealy: unknown"),
        (
            "[variants.Fast]",
            "[variants.PFC]",
            "pfc.toml: name: 'PFC' is also a variant of both.toml",
        ),
        ("[variants.Slow]", "[x]\n[variants.Slow]", "both.toml: x: is next to [variants.NAME]"),
        ("port.control_delay", "title", "both.toml: variants.Slow: 'title' belongs to the"),
    ):
        file.write_text(text.replace(old, new))
        told = complaints(paths)
        assert any(one.startswith(message) for one in told), told


@pytest.mark.parametrize("pattern", ["n" * 300, f"{'n' * 300}/*.toml", "/etc/*", ""])
def test_patterns_that_name_no_files(tmp_path: Path, pattern: str) -> None:
    """Also those longer than a name can be."""
    paths = project(tmp_path)
    file = paths.experiments / "duel" / "parts" / "common.toml"
    file.write_text(re.sub(r"files = .*", f"files = {pattern!r}", file.read_text()))
    assert any("next to the experiment file" in text for text in complaints(paths))


def test_a_new_file_is_a_new_variant_and_a_list_of_set_changes_the_scene(tmp_path: Path) -> None:
    """`--set full` makes the changes of that list; `--set` itself wins over them."""
    third = PFC.replace('"PFC"', '"Third"')
    paths = project(tmp_path, third=third)
    full = load_experiment("duel/scene", ("topology.hosts=6", "full"), SCHEMA, paths)
    assert full.variants == ("GFC", "PFC", "Third")
    assert full.sweep == {"buffer.size": ["8MB"]}
    assert {len(point.network.hosts) for point in full.points} == {6}
    (told,) = complaints(paths, "ful")
    assert told == (
        "--set ful: not of the form key=value, and no list of [set]\n"
        "    allowed: full, buffer.alpha=0.125\n    hint: did you mean 'full'?"
    )


def test_a_list_of_set_may_name_another(tmp_path: Path) -> None:
    """The later value wins; a cycle and a missing list are reported with their place."""
    lists = """
huge = ["full", "topology.hosts=10"]
loop = ["loop"]
lost = ["ful"]
typo = ["topology.host=4"]
bare = ["topology.hosts="]
"""
    paths = project(tmp_path, SCENE + lists)
    huge = load_experiment("duel/scene", ("huge",), SCHEMA, paths)
    assert huge.sweep == {"buffer.size": ["8MB"]}
    assert {len(point.network.hosts) for point in huge.points} == {10}
    (told,) = complaints(paths, "loop")
    assert told == "experiments/duel/scene.toml: set.loop: loop: the list refers to itself"
    (told,) = complaints(paths, "lost")
    assert told.startswith("experiments/duel/scene.toml: set.lost: ful: not of the form key=value")
    (told,) = complaints(paths, "typo")
    place = "experiments/duel/scene.toml: set.typo: topology.host=4"
    assert told.startswith(f"{place}: unknown key 'host'")
    (told,) = complaints(paths, "bare")
    assert told.startswith("experiments/duel/scene.toml: set.bare: topology.hosts=: not of the")


def test_an_older_scheme_file_is_told_once(tmp_path: Path) -> None:
    """That `extends` has another name now."""
    paths = project(tmp_path, third='extends = ["pfc.toml"]\n' + PFC.replace('"PFC"', '"Third"'))
    (told,) = complaints(paths)
    assert "extends: is called 'include' now" in told


def test_what_is_no_list_of_set_is_told_by_its_key(tmp_path: Path) -> None:
    """Once, even if it is chosen."""
    paths = project(tmp_path, SCENE + 'huge = "topology.hosts=9"\n')
    (told,) = complaints(paths, "huge")
    assert told.startswith("experiments/duel/scene.toml: set.huge: 'topology.hosts=9' is not")


def test_lists_of_set_of_included_files_come_first(tmp_path: Path) -> None:
    """So that a scene adds to the list that all scenes have, and wins over it."""
    paths = project(tmp_path)
    common = paths.experiments / "duel" / "parts" / "common.toml"
    common.write_text(common.read_text() + '[set]\nfull = ["topology.hosts=7", "run.seeds=3"]\n')
    full = load_experiment("duel/scene", ("full",), SCHEMA, paths)
    assert full.seeds == (1, 2, 3)
    assert {len(point.network.hosts) for point in full.points} == {8}


def test_rules_know_the_setting() -> None:
    """Names of a star of 4 ports at 10 Gb/s, worked out by hand."""
    buffer = {"size": "400KB", "lossy_pool": "0B"}
    names = environment({"buffer": buffer}, network(kind="star", hosts=4))
    # eta' = 2 (1250 + 1068) + 67 quanta of 64 B + 84 + 1048
    assert names["headroom"] == 2 * (1250 + 1068) + 67 * 64 + 84 + 1048
    assert names["control_delay"] == 67 * 512 / 1e10
    exact = environment(
        {"buffer": buffer, "port": {"control_delay": "1us"}}, network(kind="star", hosts=4)
    )
    assert exact["headroom"] == 2 * (1250 + 1068) + 3840 + 84 + 1048
    assert names["share"] == 100_000 - names["headroom"]
    assert names["cells"] == 1
    in_cells = environment({"buffer": {"cell_size": "208B"}}, network(kind="star", hosts=4))
    assert in_cells["cells"] == 208 / 64
    assert (names["rate"], names["delay"], names["ports"]) == (1.25e9, 1e-6, 4)
    assert evaluate("max(2, 3) * (rate * delay - 250) / -2", names) == -1500


@given(st.text(max_size=30))
def test_no_rule_does_anything_but_arithmetic(rule: str) -> None:
    """Whatever is written, the answer is a number or a message for people."""
    with contextlib.suppress(ValueError):
        assert isinstance(evaluate(rule, {"x": 2.0}), float)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("__import__('os')", "is not allowed in a rule"),
        ("share.real", "is not allowed in a rule"),
        ("2 ** 3", "is not allowed in a rule"),
        ("shere", "unknown name 'shere'; did you mean 'share'?"),
        ("1 / 0", "divides by zero"),
        ("1 +", "is not a rule"),
        ("min()", "give min() at least two values"),
        ("1e300 * 1e300", "gives inf"),
        ("9" * 400, "is too large"),
        ("share - 1000 * buffer", "below 0: the buffer is too small for it"),
    ],
)
def test_a_bad_rule_is_told_with_its_file_and_key(tmp_path: Path, rule: str, message: str) -> None:
    """The message names the scheme's file, the key, and what rules may use."""
    gfc = GFC.replace("min(share, 3 * rate * delay) - 2 * frame", rule)
    told = complaints(project(tmp_path, gfc=gfc))
    assert len([text for text in told if message in text]) >= 1
    assert all(text.startswith("gfc.toml: conceptual-gfc.bm: ") for text in told)
    assert "rules may use rate, delay" in told[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "a paper"\n', "", "gfc.toml: values.conceptual-gfc.bm.source: missing"),
        ('["pfc.toml"]', '["pcf.toml"]', "gfc.toml: include: there is no file 'pcf.toml' next to"),
        ('["pfc.toml"]', '["gfc.toml"]', "gfc.toml: include: gfc.toml includes itself"),
        ('name = "GFC"', 'name = "PFC"', "pfc.toml: name: 'PFC' is also a variant of gfc.toml"),
        ("slows", 'slows"\nextend = "x', "gfc.toml: extend: unknown key 'extend'"),
        (
            "gfc.bm",
            "gfc.bmm",
            "gfc.toml: conceptual-gfc.bmm, by its rule for experiments/duel/scene.toml: unknown",
        ),
        (
            "min(share, 3 * rate * delay) - 2 * frame",
            "1e9 * share",
            "gfc.toml: conceptual-gfc.bm, by its rule for experiments/duel/scene.toml: '",
        ),
        ('source = "a paper"', 'source = "a"\nvalue = 3', "give one of 'value', 'size', 'time'"),
    ],
)
def test_what_is_wrong_with_a_scheme_file_is_told(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The message names the file and the key."""
    assert old in GFC
    told = complaints(project(tmp_path, gfc=GFC.replace(old, new)))
    assert any(message in text for text in told), told


LISTED = MINIMAL + '[variants]\nschemes = ["gfc", "Pfc+Dcqcn", "irn"]\n'


@pytest.fixture(scope="module")
def built() -> tuple[TypeInfo, ...]:
    """The types of the built modules."""
    from pyorch.build import ensure_built, load_schema

    return tuple(load_schema(ensure_built()))


@pytest.mark.cpp
def test_schemes_are_variants_by_name(tmp_path: Path, built: tuple[TypeInfo, ...]) -> None:
    """By name, short name or file, in any case; as a list, in a table, and through Python."""
    file = tmp_path / "scene.toml"
    file.write_text(LISTED)
    found = load_experiment(file, (), built)
    assert found.variants == ("GFC-time", "PFC+DCQCN", "IRN")
    short = 'variants = ["GFC-time", "pfc-dcqcn", "IRN"]\n' + MINIMAL
    file.write_text(short)
    forms = [form(point) for point in found.points]
    assert [form(point) for point in load_experiment(file, (), built).points] == forms
    made = made_document("scene", tomllib.loads(short), Paths(ROOT))
    assert [form(point) for point in load_experiment(made, (), built).points] == forms
    one = load_experiment(file, ('variants=["irn"]', "variants.IRN.port.control_delay=2us"), built)
    assert one.variants == ("IRN",)
    assert form(one.points[0])["attributes"]["ns3::lossless::Port"]["ControlDelay"] == "2000000ps"
    assert found.points[2].setting.run.allow_loss
    assert not found.points[1].setting.run.allow_loss
    include = tmp_path / "upper.toml"
    include.write_text('include = ["scene.toml"]\n[variants.Late]\nport.control_delay = "9us"\n')
    assert load_experiment(include, (), built).variants == (*found.variants, "Late")


@pytest.mark.cpp
def test_agents_of_a_file_are_in_force_beside_those_of_a_scheme(
    tmp_path: Path, built: tuple[TypeInfo, ...]
) -> None:
    """As are those of included files, first; a table of the file, or --set, has its own."""
    file = tmp_path / "scene.toml"
    (tmp_path / "cure.toml").write_text('agents = ["tagger"]\n')
    file.write_text(
        'include = ["cure.toml"]\nagents = ["pfc-watchdog"]\n'
        + MINIMAL
        + '[variants]\nschemes = ["pfc", "pfc+dcqcn"]\n'
        + '[variants.Bare]\nextends = "pfc+dcqcn"\nagents = []\n'
    )
    cure, scheme = ["ns3::pfc::Tagger", "ns3::pfc::PfcWatchdog"], "ns3::lossless::EcnMarking"
    found = {
        point.setting.params["variant"]: [*point.setting.agents]
        for point in load_experiment(file, (), built).points
    }
    assert found == {"PFC": cure, "PFC+DCQCN": [*cure, scheme], "Bare": []}
    given = load_experiment(file, ("agents=[]",), built).points
    assert not any(point.setting.agents for point in given)


def test_lossless_classes_share_what_a_scheme_promises() -> None:
    """Two of them: half of the buffer each, and each a headroom of its own."""
    buffer = {"size": "400KB", "lossy_pool": "0B"}
    star = network(kind="star", hosts=4)
    one, two = (environment({"buffer": buffer | {"lossless_classes": m}}, star) for m in (8, 24))
    assert (one["lossless"], two["lossless"]) == (400_000, 200_000)
    assert two["share"] == 50_000 - one["headroom"]


def test_both_forms_of_variants_cannot_be_mixed(tmp_path: Path) -> None:
    """TOML has a list or a table; the message says how the list is written beside tables."""
    file = tmp_path / "scene.toml"
    file.write_text('variants = ["pfc"]\n[variants.Mine]\nextends = "pfc"\n' + MINIMAL)
    with pytest.raises(UserError, match=r"beside \[variants.NAME\] the list is a key of"):
        load_experiment(file, (), SCHEMA)


@pytest.mark.cpp
def test_a_variant_extends_a_scheme_that_is_not_compared(
    tmp_path: Path, built: tuple[TypeInfo, ...]
) -> None:
    """Its changes come after those of the scheme."""
    file = tmp_path / "scene.toml"
    file.write_text(MINIMAL + '[variants.Eager]\nextends = "pfc"\nbuffer.alpha = 0.5\n')
    found = load_experiment(file, (), built)
    assert found.variants == ("Eager",)
    buffer = form(found.points[0])["attributes"]["ns3::lossless::SharedBuffer"]
    assert (buffer["Alpha"], buffer["XonOffset"]) == ("0.5", "3072")


def test_a_project_has_schemes_of_its_own(tmp_path: Path) -> None:
    """They come before those of the package, and what is wrong is told with their file."""
    paths = project(tmp_path)
    (paths.experiments / "schemes").mkdir()
    own = paths.experiments / "schemes" / "mine.toml"
    own.write_text(PFC.replace('"PFC"', '"Mine"'))
    scene = paths.experiments / "duel" / "scene.toml"
    scene.write_text('variants = ["mine"]\n' + MINIMAL)
    assert load_experiment("duel/scene", (), SCHEMA, paths).variants == ("Mine",)
    scene.write_text('variants = ["mne", 3]\n' + MINIMAL)
    assert "variants.schemes: ['mne', 3] is not allowed" in complaints(paths)[0]
    scene.write_text('variants = ["mne"]\n' + MINIMAL)
    (told,) = complaints(paths)
    assert "variants.schemes: there is no scheme 'mne'" in told
    assert "did you mean 'Mine'?" in told
    own.write_text('name = "Mine"')
    scene.write_text('variants = ["mine"]\n' + MINIMAL)
    assert complaints(paths)[0].startswith("schemes/mine.toml: about: missing")


@pytest.mark.cpp
def test_rules_take_the_defaults_of_the_buffer(built: tuple[TypeInfo, ...]) -> None:
    """16 MB, of which 1 MB is for lossy classes, as the modules have it."""
    names = environment({}, network(kind="star", hosts=4))
    assert (names["buffer"], names["lossless"]) == (16e6, 15e6)
    assert names["share"] == 15e6 / 4 - names["headroom"]
    initial = section_of(catalogue(built), {}, "buffer")
    assert initial is not None
    assert number(initial["Size"]) == names["buffer"]
    assert number(initial["LossyPool"]) == names["buffer"] - names["lossless"]


@pytest.mark.cpp
def test_the_library_is_a_list_and_a_scheme_is_told_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A group says how each is named and what it is: a screen or two, without parameters."""
    assert schemes("library") == 0
    listed = capsys.readouterr().out
    for scheme in read_library(Paths(ROOT)):
        name = (scheme.short or scheme.name).lower()
        assert f'{scheme.name}: variants = ["{name}"]' in listed
    assert len(listed.splitlines()) < 4 * len(read_library(Paths(ROOT)))
    assert "pause_quanta" not in listed
    assert "schemes NAME" in listed.splitlines()[-1]
    assert schemes("pfc+dcqcn") == 0
    assert "pfc.pause_quanta = 65535" in capsys.readouterr().out


@pytest.mark.cpp
@pytest.mark.parametrize("rate", ["10Gbps", "25Gbps", "100Gbps", "400Gbps"])
def test_every_scheme_of_the_library_fits_every_rate(
    tmp_path: Path, rate: str, built: tuple[TypeInfo, ...]
) -> None:
    """No value is refused on a leaf-spine with the default buffer, whatever the rate."""
    names = [scheme.name for scheme in read_library(Paths(ROOT))]
    assert len(names) == len(set(names)) > 20
    file = tmp_path / "scene.toml"
    network = f"""
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 8
rate = "{rate}"
uplink_rate = "{rate}"
delay = "1us"
"""
    text = (
        MINIMAL[: MINIMAL.index("[topology]")] + network + MINIMAL[MINIMAL.index("[[traffic]]") :]
    )
    file.write_text(f"variants = {names}\n{text}")
    found = load_experiment(file, (), built)
    assert found.variants == tuple(names)


NOT_NAMED = {
    # the preset `parameters` gives them; its source stands in the module's presets.toml
    "dcqcn": "additive_increase alpha_interval byte_counter clamp_target cnp_interval cut_on"
    " decrease_interval fast_recovery gain hyper_increase increase_interval min_rate"
    " reference_rate clamp_after_timer cut_on_loss first_rate initial_alpha",
    "ecn-marking": "at kmax kmin pmax reference_rate",
    # widths of fields, wide enough, and repeats of lost messages, of which there are none
    # and the least gap of messages on change, which are not chosen
    "credit": "counter_bits min_gap",
    "time-based-gfc": "counter_bits min_gap",
    "multi-stage-gfc": "ideal refresh",
    "pffc": "refresh",
    # of cures, treatments, filters and corrections that are not chosen
    "dcfit": "switch_bits lossy_class heavy_hitters limit_burst limit_rate limits"
    " restoration server_cure",
    # their help says which simulator the default is from
    "bfc": "host_queues flow_entries names filter_bits stages resumes_per_hrtt first_frame_first"
    " refresh",
    "hpcc": "min_rate base_rtt additive_increase reference_rate reaction",
    "power-tcp": "min_rate base_rtt additive_increase least_current",
    "swift": "hop_target flow_least_window flow_most_window endpoint_target additive_increase beta"
    " most_decrease least_window most_window initial_window reset_threshold",
    "timely": "low_rtt high_rtt min_rtt weight beta additive_increase reference_rate min_rate"
    " hyper_after hyper_factor hyper_below_low segment pacing",
    "dctcp": "min_rate base_rtt gain additive_increase",
    "sfc-congestion-point": "buffer reserve epoch hash_bits key classes message_class resolution",
}
"""Attributes that the shipped scheme files may leave to the modules."""


def shipped(*files: str) -> dict[str, SchemeFile]:
    """The scheme files of the bake-off, by name; without patterns all of them."""
    folder, findings = ROOT / "experiments", Findings("x")
    patterns = list(files) or ["schemes/*.toml", "schemes/combined/*.toml"]
    found = read_variants({"files": patterns}, folder, Paths(ROOT), findings)
    assert findings.problems == []
    return {name: one.scheme for name, one in found.items() if one.scheme is not None}


@pytest.mark.cpp
def test_the_shipped_schemes_name_what_shapes_them() -> None:
    """Every attribute of the classes that a scheme chooses is named, but those of NOT_NAMED."""
    from pyorch.build import ensure_built, load_schema
    from pyorch.setting.attributes import catalogue

    types = catalogue(load_schema(ensure_built()))
    for of_variant, scheme in shipped().items():
        chosen = {name for key in CHAINS for name in scheme.chosen[key]}
        if "congestion_control" in scheme.chosen:
            chosen.add(scheme.chosen["congestion_control"])
        for name in sorted(chosen):
            info = types.find(name)
            assert info is not None, name
            may = set(NOT_NAMED.get(name, "").split())
            left = {key for key in types.attributes(info) if f"{name}.{key}" not in scheme.values}
            assert left <= may, (of_variant, name, left - may)


def test_what_no_source_settles_is_varied_or_excused() -> None:
    """Each value that a source leaves open is varied under at least one scheme that has it."""
    asked = load_asked(Paths(ROOT))
    unsettled = re.compile("^none|our (choice|reading)|recalled|verified|guess")
    still_open = {
        (name, key)
        for name, scheme in shipped("schemes/*.toml").items()
        for key, value in scheme.values.items()
        if unsettled.search(value.source)
    }
    assert len(still_open) > 40
    keys = {
        change.partition("=")[0]
        for one in asked.vary
        for changes in one.settings.values()
        for change in changes
    }
    left = {(name, key) for name, key in still_open if key not in keys | asked.excused.keys()}
    assert not left, "vary it in parts/sensitivity.toml, or excuse it there with a reason"
    assert asked.excused.keys() <= {key for _, key in still_open}


def test_the_variant_that_resolves_the_trigger_names_its_treatment() -> None:
    """What is exempt where the trigger stays must be named where it is resolved."""
    handling = {
        name: scheme.values
        for name, scheme in shipped().items()
        if "dcfit.handle_trigger" in scheme.values
        and scheme.values["dcfit.handle_trigger"].value is True
    }
    assert list(handling) == ["PFC+DCFIT+trigger"]
    for key in ("heavy_hitters", "limit_rate", "limit_burst", "limits", "restoration"):
        assert f"dcfit.{key}" in handling["PFC+DCFIT+trigger"]


def test_every_value_of_the_shipped_schemes_has_a_source() -> None:
    """The files of the bake-off load, and every value says where it comes from."""
    found = shipped()
    assert {"PFC", "CBFC", "GFC-stages", "GFC-time", "PFFC", "SFC", "DCQCN"} <= set(found)
    for scheme in found.values():
        assert scheme.about
        assert all(len(value.source) > 5 for value in scheme.values.values())
