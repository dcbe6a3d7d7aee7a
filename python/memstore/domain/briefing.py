"""The result of a briefing: the text that a session begins with."""

from __future__ import annotations

from memstore.domain.records import Record
from memstore.frozen import frozen


@frozen(kw_only=True)
class Briefing(Record):
    """What an agent is told when a session begins; ``str()`` returns the text."""

    text: str
    """Groups of lines, each below its title; empty if there is nothing to tell."""
    tasks: tuple[int, ...] = ()
    """Ids of the tasks in it."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it."""
    episodes: tuple[int, ...] = ()
    """Ids of the episodes that the lines about the last sessions are taken from."""

    def __str__(self) -> str:
        return self.text
