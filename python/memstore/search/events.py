"""The event in a question: what came before it, or after it, is like what is said of it.

"What came before Opus?" has no word of the answer. The row that tells of Opus has: "Opus sounds
better, that is what listeners get" is about what "listeners get AAC" is about. So what is asked is
compared as that row says it. What was so when Opus was chosen is about something else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import moments, zones
from memstore.search.lookups import dates
from memstore.text.times import MAX_CHARACTERS, OF_SCRIPTS, UNSPACED, folded
from memstore.text.utterances import only_asks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memstore.search.corpus import Corpus, DatedText
    from memstore.search.lookups.base import F, Lookup
    from memstore.search.lookups.dates import Condition, Event

TELLING: Final = 50
"""Among how many rows with words of an event the one that tells of it is looked for."""

MIN_SHARE: Final = 0.6
"""The share of the weights of an event's words that this row has at least; words that none of the
rows has do not count."""

EPSILON: Final = 1e-9
"""Shares that differ by less are equal."""


def settle(corpus: Corpus[F, Any], query: str, wanted: F, elsewhere: Event | None) -> None:
    """Find the event that a query names: when it was, and what is said of it.

    Args:
        elsewhere: what rows of the other kind tell of it. Those that are no text of others know
            better, then those that have more of its words, else those that told of it first.
    """
    lookup: Lookup[F] = corpus.lookup
    named = lookup.named_dates(query)
    condition = named.condition
    if condition is not None and condition.event:
        settled = _settled(corpus, condition, wanted, elsewhere)
        lookup.settle(query, named._replace(condition=settled))


def _settled(
    corpus: Corpus[F, Any], condition: Condition, wanted: F, elsewhere: Event | None
) -> Condition | None:
    """Return a condition with the time of its event; ``None`` if nothing tells of that."""
    rows = telling(corpus, condition.event, wanted)
    own = _first(corpus, condition.event, rows)
    both = [one for one in (own, elsewhere) if one is not None]
    if not both:
        return None
    first = min(both, key=lambda one: (*_doubt(one), one.at))
    if own is None or _doubt(own) > _doubt(first):
        rows = {}  # they only resemble what tells of it, or are text of others
    settled = condition._replace(
        telling=tuple(rows),
        # Who asked the same before has these words, too, and is not about them.
        words=condition.words if _is_about(condition, rows) else "",
    )
    like = first.text[:MAX_CHARACTERS]
    if condition.side == "at":  # what was so then is about something else; what was said then is so
        return settled._replace(until=moments.later(first.at, zones.MICROSECOND))
    if condition.side == "after":
        return settled._replace(since=first.at, like=like)
    return settled._replace(until=first.at, like=like)


def event(corpus: Corpus[F, Any], condition: Condition, wanted: F) -> Event | None:
    """Return what rows of one kind tell of an event, for a search of the other kind.

    Nothing if one of them is about the words that make it a time: "before deploying, run the
    tests".
    """
    rows = telling(corpus, condition.event, wanted)
    return None if _is_about(condition, rows) else _first(corpus, condition.event, rows)


def _first(corpus: Corpus[F, Any], event: str, rows: Mapping[int, DatedText]) -> Event | None:
    if not rows:
        return None
    first = min(rows, key=lambda id_: rows[id_].at)  # of equal moments that of the smallest id
    words = corpus.lookup.word_parts(event, [first]).get(first, {})
    return dates.Event(*rows[first], len(words), is_foreign=bool(corpus.foreign([first])))


def _doubt(event: Event) -> tuple[bool, int]:
    """Return what is larger of an event that is less sure."""
    return event.is_foreign, -event.words


def _is_about(condition: Condition, rows: Mapping[int, DatedText]) -> bool:
    """Whether a row is about the words that make an event a time: not about a mere "when"."""
    if not condition.words or condition.side == "at":
        return False
    words = re.escape(folded(condition.words))
    if not any(map(_is_of_unspaced, condition.words)):
        words = rf"(?<!\w){words}(?!\w)"
    pattern = re.compile(words)
    return any(pattern.search(_beginning(one)) for one in rows.values())


def _is_of_unspaced(letter: str) -> bool:
    """Whether it is of a script in which words stand beside each other without spaces."""
    return any(first <= letter <= last for first, last in map(OF_SCRIPTS.__getitem__, UNSPACED))


def telling(corpus: Corpus[F, Any], event: str, wanted: F) -> dict[int, DatedText]:
    """Return the rows that tell of an event, by id, but for those that only ask something.

    Text of others, such as a web page, tells of it only if nothing else does.
    """
    return among(corpus, event, [*corpus.lookup.words(event, wanted, TELLING)])


def among(corpus: Corpus[F, Any], event: str, ids: Sequence[int]) -> dict[int, DatedText]:
    """Return those of the rows that tell of an event, as :func:`telling` does."""
    parts = corpus.lookup.word_parts(event, ids)
    weights: dict[str, float] = {}
    for held in parts.values():
        for word, part in held.items():
            weights[word] = max(weights.get(word, 0.0), abs(part))
    least = MIN_SHARE * sum(weights.values())
    shares = {id_: sum(weights[word] for word in held) for id_, held in sorted(parts.items())}
    enough: dict[int, float]
    enough = {id_: share for id_, share in shares.items() if share and share >= least}
    others: Collection[int] = corpus.foreign([*enough]) if enough else ()
    own = {id_: share for id_, share in enough.items() if id_ not in others}
    return _with_most(corpus, own) or _with_most(corpus, enough)


def _with_most(corpus: Corpus[F, Any], shares: Mapping[int, float]) -> dict[int, DatedText]:
    """Return the rows with the largest shares, by id, but for those that only ask something."""
    most = max(shares.values(), default=0.0)
    ids = [id_ for id_, share in shares.items() if share >= most * (1 - EPSILON)]
    rows = corpus.dated_texts(ids)
    return {id_: rows[id_] for id_ in ids if id_ in rows and not _only_asks(rows[id_])}


def _only_asks(row: DatedText) -> bool:
    return len(row.text) <= MAX_CHARACTERS and only_asks(row.text)


def _beginning(row: DatedText) -> str:
    return folded(row.text[:MAX_CHARACTERS])
