"""Why a fact is believed: each support is one time that something spoke for it, or against it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from memstore.domain.records import Record
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime


class SupportKind(StrEnum):
    """How something spoke for a fact, or against it."""

    SAID = "said"
    """Somebody stored it."""
    EXTRACTED = "extracted"
    """A language model read it in an episode."""
    RESTATED = "restated"
    """It was said, or read, again."""
    CONFIRMED = "confirmed"
    """Somebody confirmed it by its id."""
    DENIED = "denied"
    """Something speaks against it, and a proposal was made of that."""


@frozen(kw_only=True)
class Support(Record):
    """One time that something spoke for a fact, or against it."""

    line: int
    """The line of the journal that recorded it."""
    fact_id: int
    kind: str
    """A :class:`SupportKind`."""
    at: datetime
    actor: str
    """Who recorded it."""
    through: str
    """The program or interface that recorded it."""
    source: str | None = None
    """Where it was said: the source of its episode, or else the one that was given with it."""
    episode_id: int | None = None
    start: int | None = None
    """Where its words stand in the text of the episode, in characters; ``None`` if the episode says
    it in other words."""
    stop: int | None = None
    """The end of them, exclusive."""
