"""Doing a change, telling what it did, and taking it back before anybody sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database import journal
from memstore.database.engine import taken_back
from memstore.domain import clock
from memstore.domain.log import Act
from memstore.history import log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from memstore.database.engine import Transaction
    from memstore.database.journal import Author


def rehearse(
    writing: AbstractContextManager[Transaction],
    work: Callable[[Transaction], object],
    author: Author,
    namespaces: Sequence[str],
) -> Act:
    """Return the act that some work would be; an act without changes if it would do nothing."""
    told = Act(line=0, at=clock.utc_now(), actor=author.actor, source=author.source)
    with taken_back(writing) as transaction:
        last = journal.last_id(transaction)
        work(transaction)
        lines = journal.matching(transaction, "id > :last", {"last": last})
        if lines:
            told = log.act_of(transaction, lines, namespaces)
    return told
