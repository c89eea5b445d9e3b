"""The reproduction: complete, true to its data, and up to date where studies are cheap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pyorch.base.errors import UserError
from pyorch.base.paths import Paths, default_paths
from pyorch.engine import LocalEngine
from pyorch.files.find import list_experiments
from pyorch.files.load import load_experiment
from pyorch.pipeline import make_plan
from pyorch.report.expect import ExpectModel, Result, evaluate
from pyorch.report.tex import booktabs, escape
from tests.shipped import MARKS, studies
from tools.reproduction.claims import (
    HOLDS,
    NOT_JUDGED,
    NOT_RUN,
    PARTLY,
    REFUTED,
    VERDICTS,
    Evidence,
)
from tools.reproduction.command import names_of, rows_of, settings_of, unread_of
from tools.reproduction.moved import moved
from tools.reproduction.page import (
    FACTS,
    NOT_MODELLED,
    OTHER,
    SAME,
    Row,
    Study,
    carry_over,
    claims_of,
    facts_of,
    from_csv,
    make_rows,
    summary,
    to_csv,
    to_markdown,
    to_tex,
)
from tools.reproduction.published import CLOSED_FORMS, Number, Published, load_published

CHEAP = ("gfc/two-to-one", "gfc/overhead", "sfc/reaction", "dcfit/memory", "pfc/delay-parts")
pytestmark = MARKS

DOCUMENTS = {"gfc", "dcfit", "dsh", "pffc", "sfc"}


def kept_rows() -> list[Row]:
    """The rows of docs/reproduction.csv."""
    path = default_paths().reproduction.with_suffix(".csv")
    return from_csv(path.read_text(encoding="utf-8"))


def unread_studies() -> list[Study]:
    """All studies of the project, without results."""
    return [unread_of(name, study) for name, study in studies().items()]


def test_the_page_has_every_claim_of_every_document() -> None:
    """Each expectation that names a claim has its row, as has each fact; there are no others."""
    published = load_published(default_paths().published)
    wanted = make_rows(published, unread_studies())
    assert {document.key for document in published.document} == DOCUMENTS
    assert [row.key for row in kept_rows()] == [row.key for row in wanted], (
        "docs/reproduction.csv is not that of the studies: run `invoke report all`"
    )
    assert [(row.what, row.settings) for row in kept_rows()] == [
        (row.what, row.settings) for row in wanted
    ], "the settings of a study changed: run it, and `invoke report all`"


def test_every_verified_source_is_a_document_or_said_to_be_another() -> None:
    """No published number is missing from the page because its source is spelled differently."""
    published = load_published(default_paths().published)
    for study in unread_studies():
        for expect in study.expects:
            if expect.status == "verified" and published.document_of(expect.source) is None:
                assert expect.source.startswith(tuple(published.others)), (
                    f"{study.name}: '{expect.source}' names none of the documents of published.toml"
                )


def test_only_a_number_of_a_document_is_called_published() -> None:
    """Whatever else a row is judged by is derived, of the fluid model, recalled, or ours."""
    expects = {(s.name, e.what): e for s in unread_studies() for e in s.expects}
    rows = [row for row in kept_rows() if row.evidence]
    assert len(rows) > 200
    for row in rows:
        expect = expects[row.study, row.evidence]
        number = expect.expected is not None or expect.printed
        own = expect.status == "verified" and number
        assert (row.origin == "published") == own, row


def test_the_markdown_is_that_of_the_rows() -> None:
    """Both pages are made from docs/reproduction.csv."""
    paths = default_paths()
    made = (kept_rows(), load_published(paths.published))
    assert paths.reproduction.read_text(encoding="utf-8") == summary(*made)
    table = paths.root / "docs" / "results" / "reproduction.md"
    assert table.read_text(encoding="utf-8") == to_markdown(*made)


def test_the_page_begins_with_what_does_not_hold() -> None:
    """Refuted claims, then those that hold in part, with their condition."""
    published = load_published(default_paths().published)
    judged = claims_of(kept_rows(), published.claim)
    text = summary(kept_rows(), published)
    place = {title: text.index(f"\n## {title}\n") for title in ("Refuted", "Holds in part")}
    assert place["Refuted"] < place["Holds in part"]
    told = text[place["Refuted"] :]
    for claim in judged:
        if claim.verdict in (REFUTED, PARTLY):
            assert claim.what.partition("; we ")[0] in told, claim.what
        assert claim.verdict != PARTLY or re.split("[.;:] ", claim.when)[0].rstrip(".") in told


def test_no_verdict_is_better_than_its_worst_setting() -> None:
    """A claim holds only where every row of it does, and one that does not says where not."""
    for claim in claims_of(kept_rows()):
        assert claim.verdict in VERDICTS
        assert claim.verdict != NOT_RUN, claim  # its study goes with a change of its settings
        judged = [row for row in claim.rows if row.found.judged]
        if claim.verdict == HOLDS and not claim.exists:
            assert not any(row.found.failed for row in judged), claim
        if claim.verdict == NOT_JUDGED:
            assert all(re.search(r"[a-z]{3,}.*\.$", row.why) for row in claim.rows), claim
        for row in judged:
            assert not row.found.failed or row.why or row.against, row
    for row in facts_of(kept_rows()):
        assert row.verdict in FACTS


@pytest.mark.cpp
def test_cheap_studies_give_the_rows_of_the_docs(tmp_path: Path) -> None:
    """Run again, they reproduce their rows of docs/reproduction.csv exactly."""
    paths = Paths(default_paths().root, tmp_path)
    for name in CHEAP:
        plan = make_plan(name, paths=paths)
        assert LocalEngine(plan.store, 2).run(plan.missing, plan.build).left == 0
    rows, left = rows_of(CHEAP, paths)
    assert left == []
    again = [row for row in rows if row.study in CHEAP]
    assert len(again) > 25
    assert again == [row for row in kept_rows() if row.study in CHEAP], (
        "run `invoke experiment` of these studies and `invoke report all`"
    )


# ---------------------------------------------------------------------------------------------
# Rows


PUBLISHED = Published.model_validate(
    {
        "document": [{"key": "p", "title": "A paper", "sources": ["paper"]}],
        "claim": [
            {
                "key": "settles",
                "document": "p",
                "place": "p. 1",
                "what": "the queue settles",
                "published": "75 KB",
                "condition": "if it is A",
            }
        ],
        "number": [
            {
                "document": "p",
                "place": "p. 2",
                "what": "memory",
                "published": "4 GB",
                "verdict": "not modelled",
                "why": "A product.",
            }
        ],
    }
)


def expectation(**keys: object) -> ExpectModel:
    """An expectation of the metric `queue`."""
    given = {"what": "settles", "metric": "queue", "expected": "75KB", "tolerance": 0.02}
    given["claim"] = "settles"
    more = {"status": "verified", "source": "paper, p. 1: as the text has it"}
    return ExpectModel.model_validate(given | more | keys)


def judged(expect: ExpectModel, values: Sequence[float]) -> Study:
    """A study with one expectation and so many runs."""
    import pandas as pd

    runs = pd.DataFrame({"variant": "", "seed": range(len(values)), "queue": values})
    found: list[Result] = evaluate([expect], runs, {"queue": "B"}, ["variant"])
    return Study("s/one", [expect], found, [{"variant": ""}])


@pytest.mark.parametrize(
    ("keys", "value", "verdict", "why"),
    [
        ({}, 75_100.0, HOLDS, ""),
        ({"why": "Frames."}, 90_000.0, REFUTED, "+15 KB (+20 %). Frames."),
        ({"comparable": False, "why": "Software."}, 90_000.0, NOT_JUDGED, "Software."),
        (
            {"expected": None, "tolerance": None, "max": "30KB"},
            90_000.0,
            REFUTED,
            "+60 KB (3 times).",
        ),
    ],
)
def test_the_verdict_is_that_of_the_study(
    keys: dict[str, object], value: float, verdict: str, why: str
) -> None:
    """In the words of the page, with the difference and its reason."""
    (row, _) = make_rows(PUBLISHED, [judged(expectation(**keys), [value])])
    assert (row.verdict, row.why.strip(), row.place) == (verdict, why, "p. 1")


@pytest.mark.parametrize(
    ("keys", "origin"),
    [
        ({}, "published"),
        ({"status": "derived"}, "derived"),
        ({"status": "fluid model"}, "fluid model"),
        ({"status": "ours"}, "ours"),
        ({"expected": None, "tolerance": None, "max": "80KB"}, "ours"),
    ],
)
def test_whatever_speaks_to_a_claim_counts_with_its_origin(
    keys: dict[str, object], origin: str
) -> None:
    """Derived and recalled numbers, too; only the document's own is called published."""
    (row, _) = make_rows(PUBLISHED, [judged(expectation(**keys), [75e3])])
    assert (row.evidence, row.origin) == ("settles", origin)


