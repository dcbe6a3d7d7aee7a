"""Agent files of Letta (``.af``): blocks of memory and messages, of one agent or several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.clock import from_text
from memstore.importing import conversations, long_json, texts, values
from memstore.importing.conversations import HIDDEN, REASONING, TOOLS, ChatMessage
from memstore.importing.long_json import JsonForm
from memstore.importing.records import Damaged, Dump, Imported, Skipped, identity, key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "letta"
NO_AGENT: Final = "agent"
LISTS: Final = frozenset({"agents", "blocks", "core_memory", "messages"})
NAMED: Final = frozenset({"name", "created_at", "exported_at"})
COUNTED: Final = frozenset({"files", "sources", "groups", "tools", "mcp_servers", "skills"})
"""Lists that are reported. Everything else is never looked at: secrets, values of variables."""
EVENTS: Final = frozenset({"heartbeat", "login", "system_alert", "package_message"})
SENDING: Final = "send_message"
"""The tool by which older agents speak."""


def _is_record(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a file of agents, or of one, or an agent of Letta's API."""
    return any(isinstance(value.get(name), list) for name in OF_FILES) or bool(_of_api(value))


def is_typical(value: Mapping[str, Any]) -> bool:
    """Return whether an object can only be of this program: other programs have messages, too."""
    return _is_record(value) and bool(value.keys() & {"agents", "core_memory", "memory"})


def _of_api(value: Mapping[str, Any]) -> list[Any]:
    """Return the blocks of an agent as Letta's API gives it."""
    memory = value.get("memory")
    blocks = memory.get("blocks") if isinstance(memory, dict) else None
    return blocks if isinstance(blocks, list) else []


def _is_block(value: object) -> bool:
    return isinstance(value, dict) and {"label", "value"} <= value.keys()


OF_FILES: Final = ("agents", "core_memory", "messages")
FORM: Final = JsonForm("an agent file", _is_record, is_part=_is_block, is_whole=True)
EXPECTED: Final = "an agent file (.af) is expected: agents, or one agent's core_memory and messages"


def found(
    path: Path, progress: Progress | None = None, include: Collection[str] = ()
) -> Iterator[Found]:
    """Yield a fact for each block and an episode for each message."""
    reader = _AgentFile(Dump.of(NAME, path), frozenset(include))
    with texts.reading(path, progress) as file:
        for item in long_json.records(file, FORM):
            if isinstance(item, long_json.JsonItem):
                place = "" if item.place in long_json.WHOLE else f"{item.place}, "
                yield from _file(reader, place, item.value)
            else:
                yield item


def _file(reader: _AgentFile, place: str, given: Any) -> Iterator[Found]:
    value = {"core_memory": given} if isinstance(given, list) else given
    value = {**value, "core_memory": value.get("core_memory") or _of_api(value)}
    whole: dict[str, list[tuple[str, Any]]] = {name: [] for name in LISTS}
    for name in LISTS:
        for number, one in enumerate(value.get(name) or (), 1):
            if isinstance(one, dict):
                whole[name].append((f"{place}{name} {number}", one))
            else:
                yield Damaged(f"{place}{name} {number}", "not a JSON object")
    for name in COUNTED:
        held = value.get(name)
        if isinstance(held, list) and held:
            yield Skipped(name, f"{len(held)} of them", len(held))
    if not any(whole.values()):
        yield Skipped("files without agents", place or long_json.THE_FILE)
    yield from reader.read(whole, {name: value.get(name) for name in NAMED})


