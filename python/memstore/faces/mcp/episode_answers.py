"""Answers of the tool set ``episodes``: short, capped, marked as data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore import __version__
from memstore.domain import clock, metadata
from memstore.domain.notes import OnlyNewest
from memstore.faces.escaping import second
from memstore.faces.mcp import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.notes import Note
    from memstore.domain.status import StoreStatus
    from memstore.embedding.health import Probe
    from memstore.faces.mcp.answers import Answer

NAMES: Final = ("name", "source", "source_model", "source_description", "thread", "speaker")

TAGS_CHARACTERS: Final = 1_000


def of_hits(
    hits: EpisodeHits, given: Iterable[Note], home: str, narrowing: Sequence[str] = ()
) -> Answer:
    """Return the hits, best first, and their notes.

    Episodes of ``home``, the server's namespace, are identified by number.
    """
    room = _room_each(len(hits))
    found = (_of_hit(hit, home, room) for hit in hits)
    answer = answers.capped("episodes", found, len(hits), "left_out", narrowing)
    if hits.words_only is not None:
        answer["words_only_code"] = hits.words_only.code
    left = len(hits) - len(answer["episodes"])
    shown = [_of_shown(one, left) for one in given]
    return answers.noted(answer, filter(None, shown), 'search_mode="keyword"')


def _of_shown(note: Note, left: int) -> Note | None:
    """Return a note without the hits at the end that did not fit."""
    if not isinstance(note, OnlyNewest):
        return note
    return OnlyNewest(note.count - left) if note.count > left else None


def of_list(
    episodes: Sequence[Episode], total: int, home: str, narrowing: Sequence[str] = ()
) -> Answer:
    room = _room_each(len(episodes))
    found = (of_episode(episode, home, room) for episode in episodes)
    answer = answers.capped("episodes", found, total, "more", narrowing)
    if len(answer["episodes"]) == len(episodes):
        answer.pop("hint", None)  # the limit left them out, not the size of the answer
    return answer


def of_said(hits: EpisodeHits, home: str, answer: Answer) -> list[Answer]:
    """Return the turns beside the facts of an answer, as many as its limit leaves room for."""
    left = answers.WHOLE_CHARACTERS - answers.room_of(answer)
    return answers.fitting(
        (_of_hit(hit, home, answers.EACH_CHARACTERS) for hit in hits), left, least=0
    )


def of_turns(turns: Sequence[Episode], home: str) -> Answer:
    """Return a stretch of a thread in order, as much of it as fits."""
    room = _room_each(len(turns))
    return answers.capped(
        "episodes", (of_episode(turn, home, room) for turn in turns), len(turns), "more"
    )


def of_episode(
    episode: Episode,
    home: str,
    room: int = answers.EACH_CHARACTERS,
    start: int = 0,
    stop: int | None = None,
) -> Answer:
    """Return the members of an episode for a model; ``room`` limits content and metadata together.

    If the content does not fit, the part around ``start`` to ``stop`` is shown.
    """
    content = answers.beginning(episode.content, room)
    begin = 0
    if len(content) < len(episode.content) and stop is not None:
        begin, content = start, answers.beginning(episode.content[start:stop], room)
    answer: Answer = {"id": _id(episode, home)}
    answer |= {
        name: answers.beginning(text, answers.NAME_CHARACTERS)
        for name in NAMES
        if (text := getattr(episode, name)) is not None
    }
    answer |= {"content": content, "created_at": second(episode.created_at)}
    cut = []
    if len(content) < len(episode.content):
        cut.append(
            f"content: characters {begin:,} to {begin + len(content):,} of "
            f"{len(episode.content):,}; search by words of the part that matters, or "
            f"`memstore episode get {answer['id']}`, shows more"
        )
    if episode.tags:
        answer["tags"] = _first_tags(episode.tags)
        if len(answer["tags"]) < len(episode.tags):
            cut.append(f"tags: {len(answer['tags'])} of {len(episode.tags)}")
    for name in ("valid_at", "expired_at"):
        if (moment := getattr(episode, name)) is not None:
            answer[name] = second(moment)
    told = answers.without_project(episode.metadata)
    if note := answers.put_metadata(answer, told, room - answers.room_of(content)):
        cut.append(note)
    if cut:
        answer["cut"] = "; ".join(cut)
    return answer


def of_added(episode: Episode, home: str) -> Answer:
    return {"id": _id(episode, home), "status": "stored"}


def of_change(episode: Episode, home: str) -> Answer:
    answer: Answer = {"id": _id(episode, home), "status": episode.status}
    answer["tags"] = _first_tags(episode.tags)
    if episode.expired_at is not None:
        answer["expired_at"] = second(episode.expired_at)
    return answer | {"metadata_keys": len(episode.metadata)}


def undoing(asked_id: int | str, before: Episode, changes: Mapping[str, Any]) -> Answer:
    """Return the call that undoes an update of tags, expiry and metadata."""
    back: dict[str, Any] = {}
    if "tags" in changes:
        back["tags"] = before.tags
    if "expired_at" in changes:
        back["expired_at"] = before.expired_at and clock.to_text(before.expired_at)
    if reversed_ := metadata.reverse_patch(before.metadata, changes.get("metadata") or {}):
        back["metadata"] = reversed_
    return answers.undone_by("update_episode", id=asked_id, **back) if back else {}


def of_health(status: StoreStatus, probe: Probe | None) -> Answer:
    """Return whether everything works, and the counts of what is stored.

    It contains nothing about other namespaces, which belong to others. The probe is the result of
    the embedder's health check; ``None`` without an embedder.
    """
    answer: Answer = {
        "status": "healthy" if probe is None or probe.works else "degraded",
        "version": __version__,
        "namespace": status.namespace,
        "episodes": status.episodes,
        "pending": status.episodes_pending,
        "quarantined": status.episodes_quarantined,
        "facts": {
            "active": status.active,
            "pending": status.pending,
            "quarantined": status.quarantined,
        },
        "search": "words only" if probe is None else "words and meaning",
        "file": status.path,
        "megabytes": round(status.size_bytes / 1e6, 2),
        "schema": status.schema_version,
    }
    if status.model is not None:
        answer |= {"model": status.model, "dimension": status.dimension}
    if probe is not None:
        answer["embedder"] = {
            "model": status.embedder,
            "works": probe.works,
            "milliseconds": round(probe.seconds * 1000),
        }
        if probe.trouble is not None:
            answer["embedder"]["trouble"] = answers.explained(probe.trouble)
            answer["hint"] = "new items are stored and found by words; meaning follows later"
    return answer


def _id(episode: Episode, home: str) -> int | str:
    """Return an episode's number, or its UUID if it is in another namespace."""
    return episode.id if episode.namespace == home else episode.uuid


def _of_hit(hit: EpisodeHit, home: str, room: int) -> Answer:
    answer = of_episode(hit.episode, home, room, hit.start, hit.stop)
    if hit.score:  # 0 if nothing was compared: it is only among the newest
        answer["score"] = round(hit.score, 3)
    if hit.similarity is not None:
        answer["similarity"] = round(hit.similarity, 3)
    answer |= answers.from_project(hit.project)
    return answer | answers.neighbours(hit, partial(_of_neighbour, home))


def _of_neighbour(home: str, episode: Episode) -> Answer:
    told = of_episode(episode, home, answers.NEIGHBOUR_CHARACTERS)
    kept = ("id", "speaker", "content", "created_at", "valid_at", "expired_at", "cut")
    return {name: told[name] for name in kept if name in told}


def _room_each(count: int) -> int:
    """Return the budget for content and metadata of each of ``count`` episodes."""
    return max(answers.EACH_CHARACTERS, answers.WHOLE_CHARACTERS // max(1, count))


def _first_tags(tags: Sequence[str]) -> list[str]:
    shown: list[str] = []
    room = TAGS_CHARACTERS
    for tag in tags:
        room -= answers.room_of(tag) + 1
        if room < 0:
            break
        shown.append(tag)
    return shown
