"""An open file: everything that its stores share, whatever their namespaces."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memstore.embedding.current import CurrentEmbedder
from memstore.errors import EmbedderError, Reason, Remedy
from memstore.facts.use_counts import UseCounts
from memstore.lazy import lazy_import
from memstore.search.searches import Searches
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.database.engine import Engine
    from memstore.database.journal import Author
    from memstore.domain.protocols import Embedder
    from memstore.domain.results import WordsOnly
    from memstore.embedding import background, generations, health
    from memstore.embedding.background import BackgroundEmbedding
    from memstore.embedding.current import MakeEmbedder
    from memstore.embedding.generations import Generations
    from memstore.embedding.health import HealthCheck, Probe
    from memstore.prompting import reading_log
    from memstore.prompting.reading_log import Readings
    from memstore.upkeep.scheduled import ScheduledBackups
else:
    background = lazy_import("memstore.embedding.background")
    generations = lazy_import("memstore.embedding.generations")
    health = lazy_import("memstore.embedding.health")
    reading_log = lazy_import("memstore.prompting.reading_log")

CLOSING_SECONDS: Final = 5.0
"""How long closing waits for a scheduled backup; an unfinished one is then discarded."""


class File:
    """An open file: its engine, its embedder and its caches."""

    def __init__(
        self,
        engine: Engine,
        author: Author,
        embedder: Embedder | None,
        *,
        make_embedder: MakeEmbedder | None = None,
        read_only: bool = False,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
        half_lives_seconds: Mapping[str, float] | None = None,
    ) -> None:
        self.engine = engine
        self.author = author
        self.read_only = read_only
        self.screen = screen
        self.half_lives_seconds = half_lives_seconds
        """Those of searches that name none, by category; ``None`` for the default ones."""
        self.embedder = (
            None if embedder is None else CurrentEmbedder(engine.path, embedder, make_embedder)
        )
        self.searches = Searches(engine, self.embedder, read_only=read_only)
        self.wordless: Reason | None = None
        """Why there is no embedder, if that was not the caller's choice."""
        self.upgraded: str | None = None
        """What opening it has upgraded, as a sentence."""
        self.use_counts = UseCounts(engine)
        self._starting = threading.Lock()
        self._background: BackgroundEmbedding | None = None
        self._health: HealthCheck | None = None
        self._backups: ScheduledBackups | None = None

    @cached_property
    def generations(self) -> Generations:
        return generations.Generations(self.engine, self.author, self.embedder)

    @cached_property
    def readings(self) -> Readings:
        return reading_log.Readings(self.engine)

    def search_words_only(self, why: WordsOnly) -> None:
        """Set why there is no embedder; call this before the first search."""
        self.wordless = why.reason
        self.searches.wordless = why

    def needed_embedder(self) -> CurrentEmbedder:
        if self.embedder is None:
            why = self.wordless or Reason("this store has no embedder", Remedy.CHOOSE_EMBEDDER)
            raise EmbedderError(why, remedy=why.remedy)
        return self.embedder

    def embed_in_background(self, interval_seconds: float) -> None:
        if self.embedder is None or self.read_only:
            return
        with self._starting:
            if self._background is None:
                self._background = background.BackgroundEmbedding(
                    self.engine, self.author, self.embedder, None, interval_seconds
                )
                self._background.start()

    def backup_in_background(self, backups: ScheduledBackups) -> None:
        with self._starting:
            if self._backups is None:
                self._backups = backups
                backups.start()

    def probe_embedder(self, timeout_seconds: float) -> Probe | None:
        if self.embedder is None:
            return None
        embedder = self.embedder.embedder
        with self._starting:
            if self._health is None or self._health.embedder is not embedder:
                self._health = health.HealthCheck(self.engine.path, embedder)
        return self._health.ask(timeout_seconds)

    def write_use_counts(self) -> None:
        """Write the buffered use counts, unless the file is read-only."""
        if not self.read_only:
            self.use_counts.flush()

    def close(self) -> None:
        if self._background is not None:
            self._background.stop()
        if self._backups is not None:
            self._backups.stop(CLOSING_SECONDS)
        self.searches.close()
        self.write_use_counts()
        self.engine.close()
