"""Conversations that no language model has read yet, and portions of their turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import Record
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime


@frozen
class UnreadThread(Record):
    """A conversation with turns that no model has read; all fields are about these turns."""

    thread: str | None
    """Its name; ``None`` for a conversation that is one episode without a thread."""
    source: str | None
    turns: int
    characters: int
    first_id: int
    last_id: int
    began: datetime
    ended: datetime


@frozen(kw_only=True)
class Portion(Record):
    """Unread turns as a text for a model; ``str()`` returns the text."""

    text: str
    """Below "already known", the facts that may be about the same; below the name of each
    conversation, its turns. Both are lines under their dates, as ``Store.recall`` writes them.
    Empty if there is nothing to read."""
    turns: tuple[int, ...] = ()
    """Ids of the turns in it, in ascending order. They are the first unread ones."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it, most similar first."""
    left: int = 0
    """How many unread turns follow."""

    @property
    def last_id(self) -> int | None:
        """The highest id of its turns: marking it as read marks this portion."""
        return self.turns[-1] if self.turns else None

    def __str__(self) -> str:
        return self.text
