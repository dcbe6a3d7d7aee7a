"""Sets how much sources count, and hides what rests on distrusted ones alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text
from memstore.domain.trust import LEVELS, TrustChange, TrustTable
from memstore.history import trust as trusts

if TYPE_CHECKING:
    from memstore.facts.facts import Facts

DEFAULT: Final = "default"
"""In place of a level: what holds if nothing is set."""


def trust(facts: Facts, source: str, level: str | None) -> TrustChange:
    """Set the level of a source, if one is given, and trust it again if it was distrusted."""
    name = _named(source)
    if level is not None:
        level = checked_choice(level, (*LEVELS, DEFAULT), "level")
    with facts.writing() as transaction:
        trusts.check_decides(transaction, facts.author)
        before = trusts.table(transaction)
        levels = {key: one for key, one in before.levels.items() if level is None or key != name}
        if level not in (None, DEFAULT):
            levels[name] = str(level)
        distrusted = tuple(one for one in before.distrusted if one != name)
        after = TrustTable(levels, distrusted)
        if after == before:
            return TrustChange(before.effective)
        return trusts.put(transaction, facts.author, after, Kind.TRUST)


def distrust(facts: Facts, source: str) -> TrustChange:
    """Hide what rests on a source alone, or on it and other distrusted ones."""
    name = _named(source)
    with facts.writing() as transaction:
        trusts.check_decides(transaction, facts.author)
        before = trusts.table(transaction)
        if name in before.distrusted:
            return TrustChange(before.effective)
        after = TrustTable(before.levels, tuple(sorted((*before.distrusted, name))))
        return trusts.put(transaction, facts.author, after, Kind.DISTRUST)


def _named(source: str) -> str:
    """Return a source in the form in which sources are compared."""
    return checked_text(source, "source", MAX_NAME).strip().casefold()
