"""Deriving again: the facts in the log, drawn from it anew, and what people did left as it is.

Each episode is settled by itself, in one transaction, so that what was cut off goes on where it
stopped. What comes out again is the very same row; nothing is written where nothing differs.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database.tables import derivations as derivation_table
from memstore.database.tables.readings import CLOSED, EXTRACT
from memstore.errors import (
    GeneratorError,
    GeneratorUnavailable,
    LearningError,
    NotFound,
)
from memstore.learn.conversation import CONVERSATION
from memstore.learn.reading import facts_in, said_at
from memstore.learn.reconcile import Settling
from memstore.prompting.reading_log import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Progress
    from memstore.domain.records import Episode, NewFact, Scope
    from memstore.learn.comparison import Comparison
    from memstore.learn.reading import Reader
    from memstore.store.store import Store

MOST_PASSES: Final = 5
"""How often the log is gone over; the second time only where a fact was withdrawn in the first."""

LEFT: Final = {
    "conversations": "conversations left alone {}: what was decided then rested on what was held",
    "closed": "episodes left alone since a fact of them was erased {}",
    "expired": "expired episodes left unread {}",
}
"""What is not derived again, and why."""

NAMED: Final = 10
"""Episodes named in a message; the rest are counted."""


def rebuild(
    store: Store,
    reader: Reader,
    comparison: Comparison,
    scope: Scope | None,
    progress: Progress | None,
) -> list[str]:
    """Derive facts from the log again; see :meth:`memstore.Extractor.rebuild`."""
    with store.facts.reading() as transaction:
        ids = derivation_table.episode_ids(transaction, store.namespace, scope)
    work = _Rebuilding(store, reader, comparison)
    for _ in range(MOST_PASSES):
        if not work.go_over(ids, progress):
            break
        progress = None
    if work.failures:
        raise _failed(work)
    return work.told()


class _Rebuilding:
    """One run over the log."""

    def __init__(self, store: Store, reader: Reader, comparison: Comparison) -> None:
        self._store = store
        self._reader = reader
        self._settling = Settling(store, comparison)
        self._done: Counter[str] = Counter()
        self._unavailable = False
        self.failures: dict[int, GeneratorError] = {}

    def go_over(self, ids: Sequence[int], progress: Progress | None) -> bool:
        """Settle every episode, oldest first.

        Returns:
            Whether a fact was withdrawn. An episode before may have said the same, and stored
            nothing because that fact was there: then it is to be gone over once more.
        """
        before = self._settling.done["withdrawn"]
        for name in ("episodes", *LEFT):
            self._done[name] = 0
        for done, episode_id in enumerate(ids):
            if progress is not None:
                progress(done, len(ids))
            if episode_id in self.failures:
                continue
            try:
                episode = self._store.episodes.get(episode_id)
            except NotFound:  # erased meanwhile
                continue
            self.settle(episode)
        if progress is not None:
            progress(len(ids), len(ids))
        return self._settling.done["withdrawn"] > before

    def told(self) -> list[str]:
        """Say what was done, a sentence each."""
        n = self._done + self._settling.done
        sentences = [
            f"derived facts from the log again: episodes read {n['episodes']}, questions to the "
            f"model {n['asked']}, facts added {n['added']}, deleted as they no longer come out "
            f"{n['withdrawn']}, of such brought back {n['returned']}"
        ]
        sentences += [why.format(n[name]) for name, why in LEFT.items() if n[name]]
        return sentences

    def settle(self, episode: Episode) -> None:
        """Make the facts of an episode what it says, or note why it cannot be read."""
        how = self._how(episode)
        if not how:
            return
        try:
            wanted = self._wanted(episode, how)
        except GeneratorError as error:
            self._unavailable = self._unavailable or isinstance(error, GeneratorUnavailable)
            self.failures[episode.id] = error
            return
        self._done["episodes"] += 1
        when = max(said_at(episode, options) for options in how)
        self._settling.settle(episode, wanted, when)

    def _how(self, episode: Episode) -> list[ReadingOptions]:
        """Return how an episode is to be read; nothing for one that is left alone."""
        readings = self._store.readings.of(episode.id)
        kinds = {row.kind for row in readings}
        if CLOSED in kinds:
            self._done["closed"] += 1
            return []
        if EXTRACT in kinds:
            return [ReadingOptions.from_text(row.asked) for row in readings if row.kind == EXTRACT]
        if kinds or episode.source == CONVERSATION:
            self._done["conversations"] += 1
            return []
        if episode.status == "expired":
            self._done["expired"] += 1
            return []
        return [self._reader.usual(episode)]

    def _wanted(
        self, episode: Episode, how: Sequence[ReadingOptions]
    ) -> dict[tuple[str, str], NewFact]:
        """Return what an episode says, each claim once, by subject and words."""
        found: dict[tuple[str, str], NewFact] = {}
        for options in how:
            replies = self._reader.begin(episode, options, only_kept=self._unavailable)
            try:
                items = self._reader.read(episode, options, replies)
            finally:
                self._done["asked"] += replies.asked
            for new in facts_in(episode, options, items):
                found.setdefault((new.subject.strip(), new.content), new)
        return found


def _failed(work: _Rebuilding) -> LearningError:
    ids = [*work.failures]
    first = work.failures[ids[0]]
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    error = LearningError(
        f"episodes {', '.join(map(str, ids[:NAMED]))}{more} could not be read and were left as "
        f"they are: {first} (the rest is done: {'; '.join(work.told())}; rebuild again to go on)",
        step="extract",
        episode_id=ids[0],
        remedy=first.remedy,
    )
    error.__cause__ = first
    return error
