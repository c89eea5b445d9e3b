"""Sets of parameters that modules bring: how a section chooses one, and those of DCQCN."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyorch.base.errors import UserError
from pyorch.base.findings import Findings
from pyorch.base.paths import Paths
from pyorch.build import ensure_built, load_schema
from pyorch.catalogue.schemes import all_entries, choose, render
from pyorch.files.load import load_experiment
from pyorch.files.presets import read_presets
from pyorch.setting.attributes import catalogue, resolve_section
from tests.forms import form
from tests.inputs import ROOT
from tests.strategies import MINIMAL, SCHEMA, complaints, write

GFC = """
[wide]
source = "a paper"
[wide.conceptual-gfc]
bm = "90KB"
b0 = "40KB"

[late]
extends = "wide"
source = "another"
[late.conceptual-gfc]
b0 = "80KB"
"""


def module(folder: Path, text: str) -> Path:
    """A project with a module that brings these presets."""
    home = folder / "ns3-modules" / "gfc"
    home.mkdir(parents=True, exist_ok=True)
    (home / "CMakeLists.txt").write_text("build_lib(\n  LIBNAME gfc\n)\n")
    (home / "presets.toml").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("section", "bm", "b0"),
    [
        ('parameters = "wide"', 90_000, 40_000),
        ('parameters = "late"', 90_000, 80_000),
        ('b0 = "7KB"\nparameters = "late"', 90_000, 7_000),
    ],
)
def test_a_section_chooses_a_preset_and_its_own_values_win(
    tmp_path: Path, section: str, bm: int, b0: int
) -> None:
    """Extended values come from the preset below."""
    paths = write(
        module(tmp_path, GFC),
        f'flow_control = ["conceptual-gfc"]\n{MINIMAL}\n[conceptual-gfc]\n{section}\n',
    )
    point = load_experiment("x", (), SCHEMA, paths).points[0]
    assert form(point)["attributes"]["ns3::gfc::ConceptualGfc"] == {"Bm": str(bm), "B0": str(b0)}


@pytest.mark.parametrize(
    ("presets", "section", "told"),
    [
        (GFC, 'parameters = "wild"', "unknown preset 'wild'\n    allowed: wide, late"),
        (GFC, "parameters = 3", "unknown preset 3"),
        (GFC, 'parameter = "wide"', "did you mean 'parameters'?"),
        (GFC.replace("bm", "bn"), 'parameters = "wide"', "parameters.bn: unknown key 'bn'"),
        (GFC.replace('"wide"', '"wild"'), "", "extends 'wild', which is not defined above it"),
        (GFC.replace('"wide"', '["wide"]'), "", "extends ['wide'], which is not defined above it"),
        ("[wide.conceptual-gfc]\nbm = 3\n", "", "has no source"),
        ('[wide]\nsource = "x"\nbm = 3\n', "", "has values outside a section"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, presets: str, section: str, told: str) -> None:
    """In the section, or in the module's file."""
    text = f'flow_control = ["conceptual-gfc"]\n{MINIMAL}\n[conceptual-gfc]\n{section}\n'
    found = complaints(module(tmp_path, presets), text)
    assert any(told in one for one in found), found


def test_a_section_without_presets_has_no_such_key(tmp_path: Path) -> None:
    """The key is that of presets only."""
    found = complaints(tmp_path, MINIMAL + '\n[pfc]\nparameters = "hpcc"\n')
    assert any("unknown key 'parameters'" in one for one in found), found


#: What run.py of the HPCC simulator sets, and the SIGCOMM paper's values as recalled, written down
#: once more: (section, attribute) -> hpcc, hpcc_paper, paper.
EXPECTED = {
    ("dcqcn", "Notification"): ("AckBit", "AckBit", "Paced"),
    ("dcqcn", "CutOn"): ("Timer", "Timer", "Cnp"),
    ("dcqcn", "DecreaseInterval"): ("4000000ps", "50000000ps", "0ps"),
    ("dcqcn", "AlphaInterval"): ("1000000ps", "50000000ps", "55000000ps"),
    ("dcqcn", "IncreaseInterval"): ("300000000ps", "55000000ps", "55000000ps"),
    ("dcqcn", "ByteCounter"): ("0", "0", "10000000"),
    ("dcqcn", "FastRecovery"): ("1", "1", "5"),
    ("dcqcn", "AdditiveIncrease"): ("5000000bps", "5000000bps", "40000000bps"),
    ("dcqcn", "HyperIncrease"): ("50000000bps", "50000000bps", "400000000bps"),
    ("dcqcn", "MinRate"): ("1000000000bps", "1000000000bps", "10000000bps"),
    ("dcqcn", "ClampTarget"): ("false", "false", "true"),
    ("dcqcn", "ReferenceRate"): ("25000000000bps", "25000000000bps", "0bps"),
    ("ecn-marking", "At"): ("Dequeue", "Dequeue", "Enqueue"),
    ("ecn-marking", "Kmin"): ("100000", "100000", "5000"),
    ("ecn-marking", "Kmax"): ("400000", "400000", "200000"),
    ("ecn-marking", "Pmax"): ("0.2", "0.2", "0.01"),
    ("ecn-marking", "ReferenceRate"): ("25000000000bps", "25000000000bps", "0bps"),
}


