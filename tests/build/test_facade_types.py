"""The Protocol of ns3::facade::Simulation has the methods and arguments of the C++ class."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pyorch.build.facade import Simulation, SimulationClass

HELPERS = Path(__file__).resolve().parents[2] / "ns3-modules/facade/helper"
HEADERS = ("", "-network", "-flows", "-results")
"""Of the class, and of the doors that it inherits."""


def declared() -> dict[str, int]:
    """The public methods of the class, by name, and how many arguments each takes."""
    texts = [(HELPERS / f"facade-simulation{part}.h").read_text() for part in HEADERS]
    public = [re.split(r"\n\s*(?:protected|private):", text)[0] for text in texts]
    text = "".join(one[one.index("class Simulation") :] for one in public)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    found = re.findall(r"(\w+)\(([^;{}()]*)\)\s*(?:const)?\s*;", text)
    return {name: len(arguments.split(",")) if arguments else 0 for name, arguments in found}


def asked(kind: type) -> dict[str, int]:
    """The same of a Protocol."""
    methods = {name: value for name, value in vars(kind).items() if name[0].isupper()}
    return {name: len(inspect.signature(value).parameters) - 1 for name, value in methods.items()}


@pytest.mark.parametrize("kind", [Simulation, SimulationClass])
def test_every_method_is_there_with_as_many_arguments(kind: type) -> None:
    """A method that C++ renames, or gives another argument, is noticed without a run."""
    there, wanted = declared(), asked(kind)
    assert wanted
    assert {name: there.get(name) for name in wanted} == wanted
