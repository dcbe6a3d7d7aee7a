"""New facts, checked: whatever cannot be stored raises before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables.readings import EXTRACT, MEMORY
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_CONTENT, MAX_NAME, checked_text
from memstore.domain.records import NewFact, Scope
from memstore.errors import InvalidArgument, InvalidArgumentType

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.text.secrets import Screen

CONSOLIDATE: Final = "consolidate"

DERIVATIONS: Final = (EXTRACT, MEMORY, CONSOLIDATE)
"""The ways in which a fact is derived; those that are told have none."""

SHORT_FIELDS: Final = ("source", "idempotency_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFact(NewFact):
    """A new fact that can be stored as it is: its texts checked, its times read."""

    metadata: dict[str, Any] | None = None
    created_at: datetime | None = None
    valid_at: datetime | None = None
    expired_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """Whose it will be."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS: Final = tuple(
    field.name for field in fields(NewFact) if field.name not in ("supersedes", "across")
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A fact checked and embedded, ready to be stored."""

    fact: CheckedFact
    blob: bytes | None = None
    """Its embedding; ``None``: it will be pending."""
    model: str | None = None
    """Whose embedding that is."""


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
    metadata.check_size(new.metadata)
    valid_at = clock.moment(new.valid_at, "valid_at")
    expired_at = clock.moment(new.expired_at, "expired_at")
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
    return CheckedFact(
        content=checked_text(new.content, "content", MAX_CONTENT),
        subject=checked_text(new.subject, "subject", MAX_NAME).strip(),
        category=checked_text(new.category, "category", MAX_NAME).strip(),
        metadata=dict(new.metadata) if new.metadata is not None else None,
        supersedes=new.supersedes,
        across=bool(new.across),
        created_at=clock.moment(new.created_at, "created_at"),
        valid_at=valid_at,
        expired_at=expired_at,
        episode_id=new.episode_id,
        derivation=new.derivation,
        **{name: _short(getattr(new, name), name) for name in SHORT_FIELDS},
        **Scope(user_id=new.user_id, agent_id=new.agent_id, run_id=new.run_id).ids,
    )


def _short(text: str | None, name: str) -> str | None:
    return None if text is None else checked_text(text, name, MAX_NAME)
