"""Writes the part of an answer about owners that the call did not name.

A call that names no owner learns how much other owners of its namespace hold, so that an empty
answer is not taken for an empty memory. It learns neither who they are nor, if it named an owner,
anything about the others: a model would try their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.escaping import counted
from memstore.store.store import elsewhere, others_of, standing_of

if TYPE_CHECKING:
    from collections.abc import Sized

    from memstore.domain.status import Others
    from memstore.faces.mcp.answers import Answer
    from memstore.store.store import Store


def unnamed(store: Store) -> Others | None:
    """Return what the owners of the namespace hold, for a call that named none."""
    return others_of(store) if standing_of(store).names_nobody else None


def hint(others: Others | None, otherwise: str | None = None) -> Answer:
    """Return a hint about facts and episodes of owners, else the other one, if any."""
    numbers = () if others is None else (("fact", others.facts), ("episode", others.episodes))
    if held := [counted(number, noun) for noun, number in numbers if number]:
        return {"hint": of_owners(" and ".join(held))}
    return {} if otherwise is None else {"hint": otherwise}


def of_owners(text: str) -> str:
    return (
        f"found nothing without an owner; owners have {text}: pass user_id, "
        "agent_id or run_id, exactly as they were stored"
    )


def empty_search(store: Store) -> Answer:
    """Return the hint of a search that found no fact."""
    otherwise = None
    if not store.count(active_only=False):
        otherwise = nothing_stored(store)
    return hint(unnamed(store), otherwise)


def nothing_stored(store: Store) -> str:
    """Return that there are no facts, and what there is: turns, and namespaces without names."""
    whose = "" if standing_of(store).names_nobody else " for these owners"
    turns = store.episodes.count()
    told = f"nothing is stored yet{whose}"
    if turns:
        told = f"no fact is stored yet{whose}, and none of {counted(turns, 'turn')} fits"
    if others := elsewhere(store):
        told += f"; {counted(len(others), 'other namespace')} of this memory {have(others)} more"
    return told


def have(many: Sized) -> str:
    return "has" if len(many) == 1 else "have"


def status(store: Store, others: Others) -> Answer:
    """Return the counts of owners in a status, for a call that named none."""
    if not standing_of(store).names_nobody or not (others.facts or others.episodes):
        return {}
    return {"others": {"facts": others.facts, "episodes": others.episodes}}
