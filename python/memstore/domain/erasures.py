"""Erasures: what is selected, what would go, and what stays and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.arguments import (
    MAX_NAME,
    MAX_QUERY,
    checked_id,
    checked_items,
    checked_name,
    checked_text,
)
from memstore.domain.plans import run_bytes
from memstore.domain.records import NOBODY, Record, Scope
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.frozen import frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FACT = "fact"
EPISODE = "episode"
"""The kinds of what is erased."""


@frozen(kw_only=True)
class ErasureStep(Record):
    """What an erasure does to one fact or episode, or why it leaves it."""

    kind: str
    """``fact`` or ``episode``."""
    id: int | None
    """``None`` for a fact of other owners that the caller may not see."""
    claim: str
    """The subject and text of the fact, or how the episode begins; empty without an id."""
    text: str
    """What happens, as a sentence without its subject: "is erased", "stays"."""
    reason: str


@frozen(kw_only=True)
class ErasureCounts(Record):
    """How much an erasure removes."""

    facts: int = 0
    episodes: int = 0
    supports: int = 0
    """Times that something spoke for facts that go, or for others in episodes that go."""
    lines: int = 0
    """Lines of the journal that lose their texts."""
    vectors: int = 0
    """Of facts, and of pieces of episodes."""
    pieces: int = 0
    """Of episodes."""
    proposals: int = 0
    """That lose their evidence or text."""
    replies: int = 0
    """Of language models about episodes."""
    entries: int = 0
    """Of the graph: mentions and relations."""

    def __add__(self, other: ErasureCounts) -> ErasureCounts:
        both = other.__dict__
        return ErasureCounts(**{name: number + both[name] for name, number in vars(self).items()})


@frozen(kw_only=True)
class Erased(Record):
    """What applying an erasure did."""

    counts: ErasureCounts
    left: tuple[ErasureStep, ...]
    """What others changed while it ran, and what is therefore still there."""
    is_gone: bool
    """Whether the bytes are already gone from the files; see :meth:`memstore.Store.erase`."""


@frozen(kw_only=True)
class Remains(Record):
    """A word that is left in a file."""

    word: str
    path: str
    kind: str
    """What the file is: ``file``, ``log``, ``shared memory``, ``index``, ``copy`` or
    ``file beside it``; ``word index`` is a part of the file."""
    form: str
    """How the word is written there: ``as it is``, ``in lower case``, ``in JSON``, …"""
    number: int
    """How often."""
    first: int | None
    """The first place, in bytes; ``None`` for a word index."""


class ErasureSelection(NamedTuple):
    """What is to be erased; each condition that is given narrows the selection."""

    episode: int | None = None
    subject: str | None = None
    source: str | None = None
    owner: Scope | None = None
    """Its ids that are set; the others may be any."""
    run: bytes | None = None
    facts: tuple[int, ...] | None = None
    drawn: bool = True
    """Whether facts go that rest on nothing but the episodes that go."""

    @property
    def is_by_origin(self) -> bool:
        """Whether it says where facts come from, so that a fact may have other support."""
        return not (self.episode is None and self.source is None and self.run is None)

    @property
    def is_by_id(self) -> bool:
        """Whether it names something that may have been erased already."""
        return not (self.episode is None and self.facts is None)

    @property
    def is_of_facts(self) -> bool:
        """Whether only facts are selected, and no episodes."""
        return not (self.subject is None and self.facts is None)


def selection(
    *,
    episode: int | None,
    subject: str | None,
    source: str | None,
    owner: Scope | str | None,
    run: str | None,
    facts: Iterable[int] | None,
    drawn: bool,
) -> ErasureSelection:
    """Return a caller's selection, checked.

    Raises:
        InvalidArgument: nothing was selected.
    """
    if all(given is None for given in (episode, subject, source, owner, run, facts)):
        raise InvalidArgument(
            "nothing is selected: give an episode, a subject, a source, an owner, a run or facts"
        )
    if episode is not None:
        checked_id(episode, "episode")
    ids = None if facts is None else checked_items(facts, "facts")
    for one in ids or ():
        checked_id(one, "facts")
    return ErasureSelection(
        episode=episode,
        subject=None if subject is None else checked_text(subject, "subject", MAX_QUERY),
        source=None if source is None else checked_text(source, "source", MAX_NAME),
        owner=None if owner is None else _owner(owner),
        run=None if run is None else run_bytes(run, "run"),
        facts=None if ids is None else tuple(sorted({*ids})),
        drawn=drawn,
    )


def owners_of(owner: Scope) -> Mapping[str, str]:
    """Return the ids of an owner that are set, by column."""
    return {name: one for name, one in owner.ids.items() if one is not None}


def _owner(owner: Scope | str) -> Scope:
    if isinstance(owner, str):
        return Scope(user_id=checked_name(owner, "owner"))
    if not isinstance(owner, Scope):
        raise InvalidArgumentType(
            f"must be a user's id or a Scope, not {type(owner).__name__}", argument="owner"
        )
    if owner == NOBODY:
        raise InvalidArgument("names nobody", argument="owner")
    return owner
