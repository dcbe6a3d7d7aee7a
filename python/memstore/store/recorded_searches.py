"""What agents asked and were given, and which facts are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import searches as search_table
from memstore.domain import clock, plans, searches, zones
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    MAX_QUERY,
    checked_id,
    checked_ids,
    checked_items,
    checked_limit,
    checked_number,
    checked_page,
    checked_text,
    stored_text,
)
from memstore.domain.records import NOBODY, Scope
from memstore.facts import rules
from memstore.store import ledger
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.searches import GivenFact, RecordedSearch
    from memstore.facts.transactions import FactTransactions
    from memstore.file.file import File
    from memstore.search.index.visibility import Visible


class RecordedSearches(zones.Zoned):
    """What agents asked and which facts are used: ``searches`` of a :class:`memstore.Store`."""

    def __init__(self, file: File, facts: FactTransactions) -> None:
        self._file = file
        self._zone = file.zone
        self._facts = facts
        self._standing = facts.standing

    def record(
        self,
        query: str,
        *,
        facts: Iterable[int] = (),
        episodes: Iterable[int] = (),
        tool: str = "search",
        tokens: int | None = None,
        milliseconds: float | None = None,
        at: datetime | str | None = None,
    ) -> None:
        """Record what an agent asked, and what it was given, for :meth:`list`.

        The library records nothing by itself; ``memstore-mcp`` calls this for each search. It is
        written within some seconds, when no other writer is active, and is no part of the
        memories: the journal and exports do not have it. A read-only file records nothing.

        Args:
            query: what was asked. Secrets in it are redacted, unless the store keeps them.
            facts: the ids of the facts that were given, best first.
            episodes: the ids of the episodes that were given.
            tool: the tool or method that was called.
            tokens: the length of the answer.
            milliseconds: how long it took.
            at: when it was asked, if not now.
        """
        if self._file.read_only:
            return
        text = stored_text(query, "query")[:MAX_QUERY].replace("\x00", " ")
        screen = self._file.screen
        if screen.policy == "refuse":
            screen = Screen("redact")
        run, owners = self._facts.author.run, self._standing.selected
        self._file.search_record.note(
            searches.RecordedSearch(
                id=0,
                at=clock.moment(at, "at") or clock.utc_now(),
                namespace=self._standing.namespace,
                scope=NOBODY if owners is None else Scope(**owners.ids),
                actor=self._facts.author.actor,
                client=self._facts.author.source,
                run=None if run is None else clock.uuid_text(run),
                tool=checked_text(tool, "tool", MAX_NAME),
                query=screen.value(text, "query"),
                facts=tuple(checked_ids(facts, "facts")),
                episodes=tuple(checked_ids(episodes, "episodes")),
                tokens=tokens,
                milliseconds=milliseconds,
            )
        )

    def list(
        self,
        *,
        client: str | None = None,
        run: str | None = None,
        tool: str | None = None,
        fact: int | None = None,
        is_empty: bool | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        before: int | None = None,
        limit: int | None = 50,
    ) -> builtins.list[RecordedSearch]:
        """Return what agents asked in this namespace, and what they were given, newest first.

        The newest 10,000 searches of a file are kept for at most 30 days. A query is blank
        (``None``) after something was erased that it was given, or that had the same words.

        Args:
            client: only searches of this program.
            run: only searches of this session of a server.
            tool: only what was asked by this tool; ``prompt`` is what hooks added to prompts.
            fact: only searches that were given this fact.
            is_empty: whether nothing was given.
            since: only searches at or after this time.
            until: only searches at or before this time.
            before: only searches before the one with this id; with the last one of a page, the next
                page.
            limit: the maximum number; ``None`` for all.

        Raises:
            ValueError: a time, a run or a number that cannot be read.
        """
        checked_limit(limit)
        for value, name in ((fact, "fact"), (before, "before")):
            if value is not None:
                checked_id(value, name)
                checked_number(value, name, -MAX_NUMBER, MAX_NUMBER)
        self._file.write_searches()
        wanted = search_table.SearchFilter(
            (self._standing.namespace,),
            self._standing.selected,
            client=client,
            run=None if run is None else plans.run_bytes(run, "run"),
            tool=tool,
            fact=fact,
            is_empty=is_empty,
            since=ledger.first_time(self._file, self._standing, since),
            until=ledger.last_time(self._file, self._standing, until),
            before=before,
        )
        with self._file.engine.read() as transaction:
            return search_table.select(transaction, wanted, limit)

    def most_used(self, *, limit: int = 50) -> builtins.list[GivenFact]:
        """Return the active facts that recorded searches were given most often.

        Args:
            limit: the maximum number, 1 to 1000.
        """
        checked_number(limit, "limit", 1, 1000)
        self._file.write_searches()
        wanted = self._active()

        def most_used(transaction: Transaction, seen: Visible | None) -> builtins.list[GivenFact]:
            found = dict(search_table.most_given(transaction, wanted, limit, seen))
            facts = fact_table.get_many(transaction, [*found])
            return [searches.GivenFact(fact=facts[id_], searches=n) for id_, n in found.items()]

        return self._file.searches.reading_seen(wanted, most_used)

    def never_used(
        self, *, before_id: int | None = None, limit: int = 50
    ) -> builtins.list[GivenFact]:
        """Return the active facts that no recorded search was given, the newest first.

        Args:
            before_id: only facts with smaller ids; with the last one of a page, the next page.
            limit: the maximum number, 1 to 1000.
        """
        checked_number(limit, "limit", 1, 1000)
        checked_page(None, 0, before_id)
        self._file.write_searches()
        with self._file.engine.read() as transaction:
            ids = [*search_table.never_given(transaction, self._active(), before_id, limit)]
            facts = fact_table.get_many(transaction, ids)
        return [searches.GivenFact(fact=facts[id_], searches=0) for id_ in ids]

    def _active(self) -> FactFilter:
        standing = self._standing
        return FactFilter((standing.namespace,), clock.utc_now(), scope=standing.selected)

    def clear(self) -> int:
        """Remove the recorded searches of this namespace; return how many there were."""
        self._file.write_searches()
        with self._file.engine.write() as transaction:
            return search_table.remove(
                transaction, [self._standing.namespace], owners=self._standing.selected
            )

    def note_use(self, fact_ids: Iterable[int]) -> int:
        """Count one use of each fact; return how many of them are in this namespace."""
        ids = checked_items(fact_ids, "fact_ids")
        for fact_id in ids:
            checked_id(fact_id, "fact_ids")
        with self._file.engine.write() as transaction:
            if self._standing.bound is not None:
                known = fact_table.get_many(transaction, ids).values()
                ids = [fact.id for fact in known if rules.is_seen(fact, self._standing)]
            uses, now = dict.fromkeys(ids, 1), clock.utc_now()
            return sum(
                fact_table.touch(transaction, uses, namespace, now)
                for namespace in self._facts.namespaces
            )
