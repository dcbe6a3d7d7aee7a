"""Reading the facts in a text or an episode with a model; no fact is stored here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock, moments, project_names, zones
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text
from memstore.domain.records import DEFAULT_CATEGORY, NewFact
from memstore.errors import Cancelled, GeneratorError, ReplyError
from memstore.frozen import frozen
from memstore.named import NamedTuple
from memstore.prompting.messages import fence, fill, template, weekday
from memstore.prompting.reading_log import ReadingOptions
from memstore.prompting.reply import CUT, Replies, list_schema, parse_array, parse_list
from memstore.text.chunks import PROMPT_CHARACTERS, chunks
from memstore.text.judging import slots
from memstore.text.judging.compared import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from memstore.database.engine import Progress
    from memstore.domain.episodes import Episode
    from memstore.domain.protocols import Generator
    from memstore.store.store import Store

MAX_FACT_CHARACTERS: Final = 1_000
"""The most characters of an extracted fact; a longer one is a copy of the text, not a claim."""

TEXT_OR_NULL: Final = {"type": ["string", "null"]}

SCHEMA: Final = list_schema(
    "facts",
    content={"type": "string"},
    subject={"type": "string"},
    category={"type": "string"},
    holder=TEXT_OR_NULL,
    attribute=TEXT_OR_NULL,
    value=TEXT_OR_NULL,
    cardinality={"type": ["string", "null"], "enum": [*slots.CARDINALITIES, None]},
    holds_from=TEXT_OR_NULL,
    holds_until=TEXT_OR_NULL,
)


@frozen
class Item:
    """One fact of a model's reply, checked."""

    content: str
    subject: str
    category: str
    refused: str | None = None
    """Why it cannot be stored; ``None`` if it can."""
    slots: Mapping[str, str] | None = None
    """What the model named in it, as far as its text says so."""


class ReadingWatch(NamedTuple):
    """Who is told how far a reading is, and may give it up."""

    progress: Progress | None = None
    cancelled: Callable[[], bool] | None = None

    def tell(self, done: int, total: int) -> None:
        """Raise :class:`Cancelled` if it is given up."""
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("the reading was cancelled")
        if self.progress is not None:
            self.progress(done, total)


def read_items(
    text: str,
    replies: Replies,
    subject_hint: str | None = None,
    *,
    at: datetime | str | None = None,
    max_characters: int = PROMPT_CHARACTERS,
    may_break_off: bool = True,
    watch: ReadingWatch = ReadingWatch(),  # noqa: B008 (frozen)
) -> list[Item]:
    """Return the facts a model finds in a text, in order; arguments as for :func:`extract_facts`.

    A reply that breaks off is read up to its last whole item, followed by a refused one, unless it
    ``may_break_off`` not.

    Raises:
        GeneratorError: no usable reply; the message says about which piece.
    """
    checked_text(text, "the text", MAX_NUMBER)  # a long one is read in chunks
    if subject_hint is not None:
        checked_text(subject_hint, "subject_hint", MAX_NAME)
    when = moments.instant(at, "at") or clock.utc_now()
    parts = [part for part in chunks(text, max_characters) if part.strip()]
    read = partial(_entries, may_break_off=may_break_off)
    found: list[Item] = []
    for place, part in enumerate(parts, 1):
        watch.tell(place - 1, len(parts))
        where = "extraction" if len(parts) == 1 else f"extraction, piece {place} of {len(parts)}"
        try:
            entries = replies.entries(prompt_for(part, subject_hint, when), SCHEMA, read)
        except GeneratorError as error:
            error.place = where
            raise
        found.extend(_item(entry, subject_hint) for entry in entries)
    watch.tell(len(parts), len(parts))
    return found


def extract_facts(
    text: str,
    generator: Generator,
    subject_hint: str | None = None,
    *,
    at: datetime | str | None = None,
    max_characters: int = PROMPT_CHARACTERS,
) -> list[NewFact]:
    """Return the facts a model finds in a text, each once, ready for ``Store.add_many``.

    Nothing is stored or compared; :class:`memstore.Extractor` does that. Items without content, or
    without a subject if there is no hint, are left out.

    Args:
        subject_hint: the subject of facts for which the model finds none.
        at: when the text was written, so that "tomorrow" becomes a date; now by default.
        max_characters: longer texts are read in chunks of this length.

    Raises:
        GeneratorError: no usable reply.
    """
    items = read_items(
        text,
        Replies(generator),
        subject_hint,
        at=at,
        max_characters=max_characters,
        may_break_off=False,
    )
    distinct: dict[tuple[str, str], NewFact] = {}
    for item in items:
        if item.refused is None:
            new = NewFact(
                content=item.content,
                subject=item.subject,
                category=item.category,
                slots=item.slots,
            )
            distinct.setdefault((item.content, item.subject), new)
    return [*distinct.values()]


