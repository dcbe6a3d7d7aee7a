"""The list of the notes in a folder: which memory wrote them, and what each said.

A folder may come from somewhere else, with a list in it, and another memory may have written here.
So the list is believed only where this memory can prove it: an entry has a hash over the name, the
text and the UUIDs of the facts of a note, and the UUIDs are in no note. They are known for erased
facts, too, and are the same in a backup or a copy of the memory.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import why_no_json
from memstore.errors import Remedy, StorageError
from memstore.frozen import frozen
from memstore.notes.shared_folder import OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memstore.notes.shared_folder import SharedFolder
    from memstore.store.store import Store

NAME: Final = ".memstore-notes.json"
FORMAT: Final = 2
FORBIDDEN: Final = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f\ud800-\udfff]')
RESERVED: Final = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE
)
MARK_DIGITS: Final = 16
SUFFIX: Final = ".md"
MAX_NAME_BYTES: Final = 255


@frozen
class WrittenNote:
    """What a note said when it was written."""

    facts: tuple[int, ...]
    """The facts that were current."""
    text: str
    """The SHA-256 of its bytes."""
    proof: str


@frozen
class Manifest:
    """The list of a folder."""

    notes: Mapping[str, Sequence[WrittenNote]]
    """The states that a note may have, by its name; several if an export was interrupted."""
    unproven: frozenset[str] = frozenset()
    """The names in a list of an earlier form, which did not say of which memory."""
    raw: bytes | None = None
    """What was read; ``None`` if there was no list."""


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_note_name(name: str) -> bool:
    """Return whether a note may have a name, which is then no path and no hidden file."""
    stem = name.removesuffix(SUFFIX)
    return (
        name.endswith(SUFFIX)
        and bool(stem)
        and stem == stem.strip(" .")
        and not stem.startswith("-")
        and not FORBIDDEN.search(name)
        and not RESERVED.fullmatch(stem)
        and len(name.encode()) <= MAX_NAME_BYTES
    )


def read(folder: SharedFolder, store: Store) -> Manifest:
    """Return the list of a folder; an empty one if there is none.

    Raises:
        StorageError: it is damaged, of a newer version, or another memory's or namespace's.
    """
    raw = folder.read(NAME)
    if raw is None:
        return Manifest({})
    where = repr(str(folder.path))
    try:
        if raw == OTHER:
            raise ValueError("it is no regular file, or cannot be read")
        value = json.loads(raw)
        home, earlier = value["namespace"], "format" not in value
        if not earlier and value["format"] != FORMAT:
            raise StorageError(
                f"the list of notes in {where} was written by a newer version; nothing was changed",
                remedy=Remedy.UPGRADE,
            )
        memory = None if earlier else value["memory"]
        notes = {} if earlier else _notes(value["notes"])
        names = filter(is_note_name, map(str, value["files"])) if earlier else ()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(
            f"{NAME!r} in {where} is damaged ({_reason(error)}); nothing was changed",
            remedy=Remedy.OTHER_FOLDER,
        ) from error
    if home != store.namespace:
        raise _of_another(f"namespace {home!r}" if isinstance(home, str) else "namespace", where)
    if memory is not None and memory != store.transfer.identity():
        raise _of_another("memory", where)
    return Manifest(notes, frozenset(names), raw)


def mark_of(store: Store) -> str:
    """Return the mark of what this memory writes, which others do not know."""
    return hash_of(f"notes {store.transfer.identity()} {store.namespace}".encode())[:MARK_DIGITS]


def write(
    folder: SharedFolder, store: Store, listed: Manifest, notes: Mapping[str, Sequence[WrittenNote]]
) -> Manifest:
    """Replace the list; return it. Nothing is written if it says the same.

    Raises:
        StorageError: another program changed it since it was read.
    """
    text = _text_of(store, notes)
    if text == listed.raw:
        return listed
    if listed.raw is None:
        is_as_read = folder.create(NAME, text, sync=True)
    elif is_as_read := folder.read(NAME) == listed.raw:
        folder.overwrite(NAME, text)
    if not is_as_read:
        raise StorageError(
            f"another program changed {NAME!r} in {str(folder.path)!r} in the meantime",
            remedy=Remedy.RETRY,
        )
    return Manifest(notes, listed.unproven, text)


def _text_of(store: Store, notes: Mapping[str, Sequence[WrittenNote]]) -> bytes:
    value = {
        "format": FORMAT,
        "memory": store.transfer.identity(),
        "namespace": store.namespace,
        "notes": {
            name: [{"facts": one.facts, "proof": one.proof, "text": one.text} for one in states]
            for name, states in notes.items()
        },
    }
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


class Proofs:
    """The proofs of some facts' notes."""

    def __init__(self, store: Store, fact_ids: Iterable[int]) -> None:
        self._uuids = store.transfer.uuids(fact_ids)

    @classmethod
    def of(cls, store: Store, listed: Manifest, fact_ids: Iterable[int]) -> Proofs:
        """Return those of all notes that are listed, and of other facts."""
        states = (state for states in listed.notes.values() for state in states)
        return cls(store, {*fact_ids, *(one for state in states for one in state.facts)})

    def state(self, name: str, content: bytes, facts: Iterable[int]) -> WrittenNote:
        """Return the state of a note that this memory writes."""
        ids = tuple(sorted(facts))
        text = hash_of(content)
        return WrittenNote(ids, text, self._proof(name, text, ids) or "")

    def proven(self, name: str, states: Iterable[WrittenNote]) -> list[WrittenNote]:
        """Return the states that this memory wrote under a name."""
        return [one for one in states if one.proof == self._proof(name, one.text, one.facts)]

    def _proof(self, name: str, text: str, facts: Sequence[int]) -> str | None:
        if not facts or any(one not in self._uuids for one in facts):
            return None
        told = [name, text, *(f"{one} {self._uuids[one]}" for one in facts)]
        return hash_of("\0".join(told).encode())


def _of_another(what: str, where: str) -> StorageError:
    known = what if what.startswith("namespace '") else f"another {what}"
    return StorageError(
        f"{where} holds the notes of {'the ' if known == what else ''}{known}; nothing was changed",
        remedy=Remedy.OTHER_FOLDER,
    )


def _reason(error: Exception) -> str:
    return why_no_json(error) if isinstance(error, ValueError | RecursionError) else "its form"


def _notes(given: Any) -> dict[str, list[WrittenNote]]:
    return {
        name: [_state(one) for one in states]
        for name, states in dict(given).items()
        if is_note_name(name)
    }


def _state(given: Any) -> WrittenNote:
    ids = given["facts"]
    if not isinstance(ids, list) or any(type(one) is not int for one in ids):
        raise ValueError("facts are named by their ids")
    return WrittenNote(tuple(ids), str(given["text"]), str(given["proof"]))
