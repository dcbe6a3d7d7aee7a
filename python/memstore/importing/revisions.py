"""Records whose text their program changes in place: here, the new text supersedes the old one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.tables import facts as fact_table
from memstore.frozen import replace
from memstore.importing.records import MARK, identity, moment

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.records import Fact

UPDATED: Final = "updated_at"
"""The key in a record's origin of when its text was last changed there."""


def revised(transaction: Transaction, source: str, namespace: str, fact: Fact) -> list[Fact]:
    """Return the facts to import for a record that may have been imported before.

    A program may change a record's text under the same id. The new text supersedes the one imported
    before if that is still active here: the result is the new fact, followed by the one here that
    it supersedes. Nothing is imported if that was changed here.
    """
    memory_id, since = _version(source, fact)
    holder = fact_table.find(transaction, namespace, idempotency_key=fact.idempotency_key)
    if holder is None:
        return [fact]
    newest = fact_table.chain(transaction, holder.id)[-1]
    if newest.content == fact.content:
        return [replace(fact, uuid=newest.uuid)]
    known = fact_table.find(transaction, namespace, uuid=fact.uuid) is not None
    held_id, held_since = _version(source, newest)
    if since <= held_since or held_id != memory_id or newest.status != "active":
        return [fact] if known else []
    fact = replace(fact, **newest.scope.ids)  # an earlier import may have given it other owners
    if known:  # the record had this text before
        again = identity(source, memory_id, fact.content, since.isoformat())
        fact = replace(fact, uuid=again)
    return [fact, replace(newest, id=-fact.id, superseded_by=fact.id, superseded_at=since)]


def _version(source: str, fact: Fact) -> tuple[str, datetime]:
    origin = fact.metadata.get(MARK, {})
    if not isinstance(origin, dict) or origin.get("from") != source:
        return "", fact.created_at
    try:
        since = moment(origin, UPDATED)
    except (ValueError, TypeError):  # edited here
        since = None
    return str(origin.get("id")), since or fact.created_at
