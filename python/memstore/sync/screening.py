"""Keeps secrets out of what is sent: records go without what looks like one.

It does not depend on the policy with which a store is open. Files of lines are made again at any
time, by whichever process syncs, and have to say the same each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.named import NamedTuple
from memstore.text import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.sync.rules import Record

TOGETHER: Final = 200
"""So many records are searched at once; if there is something, each of them alone."""

SCREEN: Final = secrets.Screen("redact")


class Screened(NamedTuple):
    """Records as they are sent."""

    records: list[Record]
    redacted: list[Record]
    """Those that held a secret, as they are here."""


def screened(records: Sequence[Record]) -> Screened:
    """Return records without secrets."""
    sent: list[Record] = []
    redacted: list[Record] = []
    for start in range(0, len(records), TOGETHER):
        some = records[start : start + TOGETHER]
        texts = dict.fromkeys(text for one in some for text in _texts(_screened(one)))
        if secrets.find("\n\n".join(texts)):
            made = [_without(one) for one in some]
            redacted += [one for one, new in zip(some, made, strict=True) if new is not one]
            some = made
        sent += some
    return Screened(sent, redacted)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of JSON, each member of an object after its name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, str):
                yield f"{name}={one}"
            else:
                yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _screened(record: Record) -> dict[str, Any]:
    """Return what of a record may hold a secret."""
    value = record.value or {}
    return {name: value[name] for name in secrets.SCREENED if name in value}


def _without(record: Record) -> Record:
    changed = {
        name: made
        for name, one in _screened(record).items()
        if (made := SCREEN.value(one, name)) is not one
    }
    return record._replace(value={**(record.value or {}), **changed}) if changed else record
