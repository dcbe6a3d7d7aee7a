"""Erasing: the text of a fact or an episode is permanently removed from every table.

Empty rows and journal lines stay, so that chains stay complete. Old pages of the file disappear
when the engine compacts it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.journal import LINE, Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import line_counts
from memstore.database.tables import newer as newer_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables import taken as taken_table
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.database import meta as meta_table
    from memstore.database.changes import Dependents
    from memstore.database.engine import Transaction
    from memstore.database.tables import searches as search_table
    from memstore.domain import erasures
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine
    from memstore.history import proposals, queries, supports, trust
else:
    erasures = lazy_import("memstore.domain.erasures")
    supports = lazy_import("memstore.history.supports")
    proposals = lazy_import("memstore.history.proposals")
    meta_table = lazy_import("memstore.database.meta")
    queries = lazy_import("memstore.history.queries")
    search_table = lazy_import("memstore.database.tables.searches")
    trust = lazy_import("memstore.history.trust")

SAID: Final = "said"
"""The evidence's member for the words of an episode."""

NOTHING_LEFT: Final[Mapping[str, Any]] = MappingProxyType({})


def erase_fact(changes: Changes, fact: Fact, dependents: Dependents) -> None:
    """Erase a fact. The episodes that contain its text are not read by a model again."""
    remove_fact(changes, fact, dependents)
    changes.transaction.full_text.facts.forget_deleted(changes.transaction)


def remove_fact(changes: Changes, fact: Fact, dependents: Dependents) -> None:
    """Erase one of several facts; :func:`memstore.history.erasure.finish` ends it.

    If the same claim was heard on several devices, all that became one fact go.
    """
    transaction = changes.transaction
    twins = sorted(taken_table.twins_of_facts(transaction, [fact.id]))
    held = fact_table.get_many(transaction, [fact.id, *twins])
    for twin in twins:
        remove_fact(changes, held[twin], dependents)
    if not held[fact.id].content:
        return  # it went as the twin of another one
    reply_table.close_episodes(transaction, fact.namespace, fact.content, fact.episode_id)
    blank_fact(changes, fact, dependents)
    queries.Queries().forget(transaction, erasures.FACT, {fact.id: text_of(fact)})


def erase_episode(changes: Changes, episode: Episode) -> None:
    """Erase an episode, and quotes of it in the evidence of changes.

    If it is a turn of a session that was recorded more than once, or was recorded on several
    devices under one key, all records of it are erased.
    """
    remove_episode(changes, episode)
    changes.transaction.full_text.episodes.forget_deleted(changes.transaction)


def remove_episode(changes: Changes, episode: Episode) -> None:
    """Erase one of several episodes; :func:`memstore.history.erasure.finish` ends it."""
    same = {episode.id, *episode_table.copies(changes.transaction, [episode.id])}
    same |= taken_table.twins_of_episodes(changes.transaction, same)
    texts = {}
    for one in episode_table.get_many(changes.transaction, sorted(same)).values():
        if one.content:  # else another of them was erased before
            blank_episode(changes, one)
            texts[one.id] = text_of(one)
    queries.Queries().forget(changes.transaction, erasures.EPISODE, texts)


def text_of(row: Fact | Episode) -> str:
    """Return all the words of a fact or an episode."""
    values = (value for value in vars(row).values() if isinstance(value, str | dict | list | tuple))
    return " ".join(value if isinstance(value, str) else repr(value) for value in values)


def blank_fact(changes: Changes, fact: Fact, dependents: Dependents) -> None:
    """Blank a fact everywhere but in the full-text index and in replies."""
    comparing = journal.comparing(changes.transaction, fact.id)
    at = fact.deleted_at or changes.moment
    changes.write(
        fact_table.erasure(fact, at),
        *fact_table.blanking(fact.id, at),
        line_counts.spoiling("fact_id", fact.id),
        *journal.forgetting_fact(changes.transaction, fact.id),
        taken_table.forgetting("fact_id", fact.id),
        *proposal_table.forgetting(changes.transaction, fact.id),
        *newer_table.forgetting(fact.id),
    )
    done: set[int] = set()
    for line in comparing:
        if line.kind != Kind.REDACT or {*(line.evidence or ())} != {LINE}:
            _redact(changes, line, done)
    dependents.forget_fact(changes, fact)


