"""Messages of a conversation: read with clear errors, and shown to a model as data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from memstore.domain import clock
from memstore.domain.arguments import MAX_CONTENT, MAX_NAME, checked_text

ROLES: Final = ("user", "assistant", "system", "tool")

DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""A model resolves "last Friday" more surely when it is told the day; no locale changes these."""

ACCEPTED_FORM: Final = '{"role": "user", "content": "…"}'

INDENT: Final = "    "
LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What any reader may take for the end of a line: just where ``str.splitlines`` cuts."""

MARK_DIGITS: Final = 12
"""Hexadecimal digits that make a fence's mark; it is changed until the text does not hold it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said, by whom, and when if that is known."""

    role: str
    """One of ``ROLES``."""
    content: str
    name: str | None = None
    at: datetime | None = None


Messages: TypeAlias = str | Sequence[Mapping[str, Any] | Message]
"""What a conversation may be given as; a text alone is one message of the user."""


def read_messages(messages: Messages) -> list[Message]:
    """Return a conversation as messages, every one checked.

    A message is a ``Message`` or a mapping with ``role``, ``content`` (text, or a list of
    ``{"type": "text", "text": …}`` parts) and perhaps ``name`` and ``at`` (a time stamp); other
    keys are left aside, since transcripts carry many.

    Raises:
        TypeError: something is of another type; the text says which message, counted from 1.
        ValueError: no messages, an unknown role, blank content, or a time that is none.
    """
    if isinstance(messages, str):
        return [Message("user", checked_text(messages, "the message", MAX_CONTENT))]
    if isinstance(messages, Mapping | Message):
        raise TypeError("messages must be a list: put the one message into [ ]")
    if not isinstance(messages, Sequence) or isinstance(messages, bytes | bytearray | memoryview):
        raise TypeError(
            f"messages must be text or a list of {ACCEPTED_FORM}, not {type(messages).__name__}"
        )
    if not messages:
        raise ValueError(f"messages is empty: give text or at least one {ACCEPTED_FORM}")
    return [_read(message, f"message {place}") for place, message in enumerate(messages, 1)]


def _read(given: object, where: str) -> Message:
    if isinstance(given, Message):
        given = {"role": given.role, "content": given.content, "name": given.name, "at": given.at}
    if not isinstance(given, Mapping):
        raise TypeError(f"{where} must be {ACCEPTED_FORM}, not {type(given).__name__}")
    for key in ("role", "content"):
        if given.get(key) is None:
            raise ValueError(
                f"{where} has no {key}: give {ACCEPTED_FORM}, and leave out messages without text"
            )
    name = given.get("name")
    return Message(
        role=_role(given["role"], where),
        content=checked_text(_text(given["content"], where), f"{where}: content", MAX_CONTENT),
        name=name if name is None else checked_text(name, f"{where}: name", MAX_NAME),
        at=clock.moment(given.get("at"), f"{where}: at"),
    )


def _role(role: object, where: str) -> str:
    if not isinstance(role, str):
        raise TypeError(f"{where}: role must be text, not {type(role).__name__}")
    if role not in ROLES:
        raise ValueError(f"{where}: unknown role {role[:40]!r}: use one of {', '.join(ROLES)}")
    return role


def _text(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise TypeError(
            f"{where}: content must be text or a list of text parts, not {type(content).__name__}"
        )
    return "\n".join(_part(part, f"{where}, part {n}") for n, part in enumerate(content, 1))


def _part(part: object, where: str) -> str:
    if not isinstance(part, Mapping):
        raise TypeError(
            f'{where} must be {{"type": "text", "text": "…"}}, not {type(part).__name__}'
        )
    if part.get("type") != "text":
        raise ValueError(
            f"{where} is of type {str(part.get('type'))[:40]!r}: only text can be remembered, "
            "leave other parts out"
        )
    if not isinstance(text := part.get("text"), str):
        raise TypeError(f"{where}: text must be text, not {type(text).__name__}")
    return text


def transcript(messages: Sequence[Message]) -> str:
    """Write messages for a prompt: a numbered head line each, what was said indented below it.

    Every line that was said is indented, so that none can pass for the head of another message;
    nothing else about the words is changed, the kind of their line breaks included.
    It is untrusted all the same: put it into a ``fence``.
    """
    return "\n".join(
        f"{_head(place, message)}\n{_indented(message.content)}"
        for place, message in enumerate(messages, 1)
    )


def _head(place: int, message: Message) -> str:
    head = f"{place}. {message.role}"
    if message.name is not None:
        head += f" ({' '.join(message.name.split())})"
    if message.at is not None:
        head += f", {DAYS[message.at.astimezone(UTC).weekday()]} {clock.to_text(message.at)[:16]}Z"
    return head + ":"


def _indented(text: str) -> str:
    return INDENT + LINE_BREAK.sub(rf"\g<0>{INDENT}", text)


def fence(text: str, label: str) -> str:
    """Put untrusted text between two lines that it cannot contain, so that it is plainly data.

    The mark in both lines follows from the text, so the same text makes the same prompt, and it is
    one that does not occur in the text: what is inside cannot close the fence.

    Args:
        text: anything at all.
        label: names the text for the model, e.g. "conversation"; letters, digits, spaces and ``_``.
    """
    if not re.fullmatch(r"[A-Za-z0-9_ ]{1,60}", label):
        raise ValueError(f"a fence's label is a few plain words, not {label[:60]!r}")
    mark = _mark(text)
    return f"<<<{label} {mark}\n{text}\n{label} {mark}>>>"


def _mark(text: str) -> str:
    """Return hexadecimal digits that occur nowhere in the text, in either case."""
    folded = text.casefold()
    seed = text.encode("utf-8", "surrogatepass")
    while True:
        mark = hashlib.sha256(seed).hexdigest()[:MARK_DIGITS]
        if mark not in folded:
            return mark
        seed = mark.encode() + seed
