"""Episodes, and the hits of a search over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.records import AboutOthers, Record, Scope, hit_dict, scope_of, set_fields
from memstore.domain.results import NO_PARTS, Respelt, Results, ScoreParts, WordsOnly
from memstore.frozen import field, fields, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


TRACE: Final = "trace"
"""The tag of an episode that says what was done in a session; nobody said it."""


@frozen(kw_only=True)
class Episode(Record):
    """A verbatim record of something that was said or done; facts are extracted from it."""

    id: int
    uuid: str
    namespace: str
    content: str
    """Empty after it was erased."""
    source: str | None = None
    """Where it came from: a program, a person, a file."""
    source_model: str | None = None
    source_description: str | None = None
    name: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any]
    valid_at: datetime | None = None
    """When it was said or done, if that differs from when it was recorded."""
    created_at: datetime
    expired_at: datetime | None = None
    """When it expires."""
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    thread: str | None = None
    """The conversation it is part of. Threads are separate for each set of owners."""
    seq: int | None = None
    """Its place in the thread."""
    speaker: str | None = None
    """Who said it."""
    idempotency_key: str | None = None
    content_hash: str
    salt: str | None = field(default=None, repr=False)
    """Salt for deriving the UUIDs of its facts, so that a UUID cannot be used to check a guess at
    the text; ``None`` after the episode was erased. Exported, but never shown."""

    @property
    def status(self) -> str:
        """``active``, ``expired`` or ``erased``."""
        if not self.content:
            return "erased"
        expired = self.expired_at is not None and self.expired_at <= clock.utc_now()
        return "expired" if expired else "active"

    @property
    def scope(self) -> Scope:
        """The owners it belongs to."""
        return scope_of(self.user_id, self.agent_id, self.run_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values, without the salt."""
        values = set_fields(self)
        values.pop("salt", None)
        return {name: value for name, value in values.items() if value != []}


EPISODE_FIELDS = tuple(f.name for f in fields(Episode))

EPISODE_MOMENTS = tuple(f.name for f in fields(Episode) if "datetime" in str(f.type))


@frozen(kw_only=True)
class NewEpisode:
    """An episode to be recorded; ``Episodes.add`` describes its fields."""

    content: str
    source: str
    name: str | None = None
    source_model: str | None = None
    source_description: str | None = None
    tags: Iterable[str] = ()
    thread: str | None = None
    seq: int | None = None
    speaker: str | None = None
    valid_at: datetime | str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


@frozen(kw_only=True)
class ThreadSummary(Record):
    """A thread of active episodes: how many it has, and since when and until when."""

    thread: str
    """Its name."""
    scope: Scope
    """Its owners; threads are separate for each set of owners."""
    episodes: int
    first_at: datetime
    """When the first of them was recorded."""
    last_at: datetime
    """When the last of them was recorded."""


@frozen(kw_only=True)
class SessionSummary(Record):
    """A thread of active episodes as a list of sessions shows it."""

    thread: str
    """Its name."""
    scope: Scope
    """Its owners; threads are separate for each set of owners."""
    last_id: int
    """The id of its last episode, after which the next page of the list begins."""
    source: str | None = None
    """Where its first request came from, such as the host."""
    request: str = ""
    """The beginning of the first turn that is not an agent's."""
    turns: int
    """How many episodes it has, without its trace."""
    learnt: int
    """How many facts were drawn from it."""
    changed: tuple[str, ...] = ()
    """The files that it changed, as its trace names them."""
    first_at: datetime
    """When the first of it was said."""
    last_at: datetime
    """When the last of it was said."""


@frozen
class EpisodeHit:
    """An episode that was found, with the parts of its score.

    If it has the requested tags, ``tag_boost`` is added to the sum of the parts.
    """

    episode: Episode
    score: float
    """0 if nothing was compared: it is only among the newest."""
    word_score: float
    """BM25 divided by the best BM25 of this search, 0 to 1; 0 when no word matched."""
    similarity: float | None
    """Cosine of the query and the nearest piece, -1 to 1; ``None`` if nothing was compared,
    because the episode is not embedded yet or the search used words only."""
    start: int
    """Where the best matching piece begins in the content, in characters."""
    stop: int
    parts: ScoreParts = NO_PARTS
    before: tuple[Episode, ...] = ()
    """The episodes before it in its thread, in order, as many as were requested."""
    after: tuple[Episode, ...] = ()
    project: str | None = None
    """The project that it comes from, if it is known to be another one than the store's."""

    @property
    def excerpt(self) -> str:
        """The best matching piece; all of a short episode."""
        return self.episode.content[self.start : self.stop]

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as JSON values, with the episode as :meth:`Episode.to_dict`.

        The score is ``None`` if nothing was compared.
        """
        return hit_dict(self, self.episode)


@frozen
class EpisodeHits(Results[EpisodeHit]):
    """The hits of one search, best first."""

    words_only: WordsOnly | None = None
    """Why a search by meaning went by words alone; ``None`` if it did not."""
    newest_first: int = 0
    """How many hits at the end match nothing: if only words could be searched, the newest episodes
    fill up the answer."""
    ranking: str = "classic"
    """``"contextual"``, or ``"classic"`` if requested or while the index is being built."""
    is_relevant: bool | None = None
    """Whether one of the first ten is at least as relevant as ``min_relevance`` asks for; ``None``
    if nothing was found or no minimum asked for. A search by words alone returns hits even so."""
    hidden: int = 0
    """How many of the hits ``min_relevance`` left out."""
    provisional: bool = False
    """Whether the order is provisional, because the index is still being built: the database
    answered, and the same search finds the final order in some seconds."""
    about: AboutOthers | None = None
    """That the answer is about others than the one whom the query names, for all that is known;
    ``None`` if it is not, if the query names nobody or several, or if the ranking is classic."""
    respelt: tuple[Respelt, ...] = ()
    """Words of the query that no row of the memory has, and what was searched for instead of each:
    the word of the memory that it is a misspelling of, by all appearances."""
    as_of: datetime | None = None
    """The moment whose memories were searched, with the weights that words had then and the vectors
    of now; ``None`` for now."""
