"""Claims: every setting that a claim covers counts, and the worst decides the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.base.paths import default_paths
from pyorch.report.expect import ExpectModel, Result, evaluate
from tests.forms import form
from tests.shipped import MARKS, studies
from tools.reproduction.claims import (
    HOLDS,
    NOT_JUDGED,
    PARTLY,
    REFUTED,
    Claim,
    Evidence,
    evidence_of,
    fits,
    grade,
    together,
    uncounted,
    where_not,
)
from tools.reproduction.published import Published, load_published

pytestmark = MARKS


@cache
def published() -> Published:
    """The file of the project."""
    return load_published(default_paths().published)


@cache
def settings() -> dict[str, list[dict[str, Any]]]:
    """The parameters of every point of all studies."""
    return {
        name: [form(point)["params"] for point in study.points] for name, study in studies().items()
    }


@pytest.mark.parametrize("claim", published().claim, ids=lambda claim: claim.key)
def test_every_setting_that_speaks_to_a_claim_is_counted(claim: Claim) -> None:
    """What has one of its metrics for one of its schemes is judged, or left out with a reason."""
    everywhere = [expect for study in studies().values() for expect in study.expects]
    judges = {expect.metric for expect in everywhere if claim.key in expect.claims}
    found = [
        one
        for name, study in studies().items()
        for one in uncounted(
            claim,
            name,
            settings()[name],
            [metric.name for metric in study.metrics],
            study.expects,
            judges,
        )
    ]
    assert not found, "judge these in an [[expect]], or name them in `outside` of the claim"


def test_nothing_is_left_out_that_is_not_there() -> None:
    """Every entry of `outside` excuses a setting of a study that exists."""
    metrics = {
        name: {expect.metric for expect in study.expects} | {one.name for one in study.metrics}
        for name, study in studies().items()
    }
    for claim in published().claim:
        for one in claim.outside:
            alone = claim.model_copy(update={"outside": [one]})
            assert any(
                alone.leaves_out(name, metric, params)
                for name in metrics
                for metric in metrics[name]
                for params in settings()[name]
            ), (claim.key, one)


def test_every_claim_has_evidence_or_a_reason() -> None:
    """And the claims that a study's expectations name exist."""
    named = {key for study in studies().values() for one in study.expects for key in one.claims}
    for claim in published().claim:
        assert (claim.key in named) != bool(claim.why), claim.key
    assert named <= {claim.key for claim in published().claim}


def test_what_was_read_in_a_document_speaks_to_a_claim() -> None:
    """No verified expectation of a document is missing, except those that cannot fail."""
    for name, study in studies().items():
        for expect in study.expects:
            known = published().document_of(expect.source) is not None
            if expect.status == "verified" and known and not expect.claims:
                assert "(cannot fail" in expect.what, (name, expect.what)


def test_a_loss_that_ends_the_run_is_no_evidence() -> None:
    """Where a lost frame is a failed run, "no frame is lost" cannot fail."""
    for claim in published().claim:
        for name, study in studies().items():
            allowed = [form(point)["run"].get("allow_loss", False) for point in study.points]
            for expect in study.expects:
                if claim.key in expect.claims and expect.metric == "dropped_lossless_frames":
                    assert not any(
                        claim.covers(name, expect.metric, point)
                        for point, may in zip(settings()[name], allowed, strict=True)
                        if not may and fits(point, expect.where)
                    ), (claim.key, name, expect.what)


def test_what_is_left_out_of_the_evidence_is_there() -> None:
    """Every entry of `no_evidence` names settings of a study that an expectation judges."""
    for claim in published().claim:
        for one in claim.no_evidence:
            alone = claim.model_copy(update={"no_evidence": [one]})
            assert any(
                claim.is_about(params) and not alone.covers(name, expect.metric, params)
                for name, study in studies().items()
                for expect in study.expects
                if claim.key in expect.claims
                for params in settings()[name]
                if fits(params, expect.where)
            ), (claim.key, one)


CLAIM = {"key": "c", "document": "d", "place": "p. 1", "what": "w", "published": "yes"}


def expectation(**keys: object) -> ExpectModel:
    """No frame is lost."""
    given = {"what": "none", "metric": "lost", "equals": 0, "claim": "c"}
    more = {"status": "ours", "source": "own"}
    return ExpectModel.model_validate(given | more | keys)


POINTS = [{"variant": variant} for variant in "ABCD"]


def counted(result: Result) -> tuple[int, int]:
    """(settings in which an expectation holds, settings in which it was judged)."""
    found = evidence_of(result.cells, POINTS)
    return found.holds, len(found.judged)