def test_the_worst_setting_is_told() -> None:
    """A claim that holds in one setting and not in the other holds in part, and says where not."""
    import pandas as pd

    runs = pd.DataFrame({"variant": ["A", "B"], "seed": 1, "queue": [75e3, 90e3]})
    found = evaluate([expectation()], runs, {"queue": "B"}, ["variant"])
    points = [{"variant": variant} for variant in "AB"]
    rows = make_rows(PUBLISHED, [Study("s/one", [expectation()], found, points)])
    (claim,) = claims_of(rows)
    assert (claim.verdict, claim.says) == (PARTLY, "holds in part")
    assert claim.rows[0].against == "B"
    line = "| p. 1 | the queue settles | holds in part | if it is A | s/one |"
    assert line in to_markdown(rows, PUBLISHED).splitlines()
    assert "- *if it is A*: the queue settles" in summary(rows, PUBLISHED).splitlines()


def test_another_scheme_and_what_cannot_fail_are_no_evidence() -> None:
    """Of three settings one is of another scheme, and in one nothing can go wrong."""
    import pandas as pd

    runs = pd.DataFrame({"variant": ["A", "B", "C"], "seed": 1, "queue": [90e3, 75e3, 75e3]})
    found = evaluate([expectation()], runs, {"queue": "B"}, ["variant"])
    study = Study("s/one", [expectation()], found, [{"variant": name} for name in "ABC"])
    left = {"study": "s/one", "where": {"variant": "C"}, "why": "it cannot fail there"}
    verdicts = []
    for keys in ({}, {"schemes": ["A", "C"]}, {"schemes": ["A", "C"], "no_evidence": [left]}):
        (claim,) = PUBLISHED.claim
        other = Published.model_validate(
            PUBLISHED.model_dump() | {"claim": [claim.model_dump() | keys], "number": []}
        )
        (row,) = make_rows(other, [study])
        verdicts.append((row.verdict, row.found.judged, row.ours))
    assert verdicts == [
        (PARTLY, (0, 1, 2), "75 to 90 KB (3 settings, 1 run each)"),
        (PARTLY, (0, 2), "75 to 90 KB (2 settings, 1 run each)"),
        (REFUTED, (0,), "90 KB (1 run)"),
    ]


