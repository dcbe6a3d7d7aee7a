"""Facts under external keys: what other programs call them, so that they can be put again.

A key is exact: case, spaces and composed characters count. It belongs to one namespace and one set
of owners. Every fact of a chain has its key, so that it names its fact at any moment; at most one
of them is current, which :func:`put` ensures in its own transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, metadata
from memstore.domain.arguments import checked_items, checked_key, checked_records
from memstore.domain.queries import Page
from memstore.domain.records import NOBODY, NewFact, Scope, checked_scope
from memstore.errors import InvalidArgument
from memstore.frozen import frozen, replace
from memstore.history import past
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from memstore.database.engine import Transaction
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact
    from memstore.domain.standing import Standing
    from memstore.facts.checks import Prepared
    from memstore.facts.writer import FactWriter

    Evidence = Mapping[str, Any] | None

SAME: Final = ("content", "subject", "category", "source", "unsearched", "slots")
"""What makes two facts under one key equal, besides their metadata and their place."""

PLACING: Final = ("valid_at", "episode_id", "thread", "seq")
"""What a new fact may leave to the one before it."""


@frozen(kw_only=True)
class DeleteKey:
    """Delete the current fact with an external key, if there is one."""

    external_key: str
    scope: Scope | None = None
    """The owners of the fact; ``None`` for those of the store, which may be none."""
    if_expired: bool = False
    """Delete it only if it has expired."""

    def __post_init__(self) -> None:
        checked_key(self.external_key, "external_key")
        checked_scope(self.scope)


class Put(NamedTuple):
    """What putting a fact did."""

    fact: Fact
    previous: Fact | None
    """The current fact before, as it was."""

    @property
    def is_known(self) -> bool:
        """Whether the current fact stayed."""
        return self.previous is not None and self.previous.id == self.fact.id


def checked_keys(keys: Iterable[str]) -> list[str]:
    return [checked_key(key, "external_keys") for key in checked_items(keys, "external_keys")]


# -- writing -------------------------------------------------------------------------------


def put(
    writer: FactWriter, new: Prepared, evidence: Evidence = None, *, now: datetime | None = None
) -> Put:
    """Store a fact under its external key; it supersedes the current one.

    One that is equal stays as it is; at most its expiry changes. The caller names the fact, so a
    text that counts less replaces it too, unless the caller does: that is a ``Conflict``.
    """
    known = writer.same_key(new)
    if known is not None:
        return Put(writer.insert(new, evidence, now=now), known)
    held = writer.under_key(new)
    if not held:
        return Put(writer.insert(new, evidence, now=now), None)
    current, *others = held
    writer.check_acts(*held)
    if current.status in ("active", "distrusted") and _is_equal(current, new):
        fact = writer.set_expiry(current, new.expired_at)
    else:
        follower = replace(new, supersedes=current.id, any_subject=True)
        fact = writer.insert(follower, evidence, now=now, decided=True)
    for other in others:
        writer.retire(other, fact.id, evidence, decided=True)
    return Put(fact, current)


def _is_equal(fact: Fact, new: Prepared) -> bool:
    return (
        all(getattr(fact, name) == getattr(new, name) for name in SAME)
        and all(getattr(new, name) in (None, getattr(fact, name)) for name in PLACING)
        and metadata.same(fact.metadata, new.metadata)
    )


def put_all(
    writer: FactWriter, items: Sequence[NewFact | DeleteKey], prepared: Sequence[Prepared]
) -> list[Fact | None]:
    """Put facts and delete keys in order; ``prepared`` are the facts among the items."""
    writer.look_up(prepared, claims=False)
    ready, now = iter(prepared), writer.changes.moment
    return [
        _deleted(writer, item)
        if isinstance(item, DeleteKey)
        else put(writer, next(ready), now=now).fact
        for item in items
    ]


def _deleted(writer: FactWriter, wanted: DeleteKey) -> Fact | None:
    """Delete every current fact with the key; return the newest, as it is now."""
    keys, owners = [wanted.external_key], writer.standing.owners_for(wanted.scope or NOBODY)
    held = [*fact_table.of_external_keys(writer.transaction, writer.namespace, keys, owners)]
    writer.check_acts(*held)
    gone = [
        writer.delete(fact) for fact in held if fact.status == "expired" or not wanted.if_expired
    ]
    return gone[0] if gone else None


def checked_items_to_put(
    items: Iterable[NewFact | DeleteKey | Mapping[str, Any]],
) -> list[NewFact | DeleteKey]:
    """Return what is to be put, in order; mappings become new facts."""
    every = [
        item if isinstance(item, DeleteKey) else checked_records(NewFact, [item], "items")[0]
        for item in checked_items(items, "items")
    ]
    for place, item in enumerate(every, 1):
        if item.external_key is None:
            raise InvalidArgument(
                "is required", argument="external_key", place=f"item {place} of {len(every)}"
            )
    return every


def facts_among(items: Iterable[NewFact | DeleteKey]) -> list[NewFact]:
    """Return what is to be put, without the keys to be deleted."""
    return [item for item in items if not isinstance(item, DeleteKey)]


# -- reading -------------------------------------------------------------------------------


def by_keys(
    transaction: Transaction,
    standing: Standing,
    keys: Sequence[str],
    moment: Moment | None = None,
) -> dict[str, Fact]:
    """Return the active facts with external keys, by key; those of a moment if one is given."""
    if moment is not None:
        return _by_keys_at(transaction, standing, keys, moment)
    owners = standing.selected
    found = [*fact_table.of_external_keys(transaction, standing.namespace, keys, owners)]
    return _newest(fact for fact in found if fact.status == "active")


def under(
    transaction: Transaction, standing: Standing, keys: Sequence[str], prefix: str | None
) -> dict[str, Fact]:
    """Return the active facts with these keys, and those whose keys begin with a prefix, by key."""
    found = by_keys(transaction, standing, keys)
    if prefix is not None:
        wanted = FactFilter(
            (standing.namespace,),
            clock.utc_now(),
            scope=standing.selected,
            external_key_prefix=prefix,
            tasks=True,
        )
        for fact in fact_table.select(transaction, wanted, Page(newest_first=True)):
            found.setdefault(fact.external_key or "", fact)
    return found


def _by_keys_at(
    transaction: Transaction, standing: Standing, keys: Sequence[str], moment: Moment
) -> dict[str, Fact]:
    every = _ever(transaction, standing, keys)
    ids = [fact.id for fact in every]
    then = past.facts_at(transaction, ids, moment)
    known = (then[id_] for id_ in ids if id_ in then)
    return _newest(fact for fact in known if fact.external_key and fact.status == "active")


def _newest(facts: Iterator[Fact]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for fact in facts:  # newest first
        found.setdefault(fact.external_key or "", fact)
    return found


def history(
    transaction: Transaction, standing: Standing, key: str, moment: Moment | None = None
) -> list[Fact]:
    """Return every fact that has the key, in any state, oldest first; had it, at a moment."""
    found = [*_ever(transaction, standing, [key])][::-1]
    if moment is None:
        return found
    then = past.facts_at(transaction, [fact.id for fact in found], moment)
    return [then[fact.id] for fact in found if fact.id in then and then[fact.id].external_key]


def _ever(transaction: Transaction, standing: Standing, keys: Sequence[str]) -> Iterator[Fact]:
    owners = standing.selected
    return fact_table.of_external_keys(transaction, standing.namespace, keys, owners, current=False)