def judged(expect: ExpectModel, lost: Sequence[Sequence[float]]) -> Result:
    """A result: variants A, B, ... with so many frames lost in each seed."""
    rows: list[dict[str, Any]] = [
        {"variant": "ABCD"[place], "seed": seed, "lost": value}
        for place, values in enumerate(lost)
        for seed, value in enumerate(values)
    ]
    return evaluate([expect], pd.DataFrame(rows), {"lost": "1"}, ["variant"])[0]


def test_one_seed_is_enough_to_contradict() -> None:
    """A mean hides it: 12 and 8 are 10 in the mean, and at most 10 is not true of both."""
    each = judged(expectation(equals=None, max=10), [[10, 10], [12, 8]])
    assert counted(each) == (1, 2)
    assert where_not(each.cells) == "B"
    mean = judged(expectation(equals=None, max=10, average=True), [[10, 10], [12, 8]])
    assert counted(mean) == (2, 2)
    assert where_not(mean.cells) == ""


def test_a_setting_without_a_value_does_not_hold() -> None:
    """What was not measured in one run of a setting is not evidence for it."""
    assert counted(judged(expectation(), [[0, 0], [0, float("nan")]])) == (1, 2)


@pytest.mark.parametrize(
    ("holds", "total", "every", "one"),
    [
        (4, 4, HOLDS, HOLDS),
        (3, 4, PARTLY, HOLDS),
        (0, 3, REFUTED, REFUTED),
        (0, 0, NOT_JUDGED, NOT_JUDGED),
    ],
)
def test_the_verdict_is_the_worst(holds: int, total: int, every: str, one: str) -> None:
    """One setting that contradicts takes it out of "holds"; what can be needs only one."""
    assert grade(holds, total) == every
    assert grade(holds, total, exists=True) == one


EVIDENCE = st.dictionaries(st.integers(0, 5), st.booleans()).map(
    lambda found: Evidence(
        tuple(sorted(found)), tuple(sorted(number for number, holds in found.items() if not holds))
    )
)


@given(st.lists(st.tuples(st.sampled_from(["s/one", "s/two"]), EVIDENCE)))
def test_a_setting_counts_once_and_by_the_worst_of_what_judges_it(
    parts: list[tuple[str, Evidence]],
) -> None:
    """However many expectations do: brute force over all settings of both studies."""
    holds = total = 0
    for study in ("s/one", "s/two"):
        for number in range(6):
            mine = [one for name, one in parts if name == study and number in one.judged]
            total += bool(mine)
            holds += bool(mine) and all(number not in one.failed for one in mine)
    assert together(parts) == (holds, total)


def test_what_draws_a_case_of_a_setting_is_none_of_its_own() -> None:
    """Of five starts the worst counts, and a case that fails is that of its setting."""
    runs = pd.DataFrame(
        [
            {
                "variant": "A",
                "rate": rate,
                "at": at,
                "seed": 1,
                "lost": float(rate * (at or 0) > 15),
            }
            for rate in (1, 10)
            for at in (None, 1, 2)
        ]
    )
    points = [
        {"variant": "A", "rate": rate} | ({"at": at} if at else {})
        for rate in (1, 10)
        for at in (None, 1, 2)
    ]
    (result,) = evaluate([expectation()], runs, {"lost": "1"}, ["variant", "rate", "at"])
    assert evidence_of(result.cells, points) == Evidence((0, 1, 2, 3, 4, 5), (5,))
    assert evidence_of(result.cells, points, ["at"]) == Evidence((0, 3), (3,))
    assert evidence_of(result.cells, points, ["a*", "rate"]) == Evidence((0,), (0,))


def test_a_setting_that_nobody_judges_is_found() -> None:
    """Unless its variant is another scheme, or a reason is given."""
    points = [{"variant": variant, "load": load} for variant in ("A", "B") for load in (0.3, 0.8)]
    expect = expectation(where={"variant": "A", "load": 0.3})

    def found(**keys: object) -> list[str]:
        claim = Claim.model_validate(CLAIM | keys)
        return [one.setting for one in uncounted(claim, "s/one", points, ["lost"], [expect], [])]

    assert found() == ["A, load = 0.8", "B, load = 0.3", "B, load = 0.8"]
    assert found(schemes=["A"]) == ["A, load = 0.8"]
    reason = {"study": "s/*", "where": {"load": 0.8}, "why": "too much"}
    assert found(schemes=["A"], outside=[reason]) == []
    claim = Claim.model_validate(CLAIM | {"schemes": ["B"]})
    other = expectation(claim="another", where={"variant": "B"})
    assert len(list(uncounted(claim, "s/one", points, ["lost"], [other], ["lost", "late"]))) == 2
    assert list(uncounted(claim, "s/one", points, ["lost"], [other], ["late"])) == []
