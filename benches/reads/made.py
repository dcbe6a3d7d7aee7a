"""A memory in which everything that can be large is: acts, subjects, owners, threads, chains.

A batch of 5,000 facts is one act. Two fifths of the batches spread over a year, and the others are
of the last day, as after an import.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import memstore
from benches.language import CATEGORIES, TOPICS, Language
from memstore import NewEpisode, NewFact, Scope, Store
from memstore.domain import clock

BATCH = 5_000
SUBJECTS = 20_000
OWNERS = 10_000
NAMESPACES_IN_A_BATCH = 5
SMALL = 50
"""Facts of a batch in each of these namespaces."""
LARGE = "the large one"
USER = "user"
ANA = "ana"
THREAD = "the long one"
WEB = "web:example.org"
CHAIN = "version 0 of the chain"
DAYS = 365
SPREAD = 0.4
LAST = 20
"""The last batches are followed by nothing else, so that the newest acts are large ones."""


class Moving(clock.Clock):
    """A clock that is moved by hand, so that the journal covers a year."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def utc_now(self) -> datetime:
        return self.at


def fill(path: Path, number: int) -> None:
    """Write a memory of so many facts with the built-in model, and its graph.

    Nothing is left for the background: all is embedded, and compared.
    """
    now, batches = clock.utc_now(), number // BATCH
    moving = Moving(now - timedelta(days=DAYS + 1))
    with clock.use(moving), memstore.open(path, durability="normal", source="bench") as store:
        writing = _Batches(store)
        for place in range(batches):
            ago = max(0.0, 1 - place / (SPREAD * batches))
            moving.at = now - timedelta(days=DAYS * ago, minutes=batches - place)
            writing.add(place, alone=place >= batches - LAST)
        store.graph.build()
        store.file.embed_pending()
        store.file.warm()  # without an index, facts of large groups wait to be compared
        store.file.searches.comparisons.run()
        store.file.save_index()


class _Batches:
    """Each adds 5,000 facts and 500 episodes, and changes some facts one by one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._language = Language(seed=7)
        self._chance = Random(5)
        self._chain = store.add(CHAIN, subject="chain").id

    def add(self, batch: int, *, alone: bool = False) -> None:
        store, first = self._store, batch * BATCH
        others = NAMESPACES_IN_A_BATCH * SMALL
        added = store.add_many(self._fact(first + place) for place in range(BATCH - others))
        if alone:
            return
        for number in range(NAMESPACES_IN_A_BATCH):
            other = store.within(f"project {batch * NAMESPACES_IN_A_BATCH + number}")
            other.add_many(self._plain(first + place) for place in range(SMALL))
        store.episodes.add_many(self._turns(batch))
        own = [one for one in added if one.scope == Scope() and one.subject != LARGE]
        ids = [one.id for one in own if one.subject != USER]
        for old, new in zip(ids[0:200:2], ids[1:200:2], strict=True):
            store.supersede(old, new, any_subject=True)
        for old in ids[200:220]:
            store.delete(old)
        for old in ids[220:225]:
            store.confirm(old)
            text = f"{self._language.text(5, 9)} {old}"
            self._chain = store.add(text, subject="chain", supersedes=self._chain).id
        store.pin(ids[230])
        self._propose([one.id for one in own if one.subject == USER])
        self._tasks(batch)
        for number in range(50):
            given = self._chance.sample(ids[300:], 5)
            store.searches.record(self._language.question(), facts=given, milliseconds=number)
            store.searches.note_use(given)
        store.file.write_searches()
        store.file.write_use_counts()

    def _fact(self, place: int) -> NewFact:
        chance = self._chance
        owner = ANA if place % 20 == 3 else f"user {place % OWNERS}" if place % 10 == 7 else None
        threaded = place % 20 == 9
        return NewFact(
            content=self._language.text(5, 25),
            subject=self._subject(place),
            category=chance.choice(CATEGORIES),
            metadata={"project": chance.choice(TOPICS)} if place % 4 == 0 else None,
            user_id=owner,
            source=WEB if place % 1_000 == 1 else None,
            thread=THREAD if threaded else None,
            seq=place if threaded else None,
            external_key=f"notes/{place % 100}/{place}" if place % 30 == 5 else None,
            expired_at=clock.utc_now() + timedelta(days=30) if place % 100 == 11 else None,
        )

    def _plain(self, place: int) -> NewFact:
        return NewFact(content=self._language.text(5, 25), subject=self._subject(place))

    def _subject(self, place: int) -> str:
        if place % 20 == 2:
            return LARGE
        return USER if place % 100 == 21 else f"subject {place * 7919 % SUBJECTS}"

    def _turns(self, batch: int) -> Iterator[NewEpisode]:
        for place in range(500):
            speaker = "user" if place % 2 == 0 else "assistant"
            long = place < 250
            yield NewEpisode(
                content=self._language.text(8, 60),
                source="claude-code",
                thread=THREAD if long else f"session {batch}.{place // 25}",
                seq=batch * 500 + place,
                speaker=speaker,
                tags=("session",) if not long else ("bench",) if place % 10 == 0 else (),
                user_id=ANA if place % 10 == 3 else None,
            )

    def _propose(self, about_the_user: list[int]) -> None:
        for old, new in zip(about_the_user[0:10:2], about_the_user[1:10:2], strict=True):
            self._store.proposals.put_forward(
                [old, new], self._language.text(5, 20), {"by": "bench"}
            )

    def _tasks(self, batch: int) -> None:
        for number in range(10):
            task = self._store.tasks.create(
                self._language.text(4, 9), priority=("high", "normal", "low")[number % 3]
            )
            if number > 0 or batch % 5:
                self._store.tasks.update(task.id, "completed")
