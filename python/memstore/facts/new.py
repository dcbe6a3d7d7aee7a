"""New facts, checked: whatever cannot be stored raises before anything is written."""

from __future__ import annotations

from typing import Any, NamedTuple

from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_CONTENT, MAX_NAME, checked_text
from memstore.domain.records import SCOPE_FIELDS, NewFact
from memstore.errors import InvalidArgument
from memstore.facts.provenance import DERIVATIONS


class Prepared(NamedTuple):
    """A fact checked and embedded, ready to be stored."""

    values: dict[str, Any]
    blob: bytes | None
    """Its embedding; ``None``: it will be pending."""
    model: str | None
    """Whose embedding that is."""


def all_checked(new_facts: list[NewFact]) -> list[dict[str, Any]]:
    """Return the columns of new facts; an error names the place of the one at fault."""
    found = []
    for place, new in enumerate(new_facts):
        try:
            found.append(checked(new))
        except (ValueError, TypeError) as error:
            if len(new_facts) == 1:
                raise
            raise type(error)(
                f"fact {place} of {len(new_facts)}: {error}; none was stored"
            ) from None
    return found


def checked(new: NewFact) -> dict[str, Any]:
    """Return the columns of a new fact, checked; raises before anything is written."""
    metadata.check_size(new.metadata)
    values: dict[str, Any] = {
        "content": checked_text(new.content, "content", MAX_CONTENT),
        "subject": checked_text(new.subject, "subject", MAX_NAME).strip(),
        "category": checked_text(new.category, "category", MAX_NAME).strip(),
        "metadata": dict(new.metadata) if new.metadata is not None else None,
        "supersedes": new.supersedes,
        "created_at": clock.moment(new.created_at, "created_at"),
        "valid_at": clock.moment(new.valid_at, "valid_at"),
        "expired_at": clock.moment(new.expired_at, "expired_at"),
    }
    if values["expired_at"] and values["valid_at"] and values["expired_at"] <= values["valid_at"]:
        raise InvalidArgument(
            "is not after the time from which the fact is valid, so it would never hold",
            argument="expired_at",
        )
    if new.episode_id is not None and type(new.episode_id) is not int:
        raise TypeError(f"an episode's id is a whole number, not {new.episode_id!r}")
    values["episode_id"] = new.episode_id
    if new.derivation is not None and new.derivation not in DERIVATIONS:
        raise ValueError(
            f"derivation must be {', '.join(DERIVATIONS)} or None, not {new.derivation!r}"
        )
    values["derivation"] = new.derivation
    for name in ("source", "idempotency_key", *SCOPE_FIELDS):
        text = getattr(new, name)
        values[name] = text if text is None else checked_text(text, name, MAX_NAME)
    return values
