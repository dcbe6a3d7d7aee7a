"""Lines that came from other devices or follow from theirs, and what finds their facts."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from memstore.database.dialect import same_owners
from memstore.database.engine import NO_LIMIT, Write
from memstore.database.writes import Insert, Update
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from memstore.database.engine import Parameters, Transaction

ERASED_AT_ONCE: Final = 1_000
"""Of so many erased facts and episodes, the lines are read together."""

HERE: Final = 0
"""The device of a line of this file that has a row, because it says what the line does not."""


class TakenLine(NamedTuple):
    """What a line of the journal comes from."""

    line: int
    device: int | None
    """The device; :data:`HERE`, and ``None`` for what follows from the lines of all."""
    position: int
    """The line there."""
    act: int
    """The first line of its act there."""
    rank: int
    value: str | None
    """What it said where the line does not, as JSON."""


TRACE: Final = Insert("memstore_taken", TakenLine._fields)

LINKING: Final = '["%supersede"%'
"""How the values of links begin, which stay when a fact is erased: they quote nothing."""


class TracedLine(NamedTuple):
    """A line of the journal, with what it comes from; texts are JSON."""

    id: int
    txn: int
    at: str
    said_at: str | None
    actor: str
    source: str
    kind: str
    fact_id: int | None
    episode_id: int | None
    before: str | None
    after: str | None
    evidence: str | None
    taken: int | None
    """Its id, if it has a row here."""
    device: int | None
    position: int | None
    act: int | None
    rank: int | None
    value: str | None


SELECT: Final = (
    "SELECT j.id, j.txn, j.at, j.said_at, j.actor, j.source, j.kind, j.fact_id, j.episode_id,"
    " j.before, j.after, j.evidence, t.line, t.device, t.position, t.act, t.rank, t.value"
    " FROM memstore_journal j LEFT JOIN memstore_taken t ON t.line = j.id WHERE "
)


def _lines(transaction: Transaction, where: str, values: Parameters) -> list[TracedLine]:
    rows = transaction.rows(f"{SELECT}{where} ORDER BY j.id", values)
    return [TracedLine._make(row) for row in rows]


def between(transaction: Transaction, first: int, last: int) -> list[TracedLine]:
    """Return the lines from one to another, both included."""
    return _lines(transaction, "j.id BETWEEN :first AND :last", {"first": first, "last": last})


def about(
    transaction: Transaction, facts: Collection[int], episodes: Collection[int]
) -> list[TracedLine]:
    """Return every line about these facts and episodes, oldest first."""
    listed = transaction.dialect.listed
    found = _lines(transaction, f"j.fact_id IN {listed('ids')}", {"ids": [*facts]}) if facts else []
    if episodes:
        where = f"j.episode_id IN {listed('ids')} AND j.fact_id IS NULL"
        found += _lines(transaction, where, {"ids": [*episodes]})
        found.sort()
    return found


def of_device(transaction: Transaction, device: int, first: int, last: int) -> list[TracedLine]:
    """Return the lines here that came from some lines of a device, in its order."""
    rows = transaction.rows(
        f"{SELECT}t.device = :device AND t.position BETWEEN :first AND :last"
        " ORDER BY t.position, j.id",
        {"device": device, "first": first, "last": last},
    )
    return [TracedLine._make(row) for row in rows]


def positions(transaction: Transaction, device: int, wanted: Sequence[int]) -> set[int]:
    """Return which lines of a device were taken before."""
    return {
        *transaction.ints(
            "SELECT position FROM memstore_taken WHERE device = :device"
            f" AND position IN {transaction.dialect.listed('wanted')}",
            {"device": device, "wanted": wanted},
        )
    }


def names(transaction: Transaction, table: str, ids: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the namespaces and UUIDs of facts or episodes, by id."""
    rows = transaction.rows(
        f"SELECT id, namespace, uuid FROM {_checked(table)}"
        f" WHERE id IN {transaction.dialect.listed('ids')}",
        {"ids": [*ids]},
    )
    return {int(id_): (str(namespace), str(uuid)) for id_, namespace, uuid in rows}


def ids(
    transaction: Transaction, table: str, namespace: str, uuids: Collection[str]
) -> dict[str, int]:
    """Return the ids of facts or episodes of a namespace, by UUID."""
    rows = transaction.rows(
        f"SELECT uuid, id FROM {_checked(table)} WHERE namespace = :namespace"
        f" AND uuid IN {transaction.dialect.listed('uuids')}",
        {"namespace": namespace, "uuids": [*uuids]},
    )
    return {str(uuid): int(id_) for uuid, id_ in rows}


def _checked(table: str) -> str:
    if table not in ("memstore_facts", "memstore_episodes"):
        raise ValueError(f"{table} has no UUIDs")
    return table


