"""Durable memory for AI agents.

import memstore

with memstore.open() as store:
    store.add("Alice prefers dark mode", subject="alice", category="preference")
    for hit in store.search("what does Alice like?"):
        print(hit.fact.content)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memstore.domain.entities import Entity as Entity
    from memstore.domain.entities import EntityDecision as EntityDecision
    from memstore.domain.entities import GraphBuilt as GraphBuilt
    from memstore.domain.entities import GraphStatus as GraphStatus
    from memstore.domain.entities import LikelySame as LikelySame
    from memstore.domain.entities import Neighbour as Neighbour
    from memstore.domain.entities import Neighbours as Neighbours
    from memstore.domain.entities import Relation as Relation
    from memstore.domain.episodes import Episode as Episode
    from memstore.domain.episodes import EpisodeHit as EpisodeHit
    from memstore.domain.episodes import EpisodeHits as EpisodeHits
    from memstore.domain.episodes import NewEpisode as NewEpisode
    from memstore.domain.episodes import ThreadSummary as ThreadSummary
    from memstore.domain.erasures import Erased as Erased
    from memstore.domain.erasures import ErasureCounts as ErasureCounts
    from memstore.domain.erasures import ErasureStep as ErasureStep
    from memstore.domain.erasures import Remains as Remains
    from memstore.domain.explanations import Explanation as Explanation
    from memstore.domain.explanations import ExplanationEntry as ExplanationEntry
    from memstore.domain.log import Act as Act
    from memstore.domain.log import ActChange as ActChange
    from memstore.domain.log import DayActivity as DayActivity
    from memstore.domain.log import LogLine as LogLine
    from memstore.domain.metadata import AnyOf as AnyOf
    from memstore.domain.metadata import MetadataFilter as MetadataFilter
    from memstore.domain.metadata import Not as Not
    from memstore.domain.plans import PlanConflict as PlanConflict
    from memstore.domain.plans import Reverted as Reverted
    from memstore.domain.plans import Step as Step
    from memstore.domain.proposals import Decided as Decided
    from memstore.domain.proposals import Proposal as Proposal
    from memstore.domain.proposals import Question as Question
    from memstore.domain.protocols import Embedder as Embedder
    from memstore.domain.protocols import Generator as Generator
    from memstore.domain.protocols import JSONGenerator as JSONGenerator
    from memstore.domain.records import AboutOthers as AboutOthers
    from memstore.domain.records import AtLeast as AtLeast
    from memstore.domain.records import Fact as Fact
    from memstore.domain.records import Head as Head
    from memstore.domain.records import JournalLine as JournalLine
    from memstore.domain.records import NewFact as NewFact
    from memstore.domain.records import Scope as Scope
    from memstore.domain.records import SearchHit as SearchHit
    from memstore.domain.records import SearchHits as SearchHits
    from memstore.domain.repairs import RepairedFact as RepairedFact
    from memstore.domain.results import Matched as Matched
    from memstore.domain.results import Results as Results
    from memstore.domain.results import Span as Span
    from memstore.domain.results import WordsOnly as WordsOnly
    from memstore.domain.searches import GivenFact as GivenFact
    from memstore.domain.searches import RecordedSearch as RecordedSearch
    from memstore.domain.status import Others as Others
    from memstore.domain.status import Owner as Owner
    from memstore.domain.status import PastStatus as PastStatus
    from memstore.domain.status import StoreCounts as StoreCounts
    from memstore.domain.status import StoreStatus as StoreStatus
    from memstore.domain.status import Subject as Subject
    from memstore.domain.support import Support as Support
    from memstore.domain.tasks import Task as Task
    from memstore.domain.tokens import AccessToken as AccessToken
    from memstore.domain.trust import TrustChange as TrustChange
    from memstore.domain.unread import Portion as Portion
    from memstore.domain.unread import UnreadThread as UnreadThread
    from memstore.errors import AccessDenied as AccessDenied
    from memstore.errors import Cancelled as Cancelled
    from memstore.errors import Conflict as Conflict
    from memstore.errors import EmbedderError as EmbedderError
    from memstore.errors import EmbedderMismatch as EmbedderMismatch
    from memstore.errors import EmbedderRejected as EmbedderRejected
    from memstore.errors import EmbedderUnavailable as EmbedderUnavailable
    from memstore.errors import Explained as Explained
    from memstore.errors import FactChanged as FactChanged
    from memstore.errors import FileMissing as FileMissing
    from memstore.errors import FileReplaced as FileReplaced
    from memstore.errors import GeneratorError as GeneratorError
    from memstore.errors import GeneratorRejected as GeneratorRejected
    from memstore.errors import GeneratorUnavailable as GeneratorUnavailable
    from memstore.errors import IdempotencyConflict as IdempotencyConflict
    from memstore.errors import InvalidArgument as InvalidArgument
    from memstore.errors import InvalidArgumentType as InvalidArgumentType
    from memstore.errors import LearningError as LearningError
    from memstore.errors import MemstoreError as MemstoreError
    from memstore.errors import NotFound as NotFound
    from memstore.errors import Remedy as Remedy
    from memstore.errors import SchemaError as SchemaError
    from memstore.errors import StorageError as StorageError
    from memstore.errors import StoreBusy as StoreBusy
    from memstore.errors import StoreClosed as StoreClosed
    from memstore.errors import SyncError as SyncError
    from memstore.errors import TransferError as TransferError
    from memstore.facts.batch import AddFact as AddFact
    from memstore.facts.batch import AlsoReplaces as AlsoReplaces
    from memstore.facts.batch import Applied as Applied
    from memstore.facts.batch import DeleteFact as DeleteFact
    from memstore.facts.batch import KeepFact as KeepFact
    from memstore.facts.batch import MayReplace as MayReplace
    from memstore.facts.batch import MayYieldTo as MayYieldTo
    from memstore.facts.batch import SupersedeFact as SupersedeFact
    from memstore.facts.batch import YieldsTo as YieldsTo
    from memstore.facts.keyed import DeleteKey as DeleteKey
    from memstore.file.file import File as File
    from memstore.file.findings import Finding as Finding
    from memstore.history.differences import Difference as Difference
    from memstore.history.differences import Differences as Differences
    from memstore.history.erasure import ErasurePlan as ErasurePlan
    from memstore.history.reverting import Plan as Plan
    from memstore.learn.consolidation import Consolidated as Consolidated
    from memstore.learn.consolidation import consolidate as consolidate
    from memstore.learn.events import Refusal as Refusal
    from memstore.learn.extraction import Extracted as Extracted
    from memstore.learn.extraction import Extraction as Extraction
    from memstore.learn.extraction import Extractor as Extractor
    from memstore.learn.extraction import Outcome as Outcome
    from memstore.learn.memory import AsyncMemory as AsyncMemory
    from memstore.learn.memory import Memory as Memory
    from memstore.learn.reading import extract_facts as extract_facts
    from memstore.providers.anthropic import AnthropicGenerator as AnthropicGenerator
    from memstore.providers.local import LocalEmbedder as LocalEmbedder
    from memstore.providers.ollama import OllamaEmbedder as OllamaEmbedder
    from memstore.providers.ollama import OllamaGenerator as OllamaGenerator
    from memstore.providers.openai import OpenAIEmbedder as OpenAIEmbedder
    from memstore.providers.openai import OpenAIGenerator as OpenAIGenerator
    from memstore.store.async_plans import AsyncErasurePlan as AsyncErasurePlan
    from memstore.store.async_plans import AsyncPlan as AsyncPlan
    from memstore.store.async_store import AsyncFile as AsyncFile
    from memstore.store.async_store import AsyncStore as AsyncStore
    from memstore.store.async_store import AsyncView as AsyncView
    from memstore.store.opening import open as open
    from memstore.store.recovery import Recovered as Recovered
    from memstore.store.recovery import recover as recover
    from memstore.store.store import Store as Store
    from memstore.store.view import View as View
    from memstore.telling.recall import Recalled as Recalled
    from memstore.telling.why_not import RankedFact as RankedFact
    from memstore.telling.why_not import WhyNot as WhyNot

__version__ = "0.1.0"

_NAMES = {
    "domain.entities": (
        "Entity EntityDecision GraphBuilt GraphStatus LikelySame Neighbour Neighbours Relation"
    ),
    "domain.metadata": "AnyOf MetadataFilter Not",
    "domain.protocols": "Embedder Generator JSONGenerator",
    "domain.episodes": "Episode EpisodeHit EpisodeHits NewEpisode ThreadSummary",
    "domain.explanations": "Explanation ExplanationEntry",
    "domain.erasures": "Erased ErasureCounts ErasureStep Remains",
    "history.differences": "Difference Differences",
    "domain.log": "Act ActChange DayActivity LogLine",
    "domain.plans": "PlanConflict Reverted Step",
    "domain.proposals": "Decided Proposal Question",
    "domain.records": (
        "AboutOthers AtLeast Fact Head JournalLine NewFact Scope SearchHit SearchHits"
    ),
    "domain.repairs": "RepairedFact",
    "domain.searches": "GivenFact RecordedSearch",
    "domain.status": "Others Owner PastStatus StoreCounts StoreStatus Subject",
    "domain.support": "Support",
    "domain.trust": "TrustChange",
    "domain.tasks": "Task",
    "domain.tokens": "AccessToken",
    "domain.unread": "Portion UnreadThread",
    "domain.results": "Matched Results Span WordsOnly",
    "errors": (
        "AccessDenied Cancelled Conflict EmbedderError EmbedderMismatch EmbedderRejected "
        "EmbedderUnavailable Explained FactChanged FileMissing FileReplaced GeneratorError "
        "GeneratorRejected GeneratorUnavailable "
        "IdempotencyConflict InvalidArgument InvalidArgumentType LearningError MemstoreError "
        "NotFound Remedy SchemaError StorageError StoreBusy StoreClosed SyncError TransferError"
    ),
    "file.file": "File",
    "file.findings": "Finding",
    "facts.batch": (
        "AddFact AlsoReplaces Applied DeleteFact KeepFact MayReplace MayYieldTo SupersedeFact "
        "YieldsTo"
    ),
    "facts.keyed": "DeleteKey",
    "history.erasure": "ErasurePlan",
    "history.reverting": "Plan",
    "learn.consolidation": "Consolidated consolidate",
    "learn.extraction": "Extracted Extraction Extractor Outcome",
    "learn.reading": "extract_facts",
    "learn.memory": "AsyncMemory Memory",
    "learn.events": "Refusal",
    "providers.anthropic": "AnthropicGenerator",
    "providers.local": "LocalEmbedder",
    "providers.ollama": "OllamaEmbedder OllamaGenerator",
    "providers.openai": "OpenAIEmbedder OpenAIGenerator",
    "store.async_plans": "AsyncErasurePlan AsyncPlan",
    "store.async_store": "AsyncFile AsyncStore AsyncView",
    "store.opening": "open",
    "store.recovery": "Recovered recover",
    "store.store": "Store",
    "store.view": "View",
    "telling.recall": "Recalled",
    "telling.why_not": "RankedFact WhyNot",
}

_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted([*_MODULES, "__version__"])

_SUBMODULES = ("vectors",)

if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name

    def __getattr__(name: str) -> object:
        """Import a name on first use, so that importing the package alone is cheap."""
        if name in _SUBMODULES:
            __import__(f"{__name__}.{name}")
            return globals()[name]
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = f"{__name__}.{_MODULES[name]}"
        __import__(module)
        value = getattr(sys.modules[module], name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
