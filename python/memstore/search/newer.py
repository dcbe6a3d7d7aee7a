"""Finds later facts on the subject of a hit that retire it, or would be asked about.

An agent that gets an old belief and a new one picks either, so a hit names the facts that came
after it and may replace it, and the best of them is shown right after it. Nothing is left out but
the last hits of a full answer.

A hit names those of its nearest later facts on the same subject, of the same owners, that the
judge finds to replace it, or to be asked about, if they pass the filter of the search. What the
judge says of two facts is stored soon after the later one was (:mod:`memstore.search.comparing`),
and read with the hits. Facts that were not compared yet, and all of them in a view of an earlier
moment or with rules switched off, are judged by the search itself.

In a large group, each fact is compared with its nearest ones of that time, once; a hit names all
of which something is stored.
"""

from __future__ import annotations

from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from memstore.database.derivations import FACT_FEED
from memstore.database.tables import facts as fact_table
from memstore.database.tables import feeds
from memstore.database.tables import newer as newer_table
from memstore.domain.records import TODO, unchecked
from memstore.domain.results import ScoreParts
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.folding import subject_key
from memstore.text.judging import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
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


MAX_GROUP: Final = 256
"""The most facts of a group that are all compared with each other, which takes quadratic time. In
larger ones each is compared with its nearest."""