def prompt_for(text: str, subject_hint: str | None, at: datetime) -> str:
    """Return the prompt for one piece; the caller's text is inside fences."""
    hint = ""
    if subject_hint is not None:
        hint = f"\nIt is probably about this subject:\n\n{fence(subject_hint, 'subject hint')}\n"
    return fill(
        template("memstore.learn", "extract"),
        time=f"{weekday(at)}, {zones.stamp(at, 'minutes')}",
        attributes=", ".join(f"`{name}`" for name in sorted(ATTRIBUTES)),
        hint=hint,
        text=fence(text, "text"),
    )


def _entries(reply: str, *, may_break_off: bool) -> list[object]:
    """Return the list in a reply: under ``facts``, or the bare array that some models prefer."""
    try:
        return parse_list(reply, "facts", may_break_off=may_break_off)
    except ReplyError as error:
        try:
            return parse_array(reply)
        except ReplyError:
            raise error from None


def _item(entry: object, subject_hint: str | None) -> Item:
    if entry == CUT:
        return Item("", "", "", CUT)
    if not isinstance(entry, dict):
        return Item("", "", "", f"a fact must be an object, not {type(entry).__name__}")
    given: dict[str, Any] = {name: entry.get(name) for name in ("content", "subject", "category")}
    for name, default in (("subject", subject_hint), ("category", DEFAULT_CATEGORY)):
        if given[name] is None or (isinstance(given[name], str) and not given[name].strip()):
            given[name] = default
    texts = {name: text.strip() if isinstance(text, str) else "" for name, text in given.items()}
    refused = _refusal(given)
    named = {} if refused else slots.found(entry, texts["content"], texts["subject"])
    return Item(**texts, refused=refused, slots=named or None)


def _refusal(given: dict[str, object]) -> str | None:
    if given["content"] is None:
        return "it has no content"
    if given["subject"] is None:
        return "it has no subject, and there is no hint"
    for name, text in given.items():
        try:
            checked_text(text, name, MAX_FACT_CHARACTERS if name == "content" else MAX_NAME)
        except (ValueError, TypeError) as error:
            return str(error)
    return None


class EpisodeReader:
    def __init__(self, store: Store, generator: Generator, max_characters: int) -> None:
        self._store = store
        self._generator = generator
        self.max_characters = max_characters

    def usual(self, episode: Episode) -> ReadingOptions:
        return ReadingOptions(
            at=episode.valid_at,
            metadata=episode.metadata or None,
            max_characters=self.max_characters,
        )

    def begin(
        self,
        episode: Episode,
        options: ReadingOptions,
        *,
        only_kept: bool = False,
        counted: bool = False,
    ) -> Replies:
        """Log how an episode is read, and return the model with its stored replies about it.

        Args:
            only_kept: the model is not asked, and a missing reply is an error.
            counted: the episode counts as not read until the log says otherwise.
        """
        self._store.readings.begin(episode.id, options, counted=counted)
        return Replies(self._generator, self._store.readings, episode.id, only_kept=only_kept)

    def read(
        self,
        episode: Episode,
        options: ReadingOptions,
        replies: Replies,
        watch: ReadingWatch = ReadingWatch(),  # noqa: B008 (frozen)
    ) -> list[Item]:
        return read_items(
            episode.content,
            replies,
            options.hint,
            at=said_at(episode, options),
            max_characters=options.max_characters,
            watch=watch,
        )


def said_at(episode: Episode, options: ReadingOptions) -> datetime:
    # A text that is read again counts from when it was first recorded.
    return options.at or episode.valid_at or episode.created_at


def facts_in(
    episode: Episode,
    items: Iterable[Item],
    derivation: str,
    at: datetime | None,
    metadata: Mapping[str, Any] | None,
) -> list[NewFact]:
    """Return the items that can be stored, as facts of the episode and its owners.

    They hold since they were said, unless their slots name another time.
    """
    return [
        NewFact(
            content=item.content,
            subject=item.subject,
            category=item.category,
            metadata=project_names.within(
                metadata, project_names.of(episode.metadata), item.category
            ),
            **_times(item.slots, at, episode),
            source=episode.source,
            episode_id=episode.id,
            derivation=derivation,
            **episode.scope.ids,
        )
        for item in items
        if item.refused is None
    ]


def _times(
    named: Mapping[str, str] | None, at: datetime | None, episode: Episode
) -> dict[str, Any]:
    """Return since when a fact holds and until when, with its slots.

    A time until which something held, said later, tells of the past: such a fact does not expire.
    """
    began, ends = slots.began(named), slots.ends(named)
    if began is not None and at is not None:
        named = {**(named or {}), slots.SAID_AT: clock.to_text(at)}
    said = at or episode.created_at
    expires = ends is not None and ends > max(said, began or said)
    return {
        "valid_at": began or at,
        "expired_at": ends if expires else None,
        "slots": named,
    }
