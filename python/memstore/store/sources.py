"""How much sources count, and what rests on distrusted ones alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.domain import zones
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text
from memstore.domain.trust import LEVELS, TrustChange, TrustTable
from memstore.history import trust as trusts

if TYPE_CHECKING:
    from memstore.facts.transactions import FactTransactions

DEFAULT: Final = "default"
"""In place of a level: what holds if nothing is set."""


class Sources(zones.Zoned):
    """How much the text of each source counts: ``sources`` of a :class:`memstore.Store`."""

    def __init__(self, facts: FactTransactions) -> None:
        self._facts = facts
        self._standing = facts.standing

    def trust(self, source: str, level: str | None = None) -> TrustChange:
        """Set how much the text of a source counts, or take a :meth:`distrust` back.

        Nothing that counts less retires what counts more: that becomes a proposal. Text of the
        level ``external`` never becomes a task, and hooks never show it.

        Args:
            source: a source, or the beginning of several: ``web:`` stands for all that begin so,
                ``web:a.org`` for ``web:a.org/x`` too. The longest one that is known decides.
            level: ``person``, ``agent``, ``tool`` or ``external``; ``default`` for what holds if
                nothing was set. ``None`` leaves the level as it is.

        Returns:
            The level of each source, as :meth:`levels`, and what came back, or left.

        Raises:
            ValueError: no such level.
            AccessDenied: this store is confined to its namespace; the levels are the file's.
        """
        self._standing.check_all()
        name = _named(source)
        if level is not None:
            level = checked_choice(level, (*LEVELS, DEFAULT), "level")
        with self._facts.writing() as transaction:
            trusts.check_decides(transaction, self._facts.author)
            before = trusts.table(transaction)
            levels = {
                key: one for key, one in before.levels.items() if level is None or key != name
            }
            if level not in (None, DEFAULT):
                levels[name] = str(level)
            distrusted = tuple(one for one in before.distrusted if one != name)
            after = TrustTable(levels, distrusted)
            if after == before:
                return TrustChange(before.effective)
            return trusts.put(transaction, self._facts.author, after, Kind.TRUST)

    def distrust(self, source: str) -> TrustChange:
        """Hide what rests on a source alone, until :meth:`trust` takes that back.

        No search, list or count has it any more, also if it is stored later; the same holds for
        the episodes of the source. ``get``, ``history`` and ``ledger.support`` still show it,
        as ``distrusted``. A fact that something else speaks for stays.

        Args:
            source: a source, or the beginning of several, as for :meth:`trust`; or a program that
                changes are made through, such as ``mcp``.

        Returns:
            The level of each source, as :meth:`levels`, and how much left.

        Raises:
            AccessDenied: this store is confined to its namespace; the levels are the file's.
        """
        self._standing.check_all()
        name = _named(source)
        with self._facts.writing() as transaction:
            trusts.check_decides(transaction, self._facts.author)
            before = trusts.table(transaction)
            if name in before.distrusted:
                return TrustChange(before.effective)
            after = TrustTable(before.levels, tuple(sorted((*before.distrusted, name))))
            return trusts.put(transaction, self._facts.author, after, Kind.DISTRUST)

    def levels(self) -> dict[str, str]:
        """Return the level of trust of each source that has one, by the beginning of its name.

        Raises:
            AccessDenied: this store is confined to its namespace.
        """
        self._standing.check_all()
        with self._facts.reading() as transaction:
            return trusts.table(transaction).effective


def _named(source: str) -> str:
    """Return a source in the form in which sources are compared."""
    return checked_text(source, "source", MAX_NAME).strip().casefold()
