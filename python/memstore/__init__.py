"""Durable memory for AI agents.

import memstore

with memstore.open() as store:
    store.add("Alice prefers dark mode", subject="alice", category="preference")
    for hit in store.search("what does Alice like?"):
        print(hit.fact.content)
"""

from __future__ import annotations

from memstore.async_memory import AsyncMemory
from memstore.changes import AddFact, Applied, DeleteFact, KeepFact, SupersedeFact
from memstore.errors import (
    Conflict,
    EmbedderError,
    EmbedderMismatch,
    EmbedderRejected,
    EmbedderUnavailable,
    GeneratorError,
    GeneratorRejected,
    GeneratorUnavailable,
    IdempotencyConflict,
    LearningError,
    MemstoreError,
    NotFound,
    SchemaError,
    StorageError,
    StoreBusy,
    StoreClosed,
    TransferError,
)
from memstore.learn.extraction import Extracted, Extraction, Extractor, Outcome
from memstore.learn.items import extract_facts
from memstore.learn.operations import Add, Delete, Keep, Refusal, Update
from memstore.memory import Memory
from memstore.metadata import MetadataFilter
from memstore.model import (
    Episode,
    Fact,
    NewFact,
    Operation,
    Proposal,
    Scope,
    SearchHit,
    SearchHits,
    StoreStatus,
    Task,
)
from memstore.opening import open
from memstore.protocols import Embedder, Generator, JSONGenerator
from memstore.providers import (
    AnthropicGenerator,
    LocalEmbedder,
    OllamaEmbedder,
    OllamaGenerator,
    OpenAIEmbedder,
    OpenAIGenerator,
)
from memstore.store import Store

__version__ = "0.1.0"

__all__ = [
    "Add",
    "AddFact",
    "AnthropicGenerator",
    "Applied",
    "AsyncMemory",
    "Conflict",
    "Delete",
    "DeleteFact",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRejected",
    "EmbedderUnavailable",
    "Episode",
    "Extracted",
    "Extraction",
    "Extractor",
    "Fact",
    "Generator",
    "GeneratorError",
    "GeneratorRejected",
    "GeneratorUnavailable",
    "IdempotencyConflict",
    "JSONGenerator",
    "Keep",
    "KeepFact",
    "LearningError",
    "LocalEmbedder",
    "Memory",
    "MemstoreError",
    "MetadataFilter",
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
    "Update",
    "__version__",
    "extract_facts",
    "open",
]
