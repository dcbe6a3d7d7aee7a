"""Asking a model for the facts in a text, and reading what it answers. Nothing is stored here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text
from memstore.domain.records import DEFAULT_CATEGORY, NewFact
from memstore.errors import GeneratorError, ReplyError
from memstore.prompting.answers import Replies
from memstore.prompting.prompts import fence, fill, template, weekday
from memstore.prompting.reply import list_schema, parse_array, parse_list, parse_object
from memstore.text.chunks import PROMPT_CHARACTERS, pieces

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.protocols import Generator

LONGEST_FACT: Final = 1_000
"""Characters of an extracted fact. What is longer is no single claim but a copy of the text."""

SCHEMA: Final = list_schema(
    "facts",
    content={"type": "string"},
    subject={"type": "string"},
    category={"type": "string"},
)


@dataclass(frozen=True, slots=True)
class Item:
    """One fact as a model gave it, checked."""

    content: str
    subject: str
    category: str
    refused: str | None = None
    """Why it cannot be stored; ``None``: it can."""


def read_items(
    text: str,
    replies: Replies,
    subject_hint: str | None = None,
    *,
    at: datetime | str | None = None,
    max_characters: int = PROMPT_CHARACTERS,
) -> list[Item]:
    """Return the facts a model finds in a text, piece by piece, in order.

    Args:
        text: any text; a long one is cut, and the model is asked about each piece.
        replies: the model, and what it answered before.
        subject_hint: whom or what the text is about, for facts that do not say.
        at: when the text was written, so that "tomorrow" becomes a date; now, if not given.
        max_characters: the length of the longest piece.

    Raises:
        GeneratorError: no usable reply; the message says about which piece. The kind of error is
            the generator's own, so that it tells whether trying again makes sense.
    """
    checked_text(text, "the text", MAX_NUMBER)  # a long one is read in pieces
    if subject_hint is not None:
        checked_text(subject_hint, "subject_hint", MAX_NAME)
    when = clock.moment(at, "at") or clock.utc_now()
    parts = [part for part in pieces(text, max_characters) if part.strip()]
    found: list[Item] = []
    for place, part in enumerate(parts, 1):
        where = "extraction" if len(parts) == 1 else f"extraction, piece {place} of {len(parts)}"
        try:
            entries = replies.entries(prompt_for(part, subject_hint, when), SCHEMA, _entries)
        except GeneratorError as error:
            error.place = where
            raise
        found.extend(_item(entry, subject_hint) for entry in entries)
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

    Nothing is stored and nothing compared; see :class:`memstore.Extractor` for that. Items
    without content, or without a subject where there is no hint, are left out.

    Args:
        text: any text.
        generator: the model.
        subject_hint: whom or what the text is about, for facts that do not say.
        at: when the text was written, so that "tomorrow" becomes a date; now, if not given.
        max_characters: longer texts are cut, and the model is asked about each piece.

    Raises:
        GeneratorError: no usable reply.
    """
    items = read_items(text, Replies(generator), subject_hint, at=at, max_characters=max_characters)
    distinct: dict[tuple[str, str], NewFact] = {}
    for item in items:
        if item.refused is None:
            new = NewFact(content=item.content, subject=item.subject, category=item.category)
            distinct.setdefault((item.content, item.subject), new)
    return [*distinct.values()]


def prompt_for(text: str, subject_hint: str | None, at: datetime) -> str:
    """Return the prompt for one piece; all that is not ours stands between fences."""
    hint = ""
    if subject_hint is not None:
        hint = f"\nIt is probably about this subject:\n\n{fence(subject_hint, 'subject hint')}\n"
    return fill(
        template("memstore.learn", "extract"),
        time=f"{weekday(at)}, {clock.to_text(at)[:16]}Z",
        hint=hint,
        text=fence(text, "text"),
    )


def _entries(reply: str) -> list[object]:
    """Return the list in a reply: under ``facts``, or the bare array that some models prefer."""
    try:
        parse_object(reply)
    except ReplyError as error:
        try:
            return parse_array(reply)
        except ReplyError:
            raise error from None
    return parse_list(reply, "facts")


def _item(entry: object, subject_hint: str | None) -> Item:
    if not isinstance(entry, dict):
        return Item("", "", "", f"a fact must be an object, not {type(entry).__name__}")
    content = entry.get("content")
    subject = entry.get("subject")
    category = entry.get("category")
    if subject is None or (isinstance(subject, str) and not subject.strip()):
        subject = subject_hint
    if category is None or (isinstance(category, str) and not category.strip()):
        category = DEFAULT_CATEGORY
    given = {"content": content, "subject": subject, "category": category}
    texts = {name: text.strip() if isinstance(text, str) else "" for name, text in given.items()}
    return Item(**texts, refused=_refusal(given))


def _refusal(given: dict[str, object]) -> str | None:
    if given["content"] is None:
        return "it has no content"
    if given["subject"] is None:
        return "it has no subject, and there is no hint"
    for name, text in given.items():
        try:
            checked_text(text, name, LONGEST_FACT if name == "content" else MAX_NAME)
        except (ValueError, TypeError) as error:
            return str(error)
    return None
