"""What a store is bound to: its file, namespace and embedder, and how others share them."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Self

from memstore.access.tokens import Tokens
from memstore.domain.arguments import ALL_NAMESPACES, MAX_NAME, checked_text
from memstore.embedding.generations import Generations
from memstore.episodes.log import Episodes
from memstore.errors import AccessDenied, EmbedderError, Reason, Remedy
from memstore.facts.facts import Facts
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.facts.use_counts import Touches
from memstore.graph import satellite
from memstore.prompting.reading_log import Readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

    from memstore.database.engine import Engine
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.database.journal import Author
    from memstore.domain.protocols import Embedder
    from memstore.domain.records import EpisodeHits, SearchHits
    from memstore.embedding.background import BackgroundEmbedding
    from memstore.embedding.current import Following, Remake
    from memstore.embedding.health import Probing
    from memstore.graph.graph import Graph
    from memstore.search.hybrid import Search


class Binding:
    """A file, a namespace, an embedder, and what is bound to them."""

    facts: Facts
    """Facts inside a transaction of the caller's: what decides and writes in one act uses this."""

    tasks: Tasks
    """Tasks: ``create``, ``update``, ``list``."""

    episodes: Episodes
    """What was said: ``add``, ``search``, ``list``, ``get``, ``update``, ``erase``."""

    proposals: Proposals
    """What waits for a decision: ``list``, ``get``, ``accept``, ``reject``."""

    readings: Readings
    """How episodes were read by models: what a rebuild goes by."""

    tokens: Tokens
    """Who may use the server over HTTP: ``create``, ``list``, ``revoke``."""

    generations: Generations
    """The models' vectors the file holds: ``list``, ``stage``, ``run``, ``switch``, ``drop``."""

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str,
        embedder: Embedder | None,
        author: Author,
        read_only: bool,
        remake: Remake | None = None,
    ) -> None:
        self._namespace = checked_text(namespace, "namespace", MAX_NAME)
        if namespace == ALL_NAMESPACES:
            raise ValueError(f"no namespace is called {namespace!r}: it asks for all of them")
        self._engine = engine
        self._embedder = embedder
        self._remake = remake
        self._author = author
        self._read_only = read_only
        self.facts = Facts(engine, author, namespace, self._following, satellite)
        self._touches = Touches(engine)
        self._waking = threading.RLock()
        self._awake: tuple[Following | None, Search[FactFilter, SearchHits]] | None = None
        self._background: BackgroundEmbedding | None = None
        self._log_search: Search[EpisodeFilter, EpisodeHits] | None = None
        self._probing: Probing | None = None
        self._home: Self | None = None
        self._confined = False
        self.tasks = Tasks(engine, namespace, self.facts, author.source)
        self.episodes = Episodes(engine, author, namespace, self._episode_search, self._namespaces)
        self.proposals = Proposals(engine, self.facts)
        self.generations = Generations(engine, author, self._adopt)
        self.readings = Readings(engine)
        self.tokens = Tokens(engine, author, namespace)

    @cached_property
    def graph(self) -> Graph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        from memstore.graph.graph import Graph

        return Graph(self._engine, self._author, self.namespace)

    @property
    def namespace(self) -> str:
        """The partition every read and write is bound to."""
        return self._namespace

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._engine.path

    @property
    def embedder_trouble(self) -> Reason | None:
        """Why the embedder failed last; ``None`` while it works, was not asked, or is none."""
        awake = (self._home or self)._awake
        following = awake[0] if awake is not None else None
        return None if following is None else following.current.trouble

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, namespace={self.namespace!r})"

    def close(self) -> None:
        """Write what is still to be written, check-point and let go of the file. Twice is fine.

        One made by :meth:`within` leaves the file to the store it was made from.
        """
        if self._background is not None:
            self._background.stop()
        if self._home is not None:
            return
        self._flush_touches()
        self._engine.close()

    def within(self, namespace: str, *, confined: bool = False) -> Self:
        """Return a store for another namespace of this file; connections and model are shared.

        It is closed with this one.

        Args:
            namespace: what the other store is bound to.
            confined: let no argument of any method reach another namespace. What is about the
                file as a whole (backup, tokens, doctor) is not for those such a store is made for.

        Raises:
            AccessDenied: this store is confined to another namespace.
        """
        self._refuse_beyond((namespace,))
        other = type(self)(
            self._engine,
            namespace=namespace,
            embedder=self._embedder,
            author=self._author,
            read_only=self._read_only,
        )
        other._home = self._home or self
        other._touches = self._touches
        other._confined = self._confined or confined
        return other

    # -- inside ------------------------------------------------------------------------------

    def _following(self) -> Following | None:
        return self._wake()[0] if self._embedder is not None else None

    def _needed(self) -> Following:
        following = self._following()
        if following is None:
            raise EmbedderError("this store has no embedder", remedy=Remedy.CHOOSE_EMBEDDER)
        return following

    def _embedder_now(self) -> Embedder | None:
        """The embedder in use, which may have followed the file to another model."""
        awake = (self._home or self)._awake
        if awake is None or awake[0] is None:
            return self._embedder
        return awake[0].current.embedder

    def _adopt(self, embedder: Embedder) -> None:
        """Use the embedder of a model that the file went over to; without one, go on so."""
        following = self._following()
        if following is not None:
            following.adopt(embedder)

    def _wake(self) -> tuple[Following | None, Search[FactFilter, SearchHits]]:
        # numpy and the kernel are imported here, with the first search or embedding, so that
        # opening a store and reading from it stay quick.
        if self._home is not None:
            return self._home._wake()
        with self._waking:
            if self._awake is None:
                from memstore.embedding.current import Following
                from memstore.search.corpus import FactCorpus
                from memstore.search.hybrid import Search

                following = (
                    Following(self.path, self._embedder, self._remake)
                    if self._embedder is not None
                    else None
                )
                self._awake = (following, Search(self._engine, following, FactCorpus))
            return self._awake

    def _episode_search(self) -> Search[EpisodeFilter, EpisodeHits]:
        if self._home is not None:
            return self._home._episode_search()
        with self._waking:
            if self._log_search is None:
                from memstore.search.corpus import EpisodeCorpus
                from memstore.search.hybrid import Search

                self._log_search = Search(self._engine, self._wake()[0], EpisodeCorpus)
            return self._log_search

    def _namespaces(self, asked: str | Sequence[str] | None) -> tuple[str, ...] | None:
        if asked is None:
            return (self.namespace,)
        if asked == ALL_NAMESPACES:
            self._refuse_beyond((ALL_NAMESPACES,))
            return None
        names = (asked,) if isinstance(asked, str) else tuple(asked)
        if not names:
            raise ValueError('name at least one namespace, or "all"')
        self._refuse_beyond(names)
        return tuple(checked_text(name, "namespace", MAX_NAME) for name in names)

    def _shown(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return what may be seen of counts by namespace."""
        return {n: c for n, c in counts.items() if not self._confined or n == self.namespace}

    def _refuse_beyond(self, namespaces: Iterable[str]) -> None:
        """Hold a confined store to its namespace; whatever names another one asks here first."""
        if not self._confined:
            return
        for name in namespaces:
            if name != self.namespace:
                raise AccessDenied(
                    f"this access is bound to the namespace {self.namespace!r} and reaches no "
                    "other: leave the namespace out"
                )

    def _flush_touches(self) -> None:
        if not self._read_only:
            self._touches.flush()