LOOSE: Final = (
    "SELECT 1 FROM memstore_journal j LEFT JOIN memstore_taken t ON t.line = j.id"
    " WHERE j.fact_id = memstore_facts.id"
    " AND (j.kind = 'unsupersede' OR (t.line IS NOT NULL AND t.device IS NULL))"
)
"""Whether a fact's link was ended once, or follows from the lines of all."""


def alike(
    transaction: Transaction,
    namespace: str,
    claims: Collection[int],
    external_keys: Collection[str],
    idempotency_keys: Collection[str],
) -> set[int]:
    """Return the facts of a namespace, in any state, that share a claim or a key.

    Of an external key, those that somebody superseded for good are left out: each value that the
    key ever had is one.
    """
    listed = transaction.dialect.listed
    found: set[int] = set()
    for column, values, further in (
        ("claim_hash", [*claims], ""),
        ("external_key", [*external_keys], f" AND (superseded_by IS NULL OR EXISTS ({LOOSE}))"),
        ("idempotency_key", [*idempotency_keys], ""),
    ):
        if values:
            found.update(
                transaction.ints(
                    f"SELECT id FROM memstore_facts WHERE namespace = :namespace"
                    f" AND {column} IN {listed('among')}{further}",
                    {"namespace": namespace, "among": values},
                )
            )
    return found


def with_keys(transaction: Transaction, namespace: str, keys: Collection[str]) -> set[int]:
    """Return the episodes of a namespace that have these idempotency keys."""
    if not keys:
        return set()
    return {
        *transaction.ints(
            "SELECT id FROM memstore_episodes WHERE namespace = :namespace"
            f" AND idempotency_key IN {transaction.dialect.listed('keys')}",
            {"namespace": namespace, "keys": [*keys]},
        )
    }


def keyless(transaction: Transaction, table: str, namespace: str) -> set[int]:
    """Return the facts or episodes whose idempotency key another one has, and perhaps a few more.

    Their lines say that they were stored with one.
    """
    about = "j.fact_id = o.id" if table == "memstore_facts" else "j.episode_id = o.id"
    return {
        *transaction.ints(
            f"SELECT o.id FROM {_checked(table)} o WHERE o.namespace = :namespace"
            " AND o.idempotency_key IS NULL AND o.content <> '' AND EXISTS"
            " (SELECT 1 FROM memstore_journal j LEFT JOIN memstore_taken t ON t.line = j.id"
            f" WHERE {about} AND j.kind IN ('add', 'adopt', 'episode')"
            " AND (j.after LIKE :named OR t.value LIKE :named))",
            {"namespace": namespace, "named": '%"idempotency_key"%'},
        )
    }


def twins_of_facts(transaction: Transaction, fact_ids: Collection[int]) -> set[int]:
    """Return the facts that say what these say, and gave way to them: heard on other devices."""
    return {
        *transaction.ints(
            "SELECT f.id FROM memstore_facts f JOIN memstore_facts o ON o.id = f.superseded_by"
            f" WHERE f.superseded_by IN {transaction.dialect.listed('ids')}"
            f" AND f.claim_hash = o.claim_hash AND f.content <> '' AND {same_owners('f', 'o')}"
            " AND EXISTS"
            " (SELECT 1 FROM memstore_journal j JOIN memstore_taken t ON t.line = j.id"
            " WHERE j.fact_id = f.id AND j.kind = 'supersede' AND t.device IS NULL)",
            {"ids": [*fact_ids]},
        )
    }


def twins_of_episodes(transaction: Transaction, episode_ids: Collection[int]) -> set[int]:
    """Return the episodes that say what these say, which have the key with which both came."""
    return {
        *transaction.ints(
            "SELECT e.id FROM memstore_episodes o JOIN memstore_episodes e"
            " ON e.namespace = o.namespace AND e.content_hash = o.content_hash"
            f" WHERE o.id IN {transaction.dialect.listed('ids')}"
            " AND o.idempotency_key IS NOT NULL AND e.idempotency_key IS NULL"
            f" AND e.content <> '' AND {same_owners('e', 'o')} AND EXISTS"
            " (SELECT 1 FROM memstore_journal j JOIN memstore_taken t ON t.line = j.id"
            " WHERE j.episode_id = e.id AND j.fact_id IS NULL"
            " AND (j.before LIKE :named OR t.value LIKE :named))",
            {"ids": [*episode_ids], "named": '%"idempotency_key"%'},
        )
    }


def bound_to(transaction: Transaction, fact_ids: Collection[int]) -> set[int]:
    """Return the facts that these superseded, where they have their pins, or that may come back."""
    return {
        *transaction.ints(
            "SELECT id FROM memstore_facts WHERE superseded_by IN"
            f" {transaction.dialect.listed('ids')}"
            f" AND (pinned_at IS NOT NULL OR EXISTS ({LOOSE}))",
            {"ids": [*fact_ids]},
        )
    }


