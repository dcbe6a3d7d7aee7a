"""Recall: search results as a text within a token budget.

What fits is chosen by :mod:`~memstore.telling.fitting`, and put in order below its dates.

Fusion is one order over facts and episodes, each found by a search of its own. Both searches score
by the same formula, but what they found is not worth the same beside each other. A fact stands for
itself; a turn was said in passing, at greater length. A conversation that both searches point to is
likely the right one, above all where a fact and a turn say the same. And a text that repeats a
better one adds little. ``docs/finding.md`` has the formula, and what each part contributes.
"""

from __future__ import annotations

import math
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from memstore.domain import project_names, zones
from memstore.domain.episodes import TRACE
from memstore.domain.records import Record
from memstore.frozen import frozen, replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.providers.local import TokenCounter
from memstore.text.dated import (
    DatedLine,
    adjoined,
    end_mark,
    newer_mark,
    project_mark,
    speaking,
    successor_mark,
    times_mark,
    together,
    under_dates,
)
from memstore.text.escaping import visible
from memstore.text.folding import folded, is_named_in, subject_key, text_of
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.records import AboutOthers, Fact, SearchHit, SearchHits
    from memstore.domain.results import Respelt, WordsOnly
    from memstore.history import trust
    from memstore.telling import covering
    from memstore.telling.covering import Weighed
    from memstore.text import stop_words
else:
    stop_words = lazy_import("memstore.text.stop_words")
    trust = lazy_import("memstore.history.trust")
    covering = lazy_import("memstore.telling.covering")


EPISODE_WEIGHT: Final = 0.65
"""What an episode's score counts beside a fact's."""

THREAD_WEIGHT: Final = 0.15
"""The share of the best score of the other kind in the same thread that is added."""

SUPPORT_WEIGHT: Final = 0.1
"""The share of the score of a text of the other kind in the same thread that is added if it has all
the words of this one, or this one all of its."""

LONG_CHARACTERS: Final = 400
LONG_POWER: Final = 0.25
"""Longer texts rank lower: at 16 times this length, half the score counts."""

COMPARED: Final = 70
"""How many of the best are compared with each other, word by word."""


class Names(NamedTuple):
    """Names that a question has, folded."""

    projects: frozenset[str]
    """Something found says that it comes from these."""
    subjects: frozenset[str]
    """Something found is about these."""


class Found(NamedTuple):
    """What both searches found for a question."""

    facts: SearchHits
    turns: EpisodeHits
    following: frozenset[int] = frozenset()
    """The ids of turns after one that has an identifier of the question."""

    def if_relevant(self) -> Found:
        """Return the same, or nothing if neither search found anything relevant."""
        facts, turns = self.facts, self.turns
        if any(hits and (hits.words_only or hits.is_relevant is not False) for hits in self[:2]):
            return self
        return self._replace(
            facts=replace(facts, items=(), hidden=facts.hidden + len(facts)),
            turns=replace(turns, items=(), hidden=turns.hidden + len(turns), newest_first=0),
        )

    def named_in(self, question: str) -> Names:
        """Return the names in a question of which something found is; none is a stop word."""
        asked = folded(question)
        stops = stop_words.stop_words(terms(asked))

        def stand(names: Iterable[str | None]) -> frozenset[str]:
            told = {name for name in names if name} - stops
            return frozenset(name for name in told if is_named_in(asked, name))

        facts = [hit.fact for hit in self.facts]
        turns = (hit.episode for hit in matching(self.turns))
        projects = stand({*map(project_of, facts)} | {*map(project_of, turns)})
        return Names(projects, stand(subject_key(one.subject) for one in facts) - projects)


def project_of(row: Fact | Episode) -> str | None:
    """Return the project that the metadata of a row name, folded, as questions have it."""
    name = project_names.of(row.metadata, getattr(row, "category", None))
    return None if name is None else folded(project_names.short(name))


class FoundText(NamedTuple):
    """A result of either search, as one line of a text."""

    is_fact: bool
    id: int
    score: float
    date: str
    """The date above its line."""
    thread: Hashable
    """Equal for facts and episodes of one conversation."""
    place: tuple[int, int]
    """Its place among the thread's lines of one date."""
    name: str
    """The id, with the sign of its kind."""
    words: str
    marks: tuple[str, ...] = ()
    """What is said about it beside its name: where it is from, or that it ends."""
    newer: str | None = None
    """The name of a later fact that may replace it."""
    is_over: bool = False
    """Whether it is a fact that is not active."""
    note: str | None = None
    """What is said about it on the line after it."""
    is_trace: bool = False
    """Whether it says what was done in a session: nobody said it."""

    def cut(self, characters: int) -> FoundText:
        """Return the text with no more of its words than these characters."""
        if characters >= len(self.words):
            return self
        return self._replace(words=f"{self.words[:characters].rsplit(' ', 1)[0]}…")


