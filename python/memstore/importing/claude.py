"""Claude's data export: ``conversations.json``, ``projects.json`` and ``memories.json``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import MAX_NAME
from memstore.frozen import replace
from memstore.importing import conversations, long_json, plain_chats
from memstore.importing.bundle import Bundle
from memstore.importing.conversations import BRANCHES, REASONING, TOOLS, ChatMessage
from memstore.importing.long_json import JsonForm
from memstore.importing.plain_chats import PlainChats
from memstore.importing.records import Damaged, Dump, Imported, Skipped, identity, key
from memstore.importing.values import name as name_of
from memstore.importing.values import text as text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "claude"
FILES: Final = re.compile(r"(.*/)?(conversations|projects|memories)(-\d+)?(/[^/]*)?\.json")
NEVER_READ: Final = re.compile(r"(.*/)?users\.json")
SPEAKERS: Final = {"human": "user"}
KINDS: Final = {
    "thinking": REASONING, "redacted_thinking": REASONING,
    "tool_use": TOOLS, "tool_result": TOOLS,
}  # fmt: skip
MESSAGES: Final = "chat_messages"
SPOKEN: Final = ("transcript", "transcription")
"""Members of a voice note with what was said."""
WITHOUT_TEXT: Final = frozenset({"image", "document"})
"""Blocks that are named in the text."""
VOICE_NOTE: Final = "voice_note"
MAX_KIND: Final = 40


def is_conversation(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get(MESSAGES), list)


def _is_project(value: Mapping[str, Any]) -> bool:
    return "docs" in value or "prompt_template" in value


def is_of_export(value: Mapping[str, Any]) -> bool:
    remembered = "conversations_memory" in value or "project_memories" in value
    return is_conversation(value) or _is_project(value) or remembered


def _is_record(value: Mapping[str, Any]) -> bool:
    return is_of_export(value) or plain_chats.is_conversation(value)


FORM: Final = JsonForm(
    "a conversation, a project or memories of Claude",
    _is_record,
    frozenset({"conversations", "projects", "memories"}),
    plain_chats.is_message,
)
EXPECTED: Final = (
    "the data export is expected, or one of its files: conversations with chat_messages, projects, "
    "memories"
)


def found(
    path: Path, progress: Progress | None = None, include: Collection[str] = ()
) -> Iterator[Found]:
    bundle = Bundle(path)
    parts = bundle.chosen(FILES, "conversations.json, projects.json or memories.json")
    reader = _ClaudeExport(Dump.of(NAME, path), frozenset(include))
    yield from bundle.records(parts, reader.file, progress)
    for part in bundle.parts:
        if part not in parts and not NEVER_READ.fullmatch(part.name):
            yield Skipped("other files", part.name, is_known=False)
    for link in bundle.links:
        yield Skipped("links", link, is_known=False)


class _ClaudeExport:
    def __init__(self, dump: Dump, include: frozenset[str]) -> None:
        self._dump = dump
        self._include = include
        self._number = 0
        self._plain = PlainChats(NAME, dump, include)

    def file(self, inside: str, file: Any) -> Iterator[Found]:
        for item in long_json.records(file, FORM):
            if isinstance(item, Skipped):
                yield item
            elif isinstance(item, long_json.JsonItem):
                yield from self._checked(f"{inside}{item.place}", item.value)
            else:
                yield replace(item, place=f"{inside}{item.place}")

    def _checked(self, place: str, value: Any) -> Iterator[Found]:
        try:
            yield from self._record(place, value)
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))

    def _record(self, place: str, value: Any) -> Iterator[Found]:
        if isinstance(value, list) or not is_of_export(value):
            messages = plain_chats.messages_of(value) or []
            yield from self._plain.read(place, value, self._number + 1)
            self._number += len(messages)
        elif isinstance(value.get(MESSAGES), list):
            yield from self._conversation(place, value)
        elif _is_project(value):
            yield from self._project(place, value)
        else:
            yield from self._memories(place, value)

    def _conversation(self, place: str, value: Mapping[str, Any]) -> Iterator[Found]:
        messages = [one for one in value[MESSAGES] if isinstance(one, dict)]
        if broken := len(value[MESSAGES]) - len(messages):
            yield Damaged(place, f"{broken} of its messages are not objects")
        title = text_of(value.get("name"))
        if not value[MESSAGES]:
            yield Skipped("conversations without messages", title or place)
        named = {text_of(one.get("uuid")) or f"{value.get('uuid')}/{n}": one
                 for n, one in enumerate(messages)}  # fmt: skip
        for name, depth in self._path(value, named):
            at = f"{place}, message {name[:80]}"
            try:
                yield from self._message(at, value, title, name, named[name], depth)
            except (ValueError, TypeError) as error:
                yield Damaged(at, str(error))
        left = len(named) - len(self._path(value, named))
        if left:
            yield Skipped("messages on other branches", title or place, left)

    def _path(
        self, value: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]
    ) -> list[tuple[str, int]]:
        parents = {name: text_of(one.get("parent_message_uuid")) for name, one in named.items()}
        if not any(parent in named for parent in parents.values()):
            return [(name, place) for place, name in enumerate(named)]
        if BRANCHES in self._include:
            return conversations.every(parents).nodes
        end = text_of(value.get("current_leaf_message_uuid"))
        return conversations.path(parents, end if end in named else [*named][-1]).nodes

    def _message(
        self,
        place: str,
        conversation: Mapping[str, Any],
        title: str | None,
        name: str,
        given: Mapping[str, Any],
        depth: int,
    ) -> Iterator[Found]:
        speaker = text_of(given.get("sender")) or text_of(given.get("role"))
        common = {
            "name": name_of(title),
            "created_at": text_of(given.get("created_at"))
            or text_of(conversation.get("created_at")),
            "thread": text_of(conversation.get("uuid")) or name,
            "seq": depth,
            "speaker": SPEAKERS.get(speaker or "", speaker),
        }
        said, left = self._said(given)
        for kind, count in left.items():
            yield Skipped(kind, place, count)
        if said.strip():
            yield self._episode(place, ChatMessage(name, None, said), common)
        elif not left and not _attachments(given):
            yield Skipped("messages without text", place)
        for number, (file, text) in enumerate(_attachments(given), 1):
            if not text:
                yield Skipped("attachments without text", f"{place}: {file}")
                continue
            values = {**common, "name": file[:MAX_NAME], "tags": ["attachment"]}
            yield self._episode(place, ChatMessage(f"{name}/{number}", None, text), values)

    def _said(self, given: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
        """Return the text of a message, and how many blocks were left out, by what they are."""
        blocks = given.get("content")
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        pieces: list[str] = []
        left: dict[str, int] = {}
        for block in blocks if isinstance(blocks, list) else ():
            if not isinstance(block, dict):
                continue
            kind = KINDS.get(str(block.get("type")))
            said = _block(block)
            if kind is not None and kind not in self._include:
                left[conversations.LEFT_OUT[kind]] = left.get(conversations.LEFT_OUT[kind], 0) + 1
            elif said is None:
                name = f"content of the kind {str(block.get('type'))[:MAX_KIND]!r}"
                left[name] = left.get(name, 0) + 1
            elif said.strip():
                pieces.append(said)
        if not pieces and not left and (text := text_of(given.get("text"))):
            pieces.append(text)
        files = given.get("files")
        pieces.extend(
            f"[file: {file}]"
            for one in (files if isinstance(files, list) else ())
            if isinstance(one, dict) and (file := text_of(one.get("file_name")))
        )
        return "\n\n".join(pieces), left

    def _project(self, place: str, value: Mapping[str, Any]) -> Iterator[Found]:
        project = text_of(value.get("uuid")) or text_of(value.get("name")) or place
        common = {"created_at": text_of(value.get("created_at")), "tags": ["project"]}
        if instructions := text_of(value.get("prompt_template")):
            message = ChatMessage(f"project/{project}/instructions", None, instructions)
            yield self._episode(place, message, {**common, "name": name_of(value.get("name"))})
        docs = value.get("docs")
        for number, doc in enumerate(docs if isinstance(docs, list) else (), 1):
            at = f"{place}, document {number}"
            if not isinstance(doc, dict):
                yield Damaged(at, "not an object")
            elif text := text_of(doc.get("content")):
                name = text_of(doc.get("uuid")) or f"project/{project}/{number}"
                created = text_of(doc.get("created_at")) or common["created_at"]
                values = {**common, "name": name_of(doc.get("filename")), "created_at": created}
                yield self._episode(at, ChatMessage(name, None, text), values)
            else:
                yield Skipped("documents without text", at)
        if not instructions and not docs:
            yield Skipped("projects without text", text_of(value.get("name")) or place)

    def _memories(self, place: str, value: Mapping[str, Any]) -> Iterator[Found]:
        account = text_of(value.get("account_uuid")) or "account"
        projects = value.get("project_memories")
        texts = {f"memory/{account}": value.get("conversations_memory")}
        for project, text in (projects if isinstance(projects, dict) else {}).items():
            texts[f"memory/{account}/{project}"] = text
        for name, text in texts.items():
            if said := text_of(text):
                # It is written anew there, under the same name.
                values = {"name": "what Claude remembers", "tags": ["memory"],
                          "idempotency_key": key(NAME, identity(NAME, name, said))}  # fmt: skip
                yield self._episode(place, ChatMessage(name, None, said), values)
            else:
                yield Skipped("memories without text", f"{place}: {name}")

    def _episode(self, place: str, message: ChatMessage, values: Mapping[str, Any]) -> Imported:
        self._number += 1
        columns = {
            "content": message.text,
            "source": NAME,
            "idempotency_key": key(NAME, message.id),
            **values,
        }
        known = identity(NAME, message.id, message.text)
        episode = self._dump.episode(self._number, known, columns, {"id": message.id})
        return Imported(place, episode)


def _block(block: Mapping[str, Any]) -> str | None:
    """Return the text of a block; ``None`` if it has none that is known."""
    for name in ("text", "thinking"):
        if isinstance(block.get(name), str):
            return str(block[name])
    kind = str(block.get("type"))
    if kind == "tool_use":
        return f"[tool: {block.get('name')}] {block.get('input')}"
    if kind == "tool_result":
        parts = block.get("content")
        texts = [_block(one) or "" for one in parts if isinstance(one, dict)] if isinstance(
            parts, list) else [str(parts or "")]  # fmt: skip
        return "\n".join(texts)
    if spoken := _spoken(block):
        return spoken
    return f"[{kind}]" if kind in WITHOUT_TEXT or kind == VOICE_NOTE else None


def _spoken(block: Mapping[str, Any]) -> str | None:
    """Return what was said in a voice note: a text, an object with it, or a list of them."""
    given = next((block[name] for name in SPOKEN if block.get(name)), None)
    parts = given if isinstance(given, list) else [given]
    said = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return " ".join(text.strip() for one in said if (text := text_of(one))) or None


def _attachments(given: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    attachments = given.get("attachments")
    return [
        (text_of(one.get("file_name")) or "attachment", text_of(one.get("extracted_content")))
        for one in (attachments if isinstance(attachments, list) else ())
        if isinstance(one, dict)
    ]
