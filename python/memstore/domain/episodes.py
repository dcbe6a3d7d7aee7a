"""Episodes: what was said or done, and what a search over it finds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.domain.records import Record, Scope, set_fields
from memstore.domain.results import NO_PARTS, Results, ScoreParts, WordsOnly

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


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
    thread: str | None = None
    """The conversation it is part of; its owners have it for themselves."""
    seq: int | None = None
    """Its place there."""
    speaker: str | None = None
    """Who said it."""
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
    thread: str | None = None
    seq: int | None = None
    speaker: str | None = None
    valid_at: datetime | str | None = None
    metadata: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """An episode that was found, with the parts of its score.

    Where it has the tags that were asked for, ``tag_boost`` is added to the sum of the parts.
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
    parts: ScoreParts = NO_PARTS
    before: tuple[Episode, ...] = ()
    """Its neighbours in its thread, as far as they were asked for, in their order there."""
    after: tuple[Episode, ...] = ()

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
    ranking: str = "classic"
    """How they are ranked: ``"threads"``, or ``"classic"`` where that was asked for, or where there
    is no index, because it is being built."""
