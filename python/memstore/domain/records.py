"""The nouns: facts, search hits, tasks, and what a store says about itself.

The fields of :class:`Fact` are the columns of ``memstore_facts``, in order (but for those marked
computed); SELECT and INSERT lists, exports and answers derive from them, so a new column is one
field and one migration.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from memstore.domain import clock
from memstore.domain.arguments import checked_name
from memstore.domain.results import Results, WordsOnly
from memstore.errors import InvalidArgumentType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")

DEFAULT_CATEGORY = "note"

CATEGORIES: Final = (
    "preference",
    "identity",
    "relationship",
    "capability",
    "project",
    "decision",
    "event",
    "world",
    "note",
)
"""What models and people are told of; any other text is a category too."""

EVERYBODY: Final = "all"
"""As a scope: what has whatever owners, or none."""

BYTES_PER_NUMBER = 4
"""Of a stored vector: float32, little-endian."""

TODO = "todo"
"""The subject of every task."""


class Record:
    """A dataclass of which answers and exports hold the fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self)


def set_fields(record: Any, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the fields of a dataclass (all, or these) that are set, as JSON values."""
    names = names or _names(record.__class__)
    return {
        name: value if value.__class__ in PLAIN else json_value(value)
        for name, value in zip(names, _values_of(names)(record), strict=True)
        if value is not None
    }


PLAIN = frozenset({str, int, bool})
"""Types of most fields, which are JSON values as they are."""


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@cache
def _values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*names)


def json_value(value: Any) -> Any:
    """Return what a field holds as a JSON value."""
    if isinstance(value, datetime):
        return clock.to_text(value)
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    return value.to_dict() if isinstance(value, Record) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose something is, inside a namespace. One that is missing means "not set", never "all".

    Raises:
        ValueError: an id that is blank or too long.
        TypeError: an id that is no text.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        for name in SCOPE_FIELDS:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked_name(given, name))

    @property
    def ids(self) -> dict[str, Any]:
        """The three by name, as columns and keyword arguments."""
        return {"user_id": self.user_id, "agent_id": self.agent_id, "run_id": self.run_id}


SCOPE_FIELDS = tuple(f.name for f in fields(Scope))

AskedScope: TypeAlias = Scope | Literal["all"] | None
"""Whose things are meant: of just these owners, of everybody, or (``None``) of nobody."""


def asked_scope(scope: AskedScope, name: str = "scope") -> Scope | None:
    """Return the owners that are meant; ``None`` for everybody's."""
    if scope is None or isinstance(scope, Scope):
        return scope or Scope()
    if scope != EVERYBODY:
        raise InvalidArgumentType(
            f'must be a Scope, "{EVERYBODY}" or None, not {type(scope).__name__}', argument=name
        )
    return None


def checked_scope(scope: Scope | None, name: str = "scope") -> Scope:
    """Return owners that are given as such; none, where none are."""
    if not isinstance(scope, Scope | None):
        raise InvalidArgumentType(f"must be a Scope, not {type(scope).__name__}", argument=name)
    return scope or Scope()


def made(kind: type[T], values: Mapping[str, Any]) -> T:
    """Make a frozen dataclass without slots from values that need no check.

    What has a default may be left out. The constructor takes ten times as long, for it sets each
    field as if from outside.
    """
    record = object.__new__(kind)
    record.__dict__.update(values)
    return record


@dataclass(frozen=True, kw_only=True)
class Fact(Record):
    """One claim about one subject. Its text never changes after it is stored."""

    id: int
    uuid: str
    namespace: str
    content: str
    subject: str
    category: str
    metadata: dict[str, Any]
    superseded_by: int | None = None
    superseded_at: datetime | None = None
    confirmed_count: int = 0
    last_confirmed_at: datetime | None = None
    use_count: int = 0
    last_used_at: datetime | None = None
    created_at: datetime
    valid_at: datetime | None = None
    expired_at: datetime | None = None
    deleted_at: datetime | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    source: str | None = None
    episode_id: int | None = None
    idempotency_key: str | None = None
    derivation: str | None = None
    """How a model had a part in it: ``extract``, ``memory`` or ``consolidate``; ``None``: none."""
    embed_error: str | None = field(default=None, metadata={"computed": True})
    """Why its embedding failed, of late or for good; none once it is embedded."""
    embedded: bool = field(default=False, metadata={"computed": True})
    """Whether it has a vector of the model that searches use now."""

    @property
    def status(self) -> str:
        """``active``, ``superseded``, ``deleted``, ``erased`` or ``expired``."""
        if self.deleted_at is not None:
            return "deleted" if self.content else "erased"
        if self.superseded_by is not None:
            return "superseded"
        if self.expired_at is not None and self.expired_at <= clock.utc_now():
            return "expired"
        return "active"

    @property
    def scope(self) -> Scope:
        """Whose it is."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, and the status, as JSON values."""
        return set_fields(self) | {"status": self.status}


FACT_FIELDS = tuple(f.name for f in fields(Fact))
MOMENT_FIELDS = frozenset(f.name for f in fields(Fact) if "datetime" in str(f.type))


@dataclass(frozen=True, kw_only=True)
class NewFact:
    """A fact to be stored; see :meth:`memstore.Store.add` for what each field means."""

    content: str
    subject: str
    category: str = DEFAULT_CATEGORY
    metadata: Mapping[str, Any] | None = None
    supersedes: int | None = None
    across: bool = False
    created_at: datetime | str | None = None
    valid_at: datetime | str | None = None
    expired_at: datetime | str | None = None
    source: str | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    episode_id: int | None = None
    derivation: str | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A fact that was found, with the parts of its score.

    ``score = (word_weight * word_score + vector_weight * vector_score) * decay``.
    """

    fact: Fact
    score: float
    word_score: float
    """BM25 divided by the best BM25 of this search, 0 to 1; 0 when no word matched."""
    vector_score: float
    """Cosine similarity where positive, 0 to 1; 0 when there is no vector."""
    decay: float
    """``0.5 ** (age / half-life)``, 1 where nothing decays."""


@dataclass(frozen=True, eq=False, repr=False)
class SearchHits(Results[SearchHit]):
    """The hits of one search, best first."""

    words_only: WordsOnly | None = None
    """Why meaning took no part although it was asked for; ``None`` if it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a restoring or reinstating did, for a face to tell."""

    kind: str
    """``restore``: the newer fact was wrong and the old text replaces it, or a deleted one is back;
    ``reinstate``: the supersession was wrong, and both hold."""
    fact: Fact
    """The fact that was brought back, as it is now."""
    others: tuple[Fact, ...] = ()
    """The other facts of a consolidation that was undone by it."""
    newer: Fact | None = None
    """What had superseded the old text, the newest of its chain, as it is now."""

    @property
    def active(self) -> list[Fact]:
        """Which of these facts are active now."""
        found = (self.fact, *self.others, *((self.newer,) if self.newer else ()))
        return [fact for fact in found if fact.status == "active"]

    def to_dict(self) -> dict[str, Any]:
        """Return the fact that was brought back, the kind of repair, and the ids active now."""
        return self.fact.to_dict() | {
            "repair": self.kind,
            "active_now": [fact.id for fact in self.active],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """A verbatim record of something that was said or done; facts are extracted from it."""

    id: int
    uuid: str
    namespace: str
    content: str
    """Empty once it was erased."""
    source: str | None = None
    """What it came from: a program, a person, a file."""
    source_model: str | None = None
    source_description: str | None = None
    name: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any]
    valid_at: datetime | None = None
    """When it was said or done, if not when it was written down."""
    created_at: datetime
    expired_at: datetime | None = None
    """From when on it no longer counts."""
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    idempotency_key: str | None = None
    content_hash: str
    salt: str | None = field(default=None, repr=False)
    """What the UUIDs of its facts are derived with, so that nobody can confirm a guess by one;
    ``None`` once the episode was erased. Exported, and shown nowhere."""

    @property
    def status(self) -> str:
        """``active``, ``expired`` or ``erased``."""
        if not self.content:
            return "erased"
        expired = self.expired_at is not None and self.expired_at <= clock.utc_now()
        return "expired" if expired else "active"

    @property
    def scope(self) -> Scope:
        """Whose it is."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self)
        values.pop("salt", None)
        return {name: value for name, value in values.items() if value != []}


EPISODE_FIELDS = tuple(f.name for f in fields(Episode))
EPISODE_MOMENTS = tuple(f.name for f in fields(Episode) if "datetime" in str(f.type))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode to be recorded; see :meth:`memstore.episodes.log.Episodes.add` for its fields."""

    content: str
    source: str
    name: str | None = None
    source_model: str | None = None
    source_description: str | None = None
    tags: Iterable[str] = ()
    valid_at: datetime | str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """An episode that was found, with the parts of its score.

    ``score = (1 - alpha) * word_score + alpha * similarity``, a negative similarity counting as
    none, plus ``tag_boost`` where it has the tags.
    """

    episode: Episode
    score: float
    word_score: float
    """BM25 divided by the best BM25 of this search, 0 to 1; 0 when no word matched."""
    similarity: float | None
    """Cosine of the query and the nearest piece, -1 to 1; ``None`` where nothing was compared,
    because the episode waits for its embedding or the meaning took no part."""
    start: int
    """Where in the content, counted in characters, the piece that matched best begins."""
    stop: int

    @property
    def excerpt(self) -> str:
        """The piece that matched best; of a short episode, all of it."""
        return self.episode.content[self.start : self.stop]


@dataclass(frozen=True, eq=False, repr=False)
class EpisodeHits(Results[EpisodeHit]):
    """The hits of one search, best first."""

    words_only: WordsOnly | None = None
    """Why meaning took no part although it was asked for; ``None`` if it did."""
    newest_first: int = 0
    """How many hits at the end match nothing and are there because they are the newest: what
    fills the answer up where words alone could be searched for."""


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """An access token for the HTTP server; the secret itself is not stored."""

    id: int
    name: str
    namespace: str
    """The one it reaches."""
    access: str
    """``read`` or ``write``."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """To a minute, and best effort."""

    @property
    def status(self) -> str:
        """``active``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= clock.utc_now():
            return "expired"
        return "active"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, and the status."""
        values = {f.name: json_value(getattr(self, f.name)) for f in fields(self)}
        return values | {"status": self.status}


class ProposalState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """Facts that another may supersede, once a person decides so.

    Either a newer fact may replace an older one (a supersession, with one source), or one text may
    take the place of several facts (a consolidation); that text is no fact before it is accepted.
    """

    id: int
    at: datetime
    sources: tuple[Fact, ...]
    """The facts that would be superseded."""
    new: Fact | None
    """The fact that would supersede them; ``None`` for a consolidation that is not accepted."""
    content: str
    """What the new fact says, or would say; blank once it cannot be accepted any more."""
    similarity: float | None = None
    """Cosine of the two contents, 0 to 1; a consolidation has none."""
    evidence: dict[str, Any]
    """What speaks for it and against it."""
    state: str
    decided_at: datetime | None = None

    @property
    def old(self) -> Fact:
        """The older fact, or of a consolidation the first of those it sums up."""
        return self.sources[0]

    @property
    def kind(self) -> str:
        """``supersession`` or ``consolidation``."""
        return "supersession" if len(self.sources) == 1 else "consolidation"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self) | {"kind": self.kind}
        if self.kind == "supersession":
            values["old"] = values.pop("sources")[0]
            del values["content"]
        return values


class TaskScope(StrEnum):
    """Who owns a task."""

    USER = "user"
    AGENT = "agent"
    COLLABORATIVE = "collaborative"


class TaskStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


OPEN_STATUSES = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Record):
    """Something to be done: a fact with the subject ``todo``, read as a task."""

    id: int
    content: str
    scope: str
    status: str
    priority: str = "normal"
    project: str | None = None
    due: str | None = None
    """When, in the words that were given."""
    due_at: datetime | None = None
    """The time those words name; ``None`` where they name none."""
    surface: str | None = None
    note: str | None = None
    created_at: datetime


class JournalLine(NamedTuple):
    """One line of the journal: what was changed, when and by whom."""

    id: int
    at: datetime
    actor: str
    source: str
    kind: str
    fact_id: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    evidence: dict[str, Any] | None = None
    """Why, where no person decided it."""
    episode_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One embedding model's vectors. One generation is active; another may be staged."""

    id: int
    model: str | None
    """``None`` before the first vector."""
    dimension: int | None
    """Numbers of a vector; ``None`` before the first."""
    state: str
    """``active``, ``staged`` (being made) or ``retired`` (kept to switch back to)."""
    created_at: datetime
    switched_at: datetime | None = None
    """When it became active last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCounts:
    """How many of a kind have a vector in a generation, in the whole file."""

    embedded: int
    pending: int
    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStatus:
    """A generation, and how far it has come."""

    generation: Generation
    facts: VectorCounts
    pieces: VectorCounts
    """Of episodes."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        counts = {"facts": asdict(self.facts), "pieces": asdict(self.pieces)}
        return set_fields(self.generation) | counts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """What a store holds, counted in its own namespace, and where it lives."""

    namespace: str
    active: int
    superseded: int
    deleted: int
    expired: int
    pending: int
    """Facts found by words only so far, waiting for their embedding."""
    quarantined: int
    """Facts whose embedding failed for good; their ``embed_error`` says why."""
    episodes: int
    """Episodes of the log, expired ones too."""
    episodes_pending: int
    """Episodes of which a piece waits for its embedding; words find them already."""
    episodes_quarantined: int
    """Episodes of which a piece could not be embedded, and was given up."""
    unlearnt: int
    """Conversations of the log that nothing was learnt from: a model failed, or is being asked."""
    incomplete_imports: int
    """Imports that were interrupted; the same import again completes each, or it is given up."""
    subjects: dict[str, int]
    categories: dict[str, int]
    model: str | None
    """The model of the stored vectors; ``None`` before the first embedding."""
    dimension: int | None
    embedder: str | None
    """The model this store embeds with; ``None`` means words only."""
    path: str
    size_bytes: int
    """The file and its write-ahead log."""
    log_bytes: int
    """The write-ahead log alone."""
    durability: str
    """What a confirmed write survives: ``full`` the loss of power, ``normal`` the end of the
    process."""
    schema_version: int
    locks: str
    """What locks of the file belong to: ``open file description``, ``handle`` on Windows, or
    ``process``, which any other user of the file in this process can drop."""
    exposed: dict[str, int]
    """Files of the store that other users of the machine may open, with their permission bits."""
    namespaces: dict[str, int]
    """Every namespace of the file, and how many facts it holds in whatever state."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
