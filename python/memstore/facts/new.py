"""New facts, checked: whatever cannot be stored raises before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables.readings import EXTRACT, MEMORY
from memstore.domain import clock, metadata
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NAME,
    checked_name,
    checked_place,
    checked_text,
)
from memstore.domain.records import SCOPE_FIELDS, NewFact, Scope, made
from memstore.errors import InvalidArgument, InvalidArgumentType

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.tables import threads
    from memstore.text.secrets import Screen

CONSOLIDATE: Final = "consolidate"

MOMENTS: Final = ("created_at", "valid_at", "expired_at")
SHORT_FIELDS: Final = ("source", "idempotency_key")

DERIVATIONS: Final = (EXTRACT, MEMORY, CONSOLIDATE)
"""The ways in which a fact is derived; those that are told have none."""


@dataclass(frozen=True, kw_only=True)
class CheckedFact(NewFact):
    """A new fact that can be stored as it is: its texts checked, its times read."""

    metadata: dict[str, Any]
    created_at: datetime | None = None
    valid_at: datetime | None = None
    expired_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """Whose it will be."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def columns(self) -> dict[str, Any]:
        """Return what it will have as a fact."""
        values = dict(vars(self))
        del values["supersedes"], values["across"]
        return values


@dataclass(slots=True)
class Prepared:
    """A fact checked and embedded, ready to be stored."""

    fact: CheckedFact
    blob: bytes | None = None
    """Its embedding; ``None``: it will be pending."""
    model: str | None = None
    """Whose embedding that is."""
    has_new_key: bool = False
    """Whether no fact is known to have its idempotency key."""
    has_new_claim: bool = False
    """Whether no fact is known to say the same."""
    counter: threads.Counter | None = None
    """Counts its place in a thread, and the places of those that are stored with it."""


def all_checked(new_facts: list[NewFact], screen: Screen) -> list[CheckedFact]:
    """Check new facts; an error names the place of the one at fault."""
    found = []
    for place, new in enumerate(new_facts, 1):
        try:
            found.append(checked(screen.record(new)))
        except (InvalidArgument, InvalidArgumentType) as error:
            if len(new_facts) > 1:
                error.place = f"fact {place} of {len(new_facts)}"
                error.text += "; none was stored"
            raise
    return found


def checked(new: NewFact) -> CheckedFact:
    values = vars(new) | {"metadata": metadata.checked_new(new.metadata)}
    for name in MOMENTS:
        if values[name] is not None:
            values[name] = clock.moment(values[name], name)
    valid_at, expired_at = values["valid_at"], values["expired_at"]
    if expired_at and valid_at and expired_at <= valid_at:
        raise InvalidArgument(
            "is not after the time from which the fact is valid, so it would never hold",
            argument="expired_at",
        )
    if new.episode_id is not None and type(new.episode_id) is not int:
        raise InvalidArgumentType(
            f"must be a whole number, not {new.episode_id!r}", argument="episode_id"
        )
    if new.derivation is not None and new.derivation not in DERIVATIONS:
        raise InvalidArgument(
            f"must be {', '.join(DERIVATIONS)} or None, not {new.derivation!r}",
            argument="derivation",
        )
    values["content"] = checked_text(new.content, "content", MAX_CONTENT)
    values["subject"] = checked_text(new.subject, "subject", MAX_NAME).strip()
    values["category"] = checked_text(new.category, "category", MAX_NAME).strip()
    for name in SHORT_FIELDS:
        if values[name] is not None:
            values[name] = checked_text(values[name], name, MAX_NAME)
    for name in SCOPE_FIELDS:
        if values[name] is not None:
            values[name] = checked_name(values[name], name)
    if new.thread is not None or new.seq is not None:
        values["thread"], values["seq"] = checked_place(new.thread, new.seq)
        if new.thread is None and new.episode_id is None:
            raise InvalidArgument("is a place in a thread, and none is given", argument="seq")
    return made(CheckedFact, values)
