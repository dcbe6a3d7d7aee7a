"""Long texts, kept as several episodes.

A longer text than :data:`MAX_BYTES` is cut into parts, at paragraphs, lines, sentences or words.
Joined they are the text. Each is an episode, and all have the same source, name, speaker, tags,
time and owners. They are at one place of one thread and follow each other there, whatever others
add. The metadata of each says which one it is, so that a text of which a part is missing is never
taken for a whole one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.short_transactions import in_groups
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_CONTENT
from memstore.episodes.checks import hash_of
from memstore.errors import InvalidArgument, Remedy
from memstore.frozen import frozen, replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.domain.episodes import Episode
    from memstore.text import chunks
else:
    uuid = lazy_import("uuid")
    chunks = lazy_import("memstore.text.chunks")

MARK: Final = "part"
"""The member of the metadata that says which part of a text an episode is."""

MAX_BYTES: Final = MAX_CONTENT
"""Bytes of the UTF-8 of a text that is one episode: what it costs to write depends on these."""

MAX_PARTS: Final = 5_000
"""More than a text has, of which each part is at least a quarter as long as it may be."""


class Mark(NamedTuple):
    """Which part of a text an episode is."""

    number: int
    """From 1."""
    of: int
    first: str
    """The UUID of the first one."""


@frozen(kw_only=True)
class TextPart:
    """A part of a text that is to be recorded; of most texts, the only one."""

    text: int
    """Which of the texts that are recorded together it belongs to."""
    number: int
    of: int
    first_hash: str
    """The hash of the first part."""
    values: Mapping[str, Any]
    """The columns; :func:`following` completes those of all but the first."""

    @property
    def bytes(self) -> int:
        """How much text it writes."""
        values = self.values
        more = (*values["tags"], metadata.encode(values["metadata"]) or "")
        return sum(len(one.encode()) for one in (values["content"], *more))


def of_text(number: int, values: Mapping[str, Any]) -> list[TextPart]:
    """Return the parts of a text, given its number among others and its columns."""
    cut = [*_cut(values["content"])]
    if len(cut) == 1:
        return [
            TextPart(text=number, number=1, of=1, first_hash=values["content_hash"], values=values)
        ]
    first = clock.new_uuid(clock.utc_now())
    whole = {**values, "thread": values["thread"] or first}
    made = [{**whole, "content": text, "content_hash": hash_of(text)} for text in cut]
    made[0] |= {"uuid": first, "metadata": _marked(values["metadata"], Mark(1, len(cut), first))}
    first_hash = made[0]["content_hash"]
    return [
        TextPart(text=number, number=place, of=len(cut), first_hash=first_hash, values=one)
        for place, one in enumerate(made, 1)
    ]


def _cut(text: str, characters: int = MAX_BYTES) -> Iterator[str]:
    """Yield the parts of a text; of a short one, itself."""
    if len(text.encode()) <= MAX_BYTES:
        yield from [text] if text else ()
        return
    for part in chunks.chunks(text, characters):
        yield from _cut(part, max(1, characters // 2))


def derived_of(values: Mapping[str, Any]) -> episode_table.DerivedTexts:
    """Return what is derived from the texts of an episode; it is made before the transaction."""
    return episode_table.derived(values["content"], values["name"], values["source_description"])


def checked_whole(values: dict[str, Any]) -> dict[str, Any]:
    """Refuse a text that would have parts."""
    if len(values["content"]) > MAX_CONTENT:
        raise InvalidArgument(
            f"is {len(values['content']):,} characters long; the limit is {MAX_CONTENT:,}",
            argument="content",
            remedy=Remedy.RECORD_PARTS,
        )
    return values


def following(part: TextPart, first: Episode) -> dict[str, Any]:
    """Return the columns of a part, which stands where the first one does."""
    if part.number == 1:
        return dict(part.values)
    return {
        **part.values,
        "thread": first.thread,
        "seq": first.seq,
        "idempotency_key": key_of(first.uuid, part.number),
        "metadata": _marked(part.values["metadata"], Mark(part.number, part.of, first.uuid)),
    }


def given_key(part: TextPart) -> str | None:
    """Return the key that a caller gave a text, for its first part."""
    return part.values["idempotency_key"] if part.number == 1 else None


def key_of(first: str, number: int) -> str:
    """Return the idempotency key of a part that is not the first, by which it is found."""
    return f"{first}:{number}"


def mark_of(episode: Episode) -> Mark | None:
    """Return which part of a text an episode is; ``None`` if it is a whole one."""
    given = episode.metadata.get(MARK)
    if not isinstance(given, dict):
        return None
    mark = Mark(*(given.get(name) for name in Mark._fields))  # type: ignore[arg-type]
    if not all(type(one) is int for one in (mark.number, mark.of)):
        return None
    return mark if 1 <= mark.number <= mark.of <= MAX_PARTS and type(mark.first) is str else None


def steps(parts: Iterable[TextPart]) -> Iterator[list[TextPart]]:
    """Yield parts in order, as many as one transaction may write."""
    return in_groups(parts, lambda part: part.bytes)


def of_episode(episode: Episode) -> list[Episode]:
    """Return an episode that comes from elsewhere in parts; always the same ones.

    The first has its id and its UUID, and the ids of the others are none that a file has.
    """
    cut = [*_cut(episode.content)]
    if len(cut) < 2:
        return [episode]
    thread = episode.thread or episode.uuid
    found = []
    for number, text in enumerate(cut, 1):
        part = replace(
            episode,
            content=text,
            content_hash=hash_of(text),
            thread=thread,
            seq=episode.seq or 1,
            metadata=_marked(episode.metadata, Mark(number, len(cut), episode.uuid)),
        )
        if number > 1:
            key = key_of(episode.uuid, number)
            part = replace(
                part,
                id=-(episode.id * len(cut) + number),
                uuid=str(uuid.uuid5(uuid.UUID(episode.uuid), key)),
                idempotency_key=key,
            )
        found.append(part)
    return found


def joined(episodes: Sequence[Episode]) -> list[Episode]:
    """Return episodes in order, the parts of each text that all follow each other as one.

    It is the first of them, with the whole text and without the mark.
    """
    found: list[Episode] = []
    open_parts: list[Episode] = []
    for episode in episodes:
        mark = mark_of(episode)
        if mark is not None and _continues(open_parts, mark):
            open_parts.append(episode)
        else:
            found += open_parts
            open_parts = [episode]
        if mark is None or mark.number == mark.of:
            found += _whole(open_parts)
            open_parts = []
    return found + open_parts


def from_first(episodes: Sequence[Episode]) -> tuple[list[Episode], list[Episode]]:
    """Split episodes in order: parts of a text whose first is not among them, and the others."""
    marks = map(mark_of, episodes)
    start = next((n for n, mark in enumerate(marks) if mark is None or mark.number == 1), None)
    start = len(episodes) if start is None else start
    return [*episodes[:start]], [*episodes[start:]]


def _continues(open_parts: Sequence[Episode], mark: Mark) -> bool:
    last = mark_of(open_parts[-1]) if open_parts else None
    return last is not None and mark == last._replace(number=last.number + 1)


def _whole(open_parts: list[Episode]) -> list[Episode]:
    mark = mark_of(open_parts[-1])
    if mark is None or len(open_parts) < mark.of or mark.of == 1:
        return open_parts
    content = "".join(part.content for part in open_parts)
    kept = {name: value for name, value in open_parts[0].metadata.items() if name != MARK}
    kept |= open_parts[0].metadata[MARK].get("metadata", {})
    return [replace(open_parts[0], content=content, content_hash=hash_of(content), metadata=kept)]


def _marked(given: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """Return metadata with a mark; a caller's own member of this name is kept in it."""
    own = {"metadata": {MARK: given[MARK]}} if MARK in given else {}
    return {**given, MARK: mark._asdict() | own}
