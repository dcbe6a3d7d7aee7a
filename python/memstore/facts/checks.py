"""Checks of new facts; invalid ones raise before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables import facts as fact_table
from memstore.database.tables.readings import EXTRACT, MEMORY
from memstore.domain import clock, metadata
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NAME,
    checked_name,
    checked_place,
    checked_text,
)
from memstore.domain.records import SCOPE_FIELDS, NewFact, Scope, unchecked
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.tables import threads
    from memstore.database.tables.facts import Encoded
    from memstore.text.secrets import Screen

CONSOLIDATE: Final = "consolidate"

MOMENTS: Final = ("created_at", "valid_at", "expired_at")
SHORT_FIELDS: Final = ("source", "idempotency_key")

DERIVATIONS: Final = (EXTRACT, MEMORY, CONSOLIDATE)
"""The ways in which a model can produce a fact; facts stored directly have none."""


@frozen(kw_only=True)
class CheckedFact(NewFact):
    """A new fact that was checked and can be stored as it is."""

    metadata: dict[str, Any]
    created_at: datetime | None = None
    valid_at: datetime | None = None
    expired_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """The owners it will belong to."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def columns(self) -> dict[str, Any]:
        """Return the values of its columns that are known before it is stored."""
        values = dict(vars(self))
        del values["supersedes"], values["any_subject"]
        return values


class Prepared:
    """A fact checked and embedded, ready to be stored.

    Args:
        blob: its embedding; ``None`` if it will be pending.
        model: the model of the embedding.
    """

    __slots__ = ("blob", "counter", "encoded", "fact", "has_new_claim", "has_new_key", "model")

    def __init__(
        self,
        fact: CheckedFact,
        encoded: Encoded,
        blob: bytes | None = None,
        model: str | None = None,
    ) -> None:
        self.fact = fact
        self.encoded = encoded
        self.blob = blob
        self.model = model
        self.counter: threads.Counter | None = None
        """Assigns places in threads, also to the facts stored with it."""
        self.has_new_key = False
        """True if it is certain that no fact has its idempotency key."""
        self.has_new_claim = False
        """True if it is certain that no fact says the same."""


def all_prepared(new_facts: list[NewFact], screen: Screen) -> list[Prepared]:
    """Check new facts; an error says which one is invalid."""
    found = []
    for place, new in enumerate(new_facts, 1):
        try:
            found.append(prepared(screen.record(new)))
        except (InvalidArgument, InvalidArgumentType) as error:
            if len(new_facts) > 1:
                error.place = f"fact {place} of {len(new_facts)}"
                error.text += "; none was stored"
            raise
    return found


def prepared(new: NewFact) -> Prepared:
    """Check a new fact, and make what needs no transaction."""
    values = dict(vars(new))
    values["metadata"], metadata_text = metadata.checked_new(new.metadata)
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
            raise InvalidArgument("is a place in a thread, but no thread is given", argument="seq")
    found_by = fact_table.found_by(values["content"], values["subject"])
    return Prepared(unchecked(CheckedFact, values), fact_table.Encoded(metadata_text, found_by))
