"""The rules of the judge as callers name them, to switch some of them off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.arguments import checked_choice, checked_items
from memstore.text.judging.judge import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable


def rules(given: Iterable[str]) -> frozenset[Rule]:
    """Return the rules that are named: each a :class:`Rule`, its text, or its name in any case.

    Raises:
        InvalidArgument: there is no such rule.
    """
    return frozenset(map(_rule, checked_items(given, "without_rules")))


def _rule(name: str) -> Rule:
    if isinstance(name, str) and (by_name := name.strip().upper()) in Rule.__members__:
        return Rule[by_name]
    return Rule(checked_choice(name, Rule, "without_rules"))
