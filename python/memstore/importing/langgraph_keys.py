"""Items of nested namespaces as external keys: ``langgraph:users.ana..profile``.

No label of a namespace is empty or contains a dot, so the first two dots end the namespace, and all
keys under a namespace begin alike.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import MAX_NAME
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUE: Final = "value"
KEY: Final = "key"
"""Keys of an item's metadata: its value, and its key if that is too long for an external key."""

ROOT: Final = "langgraph:"
END: Final = ".."
"""Ends a namespace."""

HASHED: Final = "\\h"
"""Begins the hash of a key that is too long. In other keys, a backslash is doubled."""

HASH_LENGTH: Final = len(HASHED) + 2 * hashlib.sha256().digest_size
MAX_NAMESPACE: Final = MAX_NAME - len(ROOT) - len(END) - HASH_LENGTH
"""Characters of a namespace, with the dots between its labels."""


class ItemKey(NamedTuple):
    """What an external key says."""

    namespace: tuple[str, ...]
    key: str | None
    """``None`` if it was too long: only its hash is there."""


def written(namespace: Sequence[str], key: str) -> str:
    """Return the external key of an item; its namespace has at most :data:`MAX_NAMESPACE`."""
    beginning = within(namespace)
    escaped = key.replace("\\", "\\\\").replace("\x00", "\\0")
    if len(beginning) + len(escaped) > MAX_NAME:
        escaped = HASHED + hashlib.sha256(key.encode()).hexdigest()
    return beginning + escaped


def of_row(prefix: str, key: str) -> str | None:
    """Return the external key of an item whose namespace is written with dots.

    ``None`` if no item of the adapter has such a namespace.
    """
    labels = prefix.split(".")
    return written(labels, key) if all(labels) and len(prefix) <= MAX_NAMESPACE else None


def read(external_key: str) -> ItemKey:
    """Return what :func:`written` was given."""
    labels, _, escaped = external_key.removeprefix(ROOT).partition(END)
    namespace = tuple(labels.split("."))
    if escaped.startswith(HASHED):
        return ItemKey(namespace, None)
    parts = (part.replace("\\0", "\x00") for part in escaped.split("\\\\"))
    return ItemKey(namespace, "\\".join(parts))


def within(namespace: Sequence[str]) -> str:
    """Return how the keys of a namespace begin."""
    return f"{ROOT}{'.'.join(namespace)}{END}"


def under(namespace: Sequence[str]) -> str:
    """Return how the keys of a namespace and of all below it begin; ``()`` is above all."""
    return ROOT + "".join(f"{label}." for label in namespace)


def label(external_key: str) -> str:
    """Return an item's name for people, as a path."""
    return external_key.removeprefix(ROOT).replace(END, "/", 1)
