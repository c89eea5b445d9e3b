"""The text of the tagger's rules at a switch: the names of neighbours in it."""

from __future__ import annotations

from collections.abc import Callable

AGENT = "tagger"
KEY = "rules"


def with_names(rules: str, change: Callable[[str], str]) -> str:
    """Return rules with other names of neighbours; all else is unchanged.

    change: from a name to another; "" removes it, and with the last name of FROM or TO the rule.
    A rule that is not of the form FROM > TO : OLD=NEW is left to the module, which refuses it.
    """
    found = (_changed(rule, change) for rule in rules.split(";"))
    return ";".join(rule for rule in found if rule is not None).strip()


def _changed(rule: str, change: Callable[[str], str]) -> str | None:
    ends, _, classes = rule.partition(":")
    before = [side.split() for side in ends.split(">")]
    after = [[new for name in names if (new := change(name))] for names in before]
    if after == before or len(before) != 2:
        return rule
    return f" {' > '.join(map(' '.join, after))} :{classes}" if all(after) else None
