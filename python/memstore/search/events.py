"""The event in a question: what came before it is like what is said of it.

"What came before Opus?" has no word of the answer. The row that tells of Opus has: "Opus sounds
better, that is what listeners get" is about what "listeners get AAC" is about. So what is asked is
compared as that row says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.text.times import folded
from memstore.text.utterances import only_asks

if TYPE_CHECKING:
    from memstore.search.corpus import Corpus, DatedText
    from memstore.search.lookups.base import F, Lookup

TELLING: Final = 50
"""Among how many rows with words of an event the one that tells of it is looked for."""

MIN_SHARE: Final = 0.6
"""The share of the weights of an event's words that this row has at least."""

EPSILON: Final = 1e-9
"""Shares that differ by less are equal."""

MAX_CHARACTERS: Final = 300
"""More of what it says is not compared."""


def settle(corpus: Corpus[F, Any], query: str, wanted: F) -> None:
    """Have the rows of the time before an event compared with what is said of it."""
    lookup: Lookup[F] = corpus.lookup
    named = lookup.named_dates(query, wanted.now)
    condition = named.condition
    if condition is None or not condition.event:
        return
    rows = telling(corpus, condition.event, wanted)
    if rows:
        first = min(rows, key=lambda one: one.at)
        words = folded(condition.words)
        settled = condition._replace(
            like=first.text[:MAX_CHARACTERS],
            until=first.at,
            # Who asked the same before has these words, too, and is not about them.
            words=condition.words if any(words in folded(one.text) for one in rows) else "",
        )
        lookup.settle(query, wanted.now, named._replace(condition=settled))


def telling(corpus: Corpus[F, Any], event: str, wanted: F) -> list[DatedText]:
    """Return the rows that tell of an event, but for those that only ask something."""
    lookup: Lookup[F] = corpus.lookup
    ids = [*lookup.words(event, wanted, TELLING)]
    parts = lookup.word_parts(event, ids)
    weights: dict[str, float] = {}
    for held in parts.values():
        for word, part in held.items():
            weights[word] = max(weights.get(word, 0.0), abs(part))
    shares = {id_: sum(weights[word] for word in parts.get(id_, ())) for id_ in ids}
    most = max(shares.values(), default=0.0)
    if not most or most < MIN_SHARE * sum(weights.values()):
        return []
    rows = corpus.dated_texts(
        [id_ for id_, share in shares.items() if share >= most * (1 - EPSILON)]
    )
    return [row for row in rows.values() if not only_asks(row.text)]