def forgetting(column: str, id_: int) -> Write:
    """Return the write that blanks what taken lines said of a fact or an episode."""
    return Write(_forgetting(column), {"id": id_, "linking": LINKING})


def _forgetting(column: str) -> Update:
    if column not in ("fact_id", "episode_id"):
        raise ValueError(f"the journal has no ids in {column}")
    alone = "" if column == "fact_id" else " AND fact_id IS NULL"
    lines = f"SELECT id FROM memstore_journal WHERE {column} = :id{alone}"
    return Update(
        "memstore_taken",
        {"value": "NULL"},
        f"line IN ({lines}) AND value IS NOT NULL AND value NOT LIKE :linking",
    )


def last_of(transaction: Transaction, column: str, id_: int, kind: str) -> int:
    """Return the newest line of a kind about a fact or an episode; 0 if there is none."""
    if column not in ("fact_id", "episode_id"):
        raise ValueError(f"the journal has no ids in {column}")
    return transaction.scalar(
        f"SELECT coalesce(max(id), 0) FROM memstore_journal WHERE {column} = :id AND kind = :kind",
        {"id": id_, "kind": kind},
    )


def about_erased(transaction: Transaction, first: int, last: int) -> Iterator[TracedLine]:
    """Yield every line about what was erased by lines from one to another."""
    rows = transaction.rows(
        "SELECT fact_id, episode_id FROM memstore_journal WHERE id BETWEEN :first AND :last"
        " AND kind IN ('erase', 'erase_episode')",
        {"first": first, "last": last},
    )
    while some := [*islice(rows, ERASED_AT_ONCE)]:
        facts = [int(fact_id) for fact_id, _ in some if fact_id is not None]
        episodes = [int(episode_id) for fact_id, episode_id in some if fact_id is None]
        yield from about(transaction, facts, episodes)


def last_own_end(transaction: Transaction, after: int) -> int:
    """Return the last line of this file after another one that erased something; 0 if none did."""
    return transaction.scalar(
        "SELECT coalesce(max(j.id), 0) FROM memstore_journal j WHERE j.id > :after"
        " AND j.kind IN ('erase', 'erase_episode')"
        " AND NOT EXISTS (SELECT 1 FROM memstore_taken t WHERE t.line = j.id)",
        {"after": after},
    )


def hash_at(transaction: Transaction, line: int) -> str:
    """Return the hash of a line of the journal; nothing for the beginning, or an unknown line."""
    row = transaction.one("SELECT hash FROM memstore_journal WHERE id = :id", {"id": line})
    return bytes(row[0]).hex() if row else ""


def acts_between(transaction: Transaction, first: int, last: int) -> dict[int, tuple[int, str]]:
    """Return the last line of each act in a stretch of whole acts, with its hash, by its first."""
    rows = transaction.rows(
        "SELECT j.txn, j.id, j.hash FROM memstore_journal j"
        " JOIN (SELECT max(id) AS id FROM memstore_journal WHERE id BETWEEN :first AND :last"
        " GROUP BY txn) ends ON ends.id = j.id",
        {"first": first, "last": last},
    )
    return {int(act): (int(line), bytes(hash_).hex()) for act, line, hash_ in rows}


def end_of_act(transaction: Transaction, line: int) -> int:
    """Return the last line of the act that has this line; the line itself if there is none."""
    return transaction.scalar(
        "SELECT coalesce(max(id), :line) FROM memstore_journal WHERE txn ="
        " (SELECT txn FROM memstore_journal WHERE id = :line) AND id >= :line"
        " AND id < :line + 1000000",
        {"line": line},
    )


def count_of(transaction: Transaction, device: int, first: int, last: int) -> int:
    """Return how many lines of a device were taken, from one line there to another."""
    return transaction.scalar(
        "SELECT count(*) FROM memstore_taken WHERE device = :device"
        " AND position BETWEEN :first AND :last",
        {"device": device, "first": first, "last": last},
    )


def count_own(
    transaction: Transaction, first: int, kinds: Collection[str], last: int = NO_LIMIT
) -> int:
    """Return how many lines of some kinds were written here, from one to another."""
    return transaction.scalar(
        "SELECT count(*) FROM memstore_journal j WHERE j.id BETWEEN :first AND :last"
        f" AND j.kind IN {transaction.dialect.listed('kinds')}"
        " AND NOT EXISTS (SELECT 1 FROM memstore_taken t WHERE t.line = j.id)",
        {"first": first, "last": last, "kinds": sorted(kinds)},
    )
