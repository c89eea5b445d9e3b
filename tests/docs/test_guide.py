"""The guide of experiment files points to the pages that are written from the models."""

from __future__ import annotations

import re

from pyorch.base.fields import encode
from pyorch.catalogue.reference import reference_pages
from pyorch.setting import experiment
from tests.inputs import ROOT


def slug(heading: str) -> str:
    """The anchor of a heading, as on a git host and on the site."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_guide_names_every_page_of_the_models() -> None:
    """With the command that prints it, which on the site is a link; and no page that is not."""
    guide = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`pyorch docs ([\w-]+)", guide)) == set(reference_pages())


def test_an_unsaid_default_is_the_same_when_it_is_said() -> None:
    """A key that is left out at its default leaves no trace in the form of a run."""
    plain = encode(experiment.RunTable(duration="1ms"))
    others = {"oracle": False, "repeats": "on"}
    assert set(others) == experiment.RunTable.left_out
    for key, other in others.items():
        default = experiment.RunTable.model_fields[key].default
        assert encode(experiment.RunTable(duration="1ms", **{key: default})) == plain
        assert encode(experiment.RunTable(duration="1ms", **{key: other})) == {**plain, key: other}


def test_names_for_schemes_stand_in_the_headers_that_the_page_gives() -> None:
    """Every name of the table is a word of its header, which is a file of the modules."""
    page = (ROOT / "docs" / "open-fabric.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \| .+ \| (\S+\.h) \|$", page, re.MULTILINE)
    assert len(rows) >= 10
    for names, header in rows:
        (file,) = (ROOT / "ns3-modules").glob(f"*/model/**/{header}")
        words = set(re.findall(r"\w+", re.sub(r"//.*", "", file.read_text(encoding="utf-8"))))
        assert set(re.findall(r"`(\w+)`", names)) <= words, header
