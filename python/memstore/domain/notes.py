"""Notes: what an answer has to say besides what was found or done.

They are decided here and in :mod:`memstore.store.answers`, once for all faces. Each face has one
table that words them, as it has for remedies: it may leave a note out, but decides nothing anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from memstore.domain.records import AboutOthers as AboutOthers
from memstore.domain.results import Respelt as Respelt
from memstore.domain.results import WordsOnly as WordsOnly
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.records import Fact, Scope, SearchHits
    from memstore.domain.status import Contents
    from memstore.errors import Reason


@frozen
class Duplicate:
    """The fact was known already, and was confirmed instead of being stored again."""


@frozen
class Superseded:
    """The stored fact supersedes an older one."""

    old_id: int


@frozen
class Proposed:
    """It should supersede an older fact that counts more, so that became a proposal."""

    old_id: int


@frozen
class Expired:
    """The stored fact has expired already."""

    id: int


@frozen
class Near:
    """It may replace these older facts, by what it says."""

    new_id: int
    facts: tuple[Fact, ...]
    """The nearest first."""


@frozen
class Pending:
    """It has no embedding yet, so that only words find it."""

    id: int
    reason: Reason
    """Why the embedder could not be used."""


@frozen
class OnlyNewest:
    """The last hits match nothing: they are only the newest episodes."""

    count: int


@frozen
class LessRelevant:
    """The minimum relevance left some hits out."""

    count: int
    is_all: bool
    """Whether nothing else was found."""


@frozen
class Provisional:
    """The order is provisional, because the index is still being built."""


@frozen
class AsOf:
    """The answer is about an earlier moment, but ranked by today's vectors."""

    moment: datetime


@frozen
class PartOf:
    """The answer is a part of what there is."""

    count: int
    total: int
    noun: str


@frozen
class NothingFound:
    """Nothing was found, though something may be stored."""


@frozen
class NothingStored:
    """There is no fact yet, in any state, and so nothing was found."""

    turns: int
    """The episodes that there are."""
    names_nobody: bool
    """Whether the caller named no owner."""


@frozen
class OthersHold:
    """Nothing was found for these owners, but others hold something."""

    counts: Mapping[str, int]
    """How much, by nouns such as ``fact``."""
    owners: tuple[Scope, ...] = ()
    """Those with the most, if they are known."""


@frozen
class OtherNamespaces:
    """Other namespaces of the file hold something."""

    contents: Mapping[str, Contents]


Note: TypeAlias = (
    Duplicate
    | Superseded
    | Proposed
    | Expired
    | Near
    | Pending
    | WordsOnly
    | OnlyNewest
    | LessRelevant
    | Respelt
    | Provisional
    | AboutOthers
    | AsOf
    | PartOf
    | NothingFound
    | NothingStored
    | OthersHold
    | OtherNamespaces
)


class Searched(Protocol):
    """What every search says of its answer, whatever it found."""

    @property
    def words_only(self) -> WordsOnly | None: ...
    @property
    def hidden(self) -> int: ...
    @property
    def respelt(self) -> tuple[Respelt, ...]: ...
    @property
    def provisional(self) -> bool: ...
    @property
    def about(self) -> AboutOthers | None: ...


class RecalledText(Searched, Protocol):
    """What a recall says of it."""

    @property
    def text(self) -> str: ...


def of_search(hits: SearchHits, said: EpisodeHits | None = None) -> tuple[Note, ...]:
    """Return the notes of a search, and of what was said beside its facts."""
    both = (hits,) if said is None else (hits, said)
    shown = next((one for one in both if one), both[-1])
    return (
        *_of_words(hits),
        *_of_hidden(hits, is_any=bool(shown)),
        *_of_spelling(*both),
        *_of_order(shown, *both),
    )


def of_episodes(hits: EpisodeHits) -> tuple[Note, ...]:
    """Return the notes of a search for episodes."""
    return (
        *_of_words(hits),
        *((OnlyNewest(hits.newest_first),) if hits.newest_first else ()),
        *_of_hidden(hits, is_any=bool(hits)),
        *_of_spelling(hits),
        *_of_order(hits, hits),
    )


def of_recall(recalled: RecalledText) -> tuple[Note, ...]:
    """Return the notes of a recall, those first that matter most where there is little room."""
    return (
        *_of_words(recalled),
        *_of_order(recalled, recalled),
        *_of_spelling(recalled),
        *_of_hidden(recalled, is_any=bool(recalled.text)),
    )


def hides_all(found: Collection[Note]) -> bool:
    """Return whether nothing was found but what is less relevant."""
    return any(isinstance(one, LessRelevant) and one.is_all for one in found)


def is_empty(given: Collection[Note]) -> bool:
    """Return whether these are the notes of an answer in which nothing was found."""
    return hides_all(given) or any(isinstance(one, NothingFound | NothingStored) for one in given)


def _of_words(found: Searched) -> Iterator[Note]:
    if found.words_only is not None:
        yield found.words_only


def _of_hidden(found: Searched, *, is_any: bool) -> Iterator[Note]:
    if found.hidden:
        yield LessRelevant(found.hidden, is_all=not is_any)


def _of_spelling(*found: Searched) -> Iterator[Note]:
    yield from dict.fromkeys(one for some in found for one in some.respelt)


def _of_order(shown: Searched, *found: Searched) -> Iterator[Note]:
    if any(one.provisional for one in found):
        yield Provisional()
    if shown.about is not None:
        yield shown.about
