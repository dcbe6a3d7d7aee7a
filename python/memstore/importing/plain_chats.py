"""Conversations without the marks of a program: a list of messages with a speaker and a text.

Browser extensions and other programs write them as ``{"messages": […]}``, as a list, or as lines.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memstore.importing import conversations, values
from memstore.importing.conversations import HIDDEN, REASONING, TOOLS
from memstore.importing.records import Damaged, Imported, Skipped, identity, key, time_given

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from memstore.importing.records import Dump, Found

LISTS: Final = ("messages", "chat_messages", "conversation", "conversations", "chat", "turns")
"""Members of a conversation with its messages."""
ROLES: Final = ("role", "sender", "speaker", "from", "author")
TEXTS: Final = ("content", "text", "message", "value", "parts")
TIMES: Final = ("created_at", "create_time", "createdAt", "timestamp", "time", "date")
IDS: Final = ("id", "uuid", "message_id", "messageId")
THREADS: Final = ("conversation_id", "conversationId", "chat_id", "id", "uuid")
TITLES: Final = ("title", "name")
SPEAKERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "you", "prompt"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "gpt", "chatgpt", "claude", "model", "response"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
KINDS: Final = {"system": HIDDEN, "tool": TOOLS}
"""What messages of a speaker must be asked for by."""


PARTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning", "thought"), REASONING),
    **dict.fromkeys(
        ("tool_use", "tool_result", "tool_call", "tool-call", "tool-result", "function_call"), TOOLS
    ),
}
"""What parts of a message must be asked for by, by their type."""
CALLS: Final = ("tool_calls", "function_call", "toolCalls")
"""Members of a message that calls tools, and may have no text."""


def is_message(value: object) -> bool:
    """Return whether an object says who speaks, in words that are known, and what."""
    if not isinstance(value, dict) or _speaker(value) is None:
        return False
    return any(name in value for name in (*TEXTS, *CALLS))


def is_conversation(value: Mapping[str, Any]) -> bool:
    """Return whether an object has a list of messages."""
    return messages_of(value) is not None


def messages_of(value: Mapping[str, Any] | list[Any]) -> list[Any] | None:
    """Return the messages of a conversation; ``None`` if it has none, or not these alone."""
    if isinstance(value, list):
        return value
    for name in LISTS:
        given = value.get(name)
        listed = given if isinstance(given, list) else []
        if all(is_message(one) for one in listed) and any(_has_text(one) for one in listed):
            return listed
    return None


class PlainChats:
    """Reads such conversations for one source.

    Args:
        source: the name of the importer.
        include: what is imported besides what was said.
    """

    def __init__(self, source: str, dump: Dump, include: frozenset[str]) -> None:
        self._source = source
        self._dump = dump
        self._include = include

    def read(self, place: str, value: Mapping[str, Any] | list[Any], first: int) -> Iterator[Found]:
        """Yield an episode for each message.

        Args:
            first: the number of the first record.
        """
        about = value if isinstance(value, dict) else {}
        messages = messages_of(value) or []
        title = _first_text(about, TITLES)
        thread = _first_text(about, THREADS) or identity(
            self._source, "plain", title, *_beginning(messages)
        )
        for number, one in enumerate(messages):
            at = f"{place}, message {number + 1}"
            try:
                yield from self._message(at, one, (thread, title, number, first), about)
            except (ValueError, TypeError) as error:
                yield Damaged(at, str(error))

    def _text(self, given: Mapping[str, Any], left: Counter[str]) -> str:
        found = (_texts(given.get(name), left, self._include) for name in TEXTS)
        return next((text for texts in found if (text := "\n\n".join(texts))), "")

    def _message(
        self,
        place: str,
        given: Mapping[str, Any],
        position: tuple[str, str | None, int, int],
        about: Mapping[str, Any],
    ) -> Iterator[Found]:
        thread, title, number, first = position
        speaker = _speaker(given)
        kind = KINDS.get(speaker or "")
        if kind is not None and kind not in self._include:
            yield Skipped(conversations.LEFT_OUT[kind], place)
            return
        left: Counter[str] = Counter()
        text = self._text(given, left)
        left[TOOLS] += TOOLS not in self._include and any(given.get(name) for name in CALLS)
        for one, count in left.items():
            if count:
                yield Skipped(conversations.LEFT_OUT[one], place, count)
        if not text.strip():
            if not left.total():
                yield Skipped("messages without text", place)
            return
        name = _first_text(given, IDS) or identity(self._source, thread, number, speaker, text)
        columns = {
            "content": text,
            "name": values.name(title),
            "source": self._source,
            "source_model": values.name(given.get("model")),
            "created_at": _time(given) or _time(about),
            "thread": values.name(thread),
            "seq": number,
            "speaker": speaker,
            "idempotency_key": key(self._source, f"{thread}/{name}"),
        }
        known = identity(self._source, thread, name, text)
        origin = {"id": name, "conversation": thread, "kind": kind}
        yield Imported(place, self._dump.episode(first + number, known, columns, origin))


def _speaker(value: Mapping[str, Any]) -> str | None:
    for name in ROLES:
        given = value.get(name)
        if isinstance(given, dict):
            given = given.get("role")
        if isinstance(given, str) and (found := SPEAKERS.get(given.strip().lower())):
            return found
    return None


def _has_text(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(name), str | list | dict) for name in TEXTS)


def _texts(given: object, left: Counter[str], include: frozenset[str]) -> Iterator[str]:
    """Yield the texts of a message, which may be in parts; count the parts that are left out."""
    if isinstance(given, str):
        if given.strip():
            yield given
    elif isinstance(given, list):
        for one in given:
            yield from _texts(one, left, include)
    elif isinstance(given, dict):
        type_ = given.get("type")
        kind = PARTS.get(type_) if isinstance(type_, str) else None
        if kind is not None and kind not in include:
            left[kind] += 1
            return
        names = (*TEXTS, "thinking", "input", "output")
        inner = next((given[name] for name in names if given.get(name) is not None), None)
        if kind is not None and not isinstance(inner, str):
            yield f"[{type_}] {json.dumps(inner, ensure_ascii=False)}"
        elif inner is not None:
            yield from _texts(inner, left, include)
        elif isinstance(type_, str):
            yield f"[{type_}]"


def _beginning(messages: list[Any]) -> list[str]:
    """Return what tells a conversation without an id from another: what was said first."""
    return [json.dumps(_first(one, TEXTS), sort_keys=True) for one in messages[:2]]


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _first_text(value: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        given = value.get(name)
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
        if found := values.text(given):
            return found
    return None


def _time(value: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message; ``None`` if what is there is none that is known."""
    for name in TIMES:
        try:
            found = time_given(values.any_moment(value.get(name), name), name)
        except (ValueError, TypeError, OverflowError):
            continue
        if found is not None:
            return found
    return None
