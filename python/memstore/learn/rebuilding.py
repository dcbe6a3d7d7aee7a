"""Deriving the facts of the episodes again, without undoing what people changed.

Each episode is reconciled in one transaction, so that an interrupted run continues where it
stopped. A fact that is found again keeps its row; if nothing differs, nothing is written.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database.tables import episodes as episode_table
from memstore.database.tables.readings import CLOSED, EXTRACT
from memstore.errors import GeneratorError, GeneratorUnavailable, LearningError, NotFound
from memstore.learn.comparison import claim_of
from memstore.learn.conversation import CONVERSATION
from memstore.learn.reading import facts_in, said_at
from memstore.learn.reconcile import Reconciler
from memstore.prompting.reading_log import ReadingOptions
from memstore.store.store import facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Progress
    from memstore.domain.episodes import Episode
    from memstore.domain.records import AtLeast, NewFact, Scope
    from memstore.learn.comparison import Comparison
    from memstore.learn.reading import EpisodeReader
    from memstore.store.store import Store

MAX_PASSES: Final = 5
"""The most passes over the episodes; another one is needed only if a fact was withdrawn."""

LEFT: Final = {
    "conversations": "conversations left alone {}: their decisions depended on earlier memories",
    "closed": "episodes left alone since a fact of them was erased {}",
    "expired": "expired episodes left unread {}",
}
"""The reasons for which episodes are skipped, as reported."""

NAMED: Final = 10
"""How many episodes an error names; the others are counted."""


def rebuild(
    store: Store,
    reader: EpisodeReader,
    comparison: Comparison,
    owners: Scope | AtLeast | None,
    progress: Progress | None,
) -> list[str]:
    """Derive facts from the log again; see :meth:`memstore.Extractor.rebuild`."""
    with facts_of(store).reading() as transaction:
        ids = episode_table.ids(transaction, store.namespace, owners)
    work = _Rebuilding(store, reader, comparison)
    for _ in range(MAX_PASSES):
        if not work.go_over(ids, progress):
            break
        progress = None
    if work.failures:
        raise _failed(work) from next(iter(work.failures.values()))
    return work.report()


class _Rebuilding:
    def __init__(self, store: Store, reader: EpisodeReader, comparison: Comparison) -> None:
        self._store = store
        self._reader = reader
        self._reconciler = Reconciler(store, comparison)
        self._done: Counter[str] = Counter()
        self._unavailable = False
        self.failures: dict[int, GeneratorError] = {}

    def go_over(self, ids: Sequence[int], progress: Progress | None) -> bool:
        """Reconcile every episode, oldest first; return whether a fact was withdrawn.

        If so, another pass is needed: an earlier episode may have the same claim, which it did not
        store because that fact existed.
        """
        before = self._reconciler.done["withdrawn"]
        for name in ("episodes", *LEFT):
            self._done[name] = 0
        for done, episode_id in enumerate(ids):
            if progress is not None:
                progress(done, len(ids))
            if episode_id in self.failures:
                continue
            try:
                episode = self._store.episodes.get(episode_id)
            except NotFound:  # erased in the meantime
                continue
            self.reconcile(episode)
        if progress is not None:
            progress(len(ids), len(ids))
        return self._reconciler.done["withdrawn"] > before

    def report(self) -> list[str]:
        n = self._done + self._reconciler.done
        sentences = [
            f"derived facts from the log again: episodes read {n['episodes']}, questions to the "
            f"model {n['asked']}, facts added {n['added']}, deleted because they were not found "
            f"again {n['withdrawn']}, restored {n['returned']}"
        ]
        sentences += [why.format(n[name]) for name, why in LEFT.items() if n[name]]
        return sentences

    def reconcile(self, episode: Episode) -> None:
        """Reconcile the facts of an episode with its text, or note why it cannot be read."""
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
        self._reconciler.reconcile(episode, wanted, when)
        self._store.readings.end_learning(episode.id)

    def _how(self, episode: Episode) -> list[ReadingOptions]:
        """Return the options to read an episode with; empty if it is skipped."""
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
        """Return the claims of an episode, each once."""
        found: dict[tuple[str, str], NewFact] = {}
        for options in how:
            replies = self._reader.begin(episode, options, only_kept=self._unavailable)
            try:
                items = self._reader.read(episode, options, replies)
            finally:
                self._done["asked"] += replies.questions
            for new in facts_in(episode, items, EXTRACT, options.at, options.metadata):
                found.setdefault(claim_of(new), new)
        return found


def _failed(work: _Rebuilding) -> LearningError:
    ids = [*work.failures]
    first = work.failures[ids[0]]
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return LearningError(
        f"episodes {', '.join(map(str, ids[:NAMED]))}{more} could not be read and were left "
        f"alone: {first} (the rest is done: {'; '.join(work.report())}; another rebuild continues)",
        step="extract",
        episode_id=ids[0],
        remedy=first.remedy,
    )
