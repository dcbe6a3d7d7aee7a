"""Finds later facts on the subject of a hit that retire it, or would be asked about.

An agent that gets an old belief and a new one picks either, so a hit names the facts that came
after it and may replace it, and the best of them is shown right after it. Nothing is left out but
the last hits of a full answer.

The judge compares each of the first hits with its nearest later facts on the same subject, of the
same owners, which pass the filter of the search. Their texts are read with one query.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

from memstore.database.tables import facts as fact_table
from memstore.domain.records import TODO, unchecked
from memstore.domain.results import ScoreParts
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.tables.facts import Claimed
    from memstore.domain import metadata
    from memstore.domain.records import Fact, SearchHit
    from memstore.search.lookups.base import Lookup
    from memstore.text.judging import judge as judging
    from memstore.text.judging import slots
    from memstore.text.judging.judge import Claim, Rule

    Judge: TypeAlias = Callable[[Claimed, Claimed], str]
    """Returns the verdict on an older and a newer fact."""
else:
    judging = lazy_import("memstore.text.judging.judge")
    metadata = lazy_import("memstore.domain.metadata")
    slots = lazy_import("memstore.text.judging.slots")

MAX_HITS: Final = 20
"""How many of the first hits are compared. A recall searches for a hundred and shows fewer."""

NEAREST: Final = 10
"""With how many facts each is compared."""

MAX_KNOWN: Final = 20_000
"""Of how many pairs a process knows the verdict: some 3 MB, and 200 searches."""

MAX_NEWER: Final = 3
"""How many facts a hit names."""


class FactPair(NamedTuple):
    """Two facts on one subject."""

    old: Claimed
    new: Claimed


def newer(
    transaction: Transaction,
    lookup: Lookup[FactFilter],
    facts: Sequence[Fact],
    wanted: FactFilter,
    judge: Judge | None = None,
) -> dict[int, tuple[int, ...]]:
    """Return the later facts that may replace these: proofs before questions, the latest first.

    Args:
        facts: active ones that pass the filter.
        wanted: the filter that later facts have to pass too.
        judge: by default :class:`Judged`.
    """
    compared = [fact for fact in facts if subject_key(fact.subject) != TODO][:MAX_HITS]
    near = lookup.on_subject(compared, wanted, NEAREST, later=True)
    claims = _claims(transaction, near)
    pairs = [
        FactPair(claims[id_], claims[other])
        for id_, others in near.items()
        for other in others
        if claims[id_].since < claims[other].since
    ]
    found: dict[int, list[tuple[bool, Claimed]]] = {}
    for pair, verdict in _changes(pairs, judge):
        found.setdefault(pair.old.id, []).append((verdict == "retire", pair.new))
    return {
        id_: tuple(new.id for _, new in sorted(each, key=_place, reverse=True)[:MAX_NEWER])
        for id_, each in found.items()
    }


def older(
    transaction: Transaction,
    lookup: Lookup[FactFilter],
    fact: Fact,
    wanted: FactFilter,
    judge: Judge | None = None,
) -> list[int]:
    """Return the earlier facts that a fact may replace, nearest first.

    Those that differ from it in letter case alone are always among them.
    """
    if subject_key(fact.subject) == TODO:
        return []
    near = {**lookup.on_subject([fact], wanted, NEAREST, later=False).get(fact.id, {})}
    spelt = [other.id for other in fact_table.in_other_case(transaction, fact)]
    # Among many facts, or before they have vectors, these may not be of the nearest.
    near |= dict.fromkeys(fact_table.visible(transaction, spelt, wanted) if spelt else (), 1.0)
    claims = _claims(transaction, {fact.id: near})
    pairs = [
        FactPair(claims[other], claims[fact.id])
        for other in near
        if claims[other].since < claims[fact.id].since
    ]
    return [pair.old.id for pair, _ in _changes(pairs, judge)]


def _claims(
    transaction: Transaction, near: Mapping[int, Mapping[int, float]]
) -> Mapping[int, Claimed]:
    ids = {*near, *chain.from_iterable(near.values())}
    return fact_table.claims(transaction, sorted(ids)) if any(near.values()) else {}


def _changes(pairs: Iterable[FactPair], judge: Judge | None) -> Iterator[tuple[FactPair, str]]:
    """Yield the pairs whose newer fact replaces the older one, or may, with the verdict."""
    decide = judge or Judged()
    for pair in pairs:
        verdict = decide(pair.old, pair.new)
        if verdict != "keep":
            yield pair, verdict


class Judged:
    """Judges facts by their texts, each of which is read once, and by their slots.

    What was decided of two texts is known to later searches of this process, by their hashes.

    Args:
        without: rules that are switched off.
    """

    _known: ClassVar[dict[tuple[int, int], str]] = {}

    def __init__(self, without: frozenset[Rule] = frozenset()) -> None:
        self._without = without
        self._hashes: dict[int, int] = {}
        self._claims: dict[int, Claim] = {}

    def __call__(self, old: Claimed, new: Claimed) -> str:
        texts = self._hash(old), self._hash(new)
        verdict = self._known.get(texts)
        if verdict is None:
            verdict = self._judge(old, new)
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[texts] = verdict
        return verdict

    def _judge(self, old: Claimed, new: Claimed) -> str:
        claims = self._claim(old), self._claim(new)
        return judging.verdict(*claims, without=self._without)

    def _hash(self, one: Claimed) -> int:
        if one.id not in self._hashes:
            self._hashes[one.id] = hash((one.subject, one.content, one.slots, self._without))
        return self._hashes[one.id]

    def _claim(self, one: Claimed) -> Claim:
        if one.id not in self._claims:
            found = None if one.slots is None else slots.slots_of(metadata.decode(one.slots))
            values = {"text": one.content, "subject": one.subject, "slots": found}
            self._claims[one.id] = unchecked(judging.Claim, values)
        return self._claims[one.id]


def _place(found: tuple[bool, Claimed]) -> tuple[object, ...]:
    proves, new = found
    return proves, new.since, new.id


def arranged(
    hits: Sequence[SearchHit],
    named: Mapping[int, tuple[int, ...]],
    facts: Mapping[int, Fact],
    limit: int,
) -> list[SearchHit]:
    """Return hits in the order in which they are shown, at most as many as the limit.

    The first fact that a hit names comes right after it, unless it stands before it, and takes its
    score: if it was not found, as one more hit, so that the last hits of a full answer give way.
    Hits that are not active come last, with scores that are not above those before them.

    Args:
        hits: best first.
        named: the newer facts of hits, by id.
        facts: those that were not found.
    """
    known = {hit.fact.id: hit for hit in hits}
    placed: dict[int, SearchHit] = {}
    active = [hit for hit in hits if hit.fact.status == "active"]
    for hit in active:
        one: SearchHit | None = hit
        while one is not None and one.fact.id not in placed:
            ids = named.get(one.fact.id, ())
            placed[one.fact.id] = replace(one, newer=ids) if ids else one
            one = _after(placed[one.fact.id], known, facts)
    shown = [*placed.values()]
    for hit in hits:
        if hit.fact.status != "active":
            shown.append(_scored(hit, min(hit.score, shown[-1].score)) if shown else hit)
    return shown[:limit]


def _after(
    hit: SearchHit, known: Mapping[int, SearchHit], facts: Mapping[int, Fact]
) -> SearchHit | None:
    """Return the hit that is to follow another one, with its score; ``None`` without any."""
    if not hit.newer:
        return None
    first = hit.newer[0]
    if (found := known.get(first)) is not None:
        return _scored(found, hit.score) if hit.score > found.score else found
    if (fact := facts.get(first)) is None:
        return None
    parts = ScoreParts(age=hit.score)
    return replace(
        hit, fact=fact, word_score=0.0, vector_score=0.0, decay=1.0, parts=parts, newer=()
    )


def _scored(hit: SearchHit, score: float) -> SearchHit:
    """Return a hit with the score of its place."""
    parts = hit.parts._replace(age=hit.parts.age + score - hit.score)
    return replace(hit, score=score, parts=parts)
