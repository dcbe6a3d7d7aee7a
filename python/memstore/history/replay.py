"""Replaying the journal: what a fact or an episode must hold after its lines, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.journal import UNCHANGED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.domain.records import JournalLine


BEGINS = (Kind.ADD, Kind.EPISODE, Kind.ADOPT)
ENDS = (Kind.ERASE, Kind.ERASE_EPISODE)


def state(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return what a fact or an episode should hold after its lines; ``None`` once it is erased."""
    held: dict[str, Any] | None = {}
    for line in lines:
        if line.kind in BEGINS:
            held = {"metadata": {}} | (line.after or {})
        elif line.kind in ENDS or held is None:
            held = None
        elif line.kind not in UNCHANGED:
            held |= line.after or {}
    return None if held is None else {k: v for k, v in held.items() if v is not None and v != []}
