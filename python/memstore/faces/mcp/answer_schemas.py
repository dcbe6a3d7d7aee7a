"""JSON schemas of the tools' answers, for hosts that check or use the structured content.

A schema names what a client may rely on; an answer may hold more.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
TRUTH: Final[Schema] = {"type": "boolean"}
OBJECT: Final[Schema] = {"type": "object"}
COUNTS: Final[Schema] = {"type": "object", "additionalProperties": WHOLE}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


TYPES: Final[dict[str, Schema]] = {
    **dict.fromkeys(("megabytes", "score", "similarity"), NUMBER),
    **dict.fromkeys(("metadata", "old"), OBJECT),
    **dict.fromkeys(("subjects", "categories"), COUNTS),
    **dict.fromkeys(
        ("before", "after", "changes", "refused", "items", "near", "proposals", "also"),
        _list(OBJECT),
    ),
    **dict.fromkeys(("tags", "names"), _list(TEXT)),
    **dict.fromkeys(
        """id active confirmed keys superseded superseded_by left_out more more_left_out next_offset
        only_newest episode distance""".split(),
        WHOLE,
    ),
    **dict.fromkeys(("active_now", "newer"), _list(WHOLE)),
    "pinned": TRUTH,
}
"""The types of members that are not texts."""


def _object(required: str, optional: str = "", **of_their_own: Schema) -> Schema:
    """Return an object; members whose type differs from the usual one are optional."""
    names = [*required.split(), *optional.split()]
    properties = {name: TYPES.get(name, TEXT) for name in names} | of_their_own
    return {"type": "object", "properties": properties, "required": required.split()}


FACT: Final = _object(
    "id subject category content created_at",
    "metadata score status superseded_by superseded_at pinned confirmed valid_from ends until"
    " before after cut from",
)
HIT: Final = {
    **FACT,
    "properties": {**FACT["properties"], "newer": TYPES["newer"], "project": TEXT},
}
STORED: Final = _object("id status", "superseded undo embedding hint near also")
DELETED: Final = _object("id status", "undo hint repair active_now", older=FACT)
CONFIRMED: Final = _object("id confirmed", "undo")
UPDATED: Final = _object("id keys", "pinned undo")
STATUS: Final = _object("note namespace active search file megabytes subjects categories")

TASK: Final = _object("id content status scope created_at", "priority project due due_said cut")
TASK_CHANGED: Final = _object("id status", "undo")
TASKS: Final = _object("note", "more hint", tasks=_list(TASK))

EPISODE_ID: Final = {"anyOf": [WHOLE, TEXT]}
EPISODE: Final = _object(
    "content created_at",
    "source name thread speaker tags valid_at expired_at metadata score similarity before after"
    " cut from project",
    id=EPISODE_ID,
)
FOUND: Final = _object(
    "note",
    "recalled left_out hint words_only provisional about",
    facts=_list(HIT),
    open_tasks=_list(TASK),
    said=_list(EPISODE),
)
FACTS: Final = _object("note", "more next_offset hint", facts=_list(FACT))
HISTORY: Final = _object(
    "note",
    "more more_left_out hint",
    facts=_list(FACT),
    episodes=_list(EPISODE),
    left_out=_list(WHOLE),
    why=_list(TEXT),
)
EPISODE_STORED: Final = _object("status", "undo", id=EPISODE_ID)
EPISODES: Final = _object(
    "note", "left_out more only_newest hint words_only provisional about", episodes=_list(EPISODE)
)
HEALTH: Final = _object("status version namespace search", episodes=WHOLE, facts=COUNTS)

ENTITY: Final = _object("name", "names", facts=WHOLE)
ENTITIES: Final = _object("note", "more next_offset built hint", entities=_list(ENTITY))
NEIGHBOURS: Final = _object(
    "note", "left_out", entity=ENTITY, neighbours=_list(_object("name", "distance"))
)

LEARNED: Final = _object("note", "changes refused left_out")
EXTRACTED: Final = _object("note", "items episode left_out")
PROPOSALS: Final = _object("", "note proposals more id state old")
