"""How many facts and episodes each set of owners has."""

from __future__ import annotations

from bisect import insort
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from memstore.database.dialect import within
from memstore.domain.records import SCOPE_FIELDS, Scope, unchecked
from memstore.domain.status import Owner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Row, Transaction
    from memstore.domain.records import AtLeast


def of_owners(
    transaction: Transaction,
    namespaces: Sequence[str] | None,
    limit: int,
    after: Owner | None = None,
    among: Scope | AtLeast | None = None,
) -> list[Owner]:
    """Return the sets of owners with the most facts and episodes.

    Facts that were superseded or deleted do not count for the order.

    Args:
        after: begin after this one's place.
        among: only these owners, or those with at least these.
    """
    chosen = {f"among_{name}": owner or "" for name, owner in (among.ids if among else {}).items()}
    if after is None:
        return _first_owners(transaction, namespaces, limit, chosen)
    values: dict[str, Any] = {"namespaces": namespaces, "most": limit, **chosen}
    tests = f"(held < :held OR (held = :held AND ({OWNERS}) > (:{', :'.join(SCOPE_FIELDS)})))"
    values |= {name: owner or "" for name, owner in after.scope.ids.items()}
    values["held"] = after.facts + after.episodes
    sums = _owned(transaction, namespaces, ("category", "fact", "episode"), chosen)
    rows = transaction.rows(
        f"SELECT * FROM (SELECT t.*, category + episode AS held FROM ({sums}) t) u"
        f" WHERE {tests} ORDER BY held DESC, {OWNERS} LIMIT :most",
        values,
    )
    return [
        Owner(scope=_scope(row[:3]), facts=row[3], total=row[4], episodes=row[5]) for row in rows
    ]


OWNERS: Final = ", ".join(SCOPE_FIELDS)


def _owned(
    transaction: Transaction,
    namespaces: Sequence[str] | None,
    kinds: Sequence[str],
    chosen: Mapping[str, str],
) -> str:
    """Return a query for the sums of these kinds, each as a column, by owners."""
    where = within(transaction.dialect, "namespace", namespaces) or " WHERE TRUE"
    sums = ", ".join(
        f"coalesce(sum(number) FILTER (WHERE kind = '{kind}'), 0) AS {kind}" for kind in kinds
    )
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    own = "".join(f" AND {name.removeprefix('among_')} = :{name}" for name in chosen)
    return (
        f"SELECT {OWNERS}, {sums} FROM memstore_counts{where} AND kind IN ({listed}){own}"
        f" GROUP BY {OWNERS}"
    )


READ_FIRST: Final = 1000
"""Half of the most owners that are read at first, however many are wanted."""


def _first_owners(
    transaction: Transaction,
    namespaces: Sequence[str] | None,
    limit: int,
    chosen: Mapping[str, str],
) -> list[Owner]:
    """Return the first owners: none has more facts than it has in any state.

    So what they have in any state is read of all, and what is valid only of those that may be
    among the first: a fact that counts has one category.
    """
    where = within(transaction.dialect, "namespace", namespaces) or " WHERE TRUE"
    valid = (
        f"SELECT coalesce(sum(number), 0) FROM memstore_counts{where} AND kind = 'category'"
        f" AND {' AND '.join(f'{name} = :{name}' for name in SCOPE_FIELDS)}"
    )
    sums = _owned(transaction, namespaces, ("fact", "episode"), chosen)
    best: list[tuple[int, Row, Owner]] = []
    read, wanted = 0, 2 * min(limit, READ_FIRST)
    while True:
        rows = [
            *transaction.rows(
                f"SELECT t.*, fact + episode AS held FROM ({sums}) t"
                f" ORDER BY held DESC, {OWNERS} LIMIT :most OFFSET :read",
                {"namespaces": namespaces, "most": wanted - read, "read": read, **chosen},
            )
        ]
        for *owners, total, episodes, held in rows:
            if len(best) >= limit and best[limit - 1][:2] <= (-held, (*owners,)):
                return [one for *_, one in best[:limit]]
            named = dict(zip(SCOPE_FIELDS, owners, strict=True))
            facts = transaction.scalar(valid, {"namespaces": namespaces, **named})
            scope = _scope((*owners,))
            one = Owner(scope=scope, facts=facts, total=total, episodes=episodes)
            insort(best, (-facts - episodes, (*owners,), one), key=itemgetter(0, 1))
        if len(rows) < wanted - read:
            return [one for *_, one in best[:limit]]
        read, wanted = wanted, 4 * wanted


def _scope(row: Row) -> Scope:
    owners = (owner or None for owner in row)
    return unchecked(Scope, dict(zip(SCOPE_FIELDS, owners, strict=True)))