def in_order(found: Iterable[FoundText], question: str = "") -> list[FoundText]:
    """Return the results of both searches, best first.

    What was done in a session comes after what was said, unless it has a word of the question.
    """
    items = [*found]
    if len(items) < 2:
        return items
    worths = [*_worths(items)]
    order = sorted(range(len(items)), key=lambda place: -worths[place])
    words = {place: {*terms(items[place].words.casefold())} for place in order[:COMPARED]}
    near = _supported([*_weighed(words, worths)], items)
    covered = covering.covered(question, [words[one.place] for one in near])
    best = [*covering.without_repetition(near, covered)]
    bare = {
        one.place
        for one, part in zip(near, covered.parts, strict=True)
        if items[one.place].is_trace and covered.whole and not part
    }
    best.sort(key=bare.__contains__)
    return [items[place] for place in (*best, *order[COMPARED:])]


def _weighed(texts: Mapping[int, set[str]], worths: Sequence[float]) -> Iterator[Weighed]:
    bits: dict[str, int] = {}
    for place, words in texts.items():
        held = 0
        for word in words:
            held |= bits.setdefault(word, 1 << len(bits))
        yield covering.Weighed(place, worths[place], held, len(words))


def _worths(items: Sequence[FoundText]) -> Iterator[float]:
    weighed = [item.score * (1.0 if item.is_fact else EPISODE_WEIGHT) for item in items]
    best: dict[tuple[Hashable, bool], float] = {}
    for item, score in zip(items, weighed, strict=True):
        kind = item.thread, item.is_fact
        best[kind] = max(best.get(kind, 0.0), score)
    for item, score in zip(items, weighed, strict=True):
        other = best.get((item.thread, not item.is_fact), 0.0)
        yield (score + THREAD_WEIGHT * other) * _shortness(item.words)


def _shortness(text: str) -> float:
    return math.pow(min(1.0, LONG_CHARACTERS / max(len(text), 1)), LONG_POWER)


def _supported(near: Sequence[Weighed], items: Sequence[FoundText]) -> list[Weighed]:
    """Add what the best text of the other kind in its thread that says the same adds to each."""
    threads: dict[Hashable, list[Weighed]] = {}
    for one in near:
        threads.setdefault(items[one.place].thread, []).append(one)
    supported = []
    for one in near:
        item = items[one.place]
        others = (o for o in threads[item.thread] if items[o.place].is_fact != item.is_fact)
        most = max((_shared(one, other) * other.worth for other in others), default=0.0)
        supported.append(one._replace(worth=one.worth + SUPPORT_WEIGHT * most) if most else one)
    return supported


def _shared(one: Weighed, other: Weighed) -> float:
    """Return the part of the words of the shorter text that the other has too."""
    fewer = min(one.number, other.number)
    return (one.terms & other.terms).bit_count() / fewer if fewer else 0.0


@frozen(kw_only=True)
class Recalled(Record):
    """Memories as a text that fits a token budget; ``str()`` returns the text."""

    text: str
    """The date of each day, and below it one line for each memory of that day: ``#12`` (fact) or
    ``e12`` (episode), and the content. The day with the best memory is first; the lines of a
    thread are kept together, in order."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it, best first."""
    episodes: tuple[int, ...] = ()
    left_out: int = 0
    """How many more were found that did not fit."""
    words_only: WordsOnly | None = None
    """Why a search by meaning went by words alone; ``None`` if it did not."""
    hidden: int = 0
    """How many facts and episodes ``min_relevance`` left out."""
    about: AboutOthers | None = None
    """That the answer is about others than the one whom the query names; the text says so too."""
    respelt: tuple[Respelt, ...] = ()
    """What was searched for instead of misspelt words; see :attr:`SearchHits.respelt`."""
    provisional: bool = False
    """Whether the choice is provisional, because the index is still being built."""

    def __str__(self) -> str:
        return self.text


FOUND: Final = 100
"""How many facts, and how many episodes, are searched for, whatever the budget: the number of
candidates affects their order."""


AT_ONCE: Final = 16
"""Of so many items the tokens are counted before more are looked at."""

