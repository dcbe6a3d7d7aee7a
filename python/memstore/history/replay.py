"""Replaying the journal to compute the state of a fact or an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.journal import UNCHANGED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.domain.records import JournalLine


BEGINS = (Kind.ADD, Kind.EPISODE, Kind.ADOPT)
ENDS = (Kind.ERASE, Kind.ERASE_EPISODE)


def state(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return the state of a fact or an episode after its lines; ``None`` if it was erased."""
    values: dict[str, Any] | None = {}
    for line in lines:
        if line.kind in BEGINS:
            values = {"metadata": {}} | (line.after or {})
        elif line.kind in ENDS or values is None:
            values = None
        elif line.kind not in UNCHANGED:
            values |= line.after or {}
    return None if values is None else _set(values)


def remains(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return what is left of an erased fact or episode; ``None`` if the journal does not say."""
    values: dict[str, Any] | None = None
    for line in lines:
        if line.kind in ENDS:
            values = dict(line.after) if line.after else None
        elif values is not None and line.kind not in UNCHANGED:
            values |= line.after or {}
    return None if values is None else _set(values)


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != []}
