"""Durable memory for AI agents.

import memstore

with memstore.open() as store:
    store.add("Alice prefers dark mode", subject="alice", category="preference")
    for hit in store.search("what does Alice like?"):
        print(hit.fact.content)
"""

from __future__ import annotations

from memstore.errors import (
    Conflict,
    EmbedderError,
    EmbedderMismatch,
    EmbedderRejected,
    EmbedderUnavailable,
    IdempotencyConflict,
    MemstoreError,
    NotFound,
    SchemaError,
    StorageError,
    StoreBusy,
    StoreClosed,
    TransferError,
)
from memstore.metadata import MetadataFilter
from memstore.model import (
    Fact,
    NewFact,
    Operation,
    SearchHit,
    SearchHits,
    StoreStatus,
    Task,
)
from memstore.opening import open
from memstore.protocols import Embedder
from memstore.providers import LocalEmbedder, OllamaEmbedder, OpenAIEmbedder
from memstore.store import Store

__version__ = "0.1.0"

__all__ = [
    "Conflict",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRejected",
    "EmbedderUnavailable",
    "Fact",
    "IdempotencyConflict",
    "LocalEmbedder",
    "MemstoreError",
    "MetadataFilter",
    "NewFact",
    "NotFound",
    "OllamaEmbedder",
    "OpenAIEmbedder",
    "Operation",
    "SchemaError",
    "SearchHit",
    "SearchHits",
    "StorageError",
    "Store",
    "StoreBusy",
    "StoreClosed",
    "StoreStatus",
    "Task",
    "TransferError",
    "__version__",
    "open",
]
