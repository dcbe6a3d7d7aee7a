"""Recorded searches: what agents asked a server, and what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record, Scope
from memstore.frozen import field, frozen

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact

MAX_SEARCHES: Final = 10_000
"""How many searches a file keeps, the newest."""

PROMPT: Final = "prompt"
"""The tool of what a hook added to a prompt, which no agent asked for."""

MAX_DAYS: Final = 30
"""How old a recorded search may become."""


@frozen(kw_only=True)
class RecordedSearch(Record):
    """A search that an agent made through a server."""

    id: int
    at: datetime
    namespace: str
    scope: Scope = field(default_factory=Scope)
    """The owners whose memories were asked for."""
    actor: str
    client: str
    """The program that asked, as the journal names it."""
    run: str | None = None
    """The session of the server, as in the journal."""
    tool: str
    """The tool or method that was called."""
    query: str | None
    """``None`` after something was erased that it was given, or whose words it had."""
    facts: tuple[int, ...] = ()
    """The facts that were given, best first."""
    episodes: tuple[int, ...] = ()
    tokens: int | None = None
    """An upper bound on the tokens of the answer."""
    milliseconds: float | None = None
    """How long the answer took."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was given."""
        return not (self.facts or self.episodes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set as JSON values; of the owners those that are set."""
        owners = {name: owner for name, owner in self.scope.ids.items() if owner is not None}
        return Record.to_dict(self) | {"scope": owners}


@frozen(kw_only=True)
class SearchTotals(Record):
    """How much was asked and given since a time."""

    searches: int
    prompts: int
    """How many of them hooks answered at a prompt."""
    tokens: int
    """Of all answers that have any."""
    answers: int
    """How many these are."""


@frozen(kw_only=True)
class GivenFact(Record):
    """A fact, and in how many recorded searches it was given."""

    fact: Fact
    searches: int
