"""ChatGPT's data export: ``conversations.json``, or ``conversations-NNN.json``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TextIO

from memstore.domain.arguments import MAX_NAME
from memstore.frozen import replace
from memstore.importing import conversations, long_json, plain_chats, values
from memstore.importing.bundle import Bundle
from memstore.importing.conversations import BRANCHES, HIDDEN, REASONING, TOOLS, ChatMessage
from memstore.importing.long_json import JsonForm
from memstore.importing.plain_chats import PlainChats
from memstore.importing.records import Damaged, Dump, Imported, Skipped, identity, key
from memstore.importing.values import text as text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.conversations import MessageWalk
    from memstore.importing.records import Found

NAME: Final = "chatgpt"
FILES: Final = re.compile(r"(.*/)?conversations(-\d+)?\.json")

REASONS: Final = frozenset({"thoughts", "reasoning_recap"})
OUTPUTS: Final = frozenset({
    "execution_output", "tether_browsing_display", "tether_quote", "sonic_webpage",
    "computer_output", "system_error", "super_widget",
})  # fmt: skip
SETTINGS: Final = frozenset({"user_editable_context", "model_editable_context"})
TEXTS: Final = ("text", "result", "content", "user_profile", "user_instructions")
"""Keys of the text in content without parts."""
READ: Final = frozenset({"text", "multimodal_text", "code", *REASONS, *OUTPUTS, *SETTINGS})
"""Kinds of content whose text is read; the text of others is, too, where it stands as in these."""
MAX_KIND: Final = 40
TIME: Final = "create_time"
ASSET: Final = "_asset_pointer"


def is_conversation(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("mapping"), dict)


def _is_record(value: Mapping[str, Any]) -> bool:
    return is_conversation(value) or plain_chats.is_conversation(value)


FORM: Final = JsonForm(
    "a conversation of ChatGPT, which has a mapping",
    _is_record,
    frozenset({"conversations", "items"}),
    plain_chats.is_message,
)
EXPECTED: Final = (
    "the data export is expected, or its conversations.json: conversations with a mapping, or with "
    "messages"
)


def found(
    path: Path, progress: Progress | None = None, include: Collection[str] = ()
) -> Iterator[Found]:
    bundle = Bundle(path)
    parts = bundle.chosen(FILES, "conversations.json")
    reader = _Conversations(Dump.of(NAME, path), frozenset(include))
    yield from bundle.records(parts, reader.file, progress)
    for link in bundle.links:
        yield Skipped("links", link, is_known=False)


class _Conversations:
    def __init__(self, dump: Dump, include: frozenset[str]) -> None:
        self._dump = dump
        self._include = include
        self._number = 0
        self._plain = PlainChats(NAME, dump, include)

    def file(self, inside: str, file: TextIO) -> Iterator[Found]:
        for item in long_json.records(file, FORM):
            if isinstance(item, Skipped):
                yield item
            elif not isinstance(item, long_json.JsonItem):
                yield replace(item, place=f"{inside}{item.place}")
            else:
                yield from self._read(f"{inside}{item.place}", item.value)

    def _read(self, place: str, value: Any) -> Iterator[Found]:
        if isinstance(value, list) or not is_conversation(value):
            messages = plain_chats.messages_of(value) or []
            yield from self._plain.read(place, value, self._number + 1)
            self._number += len(messages)
            return
        nodes = {name: node for name, node in value["mapping"].items() if isinstance(node, dict)}
        parents = {name: text_of(node.get("parent")) for name, node in nodes.items()}
        title = text_of(value.get("title")) or place
        walk = self._walk(value, nodes, parents)
        if walk.circles:
            yield Skipped("parents in a circle", title, walk.circles)
        left = sum(1 for node in nodes.values() if node.get("message")) - sum(
            1 for name, _ in walk.nodes if nodes[name].get("message")
        )
        if left:
            yield Skipped("messages on other branches", title, left)
        if not any(node.get("message") for node in nodes.values()):
            yield Skipped("conversations without messages", title)
        for name, depth in walk.nodes:
            if isinstance(nodes[name].get("message"), dict):
                yield from self._message(f"{place}, message {name[:80]}", value, name, depth)

    def _walk(
        self,
        conversation: Mapping[str, Any],
        nodes: Mapping[str, Mapping[str, Any]],
        parents: Mapping[str, str | None],
    ) -> MessageWalk:
        if BRANCHES in self._include:
            return conversations.every(parents)
        end = text_of(conversation.get("current_node"))
        if end not in nodes:
            # The newest of those that nothing follows, as the program shows.
            ends = list(conversations.leaves(parents))
            end = max(ends, key=lambda name: _second(nodes[name].get("message"))) if ends else None
        return conversations.path(parents, end)

    def _message(
        self, place: str, conversation: Mapping[str, Any], node: str, depth: int
    ) -> Iterator[Found]:
        given = conversation["mapping"][node]["message"]
        try:
            message = _read(given, node)
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))
            return
        if message.kind is not None and message.kind not in self._include:
            yield Skipped(conversations.LEFT_OUT[message.kind], place)
            return
        if not message.text.strip():
            yield Skipped(_without_text(given), place)
            return
        self._number += 1
        thread = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
        title = text_of(conversation.get("title"))
        try:
            known = identity(NAME, message.id, message.text)
            times = (values.moment(one.get(TIME), TIME) for one in (given, conversation))
            at = next((time for time in times if time is not None), None)
            columns = {
                "content": message.text,
                "name": title[:MAX_NAME] if title else None,
                "source": NAME,
                "source_model": text_of(_about(given).get("model_slug")),
                "created_at": at,
                "thread": (thread or _root(conversation, node))[:MAX_NAME],
                "seq": depth,
                "speaker": message.speaker,
                "idempotency_key": key(NAME, message.id),
            }
            origin = {"id": message.id, "conversation": thread, "kind": message.kind}
            episode = self._dump.episode(self._number, known, columns, origin)
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))
            return
        yield Imported(place, episode)


def _root(conversation: Mapping[str, Any], node: str) -> str:
    """Return the first node above one, which names a conversation that has no id."""
    parents = {
        name: text_of(one.get("parent")) if isinstance(one, dict) else None
        for name, one in conversation["mapping"].items()
    }
    return conversations.path(parents, node).nodes[0][0]


def _read(given: Mapping[str, Any], node: str) -> ChatMessage:
    author = given.get("author")
    role = text_of(author.get("role")) if isinstance(author, dict) else None
    content = given.get("content")
    if not isinstance(content, dict):
        raise TypeError("its content is not an object")
    pieces = [*_pieces(content), *_attached(given)]
    return ChatMessage(
        text_of(given.get("id")) or node,
        role,
        "\n\n".join(piece for piece in pieces if piece.strip()),
        _kind(given, role, text_of(content.get("content_type")) or "text"),
    )


def _without_text(given: Mapping[str, Any]) -> str:
    """Return under which name a message of which nothing is read is counted."""
    content = given["content"]
    kind = text_of(content.get("content_type")) or "text"
    if kind in READ or not content.keys() - {"content_type", *TEXTS, "parts", "thoughts"}:
        return "messages without text"
    return f"messages of the kind {kind[:MAX_KIND]!r}"


def _kind(given: Mapping[str, Any], role: str | None, content_type: str) -> str | None:
    """Return what a message must be asked for by; ``None`` if it was said."""
    if content_type in REASONS or given.get("channel") == "analysis":
        return REASONING
    if role == "tool" or content_type in OUTPUTS or given.get("recipient") not in (None, "all"):
        return TOOLS
    hidden = _about(given).get("is_visually_hidden_from_conversation")
    if hidden or given.get("weight") == 0 or role == "system" or content_type in SETTINGS:
        return HIDDEN
    return None


def _pieces(content: Mapping[str, Any]) -> Iterator[str]:
    parts = content.get("parts")
    if isinstance(parts, list):
        for part in parts:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict):
                yield _object(part)
        return
    thoughts = content.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else ():
        if isinstance(thought, dict):
            said = (text_of(thought.get(name)) for name in ("summary", "content"))
            yield "\n".join(filter(None, said))
    for name in TEXTS:
        if isinstance(content.get(name), str):
            yield content[name]


def _object(part: Mapping[str, Any]) -> str:
    """Return the text of a part that is no text: what it is, or what was said in it."""
    if spoken := text_of(part.get("text")):
        return spoken
    kind = text_of(part.get("content_type")) or "object"
    noun = kind.removesuffix(ASSET).replace("_", " ")
    name = text_of(part.get("name")) or text_of(part.get("asset_pointer")) or ""
    return f"[{noun}: {name}]" if name else f"[{noun}]"


def _attached(given: Mapping[str, Any]) -> Iterator[str]:
    attachments = _about(given).get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        if isinstance(one, dict) and (name := text_of(one.get("name"))):
            yield f"[file: {name}]"


def _about(given: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = given.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _second(message: object) -> float:
    given = message.get("create_time") if isinstance(message, dict) else None
    return float(given) if isinstance(given, int | float) else 0.0
