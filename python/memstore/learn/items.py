"""Asking a model for the facts in a text, and reading what it answers. Nothing is stored here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text
from memstore.domain.records import DEFAULT_CATEGORY, NewFact
from memstore.errors import GeneratorError, ReplyError
from memstore.learn.pieces import MOST_CHARACTERS, pieces
from memstore.prompting.answers import Replies
from memstore.prompting.messages import fence
from memstore.prompting.reply import parse_array, parse_object

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.protocols import Generator

LONGEST_FACT: Final = 1_000
"""Characters of an extracted fact. What is longer is no single claim but a copy of the text."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "subject": {"type": "string"},
                    "category": {"type": "string"},
                },
                "required": ["content", "subject", "category"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""No locale changes these: the same text makes the same prompt."""

_PLACE: Final = re.compile(r"\{(time|hint|text)\}")


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
    max_characters: int = MOST_CHARACTERS,
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
            found.extend(_item(entry, subject_hint) for entry in entries)
        except GeneratorError as error:
            raise type(error)(f"{where}: {error}") from error
    return found


def extract_facts(
    text: str,
    generator: Generator,
    subject_hint: str | None = None,
    *,
    at: datetime | str | None = None,
    max_characters: int = MOST_CHARACTERS,
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
    values = {
        "time": f"{DAYS[at.astimezone(UTC).weekday()]}, {clock.to_text(at)[:16]}Z",
        "hint": hint,
        "text": fence(text, "text"),
    }
    template = resources.files("memstore.learn").joinpath("prompts/extract.md").read_text("utf-8")
    # In one pass: a text that holds "{hint}" keeps it.
    return _PLACE.sub(lambda place: values[place[1]], template)


def _entries(reply: str) -> list[object]:
    """Return the list in a reply: under ``facts``, or the bare array that some models prefer."""
    try:
        facts = parse_object(reply).get("facts")
    except ReplyError as error:
        try:
            return parse_array(reply)
        except ReplyError:
            raise error from None
    if not isinstance(facts, list):
        raise ReplyError(
            'the model\'s reply has no list "facts". Nothing was lost: ask again, or ask another '
            "model"
        )
    return facts


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
