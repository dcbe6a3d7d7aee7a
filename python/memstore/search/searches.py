"""The searches of a file, over facts and over episodes."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.results import WordsOnly
from memstore.errors import EmbedderError, Reason, StorageError
from memstore.lazy import cached_property, lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.engine import Engine, Transaction
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.database.tables import counts
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.queries import Page
    from memstore.domain.records import Fact, SearchHits
    from memstore.embedding import embedding
    from memstore.embedding.current import CurrentEmbedder
    from memstore.search import comparing, corpus, hybrid, listing, newer
    from memstore.search.hybrid import Search
    from memstore.search.index import visibility
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.index import Index, IndexFigures
    from memstore.search.index.visibility import Visible
    from memstore.text.judging.judge import Rule

    FactSearch: TypeAlias = Search[FactFilter, SearchHits]
    EpisodeSearch: TypeAlias = Search[EpisodeFilter, EpisodeHits]
else:
    comparing = lazy_import("memstore.search.comparing")
    corpus = lazy_import("memstore.search.corpus")
    counts = lazy_import("memstore.database.tables.counts")
    episode_table = lazy_import("memstore.database.tables.episodes")
    embedding = lazy_import("memstore.embedding.embedding")
    hybrid = lazy_import("memstore.search.hybrid")
    listing = lazy_import("memstore.search.listing")
    newer = lazy_import("memstore.search.newer")
    visibility = lazy_import("memstore.search.index.visibility")

T = TypeVar("T")

NO_EMBEDDER: Final = WordsOnly("no_embedder", Reason("this store has no embedder"))

PAUSE_SECONDS: Final = 0.5
"""How long after a search facts are compared."""

CLOSING_SECONDS: Final = 10.0
"""How long closing waits for the group that is being compared."""


class Comparisons:
    """Compares facts in a thread of its own, after a search has seen that some wait.

    The module is loaded by then: a command that searches once has ended.
    """

    def __init__(self, engine: Engine, index: Callable[[], Index], *, is_off: bool) -> None:
        """Compare facts of a file; nothing happens if ``is_off``, except for :meth:`again`.

        Args:
            index: returns the index of facts.
        """
        self._engine = engine
        self._index = index
        self._is_off = is_off
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._ended = threading.Event()

    def start(self) -> None:
        """Compare in the background, unless that is being done."""
        if self._is_off:
            return
        with self._starting:
            if self._ended.is_set() or (self._worker is not None and self._worker.is_alive()):
                return
            self._worker = threading.Thread(target=self._work, name="memstore-newer", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        # What is stored together is then compared together, and the search has counted its hits.
        if clock.wait(self._ended, PAUSE_SECONDS):
            return
        # If the file is busy or closed, a later search has them compared.
        with suppress(StorageError):
            comparing.work(self._engine, self._index(), self._ended)

    def run(self) -> None:
        """Compare all that waits."""
        comparing.run(self._engine, self._index(), lambda: not self._ended.is_set())

    def again(self) -> None:
        """Forget what was said of all facts, and compare them now."""
        comparing.forget(self._engine)
        self._index().prepare()  # large groups need it
        self.run()

    def finish(self) -> None:
        """Compare before the program ends, if so much waits that a search would judge it all."""
        if not self._is_off and newer.waits_long(self._engine):
            with suppress(StorageError):
                self.run()

    def close(self) -> None:
        self._ended.set()
        with self._starting:
            worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(CLOSING_SECONDS)


class Searches:
    """Both searches, each with its index."""

    def __init__(
        self,
        engine: Engine,
        embedder: CurrentEmbedder | None,
        *,
        read_only: bool = False,
        compares: bool = True,
    ) -> None:
        """Search a file; ``compares`` says whether what is newer is stored for later searches."""
        self._compares = compares and not read_only
        self._engine = engine
        self._embedder = embedder
        self._read_only = read_only
        self.wordless = NO_EMBEDDER
        """The reason that searches without an embedder report."""
        self._loading = threading.Lock()
        self._loaded: tuple[FactSearch, EpisodeSearch] | None = None
        self._compared_at: int | None = None
        """The state of the index when facts were compared last, or were about to be."""

    @property
    def facts(self) -> FactSearch:
        return self._load()[0]

    @property
    def episodes(self) -> EpisodeSearch:
        return self._load()[1]

    def list_facts(self, wanted: FactFilter, page: Page) -> list[Fact]:
        """Return the facts that pass a filter, by id; an index that is open finds a period."""
        if wanted.is_superseded:
            return self.read_facts(partial(listing.superseded, wanted=wanted, page=page))
        if wanted.is_bounded or wanted.valid_on:
            return self.read_facts(partial(listing.of_period, wanted=wanted, page=page))
        with self._engine.read() as transaction:
            return [*fact_table.select(transaction, wanted, page)]

    def count_facts(self, wanted: FactFilter) -> int:
        """Count the facts that pass a filter; an index that is open counts what is not kept."""
        if not (wanted.is_counted or wanted.needs_rows):
            return self.read_facts(partial(listing.counted, wanted=wanted))
        with self._engine.read() as transaction:
            return counts.facts(transaction, wanted)

    def count_episodes(self, wanted: EpisodeFilter) -> int:
        """Count the episodes that pass a filter, by an index if one is open."""
        if not wanted.needs_rows:
            return self.read_episodes(partial(listing.counted_episodes, wanted=wanted))
        with self._engine.read() as transaction:
            return episode_table.count(transaction, wanted)

    def read_facts(self, work: Callable[[Transaction, FeedContents | None], T]) -> T:
        """Return what ``work`` makes of the file and, if it is open, of the index of facts."""
        return self._read(0, work)

    def read_episodes(self, work: Callable[[Transaction, FeedContents | None], T]) -> T:
        """Return what ``work`` makes of the file and, if it is open, of the index of episodes."""
        return self._read(1, work)

    def _read(self, place: int, work: Callable[[Transaction, FeedContents | None], T]) -> T:
        index = self._loaded and self._loaded[place].index
        if index is not None and index.is_open:
            return index.read(work)
        with self._engine.read() as transaction:
            return work(transaction, None)

    def reading_seen(
        self, wanted: FactFilter, work: Callable[[Transaction, Visible | None], T]
    ) -> T:
        """Return what ``work`` makes of the file and the ids that pass a filter.

        ``None`` for the ids if no index is open: listing them by SQL takes longer than it saves.
        """

        def read(transaction: Transaction, contents: FeedContents | None) -> T:
            if contents is None:
                return work(transaction, None)
            return work(transaction, visibility.of_facts(transaction, contents.state, wanted))

        return self.read_facts(read)

    def may_replace(
        self, fact: Fact, wanted: FactFilter, without_rules: frozenset[Rule]
    ) -> list[Fact]:
        """Return the earlier facts that a fact may replace, of those that pass a filter."""
        return self.facts.index.read(
            lambda *state: corpus.FactCorpus(*state).may_replace(fact, wanted, without_rules)
        )

    def warm(self) -> None:
        if self._embedder is not None:
            with suppress(EmbedderError):
                self._embedder.current.blobs([embedding.PROBE])
        self.facts.index.prepare()
        self.episodes.index.prepare()

    @cached_property
    def comparisons(self) -> Comparisons:
        return Comparisons(self._engine, lambda: self.facts.index, is_off=not self._compares)

    @cached_property
    def names_asked(self) -> hybrid.NamesAsked:
        """The names of projects in questions."""
        return hybrid.NamesAsked()

    def _compare(self) -> None:
        """Have facts compared that were stored or changed since; a search has just seen them."""
        position = self.facts.index.position if self._compares else None
        if position is not None and position != self._compared_at:
            self._compared_at = position
            self.comparisons.start()

    def save_index(self) -> None:
        """Prepare what the next process needs; see :meth:`Index.finish`."""
        if self._compared_at is not None:
            self.comparisons.finish()
        for search in self._loaded or ():
            search.index.finish()

    def rewrite(self) -> bool:
        """Remove what was erased from the files of both; return whether that succeeded."""
        return all([self.facts.index.rewrite(), self.episodes.index.rewrite()])

    def are_whole(self) -> dict[str, bool]:
        """Compare the files of both with their checksums, by the kind of rows."""
        return {search.index.name: search.index.compare() for search in (self.facts, self.episodes)}

    def index_figures(self) -> list[IndexFigures]:
        """Return the figures of both indexes; none before the first search."""
        return [search.index.figures() for search in self._loaded or ()]

    def remove_damaged(self) -> list[str]:
        """Remove files that differ from their checksums; return of which kinds of rows."""
        both = self.facts.index, self.episodes.index
        return [index.name for index in both if index.remove_damaged()]

    def close(self) -> None:
        if self._compared_at is not None:
            self.comparisons.close()
        for search in self._loaded or ():
            search.index.close()

    def _load(self) -> tuple[FactSearch, EpisodeSearch]:
        with self._loading:
            if self._loaded is None:
                given = self._engine, self._embedder
                facts = hybrid.Search(
                    *given,
                    corpus.FactCorpus,
                    self.wordless,
                    read_only=self._read_only,
                    after=self._compare,
                )
                episodes = hybrid.Search(
                    *given, corpus.EpisodeCorpus, self.wordless, read_only=self._read_only
                )
                facts.other_kind, episodes.other_kind = episodes, facts
                self._loaded = facts, episodes
            return self._loaded
