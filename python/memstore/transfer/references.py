"""Replacing the ids in journal lines and evidence with those of another file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.history.reasons import FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EPISODES: Final = ("episode_id", "episode")
PROPOSALS: Final = ("proposal",)
"""The top-level keys of journal lines and evidence that hold an id or a list of ids."""

LINES: Final = ("reverts",)
"""Those that hold ids of journal lines, which another file does not know; they become empty."""


def replaced(
    part: Mapping[str, Any] | None,
    fact: Callable[[int], int | None],
    episode: Callable[[int], int | None],
    proposal: Callable[[int], int | None],
) -> dict[str, Any] | None:
    """Return a part of a line with its ids replaced; an unknown id becomes ``None``."""
    if part is None:
        return None
    result = {name: [] if name in LINES else value for name, value in part.items()}
    for names, local in ((FACTS, fact), (EPISODES, episode), (PROPOSALS, proposal)):
        for name in names:
            if ids := _ids(value := result.get(name)):
                here = [local(id_) for id_ in ids]
                result[name] = [*filter(None, here)] if isinstance(value, list) else here[0]
    return result


def _ids(value: object) -> list[int]:
    ids: list[Any] = value if isinstance(value, list) else [value]
    return ids if all(type(id_) is int for id_ in ids) else []
