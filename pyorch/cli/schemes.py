"""`schemes` and `schema`: what an experiment file may name, for people and for editors."""

from __future__ import annotations

import json as json_format
import shutil
from dataclasses import asdict

from pyorch import kinds
from pyorch.base.paths import default_paths
from pyorch.build import ensure_built, load_schema
from pyorch.catalogue.editor import schema_of
from pyorch.catalogue.schemes import NARROWEST, WIDEST, all_entries, choose, is_group, render
from pyorch.cli import door
from pyorch.cli.base import OK, listing
from pyorch.files.find import read_document
from pyorch.files.presets import read_presets
from pyorch.setting.attributes import catalogue


@listing
def schemes(name: str = "", json: bool = False) -> int:
    """Print what an experiment file may name, a group of it, or everything about one name."""
    kinds.activate({})
    paths = default_paths()
    types = catalogue(load_schema(ensure_built()))
    entries = all_entries(types, paths)
    chosen = choose(entries, types.today(name)) if name else entries
    if json:
        print(json_format.dumps([asdict(entry) for entry in chosen], indent=2, ensure_ascii=False))
        return OK
    width = min(WIDEST, max(NARROWEST, shutil.get_terminal_size((WIDEST, 0)).columns))
    whole = bool(name) and not is_group(name)
    print("\n".join(render(chosen, width, whole)))
    if not whole:
        door.say(
            "\n`invoke schemes NAME` shows more about one: meaning and bounds of each key, source"
        )
    return OK


@listing
def schema(name: str = "") -> int:
    """Print the schema; with the name of an experiment, it includes that experiment's own kinds."""
    paths = default_paths()
    texts = {}
    if name:
        document = read_document(name, paths)
        named = document.content.get("kinds", [])
        texts = kinds.read(named, document.file.parent, document.label)
    kinds.activate(texts)
    types = catalogue(load_schema(ensure_built()), read_presets(paths))
    print(json_format.dumps(schema_of(types), indent=1, ensure_ascii=False))
    return OK
