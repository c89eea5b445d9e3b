"""`schema`: the JSON schema of experiment files, for editors."""

from __future__ import annotations

import json

from pyorch import kinds
from pyorch.base.paths import default_paths
from pyorch.build import ensure_built, load_schema
from pyorch.catalogue.editor import schema_of
from pyorch.cli.base import OK, listing
from pyorch.files.find import read_document
from pyorch.files.presets import read_presets
from pyorch.setting.attributes import catalogue


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
    print(json.dumps(schema_of(types), indent=1, ensure_ascii=False))
    return OK
