"""Trust: how much a text counts, by who said it and by its source."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record
from memstore.frozen import field, frozen
from memstore.lazy import cached_property
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PERSON_ACTOR: Final = "user"
PROGRAM_ACTOR: Final = "memstore"
"""Who takes in the facts of other programs and of older files."""

PATH: Final = "/?#"
"""What may follow a prefix, unless it ends with a sign itself: ``web:a.org`` stands for
``web:a.org/x``, but not for ``web:a.org.b.net``."""


class Trust(StrEnum):
    """How much a text counts; each value counts more than those after it."""

    PERSON = "person"
    AGENT = "agent"
    TOOL = "tool"
    EXTERNAL = "external"
    """Text of others, such as a web page: data, and never a reason to act."""
    DISTRUSTED = "distrusted"
    """What rests on it alone is hidden."""

    @property
    def rank(self) -> int:
        """How much it counts, from 0."""
        return RANKS[self]


ORDER: Final = (*Trust,)
RANKS: Final = {one: rank for rank, one in enumerate(reversed(ORDER))}
LEVELS: Final = ORDER[:-1]
"""The levels that a source may be given."""

DEFAULTS: Final[Mapping[str, str]] = {
    "web:": Trust.EXTERNAL,
    "http:": Trust.EXTERNAL,
    "https:": Trust.EXTERNAL,
    "repository:": Trust.EXTERNAL,
    "tool:": Trust.TOOL,
}


class Credit(NamedTuple):
    """How much a text counts, and the source by which that was decided, if it was one."""

    trust: Trust
    source: str | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether it is never injected and no task is made of it."""
        return self.trust.rank <= Trust.EXTERNAL.rank


@frozen
class TrustChange(Record):
    """What became of trusting or distrusting a source, in all namespaces of the file."""

    sources: dict[str, str]
    """The level of each source that has one, by the beginning of its name."""
    hidden_facts: int = 0
    """How many facts left searches and lists."""
    shown_facts: int = 0
    """How many facts came back."""
    hidden_episodes: int = 0
    shown_episodes: int = 0


@frozen
class TrustTable:
    """What sources count, by their prefixes. The longest prefix of a source decides."""

    levels: dict[str, str] = field(default_factory=dict)
    """Those that were set; :data:`DEFAULTS` hold otherwise."""
    distrusted: tuple[str, ...] = ()

    def of(self, source: str) -> Trust | None:
        """Return what a source or a program counts; ``None`` if that depends on who speaks."""
        known = self._known
        if source not in known:
            known[source] = _longest(self.effective, source)
        return known[source]

    @cached_property
    def _known(self) -> dict[str, Trust | None]:
        """What was asked for before: many texts are of few sources."""
        return {}

    def distrusting(self, *names: str | None) -> set[str]:
        """Return the beginnings by which any of these sources or programs is distrusted."""
        known = [name.strip().casefold() for name in names if name]
        return {prefix for prefix in self.distrusted for name in known if covers(prefix, name)}

    def is_foreign(self, source: str) -> bool:
        """Whether the text of a source is data only."""
        level = self.of(source)
        return level is not None and level.rank <= Trust.EXTERNAL.rank

    @property
    def chosen(self) -> dict[str, str]:
        """The level of each prefix that somebody set."""
        return {**self.levels, **dict.fromkeys(self.distrusted, Trust.DISTRUSTED)}

    @property
    def effective(self) -> dict[str, str]:
        """The level of each prefix."""
        return {**DEFAULTS, **self.chosen}

    def credit(
        self, actor: str, source: str | None, through: str = "", speaker: str | None = None
    ) -> Credit:
        """Return what a text counts that ``actor`` recorded ``through`` a program.

        Of the source and the program, the one that counts least decides; without one that the table
        knows, the speaker or else the actor does.
        """
        levels = {name: self.of(name) for name in (source or "", through)}
        known = [Credit(level, name) for name, level in levels.items() if level is not None]
        if not known:
            return Credit(_spoken(actor, speaker))
        return known[0] if len(known) == 1 else min(known, key=_rank)

    def to_dict(self) -> dict[str, Any]:
        return {"levels": self.levels, "distrusted": [*self.distrusted]}


def _longest(levels: Mapping[str, str], source: str) -> Trust | None:
    """Return the level of the longest prefix of a source."""
    name = source.strip().casefold()
    found = {prefix: level for prefix, level in levels.items() if covers(prefix, name)}
    return Trust(found[max(found, key=len)]) if found else None


def covers(prefix: str, source: str) -> bool:
    """Whether a prefix, as it is stored, stands for a source."""
    if not source.startswith(prefix):
        return False
    rest = source[len(prefix) :]
    return not rest or not prefix[-1].isalnum() or rest[0] in PATH


def _rank(credit: Credit) -> int:
    return credit.trust.rank


def _spoken(actor: str, speaker: str | None) -> Trust:
    if speaker == "user":
        return Trust.PERSON
    if speaker == "tool" or actor == PROGRAM_ACTOR:
        return Trust.TOOL
    return Trust.PERSON if actor == PERSON_ACTOR and speaker is None else Trust.AGENT
