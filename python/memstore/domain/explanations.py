"""Explanations: why a fact is believed or not, entry by entry."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record
from memstore.domain.support import SupportKind
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime


class EntryKind(StrEnum):
    """What an entry of an explanation is about, unless it is a support, which has its own kinds."""

    REPLACED = "replaced"
    """It superseded another fact."""
    SUPERSEDED = "superseded"
    REVIVED = "revived"
    """A supersession of it was taken back."""
    DELETED = "deleted"
    RESTORED = "restored"
    ERASED = "erased"
    """Its text was erased, or the episode that it rested on."""
    EXPIRED = "expired"
    EXPIRES = "expires"
    """It is going to expire."""
    KEPT = "kept"
    """Something newly learned was compared with it and changed nothing."""
    PROPOSED = "proposed"
    """It was proposed to supersede another fact."""
    REJECTED = "rejected"
    """A proposal to supersede it was rejected."""
    UNCONFIRMED = "unconfirmed"
    """Confirmations were taken back."""
    UNSUPPORTED = "unsupported"
    """What it began with was taken back, but something else speaks for it."""
    SUPPORTED = "supported"
    """And speaks for it again."""
    PINNED = "pinned"
    UNPINNED = "unpinned"
    METADATA = "metadata"
    """Its metadata was changed."""
    UPDATED = "updated"
    """Its expiry or its external key was changed."""
    TAKEN_BACK = "taken back"
    """It was said, read or confirmed, and that was taken back later."""
    DISTRUSTED = "distrusted"
    """A source that it rests on was distrusted, or a distrusted episode of it was erased."""
    TRUSTED = "trusted"
    """And trusted again."""


CONFIRMED: Final = "confirmed "
"""How the texts of supports begin that :meth:`Explanation.__str__` counts together."""

REPEATED: Final = frozenset({SupportKind.CONFIRMED, SupportKind.RESTATED})
OFTEN: Final = {2: "twice"}


@frozen(kw_only=True)
class ExplanationEntry(Record):
    """One thing that bears on whether a fact is believed."""

    kind: str
    """An :class:`EntryKind`, or a :class:`~memstore.domain.support.SupportKind`."""
    text: str
    """What happened, on one line: ``said by user on 2026-03-02 in episode 12: "…"``."""
    at: datetime | None = None
    actor: str | None = None
    """Who recorded it."""
    through: str | None = None
    """The program or interface that recorded it."""
    source: str | None = None
    """Where it was said, if it is a support."""
    device: str | None = None
    """The name of the device on which it was done; ``None`` for this one."""
    line: int | None = None
    """The line of the journal; ``None`` for what the journal does not say, such as an expiry."""
    episode_id: int | None = None
    fact_id: int | None = None
    """The other fact, if there is one and the caller may see it."""
    proposal_id: int | None = None
    words: str | None = None
    """The words of the episode or of the other fact, cut if they are long."""
    evidence: dict[str, Any] | None = None
    """The reasons as the journal has them, if the caller may see all that they quote."""


@frozen(kw_only=True)
class Explanation(Record):
    """Why a fact is believed, or no longer; ``str()`` returns it as a text."""

    fact_id: int
    verdict: str
    """The answer in one line."""
    status: str
    """As of :class:`~memstore.domain.records.Fact`."""
    trust: str | None = None
    """A :class:`~memstore.domain.trust.Trust`: how much the best of its supports counts; ``None``
    if it was erased."""
    source: str | None = None
    """The source by which that was decided, if it was one."""
    entries: tuple[ExplanationEntry, ...] = ()
    """In the order in which they were recorded; what is still to come is last."""

    def __str__(self) -> str:
        return "\n".join([self.verdict, *_lines(self.entries)])


def _lines(entries: Sequence[ExplanationEntry]) -> Iterator[str]:
    """Yield a line for each entry; confirmations in a row share one."""
    arrow = ""
    for repeated, some in groupby(entries, key=lambda entry: entry.kind in REPEATED):
        group = [*some]
        if repeated and len(group) > 1:
            last = group[-1].text.removeprefix(CONFIRMED)
            often = OFTEN.get(len(group), f"{len(group):,} times")
            yield f"{arrow}{CONFIRMED}{often}, last {last}"
            arrow = "→ "
            continue
        for entry in group:
            yield f"{arrow}{entry.text}"
            arrow = "→ "
