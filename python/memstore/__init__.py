"""Durable memory for AI agents.

import memstore

with memstore.open() as store:
    store.add("Alice prefers dark mode", subject="alice", category="preference")
    for hit in store.search("what does Alice like?"):
        print(hit.fact.content)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memstore.domain.entities import (
        Entity,
        EntityDecision,
        GraphBuilt,
        GraphStatus,
        LikelySame,
        Neighbour,
        Neighbours,
        Relation,
    )
    from memstore.domain.metadata import MetadataFilter
    from memstore.domain.protocols import Embedder, Generator, JSONGenerator
    from memstore.domain.records import (
        AccessToken,
        Episode,
        EpisodeHit,
        EpisodeHits,
        Fact,
        JournalLine,
        NewEpisode,
        NewFact,
        Proposal,
        Scope,
        SearchHit,
        SearchHits,
        StoreStatus,
        Task,
    )
    from memstore.domain.results import Results, WordsOnly
    from memstore.errors import (
        AccessDenied,
        Conflict,
        EmbedderError,
        EmbedderMismatch,
        EmbedderRejected,
        EmbedderUnavailable,
        GeneratorError,
        GeneratorRejected,
        GeneratorUnavailable,
        IdempotencyConflict,
        InvalidArgument,
        InvalidArgumentType,
        LearningError,
        MemstoreError,
        NotFound,
        Remedy,
        SchemaError,
        StorageError,
        StoreBusy,
        StoreClosed,
        TransferError,
    )
    from memstore.facts.batch import (
        AddFact,
        Applied,
        DeleteFact,
        KeepFact,
        MayReplace,
        MayYieldTo,
        SupersedeFact,
        YieldsTo,
    )
    from memstore.learn.async_memory import AsyncMemory
    from memstore.learn.consolidation import Consolidated, consolidate
    from memstore.learn.events import Refusal
    from memstore.learn.extraction import Extracted, Extraction, Extractor, Outcome
    from memstore.learn.memory import Memory
    from memstore.learn.reading import extract_facts
    from memstore.providers import (
        AnthropicGenerator,
        LocalEmbedder,
        OllamaEmbedder,
        OllamaGenerator,
        OpenAIEmbedder,
        OpenAIGenerator,
    )
    from memstore.store.async_store import AsyncStore
    from memstore.store.opening import open
    from memstore.store.store import Store

__version__ = "0.1.0"

__all__ = [
    "AccessDenied",
    "AccessToken",
    "AddFact",
    "AnthropicGenerator",
    "Applied",
    "AsyncMemory",
    "AsyncStore",
    "Conflict",
    "Consolidated",
    "DeleteFact",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRejected",
    "EmbedderUnavailable",
    "Entity",
    "EntityDecision",
    "Episode",
    "EpisodeHit",
    "EpisodeHits",
    "Extracted",
    "Extraction",
    "Extractor",
    "Fact",
    "Generator",
    "GeneratorError",
    "GeneratorRejected",
    "GeneratorUnavailable",
    "GraphBuilt",
    "GraphStatus",
    "IdempotencyConflict",
    "InvalidArgument",
    "InvalidArgumentType",
    "JSONGenerator",
    "JournalLine",
    "KeepFact",
    "LearningError",
    "LikelySame",
    "LocalEmbedder",
    "MayReplace",
    "MayYieldTo",
    "Memory",
    "MemstoreError",
    "MetadataFilter",
    "Neighbour",
    "Neighbours",
    "NewEpisode",
    "NewFact",
    "NotFound",
    "OllamaEmbedder",
    "OllamaGenerator",
    "OpenAIEmbedder",
    "OpenAIGenerator",
    "Outcome",
    "Proposal",
    "Refusal",
    "Relation",
    "Remedy",
    "Results",
    "SchemaError",
    "Scope",
    "SearchHit",
    "SearchHits",
    "StorageError",
    "Store",
    "StoreBusy",
    "StoreClosed",
    "StoreStatus",
    "SupersedeFact",
    "Task",
    "TransferError",
    "WordsOnly",
    "YieldsTo",
    "__version__",
    "consolidate",
    "extract_facts",
    "open",
]

_NAMES = {
    "domain.entities": (
        "Entity EntityDecision GraphBuilt GraphStatus LikelySame Neighbour Neighbours Relation"
    ),
    "domain.metadata": "MetadataFilter",
    "domain.protocols": "Embedder Generator JSONGenerator",
    "domain.records": (
        "AccessToken Episode EpisodeHit EpisodeHits Fact JournalLine NewEpisode NewFact Proposal "
        "Scope SearchHit SearchHits StoreStatus Task"
    ),
    "domain.results": "Results WordsOnly",
    "errors": (
        "AccessDenied Conflict EmbedderError EmbedderMismatch EmbedderRejected "
        "EmbedderUnavailable GeneratorError GeneratorRejected GeneratorUnavailable "
        "IdempotencyConflict InvalidArgument InvalidArgumentType LearningError MemstoreError "
        "NotFound Remedy SchemaError StorageError StoreBusy StoreClosed TransferError"
    ),
    "facts.batch": (
        "AddFact Applied DeleteFact KeepFact MayReplace MayYieldTo SupersedeFact YieldsTo"
    ),
    "learn.async_memory": "AsyncMemory",
    "learn.consolidation": "Consolidated consolidate",
    "learn.extraction": "Extracted Extraction Extractor Outcome",
    "learn.reading": "extract_facts",
    "learn.memory": "Memory",
    "learn.events": "Refusal",
    "providers": (
        "AnthropicGenerator LocalEmbedder OllamaEmbedder OllamaGenerator OpenAIEmbedder "
        "OpenAIGenerator"
    ),
    "store.async_store": "AsyncStore",
    "store.opening": "open",
    "store.store": "Store",
}
"""The names of each module."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Import a name when it is first used: importing the package alone costs nothing."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
