"""Owners as fields of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain.records import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES: Final = ("user", "agent", "run_name")
"""The fields, in the order of a :class:`Scope`. ``run`` is a run of the journal."""


def chosen(fields: Mapping[str, str]) -> Scope | None:
    """Return the owners that the fields name; ``None`` if they name none."""
    user, agent, run = (fields.get(name) or None for name in NAMES)
    if user is agent is run is None:
        return None
    return Scope(user_id=user, agent_id=agent, run_id=run)


def fields_of(owners: Scope) -> dict[str, str]:
    """Return the fields that name these owners."""
    given = zip(NAMES, (owners.user_id, owners.agent_id, owners.run_id), strict=True)
    return {name: one for name, one in given if one is not None}
