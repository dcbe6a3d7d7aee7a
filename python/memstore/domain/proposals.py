"""Proposals: supersessions and consolidations that a person has to decide."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.domain.records import Record, set_fields
from memstore.frozen import frozen, replace

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact


Marked: TypeAlias = tuple[tuple[str, bool], ...]
"""A text in its parts, each with whether the other text does not have it."""

WANTED: Final = {
    "UPDATE": "a language model wanted to replace the older one",
    "DELETE": "a language model wanted to delete the older one",
}
"""Why a person is asked, by what a model wanted to do."""

DAY: Final = 86_400

MIN_PART: Final = 20
"""Characters that are left of a part of a long text."""

AGES: Final = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))
"""The units of an age, by their days."""


class ProposalState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@frozen(kw_only=True)
class Proposal(Record):
    """A proposed supersession or consolidation, for a person to accept or reject.

    In a supersession, a newer fact replaces an older one, the only source. In a consolidation, one
    text replaces several facts; the text becomes a fact when the proposal is accepted.
    """

    id: int
    at: datetime
    sources: tuple[Fact, ...]
    """The facts that would be superseded."""
    new: Fact | None
    """The fact that would supersede them; ``None`` for a consolidation until it is accepted."""
    content: str
    """The text of the new fact; blank if the proposal can no longer be accepted."""
    similarity: float | None = None
    """Cosine of the two contents, 0 to 1; ``None`` for a consolidation."""
    evidence: dict[str, Any]
    """The evidence for and against it."""
    state: str
    decided_at: datetime | None = None

    @property
    def old(self) -> Fact:
        """The older fact; for a consolidation, the first of its sources."""
        return self.sources[0]

    @property
    def kind(self) -> str:
        """``supersession`` or ``consolidation``."""
        return "supersession" if len(self.sources) == 1 else "consolidation"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self) | {"kind": self.kind}
        if self.kind == "supersession":
            values["old"] = values.pop("sources")[0]
            del values["content"]
        return values


@frozen(kw_only=True)
class Decided:
    """What became of several proposals that were decided at once."""

    proposals: tuple[Proposal, ...]
    """Those that were decided."""
    left: tuple[int, ...]
    """The ids of those that were not: unknown, decided already, or with a fact that is no longer
    active, also because another one of them superseded it."""


@frozen(kw_only=True)
class Question:
    """A proposal as a person reads it, to decide on."""

    proposal: Proposal
    olds: tuple[Marked, ...]
    """The texts that would be superseded, in the order of the proposal's sources."""
    new: Marked
    """The text that would take their place."""
    quoted: str
    """Whose words the new text is."""
    age_seconds: float
    """For how long the older text has been held; of several, the oldest."""

    def condensed(self, characters: int) -> Question:
        """Return it with long texts in which most of what does not differ is left out.

        Args:
            characters: of a text that is not long.
        """
        olds = tuple(_condensed(old, characters) for old in self.olds)
        return replace(self, olds=olds, new=_condensed(self.new, characters))

    @property
    def age(self) -> str:
        """For how long the older text has been held, such as ``3 months``."""
        days = int(self.age_seconds // DAY)
        length, unit = next((age for age in AGES if days >= age[0]), (0, ""))
        number = days // length if length else 0
        return f"{number} {unit}{'' if number == 1 else 's'}" if number else "less than a day"

    @property
    def effect(self) -> str:
        """What accepting does."""
        olds = ", ".join(f"#{fact.id}" for fact in self.proposal.sources)
        if self.proposal.new is not None:
            return f"#{self.proposal.new.id} replaces {olds}"
        return f"this text replaces {olds}"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is asked: sentences without a full stop."""
        evidence = self.proposal.evidence or {}
        rule, wanted = evidence.get("rule"), WANTED.get(str(evidence.get("wanted")))
        said = [f"the newer one {rule}"] if isinstance(rule, str) and rule else []
        if evidence.get("outranked") is True:
            said.append("what speaks for the newer one counts less than what speaks for the older")
        return (*said, wanted) if wanted else (*said,)

    @property
    def line(self) -> str:
        """All of it in one line, with the words that differ in brackets."""
        olds = " and ".join(f'"{_bracketed(old)}"' for old in self.olds)
        return (
            f'{self.proposal.old.subject}: {olds} -> "{_bracketed(self.new)}" ({self.quoted}; '
            f"held for {self.age}; if accepted, {self.effect})"
        )


def _condensed(text: Marked, characters: int) -> Marked:
    """Return a text of about this length at most: what differs is cut last."""
    if sum(len(part) for part, _ in text) <= characters:
        return text
    room = max(characters // len(text), MIN_PART)
    return tuple(
        (_ends(part, room) if not changed else _beginning(part, characters // 2), changed)
        for part, changed in text
    )


def _ends(text: str, characters: int) -> str:
    half = characters // 2
    return text if len(text) <= characters else f"{text[:half]} … {text[-half:]}"


def _beginning(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"


def _bracketed(text: Marked) -> str:
    return "".join(f"[{part}]" if changed else part for part, changed in text)
