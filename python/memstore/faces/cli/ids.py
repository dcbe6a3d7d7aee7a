"""Ids on the command line: numbers, or the last digits of a UUID, which all devices share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    import argparse

    from memstore import errors
    from memstore.database import origins
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    errors = lazy_import("memstore.errors")
    origins = lazy_import("memstore.database.origins")
    stores = lazy_import("memstore.store.store")

Noun: TypeAlias = Literal["fact", "episode"]

SHOWN: Final = 8
"""How many digits of a UUID tell facts apart."""

END: Final = lazy_pattern(r"[0-9a-fA-F-]{0,28}[0-9a-fA-F]{8}")

LISTED: Final = 5
"""As many are named if several end so."""


class UuidEnd(int):
    """An id given by the last digits of a UUID; it is looked up when the file is open.

    Its number is the one that the text may mean as well, such as 12345678 or, of an episode,
    e1234567; 0 if it can mean none.
    """

    digits: str
    noun: Noun

    @classmethod
    def of(cls, text: str, noun: Noun) -> Self | None:
        """Return what a text ends; ``None`` if it is no end of a UUID."""
        if not END.fullmatch(text) or (text.isdigit() and len(text) != SHOWN):
            return None
        number = text.removeprefix("e") if noun == "episode" else text
        made = cls(number if number.isdigit() else 0)
        made.digits, made.noun = text.lower(), noun
        return made


def end_of(uuid: str) -> str:
    """Return the last digits of a UUID, as they are shown."""
    return uuid[-SHOWN:]


def resolve(store: Store, arguments: argparse.Namespace) -> None:
    """Put numbers in place of the ends of UUIDs among the arguments of a command.

    Raises:
        NotFound: nothing has such a UUID.
        Conflict: several have.
    """
    for name, value in vars(arguments).items():
        if isinstance(value, UuidEnd):
            setattr(arguments, name, _resolved(store, value))
        elif isinstance(value, list) and any(isinstance(one, UuidEnd) for one in value):
            found = [_resolved(store, one) if isinstance(one, UuidEnd) else one for one in value]
            setattr(arguments, name, found)


def _resolved(store: Store, end: UuidEnd) -> int:
    with stores.file_of(store).engine.read() as transaction:
        found = origins.ending(transaction, end.noun, store.namespace, end.digits, int(end))
    if end in found:
        return int(end)
    if not found:
        if end:
            return int(end)
        raise errors.NotFound(f"no {end.noun} has a UUID that ends with {end.digits}")
    if len(found) > 1:
        named = ", ".join(f"#{id_} ({uuid})" for id_, uuid in [*found.items()][:LISTED])
        raise errors.Conflict(
            f"the UUIDs of {len(found)} {end.noun}s end with {end.digits}: {named}; give a number"
        )
    return next(iter(found))
