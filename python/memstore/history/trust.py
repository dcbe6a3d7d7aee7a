"""Reads from the journal how much facts and episodes count: the trust of a fact's best support."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.changes import Changes, Line
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import support as support_table
from memstore.domain.support import SupportKind
from memstore.domain.trust import Credit, Trust, TrustChange, TrustTable
from memstore.errors import Conflict, Remedy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from memstore.database import acts
    from memstore.database.engine import Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import distrusted as distrusted_table
    from memstore.database.tables.distrusted import HiddenTable
    from memstore.database.tables.support import Spoken, SupportRow
    from memstore.domain.records import NewFact

    Judge: TypeAlias = Callable[[Transaction, Sequence[int], TrustTable], Mapping[int, Credit]]
else:
    acts = lazy_import("memstore.database.acts")
    distrusted_table = lazy_import("memstore.database.tables.distrusted")

BATCH: Final = 2000
"""Facts and episodes that are judged at once."""

NO_SUPPORT: Final = Credit(Trust.TOOL)
"""Of a fact whose episode was erased."""


def table(transaction: Transaction) -> TrustTable:
    """Return what sources count in this file."""
    stored = meta_table.get(transaction, meta_table.TRUST)
    if stored is None:
        return TrustTable()
    return read_table(json.loads(stored))


def table_at(transaction: Transaction, line: int) -> TrustTable:
    """Return what sources counted at a line of the journal."""
    is_set = meta_table.is_set(transaction, meta_table.TRUST)
    return _journalled(transaction, line) if is_set else TrustTable()


def _journalled(transaction: Transaction, line: int = NO_LIMIT) -> TrustTable:
    changes = journal.of_sources(transaction, line)
    return read_table(changes[-1].after or {}) if changes else TrustTable()


def read_table(values: Mapping[str, Any]) -> TrustTable:
    """Return the table that a line of the journal holds."""
    return TrustTable(dict(values.get("levels") or {}), tuple(values.get("distrusted") or ()))


def distrusted_at(transaction: Transaction, fact_ids: Collection[int], line: int) -> set[int]:
    """Return which facts were distrusted at a line of the journal.

    What was erased since speaks for nothing, so a fact that rested on it too counts as distrusted
    then. It takes as long as there are changes since; if the sources that counted then differ from
    those of today, as long as there are facts.
    """
    levels = table_at(transaction, line)
    if not levels.distrusted:
        return set()
    known, asked = set[int](), {*fact_ids}
    if levels == table(transaction):
        changed = {*distrusted_table.touched(transaction, line + 1).facts}
        known = {*distrusted_table.FACTS.ids(transaction)} & asked - changed
        asked &= changed
    for ids in _batches(sorted(asked)):
        known |= {*_hidden(of_facts(transaction, ids, levels, line))}
    return known


def distrusted_episodes_at(
    transaction: Transaction, episode_ids: Collection[int], line: int
) -> set[int]:
    """Return which episodes were distrusted at a line of the journal, without the erased ones."""
    levels = table_at(transaction, line)
    if not levels.distrusted:
        return set()
    if levels == table(transaction):
        return {*distrusted_table.EPISODES.ids(transaction)} & {*episode_ids}
    batches = _batches(sorted(episode_ids))
    return {id_ for ids in batches for id_ in _hidden(of_episodes(transaction, ids, levels))}


def put(transaction: Transaction, author: Author, changed: TrustTable, kind: Kind) -> TrustChange:
    """Set what sources count; the journal keeps the whole table before and after.

    What rests on distrusted sources alone is hidden from now on.
    """
    before = table(transaction)
    line = Line(kind, before=before.to_dict(), after=changed.to_dict())
    Changes(transaction, author).write(line)
    _keep(transaction, changed)
    judged = judge_all(transaction) if before.distrusted or changed.distrusted else ()
    return TrustChange(changed.effective, *judged)


def repeat(
    transaction: Transaction,
    author: Author,
    source: str,
    level: str,
    *,
    is_distrusted: bool,
    said_at: datetime,
) -> None:
    """Set what a source counts as another device did; :func:`judge_all` follows.

    Args:
        author: who set it there.
        source: in the form in which sources are compared.
        level: empty for what holds if nothing is set.
        said_at: when it was set there.
    """
    before = table(transaction)
    levels = {name: one for name, one in before.levels.items() if name != source}
    if level:
        levels[source] = level
    distrusted = {*before.distrusted} - {source} | ({source} if is_distrusted else set())
    after = TrustTable(levels, tuple(sorted(distrusted)))
    kind = Kind.DISTRUST if is_distrusted else Kind.TRUST
    line = Line(kind, before=before.to_dict(), after=after.to_dict(), said_at=said_at)
    Changes(transaction, author).write(line)
    _keep(transaction, after)


def bring_in(
    transaction: Transaction,
    author: Author,
    levels: Mapping[str, str],
    *,
    is_empty: bool,
    dry_run: bool = False,
) -> tuple[int, tuple[str, ...]]:
    """Take over what sources count in another file.

    Only a memory without anything in it takes levels over: elsewhere they would hide what is
    there, or let what arrives retire it.

    Args:
        is_empty: whether the file has neither facts nor episodes.
        dry_run: write nothing.

    Returns:
        How many levels were taken over, and the sources whose level stays different.
    """
    before = table(transaction)
    differing = tuple(sorted(n for n, one in levels.items() if before.effective.get(n) != one))
    if not differing or not is_empty or before.chosen:
        return 0, differing
    if dry_run:
        return len(differing), ()
    distrusted = tuple(sorted(n for n, one in levels.items() if one == Trust.DISTRUSTED))
    kept = {name: one for name, one in levels.items() if name not in distrusted}
    put(transaction, author, TrustTable(kept, distrusted), Kind.TRUST)
    return len(differing), ()


def _keep(transaction: Transaction, levels: TrustTable) -> None:
    acts.of(transaction).has_levels = True
    meta_table.put(transaction, meta_table.TRUST, json.dumps(levels.to_dict(), ensure_ascii=False))


def settle(transaction: Transaction) -> None:
    """Judge again what the lines of this transaction are about."""
    levels = table(transaction)
    if levels.distrusted:
        touched = distrusted_table.touched(transaction, acts.of(transaction).txn)
        _judge_facts(transaction, levels, touched.facts)
        _judge_episodes(transaction, levels, touched.episodes)


def keep_hidden(changes: Changes, episode_id: int) -> None:
    """Journal which hidden facts rest on an episode alone that is about to be erased.

    They stay hidden: erasing what nobody should believe must not make anybody believe it.
    """
    transaction = changes.transaction
    levels = table(transaction)
    said = support_table.spoken(transaction, [episode_id])
    if not said or _spoken(levels, said[0]).trust is not Trust.DISTRUSTED:
        return
    facts = distrusted_table.of_episodes(transaction, [episode_id])
    supports = support_table.speaking(support_table.of_facts(transaction, facts))
    rests = {support.fact_id for support in supports if support.episode_id == episode_id}
    rests -= {support.fact_id for support in supports if support.episode_id != episode_id}
    if rests:
        why = {"sources": sorted(levels.distrusting(said[0].source, said[0].through))}
        changes.write([Line(Kind.DISTRUST, one, evidence=why) for one in sorted(rests)])


def judge_all(transaction: Transaction) -> tuple[int, int, int, int]:
    """Judge every fact and episode again.

    Returns:
        How many facts left searches and lists, and came back; the same for episodes.
    """
    levels = table(transaction)
    for hidden in (distrusted_table.FACTS, distrusted_table.EPISODES):
        hidden.forget_others(transaction)
    facts, episodes = (
        [judge(transaction, levels, ids) for ids in _batches(rows.all_ids(transaction))]
        for rows, judge in ((fact_table, _judge_facts), (episode_table, _judge_episodes))
    )
    return (*_sum(facts), *_sum(episodes))


def misread(transaction: Transaction) -> Iterator[str]:
    """Yield the sources whose level differs from the journal."""
    now, right = table(transaction).effective, _journalled(transaction).effective
    yield from (name for name in sorted({*now, *right}) if now.get(name) != right.get(name))


def rebuild(transaction: Transaction) -> bool:
    """Restore the table of sources and what is hidden; return whether anything was wrong."""
    was_wrong = any(misread(transaction))
    if was_wrong:
        _keep(transaction, _journalled(transaction))
    return any(judge_all(transaction)) or was_wrong


def misjudged(transaction: Transaction) -> list[int]:
    """Return the facts that are hidden and should not be, or the other way round."""
    every = fact_table.all_ids(transaction)
    return _misjudged(transaction, distrusted_table.FACTS, every, of_facts)


def misjudged_episodes(transaction: Transaction) -> list[int]:
    every = episode_table.all_ids(transaction)
    return _misjudged(transaction, distrusted_table.EPISODES, every, of_episodes)


def _misjudged(
    transaction: Transaction, hidden: HiddenTable, every: Sequence[int], judge: Judge
) -> list[int]:
    levels, right = table(transaction), set[int]()
    for ids in _batches(every if levels.distrusted else ()):
        right |= {*_hidden(judge(transaction, ids, levels))}
    return sorted(right ^ {*hidden.ids(transaction)})


def _judge_facts(
    transaction: Transaction, levels: TrustTable, fact_ids: Sequence[int]
) -> tuple[int, int]:
    hidden = _hidden(of_facts(transaction, fact_ids, levels)) if levels.distrusted else []
    return distrusted_table.FACTS.change(transaction, fact_ids, hidden)


def _judge_episodes(
    transaction: Transaction, levels: TrustTable, episode_ids: Sequence[int]
) -> tuple[int, int]:
    hidden = _hidden(of_episodes(transaction, episode_ids, levels)) if levels.distrusted else []
    return distrusted_table.EPISODES.change(transaction, episode_ids, hidden)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def _sum(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(hidden for hidden, _ in counts), sum(shown for _, shown in counts)


def _hidden(found: Mapping[int, Credit]) -> list[int]:
    return [id_ for id_, credit in found.items() if credit.trust is Trust.DISTRUSTED]


def of_episodes(
    transaction: Transaction, episode_ids: Sequence[int], known: TrustTable | None = None
) -> dict[int, Credit]:
    """Return what episodes count, by id."""
    levels = known or table(transaction)
    return {
        said.id: _spoken(levels, said) for said in support_table.spoken(transaction, episode_ids)
    }


def of_facts(
    transaction: Transaction,
    fact_ids: Sequence[int],
    known: TrustTable | None = None,
    until: int = NO_LIMIT,
) -> dict[int, Credit]:
    """Return what facts count, by id: as much as the best of what speaks for each.

    With ``until``, a line of the journal, what spoke for each then.
    """
    if not fact_ids:
        return {}
    levels = known or table(transaction)
    rows = support_table.speaking(support_table.of_facts(transaction, fact_ids, until))
    best = _best(transaction, levels, rows)
    if without := [fact_id for fact_id in fact_ids if fact_id not in best]:
        # A fact that nothing speaks for, because that was taken back, counts no more than it did.
        best |= _best(transaction, levels, support_table.taken_back(transaction, without, until))
        if levels.distrusted:
            orphans = support_table.orphaned(transaction, without)
            best |= {id_: _orphan(levels, sources) for id_, sources in orphans.items()}
    return {fact_id: best.get(fact_id, NO_SUPPORT) for fact_id in fact_ids}


def _best(
    transaction: Transaction, levels: TrustTable, rows: Sequence[SupportRow]
) -> dict[int, Credit]:
    """Return what the best of these supports of each fact counts."""
    said_in = {row.episode_id for row in rows if row.episode_id is not None}
    spoken = {said.id: said for said in support_table.spoken(transaction, [*said_in])}
    best: dict[int, Credit] = {}
    for row in rows:
        credit = _support(levels, row, spoken)
        held = best.get(row.fact_id)
        if held is None or credit.trust.rank > held.trust.rank:
            best[row.fact_id] = credit
    return best


def _orphan(levels: TrustTable, sources: Sequence[str]) -> Credit:
    """Return what a fact counts all of whose supports were erased while they were distrusted."""
    left = [one for one in sources if one in levels.distrusted]
    return Credit(Trust.DISTRUSTED, left[0]) if left else NO_SUPPORT


def of_new(transaction: Transaction, author: Author, new: NewFact) -> Credit:
    """Return what a fact that is about to be stored counts."""
    levels = table(transaction)
    kind = SupportKind.SAID if new.derivation is None else SupportKind.EXTRACTED
    row = support_table.SupportRow(
        0, 0, kind, new.episode_id, "", author.actor, author.source, new.source
    )
    said_in = [] if new.episode_id is None else [new.episode_id]
    return _support(
        levels, row, {one.id: one for one in support_table.spoken(transaction, said_in)}
    )


def outranking(transaction: Transaction, author: Author, fact_ids: Sequence[int]) -> list[int]:
    """Return which of these facts somebody may not change, because they count more than he does.

    An agent acts for the person that it works for, so only those who count less than an agent are
    held to what each fact counts. Of what counts less, a change is a proposal at most.
    """
    own = of_author(transaction, author)
    if own.trust.rank >= Trust.AGENT.rank:
        return []
    found = of_facts(transaction, fact_ids)
    return [id_ for id_, credit in found.items() if credit.trust.rank > own.trust.rank]


def check_acts(transaction: Transaction, author: Author, fact_ids: Sequence[int]) -> None:
    """Raise ``Conflict`` if one of these facts counts more than who wants to change it.

    Every act on a stored fact asks this: deleting, restoring, expiring, erasing, pinning, changing
    metadata, deciding about proposals, taking acts back.
    """
    if more := outranking(transaction, author, fact_ids):
        raise Conflict(
            f"{author.source!r} counts less than fact {more[0]}, which was not changed",
            remedy=Remedy.TRUST_SOURCE,
        )


def check_episodes(transaction: Transaction, author: Author, episode_ids: Sequence[int]) -> None:
    """Raise ``Conflict`` if one of these episodes counts more than who wants to change it."""
    own = of_author(transaction, author)
    if own.trust.rank >= Trust.AGENT.rank:
        return
    for id_, credit in of_episodes(transaction, episode_ids).items():
        if credit.trust.rank > own.trust.rank:
            raise Conflict(
                f"{author.source!r} counts less than episode {id_}, which was not changed",
                remedy=Remedy.TRUST_SOURCE,
            )


def check_decides(transaction: Transaction, author: Author) -> None:
    """Raise ``Conflict`` for text of others that wants to decide about the memory as a whole."""
    if of_author(transaction, author).is_foreign:
        raise Conflict(
            f"{author.source!r} counts less than who decides about this; nothing was changed",
            remedy=Remedy.TRUST_SOURCE,
        )


def check_repeats(transaction: Transaction, author: Author) -> None:
    """Raise ``Conflict`` for an author who may not import an export.

    An import repeats the acts of others under their names, also on facts that are known here. So it
    is refused to an author whose own acts are checked against each fact (:func:`outranking`).
    """
    if of_author(transaction, author).trust.rank < Trust.AGENT.rank:
        raise Conflict(
            f"{author.source!r} counts less than those whose acts an export repeats; nothing was"
            " imported",
            remedy=Remedy.TRUST_SOURCE,
        )


def of_author(transaction: Transaction, author: Author) -> Credit:
    """Return what somebody's acts count, without a text."""
    return table(transaction).credit(author.actor, None, author.source)