def test_of_several_things_that_a_setting_is_judged_by_one_that_holds_is_a_part() -> None:
    """The claim is refuted only if nothing of it holds."""
    import pandas as pd

    expects = [expectation(), expectation(what="is short", expected="10KB")]
    runs = pd.DataFrame({"variant": [""], "seed": 1, "queue": [75e3]})
    found = evaluate(expects, runs, {"queue": "B"}, ["variant"])
    rows = make_rows(PUBLISHED, [Study("s/one", expects, found, [{"variant": ""}])])
    assert [row.verdict for row in rows if row.claim] == [HOLDS, REFUTED]
    assert claims_of(rows)[0].verdict == PARTLY


def test_a_claim_that_does_not_hold_says_when_it_does() -> None:
    """And no verdict is a share of settings that nobody chose as a sample."""
    published = load_published(default_paths().published)
    for claim in claims_of(kept_rows(), published.claim):
        assert claim.condition or claim.verdict not in (PARTLY, REFUTED), claim.what
        assert not re.search(r"\d of \d", claim.says), claim.says


def test_a_claim_without_evidence_is_refused() -> None:
    """As is an expectation that names a claim that no document has."""
    with pytest.raises(UserError, match="no expectation names this claim"):
        make_rows(PUBLISHED, [])
    with pytest.raises(UserError, match="a claim 'other' that no document has"):
        make_rows(PUBLISHED, [judged(expectation(claim="other"), [75e3])])


