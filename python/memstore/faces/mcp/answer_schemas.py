"""What each tool answers, as JSON schemas, for hosts that check or use the structured content.

A schema names what a client may rely on; an answer may hold more.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
OBJECT: Final[Schema] = {"type": "object"}
COUNTS: Final[Schema] = {"type": "object", "additionalProperties": WHOLE}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _object(required: str, **optional: Schema) -> Schema:
    """Return an object with texts that are always there, and others that may be missing."""
    always = {name: ALWAYS.get(name, TEXT) for name in required.split()}
    return {"type": "object", "properties": always | optional, "required": list(always)}


ALWAYS: Final = {
    "id": WHOLE,
    "active": WHOLE,
    "confirmed": WHOLE,
    "keys": WHOLE,
    "megabytes": NUMBER,
    "subjects": COUNTS,
    "categories": COUNTS,
    "active_now": _list(WHOLE),
}
"""The types of what is always there and is no text."""

FACT: Final = _object(
    "id subject category content created",
    metadata=OBJECT,
    score=NUMBER,
    status=TEXT,
    superseded_by=WHOLE,
    superseded_at=TEXT,
    confirmed=WHOLE,
    valid_from=TEXT,
    valid_until=TEXT,
    before=_list(OBJECT),
    after=_list(OBJECT),
    cut=TEXT,
)

STORED: Final = _object("id status", superseded=WHOLE, undo=TEXT)
FACTS: Final = _object(
    "note",
    facts=_list(FACT),
    recalled=TEXT,
    left_out=WHOLE,
    more=WHOLE,
    next_offset=WHOLE,
    hint=TEXT,
    words_only=TEXT,
)
HISTORY: Final = _object(
    "note", facts=_list(FACT), left_out=_list(WHOLE), more_left_out=WHOLE, hint=TEXT
)
DELETED: Final = _object(
    "id status", undo=TEXT, older=FACT, hint=TEXT, repair=TEXT, active_now=_list(WHOLE)
)
CONFIRMED: Final = _object("id confirmed", undo=TEXT)
UPDATED: Final = _object("id keys", undo=TEXT)
STATUS: Final = _object("note namespace active search file megabytes subjects categories")

TASK: Final = _object(
    "id content status scope created",
    priority=TEXT,
    project=TEXT,
    due=TEXT,
    cut=TEXT,
)
TASK_CHANGED: Final = _object("id status", undo=TEXT)
TASKS: Final = _object("note", tasks=_list(TASK), more=WHOLE, hint=TEXT)

EPISODE_ID: Final = {"type": ["integer", "string"]}
EPISODE: Final = _object(
    "content created",
    id=EPISODE_ID,
    source=TEXT,
    name=TEXT,
    thread=TEXT,
    speaker=TEXT,
    tags=_list(TEXT),
    valid_at=TEXT,
    expired_at=TEXT,
    metadata=OBJECT,
    score=NUMBER,
    similarity=NUMBER,
    before=_list(OBJECT),
    after=_list(OBJECT),
    cut=TEXT,
)
EPISODE_STORED: Final = _object("status", id=EPISODE_ID, undo=TEXT)
EPISODES: Final = _object(
    "note",
    episodes=_list(EPISODE),
    left_out=WHOLE,
    more=WHOLE,
    only_newest=WHOLE,
    hint=TEXT,
    words_only=TEXT,
)
HEALTH: Final = _object("status version namespace search", episodes=WHOLE, facts=COUNTS)

ENTITY: Final = _object("name", facts=WHOLE, names=_list(TEXT))
ENTITIES: Final = _object(
    "note", entities=_list(ENTITY), more=WHOLE, next_offset=WHOLE, built=TEXT, hint=TEXT
)
NEIGHBOURS: Final = _object(
    "note", entity=ENTITY, neighbours=_list(_object("name", distance=WHOLE)), left_out=WHOLE
)

LEARNED: Final = _object("note", changes=_list(OBJECT), refused=_list(OBJECT), left_out=WHOLE)
EXTRACTED: Final = _object("note", items=_list(OBJECT), episode=WHOLE, left_out=WHOLE)
PROPOSALS: Final = _object(
    "", note=TEXT, proposals=_list(OBJECT), more=WHOLE, id=WHOLE, state=TEXT, old=OBJECT
)