def _redact(
    changes: Changes, line: JournalLine, done: set[int], rest: Mapping[str, Any] = NOTHING_LEFT
) -> None:
    """Erase the evidence of a line; what is left of it stands in a line of its own.

    The other lines of a proposal have the same evidence, and lose the same. ``done`` are the lines
    of which that was done already.
    """
    same = [line]
    if line.kind == Kind.PROPOSE:
        same += _of_same_proposal(changes.transaction, line)
    for one in same:
        if one.id not in done:
            done.add(one.id)
            _redact_one(changes, one, rest)


def _of_same_proposal(transaction: Transaction, line: JournalLine) -> Iterator[JournalLine]:
    """Yield the lines of the same proposal about other facts."""
    facts = [one for one in (line.after or {}).get("consolidates", ()) if one != line.fact_id]
    if facts:
        about, _ = proposals.lines_about(transaction, facts)
        for one in about.get((line.after or {}).get("proposal", 0), ()):
            if one.kind == Kind.PROPOSE and one.evidence is not None:
                yield one


def _redact_one(changes: Changes, line: JournalLine, rest: Mapping[str, Any]) -> None:
    statements = journal.forgetting_evidence(changes.transaction, line.id)
    about = _redacted(changes.transaction, line)
    if about.kind == Kind.PROPOSE:
        proposal_id = (about.after or {}).get("proposal", 0)
        statements += proposal_table.forgetting_evidence(proposal_id, rest)
    lines = [{**rest, LINE: line.id}]
    if line.kind == Kind.REDACT:  # it said what became of another line, which stays true
        lines.append({LINE: (line.evidence or {}).get(LINE)})
    changes.write(
        [Line(Kind.REDACT, line.fact_id, line.episode_id, evidence=one) for one in lines],
        line_counts.spoiling_line(line.id),
        *statements,
    )


def _redacted(transaction: Transaction, line: JournalLine) -> JournalLine:
    """Return the line of which this one holds what is left, or the line itself."""
    while line.kind == Kind.REDACT:
        of = journal.matching(transaction, "id = :id", {"id": (line.evidence or {}).get(LINE)})
        if not of:
            break
        [line] = of
    return line


def blank_episode(changes: Changes, episode: Episode) -> None:
    """Blank an episode, and quotes of it, everywhere but in the full-text index."""
    if meta_table.is_set(changes.transaction, meta_table.TRUST):
        trust.keep_hidden(changes, episode.id)
    _unconfirm(changes, episode.id)
    changes.write(
        episode_table.erasure(episode),
        *journal.forgetting_episode(changes.transaction, episode.id),
        taken_table.forgetting("episode_id", episode.id),
        *episode_table.blanking(changes.transaction, episode),
        line_counts.spoiling("episode_id", episode.id),
    )
    reply_table.forget_episode(changes.transaction, episode.id)
    done: set[int] = set()
    for line in journal.caused_by(changes.transaction, episode.id):
        evidence = line.evidence or {}
        rest = {k: v for k, v in evidence.items() if not _is_quote(k, v, episode.content)}
        if len(rest) < len(evidence):
            _redact(changes, line, done, rest)


def _unconfirm(changes: Changes, episode_id: int) -> None:
    """Take back the confirmations of facts by an episode that is about to be erased."""
    transaction = changes.transaction
    by: dict[int, list[int]] = {}
    for confirmation in journal.confirmed_by(transaction, episode_id):
        by.setdefault(confirmation.fact_id or 0, []).append(confirmation.id)
    facts = fact_table.get_many(transaction, [*by])
    for fact_id, lines in by.items():
        if (fact := facts[fact_id]).status == "erased":
            continue
        speaking = supports.Supports.of_facts(transaction, [fact_id], lines)[fact_id]
        values = supports.confirmed(fact, journal.of_fact(transaction, fact_id), speaking)
        if values is None:
            continue  # they were taken back before
        current = fact_table.journalled(fact)
        line = Line(
            Kind.UNCONFIRM,
            fact_id,
            before={name: current.get(name) for name in values},
            after=values,
            evidence={"reverts": lines},
        )
        changes.write(line, fact_table.updating(fact_id, **values))


def _is_quote(name: str, value: Any, content: str) -> bool:
    return name == SAID or (isinstance(value, str) and value in content)