def test_a_study_that_was_not_run_keeps_what_was_said() -> None:
    """Until then its row says so."""
    expect = expectation()
    before = make_rows(PUBLISHED, [judged(expect, [75e3])])
    open_rows = make_rows(PUBLISHED, [Study("s/one", [expect], None, [])])
    assert [row.verdict for row in open_rows] == [NOT_RUN, NOT_MODELLED]
    assert carry_over(open_rows, []) == open_rows
    assert carry_over(open_rows, before) == before
    other = make_rows(PUBLISHED, [Study("s/one", [expectation(expected="80KB")], None, [])])
    assert carry_over(other, before) == other


def test_what_moved_is_listed_with_both_values() -> None:
    """The claim and its evidence; nothing if nothing moved."""
    before, after = (make_rows(PUBLISHED, [judged(expectation(), [x])]) for x in (75e3, 90e3))
    assert moved(before, before) == []
    assert moved(before, after) == [
        "| the queue settles | all |  | holds | refuted |",
        "| the queue settles | s/one | settles | holds: 75 KB (1 run) | refuted: 90 KB (1 run) |",
    ]


def test_what_was_measured_with_other_settings_is_not_carried() -> None:
    """The row waits for its study again, and says what it was before."""
    before = make_rows(PUBLISHED, [judged(expectation(), [75e3])])
    changed = make_rows(PUBLISHED, [Study("s/one", [expectation()], None, [], "another")])
    (row, _) = carry_over(changed, before)
    assert (row.verdict, row.ours, row.settings) == (NOT_RUN, "-", "another")
    assert "settings changed" in row.why
    (again, _) = carry_over(changed, [row])
    assert again.why == row.why, "the reason stays until the study has run"
    assert "75 KB" in row.why


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('xoff = "80KB"', 'xoff = "81KB"', False),
        ("[run]", "[run]\nseeds = 7", True),
        ('rate = "10Gbps"', 'rate = "25Gbps"', False),
        ('title = "', 'title = "Again: ', True),
        ("tolerance = 0.02", "tolerance = 0.03", True),
        ('PFC = { flow_control = ["pfc"] }', 'PFC.flow_control = ["pfc"]', True),
        ("[port]", '[[node]]\nnames = "s0"\nport = { overhead = "1B" }\n[port]', False),
    ],
)
def test_the_version_of_settings_is_that_of_what_runs(
    tmp_path: Path, old: str, new: str, *, same: bool
) -> None:
    """A changed threshold is another version; seeds, texts, expectations and spellings are not."""
    before = load_experiment("gfc/two-to-one")
    text = before.file.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "two-to-one.toml"
    file.write_text(text, encoding="utf-8")
    first = settings_of(load_experiment(str(file)))
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert (settings_of(load_experiment(str(file))) == first) == same


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
NUMBERS = st.sets(st.integers(0, 40)).map(lambda found: tuple(sorted(found)))
TEXTS = [field.name for field in fields(Row) if field.name not in ("found", "exists")]
ROWS = st.builds(
    Row,
    **dict.fromkeys(TEXTS, CELLS),
    found=st.builds(Evidence, NUMBERS, NUMBERS),
    exists=st.booleans(),
)


@given(st.lists(ROWS, max_size=5))
def test_rows_survive_their_csv(rows: list[Row]) -> None:
    """What is written is what is read, whatever the text."""
    assert from_csv(to_csv(rows)) == rows


def test_a_closed_form_is_judged_by_its_tolerance() -> None:
    """64 B / 7.4 us = 69.19 Mb/s."""
    assert CLOSED_FORMS["gfc-worst-overhead"]().value == pytest.approx(64 * 8 / 7.4e-6, rel=1e-6)
    number = {"document": "p", "place": "p. 3", "what": "overhead", "published": "69 Mb/s"}
    form = {"closed_form": "gfc-worst-overhead", "tolerance": 0.01}
    rows = [
        make_rows(
            Published.model_validate(
                {
                    "document": PUBLISHED.model_dump()["document"],
                    "number": [number | form | {"value": value, "why": "Rounded."}],
                }
            ),
            [],
        )[0]
        for value in ("69Mbps", "60Mbps")
    ]
    assert [(row.ours, row.verdict, row.why) for row in rows] == [
        ("69.19 Mb/s", SAME, "Rounded."),
        ("69.19 Mb/s (+15 %)", OTHER, "Rounded."),
    ]