def is_person(transaction: Transaction, author: Author) -> bool:
    """Return whether what somebody decides, without a text, is a person's decision."""
    return of_author(transaction, author).trust is Trust.PERSON


def _support(levels: TrustTable, row: SupportRow, spoken: Mapping[int, Spoken]) -> Credit:
    own = levels.credit(row.actor, row.cited, row.through)
    episode = spoken.get(row.episode_id or 0)
    if episode is None:
        return own
    said = _spoken(levels, episode)
    # What a model reads counts as much as the text; what somebody says of it, no more than they do.
    if row.kind != SupportKind.SAID and own.source != row.cited:
        return said
    return min(said, own, key=lambda one: one.trust.rank)


def _spoken(levels: TrustTable, said: Spoken) -> Credit:
    return levels.credit(said.actor, said.source, said.through, said.speaker)


def counts_more(transaction: Transaction, fact_id: int | None, episode_id: int | None) -> bool:
    """Return whether a fact counts more than what an episode says."""
    if fact_id is None or episode_id is None:
        return False
    said = of_episodes(transaction, [episode_id]).get(episode_id)
    if said is None or said.trust is Trust.PERSON:
        return False
    return said.trust.rank < of_facts(transaction, [fact_id])[fact_id].trust.rank


def foreign_facts(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, str]:
    """Return the facts that rest on text of others alone, each with its source."""
    return _foreign(of_facts(transaction, fact_ids))


def foreign_episodes(transaction: Transaction, episode_ids: Sequence[int]) -> dict[int, str]:
    return _foreign(of_episodes(transaction, episode_ids))


def _foreign(found: Mapping[int, Credit]) -> dict[int, str]:
    return {id_: credit.source or "" for id_, credit in found.items() if credit.is_foreign}
