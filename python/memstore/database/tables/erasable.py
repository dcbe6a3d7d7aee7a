"""Selects facts and episodes that are about to be erased, and counts what is stored about them.

They are selected by what they are and where they come from; what was erased already is not. Only
columns are compared, so that no JSON is read, except for the sources that confirmations name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database import line_filters
from memstore.database.dialect import owned_by
from memstore.database.journal import TEXTS, UNCHANGED, WEIGHING, Kind
from memstore.database.tables import distrusted, support
from memstore.domain import clock
from memstore.domain.erasures import ErasureCounts, owners_of
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.erasures import ErasureSelection
    from memstore.domain.standing import Standing


HEARD: Final = f"kind IN ('{Kind.ADD}', '{Kind.ADOPT}', '{Kind.CONFIRM}')"
"""The lines that a support of a fact is read from."""

RECORDED: Final = f"fact_id IS NULL AND kind IN ('{Kind.EPISODE}', '{Kind.ADOPT}')"
"""The lines of new episodes."""

QUIET: Final = ", ".join(f"'{kind}'" for kind in sorted(UNCHANGED - WEIGHING))
"""The kinds of lines that change nothing that a plan rests on."""


def episodes(
    transaction: Transaction,
    chosen: ErasureSelection,
    standing: Standing,
    among: Collection[int] | None = None,
) -> list[int]:
    """Return the ids of the selected episodes, in order."""
    if chosen.is_of_facts:
        return []
    tests, values = _rows(transaction, chosen, standing, among)
    tests += ["namespace = :home", "content_hash <> ''"]
    if chosen.episode is not None:
        tests.append("id = :episode")
    lines = f"SELECT episode_id FROM memstore_journal WHERE {RECORDED}"
    if chosen.source is not None:
        tests.append(f"(source = :source OR id IN ({lines} AND source = :source))")
    if chosen.run is not None:
        tests.append(f"id IN ({lines} AND id >= :first AND run = :run)")
    return transaction.ints(
        f"SELECT id FROM memstore_episodes WHERE {' AND '.join(tests)} ORDER BY id", values
    )


def facts(
    transaction: Transaction,
    chosen: ErasureSelection,
    standing: Standing,
    among: Collection[int] | None = None,
) -> list[int]:
    """Return the ids of the facts that are selected by what they are, in order."""
    tests, values = _fact_rows(transaction, chosen, standing, among)
    return transaction.ints(
        f"SELECT id FROM memstore_facts WHERE {' AND '.join(tests)} ORDER BY id", values
    )


def heard_from(
    transaction: Transaction,
    chosen: ErasureSelection,
    standing: Standing,
    episode_ids: Sequence[int],
    among: Collection[int] | None = None,
) -> list[int]:
    """Return the facts of :func:`facts` with a support that may be selected by its origin."""
    tests, values = _fact_rows(transaction, chosen, standing, among)
    lines = f"SELECT fact_id FROM memstore_journal WHERE fact_id IS NOT NULL AND {HEARD}"
    listed = transaction.dialect.listed("episodes")
    of = [
        f"episode_id IN {listed}",
        f"id IN ({lines} AND episode_id IN {listed})",
    ]
    if chosen.source is not None:
        restated = transaction.dialect.member("evidence", "'restated'")
        of += [
            "source = :source",
            f"id IN ({lines} AND (source = :source OR {restated} = :source))",
        ]
    if chosen.run is not None:
        of.append(f"id IN ({lines} AND id >= :first AND run = :run)")
    return transaction.ints(
        f"SELECT id FROM memstore_facts WHERE {' AND '.join(tests)} AND ({' OR '.join(of)})"
        " ORDER BY id",
        {**values, "episodes": [*episode_ids]},
    )


def lines_of_run(transaction: Transaction, run: bytes) -> set[int]:
    """Return the lines of a run that a support may be read from."""
    first = _first_of(transaction, run)
    return {
        *transaction.ints(
            f"SELECT id FROM memstore_journal WHERE id >= :first AND run = :run AND {HEARD}",
            {"first": first, "run": run},
        )
    }


def drawn_from(transaction: Transaction, fact_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return each of these facts with each episode that it was heard in."""
    return [
        (int(fact_id), int(episode_id))
        for fact_id, episode_id in transaction.rows(
            "SELECT fact_id, episode_id FROM memstore_journal"
            f" WHERE fact_id IN {transaction.dialect.listed('ids')} AND episode_id IS NOT NULL"
            f" AND {HEARD} ORDER BY fact_id, episode_id",
            {"ids": fact_ids},
        )
    ]


def own_episodes(transaction: Transaction, fact_ids: Sequence[int]) -> set[int]:
    """Return the episodes that these facts were drawn from."""
    return {
        *transaction.ints(
            "SELECT DISTINCT episode_id FROM memstore_facts WHERE episode_id IS NOT NULL"
            f" AND id IN {transaction.dialect.listed('ids')}",
            {"ids": fact_ids},
        )
    }


def newest_line(transaction: Transaction, fact_ids: Sequence[int]) -> int:
    """Return the newest line that changed one of these facts."""
    return transaction.scalar(
        f"SELECT max(id) FROM memstore_journal WHERE kind NOT IN ({QUIET})"
        f" AND fact_id IN {transaction.dialect.listed('ids')}",
        {"ids": fact_ids},
    )


def changed_facts(
    transaction: Transaction, after: int, among: Sequence[int] | None = None
) -> set[int]:
    """Return the facts (``None``: of all) that were changed by a line after this one."""
    return _changed(transaction, "fact_id", after, among)


