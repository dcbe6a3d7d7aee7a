"""Answers: what was stored or found, with its notes.

The faces call these functions and draw what they return. What other owners and namespaces hold is
read only if nothing was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain.queries import FactRecall
from memstore.domain.records import EVERYBODY
from memstore.frozen import asdict, derived, frozen
from memstore.lazy import lazy_import
from memstore.store.store import Store, elsewhere, file_of, others_of, standing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence, Sized

    from memstore.domain import notes, status
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.notes import Note
    from memstore.domain.queries import FactSearch
    from memstore.domain.records import Fact, NewFact, SearchHits
    from memstore.domain.standing import Namespaces
    from memstore.store.view import View
    from memstore.telling.recall import Recalled
    from memstore.text import asking
else:
    asking = lazy_import("memstore.text.asking")
    notes = lazy_import("memstore.domain.notes")
    status = lazy_import("memstore.domain.status")

TOLD_TOKENS: Final = 300
"""What was said fills up the answer of a search until its lines have so many tokens; with the days
and notes around them, that is some 500."""


@frozen
class StoredFact:
    """A fact that was stored, or was known and confirmed."""

    fact: Fact
    notes: tuple[Note, ...]

    @property
    def is_known(self) -> bool:
        """Whether it was known already."""
        return notes.Duplicate() in self.notes


@frozen
class SearchAnswer:
    """What a search found: facts, and what was said."""

    hits: SearchHits
    said: EpisodeHits | None
    """``None`` if it was not asked for."""
    notes: tuple[Note, ...]


@frozen
class RecallAnswer:
    """The text of a recall."""

    recalled: Recalled
    notes: tuple[Note, ...]


def store_facts(store: Store, facts: Sequence[NewFact]) -> list[StoredFact]:
    """Store facts, or confirm those that are known; all of them, or none."""
    stored = store.add_many(facts, unless_known=True)
    return [
        StoredFact(fact, tuple(_of_stored(store, fact, new.supersedes)))
        for fact, new in zip(stored, facts, strict=True)
    ]


def _of_stored(store: Store, fact: Fact, supersedes: int | None) -> Iterator[Note]:
    # A new fact has no confirmations; a key that was used before may stand for a superseded one.
    if fact.status == "active" and fact.confirmed_count:
        yield notes.Duplicate()
    if supersedes is not None:
        is_done = store.get(supersedes).superseded_by == fact.id
        yield notes.Superseded(supersedes) if is_done else notes.Proposed(supersedes)
    elif older := store.may_replace(fact.id):
        yield notes.Near(fact.id, tuple(older))
    if fact.status == "expired":
        yield notes.Expired(fact.id)
    if fact.status == "active" and not fact.embedded:
        yield from of_pending(store, fact.id)


def of_pending(store: Store, fact_id: int) -> tuple[Note, ...]:
    """Return the note of a fact without an embedding, if the embedder is the reason."""
    reason = file_of(store).embedder_trouble
    return () if reason is None else (notes.Pending(fact_id, reason),)


def search(
    store: Store,
    query: str,
    asked: FactSearch,
    *,
    as_of: str | None = None,
    said: bool = True,
    to_model: bool = False,
) -> SearchAnswer:
    """Search for facts and for what was said.

    Args:
        asked: what the search is to find; what was said is narrowed alike.
        as_of: search what was known at this moment.
        said: search for what was said, too.
        to_model: a language model reads the answer; see :func:`of_nothing`.
    """
    seen = at(store, as_of)
    hits = seen.search(asking.requested(query), **asdict(asked))
    turns = None
    if said:
        narrowed = asdict(derived(FactRecall, asked))
        turns = seen.turns_for(query, hits, max_tokens=TOLD_TOKENS, **narrowed)
    found = notes.of_search(hits, turns)
    if not hits and not turns:
        nouns = ("fact", "episode") if said else ("fact",)
        found += of_nothing(
            store, *nouns, found=found, to_model=to_model, namespaces=asked.namespaces
        )
    return SearchAnswer(hits, turns, found + of_moment(seen))


def recall(
    store: Store,
    query: str,
    asked: FactRecall,
    *,
    max_tokens: int,
    counter: Callable[[str], int] | None = None,
    episodes: bool = True,
    as_of: str | None = None,
    to_model: bool = False,
) -> RecallAnswer:
    """Recall memories as :meth:`Store.recall`, with the notes of :func:`search`."""
    seen = at(store, as_of)
    recalled = seen.recall(
        query,
        max_tokens=max_tokens,
        counter=counter,
        episodes=episodes,
        **asdict(derived(FactRecall, asked)),
    )
    found = notes.of_recall(recalled)
    if not recalled.text:
        found += of_nothing(store, found=found, to_model=to_model, namespaces=asked.namespaces)
    return RecallAnswer(recalled, found + of_moment(seen))


def of_episodes(
    store: Store,
    hits: EpisodeHits,
    *nouns: str,
    to_model: bool = False,
    namespaces: Namespaces = None,
) -> tuple[Note, ...]:
    """Return the notes of a search for episodes; the keywords are those of :func:`of_nothing`."""
    found = notes.of_episodes(hits)
    if hits:
        return found
    others = of_others(store, *nouns, to_model=to_model, namespaces=namespaces)
    return (*found, *(() if notes.hides_all(found) else (notes.NothingFound(),)), *others)


def at(store: Store, moment: str | None) -> View:
    """Return the store, or a view of what it was at a moment."""
    return store if moment is None else store.as_of(moment)


def of_moment(seen: View) -> tuple[Note, ...]:
    """Return the note of an answer about an earlier moment; none of one about now."""
    return () if isinstance(seen, Store) else (notes.AsOf(seen.at),)


def of_nothing(
    store: Store,
    *nouns: str,
    found: tuple[Note, ...] = (),
    to_model: bool = False,
    namespaces: Namespaces = None,
) -> tuple[Note, ...]:
    """Return what there is to say about an empty answer.

    Args:
        nouns: what was looked for: ``fact``, ``episode``; both if none is given.
        found: what is said about it already.
        to_model: a language model reads it. It is told what others hold only if it named no owner,
            because it would try their names; and of other namespaces, if its own holds no fact.
            People see both at other places.
        namespaces: what was looked in, if not the store's own.
    """
    others = of_others(store, *nouns, to_model=to_model, namespaces=namespaces)
    if notes.hides_all(found):
        return others
    is_stored = namespaces is not None or store.count(active_only=False)
    if others or is_stored or (nouns and of_others(store, to_model=to_model)):
        return (notes.NothingFound(), *others)
    nothing = notes.NothingStored(store.episodes.count(), standing_of(store).names_nobody)
    return (nothing, *(of_namespaces(store) if to_model else ()))


def of_others(
    store: Store, *nouns: str, to_model: bool = False, namespaces: Namespaces = None
) -> tuple[Note, ...]:
    """Return what other owners hold of what was looked for, if anything; see :func:`of_nothing`."""
    if to_model and not standing_of(store).names_nobody:
        return ()
    others = others_of(store, namespaces=namespaces)
    numbers = {"fact": others.facts, "episode": others.episodes}
    counts = {noun: numbers[noun] for noun in nouns or numbers if numbers[noun]}
    return (notes.OthersHold(counts, others.first),) if counts else ()


def of_everybody(
    store: Store, noun: str, count: Callable[[Store], int], *, to_model: bool = False
) -> tuple[Note, ...]:
    """Return what all owners hold of what these have none of; ``count`` counts it in a store."""
    if to_model and not standing_of(store).names_nobody:
        return ()
    number = count(store.of(EVERYBODY))
    return (notes.OthersHold({noun: number}),) if number else ()


def of_subject(store: Store, subject: str) -> tuple[Note, ...]:
    """Return what other owners hold about a subject of which these hold nothing, in any state."""
    facts = store.of(EVERYBODY).history(subject=subject)
    owners = dict.fromkeys(fact.scope for fact in facts)
    first = tuple(owners)[: status.FIRST_OWNERS]
    return (notes.OthersHold({"fact": len(facts)}, first),) if facts else ()


def of_namespaces(store: Store, namespaces: Namespaces = None) -> tuple[Note, ...]:
    """Return what other namespaces hold, if they hold anything."""
    contents = elsewhere(store, namespaces=namespaces)
    return (notes.OtherNamespaces(contents),) if contents else ()


def of_list(
    found: Sized, noun: str, total: int, others: Callable[[], tuple[Note, ...]]
) -> tuple[Note, ...]:
    """Return the notes of a list; ``others`` reads what others hold, if the list is empty."""
    if len(found) < total:
        return (notes.PartOf(len(found), total, noun),)
    return () if found else (notes.NothingFound(), *others())