@pytest.mark.cpp
@pytest.mark.parametrize(("number", "name"), list(enumerate(("hpcc", "hpcc_paper", "paper"))))
def test_the_sets_of_dcqcn_are_those_of_their_origins(number: int, name: str) -> None:
    """Value by value, as C++ gets them."""
    types = catalogue(load_schema(ensure_built()), read_presets(Paths(ROOT)))
    findings = Findings("x")
    for section in ("dcqcn", "ecn-marking"):
        info = types.find(section)
        assert info is not None
        values = resolve_section(types, info, {"parameters": name}, findings, (section,))
        for (of, attribute), expected in EXPECTED.items():
            if of == section:
                assert values[attribute] == expected[number], (name, attribute)
    assert findings.problems == []


@pytest.mark.cpp
def test_the_guides_example_chooses_both_ends(tmp_path: Path) -> None:
    """The block of docs/experiments.md with DCQCN loads with the modules' own presets."""
    guide = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    (block,) = (one for one in blocks if "dcqcn" in one)
    (tmp_path / "ns3-modules").symlink_to(ROOT / "ns3-modules")
    point = load_experiment("x", (), load_schema(ensure_built()), write(tmp_path, block + MINIMAL))
    chosen = form(point.points[0])["attributes"]
    assert chosen["ns3::dcqcn::Dcqcn"]["DecreaseInterval"] == "50000000ps"
    assert chosen["ns3::lossless::EcnMarking"]["Kmax"] == "400000"


def test_no_preset_takes_the_place_of_another_modules(tmp_path: Path) -> None:
    """Else a new module would change what studies of others mean."""
    paths = write(module(tmp_path, GFC), MINIMAL)
    other = tmp_path / "ns3-modules" / "other"
    other.mkdir()
    (other / "CMakeLists.txt").write_text("build_lib(\n  LIBNAME other\n)\n")
    taken = '[wide]\nsource = "a talk"\n[wide.conceptual-gfc]\nb0 = "1KB"\n'
    (other / "presets.toml").write_text(taken)
    with pytest.raises(UserError) as caught:
        load_experiment("x", (), SCHEMA, paths)
    said = caught.value.render()
    assert f"{other / 'presets.toml'}: wide.conceptual-gfc" in said
    assert str(tmp_path / "ns3-modules" / "gfc" / "presets.toml") in said
    (other / "presets.toml").write_text(taken.replace("wide", "other"))
    load_experiment("x", (), SCHEMA, paths)


def test_a_damaged_file_of_presets_is_named(tmp_path: Path) -> None:
    """It is the module's, not the experiment's."""
    paths = write(module(tmp_path, "[wide\n"), MINIMAL)
    with pytest.raises(UserError, match=r"presets\.toml"):
        load_experiment("x", (), SCHEMA, paths)


def test_presets_are_listed_and_found_with_their_sources(tmp_path: Path) -> None:
    """`invoke schemes`: under their section, and by name."""
    entries = all_entries(catalogue(SCHEMA), module(tmp_path, GFC) and Paths(tmp_path))
    (gfc,) = [entry for entry in entries if entry.presets]
    assert (gfc.name, gfc.presets) == ("conceptual-gfc", {"wide": "a paper", "late": "another"})
    assert choose(entries, "late") == [gfc]
    text = "\n".join(render([gfc], 80, whole=True))
    assert '        parameters = "late"\n            a preset; source: another' in text
    assert "        presets: wide, late" in render([gfc], 80, whole=False)


@pytest.mark.cpp
def test_irn_is_found() -> None:
    """A preset of the queue pairs, without a class of its own."""
    types = catalogue(load_schema(ensure_built()))
    tuned, found = choose(all_entries(types, Paths(ROOT)), "irn")
    assert (tuned.group, tuned.used) == ("library", 'variants = ["irn"]')
    assert found.name == "queue_pair"
    values = read_presets(Paths(ROOT))["queue_pair"]["irn"].values
    assert values["retransmit"] == "selective"
    assert values.keys() <= {key.name for key in found.keys}
