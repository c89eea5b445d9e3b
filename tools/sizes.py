"""How many lines each feature of pyorch may have: a test keeps the table, which is to be read.

A feature is what a user would name, with its command, its figures, and whatever else is for it
alone. `python -m tools.sizes` prints all of them. A new feature adds its row; one that outgrows its
row gives up something else, or says in its commit why it is worth more.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pyorch"
ADDONS = "addons"


@dataclass(frozen=True)
class Feature:
    """A feature, the lines that its Python files may have, and these: files, or folders of them."""

    name: str
    most: int
    places: tuple[str, ...]


def _feature(name: str, most: int, places: str) -> Feature:
    return Feature(name, most, tuple(places.split()))


FEATURES = (
    _feature("experiment files: read, combined, checked, planned", 4_475, "files setting plan.py"),
    _feature("networks", 1_450, "network"),
    _feature("networks from files", 340, "network/file.py"),
    _feature("files of other tools", 3_755, "readers cli/bring.py"),
    _feature("runs for other tools", 580, "writers cli/export.py"),
    _feature("traffic", 2_850, "traffic"),
    _feature("kinds of one's own, and add-ons", 325, "kinds.py base/doors.py addons/__init__.py"),
    _feature("messages, units, paths, trust, ends of processes", 2_680, "base"),
    _feature("a run", 1_110, "run"),
    _feature("many runs here, and their progress", 1_920, "engine"),
    _feature("Slurm", 2_090, "engine/slurm cli/sweep.py"),
    _feature("results, and their comparison", 1_020, "store cli/compare.py"),
    _feature("metrics", 2_130, "metrics"),
    _feature(
        "lost time and the load of links",
        1_660,
        "metrics/chain.py metrics/crossings.py metrics/losses.py metrics/loads.py "
        "metrics/job_kinds.py report/figures/lost.py report/figures/linkload.py "
        "report/figures/loadmap.py",
    ),
    _feature("figures", 4_110, "report/figures report/style.py report/select.py report/layout.py"),
    _feature("reports: expectations, answer, page", 3_520, "report"),
    _feature("a plan and its picture", 515, "report/planned.py cli/show.py"),
    _feature(
        "warnings and remarks",
        3_450,
        "remarks setting/dependency.py setting/tagger.py setting/telemetry.py network/cycles.py "
        "network/failing.py",
    ),
    _feature("explain", 2_480, "explain cli/explain.py"),
    _feature("size", 1_445, "sizing cli/size.py"),
    _feature("schemes, and the schema of files", 675, "catalogue cli/schemes.py"),
    _feature(
        "the pages of reference",
        475,
        "catalogue/reference.py catalogue/tables.py cli/pages.py",
    ),
    _feature("new schemes", 280, "catalogue/new_scheme cli/new_scheme.py"),
    _feature("captures and animations", 665, "trace cli/trace.py"),
    _feature("the build of the C++ modules", 2_270, "build cli/build.py"),
    _feature(
        "Study and notebooks",
        1_415,
        "__init__.py study.py pipeline.py notebook.py run/byhand.py run/callbacks.py",
    ),
    _feature("the command line", 1_150, "cli __main__.py"),
    _feature("the deadlock laboratory", 5_530, "addons/lab"),
    _feature("jobs of ranks", 5_380, "addons/jobs"),
)
"""Every feature; a file belongs to the one that names it, or else the nearest folder above it."""


def feature_of(file: str) -> Feature | None:
    """Return the feature of a file, by its path in the package; None if it has none."""
    places = [file, *map(str, Path(file).parents)]
    by_place = {place: feature for feature in FEATURES for place in feature.places}
    return next((by_place[place] for place in places if place in by_place), None)


def lines_of(package: Path = PACKAGE) -> Mapping[str, int]:
    """Return the lines of every Python file of a package, templates left out."""
    files = sorted(package.rglob("*.py"))
    return {
        file.relative_to(package).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in files
    }


def problems(lines: Mapping[str, int]) -> list[str]:
    """Return what is wrong with the table for files of these lines, one text each."""
    places = Counter(place for feature in FEATURES for place in feature.places)
    found = [f"{place} is named {count} times" for place, count in places.items() if count > 1]
    known = {str(one) for file in lines for one in (file, *Path(file).parents)}
    found += [f"there is no {place}" for place in places if place not in known]
    found += [f"{file} belongs to no feature" for file in lines if feature_of(file) is None]
    for feature, count in _counts(lines).items():
        if count > feature.most:
            found.append(f"{feature.name}: {count} lines, at most {feature.most}")
    return found


def _counts(lines: Mapping[str, int]) -> dict[Feature, int]:
    counts = dict.fromkeys(FEATURES, 0)
    for file, count in lines.items():
        feature = feature_of(file)
        if feature is not None:
            counts[feature] += count
    return counts


def main() -> int:
    """Print the features, the largest first, and what is wrong; return 1 if something is."""
    lines = lines_of()
    counts = _counts(lines)
    for feature in sorted(FEATURES, key=lambda one: -counts[one]):
        print(f"{counts[feature]:6} of {feature.most:6}  {feature.name}")
    added = sum(count for file, count in lines.items() if file.startswith(f"{ADDONS}/"))
    print(f"{sum(lines.values()) - added:6}            the core\n{added:6}            add-ons")
    found = problems(lines)
    for what in found:
        print(what, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