@pytest.mark.parametrize(
    ("bound", "value", "verdict"),
    [
        ("max", "23KB", OTHER),
        ("max", "24KB", SAME),
        ("min", "23KB", SAME),
        ("min", "24KB", OTHER),
    ],
)
def test_a_published_bound_is_a_bound(bound: str, value: str, verdict: str) -> None:
    """10 us x 25 Gb/s x 75 % = 23.44 KB is not at most 23 KB."""
    form = {"closed_form": "sfc-bytes-in-10us", "value": value, "bound": bound}
    number = {"document": "p", "place": "p. 5", "what": "bytes", "published": value} | form
    file = {"document": PUBLISHED.model_dump()["document"], "number": [number]}
    (row,) = make_rows(Published.model_validate(file), [])
    assert row.verdict == verdict
    assert row.judged == ("≤ " if bound == "max" else "≥ ") + value.replace("K", " K")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "give one of"),
        ({"verdict": "not modelled"}, "say in 'why'"),
        ({"verdict": "setting"}, "needs the 'study'"),
        ({"closed_form": "none", "value": 1, "tolerance": 0.1}, "no closed form 'none'"),
        ({"closed_form": "sfc-wire", "value": "1KB", "tolerance": 0.1}, "'value' is in B"),
        ({"closed_form": "sfc-wire", "value": "1us"}, "one of 'tolerance' and 'bound'"),
    ],
)
def test_bad_entries_are_refused(keys: dict[str, object], message: str) -> None:
    """With what is wrong and what is allowed."""
    number = {"document": "p", "place": "p. 3", "what": "x", "published": "1"}
    with pytest.raises(ValidationError, match=re.escape(message)):
        Number.model_validate(number | keys)


def test_an_entry_names_what_exists() -> None:
    """A study that is there; the message names the entry."""
    number = {"document": "p", "place": "p. 3", "what": "x", "published": "1"}
    given = {"verdict": "setting", "study": "no/such"}
    file = {"document": PUBLISHED.model_dump()["document"], "number": [number | given]}
    with pytest.raises(UserError, match=re.escape('published.toml: "x"')):
        make_rows(Published.model_validate(file), [judged(expectation(), [75e3])])


def test_names_of_several_studies() -> None:
    """A folder, a pattern, a list, all; one name is one study."""
    paths = default_paths()
    known = [name for name, _ in list_experiments()]
    of_gfc = [name for name in known if name.startswith("gfc/")]
    assert names_of("gfc/two-to-one", paths) is None
    assert names_of("gfc", paths) == names_of("gfc/", paths) == names_of("gfc/*", paths) == of_gfc
    assert names_of("all", paths) == known
    assert names_of("gfc/two-to-one, pfc/timer", paths) == ["gfc/two-to-one", "pfc/timer"]
    with pytest.raises(UserError, match="no experiment has this name"):
        names_of("gfc/two-to-one,pfc/nothing", paths)


# ---------------------------------------------------------------------------------------------
# LaTeX


def test_tables_are_what_latex_reads() -> None:
    """Special signs are escaped, each row has as many cells as the head, braces are balanced."""
    text = booktabs(("A", "B"), [("50 %_x", "±1 µs")], caption="c & d", label="tab:x")
    assert r"50 \%\_x & $\pm$1 \textmu{}s \\" in text
    assert r"\caption{c \& d}\label{tab:x}" in text
    assert text.count("{") == text.count("}")
    for word in ("toprule", "midrule", "bottomrule", "begin{tabular}{ll}", "end{table*}"):
        assert f"\\{word}" in text


def test_the_tables_of_the_page_are_ascii_but_for_letters() -> None:
    """Nothing that pdfLaTeX would refuse: it takes Latin letters and the escapes."""
    published = load_published(default_paths().published)
    text = to_tex(kept_rows(), published)
    odd = {letter for letter in text if ord(letter) > 127}
    assert odd == set(), odd
    assert escape("≤ 3 × 10^2 → “x”".replace("“", '"').replace("”", '"')).isascii()