class _AgentFile:
    def __init__(self, dump: Dump, include: frozenset[str]) -> None:
        self._dump = dump
        self._include = include
        self._about: Mapping[str, Any] = {}
        self._number = 0
        self._blocks: set[str] = set()

    def read(
        self, whole: Mapping[str, list[tuple[str, Any]]], about: Mapping[str, Any]
    ) -> Iterator[Found]:
        self._about = about
        blocks = {
            text: (place, block)
            for place, block in whole["blocks"]
            if (text := values.text(block.get("id")))
        }
        agents = whole["agents"]
        if whole["core_memory"] or whole["messages"]:  # one agent: the older layout
            agent = {
                "name": self._about.get("name"),
                "core_memory": [one for _, one in whole["core_memory"]],
                "messages": [one for _, one in whole["messages"]],
            }
            agents = [*agents, ("the agent", agent)]
        for place, agent in agents:
            name = values.name(agent.get("name")) or NO_AGENT
            agent = {**agent, "memory_blocks": agent.get("memory_blocks") or _of_api(agent)}
            ids = agent.get("block_ids")
            for id_ in ids if isinstance(ids, list) else ():
                if isinstance(id_, str) and id_ in blocks:
                    yield from self._checked(blocks[id_][0], name, blocks[id_][1], self._block)
            for key_, read in (
                ("core_memory", self._block), ("memory_blocks", self._block),
                ("messages", self._message),
            ):  # fmt: skip
                given = agent.get(key_)
                for number, one in enumerate(given if isinstance(given, list) else (), 1):
                    noun = "message" if key_ == "messages" else "block"
                    yield from self._checked(f"{place}, {noun} {number}", name, one, read)

    def _checked(self, place: str, agent: str, value: Any, read: Any) -> Iterator[Found]:
        try:
            if not isinstance(value, dict):
                raise TypeError("not a JSON object")
            yield from list(read(place, agent, value))
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))

    def _block(self, place: str, agent: str, block: Mapping[str, Any]) -> Iterator[Found]:
        label = values.name(block.get("label")) or "block"
        content = values.text(block.get("value"))
        if content is None:
            yield Skipped("empty blocks", f"{place}: {label}")
            return
        known = identity(NAME, "block", agent, label)
        if known in self._blocks:
            return  # of several agents of that name
        self._blocks.add(known)
        self._number += 1
        exported = next((self._about[one] for one in ("created_at", "exported_at")
                         if values.text(self._about.get(one))), None)  # fmt: skip
        since = values.text(block.get("updated_at")) or exported or self._dump.written_at
        columns = {
            "content": content,
            "subject": agent,
            "category": label,
            "source": NAME,
            "created_at": values.text(block.get("created_at")) or since,
            "idempotency_key": key(NAME, known),
        }
        origin = {
            "id": known,
            "label": label,
            "description": values.text(block.get("description")),
            "updated_at": since if isinstance(since, str) else since.isoformat(),
        }
        uuid = identity(NAME, known, content)
        yield Imported(place, self._dump.fact(self._number, uuid, columns, origin))

    def _message(self, place: str, agent: str, given: Mapping[str, Any]) -> Iterator[Found]:
        role = values.text(given.get("role"))
        left = [kind for kind, _ in _pieces(given, role) if kind and kind not in self._include]
        for kind in left:
            yield Skipped(conversations.LEFT_OUT[kind], place)
        text = "\n\n".join(
            piece
            for kind, piece in _pieces(given, role)
            if (kind is None or kind in self._include) and piece.strip()
        )
        if not text:
            if not left:
                yield Skipped("messages without text", place)
            return
        self._number += 1
        at = values.text(given.get("created_at"))
        # The ids of a file are those of this file alone.
        message = ChatMessage(identity(NAME, "message", agent, role, at, text), role, text)
        columns = {
            "content": text,
            "source": NAME,
            "source_model": values.name(given.get("model")),
            "created_at": at,
            "thread": agent,
            "seq": None if at is None else int(from_text(at).timestamp() * 1000),
            "speaker": role,
            "idempotency_key": key(NAME, message.id),
        }
        origin = {"id": given.get("id") if isinstance(given.get("id"), str) else None}
        yield Imported(place, self._dump.episode(self._number, message.id, columns, origin))


def _pieces(given: Mapping[str, Any], role: str | None) -> Iterator[tuple[str | None, str]]:
    """Yield the texts of a message, and what each must be asked for by."""
    calls = given.get("tool_calls")
    sent = list(_sent(calls)) if isinstance(calls, list) else []
    content = given.get("content", given.get("text"))
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text, kind = part, None
        if isinstance(part, dict):
            text = part.get("text") or part.get("reasoning") or ""
            if part.get("type") in ("reasoning", "redacted_reasoning", "omitted_reasoning"):
                kind = REASONING
            elif part.get("type") in ("tool_call", "tool_return"):
                kind, text = TOOLS, json.dumps(part, ensure_ascii=False)
            elif part.get("type") not in ("text", None):
                text = f"[{part.get('type')}]"
        if not isinstance(text, str) or not text.strip():
            continue
        if kind is None and role == "user":
            kind, text = _unpacked(text)
        elif kind is None and role in ("tool", "approval"):
            kind = TOOLS
        elif kind is None and role == "system":
            kind = HIDDEN
        elif kind is None and calls:
            kind = REASONING  # an older agent speaks only by its tool
        yield kind, text
    yield from sent


def _sent(calls: list[Any]) -> Iterator[tuple[str | None, str]]:
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        if function.get("name") == SENDING:
            try:
                message = values.text(values.mapping(arguments, "arguments").get("message"))
            except (ValueError, TypeError):
                message = None
            if message:
                yield None, message
                continue
        yield TOOLS, f"[tool: {function.get('name')}] {arguments}"


def _unpacked(text: str) -> tuple[str | None, str]:
    """Return what a user said; messages are packed as JSON, and so are events."""
    try:
        packed = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        packed = None
    if not isinstance(packed, dict) or not isinstance(packed.get("type"), str):
        return None, text
    if packed["type"] in EVENTS:
        return HIDDEN, text
    return None, values.text(packed.get("message")) or text
