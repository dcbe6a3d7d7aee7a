"""Recall: search results as a text within a token budget.

The best results are taken until the next one does not fit; the room that is left is filled with
the next ones that fit. Then they are put in order below their dates.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain import zones
from memstore.domain.recall import Recalled
from memstore.errors import InvalidArgumentType
from memstore.lazy import lazy_import
from memstore.providers.local import token_counter
from memstore.search.fusion import FoundText, in_order
from memstore.text.dated import (
    DatedLine,
    adjoined,
    end_mark,
    newer_mark,
    remark,
    speaking,
    successor_mark,
    together,
    under_dates,
)
from memstore.text.escaping import visible
from memstore.text.folding import folded, text_of
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.records import AboutOthers, Fact, SearchHit, SearchHits
    from memstore.history import trust
else:
    trust = lazy_import("memstore.history.trust")

FOUND: Final = 100
"""How many facts, and how many episodes, are searched for, whatever the budget: the number of
candidates affects their order."""

FIRST_CHARACTERS: Final = 120
"""The least that is shown of a text. The first one that does not fit may be shown in part."""

MAX_TRIED: Final = 3
"""How many of the results after the first that does not fit may fill the room that is left."""

NOT_OF_OTHERS: Final[Mapping[str, str]] = MappingProxyType({})

FAR_BEHIND: Final = 0.5
"""A turn below this part of the best score is not shown beside facts."""


def recalled(
    facts: SearchHits,
    episodes: EpisodeHits,
    tokens: int,
    counter: Callable[[str], int] | None,
    sources: Mapping[str, str] = NOT_OF_OTHERS,
) -> Recalled:
    """Return the best results as a text of at most this many tokens.

    ``sources`` are those of the text of others, by the names of what has it.
    """
    found = fitted(facts, episodes, tokens, counter, sources)
    return Recalled(
        text=found.text,
        facts=tuple(item.id for item in found.shown if item.is_fact),
        episodes=tuple(item.id for item in found.shown if not item.is_fact),
        left_out=len(found.items) - len(found.shown),
        words_only=facts.words_only,
        hidden=facts.hidden + episodes.hidden,
        respelt=tuple(dict.fromkeys([*facts.respelt, *episodes.respelt])),
        provisional=facts.provisional or episodes.provisional,
        about=shown_about(whose(facts, episodes), found.shown),
    )


class Fitted(NamedTuple):
    """What both searches found, and what of it fits into a budget."""

    items: Sequence[FoundText]
    """All of it, best first."""
    text: str
    shown: Sequence[FoundText]
    """What is in the text, best first."""
    count: Callable[[str], int]
    """Counts the tokens of a text."""

    def tokens_of(self, item: FoundText) -> int:
        """Return how many tokens the line of an item takes."""
        return self.count(str(_line(item)))


def fitted(
    facts: SearchHits,
    episodes: EpisodeHits,
    tokens: int,
    counter: Callable[[str], int] | None,
    sources: Mapping[str, str],
) -> Fitted:
    """Return the best results as a text; arguments as of :func:`recalled`."""
    count = token_counter() if counter is None else checked_counter(counter)
    items = [
        item._replace(marks=(*_source_mark(sources.get(item.name)), *item.marks))
        for item in noted(best_once(facts, matching(episodes)), whose(facts, episodes))
    ]
    return Fitted(items, *_fitting(items, tokens, count), count)


class Whose(NamedTuple):
    """Says that the answer is about others than the one whom the query names."""

    about: AboutOthers
    name: str
    """The name of the text that is about others."""


def whose(facts: SearchHits, turns: EpisodeHits) -> Whose | None:
    """Return whom an answer of facts, or else of turns, is about, if not whom the query names."""
    about, sign = (facts.about, "#") if facts else (turns.about, "e")
    return None if about is None else Whose(about, f"{sign}{about.id}")


def noted(items: Iterable[FoundText], found: Whose | None) -> Iterator[FoundText]:
    """Yield the items, with a note on the one that is about others."""
    for item in items:
        if found is not None and item.name == found.name:
            item = item._replace(note=str(found.about))
        yield item


def shown_about(found: Whose | None, shown: Iterable[FoundText]) -> AboutOthers | None:
    """Return whom the answer is about, if the text that is about others is shown."""
    if found is None or all(item.name != found.name for item in shown):
        return None
    return found.about


def sources_of(
    transaction: Transaction, facts: SearchHits, episodes: EpisodeHits
) -> dict[str, str]:
    """Return the source of each text of others, by the name of the fact or the episode."""
    of_facts = trust.foreign_facts(transaction, [hit.fact.id for hit in facts])
    of_episodes = trust.foreign_episodes(transaction, [hit.episode.id for hit in episodes])
    return {f"#{id_}": name for id_, name in of_facts.items()} | {
        f"e{id_}": name for id_, name in of_episodes.items()
    }


def said(facts: Sequence[SearchHit], episodes: EpisodeHits, limit: int) -> list[EpisodeHit]:
    """Return the best turns to be shown beside these facts, none that repeats one of them."""
    hits = {hit.episode.id: hit for hit in episodes}
    order = [*each_once(best_first(facts, matching(episodes)))]
    least = FAR_BEHIND * max((item.score for item in order), default=0.0)
    turns = (hits[item.id] for item in order if not item.is_fact and item.score >= least)
    compared = [_Compared.of(hit.fact) for hit in facts]
    fresh = (hit for hit in turns if not _repeats(hit, compared))
    return [*islice(fresh, limit)]


def matching(turns: EpisodeHits) -> Sequence[EpisodeHit]:
    """Return the turns that a search found, without those that are only the newest."""
    return turns[: len(turns) - turns.newest_first]


class _Compared(NamedTuple):
    """A fact, as turns are compared with it."""

    fact: Fact
    content: str
    terms: frozenset[str]

    @classmethod
    def of(cls, fact: Fact) -> _Compared:
        words = folded(text_of(fact.subject, fact.content))
        return cls(fact, folded(fact.content), frozenset(terms(words)))


def _repeats(hit: EpisodeHit, facts: Iterable[_Compared]) -> bool:
    """Return whether a fact was drawn from a turn, or one has all that the other says."""
    turn = folded(hit.excerpt)
    words = frozenset(terms(turn))
    return any(
        (hit.episode.id == one.fact.episode_id and hit.episode.namespace == one.fact.namespace)
        or one.content in turn
        or words <= one.terms
        for one in facts
    )


def best_first(facts: Sequence[SearchHit], episodes: Iterable[EpisodeHit]) -> list[FoundText]:
    """Return what both searches found, in one order."""
    return in_order(
        chain((of_fact(hit.fact, hit.score, hit.newer) for hit in facts), map(of_episode, episodes))
    )


def best_once(facts: Sequence[SearchHit], episodes: Iterable[EpisodeHit]) -> list[FoundText]:
    """Return what both searches found, each text once, in the order in which it is shown.

    A fact that another one names as newer comes after it, unless it is better, and facts that are
    not active come last.
    """
    items = [*each_once(best_first(facts, episodes))]
    known = {item.name: item for item in items}
    placed: dict[str, FoundText] = {}
    for item in items:
        one: FoundText | None = None if item.is_over else item
        while one is not None and one.name not in placed:
            placed[one.name] = one
            one = known.get(one.newer or "")
    return [*placed.values(), *(item for item in items if item.is_over)]


def of_fact(fact: Fact, score: float, newer: Sequence[int] = ()) -> FoundText:
    words = text_of(fact.subject, fact.content)
    return _item(fact, True, score, f"#{fact.id}", words)._replace(
        marks=tuple(_standing(fact)),
        newer=f"#{newer[0]}" if newer else None,
        is_over=fact.status != "active",
    )


def _standing(fact: Fact) -> Iterator[str]:
    """Yield until when a fact holds, and what superseded it."""
    until = None if fact.holds_until is None else zones.day(fact.holds_until)
    if fact.superseded_by is not None:
        yield successor_mark(f"#{fact.superseded_by}", until)
    elif until is not None:
        yield end_mark(until) if fact.status == "active" else f"until {until}"


def _source_mark(source: str | None) -> Iterator[str]:
    """Yield where the text of others is from."""
    if source is not None:
        yield f"from {json.dumps(source)}"


def of_turn(episode: Episode) -> FoundText:
    words = speaking(episode.speaker, episode.content.strip())
    return _item(episode, False, 0.0, f"e{episode.id}", words)


def of_episode(hit: EpisodeHit) -> FoundText:
    episode, words = hit.episode, hit.excerpt.strip()
    if hit.start > 0:
        words = f"…{words}"
    if hit.stop < len(episode.content):
        words = f"{words}…"
    words = speaking(episode.speaker, words)
    return _item(episode, False, hit.score, f"e{episode.id}", words)


def _item(row: Fact | Episode, is_fact: bool, score: float, name: str, words: str) -> FoundText:
    date = zones.day(row.valid_at or row.created_at)
    own = (row.namespace, row.scope, row.thread) if row.thread else (is_fact, row.id)
    place = (row.seq or 0, row.id)
    # Escaped before it is measured; blanks and line ends cost tokens.
    words = visible(" ".join(words.split()))
    return FoundText(is_fact, row.id, score, date, own, place, name, words)


def each_once(items: Iterable[FoundText]) -> Iterator[FoundText]:
    """Yield the items whose text no earlier item has."""
    said: set[str] = set()
    for item in items:
        words = folded(item.words)
        if words not in said:
            said.add(words)
            yield item


def _fitting(
    items: Sequence[FoundText], tokens: int, count: Callable[[str], int]
) -> tuple[str, list[FoundText]]:
    """Return a text of the best items that fits, and the items in it, best first."""
    steps = [*_steps(items)]
    whole = _text(items, dict(steps))
    if count(whole) <= tokens:
        return whole, [*items]
    # The longest footer, so that each step takes more than the one before it.
    footer = _footer(len(items))

    def fits(shown: Mapping[int, int]) -> bool:
        return count(f"{_text(items, shown)}\n{footer}") <= tokens

    # The most steps that fit; all of them do not.
    fit = bisect_left(range(1, len(steps)), True, key=lambda most: not fits(dict(steps[:most])))
    shown = _filled(items, dict(steps[:fit]), fits)
    while True:  # once, unless the counter is not monotonic
        text = "\n".join(filter(None, (_text(items, shown), _footer(len(items) - len(shown)))))
        if count(text) <= tokens:
            return text, [items[place] for place in shown]
        if not shown:
            return "", []
        shown.popitem()


def _filled(
    items: Sequence[FoundText], shown: dict[int, int], fits: Callable[[Mapping[int, int]], bool]
) -> dict[int, int]:
    """Add the next items that fit whole.

    They take the place of an item of which no more than its first characters fit; the best one
    stays.
    """
    last = max(shown, default=-1)
    is_cut = last >= 0 and shown[last] < len(items[last].words)
    after = last + (1 if is_cut else 2)  # the first that does not fit whole
    filled = dict(shown)
    if is_cut and last > 0 and shown[last] == FIRST_CHARACTERS:
        del filled[last]
    for place, item in islice(enumerate(items), after, after + MAX_TRIED):
        longer = {**filled, place: len(item.words)}
        if fits(longer):
            filled = longer
    return filled if len(filled) >= len(shown) else shown


def _steps(items: Sequence[FoundText]) -> Iterator[tuple[int, int]]:
    """Yield how a text grows: the place of an item, and how many of its characters are shown."""
    for place, item in enumerate(items):
        characters = FIRST_CHARACTERS
        while characters < len(item.words):
            yield place, characters
            characters *= 2
        yield place, len(item.words)


def _text(items: Sequence[FoundText], shown: Mapping[int, int]) -> str:
    """Return the lines of items, by their places and the characters shown."""
    return text_of_items(items[place].cut(characters) for place, characters in shown.items())


def text_of_items(items: Iterable[FoundText]) -> str:
    """Return items as lines below their dates: the day of the first one first, threads in order."""
    by_day = together(items, lambda item: item.date)
    ordered = together(by_day, lambda item: (item.date, item.thread), lambda item: item.place)
    shown = adjoined(
        ordered, lambda item: item.date, lambda item: item.name, lambda item: item.newer
    )
    return "\n".join(under_dates(map(_line, shown)))


def _line(item: FoundText) -> DatedLine:
    marks = item.marks if item.newer is None else (*item.marks, newer_mark(item.newer))
    notes = () if item.note is None else (item.note,)
    return DatedLine(item.date, item.name, item.words, marks, notes)


def _footer(left_out: int) -> str:
    return remark(f"{left_out} more left out") if left_out else ""


def checked_counter(counter: Callable[[str], int]) -> Callable[[str], int]:
    """Return a caller's function that counts tokens, with a check of what it returns."""
    if not callable(counter):
        raise InvalidArgumentType(
            f"must be a function, not {type(counter).__name__}", argument="counter"
        )

    def count(text: str) -> int:
        number = counter(text)
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidArgumentType(
                f"must return a whole number, not {number!r}", argument="counter"
            )
        return number

    return count
