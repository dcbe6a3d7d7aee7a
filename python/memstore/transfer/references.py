"""Ids in lines of the journal and in evidence, replaced by those of another file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FACTS: Final = ("superseded_by", "reinstates", "consolidates")
EPISODES: Final = ("episode_id", "episode")
PROPOSALS: Final = ("proposal",)
"""What holds an id, or a list of them, at the top of what a line says or of evidence."""


def replaced(
    part: Mapping[str, Any] | None,
    fact: Callable[[int], int | None],
    episode: Callable[[int], int | None],
    proposal: Callable[[int], int | None],
) -> dict[str, Any] | None:
    """Return a part of a line with other ids; one that there is not becomes ``None``."""
    if part is None:
        return None
    found = dict(part)
    for names, of in ((FACTS, fact), (EPISODES, episode), (PROPOSALS, proposal)):
        for name in names:
            if ids := _ids(held := found.get(name)):
                here = [of(id_) for id_ in ids]
                found[name] = [*filter(None, here)] if isinstance(held, list) else here[0]
    return found


def _ids(held: object) -> list[int]:
    ids: list[Any] = held if isinstance(held, list) else [held]
    return ids if all(type(id_) is int for id_ in ids) else []
