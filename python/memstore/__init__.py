"""Durable memory for AI agents.

import memstore

with memstore.open() as store:
    store.add("Alice prefers dark mode", subject="alice", category="preference")
    for hit in store.search("what does Alice like?"):
        print(hit.fact.content)
"""

from __future__ import annotations

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
    Episode,
    EpisodeHit,
    EpisodeHits,
    Fact,
    NewEpisode,
    NewFact,
    Operation,
    Proposal,
    Scope,
    SearchHit,
    SearchHits,
    StoreStatus,
    Task,
    Token,
)
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
from memstore.facts.batch import AddFact, Applied, DeleteFact, KeepFact, SupersedeFact
from memstore.learn.async_memory import AsyncMemory
from memstore.learn.consolidation import Consolidated
from memstore.learn.extraction import Extracted, Extraction, Extractor, Outcome
from memstore.learn.items import extract_facts
from memstore.learn.memory import Memory
from memstore.learn.operations import Add, Delete, Keep, Refusal, Update
from memstore.providers import (
    AnthropicGenerator,
    LocalEmbedder,
    OllamaEmbedder,
    OllamaGenerator,
    OpenAIEmbedder,
    OpenAIGenerator,
)
from memstore.store.opening import open
from memstore.store.store import Store

__version__ = "0.1.0"

__all__ = [
    "AccessDenied",
    "Add",
    "AddFact",
    "AnthropicGenerator",
    "Applied",
    "AsyncMemory",
    "Conflict",
    "Consolidated",
    "Delete",
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
    "Keep",
    "KeepFact",
    "LearningError",
    "LikelySame",
    "LocalEmbedder",
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
    "Operation",
    "Outcome",
    "Proposal",
    "Refusal",
    "Relation",
    "Remedy",
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
    "Token",
    "TransferError",
    "Update",
    "__version__",
    "extract_facts",
    "open",
]
