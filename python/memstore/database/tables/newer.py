"""Which facts may replace older ones, as the judge said of their texts, and who was compared.

A row depends on two texts that never change, so it is right as long as both facts have theirs.
Whether they are active, or seen by a search, is asked when it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.derivations import FACT_FEED
from memstore.database.engine import Statement, Write
from memstore.database.tables.facts import CLAIM, claimed
from memstore.database.writes import Delete, Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.facts import Claimed

CURRENT: Final = "f.superseded_by IS NULL AND f.deleted_at IS NULL AND f.content <> ''"
"""The condition that a fact may be named, or name another; it may still expire, or be hidden."""


SIZED: Final = (
    "memstore_facts f JOIN memstore_counts c ON c.namespace = f.namespace AND c.kind = 'subject'"
    " AND c.user_id = coalesce(f.user_id, '') AND c.agent_id = coalesce(f.agent_id, '')"
    " AND c.run_id = coalesce(f.run_id, '') AND c.key = f.subject_key"
)
"""Facts with the number of those in their group that are neither superseded nor deleted."""


class Compared(NamedTuple):
    """How far the facts have been compared."""

    last_id: int
    """The facts up to this id were, as they were at this position of the feed."""
    position: int
    rules: int
    """The version of the rules that they were compared by."""
    is_begun: int = 0
    """1 if later facts wait that the feed does not tell after that position; else 0."""


NOTHING_COMPARED: Final = Compared(0, 0, 0)


class Group(NamedTuple):
    """The facts on one subject, in one namespace, of the same owners: one may replace another."""

    namespace: str
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    subject_key: str


class Pair(NamedTuple):
    """A fact, and a later one that replaces it, or may."""

    older: int
    newer: int
    proves: bool
    """Whether the words prove it; else a person would be asked."""


STATE: Final = Statement(f"SELECT {', '.join(Compared._fields)} FROM memstore_compared")


def state(transaction: Transaction) -> Compared | None:
    row = transaction.one(*STATE)
    return None if row is None else Compared._make(row)


def set_state(transaction: Transaction, compared: Compared) -> None:
    transaction.run(Delete("memstore_compared"))
    transaction.run(Insert("memstore_compared", Compared._fields), compared)


def begin_again(transaction: Transaction, compared: Compared) -> None:
    """Remove every row, and record from where on facts are compared."""
    transaction.run(Delete("memstore_newer"))
    set_state(transaction, compared)


class Known(NamedTuple):
    """What is known of a fact."""

    group_size: int
    """How many facts its group has that are neither superseded nor deleted."""
    newer: dict[int, bool]
    """The later facts that may replace it, and whether their words prove it."""


def selecting(transaction: Transaction, fact_ids: Sequence[int]) -> Statement:
    """Return the query of :func:`known`."""
    listed = transaction.dialect.listed("ids")
    query = (
        f"SELECT f.id, c.number, n.newer, n.proves FROM {SIZED}"
        f" LEFT JOIN memstore_newer n ON n.older = f.id WHERE f.id IN {listed}"
    )
    return Statement(query, {"ids": fact_ids})


def known(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, Known]:
    """Return what is known of these facts, by id."""
    found: dict[int, Known] = {}
    for id_, size, newer, proves in transaction.rows(*selecting(transaction, fact_ids)):
        one = found.setdefault(id_, Known(size, {}))
        if newer is not None:
            one.newer[newer] = bool(proves)
    return found


def every(transaction: Transaction) -> Iterator[Pair]:
    for one, other, proves in transaction.rows(
        "SELECT older, newer, proves FROM memstore_newer ORDER BY older, newer"
    ):
        yield Pair(one, other, bool(proves))


def add(transaction: Transaction, pairs: Sequence[Pair]) -> None:
    """Add pairs, without those of facts that were erased in the meantime."""
    ids = {id_ for pair in pairs for id_ in pair[:2]}
    there = {
        *transaction.ints(
            "SELECT id FROM memstore_facts WHERE content <> ''"
            f" AND id IN {transaction.dialect.listed('ids')}",
            {"ids": sorted(ids)},
        )
    }
    form = Insert("memstore_newer", Pair._fields, unique=("older", "newer"))
    for pair in pairs:
        if pair.older in there and pair.newer in there:
            transaction.queue(form, (pair.older, pair.newer, int(pair.proves)))


def forgetting(fact_id: int) -> list[Write]:
    """Return the writes that remove what is known of a fact."""
    columns = ("older", "newer")
    return [Write(Delete("memstore_newer", f"{one} = :id"), {"id": fact_id}) for one in columns]


def forget(transaction: Transaction, pairs: Iterable[Pair]) -> None:
    form = Delete("memstore_newer", "older = :older AND newer = :newer")
    for pair in pairs:
        transaction.run(form, {"older": pair.older, "newer": pair.newer})


def new_ids(transaction: Transaction, compared: Compared, limit: int) -> list[int]:
    """Return the first facts that were stored since facts were compared."""
    return transaction.ints(
        "SELECT id FROM memstore_facts WHERE id > :last_id ORDER BY id LIMIT :limit",
        {"last_id": compared.last_id, "limit": limit},
    )


def last_of_page(transaction: Transaction, compared: Compared, limit: int) -> int:
    """Return the last of the first facts that were stored since facts were compared."""
    return transaction.scalar(
        "SELECT coalesce(max(id), :last_id) FROM (SELECT id FROM memstore_facts"
        " WHERE id > :last_id ORDER BY id LIMIT :limit) AS page",
        {"last_id": compared.last_id, "limit": limit},
    )


def changed_ids(transaction: Transaction, compared: Compared, limit: int) -> list[int]:
    """Return facts that were changed or removed since they were compared."""
    return transaction.ints(
        f"SELECT DISTINCT id FROM {FACT_FEED} WHERE seq > :position AND id <= :last_id"
        " LIMIT :limit",
        {"position": compared.position, "last_id": compared.last_id, "limit": limit},
    )


def groups(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, Group]:
    """Return the group of each of these facts that exists."""
    rows = transaction.rows(
        "SELECT f.id, f.namespace, f.user_id, f.agent_id, f.run_id, f.subject_key"
        f" FROM memstore_facts f WHERE f.id IN {transaction.dialect.listed('ids')}",
        {"ids": fact_ids},
    )
    return {id_: Group(*of) for id_, *of in rows}


def groups_between(transaction: Transaction, before: Compared, after: Compared) -> list[Group]:
    """Return the groups of several facts that were stored between two states."""
    rows = transaction.rows(
        f"SELECT DISTINCT f.namespace, f.user_id, f.agent_id, f.run_id, f.subject_key FROM {SIZED}"
        " WHERE f.id > :before AND f.id <= :after AND c.number > 1",
        {"before": before.last_id, "after": after.last_id},
    )
    return [Group._make(row) for row in rows]


OF_GROUP: Final = (
    "f.namespace = :namespace AND f.subject_key = :subject_key"
    " AND f.user_id IS NOT DISTINCT FROM :user_id AND f.agent_id IS NOT DISTINCT FROM :agent_id"
    f" AND f.run_id IS NOT DISTINCT FROM :run_id AND {CURRENT}"
)


def members(transaction: Transaction, group: Group, limit: int) -> list[Claimed]:
    """Return what the current facts of a group say, at most as many as the limit."""
    rows = transaction.rows(
        f"SELECT {CLAIM} FROM memstore_facts f WHERE {OF_GROUP} LIMIT :limit",
        {**group._asdict(), "limit": limit},
    )
    return [claimed(row) for row in rows]


def between(transaction: Transaction, group: Group, before: Compared, after: Compared) -> list[int]:
    """Return the current facts of a group that were stored between two states."""
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f WHERE {OF_GROUP} AND f.id > :before AND f.id <= :after",
        {**group._asdict(), "before": before.last_id, "after": after.last_id},
    )


def current(transaction: Transaction, group: Group, fact_ids: Sequence[int]) -> list[int]:
    """Return those of some facts that are current ones of a group."""
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {transaction.dialect.indexed_by(None)}"
        f" WHERE f.id IN {transaction.dialect.listed('ids')} AND {OF_GROUP}",
        {**group._asdict(), "ids": fact_ids},
    )


def of_size(transaction: Transaction, above: int, most: int) -> list[Group]:
    """Return the groups with more facts than ``above``, and at most ``most``."""
    rows = transaction.rows(
        "SELECT namespace, user_id, agent_id, run_id, key FROM memstore_counts"
        " WHERE kind = 'subject' AND number > :above AND number <= :most",
        {"above": above, "most": most},
    )
    return [
        Group(namespace, user or None, agent or None, run or None, key)
        for namespace, user, agent, run, key in rows
    ]
