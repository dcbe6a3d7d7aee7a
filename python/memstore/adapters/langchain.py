"""LangChain's ``BaseRetriever`` on a store: facts or episodes as documents.

A document's text is that of the fact or episode, and its id their UUID. Its metadata is their own;
under ``memstore`` stand all their other fields, their whole metadata once more, and the score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.waiting import in_thread
from memstore.domain.arguments import checked_number
from memstore.domain.metadata import parse_filters

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field, PrivateAttr
except ImportError as error:
    raise FRAMEWORKS["langchain"].missing(__name__) from error

if TYPE_CHECKING:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

    from memstore.domain.episodes import EpisodeHit
    from memstore.domain.records import SearchHit
    from memstore.store.store import Store

SOURCE = "langchain"
OWN = "memstore"
"""The key of a document's metadata under which everything but the memory's own metadata stands."""
MAX_DOCUMENTS = 1000


class MemstoreRetriever(BaseRetriever):
    """Finds facts or episodes by words and by meaning, best first.

    Raises:
        InvalidArgument: a number, filter or owner that no search takes.
        InvalidArgumentType: ``store`` is neither a store nor a path.
    """

    store: Any
    """An open store, or the path or URL of a memory, which :meth:`close` then closes."""
    kind: Literal["facts", "episodes"] = "facts"
    """What to find."""
    k: int = 4
    """The most documents, 1 to 1000; ``invoke(…, k=…)`` overrides it."""
    filters: Any = None
    """Conditions on metadata, as of :meth:`memstore.Store.search`; ``invoke(…, filters=…)``
    overrides them."""
    scope: Any = None
    """The owners, as of :meth:`memstore.Store.of`, by default those of the store;
    ``invoke(…, scope=…)`` overrides them."""
    namespace: str | None = None
    """The namespace to search; by default the store's."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Other keywords of ``Store.search`` or ``Store.episodes.search``, such as
    ``{"min_relevance": 0.075}``."""
    _opened: Opened = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Open the memory, after checking everything else."""
        super().model_post_init(context)
        checked_number(self.k, "k", 1, MAX_DOCUMENTS)
        parse_filters(self.filters)
        self._opened = Opened(self.store, SOURCE, self.namespace)
        self._owned(None)

    def close(self) -> None:
        """Close the memory, if it was opened from a path."""
        self._opened.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        filters: Any = None,
        scope: Any = None,
    ) -> list[Document]:
        return self._found(query, k, filters, scope)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        filters: Any = None,
        scope: Any = None,
    ) -> list[Document]:
        return await in_thread(self._found, query, k, filters, scope)

    def _found(self, query: str, k: int | None, filters: Any, scope: Any) -> list[Document]:
        limit = self.k if k is None else k
        checked_number(limit, "k", 1, MAX_DOCUMENTS)
        asked = {**self.options, "limit": limit}
        conditions = self.filters if filters is None else filters
        if conditions is not None:
            asked["filters"] = conditions
        store = self._owned(scope)
        if self.kind == "episodes":
            return [document_of_episode(hit) for hit in store.episodes.search(query, **asked)]
        return [document_of_fact(hit) for hit in store.search(query, **asked)]

    def _owned(self, scope: Any) -> Store:
        owners = self.scope if scope is None else scope
        return self._opened.store if owners is None else self._opened.store.of(owners)


def document_of_fact(hit: SearchHit) -> Document:
    """Return a fact as a document."""
    scores = {
        "score": hit.score,
        "word_score": hit.word_score,
        "vector_score": hit.vector_score,
    }
    return _document(hit.fact, scores)


def document_of_episode(hit: EpisodeHit) -> Document:
    """Return an episode as a document; ``start`` and ``stop`` tell its best matching piece."""
    scores = {
        "score": hit.score,
        "word_score": hit.word_score,
        "similarity": hit.similarity,
        "start": hit.start,
        "stop": hit.stop,
    }
    return _document(hit.episode, scores)


def _document(memory: Any, scores: dict[str, Any]) -> Document:
    fields = {name: value for name, value in memory.to_dict().items() if name != "content"}
    return Document(
        page_content=memory.content,
        metadata={**memory.metadata, OWN: fields | scores},
        id=memory.uuid,
    )