MAX_WAITING: Final = 200
"""With so many facts that were not compared yet, a search judges all its hits."""


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
        judge: judges all pairs; by default, what is stored is read.
    """
    compared = [fact for fact in facts if subject_key(fact.subject) != TODO][:MAX_HITS]
    if not compared or not lookup.has_contexts:
        return {}
    stored = Stored() if judge else _stored(transaction, compared, wanted)
    near = _near(lookup, compared, wanted, stored)
    if not near:
        return {}
    claims = _claims(transaction, near)
    decide = judge or Judged()
    found: dict[int, list[tuple[bool, Claimed]]] = {}
    for id_, others in near.items():
        known, is_whole = stored.newer.get(id_, {}), id_ in stored.whole
        for other in others:
            pair = FactPair(claims[id_], claims[other])
            if pair.old.since >= pair.new.since or (is_whole and other not in known):
                continue
            proves = known[other] if other in known else _proves(decide(*pair))
            if proves is not None:
                found.setdefault(id_, []).append((proves, pair.new))
    return {
        id_: tuple(new.id for _, new in sorted(each, key=_place, reverse=True)[:MAX_NEWER])
        for id_, each in found.items()
    }


class Stored(NamedTuple):
    """What is stored of hits; one that is in neither set has to be judged."""

    newer: Mapping[int, Mapping[int, bool]] = MappingProxyType({})
    """The later facts that may replace each, and whether they prove it."""
    whole: Collection[int] = ()
    """Those whose whole group was compared; of its nearest facts, a hit names these."""
    large: Collection[int] = ()
    """Those of large groups, which name all that is stored of them."""
    waiting: Collection[int] = ()
    """Those of them that have to be compared with facts that wait."""
    waits: Sequence[int] = ()
    """The facts that wait to be compared."""


def _stored(transaction: Transaction, facts: Sequence[Fact], wanted: FactFilter) -> Stored:
    waits = None if wanted.include_deleted else _waiting(transaction)
    if waits is None:
        return Stored()
    ids = [fact.id for fact in facts]
    changed: set[int] = set()
    if waits:
        groups = newer_table.groups(transaction, [*ids, *waits])
        of_waiting = {groups[id_] for id_ in waits if id_ in groups}
        changed = {id_ for id_ in ids if groups.get(id_) in of_waiting}
    known = newer_table.known(transaction, ids)
    if not waits and len(known) == len(ids) and not any(one.newer for one in known.values()):
        return Stored(whole=known)  # like most hits
    large = {id_ for id_, one in known.items() if one.group_size > MAX_GROUP}
    # Each fact that waits may be one that its group has lost.
    whole = {
        id_
        for id_, one in known.items()
        if one.group_size + len(waits) <= MAX_GROUP and id_ not in changed
    }
    newer = {id_: known[id_].newer for id_ in large | whole}
    return Stored(newer, whole, large, large & changed, waits)


def _near(
    lookup: Lookup[FactFilter], facts: Sequence[Fact], wanted: FactFilter, stored: Stored
) -> dict[int, Collection[int]]:
    """Return the later facts that each of these may name; nothing for most."""
    near: dict[int, Collection[int]] = {}
    for fact in facts:
        if fact.id in stored.large and (ids := stored.newer[fact.id]):
            near[fact.id] = {*lookup.later_on_subject(fact, wanted, [*ids])}
    # Of most facts whose whole group was compared, nothing is stored.
    others = [
        fact
        for fact in facts
        if fact.id not in stored.large
        and (fact.id not in stored.whole or stored.newer.get(fact.id))
    ]
    if others:
        near |= lookup.on_subject(others, wanted, NEAREST, later=True)
    if stored.waiting:
        of_waiting = [fact for fact in facts if fact.id in stored.waiting]
        found = lookup.on_subject(of_waiting, wanted, NEAREST, later=True, among=stored.waits)
        near |= {id_: {*near.get(id_, ()), *ids} for id_, ids in found.items()}
    return near


def waits_long(engine: Engine) -> bool:
    """Return whether so many facts wait to be compared that a search would judge all its hits."""
    with engine.read() as transaction:
        state = newer_table.state(transaction) or newer_table.NOTHING_COMPARED
        waiting = newer_table.new_ids(transaction, state, MAX_WAITING)
        return bool(state.is_begun) or len(waiting) == MAX_WAITING


def _waiting(transaction: Transaction) -> Sequence[int] | None:
    """Return the facts that were stored or changed since facts were compared.

    ``None`` if they are too many, or not known.
    """
    state = newer_table.state(transaction)
    if state is None or state.is_begun or state.rules != RULES:
        return None
    span = feeds.span(transaction, FACT_FEED)
    if span.newest == state.position:
        return ()
    if not span.reaches(state.position):
        return None
    waiting = newer_table.new_ids(transaction, state, MAX_WAITING)
    waiting += newer_table.changed_ids(transaction, state, MAX_WAITING)
    return waiting if len(waiting) < MAX_WAITING else None


def is_off(without: frozenset[Rule]) -> bool:
    """Return whether no fact ever replaces another, because of the rules that are switched off."""
    return bool(without) and without >= judging.DECISIVE


def _proves(verdict: str) -> bool | None:
    """Return whether a verdict is a proof; ``None`` if both facts stay."""
    return None if verdict == "keep" else verdict == "retire"


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
    decide = judge or Judged()
    return [pair.old.id for pair in pairs if decide(*pair) != "keep"]


def _claims(transaction: Transaction, near: Mapping[int, Collection[int]]) -> Mapping[int, Claimed]:
    ids = {*near, *chain.from_iterable(near.values())}
    return fact_table.claims(transaction, sorted(ids)) if any(near.values()) else {}


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
            self._claims[one.id] = claim_of(one)
        return self._claims[one.id]


def claim_of(one: Claimed) -> Claim:
    """Return what a fact says, as the judge reads it."""
    found = None if one.slots is None else slots.slots_of(metadata.decode(one.slots))
    values = {"text": one.content, "subject": one.subject, "slots": found}
    return unchecked(judging.Claim, values)


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
    active: list[SearchHit] = []
    others: list[SearchHit] = []
    for hit in hits:
        (active if hit.fact.status == "active" else others).append(hit)
    if not named and not others:
        return active[:limit]
    known = {hit.fact.id: hit for hit in hits}
    placed: dict[int, SearchHit] = {}
    for hit in active:
        one: SearchHit | None = hit
        while one is not None and one.fact.id not in placed:
            ids = named.get(one.fact.id, ())
            placed[one.fact.id] = replace(one, newer=ids) if ids else one
            one = _after(placed[one.fact.id], known, facts)
    shown = [*placed.values()]
    for hit in others:
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
