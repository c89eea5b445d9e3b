"""Messages for people."""

from __future__ import annotations

import pytest

from pyorch.base.errors import Problem, UserError, one_of, suggest


def test_a_problem_shows_all_its_parts() -> None:
    """Where and what come first, then what is allowed, then what to do."""
    problem = Problem(
        "x.toml: buffer.xof", "unknown key 'xof'", "xoff, xon", "did you mean 'xoff'?"
    )
    assert problem.render() == (
        "x.toml: buffer.xof: unknown key 'xof'\n"
        "    allowed: xoff, xon\n"
        "    hint: did you mean 'xoff'?"
    )


def test_an_error_shows_every_problem_and_how_many() -> None:
    """Nothing is left out when several things are wrong."""
    error = UserError([Problem("a", "wrong"), Problem("b", "bad")])
    assert error.render() == "a: wrong\nb: bad\n2 problems"
    assert str(UserError([Problem("a", "wrong")])) == "a: wrong"


def test_an_error_without_a_problem_is_a_mistake() -> None:
    """A UserError always has something to say."""
    with pytest.raises(ValueError, match="at least one problem"):
        UserError([])


def test_suggests_the_nearest_name_only() -> None:
    """Case and separators do not count; a name that is far off gets no suggestion."""
    assert suggest("Fat-Tree", ["fat_tree", "star"]) == "did you mean 'fat_tree'?"
    assert suggest("torus", ["fat_tree", "star"]) is None


def test_long_lists_are_cut() -> None:
    """A list of a thousand names does not hide the message."""
    assert one_of(["a", "b", "c"], limit=2) == "a, b, ... (3 in all)"
