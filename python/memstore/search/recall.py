"""Recall: what was found, as a text that fits a budget of tokens.

The best are taken first, until the next one has no room; what is taken is then put in order. So
whatever the budget is, a larger one holds all of it: the texts for all budgets are a chain in which
each holds what the one before it held.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.recall import Recalled
from memstore.embedding.requests import text_of
from memstore.errors import InvalidArgumentType
from memstore.providers.local import token_counter
from memstore.text.escaping import visible
from memstore.text.folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.records import Fact, SearchHits

FOUND: Final = 100
"""How many facts, and how many episodes, are searched for, whatever the budget is: the number of
candidates has a part in their order."""

FIRST_CHARACTERS: Final = 120
"""What is shown of a text at least. The last one that has room may be shown in part."""


LONG_CHARACTERS: Final = 400
LONG_POWER: Final = 0.25
"""Longer texts come later: of 16 times this length, the score counts half."""


class Item(NamedTuple):
    """One line of the text."""

    is_fact: bool
    id: int
    worth: float
    """The score, less for a text that takes the room of several."""
    thread: Hashable
    place: tuple[int, str, int]
    """In the thread."""
    head: str
    """The id and the date."""
    words: str

    def line(self, characters: int) -> str:
        if characters >= len(self.words):
            return self.head + self.words
        return f"{self.head}{self.words[:characters].rsplit(' ', 1)[0]}…"


class Step(NamedTuple):
    """One item more in the text, or more of the last one."""

    item: int
    characters: int


def recalled(
    facts: SearchHits,
    episodes: EpisodeHits,
    tokens: int,
    counter: Callable[[str], int] | None,
) -> Recalled:
    """Return the best of what was found as a text of so many tokens at most."""
    count = token_counter() if counter is None else _checked(counter)
    items = sorted(chain(*_items(facts, episodes)), key=lambda item: -item.worth)
    items = [*_each_once(items)]
    text, shown = _fitting(items, tokens, count)
    return Recalled(
        text=text,
        facts=tuple(item.id for item in items[:shown] if item.is_fact),
        episodes=tuple(item.id for item in items[:shown] if not item.is_fact),
        left_out=len(items) - shown,
        words_only=facts.words_only,
    )


def _items(facts: SearchHits, episodes: EpisodeHits) -> tuple[Iterator[Item], Iterator[Item]]:
    matching = episodes[: len(episodes) - episodes.newest_first]
    return (_of_fact(hit.fact, hit.score) for hit in facts), map(_of_episode, matching)


def _of_fact(fact: Fact, score: float) -> Item:
    words = text_of(fact.subject, fact.content)
    return _item(fact, True, score, f"#{fact.id}", words)


def _of_episode(hit: EpisodeHit) -> Item:
    episode, words = hit.episode, hit.excerpt.strip()
    if hit.start > 0:
        words = f"…{words}"
    if hit.stop < len(episode.content):
        words = f"{words}…"
    if episode.speaker is not None and not words.startswith(f"{episode.speaker}:"):
        words = f"{episode.speaker}: {words}"
    return _item(episode, False, hit.score, f"e{episode.id}", words)


def _item(row: Fact | Episode, is_fact: bool, score: float, name: str, words: str) -> Item:
    date = f"{row.valid_at or row.created_at:%Y-%m-%d}"
    own = (row.namespace, row.scope, row.thread) if row.thread else (is_fact, row.id)
    place = (row.seq or 0, date, row.id)
    # One line, whatever the text holds: nothing in it can pass for another line.
    words = visible(" ".join(words.split()))
    worth = score * min(1.0, LONG_CHARACTERS / max(len(words), 1)) ** LONG_POWER
    return Item(is_fact, row.id, worth, own, place, f"{name} {date} ", words)


def _each_once(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items that say what none before them says."""
    said: set[str] = set()
    for item in items:
        words = folded(item.words)
        if words not in said:
            said.add(words)
            yield item


def _fitting(items: Sequence[Item], tokens: int, count: Callable[[str], int]) -> tuple[str, int]:
    """Return the longest text of the chain that fits, and how many items it shows."""
    steps = [*_steps(items)]
    whole = _text(items, steps)
    if count(whole) <= tokens:
        return whole, len(items)
    # With the longest of the lines that count what is left out, so that each text of the chain
    # takes more than the one before.
    footer = _footer(len(items))
    fit, most = 0, len(steps) - 1
    while fit < most:
        middle = (fit + most + 1) // 2
        if count(f"{_text(items, steps[:middle])}\n{footer}") <= tokens:
            fit = middle
        else:
            most = middle - 1
    for taken in range(fit, -1, -1):  # the first, unless the counter goes down and up
        shown = steps[taken - 1].item + 1 if taken else 0
        text = "\n".join(filter(None, (_text(items, steps[:taken]), _footer(len(items) - shown))))
        if count(text) <= tokens:
            return text, shown
    return "", 0


def _steps(items: Sequence[Item]) -> Iterator[Step]:
    for place, item in enumerate(items):
        characters = FIRST_CHARACTERS
        while characters < len(item.words):
            yield Step(place, characters)
            characters *= 2
        yield Step(place, len(item.words))


def _text(items: Sequence[Item], steps: Sequence[Step]) -> str:
    """Return the lines as they are after some steps, those of a thread together."""
    threads: dict[Hashable, list[tuple[Item, int]]] = {}
    for place, characters in dict(steps).items():  # the last step of each item
        item = items[place]
        threads.setdefault(item.thread, []).append((item, characters))
    return "\n".join(
        item.line(characters)
        for thread in threads.values()
        for item, characters in sorted(thread, key=lambda shown: shown[0].place)
    )


def _footer(left_out: int) -> str:
    return f"({left_out} more left out)" if left_out else ""


def _checked(counter: Callable[[str], int]) -> Callable[[str], int]:
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