FAR_BEHIND: Final = 0.35
"""A turn below this part of the best score is not shown beside facts."""

NEW_WORDS: Final = 1 / 3
"""A turn of which a larger part of the words, without stop words, are new adds to a fact."""


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


def said(
    facts: Sequence[SearchHit],
    episodes: EpisodeHits,
    shown_facts: Sequence[SearchHit],
    limit: int,
    tokens: int = 0,
    question: str = "",
) -> list[EpisodeHit]:
    """Return the best turns, judged with facts, to be shown beside those that are told.

    None repeats one of those. There are more than ``limit`` while all fit into so many tokens.
    """
    hits = {hit.episode.id: hit for hit in episodes}
    order = [*each_once(best_first(facts, matching(episodes), question))]
    least = FAR_BEHIND * max((item.score for item in order), default=0.0)
    turns = (hits[item.id] for item in order if not item.is_fact and item.score >= least)
    compared = [_FactWords.of(hit.fact) for hit in shown_facts]
    fresh = (hit for hit in turns if not _repeats(hit, compared))
    shown = [*islice(fresh, limit)]
    count = TokenCounter()
    tokens -= sum(count(str(line_of(of_fact(hit.fact, hit.score)))) for hit in shown_facts)
    tokens -= sum(count(str(line_of(of_episode(hit)))) for hit in shown)
    for hit in fresh if tokens > 0 else ():
        tokens -= count(str(line_of(of_episode(hit))))
        if tokens < 0:
            break
        shown.append(hit)
    return shown


def matching(turns: EpisodeHits) -> Sequence[EpisodeHit]:
    """Return the turns that a search found, without those that are only the newest."""
    return turns[: len(turns) - turns.newest_first]


class _FactWords(NamedTuple):
    """A fact, as turns are compared with it."""

    fact: Fact
    content: str
    terms: frozenset[str]

    @classmethod
    def of(cls, fact: Fact) -> _FactWords:
        words = folded(text_of(fact.subject, fact.content))
        return cls(fact, folded(fact.content), frozenset(terms(words)))


def _repeats(hit: EpisodeHit, facts: Iterable[_FactWords]) -> bool:
    """Return whether a turn adds nothing to one of the facts.

    It has no other words; or it has the fact's text, or the fact was drawn from it, and few words
    are new. A fact may leave out who proposed it, and why.
    """
    turn = folded(hit.excerpt)
    words = terms(turn)
    telling = {*words} - stop_words.stop_words(words)
    for one in facts:
        new = len(telling - one.terms)
        is_drawn = (hit.episode.id, hit.episode.namespace) == (
            one.fact.episode_id,
            one.fact.namespace,
        )
        says_it = is_drawn or one.content in turn
        if one.terms.issuperset(words) or (says_it and new <= NEW_WORDS * len(telling)):
            return True
    return False


def best_first(
    facts: Sequence[SearchHit], episodes: Iterable[EpisodeHit], question: str = ""
) -> list[FoundText]:
    """Return what both searches found, in one order."""
    return in_order(
        chain(
            (of_fact(hit.fact, hit.score, hit.newer, hit.project) for hit in facts),
            map(of_episode, episodes),
        ),
        question,
    )


def best_once(
    facts: Sequence[SearchHit], episodes: Iterable[EpisodeHit], question: str = ""
) -> list[FoundText]:
    """Return what both searches found, each text once, in the order in which it is shown.

    A fact that another one names as newer comes after it, unless it is better, and facts that are
    not active come last.
    """
    items = [*each_once(best_first(facts, episodes, question))]
    known = {item.name: item for item in items}
    placed: dict[str, FoundText] = {}
    for item in items:
        one: FoundText | None = None if item.is_over else item
        while one is not None and one.name not in placed:
            placed[one.name] = one
            one = known.get(one.newer or "")
    return [*placed.values(), *(item for item in items if item.is_over)]


def of_fact(
    fact: Fact, score: float, newer: Sequence[int] = (), project: str | None = None
) -> FoundText:
    words = text_of(fact.subject, fact.content)
    marks = (*_of_project(project), *_standing(fact))
    item = _item(fact, True, score, f"#{fact.id}", words, marks)
    is_over = fact.status != "active"
    if not (newer or is_over):
        return item
    return item._replace(newer=f"#{newer[0]}" if newer else None, is_over=is_over)


def _standing(fact: Fact) -> Iterator[str]:
    """Yield until when a fact holds, and what superseded it."""
    until = None if fact.holds_until is None else zones.day(fact.holds_until)
    if fact.superseded_by is not None:
        yield successor_mark(f"#{fact.superseded_by}", until)
    elif until is not None:
        yield end_mark(until) if fact.status == "active" else f"until {until}"


