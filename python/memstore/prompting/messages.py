"""Texts for a language model: prompts, and the messages of a conversation as a transcript.

A prompt is a template, filled with data that is fenced off from the instructions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.domain import clock, moments, zones
from memstore.domain.arguments import MAX_CONTENT, MAX_NAME, checked_text
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Independent of the locale: the same text makes the same prompt."""

MARK_DIGITS: Final = 12


def template(package: str, name: str) -> str:
    """Return the text of ``prompts/NAME.md`` in a package."""
    return resources.files(package).joinpath("prompts", f"{name}.md").read_text("utf-8")


def fill(template: str, **values: str) -> str:
    """Replace each ``{name}`` of a template in one pass; ``{name}`` in a value is left alone."""
    places = re.compile(rf"\{{({'|'.join(values)})\}}")
    return places.sub(lambda place: values[place[1]], template)


def numbered(claims: Iterable[Mapping[str, Any]]) -> str:
    """Write claims as JSON, one per line and numbered from 1, so that none can imitate another."""
    return "\n".join(
        f"{number}. {json.dumps(claim, ensure_ascii=False)}"
        for number, claim in enumerate(claims, 1)
    )


def weekday(at: datetime) -> str:
    """Return the English name of the user's day; it helps models to resolve "last Friday"."""
    return DAYS[zones.local(at).weekday()]


def fence(text: str, label: str) -> str:
    """Put untrusted text between two marked lines that it cannot contain.

    The mark is derived from the text, so the same text makes the same prompt, and it does not occur
    in the text: nothing inside can close the fence. The label names the text for the model:
    letters, digits, spaces and ``_``.
    """
    if not re.fullmatch(r"[A-Za-z0-9_ ]{1,60}", label):
        raise InvalidArgument(f"must be a few plain words, not {label[:60]!r}", argument="label")
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


ROLES: Final = ("user", "assistant", "system", "tool")

ACCEPTED_FORM: Final = '{"role": "user", "content": "…"}'

INDENT: Final = "    "
LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Every line break that ``str.splitlines`` recognises."""
INDENTED: Final = re.compile(f"({LINE_BREAK.pattern}){INDENT}")

HEAD: Final = re.compile(
    rf"^\d+\. (?P<role>{'|'.join(ROLES)})(?: \((?P<name>.*)\))?"
    rf"(?:, \w{{3}} (?P<at>[0-9-]+T[0-9:]+(?:Z|[+-][0-9:]+)))?:\n{INDENT}",
    re.MULTILINE,
)
"""The head of a message in a transcript; a line of its text is indented."""


@frozen
class Message:
    """One message: who said it, and when if that is known."""

    role: str
    """One of ``ROLES``."""
    content: str
    name: str | None = None
    at: datetime | None = None


Messages: TypeAlias = str | Sequence[Mapping[str, Any] | Message]
"""The forms of a conversation; a plain string is one message of the user."""


def read_messages(messages: Messages) -> list[Message]:
    """Check a conversation and return its messages.

    A message is a ``Message`` or a mapping with ``role``, ``content`` (text, or a list of
    ``{"type": "text", "text": …}`` parts), and optionally ``name`` and ``at`` (a timestamp). Other
    keys are ignored.

    Raises:
        TypeError: something has the wrong type; the text says which message, counted from 1.
        ValueError: no messages, an unknown role, blank content, or a bad time.
    """
    if isinstance(messages, str):
        return [Message("user", checked_text(messages, "the message", MAX_CONTENT))]
    if isinstance(messages, Mapping | Message):
        raise InvalidArgumentType("must be a list, even for one message", argument="messages")
    if not isinstance(messages, Sequence) or isinstance(messages, bytes | bytearray | memoryview):
        raise InvalidArgumentType(
            f"must be text or a list of {ACCEPTED_FORM}, not {type(messages).__name__}",
            argument="messages",
        )
    if not messages:
        raise InvalidArgument(
            f"is empty: at least one {ACCEPTED_FORM} is needed", argument="messages"
        )
    return [_read(message, f"message {place}") for place, message in enumerate(messages, 1)]


def _read(given: object, where: str) -> Message:
    if isinstance(given, Message):
        given = asdict(given)
    if not isinstance(given, Mapping):
        raise InvalidArgumentType(f"{where} must be {ACCEPTED_FORM}, not {type(given).__name__}")
    for key in ("role", "content"):
        if given.get(key) is None:
            raise InvalidArgument(
                f"{where} has no {key}: give {ACCEPTED_FORM}, and leave out messages without text"
            )
    name = given.get("name")
    return Message(
        role=_role(given["role"], where),
        content=checked_text(_text(given["content"], where), f"{where}: content", MAX_CONTENT),
        name=name if name is None else checked_text(name, f"{where}: name", MAX_NAME),
        at=moments.instant(given.get("at"), f"{where}: at"),
    )


def _role(role: object, where: str) -> str:
    if not isinstance(role, str):
        raise InvalidArgumentType(f"role must be text, not {type(role).__name__}", place=where)
    if role not in ROLES:
        raise InvalidArgument(
            f"unknown role {role[:40]!r}: use one of {', '.join(ROLES)}", place=where
        )
    return role


def _text(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InvalidArgumentType(
            f"content must be text or a list of text parts, not {type(content).__name__}",
            place=where,
        )
    return "\n".join(_part(part, f"{where}, part {n}") for n, part in enumerate(content, 1))


def _part(part: object, where: str) -> str:
    if not isinstance(part, Mapping):
        raise InvalidArgumentType(
            f'{where} must be {{"type": "text", "text": "…"}}, not {type(part).__name__}'
        )
    if part.get("type") != "text":
        raise InvalidArgument(
            f"{where} is of type {str(part.get('type'))[:40]!r}: only text can be remembered, "
            "leave out other parts"
        )
    if not isinstance(text := part.get("text"), str):
        raise InvalidArgumentType(f"text must be text, not {type(text).__name__}", place=where)
    return text


def transcript(messages: Sequence[Message]) -> str:
    """Write messages for a prompt: for each a numbered head line, then its text, indented.

    Every line of the text is indented, so that none can imitate the head of another message;
    otherwise the text is unchanged, including its line breaks. It is still untrusted: put it into
    a :func:`memstore.prompting.messages.fence`.
    """
    return "\n".join(
        f"{_head(place, message)}\n{INDENT}" + LINE_BREAK.sub(rf"\g<0>{INDENT}", message.content)
        for place, message in enumerate(messages, 1)
    )


def read_transcript(text: str) -> list[Message]:
    """Return the messages that :func:`transcript` wrote, their times to the minute."""
    heads = [*HEAD.finditer(text)]
    ends = [head.start() - 1 for head in heads[1:]] + [len(text)]
    return [
        Message(
            role=head["role"],
            content=INDENTED.sub(r"\1", text[head.end() : end]),
            name=head["name"],
            at=clock.moment(head["at"], "at"),
        )
        for head, end in zip(heads, ends, strict=True)
    ]


def _head(place: int, message: Message) -> str:
    head = f"{place}. {message.role}"
    if message.name is not None:
        head += f" ({' '.join(message.name.split())})"
    if message.at is not None:
        head += f", {weekday(message.at)[:3]} {zones.stamp(message.at, 'minutes')}"
    return head + ":"