def changed_episodes(
    transaction: Transaction, after: int, among: Sequence[int] | None = None
) -> set[int]:
    """Return the episodes that were changed, or that changed a fact, by a line after this one."""
    return _changed(transaction, "episode_id", after, among)


def _changed(
    transaction: Transaction, column: str, after: int, among: Sequence[int] | None
) -> set[int]:
    which = "" if among is None else f" AND {column} IN {transaction.dialect.listed('ids')}"
    return {
        *transaction.ints(
            f"SELECT DISTINCT {column} FROM memstore_journal WHERE id > :after"
            f" AND {column} IS NOT NULL AND kind NOT IN ({QUIET}){which}",
            {"after": after, "ids": among},
        )
    }


def _fact_rows(
    transaction: Transaction,
    chosen: ErasureSelection,
    standing: Standing,
    among: Collection[int] | None,
) -> tuple[list[str], dict[str, Any]]:
    tests, values = _rows(transaction, chosen, standing, among)
    dialect = transaction.dialect
    tests += [f"namespace IN {dialect.listed('namespaces')}", "content <> ''"]
    if chosen.subject is not None:
        tests.append("subject_key = :subject")
    if chosen.facts is not None:
        tests.append(f"id IN {dialect.listed('facts')}")
    return tests, values


def _rows(
    transaction: Transaction,
    chosen: ErasureSelection,
    standing: Standing,
    among: Collection[int] | None,
) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions that facts and episodes share, and all parameters."""
    values: dict[str, Any] = {
        "home": standing.namespace,
        "namespaces": standing.namespaces,
        "episode": chosen.episode,
        "subject": None if chosen.subject is None else subject_key(chosen.subject),
        "source": chosen.source,
        "run": chosen.run,
        "facts": chosen.facts,
        "first": 0 if chosen.run is None else _first_of(transaction, chosen.run),
        "among": None if among is None else [*among],
    }
    tests = []
    if among is not None:
        tests.append(f"id IN {transaction.dialect.listed('among')}")
    if (whose := standing.selected) is not None:
        tests.append(owned_by(whose))
        values |= whose.ids
    if chosen.owner is not None:
        owners = owners_of(chosen.owner)
        tests += [f"{name} = :owner_{name}" for name in owners]
        values |= {f"owner_{name}": id_ for name, id_ in owners.items()}
    return tests, values


def _first_of(transaction: Transaction, run: bytes) -> int:
    return line_filters.first_since(transaction, clock.uuid_moment(run) - line_filters.MARGIN)


WITH_TEXT: Final = f"coalesce({', '.join(TEXTS)}) IS NOT NULL"
"""The condition that a line of the journal has a text."""


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> ErasureCounts:
    """Count what goes with facts, except for entries of the graph."""
    listed = transaction.dialect.listed("ids")

    def count(source: str) -> int:
        return transaction.scalar(f"SELECT count(*) FROM {source}", {"ids": fact_ids})

    return ErasureCounts(
        facts=count(f"memstore_facts WHERE id IN {listed}"),
        supports=len(support.speaking(support.of_facts(transaction, fact_ids))),
        lines=count(f"memstore_journal WHERE fact_id IN {listed} AND {WITH_TEXT}"),
        vectors=count(
            "memstore_generations g CROSS JOIN memstore_fact_vectors v"
            f" WHERE v.generation_id = g.id AND v.fact_id IN {listed} AND v.embedding IS NOT NULL"
        ),
        proposals=count(
            f"memstore_proposals WHERE (old_id IN {listed} OR new_id IN {listed})"
            " AND (evidence IS NOT NULL OR content <> '')"
        ),
    )


def of_episodes(
    transaction: Transaction, episode_ids: Sequence[int], going: Collection[int] = ()
) -> ErasureCounts:
    """Count what goes with episodes, without the facts drawn from them.

    Args:
        transaction: the state to read.
        episode_ids: the episodes.
        going: facts that go too, whose supports were counted with them.
    """
    listed = transaction.dialect.listed("ids")

    def count(source: str) -> int:
        return transaction.scalar(f"SELECT count(*) FROM {source}", {"ids": episode_ids})

    heard = [one for one in distrusted.of_episodes(transaction, episode_ids) if one not in going]
    supports, erased = support.speaking(support.of_facts(transaction, heard)), {*episode_ids}
    return ErasureCounts(
        supports=sum(support.episode_id in erased for support in supports),
        episodes=count(f"memstore_episodes WHERE id IN {listed}"),
        lines=count(
            f"memstore_journal WHERE episode_id IN {listed} AND fact_id IS NULL AND {WITH_TEXT}"
        ),
        pieces=count(f"memstore_pieces WHERE episode_id IN {listed} AND stop > start"),
        vectors=count(
            "memstore_pieces p CROSS JOIN memstore_generations g"
            " CROSS JOIN memstore_piece_vectors v"
            f" WHERE p.episode_id IN {listed} AND v.generation_id = g.id AND v.piece_id = p.id"
            " AND v.embedding IS NOT NULL"
        ),
        replies=count_replies(transaction, episode_ids),
    )


def count_replies(transaction: Transaction, episode_ids: Sequence[int]) -> int:
    return transaction.scalar(
        "SELECT count(*) FROM memstore_replies WHERE episode_id IN"
        f" {transaction.dialect.listed('ids')}",
        {"ids": episode_ids},
    )


def count_entries(transaction: Transaction, fact_ids: set[int]) -> int:
    """Count the entries of the graph about these facts; reads all of it."""
    return sum(
        fact_id in fact_ids
        for table in ("memstore_mentions", "memstore_relations")
        for (fact_id,) in transaction.rows(f"SELECT fact_id FROM {table}")
    )
