"""Replaying the journal: what a fact or an episode must hold after its lines, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.journal import UNCHANGED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.domain.records import JournalLine


def fact(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return what a fact should hold after these lines; ``None`` once it is erased."""
    state: dict[str, Any] | None = {}
    for line in lines:
        if line.kind in (Kind.ADD, Kind.ADOPT):
            state = {"metadata": {}} | (line.after or {})
        elif line.kind == Kind.ERASE or state is None:
            state = None
        elif line.kind not in UNCHANGED:
            state |= line.after or {}
    return None if state is None else {k: v for k, v in state.items() if v is not None}


def episode(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    state: dict[str, Any] | None = {}
    for line in lines:
        if line.kind in (Kind.EPISODE, Kind.ADOPT):
            state = {"metadata": {}} | (line.after or {})
        elif line.kind == Kind.ERASE_EPISODE or state is None:
            state = None
        elif line.kind == Kind.UPDATE_EPISODE:
            state |= line.after or {}
    if state is None:
        return None
    return {k: v for k, v in state.items() if v is not None and v != []}