def _of_project(project: str | None) -> Iterator[str]:
    """Yield the other project that a text comes from."""
    if project is not None:
        yield project_mark(project)


def of_turn(episode: Episode, project: str | None = None) -> FoundText:
    words = speaking(episode.speaker, episode.content.strip())
    return _item(episode, False, 0.0, f"e{episode.id}", words, (*_of_project(project),))


def of_episode(hit: EpisodeHit) -> FoundText:
    episode, words = hit.episode, hit.excerpt.strip()
    if hit.start > 0:
        words = f"…{words}"
    if hit.stop < len(episode.content):
        words = f"{words}…"
    words = speaking(episode.speaker, words)
    marks = (*_of_project(hit.project),)
    item = _item(episode, False, hit.score, f"e{episode.id}", words, marks)
    return item._replace(is_trace=True) if TRACE in episode.tags else item


def _item(
    row: Fact | Episode,
    is_fact: bool,
    score: float,
    name: str,
    words: str,
    marks: tuple[str, ...],
) -> FoundText:
    date = zones.day(row.valid_at or row.created_at)
    # The owners one by one, whose hash is quick.
    owners = (row.user_id, row.agent_id, row.run_id)
    own = (row.namespace, *owners, row.thread) if row.thread else (is_fact, row.id)
    place = (row.seq or 0, row.id)
    # Escaped before it is measured; blanks and line ends cost tokens.
    words = visible(" ".join(words.split()))
    return FoundText(is_fact, row.id, score, date, own, place, name, words, marks)


def each_once(items: Iterable[FoundText]) -> Iterator[FoundText]:
    """Yield the items whose text no earlier item has, with how often it was said, and when last."""
    alike: dict[str, list[FoundText]] = {}
    for item in items:
        alike.setdefault(folded(item.words), []).append(item)
    for first, *others in alike.values():
        if first.is_fact or not others:
            yield first
        else:
            last = max(item.date for item in (first, *others))
            told = times_mark(1 + len(others), last if last > first.date else None)
            yield first._replace(marks=(*first.marks, told))


def text_of_items(items: Iterable[FoundText]) -> str:
    """Return items as lines below their dates: the latest day first, threads in order."""
    by_day = sorted(items, key=lambda item: item.date, reverse=True)
    ordered = together(by_day, lambda item: (item.date, item.thread), lambda item: item.place)
    shown = adjoined(
        ordered, lambda item: item.date, lambda item: item.name, lambda item: item.newer
    )
    return "\n".join(under_dates(map(line_of, shown)))


class Length:
    """Counts the tokens of items as :func:`text_of_items` puts them together.

    The default counter adds up lines, so nothing is put together for it: the text has a line for
    each item, one for each day, and the notes.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._written: dict[DatedLine, list[str]] = {}

    def __call__(self, items: Iterable[FoundText], *after: str) -> int:
        """Return the tokens of the text of items, with these lines after it."""
        if not isinstance(self._count, TokenCounter):
            return self._count("\n".join([text_of_items(items), *after]))
        lines: dict[str, None] = {}
        told: list[str] = []
        for line in map(line_of, items):
            lines[line.date] = None
            told += self._lines(line)
        return self._count.of_lines([*([*lines, *told] or [""]), *after])

    def fits(self, items: Iterable[FoundText], tokens: int, *after: str) -> bool:
        """Return whether so many tokens are enough; what is too much is not counted to its end."""
        if not isinstance(self._count, TokenCounter):
            return self(items, *after) <= tokens
        known: list[FoundText] = []
        waiting, least = iter(items), 0
        while some := [*islice(waiting, AT_ONCE)]:
            known += some
            least += self._count.of_lines(
                [*chain.from_iterable(map(self._lines, map(line_of, some)))]
            )
            if least > tokens + 1:  # each sum is rounded up, and a line end is missing in each
                return False
        return self(known, *after) <= tokens

    def _lines(self, line: DatedLine) -> list[str]:
        """Return a line and its notes."""
        written = self._written.get(line)
        if written is None:
            written = self._written[line] = [*line.written()]
        return written


def line_of(item: FoundText) -> DatedLine:
    marks = item.marks if item.newer is None else (*item.marks, newer_mark(item.newer))
    notes = () if item.note is None else (item.note,)
    return DatedLine(item.date, item.name, item.words, marks, notes)
